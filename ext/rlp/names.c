/* See names.h. */
#include "rlp/names.h"

#include <stddef.h>

#include "rlp/receipt.h"
#include "rlp/rlp.h"
#include "rlp/transaction.h"

static const char *const NAMES[] = {
    [BP_RLP_ITEM] = "RLP item",
    [BP_RLP_BLOCK] = "block",
    [BP_RLP_HEADER] = "block header",
    [BP_RLP_PARENT_HASH] = "parent hash in the block header",
    [BP_RLP_NUMBER] = "number in the block header",
    [BP_RLP_TIMESTAMP] = "time stamp in the block header",
    [BP_RLP_HEADER_FIELD] = "field of the block header",
    [BP_RLP_TRANSACTIONS] = "block's list of transactions",
    [BP_RLP_TRANSACTION] = "transaction",
    [BP_RLP_TRANSACTION_FIELD] = "field of a transaction",
    [BP_RLP_UNCLES] = "block's list of uncles",
    [BP_RLP_UNCLE] = "uncle",
    [BP_RLP_EXTRA] = "item after the block's uncles",
    [BP_TX_FAULT + BP_TX_CHAIN_ID] = "chain id of a transaction",
    [BP_TX_FAULT + BP_TX_NONCE] = "nonce of a transaction",
    [BP_TX_FAULT + BP_TX_GAS_PRICE] = "gas price of a transaction",
    [BP_TX_FAULT + BP_TX_MAX_PRIORITY_FEE_PER_GAS] =
        "maximum priority fee per gas of a transaction",
    [BP_TX_FAULT + BP_TX_MAX_FEE_PER_GAS] = "maximum fee per gas of a transaction",
    [BP_TX_FAULT + BP_TX_GAS_LIMIT] = "gas limit of a transaction",
    [BP_TX_FAULT + BP_TX_TO] = "recipient of a transaction",
    [BP_TX_FAULT + BP_TX_VALUE] = "value of a transaction",
    [BP_TX_FAULT + BP_TX_INPUT] = "input of a transaction",
    [BP_TX_FAULT + BP_TX_ACCESS_LIST] = "access list of a transaction",
    [BP_TX_FAULT + BP_TX_MAX_FEE_PER_BLOB_GAS] = "maximum fee per blob gas of a transaction",
    [BP_TX_FAULT + BP_TX_BLOB_HASHES] = "blob hashes of a transaction",
    [BP_TX_FAULT + BP_TX_AUTHORIZATION_LIST] = "authorization list of a transaction",
    [BP_TX_FAULT + BP_TX_V] = "signature's v of a transaction",
    [BP_TX_FAULT + BP_TX_R] = "signature's r of a transaction",
    [BP_TX_FAULT + BP_TX_S] = "signature's s of a transaction",
    [BP_RECEIPTS] = "list of receipts",
    [BP_RECEIPT] = "receipt",
    [BP_RECEIPT_TYPE] = "type of a receipt",
    [BP_RECEIPT_STATUS] = "status of a receipt",
    [BP_RECEIPT_GAS] = "cumulative gas of a receipt",
    [BP_RECEIPT_BLOOM] = "bloom of a receipt",
    [BP_RECEIPT_LOGS] = "list of a receipt's logs",
    [BP_RECEIPT_EXTRA] = "item after a receipt's logs",
    [BP_LOG] = "log",
    [BP_LOG_ADDRESS] = "address of a log",
    [BP_LOG_TOPICS] = "list of a log's topics",
    [BP_LOG_TOPIC] = "topic of a log",
    [BP_LOG_DATA] = "data of a log"};

const char *bp_rlp_field_name(int field) {
    size_t count = sizeof NAMES / sizeof NAMES[0];
    const char *name = field >= 0 && (size_t)field < count ? NAMES[field] : NULL;
    return name == NULL ? NAMES[BP_RLP_ITEM] : name;
}
