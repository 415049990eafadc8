"""The frame index for other modules here: its kernel, and the checked index behind FrameIndex."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef extern from "index/index.h" nogil:
    const unsigned BP_INDEX_ENTRY_BYTES
    const unsigned BP_INDEX_FIRST_BYTES
    struct bp_index:
        const uint8_t *entries
        const uint8_t *firsts
        uint64_t count
        uint64_t records
        uint64_t group_size
    struct bp_frame:
        uint64_t offset
        uint64_t stored_size
        uint64_t checksum
        uint64_t first
        uint64_t records
    int64_t bp_index_check(const bp_index *index, uint64_t start, uint64_t end, uint64_t *fault)
    uint64_t bp_index_find(const bp_index *index, uint64_t ordinal)
    void bp_index_frame(const bp_index *index, uint64_t i, bp_frame *frame)

cdef class FrameIndex:
    cdef Py_buffer c_entries     # held for as long as c_index points into it
    cdef Py_buffer c_firsts
    cdef bp_index c_index        # accepted by bp_index_check

    cdef uint64_t frame_count(self, bint irregular) except? 0
    cdef Py_ssize_t frame_of(self, object ordinal) except -1
    cdef tuple row(self, Py_ssize_t i)
