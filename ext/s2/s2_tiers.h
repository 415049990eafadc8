/* The match finders behind bp_s2_encode. Each writes the operations of a block of at least
 * BP_S2_SEARCH_MIN bytes from d on and returns their end, or NULL when they would pass `limit`,
 * which is at least 32 bytes before the target's end. Scratch has the size that the tier asks for
 * and holds anything. */
#ifndef BLOCKPACK_S2_TIERS_H
#define BLOCKPACK_S2_TIERS_H

#include <stddef.h>
#include <stdint.h>

/* Below this a block is one literal: nothing shorter can shrink by more than its headers. */
#define BP_S2_SEARCH_MIN 32

size_t bp_s2_fastest_scratch(uint64_t size);
uint8_t *bp_s2_fastest(const uint8_t *source, uint64_t size, uint8_t *d, const uint8_t *limit,
                       void *scratch);

size_t bp_s2_better_scratch(uint64_t size);
uint8_t *bp_s2_better(const uint8_t *source, uint64_t size, uint8_t *d, const uint8_t *limit,
                      void *scratch);

size_t bp_s2_best_scratch(uint64_t size);
uint8_t *bp_s2_best(const uint8_t *source, uint64_t size, uint8_t *d, const uint8_t *limit,
                    void *scratch);

#endif
