/* The S2 block decoder.
 *
 * Two loops decode the same operations. step() takes one operation, checks everything and copies
 * exactly; it is the only place that refuses anything. run() takes the frequent operations while
 * both buffers have slack, so that it can copy 16 bytes at a time past an operation's end; on any
 * doubt it leaves the operation to step(). Hence both agree on what is valid by construction.
 * BP_SCALAR leaves run() out: step() alone is the reference for a build that has both.
 *
 * A prefix is read where it lies. run() is compiled twice, so that a block without one pays nothing
 * for it: there an offset past the output leaves the loop, with a prefix it is looked up first. */
#include "s2/s2.h"

#include <string.h>

#include "bytes.h"
#include "status.h"

struct decoder {
    const uint8_t *source;      /* the next operation */
    const uint8_t *source_end;
    uint8_t *target;            /* where its bytes go */
    uint8_t *target_start;
    uint8_t *target_end;        /* after byte `stop` */
    uint64_t hidden;            /* bytes of the block that are past target_end */
    uint64_t offset;            /* of the last copy; 0: there was none */
    const uint8_t *prefix_end;  /* byte 0 of the output would follow here */
    uint64_t prefix_size;
};

struct operation {
    uint64_t header_size;       /* tag, length and offset bytes */
    uint64_t length;            /* output bytes */
    uint64_t offset;            /* 0: a literal */
};

int64_t bp_s2_decoded_size(const uint8_t *source, size_t source_size, uint64_t *decoded_size) {
    uint64_t value = 0;
    for (unsigned i = 0; i < BP_S2_HEADER_SIZE_MAX; i++) {
        if (i == source_size)
            return BP_TRUNCATED;
        value |= (uint64_t)(source[i] & 0x7f) << (7 * i);
        if (source[i] < 0x80) {
            *decoded_size = value;
            return value > UINT32_MAX ? BP_MALFORMED : (int64_t)i + 1;
        }
    }
    return BP_MALFORMED;
}

/* `count` (0..4) little-endian bytes. */
static uint64_t load_bytes(const uint8_t *p, unsigned count) {
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

static int read_literal(const uint8_t *p, uint64_t left, struct operation *op) {
    unsigned m = p[0] >> 2, extra = m < 60 ? 0 : m - 59;
    op->header_size = 1 + extra;
    if (left < op->header_size)
        return BP_TRUNCATED;
    op->offset = 0;
    op->length = extra ? load_bytes(p + 1, extra) + 1 : m + 1;
    return op->length > left - op->header_size ? BP_TRUNCATED : BP_OK;
}

/* `offset` is that of the last copy. Codes 5..7 carry 1..3 length bytes, each range starting
 * right after the one that the shorter code reaches with its first 256, or 65536, values. */
static int read_repeat(const uint8_t *p, uint64_t left, uint64_t offset, struct operation *op) {
    static const uint32_t base[8] = {4, 5, 6, 7, 8, 8, 260, 65540};
    unsigned code = p[0] >> 2 & 7, extra = code < 5 ? 0 : code - 4;
    op->header_size = 2 + extra;
    if (left < op->header_size)
        return BP_TRUNCATED;
    op->offset = offset;
    op->length = base[code] + load_bytes(p + 2, extra);
    return BP_OK;
}

static int read_copy(const uint8_t *p, uint64_t left, uint64_t last, struct operation *op) {
    static const uint8_t offset_bytes[4] = {0, 1, 2, 4};
    unsigned kind = p[0] & 3, m = p[0] >> 2;
    op->header_size = 1 + offset_bytes[kind];
    if (left < op->header_size)
        return BP_TRUNCATED;
    op->offset = load_bytes(p + 1, offset_bytes[kind]);
    op->length = m + 1;
    if (kind != 1)
        return BP_OK;
    op->offset |= (uint64_t)(m >> 3) << 8;
    op->length = 4 + (m & 7);
    return op->offset ? BP_OK : read_repeat(p, left, last, op);
}

/* Copy exactly `length` bytes from `offset` back, first to last, so that they may overlap. */
static void copy_exact(uint8_t *target, uint64_t offset, uint64_t length) {
    while (length > offset) {       /* the source region doubles with every turn */
        memcpy(target, target - offset, offset);
        target += offset;
        length -= offset;
        offset *= 2;
    }
    memcpy(target, target - offset, length);
}

/* As copy_exact, for an offset that may reach into the prefix and a copy that may run out of it. */
static void copy_across(const struct decoder *d, uint64_t offset, uint64_t length) {
    uint64_t written = (uint64_t)(d->target - d->target_start);
    uint64_t before = offset > written ? offset - written : 0;
    uint64_t count = length < before ? length : before;
    if (count)
        memcpy(d->target, d->prefix_end - before, count);
    if (length > count)
        copy_exact(d->target + count, offset, length - count);
}

/* One operation, fully checked: the single place where a block is refused. REQUIRES: source is not
 * at its end. With an early stop the last operation is cut at target_end. */
static int step(struct decoder *d) {
    uint64_t left = (uint64_t)(d->source_end - d->source);
    uint64_t room = (uint64_t)(d->target_end - d->target);
    struct operation op;
    int literal = (d->source[0] & 3) == 0;
    int status = literal ? read_literal(d->source, left, &op)
                         : read_copy(d->source, left, d->offset, &op);
    if (status < 0)
        return status;
    if (op.length > room + d->hidden)
        return room + d->hidden ? BP_MALFORMED : BP_TRAILING;
    uint64_t reach = (uint64_t)(d->target - d->target_start) + d->prefix_size;
    if (!literal && (op.offset == 0 || op.offset > reach))
        return BP_BAD_OFFSET;
    uint64_t length = op.length < room ? op.length : room;
    if (literal) {
        memcpy(d->target, d->source + op.header_size, length);
        d->source += op.length;
    } else {
        copy_across(d, op.offset, length);
        d->offset = op.offset;
    }
    d->source += op.header_size;
    d->target += length;
    return BP_OK;
}

#ifndef BP_SCALAR
/* While at least this much is left of both buffers, run() need not check single bytes: one turn
 * reads at most 61 bytes of a literal and a copy's 5, though it loads 64 past a literal's tag; it
 * writes at most 60 bytes of a literal and 80 from a copy's start. */
#define SLACK 160

static inline void copy16(uint8_t *target, const uint8_t *source) {
    memcpy(target, source, 16);
}

/* 64 bytes in steps of 16, each of which may read what the one before wrote. Always all 64: three
 * stores too many cost less than one mispredicted branch on the length (10 % on real blocks). */
static inline void copy64(uint8_t *target, const uint8_t *source) {
    for (unsigned i = 0; i < 64; i += 16)
        copy16(target + i, source + i);
}

/* Repeat the last 1..15 bytes before target over its next 80. With every step the distance becomes
 * a multiple of the offset that is wide enough for the next, wider step. */
static inline void copy_near(uint8_t *target, uint64_t offset) {
    static const uint8_t wide4[16] = {0, 4, 4, 6, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    static const uint8_t wide8[16] = {0, 8, 8, 9, 8, 10, 12, 14, 8, 9, 10, 11, 12, 13, 14, 15};
    static const uint8_t wide16[16] = {0,  16, 16, 18, 16, 20, 18, 21,
                                       16, 18, 20, 22, 24, 26, 28, 30};
    for (unsigned i = 0; i < 4; i++)
        target[i] = *(target + i - offset);
    memcpy(target + 4, target + 4 - wide4[offset], 4);
    memcpy(target + 8, target + 8 - wide8[offset], 8);
    copy64(target + 16, target + 16 - wide16[offset]);
}

/* What a copy's tag says: its length, and bits 8..10 of a copy1's offset. */
#define TAG(t) (((t) & 3) == 1 ? (4 + ((t) >> 2 & 7)) | (t) >> 5 << 8 : ((t) >> 2) + 1)
#define TAGS4(t) TAG(t), TAG(t + 1), TAG(t + 2), TAG(t + 3)
#define TAGS16(t) TAGS4(t), TAGS4(t + 4), TAGS4(t + 8), TAGS4(t + 12)
#define TAGS64(t) TAGS16(t), TAGS16(t + 16), TAGS16(t + 32), TAGS16(t + 48)
static const uint16_t tags[256] = {TAGS64(0), TAGS64(64), TAGS64(128), TAGS64(192)};
static const uint32_t offset_mask[4] = {0, 0xff, 0xffff, 0xffffffff};
static const uint8_t copy_size[4] = {0, 2, 3, 5};

/* A literal of 61..65536 bytes, if what follows it is still inside of the slack. */
static inline int run_long_literal(const uint8_t **s, const uint8_t *s_end, uint8_t **t,
                                   const uint8_t *t_end) {
    unsigned extra = (**s >> 2) - 59;
    if (extra > 2)
        return 0;
    int64_t length = (bp_load16le(*s + 1) & (0xffff >> (16 - 8 * extra))) + 1;
    if (length > s_end - *s || length > t_end - *t)
        return 0;
    memcpy(*t, *s + 1 + extra, (size_t)length);
    *s += 1 + extra + length;
    *t += length;
    return 1;
}

/* A repeat of at most 64 bytes after another copy: its length, else 0. Sets *size to its own. */
static inline uint64_t short_repeat(const uint8_t *s, unsigned *size) {
    unsigned code = *s >> 2 & 7;
    if (code < 5)
        return 4 + code;
    *size = 3;
    return code == 5 && s[2] <= 64 - 8 ? 8 + s[2] : 0;
}

/* Where a copy reads that starts in the prefix: NULL if that is not there, or too close to its end
 * for a copy of 64 bytes. REQUIRES: offset > written. */
static inline const uint8_t *in_prefix(const struct decoder *d, uint64_t offset, uint64_t written) {
    uint64_t before = offset - written;
    return before > d->prefix_size || before < 64 ? NULL : d->prefix_end - before;
}

/* The frequent operations, until a buffer's end is near or one of them needs step(). */
static inline __attribute__((always_inline)) void run(struct decoder *d, int prefixed) {
    const uint8_t *s = d->source, *const s_end = d->source_end - SLACK;
    uint8_t *t = d->target, *const t_end = d->target_end - SLACK;
    uint64_t last = d->offset;
    while (s < s_end && t < t_end) {
        unsigned tag = *s;
        if ((tag & 3) == 0) {
            if (tag < 60 << 2) {
                copy64(t, s + 1);
                t += (tag >> 2) + 1;
                s += (tag >> 2) + 2;
            } else if (!run_long_literal(&s, s_end, &t, t_end)) {
                break;
            }
            tag = *s;       /* a copy, most of the time */
            if ((tag & 3) == 0)
                continue;
        }
        unsigned kind = tag & 3, size = copy_size[kind];
        uint64_t length = tags[tag] & 0xff, written = (uint64_t)(t - d->target_start);
        uint64_t offset = (bp_load32le(s + 1) & offset_mask[kind]) | (tags[tag] & 0xff00);
        if (offset - 1 >= written) {    /* bad, a repeat, or from the prefix */
            const uint8_t *from = NULL;
            if (offset == 0) {
                if (kind != 1 || last == 0 || (length = short_repeat(s, &size)) == 0)
                    break;
                offset = last;
            }
            if (offset > written) {     /* without a prefix, that of a repeat never is */
                if (!prefixed || (from = in_prefix(d, offset, written)) == NULL)
                    break;
                copy64(t, from);
                s += size;
                t += length;
                last = offset;
                continue;
            }
        }
        s += size;
        if (offset >= 16)
            copy64(t, t - offset);
        else
            copy_near(t, offset);
        t += length;
        last = offset;
    }
    d->source = s;
    d->target = t;
    d->offset = last;
}

static void run_plain(struct decoder *d) {
    run(d, 0);
}

static void run_prefixed(struct decoder *d) {
    run(d, 1);
}

static void run_while_slack(struct decoder *d) {
    if (d->source_end - d->source <= SLACK || d->target_end - d->target <= SLACK)
        return;
    if (d->prefix_size)
        run_prefixed(d);
    else
        run_plain(d);
}
#else
static void run_while_slack(struct decoder *d) {
    (void)d;
}
#endif

int64_t bp_s2_decode_after(const uint8_t *prefix, size_t prefix_size, const uint8_t *source,
                           size_t source_size, uint8_t *target, size_t target_size, uint64_t stop,
                           size_t *position) {
    uint64_t size;
    *position = 0;
    int64_t header_size = bp_s2_decoded_size(source, source_size, &size);
    if (header_size < 0)
        return header_size;
    uint64_t wanted = stop < size ? stop : size;
    if (wanted > target_size)
        return BP_NO_SPACE;
    struct decoder d = {source + header_size, source + source_size, target, target,
                        target + wanted, size - wanted, 0,
                        prefix_size ? prefix + prefix_size : NULL, prefix_size};
    int status = BP_OK;
    while (status == BP_OK && d.source < d.source_end && !(d.hidden && d.target == d.target_end)) {
        run_while_slack(&d);
        status = step(&d);
    }
    *position = (size_t)(d.source - source);
    if (status < 0)
        return status;
    return d.target == d.target_end ? (int64_t)wanted : BP_TRUNCATED;
}

int64_t bp_s2_decode(const uint8_t *source, size_t source_size, uint8_t *target,
                     size_t target_size, uint64_t stop, size_t *position) {
    return bp_s2_decode_after(NULL, 0, source, source_size, target, target_size, stop, position);
}
