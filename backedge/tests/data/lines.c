// Traps in a function that the compiler inlines: backtraces name its line and its caller's.
// zig cc -target wasm32-freestanding -g -O1 -nostdlib -Wl,--no-entry -Wl,--export=run -fno-sanitize=all lines.c -o lines.wasm
int table[4];

static inline __attribute__((always_inline)) int checked(int index) {
    if (index > 3) __builtin_trap();
    return table[index & 3];
}

__attribute__((noinline)) int look(int index) {
    return checked(index) + 1;
}

int run(int index) {
    return look(index) * 2;
}
