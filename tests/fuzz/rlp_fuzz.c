/* Fuzz target for ext/rlp and ext/hash: no input may be read past its end, loop, or break what
 * rlp.h promises about a result.
 *
 * With libFuzzer:  clang -g -O1 -fsanitize=fuzzer,address,undefined -Iext \
 *                      tests/fuzz/rlp_fuzz.c ext/rlp/rlp.c ext/hash/keccak.c -o rlp_fuzz
 *                  ./rlp_fuzz corpus/
 * Without:         gcc -g -O1 -fsanitize=address,undefined -DSTANDALONE -Iext (same files)
 *                  ./rlp_fuzz ROUNDS SEED FILE...     mutates every FILE for ROUNDS rounds
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash/keccak.h"
#include "rlp/rlp.h"
#include "status.h"

#define SENTINEL 0xa5
#define DEMAND(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

static void broken(const char *what, int line) {
    fprintf(stderr, "rlp_fuzz.c:%d: not so: %s\n", line, what);
    abort();
}

static void check_failure(int64_t status, const struct bp_rlp_fault *fault, uint64_t size) {
    DEMAND(status == BP_TRUNCATED || (status <= BP_NONCANONICAL && status >= BP_OVERRUN));
    DEMAND(fault->offset <= size);
    DEMAND(fault->field >= BP_RLP_ITEM && fault->field <= BP_RLP_EXTRA);
}

/* A block that passed is its prefix, its header and its body, and the prefix is the only one. */
static void check_block(const uint8_t *data, uint64_t size) {
    struct bp_rlp_block block;
    struct bp_rlp_fault fault = {UINT64_MAX, -1};
    int status = bp_rlp_block_at(data, 0, size, &block, &fault);
    if (status < 0) {
        check_failure(status, &fault, size);
        return;
    }
    uint8_t prefix[BP_RLP_PREFIX_SIZE_MAX];
    int prefix_size = bp_rlp_list_prefix(block.end - block.header.start, prefix);
    DEMAND(block.header.start == (uint64_t)prefix_size);
    DEMAND(memcmp(prefix, data, (size_t)prefix_size) == 0);
    DEMAND(block.header.start < block.header.end && block.header.end < block.end);
    DEMAND(block.end <= size);
    DEMAND(block.header.parent_hash + 32 <= block.header.end);
    DEMAND(block.has_chain_id == 0 || block.chain_id <= INT64_MAX);

    struct bp_rlp_header header;
    DEMAND(bp_rlp_header_at(data, block.header.start, size, &header, &fault) == BP_OK);
    DEMAND(memcmp(&header, &block.header, sizeof header) == 0);
    uint64_t needed;
    DEMAND(bp_rlp_announced(data, size, UINT64_C(1) << 40, &needed) == (int64_t)block.end);
}

/* Every item of a list, then each of those that is a list, lies in its parent, in order. */
static void check_list(const uint8_t *data, uint64_t size) {
    struct bp_rlp_fault fault;
    struct bp_rlp_item list, item;
    int64_t count = bp_rlp_count(data, 0, size, &fault);
    if (count < 0) {
        check_failure(count, &fault, size);
        return;
    }
    DEMAND(bp_rlp_item_at(data, 0, size, &list) == BP_OK && list.is_list);
    struct bp_rlp_cursor cursor = {data, list.payload, list.end};
    int64_t seen = 0;
    uint64_t last = list.payload;
    while (bp_rlp_next(&cursor, &item) == 1) {
        DEMAND(item.start == last && item.start <= item.payload && item.payload <= item.end);
        DEMAND(item.end > item.start && item.end <= list.end);
        last = item.end;
        seen++;
        if (item.is_list) {
            bp_rlp_count(data, item.start, item.end, &fault);
        }
    }
    DEMAND(seen == count && last == list.end);
}

static void check_announced(const uint8_t *data, uint64_t size) {
    uint64_t needed;
    uint64_t limit = size > 0 ? (uint64_t)data[size - 1] << 22 : 0;
    int64_t total = bp_rlp_announced(data, size, limit, &needed);
    DEMAND(total >= 0 || total == BP_NOT_A_LIST || total == BP_NONCANONICAL
           || total == BP_TOO_LARGE);
    DEMAND(total <= 0 || (uint64_t)total <= limit);
    DEMAND(total != 0 || (needed >= 1 && needed <= 8));
}

/* What is written stays inside of what the contract says, with sentinels on both sides. */
static void check_written(const uint8_t *data, uint64_t size) {
    uint8_t target[BP_KECCAK256_SIZE + 2];
    memset(target, SENTINEL, sizeof target);
    bp_keccak256(data, size, target + 1);
    DEMAND(target[0] == SENTINEL && target[BP_KECCAK256_SIZE + 1] == SENTINEL);

    uint64_t payload_size = 0;
    memcpy(&payload_size, data, size < 8 ? (size_t)size : 8);
    memset(target, SENTINEL, sizeof target);
    int written = bp_rlp_list_prefix(payload_size, target + 1);
    DEMAND(written >= 1 && written <= BP_RLP_PREFIX_SIZE_MAX);
    DEMAND(target[0] == SENTINEL && target[written + 1] == SENTINEL);
    uint64_t needed;
    DEMAND(bp_rlp_announced(target + 1, (uint64_t)written, INT64_MAX, &needed)
           == (payload_size > INT64_MAX - (uint64_t)written
               ? BP_TOO_LARGE : (int64_t)payload_size + written));
}

int LLVMFuzzerTestOneInput(const uint8_t *source, size_t size) {
    /* A copy of exactly this size: AddressSanitizer sees the first byte read past it. */
    uint8_t *data = malloc(size > 0 ? size : 1);
    if (data == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(data, source, size);
    }
    check_block(data, size);
    check_list(data, size);
    check_announced(data, size);
    check_written(data, size);
    free(data);
    return 0;
}

#ifdef STANDALONE
#include "standalone.h"
#endif
