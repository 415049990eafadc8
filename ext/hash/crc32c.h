/* CRC-32C (Castagnoli), as S2 and Snappy streams have it: reflected polynomial 0x82f63b78, the
 * register inverted before and after. */
#ifndef BLOCKPACK_CRC32C_H
#define BLOCKPACK_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Checksum of bytes that go on after others whose checksum is `crc`; 0 at the start. */
uint32_t bp_crc32c(uint32_t crc, const uint8_t *data, size_t size);

/* The same, byte by byte from a table: the reference, and what runs without a CRC instruction. */
uint32_t bp_crc32c_table(uint32_t crc, const uint8_t *data, size_t size);

#endif
