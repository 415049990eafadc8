/* See rlp.h. Every read of input goes through item.h or typed_kind, each of which compares with
 * the end first; the rest of this file only moves offsets that they have checked. */
#include "rlp/rlp.h"

#include "rlp/item.h"
#include "status.h"

#define CHAIN_ID_MAX (UINT64_C(0x7fffffffffffffff) - 36)    /* EIP-2294 */

int bp_rlp_item_at(const uint8_t *data, uint64_t start, uint64_t end, struct bp_rlp_item *item) {
    return bp_rlp_read(data, start, end, BP_RLP_STRICT, item);
}

static inline int next_item(struct bp_rlp_cursor *cursor, struct bp_rlp_item *item) {
    return bp_rlp_read_next(cursor, BP_RLP_STRICT, item);
}

int bp_rlp_next(struct bp_rlp_cursor *cursor, struct bp_rlp_item *item) {
    return next_item(cursor, item);
}

static int list_at(const uint8_t *data, uint64_t start, uint64_t end, struct bp_rlp_item *list,
                   int field, struct bp_rlp_fault *fault) {
    int status = bp_rlp_read(data, start, end, BP_RLP_STRICT, list);
    if (status < 0) {
        return bp_rlp_failed(fault, status, start, field);
    }
    return list->is_list ? BP_OK : bp_rlp_failed(fault, BP_NOT_A_LIST, start, field);
}

/* Walks to the end of a list, so that its items fill it exactly, and counts them. */
static int64_t count_rest(struct bp_rlp_cursor *cursor, int field, struct bp_rlp_fault *fault) {
    struct bp_rlp_item item;
    int64_t count = 0;
    int status;
    while ((status = next_item(cursor, &item)) == 1) {
        count++;
    }
    return status < 0 ? bp_rlp_failed(fault, status, cursor->position, field) : count;
}

int64_t bp_rlp_count(const uint8_t *data, uint64_t start, uint64_t end,
                     struct bp_rlp_fault *fault) {
    struct bp_rlp_item list;
    int status = list_at(data, start, end, &list, BP_RLP_ITEM, fault);
    if (status < 0) {
        return status;
    }
    struct bp_rlp_cursor cursor = bp_rlp_inside(data, &list);
    return count_rest(&cursor, BP_RLP_ITEM, fault);
}

int64_t bp_rlp_announced(const uint8_t *data, uint64_t size, uint64_t limit, uint64_t *needed) {
    *needed = 1;
    if (size == 0) {
        return 0;
    }
    if (data[0] < BP_RLP_LIST_BASE) {
        return BP_NOT_A_LIST;
    }
    uint64_t prefix = 1;
    uint64_t payload = data[0] - BP_RLP_LIST_BASE;
    if (payload > BP_RLP_SHORT_SIZE_MAX) {
        prefix += payload - BP_RLP_SHORT_SIZE_MAX;
        if (size < prefix) {
            *needed = prefix - size;
            return 0;
        }
        if (bp_rlp_read_length(data + 1, prefix - 1, BP_RLP_STRICT, &payload) < 0) {
            return BP_NONCANONICAL;
        }
    }
    if (prefix > limit || payload > limit - prefix) {
        return BP_TOO_LARGE;
    }
    *needed = 0;
    return (int64_t)(prefix + payload);
}

/* Field `index` of a header: the three that the store needs are taken, others may be anything. */
static int header_field(const uint8_t *data, int index, const struct bp_rlp_item *item,
                        struct bp_rlp_header *header, struct bp_rlp_fault *fault) {
    int status = BP_OK;
    int field = BP_RLP_HEADER_FIELD;
    if (index == 0) {
        field = BP_RLP_PARENT_HASH;
        header->parent_hash = item->payload;
        status = bp_rlp_check_width(item, 32);
    } else if (index == 8) {
        field = BP_RLP_NUMBER;
        status = bp_rlp_u64(data, item, &header->number);
    } else if (index == 11) {
        field = BP_RLP_TIMESTAMP;
        status = bp_rlp_u64(data, item, &header->timestamp);
    }
    return status < 0 ? bp_rlp_failed(fault, status, item->start, field) : BP_OK;
}

static int header_in(const uint8_t *data, const struct bp_rlp_item *list,
                     struct bp_rlp_header *header, struct bp_rlp_fault *fault) {
    struct bp_rlp_cursor cursor = bp_rlp_inside(data, list);
    header->start = list->start;
    header->end = list->end;
    for (int index = 0; index < BP_RLP_HEADER_ITEMS_MIN; index++) {
        struct bp_rlp_item item;
        int status = bp_rlp_demand(&cursor, BP_RLP_STRICT, &item, BP_RLP_HEADER_FIELD, fault);
        if (status == BP_OK) {
            status = header_field(data, index, &item, header, fault);
        }
        if (status < 0) {
            return status;
        }
    }
    int64_t rest = count_rest(&cursor, BP_RLP_HEADER_FIELD, fault);
    return rest < 0 ? (int)rest : BP_OK;
}

int bp_rlp_header_at(const uint8_t *data, uint64_t start, uint64_t end,
                     struct bp_rlp_header *header, struct bp_rlp_fault *fault) {
    struct bp_rlp_item list;
    int status = list_at(data, start, end, &list, BP_RLP_HEADER, fault);
    return status < 0 ? status : header_in(data, &list, header, fault);
}

/* v of a legacy transaction is item 6 of nine: 27 or 28, or from EIP-155 on 35 + 2 id + parity. */
static int legacy_chain_id(const uint8_t *data, const struct bp_rlp_item *transaction,
                           uint64_t *chain_id, struct bp_rlp_fault *fault) {
    struct bp_rlp_cursor cursor = bp_rlp_inside(data, transaction);
    struct bp_rlp_item item, v = {0, 0, 0, 1};
    int status = 1;
    int count = 0;
    while (count < 10 && (status = next_item(&cursor, &item)) == 1) {
        if (count++ == 6) {
            v = item;
        }
    }
    if (status < 0) {
        return bp_rlp_failed(fault, status, cursor.position, BP_RLP_TRANSACTION_FIELD);
    }
    uint64_t value;
    if (count != 9 || bp_rlp_u64(data, &v, &value) < 0 || value < 35) {
        return 0;
    }
    *chain_id = (value - 35) / 2;
    return *chain_id <= CHAIN_ID_MAX;
}

/* The type byte of a typed transaction (EIP-2718), 0 when the string is empty. */
static unsigned typed_kind(const uint8_t *data, const struct bp_rlp_item *transaction) {
    return transaction->payload < transaction->end ? data[transaction->payload] : 0;
}

static int typed_chain_id(const uint8_t *data, const struct bp_rlp_item *transaction,
                          uint64_t *chain_id, struct bp_rlp_fault *fault) {
    unsigned kind = typed_kind(data, transaction);
    if (kind < 1 || kind > 4) {
        return 0;
    }
    struct bp_rlp_cursor cursor = {data, transaction->payload + 1, transaction->end};
    struct bp_rlp_item fields, item = {0, 0, 0, 1};
    int status = bp_rlp_demand_list(&cursor, BP_RLP_STRICT, &fields, BP_RLP_TRANSACTION_FIELD,
                                    fault);
    if (status == BP_OK) {
        cursor = bp_rlp_inside(data, &fields);
        status = bp_rlp_demand(&cursor, BP_RLP_STRICT, &item, BP_RLP_TRANSACTION_FIELD, fault);
    }
    if (status < 0) {
        return status;
    }
    return bp_rlp_u64(data, &item, chain_id) == BP_OK && *chain_id <= CHAIN_ID_MAX;
}

/* 1 and the chain id, 0 when the transaction carries none that we know. */
static int transaction_chain_id(const uint8_t *data, const struct bp_rlp_item *transaction,
                                uint64_t *chain_id, struct bp_rlp_fault *fault) {
    return transaction->is_list ? legacy_chain_id(data, transaction, chain_id, fault)
                                : typed_chain_id(data, transaction, chain_id, fault);
}

static int transactions_in(const uint8_t *data, const struct bp_rlp_item *list,
                           struct bp_rlp_block *block, struct bp_rlp_fault *fault) {
    struct bp_rlp_cursor cursor = bp_rlp_inside(data, list);
    struct bp_rlp_item item;
    int status;
    while ((status = next_item(&cursor, &item)) == 1) {
        if (block->has_chain_id) {
            continue;
        }
        block->has_chain_id = transaction_chain_id(data, &item, &block->chain_id, fault);
        if (block->has_chain_id < 0) {
            return block->has_chain_id;
        }
    }
    return status < 0 ? bp_rlp_failed(fault, status, cursor.position, BP_RLP_TRANSACTION) : BP_OK;
}

/* What follows the header in the outer list: two lists, then anything. */
static int body_in(struct bp_rlp_cursor *outer, struct bp_rlp_block *block,
                   struct bp_rlp_fault *fault) {
    struct bp_rlp_item list;
    int status = bp_rlp_demand_list(outer, BP_RLP_STRICT, &list, BP_RLP_TRANSACTIONS, fault);
    if (status == BP_OK) {
        status = transactions_in(outer->data, &list, block, fault);
    }
    if (status == BP_OK) {
        status = bp_rlp_demand_list(outer, BP_RLP_STRICT, &list, BP_RLP_UNCLES, fault);
    }
    if (status < 0) {
        return status;
    }
    struct bp_rlp_cursor uncles = bp_rlp_inside(outer->data, &list);
    int64_t count = count_rest(&uncles, BP_RLP_UNCLE, fault);
    if (count >= 0) {
        count = count_rest(outer, BP_RLP_EXTRA, fault);
    }
    return count < 0 ? (int)count : BP_OK;
}

int bp_rlp_block_at(const uint8_t *data, uint64_t start, uint64_t end,
                    struct bp_rlp_block *block, struct bp_rlp_fault *fault) {
    struct bp_rlp_item list, header;
    int status = list_at(data, start, end, &list, BP_RLP_BLOCK, fault);
    if (status < 0) {
        return status;
    }
    struct bp_rlp_cursor outer = bp_rlp_inside(data, &list);
    block->end = list.end;
    block->has_chain_id = 0;
    status = bp_rlp_demand_list(&outer, BP_RLP_STRICT, &header, BP_RLP_HEADER, fault);
    if (status == BP_OK) {
        status = header_in(data, &header, &block->header, fault);
    }
    return status < 0 ? status : body_in(&outer, block, fault);
}

int bp_rlp_prefix(uint64_t payload_size, unsigned base, uint8_t prefix[BP_RLP_PREFIX_SIZE_MAX]) {
    if (payload_size <= BP_RLP_SHORT_SIZE_MAX) {
        prefix[0] = (uint8_t)(base + payload_size);
        return 1;
    }
    int width = 1;
    while (width < 8 && payload_size >> (8 * width) != 0) {
        width++;
    }
    prefix[0] = (uint8_t)(base + BP_RLP_SHORT_SIZE_MAX + (unsigned)width);
    for (int i = 0; i < width; i++) {
        prefix[1 + i] = (uint8_t)(payload_size >> (8 * (width - 1 - i)));
    }
    return 1 + width;
}

int bp_rlp_list_prefix(uint64_t payload_size, uint8_t prefix[BP_RLP_PREFIX_SIZE_MAX]) {
    return bp_rlp_prefix(payload_size, BP_RLP_LIST_BASE, prefix);
}
