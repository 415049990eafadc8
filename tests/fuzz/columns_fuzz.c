/* Fuzz target for ext/columns: no record is read past its end, whatever it holds, every column asks
 * for memory in proportion to the input alone, and its parts fit each other.
 *
 * With libFuzzer:  clang -g -O1 -fsanitize=fuzzer,address,undefined -Iext tests/fuzz/columns_fuzz.c \
 *                      ext/columns/[a-z]*.c ext/rlp/[a-z]*.c ext/bloom/bloom.c ext/hash/keccak.c
 * Without:         gcc -g -O1 -fsanitize=address,undefined -DSTANDALONE -Iext (same files)
 *                  ./columns_fuzz ROUNDS SEED FILE...
 *
 * An input is the sizes of a header and of a receipts record, 2 bytes each, then these two, then
 * the body. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "columns/columns.h"
#include "status.h"

#define DEMAND(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))
#define KINDS 22

static void broken(const char *what, int line) {
    fprintf(stderr, "columns_fuzz.c:%d: not so: %s\n", line, what);
    abort();
}

/* One record in an allocation of its own size: one byte too far is caught. */
struct record {
    uint8_t *data;
    uint32_t end;
};

static struct record record_new(const uint8_t *data, uint64_t size) {
    struct record record = {malloc(size ? size : 1), (uint32_t)size};
    DEMAND(record.data != NULL);
    memcpy(record.data, data, size);
    return record;
}

static int is_number(int field) {
    switch (field) {
    case BP_FIELD_BLOCK: case BP_FIELD_ROW: case BP_FIELD_CONSTANT: case BP_FIELD_SIZE:
    case BP_FIELD_TX_COUNT: case BP_FIELD_UNCLE_COUNT: case BP_FIELD_WITHDRAWAL_COUNT:
    case BP_FIELD_TX_TYPE: case BP_FIELD_TX_ZEROS: case BP_FIELD_RECEIPT_INDEX:
    case BP_FIELD_RECEIPT_TYPE: case BP_FIELD_RECEIPT_GAS_USED: case BP_FIELD_RECEIPT_LOG_COUNT:
    case BP_FIELD_RECEIPT_FORM: return 1;
    default: return 0;
    }
}

/* The field that a kind looks at beside its own, -1 for none, -2: the kind is not for this one. */
static int other_field(int kind, int field) {
    if (is_number(field))
        return kind == BP_KIND_NUMBER ? -1 : -2;
    switch (kind) {
    case BP_KIND_NUMBER: return -2;
    case BP_KIND_NONZEROS: return field == BP_FIELD_TX_ITEM + BP_TX_INPUT ? BP_FIELD_TX_ZEROS : -2;
    case BP_KIND_CHAIN_ID: return field == BP_FIELD_TX_BOUND ? BP_FIELD_TX_TYPE : -2;
    case BP_KIND_Y_PARITY: return field == BP_FIELD_TX_ITEM + BP_TX_V ? BP_FIELD_TX_TYPE : -2;
    case BP_KIND_BLOOM: return field == BP_FIELD_RECEIPT_BLOOM ? BP_FIELD_RECEIPT_FORM : -2;
    default: return -1;
    }
}

/* Every field that rows of this kind have. */
static void want_all(int rows, struct bp_wants *wants) {
    uint8_t fields[BP_SLOTS_MAX];
    int count = 0;
    for (int field = 0; field < BP_FIELDS && count < BP_SLOTS_MAX; field++) {
        fields[count] = (uint8_t)field;
        count += bp_wants_make(rows, fields, count + 1, wants) == BP_OK;
    }
    DEMAND(count > 0 && bp_wants_make(rows, fields, count, wants) == BP_OK);
    wants->constant = 7;
}

static void grow(struct bp_column *column, uint64_t input_size) {
    for (int part = 0; part < BP_PARTS; part++) {
        struct bp_buffer *buffer = &column->parts[part];
        DEMAND(column->needs[part] <= (1u << 17) * (column->rows / BP_CHUNK_ROWS + 1)
                                      + 40 * input_size);
        if (buffer->capacity >= column->needs[part])
            continue;
        buffer->data = realloc(buffer->data, column->needs[part]);
        DEMAND(buffer->data != NULL);
        buffer->capacity = column->needs[part];
    }
}

/* Add a chunk; whether the column is still of use. */
static int gather(struct bp_column *column, const struct bp_chunk *chunk, const uint8_t *data,
                  uint64_t input_size) {
    uint32_t row = UINT32_MAX;
    uint64_t before = column->rows;
    int status = bp_column_gather(column, chunk, data, &row);
    if (status == BP_NO_SPACE) {
        DEMAND(column->rows == before);
        grow(column, input_size);
        status = bp_column_gather(column, chunk, data, &row);
    }
    DEMAND(status == BP_OK || (status < 0 && status != BP_NO_SPACE && row < chunk->rows));
    DEMAND(status < 0 || column->rows == before + chunk->rows);
    for (int part = 0; part < BP_PARTS; part++)
        DEMAND(column->parts[part].size <= column->parts[part].capacity);
    return status == BP_OK;
}

static void run(const struct bp_wants *wants, const struct bp_window *window, int slot, int kind,
                uint64_t input_size) {
    static struct bp_chunk chunk;
    int field = wants->fields[slot], other = other_field(kind, field), status = 1, of_use = 1;
    if (other == -2 || (other >= 0 && wants->slots[other] < 0))
        return;
    struct bp_column column = {.kind = kind, .slot = slot, .width = 32, .may_lack = 1,
                               .other = other < 0 ? -1 : wants->slots[other]};
    struct bp_walk walk;
    DEMAND(bp_walk_open(wants, window, &walk) == BP_OK);
    while (status == 1 && of_use) {
        status = bp_walk_next(&walk, &chunk);
        DEMAND(status <= 1 && chunk.rows <= BP_CHUNK_ROWS);
        if (status >= 0 && chunk.rows)
            of_use = gather(&column, &chunk, window->records[bp_field_source(field)].data,
                            input_size);
    }
    if (status < 0) {
        DEMAND(walk.source >= 0 && walk.source < BP_SOURCES);
        DEMAND(walk.fault.offset <= window->records[walk.source].size);
    }
    for (int part = 0; part < BP_PARTS; part++)
        free(column.parts[part].data);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
    static const uint8_t difficulty[32] = {1};
    if (size < 4)
        return 0;
    uint64_t header = bp_load16le(input), receipts = bp_load16le(input + 2), rest = size - 4;
    header = header < rest ? header : rest;
    receipts = receipts < rest - header ? receipts : rest - header;
    struct record records[BP_SOURCES] = {
        record_new(input + 4, header),
        record_new(input + 4 + header + receipts, rest - header - receipts),
        record_new(input + 4 + header, receipts), record_new(difficulty, 32)};
    struct bp_window window = {.first = 9, .blocks = 1};
    for (int i = 0; i < BP_SOURCES; i++)
        window.records[i] = (struct bp_records){records[i].data, records[i].end, &records[i].end,
                                                NULL, 0, 0};
    for (int rows = BP_ROWS_BLOCKS; rows <= BP_ROWS_LOGS; rows++) {
        struct bp_wants wants;
        want_all(rows, &wants);
        wants.sources |= 1u << BP_BODIES;
        for (int slot = 0; slot < wants.count; slot++)
            for (int kind = 1; kind <= KINDS; kind++)
                run(&wants, &window, slot, kind, size);
    }
    for (int i = 0; i < BP_SOURCES; i++)
        free(records[i].data);
    return 0;
}

#ifdef STANDALONE
#include "standalone.h"
#endif
