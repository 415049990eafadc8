/* See logfilter.h. */
#include "bloom/logfilter.h"

#include <string.h>

#include "status.h"

#define BLOOM_POSITION 6    /* of the header's fields */

static int any_in_bloom(const struct bp_log_values *wanted, const uint8_t *bloom) {
    for (uint64_t i = 0; i < wanted->count; i++) {
        if (bp_bloom_has(bloom, wanted->bits[i])) {
            return 1;
        }
    }
    return wanted->count == 0;
}

/* A block without logs: each log has an address, which sets a bit. */
static int is_empty(const uint8_t bloom[BP_BLOOM_BYTES]) {
    unsigned all = 0;
    for (int i = 0; i < BP_BLOOM_BYTES; i++) {
        all |= bloom[i];
    }
    return all == 0;
}

int bp_filter_bloom(const struct bp_log_filter *filter, const uint8_t bloom[BP_BLOOM_BYTES]) {
    int may = !is_empty(bloom) && any_in_bloom(&filter->addresses, bloom);
    for (int i = 0; may && i < filter->positions; i++) {
        may = any_in_bloom(&filter->topics[i], bloom);
    }
    return may;
}

int bp_filter_header(const struct bp_log_filter *filter, const uint8_t *header, uint64_t size) {
    struct bp_rlp_item item;
    if (bp_rlp_read(header, 0, size, BP_RLP_LENIENT, &item) < 0 || !item.is_list) {
        return 1;
    }
    struct bp_rlp_cursor cursor = bp_rlp_inside(header, &item);
    for (int position = 0; position <= BLOOM_POSITION; position++) {
        if (bp_rlp_read_next(&cursor, BP_RLP_LENIENT, &item) != 1) {
            return 1;
        }
    }
    return item.is_list || item.end - item.payload != BP_BLOOM_BYTES
        || bp_filter_bloom(filter, header + item.payload);
}

/* By halving: filters of thousands of addresses are common. */
static int is_wanted(const struct bp_log_values *wanted, const uint8_t *value, size_t width) {
    uint64_t low = 0, high = wanted->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int order = memcmp(wanted->values + middle * width, value, width);
        if (order == 0) {
            return 1;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return wanted->count == 0;
}

int bp_filter_log(const struct bp_log_filter *filter, const uint8_t *data,
                  const struct bp_log *log) {
    if (log->topic_count < filter->positions
            || !is_wanted(&filter->addresses, data + log->address, BP_ADDRESS_SIZE)) {
        return 0;
    }
    for (int i = 0; i < filter->positions; i++) {
        if (!is_wanted(&filter->topics[i], data + log->topics[i], BP_TOPIC_SIZE)) {
            return 0;
        }
    }
    return 1;
}

int bp_log_scan_open(const uint8_t *record, uint64_t size, struct bp_log_scan *scan,
                     struct bp_rlp_fault *fault) {
    scan->logs = (struct bp_rlp_cursor){record, 0, 0};
    scan->transaction = UINT64_MAX;     /* the one before the first */
    scan->index = 0;
    return bp_receipts_open_record(record, size, &scan->form, &scan->receipts, fault);
}

/* 1 and the next log of the record, 0 after the last, or a failure. */
static int next_log(struct bp_log_scan *scan, struct bp_log *log, struct bp_rlp_fault *fault) {
    int status;
    while ((status = bp_logs_next(&scan->logs, BP_RLP_STRICT, log, fault)) == 0) {
        struct bp_receipt receipt;
        status = bp_receipts_next(&scan->receipts, scan->form, BP_RLP_STRICT, &receipt, fault);
        if (status <= 0) {
            return status;
        }
        scan->transaction++;
        scan->logs = bp_receipt_logs(scan->receipts.data, &receipt);
    }
    return status;
}

int64_t bp_log_scan_next(struct bp_log_scan *scan, const struct bp_log_filter *filter,
                         struct bp_log_hit *hits, int64_t capacity, struct bp_rlp_fault *fault) {
    int64_t found = 0;
    struct bp_log log;
    int status;
    while (found < capacity && (status = next_log(scan, &log, fault)) != 0) {
        if (status < 0) {
            return status;
        }
        if (bp_filter_log(filter, scan->receipts.data, &log)) {
            hits[found++] = (struct bp_log_hit){log, scan->transaction, scan->index};
        }
        scan->index++;
    }
    return found;
}
