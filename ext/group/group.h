/* The decoded content of a frame: a table of record lengths, then the records back to back.
 *
 *   base     varint: the smallest entry
 *   deltas   one varint a record: its entry - base
 *   records  the present ones, in order
 *
 * The entry of a record is its length + 1, or 0 when it is absent. Varints are LEB128 (seven bits
 * a byte, low bits first, the top bit set on all but the last) in their shortest form, and base
 * is the smallest entry, so that equal records give equal bytes. Neighbouring records have lengths
 * of one magnitude, so a delta is mostly one byte (measured: FORMAT.md, "Why").
 *
 * No allocation, no globals; every size is 64-bit and checked before it is used.
 */
#ifndef BLOCKPACK_GROUP_H
#define BLOCKPACK_GROUP_H

#include <stddef.h>
#include <stdint.h>

#define BP_GROUP_RECORDS_MAX 65536u             /* records in one frame */
#define BP_RECORD_BYTES_MAX (UINT64_C(1) << 30) /* one record: 1 GiB */
#define BP_GROUP_VARINT_MAX 5                   /* bytes of the largest entry, 2^30 + 1 */

/* sizes[i] of an absent record. */
#define BP_RECORD_ABSENT UINT64_MAX

/* Set in ends[i] when record i is absent; the rest is an offset, below 2^31. */
#define BP_GROUP_ABSENT UINT32_C(0x80000000)

/* Size of the content that bp_group_pack writes for these sizes.
 * BP_TOO_LARGE: a record above BP_RECORD_BYTES_MAX, or more than BP_GROUP_RECORDS_MAX.
 * BP_OUT_OF_RANGE: count is 0. */
int64_t bp_group_size(const uint64_t *sizes, size_t count);

/* Writes the content into target[0..target_size), which must be bp_group_size() bytes: BP_NO_SPACE
 * otherwise. records[i] is not read where sizes[i] is BP_RECORD_ABSENT or 0. Returns the size. */
int64_t bp_group_pack(const uint8_t *const *records, const uint64_t *sizes, size_t count,
                      uint8_t *target, uint64_t target_size);

/* Reads the table at the start of content, of which `available` bytes are at hand and which is
 * `total` bytes when complete. ends[i] becomes the offset in the content where record i ends,
 * with BP_GROUP_ABSENT set when it is absent; it starts where record i - 1 ends, and the first
 * one at the returned table size.
 * BP_TRUNCATED: available does not hold the table. BP_MALFORMED: a varint of over 5 bytes.
 * BP_NONCANONICAL: a varint that is not the shortest, or a base that is not the smallest entry.
 * BP_TOO_LARGE: a record above the limit. BP_OUT_OF_RANGE: count is 0 or above the limit.
 * BP_TRAILING / BP_BAD_OFFSET: the records end before / after `total`. */
int64_t bp_group_read(const uint8_t *content, uint64_t available, size_t count, uint64_t total,
                      uint32_t *ends);

#endif
