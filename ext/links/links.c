#include "links.h"

#include <string.h>

#include "group/group.h"
#include "hash/keccak.h"
#include "status.h"

#define LINK_TAG 0xa0 /* RLP's prefix of a string of 32 bytes */

static uint64_t start_of(const struct bp_links *links, size_t i) {
    return i ? links->ends[i - 1] & ~BP_GROUP_ABSENT : links->table_size;
}

static uint64_t end_of(const struct bp_links *links, size_t i) {
    return links->ends[i] & ~BP_GROUP_ABSENT;
}

static int present(const struct bp_links *links, size_t i) {
    return (links->ends[i] & BP_GROUP_ABSENT) == 0;
}

static int is_cut(const struct bp_links *links, size_t i) {
    return links->follows[i] && present(links, i) && present(links, i - 1);
}

/* Offset of the link in a record of `size` bytes when it is whole, of which the first ones up to
 * the link are at hand; 0: it has no place for one. */
static uint64_t link_offset(const uint8_t *record, uint64_t size) {
    if (size < 2 + BP_LINK_BYTES || record[0] <= 0xc0)
        return 0;
    /* A list of up to 55 bytes has its size in the first byte, a longer one behind it. */
    uint64_t at = record[0] < 0xf8 ? 1 : record[0] - 0xf8 + 2;
    if (at + 1 + BP_LINK_BYTES > size || record[at] != LINK_TAG)
        return 0;
    return at + 1;
}

static int is_right(const struct bp_links *links, const uint8_t *content, size_t i) {
    uint8_t hash[BP_LINK_BYTES];
    uint64_t before = start_of(links, i - 1), start = start_of(links, i);
    uint64_t offset = link_offset(content + start, end_of(links, i) - start);
    if (offset == 0)
        return 0;
    bp_keccak256(content + before, end_of(links, i - 1) - before, hash);
    return memcmp(content + start + offset, hash, BP_LINK_BYTES) == 0;
}

uint64_t bp_links_expected(const struct bp_links *links) {
    uint64_t count = 0;
    for (size_t i = 1; i < links->count; i++)
        count += is_cut(links, i);
    return count;
}

uint64_t bp_links_count(const struct bp_links *links, const uint8_t *content) {
    for (size_t i = 1; i < links->count; i++)
        if (is_cut(links, i) && !is_right(links, content, i))
            return 0;
    return bp_links_expected(links);
}

void bp_links_cut(const struct bp_links *links, const uint8_t *content, uint64_t size,
                  uint8_t *target) {
    uint64_t done = 0;
    for (size_t i = 1; i < links->count; i++) {
        if (!is_cut(links, i))
            continue;
        uint64_t start = start_of(links, i);
        uint64_t end = start + link_offset(content + start, end_of(links, i) - start);
        memcpy(target, content + done, end - done);
        target += end - done;
        done = end + BP_LINK_BYTES;
    }
    memcpy(target, content + done, size - done);
}

int64_t bp_links_expand(const struct bp_links *links, const uint8_t *source, uint8_t *target) {
    uint64_t done = 0; /* bytes of target */
    for (size_t i = 1; i < links->count; i++) {
        if (!is_cut(links, i))
            continue;
        uint64_t start = start_of(links, i), size = end_of(links, i) - start;
        if (size < BP_LINK_BYTES)
            return BP_MALFORMED;
        memcpy(target + done, source, start - done);
        source += start - done;
        /* What is left of the record is at hand, and link_offset looks no further than that. */
        uint64_t offset = link_offset(source, size);
        if (offset == 0)
            return BP_MALFORMED;
        memcpy(target + start, source, offset);
        memset(target + start + offset, 0, BP_LINK_BYTES);
        source += offset;
        done = start + offset + BP_LINK_BYTES;
    }
    memcpy(target + done, source, end_of(links, links->count - 1) - done);
    return BP_OK;
}

void bp_links_fill(const struct bp_links *links, uint8_t *content, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        if (i == 0 || !is_cut(links, i))
            continue;
        uint64_t before = start_of(links, i - 1), start = start_of(links, i);
        uint64_t offset = link_offset(content + start, end_of(links, i) - start);
        bp_keccak256(content + before, end_of(links, i - 1) - before, content + start + offset);
    }
}
