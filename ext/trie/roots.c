/* See roots.h. */
#include "trie/roots.h"

#include <string.h>

#include "rlp/receipt.h"
#include "status.h"
#include "trie/ordered.h"

#define RECEIPT_GROWTH_MAX 270      /* bp_receipt_value_size */

static const int FIELD_POSITIONS[BP_ROOTS - 1] = {1, 4, 16, 5, 6};
#define POSITION_MAX 16

/* The items of a list in the order in which bp_ordered_root asks: front to back, but the first
 * one is kept for later. */
struct items {
    struct bp_rlp_cursor rest;
    struct bp_rlp_item first;
    struct bp_rlp_fault *fault;
    int field;
};

static struct items items_of(const uint8_t *data, const struct bp_rlp_item *list, int field,
                             struct bp_rlp_fault *fault) {
    struct items items = {bp_rlp_inside(data, list), {0, 0, 0, 0}, fault, field};
    bp_rlp_read_next(&items.rest, BP_RLP_STRICT, &items.first);
    return items;
}

static int item_number(struct items *items, uint64_t index, struct bp_rlp_item *item) {
    if (index == 0) {
        *item = items->first;
        return BP_OK;
    }
    return bp_rlp_demand(&items->rest, BP_RLP_STRICT, item, items->field, items->fault);
}

/* bp_trie_source over items: lists as they stand, strings (typed transactions) unwrapped. */
static int item_value(void *context, uint64_t index, const uint8_t **value, uint64_t *size) {
    struct items *items = context;
    struct bp_rlp_item item;
    int status = item_number(items, index, &item);
    if (status == BP_OK) {
        uint64_t start = item.is_list ? item.start : item.payload;
        *value = items->rest.data + start;
        *size = item.end - start;
    }
    return status;
}

static int list_root(const uint8_t *data, const struct bp_rlp_item *list, uint64_t count,
                     int field, uint8_t root[BP_KECCAK256_SIZE], struct bp_rlp_fault *fault) {
    struct items items = items_of(data, list, field, fault);
    return bp_ordered_root(item_value, &items, count, root);
}

/* Receipts beside the transactions, which know the types that the storage form lacks. */
struct receipts {
    struct items items;
    struct items transactions;
    struct bp_rlp_fault *fault;
    uint8_t *scratch;
    uint8_t bloom[BP_BLOOM_BYTES];
    int form;
};

static int transaction_type(const struct items *transactions, const struct bp_rlp_item *item) {
    return item->is_list || item->payload == item->end
               ? 0 : transactions->rest.data[item->payload];
}

/* bp_trie_source over receipts of any form. */
static int receipt_value(void *context, uint64_t index, const uint8_t **value, uint64_t *size) {
    struct receipts *all = context;
    struct bp_rlp_item item, transaction;
    struct bp_receipt receipt;
    int status = item_number(&all->items, index, &item);
    if (status == BP_OK) {
        status = item_number(&all->transactions, index, &transaction);
    }
    if (status < 0) {
        return status;
    }
    struct bp_rlp_cursor alone = {all->items.rest.data, item.start, item.end};
    status = bp_receipts_next(&alone, all->form, BP_RLP_STRICT, &receipt, all->fault);
    if (status < 0) {
        return status;
    }
    int type = receipt.type >= 0 ? receipt.type
             : transaction_type(&all->transactions, &transaction);
    *value = all->scratch;
    return bp_receipt_value(all->items.rest.data, &receipt, type, all->scratch, size, all->bloom,
                            all->fault);
}

uint64_t bp_roots_scratch(const struct bp_block_records *records) {
    return records->receipts == NULL ? 0 : records->receipts_size + RECEIPT_GROWTH_MAX;
}

/* Where the compared fields are. A field that a header lacks has width 0. */
static int header_fields(const struct bp_block_records *records, struct bp_roots *roots,
                         struct bp_rlp_fault *fault) {
    struct bp_rlp_item list, item;
    int status = bp_rlp_read(records->header, 0, records->header_size, BP_RLP_STRICT, &list);
    if (status < 0 || !list.is_list) {
        return bp_rlp_failed(fault, status < 0 ? status : BP_NOT_A_LIST, 0, BP_RLP_HEADER);
    }
    struct bp_rlp_cursor cursor = bp_rlp_inside(records->header, &list);
    for (int position = 0; position <= POSITION_MAX; position++) {
        status = bp_rlp_read_next(&cursor, BP_RLP_STRICT, &item);
        if (status < 0) {
            return bp_rlp_failed(fault, status, cursor.position, BP_RLP_HEADER_FIELD);
        }
        if (status == 0) {
            return BP_OK;
        }
        for (int root = 0; root < BP_ROOTS - 1; root++) {
            if (FIELD_POSITIONS[root] == position) {
                roots->fields[root] = item.payload;
                roots->widths[root] = item.end - item.payload;
            }
        }
    }
    return BP_OK;
}

static void compare(const struct bp_block_records *records, int root, const uint8_t *found,
                    uint64_t width, struct bp_roots *roots) {
    if (roots->widths[root] != width
            || memcmp(records->header + roots->fields[root], found, (size_t)width) != 0) {
        roots->wrong |= 1u << root;
    }
}

/* The body's first `count` lists; of fewer than `needed` it is a fault. Returns how many. */
static int body_lists(const struct bp_block_records *records, struct bp_rlp_item *lists, int count,
                      int needed, struct bp_rlp_fault *fault) {
    static const int fields[3] = {BP_RLP_TRANSACTIONS, BP_RLP_UNCLES, BP_RLP_EXTRA};
    struct bp_rlp_cursor cursor = {records->body, 0, records->body_size};
    for (int i = 0; i < count; i++) {
        int status = bp_rlp_read_next(&cursor, BP_RLP_STRICT, &lists[i]);
        if (status < 0 || (status == 0 && i < needed)) {
            return bp_rlp_failed(fault, status < 0 ? status : BP_TOO_FEW_ITEMS, cursor.position,
                                 fields[i]);
        }
        if (status == 0) {
            return i;
        }
        if (!lists[i].is_list) {
            return bp_rlp_failed(fault, BP_NOT_A_LIST, lists[i].start, fields[i]);
        }
    }
    return count;
}

static int64_t count_of(const uint8_t *data, const struct bp_rlp_item *list, int field,
                        struct bp_rlp_fault *fault) {
    int64_t count = bp_rlp_count(data, list->start, list->end, fault);
    if (count < 0) {
        fault->field = field;
    }
    return count;
}

static int starts_with_deposit(const uint8_t *data, const struct bp_rlp_item *transactions) {
    struct bp_rlp_cursor cursor = bp_rlp_inside(data, transactions);
    struct bp_rlp_item item;
    return bp_rlp_read_next(&cursor, BP_RLP_STRICT, &item) == 1 && !item.is_list
        && item.payload < item.end && data[item.payload] == BP_RECEIPT_DEPOSIT;
}

static int check_withdrawals(const struct bp_block_records *records,
                             const struct bp_rlp_item *lists, int list_count,
                             struct bp_roots *roots, struct bp_rlp_fault *fault) {
    static const struct bp_rlp_item nothing = {0, 0, 0, 1};
    if (roots->widths[BP_ROOT_WITHDRAWALS] == 0) {
        return BP_OK;
    }
    int64_t count = list_count < 3 ? 0 : count_of(records->body, &lists[2], BP_RLP_EXTRA, fault);
    if (count < 0) {
        return (int)count;
    }
    if (count == 0 && starts_with_deposit(records->body, &lists[0])) {
        return BP_OK;
    }
    uint8_t *found = roots->found[BP_ROOT_WITHDRAWALS];
    int status = list_root(records->body, list_count < 3 ? &nothing : &lists[2], (uint64_t)count,
                           BP_RLP_EXTRA, found, fault);
    if (status == BP_OK) {
        compare(records, BP_ROOT_WITHDRAWALS, found, BP_KECCAK256_SIZE, roots);
    }
    return status;
}

/* Leaves the transactions in *transactions. */
static int check_body(const struct bp_block_records *records, struct bp_rlp_item *transactions,
                      struct bp_roots *roots, struct bp_rlp_fault *fault) {
    struct bp_rlp_item lists[3];
    int list_count = body_lists(records, lists, 3, 2, fault);
    if (list_count < 0) {
        return list_count;
    }
    int64_t count = count_of(records->body, &lists[0], BP_RLP_TRANSACTION, fault);
    if (count < 0) {
        return (int)count;
    }
    *transactions = lists[0];
    roots->transactions = (uint64_t)count;
    uint8_t *found = roots->found[BP_ROOT_TRANSACTIONS];
    int status = list_root(records->body, &lists[0], (uint64_t)count, BP_RLP_TRANSACTION, found,
                           fault);
    if (status < 0) {
        return status;
    }
    compare(records, BP_ROOT_TRANSACTIONS, found, BP_KECCAK256_SIZE, roots);
    found = roots->found[BP_ROOT_UNCLES];
    bp_keccak256(records->body + lists[1].start, lists[1].end - lists[1].start, found);
    compare(records, BP_ROOT_UNCLES, found, BP_KECCAK256_SIZE, roots);
    return check_withdrawals(records, lists, list_count, roots, fault);
}

static int check_receipts(const struct bp_block_records *records,
                          const struct bp_rlp_item *transactions, uint8_t *scratch,
                          struct bp_roots *roots, struct bp_rlp_fault *fault) {
    const uint8_t *data = records->receipts;
    struct bp_rlp_cursor cursor;
    struct receipts all = {.fault = fault, .scratch = scratch};
    int status = bp_receipts_open_record(data, records->receipts_size, &all.form, &cursor, fault);
    if (status < 0) {
        return status;
    }
    struct bp_rlp_item list = {1, cursor.position, cursor.end, 1};
    int64_t count = count_of(data, &list, BP_RECEIPT, fault);
    if (count < 0) {
        return (int)count;
    }
    roots->receipts = (uint64_t)count;
    if (roots->receipts != roots->transactions) {
        roots->wrong |= 1u << BP_ROOT_COUNT;
        return BP_OK;
    }
    all.items = items_of(data, &list, BP_RECEIPT, fault);
    all.transactions = items_of(records->body, transactions, BP_RLP_TRANSACTION, fault);
    status = bp_ordered_root(receipt_value, &all, roots->receipts, roots->found[BP_ROOT_RECEIPTS]);
    if (status < 0) {
        return status;
    }
    compare(records, BP_ROOT_RECEIPTS, roots->found[BP_ROOT_RECEIPTS], BP_KECCAK256_SIZE, roots);
    compare(records, BP_ROOT_BLOOM, all.bloom, BP_BLOOM_BYTES, roots);
    return BP_OK;
}

int bp_roots_check(const struct bp_block_records *records, uint8_t *scratch,
                   struct bp_roots *roots, struct bp_rlp_fault *fault) {
    struct bp_rlp_item transactions = {0, 0, 0, 1};
    memset(roots, 0, sizeof *roots);
    int status = header_fields(records, roots, fault);
    if (status < 0) {
        return status;
    }
    roots->part = BP_PART_BODY;
    status = check_body(records, &transactions, roots, fault);
    if (status < 0 || records->receipts == NULL) {
        return status;
    }
    roots->part = BP_PART_RECEIPTS;
    return check_receipts(records, &transactions, scratch, roots, fault);
}
