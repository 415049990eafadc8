"""What every view is made of: the bytes it looks into, and how it reads a field of them."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from blockpack._native.rlpc cimport bp_rlp_cursor, bp_rlp_item

cdef extern from "hash/keccak.h" nogil:
    void bp_keccak256(const uint8_t *data, uint64_t size, uint8_t *digest)


cdef enum:
    # Of what a view looks into, as of a record; and views keep offsets of 32 bits.
    VIEW_SIZE_MAX = 1 << 30


cdef class Source:
    cdef bytes data         # views point into it, and so keep it
    cdef bytes header       # of the block that the data belongs to, or None
    cdef int64_t base       # where data[0] is in the block

    cdef int fail(self, int64_t status, str what, uint64_t offset) except -1
    cdef object integer(self, const bp_rlp_item *item, int width, str what)
    cdef bytes fixed(self, const bp_rlp_item *item, int width, str what)
    cdef bytes string(self, const bp_rlp_item *item, str what)
    cdef int whole(self, uint64_t start, uint64_t end, bp_rlp_cursor *cursor, str what) except -1
    cdef int enter(self, const bp_rlp_item *item, bp_rlp_cursor *cursor, str what) except -1
    cdef bint step(self, bp_rlp_cursor *cursor, bp_rlp_item *item, str what) except -1


cdef Source source_of(bytes data, bytes header, int64_t base)
cdef bytes keccak(const uint8_t *data, uint64_t size)
cdef str quantity(value)
cdef str data_hex(value)
