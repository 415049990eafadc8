/* Fuzz target for ext/group and ext/index: no input may be read past its end or break what the
 * headers promise about a result.
 *
 * With libFuzzer:  clang -g -O1 -fsanitize=fuzzer,address,undefined -Iext \
 *                      tests/fuzz/group_fuzz.c ext/group/group.c ext/index/index.c -o group_fuzz
 *                  ./group_fuzz corpus/
 * Without:         gcc -g -O1 -fsanitize=address,undefined -DSTANDALONE -Iext (same files)
 *                  ./group_fuzz ROUNDS SEED     made-up groups and indexes, packed and mutated
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "group/group.h"
#include "index/index.h"
#include "status.h"

#define DEMAND(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

static void broken(const char *what, int line) {
    fprintf(stderr, "group_fuzz.c:%d: not so: %s\n", line, what);
    abort();
}

/* A copy that ends where its memory ends, so that one byte too far is caught. */
static uint8_t *exact_copy(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    DEMAND(copy != NULL);
    memcpy(copy, data, size);
    return copy;
}

/* Records of an accepted content tile it, and packing them gives the same content. */
static void check_group(const uint8_t *data, size_t size, size_t count) {
    uint32_t *ends = malloc((count ? count : 1) * sizeof *ends);
    uint64_t *sizes = malloc((count ? count : 1) * sizeof *sizes);
    const uint8_t **records = malloc((count ? count : 1) * sizeof *records);
    uint8_t *again = malloc(size ? size : 1);
    DEMAND(ends && sizes && records && again);
    int64_t table_size = bp_group_read(data, size, count, size, ends);
    if (table_size >= 0) {
        uint64_t start = (uint64_t)table_size;
        for (size_t i = 0; i < count; i++) {
            uint64_t end = ends[i] & ~BP_GROUP_ABSENT;
            DEMAND(start <= end && end <= size);
            records[i] = data + start;
            sizes[i] = ends[i] & BP_GROUP_ABSENT ? BP_RECORD_ABSENT : end - start;
            DEMAND(!(ends[i] & BP_GROUP_ABSENT) || start == end);
            start = end;
        }
        DEMAND(start == size);
        DEMAND(bp_group_size(sizes, count) == (int64_t)size);
        DEMAND(bp_group_pack(records, sizes, count, again, size) == (int64_t)size);
        DEMAND(memcmp(again, data, size) == 0);
        DEMAND(bp_group_pack(records, sizes, count, again, size - 1) == BP_NO_SPACE);
        DEMAND(bp_group_read(data, (uint64_t)table_size, count, size, ends) == table_size);
    }
    free(again);
    free(records);
    free(sizes);
    free(ends);
}

/* Frames of an accepted index tile file and records, and every record is found in its frame. */
static void check_tiles(const struct bp_index *index, uint64_t start, uint64_t end) {
    uint64_t offset = start, records = 0;
    for (uint64_t i = 0; i < index->count; i++) {
        struct bp_frame frame;
        bp_index_frame(index, i, &frame);
        DEMAND(frame.offset == offset && frame.stored_size > 0 && frame.key <= i);
        DEMAND(frame.records > 0 && frame.records <= index->group_size);
        DEMAND(index->keys || (frame.first == records && frame.key == i));
        for (uint64_t k = 0; k < frame.records; k += frame.records > 2 ? frame.records - 1 : 1) {
            uint64_t ordinal = bp_index_ordinal(index, &frame, k);
            DEMAND(ordinal < index->records && bp_index_find(index, ordinal) == i);
            DEMAND(bp_index_position(index, &frame, ordinal) == k);
        }
        offset += frame.stored_size;
        records += frame.records;
    }
    DEMAND(offset == end && records == index->records);
}

/* Groups of full size and a last one of `extra` records. */
static void check_keyed(const uint8_t *data, size_t size, struct bp_index index, uint64_t extra) {
    uint64_t fault;
    index.keys = 1 + index.group_size % 5;
    index.stride = 1 + index.group_size % 3;
    index.frame_records = 1 + index.group_size % 2;
    uint64_t full = bp_index_frames(&index, index.group_size);
    index.count = size / BP_INDEX_ENTRY_BYTES - 1;
    index.records = index.count / full * index.group_size + extra % index.group_size;
    uint64_t start = bp_load64le(data), end = bp_load64le(data + index.count * BP_INDEX_ENTRY_BYTES);
    if (index.records && bp_index_check(&index, start, end, &fault) == BP_OK) {
        check_tiles(&index, start, end);
    }
}

static void check_index(const uint8_t *data, size_t size, uint64_t group_size, int regular) {
    uint64_t step = BP_INDEX_ENTRY_BYTES + (regular ? 0 : BP_INDEX_FIRST_BYTES);
    uint64_t entries = size / step;
    if (entries < 2 || group_size == 0) {
        return;
    }
    struct bp_index index = {.entries = data, .count = entries - 1, .groups = entries - 1,
                             .firsts = regular ? NULL : data + entries * BP_INDEX_ENTRY_BYTES,
                             .group_size = group_size};
    index.records = regular ? (entries - 1) * group_size
                            : bp_load32le(index.firsts + (entries - 1) * BP_INDEX_FIRST_BYTES);
    uint64_t start = bp_load64le(data);
    uint64_t end = bp_load64le(data + (entries - 1) * BP_INDEX_ENTRY_BYTES);
    uint64_t fault;
    if (index.records == 0 || bp_index_check(&index, start, end, &fault) < 0) {
        return;
    }
    check_tiles(&index, start, end);
    if (regular) {
        for (uint64_t extra = 0; extra < group_size; extra++) {
            check_keyed(data, size, index, extra);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size) {
    if (input_size < 2) {
        return 0;
    }
    uint8_t *data = exact_copy(input + 2, input_size - 2);
    check_group(data, input_size - 2, input[0]);
    check_index(data, input_size - 2, input[0], 0);
    check_index(data, input_size - 2, input[0], 1);
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

/* A group of small and some absent records, behind the two bytes of a fuzz input. */
static size_t make_group(uint8_t *target, uint8_t *bytes) {
    static const uint64_t LENGTHS[] = {0, 1, 2, 5, 126, 127, 128, 300};
    const uint8_t *records[32];
    uint64_t sizes[32];
    size_t count = 1 + random_below(31);
    for (size_t i = 0; i < count; i++) {
        records[i] = bytes;
        sizes[i] = random_below(6) == 0 ? BP_RECORD_ABSENT : LENGTHS[random_below(8)];
    }
    int64_t size = bp_group_size(sizes, count);
    target[0] = (uint8_t)count;
    target[1] = 0;
    uint32_t ends[32];
    DEMAND(bp_group_pack(records, sizes, count, target + 2, (uint64_t)size) == size);
    DEMAND(bp_group_read(target + 2, (uint64_t)size, count, (uint64_t)size, ends) > 0);
    return (size_t)size + 2;
}

static size_t make_index(uint8_t *target) {
    uint64_t entries = 2 + random_below(20);
    uint64_t group_size = 1 + random_below(9);
    uint64_t offset = 64, first = 0, last = 0;
    int regular = (int)random_below(2);
    target[0] = (uint8_t)group_size;
    target[1] = 0;
    for (uint64_t i = 0; i < entries; i++) {
        int closing = i + 1 == entries;
        bp_store64le(target + 2 + i * BP_INDEX_ENTRY_BYTES, offset);
        bp_store64le(target + 10 + i * BP_INDEX_ENTRY_BYTES, closing ? 0 : random_state);
        if (!regular) {
            bp_store32le(target + 2 + entries * BP_INDEX_ENTRY_BYTES + 4 * i, (uint32_t)first);
        }
        last = first;
        offset += 1 + random_below(1000);
        first += 1 + random_below(group_size);
    }
    struct bp_index index = {
        .entries = target + 2, .count = entries - 1, .groups = entries - 1,
        .firsts = regular ? NULL : target + 2 + entries * BP_INDEX_ENTRY_BYTES,
        .records = regular ? (entries - 1) * group_size : last, .group_size = group_size};
    uint64_t fault;
    DEMAND(bp_index_check(&index, 64, bp_load64le(target + 2 + (entries - 1) *
                                                  BP_INDEX_ENTRY_BYTES), &fault) == BP_OK);
    return 2 + entries * (BP_INDEX_ENTRY_BYTES + (regular ? 0 : 4));
}

static size_t mutate(uint8_t *data, size_t size) {
    for (uint64_t edits = random_below(4); edits > 0 && size > 0; edits--) {
        size_t at = random_below(size);
        switch (random_below(4)) {
        case 0:
            data[at] ^= (uint8_t)(1u << random_below(8));
            break;
        case 1:
            data[at] = (uint8_t)(random_below(2) ? 0xff : 0x80);
            break;
        case 2:
            data[at] = (uint8_t)(data[at] + 1 - 2 * random_below(2));
            break;
        default:
            size = random_below(8) == 0 ? at : size;
        }
    }
    return size;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: group_fuzz ROUNDS SEED\n");
        return 2;
    }
    uint64_t rounds = strtoull(argv[1], NULL, 10);
    random_state = strtoull(argv[2], NULL, 10) * 2654435761u + 1;
    static uint8_t data[1 << 16], bytes[512];
    for (uint64_t round = 0; round < rounds; round++) {
        size_t size = round % 2 ? make_index(data) : make_group(data, bytes);
        LLVMFuzzerTestOneInput(data, size);
        LLVMFuzzerTestOneInput(data, mutate(data, size));
    }
    printf("%llu rounds\n", (unsigned long long)rounds);
    return 0;
}

#endif
