// Dense double-precision matrix product, the plain three loops in the order that reads rows.
//
// The entries are small integers, so every product and sum is exact and the result can be checked exactly:
// (A B) v = A (B v) for a vector v.
#include "../kernel.h"

static const struct kernel kernel = {
    "matmul", "  MODE 0; SIZE n of an n by n matrix; ROUNDS products\n", 1, {384}, 40,
};

static uint32_t n;
static double *a, *b, *c;

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    n = size;
    free(a), free(b), free(c);
    size_t bytes = (size_t)n * n * sizeof(double);
    a = room(bytes), b = room(bytes), c = room(bytes);
    for (size_t i = 0; i < (size_t)n * n; i++) {
        a[i] = (double)(next_random() % 17) - 8;
        b[i] = (double)(next_random() % 17) - 8;
    }
}

__attribute__((noinline)) static void multiply(uint32_t n, const double *restrict a, const double *restrict b,
                                               double *restrict c) {
    for (uint32_t i = 0; i < n; i++) {
        double *restrict row = c + (size_t)i * n;
        for (uint32_t j = 0; j < n; j++) row[j] = 0;
        for (uint32_t k = 0; k < n; k++) {
            double factor = a[(size_t)i * n + k];
            const double *restrict other = b + (size_t)k * n;
            for (uint32_t j = 0; j < n; j++) row[j] += factor * other[j];
        }
    }
}

uint64_t run(uint32_t rounds) {
    for (uint32_t r = 0; r < rounds; r++) multiply(n, a, b, c);
    int64_t trace = 0;
    for (uint32_t i = 0; i < n; i++) trace += (int64_t)c[(size_t)i * n + i] * (i + 1);
    return (uint64_t)trace & 0xffffffffu;
}

static int right(uint32_t rounds, uint64_t checksum) {
    if (rounds == 0) return 1;
    (void)checksum;
    double *v = room(n * sizeof(double)), *bv = room(n * sizeof(double));
    for (uint32_t i = 0; i < n; i++) v[i] = (double)(next_random() % 9) - 4;
    for (uint32_t i = 0; i < n; i++) {
        bv[i] = 0;
        for (uint32_t j = 0; j < n; j++) bv[i] += b[(size_t)i * n + j] * v[j];
    }
    int same = 1;
    for (uint32_t i = 0; i < n; i++) {
        double left = 0, other = 0;
        for (uint32_t j = 0; j < n; j++) {
            left += c[(size_t)i * n + j] * v[j];
            other += a[(size_t)i * n + j] * bv[j];
        }
        same &= left == other;
    }
    free(v), free(bv);
    return same;
}
