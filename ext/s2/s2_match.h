/* What the S2 match finders share: loads and lengths, and how far a block is covered. */
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

/* Multiplicative hash of the low `bytes` (1..8) bytes of v. The prime is one of Go's s2. */
static inline uint32_t bp_s2_hash(uint64_t v, unsigned bytes, unsigned bits) {
    return (uint32_t)((v << (64 - 8 * bytes)) * UINT64_C(0xcf1bbcdcb7a56463) >> (64 - bits));
}

/* The number of bits of `size`, kept between two bounds: how a table is scaled to its input. */
static inline unsigned bp_s2_bits(uint64_t size, int shift, unsigned least, unsigned most) {
    int bits = 64 - __builtin_clzll(size | 1) + shift;
    return bits < (int)least ? least : bits > (int)most ? most : (unsigned)bits;
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

/* How far operations cover a block. */
struct bp_s2_cover {
    const uint8_t *source;
    uint64_t size;          /* of the source, prefix included */
    uint64_t last;          /* the last position where a match may start */
    uint64_t literal;       /* start of the bytes that no operation covers yet */
    uint64_t offset;        /* of the last copy; before one, 1 is as good as any */
    int copied;
};

/* The block source[start, size). REQUIRES: size - start >= BP_S2_SEARCH_MIN. */
static inline struct bp_s2_cover bp_s2_cover_new(const uint8_t *source, uint64_t start,
                                                 uint64_t size) {
    return (struct bp_s2_cover){source, size, size - BP_S2_MARGIN, start, 1, 0};
}

/* A prefix's positions by the 8 bytes from there on, the newest wins: fastest and better. A copy
 * from a prefix is mostly from over 64 KiB away, which pays from 8 bytes on. */
static inline unsigned bp_s2_noted_bits(uint64_t prefix_size) {
    return bp_s2_bits(prefix_size, -2, 8, 20);
}

static inline uint32_t bp_s2_noted(const void *tables, unsigned bits, uint64_t v) {
    return ((const uint32_t *)tables)[bp_s2_hash(v, 8, bits)];
}

struct bp_s2_match {
    uint64_t at, from, end;     /* source[at, end) is also at `from`, before it */
};

/* A match as long as can be, from 4 equal bytes. */
static inline struct bp_s2_match bp_s2_match_grow(const struct bp_s2_cover *c, uint64_t at,
                                                  uint64_t from) {
    const uint8_t *source = c->source;
    struct bp_s2_match m = {at, from, at + 4};
    m.end += bp_s2_match_length(source + at + 4, source + from + 4, source + c->size);
    while (m.at > c->literal && m.from > 0 && source[m.at - 1] == source[m.from - 1]) {
        m.at--;
        m.from--;
    }
    return m;
}

/* The literals before a match and its copy. Returns NULL when they might pass the limit. */
static inline uint8_t *bp_s2_cover_match(struct bp_s2_cover *c, const struct bp_s2_match *m,
                                         uint8_t *d, const uint8_t *limit) {
    uint64_t literals = m->at - c->literal, offset = m->at - m->from, length = m->end - m->at;
    if (limit - d < (int64_t)literals + BP_S2_EMIT_MAX)
        return NULL;
    d = bp_s2_emit_literal_fast(d, c->source + c->literal, literals);
    d = offset == c->offset && c->copied ? bp_s2_emit_repeat(d, offset, length)
                                         : bp_s2_emit_copy(d, offset, length);
    c->copied = 1;
    c->offset = offset;
    c->literal = m->end;
    return d;
}

/* The literal at a block's end. Returns NULL when it might pass the limit. */
static inline uint8_t *bp_s2_cover_rest(const struct bp_s2_cover *c, uint8_t *d,
                                        const uint8_t *limit) {
    uint64_t length = c->size - c->literal;
    if (limit - d < (int64_t)length + BP_S2_EMIT_MAX)
        return NULL;
    return bp_s2_emit_literal(d, c->source + c->literal, length);
}

#endif
