/* Cells to values: see columns.h. Every buffer's room is compared in bp_column_gather, once a
 * chunk; what a cell spans was inside of its record when the walk noted it. */
#include <string.h>

#include "bytes.h"
#include "columns/cells.h"
#include "columns/gather.h"
#include "columns/u256.h"
#include "hash/keccak.h"
#include "status.h"

#define U64_SIZE 8
#define ROOT_SIZE 32
#define DECIMAL_SIZE_MAX 78     /* digits of 2^256 - 1 */
#define PROTECTED_V 35          /* EIP-155: v = 35 + 2 * chain id + parity of y; 27 or 28 before */
#define PLAIN_V 27

void bp_gather_null(struct bp_gather *gather, uint32_t i) {
    struct bp_buffer *valid = &gather->column->parts[BP_VALID];
    if (valid->size == 0) {
        valid->size = gather->at + gather->rows;
        memset(valid->data, 1, valid->size);
    }
    valid->data[gather->at + i] = 0;
}

void bp_gather_offset(struct bp_gather *gather, uint32_t i, uint64_t end) {
    int64_t *offsets = (int64_t *)(void *)gather->column->parts[BP_OFFSETS].data;
    offsets[0] = 0;
    offsets[gather->at + i + 1] = (int64_t)end;
}

/* The last `size` bytes, at most 8, before data[end]: one load and a shift where eight bytes are at
 * hand, which is so but at the very start of a group. */
static inline uint64_t load_tail(const uint8_t *data, uint64_t end, uint32_t size) {
    if (size == 0) {
        return 0;
    }
    if (end >= U64_SIZE) {
        uint64_t word = bp_load64le(data + end - U64_SIZE);
        return __builtin_bswap64(word) & (UINT64_MAX >> (64 - 8 * size));
    }
    uint64_t word = 0;
    for (uint64_t at = end - size; at < end; at++) {
        word = word << 8 | data[at];
    }
    return word;
}

static inline uint64_t end_of(union bp_cell cell) {
    return (uint64_t)cell.span.start + cell.span.size;
}

/* An integer without leading zeros in at most `width` bytes. */
static inline int is_integer(const uint8_t *data, union bp_cell cell, uint32_t width) {
    return cell.span.size <= width && (cell.span.size == 0 || data[cell.span.start] != 0);
}

static struct bp_u256 load_u256(const uint8_t *data, union bp_cell cell) {
    struct bp_u256 value = {{0, 0, 0, 0}};
    uint32_t left = cell.span.size;
    uint64_t end = end_of(cell);
    for (int i = 0; left > 0; i++) {
        uint32_t used = left < U64_SIZE ? left : U64_SIZE;
        value.words[i] = load_tail(data, end, used);
        end -= used;
        left -= used;
    }
    return value;
}

/* An integer whose value has to fit into 64 bits, though its field is wider. */
static inline int read_u64(const uint8_t *data, union bp_cell cell, uint32_t width,
                           uint64_t *value) {
    if (!is_integer(data, cell, width)) {
        return BP_BAD_INTEGER;
    }
    if (cell.span.size > U64_SIZE) {
        return BP_TOO_LARGE;
    }
    *value = load_tail(data, end_of(cell), cell.span.size);
    return 1;
}

/* A legacy transaction's chain id is in its v; 0 for none. */
static inline int read_chain_id(const uint8_t *data, union bp_cell cell, uint64_t type,
                                uint64_t *value) {
    if (type > 0) {
        return read_u64(data, cell, BP_U256_SIZE, value);
    }
    if (!is_integer(data, cell, BP_U256_SIZE)) {
        return BP_BAD_INTEGER;
    }
    struct bp_u256 v = load_u256(data, cell);
    if (cell.span.size <= U64_SIZE && v.words[0] < PROTECTED_V) {
        return 0;
    }
    v = bp_u256_half(bp_u256_minus(v, PROTECTED_V));
    *value = v.words[0];
    return v.words[1] | v.words[2] | v.words[3] ? BP_TOO_LARGE : 1;
}

static inline int read_y_parity(const uint8_t *data, union bp_cell cell, uint64_t type,
                                uint64_t *value) {
    if (type > 0) {
        return read_u64(data, cell, BP_U256_SIZE, value);
    }
    if (!is_integer(data, cell, BP_U256_SIZE)) {
        return BP_BAD_INTEGER;
    }
    uint64_t low = load_tail(data, end_of(cell), cell.span.size < U64_SIZE ? cell.span.size
                                                                           : U64_SIZE);
    if (cell.span.size > U64_SIZE || low >= PROTECTED_V) {
        *value = (low - PROTECTED_V) & 1;
        return 1;
    }
    *value = low - PLAIN_V;
    return low == PLAIN_V || low == PLAIN_V + 1;
}

/* 1 and a word, 0 for null, or a failure. */
static inline int read_word(int kind, const struct bp_gather *gather, uint32_t i,
                            uint64_t *value) {
    union bp_cell cell = gather->cells[i];
    switch (kind) {
    case BP_KIND_SIZE:
        *value = cell.span.size;
        return 1;
    case BP_KIND_NONZEROS:
        *value = cell.span.size - gather->others[i].number;
        return 1;
    case BP_KIND_U64:
        return read_u64(gather->data, cell, U64_SIZE, value);
    case BP_KIND_U256_U64:
        return read_u64(gather->data, cell, BP_U256_SIZE, value);
    case BP_KIND_CHAIN_ID:
        return read_chain_id(gather->data, cell, gather->others[i].number, value);
    case BP_KIND_Y_PARITY:
        return read_y_parity(gather->data, cell, gather->others[i].number, value);
    default:        /* a status, which is strict */
        *value = cell.span.size;
        return cell.span.size != ROOT_SIZE;
    }
}

/* Inlined for each kind. */
static inline int gather_words(int kind, struct bp_gather *gather) {
    uint64_t *values = (uint64_t *)(void *)gather->column->parts[BP_VALUES].data + gather->at;
    for (uint32_t i = 0; i < gather->rows; i++) {
        int status = 0;
        values[i] = 0;
        if (!bp_cell_absent(gather->cells[i])) {
            status = read_word(kind, gather, i, &values[i]);
        }
        if (status <= 0) {
            gather->row = i;
            if (status < 0) {
                return status;
            }
            values[i] = 0;
            bp_gather_null(gather, i);
        }
    }
    return BP_OK;
}

static int gather_numbers(struct bp_gather *gather) {
    uint64_t *values = (uint64_t *)(void *)gather->column->parts[BP_VALUES].data + gather->at;
    for (uint32_t i = 0; i < gather->rows; i++) {
        values[i] = gather->cells[i].number;
        if (values[i] == BP_ABSENT && gather->column->may_lack) {
            values[i] = 0;
            bp_gather_null(gather, i);
        }
    }
    return BP_OK;
}

static int gather_flags(struct bp_gather *gather) {
    uint8_t *values = gather->column->parts[BP_VALUES].data + gather->at;
    for (uint32_t i = 0; i < gather->rows; i++) {
        union bp_cell cell = gather->cells[i];
        int is_null = bp_cell_absent(cell) || cell.span.size == ROOT_SIZE;
        values[i] = !is_null && cell.span.size == 1;
        if (is_null) {
            bp_gather_null(gather, i);
        }
    }
    return BP_OK;
}

static int gather_doubles(struct bp_gather *gather) {
    double *values = (double *)(void *)gather->column->parts[BP_VALUES].data + gather->at;
    for (uint32_t i = 0; i < gather->rows; i++) {
        union bp_cell cell = gather->cells[i];
        values[i] = 0;
        if (bp_cell_absent(cell)) {
            bp_gather_null(gather, i);
        } else if (!is_integer(gather->data, cell, BP_U256_SIZE)) {
            gather->row = i;
            return BP_BAD_INTEGER;
        } else {
            values[i] = bp_u256_double(load_u256(gather->data, cell));
        }
    }
    return BP_OK;
}

static inline int copy_exactly(const struct bp_gather *gather, union bp_cell cell, uint32_t width,
                               uint8_t *target) {
    if (cell.span.size != width) {
        return BP_BAD_WIDTH;
    }
    memcpy(target, gather->data + cell.span.start, width);
    return 1;
}

static inline int read_u256(const struct bp_gather *gather, union bp_cell cell,
                            uint8_t *target) {
    if (!is_integer(gather->data, cell, BP_U256_SIZE)) {
        return BP_BAD_INTEGER;
    }
    struct bp_u256 value = load_u256(gather->data, cell);
    for (int i = 0; i < 4; i++) {
        bp_store64le(target + U64_SIZE * i, __builtin_bswap64(value.words[3 - i]));
    }
    return 1;
}

static int reverse_u256(const struct bp_gather *gather, union bp_cell cell, uint8_t *target) {
    if (cell.span.size != BP_U256_SIZE) {
        return BP_BAD_WIDTH;
    }
    for (uint32_t i = 0; i < BP_U256_SIZE; i++) {
        target[i] = gather->data[cell.span.start + BP_U256_SIZE - 1 - i];
    }
    return 1;
}

/* The hash of the row before where it is of the same bytes: a header's, or that of several logs'
 * transaction. */
static int read_keccak(const struct bp_gather *gather, uint32_t i, uint8_t *target) {
    union bp_cell cell = gather->cells[i];
    if (i > 0 && gather->cells[i - 1].number == cell.number) {
        memcpy(target, target - BP_KECCAK256_SIZE, BP_KECCAK256_SIZE);
    } else {
        bp_keccak256(gather->data + cell.span.start, cell.span.size, target);
    }
    return 1;
}

/* The receipt's, or one made of its logs. */
static int read_bloom(const struct bp_gather *gather, uint32_t i, uint8_t *target) {
    union bp_cell cell = gather->cells[i];
    struct bp_rlp_fault fault;
    struct bp_receipt receipt;
    if (gather->others[i].number == BP_RECEIPTS_CONSENSUS) {
        return copy_exactly(gather, cell, BP_BLOOM_BYTES, target);
    }
    int status = bp_rlp_read(gather->data, cell.span.start, end_of(cell), BP_RLP_STRICT,
                             &receipt.logs);
    status = status < 0 ? status : bp_receipt_bloom(gather->data, &receipt, target, &fault);
    return status < 0 ? status : 1;
}

/* 1 and `width` bytes, 0 for null, or a failure. */
static inline int read_fixed(int kind, const struct bp_gather *gather, uint32_t i, uint32_t width,
                             uint8_t *target) {
    union bp_cell cell = gather->cells[i];
    switch (kind) {
    case BP_KIND_FIXED:
        return copy_exactly(gather, cell, width, target);
    case BP_KIND_FIXED_OR_NONE:
        return cell.span.size == 0 ? 0 : copy_exactly(gather, cell, width, target);
    case BP_KIND_ROOT:
        return cell.span.size != width ? 0 : copy_exactly(gather, cell, width, target);
    case BP_KIND_U256:
        return read_u256(gather, cell, target);
    case BP_KIND_LITTLE_U256:
        return reverse_u256(gather, cell, target);
    case BP_KIND_KECCAK:
        return read_keccak(gather, i, target);
    default:
        return read_bloom(gather, i, target);
    }
}

/* Inlined for each kind, and for the widths of addresses and hashes. */
static inline int gather_fixed(int kind, struct bp_gather *gather, uint32_t width) {
    uint8_t *target = gather->column->parts[BP_VALUES].data + gather->at * width;
    for (uint32_t i = 0; i < gather->rows; i++, target += width) {
        int status = bp_cell_absent(gather->cells[i])
                         ? 0 : read_fixed(kind, gather, i, width, target);
        if (status <= 0) {
            gather->row = i;
            if (status < 0) {
                return status;
            }
            memset(target, 0, width);
            bp_gather_null(gather, i);
        }
    }
    return BP_OK;
}

static int gather_widths(struct bp_gather *gather) {
    uint32_t width = gather->column->width;
    int is_exact = gather->column->kind == BP_KIND_FIXED;
    if (width == BP_TOPIC_SIZE && is_exact) {
        return gather_fixed(BP_KIND_FIXED, gather, BP_TOPIC_SIZE);
    }
    if (width == BP_ADDRESS_SIZE) {
        return is_exact ? gather_fixed(BP_KIND_FIXED, gather, BP_ADDRESS_SIZE)
                        : gather_fixed(BP_KIND_FIXED_OR_NONE, gather, BP_ADDRESS_SIZE);
    }
    return is_exact ? gather_fixed(BP_KIND_FIXED, gather, width)
                    : gather_fixed(BP_KIND_FIXED_OR_NONE, gather, width);
}

static int gather_variable(struct bp_gather *gather, int is_decimal) {
    struct bp_buffer *values = &gather->column->parts[BP_VALUES];
    for (uint32_t i = 0; i < gather->rows; i++) {
        union bp_cell cell = gather->cells[i];
        uint8_t *target = values->data + values->size;
        if (bp_cell_absent(cell)) {
            bp_gather_null(gather, i);
        } else if (!is_decimal) {
            memcpy(target, gather->data + cell.span.start, cell.span.size);
            values->size += cell.span.size;
        } else if (is_integer(gather->data, cell, BP_U256_SIZE)) {
            values->size += (uint64_t)bp_u256_decimal(load_u256(gather->data, cell), target);
        } else {
            gather->row = i;
            return BP_BAD_INTEGER;
        }
        bp_gather_offset(gather, i, values->size);
    }
    return BP_OK;
}

/* Bytes of a value; 0 for those that are of variable size. */
static uint64_t width_of(const struct bp_column *column) {
    switch (column->kind) {
    case BP_KIND_SUCCESS:
        return 1;
    case BP_KIND_FIXED:
    case BP_KIND_FIXED_OR_NONE:
        return column->width;
    case BP_KIND_U256:
    case BP_KIND_LITTLE_U256:
    case BP_KIND_KECCAK:
    case BP_KIND_ROOT:
        return BP_TOPIC_SIZE;
    case BP_KIND_BLOOM:
        return BP_BLOOM_BYTES;
    case BP_KIND_BYTES:
    case BP_KIND_U256_DECIMAL:
        return 0;
    default:
        return column->kind >= BP_KIND_HASHES ? 0 : U64_SIZE;
    }
}

/* Whether every part has room for the rows, whatever they are; notes what it must have. */
static int has_room(struct bp_column *column, const struct bp_gather *gather) {
    uint64_t rows = gather->at + gather->rows;
    uint64_t width = width_of(column);
    uint64_t span_bytes = 0;
    int is_enough = 1;
    memset(column->needs, 0, sizeof column->needs);
    column->needs[BP_VALID] = rows;
    column->needs[BP_VALUES] = rows * width;
    if (width == 0) {
        for (uint32_t i = 0; i < gather->rows; i++) {
            span_bytes += bp_cell_absent(gather->cells[i]) ? 0 : gather->cells[i].span.size;
        }
        column->needs[BP_OFFSETS] = (rows + 1) * sizeof(int64_t);
        column->needs[BP_VALUES] = column->kind == BP_KIND_BYTES
            ? column->parts[BP_VALUES].size + span_bytes + 1    /* never a buffer of nothing */
            : column->kind == BP_KIND_U256_DECIMAL
            ? column->parts[BP_VALUES].size + (uint64_t)gather->rows * DECIMAL_SIZE_MAX : 0;
        bp_lists_need(column, span_bytes, column->needs);
    }
    for (int part = 0; part < BP_PARTS; part++) {
        is_enough &= column->parts[part].capacity >= column->needs[part];
    }
    return is_enough;
}

#define WORDS(kind) case kind: return gather_words(kind, gather)
#define FIXED(kind) case kind: return gather_fixed(kind, gather, BP_TOPIC_SIZE)

static int gather_rows(struct bp_gather *gather) {
    switch (gather->column->kind) {
    case BP_KIND_NUMBER:
        return gather_numbers(gather);
    WORDS(BP_KIND_SIZE);
    WORDS(BP_KIND_NONZEROS);
    WORDS(BP_KIND_U64);
    WORDS(BP_KIND_U256_U64);
    WORDS(BP_KIND_CHAIN_ID);
    WORDS(BP_KIND_Y_PARITY);
    WORDS(BP_KIND_STATUS);
    FIXED(BP_KIND_U256);
    FIXED(BP_KIND_LITTLE_U256);
    FIXED(BP_KIND_KECCAK);
    FIXED(BP_KIND_ROOT);
    case BP_KIND_BLOOM:
        return gather_fixed(BP_KIND_BLOOM, gather, BP_BLOOM_BYTES);
    case BP_KIND_FIXED:
    case BP_KIND_FIXED_OR_NONE:
        return gather_widths(gather);
    case BP_KIND_SUCCESS:
        return gather_flags(gather);
    case BP_KIND_U256_F64:
        return gather_doubles(gather);
    case BP_KIND_BYTES:
    case BP_KIND_U256_DECIMAL:
        return gather_variable(gather, gather->column->kind == BP_KIND_U256_DECIMAL);
    default:
        return bp_gather_lists(gather);
    }
}

int bp_column_gather(struct bp_column *column, const struct bp_chunk *chunk, const uint8_t *data,
                     uint32_t *row) {
    struct bp_gather gather = {
        .column = column, .cells = chunk->cells[column->slot], .data = data,
        .others = column->other < 0 ? NULL : chunk->cells[column->other],
        .at = column->rows, .rows = chunk->rows, .row = 0};
    struct bp_buffer *valid = &column->parts[BP_VALID];
    *row = 0;
    if (!has_room(column, &gather)) {
        return BP_NO_SPACE;
    }
    if (valid->size > 0) {
        memset(valid->data + valid->size, 1, chunk->rows);
        valid->size += chunk->rows;
    }
    int status = gather_rows(&gather);
    *row = gather.row;
    column->rows += chunk->rows;
    column->parts[BP_OFFSETS].size = column->needs[BP_OFFSETS];
    if (width_of(column) > 0) {
        column->parts[BP_VALUES].size = column->needs[BP_VALUES];
    }
    return status < 0 ? status : BP_OK;
}
