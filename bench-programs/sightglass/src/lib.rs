//! backedge as an engine of sightglass, the benchmark harness of the Bytecode Alliance: a shared library with the five functions its recorder looks up.
//!
//! ```text
//! cargo build --release -p backedge-sightglass
//! sightglass-cli benchmark --engine target/release/libbackedge_sightglass.so --engine libwasmtime_bench_api.so -- benchmark.wasm
//! ```
//!
//! Order of calls, on one thread: create; compile, once; then instantiate and execute in turn, or instantiate alone, as often as one likes; free. Functions return 0,
//! or -1 after a line on standard error. Compiling is validation (functions are translated at their first call), so sightglass's
//! "compilation" is not comparable with that of an engine that compiles everything, and "execution" holds what was put off.
//!
//! A benchmark marks what is to be timed with the imports `bench.start` and `bench.end`; without them the whole of `_start` would have to be, so it is.
//!
//! Flags, as sightglass passes them (`--engine-flags`): those of [`flags`].

#![warn(clippy::undocumented_unsafe_blocks)]

use anyhow::{Context, Result, bail};
use backedge::wasi::{self, WasiCtx, WasiCtxBuilder};
use backedge::{Config, Engine, FeedbackPolicy, I32Exit, Instance, Linker, Module, Store, TierPolicy};
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Starts or stops a timer of sightglass's.
type TimerCallback = extern "C" fn(*mut c_void);

/// What sightglass gives: the layout of its recorder since the flags came (2022).
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the names are sightglass's")]
pub struct WasmBenchConfig {
    pub working_dir_ptr: *const u8,
    pub working_dir_len: usize,
    pub stdout_path_ptr: *const u8,
    pub stdout_path_len: usize,
    pub stderr_path_ptr: *const u8,
    pub stderr_path_len: usize,
    pub stdin_path_ptr: *const u8,
    pub stdin_path_len: usize,
    pub compilation_timer: *mut c_void,
    pub compilation_start: TimerCallback,
    pub compilation_end: TimerCallback,
    pub instantiation_timer: *mut c_void,
    pub instantiation_start: TimerCallback,
    pub instantiation_end: TimerCallback,
    pub execution_timer: *mut c_void,
    pub execution_start: TimerCallback,
    pub execution_end: TimerCallback,
    pub execution_flags_ptr: *const u8,
    pub execution_flags_len: usize,
}

/// A timer that may be moved to the store, which asks for `Send`.
#[derive(Clone, Copy)]
struct Timer {
    data: *mut c_void,
    start: TimerCallback,
    end: TimerCallback,
}

// SAFETY: sightglass makes all calls on one thread (its contract above), and the timer is called within those calls only.
unsafe impl Send for Timer {}
// SAFETY: as above.
unsafe impl Sync for Timer {}

impl Timer {
    fn start(self) {
        (self.start)(self.data);
    }

    fn end(self) {
        (self.end)(self.data);
    }
}

struct Files {
    working_dir: PathBuf,
    stdout: PathBuf,
    stderr: PathBuf,
    stdin: Option<PathBuf>,
}

struct State {
    engine: Engine,
    linker: Linker<WasiCtx>,
    files: Files,
    compilation: Timer,
    instantiation: Timer,
    execution: Timer,
    /// Whether the benchmark marked its beginning by itself.
    marked: std::sync::Arc<AtomicBool>,
    module: Option<Module>,
    instance: Option<(Store<WasiCtx>, Instance)>,
}

/// Makes an engine. `out` gets what the other functions take.
///
/// # Safety
/// The config's strings are readable for their lengths during the call; its timers stay valid until [`wasm_bench_free`]; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasm_bench_create(config: WasmBenchConfig, out: *mut *mut c_void) -> c_int {
    // SAFETY: the caller's promise is the one that `create` asks for.
    let made = status(|| unsafe { create(&config) });
    let Some(state) = made else { return -1 };
    // SAFETY: the caller says that `out` may be written.
    unsafe { *out = Box::into_raw(Box::new(state)).cast() };
    0
}

/// Ends an engine.
///
/// # Safety
/// `state` is from [`wasm_bench_create`] and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasm_bench_free(state: *mut c_void) {
    if !state.is_null() {
        // SAFETY: it came from `Box::into_raw` and is given back once, as the caller says.
        drop(unsafe { Box::from_raw(state.cast::<State>()) });
    }
}

/// Loads a module.
///
/// # Safety
/// `state` is from [`wasm_bench_create`]; `bytes` is readable for `length`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasm_bench_compile(state: *mut c_void, bytes: *const u8, length: usize) -> c_int {
    // SAFETY: the caller's promise; nothing else refers to the state during the call.
    let state = unsafe { &mut *state.cast::<State>() };
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(bytes, length) };
    code(|| {
        state.compilation.start();
        let module = Module::new(&state.engine, bytes);
        state.compilation.end();
        state.module = Some(module?);
        Ok(())
    })
}

/// Makes an instance of the module.
///
/// # Safety
/// `state` is from [`wasm_bench_create`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasm_bench_instantiate(state: *mut c_void) -> c_int {
    // SAFETY: the caller's promise; nothing else refers to the state during the call.
    let state = unsafe { &mut *state.cast::<State>() };
    code(|| {
        let module = state.module.as_ref().context("wasm_bench_instantiate before wasm_bench_compile")?;
        state.instance = None;
        let context = state.files.context()?;
        state.instantiation.start();
        let mut store = Store::new(&state.engine, context);
        let instance = state.linker.instantiate(&mut store, module);
        state.instantiation.end();
        state.instance = Some((store, instance?));
        Ok(())
    })
}

/// Runs the instance's `_start`. A call of `proc_exit(0)` is a good end.
///
/// # Safety
/// `state` is from [`wasm_bench_create`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasm_bench_execute(state: *mut c_void) -> c_int {
    // SAFETY: the caller's promise; nothing else refers to the state during the call.
    let state = unsafe { &mut *state.cast::<State>() };
    code(|| {
        let (mut store, instance) = state.instance.take().context("wasm_bench_execute before wasm_bench_instantiate")?;
        let start = instance.get_typed_func::<(), ()>(&mut store, "_start")?;
        let marks = state.module.iter().flat_map(Module::imports).any(|import| import.module() == "bench");
        state.marked.store(false, Ordering::Relaxed);
        if !marks {
            state.execution.start();
        }
        let outcome = start.call(&mut store, ());
        if !marks {
            state.execution.end();
        } else if !state.marked.load(Ordering::Relaxed) {
            bail!("the benchmark imports `bench` and never called `bench.start`");
        }
        match outcome {
            Ok(()) => Ok(()),
            Err(error) => match error.downcast_ref::<I32Exit>() {
                Some(I32Exit(0)) => Ok(()),
                _ => Err(error),
            },
        }
    })
}

/// # Safety
/// As [`wasm_bench_create`], less `out`.
unsafe fn create(config: &WasmBenchConfig) -> Result<State> {
    // SAFETY: the caller's promise, for each of the strings.
    let text = |pointer: *const u8, length: usize| -> Result<Option<String>> { unsafe { string(pointer, length) } };
    let path = |pointer, length, name: &str| -> Result<PathBuf> {
        Ok(PathBuf::from(text(pointer, length)?.with_context(|| format!("sightglass gave no {name}"))?))
    };
    let files = Files {
        working_dir: path(config.working_dir_ptr, config.working_dir_len, "working directory")?,
        stdout: path(config.stdout_path_ptr, config.stdout_path_len, "file for stdout")?,
        stderr: path(config.stderr_path_ptr, config.stderr_path_len, "file for stderr")?,
        stdin: text(config.stdin_path_ptr, config.stdin_path_len)?.map(PathBuf::from),
    };
    let engine = Engine::new(&flags(&text(config.execution_flags_ptr, config.execution_flags_len)?.unwrap_or_default())?)?;
    let execution = Timer { data: config.execution_timer, start: config.execution_start, end: config.execution_end };
    let marked = std::sync::Arc::new(AtomicBool::new(false));
    let mut linker = Linker::new(&engine);
    wasi::add_to_linker(&mut linker, |context: &mut WasiCtx| context)?;
    let seen = marked.clone();
    linker.func_wrap("bench", "start", move || {
        seen.store(true, Ordering::Relaxed);
        execution.start();
    })?;
    linker.func_wrap("bench", "end", move || execution.end())?;
    Ok(State {
        engine,
        linker,
        files,
        compilation: Timer { data: config.compilation_timer, start: config.compilation_start, end: config.compilation_end },
        instantiation: Timer { data: config.instantiation_timer, start: config.instantiation_start, end: config.instantiation_end },
        execution,
        marked,
        module: None,
        instance: None,
    })
}

/// # Safety
/// `pointer` is null or readable for `length`.
unsafe fn string(pointer: *const u8, length: usize) -> Result<Option<String>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(pointer, length) };
    Ok(Some(std::str::from_utf8(bytes).context("sightglass gave a path that is not UTF-8")?.to_owned()))
}

/// The settings that flags say: `--no-feedback`, `--tier=interp|baseline|optimizing|auto`. Errors: another flag.
pub fn flags(flags: &str) -> Result<Config> {
    let mut config = Config::new();
    for flag in flags.split_whitespace() {
        match flag {
            "--no-feedback" => config.feedback(FeedbackPolicy::Off),
            "--tier=interp" => config.tier(TierPolicy::Interpreter),
            "--tier=templates" => config.tier(TierPolicy::Templates),
            "--tier=baseline" => config.tier(TierPolicy::Baseline),
            "--tier=optimizing" => config.tier(TierPolicy::Optimizing),
            "--tier=auto" => config.tier(TierPolicy::Auto),
            other => bail!("unknown flag `{other}`: there are --no-feedback and --tier=interp|baseline|optimizing|auto"),
        };
    }
    Ok(config)
}

impl Files {
    fn context(&self) -> Result<WasiCtx> {
        let open = |path: &PathBuf| File::create(path).with_context(|| format!("cannot create `{}`", path.display()));
        let mut builder = WasiCtxBuilder::new();
        builder.arg("benchmark")?.stdout(open(&self.stdout)?).stderr(open(&self.stderr)?);
        builder.preopened_dir(&self.working_dir, ".")?;
        if let Some(stdin) = &self.stdin {
            builder.stdin(File::open(stdin).with_context(|| format!("cannot open `{}`", stdin.display()))?);
        }
        // Fewer inputs than usual, as benchmarks of sightglass scale themselves by this.
        if let Ok(value) = std::env::var("WASM_BENCH_USE_SMALL_WORKLOAD") {
            builder.env("WASM_BENCH_USE_SMALL_WORKLOAD", value)?;
        }
        Ok(builder.build())
    }
}

/// No panic passes into C.
fn status<T>(work: impl FnOnce() -> Result<T>) -> Option<T> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Some(value),
        Ok(Err(error)) => {
            eprintln!("backedge: {error:#}");
            None
        }
        Err(_) => None,
    }
}

fn code(work: impl FnOnce() -> Result<()>) -> c_int {
    if status(work).is_some() { 0 } else { -1 }
}
