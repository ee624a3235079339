// Sparse matrix times vector, compressed rows: a dot product through an index array for every row.
//
// The entries are small integers, so every sum is exact: the sum of A x is (column sums of A) . x.
#include "../kernel.h"

static const struct kernel kernel = {
    "spmv", "  MODE 0 large, 1 small; SIZE rows of 16 entries; ROUNDS products\n", 2, {400000, 2000}, 20,
};

enum { ENTRIES = 16 };
static uint32_t n;
static uint32_t *begin_of, *column;
static double *entry, *x, *y;

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    n = size;
    free(begin_of), free(column), free(entry), free(x), free(y);
    begin_of = room((n + 1) * sizeof *begin_of), column = room((size_t)n * ENTRIES * sizeof *column);
    entry = room((size_t)n * ENTRIES * sizeof *entry), x = room(n * sizeof *x), y = room(n * sizeof *y);
    for (uint32_t i = 0; i < n; i++) {
        begin_of[i] = i * ENTRIES;
        x[i] = (double)(next_random() % 17) - 8;
        for (uint32_t k = 0; k < ENTRIES; k++) {
            column[i * ENTRIES + k] = (uint32_t)((uint64_t)next_random() * n >> 32);
            entry[i * ENTRIES + k] = (double)(next_random() % 17) - 8;
        }
    }
    begin_of[n] = n * ENTRIES;
}

__attribute__((noinline)) static void multiply(uint32_t rows, const uint32_t *begin_of, const uint32_t *column, const double *entry,
                                               const double *x, double *y) {
    for (uint32_t i = 0; i < rows; i++) {
        double sum = 0;
        for (uint32_t k = begin_of[i]; k < begin_of[i + 1]; k++) sum += entry[k] * x[column[k]];
        y[i] = sum;
    }
}

uint64_t run(uint32_t rounds) {
    for (uint32_t r = 0; r < rounds; r++) {
        FORGET(x);
        multiply(n, begin_of, column, entry, x, y);
    }
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += y[i];
    return (uint64_t)(int64_t)sum;
}

static int right(uint32_t rounds, uint64_t checksum) {
    if (rounds == 0) return 1;
    double *columns = room(n * sizeof *columns), sum = 0;
    for (uint32_t i = 0; i < n; i++) columns[i] = 0;
    for (uint32_t k = 0; k < n * ENTRIES; k++) columns[column[k]] += entry[k];
    for (uint32_t i = 0; i < n; i++) sum += columns[i] * x[i];
    free(columns);
    return (uint64_t)(int64_t)sum == checksum;
}
