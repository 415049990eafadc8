/* Records that hold the hash of the one before: a chain's headers without their parent hashes.
 *
 * A *link* is the first item of a record that is an RLP list, a string of 32 bytes (a0 and the
 * bytes), when they are the Keccak-256 of the record before. In the content of a group (group.h)
 * the links that can be computed again are cut out; the table keeps the records' full lengths.
 *
 * `follows[i]` is 1 where record i's number is one above that of record i - 1; follows[0] is 0. A
 * record is cut when it follows, and both are present: all such records of a content, or none.
 *
 * `ends` and `table_size` are those of bp_group_read for the full content. No allocation, no
 * globals. */
#ifndef BLOCKPACK_LINKS_H
#define BLOCKPACK_LINKS_H

#include <stddef.h>
#include <stdint.h>

#define BP_LINK_BYTES 32

/* What is known of a content's records. */
struct bp_links {
    const uint32_t *ends;
    const uint8_t *follows;
    size_t count;
    uint32_t table_size;
};

/* How many records are cut, if each of these has its link and it is right; else 0. */
uint64_t bp_links_count(const struct bp_links *links, const uint8_t *content);

/* How many records there are to cut, by follows and ends alone. */
uint64_t bp_links_expected(const struct bp_links *links);

/* Write the content without its links: `size` - BP_LINK_BYTES * bp_links_count bytes, which target
 * must have. REQUIRES: bp_links_count is not 0. */
void bp_links_cut(const struct bp_links *links, const uint8_t *content, uint64_t size,
                  uint8_t *target);

/* The opposite, with zeros where the links were. Target has the full content's size, source
 * BP_LINK_BYTES * bp_links_expected bytes less. BP_MALFORMED: a record that was cut has no place
 * for a link. */
int64_t bp_links_expand(const struct bp_links *links, const uint8_t *source, uint8_t *target);

/* Compute the links of records from..to - 1. REQUIRES: those before `from` are there. */
void bp_links_fill(const struct bp_links *links, uint8_t *content, size_t from, size_t to);

#endif
