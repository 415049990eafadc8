/* Do a block's records belong together? Recomputes what the header has of its body and receipts.
 *
 * Nothing is allocated and the time is that of the hashes. The fields of a header are those of the
 * yellow paper, 4.3 (uncles hash 1, transactions root 4, receipts root 5, bloom 6), and of EIP-4895
 * (withdrawals root 16). */
#ifndef BLOCKPACK_TRIE_ROOTS_H
#define BLOCKPACK_TRIE_ROOTS_H

#include <stdint.h>

#include "bloom/bloom.h"
#include "hash/keccak.h"
#include "rlp/rlp.h"

enum bp_root {
    BP_ROOT_UNCLES = 0,
    BP_ROOT_TRANSACTIONS,
    BP_ROOT_WITHDRAWALS,
    BP_ROOT_RECEIPTS,
    BP_ROOT_BLOOM,
    BP_ROOT_COUNT,          /* not a field: as many receipts as transactions */
    BP_ROOTS
};

/* What a fault is in. */
enum bp_root_part { BP_PART_HEADER = 0, BP_PART_BODY, BP_PART_RECEIPTS };

/* The records of one block; `receipts` is NULL where there are none. A receipts record is one
 * byte, the form, and the list. */
struct bp_block_records {
    const uint8_t *header;
    uint64_t header_size;
    const uint8_t *body;
    uint64_t body_size;
    const uint8_t *receipts;
    uint64_t receipts_size;
};

struct bp_roots {
    unsigned wrong;         /* bit of each enum bp_root that is not as the header has it */
    uint8_t found[BP_ROOTS - 2][BP_KECCAK256_SIZE];     /* the roots, where computed */
    uint64_t fields[BP_ROOTS - 1];      /* offset in the header of each field's bytes, and */
    uint64_t widths[BP_ROOTS - 1];      /* how many */
    uint64_t transactions;  /* items of the lists */
    uint64_t receipts;
    int part;               /* on failure: where the fault's offset counts from */
};

/* Bytes of scratch that bp_roots_check needs for these records: for one receipt at a time. */
uint64_t bp_roots_scratch(const struct bp_block_records *records);

/* BP_OK and the outcome in `roots`, or why one of the records cannot be read.
 *
 * Transactions, uncles and receipts (with the bloom over them) are compared always, withdrawals
 * where the header has the field. On the optimism chains that field is a root of the state from
 * Isthmus on: it is passed over in a block without withdrawals whose first transaction is a
 * deposit. Roots of lists that a newer fork adds are not looked at. */
int bp_roots_check(const struct bp_block_records *records, uint8_t *scratch,
                   struct bp_roots *roots, struct bp_rlp_fault *fault);

#endif
