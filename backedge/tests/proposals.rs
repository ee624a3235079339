//! Proposals beyond WebAssembly 2.0 in every tier and switch: tail calls in flat stacks, exceptions across tiers and instances, threads over one memory.

use backedge::{
    Caller, Config, Engine, ExnRef, Extern, ExternRef, Func, FuncType, HeapType, Instance, Linker, MemoryType, Module, RefType,
    SharedMemory, Store, StoreLimits, StoreLimitsBuilder, Tag, TagType, ThrownException, TierPolicy, Trap, TypedFunc, UpdateDeadline, V128,
    Val, ValType, WasmBacktrace, bail,
};

fn configurations() -> Vec<(&'static str, Config)> {
    let tier = |tier: TierPolicy| {
        let mut config = Config::new();
        config.tier(tier);
        config
    };
    let mut auto = tier(TierPolicy::Auto);
    auto.hot_threshold(3).deterministic(true);
    let mut threads = auto.clone();
    threads.deterministic(false);
    let stressed = |base: &Config, stress: vm::engine::Stress| {
        let mut config = base.clone();
        config.machine().stress = stress;
        config
    };
    let leaving = stressed(&auto, vm::engine::Stress { leave_to_interpreter: true, ..Default::default() });
    let everywhere = stressed(&auto, vm::engine::Stress { leave_always: true, ..Default::default() });
    let retiring = stressed(&auto, vm::engine::Stress { retire_every: 3, ..Default::default() });
    let collecting = vm::engine::Stress { collect_exceptions: true, ..Default::default() };
    let collecting_everywhere = stressed(&auto, vm::engine::Stress { leave_always: true, ..collecting });
    let interpreted_collecting = stressed(&tier(TierPolicy::Interpreter), collecting);
    let failing = stressed(&tier(TierPolicy::Optimizing), vm::engine::Stress { fail_guards: 3, ..Default::default() });
    vec![
        ("interpreter", tier(TierPolicy::Interpreter)),
        ("tier 1", tier(TierPolicy::Baseline)),
        ("tier 2", tier(TierPolicy::Optimizing)),
        ("tier-up", auto),
        ("tier-up on threads", threads),
        ("every exit to the interpreter", leaving),
        ("OSR at every header", everywhere),
        ("versions retired", retiring),
        ("guards fail", failing),
        ("exceptions collected at every throw", stressed(&tier(TierPolicy::Optimizing), collecting)),
        ("collected at every throw, interpreted", interpreted_collecting),
        ("collected at every throw, OSR at every header", collecting_everywhere),
    ]
}

fn instance(engine: &Engine, text: &str) -> (Store<()>, Instance) {
    let module = Module::new(engine, text).unwrap();
    let mut store = Store::new(engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    (store, instance)
}

const TAIL_CALLS: &str = r#"(module
    (type $t (func (param i64 i64) (result i64)))
    (table funcref (elem $even_indirect $odd_indirect))
    (elem declare func $even_ref $odd_ref)
    (func $even (export "direct") (param i64 i64) (result i64)
        (if (i64.eqz (local.get 0)) (then (return (local.get 1))))
        (return_call $odd (i64.sub (local.get 0) (i64.const 1)) (i64.add (local.get 1) (i64.const 1))))
    (func $odd (param i64 i64) (result i64)
        (if (i64.eqz (local.get 0)) (then (return (i64.const -1))))
        (return_call $even (i64.sub (local.get 0) (i64.const 1)) (i64.add (local.get 1) (i64.const 1))))
    (func $even_indirect (export "indirect") (param i64 i64) (result i64)
        (if (i64.eqz (local.get 0)) (then (return (local.get 1))))
        (return_call_indirect (type $t) (i64.sub (local.get 0) (i64.const 1)) (i64.add (local.get 1) (i64.const 1)) (i32.const 1)))
    (func $odd_indirect (param i64 i64) (result i64)
        (if (i64.eqz (local.get 0)) (then (return (i64.const -1))))
        (return_call_indirect (type $t) (i64.sub (local.get 0) (i64.const 1)) (i64.add (local.get 1) (i64.const 1)) (i32.const 0)))
    (func $even_ref (export "reference") (param i64 i64) (result i64)
        (if (i64.eqz (local.get 0)) (then (return (local.get 1))))
        (return_call_ref $t (i64.sub (local.get 0) (i64.const 1)) (i64.add (local.get 1) (i64.const 1)) (ref.func $odd_ref)))
    (func $odd_ref (param i64 i64) (result i64)
        (if (i64.eqz (local.get 0)) (then (return (i64.const -1))))
        (return_call_ref $t (i64.sub (local.get 0) (i64.const 1)) (i64.add (local.get 1) (i64.const 1)) (ref.func $even_ref)))
    ;; A loop in front of each call, with more parameters than the first had.
    (func $looping (export "looping") (param i64 i64) (result i64) (local i64)
        (if (i64.eqz (local.get 0)) (then (return (local.get 1))))
        (local.set 2 (i64.const 3))
        (loop $again (br_if $again (i32.wrap_i64 (local.tee 2 (i64.sub (local.get 2) (i64.const 1))))))
        (return_call $wide (i64.sub (local.get 0) (i64.const 1)) (i64.const 1) (i64.const 2) (i64.const 3) (i64.const 4) (i64.const 5)
            (i64.const 6) (i64.const 7) (i64.add (local.get 1) (i64.const 1))))
    (func $wide (param i64 i64 i64 i64 i64 i64 i64 i64 i64) (result i64)
        (return_call $looping (local.get 0) (local.get 8)))
    (func (export "from_inside") (param i64) (result i64)
        (i64.add (i64.const 1) (call $even (local.get 0) (i64.const 0)))))"#;

#[test]
fn ten_million_tail_calls_leave_the_stacks_flat() {
    for (name, config) in configurations() {
        // Rare in the product, so slow: every switch of tier costs a microsecond.
        let slow = !matches!(name, "interpreter" | "tier 1" | "tier 2" | "tier-up");
        let count = if slow { 1_000_000 } else { 10_000_000_i64 };
        let (mut store, instance) = instance(&Engine::new(&config).unwrap(), TAIL_CALLS);
        for export in ["direct", "indirect", "reference", "looping"] {
            let function = instance.get_typed_func::<(i64, i64), i64>(&mut store, export).unwrap();
            let count = if export == "looping" { count / 20 } else { count };
            assert_eq!(function.call(&mut store, (count, 0)).unwrap(), count, "{name}: {export}");
        }
        let inside = instance.get_typed_func::<i64, i64>(&mut store, "from_inside").unwrap();
        assert_eq!(inside.call(&mut store, 100_000).unwrap(), 100_001, "{name}");
    }
}

/// A frame of the interpreter goes on in compiled code at its loop; what that calls in its own place leaves for the interpreter, which has to
/// go on with another function's frame than the one it left. (Found by the fuzzer.)
#[test]
fn what_is_called_in_place_of_a_loops_frame_may_leave() {
    for (name, config) in configurations() {
        let engine = Engine::new(&config).unwrap();
        let module = Module::new(
            &engine,
            r#"(module (import "host" "leave" (func $leave))
                (func (export "outer") (param i64) (result i64) (i64.add (i64.const 1000) (call $middle (local.get 0))))
                (func $middle (param i64) (result i64)
                    (loop $again
                        (br_if $again (i64.gt_s (local.tee 0 (i64.sub (local.get 0) (i64.const 1))) (i64.const 0))))
                    (return_call $inner (local.get 0) (i64.const 1) (i64.const 2) (i64.const 3) (i64.const 4)))
                (func $inner (export "inner") (param i64 i64 i64 i64 i64) (result i64) (local $sum i64) (local $v v128)
                    (local.set $v (i64x2.splat (local.get 4)))
                    (call $leave)
                    (loop $again
                        (local.set $sum (i64.add (local.get $sum) (i64x2.extract_lane 1 (local.get $v))))
                        (br_if $again (i64.lt_s (local.tee 0 (i64.add (local.get 0) (i64.const 1))) (i64.const 20))))
                    (i64.add (local.get $sum) (i64.add (local.get 1) (i64.add (local.get 2) (local.get 3))))))"#,
        )
        .unwrap();
        let mut store = Store::new(&engine, ());
        let asked = module.clone();
        let leave = Func::wrap(&mut store, move || asked.loaded().code.ask_all_to_leave());
        let instance = Instance::new(&mut store, &module, &[leave.into()]).unwrap();
        let inner = instance.get_typed_func::<(i64, i64, i64, i64, i64), i64>(&mut store, "inner").unwrap();
        for _ in 0..20 {
            assert_eq!(inner.call(&mut store, (0, 1, 2, 3, 4)).unwrap(), 86, "{name}");
        }
        let outer = instance.get_typed_func::<i64, i64>(&mut store, "outer").unwrap();
        for rounds in [100, 1, 100, 100_000] {
            assert_eq!(outer.call(&mut store, rounds).unwrap(), 1086, "{name}");
        }
    }
}

#[test]
fn tail_calls_between_instances_and_to_the_host_leave_them_flat() {
    for (name, config) in configurations() {
        let engine = Engine::new(&config).unwrap();
        let first = Module::new(
            &engine,
            r#"(module (type $t (func (param i64 i64) (result i64)))
                (import "host" "end" (func $end (param i64 i64) (result i64)))
                (table (export "table") 1 funcref) (global $own (mut i64) (i64.const 7))
                (func (export "run") (param i64 i64) (result i64)
                    (if (i64.eqz (local.get 0)) (then (return_call $end (local.get 1) (global.get $own))))
                    (return_call_indirect (type $t) (i64.sub (local.get 0) (i64.const 1)) (i64.add (local.get 1) (i64.const 1)) (i32.const 0)))
                (func (export "and_back") (param i64) (result i64)
                    (i64.add (call_indirect (type $t) (local.get 0) (i64.const 0) (i32.const 0)) (global.get $own))))"#,
        )
        .unwrap();
        let second = Module::new(
            &engine,
            r#"(module (import "a" "run" (func $run (param i64 i64) (result i64))) (import "a" "table" (table 1 funcref))
                (global $own i64 (i64.const 1))
                (func $f (param i64 i64) (result i64)
                    (return_call $run (local.get 0) (i64.add (local.get 1) (global.get $own))))
                (elem (i32.const 0) $f))"#,
        )
        .unwrap();
        let mut store = Store::new(&engine, ());
        let mut linker = Linker::new(&engine);
        linker.func_wrap("host", "end", |a: i64, b: i64| a * 10 + b).unwrap();
        let a = linker.instantiate(&mut store, &first).unwrap();
        linker.instance(&mut store, "a", a).unwrap();
        linker.instantiate(&mut store, &second).unwrap();
        let run = a.get_typed_func::<(i64, i64), i64>(&mut store, "run").unwrap();
        assert_eq!(run.call(&mut store, (300_000, 0)).unwrap(), 6_000_007, "{name}");
        let back = a.get_typed_func::<i64, i64>(&mut store, "and_back").unwrap();
        for _ in 0..20 {
            // The context is the caller's again behind a chain that ended in the host.
            assert_eq!(back.call(&mut store, 10).unwrap(), 224, "{name}");
        }
    }
}

const EXCEPTIONS: &str = r#"(module
    (tag $number (export "number") (param i32 i64)) (tag $empty)
    (func $thrower (param i32 i32)
        (if (i32.gt_s (local.get 1) (i32.const 0)) (then (call $thrower (local.get 0) (i32.sub (local.get 1) (i32.const 1))) (return)))
        (if (i32.eq (i32.and (local.get 0) (i32.const 3)) (i32.const 1))
            (then (throw $number (local.get 0) (i64.extend_i32_u (i32.mul (local.get 0) (i32.const 10))))))
        (if (i32.eq (i32.and (local.get 0) (i32.const 3)) (i32.const 2)) (then (throw $empty))))
    ;; Catches in a loop, with values below the try on the stack and locals that only the handlers read.
    (func (export "sum") (param i32) (result i64) (local $i i32) (local $sum i64) (local $last i32)
        (loop $next
            (local.set $last (local.get $i))
            (local.set $sum (i64.add (local.get $sum)
                (i64.add (i64.const 1)
                    (block $done (result i64)
                        (block $is_empty
                            (block $is_number (result i32 i64)
                                (try_table (catch $number $is_number) (catch $empty $is_empty)
                                    (call $thrower (local.get $i) (i32.const 5))
                                    (local.set $last (i32.const 1000)))
                                (br $done (i64.extend_i32_u (local.get $last))))
                            (local.set $sum (i64.add (local.get $sum)))
                            (br $done (i64.extend_i32_s)))
                        (i64.extend_i32_u (local.get $last))))))
            (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get 0))))
        (local.get $sum))
    (func $through (param i32) (result i32)
        (block $caught (result exnref)
            (try_table (catch_all_ref $caught) (call $thrower (local.get 0) (i32.const 1)) (return (i32.const 0)))
            (unreachable))
        (throw_ref))
    (func (export "rethrown") (param i32) (result i32)
        (block $caught (result i32 i64 exnref)
            (try_table (catch_ref $number $caught) (return (call $through (local.get 0))))
            (unreachable))
        (drop) (drop))
    (func (export "uncaught") (param i32) (call $thrower (local.get 0) (i32.const 3)))
    (func (export "traps_pass") (param i32) (result i32)
        (block $all (try_table (catch_all $all) (drop (i32.div_u (i32.const 1) (local.get 0)))) (return (i32.const 1)))
        (i32.const 2)))"#;

#[test]
fn exceptions_are_caught_in_every_tier() {
    let mut sums = Vec::new();
    for (name, config) in configurations() {
        let (mut store, instance) = instance(&Engine::new(&config).unwrap(), EXCEPTIONS);
        let sum = instance.get_typed_func::<i32, i64>(&mut store, "sum").unwrap();
        for _ in 0..3 {
            sums.push((name, sum.call(&mut store, 1000).unwrap()));
        }
        let rethrown = instance.get_typed_func::<i32, i32>(&mut store, "rethrown").unwrap();
        for _ in 0..20 {
            assert_eq!(rethrown.call(&mut store, 5).unwrap(), 5, "{name}");
            assert_eq!(rethrown.call(&mut store, 4).unwrap(), 0, "{name}");
            assert!(rethrown.call(&mut store, 6).unwrap_err().is::<ThrownException>(), "{name}");
        }
        let uncaught = instance.get_typed_func::<i32, ()>(&mut store, "uncaught").unwrap();
        let error = uncaught.call(&mut store, 1).unwrap_err();
        assert!(error.is::<ThrownException>(), "{name}");
        let trace = error.downcast_ref::<WasmBacktrace>().unwrap_or_else(|| panic!("{name}: no backtrace"));
        let frames: Vec<Option<&str>> = trace.frames().iter().map(|frame| frame.func_name()).collect();
        assert_eq!(frames, [Some("thrower"), Some("thrower"), Some("thrower"), Some("thrower"), None], "{name}");
        uncaught.call(&mut store, 0).unwrap();
        let traps = instance.get_typed_func::<i32, i32>(&mut store, "traps_pass").unwrap();
        assert_eq!(traps.call(&mut store, 0).unwrap_err().downcast_ref::<Trap>(), Some(&Trap::IntegerDivisionByZero), "{name}");
    }
    assert!(sums.iter().all(|sum| sum.1 == sums[0].1), "{sums:?}");
}

#[test]
fn exceptions_cross_instances_and_the_host() {
    for (name, config) in configurations() {
        let engine = Engine::new(&config).unwrap();
        let thrower = Module::new(
            &engine,
            r#"(module (tag $t (export "tag") (param i32)) (func (export "throw") (param i32) (throw $t (local.get 0))))"#,
        )
        .unwrap();
        let catcher = Module::new(
            &engine,
            r#"(module (import "a" "tag" (tag $t (param i32))) (import "a" "throw" (func $throw (param i32)))
                (import "host" "through" (func $through (param i32))) (tag $mine (param i32)) (global $own i32 (i32.const 100))
                (func (export "catch") (param i32) (param $by_host i32) (result i32)
                    (block $caught (result i32)
                        (try_table (catch $mine 1) (catch $t $caught)
                            (if (local.get $by_host) (then (call $through (local.get 0))) (else (call $throw (local.get 0)))))
                        (return (i32.const -1)))
                    (i32.add (global.get $own))))"#,
        )
        .unwrap();
        let mut store = Store::new(&engine, ());
        let mut linker = Linker::new(&engine);
        let a = linker.instantiate(&mut store, &thrower).unwrap();
        linker.instance(&mut store, "a", a).unwrap();
        linker
            .func_wrap("host", "through", |mut caller: backedge::Caller<'_, ()>, n: i32| {
                let _ = &mut caller;
                Err::<(), _>(backedge::format_err!("not linked yet: {n}"))
            })
            .unwrap();
        let throw = a.get_func(&mut store, "throw").unwrap();
        linker.allow_shadowing(true);
        linker
            .func_wrap("host", "through", move |mut caller: backedge::Caller<'_, ()>, n: i32| {
                let mut results: [Val; 0] = [];
                throw.call(&mut caller, &[Val::I32(n)], &mut results)
            })
            .unwrap();
        let b = linker.instantiate(&mut store, &catcher).unwrap();
        let catch = b.get_typed_func::<(i32, i32), i32>(&mut store, "catch").unwrap();
        for round in 0..20 {
            assert_eq!(catch.call(&mut store, (round, 0)).unwrap(), round + 100, "{name}");
            assert_eq!(catch.call(&mut store, (round, 1)).unwrap(), round + 100, "{name}");
        }
    }
}

#[test]
fn the_older_exceptions_are_caught_too() {
    let text = r#"(module
        (tag $a (param i32)) (tag $b)
        (func $throw (param i32)
            (if (i32.eq (local.get 0) (i32.const 1)) (then (throw $a (i32.const 40))))
            (if (i32.eq (local.get 0) (i32.const 2)) (then (throw $b))))
        (func (export "f") (param i32) (result i32) (local $seen i32)
            i32.const 1000
            try (result i32)
                try (result i32)
                    i32.const 1 local.set $seen
                    local.get 0 call $throw
                    i32.const 2 local.set $seen
                    i32.const 7
                catch $a
                    local.get $seen i32.add
                catch_all
                    i32.const 5 local.set $seen
                    rethrow 0
                end
            catch_all
                i32.const 500 local.get $seen i32.add
            end
            i32.add)
        (func (export "delegated") (param i32) (result i32)
            try $outer (result i32)
                try (result i32)
                    try (result i32)
                        local.get 0 call $throw
                        i32.const 1
                    delegate $outer
                catch_all
                    i32.const 2
                end
            catch $a
            catch_all
                i32.const 4
            end))"#;
    for (name, config) in configurations() {
        let (mut store, instance) = instance(&Engine::new(&config).unwrap(), text);
        let f = instance.get_typed_func::<i32, i32>(&mut store, "f").unwrap();
        let delegated = instance.get_typed_func::<i32, i32>(&mut store, "delegated").unwrap();
        for _ in 0..10 {
            assert_eq!([0, 1, 2].map(|n| f.call(&mut store, n).unwrap()), [1007, 1041, 1505], "{name}");
            assert_eq!([0, 1, 2].map(|n| delegated.call(&mut store, n).unwrap()), [1, 40, 4], "{name}");
        }
    }
}

#[test]
fn an_exception_thrown_often_takes_no_memory() {
    let (mut store, instance) = instance(&Engine::default(), EXCEPTIONS);
    let sum = instance.get_typed_func::<i32, i64>(&mut store, "sum").unwrap();
    sum.call(&mut store, 100_000).unwrap();
    assert!(store.thrown_exceptions() <= 1);
}

/// What clang makes of `catch (...)` and of destructors: an exception is caught by reference, and thrown on or dropped.
const BY_REFERENCE: &str = r#"(module
    (tag $number (param i32))
    (func $throw (param i32) (throw $number (local.get 0)))
    (func $cleanup (param i32)
        (block $caught (result exnref)
            (try_table (catch_all_ref $caught) (call $throw (local.get 0)))
            (unreachable))
        (throw_ref))
    (func (export "sum") (param i32) (result i64) (local $sum i64) (local $last exnref)
        (loop $next
            (block $caught (result i32 exnref)
                (try_table (catch_ref $number $caught) (call $cleanup (local.get 0)))
                (unreachable))
            (local.set $last)
            (local.set $sum (i64.add (i64.extend_i32_u) (local.get $sum)))
            (br_if $next (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
        (i64.add (local.get $sum) (i64.extend_i32_u (ref.is_null (local.get $last))))))"#;

#[test]
fn exceptions_caught_by_reference_are_collected() {
    for (name, config) in configurations() {
        // Stress switches make a throw slow, and spoil what they collect in place of freeing it.
        let rounds = if name.contains("every") || name == "guards fail" { 2_000 } else { 100_000 };
        let (mut store, instance) = instance(&Engine::new(&config).unwrap(), BY_REFERENCE);
        let sum = instance.get_typed_func::<i32, i64>(&mut store, "sum").unwrap();
        assert_eq!(sum.call(&mut store, rounds).unwrap(), i64::from(rounds) * i64::from(rounds + 1) / 2, "{name}");
        assert!(store.thrown_exceptions() < 5_000, "{name}: {}", store.thrown_exceptions());
        let most = if name.starts_with("exceptions collected") { 50 } else { usize::MAX };
        assert!(store.thrown_exceptions() <= most, "{name}: {}", store.thrown_exceptions());
    }
}

/// References in every place there is: the locals of frames that wait, an outer operand stack, a global, a table, another exception. Between the catching
/// and the use as many exceptions are thrown as a collection needs.
const KEPT_REFERENCES: &str = r#"(module
    (tag $number (param i32)) (tag $holder (param exnref i32))
    (import "host" "keep" (func $keep (param exnref) (result exnref)))
    (global $kept (mut exnref) (ref.null exn))
    (table $table 4 exnref)
    (func $throw (param i32) (throw $number (local.get 0)))
    (func $make (param i32) (result exnref)
        (block $caught (result exnref)
            (try_table (catch_all_ref $caught) (call $throw (local.get 0)))
            (unreachable)))
    (func $value (param exnref) (result i32)
        (block $caught (result i32)
            (try_table (catch $number $caught) (throw_ref (local.get 0)))
            (unreachable)))
    (func $litter (param i32)
        (loop $next
            (drop (call $make (i32.const -1)))
            (br_if $next (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
    ;; Each frame holds one in a local and one on its operand stack.
    (func $deep (param $depth i32) (param $litter i32) (result i32) (local $own exnref)
        (local.set $own (call $make (local.get $depth)))
        (call $make (i32.mul (local.get $depth) (i32.const 1000)))
        (if (result i32) (local.get $depth)
            (then (call $deep (i32.sub (local.get $depth) (i32.const 1)) (local.get $litter)))
            (else (call $litter (local.get $litter)) (i32.const 0)))
        (i32.add (call $value (local.get $own)))
        (local.set $depth)
        (i32.add (call $value) (local.get $depth)))
    (func (export "deep") (param i32 i32) (result i32) (call $deep (local.get 0) (local.get 1)))
    (func (export "places") (param $litter i32) (result i32) (local $i i32) (local $holder exnref)
        (global.set $kept (call $make (i32.const 1)))
        (table.set $table (i32.const 2) (call $make (i32.const 20)))
        (drop (table.grow $table (call $make (i32.const 300)) (i32.const 3)))
        (local.set $holder
            (block $caught (result exnref)
                (try_table (catch_all_ref $caught) (throw $holder (call $make (i32.const 4000)) (i32.const 50000)))
                (unreachable)))
        (drop (call $keep (call $make (i32.const 600000))))
        (call $litter (local.get $litter))
        (block $held (result exnref i32)
            (try_table (catch $holder $held) (throw_ref (local.get $holder)))
            (unreachable))
        (local.set $i)
        (i32.add (call $value) (local.get $i))
        (i32.add (call $value (global.get $kept)))
        (i32.add (call $value (table.get $table (i32.const 2))))
        (i32.add (call $value (table.get $table (i32.const 5))))
        (i32.add (call $value (call $keep (ref.null exn))))))"#;

#[test]
fn a_reference_keeps_its_exception_wherever_it_is() {
    for (name, config) in configurations() {
        let engine = Engine::new(&config).unwrap();
        let module = Module::new(&engine, KEPT_REFERENCES).unwrap();
        let mut store = Store::new(&engine, Val::ExnRef(None));
        let ty = module.imports().next().unwrap().ty().func().unwrap().clone();
        // Gives back what it got at the call before.
        let keep = Func::new(&mut store, ty, |mut caller, arguments, results| {
            results[0] = std::mem::replace(caller.data_mut(), arguments[0]);
            Ok(())
        });
        let instance = Instance::new(&mut store, &module, &[keep.into()]).unwrap();
        let deep = instance.get_typed_func::<(i32, i32), i32>(&mut store, "deep").unwrap();
        let places = instance.get_typed_func::<i32, i32>(&mut store, "places").unwrap();
        for _ in 0..8 {
            for depth in [3, 60] {
                assert_eq!(deep.call(&mut store, (depth, 1500)).unwrap(), 1001 * depth * (depth + 1) / 2, "{name}");
            }
            assert_eq!(places.call(&mut store, 1500).unwrap(), 654_321, "{name}");
        }
    }
}

/// An exception that the host has as an error stays until the error is gone, whatever is thrown meanwhile.
#[test]
fn the_host_keeps_what_it_may_throw_on() {
    for (name, config) in configurations() {
        let engine = Engine::new(&config).unwrap();
        let text = r#"(module (tag $number (param i32)) (import "host" "throw" (func $by_host (param i32)))
            (func (export "throw") (param i32) (throw $number (local.get 0)))
            (func (export "catch") (param i32) (result i32)
                (block $caught (result i32 exnref)
                    (try_table (catch_ref $number $caught) (call $by_host (local.get 0)))
                    (unreachable))
                (drop)))"#;
        let module = Module::new(&engine, text).unwrap();
        let mut store = Store::new(&engine, ());
        let mut linker = Linker::new(&engine);
        linker
            .func_wrap("host", "throw", |mut caller: backedge::Caller<'_, ()>, number: i32| {
                let throw = caller.get_export("throw").unwrap().into_func().unwrap();
                let mut thrown = |number| throw.call(&mut caller, &[Val::I32(number)], &mut []);
                let error = thrown(number);
                for other in 0..20 {
                    assert!(thrown(1000 + other).is_err());
                }
                error
            })
            .unwrap();
        let instance = linker.instantiate(&mut store, &module).unwrap();
        let catch = instance.get_typed_func::<i32, i32>(&mut store, "catch").unwrap();
        for number in 0..500 {
            assert_eq!(catch.call(&mut store, number).unwrap(), number, "{name}");
        }
        assert!(store.thrown_exceptions() < 5_000, "{name}: {}", store.thrown_exceptions());
    }
}

const ATOMIC_ADDS: &str = r#"(module (import "m" "memory" (memory 1 1 shared))
    (func (export "add") (param i32) (result i32)
        (loop $next
            (drop (i32.atomic.rmw.add (i32.const 8) (i32.const 1)))
            (drop (i64.atomic.rmw8.add_u (i32.const 17) (i64.const 1)))
            (br_if $next (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
        (i32.atomic.load (i32.const 8)))
    (func (export "wait") (param i64) (result i32) (memory.atomic.wait32 (i32.const 64) (i32.const 0) (local.get 0)))
    (func (export "wake") (result i32)
        (i32.atomic.store (i32.const 64) (i32.const 1))
        (memory.atomic.notify (i32.const 64) (i32.const -1)))
    (func (export "unaligned") (result i32) (i32.atomic.load (i32.const 2))))"#;

#[test]
fn four_threads_add_to_one_memory() {
    for (name, config) in configurations() {
        let engine = Engine::new(&config).unwrap();
        let module = Module::new(&engine, ATOMIC_ADDS).unwrap();
        let memory = SharedMemory::new(&engine, MemoryType::shared(1, 1)).unwrap();
        const ROUNDS: i32 = 30_000;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let (engine, module, memory) = (&engine, &module, memory.clone());
                scope.spawn(move || {
                    let mut store = Store::new(engine, ());
                    let instance = Instance::new(&mut store, module, &[Extern::SharedMemory(memory)]).unwrap();
                    let add = instance.get_typed_func::<i32, i32>(&mut store, "add").unwrap();
                    assert!(add.call(&mut store, ROUNDS).unwrap() >= ROUNDS);
                });
            }
        });
        let bytes: Vec<u8> = (0..20).map(|at| memory.read_byte(at).unwrap()).collect();
        assert_eq!(i32::from_le_bytes(bytes[8..12].try_into().unwrap()), 4 * ROUNDS, "{name}");
        assert_eq!(bytes[17], (4 * ROUNDS) as u8, "{name}");
    }
}

#[test]
fn threads_wait_and_are_woken() {
    for (name, config) in configurations() {
        let engine = Engine::new(&config).unwrap();
        let module = Module::new(&engine, ATOMIC_ADDS).unwrap();
        let memory = SharedMemory::new(&engine, MemoryType::shared(1, 1)).unwrap();
        let run = |function: &str, argument: Option<i64>| {
            let mut store = Store::new(&engine, ());
            let instance = Instance::new(&mut store, &module, &[Extern::SharedMemory(memory.clone())]).unwrap();
            let function: Func = instance.get_func(&mut store, function).unwrap();
            let mut results = [Val::I32(0)];
            let arguments: Vec<Val> = argument.into_iter().map(Val::I64).collect();
            function.call(&mut store, &arguments, &mut results).map(|()| results[0].unwrap_i32())
        };
        assert_eq!(run("wait", Some(1000)).unwrap(), 2, "{name}: the time is over");
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| run("wait", Some(-1)).unwrap());
            // 0 while it does not wait yet; then it finds the other value.
            let woken = run("wake", None).unwrap();
            assert_eq!(waiter.join().unwrap(), 1 - woken, "{name}");
        });
        assert_eq!(run("wait", Some(-1)).unwrap(), 1, "{name}: another value");
        let error = run("unaligned", None).unwrap_err();
        assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::HeapMisaligned), "{name}");
    }
}

/// A guest's wait, in a store whose deadline is the next epoch.
fn waits_until_the_epoch<T: 'static>(data: T) -> (Engine, Store<T>, TypedFunc<i64, i32>) {
    let mut config = Config::new();
    config.epoch_interruption(true);
    let engine = Engine::new(&config).unwrap();
    let module = Module::new(&engine, ATOMIC_ADDS).unwrap();
    let memory = SharedMemory::new(&engine, MemoryType::shared(1, 1)).unwrap();
    let mut store = Store::new(&engine, data);
    store.set_epoch_deadline(1);
    let instance = Instance::new(&mut store, &module, &[Extern::SharedMemory(memory)]).unwrap();
    let wait = instance.get_typed_func::<i64, i32>(&mut store, "wait").unwrap();
    (engine, store, wait)
}

#[test]
fn a_wait_ends_at_the_deadline() {
    let (engine, mut store, wait) = waits_until_the_epoch(());
    std::thread::scope(|scope| {
        scope.spawn(|| engine.increment_epoch());
        assert_eq!(wait.call(&mut store, -1).unwrap_err().downcast_ref::<Trap>(), Some(&Trap::Interrupt));
    });
}

/// A callback lets the guest go on, or may call a guest that waits in turn; each wait is asked again.
#[test]
fn a_wait_whose_deadline_moves_waits_on() {
    let (engine, mut store, wait) = waits_until_the_epoch((0, None));
    store.data_mut().1 = Some(wait);
    store.epoch_deadline_callback(|mut store| {
        store.data_mut().0 += 1;
        let (asked, wait) = *store.data();
        match asked {
            1..3 => Ok(UpdateDeadline::Continue(1)),
            // It ends at the deadline that it sets for itself, which is this one's too.
            3 => {
                store.set_epoch_deadline(1);
                let inner = wait.unwrap().call(&mut store, -1);
                assert_eq!(inner.unwrap_err().downcast_ref::<Trap>(), Some(&Trap::Interrupt));
                Ok(UpdateDeadline::Continue(1))
            }
            _ => bail!("enough"),
        }
    });
    std::thread::scope(|scope| {
        let guest = scope.spawn(|| format!("{:#}", wait.call(&mut store, -1).unwrap_err()));
        while !guest.is_finished() {
            engine.increment_epoch();
            std::thread::yield_now();
        }
        assert!(guest.join().unwrap().contains("enough"));
    });
    assert_eq!(store.data().0, 4);
}

/// The size of a shared memory is as another thread made it, also for a loop that does nothing but look (and say so, which changes no size).
#[test]
fn a_loop_on_the_size_of_a_shared_memory_sees_another_thread_grow_it() {
    const LOOKS: &str = r#"(module (import "m" "memory" (memory 1 2 shared))
        (func (export "look") (result i32) (local $before i32)
            (local.set $before (memory.size))
            (loop $same
                (i32.store8 (i32.const 8) (i32.const 1))
                (br_if $same (i32.eq (memory.size) (local.get $before))))
            (i32.store8 (i32.const 65536) (i32.const 7))
            (memory.size)))"#;
    for (name, mut config) in configurations() {
        // (only so that a loop that does not see it ends)
        config.epoch_interruption(true);
        let engine = Engine::new(&config).unwrap();
        let module = Module::new(&engine, LOOKS).unwrap();
        for _ in 0..3 {
            let memory = SharedMemory::new(&engine, MemoryType::shared(1, 2)).unwrap();
            let mut store = Store::new(&engine, ());
            store.set_epoch_deadline(1);
            let instance = Instance::new(&mut store, &module, &[memory.clone().into()]).unwrap();
            let look = instance.get_typed_func::<(), i32>(&mut store, "look").unwrap();
            std::thread::scope(|scope| {
                let guest = scope.spawn(|| look.call(&mut store, ()));
                while memory.read_byte(8) == Some(0) {
                    std::thread::yield_now();
                }
                assert_eq!(memory.grow(1).unwrap(), 1);
                let given_up = std::time::Instant::now() + std::time::Duration::from_secs(20);
                while !guest.is_finished() && std::time::Instant::now() < given_up {
                    std::thread::yield_now();
                }
                engine.increment_epoch();
                assert_eq!(guest.join().unwrap().unwrap(), 2, "{name}");
            });
            assert_eq!(memory.read_byte(65536), Some(7), "{name}");
        }
    }
}

#[test]
fn vectors_in_a_second_and_a_wide_memory() {
    let text = r#"(module (memory 1) (memory $m i64 1)
        (func (export "f") (param i64) (result i32)
            (v128.store $m offset=16 (local.get 0) (v128.const i32x4 1 2 3 4))
            (v128.store32_lane $m offset=4 2 (local.get 0) (v128.load $m offset=16 (local.get 0)))
            (i32.add (i32.load $m offset=4 (local.get 0))
                (i32x4.extract_lane 1 (v128.load32_lane $m offset=28 1 (local.get 0) (v128.load64_splat $m (local.get 0)))))))"#;
    for (name, config) in configurations() {
        let (mut store, instance) = instance(&Engine::new(&config).unwrap(), text);
        let f = instance.get_typed_func::<i64, i32>(&mut store, "f").unwrap();
        for _ in 0..10 {
            assert_eq!(f.call(&mut store, 65536 - 32).unwrap(), 7, "{name}");
            for address in [65536 - 31, 65536, -1, i64::MAX] {
                let error = f.call(&mut store, address).unwrap_err();
                assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::MemoryOutOfBounds), "{name}: {address}");
            }
        }
    }
}

/// A call of another instance's function takes its arguments from the caller's: the context changes before, and what is read of the old one is not read of the new.
#[test]
fn arguments_of_another_instances_function_are_the_callers() {
    const CALLEE: &str = r#"(module
        (global $own i32 (i32.const 1111)) (global $other i32 (i32.const 2222))
        (func $decoy (result i32) (global.get $own))
        (func (export "same") (param i32) (result i32) (i32.add (local.get 0) (global.get $other)))
        (type $gives (func (result i32)))
        (func (export "run") (param (ref null $gives)) (result i32) (call_ref $gives (local.get 0))))"#;
    const CALLER: &str = r#"(module
        (type $gives (func (result i32)))
        (import "m" "same" (func $same (param i32) (result i32))) (import "m" "run" (func $run (param (ref null $gives)) (result i32)))
        (global $before i32 (i32.const 6)) (global $mine i32 (i32.const 7))
        (func $gives (type $gives) (global.get $before)) (elem declare func $gives)
        (func (export "global") (result i32) (call $same (global.get $mine)))
        (func (export "function") (result i32) (call $run (ref.func $gives))))"#;
    for (name, config) in configurations() {
        let engine = Engine::new(&config).unwrap();
        let mut store = Store::new(&engine, ());
        let callee = Instance::new(&mut store, &Module::new(&engine, CALLEE).unwrap(), &[]).unwrap();
        let imports = ["same", "run"].map(|export| callee.get_export(&mut store, export).unwrap());
        let caller = Instance::new(&mut store, &Module::new(&engine, CALLER).unwrap(), &imports).unwrap();
        for (export, expected) in [("global", 7 + 2222), ("function", 6)] {
            let function = caller.get_typed_func::<(), i32>(&mut store, export).unwrap();
            for _ in 0..1000 {
                assert_eq!(function.call(&mut store, ()).unwrap(), expected, "{export} {name}");
            }
        }
    }
}

/// What is caught is caught, also where a loop follows the call that throws it.
#[test]
fn a_call_before_a_loop_is_caught() {
    const THROWS: &str = r#"(module
        (tag $e) (global $n (mut i32) (i32.const 0))
        (func $throws (if (global.get $n) (then (throw $e))))
        (func (export "run") (param $throws i32) (param $rounds i32) (result i32)
            (global.set $n (local.get $throws))
            (block $caught
                (try_table (catch_all $caught) (call $throws))
                (loop $again (br_if $again (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1)))))
                (return (i32.const 1)))
            (i32.const 2)))"#;
    for (name, config) in configurations() {
        let engine = Engine::new(&config).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &Module::new(&engine, THROWS).unwrap(), &[]).unwrap();
        let run = instance.get_typed_func::<(i32, i32), i32>(&mut store, "run").unwrap();
        for rounds in 1..1000 {
            assert_eq!((run.call(&mut store, (0, rounds)).unwrap(), run.call(&mut store, (1, rounds)).unwrap()), (1, 2), "{name}");
        }
    }
}

/// What the host calls while a loop's frame is in the switch buffer, and a reference that is in it alone.
const INTERRUPTED: &str = r#"(module
    (import "host" "tick" (func $tick))
    (tag $e (param i64 i64 i64 i64 i64 i64))
    (func $throw (param i64) (throw $e (local.get 0) (i64.const 2) (i64.const 3) (i64.const 4) (i64.const 5) (i64.const 6)))
    (func $caught (param i64) (result exnref) (local $x exnref)
        (block $h (result i64 i64 i64 i64 i64 i64 exnref) (try_table (catch_ref $e $h) (call $throw (local.get 0))) (unreachable))
        (local.set $x) (drop) (drop) (drop) (drop) (drop) (drop)
        (local.get $x))
    (func $first (param exnref) (result i64)
        (block $h (result i64 i64 i64 i64 i64 i64) (try_table (catch $e $h) (throw_ref (local.get 0))) (unreachable))
        (drop) (drop) (drop) (drop) (drop))
    (func (export "run") (param $n i32) (result i64) (local $i i32) (local $a i64) (local $b i64) (local $c i64) (local $x exnref)
        (local.set $a (i64.const 1))
        (local.set $b (i64.const 2))
        (local.set $c (i64.const 3))
        (local.set $x (call $caught (i64.const 1000003)))
        (loop $l
            (if (i32.eqz (i32.rem_u (local.get $i) (i32.const 7))) (then (call $tick)))
            (local.set $a (i64.add (i64.mul (local.get $a) (i64.const 31)) (local.get $b)))
            (local.set $b (i64.xor (local.get $b) (local.get $c)))
            (local.set $c (i64.add (local.get $c) (local.get $a)))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $l (i32.lt_u (local.get $i) (local.get $n))))
        (i64.add (i64.add (local.get $a) (i64.add (local.get $b) (local.get $c))) (call $first (local.get $x))))
    (func (export "nested") (param $n i64) (result i64) (local $s i64)
        (loop $l
            (local.set $s (i64.add (local.get $s) (call $first (call $caught (local.get $n)))))
            (br_if $l (i64.ne (local.tee $n (i64.sub (local.get $n) (i64.const 1))) (i64.const 0))))
        (local.get $s)))"#;

#[test]
fn what_a_deadlines_callback_calls_leaves_the_interrupted_loop_alone() {
    let mut results = Vec::new();
    for (name, mut config) in configurations() {
        config.epoch_interruption(true);
        let engine = Engine::new(&config).unwrap();
        let module = Module::new(&engine, INTERRUPTED).unwrap();
        for calls in [false, true] {
            let mut store = Store::new(&engine, (None, 0));
            store.set_epoch_deadline(1);
            let ticked = engine.clone();
            let tick = Func::wrap(&mut store, move || ticked.increment_epoch());
            let instance = Instance::new(&mut store, &module, &[tick.into()]).unwrap();
            let run = instance.get_typed_func::<i32, i64>(&mut store, "run").unwrap();
            store.data_mut().0 = Some(instance.get_typed_func::<i64, i64>(&mut store, "nested").unwrap());
            store.epoch_deadline_callback(move |mut context| {
                context.data_mut().1 += 1;
                if calls {
                    context.set_epoch_deadline(1000);
                    let nested = context.data().0.expect("set above");
                    assert_eq!(nested.call(&mut context, 30)?, 465);
                }
                Ok(UpdateDeadline::Continue(1))
            });
            for _ in 0..3 {
                results.push((name, calls, run.call(&mut store, 300).unwrap()));
            }
            assert!(store.data().1 > 100, "{name}: interrupted {} times", store.data().1);
        }
    }
    assert!(results.iter().all(|it| it.2 == results[0].2), "{results:?}");
}

/// A callback that wants to be asked at each poll is, and the guest gets on; what it calls has no deadline.
#[test]
fn a_guest_that_is_asked_at_each_poll_gets_on() {
    for (name, mut config) in configurations() {
        config.epoch_interruption(true);
        let engine = Engine::new(&config).unwrap();
        let module = Module::new(&engine, INTERRUPTED).unwrap();
        let mut store = Store::new(&engine, (None, 0));
        store.set_epoch_deadline(0);
        let tick = Func::wrap(&mut store, || ());
        let instance = Instance::new(&mut store, &module, &[tick.into()]).unwrap();
        let run = instance.get_typed_func::<i32, i64>(&mut store, "run").unwrap();
        store.data_mut().0 = Some(instance.get_typed_func::<i64, i64>(&mut store, "nested").unwrap());
        store.epoch_deadline_callback(move |mut context| {
            context.data_mut().1 += 1;
            let nested = context.data().0.expect("set above");
            context.engine().increment_epoch();
            assert_eq!(nested.call(&mut context, 30)?, 465);
            Ok(UpdateDeadline::Continue(0))
        });
        let once = run.call(&mut store, 300).unwrap();
        assert!(store.data().1 >= 30, "{name}: asked {} times", store.data().1);
        store.epoch_deadline_trap();
        store.set_epoch_deadline(1000);
        assert_eq!(run.call(&mut store, 300).unwrap(), once, "{name}");
    }
}

/// Panics where it is asked whether memory may grow, which it is for exceptions that are kept too.
struct Panics;

impl backedge::ResourceLimiter for Panics {
    fn memory_growing(&mut self, _: usize, _: usize, _: Option<usize>) -> backedge::Result<bool> {
        panic!("no more")
    }

    fn table_growing(&mut self, _: usize, _: usize, _: Option<usize>) -> backedge::Result<bool> {
        Ok(true)
    }
}

#[test]
fn a_limiters_panic_at_a_throw_comes_back() {
    for (name, config) in configurations() {
        if name.contains("collecting") {
            continue;
        }
        let engine = Engine::new(&config).unwrap();
        let module = Module::new(&engine, KEEPS).unwrap();
        let mut store = Store::new(&engine, Panics);
        store.limiter(|limits| limits);
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let run = instance.get_typed_func::<(i32, i32), i32>(&mut store, "run").unwrap();
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run.call(&mut store, (20_000, 1)))).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"no more"), "{name}");
    }
}

/// Keeps the last of its exceptions, or all.
const KEEPS: &str = r#"(module
        (tag $e (param i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64))
        (table $kept 1 exnref)
        (func $throw (local i64) (throw $e (local.get 0) (local.get 0) (local.get 0) (local.get 0) (local.get 0) (local.get 0) (local.get 0) (local.get 0)
            (local.get 0) (local.get 0) (local.get 0) (local.get 0) (local.get 0) (local.get 0) (local.get 0) (local.get 0)))
        (func (export "run") (param $n i32) (param $keeps i32) (result i32) (local $i i32) (local $x exnref)
            (drop (table.grow $kept (ref.null exn) (local.get $n)))
            (loop $l
                (block $h (result exnref) (try_table (catch_all_ref $h) (call $throw)) (unreachable))
                (local.set $x)
                (table.set $kept (i32.mul (local.get $i) (local.get $keeps)) (local.get $x))
                (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
            (local.get $i)))"#;

/// Exceptions that references keep are memory of the guest's.
#[test]
fn exceptions_that_stay_are_limited_as_memories_are() {
    for (name, config) in configurations() {
        let engine = Engine::new(&config).unwrap();
        let module = Module::new(&engine, KEEPS).unwrap();
        let mut store: Store<StoreLimits> = Store::new(&engine, StoreLimitsBuilder::new().memory_size(1 << 20).build());
        store.limiter(|limits| limits);
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let run = instance.get_typed_func::<(i32, i32), i32>(&mut store, "run").unwrap();
        let many = if name.contains("collecting") { 1000 } else { 20_000 };
        assert_eq!(run.call(&mut store, (many, 0)).unwrap(), many, "{name}: those that nothing names are collected");
        if many == 20_000 {
            let error = run.call(&mut store, (many, 1)).unwrap_err();
            assert!(format!("{error:?}").contains("the store's limiter refuses"), "{name}: {error:?}");
        }
    }
}

/// Each proposal that can be switched off: what needs it is refused by name, from bytes, kept code and precompiled code; everything else runs.
#[test]
fn a_proposal_that_is_switched_off_is_refused_by_name() {
    type Switch = fn(&mut Config, bool) -> &mut Config;
    let proposals: [(&str, Switch, &str); 9] = [
        ("SIMD", Config::wasm_simd, "(func (result v128) (v128.const i64x2 1 2))"),
        (
            "relaxed SIMD",
            Config::wasm_relaxed_simd,
            "(func (param v128) (result v128) (i8x16.relaxed_swizzle (local.get 0) (local.get 0)))",
        ),
        ("threads", Config::wasm_threads, "(memory 1 1 shared)"),
        ("tail calls", Config::wasm_tail_call, "(func $f (return_call $f))"),
        ("memory64", Config::wasm_memory64, "(memory i64 1)"),
        ("multi-memory", Config::wasm_multi_memory, "(memory 1) (memory 1)"),
        ("exception handling", Config::wasm_exceptions, "(tag $t) (func (throw $t))"),
        (
            "typed function references",
            Config::wasm_function_references,
            "(type $t (func)) (func (param (ref $t)) (call_ref $t (local.get 0)))",
        ),
        ("extended constant expressions", Config::wasm_extended_const, "(global i32 (i32.add (i32.const 1) (i32.const 2)))"),
    ];
    let cache = tempfile::tempdir().unwrap();
    for (name, switch, wat) in &proposals {
        let wat = format!("(module {wat})");
        let engine = |enable: bool, cached: bool| {
            let mut config = Config::new();
            switch(&mut config, false);
            switch(&mut config, enable);
            if cached {
                config.cache(Some(backedge::CacheDirectory::new(cache.path())));
            }
            Engine::new(&config).unwrap()
        };
        let precompiled = Module::new(&engine(true, true), &wat).unwrap_or_else(|error| panic!("{name}: {error:#}")).serialize().unwrap();
        for cached in [false, true] {
            let without = engine(false, cached);
            // SAFETY: bytes of this process's own.
            for refused in [Module::new(&without, &wat), unsafe { Module::deserialize(&without, &precompiled) }] {
                let message = format!("{:#}", refused.map(drop).expect_err(name));
                assert!(message.contains(&format!("switched off: {name} ")), "{name}: {message}");
            }
            for (other, _, wat) in &proposals {
                let builds_on = *name == "SIMD" && *other == "relaxed SIMD";
                assert_eq!(Module::new(&without, format!("(module {wat})")).is_ok(), other != name && !builds_on, "{other} without {name}");
            }
        }
    }
}

/// What the host throws, guests catch with its fields; what guests throw, the host reads, throws on, and keeps as a value.
#[test]
fn hosts_make_and_read_exceptions() {
    let wat = r#"(module
        (type $carried (func (param i32 v128 externref f64)))
        (import "host" "tag" (tag $tag (type $carried)))
        (import "host" "throws" (func $throws (param i32)))
        (import "host" "throws_on" (func $throws_on (param exnref)))
        (func (export "caught") (param $n i32) (result i32 v128 externref f64)
            (block $caught (result i32 v128 externref f64)
                (try_table (catch $tag $caught) (call $throws (local.get $n)))
                unreachable))
        (func (export "by_reference") (param $n i32) (result exnref)
            (block $caught (result exnref)
                (try_table (catch_all_ref $caught) (call $throws (local.get $n)))
                unreachable))
        (func (export "thrown_on") (param $exception exnref) (result i32)
            (block $caught (result i32 v128 externref f64)
                (try_table (catch $tag $caught) (call $throws_on (local.get $exception)))
                unreachable)
            drop drop drop)
        (func (export "throws") (param $n i32) (param $seen externref)
            (throw $tag (local.get $n) (v128.const i32x4 1 2 3 4) (local.get $seen) (f64.const 2.5))))"#;
    for (name, config) in configurations() {
        let engine = Engine::new(&config).unwrap();
        let module = Module::new(&engine, wat).unwrap_or_else(|error| panic!("{error:#}"));
        let mut store = Store::new(&engine, ());
        let ty = FuncType::new(&engine, [ValType::I32, ValType::V128, ValType::EXTERNREF, ValType::F64], []);
        let tag = Tag::new(&mut store, &TagType::new(ty)).unwrap();
        let other = Tag::new(&mut store, &TagType::new(FuncType::new(&engine, [], []))).unwrap();
        let seen = ExternRef::new(&mut store, "seen").unwrap();
        let vector = V128::from(0x0000_0004_0000_0003_0000_0002_0000_0001);
        let fields = move |n: i32| [Val::I32(n), Val::V128(vector), Val::ExternRef(Some(seen)), Val::F64(2.5f64.to_bits())];
        let throws = Func::wrap(&mut store, move |mut caller: Caller<'_, ()>, n: i32| -> backedge::Result<()> {
            Err(ThrownException::new(&mut caller, &tag, &fields(n))?.into())
        });
        let exn = ValType::Ref(RefType::new(true, HeapType::Exn));
        let throws_on = Func::new(&mut store, FuncType::new(&engine, [exn], []), |caller, values, _| match values {
            [Val::ExnRef(Some(exception))] => Err(exception.to_thrown(&caller).into()),
            _ => panic!("{values:?}"),
        });
        let instance = Instance::new(&mut store, &module, &[tag.into(), throws.into(), throws_on.into()]).unwrap();
        let same = |values: &[Val], n: i32| assert_eq!(format!("{values:?}"), format!("{:?}", fields(n)), "{name}");
        for n in 0..20 {
            let mut results = [Val::I32(0), Val::I32(0), Val::I32(0), Val::I32(0)];
            let caught = instance.get_func(&mut store, "caught").unwrap();
            caught.call(&mut store, &[Val::I32(n)], &mut results).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            same(&results, n);
            let mut result = [Val::ExnRef(None)];
            instance.get_func(&mut store, "by_reference").unwrap().call(&mut store, &[Val::I32(n)], &mut result).unwrap();
            let [Val::ExnRef(Some(kept))] = result else { panic!("{name}: {result:?}") };
            assert_eq!(kept.tag(&store), tag, "{name}");
            same(&kept.fields(&store), n);
            let made = ExnRef::new(&mut store, &tag, &fields(100 + n)).unwrap();
            for (exception, n) in [(kept, n), (made, 100 + n)] {
                let mut result = [Val::I32(0)];
                let thrown_on = instance.get_func(&mut store, "thrown_on").unwrap();
                thrown_on
                    .call(&mut store, &[Val::ExnRef(Some(exception))], &mut result)
                    .unwrap_or_else(|error| panic!("{name}: {error:#}"));
                assert_eq!(result[0].i32(), Some(n), "{name}");
            }
            let guest = instance.get_func(&mut store, "throws").unwrap();
            let error = guest.call(&mut store, &[Val::I32(n), Val::ExternRef(Some(seen))], &mut []).unwrap_err();
            let thrown = error.downcast_ref::<ThrownException>().unwrap_or_else(|| panic!("{name}: {error:#}"));
            assert_eq!(thrown.tag(&store), tag, "{name}");
            same(&thrown.fields(&store), n);
            assert_eq!(thrown.to_ref(&mut store).to_thrown(&store), *thrown);
        }
        let empty = ThrownException::new(&mut store, &other, &[]).unwrap();
        assert!(empty.tag(&store) == other && empty.fields(&store).is_empty());
        assert!(ThrownException::new(&mut store, &other, &fields(0)).unwrap_err().to_string().contains("expected 0 fields, got 4"));
        let wrong = ThrownException::new(&mut store, &tag, &[Val::I64(1), Val::I64(1), Val::I64(1), Val::I64(1)]).unwrap_err();
        assert!(wrong.to_string().contains("field type mismatch: found i64 but expected i32"), "{wrong}");
        let elsewhere = Store::new(&engine, ());
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| empty.fields(&elsewhere))).expect_err("of another store");
    }
}

/// Exceptions that the host makes are limited as the guest's are, and those that it lets go are freed.
#[test]
fn a_hosts_exceptions_are_limited() {
    let engine = Engine::default();
    let mut store = Store::new(&engine, StoreLimitsBuilder::new().memory_size(8 << 20).build());
    store.limiter(|limits| limits);
    let tag = Tag::new(&mut store, &TagType::new(FuncType::new(&engine, [ValType::I64; 100], []))).unwrap();
    let fields = [Val::I64(7); 100];
    for _ in 0..100_000 {
        ThrownException::new(&mut store, &tag, &fields).unwrap();
    }
    let kept: Vec<_> = (0..100_000).map_while(|_| ThrownException::new(&mut store, &tag, &fields).ok()).collect();
    assert!((1_000..20_000).contains(&kept.len()), "{}", kept.len());
}

/// A host's threads wait and notify as a guest's do.
#[test]
fn a_host_waits_and_notifies() {
    use backedge::WaitResult;
    use std::time::Duration;
    let engine = Engine::default();
    let module = Module::new(
        &engine,
        r#"(module (import "host" "memory" (memory 1 1 shared))
            (func (export "wait") (result i32) (memory.atomic.wait32 (i32.const 8) (i32.const 5) (i64.const -1)))
            (func (export "notify") (result i32) (memory.atomic.notify (i32.const 16) (i32.const 10))))"#,
    )
    .unwrap();
    let memory = SharedMemory::new(&engine, MemoryType::shared(1, 1)).unwrap();
    let write = |at: usize, value: u32| {
        for (cell, byte) in memory.data()[at..].iter().zip(value.to_le_bytes()) {
            // SAFETY: no other thread runs yet.
            unsafe { *cell.get() = byte };
        }
    };
    write(8, 5);
    write(16, 9);
    let call = |export: &str| {
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[memory.clone().into()]).unwrap();
        instance.get_typed_func::<(), i32>(&mut store, export).unwrap().call(&mut store, ()).unwrap()
    };
    let short = Some(Duration::from_millis(5));
    assert_eq!(memory.atomic_wait32(8, 6, None), Ok(WaitResult::Mismatch));
    assert_eq!(memory.atomic_wait32(8, 5, short), Ok(WaitResult::TimedOut));
    assert_eq!(memory.atomic_wait64(8, 5, short), Ok(WaitResult::TimedOut));
    assert_eq!(memory.atomic_wait64(8, 1 << 32, None), Ok(WaitResult::Mismatch));
    assert_eq!(memory.atomic_wait64(12, 0, None), Err(Trap::HeapMisaligned));
    assert_eq!(memory.atomic_wait32(65536, 0, None), Err(Trap::MemoryOutOfBounds));
    assert_eq!(memory.atomic_notify(u64::MAX - 3, 1), Err(Trap::MemoryOutOfBounds));
    assert_eq!(memory.atomic_notify(8, 1), Ok(0));
    std::thread::scope(|scope| {
        let guest = scope.spawn(|| call("wait"));
        while memory.atomic_notify(8, 1) == Ok(0) {
            std::thread::yield_now();
        }
        assert_eq!(guest.join().unwrap(), 0);
        let host = scope.spawn(|| memory.atomic_wait32(16, 9, None));
        while call("notify") == 0 {}
        assert_eq!(host.join().unwrap(), Ok(WaitResult::Ok));
    });
}

/// Compiled code calls a function of another instance in place of its own frame, and that one leaves: it goes on with its own instance's globals and tables, whoever entered the first.
#[test]
fn what_leaves_after_a_call_in_place_of_another_instances_frame_goes_on_in_its_own() {
    let text = |padding: &str| {
        format!(
            r#"(module
            (import "host" "table" (table $shared 2 funcref))
            (type $f (func (param i32 i32) (result i32)))
            {padding}
            (global $id (mut i32) (i32.const 0))
            (global $counted (mut i32) (i32.const 0))
            (table $own 2 funcref)
            (elem (table $own) (i32.const 0) func $plain $counts)
            (elem declare func $loops)
            (func (export "init") (param i32)
                (global.set $id (local.get 0))
                (table.set $shared (local.get 0) (ref.func $loops)))
            (func $plain (type $f) (i32.add (local.get 0) (local.get 1)))
            (func $counts (type $f)
                (global.set $counted (i32.add (global.get $counted) (i32.const 1)))
                (i32.mul (local.get 0) (i32.const 3)))
            (func $loops (type $f) (local $sum i32)
                (loop $again
                    (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31))
                        (call_indirect $own (type $f) (local.get 0) (local.get $sum)
                            (i32.and (i32.eq (local.get 0) (i32.const 5)) (local.get 1)))))
                    (br_if $again (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
                (i32.add (i32.and (local.get $sum) (i32.const 0)) (global.get $id)))
            (func $in_place (export "in place") (type $f) (local $i i32)
                (loop $again
                    (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 20))))
                (return_call_indirect $shared (type $f) (local.get 0) (local.get 1) (i32.const 1)))
            (func (export "nested") (type $f) (i32.mul (i32.const 10) (call $in_place (local.get 0) (local.get 1))))
            (func (export "counted") (result i32) (global.get $counted)))"#
        )
    };
    for (name, config) in configurations() {
        for padding in ["", "(func) (func) (func (param f64 f64 f64))"] {
            let engine = Engine::new(&config).unwrap();
            let first = Module::new(&engine, text("")).unwrap_or_else(|error| panic!("{error:#}"));
            let second = Module::new(&engine, text(padding)).unwrap();
            let mut store = Store::new(&engine, ());
            let table =
                backedge::Table::new(&mut store, backedge::TableType::new(RefType::FUNCREF, 2, None), backedge::Ref::Func(None)).unwrap();
            let instances = [&first, &second].map(|module| Instance::new(&mut store, module, &[table.into()]).unwrap());
            for (id, instance) in (0..).zip(&instances) {
                instance.get_typed_func::<i32, ()>(&mut store, "init").unwrap().call(&mut store, id).unwrap();
            }
            let functions =
                ["in place", "nested"].map(|export| instances[0].get_typed_func::<(i32, i32), i32>(&mut store, export).unwrap());
            let rounds = 60;
            for round in 0..rounds {
                for (function, expected) in functions.iter().zip([1, 10]) {
                    let result = function.call(&mut store, (9, i32::from(round > 40)));
                    assert_eq!(result.unwrap_or_else(|error| panic!("{name}: {error:#}")), expected, "{name}, round {round}");
                }
            }
            let counted =
                instances.map(|instance| instance.get_typed_func::<(), i32>(&mut store, "counted").unwrap().call(&mut store, ()).unwrap());
            assert_eq!(counted, [0, 2 * (rounds - 41)], "{name}");
        }
    }
}

/// What a function calls in place of its own frame throws past that frame's handlers.
#[test]
fn a_frame_that_a_call_took_the_place_of_catches_nothing() {
    let wat = r#"(module
        (import "host" "throws" (func $elsewhere (param i32) (result i32)))
        (tag $e)
        (func $throws (param i32) (result i32) (local $i i32)
            (loop $again
                (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 20))))
            (if (i32.eqz (local.get 0)) (then (throw $e)))
            (i32.const 1))
        (func $in_place (param i32) (result i32)
            (block $caught
                (try_table (catch_all $caught) (return_call $throws (local.get 0)))
                unreachable)
            (i32.const 7))
        (func $elsewhere_in_place (param i32) (result i32)
            (block $caught
                (try_table (catch_all $caught) (return_call $elsewhere (local.get 0)))
                unreachable)
            (i32.const 7))
        (func $legacy (param i32) (result i32)
            try (result i32) (return_call $elsewhere (local.get 0)) catch_all (i32.const 7) end)
        (func (export "warm") (result i32) (call $throws (i32.const 1)))
        (func (export "own") (result i32)
            (block $caught
                (try_table (catch_all $caught) (return (call $in_place (i32.const 0))))
                unreachable)
            (i32.const 42))
        (func (export "elsewhere") (result i32)
            (block $caught
                (try_table (catch_all $caught) (return (call $elsewhere_in_place (i32.const 0))))
                unreachable)
            (i32.const 42))
        (func (export "legacy") (result i32)
            try (result i32) (call $legacy (i32.const 0)) catch_all (i32.const 42) end))"#;
    let other = r#"(module (tag $e) (func (export "throws") (param i32) (result i32) (throw $e)))"#;
    for (name, config) in configurations() {
        let engine = Engine::new(&config).unwrap();
        let mut store = Store::new(&engine, ());
        let other = Instance::new(&mut store, &Module::new(&engine, other).unwrap(), &[]).unwrap();
        let throws = other.get_func(&mut store, "throws").unwrap();
        let module = Module::new(&engine, wat).unwrap_or_else(|error| panic!("{error:#}"));
        let instance = Instance::new(&mut store, &module, &[throws.into()]).unwrap();
        let mut call = |export: &str| instance.get_typed_func::<(), i32>(&mut store, export).unwrap().call(&mut store, ());
        for _ in 0..30 {
            assert_eq!(call("warm").unwrap(), 1, "{name}");
            for export in ["own", "elsewhere", "legacy"] {
                assert_eq!(call(export).unwrap_or_else(|error| panic!("{name}: {error:#}")), 42, "{name}, {export}");
            }
        }
    }
}
