/* Unaligned little- and big-endian loads and stores. memcpy compiles to one move and is defined
 * behaviour at any alignment. No bounds are checked here: the caller has checked them. */
#ifndef BLOCKPACK_BYTES_H
#define BLOCKPACK_BYTES_H

#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BP_LE16(x) __builtin_bswap16(x)
#define BP_LE32(x) __builtin_bswap32(x)
#define BP_LE64(x) __builtin_bswap64(x)
#else
#define BP_LE16(x) (x)
#define BP_LE32(x) (x)
#define BP_LE64(x) (x)
#endif

static inline uint16_t bp_load16le(const uint8_t *p) {
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return BP_LE16(v);
}

static inline uint32_t bp_load32le(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return BP_LE32(v);
}

static inline uint64_t bp_load64le(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return BP_LE64(v);
}

static inline void bp_store16le(uint8_t *p, uint16_t v) {
    v = BP_LE16(v);
    memcpy(p, &v, sizeof v);
}

static inline void bp_store32le(uint8_t *p, uint32_t v) {
    v = BP_LE32(v);
    memcpy(p, &v, sizeof v);
}

static inline void bp_store64le(uint8_t *p, uint64_t v) {
    v = BP_LE64(v);
    memcpy(p, &v, sizeof v);
}

#endif
