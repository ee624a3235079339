//! Code is given back: versions that nothing leads to any more go once no frame is in them, however often that happens and whoever runs meanwhile.

mod common;

use common::{Guest, engine};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vm::code::{Entrance, Tier};
use vm::engine::{EngineConfig, LoadedModule, TierPolicy};

/// `deep` recurses with a loop in each frame; `flat` is a loop alone.
const GUEST: &str = "(module
    (func $flat (export \"flat\") (param $n i32) (result i32) (local $x i32)
        (loop $again
            (local.set $x (i32.add (i32.mul (local.get $x) (i32.const 3)) (local.get $n)))
            (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
        (local.get $x))
    (func $deep (export \"deep\") (param $n i32) (result i32)
        (if (i32.eqz (local.get $n)) (then (return (i32.const 1))))
        (i32.xor (call $flat (i32.const 5)) (i32.add (local.get $n) (call $deep (i32.sub (local.get $n) (i32.const 1)))))))";

fn flat(mut n: u32) -> u32 {
    let mut x = 0u32;
    while n != 0 {
        x = x.wrapping_mul(3).wrapping_add(n);
        n -= 1;
    }
    x
}

fn deep(n: u32) -> u32 {
    (1..=n).fold(1, |below, n| flat(5) ^ n.wrapping_add(below))
}

fn call(guest: &mut Guest, name: &str, argument: u32) -> u32 {
    guest.call(name, argument.into()).expect("it returns") as u32
}

/// Every entrance there is code for.
fn entrances(loaded: &LoadedModule) -> Vec<(u32, Entrance)> {
    let mut all: Vec<_> = loaded.code.versions().iter().map(|version| (version.function, version.entrance)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn ten_thousand_recompilations_leave_memory_flat() {
    for tier in [TierPolicy::Auto, TierPolicy::Baseline] {
        let engine = engine(EngineConfig { tier, hot_interpreter: 100, hot_baseline: 1000, ..EngineConfig::default() });
        let loaded = engine.load(GUEST.as_bytes()).expect("valid");
        let mut guest = Guest::new(&engine, &loaded);
        while entrances(&loaded).len() < 2 {
            assert_eq!(call(&mut guest, "flat", 100_000), flat(100_000));
            assert_eq!(call(&mut guest, "deep", 1000), deep(1000));
            engine.settle();
        }
        let stop = AtomicBool::new(false);
        let (first, most) = std::thread::scope(|scope| {
            // Someone is always in the middle of it.
            scope.spawn(|| {
                let mut other = Guest::new(&engine, &loaded);
                while !stop.load(Ordering::Relaxed) {
                    assert_eq!(call(&mut other, "deep", 2000), deep(2000));
                    assert_eq!(call(&mut other, "flat", 300_000), flat(300_000));
                }
            });
            let (mut first, mut most, mut done) = (0, 0, 0);
            while done < 10_000 {
                for (function, entrance) in entrances(&loaded) {
                    done += usize::from(loaded.code.recompile(function, entrance));
                }
                if done % 50 < 4 {
                    assert_eq!(call(&mut guest, "deep", 300), deep(300));
                    engine.poll_monitor();
                }
                if done > 1000 {
                    let used = vm::code_memory_used();
                    if first == 0 {
                        first = used;
                    }
                    most = most.max(used);
                }
            }
            stop.store(true, Ordering::Relaxed);
            (first, most)
        });
        // Some hundred bytes a version: 10,000 would be megabytes.
        assert!(most < first + (1 << 20), "code memory grew from {first} to {most} bytes ({tier:?})");
        assert!(loaded.code.versions().len() < 3000, "{} versions are described", loaded.code.versions().len());
        engine.settle();
        engine.poll_monitor();
        let (freed, waiting) = engine.retired();
        assert!(freed >= 9_900 && waiting <= 64, "{freed} versions freed, {waiting} wait");
        assert_eq!(call(&mut guest, "deep", 100), deep(100));
    }
}

#[test]
fn code_with_a_frame_in_it_stays() {
    let engine = engine(EngineConfig { tier: TierPolicy::Baseline, ..EngineConfig::default() });
    let loaded = engine.load(GUEST.as_bytes()).expect("valid");
    let mut guest = Guest::new(&engine, &loaded);
    assert_eq!(call(&mut guest, "deep", 3), deep(3));
    let before = loaded.code.versions();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Takes code away under a running thread that goes on in it, comes back to it and leaves it.
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for (function, entrance) in entrances(&loaded) {
                    loaded.code.evict(function, entrance);
                }
                std::thread::yield_now();
            }
        });
        for round in 0..100_000 {
            if loaded.code.evictions() > 200 {
                break;
            }
            let round = round % 300;
            assert_eq!(call(&mut guest, "deep", 500 + round), deep(500 + round));
            assert_eq!(call(&mut guest, "flat", 10_000), flat(10_000));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(before.iter().all(|version| version.tier == Tier::Baseline));
    assert!(loaded.code.evictions() > 10);
}

#[test]
fn a_cap_sends_the_oldest_code_back() {
    // 40 functions of some 30 bytes under a cap of 512 bytes.
    let functions: String = (0..40)
        .map(|index| {
            format!(
                "(func $f{index} (param i32) (result i32) (i32.xor (i32.mul (local.get 0) (i32.const {}) ) (i32.const {index})))",
                2 * index + 3
            )
        })
        .collect();
    let calls: String = (0..40).map(|index| format!("(local.set 0 (call $f{index} (local.get 0)))")).collect();
    let wat = format!("(module {functions} (func (export \"f\") (param i32) (result i32) {calls} (local.get 0)))");
    let expected = |x: u32| (0..40u32).fold(x, |x, index| x.wrapping_mul(2 * index + 3) ^ index);
    let engine = engine(EngineConfig { tier: TierPolicy::Baseline, code_cap: 512, ..EngineConfig::default() });
    let loaded = engine.load(wat.as_bytes()).expect("valid");
    let mut guest = Guest::new(&engine, &loaded);
    const CALLS: u32 = 5000;
    for x in 0..CALLS {
        assert_eq!(call(&mut guest, "f", x), expected(x));
        let largest = loaded.code.versions().iter().map(|version| version.code_bytes).max().unwrap_or(0);
        assert!(loaded.code.linked_bytes() <= 512 + largest);
    }
    // Each of the 41 comes back, but ever more seldom: not as often as twice for each doubling of the calls.
    let evictions = loaded.code.evictions();
    assert!(evictions > 80 && evictions < 41 * 2 * u64::from(CALLS.ilog2()), "{evictions}");
}

/// The monitor may hold the last reference of a module's code, and drops it then: under no lock that its end takes.
#[test]
fn modules_come_and_go_while_the_monitor_looks_at_them() {
    let (sender, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let engine = engine(EngineConfig::default());
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    engine.poll_monitor();
                }
            });
            for _ in 0..20_000 {
                drop(engine.load(GUEST.as_bytes()).expect("valid"));
            }
            stop.store(true, Ordering::Relaxed);
        });
        sender.send(()).unwrap();
    });
    done.recv_timeout(Duration::from_secs(120)).expect("the monitor and this thread wait for each other");
}

/// An engine in which nothing runs wakes nobody; what runs next is watched again.
#[test]
fn the_monitor_sleeps_while_nothing_runs() {
    let engine = engine(EngineConfig::default());
    let loaded = engine.load(GUEST.as_bytes()).expect("valid");
    let mut guest = Guest::new(&engine, &loaded);
    let polls = || engine.monitor_stats().polls;
    let patience = Duration::from_secs(60);
    let falls_asleep = || {
        let began = Instant::now();
        let mut before = polls();
        loop {
            std::thread::sleep(Duration::from_secs(1));
            match polls() {
                now if now == before => return,
                now => before = now,
            }
            assert!(began.elapsed() < patience, "{before} polls");
        }
    };
    for _ in 0..2 {
        let (began, before) = (Instant::now(), polls());
        while polls() < before + 10 {
            assert_eq!(call(&mut guest, "flat", 100_000), flat(100_000));
            assert!(began.elapsed() < patience, "it sleeps while wasm runs");
        }
        falls_asleep();
    }
    assert!(!loaded.code.versions_in_force().is_empty(), "something was compiled");
    // What went meanwhile is freed.
    let (began, before) = (Instant::now(), polls());
    drop((guest, loaded));
    while polls() == before {
        assert!(began.elapsed() < Duration::from_secs(5), "code of a module that is gone stays while the monitor sleeps");
        std::thread::sleep(Duration::from_millis(10));
    }
    falls_asleep();
}
