// Ray tracing of spheres over a floor, with shadows and mirrors: floating point with branches and recursion. The mirrored scene must give the mirrored picture, to the bit.
#include "../kernel.h"

static const struct kernel kernel = {
    "raytrace", "  MODE 0; SIZE pixels of the picture's width; ROUNDS pictures\n", 1, {320}, 10,
};

typedef struct { double x, y, z; } vector;
typedef struct { vector centre; double radius, mirror, shade; } sphere;
enum { SPHERES = 12 };
static sphere scene[SPHERES];
static vector light;
static uint32_t width;
static uint16_t *picture;

static vector sub(vector a, vector b) { return (vector){a.x - b.x, a.y - b.y, a.z - b.z}; }
static vector scaled(vector a, double by) { return (vector){a.x * by, a.y * by, a.z * by}; }
static vector add(vector a, vector b) { return (vector){a.x + b.x, a.y + b.y, a.z + b.z}; }
// Summed so that a change of x's sign changes nothing else.
static double dot(vector a, vector b) { return a.x * b.x + (a.y * b.y + a.z * b.z); }
static vector unit(vector a) { return scaled(a, 1 / __builtin_sqrt(dot(a, a))); }

void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    width = (size < 8 ? 8 : size > 8192 ? 8192 : size) & ~1u;
    free(picture);
    picture = room((size_t)width * width * sizeof *picture);
    light = (vector){-6, 9, -4};
    for (int i = 0; i < SPHERES; i++) {
        double across = (double)(next_random() % 1000) / 100 - 5, up = (double)(next_random() % 300) / 100, away = 3 + (double)(next_random() % 900) / 100;
        scene[i] = (sphere){{across, up, away}, 0.4 + (double)(next_random() % 100) / 100, i % 3 ? 0.3 : 0.8, (double)(i % 4 + 1) / 4};
    }
}

// The nearest sphere that the ray hits, or -1; its distance in `near`.
__attribute__((noinline)) static int hit(const sphere *scene, vector from, vector to, double *near) {
    int found = -1;
    for (int i = 0; i < SPHERES; i++) {
        vector off = sub(from, scene[i].centre);
        double b = dot(off, to), square = b * b - (dot(off, off) - scene[i].radius * scene[i].radius);
        if (square < 0) continue;
        double root = __builtin_sqrt(square), t = -b - root;
        if (t < 1e-6) t = -b + root;
        if (t > 1e-6 && t < *near) *near = t, found = i;
    }
    return found;
}

static double trace(const sphere *scene, vector from, vector to, int depth) {
    double near = 1e30;
    int found = hit(scene, from, to, &near);
    double floor = to.y < -1e-9 ? -(from.y + 1) / to.y : 1e30;
    vector at, normal;
    double shade, mirror;
    if (floor > 1e-6 && floor < near) {
        at = add(from, scaled(to, floor)), normal = (vector){0, 1, 0}, mirror = 0.1;
        // Squares that are the same on both sides of the middle.
        int64_t across = (int64_t)__builtin_fabs(at.x), away = (int64_t)__builtin_fabs(at.z);
        shade = (across + away) & 1 ? 0.9 : 0.3;
    } else if (found >= 0) {
        at = add(from, scaled(to, near)), normal = unit(sub(at, scene[found].centre));
        shade = scene[found].shade, mirror = scene[found].mirror;
    } else {
        return 0.2 + 0.3 * (to.y > 0 ? to.y : 0);
    }
    vector way = sub(light, at);
    double distance = __builtin_sqrt(dot(way, way));
    way = scaled(way, 1 / distance);
    double lit = dot(normal, way), shadow = distance;
    if (lit < 0 || hit(scene, at, way, &shadow) >= 0) lit = 0;
    double result = shade * (0.1 + 0.9 * lit);
    if (depth && mirror > 0.05) result = result * (1 - mirror) + mirror * trace(scene, at, sub(to, scaled(normal, 2 * dot(to, normal))), depth - 1);
    return result;
}

static void render(const sphere *scene, uint16_t *picture) {
    for (uint32_t y = 0; y < width; y++)
        for (uint32_t x = 0; x < width; x++) {
            // Pixel centres, symmetric about 0.
            double across = ((double)(2 * (int32_t)x + 1) - width) / width, up = ((double)(2 * (int32_t)(width - y) - 1) - width) / width;
            picture[y * width + x] = (uint16_t)(65535 * trace(scene, (vector){0, 1, -4}, unit((vector){across, up, 1.5}), 4));
        }
}

static uint64_t hash_of(const uint16_t *picture, int mirrored) {
    uint64_t hash = 0;
    for (uint32_t y = 0; y < width; y++)
        for (uint32_t x = 0; x < width; x++) hash = hash * 31 + picture[y * width + (mirrored ? width - 1 - x : x)];
    return hash;
}

uint64_t run(uint32_t rounds) {
    for (uint32_t r = 0; r < rounds; r++) render(scene, picture);
    return hash_of(picture, 0);
}

static int right(uint32_t rounds, uint64_t checksum) {
    if (rounds == 0) return 1;
    sphere other[SPHERES];
    uint16_t *mirrored = room((size_t)width * width * sizeof *mirrored);
    for (int i = 0; i < SPHERES; i++) other[i] = scene[i], other[i].centre.x = -scene[i].centre.x;
    light.x = -light.x;
    render(other, mirrored);
    light.x = -light.x;
    int same = hash_of(mirrored, 1) == checksum;
    free(mirrored);
    return same;
}
