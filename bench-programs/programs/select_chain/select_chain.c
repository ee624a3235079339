// A loop-carried value chosen by a `select` between a long and a short computation of itself.
//
// The select waits for both, so the loop runs at the long one's latency even when it is hardly ever chosen; a branch would not wait.
// mode 0: the short one 1023 times of 1024.  mode 1: at random, where the select is right.
#include "../kernel.h"

static const struct kernel kernel = {
    "select_chain", "  MODE 0 one way almost always, 1 random; SIZE steps of a pass; ROUNDS passes\n", 2, {1000000, 1000000}, 250,
};

static uint32_t n;
static uint8_t *flags;

// The instruction itself: compilers turn a conditional expression into what they think best.
static inline uint32_t select_instruction(uint32_t when_true, uint32_t when_false, uint32_t condition) {
    uint32_t result;
    __asm__("local.get %1\n\tlocal.get %2\n\tlocal.get %3\n\ti32.select\n\tlocal.set %0"
            : "=r"(result) : "r"(when_true), "r"(when_false), "r"(condition));
    return result;
}

static inline uint32_t long_step(uint32_t x) {
    x = (x ^ x >> 15) * 0x2c1b3c6du;
    x = (x ^ x >> 12) * 0x297a2d39u;
    return x ^ x >> 15;
}

__attribute__((noinline)) static uint32_t chain(uint32_t x, uint32_t n, const uint8_t *flags) {
    for (uint32_t i = 0; i < n; i++) x = select_instruction(long_step(x), x + 1, flags[i]);
    return x;
}

void setup(uint32_t mode, uint32_t size) {
    n = size;
    free(flags);
    flags = room(n);
    for (uint32_t i = 0; i < n; i++) flags[i] = mode == 0 ? next_random() >> 22 == 0 : next_random() >> 31;
}

uint64_t run(uint32_t rounds) {
    uint32_t x = 1;
    for (uint32_t r = 0; r < rounds; r++) x = chain(x, n, flags);
    return x;
}

// Runs of short steps are one addition.
static int right(uint32_t rounds, uint64_t checksum) {
    uint32_t *at = room((n + 1) * sizeof *at), count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (flags[i]) at[count++] = i;
    uint32_t x = 1;
    for (uint32_t r = 0; r < rounds; r++) {
        uint32_t from = 0;
        for (uint32_t k = 0; k < count; k++) {
            x = long_step(x + (at[k] - from));
            from = at[k] + 1;
        }
        x += n - from;
    }
    free(at);
    return x == checksum;
}
