#include "index.h"

#include "bytes.h"
#include "status.h"

static uint64_t offset_of(const struct bp_index *index, uint64_t i) {
    return bp_load64le(index->entries + i * BP_INDEX_ENTRY_BYTES);
}

static uint64_t checksum_of(const struct bp_index *index, uint64_t i) {
    return bp_load64le(index->entries + i * BP_INDEX_ENTRY_BYTES + 8);
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Number `i` of an array of u32: first ordinals, first frames. */
static uint64_t at(const uint8_t *array, uint64_t i) {
    return bp_load32le(array + i * BP_INDEX_FIRST_BYTES);
}

/* The number of the last entry of a rising array that is not above `value`, from `low` on. */
static uint64_t search(const uint8_t *array, uint64_t low, uint64_t high, uint64_t value) {
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (at(array, middle) <= value) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Keys among the first `records` records of a group. */
static uint64_t keys_before(const struct bp_index *index, uint64_t records) {
    return least(index->keys, (records + index->stride - 1) / index->stride);
}

/* Position in the group of the record with this rank among those that are no keys. */
static uint64_t place_of_rank(const struct bp_index *index, uint64_t rank) {
    uint64_t between = index->stride - 1; /* such records after each key but the last */
    uint64_t key = between ? least(rank / between, index->keys - 1) : index->keys - 1;
    return key * index->stride + 1 + (rank - key * between);
}

uint64_t bp_index_frames(const struct bp_index *index, uint64_t records) {
    if (index->keys == 0) {
        return 1;
    }
    uint64_t rest = records - keys_before(index, records);
    return 1 + (rest + index->frame_records - 1) / index->frame_records;
}

static struct bp_index_group group_at(const struct bp_index *index, uint64_t i) {
    if (index->firsts) {
        uint64_t ordinal = at(index->firsts, i);
        return (struct bp_index_group){ordinal, index->frames ? at(index->frames, i) : i,
                              at(index->firsts, i + 1) - ordinal};
    }
    uint64_t ordinal = i * index->group_size;
    return (struct bp_index_group){ordinal, i * bp_index_frames(index, index->group_size),
                          least(index->group_size, index->records - ordinal)};
}

static struct bp_index_group group_of_frame(const struct bp_index *index, uint64_t frame) {
    if (index->frames) {
        return group_at(index, search(index->frames, 0, index->groups, frame));
    }
    return group_at(index, index->keys ? frame / bp_index_frames(index, index->group_size) : frame);
}

struct bp_index_group bp_index_group_of(const struct bp_index *index, uint64_t ordinal) {
    /* Groups hold group_size records or fewer, so the group is at this position or later. */
    uint64_t low = ordinal / index->group_size;
    if (index->firsts && ordinal >= at(index->firsts, low + 1)) {
        low = search(index->firsts, low, index->groups, ordinal);
    }
    return group_at(index, low);
}

void bp_index_frame(const struct bp_index *index, uint64_t i, struct bp_frame *frame) {
    struct bp_index_group group = group_of_frame(index, i);
    frame->offset = offset_of(index, i);
    frame->stored_size = offset_of(index, i + 1) - frame->offset;
    frame->checksum = checksum_of(index, i);
    frame->group = group.first;
    frame->key = group.frame;
    frame->rank = 0;
    frame->first = group.first;
    frame->records = group.records;
    if (index->keys) {
        uint64_t keys = keys_before(index, group.records);
        frame->records = keys;
        if (i != group.frame) {
            frame->rank = (i - group.frame - 1) * index->frame_records;
            frame->records = least(index->frame_records, group.records - keys - frame->rank);
            frame->first = group.first + place_of_rank(index, frame->rank);
        }
    }
}

uint64_t bp_index_ordinal(const struct bp_index *index, const struct bp_frame *frame,
                          uint64_t position) {
    if (index->keys == 0) {
        return frame->first + position;
    }
    if (frame->first == frame->group) {
        return frame->group + position * index->stride;
    }
    return frame->group + place_of_rank(index, frame->rank + position);
}

uint64_t bp_index_position(const struct bp_index *index, const struct bp_frame *frame,
                           uint64_t ordinal) {
    if (index->keys == 0) {
        return ordinal - frame->first;
    }
    uint64_t before = keys_before(index, ordinal - frame->group);
    return frame->first == frame->group ? before : ordinal - frame->group - before - frame->rank;
}

uint64_t bp_index_find(const struct bp_index *index, uint64_t ordinal) {
    struct bp_index_group group = bp_index_group_of(index, ordinal);
    uint64_t position = ordinal - group.first;
    if (index->keys == 0 ||
        (position % index->stride == 0 && position / index->stride < index->keys)) {
        return group.frame;
    }
    return group.frame + 1 + (position - keys_before(index, position)) / index->frame_records;
}

static int64_t check_offsets(const struct bp_index *index, uint64_t start, uint64_t end,
                             uint64_t *fault) {
    *fault = 0;
    if (index->count == 0 || offset_of(index, 0) != start) {
        return BP_MALFORMED;
    }
    for (uint64_t i = 1; i <= index->count; i++) {
        *fault = i;
        if (offset_of(index, i) <= offset_of(index, i - 1) || offset_of(index, i) > end) {
            return BP_MALFORMED;
        }
    }
    if (offset_of(index, index->count) != end || checksum_of(index, index->count) != 0) {
        return BP_MALFORMED;
    }
    return BP_OK;
}

static int64_t check_groups(const struct bp_index *index, uint64_t *fault) {
    *fault = 0;
    if (index->groups == 0 || at(index->firsts, 0) != 0 ||
        (index->frames && at(index->frames, 0) != 0)) {
        return BP_MALFORMED;
    }
    for (uint64_t i = 0; i < index->groups; i++) {
        *fault = i + 1;
        /* A falling ordinal wraps to a difference above any group size. */
        uint64_t records = at(index->firsts, i + 1) - (uint64_t)at(index->firsts, i);
        if (records == 0 || records > index->group_size) {
            return BP_MALFORMED;
        }
        if (index->frames &&
            at(index->frames, i + 1) != at(index->frames, i) + bp_index_frames(index, records)) {
            return BP_MALFORMED;
        }
    }
    uint64_t frames = index->frames ? at(index->frames, index->groups) : index->groups;
    return at(index->firsts, index->groups) == index->records && frames == index->count
               ? BP_OK : BP_MALFORMED;
}

/* Full groups and a last one must take just the frames that there are. */
static int64_t check_count(const struct bp_index *index, uint64_t *fault) {
    uint64_t full = (index->records - 1) / index->group_size;
    uint64_t frames = full * bp_index_frames(index, index->group_size) +
                      bp_index_frames(index, index->records - full * index->group_size);
    *fault = index->count;
    return frames == index->count ? BP_OK : BP_MALFORMED;
}

int64_t bp_index_check(const struct bp_index *index, uint64_t start, uint64_t end,
                       uint64_t *fault) {
    int64_t status = check_offsets(index, start, end, fault);
    if (status != BP_OK) {
        return status;
    }
    return index->firsts ? check_groups(index, fault) : check_count(index, fault);
}
