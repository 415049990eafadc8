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

    ``firsts`` has the first ordinals of groups, or is None where every group but the last is full.
    ``records`` is the segment's record count; the frames must lie from ``start`` to ``end`` of
    the file without a gap. ``keying`` is (keys, stride, frame_records) of a keyed lane, which has
    ``frames``, the first frames of groups, where it has ``firsts``. All entries are checked once,
    here: CorruptError with the number of the bad entry as its offset. Holds on to the buffers, so
    a map cannot close underneath it.
    """

    def __cinit__(self, entries, firsts, *, uint64_t records, uint64_t group_size,
                  uint64_t start, uint64_t end, frames=None, keying=None):
        cdef uint64_t fault = 0
        cdef int64_t status
        PyObject_GetBuffer(entries, &self.c_entries, PyBUF_SIMPLE)
        if firsts is not None:
            PyObject_GetBuffer(firsts, &self.c_firsts, PyBUF_SIMPLE)
        if frames is not None:
            PyObject_GetBuffer(frames, &self.c_frames, PyBUF_SIMPLE)
        if group_size < 1 or records < 1 or records > 0xFFFFFFFF:
            raise ValueError(f"an index of {records} records in groups of {group_size}")
        if keying is not None:
            self.c_index.keys, self.c_index.stride, self.c_index.frame_records = keying
            if not (self.c_index.keys and self.c_index.stride and self.c_index.frame_records):
                raise ValueError(f"a keyed lane with keying {keying}")
        if (frames is not None) != (firsts is not None and keying is not None):
            raise ValueError("first frames are for keyed lanes with first ordinals")
        self.c_index.entries = <const uint8_t *>self.c_entries.buf
        self.c_index.firsts = <const uint8_t *>self.c_firsts.buf
        self.c_index.frames = <const uint8_t *>self.c_frames.buf
        self.c_index.records = records
        self.c_index.group_size = group_size
        self.c_index.count = self.entry_count()
        if firsts is not None:
            self.check_size(&self.c_firsts, "first ordinals")
            self.c_index.groups = self.c_firsts.len // BP_INDEX_FIRST_BYTES - 1
        if frames is not None:
            self.check_size(&self.c_frames, "first frames")
        with nogil:
            status = bp_index_check(&self.c_index, start, end, &fault)
        check(status, "frame index", fault)

    cdef uint64_t entry_count(self) except? 0:
        """Frames, from the size of the buffer; the kernel reads all of it."""
        cdef uint64_t size = self.c_entries.len
        cdef uint64_t count = size // BP_INDEX_ENTRY_BYTES
        if size % BP_INDEX_ENTRY_BYTES or count < 2:
            raise ValueError(f"{size} bytes are not two or more index entries")
        return count - 1

    cdef int check_size(self, Py_buffer *view, str what) except -1:
        """Plain lanes have one for each frame, keyed ones fewer, and both arrays the same."""
        cdef uint64_t entries = <uint64_t>view.len // BP_INDEX_FIRST_BYTES
        cdef uint64_t most = self.c_index.count + 1
        if (view.len % BP_INDEX_FIRST_BYTES or entries < 2 or entries > most
                or not self.c_index.keys and entries != most
                or self.c_index.groups and entries != self.c_index.groups + 1):
            raise ValueError(f"{view.len} bytes of {what} for {most} entries")
        return 0

    def __dealloc__(self):
        PyBuffer_Release(&self.c_entries)
        PyBuffer_Release(&self.c_firsts)
        PyBuffer_Release(&self.c_frames)

    def __len__(self):
        return self.c_index.count

    @property
    def records(self):
        """Records in all frames."""
        return self.c_index.records

    @property
    def group_size(self):
        """Records in a full group."""
        return self.c_index.group_size

    @property
    def keyed(self):
        """Whether groups are split into keys and what is packed after them."""
        return self.c_index.keys > 0

    def find(self, ordinal):
        """Number of the frame that holds the record ``ordinal``."""
        return self.frame_of(ordinal)

    def entry(self, Py_ssize_t i):
        """Frame i as (i, offset, stored_size, checksum, first ordinal, records)."""
        return self.row(i)

    def locate(self, ordinal):
        """The frame of the record ``ordinal``, as ``entry`` gives it."""
        return self.row(self.frame_of(ordinal))

    def key(self, Py_ssize_t i):
        """Number of the frame whose content is the prefix of frame i; i where it has none."""
        cdef bp_frame frame
        self.frame_at(i, &frame)
        return frame.key

    def ordinals(self, Py_ssize_t i):
        """The ordinals of frame i's records, rising."""
        cdef bp_frame frame
        cdef uint64_t position
        self.frame_at(i, &frame)
        return [bp_index_ordinal(&self.c_index, &frame, position)
                for position in range(frame.records)]

    def group(self, ordinal):
        """The record's group, as (first ordinal, records, first frame, stored size of all)."""
        cdef bp_index_group group = bp_index_group_of(&self.c_index, self.within(ordinal))
        cdef bp_frame first, last
        bp_index_frame(&self.c_index, group.frame, &first)
        bp_index_frame(
            &self.c_index, group.frame + bp_index_frames(&self.c_index, group.records) - 1, &last)
        return (group.first, group.records, group.frame,
                last.offset + last.stored_size - first.offset)

    def position(self, ordinal):
        """Which of its frame's records the record ``ordinal`` is."""
        cdef bp_frame frame
        cdef uint64_t within = self.within(ordinal)
        bp_index_frame(&self.c_index, bp_index_find(&self.c_index, within), &frame)
        return bp_index_position(&self.c_index, &frame, within)

    cdef Py_ssize_t frame_of(self, object ordinal) except -1:
        return <Py_ssize_t>bp_index_find(&self.c_index, self.within(ordinal))

    cdef uint64_t within(self, object ordinal) except? 0:
        cdef uint64_t position
        try:
            position = ordinal
        except OverflowError:    # negative, or 2^64 and more
            position = self.c_index.records
        if position >= self.c_index.records:
            raise IndexError(f"record {ordinal} of a segment of {self.c_index.records}")
        return position

    cdef int frame_at(self, Py_ssize_t i, bp_frame *frame) except -1:
        if i < 0 or <uint64_t>i >= self.c_index.count:
            raise IndexError(f"frame {i} of {self.c_index.count}")
        bp_index_frame(&self.c_index, i, frame)
        return 0

    cdef tuple row(self, Py_ssize_t i):
        cdef bp_frame frame
        self.frame_at(i, &frame)
        return (i, frame.offset, frame.stored_size, frame.checksum, frame.first, frame.records)
