//! Programs whose branches and loads are known, and what bursts say of them: with the model and the timer as they ship.
//!
//! The machine is shared and tests run at the same time, so a program whose truth is a time gets several tries.

#[path = "common/rounds.rs"]
mod rounds;

use lwp_feedback::class::SiteClass;
use rounds::{RANDOM_BIT, rounds};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use vm::burst::BurstStats;
use vm::code::Tier;
use vm::engine::{Engine, EngineConfig, FeedbackPolicy, LoadedModule, Stress};
use vm::handles::{Extern, InstanceRef};
use vm::report::{FunctionReport, Report};
use vm::store::{Store, call_slots};

/// One at a time: two programs that fill the caches tell of each other.
static MACHINE: Mutex<()> = Mutex::new(());

fn machine() -> MutexGuard<'static, ()> {
    MACHINE.lock().unwrap_or_else(|error| error.into_inner())
}

struct Guest {
    engine: Engine,
    store: Store,
    instance: InstanceRef,
    loaded: Arc<LoadedModule>,
}

impl Guest {
    fn new(wat: &str, budget: f64) -> Guest {
        Guest::acted_on(wat, budget, FeedbackPolicy::Lwp)
    }

    /// `feedback` says whether what bursts record changes the code: a load that is fetched ahead would not miss any more.
    fn acted_on(wat: &str, budget: f64, feedback: FeedbackPolicy) -> Guest {
        Guest::stressed(wat, budget, feedback, Stress::default())
    }

    fn stressed(wat: &str, budget: f64, feedback: FeedbackPolicy, stress: Stress) -> Guest {
        let thresholds = EngineConfig { hot_interpreter: 50, hot_baseline: 1000, ..EngineConfig::default() };
        let config = EngineConfig { feedback_budget: budget, feedback, stress, ..thresholds };
        let compiler = jit::CraneliftCompiler::new(Default::default()).expect("this machine is one the compiler supports");
        let engine = Engine::new(config, Some(Arc::new(compiler))).expect("the engine starts");
        let loaded = engine.load(wat.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{wat}"));
        Guest::of(engine, loaded)
    }

    /// In a store of its own.
    fn of(engine: Engine, loaded: Arc<LoadedModule>) -> Guest {
        let mut store = Store::new(&engine).expect("a store");
        // SAFETY: no imports.
        let instance = unsafe { store.instantiate(&loaded, &[]) }.expect("it instantiates");
        Guest { engine, store, instance, loaded }
    }

    fn call(&mut self, name: &str, args: &[u64]) -> u64 {
        self.try_call(name, args).expect("it returns")
    }

    /// `None` where it traps.
    fn try_call(&mut self, name: &str, args: &[u64]) -> Option<u64> {
        let Some(Extern::Func(function)) = self.instance.export(name) else { panic!("no function {name}") };
        let mut slots = args.to_vec();
        slots.resize(call_slots(&function.ty()), 0);
        // SAFETY: the function is this store's and the arguments are numbers of its types.
        unsafe { self.store.call(function, &mut slots) }.ok().map(|()| slots[0])
    }

    fn report(&self) -> Report {
        self.engine.settle();
        self.engine.report(&self.loaded)
    }
}

/// The function of that name.
fn function<'a>(report: &'a Report, name: &str) -> &'a FunctionReport {
    report.functions.iter().find(|function| function.name.as_deref() == Some(name)).expect("it ran hot")
}

const ADD_A: &str = "(local.set $a (i32.add (local.get $a) (i32.const 1)))";
const ADD_X: &str = "(local.set $x (i32.add (local.get $x) (i32.const 1)))";
const ADD_B: &str = "(local.set $b (i32.add (local.get $b) (i32.const 1)))";

/// Runs until bursts have left enough records; the number of rounds must be the same every time for the results to be.
fn run_branches(body: &str) -> (Guest, Report) {
    run_stressed(body, Stress::default())
}

fn run_stressed(body: &str, stress: Stress) -> (Guest, Report) {
    let mut guest = Guest::stressed(&rounds("", body), 20.0, FeedbackPolicy::Lwp, stress);
    let expected = Guest::new(&rounds("", body), 0.0).call("run", &[20_000_000]);
    // (a few calls as a rule; where the model takes long, bursts are short)
    for _ in 0..60 {
        assert_eq!(guest.call("run", &[20_000_000]), expected, "bursts change no result");
        let report = guest.report();
        let run = function(&report, "run");
        let records: u64 = run.branches.iter().map(|branch| branch.taken + branch.not_taken).sum();
        if records > 8_000 {
            return (guest, report);
        }
    }
    panic!("too few records: {:?}", guest.report().bursts);
}

/// What is over by then would gain nothing.
#[test]
fn a_run_gets_bursts_only_once_it_has_lasted_a_twentieth_of_a_second() {
    let _alone = machine();
    let mut guest = Guest::new(&rounds("", &format!("(if {RANDOM_BIT} (then {ADD_A}) (else {ADD_B}))")), 20.0);
    let began = Instant::now();
    loop {
        guest.call("run", &[100_000]);
        let BurstStats { branch_bursts, load_bursts, count_bursts, .. } = guest.engine.report(&guest.loaded).bursts;
        let (bursts, ran) = (branch_bursts + load_bursts + count_bursts, began.elapsed());
        assert!(bursts == 0 || ran >= Duration::from_millis(50), "{bursts} bursts after {ran:?}");
        if bursts > 0 {
            break;
        }
        assert!(ran < Duration::from_secs(30), "no burst at all");
    }
}

/// Share of the nth branch's judged records that were mispredicted.
fn mispredicted(report: &Report, nth: usize) -> f64 {
    let branch = &function(report, "run").branches[nth];
    assert!(branch.taken + branch.not_taken > 0);
    assert_eq!(branch.provenance, lwp_feedback::profile::Provenance::Modelled);
    branch.mispredicted as f64 / (branch.predicted + branch.mispredicted) as f64
}

#[test]
fn branches_of_known_programs_are_mispredicted_as_known() {
    let _one = machine();
    let one = |condition: &str| {
        let (_guest, report) = run_branches(&format!("(if {condition} (then {ADD_A}))"));
        assert!(mispredicted(&report, 1) < 0.03, "the back edge: {:?}", function(&report, "run").branches);
        (mispredicted(&report, 0), function(&report, "run").branches[0])
    };
    let (random, branch) = one(RANDOM_BIT);
    assert!((0.45..=0.55).contains(&random), "random: {random}");
    let taken = branch.taken as f64 / (branch.taken + branch.not_taken) as f64;
    assert!((0.45..=0.55).contains(&taken), "taken: {taken}");
    let (alternating, _) = one("(i32.and (local.get $n) (i32.const 1))");
    assert!(alternating < 0.03, "alternating: {alternating}");
    let pattern = "(i32.wrap_i64 (i64.and (i64.shr_u (i64.const 0x9e3779b97f4a7c15) (i64.extend_i32_u (i32.and (local.get $n) (i32.const 63)))) (i64.const 1)))";
    let (period, _) = one(pattern);
    assert!(period < 0.03, "period 64: {period}");
    let (biased, _) = one("(i32.lt_u (i32.rem_u (i32.shr_u (local.get $x) (i32.const 8)) (i32.const 10)) (i32.const 1))");
    assert!((0.08..=0.12).contains(&biased), "90/10: {biased}");
}

/// A jump that always goes to the same place is predicted, whichever index leads there; past the table all lead to the default's.
#[test]
fn a_br_table_is_predicted_by_where_it_goes() {
    let _one = machine();
    let of = |table: &str| {
        let body = format!("(block $c (block $b (block $a (br_table {table})) {ADD_A}) {ADD_B})");
        let (_guest, report) = run_branches(&body);
        mispredicted(&report, 0)
    };
    let random = "(i32.and (i32.shr_u (local.get $x) (i32.const 11)) (i32.const 3))";
    let same = of(&format!("$a $a $a $a $b {random}"));
    assert!(same < 0.03, "one target: {same}");
    let past = of(&format!("$a $b $c (i32.add (i32.const 2) (i32.mul (i32.const 1000) {random}))"));
    assert!(past < 0.03, "the default's: {past}");
    let three = of(&format!("$a $b $c {random}"));
    assert!((0.4..0.75).contains(&three), "a quarter, a quarter, a half: {three}");
}

/// Versions of instrumented code.
fn instrumented(report: &Report) -> usize {
    function(report, "run").versions.iter().filter(|version| version.tier == "instrumented" && !version.interpreted).count()
}

#[test]
fn what_is_interpreted_for_a_burst_says_the_same() {
    let _one = machine();
    let body = format!(
        "(if {RANDOM_BIT} (then {ADD_A}))
         (if (i32.and (local.get $n) (i32.const 1)) (then {ADD_B}))
         (local.set $b (select (local.get $b) (i32.add (local.get $b) (i32.const 2)) {RANDOM_BIT}))
         (block $c (block $b (block $a (br_table $a $b $c (i32.and (local.get $x) (i32.const 1))))
           {ADD_A}) {ADD_B})"
    );
    let (guest, report) = run_stressed(&body, Stress { watch_all: true, ..Stress::default() });
    assert_eq!(instrumented(&report), 0);
    let [random, alternating] = [0, 1].map(|nth| mispredicted(&report, nth));
    assert!((0.45..=0.55).contains(&random), "random: {random}");
    assert!(alternating < 0.03, "alternating: {alternating}");
    let run = function(&report, "run");
    // The random condition, the counter's lowest bit, the table, the back edge; and the select.
    assert_eq!(run.branches.len(), 4, "{:?}", run.branches);
    assert_eq!(run.selects.len(), 1, "{:?}", run.selects);
    let records: u64 = run.branches.iter().map(|branch| branch.taken + branch.not_taken).sum();
    assert!(run.versions.iter().any(|version| version.tier == "optimizing"), "{records} records of {:?}", guest.report().bursts);
    // A small body's loop has code of its own for that.
    let (_guest, report) = run_branches(&body);
    assert!(instrumented(&report) > 0);
    assert_eq!(function(&report, "run").branches.len(), 4);
}

/// Functions that call one another in a row, each with a branch that goes both ways in turn: how many of them bursts could see in the interpreter, and how many in code of their own, once
/// that (0 or 1) is so of all, or after 20 s.
fn seen_of_a_row(stress: Stress, awaited: usize) -> [usize; 2] {
    const ROW: usize = 100;
    let work = "(local.set $x (i32.xor (i32.mul (local.get $x) (i32.const 31)) (i32.const 7)))".repeat(3);
    let link = |at: usize| {
        let next = if at + 1 < ROW { format!("(local.set $x (call $f{} (local.get $x)))", at + 1) } else { String::new() };
        let branch = format!("(if (i32.and (local.get $x) (i32.const 1)) (then {work}) (else {ADD_X}))");
        format!("(func $f{at} (param $x i32) (result i32) {branch} {next} (local.get $x))")
    };
    let row: String = (0..ROW).map(link).collect();
    let wat = format!(
        "(module {row} (func $run (export \"run\") (param $n i32) (result i32) (local $a i32)
          (loop $again
            (local.set $a (i32.add (local.get $a) (call $f0 (local.get $n))))
            (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
          (local.get $a)))"
    );
    let expected = Guest::stressed(&wat, 0.0, FeedbackPolicy::Off, Stress::default()).call("run", &[20_000]);
    let mut guest = Guest::stressed(&wat, 20.0, FeedbackPolicy::Off, stress);
    let mut seen = [0, 0];
    let began = Instant::now();
    while seen[awaited] < ROW && began.elapsed() < Duration::from_secs(20) {
        assert_eq!(guest.call("run", &[20_000]), expected, "bursts change no result");
        let report = guest.report();
        let with = |interpreted| {
            move |it: &&FunctionReport| it.versions.iter().any(|it| it.tier == "instrumented" && it.interpreted == interpreted)
        };
        let in_row = || report.functions.iter().filter(|it| it.name.as_deref() != Some("run"));
        seen = [true, false].map(|interpreted| in_row().filter(with(interpreted)).count());
    }
    seen
}

#[test]
fn what_a_large_module_calls_is_followed_and_not_compiled_for_bursts() {
    let _one = machine();
    let [followed, compiled] = seen_of_a_row(Stress { follow_calls: true, ..Stress::default() }, 0);
    assert_eq!(followed, 100, "and {compiled} compiled");
    let [followed, compiled] = seen_of_a_row(Stress::default(), 1);
    assert_eq!((followed, compiled), (0, 100));
}

/// Kinds of the decisions in a function's first optimized body, and how many trials it had before that.
fn first_decisions(feedback: FeedbackPolicy, stress: Stress) -> (Vec<&'static str>, usize) {
    let work = "(local.set $x (i32.xor (i32.mul (local.get $x) (i32.const 31)) (i32.const 7)))".repeat(10);
    let wat = format!(
        "(module
          (func $leaf (param $x i32) (result i32) {work} (local.get $x))
          (func $caller (param $x i32) (result i32)
            (if (i32.eqz (i32.and (local.get $x) (i32.const 127))) (then {work}))
            (call $leaf (local.get $x)))
          (func $run (export \"run\") (param $n i32) (result i32) (local $a i32)
            (loop $again
              (local.set $a (i32.add (local.get $a) (call $caller (local.get $n))))
              (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
            (local.get $a)))"
    );
    let expected = Guest::stressed(&wat, 0.0, FeedbackPolicy::Off, Stress::default()).call("run", &[5000]);
    let mut guest = Guest::stressed(&wat, 20.0, feedback, stress);
    let began = Instant::now();
    loop {
        assert_eq!(guest.call("run", &[5000]), expected, "bursts change no result");
        let report = guest.report();
        let caller = report.functions.iter().find(|it| it.name.as_deref() == Some("caller"));
        let bodies = caller.into_iter().flat_map(|it| &it.versions).filter(|it| it.tier == "optimizing" && it.loop_offset.is_none());
        if let Some(first) = bodies.min_by_key(|it| it.version) {
            let trials = report.trials.iter().filter(|trial| caller.is_some_and(|it| it.function == trial.function)).count();
            return (first.decisions.iter().map(|decision| decision.name()).collect(), trials);
        }
        assert!(began.elapsed() < Duration::from_secs(20), "never compiled");
    }
}

#[test]
fn what_a_large_module_interprets_is_counted_before_its_first_compile_and_that_knows_it() {
    let _one = machine();
    let follow = || Stress { follow_calls: true, ..Stress::default() };
    let (decisions, trials) = first_decisions(FeedbackPolicy::Lwp, follow());
    assert!(decisions.contains(&"layout") && decisions.contains(&"inline-direct"), "{decisions:?}");
    assert_eq!(trials, 0);
    // A small module's functions are tried soon, and without feedback nothing is planned.
    assert_eq!(first_decisions(FeedbackPolicy::Lwp, Stress::default()).0, Vec::<&str>::new());
    assert_eq!(first_decisions(FeedbackPolicy::Off, follow()).0, Vec::<&str>::new());
}

/// Two loops in turn, each of more rounds than a burst has words.
const LONG_LOOPS: &str = "(module (func $run (export \"run\") (param $n i32) (result i32) (local $i i32) (local $a i32)
    (loop $again
      (local.set $i (i32.const 5000))
      (loop $first
        (local.set $a (i32.add (i32.mul (local.get $a) (i32.const 31)) (local.get $i)))
        (br_if $first (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
      (local.set $i (i32.const 5000))
      (loop $second
        (local.set $a (i32.xor (i32.mul (local.get $a) (i32.const 33)) (local.get $i)))
        (br_if $second (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $a)))";

#[test]
fn loops_that_no_burst_sees_from_beginning_to_end_are_seen_to_end() {
    let _one = machine();
    let mut ends = Vec::new();
    for watch_all in [false, true] {
        let mut guest = Guest::stressed(LONG_LOOPS, 20.0, FeedbackPolicy::Lwp, Stress { watch_all, ..Stress::default() });
        // (chance: a burst must begin in a loop's last part, and one in 6.5 of those leaves a record: one in 40 or so of all. At this budget a call has some 50)
        for _ in 0..400 {
            guest.call("run", &[10_000]);
            let report = guest.report();
            let run = function(&report, "run");
            ends = run.sites.iter().filter(|site| site.class == SiteClass::TripCount).map(|site| site.total).collect();
            // One in 6.5 of them leaves a record; none of those was seen whole.
            if ends.len() == 2 {
                assert!(run.sites.iter().all(|site| site.values.is_empty()), "{:?}", run.sites);
                break;
            }
        }
        assert_eq!(ends.len(), 2, "watch_all {watch_all}: {ends:?}");
    }
}

#[test]
fn what_leaves_its_burst_by_a_call_a_trap_or_a_return_goes_on() {
    let _one = machine();
    // Loops that call, return out of the middle, and nest; what is called has loops too, and a trap ends some of the calls.
    let wat = r#"(module
        (type $f (func (param i32) (result i32)))
        (table 2 funcref) (elem (i32.const 0) $inner $odd)
        (func $odd (param i32) (result i32) (i32.and (local.get 0) (i32.const 1)))
        (func $inner (param $n i32) (result i32) (local $i i32) (local $s i32)
          (loop $again
            (if (i32.eq (local.get $i) (i32.const 37)) (then (return (local.get $s))))
            (local.set $s (i32.add (i32.mul (local.get $s) (i32.const 31)) (i32.xor (local.get $i) (local.get $n))))
            (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.and (local.get $n) (i32.const 63)))))
          (local.get $s))
        (func (export "run") (param $n i32) (result i32) (local $i i32) (local $s i32) (local $j i32)
          (loop $outer
            (local.set $j (i32.const 0))
            (loop $middle
              (local.set $s (i32.add (i32.mul (local.get $s) (i32.const 17))
                (call_indirect (type $f) (i32.add (local.get $i) (local.get $j)) (i32.and (local.get $j) (i32.const 1)))))
              (br_if $middle (i32.lt_u (local.tee $j (i32.add (local.get $j) (i32.const 1))) (i32.const 9))))
            (if (i32.eq (local.get $i) (i32.const 999983)) (then unreachable))
            (br_if $outer (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
          (local.get $s)))"#;
    let calls: Vec<u64> = vec![300_000, 1_000_000, 300_000, 7, 600_000];
    let run = |budget: f64, stress: Stress| {
        let mut guest = Guest::stressed(wat, budget, FeedbackPolicy::Lwp, stress);
        let results: Vec<Option<u64>> = calls.iter().map(|&n| guest.try_call("run", &[n])).collect();
        let bursts = guest.report().bursts;
        (results, bursts.branch_bursts + bursts.count_bursts)
    };
    let (expected, none) = run(0.0, Stress::default());
    assert_eq!((expected[1], none), (None, 0), "{expected:?}");
    for leave_to_interpreter in [false, true] {
        let (results, bursts) = run(100.0, Stress { watch_all: true, leave_to_interpreter, ..Stress::default() });
        assert_eq!(results, expected);
        assert!(bursts > 10 || leave_to_interpreter, "{bursts}");
    }
}

#[test]
fn what_is_called_is_watched_from_its_entry() {
    let _one = machine();
    // Called with 5 three times of four, otherwise with 9; its loop goes as many rounds and is left by a branch, or where it is at its end by `return`.
    let wat = r#"(module
        (func $work (export "work") (param $k i32) (result i32) (local $i i32) (local $s i32)
          (if (i32.eqz (local.get $k)) (then (return (i32.const 1))))
          (block $out
            (loop $again
              (local.set $s (i32.add (i32.mul (local.get $s) (i32.const 31)) (local.get $i)))
              (local.set $i (i32.add (local.get $i) (i32.const 1)))
              (br_if $out (i32.eq (local.get $i) (local.get $k)))
              (if (i32.eq (local.get $i) (i32.const 20)) (then (return (local.get $s))))
              (br $again)))
          (local.get $s))
        (func $run (export "run") (param $n i32) (result i32) (local $s i32)
          (loop $again
            (local.set $s (i32.add (i32.mul (local.get $s) (i32.const 17))
              (call $work (select (i32.const 9) (i32.const 5) (i32.eqz (i32.and (local.get $n) (i32.const 3)))))))
            (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
          (local.get $s)))"#;
    let share = |function: &FunctionReport, class: SiteClass, value: u64| {
        let site = function.sites.iter().find(|site| site.class == class)?;
        Some((site.total, site.values.iter().find(|it| it.value == value).map_or(0.0, |it| it.share)))
    };
    let run = |stress: Stress| {
        let expected = Guest::new(wat, 0.0).call("run", &[3_000_000]);
        let mut guest = Guest::stressed(wat, 20.0, FeedbackPolicy::Lwp, stress);
        // (150 are enough; 1,500 it took where the trial of `work`, which `run` has inlined, lived on bursts' calls and kept it from them)
        for _ in 0..1000 {
            assert_eq!(guest.call("run", &[3_000_000]), expected, "bursts change no result");
            let report = guest.report();
            let work = function(&report, "work");
            let enough = |class| share(work, class, 0).is_some_and(|(records, _)| records > 2000);
            if enough(SiteClass::Param) && enough(SiteClass::TripCount) {
                return report;
            }
        }
        panic!("too few records: {:?}", function(&guest.report(), "work").sites);
    };
    let watched = run(Stress { watch_all: true, ..Stress::default() });
    let compiled = run(Stress::default());
    assert_eq!(instrumented(&watched), 0);
    assert!(function(&watched, "work").versions.iter().any(|version| version.interpreted), "records name it, so it is among the versions");
    for report in [watched, compiled] {
        let work = function(&report, "work");
        for class in [SiteClass::Param, SiteClass::TripCount] {
            let (records, share) = share(work, class, 5).expect("it is recorded");
            assert!((0.7..=0.8).contains(&share), "{class:?}: {share} of {records}");
        }
        // The test of 0, the way out, the test of 20, and the return, of which there is one that runs.
        assert_eq!(work.branches.iter().filter(|branch| branch.taken + branch.not_taken > 0).count(), 4, "{:?}", work.branches);
        let wrong: u64 = work.branches.last().map_or(0, |branch| branch.mispredicted);
        assert!(wrong * 50 <= work.branches.last().map_or(0, |branch| branch.taken), "returns are predicted: {:?}", work.branches);
    }
}

#[test]
fn calls_do_not_wait_for_the_burst_of_a_loop_that_is_busy_elsewhere() {
    let _one = machine();
    // Each 4096th round of the loop takes 50 ms, in code that no burst has seen: one that began in that round stays open, and `leaf` is asked meanwhile.
    let wat = r#"(module
        (func $leaf (export "leaf") (param $k i32) (result i32)
          (if (result i32) (i32.and (local.get $k) (i32.const 1))
            (then (i32.mul (local.get $k) (i32.const 17)))
            (else (i32.rotl (local.get $k) (i32.const 3)))))
        (func $tree (export "tree") (param $depth i32) (param $k i32) (result i32)
          (if (result i32) (i32.eqz (local.get $depth))
            (then (call $leaf (local.get $k)))
            (else (i32.add
              (call $tree (i32.sub (local.get $depth) (i32.const 1)) (i32.mul (local.get $k) (i32.const 3)))
              (call $tree (i32.sub (local.get $depth) (i32.const 1)) (i32.add (local.get $k) (i32.const 5)))))))
        (func $seldom (result i32) (call $tree (i32.const 24) (i32.const 7)))
        (func $run (export "run") (param $n i32) (result i32) (local $s i32)
          (loop $again
            (local.set $s (i32.add (i32.mul (local.get $s) (i32.const 31))
              (if (result i32) (i32.and (local.get $n) (i32.const 4095))
                (then (call $tree (i32.const 2) (local.get $n)))
                (else (call $seldom)))))
            (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
          (local.get $s)))"#;
    let expected = Guest::new(wat, 0.0).call("run", &[200_000]);
    let mut guest = Guest::stressed(wat, 20.0, FeedbackPolicy::Off, Stress { watch_all: true, ..Stress::default() });
    // Where other tests have the processors, a run may be over before the first burst.
    let mut seen = 0;
    for runs in 1..=5 {
        assert_eq!(guest.call("run", &[200_000]), expected);
        let report = guest.report();
        assert!(report.resolved_calls < 1_000_000 * runs, "{} resolved in {runs} runs", report.resolved_calls);
        seen = function(&report, "leaf").branches.iter().map(|it| it.taken + it.not_taken).sum::<u64>();
        if seen > 1000 {
            return;
        }
    }
    panic!("{seen} outcomes seen");
}

#[test]
fn the_second_of_a_correlated_pair_is_predicted() {
    let _one = machine();
    let body = format!("(if {RANDOM_BIT} (then {ADD_A})) (if (i32.eqz {RANDOM_BIT}) (then {ADD_B}))");
    let (_guest, report) = run_branches(&body);
    assert!(mispredicted(&report, 0) > 0.4 && mispredicted(&report, 1) <= 0.05, "{:?}", function(&report, "run").branches);
}

/// Loops one behind the other in one around them, in a body so large that its bursts are interpreted: where one ends in a loop without code of its own, templates have the activation. It comes back
/// to code with the next loop that has some. (It used to stay, for records of hot loops, which alone made it look, come after twice as many rounds each time.)
#[test]
fn what_a_burst_leaves_to_templates_comes_back_to_code() {
    let _one = machine();
    let work =
        "(local.set $x (i32.xor (i32.mul (local.get $x) (i32.const 1103515245)) (i32.shr_u (local.get $x) (i32.const 7))))".repeat(14);
    let one = |label: &str| {
        format!(
            "(local.set $i (i32.const 1000))
             (loop ${label} {work} (br_if ${label} (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))"
        )
    };
    let loops: String = ["a", "b", "c", "d"].into_iter().map(one).collect();
    let wat = format!(
        r#"(module (func $run (export "run") (param $n i32) (result i32) (local $i i32) (local $x i32)
             (local.set $x (i32.const 1))
             (loop $around {loops} (br_if $around (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
             (local.get $x)))"#
    );
    let mut said = Vec::new();
    for _ in 0..3 {
        let mut guest = Guest::acted_on(&wat, 1.0, FeedbackPolicy::Off);
        guest.call("run", &[10_000]);
        let report = guest.report();
        assert!(function(&report, "run").body_bytes >= 512);
        // What a burst leaves to templates is charged to it, and nothing more is seen meanwhile. (5 to 150 ms each, and one to ten of them, where it stays there.)
        let bursts = report.bursts.branch_bursts + report.bursts.count_bursts;
        let each = report.bursts.burst_ms / bursts as f64;
        if bursts >= 15 && each < 1.0 {
            return;
        }
        said.push(format!("{bursts} bursts of {each:.2} ms"));
    }
    panic!("{said:?}");
}

/// `run` with a branch that is taken where a random byte is below `$limit`, otherwise the same work. Nothing but the branch differs between limits.
const BIASED: &str = "(if (i32.lt_u (i32.and (i32.shr_u (local.get $x) (i32.const 11)) (i32.const 255)) (global.get $limit)) (then (local.set $a (i32.add (local.get $a) (i32.const 1)))) (else (local.set $b (i32.add (local.get $b) (i32.const 1)))))";

#[test]
fn the_models_mispredictions_are_in_the_time_too() {
    let _one = machine();
    let text = rounds("", BIASED).replacen("(module ", "(module (global $limit (export \"limit\") (mut i32) (i32.const 0)) (func (export \"set\") (param i32) (global.set $limit (local.get 0))) ", 1);
    let mut guest = Guest::acted_on(&text, 0.0, FeedbackPolicy::Off);
    const ROUNDS: u64 = 8_000_000;
    let mut time = |limit: u64| {
        guest.call("set", &[limit]);
        guest.call("run", &[ROUNDS]);
        let best = (0..5).map(|_| {
            let began = std::time::Instant::now();
            guest.call("run", &[ROUNDS]);
            began.elapsed().as_nanos() as f64 / ROUNDS as f64
        });
        best.fold(f64::INFINITY, f64::min)
    };
    // What the model says of 64 of 256, from bursts.
    let counted = {
        let text = text.replacen("(i32.const 0)) (func (export \"set\")", "(i32.const 64)) (func (export \"set\")", 1);
        let mut guest = Guest::acted_on(&text, 20.0, FeedbackPolicy::Off);
        (0..40)
            .find_map(|_| {
                guest.call("run", &[20_000_000]);
                let report = guest.report();
                let branch = function(&report, "run").branches.first().copied()?;
                let judged = branch.predicted + branch.mispredicted;
                (judged > 8_000).then(|| branch.mispredicted as f64 / judged as f64)
            })
            .expect("bursts leave records")
    };
    let mut seen = Vec::new();
    for _ in 0..6 {
        // Never and always taken: nothing is mispredicted. Half: half is.
        let (never, always, half, quarter) = (time(0), time(256), time(128), time(64));
        let penalty = (half - (never + always) / 2.0) / 0.5;
        let timed = (quarter - (never * 0.75 + always * 0.25)) / penalty;
        seen.push((penalty, timed, counted));
        if (timed / counted - 1.0).abs() <= 0.2 {
            return;
        }
    }
    panic!("penalty ns, mispredicted by time, by the model: {seen:?}");
}

/// What bursts say of the select in a loop's body.
fn select_seen(body: &str) -> lwp_feedback::profile::SelectSnapshot {
    let mut guest = Guest::acted_on(&rounds("", body), 20.0, FeedbackPolicy::Off);
    let mut selects = Vec::new();
    for _ in 0..40 {
        guest.call("run", &[20_000_000]);
        let report = guest.report();
        let run = function(&report, "run");
        assert!(run.branches.len() <= 1, "only the back edge is a branch");
        selects = run.selects.clone();
        if selects.first().is_some_and(|select| select.judged > 1000) {
            break;
        }
    }
    selects[0]
}

#[test]
fn a_select_is_no_branch_but_says_what_one_would_meet() {
    let _one = machine();
    let of = |condition: &str| {
        let body = format!("(local.set $a (select (i32.add (local.get $a) (i32.const 3)) (local.get $a) {condition}))");
        let select = select_seen(&body);
        let true_share = select.taken as f64 / (select.taken + select.not_taken) as f64;
        (true_share, select.would_mispredict_share().expect("judged"), select)
    };
    let (share, mispredicted, select) = of(RANDOM_BIT);
    assert!((0.44..=0.56).contains(&share) && (0.44..=0.56).contains(&mispredicted), "{select:?}");
    // Conditions that go by the round: each burst must see all of their phases, and a branch would be predicted.
    for (condition, expected) in [("1", 0.5), ("3", 0.75), ("7", 0.875)] {
        let (share, mispredicted, select) = of(&format!("(i32.and (local.get $n) (i32.const {condition}))"));
        assert!((share - expected).abs() < 0.06 && mispredicted < 0.03, "n & {condition}: {select:?}");
    }
}

/// In every form that writes bursts.
#[test]
fn lengths_of_bulk_operations_are_values() {
    let _one = machine();
    let body = "(memory.fill (i32.const 0) (i32.const 7) (i32.const 64))
        (memory.copy (i32.const 0) (i32.const 1000)
          (if (result i32) (i32.and (local.get $n) (i32.const 3)) (then (i32.const 16)) (else (i32.const 100))))";
    for watch_all in [false, true] {
        let mut guest = Guest::stressed(&rounds("(memory 1)", body), 20.0, FeedbackPolicy::Off, Stress { watch_all, ..Stress::default() });
        let mut lengths = Vec::new();
        for _ in 0..40 {
            guest.call("run", &[5_000_000]);
            let report = guest.report();
            let sites = function(&report, "run").sites.iter().filter(|site| site.class == SiteClass::BulkLen);
            lengths = sites.map(|site| (site.total, site.values.iter().map(|it| (it.value, it.count)).collect::<Vec<_>>())).collect();
            if lengths.iter().all(|site| site.0 > 1000) && !lengths.is_empty() {
                break;
            }
        }
        let [(filled, fills), (copied, copies)] = &lengths[..] else { panic!("{lengths:?}") };
        assert_eq!((fills.len(), fills[0]), (1, (64, *filled)), "{lengths:?}");
        let [(16, often), (100, seldom)] = copies[..] else { panic!("{lengths:?}") };
        let share = seldom as f64 / *copied as f64;
        assert!(often > seldom && (share - 0.25).abs() < 0.06, "{share}: {lengths:?}");
    }
}

#[test]
fn nothing_is_recorded_without_a_budget() {
    let _one = machine();
    let mut guest = Guest::new(&rounds("", &format!("(if {RANDOM_BIT} (then {ADD_A}))")), 0.0);
    guest.call("run", &[30_000_000]);
    let report = guest.report();
    assert_eq!((report.bursts.branch_bursts, report.bursts.load_bursts, report.bursts.words), (0, 0, 0));
    assert!(report.functions.iter().all(|function| function.branches.is_empty() && function.loads.is_empty() && function.sites.is_empty()));
}

/// `run` sums `b[a[i]]`; `a` names the lines of `bytes` bytes in random order, each as often as the others; the memory is filled, so each page is one of its own.
///
/// A line comes again after all others have been there. Drawn at random each time, many come again sooner, and a cache keeps its share of them: an eighth
/// of the loads from 256 MiB found their line in an L3 of 32 MiB, on a machine whose neighbours left it alone.
///
/// The indices take no more room than the data, so that they do not push it out; over much memory there are as many as it has lines, or those they name
/// would fit into a large last cache.
fn gather(bytes: u32) -> String {
    let indices = (bytes / 16).min(262_144.max(bytes / 64));
    let pages = (bytes + 4 * indices) / 65536 + 1;
    // The order is a linear congruential generator's of full period (Hull and Dobell): one more than a multiple of 4 times, and plus, an odd number.
    format!(
        "(module (memory {pages})
          (func $init (export \"init\") (local $i i32) (local $x i32)
            (memory.fill (i32.const 0) (i32.const 1) (i32.const {bytes}))
            (loop $again
              (local.set $x (i32.and (i32.add (i32.mul (local.get $x) (i32.const 1664525)) (i32.const 1013904223)) (i32.const {mask})))
              (i32.store offset={bytes} (i32.shl (local.get $i) (i32.const 2)) (i32.shl (local.get $x) (i32.const 6)))
              (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const {indices})))))
          (func $run (export \"run\") (param $n i32) (result i32) (local $s i32)
            (loop $again
              (local.set $s (i32.add (local.get $s)
                (i32.load (i32.load offset={bytes} (i32.shl (i32.and (local.get $n) (i32.const {wrap})) (i32.const 2))))))
              (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
            (local.get $s)))",
        mask = bytes / 64 - 1,
        wrap = indices - 1,
    )
}

/// The load of `b` after bursts have timed it some thousand times. `accept` says whether the machine was quiet enough.
fn timed_gather(bytes: u32, mut accept: impl FnMut(&lwp_feedback::profile::LoadSnapshot) -> bool) -> lwp_feedback::profile::LoadSnapshot {
    let mut last = None;
    // (an engine asks for them when it is 300 ms old, which none of these is on a fast machine)
    lwp_feedback::calibrate::plateaus();
    // On a guest whose neighbours use the memory one try in seven was quiet enough.
    for _ in 0..60 {
        let mut guest = Guest::acted_on(&gather(bytes), 20.0, FeedbackPolicy::Off);
        guest.call("init", &[]);
        // Long enough for some ticks of the monitor, in which bursts are asked for, also where a round takes half a nanosecond.
        let rounds = if bytes < 1 << 20 { 80_000_000 } else { 8_000_000 };
        for _ in 0..20 {
            guest.call("run", &[rounds]);
            let report = guest.report();
            let loads = &function(&report, "run").loads;
            if let [index, value] = &loads[..]
                && value.executions.min(index.executions) > 4_000
            {
                assert_eq!(value.provenance, lwp_feedback::profile::Provenance::Timed);
                let value = value.clone();
                let (first, second) = if value.indirect_from == Some(index.offset) { (index, &value) } else { (&value, index) };
                assert_eq!((first.indirect_from, second.indirect_from), (None, Some(first.offset)), "{loads:?}");
                assert_eq!(first.dominant_stride().map(|(stride, _)| stride), Some(-4));
                assert!(first.dominant_stride().is_some_and(|(_, share)| share > 0.95), "{first:?}");
                assert!(second.dominant_stride().is_none_or(|(_, share)| share < 0.1), "{second:?}");
                last = Some(second.clone());
                break;
            }
        }
        if last.as_ref().is_some_and(&mut accept) {
            break;
        }
    }
    last.expect("bursts time loads")
}

#[test]
fn a_gather_over_memory_comes_from_memory() {
    let _one = machine();
    // Where L3 is as slow as memory, as in guests whose share of it others take, where a load came from is unknown: that is what records have to say then.
    let source = || if lwp_feedback::calibrate::plateaus().sources_known { 3 } else { 0 };
    let share = |load: &lwp_feedback::profile::LoadSnapshot| load.sources[source()] as f64 / load.count().max(1) as f64;
    // A chase of pointers over as much memory, timed alike, in the same run. Both are medians: what others do meanwhile makes long tails.
    let chased = || {
        let mut times = lwp_feedback::calibrate::chase(256 << 20, 4_000);
        times.sort_unstable();
        f64::from(times[times.len() / 2])
    };
    let median = |load: &lwp_feedback::profile::LoadSnapshot| {
        let mut left = load.count() / 2;
        let class = load.latency.iter().find(|&&(_, count)| {
            let found = left < count;
            left = left.saturating_sub(count);
            found
        });
        class.expect("it has records").0 as f64
    };
    let mut compared = (0.0, 0.0);
    let load = timed_gather(256 << 20, |load| {
        compared = (median(load), chased());
        share(load) >= 0.9 && (compared.0 / compared.1 - 1.0).abs() <= 0.25
    });
    assert!(share(&load) >= 0.9, "{load:?}");
    assert!((compared.0 / compared.1 - 1.0).abs() <= 0.25, "median of the gather and of the chase: {compared:?}");
    assert!(load.miss_share().expect("timed") > 0.9, "{load:?}");
}

#[test]
fn a_gather_over_the_first_cache_does_not_miss() {
    let _one = machine();
    // The other half of this core may run something else, which pushes lines out: a chain of pointers sees that too.
    let plateaus = lwp_feedback::calibrate::plateaus;
    let missed =
        || lwp_feedback::calibrate::chase(16 << 10, 20_000).into_iter().filter(|&ticks| plateaus().source(ticks).is_some()).count();
    let mut limit = 0.01;
    let load = timed_gather(16 << 10, |load| {
        limit = if missed() < 20 { 0.01 } else { 0.1 };
        load.miss_share().is_some_and(|share| share < limit)
    });
    assert!(load.miss_share().expect("timed") < limit, "{load:?}, limit {limit}; {}", plateaus());
}

#[test]
fn a_gather_over_the_last_cache_comes_from_there() {
    let _one = machine();
    let share = |load: &lwp_feedback::profile::LoadSnapshot| load.sources[1] as f64 / load.count().max(1) as f64;
    // Others use that cache too: what it leaves a chain of pointers at the same time is what a gather can have.
    let plateaus = lwp_feedback::calibrate::plateaus;
    let of_a_chain = || {
        let sources: Vec<u8> =
            lwp_feedback::calibrate::chase(8 << 20, 20_000).into_iter().filter_map(|ticks| plateaus().source(ticks)).collect();
        sources.iter().filter(|&&source| source == 1).count() as f64 / sources.len().max(1) as f64
    };
    let mut needed = 0.6f64;
    let load = timed_gather(8 << 20, |load| {
        needed = (of_a_chain() - 0.15).min(0.6);
        share(load) >= needed
    });
    assert!(share(&load) >= needed, "{load:?}, needed {needed}");
}

/// A function without a loop, called from one: `f` tells odd from even of what it is given.
const CALLED: &str = "(module
  (type $t (func (param i32) (result i32)))
  (table 2 funcref) (elem (i32.const 0) $f $g)
  (func $f (type $t) (if (i32.and (local.get 0) (i32.const 1)) (then (return (i32.const 3)))) (i32.mul (local.get 0) (i32.const 5)))
  (func $g (type $t) (i32.mul (local.get 0) (i32.const 7)))
  (func $run (export \"run\") (param $n i32) (result i32) (local $s i32) (local $x i32)
    (local.set $x (i32.const 88172645))
    (loop $again
      (local.set $x (i32.xor (local.get $x) (i32.shl (local.get $x) (i32.const 13))))
      (local.set $x (i32.xor (local.get $x) (i32.shr_u (local.get $x) (i32.const 17))))
      (local.set $x (i32.xor (local.get $x) (i32.shl (local.get $x) (i32.const 5))))
      (local.set $s (i32.add (local.get $s) (call_indirect (type $t) (local.get $x) (i32.and (i32.shr_u (local.get $x) (i32.const 9)) (i32.const 1)))))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $s)))";

#[test]
fn a_function_without_loops_is_seen_at_its_calls() {
    let _one = machine();
    let expected = Guest::new(CALLED, 0.0).call("run", &[5_000_000]);
    let mut guest = Guest::new(CALLED, 20.0);
    for _ in 0..60 {
        assert_eq!(guest.call("run", &[5_000_000]), expected, "bursts change no result");
        let report = guest.report();
        let (f, run) = (function(&report, "f"), function(&report, "run"));
        let seen = |function: &FunctionReport| function.branches.iter().map(|branch| branch.predicted + branch.mispredicted).sum::<u64>();
        if seen(f) > 500 && seen(run) > 500 {
            let branch = f.branches.first().expect("its if");
            let share = branch.mispredicted as f64 / (branch.predicted + branch.mispredicted) as f64;
            assert!((0.4..=0.6).contains(&share), "{:?}", f.branches);
            // Which of two functions is called is as random.
            let call = &run.branches[0];
            assert!(call.not_taken == 0 && call.mispredicted * 3 > call.predicted, "{call:?}");
            return;
        }
    }
    let report = guest.report();
    panic!("{:?} {:?}", report.bursts, report.failures);
}

/// Offset of a branch, whether it was taken, and the function and offset it led to, where its code is known.
type BranchSeen = (u32, bool, Option<(u32, u32)>);

/// Branch records of a run, from its record file: (offset of the branch, taken, offset of what runs next where the code map knows it).
fn branch_records(wat: &str) -> Vec<BranchSeen> {
    use lwp_feedback::codemap::CodeMap;
    use lwp_feedback::record::Typed;
    use lwp_feedback::recordfile::{Chunk, RecordReader};
    let file = tempfile::NamedTempFile::new().expect("a file");
    let mut guest = Guest::acted_on(wat, 20.0, FeedbackPolicy::Off);
    guest.engine.record_to(Box::new(file.reopen().expect("it opens")), "targets").expect("it records");
    for _ in 0..10 {
        guest.call("run", &[10_000_000]);
    }
    guest.engine.finish_recording().expect("it ends");
    let code = CodeMap::new();
    let mut found = Vec::new();
    for chunk in RecordReader::new(file.reopen().expect("it opens")).expect("a record file") {
        match chunk.expect("whole") {
            Chunk::Code(range, entry) => {
                // Older code there is gone.
                code.forget(&range);
                code.insert(range, (*entry).clone()).expect("the range is free");
            }
            Chunk::Gone(range) => code.forget(&range),
            Chunk::Records { records, .. } => {
                for record in &records {
                    let Typed::Branch(branch) = record.typed() else { continue };
                    let site = code.resolve(branch.address()).expect("its code is known");
                    // The target is an address, not a return address.
                    let target = code.resolve(branch.target() + 1).map(|it| (it.function.func, it.wasm_offset));
                    found.push((site.wasm_offset, branch.taken(), target));
                }
            }
            _ => {}
        }
    }
    found
}

#[test]
fn data2_of_a_branch_is_the_address_of_what_runs_next() {
    let _one = machine();
    // The operators behind the `if` on either side, by what they add.
    let body = format!("(if {RANDOM_BIT} (then {ADD_A}) (else {ADD_B}))");
    let records = branch_records(&rounds("", &body));
    assert!(records.len() > 1000, "{}", records.len());
    let offsets: std::collections::BTreeSet<u32> = records.iter().map(|record| record.0).collect();
    let (branch, back) = (*offsets.first().expect("the if"), *offsets.last().expect("the back edge"));
    let targets = |offset: u32, taken: bool| {
        let all: std::collections::BTreeSet<_> = records.iter().filter(|it| it.0 == offset && it.1 == taken).map(|it| it.2).collect();
        assert_eq!(all.len(), 1, "one way has one target: {all:?}");
        all.into_iter().next().flatten().expect("in known code").1
    };
    let (then, otherwise) = (targets(branch, true), targets(branch, false));
    assert!(branch < then && then < otherwise && otherwise < back, "{branch:#x} {then:#x} {otherwise:#x} {back:#x}");
    assert!(targets(back, true) < branch, "back to the loop");
    // An indirect call's is the code of the callee.
    let calls = branch_records(CALLED);
    let called: std::collections::BTreeSet<u32> = calls.iter().filter_map(|it| it.2).map(|it| it.0).collect();
    assert!(called.contains(&0) && called.contains(&1), "functions that branches lead to: {called:?}");
}

/// A recursion without loops: nothing else can be asked than its body, and its own calls reach it by its entry.
const RECURSION: &str = r#"(module
    (func $fib (export "fib") (param i32) (result i32)
      (if (result i32) (i32.lt_u (local.get 0) (i32.const 2)) (then (local.get 0))
        (else (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1))) (call $fib (i32.sub (local.get 0) (i32.const 2))))))))"#;

#[test]
fn what_is_asked_keeps_its_entry_and_is_led_to_its_burst_by_its_detour() {
    let _one = machine();
    // (a trial's gate is an entry too)
    let mut guest = Guest::acted_on(RECURSION, 20.0, FeedbackPolicy::Off);
    let mut before = None;
    for _ in 0..5_000 {
        assert_eq!(guest.call("fib", &[27]), 196_418, "bursts change no result");
        let words = guest.report().bursts.words;
        let (detours, entries) = guest.loaded.code.bodies_asked();
        let in_force = guest.loaded.code.versions_in_force();
        if !in_force.iter().any(|version| version.tier == Tier::Optimizing) {
            continue;
        }
        let (detours_before, entries_before, words_before) = *before.get_or_insert((detours, entries, words));
        if detours >= detours_before + 20 && words > words_before + 10_000 {
            assert_eq!(entries, entries_before, "what is compiled is asked by its detour alone");
            return;
        }
    }
    panic!("{before:?}, now {:?} and {:?}", guest.loaded.code.bodies_asked(), guest.report().bursts);
}

#[test]
fn a_burst_keeps_the_calls_it_asked_for_while_another_store_runs_the_same_code() {
    let _one = machine();
    let run = |beside: bool| {
        let mut guest = Guest::acted_on(RECURSION, 20.0, FeedbackPolicy::Off);
        let (engine, loaded) = (guest.engine.clone(), guest.loaded.clone());
        let done = AtomicBool::new(false);
        let mean = std::thread::scope(|scope| {
            let done = &done;
            if beside {
                scope.spawn(move || {
                    let mut other = Guest::of(engine, loaded);
                    while !done.load(Ordering::Relaxed) {
                        assert_eq!(other.call("fib", &[20]), 6765, "nor do another store's");
                    }
                });
            }
            let began = Instant::now();
            let bursts = loop {
                assert_eq!(guest.call("fib", &[27]), 196_418, "bursts change no result");
                let bursts = guest.engine.burst_stats();
                if bursts.branch_bursts + bursts.count_bursts > 200 || began.elapsed() > Duration::from_secs(20) {
                    break bursts;
                }
            };
            done.store(true, Ordering::Relaxed);
            bursts.words as f64 / (bursts.branch_bursts + bursts.count_bursts) as f64
        });
        eprintln!("{mean} words in a burst, {beside}");
        mean
    };
    // Cut short by the other store's next call it would have a word or two.
    let tries: Vec<f64> = (0..3).map(|_| run(true) / run(false)).collect();
    assert!(tries.iter().any(|&share| share > 0.5), "{tries:?} of a burst's words where another store runs");
}
