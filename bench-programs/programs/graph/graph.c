// Two walks over a random graph in compressed sparse rows: PageRank and breadth-first search.
//
// mode 0: PageRank, larger than the caches.  mode 1: PageRank, in L2.  mode 2, 3: breadth-first search, the same two sizes.
// Ranks are integers (a fraction of 2^40), so their sum can be checked exactly.
#include "../kernel.h"

static const struct kernel kernel = {
    "graph",
    "  MODE 0 PageRank large, 1 PageRank small, 2 search large, 3 search small; SIZE vertices (8 edges each);\n"
    "  ROUNDS rounds of 4194304 vertices (iterations, or searches) at any size from 1024 on, below of one pass\n",
    4, {4194304, 8192, 4194304, 8192}, 4,
};

enum { DEGREE = 8, ROUND_VERTICES = 1 << 22 };
static uint32_t mode, n;
static uint32_t *row, *edges, *out_degree, *queue, *level;
static uint64_t *rank, *share;

void setup(uint32_t new_mode, uint32_t size) {
    mode = new_mode, n = size;
    free(row), free(edges), free(out_degree), free(queue), free(level), free(rank), free(share);
    row = room((n + 1) * 4), edges = room((size_t)n * DEGREE * 4), out_degree = room(n * 4), queue = room(n * 4), level = room(n * 4);
    rank = room(n * 8), share = room(n * 8);
    memset(out_degree, 0, n * 4);
    for (uint32_t v = 0; v <= n; v++) row[v] = v * DEGREE;
    for (uint32_t e = 0; e < n * DEGREE; e++) {
        edges[e] = (uint32_t)((uint64_t)next_random() * n >> 32);
        out_degree[edges[e]]++;
    }
}

__attribute__((noinline)) static void pull(uint32_t n, const uint32_t *row, const uint32_t *edges, const uint64_t *share, uint64_t *rank,
                                           uint64_t base) {
    for (uint32_t v = 0; v < n; v++) {
        uint64_t sum = base;
        for (uint32_t e = row[v]; e < row[v + 1]; e++) sum += share[edges[e]];
        rank[v] = sum;
    }
}

__attribute__((noinline)) static uint32_t search(uint32_t n, const uint32_t *row, const uint32_t *edges, uint32_t *queue, uint32_t *level,
                                                 uint32_t from) {
    for (uint32_t v = 0; v < n; v++) level[v] = ~0u;
    uint32_t head = 0, tail = 0;
    queue[tail++] = from, level[from] = 0;
    while (head < tail) {
        uint32_t v = queue[head++], next = level[v] + 1;
        for (uint32_t e = row[v]; e < row[v + 1]; e++) {
            uint32_t w = edges[e];
            if (level[w] == ~0u) level[w] = next, queue[tail++] = w;
        }
    }
    return tail;
}

static uint32_t passes_of(uint32_t rounds) { return n < 1024 || n >= ROUND_VERTICES ? rounds : rounds * (ROUND_VERTICES / n); }

uint64_t run(uint32_t rounds) {
    uint32_t passes = passes_of(rounds);
    uint64_t sum = 0;
    if (mode < 2) {
        for (uint32_t v = 0; v < n; v++) rank[v] = (1ull << 40) / n;
        for (uint32_t p = 0; p < passes; p++) {
            for (uint32_t v = 0; v < n; v++) share[v] = out_degree[v] ? rank[v] * 85 / 100 / out_degree[v] : 0;
            pull(n, row, edges, share, rank, (1ull << 40) / n * 15 / 100);
        }
        for (uint32_t v = 0; v < n; v++) sum += rank[v];
    } else {
        for (uint32_t p = 0; p < passes; p++) sum += search(n, row, edges, queue, level, p % n);
    }
    return sum;
}

static int right(uint32_t rounds, uint64_t checksum) {
    if (rounds == 0) return 1;
    uint64_t sum = 0;
    if (mode < 2) {
        // What the last iteration handed out is what it collected: each vertex its share, once for each edge that leaves it.
        for (uint32_t v = 0; v < n; v++) sum += share[v] * out_degree[v] + (1ull << 40) / n * 15 / 100;
        return sum == checksum;
    }
    // No edge skips a level, and every vertex but the first has an edge from the level before.
    uint32_t reached = 0;
    for (uint32_t v = 0; v < n; v++) queue[v] = level[v] == 0;
    for (uint32_t v = 0; v < n; v++) {
        if (level[v] == ~0u) continue;
        reached++;
        for (uint32_t e = row[v]; e < row[v + 1]; e++) {
            if (level[edges[e]] > level[v] + 1) return 0;
            queue[edges[e]] |= level[edges[e]] == level[v] + 1;
        }
    }
    for (uint32_t v = 0; v < n; v++)
        if (level[v] != ~0u && !queue[v]) return 0;
    uint32_t passes = passes_of(rounds);
    return checksum >= reached && checksum <= (uint64_t)n * passes && (passes > 1 || checksum == reached);
}
