//! Which of two versions is faster: from pairs of block times to a verdict.
//!
//! A pair holds the time per unit of work of one block of each version, run right after each other in random order. Its log ratio is free of what
//! both blocks share (the phase of the program, the clock of the processor), and under "no difference" its sign is a coin's. So the test is Wilcoxon's
//! signed ranks on the log ratios, one-sided in each direction, against a margin: a difference below [`MARGIN`], of large code [`LARGE_MARGIN`], is none.
//!
//! The pairs are looked at several times as they arrive, which multiplies the chances to be wrong; so each look may spend only its part of the
//! error budget ([`LOOKS`], their sum is half of 5 % for each direction: Bonferroni's bound, so it holds however the looks depend on each other).
#![forbid(unsafe_code)]

use serde::{Serialize, Serializer};

/// Pairs at which to look, and the error each look may make in one direction.
pub const LOOKS: [(usize, f64); 8] =
    [(8, 0.004), (16, 0.003), (32, 0.003), (64, 0.003), (128, 0.003), (256, 0.003), (512, 0.003), (1024, 0.003)];
/// Pairs of the last look.
pub const MOST_PAIRS: usize = LOOKS[LOOKS.len() - 1].0;
/// From so many pairs on a trial goes on only if the candidate looks faster: with this error probability at most. Ending early makes no winner of what is none.
pub const FUTILE: (usize, f64) = (128, 0.25);
/// Log ratio that counts as no difference: what the placement of the same code makes was measured up to a few tenths of a percent.
pub const MARGIN: f64 = 0.005;
/// The same of code that does not fit the first cache of instructions, [`LARGE`] bytes of it: where it lies decides what is in its way there and among the branches that the processor remembers.
/// CPython's evaluation loop (180 KB) against itself, three trials: ratios 0.960, 0.992 and 1.005, the first two at 99.9 % confidence of the one place each had.
pub const LARGE_MARGIN: f64 = 0.04;
/// See [`LARGE_MARGIN`].
pub const LARGE: usize = 32 << 10;
/// Pairs up to which only larger differences count, and what counts then (a log ratio): so few pairs show one moment of the program, and what is a little faster then may be slower in
/// the next. CPython's `work.py` found layouts 2 % faster and 2 % slower, each with 99.7 % confidence, in five milliseconds of its five parts.
pub const EARLY: (usize, f64) = (32, 0.05);
/// Pairs from which on a candidate that is this many times slower in each of them is taken back: what is far off costs most while it is measured.
pub const CLEAR_LOSS: (usize, f64) = (3, 1.25);
/// Above this many pairs the distribution of the rank sum is taken as normal.
const MOST_EXACT: usize = 32;

/// What a trial came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The candidate is faster: it replaces the old version.
    Faster,
    /// The candidate is slower: rolled back.
    Slower,
    /// No difference was shown, more likely it is faster than slower, and it holds nothing that could cost: it replaces the old version ([`Judgement::of_free`]).
    NotSlower,
    /// No difference was shown: the old version stays.
    Undecided,
    /// The trial ended early: the old version stays.
    Abandoned(Reason),
}

impl Verdict {
    /// Its name, without the reason.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::NotSlower => "not-slower",
            Verdict::Undecided => "undecided",
            Verdict::Abandoned(_) => "abandoned",
        }
    }

    /// Why it ended early, if it did.
    pub fn reason(self) -> Option<Reason> {
        match self {
            Verdict::Abandoned(reason) => Some(reason),
            _ => None,
        }
    }

    /// Whether the candidate replaces the old version.
    pub fn keeps(self) -> bool {
        matches!(self, Verdict::Faster | Verdict::NotSlower)
    }
}

/// Why a trial ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Too many blocks held a host call or moved to another processor.
    Disturbed,
    /// The code under trial does not run (any more).
    Idle,
    /// The compiler made the same code for both.
    NoEffect,
    /// The candidate did not compile.
    NotCompiled,
}

/// Times of one version's blocks, per unit of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// Blocks.
    pub blocks: usize,
    /// 10th percentile.
    pub p10: f64,
    /// 25th percentile.
    pub p25: f64,
    /// Median.
    pub p50: f64,
    /// 75th percentile.
    pub p75: f64,
    /// 90th percentile.
    pub p90: f64,
}

impl Distribution {
    fn new(values: impl Iterator<Item = f64>) -> Distribution {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_by(f64::total_cmp);
        let Some(last) = sorted.len().checked_sub(1) else {
            return Distribution::default();
        };
        // Between two values where it falls between them: the median of an even count is the mean of the middle two.
        let at = |share: f64| {
            let place = last as f64 * share;
            let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            below + (above - below) * place.fract()
        };
        Distribution { blocks: sorted.len(), p10: at(0.1), p25: at(0.25), p50: at(0.5), p75: at(0.75), p90: at(0.9) }
    }

    /// The same in another unit.
    pub fn scaled(self, by: f64) -> Distribution {
        let Distribution { blocks, p10, p25, p50, p75, p90 } = self;
        Distribution { blocks, p10: p10 * by, p25: p25 * by, p50: p50 * by, p75: p75 * by, p90: p90 * by }
    }
}

/// A verdict with its numbers. In JSON the numbers of a trial without pairs are null.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// What.
    pub verdict: Verdict,
    /// The old version's time per unit of work.
    pub old: Distribution,
    /// The candidate's.
    pub new: Distribution,
    /// Median over the pairs of candidate time ÷ old time: 0.5 is twice as fast. 1 without pairs.
    pub ratio: f64,
    /// 1 − the error probability of saying that the candidate is on that side of the margin on which the ratio is.
    pub confidence: f64,
    /// Pairs it rests on.
    pub pairs: usize,
    /// Blocks that were dropped.
    pub dropped: u64,
}

impl Serialize for Judgement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown {
            verdict: Verdict,
            old: Option<Distribution>,
            new: Option<Distribution>,
            ratio: Option<f64>,
            confidence: Option<f64>,
            pairs: usize,
            dropped: u64,
        }
        let Judgement { verdict, old, new, ratio, confidence, pairs, dropped } = *self;
        let measured = pairs > 0;
        let (old, new) = (measured.then_some(old), measured.then_some(new));
        let (ratio, confidence) = (measured.then_some(ratio), measured.then_some(confidence));
        Shown { verdict, old, new, ratio, confidence, pairs, dropped }.serialize(serializer)
    }
}

impl Judgement {
    /// The same of a candidate whose changes cost nothing while they run: blocks of code in another order. A large program has hundreds of them; together they are
    /// worth percents, of which a function's trial sees less than it can tell from nothing. So what is not shown to be slower stays where it looks faster.
    /// Of large code what is within its margin is not what it does.
    #[must_use]
    pub fn of_free(self, margin: f64) -> Judgement {
        let most = if margin > MARGIN { margin.exp() } else { 1.0 };
        let equal = self.verdict == Verdict::Undecided && self.ratio <= most;
        Judgement { verdict: if equal { Verdict::NotSlower } else { self.verdict }, ..self }
    }

    /// The numbers so far with a verdict that does not come from them.
    pub fn with(verdict: Verdict, pairs: &[(f64, f64)], margin: f64, dropped: u64) -> Judgement {
        let (ratio, gain, loss) = compare(pairs, margin);
        let confidence = if pairs.is_empty() { 0.0 } else { 1.0 - gain.min(loss).min(1.0) };
        Judgement {
            verdict,
            old: Distribution::new(pairs.iter().map(|pair| pair.0)),
            new: Distribution::new(pairs.iter().map(|pair| pair.1)),
            ratio,
            confidence,
            pairs: pairs.len(),
            dropped,
        }
    }
}

/// Looks at the pairs (old, candidate: time per unit of work) if their number says so; `most` pairs end the trial, and a log ratio below `margin` is no difference. `None`: go on.
pub fn look(pairs: &[(f64, f64)], most: usize, margin: f64, dropped: u64) -> Option<Judgement> {
    if pairs.len() >= CLEAR_LOSS.0 && pairs.iter().all(|&(old, new)| new >= CLEAR_LOSS.1 * old) {
        return Some(Judgement::with(Verdict::Slower, pairs, margin, dropped));
    }
    let &(_, error) = LOOKS.iter().find(|&&(at, _)| at == pairs.len())?;
    // (what ends at so few pairs has long blocks)
    let counts = if pairs.len() <= EARLY.0 && most > EARLY.0 { EARLY.1.max(margin) } else { margin };
    let (_, gain, loss) = compare(pairs, counts);
    let verdict = match () {
        () if gain <= error => Verdict::Faster,
        () if loss <= error => Verdict::Slower,
        () if pairs.len() >= most || pairs.len() >= MOST_PAIRS => Verdict::Undecided,
        () if pairs.len() >= FUTILE.0 && gain > FUTILE.1 => Verdict::Undecided,
        () => return None,
    };
    Some(Judgement::with(verdict, pairs, margin, dropped))
}

/// Median ratio, and the error probabilities of "faster" and of "slower" by more than the margin.
fn compare(pairs: &[(f64, f64)], margin: f64) -> (f64, f64, f64) {
    let mut logs: Vec<f64> = pairs.iter().map(|&(old, new)| (new / old).ln()).filter(|log| log.is_finite()).collect();
    logs.sort_by(f64::total_cmp);
    let middle = logs.len() / 2;
    let median = match logs.len() {
        0 => 0.0,
        length if length % 2 == 1 => logs[middle],
        _ => (logs[middle - 1] + logs[middle]) / 2.0,
    };
    let below: Vec<f64> = logs.iter().map(|log| -(log + margin)).collect();
    let above: Vec<f64> = logs.iter().map(|log| log - margin).collect();
    (median.exp(), signed_rank(below), signed_rank(above))
}

/// Probability of values as positive as these, or more so, if each had its sign from a coin.
fn signed_rank(mut values: Vec<f64>) -> f64 {
    values.retain(|&value| value != 0.0);
    values.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let negative = values.iter().enumerate().filter(|(_, value)| **value < 0.0).map(|(index, _)| index + 1).sum();
    match values.len() {
        0 => 1.0,
        count if count <= MOST_EXACT => exact(count, negative),
        count => approximate(count, negative),
    }
}

/// Share of the ways to sign `count` ranks whose negative ones sum up to at most `negative`.
fn exact(count: usize, negative: usize) -> f64 {
    let mut ways = vec![0.0; negative + 1];
    ways[0] = 1.0;
    for rank in 1..=count {
        for sum in (rank..=negative).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    ways.iter().sum::<f64>() / 2f64.powi(count as i32)
}

/// The same from the normal distribution.
fn approximate(count: usize, negative: usize) -> f64 {
    let count = count as f64;
    let mean = count * (count + 1.0) / 4.0;
    let deviation = (count * (count + 1.0) * (2.0 * count + 1.0) / 24.0).sqrt();
    normal_below((negative as f64 + 0.5 - mean) / deviation)
}

/// The normal distribution's cumulative function (Abramowitz and Stegun 26.2.17, error under 7.5e-8).
fn normal_below(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let polynomial = t * (0.319_381_530 + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * polynomial;
    if z > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_values() {
        let of = |values: &[f64]| Distribution::new(values.iter().copied());
        let four = of(&[4.0, 1.0, 3.0, 2.0]);
        assert_eq!((four.p25, four.p50, four.p75), (1.75, 2.5, 3.25));
        assert_eq!(of(&[5.0, 1.0, 3.0]).p50, 3.0);
        assert_eq!(of(&[7.0]).p90, 7.0);
    }

    #[test]
    fn the_error_budget_is_five_percent() {
        let spent: f64 = LOOKS.iter().map(|look| 2.0 * look.1).sum();
        assert!(spent <= 0.05 + 1e-12, "{spent}");
    }

    #[test]
    fn rank_sums_are_the_books() {
        // All of 8 on one side: 1 in 256. Rank sum 3 of the wrong sign: 5 ways ({}, {1}, {2}, {3}, {1,2}).
        assert_eq!(signed_rank(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), 1.0 / 256.0);
        assert_eq!(signed_rank(vec![1.0, 2.0, -3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), 5.0 / 256.0);
        assert!((normal_below(-1.96) - 0.025).abs() < 1e-4 && (normal_below(1.96) - 0.975).abs() < 1e-4);
    }

    #[test]
    fn the_normal_and_the_exact_distribution_meet() {
        for negative in [100, 150, 200, 264] {
            let (exact, normal) = (exact(32, negative), approximate(32, negative));
            assert!((exact - normal).abs() < 0.002, "{negative}: {exact} {normal}");
        }
    }

    #[test]
    fn of_large_code_what_placement_makes_is_no_merit() {
        let pairs = |ratio: f64| vec![(100.0, 100.0 * ratio); 128];
        let of = |ratio: f64| look(&pairs(ratio), 128, LARGE_MARGIN, 0).map(|it| (it.verdict, it.of_free(LARGE_MARGIN).verdict));
        assert_eq!(of(0.97), Some((Verdict::Undecided, Verdict::NotSlower)));
        assert_eq!(of(1.03), Some((Verdict::Undecided, Verdict::NotSlower)));
        assert_eq!(of(1.06), Some((Verdict::Slower, Verdict::Slower)));
        assert_eq!(of(0.94), Some((Verdict::Faster, Verdict::Faster)));
    }

    #[test]
    fn a_clear_gain_is_seen_at_the_first_look() {
        let pairs: Vec<_> = (0..8).map(|at| (10.0 + f64::from(at) * 0.01, 8.0)).collect();
        let judgement = look(&pairs, 128, MARGIN, 0).expect("eight pairs are a look");
        assert_eq!(judgement.verdict, Verdict::Faster);
        assert!((judgement.ratio - 0.8).abs() < 0.01 && judgement.confidence > 0.99);
        assert!(look(&pairs[..7], 128, MARGIN, 0).is_none());
    }

    #[test]
    fn a_small_gain_takes_time_and_is_looked_for_only_while_there_seems_to_be_one() {
        // 2 % in each pair, of one moment: not before more moments were seen.
        let gain: Vec<_> = (0..64).map(|at| (10.0 + f64::from(at) * 0.01, 9.8 + f64::from(at) * 0.0098)).collect();
        assert!(look(&gain[..32], 1024, MARGIN, 0).is_none() && look(&gain[..8], 1024, MARGIN, 0).is_none());
        assert_eq!(look(&gain[..32], 32, MARGIN, 0).map(|it| it.verdict), Some(Verdict::Faster), "there are no more");
        assert_eq!(look(&gain, 1024, MARGIN, 0).map(|it| it.verdict), Some(Verdict::Faster));
        // As often better as worse.
        let even: Vec<_> = (0..128).map(|at| (10.0, if at % 2 == 0 { 10.3 } else { 9.71 })).collect();
        assert_eq!(look(&even, 1024, MARGIN, 0).map(|it| it.verdict), Some(Verdict::Undecided));
        assert_eq!(look(&even, 1024, MARGIN, 0).map(|it| it.of_free(MARGIN).verdict.keeps()), Some(false), "its median is a loss");
        // Better by 1 % where a pair varies by 10: looked at for longer.
        let noisy: Vec<_> = (0..128).map(|at| (10.0, 9.9 + f64::from(at % 21 - 10) * 0.1)).collect();
        assert!(look(&noisy, 1024, MARGIN, 0).is_none());
        assert_eq!(look(&noisy, 128, MARGIN, 0).map(|it| it.of_free(MARGIN).verdict), Some(Verdict::NotSlower));
    }

    #[test]
    fn a_clear_loss_is_seen_at_once_and_a_small_one_is_not() {
        let pairs = [(10.0, 13.0), (10.0, 14.0), (10.0, 12.6), (10.0, 30.0)];
        assert_eq!(look(&pairs[..3], 128, MARGIN, 0).map(|it| it.verdict), Some(Verdict::Slower));
        assert!(look(&pairs[..2], 128, MARGIN, 0).is_none());
        assert!(look(&[(10.0, 13.0), (10.0, 12.0), (10.0, 13.0), (10.0, 13.0)], 128, MARGIN, 0).is_none());
        assert!(look(&[(13.0, 10.0); 4], 128, MARGIN, 0).is_none(), "a gain takes its eight pairs");
    }
}
