/* The better S2 tier: two hash tables of recent positions, over 8 bytes and over 5.
 *
 * At each position, in this order: 8 equal bytes by the long table win at once; 4 equal bytes by
 * the short table win unless the long table has 8 at the next position; then the last copy's offset
 * is tried at the next position. Checked before the tables, as Go's fast encoder does, the last
 * offset costs 0.3 % of size, since 4 bytes of it hide longer matches.
 *
 * A copy is taken only if it saves two bytes over leaving its bytes in the literal around it, whose
 * header a copy in the middle doubles: 0.3 % smaller than taking all that save any. */
#include <string.h>

#include "bytes.h"
#include "s2/s2_emit.h"
#include "s2/s2_match.h"
#include "s2/s2_tiers.h"

struct finder {
    struct bp_s2_cover cover;
    uint32_t *far;          /* by 8 bytes */
    uint32_t *near;         /* by 5 bytes */
    unsigned far_bits, near_bits;
    const void *noted;      /* of the prefix */
    unsigned noted_bits;
};

/* Zeroing is part of every call: one long slot for 4 to 8 bytes of input, 512 KiB at most. */
static unsigned far_bits(uint64_t size) {
    return bp_s2_bits(size, -3, 10, 17);
}

/* 32 KiB stay in the first cache. */
static unsigned near_bits(uint64_t size) {
    return bp_s2_bits(size, -3, 10, 13);
}

size_t bp_s2_better_scratch(uint64_t size) {
    return (sizeof(uint32_t) << far_bits(size)) + (sizeof(uint32_t) << near_bits(size));
}

static inline uint32_t *far_slot(const struct finder *f, uint64_t v) {
    return f->far + bp_s2_hash(v, 8, f->far_bits);
}

static inline uint32_t *near_slot(const struct finder *f, uint64_t v) {
    return f->near + bp_s2_hash(v, 5, f->near_bits);
}

/* The search takes longer strides after every 128 positions without a match. */
#define STRIDE_SHIFT 7

/* The next match at or after s. Returns its position and sets *from, or 0 when there is none.
 * No table holds a position after the one returned. */
static inline uint64_t find(const struct finder *f, uint64_t s, uint64_t *from, int prefixed) {
    const uint8_t *source = f->cover.source;
    uint64_t probes = 1 << STRIDE_SHIFT;
    for (; s <= f->cover.last; s += probes++ >> STRIDE_SHIFT) {
        uint64_t v = bp_load64le(source + s);
        uint32_t *far = far_slot(f, v), *near = near_slot(f, v);
        uint64_t far_from = *far, near_from = *near;
        *far = *near = (uint32_t)s;
        *from = far_from;
        if (bp_load64le(source + far_from) == v)
            return s;
        if (prefixed) {
            *from = bp_s2_noted(f->noted, f->noted_bits, v);
            if (bp_load64le(source + *from) == v)
                return s;
        }
        if (bp_load32le(source + near_from) == (uint32_t)v) {
            uint64_t next = bp_load64le(source + s + 1);
            *from = *far_slot(f, next);
            if (bp_load64le(source + *from) == next)
                return s + 1;
            *from = near_from;
            return s;
        }
        *from = s + 1 - f->cover.offset;
        if (bp_load32le(source + *from) == (uint32_t)(v >> 8))
            return s + 1;
    }
    return 0;
}

static inline int worth_it(const struct bp_s2_cover *c, const struct bp_s2_match *m) {
    uint64_t offset = m->at - m->from, size = offset < 2048 ? 2 : offset < 65536 ? 3 : 5;
    return offset == c->offset || m->end - m->at >= size + 2 + (m->at > c->literal);
}

/* Keep the second position of a match that was found at `at`, and its last ones. */
static inline void keep(const struct finder *f, uint64_t at, uint64_t end) {
    uint64_t v = bp_load64le(f->cover.source + at + 1);
    *far_slot(f, v) = *near_slot(f, v) = (uint32_t)(at + 1);
    *far_slot(f, bp_load64le(f->cover.source + end - 2)) = (uint32_t)(end - 2);
    *near_slot(f, bp_load64le(f->cover.source + end - 1)) = (uint32_t)(end - 1);
}

/* Inlined for each value of `prefixed`, so that blocks without a prefix do not pay for it. */
static inline __attribute__((always_inline)) uint8_t *
search(struct finder *f, uint64_t at, uint8_t *d, const uint8_t *limit, int prefixed) {
    uint64_t from;
    while ((at = find(f, at, &from, prefixed)) != 0) {
        struct bp_s2_match m = bp_s2_match_grow(&f->cover, at, from);
        if (!worth_it(&f->cover, &m)) {
            at++;
            continue;
        }
        d = bp_s2_cover_match(&f->cover, &m, d, limit);
        if (d == NULL)
            return NULL;
        if (m.end > f->cover.last)
            break;
        keep(f, at, m.end);
        at = m.end;
    }
    return bp_s2_cover_rest(&f->cover, d, limit);
}

uint8_t *bp_s2_better(const uint8_t *stream, struct bp_s2_prefix prefix, uint64_t size,
                      uint8_t *d, const uint8_t *limit, void *scratch) {
    struct finder f = {bp_s2_cover_new(stream, prefix.size, prefix.size + size), scratch,
                       (uint32_t *)scratch + ((size_t)1 << far_bits(size)), far_bits(size),
                       near_bits(size), prefix.tables, bp_s2_noted_bits(prefix.size)};
    memset(scratch, 0, bp_s2_better_scratch(size));
    return prefix.size ? search(&f, prefix.size, d, limit, 1) : search(&f, 1, d, limit, 0);
}

size_t bp_s2_better_tables_size(uint64_t prefix_size) {
    return sizeof(uint32_t) << bp_s2_noted_bits(prefix_size);
}

void bp_s2_better_note(const uint8_t *prefix, uint64_t prefix_size, void *tables) {
    unsigned bits = bp_s2_noted_bits(prefix_size);
    uint32_t *noted = tables;
    memset(tables, 0, bp_s2_better_tables_size(prefix_size));
    for (uint64_t i = 0; i + 8 <= prefix_size; i++)
        noted[bp_s2_hash(bp_load64le(prefix + i), 8, bits)] = (uint32_t)i;
}
