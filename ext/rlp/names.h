/* What a bp_rlp_fault's field is called in an error: "nonce of the transaction". */
#ifndef BLOCKPACK_RLP_NAMES_H
#define BLOCKPACK_RLP_NAMES_H

/* `field` of any kernel in ext/rlp: enum bp_rlp_field, BP_TX_FAULT + enum bp_tx_field,
 * enum bp_receipt_field. */
const char *bp_rlp_field_name(int field);

#endif
