/* The header of a zstd frame (RFC 8878, section 3.1.1.1): how much content it declares.
 *
 *   4 bytes   magic 0xFD2FB528
 *   1 byte    descriptor: dictionary id size flag (bits 0, 1), single segment (5), size flag (6, 7)
 *   0/1       window descriptor, unless single segment
 *   0/1/2/4   dictionary id
 *   0..8      content size: absent, 1, 2 (+ 256), 4 or 8 bytes */
#ifndef BLOCKPACK_ZSTD_FRAME_H
#define BLOCKPACK_ZSTD_FRAME_H

#include <stdint.h>

#include "bytes.h"

#define BP_ZSTD_MAGIC UINT32_C(0xFD2FB528)

/* The declared content size; UINT64_MAX where the frame declares none, or these `size` bytes are
 * not the beginning of a frame. */
static inline uint64_t bp_zstd_content_size(const uint8_t *frame, uint64_t size) {
    static const uint8_t id_sizes[4] = {0, 1, 2, 4};
    if (size < 5 || bp_load32le(frame) != BP_ZSTD_MAGIC) return UINT64_MAX;
    unsigned descriptor = frame[4], single = descriptor >> 5 & 1, flag = descriptor >> 6;
    if (flag == 0 && !single) return UINT64_MAX;
    uint64_t at = 5 + !single + id_sizes[descriptor & 3];
    uint64_t width = UINT64_C(1) << flag;
    if (at + width > size) return UINT64_MAX;
    const uint8_t *p = frame + at;
    switch (flag) {
    case 0: return p[0];
    case 1: return UINT64_C(256) + bp_load16le(p);
    case 2: return bp_load32le(p);
    default: return bp_load64le(p);
    }
}

#endif
