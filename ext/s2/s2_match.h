/* What the S2 match finders share: hashes, match length, literals copied in wide steps. */
#ifndef BLOCKPACK_S2_MATCH_H
#define BLOCKPACK_S2_MATCH_H

#include <stdint.h>
#include <string.h>

#include "bytes.h"
#include "s2/s2_emit.h"

/* Nothing starts in the last bytes of a source, so that loads of 8 bytes two bytes further on, and
 * literals read 16 bytes at a time, stay inside. */
#define BP_S2_MARGIN 16

/* More than a literal's header and a copy take. A copy of over 16 MB takes 5 bytes more for each,
 * which a limit that is 3 % below the source's size leaves room for. */
#define BP_S2_EMIT_MAX 16

/* Multiplicative hash of the low 6 bytes. The prime is the one that Go's s2 uses. */
static inline uint32_t bp_s2_hash6(uint64_t v, unsigned bits) {
    return (uint32_t)((v << 16) * UINT64_C(227718039650203) >> (64 - bits));
}

/* How many bytes are equal from a and b on; b is before a, and a's bytes end at `end`. */
static inline uint64_t bp_s2_match_length(const uint8_t *a, const uint8_t *b, const uint8_t *end) {
    const uint8_t *start = a;
    while (end - a >= 8) {
        uint64_t difference = bp_load64le(a) ^ bp_load64le(b);
        if (difference)
            return (uint64_t)(a - start) + ((unsigned)__builtin_ctzll(difference) >> 3);
        a += 8;
        b += 8;
    }
    while (a < end && *a == *b) {
        a++;
        b++;
    }
    return (uint64_t)(a - start);
}

/* A literal whose source and target both have 15 bytes of slack after it. */
static inline uint8_t *bp_s2_emit_literal_fast(uint8_t *d, const uint8_t *source,
                                               uint64_t length) {
    if (length == 0)
        return d;
    d = bp_s2_emit_literal_header(d, length);
    if (length > 64) {
        memcpy(d, source, length);
    } else {
        for (uint64_t i = 0; i < length; i += 16)
            memcpy(d + i, source + i, 16);
    }
    return d + length;
}

/* The literal at a block's end, or NULL when it passes the limit. */
static inline uint8_t *bp_s2_emit_last(uint8_t *d, const uint8_t *limit, const uint8_t *source,
                                       uint64_t length) {
    if (limit - d < (int64_t)length + BP_S2_EMIT_MAX)
        return NULL;
    return bp_s2_emit_literal(d, source, length);
}

#endif
