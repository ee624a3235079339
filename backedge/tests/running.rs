//! What must never happen (design section 7), on the running machine: frames that jump the guard, switches that pile up frames, a profile that
//! changes a result.

use lwp_feedback::class::SiteClass;
use lwp_feedback::layout::Record;
use lwp_feedback::ring::RingConfig;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vm::engine::{Engine, EngineConfig, FeedbackPolicy, LoadedModule, Stress, TierPolicy};
use vm::handles::{Extern, InstanceRef};
use vm::store::{Store, call_slots};
use vm::trap::{Outcome, TrapCode, Unwind};

fn engine(config: EngineConfig) -> Engine {
    let compiler = jit::CraneliftCompiler::new(Default::default()).expect("this machine is one the compiler supports");
    Engine::new(config, Some(Arc::new(compiler))).expect("the engine starts")
}

/// Engines that run everything in one tier, and one that moves up on the spot.
fn engines() -> Vec<Engine> {
    let tiers = [TierPolicy::Interpreter, TierPolicy::Baseline, TierPolicy::Optimizing];
    let mut all: Vec<_> = tiers.map(|tier| engine(EngineConfig { tier, ..EngineConfig::default() })).into();
    all.push(engine(EngineConfig { hot_interpreter: 1, hot_baseline: 1, deterministic: true, ..EngineConfig::default() }));
    all
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

    fn call(&mut self, name: &str, args: &[u64]) -> Outcome<u64> {
        let Some(Extern::Func(function)) = self.instance.export(name) else { panic!("no function {name}") };
        let mut slots = args.to_vec();
        slots.resize(call_slots(&function.ty()), 0);
        // SAFETY: the function is this store's and the arguments are numbers of its types.
        unsafe { self.store.call(function, &mut slots) }?;
        Ok(slots[0])
    }
}

fn assert_trap<T: std::fmt::Debug>(outcome: Outcome<T>, expected: TrapCode) {
    match *outcome.expect_err("it traps") {
        Unwind::Trap { code, .. } => assert_eq!(code, expected),
        other => panic!("not a trap: {other:?}"),
    }
}

/// A recursive function that keeps `count` locals alive over its call.
fn wide_recursion(count: usize) -> String {
    let sets: String = (0..count).map(|i| format!("(local.set {} (i64.add (local.get 0) (i64.const {i})))", i + 1)).collect();
    let sum: String = (0..count).map(|i| format!("(local.set 0 (i64.add (local.get 0) (local.get {})))", i + 1)).collect();
    format!(
        "(module (func $f (export \"f\") (param i64) (result i64) (local{}) {sets}
            (if (i64.eqz (local.get 0)) (then (return (i64.const 7))))
            (drop (call $f (i64.sub (local.get 0) (i64.const 1)))) {sum} (local.get 0)))",
        " i64".repeat(count)
    )
}

#[test]
fn frames_never_jump_the_guard() {
    // Frames of about 60 KiB, below the probes' step, and of 400 KiB, above it (50,000 locals are the most a function may have).
    for count in [7_500, 49_999] {
        let wat = wide_recursion(count);
        for engine in engines() {
            let mut guest = Guest::new(&engine, &wat);
            assert_trap(guest.call("f", &[1_000_000]), TrapCode::StackOverflow);
            let expected = (0..count as u64).map(|i| i + 1).sum::<u64>() + 1;
            assert_eq!(guest.call("f", &[1]).expect("room for two frames"), expected, "after the overflow the store works on");
        }
    }
}

/// A recursive function of `steps` values, each of which crosses a block: allocated in one pass each has a slot of its own.
fn many_values(steps: usize) -> String {
    let step = "(if (i64.lt_s (local.get 1) (i64.const 0)) (then (local.set 1 (i64.add (local.get 1) (i64.const 3)))))";
    format!(
        "(module (func $f (export \"f\") (param i64) (result i64) (local i64)
            (if (i64.eqz (local.get 0)) (then (return (i64.const 7)))) {}
            (i64.add (call $f (i64.sub (local.get 0) (i64.const 1))) (local.get 1))))",
        step.repeat(steps)
    )
}

#[test]
fn a_large_body_recurses_as_deep_as_its_locals_allow() {
    // An evaluation loop of 40 KB had frames of 14 KB, and 75 of them filled the stack.
    let wat = many_values(3000);
    let tiers = [TierPolicy::Interpreter, TierPolicy::Baseline, TierPolicy::Optimizing];
    for tier in tiers {
        let mut guest = Guest::new(&engine(EngineConfig { tier, ..EngineConfig::default() }), &wat);
        assert_eq!(guest.call("f", &[5000]).expect("room for 5,000 frames"), 7, "{tier:?}");
    }
}

#[test]
fn a_thousand_parameters_arrive() {
    let params = " i32".repeat(1000);
    let args: String = (0..1000).map(|i| format!("(i32.const {i})")).collect();
    let sum: String = (0..1000).map(|i| format!("(local.set 0 (i32.add (i32.mul (local.get 0) (i32.const 3)) (local.get {i})))")).collect();
    let wat = format!(
        "(module (func $g (param{params}) (result i32) {sum} (local.get 0))
            (func (export \"f\") (result i32) (call $g {args})))"
    );
    let expected = (0..1000).fold(0u32, |sum, i| sum.wrapping_mul(3).wrapping_add(i));
    for engine in engines() {
        let mut guest = Guest::new(&engine, &wat);
        for _ in 0..3 {
            assert_eq!(guest.call("f", &[]).expect("it returns") as u32, expected);
        }
    }
}

/// A loop of `n` rounds whose result depends on every one, in a function that a compiled one calls, so that it has a caller to return to.
const LOOP: &str = "(module
    (func $sum (export \"sum\") (param $n i64) (result i64) (local $x i64) (local $i i64)
        (loop $again
            (local.set $x (i64.add (i64.mul (local.get $x) (i64.const 31)) (local.get $i)))
            (local.set $i (i64.add (local.get $i) (i64.const 1)))
            (br_if $again (i64.lt_u (local.get $i) (local.get $n))))
        (local.get $x))
    (func (export \"outer\") (param i64) (result i64) (i64.add (i64.const 1) (call $sum (local.get 0)))))";

fn sum(n: u64) -> u64 {
    (0..n).fold(0u64, |x, i| x.wrapping_mul(31).wrapping_add(i))
}

/// Calls `f` while another thread asks the module's code to leave all the time.
fn while_asked_to_leave<R>(loaded: &Arc<LoadedModule>, f: impl FnOnce() -> R) -> R {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                loaded.code.ask_all_to_leave();
            }
        });
        let result = f();
        stop.store(true, Ordering::Relaxed);
        result
    })
}

#[test]
fn switches_do_not_pile_up_frames() {
    // To the loop's own code again and again, and to the interpreter and back.
    for leave_to_interpreter in [false, true] {
        let engine = engine(EngineConfig {
            hot_interpreter: 1,
            hot_baseline: 1,
            deterministic: true,
            wasm_stack_bytes: 64 << 10,
            stress: Stress { leave_to_interpreter, ..Stress::default() },
            ..EngineConfig::default()
        });
        let mut guest = Guest::new(&engine, LOOP);
        for _ in 0..3 {
            assert_eq!(guest.call("outer", &[100]).expect("it returns"), sum(100) + 1);
        }
        let loaded = guest.loaded.clone();
        let rounds = if leave_to_interpreter { 3_000_000 } else { 300_000_000 };
        let before = loaded.code.switches();
        let expected = sum(rounds) + 1;
        // Again and again where the other thread gets little of the CPU.
        let patience = Instant::now() + Duration::from_secs(240);
        while Instant::now() < patience {
            let result = while_asked_to_leave(&loaded, || guest.call("outer", &[rounds]).expect("it returns"));
            assert_eq!(result, expected);
            if loaded.code.switches() - before > 10_000 {
                break;
            }
        }
        let switches = loaded.code.switches() - before;
        // Frames that piled up would have filled the 64 KiB stack after a thousand.
        assert!(switches > 10_000, "only {switches} switches (to the interpreter: {leave_to_interpreter})");
    }
}

#[test]
fn a_pinned_tier_goes_on_compiled_after_it_was_asked_to_leave() {
    for tier in [TierPolicy::Baseline, TierPolicy::Optimizing] {
        let mut guest = Guest::new(&engine(EngineConfig { tier, ..EngineConfig::default() }), LOOP);
        let loaded = guest.loaded.clone();
        let rounds = 30_000_000;
        let expected = sum(rounds) + 1;
        for _ in 0..1000 {
            assert_eq!(while_asked_to_leave(&loaded, || guest.call("outer", &[rounds]).expect("it returns")), expected);
            if loaded.code.switches() > 100 {
                break;
            }
        }
        assert!(loaded.code.switches() > 100);
        assert!(loaded.code.versions().iter().any(|version| matches!(version.entrance, vm::code::Entrance::Loop(_))));
    }
}

#[test]
fn a_frame_that_moved_to_compiled_code_is_in_the_backtrace_once() {
    let engine = engine(EngineConfig { hot_interpreter: 50, deterministic: true, ..EngineConfig::default() });
    let mut guest = Guest::new(
        &engine,
        "(module (func $f (export \"f\") (param i32) (result i32)
            (loop $again (br_if $again (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
            (i32.div_u (i32.const 1) (local.get 0)))
         (func $outer (export \"outer\") (param i32) (result i32) (call $f (local.get 0))))",
    );
    let Unwind::Trap { frames, .. } = *guest.call("outer", &[1000]).expect_err("it divides by zero") else { panic!("not a trap") };
    let names: Vec<_> = frames.iter().map(|frame| frame.name().unwrap_or("")).collect();
    assert_eq!(names, ["f", "outer"]);
    assert!(guest.loaded.code.versions().iter().any(|version| matches!(version.entrance, vm::code::Entrance::Loop(_))));
}

/// Eight targets, a loop that calls them by a pattern, and loads and stores.
const DISPATCH: &str = "(module
    (memory 1)
    (type $t (func (param i32) (result i32)))
    (table (export \"table\") 8 8 funcref)
    (elem (i32.const 0) $a $b $c $d $a $b $loops $calls)
    (func $a (type $t) (i32.add (local.get 0) (i32.const 1)))
    (func $b (type $t) (i32.xor (local.get 0) (i32.const 0x5555)))
    (func $c (type $t) (i32.rotl (local.get 0) (i32.const 3)))
    (func $d (type $t) (i32.store (i32.const 8) (local.get 0)) (i32.mul (i32.load (i32.const 8)) (i32.const 17)))
    (func $loops (type $t) (local $i i32)
        (loop $again
            (local.set 0 (i32.add (local.get 0) (local.get $i)))
            (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 5))))
        (local.get 0))
    (func $calls (type $t) (call $c (call $a (local.get 0))))
    (func $other (param i64 i64) (result i64) (i64.sub (local.get 0) (local.get 1)))
    (func $round (param $x i32) (param $i i32) (result i32)
        (call_indirect (type $t) (local.get $x) (i32.and (i32.shr_u (local.get $i) (i32.const 4)) (i32.const 7))))
    (func (export \"run\") (param $n i32) (result i32) (local $x i32) (local $i i32)
        (loop $again
            (local.set $x (call $round (local.get $x) (local.get $i)))
            (local.set $x (call_indirect (type $t) (local.get $x) (i32.and (local.get $i) (i32.const 1))))
            (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
        (i32.add (local.get $x) (i32.load (i32.const 8)))))";

/// xorshift64, so that a failure is the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[test]
fn a_lying_profile_changes_no_result() {
    let mut truth = Guest::new(&engine(EngineConfig { tier: TierPolicy::Interpreter, ..EngineConfig::default() }), DISPATCH);
    let rounds = 3_000;
    let expected: Vec<u64> = (0..40).map(|_| truth.call("run", &[rounds]).expect("it returns")).collect();
    let mut inlined = 0;
    for seed in 1..=12u64 {
        let engine = engine(EngineConfig {
            hot_interpreter: 50,
            hot_baseline: 20_000,
            deterministic: true,
            // The smallest ring there is: it overflows all the time.
            ring: RingConfig { buffer_bytes: 1024, interval1: 3, random_bits: 1, ..RingConfig::default() },
            budgets: lwp_feedback::policy::Budgets {
                min_samples: 1,
                min_share: 0.01,
                min_target_share: 0.01,
                max_targets: 1 + seed as usize % 4,
                ..Default::default()
            },
            ..EngineConfig::default()
        });
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut guest = Guest::new(&engine, DISPATCH);
        let code = guest.loaded.code.clone();
        let functions = guest.loaded.module.functions.len() as u64;
        let end = guest.loaded.module.bytes().len() as u64;
        for (call, &expected) in expected.iter().enumerate() {
            assert_eq!(guest.call("run", &[rounds]).expect("it returns"), expected, "seed {seed}, call {call}");
            // Between two calls this thread's ring has no other producer.
            let ring = engine.thread_ring().expect("this thread ran wasm");
            let mut producer = ring.producer();
            let mut write = |record: &Record| {
                if let Some(producer) = &mut producer {
                    producer.store(record);
                }
            };
            for _ in 0..200 {
                // Half of the records are bytes, half name real code and real sites with false values.
                let mut words = [random.next(), random.next(), random.next(), random.next()];
                if random.next() & 1 == 0 {
                    let addresses = code.code_addresses();
                    if let Some(range) = addresses.get(random.next() as usize % addresses.len().max(1)) {
                        words[1] = range.start + random.next() % (range.end - range.start);
                    }
                    let class = SiteClass::ALL[random.next() as usize % SiteClass::ALL.len()];
                    let id = if class.is_programmed() { 255 } else { 1 };
                    let data1 = if random.next() & 1 == 0 { random.next() % end } else { words[0] >> 32 };
                    words[0] = id | u64::from(class.imm16(0)) << 16 | data1 << 32;
                    words[2] = if random.next() & 1 == 0 { random.next() % (functions + 2) } else { words[2] };
                }
                write(&Record { words });
            }
            drop(producer);
            engine.settle();
        }
        inlined += code.versions().iter().flat_map(|version| &version.applied).filter(|applied| applied.refused.is_none()).count();
        assert!(engine.monitor_stats().missed > 0, "the ring overflowed");
    }
    assert!(inlined > 0, "plans from the lies were carried out");
}

/// Far fewer events than make it hot by themselves, but milliseconds of them.
#[test]
fn a_loop_moves_up_by_the_time_it_takes() {
    // And so where times are reported: a report is of the run that there is without.
    let cases = [(true, false, true), (true, true, true), (false, false, true), (true, false, false), (false, false, false)];
    for (tier_up_by_cost, measure, templates) in cases {
        let engine = engine(EngineConfig { hot_interpreter: 4_000_000, tier_up_by_cost, measure, templates, ..EngineConfig::default() });
        let mut guest = Guest::new(&engine, LOOP);
        for _ in 0..16 {
            assert_eq!(guest.call("sum", &[200_000]).expect("it returns"), sum(200_000));
            engine.settle();
        }
        // Templates take the place of tier 1.
        let first = guest.loaded.code.versions().first().map(|version| version.tier);
        let expected = if templates { vm::code::Tier::Optimizing } else { vm::code::Tier::Baseline };
        assert_eq!(first, tier_up_by_cost.then_some(expected));
    }
}

/// The least time of a large function's intervals is that of its shortest loop; what its calls of compiled code take on the way there and back is its own as well.
#[test]
fn a_function_moves_up_by_the_calls_it_makes_from_templates() {
    let mixed = |times: usize| {
        (0..times).fold("(local.get $v)".to_owned(), |value, _| format!("(i32.rotl (i32.mul {value} (i32.const 40503)) (i32.const 5))"))
    };
    // (of hundreds of bytes, so that templates do not run it in its code's place)
    let callee = format!("(func $leaf (param $v i32) (result i32) {})", mixed(40));
    // What makes the other one large never runs.
    let unused = format!("(local.set $v {})", mixed(50)).repeat(60);
    let module = format!(
        r#"(module {callee}
        (func (export "warm") (param $n i32) (result i32) (local $v i32)
          (loop $again (local.set $v (call $leaf (local.get $v))) (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
          (local.get $v))
        (func (export "run") (param $rounds i32) (param $calls i32) (result i32) (local $v i32)
          (if (i32.eq (local.get $rounds) (i32.const -1)) (then {unused}))
          (loop $round
            (local.set $v (i32.add (local.get $v) (i32.const 1)))
            (br_if $round (i32.gt_s (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1))) (i32.const 0))))
          (loop $call
            (if (i32.gt_s (local.get $calls) (i32.const 0)) (then
              (local.set $v (call $leaf (local.get $v)))
              (local.set $calls (i32.sub (local.get $calls) (i32.const 1)))
              (br $call))))
          (local.get $v)))"#
    );
    for calls in [true, false] {
        let engine = engine(EngineConfig::default());
        let mut guest = Guest::new(&engine, &module);
        let is_compiled = |guest: &Guest, function| guest.loaded.code.versions().iter().any(|version| version.function == function);
        let compiled = (0..1000).any(|_| {
            guest.call("warm", &[50_000]).expect("it returns");
            engine.settle();
            is_compiled(&guest, 0)
        });
        assert!(compiled, "the callee has code");
        // Its first records are of the short loop.
        guest.call("run", &[200_000, 0]).expect("it returns");
        engine.settle();
        for _ in 0..50 {
            guest.call("run", if calls { &[0, 200_000] } else { &[200_000, 0] }).expect("it returns");
            engine.settle();
            if is_compiled(&guest, 2) {
                break;
            }
        }
        assert_eq!(is_compiled(&guest, 2), calls);
    }
}

#[test]
fn without_feedback_no_plan_is_made() {
    let config = EngineConfig {
        hot_interpreter: 1,
        hot_baseline: 100,
        deterministic: true,
        feedback: FeedbackPolicy::Off,
        ..EngineConfig::default()
    };
    let engine = engine(config);
    let mut guest = Guest::new(&engine, DISPATCH);
    for _ in 0..5 {
        guest.call("run", &[3000]).expect("it returns");
    }
    let versions = guest.loaded.code.versions();
    assert!(versions.iter().any(|version| version.tier == vm::code::Tier::Optimizing));
    assert!(versions.iter().all(|version| version.plan.is_none()));
    assert!(engine.monitor_stats().records > 0, "records are written and drained all the same");
}
