//! Two result files, row by row: is B another speed than A? Their runs were not neighbours in time, so they are compared as independent sets: what the
//! machine did meanwhile counts as a difference, which is why two builds are better compared in one run (`--peers old=PATH,backedge`).

use crate::results::{Interval, Results, RowKind, Run, Verdict};
use crate::statistics::ranks::rank_sum;
use crate::summarize::{LEAST_PAIRS, SIGNIFICANT, bootstrap};
use serde::Serialize;
use std::collections::BTreeSet;

/// Random splits for the rank test.
const PERMUTATIONS: u32 = 10_000;

/// One row under one peer in both files.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// [`crate::results::Row::id`].
    pub row: String,
    /// [`crate::results::Peer::id`].
    pub peer: String,
    /// What the row is for.
    pub kind: RowKind,
    /// Time in A over time in B: above 1, B is faster.
    pub speedup: Interval,
    /// Probability of ranks as far apart if there were no difference.
    pub p: f64,
    /// Of B.
    pub verdict: Verdict,
}

/// Compares what is in both, in the order of A.
pub fn compare(a: &Results, b: &Results) -> Vec<Change> {
    let bootstrap = bootstrap(&a.settings);
    let mut changes = Vec::new();
    for row in &a.rows {
        let Some(other) = b.rows.iter().find(|other| other.id == row.id) else { continue };
        for cell in row.cells.iter().filter(|cell| cell.summary.is_some()) {
            let Some(twin) = other.cells.iter().find(|twin| twin.peer == cell.peer && twin.summary.is_some()) else { continue };
            let times = |runs: &[Run]| -> Vec<f64> { runs.iter().filter(|run| run.problem.is_none()).map(|run| run.wall_ns).collect() };
            let (before, after) = (times(&cell.runs), times(&twin.runs));
            let speedup = bootstrap.ratio_of_medians(&before, &after);
            let p = rank_sum(&before, &after, PERMUTATIONS, a.settings.seed);
            let few = before.len().min(after.len()) < LEAST_PAIRS as usize - 2;
            let verdict = match () {
                () if few => Verdict::TooFewPairs,
                () if p >= SIGNIFICANT || (speedup.low <= 1.0 && speedup.high >= 1.0) => Verdict::BelowNoise,
                () if speedup.median > 1.0 => Verdict::Faster,
                () => Verdict::Slower,
            };
            changes.push(Change { row: row.id.clone(), peer: cell.peer.clone(), kind: row.kind, speedup, p, verdict });
        }
    }
    changes
}

/// What makes the two files hard to compare, in words.
pub fn differences(a: &Results, b: &Results) -> Vec<String> {
    let mut said = Vec::new();
    let mut differ = |what: &str, x: String, y: String| {
        if x != y {
            said.push(format!("{what} differs: {x} and {y}"));
        }
    };
    let cpu = |results: &Results| results.machines.iter().map(|machine| machine.cpu.clone()).collect::<Vec<_>>().join(", ");
    let kernel = |results: &Results| results.machines.iter().map(|machine| machine.kernel.clone()).collect::<Vec<_>>().join(", ");
    differ("the processor", cpu(a), cpu(b));
    differ("the kernel", kernel(a), kernel(b));
    differ("the time per process", format!("{} s", a.settings.seconds), format!("{} s", b.settings.seconds));
    differ("pinning", format!("{:?}", a.settings.pin), format!("{:?}", b.settings.pin));
    for peer in &a.peers {
        if let Some(other) = b.peers.iter().find(|other| other.id == peer.id) {
            differ(&peer.id, peer.described(), other.described());
        }
    }
    let rows = |of: &Results| of.rows.iter().map(|row| row.id.clone()).collect::<BTreeSet<String>>();
    let (first, second) = (rows(a), rows(b));
    for program in &a.programs {
        if let Some(other) = b.programs.iter().find(|other| other.id == program.id) {
            differ(&format!("the module of {}", program.id), program.sha256.clone(), other.sha256.clone());
        }
    }
    for (which, only) in [("first", &first - &second), ("second", &second - &first)] {
        if let Some(row) = only.first() {
            said.push(format!("{} rows are in the {which} alone ({row}, …)", only.len()));
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Cell, Row, Settings, Summary};

    fn results(times: &[f64]) -> Results {
        let runs = times.iter().map(|time| Run { wall_ns: *time, ..Run::default() }).collect();
        let cell = Cell { peer: "a".into(), summary: Some(Summary::default()), runs, ..Cell::default() };
        Results {
            settings: Settings { confidence: 0.95, resamples: 2000, ..Settings::default() },
            rows: vec![Row { id: "x".into(), cells: vec![cell], ..Row::default() }],
            ..Results::default()
        }
    }

    #[test]
    fn faster_slower_and_neither() {
        let base = results(&[100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.8]);
        let slower = results(&[105.0, 106.0, 104.0, 105.5, 104.5, 105.2, 104.8]);
        assert_eq!(compare(&base, &slower)[0].verdict, Verdict::Slower);
        assert_eq!(compare(&slower, &base)[0].verdict, Verdict::Faster);
        assert_eq!(compare(&base, &base)[0].verdict, Verdict::BelowNoise);
        assert_eq!(compare(&base, &results(&[100.0, 101.0]))[0].verdict, Verdict::TooFewPairs);
        assert!(compare(&base, &Results::default()).is_empty());
        assert_eq!(
            differences(&base, &Results { settings: base.settings.clone(), ..Results::default() }),
            ["1 rows are in the first alone (x, …)"]
        );
    }
}
