"""See transaction.pyx."""

from libc.stdint cimport int8_t, int64_t, uint32_t

from blockpack._native.rlpc cimport bp_rlp_item
from blockpack._native.viewkit cimport Source

cdef enum:
    FIELDS_MAX = 14


cdef class Transaction:
    cdef Source source
    cdef bytes c_hash
    cdef bytes c_sender
    cdef uint32_t start
    cdef uint32_t end
    cdef uint32_t payload               # valid from here on if state is not 0
    cdef uint32_t starts[FIELDS_MAX]
    cdef int8_t state                   # 0: not looked into yet; 1: known type; -1: unknown
    cdef unsigned kind
    cdef int64_t position

    cdef int find(self) except -1
    cdef bint field(self, int name, bp_rlp_item *item) except -1
    cdef int unknown(self) except -1
    cdef object integer(self, int name, int width)
    cdef object legacy_v(self)
    cdef bytes payload_bytes(self)
    cdef bytes signing_hash(self)
