/* The decoded content of a frame: a table of record lengths, then the records back to back.
 *
 *   width   1 byte: w, 1..4
 *   planes  w planes of `count` bytes; byte i of plane k is byte k of (length of record i) + 1,
 *           0 for an absent record. Little-endian by plane, not by record: neighbouring records
 *           have lengths of one magnitude, so a plane is a run that compresses to almost nothing
 *           (measured: FORMAT.md, "Why").
 *   records the present ones, in order
 *
 * w is the smallest width that holds the largest entry, so that equal records give equal bytes.
 * No allocation, no globals; every size is 64-bit and checked before it is used.
 */
#ifndef BLOCKPACK_GROUP_H
#define BLOCKPACK_GROUP_H

#include <stddef.h>
#include <stdint.h>

#define BP_GROUP_WIDTH_MAX 4
#define BP_GROUP_RECORDS_MAX 65536u             /* records in one frame */
#define BP_RECORD_BYTES_MAX (UINT64_C(1) << 30) /* one record: 1 GiB */

/* sizes[i] of an absent record. */
#define BP_RECORD_ABSENT UINT64_MAX

/* Size of the content that bp_group_pack writes for these sizes, and its width in *width.
 * BP_TOO_LARGE: a record above BP_RECORD_BYTES_MAX, or more than BP_GROUP_RECORDS_MAX.
 * BP_OUT_OF_RANGE: count is 0. */
int64_t bp_group_size(const uint64_t *sizes, size_t count, unsigned *width);

/* Writes the content into target[0..target_size), which must be bp_group_size() bytes: BP_NO_SPACE
 * otherwise. records[i] is not read where sizes[i] is BP_RECORD_ABSENT or 0. Returns the size. */
int64_t bp_group_pack(const uint8_t *const *records, const uint64_t *sizes, size_t count,
                      unsigned width, uint8_t *target, uint64_t target_size);

/* Reads the table at the start of content, of which `available` bytes are at hand and which is
 * `total` bytes when complete. ends[i] becomes the offset in the content where record i ends;
 * it starts where record i - 1 ends, and the first one at the returned table size.
 * BP_TRUNCATED: available does not hold the table. BP_MALFORMED: width outside of 1..4.
 * BP_NONCANONICAL: a narrower table would do. BP_TOO_LARGE: a record above the limit.
 * BP_OUT_OF_RANGE: count is 0 or above the limit.
 * BP_TRAILING / BP_BAD_OFFSET: the records end before / after `total`. */
int64_t bp_group_read(const uint8_t *content, uint64_t available, size_t count, uint64_t total,
                      uint32_t *ends);

/* 1 when record i is absent, from a table that bp_group_read has accepted; i < count. */
int bp_group_absent(const uint8_t *content, size_t count, size_t i);

#endif
