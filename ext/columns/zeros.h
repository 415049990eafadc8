/* Zero bytes of calldata, which cost less gas than others. */
#ifndef BLOCKPACK_ZEROS_H
#define BLOCKPACK_ZEROS_H

#include <stdint.h>

/* How many of these bytes are zero. */
uint64_t bp_count_zeros(const uint8_t *bytes, uint64_t size);

#endif
