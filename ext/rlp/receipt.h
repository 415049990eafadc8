/* The receipts of one block, in the three forms that the store keeps, and the logs in them.
 *
 *   consensus  [status, gas, bloom, logs], or a string: type byte and that list (EIP-2718), as in
 *              era1 files and in the receipts trie
 *   storage    [status, gas, logs], as in geth's freezer: the type is that of the transaction
 *   slim       [type, status, gas, logs], as in eth/69 and .ere files
 *
 * status is 1, 0 or, before Byzantium (EIP-658), a 32-byte state root; gas is cumulative. A log is
 * [address, [topic, ...], data]. Receipts of a deposit (type 0x7e of the optimism chains) may
 * have two integers after the logs: the deposit's nonce and the receipt's version.
 *
 * Nothing is copied or allocated; offsets count from `data`. */
#ifndef BLOCKPACK_RLP_RECEIPT_H
#define BLOCKPACK_RLP_RECEIPT_H

#include <stdint.h>

#include "bloom/bloom.h"
#include "rlp/item.h"
#include "rlp/rlp.h"

#define BP_ADDRESS_SIZE 20
#define BP_TOPIC_SIZE 32
#define BP_LOG_TOPICS_MAX 4         /* the EVM has LOG0 to LOG4 */
#define BP_RECEIPT_DEPOSIT 0x7e     /* type of the optimism chains' deposits */

/* As the first byte of a receipts record. */
enum bp_receipt_form { BP_RECEIPTS_CONSENSUS = 1, BP_RECEIPTS_STORAGE = 2, BP_RECEIPTS_SLIM = 3 };

/* What a fault is about; the numbers go on after those of a transaction's fields. */
enum bp_receipt_field {
    BP_RECEIPTS = 96,
    BP_RECEIPT,
    BP_RECEIPT_TYPE,
    BP_RECEIPT_STATUS,
    BP_RECEIPT_GAS,
    BP_RECEIPT_BLOOM,
    BP_RECEIPT_LOGS,
    BP_RECEIPT_EXTRA,
    BP_LOG,
    BP_LOG_ADDRESS,
    BP_LOG_TOPICS,
    BP_LOG_TOPIC,
    BP_LOG_DATA
};

struct bp_receipt {
    uint64_t start;     /* data[start..end): the item as it stands in the list */
    uint64_t payload;   /* data[payload..end): without the string prefix of a typed one; in the
                           consensus form that is what the trie holds */
    uint64_t end;
    int type;           /* 0 for legacy, -1 in the storage form, which does not say */
    int has_bloom;      /* consensus form */
    struct bp_rlp_item status;
    struct bp_rlp_item gas;
    struct bp_rlp_item bloom;   /* valid if has_bloom */
    struct bp_rlp_item logs;    /* always a list */
    uint64_t extra;     /* data[extra..extra_end): items after the logs, none as a rule */
    uint64_t extra_end;
    int extras;         /* how many */
};

struct bp_log {
    uint64_t start;     /* data[start..end): the log's list */
    uint64_t end;
    uint64_t address;   /* offset of 20 bytes */
    uint64_t topics[BP_LOG_TOPICS_MAX];     /* offsets of 32 bytes each */
    int topic_count;
    uint64_t data;      /* data[data..data_end) */
    uint64_t data_end;
};

/* The list of receipts that begins at `start`, and must fill data[start..end). */
int bp_receipts_open(const uint8_t *data, uint64_t start, uint64_t end, int mode,
                     struct bp_rlp_cursor *receipts, struct bp_rlp_fault *fault);

/* The same of a receipts record: one byte, its form, and the list. Reads strictly. */
int bp_receipts_open_record(const uint8_t *record, uint64_t size, int *form,
                            struct bp_rlp_cursor *receipts, struct bp_rlp_fault *fault);

/* 1 and the next receipt, 0 at the end of the list, or a failure.
 *
 * In both modes the logs are a list, whose items bp_logs_next checks. BP_RLP_STRICT: canonical
 * RLP; status empty, 1 or 32 bytes; gas a 64-bit integer; bloom of 256 bytes; type 0 to 0x7f;
 * items after the logs (strings) only where the type is unknown or above 4. BP_RLP_LENIENT: what is
 * needed to find the fields, and a type; after the logs anything. */
int bp_receipts_next(struct bp_rlp_cursor *receipts, int form, int mode,
                     struct bp_receipt *receipt, struct bp_rlp_fault *fault);

/* The logs of a receipt, for bp_logs_next. */
static inline struct bp_rlp_cursor bp_receipt_logs(const uint8_t *data,
                                                   const struct bp_receipt *receipt) {
    return bp_rlp_inside(data, &receipt->logs);
}

/* 1 and the next log, 0 at the end of the list, or a failure. Widths of address and topics and
 * their number are checked in both modes; a log of more than three items fails if strict. */
int bp_logs_next(struct bp_rlp_cursor *logs, int mode, struct bp_log *log,
                 struct bp_rlp_fault *fault);

/* The bloom over a receipt's logs. Fails as bp_logs_next does. */
int bp_receipt_bloom(const uint8_t *data, const struct bp_receipt *receipt,
                     uint8_t bloom[BP_BLOOM_BYTES], struct bp_rlp_fault *fault);

/* What the receipts trie holds of a receipt read in strict mode: type byte unless 0, then
 * [status, gas, bloom, logs].
 *
 * bp_receipt_value_size bounds its size, at most 270 bytes above that of the receipt.
 * bp_receipt_value writes it to `target`, its size to *written, and ors its bloom into
 * `block_bloom`; a form without blooms gets one made of the logs. `type` is the transaction's. The
 * deposit nonce is in the trie only where the version follows it. Fails as bp_logs_next does. */
uint64_t bp_receipt_value_size(const struct bp_receipt *receipt);
int bp_receipt_value(const uint8_t *data, const struct bp_receipt *receipt, int type,
                     uint8_t *target, uint64_t *written, uint8_t block_bloom[BP_BLOOM_BYTES],
                     struct bp_rlp_fault *fault);

#endif
