"""The frame index for other modules here: its kernel, and the checked index behind FrameIndex."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef extern from "index/index.h" nogil:
    const unsigned BP_INDEX_ENTRY_BYTES
    const unsigned BP_INDEX_FIRST_BYTES
    struct bp_index:
        const uint8_t *entries
        const uint8_t *firsts
        const uint8_t *frames
        uint64_t count
        uint64_t groups
        uint64_t records
        uint64_t group_size
        uint64_t keys
        uint64_t stride
        uint64_t frame_records
    struct bp_frame:
        uint64_t offset
        uint64_t stored_size
        uint64_t checksum
        uint64_t first
        uint64_t records
        uint64_t key
        uint64_t group
        uint64_t rank
    struct bp_index_group:
        uint64_t first
        uint64_t frame
        uint64_t records
    int64_t bp_index_check(const bp_index *index, uint64_t start, uint64_t end, uint64_t *fault)
    uint64_t bp_index_find(const bp_index *index, uint64_t ordinal)
    bp_index_group bp_index_group_of(const bp_index *index, uint64_t ordinal)
    void bp_index_frame(const bp_index *index, uint64_t i, bp_frame *frame)
    uint64_t bp_index_ordinal(const bp_index *index, const bp_frame *frame, uint64_t position)
    uint64_t bp_index_position(const bp_index *index, const bp_frame *frame, uint64_t ordinal)
    uint64_t bp_index_frames(const bp_index *index, uint64_t records)

cdef class FrameIndex:
    cdef Py_buffer c_entries     # held for as long as c_index points into it
    cdef Py_buffer c_firsts
    cdef Py_buffer c_frames
    cdef bp_index c_index        # accepted by bp_index_check

    cdef uint64_t entry_count(self) except? 0
    cdef int check_size(self, Py_buffer *view, str what) except -1
    cdef Py_ssize_t frame_of(self, object ordinal) except -1
    cdef uint64_t within(self, object ordinal) except? 0
    cdef int frame_at(self, Py_ssize_t i, bp_frame *frame) except -1
    cdef tuple row(self, Py_ssize_t i)
