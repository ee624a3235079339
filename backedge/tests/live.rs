//! From the first record to machine code, for each transformation: a program that gives it its reason, and the same program without. Nothing is planned by hand and nothing is tried: what records
//! lead to is carried out, and the report says what the compiler did. Whether that is faster is for trials and benchmarks.
//!
//! `prefetch` is not here: whether memory is slow is not this test's to say (`backedge/tests/bursts.rs` times loads, `bench-programs/optimizer.py cause` what rests on that).

mod common;
#[path = "common/rounds.rs"]
mod rounds;

use common::{Guest, engine};
use rounds::{RANDOM_BIT, rounds};
use std::time::{Duration, Instant};
use vm::engine::{Engine, EngineConfig, LoadedModule, TierPolicy};

/// What has to happen within this time, on a machine that runs other tests as well.
const PATIENCE: Duration = Duration::from_secs(90);
/// Where nothing is to happen: bursts of branches and of counts that are waited for, several times what plans come after.
const BURSTS: u64 = 300;
/// And time, for what comes after many bursts.
const LOOKED_AT: Duration = Duration::from_secs(2);
/// What must fire has longer: of a loaded machine's bursts many see something else.
const WAITED_FOR: Duration = Duration::from_secs(30);
const ROUNDS: u64 = 2_000_000;

/// How often the compiler carried out `transformation` in what was published of a function, or of any, and how many bursts there were.
fn done(engine: &Engine, loaded: &LoadedModule, transformation: &str, function: Option<&str>) -> (usize, u64) {
    engine.settle();
    let report = engine.report(loaded);
    let functions = report.functions.iter().filter(|it| function.is_none() || it.name.as_deref() == function);
    let versions = functions.flat_map(|function| &function.versions);
    let applied = versions.flat_map(|version| &version.applied).filter(|it| it.name == transformation && it.refused.is_none());
    (applied.count(), report.bursts.branch_bursts + report.bursts.count_bursts)
}

/// Runs a program until `transformation` was carried out, in a function or in any, or there is no hope; whether it was. Results are the interpreter's at every call.
fn fires(transformation: &str, function: Option<&str>, wat: &str, looked_at: Duration) -> bool {
    fires_without(&[], transformation, function, wat, looked_at)
}

/// The same, with some transformations forbidden.
fn fires_without(forbidden: &[&str], transformation: &str, function: Option<&str>, wat: &str, looked_at: Duration) -> bool {
    let interpreter = engine(EngineConfig { tier: TierPolicy::Interpreter, ..EngineConfig::default() });
    let expected = Guest::new(&interpreter, &interpreter.load(wat.as_bytes()).unwrap()).call("run", ROUNDS).unwrap();
    let mut config = EngineConfig { hot_interpreter: 50, hot_baseline: 1000, feedback_budget: 20.0, ..EngineConfig::default() };
    config.trials.enabled = false;
    config.budgets.forbid.extend(forbidden.iter().map(|&name| name.to_owned()));
    let engine = engine(config);
    let loaded = engine.load(wat.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{wat}"));
    let mut guest = Guest::new(&engine, &loaded);
    let began = Instant::now();
    loop {
        assert_eq!(guest.call("run", ROUNDS).unwrap(), expected, "{transformation}");
        let (times, bursts) = done(&engine, &loaded, transformation, function);
        if times > 0 {
            // What was compiled is what runs now.
            assert_eq!(guest.call("run", ROUNDS).unwrap(), expected, "{transformation}");
            return true;
        }
        if bursts >= BURSTS && began.elapsed() >= looked_at {
            return false;
        }
        assert!(began.elapsed() < PATIENCE, "{transformation}: {bursts} bursts in {PATIENCE:?}");
    }
}

/// `reason` fires, `control` does not.
fn check(transformation: &str, reason: &str, control: &str) {
    assert!(fires(transformation, None, reason, WAITED_FOR), "{transformation} was not carried out for {reason}");
    assert!(!fires(transformation, None, control, LOOKED_AT), "{transformation} was carried out for {control}");
}

const ADD_A: &str = "(local.set $a (i32.add (local.get $a) (local.get $x)))";
/// Once in 256 rounds.
const SELDOM: &str = "(i32.eqz (i32.and (i32.shr_u (local.get $x) (i32.const 9)) (i32.const 255)))";

/// A random number below a power of two.
fn random(below: u32) -> String {
    format!("(i32.and (i32.shr_u (local.get $x) (i32.const 9)) (i32.const {}))", below - 1)
}

/// Eight functions in a table, too large to be inlined without feedback.
fn table() -> String {
    table_of(6)
}

/// The same, of so many times the seven bytes of a multiplication and a rotation.
fn table_of(times: usize) -> String {
    let one = |add: u32| format!("(func $f{add} (param $v i32) (result i32) {} )", mixed("(local.get $v)", add + 7, times));
    let functions: String = (0..8).map(one).collect();
    format!("(type $t (func (param i32) (result i32))) (table 8 funcref) (elem (i32.const 0) $f0 $f1 $f2 $f3 $f4 $f5 $f6 $f7) {functions}")
}

/// A value that so many multiplications and rotations make of another.
fn mixed(value: &str, by: u32, times: usize) -> String {
    (0..times).fold(value.to_owned(), |value, _| format!("(i32.rotl (i32.mul {value} (i32.const {by})) (i32.const 5))"))
}

#[test]
fn indirect_calls_of_one_function_are_inlined() {
    let call = |index: &str| {
        rounds(&table(), &format!("(local.set $a (i32.add (local.get $a) (call_indirect (type $t) (local.get $x) {index})))"))
    };
    // (a constant index would be looked up by the compiler)
    check("inline-guarded", &call("(i32.shr_u (local.get $n) (i32.const 30))"), &call(&random(8)));
}

/// A resumable function, an operator's: what a scheduler calls by a table has hundreds of bytes.
#[test]
fn an_indirect_call_of_hundreds_of_bytes_is_inlined() {
    let call = |times| {
        let call =
            "(local.set $a (i32.add (local.get $a) (call_indirect (type $t) (local.get $x) (i32.shr_u (local.get $n) (i32.const 30)))))";
        rounds(&table_of(times), call)
    };
    check("inline-guarded", &call(60), &call(120));
}

#[test]
fn direct_calls_that_are_made_often_are_inlined() {
    let call = |times| {
        let callee = format!("(func $f (param $v i32) (result i32) {})", mixed("(local.get $v)", 40503, times));
        rounds(&callee, "(local.set $a (i32.add (local.get $a) (call $f (local.get $x))))")
    };
    // The other callee is larger than any that is inlined.
    check("inline-direct", &call(8), &call(120));
    assert!(fires("inline-direct", None, &call(60), WAITED_FOR));
}

/// What is inlined early is never optimized by itself; what records say of its calls is carried out in its copy.
#[test]
fn an_indirect_call_is_inlined_in_what_is_inlined_itself() {
    let call = |index: &str| {
        let callee = format!(
            "{} (func $work (param $v i32) (param $i i32) (result i32) (call_indirect (type $t) (local.get $v) (local.get $i)))",
            table()
        );
        rounds(&callee, &format!("(local.set $a (i32.add (local.get $a) (call $work (local.get $x) {index})))"))
    };
    assert!(fires("inline-guarded", Some("run"), &call("(i32.shr_u (local.get $n) (i32.const 30))"), WAITED_FOR));
    assert!(!fires("inline-guarded", None, &call(&random(8)), LOOKED_AT));
}

#[test]
fn a_parameter_that_is_always_the_same_is_specialized_for() {
    let callee = r#"(func $f (param $v i32) (param $times i32) (result i32) (local $s i32)
        (loop $l
          (local.set $s (i32.add (i32.rotl (local.get $s) (i32.const 3)) (i32.mul (local.get $v) (local.get $times))))
          (br_if $l (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))
        (local.get $s))
      (type $t (func (param i32 i32) (result i32))) (table 1 funcref) (elem (i32.const 0) $f)"#;
    let call = |times: &str| rounds(callee, &format!("(local.set $a (i32.add (local.get $a) (call $f (local.get $x) {times})))"));
    check(
        "specialize",
        &call("(i32.add (i32.shr_u (local.get $n) (i32.const 30)) (i32.const 4))"),
        &call(&format!("(i32.add {} (i32.const 1))", random(64))),
    );
}

#[test]
fn a_branch_that_is_mispredicted_becomes_a_select() {
    let branch = |condition: &str| rounds("", &format!("(if {condition} (then {ADD_A}))"));
    check("branch-to-select", &branch(RANDOM_BIT), &branch("(i32.and (local.get $n) (i32.const 1))"));
}

#[test]
fn a_select_that_rounds_wait_for_becomes_a_branch() {
    // What is chosen is what the next round begins with.
    let chain = |condition: &str| {
        let other = mixed("(local.get $c)", 77, 4);
        rounds(
            "",
            &format!(
                "(local.set $c (select {other} (i32.add (local.get $c) (i32.const 1)) {condition})) (local.set $a (i32.add (local.get $a) (local.get $c)))"
            ),
        )
    };
    check("select-to-branch", &chain(SELDOM), &chain(RANDOM_BIT));
}

#[test]
fn a_branch_that_mostly_goes_one_way_is_laid_out_for_it() {
    let branch = |condition: &str| {
        rounds("", &format!("(if {condition} (then {ADD_A}) (else (local.set $b (i32.xor (local.get $b) (local.get $x)))))"))
    };
    check("layout", &branch(SELDOM), &branch(RANDOM_BIT));
}

/// A switch of so many ways on an index.
fn switch(ways: u32, index: &str) -> String {
    let targets: String = (0..ways).map(|way| format!("{way} ")).collect();
    let jump = format!("(br_table {targets} {index})");
    let all = (0..ways)
        .fold(jump, |inner, way| format!("(block {inner}) (local.set $a (i32.add (local.get $a) (i32.const {}))) (br $out)", way + 3));
    rounds("", &format!("(block $out {all})"))
}

#[test]
fn a_switch_tests_its_most_frequent_index_first() {
    let often = format!("(select {} (i32.const 5) {SELDOM})", random(8));
    // An index that comes often also follows itself: whichever the records show first would exclude the other.
    let fires = |index: &str, looked_at| fires_without(&["switch-path"], "switch-order", None, &switch(8, index), looked_at);
    assert!(fires(&often, WAITED_FOR));
    assert!(!fires(&random(8), LOOKED_AT));
}

#[test]
fn ways_of_a_switch_that_follow_each_other_are_strung_together() {
    // (of eight ways in a random order each pair is seen often enough)
    check("switch-path", &switch(64, "(i32.and (local.get $n) (i32.const 3))"), &switch(64, &random(64)));
}
