// A binary heap: everything in, everything out in order. Its branches are as good as random, its first levels stay in the cache.
#include "../kernel.h"

static const struct kernel kernel = {
    "priority_queue", "  MODE 0; SIZE elements; ROUNDS times all in and all out\n", 1, {200000}, 8,
};

static uint32_t n, *input, *heap;

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    n = size;
    free(input), free(heap);
    input = room(n * sizeof *input), heap = room((n + 1) * sizeof *heap);
    for (uint32_t i = 0; i < n; i++) input[i] = next_random();
}

__attribute__((noinline)) static void push(uint32_t *heap, uint32_t count, uint32_t key) {
    uint32_t at = count + 1;
    for (; at > 1 && key < heap[at / 2]; at /= 2) heap[at] = heap[at / 2];
    heap[at] = key;
}

__attribute__((noinline)) static uint32_t pop(uint32_t *heap, uint32_t count) {
    uint32_t least = heap[1], last = heap[count], at = 1;
    for (;;) {
        uint32_t child = 2 * at;
        if (child >= count) break;
        if (child + 1 < count && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= last) break;
        heap[at] = heap[child], at = child;
    }
    heap[at] = last;
    return least;
}

uint64_t run(uint32_t rounds) {
    uint64_t hash = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        hash = 0;
        for (uint32_t i = 0; i < n; i++) push(heap, i, input[i]);
        for (uint32_t i = n; i > 0; i--) hash = hash * 31 + pop(heap, i);
    }
    return hash;
}

// The same order by a radix sort.
static int right(uint32_t rounds, uint64_t checksum) {
    if (rounds == 0) return 1;
    uint32_t *a = room(n * sizeof *a), *b = room(n * sizeof *b);
    memcpy(a, input, n * sizeof *a);
    for (int shift = 0; shift < 32; shift += 8) {
        uint32_t begin[257] = {0};
        for (uint32_t i = 0; i < n; i++) begin[(a[i] >> shift & 255) + 1]++;
        for (int d = 0; d < 256; d++) begin[d + 1] += begin[d];
        for (uint32_t i = 0; i < n; i++) b[begin[a[i] >> shift & 255]++] = a[i];
        uint32_t *t = a;
        a = b, b = t;
    }
    uint64_t hash = 0;
    for (uint32_t i = 0; i < n; i++) hash = hash * 31 + a[i];
    free(a), free(b);
    return hash == checksum;
}
