/* Lists in transactions to offsets and children: see columns.h. The walk saw that a cell is a list;
 * what is in it is checked here. */
#include <string.h>

#include "columns/cells.h"
#include "columns/gather.h"
#include "status.h"

#define HASH_SIZE 32
/* The least that an entry takes as RLP: a hash; address, list and their list's prefix; an
 * authorization's list, address and five more items. */
#define HASH_ITEM_SIZE 33
#define ACCESS_SIZE_MIN 23
#define AUTHORIZATION_SIZE_MIN 27

/* Children of an access list and of an authorization list. */
enum { ACCESS_ADDRESS = BP_CHILDREN, ACCESS_OFFSETS, ACCESS_KEYS };
enum { AUTHORIZATION_ITEMS = 6 };
/* Address 0; else the bytes that an integer may have, as EIP-7702 has them. */
static const uint8_t INTEGER_SIZES[AUTHORIZATION_ITEMS] = {32, 0, 8, 1, 32, 32};
/* What each is in the column: numbers of 8 bytes, or of 32. */
static const uint8_t WIDTHS[AUTHORIZATION_ITEMS] = {32, BP_ADDRESS_SIZE, 8, 8, 32, 32};

void bp_lists_need(const struct bp_column *column, uint64_t list_bytes, uint64_t *needs) {
    const struct bp_buffer *parts = column->parts;
    uint64_t entries = list_bytes / ACCESS_SIZE_MIN + 1;    /* never a buffer of nothing */
    uint64_t hashes = list_bytes / HASH_ITEM_SIZE + 1;
    switch (column->kind) {
    case BP_KIND_HASHES:
        needs[BP_CHILDREN] = parts[BP_CHILDREN].size + hashes * HASH_SIZE;
        break;
    case BP_KIND_ACCESS_LIST:
        needs[ACCESS_ADDRESS] = parts[ACCESS_ADDRESS].size + entries * BP_ADDRESS_SIZE;
        needs[ACCESS_OFFSETS] = parts[ACCESS_OFFSETS].size + (entries + 1) * sizeof(int64_t);
        needs[ACCESS_KEYS] = parts[ACCESS_KEYS].size + hashes * HASH_SIZE;
        break;
    case BP_KIND_AUTHORIZATIONS:
        entries = list_bytes / AUTHORIZATION_SIZE_MIN + 1;
        for (int i = 0; i < AUTHORIZATION_ITEMS; i++) {
            needs[BP_CHILDREN + i] = parts[BP_CHILDREN + i].size + entries * WIDTHS[i];
        }
        break;
    default:
        break;
    }
}

static void add(struct bp_buffer *buffer, const uint8_t *bytes, uint64_t size) {
    memcpy(buffer->data + buffer->size, bytes, size);
    buffer->size += size;
}

static void add_offset(struct bp_buffer *buffer, uint64_t offset) {
    int64_t value = (int64_t)offset;
    memcpy(buffer->data + buffer->size, &value, sizeof value);
    buffer->size += sizeof value;
}

/* The next item of a list that must have one. */
static int demand(struct bp_rlp_cursor *cursor, struct bp_rlp_item *item) {
    int status = bp_rlp_read_next(cursor, BP_RLP_LENIENT, item);
    return status == 0 ? BP_TOO_FEW_ITEMS : status < 0 ? status : BP_OK;
}

static int add_hashes(struct bp_rlp_cursor cursor, struct bp_buffer *target) {
    struct bp_rlp_item item;
    int status;
    while ((status = bp_rlp_read_next(&cursor, BP_RLP_LENIENT, &item)) == 1) {
        status = bp_rlp_check_width(&item, HASH_SIZE);
        if (status < 0) {
            return status;
        }
        add(target, cursor.data + item.payload, HASH_SIZE);
    }
    return status;
}

/* [address, [storage key, ...]] */
static int add_access(struct bp_rlp_cursor cursor, struct bp_buffer *parts) {
    struct bp_rlp_item address, keys;
    int status = demand(&cursor, &address);
    status = status < 0 ? status : bp_rlp_check_width(&address, BP_ADDRESS_SIZE);
    status = status < 0 ? status : demand(&cursor, &keys);
    if (status < 0) {
        return status;
    }
    if (!keys.is_list || cursor.position != cursor.end) {
        return keys.is_list ? BP_TRAILING : BP_NOT_A_LIST;
    }
    add(&parts[ACCESS_ADDRESS], cursor.data + address.payload, BP_ADDRESS_SIZE);
    status = add_hashes(bp_rlp_inside(cursor.data, &keys), &parts[ACCESS_KEYS]);
    add_offset(&parts[ACCESS_OFFSETS], parts[ACCESS_KEYS].size / HASH_SIZE);
    return status;
}

/* One item of an authorization, as 8 bytes of this machine or as 32 big-endian. */
static int add_item(const uint8_t *data, const struct bp_rlp_item *item, int i,
                    struct bp_buffer *target) {
    uint8_t value[BP_U256_SIZE];
    uint64_t number = 0;
    int status = INTEGER_SIZES[i] == 0 ? bp_rlp_check_width(item, BP_ADDRESS_SIZE)
               : bp_rlp_check_integer(data, item, INTEGER_SIZES[i]);
    if (status < 0) {
        return status;
    }
    if (INTEGER_SIZES[i] == 0) {
        add(target, data + item->payload, BP_ADDRESS_SIZE);
    } else if (WIDTHS[i] == BP_U256_SIZE) {
        bp_rlp_u256(data, item, value);
        add(target, value, sizeof value);
    } else {
        bp_rlp_u64(data, item, &number);
        add_offset(target, number);
    }
    return BP_OK;
}

static int add_authorization(struct bp_rlp_cursor cursor, struct bp_buffer *parts) {
    for (int i = 0; i < AUTHORIZATION_ITEMS; i++) {
        struct bp_rlp_item item;
        int status = demand(&cursor, &item);
        status = status < 0 ? status
               : add_item(cursor.data, &item, i, &parts[BP_CHILDREN + i]);
        if (status < 0) {
            return status;
        }
    }
    return cursor.position == cursor.end ? BP_OK : BP_TRAILING;
}

static int add_entries(struct bp_rlp_cursor cursor, int kind, struct bp_buffer *parts) {
    struct bp_rlp_item entry;
    int status;
    while ((status = bp_rlp_read_next(&cursor, BP_RLP_LENIENT, &entry)) == 1) {
        if (!entry.is_list) {
            return BP_NOT_A_LIST;
        }
        struct bp_rlp_cursor inside = bp_rlp_inside(cursor.data, &entry);
        status = kind == BP_KIND_ACCESS_LIST ? add_access(inside, parts)
                                             : add_authorization(inside, parts);
        if (status < 0) {
            return status;
        }
    }
    return status;
}

static uint64_t entries_of(const struct bp_column *column) {
    uint64_t width = column->kind == BP_KIND_ACCESS_LIST ? BP_ADDRESS_SIZE : HASH_SIZE;
    return column->parts[BP_CHILDREN].size / width;
}

int bp_gather_lists(struct bp_gather *gather) {
    struct bp_column *column = gather->column;
    struct bp_buffer *parts = column->parts;
    if (column->kind == BP_KIND_ACCESS_LIST && parts[ACCESS_OFFSETS].size == 0) {
        add_offset(&parts[ACCESS_OFFSETS], 0);
    }
    for (uint32_t i = 0; i < gather->rows; i++) {
        union bp_cell cell = gather->cells[i];
        struct bp_rlp_item list;
        int status = BP_OK;
        if (bp_cell_absent(cell)) {
            bp_gather_null(gather, i);
        } else {
            status = bp_rlp_read(gather->data, cell.span.start,
                                 (uint64_t)cell.span.start + cell.span.size, BP_RLP_LENIENT, &list);
        }
        if (status == BP_OK && !bp_cell_absent(cell)) {
            struct bp_rlp_cursor cursor = bp_rlp_inside(gather->data, &list);
            status = column->kind == BP_KIND_HASHES
                         ? add_hashes(cursor, &parts[BP_CHILDREN])
                         : add_entries(cursor, column->kind, parts);
        }
        if (status < 0) {
            gather->row = i;
            return status;
        }
        bp_gather_offset(gather, i, entries_of(column));
    }
    return BP_OK;
}
