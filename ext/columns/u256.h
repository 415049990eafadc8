/* Integers of up to 256 bits in the forms that data frames can hold. */
#ifndef BLOCKPACK_U256_H
#define BLOCKPACK_U256_H

#include <stdint.h>

struct bp_u256 {
    uint64_t words[4];      /* least significant first */
};

/* Modulo 2^256. */
struct bp_u256 bp_u256_minus(struct bp_u256 value, uint64_t less);

struct bp_u256 bp_u256_half(struct bp_u256 value);

/* The nearest double, ties to even. */
double bp_u256_double(struct bp_u256 value);

/* Writes the decimal digits, at most 78, and returns how many. */
int bp_u256_decimal(struct bp_u256 value, uint8_t target[78]);

#endif
