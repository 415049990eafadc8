"""The frames of a lane, for other modules here."""

from libc.stdint cimport uint64_t

from blockpack._native.cache cimport GroupCache
from blockpack._native.counters cimport Counters
from blockpack._native.group cimport Group
from blockpack._native.index cimport FrameIndex, bp_frame

cdef class Prefix:
    cdef Group group        # the key group; in the cache None, where `after` can give its content
    cdef object after       # what the codec made of its content
    cdef object inflate     # for the frames that have it as their prefix
    cdef readonly Py_ssize_t nbytes

cdef class FrameReader:
    cdef readonly FrameIndex index
    cdef readonly object source
    cdef object window          # memoryview of the whole file, or None: then read
    cdef object read
    cdef object advise
    cdef int advised_fd
    cdef object inflate
    cdef object inflater_after
    cdef object checksum
    cdef Counters counters
    cdef GroupCache cache
    cdef object table
    cdef bint linked            # contents lack the links of their records
    cdef str path
    cdef uint64_t identity
    cdef uint64_t first
    cdef uint64_t base          # of this reader's keys in the cache
    cdef uint64_t prefix_base   # the same, for the prefixes
    cdef Py_ssize_t group_bytes_max
    cdef Py_ssize_t single_bytes_max
    cdef uint64_t extract_min
    cdef uint64_t advise_min

    cdef Group find(self, object number, Py_ssize_t *i)
    cdef uint64_t ordinal_of(self, object number) except? 0
    cdef int frame_at(self, Py_ssize_t frame_number, bp_frame *frame) except -1
    cdef Py_ssize_t size_max(self, bp_frame *frame) noexcept
    cdef object stored(self, bp_frame *frame)
    cdef object bytes_of(self, bp_frame *frame)
    cdef int will_need(self, bp_frame *frame) except -1
    cdef int compare(self, uint64_t frame_number, bp_frame *frame, object data) except -1
    cdef Group load(self, uint64_t frame_number, bp_frame *frame, object data, Prefix prefix)
    cdef Group grouped(self, uint64_t frame_number, bp_frame *frame, object content)
    cdef object content(self, uint64_t frame_number, bp_frame *frame, object data, Prefix prefix)
    cdef object inflated(self, uint64_t frame_number, bp_frame *frame, object data, object inflate)
    cdef Group fetch(self, uint64_t frame_number, bp_frame *frame)
    cdef Prefix kept_prefix(self, uint64_t frame_number)
    cdef Prefix load_prefix(self, uint64_t frame_number)
    cdef bint extracted(self, uint64_t frame_number, bp_frame *frame) noexcept
