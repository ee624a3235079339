//! `backedge bench`: runs benchmark programs under this engine and its peers and says what can be said of the times. The harness is the crate
//! `bench-programs`; here are the options, where files go, and the process that calls our own engine again and again.

mod instances;
mod stalls;
mod steady;

use crate::benchreport;
use crate::failure::Failure;
use bench_programs::catalog::{Catalog, Job, Selection};
use bench_programs::journal::{self, Journal};
use bench_programs::measure::{self, Conditions};
use bench_programs::peers::{self, Engine, Places};
use bench_programs::results::{Metric, Results, Row, SCHEMA, Settings};
use bench_programs::runner::{self, Ended, Work};
use bench_programs::{compare, machine, merge, process, selfcheck, table};
use clap::{Args, Subcommand};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// `--quick` is over after this: a quarter of an hour with some room.
const QUICK_SECONDS: u64 = 14 * 60;

/// `backedge bench`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Bench {
    /// Something else than a run
    #[command(subcommand)]
    pub action: Option<Action>,
    #[command(flatten)]
    pub run: RunOptions,
}

/// What else there is.
#[derive(Subcommand)]
pub enum Action {
    /// Compare two result files, row by row
    Compare(Compare),
    /// Join result files: the shards of one run
    Merge(Merge),
    /// Print a result file again
    Show(Show),
    /// Compare this engine with itself, again and again, and count how often a difference is claimed
    Aa(Aa),
    /// Say what this machine is, which peers there are, and the smallest difference it can show
    Doctor(Doctor),
    /// List programs and rows
    List(Choice),
    /// Make many short-lived stores on one module: what each costs, and how fast they become
    Instances(instances::Instances),
    /// Measure how long tier changes make a guest wait, beside the interpreter alone and native code
    Stalls(stalls::Stalls),
    /// Call a program's exports until they are stable and print the times (what a run starts)
    #[command(hide = true)]
    Steady(Box<steady::Steady>),
    /// Start processes for a run
    #[command(hide = true)]
    Spawn,
}

/// Which rows.
#[derive(Args, Clone)]
pub struct Choice {
    /// Groups of programs, comma-separated: feedback, compute, systems, real; all of them without it
    #[arg(long, value_name = "S", value_delimiter = ',')]
    pub suite: Vec<String>,
    /// Only rows whose id contains this, e.g. `sort`, `graph/0`, `one-shot`
    #[arg(long, value_name = "F")]
    pub filter: Option<String>,
    /// Only these metrics, comma-separated: steady, one-shot, startup
    #[arg(long, value_name = "M", value_delimiter = ',', value_parser = metric)]
    pub metrics: Vec<Metric>,
    /// Part I of N: for several machines or jobs, whose files `bench merge` joins
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<[u32; 2]>,
    /// The bench-programs folder of a checkout
    #[arg(long, value_name = "DIR")]
    pub programs: Option<PathBuf>,
}

/// How a run is made.
#[derive(Args)]
pub struct RunOptions {
    #[command(flatten)]
    pub choice: Choice,
    /// Engines, comma-separated; the first is compared with the others. NAME=BACKEDGE [OPTIONS] is another backedge, or other options of `run`
    #[arg(long, value_name = "P", value_delimiter = ',')]
    pub peers: Vec<String>,
    /// Processes of each engine on each row, at least
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: Option<u32>,
    /// Processes at most, where the interval stays wide [default: three times --runs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub most_runs: Option<u32>,
    /// How long a steady-state process calls the work, seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// At most a quarter of an hour on 2 CPUs; for a look, not for citing
    #[arg(long)]
    pub quick: bool,
    /// Start no process after so many seconds; --resume goes on where that was not enough
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    pub within: Option<u64>,
    /// Let processes use this processor only
    #[arg(long, value_name = "CPU", value_parser = processor)]
    pub pin: Option<u32>,
    /// Seed of orders and resamples
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write the results here
    #[arg(long, value_name = "OUT")]
    pub json: Option<PathBuf>,
    /// Draw the results as a page
    #[arg(long, value_name = "OUT")]
    pub html: Option<PathBuf>,
    /// Leave the times of single calls out of the results
    #[arg(long)]
    pub no_samples: bool,
    /// Go on with the run to this --json file that was stopped
    #[arg(long, requires = "json")]
    pub resume: bool,
    /// Keep the results under this name for later comparison
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub save_baseline: Option<String>,
    /// Compare with results that were kept under this name
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub baseline: Option<String>,
    /// Run each steady row once more, with a report of what the engine saw and did, which goes into the results
    #[arg(long)]
    pub details: bool,
}

/// `backedge bench compare`.
#[derive(Args)]
pub struct Compare {
    /// Before
    pub a: PathBuf,
    /// After
    pub b: PathBuf,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `backedge bench show`.
#[derive(Args)]
pub struct Show {
    /// The results
    pub file: PathBuf,
    /// As Markdown tables
    #[arg(long)]
    pub markdown: bool,
}

/// `backedge bench merge`.
#[derive(Args)]
pub struct Merge {
    /// The shards' results
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Where the whole goes
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
}

/// A full run goes on until intervals are within so much of their medians.
const HALF_WIDTH: f64 = 0.02;

/// `backedge bench aa`.
#[derive(Args)]
pub struct Aa {
    /// Comparisons: 100, with --slowed 5 without this
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub comparisons: Option<u32>,
    /// Pairs of processes in each. Without this 9; with --slowed as many as a full run would take: until the interval is within ±2 %, 15 to 300
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(7..=1000))]
    pub pairs: Option<u32>,
    /// How long a process calls the work, seconds
    #[arg(long, value_name = "S", default_value = "0.15", value_parser = seconds)]
    pub seconds: f64,
    /// The row: a short program
    #[arg(long, value_name = "ROW", default_value = "nbody/0/steady")]
    pub row: String,
    /// Compare with the same engine that does 5 % more in every call; now a difference must be claimed
    #[arg(long)]
    pub slowed: bool,
    /// Let processes use this processor only
    #[arg(long, value_name = "CPU", value_parser = processor)]
    pub pin: Option<u32>,
    /// Seed of orders and resamples
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The bench-programs folder of a checkout
    #[arg(long, value_name = "DIR")]
    pub programs: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `backedge bench doctor`.
#[derive(Args)]
pub struct Doctor {
    /// Pairs of processes whose noise is looked at, a program
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(5..=1000))]
    pub pairs: u32,
    /// How long a process calls the work, seconds
    #[arg(long, value_name = "S", default_value = "0.3", value_parser = seconds)]
    pub seconds: f64,
    /// Let processes use this processor only
    #[arg(long, value_name = "CPU", value_parser = processor)]
    pub pin: Option<u32>,
    /// The bench-programs folder of a checkout
    #[arg(long, value_name = "DIR")]
    pub programs: Option<PathBuf>,
}

fn shard(text: &str) -> Result<[u32; 2], String> {
    let parts = text.split_once('/').and_then(|(index, count)| Some([index.parse().ok()?, count.parse().ok()?]));
    match parts {
        Some([index, count]) if index >= 1 && index <= count => Ok([index, count]),
        _ => Err("expected I/N with I from 1 to N".into()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|seconds| (0.01..=600.0).contains(seconds)).ok_or_else(|| "expected seconds, 0.01 to 600".into())
}

fn processor(text: &str) -> Result<u32, String> {
    let cpu = text.parse().map_err(|_| "expected a processor's number")?;
    process::may_use(cpu).map(|()| cpu)
}

fn metric(text: &str) -> Result<Metric, String> {
    serde_json::from_value(text.into()).map_err(|_| "expected steady, one-shot or startup".into())
}

fn name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !text.is_empty() && !text.starts_with('.') && text.chars().all(plain) {
        Ok(text.into())
    } else {
        Err("expected letters, digits, - and _".into())
    }
}

/// Runs what is asked for. The exit code is 1 where a result was wrong, the first peer has no figure for some row, or an A/A check failed.
pub fn run(options: &Bench) -> Result<i32, Failure> {
    let code = action(options)?;
    match UNWRITTEN.get() {
        Some(error) => Err(Failure::Load(format!("cannot write to standard output: {error}"))),
        None => Ok(code),
    }
}

fn action(options: &Bench) -> Result<i32, Failure> {
    match &options.action {
        None => benchmark(&options.run),
        Some(Action::Compare(options)) => compare_files(options),
        Some(Action::Merge(options)) => merge_files(options),
        Some(Action::Show(options)) => show(options),
        Some(Action::Aa(options)) => aa(options),
        Some(Action::Doctor(options)) => doctor(options),
        Some(Action::List(choice)) => list(choice),
        Some(Action::Instances(options)) => instances::run(options),
        Some(Action::Stalls(options)) => stalls::run(options),
        Some(Action::Steady(options)) => steady::run(options),
        Some(Action::Spawn) => {
            // Whoever asked is gone, and nobody hears of it.
            let _ = bench_programs::spawner::serve();
            Ok(0)
        }
    }
}

fn load(error: anyhow::Error) -> Failure {
    Failure::Load(format!("{error:#}"))
}

/// Why standard output took nothing any more.
static UNWRITTEN: OnceLock<String> = OnceLock::new();

/// Prints, and does not mind a pipe that was closed; what else goes wrong is said at the end, for the run is not to be lost.
fn say(text: &str) {
    let mut out = std::io::stdout();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        UNWRITTEN.get_or_init(|| error.to_string());
    }
}

/// From here on processes are started by one that holds little memory, see [`bench_programs::spawner`].
fn spawn_by_another(places: &Places) {
    if let Err(error) = process::start_by(&places.backedge, &["bench", "spawn"]) {
        let _ = writeln!(std::io::stderr(), "note: peaks of memory count what this process holds, too: {error}");
    }
}

fn places(programs: Option<&PathBuf>) -> Result<Places, Failure> {
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench-programs");
    let folder = programs.cloned().unwrap_or(built_in);
    let folder = folder.canonicalize().map_err(|error| {
        Failure::Load(format!(
            "no benchmark programs in `{}` ({error}): name the bench-programs folder of a checkout with --programs",
            folder.display()
        ))
    })?;
    let backedge = std::env::current_exe().map_err(|error| Failure::Load(format!("cannot find this executable: {error}")))?;
    Ok(Places { folder, backedge, scratch: state_folder().join("scratch") })
}

/// `$XDG_CACHE_HOME/backedge/bench`, or where temporary files go.
fn state_folder() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    base.or_else(home).unwrap_or_else(std::env::temp_dir).join("backedge/bench")
}

fn baseline_file(name: &str) -> PathBuf {
    state_folder().join("baselines").join(format!("{name}.json"))
}

impl Choice {
    fn jobs(&self, places: &Places, quick: bool) -> Result<(Catalog, Vec<Job>), Failure> {
        let catalog = Catalog::read(&places.folder).map_err(load)?;
        let selection = Selection {
            suite: self.suite.clone(),
            filter: self.filter.clone(),
            metrics: self.metrics.clone(),
            shard: self.shard,
            without_variants: quick,
        };
        let jobs = catalog.jobs(&places.folder, &selection).map_err(|error| Failure::Usage(format!("{error:#}")))?;
        if jobs.is_empty() && self.shard.is_none() {
            return Err(Failure::Usage("no row is selected; `backedge bench list` shows all".into()));
        }
        Ok((catalog, jobs))
    }
}

fn engines(ids: &[String], places: &Places) -> Result<Vec<Engine>, Failure> {
    let mut engines: Vec<Engine> = Vec::new();
    for id in ids {
        let engine = peers::find(id, places).map_err(|error| Failure::Usage(format!("{error:#}")))?;
        if engines.iter().any(|known| known.peer.id == engine.peer.id) {
            return Err(Failure::Usage(format!("peer {} is named twice", engine.peer.id)));
        }
        engines.push(engine);
    }
    Ok(engines)
}

fn benchmark(options: &RunOptions) -> Result<i32, Failure> {
    let places = places(options.choice.programs.as_ref())?;
    let (catalog, jobs) = options.choice.jobs(&places, options.quick)?;
    let named: Vec<String> = match options.peers.is_empty() {
        true => peers::USUAL.iter().map(|id| (*id).to_owned()).collect(),
        false => options.peers.clone(),
    };
    process::on_interrupt();
    spawn_by_another(&places);
    let engines = engines(&named, &places)?;
    if process::interrupted() {
        say("stopped before anything was measured\n");
        return Ok(130);
    }
    let runs = options.runs.unwrap_or(if options.quick { 3 } else { 7 });
    if let Some(most) = options.most_runs.filter(|most| *most < runs) {
        return Err(Failure::Usage(format!("--most-runs {most} is less than the {runs} runs that a cell gets at least (--runs)")));
    }
    let seconds = match options.seconds {
        Some(seconds) => seconds,
        None if options.quick => quick_seconds(&options.choice, &places, &engines, runs)?,
        None => 5.0,
    };
    let settings = Settings {
        suite: options.choice.suite.clone(),
        filter: options.choice.filter.clone(),
        quick: options.quick,
        runs_least: runs,
        runs_most: options.most_runs.unwrap_or(if options.quick { runs } else { 3 * runs }),
        seconds,
        target_half_width: HALF_WIDTH,
        confidence: 0.95,
        resamples: 10_000,
        seed: options.seed,
        pin: options.pin,
        shard: options.choice.shard,
        subject: engines.first().map(|engine| engine.peer.id.clone()).unwrap_or_default(),
    };
    let conditions = Conditions { seconds: settings.seconds, pin: settings.pin, places: places.clone() };
    let mut plan = runner::plan(
        Results {
            schema: SCHEMA,
            started: machine::now(),
            command: crate::arguments::as_text(),
            settings,
            machines: vec![machine::here()],
            programs: catalog.programs(&places.folder, &jobs),
            ..Results::default()
        },
        &jobs,
        &engines,
    );
    let place = |file: &PathBuf| Some((folder_of(file).canonicalize().ok()?, file.file_name()?.to_owned()));
    let places_of = [&options.json, &options.html].map(|file| file.as_ref().and_then(place));
    if places_of[0].is_some() && places_of[0] == places_of[1] {
        return Err(Failure::Usage("--json and --html name the same file".into()));
    }
    [&options.json, &options.html].into_iter().flatten().try_for_each(|file| room_for(file))?;
    if let Some(name) = &options.save_baseline {
        let file = baseline_file(name);
        let made = std::fs::create_dir_all(folder_of(&file));
        made.map_err(|error| Failure::Load(format!("cannot keep baseline {name}: `{}`: {error}", folder_of(&file).display())))?;
        room_for(&file)?;
    }
    let baseline = options.baseline.as_ref().map(|name| merge::read(&baseline_file(name)).map_err(load)).transpose()?;
    if let (Some(before), Some(name)) = (&baseline, &options.baseline)
        && !have_common_row(before, &plan)
    {
        return Err(Failure::Usage(format!("baseline {name} and this run have no row in common")));
    }
    let out = options.json.clone();
    let mut entries = Vec::new();
    let mut journal = match &out {
        // A device keeps no journal beside it.
        Some(out) if !options.resume && out.exists() && !out.is_file() => Journal::none(),
        Some(out) => {
            let path = journal::path_for(out);
            if options.resume {
                let kept = journal::read(&path).map_err(load)?;
                merge::resumable(&kept.plan, &plan).map_err(|error| Failure::Usage(format!("{error:#}")))?;
                if kept.senseless > 0 {
                    let _ = writeln!(
                        std::io::stderr(),
                        "note: {} lines of `{}` make no sense and are left out",
                        kept.senseless,
                        path.display()
                    );
                }
                (plan.started, entries) = (kept.plan.started, kept.entries);
                Journal::append(&path).map_err(load)?
            } else {
                let kept = journal::waiting(&path).map_err(|error| Failure::Usage(format!("{error:#}")))?;
                if kept > 0 {
                    return Err(Failure::Usage(format!(
                        "`{}` holds {kept} processes of a run that was stopped: `--resume` goes on with it; remove it to begin again",
                        path.display()
                    )));
                }
                Journal::create(&path, &plan).map_err(load)?
            }
        }
        None => Journal::none(),
    };
    let within = options.within.or(options.quick.then_some(QUICK_SECONDS));
    let deadline = within.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds)));
    let work = Work { jobs: &jobs, engines: &engines, conditions: &conditions, deadline, progress: true };
    let ended = runner::run(&work, &plan, &mut entries, &mut journal);
    let mut results = runner::finish(&plan, &entries, ended);
    if (options.details || (options.html.is_some() && !options.quick)) && !results.interrupted {
        let without = add_details(&mut results, &jobs, &engines);
        if let Some((row, why)) = without.first() {
            let _ = writeln!(std::io::stderr(), "note: no details of {} ({row}: {why})", table::rows_in_words(without.len()));
        }
        results.interrupted = process::interrupted();
    }
    if options.no_samples {
        for run in results.rows.iter_mut().flat_map(|row| &mut row.cells).flat_map(|cell| &mut cell.runs) {
            (run.calls_ns, run.calls_cpu_ns) = (Vec::new(), Vec::new());
        }
    }
    say(&table::results(&results));
    if let (Some(before), Some(name)) = (&baseline, &options.baseline) {
        say(&format!("\nagainst baseline {name} of {}\n", before.started));
        compared(before, &results);
    }
    // Each is tried, whatever became of the others.
    let kept = options.save_baseline.as_ref().map_or(Ok(()), |name| save_baseline(name, &results));
    let written = out.as_ref().map_or(Ok(()), |out| write_results(&results, out, ended == Ended::Late));
    let drawn = options.html.as_ref().map_or(Ok(()), |page| benchreport::write_page(&results, page));
    let mut failures: Vec<Failure> = [kept, written, drawn].into_iter().filter_map(Result::err).collect();
    if let Some(last) = failures.pop() {
        // What --json writes is rescued there; a page alone is of results that are nowhere else.
        let kept = if out.is_none() { serde_json::to_vec(&results).ok().and_then(|json| merge::rescue(&json)) } else { None };
        if let Some(kept) = kept {
            let _ = writeln!(std::io::stderr(), "note: the results are in `{}`", kept.display());
        }
        failures.iter().for_each(|failure| _ = writeln!(std::io::stderr(), "{failure}"));
        return Err(last);
    }
    // The engine that is asked about has figures, or the run has failed; that another peer has none is part of the results, unless it was wrong.
    use bench_programs::results::ProblemKind;
    let failed = results.rows.iter().flat_map(|row| &row.cells).any(|cell| {
        let wrong = |kind: ProblemKind| kind == ProblemKind::WrongResult || cell.peer == results.settings.subject;
        cell.problem.as_ref().is_some_and(|problem| wrong(problem.kind))
    });
    Ok(if results.interrupted { 130 } else { i32::from(failed) })
}

/// How long a steady process of `--quick` calls the work: what is left of the quarter of an hour for each process, less what starting one takes. The same in all shards, which are to
/// be merged.
fn quick_seconds(choice: &Choice, places: &Places, engines: &[Engine], runs: u32) -> Result<f64, Failure> {
    let (_, jobs) = Choice { shard: None, ..choice.clone() }.jobs(places, true)?;
    let cells: usize = jobs.iter().map(|job| engines.iter().filter(|engine| measure::asks(engine, job)).count()).sum();
    let shards = choice.shard.map_or(1, |[_, count]| count);
    Ok((0.85 * QUICK_SECONDS as f64 * f64::from(shards) / (cells.max(1) as f64 * f64::from(runs)) - 0.4).clamp(0.1, 1.0))
}

/// The folder that a file is in.
fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a file can be written here, as far as can be told before there is anything to write.
fn room_for(file: &Path) -> Result<(), Failure> {
    let folder = folder_of(file);
    match () {
        () if file.is_dir() => Err(Failure::Usage(format!("`{}` is a folder, not a file", file.display()))),
        () if !folder.is_dir() => Err(Failure::Usage(format!("there is no folder `{}` for `{}`", folder.display(), file.display()))),
        // A device is there already.
        () if file.exists() && !file.is_file() => Ok(()),
        () => {
            let probe = folder.join(format!(".backedge-bench-{}", std::process::id()));
            let made = std::fs::File::create(&probe).map_err(|error| Failure::write(file, &error));
            let _ = std::fs::remove_file(&probe);
            made.map(drop)
        }
    }
}

fn save_baseline(name: &str, results: &Results) -> Result<(), Failure> {
    if results.interrupted {
        say(&format!("baseline {name} is left as it was: this run was stopped\n"));
        return Ok(());
    }
    merge::write(results, &baseline_file(name)).map_err(load)
}

/// Writes the results, after which the journal has served unless the run goes on later.
fn write_results(results: &Results, out: &Path, late: bool) -> Result<(), Failure> {
    let journal = journal::path_for(out);
    merge::write(results, out).map_err(|error| match journal.is_file() {
        true => Failure::Load(format!("{error:#}; its processes are in `{}`, from which `--resume` goes on", journal.display())),
        false => load(error),
    })?;
    if (results.interrupted || late) && journal.exists() {
        let why = if late { runner::LATE } else { "interrupted" };
        say(&format!("{why}; `--resume` with the same options goes on from {}\n", journal.display()));
    } else {
        let _ = std::fs::remove_file(journal);
    }
    Ok(())
}

/// The subject's report of each steady row. Returns the rows without one, and why.
fn add_details(results: &mut Results, jobs: &[Job], engines: &[Engine]) -> Vec<(String, String)> {
    let mut without = Vec::new();
    let Some(subject) = engines.first().filter(|subject| subject.peer.missing.is_none()) else { return without };
    for (row, job) in results.rows.iter_mut().zip(jobs).filter(|(row, _)| row.metric == Metric::Steady) {
        let report = details(row, job, subject);
        if process::interrupted() {
            break;
        }
        match report {
            Ok(report) => row.report = Some(report),
            Err(why) => without.push((row.id.clone(), why)),
        }
    }
    without
}

/// A report of a row, from one more run of it. Errors: in words.
fn details(row: &Row, job: &Job, subject: &Engine) -> Result<serde_json::Value, String> {
    let file = tempfile(&row.id).map_err(|error| error.to_string())?;
    let flags = subject.peer.flags.iter().map(String::as_str);
    let report = format!("--report=json+code,{}", file.display());
    // As many rounds as a second or so takes.
    let calls = row.cells.iter().find_map(|cell| cell.summary.as_ref()).map_or(1.0, |summary| (1e9 / summary.wall.median).clamp(1.0, 1e4));
    let rounds = (f64::from(row.rounds) * calls).min(2e9) as u32;
    let mut args: Vec<std::ffi::OsString> = ["run", "-C", "cache=n"].into_iter().chain(flags).map(Into::into).collect();
    args.extend([report.into(), job.module.clone().into(), row.mode.to_string().into()]);
    args.extend((row.size > 0).then(|| row.size.to_string().into()));
    args.push(rounds.to_string().into());
    let invocation =
        process::Invocation { program: PathBuf::from(&subject.peer.path), args, limit: Duration::from_secs(60), ..Default::default() };
    let report = match process::run(&invocation) {
        Ok(outcome) if outcome.end == process::End::Exited(0) => {
            let text = std::fs::read(&file).map_err(|error| error.to_string());
            text.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()))
        }
        Ok(outcome) => Err(match outcome.end {
            process::End::Signalled(signal) => format!("ended by signal {signal}"),
            process::End::TimedOut => "took over a minute".into(),
            _ => measure::complaint(&String::from_utf8_lossy(&outcome.stderr)).trim_start_matches(": ").to_owned(),
        }),
        Err(error) => Err(error.to_string()),
    };
    let _ = std::fs::remove_file(&file);
    report
}

fn tempfile(id: &str) -> std::io::Result<PathBuf> {
    let folder = state_folder().join("scratch");
    std::fs::create_dir_all(&folder)?;
    Ok(folder.join(format!("report-{}-{}.json", id.replace('/', "-"), std::process::id())))
}

fn have_common_row(a: &Results, b: &Results) -> bool {
    a.rows.iter().any(|row| b.rows.iter().any(|other| other.id == row.id))
}

fn compared(a: &Results, b: &Results) {
    for difference in compare::differences(a, b) {
        say(&format!("note: {difference}\n"));
    }
    say(&table::changes(&compare::compare(a, b)));
}

fn compare_files(options: &Compare) -> Result<i32, Failure> {
    let (a, b) = (merge::read(&options.a).map_err(load)?, merge::read(&options.b).map_err(load)?);
    if !have_common_row(&a, &b) {
        return Err(Failure::Usage(format!("`{}` and `{}` have no row in common", options.a.display(), options.b.display())));
    }
    if options.json {
        let text = serde_json::to_string_pretty(&compare::compare(&a, &b)).map_err(|error| Failure::Load(error.to_string()))?;
        say(&format!("{text}\n"));
    } else {
        compared(&a, &b);
    }
    Ok(0)
}

fn show(options: &Show) -> Result<i32, Failure> {
    let results = merge::read(&options.file).map_err(load)?;
    say(&if options.markdown { table::markdown(&results) } else { table::results(&results) });
    Ok(0)
}

fn merge_files(options: &Merge) -> Result<i32, Failure> {
    let parts = options.files.iter().map(|file| merge::read(file)).collect::<anyhow::Result<Vec<Results>>>().map_err(load)?;
    let whole = merge::merge(&parts).map_err(|error| Failure::Usage(format!("{error:#}")))?;
    merge::write(&whole, &options.output).map_err(load)?;
    say(&table::results(&whole));
    Ok(0)
}

fn job(places: &Places, row: &str) -> Result<Job, Failure> {
    let catalog = Catalog::read(&places.folder).map_err(load)?;
    let jobs = catalog.jobs(&places.folder, &Selection::default()).map_err(load)?;
    jobs.into_iter().find(|job| job.row.id == row).ok_or_else(|| Failure::Usage(format!("no row `{row}`; `backedge bench list` shows all")))
}

fn aa(options: &Aa) -> Result<i32, Failure> {
    let places = places(options.programs.as_ref())?;
    let job = job(&places, &options.row)?;
    let other = if options.slowed { "backedge-slowed" } else { "backedge" };
    let (comparisons, usual) = if options.slowed { (5, 15..=300) } else { (100, 9..=9) };
    let comparisons = options.comparisons.unwrap_or(comparisons);
    let pairs = options.pairs.map_or(usual, |pairs| pairs..=pairs);
    // The other goes first, so that with --slowed the verdict "slower" is the right one.
    let engines = (peers::find(other, &places).map_err(load)?, peers::find("backedge", &places).map_err(load)?);
    let conditions = Conditions { seconds: options.seconds, pin: options.pin, places };
    process::on_interrupt();
    spawn_by_another(&conditions.places);
    let contest = selfcheck::Contest {
        subject: &engines.0,
        other: &engines.1,
        job: &job,
        conditions: &conditions,
        comparisons,
        pairs,
        half_width: HALF_WIDTH,
        seed: options.seed,
    };
    let outcomes = selfcheck::compare_again_and_again(&contest, |number, outcome| {
        if !options.json {
            say(&format!("{:>4}  {:.4}x  {}  ({} pairs)\n", number + 1, outcome.speedup, outcome.verdict, outcome.pairs));
        }
    })
    .map_err(load)?;
    let (faster, slower) = selfcheck::claims(&outcomes);
    let made = outcomes.len();
    if options.json {
        let value = serde_json::json!({
            "row": options.row, "slowed": options.slowed, "comparisons": made, "faster": faster, "slower": slower,
            "outcomes": outcomes,
        });
        say(&format!("{value}\n"));
    }
    let passed = match options.slowed {
        // At most 5 of 100 claimed where there is nothing; the slowed one found in at least 95 of 100.
        false => 20 * (faster + slower) <= made.max(20),
        true => faster == 0 && 20 * slower >= 19 * made,
    };
    if !options.json {
        let what = if options.slowed { "a build slowed by 5 %" } else { "the engine with itself" };
        say(&format!(
            "{made} comparisons of {what} on {}: {faster} called faster, {slower} slower: {}\n",
            options.row,
            match passed {
                _ if process::interrupted() => "stopped",
                true => "as it should be",
                false => "NOT as it should be",
            }
        ));
    }
    Ok(if process::interrupted() { 130 } else { i32::from(!passed) })
}

fn doctor(options: &Doctor) -> Result<i32, Failure> {
    let places = places(options.programs.as_ref())?;
    let here = machine::here();
    let or_unknown = |bytes: u64| if bytes == 0 { "unknown".to_owned() } else { format!("{} MiB", bytes >> 20) };
    say(&format!(
        "{}, {} processors, {} of memory, last cache {}\n{}, Linux {}{}\n",
        here.cpu,
        here.cpus,
        or_unknown(here.memory_bytes),
        or_unknown(here.last_cache_bytes),
        here.os,
        here.kernel,
        if here.virtualized { ", a virtual machine" } else { "" }
    ));
    let mut advice = Vec::new();
    if machine::load() > 0.3 {
        advice.push(format!("load average {:.2}: something else runs", machine::load()));
    }
    match here.governor.as_deref() {
        Some("performance") | None => {}
        Some(other) => advice.push(format!("frequency governor `{other}`: `cpupower frequency-set -g performance`")),
    }
    say("\npeers\n");
    for (id, what) in peers::KNOWN {
        let engine = peers::find(id, &places).map_err(load)?;
        let state = engine.peer.missing.clone().unwrap_or_else(|| engine.peer.version.clone());
        say(&format!("  {id:<17}{what}\n  {:<17}  {state}\n", ""));
    }
    say("\nnoise of neighbouring processes, and the smallest slowdown that 7, 15 and 30 pairs show in 80 of 100 cases\n");
    process::on_interrupt();
    let stolen = machine::stolen_ticks();
    let engine = peers::find("backedge", &places).map_err(load)?;
    for row in ["nbody/0/steady", "stencil/0/steady", "partition/0/steady", "gather/0/steady", "stencil/0/one-shot"] {
        let job = job(&places, row)?;
        let conditions = Conditions { seconds: options.seconds, pin: options.pin, places: places.clone() };
        let noise = match selfcheck::noise(&engine, &job, &conditions, options.pairs) {
            Ok(noise) => noise,
            Err(_) if process::interrupted() => {
                say("stopped\n");
                return Ok(130);
            }
            Err(error) => {
                say(&format!("  {row:<22}{error:#}\n"));
                continue;
            }
        };
        let spread = noise.iter().map(|ratio| (100.0 * (ratio - 1.0)).abs()).fold(0.0, f64::max);
        let effects: Vec<String> = [7, 15, 30]
            .iter()
            .map(|pairs| {
                selfcheck::resolves(&noise, *pairs, 1).map_or_else(|| "> 50 %".to_owned(), |effect| format!("{:.1} %", 100.0 * effect))
            })
            .collect();
        say(&format!("  {row:<22}pairs differ by up to {spread:.1} %; resolves {}\n", effects.join(", ")));
    }
    if machine::stolen_ticks() > stolen + 5 {
        advice.push("the hypervisor took processor time away meanwhile".into());
    }
    for line in advice {
        say(&format!("note: {line}\n"));
    }
    Ok(0)
}

fn list(choice: &Choice) -> Result<i32, Failure> {
    let places = places(choice.programs.as_ref())?;
    let (catalog, jobs) = choice.jobs(&places, false)?;
    for entry in &catalog.programs {
        let mut rows = jobs.iter().filter(|job| job.row.program == entry.id).peekable();
        if rows.peek().is_none() {
            continue;
        }
        say(&format!("{} ({}): {}\n    feedback: {}\n", entry.id, entry.group, entry.stresses, entry.feedback));
        for job in rows {
            let kind = serde_json::to_value(job.row.kind).ok().and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default();
            say(&format!("    {:<30}{kind:<9}{}\n", job.row.id, job.row.label));
        }
    }
    Ok(0)
}
