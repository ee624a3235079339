// A blur of a grey picture in two passes: 8-bit loads, 16-bit sums, no branch but the loops'.
#include "image_filter.h"

static const struct kernel kernel = {
    "image_filter", "  MODE 0; SIZE pixels of the width; ROUNDS pictures\n", 1, {1024}, 60,
};

__attribute__((noinline)) static void across(uint32_t rows, const uint8_t *restrict from, uint16_t *restrict to) {
    for (uint32_t y = 0; y < rows; y++)
        for (uint32_t x = 0; x < width; x++) {
            const uint8_t *at = from + (size_t)y * stride + x;
            to[(size_t)y * width + x] = (uint16_t)(at[0] + at[4] + 4 * (at[1] + at[3]) + 6 * at[2]);
        }
}

__attribute__((noinline)) static void down(const uint16_t *restrict from, uint8_t *restrict to) {
    for (uint32_t i = 0; i < width * height; i++) {
        const uint16_t *at = from + i;
        uint32_t sum = at[0] + at[4 * width] + 4u * (at[width] + at[3 * width]) + 6u * at[2 * width];
        to[i] = (uint8_t)((sum + 128) >> 8);
    }
}

uint64_t run(uint32_t rounds) {
    for (uint32_t r = 0; r < rounds; r++) {
        across(height + 2 * BORDER, input, between);
        down(between, output);
    }
    return hash_of(output);
}
