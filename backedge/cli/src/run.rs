//! `backedge run`: loads a program, gives it what the command line says, runs it, and reports.
//!
//! The guest runs on a thread of its own with a big stack, so that host frames under deep wasm recursion have room.

use crate::failure::Failure;
use crate::options::{CodegenOptions, EngineOptions, Feedback, Run, Tier, WasiOptions, WasmOptions};
use crate::{compile, export, invoke, report};
use backedge::wasi::{self, WasiCtx, WasiCtxBuilder};
use backedge::{
    CacheDirectory, Config, Engine, ExternType, FeedbackPolicy, I32Exit, Instance, Linker, Module, Store, StoreLimits, StoreLimitsBuilder,
    TierPolicy, UnknownImportError,
};
use lwp_feedback::policy::PlanFile;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

/// Virtual stack of the guest's thread. Only touched pages cost memory.
const GUEST_STACK_BYTES: usize = 256 << 20;

/// What host functions find in the store.
struct Host {
    wasi: WasiCtx,
    limits: StoreLimits,
}

/// Runs the program; the exit code is the program's.
pub fn run(options: &Run) -> Result<i32, Failure> {
    run_then(options, false, &mut |_, _| {})
}

/// As [`run`]; `then` sees the engine and the module when everything has settled. With `quiet` the guest's standard output goes to standard error.
pub fn run_then(options: &Run, quiet: bool, then: &mut (dyn FnMut(&Engine, &Module) + Send)) -> Result<i32, Failure> {
    std::thread::scope(|scope| {
        let guest = std::thread::Builder::new()
            .name("guest".into())
            .stack_size(GUEST_STACK_BYTES)
            .spawn_scoped(scope, || run_here(options, quiet, then))
            .map_err(|error| Failure::Load(format!("cannot start the guest's thread: {error}")))?;
        guest.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn run_here(options: &Run, quiet: bool, then: &mut (dyn FnMut(&Engine, &Module) + Send)) -> Result<i32, Failure> {
    let (file, args) = options.file_and_args.split_first().ok_or_else(|| Failure::Usage("expected a file to run".into()))?;
    let args = args.iter().map(text).collect::<Result<Vec<&str>, Failure>>()?;
    let wasm = WasmOptions::merged(&options.wasm);
    let mut config = config(&options.engine)?;
    config.measure(options.report.is_some() || options.keep.export.is_some() || quiet);
    // Whoever watches wants the records that code from a cache does not write.
    let watched = quiet || options.lwp_record.is_some() || options.keep.watches() || options.engine.policy.policy_exec.is_some();
    if !watched && options.codegen.iter().filter_map(|CodegenOptions { cache }| *cache).next_back().unwrap_or(true) {
        config.cache(CacheDirectory::of_user());
    }
    if let Some(bytes) = wasm.max_wasm_stack {
        config.max_wasm_stack(bytes);
    }
    config.epoch_interruption(wasm.timeout.is_some());
    options.keep.begin(&mut config)?;
    let engine = engine(&config)?;
    let module = if Engine::detect_precompiled_file(file).unwrap_or(None).is_some() {
        compile::load(&engine, Path::new(file), options.allow_precompiled)?
    } else {
        load(&engine, Path::new(file))?
    };
    options.keep.check(&module);
    let wasi = wasi_context(options, file, &args, quiet)?;
    let record_to = match &options.keep.export {
        Some(folder) => Some(export::record_file(folder)?),
        None => options.lwp_record.clone(),
    };
    if let Some(to) = &record_to {
        let out = std::fs::File::create(to).map_err(|error| unrecorded(to, &error))?;
        let note = format!("backedge run {}, module {:016x}", Path::new(file).display(), module.loaded().module.hash);
        engine.vm().record_to(Box::new(std::io::BufWriter::new(out)), &note).map_err(|error| unrecorded(to, &error))?;
    }
    let mut store = store(&engine, wasi, &wasm)?;
    let mut linker = Linker::new(&engine);
    wasi::add_to_linker(&mut linker, |host: &mut Host| &mut host.wasi).map_err(|error| Failure::Load(format!("{error:#}")))?;
    if let Some(timeout) = wasm.timeout {
        let engine = engine.clone();
        // Never joined: it sleeps until the deadline, and the process ends when the guest does.
        std::thread::Builder::new()
            .name("timeout".into())
            .spawn(move || {
                std::thread::sleep(timeout);
                engine.increment_epoch();
            })
            .map_err(|error| Failure::Load(format!("cannot start the timeout's thread: {error}")))?;
    }
    let sources = options.keep.start_sources(&engine)?;
    let outcome = guest(options, &module, &linker, &mut store, &args, quiet);
    drop(sources);
    engine.save_cache();
    if let Some(to) = &record_to {
        engine.vm().finish_recording().map_err(|error| unrecorded(to, &error))?;
    }
    if let Some(to) = &options.report {
        engine.settle();
        report::write(&module.report(), to)?;
    }
    if let Some(folder) = &options.keep.export {
        export::write(folder, &module.report())?;
    }
    options.keep.end(&engine, &module)?;
    if quiet {
        engine.settle();
        then(&engine, &module);
    }
    outcome
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
    quiet: bool,
) -> Result<i32, Failure> {
    let call = match &options.invoke {
        Some(name) => Some(invoke::prepare(module, name, args)?),
        None => {
            check_startable(module)?;
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
        if let Some(initialize) = instance.get_func(&mut *store, "_initialize") {
            initialize.typed::<(), ()>(&*store)?.call(&mut *store, ())?;
        }
        match &call {
            Some(call) if quiet => call.run(&mut *store, instance, std::io::stderr()),
            Some(call) => call.run(&mut *store, instance, std::io::stdout()),
            None => start(&mut *store, instance),
        }
    };
    match run() {
        Ok(()) => Ok(0),
        Err(error) => match error.downcast_ref::<I32Exit>() {
            Some(exit) => Ok(exit.0),
            None if is_link_error(&error) => Err(Failure::Load(format!("{error:#}"))),
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

/// A module without `_start` that has functions to call is a mistake of the command line.
fn check_startable(module: &Module) -> Result<(), Failure> {
    let functions: Vec<&str> =
        module.exports().filter(|export| matches!(export.ty(), ExternType::Func(_))).map(|export| export.name()).collect();
    if functions.is_empty() || functions.contains(&"_start") {
        return Ok(());
    }
    let shown: Vec<String> = functions.iter().take(8).map(|name| format!("`{name}`")).collect();
    let more = if functions.len() > 8 { ", …" } else { "" };
    Err(Failure::Usage(format!("the module has no `_start`; name a function with --invoke: {}{more}", shown.join(", "))))
}

/// The engine's settings that the options say.
pub fn config(options: &EngineOptions) -> Result<Config, Failure> {
    let mut config = Config::new();
    config.tier(match options.tier {
        Tier::Interp => TierPolicy::Interpreter,
        Tier::Baseline => TierPolicy::Baseline,
        Tier::Optimizing => TierPolicy::Optimizing,
        Tier::Auto => TierPolicy::Auto,
    });
    if options.no_feedback || options.feedback == Feedback::Off {
        config.feedback(FeedbackPolicy::Off);
    }
    config.machine().delivery = crate::compare::model(options.feedback).map(|model| (model, crate::compare::sampling(2)));
    config.record_source(options.source.into());
    if let Some(count) = options.hot_threshold {
        config.hot_threshold(count);
    }
    config.machine().trials.enabled = !options.no_trial;
    config.machine().trials.seed = options.seed;
    config.machine().feedback_budget = options.feedback_budget;
    config.machine().plans = options.plan.as_deref().map(plans).transpose()?.map(Arc::new);
    // A given plan, and nothing that decides by time: compiled where it becomes hot, so that the same run makes the same code.
    if options.no_trial && options.plan.is_some() {
        config.deterministic(true);
        config.machine().ring.seed = options.seed as u32;
    }
    options.policy.apply(&mut config)?;
    Ok(config)
}

/// Reads a plan file.
pub fn plans(path: &Path) -> Result<PlanFile, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::read(path, &error))?;
    PlanFile::parse(&text).map_err(|error| Failure::Load(format!("`{}` is not a plan file: {error}", path.display())))
}

/// An engine.
pub fn engine(config: &Config) -> Result<Engine, Failure> {
    Engine::new(config).map_err(|error| Failure::Load(format!("cannot start the engine: {error:#}")))
}

/// Reads and loads a module.
pub fn load(engine: &Engine, path: &Path) -> Result<Module, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::read(path, &error))?;
    Module::new(engine, &bytes).map_err(|error| Failure::Load(format!("`{}` {error:#}", path.display())))
}

fn store(engine: &Engine, wasi: WasiCtx, wasm: &WasmOptions) -> Result<Store<Host>, Failure> {
    let mut limits = StoreLimitsBuilder::new();
    if let Some(bytes) = wasm.max_memory_size {
        limits = limits.memory_size(bytes);
    }
    if let Some(trap) = wasm.trap_on_grow_failure {
        limits = limits.trap_on_grow_failure(trap);
    }
    let host = Host { wasi, limits: limits.build() };
    let mut store =
        Store::try_new(engine, host).map_err(|error| Failure::Load(format!("cannot reserve memory for the guest: {error:#}")))?;
    if wasm.max_memory_size.is_some() || wasm.trap_on_grow_failure.is_some() {
        store.limiter(|host| &mut host.limits);
    }
    if wasm.timeout.is_some() {
        store.set_epoch_deadline(1);
    }
    Ok(store)
}

fn wasi_context(options: &Run, file: &OsString, args: &[&str], quiet: bool) -> Result<WasiCtx, Failure> {
    let mut builder = WasiCtxBuilder::new();
    let usage = |error: backedge::Error| Failure::Usage(format!("{error:#}"));
    builder.inherit_stdio();
    if quiet {
        builder.stdout(std::io::stderr());
    }
    let name = match &options.argv0 {
        Some(name) => name.clone(),
        None => Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    builder.arg(&name).map_err(usage)?;
    builder.args(args).map_err(usage)?;
    let inherit = options.wasi.iter().filter_map(|WasiOptions { inherit_env }| *inherit_env).next_back();
    if inherit == Some(true) {
        builder.inherit_env().map_err(usage)?;
    }
    for variable in &options.env {
        match variable.split_once('=') {
            Some((name, value)) => builder.env(name, value).map_err(usage)?,
            None => {
                let value = std::env::var(variable).map_err(|_| Failure::Usage(format!("environment variable `{variable}` is not set")))?;
                builder.env(variable, value).map_err(usage)?
            }
        };
    }
    for dir in &options.dirs {
        let (host, guest) = dir.split_once("::").unwrap_or((dir, dir));
        builder.preopened_dir(host, guest).map_err(|error| Failure::Usage(format!("--dir {dir}: {error:#}")))?;
    }
    Ok(builder.build())
}

fn text(argument: &OsString) -> Result<&str, Failure> {
    argument.to_str().ok_or_else(|| Failure::Usage(format!("argument `{}` is not UTF-8, which WASI needs", argument.to_string_lossy())))
}
