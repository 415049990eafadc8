/* The main of a fuzz target that is built without libFuzzer, over RLP: seeded mutants of files.
 *
 *     PROGRAM ROUNDS SEED FILE...     mutates every FILE for ROUNDS rounds
 */
#ifndef BLOCKPACK_FUZZ_STANDALONE_H
#define BLOCKPACK_FUZZ_STANDALONE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *source, size_t size);

static uint64_t random_state;

static uint64_t random_below(uint64_t limit) {  /* xorshift64 */
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

/* What is put over the bytes: list and string prefixes, types, and lengths at every border. */
static const uint8_t PIECES[][9] = {
    {0xc0}, {0x80}, {0x81, 0x05}, {0xb8, 0x37}, {0xf8, 0x38}, {0xf9, 0x00, 0x38},
    {0xbf, 0x80}, {0xff, 0x80}, {0xbf, 0x7f, 255, 255, 255, 255, 255, 255, 255},
    {0xff, 255, 255, 255, 255, 255, 255, 255, 255}, {0xff, 255, 255, 255, 255, 255, 255, 255, 0xf6},
    {0x01, 0xf8}, {0x02, 0xc1, 0x80}, {0x04, 0xc0}, {0x94}, {0xa0}, {0xb9, 0x01, 0x00}};
static const uint8_t PIECE_SIZES[] = {1, 1, 2, 2, 2, 3, 9, 9, 9, 9, 9, 2, 3, 2, 1, 1, 3};

static size_t mutate(uint8_t *data, size_t size) {
    for (uint64_t edits = 1 + random_below(3); edits > 0 && size > 0; edits--) {
        size_t at = random_below(size);
        uint64_t piece = random_below(sizeof PIECE_SIZES);
        switch (random_below(5)) {
        case 0:
            data[at] ^= (uint8_t)(1u << random_below(8));
            break;
        case 1:
            data[at] = (uint8_t)random_below(256);
            break;
        case 2:
            data[at] = (uint8_t)(data[at] + 1 - 2 * random_below(2));
            break;
        case 3:
            if (size - at >= PIECE_SIZES[piece]) {
                memcpy(data + at, PIECES[piece], PIECE_SIZES[piece]);
            }
            break;
        default:
            size = random_below(8) == 0 ? at : size;
        }
    }
    return size;
}

static uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(1 << 20);
    if (file == NULL || data == NULL) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    *size = fread(data, 1, 1 << 20, file);
    fclose(file);
    return data;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: PROGRAM ROUNDS SEED FILE...\n");
        return 2;
    }
    uint64_t rounds = strtoull(argv[1], NULL, 10);
    random_state = strtoull(argv[2], NULL, 10) * 2654435761u + 1;
    uint64_t runs = 0;
    for (int i = 3; i < argc; i++) {
        size_t size;
        uint8_t *data = read_file(argv[i], &size);
        uint8_t *mutant = malloc(size + 1);
        LLVMFuzzerTestOneInput(data, size);
        for (uint64_t round = 0; mutant != NULL && round < rounds; round++, runs++) {
            memcpy(mutant, data, size);
            LLVMFuzzerTestOneInput(mutant, mutate(mutant, size));
        }
        free(mutant);
        free(data);
    }
    printf("%llu mutants\n", (unsigned long long)runs);
    return 0;
}

#endif
