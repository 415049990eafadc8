/* The one place where the RLP kernels read a prefix or an integer: inline, since a block of 150
 * transactions has 2,000 items and a call for each would cost as much as reading it.
 *
 * Nothing is read at or past `end`; everything else in ext/rlp only moves offsets checked here. */
#ifndef BLOCKPACK_RLP_ITEM_H
#define BLOCKPACK_RLP_ITEM_H

#include <stdint.h>
#include <string.h>

#include "rlp/rlp.h"
#include "status.h"

#define BP_RLP_STRING_BASE 0x80u
#define BP_RLP_LIST_BASE 0xc0u
#define BP_RLP_SHORT_SIZE_MAX 55u

/* Strict: the canonical encoding alone. Lenient: any prefix whose payload lies before `end`, that
 * is lengths with leading zeros, long forms of short lengths, a prefix before one small byte. */
enum bp_rlp_mode { BP_RLP_LENIENT = 0, BP_RLP_STRICT = 1 };

/* Big-endian length of `width` bytes (1 to 8). */
static inline int bp_rlp_read_length(const uint8_t *bytes, uint64_t width, int mode,
                                     uint64_t *length) {
    uint64_t value = 0;
    for (uint64_t i = 0; i < width; i++) {
        value = value << 8 | bytes[i];
    }
    *length = value;
    return mode == BP_RLP_STRICT && (bytes[0] == 0 || value <= BP_RLP_SHORT_SIZE_MAX)
               ? BP_NONCANONICAL : BP_OK;
}

/* The item at `start`: BP_TRUNCATED if it does not end by `end`, BP_NONCANONICAL; *item is then
 * empty, which no caller needs, but compilers see that it is set. */
static inline int bp_rlp_read(const uint8_t *data, uint64_t start, uint64_t end, int mode,
                              struct bp_rlp_item *item) {
    *item = (struct bp_rlp_item){start, start, start, 0};
    if (start >= end) {
        return BP_TRUNCATED;
    }
    uint64_t left = end - start - 1;
    unsigned first = data[start];
    item->is_list = first >= BP_RLP_LIST_BASE;
    if (first < BP_RLP_STRING_BASE) {
        item->end = start + 1;
        return BP_OK;
    }
    uint64_t prefix = 1;
    uint64_t size = first - (item->is_list ? BP_RLP_LIST_BASE : BP_RLP_STRING_BASE);
    if (size > BP_RLP_SHORT_SIZE_MAX) {
        uint64_t width = size - BP_RLP_SHORT_SIZE_MAX;
        if (width > left) {
            return BP_TRUNCATED;
        }
        if (bp_rlp_read_length(data + start + 1, width, mode, &size) < 0) {
            return BP_NONCANONICAL;
        }
        prefix += width;
        left -= width;
    }
    if (size > left) {
        return BP_TRUNCATED;
    }
    item->payload = start + prefix;
    item->end = item->payload + size;
    if (mode == BP_RLP_STRICT && first == BP_RLP_STRING_BASE + 1
            && data[item->payload] < BP_RLP_STRING_BASE) {
        return BP_NONCANONICAL;
    }
    return BP_OK;
}

/* Notes what went wrong where, and returns the status. */
static inline int bp_rlp_failed(struct bp_rlp_fault *fault, int status, uint64_t offset,
                                int field) {
    fault->offset = offset;
    fault->field = field;
    return status;
}

/* The items of a list. */
static inline struct bp_rlp_cursor bp_rlp_inside(const uint8_t *data,
                                                 const struct bp_rlp_item *list) {
    return (struct bp_rlp_cursor){data, list->payload, list->end};
}

/* bp_rlp_next in either mode: 1 and the item, 0 at the end of the list, or a failure. */
static inline int bp_rlp_read_next(struct bp_rlp_cursor *cursor, int mode,
                                   struct bp_rlp_item *item) {
    if (cursor->position == cursor->end) {
        return 0;
    }
    int status = bp_rlp_read(cursor->data, cursor->position, cursor->end, mode, item);
    if (status < 0) {
        return status == BP_TRUNCATED ? BP_OVERRUN : status;
    }
    cursor->position = item->end;
    return 1;
}

/* The next item of a list that must have one. */
static inline int bp_rlp_demand(struct bp_rlp_cursor *cursor, int mode, struct bp_rlp_item *item,
                                int field, struct bp_rlp_fault *fault) {
    int status = bp_rlp_read_next(cursor, mode, item);
    if (status == 1) {
        return BP_OK;
    }
    return bp_rlp_failed(fault, status == 0 ? BP_TOO_FEW_ITEMS : status, cursor->position, field);
}

/* The same for an item that must be a list. */
static inline int bp_rlp_demand_list(struct bp_rlp_cursor *cursor, int mode,
                                     struct bp_rlp_item *item, int field,
                                     struct bp_rlp_fault *fault) {
    int status = bp_rlp_demand(cursor, mode, item, field, fault);
    return status == BP_OK && !item->is_list
               ? bp_rlp_failed(fault, BP_NOT_A_LIST, item->start, field) : status;
}

/* BP_OK for a string of `width` bytes. */
static inline int bp_rlp_check_width(const struct bp_rlp_item *item, uint64_t width) {
    return item->is_list ? BP_NOT_A_STRING
         : item->end - item->payload != width ? BP_BAD_WIDTH : BP_OK;
}

/* BP_OK for a big-endian integer without leading zeros in at most `width` bytes. */
static inline int bp_rlp_check_integer(const uint8_t *data, const struct bp_rlp_item *item,
                                       uint64_t width) {
    uint64_t size = item->end - item->payload;
    return item->is_list ? BP_NOT_A_STRING
         : size > width || (size > 0 && data[item->payload] == 0) ? BP_BAD_INTEGER : BP_OK;
}

/* An integer of at most 8 bytes. */
static inline int bp_rlp_u64(const uint8_t *data, const struct bp_rlp_item *item,
                             uint64_t *value) {
    int status = bp_rlp_check_integer(data, item, 8);
    if (status < 0) {
        return status;
    }
    *value = 0;
    for (uint64_t i = item->payload; i < item->end; i++) {
        *value = *value << 8 | data[i];
    }
    return BP_OK;
}

/* One of at most 32 bytes, given as 32 bytes, big-endian. */
static inline int bp_rlp_u256(const uint8_t *data, const struct bp_rlp_item *item,
                              uint8_t value[32]) {
    uint64_t size = item->end - item->payload;
    int status = bp_rlp_check_integer(data, item, 32);
    if (status < 0) {
        return status;
    }
    memset(value, 0, 32 - (size_t)size);
    memcpy(value + 32 - size, data + item->payload, (size_t)size);
    return BP_OK;
}

#endif
