"""The C declarations of ext/rlp that more than one module uses, and small helpers over them."""

from libc.stdint cimport int8_t, int64_t, uint8_t, uint64_t

from blockpack._native.status cimport check

cdef extern from "rlp/rlp.h" nogil:
    enum:
        BP_RLP_PREFIX_SIZE_MAX
        BP_RLP_ITEM
        BP_RLP_BLOCK
        BP_RLP_HEADER
        BP_RLP_HEADER_FIELD
        BP_RLP_TRANSACTIONS
        BP_RLP_TRANSACTION
        BP_RLP_UNCLES
        BP_RLP_UNCLE
        BP_RLP_EXTRA

    struct bp_rlp_item:
        uint64_t start
        uint64_t payload
        uint64_t end
        int is_list

    struct bp_rlp_fault:
        uint64_t offset
        int field

    struct bp_rlp_cursor:
        const uint8_t *data
        uint64_t position
        uint64_t end

    struct bp_rlp_header:
        uint64_t start
        uint64_t end
        uint64_t number
        uint64_t timestamp
        uint64_t parent_hash

    struct bp_rlp_block:
        bp_rlp_header header
        uint64_t end
        uint64_t chain_id
        int has_chain_id

    int bp_rlp_item_at(const uint8_t *data, uint64_t start, uint64_t end, bp_rlp_item *item)
    int bp_rlp_next(bp_rlp_cursor *cursor, bp_rlp_item *item)
    int64_t bp_rlp_count(const uint8_t *data, uint64_t start, uint64_t end, bp_rlp_fault *fault)
    int64_t bp_rlp_announced(const uint8_t *data, uint64_t size, uint64_t limit, uint64_t *needed)
    int bp_rlp_header_at(const uint8_t *data, uint64_t start, uint64_t end,
                         bp_rlp_header *header, bp_rlp_fault *fault)
    int bp_rlp_block_at(const uint8_t *data, uint64_t start, uint64_t end,
                        bp_rlp_block *block, bp_rlp_fault *fault)
    int bp_rlp_list_prefix(uint64_t payload_size, uint8_t *prefix)
    int bp_rlp_prefix(uint64_t payload_size, unsigned base, uint8_t *prefix)

cdef extern from "rlp/item.h" nogil:
    enum:
        BP_RLP_LENIENT
        BP_RLP_STRICT
        BP_RLP_STRING_BASE
        BP_RLP_LIST_BASE

    int bp_rlp_read(const uint8_t *data, uint64_t start, uint64_t end, int mode,
                    bp_rlp_item *item)
    int bp_rlp_failed(bp_rlp_fault *fault, int status, uint64_t offset, int field)
    int bp_rlp_read_next(bp_rlp_cursor *cursor, int mode, bp_rlp_item *item)
    int bp_rlp_u64(const uint8_t *data, const bp_rlp_item *item, uint64_t *value)

cdef extern from "rlp/names.h" nogil:
    const char *bp_rlp_field_name(int field)

cdef extern from "rlp/transaction.h" nogil:
    enum:
        BP_TX_TYPES
        BP_TX_ITEMS_MAX
        BP_TX_FAULT
        BP_TX_CHAIN_ID
        BP_TX_NONCE
        BP_TX_GAS_PRICE
        BP_TX_MAX_PRIORITY_FEE_PER_GAS
        BP_TX_MAX_FEE_PER_GAS
        BP_TX_GAS_LIMIT
        BP_TX_TO
        BP_TX_VALUE
        BP_TX_INPUT
        BP_TX_ACCESS_LIST
        BP_TX_MAX_FEE_PER_BLOB_GAS
        BP_TX_BLOB_HASHES
        BP_TX_AUTHORIZATION_LIST
        BP_TX_V
        BP_TX_R
        BP_TX_S
        BP_TX_FIELDS

    struct bp_tx:
        uint64_t start
        uint64_t payload
        uint64_t end
        unsigned type
        int known
        int count
        bp_rlp_item fields[14]

    const int8_t bp_tx_positions[5][16]
    int bp_tx_at(const uint8_t *data, uint64_t start, uint64_t end, int mode, bp_tx *tx,
                 bp_rlp_fault *fault)


cdef inline int check_fault(int64_t status, const bp_rlp_fault *fault) except -1:
    if status < 0:
        check(status, bp_rlp_field_name(fault.field).decode(), <int64_t>fault.offset)
    return 0
