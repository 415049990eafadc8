/* See u256.h. */
#include "columns/u256.h"

#include <string.h>

#define DIGITS 19                               /* of the largest power of ten in 64 bits */
#define TEN_TO_DIGITS UINT64_C(10000000000000000000)
#define LIMBS_MAX 5                             /* 5 * 19 digits are more than 78 */

struct bp_u256 bp_u256_minus(struct bp_u256 value, uint64_t less) {
    for (int i = 0; i < 4; i++) {
        uint64_t before = value.words[i];
        value.words[i] = before - less;
        less = before < less;
    }
    return value;
}

struct bp_u256 bp_u256_half(struct bp_u256 value) {
    for (int i = 0; i < 4; i++) {
        uint64_t above = i < 3 ? value.words[i + 1] : 0;
        value.words[i] = value.words[i] >> 1 | above << 63;
    }
    return value;
}

/* The top 64 bits with every bit below them or-ed into the lowest: since a double keeps 53, the
 * conversion of that word rounds as the whole number would. */
double bp_u256_double(struct bp_u256 value) {
    int top = 3;
    while (top > 0 && value.words[top] == 0) {
        top--;
    }
    uint64_t word = value.words[top];
    if (top == 0) {
        return (double)word;
    }
    int shift = __builtin_clzll(word);
    uint64_t below = value.words[top - 1];
    if (shift > 0) {
        word = word << shift | below >> (64 - shift);
        below <<= shift;
    }
    uint64_t rest = below;
    for (int i = top - 2; i >= 0; i--) {
        rest |= value.words[i];
    }
    double result = (double)(word | (rest != 0));
    for (int bits = 64 * top - shift; bits > 0; bits -= 32) {   /* exact: powers of two */
        result *= bits >= 32 ? 4294967296.0 : (double)(UINT64_C(1) << bits);
    }
    return result;
}

/* Divides by 10^19 in place; the remainder. */
static uint64_t divide(struct bp_u256 *value, int words) {
    unsigned __int128 rest = 0;
    for (int i = words - 1; i >= 0; i--) {
        rest = rest << 64 | value->words[i];
        value->words[i] = (uint64_t)(rest / TEN_TO_DIGITS);
        rest %= TEN_TO_DIGITS;
    }
    return (uint64_t)rest;
}

/* Digits of a limb, without leading zeros, at the end of `target`; how many. */
static int digits_of(uint64_t limb, uint8_t target[20]) {
    int count = 0;
    do {
        target[19 - count++] = (uint8_t)('0' + limb % 10);
        limb /= 10;
    } while (limb > 0);
    return count;
}

int bp_u256_decimal(struct bp_u256 value, uint8_t target[78]) {
    uint64_t limbs[LIMBS_MAX];
    uint8_t digits[20];
    int count = 0, words = 4;
    do {
        while (words > 1 && value.words[words - 1] == 0) {
            words--;
        }
        if (words == 1 && value.words[0] < TEN_TO_DIGITS) {
            limbs[count++] = value.words[0];
            break;
        }
        limbs[count++] = divide(&value, words);
    } while (count < LIMBS_MAX);
    int size = digits_of(limbs[count - 1], digits);
    memcpy(target, digits + 20 - size, (size_t)size);
    for (int i = count - 2; i >= 0; i--) {
        int used = digits_of(limbs[i], digits);
        memset(target + size, '0', (size_t)(DIGITS - used));
        memcpy(target + size + DIGITS - used, digits + 20 - used, (size_t)used);
        size += DIGITS;
    }
    return size;
}
