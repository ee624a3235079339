//! Side exits on the running machine: code is left at every guard, in every frame it is inlined in, and results stay what the interpreter
//! says; a guard that fails too often takes its decision back; exits do not pile up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lwp_feedback::policy::{Decision, FilePlan, InlineDecision, InlineTarget, PlanFile};
use vm::code::{Entrance, GuardKind};
use vm::engine::{Engine, EngineConfig, LoadedModule, Stress, TierPolicy};
use vm::handles::{Extern, InstanceRef};
use vm::module::Module;
use vm::store::{Store, call_slots};
use wasmparser::Operator;

struct Guest {
    store: Store,
    instance: InstanceRef,
    loaded: Arc<LoadedModule>,
}

impl Guest {
    fn new(config: EngineConfig, wat: &str) -> Guest {
        let compiler = jit::CraneliftCompiler::new(jit::Options { verify: true, ..Default::default() }).unwrap();
        let engine = Engine::new(config, Some(Arc::new(compiler))).unwrap();
        let mut store = Store::new(&engine).unwrap();
        let loaded = engine.load(wat.as_bytes()).unwrap();
        // SAFETY: no imports.
        let instance = unsafe { store.instantiate(&loaded, &[]) }.unwrap();
        Guest { store, instance, loaded }
    }

    /// The result slots, or what it trapped with.
    fn call(&mut self, name: &str, args: &[u64]) -> Result<Vec<u64>, String> {
        let Some(Extern::Func(function)) = self.instance.export(name) else { panic!("no function {name}") };
        let mut slots = args.to_vec();
        slots.resize(call_slots(&function.ty()), 0);
        // SAFETY: the function is this store's and the arguments are numbers of its types.
        unsafe { self.store.call(function, &mut slots) }.map_err(|unwind| format!("{unwind:?}"))?;
        slots.truncate(function.ty().results().len());
        Ok(slots)
    }

    fn exits(&self) -> u64 {
        self.loaded.code.side_exits()
    }

    /// Optimizations that fired, by name.
    fn fired(&self, name: &str) -> usize {
        let versions = self.loaded.code.versions();
        versions.iter().flat_map(|version| &version.applied).filter(|applied| applied.name == name && applied.refused.is_none()).count()
    }
}

/// A function and its sites: function of the call, its number there, callees.
type Sites<'a> = (u32, &'a [(u32, usize, &'a [u32])]);

/// Plans that inline, with exits, at the nth `call_indirect` of a function (which may stand in a function that is inlined) these callees.
fn plans(wat: &str, of: &[Sites<'_>]) -> Option<Arc<PlanFile>> {
    let module = Module::new(wat.as_bytes()).unwrap();
    let offset = |function: u32, nth: usize| {
        let operators = module.body(function).get_operators_reader().unwrap().into_iter_with_offsets().map(Result::unwrap);
        let mut calls = operators.filter(|(operator, _)| matches!(operator, Operator::CallIndirect { .. }));
        calls.nth(nth).expect("a call_indirect").1 as u32
    };
    let plan = |&(func, sites): &Sites<'_>| FilePlan {
        func,
        decisions: (sites.iter())
            .map(|&(function, nth, callees)| {
                Decision::Inline(InlineDecision {
                    offset: offset(function, nth),
                    targets: callees.iter().map(|&callee| InlineTarget { callee, share: 1.0, samples: 100, body_bytes: 10 }).collect(),
                    samples: 100,
                    share: 1.0,
                    side_exit: true,
                    ..InlineDecision::default()
                })
            })
            .collect(),
    };
    Some(Arc::new(PlanFile { module: None, plans: of.iter().map(plan).collect() }))
}

fn optimizing(plans: Option<Arc<PlanFile>>) -> EngineConfig {
    EngineConfig { tier: TierPolicy::Optimizing, plans, ..EngineConfig::default() }
}

fn interpreting() -> EngineConfig {
    EngineConfig { tier: TierPolicy::Interpreter, ..EngineConfig::default() }
}

/// Runs the same calls interpreted, to the plans, and to the plans with every nth guard failing; all must agree. The guest with the plans comes back.
fn check(wat: &str, plans: Option<Arc<PlanFile>>, calls: &[(&str, &[u64])]) -> Guest {
    let mut truth = Guest::new(interpreting(), wat);
    let expected: Vec<_> = calls.iter().map(|(name, args)| truth.call(name, args)).collect();
    for fail_guards in [1, 2, 3, 7, 100] {
        let config = EngineConfig { stress: Stress { fail_guards, ..Stress::default() }, ..optimizing(plans.clone()) };
        let mut guest = Guest::new(config, wat);
        for ((name, args), expected) in calls.iter().zip(&expected) {
            same(&guest.call(name, args), expected, &format!("{name}{args:?}, every {fail_guards}th guard fails"));
        }
        assert!(guest.exits() > 0);
    }
    let mut guest = Guest::new(optimizing(plans), wat);
    for ((name, args), expected) in calls.iter().zip(&expected) {
        same(&guest.call(name, args), expected, &format!("{name}{args:?}"));
    }
    guest
}

/// Traps agree in their code; the frames name the same functions.
fn same(got: &Result<Vec<u64>, String>, expected: &Result<Vec<u64>, String>, what: &str) {
    match (got, expected) {
        (Ok(got), Ok(expected)) => assert_eq!(got, expected, "{what}"),
        (Err(got), Err(expected)) => assert_eq!(got, expected, "{what}"),
        (got, expected) => panic!("{what}: {got:?}, expected {expected:?}"),
    }
}

/// Function 0 adds 1, 1 doubles, 2 is of another type. The index comes from memory: byte i is i mod 4.
const SEQUENCE: &str = r#"(module
    (type $unary (func (param i32) (result i32)))
    (memory 1)
    (table (export "table") 5 funcref)
    (elem (i32.const 0) $inc $double $inc $inc $other)
    (func $inc (type $unary) (i32.add (local.get 0) (i32.const 1)))
    (func $double (type $unary) (i32.shl (local.get 0) (i32.const 1)))
    (func $other (param i64) (result i64) (local.get 0))
    (func (export "set") (param $at i32) (param $index i32) (i32.store8 (local.get $at) (local.get $index)))
    (func $run (export "run") (param $n i32) (result i32 i64 f64) (local $i i32) (local $x i32) (local $f f64)
        (i64.const 77)
        (loop $again
            (local.set $f (f64.add (local.get $f) (f64.const 0.5)))
            (f32.const 1.5)
            (i64.extend_i32_u (local.get $i))
            (local.set $x (call_indirect (type $unary) (local.get $x) (i32.load8_u (i32.and (local.get $i) (i32.const 0xff)))))
            (drop) (drop)
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $again (i32.lt_u (local.get $i) (local.get $n))))
        (drop)
        (local.get $x) (i64.extend_i32_u (local.get $i)) (local.get $f))
    (func (export "twice") (param $n i32) (result i32)
        (call $run (local.get $n)) (drop) (drop)
        (call $run (local.get $n)) (drop) (drop) (i32.add))
)"#;

#[test]
fn a_loop_is_left_with_operands_on_the_stack() {
    let plan = plans(SEQUENCE, &[(4, &[(4, 0, &[0])])]);
    let calls: &[(&str, &[u64])] = &[
        ("run", &[1000]),
        ("twice", &[100]),
        ("set", &[5, 1]),
        ("run", &[200]),
        ("twice", &[100]),
        ("set", &[6, 4]),
        ("run", &[50]),
        ("set", &[6, 5]),
        ("twice", &[50]),
    ];
    let guest = check(SEQUENCE, plan, calls);
    assert_eq!(guest.fired("side-exit"), 1);
    assert!(guest.exits() > 2);
}

/// `outer` calls `middle` through the table, that calls `inner` in a loop, that calls a leaf; all with values left on the stack.
const NESTED: &str = r#"(module
    (type $unary (func (param i32) (result i32)))
    (type $pair (func (param i32 i64) (result i64 i32)))
    (memory 1)
    (global $leaf (export "leaf") (mut i32) (i32.const 3))
    (table 5 5 funcref)
    (elem (i32.const 0) $outer $middle $inner $inc $double)
    (func $outer (export "outer") (param $n i32) (result i32) (local $i i32) (local $s i32)
        (loop $again
            (i32.const 1000)
            (call_indirect (type $unary) (local.get $i) (i32.const 1))
            (i32.add)
            (local.set $s (i32.add (local.get $s)))
            (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
        (local.get $s))
    (func $middle (param $k i32) (result i32) (local $j i32) (local $t i64)
        (local.set $j (i32.const 4))
        (loop $rounds
            (i64.const 9)
            (call_indirect (type $pair) (local.get $k) (local.get $t) (i32.const 2))
            (local.set $k)
            (i64.add)
            (local.set $t)
            (br_if $rounds (local.tee $j (i32.sub (local.get $j) (i32.const 1)))))
        (i32.add (i32.wrap_i64 (local.get $t)) (local.get $k)))
    (func $inner (type $pair)
        (i64.add (local.get 1) (i64.const 5))
        (f64.const 3)
        (call_indirect (type $unary) (local.get 0) (global.get $leaf))
        (local.set 0)
        (drop)
        (i32.store (i32.const 8) (local.get 0))
        (local.get 0))
    (func $inc (type $unary) (i32.add (local.get 0) (i32.const 1)))
    (func $double (type $unary) (i32.shl (local.get 0) (i32.const 1)))
    (func (export "aim") (param i32) (global.set $leaf (local.get 0)))
    (func (export "call") (param i32) (result i32) (i32.add (call $outer (local.get 0)) (i32.const 1)))
)"#;

#[test]
fn a_guard_in_what_is_inlined_in_what_is_inlined() {
    let plan = plans(NESTED, &[(0, &[(0, 0, &[1]), (1, 0, &[2]), (2, 0, &[3])])]);
    let calls: &[(&str, &[u64])] = &[
        ("outer", &[100]),
        ("call", &[100]),
        ("aim", &[4]),
        ("outer", &[10]),
        ("call", &[10]),
        ("aim", &[3]),
        ("call", &[10]),
        ("aim", &[7]),
        ("call", &[10]),
        ("aim", &[0]),
        ("outer", &[0]),
    ];
    // The last two recurse to the stack's end or trap; how deep is not compared.
    let guest = check(NESTED, plan, &calls[..9]);
    assert_eq!(guest.fired("inline-guarded"), 3);
    assert!(guest.exits() > 0);
}

#[test]
fn a_loop_in_an_inlined_callee_is_left_at_its_poll() {
    let plan = plans(NESTED, &[(0, &[(0, 0, &[1]), (1, 0, &[2]), (2, 0, &[3])])]);
    let expected = Guest::new(interpreting(), NESTED).call("call", &[100]);
    for leave_to_interpreter in [false, true] {
        let stress = Stress { leave_to_interpreter, ..Stress::default() };
        let mut guest = Guest::new(EngineConfig { stress, ..optimizing(plan.clone()) }, NESTED);
        let code = guest.loaded.code.clone();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    code.ask_all_to_leave();
                }
            });
            // As long as it takes the other thread to get to run that often.
            while code.switches() < 1000 {
                same(&guest.call("call", &[100]), &expected, "left at polls");
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(guest.exits(), 0);
    }
}

#[test]
fn several_targets_then_out() {
    let plan = plans(SEQUENCE, &[(4, &[(4, 0, &[0, 1])])]);
    let calls: &[(&str, &[u64])] = &[("set", &[5, 1]), ("set", &[9, 1]), ("run", &[200]), ("set", &[6, 4]), ("run", &[50])];
    let guest = check(SEQUENCE, plan, calls);
    assert_eq!(guest.fired("inline-guarded"), 2);
}

/// The callee is tested before the loop; what the test before the loop relies on changes between the calls.
const BEFORE: &str = r#"(module
    (type $unary (func (param i32) (result i32)))
    (table (export "table") 4 4 funcref)
    (elem (i32.const 0) $inc $double)
    (global $index (export "index") (mut i32) (i32.const 0))
    (func $inc (type $unary) (i32.add (local.get 0) (i32.const 1)))
    (func $double (type $unary) (i32.add (i32.shl (local.get 0) (i32.const 1)) (i32.const 3)))
    (func $run (export "run") (param $n i32) (result i32) (local $x i32) (local $i i32)
        (loop $again
            (local.set $x (call_indirect (type $unary) (local.get $x) (global.get $index)))
            (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
        (local.get $x))
    (func (export "aim") (param i32) (global.set $index (local.get 0)))
    (func (export "fill") (param i32) (table.set (local.get 0) (ref.func $double)))
    (func (export "call") (param i32) (result i32) (i32.add (call $run (local.get 0)) (i32.const 1)))
    ;; It never gets to the call.
    (func (export "none") (param $n i32) (result i32) (local $i i32)
        (loop $again
            (if (i32.eqz (i32.const 1)) (then (drop (call_indirect (type $unary) (local.get $i) (global.get $index)))))
            (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
        (local.get $i))
)"#;

#[test]
fn tested_before_the_loop() {
    let plan = plans(BEFORE, &[(2, &[(2, 0, &[0])]), (6, &[(6, 0, &[0])])]);
    let calls: &[(&str, &[u64])] = &[
        ("run", &[1000]),
        ("call", &[1000]),
        ("aim", &[1]),
        ("run", &[20]),
        ("call", &[20]),
        ("none", &[20]),
        ("aim", &[0]),
        ("run", &[20]),
        ("fill", &[0]),
        ("call", &[20]),
        ("aim", &[3]),
        ("none", &[20]),
        ("run", &[1]),
        ("aim", &[4]),
        ("none", &[20]),
        ("call", &[1]),
    ];
    let guest = check(BEFORE, plan, calls);
    assert_eq!(guest.fired("guard-before-loop"), 2);
    assert!(guest.exits() > 5);
}

#[test]
fn a_guard_that_fails_too_often_takes_its_decision_back() {
    let plan = plans(BEFORE, &[(2, &[(2, 0, &[0])])]);
    let mut guest = Guest::new(EngineConfig { deterministic: true, ..optimizing(plan) }, BEFORE);
    guest.call("aim", &[1]).unwrap();
    let expected = Guest::new(interpreting(), BEFORE).call("run", &[5]);
    assert!(expected.is_ok());
    let mut exits = Vec::new();
    for _ in 0..1000 {
        guest.call("run", &[5]).unwrap();
        exits.push(guest.exits());
    }
    // First the test goes back to the call, then the generic call is back; after that nothing is left any more.
    assert_eq!(
        guest.loaded.code.withdrawn().iter().map(|&(function, _, kind)| (function, kind)).collect::<Vec<_>>(),
        [(2, GuardKind::HoistedCallee), (2, GuardKind::Callee)]
    );
    // 64 of each guard, in the function itself and in what is entered at its loop.
    assert!(exits[200] <= 4 * 64, "{} exits", exits[200]);
    assert_eq!(exits[200], exits[999], "nothing flaps");
    let versions = guest.loaded.code.versions();
    assert_eq!(versions.iter().filter(|version| (version.function, version.entrance) == (2, Entrance::Body)).count(), 3);
    guest.call("aim", &[0]).unwrap();
    assert_eq!(guest.call("run", &[1000]).unwrap(), [1000]);
}

/// `step` always calls what its plan does not name. `run` is a compiled caller, `spin` a loop that is left in every round and entered again.
const WRONG: &str = r#"(module
    (type $unary (func (param i32) (result i32)))
    (memory 1)
    (table (export "table") 2 2 funcref)
    (elem (i32.const 0) $double $inc)
    (func $double (type $unary) (i32.shl (local.get 0) (i32.const 1)))
    (func $inc (type $unary) (i32.add (local.get 0) (i32.const 1)))
    (func $step (export "step") (type $unary) (call_indirect (type $unary) (local.get 0) (i32.load8_u (i32.const 0))))
    (func (export "run") (param $n i32) (result i32) (local $i i32) (local $x i32)
        (i32.store8 (i32.const 0) (i32.const 1))
        (loop $again
            (local.set $x (call $step (local.get $x)))
            (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
        (local.get $x))
    (func (export "spin") (param $n i32) (result i32) (local $i i32) (local $x i32)
        (i32.store8 (i32.const 0) (i32.const 1))
        (loop $again
            (local.set $x (call_indirect (type $unary) (local.get $x) (i32.load8_u (i32.const 0))))
            (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
        (local.get $x))
)"#;

#[test]
fn exits_do_not_pile_up() {
    let rounds = if cfg!(debug_assertions) { 100_000 } else { 10_000_000 };
    // Guards that fail by themselves, and no decision is taken back.
    let stress = Stress { fail_guards: u32::MAX, ..Stress::default() };
    for (name, tier) in [("run", TierPolicy::Optimizing), ("spin", TierPolicy::Auto)] {
        let config = EngineConfig {
            tier,
            stress,
            hot_interpreter: 1,
            hot_baseline: 1,
            deterministic: true,
            wasm_stack_bytes: 64 << 10,
            plans: plans(WRONG, &[(2, &[(2, 0, &[0])]), (4, &[(4, 0, &[0])])]),
            ..EngineConfig::default()
        };
        let mut guest = Guest::new(config, WRONG);
        assert_eq!(guest.call(name, &[rounds]).unwrap(), [rounds]);
        assert!(guest.exits() > rounds * 9 / 10, "{name}: {} exits", guest.exits());
    }
}

#[test]
fn a_recursive_function_is_inlined_once_and_left_anywhere() {
    let fib = r#"(module (func $fib (export "fib") (param i32) (result i32)
        (if (result i32) (i32.lt_s (local.get 0) (i32.const 2)) (then (local.get 0))
          (else (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1))) (call $fib (i32.sub (local.get 0) (i32.const 2))))))))"#;
    let guest = check(fib, None, &[("fib", &[20])]);
    assert_eq!(guest.fired("inline-recursive"), 2);
    // What the inlined copies would call only where it does not return at once.
    assert_eq!(guest.fired("inline-early-return"), 4);
}

/// A recursion that is too large to be inlined into itself; `MARK` stands for how it ends, and leaves fib's result for less than 2.
const RECURSION: &str = r#"(module (memory 1) (global $calls (mut i32) (i32.const 0))
    (func $f (export "f") (param i32) (result i32) (local i32) (local i64)
        MARK
        (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (i32.store (i32.const 64) (i32.add (i32.load (i32.const 64)) (local.get 0)))
        (local.set 2 (i64.extend_i32_u (i32.mul (local.get 0) (i32.const 0x12345678))))
        (i64.store (i32.const 128) (i64.xor (i64.rotl (i64.load (i32.const 128)) (i64.const 7)) (local.get 2)))
        (i64.store (i32.const 136) (i64.xor (i64.rotl (i64.load (i32.const 136)) (i64.const 9)) (local.get 2)))
        (i32.add (call $f (i32.sub (local.get 0) (i32.const 1))) (call $f (i32.sub (local.get 0) (i32.const 2)))))
    (func (export "calls") (result i32) (global.get $calls))
    (func (export "seen") (result i64) (i64.xor (i64.load (i32.const 128)) (i64.extend_i32_u (i32.load (i32.const 64))))))"#;

#[test]
fn what_a_recursion_tests_before_it_returns_stands_at_its_calls() {
    for (end, fires) in [
        // As LLVM writes it, with the tail behind the block, behind two, within; and out of the body at once.
        ("(block (br_if 0 (i32.ge_s (local.get 0) (i32.const 2))) (return (local.get 0)))", true),
        ("(if (i32.lt_s (local.get 0) (i32.const 2)) (then (return (local.get 0))))", true),
        ("(if (i32.ge_s (local.get 0) (i32.const 2)) (then) (else (return (local.get 0))))", true),
        ("(drop (br_if 0 (local.get 0) (i32.lt_s (local.get 0) (i32.const 2))))", true),
        ("(i64.const 5) (drop (br_if 0 (local.get 0) (i32.lt_s (local.get 0) (i32.const 2)))) (drop)", true),
        (
            "(local.set 1 (local.get 0)) (local.set 0 (i32.const 9)) (if (i32.lt_s (local.get 1) (i32.const 2)) (then (return (local.get 1)))) (local.set 0 (local.get 1))",
            true,
        ),
        ("(block (block (br_if 0 (i32.lt_s (local.get 0) (i32.const 2))) (br 1)) (return (local.get 0)))", true),
        (
            "(if (i32.lt_s (local.get 0) (i32.load8_u (i32.const 7))) (then (return (local.get 0)))) (if (i32.lt_s (local.get 0) (i32.const 2)) (then (return (local.get 0))))",
            true,
        ),
        // The way out may change things: it is gone once.
        (
            "(if (i32.lt_s (local.get 0) (i32.const 2)) (then (i32.store (i32.const 64) (i32.add (i32.load (i32.const 64)) (i32.const 3))) (return (local.get 0))))",
            true,
        ),
        ("(if (i32.lt_s (local.get 0) (i32.const 2)) (then (global.set $calls (i32.const 0)) (return (local.get 0))))", true),
        // The test is gone twice: it must not.
        (
            "(global.set $calls (i32.add (global.get $calls) (i32.const 1))) (if (i32.lt_s (local.get 0) (i32.const 2)) (then (return (local.get 0))))",
            false,
        ),
        ("(drop (memory.grow (i32.const 0))) (if (i32.lt_s (local.get 0) (i32.const 2)) (then (return (local.get 0))))", false),
        // Loops, calls and traps are no straight way out.
        (
            "(if (i32.lt_s (local.get 0) (i32.const 2)) (then (loop (br_if 0 (i32.eq (local.get 0) (i32.const 77)))) (return (local.get 0))))",
            false,
        ),
        (
            "(if (i32.lt_s (local.get 0) (i32.const -99)) (then unreachable)) (if (i32.lt_s (local.get 0) (i32.const 2)) (then (return (local.get 0))))",
            false,
        ),
    ] {
        let wat = RECURSION.replace("MARK", end);
        let guest = check(&wat, None, &[("f", &[15]), ("calls", &[]), ("seen", &[]), ("f", &[1]), ("f", &[0xffff_fff0]), ("calls", &[])]);
        assert_eq!(guest.fired("inline-early-return") > 0, fires, "{end}");
        assert_eq!(guest.fired("inline-recursive"), 0, "{end}");
    }
}

#[test]
fn only_a_recursion_is_called_behind_its_test() {
    let wat = RECURSION.replace("MARK", "(if (i32.lt_s (local.get 0) (i32.const 2)) (then (return (local.get 0))))").replace(
        "(func (export \"seen\")",
        "(func (export \"other\") (param i32) (result i32) (call $f (local.get 0))) (func (export \"seen\")",
    );
    let mut guest = Guest::new(optimizing(None), &wat);
    guest.call("other", &[15]).unwrap();
    // The two calls of itself, not the one from outside.
    assert_eq!(guest.fired("inline-early-return"), 2);
}

#[test]
fn a_trap_in_the_test_at_a_call_names_the_function_that_was_called() {
    // Of 2 it reads in front of the memory; who calls that has 3.
    let wat = RECURSION.replace(
        "MARK",
        "(if (i32.lt_s (local.get 0) (i32.load (i32.mul (i32.sub (local.get 0) (i32.const 3)) (i32.const 7000)))) (then (return (local.get 0))))",
    );
    let (mut interpreted, mut compiled) = (Guest::new(interpreting(), &wat), Guest::new(optimizing(None), &wat));
    let (expected, got) = (interpreted.call("f", &[9]), compiled.call("f", &[9]));
    assert!(matches!(&expected, Err(trap) if trap.matches("Frame {").count() == 8), "{expected:?}");
    same(&got, &expected, "frames");
    assert_eq!(compiled.fired("inline-early-return"), 2);
}

/// Loops with values that stay the same in them: constants first and second, of both widths, set by a loop around, more than there are registers, and back edges through a table.
fn steady_loops() -> String {
    let sums: String = (0..24)
        .map(|k| {
            format!(
                "(local.set $s (i64.add (i64.mul (local.get $s) (i64.const 31)) (i64.extend_i32_u (i32.{} (local.get $k) (i32.const {})))))
                 (local.set $f (f64.add (f64.mul (local.get $f) (f64.const 0.{}5)) (f64.const {k}.25)))",
                ["add", "xor", "and", "or", "sub"][k % 5],
                1000 + k * 77,
                k % 9
            )
        })
        .collect();
    format!(
        r#"(module (memory 1)
    (func (export "table") (param $n i32) (param $k i32) (result f64) (local $s f64) (local $i i32)
        (loop $again
            (local.set $s (f64.add (f64.mul (local.get $s) (f64.const 0.3)) (f64.convert_i32_s (i32.sub (i32.const 77) (local.get $k)))))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (block $out
                (br_table $again $out $again $again
                    (select (i32.const 1) (i32.and (local.get $i) (i32.const 2)) (i32.ge_u (local.get $i) (i32.and (local.get $n) (i32.const -4)))))))
        (local.get $s))
    (func (export "nested") (param $n i32) (param $k i32) (result i64) (local $s i64) (local $i i32) (local $j i32) (local $l i32)
        (loop $outer
            (local.set $k (i32.add (i32.load (local.get $i)) (i32.mul (local.get $k) (i32.const 3))))
            (local.set $j (i32.const 3))
            (loop $middle
                (local.set $s (i64.add (local.get $s) (i64.sub (i64.const 77) (i64.extend_i32_u (local.get $k)))))
                (local.set $l (i32.const 0))
                (loop $inner
                    (i32.store (local.get $l) (i32.xor (i32.add (local.get $k) (i32.const 5)) (i32.add (local.get $j) (i32.const -7))))
                    (local.set $s (i64.xor (i64.rotl (local.get $s) (i64.const 5)) (i64.load (local.get $l))))
                    (local.set $l (i32.add (local.get $l) (i32.const 4)))
                    (br_if $inner (i32.ne (local.get $l) (i32.and (local.get $n) (i32.const -4)))))
                (br_if $middle (local.tee $j (i32.sub (local.get $j) (i32.const 1)))))
            (local.set $i (i32.add (local.get $i) (i32.const 4)))
            (br_if $outer (i32.lt_u (local.get $i) (i32.and (local.get $n) (i32.const -8)))))
        (local.get $s))
    (func (export "many") (param $n i32) (param $k i32) (result i64) (local $s i64) (local $f f64)
        (loop $again
            {sums}
            (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
        (i64.xor (local.get $s) (i64.reinterpret_f64 (local.get $f)))))"#
    )
}

#[test]
fn what_stays_the_same_in_a_loop_is_what_it_was() {
    check(
        &steady_loops(),
        None,
        &[
            ("table", &[40, 5]),
            ("table", &[4, 90]),
            ("nested", &[24, 7]),
            ("nested", &[9, 0xffff_fff0]),
            ("many", &[9, 3]),
            ("many", &[1, 0x8000_0000]),
        ],
    );
}
