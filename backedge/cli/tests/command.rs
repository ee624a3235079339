//! The command as a person uses it: exit codes, mistakes, what is printed where.

mod programs;

use programs::a_hundred_functions;
use std::collections::BTreeSet;
use std::io::Write as _;
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
    // Code kept from earlier runs would make a run depend on them.
    Command::new(env!("CARGO_BIN_EXE_backedge")).args(args).env("XDG_CACHE_HOME", "").env("HOME", "").stdin(Stdio::null()).output().unwrap()
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

/// `run(n)`: n calls of `work`, which calls `one` through the table.
const HOT: &str = r#"(module
    (type $unary (func (param i32) (result i32)))
    (table 2 funcref) (elem (i32.const 0) $one $two)
    (func $one (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))
    (func $two (param i32) (result i32) (i32.add (local.get 0) (i32.const 2)))
    (func $work (param i32 i32) (result i32) (call_indirect (type $unary) (local.get 0) (local.get 1)))
    (func (export "run") (param i32) (result i32) (local i32)
        (loop $next
            (local.set 1 (call $work (local.get 1) (i32.const 0)))
            (br_if $next (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
        (local.get 1)))"#;

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
    assert_eq!(run(&["--env", "NOT_SET_ANYWHERE"]), "echo.wat\n");
    // A C library takes the first of a name: there is one, and it is the last that was given. Options count for more than what is inherited.
    assert_eq!(run(&["--env", "X=1", "--env", "Y=", "--env", "X=2"]), "echo.wat\nX=2\nY=\n");
    assert_eq!(run(&["-S", "inherit-env", "--env", "FROM_HOST=2"]), "echo.wat\nFROM_HOST=2\n");
    assert_eq!(run(&["--env", "FROM_HOST=2", "-S", "inherit-env"]), "echo.wat\nFROM_HOST=2\n");
    assert_eq!(run(&["--env", "FROM_HOST=2", "--env", "FROM_HOST"]), "echo.wat\nFROM_HOST=1\n");
    for nameless in ["", "=1"] {
        mistake(2, &["run", "--env", nameless, echo.to_str().unwrap()], "expected NAME or NAME=VALUE");
    }
}

#[test]
fn what_is_called_start_is_a_function_that_can_start() {
    let files = Files::new();
    let program = |text: &str| files.write("p.wat", text).to_str().unwrap().to_owned();
    for (export, found) in [
        (r#"(func (export "_start") (param i32))"#, "`_start`: expected func () -> (), found func (i32) -> ()"),
        (r#"(func (export "_start") (result i32) (i32.const 1))"#, "`_start`: expected func () -> (), found func () -> (i32)"),
        (r#"(memory (export "_start") 1)"#, "`_start`: expected func () -> (), found memory 1 pages"),
        (
            r#"(func (export "_initialize") (param i64)) (func (export "_start"))"#,
            "`_initialize`: expected func () -> (), found func (i64) -> ()",
        ),
    ] {
        let module = program(&format!("(module {export})"));
        mistake(1, &["run", &module], &format!("p.wat`: export {found}"));
    }
    // A reactor is called, not started.
    let adds = r#"(global $g (mut i32) (i32.const 0))
        (func (export "_initialize") (global.set $g (i32.add (global.get $g) (i32.const 1))))"#;
    let reactor = program(&format!(r#"(module {adds} (func (export "get") (result i32) (global.get $g)))"#));
    let told = "the module has `_initialize` and no `_start`: it is a reactor, whose functions are called one by one; name a function with --invoke: `get`";
    mistake(2, &["run", &reactor], told);
    assert_eq!(expect(0, &["run", "--invoke", "get", &reactor]).0, "1\n");
    let alone = program(&format!("(module {adds})"));
    mistake(2, &["run", &alone], "exports no other function to call; `--invoke _initialize` runs that alone");
    expect(0, &["run", "--invoke", "_initialize", &alone]);
    // Nothing to start and nothing to call: segments and a start function run.
    expect(0, &["run", &program("(module (memory 1) (func $f) (start $f))")]);
}

#[test]
fn what_is_no_file_may_have_been_meant_as_a_command() {
    for (word, hint) in [("inspcet", "nor is it a command (`inspect` is one)"), ("serve", "nor is it a command (--help lists them)")] {
        mistake(1, &[word, "x.wasm"], &format!("no such file: `{word}`; {hint}"));
    }
    for args in [&["serve.wasm"][..], &["run", "serve"], &["./serve"]] {
        let (_, err) = expect(1, args);
        assert!(err.starts_with("error: no such file: `") && !err.contains("command"), "{err}");
    }
}

#[test]
fn a_filter_that_is_none_is_said() {
    let files = Files::new();
    let program = files.write("math.wat", MATH);
    let mut command = Command::new(env!("CARGO_BIN_EXE_backedge"));
    let output = command.env("BACKEDGE_LOG", "zzz=foo=bar").arg("inspect").arg(program).stdin(Stdio::null()).output().unwrap();
    let err = text(&output.stderr);
    assert_eq!((output.status.code(), err.lines().count()), (Some(0), 1), "{err}");
    assert!(err.starts_with("warning: BACKEDGE_LOG is no filter, so nothing is logged: "), "{err}");
}

/// The options of a subcommand and of those below it, as the help names them: short form if there is one, long form.
fn options_of(path: &[&str], found: &mut Vec<(String, Option<String>, String)>) {
    let (help, _) = expect(0, &[path, &["--help"]].concat());
    let mut commands = false;
    for line in help.lines() {
        let words: Vec<&str> = line.split_whitespace().filter_map(|word| word.split([',', '[', '=']).next()).collect();
        match &words[..] {
            [short, long, ..] if line.starts_with("  -") && long.starts_with("--") => {
                found.push((path.join(" "), Some((*short).into()), (*long).into()));
            }
            [long, ..] if line.starts_with("      --") => found.push((path.join(" "), None, (*long).into())),
            [command, ..] if commands && line.starts_with("  ") && !line.starts_with("   ") && *command != "help" => {
                options_of(&[path, &[*command]].concat(), found);
            }
            _ => {}
        }
        commands = line == "Commands:" || commands && line.starts_with("  ");
    }
}

#[test]
fn the_book_names_what_the_help_names() {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let pages = std::fs::read_dir(root.join("docs/src")).unwrap().map(|page| page.unwrap().path());
    let pages = pages.filter(|page| page.extension().is_some_and(|extension| extension == "md"));
    let book: String = pages.map(|page| std::fs::read_to_string(page).unwrap()).collect();
    let named = |option: &str| {
        let ends = |at: usize| !book[at + option.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
        let begins = |at: usize| !book[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
        book.match_indices(option).any(|(at, _)| begins(at) && ends(at))
    };
    let mut options = Vec::new();
    options_of(&[], &mut options);
    assert!(options.len() > 100, "{options:?}");
    for (command, short, long) in options {
        assert!(named(&long) || short.as_deref().is_some_and(named), "no page names {long} of `backedge {command}`");
    }
    // What options with keys take.
    for option in ["-W", "-S", "-C"] {
        let (_, err) = expect(2, &["run", option, "nonsense", "x.wasm"]);
        let known = err.split("known: ").nth(1).unwrap().split(" (").next().unwrap();
        for key in known.trim().split(", ") {
            assert!(named(key), "no page names {option} {key}");
        }
    }
    let config = std::fs::read_to_string(root.join("backedge/src/config.rs")).unwrap();
    let embedding = std::fs::read_to_string(root.join("docs/src/embedding.md")).unwrap();
    let settings =
        config.split("pub fn ").skip(1).filter(|method| method.contains("(&mut self")).map(|method| method.split('(').next().unwrap());
    for setting in settings {
        assert!(
            embedding.contains(&format!("`{setting}`")) || embedding.contains(&format!("::{setting}`")),
            "embedding.md does not name Config::{setting}"
        );
    }
}

#[test]
fn a_limited_address_space_has_room_for_many_memories() {
    let files = Files::new();
    // The first one still grows to much more than a sixteenth of 4 GB. Sixteenths of what is left would come to nothing.
    let memories = "(memory 1)".repeat(100);
    let many = files.write(
        "many.wat",
        format!(
            r#"(module {memories} (table 1 funcref) (table 1 externref)
            (func (export "grow") (param $pages i32) (result i32) (memory.grow (local.get $pages)))
            (func (export "grow_last") (param $pages i32) (result i32) (memory.grow 99 (local.get $pages))))"#
        ),
    );
    for (export, pages, grew) in [("grow", "8000", "1"), ("grow_last", "10", "1"), ("grow_last", "60000", "-1")] {
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -v 4000000; exec \"$0\" \"$@\""]).arg(env!("CARGO_BIN_EXE_backedge"));
        let output = limited.args(["run", "-C", "cache=n", "--invoke", export]).arg(&many).arg(pages).output().unwrap();
        assert_eq!(text(&output.stdout), format!("{grew}\n"), "{export} {pages}: {}", text(&output.stderr));
    }
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
    let without_null = files.write("reference.wat", r#"(module (func $f (export "f") (result (ref func)) (ref.func $f)))"#);
    assert_eq!(expect(0, &["run", "--invoke", "f", without_null.to_str().unwrap()]).0, "funcref\n");
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
    mistake(2, &["run", "--invoke", "recurse", math, "1"], "takes 0 arguments");
}

/// A reactor's `main` has no parameters: what stands on the command line is for the guest to read.
#[test]
fn a_function_without_parameters_reads_its_arguments_itself() {
    let files = Files::new();
    let text = r#"(module
        (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "args_get" (func (param i32 i32) (result i32)))
        (memory (export "memory") 1)
        (func (export "count") (result i32) (drop (call $sizes (i32.const 0) (i32.const 4))) (i32.load (i32.const 0)))
        (func (export "same") (param i32) (result i32) (local.get 0)))"#;
    let path = files.write("reactor.wat", text);
    let path = path.to_str().unwrap();
    assert_eq!(expect(0, &["run", "--invoke", "count", path, "a", "--b"]).0, "3\n");
    assert_eq!(expect(0, &["run", "--invoke", "count", path]).0, "1\n");
    mistake(2, &["run", "--invoke", "same", path, "1", "2"], "takes 1 argument");
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

/// A run of a program whose standard input is a pipe that holds `input` and stays open until the run has ended.
fn run_with_open_input(program: &str, timeout: &str, input: &[u8]) -> Output {
    let files = Files::new();
    let program = files.write("reads.wat", program);
    let mut child = Command::new(env!("CARGO_BIN_EXE_backedge"))
        .args(["run", "-W", timeout, program.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut open = child.stdin.take().unwrap();
    open.write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(open);
    output
}

/// Standard input is a pipe that nobody writes to, and the guest reads it.
#[test]
fn a_deadline_stops_a_guest_that_waits_for_input() {
    let reads = r#"(module (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
        (memory (export "memory") 1) (data (i32.const 0) "\20\00\00\00\10\00\00\00")
        (func (export "_start") (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))))"#;
    let output = run_with_open_input(reads, "timeout=50ms", b"");
    assert_eq!(output.status.code(), Some(134), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("deadline"), "{}", text(&output.stderr));
}

/// What the host has read ahead is there for a guest with a deadline, though the pipe has nothing more.
#[test]
fn input_may_be_read_byte_by_byte_with_a_deadline() {
    let reads = r#"(module (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (memory (export "memory") 1) (data (i32.const 0) "\20\00\00\00\01\00\00\00")
        (func (export "_start")
            (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
            (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
            (call $exit (i32.load8_u (i32.const 32)))))"#;
    assert_eq!(run_with_open_input(reads, "timeout=60s", b"ab").status.code(), Some(i32::from(b'b')));
}

#[test]
fn functions_and_tables_are_limited() {
    let files = Files::new();
    let table = files.write(
        "table.wat",
        r#"(module (table 1 100 funcref)
            (func (export "grow") (param i32) (result i32) (table.grow (ref.null func) (local.get 0))))"#,
    );
    let table = table.to_str().unwrap();
    assert_eq!(expect(0, &["run", "--invoke", "grow", table, "20"]).0, "1\n");
    assert_eq!(expect(0, &["run", "-W", "max-table-elements=20", "--invoke", "grow", table, "20"]).0, "-1\n");
    mistake(
        1,
        &["run", "-W", "max-function-body=4", "--invoke", "grow", table, "1"],
        "function 0 has 9 bytes, the limit is 4 (at byte offset",
    );
    let (_, err) = expect(2, &["run", "-W", "max-table-elements=many", table]);
    assert!(err.contains("expected a number for `max-table-elements`, found `many`"), "{err}");
    // Nothing compiles in no time: the guest is interpreted.
    let hot = files.write("hot.wat", HOT);
    let report = ["run", "-W", "max-compile-time=1ns", "--report", "--invoke", "run", hot.to_str().unwrap(), "3000000"];
    let (out, err) = expect(0, &report);
    assert!(out == "3000000\n" && err.contains("compiling it is expected to take"), "{err}");
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
fn what_is_not_supported_is_refused_by_name() {
    let files = Files::new();
    let structs = "(module (type $s (struct (field i32))) (func (export \"_start\") (drop (struct.new_default $s))))";
    let threads = "(module (import \"wasi\" \"thread-spawn\" (func (param i32) (result i32))) (func (export \"_start\")))";
    for (contents, name, part) in [
        (structs.as_bytes(), "structs.wat", "unsupported: gc (at byte offset 11)"),
        (threads.as_bytes(), "threads.wat", "wasi-threads is not supported"),
        (&b"\0asm\x0d\0\x01\0"[..], "component.wasm", "is a component; backedge runs core modules"),
    ] {
        mistake(1, &["run", files.write(name, contents).to_str().unwrap()], part);
    }
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
    let program = files.write("hot.wat", HOT);
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
    assert!(report["code"].is_null());

    // Long enough for some of the samples, of which there is one a millisecond.
    let option = format!("--report=json+code,{}", json.display());
    expect(0, &["run", &option, "--invoke", "run", program, "100000000"]);
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert!(!report["functions"].as_array().unwrap().is_empty());
    let (function, source) = report["code"]["sources"].as_object().unwrap().iter().next().unwrap();
    assert!(source["text"].as_array().unwrap().iter().any(|line| line["text"].as_str().unwrap().contains("local.get")), "{source:#}");
    assert!(source["machine"].is_array());
    assert!(report["code"]["ticks"][function].as_object().is_some_and(|ticks| !ticks.is_empty()));

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
    // (which would not end)
    mistake(2, &["explain", "--func", "nope", "--invoke", "spin", math], "no function `nope`");
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

const TRACE_FINAL: &str = r#"{"control": {"flags": 12, "buffer_bytes": 1024, "random_bits": 0, "buffer_base": 0, "head": 0, "missed_events": 0,
    "threshold": 0, "filters": 0, "base_ip": 0, "limit_ip": 0, "tail": 0, "user": [0, 0], "events": [[0,0],[2,2],[0,0],[0,0],[0,0],[0,0]]},
    "operations": [{"op": "retire", "ip": 4096, "len": 2, "times": 3}, {"op": "lwpins", "ip": 8192, "data2": 7}]}"#;
const TRACE_2007: &str = r#"{"control": {"flags": 0, "buffer_bytes": 1024, "random_bits": 0, "buffer_base": 0, "head": 0, "tail": 0,
    "missed_events": 0, "threshold": 0, "filters": 0, "selectors": [{"event": 1, "interval": 5, "counter": 5}]},
    "operations": [{"op": "retire", "ip": 4096, "len": 2, "times": 10}, {"op": "lwpins", "ip": 8192, "data2": 7}]}"#;

/// A record file: 100 samples of one call site of function 1, all calls of function 5; 3 records without code; 1 of an unknown event.
fn record_file() -> Vec<u8> {
    use lwp_feedback::class::SiteClass;
    use lwp_feedback::codemap::{CodeEntry, FunctionId, Tier};
    use lwp_feedback::layout::{EventId, Record};
    use lwp_feedback::recordfile::{Chunk, RecordWriter};
    let call = |ip| Record::new(EventId::VALUE, 0, SiteClass::CallTarget.imm16(0), 0, ip, 5, 0);
    let entry = CodeEntry::new(FunctionId { module: 42, func: 1 }, 1, Tier::Baseline, [(0, 10), (0x40, 20)].into());
    let mut writer = RecordWriter::new(Vec::new()).unwrap();
    writer.write(&Chunk::Note("made by hand".into())).unwrap();
    writer.write(&Chunk::Code(0x1000..0x1100, std::sync::Arc::new(entry))).unwrap();
    writer.write(&Chunk::Records { ring: 0, records: vec![call(0x1044); 100] }).unwrap();
    writer.write(&Chunk::Records { ring: 1, records: vec![call(0x9999); 3] }).unwrap();
    writer.write(&Chunk::Missed { ring: 1, count: 8 }).unwrap();
    writer.write(&Chunk::Records { ring: 1, records: vec![Record::new(EventId(200), 0, 1, 2, 0x1000, 3, 4)] }).unwrap();
    writer.finish().unwrap()
}

#[test]
fn lwp_info_says_what_this_machine_can_do() {
    let (out, err) = expect(0, &["lwp", "info", "--json"]);
    assert_eq!(err, "");
    let info: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(info["sources"].as_array().unwrap().iter().any(|source| source["name"] == "inline" && source["available"] == true), "{out}");
    let (out, _) = expect(0, &["lwp", "info"]);
    assert!(out.starts_with("processor ") && out.contains("\nnative "), "{out}");
}

#[test]
fn lwp_sim_runs_a_trace_in_both_generations() {
    let files = Files::new();
    let (last, first) = (files.write("final.json", TRACE_FINAL), files.write("2007.json", TRACE_2007));
    let (last, first) = (last.to_str().unwrap(), first.to_str().unwrap());
    let (out, _) = expect(0, &["lwp", "sim", last]);
    assert!(out.contains("slot 0     instructions core 0   ip 0x1000\n") && out.contains("slot 1     lwpins"), "{out}");
    assert_eq!(expect(0, &["lwp", "sim", "--generation", "final", last]).0, out);
    let (out, _) = expect(0, &["lwp", "sim", first, "--generation", "2007"]);
    assert!(out.contains("operation 1: invalid opcode") && out.matches("slot ").count() == 2, "{out}");
    let broken = files.write("broken.json", "{\"operations\": 7}");
    mistake(1, &["lwp", "sim", broken.to_str().unwrap()], "the trace is malformed");
    let misspelt = files.write("misspelt.json", "{\n\"operations\": [\n{\"op\": \"lwpins\", \"dota2\": 7}]}");
    mistake(1, &["lwp", "sim", misspelt.to_str().unwrap()], "the trace is malformed: unknown field `dota2`");
    mistake(1, &["lwp", "sim", misspelt.to_str().unwrap()], "at line 3 column");
    mistake(1, &["lwp", "sim", "/no/such/trace.json"], "no such file: `/no/such/trace.json`");
    assert!(expect(2, &["lwp", "sim", last, "--generation", "1999"]).1.contains("expected final or 2007"));
}

#[test]
fn lwp_decode_and_replay_read_record_files() {
    let files = Files::new();
    let file = files.write("run.lwp", record_file());
    let file = file.to_str().unwrap();
    let (out, _) = expect(0, &["lwp", "decode", file]);
    assert!(out.starts_with("# made by hand\n# code 0x1000..0x1100: function 0000002a:1 version 1 Baseline\n"), "{out}");
    assert_eq!((out.matches("lwpval").count(), out.matches("event-200").count()), (103, 1), "{out}");
    assert!(out.contains("ring 1: 8 missed\n"), "{out}");
    let (out, _) = expect(0, &["lwp", "decode", file, "--drop", "1"]);
    assert_eq!((out.matches("lwpval").count(), out.matches("event-200").count()), (0, 1), "{out}");
    assert_eq!(expect(0, &["lwp", "decode", file, "--drop", "lwpval"]).0, out);
    mistake(2, &["lwp", "decode", file, "--drop", "lwpvel"], "no event `lwpvel`; known: 1 lwpval");
    // Writing to what is read would empty it first.
    mistake(2, &["lwp", "decode", file, "--drop", "1", "--output", file], "is what is read");
    assert_eq!(std::fs::read(file).unwrap(), record_file());

    let (out, _) = expect(0, &["lwp", "replay", file]);
    assert!(out.starts_with("104 records, 3 of no known code, 8 missed when recorded\n1 records of no known event\n"), "{out}");
    assert!(out.contains("module 000000000000002a: 1 functions, 1 value sites; its functions are not known"), "{out}");
    assert!(out.contains("0 plans, 1 refusals\nfunction 1: inline at 0x14 refused: value 0x5 is no function of this module\n"), "{out}");
    assert_eq!(expect(0, &["lwp", "replay", file]).0, out);
    let math = files.write("math.wat", MATH);
    let (out, err) = expect(1, &["lwp", "replay", "--module", math.to_str().unwrap(), file]);
    assert!(out.contains("--module is another") && err.contains("no records of module "), "{out}{err}");
}

#[test]
fn lwp_decode_and_replay_name_the_offset_of_damage() {
    let files = Files::new();
    let whole = record_file();
    let cut = files.write("cut.lwp", &whole[..whole.len() - 20]);
    let (out, err) = expect(1, &["lwp", "decode", cut.to_str().unwrap()]);
    assert_eq!(out.matches("lwpval").count(), 103);
    assert_eq!(err.lines().count(), 1);
    assert!(err.starts_with("error: `") && err.contains("cut.lwp`: offset ") && err.contains("the file is cut off"), "{err}");
    let mut damaged = whole;
    let middle = damaged.len() - 170;
    damaged[middle] ^= 1;
    let damaged = files.write("damaged.lwp", damaged);
    let (out, err) = expect(1, &["lwp", "replay", damaged.to_str().unwrap()]);
    assert!(out.starts_with("100 records, 0 of no known code"), "{out}");
    assert!(err.contains("damaged.lwp`: offset ") && err.contains("damaged chunk: checksum (after 100 readable records)"), "{err}");
    assert_eq!(err.lines().count(), 1);
    let other = files.write("notes.txt", "dear diary");
    for command in ["decode", "replay"] {
        mistake(1, &["lwp", command, other.to_str().unwrap()], "not a record file");
        mistake(1, &["lwp", command, "/no/such/file"], "no such file");
        mistake(1, &["lwp", command, files.0.path().to_str().unwrap()], "is a directory");
    }
}

#[test]
fn lwp_exec_gives_the_documented_outcomes_of_the_sample() {
    let files = Files::new();
    let sample = files.0.path().join("sample");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lwp-feedback/preload/tests/sample.c");
    let compiler = Command::new("gcc").args(["-O2", "-mlwp", "-o"]).arg(&sample).arg(source).status();
    assert!(compiler.expect("gcc is needed for this test").success());
    let sample = sample.to_str().unwrap();
    let run = |features: &str, code: i32| expect(code, &["lwp", "exec", "--features", features, sample]).0;
    let all = run("all", 0);
    assert!(all.contains("17 entries in ring buffer\n7 LWPVAL instructions, 10 LWPINS instructions\n"), "{all}");
    assert_eq!(expect(0, &["lwp", "exec", sample]).0, all);
    assert_eq!(run("fx8150", 0), all);
    let no_val = run("no-val", 0);
    assert!(no_val.contains("LWPVAL instruction not supported by the hardware\n10 entries in ring buffer\n0 LWPVAL"), "{no_val}");
    assert_eq!(run("cpu-only", 1), "OS has not made LWP available\n");
    assert_eq!(run("none", 1), "LWP is not supported by this hardware\n");
}

#[test]
fn lwp_exec_passes_arguments_and_refuses_in_one_line() {
    assert_eq!(expect(0, &["lwp", "exec", "echo", "--features", "-x", "run"]).0, "--features -x run\n");
    expect(7, &["lwp", "exec", "sh", "-c", "exit 7"]);
    mistake(1, &["lwp", "exec", "/no/such/program"], "/no/such/program");
    mistake(1, &["lwp", "exec", "no-such-program-anywhere"], "no-such-program-anywhere: no such program");
    mistake(2, &["lwp", "exec", "--features", "some", "true"], "features \"some\": expected all, none,");
    let files = Files::new();
    let script = files.write("script", "#!/bin/sh\n");
    mistake(1, &["lwp", "exec", script.to_str().unwrap()], "not a 64-bit x86 ELF program");
    let mut command = Command::new(env!("CARGO_BIN_EXE_backedge"));
    let output = command.env("BACKEDGE_LWP_PRELOAD", "/no/such/library.so").args(["lwp", "exec", "true"]).output().unwrap();
    let err = text(&output.stderr);
    assert_eq!((output.status.code(), err.lines().count()), (Some(1), 1), "{err}");
    assert!(err.starts_with("error: no preload library at `/no/such/library.so`; `cargo build"), "{err}");
    // The command alone, in a folder of its own.
    let alone = files.0.path().join("backedge");
    std::fs::copy(env!("CARGO_BIN_EXE_backedge"), &alone).unwrap();
    let output = Command::new(&alone).args(["lwp", "exec", "true"]).output().unwrap();
    let err = text(&output.stderr);
    assert_eq!((output.status.code(), err.lines().count()), (Some(1), 1), "{err}");
    assert!(err.starts_with(&format!("error: no preload library in `{}`; `cargo build", files.0.path().display())), "{err}");
}

/// One of 70 KB, whose loop has `$n` rounds.
fn a_huge_function() -> String {
    let steps: String = (0..8000).map(|i| format!("(local.set $x (i32.add (local.get $x) (i32.const {i})))")).collect();
    format!(
        r#"(module (func (export "run") (param $n i32) (result i32) (local $x i32)
            (loop $again {steps} (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))) (local.get $x)))"#
    )
}

#[test]
fn what_a_run_interpreted_is_compiled_for_the_next_one() {
    let files = Files::new();
    let program = files.write("many.wat", a_hundred_functions());
    let program = program.to_str().unwrap();
    let huge = files.write("huge.wat", a_huge_function());
    let run = |cache: &str, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_backedge"));
        let output = command.env("XDG_CACHE_HOME", files.0.path().join(cache)).args(args).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(run("told", &["cache", "fill", program]), format!("101 functions of `{program}` are in the cache\n"));
    assert!(run("told", &["cache", "list"]).contains("1 files"));
    // By a process of its own after the run, which is over when it is over: for many functions, or for one that takes long.
    for (cache, program, result) in [("left", program, "24750\n"), ("huge", huge.to_str().unwrap(), "159980000\n")] {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
        while !run(cache, &["cache", "list"]).contains("1 files") {
            assert!(std::time::Instant::now() < deadline, "nothing of {program} was compiled in the background");
            assert_eq!(run(cache, &["run", "--invoke", "run", program, "5"]), result);
        }
    }
    assert_eq!(run("left", &["run", "--invoke", "run", program, "5"]), "24750\n");
    assert_eq!(run("not", &["run", "-C", "fill=n", "--invoke", "run", program, "5"]), "24750\n");
    assert!(run("not", &["cache", "list"]).contains("0 files"));
}

#[test]
fn code_is_kept_and_precompiled_code_runs_only_where_that_is_allowed() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let program = program.to_str().unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_backedge"));
        let output = command.env("XDG_CACHE_HOME", files.0.path().join("cache")).args(args).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(run(&["run", "-C", "cache=n", "--invoke", "run", program, "3000000"]), "3000000\n");
    assert!(run(&["cache", "list"]).starts_with("0 files"));
    for _ in 0..2 {
        assert_eq!(run(&["run", "--invoke", "run", program, "3000000"]), "3000000\n");
        assert!(run(&["cache", "list"]).contains("1 files"));
    }
    assert_eq!(run(&["cache", "clean"]), "removed 1 files\n");
    // Where there is no room for it, the run is what it was.
    let mut limited = Command::new("sh");
    limited.args(["-c", r#"ulimit -f 0; exec "$@""#, "sh", env!("CARGO_BIN_EXE_backedge"), "run", "--invoke", "run", program, "3000000"]);
    let output = limited.env("XDG_CACHE_HOME", files.0.path().join("cache")).stdin(Stdio::null()).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(0), "3000000\n"), "{}", text(&output.stderr));
    assert!(run(&["cache", "list"]).starts_with("0 files"));
    let compiled = files.0.path().join("hot.anything");
    let compiled = compiled.to_str().unwrap();
    expect(0, &["compile", program, "-o", compiled]);
    mistake(2, &["run", "--invoke", "run", compiled, "7"], "is precompiled: native code; --allow-precompiled runs it");
    assert_eq!(expect(0, &["run", "--allow-precompiled", "--invoke", "run", compiled, "7"]).0, "7\n");
    let mut bytes = std::fs::read(compiled).unwrap();
    bytes[20] ^= 1;
    std::fs::write(compiled, bytes).unwrap();
    mistake(1, &["run", "--allow-precompiled", "--invoke", "run", compiled, "7"], "checksum does not match");
}

#[test]
fn a_run_is_recorded_and_replayed() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let program = program.to_str().unwrap();
    let file = files.0.path().join("run.lwp");
    let file = file.to_str().unwrap();
    let (out, err) = expect(0, &["run", "--lwp-record", file, "--hot-threshold", "1000", "--invoke", "run", program, "3000000"]);
    assert_eq!((out.as_str(), err.as_str()), ("3000000\n", ""));
    let (out, _) = expect(0, &["lwp", "decode", file]);
    assert!(out.starts_with("# backedge run ") && out.contains("# code 0x") && out.contains("lwpins"), "{}", &out[..out.len().min(2000)]);
    let (out, _) = expect(0, &["lwp", "replay", "--module", program, file]);
    assert!(out.contains("hot-function: ") && !out.contains("not known"), "{out}");
    assert_eq!(expect(0, &["lwp", "replay", "--module", program, file]).0, out);
    mistake(
        1,
        &["run", "--lwp-record", "/no/such/dir/file", "--invoke", "run", program, "1"],
        "cannot write records to `/no/such/dir/file`",
    );
    let none = files.0.path().join("none.lwp");
    for tier in ["interp", "baseline", "optimizing"] {
        let arguments = ["run", "--tier", tier, "--lwp-record", none.to_str().unwrap(), "--invoke", "run", program, "1"];
        mistake(2, &arguments, "--lwp-record needs --tier auto");
        assert!(!none.exists(), "nothing ran");
    }
}

/// Runs the program with marks 0x40f1 to 0x40f3 into a file: which tiers they were written in. Each must be in its function's code.
fn tiers_of_marks(program: &str, file: &str, rounds: u32) -> BTreeSet<String> {
    let rounds = rounds.to_string();
    expect(0, &["run", "--lwp-record", file, "--hot-threshold", "300", "--invoke", "run", program, &rounds]);
    let (out, _) = expect(0, &["lwp", "decode", file]);
    // Code as the file tells it, by the first address of each range; later code replaces what was there.
    let mut code: Vec<(std::ops::Range<u64>, String)> = Vec::new();
    let address = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
    let (mut direct, mut indirect, mut tiers) = (0, 0, BTreeSet::new());
    for line in out.lines() {
        if let Some(rest) = line.strip_prefix("# code ") {
            let (range, rest) = rest.split_once(": function ").unwrap();
            let (start, end) = range.split_once("..").unwrap();
            code.push((address(start)..address(end), rest.to_owned()));
        }
        let imm = ["imm 0x40f1", "imm 0x40f2", "imm 0x40f3"].into_iter().position(|imm| line.contains(imm));
        let Some(imm) = imm else { continue };
        let ip = address(line.split_once(" ip ").unwrap().1.split(' ').next().unwrap());
        // A return address may be the first behind its function's code.
        let known = code.iter().rev().find(|(range, _)| range.contains(&ip) || range.contains(&(ip - 1)));
        let (_, known) = known.unwrap_or_else(|| panic!("{line}: in no code"));
        let function: u32 = known.split([':', ' ']).nth(1).unwrap().parse().unwrap();
        // Functions 0 and 1 are the imports; optimized, both calls may have been inlined into their caller.
        let own = if imm == 2 { 3 } else { 2 };
        assert!(function == own || (function == 4 && !known.contains("Interpreter")), "{line}: in {known}");
        if imm == 2 {
            indirect += 1
        } else {
            direct += 1
        }
        tiers.insert(known.rsplit(' ').next().unwrap().to_owned());
    }
    assert!(direct >= 1000 && indirect >= 1000, "{direct} and {indirect}");
    tiers
}

/// Records of a guest's own LWP instructions name the function that they are in, whoever runs it.
#[test]
fn a_guests_own_records_lead_to_its_functions() {
    let files = Files::new();
    let program = files.write(
        "marks.wat",
        r#"(module
          (import "lwp" "lwpins32" (func $ins (param i32 i32 i32) (result i32)))
          (import "lwp" "lwpval64" (func $val (param i64 i32 i32)))
          (type $mark (func (param i32 i32 i32) (result i32)))
          (table 1 funcref) (elem (i32.const 0) $ins)
          (func $direct (param i32) (drop (call $ins (i32.const 1) (local.get 0) (i32.const 0x40f1))) (call $val (i64.const 2) (local.get 0) (i32.const 0x40f2)))
          (func $indirect (param i32) (drop (call_indirect (type $mark) (i32.const 3) (local.get 0) (i32.const 0x40f3) (i32.const 0))))
          (func (export "run") (param $n i32)
            (loop $again
              (call $direct (local.get $n))
              (call $indirect (local.get $n))
              (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))"#,
    );
    let file = files.0.path().join("marks.lwp");
    let (program, file) = (program.to_str().unwrap(), file.to_str().unwrap());
    // On a busy machine the compile may come late: more rounds then.
    let tiers =
        [100_000, 400_000, 1_600_000].into_iter().map(|rounds| tiers_of_marks(program, file, rounds)).find(|tiers| tiers.len() >= 2);
    assert!(tiers.is_some_and(|tiers| tiers.contains("Interpreter")));
    let (out, _) = expect(0, &["lwp", "replay", file]);
    assert!(out.contains(" 0 of no known code"), "{out}");
}

/// Run with standard output to a file.
fn printing_to(path: &str, args: &[&str]) -> (Option<i32>, String) {
    let out = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_backedge")).args(args).stdin(Stdio::null()).stdout(out).output().unwrap();
    (output.status.code(), text(&output.stderr))
}

#[test]
fn a_report_that_nobody_takes_is_a_failure() {
    let files = Files::new();
    let program = files.write("p.wat", r#"(module (func (export "_start")))"#);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_backedge"));
    let status = command.args(["run", "--report"]).arg(&program).stdin(Stdio::null()).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(1));
    // A reader that went away took what it wanted.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_backedge"));
    let status = command.args(["run", "--report"]).arg(&program).stdin(Stdio::null()).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn what_could_not_be_printed_is_said() {
    let files = Files::new();
    let program = files.write("math.wat", MATH);
    let program = program.to_str().unwrap();
    let records = files.write("r.lwp", record_file());
    let records = records.to_str().unwrap();
    for args in [
        &["inspect", program][..],
        &["dump", "--stage", "wasm", program],
        &["run", "-C", "cache=n", "--invoke", "add", program, "1", "2"],
        &["explain", "-C", "cache=n", "--invoke", "add", program, "1", "2"],
        &["lwp", "info"],
        &["lwp", "replay", records],
        &["lwp", "decode", records],
        &["events", "list"],
        &["--help"],
        &["--version"],
        &["run", "--help"],
    ] {
        let (code, err) = printing_to("/dev/full", args);
        // (what the guest prints under `explain` comes before)
        let last = err.lines().next_back().unwrap_or_default();
        assert_eq!(code, Some(1), "{args:?}: {err}");
        assert!(last.starts_with("error: cannot write ") && last.contains("No space left on device"), "{args:?}: {err}");
        let (code, err) = printing_to("/dev/null", args);
        assert!(code == Some(0) && !err.contains("error"), "{args:?}: {err}");
    }
}

#[test]
fn a_module_comes_through_a_pipe() {
    let files = Files::new();
    let program = files.write("math.wat", MATH);
    let mut command = Command::new(env!("CARGO_BIN_EXE_backedge"));
    command.args(["run", "-C", "cache=n", "--invoke", "add", "/dev/stdin", "20", "22"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&std::fs::read(program).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "42\n".into()));
}

#[test]
fn a_profile_is_written_through_a_link_and_to_what_is_no_file() {
    use std::os::unix::fs::FileTypeExt as _;
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let program = program.to_str().unwrap();
    let at = |name: &str| files.0.path().join(name);
    let save = |to: &str| expect(0, &["run", "-C", "cache=n", "--profile-save", to, "--invoke", "run", program, "3000"]);
    for (link, target) in [("link", "there"), ("dangling", "missing")] {
        std::os::unix::fs::symlink(at(target), at(link)).unwrap();
    }
    std::fs::write(at("there"), "before").unwrap();
    for (link, target) in [("link", "there"), ("dangling", "missing")] {
        save(at(link).to_str().unwrap());
        assert!(at(link).is_symlink(), "{link} is still one");
        assert!(expect(0, &["profile", "show", at(target).to_str().unwrap()]).0.starts_with("module "));
    }
    save("/dev/null");
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert!(save("/dev/stdout").0.contains("backedge-profile"));
}

#[test]
fn plans_and_budgets_that_do_not_fit_are_named() {
    let files = Files::new();
    let program = files.write("math.wat", MATH);
    let program = program.to_str().unwrap();
    let run = |option: &str, contents: &str| {
        let file = files.write("given.json", contents);
        backedge(&["run", "-C", "cache=n", option, file.to_str().unwrap(), "--invoke", "add", program, "1", "2"])
    };
    let foreign = run("--plan", r#"{"module":"0123456789abcdef","plans":[]}"#);
    assert_eq!((foreign.status.code(), text(&foreign.stdout)), (Some(0), "3\n".into()));
    let warning = text(&foreign.stderr);
    assert!(warning.starts_with("warning: plans ignored: `") && warning.contains("for module 0123456789abcdef, not "), "{warning}");
    assert_eq!(text(&run("--plan", r#"{"plans":[]}"#).stderr), "");
    for (budgets, part) in
        [("{\"min_gian\": 2}", "unknown field `min_gian`"), ("{\"min_gain\": -1}", "`min_gain` is -1"), ("[]", "an object")]
    {
        let refused = run("--budgets", budgets);
        let err = text(&refused.stderr);
        assert_eq!((refused.status.code(), err.lines().count()), (Some(1), 1), "{err}");
        assert!(err.contains("holds no budgets: ") && err.contains(part), "{err}");
    }
    assert_eq!(text(&run("--budgets", "{\"min_gain\": 2}").stderr), "");
}

#[test]
fn a_cache_that_cannot_be_filled_is_a_failure() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let mut command = Command::new(env!("CARGO_BIN_EXE_backedge"));
    let output = command.env("XDG_CACHE_HOME", "/dev/null").args(["cache", "fill"]).arg(program).stdin(Stdio::null()).output().unwrap();
    let err = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout), err.lines().count()), (Some(1), String::new(), 1), "{err}");
    assert!(err.starts_with("error: cannot write the cache in `/dev/null/backedge`: "), "{err}");
}

#[test]
fn of_a_program_that_fails_the_reason_is_said_and_not_a_frame() {
    let files = Files::new();
    let program = files.write("traps.wat", r#"(module (func (export "_start") unreachable))"#);
    mistake(1, &["compare-feedback", "--runs", "1", program.to_str().unwrap()], "wasm trap: ");
}
