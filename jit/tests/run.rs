//! Compiled functions run and yield what they should: in both tiers, with every loop left and entered again at every poll.

mod machine;

use machine::Machine;
use vm::code::Tier;
use vm::layout::ASKED;

const TIERS: [Tier; 2] = [Tier::Baseline, Tier::Optimizing];

/// The program with a request to switch wherever it says `(;poll;)`, which is in each of its loops: of the loop that it stands in.
fn switching(wat: &str) -> String {
    let parts: Vec<&str> = wat.split("(;poll;)").collect();
    let imports: String = (1..parts.len()).map(|at| format!(r#" (import "engine" "poll" (global $poll{at} (mut i32)))"#)).collect();
    let body: String = parts
        .iter()
        .enumerate()
        .map(|(at, part)| if at == 0 { part.to_string() } else { format!("(global.set $poll{at} (i32.const {ASKED})){part}") })
        .collect();
    body.replacen("(module", &format!("(module{imports}"), 1)
}

/// Calls an export in both tiers, quietly and with a switch at every loop header; all must agree with `expected`.
fn check(wat: &str, name: &str, arguments: &[u64], expected: &[u64]) {
    for tier in TIERS {
        let mut machine = Machine::new(wat, tier);
        assert_eq!(machine.call(name, arguments), expected, "{name}{arguments:?} in {tier:?}");
        let wat = switching(wat);
        let mut machine = Machine::new(&wat, tier);
        machine.set_poll(ASKED);
        assert_eq!(machine.call(name, arguments), expected, "{name}{arguments:?} in {tier:?}, switching");
        assert_eq!(machine.polls.is_empty(), !wat.contains("(loop"), "{wat}");
    }
}

const SUM: &str = r#"(module
  (memory 1)
  (func (export "sum") (param $n i32) (result i64) (local $i i32) (local $s i64)
    (loop $fill (;poll;)
      (i64.store (i32.mul (local.get $i) (i32.const 8)) (i64.mul (i64.extend_i32_u (local.get $i)) (i64.const 3)))
      (br_if $fill (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.set $i (i32.const 0))
    (loop $add (;poll;)
      (local.set $s (i64.add (local.get $s) (i64.load (i32.mul (local.get $i) (i32.const 8)))))
      (br_if $add (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $s)))"#;

/// What loops write to leave grows with their number times that of what is live there: some hundred kilobytes here, without end.
#[test]
fn loops_with_many_live_values_have_little_code() {
    let many = 400;
    let locals = " i64".repeat(many);
    let sets: String = (1..=many).map(|n| format!("(local.set {n} (i64.mul (local.get 0) (i64.const {n})))")).collect();
    let loops = "(loop (br_if 0 (i64.gt_s (local.tee 0 (i64.sub (local.get 0) (i64.const 1))) (i64.const 0))))".repeat(many);
    let gets: String = (1..=many).map(|n| format!("(i64.xor (local.get {n}))")).collect();
    let wat = format!(r#"(module (func (export "f") (param i64) (result i64) (local{locals}) {sets} {loops} (local.get 0) {gets}))"#);
    for tier in TIERS {
        let mut machine = Machine::new(&wat, tier);
        let expected = (1..=many as u64).fold(1u64.wrapping_sub(many as u64), |sum, n| sum ^ 7u64.wrapping_mul(n));
        assert_eq!(machine.call("f", &[7]), [expected], "{tier:?}");
        let bytes = machine.code_bytes;
        assert!(bytes < 800_000, "{tier:?}: {bytes} bytes");
    }
}

#[test]
fn memory_and_loops() {
    check(SUM, "sum", &[1000], &[999 * 1000 / 2 * 3]);
}

/// What counts where a condition holds, by all conditions whose outcome the carry can be, and their opposites.
#[test]
fn counts() {
    let conditions = [
        "(i32.eqz (local.get $x))",
        "(i32.ne (local.get $x) (i32.const 0))",
        "(i32.lt_u (local.get $x) (local.get $y))",
        "(i32.ge_u (local.get $x) (local.get $y))",
        "(i32.gt_u (local.get $x) (local.get $y))",
        "(i32.le_u (local.get $x) (local.get $y))",
        "(i32.lt_s (local.get $x) (local.get $y))",
        "(i32.eq (local.get $x) (local.get $y))",
    ];
    let holds = |x: u32, y: u32| [x == 0, x != 0, x < y, x >= y, x > y, x <= y, (x as i32) < y as i32, x == y];
    for ty in ["i32", "i64"] {
        for (number, condition) in conditions.iter().enumerate() {
            let sum = format!("({ty}.add (local.get $k) ({ty}.const 1))");
            // What it was before is stored, too, so that both are there at once.
            let program = |[one, other]: [&str; 2]| {
                format!(
                    r#"(module (memory 1) (func (export "count") (param $n i32) (param $y i32) (param $k {ty}) (result {ty}) (local $x i32) (local $was {ty})
                    (loop $next (;poll;)
                      (local.set $x (i32.and (i32.mul (local.get $n) (i32.const 0x9e3779b1)) (i32.const 0xc0000001)))
                      (local.set $was (local.get $k))
                      (local.set $k (select {one} {other} {condition}))
                      ({ty}.store (i32.const 8) (local.get $was))
                      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
                    (local.get $k)))"#
                )
            };
            for y in [0, 1, 0x8000_0000, u32::MAX] {
                let all = (1..=100u32).filter(|n| holds(n.wrapping_mul(0x9e37_79b1) & 0xc000_0001, y)[number]).count() as u64;
                let begin = if ty == "i32" { u64::from(u32::MAX) } else { u64::MAX };
                let counted =
                    |count: u64| if ty == "i32" { u64::from(count as u32).wrapping_sub(1) & begin } else { begin.wrapping_add(count) };
                check(&program([&sum, "(local.get $k)"]), "count", &[100, y.into(), begin], &[counted(all)]);
                check(&program(["(local.get $k)", &sum]), "count", &[100, y.into(), begin], &[counted(100 - all)]);
            }
        }
    }
}

#[test]
fn recursion() {
    let fib = r#"(module (func $fib (export "fib") (param i32) (result i32)
        (if (result i32) (i32.lt_s (local.get 0) (i32.const 2)) (then (local.get 0))
          (else (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1))) (call $fib (i32.sub (local.get 0) (i32.const 2))))))))"#;
    check(fib, "fib", &[20], &[6765]);
}

/// Operands under nested loops, in both arms of an `if` inside a loop, with values of several types: what [`osr`] is about.
const NESTED: &str = r#"(module
  (func (export "run") (param $n i32) (result i64 f64) (local $i i32) (local $j i32) (local $sum i64) (local $f f64)
    (f64.const 0.5)
    (local.set $i (local.get $n))
    (loop $outer (;poll;)
      (i64.extend_i32_u (local.get $i))
      (if (result i64) (i32.and (local.get $i) (i32.const 1))
        (then
          (i64.const 1000)
          (local.set $j (i32.const 3))
          (loop $inner (param i64) (result i64) (;poll;)
            (i64.const 7) (i64.add)
            (br_if $inner (local.tee $j (i32.sub (local.get $j) (i32.const 1))))))
        (else (i64.const 5)))
      (i64.add)
      (local.set $sum (i64.add (local.get $sum)))
      (local.set $f (f64.add (local.get $f) (f64.const 0.25)))
      (br_if $outer (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
    (local.set $f (f64.add (local.get $f)))
    (local.get $sum) (local.get $f)))"#;

#[test]
fn operands_under_loops_survive_switches() {
    let n: u64 = 10;
    let sum: u64 = (1..=n).map(|i| i + if i % 2 == 1 { 1021 } else { 5 }).sum();
    check(NESTED, "run", &[n], &[sum, (0.5 + 0.25 * n as f64).to_bits()]);
}

#[test]
fn ten_million_switches_in_one_activation() {
    // So long a round that each polls.
    let filler = "(drop (i32.popcnt (local.get 1)))".repeat(12);
    let wat = format!(
        r#"(module (func (export "count") (param i32) (result i32) (local i32)
        (loop (;poll;) {filler} (br_if 0 (i32.lt_u (local.tee 1 (i32.add (local.get 1) (i32.const 1))) (local.get 0))))
        (local.get 1)))"#
    );
    let mut machine = Machine::new(&switching(&wat), Tier::Optimizing);
    machine.set_poll(ASKED);
    assert_eq!(machine.call("count", &[10_000_000]), [10_000_000]);
    assert_eq!(machine.polls.len(), 10_000_000);
}

#[test]
fn multiple_results_and_many_parameters() {
    let params: Vec<String> = (0..40).map(|i| if i % 3 == 0 { "f64" } else { "i64" }.to_owned()).collect();
    let gets: String = (0..40).rev().map(|i| format!("(local.get {i})")).collect();
    let results: Vec<String> = params.iter().rev().cloned().collect();
    let wat = format!(
        r#"(module (func $turn (param {p}) (result {r}) {gets})
          (func (export "twice") (param {p}) (result {p}) {same} call $turn {keep}))"#,
        p = params.join(" "),
        r = results.join(" "),
        same = (0..40).map(|i| format!("(local.get {i})")).collect::<String>(),
        // Turning needs the reversed types, so the result goes through locals.
        keep = {
            let sets: String = (0..40).map(|i| format!("(local.set {i})")).collect();
            let gets: String = (0..40).map(|i| format!("(local.get {i})")).collect();
            sets + &gets
        },
    );
    let arguments: Vec<u64> = (0..40u64).map(|i| if i % 3 == 0 { (i as f64).to_bits() } else { i * 11 }).collect();
    check(&wat, "twice", &arguments, &arguments);
}

const CALLS: &str = r#"(module
  (type $op (func (param i32) (result i32)))
  (table (export "t") 4 funcref)
  (elem (i32.const 0) func $add $mul)
  (global $which (mut i32) (i32.const 0))
  (func $add (type $op) (i32.add (local.get 0) (i32.const 3)))
  (func $mul (type $op) (if (i32.eqz (local.get 0)) (then (return (i32.const 1)))) (i32.mul (local.get 0) (i32.const 5)))
  (func (export "run") (param $n i32) (result i32) (local $x i32)
    (loop $again (;poll;)
      (local.set $x (call_indirect (type $op) (local.get $x) (global.get $which)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $x)))"#;

fn plan(machine: &Machine, callees: &[u32]) -> std::sync::Arc<lwp_feedback::policy::Plan> {
    use lwp_feedback::policy::{Decision, InlineDecision, InlineTarget, Plan};
    let mut reader = machine.module.body(2).get_operators_reader().unwrap();
    let mut offset = 0;
    while !reader.eof() {
        let (operator, at) = reader.read_with_offset().unwrap();
        if matches!(operator, wasmparser::Operator::CallIndirect { .. }) {
            offset = at as u32;
        }
    }
    let targets = callees.iter().map(|&callee| InlineTarget { callee, share: 1.0, samples: 100, body_bytes: 10 }).collect();
    let decision = Decision::Inline(InlineDecision { offset, targets, samples: 100, share: 1.0, ..InlineDecision::default() });
    let function = lwp_feedback::codemap::FunctionId { module: machine.module.hash, func: 2 };
    std::sync::Arc::new(Plan { function, decisions: vec![decision] })
}

#[test]
fn guarded_inlining_is_right_whatever_the_plan_says() {
    let five_times = |n: u32| (1..n).fold(1u32, |x, _| x.wrapping_mul(5));
    for callees in [&[][..], &[0], &[1], &[0, 1], &[1, 0, 2, 77]] {
        for tier in TIERS {
            for (global, wat) in [(0, CALLS.to_owned()), (1, switching(CALLS))] {
                let mut machine = Machine::new(&wat, tier);
                let plan = plan(&machine, callees);
                machine.replace(2, plan);
                machine.set_poll(if global == 1 { ASKED } else { 0 });
                machine.set_global(global, 0);
                assert_eq!(machine.call("run", &[100]), [300], "{callees:?}");
                machine.set_global(global, 1);
                assert_eq!(machine.call("run", &[100]), [u64::from(five_times(100))], "{callees:?}");
                machine.set_table(0, 3, Some(0));
                machine.set_global(global, 3);
                assert_eq!(machine.call("run", &[7]), [21], "{callees:?}");
            }
        }
    }
}

#[test]
fn sites_record_callees_and_parameters() {
    let mut machine = Machine::new(CALLS, Tier::Baseline);
    machine.set_global(0, 1);
    machine.call("run", &[5000]);
    let calls: Vec<u64> = machine.samples.iter().filter(|sample| sample.0 == 1).map(|sample| sample.2).collect();
    assert!(calls.len() > 100 && calls.iter().all(|&callee| callee == 1), "{calls:?}");
    assert!(machine.samples.iter().any(|sample| sample.0 & 0xff == 2));
    assert!(machine.hot.iter().any(|hot| hot.0 == 2 && hot.1 != u32::MAX));
}

#[test]
fn sites_record_trips_switches_and_selects() {
    let wat = r#"(module (func $inner (export "inner") (param $n i32) (param $limit i32) (result i32) (local $k i32)
        (block $out
          (loop $next
            (br_if $out (i32.eq (local.get $k) (local.get $limit)))
            (local.set $k (select (i32.add (local.get $k) (i32.const 1)) (i32.const 77) (local.get $n)))
            (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
        (block $b (block $a (br_table $a $b (local.get $k))) (return (i32.const 0)))
        (local.get $k)))"#;
    let mut machine = Machine::new(wat, Tier::Baseline);
    for _ in 0..400 {
        assert_eq!(machine.call("inner", &[7, 100]), [7]);
        assert_eq!(machine.call("inner", &[9, 3]), [3]);
    }
    let values = |class: u32| -> std::collections::BTreeSet<u64> {
        machine.samples.iter().filter(|sample| sample.0 & 0xff == class).map(|sample| sample.2).collect()
    };
    // Seven rounds through the end; the fourth of nine leaves by the branch.
    assert_eq!(values(3), [4, 7].into());
    assert_eq!(values(4), [3, 7].into());
    assert_eq!(values(5), [1].into());
}

#[test]
fn numeric_operators() {
    let unary =
        |ty: &str, result: &str, op: &str| format!(r#"(module (func (export "f") (param {ty}) (result {result}) ({op} (local.get 0))))"#);
    let binary = |ty: &str, result: &str, op: &str| {
        format!(r#"(module (func (export "f") (param {ty} {ty}) (result {result}) ({op} (local.get 0) (local.get 1))))"#)
    };
    let f = |x: f64| x.to_bits();
    let i = |x: i32| u64::from(x as u32);
    check(&binary("i32", "i32", "i32.rem_s"), "f", &[i(i32::MIN), i(-1)], &[0]);
    check(&binary("i32", "i32", "i32.div_s"), "f", &[i(-7), i(2)], &[i(-3)]);
    check(&binary("i32", "i32", "i32.shl"), "f", &[1, 33], &[2]);
    check(&binary("i64", "i64", "i64.rotl"), "f", &[1 << 63 | 5, 1], &[11]);
    check(&binary("f64", "f64", "f64.min"), "f", &[f(0.0), f(-0.0)], &[f(-0.0)]);
    check(&binary("f64", "i32", "f64.lt"), "f", &[f(f64::NAN), f(1.0)], &[0]);
    check(&binary("f64", "f64", "f64.copysign"), "f", &[f(2.0), f(-1.0)], &[f(-2.0)]);
    check(&unary("f64", "f64", "f64.nearest"), "f", &[f(2.5)], &[f(2.0)]);
    check(&unary("f64", "i32", "i32.trunc_sat_f64_u"), "f", &[f(-5.0)], &[0]);
    check(&unary("f64", "i64", "i64.trunc_f64_u"), "f", &[f(1.8e19)], &[18_000_000_000_000_000_000]);
    check(&unary("i32", "i32", "i32.extend8_s"), "f", &[0x80], &[i(-128)]);
    check(&unary("i64", "i32", "i32.wrap_i64"), "f", &[0xffff_ffff_0000_0001], &[1]);
    check(&unary("i64", "f64", "f64.convert_i64_u"), "f", &[u64::MAX], &[f(18446744073709551615.0)]);
    check(&unary("i32", "i32", "i32.clz"), "f", &[0], &[32]);
    check(&unary("i32", "i32", "i32.eqz"), "f", &[0], &[1]);
}

#[test]
fn branch_tables_and_globals() {
    let wat = r#"(module (global $g (mut i64) (i64.const 0))
      (func (export "f") (param i32) (result i64)
        (block $b2 (block $b1 (block $b0 (br_table $b0 $b1 $b2 (local.get 0))) (return (i64.const 10)))
          (global.set $g (i64.const 20)) (return (global.get $g)))
        (i64.const 30)))"#;
    for (argument, result) in [(0, 10), (1, 20), (2, 30), (3, 30), (u64::from(u32::MAX), 30)] {
        check(wat, "f", &[argument], &[result]);
    }
}

/// An address that is a constant above another: with and without an access of that one before, and where the sum wraps.
const ABOVE: &str = r#"(module
  (memory 1)
  (func (export "after") (param $p i32) (result i32)
    (i64.store (i32.const 0) (i64.const 0x0807060504030201))
    (i64.store (i32.const 8) (i64.const 0x100f0e0d0c0b0a09))
    (i64.store (i32.const 16) (i64.const 0x1817161514131211))
    (i32.add
      (i32.load8_u (local.get $p))
      (i32.add (i32.load8_u offset=1 (i32.add (local.get $p) (i32.const 4))) (i32.load8_u (i32.add (local.get $p) (i32.const -4))))))
  (func (export "maybe") (param $p i32) (param $first i32) (result i32) (local $sum i32)
    (i64.store (i32.const 0) (i64.const 0x0807060504030201))
    (i64.store (i32.const 8) (i64.const 0x100f0e0d0c0b0a09))
    (i64.store (i32.const 16) (i64.const 0x1817161514131211))
    (if (local.get $first) (then (local.set $sum (i32.load8_u (local.get $p)))))
    (i32.add (local.get $sum) (i32.load8_u (i32.add (local.get $p) (i32.const 16))))))"#;

const ABOVE_ROUNDS: &str = r#"(module
  (memory 1)
  (func (export "rounds") (param $p i32) (param $n i32) (result i32) (local $sum i32)
    (i64.store (i32.const 0) (i64.const 0x0807060504030201))
    (i64.store (i32.const 8) (i64.const 0x100f0e0d0c0b0a09))
    (i64.store (i32.const 16) (i64.const 0x1817161514131211))
    (loop $again (;poll;)
      (local.set $sum (i32.add (local.get $sum) (i32.load8_u (i32.add (local.get $p) (i32.const 16)))))
      (local.set $sum (i32.add (local.get $sum) (i32.load8_u (i32.add (local.get $p) (i32.const 17)))))
      (local.set $p (i32.add (local.get $p) (i32.const 2)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum)))"#;

#[test]
fn addresses_above_others_wrap_where_they_may() {
    check(ABOVE, "after", &[8], &[9 + 14 + 5]);
    check(ABOVE, "maybe", &[4, 1], &[5 + 21]);
    // 16 below 2^32: the sum is 0, and nothing is accessed before.
    check(ABOVE, "maybe", &[u64::from(u32::MAX - 15), 0], &[1]);
    check(ABOVE_ROUNDS, "rounds", &[u64::from(u32::MAX - 15), 10], &[(1..=20).sum()]);
}

/// All tests of a three-way comparison, where it is made and behind a block that has something else on another way.
#[test]
fn three_way_comparisons_say_what_they_said() {
    const COMPARISONS: [&str; 10] = ["eq", "ne", "lt_s", "lt_u", "gt_s", "gt_u", "le_s", "le_u", "ge_s", "ge_u"];
    let compares = |name: &str, a: i32, b: i32| match name {
        "eq" => a == b,
        "ne" => a != b,
        "lt_s" => a < b,
        "lt_u" => (a as u32) < b as u32,
        "gt_s" => a > b,
        "gt_u" => a as u32 > b as u32,
        "le_s" => a <= b,
        "le_u" => a as u32 <= b as u32,
        "ge_s" => a >= b,
        "ge_u" => a as u32 >= b as u32,
        other => panic!("{other}"),
    };
    // The text of a test, and what it says of -1, 0, 1 and of 7 and -8.
    type Test = (Box<dyn Fn(&str) -> String>, Box<dyn Fn(i32) -> u32>);
    let mut tests: Vec<Test> = Vec::new();
    for name in COMPARISONS {
        for constant in -2..=2 {
            let text = move |of: &str| format!("(i32.{name} {of} (i32.const {constant}))");
            tests.push((Box::new(text), Box::new(move |value| compares(name, value, constant).into())));
            let text = move |of: &str| format!("(i32.{name} (i32.const {constant}) {of})");
            tests.push((Box::new(text), Box::new(move |value| compares(name, constant, value).into())));
        }
    }
    for by in [0u32, 1, 29, 31, 32, 63] {
        let shifted = move |value: i32| value as u32 >> (by % 32);
        tests.push((Box::new(move |of: &str| format!("(i32.shr_u {of} (i32.const {by}))")), Box::new(shifted)));
        for mask in [0u32, 1, 4, 6, u32::MAX] {
            let text = move |of: &str| format!("(i32.and (i32.shr_u {of} (i32.const {by})) (i32.const {mask}))");
            tests.push((Box::new(text), Box::new(move |value| shifted(value) & mask)));
            let text = move |of: &str| format!("(i32.and (i32.const {mask}) (i32.shr_u {of} (i32.const {by})))");
            tests.push((Box::new(text), Box::new(move |value| shifted(value) & mask)));
        }
    }
    for (ty, sign) in [("i32", "s"), ("i32", "u"), ("i64", "s"), ("i64", "u")] {
        let forms = [
            format!("(i32.sub ({ty}.gt_{sign} (local.get $a) (local.get $b)) ({ty}.lt_{sign} (local.get $a) (local.get $b)))"),
            format!("(i32.sub ({ty}.lt_{sign} (local.get $b) (local.get $a)) ({ty}.gt_{sign} (local.get $b) (local.get $a)))"),
        ];
        for (form, difference) in forms.iter().enumerate() {
            let functions: String = tests
                .iter()
                .enumerate()
                .map(|(at, (text, _))| {
                    let here = text(difference);
                    let behind = text(&format!("(if (result i32) (local.get $c) (then {difference}) (else (local.get $other)))"));
                    format!(
                        r#"(func (export "here{at}") (param $a {ty}) (param $b {ty}) (result i32) {here})
                        (func (export "behind{at}") (param $a {ty}) (param $b {ty}) (param $c i32) (param $other i32) (result i32) {behind})"#
                    )
                })
                .collect();
            let mut machine = Machine::new(&format!("(module {functions})"), Tier::Optimizing);
            for (a, b) in [(1i64, 1i64), (1, 2), (2, 1), (-1, 1), (1, -1), (i64::from(i32::MIN), i64::from(i32::MAX))] {
                let bits = |value: i64| if ty == "i32" { u64::from(value as u32) } else { value as u64 };
                let (greater, less) = if sign == "s" { (a > b, a < b) } else { (bits(a) > bits(b), bits(a) < bits(b)) };
                let sign = i32::from(greater) - i32::from(less);
                for (at, (text, expected)) in tests.iter().enumerate() {
                    let what = || format!("{} of {ty} {a} and {b}, form {form}", text("it"));
                    assert_eq!(machine.call(&format!("here{at}"), &[bits(a), bits(b)]), [u64::from(expected(sign))], "{}", what());
                    for other in [-8, 0, 7] {
                        for (c, is) in [(1, sign), (0, other)] {
                            let arguments = [bits(a), bits(b), c, u64::from(other as u32)];
                            assert_eq!(machine.call(&format!("behind{at}"), &arguments), [u64::from(expected(is))], "{}", what());
                        }
                    }
                }
            }
        }
    }
}
