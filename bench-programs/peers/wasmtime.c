// The newest wasmtime, the library in its PyPI wheel, as a benchmark peer, through its C API. Declared here is the part that is used; the wheel has no headers.
//
//   peer-wasmtime [--cache] steady FILE MODE SIZE ROUNDS SECONDS     as rust/src/protocol.rs says
//   peer-wasmtime instances FILE STORES ROUNDS HELD                  as `backedge bench instances` says
//   peer-wasmtime [--cache] once [--dir HOST::GUEST]... FILE ARGS...
//
// All settings are wasmtime's defaults (--cache: with its command's default, the cache).
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct { size_t size; char *data; } bytes;
typedef struct { uint64_t store; void *private; } func;
typedef struct { uint64_t store; size_t private; } instance;
typedef struct { uint8_t kind; union { func func; uint64_t room[4]; } of; } external;
typedef struct { uint8_t kind; union { int32_t i32; int64_t i64; uint64_t room[3]; } of; } value;
typedef struct { size_t size; void **data; } vector;
enum { I32 = 0, I64 = 1, EXTERN_FUNC = 0 };

extern void *wasm_config_new(void);
extern void *wasmtime_config_cache_config_load(void *config, const char *path);
extern void *wasm_engine_new_with_config(void *config);
extern void *wasmtime_module_new(void *engine, const uint8_t *wasm, size_t size, void **module);
extern void *wasmtime_store_new(void *engine, void *data, void (*finalizer)(void *));
extern void *wasmtime_store_context(void *store);
extern void wasmtime_store_delete(void *store);
extern void *wasi_config_new(void);
extern bool wasi_config_set_argv(void *config, size_t count, const char **args);
extern void wasi_config_inherit_stdin(void *config);
extern void wasi_config_inherit_stdout(void *config);
extern void wasi_config_inherit_stderr(void *config);
extern bool wasi_config_preopen_dir(void *config, const char *host, const char *guest, bool writable);
extern void *wasmtime_context_set_wasi(void *context, void *config);
extern void *wasmtime_linker_new(void *engine);
extern void *wasmtime_linker_define_wasi(void *linker);
extern void *wasmtime_linker_instantiate(void *linker, void *context, void *module, instance *out, void **trap);
extern bool wasmtime_instance_export_get(void *context, instance *from, const char *name, size_t length, external *out);
extern void *wasmtime_func_type(void *context, const func *f);
extern const vector *wasm_functype_params(void *type);
extern void *wasmtime_func_call(void *context, const func *f, const value *args, size_t count, value *results, size_t result_count, void **trap);
extern void wasmtime_error_message(void *error, bytes *out);
extern bool wasmtime_error_exit_status(void *error, int *status);
extern void wasm_trap_message(void *trap, bytes *out);

static void *context;

static _Noreturn void stop(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void expect(void *error, void *trap) {
    int status;
    bytes message;
    if (error) {
        if (wasmtime_error_exit_status(error, &status)) exit(status);
        wasmtime_error_message(error, &message);
    } else if (trap) {
        wasm_trap_message(trap, &message);
    } else {
        return;
    }
    fprintf(stderr, "%s: %.*s\n", trap ? "trap" : "error", (int)message.size, message.data);
    exit(trap ? 134 : 1);
}

static func export(instance *from, const char *name) {
    external out;
    if (!wasmtime_instance_export_get(context, from, name, strlen(name), &out) || out.kind != EXTERN_FUNC) {
        fprintf(stderr, "no export %s\n", name);
        exit(1);
    }
    return out.of.func;
}

static value i32(uint32_t x) {
    value v = {.kind = I32};
    v.of.i32 = (int32_t)x;
    return v;
}

static value call(const func *f, const value *args, size_t count, size_t results) {
    value result = {0};
    void *trap = 0;
    void *error = wasmtime_func_call(context, f, args, count, &result, results, &trap);
    expect(error, trap);
    return result;
}

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void print(const char *name, const uint64_t *numbers, int count) {
    printf(",\"%s\":[", name);
    for (int i = 0; i < count; i++) printf("%s%llu", i ? "," : "", (unsigned long long)numbers[i]);
    printf("]");
}

static void steady(instance *from, uint32_t mode, uint32_t size, uint32_t rounds, double seconds) {
    enum { MOST = 5000 };
    static uint64_t wall[MOST], cpu[MOST];
    func setup = export(from, "setup"), run = export(from, "run"), check = export(from, "check");
    uint64_t ready = clock_ns(CLOCK_REALTIME), limit = (uint64_t)(1e9 * seconds);
    value arguments[2] = {i32(mode), i32(size)};
    call(&setup, arguments, wasm_functype_params(wasmtime_func_type(context, &setup))->size, 0);
    uint64_t begin = clock_ns(CLOCK_MONOTONIC), result = 0;
    int calls = 0;
    for (;;) {
        value argument = i32(rounds);
        uint64_t cpu_before = clock_ns(CLOCK_PROCESS_CPUTIME_ID), before = clock_ns(CLOCK_MONOTONIC);
        uint64_t this = (uint64_t)call(&run, &argument, 1, 1).of.i64;
        uint64_t after = clock_ns(CLOCK_MONOTONIC);
        cpu[calls] = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_before;
        wall[calls] = after - before;
        if (calls && this != result) stop("wrong result: one call differs");
        result = this;
        calls++;
        if (calls == MOST || (after - begin >= limit && calls >= 4) || after - begin >= 10 * limit) break;
    }
    value checked[2] = {i32(rounds), {.kind = I64}};
    checked[1].of.i64 = (int64_t)result;
    if (!call(&check, checked, 2, 1).of.i32) stop("wrong result");
    printf("{\"ready_unix_ns\":%llu,\"result\":\"%llu\"", (unsigned long long)ready, (unsigned long long)result);
    print("calls_ns", wall, calls);
    print("calls_cpu_ns", cpu, calls);
    printf(",\"trap_handler\":true}\n");
}

// A fresh store with an instance, and its export `run`.
static func fresh(void *engine, void *linker, void *module, void **store) {
    instance started;
    void *trap = 0;
    *store = wasmtime_store_new(engine, 0, 0);
    context = wasmtime_store_context(*store);
    void *error = wasmtime_linker_instantiate(linker, context, module, &started, &trap);
    expect(error, trap);
    return export(&started, "run");
}

static uint64_t resident(void) {
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*u %llu", &pages) != 1) stop("no resident size in /proc/self/statm");
    fclose(file);
    return pages * 4096;
}

static void instances(void *engine, void *linker, void *module, int stores, uint32_t rounds, int held) {
    enum { LONG = 500 };
    uint64_t *made = malloc(sizeof *made * (size_t)stores), *called = malloc(sizeof *called * (size_t)stores), longs[LONG], result = 0;
    void **kept = malloc(sizeof *kept * (size_t)held), *store;
    if (!made || !called || !kept) stop("no memory");
    value argument = i32(rounds), one = i32(1);
    for (int i = 0; i < stores; i++) {
        uint64_t begin = clock_ns(CLOCK_MONOTONIC);
        func run = fresh(engine, linker, module, &store);
        uint64_t ready = clock_ns(CLOCK_MONOTONIC);
        uint64_t this = (uint64_t)call(&run, &argument, 1, 1).of.i64;
        made[i] = ready - begin;
        called[i] = clock_ns(CLOCK_MONOTONIC) - ready;
        if (i && this != result) stop("a store's result differs");
        result = this;
        wasmtime_store_delete(store);
    }
    uint64_t before = resident();
    for (int i = 0; i < held; i++) {
        func run = fresh(engine, linker, module, &kept[i]);
        call(&run, &one, 1, 1);
    }
    uint64_t held_bytes = (resident() - before) / (uint64_t)held;
    for (int i = 0; i < held; i++) wasmtime_store_delete(kept[i]);
    func run = fresh(engine, linker, module, &store);
    for (int i = 0; i < LONG; i++) {
        uint64_t begin = clock_ns(CLOCK_MONOTONIC);
        call(&run, &argument, 1, 1);
        longs[i] = clock_ns(CLOCK_MONOTONIC) - begin;
    }
    printf("{\"held_bytes\":%llu", (unsigned long long)held_bytes);
    print("instantiate_ns", made, stores);
    print("call_ns", called, stores);
    print("long_ns", longs, LONG);
    printf("}\n");
}

int main(int argc, char **argv) {
    void *config = wasm_config_new();
    argv++, argc--;
    if (argc && !strcmp(*argv, "--cache")) {
        expect(wasmtime_config_cache_config_load(config, 0), 0);
        argv++, argc--;
    }
    if (argc && !strcmp(*argv, "version")) {
        puts(VERSION);
        return 0;
    }
    bool is_steady = argc == 6 && !strcmp(*argv, "steady"), is_instances = argc == 5 && !strcmp(*argv, "instances");
    if (!is_steady && !is_instances && (argc < 2 || strcmp(*argv, "once"))) stop("usage: peer-wasmtime [--cache] steady FILE MODE SIZE ROUNDS SECONDS | instances FILE STORES ROUNDS HELD | once [--dir HOST::GUEST]... FILE ARGS...");
    argv++, argc--;
    void *wasi = wasi_config_new();
    wasi_config_inherit_stdin(wasi), wasi_config_inherit_stdout(wasi), wasi_config_inherit_stderr(wasi);
    while (!is_steady && !is_instances && argc > 2 && !strcmp(*argv, "--dir")) {
        char *host = argv[1], *cut = strstr(host, "::"), *guest = cut ? cut + 2 : host;
        if (cut) *cut = 0;
        if (!wasi_config_preopen_dir(wasi, host, guest, true)) stop("cannot open a directory of --dir");
        argv += 2, argc -= 2;
    }
    if (!is_steady) wasi_config_set_argv(wasi, (size_t)argc, (const char **)argv);

    FILE *file = fopen(argv[0], "rb");
    if (!file || fseek(file, 0, SEEK_END)) stop("cannot read the module");
    size_t size = (size_t)ftell(file);
    uint8_t *wasm = malloc(size);
    rewind(file);
    if (!wasm || fread(wasm, 1, size, file) != size) stop("cannot read the module");
    void *engine = wasm_engine_new_with_config(config), *module = 0, *trap = 0;
    expect(wasmtime_module_new(engine, wasm, size, &module), 0);
    if (is_instances) {
        instances(engine, wasmtime_linker_new(engine), module, atoi(argv[1]), (uint32_t)strtoul(argv[2], 0, 10), atoi(argv[3]));
        return 0;
    }
    context = wasmtime_store_context(wasmtime_store_new(engine, 0, 0));
    expect(wasmtime_context_set_wasi(context, wasi), 0);
    void *linker = wasmtime_linker_new(engine);
    expect(wasmtime_linker_define_wasi(linker), 0);
    instance started;
    void *error = wasmtime_linker_instantiate(linker, context, module, &started, &trap);
    expect(error, trap);
    if (is_steady) {
        steady(&started, (uint32_t)strtoul(argv[1], 0, 10), (uint32_t)strtoul(argv[2], 0, 10), (uint32_t)strtoul(argv[3], 0, 10), strtod(argv[4], 0));
    } else {
        func start = export(&started, "_start");
        call(&start, 0, 0, 0);
    }
    fflush(stdout);
    // Taking everything down in order is nothing a command does either.
    _Exit(0);
}
