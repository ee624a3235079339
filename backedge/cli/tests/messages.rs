//! What the command says of mistakes: which file, which option; and that names which are no UTF-8 are names as others.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Output, Stdio};

fn backedge(folder: &tempfile::TempDir, args: &[&OsStr]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_backedge"));
    command.current_dir(folder.path()).args(args).env("XDG_CACHE_HOME", "").env("HOME", "").stdin(Stdio::null()).output().unwrap()
}

fn bytes(name: &[u8]) -> OsString {
    OsStr::from_bytes(name).to_owned()
}

/// One line on standard error that contains `part`, and this exit code.
fn mistake(folder: &tempfile::TempDir, code: i32, args: &[&OsStr], part: &str) {
    let output = backedge(folder, args);
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), err.lines().count()), (Some(code), 1), "{args:?}: {err}");
    assert!(err.starts_with("error: ") && err.contains(part), "{args:?}: {err}");
}

fn words(line: &'static str) -> Vec<&'static OsStr> {
    line.split(' ').map(OsStr::new).collect()
}

#[test]
fn a_directory_is_no_file_of_the_kind_that_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("d")).unwrap();
    std::fs::write(folder.path().join("m.wat"), r#"(module (func (export "_start")))"#).unwrap();
    for (line, expected) in [
        ("run d", "a .wasm or .wat file"),
        ("wast d", "a .wast file"),
        ("run --plan d m.wat", "a file"),
        ("run --budgets d m.wat", "a file"),
        ("run --profile-use d m.wat", "a file"),
        ("profile show d", "a file"),
    ] {
        mistake(&folder, 1, &words(line), &format!("`d` is a directory, expected {expected}"));
    }
}

#[test]
fn text_that_is_not_utf_8_is_refused_by_the_name_of_its_option() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.wat"), r#"(module (func (export "_start")))"#).unwrap();
    let wrong = bytes(b"w\xff");
    for option in ["--dir", "--read-only-dir", "--env", "--invoke", "--argv0"] {
        let args = ["run", option].map(OsStr::new);
        mistake(&folder, 2, &[&args[..], &[&wrong, OsStr::new("m.wat")]].concat(), &format!("for '{option} "));
    }
    let args = [OsStr::new("run"), OsStr::new("-W"), &wrong, OsStr::new("m.wat")];
    mistake(&folder, 2, &args, "`w\u{fffd}` is not UTF-8");
}

#[test]
fn files_may_have_any_names() {
    let folder = tempfile::tempdir().unwrap();
    let program = bytes(b"n\xff.wat");
    std::fs::write(folder.path().join(&program), r#"(module (func (export "_start")))"#).unwrap();
    let output = backedge(&folder, &[OsStr::new("run"), OsStr::new("--report=html,x.html"), &program]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::read_to_string(folder.path().join("x.html")).unwrap().contains("n\u{fffd}.wat"));
    // Also where the name is a part of what an option is given.
    let report = bytes(b"--report=json,r\xff.json");
    let policy = bytes(b"--policy-exec=cat >/dev/null; : \xff");
    let output = backedge(&folder, &[OsStr::new("run"), &report, &policy, &program]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::read_to_string(folder.path().join(bytes(b"r\xff.json"))).unwrap().starts_with('{'));
    let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench-programs");
    let line = ["bench", "--programs", programs, "--filter", "nbody/0/steady", "--peers", "backedge", "--json"].map(OsStr::new);
    mistake(&folder, 2, &[&line[..], &[&bytes(b"\xff/x")]].concat(), "there is no folder `\u{fffd}`");
}

#[test]
fn an_inherited_variable_that_is_not_utf_8_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.wat"), r#"(module (func (export "_start")))"#).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_backedge"));
    command.current_dir(folder.path()).env_clear().env("ODD", bytes(b"\xff")).args(["run", "-S", "inherit-env", "m.wat"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), err.lines().count()), (Some(0), 1), "{err}");
    assert!(err.starts_with("warning: -S inherit-env: `ODD` is left out: it is not UTF-8"), "{err}");
}

#[test]
fn a_module_of_another_version_is_told_in_one_line_without_blanks() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("v2.wasm"), b"\0asm\x02\0\0\0").unwrap();
    mistake(&folder, 1, &words("run v2.wasm"), "unknown binary version: 0x2");
}

#[test]
fn what_an_option_cannot_do_is_said() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.wat"), r#"(module (func (export "_start")))"#).unwrap();
    for source in ["replay=x", "perf", "native"] {
        let line = ["dump", "--stage", "asm", "--source", source, "m.wat"].map(OsStr::new);
        mistake(&folder, 2, &line, "expected inline or trap");
    }
    for milliseconds in ["nan", "0", "-1", "1e9"] {
        let option = format!("--milliseconds={milliseconds}");
        mistake(&folder, 2, &["bench", "instances", &option].map(OsStr::new), "expected milliseconds, 0.001 to 10000");
    }
    let help = |args: &[&str]| {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        String::from_utf8(backedge(&folder, &args).stdout).unwrap()
    };
    assert!(help(&["run", "--help"]).contains("fill[=y|n]"));
    assert!(help(&["--help"]).contains("The cache of machine code: what is in it, empty it, or fill it"));
}
