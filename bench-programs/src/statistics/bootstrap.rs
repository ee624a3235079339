//! Medians with bootstrap intervals (percentile method, Efron 1979).
//!
//! The unit that is resampled is the process, never the call: calls of one process share its code placement and its memory, so a hundred
//! calls of one process say little about the next process. For pairs the pair is the unit, so that what both halves share (a slow minute of the machine)
//! cancels out.
//!
//! Of few values the percentile method promises too much: a median of seven lies outside of its "95 %" in one case of eight. So the interval of a median reaches at least
//! to the order statistics between which it lies with that confidence whatever the distribution is (the sign test's interval: of seven values all, of nine from the second to the
//! eighth). Fewer than six values cannot promise 95 %; there it is all of them.

use super::random::Random;
use super::{median, median_of};
use crate::results::Interval;

/// How many resamples, how wide an interval, and where the random numbers begin.
#[derive(Clone, Copy, Debug)]
pub struct Bootstrap {
    /// Resamples.
    pub resamples: u32,
    /// E.g. 0.95.
    pub confidence: f64,
    /// Of the resamples.
    pub seed: u64,
}

impl Bootstrap {
    /// The median of `values`. Without spread to resample (one value, none) the interval is the value itself.
    pub fn median(&self, values: &[f64]) -> Interval {
        let mut sample = vec![0.0; values.len()];
        let interval = self.interval(median(values), |random| {
            for slot in &mut sample {
                *slot = values[random.below(values.len())];
            }
            median_of(&mut sample)
        });
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        match sorted.as_slice() {
            [] => interval,
            _ => {
                let outside = outside(sorted.len(), self.confidence);
                let (low, high) = (sorted[outside], sorted[sorted.len() - 1 - outside]);
                Interval { low: interval.low.min(low), high: interval.high.max(high), ..interval }
            }
        }
    }

    /// The median of `over[i] / under[i]`, pairs resampled as pairs. Pairs with a number that is not positive are left out.
    pub fn median_ratio(&self, over: &[f64], under: &[f64]) -> Interval {
        self.median(&ratios(over, under))
    }

    /// Median of `over` divided by median of `under`, which are not paired (two runs of the harness).
    pub fn ratio_of_medians(&self, over: &[f64], under: &[f64]) -> Interval {
        if over.is_empty() || under.is_empty() {
            return Interval::default();
        }
        let (mut a, mut b) = (vec![0.0; over.len()], vec![0.0; under.len()]);
        self.interval(median(over) / median(under), |random| {
            a.iter_mut().for_each(|slot| *slot = over[random.below(over.len())]);
            b.iter_mut().for_each(|slot| *slot = under[random.below(under.len())]);
            median_of(&mut a) / median_of(&mut b)
        })
    }

    /// The geometric mean over rows of each row's median. The rows are what they are; only the values in each are resampled. Of one row it is that row's.
    pub fn geometric_mean(&self, rows: &[Vec<f64>]) -> Interval {
        let rows: Vec<&Vec<f64>> = rows.iter().filter(|row| !row.is_empty()).collect();
        if rows.is_empty() {
            return Interval::default();
        }
        if let [row] = rows.as_slice() {
            return self.median(row);
        }
        let count = rows.len() as f64;
        let estimate = (rows.iter().map(|row| median(row).ln()).sum::<f64>() / count).exp();
        let mut sample = Vec::new();
        self.interval(estimate, |random| {
            let mut sum = 0.0;
            for row in &rows {
                sample.clear();
                sample.extend((0..row.len()).map(|_| row[random.below(row.len())]));
                sum += median_of(&mut sample).ln();
            }
            (sum / count).exp()
        })
    }

    /// `estimate`, and the middle `confidence` of what `resample` gives.
    fn interval(&self, estimate: f64, mut resample: impl FnMut(&mut Random) -> f64) -> Interval {
        if self.resamples == 0 || !estimate.is_finite() || estimate == 0.0 {
            return Interval { median: estimate, low: estimate, high: estimate };
        }
        let mut random = Random::new(self.seed);
        let mut outcomes: Vec<f64> = (0..self.resamples).map(|_| resample(&mut random)).collect();
        outcomes.sort_unstable_by(f64::total_cmp);
        let outside = (1.0 - self.confidence) / 2.0;
        let at = |share: f64| outcomes[((share * outcomes.len() as f64) as usize).min(outcomes.len() - 1)];
        Interval { median: estimate, low: at(outside), high: at(1.0 - outside) }
    }
}

/// How many of `count` values may be left out on each side so that the others enclose the median with this confidence: the most for which P(Bin(count, 1/2) <= outside) is at most half of
/// what is left of it; 0 where there is none.
fn outside(count: usize, confidence: f64) -> usize {
    // As logarithms: 2^-count of a thousand values is no number.
    let mut term = -(count as f64) * std::f64::consts::LN_2;
    let mut below = term.exp();
    for outside in 1..count.div_ceil(2) {
        term += ((count + 1 - outside) as f64 / outside as f64).ln();
        below += term.exp();
        if below > (1.0 - confidence) / 2.0 {
            return outside - 1;
        }
    }
    0
}

/// `over[i] / under[i]` where both are positive.
pub fn ratios(over: &[f64], under: &[f64]) -> Vec<f64> {
    over.iter().zip(under).filter(|(a, b)| **a > 0.0 && **b > 0.0).map(|(a, b)| a / b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOTSTRAP: Bootstrap = Bootstrap { resamples: 10_000, confidence: 0.95, seed: 1 };

    #[test]
    fn equal_values_leave_no_doubt() {
        assert_eq!(BOOTSTRAP.median(&[5.0; 7]), Interval { median: 5.0, low: 5.0, high: 5.0 });
        assert_eq!(BOOTSTRAP.median(&[3.0]), Interval { median: 3.0, low: 3.0, high: 3.0 });
        assert_eq!(BOOTSTRAP.median(&[]), Interval::default());
    }

    #[test]
    fn the_interval_ends_at_the_known_order_statistics() {
        // Of 7 values, P(resampled median <= 2nd smallest) = P(Bin(7, 2/7) >= 4) = 0.0986 and P(<= smallest) = P(Bin(7, 1/7) >= 4) = 0.0102:
        // 2.5 % lies between, so resampling alone gives [2nd smallest, 2nd largest]; that covers 1 - 2 * 8/128 = 87.5 %, and all seven 1 - 2/128 = 98.4 %.
        let values = |count: u32| (1..=count).map(f64::from).collect::<Vec<f64>>();
        assert_eq!(BOOTSTRAP.median(&values(7)), Interval { median: 4.0, low: 1.0, high: 7.0 });
        // Of 9 the second to the eighth cover 1 - 2 * 10/512 = 96.1 %.
        assert_eq!(BOOTSTRAP.median(&values(9)), Interval { median: 5.0, low: 2.0, high: 8.0 });
        let table: Vec<usize> = [1, 3, 5, 6, 7, 8, 9, 12, 15, 21, 1000].iter().map(|&count| outside(count, 0.95)).collect();
        assert_eq!(table, [0, 0, 0, 0, 0, 0, 1, 2, 3, 5, 468], "the sign test's table");
    }

    #[test]
    fn ninety_five_percent_of_intervals_cover() {
        let few = Bootstrap { resamples: 300, ..BOOTSTRAP };
        for count in [7, 9, 15, 21] {
            let mut random = Random::new(count);
            // Of what a median of times is like: never below 1, with a long tail.
            let mut value = || 1.0 - ((random.below(1 << 20) as f64 + 0.5) / f64::from(1 << 20)).ln();
            let covers = (0..2000).filter(|_| {
                let values: Vec<f64> = (0..count).map(|_| value()).collect();
                let interval = few.median(&values);
                (interval.low..=interval.high).contains(&(1.0 + std::f64::consts::LN_2))
            });
            let covered = covers.count();
            assert!(covered >= 1890, "{covered} of 2000 intervals of {count} values");
        }
    }

    #[test]
    fn what_pairs_share_cancels_out() {
        let machine = [1.0, 1.3, 0.9, 1.1, 1.7, 1.0, 1.2];
        let under: Vec<f64> = machine.iter().map(|speed| 10.0 * speed).collect();
        let over: Vec<f64> = machine.iter().map(|speed| 20.0 * speed).collect();
        let ratio = BOOTSTRAP.median_ratio(&over, &under);
        assert!((ratio.low - 2.0).abs() < 1e-12 && (ratio.high - 2.0).abs() < 1e-12);
        let apart = BOOTSTRAP.ratio_of_medians(&over, &under);
        assert!(apart.low < 1.8 && apart.high > 2.2, "{apart:?}");
    }

    #[test]
    fn a_geometric_mean() {
        let mean = BOOTSTRAP.geometric_mean(&[vec![2.0; 3], vec![8.0; 3], vec![]]);
        assert!((mean.median - 4.0).abs() < 1e-12 && (mean.low - 4.0).abs() < 1e-12);
    }

    #[test]
    fn zeros_are_left_out_of_ratios() {
        assert_eq!(ratios(&[1.0, 0.0, 4.0], &[2.0, 1.0, 0.0]), [0.5]);
    }
}
