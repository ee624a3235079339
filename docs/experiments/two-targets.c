// What the change of a call's target costs, and to which of the targets: docs/src/trials.md, "What made identical arms differ".
//
//     cc -O2 -o two-targets docs/experiments/two-targets.c && ./two-targets
//
// A loop calls one of two copies of a function, which change places every 25,000 calls (some 50 us), in random order within pairs of blocks; the first quarter of a block is not
// counted. Printed is the second copy's time over the first one's: median and quartiles of 200 pairs.
//   pointer: the loop calls a small piece of code that jumps through a pointer, which changes.
//   jump:    the loop calls a small piece of code whose direct jump is rewritten. It stands in the same aligned 16 MiB as the first copy, as the second one, or as neither.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <x86intrin.h>

enum { CALLS = 25000, PAIRS = 200, PERIOD = 16 << 20 };

// push rbp; mov rbp, rsp; lea eax, [rdi + 1]; mov rsp, rbp; pop rbp; ret
static const uint8_t leaf[] = {0x55, 0x48, 0x89, 0xe5, 0x8d, 0x47, 0x01, 0x48, 0x89, 0xec, 0x5d, 0xc3};
// sub dword [rsi], 1; movabs rax, slot; jmp [rax]
static uint8_t by_pointer[] = {0x83, 0x2e, 0x01, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0x20};
// sub dword [rsi], 1; jmp
static uint8_t by_jump[] = {0x83, 0x2e, 0x01, 0xe9, 0, 0, 0, 0};

typedef unsigned (*function)(unsigned, unsigned *);
static void *volatile slot;
static function volatile entry;

__attribute__((noinline)) static unsigned run(unsigned calls, unsigned x) {
    unsigned count = 0;
    for (unsigned i = 0; i < calls; i++) x = entry(x, &count);
    return x;
}

static int ascending(const void *a, const void *b) { return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b); }

static void measure(const char *name, int jumps, size_t gate_at) {
    uint8_t *memory = mmap(0, 256 << 20, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) exit(1);
    uint8_t *aligned = (uint8_t *)(((uintptr_t)memory + PERIOD - 1) & ~(uintptr_t)(PERIOD - 1));
    uint8_t *copies[2] = {aligned + 0x1a40, aligned + 0x1a40 + PERIOD}, *gate = aligned + gate_at;
    for (int it = 0; it < 2; it++) memcpy(copies[it], leaf, sizeof leaf);
    void *volatile *where = &slot;
    memcpy(by_pointer + 5, &where, 8);
    memcpy(gate, jumps ? by_jump : by_pointer, jumps ? sizeof by_jump : sizeof by_pointer);
    entry = (function)gate;
    double ratios[PAIRS];
    unsigned x = 0;
    for (int pair = -20; pair < PAIRS; pair++) {
        double took[2];
        int first = rand() >> 8 & 1;
        for (int half = 0; half < 2; half++) {
            int it = half ^ first;
            int32_t displacement = (int32_t)(copies[it] - (gate + sizeof by_jump));
            if (jumps) *(volatile int32_t *)(gate + 4) = displacement;
            else slot = copies[it];
            x = run(CALLS / 4, x);
            uint64_t began = __rdtsc();
            x = run(CALLS - CALLS / 4, x);
            took[it] = (double)(__rdtsc() - began);
        }
        if (pair >= 0) ratios[pair] = took[1] / took[0];
    }
    qsort(ratios, PAIRS, sizeof *ratios, ascending);
    printf("%-20s %.4f (%.4f to %.4f)%s\n", name, ratios[PAIRS / 2], ratios[PAIRS / 4], ratios[3 * PAIRS / 4], x == 1 ? " " : "");
    munmap(memory, 256 << 20);
}

int main(void) {
    srand((unsigned)time(0));
    for (int run = 0; run < 3; run++) {
        measure("pointer", 0, PERIOD / 2);
        measure("jump, by the first", 1, PERIOD / 2);
        measure("jump, by the second", 1, PERIOD + PERIOD / 2);
        measure("jump, by neither", 1, 2 * PERIOD + PERIOD / 2);
    }
}
