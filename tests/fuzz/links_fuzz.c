/* Fuzz target for ext/links: what is cut and put back is the content; what was never cut is refused
 * or put back without a byte read or written outside.
 *
 * With libFuzzer:  clang -g -O1 -fsanitize=fuzzer,address,undefined -Iext tests/fuzz/links_fuzz.c \
 *                      ext/links/links.c ext/group/group.c ext/hash/keccak.c -o links_fuzz
 * Without:         gcc -g -O1 -fsanitize=address,undefined -DSTANDALONE -Iext (same files)
 *                  ./links_fuzz ROUNDS SEED     made-up chains, whole and mutated
 *
 * An input is a count of records, a byte of which records follow, and a content. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/group.h"
#include "hash/keccak.h"
#include "links/links.h"
#include "status.h"

#define DEMAND(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))
#define RECORDS_MAX 8

static void broken(const char *what, int line) {
    fprintf(stderr, "links_fuzz.c:%d: not so: %s\n", line, what);
    abort();
}

static uint8_t *exact(uint64_t size) {
    uint8_t *memory = malloc(size ? size : 1);
    DEMAND(memory != NULL);
    return memory;
}

/* A whole content: cut it, put it back, compute what was cut. */
static void cut(const struct bp_links *links, const uint8_t *content, uint64_t size) {
    uint64_t count = bp_links_count(links, content);
    DEMAND(count == 0 || count == bp_links_expected(links));
    if (count == 0)
        return;
    uint8_t *stored = exact(size - count * BP_LINK_BYTES), *again = exact(size);
    bp_links_cut(links, content, size, stored);
    DEMAND(bp_links_expand(links, stored, again) == BP_OK);
    bp_links_fill(links, again, 0, links->count / 2);
    bp_links_fill(links, again, links->count / 2, links->count);
    DEMAND(memcmp(again, content, size) == 0);
    free(stored);
    free(again);
}

/* The same bytes as a stored content, of which the table tells the full size. */
static void expand(struct bp_links *links, uint32_t *ends, const uint8_t *data, uint64_t size) {
    for (uint64_t count = 1; count < links->count; count++) {
        uint64_t full = size + count * BP_LINK_BYTES;
        int64_t table_size = bp_group_read(data, size, links->count, full, ends);
        if (table_size < 0)
            continue;
        links->table_size = (uint32_t)table_size;
        if (bp_links_expected(links) != count)
            continue;
        uint8_t *again = exact(full);
        if (bp_links_expand(links, data, again) == BP_OK)
            bp_links_fill(links, again, 0, links->count);
        free(again);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size) {
    if (input_size < 2 || input[0] == 0 || input[0] > RECORDS_MAX)
        return 0;
    uint64_t size = input_size - 2;
    uint8_t *data = exact(size), follows[RECORDS_MAX];
    uint32_t ends[RECORDS_MAX];
    memcpy(data, input + 2, size);
    for (size_t i = 0; i < RECORDS_MAX; i++)
        follows[i] = i > 0 && (input[1] >> i & 1);
    struct bp_links links = {ends, follows, input[0], 0};
    int64_t table_size = bp_group_read(data, size, links.count, size, ends);
    if (table_size >= 0) {
        links.table_size = (uint32_t)table_size;
        cut(&links, data, size);
    }
    expand(&links, ends, data, size);
    free(data);
    return 0;
}

#ifdef STANDALONE

static uint64_t random_state;

static uint64_t random_below(uint64_t limit) {  /* xorshift64 */
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

/* A list that starts with a link: its size in the first byte, or in one or two behind it. */
static uint64_t make_record(uint8_t *record, const uint8_t *link) {
    static const uint64_t RESTS[] = {0, 5, 22, 40, 200, 400};
    uint64_t rest = RESTS[random_below(6)], body = 33 + rest, at = 0;
    if (body <= 55) {
        record[at++] = (uint8_t)(0xc0 + body);
    } else {
        record[at++] = body < 256 ? 0xf8 : 0xf9;
        if (body >= 256)
            record[at++] = (uint8_t)(body >> 8);
        record[at++] = (uint8_t)body;
    }
    record[at++] = 0xa0;
    memcpy(record + at, link, 32);
    memset(record + at + 32, (int)random_below(256), rest);
    return at + 32 + rest;
}

/* A chain behind the two bytes of an input, stored or whole. */
static size_t make_input(uint8_t *target) {
    static uint8_t records[RECORDS_MAX][512];
    const uint8_t *starts[RECORDS_MAX];
    uint64_t sizes[RECORDS_MAX];
    uint8_t link[32] = {0}, content[8192];
    size_t count = 1 + random_below(RECORDS_MAX);
    target[0] = (uint8_t)count;
    target[1] = (uint8_t)(random_below(2) ? 0xff : random_below(256));
    for (size_t i = 0; i < count; i++) {
        starts[i] = records[i];
        sizes[i] = make_record(records[i], link);
        bp_keccak256(records[i], sizes[i], link);
        if (random_below(20) == 0)
            sizes[i] = BP_RECORD_ABSENT;
    }
    int64_t size = bp_group_size(sizes, count);
    DEMAND(bp_group_pack(starts, sizes, count, content, (uint64_t)size) == size);
    uint32_t ends[RECORDS_MAX];
    uint8_t follows[RECORDS_MAX];
    for (size_t i = 0; i < RECORDS_MAX; i++)
        follows[i] = i > 0 && (target[1] >> i & 1);
    struct bp_links links = {ends, follows, count, 0};
    links.table_size = (uint32_t)bp_group_read(content, (uint64_t)size, count, (uint64_t)size, ends);
    uint64_t cuts = bp_links_count(&links, content);
    if (cuts && random_below(2)) {
        bp_links_cut(&links, content, (uint64_t)size, target + 2);
        return 2 + (size_t)size - cuts * BP_LINK_BYTES;
    }
    memcpy(target + 2, content, (size_t)size);
    return 2 + (size_t)size;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: links_fuzz ROUNDS SEED\n");
        return 2;
    }
    uint64_t rounds = strtoull(argv[1], NULL, 10);
    random_state = strtoull(argv[2], NULL, 10) * 2654435761u + 1;
    static uint8_t data[1 << 14];
    for (uint64_t round = 0; round < rounds; round++) {
        size_t size = make_input(data);
        LLVMFuzzerTestOneInput(data, size);
        for (uint64_t edits = 1 + random_below(3); edits > 0; edits--)
            data[random_below(size)] = (uint8_t)(random_below(3) ? random_below(256) : 0xa0);
        LLVMFuzzerTestOneInput(data, random_below(4) ? size : 2 + random_below(size));
    }
    printf("%llu rounds\n", (unsigned long long)rounds);
    return 0;
}

#endif
