/* Fuzz target for ext/trie: records of a block, however wrong, are never read past their ends, and
 * scratch is written no further than was asked for. The input is two sizes of 3 bytes, little-
 * endian, then header, body and receipts record.
 *
 * With libFuzzer:  clang -g -O1 -fsanitize=fuzzer,address,undefined -Iext \
 *                      tests/fuzz/roots_fuzz.c ext/trie/[a-z]*.c ext/rlp/[rn]*.c \
 *                      ext/bloom/bloom.c ext/hash/keccak.c -o roots_fuzz
 * Without:         gcc -g -O1 -fsanitize=address,undefined -DSTANDALONE -Iext (same files)
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rlp/receipt.h"
#include "status.h"
#include "trie/roots.h"

#define DEMAND(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

static void broken(const char *what, int line) {
    fprintf(stderr, "roots_fuzz.c:%d: not so: %s\n", line, what);
    abort();
}

/* A copy of exactly this size: AddressSanitizer sees the first byte read past it. */
static uint8_t *copied(const uint8_t *source, size_t size) {
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL) {
        abort();
    }
    if (size > 0) {
        memcpy(copy, source, size);
    }
    return copy;
}

static size_t taken(const uint8_t *size_bytes, size_t left) {
    size_t size = size_bytes[0] | (size_t)size_bytes[1] << 8 | (size_t)size_bytes[2] << 16;
    return size < left ? size : left;
}

int LLVMFuzzerTestOneInput(const uint8_t *source, size_t size) {
    if (size < 6) {
        return 0;
    }
    const uint8_t *rest = source + 6;
    size -= 6;
    size_t header_size = taken(source, size);
    size_t body_size = taken(source + 3, size - header_size);
    size_t receipts_size = size - header_size - body_size;
    uint8_t *header = copied(rest, header_size);
    uint8_t *body = copied(rest + header_size, body_size);
    uint8_t *receipts = copied(rest + header_size + body_size, receipts_size);
    struct bp_block_records records = {header, header_size, body, body_size,
                                       receipts_size > 0 ? receipts : NULL, receipts_size};
    uint8_t *scratch = malloc((size_t)bp_roots_scratch(&records) + 1);
    struct bp_roots roots;
    struct bp_rlp_fault fault = {UINT64_MAX, -1};
    int status = bp_roots_check(&records, scratch, &roots, &fault);
    DEMAND(status <= 0 && status >= BP_OVERRUN);
    if (status < 0) {
        uint64_t sizes[3] = {header_size, body_size, receipts_size};
        DEMAND(roots.part >= BP_PART_HEADER && roots.part <= BP_PART_RECEIPTS);
        DEMAND(fault.offset <= sizes[roots.part]);
        DEMAND(fault.field >= 0 && fault.field <= BP_LOG_DATA);
    } else {
        DEMAND(roots.wrong < 1u << BP_ROOTS);
        for (int root = 0; root < BP_ROOTS - 1; root++) {
            DEMAND(roots.fields[root] + roots.widths[root] <= header_size);
        }
    }
    free(scratch);
    free(receipts);
    free(body);
    free(header);
    return 0;
}

#ifdef STANDALONE
#include "standalone.h"
#endif
