//! Back edges that pass their loop's poll while nobody asks: that they do, and that whoever asks is heard all the same. And where code begins, for its loops' sake.

mod common;

use common::{Guest, engine};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vm::engine::{Engine, EngineConfig, Stress, TierPolicy};
use vm::trap::{Outcome, TrapCode, Unwind};

/// Longer than any wait here takes on a machine that does something else as well.
const PATIENCE: Duration = Duration::from_secs(20);

/// A loop of `n` rounds whose result depends on every one.
const SUM: &str = "(module (func (export \"sum\") (param $n i64) (result i64) (local $x i64) (local $i i64)
    (loop $again
        (local.set $x (i64.add (i64.mul (local.get $x) (i64.const 31)) (local.get $i)))
        (local.set $i (i64.add (local.get $i) (i64.const 1)))
        (br_if $again (i64.lt_u (local.get $i) (local.get $n))))
    (local.get $x)))";

fn sum(n: u64) -> u64 {
    (0..n).fold(0u64, |x, i| x.wrapping_mul(31).wrapping_add(i))
}

fn optimizing(stress: Stress) -> Engine {
    engine(EngineConfig { tier: TierPolicy::Optimizing, stress, ..EngineConfig::default() })
}

fn is_interrupt(outcome: Outcome<u64>) -> bool {
    matches!(outcome.map_err(|unwind| *unwind), Err(Unwind::Trap { code: TrapCode::Interrupt, .. }))
}

#[test]
fn a_deadline_stops_a_loop_that_passes_its_poll_and_the_loop_passes_again() {
    let engine = optimizing(Stress::default());
    let loaded = engine.load(SUM.as_bytes()).expect("a valid module");
    let mut guest = Guest::new(&engine, &loaded);
    assert_eq!(loaded.code.back_edges(), (0, 0), "nothing is compiled");
    assert_eq!(guest.call("sum", 1000).expect("it returns"), sum(1000));
    let (passing, polling) = loaded.code.back_edges();
    assert!(passing > 0 && polling == 0, "{passing} pass, {polling} poll");
    let mut other = Guest::new(&engine, &loaded);
    for _ in 0..5 {
        guest.store.set_epoch_deadline(1);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                engine.increment_epoch();
            });
            // Of this store nothing is asked, in the same code.
            scope.spawn(|| (0..20).for_each(|_| assert_eq!(other.call("sum", 100_000).expect("it returns"), sum(100_000))));
            assert!(is_interrupt(guest.call("sum", u64::MAX)));
        });
    }
    // Asked five times in a tenth of a second, they have polled for that long; then whoever takes back what it asked lets them pass.
    let began = Instant::now();
    guest.store.set_epoch_deadline(1000);
    while loaded.code.back_edges().0 == 0 {
        assert!(began.elapsed() < PATIENCE, "they poll for ever");
        std::thread::sleep(Duration::from_millis(20));
        guest.store.set_epoch_deadline(1000);
    }
    assert_eq!(guest.call("sum", 1000).expect("it returns"), sum(1000));
}

#[test]
fn whoever_asks_running_code_is_heard_each_time() {
    let engine = optimizing(Stress::default());
    let loaded = engine.load(SUM.as_bytes()).expect("a valid module");
    let mut guest = Guest::new(&engine, &loaded);
    let expected = sum(1 << 20);
    let heard_all = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0..2000 {
                let before = loaded.code.switches();
                loaded.code.ask_all_to_leave();
                let asked = Instant::now();
                while loaded.code.switches() == before {
                    if asked.elapsed() > PATIENCE {
                        heard_all.store(true, Ordering::Relaxed);
                        panic!("not heard the {turn}th time");
                    }
                    std::thread::yield_now();
                }
            }
            heard_all.store(true, Ordering::Relaxed);
        });
        while !heard_all.load(Ordering::Relaxed) {
            assert_eq!(guest.call("sum", 1 << 20).expect("it returns"), expected);
        }
    });
    // The last turn is heard at the first word that is asked, and the other words may be written after that; and where the asker held the lock when the running thread answered,
    // the monitor's next tick lets them pass.
    let answered = Instant::now();
    loop {
        assert_eq!(guest.call("sum", 1000).expect("it returns"), sum(1000));
        let (passing, polling) = loaded.code.back_edges();
        if passing > 0 && polling == 0 {
            break;
        }
        assert!(answered.elapsed() < PATIENCE, "all was answered: {passing} pass, {polling} poll");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn nothing_passes_where_every_poll_asks() {
    let engine = optimizing(Stress { leave_always: true, ..Stress::default() });
    let loaded = engine.load(SUM.as_bytes()).expect("a valid module");
    let mut guest = Guest::new(&engine, &loaded);
    assert_eq!(guest.call("sum", 1000).expect("it returns"), sum(1000));
    assert!(loaded.code.switches() > 0);
    let mut late = Guest::new(&engine, &loaded);
    assert_eq!(loaded.code.back_edges().0, 0, "a new instance asks at once");
    assert_eq!(late.call("sum", 1000).expect("it returns"), sum(1000));
}

#[test]
fn a_jump_through_a_table_polls_when_it_is_asked() {
    let engine = optimizing(Stress::default());
    let spins = "(module (func (export \"sum\") (param i64) (result i64)
        (loop $again (block $a (block $b (br_table $b $again $a $again (i32.wrap_i64 (local.get 0))))
            (return (i64.const 1))) (return (i64.const 2)))
        (unreachable)))";
    let loaded = engine.load(spins.as_bytes()).expect("a valid module");
    let mut guest = Guest::new(&engine, &loaded);
    assert_eq!((guest.call("sum", 0).expect("it returns"), guest.call("sum", 2).expect("it returns")), (1, 2));
    guest.store.set_epoch_deadline(1);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            engine.increment_epoch();
        });
        assert!(is_interrupt(guest.call("sum", 1)));
    });
}

/// The first jump back in some code, conditional or not: where it leads, and the byte behind it.
fn jump_back(code: &[u8]) -> Option<(usize, usize)> {
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    let jumps = |it: &Instruction| matches!(it.flow_control(), FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch);
    let back = decoder.iter().find(|it| jumps(it) && it.near_branch64() < it.ip())?;
    Some((back.near_branch64() as usize, back.next_ip() as usize))
}

#[test]
fn code_begins_where_its_loop_takes_fewest_lines() {
    let engine = optimizing(Stress::default());
    let lines = |from: usize, to: usize| (to - 1) / 64 - from / 64 + 1;
    let (mut moved, mut lengths) = (0, Vec::new());
    for stores in 0..16 {
        // Some seven bytes of code each.
        let front: String = (0..stores).map(|at| format!("(i32.store8 offset={at} (i32.const 16) (i32.wrap_i64 (local.get 0)))")).collect();
        let text = SUM.replacen("(module", "(module (memory 1)", 1).replacen("(loop", &format!("{front} (loop"), 1);
        let loaded = engine.load(text.as_bytes()).expect("a valid module");
        let mut guest = Guest::new(&engine, &loaded);
        assert_eq!(guest.call("sum", 1000).expect("it returns"), sum(1000));
        let versions = loaded.code.versions();
        let [version] = &versions[..] else { panic!("one function, one version") };
        let (code, ..) = version.code().expect("it is in force");
        let begin = loaded.code.code_addresses()[0].start as usize;
        let (from, to) = jump_back(&code).expect("a loop");
        assert_eq!(lines(begin + from, begin + to), (to - from).div_ceil(64), "{stores}: {from:#x} to {to:#x} from {begin:#x}");
        moved += usize::from(lines(from, to) > (to - from).div_ceil(64));
        lengths.push(to - from);
    }
    assert!(moved > 0, "none of these needed it, of {lengths:?} bytes");
}
