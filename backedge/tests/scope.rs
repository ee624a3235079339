//! Who shares what is learned: all stores of a module, or none ([`FeedbackScope`]).

use backedge::{Config, Engine, FeedbackScope, Instance, Module, Store};

/// Calls through a table, so that records say which function it is; hot after some calls.
const PROGRAM: &str = r#"(module
    (type $f (func (param i32) (result i32)))
    (table 2 2 funcref) (elem (i32.const 0) func $one $two)
    (func $one (type $f) (i32.add (local.get 0) (i32.const 1)))
    (func $two (type $f) (i32.add (local.get 0) (i32.const 2)))
    (func (export "run") (param $which i32) (param $rounds i32) (result i32) (local $sum i32)
        (loop $again
            (local.set $sum (call_indirect (type $f) (local.get $sum) (local.get $which)))
            (br_if $again (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1)))))
        (local.get $sum)))"#;

const ROUNDS: i32 = 200_000;

fn module(scope: FeedbackScope) -> Module {
    Module::new(&engine(scope), PROGRAM).unwrap()
}

fn engine(scope: FeedbackScope) -> Engine {
    let mut config = Config::new();
    // On the spot, so that what is there after a call does not depend on threads.
    config.feedback_scope(scope).deterministic(true);
    // Long enough in tier 1 for some hundred records.
    (config.machine().hot_interpreter, config.machine().hot_baseline) = (50, 20_000);
    Engine::new(&config).unwrap()
}

/// Runs it hot in a store that stays, calling that entry of the table.
fn hot_store(module: &Module, which: i32) -> (Store<()>, Instance) {
    let mut store = Store::new(module.engine(), ());
    let instance = Instance::new(&mut store, module, &[]).unwrap();
    let run = instance.get_typed_func::<(i32, i32), i32>(&mut store, "run").unwrap();
    assert_eq!(run.call(&mut store, (which, ROUNDS)).unwrap(), (which + 1) * ROUNDS);
    (store, instance)
}

/// Callees that plans of the code that an instance runs name.
fn inlined(store: &mut Store<()>, instance: &Instance) -> Vec<u32> {
    let mut callees = Vec::new();
    for version in instance.report(store).functions.iter().flat_map(|function| &function.versions) {
        for decision in &version.decisions {
            if let lwp_feedback::policy::Decision::Inline(it) = decision {
                callees.extend(it.targets.iter().map(|target| target.callee));
            }
        }
    }
    callees.sort_unstable();
    callees.dedup();
    callees
}

#[test]
fn stores_of_a_module_share_what_is_learned() {
    let module = module(FeedbackScope::Module);
    let (mut first, instance) = hot_store(&module, 0);
    assert_eq!(inlined(&mut first, &instance), [0]);
    let versions = module.loaded().code.versions().len();
    assert!(versions >= 2);
    // A fresh store begins with the code of the first.
    let mut store = Store::new(module.engine(), ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    assert_eq!(instance.report(&mut store).functions.iter().map(|function| function.versions.len()).sum::<usize>(), versions);
}

#[test]
fn with_the_scope_of_a_store_nothing_reaches_another() {
    let module = module(FeedbackScope::Store);
    let (mut first, of_first) = hot_store(&module, 0);
    // Nothing of it shows in a second store, which learns the opposite.
    let mut fresh = Store::new(module.engine(), ());
    let instance = Instance::new(&mut fresh, &module, &[]).unwrap();
    assert!(instance.report(&mut fresh).functions.is_empty());
    let (mut second, of_second) = hot_store(&module, 1);
    assert_eq!(inlined(&mut first, &of_first), [0]);
    assert_eq!(inlined(&mut second, &of_second), [1]);
    // The module's own code was never run.
    assert!(module.report().functions.is_empty());
    // Two instances in one store are one tenant.
    let again = Instance::new(&mut first, &module, &[]).unwrap();
    assert_eq!(inlined(&mut first, &again), [0]);
}

#[test]
fn what_a_store_learned_goes_with_it() {
    let module = module(FeedbackScope::Store);
    let engine = module.engine().clone();
    drop(hot_store(&module, 0));
    // What is drained last may be what named its code last.
    engine.settle();
    let profile = engine.vm().profile().clone();
    assert!(profile.modules().is_empty(), "no profile is left");
    for round in 0..20 {
        drop(hot_store(&module, round % 2));
    }
    engine.settle();
    assert!(profile.modules().len() <= 1, "{} profiles", profile.modules().len());
}

#[test]
fn what_was_learned_of_modules_that_are_gone_stays_for_the_last_of_them() {
    let engine = engine(FeedbackScope::Module);
    let load = |number: u32| {
        let text = PROGRAM.replace("(i32.const 2)", &format!("(i32.const {})", number + 2));
        let module = Module::new(&engine, text).unwrap();
        hot_store(&module, 0);
        engine.settle();
        module.loaded().module.hash
    };
    let hashes: Vec<u64> = (0..80).map(load).collect();
    let known = engine.vm().profile().modules();
    assert!(known.len() <= 32, "{} modules have a profile", known.len());
    assert!(hashes[70..].iter().all(|hash| known.contains(hash)), "the last ten are there");
    assert!(!known.contains(&hashes[0]));
}

/// Records that are drained only after their modules have gone, and were forgotten by number, made new profiles that nobody forgot.
#[test]
fn records_that_come_after_their_module_has_gone_leave_no_profile_behind() {
    let mut config = Config::new();
    // Nobody drains but who is asked to.
    config.monitor_thread(false);
    (config.machine().hot_interpreter, config.machine().tier_up_by_cost) = (50, false);
    let engine = Engine::new(&config).unwrap();
    let run = |number: u32| {
        let text = PROGRAM.replace("(i32.const 2)", &format!("(i32.const {number})"));
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &Module::new(&engine, text).unwrap(), &[]).unwrap();
        // (so few that the ring has room for the records of all)
        let run = instance.get_typed_func::<(i32, i32), i32>(&mut store, "run").unwrap();
        assert_eq!(run.call(&mut store, (0, 120)).unwrap(), 120);
    };
    (1000..1200).for_each(run);
    let profile = engine.vm().profile();
    assert!(profile.modules().is_empty(), "nothing was drained yet");
    engine.settle();
    // (a thread that has written nothing since answers for its ring when it writes)
    run(1200);
    engine.settle();
    engine.poll_monitor();
    let known = profile.modules().len();
    assert!((1..=32).contains(&known), "{known} modules have a profile");
}
