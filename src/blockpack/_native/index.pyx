"""The frame index of a lane, read in place (ext/index/index.h)."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from blockpack._native.status cimport check

cdef extern from "index/index.h" nogil:
    const unsigned BP_INDEX_ENTRY_BYTES
    struct bp_index_limits:
        uint64_t offset_min
        uint64_t offset_max
        uint64_t records
        uint64_t group_size
        uint64_t group_bytes_max
        uint64_t single_bytes_max
    struct bp_frame:
        uint64_t offset
        uint64_t stored_size
        uint64_t checksum
        uint32_t first
        uint32_t records
        uint32_t decoded_size
    int64_t bp_index_check(const uint8_t *entries, size_t count, const bp_index_limits *limits,
                           size_t *fault)
    size_t bp_index_find(const uint8_t *entries, size_t count, uint64_t group_size,
                         uint64_t ordinal)
    void bp_index_frame(const uint8_t *entries, size_t i, bp_frame *frame)

INDEX_ENTRY_BYTES = BP_INDEX_ENTRY_BYTES


@cython.final
cdef class FrameIndex:
    """Finds the frame of a record in ``count`` entries and their closing one.

    All entries are checked once, here: CorruptError with the entry's offset in the buffer, or
    LimitError for a decoded size above the limit. ``records`` is the segment's record count,
    ``offset_min`` and ``offset_max`` where frames may lie in the file; ``group_bytes_max`` limits
    the content of a frame of several records and ``single_bytes_max`` that of a lone one.
    Holds on to the buffer, so a map cannot close underneath it.
    """

    cdef Py_buffer c_buffer
    cdef const uint8_t *c_entries
    cdef Py_ssize_t count
    cdef readonly uint64_t records
    cdef readonly uint64_t group_size
    cdef readonly uint64_t decoded_size_max

    def __cinit__(self, buffer, Py_ssize_t count, *, uint64_t records, uint64_t group_size,
                  uint64_t offset_min, uint64_t offset_max, uint64_t group_bytes_max,
                  uint64_t single_bytes_max):
        cdef bp_index_limits limits
        cdef size_t fault = 0
        cdef int64_t largest
        self.c_entries = NULL
        PyObject_GetBuffer(buffer, &self.c_buffer, PyBUF_SIMPLE)
        if count < 0 or group_size < 1:
            raise ValueError(f"an index of {count} frames of groups of {group_size}")
        if self.c_buffer.len // BP_INDEX_ENTRY_BYTES != count + 1:
            raise ValueError(f"{self.c_buffer.len} bytes are not {count} + 1 index entries")
        self.c_entries = <const uint8_t *>self.c_buffer.buf
        self.count = count
        self.records = records
        self.group_size = group_size
        limits.offset_min = offset_min
        limits.offset_max = offset_max
        limits.records = records
        limits.group_size = group_size
        limits.group_bytes_max = group_bytes_max
        limits.single_bytes_max = single_bytes_max
        with nogil:
            largest = bp_index_check(self.c_entries, count, &limits, &fault)
        self.decoded_size_max = check(largest, "frame index", fault * BP_INDEX_ENTRY_BYTES)

    def __dealloc__(self):
        PyBuffer_Release(&self.c_buffer)

    def __len__(self):
        return self.count

    def find(self, ordinal):
        """Number of the frame that holds the record ``ordinal``."""
        return self.frame_of(ordinal)

    def entry(self, Py_ssize_t i):
        """Frame i as (i, offset, stored_size, decoded_size, checksum, first, records)."""
        if i < 0 or i >= self.count:
            raise IndexError(f"frame {i} of {self.count}")
        return self.row(i)

    def locate(self, ordinal):
        """The frame of the record ``ordinal``, as ``entry`` gives it."""
        return self.row(self.frame_of(ordinal))

    cdef Py_ssize_t frame_of(self, object ordinal) except -1:
        cdef uint64_t position
        try:
            position = ordinal
        except OverflowError:    # negative, or 2^64 and more
            position = self.records
        if position >= self.records:
            raise IndexError(f"record {ordinal} of a segment of {self.records}")
        return <Py_ssize_t>bp_index_find(self.c_entries, self.count, self.group_size, position)

    cdef tuple row(self, Py_ssize_t i):
        cdef bp_frame frame
        bp_index_frame(self.c_entries, i, &frame)
        return (i, frame.offset, frame.stored_size, frame.decoded_size, frame.checksum,
                frame.first, frame.records)
