/* The S2 block encoder: the frame around every tier, and the fastest tier.
 *
 * Fastest is one hash table of recent positions, newest wins, hashed over six bytes. It looks at
 * three positions per step and the step grows while nothing is found. The table depends on the
 * input's size, since zeroing it is part of every call: 64 KiB for a 50 KB block is 1 us. */
#include "s2/s2.h"

#include <string.h>

#include "bytes.h"
#include "s2/s2_emit.h"
#include "s2/s2_match.h"
#include "status.h"

/* Below this a block is one literal: nothing shorter can shrink by more than its headers. */
#define SIZE_MIN 32
/* Slack past a block's own end in the target, for literals copied 16 bytes at a time. */
#define TARGET_SLACK 32

uint64_t bp_s2_encode_bound(uint64_t size) {
    return size > BP_S2_SIZE_MAX ? 0 : size + 10 + TARGET_SLACK;
}

static unsigned fastest_bits(uint64_t size) {
    return size >= 16384 ? 14 : size >= 4096 ? 12 : 10;
}

size_t bp_s2_scratch_size(enum bp_s2_tier tier, uint64_t size) {
    (void)tier;
    return sizeof(uint32_t) << fastest_bits(size);
}

static uint8_t *emit_size(uint8_t *d, uint64_t size) {
    for (; size >= 0x80; size >>= 7)
        *d++ = (uint8_t)(size | 0x80);
    *d = (uint8_t)size;
    return d + 1;
}

struct fastest {
    const uint8_t *source;
    uint64_t size;
    uint64_t last;          /* the last position to search from */
    uint64_t literal;       /* start of the bytes that no operation covers yet */
    uint64_t offset;        /* of the last copy; the first one may not be a repeat */
    uint32_t *table;
    unsigned bits;
};

/* The next match at or after s. Returns its position and sets *from, or 0 when there is none. */
static inline __attribute__((always_inline)) uint64_t
find(const struct fastest *f, uint64_t s, uint64_t *from) {
    const uint8_t *source = f->source;
    uint32_t *table = f->table;
    while (s <= f->last) {
        uint64_t v = bp_load64le(source + s);
        uint32_t *slot0 = table + bp_s2_hash6(v, f->bits);
        uint32_t *slot1 = table + bp_s2_hash6(v >> 8, f->bits);
        uint32_t *slot2 = table + bp_s2_hash6(v >> 16, f->bits);
        uint64_t from0 = *slot0, from1 = *slot1;
        *slot0 = (uint32_t)s;
        *slot1 = (uint32_t)(s + 1);
        if ((uint32_t)(v >> 8) == bp_load32le(source + s + 1 - f->offset)) {
            *from = s + 1 - f->offset;
            return s + 1;
        }
        if ((uint32_t)v == bp_load32le(source + from0)) {
            *from = from0;
            return s;
        }
        uint64_t from2 = *slot2;
        *slot2 = (uint32_t)(s + 2);
        if ((uint32_t)(v >> 8) == bp_load32le(source + from1)) {
            *from = from1;
            return s + 1;
        }
        if ((uint32_t)(v >> 16) == bp_load32le(source + from2)) {
            *from = from2;
            return s + 2;
        }
        s += 4 + ((s - f->literal) >> 6);
    }
    return 0;
}

/* Encode the operations of a block. Returns their end, or NULL when they would pass `limit`. */
static inline __attribute__((always_inline)) uint8_t *
encode_fastest(struct fastest *f, uint8_t *d, const uint8_t *limit) {
    const uint8_t *source = f->source;
    uint64_t s = 1, at, from;
    int copied = 0;
    while ((at = find(f, s, &from)) != 0) {
        uint64_t length = 4 + bp_s2_match_length(source + at + 4, source + from + 4,
                                                 source + f->size);
        while (at > f->literal && from > 0 && source[at - 1] == source[from - 1]) {
            at--;
            from--;
            length++;
        }
        uint64_t literals = at - f->literal;
        if (limit - d < (int64_t)literals + 16)
            return NULL;
        d = bp_s2_emit_literal_fast(d, source + f->literal, literals);
        uint64_t offset = at - from;
        d = copied && offset == f->offset ? bp_s2_emit_repeat(d, offset, length)
                                          : bp_s2_emit_copy(d, offset, length);
        copied = 1;
        f->offset = offset;
        s = f->literal = at + length;
        if (s > f->last)
            break;
        f->table[bp_s2_hash6(bp_load64le(source + s - 2), f->bits)] = (uint32_t)(s - 2);
    }
    uint64_t rest = f->size - f->literal;
    if (limit - d < (int64_t)rest + 5)
        return NULL;
    return bp_s2_emit_literal(d, source + f->literal, rest);
}

static uint8_t *encode_operations(const uint8_t *source, uint64_t size, uint8_t *d,
                                  const uint8_t *limit, void *scratch) {
    unsigned bits = fastest_bits(size);
    struct fastest f = {source, size, size - BP_S2_MARGIN, 0, 1, scratch, bits};
    memset(scratch, 0, sizeof(uint32_t) << bits);
    return encode_fastest(&f, d, limit);
}

int64_t bp_s2_encode(enum bp_s2_tier tier, const uint8_t *source, size_t source_size,
                     uint8_t *target, size_t target_size, void *scratch, size_t scratch_size) {
    uint64_t size = source_size;
    if (size > BP_S2_SIZE_MAX)
        return BP_TOO_LARGE;
    if (target_size < bp_s2_encode_bound(size) || scratch_size < bp_s2_scratch_size(tier, size))
        return BP_NO_SPACE;
    uint8_t *start = emit_size(target, size), *d = NULL;
    if (size >= SIZE_MIN)
        d = encode_operations(source, size, start, start + size - size / 32 - 5, scratch);
    if (d == NULL)
        d = bp_s2_emit_literal(start, source, size);
    return d - target;
}
