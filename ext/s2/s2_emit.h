/* Writing S2 operations: the shortest form for each literal, copy and repeat. Shared by the
 * encoders. No bounds are checked here; each function returns the new end of the output. */
#ifndef BLOCKPACK_S2_EMIT_H
#define BLOCKPACK_S2_EMIT_H

#include <stdint.h>
#include <string.h>

#include "bytes.h"

/* A literal's header of 1..5 bytes. REQUIRES: 1 <= length <= 2^32. */
static inline uint8_t *bp_s2_emit_literal_header(uint8_t *d, uint64_t length) {
    uint32_t n = (uint32_t)(length - 1);
    if (n < 60) {
        *d = (uint8_t)(n << 2);
        return d + 1;
    }
    unsigned extra = n < 1u << 8 ? 1 : n < 1u << 16 ? 2 : n < 1u << 24 ? 3 : 4;
    *d++ = (uint8_t)((59 + extra) << 2);
    for (unsigned i = 0; i < extra; i++)
        *d++ = (uint8_t)(n >> (8 * i));
    return d;
}

static inline uint8_t *bp_s2_emit_literal(uint8_t *d, const uint8_t *source, uint64_t length) {
    if (length == 0)
        return d;
    d = bp_s2_emit_literal_header(d, length);
    memcpy(d, source, length);
    return d + length;
}

/* REQUIRES: 4 <= length <= 11, offset < 2048. */
static inline uint8_t *bp_s2_emit_copy1(uint8_t *d, uint64_t offset, uint64_t length) {
    d[0] = (uint8_t)((offset >> 8) << 5 | (length - 4) << 2 | 1);
    d[1] = (uint8_t)offset;
    return d + 2;
}

/* REQUIRES: 1 <= length <= 64, offset < 65536. */
static inline uint8_t *bp_s2_emit_copy2(uint8_t *d, uint64_t offset, uint64_t length) {
    d[0] = (uint8_t)((length - 1) << 2 | 2);
    bp_store16le(d + 1, (uint16_t)offset);
    return d + 3;
}

/* REQUIRES: 1 <= length <= 64. */
static inline uint8_t *bp_s2_emit_copy4(uint8_t *d, uint64_t offset, uint64_t length) {
    d[0] = (uint8_t)((length - 1) << 2 | 3);
    bp_store32le(d + 1, (uint32_t)offset);
    return d + 5;
}

/* Copy from the last copy's offset again. REQUIRES: length >= 4. */
static inline uint8_t *bp_s2_emit_repeat(uint8_t *d, uint64_t offset, uint64_t length) {
    const uint64_t longest = 65540 + 0xffffff;
    while (length > longest) {      /* leave at least 4 for the rest */
        bp_store32le(d, 7 << 2 | 1 | (0xffffffu - 4) << 16);
        d[4] = 0xff;
        d += 5;
        length -= longest - 4;
    }
    if (length < 12 && length > 8 && offset < 2048)
        return bp_s2_emit_copy1(d, offset, length);     /* one byte less than a long repeat */
    d[1] = 0;
    if (length <= 8) {
        d[0] = (uint8_t)((length - 4) << 2 | 1);
        return d + 2;
    }
    if (length < 8 + 256) {
        d[0] = 5 << 2 | 1;
        d[2] = (uint8_t)(length - 8);
        return d + 3;
    }
    if (length < 260 + 65536) {
        d[0] = 6 << 2 | 1;
        bp_store16le(d + 2, (uint16_t)(length - 260));
        return d + 4;
    }
    d[0] = 7 << 2 | 1;
    bp_store16le(d + 2, (uint16_t)(length - 65540));
    d[4] = (uint8_t)((length - 65540) >> 16);
    return d + 5;
}

/* REQUIRES: length >= 4, 1 <= offset < 2^32. A copy that is longer than its tag can say goes on as
 * repeats; its own part is cut so that at least 4 bytes are left for them. */
static inline uint8_t *bp_s2_emit_copy(uint8_t *d, uint64_t offset, uint64_t length) {
    if (offset >= 65536) {
        if (length <= 64)
            return bp_s2_emit_copy4(d, offset, length);
        d = bp_s2_emit_copy4(d, offset, 64);
        length -= 64;
        return length >= 4 ? bp_s2_emit_repeat(d, offset, length)
                           : bp_s2_emit_copy4(d, offset, length);
    }
    if (length > 64) {
        uint64_t first = offset < 2048 ? 8 : 60;
        d = offset < 2048 ? bp_s2_emit_copy1(d, offset, first)
                          : bp_s2_emit_copy2(d, offset, first);
        return bp_s2_emit_repeat(d, offset, length - first);
    }
    return length >= 12 || offset >= 2048 ? bp_s2_emit_copy2(d, offset, length)
                                          : bp_s2_emit_copy1(d, offset, length);
}

#endif
