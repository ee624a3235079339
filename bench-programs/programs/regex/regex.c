// A backtracking regular expression matcher (Pike's shape: a small program of CHAR, ANY OF, SPLIT, JUMP, MATCH) that looks for three expressions in a text. A
// split per character, recursion for what was put off, and branches that depend on the text.
#include "../kernel.h"

static const struct kernel kernel = {
    "regex", "  MODE 0; SIZE KiB of text; ROUNDS searches\n", 1, {256}, 30,
};

enum operation { CHAR, RANGE, SPLIT, JUMP, MATCH };
struct instruction {
    uint8_t operation, low, high; // CHAR: low; RANGE: low..high
    int16_t first, second;        // SPLIT: preferred, other; JUMP: first
};

// [0-9]+-[0-9]+
static const struct instruction numbers[] = {
    {RANGE, '0', '9', 0, 0}, {SPLIT, 0, 0, 0, 2}, {CHAR, '-', 0, 0, 0}, {RANGE, '0', '9', 0, 0}, {SPLIT, 0, 0, 3, 5}, {MATCH, 0, 0, 0, 0},
};
// (ab|cd)*ef
static const struct instruction pairs[] = {
    {SPLIT, 0, 0, 1, 8}, {SPLIT, 0, 0, 2, 5}, {CHAR, 'a', 0, 0, 0}, {CHAR, 'b', 0, 0, 0}, {JUMP, 0, 0, 0, 0},
    {CHAR, 'c', 0, 0, 0}, {CHAR, 'd', 0, 0, 0}, {JUMP, 0, 0, 0, 0}, {CHAR, 'e', 0, 0, 0}, {CHAR, 'f', 0, 0, 0}, {MATCH, 0, 0, 0, 0},
};
// [a-f]+[0-9]x?
static const struct instruction names[] = {
    {RANGE, 'a', 'f', 0, 0}, {SPLIT, 0, 0, 0, 2}, {RANGE, '0', '9', 0, 0}, {SPLIT, 0, 0, 4, 5}, {CHAR, 'x', 0, 0, 0}, {MATCH, 0, 0, 0, 0},
};

static uint32_t n;
static char *text;

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    n = (size > 1u << 18 ? 1u << 18 : size) * 1024;
    free(text);
    text = room(n + 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t draw = next_random() % 100;
        text[i] = draw < 60 ? (char)('a' + next_random() % 6) : draw < 90 ? (char)('0' + next_random() % 10) : draw < 94 ? '-' : draw < 96 ? 'x' : ' ';
    }
    text[n] = 0;
}

// The end of the match that begins at `at`, or null.
__attribute__((noinline)) static const char *match(const struct instruction *program, int pc, const char *at) {
    for (;;) {
        const struct instruction *i = program + pc;
        switch (i->operation) {
            case CHAR:
                if ((uint8_t)*at != i->low) return 0;
                at++, pc++;
                break;
            case RANGE:
                if ((uint8_t)*at < i->low || (uint8_t)*at > i->high) return 0;
                at++, pc++;
                break;
            case SPLIT: {
                const char *end = match(program, i->first, at);
                if (end) return end;
                pc = i->second;
                break;
            }
            case JUMP: pc = i->first; break;
            default: return at;
        }
    }
}

static uint64_t search(const struct instruction *program) {
    uint64_t hash = 0;
    for (const char *at = text; *at;) {
        const char *end = match(program, 0, at);
        if (end && end > at) hash = hash * 31 + (uint64_t)(at - text) * 7 + (uint64_t)(end - at), at = end;
        else at++;
    }
    return hash;
}

uint64_t run(uint32_t rounds) {
    uint64_t hash = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        FORGET(text);
        hash = search(numbers) ^ search(pairs) * 3 ^ search(names) * 5;
    }
    return hash;
}

static int digit(char c) { return c >= '0' && c <= '9'; }
static int letter(char c) { return c >= 'a' && c <= 'f'; }

// The three by hand.
static const char *numbers_by_hand(const char *at) {
    if (!digit(*at)) return 0;
    while (digit(*at)) at++;
    if (*at++ != '-' || !digit(*at)) return 0;
    while (digit(*at)) at++;
    return at;
}
static const char *pairs_by_hand(const char *at) {
    // A prefix of pairs, the longest first: only the position after all of them, or an earlier one, can be followed by ef; no pair begins with e.
    while ((at[0] == 'a' && at[1] == 'b') || (at[0] == 'c' && at[1] == 'd')) at += 2;
    return at[0] == 'e' && at[1] == 'f' ? at + 2 : 0;
}
static const char *names_by_hand(const char *at) {
    if (!letter(*at)) return 0;
    while (letter(*at)) at++;
    if (!digit(*at++)) return 0;
    return at + (*at == 'x');
}

static uint64_t by_hand(const char *(*find)(const char *)) {
    uint64_t hash = 0;
    for (const char *at = text; *at;) {
        const char *end = find(at);
        if (end) hash = hash * 31 + (uint64_t)(at - text) * 7 + (uint64_t)(end - at), at = end;
        else at++;
    }
    return hash;
}

static int right(uint32_t rounds, uint64_t checksum) {
    return rounds == 0 || (by_hand(numbers_by_hand) ^ by_hand(pairs_by_hand) * 3 ^ by_hand(names_by_hand) * 5) == checksum;
}
