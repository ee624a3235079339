// The step, over LANES cells at a time; the includer says what a lane is.
__attribute__((noinline)) static void step(uint32_t n, const double *restrict from, double *restrict to) {
    uint32_t stride = n + 2;
    for (uint32_t i = 1; i <= n; i++)
        for (uint32_t j = 1; j <= n; j += LANES) {
            const double *at = from + i * stride + j;
            lane around = neighbours(at) + here(at - stride) + here(at + stride);
            put_lane(to + i * stride + j, here(at) * 0.5 + around * 0.125);
        }
}

uint64_t run(uint32_t rounds) {
    for (uint32_t r = 0; r < rounds; r++) {
        memcpy(grid[0], input, (size_t)stride * stride * sizeof(double));
        for (int s = 0; s < STEPS; s++) {
            wrap(grid[s & 1]);
            step(n, grid[s & 1], grid[(s + 1) & 1]);
        }
    }
    // All values are multiples of 2^-18; weights make a cell in the wrong place show.
    uint64_t hash = 0;
    for (uint32_t i = 1; i <= n; i++)
        for (uint32_t j = 1; j <= n; j++) hash = hash * 31 + (uint64_t)(grid[STEPS & 1][i * stride + j] * 262144.0);
    return hash;
}

// Another way: integers in units of 2^-18, and the sum of all cells.
static int right(uint32_t rounds, uint64_t checksum) {
    if (rounds == 0) return 1;
    int64_t *a = room((size_t)n * n * sizeof *a), *b = room((size_t)n * n * sizeof *b);
    uint64_t before = 0, after = 0, hash = 0;
    for (uint32_t i = 0; i < n * n; i++) a[i] = (int64_t)input[(i / n + 1) * stride + i % n + 1] << 18, before += (uint64_t)a[i];
    for (int s = 0; s < STEPS; s++) {
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                b[i * n + j] = (4 * a[i * n + j] + a[i * n + (j + 1) % n] + a[i * n + (j + n - 1) % n] + a[(i + 1) % n * n + j] + a[(i + n - 1) % n * n + j]) / 8;
        int64_t *t = a;
        a = b, b = t;
    }
    for (uint32_t i = 0; i < n * n; i++) after += (uint64_t)a[i], hash = hash * 31 + (uint64_t)a[i];
    free(a), free(b);
    return before == after && hash == checksum;
}
