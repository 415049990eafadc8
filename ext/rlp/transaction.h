/* One transaction of a block: where it is, of which type, and where each of its fields is.
 *
 * A transaction stands in a block's list either as a list (legacy) or as a string that holds a
 * type byte and what that type defines (EIP-2718); types 1 to 4 hold one list (EIP-2930, 1559,
 * 4844, 7702). Other types, as 0x7e of the optimism chains, are kept as they are. The form with
 * blobs in which nodes send type 3 to each other does not occur in blocks.
 *
 * Nothing is copied or allocated; offsets count from `data`. */
#ifndef BLOCKPACK_RLP_TRANSACTION_H
#define BLOCKPACK_RLP_TRANSACTION_H

#include <stdint.h>

#include "rlp/item.h"
#include "rlp/rlp.h"

#define BP_TX_TYPES 5           /* legacy, which is 0, and types 1 to 4 */
#define BP_TX_ITEMS_MAX 14      /* fields of type 3 */

/* Fields by name, whatever the type. */
enum bp_tx_field {
    BP_TX_CHAIN_ID = 0,             /* typed ones; a legacy one has it in v, from EIP-155 on */
    BP_TX_NONCE,
    BP_TX_GAS_PRICE,                /* legacy and type 1 */
    BP_TX_MAX_PRIORITY_FEE_PER_GAS, /* types 2 to 4 */
    BP_TX_MAX_FEE_PER_GAS,          /* types 2 to 4 */
    BP_TX_GAS_LIMIT,
    BP_TX_TO,                       /* empty: creates a contract */
    BP_TX_VALUE,
    BP_TX_INPUT,
    BP_TX_ACCESS_LIST,              /* typed ones */
    BP_TX_MAX_FEE_PER_BLOB_GAS,     /* type 3 */
    BP_TX_BLOB_HASHES,              /* type 3 */
    BP_TX_AUTHORIZATION_LIST,       /* type 4 */
    BP_TX_V,                        /* legacy: v; typed ones: the parity of y, 0 or 1 */
    BP_TX_R,
    BP_TX_S,
    BP_TX_FIELDS
};

/* fault.field for the field f of a transaction is BP_TX_FAULT + f. */
#define BP_TX_FAULT 64

struct bp_tx {
    uint64_t start;     /* data[start..end): the item as it stands in the list */
    uint64_t payload;   /* data[payload..end): what is hashed and put into the trie; that is the
                           list of a legacy one, else the type byte and what follows it */
    uint64_t end;
    unsigned type;      /* 0 for a list, else the type byte */
    int known;          /* 0: `fields` says nothing, since this type (or list) is none of ours */
    int count;          /* fields of a known one: 9, 11, 12, 14 or 13 */
    struct bp_rlp_item fields[BP_TX_ITEMS_MAX];
};

/* Position of a field in the lists of a type, -1 where the type does not have it. */
extern const int8_t bp_tx_positions[BP_TX_TYPES][BP_TX_FIELDS];

/* The field of a transaction, NULL where its type has none or is unknown. */
static inline const struct bp_rlp_item *bp_tx_get(const struct bp_tx *tx, int field) {
    int position = tx->known ? bp_tx_positions[tx->type][field] : -1;
    return position < 0 ? NULL : &tx->fields[position];
}

/* The transaction that begins at `start` and must end by `end`.
 *
 * BP_RLP_STRICT: canonical RLP down to the last item, and of a known type every field as it has to
 * be: integers without leading zeros in their width (64 bits: chain id, nonce, gas limit; else
 * 256), `to` of 20 bytes or none (20 from type 3 on), well-formed access and authorization lists
 * and blob hashes; a list of more or fewer fields fails.
 * BP_RLP_LENIENT: only as much as is needed to find the fields; a list of another number of
 * fields is kept as unknown, and so is a type byte of 0 or above 4 in both modes.
 *
 * The fault names the field (BP_TX_FAULT + f), or BP_RLP_TRANSACTION, BP_RLP_TRANSACTION_FIELD. */
int bp_tx_at(const uint8_t *data, uint64_t start, uint64_t end, int mode, struct bp_tx *tx,
             struct bp_rlp_fault *fault);

#endif
