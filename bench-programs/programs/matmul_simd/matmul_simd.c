// `matmul` with two columns at a time: f64x2 multiply and add on a row that stays in the cache.
//
// The entries are small integers, so every product and sum is exact: (A B) v = A (B v) for a vector v.
#include "../kernel.h"

static const struct kernel kernel = {
    "matmul_simd", "  MODE 0; SIZE n of an n by n matrix, even; ROUNDS products\n", 1, {384}, 40,
};

typedef double pair __attribute__((vector_size(16)));
static uint32_t n;
static double *a;
static pair *b, *c;

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    n = (size + 1) & ~1u;
    free(a), free(b), free(c);
    size_t bytes = (size_t)n * n * sizeof(double);
    a = room(bytes), b = room(bytes), c = room(bytes);
    for (size_t i = 0; i < (size_t)n * n; i++) {
        a[i] = (double)(next_random() % 17) - 8;
        ((double *)b)[i] = (double)(next_random() % 17) - 8;
    }
}

__attribute__((noinline)) static void multiply(uint32_t n, const double *restrict a, const pair *restrict b, pair *restrict c) {
    uint32_t pairs = n / 2;
    for (uint32_t i = 0; i < n; i++) {
        pair *restrict row = c + (size_t)i * pairs;
        for (uint32_t j = 0; j < pairs; j++) row[j] = (pair){0, 0};
        for (uint32_t k = 0; k < n; k++) {
            double factor = a[(size_t)i * n + k];
            pair both = {factor, factor};
            const pair *restrict other = b + (size_t)k * pairs;
            for (uint32_t j = 0; j < pairs; j++) row[j] += both * other[j];
        }
    }
}

uint64_t run(uint32_t rounds) {
    for (uint32_t r = 0; r < rounds; r++) multiply(n, a, b, c);
    int64_t trace = 0;
    for (uint32_t i = 0; i < n; i++) trace += (int64_t)((double *)c)[(size_t)i * n + i] * (i + 1);
    return (uint64_t)trace & 0xffffffffu;
}

static int right(uint32_t rounds, uint64_t checksum) {
    if (rounds == 0) return 1;
    const double *other = (const double *)b, *product = (const double *)c;
    double *v = room(n * sizeof(double)), *bv = room(n * sizeof(double));
    int64_t trace = 0;
    for (uint32_t i = 0; i < n; i++) v[i] = (double)(next_random() % 9) - 4;
    for (uint32_t i = 0; i < n; i++) {
        bv[i] = 0;
        for (uint32_t j = 0; j < n; j++) bv[i] += other[(size_t)i * n + j] * v[j];
    }
    int same = 1;
    for (uint32_t i = 0; i < n; i++) {
        double left = 0, expected = 0, diagonal = 0;
        for (uint32_t j = 0; j < n; j++) {
            left += product[(size_t)i * n + j] * v[j];
            expected += a[(size_t)i * n + j] * bv[j];
            diagonal += a[(size_t)i * n + j] * other[(size_t)j * n + i];
        }
        trace += (int64_t)diagonal * (i + 1);
        same &= left == expected;
    }
    free(v), free(bv);
    return same && ((uint64_t)trace & 0xffffffffu) == checksum;
}
