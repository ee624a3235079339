//! One case in several configurations, compared.

use crate::case::{Case, Features, Shape, generate};
use crate::compare::{Difference, Tolerance, compare};
use crate::configurations::{Configuration, ORACLE, TABLE};
use crate::guest::Machine;
use crate::observe::{Trace, observe};
use crate::ours::Ours;
use crate::random::{Random, mix};
use backedge::Engine;
use jit::{CraneliftCompiler, Options, Sabotage};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What is needed for trials: one a process.
pub struct Bench {
    /// One that allocates tier 1's registers carefully and one that does so in one pass; a case's seed chooses.
    compilers: [Arc<CraneliftCompiler>; 2],
    /// What the engine runs.
    pub features: Features,
}

/// A configuration that did not do as the reference did.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its name.
    pub configuration: String,
    /// What it did.
    pub problem: Problem,
    /// What the machine decided and did.
    pub notes: String,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Something else was seen.
    Difference(Difference),
    /// It refused a module that the reference loads.
    NotLoaded(String),
    /// It hid an error of its own.
    Internal(String),
    /// It panicked.
    Panic(String),
    /// The process ended by a signal or with an exit code of its own.
    Crash(String),
    /// It did not end.
    Hang,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Problem::Difference(difference) => difference.fmt(f),
            Problem::NotLoaded(error) => write!(f, "does not load: {error}"),
            Problem::Internal(error) => f.write_str(error),
            Problem::Panic(message) => write!(f, "panics: {message}"),
            Problem::Crash(status) => write!(f, "crashes: {status}"),
            Problem::Hang => write!(f, "does not end"),
        }
    }
}

/// What came of a case.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Why the reference could not run it; nothing was compared then.
    pub skipped: Option<String>,
    /// Calls of exported functions, over all configurations.
    pub executions: u64,
    /// Calls that the reference made, and those of them that returned.
    pub calls: (u64, u64),
    /// Configurations that ran, the oracle among them.
    pub configurations: u64,
    /// Transformations in all configurations, by name: how often made, how often refused.
    pub applied: BTreeMap<&'static str, [u64; 2]>,
    /// What was excused.
    pub tolerances: Vec<Tolerance>,
    /// What was not.
    pub findings: Vec<Finding>,
}

impl Bench {
    /// A bench. `sabotage` is for tests of the fuzzer.
    ///
    /// # Errors
    /// This machine is none that the compiler supports.
    pub fn new(sabotage: Option<Sabotage>) -> Result<Bench, String> {
        // Cranelift's verifier takes a fifth of the time and finds what running may not.
        let compiler = |quick_registers| CraneliftCompiler::new(Options { verify: true, quick_registers, sabotage, ..Options::default() });
        Ok(Bench { compilers: [Arc::new(compiler(false)?), Arc::new(compiler(true)?)], features: Features::of(&Engine::default()) })
    }

    /// Runs a case in the reference, the oracle and these configurations. `report` is told the name of each before it runs.
    pub fn trial(&self, case: &Case, configurations: &[&'static Configuration], report: &mut dyn FnMut(&str)) -> Verdict {
        let mut verdict = Verdict::default();
        let shape = match Shape::of(&case.wasm) {
            Ok(shape) => shape,
            Err(error) => return Verdict { skipped: Some(error.to_string()), ..verdict },
        };
        let reference = &TABLE[0];
        report(reference.name);
        let expected = match self.run(case, &shape, reference) {
            Ok(trace) => trace,
            Err(Problem::NotLoaded(error)) => return Verdict { skipped: Some(error), ..verdict },
            Err(problem) => {
                verdict.findings.push(Finding { configuration: reference.name.into(), problem, notes: String::new() });
                return verdict;
            }
        };
        verdict.executions += expected.executions;
        verdict.calls = (expected.executions, expected.returned);
        verdict.configurations += 1;
        for configuration in configurations {
            report(configuration.name);
            verdict.configurations += 1;
            let outcome = self.run(case, &shape, configuration);
            self.judge(case, &expected, configuration.name, outcome, &mut verdict);
        }
        if let Some(oracle) = oracle() {
            report(ORACLE);
            match guarded(|| observe(&*oracle, case, &shape)) {
                Err(Problem::NotLoaded(_)) => verdict.tolerances.push(Tolerance::OracleLacks),
                outcome => {
                    verdict.configurations += 1;
                    self.judge(case, &expected, ORACLE, outcome, &mut verdict);
                }
            }
        }
        verdict
    }

    fn judge(&self, case: &Case, expected: &Trace, name: &str, outcome: Result<Trace, Problem>, verdict: &mut Verdict) {
        let (problem, notes) = match outcome {
            Ok(trace) => {
                verdict.executions += trace.executions;
                for (name, made) in &trace.applied {
                    verdict.applied.entry(name).or_default()[usize::from(!made)] += 1;
                }
                match compare(expected, &trace) {
                    Ok(_) if !trace.own_errors.is_empty() => (Problem::Internal(trace.own_errors.join("; ")), trace.notes),
                    Ok(tolerances) => return verdict.tolerances.extend(tolerances),
                    Err(difference) => (Problem::Difference(difference), trace.notes),
                }
            }
            Err(problem) => (problem, String::new()),
        };
        if matches!(problem, Problem::Difference(_)) && case.raw_nans && self.is_nan_payload(case, name) {
            return verdict.tolerances.push(Tolerance::NanPayload);
        }
        verdict.findings.push(Finding { configuration: name.into(), problem, notes });
    }

    /// Whether a difference is gone when the same module is generated with canonical NaNs.
    fn is_nan_payload(&self, case: &Case, name: &str) -> bool {
        let Some(canonical) = generate(case.seed, &self.features, true) else { return false };
        let Ok(shape) = Shape::of(&canonical.wasm) else { return false };
        let run = |name: &str| match crate::configurations::named(name) {
            Some(configuration) => self.run(&canonical, &shape, configuration),
            None => match oracle() {
                Some(oracle) => guarded(|| observe(&*oracle, &canonical, &shape)),
                None => Err(Problem::NotLoaded("no oracle".into())),
            },
        };
        match (run(TABLE[0].name), run(name)) {
            (Ok(expected), Ok(found)) => compare(&expected, &found).is_ok(),
            _ => false,
        }
    }

    fn run(&self, case: &Case, shape: &Shape, configuration: &Configuration) -> Result<Trace, Problem> {
        let place = TABLE.iter().position(|other| other.name == configuration.name).unwrap_or_default();
        let mut random = Random::new(mix(case.seed, place as u64 + 1));
        let setup = configuration.settings(&mut random);
        guarded(|| {
            let ours = Ours::new(&setup, &self.compilers[(case.seed % 2) as usize], random.clone()).map_err(|error| error.to_string())?;
            observe(&ours, case, shape)
        })
    }
}

/// Configurations that each case runs in besides the reference: few, so that there are many modules. Each case draws its own.
pub fn draw(seed: u64, among: &[&'static Configuration], count: usize) -> Vec<&'static Configuration> {
    let mut random = Random::new(mix(seed, 0x64726177));
    let mut left = among.to_vec();
    (0..count.min(among.len())).map(|_| left.swap_remove(random.below(left.len() as u64) as usize)).collect()
}

fn guarded(run: impl FnOnce() -> Result<Trace, String>) -> Result<Trace, Problem> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(outcome) => outcome.map_err(Problem::NotLoaded),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
            Err(Problem::Panic(text.unwrap_or("no message").to_owned()))
        }
    }
}

#[cfg(feature = "wasmi")]
fn oracle() -> Option<Box<dyn Machine>> {
    Some(Box::new(crate::oracle::Oracle::default()))
}

#[cfg(not(feature = "wasmi"))]
fn oracle() -> Option<Box<dyn Machine>> {
    None
}
