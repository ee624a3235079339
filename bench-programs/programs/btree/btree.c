// A B-tree of 32-bit keys: binary search within nodes, moves when one splits, misses on the way down.
#include "../kernel.h"

static const struct kernel kernel = {
    "btree", "  MODE 0; SIZE keys; ROUNDS times inserting all and looking for twice as many\n", 1, {200000}, 8,
};

enum { MOST = 31, MIDDLE = MOST / 2 };
typedef struct node node;
struct node {
    uint16_t count, leaf;
    uint32_t keys[MOST];
    node *children[MOST + 1];
};

static uint32_t n, *keys, used;
static node *nodes, *root;

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    n = size;
    free(keys), free(nodes);
    // A node that is not the root has at least MIDDLE keys.
    keys = room(n * sizeof *keys), nodes = room((n / MIDDLE + 8) * sizeof *nodes);
    // Even numbers in random order, each once: multiplication by an odd number permutes what has no more bits than it.
    uint32_t bits = 1;
    while (1u << bits < n) bits++;
    uint32_t mask = (1u << bits) - 1, at = 0;
    for (uint32_t i = 0; at < n; i++) {
        uint32_t key = i * 2654435761u & mask;
        key ^= key >> (bits / 2 + 1);
        key = key * 0x9e3779b1u & mask;
        if (i <= mask && key < n) keys[at++] = key * 2;
    }
}

static node *new_node(int leaf) {
    node *fresh = nodes + used++;
    fresh->count = 0, fresh->leaf = (uint16_t)leaf;
    return fresh;
}

// The first position whose key is not below `key`.
static uint32_t position(const node *in, uint32_t key) {
    uint32_t low = 0, high = in->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (in->keys[middle] < key) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void split(node *parent, uint32_t at) {
    node *left = parent->children[at], *right = new_node(left->leaf);
    right->count = MOST - MIDDLE - 1;
    memcpy(right->keys, left->keys + MIDDLE + 1, right->count * sizeof(uint32_t));
    if (!left->leaf) memcpy(right->children, left->children + MIDDLE + 1, (right->count + 1u) * sizeof(node *));
    left->count = MIDDLE;
    memmove(parent->keys + at + 1, parent->keys + at, (parent->count - at) * sizeof(uint32_t));
    memmove(parent->children + at + 2, parent->children + at + 1, (parent->count - at) * sizeof(node *));
    parent->keys[at] = left->keys[MIDDLE], parent->children[at + 1] = right;
    parent->count++;
}

__attribute__((noinline)) static void insert(uint32_t key) {
    if (root->count == MOST) {
        node *above = new_node(0);
        above->children[0] = root, root = above;
        split(above, 0);
    }
    node *in = root;
    for (;;) {
        uint32_t at = position(in, key);
        if (at < in->count && in->keys[at] == key) return;
        if (in->leaf) {
            memmove(in->keys + at + 1, in->keys + at, (in->count - at) * sizeof(uint32_t));
            in->keys[at] = key, in->count++;
            return;
        }
        if (in->children[at]->count == MOST) {
            split(in, at);
            if (in->keys[at] == key) return;
            at += in->keys[at] < key;
        }
        in = in->children[at];
    }
}

__attribute__((noinline)) static int contains(uint32_t key) {
    const node *in = root;
    for (;;) {
        uint32_t at = position(in, key);
        if (at < in->count && in->keys[at] == key) return 1;
        if (in->leaf) return 0;
        in = in->children[at];
    }
}

uint64_t run(uint32_t rounds) {
    uint64_t found = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        used = 0, root = new_node(1);
        for (uint32_t i = 0; i < n; i++) insert(keys[i]);
        // Half of these are odd and not there.
        for (uint32_t i = 0; i < 2 * n; i++) {
            uint32_t key = keys[i % n] + (i >= n);
            if (contains(key)) found += key;
        }
    }
    return found;
}

static uint32_t next_key;
static int ordered(const node *in) {
    for (uint32_t i = 0; i <= in->count; i++) {
        if (!in->leaf && !ordered(in->children[i])) return 0;
        if (i < in->count) {
            if (in->keys[i] != next_key) return 0;
            next_key += 2;
        }
    }
    return 1;
}

static int right(uint32_t rounds, uint64_t checksum) {
    next_key = 0;
    return rounds == 0 || (ordered(root) && next_key == 2 * n && checksum == (uint64_t)rounds * n * (n - 1));
}
