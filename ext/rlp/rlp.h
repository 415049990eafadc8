/* Range decoder for RLP (Ethereum yellow paper, appendix B): finds where items begin and end.
 *
 * Nothing is copied or allocated and nothing recurses, so hostile nesting costs neither memory nor
 * stack. All positions are 64-bit offsets from `data`; reads stay below the `end` or `size` given.
 * Only the canonical encoding passes: shortest length form, and no prefix before one byte below
 * 0x80. Hence prefix + payload can be written back exactly from the payload alone.
 *
 * Functions return bp_status codes. On failure the fault says where and in what. */
#ifndef BLOCKPACK_RLP_H
#define BLOCKPACK_RLP_H

#include <stdint.h>

#define BP_RLP_PREFIX_SIZE_MAX 9      /* one byte and a 64-bit length */
#define BP_RLP_HEADER_ITEMS_MIN 15    /* the fields of a frontier header; forks append more */

/* data[start..payload) is the prefix, data[payload..end) the payload. */
struct bp_rlp_item {
    uint64_t start;
    uint64_t payload;
    uint64_t end;
    int is_list;
};

/* What a fault is about. */
enum bp_rlp_field {
    BP_RLP_ITEM = 0,
    BP_RLP_BLOCK,
    BP_RLP_HEADER,
    BP_RLP_PARENT_HASH,
    BP_RLP_NUMBER,
    BP_RLP_TIMESTAMP,
    BP_RLP_HEADER_FIELD,        /* any other field of the header */
    BP_RLP_TRANSACTIONS,
    BP_RLP_TRANSACTION,
    BP_RLP_TRANSACTION_FIELD,
    BP_RLP_UNCLES,
    BP_RLP_UNCLE,
    BP_RLP_EXTRA                /* an item after the uncles */
};

struct bp_rlp_fault {
    uint64_t offset;
    int field;
};

struct bp_rlp_header {
    uint64_t start;
    uint64_t end;
    uint64_t number;
    uint64_t timestamp;
    uint64_t parent_hash;   /* offset of its 32 bytes */
};

struct bp_rlp_block {
    struct bp_rlp_header header;
    uint64_t end;           /* the body is data[header.end..end) */
    uint64_t chain_id;      /* valid if has_chain_id */
    int has_chain_id;
};

/* The item that begins at `start`, which must end at or before `end`. BP_TRUNCATED if it does not,
 * BP_NONCANONICAL for another encoding; *item is then undefined. */
int bp_rlp_item_at(const uint8_t *data, uint64_t start, uint64_t end, struct bp_rlp_item *item);

/* The items of one list, front to back. Start with position = payload, end = end of the list.
 * bp_rlp_next returns 1 and the item, or 0 at the end of the list; on failure (BP_OVERRUN,
 * BP_NONCANONICAL) position stays where the bad item begins. */
struct bp_rlp_cursor {
    const uint8_t *data;
    uint64_t position;
    uint64_t end;
};
int bp_rlp_next(struct bp_rlp_cursor *cursor, struct bp_rlp_item *item);

/* Number of items of the list at `start`: all of them are well formed and they fill it exactly. */
int64_t bp_rlp_count(const uint8_t *data, uint64_t start, uint64_t end, struct bp_rlp_fault *fault);

/* Total size, prefix and payload, that the list prefix at data[0..size) announces; 0 when
 * *needed more bytes are required to tell. BP_TOO_LARGE above `limit` (below 2^63),
 * BP_NOT_A_LIST, BP_NONCANONICAL. The payload need not be there. */
int64_t bp_rlp_announced(const uint8_t *data, uint64_t size, uint64_t limit, uint64_t *needed);

/* A list that holds at least the 15 fields of a header, from `start` and ending at or before
 * `end`. Parent hash, number (field 8) and time stamp (field 11) are checked, the rest skipped. */
int bp_rlp_header_at(const uint8_t *data, uint64_t start, uint64_t end,
                     struct bp_rlp_header *header, struct bp_rlp_fault *fault);

/* The block that begins at `start`: a list of a header, a list of transactions, a list of uncles
 * and whatever forks appended. These items, and those of the two lists, must fill their list;
 * inside of transactions nothing is looked at but the chain id of the first that carries one:
 * a legacy one of nine items with v >= 35 (EIP-155), or the first field of types 1 to 4. Others
 * (deposits are 0x7e) and ids above EIP-2294's 2^63 - 37 are skipped. */
int bp_rlp_block_at(const uint8_t *data, uint64_t start, uint64_t end,
                    struct bp_rlp_block *block, struct bp_rlp_fault *fault);

/* Writes the canonical prefix of `payload_size` bytes and returns its size, 1 to 9; `base` is 0x80
 * for a string, which must not be one byte below 0x80, and 0xc0 for a list. */
int bp_rlp_prefix(uint64_t payload_size, unsigned base, uint8_t prefix[BP_RLP_PREFIX_SIZE_MAX]);

/* Writes the canonical prefix of a list of `payload_size` bytes and returns its size, 1 to 9. */
int bp_rlp_list_prefix(uint64_t payload_size, uint8_t prefix[BP_RLP_PREFIX_SIZE_MAX]);

#endif
