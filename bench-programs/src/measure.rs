//! One process of one peer on one row: what is started, and what its output means. A result that is not right has no time.

use crate::catalog::{Job, metric_name};
use crate::peers::{Engine, How, Places, compile_native};
use crate::process::{self, End, Invocation, Outcome};
use crate::results::{Metric, Problem, ProblemKind, Run};
use crate::statistics::steady::steady;
use serde::Deserialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// When a process that does its work once is killed.
const LONGEST_ONCE: Duration = Duration::from_secs(300);

/// How processes are run.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// How long a steady process calls the work, seconds.
    pub seconds: f64,
    /// The one processor they may use.
    pub pin: Option<u32>,
    /// Where things are.
    pub places: Places,
}

/// What a steady process prints.
#[derive(Debug, Deserialize)]
struct Printed {
    ready_unix_ns: u64,
    #[serde(default)]
    result: Option<String>,
    calls_ns: Vec<u64>,
    calls_cpu_ns: Vec<u64>,
}

/// Whether this peer can be asked for this row at all.
pub fn asks(engine: &Engine, job: &Job) -> bool {
    match (&engine.how, job.row.metric) {
        (How::Wasm { steady, .. }, Metric::Steady) => steady.is_some(),
        (How::Wasm { once, .. }, _) => once.is_some(),
        (How::Native(_), _) => job.source.is_some(),
    }
}

/// Runs one process, to be killed at `until` if not before. `None`: the user stopped it. Problems are in the run.
pub fn measure(engine: &Engine, job: &Job, conditions: &Conditions, until: Option<Instant>) -> Option<Run> {
    if let Some(why) = &engine.peer.missing {
        return Some(failed(ProblemKind::Missing, why.clone()));
    }
    if !job.module.is_file() {
        let how =
            if job.row.group == "real" { "`bash bench-programs/real.sh` fetches it" } else { "`bash bench-programs/build.sh` builds it" };
        return Some(failed(ProblemKind::Missing, format!("{} is not there: {how}", job.module.display())));
    }
    let mut invocation = match invocation(engine, job, conditions) {
        Ok(Some(invocation)) => invocation,
        Ok(None) => return None,
        Err(error) => return Some(failed(ProblemKind::Unsupported, format!("{error:#}"))),
    };
    if let Some(until) = until {
        invocation.limit = invocation.limit.min(until.saturating_duration_since(Instant::now()));
    }
    let outcome = match process::run(&invocation) {
        Ok(outcome) => outcome,
        Err(error) => return Some(failed(ProblemKind::Crashed, format!("`{}` does not start: {error}", invocation.program.display()))),
    };
    if job.dirs.iter().any(|[host, _]| host == TEMPORARY) {
        let _ = std::fs::remove_dir_all(temporary(conditions));
    }
    match outcome.end {
        End::Interrupted => None,
        _ => Some(read(engine, job, &outcome)),
    }
}

pub(crate) fn failed(kind: ProblemKind, text: String) -> Run {
    Run { problem: Some(Problem { kind, text }), ..Run::default() }
}

/// Runs a peer once that is to find the program in its cache, and completes that. Errors: there is no room for it, or nobody may write there, and it would be measured without.
pub(crate) fn prime(engine: &Engine, job: &Job, conditions: &Conditions, until: Option<Instant>) -> Option<Result<(), Problem>> {
    let run = measure(engine, job, conditions, until)?;
    let Some((_, cache)) = engine.env.iter().find(|(name, _)| name == "XDG_CACHE_HOME") else { return Some(Ok(())) };
    // What went wrong otherwise is said of the runs that count.
    let Some(room) = std::fs::read(&job.module).ok().filter(|_| run.problem.is_none()) else { return Some(Ok(())) };
    let probe = PathBuf::from(cache).join(format!("room.{}", std::process::id()));
    let wrote = std::fs::create_dir_all(cache).and_then(|()| std::fs::write(&probe, room));
    let _ = std::fs::remove_file(&probe);
    let text = |error| format!("the cache of {} cannot be written: `{}`: {error}", engine.peer.id, Path::new(cache).display());
    match wrote {
        Ok(()) => filled(engine, job, until),
        Err(error) => Some(Err(Problem { kind: ProblemKind::Unsupported, text: text(error) })),
    }
}

/// Completes a cache, where the peer has a command for it. `None`: the user stopped it.
fn filled(engine: &Engine, job: &Job, until: Option<Instant>) -> Option<Result<(), Problem>> {
    let Some(words) = &engine.fill else { return Some(Ok(())) };
    let mut args = words.clone();
    args.push(job.module.clone().into());
    let limit = until.map_or(LONGEST_ONCE, |until| LONGEST_ONCE.min(until.saturating_duration_since(Instant::now())));
    // (on all processors: it is not measured)
    let invocation = Invocation { program: engine.peer.path.clone().into(), args, env: engine.env.clone(), pin: None, limit };
    let problem = match process::run(&invocation) {
        Ok(outcome) if outcome.end == End::Interrupted => return None,
        Ok(outcome) => problem(engine, &outcome),
        Err(error) => Some(Problem { kind: ProblemKind::Crashed, text: format!("{} does not start: {error}", engine.peer.id) }),
    };
    let of_cache = |Problem { kind, text }| Problem { kind, text: format!("its cache is not filled: {text}") };
    Some(problem.map_or(Ok(()), |problem| Err(of_cache(problem))))
}

/// What is to be started. `None`: the user stopped it.
fn invocation(engine: &Engine, job: &Job, conditions: &Conditions) -> anyhow::Result<Option<Invocation>> {
    let row = &job.row;
    let steady_args = || [row.mode, row.size, row.rounds].map(|number| OsString::from(number.to_string()));
    let seconds = OsString::from(conditions.seconds.to_string());
    let mut args: Vec<OsString> = Vec::new();
    let program = match &engine.how {
        How::Wasm { steady, once } => {
            if row.metric == Metric::Steady {
                args.extend(steady.iter().flatten().cloned());
                args.push(job.module.clone().into());
                args.extend(steady_args());
                args.push(seconds);
            } else {
                args.extend(once.iter().flatten().cloned());
                for [host, guest] in &job.dirs {
                    let mut pair = host_folder(host, conditions)?.into_os_string();
                    pair.push("::");
                    pair.push(guest);
                    args.extend(["--dir".into(), pair]);
                }
                args.push(job.module.clone().into());
                args.extend(job.args.iter().map(OsString::from));
            }
            PathBuf::from(&engine.peer.path)
        }
        How::Native(build) => {
            let source = job.source.as_ref().ok_or_else(|| anyhow::anyhow!("no C source"))?;
            if row.metric == Metric::Steady {
                args.push("steady".into());
                args.extend(steady_args());
                args.push(seconds);
            } else {
                args.extend(job.args.iter().map(OsString::from));
            }
            let simd = source.with_file_name("features").is_file();
            match compile_native(build, &conditions.places.folder, source, simd)? {
                Some(program) => program,
                None => return Ok(None),
            }
        }
    };
    // Beyond ten times SECONDS a steady process makes no further call; set-up and checking come on top.
    let limit = if row.metric == Metric::Steady { Duration::from_secs_f64(60.0 + 20.0 * conditions.seconds) } else { LONGEST_ONCE };
    Ok(Some(Invocation { program, args, env: engine.env.clone(), pin: conditions.pin, limit }))
}

/// A folder of the catalog's that is empty when a process starts.
const TEMPORARY: &str = "{tmp}";

fn temporary(conditions: &Conditions) -> PathBuf {
    conditions.places.scratch.join(format!("tmp-{}", std::process::id()))
}

fn host_folder(host: &str, conditions: &Conditions) -> anyhow::Result<PathBuf> {
    if host != TEMPORARY {
        return Ok(conditions.places.folder.join(host));
    }
    let folder = temporary(conditions);
    // Of a process with our number that was killed.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn read(engine: &Engine, job: &Job, outcome: &Outcome) -> Run {
    let row = &job.row;
    let mut run = Run {
        process_wall_ns: outcome.wall_ns,
        process_cpu_ns: outcome.cpu_ns,
        peak_rss_bytes: outcome.peak_rss_bytes,
        wall_ns: outcome.wall_ns as f64,
        cpu_ns: outcome.cpu_ns as f64,
        ..Run::default()
    };
    let stdout = String::from_utf8_lossy(&outcome.stdout);
    if let Some(problem) = problem(engine, outcome) {
        run.problem = Some(problem);
        return run;
    }
    if row.metric != Metric::Steady {
        if !stdout.contains(&job.expect) {
            let text = format!("{} printed {:?}, not {:?}", engine.peer.id, shortened(&stdout), shortened(&job.expect));
            run.problem = Some(Problem { kind: ProblemKind::WrongResult, text });
        }
        let result: Vec<&str> = stdout.lines().filter(|line| line.contains(&job.expect)).collect();
        run.result = Some(shortened(&result.join("\n")));
        return run;
    }
    match serde_json::from_str::<Printed>(&stdout) {
        Ok(printed) if believable(&printed, outcome) => {
            let told = steady(&printed.calls_ns);
            let cpu: Vec<f64> = printed.calls_cpu_ns[told.from..].iter().map(|ns| *ns as f64).collect();
            run.startup_ns = printed.ready_unix_ns.saturating_sub(outcome.started_unix_ns);
            run.wall_ns = told.call_ns;
            // The mean: what other threads do comes in bursts that a median would not see.
            run.cpu_ns = cpu.iter().sum::<f64>() / cpu.len() as f64;
            run.steady = Some(told.steady);
            run.result = printed.result.map(|result| shortened(&result));
            run.calls_ns = printed.calls_ns;
            run.calls_cpu_ns = printed.calls_cpu_ns;
        }
        _ => {
            let text = format!(
                "{} printed no measurement that can be one of a {} row: {:?}",
                engine.peer.id,
                metric_name(row.metric),
                shortened(&stdout)
            );
            run.problem = Some(Problem { kind: ProblemKind::Crashed, text });
        }
    }
    run
}

/// How far the system's clock may have been set in a process's life.
const CLOCK_SET_BY_NS: u64 = 1_000_000_000;

/// Whether times can be those of calls in this process: it was there when it says that it was ready, every call took some, and all together no more than it.
fn believable(printed: &Printed, outcome: &Outcome) -> bool {
    let first = outcome.started_unix_ns.saturating_sub(CLOCK_SET_BY_NS);
    let last = outcome.started_unix_ns.saturating_add(outcome.wall_ns).saturating_add(CLOCK_SET_BY_NS);
    let sum = printed.calls_ns.iter().try_fold(0u64, |sum, ns| sum.checked_add(*ns));
    let whole = !printed.calls_ns.is_empty() && printed.calls_ns.len() == printed.calls_cpu_ns.len();
    let of_calls = whole && !printed.calls_ns.contains(&0) && sum.is_some_and(|sum| sum <= outcome.wall_ns);
    of_calls && (first..=last).contains(&printed.ready_unix_ns)
}

/// What went wrong, from how the process ended and what it complained of.
fn problem(engine: &Engine, outcome: &Outcome) -> Option<Problem> {
    let stderr = String::from_utf8_lossy(&outcome.stderr);
    let said = complaint(&stderr);
    let any = |words: &[&str]| words.iter().any(|word| stderr.contains(word));
    let peer = &engine.peer.id;
    let (kind, text) = match outcome.end {
        End::Exited(0) | End::Interrupted => return None,
        End::TimedOut => (ProblemKind::TimedOut, format!("{peer} was killed after {:.0} s", outcome.wall_ns as f64 / 1e9)),
        End::Signalled(signal) => (ProblemKind::Crashed, format!("{peer} ended by signal {signal}{said}")),
        End::Exited(code) => {
            let kind = match () {
                () if any(&["wrong result"]) => ProblemKind::WrongResult,
                () if code == 134 || any(&["trap", "unreachable", "RuntimeError", "out of bounds"]) => ProblemKind::Trapped,
                () if any(&[
                    "CompileError",
                    "not supported",
                    "unsupported",
                    "disabled",
                    "not enabled",
                    "invalid",
                    "validat",
                    "magic",
                    "malformed",
                    "to parse",
                    "LinkError",
                ]) =>
                {
                    ProblemKind::Unsupported
                }
                () => ProblemKind::Crashed,
            };
            (kind, format!("{peer} ended with code {code}{said}"))
        }
    };
    Some(Problem { kind, text })
}

/// The line that says most of what was printed to standard error, behind a colon: an engine may put its own source or a backtrace around it. Without what a terminal would obey.
pub fn complaint(stderr: &str) -> String {
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let says = |words: &'static [&'static str]| move |line: &&str| words.iter().any(|word| line.contains(word));
    // A trap's line stands behind the one that says where it was.
    let cause = lines().find(says(&["wasm trap", "wrong result", "RuntimeError"]));
    cause
        .or_else(|| lines().find(says(&["error", "Error", "trap"])))
        .or_else(|| lines().next())
        .map_or_else(String::new, |line| format!(": {}", shortened(&line.replace(char::is_control, ""))))
}

/// The first 300 characters.
fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(300).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
