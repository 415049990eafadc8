#include "hashes.h"

#include "bytes.h"
#include "status.h"

#define HEAD_BYTES 8
#define START_BYTES 4
#define TAG_BYTES 2
#define TAG_BITS 16
/* log2 of the fewest entries a bucket has on average: with 8, the starts take half a byte an entry,
 * and a search compares 8 to 16 tags, of which one in 5,000 is another hash's. */
#define BUCKET_BITS_LESS 3

/* The parts of an index; all follow from its head. */
struct shape {
    uint64_t count;
    uint32_t bucket_bits;
    uint32_t ordinal_bytes;
    uint64_t entries; /* offset of the first */
};

static uint32_t bits_of(uint64_t value) {
    uint32_t bits = 0;
    for (; value; value >>= 1)
        bits++;
    return bits;
}

static struct shape shape_of(uint64_t count, uint64_t records) {
    uint32_t bits = bits_of(count), top = bits_of(records ? records - 1 : 0);
    struct shape shape = {count, bits > BUCKET_BITS_LESS ? bits - 1 - BUCKET_BITS_LESS : 0,
                          top ? (top + 7) / 8 : 1, 0};
    shape.entries = HEAD_BYTES + START_BYTES * ((1ull << shape.bucket_bits) + 1);
    return shape;
}

static uint64_t size_of(const struct shape *shape) {
    return shape->entries + shape->count * (TAG_BYTES + shape->ordinal_bytes);
}

static struct shape read_shape(const uint8_t *data) {
    struct shape shape = {bp_load32le(data), data[4], data[5], 0};
    shape.entries = HEAD_BYTES + START_BYTES * ((1ull << shape.bucket_bits) + 1);
    return shape;
}

static uint64_t bucket_of(const struct shape *shape, uint64_t key) {
    return shape->bucket_bits ? key >> (64 - shape->bucket_bits) : 0;
}

static uint16_t tag_of(const struct shape *shape, uint64_t key) {
    return (uint16_t)(key << shape->bucket_bits >> (64 - TAG_BITS));
}

static uint8_t *start_at(uint8_t *data, uint64_t bucket) {
    return data + HEAD_BYTES + START_BYTES * bucket;
}

static uint64_t start_of(const uint8_t *data, uint64_t bucket) {
    return bp_load32le(data + HEAD_BYTES + START_BYTES * bucket);
}

static uint64_t entry_offset(const struct shape *shape, uint64_t i) {
    return shape->entries + i * (TAG_BYTES + shape->ordinal_bytes);
}

static uint64_t ordinal_at(const struct shape *shape, const uint8_t *data, uint64_t i) {
    const uint8_t *from = data + entry_offset(shape, i) + TAG_BYTES;
    uint64_t ordinal = 0;
    for (uint32_t byte = shape->ordinal_bytes; byte > 0; byte--)
        ordinal = ordinal << 8 | from[byte - 1];
    return ordinal;
}

static void store_entry(const struct shape *shape, uint8_t *data, uint64_t at,
                        const struct bp_hashed *entry) {
    uint8_t *place = data + entry_offset(shape, at);
    bp_store16le(place, tag_of(shape, entry->key));
    for (uint32_t byte = 0; byte < shape->ordinal_bytes; byte++)
        place[TAG_BYTES + byte] = (uint8_t)(entry->ordinal >> (8 * byte));
}

/* By insertion, which keeps the order of equal tags: buckets are short. */
static void sort_bucket(const struct shape *shape, uint8_t *data, uint64_t first, uint64_t end) {
    uint64_t width = TAG_BYTES + shape->ordinal_bytes;
    uint8_t moved[TAG_BYTES + sizeof(uint32_t)];
    for (uint64_t i = first + 1; i < end; i++) {
        uint64_t at = i;
        memcpy(moved, data + entry_offset(shape, i), width);
        while (at > first && bp_load16le(data + entry_offset(shape, at - 1)) > bp_load16le(moved))
            at--;
        uint8_t *place = data + entry_offset(shape, at);
        memmove(place + width, place, (i - at) * width);
        memcpy(place, moved, width);
    }
}

uint64_t bp_hashes_size(uint64_t count, uint64_t records) {
    struct shape shape = shape_of(count, records);
    return size_of(&shape);
}

/* Sizes of the buckets, in the place of their starts, become the starts. */
static void sum_sizes(uint8_t *data, uint64_t buckets) {
    uint32_t first = 0;
    for (uint64_t bucket = 0; bucket <= buckets; bucket++) {
        uint32_t size = bp_load32le(start_at(data, bucket));
        bp_store32le(start_at(data, bucket), first);
        first += size;
    }
}

void bp_hashes_build(const struct bp_hashed *entries, uint64_t count, uint64_t records,
                     uint8_t *target) {
    struct shape shape = shape_of(count, records);
    uint64_t buckets = 1ull << shape.bucket_bits;
    memset(target, 0, shape.entries);
    for (uint64_t i = 0; i < count; i++) {
        uint8_t *size = start_at(target, bucket_of(&shape, entries[i].key));
        bp_store32le(size, bp_load32le(size) + 1);
    }
    sum_sizes(target, buckets);
    /* Each entry to the end of its bucket so far: the starts become ends, and move up by one. */
    for (uint64_t i = 0; i < count; i++) {
        uint8_t *next = start_at(target, bucket_of(&shape, entries[i].key));
        uint32_t at = bp_load32le(next);
        store_entry(&shape, target, at, &entries[i]);
        bp_store32le(next, at + 1);
    }
    memmove(start_at(target, 1), start_at(target, 0), START_BYTES * buckets);
    bp_store32le(start_at(target, 0), 0);
    bp_store32le(target, (uint32_t)count);
    target[4] = (uint8_t)shape.bucket_bits;
    target[5] = (uint8_t)shape.ordinal_bytes;
    for (uint64_t bucket = 0; bucket < buckets; bucket++)
        sort_bucket(&shape, target, start_of(target, bucket), start_of(target, bucket + 1));
}

static int64_t check_bucket(const struct shape *shape, const uint8_t *data, uint64_t bucket,
                            uint64_t records) {
    uint64_t first = start_of(data, bucket), end = start_of(data, bucket + 1);
    if (end < first || end > shape->count)
        return BP_MALFORMED;
    for (uint64_t i = first; i < end; i++) {
        if (ordinal_at(shape, data, i) >= records)
            return BP_OUT_OF_RANGE;
        if (i > first && bp_load16le(data + entry_offset(shape, i)) <
                             bp_load16le(data + entry_offset(shape, i - 1)))
            return BP_MALFORMED;
    }
    return BP_OK;
}

int64_t bp_hashes_check(const uint8_t *data, uint64_t size, uint64_t records) {
    if (size < HEAD_BYTES)
        return BP_TRUNCATED;
    struct shape shape = shape_of(bp_load32le(data), records);
    if (shape.count > records || data[4] != shape.bucket_bits || data[5] != shape.ordinal_bytes ||
        bp_load16le(data + 6) != 0)
        return BP_MALFORMED;
    if (size != size_of(&shape))
        return size < size_of(&shape) ? BP_TRUNCATED : BP_TRAILING;
    uint64_t buckets = 1ull << shape.bucket_bits;
    if (start_of(data, 0) != 0 || start_of(data, buckets) != shape.count)
        return BP_MALFORMED;
    for (uint64_t bucket = 0; bucket < buckets; bucket++) {
        int64_t status = check_bucket(&shape, data, bucket, records);
        if (status != BP_OK)
            return status;
    }
    return BP_OK;
}

int bp_hashes_find(const uint8_t *data, uint64_t key, uint64_t nth, uint64_t *ordinal) {
    struct shape shape = read_shape(data);
    uint64_t bucket = bucket_of(&shape, key), end = start_of(data, bucket + 1);
    uint16_t tag = tag_of(&shape, key);
    for (uint64_t i = start_of(data, bucket); i < end; i++) {
        if (bp_load16le(data + entry_offset(&shape, i)) != tag || nth-- > 0)
            continue;
        *ordinal = ordinal_at(&shape, data, i);
        return 1;
    }
    return 0;
}
