//! Damaged modules: each must give an error or a valid run, never a panic, a hang or an allocation without bound.
//!
//! Enters: real modules and a seed. Case N damages one of them in a way of its own: bytes flipped, the end cut off, a stretch copied elsewhere or
//! zeroed. What loads all the same is instantiated under limits, with WASI and every other import a trap, and its `_start` runs until
//! a deadline. A worker may not have more data than [`MOST_DATA_BYTES`]; the kernel refuses it the rest, and it aborts: a finding.

use crate::random::{Random, mix};
use crate::trial::Problem;
use crate::workers::{self, Work, say};
use anyhow::{Context, Result, bail};
use backedge::wasi::{self, WasiCtx, WasiCtxBuilder};
use backedge::{Config, Engine, I32Exit, Linker, Module, Store, StoreLimits, StoreLimitsBuilder, TierPolicy, Trap};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// What to damage.
#[derive(Clone, Debug)]
pub struct Malformed {
    /// The modules.
    pub modules: Vec<PathBuf>,
    /// Cases in all.
    pub cases: u64,
    /// What the damage is made from.
    pub seed: u64,
    /// Worker processes.
    pub jobs: u64,
    /// Folder of the findings.
    pub out: PathBuf,
}

/// Most data of a worker. The largest of our modules, CPython with 26 MB, needs some hundred megabytes to compile.
pub const MOST_DATA_BYTES: u64 = 3 << 30;
/// Most memory and table elements of a guest.
const MOST_MEMORY_BYTES: usize = 256 << 20;
const MOST_TABLE_ELEMENTS: usize = 1 << 20;
/// How long a guest may run.
const DEADLINE: Duration = Duration::from_millis(30);
/// Length of an epoch's tick.
const TICK: Duration = Duration::from_millis(5);
/// Most mappings of a worker between two cases. It begins with some sixty; what cases leave behind adds up until the kernel has no more (65,530).
const MOST_MAPPINGS: usize = 1000;
/// Findings after which it stops.
const MOST_FINDINGS: u64 = 20;
/// Time between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(30);

/// A module with damage of a seed.
pub fn damage(module: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut bytes = module.to_vec();
    if bytes.is_empty() {
        return bytes;
    }
    // Half of the places are near the start of a section, where its structure is.
    let starts = section_starts(module);
    let place = |random: &mut Random, length: usize| {
        if random.once_in(2) && !starts.is_empty() {
            (*random.of(&starts) + random.below(64) as usize).min(length - 1)
        } else {
            random.below(length as u64) as usize
        }
    };
    match random.below(8) {
        0 | 1 => {
            let at = place(&mut random, bytes.len());
            bytes.truncate(at);
        }
        2 => {
            let (from, to) = (place(&mut random, bytes.len()), place(&mut random, bytes.len()));
            let length = (1 + random.below(64) as usize).min(bytes.len() - from).min(bytes.len() - to);
            bytes.copy_within(from..from + length, to);
        }
        3 => {
            let at = place(&mut random, bytes.len());
            let end = (at + 1 + random.below(16) as usize).min(bytes.len());
            bytes[at..end].fill(*random.of(&[0, 0x7f, 0x80, 0xff]));
        }
        _ => {
            for _ in 0..1 + random.below(3) {
                let at = place(&mut random, bytes.len());
                bytes[at] = match random.below(3) {
                    0 => bytes[at] ^ 1 << random.below(8),
                    1 => *random.of(&[0, 1, 0x40, 0x7f, 0x80, 0xff]),
                    _ => random.bits() as u8,
                };
            }
        }
    }
    bytes
}

/// Offsets of the sections' contents of a valid module.
fn section_starts(module: &[u8]) -> Vec<usize> {
    let payloads = wasmparser::Parser::new(0).parse_all(module).map_while(Result::ok);
    payloads.filter_map(|payload| payload.as_section().map(|(_, range)| (range.start as usize).saturating_sub(6))).collect()
}

/// What came of a damaged module.
fn attempt(bytes: &[u8], seed: u64) -> Result<&'static str> {
    let mut random = Random::new(mix(seed, 1));
    let mut config = Config::new();
    // Compiling a whole large module is slow in any tier, so each is interpreted, or compiled where it runs.
    config.tier(*random.of(&[
        TierPolicy::Interpreter,
        TierPolicy::Templates,
        TierPolicy::Baseline,
        TierPolicy::Optimizing,
        TierPolicy::Auto,
    ]));
    config.epoch_interruption(true).hot_threshold(3);
    let engine = Engine::new(&config)?;
    let module = match Module::new(&engine, bytes) {
        Ok(module) => module,
        Err(error) => {
            let message = format!("{error:#}");
            if message.is_empty() || message.contains('\n') {
                bail!("a message that is not one line: {message:?}");
            }
            return Ok("refused");
        }
    };
    let mut linker: Linker<(WasiCtx, StoreLimits)> = Linker::new(&engine);
    wasi::add_to_linker(&mut linker, |data: &mut (WasiCtx, StoreLimits)| &mut data.0)?;
    linker.define_unknown_imports_as_traps(&module)?;
    let context = WasiCtxBuilder::new().arg("program")?.stdin(std::io::empty()).stdout(std::io::sink()).stderr(std::io::sink()).build();
    let limits = StoreLimitsBuilder::new().memory_size(MOST_MEMORY_BYTES).table_elements(MOST_TABLE_ELEMENTS).build();
    let mut store = Store::try_new(&engine, (context, limits))?;
    store.limiter(|data| &mut data.1);
    store.set_epoch_deadline((DEADLINE.as_millis() / TICK.as_millis()) as u64);
    let over = Arc::new(AtomicBool::new(false));
    let ticker = {
        let (over, engine) = (over.clone(), engine.clone());
        std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(TICK);
                engine.increment_epoch();
            }
        })
    };
    let outcome = linker.instantiate(&mut store, &module).and_then(|instance| match instance.get_func(&mut store, "_start") {
        Some(start) => start.call(&mut store, &[], &mut []),
        None => Ok(()),
    });
    over.store(true, Ordering::Relaxed);
    ticker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok(match outcome {
        Ok(()) => "ran to its end",
        Err(error) if error.downcast_ref::<Trap>() == Some(&Trap::Interrupt) => "ran to its deadline",
        Err(error) if error.downcast_ref::<Trap>().is_some() => "trapped",
        Err(error) if error.downcast_ref::<I32Exit>().is_some() => "exited",
        Err(_) => "failed to link or in the host",
    })
}

/// The worker: cases `first`, `first + step` and so on.
///
/// # Errors
/// A module cannot be read, or the parent is gone.
pub fn work(malformed: &Malformed, first: u64, step: u64) -> Result<()> {
    limit_data()?;
    let modules = read(&malformed.modules)?;
    let mut number = first;
    while number < malformed.cases {
        say(&format!("case {number}"))?;
        let (module, seed) = case_of(malformed, &modules, number);
        let bytes = damage(module, seed);
        say(&format!("at {}", bytes.len()))?;
        let outcome = std::panic::catch_unwind(|| attempt(&bytes, seed));
        let (word, finding) = match outcome {
            Ok(Ok(word)) => (word, None),
            Ok(Err(error)) => ("an error of our own", Some(format!("{error:#}"))),
            Err(payload) => {
                let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
                ("panicked", Some(text.unwrap_or("no message").to_owned()))
            }
        };
        if let Some(finding) = finding {
            report(malformed, &bytes, number, seed, &finding)?;
        }
        let mapped = mappings()?;
        if mapped > MOST_MAPPINGS {
            bail!("after case {number} the worker has {mapped} mappings: cases leave something behind");
        }
        say(&format!("done {}", serde_json::to_string(word)?))?;
        number += step;
    }
    Ok(())
}

/// Runs one damaged module, or any bytes, once more.
///
/// # Errors
/// What is wrong with how the engine handles it.
pub fn repeat(path: &Path, seed: u64) -> Result<&'static str> {
    limit_data()?;
    attempt(&std::fs::read(path).with_context(|| format!("failed to read `{}`", path.display()))?, seed)
}

fn read(paths: &[PathBuf]) -> Result<Vec<Vec<u8>>> {
    paths.iter().map(|path| std::fs::read(path).with_context(|| format!("failed to read `{}`", path.display()))).collect()
}

fn case_of<'a>(malformed: &Malformed, modules: &'a [Vec<u8>], number: u64) -> (&'a [u8], u64) {
    (&modules[(number % modules.len() as u64) as usize], mix(malformed.seed, number))
}

fn report(malformed: &Malformed, bytes: &[u8], number: u64, seed: u64, problem: &str) -> Result<()> {
    std::fs::create_dir_all(&malformed.out)?;
    let path = malformed.out.join(format!("malformed-{number}.wasm"));
    std::fs::write(&path, bytes)?;
    let repeat = format!("cargo run -p backedge-fuzz -- malformed --repeat {} --seed {seed:#x}", path.display());
    say(&format!("finding: case {number}: {problem}\n  repeat: {repeat}"))
}

/// Mappings of this process.
fn mappings() -> Result<usize> {
    Ok(std::fs::read_to_string("/proc/self/maps").context("failed to read this process's mappings")?.lines().count())
}

/// The kernel gives this process no more data than it may have.
fn limit_data() -> Result<()> {
    let limit = libc::rlimit { rlim_cur: MOST_DATA_BYTES, rlim_max: MOST_DATA_BYTES };
    // SAFETY: the struct is valid for reads during the call.
    let failed = unsafe { libc::setrlimit(libc::RLIMIT_DATA, &limit) };
    if failed != 0 {
        return Err(std::io::Error::last_os_error()).context("failed to limit the worker's memory");
    }
    Ok(())
}

/// What came of all cases, by outcome.
pub type Outcomes = BTreeMap<String, u64>;

/// Runs all cases. The result says what came of them, and how many were findings.
///
/// # Errors
/// A module cannot be read or is not valid to begin with, or a worker could not be started.
pub fn run(malformed: &Malformed) -> Result<(Outcomes, u64)> {
    if malformed.modules.is_empty() {
        bail!("no module to damage");
    }
    let modules = read(&malformed.modules)?;
    for (bytes, path) in modules.iter().zip(&malformed.modules) {
        Module::new(&Engine::default(), bytes).with_context(|| format!("`{}` does not load undamaged", path.display()))?;
    }
    let now = Instant::now();
    let overseer =
        Overseer { malformed, modules, sums: Mutex::new(Sums { outcomes: Outcomes::new(), findings: 0, shown: now }), started: now };
    workers::run(&overseer, malformed.jobs, Some(malformed.cases))?;
    let sums = overseer.sums.into_inner().unwrap_or_else(|error| error.into_inner());
    Ok((sums.outcomes, sums.findings))
}

struct Sums {
    outcomes: Outcomes,
    findings: u64,
    shown: Instant,
}

struct Overseer<'a> {
    malformed: &'a Malformed,
    modules: Vec<Vec<u8>>,
    sums: Mutex<Sums>,
    started: Instant,
}

impl Overseer<'_> {
    fn sums(&self) -> MutexGuard<'_, Sums> {
        self.sums.lock().unwrap_or_else(|error| error.into_inner())
    }
}

impl Work for Overseer<'_> {
    fn arguments(&self, first: u64, step: u64) -> Vec<OsString> {
        let malformed = self.malformed;
        let mut arguments: Vec<OsString> = vec!["malformed-worker".into()];
        let mut option = |name: &str, value: String| arguments.extend([OsString::from(name), value.into()]);
        option("--seed", format!("{:#x}", malformed.seed));
        option("--cases", malformed.cases.to_string());
        option("--first", first.to_string());
        option("--step", step.to_string());
        arguments.extend(["--out".into(), malformed.out.clone().into_os_string()]);
        arguments.extend(malformed.modules.iter().map(|path| path.clone().into_os_string()));
        arguments
    }

    fn is_over(&self) -> bool {
        self.sums().findings >= MOST_FINDINGS
    }

    fn done(&self, json: &str) -> Result<()> {
        let outcome: String = serde_json::from_str(json).context("a worker's outcome")?;
        let mut sums = self.sums();
        sums.findings += u64::from(outcome == "panicked" || outcome == "an error of our own");
        *sums.outcomes.entry(outcome).or_default() += 1;
        if sums.shown.elapsed() >= PROGRESS {
            sums.shown = Instant::now();
            println!("{:4} s: {:?}", self.started.elapsed().as_secs(), sums.outcomes);
        }
        Ok(())
    }

    fn lost(&self, number: u64, _part: &str, problem: Problem) -> Result<()> {
        self.sums().findings += 1;
        let (module, seed) = case_of(self.malformed, &self.modules, number);
        report(self.malformed, &damage(module, seed), number, seed, &problem.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_of_the_seed_and_real() {
        let module =
            wat::parse_str("(module (memory 1) (func (export \"_start\") (i32.store (i32.const 0) (i32.const 1))))").expect("valid text");
        let damaged: Vec<Vec<u8>> = (0..100).map(|seed| damage(&module, seed)).collect();
        assert_eq!(damaged, (0..100).map(|seed| damage(&module, seed)).collect::<Vec<_>>());
        assert!(damaged.iter().filter(|bytes| **bytes != module).count() > 80);
        assert!(damaged.iter().any(|bytes| bytes.len() < module.len()));
        for (seed, bytes) in damaged.iter().enumerate() {
            attempt(bytes, seed as u64).expect("an error or a valid run");
        }
    }
}
