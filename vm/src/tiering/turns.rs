//! Whose turn it is: which candidate is tried next, and when a trial makes room for the others.

use super::ModuleCode;
use super::trial_state::{COMPILES_SAVED, Candidate, Stage, State};
use super::verdict::{Reason, Verdict};
use crate::code::{Entrance, Tier};
use crate::queue::Work;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What a trial takes besides its compiles: one that shows nothing takes some 100 to 250 ms, and one runs at a time.
const TRIAL_TAKES: Duration = Duration::from_millis(150);
/// How long the best candidate's compiles are saved for. A guess.
const WAITED_FOR: Duration = Duration::from_secs(4);
/// So many times what trials' compiles may take where the program has a processor of its own beside them. (At 5 % CPython's evaluation loop, whose arms take half a second, was tried after eight to ten seconds.)
const ELSEWHERE: f64 = 4.0;
/// Versions that a trial compiles.
const ARMS: f64 = 2.0;
/// A trial that waits longer than this for its code to run lets the next one go first: what runs at all in this part of the program runs every few milliseconds. (It was 250 ms. Yosys goes through one pass after
/// the other, so that most of those that wait are of a pass that is over: a round of them took as long as a quarter of the run.)
const MOST_IDLE: Duration = Duration::from_millis(40);
/// Turns in a row that go by so until it is over.
const MOST_IDLE_TURNS: u32 = 50;
/// After this long without any block its thread may have ended.
const GONE: Duration = Duration::from_millis(250);
/// A trial whose blocks are short and that has no verdict after this long lets the others go first, too: its code runs now and then, and they waited six seconds for one of Yosys'. Most take a quarter of that.
const LONGEST_TURN: Duration = Duration::from_secs(1);
/// The same where blocks take long. (It was without end: of a function that all callers have inlined only the interpreter's rounds behind bursts call the body, and those that waited waited for ever.)
const LONGEST_TURN_OF_LONG_BLOCKS: Duration = Duration::from_secs(5);
/// A trial without any block for this long is over.
const MOST_WAIT: Duration = Duration::from_secs(5);

impl ModuleCode {
    /// Has a compile thread start the next trial if none runs.
    pub(super) fn next_trial(self: &Arc<Self>) {
        let mut state = self.trials.lock();
        let waits = state.active.is_none() && !state.waiting.is_empty();
        let now = waits && state.has_paid() && self.affordable(&mut state).is_some();
        self.trials.postponed.store(waits && !now, Ordering::Relaxed);
        if now {
            self.shared.queue.push_work(self, Work::Trial);
        }
    }

    /// Index of the candidate that promises most for the time it takes, once its compiles are paid for. It is waited for while that is soon: the small ones that are always
    /// affordable would keep the large one, which matters more than all of them, from ever being so (eleven seconds of CPython saw no trial of its evaluation
    /// loop). Otherwise the best of those that are paid for. Of equals the one that waits longest.
    pub(super) fn affordable(&self, state: &mut State) -> Option<usize> {
        let trials = &self.shared.config.trials;
        if trials.try_same {
            return (!state.waiting.is_empty()).then_some(0);
        }
        let factor = if self.shared.compile_costs.alone { 1.0 } else { ELSEWHERE };
        let percent = trials.compile_percent * factor;
        let left = state.compiles_left(trials.compile_percent, factor);
        let costs = |candidate: &Candidate| match candidate.arms {
            Some(_) => 0.0,
            None => self.time_of_arms(candidate.function).as_nanos() as f64,
        };
        let missing = |candidate: &Candidate| costs(candidate).min(COMPILES_SAVED.as_nanos() as f64) - left;
        // Once each: what compiles cost is measured meanwhile, and an order that changes under a sort may panic.
        let promises: Vec<f64> =
            state.waiting.iter().map(|candidate| candidate.promises() / (costs(candidate) + TRIAL_TAKES.as_nanos() as f64)).collect();
        let mut order: Vec<usize> = (0..state.waiting.len()).collect();
        order.sort_by(|&a, &b| promises[b].total_cmp(&promises[a]));
        let soon = WAITED_FOR.as_nanos() as f64 * percent / 100.0;
        let first = *order.first()?;
        match missing(&state.waiting[first]) {
            // What is compiled already goes on meanwhile.
            missing if missing > 0.0 && missing <= soon => order.into_iter().find(|&index| state.waiting[index].arms.is_some()),
            _ => order.into_iter().find(|&index| missing(&state.waiting[index]) <= 0.0),
        }
    }

    /// How long a trial's arms are expected to take to compile.
    pub(super) fn time_of_arms(&self, function: u32) -> Duration {
        Duration::from_nanos((ARMS * self.shared.compile_costs.expected(Tier::Optimizing, self.body_bytes(function))) as u64)
    }

    /// Leads running code into the running trial: through its poll, or by the function's entry.
    pub(super) fn call_to_trial(&self) {
        let published = self.published();
        let state = self.trials.lock();
        let Some(candidate) = state.running() else { return };
        let Some(arms) = &candidate.arms else { return };
        match candidate.entrance {
            Entrance::Loop(offset) => self.ask_loop(&published, candidate.function, offset),
            Entrance::Body => {
                let own = self.module.defined(candidate.function).expect("only defined functions are tried");
                // A block that is under way goes on, unless something else has set the word.
                if arms.began.is_none() || !self.counts_units(own, arms.units) {
                    self.count_units(own, arms.units);
                }
                arms.new.lead_gate(arms.version(arms.arm).address());
                let Some(gate) = arms.new.gate() else { return };
                let ordinary = self.functions[own].entry.load(Ordering::Acquire) as usize;
                // The others have nothing to do with it.
                let of_trial = |context: usize| arms.owner.is_none_or(|(_, owner)| owner == context);
                for context in published.instances.iter().filter(|context| of_trial(context.0 as usize)) {
                    // SAFETY: in the list, so live (see `ContextPointer`).
                    unsafe {
                        if self.trials.idles() {
                            // Where bursts have the entry they put the gate back.
                            self.exchange_entry(context.0, own, ordinary, gate);
                        } else {
                            self.enter_by(context.0, own, gate);
                        }
                    }
                }
            }
        }
    }

    /// The monitor's look now and then: lets loops pass their polls again, wakes up a trial that nobody runs, lets another go first, or ends it.
    pub(crate) fn tend(self: &Arc<Self>) {
        self.let_pass();
        if self.trials.postponed.load(Ordering::Relaxed) {
            self.next_trial();
        }
        if !self.has_active_trial() {
            return;
        }
        let over = {
            let mut state = self.trials.lock();
            let others = !state.waiting.is_empty();
            let State { active, held_up, .. } = &mut *state;
            let Some(active) = active else { return };
            // A look at what is in force already, where the function is called; but it stays in its loop, of which more is known by now.
            let holds_up = !active.candidate.gone.is_empty() && held_up.contains(&active.candidate.function);
            let Some(arms) = &mut active.candidate.arms else { return };
            if active.stage != Stage::Running {
                return;
            }
            let long = self.trials.long_blocks.load(Ordering::Relaxed);
            let had_turn = others && arms.turn.elapsed() > if long { LONGEST_TURN_OF_LONG_BLOCKS } else { LONGEST_TURN };
            if arms.progress != active.seen {
                arms.idle_turns = 0;
                if !had_turn {
                    active.seen = arms.progress;
                    return;
                }
            }
            if arms.turn.elapsed() > MOST_IDLE && arms.idles(self.ticks_in(MOST_IDLE)) {
                self.trials.idles.store(true, Ordering::Relaxed);
            }
            let idle = arms.moved.elapsed();
            if idle > GONE {
                arms.owner = None;
            }
            let idles = idle > MOST_IDLE && others;
            arms.idle_turns += u32::from(idles);
            let ends = idle > MOST_WAIT || idle > GONE && holds_up || arms.idle_turns > MOST_IDLE_TURNS;
            if ends || had_turn || idles {
                self.trials.function.store(u32::MAX, Ordering::Release);
                state.active.take().map(|active| (active.candidate, ends))
            } else {
                None
            }
        };
        let Some((candidate, ends)) = over else {
            return self.call_to_trial();
        };
        if ends {
            return self.end_early(candidate, Verdict::Abandoned(Reason::Idle));
        }
        if candidate.entrance == Entrance::Body {
            self.restore_entry(candidate.function);
        }
        self.trials.lock().waiting.push_back(candidate);
        self.next_trial();
    }
}
