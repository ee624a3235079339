//! Tells at a burst's end whether a function does something else now: the burst's own outcomes against all before it.
//!
//! Counts fade by record, but bursts are seldom, so a profile would go on for seconds to say what was true before. Where the shares of one branch or
//! select differ by more than chance makes, all that is older is forgotten: what the burst saw is the profile then.

use std::collections::BTreeMap;

/// Outcomes that each side needs. With so many a share has a standard error of 0.07 at most.
const LEAST_OUTCOMES: u64 = 48;
/// Shares mispredicted that differ by more are others: three standard errors.
const MISPREDICTED: f64 = 0.2;
/// The same for shares taken, which depend more on where in the data a burst began. A guess.
const TAKEN: f64 = 0.4;

/// Taken, not taken, predicted, mispredicted.
pub(super) type Counts = [u64; 4];

/// What was there at the end of the last burst, by offset.
#[derive(Debug, Default)]
pub(super) struct Settled(BTreeMap<u32, Counts>);

impl Settled {
    /// Whether what came since the last burst's end differs from what was before.
    pub(super) fn differs(&self, offset: u32, now: Counts) -> bool {
        let Some(before) = self.0.get(&offset) else { return false };
        let fresh: Counts = std::array::from_fn(|at| now[at].saturating_sub(before[at]));
        let share = |counts: &Counts, part: usize, rest: usize| {
            let all = counts[part] + counts[rest];
            (all >= LEAST_OUTCOMES).then(|| counts[part] as f64 / all as f64)
        };
        let apart = |part, rest, least| match (share(before, part, rest), share(&fresh, part, rest)) {
            (Some(before), Some(fresh)) => (before - fresh).abs() > least,
            _ => false,
        };
        apart(3, 2, MISPREDICTED) || apart(0, 1, TAKEN)
    }

    /// What came since the last burst's end.
    pub(super) fn since(&self, offset: u32, now: Counts) -> Counts {
        let before = self.0.get(&offset).copied().unwrap_or_default();
        std::array::from_fn(|at| now[at].saturating_sub(before[at]))
    }

    /// A burst ended with these counts.
    pub(super) fn settle(&mut self, counts: impl Iterator<Item = (u32, Counts)>) {
        self.0 = counts.collect();
    }

    /// All counts were halved.
    pub(super) fn halve(&mut self) {
        self.0.values_mut().flatten().for_each(|count| *count /= 2);
    }
}
