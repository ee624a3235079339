// Sorting with a comparator callback, as qsort does it: the sort knows nothing but a function pointer.
//
// The partition loop is Lomuto's without a branch on the comparison's outcome, so what is measured is the callback and not the
// processor's guesses about random data.
//
// mode 0: one comparator.  mode 1: eight comparators that all order the same way; a random one for every comparison.
#include "../kernel.h"

static const struct kernel kernel = {
    "sort", "  MODE 0 one comparator, 1 another comparator at every call; SIZE elements; ROUNDS sorts\n", 2, {1000000, 1000000}, 8,
};

typedef int (*comparator)(const uint32_t *, const uint32_t *);

#define COMPARATOR(name) \
    __attribute__((noinline)) static int name(const uint32_t *a, const uint32_t *b) { return (*a > *b) - (*a < *b); }
COMPARATOR(compare0)
COMPARATOR(compare1)
COMPARATOR(compare2)
COMPARATOR(compare3)
COMPARATOR(compare4)
COMPARATOR(compare5)
COMPARATOR(compare6)
COMPARATOR(compare7)

// Not static and not const: no compiler may assume which function stands where.
comparator comparators[8] = {compare0, compare1, compare2, compare3, compare4, compare5, compare6, compare7};

static uint32_t mode, n;
static uint32_t *input, *work;

static void swap(uint32_t *a, uint32_t *b) {
    uint32_t t = *a;
    *a = *b;
    *b = t;
}

// The three middle-of-sort steps exist twice, once with a fixed comparator and once with one drawn at every call, by this macro's NEXT.
#define SORT(name, PARAMETER, ARGUMENT, NEXT)                                             \
    __attribute__((noinline)) static void name(uint32_t *base, uint32_t count, PARAMETER) { \
        while (count > 16) {                                                              \
            uint32_t *middle = base + count / 2, *last = base + count - 1;                \
            if (NEXT(middle, base) < 0) swap(middle, base);                               \
            if (NEXT(last, base) < 0) swap(last, base);                                   \
            if (NEXT(last, middle) < 0) swap(last, middle);                               \
            swap(middle, last);                                                           \
            uint32_t *less = base;                                                        \
            for (uint32_t *at = base; at < last; at++) {                                  \
                uint32_t value = *at;                                                     \
                *at = *less;                                                              \
                *less = value;                                                            \
                less += NEXT(less, last) < 0;                                             \
            }                                                                             \
            swap(less, last);                                                             \
            uint32_t left = (uint32_t)(less - base), right = count - left - 1;            \
            if (left < right) {                                                           \
                name(base, left, ARGUMENT);                                               \
                base = less + 1, count = right;                                           \
            } else {                                                                      \
                name(less + 1, right, ARGUMENT);                                          \
                count = left;                                                             \
            }                                                                             \
        }                                                                                 \
        for (uint32_t i = 1; i < count; i++)                                              \
            for (uint32_t j = i; j > 0 && NEXT(base + j, base + j - 1) < 0; j--)          \
                swap(base + j, base + j - 1);                                             \
    }

#define FIXED(a, b) compare((a), (b))
SORT(sort_fixed, comparator compare, compare, FIXED)

static uint32_t draw = 1;
#define DRAWN(a, b) (draw = draw * 1664525u + 1013904223u, set[draw >> 29]((a), (b)))
SORT(sort_drawn, const comparator *set, set, DRAWN)

void setup(uint32_t new_mode, uint32_t size) {
    mode = new_mode, n = size;
    free(input), free(work);
    input = room(n * sizeof *input), work = room(n * sizeof *work);
    for (uint32_t i = 0; i < n; i++) input[i] = next_random();
}

uint64_t run(uint32_t rounds) {
    for (uint32_t r = 0; r < rounds; r++) {
        memcpy(work, input, n * sizeof *work);
        if (mode == 0) sort_fixed(work, n, comparators[0]);
        else sort_drawn(work, n, comparators);
    }
    uint64_t hash = 0;
    for (uint32_t i = 0; i < n; i++) hash = hash * 31 + work[i];
    return hash;
}

// Ordered, and the same elements: sums of three functions of each element agree.
static int right(uint32_t rounds, uint64_t checksum) {
    if (rounds == 0) return 1;
    uint64_t hash = 0, before[3] = {0, 0, 0}, after[3] = {0, 0, 0};
    for (uint32_t i = 0; i < n; i++) {
        if (i && work[i - 1] > work[i]) return 0;
        hash = hash * 31 + work[i];
        uint64_t x = input[i], y = work[i];
        before[0] += x, before[1] += x * x, before[2] ^= x * 0x9e3779b97f4a7c15u;
        after[0] += y, after[1] += y * y, after[2] ^= y * 0x9e3779b97f4a7c15u;
    }
    return hash == checksum && !memcmp(before, after, sizeof before);
}
