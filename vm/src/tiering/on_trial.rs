//! Joint bursts in what is on trial. A trial is on for most of a program's first seconds, and what it is of is what the program does: a burst that begins in what a tried loop calls
//! sees nothing of the loop, whose arms do not poll.
//!
//! So a question to all waits for the end of a pair where one is under way: the burst begins there, in place of the next pair, and spoils no block. Who came meanwhile is asked again. What runs its
//! blocks elsewhere, or so seldom that nobody waits for it, joins where it comes, and its pair begins anew.

use super::ModuleCode;
use super::arms::{Arms, owner_of};
use super::bursts::Form;
use super::trial::{Active, Stage};
use crate::burst::{AT_ENTRY, Kind, ticks};
use crate::code::Entrance;
use crate::layout::VmContext;
use crate::runtime::store_state;
use std::sync::atomic::Ordering;

/// What is on trial is waited for twice as long as its last step took, or for so many of the shortest blocks: afterwards its loop has ended. A guess.
const LEAST_AWAITED: u64 = 4;

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
        let at = match candidate.entrance {
            Entrance::Body => AT_ENTRY,
            Entrance::Loop(offset) => offset,
        };
        let key = (candidate.function, at);
        // SAFETY: the caller's promise.
        let owner = unsafe { owner_of(context) };
        candidate.arms.as_mut().filter(|arms| arms.are_of(owner)).map(|arms| act(key, arms))
    }

    /// Whether something else than this entrance is on trial, and likely to be in the middle of a block: a burst that began now would see nothing of it, and one of that kind can begin where its pair ends.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn is_in_block_of_other(&self, context: *mut VmContext, function: u32, offset: u32, kind: Kind) -> bool {
        let in_block = |key: (u32, u32), arms: &mut Arms| {
            let takes_part = match self.instrumented(key.0, key.1) {
                Some((form, _)) => form.says(kind) && (key.1 != AT_ENTRY || matches!(form, Form::Code(_))),
                None => false,
            };
            // (where the loop has ended since nobody says so)
            let since = ticks().saturating_sub(arms.came);
            let awaited = (LEAST_AWAITED * arms.blocks.least_ticks()).max(2 * arms.lasted);
            takes_part && key != (function, offset) && arms.in_block && since < awaited
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
                    AT_ENTRY => self.exchange(context, function, true),
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
        let open = unsafe { (*store_state(context)).burst.as_ref() }.and_then(|burst| burst.open.as_ref());
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
            let between = |key, arms: &mut Arms| key == (function, offset) && arms.blocks.is_between_pairs();
            self.on_trial(context, between).filter(|&between| between)?;
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
        let joins = unsafe {
            let state = &*store_state(context);
            let open = state.burst.as_ref().and_then(|burst| burst.open.as_ref());
            open.is_some_and(|open| open.joint) && state.context.burst_index < state.context.burst_limit
        };
        // SAFETY: the caller's promise.
        if !joins && !unsafe { self.is_asked_jointly(context) } {
            return None;
        }
        let (Form::Code(instrumented), _) = self.instrumented(function, AT_ENTRY)? else { return None };
        let own = self.module.defined(function)?;
        let exchange = |key, arms: &mut Arms| {
            let comes = key == (function, AT_ENTRY) && (joins || arms.blocks.is_between_pairs());
            let gate = arms.new.gate().filter(|_| comes)?;
            arms.interrupt();
            // SAFETY: the caller's promise.
            unsafe { self.exchange_entry(context, own, gate, instrumented) };
            Some(instrumented)
        };
        // SAFETY: as above.
        unsafe { self.on_trial(context, exchange) }?
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
            Some(())
        };
        // SAFETY: as above.
        unsafe { self.on_trial(context, exchange) }.flatten().is_some()
    }
}
