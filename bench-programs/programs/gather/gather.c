// A sum through an index array: one load that misses every cache, at an address that is known far ahead.
//
// mode 0: the array is 256 MiB.  mode 1: it is 64 KiB, so nothing misses and a prefetch only costs.
#include "../kernel.h"

static const struct kernel kernel = {
    "gather", "  MODE 0 large, 1 small; SIZE KiB of the array; ROUNDS passes of 16777216 loads\n  (of 4096 where SIZE is below 64)\n", 2, {262144, 64}, 8,
};

enum { MOST_LOADS = 1 << 24 };
static uint32_t n, loads;
static uint32_t *array, *indices;

__attribute__((noinline)) static uint64_t sum(uint32_t count, const uint32_t *indices, const uint32_t *array) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++) total += array[indices[i]];
    return total;
}

static uint32_t value_at(uint32_t i) { return i * 2654435761u >> 7; }

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    n = size * 256, loads = size < 64 ? 4096 : MOST_LOADS;
    free(array);
    array = room((size_t)n * sizeof *array);
    if (!indices) indices = room(MOST_LOADS * sizeof *indices);
    for (uint32_t i = 0; i < n; i++) array[i] = value_at(i);
    for (uint32_t i = 0; i < loads; i++) indices[i] = (uint32_t)((uint64_t)next_random() * n >> 32);
}

uint64_t run(uint32_t rounds) {
    uint64_t total = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        FORGET(array);
        total += sum(loads, indices, array);
    }
    return total;
}

static int right(uint32_t rounds, uint64_t checksum) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < loads; i++) total += value_at(indices[i]);
    return total * rounds == checksum;
}
