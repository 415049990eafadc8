/* Keccak-256 as Ethereum uses it: rate 136, padding byte 0x01 (before FIPS 202 made it 0x06). */
#ifndef BLOCKPACK_KECCAK_H
#define BLOCKPACK_KECCAK_H

#include <stdint.h>

#define BP_KECCAK256_SIZE 32

void bp_keccak256(const uint8_t *data, uint64_t size, uint8_t digest[BP_KECCAK256_SIZE]);

/* The hash of head and data in a row, for what stands in two places. */
void bp_keccak256_joined(const uint8_t *head, uint64_t head_size, const uint8_t *data,
                         uint64_t size, uint8_t digest[BP_KECCAK256_SIZE]);

#endif
