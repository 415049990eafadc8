/* The frame index of a lane, used in place over the mapped file.
 *
 * `count` entries of 24 bytes and one that closes the last frame; little-endian, any alignment:
 *
 *   0  u64  offset of the frame in the file (closing entry: the end of the last frame)
 *   8  u64  checksum of the frame's stored bytes (closing entry: 0)
 *  16  u32  ordinal of its first record, from the segment's first number (closing: record count)
 *  20  u32  size of its decoded content (closing entry: 0)
 *
 * A frame's stored size and record count are differences to the next entry, so they cost nothing.
 * bp_index_check is called once; the other functions trust what it accepted.
 */
#ifndef BLOCKPACK_INDEX_H
#define BLOCKPACK_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define BP_INDEX_ENTRY_BYTES 24

struct bp_index_limits {
    uint64_t offset_min;       /* no frame starts before */
    uint64_t offset_max;       /* the last frame ends here or before */
    uint64_t records;          /* of the segment */
    uint64_t group_size;       /* records in a frame, at most */
    uint64_t group_bytes_max;  /* decoded content of a frame of several records */
    uint64_t single_bytes_max; /* decoded content of a frame of one record */
};

struct bp_frame {
    uint64_t offset;
    uint64_t stored_size;
    uint64_t checksum;
    uint32_t first;        /* ordinal of its first record */
    uint32_t records;
    uint32_t decoded_size;
};

/* Checks all of entries[0 .. (count + 1) * 24): first ordinals start at 0, rise by 1..group_size
 * and end at the record count; offsets rise inside of the limits; decoded sizes are within theirs
 * and never 0. Returns the largest decoded size; else BP_MALFORMED, or BP_TOO_LARGE for a decoded
 * size, with the number of the offending entry in *fault. */
int64_t bp_index_check(const uint8_t *entries, size_t count, const struct bp_index_limits *limits,
                       size_t *fault);

/* Number of the frame that holds record `ordinal` (< records): a division when the groups are
 * regular, else a binary search. group_size >= 1. */
size_t bp_index_find(const uint8_t *entries, size_t count, uint64_t group_size, uint64_t ordinal);

/* Frame i < count. */
void bp_index_frame(const uint8_t *entries, size_t i, struct bp_frame *frame);

#endif
