//! Calls whose callee's code does not poll where it is entered: who asks an instance is heard in a recursion without loops, in every tier and while code changes, and nobody pays afterwards.

mod common;

use common::{Guest, engine};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use vm::engine::{Engine, EngineConfig, TierPolicy};
use vm::trap::{Outcome, TrapCode, Unwind};

/// Longer than any wait here takes on a machine that does something else as well.
const PATIENCE: Duration = Duration::from_secs(20);

/// Recursions without a loop: doubly, by each other, by tail calls, through a table.
const RECURSIONS: &str = "(module
    (type $t (func (param i64) (result i64)))
    (table 2 2 funcref) (elem (i32.const 0) $odd $through)
    (func $fib (export \"fib\") (param i64) (result i64)
        (if (result i64) (i64.lt_u (local.get 0) (i64.const 2)) (then (local.get 0))
            (else (i64.add (call $fib (i64.sub (local.get 0) (i64.const 1))) (call $fib (i64.sub (local.get 0) (i64.const 2)))))))
    (func $even (export \"even\") (param i64) (result i64)
        (if (result i64) (i64.eqz (local.get 0)) (then (i64.const 1)) (else (return_call $odd (i64.sub (local.get 0) (i64.const 1))))))
    (func $odd (param i64) (result i64)
        (if (result i64) (i64.eqz (local.get 0)) (then (i64.const 0)) (else (return_call $even (i64.sub (local.get 0) (i64.const 1))))))
    (func $through (export \"through\") (param i64) (result i64)
        (if (result i64) (i64.lt_u (local.get 0) (i64.const 2)) (then (i64.const 1))
            (else (i64.add
                (call_indirect (type $t) (i64.sub (local.get 0) (i64.const 1)) (i32.const 1))
                (call_indirect (type $t) (i64.sub (local.get 0) (i64.const 2)) (i32.const 1)))))))";
/// Each with an argument that it takes for ever with, one that is soon done, and the result of that.
const CALLS: [(&str, u64, u64, u64); 3] = [("fib", 90, 15, 610), ("even", u64::MAX - 1, 1000, 1), ("through", 90, 15, 987)];

fn is_interrupt(outcome: Outcome<u64>) -> bool {
    matches!(outcome.map_err(|unwind| *unwind), Err(Unwind::Trap { code: TrapCode::Interrupt, .. }))
}

/// Calls what does not return; the deadline passes `after` a while.
fn interrupted(engine: &Engine, guest: &mut Guest, name: &str, argument: u64, after: Duration) {
    guest.store.set_epoch_deadline(1);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(after);
            engine.increment_epoch();
            let began = Instant::now();
            while !done.load(Ordering::Relaxed) {
                if began.elapsed() > PATIENCE {
                    eprintln!("{name} does not hear its deadline");
                    std::process::abort();
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        assert!(is_interrupt(guest.call(name, argument)), "{name}");
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_deadline_stops_recursions_in_every_tier_and_calls_poll_no_longer() {
    for tier in [TierPolicy::Interpreter, TierPolicy::Baseline, TierPolicy::Optimizing, TierPolicy::Auto] {
        let engine = engine(EngineConfig { tier, ..EngineConfig::default() });
        let loaded = engine.load(RECURSIONS.as_bytes()).expect("a valid module");
        let mut guest = Guest::new(&engine, &loaded);
        let mut other = Guest::new(&engine, &loaded);
        for (name, long, short, expected) in CALLS {
            for _ in 0..3 {
                interrupted(&engine, &mut guest, name, long, Duration::from_millis(20));
                guest.store.set_epoch_deadline(1 << 30);
                assert_eq!(loaded.code.instances_whose_calls_poll(), 0, "{name} in {tier:?}");
                assert_eq!(guest.call(name, short).expect("it returns"), expected, "{name} in {tier:?}");
                // Of this store nothing is asked, in the same code.
                assert_eq!(other.call(name, short).expect("it returns"), expected, "{name} in {tier:?}");
            }
        }
    }
}

#[test]
fn a_deadline_that_passed_stops_what_is_called_next() {
    let engine = engine(EngineConfig { tier: TierPolicy::Optimizing, ..EngineConfig::default() });
    let loaded = engine.load(RECURSIONS.as_bytes()).expect("a valid module");
    let mut guest = Guest::new(&engine, &loaded);
    assert_eq!(guest.call("fib", 1).expect("it returns"), 1, "compiled, and so small that it calls nothing");
    guest.store.set_epoch_deadline(0);
    assert_eq!(loaded.code.instances_whose_calls_poll(), 1);
    assert!(is_interrupt(guest.call("fib", 1)));
    drop(guest);
    assert_eq!(loaded.code.instances_whose_calls_poll(), 0, "it is gone");
}

#[test]
fn a_deadline_is_heard_while_code_changes() {
    for turn in 0..60 {
        let config = EngineConfig { hot_interpreter: 50, hot_baseline: 500, ..EngineConfig::default() };
        let engine = engine(config);
        let loaded = engine.load(RECURSIONS.as_bytes()).expect("a valid module");
        let mut guest = Guest::new(&engine, &loaded);
        let (name, long, short, expected) = CALLS[turn % CALLS.len()];
        // Somewhere between the first calls and all tiers in force.
        for part in 0..4 {
            interrupted(&engine, &mut guest, name, long, Duration::from_micros(turn as u64 * 150 * part));
        }
        guest.store.set_epoch_deadline(1 << 30);
        assert_eq!(guest.call(name, short).expect("it returns"), expected);
    }
}

#[test]
fn who_is_asked_every_millisecond_goes_on_each_time() {
    let engine = engine(EngineConfig::default());
    let loaded = engine.load(RECURSIONS.as_bytes()).expect("a valid module");
    let mut guest = Guest::new(&engine, &loaded);
    let heard = Arc::new(AtomicU64::new(0));
    let counted = heard.clone();
    guest.store.set_deadline_callback(Some(Box::new(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(1)
    })));
    guest.store.set_epoch_deadline(1);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
                engine.increment_epoch();
            }
        });
        for (name, argument, expected) in [("fib", 32, 2_178_309), ("through", 30, 1_346_269), ("even", 50_000_001, 0)] {
            assert_eq!(guest.call(name, argument).expect("it returns"), expected, "{name}");
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(heard.load(Ordering::Relaxed) > 10, "{heard:?}");
}
