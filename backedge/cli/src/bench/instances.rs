//! `backedge bench instances`: many short-lived stores on one module, as a server that makes one per request has them. What one store learned serves the next, so after
//! a while each should run as fast as a store that lives long; and making one should cost little, in time and in memory. wasmtime does the same beside it, where
//! `bench-programs/fetch-peers.sh` fetched it: the same module through its C API, in a process of its own.

use crate::failure::Failure;
use anyhow::{Context as _, Result, ensure};
use backedge::{Engine, Linker, Module, Store};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// `backedge bench instances`.
#[derive(Args)]
pub struct Instances {
    /// Fresh stores
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(10..=10_000_000))]
    pub stores: u32,
    /// Work of each, ms at full speed
    #[arg(long, value_name = "MS", default_value = "2", value_parser = milliseconds)]
    pub milliseconds: f64,
    /// Instances that are held at once to see what memory each takes
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub held: u32,
    /// The bench-programs folder of a checkout
    #[arg(long, value_name = "DIR")]
    pub programs: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

fn milliseconds(text: &str) -> Result<f64, String> {
    let milliseconds = text.parse().ok().filter(|milliseconds| (0.001..=10_000.0).contains(milliseconds));
    milliseconds.ok_or_else(|| format!("expected milliseconds, 0.001 to 10000, found `{text}`"))
}

/// A request handler in small: calls through a table of four functions, one of which is called nearly always, on a memory of 1 MiB.
const GUEST: &str = r#"(module
  (memory (export "memory") 16)
  (type $step (func (param i32 i32) (result i32)))
  (table 4 4 funcref)
  (elem (i32.const 0) func $mix $add $sub $or)
  (func $mix (type $step) (i32.xor (i32.rotl (local.get 0) (i32.const 7)) (i32.mul (local.get 1) (i32.const 0x9e3779b1))))
  (func $add (type $step) (i32.add (local.get 0) (local.get 1)))
  (func $sub (type $step) (i32.sub (local.get 0) (local.get 1)))
  (func $or (type $step) (i32.or (local.get 0) (local.get 1)))
  (func (export "run") (param $rounds i32) (result i64) (local $x i32) (local $at i32)
    (loop $again
      (local.set $at (i32.and (local.get $x) (i32.const 0xffffc)))
      (local.set $x (call_indirect (type $step) (local.get $x) (i32.load (local.get $at))
        (i32.eqz (i32.and (local.get $rounds) (i32.const 0xfff)))))
      (i32.store (local.get $at) (local.get $x))
      (br_if $again (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1)))))
    (i64.extend_i32_u (local.get $x))))"#;

/// What one engine's process says.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Measured {
    /// From nothing to an instance that can be called, a store each.
    instantiate_ns: Vec<u64>,
    /// One call of the work in each store.
    call_ns: Vec<u64>,
    /// The same work called again and again in one store, at the end.
    long_ns: Vec<u64>,
    /// Resident memory that an instance takes which was called once, bytes.
    held_bytes: u64,
}

fn resident() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = text.split_whitespace().nth(1).context("no resident size in /proc/self/statm")?.parse()?;
    Ok(pages * 4096)
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(u64, T)> {
    let begin = Instant::now();
    let value = work()?;
    Ok((begin.elapsed().as_nanos() as u64, value))
}

/// Rounds that take so long at full speed.
fn calibrate(length: Duration) -> Result<i32> {
    let engine = Engine::default();
    let module = Module::new(&engine, GUEST)?;
    let mut store = Store::new(&engine, ());
    let run = Linker::new(&engine).instantiate(&mut store, &module)?.get_typed_func::<i32, i64>(&mut store, "run")?;
    let mut best = f64::MAX;
    let rounds = 100_000;
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(1500) {
        best = best.min(timed(|| run.call(&mut store, rounds))?.0 as f64 / f64::from(rounds));
    }
    Ok((length.as_nanos() as f64 / best).clamp(1.0, 1e9) as i32)
}

fn ours(options: &Instances, rounds: i32) -> Result<Measured> {
    let engine = Engine::default();
    let module = Module::new(&engine, GUEST)?;
    let linker: Linker<()> = Linker::new(&engine);
    let fresh = || -> Result<_> {
        let mut store = Store::new(&engine, ());
        let run = linker.instantiate(&mut store, &module)?.get_typed_func::<i32, i64>(&mut store, "run")?;
        Ok((store, run))
    };
    let (mut instantiate_ns, mut call_ns, mut long_ns) = (Vec::new(), Vec::new(), Vec::new());
    let mut result = None;
    for _ in 0..options.stores {
        let (ns, (mut store, run)) = timed(fresh)?;
        instantiate_ns.push(ns);
        let (ns, value) = timed(|| run.call(&mut store, rounds))?;
        call_ns.push(ns);
        ensure!(*result.get_or_insert(value) == value, "a store's result differs");
    }
    let before = resident()?;
    let mut held = Vec::new();
    for _ in 0..options.held {
        let (mut store, run) = fresh()?;
        run.call(&mut store, 1)?;
        held.push(store);
    }
    let held_bytes = resident()?.saturating_sub(before) / u64::from(options.held);
    drop(held);
    let (mut store, run) = fresh()?;
    for _ in 0..500 {
        long_ns.push(timed(|| run.call(&mut store, rounds))?.0);
    }
    Ok(Measured { instantiate_ns, call_ns, long_ns, held_bytes })
}

/// `None` where it was not fetched.
fn wasmtime(options: &Instances, rounds: i32) -> Result<Option<Measured>> {
    let peer = match super::places(options.programs.as_ref()) {
        Ok(places) => places.folder.join("peers/bin/peer-wasmtime"),
        Err(_) => return Ok(None),
    };
    if !peer.is_file() {
        return Ok(None);
    }
    let file = super::tempfile("instances").context("no file for the module")?;
    std::fs::write(&file, wat_binary()?)?;
    let out = std::process::Command::new(peer)
        .arg("instances")
        .arg(&file)
        .args([options.stores.to_string(), rounds.to_string(), options.held.to_string()])
        .output();
    let _ = std::fs::remove_file(&file);
    let out = out?;
    ensure!(
        out.status.success(),
        "peer-wasmtime: {} (an old one? fetch-peers.sh wasmtime builds it anew)",
        String::from_utf8_lossy(&out.stderr).trim()
    );
    Ok(Some(serde_json::from_slice(&out.stdout)?))
}

/// The module in its binary form, as our engine reads it.
fn wat_binary() -> Result<Vec<u8>> {
    let engine = Engine::default();
    Ok(Module::new(&engine, GUEST)?.loaded().module.bytes().to_vec())
}

fn median(values: &[u64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).map_or(0.0, |&value| value as f64)
}

/// Measures both and prints them beside each other.
pub fn run(options: &Instances) -> Result<i32, Failure> {
    let rows = (|| -> Result<Vec<(&str, Measured)>> {
        let rounds = calibrate(Duration::from_secs_f64(options.milliseconds / 1e3))?;
        let mut rows = vec![("backedge", ours(options, rounds)?)];
        rows.extend(wasmtime(options, rounds)?.map(|measured| ("wasmtime", measured)));
        Ok(rows)
    })()
    .map_err(super::load)?;
    if options.json {
        let rows: std::collections::BTreeMap<_, _> = rows.into_iter().collect();
        super::say(&format!("{}\n", serde_json::to_string(&rows).map_err(|error| super::load(error.into()))?));
        return Ok(0);
    }
    let tenth = options.stores as usize / 10;
    super::say(&format!(
        "{:<10} {:>16} {:>12} {:>14} {:>14} {:>14} {:>8}\n",
        "", "instantiate µs", "KiB held", "first call ms", "last tenth ms", "long run ms", "ratio"
    ));
    for (name, measured) in &rows {
        let last = median(&measured.call_ns[measured.call_ns.len() - tenth..]);
        let long = median(&measured.long_ns[measured.long_ns.len() / 2..]);
        super::say(&format!(
            "{name:<10} {:>16.1} {:>12.1} {:>14.2} {:>14.3} {:>14.3} {:>8.3}\n",
            median(&measured.instantiate_ns) / 1e3,
            measured.held_bytes as f64 / 1024.0,
            measured.call_ns.first().map_or(0.0, |&ns| ns as f64 / 1e6),
            last / 1e6,
            long / 1e6,
            last / long
        ));
    }
    if rows.len() == 1 {
        super::say("wasmtime: not fetched (bash bench-programs/fetch-peers.sh wasmtime)\n");
    }
    Ok(0)
}
