"""See header.pyx."""

from libc.stdint cimport uint32_t

from blockpack._native.rlpc cimport bp_rlp_item
from blockpack._native.viewkit cimport Source

cdef enum:
    HEADER_FIELDS = 21


cdef class Header:
    cdef Source source
    cdef bytes c_hash
    cdef uint32_t start
    cdef uint32_t end
    cdef uint32_t starts[HEADER_FIELDS]
    cdef int count      # of all fields; 0 or -1 before they have been looked for

    cdef int check(self) except -1
    cdef int find(self) except -1
    cdef bint field(self, int position, bp_rlp_item *item) except -1
    cdef object integer(self, int position, int width)
    cdef bytes fixed(self, int position, int width)
    cdef bytes bytes_in(self)


cdef Header header_in(Source source, uint32_t start, uint32_t end)
