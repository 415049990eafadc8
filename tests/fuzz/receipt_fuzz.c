/* Fuzz target for ext/rlp/receipt.h and ext/bloom: no input may be read past its end, loop, or break what the
 * header promises. The first byte is the form, as in a receipts record.
 *
 * With libFuzzer:  clang -g -O1 -fsanitize=fuzzer,address,undefined -Iext \
 *                      tests/fuzz/receipt_fuzz.c ext/rlp/[rn]*.c ext/bloom/[a-z]*.c \
 *                      ext/hash/keccak.c -o receipt_fuzz
 * Without:         gcc -g -O1 -fsanitize=address,undefined -DSTANDALONE -Iext (same files)
 *                  ./receipt_fuzz ROUNDS SEED FILE...     mutates every FILE for ROUNDS rounds
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloom/logfilter.h"
#include "rlp/names.h"
#include "rlp/receipt.h"
#include "status.h"

#define DEMAND(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

static void broken(const char *what, int line) {
    fprintf(stderr, "receipt_fuzz.c:%d: not so: %s\n", line, what);
    abort();
}

static void check_fault(int status, const struct bp_rlp_fault *fault, uint64_t size) {
    DEMAND(status < 0 && status >= BP_OVERRUN);
    DEMAND(fault->offset <= size);
    DEMAND(fault->field >= BP_RECEIPTS && fault->field <= BP_LOG_DATA);
    DEMAND(strcmp(bp_rlp_field_name(fault->field), "RLP item") != 0);
}

static int check_logs(const uint8_t *data, uint64_t size, const struct bp_receipt *receipt,
                      int mode) {
    struct bp_rlp_cursor cursor = bp_receipt_logs(data, receipt);
    struct bp_rlp_fault fault = {UINT64_MAX, -1};
    struct bp_log log;
    uint64_t last = receipt->logs.payload;
    int status;
    while ((status = bp_logs_next(&cursor, mode, &log, &fault)) == 1) {
        DEMAND(log.start == last && log.start < log.address && log.end <= receipt->logs.end);
        DEMAND(log.address + BP_ADDRESS_SIZE <= log.end);
        DEMAND(log.topic_count >= 0 && log.topic_count <= BP_LOG_TOPICS_MAX);
        for (int i = 0; i < log.topic_count; i++) {
            DEMAND(log.topics[i] > log.address && log.topics[i] + BP_TOPIC_SIZE <= log.data);
        }
        DEMAND(log.data <= log.data_end && log.data_end <= log.end);
        last = log.end;
    }
    if (status < 0) {
        check_fault(status, &fault, size);
    } else {
        DEMAND(last == receipt->logs.end);
    }
    return status;
}

/* What is written fits the bound, and in the consensus form it is what was read. */
static void check_value(const uint8_t *data, const struct bp_receipt *receipt, int logs_status) {
    uint64_t bound = bp_receipt_value_size(receipt), written = 0;
    uint8_t bloom[BP_BLOOM_BYTES] = {0};
    struct bp_rlp_fault fault;
    uint8_t *target = malloc((size_t)bound);
    DEMAND(bound <= receipt->end - receipt->start + 270);
    if (target == NULL) {
        return;
    }
    int type = receipt->type < 0 ? 2 : receipt->type;
    int status = bp_receipt_value(data, receipt, type, target, &written, bloom, &fault);
    DEMAND(receipt->has_bloom ? status == BP_OK : status == logs_status);
    DEMAND(status < 0 || written <= bound);
    if (receipt->has_bloom && receipt->extras != 1) {
        DEMAND(written == receipt->end - receipt->payload);
        DEMAND(memcmp(target, data + receipt->payload, (size_t)written) == 0);
    }
    free(target);
}

/* Returns the receipts that were read, and leaves the failure or 0 in *status. */
static uint64_t check_receipts(const uint8_t *data, uint64_t size, int form, int mode,
                               int *status) {
    struct bp_rlp_cursor cursor = {data, 0, 0};
    struct bp_rlp_fault fault = {UINT64_MAX, -1};
    struct bp_receipt receipt;
    uint64_t count = 0;
    *status = bp_receipts_open(data, 0, size, mode, &cursor, &fault);
    uint64_t last = cursor.position;
    while (*status >= 0
           && (*status = bp_receipts_next(&cursor, form, mode, &receipt, &fault)) == 1) {
        DEMAND(receipt.start == last && receipt.payload < receipt.end && receipt.end <= size);
        DEMAND(receipt.has_bloom == (form == BP_RECEIPTS_CONSENSUS));
        DEMAND((receipt.type == -1) == (form == BP_RECEIPTS_STORAGE) && receipt.type <= 0x7f);
        DEMAND(receipt.status.end <= receipt.gas.start && receipt.gas.end <= receipt.logs.start);
        DEMAND(receipt.logs.is_list && receipt.logs.end == receipt.extra);
        DEMAND(receipt.extra_end <= receipt.end);
        DEMAND((receipt.extras == 0) == (receipt.extra == receipt.extra_end));
        int logs_status = check_logs(data, size, &receipt, mode);
        if (mode == BP_RLP_STRICT) {
            check_value(data, &receipt, logs_status);
        }
        last = receipt.end;
        count++;
    }
    if (*status < 0) {
        check_fault(*status, &fault, size);
    } else {
        DEMAND(last == size);
    }
    return count;
}

/* A filter that wants all finds the logs in order; one that wants none in the bloom skips them. */
static void check_scan(const uint8_t *record, uint64_t size) {
    static const uint8_t address[BP_ADDRESS_SIZE] = {1};
    struct bp_bloom_bits bits = bp_bloom_bits_of(address, sizeof address);
    struct bp_log_filter all = {0}, one = {.addresses = {address, &bits, 1}};
    struct bp_log_scan scan;
    struct bp_rlp_fault fault = {UINT64_MAX, -1};
    struct bp_log_hit hits[3];
    uint64_t next = 0;
    int64_t count = bp_log_scan_open(record, size, &scan, &fault) < 0 ? -1 : 3;
    while (count == 3 && (count = bp_log_scan_next(&scan, &all, hits, 3, &fault)) > 0) {
        DEMAND(count <= 3);
        for (int64_t i = 0; i < count; i++) {
            DEMAND(hits[i].index == next++ && hits[i].log.end <= size);
            DEMAND(bp_filter_log(&one, record, &hits[i].log)
                   == (memcmp(record + hits[i].log.address, address, sizeof address) == 0));
        }
    }
    DEMAND(count >= 0 || fault.offset <= size);
    DEMAND(bp_filter_header(&one, record + 1, size - 1)
           <= bp_filter_header(&all, record + 1, size - 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *source, size_t size) {
    if (size == 0) {
        return 0;
    }
    /* A copy of exactly this size: AddressSanitizer sees the first byte read past it. */
    uint8_t *data = malloc(size > 1 ? size - 1 : 1);
    int form = BP_RECEIPTS_CONSENSUS + source[0] % 3, strict, lenient;
    if (data == NULL) {
        return 0;
    }
    if (size > 1) {
        memcpy(data, source + 1, size - 1);
    }
    uint64_t read = check_receipts(data, size - 1, form, BP_RLP_STRICT, &strict);
    uint64_t leniently = check_receipts(data, size - 1, form, BP_RLP_LENIENT, &lenient);
    DEMAND(leniently >= read && (strict < 0 || lenient == 0));
    free(data);
    uint8_t *record = malloc(size);
    if (record != NULL) {
        memcpy(record, source, size);
        record[0] = (uint8_t)form;
        check_scan(record, size);
        free(record);
    }
    return 0;
}

#ifdef STANDALONE
#include "standalone.h"
#endif
