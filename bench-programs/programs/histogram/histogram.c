// Counting keys: a load and a store that miss, at an address that a sequential key array gives far ahead.
//
// mode 0: the counters take 256 MiB.  mode 1: 64 KiB.
#include "../kernel.h"

static const struct kernel kernel = {
    "histogram", "  MODE 0 large, 1 small; SIZE KiB of counters; ROUNDS passes over 16777216 keys\n  (over 4096 where SIZE is below 64)\n", 2, {262144, 64}, 6,
};

enum { MOST_KEYS = 1 << 24 };
static uint32_t n, many;
static uint32_t *counters, *keys;

__attribute__((noinline)) static void count(uint32_t length, const uint32_t *keys, uint32_t *counters) {
    for (uint32_t i = 0; i < length; i++) counters[keys[i]]++;
}

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    n = size * 256, many = size < 64 ? 4096 : MOST_KEYS;
    free(counters);
    counters = room((size_t)n * sizeof *counters);
    memset(counters, 0, (size_t)n * sizeof *counters);
    if (!keys) keys = room(MOST_KEYS * sizeof *keys);
    for (uint32_t i = 0; i < many; i++) keys[i] = (uint32_t)((uint64_t)next_random() * n >> 32);
}

// Counts weighted by key, so that a count under a wrong key shows; the counters start at 0 in each call.
uint64_t run(uint32_t rounds) {
    memset(counters, 0, (size_t)n * sizeof *counters);
    for (uint32_t r = 0; r < rounds; r++) count(many, keys, counters);
    uint64_t hash = 0;
    for (uint32_t i = 0; i < n; i++) hash += (uint64_t)counters[i] * (i * 2654435761u);
    return hash;
}

static int right(uint32_t rounds, uint64_t checksum) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < many; i++) hash += keys[i] * 2654435761u;
    return hash * rounds == checksum;
}
