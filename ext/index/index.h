/* The frame index of a lane, used in place over the mapped file: little-endian, any alignment.
 *
 * Entries of 16 bytes, one a frame, and one that closes the last frame:
 *
 *   0  u64  offset of the frame in the file (closing entry: the end of the last frame)
 *   8  u64  checksum of the frame's stored bytes (closing entry: 0)
 *
 * Which records a frame holds follows from the group size while every frame but the last is full.
 * Otherwise `firsts` has a u32 for each entry: the ordinal of the frame's first record, counted
 * from the segment's first number (closing entry: the record count).
 *
 * A frame's stored size and record count are differences to the next entry, so they cost nothing.
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
    const uint8_t *firsts;  /* (count + 1) * BP_INDEX_FIRST_BYTES, or NULL */
    uint64_t count;         /* frames */
    uint64_t records;       /* of the segment, below 2^32 */
    uint64_t group_size;    /* records in a frame, at most; 1 or more */
};

struct bp_frame {
    uint64_t offset;
    uint64_t stored_size;
    uint64_t checksum;
    uint64_t first;   /* ordinal of its first record */
    uint64_t records;
};

/* Checks all entries: offsets rise from exactly `start` to exactly `end`; first ordinals rise from
 * 0 to the record count by 1..group_size each; the closing checksum is 0. Returns BP_OK, or
 * BP_MALFORMED with the number of the offending entry in *fault. */
int64_t bp_index_check(const struct bp_index *index, uint64_t start, uint64_t end,
                       uint64_t *fault);

/* Number of the frame that holds record `ordinal` < records: a division while frames are full,
 * else a search from there. */
uint64_t bp_index_find(const struct bp_index *index, uint64_t ordinal);

/* Frame i < count. */
void bp_index_frame(const struct bp_index *index, uint64_t i, struct bp_frame *frame);

#endif
