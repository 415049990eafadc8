/* Fuzzing the S2 kernel, with sentinel bytes on both sides of both buffers.
 *
 * An input is a block to decode, valid or not, alone and after a prefix, and also data to encode
 * with every tier. A failed expectation aborts, so that a fuzzer keeps the input.
 *
 *   clang -fsanitize=fuzzer,address,undefined -I ext tests/fuzz/s2_fuzz.c ext/s2/s2_*.c
 *   gcc -fsanitize=address,undefined -DSTANDALONE -I ext tests/fuzz/s2_fuzz.c ext/s2/s2_*.c
 *
 * Alone, it takes files and mutates each one: s2_fuzz ROUNDS SEED FILE... */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "s2/s2.h"
#include "status.h"

#define GUARD 64
#define GUARD_BYTE 0xa5
#define DECODED_MAX ((uint64_t)1 << 22)
#define EXPECT(truth) ((truth) ? (void)0 : fail(#truth, __LINE__))

static void fail(const char *what, int line) {
    fprintf(stderr, "line %d: expected %s\n", line, what);
    abort();
}

/* An exact allocation, which AddressSanitizer guards, with sentinels inside of it. They catch what
 * it cannot see: a write that is beside the buffer but inside of the allocation's padding. */
struct guarded {
    uint8_t *memory, *data;
    size_t size;
};

static struct guarded guarded_new(const uint8_t *data, size_t size) {
    struct guarded g = {malloc(size + 2 * GUARD), NULL, size};
    EXPECT(g.memory != NULL);
    memset(g.memory, GUARD_BYTE, size + 2 * GUARD);
    g.data = g.memory + GUARD;
    if (data != NULL && size != 0)
        memcpy(g.data, data, size);
    return g;
}

static void guarded_drop(struct guarded *g) {
    for (size_t i = 0; i < GUARD; i++) {
        EXPECT(g->memory[i] == GUARD_BYTE);
        EXPECT(g->data[g->size + i] == GUARD_BYTE);
    }
    free(g->memory);
}

/* FNV-1a over all results: two builds of the kernel agree if theirs do. */
static uint64_t results = UINT64_C(14695981039346656037);

static void record(int64_t got, size_t position, const uint8_t *data) {
    results = (results ^ (uint64_t)got) * UINT64_C(1099511628211);
    results = (results ^ position) * UINT64_C(1099511628211);
    for (int64_t i = 0; i < got; i++)
        results = (results ^ data[i]) * UINT64_C(1099511628211);
}

/* The first `stop` bytes of a valid block are those of the whole, into a target of that size. */
static void decode_part(const uint8_t *block, size_t block_size, const uint8_t *whole,
                        uint64_t size, uint64_t stop) {
    size_t position;
    uint64_t wanted = stop < size ? stop : size;
    struct guarded target = guarded_new(NULL, wanted);
    int64_t got = bp_s2_decode(block, block_size, target.data, wanted, stop, &position);
    EXPECT(got == (int64_t)wanted);
    EXPECT(position <= block_size);
    EXPECT(wanted == 0 || memcmp(target.data, whole, wanted) == 0);
    guarded_drop(&target);
}

/* As decode, after a prefix that fills its allocation, so that a read past either end is a report. */
static void decode_after(const uint8_t *data, size_t data_size, size_t prefix_size) {
    uint64_t size;
    size_t position;
    if (bp_s2_decoded_size(data, data_size, &size) < 0 || size > DECODED_MAX)
        return;
    uint8_t *prefix = malloc(prefix_size + (prefix_size == 0));
    EXPECT(prefix != NULL);
    for (size_t i = 0; i < prefix_size; i++)
        prefix[i] = (uint8_t)(i * 37 + (i >> 8));
    struct guarded target = guarded_new(NULL, size), part = guarded_new(NULL, size / 2);
    int64_t got = bp_s2_decode_after(prefix, prefix_size, data, data_size, target.data, size,
                                     UINT64_MAX, &position);
    EXPECT(position <= data_size);
    EXPECT(got < 0 || (got == (int64_t)size && position == data_size));
    record(got, position, target.data);
    int64_t half = bp_s2_decode_after(prefix, prefix_size, data, data_size, part.data, size / 2,
                                      size / 2, &position);
    EXPECT(got < 0 || half == (int64_t)(size / 2));
    EXPECT(got < 0 || half == 0 || memcmp(part.data, target.data, (size_t)half) == 0);
    guarded_drop(&part);
    guarded_drop(&target);
    for (size_t i = 0; i < prefix_size; i++)
        EXPECT(prefix[i] == (uint8_t)(i * 37 + (i >> 8)));
    free(prefix);
}

/* The input sits in an allocation of exactly its size: one byte read past it is an ASan report. */
static void decode(const uint8_t *data, size_t data_size) {
    uint64_t size;
    size_t position = 0;
    int64_t header_size = bp_s2_decoded_size(data, data_size, &size);
    EXPECT(header_size == BP_TRUNCATED || header_size == BP_MALFORMED || header_size >= 1);
    if (header_size < 0 || size > DECODED_MAX)
        return;
    struct guarded target = guarded_new(NULL, size);
    int64_t got = bp_s2_decode(data, data_size, target.data, size, UINT64_MAX, &position);
    EXPECT(position <= data_size);
    EXPECT(got < 0 || (got == (int64_t)size && position == data_size));
    record(got, position, target.data);
    EXPECT(size == 0 || bp_s2_decode(data, data_size, target.data, size - 1, UINT64_MAX,
                                     &position) == BP_NO_SPACE);
    if (got >= 0) {
        const uint64_t stops[] = {0, 1, size / 3, size / 2 + 1, size - (size > 0), size + 1};
        for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
            decode_part(data, data_size, target.data, size, stops[i]);
    }
    guarded_drop(&target);
}

static void encode(enum bp_s2_tier tier, const uint8_t *data, size_t size) {
    size_t position, scratch_size = bp_s2_scratch_size(tier, size);
    struct guarded target = guarded_new(NULL, bp_s2_encode_bound(size));
    void *scratch = malloc(scratch_size);
    EXPECT(scratch != NULL);
    memset(scratch, 0xee, scratch_size);    /* what it held before must not matter */
    int64_t got = bp_s2_encode(tier, data, size, target.data, target.size, scratch, scratch_size);
    EXPECT(got > 0 && (uint64_t)got <= size + 10);
    record(got, 0, target.data);
    EXPECT(bp_s2_encode(tier, data, size, target.data, target.size - 1, scratch, scratch_size)
           == BP_NO_SPACE);
    EXPECT(bp_s2_encode(tier, data, size, target.data, target.size, scratch, scratch_size - 1)
           == BP_NO_SPACE);
    struct guarded back = guarded_new(NULL, size);
    EXPECT(bp_s2_decode(target.data, (size_t)got, back.data, size, UINT64_MAX, &position)
           == (int64_t)size);
    EXPECT(size == 0 || memcmp(back.data, data, size) == 0);
    free(scratch);
    guarded_drop(&back);
    guarded_drop(&target);
}

/* The input's first half as the prefix of the second, in one allocation of exactly their size. */
static void encode_after(enum bp_s2_tier tier, const uint8_t *data, size_t size) {
    size_t prefix_size = size / 2, rest = size - prefix_size, position;
    size_t tables_size = bp_s2_prefix_tables_size(tier, prefix_size);
    size_t scratch_size = bp_s2_scratch_size(tier, rest);
    uint64_t *tables = malloc(tables_size + 1);
    void *scratch = malloc(scratch_size);
    struct guarded target = guarded_new(NULL, bp_s2_encode_bound(rest));
    EXPECT(tables != NULL && scratch != NULL);
    memset(scratch, 0xee, scratch_size);
    EXPECT(tables_size == 0 || bp_s2_prefix_note(tier, data, prefix_size, tables, tables_size - 1)
           == BP_NO_SPACE);
    EXPECT(bp_s2_prefix_note(tier, data, prefix_size, tables, tables_size) == BP_OK);
    int64_t got = bp_s2_encode_after(tier, data, prefix_size, rest, tables, target.data,
                                     target.size, scratch, scratch_size);
    EXPECT(got > 0 && (uint64_t)got <= rest + 10);
    record(got, 0, target.data);
    struct guarded back = guarded_new(NULL, rest);
    EXPECT(bp_s2_decode_after(data, prefix_size, target.data, (size_t)got, back.data, rest,
                              UINT64_MAX, &position) == (int64_t)rest);
    EXPECT(rest == 0 || memcmp(back.data, data + prefix_size, rest) == 0);
    free(scratch);
    free(tables);
    guarded_drop(&back);
    guarded_drop(&target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *exact = malloc(size + (size == 0));
    EXPECT(exact != NULL);
    if (size != 0)
        memcpy(exact, data, size);
    decode(exact, size);
    static const size_t prefixes[] = {0, 1, 63, 64, 200, 70000};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        decode_after(exact, size, prefixes[i]);
    for (int tier = BP_S2_FASTEST; tier <= BP_S2_BEST; tier++) {
        encode(tier, exact, size);
        encode_after(tier, exact, size);
    }
    free(exact);
    return 0;
}

#ifdef STANDALONE
static uint64_t random_state;

static uint64_t random_below(uint64_t limit) {      /* xorshift64* */
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (random_state * UINT64_C(2685821657736338717) >> 16) % limit;
}

/* One to four edits: a byte changed, bytes dropped or doubled, the end cut. Returns the size. */
static size_t mutate(uint8_t *data, size_t size) {
    for (uint64_t edits = 1 + random_below(4); edits > 0 && size > 1; edits--) {
        size_t at = random_below(random_below(2) ? size : size < 64 ? size : 64);
        size_t span = 1 + random_below(size - at < 8 ? size - at : 8);
        switch (random_below(5)) {
        case 0: data[at] ^= (uint8_t)(1 << random_below(8)); break;
        case 1: data[at] = (uint8_t)random_below(256); break;
        case 2:
            memmove(data + at, data + at + span, size - at - span);
            size -= span;
            break;
        case 3:
            memmove(data + at + span, data + at, size - at);
            size += span;
            break;
        default: size = at + 1; break;
        }
    }
    return size;
}

int main(int count, char **arguments) {
    if (count < 4) {
        fprintf(stderr, "usage: %s ROUNDS SEED FILE...\n", arguments[0]);
        return 2;
    }
    uint64_t rounds = strtoull(arguments[1], NULL, 10);
    random_state = strtoull(arguments[2], NULL, 10) * 2 + 1;
    for (int i = 3; i < count; i++) {
        static uint8_t seed[1 << 20], work[sizeof seed + 64];
        FILE *file = fopen(arguments[i], "rb");
        EXPECT(file != NULL);
        size_t size = fread(seed, 1, sizeof seed, file);
        fclose(file);
        LLVMFuzzerTestOneInput(seed, size);
        for (uint64_t round = 0; round < rounds; round++) {
            memcpy(work, seed, size);
            LLVMFuzzerTestOneInput(work, mutate(work, size));
        }
    }
    printf("%llu inputs, results %016llx\n",
           (unsigned long long)((rounds + 1) * (uint64_t)(count - 3)),
           (unsigned long long)results);
    return 0;
}
#endif
