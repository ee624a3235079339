//! Trials: a candidate version timed against the current one on the live run, in alternating blocks (`blocks`), until a verdict (`verdict`).
//!
//! Both versions are compiled as *arms* ([`super::arms`]), whose units of work are counted. Of a body these are calls, counted by a [gate](crate::gate) in front of both, and the arms are the code that they stand
//! for: the winner is linked as it is, unless a guard of it was taken back. Of a loop they are rounds, which its entrance counts in a register; nothing else is different from the versions they stand for, and the winner is then published in its
//! normal form. The code in force is compiled anew, and is no arm itself: what ran before the trial runs otherwise than what began with it. (A recursion's own calls had led to that code and not to the gate, and
//! in four of five processes `fib` against itself was 3 to 12 % faster than what was in force.)
//!
//! One trial runs at a time in a module, on one store: trials on one call chain would spoil each other's measure. The rest wait in a queue; one whose code
//! does not run makes room for the next ([`super::turns`]).
//!
//! Who moves what: `reconsider` (any thread) leads to a job on a compile thread, which makes the candidate and its arms; the running thread takes it from
//! there to the verdict; a second job publishes the winner; the monitor's thread ([`ModuleCode::tend`]) wakes trials up that lost their thread.

use super::arms::Arms;
use super::candidates::SeenFunction;
use super::difference::{are_one_question, are_small, fresh, key, merged, parts, share_of_small, with_distances, without};
use super::drift::Memory;
use super::planning::place_name;
use super::trial_state::{Active, Candidate, Slowed, Stage, State, Tournament, TrialRecord};
use super::verdict::{Distribution, Judgement, MARGIN, Reason, Verdict};
use super::{CodeVersion, ModuleCode};
use crate::code::{CompileRequest, Entrance, Padding, Tier};
use crate::engine::{TierPolicy, lock};
use crate::queue::Work;
use crate::timeline::What;
use lwp_feedback::policy::{Decision, Plan, Refusal};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Of `TrialConfig::padding`: some 50 ns.
const PADDING_STEPS: u32 = 200;

/// Trials kept for the report; older ones are forgotten.
const MOST_RECORDS: usize = 1000;
/// Rounds of a loop in one activation, on average, from which on the loop is tried and not the function: below, calls are what repeats.
const LOOP_ROUNDS: u64 = 20_000;
/// The same where no record was of a call: what goes from templates to tier 2 is counted for 5,000 rounds or more.
const LOOP_ROUNDS_UNCALLED: u64 = 4_000;
/// Code that is entered at a loop has other values in registers than the body that is called. What gained less at a loop than this ratio says is tried once more where the function is called, against the
/// body without it.
const CERTAIN_AT_LOOP: f64 = 0.75;
/// Share of what a function's small decisions save that must be new for a trial of them alone. A guess.
const NEW_SMALL: f64 = 0.25;
/// Where a function is to be tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// There is tier-2 code.
    At(Entrance),
    /// At the loop with this offset, once it has an entrance of its own.
    Without(u32),
    /// Not yet.
    Nowhere,
}

impl Place {
    fn entrance(self) -> Option<Entrance> {
        match self {
            Place::At(entrance) => Some(entrance),
            Place::Without(_) | Place::Nowhere => None,
        }
    }
}

impl ModuleCode {
    /// Whether plans are tried before they are kept.
    pub(super) fn tries(&self) -> bool {
        let config = &self.shared.config;
        config.trials.enabled && config.tier == TierPolicy::Auto && !config.deterministic
    }

    /// Whether some plan is on trial right now.
    pub(crate) fn has_active_trial(&self) -> bool {
        self.trials.function.load(Ordering::Acquire) != u32::MAX
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
            self.shared.queue.push_work(self, Work::Reconsider(function));
        }
    }

    /// Forgets what was rolled back in a function, whatever its profile says: the question is open again.
    pub fn forget_rolled_back(self: &Arc<Self>, function: u32) {
        self.trials.lock().memory.remove(&function);
        self.reconsider(function);
    }

    /// Leaves out what a trial took back, in this process or an earlier one.
    pub(super) fn retain_not_lost(&self, function: u32, decisions: &mut Vec<Decision>) {
        if let Some(memory) = self.trials.lock().memory.get(&function) {
            decisions.retain(|decision| !memory.has_lost(decision));
        }
    }

    /// Trials of an earlier process took these back.
    pub(super) fn start_without(&self, function: u32, lost: impl Iterator<Item = Decision>) {
        let mut state = self.trials.lock();
        let memory = state.memory.entry(function).or_default();
        lost.for_each(|decision| memory.lost_before(decision));
    }

    /// Decisions that trials took back, by function, each in the order of its offset.
    pub(super) fn rolled_back(&self) -> Vec<(u32, Decision)> {
        let state = self.trials.lock();
        let mut lost: Vec<(u32, Decision)> = state
            .memory
            .iter()
            .flat_map(|(&function, memory)| memory.all_lost().map(move |decision| (function, decision.clone())))
            .collect();
        lost.sort_by_cached_key(|(function, decision)| (*function, decision.offset(), key(decision)));
        lost
    }

    /// Decisions that trials of an earlier process took back and that are not tried before their numbers change, by function, in the order of their offsets. What won here is in force.
    pub fn lost_before(&self) -> Vec<(u32, Decision)> {
        let state = self.trials.lock();
        let in_force = |function: u32, decision: &Decision| {
            state.adopted.get(&function).is_some_and(|plan| plan.decisions.iter().any(|it| key(it) == key(decision)))
        };
        let of = |(&function, memory): (&u32, &Memory)| -> Vec<(u32, Decision)> {
            let lost = memory.lost_in_earlier_process().filter(|decision| !in_force(function, decision));
            lost.map(|decision| (function, decision.clone())).collect()
        };
        let mut lost: Vec<(u32, Decision)> = state.memory.iter().flat_map(of).collect();
        lost.sort_by_cached_key(|(function, decision)| (*function, decision.offset(), key(decision)));
        lost
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
        let for_copies = {
            let mut state = self.trials.lock();
            state.pending.remove(&function);
            state.for_copies.remove(&function)
        };
        let copies = if for_copies { Vec::new() } else { self.copies_of(function) };
        let place = self.place_to_try(function);
        if place == Place::Nowhere && copies.is_empty() {
            return; // no tier-2 code yet: asked again when there is
        }
        let wanted = self.wanted(function);
        self.reconsider_copies(function, copies);
        let entrance = match place {
            Place::At(entrance) => entrance,
            Place::Nowhere => return,
            Place::Without(offset) => {
                if wanted.0.as_ref().is_some_and(|plan| !are_small(&plan.decisions)) {
                    self.request(function, Entrance::Loop(offset), Tier::Optimizing, false);
                }
                return; // asked again when its code is there
            }
        };
        // (asked again after so many more bursts)
        if self.seen(function).is_some_and(|seen| !seen.suffices(self.time_of_arms(function), self.shared.started.elapsed())) {
            return;
        }
        let is_small = wanted.0.as_ref().is_some_and(|plan| !plan.decisions.is_empty() && are_small(&plan.decisions));
        if is_small && self.awaits_times(function) {
            return; // asked again after the next burst; no burst times the loads of what is on trial by itself, and there may be much more to win
        }
        {
            let mut state = self.trials.lock();
            if state.is_asked(function) {
                state.held_up.insert(function);
                // What waits promises what is known now. (CPython's evaluation loop waited behind forty small functions with the 11 calls that it was first asked for, while 64 decisions were known.)
                self.renew(&mut state, function, Some(entrance), &wanted);
                return; // asked again at its end
            }
            state.held_up.remove(&function);
            let Some(candidate) = self.question(&mut state, function, entrance, &wanted) else { return };
            state.waiting.push_back(candidate);
        }
        self.next_trial();
    }

    /// All that the policy wants of a function by what is known now, and what it refuses.
    fn wanted(&self, function: u32) -> (Option<Arc<Plan>>, Vec<Refusal>) {
        let planned = self.composed(function, self.planned(function)).and_then(|plan| self.exits.amend(plan));
        let mut refusals = self.published().refusals.get(&function).cloned().unwrap_or_default();
        refusals.extend(self.refused_in_copies(self.adopted(function).as_deref()));
        (planned, refusals)
    }

    /// What is to be tried of a function of which `planned` is wanted, if anything is.
    fn question(
        &self,
        state: &mut State,
        function: u32,
        entrance: Entrance,
        (planned, refusals): &(Option<Arc<Plan>>, Vec<Refusal>),
    ) -> Option<Candidate> {
        let same = self.shared.config.trials.try_same;
        let base = state.adopted.get(&function).cloned();
        let base: &[Decision] = base.as_ref().map_or(&[], |plan| &plan.decisions);
        let planned: &[Decision] = planned.as_ref().map_or(&[], |plan| &plan.decisions);
        let memory = state.memory.entry(function).or_default();
        let mut fresh = fresh(base, planned);
        memory.retain_open(planned, &mut fresh);
        let matters = |part: &[Decision], all| !are_small(part) || share_of_small(part, all) >= NEW_SMALL;
        let fresh = Some(fresh).filter(|fresh| matters(fresh, planned)).unwrap_or_default();
        let gone = Some(memory.doubtful(base, planned, refusals)).filter(|gone| matters(gone, base)).unwrap_or_default();
        if !gone.is_empty() {
            // First back to what nobody doubts; what is new is asked for again at its end.
            let candidate = self.candidate(function, entrance, without(base, &gone), Vec::new(), Tournament::Both);
            Some(Candidate { gone, ..candidate })
        } else if !fresh.is_empty() {
            Some(Candidate { whole: true, ..self.candidate(function, entrance, merged(base, &fresh), fresh, Tournament::Both) })
        } else if same && state.tried_same.insert(function) {
            Some(self.candidate(function, entrance, base.to_vec(), Vec::new(), Tournament::Both))
        } else {
            None
        }
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
        Candidate {
            function,
            entrance,
            plan,
            fresh,
            gone: Vec::new(),
            slowed: None,
            tournament,
            second_entrance: false,
            whole: false,
            arms: None,
        }
    }

    /// Where a function's work repeats: the hottest of its loops if it is called rarely, else its body; only what has tier-2 code.
    fn place_to_try(&self, function: u32) -> Place {
        let linked = |offset: u32| self.loop_code(function, offset).is_some_and(|code| code.tier == Tier::Optimizing);
        let (calls, hottest, rounds, unlinked) = {
            let counted = self.counted.lock().unwrap_or_else(|error| error.into_inner());
            let counted = counted.get(&function);
            let events = counted.map_or(0, |counted| counted.events.iter().fold(0, |sum: u64, &events| sum.saturating_add(events)));
            let rounds = counted.map_or(0, |counted| counted.loops.values().fold(0, |sum: u64, &rounds| sum.saturating_add(rounds)));
            let loops = || counted.iter().flat_map(|counted| &counted.loops).map(|(&offset, &rounds)| (rounds, offset));
            let hottest = loops().filter(|&(_, offset)| linked(offset)).max().map(|(_, offset)| offset);
            (events.saturating_sub(rounds), hottest, rounds, loops().max().map(|(_, offset)| offset))
        };
        // Not under the counts' lock: whoever holds the trials' may take it, and the function is read for its loops.
        let carried = self.trials.lock().carried.get(&function).copied();
        let around = |inner: u32| carried.filter(|&carried| linked(carried) && self.loops_around(function, inner).contains(&carried));
        let hottest = hottest.map(|inner| around(inner).unwrap_or(inner));
        let body = self.published().current.get(&(function, Entrance::Body)).is_some_and(|version| version.tier == Tier::Optimizing);
        let long = rounds.checked_div(calls).map_or(rounds >= LOOP_ROUNDS_UNCALLED, |rounds| rounds >= LOOP_ROUNDS);
        // What is called 20 times less often than it loops has no record of a call; and in tier 2 there are no records.
        let short = self.seen(function).and_then(|seen| seen.rounds_per_call()).is_some_and(|rounds| rounds < LOOP_ROUNDS);
        let long = long && !short;
        match hottest {
            Some(offset) if long || !body && calls == 0 && !short => Place::At(Entrance::Loop(offset)),
            // Where calls go to tier 2 before any counter of a loop ended, nobody else asks for its entrance.
            _ if long && rounds > 0 => unlinked.filter(|_| body).map_or(Place::Nowhere, Place::Without),
            _ if body => Place::At(Entrance::Body),
            _ => Place::Nowhere,
        }
    }

    /// The job that starts a trial: makes the arms of the candidate that waits longest and can be paid for.
    pub(crate) fn start_trial(self: &Arc<Self>) {
        let (function, entrance, plan, base, slowed, counts_inlined, ready) = {
            let mut state = self.trials.lock();
            if state.active.is_some() {
                return;
            }
            if let Some(function) = self
                .affordable(&mut state)
                .map(|index| &state.waiting[index])
                .filter(|it| it.whole && it.arms.is_none())
                .map(|it| it.function)
            {
                drop(state);
                let wanted = self.wanted(function);
                let entrance = self.place_to_try(function).entrance();
                state = self.trials.lock();
                self.renew(&mut state, function, entrance, &wanted);
            }
            if state.active.is_some() {
                return;
            }
            let Some(candidate) = self.affordable(&mut state).and_then(|index| state.waiting.remove(index)) else {
                self.trials.postponed.store(!state.waiting.is_empty(), Ordering::Relaxed);
                return;
            };
            let (function, entrance, plan) = (candidate.function, candidate.entrance, candidate.plan.clone());
            let ready = candidate.arms.is_some();
            let (slowed, counts_inlined) = (candidate.slowed, candidate.changes_inlining());
            let base = state.adopted.get(&function).cloned();
            state.active = Some(Active { candidate, stage: Stage::Preparing, seen: 0 });
            (function, entrance, plan, base, slowed, counts_inlined, ready)
        };
        if !ready {
            let rounds = matches!(entrance, Entrance::Loop(_));
            let request = |plan: Option<Arc<Plan>>, padding, beside, gated| {
                let version = self.next_version.fetch_add(1, Ordering::Relaxed);
                let request = CompileRequest::new(self.module.clone(), function, entrance, Tier::Optimizing, version);
                let plan = plan.and_then(|plan| self.exits.amend(plan));
                let (events, fail_guards) = (self.shared.config.events, self.shared.config.stress.fail_guards);
                let counts_inlined = counts_inlined && !rounds;
                CompileRequest { plan, rounds, arm: true, gated, counts_inlined, beside, padding, events, fail_guards, ..request }
            };
            let trials = &self.shared.config.trials;
            let old = self.build(&request(base, Padding::default(), None, false), false);
            let padding = slowed.map_or(Padding { every: trials.padding, steps: PADDING_STEPS }, |slowed| slowed.padding);
            // The same code at another address is up to 5 % faster or slower (caches of instructions and of branches): no merit of a plan.
            let new = old.as_ref().ok().map(|old| self.build(&request(plan, padding, old.block_address(), !rounds), false));
            let took = old.iter().chain(new.iter().flatten()).map(|version| version.compile_time).sum();
            self.trials.lock().compiled(took);
            let failure = match (old, new) {
                (Ok(old), Some(Ok(new))) => {
                    let fired = |version: &CodeVersion| -> HashSet<_> {
                        let fired = version.applied.iter().filter(|applied| applied.refused.is_none());
                        fired.map(|applied| (applied.name, applied.function, applied.offset)).collect()
                    };
                    let distances = self.new_distances();
                    let farther = fired(&new).iter().any(|&(_, _, offset)| distances.contains(&offset));
                    // (what fires may still come to the same: a recursion is inlined without feedback too)
                    let same = old.code_hash == new.code_hash || !farther && old.code_bytes == new.code_bytes && fired(&old) == fired(&new);
                    let no_effect = !trials.try_same && same;
                    if !rounds {
                        // Their loops pass their polls as those of linked code do, or what is measured is mostly polls.
                        let published = self.published();
                        [&old, &new].into_iter().for_each(|arm| self.add_back_edges(&published, arm));
                    }
                    let mut state = self.trials.lock();
                    let Some(active) = &mut state.active else { return };
                    let free = !active.candidate.fresh.is_empty() && are_small(&active.candidate.fresh);
                    let arms = self.arms(old, new, free);
                    active.candidate.arms = Some(arms);
                    no_effect.then_some(Reason::NoEffect)
                }
                (Ok(old), Some(Err(error))) => {
                    tracing::debug!(function, %error, "no trial");
                    self.retire(old);
                    Some(Reason::NotCompiled)
                }
                (Err(error), _) => {
                    tracing::debug!(function, %error, "no trial");
                    Some(Reason::NotCompiled)
                }
                (Ok(_), None) => unreachable!("the candidate is built when the old arm was"),
            };
            if let Some(reason) = failure {
                let ended = self.trials.lock().active.take();
                if let Some(active) = ended {
                    let judgement = Judgement::with(Verdict::Abandoned(reason), &[], MARGIN, 0);
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
                arms.turn = arms.moved;
                arms.owner = None;
                arms.in_block = false;
                // (where nobody came in its last turn, its turns are too short to see that again)
                self.trials.idles.store(arms.idle_turns > 0, Ordering::Relaxed);
            }
            self.trials.long_blocks.store(false, Ordering::Relaxed);
            self.trials.of_body.store(entrance == Entrance::Body, Ordering::Relaxed);
            self.trials.function.store(function, Ordering::Release);
        }
        self.call_to_trial();
    }

    /// Retires arms: nothing leads to them any more, but to what was linked.
    fn give_up(self: &Arc<Self>, arms: Arms) {
        if let Some(candidate) = arms.new.take_candidate()
            && let Some(compiler) = &self.shared.compiler
            && arms.linked
        {
            compiler.keep(&candidate.0, &candidate.1, arms.new.compile_time);
        }
        self.retire(arms.old);
        if !arms.linked {
            self.retire(arms.new);
        }
    }

    /// A candidate that waited asks what would be asked now, and there. It may have waited for seconds, in which more became known.
    fn renew(&self, state: &mut State, function: u32, place: Option<Entrance>, wanted: &(Option<Arc<Plan>>, Vec<Refusal>)) {
        let Some(index) = state.waiting.iter().position(|it| it.function == function && it.whole && it.arms.is_none()) else { return };
        let Candidate { entrance, second_entrance, .. } = state.waiting[index];
        // (the other entrance comes by itself)
        let entrance = place.filter(|_| !second_entrance).unwrap_or(entrance);
        match self.question(state, function, entrance, wanted) {
            Some(candidate) => state.waiting[index] = Candidate { second_entrance, ..candidate },
            None => _ = state.waiting.remove(index),
        }
    }

    /// Offsets of the prefetches in which the candidate in preparation differs from its base, if in nothing else: where they fire at all, another distance fires the same.
    fn new_distances(&self) -> Vec<u32> {
        let state = self.trials.lock();
        let fresh = state.active.as_ref().map_or(&[][..], |active| &active.candidate.fresh);
        match fresh.iter().all(|decision| matches!(decision, Decision::Prefetch(_))) {
            true => fresh.iter().map(Decision::offset).collect(),
            false => Vec::new(),
        }
    }

    /// Ends the trial of a candidate that was taken out of the state, with a verdict that does not come from its pairs.
    pub(super) fn end_early(self: &Arc<Self>, candidate: Candidate, verdict: Verdict) {
        // Before the arms are retired.
        if candidate.entrance == Entrance::Body {
            if let Some(arms) = &candidate.arms {
                arms.new.lead_gate(arms.old.address());
            }
            self.restore_entry(candidate.function);
        }
        let judgement = match &candidate.arms {
            Some(arms) => arms.blocks.end(verdict),
            None => Judgement::with(verdict, &[], MARGIN, 0),
        };
        self.ended(candidate, judgement);
        self.next_trial();
    }

    /// A guard of a version fails too often: whether that is the candidate on trial, which has lost then.
    pub(crate) fn candidate_fails(self: &Arc<Self>, version: u32) -> bool {
        // Taken out under the same lock: another thread may end this trial, and begin the next.
        let candidate = {
            let mut state = self.trials.lock();
            let has_it = |active: &Active| active.candidate.arms.as_ref().is_some_and(|arms| arms.new.number == version);
            if !state.active.as_ref().is_some_and(has_it) {
                return false;
            }
            let Some(active) = state.active.take_if(|active| active.stage == Stage::Running) else { return true };
            self.trials.function.store(u32::MAX, Ordering::Release);
            active.candidate
        };
        self.end_early(candidate, Verdict::Slower);
        true
    }

    /// The running trial has its verdict: a winner goes on, a loser is taken out.
    pub(super) fn decide(&self, state: &mut State, verdict: Verdict) -> Option<Candidate> {
        if verdict.keeps() {
            state.active.as_mut().expect("it has the verdict").stage = Stage::Settling;
            return None;
        }
        self.trials.function.store(u32::MAX, Ordering::Release);
        state.active.take().map(|active| active.candidate)
    }

    /// What follows from that: the loser's code is out of the way at once, the winner's plan is carried out on a compile thread.
    pub(super) fn decided(self: &Arc<Self>, loser: Option<Candidate>, judgement: Judgement) {
        match loser {
            None => self.shared.queue.push_work(self, Work::Settle(Box::new(judgement))),
            Some(candidate) => {
                self.ended(candidate, judgement);
                self.next_trial();
            }
        }
    }

    /// The job after a candidate won: its plan becomes the function's, in all its tier-2 versions.
    pub(crate) fn settle_trial(self: &Arc<Self>, judgement: Judgement) {
        let (function, plan, body) = {
            let mut state = self.trials.lock();
            let Some(Active { candidate, stage: Stage::Settling, .. }) = &state.active else { return };
            let (function, plan) = (candidate.function, candidate.plan.clone());
            let arms = candidate.arms.as_ref().filter(|_| candidate.entrance == Entrance::Body && candidate.slowed.is_none());
            let body = arms.map(|arms| arms.new.clone());
            match plan.clone() {
                Some(plan) => _ = state.adopted.insert(function, plan),
                None => _ = state.adopted.remove(&function),
            }
            (function, plan, body)
        };
        let amended = || plan.clone().and_then(|plan| self.exits.amend(plan));
        let planned = amended();
        let mut entrances: Vec<Entrance> = {
            let published = self.published();
            let of_function = published.current.iter().filter(|((of, _), version)| *of == function && version.tier == Tier::Optimizing);
            of_function.map(|((_, entrance), _)| *entrance).collect()
        };
        entrances.sort_unstable();
        // A guard may have been taken back since it was compiled; where it is inlined in itself it counts; and a test may have it slowed down.
        let stays = |body: &CodeVersion| body.plan == planned && !body.counts_inlined && self.shared.config.trials.padding == 0;
        let body = body.filter(|body| stays(body) && entrances.contains(&Entrance::Body));
        for entrance in entrances {
            match &body {
                Some(body) if entrance == Entrance::Body => self.link(body.clone(), false),
                _ => _ = self.compile(function, entrance, Tier::Optimizing, false),
            }
        }
        let active = self.trials.lock().active.take();
        self.trials.function.store(u32::MAX, Ordering::Release);
        if let Some(Active { mut candidate, .. }) = active {
            if candidate.entrance == Entrance::Body {
                self.restore_entry(function);
            }
            if let Some(arms) = &mut candidate.arms {
                arms.linked = body.is_some();
            }
            self.ended(candidate, judgement);
            // Meanwhile a guard of it may have failed too often.
            if amended() != planned {
                self.replace_optimized(function);
            }
            self.reconsider_callers(function);
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
        let lost_ns = arms.as_ref().map_or(0.0, |arms| arms.blocks.lost_ticks().max(0.0) * ns_per_tick);
        let took = arms.as_ref().and_then(|arms| arms.began).map_or(Duration::ZERO, |began| began.elapsed());
        let record = TrialRecord {
            function,
            loop_offset: if let Entrance::Loop(offset) = candidate.entrance { Some(offset) } else { None },
            decisions: candidate.fresh.clone(),
            without: candidate.gone.clone(),
            slowed_percent: candidate.slowed.map_or(0.0, |slowed| slowed.percent),
            judgement,
            ended_ms: self.shared.started.elapsed().as_secs_f64() * 1e3,
            took_ms: took.as_secs_f64() * 1e3,
            versions: arms.as_ref().map_or([0; 2], |arms| [arms.old.number, arms.new.number]),
            blocks: match &arms {
                Some(arms) if self.shared.config.measure => arms.blocks.times(ns_per_tick),
                _ => Vec::new(),
            },
        };
        self.note(function, candidate.entrance, || What::TrialEnded {
            versions: record.versions,
            verdict: judgement.verdict,
            ratio: (judgement.pairs > 0).then_some(judgement.ratio),
            pairs: judgement.pairs,
            took_ns: took.as_nanos() as u64,
            decisions: record
                .decisions
                .iter()
                .map(place_name)
                .chain(record.without.iter().map(|it| format!("without {}", place_name(it))))
                .collect(),
        });
        tracing::debug!(function, verdict = ?judgement.verdict, ratio = judgement.ratio, pairs = judgement.pairs, "trial ended");
        // Code that is entered at an inner loop has no loop of its own for the one around it, so what steps by that one's rounds can be refused there only.
        let outer = match candidate.entrance {
            Entrance::Loop(offset) if judgement.verdict == Verdict::Abandoned(Reason::NoEffect) => {
                self.loops_around(function, offset).last().copied()
            }
            _ => None,
        };
        let forgotten = {
            let mut state = self.trials.lock();
            if state.records.len() >= MOST_RECORDS {
                state.records.pop_front();
            }
            state.records.push_back(record);
            state.ended += 1;
            state.settle_up(judgement.verdict, Duration::from_nanos(lost_ns as u64), self.shared.config.trials.loss_percent);
            self.follow_up(&mut state, candidate, judgement, outer)
        };
        if let Some(outer) = outer {
            // What its arms lead back to.
            self.request(function, Entrance::Loop(outer), Tier::Optimizing, false);
        }
        if let Some(arms) = arms {
            self.give_up(arms);
        }
        for arms in forgotten {
            self.give_up(arms);
        }
        self.reconsider(function);
    }

    /// What a verdict leads to: the next distance, halves of a plan that lost, the function's other entrance, the loop around the one that was tried. Returns arms of candidates that are not waiting any more.
    fn follow_up(&self, state: &mut State, candidate: Candidate, judgement: Judgement, outer: Option<u32>) -> Vec<Arms> {
        let mut forgotten = Vec::new();
        let Candidate { function, entrance, fresh, gone, slowed, tournament, second_entrance, whole, .. } = candidate;
        let base = state.adopted.get(&function).map_or(Vec::new(), |plan| plan.decisions.clone());
        if !gone.is_empty() {
            let memory = state.memory.entry(function).or_default();
            match judgement.verdict {
                verdict if verdict.keeps() => memory.lose(&gone, true),
                _ => memory.confirm(&gone),
            }
            return forgotten;
        }
        if fresh.is_empty() {
            // Tried against itself.
            let percent = self.shared.config.trials.slowed_percent;
            if percent > 0.0 && slowed.is_none() && judgement.old.p50 > 0.0 {
                let slowed = Slowed { percent, padding: Padding::of(judgement.old.p50 * percent / 100.0) };
                let candidate = self.candidate(function, entrance, base, Vec::new(), Tournament::Both);
                state.waiting.push_back(Candidate { slowed: Some(slowed), ..candidate });
            }
            return forgotten;
        }
        let ran = !matches!(judgement.verdict, Verdict::Abandoned(_));
        let lost = |state: &mut State| state.memory.entry(function).or_default().lose(&fresh, ran);
        match judgement.verdict {
            Verdict::Faster | Verdict::NotSlower => {
                if let Entrance::Loop(offset) = entrance {
                    state.carried.insert(function, offset);
                    // Another distance is no question of the body; without any it may take many times as long.
                    if judgement.ratio > CERTAIN_AT_LOOP && tournament == Tournament::Both {
                        let without = self.candidate(function, Entrance::Body, without(&base, &fresh), Vec::new(), Tournament::Both);
                        state.waiting.push_front(Candidate { gone: fresh.clone(), ..without });
                    }
                }
                for direction in [Tournament::Farther, Tournament::Nearer] {
                    let scale = |distance: u32| if direction == Tournament::Farther { distance.saturating_mul(2) } else { distance / 2 };
                    if tournament != Tournament::Both && tournament != direction {
                        continue;
                    }
                    let Some(scaled) = with_distances(&fresh, scale) else { continue };
                    let known = state.memory.get(&function);
                    if scaled.iter().any(|decision| known.is_some_and(|known| known.has_lost(decision))) {
                        continue;
                    }
                    state.waiting.push_back(self.candidate(function, entrance, merged(&base, &scaled), scaled, direction));
                }
                if tournament == Tournament::Farther {
                    // What was nearer than the loser is not waiting any more.
                    state.waiting.retain_mut(|waiting| {
                        let stays = waiting.function != function || waiting.tournament != Tournament::Nearer;
                        forgotten.extend(waiting.arms.take_if(|_| !stays));
                        stays
                    });
                }
            }
            Verdict::Abandoned(Reason::Idle) if !second_entrance => {
                let other = match entrance {
                    Entrance::Loop(_) => Some(Entrance::Body),
                    Entrance::Body => self.hottest_loop(function).map(Entrance::Loop),
                };
                match other {
                    Some(entrance) => {
                        let candidate = self.candidate(function, entrance, merged(&base, &fresh), fresh, tournament);
                        let candidate = Candidate { second_entrance: true, whole, ..candidate };
                        state.waiting.push_back(candidate);
                    }
                    None => lost(state),
                }
            }
            Verdict::Abandoned(Reason::NoEffect) if outer.is_some() => {
                let candidate =
                    outer.map(|outer| self.candidate(function, Entrance::Loop(outer), merged(&base, &fresh), fresh, tournament));
                state.waiting.extend(candidate);
            }
            _ if !are_one_question(&fresh)
                && fresh.len() > 1
                && tournament == Tournament::Both
                && !matches!(judgement.verdict, Verdict::Abandoned(_)) =>
            {
                // One of them may have spoilt it for the others.
                for part in parts(fresh) {
                    let candidate = self.candidate(function, entrance, merged(&base, &part), part, Tournament::Both);
                    state.waiting.push_back(candidate);
                }
            }
            _ => lost(state),
        }
        forgotten
    }

    /// The loops that a loop stands in, innermost last.
    fn loops_around(&self, function: u32, offset: u32) -> Vec<u32> {
        let shape = self.shape(function);
        let around = shape.loops.iter().filter(|it| (it.offset + 1..it.end).contains(&offset));
        around.map(|it| it.offset).collect()
    }

    /// What bursts saw of a function, where calls are followed.
    fn seen(&self, function: u32) -> Option<SeenFunction> {
        lock(&self.bursts.seen).get(&function).copied()
    }

    fn hottest_loop(&self, function: u32) -> Option<u32> {
        let counted = self.counted.lock().unwrap_or_else(|error| error.into_inner());
        let loops = counted.get(&function)?.loops.iter();
        loops.max_by_key(|&(&offset, &rounds)| (rounds, offset)).map(|(&offset, _)| offset)
    }
}
