//! What a module's trials are: their configuration and records, what waits to be tried and what is on trial, and what they may cost.

use super::arms::Arms;
use super::difference::are_small;
use super::drift::Memory;
use super::verdict::{Judgement, Verdict};
use crate::code::{Entrance, Padding};
use crate::engine::try_lock;
use lwp_feedback::policy::{Decision, Plan};
use serde::Serialize;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How trials are run.
#[derive(Clone, Debug, PartialEq)]
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
    /// For tests: slows candidates down, see [`crate::code::CompileRequest::padding`].
    pub padding: u32,
    /// With `try_same`, percent: each function is tried once more, against itself slowed down by that much. 0 for no such trial.
    pub slowed_percent: f64,
    /// Percent of the run that candidates may lose while they are measured: after one that lost much the next waits.
    pub loss_percent: f64,
    /// Percent of the run that compiles of candidates and of what they are compared with may take: one that would take more waits, and what takes less goes first. On one
    /// processor they are the program's loss; where there are more it is four times as much.
    pub compile_percent: f64,
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
            slowed_percent: 0.0,
            loss_percent: 3.0,
            compile_percent: 5.0,
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
    /// What the old version has and the candidate has not: decisions in force that the policy refuses now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<Decision>,
    /// For tests: by how much the candidate was slowed down, percent.
    #[serde(skip_serializing_if = "is_zero")]
    pub slowed_percent: f64,
    /// Verdict and numbers; of the distributions ns per call or round.
    #[serde(flatten)]
    pub judgement: Judgement,
    /// When it ended, ms since the engine began.
    pub ended_ms: f64,
    /// How long it took from its first block, ms.
    pub took_ms: f64,
    /// Numbers of the two versions, old and candidate; 0 where none was compiled.
    pub versions: [u32; 2],
    /// The pairs' blocks, old and candidate, in ns per call or round and in the order in which they ran; where the run is measured.
    #[serde(skip)]
    pub blocks: Vec<[f32; 2]>,
}

fn is_zero(percent: &f64) -> bool {
    *percent == 0.0
}

/// What waits at most for [`TrialConfig::loss_percent`] was saved up for this long: the next trial comes at once where the last one lost less than this times that share.
const SAVED: Duration = Duration::from_millis(500);
/// What [`TrialConfig::compile_percent`] starts with: a handful of trials of small functions begin at once. A guess.
const COMPILES_AT_FIRST: Duration = Duration::from_millis(100);
/// The most of it that is saved up. What takes longer comes when that much is there, and the next waits for what it took beyond.
pub(super) const COMPILES_SAVED: Duration = Duration::from_millis(500);
/// Where a prefetch tournament goes on from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tournament {
    /// Both ways.
    Both,
    /// Farther ahead.
    Farther,
    /// Nearer.
    Nearer,
}

/// A candidate that is the old version with something that takes time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slowed {
    pub(super) percent: f64,
    pub(super) padding: Padding,
}

/// What is to be tried.
pub(super) struct Candidate {
    pub(super) function: u32,
    pub(super) entrance: Entrance,
    /// Everything the candidate does; `None` is nothing.
    pub(super) plan: Option<Arc<Plan>>,
    /// What of it is new.
    pub(super) fresh: Vec<Decision>,
    /// What of the version in force it lacks: one or the other is empty.
    pub(super) gone: Vec<Decision>,
    /// For tests: nothing is new, and it is slowed down by so much.
    pub(super) slowed: Option<Slowed>,
    pub(super) tournament: Tournament,
    /// The other entrance was tried before and did not run.
    pub(super) second_entrance: bool,
    /// All that was wanted of the function when it was made: what is wanted by the time it is compiled takes its place.
    pub(super) whole: bool,
    pub(super) arms: Option<Arms>,
}

impl Candidate {
    /// Whether the arms may differ in where the function is inlined in itself, be it by way of others.
    pub(super) fn changes_inlining(&self) -> bool {
        self.fresh.iter().chain(&self.gone).any(|it| matches!(it, Decision::Inline(_) | Decision::Specialize(_)))
    }

    /// What it would have saved in all that was seen, ns; what follows a trial comes before all others.
    pub(super) fn promises(&self) -> f64 {
        // Its code did not run: the others have their turns.
        if self.arms.is_some() {
            return 0.0;
        }
        // (what is doubted of much that matters little by itself is no more than that)
        let doubts_small = !self.gone.is_empty() && self.fresh.is_empty() && are_small(&self.gone);
        if (self.fresh.is_empty() || !self.whole) && !doubts_small {
            return f64::INFINITY;
        }
        let because = self.fresh.iter().chain(&self.gone).map(Decision::because);
        let saves = because.map(|it| (it.saves_ns - it.costs_ns) * it.samples as f64).filter(|saves| *saves > 0.0);
        // (the sum of none is -0.0, which comes after what had its turn)
        saves.sum::<f64>() + 0.0
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// A compile thread works on the arms.
    Preparing,
    Running,
    /// The candidate won and runs on: a body's until it is linked, a loop's as an arm until its normal form is published.
    Settling,
}

pub(super) struct Active {
    pub(super) candidate: Candidate,
    pub(super) stage: Stage,
    /// Of `Arms::progress`, when `tend` last looked.
    pub(super) seen: u64,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) active: Option<Active>,
    pub(super) waiting: VecDeque<Candidate>,
    /// Functions with a reconsideration in the queue.
    pub(super) pending: HashSet<u32>,
    /// Of these, those that are looked at for the sake of copies in them.
    pub(super) for_copies: HashSet<u32>,
    /// Functions that were to be looked at again, for new records, while a candidate of theirs was waiting or on trial.
    pub(super) held_up: HashSet<u32>,
    /// What won, by function.
    pub(super) adopted: HashMap<u32, Arc<Plan>>,
    /// The loop whose code carried what won last, by function: code that is entered at a loop inside it may lack it, and is no place for the next trial.
    pub(super) carried: HashMap<u32, u32>,
    /// What else trials said, by function.
    pub(super) memory: HashMap<u32, Memory>,
    /// Functions tried against themselves.
    pub(super) tried_same: HashSet<u32>,
    pub(super) records: VecDeque<TrialRecord>,
    /// Trials so far, those forgotten included.
    pub(super) ended: u64,
    /// When what trials have lost is made up for.
    pub(super) paid: Option<Instant>,
    /// Nanoseconds that compiles for trials may take, and when that was so.
    pub(super) compiles: Option<(f64, Instant)>,
}

impl State {
    /// Whether something about a function is on trial or waits for one.
    pub(super) fn is_asked(&self, function: u32) -> bool {
        let active = self.active.as_ref().map(|active| &active.candidate);
        active.into_iter().chain(&self.waiting).any(|candidate| candidate.function == function)
    }

    /// What is on trial, if its blocks run.
    pub(super) fn running(&self) -> Option<&Candidate> {
        self.active.as_ref().filter(|active| active.stage == Stage::Running).map(|active| &active.candidate)
    }

    /// Nanoseconds that compiles for trials may take now, at `percent` of the time, `factor` times that and as much more at first.
    pub(super) fn compiles_left(&mut self, percent: f64, factor: f64) -> f64 {
        let now = Instant::now();
        let (left, then) = self.compiles.unwrap_or((COMPILES_AT_FIRST.as_nanos() as f64 * factor, now));
        let earned = now.duration_since(then).as_nanos() as f64 * percent * factor / 100.0;
        let left = (left + earned).min(COMPILES_SAVED.as_nanos() as f64);
        self.compiles = Some((left, now));
        left
    }

    /// Compiles for a trial took that long.
    pub(super) fn compiled(&mut self, took: Duration) {
        if let Some((left, _)) = &mut self.compiles {
            *left -= took.as_nanos() as f64;
        }
    }

    /// Whether what trials have lost is made up for.
    pub(super) fn has_paid(&self) -> bool {
        self.paid.is_none_or(|paid| paid <= Instant::now())
    }

    /// Takes note of what a trial cost. One that was won pays for those before it.
    pub(super) fn settle_up(&mut self, verdict: Verdict, lost: Duration, loss_percent: f64) {
        let now = Instant::now();
        let saved = now.checked_sub(SAVED).unwrap_or(now);
        let wait = lost.mul_f64((100.0 / loss_percent).min(1e6));
        self.paid = (verdict != Verdict::Faster).then(|| self.paid.map_or(saved, |paid| paid.max(saved)) + wait);
    }
}

/// A module's trials.
pub(super) struct Trials {
    /// Function of the running trial, or `u32::MAX`: what running threads look at.
    pub(super) function: AtomicU32,
    /// Whether that trial is of a body.
    pub(super) of_body: AtomicBool,
    /// Whether its blocks are so long that hardly one would be whole if bursts began in the function's loops.
    pub(super) long_blocks: AtomicBool,
    /// Whether it waits for what does not come, calls that none but bursts' code makes or rounds of a loop that has ended: bursts go on as if it were not there.
    pub(super) idles: AtomicBool,
    /// A candidate waits until what trials have lost is made up for.
    pub(super) postponed: AtomicBool,
    state: Mutex<State>,
}

impl Default for Trials {
    fn default() -> Self {
        Trials {
            function: AtomicU32::new(u32::MAX),
            of_body: AtomicBool::new(false),
            long_blocks: AtomicBool::new(false),
            idles: AtomicBool::new(false),
            postponed: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }
}

impl Trials {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|error| error.into_inner())
    }

    /// The same, unless another thread has it.
    pub(super) fn try_lock(&self) -> Option<MutexGuard<'_, State>> {
        try_lock(&self.state)
    }

    /// Whether the function is on trial right now.
    #[inline(always)]
    pub(super) fn concern(&self, function: u32) -> bool {
        self.function.load(Ordering::Acquire) == function
    }

    /// Whether the function's body is on trial right now.
    pub(super) fn try_body(&self, function: u32) -> bool {
        self.concern(function) && self.of_body.load(Ordering::Relaxed)
    }

    /// The same, and calls of it are what that waits for and gets: no burst is to take them.
    pub(super) fn need_calls_of(&self, function: u32) -> bool {
        self.try_body(function) && !self.idles()
    }

    /// Whether what is on trial waits for what does not come, as far as is known.
    pub(super) fn idles(&self) -> bool {
        self.idles.load(Ordering::Relaxed)
    }

    /// The function that is on trial, if a burst in its loops would spoil a block that may not come again soon, or one more without a pair in between.
    pub(super) fn to_be_left_alone(&self) -> Option<u32> {
        if self.idles() {
            return None;
        }
        let state = self.lock();
        let candidate = state.running()?;
        let long = candidate.entrance == Entrance::Body && self.long_blocks.load(Ordering::Relaxed);
        let again = candidate.arms.as_ref().is_some_and(|arms| !arms.may_be_interrupted());
        (long || again).then_some(candidate.function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lwp_feedback::policy::{Because, LikelyDecision, SiteDecision};

    #[test]
    fn a_candidate_promises_what_it_would_have_saved_and_follow_ups_come_first() {
        let decision = |&samples: &u64| {
            let because = Because { samples, saves_ns: 2.0, costs_ns: 0.5, ..Because::default() };
            Decision::BranchToSelect(SiteDecision { offset: 1, because })
        };
        let candidate = |whole, samples: &[u64]| Candidate {
            function: 1,
            entrance: Entrance::Body,
            plan: None,
            fresh: samples.iter().map(decision).collect(),
            gone: Vec::new(),
            slowed: None,
            tournament: Tournament::Both,
            second_entrance: false,
            whole,
            arms: None,
        };
        assert_eq!(candidate(true, &[100, 20]).promises(), 180.0);
        assert_eq!(
            candidate(true, &[0]).promises().to_bits(),
            0.0f64.to_bits(),
            "a hint, of which nothing was seen, comes no later than what had its turn"
        );
        assert_eq!([candidate(false, &[100]).promises(), candidate(true, &[]).promises()], [f64::INFINITY; 2]);
        // What is doubted comes first too, but for what matters little by itself.
        let doubted = |gone: Decision| Candidate { gone: vec![gone], ..candidate(false, &[]) }.promises();
        let because = Because { samples: 10, saves_ns: 2.0, ..Because::default() };
        let layout = Decision::Layout(LikelyDecision { offset: 1, likely: true, because });
        assert_eq!([doubted(decision(&100)), doubted(layout)], [f64::INFINITY, 20.0]);
    }

    #[test]
    fn what_trials_lose_is_waited_for_and_a_win_pays() {
        let waits = |state: &State| state.paid.map_or(Duration::ZERO, |paid| paid.saturating_duration_since(Instant::now()));
        let mut state = State::default();
        state.settle_up(Verdict::Undecided, Duration::from_millis(5), 3.0);
        assert_eq!(waits(&state), Duration::ZERO, "less than was saved up");
        state.settle_up(Verdict::Slower, Duration::from_millis(30), 3.0);
        let first = waits(&state);
        assert!((Duration::from_millis(400)..Duration::from_millis(700)).contains(&first), "{first:?}");
        state.settle_up(Verdict::Slower, Duration::from_millis(30), 3.0);
        assert!(waits(&state) > first + Duration::from_millis(900));
        state.settle_up(Verdict::Faster, Duration::from_millis(1), 3.0);
        assert_eq!(waits(&state), Duration::ZERO);
    }

    #[test]
    fn what_compiles_for_trials_take_is_earned() {
        let mut state = State::default();
        let ms = |state: &mut State| state.compiles_left(5.0, 1.0) / 1e6;
        assert_eq!(ms(&mut state), 100.0);
        state.compiled(Duration::from_millis(400));
        assert!((-300.0..-290.0).contains(&ms(&mut state)));
        let (left, then) = state.compiles.unwrap();
        state.compiles = Some((left, then - Duration::from_secs(10)));
        assert!((200.0..210.0).contains(&ms(&mut state)), "500 ms of ten seconds");
        assert_eq!(State::default().compiles_left(5.0, 4.0), 400e6, "with a processor of their own");
        state.compiles = Some((0.0, then - Duration::from_secs(1000)));
        assert_eq!(ms(&mut state), 500.0, "no more is saved up");
    }
}
