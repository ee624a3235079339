//! From what was measured (journal entries) to cells, comparisons and means. A pure function: `merge` and `--resume` call it again.

use crate::journal::Entry;
use crate::results::*;
use crate::statistics::bootstrap::{Bootstrap, ratios};
use crate::statistics::median;
use crate::statistics::ranks::paired;
use std::collections::{BTreeMap, BTreeSet};

/// A difference is called one when pairs as one-sided as these would come up by chance less often than this. Chosen so that of 100 comparisons of a thing
/// with itself more than 5 are called different in 1.5 % of cases only.
pub const SIGNIFICANT: f64 = 0.02;
/// Fewer pairs cannot reach [`SIGNIFICANT`] (7 pairs on one side: 2/128).
pub const LEAST_PAIRS: u32 = 7;
/// Points of a curve.
const CURVE_POINTS: usize = 100;

/// Puts entries into the plan's rows, and derives everything that is derived.
pub fn fill(plan: &Results, entries: &[Entry]) -> Results {
    let mut results = plan.clone();
    let bootstrap = bootstrap(&results.settings);
    let mut by_cell: BTreeMap<(String, String), Vec<Run>> = BTreeMap::new();
    for entry in entries {
        by_cell.entry((entry.row.clone(), entry.peer.clone())).or_default().push(entry.run.clone());
    }
    let least = results.settings.runs_least;
    let target = results.settings.target_half_width;
    for row in &mut results.rows {
        refuse_other_results(row, &mut by_cell);
        for cell in &mut row.cells {
            let runs = by_cell.remove(&(row.id.clone(), cell.peer.clone())).unwrap_or_default();
            let peer = cell.peer.clone();
            *cell = self::cell(&peer, row.metric, runs, &bootstrap, least, target);
        }
    }
    derive(&mut results);
    results
}

/// What most peers of a row computed is right, of as many the first one's; who computed something else has a wrong result, whatever it says of itself.
fn refuse_other_results(row: &Row, runs: &mut BTreeMap<(String, String), Vec<Run>>) {
    let mut peers_of: Vec<(String, Vec<&str>)> = Vec::new();
    for cell in &row.cells {
        let of_cell = runs.get(&(row.id.clone(), cell.peer.clone())).into_iter().flatten();
        for result in of_cell.filter(|run| run.problem.is_none()).filter_map(|run| run.result.as_ref()) {
            match peers_of.iter_mut().find(|(known, _)| known == result) {
                Some((_, peers)) if peers.contains(&cell.peer.as_str()) => {}
                Some((_, peers)) => peers.push(&cell.peer),
                None => peers_of.push((result.clone(), vec![&cell.peer])),
            }
        }
    }
    // (of several that are most, the last is found: they stand in the order of peers)
    let Some((right, peers)) = peers_of.iter().rev().max_by_key(|(_, peers)| peers.len()) else { return };
    for cell in &row.cells {
        for run in runs.get_mut(&(row.id.clone(), cell.peer.clone())).into_iter().flatten().filter(|run| run.problem.is_none()) {
            if let Some(result) = run.result.as_ref().filter(|result| *result != right) {
                let text = format!("{} computed {result:?}, {} {right:?}", cell.peer, peers.join(", "));
                run.problem = Some(Problem { kind: ProblemKind::WrongResult, text });
            }
        }
    }
}

/// More say nothing new.
const MOST_RESAMPLES: u32 = 100_000;

/// The bootstrap that the settings say.
pub fn bootstrap(settings: &Settings) -> Bootstrap {
    // A file may say anything.
    Bootstrap { resamples: settings.resamples.min(MOST_RESAMPLES), confidence: settings.confidence, seed: settings.seed }
}

/// A cell from its runs.
pub fn cell(peer: &str, metric: Metric, mut runs: Vec<Run>, bootstrap: &Bootstrap, least: u32, target: f64) -> Cell {
    runs.sort_by_key(|run| run.order);
    let good: Vec<&Run> = runs.iter().filter(|run| run.problem.is_none()).collect();
    let problem = match runs.iter().find_map(|run| run.problem.clone()) {
        // A wrong result fails the row: no time is printed for it.
        Some(problem) if good.is_empty() || problem.kind == ProblemKind::WrongResult => Some(problem),
        None if good.is_empty() => Some(Problem { kind: ProblemKind::NotRun, text: "stopped before its turn".into() }),
        _ => None,
    };
    let mut cell = Cell { peer: peer.into(), ..Cell::default() };
    if problem.is_none() {
        let interval = |value: &dyn Fn(&Run) -> f64| bootstrap.median(&good.iter().map(|run| value(run)).collect::<Vec<f64>>());
        let wall = interval(&|run| run.wall_ns);
        let course =
            |course: Course| 2 * good.iter().filter(|run| run.steady.as_ref().is_some_and(|s| s.course == course)).count() >= good.len();
        let is_steady = metric == Metric::Steady;
        let flags = [
            (Flag::Wide, wall.half_width() > target),
            (Flag::FewRuns, (good.len() as u32) < least),
            (Flag::NoSteadyState, is_steady && course(Course::NoSteadyState)),
            (Flag::SlowedDown, is_steady && course(Course::Slowdown)),
            (Flag::SomeFailed, good.len() < runs.len()),
        ];
        cell.flags = flags.into_iter().filter(|(_, holds)| *holds).map(|(flag, _)| flag).collect();
        cell.summary = Some(Summary {
            runs: good.len() as u32,
            wall,
            cpu: interval(&|run| run.cpu_ns),
            startup_ns: interval(&|run| run.startup_ns as f64),
            until_90_percent_ns: until(&good, bootstrap, |steady| steady.to_90_percent_ns),
            until_steady_ns: until(&good, bootstrap, |steady| steady.from_ns),
            peak_rss_bytes: interval(&|run| run.peak_rss_bytes as f64),
        });
        if is_steady {
            cell.curve = curve(&good);
        }
    }
    cell.problem = problem;
    cell.runs = runs;
    cell
}

/// From the starts of processes, less set-up, until what `reached` says of their calls, run by run: one that never got there took for ever. None where most did.
fn until(runs: &[&Run], bootstrap: &Bootstrap, reached: fn(&Steady) -> Option<u64>) -> Option<Interval> {
    let time = |run: &Run| run.steady.as_ref().and_then(reached).map_or(f64::INFINITY, |ns| run.startup_ns as f64 + ns as f64);
    let times: Vec<f64> = runs.iter().map(|run| time(run)).collect();
    Some(bootstrap.median(&times)).filter(|it| it.median.is_finite())
}

/// Derives from the runs what files of earlier versions do not have.
pub fn complete(results: &mut Results) {
    let bootstrap = bootstrap(&results.settings);
    for cell in results.rows.iter_mut().flat_map(|row| &mut row.cells) {
        let Some(summary) = &mut cell.summary else { continue };
        let good: Vec<&Run> = cell.runs.iter().filter(|run| run.problem.is_none()).collect();
        let reached = good.iter().filter(|run| run.steady.as_ref().is_some_and(|steady| steady.to_90_percent_ns.is_some())).count();
        // (where most did, none is an answer that is missing)
        if summary.until_90_percent_ns.is_none() && 2 * reached > good.len() {
            summary.until_90_percent_ns = until(&good, &bootstrap, |steady| steady.to_90_percent_ns);
            summary.until_steady_ns = until(&good, &bootstrap, |steady| steady.from_ns);
        }
    }
}

/// The time of a call over time: points equally far apart in the number of calls up to 20, then in its logarithm; each the median over the runs.
fn curve(runs: &[&Run]) -> Vec<CurvePoint> {
    let count = runs.iter().map(|run| run.calls_ns.len()).min().unwrap_or_default();
    let mut at: BTreeSet<usize> = (0..count.min(20)).collect();
    let room = CURVE_POINTS - 20;
    at.extend((0..room).map(|step| ((count as f64).powf(step as f64 / (room - 1) as f64) as usize).saturating_sub(1)));
    let over_runs = |value: &dyn Fn(&Run) -> f64| median(&runs.iter().map(|run| value(run)).collect::<Vec<f64>>());
    at.into_iter()
        .filter(|&call| call < count)
        .map(|call| CurvePoint {
            at_ns: over_runs(&|run| run.calls_ns[..=call].iter().sum::<u64>() as f64),
            call_ns: over_runs(&|run| run.calls_ns[call] as f64),
        })
        .collect()
}

/// Runs of two cells that stand next to each other in time: those of the same block that count.
pub fn pairs<'a>(subject: &'a Cell, peer: &'a Cell) -> Vec<(&'a Run, &'a Run)> {
    let good = |run: &&Run| run.problem.is_none();
    let others: BTreeMap<u32, &Run> = peer.runs.iter().filter(good).map(|run| (run.block, run)).collect();
    subject.runs.iter().filter(good).filter_map(|run| Some((run, *others.get(&run.block)?))).collect()
}

/// A row and its pairs' ratios.
type RowRatios<'a> = (&'a Row, Vec<f64>);

/// Comparisons and means, from the cells.
pub fn derive(results: &mut Results) {
    let bootstrap = bootstrap(&results.settings);
    let subject = results.settings.subject.clone();
    results.comparisons.clear();
    results.groups.clear();
    // Ratios of each row, for the means.
    let mut speedups: BTreeMap<(Metric, &str, &str), Vec<RowRatios<'_>>> = BTreeMap::new();
    for row in &results.rows {
        let Some(mine) = row.cells.iter().find(|cell| cell.peer == subject && cell.summary.is_some()) else { continue };
        for other in row.cells.iter().filter(|cell| cell.peer != subject && cell.summary.is_some()) {
            let pairs = pairs(mine, other);
            let column = |value: fn(&Run) -> f64| -> (Vec<f64>, Vec<f64>) { pairs.iter().map(|(a, b)| (value(b), value(a))).unzip() };
            let ((their_wall, my_wall), (their_cpu, my_cpu)) = (column(|run| run.wall_ns), column(|run| run.cpu_ns));
            let wall = ratios(&their_wall, &my_wall);
            if wall.is_empty() {
                continue; // none of their runs were neighbours
            }
            let speedup = bootstrap.median(&wall);
            let p = paired(&wall.iter().map(|ratio| ratio.ln()).collect::<Vec<f64>>());
            results.comparisons.push(Comparison {
                row: row.id.clone(),
                subject: subject.clone(),
                peer: other.peer.clone(),
                pairs: wall.len() as u32,
                speedup,
                cpu_speedup: bootstrap.median_ratio(&their_cpu, &my_cpu),
                p,
                verdict: verdict(&speedup, p, wall.len() as u32),
            });
            let counts = row.kind == RowKind::Program || (row.kind == RowKind::Kernel && row.group == "feedback");
            if counts {
                speedups.entry((row.metric, row.group.as_str(), other.peer.as_str())).or_default().push((row, wall.clone()));
                if row.kind == RowKind::Program {
                    speedups.entry((row.metric, "all", other.peer.as_str())).or_default().push((row, wall));
                }
            }
        }
    }
    results.groups = speedups
        .into_iter()
        .filter_map(|((metric, group, peer), rows)| {
            let worst = rows.iter().map(|(row, ratios)| (median(ratios), row.id.clone())).min_by(|a, b| a.0.total_cmp(&b.0))?;
            let values: Vec<Vec<f64>> = rows.into_iter().map(|(_, ratios)| ratios).collect();
            Some(GroupMean {
                group: group.into(),
                metric,
                subject: subject.clone(),
                peer: peer.into(),
                rows: values.len() as u32,
                speedup: bootstrap.geometric_mean(&values),
                worst_row: worst.1,
                worst: worst.0,
            })
        })
        .collect();
}

/// What may be said of a speed-up.
pub fn verdict(speedup: &Interval, p: f64, pairs: u32) -> Verdict {
    match () {
        () if pairs < LEAST_PAIRS => Verdict::TooFewPairs,
        () if p >= SIGNIFICANT || (speedup.low <= 1.0 && speedup.high >= 1.0) => Verdict::BelowNoise,
        () if speedup.median > 1.0 => Verdict::Faster,
        () => Verdict::Slower,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(block: u32, wall_ns: f64) -> Run {
        Run { block, order: block, wall_ns, cpu_ns: wall_ns, ..Run::default() }
    }

    /// One row, the subject `a` and the peer `b` with these times.
    fn results(a: &[f64], b: &[f64]) -> Results {
        let cells = ["a", "b"].map(|peer| Cell { peer: peer.into(), ..Cell::default() }).to_vec();
        let plan = Results {
            settings: Settings {
                runs_least: 7,
                target_half_width: 0.02,
                confidence: 0.95,
                resamples: 2000,
                seed: 1,
                subject: "a".into(),
                ..Settings::default()
            },
            rows: vec![Row { id: "x/0/one-shot".into(), group: "compute".into(), metric: Metric::OneShot, cells, ..Row::default() }],
            ..Results::default()
        };
        let entries: Vec<Entry> = [("a", a), ("b", b)]
            .iter()
            .flat_map(|(peer, times)| {
                times.iter().enumerate().map(|(block, time)| Entry {
                    row: "x/0/one-shot".into(),
                    peer: peer.to_string(),
                    run: run(block as u32, *time),
                })
            })
            .collect();
        fill(&plan, &entries)
    }

    #[test]
    fn seven_pairs_on_one_side_are_a_difference() {
        let a = [100.0, 101.0, 100.5, 99.8, 100.2, 100.1, 99.9];
        let b = a.map(|time| time * 1.05);
        let results = results(&a, &b);
        let comparison = &results.comparisons[0];
        assert_eq!((comparison.verdict, comparison.pairs), (Verdict::Faster, 7));
        assert!((comparison.speedup.median - 1.05).abs() < 1e-9);
        assert!(results.rows[0].cells.iter().all(|cell| cell.flags.is_empty()));
        assert_eq!(results.groups.len(), 2, "the group and all");
        assert!((results.groups[0].speedup.median - 1.05).abs() < 1e-9);
    }

    #[test]
    fn noise_and_too_few_pairs_say_so() {
        let a = [100.0, 101.0, 100.5, 99.8, 100.2, 100.1, 99.9];
        let b = [100.4, 100.1, 100.2, 100.3, 99.7, 100.6, 99.8];
        assert_eq!(results(&a, &b).comparisons[0].verdict, Verdict::BelowNoise);
        assert_eq!(results(&a[..6], &a.map(|time| time * 2.0)[..6]).comparisons[0].verdict, Verdict::TooFewPairs);
    }

    #[test]
    fn a_wrong_result_leaves_no_time() {
        let wrong = Run { problem: Some(Problem { kind: ProblemKind::WrongResult, text: "wrong".into() }), ..Run::default() };
        let bootstrap = Bootstrap { resamples: 100, confidence: 0.95, seed: 1 };
        let cell = super::cell("a", Metric::OneShot, vec![run(0, 1.0), run(1, 1.0), wrong], &bootstrap, 1, 0.02);
        assert!(cell.summary.is_none() && cell.problem.is_some());
        let crashed = Run { problem: Some(Problem { kind: ProblemKind::Crashed, text: "died".into() }), ..Run::default() };
        let cell = super::cell("a", Metric::OneShot, vec![run(0, 1.0), crashed], &bootstrap, 1, 0.02);
        assert!(cell.summary.is_some() && cell.problem.is_none());
        assert_eq!(cell.flags, [Flag::SomeFailed]);
    }

    #[test]
    fn the_time_to_nearly_steady_is_of_whole_runs() {
        let bootstrap = Bootstrap { resamples: 1000, confidence: 0.95, seed: 1 };
        // What starts late is soon fast: no two runs' times are the same in either part, and all are together.
        let reached = |block: u32, startup_ns: u64, calls_ns: u64| {
            let steady = Steady { from_ns: Some(calls_ns), to_90_percent_ns: Some(calls_ns), ..Steady::default() };
            Run { startup_ns, steady: Some(steady), ..run(block, 1.0) }
        };
        let never = |block| Run { startup_ns: 1, steady: Some(Steady::default()), ..run(block, 1.0) };
        let until = |runs: Vec<Run>| {
            let cell = super::cell("a", Metric::Steady, runs, &bootstrap, 1, 0.02);
            (cell.summary.as_ref().unwrap().until_90_percent_ns, cell)
        };
        let whole = vec![reached(0, 100, 900), reached(1, 200, 800), reached(2, 900, 100)];
        assert_eq!(until(whole).0, Some(Interval { median: 1000.0, low: 1000.0, high: 1000.0 }));
        // Of three one that never got there is the longest, not left out.
        let (censored, cell) = until(vec![reached(0, 1, 9), reached(1, 1, 19), never(2)]);
        assert_eq!(censored, Some(Interval { median: 20.0, low: 10.0, high: f64::INFINITY }));
        assert_eq!(until(vec![reached(0, 1, 9), never(1)]).0, None);
        // A file of an earlier version has the runs alone.
        let mut old = Results { rows: vec![Row { cells: vec![cell.clone()], ..Row::default() }], ..Results::default() };
        old.rows[0].cells[0].summary.as_mut().unwrap().until_90_percent_ns = None;
        complete(&mut old);
        let completed = old.rows[0].cells[0].summary.as_ref().unwrap().until_90_percent_ns.unwrap();
        assert_eq!(completed.median, 20.0);
    }

    #[test]
    fn pairs_need_both_halves() {
        let results = results(&[100.0; 7], &[50.0; 5]);
        assert_eq!(results.comparisons[0].pairs, 5);
        assert!(self::results(&[100.0; 7], &[]).comparisons.is_empty());
    }

    #[test]
    fn a_curve_is_short_and_ordered() {
        let long = Run { calls_ns: vec![1000; 3000], ..Run::default() };
        let points = curve(&[&long, &long]);
        assert!(points.len() <= 100 && points.len() > 50);
        assert!(points.is_sorted_by(|a, b| a.at_ns < b.at_ns));
        assert_eq!(points[0], CurvePoint { at_ns: 1000.0, call_ns: 1000.0 });
        assert!((points.last().unwrap().at_ns - 3e6).abs() < 1e-3);
    }
}
