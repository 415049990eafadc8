/* The S2 block format of klauspost/compress: a superset of Snappy's raw blocks.
 *
 *   block  = uvarint(decoded size) op*                      no magic, no checksum, no end mark
 *   op     = literal(bytes) | copy(offset, length) | repeat(length)
 *
 *   tag & 3   name      after the tag                 length                offset
 *   0         literal   0..4 length bytes, the data   m + 1, or stored      -
 *   1         copy1     1 offset byte                 4 + (m & 7)           11 bits, not 0
 *   1         repeat    a zero byte, 0..3 extra       4..16842755           that of the last copy
 *   2         copy2     2 offset bytes                m + 1                 16 bits, not 0
 *   3         copy4     4 offset bytes                m + 1                 32 bits, not 0
 *                                                     (m = tag >> 2)
 *
 * A copy reads the output itself and may overlap what it writes. Numbers are little-endian.
 *
 * No function allocates, keeps state or needs alignment; all are safe to call from any thread.
 * Failures are the negative codes of status.h. Buffers must not overlap each other. */
#ifndef BLOCKPACK_S2_H
#define BLOCKPACK_S2_H

#include <stddef.h>
#include <stdint.h>

/* The largest input of one block: leaves room for the header in 32 bits, as the Go package does. */
#define BP_S2_SIZE_MAX UINT64_C(4294967285)

/* The header is a varint of at most five bytes; longer ones, even of small values, are refused. */
#define BP_S2_HEADER_SIZE_MAX 5

enum bp_s2_tier {
    BP_S2_FASTEST = 1,      /* s2_fastest.c: one small table, long strides */
    BP_S2_BETTER = 2,       /* s2_better.c: two tables, a copy must pay */
    BP_S2_BEST = 3          /* s2_best.c: chains of candidates, the cheapest path */
};

/* Read the header. Returns its size (1..5) and sets *decoded_size; nothing after it is looked at.
 * BP_TRUNCATED: the header does not end. BP_MALFORMED: over five bytes, or over 2^32 - 1. */
int64_t bp_s2_decoded_size(const uint8_t *source, size_t source_size, uint64_t *decoded_size);

/* Decode the first `stop` bytes of a block, or all of it when `stop` is not below its decoded size.
 * Returns the number of bytes decoded, min(stop, decoded size).
 *
 * REQUIRES: target has room for that many bytes, else BP_NO_SPACE and nothing is written.
 * A whole block is checked to its last byte. With an earlier stop, decoding ends with the operation
 * that completes byte `stop`, and what follows in the source is neither read nor checked.
 * target[0, target_size) may hold anything after the decoded bytes, and after a failure.
 * *position: after success the source bytes read, after a failure where the bad operation starts.
 *
 * BP_TRUNCATED: the source ends early. BP_TRAILING: bytes after the block's last operation.
 * BP_BAD_OFFSET: a copy from before the output, with offset 0, or a repeat before any copy.
 * BP_MALFORMED: a bad header, or an operation that runs past the decoded size. */
int64_t bp_s2_decode(const uint8_t *source, size_t source_size, uint8_t *target,
                     size_t target_size, uint64_t stop, size_t *position);

/* As bp_s2_decode, for a block that was encoded after `prefix`: prefix and output are one stream,
 * in which a copy may start in the one and run on into the other. The prefix is read in place, and
 * only where copies refer to it, so its size costs nothing. The block does not name its prefix:
 * another one of the same size or more gives other bytes, not an error.
 * BP_BAD_OFFSET: a copy from before the prefix, with offset 0, or a repeat before any copy. */
int64_t bp_s2_decode_after(const uint8_t *prefix, size_t prefix_size, const uint8_t *source,
                           size_t source_size, uint8_t *target, size_t target_size, uint64_t stop,
                           size_t *position);

/* The target size that bp_s2_encode asks for. A block itself is at most size + 10 bytes long; the
 * rest is slack for copies of 16 bytes at a time. 0: size is above BP_S2_SIZE_MAX. */
uint64_t bp_s2_encode_bound(uint64_t size);

/* Bytes of scratch that bp_s2_encode asks for: its tables, scaled to the input. At most 64 KiB for
 * fastest, 544 KiB for better and 5 MiB for best. */
size_t bp_s2_scratch_size(enum bp_s2_tier tier, uint64_t size);

/* Encode one block. Returns its size, or BP_TOO_LARGE (source above BP_S2_SIZE_MAX) or
 * BP_NO_SPACE (target below the bound, or scratch below bp_s2_scratch_size).
 * REQUIRES: scratch is aligned for uint64_t; what it holds before does not matter, and the block
 * depends on tier and source alone. Source that does not shrink is stored as one literal. */
int64_t bp_s2_encode(enum bp_s2_tier tier, const uint8_t *source, size_t source_size,
                     uint8_t *target, size_t target_size, void *scratch, size_t scratch_size);

/* Encoding after a prefix: the same bytes that bp_s2_decode_after wants. What the prefix holds is
 * noted in tables once, which many blocks then read, also from several threads.
 *
 * Size in bytes of the tables for a prefix: under 2 bytes a byte for better, 7 for best. */
size_t bp_s2_prefix_tables_size(enum bp_s2_tier tier, uint64_t prefix_size);

/* Fill the tables. BP_NO_SPACE: fewer than bp_s2_prefix_tables_size bytes. BP_TOO_LARGE: as below.
 * REQUIRES: tables are aligned for uint64_t. */
int64_t bp_s2_prefix_note(enum bp_s2_tier tier, const uint8_t *prefix, size_t prefix_size,
                          void *tables, size_t tables_size);

/* As bp_s2_encode, of the `source_size` bytes that stand right behind the prefix in one buffer:
 * stream[prefix_size, prefix_size + source_size). Target and scratch sizes are those for a source
 * alone. BP_TOO_LARGE: prefix and source together are above BP_S2_SIZE_MAX.
 * REQUIRES: tables were filled for this tier and prefix. */
int64_t bp_s2_encode_after(enum bp_s2_tier tier, const uint8_t *stream, size_t prefix_size,
                           size_t source_size, const void *tables, uint8_t *target,
                           size_t target_size, void *scratch, size_t scratch_size);

#endif
