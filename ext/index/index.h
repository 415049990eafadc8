/* The frame index of a lane, used in place over the mapped file: little-endian, any alignment.
 *
 * Entries of 16 bytes, one a frame, and one that closes the last frame:
 *
 *   0  u64  offset of the frame in the file (closing entry: the end of the last frame)
 *   8  u64  checksum of the frame (closing entry: 0)
 *
 * A frame's stored size is the difference to the next entry, so it costs nothing. Which records a
 * frame holds follows from the group size while every group but the last is full. Otherwise
 * `firsts` has a u32 for each group and a closing one: the ordinal of the group's first record,
 * counted from the segment's first number (closing entry: the record count).
 *
 * A group of a plain lane is one frame. A keyed lane, where keys > 0, splits each group: its
 * records at positions 0, stride, 2 * stride .. are its keys, up to `keys` of them, and one frame;
 * the others follow in their order, frame_records to a frame, the last one of the group with what
 * is left. There `frames` has a u32 for each entry of `firsts`: the number of the group's first
 * frame (closing entry: the frame count).
 *
 * bp_index_check is called once; the other functions trust what it accepted.
 */
#ifndef BLOCKPACK_INDEX_H
#define BLOCKPACK_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define BP_INDEX_ENTRY_BYTES 16
#define BP_INDEX_FIRST_BYTES 4

struct bp_index {
    const uint8_t *entries; /* (count + 1) * BP_INDEX_ENTRY_BYTES */
    const uint8_t *firsts;  /* (groups + 1) * BP_INDEX_FIRST_BYTES, or NULL */
    const uint8_t *frames;  /* as firsts; NULL where that is NULL, or where keys is 0 */
    uint64_t count;         /* frames */
    uint64_t groups;        /* with firsts: their number */
    uint64_t records;       /* of the segment, below 2^32 */
    uint64_t group_size;    /* records in a group, at most; 1 or more */
    uint64_t keys;          /* of a group, at most; 0: the lane is plain */
    uint64_t stride;        /* keyed: 1 or more */
    uint64_t frame_records; /* keyed: 1 or more */
};

struct bp_frame {
    uint64_t offset;
    uint64_t stored_size;
    uint64_t checksum;
    uint64_t first;   /* ordinal of its first record */
    uint64_t records;
    uint64_t key;     /* number of the frame whose content is its prefix; its own: it has none */
    uint64_t group;   /* ordinal of its group's first record */
    uint64_t rank;    /* of its first record among the group's records that are no keys */
};

struct bp_index_group {
    uint64_t first;   /* ordinal of its first record */
    uint64_t frame;   /* number of its first frame, the keys' one in a keyed lane */
    uint64_t records;
};

/* Checks all entries: offsets rise from exactly `start` to exactly `end`; first ordinals rise from
 * 0 to the record count by 1..group_size each, first frames by what those records take; the
 * closing checksum is 0. Returns BP_OK, or BP_MALFORMED with the number of the offending entry in
 * *fault; in `firsts` where that is the first one wrong, and in `frames` likewise. */
int64_t bp_index_check(const struct bp_index *index, uint64_t start, uint64_t end,
                       uint64_t *fault);

/* Number of the frame that holds record `ordinal` < records: arithmetic while groups are full,
 * else a search from there. */
uint64_t bp_index_find(const struct bp_index *index, uint64_t ordinal);

/* The group that holds record `ordinal` < records. */
struct bp_index_group bp_index_group_of(const struct bp_index *index, uint64_t ordinal);

/* Frame i < count. */
void bp_index_frame(const struct bp_index *index, uint64_t i, struct bp_frame *frame);

/* Ordinal of the record at `position` < frame->records, and the opposite for one that it holds. */
uint64_t bp_index_ordinal(const struct bp_index *index, const struct bp_frame *frame,
                          uint64_t position);
uint64_t bp_index_position(const struct bp_index *index, const struct bp_frame *frame,
                           uint64_t ordinal);

/* Frames that a group of so many records takes. */
uint64_t bp_index_frames(const struct bp_index *index, uint64_t records);

#endif
