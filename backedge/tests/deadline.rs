//! A deadline stops what takes long outside loops: bulk operations, and calls of WASI that wait.

use backedge::wasi::{self, WasiCtx, WasiCtxBuilder};
use backedge::{Config, Engine, Linker, Module, Store, TierPolicy, Trap, TypedFunc, UpdateDeadline};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

const BULK: &str = r#"(module (memory 49152) (table 1000000 10000000 funcref)
    (func (export "fill") (memory.fill (i32.const 0) (i32.const 7) (i32.const 0xbfffffff)))
    (func (export "copy") (memory.copy (i32.const 1) (i32.const 0) (i32.const 0xbffffff0)))
    (func (export "fits") (result i32) (memory.fill (i32.const 0) (i32.const 1) (i32.const 3000001))
        (memory.copy (i32.const 5) (i32.const 2000000) (i32.const 2000000))
        (memory.copy (i32.const 2000005) (i32.const 5) (i32.const 2000000))
        (i32.add (i32.load8_u (i32.const 1000005)) (i32.load8_u (i32.const 1000006)))))"#;

const SLEEP: &str = r#"(module (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
    (memory (export "memory") 1)
    (data (i32.const 16) "\01") (data (i32.const 24) "\00\00\00\00\00\10")
    (data (i32.const 256) "\00\02\00\00\10\00\00\00")
    (func (export "sleep") (result i32) (call $poll (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 128)))
    (func (export "read") (result i32) (call $read (i32.const 0) (i32.const 256) (i32.const 1) (i32.const 128))))"#;

fn engine(tier: TierPolicy) -> Engine {
    let mut config = Config::new();
    config.epoch_interruption(true).tier(tier);
    Engine::new(&config).unwrap()
}

/// Calls an export with a deadline that passes soon after it began: how it ended, and how long after the deadline.
fn stopped(engine: &Engine, module: &Module, export: &str, context: WasiCtx) -> (Option<Trap>, Duration) {
    let mut linker = Linker::new(engine);
    wasi::add_to_linker(&mut linker, |context: &mut WasiCtx| context).unwrap();
    let mut store = Store::new(engine, context);
    store.set_epoch_deadline(1);
    let instance = linker.instantiate(&mut store, module).unwrap();
    let func = instance.get_func(&mut store, export).unwrap();
    let begin = Arc::new(Barrier::new(2));
    let ticker = {
        let (engine, begin) = (engine.clone(), begin.clone());
        std::thread::spawn(move || {
            begin.wait();
            // Long enough that the guest is inside the call when it comes.
            std::thread::sleep(Duration::from_millis(30));
            engine.increment_epoch();
            Instant::now()
        })
    };
    begin.wait();
    let mut results = vec![backedge::Val::I32(0); func.ty(&store).results().len()];
    let error = func.call(&mut store, &[], &mut results).unwrap_err();
    let ended = Instant::now();
    (error.downcast_ref::<Trap>().copied(), ended.saturating_duration_since(ticker.join().unwrap()))
}

#[test]
fn bulk_operations_stop() {
    for tier in [TierPolicy::Interpreter, TierPolicy::Baseline, TierPolicy::Optimizing] {
        let engine = engine(tier);
        let module = Module::new(&engine, BULK).unwrap();
        for export in ["fill", "copy"] {
            let (trap, late) = stopped(&engine, &module, export, WasiCtxBuilder::new().build());
            assert_eq!(trap, Some(Trap::Interrupt));
            // 10 ms is what is promised; a loaded machine may take its time to run us again.
            assert!(late < Duration::from_secs(1), "{export}: {late:?} after the deadline");
        }
    }
}

#[test]
fn pieces_are_copied_as_a_whole() {
    let engine = Engine::default();
    let module = Module::new(&engine, BULK).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Linker::new(&engine).instantiate(&mut store, &module).unwrap();
    // After the overlapping copies byte 1000005 is what was at 3000000, the last byte filled, and the one behind it was not.
    assert_eq!(instance.get_typed_func::<(), i32>(&mut store, "fits").unwrap().call(&mut store, ()).unwrap(), 1);
}

#[test]
fn a_sleeping_guest_stops() {
    let engine = engine(TierPolicy::Auto);
    let module = Module::new(&engine, SLEEP).unwrap();
    let (trap, late) = stopped(&engine, &module, "sleep", WasiCtxBuilder::new().build());
    assert!(trap == Some(Trap::Interrupt) && late < Duration::from_secs(1), "{trap:?} after {late:?}");
    // A reader that cannot be waited for is read at once.
    let engine = self::engine(TierPolicy::Auto);
    let mut linker = Linker::new(&engine);
    wasi::add_to_linker(&mut linker, |context: &mut WasiCtx| context).unwrap();
    let module = Module::new(&engine, SLEEP).unwrap();
    let mut store = Store::new(&engine, WasiCtxBuilder::new().stdin(&b"text"[..]).build());
    store.set_epoch_deadline(1);
    let instance = linker.instantiate(&mut store, &module).unwrap();
    assert_eq!(instance.get_typed_func::<(), i32>(&mut store, "read").unwrap().call(&mut store, ()).unwrap(), 0);
    let memory = instance.get_memory(&mut store, "memory").unwrap();
    assert_eq!(&memory.data(&store)[512..516], b"text");
}

/// A guest that sleeps for 200 ms: a machine under load ticks within that.
fn sleeper() -> (Engine, Store<WasiCtx>, TypedFunc<(), i32>) {
    let engine = engine(TierPolicy::Auto);
    let module = Module::new(&engine, SLEEP.replace(r#""\00\00\00\00\00\10""#, r#""\00\c2\eb\0b""#)).unwrap();
    let mut linker = Linker::new(&engine);
    wasi::add_to_linker(&mut linker, |context: &mut WasiCtx| context).unwrap();
    let mut store = Store::new(&engine, WasiCtxBuilder::new().build());
    let instance = linker.instantiate(&mut store, &module).unwrap();
    let sleep = instance.get_typed_func::<(), i32>(&mut store, "sleep").unwrap();
    (engine, store, sleep)
}

#[test]
fn a_callback_lets_a_sleeping_guest_sleep_on() {
    let (engine, mut store, sleep) = sleeper();
    let asked = Arc::new(AtomicU32::new(0));
    let count = asked.clone();
    store.set_epoch_deadline(2);
    store.epoch_deadline_callback(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(UpdateDeadline::Continue(1_000_000))
    });
    engine.increment_epoch();
    let ticker = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(5));
        engine.increment_epoch();
    });
    let began = Instant::now();
    assert_eq!(sleep.call(&mut store, ()).unwrap(), 0, "200 ms of sleep");
    assert!(began.elapsed() >= Duration::from_millis(200));
    ticker.join().unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[test]
fn a_callback_that_panics_is_asked_again() {
    let (engine, mut store, sleep) = sleeper();
    let asked = Arc::new(AtomicU32::new(0));
    let count = asked.clone();
    store.epoch_deadline_callback(move |_| match count.fetch_add(1, Ordering::Relaxed) {
        0 => panic!("the first time"),
        _ => Ok(UpdateDeadline::Continue(1_000_000)),
    });
    store.set_epoch_deadline(1);
    let ticker = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(5));
        engine.increment_epoch();
    });
    assert!(catch_unwind(AssertUnwindSafe(|| sleep.call(&mut store, ()))).is_err());
    ticker.join().unwrap();
    assert_eq!(sleep.call(&mut store, ()).unwrap(), 0);
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

/// An empty loop has nothing but its poll. It stops in the tier that is pinned, and, where tiers change, once it runs in tier 2.
#[test]
fn an_empty_loop_stops_in_every_tier() {
    for tier in [TierPolicy::Interpreter, TierPolicy::Baseline, TierPolicy::Optimizing, TierPolicy::Auto] {
        let engine = engine(tier);
        let module = Module::new(&engine, r#"(module (func (export "spin") (loop (br 0))))"#).unwrap();
        let mut store = Store::new(&engine, ());
        store.set_epoch_deadline(1);
        let spin = Linker::new(&engine).instantiate(&mut store, &module).unwrap().get_typed_func::<(), ()>(&mut store, "spin").unwrap();
        let ticker = {
            let (engine, module) = (engine.clone(), module.clone());
            std::thread::spawn(move || {
                let code = &module.loaded().code;
                // In the automatic mode it moves from the interpreter to tier 2, by a switch at its header.
                // (Before that it may leave for a burst that has no credit, and come back.)
                let in_tier_2 = || code.versions_in_force().iter().any(|version| version.tier == vm::code::Tier::Optimizing);
                while tier == TierPolicy::Auto && (code.switches() == 0 || !in_tier_2()) {
                    std::thread::yield_now();
                }
                engine.increment_epoch();
            })
        };
        let error = spin.call(&mut store, ()).unwrap_err();
        ticker.join().unwrap();
        assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::Interrupt), "{tier:?}");
        let tiers: Vec<_> = module.report().functions.iter().flat_map(|function| &function.versions).map(|version| version.tier).collect();
        if tier == TierPolicy::Auto {
            assert!(tiers.contains(&"optimizing"), "{tiers:?}");
        }
    }
}
