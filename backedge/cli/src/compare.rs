//! `backedge compare-feedback`: one recorded run, delivered through LWP, PEBS, performance interrupts and counter sets, and what the optimizer makes of each.
//!
//! The program runs once with its records saved. What each interface would have delivered of them is modelled
//! ([`lwp_feedback::models`]); the policy plans from that, and the program runs again with those plans, and without feedback. These runs are
//! measured: separate processes of this command, in turns, the median of each.

use crate::failure::Failure;
use crate::options::Feedback;
use crate::output::print;
use crate::run::{engine, load};
use backedge::{Config, Module, TierPolicy};
use clap::Args;
use lwp_feedback::models::{self, Delivered, Model, Sampling, Skid, Stream};
use lwp_feedback::policy::{self, Budgets, FilePlan, PlanFile};
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// `backedge compare-feedback`.
#[derive(Args)]
pub struct CompareFeedback {
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Events of the recorded run for one sample of a model, at least 2
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub period: u32,
    /// Timed runs for each model; the median counts
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// An option of `backedge run` for every run (`--with=--dir=.`)
    #[arg(long = "with", value_name = "OPTION", allow_hyphen_values = true)]
    pub run_options: Vec<OsString>,
    /// The program and its arguments. Its output is dropped
    #[arg(value_name = "FILE [ARGS]", required = true, trailing_var_arg = true)]
    pub file_and_args: Vec<OsString>,
}

/// Between two polls of the rings, and two readings of the counters.
const POLL: Duration = Duration::from_millis(10);
/// Of waking the consumer: the middle of the 8 to 15 us that a signal's round trip costs on the machine of the design.
const WAKE_UP_NS: f64 = 10_000.0;
/// Of taking a record. A guess, near what `backedge lwp bench` shows for the monitor.
const RECORD_NS: f64 = 25.0;

/// A row of the table.
struct Row {
    model: Model,
    functions: f64,
    sites: f64,
    records: u64,
    lost: u64,
    unseen: u64,
    wake_ups: u64,
    cost_ms: f64,
    skid: Skid,
    plans: usize,
    decisions: usize,
    ms: f64,
}

/// Does what the options say.
pub fn compare(options: &CompareFeedback) -> Result<(), Failure> {
    let folder = Folder::new()?;
    let records = folder.0.join("records.lwp");
    run(options, &[OsStr::new("--every-event"), OsStr::new("--lwp-record"), records.as_os_str()])?;
    let input = File::open(&records).map_err(|error| Failure::read(&records, &error))?;
    let stream = Stream::read(BufReader::new(input)).map_err(|error| Failure::Load(format!("`{}`: {error}", records.display())))?;
    let module = module(&options.file_and_args[0])?;
    let full = models::full(&stream);
    let sampling = sampling(options.period);
    let mut rows = Vec::new();
    let mut plans = Vec::new();
    for model in Model::ALL {
        let delivered = models::deliver(model, &stream, sampling);
        let (row, file) = judge(model, &delivered, &full, &module);
        let path = folder.0.join(format!("{}.json", model.name()));
        let text = serde_json::to_string(&file).map_err(|error| Failure::Load(format!("cannot write a plan file: {error}")))?;
        std::fs::write(&path, text).map_err(|error| Failure::write(&path, &error))?;
        rows.push(row);
        plans.push(path);
    }
    let without = time(options, &mut rows, &plans)?;
    let text =
        if options.json { format!("{:#}\n", as_json(&rows, without, &stream, options)) } else { as_text(&rows, without, &stream, options) };
    print(&text)
}

/// A folder that goes with its value.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, Failure> {
        let path = std::env::temp_dir().join(format!("backedge-compare-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| Failure::Load(format!("cannot make `{}`: {error}", path.display())))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is in the system's folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the program in a process of its own; how long it took.
fn run(options: &CompareFeedback, more: &[&OsStr]) -> Result<Duration, Failure> {
    let own = std::env::current_exe().map_err(|error| Failure::Load(format!("cannot find this command: {error}")))?;
    let mut command = Command::new(own);
    // Code of an earlier process would hide what this one learns.
    command.arg("run").args(["-C", "cache=n"]).args(more).args(&options.run_options).args(&options.file_and_args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let began = Instant::now();
    let output = command.output().map_err(|error| Failure::Load(format!("cannot start the program: {error}")))?;
    let took = began.elapsed();
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        // (of a trap the frames come behind that line)
        let said = words.lines().find_map(|line| line.strip_prefix("error: ")).or(words.lines().next_back());
        return Err(Failure::Load(format!("the program failed ({}): {}", output.status, said.unwrap_or_default())));
    }
    Ok(took)
}

/// The module with a compiler to ask what it can inline; nothing runs.
fn module(file: &OsStr) -> Result<Module, Failure> {
    let mut config = Config::new();
    config.tier(TierPolicy::Optimizing);
    load(&engine(&config)?, Path::new(file))
}

fn judge(model: Model, delivered: &Delivered, full: &Delivered, module: &Module) -> (Row, PlanFile) {
    let loaded = module.loaded();
    let hash = loaded.module.hash;
    let snapshot = loaded.code.snapshot_of(delivered.profile.snapshot(hash).functions);
    let (plans, _) = policy::plan(&snapshot, &Budgets::default());
    let (functions, sites) = delivered.overlap(full);
    let row = Row {
        model,
        functions,
        sites,
        records: delivered.counts.records,
        lost: delivered.counts.lost,
        unseen: delivered.counts.unseen,
        wake_ups: delivered.counts.wake_ups,
        cost_ms: (delivered.counts.wake_ups as f64 * WAKE_UP_NS + delivered.counts.records as f64 * RECORD_NS) / 1e6,
        skid: delivered.counts.skid,
        plans: plans.len(),
        decisions: plans.iter().map(|plan| plan.decisions.len()).sum(),
        ms: 0.0,
    };
    let plans = plans.into_iter().map(|plan| FilePlan { func: plan.function.func, decisions: plan.decisions }).collect();
    (row, PlanFile { module: Some(hash), plans })
}

/// Times every model's plans and no feedback, in turns; the median of the latter, in milliseconds.
fn time(options: &CompareFeedback, rows: &mut [Row], plans: &[PathBuf]) -> Result<f64, Failure> {
    let mut without = Vec::new();
    let mut with: Vec<Vec<f64>> = vec![Vec::new(); rows.len()];
    for _ in 0..options.runs {
        without.push(run(options, &[OsStr::new("--no-feedback")])?.as_secs_f64() * 1e3);
        for (times, plan) in with.iter_mut().zip(plans) {
            times.push(run(options, &[OsStr::new("--plan"), plan.as_os_str()])?.as_secs_f64() * 1e3);
        }
    }
    for (row, times) in rows.iter_mut().zip(with) {
        row.ms = median(times);
    }
    Ok(median(without))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The model of a `--feedback`; none for LWP itself, and for none.
pub fn model(feedback: Feedback) -> Option<Model> {
    match feedback {
        Feedback::Lwp | Feedback::Off => None,
        Feedback::Pebs => Some(Model::Pebs),
        Feedback::Pmi => Some(Model::Pmi),
        Feedback::Cpc => Some(Model::Cpc),
    }
}

/// Has every event recorded that a probe sees, and the polls behind events; a ring holds a whole burst of them.
pub fn record_every_event(machine: &mut vm::engine::EngineConfig) {
    machine.ring.interval3 = 0;
    machine.ring.interval4 = 0;
    machine.ring.buffer_bytes = 1 << 20;
    machine.ring.threshold_bytes = 1 << 18;
    machine.poll_records = true;
}

/// One sample in `period` events, and a poll every 10 ms.
pub fn sampling(period: u32) -> Sampling {
    Sampling { period, poll_ticks: ticks(POLL) }
}

/// Ticks of the time stamp counter in a duration, measured here.
fn ticks(duration: Duration) -> u64 {
    let (began, stamp) = (Instant::now(), lwp_feedback::ring::time_stamp());
    while began.elapsed() < Duration::from_millis(5) {
        std::hint::spin_loop();
    }
    let per_ns = lwp_feedback::ring::time_stamp().wrapping_sub(stamp) as f64 / began.elapsed().as_nanos() as f64;
    (duration.as_nanos() as f64 * per_ns) as u64
}

fn as_text(rows: &[Row], without: f64, stream: &Stream, options: &CompareFeedback) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{} events of one run ({} more were missed by its rings), one sample in {}",
        stream.event_count(),
        stream.missed,
        options.period
    );
    let _ = writeln!(out, "      |                          modelled                               |        measured");
    let _ = writeln!(out, "model | functions  sites  records     lost   unseen wake-ups   cost ms | plans decisions       ms  speed");
    for row in rows {
        let _ = writeln!(
            out,
            "{:<5} | {:>8.1}% {:>5.1}% {:>8} {:>8} {:>8} {:>8} {:>9.2} | {:>5} {:>9} {:>8.1} {:>5.2}x",
            row.model.name(),
            row.functions * 100.0,
            row.sites * 100.0,
            row.records,
            row.lost,
            row.unseen,
            row.wake_ups,
            row.cost_ms,
            row.plans,
            row.decisions,
            row.ms,
            without / row.ms
        );
    }
    let _ = writeln!(out, "off   | {:>64} | {:>5} {:>9} {without:>8.1} {:>5.2}x", "", 0, 0, 1.0);
    if let Some(row) = rows.iter().find(|row| row.model == Model::Pmi) {
        let Skid { same_site, same_function, other_function, ticks } = row.skid;
        let mean = ticks / (same_site + same_function + other_function).max(1);
        let _ = writeln!(
            out,
            "skid of pmi: {same_site} at the event's site, {same_function} elsewhere in its function, {other_function} in another; {mean} ticks on average"
        );
    }
    out
}

fn as_json(rows: &[Row], without: f64, stream: &Stream, options: &CompareFeedback) -> serde_json::Value {
    let models: Vec<serde_json::Value> = rows
        .iter()
        .map(|row| {
            json!({
                "model": row.model.name(),
                "modelled": {
                    "overlap_functions": row.functions, "overlap_sites": row.sites, "records": row.records, "lost": row.lost,
                    "unseen": row.unseen, "wake_ups": row.wake_ups, "cost_ms": row.cost_ms, "skid": row.skid,
                },
                "measured": { "plans": row.plans, "decisions": row.decisions, "ms": row.ms, "speed": without / row.ms },
            })
        })
        .collect();
    json!({
        "events": stream.event_count(), "missed_by_the_run": stream.missed, "period": options.period, "no_feedback_ms": without, "models": models,
    })
}
