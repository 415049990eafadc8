/* The frame around every tier of the S2 encoder: header, limits, and the one-literal block. */
#include "s2/s2.h"

#include "s2/s2_emit.h"
#include "s2/s2_tiers.h"
#include "status.h"

/* Slack past a block's own end in the target, for literals copied 16 bytes at a time. */
#define TARGET_SLACK 32

uint64_t bp_s2_encode_bound(uint64_t size) {
    return size > BP_S2_SIZE_MAX ? 0 : size + 10 + TARGET_SLACK;
}

size_t bp_s2_scratch_size(enum bp_s2_tier tier, uint64_t size) {
    switch (tier) {
    case BP_S2_FASTEST: return bp_s2_fastest_scratch(size);
    case BP_S2_BETTER: return bp_s2_better_scratch(size);
    default: return bp_s2_best_scratch(size);
    }
}

static uint8_t *emit_size(uint8_t *d, uint64_t size) {
    for (; size >= 0x80; size >>= 7)
        *d++ = (uint8_t)(size | 0x80);
    *d = (uint8_t)size;
    return d + 1;
}

/* Less than 3 % saved is not worth its decoding: NULL, and the block becomes one literal. */
static uint8_t *encode_operations(enum bp_s2_tier tier, const uint8_t *stream,
                                  struct bp_s2_prefix prefix, uint64_t size, uint8_t *d,
                                  void *scratch) {
    const uint8_t *limit = d + size - size / 32 - 5;
    if (size < BP_S2_SEARCH_MIN)
        return NULL;
    switch (tier) {
    case BP_S2_FASTEST: return bp_s2_fastest(stream, prefix, size, d, limit, scratch);
    case BP_S2_BETTER: return bp_s2_better(stream, prefix, size, d, limit, scratch);
    default: return bp_s2_best(stream, prefix, size, d, limit, scratch);
    }
}

static int64_t encode(enum bp_s2_tier tier, const uint8_t *stream, struct bp_s2_prefix prefix,
                      uint64_t size, uint8_t *target, void *scratch) {
    uint8_t *start = emit_size(target, size);
    uint8_t *d = encode_operations(tier, stream, prefix, size, start, scratch);
    if (d == NULL)
        d = bp_s2_emit_literal(start, stream + prefix.size, size);
    return d - target;
}

int64_t bp_s2_encode(enum bp_s2_tier tier, const uint8_t *source, size_t source_size,
                     uint8_t *target, size_t target_size, void *scratch, size_t scratch_size) {
    uint64_t size = source_size;
    if (size > BP_S2_SIZE_MAX)
        return BP_TOO_LARGE;
    if (target_size < bp_s2_encode_bound(size) || scratch_size < bp_s2_scratch_size(tier, size))
        return BP_NO_SPACE;
    return encode(tier, source, (struct bp_s2_prefix){0, NULL}, size, target, scratch);
}

/* A shorter prefix has nothing to refer to, and no tables. */
#define PREFIX_MIN 8

size_t bp_s2_prefix_tables_size(enum bp_s2_tier tier, uint64_t prefix_size) {
    if (prefix_size < PREFIX_MIN)
        return 0;
    return tier == BP_S2_BEST ? bp_s2_best_tables_size(prefix_size)
                              : bp_s2_better_tables_size(prefix_size);
}

int64_t bp_s2_prefix_note(enum bp_s2_tier tier, const uint8_t *prefix, size_t prefix_size,
                          void *tables, size_t tables_size) {
    if (prefix_size > BP_S2_SIZE_MAX)
        return BP_TOO_LARGE;
    if (tables_size < bp_s2_prefix_tables_size(tier, prefix_size))
        return BP_NO_SPACE;
    if (prefix_size >= PREFIX_MIN) {
        if (tier == BP_S2_BEST)
            bp_s2_best_note(prefix, prefix_size, tables);
        else
            bp_s2_better_note(prefix, prefix_size, tables);
    }
    return BP_OK;
}

int64_t bp_s2_encode_after(enum bp_s2_tier tier, const uint8_t *stream, size_t prefix_size,
                           size_t source_size, const void *tables, uint8_t *target,
                           size_t target_size, void *scratch, size_t scratch_size) {
    uint64_t size = source_size;
    if (size > BP_S2_SIZE_MAX || prefix_size > BP_S2_SIZE_MAX - size)
        return BP_TOO_LARGE;
    if (target_size < bp_s2_encode_bound(size) || scratch_size < bp_s2_scratch_size(tier, size))
        return BP_NO_SPACE;
    if (prefix_size < PREFIX_MIN)
        return encode(tier, stream + prefix_size, (struct bp_s2_prefix){0, NULL}, size, target,
                      scratch);
    return encode(tier, stream, (struct bp_s2_prefix){prefix_size, tables}, size, target, scratch);
}
