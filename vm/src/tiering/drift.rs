//! What trials said of a function's decisions, and when the question is open again because the profile drifted.
//!
//! Two ways to drift. A decision that *lost* is planned again with other numbers than it lost with ([`Lost::is_open`]). A decision *in force* is refused by the
//! policy now: its version is tried against one without it ([`Memory::doubtful`]). Both are told from the profile, whose counts fade by record, and both lead
//! to a trial, never to a change without one.
//!
//! A program that alternates between two phases would go round for ever, and each round costs compiles and a while with the wrong version. So a decision
//! that was taken back waits, and each time four times as long ([`wait`]): what remains in the long run is the code without it, which is what there
//! would be without feedback.

use super::difference::{key, place};
use lwp_feedback::policy::{Because, Decision, Refusal, RefusalReason};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long a decision rests that was taken back once.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// A share that moved by as much has drifted. A guess: twice the width of a burst's 95 % interval.
const SHARE_DRIFT: f64 = 0.15;
/// An estimated saving that changed by this factor has drifted.
const SAVING_DRIFT: f64 = 1.5;

/// A decision that a trial took back.
#[derive(Clone, Debug)]
pub(super) struct Lost {
    /// With the numbers it lost with.
    pub(super) decision: Decision,
    /// When; `None` in an earlier process.
    at: Option<Instant>,
    /// How often so far.
    times: u32,
    /// The policy did not want it any more at some time since.
    dropped: bool,
    /// Its code ran, and was not faster.
    ran: bool,
}

/// Of one function.
#[derive(Default)]
pub(super) struct Memory {
    lost: HashMap<String, Lost>,
    /// Decisions in force that were tried against code without them, and when they are to be left alone until.
    confirmed: HashMap<String, (Instant, u32)>,
}

/// How long what happened `times` times is left alone.
fn wait(times: u32) -> Duration {
    FIRST_WAIT.saturating_mul(4u32.saturating_pow(times.saturating_sub(1).min(8)))
}

fn differ(before: &Because, now: &Because) -> bool {
    let factor = SAVING_DRIFT.ln();
    let saves = before.saves_ns > 0.0 && now.saves_ns > 0.0 && (now.saves_ns / before.saves_ns).ln().abs() > factor;
    (before.share - now.share).abs() > SHARE_DRIFT || saves
}

impl Lost {
    /// Whether the decision may be tried again, now that it is planned as `now`.
    fn is_open(&self, now: &Decision, time: Instant) -> bool {
        let rested = self.at.is_none_or(|at| time.duration_since(at) >= wait(self.times));
        rested && (self.dropped || differ(self.decision.because(), now.because()))
    }
}

impl Memory {
    /// A trial took these back; `ran` says whether their code did.
    pub(super) fn lose(&mut self, decisions: &[Decision], ran: bool) {
        for decision in decisions {
            let key = key(decision);
            let times = self.lost.get(&key).map_or(0, |lost| lost.times) + 1;
            self.confirmed.remove(&key);
            self.lost.insert(key, Lost { decision: decision.clone(), at: Some(Instant::now()), times, dropped: false, ran });
        }
    }

    /// A trial of an earlier process took this back, nobody knows why.
    pub(super) fn lost_before(&mut self, decision: Decision) {
        self.lost.insert(key(&decision), Lost { decision, at: None, times: 1, dropped: false, ran: false });
    }

    /// Whether a decision is known to lose, whatever led to it.
    pub(super) fn has_lost(&self, decision: &Decision) -> bool {
        self.lost.contains_key(&key(decision))
    }

    /// Whether a trial has shown that a decision does not make its code faster.
    pub(super) fn was_worse(&self, decision: &Decision) -> bool {
        self.lost.get(&key(decision)).is_some_and(|lost| lost.ran)
    }

    /// The decisions that lost, for the next process.
    pub(super) fn all_lost(&self) -> impl Iterator<Item = &Decision> {
        self.lost.values().map(|lost| &lost.decision)
    }

    /// Decisions that lost in an earlier process and in none of this one's trials.
    pub(super) fn lost_in_earlier_process(&self) -> impl Iterator<Item = &Decision> {
        self.lost.values().filter(|lost| lost.at.is_none()).map(|lost| &lost.decision)
    }

    /// Keeps of what is planned and new what may be tried. `planned` is everything that is wanted now.
    pub(super) fn retain_open(&mut self, planned: &[Decision], fresh: &mut Vec<Decision>) {
        let now = Instant::now();
        for lost in self.lost.values_mut() {
            lost.dropped |= !planned.iter().any(|decision| place(decision) == place(&lost.decision));
        }
        fresh.retain(|decision| self.lost.get(&key(decision)).is_none_or(|lost| lost.is_open(decision, now)));
    }

    /// Decisions in force that the policy refuses now for what it saw, and that were not confirmed lately.
    pub(super) fn doubtful(&self, base: &[Decision], planned: &[Decision], refusals: &[Refusal]) -> Vec<Decision> {
        let now = Instant::now();
        let refused = |decision: &Decision| {
            let of = |refusal: &&Refusal| refusal.offset == decision.offset() && refusal.transformation == decision.name();
            refusals.iter().filter(of).any(|refusal| speaks_against(&refusal.reason))
        };
        let rests = |decision: &Decision| self.confirmed.get(&key(decision)).is_some_and(|&(until, _)| now < until);
        let wanted = |decision: &Decision| planned.iter().any(|other| place(other) == place(decision));
        base.iter().filter(|decision| !wanted(decision) && refused(decision) && !rests(decision)).cloned().collect()
    }

    /// Code without these was tried and was not faster.
    pub(super) fn confirm(&mut self, decisions: &[Decision]) {
        for decision in decisions {
            let entry = self.confirmed.entry(key(decision)).or_insert((Instant::now(), 0));
            entry.1 += 1;
            entry.0 = Instant::now() + wait(entry.1);
        }
    }
}

/// Samples of a branch that goes both ways from which on that speaks against what is in force. What a first plan rests on is forgotten with it, and of eight samples of a branch that goes one way in 95 of 100 every third
/// has another among them.
const LEAST_AGAINST: u64 = 64;

/// Whether a refusal says that the profile is different, and not that a budget ended or that too little is known.
fn speaks_against(reason: &RefusalReason) -> bool {
    if let RefusalReason::NotLikely { samples, .. } = reason {
        return *samples >= LEAST_AGAINST;
    }
    matches!(
        reason.name(),
        "no-dominant-target"
            | "no-dominant-value"
            | "shares-target"
            | "well-predicted"
            | "rarely-misses"
            | "address-not-predictable"
            | "does-not-pay"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use lwp_feedback::codemap::FunctionId;
    use lwp_feedback::policy::{SiteDecision, SwitchOrderDecision};

    fn decision(share: f64) -> Decision {
        let because = Because { share, saves_ns: share * 4.0, ..Because::default() };
        Decision::BranchToSelect(SiteDecision { offset: 7, because })
    }

    fn later(memory: &mut Memory, by: Duration) {
        memory.lost.values_mut().for_each(|lost| lost.at = lost.at.map(|at| at - by));
        memory.confirmed.values_mut().for_each(|(until, _)| *until -= by);
    }

    fn tries(memory: &mut Memory, share: f64) -> bool {
        let planned = [decision(share)];
        let mut fresh = planned.to_vec();
        memory.retain_open(&planned, &mut fresh);
        !fresh.is_empty()
    }

    #[test]
    fn the_same_numbers_open_nothing_and_others_do_after_a_rest() {
        let mut memory = Memory::default();
        assert!(tries(&mut memory, 0.3));
        memory.lose(&[decision(0.3)], true);
        assert!(!tries(&mut memory, 0.5), "not at once");
        later(&mut memory, FIRST_WAIT);
        assert!(!tries(&mut memory, 0.31));
        assert!(tries(&mut memory, 0.5));
    }

    /// Among indices that are about as frequent each burst has another order.
    #[test]
    fn another_order_of_tests_has_lost_too() {
        let switch = |first: &[u32], share| {
            let because = Because { share, saves_ns: share * 2.0, ..Because::default() };
            vec![Decision::SwitchOrder(SwitchOrderDecision { offset: 7, first: first.to_vec(), because })]
        };
        let mut memory = Memory::default();
        memory.lose(&switch(&[0, 1, 3], 0.78), true);
        later(&mut memory, FIRST_WAIT);
        let mut tries = |planned: Vec<Decision>| {
            let mut fresh = planned.clone();
            memory.retain_open(&planned, &mut fresh);
            !fresh.is_empty()
        };
        assert!(!tries(switch(&[3, 0, 1], 0.8)));
        assert!(tries(switch(&[3, 0, 1], 0.95)), "other numbers");
    }

    #[test]
    fn each_time_it_rests_longer() {
        let mut memory = Memory::default();
        memory.lose(&[decision(0.3)], true);
        memory.retain_open(&[], &mut Vec::new());
        later(&mut memory, FIRST_WAIT);
        assert!(tries(&mut memory, 0.3), "it was not wanted meanwhile");
        memory.lose(&[decision(0.3)], true);
        memory.retain_open(&[], &mut Vec::new());
        later(&mut memory, FIRST_WAIT * 3);
        assert!(!tries(&mut memory, 0.3));
        later(&mut memory, FIRST_WAIT);
        assert!(tries(&mut memory, 0.3));
        assert!(memory.has_lost(&decision(0.3)), "whether it is tried again or not");
    }

    #[test]
    fn what_is_in_force_is_doubted_where_the_records_speak_against_it() {
        let mut memory = Memory::default();
        let base = [decision(0.4)];
        let refusal = |reason| Refusal {
            function: FunctionId { module: 1, func: 0 },
            offset: 7,
            transformation: "branch-to-select".into(),
            parameter: None,
            reason,
        };
        let well = refusal(RefusalReason::WellPredicted { share: 0.0, needed: 0.02, samples: 500 });
        let few = refusal(RefusalReason::TooFewSamples { samples: 3, needed: 64 });
        assert!(memory.doubtful(&base, &[], &[few]).is_empty(), "nothing is known");
        assert!(memory.doubtful(&base, &base, std::slice::from_ref(&well)).is_empty(), "still planned");
        assert_eq!(memory.doubtful(&base, &[], std::slice::from_ref(&well)), base);
        memory.confirm(&base);
        assert!(memory.doubtful(&base, &[], std::slice::from_ref(&well)).is_empty());
        later(&mut memory, FIRST_WAIT);
        assert_eq!(memory.doubtful(&base, &[], &[well]), base);
    }

    #[test]
    fn a_few_samples_that_go_both_ways_speak_against_nothing() {
        let against = |samples| speaks_against(&RefusalReason::NotLikely { share: 0.875, needed: 0.9, samples });
        assert_eq!([8, 63, 64].map(against), [false, false, true]);
        assert!(speaks_against(&RefusalReason::WellPredicted { share: 0.0, needed: 0.1, samples: 8 }));
    }
}
