//! Halving counts without losing the rare ones.
//!
//! A count of one would always be rounded to nothing: of three hundred loads with a miss each in a while no miss would be left, and of a branch's mispredictions fewer than of its
//! predictions. So every other odd count is rounded up, and what is left of many counts is half of their sum. No chance is in it: the same records give the same profile.

/// One kind of count, of all sites of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Halving {
    /// The last odd count was rounded up.
    up: bool,
}

impl Halving {
    /// Half of it.
    pub(super) fn half(&mut self, count: u64) -> u64 {
        let odd = count % 2 == 1;
        self.up ^= odd;
        count / 2 + u64::from(odd && self.up)
    }
}

/// All kinds, one by one: counts of a site that are odd together (taken and predicted) are not to take turns.
#[derive(Debug, Default)]
pub(super) struct Halvings {
    pub(super) values: Halving,
    pub(super) ticks: Halving,
    pub(super) outcomes: [Halving; 4],
    pub(super) sampled: Halving,
    pub(super) counted: [Halving; 2],
    pub(super) settled: [Halving; 4],
    pub(super) selects: [Halving; 4],
    pub(super) calls: Halving,
    pub(super) rounds: Halving,
    pub(super) latencies: Halving,
    pub(super) sources: Halving,
    pub(super) strides: Halving,
    pub(super) executions: Halving,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_halved_and_what_fades_is_gone() {
        let mut halving = Halving::default();
        assert_eq!((0..300).map(|_| halving.half(1)).sum::<u64>(), 150);
        assert_eq!([7, 4, 7].map(|count| halving.half(count)), [4, 2, 3]);
        let mut alone = Halving::default();
        assert!([1000, 1, 3, 5].iter().all(|&count| (0..12).fold(count, |left, _| alone.half(left)) == 0));
    }
}
