"""See transactions.pyx."""

from libc.stdint cimport uint32_t, uint64_t

from blockpack._native.transaction cimport Transaction
from blockpack._native.viewkit cimport Source


cdef class Transactions:
    cdef Source source
    cdef uint32_t *starts       # count + 1 of them
    cdef Py_ssize_t count

    cdef int find(self, uint64_t start, uint64_t end) except -1
    cdef Transaction at(self, Py_ssize_t index)


cdef Transactions transactions_in(Source source, uint64_t start, uint64_t end)
