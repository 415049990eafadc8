/* The match finders behind bp_s2_encode. Each writes the operations of a block of at least
 * BP_S2_SEARCH_MIN bytes, stream[prefix.size, prefix.size + size), from d on and returns their end,
 * or NULL when they would pass `limit`, which is at least 32 bytes before the target's end. Scratch
 * has the size that the tier asks for and holds anything.
 *
 * A prefix has tables of its own, which are read and never written: a block's own would have to
 * start as a copy of them, 1 MiB and more for each block. */
#ifndef BLOCKPACK_S2_TIERS_H
#define BLOCKPACK_S2_TIERS_H

#include <stddef.h>
#include <stdint.h>

/* Below this a block is one literal: nothing shorter can shrink by more than its headers. */
#define BP_S2_SEARCH_MIN 32

struct bp_s2_prefix {
    uint64_t size;          /* 0: there is none */
    const void *tables;     /* as the tier's note function filled them */
};

size_t bp_s2_fastest_scratch(uint64_t size);
uint8_t *bp_s2_fastest(const uint8_t *stream, struct bp_s2_prefix prefix, uint64_t size,
                       uint8_t *d, const uint8_t *limit, void *scratch);

size_t bp_s2_better_scratch(uint64_t size);
uint8_t *bp_s2_better(const uint8_t *stream, struct bp_s2_prefix prefix, uint64_t size,
                      uint8_t *d, const uint8_t *limit, void *scratch);

size_t bp_s2_best_scratch(uint64_t size);
uint8_t *bp_s2_best(const uint8_t *stream, struct bp_s2_prefix prefix, uint64_t size,
                    uint8_t *d, const uint8_t *limit, void *scratch);

/* Tables for a prefix of at least 8 bytes; fastest and better share theirs. */
size_t bp_s2_better_tables_size(uint64_t prefix_size);
void bp_s2_better_note(const uint8_t *prefix, uint64_t prefix_size, void *tables);
size_t bp_s2_best_tables_size(uint64_t prefix_size);
void bp_s2_best_note(const uint8_t *prefix, uint64_t prefix_size, void *tables);

#endif
