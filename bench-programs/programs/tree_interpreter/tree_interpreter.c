// An interpreter that walks a tree of closures: every node is a function pointer with its operands, as embedded scripting languages are often built. Indirect calls with
// few targets at each place, and recursion.
#include "../kernel.h"

static const struct kernel kernel = {
    "tree_interpreter", "  MODE 0 a nested loop, 1 a recursive function; SIZE its argument; ROUNDS runs of it\n", 2, {1500000, 27}, 4,
};

typedef struct node node;
typedef struct { uint32_t slots[4]; } frame;
typedef uint32_t (*evaluate)(const node *, frame *);
struct node {
    evaluate go;
    const node *a, *b, *c;
    uint32_t value;
};

#define GO(x) ((x)->go((x), in))
static uint32_t constant(const node *self, frame *in) { (void)in; return self->value; }
static uint32_t load(const node *self, frame *in) { return in->slots[self->value]; }
static uint32_t store(const node *self, frame *in) { return in->slots[self->value] = GO(self->a); }
static uint32_t plus(const node *self, frame *in) { return GO(self->a) + GO(self->b); }
static uint32_t minus(const node *self, frame *in) { return GO(self->a) - GO(self->b); }
static uint32_t times(const node *self, frame *in) { return GO(self->a) * GO(self->b); }
static uint32_t exclusive(const node *self, frame *in) { return GO(self->a) ^ GO(self->b); }
static uint32_t below(const node *self, frame *in) { return GO(self->a) < GO(self->b); }
static uint32_t sequence(const node *self, frame *in) { return GO(self->a), GO(self->b); }
static uint32_t choose(const node *self, frame *in) { return GO(self->a) ? GO(self->b) : GO(self->c); }
static uint32_t repeat(const node *self, frame *in) {
    uint32_t last = 0;
    while (GO(self->a)) last = GO(self->b);
    return last;
}
// A call of the function whose body is `b` with the argument `a` in slot 0.
static uint32_t call(const node *self, frame *in) {
    frame own = {{GO(self->a), 0, 0, 0}};
    return self->b->go(self->b, &own);
}

static node nodes[64];
static uint32_t used, mode, n;

static const node *make(evaluate go, uint32_t value, const node *a, const node *b, const node *c) {
    nodes[used] = (node){go, a, b, c, value};
    return &nodes[used++];
}
static const node *number(uint32_t value) { return make(constant, value, 0, 0, 0); }
static const node *get(uint32_t slot) { return make(load, slot, 0, 0, 0); }
static const node *set(uint32_t slot, const node *to) { return make(store, slot, to, 0, 0); }
static const node *two(evaluate go, const node *a, const node *b) { return make(go, 0, a, b, 0); }
static const node *program;

void setup(uint32_t new_mode, uint32_t size) {
    mode = new_mode, n = size, used = 0;
    if (mode == 0) {
        // s = 1; i = 0; while (i < n) { s = s * 31 ^ i; if (s < 0x80000000) s = s + 7 else s = s - i; i = i + 1 } s       (slots: 0 n, 1 s, 2 i)
        const node *change = set(1, two(exclusive, two(times, get(1), number(31)), get(2)));
        const node *either = make(choose, 0, two(below, get(1), number(0x80000000u)), set(1, two(plus, get(1), number(7))), set(1, two(minus, get(1), get(2))));
        const node *body = two(sequence, two(sequence, change, either), set(2, two(plus, get(2), number(1))));
        const node *loop = two(repeat, two(below, get(2), get(0)), body);
        program = two(sequence, two(sequence, set(1, number(1)), loop), get(1));
    } else {
        // f(x) = x < 2 ? x : f(x - 1) + f(x - 2)
        node *one = (node *)two(call, two(minus, get(0), number(1)), 0), *other = (node *)two(call, two(minus, get(0), number(2)), 0);
        program = make(choose, 0, two(below, get(0), number(2)), get(0), two(plus, one, other));
        one->b = program, other->b = program;
    }
}

uint64_t run(uint32_t rounds) {
    uint64_t sum = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        frame outer = {{n, 0, 0, 0}};
        FORGET(program);
        sum += program->go(program, &outer);
    }
    return sum;
}

static int right(uint32_t rounds, uint64_t checksum) {
    uint32_t s = 1;
    if (mode == 0) {
        for (uint32_t i = 0; i < n; i++) {
            s = s * 31 ^ i;
            s = s < 0x80000000u ? s + 7 : s - i;
        }
    } else {
        uint32_t a = 0, b = 1;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t next = a + b;
            a = b, b = next;
        }
        s = a;
    }
    return (uint64_t)s * rounds == checksum;
}
