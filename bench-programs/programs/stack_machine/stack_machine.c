// An interpreter for a small stack machine: a loop around one `switch`, the shape of every interpreter that is compiled to wasm.
//
// mode 0: counts the steps of the 3n+1 sequence for every start below SIZE.  mode 1: a sieve of primes below SIZE.
#include "../kernel.h"

static const struct kernel kernel = {
    "stack_machine", "  MODE 0 the 3n+1 sequence, 1 a sieve; SIZE limit of the program; ROUNDS runs of it\n", 2, {60000, 3000000}, 3,
};

enum operation { STOP, PUSH, LOAD, STORE, FETCH, PUT, ADD, MULTIPLY, AND, SHIFT_RIGHT, LESS, JUMP, JUMP_IF_ZERO };
// Operands: PUSH a constant; LOAD and STORE a variable; jumps the position of an instruction.
struct instruction {
    uint8_t operation;
    int32_t operand;
};

static uint32_t mode, n;
static struct instruction program[64];
static uint8_t *cells;

// Variables: 0 limit, 1 result, 2 i, 3 x or j. Jumps give instruction positions.
static const struct instruction sequence[] = {
    {PUSH, 1},  {STORE, 2},                                      // i = 1
    {LOAD, 2},  {LOAD, 0},  {LESS, 0}, {JUMP_IF_ZERO, 38},       // 2: while i < limit
    {LOAD, 2},  {STORE, 3},                                      // 6: x = i
    {PUSH, 1},  {LOAD, 3},  {LESS, 0}, {JUMP_IF_ZERO, 33},       // 8: while 1 < x
    {LOAD, 3},  {PUSH, 1},  {AND, 0},  {JUMP_IF_ZERO, 23},       // 12: if x odd
    {LOAD, 3},  {PUSH, 3},  {MULTIPLY, 0}, {PUSH, 1}, {ADD, 0}, {STORE, 3}, {JUMP, 27},
    {LOAD, 3},  {PUSH, 1},  {SHIFT_RIGHT, 0}, {STORE, 3},        // 23: else x >>= 1
    {LOAD, 1},  {PUSH, 1},  {ADD, 0},  {STORE, 1},               // 27: result += 1
    {JUMP, 8},  {STOP, 0},
    {LOAD, 2},  {PUSH, 1},  {ADD, 0},  {STORE, 2},               // 33: i += 1
    {JUMP, 2},  {STOP, 0},                                       // 38
};
static const struct instruction sieve[] = {
    {PUSH, 2},  {STORE, 2},                                      // i = 2
    {LOAD, 2},  {LOAD, 0},  {LESS, 0}, {JUMP_IF_ZERO, 36},       // 2: while i < limit
    {LOAD, 2},  {FETCH, 0}, {JUMP_IF_ZERO, 10}, {JUMP, 31},      // 6: if !cells[i]
    {LOAD, 1},  {PUSH, 1},  {ADD, 0},  {STORE, 1},               // 10: result += 1
    {LOAD, 2},  {LOAD, 2},  {ADD, 0},  {STORE, 3},               // 14: j = i + i
    {LOAD, 3},  {LOAD, 0},  {LESS, 0}, {JUMP_IF_ZERO, 31},       // 18: while j < limit
    {LOAD, 3},  {PUSH, 1},  {PUT, 0},                            // 22: cells[j] = 1
    {LOAD, 3},  {LOAD, 2},  {ADD, 0},  {STORE, 3},               // 25: j += i
    {JUMP, 18}, {STOP, 0},
    {LOAD, 2},  {PUSH, 1},  {ADD, 0},  {STORE, 2},               // 31: i += 1
    {JUMP, 2},  {STOP, 0},                                       // 36
};

__attribute__((noinline)) static uint32_t interpret(const struct instruction *program, uint32_t limit, uint8_t *cells) {
    uint32_t stack[16], variables[4] = {limit, 0, 0, 0};
    uint32_t *top = stack;
    for (const struct instruction *at = program;; at++) {
        switch (at->operation) {
            case STOP: return variables[1];
            case PUSH: *top++ = (uint32_t)at->operand; break;
            case LOAD: *top++ = variables[at->operand]; break;
            case STORE: variables[at->operand] = *--top; break;
            case FETCH: top[-1] = cells[top[-1]]; break;
            case PUT: top -= 2, cells[top[0]] = (uint8_t)top[1]; break;
            case ADD: top--, top[-1] += top[0]; break;
            case MULTIPLY: top--, top[-1] *= top[0]; break;
            case AND: top--, top[-1] &= top[0]; break;
            case SHIFT_RIGHT: top--, top[-1] >>= top[0] & 31; break;
            case LESS: top--, top[-1] = top[-1] < top[0]; break;
            case JUMP: at = program + at->operand - 1; break;
            case JUMP_IF_ZERO:
                if (!*--top) at = program + at->operand - 1;
                break;
        }
    }
}

void setup(uint32_t new_mode, uint32_t size) {
    mode = new_mode, n = size;
    free(cells);
    cells = room(n);
    if (mode == 0) memcpy(program, sequence, sizeof sequence);
    else memcpy(program, sieve, sizeof sieve);
}

uint64_t run(uint32_t rounds) {
    uint64_t sum = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        if (mode == 1) memset(cells, 0, n);
        FORGET(cells);
        sum += interpret(program, n, cells);
    }
    return sum;
}

static int right(uint32_t rounds, uint64_t checksum) {
    uint64_t result = 0;
    for (uint32_t i = mode == 0 ? 1 : 2; i < n; i++) {
        if (mode == 0) {
            for (uint32_t x = i; x > 1; result++) x = x & 1 ? x * 3 + 1 : x >> 1;
        } else {
            uint32_t prime = 1;
            for (uint32_t d = 2; prime && d * d <= i; d++) prime = i % d != 0;
            result += prime;
        }
    }
    return result * rounds == checksum;
}
