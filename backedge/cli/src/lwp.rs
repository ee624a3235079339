//! `backedge lwp`: LWP itself, without a guest: what this machine can do, traces through the unit, saved records, real LWP programs.

use crate::failure::Failure;
use crate::options::{Lwp, LwpExec, LwpReplay};
use crate::output::{print, printed};
use crate::policyoptions::{self, PolicyOptions};
use crate::run::load;
use crate::samefile;
use backedge::{Config, Engine, FeedbackPolicy, Linker, Module, Store, TierPolicy};
use lwp_feedback::class::SiteClass;
use lwp_feedback::layout::{EventId, INTERVAL_MAX};
use lwp_feedback::monitor::{Hot, Listener, NoListener, PollSummary};
use lwp_feedback::policy::{self, FilePlan, PlanFile};
use lwp_feedback::profile::{Profile, ProfileLimits};
use lwp_feedback::recordfile::{self, DecodeError, ReplaySummary};
use lwp_feedback::trap::exec::{self, ExecError};
use lwp_feedback::{bench, bias, info, sim};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use vm::engine::EngineConfig;

/// Names the preload library where it is not beside the command.
const PRELOAD_VARIABLE: &str = "BACKEDGE_LWP_PRELOAD";

/// Does what the options say.
pub fn run(options: &Lwp) -> Result<(), Failure> {
    match options {
        Lwp::Info { json } => {
            let info = info::collect();
            print(&if *json { pretty(serde_json::to_value(&info))? } else { info.to_string() })?;
        }
        Lwp::Bench { json } => {
            let mut report = bench::run();
            report.compiled_site_ns = compiled_site_ns();
            print(&if *json { pretty(serde_json::to_value(&report))? } else { report.to_string() })?;
        }
        Lwp::Bias { json } => {
            let bias = bias::measure();
            print(&if *json { pretty(serde_json::to_value(&bias))? } else { bias.to_string() })?;
        }
        Lwp::Sim { trace, generation } => {
            let text = std::fs::read(trace).map_err(|error| unreadable(trace, &error))?;
            let text = String::from_utf8(text).map_err(|_| in_file(trace, "not UTF-8 text"))?;
            print(&sim::run(&text, *generation).map_err(|error| in_file(trace, error))?)?;
        }
        Lwp::Decode { file, drop, output: Some(to) } => filter(file, drop, to)?,
        Lwp::Decode { file, drop, output: None } => decode(file, drop)?,
        Lwp::Replay(options) => replay(options)?,
        Lwp::Exec(options) => return Err(exec(options)),
    }
    Ok(())
}

/// What an LWPVAL site costs in tier 2's code while no record is due, nanoseconds: a loop with eight of them and one without, best of several rounds.
/// `None` where this machine has no compiler.
fn compiled_site_ns() -> Option<f64> {
    const SITES: usize = 8;
    const ROUNDS: i32 = 5_000_000;
    let ns = |sites: usize| {
        let mut config = Config::new();
        config.tier(TierPolicy::Optimizing).feedback(FeedbackPolicy::Off).monitor_thread(false);
        config.machine().ring.interval1 = INTERVAL_MAX;
        let engine = Engine::new(&config).ok()?;
        let call = "(call $value (i32.const 1) (local.get $n) (i32.const 1))".repeat(sites);
        let text = format!(
            r#"(module (import "lwp" "lwpval32" (func $value (param i32 i32 i32)))
                (func (export "run") (param $n i32) (result i32) (local $sum i32)
                    (loop $again
                        (local.set $sum (i32.mul (i32.add (local.get $sum) (local.get $n)) (i32.const 3)))
                        {call}
                        (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
                    (local.get $sum)))"#
        );
        let module = Module::new(&engine, text).ok()?;
        let mut store = Store::new(&engine, ());
        let instance = Linker::new(&engine).instantiate(&mut store, &module).ok()?;
        let run = instance.get_typed_func::<i32, i32>(&mut store, "run").ok()?;
        let mut best = f64::INFINITY;
        for _ in 0..7 {
            let began = Instant::now();
            run.call(&mut store, ROUNDS).ok()?;
            best = best.min(began.elapsed().as_nanos() as f64 / f64::from(ROUNDS));
        }
        Some(best)
    };
    Some((ns(SITES)? - ns(0)?) / SITES as f64)
}

fn pretty(value: serde_json::Result<Value>) -> Result<String, Failure> {
    value.map(|value| format!("{value:#}\n")).map_err(|error| Failure::Load(format!("cannot write JSON: {error}")))
}

fn in_file(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::Load(format!("`{}`: {error}", path.display()))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::IsADirectory => Failure::Load(format!("`{}` is a directory", path.display())),
        _ => Failure::read(path, error),
    }
}

fn open(path: &Path) -> Result<BufReader<File>, Failure> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    // A directory opens, and only reading it would fail.
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(unreadable(path, &ErrorKind::IsADirectory.into()));
    }
    Ok(BufReader::new(file))
}

/// Copies a record file without records of some events. What was readable is written before the error.
fn filter(path: &Path, drop: &[EventId], to: &Path) -> Result<(), Failure> {
    let input = open(path)?;
    let unwritten = |error: std::io::Error| Failure::Load(format!("cannot write records to `{}`: {error}", to.display()));
    samefile::check([path], [to])?;
    let out = BufWriter::new(File::create(to).map_err(unwritten)?);
    match recordfile::filter(input, drop, out) {
        Ok(()) => Ok(()),
        Err(DecodeError::Output(error)) => Err(unwritten(error)),
        Err(DecodeError::File(error)) => Err(in_file(path, error)),
    }
}

/// The plans that the records of a file make for a module, as `lwp replay` prints them.
pub fn plans_of_records(path: &Path, module_file: &Path, policy: &PolicyOptions) -> Result<PlanFile, Failure> {
    let module = module(module_file, policy)?;
    let input = open(path)?;
    let profile = Arc::new(Profile::new(ProfileLimits::default()));
    let summary = recordfile::replay(input, profile.clone(), Box::new(NoListener)).map_err(|error| in_file(path, error))?;
    if let Some(error) = summary.error {
        return Err(in_file(path, error));
    }
    let loaded = module.loaded();
    let hash = loaded.module.hash;
    if !profile.modules().contains(&hash) {
        return Err(Failure::Load(format!("`{}` has no records of `{}`", path.display(), module_file.display())));
    }
    let machine = module.engine().vm().config();
    let (plans, _) = policy::ask(&*machine.policy, &loaded.code.snapshot_of(profile.snapshot(hash).functions), &machine.budgets);
    policyoptions::decided(&*machine.policy)?;
    let plans = plans.into_iter().map(|plan| FilePlan { func: plan.function.func, decisions: plan.decisions }).collect();
    Ok(PlanFile { module: Some(hash), plans })
}

fn decode(path: &Path, drop: &[EventId]) -> Result<(), Failure> {
    let input = open(path)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let outcome = recordfile::decode(input, drop, &mut out);
    // What was readable comes before the error.
    let outcome = outcome.and(out.flush().map_err(DecodeError::Output));
    match outcome {
        Ok(()) => Ok(()),
        Err(DecodeError::Output(error)) => printed(Err(error)),
        Err(DecodeError::File(error)) => Err(in_file(path, error)),
    }
}

/// Counts what a live engine would have been told: records of each class and, where a record's value is a number of events, their sum.
#[derive(Clone, Default)]
struct HotCounts(Arc<Mutex<ByClass>>);

type ByClass = BTreeMap<SiteClass, (u64, Option<u64>)>;

impl HotCounts {
    fn lock(&self) -> std::sync::MutexGuard<'_, ByClass> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Listener for HotCounts {
    fn hot(&mut self, event: &Hot) {
        let mut counts = self.lock();
        let (records, events) = counts.entry(event.kind).or_default();
        *records += 1;
        if matches!(
            event.kind,
            SiteClass::HotFunction
                | SiteClass::HotLoop
                | SiteClass::LoopMark
                | SiteClass::BurstLoad
                | SiteClass::BurstRounds
                | SiteClass::BurstSite
        ) {
            // (of a branch the upper half says how often it was taken)
            let value = if event.kind == SiteClass::BurstSite { event.value & u64::from(u32::MAX) } else { event.value };
            *events = Some(events.unwrap_or(0).saturating_add(value));
        }
    }

    fn polled(&mut self, _summary: &PollSummary) {}
}

fn replay(options: &LwpReplay) -> Result<(), Failure> {
    let module = options.module.as_deref().map(|path| module(path, &options.policy)).transpose()?;
    let mut config = Config::new();
    options.policy.apply(&mut config)?;
    let machine = match &module {
        Some(module) => module.engine().vm().config().clone(),
        None => config.machine().clone(),
    };
    let input = open(&options.file)?;
    let profile = Arc::new(Profile::new(ProfileLimits::default()));
    let hot = HotCounts::default();
    let summary = recordfile::replay(input, profile.clone(), Box::new(hot.clone())).map_err(|error| in_file(&options.file, error))?;
    print(&replayed(&summary, &profile, &hot, module.as_ref(), &machine))?;
    policyoptions::decided(&*machine.policy)?;
    // What came before the damage was replayed and printed.
    if let Some(error) = summary.error {
        return Err(in_file(&options.file, error));
    }
    match module.map(|module| module.loaded().module.hash).filter(|hash| !profile.modules().contains(hash)) {
        Some(hash) => Err(in_file(&options.file, format_args!("no records of module {hash:016x}, which --module is"))),
        None => Ok(()),
    }
}

/// The module that was recorded, in an engine that says what it knows about its functions.
fn module(path: &Path, policy: &PolicyOptions) -> Result<Module, Failure> {
    let mut config = Config::new();
    // A policy with a compiler, and without threads of its own.
    config.tier(TierPolicy::Optimizing);
    policy.apply(&mut config)?;
    load(&crate::run::engine(&config)?, path)
}

/// The same text for the same file: no times, no addresses of this process.
fn replayed(summary: &ReplaySummary, profile: &Profile, hot: &HotCounts, known: Option<&Module>, machine: &EngineConfig) -> String {
    let (mut known, other) = (known, known.is_some());
    let mut out = String::new();
    let mut line = |args: std::fmt::Arguments<'_>| {
        out.write_fmt(args).expect("writing to a string");
        out.push('\n');
    };
    line(format_args!(
        "{} records, {} of no known code, {} missed when recorded",
        summary.records, summary.monitor.unresolved, summary.missed_when_recorded
    ));
    for (class, (records, events)) in hot.lock().iter() {
        let events = events.map_or(String::new(), |events| format!(", {events} events"));
        line(format_args!("{class}: {records} records{events}"));
    }
    let losses = profile.losses();
    for (count, what) in [
        (losses.functions_over_limit, "functions over the limit"),
        (losses.sites_over_limit, "sites over the limit"),
        (losses.unknown_class, "no known class"),
        (losses.unknown_event, "no known event"),
    ] {
        if count > 0 {
            line(format_args!("{count} records of {what}"));
        }
    }
    let mut modules = profile.modules();
    modules.sort_unstable();
    for module in modules {
        let mut snapshot = profile.snapshot(module);
        let sites: usize = snapshot.functions.iter().map(|function| function.sites.len()).sum();
        let known = known.take_if(|known| known.loaded().module.hash == module);
        let unknown = match (known, other) {
            (Some(_), _) => "",
            (None, false) => "; its functions are not known (--module FILE), so no callee is inlined",
            (None, true) => "; its functions are not known (--module is another), so no callee is inlined",
        };
        line(format_args!("\nmodule {module:016x}: {} functions, {sites} value sites{unknown}", snapshot.functions.len()));
        if let Some(known) = known {
            snapshot = known.loaded().code.snapshot_of(snapshot.functions);
        }
        let (plans, refusals) = policy::ask(&*machine.policy, &snapshot, &machine.budgets);
        // A policy of one's own may name anything.
        let defined = known.map(|known| known.functions());
        let (plans, strayed): (Vec<_>, Vec<_>) =
            plans.into_iter().partition(|plan| defined.as_ref().is_none_or(|defined| defined.contains(&plan.function.func)));
        line(format_args!("{} plans, {} refusals", plans.len(), refusals.len()));
        plans.iter().for_each(|plan| line(format_args!("{plan}")));
        strayed.iter().for_each(|plan| {
            line(format_args!("function {}: its plan is refused: the module defines no such function", plan.function.func))
        });
        refusals.iter().for_each(|refusal| line(format_args!("{refusal}")));
    }
    out
}

/// Becomes the program, so that signals and its exit code are its own; comes back only where that fails.
fn exec(options: &LwpExec) -> Failure {
    let Some((program, args)) = options.program_and_args.split_first() else {
        return Failure::Usage("expected a program to run".into());
    };
    let library = match preload_library() {
        Ok(library) => library,
        Err(failure) => return failure,
    };
    match exec::command(&options.features, Path::new(program), args, &library) {
        Ok(mut command) => {
            let error = command.exec();
            Failure::Load(format!("cannot run `{}`: {error}", Path::new(program).display()))
        }
        Err(error @ ExecError::Features(_)) => Failure::Usage(error.to_string()),
        Err(error) => Failure::Load(error.to_string()),
    }
}

/// The preload library: what the variable names, else beside this executable, else in `deps` there (where cargo puts it for tests).
fn preload_library() -> Result<PathBuf, Failure> {
    let missing = |place: String| {
        // As this command was built, so that it lands beside it.
        let profile = if cfg!(debug_assertions) { "" } else { " --release" };
        Failure::Load(format!(
            "no preload library {place}; `cargo build{profile} -p lwp-preload` makes {}, {PRELOAD_VARIABLE}=PATH names it",
            exec::PRELOAD_LIBRARY
        ))
    };
    let found = match std::env::var_os(PRELOAD_VARIABLE) {
        Some(named) => {
            let named = PathBuf::from(named);
            if !named.is_file() {
                return Err(missing(format!("at `{}`", named.display())));
            }
            named
        }
        None => {
            let executable = std::env::current_exe().map_err(|error| missing(format!("found: {error}")))?;
            let folder = executable.parent().unwrap_or(Path::new("/"));
            let places = [folder.join(exec::PRELOAD_LIBRARY), folder.join("deps").join(exec::PRELOAD_LIBRARY)];
            let found = places.into_iter().find(|place| place.is_file());
            found.ok_or_else(|| missing(format!("in `{}`", folder.display())))?
        }
    };
    // The program may run elsewhere, and the loader splits the variable at these.
    let absolute = found.canonicalize().map_err(|error| Failure::read(&found, &error))?;
    if absolute.to_string_lossy().contains([' ', ':']) {
        return Err(Failure::Load(format!("`{}`: LD_PRELOAD cannot name a path with a space or a colon", absolute.display())));
    }
    Ok(absolute)
}
