/* Finds records by their Keccak-256: the hash index of a segment (FORMAT.md, section of kind 5).
 *
 *     count u32, bucket bits u8, ordinal bytes u8, 0 u16,
 *     first entry u32 of each of the 2^bits buckets, count u32,
 *     entry: tag u16, ordinal
 *
 * A hash's bucket is its first `bucket bits` bits, its tag the next 16: an entry of its bucket with
 * its tag is a candidate, which the caller confirms. Buckets hold 8 to 16 entries on average, in
 * order of tags, then of ordinals. No allocation, no globals. */
#ifndef BLOCKPACK_HASHES_H
#define BLOCKPACK_HASHES_H

#include <stdint.h>

#define BP_HASHES_ENTRIES_MAX UINT32_MAX

/* One record: the first 8 bytes of its hash, the first one the highest, and its ordinal. */
struct bp_hashed {
    uint64_t key;
    uint64_t ordinal;
};

/* Bytes of the index of `count` entries in a segment of `records` records. REQUIRES: count <=
 * records <= BP_HASHES_ENTRIES_MAX. */
uint64_t bp_hashes_size(uint64_t count, uint64_t records);

/* Write the index of `count` entries, of rising ordinals below `records`, to `target`, which has
 * bp_hashes_size bytes. */
void bp_hashes_build(const struct bp_hashed *entries, uint64_t count, uint64_t records,
                     uint8_t *target);

/* Whether `data` is an index of a segment of `records` records that bp_hashes_find can read: BP_OK,
 * or BP_TRUNCATED, BP_TRAILING, BP_MALFORMED, BP_OUT_OF_RANGE (an ordinal). */
int64_t bp_hashes_check(const uint8_t *data, uint64_t size, uint64_t records);

/* The ordinal of candidate number `nth` for a key: 1, or 0 where there are not so many. REQUIRES:
 * bp_hashes_check accepted the index. */
int bp_hashes_find(const uint8_t *data, uint64_t key, uint64_t nth, uint64_t *ordinal);

#endif
