//! v128 through everything that switches frames: OSR, the switch buffer of several frames, side exits, calls of every kind, host functions, traps. Every
//! configuration must say what the interpreter says, and each must have done what it is there for.

use std::sync::Arc;

use backedge::{Config, V128};
use lwp_feedback::policy::{Decision, FilePlan, InlineDecision, InlineTarget, PlanFile};
use vm::code::{CompileRequest, Compiler, Entrance, Tier};
use vm::engine::{Engine, EngineConfig, LoadedModule, Stress, TierPolicy};
use vm::handles::{Extern, InstanceRef};
use vm::module::Module;
use vm::store::{Store, call_slots};
use wasmparser::{FuncType, Operator, ValType};

struct Guest {
    store: Store,
    instance: InstanceRef,
    loaded: Arc<LoadedModule>,
}

/// A host function `(i32, v128, f32) -> (v128, i32)`: the vector with its halves swapped, and the sum of the others.
fn swap(store: &mut Store) -> Extern {
    let ty = FuncType::new([ValType::I32, ValType::V128, ValType::F32], [ValType::V128, ValType::I32]);
    Extern::Func(store.define_function(
        ty,
        Box::new(|call| {
            let slots = call.slots;
            let (number, float) = (slots[0] as u32, f32::from_bits(slots[3] as u32));
            let [low, high] = [slots[1], slots[2]];
            slots[..3].copy_from_slice(&[high, low, u64::from(number.wrapping_add(float as u32))]);
            Ok(())
        }),
    ))
}

impl Guest {
    fn new(config: EngineConfig, wat: &str) -> Guest {
        let compiler = jit::CraneliftCompiler::new(jit::Options { verify: true, ..Default::default() }).unwrap();
        let engine = Engine::new(config, Some(Arc::new(compiler))).unwrap();
        let mut store = Store::new(&engine).unwrap();
        let loaded = engine.load(wat.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{wat}"));
        let imports: Vec<_> = loaded.module.imports.iter().map(|_| swap(&mut store)).collect();
        // SAFETY: the imports are of this store.
        let instance = unsafe { store.instantiate(&loaded, &imports) }.unwrap();
        Guest { store, instance, loaded }
    }

    /// The result slots, or what it trapped with.
    fn call(&mut self, name: &str, args: &[u64]) -> Result<Vec<u64>, String> {
        let Some(Extern::Func(function)) = self.instance.export(name) else { panic!("no function {name}") };
        let mut slots = args.to_vec();
        slots.resize(call_slots(&function.ty()), 0);
        // SAFETY: the function is this store's and the arguments are numbers of its types.
        unsafe { self.store.call(function, &mut slots) }.map_err(|unwind| format!("{unwind:?}"))?;
        slots.truncate(function.ty().results().iter().map(|ty| if *ty == ValType::V128 { 2 } else { 1 }).sum());
        Ok(slots)
    }

    fn fired(&self, name: &str) -> usize {
        let versions = self.loaded.code.versions();
        versions.iter().flat_map(|version| &version.applied).filter(|applied| applied.name == name && applied.refused.is_none()).count()
    }

    fn compiled(&self, tier: Tier) -> usize {
        let failures = self.loaded.code.failures();
        assert!(failures.is_empty(), "{failures:?}");
        self.loaded.code.versions().iter().filter(|version| version.tier == tier).count()
    }
}

fn pinned(tier: TierPolicy) -> EngineConfig {
    EngineConfig { tier, ..EngineConfig::default() }
}

/// Everything hot at once, compiled on the spot.
fn eager() -> EngineConfig {
    EngineConfig { hot_interpreter: 1, hot_baseline: 1, deterministic: true, monitor_thread: false, ..EngineConfig::default() }
}

/// Runs the calls in every configuration; what the interpreter says of each comes back.
fn everywhere(wat: &str, plans: Option<Arc<PlanFile>>, calls: &[(&str, &[u64])]) -> Vec<Result<Vec<u64>, String>> {
    let run = |what: &str, config: EngineConfig| {
        let mut guest = Guest::new(EngineConfig { plans: plans.clone(), ..config }, wat);
        let results: Vec<_> = calls.iter().map(|(name, args)| guest.call(name, args)).collect();
        (what.to_owned(), guest, results)
    };
    let (_, guest, truth) = run("interpreter", pinned(TierPolicy::Interpreter));
    assert_eq!(guest.compiled(Tier::Baseline) + guest.compiled(Tier::Optimizing), 0);
    let check = |(what, guest, results): (String, Guest, Vec<Result<Vec<u64>, String>>)| {
        for ((call, got), expected) in calls.iter().zip(&results).zip(&truth) {
            assert_eq!(got, expected, "{what}: {call:x?}");
        }
        guest
    };
    // Where there is none, there is nothing to leave at.
    let has_loop = wat.contains("(loop");
    let guest = check(run("tier 1", pinned(TierPolicy::Baseline)));
    assert!(guest.compiled(Tier::Baseline) > 0);
    let guest = check(run("tier 2", pinned(TierPolicy::Optimizing)));
    assert!(guest.compiled(Tier::Optimizing) > 0);
    let guest = check(run("tier-up at once", eager()));
    assert!(guest.compiled(Tier::Baseline) > 0 && guest.compiled(Tier::Optimizing) > 0);
    for stress in
        [Stress { leave_always: true, ..Stress::default() }, Stress { leave_to_interpreter: true, leave_always: true, ..Stress::default() }]
    {
        let guest = check(run("OSR at every header", EngineConfig { stress, ..eager() }));
        assert!(guest.loaded.code.switches() > 0 || !has_loop);
    }
    for fail_guards in [1, 2, 3, 7] {
        let stress = Stress { fail_guards, ..Stress::default() };
        let guest = check(run("failing guards", EngineConfig { stress, ..pinned(TierPolicy::Optimizing) }));
        assert!(guest.loaded.code.side_exits() > 0 || !has_loop, "every {fail_guards}th guard fails");
    }
    truth
}

/// Vectors as parameters, locals that live over the loop, below it on the operand stack, as the loop's own parameters, in `select` and `br_table`.
const LOOPS: &str = r#"(module
    (import "host" "swap" (func $swap (param i32 v128 f32) (result v128 i32)))
    (memory 1)
    (global $sum (mut v128) (v128.const i32x4 1 2 3 4))
    (global $step v128 (v128.const i16x8 1 2 3 4 5 6 7 8))
    (func $mix (param $a v128) (param $b i32) (param $c v128) (result v128 i32)
        (i16x8.add (i8x16.swizzle (local.get $a) (v128.const i8x16 3 2 1 0 7 6 5 4 11 10 9 8 15 14 13 12)) (local.get $c))
        (i32.add (local.get $b) (i8x16.bitmask (local.get $a))))
    (func $wide (param v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 i32 v128) (result v128 v128 v128)
        (i32x4.add (local.get 0) (local.get 9)) (i32x4.sub (local.get 4) (local.get 11)) (i32x4.splat (local.get 10)))
    (func (export "run") (param $v v128) (param $n i32) (result v128 i32 v128) (local $w v128) (local $i i32) (local $x i64) (local $u v128)
        (local.set $w (v128.const i64x2 0x0123456789abcdef 0x7ff00ff00ff00ff0))
        (local.set $x (i64.const 99))
        (f64.const 2.5)
        (v128.not (local.get $w))
        (i32.const 7)
        (loop $again (param v128 i32) (result v128 i32)
            (local.set $i) (local.set $u)
            (local.set $w (i32x4.add (local.get $w) (select (local.get $u) (local.get $v) (i32.and (local.get $i) (i32.const 1)))))
            (call $mix (local.get $u) (local.get $i) (local.get $w))
            (local.set $i)
            (block $b (param v128) (result v128)
                (block $a (param v128) (result v128)
                    (br_table $a $b $a (i32.rem_u (local.get $n) (i32.const 3))))
                (i16x8.mul (global.get $step)))
            (local.set $u)
            (global.set $sum (i64x2.add (global.get $sum) (local.get $u)))
            (v128.store offset=3 (i32.and (local.get $i) (i32.const 0xff)) (local.get $u))
            (local.set $v (v128.xor (local.get $v) (v128.load offset=5 (i32.and (local.get $i) (i32.const 0xff)))))
            (local.set $x (i64.add (local.get $x) (i64x2.extract_lane 1 (local.get $v))))
            (local.get $u) (local.get $i)
            (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
        (local.set $i) (local.set $u)
        (local.set $u (v128.xor (local.get $u) (i64x2.splat (local.get $x))))
        (drop)
        (local.get $u) (local.get $i) (v128.xor (local.get $w) (global.get $sum)))
    (func (export "calls") (param $n i32) (result v128 i32) (local $v v128) (local $i i32)
        (local.set $v (v128.const f32x4 1.5 -2.5 1e10 0))
        (loop $again
            (call $wide (local.get $v) (local.get $v) (local.get $v) (local.get $v) (i32x4.splat (local.get $n)) (local.get $v) (local.get $v)
                (local.get $v) (local.get $v) (i8x16.splat (local.get $i)) (local.get $n) (v128.not (local.get $v)))
            (local.set $v (i8x16.add))
            (local.set $v (v128.xor (local.get $v)))
            (call $swap (local.get $i) (local.get $v) (f32.const 2))
            (local.set $i) (local.set $v)
            (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
        (local.get $v) (local.get $i))
    (func (export "nested") (param $n i32) (result v128) (local $i i32) (local $j i32) (local $v v128)
        (v128.const i32x4 5 6 7 8)
        (loop $outer (param v128) (result v128)
            (i32x4.add (i32x4.splat (local.get $i)))
            (local.set $j (i32.const 5))
            (v128.const i64x2 -1 3)
            (loop $inner (param v128 v128) (result v128 v128)
                (i8x16.sub (local.get $v))
                (local.set $v (i32x4.add (local.get $v) (i32x4.splat (local.get $j))))
                (br_if $inner (local.tee $j (i32.sub (local.get $j) (i32.const 1)))))
            (v128.xor)
            (br_if $outer (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n)))))
)"#;

#[test]
fn vectors_live_over_every_switch() {
    let truth = everywhere(
        LOOPS,
        None,
        &[
            ("run", &[0x0807_0605_0403_0201, 0x100f_0e0d_0c0b_0a09, 40]),
            ("calls", &[30]),
            ("nested", &[20]),
            ("run", &[u64::MAX, 0, 33]),
            ("nested", &[1]),
            ("calls", &[1]),
        ],
    );
    assert!(truth.iter().all(Result::is_ok), "{truth:?}");
}

/// `$leaf`s of a type with vectors called through a table in a loop.
const DISPATCH: &str = r#"(module
    (type $unary (func (param v128 i32) (result v128)))
    (memory 1)
    (table 4 funcref)
    (elem (i32.const 0) $add $rotate $add $add)
    (func $add (type $unary) (i32x4.add (local.get 0) (i32x4.splat (local.get 1))))
    (func $rotate (type $unary) (local $v v128)
        (local.set $v (i8x16.shuffle 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 (local.get 0) (local.get 0)))
        (local.get $v))
    (func (export "set") (param i32 i32) (i32.store8 (local.get 0) (local.get 1)))
    (func $run (export "run") (param $n i32) (result v128 i64) (local $i i32) (local $v v128) (local $k v128)
        (v128.const i64x2 77 78)
        (loop $again
            (local.set $k (v128.not (local.get $v)))
            (i8x16.splat (local.get $i))
            (local.set $v (call_indirect (type $unary) (local.get $v) (local.get $i) (i32.load8_u (i32.and (local.get $i) (i32.const 0xff)))))
            (local.set $v (i8x16.add (local.get $v)))
            (local.set $v (v128.xor (local.get $v) (local.get $k)))
            (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
        (v128.xor (local.get $v))
        (i64.const 5))
)"#;

#[test]
fn a_guard_that_fails_leaves_with_vectors_in_every_frame() {
    let module = Module::new(DISPATCH.as_bytes()).unwrap();
    let operators = module.body(3).get_operators_reader().unwrap().into_iter_with_offsets().map(Result::unwrap);
    let (_, offset) = operators.into_iter().find(|(operator, _)| matches!(operator, Operator::CallIndirect { .. })).unwrap();
    let decision = |callee| {
        Decision::Inline(InlineDecision {
            offset: offset as u32,
            targets: vec![InlineTarget { callee, share: 1.0, samples: 100, body_bytes: 10 }],
            samples: 100,
            share: 1.0,
            side_exit: true,
            ..InlineDecision::default()
        })
    };
    let calls: &[(&str, &[u64])] =
        &[("run", &[100]), ("set", &[5, 1]), ("set", &[9, 3]), ("run", &[60]), ("set", &[11, 9]), ("run", &[20])];
    for callee in [0, 1] {
        let plans = Arc::new(PlanFile { module: None, plans: vec![FilePlan { func: 3, decisions: vec![decision(callee)] }] });
        let truth = everywhere(DISPATCH, Some(plans.clone()), calls);
        assert!(truth[3].is_ok() && truth[5].is_err());
        let mut guest = Guest::new(EngineConfig { plans: Some(plans), ..pinned(TierPolicy::Optimizing) }, DISPATCH);
        for ((name, args), expected) in calls.iter().zip(&truth) {
            assert_eq!(&guest.call(name, args), expected);
        }
        assert_eq!((guest.fired("inline-guarded"), guest.fired("side-exit")), (1, 1));
        assert!(guest.loaded.code.side_exits() > 0);
    }
}

/// Accesses of every width, which may lie across the end of the memory.
const BOUNDS: &str = r#"(module
    (memory 1 1)
    (func (export "load") (param i32) (result v128) (v128.load (local.get 0)))
    (func (export "extend") (param i32) (result v128) (i16x8.neg (v128.load8x8_s (local.get 0))))
    (func (export "splat16") (param i32) (result v128) (v128.load16_splat offset=1 (local.get 0)))
    (func (export "zero64") (param i32) (result v128) (v128.load64_zero (local.get 0)))
    (func (export "lane") (param i32) (result v128) (v128.load32_lane 3 (local.get 0) (v128.const i64x2 1 2)))
    (func (export "store") (param i32) (v128.store (local.get 0) (v128.const i64x2 -1 -1)))
    (func (export "store_lane") (param i32) (v128.store64_lane offset=4 1 (local.get 0) (v128.const i64x2 0 -1)))
    (func (export "far") (param i32) (result v128) (v128.load offset=0xffffffff (local.get 0)))
    (func (export "add") (param i32) (result v128) (i32x4.add (v128.load (local.get 0)) (v128.const i32x4 1 1 1 1)))
    (func (export "unused") (param i32) (drop (v128.load (local.get 0)))))"#;

#[test]
fn an_access_out_of_bounds_traps_and_changes_nothing() {
    let names = ["load", "extend", "splat16", "zero64", "lane", "store", "store_lane", "far", "add", "unused"];
    let places: Vec<[u64; 1]> = [0, 65520, 65521, 65524, 65525, 65528, 65529, 65533, 65535, 65536, 0xffff_ffff].map(|at| [at]).to_vec();
    let calls: Vec<(&str, &[u64])> = places.iter().flat_map(|place| names.map(|name| (name, &place[..]))).collect();
    // What a store wrote, or did not, the loads of all later rounds see.
    let truth = everywhere(BOUNDS, None, &calls);
    let traps = truth.iter().filter(|result| result.as_ref().is_err_and(|error| error.contains("MemoryOutOfBounds"))).count();
    assert_eq!(traps, truth.iter().filter(|result| result.is_err()).count());
    // Whole vectors beyond 65520, eight bytes beyond 65528, and so on.
    let fits = |bytes: u64| places.iter().filter(|place| place[0] + bytes <= 65536).count();
    let expected = 4 * fits(16) + 2 * fits(8) + fits(3) + fits(4) + fits(12);
    assert_eq!(truth.len() - traps, expected);
}

#[test]
fn small_functions_of_vectors_are_inlined() {
    let wat = r#"(module
        (func $lerp (param v128 v128 v128) (result v128)
            (f32x4.add (local.get 0) (f32x4.mul (local.get 2) (f32x4.sub (local.get 1) (local.get 0)))))
        (func (export "run") (param $n i32) (result v128) (local $v v128)
            (loop $again
                (local.set $v (call $lerp (local.get $v) (f32x4.convert_i32x4_s (i32x4.splat (local.get $n))) (v128.const f32x4 0.5 0.25 2 1)))
                (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
            (local.get $v)))"#;
    everywhere(wat, None, &[("run", &[50])]);
    let mut guest = Guest::new(pinned(TierPolicy::Optimizing), wat);
    guest.call("run", &[3]).unwrap();
    assert_eq!(guest.fired("inline-static"), 1);
}

#[test]
fn a_function_of_vectors_is_hot_soon() {
    let wat = r#"(module (func (export "scalar") (result i32) (i32.const 1))
        (func (export "vector") (result i32) (i8x16.all_true (v128.const i64x2 -1 -1))))"#;
    let config = EngineConfig { deterministic: true, monitor_thread: false, ..EngineConfig::default() };
    let mut guest = Guest::new(config, wat);
    for _ in 0..100 {
        assert_eq!(guest.call("scalar", &[]), Ok(vec![1]));
        assert_eq!(guest.call("vector", &[]), Ok(vec![1]));
    }
    let compiled: Vec<_> = guest.loaded.code.versions().iter().map(|version| version.function).collect();
    assert_eq!(compiled, [1]);
}

#[test]
fn the_api_gives_and_takes_vectors() {
    for tier in [backedge::TierPolicy::Interpreter, backedge::TierPolicy::Baseline, backedge::TierPolicy::Optimizing] {
        let mut config = Config::new();
        config.tier(tier);
        let engine = backedge::Engine::new(&config).unwrap();
        let module = backedge::Module::new(
            &engine,
            r#"(module (import "a" "f" (func $f (param v128 i32) (result v128)))
                (global (export "g") (mut v128) (v128.const i64x2 1 2))
                (func (export "run") (param v128) (result v128) (i64x2.add (call $f (local.get 0) (i32.const 3)) (global.get 0))))"#,
        )
        .unwrap();
        let mut store = backedge::Store::new(&engine, ());
        let f = backedge::Func::wrap(&mut store, |v: V128, n: i32| -> V128 { V128::from(v.as_u128() << n) });
        let instance = backedge::Instance::new(&mut store, &module, &[f.into()]).unwrap();
        let run = instance.get_typed_func::<V128, V128>(&mut store, "run").unwrap();
        let result = run.call(&mut store, V128::from(1 << 63)).unwrap();
        assert_eq!(result.as_u128(), (6 << 64) + 1);
        let global = instance.get_global(&mut store, "g").unwrap();
        global.set(&mut store, backedge::Val::V128(V128::from(u128::MAX))).unwrap();
        assert_eq!(run.call(&mut store, V128::from(1)).unwrap().as_u128(), (u128::from(u64::MAX) << 64) + 7);
    }
}

/// Two loops, one in the other, with more values that stay the same than there are registers: of both kinds, and of 32 and 64 bits.
fn full_loops() -> String {
    use std::fmt::Write as _;
    let (mut locals, mut begin, mut body) = (String::new(), String::new(), String::new());
    for number in 0..12 {
        let _ = write!(locals, "(local $a{number} i32) (local $b{number} i64) (local $f{number} f64) (local $v{number} v128)");
        let _ = write!(
            begin,
            "(local.set $a{number} (i32.load offset={} (local.get $k)))
            (local.set $b{number} (i64.load offset={} (local.get $k)))
            (local.set $f{number} (f64.convert_i64_s (i64.load offset={} (local.get $k))))
            (local.set $v{number} (v128.load offset={} (local.get $k)))",
            8 * number,
            8 * number + 4,
            8 * number + 1,
            8 * number + 2
        );
        let _ = write!(
            body,
            "(local.set $s (i64.add (i64.rotl (local.get $s) (i64.const 7)) (i64.xor (local.get $b{number}) (i64.extend_i32_u (i32.add (local.get $a{number}) (local.get $j))))))
            (local.set $t (f64.add (f64.mul (local.get $t) (f64.const 0.5)) (local.get $f{number})))
            (local.set $w (i64x2.add (v128.xor (local.get $w) (local.get $v{number})) (local.get $v{number})))"
        );
    }
    format!(
        r#"(module (memory 1) (data (i32.const 0) "what stays the same in a loop that has no register for it is stored in front of it, and an exit of that loop reads it there; so it does.")
    (func (export "full") (param $n i32) (param $k i32) (result i64) (local $i i32) (local $j i32) (local $s i64) (local $t f64) (local $w v128) {locals}
        {begin}
        (loop $outer
            (local.set $j (local.get $n))
            (loop $inner
                {body}
                (i64.store (i32.and (i32.wrap_i64 (local.get $s)) (i32.const 0xfff8)) (local.get $s))
                (br_if $inner (local.tee $j (i32.sub (local.get $j) (i32.const 1)))))
            (br_if $outer (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
        (i64.xor (i64.xor (local.get $s) (i64.reinterpret_f64 (local.get $t)))
            (i64.xor (i64x2.extract_lane 0 (local.get $w)) (i64.load (i32.const 0xff8))))))"#
    )
}

#[test]
fn what_a_full_loop_keeps_in_slots_comes_with_it() {
    let wat = full_loops();
    everywhere(&wat, None, &[("full", &[1, 7]), ("full", &[5, 0]), ("full", &[23, 11])]);
    // Its exits read slots.
    let module = Arc::new(Module::new(wat.as_bytes()).unwrap());
    let compiler = jit::CraneliftCompiler::new(jit::Options::default()).unwrap();
    let request = CompileRequest { listing: true, ..CompileRequest::new(module, 0, Entrance::Body, Tier::Optimizing, 1) };
    let listing = compiler.compile(&request).unwrap().listing.unwrap();
    let reads = listing.optimized.matches("stack_addr").count();
    assert!(reads > 40, "{reads}\n{}", listing.optimized);
}
