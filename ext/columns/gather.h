/* What the gathers of columns.h share; only ext/columns/gather*.c include it. */
#ifndef BLOCKPACK_GATHER_H
#define BLOCKPACK_GATHER_H

#include "columns/columns.h"

/* The rows of one call: cells[0..rows) become the rows `at` and on of the column. */
struct bp_gather {
    struct bp_column *column;
    const union bp_cell *cells;
    const union bp_cell *others;    /* of column->other, NULL without one */
    const uint8_t *data;
    uint64_t at;
    uint32_t rows;
    uint32_t row;                   /* of the failure */
};

/* Null from row `i` of the call. */
void bp_gather_null(struct bp_gather *gather, uint32_t i);

/* Writes the offset that ends row `i` of the call, and the first one of all. */
void bp_gather_offset(struct bp_gather *gather, uint32_t i, uint64_t end);

/* Lists: the same as bp_column_gather, for rows that have room. */
void bp_lists_need(const struct bp_column *column, uint64_t list_bytes, uint64_t *needs);
int bp_gather_lists(struct bp_gather *gather);

#endif
