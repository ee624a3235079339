//! Which loops of code that an earlier process left are hot here. That code counts nothing, so no hot record names them, and what the earlier run was too short to learn would never be.
//!
//! From time to time the monitor's thread asks all of them to come ([`ModuleCode::look_around`]) and takes the question back at its next tick. The moment is its own, so whichever loop comes first, and at once, is
//! one that the program spends its time in: a sample of the program counter with the polls in place of a timer's signal. A loop that does so several times becomes a candidate for bursts.
//!
//! A body that came from a file cannot be entered at its loops, so an activation that is asked goes on in the interpreter, as from any poll, and becomes hot there as in a first run: code for the loop is compiled.
//! So a function is asked only once the run is so long that its compile is a small part of it. (CPython's evaluation loop, asked in runs of 0.6 s, made them 0.86.)

use super::edges::stop_asking_loop;
use super::thresholds::{WATCHED_FROM, expected_compile_time};
use super::{ModuleCode, Published};
use crate::burst::ticks;
use crate::code::{Entrance, Tier};
use crate::engine::{lock, try_lock};
use crate::layout::VmContext;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What comes later after it was asked is not what the program spends its time in, ns. A guess.
const AT_ONCE_NS: f64 = 50e3;
/// So many times a loop comes first before it is a candidate: of a program that does many things many come once.
const SIGHTS: u32 = 3;
/// Events that such a loop is taken to have had.
const HEAT: u64 = 1_000_000;
/// A function is asked once the run has taken so many times what its compile is expected to take.
const COMPILES: u32 = 100;
/// Questions that come with each tick; after that one in so many ticks does.
const FIRST_QUESTIONS: u32 = 16;
/// See `FIRST_QUESTIONS`.
const STEADY_TICKS: u32 = 8;
/// `Sights::asked` while the words are being written.
const BEGUN: u64 = 1;

/// The looks at a module's kept code.
#[derive(Default)]
pub(super) struct Sights {
    /// When all had been asked, ticks, or [`BEGUN`]; 0 where nobody is asked, or one came.
    asked: AtomicU64,
    /// Whether a question was asked that is not taken back yet.
    open: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Functions whose kept code was published since the latest look.
    published: Vec<u32>,
    /// Those with loops that are no candidates yet.
    functions: Vec<u32>,
    /// The poll words of those loops of theirs that are asked now.
    asked: Arc<[i32]>,
    /// How often each loop was the first to come, and at once.
    seen: HashMap<(u32, u32), u32>,
    ticks: u32,
}

impl ModuleCode {
    /// Kept code of a function was published that counts nothing.
    pub(super) fn look_for(&self, function: u32) {
        lock(&self.sights.state).published.push(function);
    }

    /// The monitor's tick: takes the question back, whatever else is due.
    pub(crate) fn end_look(&self) {
        if !self.sights.open.load(Ordering::Relaxed) {
            return;
        }
        let asked = {
            let mut state = lock(&self.sights.state);
            self.sights.asked.store(0, Ordering::SeqCst);
            self.sights.open.store(false, Ordering::SeqCst);
            std::mem::take(&mut state.asked)
        };
        take_back(&self.published(), &asked);
    }

    /// A tick with credit: makes candidates of what was seen, and asks again if it is time.
    pub(super) fn look_around(self: &Arc<Self>) {
        let (found, asks) = {
            let mut state = lock(&self.sights.state);
            let published = std::mem::take(&mut state.published);
            let has_loops = |own: usize| self.module.loop_polls(own).next().is_some();
            state.functions.extend(published.into_iter().filter(|&function| self.module.defined(function).is_some_and(has_loops)));
            let found: Vec<(u32, u32)> = state.seen.iter().filter(|(_, sights)| **sights >= SIGHTS).map(|(&key, _)| key).collect();
            state.functions.retain(|function| found.iter().all(|(of, _)| of != function));
            state.seen.retain(|(function, _), _| found.iter().all(|(of, _)| of != function));
            state.ticks = state.ticks.saturating_add(1);
            (found, state.ticks <= FIRST_QUESTIONS || state.ticks.is_multiple_of(STEADY_TICKS))
        };
        for (function, offset) in found {
            tracing::debug!(function, offset, "seen in kept code");
            self.any_candidate(function, offset, HEAT, 0, true);
            self.watch_loops(function, HEAT);
            if self.body_bytes(function) < WATCHED_FROM {
                // Its bursts leave for that.
                self.request(function, Entrance::Loop(offset), Tier::Optimizing, false);
            }
        }
        if asks {
            self.ask_kept();
        }
    }

    fn ask_kept(&self) {
        let elapsed = self.shared.started.elapsed();
        let pays = |function: u32| elapsed >= expected_compile_time(Tier::Optimizing, self.body_bytes(function)) * COMPILES;
        let left_alone = self.trials.to_be_left_alone();
        let words: Arc<[i32]> = {
            let mut state = lock(&self.sights.state);
            let asked = state.functions.iter().filter(|&&function| pays(function) && left_alone != Some(function));
            let own = asked.filter_map(|&function| self.module.defined(function));
            let words: Vec<i32> = own.flat_map(|own| self.module.loop_polls(own)).collect();
            state.asked = words.into();
            state.asked.clone()
        };
        if words.is_empty() {
            return;
        }
        let published = self.published();
        self.sights.open.store(true, Ordering::SeqCst);
        self.sights.asked.store(BEGUN, Ordering::SeqCst);
        self.ask_loops(&published, &words);
        if self.sights.asked.compare_exchange(BEGUN, ticks(), Ordering::SeqCst, Ordering::SeqCst).is_err() {
            // One came while the words were written: those written since ask for nothing.
            take_back(&published, &words);
        }
    }

    /// A loop came that was asked. If all kept code was, and it is the first of it in any instance, it was seen; the rest of its instance is left alone.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn seen_at(&self, context: *mut VmContext, function: u32, offset: u32) {
        if !self.sights.open.load(Ordering::Relaxed) {
            return;
        }
        let Some(mut state) = try_lock(&self.sights.state) else { return };
        if !state.asked.contains(&self.loop_word(function, offset)) {
            return; // asked for a burst
        }
        let asked = self.sights.asked.swap(0, Ordering::SeqCst);
        let took = if asked == BEGUN { 0.0 } else { ticks().saturating_sub(asked) as f64 * self.shared.ns_per_tick() };
        if asked != 0 && took <= AT_ONCE_NS {
            *state.seen.entry((function, offset)).or_default() += 1;
        }
        // SAFETY: the caller's promise.
        unsafe { stop_asking(context, &state.asked) };
    }
}

/// Takes a question back in all instances. (Their back edges pass again from the monitor's next tick on.)
fn take_back(published: &Published, words: &[i32]) {
    for context in &published.instances {
        // SAFETY: in the list, so live (see `ContextPointer`).
        unsafe { stop_asking(context.0, words) };
    }
}

/// The same in one instance.
///
/// # Safety
/// `context` is a live context of the module whose words these are.
unsafe fn stop_asking(context: *mut VmContext, words: &[i32]) {
    for &word in words {
        // SAFETY: the caller's promise.
        unsafe { stop_asking_loop(context, word) };
    }
}
