// Three loops of 128-bit vectors, written as such: what compilers for -msimd128 and hand-written codecs put into modules.
//
// mode 0: dot product of floats, four partial sums.  mode 1: a 3 by 3 blur of a grey image, 16 pixels at once.  mode 2: search for a byte pair in text.
// mode 3: dot product of 16-bit integers.
#include "../kernel.h"
#ifdef __wasm__
#include <wasm_simd128.h>
#define BITMASK(x) wasm_i8x16_bitmask((v128_t)(x))
#define DOT(x, y) ((i32x4)wasm_i32x4_dot_i16x8((v128_t)(x), (v128_t)(y)))
#else
#include <immintrin.h>
#define BITMASK(x) _mm_movemask_epi8((__m128i)(x))
#define DOT(x, y) ((i32x4)_mm_madd_epi16((__m128i)(x), (__m128i)(y)))
#endif

static const struct kernel kernel = {
    "vectors",
    "  MODE 0 dot product of floats, 1 blur, 2 search of a byte pair, 3 dot product of integers; SIZE in 64 items; ROUNDS passes\n",
    4,
    {64, 64, 64, 64},
    200000,
};

typedef float f32x4 __attribute__((vector_size(16)));
typedef int32_t i32x4 __attribute__((vector_size(16)));
typedef uint8_t u8x16 __attribute__((vector_size(16)));
typedef uint8_t u8x16_any __attribute__((vector_size(16), aligned(1)));
typedef uint16_t u16x8 __attribute__((vector_size(16)));
typedef uint16_t u16x8_any __attribute__((vector_size(16), aligned(1)));
typedef int16_t i16x8 __attribute__((vector_size(16)));
typedef uint8_t u8x8 __attribute__((vector_size(8)));
typedef uint8_t u8x8_any __attribute__((vector_size(8), aligned(1)));

enum { WIDTH = 256, PAIRS = 32 };
static uint32_t which, n, rows;
static float *x, *y;
static uint8_t *from, *to;
static int16_t *a, *b;

void setup(uint32_t mode, uint32_t size) {
    which = mode;
    n = size * 64;
    rows = (n + WIDTH - 1) / WIDTH + 3;
    free(x), free(y), free(from), free(to), free(a), free(b);
    x = room(n * 4), y = room(n * 4), a = room(n * 2), b = room(n * 2);
    from = room(rows * WIDTH + 32), to = room(rows * WIDTH + 32);
    for (uint32_t i = 0; i < n; i++) {
        // Small whole numbers: every order of additions gives the same sum.
        x[i] = (float)(next_random() % 17), y[i] = (float)(next_random() % 13) - 6;
        a[i] = (int16_t)next_random(), b[i] = (int16_t)next_random();
    }
    for (uint32_t i = 0; i < rows * WIDTH + 32; i++) from[i] = (uint8_t)(next_random() >> 9), to[i] = 0;
}

__attribute__((noinline)) static float dot_floats(const float *p, const float *q, uint32_t count) {
    f32x4 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (uint32_t i = 0; i < count; i += 16) {
        const f32x4 *u = (const f32x4 *)(p + i), *v = (const f32x4 *)(q + i);
        s0 += u[0] * v[0], s1 += u[1] * v[1], s2 += u[2] * v[2], s3 += u[3] * v[3];
    }
    s0 += s1 + s2 + s3;
    return s0[0] + s0[1] + s0[2] + s0[3];
}

// The pixels at p, p + 1 and p + 2, weighted 1, 2, 1.
static inline u16x8 weighted(const uint8_t *p) {
    u16x8 left = __builtin_convertvector(*(const u8x8_any *)p, u16x8);
    u16x8 middle = __builtin_convertvector(*(const u8x8_any *)(p + 1), u16x8);
    u16x8 right = __builtin_convertvector(*(const u8x8_any *)(p + 2), u16x8);
    return left + middle + middle + right;
}

__attribute__((noinline)) static void blur(const uint8_t *p, uint8_t *q, uint32_t lines) {
    for (uint32_t line = 0; line < lines; line++, p += WIDTH, q += WIDTH)
        for (uint32_t i = 0; i < WIDTH; i += 8) {
            u16x8 above = weighted(p + i), here = weighted(p + i + WIDTH), below = weighted(p + i + 2 * WIDTH);
            u16x8 sum = (above + here + here + below + 8) >> 4;
            *(u8x8_any *)(q + i) = __builtin_convertvector(sum, u8x8);
        }
}

__attribute__((noinline)) static uint32_t count_pairs(const uint8_t *p, uint32_t count, uint8_t first, uint8_t second) {
    u8x16 one = first - (u8x16){0}, two = second - (u8x16){0};
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i += 16) {
        u8x16 both = (u8x16)(*(const u8x16_any *)(p + i) == one) & (u8x16)(*(const u8x16_any *)(p + i + 1) == two);
        uint32_t mask = (uint32_t)BITMASK(both);
        while (mask) found += i ^ (uint32_t)__builtin_ctz(mask), mask &= mask - 1;
    }
    return found;
}

__attribute__((noinline)) static uint32_t dot_integers(const int16_t *p, const int16_t *q, uint32_t count) {
    i32x4 s0 = {0}, s1 = {0};
    for (uint32_t i = 0; i < count; i += 16) {
        const i16x8 *u = (const i16x8 *)(p + i), *v = (const i16x8 *)(q + i);
        s0 += DOT(u[0], v[0]), s1 += DOT(u[1], v[1]);
    }
    s0 += s1;
    return (uint32_t)s0[0] + (uint32_t)s0[1] + (uint32_t)s0[2] + (uint32_t)s0[3];
}

uint64_t run(uint32_t rounds) {
    uint64_t sum = 0;
    for (uint32_t r = 0; r < rounds; r++) switch (which) {
        case 0: sum += (uint64_t)(int64_t)(dot_floats(x, y, n) + 1e6f); break;
        case 1: blur(from, to, rows - 3), sum += to[r % n]; break;
        case 2: sum += count_pairs(from, n, (uint8_t)(r % PAIRS), (uint8_t)(r % PAIRS >> 3)); break;
        case 3: sum += dot_integers(a, b, n); break;
    }
    return sum;
}

static int right(uint32_t rounds, uint64_t checksum) {
    static const uint8_t weight[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
    uint64_t sum = 0;
    int64_t floats = 1000000;
    uint32_t integers = 0;
    switch (which) {
        case 0:
            for (uint32_t i = 0; i < n; i++) floats += (int64_t)x[i] * (int64_t)y[i];
            sum = (uint64_t)floats * rounds;
            break;
        case 1:
            for (uint32_t r = 0; r < rounds; r++) {
                uint32_t s = 8;
                for (uint32_t i = 0; i < 9; i++) s += weight[i] * from[r % n + i / 3 * WIDTH + i % 3];
                sum += s >> 4;
            }
            break;
        case 2:
            for (uint32_t pair = 0; pair < PAIRS; pair++) {
                uint32_t found = 0;
                for (uint32_t i = 0; i < n; i++)
                    if (from[i] == pair && from[i + 1] == pair >> 3) found += i;
                sum += (uint64_t)found * ((rounds + PAIRS - 1 - pair) / PAIRS);
            }
            break;
        case 3:
            for (uint32_t i = 0; i < n; i++) integers += (uint32_t)(a[i] * b[i]);
            sum = (uint64_t)integers * rounds;
            break;
    }
    return sum == checksum;
}
