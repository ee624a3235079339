//! LWP instructions that reach the ring through compiled code: the guest's own, imported from `lwp`, in every tier and from either source; and
//! real LWP instructions at the engine's sites with source `trap`.

use backedge::{Config, Engine, FeedbackPolicy, Linker, Module, RecordSource, Store, TierPolicy};
use lwp_feedback::layout::{EventId, Record};
use std::sync::atomic::Ordering;

const TIERS: [TierPolicy; 3] = [TierPolicy::Interpreter, TierPolicy::Baseline, TierPolicy::Optimizing];
const SOURCES: [RecordSource; 2] = [RecordSource::Inline, RecordSource::Trap];

/// The sample of AMD's LWP page: every iteration an LWPVAL, every seventh an LWPINS. With the operands in registers, as constants, and the
/// flags unknown to the compiler in the second loop. `narrow` is the first loop alone.
const SAMPLE: &str = r#"(module
  (import "lwp" "lwpins32" (func $ins32 (param i32 i32 i32) (result i32)))
  (import "lwp" "lwpval32" (func $val32 (param i32 i32 i32)))
  (import "lwp" "lwpins64" (func $ins64 (param i64 i32 i32) (result i32)))
  (import "lwp" "lwpval64" (func $val64 (param i64 i32 i32)))
  (func $narrow (export "narrow") (param $flags i32) (result i32) (local $i i32) (local $full i32)
    (loop $narrow
      (if (i32.eqz (i32.rem_u (local.get $i) (i32.const 7)))
        (then (local.set $full (i32.add (local.get $full) (call $ins32 (i32.const 0xdeadbeef) (local.get $i) (i32.const 0x01234567))))))
      (call $val32 (i32.const 0x0badf00d) (local.get $i) (i32.const 0xcad00cad))
      (br_if $narrow (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 31))))
    (local.get $full))
  (func (export "sample") (param $flags i32) (result i32) (local $i i32) (local $full i32)
    (local.set $full (call $narrow (local.get $flags)))
    (loop $wide
      (if (i32.eqz (i32.rem_u (local.get $i) (i32.const 7)))
        (then (local.set $full (i32.add (local.get $full) (call $ins64 (i64.const 0xdeadbeefdeadbeef) (local.get $i) (local.get $flags))))))
      (call $val64 (i64.const 0x0badf00d0badf00d) (local.get $i) (local.get $flags))
      (br_if $wide (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 31))))
    (local.get $full)))"#;

/// Records that the sample's ring has room for, and the slot that its first record takes: section 3.6 of the reference.
const SLOTS: u32 = 4096;
const FIRST_SLOT: u32 = SLOTS - 3;

/// An engine whose rings nobody drains, with the sample's LWPCB: a record for every tenth value from the first on, and a start near the ring's end.
fn engine(tier: TierPolicy, source: RecordSource) -> Engine {
    let mut config = Config::new();
    config.tier(tier).record_source(source).feedback(FeedbackPolicy::Off).monitor_thread(false);
    config.machine().feedback_budget = 0.0;
    config.machine().ring.interval1 = 9;
    config.machine().ring.counter1 = Some(0);
    config.machine().ring.random_bits = 0;
    config.machine().ring.buffer_bytes = SLOTS * 32;
    config.machine().ring.start_bytes = FIRST_SLOT * 32;
    Engine::new(&config).unwrap()
}

fn call(engine: &Engine, wat: &str, name: &str, argument: i32) -> i32 {
    let module = Module::new(engine, wat).unwrap();
    let mut store = Store::new(engine, ());
    let instance = Linker::new(engine).instantiate(&mut store, &module).unwrap();
    instance.get_typed_func::<i32, i32>(&mut store, name).unwrap().call(&mut store, argument).unwrap()
}

/// What the sample must leave: event, flags, Data1 and Data2 of each record, in the order of the instructions.
fn expected(wide: bool) -> Vec<(EventId, u16, u32, u64)> {
    let mut records = Vec::new();
    let mut counter = 0i32;
    let loops = [(0x4567, 0xdead_beef, 0x0cad, 0x0bad_f00d), (0x7777, 0xdead_beef_dead_beef, 0x7777, 0x0bad_f00d_0bad_f00d)];
    for (ins_flags, ins_data2, val_flags, val_data2) in loops.into_iter().take(1 + usize::from(wide)) {
        for i in 0..31 {
            if i % 7 == 0 {
                records.push((EventId::PROGRAMMED, ins_flags, i, ins_data2));
            }
            counter -= 1;
            if counter < 0 {
                records.push((EventId::VALUE, val_flags, i, val_data2));
                counter = 9;
            }
        }
    }
    records
}

#[test]
fn a_guests_lwp_instructions_leave_the_samples_records() {
    for (name, order, head) in [("narrow", "IVIVIVIIV", 192), ("sample", "IVIVIVIIVIIVIVIIV", 448)] {
        let expected = expected(name == "sample");
        for (tier, source) in TIERS.into_iter().flat_map(|tier| SOURCES.map(|source| (tier, source))) {
            let case = format!("{name}, {tier:?}, {source:?}");
            let engine = engine(tier, source);
            assert_eq!(call(&engine, SAMPLE, name, 0x7777), 0, "{case}");
            let ring = engine.vm().thread_ring().unwrap();
            assert_eq!(ring.control().buffer_head_offset.load(Ordering::Relaxed), head, "{case}");
            assert_eq!((ring.produced(), ring.missed()), (expected.len() as u64, 0), "{case}");
            let base = ring.control().buffer_base.load(Ordering::Relaxed) as *const Record;
            for (index, expected) in expected.iter().enumerate() {
                let slot = (FIRST_SLOT as usize + index) % SLOTS as usize;
                // SAFETY: a slot of the ring's buffer, which lives and which nobody writes now.
                let record = unsafe { base.add(slot).read_volatile() };
                assert_eq!((record.event_id(), record.flags(), record.data1(), record.data2()), *expected, "slot {slot} in {case}");
                assert_ne!(record.address(), 0, "slot {slot} in {case}");
            }
            let mut seen = String::new();
            ring.consumer().unwrap().drain(usize::MAX, |record| seen.push(if record.event_id() == EventId::VALUE { 'V' } else { 'I' }));
            assert_eq!(seen, order, "{case}");
        }
    }
}

#[test]
fn a_full_ring_sets_the_result() {
    let wat = r#"(module (import "lwp" "lwpins64" (func $ins (param i64 i32 i32) (result i32)))
      (func (export "fill") (param $n i32) (result i32) (local $full i32)
        (loop $next
          (local.set $full (i32.add (local.get $full) (call $ins (i64.const 1) (local.get $n) (i32.const 5))))
          (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
        (local.get $full)))"#;
    for tier in TIERS {
        for source in SOURCES {
            let engine = engine(tier, source);
            // A ring holds one record less than it has room for.
            let full = call(&engine, wat, "fill", SLOTS as i32 + 9);
            assert_eq!(full, 10, "{tier:?}, {source:?}");
            assert_eq!(engine.vm().thread_ring().unwrap().missed(), 10, "{tier:?}, {source:?}");
        }
    }
}

#[test]
fn other_types_and_other_modules_are_ordinary_imports() {
    let engine = engine(TierPolicy::Optimizing, RecordSource::Inline);
    let wat = r#"(module (import "lwp" "lwpins32" (func $ins (param i32) (result i32)))
      (func (export "f") (param i32) (result i32) (call $ins (local.get 0))))"#;
    let module = Module::new(&engine, wat).unwrap();
    let mut store = Store::new(&engine, ());
    assert!(Linker::new(&engine).instantiate(&mut store, &module).is_err());
    let mut linker: Linker<()> = Linker::new(&engine);
    assert!(linker.func_wrap("lwp", "lwpval32", |_: i32, _: i32, _: i32| ()).is_err());
    linker.func_wrap("lwp", "other", |x: i32| x).unwrap();
}

/// Calls with parameters, an indirect call and a loop: sites of each kind.
const SITES: &str = r#"(module
  (type $op (func (param i32 i64) (result i32)))
  (table 1 funcref) (elem (i32.const 0) $add)
  (func $add (type $op)
    (i32.add
      (select (local.get 0) (i32.const 0) (local.get 0))
      (i32.wrap_i64 (select (local.get 1) (i64.const 0) (i64.ne (local.get 1) (i64.const 0))))))
  (func (export "run") (param $n i32) (result i32) (local $x i32)
    (loop $next
      (local.set $x (call_indirect (type $op) (local.get $x) (i64.const 3) (i32.const 0)))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $x)))"#;

#[test]
fn the_engines_sites_are_lwp_instructions_with_source_trap() {
    use vm::code::{CompileRequest, Entrance, Tier};
    let engine = engine(TierPolicy::Baseline, RecordSource::Trap);
    let module = Module::new(&engine, SITES).unwrap();
    for function in [0, 1] {
        let request = CompileRequest {
            sites: true,
            countdowns: true,
            listing: true,
            ..CompileRequest::new(module.loaded().module.clone(), function, Entrance::Body, Tier::Baseline, 1)
        };
        let code = engine.vm().compiler().unwrap().compile(&request).unwrap();
        let text = code.listing.unwrap().assembly;
        assert_eq!(text.matches("lwpval").count(), code.sites.len(), "{text}");
        assert_eq!(text.matches("lwpins").count(), code.hot_sites as usize, "{text}");
        assert!(code.sites.len() >= 2, "{text}");
        // The body counts at its entry, the loop in it at its header.
        assert_eq!(code.hot_sites, 1 + function, "{text}");
    }
}

#[test]
fn a_program_moves_up_on_records_of_real_lwp_instructions() {
    let mut config = Config::new();
    config.record_source(RecordSource::Trap).hot_threshold(5).monitor_thread(false);
    let engine = Engine::new(&config).unwrap();
    let module = Module::new(&engine, SITES).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Linker::new(&engine).instantiate(&mut store, &module).unwrap();
    let run = instance.get_typed_func::<i32, i32>(&mut store, "run").unwrap();
    for _ in 0..40 {
        assert_eq!(run.call(&mut store, 1000).unwrap(), 3000);
        engine.vm().settle();
    }
    let report = module.report();
    let hot = report.functions.iter().find(|function| function.function == 1).unwrap();
    assert!(hot.versions.iter().any(|version| version.tier == "baseline" && version.lwpval_sites >= 2 && version.lwpins_sites == 2));
    let calls = hot.sites.iter().find(|site| site.class == lwp_feedback::class::SiteClass::CallTarget).expect("a site with records");
    assert!(calls.total > 4 && calls.values[0].value == 0, "{calls:?}");
    assert!(hot.versions.iter().any(|version| version.tier == "optimizing"), "{:?}", hot.versions);
}
