//! When something is hot: events (calls and back edges) weighed by the size of the body.

use crate::code::Tier;
use crate::engine::{EngineConfig, TierPolicy};
use std::time::Duration;

/// Intervals measured in tier 1 before it gives way, where they are reported: the time that asks for tier 2 is measured in two or three as well.
pub(super) const MEASURED_BEFORE: usize = 3;
/// Records of a function in compiled code, where intervals are reported, before the countdown's reload begins to double: for `MEASURED_INTERVALS` and some to spare.
pub(super) const EVEN_RECORDS: u32 = 16;
/// Intervals measured before a counted tier-2 version gives way to the uncounted one.
pub(super) const MEASURED_INTERVALS: usize = 9;
/// Bytes of the largest body whose tier 2 is compiled once more to be measured: at 6 µs a byte 50 ms. CPython's evaluation loop had its five entrances compiled twice, 0.2 s each.
pub(super) const MOST_MEASURED: usize = 8 << 10;
/// A function of more bytes than this needs that many times the events to become hot: compile time grows with size (measured: 1.3 µs a byte in tier
/// 1, 6 µs in tier 2; CPython's main loop of 106,184 bytes takes 0.13 and 0.6 s), the gain of an event does not.
pub(super) const INTERPRETER_STEP: usize = 128;
/// See `INTERPRETER_STEP`, for tier 2.
pub(super) const BASELINE_STEP: usize = 1024;
/// See `INTERPRETER_STEP`, for a loop's own entry in tier 1: one more compile of the whole function for the benefit of one activation.
pub(super) const LOOP_STEP: usize = 32;
/// An operator on vectors takes the interpreter some ten times as long as another, while compiled code gains more: a function with such operators is hot
/// after that part of the usual events. A guess.
pub(super) const VECTOR_SHARE: u32 = 8;
/// See `VECTOR_SHARE`: its first record comes after that part of the threshold, whatever its size, so as good as at its first call. What runs once and has
/// no loop is never compiled.
pub(super) const VECTOR_FIRST_SHARE: u32 = 64;
/// Bytes of a body from which on its bursts run in the interpreter (`super::watched`): compiling it with instrumentation takes
/// 3 ms and more, for each loop. In a second of json's run 2 ms of compiles and 65 bursts of branches took the place of 44 ms and 20; a small kernel, whose loads are its secret, is below.
pub(super) const WATCHED_FROM: usize = 512;
/// Bytes of all a module's bodies from which on bursts of all together follow calls (`super::watched`). Of CPython's 11,448 functions a hundred make nine tenths of its branches, and of those a run of six seconds
/// compiled a fifth for bursts. Small programs have their functions compiled for bursts soon, and are better seen by those: with calls followed branches of `tree_interpreter` had an overlap of 46 % for 96.
pub(super) const FOLLOWS_FROM: usize = 256 << 10;
/// The countdown's reload doubles with each record of a function, up to this many times: one that waits for its compile must not flood the ring.
pub(super) const MOST_DOUBLINGS: u32 = 12;
/// Looks of an activation in templates for a loop that has code, one at each event, before it looks less often.
const FIRST_LOOKS: u32 = 64;
/// Looks at successive events from then on. (With a look at a time, the first of which came with a burst's end and the second a thousand events later, that end left CPython's evaluation
/// loop to templates for up to 145,000 events and 240 ms, five loops of it taking turns, of which two had code: 0.2 to 0.5 s of a run of 6. Now that comes by after one to 16 events.)
const LOOKS_TOGETHER: u32 = 4;
/// The most events from one such group's begin to the next one's: a look takes as long as two or three rounds of a small loop. Prime, so that of loops that take turns in any period each comes up.
const LOOKS_EVERY: u32 = 1021;
/// Calls and rounds after which a function's ops are strung together ([`crate::interp::Templates`]), whatever its size: that takes time by the op as running does.
const STRUNG_AFTER: u32 = 4;
/// Bytes of the largest body that templates call in place of its compiled code, unless it has a loop or calls (recursion would never reach its code): going there and back takes some 40 ns, which a template does some 20 ops in.
pub(super) const BRIEF: usize = 64;
/// A body of more bytes is large: its compile takes milliseconds.
pub(crate) const LARGE: usize = 1024;
/// Loops of one function that are counted.
pub(super) const MOST_LOOPS: usize = 1024;

/// Most events that a countdown word is loaded with: one below 0 is used up.
pub(super) const MOST_EVENTS: u32 = i32::MAX as u32;

/// Whether a countdown word is used up. It stays so until it is loaded again, however often it is counted down: threads that take it past 0 at once may lose what one of them has loaded it with, and the next
/// that counts sees it again. (Counting by atomic operations would cost every call and round twenty cycles.)
#[inline(always)]
pub(crate) fn used_up(word: u32) -> bool {
    (word as i32) < 0
}

/// Where time decides too, the first record comes after that part of the events that make a function hot by themselves; each further one after twice as many.
const FIRST_RECORD_SHARE: u32 = 16;

/// Events before the first record of a function that is hot after `events`.
pub(super) fn first_record(config: &EngineConfig, events: u32) -> u32 {
    if by_cost(config) { (events / FIRST_RECORD_SHARE).max(1) } else { events }
}

/// Events before a function's word is looked at for the first time: for its templates, where there are any, and for its first record if that is sooner.
pub(super) fn first_look(config: &EngineConfig, bytes: usize) -> u32 {
    if config.tier == TierPolicy::Templates {
        return 1;
    }
    let first = first_record(config, weighted(config.hot_interpreter, bytes, INTERPRETER_STEP));
    if strings(config) { first.min(STRUNG_AFTER) } else { first }
}

/// Events from a look for a loop that has code to the next one; `look` is how many came before it.
pub(super) fn next_look(look: u32) -> u32 {
    match look.checked_sub(FIRST_LOOKS) {
        Some(later) if later.is_multiple_of(LOOKS_TOGETHER) => {
            FIRST_LOOKS.saturating_mul(1 << (later / LOOKS_TOGETHER).min(16)).min(LOOKS_EVERY - (LOOKS_TOGETHER - 1))
        }
        _ => 1,
    }
}

/// Whether functions get templates: where they are to move up as they become hot.
pub(super) fn strings(config: &EngineConfig) -> bool {
    match config.tier {
        TierPolicy::Templates => true,
        TierPolicy::Auto => config.templates,
        TierPolicy::Interpreter | TierPolicy::Baseline | TierPolicy::Optimizing => false,
    }
}

/// Whether the time that code takes decides when it moves up. Not where the same is to happen every time.
pub(super) fn by_cost(config: &EngineConfig) -> bool {
    config.tier_up_by_cost && !config.deterministic
}

/// What compiling a body takes: 1.3 µs a byte in tier 1, 6 µs in tier 2, measured as for `INTERPRETER_STEP`.
pub(crate) fn expected_compile_time(tier: Tier, bytes: usize) -> Duration {
    let nanoseconds = match tier {
        Tier::Baseline => 1_300,
        Tier::Instrumented | Tier::Optimizing => 6_000,
    };
    Duration::from_nanos(bytes as u64 * nanoseconds)
}

/// Events that make a function of `bytes` hot, at least 1. A threshold of 1 is for tests and holds for every size.
pub(super) fn weighted(threshold: u32, bytes: usize, step: usize) -> u32 {
    if threshold <= 1 {
        return 1;
    }
    (u64::from(threshold) * (bytes / step).max(1) as u64).min(MOST_EVENTS.into()) as u32
}
