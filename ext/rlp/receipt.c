/* See receipt.h. Input is read through item.h alone; what is left here moves offsets. */
#include "rlp/receipt.h"

#include <string.h>

#include "status.h"

#define TYPE_MAX 0x7fu          /* EIP-2718: a byte above it starts a list or a long string */
#define KNOWN_TYPE_MAX 4

int bp_receipts_open(const uint8_t *data, uint64_t start, uint64_t end, int mode,
                     struct bp_rlp_cursor *receipts, struct bp_rlp_fault *fault) {
    struct bp_rlp_item list;
    int status = bp_rlp_read(data, start, end, mode, &list);
    if (status == BP_OK && !list.is_list) {
        status = BP_NOT_A_LIST;
    }
    if (status < 0) {
        return bp_rlp_failed(fault, status, start, BP_RECEIPTS);
    }
    if (list.end != end) {
        return bp_rlp_failed(fault, BP_TRAILING, list.end, BP_RECEIPTS);
    }
    *receipts = bp_rlp_inside(data, &list);
    return BP_OK;
}

int bp_receipts_open_record(const uint8_t *record, uint64_t size, int *form,
                            struct bp_rlp_cursor *receipts, struct bp_rlp_fault *fault) {
    if (size == 0 || record[0] < BP_RECEIPTS_CONSENSUS || record[0] > BP_RECEIPTS_SLIM) {
        return bp_rlp_failed(fault, BP_MALFORMED, 0, BP_RECEIPTS);
    }
    *form = record[0];
    return bp_receipts_open(record, 1, size, BP_RLP_STRICT, receipts, fault);
}

/* A string of one width. */
static int demand_bytes(struct bp_rlp_cursor *cursor, int mode, uint64_t width, uint64_t *offset,
                        int field, struct bp_rlp_fault *fault) {
    struct bp_rlp_item item;
    int status = bp_rlp_demand(cursor, mode, &item, field, fault);
    if (status < 0) {
        return status;
    }
    *offset = item.payload;
    status = bp_rlp_check_width(&item, width);
    return status < 0 ? bp_rlp_failed(fault, status, item.start, field) : BP_OK;
}

/* Status or state root, as geth's setStatus takes them. */
static int check_status(const uint8_t *data, const struct bp_rlp_item *item) {
    uint64_t size = item->end - item->payload;
    if (item->is_list) {
        return BP_NOT_A_STRING;
    }
    return size == 0 || size == 32 || (size == 1 && data[item->payload] == 1) ? BP_OK
                                                                              : BP_BAD_WIDTH;
}

static int status_and_gas(struct bp_rlp_cursor *cursor, int mode, struct bp_receipt *receipt,
                          struct bp_rlp_fault *fault) {
    uint64_t gas;
    int status = bp_rlp_demand(cursor, mode, &receipt->status, BP_RECEIPT_STATUS, fault);
    if (status == BP_OK && mode == BP_RLP_STRICT) {
        status = check_status(cursor->data, &receipt->status);
        if (status < 0) {
            return bp_rlp_failed(fault, status, receipt->status.start, BP_RECEIPT_STATUS);
        }
    }
    if (status == BP_OK) {
        status = bp_rlp_demand(cursor, mode, &receipt->gas, BP_RECEIPT_GAS, fault);
    }
    if (status == BP_OK && mode == BP_RLP_STRICT) {
        status = bp_rlp_u64(cursor->data, &receipt->gas, &gas);
        if (status < 0) {
            return bp_rlp_failed(fault, status, receipt->gas.start, BP_RECEIPT_GAS);
        }
    }
    return status;
}

static int bloom_in(struct bp_rlp_cursor *cursor, int mode, struct bp_receipt *receipt,
                    struct bp_rlp_fault *fault) {
    int status = bp_rlp_demand(cursor, mode, &receipt->bloom, BP_RECEIPT_BLOOM, fault);
    if (status < 0 || mode == BP_RLP_LENIENT) {
        return status;
    }
    status = bp_rlp_check_width(&receipt->bloom, BP_BLOOM_BYTES);
    return status < 0 ? bp_rlp_failed(fault, status, receipt->bloom.start, BP_RECEIPT_BLOOM)
                      : BP_OK;
}

/* What follows the logs: nothing where the type is known; else strings, as a deposit has them. */
static int extras_in(struct bp_rlp_cursor *cursor, int mode, struct bp_receipt *receipt,
                     struct bp_rlp_fault *fault) {
    struct bp_rlp_item item;
    int status;
    receipt->extra = cursor->position;
    receipt->extra_end = cursor->end;
    receipt->extras = 0;
    while ((status = bp_rlp_read_next(cursor, mode, &item)) == 1) {
        receipt->extras += receipt->extras < INT32_MAX;
        if (mode == BP_RLP_LENIENT) {
            continue;
        }
        if (receipt->type >= 0 && receipt->type <= KNOWN_TYPE_MAX) {
            return bp_rlp_failed(fault, BP_TRAILING, item.start, BP_RECEIPT_LOGS);
        }
        if (item.is_list) {
            return bp_rlp_failed(fault, BP_NOT_A_STRING, item.start, BP_RECEIPT_EXTRA);
        }
    }
    return status < 0 ? bp_rlp_failed(fault, status, cursor->position, BP_RECEIPT_EXTRA) : BP_OK;
}

/* The fields from the status on. */
static int fields_in(struct bp_rlp_cursor *cursor, int mode, struct bp_receipt *receipt,
                     struct bp_rlp_fault *fault) {
    int status = status_and_gas(cursor, mode, receipt, fault);
    if (status == BP_OK && receipt->has_bloom) {
        status = bloom_in(cursor, mode, receipt, fault);
    }
    if (status == BP_OK) {
        status = bp_rlp_demand_list(cursor, mode, &receipt->logs, BP_RECEIPT_LOGS, fault);
    }
    return status < 0 ? status : extras_in(cursor, mode, receipt, fault);
}

static int slim_in(struct bp_rlp_cursor *cursor, int mode, struct bp_receipt *receipt,
                   struct bp_rlp_fault *fault) {
    struct bp_rlp_item item;
    uint64_t type = 0;
    int status = bp_rlp_demand(cursor, mode, &item, BP_RECEIPT_TYPE, fault);
    if (status < 0) {
        return status;
    }
    status = bp_rlp_u64(cursor->data, &item, &type);
    if (status == BP_OK && type > TYPE_MAX) {
        status = BP_BAD_INTEGER;
    }
    if (status < 0) {
        return bp_rlp_failed(fault, status, item.start, BP_RECEIPT_TYPE);
    }
    receipt->type = (int)type;
    return fields_in(cursor, mode, receipt, fault);
}

/* A string of the consensus form: type byte, then one list and nothing after it. */
static int typed_in(const uint8_t *data, const struct bp_rlp_item *item, int mode,
                    struct bp_receipt *receipt, struct bp_rlp_fault *fault) {
    struct bp_rlp_cursor cursor = {data, item->payload, item->end};
    struct bp_rlp_item list;
    receipt->payload = item->payload;
    if (item->payload == item->end) {
        return bp_rlp_failed(fault, BP_TOO_FEW_ITEMS, item->start, BP_RECEIPT_TYPE);
    }
    receipt->type = data[cursor.position++];
    if (receipt->type == 0 || receipt->type > (int)TYPE_MAX) {
        return bp_rlp_failed(fault, BP_BAD_INTEGER, item->payload, BP_RECEIPT_TYPE);
    }
    int status = bp_rlp_demand_list(&cursor, mode, &list, BP_RECEIPT, fault);
    if (status < 0) {
        return status;
    }
    if (list.end != item->end) {
        return bp_rlp_failed(fault, BP_TRAILING, list.end, BP_RECEIPT);
    }
    cursor = bp_rlp_inside(data, &list);
    return fields_in(&cursor, mode, receipt, fault);
}

static int receipt_in(const uint8_t *data, const struct bp_rlp_item *item, int form, int mode,
                      struct bp_receipt *receipt, struct bp_rlp_fault *fault) {
    struct bp_rlp_cursor cursor = bp_rlp_inside(data, item);
    receipt->start = item->start;
    receipt->payload = item->start;
    receipt->end = item->end;
    receipt->has_bloom = form == BP_RECEIPTS_CONSENSUS;
    receipt->type = form == BP_RECEIPTS_STORAGE ? -1 : 0;
    if (!item->is_list) {
        return form == BP_RECEIPTS_CONSENSUS
                   ? typed_in(data, item, mode, receipt, fault)
                   : bp_rlp_failed(fault, BP_NOT_A_LIST, item->start, BP_RECEIPT);
    }
    return form == BP_RECEIPTS_SLIM ? slim_in(&cursor, mode, receipt, fault)
                                    : fields_in(&cursor, mode, receipt, fault);
}

int bp_receipts_next(struct bp_rlp_cursor *receipts, int form, int mode,
                     struct bp_receipt *receipt, struct bp_rlp_fault *fault) {
    struct bp_rlp_item item;
    int status = bp_rlp_read_next(receipts, mode, &item);
    if (status < 0) {
        return bp_rlp_failed(fault, status, receipts->position, BP_RECEIPT);
    }
    if (status == 1) {
        status = receipt_in(receipts->data, &item, form, mode, receipt, fault);
        return status < 0 ? status : 1;
    }
    return 0;
}

static int topics_in(const uint8_t *data, const struct bp_rlp_item *list, int mode,
                     struct bp_log *log, struct bp_rlp_fault *fault) {
    struct bp_rlp_cursor cursor = bp_rlp_inside(data, list);
    log->topic_count = 0;
    while (cursor.position < cursor.end) {
        if (log->topic_count == BP_LOG_TOPICS_MAX) {
            return bp_rlp_failed(fault, BP_TRAILING, cursor.position, BP_LOG_TOPICS);
        }
        int status = demand_bytes(&cursor, mode, BP_TOPIC_SIZE, &log->topics[log->topic_count],
                                  BP_LOG_TOPIC, fault);
        if (status < 0) {
            return status;
        }
        log->topic_count++;
    }
    return BP_OK;
}

static int log_in(const uint8_t *data, const struct bp_rlp_item *list, int mode,
                  struct bp_log *log, struct bp_rlp_fault *fault) {
    struct bp_rlp_cursor cursor = bp_rlp_inside(data, list);
    struct bp_rlp_item topics, content = {0, 0, 0, 0};
    log->start = list->start;
    log->end = list->end;
    int status = demand_bytes(&cursor, mode, BP_ADDRESS_SIZE, &log->address, BP_LOG_ADDRESS,
                              fault);
    if (status == BP_OK) {
        status = bp_rlp_demand_list(&cursor, mode, &topics, BP_LOG_TOPICS, fault);
    }
    if (status == BP_OK) {
        status = topics_in(data, &topics, mode, log, fault);
    }
    if (status == BP_OK) {
        status = bp_rlp_demand(&cursor, mode, &content, BP_LOG_DATA, fault);
    }
    if (status < 0) {
        return status;
    }
    if (content.is_list) {
        return bp_rlp_failed(fault, BP_NOT_A_STRING, content.start, BP_LOG_DATA);
    }
    log->data = content.payload;
    log->data_end = content.end;
    return mode == BP_RLP_STRICT && cursor.position != cursor.end
               ? bp_rlp_failed(fault, BP_TRAILING, cursor.position, BP_LOG_DATA) : BP_OK;
}

int bp_logs_next(struct bp_rlp_cursor *logs, int mode, struct bp_log *log,
                 struct bp_rlp_fault *fault) {
    struct bp_rlp_item item;
    int status = bp_rlp_read_next(logs, mode, &item);
    if (status == 1 && !item.is_list) {
        return bp_rlp_failed(fault, BP_NOT_A_LIST, item.start, BP_LOG);
    }
    if (status < 0) {
        return bp_rlp_failed(fault, status, logs->position, BP_LOG);
    }
    if (status == 1) {
        status = log_in(logs->data, &item, mode, log, fault);
        return status < 0 ? status : 1;
    }
    return 0;
}

int bp_receipt_bloom(const uint8_t *data, const struct bp_receipt *receipt,
                     uint8_t bloom[BP_BLOOM_BYTES], struct bp_rlp_fault *fault) {
    struct bp_rlp_cursor logs = bp_receipt_logs(data, receipt);
    struct bp_log log;
    int status;
    memset(bloom, 0, BP_BLOOM_BYTES);
    while ((status = bp_logs_next(&logs, BP_RLP_STRICT, &log, fault)) == 1) {
        bp_bloom_add(bloom, bp_bloom_bits_of(data + log.address, BP_ADDRESS_SIZE));
        for (int i = 0; i < log.topic_count; i++) {
            bp_bloom_add(bloom, bp_bloom_bits_of(data + log.topics[i], BP_TOPIC_SIZE));
        }
    }
    return status;
}
