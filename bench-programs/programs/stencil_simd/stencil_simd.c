// `stencil` with two cells at a time: v128 loads that are not aligned, f64x2 arithmetic, v128 stores.
#include "../stencil/stencil.h"

typedef double lane __attribute__((vector_size(16)));
enum { LANES = 2 };
static lane here(const double *at) {
    lane value;
    memcpy(&value, at, sizeof value);
    return value;
}
static lane neighbours(const double *at) { return here(at - 1) + here(at + 1); }
static void put_lane(double *at, lane value) { memcpy(at, &value, sizeof value); }
#include "../stencil/stencil_step.h"

static const struct kernel kernel = {
    "stencil_simd", "  MODE 0; SIZE cells along a side, even; ROUNDS times six steps\n", 1, {512}, 50,
};
