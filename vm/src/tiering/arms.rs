//! The arms of a trial on the running thread: it ends each block itself, takes one stamp and goes on in the next arm. It never waits for a compile.
//!
//! A loop's arms come by at their header when their rounds are used up ([`ModuleCode::loop_boundary`]), a body's when the countdown of calls is
//! ([`ModuleCode::call_boundary`]): calls reach the [gate](crate::gate), which counts them, leads to the arm whose block it is, and sends the call that finds the count used up to the resolver, with all it
//! was given.

use super::blocks::{Arm, Blocks, Next, Sizes, Stamp};
use super::thresholds::{MOST_EVENTS, used_up};
use super::trial_state::{Candidate, Stage};
use super::verdict::{LARGE, LARGE_MARGIN, MARGIN, MOST_PAIRS, Reason, Verdict};
use super::{CodeVersion, ModuleCode};
use crate::code::Entrance;
use crate::layout::{VmContext, head};
use crate::runtime::store_state;
use crate::timeline::What;
use lwp_feedback::policy::Decision;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Blocks that may be left before their end for each pair that is whole. Each costs a switch, a microsecond or so, which is many times what a short loop takes.
const MOST_CUT: u32 = 8;

/// A trial that has taken this long without a verdict ends at the next look: others wait for it.
const LONGEST: Duration = Duration::from_secs(1);
/// The program's time that each pair of a trial that is not clear stands for; what is left of it does not count. A program does one thing after the other, and goes round: CPython's
/// `work.py` has five in 110 ms, of which 64 pairs in 42 ms saw some.
const PAIR_STANDS_FOR: Duration = Duration::from_millis(2);
/// Blocks of a body that take longer would hardly ever be whole if bursts began in its loops: these come every 10 ms or so in loops that are new, every 50 ms later.
const LONG_BLOCK: Duration = Duration::from_millis(8);

/// The compiled arms and what was measured so far.
pub(super) struct Arms {
    pub(super) old: Arc<CodeVersion>,
    pub(super) new: Arc<CodeVersion>,
    pub(super) blocks: Blocks,
    pub(super) began: Option<Instant>,
    /// Of what was last run.
    pub(super) arm: Arm,
    pub(super) units: u64,
    /// The candidate has won and is what calls reach now.
    pub(super) linked: bool,
    /// The block in progress is ours: nothing left in between.
    pub(super) in_block: bool,
    /// It is not, since a burst began: no sign that the loop ends before its blocks do.
    pub(super) interrupted: bool,
    /// Of `Blocks::attempts`, when that was last so.
    interrupted_at: Option<u64>,
    /// The store and context it runs in.
    pub(super) owner: Option<(u64, usize)>,
    /// Blocks that were left before their end since there were so many pairs.
    cut: (u32, usize),
    /// Time stamp of the last boundary.
    pub(super) came: u64,
    /// Ticks that the last whole step took.
    pub(super) lasted: u64,
    /// Boundaries so far.
    pub(super) progress: u64,
    pub(super) moved: Instant,
    /// When its turn began: it may have made room for others before.
    pub(super) turn: Instant,
    /// Turns in a row in which nobody came.
    pub(super) idle_turns: u32,
}

impl Arms {
    pub(super) fn version(&self, arm: Arm) -> &Arc<CodeVersion> {
        if arm == Arm::Old { &self.old } else { &self.new }
    }

    /// Whether that store and context run the trial, as far as is known.
    pub(super) fn are_of(&self, owner: (u64, usize)) -> bool {
        self.owner.is_none_or(|known| known == owner)
    }

    /// A burst begins in what is on trial, or takes its place: the block that would run does not count.
    pub(super) fn interrupt(&mut self) {
        (self.in_block, self.interrupted, self.interrupted_at) = (false, true, Some(self.blocks.attempts()));
    }

    /// Whether a burst may begin in it, or take its place: some pair ran since the last one did, or none counts now. A trial comes to its end however many bursts there are.
    pub(super) fn may_be_interrupted(&self) -> bool {
        self.blocks.rests() || self.interrupted_at != Some(self.blocks.attempts())
    }

    /// Whether, right after a step, a burst may take the place of what is to run.
    pub(super) fn makes_room(&self) -> bool {
        self.blocks.is_between_pairs() && self.may_be_interrupted()
    }

    /// Time stamp since which its code is there: the last boundary, or the one before where the step between was whole.
    pub(super) fn there_since(&self) -> u64 {
        self.came.saturating_sub(self.lasted)
    }

    /// Whether nothing has come to a boundary for so many ticks, and for four times as long as a step takes; calls of bursts' code are nothing.
    pub(super) fn idles(&self, ticks: u64) -> bool {
        crate::burst::ticks().saturating_sub(self.came) > ticks.max(4 * self.lasted)
    }

    /// The step after a boundary in `version`; a pair begins anew where the block was not ours.
    fn next(&mut self, version: u32, stamp: Stamp) -> Next {
        self.began.get_or_insert_with(Instant::now);
        self.progress += 1;
        let ours = self.in_block && version == self.version(self.arm).number;
        if self.progress % 64 == 1 || !ours {
            self.moved = Instant::now();
        }
        let pairs = self.blocks.pairs();
        if self.cut.1 != pairs {
            self.cut = (0, pairs);
        }
        let interrupted = std::mem::take(&mut self.interrupted);
        self.cut.0 += u32::from(!ours && !interrupted && !self.blocks.rests());
        let next = if self.cut.0 > MOST_CUT {
            // The loop ends sooner than its blocks: what calls it is to be timed.
            Next::Ended(self.blocks.end(Verdict::Abandoned(Reason::Idle)))
        } else if ours || self.blocks.rests() {
            self.blocks.boundary(stamp)
        } else {
            self.blocks.begin_pair(stamp)
        };
        let since = stamp.ticks.saturating_sub(std::mem::replace(&mut self.came, stamp.ticks));
        self.lasted = if ours { since } else { 0 };
        self.in_block = matches!(next, Next::Run(..));
        if let Next::Run(arm, units) = next {
            self.arm = arm;
            self.units = units;
        }
        next
    }
}

/// What a countdown of calls is set to for so many units.
fn counted(units: u64) -> u64 {
    units.clamp(1, MOST_EVENTS.into())
}

/// The store and context that run.
///
/// # Safety
/// `context` is the running context.
pub(super) unsafe fn owner_of(context: *mut VmContext) -> (u64, usize) {
    // SAFETY: the caller's promise.
    (unsafe { (*store_state(context)).id }, context as usize)
}

impl ModuleCode {
    /// `free`: the candidate is nothing that could cost.
    pub(super) fn arms(&self, old: Arc<CodeVersion>, new: Arc<CodeVersion>, free: bool) -> Arms {
        let config = &self.shared.config.trials;
        let prefetches = new.plan.iter().flat_map(|plan| &plan.decisions).any(|it| matches!(it, Decision::Prefetch(_)));
        let length = if prefetches { config.prefetch_block } else { config.block };
        let loops = matches!(new.entrance, Entrance::Loop(_));
        let sizes = Sizes {
            first_units: if loops { 64 } else { 4 },
            // A call may take a second.
            least_units: if loops { 64 } else { 1 },
            // A body counts in 32 bits; a loop is not to run for minutes where its rounds became longer.
            most_units: 1 << 28,
            least_ticks: self.ticks_in(length),
            most_pairs: if prefetches { 32 } else { MOST_PAIRS },
            ticks_per_pair: if prefetches { 0 } else { self.ticks_in(PAIR_STANDS_FOR) },
            free,
            margin: if old.code_bytes.max(new.code_bytes) >= LARGE { LARGE_MARGIN } else { MARGIN },
            most_ticks: self.ticks_in(LONGEST),
            beside_compiles: !self.shared.compile_costs.alone,
        };
        let seed = config.seed.wrapping_add(u64::from(new.number) << 32);
        Arms {
            blocks: Blocks::new(sizes, seed),
            old,
            new,
            began: None,
            arm: Arm::Old,
            units: sizes.first_units,
            linked: false,
            in_block: false,
            interrupted: false,
            interrupted_at: None,
            owner: None,
            cut: (0, 0),
            came: 0,
            lasted: 0,
            progress: 0,
            moved: Instant::now(),
            turn: Instant::now(),
            idle_turns: 0,
        }
    }

    pub(super) fn count_units(&self, own: usize, units: u64) {
        let units = counted(units) as u32;
        self.functions[own].due.store(units, Ordering::Relaxed);
        self.reloads[own].store(units, Ordering::Relaxed);
        // (the call that comes to a boundary is the block's first, and passes no gate)
        self.counters[own].store(units - 1, Ordering::Relaxed);
    }

    /// Whether the function's countdown is that of a block of so many units.
    pub(super) fn counts_units(&self, own: usize, units: u64) -> bool {
        u64::from(self.reloads[own].load(Ordering::Relaxed)) == counted(units)
    }

    /// Takes the gate of a body's trial out of all calls' way; what calls reach now.
    pub(super) fn restore_entry(&self, function: u32) -> usize {
        let published = self.published();
        let own = self.module.defined(function).expect("only defined functions are tried");
        let entry = self.functions[own].entry.load(Ordering::Acquire) as usize;
        self.set_entry_in_instances(&published, function, entry);
        entry
    }

    /// A poll at a loop header of the function on trial: the arm to go on in.
    ///
    /// # Safety
    /// `context` is the running context; called from the poll's builtin.
    pub(super) unsafe fn loop_boundary(
        self: &Arc<Self>,
        context: *mut VmContext,
        function: u32,
        offset: u32,
        version: u32,
    ) -> Option<usize> {
        let mut state = self.trials.lock();
        let active = state.active.as_mut()?;
        let Candidate { function: tried, entrance, arms: Some(arms), .. } = &mut active.candidate else { return None };
        if *tried != function || *entrance != Entrance::Loop(offset) {
            // A loop of the body on trial was asked, for a burst mostly, and leaves the arm.
            arms.interrupt();
            return None;
        }
        // SAFETY: the caller's promise.
        let owner = unsafe { owner_of(context) };
        if !arms.are_of(owner) {
            return None;
        }
        arms.owner = Some(owner);
        match active.stage {
            Stage::Preparing => return None,
            Stage::Running => {}
            Stage::Settling => {
                // SAFETY: the caller's promise; this thread runs the store.
                unsafe { (*(*head(context)).store).rounds = arms.units };
                return Some(arms.new.address());
            }
        }
        // SAFETY: the caller's promise.
        let stamp = unsafe { self.stamp(context) };
        self.trials.idles.store(false, Ordering::Relaxed);
        if arms.began.is_none() {
            self.note(function, Entrance::Loop(offset), || What::TrialBegan { versions: [arms.old.number, arms.new.number] });
        }
        let next = arms.next(version, stamp);
        match next {
            Next::Run(arm, units) => {
                // Arms do not look at this word; another activation of the function comes here by it.
                // SAFETY: the caller's promise; this thread runs the store.
                unsafe {
                    self.ask_loop_of(context, function, offset);
                    (*(*head(context)).store).rounds = units;
                }
                Some(arms.version(arm).address())
            }
            Next::Ended(judgement) => {
                let address = judgement.verdict.keeps().then(|| {
                    // SAFETY: as above.
                    unsafe { (*(*head(context)).store).rounds = arms.units.max(1) };
                    arms.new.address()
                });
                let loser = self.decide(&mut state, judgement.verdict);
                drop(state);
                self.decided(loser, judgement);
                address
            }
        }
    }

    /// The resolver was asked for a function: the arm to go on in where an arm's calls are used up.
    ///
    /// # Safety
    /// As [`ModuleCode::loop_boundary`], from the resolver.
    pub(super) unsafe fn call_boundary(self: &Arc<Self>, context: *mut VmContext, function: u32) -> Option<usize> {
        let own = self.module.defined(function).filter(|_| self.trials.concern(function))?;
        let left = self.counters[own].load(Ordering::Relaxed);
        if !used_up(left) {
            return None; // a call that came by for another reason
        }
        let (address, candidate) = {
            let mut state = self.trials.lock();
            let active = state.active.as_mut()?;
            let Candidate { function: tried, entrance: Entrance::Body, arms: Some(arms), .. } = &mut active.candidate else { return None };
            if *tried != function || active.stage == Stage::Preparing {
                return None;
            }
            // SAFETY: the caller's promise.
            let owner = unsafe { owner_of(context) };
            if active.stage == Stage::Settling {
                // It is about to be linked, or was already: what calls reach.
                self.count_units(own, MOST_EVENTS.into());
                return None;
            }
            if !arms.are_of(owner) {
                self.count_units(own, MOST_EVENTS.into());
                return Some(arms.version(arms.arm).address());
            }
            // SAFETY: the caller's promise.
            if unsafe { self.is_in_burst(context) } {
                // What its code calls may be inlined wherever the program calls it: such calls are not what keeps a trial going.
                arms.interrupt();
                self.count_units(own, arms.units);
                let arm = arms.version(arms.arm).address();
                drop(state);
                // SAFETY: as above.
                return Some(unsafe { self.instrument_tried_body(context, function) }.unwrap_or(arm));
            }
            self.trials.idles.store(false, Ordering::Relaxed);
            // A side exit, or what else counts the function's events, has counted otherwise meanwhile.
            arms.in_block &= self.counts_units(own, arms.units);
            let others = arms.owner.is_none();
            arms.owner = Some(owner);
            // SAFETY: the caller's promise.
            let stamp = Stamp { beyond: u64::from(!left), ..unsafe { self.stamp(context) } };
            let running = arms.version(arms.arm).number;
            if arms.began.is_none() {
                self.note(function, Entrance::Body, || What::TrialBegan { versions: [arms.old.number, arms.new.number] });
            }
            match arms.next(running, stamp) {
                Next::Run(arm, units) => {
                    arms.new.lead_gate(arms.version(arm).address());
                    if arms.lasted > 0 {
                        let long = arms.lasted as f64 * self.shared.ns_per_tick() > LONG_BLOCK.as_nanos() as f64;
                        self.trials.long_blocks.store(long, Ordering::Relaxed);
                    }
                    self.count_units(own, units);
                    (arms.version(arm).address(), others.then_some(arms.new.number))
                }
                Next::Ended(judgement) => {
                    self.count_units(own, MOST_EVENTS.into());
                    arms.arm = if judgement.verdict.keeps() { Arm::New } else { Arm::Old };
                    let kept = arms.version(arms.arm).address();
                    // (as it will be linked: one more target costs calls more for good)
                    let entry = arms.version(arms.arm).entry();
                    arms.new.lead_gate(kept);
                    // Under the same lock: nobody else ends it.
                    let loser = self.decide(&mut state, judgement.verdict);
                    drop(state);
                    let address = if loser.is_none() {
                        // SAFETY: the caller's promise.
                        unsafe { self.enter_by(context, own, entry) };
                        kept
                    } else {
                        // Before the candidate is retired.
                        self.restore_entry(function)
                    };
                    self.decided(loser, judgement);
                    return Some(address);
                }
            }
        };
        if let Some(candidate) = candidate {
            // SAFETY: the caller's promise.
            unsafe { self.keep_to_trial(context, function, candidate) };
        }
        // SAFETY: as above.
        Some(unsafe { self.instrument_tried_body(context, function) }.unwrap_or(address))
    }

    /// Of all instances only one goes on with a body's trial, if that still runs: another thread may have ended it meanwhile, and what nothing leads to is given up.
    ///
    /// # Safety
    /// `context` is a live context of this module.
    unsafe fn keep_to_trial(&self, context: *mut VmContext, function: u32, candidate: u32) {
        let own = self.module.defined(function).expect("only defined functions are tried");
        let published = self.published();
        let state = self.trials.lock();
        let running = state.running().and_then(|candidate| candidate.arms.as_ref());
        let Some(gate) = running.filter(|arms| arms.new.number == candidate).and_then(|arms| arms.new.gate()) else { return };
        let entry = self.functions[own].entry.load(Ordering::Acquire) as usize;
        self.set_entry_in_instances(&published, function, entry);
        // SAFETY: the caller's promise.
        unsafe { self.enter_by(context, own, gate) };
    }

    /// # Safety
    /// `context` is the running context.
    unsafe fn stamp(&self, context: *mut VmContext) -> Stamp {
        let mut cpu = 0;
        // SAFETY: RDTSCP exists on every processor this engine supports (all with SSE4.1 since 2008) and writes only `cpu`; the caller's promise.
        let (ticks, host_calls) = unsafe { (std::arch::x86_64::__rdtscp(&mut cpu), (*store_state(context)).host_calls) };
        let (compiles, compiling) = self.shared.compiles();
        Stamp { ticks, cpu: cpu & 0xfff, host_calls, compiles, compiling, beyond: 0 }
    }
}
