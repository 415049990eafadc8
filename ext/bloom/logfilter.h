/* Which logs of which blocks a filter wants, by the rules of eth_getLogs: any of the addresses
 * (none: all), and at each position any of its topics (none: all); a log with fewer topics than
 * the filter has positions is not wanted.
 *
 * Nothing is copied or allocated. */
#ifndef BLOCKPACK_LOGFILTER_H
#define BLOCKPACK_LOGFILTER_H

#include <stdint.h>

#include "bloom/bloom.h"
#include "rlp/receipt.h"

/* Values of one width, in ascending order, and the bits of each. */
struct bp_log_values {
    const uint8_t *values;
    const struct bp_bloom_bits *bits;
    uint64_t count;
};

struct bp_log_filter {
    struct bp_log_values addresses;
    struct bp_log_values topics[BP_LOG_TOPICS_MAX];
    int positions;
};

/* Whether a block whose bloom this is may have a log that is wanted: never a false no. */
int bp_filter_bloom(const struct bp_log_filter *filter, const uint8_t bloom[BP_BLOOM_BYTES]);

/* The same by the header. A header without a bloom of 256 bytes may have anything. */
int bp_filter_header(const struct bp_log_filter *filter, const uint8_t *header, uint64_t size);

int bp_filter_log(const struct bp_log_filter *filter, const uint8_t *data,
                  const struct bp_log *log);

struct bp_log_hit {
    struct bp_log log;
    uint64_t transaction;   /* index of its receipt */
    uint64_t index;         /* among all logs of the block */
};

/* Where a scan over one receipts record stands. */
struct bp_log_scan {
    struct bp_rlp_cursor receipts;
    struct bp_rlp_cursor logs;
    int form;
    uint64_t transaction;
    uint64_t index;
};

/* A receipts record: one byte, the form, and the list. */
int bp_log_scan_open(const uint8_t *record, uint64_t size, struct bp_log_scan *scan,
                     struct bp_rlp_fault *fault);

/* The next wanted logs, in order, at most `capacity` (above 0); fewer only at the end of the
 * record. Or a failure, offset from the record's start: what was before it is lost. */
int64_t bp_log_scan_next(struct bp_log_scan *scan, const struct bp_log_filter *filter,
                         struct bp_log_hit *hits, int64_t capacity, struct bp_rlp_fault *fault);

#endif
