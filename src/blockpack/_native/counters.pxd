"""The counters, for other modules here: plain C adds under the GIL."""

from libc.stdint cimport uint64_t

cdef class Counters:
    cdef readonly uint64_t frames_inflated   # frames whose decompression was started
    cdef readonly uint64_t frames_partial    # of these, those stopped before their end
    cdef readonly uint64_t bytes_in          # stored bytes of the inflated frames
    cdef readonly uint64_t bytes_out         # bytes that came out of them
    cdef readonly uint64_t inflate_ns
    cdef readonly uint64_t cache_hits
    cdef readonly uint64_t cache_misses
    cdef readonly uint64_t decode_ns         # decoding of records into values and columns
    cdef readonly uint64_t backlog_waits     # appends that waited for a seal
    cdef readonly uint64_t backlog_wait_ns

    cpdef object inflated(self, uint64_t bytes_in, uint64_t bytes_out, uint64_t ns,
                          bint partial=*)
