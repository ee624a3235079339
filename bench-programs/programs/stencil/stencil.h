// What `stencil` and `stencil_simd` share: the grid, which has a border of copies so that the inner loop needs no case.
#include "../kernel.h"

enum { STEPS = 6 };
static uint32_t n, stride;
static double *input, *grid[2];

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    n = (size + 1) & ~1u, stride = n + 2;
    size_t bytes = (size_t)stride * stride * sizeof(double);
    free(input), free(grid[0]), free(grid[1]);
    input = room(bytes), grid[0] = room(bytes), grid[1] = room(bytes);
    for (uint32_t i = 1; i <= n; i++)
        for (uint32_t j = 1; j <= n; j++) input[i * stride + j] = (double)(next_random() % 1024);
}

static void wrap(double *g) {
    for (uint32_t i = 1; i <= n; i++) g[i * stride] = g[i * stride + n], g[i * stride + n + 1] = g[i * stride + 1];
    memcpy(g, g + n * stride, stride * sizeof *g);
    memcpy(g + (n + 1) * stride, g + stride, stride * sizeof *g);
}
