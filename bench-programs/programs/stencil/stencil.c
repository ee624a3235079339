// Five-point stencil on a torus: heat that spreads. Weights and inputs are such that every value is exact (three more binary places a step), so the
// sum of all cells stays what it was, to the last bit.
#include "stencil.h"

typedef double lane;
enum { LANES = 1 };
static lane neighbours(const double *at) { return at[-1] + at[1]; }
static lane here(const double *at) { return *at; }
static void put_lane(double *at, lane value) { *at = value; }
#include "stencil_step.h"

static const struct kernel kernel = {
    "stencil", "  MODE 0; SIZE cells along a side, even; ROUNDS times six steps\n", 1, {512}, 50,
};
