/* Fuzz target for ext/rlp/transaction.h: no input may be read past its end, and what the header
 * promises of a result holds in both modes.
 *
 * With libFuzzer:  clang -g -O1 -fsanitize=fuzzer,address,undefined -Iext \
 *                      tests/fuzz/transaction_fuzz.c ext/rlp/[rnt]*.c -o transaction_fuzz
 * Without:         gcc -g -O1 -fsanitize=address,undefined -DSTANDALONE -Iext (same files)
 *                  ./transaction_fuzz ROUNDS SEED FILE...     mutates every FILE for ROUNDS rounds
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rlp/names.h"
#include "rlp/transaction.h"
#include "status.h"

#define DEMAND(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

static void broken(const char *what, int line) {
    fprintf(stderr, "transaction_fuzz.c:%d: not so: %s\n", line, what);
    abort();
}

static void check_fault(int status, const struct bp_rlp_fault *fault, uint64_t size) {
    DEMAND(status < 0 && status >= BP_OVERRUN);
    DEMAND(fault->offset <= size);
    DEMAND(fault->field == BP_RLP_TRANSACTION || fault->field == BP_RLP_TRANSACTION_FIELD
           || (fault->field >= BP_TX_FAULT && fault->field < BP_TX_FAULT + BP_TX_FIELDS));
    DEMAND(strcmp(bp_rlp_field_name(fault->field), "RLP item") != 0);
}

/* Fields follow each other without gaps and end where the transaction does. */
static void check_fields(const struct bp_tx *tx) {
    uint64_t last = tx->fields[0].start;
    DEMAND(tx->type < BP_TX_TYPES && tx->count >= 9 && tx->count <= BP_TX_ITEMS_MAX);
    DEMAND(last > tx->start);
    for (int i = 0; i < tx->count; i++) {
        const struct bp_rlp_item *item = &tx->fields[i];
        DEMAND(item->start == last && item->payload >= item->start && item->end >= item->payload);
        last = item->end;
    }
    DEMAND(last == tx->end);
    int named = 0;
    for (int field = 0; field < BP_TX_FIELDS; field++) {
        named += bp_tx_get(tx, field) != NULL;
    }
    DEMAND(named == tx->count);
}

static int check_mode(const uint8_t *data, uint64_t size, int mode, struct bp_tx *tx) {
    struct bp_rlp_fault fault = {UINT64_MAX, -1};
    int status = bp_tx_at(data, 0, size, mode, tx, &fault);
    if (status < 0) {
        check_fault(status, &fault, size);
        return 0;
    }
    DEMAND(status == BP_OK && tx->start == 0);
    DEMAND(tx->payload < tx->end && tx->end <= size);
    if (tx->known) {
        check_fields(tx);
    } else {
        DEMAND(bp_tx_get(tx, BP_TX_NONCE) == NULL);
    }
    return 1;
}

/* What strict lets pass is what lenient finds. */
int LLVMFuzzerTestOneInput(const uint8_t *source, size_t size) {
    uint8_t *data = malloc(size > 0 ? size : 1);
    struct bp_tx strict, lenient;
    if (data == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(data, source, size);
    }
    int passed = check_mode(data, size, BP_RLP_STRICT, &strict);
    int found = check_mode(data, size, BP_RLP_LENIENT, &lenient);
    if (passed) {
        DEMAND(found && lenient.end == strict.end && lenient.type == strict.type);
        DEMAND(lenient.known == strict.known && lenient.count == strict.count);
        for (int i = 0; i < strict.count; i++) {
            DEMAND(lenient.fields[i].payload == strict.fields[i].payload);
            DEMAND(lenient.fields[i].end == strict.fields[i].end);
            DEMAND(lenient.fields[i].is_list == strict.fields[i].is_list);
        }
    }
    free(data);
    return 0;
}

#ifdef STANDALONE
#include "standalone.h"
#endif
