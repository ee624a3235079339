//! The fuzzer finds bugs that are there: the worker runs with a compiler that is wrong on purpose, and must say so.
//!
//! Seeds are fixed and cases are counted, not timed: the figures say how many modules it takes. A minute has some 1,500 on one CPU, unoptimized.

use std::process::Command;

/// Runs cases with a bug compiled in; the configurations that were found to differ.
fn findings(sabotage: &str, only: &str, cases: u64) -> Vec<String> {
    let out = tempfile::tempdir().expect("a scratch folder");
    let output = Command::new(env!("CARGO_BIN_EXE_fuzz"))
        .args(["worker", "--seed", "1", "--first", "0", "--step", "1", "--cases", &cases.to_string()])
        .args(["--only", only, "--sabotage", sabotage, "--out"])
        .arg(out.path())
        .output()
        .expect("the worker runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().filter_map(|line| line.strip_prefix("finding ")).map(str::to_owned).collect()
}

#[test]
fn a_wrong_shift_is_found() {
    for tier in ["tier1", "tier2"] {
        let found = findings("signed-shift", tier, 400);
        assert!(found.iter().any(|line| line.starts_with(tier)), "{tier}: {found:?}");
    }
}

#[test]
fn an_open_guard_is_found() {
    let found = findings("open-guard", "tier2-plans", 80);
    assert!(found.iter().any(|line| line.starts_with("tier2-plans")), "{found:?}");
}

#[test]
fn without_a_bug_nothing_is_found() {
    for configuration in ["tier1", "tier2-plans", "osr"] {
        assert_eq!(findings_none(configuration), Vec::<String>::new());
    }
}

fn findings_none(configuration: &str) -> Vec<String> {
    let out = tempfile::tempdir().expect("a scratch folder");
    let output = Command::new(env!("CARGO_BIN_EXE_fuzz"))
        .args(["run", "--seed", "1", "--cases", "40", "--jobs", "1", "--minutes", "10", "--only", configuration, "--out"])
        .arg(out.path())
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    std::fs::read_dir(out.path()).expect("the folder").map(|entry| entry.expect("an entry").path().display().to_string()).collect()
}
