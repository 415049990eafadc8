/* Rows of blocks, transactions and withdrawals; see columns.h. Input is read through rlp/item.h and
 * bp_tx_at alone; the rest moves offsets that they have checked. */
#include <string.h>

#include "columns/cells.h"
#include "columns/zeros.h"
#include "group/group.h"
#include "status.h"

#define BODY_LISTS 3            /* transactions, uncles, withdrawals */

/* The record of the open block: BP_OK, or what the caller must say. */
static int find_record(struct bp_walk *walk, int source) {
    const struct bp_records *records = &walk->window.records[source];
    uint32_t i = records->low + walk->block;
    uint32_t end = records->ends[i];
    uint64_t start = records->starts ? records->starts[i]
                   : i == 0 ? records->start : records->ends[i - 1] & ~BP_GROUP_ABSENT;
    if (end & BP_GROUP_ABSENT) {
        return bp_walk_failed(walk, source, BP_MISSING_RECORD, 0, BP_RLP_ITEM);
    }
    walk->records[source] = (struct bp_span){start, end};
    return end <= records->size ? BP_OK
         : bp_walk_failed(walk, source, BP_TRUNCATED, start, BP_RLP_ITEM);
}

/* The items of the header up to the last one that is wanted. */
static int open_header(struct bp_walk *walk) {
    const uint8_t *data = walk->window.records[BP_HEADERS].data;
    struct bp_span record = walk->records[BP_HEADERS];
    struct bp_rlp_item item;
    int status = bp_rlp_read(data, record.start, record.end, BP_RLP_LENIENT, &item);
    status = status < 0 ? status : !item.is_list ? BP_NOT_A_LIST
           : item.end != record.end ? BP_TRAILING : BP_OK;
    if (status < 0) {
        return bp_walk_failed(walk, BP_HEADERS, status, record.start, BP_RLP_HEADER);
    }
    struct bp_rlp_cursor cursor = bp_rlp_inside(data, &item);
    for (int i = 0; i < walk->wants->header_items; i++) {
        uint64_t at = cursor.position;
        status = bp_rlp_read_next(&cursor, BP_RLP_LENIENT, &item);
        if (status == 0 && i >= BP_RLP_HEADER_ITEMS_MIN) {
            walk->header[i] = bp_cell_number(BP_ABSENT);
            continue;
        }
        status = status == 0 ? BP_TOO_FEW_ITEMS : status == 1 && item.is_list ? BP_NOT_A_STRING
               : status;
        if (status < 0) {
            return bp_walk_failed(walk, BP_HEADERS, status, at, BP_RLP_HEADER_FIELD);
        }
        walk->header[i] = bp_cell_item(&item);
    }
    return BP_OK;
}

/* List `position` of the body: 1 and its item, or 0 where the body ends before it. */
static int body_list(struct bp_walk *walk, int position, struct bp_rlp_item *item) {
    static const int names[BODY_LISTS] = {BP_RLP_TRANSACTIONS, BP_RLP_UNCLES, BP_RLP_EXTRA};
    struct bp_span record = walk->records[BP_BODIES];
    struct bp_rlp_cursor cursor = {walk->window.records[BP_BODIES].data, record.start, record.end};
    uint64_t at = record.start;
    int status = 1;
    for (int i = 0; i <= position && status == 1; i++) {
        at = cursor.position;
        status = bp_rlp_read_next(&cursor, BP_RLP_LENIENT, item);
    }
    if (status == 0 && position == BODY_LISTS - 1) {
        return 0;
    }
    status = status == 0 ? BP_TOO_FEW_ITEMS : status == 1 && !item->is_list ? BP_NOT_A_LIST
           : status;
    return status == 1 ? 1 : bp_walk_failed(walk, BP_BODIES, status, at, names[position]);
}

static int open_items(struct bp_walk *walk, int position) {
    const uint8_t *data = walk->window.records[BP_BODIES].data;
    struct bp_rlp_item item;
    int status = body_list(walk, position, &item);
    walk->items = status == 1 ? bp_rlp_inside(data, &item)
                              : (struct bp_rlp_cursor){data, 0, 0};
    return status < 0 ? status : BP_OK;
}

/* How many items a list of the body has; absent without that list. */
static int count_list(struct bp_walk *walk, int position, union bp_cell *count) {
    struct bp_rlp_item item;
    int status = body_list(walk, position, &item);
    *count = bp_cell_number(status == 1 ? 0 : BP_ABSENT);
    if (status <= 0) {
        return status;
    }
    struct bp_rlp_cursor cursor = bp_rlp_inside(walk->window.records[BP_BODIES].data, &item);
    while ((status = bp_rlp_read_next(&cursor, BP_RLP_LENIENT, &item)) == 1) {
        count->number++;
    }
    return status < 0 ? bp_walk_failed(walk, BP_BODIES, status, cursor.position, BP_RLP_ITEM)
                      : BP_OK;
}

static int count_lists(struct bp_walk *walk) {
    int status = BP_OK;
    for (int i = 0; i < BODY_LISTS && status == BP_OK; i++) {
        if (bp_wants_field(walk, BP_FIELD_TX_COUNT + i)) {
            status = count_list(walk, i, &walk->counts[i]);
        }
    }
    return status;
}

static int open_block(struct bp_walk *walk) {
    int status = BP_OK;
    for (int source = 0; source < BP_SOURCES && status == BP_OK; source++) {
        if (bp_wants_source(walk, source)) {
            status = find_record(walk, source);
        }
    }
    if (status == BP_OK && bp_wants_source(walk, BP_HEADERS)) {
        status = open_header(walk);
    }
    if (status == BP_OK && bp_wants_source(walk, BP_BODIES)) {
        status = walk->wants->rows == BP_ROWS_BLOCKS ? count_lists(walk)
               : open_items(walk, walk->wants->rows == BP_ROWS_WITHDRAWALS ? 2 : 0);
    }
    if (status == BP_OK && bp_wants_source(walk, BP_RECEIPT_LISTS)) {
        status = bp_walk_open_receipts(walk);
    }
    walk->row = 0;
    walk->is_open = status == BP_OK;
    return status;
}

static void put_header(struct bp_walk *walk, struct bp_chunk *chunk) {
    const struct bp_wants *wants = walk->wants;
    for (int i = 0; i < wants->header_slots_count; i++) {
        int slot = wants->header_slots[i];
        int item = wants->fields[slot] - BP_FIELD_HEADER_ITEM;
        const struct bp_span *record = item < 0 ? &walk->records[BP_HEADERS]
                                                : &walk->records[BP_DIFFICULTIES];
        chunk->cells[slot][chunk->rows] = item >= 0 && item < BP_HEADER_NAMED
            ? walk->header[item] : bp_cell_span(record->start, record->end);
    }
}

void bp_walk_row_done(struct bp_walk *walk, struct bp_chunk *chunk) {
    put_header(walk, chunk);
    bp_put_number(walk, chunk, BP_FIELD_BLOCK, walk->window.first + walk->block);
    bp_put_number(walk, chunk, BP_FIELD_ROW, walk->row++);
    bp_put_number(walk, chunk, BP_FIELD_CONSTANT, walk->wants->constant);
    chunk->blocks[chunk->rows++] = walk->block;
}

static int block_row(struct bp_walk *walk, struct bp_chunk *chunk) {
    if (bp_wants_field(walk, BP_FIELD_SIZE)) {
        uint8_t prefix[BP_RLP_PREFIX_SIZE_MAX];
        uint64_t size = walk->records[BP_HEADERS].end - walk->records[BP_HEADERS].start
                      + walk->records[BP_BODIES].end - walk->records[BP_BODIES].start;
        size += (uint64_t)bp_rlp_list_prefix(size, prefix);
        bp_put_number(walk, chunk, BP_FIELD_SIZE, size);
    }
    for (int i = 0; i < BODY_LISTS; i++) {
        bp_put(walk, chunk, BP_FIELD_TX_COUNT + i, walk->counts[i]);
    }
    bp_walk_row_done(walk, chunk);
    return 0;
}

int bp_walk_next_tx(struct bp_walk *walk) {
    struct bp_rlp_cursor *items = &walk->items;
    if (items->position == items->end) {
        return 0;
    }
    walk->source = BP_BODIES;
    int status = bp_tx_at(items->data, items->position, items->end, BP_RLP_LENIENT, &walk->tx,
                          &walk->fault);
    if (status < 0) {
        return status;
    }
    items->position = walk->tx.end;
    return 1;
}

/* The cell of a field, which has to be a list where its name says so and a string elsewhere. */
static int tx_cell(struct bp_walk *walk, int field, union bp_cell *cell) {
    const struct bp_rlp_item *item = bp_tx_get(&walk->tx, field);
    int is_list = field == BP_TX_ACCESS_LIST || field == BP_TX_BLOB_HASHES
               || field == BP_TX_AUTHORIZATION_LIST;
    *cell = bp_cell_number(BP_ABSENT);
    if (item == NULL) {
        return BP_OK;
    }
    if (item->is_list != is_list) {
        return bp_walk_failed(walk, BP_BODIES, is_list ? BP_NOT_A_LIST : BP_NOT_A_STRING,
                              item->start, BP_TX_FAULT + field);
    }
    *cell = bp_cell_item(item);
    return BP_OK;
}

/* Fields that are made of others. */
static int put_tx_derived(struct bp_walk *walk, struct bp_chunk *chunk) {
    const struct bp_tx *tx = &walk->tx;
    union bp_cell cell;
    int status = BP_OK;
    bp_put(walk, chunk, BP_FIELD_TX, bp_cell_span(tx->payload, tx->end));
    bp_put_number(walk, chunk, BP_FIELD_TX_TYPE, tx->type);
    if (bp_wants_field(walk, BP_FIELD_TX_BOUND)) {
        status = tx_cell(walk, tx->type == 0 ? BP_TX_V : BP_TX_CHAIN_ID, &cell);
        bp_put(walk, chunk, BP_FIELD_TX_BOUND, cell);
    }
    if (status == BP_OK && bp_wants_field(walk, BP_FIELD_TX_ZEROS)) {
        status = tx_cell(walk, BP_TX_INPUT, &cell);
        bp_put_number(walk, chunk, BP_FIELD_TX_ZEROS, bp_cell_absent(cell) ? BP_ABSENT
                      : bp_count_zeros(walk->items.data + cell.span.start, cell.span.size));
    }
    return status;
}

int bp_walk_put_tx(struct bp_walk *walk, struct bp_chunk *chunk) {
    const struct bp_wants *wants = walk->wants;
    for (int i = 0; i < wants->tx_slots_count; i++) {
        int slot = wants->tx_slots[i];
        int status = tx_cell(walk, wants->fields[slot] - BP_FIELD_TX_ITEM,
                             &chunk->cells[slot][chunk->rows]);
        if (status < 0) {
            return status;
        }
    }
    return put_tx_derived(walk, chunk);
}

static int transaction_rows(struct bp_walk *walk, struct bp_chunk *chunk) {
    int has_receipts = bp_wants_source(walk, BP_RECEIPT_LISTS);
    while (chunk->rows < BP_CHUNK_ROWS) {
        int status = bp_walk_next_tx(walk);
        int receipts = status >= 0 && has_receipts ? bp_walk_next_receipt(walk) : status;
        if (receipts < 0) {
            return receipts;
        }
        if (receipts != status) {
            return bp_walk_failed(walk, BP_RECEIPT_LISTS, status ? BP_TOO_FEW_ITEMS : BP_TRAILING,
                                  walk->receipts.position, BP_RECEIPT);
        }
        if (status == 0) {
            return 0;
        }
        status = bp_walk_put_tx(walk, chunk);
        status = status == BP_OK && has_receipts ? bp_walk_put_receipt(walk, chunk) : status;
        if (status < 0) {
            return status;
        }
        bp_walk_row_done(walk, chunk);
    }
    return 1;
}

static int put_withdrawal(struct bp_walk *walk, struct bp_chunk *chunk,
                          const struct bp_rlp_item *list) {
    struct bp_rlp_cursor cursor = bp_rlp_inside(walk->items.data, list);
    struct bp_rlp_item item;
    walk->source = BP_BODIES;
    for (int i = 0; i < BP_WITHDRAWAL_ITEMS; i++) {
        int status = bp_rlp_demand(&cursor, BP_RLP_LENIENT, &item, BP_RLP_EXTRA, &walk->fault);
        if (status == BP_OK && item.is_list) {
            status = bp_rlp_failed(&walk->fault, BP_NOT_A_STRING, item.start, BP_RLP_EXTRA);
        }
        if (status < 0) {
            return status;
        }
        bp_put(walk, chunk, BP_FIELD_WITHDRAWAL_ITEM + i, bp_cell_item(&item));
    }
    return cursor.position == cursor.end ? BP_OK
         : bp_rlp_failed(&walk->fault, BP_TRAILING, cursor.position, BP_RLP_EXTRA);
}

static int withdrawal_rows(struct bp_walk *walk, struct bp_chunk *chunk) {
    while (chunk->rows < BP_CHUNK_ROWS) {
        struct bp_rlp_item list;
        uint64_t at = walk->items.position;
        int status = bp_rlp_read_next(&walk->items, BP_RLP_LENIENT, &list);
        if (status == 0) {
            return 0;
        }
        status = status == 1 && !list.is_list ? BP_NOT_A_LIST : status;
        status = status == 1 ? put_withdrawal(walk, chunk, &list)
               : bp_walk_failed(walk, BP_BODIES, status, at, BP_RLP_EXTRA);
        if (status < 0) {
            return status;
        }
        bp_walk_row_done(walk, chunk);
    }
    return 1;
}

static int rows_of_block(struct bp_walk *walk, struct bp_chunk *chunk) {
    switch (walk->wants->rows) {
    case BP_ROWS_BLOCKS:
        return block_row(walk, chunk);
    case BP_ROWS_TRANSACTIONS:
        return transaction_rows(walk, chunk);
    case BP_ROWS_WITHDRAWALS:
        return withdrawal_rows(walk, chunk);
    case BP_ROWS_RECEIPTS:
        return bp_walk_receipts(walk, chunk);
    default:
        return bp_walk_logs(walk, chunk);
    }
}

int bp_walk_open(const struct bp_wants *wants, const struct bp_window *window,
                 struct bp_walk *walk) {
    memset(walk, 0, sizeof *walk);
    walk->wants = wants;
    walk->window = *window;
    for (int source = 0; source < BP_SOURCES; source++) {
        if (bp_wants_source(walk, source) && window->records[source].size >= UINT32_MAX) {
            return BP_TOO_LARGE;
        }
    }
    return BP_OK;
}

int bp_walk_next(struct bp_walk *walk, struct bp_chunk *chunk) {
    chunk->rows = 0;
    while (chunk->rows < BP_CHUNK_ROWS) {
        int status = BP_OK;
        if (!walk->is_open) {
            if (walk->block == walk->window.blocks) {
                return 0;
            }
            status = open_block(walk);
        }
        status = status < 0 ? status : rows_of_block(walk, chunk);
        if (status < 0) {
            return status;
        }
        if (status == 0) {
            walk->is_open = 0;
            walk->block++;
        }
    }
    return 1;
}
