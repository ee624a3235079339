//! What a benchmark run leaves: one JSON file. Everything that shows results (tables, `compare`, the HTML report, plots) reads this and nothing else.
//!
//! Shape: `peers` (who ran) x `rows` (what was run) = `cells`; `comparisons` and `groups` are derived from cells and can be derived again.
//! Times are nanoseconds in `f64` or `u64`, ratios are speed-ups of `subject` over `peer` (above 1: the subject is faster), intervals are
//! `low..=high` at [`Settings::confidence`]. Unknown fields are ignored and absent ones take defaults, so that later versions can add.
//!
//! Invariants: 1. every `Cell::peer`, `Comparison::peer` and `Comparison::subject` names a `Peer::id`, every `Comparison::row` a `Row::id`;
//! 2. a cell without `summary` has a `problem`, and the other way round; 3. `runs` of a cell are in the order in which they ran.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of this layout: a file of a higher one is refused.
pub const SCHEMA: u32 = 1;

/// A whole benchmark run, or one shard of it, or several merged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: u32,
    /// When the run began, UTC, `2026-01-31T12:00:00Z`.
    pub started: String,
    /// When it ended or was stopped.
    pub ended: String,
    /// The command line.
    pub command: Vec<String>,
    /// Why figures of this run must not be cited (`--quick`, too few runs, interrupted); empty: they may.
    pub not_for_citing: Vec<String>,
    /// Whether it was stopped before its end; `--resume` goes on.
    pub interrupted: bool,
    /// How it was run.
    pub settings: Settings,
    /// Where it was run. More than one after a merge of shards from several machines.
    pub machines: Vec<Machine>,
    /// Of a merge: the shards that it is made of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<[u32; 2]>,
    /// Who ran, in the order of columns. Missing peers are here too, with the reason.
    pub peers: Vec<Peer>,
    /// The programs that rows are of.
    pub programs: Vec<Program>,
    /// What was run.
    pub rows: Vec<Row>,
    /// Subject against peer, row by row.
    pub comparisons: Vec<Comparison>,
    /// Geometric means over the rows of a group.
    pub groups: Vec<GroupMean>,
}

/// How a run was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Groups asked for: `feedback`, `compute`, `systems`, `real`.
    pub suite: Vec<String>,
    /// Only rows whose id contains this.
    pub filter: Option<String>,
    /// Whether `--quick` was given.
    pub quick: bool,
    /// Least and most processes per cell.
    pub runs_least: u32,
    /// See `runs_least`.
    pub runs_most: u32,
    /// How long a steady-state process calls the work, seconds.
    pub seconds: f64,
    /// A cell is run again until its interval's half-width is at most this share of its median.
    pub target_half_width: f64,
    /// Of intervals, e.g. 0.95.
    pub confidence: f64,
    /// Bootstrap resamples.
    pub resamples: u32,
    /// Of orders and resamples.
    pub seed: u64,
    /// The processor processes were pinned to; none: not pinned.
    pub pin: Option<u32>,
    /// `[index from 1, count]`.
    pub shard: Option<[u32; 2]>,
    /// The subject of comparisons: a peer's id.
    pub subject: String,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Host name.
    pub name: String,
    /// The processor's model name.
    pub cpu: String,
    /// Processors this process may use.
    pub cpus: u32,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Size of the last cache level, bytes; 0 unknown.
    pub last_cache_bytes: u64,
    /// Kernel release.
    pub kernel: String,
    /// Operating system, from os-release.
    pub os: String,
    /// Frequency governor of processor 0, where the kernel shows one.
    pub governor: Option<String>,
    /// Whether a hypervisor is below.
    pub virtualized: bool,
    /// The kernel's own mitigations, from `/sys/devices/system/cpu/vulnerabilities`: name to state.
    pub mitigations: BTreeMap<String, String>,
}

/// An engine in one configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Peer {
    /// `backedge`, `backedge-nf`, `wasmtime`, `wasmtime-inline`, `v8`, `v8-noliftoff`, `jsc`, `wasmi`, `native`, …
    pub id: String,
    /// For people: "V8 (node 26.3.0), warm".
    pub title: String,
    /// The engine's version as it says it.
    pub version: String,
    /// For our own engine: the commit that the executable was built from; `-dirty` where the tree was changed.
    pub commit: Option<String>,
    /// For our own engine: the first twelve digits of the executable's SHA-256.
    pub executable: Option<String>,
    /// The executable.
    pub path: String,
    /// Its flags and settings, in words it understands.
    pub flags: Vec<String>,
    /// Whether out-of-bounds accesses are caught by the processor (guard pages) rather than checked; none: unknown or does not apply.
    pub trap_handler: Option<bool>,
    /// The engine's own protection against Spectre, in words.
    pub spectre: String,
    /// Why it could not be run; none: it could.
    pub missing: Option<String>,
}

impl Peer {
    /// Whether figures of both may stand in one table: version, commit, executable, options and the way accesses are checked are the same.
    pub fn is_same(&self, other: &Peer) -> bool {
        self.version == other.version
            && self.commit == other.commit
            && self.executable == other.executable
            && self.flags == other.flags
            && self.trap_handler == other.trap_handler
    }

    /// Version and commit, or else the executable, for people.
    pub fn build(&self) -> String {
        match (&self.commit, &self.executable) {
            (Some(commit), _) => format!("{} ({commit})", self.version),
            (None, Some(executable)) => format!("{} (executable {executable})", self.version),
            (None, None) => self.version.clone(),
        }
    }

    /// All that [`Peer::is_same`] looks at, for people.
    pub fn described(&self) -> String {
        if self.missing.is_some() {
            return "not there".into();
        }
        let mut said = self.build();
        if let (Some(_), Some(executable)) = (&self.commit, &self.executable) {
            said.push_str(&format!(", executable {executable}"));
        }
        if !self.flags.is_empty() {
            said.push_str(&format!(", {}", self.flags.join(" ")));
        }
        if self.trap_handler == Some(false) {
            said.push_str(", no trap handler");
        }
        said
    }
}

/// A benchmark program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Program {
    /// `sort`
    pub id: String,
    /// `feedback`, `compute`, `systems` or `real`.
    pub group: String,
    /// What it stresses: one line.
    pub stresses: String,
    /// What feedback can do for it: one line.
    pub feedback: String,
    /// The module's SHA-256.
    pub sha256: String,
    /// The module's size.
    pub bytes: u64,
}

/// What a row measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Time of one call of the work once it is stable, in a process that calls it again and again. V8 is "warm" here.
    #[default]
    Steady,
    /// Wall time of a whole process that does the work once, as shipped: start-up, compiling, set-up and work.
    OneShot,
    /// Wall time of a whole process that does next to nothing.
    Startup,
}

/// What a row is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowKind {
    /// A program: goes into means.
    #[default]
    Program,
    /// A kernel made for one transformation: never averaged in.
    Kernel,
    /// A kernel's counterpart where nothing can be gained: must not become slower.
    Control,
    /// Another input of a program or kernel.
    Variant,
}

/// One program in one mode, measured in one way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// `sort/0/steady`: unique.
    pub id: String,
    /// [`Program::id`].
    pub program: String,
    /// [`Program::group`].
    pub group: String,
    /// The mode number given to the program; real programs count their cases.
    pub mode: u32,
    /// The mode in words: "one comparator".
    pub label: String,
    /// What is measured.
    pub metric: Metric,
    /// What it is for.
    pub kind: RowKind,
    /// The row (id) that this is the control of.
    pub control_of: Option<String>,
    /// The program's SIZE.
    pub size: u32,
    /// ROUNDS in one call of the work; what `Steady` times are of.
    pub rounds: u32,
    /// One cell a peer, in the order of `Results::peers`; a peer that was not asked to run this row has none.
    pub cells: Vec<Cell>,
    /// `backedge run --report=json+code` of this row, from one run beside the measured ones: versions, records by site, plans, refusals, trials, code with samples.
    pub report: Option<serde_json::Value>,
}

/// One row under one peer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cell {
    /// [`Peer::id`].
    pub peer: String,
    /// What the runs come to; none where there is a problem.
    pub summary: Option<Summary>,
    /// Why there is no figure: the peer is missing or crashed, the program trapped, the result was wrong, it ran out of time.
    pub problem: Option<Problem>,
    /// Things to know about the figure.
    pub flags: Vec<Flag>,
    /// One entry a process, in order of time.
    pub runs: Vec<Run>,
    /// How fast it was after how long (steady rows only): at most 100 points, the median over the runs.
    pub curve: Vec<CurvePoint>,
}

impl Cell {
    /// How many of its runs failed, and why the first of them did; none where none failed.
    pub fn failures(&self) -> Option<(usize, &Problem)> {
        let failed = || self.runs.iter().filter_map(|run| run.problem.as_ref());
        Some((failed().count(), failed().next()?))
    }
}

/// Why a cell has no figure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Problem {
    /// What happened.
    pub kind: ProblemKind,
    /// One line for people, with what the process said.
    pub text: String,
}

/// Kinds of problems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// The peer is not installed.
    Missing,
    /// The peer cannot run this module (a proposal it lacks).
    Unsupported,
    /// The peer's process died or said something that is not a measurement.
    Crashed,
    /// The program trapped.
    Trapped,
    /// The program's result was wrong.
    WrongResult,
    /// It did not end in time.
    TimedOut,
    /// The run was stopped before its turn.
    #[default]
    NotRun,
}

/// Things to know about a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flag {
    /// The interval is wider than asked for although the most runs were made.
    Wide,
    /// Fewer runs than the least asked for: interrupted, or some failed.
    FewRuns,
    /// In at least half of the runs no steady state was found; the figure is the median of the last half of the calls.
    NoSteadyState,
    /// In at least half of the runs the steady state was slower than what came before it.
    SlowedDown,
    /// Some runs failed; the figure is of the others. They are in `runs`.
    SomeFailed,
}

/// What the runs of a cell come to. Times of `Steady` rows are those of one call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Processes that count.
    pub runs: u32,
    /// Wall time.
    pub wall: Interval,
    /// CPU time of all threads, kernel and user.
    pub cpu: Interval,
    /// From the start of the process to the first call of the guest's code: load, compile, instantiate. 0 where the peer does not say.
    pub startup_ns: Interval,
    /// Steady rows: from the start of the process, less set-up, until its calls are nearly as fast as ever: `startup_ns` of a run and [`Steady::to_90_percent_ns`]. A run without
    /// a steady state took for ever; none: half of them or more did.
    pub until_90_percent_ns: Option<Interval>,
    /// The same until the steady state began ([`Steady::from_ns`]).
    pub until_steady_ns: Option<Interval>,
    /// Most resident memory of the process, bytes.
    pub peak_rss_bytes: Interval,
}

/// A median and where it may lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The median.
    pub median: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end; infinite, `null` in the file, where too many of the values are.
    #[serde(deserialize_with = "or_infinite")]
    pub high: f64,
}

/// JSON has no number for it.
fn or_infinite<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}

impl Interval {
    /// Half of the interval's width as a share of the median; infinite where the median is 0.
    pub fn half_width(&self) -> f64 {
        if self.median == 0.0 { f64::INFINITY } else { (self.high - self.low) / 2.0 / self.median }
    }
}

/// One process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// Which pass over all cells this belongs to; runs of one block stand next to each other in time and form pairs.
    pub block: u32,
    /// Counts all processes of the benchmark run, in order of time.
    pub order: u32,
    /// Why it does not count.
    pub problem: Option<Problem>,
    /// What it computed: the checksum of a steady row, else the lines that the row is about. Files of earlier versions do not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Wall time of the whole process.
    pub process_wall_ns: u64,
    /// CPU time of the whole process, all threads.
    pub process_cpu_ns: u64,
    /// Most resident memory, bytes.
    pub peak_rss_bytes: u64,
    /// See [`Summary::startup_ns`].
    pub startup_ns: u64,
    /// The figure of this run: steady time of one call, or the wall time of the process.
    pub wall_ns: f64,
    /// The same in CPU time.
    pub cpu_ns: f64,
    /// Steady rows: what the changepoints said.
    pub steady: Option<Steady>,
    /// Steady rows: wall time of each call. May be left out of the file (`--no-samples`).
    pub calls_ns: Vec<u64>,
    /// Steady rows: CPU time of all threads during each call.
    pub calls_cpu_ns: Vec<u64>,
}

/// How a process came to its steady state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Steady {
    /// What kind of course it was.
    pub course: Course,
    /// Where segments begin (index of a call), the first one, 0, left out.
    pub changepoints: Vec<u32>,
    /// The first call of the steady state; none: there is none.
    pub from_call: Option<u32>,
    /// When that call began, from the beginning of the first call.
    pub from_ns: Option<u64>,
    /// From the first call until the first time after which calls take at most 1/0.9 of the steady time. Includes that first call. 0: at once.
    pub to_90_percent_ns: Option<u64>,
}

/// What kind of course the calls of one process took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Course {
    /// Alike from the first call.
    Flat,
    /// Slower first, then steady.
    Warmup,
    /// Faster first, then steady.
    Slowdown,
    /// Still changing at the end.
    #[default]
    NoSteadyState,
}

/// A point of the time-to-peak curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CurvePoint {
    /// Time since the first call began.
    pub at_ns: f64,
    /// What a call takes there.
    pub call_ns: f64,
}

/// Subject against one peer on one row, from pairs of neighbouring processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    /// [`Row::id`].
    pub row: String,
    /// [`Peer::id`] of the one that is compared: `backedge`.
    pub subject: String,
    /// [`Peer::id`] of the other.
    pub peer: String,
    /// Pairs.
    pub pairs: u32,
    /// Wall time of the peer over that of the subject: above 1, the subject is faster.
    pub speedup: Interval,
    /// The same in CPU time.
    pub cpu_speedup: Interval,
    /// Probability of pairs as one-sided as these if there were no difference (signed ranks).
    pub p: f64,
    /// The verdict.
    pub verdict: Verdict,
}

/// What a comparison says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The subject is faster, with confidence.
    Faster,
    /// The subject is slower, with confidence.
    Slower,
    /// The difference, if any, is below the noise.
    #[default]
    BelowNoise,
    /// There are not enough pairs for a verdict.
    TooFewPairs,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::BelowNoise => "below the noise",
            Verdict::TooFewPairs => "too few pairs for a verdict",
        })
    }
}

/// A geometric mean over the rows of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupMean {
    /// The group; `all` for all programs that are not kernels.
    pub group: String,
    /// Of which rows.
    pub metric: Metric,
    /// Of comparisons.
    pub subject: String,
    /// Of comparisons.
    pub peer: String,
    /// How many rows; kernels, controls and variants are not counted, except in the group `feedback`, which holds nothing else.
    pub rows: u32,
    /// The mean speed-up.
    pub speedup: Interval,
    /// The row (id) with the lowest speed-up.
    pub worst_row: String,
    /// Its speed-up.
    pub worst: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example that readers of the format are made with says all of the format: nothing in it is ignored, nothing is left to a default.
    #[test]
    fn the_example_reads_and_writes_without_a_difference() {
        let text = include_str!("../docs/example-results.json");
        let results: Results = serde_json::from_str(text).unwrap();
        assert_eq!(results.schema, SCHEMA);
        let again = serde_json::to_value(&results).unwrap();
        let original: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(floats(again), floats(original));
    }

    /// 1 and 1.0 are the same number in JSON.
    fn floats(value: serde_json::Value) -> serde_json::Value {
        use serde_json::Value;
        match value {
            Value::Number(number) => number.as_f64().into(),
            Value::Array(items) => items.into_iter().map(floats).collect(),
            Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, floats(value))).collect(),
            other => other,
        }
    }

    #[test]
    fn an_interval_without_an_end_is_read_as_written() {
        let open = Interval { median: 2.0, low: 1.0, high: f64::INFINITY };
        let text = serde_json::to_string(&open).unwrap();
        assert_eq!(text, r#"{"median":2.0,"low":1.0,"high":null}"#);
        assert_eq!(serde_json::from_str::<Interval>(&text).unwrap(), open);
    }

    #[test]
    fn half_width_is_relative() {
        assert_eq!(Interval { median: 100.0, low: 97.0, high: 103.0 }.half_width(), 0.03);
        assert!(Interval::default().half_width().is_infinite());
    }
}
