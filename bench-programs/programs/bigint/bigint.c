// Arithmetic on numbers of many words: Fibonacci numbers by doubling, F(2k) = F(k) (2 F(k+1) - F(k)) and F(2k+1) = F(k)^2 + F(k+1)^2. 32-bit words, 64-bit products,
// carries from one iteration to the next.
#include "../kernel.h"

static const struct kernel kernel = {
    "bigint", "  MODE 0; SIZE n of F(n); ROUNDS computations\n", 1, {100000}, 12,
};

typedef struct { uint32_t count, *words; } number;
static uint32_t n, capacity;
static number a, b, c, d, e;

static number new_number(void) { return (number){0, room(capacity * sizeof(uint32_t))}; }

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    n = size > 4000000 ? 4000000 : size;
    // F(n) has 0.695 n bits; a product has twice the words of its factors.
    capacity = n / 32 + 16;
    free(a.words), free(b.words), free(c.words), free(d.words), free(e.words);
    a = new_number(), b = new_number(), c = new_number(), d = new_number(), e = new_number();
}

__attribute__((noinline)) static void multiply(number *to, const number *x, const number *y) {
    uint32_t count = x->count + y->count;
    memset(to->words, 0, count * sizeof(uint32_t));
    for (uint32_t i = 0; i < x->count; i++) {
        uint64_t carry = 0, factor = x->words[i];
        uint32_t *out = to->words + i;
        for (uint32_t j = 0; j < y->count; j++) {
            carry += factor * y->words[j] + out[j];
            out[j] = (uint32_t)carry, carry >>= 32;
        }
        out[y->count] = (uint32_t)carry;
    }
    while (count && !to->words[count - 1]) count--;
    to->count = count;
}

// to = x + y; `to` may be `x`.
static void add(number *to, const number *x, const number *y) {
    uint64_t carry = 0;
    uint32_t i = 0;
    for (; i < x->count || i < y->count || carry; i++) {
        carry += (uint64_t)(i < x->count ? x->words[i] : 0) + (i < y->count ? y->words[i] : 0);
        to->words[i] = (uint32_t)carry, carry >>= 32;
    }
    to->count = i;
}

// to = x - y, where x is not smaller; `to` may be `x`.
static void subtract(number *to, const number *x, const number *y) {
    uint64_t borrow = 0;
    uint32_t count = x->count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t difference = (uint64_t)x->words[i] - (i < y->count ? y->words[i] : 0) - borrow;
        to->words[i] = (uint32_t)difference, borrow = difference >> 63;
    }
    while (count && !to->words[count - 1]) count--;
    to->count = count;
}

static void exchange(number *x, number *y) {
    number t = *x;
    *x = *y, *y = t;
}

// a = F(n), b = F(n + 1).
static void fibonacci(uint32_t n) {
    a.count = 0, b.count = 1, b.words[0] = 1;
    for (int bit = 31 - (n ? __builtin_clz(n) : 31); bit >= 0; bit--) {
        add(&c, &b, &b);
        subtract(&c, &c, &a);
        multiply(&d, &a, &c); // F(2k)
        multiply(&c, &a, &a);
        multiply(&e, &b, &b);
        add(&e, &e, &c); // F(2k + 1)
        exchange(&a, &d), exchange(&b, &e);
        if (n >> bit & 1) {
            add(&a, &a, &b);
            exchange(&a, &b);
        }
    }
}

static uint64_t residue(const number *x, uint32_t modulus) {
    uint64_t rest = 0;
    for (uint32_t i = x->count; i-- > 0;) rest = (rest << 32 | x->words[i]) % modulus;
    return rest;
}

static const uint32_t primes[4] = {4294967291u, 4294967279u, 1000000007u, 998244353u};

uint64_t run(uint32_t rounds) {
    for (uint32_t r = 0; r < rounds; r++) fibonacci(n);
    uint64_t hash = 0;
    for (int i = 0; i < 4; i++) hash = hash * 1000003 + residue(&a, primes[i]);
    return hash;
}

// The same residues from additions alone.
static int right(uint32_t rounds, uint64_t checksum) {
    if (rounds == 0) return 1;
    uint64_t hash = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t x = 0, y = 1;
        for (uint32_t k = 0; k < n; k++) {
            uint64_t next = (x + y) % primes[i];
            x = y, y = next;
        }
        hash = hash * 1000003 + x;
    }
    return hash == checksum;
}
