// A memory allocator with boundary tags and lists by size, and a program that takes and gives back blocks of all sizes at random. Pointer chasing through free lists, and
// merging with neighbours.
//
// Every block is filled with a stamp from end to end when it is taken and checked when it is given back, so blocks that overlap show.
#include "../kernel.h"

static const struct kernel kernel = {
    "allocator", "  MODE 0; SIZE blocks alive at a time; ROUNDS times 2^18 exchanges\n", 1, {4096}, 30,
};

enum { EXCHANGES = 1 << 18, LISTS = 24, HEADER = 8, LEAST = 32, MOST = 1024 };
// Size of this block and of the one before it in memory, with this header; bit 0 of `size`: in use. Sizes are multiples of 16.
typedef struct block block;
struct block {
    uint32_t size, before;
    block *next, *previous; // while it is free
};

static uint8_t *arena;
static size_t arena_bytes;
static block *lists[LISTS], *last;
static uint32_t n;
static uint8_t **alive;
static uint32_t *sizes;

static int list_of(uint32_t size) {
    int bits = 31 - __builtin_clz(size);
    int list = 2 * (bits - 5) + (int)(size >> (bits - 1) & 1);
    return list < LISTS ? list : LISTS - 1;
}

static block *after(block *b) { return (block *)((uint8_t *)b + (b->size & ~1u)); }

static void unlink_free(block *b) {
    if (b->previous) b->previous->next = b->next;
    else lists[list_of(b->size)] = b->next;
    if (b->next) b->next->previous = b->previous;
}

static void link_free(block *b) {
    block **list = &lists[list_of(b->size)];
    b->next = *list, b->previous = 0;
    if (*list) (*list)->previous = b;
    *list = b;
}

static void clear(void) {
    memset(lists, 0, sizeof lists);
    block *whole = (block *)(arena + 8);
    last = (block *)(arena + arena_bytes - 24);
    whole->size = (uint32_t)((uint8_t *)last - (uint8_t *)whole), whole->before = 0;
    last->size = 1, last->before = whole->size;
    link_free(whole);
}

__attribute__((noinline)) static uint8_t *take(uint32_t bytes) {
    uint32_t size = (bytes + HEADER + 15) & ~15u;
    if (size < LEAST) size = LEAST;
    for (int list = list_of(size); list < LISTS; list++)
        for (block *b = lists[list]; b; b = b->next) {
            if (b->size < size) continue;
            unlink_free(b);
            if (b->size - size >= LEAST) {
                block *rest = (block *)((uint8_t *)b + size);
                rest->size = b->size - size, rest->before = size;
                b->size = size;
                after(rest)->before = rest->size;
                link_free(rest);
            }
            b->size |= 1;
            return (uint8_t *)b + HEADER;
        }
    return 0;
}

__attribute__((noinline)) static void give(uint8_t *at) {
    block *b = (block *)(at - HEADER);
    b->size &= ~1u;
    block *next = after(b);
    if (!(next->size & 1)) {
        unlink_free(next);
        b->size += next->size;
    }
    if (b->before) {
        block *previous = (block *)((uint8_t *)b - b->before);
        if (!(previous->size & 1)) {
            unlink_free(previous);
            previous->size += b->size;
            b = previous;
        }
    }
    after(b)->before = b->size;
    link_free(b);
}

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    n = size;
    free(arena), free(alive), free(sizes);
    // Twice what is alive at most, for what lies between the blocks.
    arena_bytes = ((size_t)n * (MOST + 32) * 2 + 4096) & ~(size_t)15;
    arena = room(arena_bytes), alive = room(n * sizeof *alive), sizes = room(n * sizeof *sizes);
}

static uint32_t draw;
static uint32_t next_draw(void) { return draw = draw * 1664525u + 1013904223u; }
static uint32_t next_size(void) {
    uint32_t bits = next_draw() >> 16;
    // Most are small.
    return 1 + (bits & (bits & 0x8000 ? 63 : bits & 0x4000 ? 255 : MOST - 1));
}

uint64_t run(uint32_t rounds) {
    uint64_t sum = 0;
    draw = 1;
    clear();
    memset(alive, 0, n * sizeof *alive);
    for (uint32_t i = 0; i < rounds * EXCHANGES; i++) {
        uint32_t slot = (uint32_t)((uint64_t)next_draw() * n >> 32);
        if (alive[slot]) {
            uint8_t *at = alive[slot], stamp = at[0];
            for (uint32_t k = 0; k < sizes[slot]; k += 16)
                if (at[k] != stamp) return 0;
            if (at[sizes[slot] - 1] != stamp) return 0;
            sum += stamp;
            give(at);
        }
        sizes[slot] = next_size();
        alive[slot] = take(sizes[slot]);
        if (!alive[slot]) return 0;
        memset(alive[slot], (int)(slot * 7 + i) & 255, sizes[slot]);
    }
    for (uint32_t slot = 0; slot < n; slot++)
        if (alive[slot]) give(alive[slot]);
    // All is one block again.
    block *whole = (block *)(arena + 8);
    return sum * 2 + (after(whole) == last && !(whole->size & 1));
}

// The stamps without the memory.
static int right(uint32_t rounds, uint64_t checksum) {
    uint64_t sum = 0;
    int32_t *stamps = room(n * sizeof *stamps);
    for (uint32_t i = 0; i < n; i++) stamps[i] = -1;
    draw = 1;
    for (uint32_t i = 0; i < rounds * EXCHANGES; i++) {
        uint32_t slot = (uint32_t)((uint64_t)next_draw() * n >> 32);
        if (stamps[slot] >= 0) sum += (uint64_t)stamps[slot];
        next_size();
        stamps[slot] = (int32_t)((slot * 7 + i) & 255);
    }
    free(stamps);
    return sum * 2 + 1 == checksum;
}
