/* See bloom.h. */
#include "bloom/bloom.h"

#include "hash/keccak.h"

struct bp_bloom_bits bp_bloom_bits_of(const uint8_t *value, uint64_t size) {
    uint8_t digest[BP_KECCAK256_SIZE];
    struct bp_bloom_bits item;
    bp_keccak256(value, size, digest);
    for (int i = 0; i < 3; i++) {
        item.bits[i] = (uint16_t)((digest[2 * i] << 8 | digest[2 * i + 1]) & 2047);
    }
    return item;
}
