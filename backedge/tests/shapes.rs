//! The shape transformations, each at every operator it could be about: results, traps, memory and globals are the interpreter's, whatever the
//! input, and the report says that the transformation fired.

use std::sync::Arc;

use backedge::{Config, Engine, Extern, Instance, Module, Store, TierPolicy, Trap, Val};
use lwp_feedback::policy::{
    Because, Decision, FilePlan, InlineDecision, InlineTarget, LikelyDecision, PlanFile, SiteDecision, SpecializeDecision,
    SwitchOrderDecision, SwitchPathDecision,
};
use wasmparser::Operator;

/// Operators of a defined function with their byte offsets.
fn operators<'m>(module: &'m vm::module::Module, function: u32) -> Vec<(Operator<'m>, u32)> {
    let mut reader = module.body(function).get_operators_reader().unwrap();
    let mut found = Vec::new();
    while !reader.eof() {
        let (operator, offset) = reader.read_with_offset().unwrap();
        found.push((operator, offset as u32));
    }
    found
}

/// A plan that wants one kind of transformation wherever it could be wanted.
fn plan_all(wat: &str, decide: impl Fn(&Operator<'_>, u32) -> Vec<Decision>) -> Arc<PlanFile> {
    let module = vm::module::Module::new(wat.as_bytes()).unwrap();
    let plans = (module.imported_functions..module.functions.len() as u32)
        .map(|func| {
            let decisions = operators(&module, func).iter().flat_map(|(operator, offset)| decide(operator, *offset)).collect();
            FilePlan { func, decisions }
        })
        .collect();
    Arc::new(PlanFile { module: None, plans })
}

fn site(offset: u32) -> SiteDecision {
    SiteDecision { offset, because: Because::default() }
}

fn likely(offset: u32, likely: bool) -> LikelyDecision {
    LikelyDecision { offset, likely, because: Because::default() }
}

fn branches(operator: &Operator<'_>) -> bool {
    matches!(operator, Operator::If { .. } | Operator::BrIf { .. })
}

/// Everything a call of `run` leaves behind.
#[derive(Debug, PartialEq)]
struct Outcome {
    results: Result<Vec<u64>, String>,
    memory: Vec<u8>,
    globals: Vec<u64>,
}

fn bits(value: &Val) -> u64 {
    match value {
        Val::I32(value) => u64::from(*value as u32),
        Val::I64(value) => *value as u64,
        Val::F32(bits) => u64::from(*bits),
        Val::F64(bits) => *bits,
        other => panic!("{other:?}"),
    }
}

/// Calls `run` in one instance once for each list of arguments.
fn outcomes(config: &Config, wat: &str, calls: &[Vec<i32>]) -> (Vec<Outcome>, Vec<(&'static str, Option<String>)>) {
    let engine = Engine::new(config).unwrap();
    let module = Module::new(&engine, wat).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let run = instance.get_func(&mut store, "run").unwrap();
    let mut all = Vec::new();
    for arguments in calls {
        let arguments: Vec<Val> = arguments.iter().map(|&value| Val::I32(value)).collect();
        let mut results = vec![Val::I32(0); run.ty(&store).results().len()];
        let results = match run.call(&mut store, &arguments, &mut results) {
            Ok(()) => Ok(results.iter().map(bits).collect()),
            Err(error) => Err(error.downcast_ref::<Trap>().expect("only traps end a call").to_string()),
        };
        let memory = match instance.get_export(&mut store, "memory") {
            Some(Extern::Memory(memory)) => memory.data(&store).to_vec(),
            _ => Vec::new(),
        };
        let globals = ["a", "b", "c"].iter().filter_map(|name| instance.get_global(&mut store, name)).collect::<Vec<_>>();
        let globals = globals.iter().map(|global| bits(&global.get(&mut store))).collect();
        all.push(Outcome { results, memory, globals });
    }
    engine.settle();
    let report = module.report();
    let versions = report.functions.iter().flat_map(|function| &function.versions);
    let applied = versions.flat_map(|version| &version.applied).map(|applied| (applied.name, applied.refused.clone())).collect();
    (all, applied)
}

/// Compares the interpreter with tier 2 to a plan; yields how often `name` fired and why it refused.
fn check(name: &str, wat: &str, plans: Arc<PlanFile>, calls: &[Vec<i32>]) -> (usize, Vec<String>) {
    let mut config = Config::new();
    config.tier(TierPolicy::Interpreter);
    let (expected, _) = outcomes(&config, wat, calls);
    let mut applied_first = Vec::new();
    for leave in [false, true] {
        let mut config = Config::new();
        config.tier(TierPolicy::Optimizing);
        config.machine().plans = Some(plans.clone());
        config.machine().stress.leave_to_interpreter = leave;
        let (got, applied) = outcomes(&config, wat, calls);
        for ((got, expected), call) in got.iter().zip(&expected).zip(calls) {
            assert_eq!(got.results, expected.results, "run{call:?} of {wat}");
            assert_eq!(got.globals, expected.globals, "run{call:?} of {wat}");
            assert!(got.memory == expected.memory, "memory after run{call:?} of {wat}");
        }
        applied_first = applied;
    }
    let of: Vec<_> = applied_first.into_iter().filter(|(of, _)| *of == name).collect();
    let fired = of.iter().filter(|(_, refused)| refused.is_none()).count();
    (fired, of.into_iter().filter_map(|(_, refused)| refused).collect())
}

/// A module whose `run(n, x)` loops `n` times over `body`, with flags that look random in `$f`, `$i` the round, `$x` a parameter.
fn looping(body: &str) -> String {
    format!(
        r#"(module
  (memory (export "memory") 1)
  (global $a (export "a") (mut i32) (i32.const 0))
  (global $b (export "b") (mut i64) (i64.const 0))
  (global $c (export "c") (mut f64) (f64.const 1))
  (func (export "run") (param $n i32) (param $x i32) (result i32 i64 f64)
    (local $i i32) (local $f i32) (local $k i32) (local $t i32) (local $w i64) (local $d f64) (local $e f32)
    (loop $next
      (local.set $f (i32.and (i32.shr_u (i32.mul (i32.add (local.get $i) (i32.const 77)) (i32.const 0x9E3779B1)) (i32.const 13)) (i32.const 3)))
      {body}
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $k) (local.get $w) (f64.add (local.get $d) (f64.promote_f32 (local.get $e)))))"#
    )
}

/// Rounds and addresses, among them some past the end of memory (65536 bytes) by little and by much, and at its very end.
fn calls() -> Vec<Vec<i32>> {
    [(1, 0), (2, 8), (100, 1024), (100, 65536 - 404), (100, 65536 - 8), (3, 65536), (50, -4), (50, 0x4000_0000), (100, -64)]
        .map(|(n, x)| vec![n, x])
        .to_vec()
}

/// Bodies whose every branch can go.
const SELECTABLE: &[&str] = &[
    // A triangle with a store, as a partition has it.
    "(if (local.get $f) (then
        (i32.store (i32.add (local.get $x) (i32.shl (local.get $k) (i32.const 2))) (local.get $i))
        (local.set $k (i32.add (local.get $k) (i32.const 1)))))",
    // The same as LLVM writes it, with a load in the arm.
    "(block $skip
        (br_if $skip (i32.eqz (local.get $f)))
        (i32.store offset=4 (local.get $x) (i32.add (i32.load (i32.add (local.get $x) (local.get $i))) (local.get $i)))
        (local.set $k (i32.add (local.get $k) (i32.const 1))))",
    // A diamond whose arms write different memory.
    "(local.set $t (i32.and (local.get $i) (i32.const 15)))
     (if (i32.eq (local.get $f) (i32.const 1)) (then
        (i32.store (i32.add (local.get $x) (local.get $t)) (i32.add (i32.load (i32.add (local.get $x) (local.get $t))) (local.get $i))))
      (else
        (i32.store offset=128 (local.get $x) (i32.xor (i32.load offset=128 (local.get $x)) (local.get $i)))))",
    // The diamond in LLVM's form, with a br out of the first arm.
    "(block $done (block $else
        (br_if $else (i32.lt_u (local.get $f) (i32.const 2)))
        (i64.store (local.get $x) (i64.extend_i32_u (local.get $i)))
        (local.set $w (i64.add (local.get $w) (i64.const 3)))
        (br $done))
      (i64.store (local.get $t) (local.get $w))
      (local.set $t (i32.and (i32.add (local.get $t) (i32.const 8)) (i32.const 1023))))",
    // Arms of different length, other widths, globals.
    "(if (local.get $f) (then
        (i32.store8 (local.get $x) (local.get $i))
        (i32.store16 offset=6 (local.get $x) (local.get $i))
        (global.set $a (i32.add (global.get $a) (i32.load8_s (local.get $x))))
        (global.set $b (i64.load32_u offset=3 (local.get $x))))
      (else
        (i32.store8 offset=1 (local.get $x) (i32.const 9))
        (global.set $a (i32.const 5))))",
    // Floats, which are selected in integer registers.
    "(if (i32.and (local.get $f) (i32.const 1)) (then
        (local.set $d (f64.add (local.get $d) (f64.convert_i32_s (local.get $i))))
        (f64.store (local.get $x) (local.get $d))
        (global.set $c (f64.mul (global.get $c) (f64.const 1.5)))
        (local.set $e (f32.add (local.get $e) (f32.const 1))))
      (else
        (local.set $d (f64.neg (local.get $d)))
        (f64.store offset=8 (local.get $x) (global.get $c))))",
    // Branches within arms go along.
    "(if (i32.and (local.get $f) (i32.const 1)) (then
        (if (i32.and (local.get $f) (i32.const 2)) (then (i32.store (local.get $x) (local.get $i)))
          (else (local.set $k (i32.add (local.get $k) (i32.const 1)))))
        (i32.store offset=16 (local.get $x) (local.get $k))))",
    // Two conditions to one end.
    "(block $skip
        (br_if $skip (i32.eqz (i32.and (local.get $f) (i32.const 1))))
        (br_if $skip (i32.eqz (i32.and (local.get $f) (i32.const 2))))
        (i32.store (i32.add (local.get $x) (i32.shl (local.get $k) (i32.const 2))) (local.get $i))
        (local.set $k (i32.add (local.get $k) (i32.const 1))))",
    // A load in front of the branch proves the arm's.
    "(local.set $t (i32.load (local.get $x)))
     (if (local.get $f) (then
        (i32.store (local.get $x) (i32.add (i32.load (local.get $x)) (i32.const 1)))
        (local.set $k (i32.add (local.get $k) (i32.load16_u (local.get $x))))))",
    // A merged load's value is what the arms leave.
    "(local.set $k (if (result i32) (local.get $f) (then (i32.load (local.get $x))) (else (i32.load offset=8 (local.get $x)))))
     (if (i32.eqz (local.get $f)) (then (local.set $t (i32.load (local.get $x)))) (else (local.set $t (i32.load offset=4 (local.get $x)))
        (local.set $w (i64.load (local.get $x)))))
     (local.set $k (i32.add (local.get $k) (local.get $t)))",
    // A division that cannot trap, and a value.
    "(local.set $k (if (result i32) (local.get $f)
        (then (i32.div_s (local.get $i) (i32.const 7))) (else (i32.add (local.get $k) (i32.load (local.get $x))))))",
];

#[test]
fn branches_become_selects_and_change_nothing() {
    for body in SELECTABLE {
        let wat = looping(body);
        // All but the loop's own back edge, which does not come together again.
        let plans =
            plan_all(&wat, |operator, offset| if branches(operator) { vec![Decision::BranchToSelect(site(offset))] } else { vec![] });
        let (fired, refused) = check("branch-to-select", &wat, plans, &calls());
        assert!(fired >= 1, "{body}: {refused:?}");
        assert!(refused.iter().all(|reason| reason == "an arm ends in return"), "{body}: {refused:?}");
    }
}

/// Bodies whose `if` must stay, each with the reason.
const KEPT: &[(&str, &str)] = &[
    ("(if (local.get $f) (then (local.set $k (i32.div_u (local.get $i) (local.get $x)))))", "an arm has udiv"),
    ("(if (local.get $f) (then (unreachable)))", "an arm ends in trap"),
    ("(if (i32.eq (local.get $f) (i32.const 9)) (then (return (i32.const 1) (i64.const 2) (f64.const 3))))", "an arm ends in return"),
    ("(if (local.get $f) (then (drop (memory.grow (i32.const 0)))))", "an arm has call_indirect"),
    ("(if (local.get $f) (then (local.set $k (i32.trunc_f64_s (local.get $d)))))", "an arm has fcvt_to_sint"),
    ("(if (local.get $f) (then (i32.store offset=0x90000000 (local.get $x) (i32.const 1))))", "an arm has trapnz"),
    (
        "(if (local.get $f) (then (local.set $t (i32.const 3)) (loop $l (br_if $l (local.tee $t (i32.sub (local.get $t) (i32.const 1)))))))",
        "its arms do not meet",
    ),
];

#[test]
fn what_only_a_taken_arm_may_do_keeps_the_branch() {
    for (body, reason) in KEPT {
        let wat = looping(body);
        let wanted = |operator: &Operator<'_>| matches!(operator, Operator::If { .. });
        let plans = plan_all(&wat, |operator, offset| if wanted(operator) { vec![Decision::BranchToSelect(site(offset))] } else { vec![] });
        let (fired, refused) = check("branch-to-select", &wat, plans, &calls());
        assert_eq!(fired, 0, "{body}");
        assert!(refused.iter().any(|found| found == reason), "{body}: {refused:?}");
    }
}

#[test]
fn layouts_change_nothing() {
    for body in SELECTABLE.iter().chain(KEPT.iter().map(|(body, _)| body)) {
        for way in [false, true] {
            let wat = looping(body);
            let plans =
                plan_all(&wat, |operator, offset| if branches(operator) { vec![Decision::Layout(likely(offset, way))] } else { vec![] });
            let (fired, _) = check("layout", &wat, plans, &calls());
            assert!(fired >= 1, "{body}");
        }
    }
}

#[test]
fn selects_become_branches_and_change_nothing() {
    let bodies = [
        "(local.set $k (select (i32.mul (local.get $k) (i32.const 31)) (i32.add (local.get $k) (local.get $i)) (local.get $f)))",
        "(local.set $w (select (i64.load (local.get $x)) (i64.add (local.get $w) (i64.const 1)) (i32.lt_u (local.get $f) (i32.const 2))))",
        "(local.set $d (select (f64.sqrt (local.get $d)) (f64.add (local.get $d) (f64.const 2)) (i32.eqz (local.get $f))))
         (local.set $e (select (result f32) (local.get $e) (f32.const 7) (i32.const 0)))",
    ];
    for body in bodies {
        for way in [false, true] {
            let wat = looping(body);
            let selects = |operator: &Operator<'_>| matches!(operator, Operator::Select | Operator::TypedSelect { .. });
            let plans = plan_all(
                &wat,
                |operator, offset| if selects(operator) { vec![Decision::SelectToBranch(likely(offset, way))] } else { vec![] },
            );
            let (fired, refused) = check("select-to-branch", &wat, plans, &calls());
            assert!(fired >= 1 && refused.is_empty(), "{body}: {refused:?}");
        }
    }
}

#[test]
fn switches_tested_in_any_order_change_nothing() {
    let body = "(block $d (block $c (block $b (block $a
        (br_table $a $b $a $c $d (local.get $f)))
        (local.set $k (i32.add (local.get $k) (i32.const 1))) (br $d))
        (local.set $k (i32.mul (local.get $k) (i32.const 3))) (br $d))
        (i32.store (local.get $x) (local.get $k)))";
    let value = "(local.set $k (block $b (result i32) (block $a (result i32) (local.get $i) (br_table $a $b $a (local.get $f)))
        (i32.add (i32.const 1))))";
    for body in [body, value] {
        for first in [vec![0], vec![3, 1], vec![2, 2, 9], vec![u32::MAX]] {
            let wat = looping(body);
            let order = |offset| Decision::SwitchOrder(SwitchOrderDecision { offset, first: first.clone(), because: Because::default() });
            let plans =
                plan_all(&wat, |operator, offset| if matches!(operator, Operator::BrTable { .. }) { vec![order(offset)] } else { vec![] });
            let (fired, refused) = check("switch-order", &wat, plans, &calls());
            assert!(fired >= 1 && refused.is_empty(), "{body}: {refused:?}");
        }
    }
    for (first, reason) in [(vec![], "no index named"), (vec![0; 5], "more than 4 indices")] {
        let wat = looping(body);
        let order = |offset| Decision::SwitchOrder(SwitchOrderDecision { offset, first: first.clone(), because: Because::default() });
        let plans =
            plan_all(&wat, |operator, offset| if matches!(operator, Operator::BrTable { .. }) { vec![order(offset)] } else { vec![] });
        let (fired, refused) = check("switch-order", &wat, plans, &calls());
        assert!(fired == 0 && refused.iter().any(|found| found == reason), "{refused:?}");
    }
}

/// A module whose `run(n, x)` interprets `n` operations: a loop around a `br_table`, with `lead` between them and further `blocks` around those of the ways.
fn interpreting(lead: &str, ways: &str) -> String {
    format!(
        r#"(module
  (memory (export "memory") 1)
  (global $a (export "a") (mut i32) (i32.const 0))
  (global $b (export "b") (mut i64) (i64.const 0))
  (func $twice (param i32) (result i32) (i32.shl (local.get 0) (i32.const 1)))
  (func (export "run") (param $n i32) (param $x i32) (result i32 i64)
    (local $i i32) (local $f i32) (local $k i32) (local $t i32) (local $w i64)
    (block $out
      (loop $next
        (block $latch
        (block $d (block $c (block $b (block $a
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          {lead}
          (br_table $a $b $c $d $a $out (local.get $f)))
          {ways}
        )
        ;; Behind the last of the ways, and where they meet.
        (local.set $k (i32.xor (local.get $k) (local.get $i))))
        (br_if $out (i32.gt_u (local.get $i) (local.get $n)))
        (local.set $t (local.get $f))
        (br $next)))
    (local.get $k) (local.get $w))
)"#
    )
}

/// What stands between the loop's header and the `br_table`: sets `$f`.
const LEADS: &[&str] = &[
    "(local.set $f (i32.and (i32.shr_u (i32.mul (i32.add (local.get $i) (i32.const 77)) (i32.const 0x9E3779B1)) (i32.const 13)) (i32.const 3)))",
    // In a row, out of memory that a way writes, and never past its end.
    "(local.set $f (i32.add (i32.load8_u (i32.and (local.get $k) (i32.const 255))) (i32.and (local.get $i) (i32.const 3))))",
    // With ways out on the way there.
    "(br_if $out (i32.gt_u (local.get $i) (local.get $n))) (br_if $latch (i32.eq (local.get $t) (i32.const 2)))
     (local.set $f (i32.rem_u (local.get $i) (i32.const 5)))",
];

/// Ways: one that leaves early, one with a branch and a trap in it, one that falls into the next, one that calls.
const WAYS: &[&str] = &[
    "(local.set $k (i32.add (local.get $k) (i32.const 3))) (br $latch))
     (local.set $k (i32.mul (local.get $k) (local.get $i))) (i32.store (i32.and (local.get $k) (i32.const 252)) (local.get $f)) (br $latch))
     (if (i32.and (local.get $k) (i32.const 64)) (then (local.set $w (i64.add (local.get $w) (i64.const 7))) (br $latch)))
     (global.set $a (local.get $k))",
    "(i32.store (i32.add (local.get $x) (i32.shl (local.get $i) (i32.const 2))) (local.get $k)) (br_if $latch (i32.and (local.get $i) (i32.const 8)))
      (local.set $k (i32.sub (local.get $k) (i32.const 1))) (br $out))
     (local.set $k (call $twice (i32.add (local.get $k) (local.get $f)))) (br_if $next (i32.lt_u (local.get $i) (local.get $n))) (br $out))
     (local.set $w (i64.load (i32.and (local.get $k) (i32.const 248)))) (local.set $t (i32.const 7))",
];

fn paths_of(plan: &[&[u32]], wat: &str) -> Arc<PlanFile> {
    let paths: Vec<Vec<u32>> = plan.iter().map(|path| path.to_vec()).collect();
    plan_all(wat, |operator, offset| match operator {
        Operator::BrTable { .. } => {
            vec![Decision::SwitchPath(SwitchPathDecision { offset, paths: paths.clone(), because: Because::default() })]
        }
        _ => Vec::new(),
    })
}

#[test]
fn ways_of_a_switch_that_follow_each_other_change_nothing() {
    let plans: &[&[&[u32]]] = &[
        &[&[0, 1], &[1, 2, 3]],
        &[&[0, 0, 0, 0], &[3, 2, 1, 0], &[1, 1]],
        &[&[2, 5, 1], &[4, 0, 3, 3], &[0, 9], &[3]],
        &[&[0, 1, 2, 3, 0, 1, 2, 3, 0], &[1, 0], &[1, 2], &[1, 3, 2]],
    ];
    for lead in LEADS {
        for ways in WAYS {
            for plan in plans {
                let wat = interpreting(lead, ways);
                let pure = !lead.contains("rem_u");
                let (fired, refused) = check("switch-path", &wat, paths_of(plan, &wat), &calls());
                assert_eq!((fired >= 1, refused.is_empty()), (pure, pure), "{lead} {ways}: {refused:?}");
            }
        }
    }
    let pure = LEADS[2].replace("i32.rem_u (local.get $i) (i32.const 5)", "i32.and (local.get $i) (i32.const 3)");
    let wat = interpreting(&pure, WAYS[0]);
    let (fired, refused) = check("switch-path", &wat, paths_of(&[&[1, 2, 3, 0, 1]], &wat), &calls());
    assert!(fired >= 1 && refused.is_empty(), "{refused:?}");
}

#[test]
fn a_way_that_leaves_operands_behind_goes_on_without_them() {
    // A side exit behind where ways meet: the frame it writes down has no operands.
    let wat = r#"(module
      (type $t (func (param i32 i32) (result i32)))
      (table 2 funcref) (elem (i32.const 0) $same $other)
      (func $same (type $t) (i32.add (local.get 0) (i32.const 1)))
      (func $other (type $t) (i32.sub (i32.mul (local.get 0) (i32.const 3)) (local.get 1)))
      (func (export "run") (param $n i32) (param $x i32) (result i32) (local $i i32) (local $k i32)
        (block $out (loop $next
          (block $latch (block $b (block $a
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $out (i32.gt_u (local.get $i) (local.get $n)))
            (br_table $a $b $latch (i32.and (local.get $i) (i32.const 1))))
            i32.const 7 br $latch)
            (local.set $k (i32.add (local.get $k) (local.get $i))) i64.const 9 i32.const 8 br $latch)
          (local.set $k (call_indirect (type $t) (local.get $k) (local.get $i) (i32.const 1)))
          (br $next)))
        (local.get $k)))"#;
    let plans = plan_all(wat, |operator, offset| match operator {
        Operator::BrTable { .. } => {
            let paths = vec![vec![0, 1, 0], vec![1, 0]];
            vec![Decision::SwitchPath(SwitchPathDecision { offset, paths, because: Because::default() })]
        }
        Operator::CallIndirect { .. } => {
            let targets = vec![InlineTarget { callee: 0, ..InlineTarget::default() }];
            vec![Decision::Inline(InlineDecision { offset, targets, side_exit: true, in_place: true, ..InlineDecision::default() })]
        }
        _ => Vec::new(),
    });
    let (fired, refused) = check("switch-path", wat, plans, &calls());
    assert!(fired >= 1 && refused.is_empty(), "{refused:?}");
}

#[test]
fn what_delegates_ends_a_block_too() {
    let wat = r#"(module
      (func (export "run") (param $n i32) (param $x i32) (result i32)
        (block $done
          (loop $next
            (block $b0 (block $b1
              (local.set $n (i32.sub (local.get $n) (i32.const 1)))
              (br_table $b1 $b0 $b1 (i32.eqz (i32.and (local.get $n) (i32.const 1)))))
              try delegate 0
              (br $next))
            (br_if $next (local.get $n)) (br $done))
          (return (i32.const 99)))
        (i32.const 5)))"#;
    let rounds = [vec![3, 0], vec![100, 0]];
    let plans: [&[&[u32]]; 2] = [&[&[1, 0]], &[&[0, 1], &[1, 1, 0]]];
    for plan in plans {
        check("switch-path", wat, paths_of(plan, wat), &rounds);
    }
}

#[test]
fn switches_that_paths_do_not_fit_stay_as_they_are() {
    let refuses = |lead: &str, ways: &str, plan: &[&[u32]], reason: &str| {
        let wat = interpreting(lead, ways);
        let (fired, refused) = check("switch-path", &wat, paths_of(plan, &wat), &calls());
        assert!(fired == 0 && refused.iter().any(|found| found == reason), "{lead}: {refused:?}");
    };
    let any: &[&[u32]] = &[&[0, 1], &[1, 0]];
    refuses("(i32.store (i32.const 8) (local.get $i))", WAYS[0], any, "more than values and loads between the loop's header and it");
    refuses(
        "(block $e (br_if $e (local.get $i)) (local.set $f (i32.const 1)))",
        WAYS[0],
        any,
        "a block ends between the loop's header and it",
    );
    let none = "no path of two indices whose ways can be copied";
    refuses(LEADS[0], WAYS[0], &[], none);
    refuses(LEADS[0], WAYS[0], &[&[0], &[1]], none);
    let looped = WAYS[0].replacen("(local.set $k", "(loop $l (br_if $l (i32.eqz (local.tee $k (i32.const 1))))) (local.set $k", 1);
    refuses(LEADS[0], &looped, &[&[0, 1]], none);
    let alone = looping("(block $b (block $a (br_table $a $b (local.get $f))) (local.set $k (local.get $i)))");
    let (fired, _) = check("switch-path", &alone, paths_of(any, &alone), &calls());
    assert!(fired >= 1, "a switch that is no interpreter's");
}

/// A function called with `$x` that is mostly one value, entered from a loop; loops whose trip count follows from it, with early ways out,
/// inner conditions, nested loops, results, and one that is too long.
const BOUNDED: &str = r#"(module
  (memory (export "memory") 1)
  (global $a (export "a") (mut i32) (i32.const 0))
  (func $below (param $p i32) (param $n i32) (param $key i64) (result i64) (local $i i32) (local $sum i64)
    (block $none (br_if $none (i32.eqz (local.get $n)))
      (loop $next
        (local.set $sum (i64.add (local.get $sum) (i64.extend_i32_u (i64.lt_u (i64.load32_u (local.get $p)) (local.get $key)))))
        (if (i64.eq (local.get $sum) (i64.const 40)) (then (return (i64.const -1))))
        (if (i32.and (local.get $i) (i32.const 1)) (then (i32.store offset=512 (local.get $p) (local.get $i))) (else (global.set $a (local.get $i))))
        (local.set $p (i32.add (local.get $p) (i32.const 4)))
        (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n)))))
    (local.get $sum))
  (func $nested (param $p i32) (param $n i32) (param $key i64) (result i64) (local $i i32) (local $j i32) (local $sum i64)
    (local.set $i (local.get $n))
    (block $out (loop $rows
      (br_if $out (i32.eqz (local.get $i)))
      (local.set $j (i32.const 2))
      (loop $columns
        (local.set $sum (i64.add (local.get $sum) (i64.load32_u (i32.add (local.get $p) (i32.mul (local.get $i) (local.get $j))))))
        (br_if $columns (local.tee $j (i32.sub (local.get $j) (i32.const 1)))))
      (local.set $i (i32.sub (local.get $i) (i32.const 1)))
      (br $rows)))
    (local.get $sum))
  (func $value (param $p i32) (param $n i32) (param $key i64) (result i64) (local $i i32)
    (local.set $p (i32.and (local.get $p) (i32.const 0xfffc)))
    (i64.add (local.get $key) (loop $next (result i64)
      (local.set $key (i64.xor (i64.mul (local.get $key) (i64.const 31)) (i64.extend_i32_u (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_s (local.get $i) (local.get $n)))
      (if (result i64) (local.get $n) (then (local.get $key)) (else (i64.const 77))))))
  (func $long (param $p i32) (param $n i32) (param $key i64) (result i64)
    (local.set $n (i32.add (i32.shl (i32.and (local.get $n) (i32.const 15)) (i32.const 6)) (i32.const 70)))
    (loop $next
      (local.set $key (i64.add (local.get $key) (i64.extend_i32_u (local.get $n))))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $key))
  (func $chosen (param $p i32) (param $n i32) (param $key i64) (result i64)
    (block $d (block $c (block $b (block $a (br_table $a $b $c $d (i32.sub (local.get $n) (i32.const 6))))
      (return (i64.const 10))) (return (i64.const 11))) (return (i64.load (local.get $p))))
    (select (local.get $key) (i64.const 5) (local.get $n)))
  (func (export "run") (param $rounds i32) (param $n i32) (result i64) (local $i i32) (local $sum i64)
    (loop $next
      (local.set $sum (i64.rotl (local.get $sum) (i64.const 1)))
      (local.set $sum (i64.add (local.get $sum) (call $below (local.get $i) (local.get $n) (i64.const 9))))
      (local.set $sum (i64.add (local.get $sum) (call $nested (local.get $i) (local.get $n) (i64.const 9))))
      (local.set $sum (i64.add (local.get $sum) (call $value (local.get $i) (local.get $n) (i64.const 9))))
      (local.set $sum (i64.add (local.get $sum) (call $long (local.get $i) (local.get $n) (i64.const 9))))
      (local.set $sum (i64.add (local.get $sum) (call $chosen (local.get $i) (local.get $n) (i64.const 9))))
      (local.set $i (i32.add (local.get $i) (i32.const 8)))
      (br_if $next (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1)))))
    (local.get $sum)))"#;

/// Plans for parameters 1 and 2 of the functions in front of `run`, and for `run`'s own bound.
fn specialized(wat: &str, value: u64) -> Arc<PlanFile> {
    let module = vm::module::Module::new(wat.as_bytes()).unwrap();
    let functions = module.functions.len() as u32;
    let decide = |func: u32, parameter, value| {
        let offset = module.body(func).range().start as u32;
        Decision::Specialize(SpecializeDecision { offset, parameter, value, because: Because::default() })
    };
    let plans = (0..functions)
        .map(|func| match func + 1 == functions {
            true => FilePlan { func, decisions: vec![decide(func, 1, value), decide(func, 0, 100)] },
            false => FilePlan { func, decisions: vec![decide(func, 1, value), decide(func, 2, 9)] },
        })
        .collect();
    Arc::new(PlanFile { module: None, plans })
}

#[test]
fn specialized_bodies_and_unrolled_loops_change_nothing() {
    let calls: Vec<Vec<i32>> =
        [(100, 8), (100, 0), (3, 7), (20, 9), (1, 8), (2, 63), (2, 70), (2, 0x3ff)].map(|(rounds, n)| vec![rounds, n]).to_vec();
    let mut unrolled = 0;
    for value in [8, 0, 7, 63, u64::from(u32::MAX)] {
        let (fired, _) = check("specialize", BOUNDED, specialized(BOUNDED, value), &calls);
        assert!(fired >= 11, "{fired}");
        unrolled += check("unroll", BOUNDED, specialized(BOUNDED, value), &calls).0;
    }
    assert!(unrolled >= 8, "{unrolled}");
    let (_, refused) = check("specialize", BOUNDED, specialized(BOUNDED, 1 << 40), &calls);
    assert!(refused.iter().any(|reason| reason == "no i32 has that value"), "{refused:?}");
}

#[test]
fn loops_entered_from_outside_are_specialized_too() {
    // The parameter is read in the loop and written nowhere; the other is written, so that it may differ when the loop is entered again.
    let wat = r#"(module
      (memory (export "memory") 1)
      (func (export "run") (param $rounds i32) (param $n i32) (result i64) (local $i i32) (local $j i32) (local $sum i64)
        (loop $outer
          (local.set $j (i32.const 0))
          (loop $middle
            (local.set $i (i32.const 0))
            (loop $inner
              (local.set $sum (i64.add (i64.mul (local.get $sum) (i64.const 3)) (i64.load32_u (i32.mul (local.get $i) (local.get $n)))))
              (i32.store (i32.mul (local.get $i) (local.get $n)) (i32.wrap_i64 (local.get $sum)))
              (br_if $inner (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
            (br_if $middle (i32.lt_u (local.tee $j (i32.add (local.get $j) (i32.const 1))) (local.get $n))))
          (br_if $outer (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1)))))
        (local.get $sum)))"#;
    let calls: Vec<Vec<i32>> = [(300, 8), (300, 5), (2, 8)].map(|(rounds, n)| vec![rounds, n]).to_vec();
    let mut interpreter = Config::new();
    interpreter.tier(TierPolicy::Interpreter);
    let (expected, _) = outcomes(&interpreter, wat, &calls);
    let mut config = Config::new();
    config.tier(TierPolicy::Auto).hot_threshold(3).deterministic(true);
    config.machine().plans = Some(specialized(wat, 8));
    let (got, applied) = outcomes(&config, wat, &calls);
    assert_eq!(got, expected);
    let of = |name: &str, reason: Option<&str>| applied.iter().filter(|(of, refused)| *of == name && refused.as_deref() == reason).count();
    assert!(of("specialize", None) >= 2, "{applied:?}");
    assert!(of("specialize", Some("written, and entered at a loop")) >= 1, "{applied:?}");
}
