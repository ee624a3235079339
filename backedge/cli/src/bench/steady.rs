//! The process that a steady row of our own engine is measured in: calls `setup`, then `run` again and again, then `check`, and prints one line of JSON (the protocol
//! of `bench-programs/peers/rust/src/protocol.rs`).

use crate::failure::Failure;
use crate::options::EngineOptions;
use crate::policyoptions::{KeepOptions, Values};
use crate::run;
use anyhow::{Context, Result, bail, ensure};
use backedge::wasi::{self, WasiCtx, WasiCtxBuilder};
use backedge::{Linker, Module, Store, Trap};
use clap::Args;
use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Calls at most.
const MOST_CALLS: usize = 5000;
/// Calls at least, unless they take ten times as long as asked for.
const LEAST_CALLS: usize = 4;

/// `backedge bench steady`.
#[derive(Args)]
pub struct Steady {
    #[command(flatten)]
    pub engine: EngineOptions,
    /// Test of the harness: add this much to every call, percent, by computing
    #[arg(long, value_name = "PCT", default_value_t = 0)]
    pub slowed_percent: u32,
    /// Write what was learnt, all values, to FILE
    #[arg(long, value_name = "FILE")]
    pub profile_save: Option<PathBuf>,
    /// Begin with it
    #[arg(long, value_name = "FILE")]
    pub profile_use: Option<PathBuf>,
    /// A program of two phases: after A calls `setup` of MODE and `run` with ROUNDS for the next B, and back, N times each; this and not seconds says when
    /// it is over
    #[arg(long, value_name = "A,B,MODE,ROUNDS,N", value_delimiter = ',', num_args = 1)]
    pub phases: Vec<i32>,
    /// Print the trials as well
    #[arg(long)]
    pub trials: bool,
    /// Write what the engine saw and did to FILE, as `run --report=json` does
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// The program
    pub file: PathBuf,
    /// MODE of `setup`
    pub mode: i32,
    /// SIZE of `setup`
    pub size: i32,
    /// ROUNDS of each `run`
    pub rounds: i32,
    /// How long to go on, seconds
    pub seconds: f64,
}

/// Runs it on a thread with room for the guest.
pub fn run(options: &Steady) -> Result<i32, Failure> {
    std::thread::scope(|scope| {
        let guest = std::thread::Builder::new()
            .name("guest".into())
            .stack_size(256 << 20)
            .spawn_scoped(scope, || measure(options))
            .map_err(|error| Failure::Load(format!("cannot start the guest's thread: {error}")))?;
        let outcome = guest.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        outcome.map(|()| 0).map_err(|error| match error.downcast_ref::<Trap>() {
            // One line, as the harness looks for; `run` shows the backtrace.
            Some(trap) => Failure::Load(format!("wasm trap: {trap}")),
            None => Failure::Load(format!("{error:#}")),
        })
    })
}

fn measure(options: &Steady) -> Result<()> {
    let failed = |failure: Failure| anyhow::anyhow!("{failure}");
    let keep = KeepOptions {
        profile_save: options.profile_save.clone(),
        profile_use: options.profile_use.clone(),
        record_values: Values::All,
        ..KeepOptions::default()
    };
    let mut config = run::config(&options.engine, Some(&options.file)).map_err(failed)?;
    keep.begin(&mut config).map_err(failed)?;
    config.machine().timeline |= options.report.is_some();
    let engine = run::engine(&config).map_err(failed)?;
    let module = Module::from_file(&engine, &options.file)?;
    let mut linker = Linker::new(&engine);
    wasi::add_to_linker(&mut linker, |context: &mut WasiCtx| context)?;
    let mut store = Store::new(&engine, WasiCtxBuilder::new().inherit_stderr().build());
    let instance = linker.instantiate(&mut store, &module)?;
    let setup = instance.get_func(&mut store, "setup").context("no export `setup`")?;
    let run = instance.get_typed_func::<i32, i64>(&mut store, "run")?;
    let check = instance.get_typed_func::<(i32, i64), i32>(&mut store, "check")?;
    let ready = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
    let prepare = |store: &mut Store<WasiCtx>, mode: i32| match setup.ty(&*store).params().len() {
        1 => setup.typed::<i32, ()>(&*store)?.call(store, mode),
        _ => setup.typed::<(i32, i32), ()>(&*store)?.call(store, (mode, options.size)),
    };
    prepare(&mut store, options.mode)?;
    if !options.phases.is_empty() {
        ensure!(options.phases.len() == 5, "--phases: five numbers");
        let mut calls: Vec<u64> = Vec::new();
        for _ in 0..options.phases[4] {
            for (mode, rounds, count) in
                [(options.mode, options.rounds, options.phases[0]), (options.phases[2], options.phases[3], options.phases[1])]
            {
                prepare(&mut store, mode)?;
                for _ in 0..count {
                    let began = Instant::now();
                    let result = run.call(&mut store, rounds)?;
                    calls.push(began.elapsed().as_nanos() as u64);
                    ensure!(check.call(&mut store, (rounds, result))? != 0, "wrong result: {result}");
                }
            }
        }
        engine.settle();
        let trials = options.trials.then(|| module.loaded().code.trials());
        println!("{}", serde_json::json!({ "ready_unix_ns": ready as u64, "calls_ns": calls, "trials": trials }));
        return Ok(());
    }
    let (mut wall, mut cpu) = (Vec::new(), Vec::new());
    let begin = Instant::now();
    let mut first = None;
    loop {
        let (cpu_before, wall_before) = (cpu_ns(), Instant::now());
        let result = run.call(&mut store, options.rounds)?;
        if options.slowed_percent > 0 {
            let until = wall_before.elapsed().mul_f64(1.0 + f64::from(options.slowed_percent) / 100.0);
            while wall_before.elapsed() < until {
                std::hint::spin_loop();
            }
        }
        wall.push(wall_before.elapsed().as_nanos() as u64);
        cpu.push(cpu_ns() - cpu_before);
        let expected = *first.get_or_insert(result);
        ensure!(result == expected, "wrong result: a call returned {result}, the first one {expected}");
        let elapsed = begin.elapsed().as_secs_f64();
        if wall.len() >= MOST_CALLS || (elapsed >= options.seconds && wall.len() >= LEAST_CALLS) || elapsed >= 10.0 * options.seconds {
            break;
        }
    }
    let result = first.unwrap_or_default();
    if check.call(&mut store, (options.rounds, result))? == 0 {
        bail!("wrong result: {result}");
    }
    keep.end(&engine, &module).map_err(failed)?;
    let trials = options.trials.then(|| {
        engine.settle();
        module.loaded().code.trials()
    });
    if let Some(path) = &options.report {
        engine.settle();
        std::fs::write(path, serde_json::to_vec(&instance.report(&mut store))?)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    let line = serde_json::json!({
        "trials": trials,
        // As a number it would lose digits in readers that know floating point only; ours reads 64 bits.
        "ready_unix_ns": ready as u64, "result": (result as u64).to_string(), "calls_ns": wall, "calls_cpu_ns": cpu, "trap_handler": true,
    });
    println!("{line}");
    Ok(())
}

/// CPU time of all threads of this process.
fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec that the call may write.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
