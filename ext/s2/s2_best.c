/* The best S2 tier: the cheapest path through a block, by the true sizes of its operations.
 *
 * Every position is a node; its cost is the fewest bytes found so far that lead there. Operations
 * are the edges, and the path of nodes is committed where all ways lead through one of them.
 *
 * - An operation's size hardly depends on its length, so that each match is one edge, to its end. A
 *   node that costs no less than one behind it which is reached already is not looked at: what
 *   starts there can start behind as well. With edges to every length and all nodes looked at, the
 *   same candidates took twice the time, and blocks were not smaller. Such nodes are not put into
 *   the tables either: a quarter faster, 0.3 % larger.
 * - A node keeps two ways with different last offsets, and the dearer one as long as it costs no
 *   more than SECOND bytes more: a repeat saves them. That is 0.3 % smaller than one way.
 * - Matches of NICE bytes are taken at once.
 *
 * Candidates are the newest WAYS positions with the same 6 bytes, and the newest one with the same
 * 4, so that they come with growing offsets: the first of a length is the cheapest. Each comes with
 * 8 more bits of its bytes' hash, so that memory is only fetched for what is likely the same.
 * Chains of up to 16 positions were 15 % slower and no smaller. */
#include <string.h>

#include "bytes.h"
#include "s2/s2_emit.h"
#include "s2/s2_match.h"
#include "s2/s2_tiers.h"

#define WAYS 4
#define DEPTH_PREFIX 4      /* steps along a chain in the prefix */
#define NEAR 65536
#define NICE 256
#define SPAN 512            /* nodes in one path */
#define SECOND 2
/* A path ends at a node that nothing leads past, once so many literal bytes led there: until then
 * its second way may come to something. */
#define HOLD 16
#define FOUND_MAX (WAYS + 1 + DEPTH_PREFIX)
#define UNREACHED UINT32_MAX
/* Strides grow by one for each 2048 bytes without a match. */
#define STRIDE_SHIFT 11

struct way {
    uint32_t cost;          /* bytes of output on the way here */
    uint32_t length;        /* of the operation that ends here */
    uint32_t offset;        /* 0: it is one literal byte */
    uint32_t last;          /* offset of the last copy on the way */
    uint32_t run;           /* literal bytes that end here */
    uint32_t from;          /* which way to where the operation starts */
};

struct node {
    struct way ways[2];     /* the cheapest, and the cheapest with another last offset */
};

struct options {            /* what can start at a position */
    uint64_t longest;       /* 0: nothing */
    uint64_t repeats[2];    /* lengths of copies from the ways' last offsets */
    unsigned count;
    struct {
        uint32_t length, offset;
    } found[FOUND_MAX];     /* both growing */
};

/* Entries of the tables: the low 24 bits of a position, under a tag of 8 bits of its hash. */
#define WINDOW ((uint64_t)1 << 24)
#define TAG UINT32_C(0xff000000)

struct finder {
    struct bp_s2_cover cover;
    struct node *nodes;     /* SPAN + NICE + 1 */
    uint64_t *buckets;      /* by 6 bytes: four entries in two words, the newest in the low bits */
    uint32_t *newest;       /* by 4 bytes: one entry */
    unsigned buckets_bits, newest_bits;
    const uint32_t *noted;  /* the prefix's heads; NULL: there is none */
    const uint32_t *noted_previous;
    unsigned noted_bits;
    uint64_t start;         /* position of node 0 */
    uint64_t reach;         /* the furthest node that has a cost */
    uint64_t low;           /* the cheapest node that a match led to */
    uint64_t next;          /* where to go on after a path */
};

static unsigned newest_bits(uint64_t size) {
    return bp_s2_bits(size, -3, 10, 16);
}

/* An entry for a position, and 4 MiB at most. */
static unsigned buckets_bits(uint64_t size) {
    return bp_s2_bits(size, -2, 8, 18);
}

#define NODES_SIZE (sizeof(struct node) * (SPAN + NICE + 1))

size_t bp_s2_best_scratch(uint64_t size) {
    return NODES_SIZE + (2 * sizeof(uint64_t) << buckets_bits(size))
        + (sizeof(uint32_t) << newest_bits(size));
}

/* Of a prefix: as many chains as positions, in a shorter table they mix. */
static unsigned noted_bits(uint64_t prefix_size) {
    return bp_s2_bits(prefix_size, 0, 10, 20);
}

static struct finder finder_new(const uint8_t *stream, struct bp_s2_prefix prefix, uint64_t size,
                                void *scratch) {
    struct finder f = {.cover = bp_s2_cover_new(stream, prefix.size, prefix.size + size),
                       .nodes = scratch};
    if (prefix.size) {
        f.noted = prefix.tables;
        f.noted_bits = noted_bits(prefix.size);
        f.noted_previous = f.noted + ((size_t)1 << f.noted_bits);
    }
    f.newest_bits = newest_bits(size);
    f.buckets_bits = buckets_bits(size);
    f.buckets = (uint64_t *)((uint8_t *)scratch + NODES_SIZE);
    f.newest = (uint32_t *)(f.buckets + ((size_t)2 << f.buckets_bits));
    memset(f.buckets, 0, bp_s2_best_scratch(size) - NODES_SIZE);
    return f;
}

#define PRIME UINT64_C(0xcf1bbcdcb7a56463)

/* By the first 6 bytes; in a run of one byte by 32, so that it does not fill a bucket. */
static inline uint64_t key_hash(const struct finder *f, uint64_t i) {
    const uint8_t *p = f->cover.source + i;
    uint64_t v = bp_load64le(p);
    if (v == (v << 8 | v >> 56) && i + 32 <= f->cover.size)
        return v * UINT64_C(0x9e3779b185ebca87) + bp_load64le(p + 8) * PRIME
            + bp_load64le(p + 16) * UINT64_C(0xc2b2ae3d27d4eb4f)
            + bp_load64le(p + 24) * UINT64_C(0x165667b19e3779f9);
    return (v << 16) * PRIME;
}

struct before {             /* what the tables had */
    uint64_t newer, older;  /* two entries each */
    uint32_t by4;
    uint32_t tag, tag4;
};

/* Make position i known. */
static inline struct before insert(struct finder *f, uint64_t i) {
    uint32_t low = (uint32_t)(i & (WINDOW - 1));
    uint64_t h4 = bp_load32le(f->cover.source + i) * PRIME, h = key_hash(f, i);
    uint32_t *by4 = f->newest + ((uint32_t)(h4 >> 32) >> (32 - f->newest_bits));
    uint64_t *bucket = f->buckets + 2 * (h >> (64 - f->buckets_bits));
    struct before b = {bucket[0], bucket[1], *by4, (uint32_t)(h >> (32 - f->buckets_bits)) & TAG,
                       (uint32_t)(h4 >> (32 - f->newest_bits)) & TAG};
    bucket[1] = b.older << 32 | b.newer >> 32;
    bucket[0] = b.newer << 32 | b.tag | low;
    *by4 = b.tag4 | low;
    return b;
}

static void insert_span(struct finder *f, uint64_t from, uint64_t to) {
    for (; from < to && from <= f->cover.last; from++)
        insert(f, from);
}

/* Note a candidate that is longer than all before it: then the last 4 bytes of what would be longer
 * differ from none of them. Returns whether to look for longer ones. */
static inline int note(const struct finder *f, struct options *o, uint64_t i, uint64_t offset) {
    const uint8_t *at = f->cover.source + i, *from = at - offset;
    uint64_t tail = o->longest > 3 ? o->longest - 3 : 0;
    if (bp_load32le(from + tail) != bp_load32le(at + tail))
        return 1;
    uint64_t length = bp_s2_match_length(at, from, f->cover.source + f->cover.size);
    uint64_t least = o->longest > 3 ? o->longest + 1 : 4;
    if (length < least || (length < 7 && offset >= NEAR))
        return 1;
    o->found[o->count].length = (uint32_t)length;
    o->found[o->count++].offset = (uint32_t)offset;
    o->longest = length;
    return length < NICE && i + length < f->cover.size;
}

/* The same for a table's entry, if its tag is the same. */
static inline int note_entry(const struct finder *f, struct options *o, uint64_t i, uint32_t entry,
                             uint32_t tag) {
    uint64_t offset = (i - entry) & (WINDOW - 1);
    return ((entry ^ tag) & TAG) != 0 || offset == 0 || offset > i || note(f, o, i, offset);
}

/* Returns whether to look on in the prefix. */
static inline int look_in_tables(struct finder *f, uint64_t i, struct options *o) {
    struct before b = insert(f, i);
    return note_entry(f, o, i, b.by4, b.tag4)
        && note_entry(f, o, i, (uint32_t)b.newer, b.tag)
        && note_entry(f, o, i, (uint32_t)(b.newer >> 32), b.tag)
        && note_entry(f, o, i, (uint32_t)b.older, b.tag)
        && note_entry(f, o, i, (uint32_t)(b.older >> 32), b.tag);
}

static inline void look_in_prefix(const struct finder *f, uint64_t i, struct options *o) {
    uint64_t v = bp_load64le(f->cover.source + i);
    uint64_t c = f->noted[bp_s2_hash(v, 6, f->noted_bits)];
    for (int depth = DEPTH_PREFIX; depth > 0; depth--) {
        if (!note(f, o, i, i - c) || f->noted_previous[c] >= c)
            return;
        c = f->noted_previous[c];
    }
}

static inline uint64_t look_repeat(const struct finder *f, uint64_t i, uint64_t last) {
    const uint8_t *at = f->cover.source + i;
    if (last == 0 || bp_load32le(at) != bp_load32le(at - last))
        return 0;
    return 4 + bp_s2_match_length(at + 4, at + 4 - last, f->cover.source + f->cover.size);
}

static inline int has_second(const struct way *ways) {
    return ways[1].cost <= ways[0].cost + SECOND;
}

/* Everything that can start at position i, to which these ways lead. */
static inline void look(struct finder *f, uint64_t i, const struct way *ways, struct options *o) {
    o->longest = 0;
    o->count = 0;
    if (look_in_tables(f, i, o) && f->noted)
        look_in_prefix(f, i, o);
    o->repeats[0] = look_repeat(f, i, ways[0].last);
    o->repeats[1] = has_second(ways) ? look_repeat(f, i, ways[1].last) : 0;
    if (o->repeats[0] > o->longest)
        o->longest = o->repeats[0];
    if (o->repeats[1] > o->longest)
        o->longest = o->repeats[1];
}

static inline void arrive(struct node *to, const struct way *w) {
    if (w->cost < to->ways[0].cost) {
        if (to->ways[0].last != w->last)
            to->ways[1] = to->ways[0];
        to->ways[0] = *w;
    } else if (w->cost < to->ways[1].cost && w->last != to->ways[0].last) {
        to->ways[1] = *w;
    }
}

/* An operation of `size` bytes from way k of node p. */
static inline void edge(struct finder *f, uint64_t p, unsigned k, uint64_t length, uint32_t size,
                        uint64_t offset) {
    struct node *to = f->nodes + p + length;
    struct way w = {f->nodes[p].ways[k].cost + size, (uint32_t)length, (uint32_t)offset,
                    (uint32_t)offset, 0, k};
    arrive(to, &w);
    if (to->ways[0].cost <= f->nodes[f->low].ways[0].cost)
        f->low = p + length;
}

/* One more literal byte; it costs two where the literal starts or its size takes a byte more. */
static inline void edge_literal(struct finder *f, uint64_t p, unsigned k) {
    const struct way *at = f->nodes[p].ways + k;
    int wider = at->run == 0 || at->run == 60 || at->run == 256 || at->run == 65536;
    struct way w = {at->cost + 1 + (uint32_t)wider, 1, 0, at->last, at->run + 1, k};
    arrive(f->nodes + p + 1, &w);
}

/* A shorter copy than a match allows is worth an edge where it is shorter in bytes too. */
static inline void edge_repeat(struct finder *f, uint64_t p, unsigned k, uint64_t length) {
    uint64_t last = f->nodes[p].ways[k].last, two = last < 2048 ? 11 : 8;
    edge(f, p, k, length < two ? length : two, 2, last);
    if (length > two)
        edge(f, p, k, length, 3, last);
}

static inline void edge_copy(struct finder *f, uint64_t p, uint64_t length, uint64_t offset) {
    if (offset < 2048)
        edge(f, p, 0, length < 11 ? length : 11, 2, offset);
    if (offset >= 2048 || length > 11)
        edge(f, p, 0, length, offset < NEAR ? 3 : 5, offset);
}

/* All edges from node p. */
static inline void expand(struct finder *f, uint64_t p, const struct options *o) {
    uint64_t furthest = p + (o->longest ? o->longest : 1);
    while (f->reach < furthest) {
        struct node *n = f->nodes + ++f->reach;
        n->ways[0].cost = n->ways[1].cost = UNREACHED;
        n->ways[0].last = 0;
    }
    edge_literal(f, p, 0);
    if (has_second(f->nodes[p].ways))
        edge_literal(f, p, 1);
    if (f->low <= p)
        f->low = p + 1;
    for (unsigned k = 0; k < 2; k++)
        if (o->repeats[k])
            edge_repeat(f, p, k, o->repeats[k]);
    for (unsigned k = 0; k < o->count; k++)
        edge_copy(f, p, o->found[k].length, o->found[k].offset);
}

static inline int dominated(const struct finder *f, uint64_t p) {
    const struct node *n = f->nodes;
    return (p < f->low && n[p].ways[0].cost >= n[f->low].ways[0].cost)
        || (p < f->reach && n[p].ways[0].cost >= n[f->reach].ways[0].cost);
}

/* Turn the way to node p round: each way on it, its cost no longer needed, gets the length of the
 * operation that starts there and (from) the number of the way that this leads to. */
static void turn_round(struct node *n, uint64_t p) {
    uint32_t length = 0, next = 0, way = 0;
    for (;;) {
        struct way *w = n[p].ways + way;
        uint32_t from = w->from, before = w->length;
        w->cost = length;
        w->from = next;
        if (p == 0)
            return;
        next = way;
        way = from;
        length = before;
        p -= length;
    }
}

/* Write the operations on the way to node p. */
static uint8_t *commit(struct finder *f, uint64_t p, uint8_t *d, const uint8_t *limit) {
    struct node *n = f->nodes;
    turn_round(n, p);
    uint32_t way = 0;
    for (uint64_t q = 0; q < p && d != NULL;) {
        const struct way *at = n[q].ways + way, *to = n[q + at->cost].ways + at->from;
        struct bp_s2_match m = {f->start + q, f->start + q - to->offset,
                                f->start + q + to->length};
        if (to->offset)
            d = bp_s2_cover_match(&f->cover, &m, d, limit);
        q += at->cost;
        way = at->from;
    }
    return d;
}

static inline uint64_t longest_found(const struct options *o) {
    return o->count ? o->found[o->count - 1].length : 0;
}

/* Take the way to node p and a long match there. */
static uint8_t *take(struct finder *f, uint64_t p, const struct options *o, uint8_t *d,
                     const uint8_t *limit) {
    uint64_t at = f->start + p, offset = f->nodes[p].ways[0].last, length = o->repeats[0];
    if (longest_found(o) > length + 2) {
        offset = o->found[o->count - 1].offset;
        length = longest_found(o);
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
        if (n[q].ways[0].cost != UNREACHED && n[q].ways[0].cost + (end - q) < n[end].ways[0].cost)
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
    f->nodes[0].ways[0] = (struct way){0, 0, 0, last, (uint32_t)(start - f->cover.literal), 0};
    f->nodes[0].ways[1].cost = UNREACHED;
    uint64_t p = 0;
    for (; p < SPAN && start + p <= f->cover.last; p++) {
        const struct way *ways = f->nodes[p].ways;
        if (dominated(f, p))
            continue;
        if (p > 0)
            look(f, start + p, ways, o);
        if (o->repeats[0] >= NICE || longest_found(o) >= NICE)
            return take(f, p, o, d, limit);
        if (o->longest == 0 && p == f->reach && (!has_second(ways) || ways[0].run >= HOLD)) {
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
        struct way here[2] = {{.last = f.cover.copied ? (uint32_t)f.cover.offset : 0},
                              {.cost = UNREACHED}};
        look(&f, i, here, &o);
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
    return (sizeof(uint32_t) << noted_bits(prefix_size)) + sizeof(uint32_t) * prefix_size;
}

void bp_s2_best_note(const uint8_t *prefix, uint64_t prefix_size, void *tables) {
    unsigned bits = noted_bits(prefix_size);
    uint32_t *head = tables, *previous = head + ((size_t)1 << bits);
    memset(head, 0, sizeof(uint32_t) << bits);
    memset(previous, 0, sizeof(uint32_t) * prefix_size);
    for (uint64_t i = 0; i + 8 <= prefix_size; i++) {
        uint32_t *newest = head + bp_s2_hash(bp_load64le(prefix + i), 6, bits);
        previous[i] = *newest;
        *newest = (uint32_t)i;
    }
}
