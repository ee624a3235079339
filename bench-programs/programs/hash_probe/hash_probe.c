// Probing an open-addressing hash table with integer keys: each probe misses, and its address needs only arithmetic on the key.
//
// mode 0: the table takes 256 MiB.  mode 1: 64 KiB.
#include "../kernel.h"

static const struct kernel kernel = {
    "hash_probe", "  MODE 0 large, 1 small; SIZE KiB of the table, a power of two; ROUNDS passes of 8388608 probes\n  (of 4096 where SIZE is below 64)\n", 2, {262144, 64}, 6,
};

enum { MOST_PROBES = 1 << 23 };
struct slot {
    uint32_t key, value;  // key 0 is a free slot
};

static uint32_t slots, shift, probes;
static struct slot *table;
static uint32_t *wanted;

static inline uint32_t home(uint32_t key, uint32_t shift) { return key * 2654435769u >> shift; }

// Key i of those in the table is odd, an absent one even; both are scattered.
static uint32_t present_key(uint32_t i) { return (i * 0x9e3779b1u) | 1; }

__attribute__((noinline)) static uint64_t probe(uint32_t count, const uint32_t *wanted, const struct slot *table, uint32_t shift,
                                                uint32_t mask) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key = wanted[i], at = home(key, shift);
        while (table[at].key) {
            if (table[at].key == key) {
                sum += table[at].value;
                break;
            }
            at = (at + 1) & mask;
        }
    }
    return sum;
}

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    slots = 128, shift = 25, probes = size < 64 ? 4096 : MOST_PROBES;
    while (slots < size * 128 && shift > 1) slots *= 2, shift--;
    free(table);
    table = room((size_t)slots * sizeof *table);
    memset(table, 0, (size_t)slots * sizeof *table);
    uint32_t many = slots / 2;
    for (uint32_t i = 0; i < many; i++) {
        uint32_t key = present_key(i), at = home(key, shift);
        while (table[at].key && table[at].key != key) at = (at + 1) & (slots - 1);
        table[at].key = key, table[at].value = key >> 8;
    }
    if (!wanted) wanted = room(MOST_PROBES * sizeof *wanted);
    for (uint32_t i = 0; i < probes; i++) {
        uint32_t key = present_key((uint32_t)((uint64_t)next_random() * many >> 32));
        wanted[i] = next_random() & 7 ? key : (key & ~1u) | 2;
    }
}

uint64_t run(uint32_t rounds) {
    uint64_t sum = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        FORGET(table);
        sum += probe(probes, wanted, table, shift, slots - 1);
    }
    return sum;
}

// Odd keys are present and even ones are not, whatever the table says.
static int right(uint32_t rounds, uint64_t checksum) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < probes; i++)
        if (wanted[i] & 1) sum += wanted[i] >> 8;
    return sum * rounds == checksum;
}
