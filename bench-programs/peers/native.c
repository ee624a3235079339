// A program compiled for this machine, as a benchmark peer: compiled with -DPROGRAM='"…/NAME.c"'.
//
//   NAME steady MODE SIZE ROUNDS SECONDS     as rust/src/protocol.rs says
//   NAME ARGS...                             the program itself
#define main program_main
#include PROGRAM
#undef main
#include <stdio.h>

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 6 || strcmp(argv[1], "steady")) return program_main(argc, argv);
    enum { MOST = 5000 };
    static uint64_t wall[MOST], cpu[MOST];
    uint32_t rounds = (uint32_t)strtoul(argv[4], 0, 10);
    uint64_t limit = (uint64_t)(1e9 * strtod(argv[5], 0));
    uint64_t ready = clock_ns(CLOCK_REALTIME);
    setup((uint32_t)strtoul(argv[2], 0, 10), (uint32_t)strtoul(argv[3], 0, 10));
    uint64_t begin = clock_ns(CLOCK_MONOTONIC), result = 0;
    int calls = 0;
    for (;;) {
        uint64_t cpu_before = clock_ns(CLOCK_PROCESS_CPUTIME_ID), before = clock_ns(CLOCK_MONOTONIC);
        uint64_t value = run(rounds);
        uint64_t after = clock_ns(CLOCK_MONOTONIC);
        cpu[calls] = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_before;
        wall[calls] = after - before;
        if (calls && value != result) {
            fprintf(stderr, "wrong result: one call differs\n");
            return 1;
        }
        result = value;
        calls++;
        if (calls == MOST || (after - begin >= limit && calls >= 4) || after - begin >= 10 * limit) break;
    }
    if (!check(rounds, result)) {
        fprintf(stderr, "wrong result\n");
        return 1;
    }
    printf("{\"ready_unix_ns\":%llu,\"result\":\"%llu\",\"calls_ns\":[", (unsigned long long)ready, (unsigned long long)result);
    for (int i = 0; i < calls; i++) printf("%s%llu", i ? "," : "", (unsigned long long)wall[i]);
    printf("],\"calls_cpu_ns\":[");
    for (int i = 0; i < calls; i++) printf("%s%llu", i ? "," : "", (unsigned long long)cpu[i]);
    printf("]}\n");
    return 0;
}
