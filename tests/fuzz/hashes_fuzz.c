/* Fuzz target for ext/hashes: what is built is accepted and finds every entry; of what else is
 * accepted, a search reads nothing outside and gives ordinals of the segment.
 *
 * With libFuzzer:  clang -g -O1 -fsanitize=fuzzer,address,undefined -Iext \
 *                      tests/fuzz/hashes_fuzz.c ext/hashes/hashes.c -o hashes_fuzz
 * Without:         gcc -g -O1 -fsanitize=address,undefined -DSTANDALONE -Iext (same files)
 *                  ./hashes_fuzz ROUNDS SEED     built indexes, whole and mutated
 *
 * An input is a segment's record count, of two bytes, and an index. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "hashes/hashes.h"
#include "status.h"

#define DEMAND(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))
#define KEYS 64

static void broken(const char *what, int line) {
    fprintf(stderr, "hashes_fuzz.c:%d: not so: %s\n", line, what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size) {
    if (input_size < 2)
        return 0;
    uint64_t records = bp_load16le(input), size = input_size - 2;
    uint8_t *data = malloc(size ? size : 1);
    DEMAND(data != NULL);
    memcpy(data, input + 2, size);
    if (bp_hashes_check(data, size, records) == BP_OK) {
        uint64_t found = 0, ordinal = 0;
        for (uint64_t i = 0; i < KEYS; i++)
            for (uint64_t nth = 0; bp_hashes_find(data, i << 58 | i << 40, nth, &ordinal); nth++) {
                DEMAND(ordinal < records);
                found++;
            }
        DEMAND(found <= KEYS * (uint64_t)bp_load32le(data));
    }
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

#define COUNT_MAX 600

static size_t make_input(uint8_t *target) {
    static struct bp_hashed entries[COUNT_MAX];
    uint64_t count = random_below(random_below(4) ? 40 : COUNT_MAX), records = count;
    for (uint64_t i = 0; i < count; i++) {
        entries[i].key = random_below(3) ? random_below(UINT64_MAX) : random_below(4) << 40;
        entries[i].ordinal = i;
    }
    records += random_below(400) + (count == 0);
    bp_store16le(target, (uint16_t)records);
    uint64_t size = bp_hashes_size(count, records);
    uint8_t *exact = malloc(size);
    DEMAND(exact != NULL);
    bp_hashes_build(entries, count, records, exact);
    DEMAND(bp_hashes_check(exact, size, records) == BP_OK);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t ordinal = UINT64_MAX, nth = 0;
        while (ordinal != i)
            DEMAND(bp_hashes_find(exact, entries[i].key, nth++, &ordinal) == 1);
    }
    memcpy(target + 2, exact, size);
    free(exact);
    return 2 + size;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: hashes_fuzz ROUNDS SEED\n");
        return 2;
    }
    uint64_t rounds = strtoull(argv[1], NULL, 10);
    random_state = strtoull(argv[2], NULL, 10) * 2654435761u + 1;
    static uint8_t data[1 << 14];
    for (uint64_t round = 0; round < rounds; round++) {
        size_t size = make_input(data);
        LLVMFuzzerTestOneInput(data, size);
        for (uint64_t edits = 1 + random_below(3); edits > 0; edits--)
            data[random_below(random_below(2) ? size : 14)] = (uint8_t)random_below(256);
        LLVMFuzzerTestOneInput(data, random_below(4) ? size : random_below(size));
    }
    printf("%llu rounds\n", (unsigned long long)rounds);
    return 0;
}

#endif
