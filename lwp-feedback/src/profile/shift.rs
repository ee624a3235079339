//! Tells at a burst's end whether a function does something else now: the burst's own outcomes against all before it.
//!
//! Counts fade by record, but bursts are seldom, so a profile would go on for seconds to say what was true before. Where the shares of one branch or
//! select differ by more than chance makes, all that is older is forgotten: what the burst saw is the profile then.

use std::collections::BTreeMap;

use super::halving::Halving;

/// Outcomes that each side needs. With so many a share has a standard error of 0.07 at most.
const LEAST_OUTCOMES: u64 = 48;
/// Standard errors that chance alone may make: it exceeds five once in 1,700,000 comparisons. At three a steady program with a random branch, which
/// compares a thousand times a second, was taken for another every other second, and its profile never held more than a few bursts.
const STANDARD_ERRORS: f64 = 5.0;
/// Shares mispredicted that differ by more are others, where it is not by chance.
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
        let apart = |part: usize, rest: usize, least: f64| {
            let (of_before, of_fresh) = (before[part] + before[rest], fresh[part] + fresh[rest]);
            if of_before.min(of_fresh) < LEAST_OUTCOMES {
                return false;
            }
            let (of_before, of_fresh) = (of_before as f64, of_fresh as f64);
            let difference = (before[part] as f64 / of_before - fresh[part] as f64 / of_fresh).abs();
            // The two-proportion z-test, pooled.
            let pooled = (before[part] + fresh[part]) as f64 / (of_before + of_fresh);
            let error = (pooled * (1.0 - pooled) * (1.0 / of_before + 1.0 / of_fresh)).sqrt();
            difference > least && difference > STANDARD_ERRORS * error
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
    pub(super) fn halve(&mut self, by: &mut [Halving; 4]) {
        for counts in self.0.values_mut() {
            counts.iter_mut().zip(&mut *by).for_each(|(count, by)| *count = by.half(*count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 100,000 bursts of 52 outcomes, after one of `before` mispredicted out of 1,000, how many look like another phase; outcomes mispredicted with `chance`.
    fn told_apart(before: u64, chance: f64) -> usize {
        let mut settled = Settled::default();
        settled.settle([(7, [500, 500, 1000 - before, before])].into_iter());
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..100_000)
            .filter(|_| {
                let mispredicted = (0..52).filter(|_| random() < chance).count() as u64;
                settled.differs(7, [526, 526, 1000 - before + 52 - mispredicted, before + mispredicted])
            })
            .count()
    }

    #[test]
    fn chance_alone_is_no_other_phase_and_another_phase_is() {
        assert!(told_apart(500, 0.5) <= 2, "three standard errors would be 500");
        assert!(told_apart(20, 0.02) <= 2);
        assert!(told_apart(500, 0.02) > 99_900);
        assert!(told_apart(20, 0.5) > 99_900);
    }
}
