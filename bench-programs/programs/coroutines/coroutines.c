// Coroutines as a compiler makes them: functions that keep their state in a struct and jump to where they left by a `switch`. A source, a filter, a run-length coder and a
// sink pass numbers through one-place mailboxes under a round-robin scheduler.
#include "../kernel.h"

static const struct kernel kernel = {
    "coroutines", "  MODE 0; SIZE numbers; ROUNDS times all of them\n", 1, {200000}, 40,
};

// A place for one number; END follows the last.
enum { EMPTY, FULL, END };
typedef struct { uint32_t state, value; } mailbox;

typedef struct task task;
struct task {
    int (*resume)(task *); // 0: it is done
    mailbox *in, *out;
    uint32_t at, left, a, b;
};

#define BEGIN switch (self->at) { case 0:
// Comes back here as often as it takes until the condition holds.
#define AWAIT(condition) case __LINE__: if (!(condition)) { self->at = __LINE__; return 1; }
#define FINISH } self->at = ~0u; return 0;
#define SEND(x) (self->out->value = (x), self->out->state = FULL)

static int source(task *self) {
    BEGIN
    for (; self->left; self->left--) {
        self->a = self->a * 1664525u + 1013904223u;
        AWAIT(self->out->state == EMPTY)
        SEND(self->a >> 28);
    }
    AWAIT(self->out->state == EMPTY)
    self->out->state = END;
    FINISH
}

// Lets through what is not 5, and 5 every third time.
static int filter(task *self) {
    BEGIN
    for (;;) {
        AWAIT(self->in->state != EMPTY)
        if (self->in->state == END) break;
        self->a = self->in->value, self->in->state = EMPTY;
        if (self->a == 5 && ++self->b % 3) continue;
        AWAIT(self->out->state == EMPTY)
        SEND(self->a / 4);
    }
    AWAIT(self->out->state == EMPTY)
    self->out->state = END;
    FINISH
}

// Runs as length * 16 + value.
static int coder(task *self) {
    BEGIN
    for (;;) {
        AWAIT(self->in->state != EMPTY)
        if (self->in->state == FULL && self->b && self->in->value == self->a) {
            self->b++, self->in->state = EMPTY;
            continue;
        }
        if (self->b) {
            AWAIT(self->out->state == EMPTY)
            SEND(self->b * 16 + self->a);
        }
        if (self->in->state == END) break;
        self->a = self->in->value, self->b = 1, self->in->state = EMPTY;
    }
    AWAIT(self->out->state == EMPTY)
    self->out->state = END;
    FINISH
}

static uint64_t hash;
static int sink(task *self) {
    BEGIN
    for (;;) {
        AWAIT(self->in->state != EMPTY)
        if (self->in->state == END) break;
        hash = hash * 31 + self->in->value, self->in->state = EMPTY;
    }
    FINISH
}

static uint32_t n;
void setup(uint32_t mode, uint32_t size) {
    (void)mode;
    n = size;
}

uint64_t run(uint32_t rounds) {
    hash = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        mailbox pipes[3] = {{0, 0}, {0, 0}, {0, 0}};
        task tasks[4] = {
            {source, 0, &pipes[0], 0, n, 1, 0}, {filter, &pipes[0], &pipes[1], 0, 0, 0, 0},
            {coder, &pipes[1], &pipes[2], 0, 0, 0, 0}, {sink, &pipes[2], 0, 0, 0, 0, 0},
        };
        for (int running = 4; running;)
            for (int i = 0; i < 4; i++)
                if (tasks[i].at != ~0u && !tasks[i].resume(&tasks[i])) running--;
    }
    return hash;
}

static int right(uint32_t rounds, uint64_t checksum) {
    uint64_t expected = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        uint32_t x = 1, fives = 0, value = 0, length = 0;
        for (uint32_t i = 0; i < n; i++) {
            x = x * 1664525u + 1013904223u;
            uint32_t number = x >> 28;
            if (number == 5 && ++fives % 3) continue;
            number /= 4;
            if (length && number == value) {
                length++;
                continue;
            }
            if (length) expected = expected * 31 + length * 16 + value;
            value = number, length = 1;
        }
        if (length) expected = expected * 31 + length * 16 + value;
    }
    return expected == checksum;
}
