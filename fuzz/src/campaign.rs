//! Minutes of trials in worker processes ([`workers`](crate::workers)): a crash or a hang is a finding like any other. Case N of a run with seed S has the seed mix(S, N), whichever worker runs it.

use crate::case::{Case, generate};
use crate::compare::Tolerance;
use crate::configurations::{Configuration, ORACLE, TABLE};
use crate::failure::{Failure, repeat_command};
use crate::random::mix;
use crate::trial::{Bench, Finding, Problem, draw};
use crate::workers::{self, Work, say};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
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
    /// Calls that the reference made.
    pub calls: u64,
    /// Those of them that returned.
    pub returned: u64,
    /// Transformations of tier 2, by name: how often one was made, how often refused. Where none is made, nothing about them is tested.
    pub applied: BTreeMap<String, [u64; 2]>,
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
        self.calls += other.calls;
        self.returned += other.returned;
        for (reason, count) in &other.skipped {
            *self.skipped.entry(reason.clone()).or_default() += count;
        }
        for (name, counts) in &other.applied {
            let sum = self.applied.entry(name.clone()).or_default();
            *sum = [sum[0] + counts[0], sum[1] + counts[1]];
        }
        for (reason, count) in &other.tolerated {
            *self.tolerated.entry(reason.clone()).or_default() += count;
        }
    }
}

impl Tally {
    /// Lines that say which transformations were made, and how often.
    pub fn transformations(&self) -> String {
        let lines = self.applied.iter().map(|(name, [made, refused])| format!("  {name:22} made {made:9}, refused {refused:9}\n"));
        format!("transformations in tier 2:\n{}", lines.collect::<String>())
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} modules, {} runs in configurations, {} executions, {} % of them without a trap",
            self.modules,
            self.configurations,
            self.executions,
            100 * self.returned / self.calls.max(1)
        )?;
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
    tally.applied = verdict.applied.into_iter().map(|(name, counts)| (name.to_owned(), counts)).collect();
    (tally.calls, tally.returned) = verdict.calls;
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
    let bench = Bench::new(None).map_err(anyhow::Error::msg)?;
    let started = Instant::now();
    let overseer = Overseer { campaign, bench, started, total: Mutex::new((Tally::default(), started)) };
    workers::run(&overseer, campaign.jobs, campaign.cases)?;
    Ok(overseer.total.into_inner().unwrap_or_else(|error| error.into_inner()).0)
}

struct Overseer<'a> {
    campaign: &'a Campaign,
    bench: Bench,
    started: Instant,
    /// The sum so far, and when it was last shown.
    total: Mutex<(Tally, Instant)>,
}

impl Overseer<'_> {
    fn total(&self) -> MutexGuard<'_, (Tally, Instant)> {
        self.total.lock().unwrap_or_else(|error| error.into_inner())
    }
}

impl Work for Overseer<'_> {
    fn arguments(&self, first: u64, step: u64) -> Vec<OsString> {
        let campaign = self.campaign;
        let mut arguments = vec!["worker".to_owned()];
        let mut option = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
        option("--seed", format!("{:#x}", campaign.seed));
        option("--first", first.to_string());
        option("--step", step.to_string());
        option("--per-case", campaign.per_case.to_string());
        campaign.cases.iter().for_each(|cases| option("--cases", cases.to_string()));
        campaign.only.iter().for_each(|name| option("--only", name.clone()));
        campaign.sabotage.iter().for_each(|name| option("--sabotage", name.clone()));
        let mut arguments: Vec<OsString> = arguments.into_iter().map(OsString::from).collect();
        arguments.extend(["--out".into(), campaign.out.clone().into_os_string()]);
        arguments
    }

    fn is_over(&self) -> bool {
        self.started.elapsed() >= self.campaign.time || self.total().0.findings >= self.campaign.most_findings as u64
    }

    fn done(&self, json: &str) -> Result<()> {
        let tally: Tally = serde_json::from_str(json).context("a worker's tally")?;
        let mut total = self.total();
        total.0.add(&tally);
        if total.1.elapsed() >= PROGRESS {
            total.1 = Instant::now();
            println!("{:4} s: {}", self.started.elapsed().as_secs(), total.0);
        }
        Ok(())
    }

    fn lost(&self, number: u64, part: &str, problem: Problem) -> Result<()> {
        self.total().0.findings += 1;
        match case_of(self.campaign, &self.bench, number) {
            Some(case) => report(self.campaign, &case, &Finding { configuration: part.to_owned(), problem, notes: String::new() }),
            None => say(&format!("finding: the generator at case {number}: {problem}")),
        }
    }
}
