// Compression in the manner of LZ77 with hash chains: short loops with unpredictable ends, and a table that is hit at random.
//
// The format: a control byte below 128 is followed by that many literals plus one; one of 128 or more is a match of its value minus 124 bytes (4 to 131), at the
// distance in the next two bytes. What was compressed must come back.
#include "../kernel.h"

static const struct kernel kernel = {
    "lz", "  MODE 0 text, 1 random bytes; SIZE KiB; ROUNDS compressions\n", 2, {1024, 1024}, 12,
};

enum { WINDOW = 65535, LEAST = 4, MOST = 131, HASH_BITS = 15, CHAIN = 16 };
static uint32_t n, packed_size;
static uint8_t *input, *packed;
static uint32_t head[1 << HASH_BITS], *before;

void setup(uint32_t mode, uint32_t size) {
    n = (size > 1u << 18 ? 1u << 18 : size) * 1024;
    free(input), free(packed), free(before);
    input = room(n), packed = room(n + n / 64 + 64), before = room(n * sizeof *before);
    // Text: words of a vocabulary, the more frequent ones first.
    static char words[512][10];
    for (int w = 0; w < 512; w++) {
        uint32_t length = 2 + next_random() % 7;
        for (uint32_t i = 0; i < length; i++) words[w][i] = (char)('a' + next_random() % 26);
        words[w][length] = ' ', words[w][length + 1] = 0;
    }
    for (uint32_t at = 0; at < n;) {
        if (mode == 1) {
            input[at++] = (uint8_t)next_random();
            continue;
        }
        uint32_t draw = next_random() & 511;
        for (const char *c = words[draw & next_random()]; *c && at < n;) input[at++] = (uint8_t)*c++;
    }
}

static uint32_t hash_at(const uint8_t *p) {
    uint32_t word;
    memcpy(&word, p, 4);
    return word * 2654435761u >> (32 - HASH_BITS);
}

__attribute__((noinline)) static uint32_t match_length(const uint8_t *a, const uint8_t *b, uint32_t most) {
    uint32_t length = 0;
    while (length < most && a[length] == b[length]) length++;
    return length;
}

__attribute__((noinline)) static uint32_t compress(const uint8_t *in, uint32_t n, uint8_t *out) {
    memset(head, 0xff, sizeof head);
    uint8_t *to = out;
    uint32_t at = 0, literals = 0;
    while (at < n) {
        uint32_t best = 0, distance = 0;
        if (at + LEAST <= n) {
            uint32_t most = n - at < MOST ? n - at : MOST, hash = hash_at(in + at), candidate = head[hash];
            for (int tries = CHAIN; tries && candidate != UINT32_MAX && at - candidate <= WINDOW; tries--, candidate = before[candidate]) {
                if (best && in[candidate + best] != in[at + best]) continue;
                uint32_t length = match_length(in + candidate, in + at, most);
                if (length > best) {
                    best = length, distance = at - candidate;
                    if (best == most) break;
                }
            }
            before[at] = head[hash], head[hash] = at;
        }
        if (best >= LEAST) {
            *to++ = (uint8_t)(best + 124), *to++ = (uint8_t)distance, *to++ = (uint8_t)(distance >> 8);
            for (uint32_t i = 1; i < best && at + i + LEAST <= n; i++) {
                uint32_t hash = hash_at(in + at + i);
                before[at + i] = head[hash], head[hash] = at + i;
            }
            at += best, literals = 0;
        } else {
            if (literals == 0) *to++ = 0;
            else to[-(int)literals - 1] = (uint8_t)literals;
            *to++ = in[at++];
            literals = literals == 127 ? 0 : literals + 1;
        }
    }
    return (uint32_t)(to - out);
}

uint64_t run(uint32_t rounds) {
    for (uint32_t r = 0; r < rounds; r++) packed_size = compress(input, n, packed);
    uint64_t hash = packed_size;
    for (uint32_t i = 0; i < packed_size; i++) hash = hash * 31 + packed[i];
    return hash;
}

static int right(uint32_t rounds, uint64_t checksum) {
    (void)checksum;
    if (rounds == 0) return 1;
    uint8_t *out = room(n + MOST);
    uint32_t at = 0;
    const uint8_t *from = packed, *end = packed + packed_size;
    while (from < end && at < n) {
        uint32_t control = *from++;
        if (control < 128) {
            for (uint32_t i = 0; i <= control && at < n; i++) out[at++] = *from++;
        } else {
            uint32_t distance = from[0] | (uint32_t)from[1] << 8;
            from += 2;
            if (distance == 0 || distance > at) break;
            for (uint32_t i = 0; i < control - 124 && at < n; i++, at++) out[at] = out[at - distance];
        }
    }
    int same = at == n && from == end && !memcmp(out, input, n);
    free(out);
    return same;
}
