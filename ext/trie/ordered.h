/* Root of the Merkle-Patricia trie {RLP(index): value} over a list (yellow paper, appendix D): the
 * roots that a header has of its transactions, receipts and withdrawals.
 *
 * Nothing is allocated. Keys are computed, not stored; the depth is at most 18 nibbles, so the
 * stack in use stays below 16 KB, whatever the values. The time is that of hashing them. */
#ifndef BLOCKPACK_TRIE_ORDERED_H
#define BLOCKPACK_TRIE_ORDERED_H

#include <stdint.h>

#include "hash/keccak.h"

/* Gives value `index`, which need be valid until the next call alone; a failure (below 0) ends the
 * computation. Called once for each index, in the order of the keys: 1 to 127, 0, 128, 129, ... */
typedef int (*bp_trie_source)(void *context, uint64_t index, const uint8_t **value,
                              uint64_t *size);

/* BP_OK and the root of `count` values, or what the source failed with. */
int bp_ordered_root(bp_trie_source source, void *context, uint64_t count,
                    uint8_t root[BP_KECCAK256_SIZE]);

#endif
