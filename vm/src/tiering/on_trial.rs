//! Joint bursts in what is on trial. A trial is on for most of a program's first seconds, and what it is of is what the program does: a burst that begins in what a tried loop calls
//! sees nothing of the loop, whose arms do not poll.
//!
//! So a question to all waits for the end of a pair where one is under way: the burst begins there, in place of the next pair, and spoils no block. Who came meanwhile is asked again. What comes to its
//! blocks' ends so seldom that nobody waits for it joins where it comes, and its pair begins anew. Between two such interruptions a pair runs in any case.

use super::ModuleCode;
use super::arms::{Arms, owner_of};
use super::bursts::{Form, candidate_offset};
use super::trial_state::{Active, Stage};
use crate::burst::{AT_ENTRY, Kind, ticks};
use crate::layout::VmContext;
use crate::runtime::store_state;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What is on trial is waited for twice as long as its last step took: afterwards its loop has ended, or it is no more likely to come than anything else. At least so many of the shortest blocks, and
/// unless these take longer at most so long, or all bursts of a trial would begin where its blocks end. Guesses.
const LEAST_AWAITED: u64 = 4;
const MOST_AWAITED: Duration = Duration::from_millis(2);

impl ModuleCode {
    /// Does something with the arms of what is on trial, at a function's entrance ([`AT_ENTRY`] or a loop's offset), if that runs its blocks in this context. Meanwhile the trial does not end, so
    /// whoever ends it finds what was left. `None` too while another thread looks at it: for what is asked here, which is asked again.
    ///
    /// # Safety
    /// `context` is a live context of this module.
    unsafe fn on_trial<R>(&self, context: *mut VmContext, act: impl FnOnce((u32, u32), &mut Arms) -> R) -> Option<R> {
        if !self.has_active_trial() {
            return None;
        }
        let mut state = self.trials.try_lock()?;
        let Active { candidate, stage: Stage::Running, .. } = state.active.as_mut()? else { return None };
        let key = (candidate.function, candidate_offset(candidate.entrance));
        // SAFETY: the caller's promise.
        let owner = unsafe { owner_of(context) };
        candidate.arms.as_mut().filter(|arms| arms.are_of(owner)).map(|arms| act(key, arms))
    }

    /// What of it runs in bursts in its place. (A large body's form is interpreted, and its resolver counts for the trial.)
    fn form_on_trial(&self, (function, at): (u32, u32)) -> Option<Form> {
        let form = self.instrumented(function, at)?.0;
        (at != AT_ENTRY || matches!(form, Form::Code(_))).then_some(form)
    }

    /// The entrance that is on trial, if it begins bursts by itself.
    pub(super) fn tried_that_comes(&self) -> Option<(u32, u32)> {
        if self.trials.idles() {
            return None;
        }
        let key = self.trials.lock().running().map(|candidate| (candidate.function, candidate_offset(candidate.entrance)))?;
        self.form_on_trial(key).map(|_| key)
    }

    /// Whether something else than this entrance is on trial, and likely to be in the middle of a block: a burst that began now would see nothing of it, and one of that kind can begin where its pair ends.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn is_in_block_of_other(&self, context: *mut VmContext, function: u32, offset: u32, kind: Kind) -> bool {
        let in_block = |key: (u32, u32), arms: &mut Arms| {
            let takes_part = self.form_on_trial(key).is_some_and(|form| form.says(kind));
            // (where the loop has ended since nobody says so)
            let since = ticks().saturating_sub(arms.came);
            let awaited = (2 * arms.lasted).min(self.ticks_in(MOST_AWAITED)).max(LEAST_AWAITED * arms.blocks.least_ticks());
            takes_part && key != (function, offset) && arms.in_block && arms.may_be_interrupted() && since < awaited
        };
        // SAFETY: the caller's promise.
        unsafe { self.on_trial(context, in_block) }.unwrap_or(false)
    }

    /// Code of a function leaves for a burst: if that function is on trial, the block that ran does not count.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn interrupt_block(&self, context: *mut VmContext, function: u32) {
        if self.trials.concern(function) {
            // SAFETY: the caller's promise.
            unsafe { self.on_trial(context, |_, arms| arms.interrupt()) };
        }
    }

    /// A burst is over, which may have taken the place of the loop on trial: that one comes to its trial again.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn ask_tried_loop(&self, context: *mut VmContext) {
        let ask = |(function, at), arms: &mut Arms| {
            if at != AT_ENTRY && arms.interrupted {
                // SAFETY: the caller's promise.
                unsafe { self.ask_loop_of(context, function, at) };
            }
        };
        // SAFETY: the caller's promise.
        unsafe { self.on_trial(context, ask) };
    }

    /// Whether all are asked and this store has not answered.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    unsafe fn is_asked_jointly(&self, context: *mut VmContext) -> bool {
        let asked = self.bursts.asked_jointly.load(Ordering::Relaxed);
        // SAFETY: the caller's promise; nothing else uses the store now.
        asked != 0 && unsafe { (*store_state(context)).burst.as_ref() }.is_none_or(|burst| burst.answered != asked)
    }

    /// A burst begins in which all take part: those that came before and were told to wait for it are asked again.
    ///
    /// # Safety
    /// As [`Self::begin_burst`].
    pub(super) unsafe fn ask_who_was_turned_away(&self, context: *mut VmContext) {
        // SAFETY: the caller's promise; nothing else uses the store now.
        let Some(burst) = (unsafe { (*store_state(context)).burst.as_mut() }) else { return };
        let own: Vec<_> = burst.turned_away.extract_if(.., |&mut (of, ..)| of == context as usize).collect();
        for (_, function, offset) in own {
            // SAFETY: as above.
            unsafe {
                match offset {
                    AT_ENTRY => self.ask_body_here(context, function),
                    _ => self.ask_loop_of(context, function, offset),
                }
            }
        }
    }

    /// Whether code that ran lately writes for a burst.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn is_in_burst(&self, context: *mut VmContext) -> bool {
        // SAFETY: the caller's promise; nothing else uses the store now.
        let open = unsafe { (*store_state(context)).open_burst() };
        open.is_some_and(|open| !self.is_stale(open))
    }

    /// The loop on trial came to a step's end: where all are asked and its next pair has not begun, a burst does in its stead.
    ///
    /// # Safety
    /// As [`Self::begin_burst`].
    pub(super) unsafe fn begin_burst_on_trial(&self, context: *mut VmContext, function: u32, offset: u32) -> Option<Form> {
        // SAFETY: the caller's promise.
        let form = unsafe {
            if !self.is_asked_jointly(context) {
                return None;
            }
            let between = |key, arms: &mut Arms| {
                let comes = key == (function, offset) && arms.makes_room();
                comes.then(|| arms.there_since())
            };
            let since = self.on_trial(context, between).flatten()?;
            if let Some(burst) = &mut (*store_state(context)).burst {
                burst.is_present(since);
            }
            self.begin_burst_of(context, function, offset, true)?
        };
        // SAFETY: as above.
        unsafe { self.interrupt_block(context, function) };
        Some(form)
    }

    /// The body on trial came to a step's end: its instrumented code, which takes its gate's place where all are asked and its next pair has not begun, or a burst is under way in which all take part.
    ///
    /// # Safety
    /// As [`Self::begin_burst`], from the resolver.
    pub(super) unsafe fn instrument_tried_body(&self, context: *mut VmContext, function: u32) -> Option<usize> {
        // SAFETY: the caller's promise; nothing else uses the store now.
        let state = unsafe { &mut *store_state(context) };
        let open = state.open_burst().filter(|open| !self.is_stale(open));
        let joins = open.is_some_and(|open| open.joint) && state.context.burst_index < state.context.burst_limit;
        // SAFETY: the caller's promise.
        let begins = open.is_none() && self.shared.budget.has_credit() && unsafe { self.is_asked_jointly(context) };
        if !joins && !begins {
            return None;
        }
        let Form::Code(instrumented) = self.form_on_trial((function, AT_ENTRY))? else { return None };
        let own = self.module.defined(function)?;
        let exchange = |key, arms: &mut Arms| {
            let comes = if joins { arms.may_be_interrupted() } else { arms.makes_room() };
            let comes = comes && key == (function, AT_ENTRY);
            let gate = arms.new.gate().filter(|_| comes)?;
            arms.interrupt();
            // SAFETY: the caller's promise.
            unsafe { self.exchange_entry(context, own, gate, instrumented) };
            Some(arms.there_since())
        };
        // SAFETY: as above.
        let since = unsafe { self.on_trial(context, exchange) }.flatten()?;
        if begins {
            if let Some(burst) = &mut state.burst {
                burst.is_present(since);
            }
            if state.burst.as_ref().is_none_or(|burst| burst.open.is_none()) {
                // Its entry asks at once.
                (state.context.burst_index, state.context.burst_limit) = (0, 0);
            }
        }
        Some(instrumented)
    }

    /// A body is asked whose trial waits for calls that do not come: its instrumented code takes its gate's place, if it is that.
    ///
    /// # Safety
    /// `context` is a live context of this module.
    pub(super) unsafe fn instrument_idle_body(&self, context: *mut VmContext, function: u32, instrumented: usize) {
        let Some(own) = self.module.defined(function).filter(|_| self.trials.try_body(function) && self.trials.idles()) else { return };
        let exchange = |key, arms: &mut Arms| {
            if let Some(gate) = arms.new.gate().filter(|_| key == (function, AT_ENTRY)) {
                arms.interrupt();
                // SAFETY: the caller's promise.
                unsafe { self.exchange_entry(context, own, gate, instrumented) };
            }
        };
        // SAFETY: as above.
        unsafe { self.on_trial(context, exchange) };
    }

    /// Puts the gate of a body that is on trial in the place of its instrumented code. False where it is not, or not here.
    ///
    /// # Safety
    /// `context` is a live context of this module.
    pub(super) unsafe fn restore_gate(&self, context: *mut VmContext, function: u32, instrumented: usize) -> bool {
        let Some(own) = self.module.defined(function).filter(|_| self.trials.try_body(function)) else { return false };
        let exchange = |key, arms: &mut Arms| {
            let gate = arms.new.gate().filter(|_| key == (function, AT_ENTRY))?;
            // SAFETY: the caller's promise.
            unsafe { self.exchange_entry(context, own, instrumented, gate) };
            if arms.interrupted {
                // What is left of the block is none: the next call begins a pair.
                self.counters[own].store(0, Ordering::Relaxed);
            }
            Some(())
        };
        // SAFETY: as above.
        unsafe { self.on_trial(context, exchange) }.flatten().is_some()
    }
}
