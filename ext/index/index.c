#include "index.h"

#include "bytes.h"
#include "status.h"

static uint64_t offset_of(const struct bp_index *index, uint64_t i) {
    return bp_load64le(index->entries + i * BP_INDEX_ENTRY_BYTES);
}

static uint64_t checksum_of(const struct bp_index *index, uint64_t i) {
    return bp_load64le(index->entries + i * BP_INDEX_ENTRY_BYTES + 8);
}

/* First ordinal of frame i, or the record count for i == count. */
static uint64_t first_of(const struct bp_index *index, uint64_t i) {
    if (index->firsts) {
        return bp_load32le(index->firsts + i * BP_INDEX_FIRST_BYTES);
    }
    return i < index->count ? i * index->group_size : index->records;
}

void bp_index_frame(const struct bp_index *index, uint64_t i, struct bp_frame *frame) {
    frame->offset = offset_of(index, i);
    frame->stored_size = offset_of(index, i + 1) - frame->offset;
    frame->checksum = checksum_of(index, i);
    frame->first = first_of(index, i);
    frame->records = first_of(index, i + 1) - frame->first;
}

int64_t bp_index_check(const struct bp_index *index, uint64_t start, uint64_t end,
                       uint64_t *fault) {
    *fault = 0;
    if (index->count == 0 || offset_of(index, 0) != start || first_of(index, 0) != 0) {
        return BP_MALFORMED;
    }
    for (uint64_t i = 0; i < index->count; i++) {
        *fault = i + 1;
        if (offset_of(index, i + 1) <= offset_of(index, i) || offset_of(index, i + 1) > end) {
            return BP_MALFORMED;
        }
        /* A falling ordinal wraps to a difference above any group size. */
        uint64_t records = first_of(index, i + 1) - first_of(index, i);
        if (records == 0 || records > index->group_size) {
            return BP_MALFORMED;
        }
    }
    if (offset_of(index, index->count) != end || checksum_of(index, index->count) != 0 ||
        first_of(index, index->count) != index->records) {
        return BP_MALFORMED;
    }
    return BP_OK;
}

uint64_t bp_index_find(const struct bp_index *index, uint64_t ordinal) {
    /* Frames hold group_size records or fewer, so the frame is at this position or later. */
    uint64_t low = ordinal / index->group_size;
    uint64_t high = index->count;
    if (!index->firsts || ordinal < first_of(index, low + 1)) {
        return low;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (first_of(index, middle) <= ordinal) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}
