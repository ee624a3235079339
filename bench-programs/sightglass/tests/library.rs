//! The shared library as sightglass drives it: opened by name, its five functions called in order, its timers counted.

use backedge_sightglass::WasmBenchConfig;
use std::ffi::{CString, c_int, c_void};
use std::path::{Path, PathBuf};

/// Counts of (start, end).
#[derive(Default)]
struct Counted(u32, u32);

extern "C" fn start(data: *mut c_void) {
    // SAFETY: the timers of these tests are `Counted` on this thread's stack, alive until the engine is freed.
    unsafe { (*data.cast::<Counted>()).0 += 1 };
}

extern "C" fn end(data: *mut c_void) {
    // SAFETY: as in `start`.
    unsafe { (*data.cast::<Counted>()).1 += 1 };
}

/// The library beside this test's executable, or one folder up.
fn library() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let deps = here.parent().unwrap();
    let name = "libbackedge_sightglass.so";
    [deps.join(name), deps.parent().unwrap().join(name)]
        .into_iter()
        .find(|file| file.is_file())
        .expect("cargo builds the cdylib before its tests")
}

struct Api {
    create: unsafe extern "C" fn(WasmBenchConfig, *mut *mut c_void) -> c_int,
    free: unsafe extern "C" fn(*mut c_void),
    compile: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int,
    instantiate: unsafe extern "C" fn(*mut c_void) -> c_int,
    execute: unsafe extern "C" fn(*mut c_void) -> c_int,
}

fn api() -> Api {
    let path = CString::new(library().to_str().unwrap()).unwrap();
    // SAFETY: the path is a C string; the library's initializers do nothing of their own.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null());
    let symbol = |name: &str| {
        let name = CString::new(name).unwrap();
        // SAFETY: the handle is open (and stays so), the name is a C string.
        let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
        assert!(!found.is_null(), "no {name:?}");
        found
    };
    // SAFETY: the five functions have these signatures, in the library and in sightglass's recorder.
    unsafe {
        Api {
            create: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(WasmBenchConfig, *mut *mut c_void) -> c_int>(symbol(
                "wasm_bench_create",
            )),
            free: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(symbol("wasm_bench_free")),
            compile: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int>(symbol(
                "wasm_bench_compile",
            )),
            instantiate: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> c_int>(symbol("wasm_bench_instantiate")),
            execute: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> c_int>(symbol("wasm_bench_execute")),
        }
    }
}

struct Outcome {
    codes: Vec<c_int>,
    counts: [(u32, u32); 3],
    stdout: String,
}

/// create, compile, then `rounds` times instantiate and execute, free; stops at the first code that is not 0.
fn drive(wasm: &[u8], flags: &str, rounds: usize) -> Outcome {
    let api = api();
    let folder = tempfile::tempdir().unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let (directory, stdout, stderr) = (text(folder.path()), text(&folder.path().join("out")), text(&folder.path().join("err")));
    let mut timers = [Counted::default(), Counted::default(), Counted::default()];
    let [compilation, instantiation, execution] = timers.each_mut().map(|timer| std::ptr::from_mut(timer).cast::<c_void>());
    let config = WasmBenchConfig {
        working_dir_ptr: directory.as_ptr(),
        working_dir_len: directory.len(),
        stdout_path_ptr: stdout.as_ptr(),
        stdout_path_len: stdout.len(),
        stderr_path_ptr: stderr.as_ptr(),
        stderr_path_len: stderr.len(),
        stdin_path_ptr: std::ptr::null(),
        stdin_path_len: 0,
        compilation_timer: compilation,
        compilation_start: start,
        compilation_end: end,
        instantiation_timer: instantiation,
        instantiation_start: start,
        instantiation_end: end,
        execution_timer: execution,
        execution_start: start,
        execution_end: end,
        execution_flags_ptr: flags.as_ptr(),
        execution_flags_len: flags.len(),
    };
    let mut codes = Vec::new();
    let mut state = std::ptr::null_mut();
    // SAFETY: the strings and timers live to the end of this function, the calls are in sightglass's order on one thread.
    unsafe {
        codes.push((api.create)(config, &mut state));
        if codes == [0] {
            codes.push((api.compile)(state, wasm.as_ptr(), wasm.len()));
        }
        for _ in 0..rounds {
            if codes.iter().all(|code| *code == 0) {
                codes.push((api.instantiate)(state));
                codes.push((api.execute)(state));
            }
        }
        (api.free)(state);
    }
    let stdout = std::fs::read_to_string(stdout).unwrap_or_default();
    Outcome { codes, counts: timers.map(|timer| (timer.0, timer.1)), stdout }
}

#[test]
fn a_benchmark_that_marks_its_part() {
    let wasm = wat::parse_str(
        r#"(module
            (import "bench" "start" (func $start)) (import "bench" "end" (func $end))
            (func (export "_start") (local i32)
                call $start
                loop (br_if 0 (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 1000))) end
                call $end))"#,
    )
    .unwrap();
    let outcome = drive(&wasm, "", 3);
    assert_eq!(outcome.codes, [0; 8]);
    assert_eq!(outcome.counts, [(1, 1), (3, 3), (3, 3)]);
}

#[test]
fn a_program_of_ours_is_timed_whole_and_its_output_goes_where_sightglass_says() {
    // Without arguments: the default size, which the optimized tiers do in some tenths of a second, so only one round.
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs/image_filter/image_filter.wasm");
    let outcome = drive(&std::fs::read(program).unwrap(), "--no-feedback", 1);
    assert_eq!(outcome.codes, [0; 4]);
    assert_eq!(outcome.counts, [(1, 1), (1, 1), (1, 1)]);
    assert!(outcome.stdout.starts_with("ok "), "{}", outcome.stdout);
}

#[test]
fn what_goes_wrong_is_a_code() {
    assert_eq!(drive(b"not wasm", "", 1).codes, [0, -1]);
    assert_eq!(drive(b"", "--no-such-flag", 1).codes, [-1]);
    let traps = wat::parse_str(r#"(module (func (export "_start") unreachable))"#).unwrap();
    assert_eq!(drive(&traps, "", 1).codes, [0, 0, 0, -1]);
    let marks_nothing = wat::parse_str(r#"(module (import "bench" "start" (func)) (func (export "_start")))"#).unwrap();
    assert_eq!(drive(&marks_nothing, "", 1).codes, [0, 0, 0, -1]);
    let exits = wat::parse_str(
        r#"(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32))) (memory (export "memory") 1)
            (func (export "_start") (call $exit (i32.const 0))))"#,
    )
    .unwrap();
    assert_eq!(drive(&exits, "", 1).codes, [0, 0, 0, 0]);
}
