//! Where a series of call times changes: optimal partitioning with pruning (PELT: Killick, Fearnhead and Eckley 2012), as Barrett et al., "Virtual
//! machine warmup blows hot and cold" (OOPSLA 2017), use it to tell warm-up from steady state.
//!
//! Each segment is normal with its own mean and variance; a segment costs `n (ln variance + 1)`, a changepoint costs [`PENALTY`]` ln n`. Two things are
//! done to the calls first: an isolated outlier (the machine did something else) is replaced by the larger or smaller of its neighbours, which is what
//! a median over three does; and no variance is taken below ([`FLOOR`] of the median)^2, so that differences nobody cares for
//! make no segments.

/// Of one changepoint, in units of ln n. Barrett et al. chose 15 for 2000 calls; so do we.
const PENALTY: f64 = 15.0;
/// The smallest standard deviation believed, as a share of the median: half a percent.
const FLOOR: f64 = 0.005;
/// The shortest segment. Two, so that a slow first pair of calls is seen; a single slow first call is told apart by [`super::steady`].
const SHORTEST: usize = 2;

/// Where segments begin, 0 left out, ascending. Fewer than four calls have none.
pub fn changepoints(calls: &[f64]) -> Vec<usize> {
    let count = calls.len();
    if count < 2 * SHORTEST {
        return Vec::new();
    }
    let floor = (FLOOR * super::median(calls)).powi(2).max(f64::MIN_POSITIVE);
    let penalty = PENALTY * (count as f64).ln();
    // Centred, so that the difference of sums of squares keeps its digits.
    let centre = super::median(calls);
    let series: Vec<f64> = without_isolated(calls).iter().map(|call| call - centre).collect();
    let mut sums = vec![(0.0, 0.0)];
    for value in &series {
        let (sum, squares) = sums[sums.len() - 1];
        sums.push((sum + value, squares + value * value));
    }
    let cost = |begin: usize, end: usize| {
        let n = (end - begin) as f64;
        let (sum, squares) = (sums[end].0 - sums[begin].0, sums[end].1 - sums[begin].1);
        let variance = (squares / n - (sum / n).powi(2)).max(floor);
        n * (variance.ln() + 1.0)
    };
    // best[t]: the least cost of the first t calls; last[t]: where the last segment of that partition begins.
    let mut best = vec![f64::INFINITY; count + 1];
    let mut last = vec![0; count + 1];
    best[0] = -penalty;
    let mut candidates = vec![0];
    for end in SHORTEST..=count {
        for &begin in &candidates {
            let total = best[begin] + cost(begin, end) + penalty;
            if end - begin >= SHORTEST && total < best[end] {
                (best[end], last[end]) = (total, begin);
            }
        }
        // A beginning that is worse than `end` as a beginning now stays worse for ever: pruned.
        candidates.retain(|&begin| end - begin < SHORTEST || best[begin] + cost(begin, end) <= best[end]);
        if end + 1 >= 2 * SHORTEST {
            candidates.push(end + 1 - SHORTEST);
        }
    }
    let mut found = Vec::new();
    let mut at = last[count];
    while at > 0 {
        found.push(at);
        at = last[at];
    }
    found.reverse();
    found
}

/// The median over three at every call but the first and the last.
fn without_isolated(calls: &[f64]) -> Vec<f64> {
    let mut smooth = calls.to_vec();
    for (at, three) in calls.windows(3).enumerate() {
        smooth[at + 1] = three[0].min(three[1]).max(three[0].max(three[1]).min(three[2]));
    }
    smooth
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    /// `mean` with uniform noise of ±`noise` of it.
    fn noisy(random: &mut Random, mean: f64, noise: f64, count: usize) -> Vec<f64> {
        (0..count).map(|_| mean * (1.0 + noise * (random.below(2001) as f64 - 1000.0) / 1000.0)).collect()
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let mut random = Random::new(5);
        let mut calls = noisy(&mut random, 300.0, 0.02, 40);
        calls.extend(noisy(&mut random, 100.0, 0.02, 100));
        assert_eq!(changepoints(&calls), [40]);
        calls.extend(noisy(&mut random, 80.0, 0.02, 60));
        assert_eq!(changepoints(&calls), [40, 140]);
    }

    #[test]
    fn noise_alone_has_no_changepoint() {
        for seed in 0..20 {
            assert_eq!(changepoints(&noisy(&mut Random::new(seed), 50.0, 0.05, 300)), [0usize; 0], "seed {seed}");
        }
        assert_eq!(changepoints(&[7.0; 50]), [0usize; 0]);
        assert_eq!(changepoints(&[1.0, 2.0, 3.0]), [0usize; 0]);
        assert_eq!(changepoints(&[0.0; 9]), [0usize; 0]);
    }

    #[test]
    fn an_isolated_outlier_is_no_changepoint() {
        let mut calls = noisy(&mut Random::new(2), 50.0, 0.02, 200);
        calls[90] = 500.0;
        calls[130] = 5.0;
        assert_eq!(changepoints(&calls), [0usize; 0]);
    }

    /// Pruning must not change the answer: compared with trying all beginnings.
    #[test]
    fn pruned_and_unpruned_agree() {
        for seed in 0..30 {
            let mut random = Random::new(seed);
            let mut calls = Vec::new();
            for _ in 0..1 + random.below(4) {
                let (mean, count) = (50.0 + random.below(100) as f64, 3 + random.below(30));
                calls.extend(noisy(&mut random, mean, 0.03, count));
            }
            assert_eq!(changepoints(&calls), all_beginnings(&calls), "seed {seed}");
        }
    }

    fn all_beginnings(calls: &[f64]) -> Vec<usize> {
        let series = without_isolated(calls);
        let count = series.len();
        let floor = (FLOOR * super::super::median(calls)).powi(2);
        let penalty = PENALTY * (count as f64).ln();
        let cost = |segment: &[f64]| {
            let n = segment.len() as f64;
            let mean = segment.iter().sum::<f64>() / n;
            let variance = segment.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
            n * (variance.max(floor).ln() + 1.0)
        };
        let mut best: Vec<(f64, Vec<usize>)> = vec![(-penalty, Vec::new())];
        for end in 1..=count {
            let mut least = (f64::INFINITY, Vec::new());
            for begin in 0..(end + 1).saturating_sub(SHORTEST) {
                let total = best[begin].0 + cost(&series[begin..end]) + penalty;
                if total < least.0 {
                    let mut points = best[begin].1.clone();
                    points.extend((begin > 0).then_some(begin));
                    least = (total, points);
                }
            }
            best.push(least);
        }
        best[count].1.clone()
    }
}
