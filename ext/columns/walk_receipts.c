/* Rows of receipts and of their logs; see columns.h. */
#include "columns/cells.h"
#include "status.h"

#define FORM_SIZE 1

int bp_walk_open_receipts(struct bp_walk *walk) {
    const uint8_t *data = walk->window.records[BP_RECEIPT_LISTS].data;
    struct bp_span record = walk->records[BP_RECEIPT_LISTS];
    walk->logs = (struct bp_rlp_cursor){data, record.start, record.start};
    walk->gas_before = 0;
    walk->receipt_count = 0;
    walk->source = BP_RECEIPT_LISTS;
    walk->form = record.start < record.end ? data[record.start] : 0;
    if (walk->form < BP_RECEIPTS_CONSENSUS || walk->form > BP_RECEIPTS_SLIM) {
        return bp_walk_failed(walk, BP_RECEIPT_LISTS, BP_MALFORMED, record.start, BP_RECEIPTS);
    }
    return bp_receipts_open(data, record.start + FORM_SIZE, record.end, BP_RLP_STRICT,
                            &walk->receipts, &walk->fault);
}

int bp_walk_next_receipt(struct bp_walk *walk) {
    walk->source = BP_RECEIPT_LISTS;
    int status = bp_receipts_next(&walk->receipts, walk->form, BP_RLP_STRICT, &walk->receipt,
                                  &walk->fault);
    walk->receipt_count += status == 1;
    return status;
}

/* The next receipt, and the transaction that it is of where the rows want something of it. */
static int next_pair(struct bp_walk *walk) {
    int status = bp_walk_next_receipt(walk);
    if (status < 0 || !bp_wants_source(walk, BP_BODIES)) {
        return status;
    }
    int found = bp_walk_next_tx(walk);
    if (found >= 0 && found != status) {
        return bp_walk_failed(walk, BP_BODIES, found ? BP_TRAILING : BP_TOO_FEW_ITEMS,
                              walk->items.position, BP_RLP_TRANSACTION);
    }
    return found;
}

/* The type that the receipt or else the transaction has. */
static int put_type(struct bp_walk *walk, struct bp_chunk *chunk) {
    if (walk->receipt.type < 0 && !bp_wants_source(walk, BP_BODIES)) {
        return bp_walk_failed(walk, BP_RECEIPT_LISTS, BP_TOO_FEW_ITEMS, walk->receipt.start,
                              BP_RECEIPT_TYPE);
    }
    bp_put_number(walk, chunk, BP_FIELD_RECEIPT_TYPE, walk->receipt.type < 0
                  ? walk->tx.type : (uint64_t)walk->receipt.type);
    return BP_OK;
}

/* Gas sums that fall are refused only where the differences are wanted. */
static int put_gas_used(struct bp_walk *walk, struct bp_chunk *chunk) {
    const struct bp_receipt *receipt = &walk->receipt;
    uint64_t gas = 0;
    bp_rlp_u64(walk->receipts.data, &receipt->gas, &gas);   /* strict ones hold no more */
    if (gas < walk->gas_before) {
        return bp_walk_failed(walk, BP_RECEIPT_LISTS, BP_BAD_INTEGER, receipt->gas.start,
                              BP_RECEIPT_GAS);
    }
    bp_put_number(walk, chunk, BP_FIELD_RECEIPT_GAS_USED, gas - walk->gas_before);
    walk->gas_before = gas;
    return BP_OK;
}

static int put_log_count(struct bp_walk *walk, struct bp_chunk *chunk) {
    struct bp_rlp_cursor logs = bp_receipt_logs(walk->receipts.data, &walk->receipt);
    struct bp_log log;
    uint64_t count = 0;
    int status;
    while ((status = bp_logs_next(&logs, BP_RLP_STRICT, &log, &walk->fault)) == 1) {
        count++;
    }
    bp_put_number(walk, chunk, BP_FIELD_RECEIPT_LOG_COUNT, count);
    return status;
}

int bp_walk_put_receipt(struct bp_walk *walk, struct bp_chunk *chunk) {
    const struct bp_receipt *receipt = &walk->receipt;
    int status = BP_OK;
    walk->source = BP_RECEIPT_LISTS;
    bp_put_number(walk, chunk, BP_FIELD_RECEIPT_INDEX, walk->receipt_count - 1);
    bp_put(walk, chunk, BP_FIELD_RECEIPT_STATUS, bp_cell_item(&receipt->status));
    bp_put(walk, chunk, BP_FIELD_RECEIPT_GAS, bp_cell_item(&receipt->gas));
    bp_put_number(walk, chunk, BP_FIELD_RECEIPT_FORM, (uint64_t)walk->form);
    bp_put(walk, chunk, BP_FIELD_RECEIPT_BLOOM,
           bp_cell_item(receipt->has_bloom ? &receipt->bloom : &receipt->logs));
    if (bp_wants_field(walk, BP_FIELD_RECEIPT_TYPE)) {
        status = put_type(walk, chunk);
    }
    if (status == BP_OK && bp_wants_field(walk, BP_FIELD_RECEIPT_GAS_USED)) {
        status = put_gas_used(walk, chunk);
    }
    if (status == BP_OK && bp_wants_field(walk, BP_FIELD_RECEIPT_LOG_COUNT)) {
        status = put_log_count(walk, chunk);
    }
    return status;
}

int bp_walk_receipts(struct bp_walk *walk, struct bp_chunk *chunk) {
    int has_body = bp_wants_source(walk, BP_BODIES);
    while (chunk->rows < BP_CHUNK_ROWS) {
        int status = next_pair(walk);
        if (status <= 0) {
            return status;
        }
        status = has_body ? bp_walk_put_tx(walk, chunk) : BP_OK;
        status = status == BP_OK ? bp_walk_put_receipt(walk, chunk) : status;
        if (status < 0) {
            return status;
        }
        bp_walk_row_done(walk, chunk);
    }
    return 1;
}

/* 1 and the next log, of this receipt or of the next ones that have any; 0 at the end. */
static int next_log(struct bp_walk *walk, struct bp_log *log) {
    int status;
    walk->source = BP_RECEIPT_LISTS;
    while ((status = bp_logs_next(&walk->logs, BP_RLP_STRICT, log, &walk->fault)) == 0) {
        status = next_pair(walk);
        if (status <= 0) {
            return status;
        }
        walk->source = BP_RECEIPT_LISTS;
        walk->logs = bp_receipt_logs(walk->receipts.data, &walk->receipt);
    }
    return status;
}

int bp_walk_logs(struct bp_walk *walk, struct bp_chunk *chunk) {
    int has_body = bp_wants_source(walk, BP_BODIES);
    while (chunk->rows < BP_CHUNK_ROWS) {
        struct bp_log log;
        int status = next_log(walk, &log);
        if (status <= 0) {
            return status;
        }
        status = has_body ? bp_walk_put_tx(walk, chunk) : BP_OK;
        if (status < 0) {
            return status;
        }
        bp_put_number(walk, chunk, BP_FIELD_RECEIPT_INDEX, walk->receipt_count - 1);
        bp_put(walk, chunk, BP_FIELD_LOG_ADDRESS,
               bp_cell_span(log.address, log.address + BP_ADDRESS_SIZE));
        bp_put(walk, chunk, BP_FIELD_LOG_DATA, bp_cell_span(log.data, log.data_end));
        for (int i = 0; i < BP_LOG_TOPICS_MAX; i++) {
            bp_put(walk, chunk, BP_FIELD_LOG_TOPIC + i,
                   i < log.topic_count ? bp_cell_span(log.topics[i], log.topics[i] + BP_TOPIC_SIZE)
                                       : bp_cell_number(BP_ABSENT));
        }
        bp_walk_row_done(walk, chunk);
    }
    return 1;
}
