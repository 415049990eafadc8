/* The 2,048-bit bloom filter over the addresses and topics of logs (yellow paper, 4.3.1): each
 * value sets three bits, taken from the first six bytes of its keccak. Bit 0 is the lowest of the
 * last byte. */
#ifndef BLOCKPACK_BLOOM_H
#define BLOCKPACK_BLOOM_H

#include <stdint.h>

#define BP_BLOOM_BYTES 256

/* Numbers of the three bits, 0 to 2047, not always distinct. */
struct bp_bloom_bits {
    uint16_t bits[3];
};

struct bp_bloom_bits bp_bloom_bits_of(const uint8_t *value, uint64_t size);

static inline void bp_bloom_add(uint8_t bloom[BP_BLOOM_BYTES], struct bp_bloom_bits item) {
    for (int i = 0; i < 3; i++) {
        bloom[BP_BLOOM_BYTES - 1 - item.bits[i] / 8] |= (uint8_t)(1u << (item.bits[i] % 8));
    }
}

/* Whether the value may be among those added: never a false no. */
static inline int bp_bloom_has(const uint8_t bloom[BP_BLOOM_BYTES], struct bp_bloom_bits item) {
    int all = 1;
    for (int i = 0; i < 3; i++) {
        all &= bloom[BP_BLOOM_BYTES - 1 - item.bits[i] / 8] >> (item.bits[i] % 8);
    }
    return all & 1;
}

#endif
