#include "index.h"

#include "bytes.h"
#include "status.h"

static uint32_t first_of(const uint8_t *entries, size_t i) {
    return bp_load32le(entries + i * BP_INDEX_ENTRY_BYTES + 16);
}

void bp_index_frame(const uint8_t *entries, size_t i, struct bp_frame *frame) {
    const uint8_t *entry = entries + i * BP_INDEX_ENTRY_BYTES;
    const uint8_t *next = entry + BP_INDEX_ENTRY_BYTES;
    frame->offset = bp_load64le(entry);
    frame->stored_size = bp_load64le(next) - frame->offset;
    frame->checksum = bp_load64le(entry + 8);
    frame->first = bp_load32le(entry + 16);
    frame->records = bp_load32le(next + 16) - frame->first;
    frame->decoded_size = bp_load32le(entry + 20);
}

/* 0, or what is wrong with frame i, given that the entries before it are right. */
static int64_t check_frame(const uint8_t *entries, size_t i,
                           const struct bp_index_limits *limits) {
    const uint8_t *next = entries + (i + 1) * BP_INDEX_ENTRY_BYTES;
    struct bp_frame frame;
    bp_index_frame(entries, i, &frame);
    /* A falling offset or ordinal wraps to a huge difference. */
    if (frame.stored_size == 0 || bp_load64le(next) <= frame.offset ||
        bp_load64le(next) > limits->offset_max) {
        return BP_MALFORMED;
    }
    if (frame.records == 0 || frame.records > limits->group_size ||
        bp_load32le(next + 16) <= frame.first) {
        return BP_MALFORMED;
    }
    uint64_t size_max = frame.records > 1 ? limits->group_bytes_max : limits->single_bytes_max;
    if (frame.decoded_size > size_max) {
        return BP_TOO_LARGE;
    }
    return frame.decoded_size == 0 ? BP_MALFORMED : BP_OK;
}

int64_t bp_index_check(const uint8_t *entries, size_t count, const struct bp_index_limits *limits,
                       size_t *fault) {
    uint32_t largest = 0;
    const uint8_t *closing = entries + count * BP_INDEX_ENTRY_BYTES;
    *fault = 0;
    if (count == 0 || first_of(entries, 0) != 0 || bp_load64le(entries) < limits->offset_min) {
        return BP_MALFORMED;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t status = check_frame(entries, i, limits);
        *fault = i;
        if (status < 0) {
            return status;
        }
        uint32_t decoded_size = bp_load32le(entries + i * BP_INDEX_ENTRY_BYTES + 20);
        largest = decoded_size > largest ? decoded_size : largest;
    }
    *fault = count;
    if (first_of(entries, count) != limits->records || bp_load64le(closing + 8) != 0 ||
        bp_load32le(closing + 20) != 0) {
        return BP_MALFORMED;
    }
    return largest;
}

size_t bp_index_find(const uint8_t *entries, size_t count, uint64_t group_size, uint64_t ordinal) {
    /* Frames hold group_size records or fewer, so the frame is at this position or later. */
    size_t low = (size_t)(ordinal / group_size);
    size_t high = count;
    if (low < count && first_of(entries, low) <= ordinal && ordinal < first_of(entries, low + 1)) {
        return low;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (first_of(entries, middle) <= ordinal) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}
