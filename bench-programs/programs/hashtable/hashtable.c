// A hash table with string keys, written as libraries write them: hash and equality are callbacks in the table.
//
// A round inserts every word (most are there already), looks up as many present as absent ones, removes a third and puts it back. Open
// addressing with linear probing; removal shifts the cluster back, so there are no tombstones.
#include "../kernel.h"

static const struct kernel kernel = {
    "hashtable", "  MODE 0; SIZE distinct words; ROUNDS passes over all of them\n", 1, {100000}, 60,
};

struct word {
    uint32_t length;
    char text[12];
};

struct table {
    uint32_t (*hash)(const struct word *);
    int (*equal)(const struct word *, const struct word *);
    uint32_t mask, count;
    const struct word **keys;
    uint32_t *values;
};

__attribute__((noinline)) static uint32_t hash_word(const struct word *w) {
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < w->length; i++) h = (h ^ (uint8_t)w->text[i]) * 16777619u;
    return h ^ h >> 15;
}

__attribute__((noinline)) static int equal_word(const struct word *a, const struct word *b) {
    if (a->length != b->length) return 0;
    for (uint32_t i = 0; i < a->length; i++)
        if (a->text[i] != b->text[i]) return 0;
    return 1;
}

// Not static: a host could write them, so the callbacks stay callbacks.
uint32_t (*hash_callback)(const struct word *) = hash_word;
int (*equal_callback)(const struct word *, const struct word *) = equal_word;

static uint32_t n;
static struct word *present, *absent;
static struct table table;

// The slot of `key`, or the free slot where it belongs.
__attribute__((noinline)) static uint32_t slot_of(const struct table *t, const struct word *key) {
    uint32_t at = t->hash(key) & t->mask;
    while (t->keys[at] && !t->equal(t->keys[at], key)) at = (at + 1) & t->mask;
    return at;
}

static void put_word(struct table *t, const struct word *key, uint32_t value) {
    uint32_t at = slot_of(t, key);
    if (!t->keys[at]) t->keys[at] = key, t->count++;
    t->values[at] = value;
}

static const uint32_t *get_word(const struct table *t, const struct word *key) {
    uint32_t at = slot_of(t, key);
    return t->keys[at] ? &t->values[at] : 0;
}

static void remove_word(struct table *t, const struct word *key) {
    uint32_t hole = slot_of(t, key);
    if (!t->keys[hole]) return;
    t->count--;
    for (uint32_t at = (hole + 1) & t->mask; t->keys[at]; at = (at + 1) & t->mask) {
        uint32_t home = t->hash(t->keys[at]) & t->mask;
        if (((at - home) & t->mask) >= ((at - hole) & t->mask)) {
            t->keys[hole] = t->keys[at], t->values[hole] = t->values[at];
            hole = at;
        }
    }
    t->keys[hole] = 0;
}

// Word i spells i in the given alphabet after a random-looking start, so words are distinct, and absent ones differ in alphabet.
static void spell(struct word *w, uint32_t i, char base) {
    uint32_t scrambled = i * 2654435761u;
    w->length = 0;
    w->text[w->length++] = (char)(base + (scrambled >> 28));
    if (scrambled >> 20 & 1) w->text[w->length++] = (char)(base + (scrambled >> 24 & 15));
    w->text[w->length++] = '-';
    do w->text[w->length++] = (char)(base + (i & 15));
    while (i >>= 4);
}

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    n = size;
    free(present), free(absent), free(table.keys), free(table.values);
    present = room(n * sizeof *present), absent = room(n * sizeof *absent);
    for (uint32_t i = 0; i < n; i++) spell(&present[i], i, 'a'), spell(&absent[i], i, 'A');
    uint32_t capacity = 16;
    while (capacity < n * 2) capacity *= 2;
    table.hash = hash_callback, table.equal = equal_callback;
    table.mask = capacity - 1, table.count = 0;
    table.keys = room(capacity * sizeof *table.keys), table.values = room(capacity * sizeof *table.values);
    memset(table.keys, 0, capacity * sizeof *table.keys);
}

uint64_t run(uint32_t rounds) {
    uint64_t sum = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        for (uint32_t i = 0; i < n; i++) put_word(&table, &present[i], i + r);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t *value = get_word(&table, &present[i]);
            if (value) sum += *value;
            if (get_word(&table, &absent[i])) sum += 1u << 31;
        }
        for (uint32_t i = 0; i < n; i += 3) remove_word(&table, &present[i]);
        sum += table.count;
        for (uint32_t i = 0; i < n; i += 3) put_word(&table, &present[i], i);
        sum += table.count;
    }
    return sum;
}

static int right(uint32_t rounds, uint64_t checksum) {
    uint64_t sum = 0;
    for (uint32_t r = 0; r < rounds; r++)
        sum += (uint64_t)n * (n - 1) / 2 + (uint64_t)n * r + (n - (n + 2) / 3) + n;
    return sum == checksum;
}
