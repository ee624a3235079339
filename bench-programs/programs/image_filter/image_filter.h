// What `image_filter` and `image_filter_simd` share: the picture with a border, and the filter done plainly for the check. A blur with the weights 1 4 6 4 1 in
// both directions, which never needs more than 16 bits.
#include "../kernel.h"

enum { BORDER = 2 };
static uint32_t width, height, stride;
static uint8_t *input, *output;
static uint16_t *between;

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    width = ((size < 16 ? 16 : size > 8192 ? 8192 : size) + 7) & ~7u, height = width / 2;
    stride = width + 2 * BORDER;
    free(input), free(output), free(between);
    size_t rows = height + 2 * BORDER;
    // Eight bytes more, so that a load of eight may begin at the last pixel.
    input = room(rows * stride + 8), output = room((size_t)height * width), between = room((rows * width + 8) * sizeof *between);
    for (size_t i = 0; i < rows * stride + 8; i++) input[i] = (uint8_t)(next_random() >> 8);
}

static uint64_t hash_of(const uint8_t *picture) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < width * height; i++) hash = hash * 31 + picture[i];
    return hash;
}

static int right(uint32_t rounds, uint64_t checksum) {
    static const uint32_t weight[5] = {1, 4, 6, 4, 1};
    uint64_t hash = 0;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            uint32_t sum = 128;
            for (uint32_t i = 0; i < 5; i++)
                for (uint32_t j = 0; j < 5; j++) sum += weight[i] * weight[j] * input[(y + i) * stride + x + j];
            hash = hash * 31 + (uint8_t)(sum >> 8);
        }
    return rounds == 0 || hash == checksum;
}
