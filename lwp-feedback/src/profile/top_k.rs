//! The most frequent values of a stream in constant space: Space-Saving (Metwally, Agrawal, El Abbadi 2005), with a true total.
//!
//! Each kept count is at most `error` too high; a value whose true share exceeds 1/8 is always kept.

use super::halving::Halving;

/// Values kept per site.
pub const TOP_K: usize = 8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) value: u64,
    pub(super) count: u64,
    pub(super) error: u64,
    /// Of the count, what was seen of this very value.
    pub(super) whole: u64,
}

/// 2^64 by the golden ratio (Knuth, *The Art of Computer Programming* 3, 6.4).
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Bounded value counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopK {
    total: u64,
    len: u8,
    /// Values so far of which only a bound was known.
    censored: u64,
    kept: [Kept; TOP_K],
}

impl TopK {
    /// Counts a value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.add_many(value, 1);
    }

    /// Counts a value `times` times.
    #[inline]
    pub fn add_many(&mut self, value: u64, times: u64) {
        self.total = self.total.saturating_add(times);
        let len = usize::from(self.len);
        if let Some(kept) = self.kept[..len].iter_mut().find(|kept| kept.value == value) {
            kept.count = kept.count.saturating_add(times);
            kept.whole = kept.whole.saturating_add(times);
        } else if len < TOP_K {
            self.kept[len] = Kept { value, count: times, error: 0, whole: times };
            self.len += 1;
        } else {
            let least = self.kept.iter_mut().min_by_key(|kept| kept.count).expect("TOP_K is not 0");
            *least = Kept { value, count: least.count.saturating_add(times), error: least.count, whole: times };
        }
    }

    /// Counts values of which nothing but their number is known.
    pub fn add_others(&mut self, times: u64) {
        self.total = self.total.saturating_add(times);
    }

    /// Counts a value of which is known that it is no smaller than `least`. It goes to the larger ones that are kept, by what was
    /// seen of them: the redistribution to the right of the Kaplan-Meier estimator (Efron, *The two sample problem with
    /// censored data*, 1967). Where none is, it is one of those that are not kept.
    pub fn add_at_least(&mut self, least: u64) {
        self.total = self.total.saturating_add(1);
        self.censored = self.censored.wrapping_add(1);
        let larger = |kept: &&mut Kept| kept.value >= least;
        let sum: u64 = self.kept[..usize::from(self.len)].iter_mut().filter(larger).map(|kept| kept.whole).fold(0, u64::saturating_add);
        // One drawn by that; the golden ratio's multiples are spread evenly.
        let mut at = ((u128::from(self.censored.wrapping_mul(GOLDEN)) * u128::from(sum)) >> 64) as u64;
        for kept in self.kept[..usize::from(self.len)].iter_mut().filter(larger) {
            match at.checked_sub(kept.whole) {
                Some(rest) => at = rest,
                None => return kept.count = kept.count.saturating_add(1),
            }
        }
    }

    /// Values counted, decayed like the counts.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Halves everything; values that reach 0 are dropped.
    pub(super) fn halve(&mut self, by: &mut Halving) {
        let kept = |top: &Self| top.kept[..usize::from(top.len)].iter().map(|it| it.count).fold(0, u64::saturating_add);
        let others = self.total.saturating_sub(kept(self));
        let mut len = 0;
        for index in 0..usize::from(self.len) {
            let Kept { value, count, error, whole } = self.kept[index];
            let half = by.half(count);
            if half > 0 {
                self.kept[len] = Kept { value, count: half, error: (error / 2).min(half), whole: whole.div_ceil(2).min(half) };
                len += 1;
            }
        }
        self.len = len as u8;
        self.total = kept(self).saturating_add(by.half(others));
    }

    /// The kept values, most frequent first, ties by value.
    pub(super) fn sorted(&self) -> Vec<Kept> {
        let mut kept = self.kept[..usize::from(self.len)].to_vec();
        kept.sort_unstable_by_key(|kept| (std::cmp::Reverse(kept.count), kept.value));
        kept
    }

    pub(super) fn from_parts(total: u64, values: impl Iterator<Item = Kept>) -> Self {
        let mut top = Self { total, ..Self::default() };
        for kept in values.take(TOP_K) {
            top.kept[usize::from(top.len)] = kept;
            top.len += 1;
        }
        top
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dominant_value_survives_noise_and_the_total_is_true() {
        let mut top = TopK::default();
        for i in 0..10_000u64 {
            top.add(if i % 3 == 0 { 7 } else { i + 100 });
        }
        let first = top.sorted()[0];
        assert_eq!(first.value, 7);
        assert!(first.count >= 3334 && first.count - first.error <= 3334);
        assert_eq!(top.total(), 10_000);
    }

    /// Each third run is short and seen whole; of the long ones, half 100 and half 200 rounds, most are not.
    #[test]
    fn what_is_cut_short_goes_to_what_is_longer() {
        let mut top = TopK::default();
        for at in 0..3000u64 {
            match (at % 3, at % 40) {
                (0, _) => top.add(10),
                (_, 0..4) => top.add(if at % 2 == 0 { 100 } else { 200 }),
                _ => top.add_at_least(11 + at % 60),
            }
        }
        assert_eq!(top.total(), 3000);
        let share = |value| top.sorted().iter().find(|kept| kept.value == value).map_or(0.0, |kept| kept.count as f64 / 3000.0);
        assert!((share(10) - 1.0 / 3.0).abs() < 0.01, "{}", share(10));
        assert!((share(100) - 1.0 / 3.0).abs() < 0.04 && (share(200) - 1.0 / 3.0).abs() < 0.04, "{} {}", share(100), share(200));
        // Larger than all that are known.
        let mut top = TopK::default();
        top.add(5);
        (0..9).for_each(|_| top.add_at_least(6));
        assert_eq!((top.total(), top.sorted()[0].count), (10, 1));
    }

    #[test]
    fn halving_keeps_shares() {
        let mut top = TopK::default();
        (0..100).for_each(|i| top.add(u64::from(i % 4 == 0)));
        top.halve(&mut Halving::default());
        assert_eq!((top.total(), top.sorted()[0].count, top.sorted()[1].count), (50, 37, 13));
    }
}
