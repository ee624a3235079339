//! Medians with bootstrap intervals (percentile method, Efron 1979).
//!
//! The unit that is resampled is the process, never the call: calls of one process share its code placement and its memory, so a hundred
//! calls of one process say little about the next process. For pairs the pair is the unit, so that what both halves share (a slow minute of the machine)
//! cancels out.

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
        self.interval(median(values), |random| {
            for slot in &mut sample {
                *slot = values[random.below(values.len())];
            }
            median_of(&mut sample)
        })
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

    /// The geometric mean over rows of each row's median. The rows are what they are; only the values in each are resampled.
    pub fn geometric_mean(&self, rows: &[Vec<f64>]) -> Interval {
        let rows: Vec<&Vec<f64>> = rows.iter().filter(|row| !row.is_empty()).collect();
        if rows.is_empty() {
            return Interval::default();
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
        // 2.5 % lies between, so the interval is [2nd smallest, 2nd largest].
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        assert_eq!(BOOTSTRAP.median(&values), Interval { median: 4.0, low: 2.0, high: 6.0 });
        // 98.5 %: 0.75 % lies below 1.02 %, so it is all of them.
        let wide = Bootstrap { confidence: 0.985, ..BOOTSTRAP };
        assert_eq!(wide.median(&values), Interval { median: 4.0, low: 1.0, high: 7.0 });
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
