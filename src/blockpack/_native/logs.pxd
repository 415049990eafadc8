"""See logs.pyx."""

from libc.stdint cimport uint8_t, uint64_t

from blockpack._native.receiptc cimport bp_log


cdef class Log:
    cdef readonly bytes raw
    cdef readonly object origin
    cdef readonly uint64_t transaction_index
    cdef readonly uint64_t log_index
    cdef bp_log c_log       # offsets in raw

    cdef bytes part(self, uint64_t start, uint64_t end)


cdef Log log_of(const uint8_t *data, const bp_log *found, uint64_t transaction_index,
                uint64_t log_index, origin)
