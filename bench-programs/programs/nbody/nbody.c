// Bodies that attract each other, all pairs: division and square root on the path of every step. Energy and momentum must stay.
#include "../kernel.h"

static const struct kernel kernel = {
    "nbody", "  MODE 0; SIZE bodies; ROUNDS times a thousand steps\n", 1, {5}, 800,
};

enum { STEPS = 1000, MOST = 4096 };
typedef struct { double x, y, z, vx, vy, vz, mass; } body;
static uint32_t n;
static body *start, *bodies;

static double unit(void) { return (double)next_random() / 4294967296.0; }

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    n = size < 2 ? 2 : size > MOST ? MOST : size;
    free(start), free(bodies);
    start = room(n * sizeof *start), bodies = room(n * sizeof *bodies);
    double px = 0, py = 0, pz = 0;
    for (uint32_t i = 0; i < n; i++) {
        // A heavy body in the middle, light ones around it.
        double far = i ? 4 + 3 * i : 0;
        start[i] = (body){far, unit() * far / 8, unit() * far / 8, 0, i ? 6.2 / __builtin_sqrt(far) : 0, unit() / 8, i ? 1e-3 * unit() : 39.0};
        px += start[i].vx * start[i].mass, py += start[i].vy * start[i].mass, pz += start[i].vz * start[i].mass;
    }
    start[0].vx -= px / start[0].mass, start[0].vy -= py / start[0].mass, start[0].vz -= pz / start[0].mass;
}

__attribute__((noinline)) static void advance(body *bodies, uint32_t n, double dt) {
    for (uint32_t i = 0; i < n; i++) {
        body *a = bodies + i;
        for (uint32_t j = i + 1; j < n; j++) {
            body *b = bodies + j;
            double dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
            double square = dx * dx + dy * dy + dz * dz;
            double by = dt / (square * __builtin_sqrt(square));
            a->vx -= dx * b->mass * by, a->vy -= dy * b->mass * by, a->vz -= dz * b->mass * by;
            b->vx += dx * a->mass * by, b->vy += dy * a->mass * by, b->vz += dz * a->mass * by;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        body *a = bodies + i;
        a->x += dt * a->vx, a->y += dt * a->vy, a->z += dt * a->vz;
    }
}

static double energy(const body *bodies) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const body *a = bodies + i;
        sum += a->mass * (a->vx * a->vx + a->vy * a->vy + a->vz * a->vz) / 2;
        for (uint32_t j = i + 1; j < n; j++) {
            double dx = a->x - bodies[j].x, dy = a->y - bodies[j].y, dz = a->z - bodies[j].z;
            sum -= a->mass * bodies[j].mass / __builtin_sqrt(dx * dx + dy * dy + dz * dz);
        }
    }
    return sum;
}

uint64_t run(uint32_t rounds) {
    memcpy(bodies, start, n * sizeof *bodies);
    for (uint32_t s = 0; s < rounds * STEPS; s++) advance(bodies, n, 0.001);
    // IEEE arithmetic in this order has one answer.
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += bodies[i].x + 2 * bodies[i].y + 3 * bodies[i].z;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return bits;
}

static int right(uint32_t rounds, uint64_t checksum) {
    (void)rounds, (void)checksum;
    double before = energy(start), off = (energy(bodies) - before) / before, momentum = 0;
    for (uint32_t i = 0; i < n; i++) momentum += bodies[i].mass * (bodies[i].vx + bodies[i].vy + bodies[i].vz);
    return off < 1e-3 && off > -1e-3 && momentum < 1e-9 && momentum > -1e-9;
}
