/* See transaction.h. */
#include "rlp/transaction.h"

#include "status.h"

#define HASH_SIZE 32
#define ADDRESS_SIZE 20

/* What a field must be. Integers give their width in bytes; chain id, nonce and gas limit are 64
 * bits wide in the execution specification, all other integers 256. */
enum kind { U64, U256, TO, TO_OR_NONE, DATA, ACCESS_LIST, HASHES, AUTHORIZATIONS };

struct slot {
    int8_t field;
    int8_t kind;
};

#define FEE {BP_TX_GAS_PRICE, U256}
#define FEES {BP_TX_MAX_PRIORITY_FEE_PER_GAS, U256}, {BP_TX_MAX_FEE_PER_GAS, U256}
#define CALL(to) {BP_TX_GAS_LIMIT, U64}, {BP_TX_TO, to}, {BP_TX_VALUE, U256}, {BP_TX_INPUT, DATA}
#define SIGNATURE {BP_TX_V, U256}, {BP_TX_R, U256}, {BP_TX_S, U256}
#define TYPED {BP_TX_CHAIN_ID, U64}, {BP_TX_NONCE, U64}

static const int8_t COUNTS[BP_TX_TYPES] = {9, 11, 12, 14, 13};
static const struct slot SLOTS[BP_TX_TYPES][BP_TX_ITEMS_MAX] = {
    {{BP_TX_NONCE, U64}, FEE, CALL(TO_OR_NONE), SIGNATURE},
    {TYPED, FEE, CALL(TO_OR_NONE), {BP_TX_ACCESS_LIST, ACCESS_LIST}, SIGNATURE},
    {TYPED, FEES, CALL(TO_OR_NONE), {BP_TX_ACCESS_LIST, ACCESS_LIST}, SIGNATURE},
    {TYPED, FEES, CALL(TO), {BP_TX_ACCESS_LIST, ACCESS_LIST}, {BP_TX_MAX_FEE_PER_BLOB_GAS, U256},
     {BP_TX_BLOB_HASHES, HASHES}, SIGNATURE},
    {TYPED, FEES, CALL(TO), {BP_TX_ACCESS_LIST, ACCESS_LIST},
     {BP_TX_AUTHORIZATION_LIST, AUTHORIZATIONS}, SIGNATURE}};

/* Columns in the order of enum bp_tx_field: the inverse of SLOTS. */
const int8_t bp_tx_positions[BP_TX_TYPES][BP_TX_FIELDS] = {
    {-1, 0, 1, -1, -1, 2, 3, 4, 5, -1, -1, -1, -1, 6, 7, 8},
    {0, 1, 2, -1, -1, 3, 4, 5, 6, 7, -1, -1, -1, 8, 9, 10},
    {0, 1, -1, 2, 3, 4, 5, 6, 7, 8, -1, -1, -1, 9, 10, 11},
    {0, 1, -1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1, 11, 12, 13},
    {0, 1, -1, 2, 3, 4, 5, 6, 7, 8, -1, -1, 9, 10, 11, 12}};

/* Every check below that walks a list leaves the offset of the item at fault in *at. */
static int check_hashes(const uint8_t *data, const struct bp_rlp_item *list, uint64_t *at) {
    struct bp_rlp_cursor cursor = bp_rlp_inside(data, list);
    struct bp_rlp_item item;
    int status = list->is_list ? BP_OK : BP_NOT_A_LIST;
    *at = list->start;
    while (status == BP_OK) {
        *at = cursor.position;
        status = bp_rlp_read_next(&cursor, BP_RLP_STRICT, &item);
        if (status <= 0) {
            return status;
        }
        status = bp_rlp_check_width(&item, HASH_SIZE);
    }
    return status;
}

/* The next item of an inner list that must have one. */
static int demand(struct bp_rlp_cursor *cursor, struct bp_rlp_item *item, uint64_t *at) {
    *at = cursor->position;
    int status = bp_rlp_read_next(cursor, BP_RLP_STRICT, item);
    return status == 0 ? BP_TOO_FEW_ITEMS : status < 0 ? status : BP_OK;
}

static int check_filled(const struct bp_rlp_cursor *cursor, uint64_t *at) {
    *at = cursor->position;
    return cursor->position == cursor->end ? BP_OK : BP_TRAILING;
}

/* [address, [storage key, ...]] */
static int check_access(const uint8_t *data, const struct bp_rlp_item *entry, uint64_t *at) {
    struct bp_rlp_cursor cursor = bp_rlp_inside(data, entry);
    struct bp_rlp_item item;
    int status = demand(&cursor, &item, at);
    if (status == BP_OK) {
        status = bp_rlp_check_width(&item, ADDRESS_SIZE);
    }
    if (status == BP_OK) {
        status = demand(&cursor, &item, at);
    }
    if (status == BP_OK) {
        status = check_hashes(data, &item, at);
    }
    return status < 0 ? status : check_filled(&cursor, at);
}

/* [chain id, address, nonce, parity of y, r, s]; widths as EIP-7702 has them. */
static int check_authorization(const uint8_t *data, const struct bp_rlp_item *entry,
                               uint64_t *at) {
    static const uint8_t widths[6] = {32, 0, 8, 1, 32, 32};
    struct bp_rlp_cursor cursor = bp_rlp_inside(data, entry);
    for (int i = 0; i < 6; i++) {
        struct bp_rlp_item item;
        int status = demand(&cursor, &item, at);
        if (status == BP_OK) {
            status = widths[i] ? bp_rlp_check_integer(data, &item, widths[i])
                               : bp_rlp_check_width(&item, ADDRESS_SIZE);
        }
        if (status < 0) {
            return status;
        }
    }
    return check_filled(&cursor, at);
}

static int check_entries(const uint8_t *data, const struct bp_rlp_item *list, int kind,
                         uint64_t *at) {
    struct bp_rlp_cursor cursor = bp_rlp_inside(data, list);
    struct bp_rlp_item entry;
    int status = list->is_list ? BP_OK : BP_NOT_A_LIST;
    *at = list->start;
    while (status == BP_OK) {
        *at = cursor.position;
        status = bp_rlp_read_next(&cursor, BP_RLP_STRICT, &entry);
        if (status <= 0) {
            return status;
        }
        status = !entry.is_list ? BP_NOT_A_LIST
               : kind == ACCESS_LIST ? check_access(data, &entry, at)
               : check_authorization(data, &entry, at);
    }
    return status;
}

static int check_field(const uint8_t *data, const struct bp_rlp_item *item, struct slot slot,
                       struct bp_rlp_fault *fault) {
    uint64_t at = item->start;
    int status = BP_OK;
    switch (slot.kind) {
    case U64:
        status = bp_rlp_check_integer(data, item, 8);
        break;
    case U256:
        status = bp_rlp_check_integer(data, item, 32);
        break;
    case TO_OR_NONE:
        status = !item->is_list && item->end == item->payload ? BP_OK
               : bp_rlp_check_width(item, ADDRESS_SIZE);
        break;
    case TO:
        status = bp_rlp_check_width(item, ADDRESS_SIZE);
        break;
    case DATA:
        status = item->is_list ? BP_NOT_A_STRING : BP_OK;
        break;
    case HASHES:
        status = check_hashes(data, item, &at);
        break;
    default:
        status = check_entries(data, item, slot.kind, &at);
    }
    return status < 0 ? bp_rlp_failed(fault, status, at, BP_TX_FAULT + slot.field) : BP_OK;
}

/* Finds the fields in a list; a wrong number of them makes the transaction unknown if lenient, and
 * fails if strict. */
static int fields_in(const uint8_t *data, const struct bp_rlp_item *list, int mode,
                     struct bp_tx *tx, struct bp_rlp_fault *fault) {
    const struct slot *slots = SLOTS[tx->type];
    int count = COUNTS[tx->type];
    struct bp_rlp_cursor cursor = bp_rlp_inside(data, list);
    for (int i = 0; i < count; i++) {
        if (mode == BP_RLP_LENIENT && cursor.position == cursor.end) {
            return BP_OK;
        }
        int status = bp_rlp_demand(&cursor, mode, &tx->fields[i], BP_TX_FAULT + slots[i].field,
                                   fault);
        if (status == BP_OK && mode == BP_RLP_STRICT) {
            status = check_field(data, &tx->fields[i], slots[i], fault);
        }
        if (status < 0) {
            return status;
        }
    }
    tx->known = cursor.position == cursor.end;
    tx->count = count;
    return tx->known || mode == BP_RLP_LENIENT ? BP_OK
         : bp_rlp_failed(fault, BP_TRAILING, cursor.position,
                         BP_TX_FAULT + slots[count - 1].field);
}

/* A string: its first byte is the type. What types 1 to 4 hold is one list and nothing more. */
static int typed_at(const uint8_t *data, const struct bp_rlp_item *item, int mode,
                    struct bp_tx *tx, struct bp_rlp_fault *fault) {
    struct bp_rlp_item list;
    tx->payload = item->payload;
    if (item->payload == item->end) {
        return bp_rlp_failed(fault, BP_TOO_FEW_ITEMS, item->start, BP_RLP_TRANSACTION_FIELD);
    }
    tx->type = data[item->payload];
    if (tx->type == 0 || tx->type >= BP_TX_TYPES) {
        return BP_OK;
    }
    struct bp_rlp_cursor cursor = {data, item->payload + 1, item->end};
    int status = bp_rlp_demand_list(&cursor, mode, &list, BP_RLP_TRANSACTION_FIELD, fault);
    if (status < 0) {
        return status;
    }
    if (list.end != item->end) {
        return bp_rlp_failed(fault, BP_TRAILING, list.end, BP_RLP_TRANSACTION_FIELD);
    }
    return fields_in(data, &list, mode, tx, fault);
}

int bp_tx_at(const uint8_t *data, uint64_t start, uint64_t end, int mode, struct bp_tx *tx,
             struct bp_rlp_fault *fault) {
    struct bp_rlp_item item;
    int status = bp_rlp_read(data, start, end, mode, &item);
    if (status < 0) {
        return bp_rlp_failed(fault, status == BP_TRUNCATED ? BP_OVERRUN : status, start,
                      BP_RLP_TRANSACTION);
    }
    tx->start = start;
    tx->payload = start;
    tx->end = item.end;
    tx->type = 0;
    tx->known = 0;
    tx->count = 0;
    return item.is_list ? fields_in(data, &item, mode, tx, fault)
                        : typed_at(data, &item, mode, tx, fault);
}
