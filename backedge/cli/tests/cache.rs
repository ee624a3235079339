//! The command's cache beside other processes: pipes, locks, links, and files that are in use.

mod programs;

use programs::a_hundred_functions;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder for programs, with a folder for the cache.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_backedge"));
        command.args(args).current_dir(self.0.path()).env("XDG_CACHE_HOME", self.at("cache")).stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs, checks that it succeeds, returns (stdout, stderr).
    fn expect(&self, args: &[&str]) -> (String, String) {
        let output = self.run(args);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{args:?}\nstdout: {out}\nstderr: {err}");
        (out, err)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn pipe_at(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn nobody_waits_for_what_came_through_a_pipe() {
    let place = Place::new();
    pipe_at(&place.at("pipe.wat"));
    let run = place
        .command(&["run", "--invoke", "run", "pipe.wat", "5"])
        .env("BACKEDGE_LOG", "backedge=debug")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::fs::write(place.at("pipe.wat"), a_hundred_functions()).unwrap();
    let output = run.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "24750\n".into()));
    assert!(text(&output.stderr).contains("no process fills the cache: the module is no file"), "{}", text(&output.stderr));
    std::fs::write(place.at("file.wat"), a_hundred_functions()).unwrap();
    assert_eq!(place.expect(&["cache", "fill", "file.wat"]), ("101 functions of `file.wat` are in the cache\n".into(), String::new()));
}

/// The thread that waits for the timeout does not keep the engine, whose end writes what the first run compiled.
#[test]
fn a_run_with_a_timeout_is_kept_too() {
    let place = Place::new();
    let hot = r#"(module (func (export "run") (param $n i32) (result i32) (local $x i32)
        (loop $again
            (local.set $x (i32.add (local.get $x) (i32.const 1)))
            (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
        (local.get $x)))"#;
    std::fs::write(place.at("hot.wat"), hot).unwrap();
    for _ in 0..2 {
        assert_eq!(place.expect(&["run", "-W", "timeout=1000s", "--invoke", "run", "hot.wat", "30000000"]).0, "30000000\n");
        assert!(place.expect(&["cache", "list"]).0.contains("1 files"));
    }
}

#[test]
fn the_process_in_the_background_finds_a_file_by_a_relative_name() {
    let place = Place::new();
    std::fs::write(place.at("many.wat"), a_hundred_functions()).unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while !place.expect(&["cache", "list"]).0.contains("1 files") {
        assert!(std::time::Instant::now() < deadline, "nothing was compiled in the background");
        assert_eq!(place.expect(&["run", "--invoke", "run", "many.wat", "5"]).0, "24750\n");
    }
}

#[test]
fn who_waits_for_another_process_says_so() {
    let place = Place::new();
    std::fs::write(place.at("many.wat"), a_hundred_functions()).unwrap();
    std::fs::create_dir_all(place.at("cache/backedge")).unwrap();
    let directory = File::open(place.at("cache/backedge")).unwrap();
    directory.lock().unwrap();
    let mut fill = place.command(&["cache", "fill", "many.wat"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut line, mut rest) = (String::new(), String::new());
    let mut stderr = BufReader::new(fill.stderr.take().unwrap());
    stderr.read_line(&mut line).unwrap();
    assert!(line.starts_with("another process fills the cache in `") && line.ends_with("backedge`: waiting for it\n"), "{line}");
    directory.unlock().unwrap();
    stderr.read_to_string(&mut rest).unwrap();
    let output = fill.wait_with_output().unwrap();
    assert_eq!((text(&output.stdout), rest), ("101 functions of `many.wat` are in the cache\n".into(), String::new()));
}

#[test]
fn a_cache_that_cannot_be_read_is_said_once() {
    let place = Place::new();
    std::fs::create_dir_all(place.at("cache")).unwrap();
    // (root reads what it has no permission for: a file is no directory for anyone)
    std::fs::write(place.at("cache/backedge"), "").unwrap();
    let listed = place.run(&["cache", "list"]);
    let err = text(&listed.stderr);
    assert_eq!((listed.status.code(), err.lines().count()), (Some(1), 1), "{err}");
    assert!(err.starts_with("error: `") && err.contains("cache/backedge`: "), "{err}");
}

#[test]
fn a_cache_that_is_a_link_is_not_used_and_that_is_said() {
    let place = Place::new();
    std::fs::write(place.at("many.wat"), a_hundred_functions()).unwrap();
    std::fs::create_dir_all(place.at("cache")).unwrap();
    std::fs::create_dir_all(place.at("elsewhere")).unwrap();
    std::os::unix::fs::symlink(place.at("elsewhere"), place.at("cache/backedge")).unwrap();
    let told = format!("it is a link to `{}`\n", place.at("elsewhere").display());
    let filled = place.run(&["cache", "fill", "many.wat"]);
    let err = text(&filled.stderr);
    assert!(filled.status.code() == Some(1) && err.starts_with("error: cannot write the cache in `") && err.ends_with(&told), "{err}");
    let (out, err) = place.expect(&["cache", "list"]);
    assert!(out.starts_with("0 files") && err.starts_with("warning: the cache in `") && err.ends_with(&told), "{err}");
    let run = place.command(&["run", "--invoke", "run", "many.wat", "5"]).env("BACKEDGE_LOG", "backedge=debug").output().unwrap();
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "24750\n".into()));
    assert!(text(&run.stderr).contains("no process fills the cache"), "{}", text(&run.stderr));
}

#[test]
fn a_precompiled_file_is_replaced_and_not_overwritten() {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
    let place = Place::new();
    std::fs::write(place.at("a.wat"), a_hundred_functions()).unwrap();
    std::fs::write(place.at("b.wat"), "(module)").unwrap();
    let compile = |file: &str, to: &str| place.expect(&["compile", file, "-o", to]);
    compile("a.wat", "made.bec");
    let bytes = std::fs::read(place.at("made.bec")).unwrap();
    // As a run of it has it open, and mapped.
    let mut used = File::open(place.at("made.bec")).unwrap();
    std::os::unix::fs::symlink("made.bec", place.at("link.bec")).unwrap();
    std::fs::set_permissions(place.at("made.bec"), std::fs::Permissions::from_mode(0o640)).unwrap();
    compile("b.wat", "link.bec");
    let mut read = Vec::new();
    used.read_to_end(&mut read).unwrap();
    assert!(read == bytes && std::fs::read(place.at("made.bec")).unwrap() != bytes);
    assert!(place.at("link.bec").is_symlink());
    assert_eq!(std::fs::metadata(place.at("made.bec")).unwrap().mode() & 0o777, 0o640);
    assert_eq!(std::fs::read_dir(place.0.path()).unwrap().count(), 4);
    compile("a.wat", "/dev/null");
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}
