//! The loop: which process runs next, until every row's interval is narrow enough, the time is over, or the user stops it.
//!
//! A *block* is one pass over all rows; within a row its peers run one after the other in a random order, so that runs of a block are neighbours in time and
//! form pairs. A row whose intervals are wide after the least number of runs is run again, whole, up to the most. Nothing runs at the same time as a measurement.

use crate::catalog::Job;
use crate::journal::{Entry, Journal};
use crate::measure::{Conditions, asks, failed, measure, prime};
use crate::peers::Engine;
use crate::process::interrupted;
use crate::results::{Cell, Metric, Problem, ProblemKind, Results, Run};
use crate::statistics::bootstrap::Bootstrap;
use crate::statistics::random::Random;
use crate::{machine, summarize};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Beyond its calls, what a steady process takes at least, seconds: start, set-up, check. A guess that only the first estimate needs.
const OVERHEAD_SECONDS: f64 = 0.3;
/// A problem this often without a good run, and the cell is not tried again.
const MOST_FAILURES: usize = 2;
/// With `--quick`, a process that takes longer than this runs once: an interpreter would use up the quarter of an hour.
const SLOW_NS: u64 = 3_000_000_000;
/// A peer that was killed at its limit this often, and never had a figure, is not asked for further rows.
const MOST_TIMEOUTS: usize = 2;
/// Where there is a deadline: how long a process may take, and how much longer than the deadline.
const LONGEST: Duration = Duration::from_secs(60);
const GRACE: Duration = Duration::from_secs(40);
/// Resamples for the question whether an interval is narrow enough; the results' own come from all resamples.
const QUICK_RESAMPLES: u32 = 500;

/// What is run.
pub struct Work<'a> {
    /// The rows.
    pub jobs: &'a [Job],
    /// The peers.
    pub engines: &'a [Engine],
    /// How.
    pub conditions: &'a Conditions,
    /// No process is started after this time, and none lives much longer.
    pub deadline: Option<Instant>,
    /// Whether there is a bar, and what is said besides it. False: nothing is printed.
    pub progress: bool,
}

/// The plan's rows: every job with a cell for every peer that can be asked.
pub fn plan(mut results: Results, jobs: &[Job], engines: &[Engine]) -> Results {
    results.peers = engines.iter().map(|engine| engine.peer.clone()).collect();
    results.rows = jobs
        .iter()
        .map(|job| {
            let mut row = job.row.clone();
            row.cells = engines
                .iter()
                .filter(|engine| asks(engine, job))
                .map(|engine| Cell { peer: engine.peer.id.clone(), ..Cell::default() })
                .collect();
            row
        })
        .collect();
    results
}

/// How results say that there was no time for all that was wanted.
pub const LATE: &str = "its time was over";

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All that was wanted ran.
    Done,
    /// There was a process to start after the deadline.
    Late,
    /// The user stopped it.
    Interrupted,
}

/// Runs what is missing of `results`' settings; `entries` holds what was measured before and gets what is measured now. Complaints go to standard error.
pub fn run(work: &Work<'_>, results: &Results, entries: &mut Vec<Entry>, journal: &mut Journal) -> Ended {
    let bar = Bar::new(work, results.settings.runs_least);
    let ended = run_all(work, results, entries, journal, &bar);
    bar.finish();
    ended
}

fn run_all(work: &Work<'_>, results: &Results, entries: &mut Vec<Entry>, journal: &mut Journal, bar: &Bar) -> Ended {
    let settings = &results.settings;
    let mut done: BTreeSet<(String, String, u32)> =
        entries.iter().map(|entry| (entry.row.clone(), entry.peer.clone(), entry.run.block)).collect();
    let mut order = entries.iter().map(|entry| entry.run.order + 1).max().unwrap_or_default();
    let mut cells: BTreeMap<(String, String), Vec<Run>> = BTreeMap::new();
    for entry in entries.iter() {
        cells.entry((entry.row.clone(), entry.peer.clone())).or_default().push(entry.run.clone());
    }
    let mut absent = BTreeSet::new();
    for block in 0..settings.runs_most {
        for (index, job) in work.jobs.iter().enumerate() {
            if block >= settings.runs_least && !is_wide(job, work.engines, &cells, settings.target_half_width) {
                continue;
            }
            let mut peers: Vec<&Engine> = work.engines.iter().filter(|engine| asks(engine, job)).collect();
            Random::new(settings.seed ^ (u64::from(block) << 32) ^ index as u64).shuffle(&mut peers);
            for engine in peers {
                let key = (job.row.id.clone(), engine.peer.id.clone());
                let before = cells.get(&key).map_or(&[][..], Vec::as_slice);
                let slow = settings.quick && before.iter().any(|run| run.process_wall_ns > SLOW_NS);
                if done.contains(&(key.0.clone(), key.1.clone(), block)) || hopeless(before) || slow {
                    bar.skip(job, work.conditions);
                    continue;
                }
                if work.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    return Ended::Late;
                }
                let most = (block >= settings.runs_least).then_some(settings.runs_most);
                if most.is_some() {
                    bar.more(job, work.conditions);
                }
                bar.begin(job, engine, block, most);
                let began = Instant::now();
                let until = || work.deadline.map(|deadline| (deadline + GRACE).min(Instant::now() + LONGEST));
                let ran = if hangs(entries, &engine.peer.id) {
                    Some(failed(ProblemKind::TimedOut, format!("{} is not asked any more: it hangs", engine.peer.id)))
                } else {
                    let primed = if engine.primed && before.iter().all(|run| run.problem.is_some()) {
                        prime(engine, job, work.conditions, until())
                    } else {
                        Some(Ok(()))
                    };
                    match primed {
                        None => return Ended::Interrupted,
                        Some(Err(Problem { kind, text })) => Some(failed(kind, text)),
                        Some(Ok(())) => measure(engine, job, work.conditions, until()),
                    }
                };
                let Some(mut run) = ran else { return Ended::Interrupted };
                (run.block, run.order) = (block, order);
                order += 1;
                // That a peer is missing stands under the table; that a program is, must be said of each.
                if let Some(Problem { kind, text }) = &run.problem
                    && (*kind != ProblemKind::Missing || engine.peer.missing.is_none() && absent.insert(job.row.id.clone()))
                {
                    bar.say(&format!("{}: {text}", job.row.id));
                }
                let entry = Entry { row: key.0.clone(), peer: key.1.clone(), run };
                if let Err(error) = journal.add(&entry) {
                    bar.say(&format!(
                        "the journal cannot be written: {error}; the run goes on, its results are in memory only until it ends"
                    ));
                }
                bar.end(job, work.conditions, began.elapsed());
                done.insert((key.0.clone(), key.1.clone(), block));
                cells.entry(key).or_default().push(entry.run.clone());
                entries.push(entry);
                if interrupted() {
                    return Ended::Interrupted;
                }
            }
        }
    }
    Ended::Done
}

/// A peer that was killed at its limit again and again, and had no figure.
fn hangs(entries: &[Entry], peer: &str) -> bool {
    let mut killed = 0;
    for entry in entries.iter().filter(|entry| entry.peer == peer) {
        match entry.run.problem.as_ref().map(|problem| problem.kind) {
            Some(ProblemKind::TimedOut) => killed += 1,
            None => return false,
            Some(_) => {}
        }
    }
    killed >= MOST_TIMEOUTS
}

/// A peer that is missing, or failed again and again, is not asked again.
fn hopeless(runs: &[Run]) -> bool {
    let failed = runs.iter().filter(|run| run.problem.is_some()).count();
    let missing = runs.iter().any(|run| run.problem.as_ref().is_some_and(|problem| problem.kind == ProblemKind::Missing));
    missing || (failed >= MOST_FAILURES && failed == runs.len())
}

fn is_wide(job: &Job, engines: &[Engine], cells: &BTreeMap<(String, String), Vec<Run>>, target: f64) -> bool {
    let bootstrap = Bootstrap { resamples: QUICK_RESAMPLES, confidence: 0.95, seed: 1 };
    engines.iter().any(|engine| {
        let runs = cells.get(&(job.row.id.clone(), engine.peer.id.clone())).map_or(&[][..], Vec::as_slice);
        let times: Vec<f64> = runs.iter().filter(|run| run.problem.is_none()).map(|run| run.wall_ns).collect();
        !times.is_empty() && bootstrap.median(&times).half_width() > target
    })
}

/// About how long a process of this row takes.
pub fn expected_seconds(job: &Job, conditions: &Conditions) -> f64 {
    OVERHEAD_SECONDS + if job.row.metric == Metric::Steady { conditions.seconds } else { 0.5 }
}

/// Adds the rows that are done to the plan, and says why the whole may not be cited.
pub fn finish(plan: &Results, entries: &[Entry], ended: Ended) -> Results {
    let mut results = summarize::fill(plan, entries);
    results.ended = machine::now();
    results.interrupted = ended == Ended::Interrupted;
    let mut why = Vec::new();
    if results.settings.quick {
        why.push("--quick".to_owned());
    }
    if results.interrupted {
        why.push("interrupted".into());
    }
    let ran = results.rows.iter().flat_map(|row| &row.cells).filter_map(|cell| cell.summary.as_ref());
    if let Some(least) = ran.map(|summary| summary.runs).min().filter(|least| *least < summarize::LEAST_PAIRS) {
        why.push(format!("cells of {least} run{}, and a verdict takes {}", if least == 1 { "" } else { "s" }, summarize::LEAST_PAIRS));
    }
    if ended == Ended::Late {
        why.push(LATE.into());
    }
    results.not_for_citing = why;
    results
}

/// The progress bar, counted in expected milliseconds so that its remaining time means something. Without a terminal: complaints, and a line now and then.
struct Bar {
    bar: Option<ProgressBar>,
    /// When something was last said where there is no terminal.
    said: std::cell::Cell<Instant>,
}

/// Between lines where there is no terminal.
const SILENCE: Duration = Duration::from_secs(60);

impl Bar {
    fn new(work: &Work<'_>, runs: u32) -> Bar {
        if !work.progress {
            return Bar { bar: None, said: Instant::now().into() };
        }
        let a_block: f64 = work
            .jobs
            .iter()
            .map(|job| expected_seconds(job, work.conditions) * work.engines.iter().filter(|engine| asks(engine, job)).count() as f64)
            .sum();
        let bar = ProgressBar::with_draw_target(Some((1000.0 * a_block * f64::from(runs)) as u64), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed} gone, about {eta} left  {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(500));
        Bar { bar: Some(bar), said: Instant::now().into() }
    }

    /// `most`: of runs beyond the least, how many there may be. How many rows will take some is not known before.
    fn begin(&self, job: &Job, engine: &Engine, block: u32, most: Option<u32>) {
        if let Some(bar) = &self.bar {
            let again = most.map_or(String::new(), |most| format!(" of at most {most}: its interval is wide"));
            let now = format!("{} {} run {}{again}", job.row.id, engine.peer.id, block + 1);
            if bar.is_hidden() && self.said.get().elapsed() >= SILENCE {
                self.said.set(Instant::now());
                let (gone, all) = (bar.position(), bar.length().unwrap_or_default().max(1));
                // Lengths are expected milliseconds.
                let left = Duration::from_millis(all.saturating_sub(gone));
                self.say(&match most {
                    None => format!("{:>3} %  about {} left  {now}", 100 * gone / all, HumanDuration(left)),
                    Some(_) => format!("wide rows again  {now}"),
                });
            }
            bar.set_message(now);
        }
    }

    /// The whole length moves by what a process took more or less than expected.
    fn end(&self, job: &Job, conditions: &Conditions, took: Duration) {
        if let Some(bar) = &self.bar {
            let (took, expected) = (took.as_millis() as u64, (1000.0 * expected_seconds(job, conditions)) as u64);
            bar.set_length((bar.length().unwrap_or_default() + took).saturating_sub(expected));
            bar.inc(took);
        }
    }

    /// A process beyond those that the length was made of.
    fn more(&self, job: &Job, conditions: &Conditions) {
        if let Some(bar) = &self.bar {
            bar.inc_length((1000.0 * expected_seconds(job, conditions)) as u64);
        }
    }

    fn skip(&self, job: &Job, conditions: &Conditions) {
        if let Some(bar) = &self.bar {
            let expected = (1000.0 * expected_seconds(job, conditions)) as u64;
            bar.set_length(bar.length().unwrap_or_default().saturating_sub(expected));
        }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) if !bar.is_hidden() => bar.println(text),
            // Nobody watches a bar: the line goes where complaints go.
            Some(_) => {
                use std::io::Write;
                let _ = writeln!(std::io::stderr(), "{text}");
            }
            None => {}
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal;
    use crate::peers::{How, Places};
    use crate::results::{Peer, Row, SCHEMA, Settings};

    #[test]
    fn a_run_whose_time_is_over_goes_on_later() {
        let shell = std::path::PathBuf::from("/bin/sh");
        let engine = |id: &str| Engine {
            peer: Peer { id: id.into(), path: shell.display().to_string(), ..Peer::default() },
            how: How::Wasm { steady: None, once: Some(vec!["-c".into(), "sleep 0.02; echo done".into()]) },
            env: Vec::new(),
            primed: false,
            fill: None,
        };
        let engines = [engine("a"), engine("b")];
        let job = Job {
            row: Row { id: "x/0/one-shot".into(), program: "x".into(), metric: Metric::OneShot, ..Row::default() },
            module: shell.clone(),
            source: None,
            args: Vec::new(),
            dirs: Vec::new(),
            expect: "done".into(),
        };
        let scratch = tempfile::tempdir().unwrap();
        let places = Places { folder: scratch.path().into(), backedge: shell, scratch: scratch.path().into() };
        let conditions = Conditions { seconds: 0.1, pin: None, places };
        let settings =
            Settings { runs_least: 40, runs_most: 40, confidence: 0.95, resamples: 100, subject: "a".into(), ..Settings::default() };
        let jobs = [job];
        let plan = plan(Results { schema: SCHEMA, settings, ..Results::default() }, &jobs, &engines);
        let path = scratch.path().join("out.journal");
        let mut journal = journal::Journal::create(&path, &plan).unwrap();
        let work = |deadline| Work { jobs: &jobs, engines: &engines, conditions: &conditions, deadline, progress: false };
        let mut entries = Vec::new();
        // Every cell has runs, and none has all of them.
        let ended = run(&work(Some(Instant::now() + Duration::from_millis(400))), &plan, &mut entries, &mut journal);
        assert_eq!(ended, Ended::Late);
        assert!((2..80).contains(&entries.len()), "{}", entries.len());
        let results = finish(&plan, &entries, ended);
        assert!(results.rows[0].cells.iter().all(|cell| cell.summary.is_some()));
        assert!(results.not_for_citing.contains(&"its time was over".to_owned()), "{:?}", results.not_for_citing);
        drop(journal);
        let mut kept = journal::read(&path).unwrap().entries;
        assert_eq!(kept.len(), entries.len());
        let mut journal = journal::Journal::append(&path).unwrap();
        assert_eq!(run(&work(None), &plan, &mut kept, &mut journal), Ended::Done);
        assert_eq!(kept.len(), 80);
        assert!(finish(&plan, &kept, Ended::Done).not_for_citing.is_empty());
    }

    /// A shell in place of an engine: it does what the script says.
    fn shell(id: &str, script: &str) -> Engine {
        Engine {
            peer: Peer { id: id.into(), path: "/bin/sh".into(), ..Peer::default() },
            how: How::Wasm { steady: None, once: Some(vec!["-c".into(), script.into()]) },
            env: Vec::new(),
            primed: false,
            fill: None,
        }
    }

    fn run_shells(scratch: &std::path::Path, engines: &[Engine]) -> Results {
        let shell = std::path::PathBuf::from("/bin/sh");
        let jobs = [Job {
            row: Row { id: "x/0/one-shot".into(), program: "x".into(), metric: Metric::OneShot, ..Row::default() },
            module: shell.clone(),
            source: None,
            args: Vec::new(),
            dirs: Vec::new(),
            expect: "ok ".into(),
        }];
        let places = Places { folder: scratch.into(), backedge: shell, scratch: scratch.into() };
        let conditions = Conditions { seconds: 0.1, pin: None, places };
        let settings =
            Settings { runs_least: 2, runs_most: 2, confidence: 0.95, resamples: 100, subject: "a".into(), ..Settings::default() };
        let plan = plan(Results { schema: SCHEMA, settings, ..Results::default() }, &jobs, engines);
        let mut journal = journal::Journal::create(&scratch.join("out.journal"), &plan).unwrap();
        let work = Work { jobs: &jobs, engines, conditions: &conditions, deadline: None, progress: false };
        let mut entries = Vec::new();
        let ended = run(&work, &plan, &mut entries, &mut journal);
        finish(&plan, &entries, ended)
    }

    #[test]
    fn who_computes_something_else_than_the_others_has_no_time() {
        let problems = |scripts: &[(&str, &str)]| -> Vec<Option<String>> {
            let scratch = tempfile::tempdir().unwrap();
            let engines: Vec<Engine> = scripts.iter().map(|(id, script)| shell(id, script)).collect();
            let results = run_shells(scratch.path(), &engines);
            let told = |cell: &Cell| {
                assert_eq!(cell.summary.is_some(), cell.problem.is_none());
                cell.problem.as_ref().map(|problem| {
                    assert_eq!(problem.kind, ProblemKind::WrongResult);
                    problem.text.clone()
                })
            };
            results.rows[0].cells.iter().map(told).collect()
        };
        // (what differs otherwise, as times do, is no matter)
        let most = [("a", "echo ok 1"), ("b", "echo ok 5; date +%N"), ("c", "echo $$; echo ok 5")];
        assert_eq!(problems(&most), [Some(r#"a computed "ok 1", b, c "ok 5""#.into()), None, None]);
        assert_eq!(problems(&most[..2]), [None, Some(r#"b computed "ok 5", a "ok 1""#.into())]);
        assert_eq!(problems(&most[1..]), [None, None]);
    }

    #[test]
    fn a_cache_is_complete_before_a_run_counts() {
        let scratch = tempfile::tempdir().unwrap();
        let log = scratch.path().join("log");
        let mut engine = shell("a", &format!("echo run >> {}; echo ok 1", log.display()));
        engine.primed = true;
        engine.env.push(("XDG_CACHE_HOME".into(), scratch.path().join("cache").into()));
        let fill = |end: &str| Some(vec!["-c".into(), format!("echo fill >> {}; {end}", log.display()).into()]);
        engine.fill = fill("true");
        assert!(run_shells(scratch.path(), std::slice::from_ref(&engine)).rows[0].cells[0].summary.is_some());
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "run\nfill\nrun\nrun\n");
        engine.fill = fill("exit 3");
        let results = run_shells(scratch.path(), &[engine]);
        let problem = results.rows[0].cells[0].problem.as_ref().unwrap();
        assert_eq!(problem.text, "its cache is not filled: a ended with code 3");
    }
}
