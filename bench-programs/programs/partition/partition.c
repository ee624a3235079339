// Partition by a flag: a conditional store behind a branch, the plainest loop that a wrong guess makes slow.
//
// mode 0: random flags.  mode 1: flags alternate, so the branch is half taken and never mispredicted, and must stay a branch.
#include "../kernel.h"

static const struct kernel kernel = {
    "partition", "  MODE 0 random flags, 1 alternating flags; SIZE elements; ROUNDS passes\n", 2, {1000000, 1000000}, 400,
};

static uint32_t n;
static uint8_t *flags;
static uint32_t *input, *output;

__attribute__((noinline)) static uint32_t partition(uint32_t n, const uint8_t *flags, const uint32_t *input, uint32_t *output) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (flags[i]) output[kept++] = input[i];
    return kept;
}

void setup(uint32_t mode, uint32_t size) {
    n = size;
    free(flags), free(input), free(output);
    flags = room(n), input = room(n * sizeof *input), output = room(n * sizeof *output);
    for (uint32_t i = 0; i < n; i++) {
        flags[i] = mode == 0 ? next_random() >> 31 : i & 1;
        input[i] = next_random();
    }
}

uint64_t run(uint32_t rounds) {
    uint64_t kept = 0;
    for (uint32_t r = 0; r < rounds; r++) kept = partition(n, flags, input, output);
    uint64_t hash = kept;
    for (uint32_t i = 0; i < kept; i++) hash = hash * 31 + output[i];
    return hash;
}

// The kept elements found backwards, weighted by the power of 31 that their place gives.
static int right(uint32_t rounds, uint64_t checksum) {
    if (rounds == 0) return checksum == 0;
    uint64_t hash = 0, power = 1, kept = 0;
    for (uint32_t i = n; i-- > 0;) {
        uint64_t keep = flags[i];
        hash += keep * power * input[i];
        power *= keep ? 31 : 1;
        kept += keep;
    }
    return checksum == hash + kept * power;
}
