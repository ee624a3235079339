// Linear search in small buckets through a function whose bound is a parameter that is, in fact, always the same.
//
// mode 0: the bound is 8 in every call.  mode 1: it varies from 1 to 15.
#include "../kernel.h"

static const struct kernel kernel = {
    "search", "  MODE 0 bound always 8, 1 bound varies; SIZE buckets; ROUNDS passes\n", 2, {65536, 65536}, 1500,
};

enum { BUCKET = 16 };
static uint32_t n;
static uint32_t *buckets, *wanted;
static uint8_t *bounds;

// How many of the first `bound` cells are below `key`.
__attribute__((noinline)) static uint32_t below(const uint32_t *bucket, uint32_t bound, uint32_t key) {
    uint32_t count = 0;
    for (uint32_t j = 0; j < bound; j++) count += bucket[j] < key;
    return count;
}

void setup(uint32_t mode, uint32_t size) {
    n = size;
    free(buckets), free(wanted), free(bounds);
    buckets = room((size_t)n * BUCKET * 4), wanted = room(n * 4), bounds = room(n);
    for (uint32_t i = 0; i < n; i++) {
        // Ascending cells, so that `right` can find the answer by halving.
        uint32_t cell = next_random() >> 8;
        for (uint32_t j = 0; j < BUCKET; j++) buckets[i * BUCKET + j] = cell += next_random() >> 8;
        wanted[i] = next_random() >> 5;
        bounds[i] = mode == 0 ? 8 : 1 + next_random() % 15;
    }
}

uint64_t run(uint32_t rounds) {
    uint64_t sum = 0;
    for (uint32_t r = 0; r < rounds; r++)
        for (uint32_t i = 0; i < n; i++) sum += below(buckets + i * BUCKET, bounds[i], wanted[i]);
    return sum;
}

static int right(uint32_t rounds, uint64_t checksum) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t low = 0, high = bounds[i];
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (buckets[i * BUCKET + middle] < wanted[i]) low = middle + 1;
            else high = middle;
        }
        sum += low;
    }
    return sum * rounds == checksum;
}
