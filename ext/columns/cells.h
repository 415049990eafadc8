/* How cells are made and read; only ext/columns includes it. */
#ifndef BLOCKPACK_CELLS_H
#define BLOCKPACK_CELLS_H

#include "columns/columns.h"
#include "rlp/item.h"

static inline union bp_cell bp_cell_number(uint64_t number) {
    union bp_cell cell;
    cell.number = number;
    return cell;
}

/* data[start..end), which bp_walk_open saw to be below 2^32 - 1. */
static inline union bp_cell bp_cell_span(uint64_t start, uint64_t end) {
    union bp_cell cell;
    cell.span.start = (uint32_t)start;
    cell.span.size = (uint32_t)(end - start);
    return cell;
}

/* A string's payload, a list with its prefix. */
static inline union bp_cell bp_cell_item(const struct bp_rlp_item *item) {
    return bp_cell_span(item->is_list ? item->start : item->payload, item->end);
}

static inline int bp_cell_absent(union bp_cell cell) {
    return cell.number == BP_ABSENT;
}

static inline void bp_put(const struct bp_walk *walk, struct bp_chunk *chunk, int field,
                          union bp_cell cell) {
    int slot = walk->wants->slots[field];
    if (slot >= 0) {
        chunk->cells[slot][chunk->rows] = cell;
    }
}

static inline void bp_put_number(const struct bp_walk *walk, struct bp_chunk *chunk, int field,
                                 uint64_t number) {
    bp_put(walk, chunk, field, bp_cell_number(number));
}

static inline int bp_wants_field(const struct bp_walk *walk, int field) {
    return walk->wants->slots[field] >= 0;
}

static inline int bp_wants_source(const struct bp_walk *walk, int source) {
    return walk->wants->sources >> source & 1u;
}

static inline int bp_walk_failed(struct bp_walk *walk, int source, int status, uint64_t offset,
                                 int field) {
    walk->source = source;
    return bp_rlp_failed(&walk->fault, status, offset, field);
}

/* The open block's receipts: those of walk_receipts.c. */
int bp_walk_open_receipts(struct bp_walk *walk);
int bp_walk_next_receipt(struct bp_walk *walk);     /* 1 and walk->receipt, 0 at the end */
int bp_walk_put_receipt(struct bp_walk *walk, struct bp_chunk *chunk);
int bp_walk_receipts(struct bp_walk *walk, struct bp_chunk *chunk);
int bp_walk_logs(struct bp_walk *walk, struct bp_chunk *chunk);

/* What a transaction of walk.c puts into the row, and the end of the row. */
int bp_walk_next_tx(struct bp_walk *walk);          /* 1 and walk->tx, 0 at the end */
int bp_walk_put_tx(struct bp_walk *walk, struct bp_chunk *chunk);
void bp_walk_row_done(struct bp_walk *walk, struct bp_chunk *chunk);

#endif
