// The recursive Fibonacci function: nothing but calls, compares and adds.
//
// Both calls stay calls: without `disable_tail_calls` the compiler turns one of them into a loop.
#include "../kernel.h"

static const struct kernel kernel = {
    "fib", "  MODE 0; SIZE n of fib(n); ROUNDS computations\n", 1, {40}, 1,
};

static uint32_t n;

__attribute__((noinline, disable_tail_calls)) static uint32_t fib(uint32_t k) {
    return k < 2 ? k : fib(k - 1) + fib(k - 2);
}

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    n = size;
}

uint64_t run(uint32_t rounds) {
    uint64_t sum = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        uint32_t k = n;
        FORGET(k);
        sum += fib(k);
    }
    return sum;
}

static int right(uint32_t rounds, uint64_t checksum) {
    uint32_t a = 0, b = 1;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t next = a + b;
        a = b;
        b = next;
    }
    return checksum == (uint64_t)a * rounds;
}
