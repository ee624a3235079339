//! The process that a steady row of our own engine is measured in: calls `setup`, then `run` again and again, then `check`, and prints one line of JSON (the protocol
//! of `bench-programs/peers/rust/src/protocol.rs`).

use crate::failure::Failure;
use crate::options::EngineOptions;
use crate::run;
use anyhow::{Context, Result, bail, ensure};
use backedge::wasi::{self, WasiCtx, WasiCtxBuilder};
use backedge::{Linker, Module, Store};
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
        outcome.map(|()| 0).map_err(|error| Failure::Load(format!("{error:#}")))
    })
}

fn measure(options: &Steady) -> Result<()> {
    let config = run::config(&options.engine).map_err(|failure| anyhow::anyhow!("{failure}"))?;
    let engine = run::engine(&config).map_err(|failure| anyhow::anyhow!("{failure}"))?;
    let module = Module::from_file(&engine, &options.file)?;
    let mut linker = Linker::new(&engine);
    wasi::add_to_linker(&mut linker, |context: &mut WasiCtx| context)?;
    let mut store = Store::new(&engine, WasiCtxBuilder::new().inherit_stderr().build());
    let instance = linker.instantiate(&mut store, &module)?;
    let setup = instance.get_func(&mut store, "setup").context("no export `setup`")?;
    let run = instance.get_typed_func::<i32, i64>(&mut store, "run")?;
    let check = instance.get_typed_func::<(i32, i64), i32>(&mut store, "check")?;
    let ready = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
    match setup.ty(&store).params().len() {
        1 => setup.typed::<i32, ()>(&store)?.call(&mut store, options.mode)?,
        _ => setup.typed::<(i32, i32), ()>(&store)?.call(&mut store, (options.mode, options.size))?,
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
    let line = serde_json::json!({
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
