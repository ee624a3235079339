//! What a run shows of itself: profiles for perf and Firefox, traces, the page, and the live view on a terminal.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, contents).unwrap();
        path
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// In its own folder: some options write to the current one.
fn backedge(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_backedge"))
        .args(args)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", "")
        .env("HOME", "")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn expect(folder: &Path, code: i32, args: &[&str]) -> (String, String) {
    let output = backedge(folder, args);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}\nstdout: {out}\nstderr: {err}");
    (out, err)
}

/// `run(n)`: n rounds of `work`, which calls `one` through the table and squares what it gets; the name section has a name that is hard to write.
const HOT: &str = r#"(module $hot
    (type $unary (func (param i32) (result i32)))
    (table 2 funcref) (elem (i32.const 0) $one $two)
    (memory 1)
    (func $one (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))
    (func $two (param i32) (result i32) (i32.add (local.get 0) (i32.const 2)))
    (func $work (@name "work <of> \"mine\"") (param i32 i32) (result i32) (local i32)
        (local.set 2 (i32.const 20))
        (loop $inner
            (local.set 0 (call_indirect (type $unary) (local.get 0) (local.get 1)))
            (i32.store (i32.and (i32.mul (local.get 0) (i32.const 64)) (i32.const 65532)) (local.get 0))
            (br_if $inner (local.tee 2 (i32.sub (local.get 2) (i32.const 1)))))
        (local.get 0))
    (func (export "run") (param i32) (result i32) (local i32)
        (loop $next
            (local.set 1 (call $work (local.get 1) (i32.const 0)))
            (br_if $next (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
        (local.get 1))
    (func (export "trap") (drop (call $work (i32.const 0) (i32.const 5)))))"#;
const WORK: &str = "work <of> \"mine\"";

/// Prints `tick` and a newline, again and again, and never ends.
const TICKS: &str = r#"(module
    (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
    (memory (export "memory") 1)
    (data (i32.const 0) "\08\00\00\00\0a\00\00\00\1b[2Jtick\n ")
    (func $spin (param i32) (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
    (func (export "_start")
        (loop $again
            (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 60)))
            (call $spin (i32.const 3000000))
            (br $again))))"#;

fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    let mut word = [0; 8];
    word[..length].copy_from_slice(&bytes[at..at + length]);
    u64::from_le_bytes(word)
}

#[test]
fn the_map_for_perf_names_every_piece_of_code_once() {
    let files = Files::new();
    let module = files.write("hot.wat", HOT);
    // The map is of a process, so its number must be known: the shell says it before it becomes the command.
    let output = Command::new("sh")
        .args(["-c", "echo $$; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_backedge")])
        .args(["run", "--profile=perfmap", "--hot-threshold", "50", "--invoke", "run", module.to_str().unwrap(), "200000"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let process: u32 = text(&output.stdout).lines().next().unwrap().parse().unwrap();
    let path = format!("/tmp/perf-{process}.map");
    let map = std::fs::read_to_string(&path).unwrap();
    let _ = std::fs::remove_file(&path);
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for line in map.lines() {
        let mut parts = line.splitn(3, ' ');
        let [start, length] = [(); 2].map(|()| u64::from_str_radix(parts.next().unwrap(), 16).unwrap());
        assert!(length > 0 && !parts.next().unwrap().is_empty(), "{line}");
        ranges.push((start, start + length));
    }
    ranges.sort_unstable();
    assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0), "an address was used twice:\n{map}");
    for part in [&format!("{WORK} [baseline v"), &format!("{WORK} [optimizing v"), "backedge adapter Enter", "backedge lazy stubs"] {
        assert!(map.contains(part), "{part}\n{map}");
    }
}

#[test]
fn the_jitdump_has_the_documented_layout() {
    let files = Files::new();
    let module = files.write("hot.wat", HOT);
    let args = ["run", "--profile=jitdump", "--tier", "optimizing", "--invoke", "run", module.to_str().unwrap(), "1000"];
    expect(files.0.path(), 0, &args);
    let dumps: Vec<PathBuf> = std::fs::read_dir(files.0.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "dump"))
        .collect();
    let [dump] = &dumps[..] else { panic!("{dumps:?}") };
    let bytes = std::fs::read(dump).unwrap();
    let process = number(&bytes, 20, 4);
    assert_eq!(dump.file_name().unwrap().to_str().unwrap(), format!("jit-{process}.dump"));
    assert_eq!(&bytes[..4], b"DTiJ", "JiTD in the machine's byte order");
    assert_eq!([number(&bytes, 4, 4), number(&bytes, 8, 4), number(&bytes, 12, 4), number(&bytes, 16, 4)], [1, 40, 62, 0]);
    let (mut at, mut last_time, mut loads, mut closed) = (40, number(&bytes, 24, 8), 0, false);
    let mut lines: BTreeMap<u64, Vec<(u64, u32)>> = BTreeMap::new();
    let mut names = BTreeSet::new();
    while at < bytes.len() {
        assert!(!closed);
        let (id, size, time) = (number(&bytes, at, 4), number(&bytes, at + 4, 4) as usize, number(&bytes, at + 8, 8));
        assert!(size >= 16 && at + size <= bytes.len() && time >= last_time);
        last_time = time;
        let record = &bytes[at..at + size];
        match id {
            0 => {
                assert_eq!(number(record, 16, 4), process);
                let (address, length, index) = (number(record, 24, 8), number(record, 40, 8) as usize, number(record, 48, 8));
                assert_eq!((number(record, 32, 8), index), (address, loads));
                let end = record[56..].iter().position(|&byte| byte == 0).unwrap() + 56;
                let name = text(&record[56..end]);
                assert_eq!(end + 1 + length, size, "{name}");
                for &(place, _) in lines.get(&address).into_iter().flatten() {
                    assert!(place >= address && place < address + length as u64, "{name}");
                }
                names.insert(name);
                loads += 1;
            }
            2 => {
                let (address, entries) = (number(record, 16, 8), number(record, 24, 8));
                let mut place = 32;
                for _ in 0..entries {
                    let (code, line) = (number(record, place, 8), number(record, place + 8, 4) as u32);
                    let end = record[place + 16..].iter().position(|&byte| byte == 0).unwrap() + place + 16;
                    assert_eq!(text(&record[place + 16..end]), "hot.wasm");
                    lines.entry(address).or_default().push((code, line));
                    place = end + 1;
                }
                assert!(size - place < 8);
            }
            3 => closed = true,
            other => panic!("record {other}"),
        }
        at += size;
    }
    assert!(closed && loads >= 3 && !lines.is_empty());
    assert!(names.iter().any(|name| name.starts_with(WORK)), "{names:?}");
}

#[test]
fn the_guests_profile_finds_where_time_goes() {
    let files = Files::new();
    let module = files.write("hot.wat", HOT);
    for tier in ["interp", "auto"] {
        let rounds = if tier == "interp" { "1000000" } else { "50000000" };
        let args = ["run", "--profile=guest,p.json,200us", "--tier", tier, "--invoke", "run", module.to_str().unwrap(), rounds];
        expect(files.0.path(), 0, &args);
        let profile: Value = serde_json::from_slice(&std::fs::read(files.path("p.json")).unwrap()).unwrap();
        assert!((profile["meta"]["interval"].as_f64().unwrap() - 0.2).abs() < 1e-9);
        let all = profile.to_string();
        assert!(all.contains("work <of>"), "{tier}: the hot function's name");
        let thread = &profile["threads"][0];
        let samples = &thread["samples"];
        let count = samples["length"].as_u64().unwrap();
        assert!(count >= 10, "{tier}: {count} samples");
        let weights: i64 = samples["weight"].as_array().unwrap().iter().map(|it| it.as_i64().unwrap()).sum();
        assert!(weights >= count as i64);
        // Times go up.
        let stacks = samples["stack"].as_array().unwrap();
        assert!(stacks.iter().filter(|it| it.is_u64()).count() * 10 >= stacks.len() * 9, "{tier}: samples without a stack");
    }
}

#[test]
fn the_trace_holds_compiles_versions_and_trials() {
    let files = Files::new();
    let module = files.write("hot.wat", HOT);
    let args = ["run", "--trace", "t.json", "--hot-threshold", "500", "--invoke", "run", module.to_str().unwrap(), "3000000"];
    expect(files.0.path(), 0, &args);
    let trace: Value = serde_json::from_slice(&std::fs::read(files.path("t.json")).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let mut open: BTreeMap<(String, u64), i64> = BTreeMap::new();
    let mut compiled = BTreeSet::new();
    for event in events {
        let (phase, name) = (event["ph"].as_str().unwrap(), event["name"].as_str().unwrap());
        match phase {
            "X" => {
                assert!(event["dur"].as_f64().unwrap() > 0.0 && event["ts"].as_f64().unwrap() >= 0.0, "{event}");
                compiled.insert(event["args"]["tier"].as_str().unwrap().to_owned());
            }
            "b" | "e" => {
                *open.entry((event["cat"].as_str().unwrap().into(), event["id"].as_u64().unwrap())).or_default() +=
                    if phase == "b" { 1 } else { -1 }
            }
            "i" | "C" | "M" => assert!(!name.is_empty()),
            other => panic!("phase {other}"),
        }
    }
    assert!(compiled.contains("baseline") && compiled.contains("optimizing"), "{compiled:?}");
    assert!(!open.is_empty() && open.values().all(|&count| count == 0), "spans that begin end: {open:?}");
    assert!(events.iter().any(|event| event["name"].as_str().unwrap().contains(WORK)));
}

#[test]
fn the_page_of_a_run_is_whole_and_needs_nothing_else() {
    let files = Files::new();
    let module = files.write("hot.wat", HOT);
    let args = ["run", "--report=html=r.html", "--hot-threshold", "500", "--invoke", "run", module.to_str().unwrap(), "5000000"];
    let (out, err) = expect(files.0.path(), 0, &args);
    assert_eq!((out.as_str(), err.as_str()), ("100000000\n", ""));
    let page = std::fs::read_to_string(files.path("r.html")).unwrap();
    for part in [
        "id=\"summary\"",
        "id=\"timeline\"",
        "id=\"hot\"",
        "id=\"trials\"",
        "id=\"refusals\"",
        "id=\"monitor\"",
        "work &lt;of&gt; &quot;mine&quot;",
        "call_indirect",
        "Machine code: v",
        "CPU samples",
        "call-target",
        "Observations by site",
        "compiles for bursts",
        "prefers-color-scheme: dark",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // The guest's names cannot become markup, and nothing is fetched.
    let own = page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["<of>", "http://", "https://", " src=", "@import", "url(", "NaN"] {
        assert!(!own.contains(outside), "{outside}");
    }
    assert_eq!(page.matches("<details").count(), page.matches("</details>").count());
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
}

#[test]
fn what_cannot_be_written_is_one_line_and_the_rest_is_written() {
    let files = Files::new();
    let module = files.write("hot.wat", HOT);
    let module = module.to_str().unwrap();
    // Known before the run: it does not start.
    for option in ["--report=html,/no/such/folder/r.html", "--trace=/no/such/folder/t.json", "--profile=guest,/no/such/folder/p.json"] {
        let (out, err) = expect(files.0.path(), 1, &["run", option, "--invoke", "run", module, "10"]);
        assert_eq!((out.as_str(), err.lines().count()), ("", 1), "{option}: {err}");
        assert!(err.starts_with("error: cannot write `/no/such/folder/"), "{err}");
    }
    // Known only then, a full disk: the guest's output and the other files are there.
    for option in ["--report=html,/dev/full", "--report=json,/dev/full", "--trace=/dev/full", "--profile=guest,/dev/full"] {
        let _ = std::fs::remove_file(files.path("plan.json"));
        let (out, err) = expect(files.0.path(), 1, &["run", option, "--save-plan", "plan.json", "--invoke", "run", module, "100000"]);
        assert_eq!(out, "2000000\n", "{option}");
        assert_eq!(err.lines().count(), 1, "{option}: {err}");
        assert!(err.starts_with("error: cannot write `/dev/full`") && err.contains("No space"), "{err}");
        assert!(files.path("plan.json").exists(), "{option}");
    }
    // A trap is said first, and its report is written.
    let (_, err) = expect(files.0.path(), 134, &["run", "--report=html,trap.html", "--invoke", "trap", module]);
    assert!(err.contains("wasm trap"), "{err}");
    assert!(std::fs::read_to_string(files.path("trap.html")).unwrap().contains("</html>"));
    for (option, part) in [("--profile=vtune", "perfmap"), ("--profile=guest,x,0s", "interval"), ("--report=pdf", "html")] {
        let (_, err) = expect(files.0.path(), 2, &["run", option, "--invoke", "run", module, "1"]);
        assert!(err.contains(part), "{option}: {err}");
    }
}

/// The command on a terminal of 80 columns and 24 lines.
struct OnTerminal {
    child: Box<dyn portable_pty::Child + Send + Sync>,
    writer: Option<Box<dyn std::io::Write + Send>>,
    bytes: std::sync::mpsc::Receiver<Vec<u8>>,
    screen: vt100::Parser,
    /// Everything that arrived.
    all: Vec<u8>,
    master: Option<Box<dyn portable_pty::MasterPty + Send>>,
}

impl OnTerminal {
    fn new(folder: &Path, args: &[&str]) -> OnTerminal {
        let size = portable_pty::PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let pair = portable_pty::native_pty_system().openpty(size).unwrap();
        let mut command = portable_pty::CommandBuilder::new(env!("CARGO_BIN_EXE_backedge"));
        command.args(args);
        command.cwd(folder);
        command.env("TERM", "xterm-256color");
        command.env("HOME", "");
        command.env("XDG_CACHE_HOME", "");
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let (mut reader, writer) = (pair.master.try_clone_reader().unwrap(), Some(pair.master.take_writer().unwrap()));
        let (send, bytes) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count) = reader.read(&mut buffer)
                && count > 0
                && send.send(buffer[..count].to_vec()).is_ok()
            {}
        });
        OnTerminal { child, writer, bytes, screen: vt100::Parser::new(24, 80, 0), all: Vec::new(), master: Some(pair.master) }
    }

    /// Reads until the screen is so, or a minute has passed.
    fn until(&mut self, what: &str, so: impl Fn(&vt100::Screen) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !so(self.screen.screen()) {
            assert!(Instant::now() < deadline, "waited for {what}; the screen:\n{}", self.screen.screen().contents());
            if let Ok(bytes) = self.bytes.recv_timeout(Duration::from_millis(100)) {
                self.screen.process(&bytes);
                self.all.extend(bytes);
            }
        }
    }

    fn key(&mut self, key: &[u8]) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(key).unwrap();
        writer.flush().unwrap();
    }

    /// The exit code, when all output was read.
    fn end(&mut self) -> u32 {
        let deadline = Instant::now() + Duration::from_secs(60);
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.exit_code();
            }
            assert!(Instant::now() < deadline, "it did not end; the screen:\n{}", self.screen.screen().contents());
            if let Ok(bytes) = self.bytes.recv_timeout(Duration::from_millis(50)) {
                self.screen.process(&bytes);
                self.all.extend(bytes);
            }
        };
        while let Ok(bytes) = self.bytes.recv_timeout(Duration::from_millis(500)) {
            self.screen.process(&bytes);
            self.all.extend(bytes);
        }
        code
    }

    /// The terminal goes away; the exit code.
    fn hang_up(&mut self) -> u32 {
        let (_sender, nothing) = std::sync::mpsc::channel();
        self.bytes = nothing;
        // The thread that reads ends when something comes that nobody takes, and a screen of another size is drawn anew.
        let size = portable_pty::PtySize { rows: 25, cols: 80, pixel_width: 0, pixel_height: 0 };
        self.master.take().unwrap().resize(size).unwrap();
        self.writer = None;
        self.end()
    }

    fn is_given_back(&self) -> bool {
        let screen = self.screen.screen();
        !screen.alternate_screen() && !screen.hide_cursor()
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

#[test]
fn top_shows_a_run_in_eighty_by_twenty_four_and_quits_on_q() {
    let files = Files::new();
    files.write("ticks.wat", TICKS);
    for key in [&b"q"[..], b"\x03"] {
        let mut top = OnTerminal::new(files.0.path(), &["top", "--hot-threshold", "1000", "ticks.wat"]);
        top.until("the run", |screen| {
            let text = screen.contents();
            screen.alternate_screen() && text.contains("running") && text.contains("optimizing") && text.contains("tick")
        });
        let text = top.screen.screen().contents();
        for part in [
            "backedge top",
            "ticks.wat",
            "records",
            "monitor",
            "rings",
            "hot functions",
            "spin",
            "plans and trials",
            "the program's output",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        // What the guest prints does not reach the screen as it is: it would have cleared it.
        assert!(text.lines().next().unwrap().contains("q quits"), "{text}");
        top.key(key);
        assert_eq!(top.end(), 130);
        assert!(top.is_given_back());
        assert!(text_of(&top).contains("stopped"), "{}", text_of(&top));
    }
}

fn text_of(top: &OnTerminal) -> String {
    text(&top.all)
}

#[test]
fn top_ends_with_its_guest_and_hands_its_output_on() {
    let files = Files::new();
    files.write("hot.wat", HOT);
    let mut top = OnTerminal::new(files.0.path(), &["top", "--invoke", "run", "hot.wat", "300000"]);
    assert_eq!(top.end(), 0);
    assert!(top.is_given_back());
    // Behind the last of the screen, as if there had been none.
    let all = text_of(&top);
    let after = &all[all.rfind("\u{1b}[?1049l").unwrap()..];
    assert!(after.contains("6000000"), "{after:?}");
}

#[test]
fn top_restores_the_terminal_after_a_trap() {
    let files = Files::new();
    files.write("hot.wat", HOT);
    let mut top = OnTerminal::new(files.0.path(), &["top", "--invoke", "trap", "hot.wat"]);
    assert_eq!(top.end(), 134);
    assert!(top.is_given_back());
    let all = text_of(&top);
    let after = &all[all.rfind("\u{1b}[?1049l").unwrap()..];
    assert!(after.contains("wasm trap") && after.contains(WORK), "{after:?}");
    // With --stay the end is shown until q.
    let mut top = OnTerminal::new(files.0.path(), &["top", "--stay", "--invoke", "trap", "hot.wat"]);
    top.until("the end", |screen| screen.contents().contains("wasm trap"));
    assert!(top.screen.screen().alternate_screen());
    top.key(b"q");
    assert_eq!(top.end(), 134);
    assert!(top.is_given_back());
}

#[test]
fn top_ends_with_its_terminal() {
    let files = Files::new();
    files.write("ticks.wat", TICKS);
    files.write("hot.wat", HOT);
    let mut top = OnTerminal::new(files.0.path(), &["top", "ticks.wat"]);
    top.until("the run", |screen| screen.contents().contains("running"));
    assert_eq!(top.hang_up(), 130);
    let mut top = OnTerminal::new(files.0.path(), &["top", "--stay", "--invoke", "run", "hot.wat", "1000"]);
    top.until("the end", |screen| screen.contents().contains("ended with code 0"));
    assert_eq!(top.hang_up(), 0);
}

#[test]
fn top_without_a_terminal_says_so() {
    let files = Files::new();
    let module = files.write("hot.wat", HOT);
    let (out, err) = expect(files.0.path(), 2, &["top", "--invoke", "run", module.to_str().unwrap(), "1"]);
    assert_eq!((out.as_str(), err.lines().count()), ("", 1));
    assert!(err.contains("terminal"), "{err}");
}

#[test]
fn a_saved_benchmark_run_is_drawn() {
    let files = Files::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench-programs/docs/example-results.json");
    let results = files.path("results.json");
    std::fs::copy(example, &results).unwrap();
    let results = results.to_str().unwrap();
    assert_eq!(expect(files.0.path(), 0, &["bench-report", results]), (String::new(), String::new()));
    let page = std::fs::read_to_string(files.path("results.html")).unwrap();
    assert!(page.contains("Not for citing") && page.contains("Time to peak") && page.contains("</html>"));
    expect(files.0.path(), 0, &["bench-report", results, "--svg", "plots"]);
    assert!(std::fs::read_dir(files.path("plots")).unwrap().count() >= 5);
    for (args, part) in [
        (["bench-report", results, "--html", "/dev/full"], "cannot write `/dev/full`"),
        (["bench-report", results, "--svg", "/proc/none"], "cannot write `/proc/none`"),
        (["bench-report", "none.json", "--html", "x.html"], "no such file"),
        (["bench-report", files.write("bad.json", "{\"schema\": 99}").to_str().unwrap(), "--html", "x.html"], "layout 99"),
        (["bench-report", files.write("worse.json", "nonsense").to_str().unwrap(), "--html", "x.html"], "no results"),
    ] {
        let (out, err) = expect(files.0.path(), 1, &args);
        assert_eq!((out.as_str(), err.lines().count()), ("", 1), "{args:?}: {err}");
        assert!(err.contains(part), "{args:?}: {err}");
    }
}

#[test]
fn a_bodys_arm_is_its_code_and_a_loops_counts_rounds() {
    let files = Files::new();
    let module = files.write(
        "leaf.wat",
        r#"(module (memory 1) (func (export "sum") (param $n i32) (param $at i32) (param $to i32) (param $k i32) (result i32) (local $sum i32)
            (loop $again
                (local.set $sum (i32.add (local.get $sum) (i32.mul (local.get $k) (i32.load (local.get $at)))))
                (i32.store (local.get $to) (local.get $sum))
                (local.set $at (i32.add (local.get $at) (i32.const 4)))
                (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
            (local.get $sum)))"#,
    );
    let module = module.to_str().unwrap();
    let dump = |args: &[&str]| expect(files.0.path(), 0, &[&["dump", "--stage", "asm", "--func", "sum"], args, &[module]].concat()).0;
    let (plain, arm) = (dump(&[]), dump(&["--arm"]));
    assert_eq!(plain, arm);
    let wasm = expect(files.0.path(), 0, &["dump", "--stage", "wasm", "--func", "sum", module]).0;
    let again = wasm.lines().find(|line| line.contains(" Loop")).and_then(|line| line.split_whitespace().next()).expect("its loop");
    let entrance = |args: &[&str]| dump(&[&["--entrance", again], args].concat());
    assert!(entrance(&["--arm"]).lines().count() > entrance(&[]).lines().count());
}

#[test]
fn every_stage_is_dumped_the_same_each_time() {
    let files = Files::new();
    let module = files.write("hot.wat", HOT);
    let module = module.to_str().unwrap();
    let dump = |args: &[&str]| expect(files.0.path(), 0, &[&["dump", "--func", "run"], args, &[module]].concat()).0;
    let wasm = dump(&["--stage", "wasm"]);
    let at = wasm.lines().find(|line| line.contains("Loop")).and_then(|line| line.split_whitespace().nth(1)).unwrap();
    for stage in ["wasm", "bytecode", "clif", "clif-translated", "clif-optimized", "asm", "tables"] {
        for tier in ["baseline", "instrumented", "optimizing"] {
            for entrance in [&[][..], &["--entrance", at]] {
                let args = [&["--stage", stage, "--tier", tier], entrance].concat();
                let (first, second) = (dump(&args), dump(&args));
                assert!(first.lines().count() > 3, "{args:?}: {first}");
                assert_eq!(first, second, "{args:?}");
            }
        }
    }
    // An instruction of the loop names the operator it comes from by its offset.
    let clif = dump(&["--stage", "clif-translated", "--tier", "baseline"]);
    let number = |hex: &str| u32::from_str_radix(hex, 16).unwrap();
    let offsets: Vec<u32> =
        wasm.lines().filter_map(|line| line.split_whitespace().find_map(|word| word.strip_prefix("0x"))).map(number).collect();
    let named: Vec<u32> =
        clif.lines().filter_map(|line| line.strip_prefix('@')?.split_once(' ')).map(|(offset, _)| number(offset)).collect();
    // What stands before the first operator belongs to the body's begin.
    let known = |offset: &u32| offsets.contains(offset) || *offset < offsets[0];
    assert!(named.iter().any(|offset| offsets.contains(offset)) && named.iter().all(known), "{named:x?}\n{wasm}");
    let tables = dump(&["--stage", "tables", "--tier", "baseline"]);
    for part in ["p0 ", "; traps", "; LWPVAL sites", "; guards", "; locations"] {
        assert!(tables.contains(part), "{part}\n{tables}");
    }
    assert!(dump(&["--stage", "tables", "--tier", "instrumented"]).contains("Round p"), "its probes");
    let body = dump(&["--stage", "asm"]);
    assert_ne!(body, dump(&["--stage", "asm", "--entrance", at]));
    let (_, err) = expect(files.0.path(), 2, &["dump", "--stage", "asm", "--func", "run", "--entrance", "0x1", module]);
    assert!(err.contains("no loop at 0x1"), "{err}");
}
