/* The best S2 tier: the cheapest path through a block, by the true sizes of its operations.
 *
 * Every position is a node; its cost is the fewest bytes found so far that lead there. Operations
 * are the edges, and the path of nodes is committed where all ways lead through one of them.
 *
 * - An operation's size hardly depends on its length, so that each match is one edge, to its end. A
 *   node that costs no less than one behind it which is reached already is not looked at: what
 *   starts there can start behind as well. With edges to every length and all nodes looked at, the
 *   same candidates took twice the time, and blocks were not smaller.
 * - A node keeps one way, hence one last offset: repeats are taken where that way allows them.
 * - Matches of NICE bytes are taken at once.
 *
 * Candidates are a chain of positions with the same 6 bytes, newest first, and the newest one with
 * the same 4, so that they come with growing offsets: the first of a length is the cheapest. Past
 * 64 KiB an offset takes two bytes more and each step is a cache miss: few of those are tried. */
#include <string.h>

#include "bytes.h"
#include "s2/s2_emit.h"
#include "s2/s2_match.h"
#include "s2/s2_tiers.h"

#define DEPTH 16            /* steps along a chain, */
#define DEPTH_FAR 2         /* and those of them that may be over 64 KiB away */
#define DEPTH_PREFIX 4      /* and those in the prefix */
#define NEAR 65536
#define NICE 256
#define SPAN 512            /* nodes in one path */
#define FOUND_MAX (DEPTH + 1 + DEPTH_PREFIX)
#define UNREACHED UINT32_MAX
/* Strides grow by one for each 2048 bytes without a match. */
#define STRIDE_SHIFT 11

struct node {
    uint32_t cost;          /* bytes of output on the way here */
    uint32_t length;        /* of the operation that ends here */
    uint32_t offset;        /* 0: it is one literal byte */
    uint32_t last;          /* offset of the last copy on the way */
    uint32_t run;           /* literal bytes that end here */
};

struct options {            /* what can start at a position */
    uint64_t longest;       /* 0: nothing */
    uint64_t repeat;        /* length of a copy from the last offset */
    unsigned count;
    struct {
        uint32_t length, offset;
    } found[FOUND_MAX];     /* both growing */
};

struct finder {
    struct bp_s2_cover cover;
    struct node *nodes;     /* SPAN + NICE + 1 */
    uint32_t *newest;       /* by 4 bytes */
    uint32_t *head;         /* by 6 bytes: the newest position of a chain */
    uint32_t *previous;     /* ring: the one before in its chain */
    unsigned newest_bits, head_bits;
    uint64_t ring_mask;
    const uint32_t *noted;  /* the prefix's heads; NULL: there is none */
    const uint32_t *noted_previous;
    unsigned noted_bits;
    uint64_t start;         /* position of node 0 */
    uint64_t reach;         /* the furthest node that has a cost */
    uint64_t low;           /* the cheapest node that a match led to */
    uint64_t next;          /* where to go on after a path */
};

static unsigned newest_bits(uint64_t size) {
    return bp_s2_bits(size, -3, 10, 15);
}

/* As many chains as positions: in a shorter table they mix, and steps go to positions that share
 * no bytes. On blocks 18090205-218 as one group 20 bits with 2 far steps were as small as 17 bits
 * with 4, in half of the time. */
static unsigned head_bits(uint64_t size) {
    return bp_s2_bits(size, 0, 10, 20);
}

/* 8 MiB at most, so that scratch stays bounded; chains end where the ring does. */
static unsigned ring_bits(uint64_t size) {
    return bp_s2_bits(size, 0, 6, 21);
}

#define NODES_SIZE (sizeof(struct node) * (SPAN + NICE + 1))

size_t bp_s2_best_scratch(uint64_t size) {
    return NODES_SIZE + (sizeof(uint32_t) << newest_bits(size))
        + (sizeof(uint32_t) << head_bits(size)) + (sizeof(uint32_t) << ring_bits(size));
}

static struct finder finder_new(const uint8_t *stream, struct bp_s2_prefix prefix, uint64_t size,
                                void *scratch) {
    struct finder f = {.cover = bp_s2_cover_new(stream, prefix.size, prefix.size + size),
                       .nodes = scratch};
    if (prefix.size) {
        f.noted = prefix.tables;
        f.noted_bits = head_bits(prefix.size);
        f.noted_previous = f.noted + ((size_t)1 << f.noted_bits);
    }
    f.newest_bits = newest_bits(size);
    f.head_bits = head_bits(size);
    f.ring_mask = ((uint64_t)1 << ring_bits(size)) - 1;
    f.newest = (uint32_t *)((uint8_t *)scratch + NODES_SIZE);
    f.head = f.newest + ((size_t)1 << f.newest_bits);
    f.previous = f.head + ((size_t)1 << f.head_bits);
    memset(f.newest, 0, (size_t)((uint8_t *)f.previous - (uint8_t *)f.newest));
    f.previous[0] = 0;
    return f;
}

/* Make position i known. Returns the one before in its chain, and by 4 bytes the one in *newest.
 * Up to 4 MiB of heads are not in the second cache: fetching the one that is needed 8 positions on
 * saves a quarter of the time on a group of 2.3 MB. */
static inline uint64_t insert(struct finder *f, uint64_t i, uint64_t *newest) {
    uint64_t v = bp_load64le(f->cover.source + i);
    uint32_t *by4 = f->newest + bp_s2_hash(v, 4, f->newest_bits);
    uint32_t *head = f->head + bp_s2_hash(v, 6, f->head_bits);
    uint64_t ahead = bp_load64le(f->cover.source + i + 8);
    __builtin_prefetch(f->head + bp_s2_hash(ahead, 6, f->head_bits), 1);
    uint64_t before = *head;
    *newest = *by4;
    f->previous[i & f->ring_mask] = (uint32_t)before;
    *by4 = *head = (uint32_t)i;
    return before;
}

static void insert_span(struct finder *f, uint64_t from, uint64_t to) {
    uint64_t newest;
    for (; from < to && from <= f->cover.last; from++)
        insert(f, from, &newest);
}

/* Note a candidate that is longer than all before it. Returns whether to look for longer ones. */
static inline int note(const struct finder *f, struct options *o, uint64_t i, uint64_t c) {
    const uint8_t *source = f->cover.source;
    uint64_t length = bp_s2_match_length(source + i, source + c, source + f->cover.size);
    uint64_t least = o->longest > 3 ? o->longest + 1 : 4;
    if (length < least || (length < 7 && i - c >= NEAR))
        return 1;
    o->found[o->count].length = (uint32_t)length;
    o->found[o->count++].offset = (uint32_t)(i - c);
    o->longest = length;
    return length < NICE && i + length < f->cover.size;
}

/* Note position c if it may be longer than what there is: the last 4 bytes of what would be longer
 * are the ones to differ. Returns whether to look for longer ones. */
static inline int try(const struct finder *f, struct options *o, uint64_t i, uint64_t c) {
    const uint8_t *source = f->cover.source;
    uint64_t tail = o->longest > 3 ? o->longest - 3 : 0;
    return bp_load32le(source + c + tail) != bp_load32le(source + i + tail) || note(f, o, i, c);
}

/* Returns whether to look on in the prefix. */
static inline int look_in_tables(struct finder *f, uint64_t i, struct options *o) {
    const uint8_t *source = f->cover.source;
    uint64_t newest, c = insert(f, i, &newest);
    int far = DEPTH_FAR;
    if (bp_load32le(source + newest) == bp_load32le(source + i) && !note(f, o, i, newest))
        return 0;
    for (int depth = DEPTH; depth > 0; depth--) {
        if (i - c >= NEAR && far-- == 0)
            return 1;
        if (!try(f, o, i, c))
            return 0;
        if (i - c > f->ring_mask || f->previous[c & f->ring_mask] >= c)
            return 1;
        c = f->previous[c & f->ring_mask];
    }
    return 1;
}

/* All of it is far, and a candidate must lie behind those that were found. */
static inline void look_in_prefix(const struct finder *f, uint64_t i, struct options *o) {
    uint64_t v = bp_load64le(f->cover.source + i);
    uint64_t c = f->noted[bp_s2_hash(v, 6, f->noted_bits)];
    for (int depth = DEPTH_PREFIX; depth > 0 && o->count < FOUND_MAX; depth--) {
        if (!try(f, o, i, c) || f->noted_previous[c] >= c)
            return;
        c = f->noted_previous[c];
    }
}

/* Everything that can start at position i, where `last` is the last copy's offset. */
static inline void look(struct finder *f, uint64_t i, uint64_t last, struct options *o) {
    const uint8_t *source = f->cover.source;
    o->longest = o->repeat = 0;
    o->count = 0;
    if (look_in_tables(f, i, o) && f->noted)
        look_in_prefix(f, i, o);
    if (last == 0 || bp_load32le(source + i) != bp_load32le(source + i - last))
        return;
    o->repeat = 4 + bp_s2_match_length(source + i + 4, source + i + 4 - last,
                                       source + f->cover.size);
    if (o->repeat > o->longest)
        o->longest = o->repeat;
}

static inline void edge(struct finder *f, uint64_t p, uint64_t length, uint32_t size,
                        uint64_t offset) {
    struct node *to = f->nodes + p + length;
    uint32_t cost = f->nodes[p].cost + size;
    if (cost < to->cost)
        *to = (struct node){cost, (uint32_t)length, (uint32_t)offset, (uint32_t)offset, 0};
    if (to->cost <= f->nodes[f->low].cost)
        f->low = p + length;
}

/* One more literal byte; it costs two where the literal starts or its size takes a byte more. */
static inline void edge_literal(struct finder *f, uint64_t p) {
    struct node *at = f->nodes + p, *to = at + 1;
    int wider = at->run == 0 || at->run == 60 || at->run == 256 || at->run == 65536;
    uint32_t cost = at->cost + 1 + (uint32_t)wider;
    if (cost < to->cost)
        *to = (struct node){cost, 1, 0, at->last, at->run + 1};
}

/* All edges from node p. A shorter copy than a match allows is worth an edge where it is shorter
 * in bytes too: copy1 and the short repeats. */
static inline void expand(struct finder *f, uint64_t p, const struct options *o) {
    uint64_t last = f->nodes[p].last, furthest = p + (o->longest ? o->longest : 1);
    while (f->reach < furthest)
        f->nodes[++f->reach].cost = UNREACHED;
    edge_literal(f, p);
    if (f->low <= p)
        f->low = p + 1;
    if (o->repeat) {
        uint64_t two = last < 2048 ? 11 : 8;
        edge(f, p, o->repeat < two ? o->repeat : two, 2, last);
        if (o->repeat > two)
            edge(f, p, o->repeat, 3, last);
    }
    for (unsigned k = 0; k < o->count; k++) {
        uint64_t length = o->found[k].length, offset = o->found[k].offset;
        if (offset < 2048)
            edge(f, p, length < 11 ? length : 11, 2, offset);
        if (offset >= 2048 || length > 11)
            edge(f, p, length, offset < NEAR ? 3 : 5, offset);
    }
}

static inline int dominated(const struct finder *f, uint64_t p) {
    const struct node *n = f->nodes;
    return (p < f->low && n[p].cost >= n[f->low].cost)
        || (p < f->reach && n[p].cost >= n[f->reach].cost);
}

/* Write the operations on the way to node p. The way is known backwards: turn it round first, with
 * each node's cost, no longer needed, as the length of the operation that starts there. */
static uint8_t *commit(struct finder *f, uint64_t p, uint8_t *d, const uint8_t *limit) {
    struct node *n = f->nodes;
    uint32_t length = 0;
    uint64_t q = p;
    for (; q > 0; q -= length) {
        n[q].cost = length;
        length = n[q].length;
    }
    n[0].cost = length;
    for (; q < p && d != NULL; q += n[q].cost) {
        const struct node *to = n + q + n[q].cost;
        struct bp_s2_match m = {f->start + q, f->start + q - to->offset, f->start + q + to->length};
        if (to->offset)
            d = bp_s2_cover_match(&f->cover, &m, d, limit);
    }
    return d;
}

/* Take the way to node p and a long match there. */
static uint8_t *take(struct finder *f, uint64_t p, const struct options *o, uint8_t *d,
                     const uint8_t *limit) {
    uint64_t at = f->start + p, offset = f->nodes[p].last, length = o->repeat;
    if (o->count && o->found[o->count - 1].length > length + 2) {
        offset = o->found[o->count - 1].offset;
        length = o->found[o->count - 1].length;
    }
    struct bp_s2_match m = {at, at - offset, at + length};
    d = commit(f, p, d, limit);
    if (d == NULL)
        return NULL;
    insert_span(f, at + 1, m.end);
    f->next = m.end;
    return bp_s2_cover_match(&f->cover, &m, d, limit);
}

/* A path that must end, though operations lead past node p: take the cheapest of their ends. */
static uint8_t *settle(struct finder *f, uint64_t p, uint8_t *d, const uint8_t *limit) {
    const struct node *n = f->nodes;
    uint64_t end = f->reach;
    for (uint64_t q = p; q < f->reach; q++)
        if (n[q].cost != UNREACHED && n[q].cost + (end - q) < n[end].cost)
            end = q;
    insert_span(f, f->start + p, f->start + end);
    f->next = f->start + end;
    return commit(f, end, d, limit);
}

/* Write the cheapest operations from a position where *o can start, up to f->next. */
static uint8_t *path(struct finder *f, uint64_t start, struct options *o, uint8_t *d,
                     const uint8_t *limit) {
    uint32_t last = f->cover.copied ? (uint32_t)f->cover.offset : 0;
    f->start = start;
    f->reach = f->low = 0;
    f->nodes[0] = (struct node){0, 0, 0, last, (uint32_t)(start - f->cover.literal)};
    uint64_t p = 0;
    for (; p < SPAN && start + p <= f->cover.last; p++) {
        if (dominated(f, p)) {
            insert_span(f, start + p, start + p + 1);
            continue;
        }
        if (p > 0)
            look(f, start + p, f->nodes[p].last, o);
        if (o->longest >= NICE)
            return take(f, p, o, d, limit);
        if (o->longest == 0 && p == f->reach) {
            f->next = start + p + 1;
            return commit(f, p, d, limit);
        }
        expand(f, p, o);
    }
    return settle(f, p, d, limit);
}

uint8_t *bp_s2_best(const uint8_t *stream, struct bp_s2_prefix prefix, uint64_t size,
                    uint8_t *d, const uint8_t *limit, void *scratch) {
    struct finder f = finder_new(stream, prefix, size, scratch);
    struct options o;
    uint64_t i = prefix.size ? prefix.size : 1;
    while (i <= f.cover.last && d != NULL) {
        look(&f, i, f.cover.copied ? f.cover.offset : 0, &o);
        if (o.longest == 0) {
            i += 1 + ((i - f.cover.literal) >> STRIDE_SHIFT);
            continue;
        }
        d = path(&f, i, &o, d, limit);
        i = f.next;
    }
    return d == NULL ? NULL : bp_s2_cover_rest(&f.cover, d, limit);
}

size_t bp_s2_best_tables_size(uint64_t prefix_size) {
    return (sizeof(uint32_t) << head_bits(prefix_size)) + sizeof(uint32_t) * prefix_size;
}

void bp_s2_best_note(const uint8_t *prefix, uint64_t prefix_size, void *tables) {
    unsigned bits = head_bits(prefix_size);
    uint32_t *head = tables, *previous = head + ((size_t)1 << bits);
    memset(head, 0, sizeof(uint32_t) << bits);
    memset(previous, 0, sizeof(uint32_t) * prefix_size);
    for (uint64_t i = 0; i + 8 <= prefix_size; i++) {
        uint32_t *newest = head + bp_s2_hash(bp_load64le(prefix + i), 6, bits);
        previous[i] = *newest;
        *newest = (uint32_t)i;
    }
}
