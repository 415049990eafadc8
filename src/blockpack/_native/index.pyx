"""The frame index of a lane, read in place (ext/index/index.h)."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint8_t, uint64_t

from blockpack._native.status cimport check

INDEX_ENTRY_BYTES = BP_INDEX_ENTRY_BYTES
INDEX_FIRST_BYTES = BP_INDEX_FIRST_BYTES


@cython.final
cdef class FrameIndex:
    """Finds the frame of a record in a buffer of index entries, the closing one included.

    ``firsts`` has the first ordinals, or is None where every frame but the last is full.
    ``records`` is the segment's record count; the frames must lie from ``start`` to ``end`` of
    the file without a gap. All entries are checked once, here: CorruptError with the number of
    the bad entry as its offset. Holds on to both buffers, so a map cannot close underneath it.
    """

    def __cinit__(self, entries, firsts, *, uint64_t records, uint64_t group_size,
                  uint64_t start, uint64_t end):
        cdef uint64_t fault = 0
        cdef int64_t status
        PyObject_GetBuffer(entries, &self.c_entries, PyBUF_SIMPLE)
        if firsts is not None:
            PyObject_GetBuffer(firsts, &self.c_firsts, PyBUF_SIMPLE)
        if group_size < 1 or records < 1 or records > 0xFFFFFFFF:
            raise ValueError(f"an index of {records} records in groups of {group_size}")
        self.c_index.entries = <const uint8_t *>self.c_entries.buf
        self.c_index.firsts = <const uint8_t *>self.c_firsts.buf
        self.c_index.records = records
        self.c_index.group_size = group_size
        self.c_index.count = self.frame_count(firsts is not None)
        with nogil:
            status = bp_index_check(&self.c_index, start, end, &fault)
        check(status, "frame index", fault)

    cdef uint64_t frame_count(self, bint irregular) except? 0:
        """Frames, from the sizes of the buffers; the kernel reads all of both."""
        cdef uint64_t size = self.c_entries.len
        cdef uint64_t count = size // BP_INDEX_ENTRY_BYTES
        if size % BP_INDEX_ENTRY_BYTES or count < 2:
            raise ValueError(f"{size} bytes are not two or more index entries")
        if irregular and <uint64_t>self.c_firsts.len != count * BP_INDEX_FIRST_BYTES:
            raise ValueError(f"{self.c_firsts.len} bytes of first ordinals for {count} entries")
        return count - 1

    def __dealloc__(self):
        PyBuffer_Release(&self.c_entries)
        PyBuffer_Release(&self.c_firsts)

    def __len__(self):
        return self.c_index.count

    @property
    def records(self):
        """Records in all frames."""
        return self.c_index.records

    @property
    def group_size(self):
        """Records in a full frame."""
        return self.c_index.group_size

    def find(self, ordinal):
        """Number of the frame that holds the record ``ordinal``."""
        return self.frame_of(ordinal)

    def entry(self, Py_ssize_t i):
        """Frame i as (i, offset, stored_size, checksum, first ordinal, records)."""
        if i < 0 or <uint64_t>i >= self.c_index.count:
            raise IndexError(f"frame {i} of {self.c_index.count}")
        return self.row(i)

    def locate(self, ordinal):
        """The frame of the record ``ordinal``, as ``entry`` gives it."""
        return self.row(self.frame_of(ordinal))

    cdef Py_ssize_t frame_of(self, object ordinal) except -1:
        cdef uint64_t position
        try:
            position = ordinal
        except OverflowError:    # negative, or 2^64 and more
            position = self.c_index.records
        if position >= self.c_index.records:
            raise IndexError(f"record {ordinal} of a segment of {self.c_index.records}")
        return <Py_ssize_t>bp_index_find(&self.c_index, position)

    cdef tuple row(self, Py_ssize_t i):
        cdef bp_frame frame
        bp_index_frame(&self.c_index, i, &frame)
        return (i, frame.offset, frame.stored_size, frame.checksum, frame.first, frame.records)
