//! Minutes of trials in worker processes. A worker that crashes or hangs is a finding, and another goes on behind the case it had.
//!
//! A worker writes lines to its standard output: `case N` before a case, `at NAME` before a configuration, `finding FOLDER`, and
//! `done JSON` (a [`Tally`]) after the case. Case N of a run with seed S has the seed mix(S, N), whichever worker runs it.

use crate::case::{Case, generate};
use crate::compare::Tolerance;
use crate::configurations::{Configuration, ORACLE, TABLE};
use crate::failure::{Failure, repeat_command};
use crate::random::mix;
use crate::trial::{Bench, Finding, Problem, draw};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What to run.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// What all cases are made from.
    pub seed: u64,
    /// When to stop.
    pub time: Duration,
    /// Cases to run at most.
    pub cases: Option<u64>,
    /// Worker processes.
    pub jobs: u64,
    /// Folder of the findings.
    pub out: PathBuf,
    /// Configurations besides the reference; empty for all.
    pub only: Vec<String>,
    /// How many of them each case runs in.
    pub per_case: usize,
    /// Findings after which it stops.
    pub most_findings: usize,
    /// For tests of the fuzzer: the worker's name of a bug to compile in.
    pub sabotage: Option<String>,
}

/// Longest one configuration may take for one case: they take milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(30);

/// Counts of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Modules that were compared.
    pub modules: u64,
    /// Seeds of which the generator made no module.
    pub empty: u64,
    /// Modules that the reference does not load, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Configurations run, over all modules.
    pub configurations: u64,
    /// Calls of exported functions, over all configurations.
    pub executions: u64,
    /// Differences excused, by tolerance.
    pub tolerated: BTreeMap<String, u64>,
    /// Differences, crashes and hangs.
    pub findings: u64,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.modules += other.modules;
        self.empty += other.empty;
        self.configurations += other.configurations;
        self.executions += other.executions;
        self.findings += other.findings;
        for (reason, count) in &other.skipped {
            *self.skipped.entry(reason.clone()).or_default() += count;
        }
        for (reason, count) in &other.tolerated {
            *self.tolerated.entry(reason.clone()).or_default() += count;
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} modules, {} runs in configurations, {} executions", self.modules, self.configurations, self.executions)?;
        let skipped: u64 = self.skipped.values().sum();
        write!(f, "; {} seeds without a module, {skipped} not loaded", self.empty)?;
        if let Some((reason, count)) = self.skipped.iter().max_by_key(|(_, count)| **count) {
            write!(f, " (mostly, {count}: {reason})")?;
        }
        write!(f, "; tolerated:")?;
        for (_, name) in Tolerance::ALL {
            write!(f, " {name} {},", self.tolerated.get(name).copied().unwrap_or(0))?;
        }
        write!(f, " findings {}", self.findings)
    }
}

/// The configurations of these names, or all, without the reference.
///
/// # Errors
/// There is none of a name.
pub fn chosen(only: &[String]) -> Result<Vec<&'static Configuration>> {
    if only.is_empty() {
        return Ok(TABLE[1..].iter().collect());
    }
    let known = || TABLE.iter().map(|configuration| configuration.name).collect::<Vec<_>>().join(", ");
    // The oracle runs anyway.
    only.iter()
        .filter(|name| *name != ORACLE)
        .map(|name| crate::configurations::named(name).with_context(|| format!("no configuration `{name}`; there are {}", known())))
        .collect()
}

/// The worker: cases `first`, `first + step` and so on, for ever or up to `cases`.
///
/// # Errors
/// The file system's, and the engine's at the start.
pub fn work(campaign: &Campaign, first: u64, step: u64) -> Result<()> {
    let sabotage = match campaign.sabotage.as_deref() {
        None => None,
        Some("signed-shift") => Some(jit::Sabotage::SignedShift),
        Some("open-guard") => Some(jit::Sabotage::OpenGuard),
        Some(other) => bail!("no sabotage `{other}`"),
    };
    let bench = Bench::new(sabotage).map_err(anyhow::Error::msg)?;
    let among = chosen(&campaign.only)?;
    let mut number = first;
    while campaign.cases.is_none_or(|cases| number < cases) {
        say(&format!("case {number}"))?;
        let tally = work_on(campaign, &bench, &among, number)?;
        say(&format!("done {}", serde_json::to_string(&tally)?))?;
        number += step;
    }
    Ok(())
}

/// A line for the parent; an error where it is gone.
fn say(line: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

fn case_of(campaign: &Campaign, bench: &Bench, number: u64) -> Option<Case> {
    generate(mix(campaign.seed, number), &bench.features, false)
}

fn work_on(campaign: &Campaign, bench: &Bench, among: &[&'static Configuration], number: u64) -> Result<Tally> {
    let mut tally = Tally::default();
    let Some(case) = case_of(campaign, bench, number) else {
        tally.empty = 1;
        return Ok(tally);
    };
    let configurations = draw(case.seed, among, campaign.per_case);
    let mut lost = Ok(());
    let verdict = bench.trial(&case, &configurations, &mut |name| {
        if lost.is_ok() {
            lost = say(&format!("at {name}"));
        }
    });
    lost?;
    match verdict.skipped {
        // Offsets and indices make no other reason.
        Some(reason) => *tally.skipped.entry(reason.split(" (at").next().unwrap_or_default().to_owned()).or_default() += 1,
        None => tally.modules = 1,
    }
    tally.configurations = verdict.configurations;
    tally.executions = verdict.executions;
    for tolerance in verdict.tolerances {
        let name = Tolerance::ALL.iter().find(|(other, _)| *other == tolerance).map_or("", |(_, name)| name);
        *tally.tolerated.entry(name.to_owned()).or_default() += 1;
    }
    for finding in verdict.findings {
        tally.findings += 1;
        report(campaign, &case, &finding)?;
    }
    Ok(tally)
}

/// Writes a finding and says so.
fn report(campaign: &Campaign, case: &Case, finding: &Finding) -> Result<()> {
    let folder = Failure::write(&campaign.out, case, finding)?;
    say(&format!("finding {}: {}\n  repeat: {}", finding.configuration, finding.problem, repeat_command(&folder)))
}

/// Runs workers until the time is up. The result says what was run and found.
///
/// # Errors
/// A worker could not be started, or ends before its first case.
pub fn run(campaign: &Campaign) -> Result<Tally> {
    let bench = Arc::new(Bench::new(None).map_err(anyhow::Error::msg)?);
    let started = Instant::now();
    let total = Arc::new(Mutex::new((Tally::default(), Instant::now())));
    let jobs = campaign.jobs.max(1);
    let outcomes: Vec<Result<()>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..jobs)
            .map(|job| {
                let (bench, total) = (bench.clone(), total.clone());
                scope.spawn(move || oversee(campaign, &bench, job, jobs, started, &total))
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    outcomes.into_iter().collect::<Result<()>>()?;
    let total = total.lock().unwrap_or_else(|error| error.into_inner());
    Ok(total.0.clone())
}

/// One worker after the other for the cases `job`, `job + jobs` and so on.
fn oversee(campaign: &Campaign, bench: &Bench, job: u64, jobs: u64, started: Instant, total: &Mutex<(Tally, Instant)>) -> Result<()> {
    let lock = || total.lock().unwrap_or_else(|error| error.into_inner());
    let mut next = job;
    loop {
        let over = || started.elapsed() >= campaign.time || lock().0.findings >= campaign.most_findings as u64;
        if over() || campaign.cases.is_some_and(|cases| next >= cases) {
            return Ok(());
        }
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("worker").args(["--seed", &format!("{:#x}", campaign.seed)]).args(["--first", &next.to_string()]);
        command.args(["--step", &jobs.to_string()]).args(["--per-case", &campaign.per_case.to_string()]).arg("--out").arg(&campaign.out);
        command.args(campaign.cases.iter().flat_map(|cases| ["--cases".to_owned(), cases.to_string()]));
        command.args(campaign.only.iter().flat_map(|name| ["--only", name]));
        command.args(campaign.sabotage.iter().flat_map(|name| ["--sabotage", name]));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("failed to start a worker")?;
        let out = child.stdout.take().expect("it is piped");
        let (send, lines) = channel();
        let reader = std::thread::spawn(move || BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        let (mut case, mut at, mut heard) = (None, String::new(), Instant::now());
        let problem = loop {
            match lines.recv_timeout(Duration::from_millis(200)) {
                Ok(line) => {
                    heard = Instant::now();
                    if let Some(number) = line.strip_prefix("case ") {
                        case = number.parse::<u64>().ok();
                    } else if let Some(name) = line.strip_prefix("at ") {
                        at = name.to_owned();
                    } else if let Some(json) = line.strip_prefix("done ") {
                        next = case.take().map_or(next, |case| case + jobs);
                        let mut total = lock();
                        total.0.add(&serde_json::from_str(json).context("a worker's tally")?);
                        if total.1.elapsed() >= PROGRESS {
                            total.1 = Instant::now();
                            println!("{:4} s: {}", started.elapsed().as_secs(), total.0);
                        }
                    } else {
                        println!("{line}");
                    }
                    if over() {
                        break None;
                    }
                }
                Err(RecvTimeoutError::Timeout) if over() => break None,
                Err(RecvTimeoutError::Timeout) if heard.elapsed() > PATIENCE => break Some(Problem::Hang),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let status = child.wait()?;
                    if status.success() {
                        break None;
                    }
                    break Some(Problem::Crash(status.to_string()));
                }
            }
        };
        // It may have ended already.
        let _ = child.kill();
        child.wait()?;
        drop(lines);
        let _ = reader.join();
        let Some(problem) = problem else {
            if over() || campaign.cases.is_some() {
                return Ok(());
            }
            continue;
        };
        let Some(number) = case else { bail!("a worker ends before a case: {problem}") };
        next = number + jobs;
        lock().0.findings += 1;
        if let Some(case) = case_of(campaign, bench, number) {
            report(campaign, &case, &Finding { configuration: at, problem, notes: String::new() })?;
        }
    }
}
