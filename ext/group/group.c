#include "group.h"

#include "status.h"

#include <string.h>

/* Bytes that `entry` (a record length + 1) takes in the table. */
static unsigned width_of(uint64_t entry) {
    unsigned width = 1;
    while (width < BP_GROUP_WIDTH_MAX && entry >> (8 * width)) {
        width++;
    }
    return width;
}

static uint64_t entry_of(uint64_t size) {
    return size == BP_RECORD_ABSENT ? 0 : size + 1;
}

int64_t bp_group_size(const uint64_t *sizes, size_t count, unsigned *width) {
    uint64_t largest = 0;
    uint64_t bytes = 0;
    if (count == 0) {
        return BP_OUT_OF_RANGE;
    }
    if (count > BP_GROUP_RECORDS_MAX) {
        return BP_TOO_LARGE;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t entry = entry_of(sizes[i]);
        if (entry > BP_RECORD_BYTES_MAX + 1) {
            return BP_TOO_LARGE;
        }
        if (entry > largest) {
            largest = entry;
        }
        bytes += entry ? entry - 1 : 0;
    }
    *width = width_of(largest);
    return (int64_t)(1 + (uint64_t)*width * count + bytes);
}

static void write_table(const uint64_t *sizes, size_t count, unsigned width, uint8_t *target) {
    *target++ = (uint8_t)width;
    for (unsigned k = 0; k < width; k++) {
        for (size_t i = 0; i < count; i++) {
            *target++ = (uint8_t)(entry_of(sizes[i]) >> (8 * k));
        }
    }
}

int64_t bp_group_pack(const uint8_t *const *records, const uint64_t *sizes, size_t count,
                      unsigned width, uint8_t *target, uint64_t target_size) {
    unsigned needed;
    int64_t size = bp_group_size(sizes, count, &needed);
    if (size < 0) {
        return size;
    }
    if (width != needed || (uint64_t)size != target_size) {
        return BP_NO_SPACE;
    }
    write_table(sizes, count, width, target);
    uint64_t offset = 1 + (uint64_t)width * count;
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] != BP_RECORD_ABSENT && sizes[i] != 0) {
            memcpy(target + offset, records[i], sizes[i]);
            offset += sizes[i];
        }
    }
    return size;
}

/* Entry i of a table of `width` planes, all of which are in bounds. */
static uint64_t read_entry(const uint8_t *planes, size_t count, unsigned width, size_t i) {
    uint64_t entry = 0;
    for (unsigned k = 0; k < width; k++) {
        entry |= (uint64_t)planes[(size_t)k * count + i] << (8 * k);
    }
    return entry;
}

int64_t bp_group_read(const uint8_t *content, uint64_t available, size_t count, uint64_t total,
                      uint32_t *ends) {
    if (count == 0 || count > BP_GROUP_RECORDS_MAX) {
        return BP_OUT_OF_RANGE;
    }
    if (available == 0) {
        return BP_TRUNCATED;
    }
    unsigned width = content[0];
    if (width < 1 || width > BP_GROUP_WIDTH_MAX) {
        return BP_MALFORMED;
    }
    uint64_t table_size = 1 + (uint64_t)width * count;
    if (available < table_size) {
        return BP_TRUNCATED;
    }
    uint64_t end = table_size;
    uint64_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t entry = read_entry(content + 1, count, width, i);
        if (entry > BP_RECORD_BYTES_MAX + 1) {
            return BP_TOO_LARGE;
        }
        end += entry ? entry - 1 : 0;
        if (end > total || end > UINT32_MAX) {
            return BP_BAD_OFFSET;
        }
        ends[i] = (uint32_t)end;
        largest = entry > largest ? entry : largest;
    }
    if (end != total) {
        return BP_TRAILING;
    }
    return width_of(largest) == width ? (int64_t)table_size : BP_NONCANONICAL;
}

int bp_group_absent(const uint8_t *content, size_t count, size_t i) {
    return read_entry(content + 1, count, content[0], i) == 0;
}
