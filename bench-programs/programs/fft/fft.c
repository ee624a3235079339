// Fast Fourier transform, radix 2, in place: there and back again. The input is whole numbers, so the way back must round to them.
#include "../kernel.h"

static const struct kernel kernel = {
    "fft", "  MODE 0; SIZE logarithm of the number of points; ROUNDS transforms there and back\n", 1, {16}, 30,
};

typedef struct { double re, im; } complex;
static uint32_t n, bits;
static int16_t *input;
static complex *work, *root;

// The n-th roots of unity by products of half angles: no sine is needed, and the error stays near the last place.
static void roots(void) {
    root[0] = (complex){1, 0};
    double re = -1, im = 0; // half a turn
    for (uint32_t half = n / 2; half >= 1; half /= 2) {
        for (uint32_t k = 0; k < n; k += 2 * half) {
            if (k + half < n) root[k + half] = (complex){root[k].re * re - root[k].im * im, root[k].re * im + root[k].im * re};
        }
        double next = __builtin_sqrt((1 + re) / 2);
        im = re == -1 ? 1 : im / (2 * next), re = re == -1 ? 0 : next;
    }
}

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    bits = size > 22 ? 22 : size < 2 ? 2 : size, n = 1u << bits;
    free(input), free(work), free(root);
    input = room(n * sizeof *input), work = room(n * sizeof *work), root = room(n * sizeof *root);
    roots();
    for (uint32_t i = 0; i < n; i++) input[i] = (int16_t)(next_random() % 2001) - 1000;
}

__attribute__((noinline)) static void transform(complex *x, uint32_t n, const complex *root, int back) {
    for (uint32_t i = 1, j = 0; i < n; i++) {
        uint32_t bit = n >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i < j) {
            complex t = x[i];
            x[i] = x[j], x[j] = t;
        }
    }
    for (uint32_t length = 2; length <= n; length *= 2) {
        uint32_t step = n / length;
        for (uint32_t i = 0; i < n; i += length)
            for (uint32_t k = 0; k < length / 2; k++) {
                complex w = root[k * step];
                if (!back) w.im = -w.im;
                complex *low = x + i + k, *high = low + length / 2;
                complex t = {high->re * w.re - high->im * w.im, high->re * w.im + high->im * w.re};
                *high = (complex){low->re - t.re, low->im - t.im};
                *low = (complex){low->re + t.re, low->im + t.im};
            }
    }
}

uint64_t run(uint32_t rounds) {
    for (uint32_t r = 0; r < rounds; r++) {
        for (uint32_t i = 0; i < n; i++) work[i] = (complex){input[i], 0};
        transform(work, n, root, 0);
        transform(work, n, root, 1);
    }
    uint64_t hash = 0;
    for (uint32_t i = 0; i < n; i++) hash = hash * 31 + (uint64_t)(int64_t)(work[i].re / n + 4096.5);
    return hash;
}

// The way back gives the input; the way there has the mean of the input as its first value and obeys Parseval's law.
static int right(uint32_t rounds, uint64_t checksum) {
    if (rounds == 0) return 1;
    uint64_t hash = 0;
    double sum = 0, energy = 0, other = 0;
    for (uint32_t i = 0; i < n; i++) {
        hash = hash * 31 + (uint64_t)(input[i] + 4096);
        sum += input[i], energy += (double)input[i] * input[i];
        work[i] = (complex){input[i], 0};
    }
    transform(work, n, root, 0);
    for (uint32_t i = 0; i < n; i++) other += work[i].re * work[i].re + work[i].im * work[i].im;
    double off = other / n - energy, mean = work[0].re - sum;
    return hash == checksum && off < 1e-6 * energy && off > -1e-6 * energy && mean < 1e-3 && mean > -1e-3;
}
