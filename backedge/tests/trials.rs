//! Trials on the running machine: candidates are timed against the current version, kept or taken back, and no result changes meanwhile.
//!
//! What the statistics are worth is tested on a simulated clock (`vm::tiering`); here differences are so large, or so absent, that no clock matters.

use lwp_feedback::codemap::FunctionId;
use lwp_feedback::policy::{
    Because, Budgets, Decision, FilePlan, InlineDecision, InlineTarget, LikelyDecision, Plan, PlanFile, Policy, PrefetchDecision,
    PrefetchKind, Refusal, RefusalReason, SpecializeDecision,
};
use lwp_feedback::profile::Snapshot;
use lwp_feedback::profilefile::{RecordValues, SavedProfile, SavedVersion};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vm::code::{Entrance, Tier};
use vm::engine::{Engine, EngineConfig, LoadedModule};
use vm::handles::{Extern, InstanceRef};
use vm::store::{Store, call_slots};
use vm::tiering::TrialRecord;
use vm::tiering::verdict::{Reason, Verdict};
use vm::timeline::What;
use wasmparser::Operator;

fn engine(config: EngineConfig) -> Engine {
    let compiler = jit::CraneliftCompiler::new(Default::default()).expect("this machine is one the compiler supports");
    Engine::new(config, Some(Arc::new(compiler))).expect("the engine starts")
}

struct Guest {
    store: Store,
    instance: InstanceRef,
    loaded: Arc<LoadedModule>,
}

impl Guest {
    fn new(engine: &Engine, wat: &str) -> Guest {
        let mut store = Store::new(engine).expect("a store");
        let loaded = engine.load(wat.as_bytes()).expect("a valid module");
        // SAFETY: no imports.
        let instance = unsafe { store.instantiate(&loaded, &[]) }.expect("it instantiates");
        Guest { store, instance, loaded }
    }

    fn call(&mut self, name: &str, args: &[u64]) -> u64 {
        let Some(Extern::Func(function)) = self.instance.export(name) else { panic!("no function {name}") };
        let mut slots = args.to_vec();
        slots.resize(call_slots(&function.ty()), 0);
        // SAFETY: the function is this store's and the arguments are numbers of its types.
        unsafe { self.store.call(function, &mut slots) }.expect("it returns");
        slots[0]
    }

    /// Calls until a trial of a function ended, and a little longer; every result must be `expected`.
    fn until_tried(&mut self, function: u32, name: &str, args: &[u64], expected: u64) -> TrialRecord {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(30) {
            assert_eq!(self.call(name, args), expected);
            self.loaded.code.reconsider(function);
            if let Some(record) = self.loaded.code.trials().into_iter().find(|record| record.function == function) {
                self.loaded.engine().settle();
                for _ in 0..3 {
                    assert_eq!(self.call(name, args), expected);
                }
                return record;
            }
        }
        panic!("no trial of {name} ended");
    }
}

/// `long`: a loop of many rounds in one call. `short`: a function that is called in a loop. Both call through a table.
const GUEST: &str = "(module
    (type $op (func (param i32) (result i32)))
    (table (export \"table\") 2 funcref)
    (elem (i32.const 0) $f0 $f1)
    (global (export \"which\") (mut i32) (i32.const 0))
    (func $f0 (type $op) (i32.add (local.get 0) (i32.const 3)))
    (func $f1 (type $op) (i32.mul (local.get 0) (i32.const 5)))
    (func $long (export \"long\") (param $n i32) (result i32) (local $x i32)
        (loop $again
            (local.set $x (call_indirect (type $op) (local.get $x) (global.get 0)))
            (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
        (local.get $x))
    (func $short (param $x i32) (result i32)
        (i32.xor (call_indirect (type $op) (local.get $x) (global.get 0)) (i32.const 1)))
    (func (export \"calls\") (param $n i32) (result i32) (local $x i32)
        (loop $again
            (local.set $x (call $short (local.get $x)))
            (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
        (local.get $x)))";

const LONG: u32 = 2;
const SHORT: u32 = 3;
const ROUNDS: u32 = 2_000_000;

fn long() -> u64 {
    u64::from(ROUNDS.wrapping_mul(3))
}

fn calls() -> u64 {
    u64::from((0..ROUNDS).fold(0u32, |x, _| x.wrapping_add(3) ^ 1))
}

/// Offset of a function's first operator of a kind.
fn offset_of(loaded: &LoadedModule, function: u32, wanted: impl Fn(&Operator<'_>) -> bool) -> u32 {
    let mut reader = loaded.module.body(function).get_operators_reader().expect("valid");
    loop {
        let (operator, at) = reader.read_with_offset().expect("valid");
        if wanted(&operator) {
            return at as u32;
        }
    }
}

/// Inline `callee` at a function's direct call.
fn inline_direct(guest: &Guest, function: u32, callee: u32) -> Decision {
    let offset = offset_of(&guest.loaded, function, |it| matches!(it, Operator::Call { .. }));
    let target = InlineTarget { callee, share: 1.0, samples: 100, body_bytes: 50 };
    Decision::Inline(InlineDecision { offset, direct: true, targets: vec![target], ..Default::default() })
}

/// An engine with a plan given for one function: inline `callee` at its call.
fn given(function: u32, callee: u32) -> EngineConfig {
    let probe = Guest::new(&engine(EngineConfig::default()), GUEST);
    let decision = inline(&probe, function, callee);
    let text = serde_json::json!({ "plans": [{ "func": function, "decisions": [decision] }] }).to_string();
    EngineConfig { plans: Some(Arc::new(PlanFile::parse(&text).expect("a plan file"))), ..EngineConfig::default() }
}

/// Inline `callee` at a function's call.
fn inline(guest: &Guest, function: u32, callee: u32) -> Decision {
    let offset = offset_of(&guest.loaded, function, |it| matches!(it, Operator::CallIndirect { .. }));
    let target = InlineTarget { callee, share: 1.0, samples: 100, body_bytes: 10 };
    Decision::Inline(InlineDecision {
        offset,
        targets: vec![target],
        side_exit: false,
        in_place: true,
        samples: 100,
        share: 1.0,
        ..InlineDecision::default()
    })
}

/// A profile of an earlier process that ended with this plan.
fn saved(module: u64, function: u32, decisions: Vec<Decision>) -> Arc<SavedProfile> {
    let compiled = vec![SavedVersion { func: function, loop_offset: None, decisions }];
    Arc::new(SavedProfile::new(Snapshot { module, ..Snapshot::default() }, compiled, Vec::new(), RecordValues::All))
}

fn tier2_plans(guest: &Guest, function: u32) -> Vec<bool> {
    let versions = guest.loaded.code.versions();
    let normal =
        versions.iter().filter(|version| version.function == function && !version.is_arm() && version.tier == vm::code::Tier::Optimizing);
    normal.map(|version| version.plan.is_some()).collect()
}

#[test]
fn a_plan_that_gains_is_kept() {
    for (function, name, expected) in [(LONG, "long", long()), (SHORT, "calls", calls())] {
        let mut guest = Guest::new(&engine(given(function, 0)), GUEST);
        let record = guest.until_tried(function, name, &[u64::from(ROUNDS)], expected);
        assert_eq!(record.loop_offset.is_some(), function == LONG, "a long loop is tried as a loop, a function by its calls");
        assert_eq!(record.decisions.len(), 1);
        // On a loaded machine three pairs in a row may look like a clear loss, which ends it; a gain takes eight.
        assert!(record.judgement.pairs >= 8 || matches!(record.judgement.verdict, Verdict::Abandoned(_) | Verdict::Slower), "{record:?}");
        let plans = tier2_plans(&guest, function);
        assert!(!plans[0], "the plan comes after the code without it");
        let won = record.judgement.verdict == Verdict::Faster;
        assert_eq!(plans.iter().any(|&planned| planned), won, "{record:?}");
        // A body that won is what calls reach now; a loop's arm is none of what lasts, nor is the old version's.
        let is_arm = |number| guest.loaded.code.versions().iter().find(|version| version.number == number).is_none_or(|it| it.is_arm());
        assert_eq!(record.versions.map(is_arm), [true, function == LONG || !won], "{record:?}");
    }
}

#[test]
fn a_candidate_that_costs_is_taken_back_and_stays_away() {
    for (function, name, expected) in [(LONG, "long", long()), (SHORT, "calls", calls())] {
        let mut config = given(function, 1);
        // The target is never the planned one; and each round or call of the candidate holds a fence.
        config.trials.padding = 1;
        let mut guest = Guest::new(&engine(config), GUEST);
        let record = guest.until_tried(function, name, &[u64::from(ROUNDS)], expected);
        assert_ne!(record.judgement.verdict, Verdict::Faster, "{record:?}");
        assert!(tier2_plans(&guest, function).iter().all(|&planned| !planned));
        let code = guest.loaded.code.clone();
        for _ in 0..20 {
            code.reconsider(function);
            assert_eq!(guest.call(name, &[u64::from(ROUNDS)]), expected);
            guest.loaded.engine().settle();
        }
        let again = code.trials().into_iter().filter(|record| record.function == function);
        let judged = again.filter(|record| record.judgement.verdict != Verdict::Abandoned(Reason::Idle)).count();
        assert!(judged <= 1, "tried {judged} times");
    }
}

#[test]
fn of_two_stores_on_two_threads_one_is_timed_and_both_are_right() {
    let mut guest = Guest::new(&engine(given(SHORT, 0)), GUEST);
    let stops = Arc::new(AtomicBool::new(false));
    let other = std::thread::spawn({
        let (loaded, stops) = (guest.loaded.clone(), stops.clone());
        move || {
            let mut store = Store::new(loaded.engine()).expect("a store");
            // SAFETY: no imports.
            let instance = unsafe { store.instantiate(&loaded, &[]) }.expect("it instantiates");
            let mut guest = Guest { store, instance, loaded };
            let mut called = 0;
            while !stops.load(Ordering::Relaxed) {
                assert_eq!(guest.call("calls", &[u64::from(ROUNDS)]), calls());
                called += 1;
            }
            called
        }
    });
    for _ in 0..3 {
        let before = guest.loaded.code.trials().len();
        guest.until_tried(SHORT, "calls", &[u64::from(ROUNDS)], calls());
        guest.loaded.code.forget_rolled_back(SHORT);
        let began = Instant::now();
        while guest.loaded.code.trials().len() <= before && began.elapsed() < Duration::from_secs(2) {
            assert_eq!(guest.call("calls", &[u64::from(ROUNDS)]), calls());
        }
    }
    stops.store(true, Ordering::Relaxed);
    assert!(other.join().expect("its results are right") > 0);
}

#[test]
fn a_version_against_itself_changes_nothing() {
    let mut config = EngineConfig { feedback: vm::engine::FeedbackPolicy::Off, ..EngineConfig::default() };
    config.trials.try_same = true;
    let mut guest = Guest::new(&engine(config), GUEST);
    guest.until_tried(LONG, "long", &[u64::from(ROUNDS)], long());
    guest.until_tried(SHORT, "calls", &[u64::from(ROUNDS)], calls());
}

/// Bursts that began in a function between the first and the last moment of its trial.
fn bursts_on_trial(guest: &Guest, function: u32) -> usize {
    let moments = guest.loaded.engine().timeline().moments();
    let own = || moments.iter().filter(|moment| moment.function == function);
    let at = |wanted: fn(&What) -> bool| own().find(|moment| wanted(&moment.what)).expect("it was tried").at_ns;
    let trial = at(|what| matches!(what, What::TrialBegan { .. }))..at(|what| matches!(what, What::TrialEnded { .. }));
    own().filter(|moment| matches!(moment.what, What::Burst { .. }) && trial.contains(&moment.at_ns)).count()
}

/// All else of these programs is what the function on trial calls, so without it bursts would see another program.
#[test]
fn what_is_on_trial_takes_part_in_bursts() {
    for (function, name, rounds) in [(LONG, "long", long()), (SHORT, "calls", calls())] {
        let mut config = EngineConfig { timeline: true, ..EngineConfig::default() };
        config.trials.try_same = true;
        // A trial takes a few hundred milliseconds, in which a busy machine may not get to ask.
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(20) {
            let mut guest = Guest::new(&engine(config.clone()), GUEST);
            let record = guest.until_tried(function, name, &[u64::from(ROUNDS)], rounds);
            let bursts = bursts_on_trial(&guest, function);
            if bursts > 0 && record.judgement.pairs > 16 {
                break;
            }
        }
        assert!(began.elapsed() < Duration::from_secs(20), "no burst of {name}");
    }
}

/// Another instance of the module is not called to a trial that is not its own, round by round.
#[test]
fn a_trial_and_its_bursts_leave_other_instances_alone() {
    let mut config = EngineConfig::default();
    config.trials.try_same = true;
    let mut guest = Guest::new(&engine(config), GUEST);
    // SAFETY: no imports.
    let other = unsafe { guest.store.instantiate(&guest.loaded, &[]) }.expect("it instantiates");
    let instances = [guest.instance, other];
    let (began, mut rounds) = (Instant::now(), 0);
    while guest.loaded.code.trials().iter().all(|record| record.function != LONG) && began.elapsed() < Duration::from_secs(30) {
        for instance in instances {
            guest.instance = instance;
            assert_eq!(guest.call("long", &[u64::from(ROUNDS)]), long());
            rounds += u64::from(ROUNDS);
        }
        guest.loaded.code.reconsider(LONG);
    }
    let (trials, switches) = (guest.loaded.code.trials(), guest.loaded.code.switches());
    assert!(trials.iter().any(|record| record.function == LONG), "no trial in {rounds} rounds");
    // Each burst is some, and each look of the monitor; every round would be millions.
    assert!(switches < rounds / 1000, "{switches} switches in {rounds} rounds");
}

#[test]
fn without_trials_a_plan_is_carried_out_at_once() {
    let mut config = given(LONG, 0);
    config.trials.enabled = false;
    let mut guest = Guest::new(&engine(config), GUEST);
    for _ in 0..50 {
        assert_eq!(guest.call("long", &[u64::from(ROUNDS)]), long());
        guest.loaded.engine().settle();
    }
    assert!(guest.loaded.code.trials().is_empty());
    let plans = tier2_plans(&guest, LONG);
    assert!(!plans.is_empty() && plans.iter().all(|&planned| planned), "{plans:?}");
}

#[test]
fn what_lost_is_not_tried_again_in_the_next_process() {
    let mut config = given(SHORT, 1);
    config.trials.padding = 1;
    let mut guest = Guest::new(&engine(config.clone()), GUEST);
    guest.until_tried(SHORT, "calls", &[u64::from(ROUNDS)], calls());
    let profile = guest.loaded.code.saved_profile(RecordValues::All);
    let decision = inline(&guest, SHORT, 1);
    assert!(profile.lost.iter().any(|lost| lost.func == SHORT && lost.decision.offset() == decision.offset()), "{:?}", profile.lost);
    let again = SavedProfile::from_bytes(&profile.to_bytes()).expect("it comes back");
    config.profiles.push(Arc::new(again));
    let mut next = Guest::new(&engine(config), GUEST);
    for _ in 0..20 {
        assert_eq!(next.call("calls", &[u64::from(ROUNDS)]), calls());
        next.loaded.engine().settle();
        next.loaded.code.reconsider(SHORT);
    }
    assert!(next.loaded.code.trials().is_empty(), "{:?}", next.loaded.code.trials());
}

/// Says that a call's targets are spread.
#[derive(Debug)]
struct Doubt(u32);

impl Policy for Doubt {
    fn plan(&self, snapshot: &Snapshot, _: &Budgets) -> (Vec<Plan>, Vec<Refusal>) {
        let reason = RefusalReason::NoDominantTarget { share: 0.4, needed: 0.8, samples: 1000 };
        let refuse = |func| Refusal {
            function: FunctionId { module: snapshot.module, func },
            offset: self.0,
            transformation: "inline".into(),
            parameter: None,
            reason: reason.clone(),
        };
        (Vec::new(), snapshot.functions.iter().map(|function| refuse(function.func)).collect())
    }
}

/// Plans one thing for one function, nothing until it is told to.
#[derive(Debug)]
struct Later(Arc<AtomicBool>, u32, Decision);

impl Policy for Later {
    fn plan(&self, snapshot: &Snapshot, _: &Budgets) -> (Vec<Plan>, Vec<Refusal>) {
        let function = FunctionId { module: snapshot.module, func: self.1 };
        let plan = Plan { function, decisions: vec![self.2.clone()] };
        (self.0.load(Ordering::Relaxed).then_some(plan).into_iter().collect(), Vec::new())
    }
}

#[test]
fn a_loop_that_ends_before_its_blocks_is_not_tried_for_ever() {
    let told = Arc::new(AtomicBool::new(false));
    let decision = inline(&Guest::new(&engine(EngineConfig::default()), GUEST), LONG, 0);
    let mut guest =
        Guest::new(&engine(EngineConfig { policy: Arc::new(Later(told.clone(), LONG, decision)), ..EngineConfig::default() }), GUEST);
    // So long, it seems, that its loop is what is to be tried.
    let rounds = u64::from(ROUNDS);
    let has_loop = |guest: &Guest| {
        let versions = guest.loaded.code.versions();
        versions.iter().any(|version| version.function == LONG && version.tier == Tier::Optimizing && version.entrance != Entrance::Body)
    };
    for _ in 0..200 {
        assert_eq!(guest.call("long", &[rounds]), long());
        guest.loaded.engine().settle();
        if has_loop(&guest) {
            break;
        }
    }
    assert!(has_loop(&guest));
    told.store(true, Ordering::Relaxed);
    // And then it is called for a few rounds at a time.
    let record = guest.until_tried(LONG, "long", &[10], 30);
    assert!(record.loop_offset.is_some(), "{record:?}");
    assert_eq!((record.judgement.verdict, record.judgement.pairs), (Verdict::Abandoned(Reason::Idle), 0), "{record:?}");
}

#[test]
fn what_the_records_speak_against_is_tried_without() {
    let probe = Guest::new(&engine(EngineConfig::default()), GUEST);
    let module = probe.loaded.module.hash;
    // The target is never the planned one.
    let decision = inline(&probe, LONG, 1);
    let config = EngineConfig {
        policy: Arc::new(Doubt(decision.offset())),
        profiles: vec![saved(module, LONG, vec![decision.clone()])],
        ..EngineConfig::default()
    };
    let mut guest = Guest::new(&engine(config), GUEST);
    let record = guest.until_tried(LONG, "long", &[u64::from(ROUNDS)], long());
    assert!(record.decisions.is_empty() && record.without == [decision.clone()], "{record:?}");
    let kept = guest.loaded.code.adopted(LONG).is_some();
    assert_eq!(kept, record.judgement.verdict != Verdict::Faster, "only a trial takes it out: {record:?}");
    // With what the records speak for it stays.
    let config = EngineConfig { profiles: vec![saved(module, LONG, vec![decision])], ..given(LONG, 1) };
    let mut guest = Guest::new(&engine(config), GUEST);
    for _ in 0..20 {
        assert_eq!(guest.call("long", &[u64::from(ROUNDS)]), long());
        guest.loaded.engine().settle();
        guest.loaded.code.reconsider(LONG);
    }
    assert!(guest.loaded.code.trials().is_empty() && guest.loaded.code.adopted(LONG).is_some());
}

#[test]
fn a_look_at_what_is_in_force_holds_up_nothing_new() {
    let probe = Guest::new(&engine(EngineConfig::default()), GUEST);
    let decision = inline(&probe, SHORT, 1);
    let profiles = vec![saved(probe.loaded.module.hash, SHORT, vec![decision.clone()])];
    let config = EngineConfig { policy: Arc::new(Doubt(decision.offset())), profiles, ..EngineConfig::default() };
    let mut guest = Guest::new(&engine(config), GUEST);
    for _ in 0..100_000 {
        guest.call("calls", &[1000]);
        guest.loaded.code.reconsider(SHORT);
        guest.loaded.engine().settle();
        if guest.loaded.code.is_trying() {
            break;
        }
    }
    assert!(guest.loaded.code.is_trying());
    // Nobody calls the function any more, and its records say something again. Without that the trial would wait for 5 s.
    guest.loaded.code.reconsider(SHORT);
    let began = Instant::now();
    while guest.loaded.code.trials().is_empty() && began.elapsed() < Duration::from_secs(4) {
        assert_eq!(guest.call("long", &[u64::from(ROUNDS)]), long());
    }
    let trials = guest.loaded.code.trials();
    let [record] = &trials[..] else { panic!("{trials:?}") };
    assert_eq!((record.without.as_slice(), record.judgement.verdict), (&[decision][..], Verdict::Abandoned(Reason::Idle)));
}

/// `sum` adds up `n` cells; `sums` calls it in a loop, with 8 unless told otherwise.
const SUMS: &str = "(module
    (memory 1)
    (data (i32.const 0) \"abcdefghijklmnopqrstuvwxyz\")
    (func $sum (param $n i32) (result i32) (local $i i32) (local $s i32)
        (loop $next
            (local.set $s (i32.add (i32.mul (local.get $s) (i32.const 31)) (i32.load8_u (local.get $i))))
            (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
        (local.get $s))
    (func $sums (export \"sums\") (param $rounds i32) (param $n i32) (result i32) (local $x i32)
        (loop $again
            (local.set $x (i32.xor (i32.rotl (local.get $x) (i32.const 1)) (call $sum (local.get $n))))
            (br_if $again (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1)))))
        (local.get $x)))";

fn sums(rounds: u32, n: u32) -> u64 {
    let sum = (0..n).fold(0u32, |s, i| s.wrapping_mul(31).wrapping_add(u32::from(b'a') + i));
    u64::from((0..rounds).fold(0u32, |x, _| x.rotate_left(1) ^ sum))
}

#[test]
fn a_callee_that_was_specialized_is_tried_so_in_its_caller() {
    let probe = Guest::new(&engine(EngineConfig::default()), SUMS);
    let start = probe.loaded.module.bodies[0].start as u32;
    let decision = Decision::Specialize(SpecializeDecision { offset: start, parameter: 0, value: 8, because: Default::default() });
    let config = EngineConfig { profiles: vec![saved(probe.loaded.module.hash, 0, vec![decision.clone()])], ..EngineConfig::default() };
    let mut guest = Guest::new(&engine(config), SUMS);
    let record = guest.until_tried(1, "sums", &[500_000, 8], sums(500_000, 8));
    assert!(record.decisions.contains(&decision), "{record:?}");
    let arms = guest.loaded.code.versions();
    let candidate = arms.iter().find(|version| version.number == record.versions[1]).expect("the candidate");
    let done = candidate.applied.iter().filter(|applied| applied.name == "specialize" && applied.refused.is_none());
    assert_eq!(done.count(), 1, "{:?}", candidate.applied);
    // Another value is the call's.
    for n in [1, 7, 9, 26] {
        assert_eq!(guest.call("sums", &[1000, n]), sums(1000, n as u32));
    }
}

#[test]
fn what_is_decided_of_an_inlined_function_is_tried_in_its_copy() {
    let probe = Guest::new(&engine(EngineConfig::default()), SUMS);
    let start = probe.loaded.module.bodies[0].start as u32;
    let decision = Decision::Specialize(SpecializeDecision { offset: start, parameter: 0, value: 8, because: Default::default() });
    let told = Arc::new(AtomicBool::new(false));
    let policy = Arc::new(Later(told.clone(), 0, decision.clone()));
    let profiles = vec![saved(probe.loaded.module.hash, 1, vec![inline_direct(&probe, 1, 0)])];
    let mut guest = Guest::new(&engine(EngineConfig { policy, profiles, ..EngineConfig::default() }), SUMS);
    let inlines =
        |guest: &Guest| guest.loaded.code.versions().iter().any(|version| version.function == 1 && version.tier == Tier::Optimizing);
    for _ in 0..200 {
        assert_eq!(guest.call("sums", &[100_000, 8]), sums(100_000, 8));
        guest.loaded.engine().settle();
        if inlines(&guest) {
            break;
        }
    }
    assert!(inlines(&guest));
    assert!(guest.loaded.code.trials().is_empty());
    told.store(true, Ordering::Relaxed);
    // It is not called any more, so its own trial would see nothing.
    let began = Instant::now();
    while guest.loaded.code.trials().iter().all(|record| record.function != 1) && began.elapsed() < Duration::from_secs(30) {
        guest.loaded.code.reconsider(0);
        assert_eq!(guest.call("sums", &[500_000, 8]), sums(500_000, 8));
    }
    let trials = guest.loaded.code.trials();
    let record = trials.iter().find(|record| record.function == 1).unwrap_or_else(|| panic!("a trial of the caller: {trials:?}"));
    assert_eq!(record.decisions, [decision]);
    let versions = guest.loaded.code.versions();
    let candidate = versions.iter().find(|version| version.number == record.versions[1]).expect("the candidate");
    let done = |name| candidate.applied.iter().any(|applied| applied.name == name && applied.refused.is_none());
    assert!(done("specialize"), "{:?}", candidate.applied);
    for n in [1, 7, 9, 26] {
        assert_eq!(guest.call("sums", &[1000, n]), sums(1000, n as u32));
    }
}

/// A recursion that takes some 20 ns a level, too large to be inlined in itself without a plan.
fn recursion() -> String {
    let step = "(local.set $x (i32.xor (i32.mul (i32.rotl (local.get $x) (i32.const 3)) (i32.const 77)) (local.get $n)))";
    format!(
        "(module (func $f (export \"f\") (param $n i32) (param $x i32) (result i32)
            (if (i32.eqz (local.get $n)) (then (return (local.get $x))))
            {}
            (call $f (i32.sub (local.get $n) (i32.const 1)) (local.get $x))))",
        step.repeat(16)
    )
}

#[test]
fn calls_that_a_function_inlines_in_itself_are_counted() {
    let text = recursion();
    let probe = Guest::new(&engine(EngineConfig::default()), &text);
    let decisions = vec![inline_direct(&probe, 0, 0)];
    let plans = PlanFile { module: None, plans: vec![FilePlan { func: 0, decisions }] };
    let mut guest = Guest::new(&engine(EngineConfig { plans: Some(Arc::new(plans)), ..EngineConfig::default() }), &text);
    let expected = guest.call("f", &[2000, 1]);
    let record = guest.until_tried(0, "f", &[2000, 1], expected);
    assert_eq!(record.decisions.len(), 1, "{record:?}");
    // Else it does twice as much for each call that the gate sees.
    assert!(record.judgement.ratio < 1.5, "{record:?}");
    let versions = guest.loaded.code.versions();
    let candidate = versions.iter().find(|version| version.number == record.versions[1]).expect("the candidate");
    assert!(candidate.counts_inlined, "{:?}", candidate.applied);
    let in_force = guest.loaded.code.versions_in_force();
    assert!(in_force.iter().all(|version| !version.counts_inlined), "what counts is not what stays");
    let kept = record.judgement.verdict.keeps();
    assert_eq!(in_force.iter().any(|version| version.plan.is_some()), kept, "{record:?}");
    assert_eq!(guest.call("f", &[2000, 1]), expected);
}

/// Two functions that call each other, each with a choice that nearly always goes one way.
const EACH_OTHER: &str = "(module
    (func $a (export \"a\") (param $n i32) (param $x i32) (result i32)
        (if (i32.eqz (local.get $n)) (then (return (local.get $x))))
        (call $b (i32.sub (local.get $n) (i32.const 1))
            (select (i32.const 7) (i32.add (i32.rotl (local.get $x) (i32.const 3)) (i32.const 1)) (i32.eq (local.get $x) (i32.const -5)))))
    (func $b (param $n i32) (param $x i32) (result i32)
        (if (i32.eqz (local.get $n)) (then (return (local.get $x))))
        (call $a (i32.sub (local.get $n) (i32.const 1))
            (select (i32.const 9) (i32.xor (i32.rotl (local.get $x) (i32.const 5)) (i32.const 3)) (i32.eq (local.get $x) (i32.const -6))))))";

/// Plans one thing for each of some functions.
#[derive(Debug)]
struct Each(Vec<(u32, Decision)>);

impl Policy for Each {
    fn plan(&self, snapshot: &Snapshot, _: &Budgets) -> (Vec<Plan>, Vec<Refusal>) {
        let plan = |(func, decision): &(u32, Decision)| Plan {
            function: FunctionId { module: snapshot.module, func: *func },
            decisions: vec![decision.clone()],
        };
        (self.0.iter().map(plan).collect(), Vec::new())
    }
}

#[test]
fn functions_that_inline_each_other_are_looked_at_once() {
    let probe = Guest::new(&engine(EngineConfig::default()), EACH_OTHER);
    let chooses = |function| {
        let offset = offset_of(&probe.loaded, function, |it| matches!(it, Operator::Select));
        (function, Decision::SelectToBranch(LikelyDecision { offset, likely: false, because: Default::default() }))
    };
    let mut profile = SavedProfile::clone(&saved(probe.loaded.module.hash, 0, vec![inline_direct(&probe, 0, 1)]));
    profile.compiled.push(SavedVersion { func: 1, loop_offset: None, decisions: vec![inline_direct(&probe, 1, 0)] });
    let policy = Arc::new(Each(vec![chooses(0), chooses(1)]));
    let mut guest = Guest::new(&engine(EngineConfig { policy, profiles: vec![Arc::new(profile)], ..EngineConfig::default() }), EACH_OTHER);
    let expected = guest.call("a", &[1000, 1]);
    let began = Instant::now();
    while guest.loaded.code.trials().is_empty() && began.elapsed() < Duration::from_secs(30) {
        for _ in 0..1000 {
            assert_eq!(guest.call("a", &[1000, 1]), expected);
        }
        (0..2).for_each(|function| guest.loaded.code.reconsider(function));
    }
    assert!(!guest.loaded.code.trials().is_empty(), "what looks for the other's sake leads to no look, and trials have their turn");
    guest.loaded.engine().settle();
}

/// An outer loop that loads by a loaded key, and does 64 rounds of an inner loop for each.
const NEST: &str = "(module
    (memory 64)
    (func (export \"probe\") (param $n i32) (result i32) (local $i i32) (local $sum i32) (local $x i32) (local $k i32)
        (loop $keys
            (local.set $x (i32.load offset=2097152 (i32.and
                (i32.mul (i32.load (i32.shl (local.get $i) (i32.const 2))) (i32.const -1640531527))
                (i32.const 0xfffc))))
            (local.set $k (i32.const 64))
            (loop $steps
                (local.set $sum (i32.add (i32.rotl (local.get $sum) (i32.const 5)) (i32.add (local.get $x) (i32.const 1))))
                (br_if $steps (local.tee $k (i32.sub (local.get $k) (i32.const 1)))))
            (br_if $keys (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
        (local.get $sum)))";

#[test]
fn what_an_inner_loops_code_refuses_is_tried_at_the_loop_around_it() {
    let (keys, steps, load) = {
        let guest = Guest::new(&engine(EngineConfig::default()), NEST);
        let mut reader = guest.loaded.module.body(0).get_operators_reader().expect("valid");
        let (mut loops, mut loads) = (Vec::new(), Vec::new());
        while !reader.eof() {
            match reader.read_with_offset().expect("valid") {
                (wasmparser::Operator::Loop { .. }, at) => loops.push(at as u32),
                (wasmparser::Operator::I32Load { .. }, at) => loads.push(at as u32),
                _ => {}
            }
        }
        (loops[0], loops[1], loads[1])
    };
    let decision =
        Decision::Prefetch(PrefetchDecision { offset: load, kind: PrefetchKind::Indirect, distance: 8, because: Because::default() });
    let n = 50_000u32;
    let expected = u64::from((0..64 * n).fold(0u32, |sum, _| sum.rotate_left(5).wrapping_add(1)));
    let tried = |guest: &Guest, at: u32| {
        let records = guest.loaded.code.trials();
        records.into_iter().find(|record| record.loop_offset == Some(at) && record.decisions == [decision.clone()])
    };
    // Which loop the code is entered at, and so where the first trial is, depends on when the compiler was done: nearly always the inner one.
    for _ in 0..10 {
        let policy = Later(Arc::new(AtomicBool::new(true)), 0, decision.clone());
        let mut guest = Guest::new(&engine(EngineConfig { policy: Arc::new(policy), ..EngineConfig::default() }), NEST);
        for _ in 0..5000 {
            assert_eq!(guest.call("probe", &[u64::from(n)]), expected);
            guest.loaded.code.reconsider(0);
            if tried(&guest, keys).is_some() {
                break;
            }
        }
        let outer = tried(&guest, keys).expect("tried at the outer loop");
        // Its code has the prefetch, so it was timed, whether or not the inner one said at once that it cannot.
        assert_ne!(outer.judgement.verdict, Verdict::Abandoned(Reason::NoEffect), "{outer:?}");
        if let Some(inner) = tried(&guest, steps) {
            assert_eq!(inner.judgement.verdict, Verdict::Abandoned(Reason::NoEffect), "{inner:?}");
            return;
        }
    }
    panic!("never entered at the inner loop");
}
