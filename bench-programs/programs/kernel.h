// The frame that every C program here fits into: arguments in, one timed run, a checked result out.
//
// A program includes this file once and defines
//     static const struct kernel kernel   its name, the meaning of its modes, and its default sizes
//     setup(mode, size)                   builds the input; untimed, may be called again with other values
//     run(rounds) -> checksum             the work that is measured; may be called again, each call does the same work
//     right(rounds, checksum)             whether `checksum` is right, found in another way than `run` found it
//
// As a command:  NAME.wasm [--time] [MODE [SIZE [ROUNDS]]]
//     prints `ok CHECKSUM` and exits 0; a wrong result prints `wrong result` on stderr and exits 1; bad arguments exit 2;
//     --time prints `time_ns N`, the time of `run` alone, on stderr.
// As exports:    setup(mode, size), run(rounds) -> i64, check(rounds, checksum) -> i32 (1: right), for hosts that call the work many times.
//
// Compiled for this machine it is the same program (`../peers/native.c` calls the work many times).
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct kernel {
    const char *name;
    const char *help;  // one line a mode, and what SIZE and ROUNDS count
    uint32_t modes;    // modes are 0 .. modes-1
    uint32_t size[4];  // default SIZE of each mode
    uint32_t rounds;   // default ROUNDS
};

static const struct kernel kernel;
#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(name)))
#else
#define EXPORT(name)
#endif
EXPORT("setup") void setup(uint32_t mode, uint32_t size);
EXPORT("run") uint64_t run(uint32_t rounds);
EXPORT("check") uint32_t check(uint32_t rounds, uint64_t checksum);
static int right(uint32_t rounds, uint64_t checksum);

uint32_t check(uint32_t rounds, uint64_t checksum) { return right(rounds, checksum) != 0; }

static void put(int fd, const char *text) {
    if (write(fd, text, strlen(text)) < 0) _exit(3);
}

static void put_number(int fd, uint64_t value) {
    char text[24];
    char *at = text + sizeof text;
    *--at = 0;
    do *--at = (char)('0' + value % 10);
    while (value /= 10);
    put(fd, at);
}

_Noreturn static void usage(void) {
    put(2, "usage: ");
    put(2, kernel.name);
    put(2, " [--time] [MODE [SIZE [ROUNDS]]]\n");
    put(2, kernel.help);
    _exit(2);
}

// Memory for an input; the program ends with code 3 where there is none.
__attribute__((unused)) static void *room(size_t bytes) {
    void *memory = malloc(bytes);
    if (!memory) {
        put(2, "out of memory\n");
        _exit(3);
    }
    return memory;
}

// After this the compiler knows nothing of `x`: a pure function of it must be called again, not once for all rounds.
#define FORGET(x) __asm__ volatile("" : "+r"(x))

// xorshift64*, so that inputs are the same everywhere.
static uint64_t random_state = 0x9e3779b97f4a7c15u;
__attribute__((unused)) static uint32_t next_random(void) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)((random_state * 0x2545f4914f6cdd1du) >> 32);
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv) {
    uint32_t number[3] = {0, 0, kernel.rounds};
    int given = 0, timed = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--time")) {
            timed = 1;
            continue;
        }
        uint64_t value = 0;
        const char *c = argv[i];
        do {
            if (*c < '0' || *c > '9') usage();
            value = value * 10 + (uint64_t)(*c - '0');
        } while (*++c && value < 1u << 31);
        if (given == 3 || value >= 1u << 31) usage();
        number[given++] = (uint32_t)value;
    }
    if (number[0] >= kernel.modes) usage();
    if (given < 2) number[1] = kernel.size[number[0]];
    if (number[1] == 0) usage();
    setup(number[0], number[1]);
    uint64_t begin = now_ns();
    uint64_t checksum = run(number[2]);
    uint64_t time_ns = now_ns() - begin;
    if (!right(number[2], checksum)) {
        put(2, "wrong result\n");
        return 1;
    }
    put(1, "ok ");
    put_number(1, checksum);
    put(1, "\n");
    if (timed) {
        put(2, "time_ns ");
        put_number(2, time_ns);
        put(2, "\n");
    }
    return 0;
}
