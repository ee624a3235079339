//! `backedge run`: loads a program, gives it what the command line says, runs it, and reports.
//!
//! The guest runs on a thread of its own with a big stack, so that host frames under deep wasm recursion have room.

use crate::failure::Failure;
use crate::options::{CodegenOptions, EngineOptions, Feedback, ReportFormat, Run, Source, Tier, UnknownImports, WasiOptions, WasmOptions};
use crate::policyoptions::warn;
use crate::watch::{Watch, create};
use crate::{arguments, background, compile, export, interrupts, invoke, lwp, report, samefile};
use backedge::wasi::{self, WasiCtx, WasiCtxBuilder};
use backedge::{
    Bytes, CacheDirectory, Config, Engine, ExternType, FeedbackPolicy, I32Exit, Instance, Linker, Module, Store, StoreLimits,
    StoreLimitsBuilder, TierPolicy, UnknownImportError,
};
use lwp_feedback::eventset::EventSet;
use lwp_feedback::layout::EventId;
use lwp_feedback::policy::PlanFile;
use lwp_feedback::sources::perf;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Virtual stack of the guest's thread. Only touched pages cost memory.
const GUEST_STACK_BYTES: usize = 256 << 20;

/// How long a run that is over waits for another program's plans where they go into a file.
const POLICY_PATIENCE: Duration = Duration::from_secs(1);

/// What host functions find in the store.
struct Host {
    wasi: WasiCtx,
    limits: StoreLimits,
}

/// What another command does around a run.
pub struct Around<'a> {
    /// Whether what the run shows is wanted as much as what the program does: it is measured, and records are complete.
    pub watched: bool,
    /// Where the guest's standard output and error go.
    pub output: Output,
    /// Whether the guest can be stopped by [`Engine::increment_epoch`].
    pub stoppable: bool,
    /// Whether a signal ends the guest alone, as what it did so far is shown.
    pub leaves: bool,
    /// Sees the engine and the module before anything runs, on the guest's thread; where it fails nothing does.
    pub begun: &'a mut (dyn FnMut(&Engine, &Module, &Watch) -> Result<(), Failure> + Send),
    /// Sees them when everything has settled.
    pub then: &'a mut (dyn FnMut(&Engine, &Module) + Send),
}

/// Where a guest's output goes.
pub enum Output {
    /// Where ours goes.
    Inherited,
    /// All of it to standard error.
    Aside,
    /// Into these.
    Captured(Box<dyn Fn() -> Box<dyn Write + Send + Sync> + Send>, Box<dyn Fn() -> Box<dyn Write + Send + Sync> + Send>),
}

/// Runs the program; the exit code is the program's.
pub fn run(options: &Run) -> Result<i32, Failure> {
    let (mut begun, mut then) = (|_: &Engine, _: &Module, _: &Watch| Ok(()), |_: &Engine, _: &Module| {});
    run_around(
        options,
        Around { watched: false, output: Output::Inherited, stoppable: false, leaves: false, begun: &mut begun, then: &mut then },
    )
}

/// As [`run`]; `then` sees the engine and the module when everything has settled. With `quiet` the guest's standard output goes to standard error.
pub fn run_then(options: &Run, quiet: bool, then: &mut (dyn FnMut(&Engine, &Module) + Send)) -> Result<i32, Failure> {
    let output = if quiet { Output::Aside } else { Output::Inherited };
    run_around(options, Around { watched: quiet, output, stoppable: false, leaves: false, begun: &mut |_, _, _| Ok(()), then })
}

/// As [`run`], with what `around` says.
pub fn run_around(options: &Run, around: Around<'_>) -> Result<i32, Failure> {
    std::thread::scope(|scope| {
        let guest = std::thread::Builder::new()
            .name("guest".into())
            .stack_size(vm::mapping::address_limit().map_or(GUEST_STACK_BYTES, |limit| (limit / 16).clamp(8 << 20, GUEST_STACK_BYTES)))
            .spawn_scoped(scope, || run_here(options, around))
            .map_err(|error| Failure::Load(format!("cannot start the guest's thread: {error}")))?;
        guest.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn run_here(options: &Run, around: Around<'_>) -> Result<i32, Failure> {
    let quiet = around.watched;
    let sampled = options.report.as_ref().is_some_and(|to| to.format.samples());
    let (file, args) = options.file_and_args.split_first().ok_or_else(|| Failure::Usage("expected a file to run".into()))?;
    let args = args.iter().map(text).collect::<Result<Vec<&str>, Failure>>()?;
    let wasm = WasmOptions::merged(&options.wasm);
    let codegen = CodegenOptions::merged(&options.codegen);
    let recording = [
        ("--lwp-record", options.lwp_record.is_some()),
        ("--export", options.keep.export.is_some()),
        ("--profile-save", options.keep.profile_save.is_some()),
    ];
    if let Some((name, _)) = recording.iter().find(|(_, given)| *given && !matches!(options.engine.tier, Tier::Auto)) {
        return Err(Failure::Usage(format!("{name} needs --tier auto: code that is pinned to one tier leaves no LWP records")));
    }
    check_outputs(options, Path::new(file))?;
    let mut config = config(&options.engine, Some(Path::new(file)))?;
    config.measure(options.report.is_some() || options.keep.export.is_some() || quiet);
    // Whoever watches wants the records that code from a cache does not write.
    let watched = quiet
        || options.watch.watches()
        || options.lwp_record.is_some()
        || options.keep.watches()
        || options.engine.policy.policy_exec.is_some();
    if !watched && codegen.cache.unwrap_or(true) {
        config.cache(CacheDirectory::of_user());
    }
    if let Some(templates) = codegen.templates {
        config.templates(templates);
    }
    if let Some(bytes) = wasm.max_wasm_stack {
        config.max_wasm_stack(bytes);
    }
    if let Some(bytes) = wasm.max_function_body {
        config.max_function_body(bytes);
    }
    if let Some(time) = wasm.max_compile_time {
        config.max_compile_time(time);
    }
    // What a run leaves behind is written also where a signal ends it. (`top` has signals of its own.)
    let leaves = around.leaves
        || !quiet && (options.report.is_some() || options.lwp_record.is_some() || options.keep.leaves() || options.watch.watches());
    let stoppable = around.stoppable || leaves;
    config.epoch_interruption(wasm.timeout.is_some() || stoppable);
    options.keep.begin(&mut config)?;
    options.keep.check_paths()?;
    config.machine().timeline |= quiet || options.report.as_ref().is_some_and(|to| to.format != ReportFormat::Text);
    let mut watch = options.watch.begin(&mut config, sampled || around.stoppable)?;
    // Before the run: a report that cannot be written is known now.
    let report_file = options.report.as_ref().and_then(|to| to.file.as_ref()).map(|file| create(file)).transpose()?;
    let engine = engine(&config)?;
    // (of a pipe what was looked at would be gone)
    let module = if Path::new(file).is_file() && Engine::detect_precompiled_file(file).unwrap_or(None).is_some() {
        compile::load(&engine, Path::new(file), options.allow_precompiled)?
    } else {
        load(&engine, Path::new(file)).map_err(|failure| match failure {
            Failure::Load(message) if !Path::new(file).exists() => Failure::Load(message + &arguments::no_command(file)),
            failure => failure,
        })?
    };
    options.keep.check(&module);
    if let (Some(path), Some(plans)) = (&options.engine.plan, &engine.vm().config().plans) {
        check_plans(path, plans, &module);
    }
    let wasi = wasi_context(options, file, &args, &around.output)?;
    let record_to = match &options.keep.export {
        Some(folder) => Some(export::record_file(folder)?),
        None => options.lwp_record.clone(),
    };
    if let Some(to) = &record_to {
        let out = std::fs::File::create(to).map_err(|error| unrecorded(to, &error))?;
        let note = format!("backedge run {}, module {:016x}", Path::new(file).display(), module.loaded().module.hash);
        engine.vm().record_to(Box::new(std::io::BufWriter::new(out)), &note).map_err(|error| unrecorded(to, &error))?;
    }
    let mut store = store(&engine, wasi, &wasm, stoppable)?;
    // (a signal before the store has its deadline ends the process)
    if leaves {
        interrupts::end_guests_of(&engine)?;
    }
    let mut linker = Linker::new(&engine);
    wasi::add_to_linker(&mut linker, |host: &mut Host| &mut host.wasi).map_err(|error| Failure::Load(format!("{error:#}")))?;
    if let Some(import) = module.imports().find(|import| import.module() == "wasi" && import.name() == "thread-spawn") {
        return Err(Failure::Load(format!(
            "imports `{}::{}`: wasi-threads is not supported; build for wasm32-wasip1 without threads",
            import.module(),
            import.name()
        )));
    }
    match options.unknown_imports {
        UnknownImports::Error => Ok(()),
        UnknownImports::Trap => linker.define_unknown_imports_as_traps(&module),
        UnknownImports::Zero => linker.define_unknown_imports_as_default_values(&module),
    }
    .map_err(|error| Failure::Load(format!("{error:#}")))?;
    if let Some(timeout) = wasm.timeout {
        // (an engine that it had would not end before the deadline, and its end saves the cache)
        let engine = engine.weak();
        // Never joined: it sleeps until the deadline, and the process ends when the guest does.
        std::thread::Builder::new()
            .name("timeout".into())
            .spawn(move || {
                std::thread::sleep(timeout);
                if let Some(engine) = engine.upgrade() {
                    engine.increment_epoch();
                }
            })
            .map_err(|error| Failure::Load(format!("cannot start the timeout's thread: {error}")))?;
    }
    let sources = options.keep.start_sources(&engine)?;
    watch.start(&engine)?;
    (around.begun)(&engine, &module, &watch)?;
    let outcome = guest(options, &module, &linker, &mut store, &args, &around.output);
    watch.stop();
    drop(sources);
    engine.vm().end_run();
    // Who looks at what is decided wants it decided, also of a guest that is soon over.
    if !quiet {
        let kept = options.report.is_some() || options.keep.watches() || options.watch.watches();
        engine.vm().config().policy.end_within(if kept { POLICY_PATIENCE } else { Duration::ZERO });
    }
    let left = codegen.fill.unwrap_or(true) && background::leave(&engine, &module, Path::new(file), &options.engine);
    // The process is about to end, and what the system takes back at one stroke need not be given back piece by piece; nor is a compile waited for, unless
    // the cache has nothing yet and nobody else makes it: then the engine's end saves it with the rest, once.
    let kept = left || engine.cache_directory().is_none() || module.has_kept_code();
    let ends_at_once = !watched && !around.stoppable && kept;
    if ends_at_once && !left {
        engine.save_cache();
    }
    // All that was asked for is written, also where one of them fails.
    let mut written = Ok(());
    let mut keep = |result: Result<(), Failure>| {
        if written.is_ok() {
            written = result;
        }
    };
    let recorded = record_to.as_ref().map_or(Ok(()), |to| engine.vm().finish_recording().map_err(|error| unrecorded(to, &error)));
    let exportable = recorded.is_ok();
    keep(recorded);
    // Once, so that all say the same.
    let observed = (options.report.is_some() || options.keep.export.is_some()).then(|| {
        engine.settle();
        module.report()
    });
    if let (Some(to), Some(observed)) = (&options.report, &observed) {
        let command = arguments::as_text().join(" ");
        let about = report::About { module: &module, samples: watch.samples.as_ref(), command: &command };
        keep(report::write(observed, &about, to, report_file));
    }
    if let (Some(folder), Some(observed)) = (options.keep.export.as_ref().filter(|_| exportable), &observed) {
        keep(export::write(folder, observed));
    }
    keep(options.keep.end(&engine, &module));
    keep(watch.finish(&engine, &module, &Path::new(file).file_name().unwrap_or(file).to_string_lossy()));
    // What it counted to its end is the engine's from now on.
    drop(store);
    if quiet {
        engine.settle();
        (around.then)(&engine, &module);
    }
    if ends_at_once {
        std::mem::forget((engine, module));
    }
    // How the guest failed says more than what could not be written about it.
    let code = outcome.inspect_err(|_| {
        if let Err(unwritten) = &written {
            let _ = writeln!(std::io::stderr(), "{unwritten}");
        }
    })?;
    written.map(|()| code)
}

fn unrecorded(to: &Path, error: &std::io::Error) -> Failure {
    Failure::Load(format!("cannot write records to `{}`: {error}", to.display()))
}

/// Instantiates the module and calls what is to be called.
fn guest(
    options: &Run,
    module: &Module,
    linker: &Linker<Host>,
    store: &mut Store<Host>,
    args: &[&str],
    output: &Output,
) -> Result<i32, Failure> {
    let file = options.file_and_args.first().map_or(Path::new(""), Path::new);
    let entry = |name: &str| check_entry(module, file, name);
    let initializes = entry("_initialize")?;
    let call = match &options.invoke {
        Some(name) => Some(invoke::prepare(module, name, args)?),
        None => {
            if !entry("_start")? {
                check_startable(module)?;
            }
            None
        }
    };
    let pre = linker.instantiate_pre(module).map_err(|error| {
        Failure::Load(match error.downcast_ref::<UnknownImportError>() {
            Some(import) => {
                format!("unknown import `{}::{}` ({}): backedge offers WASI preview 1 only", import.module(), import.name(), import.ty())
            }
            None => format!("{error:#}"),
        })
    })?;
    let mut run = || -> Result<(), backedge::Error> {
        let instance = pre.instantiate(&mut *store)?;
        // (not twice where it is what was asked for)
        if initializes && options.invoke.as_deref() != Some("_initialize") {
            instance.get_typed_func::<(), ()>(&mut *store, "_initialize")?.call(&mut *store, ())?;
        }
        match &call {
            Some(call) => match output {
                Output::Inherited => call.run(&mut *store, instance, std::io::stdout()),
                Output::Aside => call.run(&mut *store, instance, std::io::stderr()),
                Output::Captured(out, _) => call.run(&mut *store, instance, out()),
            },
            None => start(&mut *store, instance),
        }
    };
    match run() {
        Ok(()) => Ok(0),
        Err(error) => match error.downcast_ref::<I32Exit>() {
            Some(exit) => Ok(exit.0),
            None if is_link_error(&error) || error.is::<invoke::Unwritten>() => Err(Failure::Load(format!("{error:#}"))),
            None => Err(Failure::stopped(&error)),
        },
    }
}

/// Whether instantiation failed before any code of the guest ran.
fn is_link_error(error: &backedge::Error) -> bool {
    error.downcast_ref::<backedge::LinkError>().is_some()
}

fn start(store: &mut Store<Host>, instance: Instance) -> Result<(), backedge::Error> {
    match instance.get_func(&mut *store, "_start") {
        Some(start) => start.typed::<(), ()>(&*store)?.call(store, ()),
        None => Ok(()),
    }
}

/// Whether the module has that entry of a WASI program. What has its name and is something else makes it no such program.
fn check_entry(module: &Module, file: &Path, name: &str) -> Result<bool, Failure> {
    match module.get_export(name) {
        None => Ok(false),
        Some(ExternType::Func(ty)) if ty.params().len() == 0 && ty.results().len() == 0 => Ok(true),
        Some(found) => Err(Failure::Load(format!("`{}`: export `{name}`: expected func () -> (), found {found}", file.display()))),
    }
}

/// A module without `_start` that has functions to call is a mistake of the command line.
fn check_startable(module: &Module) -> Result<(), Failure> {
    let functions = module.exports().filter(|export| matches!(export.ty(), ExternType::Func(_))).map(|export| export.name());
    let (initializers, functions): (Vec<&str>, Vec<&str>) = functions.partition(|name| *name == "_initialize");
    let what = match (initializers.is_empty(), functions.is_empty()) {
        // It may still have a start function or segments that trap: it is instantiated.
        (true, true) => return Ok(()),
        (false, true) => {
            let why = "it is a reactor and exports no other function to call; `--invoke _initialize` runs that alone";
            return Err(Failure::Usage(format!("the module has `_initialize` and no `_start`: {why}")));
        }
        (true, false) => "the module has no `_start`",
        (false, false) => "the module has `_initialize` and no `_start`: it is a reactor, whose functions are called one by one",
    };
    let shown: Vec<String> = functions.iter().take(8).map(|name| format!("`{name}`")).collect();
    let more = if functions.len() > 8 { ", …" } else { "" };
    Err(Failure::Usage(format!("{what}; name a function with --invoke: {}{more}", shown.join(", "))))
}

/// The engine's settings that the options say. `program`: whose records are replayed where the options ask for that.
pub fn config(options: &EngineOptions, program: Option<&Path>) -> Result<Config, Failure> {
    let mut config = Config::new();
    config.tier(match options.tier {
        Tier::Interp => TierPolicy::Interpreter,
        Tier::Templates => TierPolicy::Templates,
        Tier::Baseline => TierPolicy::Baseline,
        Tier::Optimizing => TierPolicy::Optimizing,
        Tier::Auto => TierPolicy::Auto,
    });
    if options.no_feedback || options.feedback == Feedback::Off {
        config.feedback(FeedbackPolicy::Off);
    }
    if options.every_event || matches!(options.feedback, Feedback::Pebs | Feedback::Pmi | Feedback::Cpc) {
        crate::compare::record_every_event(config.machine());
        config.machine().ring.registers = options.feedback == Feedback::Pebs;
    }
    config.machine().delivery = crate::compare::model(options.feedback).map(|model| (model, crate::compare::sampling(2)));
    if options.source == Source::Native && !lwp_feedback::native::available() {
        let info = lwp_feedback::info::native_detail();
        return Err(Failure::Usage(format!("--source native: {info}")));
    }
    config.record_source((&options.source).into());
    if !options.events.contains(EventId::PROGRAMMED) && matches!(options.tier, Tier::Auto) {
        warn("--events without 255 (lwpins): nothing says that code is hot, so all of it stays interpreted");
    }
    if options.source == Source::Perf {
        let info = perf::info();
        if !info.available {
            warn(&format!("--source perf: {}; no branch and no miss is recorded", info.detail));
        }
    }
    let unasked = match options.feedback {
        _ if options.no_feedback => Some("--no-feedback"),
        Feedback::Off => Some("--feedback=off"),
        _ => (!matches!(options.tier, Tier::Auto)).then_some("a --tier other than auto"),
    };
    if let (Some(why), Some(_)) = (unasked, &options.policy.policy_exec) {
        warn(&format!("--policy-exec with {why}: nothing asks it"));
    }
    config.machine().events = options.events;
    config.machine().clock_interval = options.clock_interval;
    config.machine().exact = options.exact;
    if let Some(count) = options.hot_threshold {
        config.hot_threshold(count);
    }
    config.machine().trials.enabled = !options.no_trial;
    config.machine().trials.seed = options.seed;
    config.machine().trials.try_same = options.try_same;
    config.machine().trials.slowed_percent = options.try_slowed;
    config.machine().feedback_budget = options.feedback_budget;
    config.machine().plans = options.plan.as_deref().map(plans).transpose()?.map(Arc::new);
    // A given plan, and nothing that decides by time: compiled where it becomes hot, so that the same run makes the same code.
    if options.no_trial && options.plan.is_some() {
        config.deterministic(true);
        config.machine().ring.seed = options.seed as u32;
    }
    if options.plan.is_some() && options.policy.policy_exec.is_some() {
        return Err(Failure::Usage("--plan and --policy-exec both say what to do".into()));
    }
    options.policy.apply(&mut config)?;
    if let Source::Replay(records) = &options.source {
        if options.plan.is_some() {
            return Err(Failure::Usage("--plan and --source replay both say what to do".into()));
        }
        let program = program.ok_or_else(|| Failure::Usage("--source replay is of one program, and here there is none or more".into()))?;
        config.machine().plans = Some(Arc::new(lwp::plans_of_records(records, program, &options.policy)?));
        // Hotness goes on, for code to move up; the rest was recorded already.
        config.machine().events = EventSet::NONE.with(EventId::PROGRAMMED);
    }
    Ok(config)
}

/// Whether each of the files that a run writes is one of its own.
fn check_outputs(options: &Run, program: &Path) -> Result<(), Failure> {
    let report = options.report.as_ref().and_then(|to| to.file.as_deref());
    let kept = [options.keep.save_plan.as_deref(), options.keep.profile_save.as_deref(), options.lwp_record.as_deref()];
    let watching = [report, options.watch.trace.as_deref(), options.watch.guest_file()];
    let exported = options.keep.export.as_deref().map_or_else(Vec::new, export::files);
    let outputs = kept.into_iter().chain(watching).flatten().chain(exported.iter().map(PathBuf::as_path));
    let replayed = match &options.engine.source {
        Source::Replay(records) => Some(records.as_path()),
        _ => None,
    };
    let given = [options.engine.plan.as_deref(), options.engine.policy.budgets.as_deref(), replayed, options.keep.profile_used_only()];
    samefile::check(given.into_iter().flatten().chain([program]), outputs)
}

/// Says where plans are of another module; they are not carried out.
pub fn check_plans(path: &Path, plans: &PlanFile, module: &Module) {
    if let Err(reason) = plans.check(module.loaded().module.hash) {
        return warn(&format!("plans ignored: `{}` is {reason}", path.display()));
    }
    let defined = module.functions();
    let others: Vec<String> = plans.plans.iter().filter(|plan| !defined.contains(&plan.func)).map(|plan| plan.func.to_string()).collect();
    if !others.is_empty() {
        warn(&format!("`{}`: the module defines no function {}", path.display(), others.join(", ")));
    }
}

/// Reads a plan file.
pub fn plans(path: &Path) -> Result<PlanFile, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::read(path, &error))?;
    let no_plan = |why: &dyn std::fmt::Display| Failure::Load(format!("`{}` is not a plan file: {why}", path.display()));
    let text = String::from_utf8(bytes).map_err(|_| no_plan(&"it is no text"))?;
    PlanFile::parse(&text).map_err(|error| no_plan(&error))
}

/// An engine.
pub fn engine(config: &Config) -> Result<Engine, Failure> {
    Engine::new(config).map_err(|error| Failure::Load(format!("cannot start the engine: {error:#}")))
}

/// Reads and loads a module.
pub fn load(engine: &Engine, path: &Path) -> Result<Module, Failure> {
    module(engine, path, read(path)?)
}

/// Reads a module's bytes.
pub fn read(path: &Path) -> Result<Bytes, Failure> {
    Bytes::read(path).map_err(|error| Failure::read_as(path, &error, "a .wasm or .wat file"))
}

/// Loads the module of a file that was read.
pub fn module(engine: &Engine, path: &Path, bytes: Bytes) -> Result<Module, Failure> {
    Module::from_bytes(engine, bytes).map_err(|error| Failure::Load(format!("`{}` {error:#}", path.display())))
}

fn store(engine: &Engine, wasi: WasiCtx, wasm: &WasmOptions, stoppable: bool) -> Result<Store<Host>, Failure> {
    let mut limits = StoreLimitsBuilder::new();
    if let Some(bytes) = wasm.max_memory_size {
        limits = limits.memory_size(bytes);
    }
    if let Some(trap) = wasm.trap_on_grow_failure {
        limits = limits.trap_on_grow_failure(trap);
    }
    if let Some(elements) = wasm.max_table_elements {
        limits = limits.table_elements(elements);
    }
    if let Some(count) = wasm.max_instances {
        limits = limits.instances(count);
    }
    let host = Host { wasi, limits: limits.build() };
    let mut store =
        Store::try_new(engine, host).map_err(|error| Failure::Load(format!("cannot reserve memory for the guest: {error:#}")))?;
    if wasm.limits_growth() {
        store.limiter(|host| &mut host.limits);
    }
    if wasm.timeout.is_some() || stoppable {
        store.set_epoch_deadline(1);
    }
    Ok(store)
}

fn wasi_context(options: &Run, file: &OsString, args: &[&str], output: &Output) -> Result<WasiCtx, Failure> {
    let mut builder = WasiCtxBuilder::new();
    let usage = |error: backedge::Error| Failure::Usage(format!("{error:#}"));
    match output {
        Output::Inherited => _ = builder.inherit_stdio(),
        Output::Aside => _ = builder.inherit_stdio().stdout(std::io::stderr()),
        Output::Captured(out, err) => {
            builder.stdout(out()).stderr(err());
            // A terminal's keys are the watcher's.
            if !std::io::stdin().is_terminal() {
                builder.inherit_stdin();
            }
        }
    }
    let name = match &options.argv0 {
        Some(name) => name.clone(),
        None => Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    builder.arg(&name).map_err(usage)?;
    builder.args(args).map_err(usage)?;
    for (name, value) in environment(options)? {
        builder.env(name, value).map_err(usage)?;
    }
    for dir in &options.dirs {
        let (host, guest) = host_and_guest(dir);
        builder.preopened_dir(host, guest).map_err(|error| Failure::Usage(format!("--dir {dir}: {error:#}")))?;
    }
    for dir in &options.read_only_dirs {
        let (host, guest) = host_and_guest(dir);
        builder.preopened_dir_read_only(host, guest).map_err(|error| Failure::Usage(format!("--read-only-dir {dir}: {error:#}")))?;
    }
    Ok(builder.build())
}

/// The guest's variables, each once: a C library's `getenv` takes the first of a name, and what was said last is what is meant. Options count for more than what is inherited.
fn environment(options: &Run) -> Result<Vec<(String, String)>, Failure> {
    let mut variables: Vec<(String, String)> = Vec::new();
    let inherit = options.wasi.iter().filter_map(|WasiOptions { inherit_env }| *inherit_env).next_back();
    if inherit == Some(true) {
        for (name, value) in std::env::vars_os() {
            match (name.into_string(), value.into_string()) {
                (Ok(name), Ok(value)) => variables.push((name, value)),
                (name, _) => {
                    let name = name.unwrap_or_else(|name| name.to_string_lossy().into_owned());
                    warn(&format!("-S inherit-env: `{name}` is left out: it is not UTF-8, which WASI needs"));
                }
            }
        }
    }
    for variable in &options.env {
        let (name, value) = match variable.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => match std::env::var(variable) {
                Ok(value) => (&**variable, value),
                Err(std::env::VarError::NotPresent) => continue,
                Err(std::env::VarError::NotUnicode(_)) => {
                    return Err(Failure::Usage(format!("environment variable `{variable}` is not UTF-8, which WASI needs")));
                }
            },
        };
        match variables.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => variables.push((name.to_owned(), value)),
        }
    }
    Ok(variables)
}

fn host_and_guest(dir: &str) -> (&str, &str) {
    dir.split_once("::").unwrap_or((dir, dir))
}

fn text(argument: &OsString) -> Result<&str, Failure> {
    argument.to_str().ok_or_else(|| Failure::Usage(format!("argument `{}` is not UTF-8, which WASI needs", argument.to_string_lossy())))
}
