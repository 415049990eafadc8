/* Which fields are wanted, and where they are found; see columns.h. */
#include <string.h>

#include "columns/columns.h"
#include "status.h"

#define BIT(source) (1u << (source))

static int is_between(int field, int first, int count) {
    return field >= first && field < first + count;
}

int bp_field_source(int field) {
    if (field == BP_FIELD_HEADER || is_between(field, BP_FIELD_HEADER_ITEM, BP_HEADER_NAMED)) {
        return BP_HEADERS;
    }
    if (field == BP_FIELD_DIFFICULTY) {
        return BP_DIFFICULTIES;
    }
    return field >= BP_FIELD_RECEIPT_INDEX ? BP_RECEIPT_LISTS : BP_BODIES;
}

/* The records that a field is made of. */
static unsigned sources_of(int field) {
    if (field <= BP_FIELD_CONSTANT) {
        return 0;
    }
    return BIT(bp_field_source(field)) | (field == BP_FIELD_SIZE ? BIT(BP_HEADERS) : 0);
}

/* The records without which there are no rows. */
static unsigned rows_source(int rows) {
    return rows == BP_ROWS_BLOCKS ? 0
         : rows == BP_ROWS_TRANSACTIONS || rows == BP_ROWS_WITHDRAWALS ? BIT(BP_BODIES)
         : BIT(BP_RECEIPT_LISTS);
}

/* Whether such rows have a field: those of the block all have, other ones only theirs. */
static int is_allowed(int rows, int field) {
    if (field < 0 || field >= BP_FIELDS) {
        return 0;
    }
    if (field <= BP_FIELD_DIFFICULTY) {
        return 1;
    }
    if (field < BP_FIELD_TX) {
        return rows == BP_ROWS_BLOCKS;
    }
    if (field < BP_FIELD_WITHDRAWAL_ITEM) {
        return rows == BP_ROWS_TRANSACTIONS || rows >= BP_ROWS_RECEIPTS;
    }
    if (field < BP_FIELD_RECEIPT_INDEX) {
        return rows == BP_ROWS_WITHDRAWALS;
    }
    if (field == BP_FIELD_RECEIPT_INDEX) {
        return rows == BP_ROWS_TRANSACTIONS || rows >= BP_ROWS_RECEIPTS;
    }
    return field < BP_FIELD_LOG_ADDRESS
               ? rows == BP_ROWS_TRANSACTIONS || rows == BP_ROWS_RECEIPTS
               : rows == BP_ROWS_LOGS;
}

static void place(struct bp_wants *wants, int slot, int field) {
    wants->fields[slot] = (uint8_t)field;
    wants->slots[field] = (int8_t)slot;
    wants->sources |= sources_of(field);
    if (field >= BP_FIELD_HEADER && field <= BP_FIELD_DIFFICULTY) {
        wants->header_slots[wants->header_slots_count++] = (uint8_t)slot;
    }
    if (is_between(field, BP_FIELD_HEADER_ITEM, BP_HEADER_NAMED)) {
        int items = field - BP_FIELD_HEADER_ITEM + 1;
        wants->header_items = items > wants->header_items ? items : wants->header_items;
    }
    if (is_between(field, BP_FIELD_TX_ITEM, BP_TX_FIELDS)) {
        wants->tx_slots[wants->tx_slots_count++] = (uint8_t)slot;
    }
}

int bp_wants_make(int rows, const uint8_t *fields, int count, struct bp_wants *wants) {
    memset(wants, 0, sizeof *wants);
    memset(wants->slots, -1, sizeof wants->slots);
    if (count < 0 || count > BP_SLOTS_MAX || rows < BP_ROWS_BLOCKS || rows > BP_ROWS_LOGS) {
        return BP_OUT_OF_RANGE;
    }
    wants->rows = rows;
    wants->count = count;
    wants->sources = rows_source(rows);
    for (int slot = 0; slot < count; slot++) {
        if (!is_allowed(rows, fields[slot]) || wants->slots[fields[slot]] >= 0) {
            return BP_OUT_OF_RANGE;
        }
        place(wants, slot, fields[slot]);
    }
    return BP_OK;
}
