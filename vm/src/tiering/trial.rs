//! Trials: a candidate version timed against the current one on the live run, in alternating blocks (`blocks`), until a verdict (`verdict`).
//!
//! Both versions are compiled as *arms*, which count units of work: a loop's entrance counts the rounds of its loop in a register, a body counts its
//! calls. Nothing else is different from the versions they stand for, and both count alike. The running thread ends a block in [`loop_boundary`] or
//! [`call_boundary`], takes one stamp, and goes on in the next arm; it never waits for a compile. The winner is then published in its normal form.
//!
//! One trial runs at a time in a module, on one store: trials on one call chain would spoil each other's measure. The rest wait in a queue; one whose code
//! does not run makes room for the next.
//!
//! Who moves what: `reconsider` (any thread) leads to a job on a compile thread, which makes the candidate and its arms; the running thread takes it from
//! there to the verdict; a second job publishes the winner; the monitor's thread ([`ModuleCode::tend`]) wakes trials up that lost their thread.

use super::blocks::{Arm, Blocks, Next, Sizes, Stamp};
use super::planning::place_name;
use super::verdict::{Distribution, Judgement, Reason, Verdict};
use super::{CodeVersion, ModuleCode};
use crate::code::{CompileRequest, Entrance, Tier};
use crate::engine::TierPolicy;
use crate::layout::{VmContext, poll_tag};
use crate::queue::Work;
use crate::runtime::store_state;
use crate::store::poll_word;
use crate::timeline::What;
use lwp_feedback::policy::{Decision, Plan};
use serde::Serialize;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How trials are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialConfig {
    /// Whether plans are tried at all; without, they are carried out at once.
    pub enabled: bool,
    /// Of the order within pairs.
    pub seed: u64,
    /// Least length of a block's counted part.
    pub block: Duration,
    /// The same for plans that prefetch: a block must walk through far more memory than the caches hold, or last so long.
    pub prefetch_block: Duration,
    /// For tests: try a candidate that is the current version, once for every function that has tier-2 code.
    pub try_same: bool,
    /// For tests: slows candidates down, see [`CompileRequest::padding`].
    pub padding: u32,
}

impl Default for TrialConfig {
    fn default() -> Self {
        TrialConfig {
            enabled: true,
            seed: 1,
            block: Duration::from_micros(50),
            prefetch_block: Duration::from_millis(5),
            try_same: false,
            padding: 0,
        }
    }
}

/// A trial that ended, for reports. Times are ns per unit of work.
#[derive(Clone, Debug, Serialize)]
pub struct TrialRecord {
    /// The function.
    pub function: u32,
    /// Byte offset of the loop that was tried; absent for the function itself.
    pub loop_offset: Option<u32>,
    /// What the candidate has and the old version has not.
    pub decisions: Vec<Decision>,
    /// Verdict and numbers; of the distributions ns per call or round.
    #[serde(flatten)]
    pub judgement: Judgement,
    /// When it ended, ms since the engine began.
    pub ended_ms: f64,
    /// How long it took from its first block, ms.
    pub took_ms: f64,
    /// Numbers of the two versions, old and candidate; 0 where none was compiled.
    pub versions: [u32; 2],
}

/// Trials kept for the report; older ones are forgotten.
const MOST_RECORDS: usize = 1000;
/// Rounds of a loop in one activation, on average, from which on the loop is tried and not the function: below, calls are what repeats.
const LOOP_ROUNDS: u64 = 20_000;
/// A trial that waits longer than this for its code to run lets the next one go first.
const MOST_IDLE: Duration = Duration::from_millis(250);
/// A trial without any block for this long is over.
const MOST_WAIT: Duration = Duration::from_secs(5);
/// Farthest and nearest prefetch that the tournament tries, rounds.
const MOST_DISTANCE: u32 = 1024;
const LEAST_DISTANCE: u32 = 1;

/// Where a prefetch tournament goes on from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tournament {
    /// Both ways.
    Both,
    /// Farther ahead.
    Farther,
    /// Nearer.
    Nearer,
}

/// What is to be tried.
struct Candidate {
    function: u32,
    entrance: Entrance,
    /// Everything the candidate does; `None` is nothing.
    plan: Option<Arc<Plan>>,
    /// What of it is new.
    fresh: Vec<Decision>,
    tournament: Tournament,
    /// The other entrance was tried before and did not run.
    second_entrance: bool,
    arms: Option<Arms>,
}

/// The compiled arms and what was measured so far.
struct Arms {
    old: Arc<CodeVersion>,
    new: Arc<CodeVersion>,
    blocks: Blocks,
    began: Option<Instant>,
    /// Of what was last run.
    arm: Arm,
    units: u64,
    /// The block in progress is ours: nothing left in between.
    in_block: bool,
    /// The store and context it runs in.
    owner: Option<(u64, usize)>,
    /// Boundaries so far.
    progress: u64,
    moved: Instant,
}

impl Arms {
    fn version(&self, arm: Arm) -> &Arc<CodeVersion> {
        if arm == Arm::Old { &self.old } else { &self.new }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A compile thread works on the arms.
    Preparing,
    Running,
    /// The candidate won and runs on as an arm until its normal form is published.
    Settling,
}

struct Active {
    candidate: Candidate,
    stage: Stage,
    /// Of `Arms::progress`, when `tend` last looked.
    seen: u64,
}

#[derive(Default)]
struct State {
    active: Option<Active>,
    waiting: VecDeque<Candidate>,
    /// Functions with a reconsideration in the queue.
    pending: HashSet<u32>,
    /// What won, by function.
    adopted: HashMap<u32, Arc<Plan>>,
    /// Decisions that lost, by function, with the trial that said so; not tried again before the profile drifts.
    rolled_back: HashMap<u32, HashMap<String, Judgement>>,
    /// Functions tried against themselves.
    tried_same: HashSet<u32>,
    records: VecDeque<TrialRecord>,
    /// Trials so far, those forgotten included.
    ended: u64,
}

/// A module's trials.
pub(super) struct Trials {
    /// Function of the running trial, or `u32::MAX`: what running threads look at.
    function: AtomicU32,
    state: Mutex<State>,
}

impl Default for Trials {
    fn default() -> Self {
        Trials { function: AtomicU32::new(u32::MAX), state: Mutex::default() }
    }
}

impl Trials {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|error| error.into_inner())
    }

    /// Whether the function is on trial right now.
    #[inline(always)]
    pub(super) fn concern(&self, function: u32) -> bool {
        self.function.load(Ordering::Acquire) == function
    }
}

/// What makes a decision the same again: all but the numbers that led to it.
pub(super) fn key(decision: &Decision) -> String {
    let at = (decision.name(), decision.offset());
    match decision {
        Decision::Inline(it) => format!("{at:?} {:?}", it.targets.iter().map(|target| target.callee).collect::<Vec<_>>()),
        Decision::Specialize(it) => format!("{at:?} {} {}", it.parameter, it.value),
        Decision::SelectToBranch(it) | Decision::Layout(it) => format!("{at:?} {}", it.likely),
        Decision::Prefetch(it) => format!("{at:?} {:?} {}", it.kind, it.distance),
        Decision::SwitchOrder(it) => format!("{at:?} {:?}", it.first),
        _ => format!("{at:?}"),
    }
}

/// The place a decision takes: one plan has one of each.
fn place(decision: &Decision) -> (&'static str, u32, u32) {
    let detail = if let Decision::Specialize(it) = decision { it.parameter } else { 0 };
    (decision.name(), decision.offset(), detail)
}

/// `base` with `fresh` in place of what takes the same places.
fn merged(base: &[Decision], fresh: &[Decision]) -> Vec<Decision> {
    let taken: HashSet<_> = fresh.iter().map(place).collect();
    let mut all: Vec<Decision> = base.iter().filter(|decision| !taken.contains(&place(decision))).chain(fresh).cloned().collect();
    all.sort_by_key(Decision::offset);
    all
}

/// The decisions with each prefetch's distance scaled; `None` where that leaves the bounds or there is none.
fn with_distances(decisions: &[Decision], scale: impl Fn(u32) -> u32) -> Option<Vec<Decision>> {
    let mut scaled: Vec<Decision> = Vec::new();
    for decision in decisions {
        if let Decision::Prefetch(it) = decision {
            let mut it = it.clone();
            it.distance = scale(it.distance);
            if !(LEAST_DISTANCE..=MOST_DISTANCE).contains(&it.distance) {
                return None;
            }
            scaled.push(Decision::Prefetch(it));
        }
    }
    (!scaled.is_empty()).then_some(scaled)
}

impl ModuleCode {
    /// Whether plans are tried before they are kept.
    pub(super) fn tries(&self) -> bool {
        let config = &self.shared.config;
        config.trials.enabled && config.tier == TierPolicy::Auto && !config.deterministic
    }

    /// What tier-2 code of a function is compiled to now: the plan that won its trials.
    pub fn adopted(&self, function: u32) -> Option<Arc<Plan>> {
        self.trials.lock().adopted.get(&function).cloned()
    }

    /// Makes a plan the function's: one that won in an earlier process.
    pub(super) fn adopt(&self, function: u32, plan: Option<Arc<Plan>>) {
        if let Some(plan) = plan {
            self.trials.lock().adopted.insert(function, plan);
        }
    }

    /// Looks at a function's profile again, on a compile thread: what the policy decides and no trial took back yet is tried. Call it where new
    /// records arrived.
    pub fn reconsider(self: &Arc<Self>, function: u32) {
        if !self.tries() {
            return self.reconsider_untried(function);
        }
        if self.module.defined(function).is_some() && self.trials.lock().pending.insert(function) {
            self.shared.queue.push_work(self.clone(), Work::Reconsider(function));
        }
    }

    /// Forgets what was rolled back in a function: its profile drifted, so the question is open again.
    pub fn forget_rolled_back(self: &Arc<Self>, function: u32) {
        self.trials.lock().rolled_back.remove(&function);
        self.reconsider(function);
    }

    /// Trials that ended, oldest first.
    pub fn trials(&self) -> Vec<TrialRecord> {
        self.trials.lock().records.iter().cloned().collect()
    }

    /// Whether any trial runs or waits.
    pub fn is_trying(&self) -> bool {
        let state = self.trials.lock();
        state.active.is_some() || !state.waiting.is_empty() || !state.pending.is_empty()
    }

    /// The job of [`ModuleCode::reconsider`].
    pub(crate) fn reconsider_here(self: &Arc<Self>, function: u32) {
        self.trials.lock().pending.remove(&function);
        let Some(entrance) = self.entrance_to_try(function) else {
            return; // no tier-2 code yet: asked again when there is
        };
        let planned = self.planned(function).and_then(|plan| self.exits.amend(plan));
        let same = self.shared.config.trials.try_same;
        {
            let mut state = self.trials.lock();
            if state.active.as_ref().is_some_and(|active| active.candidate.function == function)
                || state.waiting.iter().any(|candidate| candidate.function == function)
            {
                return; // asked again at its end
            }
            let base = state.adopted.get(&function).cloned();
            let base: &[Decision] = base.as_ref().map_or(&[], |plan| &plan.decisions);
            let known: HashSet<String> = base.iter().map(key).collect();
            // A prefetch that won at another distance is not tried at this one again.
            let places: HashSet<_> = base.iter().filter(|it| matches!(it, Decision::Prefetch(_))).map(place).collect();
            let lost = state.rolled_back.get(&function);
            let fresh: Vec<Decision> = planned
                .iter()
                .flat_map(|plan| &plan.decisions)
                .filter(|decision| !known.contains(&key(decision)) && !places.contains(&place(decision)))
                .filter(|decision| lost.is_none_or(|lost| !lost.contains_key(&key(decision))))
                .cloned()
                .collect();
            if fresh.is_empty() && !(same && state.tried_same.insert(function)) {
                return;
            }
            let decisions = merged(base, &fresh);
            state.waiting.push_back(self.candidate(function, entrance, decisions, fresh, Tournament::Both));
        }
        self.next_trial();
    }

    fn candidate(
        &self,
        function: u32,
        entrance: Entrance,
        decisions: Vec<Decision>,
        fresh: Vec<Decision>,
        tournament: Tournament,
    ) -> Candidate {
        let id = lwp_feedback::codemap::FunctionId { module: self.key, func: function };
        let plan = (!decisions.is_empty()).then(|| Arc::new(Plan { function: id, decisions }));
        Candidate { function, entrance, plan, fresh, tournament, second_entrance: false, arms: None }
    }

    /// Where a function's work repeats: the hottest of its loops if it is called rarely, else its body; only what has tier-2 code.
    fn entrance_to_try(&self, function: u32) -> Option<Entrance> {
        let (calls, hottest, rounds) = {
            let counted = self.counted.lock().unwrap_or_else(|error| error.into_inner());
            let counted = counted.get(&function);
            let events = counted.map_or(0, |counted| counted.events.iter().fold(0, |sum: u64, &events| sum.saturating_add(events)));
            let rounds = counted.map_or(0, |counted| counted.loops.values().fold(0, |sum: u64, &rounds| sum.saturating_add(rounds)));
            let linked = |offset: u32| self.loop_code(function, offset).is_some_and(|code| code.tier == Tier::Optimizing);
            let loops = counted.iter().flat_map(|counted| &counted.loops).filter(|&(&offset, _)| linked(offset));
            let hottest = loops.max_by_key(|&(&offset, &rounds)| (rounds, offset)).map(|(&offset, _)| offset);
            (events.saturating_sub(rounds), hottest, rounds)
        };
        let body = self.published().current.get(&(function, Entrance::Body)).is_some_and(|version| version.tier == Tier::Optimizing);
        let long = rounds / calls.max(1) >= LOOP_ROUNDS;
        match hottest {
            Some(offset) if long || !body && calls == 0 => Some(Entrance::Loop(offset)),
            _ if long && rounds > 0 => None, // its loop's entrance is on the way
            _ => body.then_some(Entrance::Body),
        }
    }

    /// Has a compile thread start the next trial if none runs.
    fn next_trial(self: &Arc<Self>) {
        let state = self.trials.lock();
        if state.active.is_none() && !state.waiting.is_empty() {
            self.shared.queue.push_work(self.clone(), Work::Trial);
        }
    }

    /// The job that starts a trial: makes the arms of the candidate that waits longest.
    pub(crate) fn start_trial(self: &Arc<Self>) {
        let (function, entrance, plan, base, ready) = {
            let mut state = self.trials.lock();
            if state.active.is_some() {
                return;
            }
            let Some(candidate) = state.waiting.pop_front() else {
                return;
            };
            let (function, entrance, plan) = (candidate.function, candidate.entrance, candidate.plan.clone());
            let ready = candidate.arms.is_some();
            let base = state.adopted.get(&function).cloned();
            state.active = Some(Active { candidate, stage: Stage::Preparing, seen: 0 });
            (function, entrance, plan, base, ready)
        };
        if !ready {
            let request = |plan: Option<Arc<Plan>>, padding| {
                let version = self.next_version.fetch_add(1, Ordering::Relaxed);
                let request = CompileRequest::new(self.module.clone(), function, entrance, Tier::Optimizing, version);
                let plan = plan.and_then(|plan| self.exits.amend(plan));
                CompileRequest { plan, rounds: true, padding, fail_guards: self.shared.config.stress.fail_guards, ..request }
            };
            let trials = &self.shared.config.trials;
            let old = self.build(&request(base, 0), false);
            let new = old.is_ok().then(|| self.build(&request(plan, trials.padding), false));
            let failure = match (old, new) {
                (Ok(old), Some(Ok(new))) => {
                    let fired = |version: &CodeVersion| -> HashSet<_> {
                        let fired = version.applied.iter().filter(|applied| applied.refused.is_none());
                        fired.map(|applied| (applied.name, applied.function, applied.offset)).collect()
                    };
                    let distances_only = self.only_distances();
                    let no_effect = !trials.try_same && !distances_only && old.code_bytes == new.code_bytes && fired(&old) == fired(&new);
                    let arms = self.arms(old, new);
                    let mut state = self.trials.lock();
                    let Some(active) = &mut state.active else { return };
                    active.candidate.arms = Some(arms);
                    no_effect.then_some(Reason::NoEffect)
                }
                (Err(error), _) | (_, Some(Err(error))) => {
                    tracing::debug!(function, %error, "no trial");
                    Some(Reason::NotCompiled)
                }
                (Ok(_), None) => unreachable!("the candidate is built when the old arm was"),
            };
            if let Some(reason) = failure {
                let ended = self.trials.lock().active.take();
                if let Some(active) = ended {
                    let judgement = Judgement::with(Verdict::Abandoned(reason), &[], 0);
                    self.ended(active.candidate, judgement);
                }
                return self.next_trial();
            }
        }
        {
            let mut state = self.trials.lock();
            let Some(active) = &mut state.active else { return };
            active.stage = Stage::Running;
            if let Some(arms) = &mut active.candidate.arms {
                arms.moved = Instant::now();
                arms.owner = None;
                arms.in_block = false;
            }
            self.trials.function.store(function, Ordering::Release);
        }
        self.call_to_trial();
    }

    /// Whether the candidate in preparation differs from its base only in prefetch distances, which fire the same.
    fn only_distances(&self) -> bool {
        let state = self.trials.lock();
        state.active.as_ref().is_some_and(|active| {
            let candidate = &active.candidate;
            !candidate.fresh.is_empty() && candidate.fresh.iter().all(|decision| matches!(decision, Decision::Prefetch(_)))
        })
    }

    fn arms(&self, old: Arc<CodeVersion>, new: Arc<CodeVersion>) -> Arms {
        let config = &self.shared.config.trials;
        let prefetches = new.plan.iter().flat_map(|plan| &plan.decisions).any(|it| matches!(it, Decision::Prefetch(_)));
        let length = if prefetches { config.prefetch_block } else { config.block };
        let loops = matches!(new.entrance, Entrance::Loop(_));
        let sizes = Sizes {
            least_units: if loops { 64 } else { 256 },
            // A body counts in 32 bits; a loop is not to run for minutes where its rounds became longer.
            most_units: 1 << 28,
            least_ticks: (length.as_nanos() as f64 / self.shared.ns_per_tick()) as u64,
            most_pairs: if prefetches { 32 } else { 128 },
        };
        let seed = config.seed.wrapping_add(u64::from(new.number) << 32);
        Arms {
            blocks: Blocks::new(sizes, seed),
            old,
            new,
            began: None,
            arm: Arm::Old,
            units: sizes.least_units,
            in_block: false,
            owner: None,
            progress: 0,
            moved: Instant::now(),
        }
    }

    /// Leads running code into the running trial: through its poll, or by the function's entry.
    fn call_to_trial(&self) {
        let published = self.published();
        let state = self.trials.lock();
        let Some(Active { candidate, stage: Stage::Running, .. }) = &state.active else { return };
        let Some(arms) = &candidate.arms else { return };
        match candidate.entrance {
            Entrance::Loop(offset) => self.ask_loop(&published, candidate.function, offset),
            Entrance::Body => {
                let own = self.module.defined(candidate.function).expect("only defined functions are tried");
                self.count_units(own, arms.units);
                self.set_entry_in_instances(&published, candidate.function, arms.version(arms.arm).address());
            }
        }
    }

    fn count_units(&self, own: usize, units: u64) {
        let units = units.clamp(1, i32::MAX as u64) as u32;
        self.reloads[own].store(units, Ordering::Relaxed);
        self.counters[own].store(units - 1, Ordering::Relaxed);
    }

    /// Takes the arms of a body's trial out of all calls' way.
    fn restore_entry(&self, function: u32) {
        let published = self.published();
        let own = self.module.defined(function).expect("only defined functions are tried");
        let entry = self.functions[own].entry.load(Ordering::Acquire) as usize;
        self.set_entry_in_instances(&published, function, entry);
    }

    /// The monitor's look now and then: wakes up a trial that nobody runs, lets another go first, or ends it.
    pub(crate) fn tend(self: &Arc<Self>) {
        if self.trials.function.load(Ordering::Acquire) == u32::MAX {
            return;
        }
        let over = {
            let mut state = self.trials.lock();
            let others = !state.waiting.is_empty();
            let Some(active) = &mut state.active else { return };
            let Some(arms) = &mut active.candidate.arms else { return };
            if active.stage != Stage::Running {
                return;
            }
            if arms.progress != active.seen {
                active.seen = arms.progress;
                return;
            }
            let idle = arms.moved.elapsed();
            if idle > MOST_IDLE {
                // Its thread may have ended.
                arms.owner = None;
            }
            if idle > MOST_WAIT || idle > MOST_IDLE && others {
                self.trials.function.store(u32::MAX, Ordering::Release);
                state.active.take().map(|active| (active.candidate, idle > MOST_WAIT))
            } else {
                None
            }
        };
        let Some((candidate, ends)) = over else {
            return self.call_to_trial();
        };
        if candidate.entrance == Entrance::Body {
            self.restore_entry(candidate.function);
        }
        if ends {
            let judgement = match &candidate.arms {
                Some(arms) => arms.blocks.end(Verdict::Abandoned(Reason::Idle)),
                None => Judgement::with(Verdict::Abandoned(Reason::Idle), &[], 0),
            };
            self.ended(candidate, judgement);
        } else {
            self.trials.lock().waiting.push_back(candidate);
        }
        self.next_trial();
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
            arms.in_block = false;
            return None;
        }
        // SAFETY: the caller's promise.
        let owner = unsafe { ((*store_state(context)).id, context as usize) };
        if arms.owner.is_some_and(|known| known != owner) {
            return None;
        }
        arms.owner = Some(owner);
        match active.stage {
            Stage::Preparing => return None,
            Stage::Running => {}
            Stage::Settling => {
                // SAFETY: the caller's promise; this thread runs the store.
                unsafe { (*(*context).store).rounds = arms.units };
                return Some(arms.new.address());
            }
        }
        // SAFETY: the caller's promise.
        let stamp = unsafe { self.stamp(context) };
        if arms.began.is_none() {
            self.note(function, Entrance::Loop(offset), || What::TrialBegan { versions: [arms.old.number, arms.new.number] });
        }
        let next = arms.next(version, stamp);
        match next {
            Next::Run(arm, units) => {
                let own = self.module.defined(function).expect("only defined functions are tried");
                // Arms do not look at this word; another activation of the function comes here by it.
                // SAFETY: the caller's promise; this thread runs the store.
                unsafe {
                    poll_word(context, self.module.offsets().poll(own as u32)).store(poll_tag(offset), Ordering::Release);
                    (*(*context).store).rounds = units;
                }
                Some(arms.version(arm).address())
            }
            Next::Ended(judgement) => {
                let address = (judgement.verdict == Verdict::Faster).then(|| {
                    // SAFETY: as above.
                    unsafe { (*(*context).store).rounds = arms.units.max(1) };
                    arms.new.address()
                });
                drop(state);
                self.decided(judgement);
                address
            }
        }
    }

    /// A body's countdown ran out in the function on trial; false where that is not its arms' doing.
    ///
    /// # Safety
    /// As [`ModuleCode::loop_boundary`], from the countdown's builtin.
    pub(super) unsafe fn call_boundary(self: &Arc<Self>, context: *mut VmContext, function: u32, version: u32) -> bool {
        let own = self.module.defined(function).expect("only defined functions count");
        let (address, others) = {
            let mut state = self.trials.lock();
            let Some(active) = state.active.as_mut() else { return false };
            let Candidate { function: tried, entrance: Entrance::Body, arms: Some(arms), .. } = &mut active.candidate else { return false };
            if *tried != function || active.stage == Stage::Preparing {
                return false;
            }
            if ![arms.old.number, arms.new.number].contains(&version) {
                arms.in_block = false;
                return false;
            }
            // SAFETY: the caller's promise.
            let owner = unsafe { ((*store_state(context)).id, context as usize) };
            if active.stage == Stage::Settling || arms.owner.is_some_and(|known| known != owner) {
                self.count_units(own, i32::MAX as u64);
                return true;
            }
            let others = arms.owner.is_none();
            arms.owner = Some(owner);
            // SAFETY: the caller's promise.
            let stamp = unsafe { self.stamp(context) };
            // A call that was under way when the entry was swapped may have used up the last unit: the block is the same.
            let running = arms.version(arms.arm).number;
            if arms.began.is_none() {
                self.note(function, Entrance::Body, || What::TrialBegan { versions: [arms.old.number, arms.new.number] });
            }
            match arms.next(running, stamp) {
                Next::Run(arm, units) => {
                    self.count_units(own, units);
                    (arms.version(arm).address(), others)
                }
                Next::Ended(judgement) => {
                    self.count_units(own, i32::MAX as u64);
                    if judgement.verdict == Verdict::Faster {
                        let address = arms.new.address();
                        drop(state);
                        // SAFETY: the caller's promise.
                        unsafe { self.func(context, own) }.entry.store(address as *mut u8, Ordering::Release);
                        self.decided(judgement);
                    } else {
                        drop(state);
                        // Before the arms are retired.
                        self.restore_entry(function);
                        self.decided(judgement);
                    }
                    return true;
                }
            }
        };
        if others {
            // Of all instances only this one goes on with the trial.
            self.restore_entry(function);
        }
        // SAFETY: the caller's promise.
        unsafe { self.func(context, own) }.entry.store(address as *mut u8, Ordering::Release);
        true
    }

    /// # Safety
    /// `context` is the running context.
    unsafe fn stamp(&self, context: *mut VmContext) -> Stamp {
        let mut cpu = 0;
        // SAFETY: RDTSCP exists on every processor this engine supports (all with SSE4.1 since 2008) and writes only `cpu`; the caller's promise.
        let (ticks, host_calls) = unsafe { (std::arch::x86_64::__rdtscp(&mut cpu), (*store_state(context)).host_calls) };
        let (compiles, compiling) = self.shared.compiles();
        Stamp { ticks, cpu: cpu & 0xfff, host_calls, compiles, compiling }
    }

    /// The running trial has its verdict: the loser's code is out of the way at once, the winner's normal form is compiled on a compile thread.
    fn decided(self: &Arc<Self>, judgement: Judgement) {
        let candidate = {
            let mut state = self.trials.lock();
            if judgement.verdict == Verdict::Faster {
                let Some(active) = &mut state.active else { return };
                active.stage = Stage::Settling;
                None
            } else {
                self.trials.function.store(u32::MAX, Ordering::Release);
                state.active.take().map(|active| active.candidate)
            }
        };
        match candidate {
            None => self.shared.queue.push_work(self.clone(), Work::Settle(Box::new(judgement))),
            Some(candidate) => {
                self.ended(candidate, judgement);
                self.next_trial();
            }
        }
    }

    /// The job after a candidate won: its plan becomes the function's, in all its tier-2 versions.
    pub(crate) fn settle_trial(self: &Arc<Self>, judgement: Judgement) {
        let function = {
            let mut state = self.trials.lock();
            let Some(Active { candidate, stage: Stage::Settling, .. }) = &state.active else { return };
            let (function, plan) = (candidate.function, candidate.plan.clone());
            match plan {
                Some(plan) => _ = state.adopted.insert(function, plan),
                None => _ = state.adopted.remove(&function),
            }
            function
        };
        let mut entrances: Vec<Entrance> = {
            let published = self.published();
            let of_function = published.current.iter().filter(|((of, _), version)| *of == function && version.tier == Tier::Optimizing);
            of_function.map(|((_, entrance), _)| *entrance).collect()
        };
        entrances.sort_unstable();
        for entrance in entrances {
            self.compile(function, entrance, Tier::Optimizing, false);
        }
        let active = self.trials.lock().active.take();
        self.trials.function.store(u32::MAX, Ordering::Release);
        if let Some(Active { candidate, .. }) = active {
            if candidate.entrance == Entrance::Body {
                self.restore_entry(function);
            }
            self.ended(candidate, judgement);
        }
        self.next_trial();
    }

    /// Keeps the record, remembers what lost, queues what follows from it, and retires the arms.
    fn ended(self: &Arc<Self>, mut candidate: Candidate, judgement: Judgement) {
        let function = candidate.function;
        let ns_per_tick = self.shared.ns_per_tick();
        let scaled = |distribution: Distribution| distribution.scaled(ns_per_tick);
        let judgement = Judgement { old: scaled(judgement.old), new: scaled(judgement.new), ..judgement };
        let arms = candidate.arms.take();
        let took = arms.as_ref().and_then(|arms| arms.began).map_or(Duration::ZERO, |began| began.elapsed());
        let record = TrialRecord {
            function,
            loop_offset: if let Entrance::Loop(offset) = candidate.entrance { Some(offset) } else { None },
            decisions: candidate.fresh.clone(),
            judgement,
            ended_ms: self.shared.started.elapsed().as_secs_f64() * 1e3,
            took_ms: took.as_secs_f64() * 1e3,
            versions: arms.as_ref().map_or([0; 2], |arms| [arms.old.number, arms.new.number]),
        };
        self.note(function, candidate.entrance, || What::TrialEnded {
            versions: record.versions,
            verdict: judgement.verdict,
            ratio: judgement.ratio,
            pairs: judgement.pairs,
            took_ns: took.as_nanos() as u64,
            decisions: record.decisions.iter().map(place_name).collect(),
        });
        tracing::debug!(function, verdict = ?judgement.verdict, ratio = judgement.ratio, pairs = judgement.pairs, "trial ended");
        {
            let mut state = self.trials.lock();
            if state.records.len() >= MOST_RECORDS {
                state.records.pop_front();
            }
            state.records.push_back(record);
            state.ended += 1;
            self.follow_up(&mut state, candidate, judgement);
        }
        if let Some(Arms { old, new, .. }) = arms {
            self.retire(old);
            self.retire(new);
        }
        self.reconsider(function);
    }

    /// What a verdict leads to: the next distance, halves of a plan that lost, the function's other entrance.
    fn follow_up(&self, state: &mut State, candidate: Candidate, judgement: Judgement) {
        let Candidate { function, entrance, fresh, tournament, second_entrance, .. } = candidate;
        let base = state.adopted.get(&function).map_or(Vec::new(), |plan| plan.decisions.clone());
        let lost = |state: &mut State| {
            let lost = state.rolled_back.entry(function).or_default();
            lost.extend(fresh.iter().map(|decision| (key(decision), judgement)));
        };
        match judgement.verdict {
            Verdict::Faster => {
                for direction in [Tournament::Farther, Tournament::Nearer] {
                    let scale = |distance: u32| if direction == Tournament::Farther { distance.saturating_mul(2) } else { distance / 2 };
                    if tournament != Tournament::Both && tournament != direction {
                        continue;
                    }
                    let Some(scaled) = with_distances(&fresh, scale) else { continue };
                    let known = state.rolled_back.get(&function);
                    if scaled.iter().any(|decision| known.is_some_and(|known| known.contains_key(&key(decision)))) {
                        continue;
                    }
                    state.waiting.push_back(self.candidate(function, entrance, merged(&base, &scaled), scaled, direction));
                }
                if tournament == Tournament::Farther {
                    // What was nearer than the loser is not waiting any more.
                    state.waiting.retain(|waiting| waiting.function != function || waiting.tournament != Tournament::Nearer);
                }
            }
            Verdict::Abandoned(Reason::Idle) if !second_entrance => {
                let other = match entrance {
                    Entrance::Loop(_) => Some(Entrance::Body),
                    Entrance::Body => self.hottest_loop(function).map(Entrance::Loop),
                };
                match other {
                    Some(entrance) => {
                        let mut candidate = self.candidate(function, entrance, merged(&base, &fresh), fresh, tournament);
                        candidate.second_entrance = true;
                        state.waiting.push_back(candidate);
                    }
                    None => lost(state),
                }
            }
            _ if fresh.len() > 1 && tournament == Tournament::Both && !matches!(judgement.verdict, Verdict::Abandoned(_)) => {
                // One of them may have spoilt it for the others.
                let (first, second) = fresh.split_at(fresh.len() / 2);
                for half in [first, second] {
                    let candidate = self.candidate(function, entrance, merged(&base, half), half.to_vec(), Tournament::Both);
                    state.waiting.push_back(candidate);
                }
            }
            _ => lost(state),
        }
    }

    fn hottest_loop(&self, function: u32) -> Option<u32> {
        let counted = self.counted.lock().unwrap_or_else(|error| error.into_inner());
        let loops = counted.get(&function)?.loops.iter();
        loops.max_by_key(|&(&offset, &rounds)| (rounds, offset)).map(|(&offset, _)| offset)
    }
}

impl Arms {
    /// The step after a boundary in `version`; a pair begins anew where the block was not ours.
    fn next(&mut self, version: u32, stamp: Stamp) -> Next {
        self.began.get_or_insert_with(Instant::now);
        self.progress += 1;
        let ours = self.in_block && version == self.version(self.arm).number;
        if self.progress % 64 == 1 || !ours {
            self.moved = Instant::now();
        }
        let next = if ours { self.blocks.boundary(stamp) } else { self.blocks.begin_pair() };
        self.in_block = matches!(next, Next::Run(..));
        if let Next::Run(arm, units) = next {
            self.arm = arm;
            self.units = units;
        }
        next
    }
}
