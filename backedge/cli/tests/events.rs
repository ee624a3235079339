//! `--events`, `--source`, `lwp decode --drop`, `accuracy`: what may be recorded, where it comes from, and what follows from what.

use serde_json::Value;
use std::collections::BTreeMap;
use std::process::{Command, Output, Stdio};

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
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

fn kernel(name: &str) -> String {
    format!("{}/../../bench-programs/programs/{name}/{name}.wasm", env!("CARGO_MANIFEST_DIR"))
}

/// Records of a file by event.
fn events_in(records: &str) -> BTreeMap<String, usize> {
    let (out, _) = expect(0, &["lwp", "decode", records]);
    let mut events = BTreeMap::new();
    // Where the machine was busy a ring may have missed some, which has a line of its own.
    for line in out.lines().filter(|line| !line.ends_with(" missed")).filter_map(|line| line.strip_prefix("ring ")) {
        if let Some(event) = line.split(": ").nth(1).and_then(|rest| rest.split_whitespace().next()) {
            *events.entry(event.to_owned()).or_default() += 1;
        }
    }
    events
}

/// Runs a kernel with its records saved, until bursts have seen something; the record file.
fn record(files: &Files, name: &str, args: &[&str], options: &[&str]) -> String {
    let to = files.path(&format!("{name}.lwp"));
    let program = kernel(name);
    let mut all = vec!["run", "-C", "cache=n", "--no-feedback", "--feedback-budget", "20", "--lwp-record", &to];
    all.extend(options);
    all.push(&program);
    all.extend(args);
    let (out, _) = expect(0, &all);
    assert!(out.starts_with("ok "), "{out}");
    to
}

/// What the policy answers, by (function, operator, transformation): whether it decided, and with which numbers.
fn answers(records: &str, module: &str) -> BTreeMap<(String, String, String), (bool, String)> {
    let (out, _) = expect(0, &["explain", "--replay", records, "--json", module]);
    let explained: Value = serde_json::from_str(&out).unwrap();
    let mut answers = BTreeMap::new();
    for function in explained["functions"].as_array().unwrap() {
        for operator in function["operators"].as_array().unwrap() {
            for answer in operator["answers"].as_array().unwrap() {
                let key = (
                    function["function"].to_string(),
                    operator["offset"].to_string(),
                    answer["transformation"].as_str().unwrap().to_owned(),
                );
                answers.insert(key, (answer["decided"] == true, answer.to_string()));
            }
        }
    }
    answers
}

/// The decisions among them.
fn decided(answers: &BTreeMap<(String, String, String), (bool, String)>) -> BTreeMap<(String, String, String), String> {
    answers.iter().filter(|(_, (decided, _))| *decided).map(|(key, (_, text))| (key.clone(), text.clone())).collect()
}

/// What rests on event 3: whether branches are predicted, and which way they mostly go.
const OF_BRANCHES: [&str; 3] = ["branch-to-select", "select-to-branch", "layout"];

#[test]
fn without_an_event_exactly_the_plans_that_rest_on_it_are_gone() {
    let files = Files::new();
    let mut ever = BTreeMap::<String, usize>::new();
    let kernels: [(&str, &[&str]); 5] = [
        ("branch_arms", &["0", "200000", "600"]),
        ("select_chain", &["0", "200000", "1000"]),
        ("gather", &["0", "262144", "6"]),
        ("partition", &["0", "200000", "600"]),
        ("indirect_call", &["0", "400000000"]),
    ];
    for (name, args) in kernels {
        let (module, records) = (kernel(name), record(&files, name, args, &[]));
        let all = decided(&answers(&records, &module));
        all.keys().for_each(|key| *ever.entry(key.2.clone()).or_default() += 1);
        for (event, gone) in [("3", &OF_BRANCHES[..]), ("4", &["prefetch"][..])] {
            let dropped = files.path(&format!("{name}-{event}.lwp"));
            let (out, _) = expect(0, &["lwp", "decode", "--drop", event, "--output", &dropped, &records]);
            assert_eq!(out, "");
            let left = decided(&answers(&dropped, &module));
            let mut expected = all.clone();
            expected.retain(|key, _| !gone.contains(&key.2.as_str()));
            assert_eq!(left, expected, "{name} without event {event}");
        }
        // Replayed, the same file makes the same plans byte for byte.
        let replay = || expect(0, &["lwp", "replay", "--module", &module, &records]).0;
        assert_eq!(replay(), replay());
    }
    assert!(ever.contains_key("branch-to-select") && ever.contains_key("prefetch") && ever.contains_key("inline"), "{ever:?}");
}

#[test]
fn only_listed_events_are_recorded_and_only_their_probes_placed() {
    let files = Files::new();
    let of = |events: &str, name: &str, args: &[&str]| {
        let records = record(&files, name, args, &["--events", events]);
        let answers = answers(&records, &kernel(name));
        (events_in(&records), answers)
    };
    let (events, answers) = of("1,255", "indirect_call", &["0", "400000000"]);
    assert_eq!(events.keys().collect::<Vec<_>>(), ["lwpins", "lwpval"], "{events:?}");
    assert!(answers.iter().all(|(key, answer)| !answer.0 || !OF_BRANCHES.contains(&key.2.as_str()) && key.2 != "prefetch"), "{answers:?}");
    let (events, _) = of("branch,lwpins", "branch_arms", &["0", "200000", "600"]);
    assert_eq!(events.keys().collect::<Vec<_>>(), ["branch", "lwpins"], "{events:?}");
    // No probe that is not asked for: the same bursts time no load.
    let report = files.path("report.json");
    let program = kernel("gather");
    let options = ["--events", "1,3,255", "--feedback-budget", "20", &format!("--report=json,{report}")].map(str::to_owned);
    let mut args = vec!["run", "-C", "cache=n"];
    args.extend(options.iter().map(String::as_str));
    args.extend([program.as_str(), "0", "262144", "4"]);
    expect(0, &args);
    let report: Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    assert!(report["bursts"]["branch_bursts"].as_u64() > Some(0) && report["bursts"]["load_bursts"] == 0, "{}", report["bursts"]);
    let (_, err) = expect(2, &["run", "--events", "1,7", &program]);
    assert!(err.contains("no event `7`"), "{err}");
    // Without LWPINS nothing moves up, and that is said.
    let (out, err) = expect(0, &["run", "-C", "cache=n", "--events", "1", &program, "0", "1000", "1"]);
    assert!(out.starts_with("ok ") && err.lines().count() == 1 && err.contains("255"), "{err}");
}

#[test]
fn sources_that_are_not_here_are_refused_in_one_line() {
    let program = kernel("fib");
    let run = |source: &str| backedge(&["run", "-C", "cache=n", "--source", source, &program, "0", "20", "1"]);
    let native = run("native");
    let err = String::from_utf8(native.stderr).unwrap();
    if lwp_feedback::native::available() {
        assert_eq!(native.status.code(), Some(0), "{err}");
    } else {
        assert_eq!((native.status.code(), err.lines().count()), (Some(2), 1), "{err}");
        assert!(err.contains("--source native") && (err.contains("CPUID") || err.contains("XCR0")), "{err}");
    }
    for (source, part) in [("replay", "replay=FILE"), ("magic", "no source `magic`"), ("replay=/nowhere", "no such file")] {
        let output = run(source);
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() != Some(0) && err.contains(part), "{source}: {err}");
    }
}

#[test]
fn a_run_from_replayed_records_carries_out_the_plans_that_replay_prints() {
    let files = Files::new();
    let records = record(&files, "partition", &["0", "200000", "400"], &[]);
    let program = kernel("partition");
    let (replayed, _) = expect(0, &["lwp", "replay", "--module", &program, &records]);
    let saved = |nth: u32| {
        let to = files.path(&format!("plan{nth}.json"));
        let source = format!("replay={records}");
        let (out, _) =
            expect(0, &["run", "-C", "cache=n", "--no-trial", "--source", &source, "--save-plan", &to, &program, "0", "200000", "800"]);
        assert!(out.starts_with("ok "), "{out}");
        std::fs::read_to_string(to).unwrap()
    };
    let first = saved(1);
    assert_eq!(first, saved(2), "byte for byte");
    let plans: Value = serde_json::from_str(&first).unwrap();
    let mut branches = 0;
    for plan in plans["plans"].as_array().unwrap() {
        for decision in plan["decisions"].as_array().unwrap() {
            let (name, what) = decision.as_object().unwrap().iter().next().unwrap();
            branches += usize::from(name == "branch-to-select");
            let offset = what["offset"].as_u64().unwrap();
            assert!(replayed.contains(&format!("{offset:#x}")), "{name} at {offset:#x} is not in\n{replayed}");
        }
    }
    assert!(branches > 0, "{first}");
}

#[test]
fn the_same_kernel_on_every_source_gives_the_same_result() {
    let files = Files::new();
    let program = kernel("indirect_call");
    let mut results = Vec::new();
    for source in ["inline", "perf", "trap"] {
        let report = files.path(&format!("{source}.json"));
        // (templates run a million rounds before the first compile is over)
        let rounds = "20000000";
        let to = format!("--report=json,{report}");
        let (out, err) = expect(0, &["run", "-C", "cache=n", "--hot-threshold", "2000", "--source", source, &to, &program, "0", rounds]);
        // Where there is no PMU it says so.
        let warned = source == "perf" && err.starts_with("warning: --source perf: ") && err.lines().count() == 1;
        assert!(err.is_empty() || warned, "{source}: {err}");
        let report: Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
        assert!(report["monitor"]["records"].as_u64() > Some(100), "{source}: {}", report["monitor"]);
        if source == "perf" {
            assert_eq!((&report["bursts"]["branch_bursts"], &report["bursts"]["load_bursts"]), (&0.into(), &0.into()));
            assert!(report["bursts"]["cost_percent"].as_f64() > Some(0.0), "the monitor has its cost without bursts, too");
        }
        results.push(out);
    }
    assert!(results.iter().all(|result| *result == results[0]));
}

#[test]
fn instructions_are_exact_in_the_interpreter_and_estimated_in_compiled_code() {
    let files = Files::new();
    // Two operators, and then six a round.
    let program = files.path("rounds.wat");
    let text = |rounds: u32| {
        format!(
            "(module (func (export \"_start\") (local i32) (local.set 0 (i32.const {rounds}))
              (loop (local.set 0 (i32.sub (local.get 0) (i32.const 1))) (br_if 0 (local.get 0)))))"
        )
    };
    let counted = |tier: &str, rounds: u32, records: &str| {
        std::fs::write(&program, text(rounds)).unwrap();
        let (report, events) = (files.path("report.json"), "1,2,255");
        let to = format!("--report=json,{report}");
        // Code that is pinned to a tier leaves no records.
        let record: &[&str] = if tier == "auto" { &["--lwp-record", records] } else { &[] };
        expect(0, &[&["run", "-C", "cache=n", "--tier", tier, "--events", events], record, &[&to, &program]].concat());
        let report: Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
        report["instructions"].clone()
    };
    let records = files.path("records.lwp");
    let interpreted = counted("interp", 10_000, &records);
    assert_eq!((&interpreted["interpreter"]["operators"], &interpreted["interpreter"]["provenance"]), (&60_002.into(), &"exact".into()));
    assert_eq!(interpreted["compiled"]["operators"], 0);
    let compiled = counted("optimizing", 10_000, &records);
    assert_eq!((&compiled["compiled"]["operators"], &compiled["compiled"]["provenance"]), (&60_002.into(), &"estimated".into()));
    assert_eq!(compiled["interpreter"]["operators"], 0);
    // In all tiers together, with a record every 2^20 on average.
    let rounds = 20_000_000;
    let both = counted("auto", rounds, &records);
    let all = both["interpreter"]["operators"].as_u64().unwrap() + both["compiled"]["operators"].as_u64().unwrap();
    let expected = u64::from(rounds) * 6 + 2;
    assert!(all.abs_diff(expected) < 1000, "{both}, not {expected}");
    let events = events_in(&records);
    assert!(events.get("instructions").is_some_and(|count| (100..130).contains(count)), "{events:?}");
    // Nobody counts unless asked to.
    let report = files.path("report.json");
    expect(0, &["run", "-C", "cache=n", &format!("--report=json,{report}"), &program]);
    let report: Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    assert!(report.get("instructions").is_none());
}

#[test]
fn the_bias_of_loads_between_fences_is_measured() {
    let (out, _) = expect(0, &["lwp", "bias", "--json"]);
    let bias: Value = serde_json::from_str(&out).unwrap();
    let missed: BTreeMap<&str, f64> = bias["patterns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["pattern"].as_str().unwrap(), it["missed_percent"].as_f64().unwrap()))
        .collect();
    assert_eq!(missed.len(), 6, "{out}");
    // Every load of a chain through 256 MiB comes from far; of consecutive words one in eight can, and the prefetcher has all the time it needs.
    assert!(missed["chain of pointers"] > 90.0 && missed["every word"] < 25.0, "{out}");
    let (text, _) = expect(0, &["lwp", "bias"]);
    assert!(text.contains("gather") && text.contains("latency/cost"), "{text}");
}

#[test]
fn clocks_record_where_the_time_goes() {
    let files = Files::new();
    let records = record(&files, "matmul", &["0", "200", "40"], &["--events", "1,5,6,255", "--clock-interval", "1us"]);
    let events = events_in(&records);
    assert!(events.get("core-clocks").is_some_and(|&count| count > 5) && events.contains_key("ref-clocks"), "{events:?}");
    assert!(!events.contains_key("branch"), "{events:?}");
}

#[test]
fn accuracy_compares_samples_with_exact_counts() {
    let program = kernel("branch_arms");
    // Each round has 100,000 random branches. On a busy machine a run of 300, 0.1 s, can end before its first burst; then a longer one is asked.
    let accuracy = |rounds: &str| -> Value {
        let (out, _) = expect(0, &["accuracy", "--json", "-C", "cache=n", "--feedback-budget", "20", &program, "0", "100000", rounds]);
        serde_json::from_str(&out).unwrap()
    };
    let event_of = |answer: &Value, id: u64| answer["events"].as_array().unwrap().iter().find(|it| it["event"] == id).unwrap().clone();
    let mut answer = accuracy("300");
    if event_of(&answer, 3)["overlap"].is_null() {
        answer = accuracy("1000");
    }
    assert_eq!(answer["dropped"], 0, "{answer}");
    let event = |id| event_of(&answer, id);
    let branches = event(3);
    assert!(branches["events"].as_u64() > Some(30_000_000), "each of 300 rounds has 100,000 random branches: {answer}");
    assert!(branches["overlap"].as_f64() > Some(70.0) && branches["overlap"].as_f64() <= Some(100.0), "{answer}");
    assert!(event(4)["events"].is_u64() && event(1)["events"].is_u64());
    // What says how often each ran are bursts that only count: in a run of 2 s, so that a busy machine comes to them.
    let files = Files::new();
    let report = files.path("report.json");
    let options = ["--feedback-budget", "20", &format!("--report=json,{report}"), &program, "0", "100000", "15000"].map(str::to_owned);
    let mut args = vec!["run", "-C", "cache=n"];
    args.extend(options.iter().map(String::as_str));
    expect(0, &args);
    let report: Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    assert!(report["bursts"]["count_bursts"].as_u64() > Some(0), "{}", report["bursts"]);
    let (text, _) = expect(0, &["accuracy", "-C", "cache=n", &program, "0", "1000", "3"]);
    assert!(text.contains("overlap") && text.contains("3 branch"), "{text}");
}

/// A frame that a callee takes over has no return, and only what is called indirectly is a branch.
#[test]
fn a_tail_call_is_one_branch_where_it_is_indirect_and_none_where_it_is_direct() {
    let files = Files::new();
    let (program, full) = (files.path("tail.wat"), files.path("full.json"));
    let text = r#"(module (type $t (func (param i32) (result i32))) (table 2 funcref) (elem (i32.const 0) $a $b)
         (func $a (param i32) (result i32) (local.get 0))
         (func $b (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))
         (func $indirect (param i32) (result i32)
           (return_call_indirect (type $t) (local.get 0) (i32.and (local.get 0) (i32.const 1))))
         (func $direct (param i32) (result i32) (return_call $a (local.get 0)))
         (func (export "f") (param $n i32) (result i32) (local $i i32) (local $sum i32)
           (loop $l (local.set $sum (i32.add (call $indirect (local.get $i)) (call $direct (local.get $i))))
             (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n)))) (local.get $sum)))"#;
    std::fs::write(&program, text).unwrap();
    expect(0, &["accuracy", "--json", "-C", "cache=n", "--full", &full, "--invoke", "f", &program, "1000"]);
    let counted: Value = serde_json::from_str(&std::fs::read_to_string(&full).unwrap()).unwrap();
    let mut branches: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for branch in counted["counts"]["branches"].as_array().unwrap() {
        branches.entry(branch[0][1].as_u64().unwrap()).or_default().push(branch[1].as_u64().unwrap());
    }
    // The returns of both callees, the indirect call, the loop's back edge and the end.
    let expected = [(0, vec![1500]), (1, vec![500]), (2, vec![1000]), (4, vec![1000, 1])];
    assert_eq!(branches, BTreeMap::from(expected));
}

#[test]
fn accuracy_keeps_the_counts_of_the_full_run() {
    let program = kernel("branch_arms");
    let files = Files::new();
    let full = files.path("full.json");
    let accuracy =
        |code: i32, rounds: &str| expect(code, &["accuracy", "--json", "-C", "cache=n", "--full", &full, &program, "0", "1000", rounds]);
    let answer = |rounds: &str| -> Value { serde_json::from_str(&accuracy(0, rounds).0).unwrap() };
    let (first, second) = (answer("3"), answer("3"));
    // To the last digit, so it was not run again.
    assert_eq!(first["full_ms"], second["full_ms"]);
    let counted = |answer: &Value| answer["events"].as_array().unwrap().iter().map(|event| event["events"].clone()).collect::<Vec<_>>();
    assert_eq!(counted(&first)[..2], counted(&second)[..2]);
    let (_, err) = accuracy(1, "4");
    assert!(err.contains("counts of another run: its arguments") && err.lines().count() <= 2, "{err}");
    std::fs::write(&full, "{\"of\": 1}").unwrap();
    let (_, err) = accuracy(1, "3");
    assert!(err.contains("does not hold counts of a full run"), "{err}");
}
