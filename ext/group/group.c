#include "group.h"

#include "status.h"

#include <string.h>

static uint64_t entry_of(uint64_t size) {
    return size == BP_RECORD_ABSENT ? 0 : size + 1;
}

static uint64_t smallest_entry(const uint64_t *sizes, size_t count) {
    uint64_t base = entry_of(sizes[0]);
    for (size_t i = 1; i < count; i++) {
        uint64_t entry = entry_of(sizes[i]);
        base = entry < base ? entry : base;
    }
    return base;
}

static unsigned varint_size(uint64_t value) {
    unsigned size = 1;
    while (value >>= 7) {
        size++;
    }
    return size;
}

static uint8_t *write_varint(uint8_t *target, uint64_t value) {
    while (value > 0x7f) {
        *target++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *target++ = (uint8_t)value;
    return target;
}

int64_t bp_group_size(const uint64_t *sizes, size_t count) {
    if (count == 0) {
        return BP_OUT_OF_RANGE;
    }
    if (count > BP_GROUP_RECORDS_MAX) {
        return BP_TOO_LARGE;
    }
    uint64_t base = smallest_entry(sizes, count);
    uint64_t bytes = varint_size(base);
    for (size_t i = 0; i < count; i++) {
        uint64_t entry = entry_of(sizes[i]);
        if (entry > BP_RECORD_BYTES_MAX + 1) {
            return BP_TOO_LARGE;
        }
        bytes += varint_size(entry - base) + (entry ? entry - 1 : 0);
    }
    return (int64_t)bytes;
}

int64_t bp_group_pack(const uint8_t *const *records, const uint64_t *sizes, size_t count,
                      uint8_t *target, uint64_t target_size) {
    int64_t size = bp_group_size(sizes, count);
    if (size < 0) {
        return size;
    }
    if ((uint64_t)size != target_size) {
        return BP_NO_SPACE;
    }
    uint64_t base = smallest_entry(sizes, count);
    target = write_varint(target, base);
    for (size_t i = 0; i < count; i++) {
        target = write_varint(target, entry_of(sizes[i]) - base);
    }
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] != BP_RECORD_ABSENT && sizes[i] != 0) {
            memcpy(target, records[i], sizes[i]);
            target += sizes[i];
        }
    }
    return size;
}

/* Reads the varint at *offset and moves it past. Only here is the table read, and bounded. */
static int64_t read_varint(const uint8_t *content, uint64_t available, uint64_t *offset) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 7 * BP_GROUP_VARINT_MAX; shift += 7) {
        if (*offset >= available) {
            return BP_TRUNCATED;
        }
        uint8_t byte = content[(*offset)++];
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return byte == 0 && shift > 0 ? BP_NONCANONICAL : (int64_t)value;
        }
    }
    return BP_MALFORMED;
}

/* Leaves the length of record i in ends[i], and BP_GROUP_ABSENT. Returns the table size. */
static int64_t read_lengths(const uint8_t *content, uint64_t available, size_t count,
                            uint32_t *ends) {
    uint64_t offset = 0;
    int base_is_used = 0;
    int64_t base = read_varint(content, available, &offset);
    if (base < 0) {
        return base;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t delta = read_varint(content, available, &offset);
        if (delta < 0) {
            return delta;
        }
        uint64_t entry = (uint64_t)base + (uint64_t)delta;
        if (entry > BP_RECORD_BYTES_MAX + 1) {
            return BP_TOO_LARGE;
        }
        ends[i] = entry ? (uint32_t)(entry - 1) : BP_GROUP_ABSENT;
        base_is_used |= delta == 0;
    }
    return base_is_used ? (int64_t)offset : BP_NONCANONICAL;
}

int64_t bp_group_read(const uint8_t *content, uint64_t available, size_t count, uint64_t total,
                      uint32_t *ends) {
    if (count == 0 || count > BP_GROUP_RECORDS_MAX) {
        return BP_OUT_OF_RANGE;
    }
    int64_t table_size = read_lengths(content, available, count, ends);
    if (table_size < 0) {
        return table_size;
    }
    uint64_t end = (uint64_t)table_size;
    for (size_t i = 0; i < count; i++) {
        uint32_t absent = ends[i] & BP_GROUP_ABSENT;
        end += ends[i] & ~BP_GROUP_ABSENT;
        if (end > total || end >= BP_GROUP_ABSENT) {
            return BP_BAD_OFFSET;
        }
        ends[i] = (uint32_t)end | absent;
    }
    return end == total ? table_size : BP_TRAILING;
}
