// SHA-256 (FIPS 180-4): rotations, additions and logic in one long chain.
#include "../kernel.h"

static const struct kernel kernel = {
    "sha256", "  MODE 0; SIZE KiB of the message; ROUNDS digests\n", 1, {1024}, 100,
};

static uint32_t bytes;
static uint8_t *message;
static uint32_t constant[64];

// The first 32 bits of the fractions of the cube roots of the first primes: by integer search, so that there is no table to mistype.
static uint32_t cube_root_fraction(uint32_t prime) {
    // The largest r with r^3 <= prime * 2^96, as a 36-bit number built from the top; only its low 32 bits are the fraction.
    uint64_t r = 0;
    for (int bit = 35; bit >= 0; bit--) {
        uint64_t t = r | 1ull << bit;
        unsigned __int128 square = (unsigned __int128)t * t;
        // t^3 <= prime << 96, without 160-bit numbers: t^2 <= (prime << 96) / t, compared in two steps.
        unsigned __int128 whole = ((unsigned __int128)prime << 96) / t;
        if (square <= whole) r = t;
    }
    return (uint32_t)r;
}

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    bytes = size > 1u << 18 ? 1u << 28 : size * 1024;
    free(message);
    message = room(bytes);
    for (uint32_t i = 0; i < bytes; i++) message[i] = (uint8_t)next_random();
    for (uint32_t found = 0, p = 2; found < 64; p++) {
        uint32_t prime = 1;
        for (uint32_t d = 2; d * d <= p; d++) prime &= p % d != 0;
        if (prime) constant[found++] = cube_root_fraction(p);
    }
}

#define ROTATE(x, by) ((x) >> (by) | (x) << (32 - (by)))

__attribute__((noinline)) static void block(uint32_t state[8], const uint8_t *in) {
    uint32_t w[64];
    for (int i = 0; i < 16; i++) w[i] = (uint32_t)in[4 * i] << 24 | (uint32_t)in[4 * i + 1] << 16 | (uint32_t)in[4 * i + 2] << 8 | in[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (ROTATE(a, 7) ^ ROTATE(a, 18) ^ a >> 3) + w[i - 7] + (ROTATE(b, 17) ^ ROTATE(b, 19) ^ b >> 10);
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i++) {
        uint32_t t = h + (ROTATE(e, 6) ^ ROTATE(e, 11) ^ ROTATE(e, 25)) + ((e & f) ^ (~e & g)) + constant[i] + w[i];
        uint32_t u = (ROTATE(a, 2) ^ ROTATE(a, 13) ^ ROTATE(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t, d = c, c = b, b = a, a = t + u;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

static void digest(uint32_t state[8], const uint8_t *in, uint32_t length) {
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(state, initial, sizeof initial);
    uint32_t at = 0;
    for (; at + 64 <= length; at += 64) block(state, in + at);
    uint8_t last[128] = {0};
    uint32_t rest = length - at, end = rest < 56 ? 64 : 128;
    memcpy(last, in + at, rest);
    last[rest] = 0x80;
    for (int i = 0; i < 8; i++) last[end - 1 - i] = (uint8_t)((uint64_t)length * 8 >> 8 * i);
    block(state, last);
    if (end == 128) block(state, last + 64);
}

uint64_t run(uint32_t rounds) {
    uint32_t state[8] = {0};
    for (uint32_t r = 0; r < rounds; r++) digest(state, message, bytes);
    return (uint64_t)state[0] << 32 | state[7];
}

// The standard's own example, and the message again by a second implementation that keeps its eight words in a ring and its schedule in sixteen.
static int right(uint32_t rounds, uint64_t checksum) {
    if (rounds == 0) return 1;
    uint32_t state[8];
    digest(state, (const uint8_t *)"abc", 3);
    if (state[0] != 0xba7816bf || state[7] != 0xf20015ad) return 0;
    uint32_t s[8];
    digest(s, message, 0);
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s, initial, sizeof s);
    for (uint32_t at = 0; at <= bytes; at += 64) {
        uint8_t in[64] = {0};
        if (at < bytes) memcpy(in, message + at, 64);
        else {
            in[0] = 0x80;
            for (int i = 0; i < 8; i++) in[63 - i] = (uint8_t)((uint64_t)bytes * 8 >> 8 * i);
        }
        uint32_t w[16], v[8];
        memcpy(v, s, sizeof v);
        for (uint32_t i = 0; i < 64; i++) {
            uint32_t *word = &w[i & 15];
            if (i < 16) *word = (uint32_t)in[4 * i] << 24 | (uint32_t)in[4 * i + 1] << 16 | (uint32_t)in[4 * i + 2] << 8 | in[4 * i + 3];
            else {
                uint32_t a = w[(i + 1) & 15], b = w[(i + 14) & 15];
                *word += (ROTATE(a, 7) ^ ROTATE(a, 18) ^ a >> 3) + w[(i + 9) & 15] + (ROTATE(b, 17) ^ ROTATE(b, 19) ^ b >> 10);
            }
#define V(k) v[((k) + 64 - i) & 7]
            uint32_t t = V(7) + (ROTATE(V(4), 6) ^ ROTATE(V(4), 11) ^ ROTATE(V(4), 25)) + ((V(4) & (V(5) ^ V(6))) ^ V(6)) + constant[i] + *word;
            uint32_t u = (ROTATE(V(0), 2) ^ ROTATE(V(0), 13) ^ ROTATE(V(0), 22)) + ((V(0) & V(1)) | (V(2) & (V(0) | V(1))));
            V(3) += t;
            V(7) = t + u;
        }
        for (int i = 0; i < 8; i++) s[i] += v[i];
    }
    return ((uint64_t)s[0] << 32 | s[7]) == checksum;
}
