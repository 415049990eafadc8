"""The C declarations of ext/rlp/receipt.h, for every module that reads receipts or logs."""

from libc.stdint cimport uint8_t, uint64_t

from blockpack._native.rlpc cimport bp_rlp_cursor, bp_rlp_fault, bp_rlp_item

cdef extern from "rlp/receipt.h" nogil:
    enum:
        BP_BLOOM_BYTES
        BP_ADDRESS_SIZE
        BP_TOPIC_SIZE
        BP_LOG_TOPICS_MAX
        BP_RECEIPTS_CONSENSUS
        BP_RECEIPTS_STORAGE
        BP_RECEIPTS_SLIM

    struct bp_receipt:
        uint64_t start
        uint64_t payload
        uint64_t end
        int type
        int has_bloom
        bp_rlp_item status
        bp_rlp_item gas
        bp_rlp_item bloom
        bp_rlp_item logs
        uint64_t extra
        uint64_t extra_end
        int extras

    struct bp_log:
        uint64_t start
        uint64_t end
        uint64_t address
        uint64_t topics[4]
        int topic_count
        uint64_t data
        uint64_t data_end

    int bp_receipts_open(const uint8_t *data, uint64_t start, uint64_t end, int mode,
                         bp_rlp_cursor *receipts, bp_rlp_fault *fault)
    int bp_receipts_next(bp_rlp_cursor *receipts, int form, int mode, bp_receipt *receipt,
                         bp_rlp_fault *fault)
    int bp_receipt_bloom(const uint8_t *data, const bp_receipt *receipt, uint8_t *bloom,
                         bp_rlp_fault *fault)
    bp_rlp_cursor bp_receipt_logs(const uint8_t *data, const bp_receipt *receipt)
    int bp_logs_next(bp_rlp_cursor *logs, int mode, bp_log *log, bp_rlp_fault *fault)
