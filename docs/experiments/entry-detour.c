// What it costs for good that a call once led elsewhere: docs/src/event-records.md, "A compiled body begins with a detour".
//
//     cc -O2 -o entry-detour docs/experiments/entry-detour.c && ./entry-detour [TIMES]
//
// A recursion (fib(36)) whose calls go through a pointer. TIMES times (1) calls are led to a copy of it for a few hundred calls, and back: by the first byte of a five-byte instruction at its entry,
// `test eax, imm32` or `jmp rel32`, and then by the pointer. Printed is the time before and after, least of five runs.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef uint32_t (*function)(uint32_t);

volatile function entry;

#define FIB                                                                                                                    \
    "cmp $2, %edi\n jae 1f\n mov %edi, %eax\n ret\n"                                                                           \
    "1: push %rbx\n push %rbp\n sub $8, %rsp\n mov %edi, %ebx\n lea -1(%rdi), %edi\n call *entry(%rip)\n mov %eax, %ebp\n"      \
    "lea -2(%rbx), %edi\n call *entry(%rip)\n add %ebp, %eax\n add $8, %rsp\n pop %rbp\n pop %rbx\n ret"

__attribute__((naked, noinline, aligned(64))) static uint32_t plain(uint32_t n) { asm(FIB); }

// Its first eight bytes are one aligned word: three of `nop`, one of opcode, four of displacement.
__attribute__((naked, noinline, aligned(64))) static uint32_t with_detour(uint32_t n) {
    asm(".byte 0x0f, 0x1f, 0x00, 0xa9, 0, 0, 0, 0\n" FIB);
}

__attribute__((naked, noinline, aligned(64))) static uint32_t other(uint32_t n) { asm(FIB); }

static void lead(function from, function to) {
    uint8_t *at = (uint8_t *)from + 3;
    if (to) __atomic_store_n((int32_t *)(at + 1), (int32_t)((uint8_t *)to - (at + 5)), __ATOMIC_RELEASE);
    __atomic_store_n(at, to ? 0xe9 : 0xa9, __ATOMIC_RELEASE);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static double seconds(function f) {
    double least = 1e9;
    for (int run = 0; run < 5; run++) {
        double began = now();
        volatile uint32_t result = f(36);
        (void)result;
        double took = now() - began;
        if (took < least) least = took;
    }
    return least;
}

int main(int argc, char **argv) {
    int times = argc > 1 ? atoi(argv[1]) : 1;
    uintptr_t page = (uintptr_t)with_detour & ~(uintptr_t)4095;
    if (mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC)) return perror("mprotect"), 1;
    entry = plain;
    printf("without a detour           %.4f s\n", seconds(plain));
    entry = with_detour;
    printf("with one                   %.4f s\n", seconds(with_detour));
    for (int i = 0; i < times; i++) {
        lead(with_detour, other);
        with_detour(12);
        lead(with_detour, NULL);
        with_detour(12);
    }
    printf("after %3d detours          %.4f s\n", times, seconds(with_detour));
    for (int i = 0; i < times; i++) {
        entry = other;
        with_detour(12);
        entry = with_detour;
        with_detour(12);
    }
    printf("after %3d exchanges        %.4f s\n", times, seconds(with_detour));
}
