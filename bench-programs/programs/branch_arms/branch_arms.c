// A branch whose two arms write different memory, so no compiler may turn it into a select without knowing more.
//
// mode 0: random flags.  mode 1: flags alternate.
#include "../kernel.h"

static const struct kernel kernel = {
    "branch_arms", "  MODE 0 random flags, 1 alternating flags; SIZE elements; ROUNDS passes\n", 2, {1000000, 1000000}, 400,
};

static uint32_t n;
static uint8_t *flags;
static uint32_t *input, *sums, *mixes;  // 4096 cells each

__attribute__((noinline)) static void spread(uint32_t n, const uint8_t *flags, const uint32_t *input, uint32_t *sums,
                                             uint32_t *mixes) {
    for (uint32_t i = 0; i < n; i++) {
        if (flags[i]) sums[i & 4095] += input[i];
        else mixes[i & 4095] ^= input[i];
    }
}

void setup(uint32_t mode, uint32_t size) {
    n = size;
    free(flags), free(input), free(sums), free(mixes);
    flags = room(n), input = room(n * sizeof *input), sums = room(4096 * 4), mixes = room(4096 * 4);
    for (uint32_t i = 0; i < n; i++) {
        flags[i] = mode == 0 ? next_random() >> 31 : i & 1;
        input[i] = next_random();
    }
}

uint64_t run(uint32_t rounds) {
    memset(sums, 0, 4096 * 4), memset(mixes, 0, 4096 * 4);
    for (uint32_t r = 0; r < rounds; r++) spread(n, flags, input, sums, mixes);
    uint64_t hash = 0;
    for (uint32_t i = 0; i < 4096; i++) hash = (hash * 31 + sums[i]) * 31 + mixes[i];
    return hash;
}

// Cell by cell: a sum counts `rounds` times, a mix survives odd round numbers only.
static int right(uint32_t rounds, uint64_t checksum) {
    uint64_t hash = 0;
    for (uint32_t cell = 0; cell < 4096; cell++) {
        uint32_t sum = 0, mix = 0;
        for (uint32_t i = cell; i < n; i += 4096) {
            uint32_t keep = 0u - flags[i];
            sum += input[i] & keep, mix ^= input[i] & ~keep;
        }
        hash = (hash * 31 + sum * rounds) * 31 + (rounds & 1 ? mix : 0);
    }
    return hash == checksum;
}
