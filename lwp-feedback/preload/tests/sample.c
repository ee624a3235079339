/* The sample program of the __llwpcb page, ported to C for gcc: its CPUID checks kept, its three bugs (index -1, EDX for EAX, hard-coded
 * offsets taken from the leaf where that is easy) left out. -DONLY_32 runs the 32-bit loop alone.
 */
#include <cpuid.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#define MAX_EVENTS 6
#define BUFFERSIZE 4096
#define LOOPSIZE 31

struct record { unsigned long long id : 8, core : 8, flags : 16, data1 : 32, ip, data2, reserved; };
struct event { unsigned int interval, counter; };
struct lwpcb {
    unsigned int flags, size_random;
    unsigned long long base;
    unsigned int head, reserved1;
    unsigned long long missed;
    unsigned int threshold, filters;
    unsigned long long base_ip, limit_ip, reserved2;
    unsigned int tail, reserved3;
    unsigned long long reserved4[7];
    struct event events[MAX_EVENTS];
};

static struct record ring[BUFFERSIZE];
static struct lwpcb block __attribute__((aligned(64)));

static unsigned int leaf(unsigned int number, int reg)
{
    unsigned int r[4] = {0, 0, 0, 0};
    __cpuid(number, r[0], r[1], r[2], r[3]);
    return r[reg];
}

static void on_sigill(int number)
{
    (void)number;
    puts("the program's own SIGILL handler ran");
    exit(3);
}

int main(int argc, char **argv)
{
    if (!(leaf(0x80000001, 2) & 1 << 15)) { puts("LWP is not supported by this hardware"); return 1; }
    if (!(leaf(0x8000001C, 0) & 1)) { puts("OS has not made LWP available"); return 1; }
    puts("64-bit compiler");

    if (argc > 1 && !strcmp(argv[1], "hostile")) {
        /* What a program may do to a library that needs SIGILL. */
        sigset_t all;
        sigfillset(&all);
        signal(SIGILL, on_sigill);
        sigprocmask(SIG_SETMASK, &all, NULL);
    }

    int supported = leaf(0x8000001C, 3) >> 1 & 1, available = leaf(0x8000001C, 0) >> 1 & 1;
    block.size_random = sizeof ring;
    block.base = (unsigned long long)ring;
    block.head = block.tail = sizeof ring - 3 * sizeof ring[0];
    block.threshold = 2 * sizeof ring;
    if (supported && available) {
        block.flags |= 2;
        block.events[0].interval = 9;
    }
    __llwpcb(&block);
    if (__slwpcb() != (void *)&block) { puts("Test failed: bad return from __slwpcb()"); return 1; }
    if (supported && available) {
        for (int i = 0; i < LOOPSIZE; i++) {
            if (i % 7 == 0) __lwpins32(0xdeadbeef, i, 0x01234567);
            __lwpval32(0x0badf00d, i, 0xcad00cad);
        }
#ifndef ONLY_32
        for (int i = 0; i < LOOPSIZE; i++) {
            if (i % 7 == 0) __lwpins64(0xdeadbeefdeadbeefll, i, 0x01234567);
            __lwpval64(0x0badf00d0badf00dll, i, -0x352ff353);
        }
#endif
    } else {
        puts(supported ? "LWPVAL instruction not enabled" : "LWPVAL instruction not supported by the hardware");
        for (int i = 0; i < LOOPSIZE; i++) if (i % 7 == 0) __lwpins32(0xdeadbeef, i, 0x01234567);
#ifndef ONLY_32
        for (int i = 0; i < LOOPSIZE; i++) if (i % 7 == 0) __lwpins64(0xdeadbeefdeadbeefll, i, 0x01234567);
#endif
    }
    __slwpcb();
    unsigned int values = 0, programmed = 0, entries = 0;
    for (unsigned int i = block.tail / 32; i != block.head / 32; i = (i + 1) % BUFFERSIZE, entries++) {
        if (ring[i].id == 1) values++;
        else if (ring[i].id == 255) programmed++;
        else printf("WARNING: bad EventId %d in ring buffer\n", (int)ring[i].id);
    }
    printf("%u entries in ring buffer\n", entries);
    printf("%u LWPVAL instructions, %u LWPINS instructions\n", values, programmed);
    printf("order ");
    for (unsigned int i = block.tail / 32; i != block.head / 32; i = (i + 1) % BUFFERSIZE) putchar(ring[i].id == 1 ? 'V' : 'I');
    printf(" head %u\n", block.head);
    if (argc > 1 && !strcmp(argv[1], "hostile")) { fflush(stdout); __asm__ volatile("ud2"); }
    return 0;
}
