/* Columns from records: where the fields of each row are, and what a column makes of them.
 *
 * A window is a run of blocks whose records (header, body, receipts, total difficulty) lie in
 * inflated groups. Each block gives no, one or many rows. They are found chunk by chunk:
 * bp_walk_next reads the RLP once and notes, for each field that some column wants, a cell a row;
 * bp_column_gather then turns one field's cells into one column's values. A chunk is small, so
 * that its cells, and the bytes they point to, are still in the processor's caches: a dense block
 * of 150 transactions is little more than one.
 *
 * Nothing is allocated here: a column's buffers grow between chunks, in the hands of the caller.
 * No record is read outside of its ends, and those not outside of its group. */
#ifndef BLOCKPACK_COLUMNS_H
#define BLOCKPACK_COLUMNS_H

#include <stdint.h>

#include "rlp/receipt.h"
#include "rlp/rlp.h"
#include "rlp/transaction.h"

#define BP_CHUNK_ROWS 128
#define BP_SLOTS_MAX 64
#define BP_HEADER_NAMED 21          /* fields of a header that have names */
#define BP_WITHDRAWAL_ITEMS 4
#define BP_U256_SIZE 32

/* Records of a block, as bits in bp_wants.sources too. */
enum bp_source { BP_HEADERS = 0, BP_BODIES, BP_RECEIPT_LISTS, BP_DIFFICULTIES, BP_SOURCES };

/* What the rows are. */
enum bp_rows {
    BP_ROWS_BLOCKS = 1,
    BP_ROWS_TRANSACTIONS,
    BP_ROWS_WITHDRAWALS,    /* none in a body that has no third list */
    BP_ROWS_RECEIPTS,
    BP_ROWS_LOGS
};

/* What a cell can hold. A span is that of a payload, but of the whole item where it is a list. */
enum bp_field {
    BP_FIELD_BLOCK = 0,         /* number: of the block */
    BP_FIELD_ROW,               /* number: of the row in its block */
    BP_FIELD_CONSTANT,          /* number: one of the caller's */
    BP_FIELD_HEADER,            /* span: the record */
    BP_FIELD_HEADER_ITEM,       /* spans: the first of 21 */
    BP_FIELD_DIFFICULTY = BP_FIELD_HEADER_ITEM + BP_HEADER_NAMED,   /* span: the record */
    BP_FIELD_SIZE,              /* number: bytes of the block's RLP */
    BP_FIELD_TX_COUNT,          /* number */
    BP_FIELD_UNCLE_COUNT,       /* number */
    BP_FIELD_WITHDRAWAL_COUNT,  /* number; absent without a third list */
    BP_FIELD_TX,                /* span: as it is hashed */
    BP_FIELD_TX_TYPE,           /* number */
    BP_FIELD_TX_ZEROS,          /* number: zero bytes of the input */
    BP_FIELD_TX_BOUND,          /* span: chain id, of a legacy one v */
    BP_FIELD_TX_ITEM,           /* spans: the first of enum bp_tx_field */
    BP_FIELD_WITHDRAWAL_ITEM = BP_FIELD_TX_ITEM + BP_TX_FIELDS,     /* spans: the first of 4 */
    BP_FIELD_RECEIPT_INDEX = BP_FIELD_WITHDRAWAL_ITEM + BP_WITHDRAWAL_ITEMS,    /* number */
    BP_FIELD_RECEIPT_TYPE,      /* number; in the storage form the bodies have to be there */
    BP_FIELD_RECEIPT_STATUS,    /* span: 0, 1 or 32 bytes */
    BP_FIELD_RECEIPT_GAS,       /* span: cumulative */
    BP_FIELD_RECEIPT_GAS_USED,  /* number: without that of the receipts before */
    BP_FIELD_RECEIPT_LOG_COUNT, /* number */
    BP_FIELD_RECEIPT_BLOOM,     /* span: the bloom, or the list of logs that it is made of */
    BP_FIELD_RECEIPT_FORM,      /* number: enum bp_receipt_form; only one has the bloom */
    BP_FIELD_LOG_ADDRESS,       /* span */
    BP_FIELD_LOG_DATA,          /* span */
    BP_FIELD_LOG_TOPIC,         /* spans: the first of 4 */
    BP_FIELDS = BP_FIELD_LOG_TOPIC + BP_LOG_TOPICS_MAX
};

/* A number, or `size` bytes from `start` in the group's content. BP_ABSENT in both is no value;
 * a gas sum may look like it, and is never absent. */
union bp_cell {
    uint64_t number;
    struct {
        uint32_t start;
        uint32_t size;
    } span;
};
#define BP_ABSENT UINT64_MAX

struct bp_chunk {
    uint32_t rows;
    uint32_t blocks[BP_CHUNK_ROWS];     /* ordinal in the window of the block that a row is of */
    union bp_cell cells[BP_SLOTS_MAX][BP_CHUNK_ROWS];
};

/* The fields that are wanted, one a slot; made by bp_wants_make. */
struct bp_wants {
    int rows;               /* enum bp_rows */
    int count;
    unsigned sources;       /* 1 << enum bp_source: which records have to be there */
    uint64_t constant;
    uint8_t fields[BP_SLOTS_MAX];
    int8_t slots[BP_FIELDS];            /* of a field, -1: not wanted */
    int header_items;                   /* of a header, up to the last one wanted */
    int header_slots_count;             /* slots that a block's header fills */
    uint8_t header_slots[BP_HEADER_NAMED + 2];
    int tx_slots_count;                 /* slots that a transaction's items fill */
    uint8_t tx_slots[BP_TX_FIELDS];
};

/* BP_OUT_OF_RANGE for more than BP_SLOTS_MAX fields, one given twice, or one that such rows do not
 * have. */
int bp_wants_make(int rows, const uint8_t *fields, int count, struct bp_wants *wants);

/* The enum bp_source whose content a field's spans point into. */
int bp_field_source(int field);

/* One table's records of a window: those of a group (group/group.h) from its record `low` on. */
struct bp_records {
    const uint8_t *data;
    uint64_t size;          /* of data, which may be the group's first part alone */
    const uint32_t *ends;   /* as bp_group_read gave them */
    const uint32_t *starts; /* NULL: each record starts where the one before it ends */
    uint32_t start;         /* then: offset of the group's first record */
    uint32_t low;
};

struct bp_window {
    uint64_t first;         /* number of the first block */
    uint32_t blocks;        /* all tables' groups have that many records from `low` on */
    struct bp_records records[BP_SOURCES];  /* not looked at unless in wants.sources */
};

struct bp_span {
    uint64_t start;
    uint64_t end;
};

/* Where a walk stands. A failure is about record `source` of block window.first + block, at
 * fault.offset in the group's content. */
struct bp_walk {
    const struct bp_wants *wants;
    struct bp_window window;
    uint32_t block;         /* ordinal of the open block, or of the next one */
    int is_open;
    struct bp_span records[BP_SOURCES];     /* of the open block */
    union bp_cell header[BP_HEADER_NAMED];
    union bp_cell counts[3];
    struct bp_rlp_cursor items;             /* transactions, or withdrawals */
    struct bp_rlp_cursor receipts;
    struct bp_rlp_cursor logs;
    struct bp_tx tx;
    struct bp_receipt receipt;
    int form;               /* of the block's receipts */
    uint64_t gas_before;    /* cumulative gas of the receipt before */
    uint64_t receipt_count; /* receipts that were read */
    uint64_t row;           /* number of the next row in the block */
    int source;
    struct bp_rlp_fault fault;
};

/* BP_TOO_LARGE for a content of 2^32 - 1 bytes or more, which no group has. */
int bp_walk_open(const struct bp_wants *wants, const struct bp_window *window,
                 struct bp_walk *walk);

/* Fills the chunk anew: 1 when it is full, 0 when the window is at its end (the chunk may have
 * rows), or a failure. BP_MISSING_RECORD: `source` has no record of the block. Transactions are
 * read leniently, as their views are, receipts and logs strictly: what is found is what the views
 * find. Of a transaction that is not known all is absent but BP_FIELD_TX and its type. */
#define BP_MISSING_RECORD BP_OUT_OF_RANGE
int bp_walk_next(struct bp_walk *walk, struct bp_chunk *chunk);

/* What becomes of a cell. */
enum bp_kind {
    BP_KIND_NUMBER = 1,     /* u64: the cell's number */
    BP_KIND_SIZE,           /* u64: bytes of the span */
    BP_KIND_NONZEROS,       /* u64: bytes of the span without those that `other` counts */
    BP_KIND_U64,            /* u64: an integer of at most 8 bytes */
    BP_KIND_U256_U64,       /* u64: one of at most 32 bytes; BP_TOO_LARGE from 2^64 on */
    BP_KIND_U256,           /* 32 bytes, big-endian */
    BP_KIND_U256_F64,       /* double, rounded to nearest */
    BP_KIND_U256_DECIMAL,   /* variable: its decimal digits */
    BP_KIND_FIXED,          /* exactly `width` bytes */
    BP_KIND_FIXED_OR_NONE,  /* `width` bytes, or none: null */
    BP_KIND_BYTES,          /* variable: as they are */
    BP_KIND_KECCAK,         /* 32 bytes: Keccak-256 of the span */
    BP_KIND_CHAIN_ID,       /* u64: of BP_FIELD_TX_BOUND, `other` is the type */
    BP_KIND_Y_PARITY,       /* u64: of v, `other` is the type */
    BP_KIND_STATUS,         /* u64, 0 or 1: a receipt's status; null for a root */
    BP_KIND_SUCCESS,        /* one byte: the same */
    BP_KIND_ROOT,           /* 32 bytes: a receipt's state root; null for a status */
    BP_KIND_BLOOM,          /* 256 bytes: of BP_FIELD_RECEIPT_BLOOM, `other` is the form */
    BP_KIND_LITTLE_U256,    /* 32 bytes, big-endian, of 32 that are little-endian */
    BP_KIND_HASHES,         /* list of 32 bytes: children 0 */
    BP_KIND_ACCESS_LIST,    /* list of address, list of 32 bytes: children 0, 1 offsets, 2 */
    BP_KIND_AUTHORIZATIONS  /* list of chain id, address, nonce, parity of y, r and s */
};

/* Buffers of a column. Offsets are int64, one more than rows. Valid: a byte a row, 1 or 0; it is
 * empty until the first null. */
enum bp_part { BP_VALUES = 0, BP_VALID, BP_OFFSETS, BP_CHILDREN, BP_PARTS = BP_CHILDREN + 6 };

struct bp_buffer {
    uint8_t *data;          /* aligned for uint64_t */
    uint64_t size;          /* bytes that are filled */
    uint64_t capacity;
};

struct bp_column {
    int kind;
    int slot;
    int other;              /* a second slot, or -1 */
    uint32_t width;         /* of BP_KIND_FIXED and BP_KIND_FIXED_OR_NONE */
    int may_lack;           /* BP_KIND_NUMBER: BP_ABSENT stands for null */
    uint64_t rows;
    struct bp_buffer parts[BP_PARTS];
    uint64_t needs[BP_PARTS];   /* after BP_NO_SPACE: the capacity that each part must have */
};

/* Adds the chunk's rows. BP_NO_SPACE, with nothing written, while some part has no room for them
 * and the worst they can be. On another failure *row is the row in the chunk whose cell is not
 * what it must be, and the column is of no use any more. `data` is the content that the slot's
 * spans point into. Values of null rows are zeros, or empty. */
int bp_column_gather(struct bp_column *column, const struct bp_chunk *chunk, const uint8_t *data,
                     uint32_t *row);

#endif
