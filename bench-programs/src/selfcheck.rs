//! The harness measured with itself: `aa` compares an engine with itself, again and again, and counts how often a difference is claimed; `doctor` says how
//! small a difference this machine can show.

use crate::catalog::Job;
use crate::measure::{Conditions, measure};
use crate::peers::Engine;
use crate::process::interrupted;
use crate::results::Verdict;
use crate::statistics::bootstrap::{Bootstrap, ratios};
use crate::statistics::median;
use crate::statistics::random::Random;
use crate::statistics::ranks::paired;
use crate::summarize::{SIGNIFICANT, verdict};
use anyhow::{Result, bail};
use serde::Serialize;
use std::ops::RangeInclusive;

/// A comparison of `aa`.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Speed-up that was seen.
    pub speedup: f64,
    /// What the harness said of it.
    pub verdict: Verdict,
    /// Pairs of processes that it took.
    pub pairs: u32,
}

/// Pairs after which a comparison's interval is looked at again.
const PAIRS_AT_ONCE: u32 = 15;

/// What `aa` compares, and how often.
pub struct Contest<'a> {
    /// The one that is called faster or slower.
    pub subject: &'a Engine,
    /// The one beside it; the same one, or a slowed one.
    pub other: &'a Engine,
    /// On this row.
    pub job: &'a Job,
    /// How processes are run.
    pub conditions: &'a Conditions,
    /// Comparisons.
    pub comparisons: u32,
    /// Pairs of processes in each: the least, and the most.
    pub pairs: RangeInclusive<u32>,
    /// From the least on a comparison goes on until its interval's half-width is at most this: the interval as sure as a verdict must be, 1 - [`SIGNIFICANT`], so that a
    /// difference of twice as much is claimed where it ends.
    pub half_width: f64,
    /// Of orders and resamples.
    pub seed: u64,
}

/// Makes the comparisons, each of pairs in random order; `each` hears of every one. Stops early where the user says so.
pub fn compare_again_and_again(contest: &Contest<'_>, mut each: impl FnMut(u32, &Outcome)) -> Result<Vec<Outcome>> {
    let Contest { subject, other, job, conditions, comparisons, ref pairs, half_width, seed } = *contest;
    let bootstrap = Bootstrap { resamples: 2000, confidence: 0.95, seed };
    let sure = Bootstrap { confidence: 1.0 - SIGNIFICANT, ..bootstrap };
    let mut random = Random::new(seed);
    let mut outcomes = Vec::new();
    for number in 0..comparisons {
        let (mut mine, mut theirs) = (Vec::new(), Vec::new());
        for made in 0..*pairs.end() {
            let looks = made >= *pairs.start() && (made - pairs.start()).is_multiple_of(PAIRS_AT_ONCE);
            if looks && sure.median(&ratios(&theirs, &mine)).half_width() <= half_width {
                break;
            }
            let first = random.below(2) == 0;
            for turn in [first, !first] {
                let (engine, times) = if turn { (subject, &mut mine) } else { (other, &mut theirs) };
                match measure(engine, job, conditions, None) {
                    None => return Ok(outcomes),
                    Some(run) => match run.problem {
                        Some(problem) => bail!("{}: {}", job.row.id, problem.text),
                        None => times.push(run.wall_ns),
                    },
                }
            }
        }
        let ratios = ratios(&theirs, &mine);
        let speedup = bootstrap.median(&ratios);
        let p = paired(&ratios.iter().map(|ratio| ratio.ln()).collect::<Vec<f64>>());
        let made = ratios.len() as u32;
        let outcome = Outcome { speedup: speedup.median, verdict: verdict(&speedup, p, made), pairs: made };
        each(number, &outcome);
        outcomes.push(outcome);
        if interrupted() {
            break;
        }
    }
    Ok(outcomes)
}

/// How often a difference was claimed: `(faster, slower)`.
pub fn claims(outcomes: &[Outcome]) -> (usize, usize) {
    let count = |verdict: Verdict| outcomes.iter().filter(|outcome| outcome.verdict == verdict).count();
    (count(Verdict::Faster), count(Verdict::Slower))
}

/// Ratios of neighbouring processes of one engine on one row: the noise that comparisons have to see through.
pub fn noise(engine: &Engine, job: &Job, conditions: &Conditions, pairs: u32) -> Result<Vec<f64>> {
    let mut found = Vec::new();
    for _ in 0..pairs {
        let mut pair = [0.0; 2];
        for time in &mut pair {
            let Some(run) = measure(engine, job, conditions, None) else { bail!("stopped") };
            match run.problem {
                Some(problem) => bail!("{}: {}", job.row.id, problem.text),
                None => *time = run.wall_ns,
            }
        }
        found.push(pair[0] / pair[1]);
    }
    Ok(found)
}

/// The smallest slowdown, as a share, that comparisons of `pairs` pairs with this noise claim in at least 80 of 100 cases. By trial: the noise is drawn from what was
/// seen, centred, in both directions. `None`: not even 50 %.
pub fn resolves(noise: &[f64], pairs: u32, seed: u64) -> Option<f64> {
    const TRIALS: u32 = 400;
    let centre = median(&noise.iter().map(|ratio| ratio.ln()).collect::<Vec<f64>>());
    let noise: Vec<f64> = noise.iter().map(|ratio| ratio.ln() - centre).collect();
    if noise.is_empty() {
        return None;
    }
    let mut effects = (1..=100).map(|step| 0.001 * 1.0647f64.powi(step)).take_while(|effect| *effect <= 0.5);
    let found = |effect: f64| {
        let mut random = Random::new(seed);
        let mut seen = 0;
        for _ in 0..TRIALS {
            let sample: Vec<f64> = (0..pairs)
                .map(|_| {
                    let value = noise[random.below(noise.len())];
                    (1.0 + effect).ln() + if random.below(2) == 0 { value } else { -value }
                })
                .collect();
            let one_sided = median(&sample) > 0.0;
            seen += u32::from(one_sided && paired(&sample) < SIGNIFICANT);
        }
        seen >= TRIALS * 8 / 10
    };
    effects.find(|effect| found(*effect))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_noise_resolves_more() {
        let noise = |width: f64| -> Vec<f64> { (0..20).map(|index| 1.0 + width * (f64::from(index) - 9.5) / 9.5).collect() };
        let (quiet, loud) = (resolves(&noise(0.01), 10, 1).unwrap(), resolves(&noise(0.1), 10, 1).unwrap());
        assert!(quiet < 0.015 && loud > 3.0 * quiet, "{quiet} {loud}");
        assert!(resolves(&noise(0.1), 30, 1).unwrap() < loud);
        assert_eq!(resolves(&noise(0.01), 5, 1), None, "five pairs never reach significance");
        assert_eq!(resolves(&[], 10, 1), None);
    }
}
