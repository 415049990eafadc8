/* What the receipts trie holds of a receipt of any form: see receipt.h. */
#include "rlp/receipt.h"

#include <string.h>

#include "status.h"

#define BLOOM_ITEM_SIZE (3 + BP_BLOOM_BYTES)     /* b9 01 00, then 256 bytes */

static uint64_t size_of(const struct bp_rlp_item *item) {
    return item->end - item->start;
}

/* Bytes of the items after the logs that belong into the trie: pre-Canyon receipts of a deposit
 * carry its nonce alone, outside of the trie (op-geth, Receipts.EncodeIndex). */
static uint64_t extra_size(const struct bp_receipt *receipt) {
    return receipt->extras >= 2 ? receipt->extra_end - receipt->extra : 0;
}

static uint64_t payload_size(const struct bp_receipt *receipt) {
    return size_of(&receipt->status) + size_of(&receipt->gas) + BLOOM_ITEM_SIZE
         + size_of(&receipt->logs) + extra_size(receipt);
}

uint64_t bp_receipt_value_size(const struct bp_receipt *receipt) {
    return 1 + BP_RLP_PREFIX_SIZE_MAX + payload_size(receipt);
}

static uint8_t *put(uint8_t *target, const uint8_t *source, uint64_t size) {
    memcpy(target, source, (size_t)size);
    return target + size;
}

int bp_receipt_value(const uint8_t *data, const struct bp_receipt *receipt, int type,
                     uint8_t *target, uint64_t *written, uint8_t block_bloom[BP_BLOOM_BYTES],
                     struct bp_rlp_fault *fault) {
    static const uint8_t bloom_prefix[3] = {0xb9, BP_BLOOM_BYTES >> 8, BP_BLOOM_BYTES & 0xff};
    uint8_t *at = target;
    if (type > 0) {
        *at++ = (uint8_t)type;
    }
    at += bp_rlp_list_prefix(payload_size(receipt), at);
    at = put(at, data + receipt->status.start, size_of(&receipt->status));
    at = put(at, data + receipt->gas.start, size_of(&receipt->gas));
    at = put(at, bloom_prefix, sizeof bloom_prefix);
    if (receipt->has_bloom) {
        memcpy(at, data + receipt->bloom.payload, BP_BLOOM_BYTES);
    } else {
        int status = bp_receipt_bloom(data, receipt, at, fault);
        if (status < 0) {
            return status;
        }
    }
    for (int i = 0; i < BP_BLOOM_BYTES; i++) {
        block_bloom[i] |= at[i];
    }
    at = put(at + BP_BLOOM_BYTES, data + receipt->logs.start, size_of(&receipt->logs));
    at = put(at, data + receipt->extra, extra_size(receipt));
    *written = (uint64_t)(at - target);
    return BP_OK;
}
