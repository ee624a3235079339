//! The policy from outside: explained, forbidden, saved, replaced, carried to the next process, exported.

use lwp_feedback::policy::Decision;
use lwp_feedback::profilefile::{SavedLoss, SavedProfile};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// `run(n)`: n calls of `work`, which calls `one` through the table.
const HOT: &str = r#"(module $hot
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

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), contents).unwrap();
        self.path(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }
}

fn backedge(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_backedge")).args(args).env("XDG_CACHE_HOME", "").env("HOME", "").stdin(Stdio::null()).output().unwrap()
}

/// Runs, checks the exit code, returns (stdout, stderr).
#[track_caller]
fn expect(code: i32, args: &[&str]) -> (String, String) {
    let output = backedge(args);
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(code), "{args:?}\nstdout: {out}\nstderr: {err}");
    (out, err)
}

const ROUNDS: &str = "60000000";
/// Low enough to be reached soon, and high enough for more than 64 samples in tier 1.
const THRESHOLD: &str = "20000";

/// Runs the hot program so that it reaches the optimizing tier in any build, without code of earlier runs; returns standard error.
#[track_caller]
fn hot(options: &[&str], program: &str) -> String {
    let mut args = vec!["run", "-C", "cache=n", "--hot-threshold", THRESHOLD, "--invoke", "run"];
    args.extend(options);
    args.extend([program, ROUNDS]);
    let (out, err) = expect(0, &args);
    // Whatever the policy does, this is the result.
    assert_eq!(out, format!("{ROUNDS}\n"), "{options:?}");
    err
}

#[track_caller]
fn one_warning(err: &str, part: &str) {
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.starts_with("warning: ") && err.contains(part), "{err}");
}

/// All versions of a report, as (function, tier, loop, hash of the code).
fn versions(report: &Value) -> Vec<(u64, String, Option<u64>, String)> {
    let functions = report["functions"].as_array().unwrap();
    let mut versions: Vec<_> = functions
        .iter()
        .flat_map(|function| function["versions"].as_array().unwrap().iter().map(move |version| (function, version)))
        .map(|(function, version)| {
            let text = |name: &str| version[name].as_str().unwrap().to_owned();
            (function["function"].as_u64().unwrap(), text("tier"), version["loop_offset"].as_u64(), text("code_hash"))
        })
        .collect();
    versions.sort();
    versions
}

fn inlined(plans: &Value) -> usize {
    plans["plans"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|plan| plan["decisions"].as_array().unwrap())
        .filter(|it| !it["inline"].is_null())
        .count()
}

#[test]
fn explain_says_what_was_seen_and_why() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let records = files.path("records");
    let (out, err) = expect(0, &["explain", "--hot-threshold", THRESHOLD, "--invoke", "run", &program, ROUNDS]);
    assert!(out.contains("seen: call-target (exact): ") && out.contains("`one` 100.0 %"), "{out}{err}");
    assert!(
        out.contains("inline: decided: inline at 0x") && out.contains("saves 1.50 ns, costs 0.25 ns (100.0 % of calls x 1.50 ns"),
        "{out}"
    );
    // The guest's results are not in what explains it.
    assert!(!out.contains(ROUNDS) || err.contains(ROUNDS), "{out}\n{err}");
    let (out, _) = expect(
        0,
        &["explain", "--json", "--func", "work", "--forbid", "inline", "--hot-threshold", THRESHOLD, "--invoke", "run", &program, ROUNDS],
    );
    let json: Value = serde_json::from_str(&out).unwrap();
    let [function] = &json["functions"].as_array().unwrap()[..] else { panic!("{out}") };
    assert_eq!(function["name"], "work");
    let answers: Vec<&Value> = function["operators"].as_array().unwrap().iter().flat_map(|it| it["answers"].as_array().unwrap()).collect();
    assert!(answers.iter().any(|it| it["transformation"] == "inline" && it["reason"] == "forbidden" && it["decided"] == false), "{out}");

    hot(&["--lwp-record", &records], &program);
    let explain = |more: &[&str]| expect(0, &[&["explain", "--replay", &records], more, &[&program]].concat()).0;
    let out = explain(&[]);
    assert!(out.contains("inline: decided: "), "{out}");
    assert_eq!(explain(&[]), out);
    assert!(explain(&["--forbid", "inline,layout"]).contains("inline: refused: forbidden"));
    let other = files.write("other.wat", "(module)");
    assert_eq!(expect(1, &["explain", "--replay", &records, &other]).1.lines().count(), 1);
    let (_, err) = expect(2, &["run", "--forbid", "everything", &program]);
    assert!(err.contains("no such transformation; known: branch-to-select, inline, "), "{err}");
}

#[test]
fn plans_are_saved_and_carried_out_again_with_the_same_code() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let plan = files.path("plan.json");
    hot(&["--no-trial", "--save-plan", &plan], &program);
    assert!(inlined(&files.json("plan.json")) > 0, "{}", files.read("plan.json"));
    let run = |name: &str| {
        let report = format!("--report=json,{}", files.path(name));
        hot(&["--no-trial", "--seed", "7", "--plan", &plan, &report], &program);
        versions(&files.json(name))
    };
    let first = run("first");
    assert!(first.iter().any(|version| version.1 == "optimizing"), "{first:?}");
    assert_eq!(first, run("second"));
    // Another module's plans are not carried out.
    let other = files.write(
        "other.wat",
        HOT.replace("$two (param i32) (result i32) (i32.add (local.get 0) (i32.const 2))", "$two (param i32) (result i32) (local.get 0)"),
    );
    let out = files.path("out.json");
    hot(&["--plan", &plan, "--save-plan", &out], &other);
    assert_eq!(inlined(&files.json("out.json")), 0);
}

#[test]
fn a_policy_may_be_ten_lines_of_python() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let policy = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/policy.py");
    let plan = files.path("plan.json");
    assert_eq!(hot(&["--no-trial", "--policy-exec", policy, "--save-plan", &plan], &program), "");
    assert!(inlined(&files.json("plan.json")) > 0, "{}", files.read("plan.json"));
    // What it is forbidden is refused, and it does not decide beside a plan file.
    let report = files.path("report.json");
    hot(&["--no-trial", "--policy-exec", policy, "--forbid", "inline", &format!("--report=json,{report}")], &program);
    assert!(
        files.read("report.json").contains(r#""reason": "forbidden""#) || files.read("report.json").contains(r#""reason":"forbidden""#)
    );
    let (_, err) = expect(2, &["run", "--policy-exec", policy, "--plan", &plan, &program]);
    assert!(err.contains("both say what to do"), "{err}");
    // On a recording too.
    let records = files.path("records");
    hot(&["--lwp-record", &records], &program);
    let (out, _) = expect(0, &["lwp", "replay", "--policy-exec", policy, "--module", &program, &records]);
    assert!(out.contains(": inline at 0x"), "{out}");
    let foreign =
        r#"while read line; do echo '{"plans": [{"func": 999, "decisions": [{"layout": {"offset": 1, "likely": true}}]}]}'; done"#;
    let (out, _) = expect(0, &["lwp", "replay", "--policy-exec", foreign, "--module", &program, &records]);
    assert!(out.contains("\n0 plans, 0 refusals\nfunction 999: its plan is refused: the module defines no such function\n"), "{out}");
    let fails = ["--policy-exec", "exit 3"];
    for asks in
        [[&["lwp", "replay"][..], &fails, &["--module", &program, &records]], [&["explain"], &fails, &["--replay", &records, &program]]]
    {
        let (_, err) = expect(1, &asks.concat());
        assert!(err.contains("policy `exit 3`: it ended") && err.contains("no plans: the policy failed"), "{err}");
    }
}

#[test]
fn a_policy_that_fails_costs_one_line() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let fails = |command: &str, part: &str| one_warning(&hot(&["--policy-exec", command], &program), part);
    fails("exit 3", "it ended");
    fails("read question; echo hello; cat > /dev/null", "its answer is not a plan");
    fails("read question; head -c 3000000 /dev/zero; echo; cat > /dev/null", "its answer");
    fails("/no/such/program 2> /dev/null", "it ended");
    // Reads nothing and never answers.
    let began = Instant::now();
    hot(&[], &program);
    let alone = began.elapsed();
    let err = hot(&["--policy-exec", "exec tail -f /dev/null"], &program);
    assert!(err.is_empty() || err.contains("no answer in "), "nothing depends on it: {err}");
    let beside = began.elapsed() - alone;
    assert!(beside < 4 * alone + Duration::from_secs(2), "the run waits for it: {beside:?}, {alone:?} without it");
    let plan = files.path("plan.json");
    one_warning(&hot(&["--policy-exec", "exec tail -f /dev/null", "--save-plan", &plan], &program), "no answer");
    for unasked in [["--no-feedback", "-C", "templates=y"], ["--feedback=off", "-C", "templates=y"], ["--tier", "baseline", "--no-trial"]] {
        one_warning(&hot(&[&unasked[..], &["--policy-exec", "cat > /dev/null"]].concat(), &program), "nothing asks it");
    }
    // Another module's plans.
    let foreign = r#"while read line; do echo '{"module": "0123456789abcdef", "plans": [{"func": 2, "decisions": []}]}'; done"#;
    one_warning(&hot(&["--policy-exec", foreign], &program), "plans ignored: its answer is for module 0123456789abcdef, not ");
    // Nonsense that is well-formed.
    let nonsense = r#"while read line; do echo '{"plans": [{"func": 2, "decisions": [{"inline": {"offset": 1, "targets": [{"callee": 9}]}},
        {"prefetch": {"offset": 4294967295, "kind": "indirect", "distance": 0}}]}, {"func": 99, "decisions": []}]}' | tr -d '\n'; echo; done"#;
    assert_eq!(hot(&["--policy-exec", nonsense], &program), "");
}

#[test]
fn a_profile_is_carried_to_the_next_process() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let profile = files.path("profile");
    // The first of a series: there is none yet.
    assert_eq!(hot(&["--no-trial", "--profile-use", &profile, "--profile-save", &profile], &program), "");
    assert_eq!(std::fs::metadata(&profile).unwrap().permissions().mode() & 0o777, 0o600);
    let (out, _) = expect(0, &["profile", "show", &profile]);
    assert!(out.contains("inline at 0x"), "{out}");
    // The next one compiles at once what was hot, to the plans that were in force, though nothing becomes hot now.
    let plan = files.path("plan.json");
    let mut args = vec!["run", "-C", "cache=n", "--profile-use", &profile, "--save-plan", &plan, "--invoke", "run", &program, "3"];
    let (out, err) = expect(0, &args);
    assert_eq!((out.as_str(), err.as_str()), ("3\n", ""));
    assert!(inlined(&files.json("plan.json")) > 0, "{}", files.read("plan.json"));
    // What is forbidden is so to a profile too, and to a plan file.
    let report = files.path("report.json");
    let to = format!("--report=json,{report}");
    for given in [["--profile-use", &profile], ["--plan", &plan]] {
        hot(&[&given[..], &["--forbid", "inline,inline-direct", "--no-trial", &to]].concat(), &program);
        let functions = files.json("report.json")["functions"].clone();
        let all = functions.as_array().unwrap();
        let decided = all.iter().flat_map(|it| it["versions"].as_array().unwrap()).flat_map(|it| it["decisions"].as_array().unwrap());
        assert_eq!(decided.filter(|it| !it["inline"].is_null()).count(), 0, "{given:?}");
        let refused = |it: &Value| it["transformation"] == "inline" && it["reason"] == "forbidden";
        assert!(all.iter().flat_map(|it| it["refusals"].as_array().unwrap()).any(refused), "{given:?}");
    }
    // Without it not.
    args.drain(3..5);
    expect(0, &args);
    assert_eq!(inlined(&files.json("plan.json")), 0);
}

/// Nothing is silent: who asks why a plan is not tried finds that it lost.
#[test]
fn what_lost_in_an_earlier_process_is_said() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let profile = files.path("profile");
    hot(&["--no-trial", "--profile-save", &profile], &program);
    let mut saved = SavedProfile::from_bytes(&std::fs::read(&profile).unwrap()).unwrap();
    let inlined = |it: &Decision| matches!(it, Decision::Inline(_));
    let won = saved.compiled.iter().find_map(|it| Some((it.func, it.decisions.iter().find(|it| inlined(it))?.clone())));
    let (func, decision) = won.expect("its one call is inlined");
    let title = decision.title();
    saved.compiled.clear();
    saved.lost.push(SavedLoss { func, decision });
    std::fs::write(&profile, saved.to_bytes()).unwrap();
    let (out, _) = expect(0, &["profile", "show", &profile]);
    assert!(out.contains(&format!("function {func}: a trial took back\n  {title}")), "{out}");
    let report = files.path("report");
    hot(&["--forbid", "inline-direct", "--profile-use", &profile, &format!("--report=text,{report}")], &program);
    let said = |text: &str, what: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").contains(what);
    let expected = "a trial of an earlier process took it back; it is tried again when its numbers change";
    // Where its numbers did change, or it is part of another question, its trial is there.
    let tried = |text: &str| said(text, &format!("{} (version", title.split(':').next().unwrap()));
    let told = files.read("report");
    assert!(said(&told, &format!("not tried: {title}: {expected}")) || tried(&told), "{told}");
    let args = ["explain", "-C", "cache=n", "--hot-threshold", THRESHOLD, "--forbid", "inline-direct", "--profile-use", &profile];
    let (out, _) = expect(0, &[&args[..], &["--invoke", "run", &program, ROUNDS]].concat());
    assert!(said(&out, &format!("not tried: {expected}")) || tried(&out), "{out}");
}

#[test]
fn a_profile_that_does_not_fit_is_a_line() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let profile = files.path("profile");
    hot(&["--profile-save", &profile], &program);
    let bytes = std::fs::read(&profile).unwrap();
    let mut damaged = bytes.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    let stale = String::from_utf8(bytes.clone()).unwrap().replacen("profile 1 ", "profile 9 ", 1);
    let cases = [
        (files.write("damaged", damaged), "profile ignored: `"),
        (files.write("cut", &bytes[..bytes.len() / 3]), "damaged: its checksum is wrong"),
        (files.write("stale", stale), "a profile of format 9, this is format 1"),
        (files.write("text", "dear diary"), "not a backedge profile"),
    ];
    for (path, part) in &cases {
        one_warning(&hot(&["--profile-use", path], &program), part);
    }
    let other = files.write("other.wat", HOT.replace("$hot", "$other"));
    one_warning(&hot(&["--profile-use", &profile], &other), "profile refused: `");
    let (_, err) = expect(1, &["run", "--profile-use", "/no/such/profile", "--invoke", "run", &program, "1"]);
    assert!(err.starts_with("error: no such file"), "{err}");
}

#[test]
fn values_of_the_guest_are_kept_only_on_request() {
    let files = Files::new();
    // Parameter 1 is always 77,123.
    let text =
        HOT.replace("(call $work (local.get 1) (i32.const 0))", "(call $work (local.get 1) (i32.sub (i32.const 77123) (i32.const 77123)))");
    let text = text.replace(
        "(func $one (param i32)",
        "(func $secret (param i32) (result i32) (local i32) (loop (nop)) (select (i32.const 1) (i32.const 0) (i32.eq (local.get 0) (i32.const 77123))))\n(func $one (param i32)",
    );
    let text = text.replace("(local.set 1 (call $work", "(drop (call $secret (i32.const 77123))) (local.set 1 (call $work");
    let program = files.write("secret.wat", text);
    hot(&["--profile-save", &files.path("targets")], &program);
    hot(&["--profile-save", &files.path("all"), "--record-values", "all"], &program);
    assert!(!files.read("targets").contains("77123"));
    assert!(files.read("all").contains("77123"));
}

#[test]
fn what_was_learnt_goes_into_the_module() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let (profile, hinted, json) = (files.path("profile"), files.path("hinted.wasm"), files.path("hints.json"));
    hot(&["--profile-save", &profile], &program);
    expect(0, &["profile", "export", &program, &profile, "-o", &hinted, "--json", &json]);
    let module = std::fs::read(&hinted).unwrap();
    assert!(module.windows(26).any(|bytes| bytes == b"metadata.code.call_targets"));
    let hints = files.json("hints.json");
    assert!(hints["hints"].as_array().unwrap().iter().any(|prior| !prior["call_targets"].as_array().unwrap().is_empty()), "{hints}");
    // The copy runs, and begins with what its sections say: they show in what explains it.
    hot(&[], &hinted);
    let (out, _) = expect(0, &["explain", "--hot-threshold", THRESHOLD, "--invoke", "run", &hinted, ROUNDS]);
    assert!(out.contains("call-target (hint): callees and percent [(0, "), "{out}");
    let (_, err) = expect(1, &["profile", "export", &hinted, &profile, "-o", &files.path("again.wasm")]);
    assert!(err.contains("a profile of module "), "{err}");
}

#[test]
fn tables_are_csv_and_json_lines_of_the_same_rows() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let folder = files.path("tables");
    hot(&["--no-trial", "--export", &folder], &program);
    for name in ["records", "sites", "versions", "trials", "blocks", "decisions"] {
        let csv = files.read(&format!("tables/{name}.csv"));
        let lines = files.read(&format!("tables/{name}.jsonl"));
        assert!(lines.lines().count() > 0 || ["trials", "blocks"].contains(&name), "{name}");
        assert_eq!(csv.lines().count(), lines.lines().count() + 1, "{name}");
        let columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        for line in lines.lines() {
            let row: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
            assert!(row.len() == columns.len() && columns.iter().all(|&column| row.contains_key(column)), "{name}: {line}");
        }
    }
    assert!(files.read("tables/records.jsonl").contains(r#""class":"call-target""#));
    let of = |name: &str| -> Vec<Value> {
        files
            .read(&format!("tables/{name}.jsonl"))
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok()?.get("version").cloned())
            .collect()
    };
    let versions = of("versions");
    assert!(of("records").iter().all(|version| version.is_null() || versions.contains(version)), "of code that was made, or of none");
    for refusal in files.read("tables/decisions.jsonl").lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        if refusal["reason"] == "no-dominant-value" || refusal["reason"] == "no-dominant-target" {
            assert!(refusal["samples"].is_u64() && refusal["share"].is_f64() && refusal["needed"].is_f64(), "{refusal}");
        }
        if refusal["transformation"] == "specialize" && refusal["done"] == false {
            assert!(refusal["text"].as_str().unwrap().contains("specialize parameter "), "{refusal}");
        }
    }
    let decisions = files.read("tables/decisions.csv");
    assert!(decisions.contains(",inline,policy,true,"), "{decisions}\n{}", files.read("tables/versions.csv"));
}

/// Until it is so, or for a minute.
fn wait_for(mut it_is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !it_is_so() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_would_have_no_effect_is_a_mistake() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let (out, plan) = (files.path("out"), files.write("plan.json", "{\"plans\": []}"));
    let records = files.path("records");
    expect(0, &["run", "--lwp-record", &records, "--invoke", "run", &program, "1000"]);
    let report = format!("--report=json,{out}");
    for option in [
        &[report.as_str()][..],
        &["--export", &out],
        &["--save-plan", &out],
        &["--profile-save", &out],
        &["--profile-use", &out],
        &["--lwp-record", &out],
        &["--trace", &out],
        &["--profile=guest"],
        &["--plan", &plan],
        &["--no-feedback"],
        &["--tier", "baseline"],
    ] {
        let (_, err) = expect(2, &[&["explain", "--replay", &records], option, &[&program]].concat());
        assert!(err.contains("--replay runs nothing"), "{option:?}: {err}");
    }
    for option in ["--export", "--profile-save", "--lwp-record"] {
        let (_, err) = expect(2, &["run", "--tier", "baseline", option, &out, "--invoke", "run", &program, "1"]);
        assert!(err.contains(&format!("{option} needs --tier auto")), "{err}");
    }
    let (_, err) = expect(2, &["run", "--record-values", "all", "--invoke", "run", &program, "1"]);
    assert!(err.contains("--profile-save"), "{err}");
    let (_, err) = expect(2, &["accuracy", "--export", &out, "--invoke", "run", &program, "1"]);
    assert!(err.contains("runs the program twice"), "{err}");
    assert!(!std::path::Path::new(&out).exists());
    // What is no plan, and a number that is none of percent, are named as such.
    let module = files.write("t.wasm", b"\0asm\x01\0\0\0\xff");
    let (_, err) = expect(1, &["run", "--plan", &module, &program]);
    assert!(err.contains("t.wasm` is not a plan file: it is no text"), "{err}");
    let (_, err) = expect(2, &["run", "--feedback-budget", "-1", &program]);
    assert!(err.contains("expected a percentage from 0 to 100"), "{err}");
}

#[test]
fn names_do_not_reach_the_terminal_as_commands() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT.replace("(func $work", r#"(func $work (@name "\1b[2Jwork\nfault")"#));
    // (a line is one line, too)
    let escaped = r"\u001b[2Jwork\u000afault";
    let err = hot(&["--report"], &program);
    assert!(err.contains(escaped) && !err.contains('\u{1b}'), "{err}");
    for args in
        [&["inspect"][..], &["dump", "--stage", "wasm", "--func", "2"], &["explain", "-C", "cache=n", "--func", "2", "--invoke", "run"]]
    {
        let rounds = if args[0] == "explain" { &["100000"][..] } else { &[] };
        let (out, _) = expect(0, &[args, &[&program], rounds].concat());
        assert!(out.contains(escaped) && !out.contains('\u{1b}'), "{out}");
    }
}

/// A signal ends the guest; what was seen until then is explained.
#[test]
fn an_interrupted_explanation_is_of_the_run_so_far() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT.replace("(br_if $next (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))", "(br $next)"));
    let records = files.path("records");
    let mut command = Command::new(env!("CARGO_BIN_EXE_backedge"));
    command.args(["explain", "--hot-threshold", THRESHOLD, "--lwp-record", &records, "--invoke", "run", &program, "1"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(|| std::fs::metadata(&records).is_ok_and(|file| file.len() > 0));
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    wait_for(|| child.try_wait().unwrap().is_some());
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(130), "{out}{err}");
    assert!(out.starts_with("module hot ") && err.contains("interrupted"), "{out}{err}");
}

/// A signal in the middle of a run without end. (Not SIGINT: who runs the tests in the background has it ignored, and then it stays so.)
#[test]
fn an_interrupted_run_leaves_what_it_saw() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT.replace("(br_if $next (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))", "(br $next)"));
    let (report, records) = (files.path("report.json"), files.path("records"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_backedge"));
    command.args(["run", "--hot-threshold", THRESHOLD, "--lwp-record", &records, &format!("--report=json,{report}")]);
    let mut child = command.args(["--invoke", "run", &program, "1"]).stderr(Stdio::piped()).spawn().unwrap();
    // (records are written once something was hot: it runs, then, and signals are waited for)
    wait_for(|| std::fs::metadata(&records).is_ok_and(|file| file.len() > 0));
    std::thread::sleep(Duration::from_millis(300));
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    wait_for(|| child.try_wait().unwrap().is_some());
    // (no more than what is over already)
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), err.as_str()), (Some(130), "error: interrupted; what was to be written is of the run so far\n"));
    assert!(!files.json("report.json")["functions"].as_array().unwrap().is_empty());
    assert!(expect(0, &["lwp", "decode", &records]).0.contains("hot"), "the records are whole");
}

#[test]
fn a_place_that_is_not_there_is_known_before_the_run() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    for option in ["--save-plan", "--profile-save"] {
        let (out, err) = expect(1, &["run", option, &files.path("no/such/file"), "--invoke", "run", &program, "1"]);
        assert!(out.is_empty() && err.contains("there is no such directory") && err.lines().count() == 1, "{err}");
    }
}

#[test]
fn two_outputs_do_not_go_to_one_file() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let one = files.path("one");
    let report = format!("--report=json,{one}");
    for other in ["--save-plan", "--profile-save", "--lwp-record", "--trace"] {
        let (_, err) = expect(2, &["run", &report, other, &one, "--invoke", "run", &program, "1"]);
        assert!(err.contains("two outputs go to `"), "{other}: {err}");
    }
    let elsewhere = files.path("folder/../one");
    std::fs::create_dir(files.path("folder")).unwrap();
    for (other, named) in [("--trace", elsewhere), ("--export", files.path("folder"))] {
        let report = if other == "--export" { format!("--report=json,{}", files.path("folder/sites.csv")) } else { report.clone() };
        let (_, err) = expect(2, &["run", &report, other, &named, "--invoke", "run", &program, "1"]);
        assert!(err.contains("two outputs go to `"), "{other}: {err}");
    }
    expect(0, &["run", "--report=json,/dev/null", "--save-plan", "/dev/null", "--invoke", "run", &program, "1"]);
}

#[test]
fn what_is_read_is_not_written() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let other = files.write("other", "{}");
    std::fs::hard_link(&other, files.path("link")).unwrap();
    let (report, link) = (format!("--report=json,{other}"), files.path("link"));
    let replay = format!("replay={link}");
    let refused = |args: &[&str]| {
        let (_, err) = expect(2, args);
        assert!(err.contains("` is what is read"), "{args:?}: {err}");
    };
    for output in ["--trace", "--lwp-record", "--save-plan", "--profile-save"] {
        refused(&["run", output, &program, "--invoke", "run", &program, "1"]);
    }
    for input in [["--plan", &link], ["--budgets", &link], ["--profile-use", &link], ["--source", &replay]] {
        refused(&["run", input[0], input[1], &report, "--invoke", "run", &program, "1"]);
    }
    refused(&["compile", &program, "-o", &program]);
    refused(&["bench-report", &other, "--html", &link]);
    refused(&["profile", "export", &program, &other, "-o", &link]);
    assert_eq!([files.read("hot.wat").as_str(), files.read("other").as_str()], [HOT, "{}"]);
    // A profile is handed on.
    let profile = files.path("profile");
    for _ in 0..2 {
        expect(0, &["run", "--profile-use", &profile, "--profile-save", &profile, "--invoke", "run", &program, "1000"]);
    }
}

#[test]
fn an_event_source_that_is_not_there_is_a_mistake() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let (_, err) = expect(2, &["run", "--event-source", "everything", "--invoke", "run", &program, "1"]);
    assert!(err.contains("no such source; known: "), "{err}");
}

#[test]
fn budgets_come_from_a_file() {
    let files = Files::new();
    let program = files.write("hot.wat", HOT);
    let budgets = files.write("budgets.json", r#"{"max_inlined_bytes": 1}"#);
    let plan = files.path("plan.json");
    hot(&["--budgets", &budgets, "--save-plan", &plan], &program);
    assert_eq!(inlined(&files.json("plan.json")), 0);
    let wrong = files.write("wrong.json", "[1]");
    let (_, err) = expect(1, &["run", "--budgets", &wrong, &program]);
    assert!(err.contains("holds no budgets"), "{err}");
}
