"""See withdrawal.pyx."""

from libc.stdint cimport uint32_t

from blockpack._native.rlpc cimport bp_rlp_item
from blockpack._native.viewkit cimport Source


cdef class Withdrawal:
    cdef Source source
    cdef uint32_t start
    cdef uint32_t end

    cdef int check(self) except -1
    cdef bp_rlp_item field(self, int position) except *


cdef tuple withdrawals_in(Source source, const bp_rlp_item *item)
