//! Prefetch plans change no result: index arrays that end where the memory ends, walks backwards, loops that stop early, memories that
//! grow meanwhile, accesses that trap. What the plans fired and how often their loads faulted is asserted too.

use std::sync::Arc;

use jit::{CraneliftCompiler, Options};
use lwp_feedback::policy::{Because, Decision, FilePlan, PlanFile, PrefetchDecision, PrefetchKind};
use vm::engine::{Engine, EngineConfig, LoadedModule, TierPolicy};
use vm::handles::Extern;
use vm::module::Module;
use vm::report::Report;
use vm::store::{Store, call_slots};
use vm::trap::{TrapCode, Unwind};

/// Programs with an exported `run(i32, i32) -> i64` as their last function, and arguments.
const PROGRAMS: &[(&str, &str, &[[u64; 2]])] = &[
    (
        "indices up to the last byte of memory",
        r#"(module (memory 1) (func $fill (local $i i32)
            (loop $next (i32.store (local.get $i) (i32.and (i32.mul (local.get $i) (i32.const 40503)) (i32.const 0xfff0)))
              (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 4))) (i32.const 65536)))))
          (func (export "run") (param $p i32) (param $end i32) (result i64) (local $sum i64)
            (call $fill)
            (loop $next
              (local.set $sum (i64.add (i64.rotl (local.get $sum) (i64.const 1)) (i64.load (i32.load (local.get $p)))))
              (br_if $next (i32.ne (local.tee $p (i32.add (local.get $p) (i32.const 4))) (local.get $end))))
            (local.get $sum)))"#,
        &[[65280, 65536], [0, 65536], [65532, 65536]],
    ),
    (
        "downwards through address zero, a stride from outside, a counter",
        r#"(module (memory 2)
          (func (export "run") (param $p i32) (param $stride i32) (result i64) (local $sum i64) (local $n i32) (local $at i32)
            (local.set $n (i32.const 100))
            (loop $next
              (i32.store8 (local.get $p) (local.get $n))
              (local.set $at (i32.mul (i32.and (i32.load16_s (local.get $p)) (i32.const 0x7ff)) (i32.const 24)))
              (i32.store offset=8 (local.get $at) (i32.add (i32.load offset=8 (local.get $at)) (local.get $p)))
              (local.set $sum (i64.add (local.get $sum) (i64.load32_s offset=8 (local.get $at))))
              (local.set $p (i32.sub (local.get $p) (local.get $stride)))
              (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
            (local.get $sum)))"#,
        &[[131000, 1000], [100, 1], [396, 4], [65536, 0xffff_fe00]],
    ),
    (
        "a search that stops early, hashing, an inner walk",
        r#"(module (memory 1)
          (func (export "run") (param $seed i32) (param $keys i32) (result i64) (local $i i32) (local $key i32) (local $at i32) (local $found i64)
            (loop $fill
              (i32.store (i32.add (i32.const 0x8000) (local.get $i)) (i32.mul (i32.add (local.get $i) (local.get $seed)) (i32.const 0x9e3779b1)))
              (br_if $fill (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 4))) (i32.const 0x8000))))
            (local.set $i (i32.sub (i32.const 65536) (local.get $keys)))
            (block $out (loop $next
              (br_if $out (i32.ge_u (local.get $i) (i32.const 65536)))
              (local.set $key (i32.load (local.get $i)))
              (br_if $out (i32.eq (i32.and (local.get $key) (i32.const 0x3ff)) (i32.const 0x155)))
              (local.set $at (i32.shl (i32.shr_u (i32.mul (local.get $key) (i32.const 0x85ebca6b)) (i32.const 22)) (i32.const 3)))
              (block $done (loop $walk
                (br_if $done (i32.eqz (i32.load (local.get $at))))
                (local.set $found (i64.add (local.get $found) (i64.extend_i32_u (i32.load offset=4 (local.get $at)))))
                (local.set $at (i32.and (i32.add (local.get $at) (i32.const 8)) (i32.const 0x1fff)))
                (br $walk)))
              (i64.store (local.get $at) (i64.or (i64.extend_i32_u (local.get $key)) (i64.const 1)))
              (local.set $i (i32.add (local.get $i) (i32.const 4)))
              (br $next)))
            (i64.add (local.get $found) (i64.extend_i32_u (local.get $i)))))"#,
        &[[1, 512], [77, 3000], [5, 4]],
    ),
    (
        "rows of a graph in the order of a queue, at the end of memory",
        r#"(module (memory 1)
          (func (export "run") (param $rows i32) (param $seed i32) (result i64)
              (local $i i32) (local $e i32) (local $last i32) (local $sum i64) (local $row i32) (local $queue i32)
            ;; Rows end where the memory ends; row i spans edges [row[i], row[i+1]); every edge is an address below 0x1000.
            (local.set $queue (i32.sub (i32.const 65536) (i32.shl (local.get $rows) (i32.const 2))))
            (local.set $row (i32.const 0x4000))
            (loop $fill
              (i32.store (i32.add (local.get $row) (i32.shl (local.get $i) (i32.const 2))) (i32.add (i32.const 0x8000) (i32.shl (local.get $i) (i32.const 4))))
              (i32.store (i32.add (local.get $row) (i32.shl (i32.add (local.get $i) (i32.const 1)) (i32.const 2))) (i32.add (i32.const 0x8010) (i32.shl (local.get $i) (i32.const 4))))
              (i32.store (i32.add (local.get $queue) (i32.shl (local.get $i) (i32.const 2))) (i32.rem_u (i32.mul (local.get $i) (local.get $seed)) (local.get $rows)))
              (br_if $fill (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $rows))))
            (local.set $i (i32.const 0))
            (loop $edges
              (i32.store (i32.add (i32.const 0x8000) (local.get $i)) (i32.and (i32.mul (local.get $i) (local.get $seed)) (i32.const 0xff8)))
              (i32.store (local.get $i) (local.get $i))
              (br_if $edges (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 4))) (i32.const 0x2000))))
            (loop $vertices
              (local.set $i (i32.add (local.get $row) (i32.shl (i32.load (local.get $queue)) (i32.const 2))))
              (local.set $e (i32.load (local.get $i)))
              (local.set $last (i32.load offset=4 (local.get $i)))
              (loop $next
                (local.set $sum (i64.add (i64.rotl (local.get $sum) (i64.const 3)) (i64.load (i32.load (local.get $e)))))
                (br_if $next (i32.ne (local.tee $e (i32.add (local.get $e) (i32.const 4))) (local.get $last))))
              (br_if $vertices (i32.ne (local.tee $queue (i32.add (local.get $queue) (i32.const 4))) (i32.const 65536))))
            (local.get $sum)))"#,
        &[[300, 7], [500, 131], [1, 1]],
    ),
    (
        "a memory that grows meanwhile, floats and wide integers as indices",
        r#"(module (memory 1 9)
          (func (export "run") (param $n i32) (param $p i32) (result i64) (local $sum i64)
            (loop $next
              (i64.store (local.get $p) (i64.extend_i32_u (local.get $n)))
              (f64.store offset=8 (local.get $p) (f64.convert_i32_u (local.get $n)))
              (local.set $sum (i64.add (local.get $sum) (i64.load (i32.wrap_i64 (i64.load (local.get $p))))))
              (local.set $sum (i64.add (local.get $sum) (i64.load8_u (i32.trunc_sat_f64_u (f64.load offset=8 (local.get $p))))))
              (if (i32.eqz (i32.and (local.get $n) (i32.const 31))) (then (drop (memory.grow (i32.const 1)))))
              (local.set $p (i32.add (local.get $p) (i32.const 16)))
              (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
            (i64.add (local.get $sum) (i64.extend_i32_u (memory.size)))))"#,
        &[[400, 0], [64, 64512], [200, 0x7f00]],
    ),
    (
        "an index that leads out of bounds, in round 50",
        r#"(module (memory 1)
          (func (export "run") (param $bad i32) (param $p i32) (result i64) (local $sum i64) (local $n i32)
            (i32.store offset=200 (i32.const 0) (local.get $bad))
            (loop $next
              (local.set $sum (i64.add (local.get $sum) (i64.load (i32.load (i32.shl (local.get $n) (i32.const 2))))))
              (br_if $next (i32.ne (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 100))))
            (local.get $sum)))"#,
        &[[65536, 0], [65528, 0], [0xffff_ffff, 0]],
    ),
];

#[derive(Debug, PartialEq)]
enum Outcome {
    Result(u64),
    Trap(TrapCode, Option<u32>),
}

fn run(engine: &Engine, wat: &str, arguments: &[u64; 2]) -> (Outcome, Arc<LoadedModule>) {
    let mut store = Store::new(engine).expect("a store");
    let loaded = engine.load(wat.as_bytes()).expect("a valid module");
    // SAFETY: no imports.
    let instance = unsafe { store.instantiate(&loaded, &[]) }.expect("it instantiates");
    let Some(Extern::Func(function)) = instance.export("run") else { panic!("no run") };
    let mut slots = arguments.to_vec();
    slots.resize(call_slots(&function.ty()), 0);
    // SAFETY: the function is this store's and the arguments are numbers of its types.
    let outcome = match unsafe { store.call(function, &mut slots) } {
        Ok(_) => Outcome::Result(slots[0]),
        Err(unwind) => match *unwind {
            Unwind::Trap { code, frames } => Outcome::Trap(code, frames.first().and_then(|frame| frame.offset)),
            other => panic!("not a trap: {other:?}"),
        },
    };
    (outcome, loaded)
}

fn engine(tier: TierPolicy, plans: Option<PlanFile>) -> Engine {
    engine_for(Options::default().intel, tier, plans)
}

fn engine_for(intel: bool, tier: TierPolicy, plans: Option<PlanFile>) -> Engine {
    let compiler = CraneliftCompiler::new(Options { verify: true, intel, ..Options::default() }).expect("a supported machine");
    let config = EngineConfig { tier, plans: plans.map(Arc::new), ..EngineConfig::default() };
    Engine::new(config, Some(Arc::new(compiler))).expect("the engine starts")
}

/// Offsets of the loads and stores of the last function.
fn accesses(wat: &str) -> (u32, Vec<u32>) {
    let module = Module::new(wat.as_bytes()).unwrap();
    let function = module.functions.len() as u32 - 1;
    let mut found = Vec::new();
    let mut reader = module.body(function).get_operators_reader().unwrap();
    while !reader.eof() {
        let (operator, offset) = reader.read_with_offset().unwrap();
        let name = format!("{operator:?}");
        if name.contains("Load") || name.contains("Store") {
            found.push(offset as u32);
        }
    }
    (function, found)
}

fn plans(function: u32, wishes: impl IntoIterator<Item = (u32, PrefetchKind, u32)>) -> PlanFile {
    let decision = |(offset, kind, distance)| Decision::Prefetch(PrefetchDecision { offset, kind, distance, because: Because::default() });
    let decisions = wishes.into_iter().map(decision).collect();
    PlanFile { module: None, plans: vec![FilePlan { func: function, decisions }] }
}

/// How many prefetches fired in what was compiled.
fn fired(engine: &Engine, loaded: &LoadedModule) -> usize {
    let report = Report::new(engine, loaded);
    let applied = report.functions.iter().flat_map(|function| &function.versions).flat_map(|version| &version.applied);
    applied.filter(|applied| applied.name == "prefetch" && applied.refused.is_none()).count()
}

#[test]
fn no_plan_changes_a_result() {
    let kinds = [PrefetchKind::Strided, PrefetchKind::Indirect, PrefetchKind::Outer];
    let interpreter = engine(TierPolicy::Interpreter, None);
    for (name, wat, calls) in PROGRAMS {
        let (function, accesses) = accesses(wat);
        let mut done = 0;
        for kind in kinds {
            for (distance, intel) in [1, 3, 16, 1000].into_iter().flat_map(|distance| [(distance, false), (distance, true)]) {
                let wishes = accesses.iter().map(|&offset| (offset, kind, distance));
                let optimizing = engine_for(intel, TierPolicy::Optimizing, Some(plans(function, wishes)));
                for call in *calls {
                    let (expected, _) = run(&interpreter, wat, call);
                    let (got, loaded) = run(&optimizing, wat, call);
                    assert_eq!(got, expected, "{name}, {kind:?} {distance}, {intel}, {call:?}");
                    done += fired(&optimizing, &loaded);
                }
            }
        }
        assert!(done > 0, "{name}: nothing fired");
    }
}

#[test]
fn random_plans_change_no_result() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize % below
    };
    let kinds = [PrefetchKind::Strided, PrefetchKind::Indirect, PrefetchKind::Outer];
    let distances = [0, 1, 2, 3, 7, 64, 100, 4096, 65536, 70000, u32::MAX];
    let interpreter = engine(TierPolicy::Interpreter, None);
    for (name, wat, calls) in PROGRAMS {
        let (function, accesses) = accesses(wat);
        for round in 0..12 {
            let mut wishes = Vec::new();
            for &offset in &accesses {
                if random(3) > 0 {
                    // Now and then beside the operator.
                    let offset = if random(10) == 0 { offset + 1 } else { offset };
                    wishes.push((offset, kinds[random(3)], distances[random(distances.len())]));
                }
            }
            let optimizing = engine(TierPolicy::Optimizing, Some(plans(function, wishes.iter().copied())));
            for call in *calls {
                let (expected, _) = run(&interpreter, wat, call);
                let (got, _) = run(&optimizing, wat, call);
                assert_eq!(got, expected, "{name}, round {round}, {wishes:x?}, {call:?}");
            }
        }
    }
}

#[test]
fn faults_of_speculative_loads_are_counted_by_version() {
    let (_, wat, _) = PROGRAMS[0];
    let (function, accesses) = accesses(wat);
    // The array's last 64 indices: the 16 before the end have their look-ahead behind it.
    let optimizing = engine(TierPolicy::Optimizing, Some(plans(function, [(accesses[1], PrefetchKind::Indirect, 16)])));
    let (_, loaded) = run(&optimizing, wat, &[65280, 65536]);
    let report = Report::new(&optimizing, &loaded);
    let versions = report.functions.iter().filter(|it| it.function == function).flat_map(|it| &it.versions);
    let faults: u64 = versions.map(|version| version.speculative_faults).sum();
    assert!(faults >= 16, "{faults}");
}
