//! Bursts of functions that are still interpreted, so that their first compile knows something.
//!
//! A large program's time lies in hundreds of functions, of which each is too small a part of it for bursts to see often, and for a trial of its own soon (Yosys: the largest takes 3 %, and a run of ten
//! seconds had ten trials). But each of them ran in the interpreter first. Where its countdown runs out there its hot record waits while the function goes on in its [watched form](super::watched), for so many events or
//! words, in a burst that only counts. So the record's compile knows where branches go and which calls are made often: its *first plan* has the decisions that cost nothing while they run, layouts and inlined
//! direct calls. There is no older code that these could be timed against. Whatever else is decided is tried as ever, and so is what the records speak against later ([`super::drift`]).
//!
//! ```text
//! hot_call, hot_loop ──► begin_early ──► go_on_early (each event) ──► full, or so many events ──► records, then the hot record ──► compile ──► first_plan
//! ```
//!
//! What such bursts count says nothing of how often a function runs, for each has its share of them: it stands apart in the profile, and is forgotten with the first plan.

use super::ModuleCode;
use crate::burst::{Kind, Open, StoreBurst, ticks};
use crate::engine::FeedbackPolicy;
use crate::layout::VmContext;
use crate::runtime::store_state;
use lwp_feedback::codemap::FunctionId;
use lwp_feedback::policy::{Budgets, Decision, Plan};
use lwp_feedback::ring::refresh_core_id;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Words of such a burst.
const WORDS: u32 = 512;
/// Events of a function for which its record waits for one, at most.
const EVENTS: u32 = 64;
/// Such bursts of a function, at most.
const MOST: u32 = 2;
/// Calls counted from which on a callee is inlined by a first plan. A guess.
const FEWEST_SAMPLES: u64 = 4;
/// The longest that making a form may take, on the thread that runs the program.
const MOST_FORM: Duration = Duration::from_micros(300);

impl ModuleCode {
    /// The interpreter is about to write a function's hot record, at its entry or at a loop's header. True where it waits: the function runs in its watched form for the next so many events, and what these say comes
    /// before the record, whose compile is to know it.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn begin_early(&self, context: *mut VmContext, function: u32, offset: u32) -> bool {
        if !self.counts_early(function) {
            return false;
        }
        // SAFETY: the caller's promise; nothing else uses the store now.
        let state = unsafe { &mut *store_state(context) };
        if let Some(open) = state.open_burst() {
            if !open.early {
                return false;
            }
            // SAFETY: as above.
            unsafe { self.end_burst(context) };
        }
        let own = self.own(function);
        // (templates come first: a record that is only for them is none)
        if own.early.load(Ordering::Relaxed) >= MOST || state.context.burst_limit != 0 || !self.bytecode(function).asked_for_templates() {
            return false;
        }
        let shared = &self.shared;
        let may = shared.budget.has_early_credit() && self.time_of_form(function) <= MOST_FORM;
        if !may && !shared.config.stress.follow_calls {
            return false;
        }
        let before = ticks();
        let made = self.watched(function, false);
        let began = ticks();
        shared.budget.spent_on_early_form(began.saturating_sub(before) as f64 * shared.ns_per_tick());
        let Some(made) = made.filter(|made| made.can_begin(offset)) else { return false };
        own.early.fetch_add(1, Ordering::Relaxed);
        shared.profile.expect_branches();
        // SAFETY: the running store's LWPCB is this thread's ring.
        unsafe { refresh_core_id(state.context.lwpcb.cast()) };
        let burst = state.burst.get_or_insert_with(|| Box::new(StoreBurst::new(shared.config.ring.seed)));
        burst.open = Some(Open {
            module: self.key,
            kind: Kind::Counts,
            version: made.version(),
            offset,
            function,
            joint: false,
            followed: false,
            early: true,
            registers: false,
            running_since: began,
            ticks: 0,
            began,
            waited_us: 0,
        });
        (state.context.burst_index, state.context.burst_limit) = (0, WORDS);
        (state.context.burst_registers, state.context.burst_timing) = (0, 0);
        let own = self.module.defined(function).expect("it runs");
        let came = self.came(own);
        self.functions[own].due.store(came.saturating_add(EVENTS), Ordering::Relaxed);
        self.look_from(own, came);
        true
    }

    /// At an event of a function that has an early burst, whose record waits: it runs in its watched form.
    ///
    /// # Safety
    /// As [`Self::begin_early`].
    pub(super) unsafe fn go_on_early(&self, context: *mut VmContext, function: u32) {
        // SAFETY: the caller's promise; nothing else uses the store now.
        let state = unsafe { &mut *store_state(context) };
        let Some(burst) = &mut state.burst else { return };
        let Some(open) = burst.open.as_mut().filter(|open| open.early && open.module == self.key && open.function == function) else {
            return;
        };
        if state.context.burst_index < state.context.burst_limit {
            open.running_since = ticks();
            burst.unwatch();
            burst.watch(function);
        } else if let Some(own) = self.module.defined(function) {
            // SAFETY: as above.
            unsafe { self.end_burst(context) };
            // It is full: the record is due at the next event.
            let came = self.came(own);
            self.functions[own].due.store(came + 1, Ordering::Relaxed);
            self.count_on(own, came, came + 1);
        }
    }

    /// Whether a function's countdown goes on in its watched form: it is not compiled yet, and its record waits for the burst.
    pub(crate) fn counts_early(&self, function: u32) -> bool {
        self.sees_early() && self.compiled(function).is_null()
    }

    /// The same where the function runs in its watched form: it may be another burst that it does so for.
    ///
    /// # Safety
    /// As [`Self::begin_early`].
    pub(crate) unsafe fn counts_early_in(&self, context: *mut VmContext, function: u32) -> bool {
        // SAFETY: the caller's promise; nothing else uses the store now.
        let open = unsafe { (*store_state(context)).open_burst() };
        open.is_none_or(|open| open.early) && self.counts_early(function)
    }

    /// Whether functions of this module have such bursts.
    fn sees_early(&self) -> bool {
        let config = &self.shared.config;
        let acts = config.feedback == FeedbackPolicy::Lwp && config.plans.is_none() && config.policy.makes_first_plans();
        acts && self.follows_calls() && self.tries() && self.skips_baseline()
    }

    /// A function is compiled to a plan that it had before: what was counted for its first plan is not wanted.
    pub(super) fn forget_early(&self, function: u32) {
        if self.begins_first_plan(function) {
            self.shared.profile.function_for_first_compile(FunctionId { module: self.key, func: function });
        }
    }

    /// Whether this is a function's first compile, of those that have first plans.
    fn begins_first_plan(&self, function: u32) -> bool {
        self.sees_early() && !self.own(function).first_planned.swap(true, Ordering::Relaxed)
    }

    /// What the first code of a function is to be compiled to: of what the policy wants, what costs nothing while it runs.
    pub(super) fn first_plan(&self, function: u32) -> Option<Arc<Plan>> {
        if !self.begins_first_plan(function) {
            return None;
        }
        // No compile of its own has to pay, and nothing waits for more samples. What trials prove is to have room besides.
        let usual = &self.shared.config.budgets;
        let budgets = Budgets {
            min_saves_us: 0.0,
            min_layout_samples: usual.min_layout_samples.min(FEWEST_SAMPLES),
            max_module_growth: usual.max_module_growth / 2,
            ..usual.clone()
        };
        let id = FunctionId { module: self.key, func: function };
        let plan = self.ask_policy_within(function, &budgets, || self.shared.profile.function_for_first_compile(id))?;
        // (what is decided of those that it inlines holds in their copies)
        let plan = self.composed(function, Some(plan))?;
        let costs_nothing = |decision: &&Decision| match decision {
            Decision::Layout(_) => true,
            Decision::Inline(it) => it.direct,
            _ => false,
        };
        let mut decisions: Vec<Decision> = plan.decisions.iter().filter(costs_nothing).cloned().collect();
        self.retain_not_lost(function, &mut decisions);
        if decisions.is_empty() {
            return None;
        }
        let plan = Plan { function: id, decisions };
        self.note_growth(&plan);
        Some(Arc::new(plan))
    }
}
