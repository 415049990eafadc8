/* See zeros.h. */
#include "columns/zeros.h"

#define LANES 32
#define STEPS_MAX 255       /* before a lane of 8 bits could overflow */

/* In lanes of 8 bits, that compilers make vectors of: 16 bytes a cycle. */
static uint64_t count_lanes(const uint8_t *bytes, uint64_t steps) {
    uint8_t lanes[LANES] = {0};
    uint64_t total = 0;
    for (uint64_t step = 0; step < steps; step++) {
        for (int lane = 0; lane < LANES; lane++) {
            lanes[lane] = (uint8_t)(lanes[lane] + (bytes[step * LANES + (uint64_t)lane] == 0));
        }
    }
    for (int lane = 0; lane < LANES; lane++) {
        total += lanes[lane];
    }
    return total;
}

uint64_t bp_count_zeros(const uint8_t *bytes, uint64_t size) {
    uint64_t total = 0;
    uint64_t at = 0;
    while (size - at >= LANES) {
        uint64_t steps = (size - at) / LANES;
        steps = steps > STEPS_MAX ? STEPS_MAX : steps;
        total += count_lanes(bytes + at, steps);
        at += steps * LANES;
    }
    for (; at < size; at++) {
        total += bytes[at] == 0;
    }
    return total;
}
