//! Whether two sets of times differ, by ranks: no assumption about how times are distributed, and one bad run cannot decide.
//!
//! [`paired`] for pairs: few by [`signed_ranks`] (Wilcoxon 1945), many by [`signs`] alone; [`rank_sum`] for sets that are not paired (Mann and Whitney 1947), by
//! random permutations. All two-sided.

use super::random::Random;

/// Pairs up to which the distribution is counted out; the normal approximation is good to three digits beyond.
const EXACT_PAIRS: usize = 60;

/// From so many pairs on their signs say enough. The interval beside the probability is the median's, and where a machine changes its speed now and then the
/// largest differences, which ranks count most, say least of it: of 195 pairs with a median of 0.957 ± 0.02 the ranks said nothing, and of 15 two far ones on the other side
/// are enough for ranks (p = 0.05), not for signs (0.007).
const MANY_PAIRS: usize = 15;

/// Signs up to which the binomial distribution is summed; the probability that none is on one side must be a number.
const MOST_COUNTED: usize = 1000;

/// The probability of differences at least as one-sided as these, by ranks of few pairs and by signs of many.
pub fn paired(differences: &[f64]) -> f64 {
    if differences.len() < MANY_PAIRS { signed_ranks(differences) } else { signs(differences) }
}

/// The same by the number of differences on either side alone (the sign test). Zeros are left out; 1 where nothing is left.
pub fn signs(differences: &[f64]) -> f64 {
    let positive = differences.iter().filter(|difference| **difference > 0.0).count();
    let count = positive + differences.iter().filter(|difference| **difference < 0.0).count();
    let smaller = positive.min(count - positive);
    if count > MOST_COUNTED {
        let z = (smaller as f64 + 0.5 - count as f64 / 2.0).min(0.0) / (count as f64).sqrt() * 2.0;
        return (2.0 * normal_below(z)).min(1.0);
    }
    // The binomial distribution's tail, from the probability of none on.
    let mut probability = 0.5f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut tail = 0.0;
    for on_this_side in 0..=smaller {
        tail += probability;
        probability *= (count - on_this_side) as f64 / (on_this_side + 1) as f64;
    }
    (2.0 * tail).min(1.0)
}

/// The probability of differences at least as one-sided as these if each were as likely to be the other way round. Zeros are left out; 1 where
/// nothing is left.
pub fn signed_ranks(differences: &[f64]) -> f64 {
    let mut ordered: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0 && difference.is_finite()).collect();
    let count = ordered.len();
    if count == 0 {
        return 1.0;
    }
    ordered.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let doubled = doubled_ranks(&ordered, |a, b| a.abs() == b.abs());
    let positive: u64 = ordered.iter().zip(&doubled).filter(|(difference, _)| **difference > 0.0).map(|(_, rank)| *rank).sum();
    let total: u64 = doubled.iter().sum();
    let smaller = positive.min(total - positive);
    if count > EXACT_PAIRS {
        let variance: f64 = doubled.iter().map(|rank| (*rank as f64).powi(2)).sum::<f64>() / 4.0;
        let z = (smaller as f64 + 1.0 - total as f64 / 2.0).min(0.0) / variance.sqrt();
        return (2.0 * normal_below(z)).min(1.0);
    }
    // ways[s]: how many choices of signs give the positive ranks a sum of s. At most 2^60 choices fit.
    let mut ways = vec![0u64; total as usize + 1];
    ways[0] = 1;
    for rank in &doubled {
        for sum in (*rank as usize..ways.len()).rev() {
            ways[sum] += ways[sum - *rank as usize];
        }
    }
    let tail: u64 = ways[..=smaller as usize].iter().sum();
    (2.0 * tail as f64 / 2f64.powi(count as i32)).min(1.0)
}

/// The probability that sets drawn from one population differ at least as much as `a` and `b` in the sum of their ranks, from `permutations` random
/// ways to split them. Never 0: one more than was counted, of one more than was tried.
pub fn rank_sum(a: &[f64], b: &[f64], permutations: u32, seed: u64) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 1.0;
    }
    let mut all: Vec<(f64, bool)> = a.iter().map(|value| (*value, true)).chain(b.iter().map(|value| (*value, false))).collect();
    all.sort_unstable_by(|x, y| x.0.total_cmp(&y.0));
    let values: Vec<f64> = all.iter().map(|(value, _)| *value).collect();
    let mut ranks = doubled_ranks(&values, |x, y| x == y);
    let expected = (a.len() * (values.len() + 1)) as f64;
    let distance = |sum: u64| (sum as f64 - expected).abs();
    let seen = distance(all.iter().zip(&ranks).filter(|((_, first), _)| *first).map(|(_, rank)| *rank).sum());
    let mut random = Random::new(seed);
    let mut as_far = 0;
    for _ in 0..permutations {
        random.shuffle(&mut ranks);
        as_far += u32::from(distance(ranks[..a.len()].iter().sum()) >= seen);
    }
    f64::from(as_far + 1) / f64::from(permutations + 1)
}

/// Twice the rank of each of the ordered values, equal ones sharing the mean: twice, so that they are whole.
fn doubled_ranks(ordered: &[f64], equal: impl Fn(f64, f64) -> bool) -> Vec<u64> {
    let mut ranks = vec![0; ordered.len()];
    let mut begin = 0;
    while begin < ordered.len() {
        let end = (begin + 1..ordered.len()).find(|at| !equal(ordered[*at], ordered[begin])).unwrap_or(ordered.len());
        // Ranks begin+1 ..= end have the mean (begin + 1 + end) / 2.
        ranks[begin..end].fill((begin + 1 + end) as u64);
        begin = end;
    }
    ranks
}

/// The standard normal distribution below `z` (Abramowitz and Stegun 26.2.17; error below 1e-7).
fn normal_below(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = t * (0.319_381_53 + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * series;
    if z < 0.0 { tail } else { 1.0 - tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_signed_ranks() {
        // All of n differences on one side: 2 / 2^n.
        assert_eq!(signed_ranks(&[1.0, 2.0, 3.0, 4.0, 5.0]), 2.0 / 32.0);
        assert_eq!(signed_ranks(&[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0]), 2.0 / 128.0);
        // W+ = 1 of n = 5: sums 0 and 1 each arise in one way.
        assert_eq!(signed_ranks(&[1.0, -2.0, -3.0, -4.0, -5.0]), 4.0 / 32.0);
        // Table value: n = 10, W = 8 has the two-sided probability 0.0488 (50 of 1024).
        let signs = [1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0];
        let differences: Vec<f64> = signs.iter().enumerate().map(|(index, sign)| sign * (index + 1) as f64).collect();
        assert_eq!(signed_ranks(&differences), 50.0 / 1024.0);
    }

    #[test]
    fn ties_and_zeros() {
        assert_eq!(signed_ranks(&[]), 1.0);
        assert_eq!(signed_ranks(&[0.0, 0.0]), 1.0);
        assert_eq!(signed_ranks(&[1.0, -1.0]), 1.0);
        // Three equal ones on one side and one on the other: W- = 2.5 (doubled 5) of four ranks 2.5: P(one or none) = 5/16, twice.
        assert_eq!(signed_ranks(&[1.0, 1.0, 1.0, -1.0]), 10.0 / 16.0);
    }

    #[test]
    fn signs_alone() {
        assert_eq!(signs(&[]), 1.0);
        assert_eq!(signs(&[1.0, -1.0, 0.0]), 1.0);
        assert_eq!(signs(&[2.0; 7]), 2.0 / 128.0);
        // 1 of 10 on the other side: (1 + 10) / 1024, twice.
        assert!((signs(&[[1.0; 9].as_slice(), &[-1.0]].concat()) - 22.0 / 1024.0).abs() < 1e-12);
        // Two thirds of 120 pairs a little below, one third far above: the ranks of those few decide for nothing.
        let skewed: Vec<f64> = (0..120).map(|index| if index % 3 == 0 { 0.3 + f64::from(index) / 1e3 } else { -0.04 }).collect();
        assert!(signed_ranks(&skewed) > 0.05 && paired(&skewed) < 0.001, "{} {}", signed_ranks(&skewed), paired(&skewed));
        assert_eq!(paired(&[1.0; 7]), signed_ranks(&[1.0; 7]));
        let balanced: Vec<f64> = (0..2000).map(|index| if index % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert!(signs(&balanced) > 0.9 && signs(&balanced[..1000]) > 0.9 && signs(&[1.0; 2000]) < 1e-6);
    }

    #[test]
    fn many_pairs_by_the_normal_distribution() {
        let differences: Vec<f64> = (0..61).map(|index| if index % 2 == 0 { 1.0 } else { -1.0 } * (1.0 + f64::from(index))).collect();
        assert!(signed_ranks(&differences) > 0.5);
        assert!(signed_ranks(&[1.0; 61]) < 1e-6);
        assert!((normal_below(-1.959_964) - 0.025).abs() < 1e-6);
    }

    #[test]
    fn rank_sums() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
        // 2 of the C(8, 4) = 70 splits are as far apart.
        let p = rank_sum(&a, &b, 100_000, 3);
        assert!((p - 2.0 / 70.0).abs() < 0.003, "{p}");
        assert!(rank_sum(&a, &a, 1000, 3) > 0.9);
        assert_eq!(rank_sum(&a, &[], 1000, 3), 1.0);
    }
}
