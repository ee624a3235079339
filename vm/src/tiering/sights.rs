//! Which loops of code that an earlier process left are hot here. That code counts nothing, so no hot record names them, and what the earlier run was too short to learn would never be.
//!
//! From time to time the monitor's thread asks all of them to come ([`ModuleCode::look_around`]). The moment is its own, so whichever loop comes first is one that the program spends its time in: a sample
//! of the program counter with the polls in place of a timer's signal. That loop becomes a candidate for bursts and the others are not asked any more. Its activation goes on in the interpreter, as from any
//! poll, where it becomes hot as in a first run.

use super::ModuleCode;
use super::edges::{ask_loop, stop_asking_loop};
use super::thresholds::WATCHED_FROM;
use crate::burst::ticks;
use crate::code::{Entrance, Tier};
use crate::engine::{lock, try_lock};
use crate::layout::VmContext;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What comes later after it was asked is not what the program spends its time in, ns. A guess.
const SOON_NS: f64 = 2e6;
/// Events that a loop which comes at once is taken to have had; one that takes longer has fewer, in inverse proportion from `AT_ONCE_NS` on.
const MOST_HEAT: f64 = 1e6;
/// See `MOST_HEAT`.
const AT_ONCE_NS: f64 = 10e3;
/// Questions that find nothing new double the ticks until the next one, up to this many.
const MOST_PAUSE: u32 = 64;

/// The looks at a module's kept code.
#[derive(Default)]
pub(super) struct Sights {
    /// When all were asked, ticks; 0 where nobody is asked, or one came.
    asked: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Functions whose kept code was published since the latest look.
    published: Vec<u32>,
    /// Those with loops that have not been seen.
    functions: Vec<u32>,
    /// The first that came of each question: function, loop, ns that it took.
    seen: Vec<(u32, u32, f64)>,
    /// Ticks until the next question, and after how many the one after it comes.
    due_in: u32,
    pause: u32,
}

impl ModuleCode {
    /// Kept code of a function was published that counts nothing.
    pub(super) fn look_for(&self, function: u32) {
        lock(&self.sights.state).published.push(function);
    }

    /// The monitor's tick: takes in what was seen, and asks again if it is time.
    pub(super) fn look_around(self: &Arc<Self>) {
        let (seen, asks) = {
            let mut state = lock(&self.sights.state);
            let published = std::mem::take(&mut state.published);
            let has_loops = |own: usize| self.module.loop_polls(own).next().is_some();
            state.functions.extend(published.into_iter().filter(|&function| self.module.defined(function).is_some_and(has_loops)));
            if state.functions.is_empty() && state.seen.is_empty() {
                return;
            }
            let seen = std::mem::take(&mut state.seen);
            state.functions.retain(|function| seen.iter().all(|(of, ..)| of != function));
            if !seen.is_empty() {
                (state.pause, state.due_in) = (1, 0);
            }
            let asks = state.due_in == 0 && !state.functions.is_empty();
            if asks {
                state.due_in = state.pause.max(1);
                state.pause = (2 * state.pause).clamp(1, MOST_PAUSE);
            }
            state.due_in = state.due_in.saturating_sub(1);
            (seen, asks)
        };
        for (function, offset, took) in seen {
            tracing::debug!(function, offset, took, "seen in kept code");
            let heat = MOST_HEAT * (AT_ONCE_NS / took.max(AT_ONCE_NS));
            self.any_candidate(function, offset, heat as u64, 0, true);
            self.watch_loops(function, heat as u64);
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
        let functions = lock(&self.sights.state).functions.clone();
        let words: Vec<i32> =
            functions.iter().filter_map(|&function| self.module.defined(function)).flat_map(|own| self.module.loop_polls(own)).collect();
        let published = self.published();
        self.sights.asked.store(ticks(), Ordering::SeqCst);
        for context in &published.instances {
            for &word in &words {
                // SAFETY: in the list, so live (see `ContextPointer`), and the word is the module's.
                unsafe { ask_loop(context.0, word) };
            }
        }
        self.edges.poll(words, |word| published.ask(word));
    }

    /// A loop came that was asked. If all kept code was, and it is the first of it, it was seen, and the rest is left alone.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn seen_at(&self, context: *mut VmContext, function: u32, offset: u32) {
        if self.sights.asked.load(Ordering::Relaxed) == 0 {
            return;
        }
        let Some(mut state) = try_lock(&self.sights.state) else { return };
        if !state.functions.contains(&function) {
            return; // asked for a burst
        }
        let asked = self.sights.asked.swap(0, Ordering::SeqCst);
        if asked == 0 {
            return;
        }
        let took = ticks().saturating_sub(asked) as f64 * self.shared.ns_per_tick();
        if took <= SOON_NS {
            state.seen.push((function, offset, took));
        }
        for own in state.functions.iter().filter_map(|&function| self.module.defined(function)) {
            for word in self.module.loop_polls(own) {
                // SAFETY: the caller's promise, and the word is the module's.
                unsafe { stop_asking_loop(context, word) };
            }
        }
        // (their back edges pass again from the monitor's next tick on)
    }
}
