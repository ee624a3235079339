//! `backedge bench` from end to end, on a catalog of tiny programs: what it writes, and what it does when something goes wrong. Nothing here depends on how long
//! anything takes.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A bench-programs folder with these programs.
struct Folder(tempfile::TempDir);

/// `run` counts; `_start` prints `ok 7`.
const GOOD: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\08\00\00\00\05\00\00\00ok 7\n")
  (func (export "setup") (param i32 i32))
  (func (export "run") (param $n i32) (result i64) (local $x i64)
    (loop $again
      (local.set $x (i64.add (i64.mul (local.get $x) (i64.const 3)) (i64.const 1)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $x))
  (func (export "check") (param i32 i64) (result i32) (i32.const 1))
  (func (export "_start") (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))))"#;

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        let wrong = GOOD.replace("(result i32) (i32.const 1))", "(result i32) (i32.const 0))");
        assert_ne!(wrong, GOOD);
        let traps = GOOD.replace(r#"(func (export "setup") (param i32 i32))"#, r#"(func (export "setup") (param i32 i32) unreachable)"#);
        let programs = [("good", GOOD), ("other", GOOD), ("wrong", &wrong), ("traps", &traps)];
        let mut entries = Vec::new();
        for (name, text) in programs {
            let at = folder.0.path().join("programs").join(name);
            std::fs::create_dir_all(&at).unwrap();
            // The command reads the text format by content, whatever the file is called.
            std::fs::write(at.join(format!("{name}.wasm")), text).unwrap();
            entries.push(serde_json::json!({
                "id": name, "group": if name == "good" { "feedback" } else { "compute" }, "stresses": "a test", "feedback": "nothing",
                "modes": [{"label": "usual", "size": 1, "rounds": 1000, "once": 1000}],
            }));
        }
        std::fs::write(folder.0.path().join("programs/catalog.json"), serde_json::json!({ "programs": entries }).to_string()).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_backedge"));
        command.arg("bench").args(args).args(["--programs"]).arg(self.0.path());
        // Caches and baselines go here, not to whoever runs the tests.
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    fn bench(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn results(file: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// The cell of a row under a peer.
fn cell<'a>(results: &'a Value, row: &str, peer: &str) -> &'a Value {
    let row = results["rows"].as_array().unwrap().iter().find(|known| known["id"] == row).unwrap_or_else(|| panic!("no row {row}"));
    row["cells"].as_array().unwrap().iter().find(|cell| cell["peer"] == peer).unwrap_or_else(|| panic!("no {peer} in {row}"))
}

const SHORT: [&str; 6] = ["--seconds", "0.02", "--runs", "2", "--most-runs", "2"];

#[test]
fn a_run_writes_what_it_measured() {
    let folder = Folder::new();
    let (out, page) = (folder.path("out.json"), folder.path("out.html"));
    let done = folder.bench(
        &[
            &[
                "--filter",
                "good",
                "--peers",
                "backedge,backedge-nf",
                "--details",
                "--json",
                out.to_str().unwrap(),
                "--html",
                page.to_str().unwrap(),
            ],
            &SHORT[..],
        ]
        .concat(),
    );
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let printed = text(&done.stdout);
    assert!(printed.contains("good/0") && printed.contains("not for citing: cells of 2 runs"), "{printed}");
    let results = results(&out);
    assert_eq!(results["rows"].as_array().unwrap().len(), 2, "steady and one-shot");
    for peer in ["backedge", "backedge-nf"] {
        let steady = cell(&results, "good/0/steady", peer);
        assert_eq!(steady["summary"]["runs"], 2);
        assert!(steady["summary"]["wall"]["median"].as_f64().unwrap() > 0.0);
        assert!(steady["runs"][0]["calls_ns"].as_array().unwrap().len() >= 4);
        assert!(!steady["curve"].as_array().unwrap().is_empty());
        assert!(cell(&results, "good/0/one-shot", peer)["summary"]["wall"]["median"].as_f64().unwrap() > 0.0);
    }
    assert_eq!(results["comparisons"][0]["verdict"], "too-few-pairs");
    assert_eq!(results["peers"][1]["flags"][0], "--no-feedback");
    assert!(results["rows"][0]["report"]["functions"].is_array(), "--details");
    assert!(std::fs::read_to_string(page).unwrap().contains("good"));
    assert!(!folder.path("out.json.journal").exists());
}

#[test]
fn what_goes_wrong_is_said_and_the_rest_is_kept() {
    let folder = Folder::new();
    let out = folder.path("out.json");
    let peers = "backedge,gone=/nowhere/backedge,dead=/bin/false,mute=/bin/true";
    let done = folder.bench(&[&["--metrics", "steady", "--peers", peers, "--json", out.to_str().unwrap()], &SHORT[..]].concat());
    let complaints = text(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "a wrong result of the subject: {complaints}");
    let results = results(&out);
    let kind = |row: &str, peer: &str| cell(&results, row, peer)["problem"]["kind"].clone();
    assert!(cell(&results, "good/0/steady", "backedge")["summary"].is_object());
    assert_eq!(kind("good/0/steady", "gone"), "missing");
    assert_eq!(kind("good/0/steady", "dead"), "crashed");
    assert_eq!(kind("good/0/steady", "mute"), "crashed");
    assert_eq!(kind("wrong/0/steady", "backedge"), "wrong-result");
    assert!(cell(&results, "wrong/0/steady", "backedge")["summary"].is_null(), "no time of a wrong result");
    assert_eq!(kind("traps/0/steady", "backedge"), "trapped");
    assert!(complaints.contains("wrong/0/steady: backedge ended with code 1: error: wrong result"), "{complaints}");
    let printed = text(&done.stdout);
    for word in ["WRONG", "TRAPPED", "CRASHED", "missing", "no such executable: /nowhere/backedge"] {
        assert!(printed.contains(word), "{word} in {printed}");
    }
}

/// An executable script in a folder.
fn script(folder: &Folder, name: &str, text: &str) -> PathBuf {
    let path = folder.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, format!("#!/bin/sh\n{text}")).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path
}

/// A peer that is such a script, and says no version.
fn peer(folder: &Folder, name: &str, text: &str) -> String {
    let program = script(folder, name, &format!("[ \"$1\" = --version ] && exit 0\n{text}"));
    format!("{name}={}", program.display())
}

/// Stops a run by a signal, once something is so; its end is that of a run that was stopped.
fn stop(mut child: Child, signal: i32, once: impl Fn() -> bool) {
    while !once() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was stopped");
        std::thread::yield_now();
    }
    // SAFETY: a plain system call, to a child that has not been waited for.
    unsafe { libc::kill(child.id() as i32, signal) };
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn runs_that_fail_are_marked_and_said() {
    let folder = Folder::new();
    let out = folder.path("out.json");
    // Every other run of a process fails: the first of one peer, the second of the other, so that no two of a block are good.
    let measurement = r#"{"ready_unix_ns":NOW,"calls_ns":[9,9,9,9,9,9,9,9],"calls_cpu_ns":[9,9,9,9,9,9,9,9]}"#;
    let alternating = |name: &str, first: u32| {
        let count = folder.path(&format!("{name}.count"));
        let text = format!(
            "echo >>{count}\n[ $(($(wc -l <{count}) % 2)) = {first} ] && {{ printf 'error: \\033[2Jfell over\\n' >&2; exit 9; }}\necho '{measurement}' | sed s/NOW/$(date +%s%N)/\n",
            count = count.display()
        );
        peer(&folder, name, &text)
    };
    // Ready before it was started.
    let early = peer(&folder, "early", &format!("echo '{}'\n", measurement.replace("NOW", "0")));
    let peers = format!("backedge,{},{},{early}", alternating("odd", 1), alternating("even", 0));
    let args = ["--filter", "good/0/steady", "--peers", &peers, "--json", out.to_str().unwrap()];
    let short = ["--seconds", "0.02", "--runs", "4", "--most-runs", "4"];
    let done = folder.bench(&[&args[..], &short].concat());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(cell(&results(&out), "good/0/steady", "early")["problem"]["kind"], "crashed");
    let shown = |options: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_backedge")).args(["bench", "show"]).arg(&out).args(options).output().unwrap();
        text(&done.stdout)
    };
    for printed in [text(&done.stdout), shown(&[]), shown(&["--markdown"])] {
        assert!(printed.contains("good/0/steady: 2 of 4 runs of odd failed: odd ended with code 9: error: [2Jfell over"), "{printed}");
        assert!(printed.contains("?!"), "a mark at the speed-up: {printed}");
    }
    // Between the two there is no pair.
    let peers = format!("{},{}", alternating("odd", 1), alternating("even", 0));
    let _ = (std::fs::remove_file(folder.path("odd.count")), std::fs::remove_file(folder.path("even.count")));
    let done = folder.bench(&[&["--filter", "good/0/steady", "--peers", &peers][..], &short].concat());
    let printed = text(&done.stdout);
    assert!(printed.contains("no pairs") && !printed.contains("inf"), "{printed}");
}

#[test]
fn a_helper_that_dies_is_replaced() {
    let folder = Folder::new();
    let out = folder.path("out.json");
    // It kills the process that started it.
    let peers = format!("backedge,{}", peer(&folder, "killer", "kill -9 $PPID\nsleep 1\n"));
    let args = ["--filter", "good/0", "--peers", &peers, "--json", out.to_str().unwrap()];
    let done = folder.bench(&[&args[..], &SHORT].concat());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let results = results(&out);
    for row in ["good/0/steady", "good/0/one-shot"] {
        assert_eq!(cell(&results, row, "backedge")["summary"]["runs"], 2, "not disturbed");
        assert_eq!(cell(&results, row, "killer")["problem"]["kind"], "crashed");
    }
    assert!(text(&done.stderr).contains("the process that starts others died 2 times while it ran"), "{}", text(&done.stderr));
}

#[test]
fn ctrl_c_while_a_program_is_compiled_is_no_result() {
    let folder = Folder::new();
    let out = folder.path("out.json");
    std::fs::create_dir_all(folder.path("peers")).unwrap();
    for file in ["programs/good/good.c", "programs/kernel.h", "peers/native.c"] {
        std::fs::write(folder.path(file), "").unwrap();
    }
    let (compiling, ready) = (folder.path("compiling"), folder.path("ready"));
    let compiler = format!(
        "[ \"$3\" = version ] && exit 0\ntouch {}\n[ -e {} ] || exec sleep 1000\necho 'a.c:1: error: no such machine' >&2; echo more >&2; exit 1\n",
        compiling.display(),
        ready.display()
    );
    script(&folder, ".venv/bin/python", &compiler);
    let args = ["--filter", "good/0/one-shot", "--peers", "native", "--json", out.to_str().unwrap()];
    let args = [&args[..], &SHORT].concat();
    let child = folder.command(&args).stdout(std::process::Stdio::null()).spawn().unwrap();
    stop(child, libc::SIGINT, || compiling.exists());
    assert_eq!(cell(&results(&out), "good/0/one-shot", "native")["runs"].as_array().map(Vec::len), Some(0));
    // A compiler that fails says one line.
    std::fs::write(&ready, "").unwrap();
    let done = folder.bench(&[&args[..], &["--resume"]].concat());
    let said = text(&done.stderr);
    assert!(said.contains("good does not compile for this machine: a.c:1: error: no such machine") && !said.contains("more"), "{said}");
    assert_eq!(cell(&results(&out), "good/0/one-shot", "native")["problem"]["kind"], "unsupported");
}

#[test]
fn a_module_that_changed_is_not_gone_on_with() {
    let folder = Folder::new();
    let out = folder.path("out.json");
    let peers = format!("backedge,{}", peer(&folder, "slow", "exec sleep 1000\n"));
    let args = ["--filter", "good/0/one-shot", "--peers", &peers, "--json", out.to_str().unwrap()];
    let args = [&args[..], &SHORT].concat();
    let child = folder.command(&args).stdout(std::process::Stdio::null()).spawn().unwrap();
    // A terminal that goes away stops it in good order, too.
    stop(child, libc::SIGHUP, || folder.path("out.json.journal").exists());
    std::fs::write(folder.path("programs/good/good.wasm"), GOOD.replace("i64.const 3", "i64.const 5")).unwrap();
    let resumed = folder.bench(&[&args[..], &["--resume"]].concat());
    assert_eq!(resumed.status.code(), Some(2));
    assert!(text(&resumed.stderr).contains("the module of good changed since the run was stopped"), "{}", text(&resumed.stderr));
}

#[test]
fn a_cache_that_cannot_be_written_is_not_measured_cold() {
    let folder = Folder::new();
    // A file where the cache's folder should be.
    let scratch = folder.path("cache/backedge/bench/scratch");
    std::fs::create_dir_all(&scratch).unwrap();
    std::fs::write(scratch.join("backedge-cached"), "").unwrap();
    let done = folder.bench(&[&["--filter", "good/0/one-shot", "--peers", "backedge,backedge-cached"], &SHORT[..]].concat());
    let said = text(&done.stderr);
    assert!(said.contains("the cache of backedge-cached cannot be written"), "{said}");
    assert!(text(&done.stdout).contains("unsupported"), "{}", text(&done.stdout));
}

#[test]
fn a_full_disk_is_said_and_nothing_is_lost() {
    let folder = Folder::new();
    let done = folder
        .command(&[&["--filter", "good/0/one-shot", "--peers", "backedge", "--json", "/dev/full"], &SHORT[..]].concat())
        .env("TMPDIR", folder.0.path())
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(1));
    let complaints = text(&done.stderr);
    assert!(complaints.contains("cannot write") && complaints.contains("the results are in"), "{complaints}");
    assert!(text(&done.stdout).contains("good/0"));
    let kept = complaints.split('`').nth(3).unwrap();
    assert_eq!(results(Path::new(kept))["schema"], 1);
    assert!(!Path::new("/dev/full.journal").exists(), "a device keeps no journal beside it");
}

#[test]
fn ctrl_c_keeps_what_is_done_and_resume_goes_on() {
    use std::io::{BufRead, BufReader};
    let folder = Folder::new();
    let out = folder.path("out.json");
    let out = out.to_str().unwrap();
    // The second peer never ends by itself, so there is something to stop; the first is done before it (one block, whatever the order: it is waited for in the journal).
    let ends = folder.path("ends");
    let waits = format!("[ -e {} ] && exit 0\nexec sleep 1000\n", ends.display());
    let peers = format!("backedge,{}", peer(&folder, "endless", &waits));
    let args =
        [&["--filter", "o", "--metrics", "steady", "--suite", "feedback", "--peers", &peers, "--json", out, "--seed", "3"], &SHORT[..]]
            .concat();
    let mut child = folder.command(&args).stdout(std::process::Stdio::piped()).spawn().unwrap();
    // Stopped when the journal holds the plan: at any point after that, nothing may be lost.
    let journal = folder.path("out.json.journal");
    let printed = child.stdout.take().unwrap();
    stop(child, libc::SIGINT, || std::fs::read(&journal).is_ok_and(|bytes| bytes.contains(&b'\n')));
    let lines: Vec<String> = BufReader::new(printed).lines().map_while(Result::ok).collect();
    assert!(lines.iter().any(|line| line.contains("interrupted; `--resume`")), "{lines:?}");
    let stopped = results(Path::new(out));
    assert_eq!(stopped["interrupted"], true);
    let done_before = stopped["rows"][0]["cells"][0]["runs"].as_array().unwrap().len();
    // Other settings do not go on with it.
    let other = folder.bench(&[&args[..args.len() - 8], &["--seed", "4", "--resume"], &SHORT[..]].concat());
    assert_eq!(other.status.code(), Some(2), "{}", text(&other.stderr));
    if done_before > 0 {
        let again = folder.bench(&args);
        assert_eq!(again.status.code(), Some(2));
        assert!(text(&again.stderr).contains("of a run that was stopped"), "{}", text(&again.stderr));
    }
    // The endless one now ends at once, so the run can.
    std::fs::write(&ends, "").unwrap();
    let resumed = folder.bench(&[&args[..], &["--resume"]].concat());
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
    let whole = results(Path::new(out));
    assert_eq!(whole["interrupted"], false);
    assert_eq!(whole["started"], stopped["started"]);
    let runs = whole["rows"][0]["cells"][0]["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[..done_before], stopped["rows"][0]["cells"][0]["runs"].as_array().unwrap()[..]);
}

#[test]
fn two_shards_merge_to_the_whole() {
    let folder = Folder::new();
    let run = |shard: &str, out: &str| {
        let out = folder.path(out);
        let args = ["--metrics", "one-shot", "--peers", "backedge,backedge-nf", "--shard", shard, "--json", out.to_str().unwrap()];
        let done = folder.bench(&[&args[..], &SHORT[..]].concat());
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        out
    };
    let (one, two) = (run("1/2", "one.json"), run("2/2", "two.json"));
    merge_and_check(&folder, &[&one, &two]);
    let twice = merge(&folder, &[&one, &one]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(text(&twice.stderr).contains("in more than one of the files"), "{}", text(&twice.stderr));
}

/// The same under GNU parallel, where it is installed (CI does).
#[test]
fn two_shards_under_gnu_parallel() {
    let gnu = Command::new("parallel").arg("--version").output().is_ok_and(|done| text(&done.stdout).starts_with("GNU parallel"));
    if !gnu {
        eprintln!("GNU parallel is not installed: nothing tested");
        return;
    }
    let folder = Folder::new();
    let line = format!(
        "{} bench --programs {folder} --metrics one-shot --peers backedge,backedge-nf {} --shard {{}}/2 --json {folder}/part-{{}}.json",
        env!("CARGO_BIN_EXE_backedge"),
        SHORT.join(" "),
        folder = folder.0.path().display(),
    );
    let done =
        Command::new("parallel").args(["-j", "2", &line, ":::", "1", "2"]).env("XDG_CACHE_HOME", folder.path("cache")).output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    merge_and_check(&folder, &[&folder.path("part-1.json"), &folder.path("part-2.json")]);
}

fn merge(folder: &Folder, parts: &[&PathBuf]) -> Output {
    let whole = folder.path("whole.json");
    Command::new(env!("CARGO_BIN_EXE_backedge")).args(["bench", "merge", "-o"]).arg(whole).args(parts).output().unwrap()
}

fn merge_and_check(folder: &Folder, parts: &[&PathBuf]) {
    let done = merge(folder, parts);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let whole = results(&folder.path("whole.json"));
    let rows: Vec<&str> = whole["rows"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(rows, ["good/0/one-shot", "other/0/one-shot", "traps/0/one-shot", "wrong/0/one-shot"]);
    assert_eq!(whole["comparisons"].as_array().unwrap().len(), 4);
    assert!(whole["settings"]["shard"].is_null());
}

#[test]
fn baselines_and_comparisons() {
    let folder = Folder::new();
    let out = folder.path("a.json");
    let args = [&["--filter", "good/0/one-shot", "--peers", "backedge"], &SHORT[..]].concat();
    let kept = folder.bench(&[&args[..], &["--save-baseline", "first", "--json", out.to_str().unwrap()]].concat());
    assert_eq!(kept.status.code(), Some(0), "{}", text(&kept.stderr));
    let compared = folder.bench(&[&args[..], &["--baseline", "first"]].concat());
    let printed = text(&compared.stdout);
    assert!(printed.contains("against baseline first") && printed.contains("too few pairs for a verdict"), "{printed}");
    let unknown = folder.bench(&[&args[..], &["--baseline", "second"]].concat());
    assert_eq!(unknown.status.code(), Some(1));
    let with_itself =
        Command::new(env!("CARGO_BIN_EXE_backedge")).args(["bench", "compare", "--json"]).args([&out, &out]).output().unwrap();
    let changes: Value = serde_json::from_slice(&with_itself.stdout).unwrap();
    assert_eq!((&changes[0]["row"], &changes[0]["speedup"]["median"]), (&"good/0/one-shot".into(), &1.0.into()));
}

#[test]
fn mistakes_of_the_command_line() {
    let folder = Folder::new();
    for (args, code, said) in [
        (&["--peers", "v9"][..], 2, "no peer `v9`"),
        (&["--peers", "backedge,backedge"], 2, "named twice"),
        (&["--suite", "compte"], 2, "no suite `compte`"),
        (&["--filter", "no such row"], 2, "no row is selected"),
        (&["--shard", "3/2"], 2, "I from 1 to N"),
        (&["--metrics", "speed"], 2, "expected steady"),
        (&["--resume"], 2, "--json"),
        (&["--resume", "--json", "/tmp/no-such-run-of-backedge.json"], 1, "nothing to resume"),
        (&["--json", "/nowhere/out.json"], 2, "there is no folder `/nowhere`"),
        (&["--html", "/nowhere/out.html"], 2, "there is no folder `/nowhere`"),
        (&["--html", "/tmp"], 2, "is a folder"),
        (&["--json", "/tmp/same", "--html", "/tmp/same"], 2, "the same file"),
        (&["--json", "/proc/out.json", "--filter", "good", "--peers", "backedge"], 1, "cannot write `/proc/out.json`"),
        (&["--html", "/proc/out.html", "--filter", "good", "--peers", "backedge"], 1, "cannot write `/proc/out.html`"),
        (&["--peers", "a/b=/bin/true"], 2, "letters, digits"),
        (&["--baseline", "no-such-baseline", "--filter", "good", "--peers", "backedge"], 1, "cannot read"),
        (&["--runs", "7", "--most-runs", "3"], 2, "--most-runs 3 is less"),
        (&["--pin", "100000"], 2, "this process may use the processors"),
        (&["--peers", "=backedge"], 2, "no name"),
    ] {
        let done = folder.bench(args);
        assert_eq!(done.status.code(), Some(code), "{args:?}: {}", text(&done.stderr));
        assert!(text(&done.stderr).contains(said), "{args:?}: {}", text(&done.stderr));
    }
    let list = Command::new(env!("CARGO_BIN_EXE_backedge")).args(["bench", "list", "--suite", "feedback"]).output().unwrap();
    assert!(text(&list.stdout).contains("indirect_call/2/steady") && !text(&list.stdout).contains("matmul"), "{}", text(&list.stdout));
}

/// The rows of `bench stalls`, by name, of one short run.
#[test]
fn stalls_are_measured_beside_two_controls() {
    let done =
        Command::new(env!("CARGO_BIN_EXE_backedge")).args(["bench", "stalls", "--seconds", "3", "--runs", "1", "--json"]).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let rows: Value = serde_json::from_slice(&done.stdout).unwrap();
    let row =
        |name: &str| rows.as_array().unwrap().iter().find(|row| row["row"] == name).unwrap_or_else(|| panic!("no row {name}")).clone();
    for name in ["backedge", "no-feedback", "interpreter", "native"] {
        let row = row(name);
        assert!(row["reads"].as_u64().unwrap() > 1000 && row["p50_ns"].as_u64().unwrap() > 0, "{row}");
        // A control: where the engine's thread compiled, all of this would be for nothing.
        assert_eq!(row["compiled_by_guest"], 0, "{row}");
    }
    for name in ["backedge", "no-feedback"] {
        let row = row(name);
        assert!(row["versions"][2].as_u64().unwrap() > 20, "tiers changed: {row}");
    }
    for name in ["interpreter", "native"] {
        assert_eq!(row(name)["versions"], serde_json::json!([0, 0, 0]), "no tier changed");
    }
}

#[test]
fn instances_are_made_and_held() {
    let folder = Folder::new();
    let done = folder.bench(&["instances", "--stores", "30", "--milliseconds", "0.1", "--held", "10", "--json"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let rows: Value = serde_json::from_slice(&done.stdout).unwrap();
    let ours = &rows["backedge"];
    assert_eq!(ours["instantiate_ns"].as_array().unwrap().len(), 30);
    assert_eq!(ours["call_ns"].as_array().unwrap().len(), 30);
    assert!(ours["held_bytes"].as_u64().is_some(), "{ours}");
    assert!(rows["wasmtime"].is_null(), "there is none in this folder");
}

#[test]
fn a_steady_process_replays_the_records_it_is_given() {
    let folder = Folder::new();
    let [good, other] = ["good", "other"].map(|name| folder.path(&format!("programs/{name}/{name}.wasm")));
    // Another module, that its records are not those of this one.
    std::fs::write(&other, GOOD.replace("i64.const 3", "i64.const 5")).unwrap();
    let records = folder.path("records.lwp");
    let backedge = |args: &[&std::ffi::OsStr]| Command::new(env!("CARGO_BIN_EXE_backedge")).args(args).output().unwrap();
    let made = backedge(&[
        "run".as_ref(),
        "--lwp-record".as_ref(),
        records.as_ref(),
        "--invoke".as_ref(),
        "run".as_ref(),
        good.as_ref(),
        "3000000".as_ref(),
    ]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let source = format!("--source=replay={}", records.display());
    let steady = |program: &Path| {
        let words = ["bench", "steady", &source].map(std::ffi::OsStr::new);
        backedge(&[&words[..], &[program.as_os_str()], &["0", "1", "100000", "0.1"].map(std::ffi::OsStr::new)[..]].concat())
    };
    let done = steady(&good);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let refused = steady(&other);
    assert!(!refused.status.success());
    assert!(text(&refused.stderr).contains("has no records of"), "{}", text(&refused.stderr));
}

#[test]
fn a_run_whose_time_is_over_keeps_its_journal() {
    let folder = Folder::new();
    let out = folder.path("late.json");
    let page = folder.path("late.html");
    let long = [
        "--filter",
        "good/0",
        "--metrics",
        "one-shot",
        "--peers",
        "backedge",
        "--runs",
        "1000",
        "--within",
        "1",
        "--json",
        out.to_str().unwrap(),
    ];
    let done = folder.bench(&[&long[..], &["--html", page.to_str().unwrap()]].concat());
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("its time was over; `--resume` with the same options goes on from"), "{}", text(&done.stdout));
    let before = results(&out);
    let runs = cell(&before, "good/0/one-shot", "backedge")["runs"].as_array().unwrap().len();
    assert!((1..1000).contains(&runs), "{runs}");
    assert!(before["not_for_citing"].as_array().unwrap().contains(&Value::from("its time was over")));
    assert!(std::fs::read_to_string(page).unwrap().contains("<code>--resume</code> goes on"));
    let again = folder.bench(&long);
    assert_eq!(again.status.code(), Some(2), "{}", text(&again.stderr));
    let done = folder.bench(&[&long[..], &["--resume"]].concat());
    assert!(done.status.success(), "{}", text(&done.stderr));
    let after = results(&out);
    let kept = cell(&after, "good/0/one-shot", "backedge")["runs"].as_array().unwrap();
    assert!(kept.len() > runs);
    assert_eq!(kept[..runs], cell(&before, "good/0/one-shot", "backedge")["runs"].as_array().unwrap()[..]);
}

/// A shell tells its jobs of a terminal that goes away, and so does the kernel.
#[test]
fn a_terminal_that_goes_away_costs_no_results() {
    let folder = Folder::new();
    let out = folder.path("gone.json");
    let options = ["--filter", "good/0", "--peers", "backedge", "--runs", "1000", "--json", out.to_str().unwrap()];
    let journal = folder.path("gone.json.journal");
    let lines = || std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    let mut child = folder.command(&options).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while lines() < 4 {
        assert!(std::time::Instant::now() < deadline && child.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    for _ in 0..3 {
        for signal in [libc::SIGHUP, libc::SIGTERM] {
            // SAFETY: a plain system call on a child that has not been waited for.
            unsafe { libc::kill(child.id() as libc::pid_t, signal) };
        }
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(results(&out)["interrupted"], true);
    assert!(journal.is_file());
}

#[test]
fn a_journal_that_cannot_be_begun_is_in_nobodys_way() {
    let folder = Folder::new();
    let out = folder.path("full.json");
    let options = [&["--metrics", "one-shot", "--peers", "backedge", "--json", out.to_str().unwrap()], &SHORT[..]].concat();
    let whole = folder.command(&options);
    let mut limited = Command::new("sh");
    // So many blocks of 512 bytes a file.
    limited.args(["-c", "ulimit -f 1; exec \"$0\" \"$@\""]).arg(whole.get_program()).args(whole.get_args());
    limited.env("XDG_CACHE_HOME", folder.path("cache"));
    let refused = limited.output().unwrap();
    assert!(!refused.status.success());
    assert!(text(&refused.stderr).contains("cannot write the journal"), "{}", text(&refused.stderr));
    assert!(!folder.path("full.json.journal").exists());
    let done = folder.bench(&options);
    assert!(done.status.success() || done.status.code() == Some(1), "{}", text(&done.stderr));
    assert!(out.is_file());
}

#[test]
fn scripts_that_looked_at_nothing_do_not_say_that_all_is_well() {
    let script = |name: &str, args: &[&str]| {
        let path = format!("{}/../../bench-programs/{name}", env!("CARGO_MANIFEST_DIR"));
        let own = ["--backedge", env!("CARGO_BIN_EXE_backedge")];
        let done = Command::new("python3").arg(path).args(args).args(own).stdin(Stdio::null()).output().unwrap();
        (done.status.code(), text(&done.stderr))
    };
    for check in ["aa", "hostile", "gain", "phases", "cause"] {
        let (code, err) = script("optimizer.py", &[check, "--filter", "nosuch"]);
        assert!(code == Some(2) && err.contains("no row"), "{check}: {err}");
    }
    // Rows that these are not made for.
    for check in ["phases", "cause"] {
        let (code, err) = script("optimizer.py", &[check, "--filter", "fft/0"]);
        assert!(code == Some(2) && err.contains("nothing was looked at"), "{check}: {err}");
    }
    for wrong in [["hostile", "--seconds", "0.5"], ["gain", "--runs", "0"]] {
        let (code, err) = script("optimizer.py", &wrong);
        assert!(code == Some(2) && err.contains("at least 1"), "{wrong:?}: {err}");
    }
    assert_eq!(script("accuracy.py", &["--filter", "nosuch"]).0, Some(2));
}
