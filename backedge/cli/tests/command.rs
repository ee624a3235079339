//! The command as a person uses it: exit codes, mistakes, what is printed where.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, contents).unwrap();
        path
    }
}

fn backedge(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_backedge")).args(args).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs, checks the exit code, returns (stdout, stderr).
fn expect(code: i32, args: &[&str]) -> (String, String) {
    let output = backedge(args);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}\nstdout: {out}\nstderr: {err}");
    (out, err)
}

/// A mistake: nothing on stdout, one line on stderr that starts with `error: ` and contains `part`.
fn mistake(code: i32, args: &[&str], part: &str) {
    let (out, err) = expect(code, args);
    assert_eq!(out, "", "{args:?}");
    assert_eq!(err.lines().count(), 1, "{args:?}: {err}");
    assert!(err.starts_with("error: ") && err.contains(part), "{args:?}: {err}");
}

const TIERS: [&str; 4] = ["interp", "baseline", "optimizing", "auto"];

/// Prints its arguments one a line, then its environment, and exits with the number of arguments.
const ECHO: &str = r#"(module
    (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "environ_sizes_get" (func $env_sizes (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "environ_get" (func $env (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
    (memory (export "memory") 16)
    (func $print (param $from i32) (param $bytes i32)
        (local $at i32)
        (local.set $at (local.get $from))
        (block $done (loop $next
            (br_if $done (i32.ge_u (local.get $at) (i32.add (local.get $from) (local.get $bytes))))
            (if (i32.eqz (i32.load8_u (local.get $at))) (then (i32.store8 (local.get $at) (i32.const 10))))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br $next)))
        (i32.store (i32.const 16) (local.get $from))
        (i32.store (i32.const 20) (local.get $bytes))
        (drop (call $write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 24))))
    (func (export "_start")
        (drop (call $args_sizes (i32.const 0) (i32.const 4)))
        (drop (call $args (i32.const 1024) (i32.const 65536)))
        (call $print (i32.const 65536) (i32.load (i32.const 4)))
        (drop (call $env_sizes (i32.const 8) (i32.const 12)))
        (drop (call $env (i32.const 1024) (i32.const 65536)))
        (call $print (i32.const 65536) (i32.load (i32.const 12)))
        (call $exit (i32.load (i32.const 0)))))"#;

const MATH: &str = r#"(module $math
    (memory 1)
    (table 1 funcref)
    (func $add (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
    (func $div (export "div") (param i64 i64) (result i64) (i64.div_s (local.get 0) (local.get 1)))
    (func (export "both") (param f64) (result f64 i32) (local.get 0) (i32.const -1))
    (func $deep (param i32) (result i32) (i32.load (local.get 0)))
    (func $outer (export "load") (param i32) (result i32) (i32.add (call $deep (local.get 0)) (i32.const 1)))
    (func (export "spin") (loop (br 0)))
    (func $recurse (export "recurse") (call $recurse))
    (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
    (global (export "g") i32 (i32.const 1)))"#;

#[test]
fn a_program_gets_its_arguments_and_its_exit_code_is_ours() {
    let files = Files::new();
    let echo = files.write("echo.wat", ECHO);
    let echo = echo.to_str().unwrap();
    for tier in TIERS {
        let (out, err) = expect(4, &["run", "--tier", tier, "--env", "K=V", echo, "--dir", "-x", "run"]);
        assert_eq!((out.as_str(), err.as_str()), ("echo.wat\n--dir\n-x\nrun\nK=V\n", ""));
    }
    let (out, _) = expect(2, &[echo, "--help"]);
    assert_eq!(out, "echo.wat\n--help\n");
    let (out, _) = expect(1, &["--argv0", "other", echo]);
    assert_eq!(out, "other\n");
}

#[test]
fn the_environment_is_passed_only_when_asked() {
    let files = Files::new();
    let echo = files.write("echo.wat", ECHO);
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_backedge"));
        let output = command.env_clear().env("FROM_HOST", "1").arg("run").args(args).arg(&echo).output().unwrap();
        text(&output.stdout)
    };
    assert_eq!(run(&[]), "echo.wat\n");
    assert_eq!(run(&["--env", "FROM_HOST"]), "echo.wat\nFROM_HOST=1\n");
    assert_eq!(run(&["-S", "inherit-env"]), "echo.wat\nFROM_HOST=1\n");
    assert_eq!(run(&["-S", "inherit-env=n"]), "echo.wat\n");
    mistake(2, &["run", "--env", "NOT_SET_ANYWHERE", echo.to_str().unwrap()], "NOT_SET_ANYWHERE");
}

#[test]
fn directories_are_seen_only_when_given() {
    let files = Files::new();
    // Opens `in.txt` below descriptor 3 and copies it to stdout; exits with the error number where it cannot.
    let cat = files.write(
        "cat.wat",
        r#"(module
            (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (memory (export "memory") 1)
            (data (i32.const 0) "in.txt")
            (func (export "_start") (local $error i32)
                (local.set $error (call $open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 6) (i32.const 0) (i64.const 2) (i64.const 2)
                    (i32.const 0) (i32.const 8)))
                (if (local.get $error) (then (call $exit (local.get $error))))
                (i32.store (i32.const 16) (i32.const 100))
                (i32.store (i32.const 20) (i32.const 50))
                (drop (call $read (i32.load (i32.const 8)) (i32.const 16) (i32.const 1) (i32.const 20)))
                (drop (call $write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 24)))))"#,
    );
    files.write("in.txt", "contents");
    let cat = cat.to_str().unwrap();
    let dir = files.0.path().to_str().unwrap();
    assert_eq!(expect(0, &["run", "--dir", dir, cat]).0, "contents");
    assert_eq!(expect(0, &["run", "--dir", &format!("{dir}::/guest"), cat]).0, "contents");
    expect(8, &["run", cat]);
    mistake(2, &["run", "--dir", "/no/such/dir", cat], "/no/such/dir");
}

#[test]
fn invoke_takes_and_prints_typed_values() {
    let files = Files::new();
    let math = files.write("math.wat", MATH);
    let math = math.to_str().unwrap();
    for tier in TIERS {
        let invoke = |name: &str, args: &[&str]| {
            let mut all = vec!["run", "--tier", tier, "--invoke", name, math];
            all.extend(args);
            expect(0, &all).0
        };
        assert_eq!(invoke("add", &["1", "-3"]), "-2\n");
        assert_eq!(invoke("add", &["4294967295", "0x2"]), "1\n");
        assert_eq!(invoke("div", &["-9000000000", "2"]), "-4500000000\n");
        assert_eq!(invoke("both", &["1.5"]), "1.5\n-1\n");
    }
    let run = |name: &'static str| ["run", "--invoke", name, math];
    mistake(2, &run("nope"), "no export `nope`");
    mistake(2, &run("g"), "not a function");
    mistake(2, &run("add"), "takes 2 arguments (i32, i32) -> (i32), found 0");
    mistake(2, &["run", "--invoke", "add", math, "1", "x"], "argument 2 of `add`: expected i32, found `x`");
    mistake(2, &["run", math], "no `_start`");
}

#[test]
fn traps_exit_with_134_and_a_backtrace() {
    let files = Files::new();
    let math = files.write("math.wat", MATH);
    let math = math.to_str().unwrap();
    for tier in TIERS {
        let (out, err) = expect(134, &["run", "--tier", tier, "--invoke", "div", math, "1", "0"]);
        assert_eq!(out, "");
        assert!(err.starts_with("error: wasm trap: integer divide by zero\n"), "{err}");
        assert!(err.contains("math!div"), "{err}");
        let (_, err) = expect(134, &["run", "--tier", tier, "--invoke", "load", math, "65536"]);
        let lines: Vec<&str> = err.lines().collect();
        assert!(lines[2].contains("0: ") && lines[2].contains("0x") && lines[2].ends_with("math!deep"), "{err}");
        assert!(lines[3].contains("1: ") && lines[3].ends_with("math!outer"), "{err}");
        let (_, err) = expect(134, &["run", "--tier", tier, "--invoke", "recurse", math]);
        assert!(err.contains("call stack exhausted"), "{err}");
        assert!(err.lines().count() < 50, "{err}");
        let (_, err) = expect(134, &["run", "--tier", tier, "-W", "timeout=50ms", "--invoke", "spin", math]);
        assert!(err.contains("deadline"), "{err}");
    }
}

#[test]
fn limits_are_kept() {
    let files = Files::new();
    let math = files.write("math.wat", MATH);
    let math = math.to_str().unwrap();
    let grow = |options: &str| expect(0, &["run", "-W", options, "--invoke", "grow", math, "2"]).0;
    assert_eq!(grow("max-memory-size=131072"), "-1\n");
    assert_eq!(grow("max-memory-size=262144"), "1\n");
    mistake(1, &["run", "-W", "max-memory-size=1000", "--invoke", "add", math, "1", "1"], "memory");
    let (_, err) = expect(134, &["run", "-W", "max-memory-size=65536,trap-on-grow-failure", "--invoke", "grow", math, "2"]);
    assert!(err.contains("forcing trap"), "{err}");
    let (_, err) = expect(134, &["run", "-W", "max-wasm-stack=131072", "--invoke", "recurse", math]);
    assert!(err.contains("call stack exhausted"), "{err}");
}

#[test]
fn files_that_do_not_load_are_one_line() {
    let files = Files::new();
    let text_file = files.write("notes.txt", "dear diary");
    let broken = files.write("broken.wasm", b"\0asm\x01\0\0\0\x01\xff\xff");
    let invalid = files.write("invalid.wat", "(module (func (result i32)))");
    let missing = files.write("missing.wat", r#"(module (import "env" "magic" (func (param i32))) (func (export "_start")))"#);
    let wrong = files.write(
        "wrong.wat",
        r#"(module (import "wasi_snapshot_preview1" "fd_close" (func (param i64) (result i32))) (func (export "_start")))"#,
    );
    let path = |path: &PathBuf| path.to_str().unwrap().to_owned();
    mistake(1, &["run", "/no/such/file.wasm"], "no such file: `/no/such/file.wasm`");
    mistake(1, &["/no/such/file.wasm"], "no such file");
    mistake(1, &["run", files.0.path().to_str().unwrap()], "is a directory");
    mistake(1, &["run", &path(&text_file)], "neither a WebAssembly binary");
    mistake(1, &["run", &path(&broken)], "byte offset");
    mistake(1, &["run", &path(&invalid)], "byte offset");
    mistake(1, &["run", &path(&missing)], "unknown import `env::magic`");
    mistake(1, &["run", &path(&wrong)], "wasi_snapshot_preview1::fd_close");
    mistake(1, &["inspect", "/no/such/file.wasm"], "no such file");
}

#[test]
fn wrong_usage_is_2() {
    for args in [&["run"][..], &["run", "--tier", "fast", "a.wasm"], &["run", "-W", "nonsense=1", "a.wasm"], &["dump", "a.wasm"]] {
        let (out, err) = expect(2, args);
        assert_eq!(out, "");
        assert!(err.starts_with("error: "), "{err}");
    }
    let (out, _) = expect(0, &["--help"]);
    assert!(out.contains("run") && out.contains("Exit codes"), "{out}");
    let (out, _) = expect(0, &["--version"]);
    assert!(out.starts_with("backedge "), "{out}");
}

#[test]
fn the_report_is_readable_and_json_parses() {
    let files = Files::new();
    let program = files.write(
        "hot.wat",
        r#"(module
            (type $unary (func (param i32) (result i32)))
            (table 2 funcref) (elem (i32.const 0) $one $two)
            (func $one (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))
            (func $two (param i32) (result i32) (i32.add (local.get 0) (i32.const 2)))
            (func $work (param i32 i32) (result i32) (call_indirect (type $unary) (local.get 0) (local.get 1)))
            (func (export "run") (param i32) (result i32) (local i32)
                (loop $next
                    (local.set 1 (call $work (local.get 1) (i32.const 0)))
                    (br_if $next (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
                (local.get 1)))"#,
    );
    let program = program.to_str().unwrap();
    let json = files.0.path().join("report.json");
    let option = format!("--report=json,{}", json.display());
    let (out, err) = expect(0, &["run", &option, "--hot-threshold", "1000", "--invoke", "run", program, "3000000"]);
    assert_eq!((out.as_str(), err.as_str()), ("3000000\n", ""));
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(report["feedback"], "lwp");
    let functions = report["functions"].as_array().unwrap();
    assert!(!functions.is_empty());
    assert!(functions.iter().any(|function| !function["versions"].as_array().unwrap().is_empty()), "{report:#}");
    assert!(report["monitor"]["records"].as_u64().unwrap() > 0);

    let (out, err) = expect(0, &["run", "--report", "--no-feedback", "--hot-threshold", "1000", "--invoke", "run", program, "3000000"]);
    assert_eq!(out, "3000000\n");
    assert!(err.contains("backedge report") && err.contains("feedback off") && err.contains("drained"), "{err}");
    let widest = err.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 100, "{widest} columns\n{err}");
}

#[test]
fn inspect_and_dump_look_inside() {
    let files = Files::new();
    let math = files.write("math.wat", MATH);
    let math = math.to_str().unwrap();
    let (out, _) = expect(0, &["inspect", math]);
    for part in ["exports (8)", "add  func (i32, i32) -> (i32)", "g  global i32", "1 pages (64 KiB)", "functions (8", "deep"] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    let (out, _) = expect(0, &["dump", "--stage", "bytecode", "--func", "add", math]);
    assert!(out.contains("i32.add") && !out.contains("div"), "{out}");
    let (out, _) = expect(0, &["dump", "--stage", "clif", "--func", "add", math]);
    assert!(out.contains("iadd"), "{out}");
    let (out, _) = expect(0, &["dump", "--stage", "asm", "--func", "1", math]);
    assert!(out.contains("idiv"), "{out}");
    mistake(2, &["dump", "--stage", "asm", "--func", "nope", math], "no function `nope`");
}

#[test]
fn wast_runs_scripts() {
    let files = Files::new();
    let good =
        files.write("good.wast", r#"(module (func (export "f") (result i32) (i32.const 1))) (assert_return (invoke "f") (i32.const 1))"#);
    let bad =
        files.write("bad.wast", "(module (func (export \"f\") (result i32) (i32.const 1)))\n(assert_return (invoke \"f\") (i32.const 2))");
    let (out, _) = expect(0, &["wast", good.to_str().unwrap()]);
    assert_eq!(out, "1 assertions, 0 failed\n");
    let (out, err) = expect(1, &["wast", bad.to_str().unwrap()]);
    assert!(out.contains("bad.wast:2:"), "{out}");
    assert_eq!(err, "error: 1 directives failed\n");
}
