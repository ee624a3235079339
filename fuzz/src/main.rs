//! The fuzzer's command line. Exit code 0: nothing was found, 1: something was, 2: it could not run.

use anyhow::{Result, bail};
use backedge_fuzz::campaign::{Campaign, chosen, run, work};
use backedge_fuzz::configurations::TABLE;
use backedge_fuzz::failure::Failure;
use backedge_fuzz::malformed::Malformed;
use backedge_fuzz::trial::Bench;
use clap::{Args, Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Differential fuzzing of backedge.
#[derive(Parser)]
#[command(name = "fuzz")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Random modules in every configuration and in wasmi, compared.
    Run(RunArguments),
    /// Runs a finding, or a module, once more in every configuration.
    Repeat {
        /// Folder of a finding, or a .wasm or .wat file.
        path: PathBuf,
        /// Only this configuration (may be given more than once). Default: the finding's, or all.
        #[arg(long)]
        only: Vec<String>,
        /// What a file's arguments and host answers are made from.
        #[arg(long, value_parser = seed, default_value = "0")]
        seed: u64,
        /// For a file: fresh instances to run it in.
        #[arg(long)]
        rounds: Option<u32>,
    },
    /// Makes a finding's module small: writes `small.wasm` and `small.wat` beside it.
    Shrink {
        /// Folder of a finding, or a .wasm or .wat file.
        path: PathBuf,
        /// For a file: the configuration that fails (may be given more than once). Default: all.
        #[arg(long)]
        only: Vec<String>,
        /// For a file: what arguments and host answers are made from.
        #[arg(long, value_parser = seed, default_value = "0")]
        seed: u64,
    },
    /// Real modules with random damage: each gives an error or a valid run.
    Malformed {
        #[command(flatten)]
        malformed: MalformedArguments,
        /// Runs this file once, as the case with `--seed`.
        #[arg(long)]
        repeat: Option<PathBuf>,
    },
    /// One worker process of `malformed`.
    #[command(hide = true)]
    MalformedWorker {
        #[command(flatten)]
        malformed: MalformedArguments,
        #[arg(long)]
        first: u64,
        #[arg(long)]
        step: u64,
    },
    /// Lists the configurations.
    Configurations,
    /// One worker process of `run`.
    #[command(hide = true)]
    Worker {
        #[command(flatten)]
        run: RunArguments,
        #[arg(long)]
        first: u64,
        #[arg(long)]
        step: u64,
        #[arg(long)]
        sabotage: Option<String>,
    },
}

#[derive(Args)]
struct MalformedArguments {
    /// Modules to damage.
    modules: Vec<PathBuf>,
    /// Cases in all.
    #[arg(long, default_value_t = 1000)]
    cases: u64,
    /// What the damage is made from. Default: a fresh one, which is printed.
    #[arg(long, value_parser = seed)]
    seed: Option<u64>,
    /// Worker processes. Default: one a CPU.
    #[arg(long)]
    jobs: Option<u64>,
    /// Folder of the findings.
    #[arg(long, default_value = "fuzz-findings")]
    out: PathBuf,
}

impl MalformedArguments {
    fn malformed(self) -> Malformed {
        let MalformedArguments { modules, cases, seed, jobs, out } = self;
        Malformed { modules, cases, seed: seed.unwrap_or_else(fresh_seed), jobs: jobs.unwrap_or_else(cpus), out }
    }
}

fn cpus() -> u64 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u64)
}

#[derive(Args)]
struct RunArguments {
    /// Minutes to run; a fraction is allowed.
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// What all modules are made from. Default: a fresh one, which is printed.
    #[arg(long, value_parser = seed)]
    seed: Option<u64>,
    /// Stop after so many cases: with a seed, the same run every time.
    #[arg(long)]
    cases: Option<u64>,
    /// Worker processes. Default: one a CPU.
    #[arg(long)]
    jobs: Option<u64>,
    /// Folder of the findings.
    #[arg(long, default_value = "fuzz-findings")]
    out: PathBuf,
    /// Only these configurations besides the reference.
    #[arg(long)]
    only: Vec<String>,
    /// Configurations that each module runs in besides the reference and the oracle.
    #[arg(long, default_value_t = 4)]
    per_case: usize,
}

fn seed(text: &str) -> Result<u64, std::num::ParseIntError> {
    text.strip_prefix("0x").map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16))
}

/// A seed nobody chose.
fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}

impl RunArguments {
    fn campaign(self, sabotage: Option<String>) -> Result<Campaign> {
        chosen(&self.only)?;
        Ok(Campaign {
            seed: self.seed.unwrap_or_else(fresh_seed),
            time: Duration::from_secs_f64(self.minutes * 60.0),
            cases: self.cases,
            jobs: self.jobs.unwrap_or_else(cpus),
            out: self.out,
            only: self.only,
            per_case: self.per_case,
            most_findings: 20,
            sabotage,
        })
    }
}

fn main() -> ExitCode {
    match command(Arguments::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("fuzz: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Longest a module may take in one attempt to shrink it: what endless loops cost.
const ATTEMPT: Duration = Duration::from_secs(5);

/// Makes a module small. Each attempt is a process of its own, since what is shrunk may crash or hang, and any module may loop for ever.
fn shrink(path: &Path, mut only: Vec<String>, seed: u64) -> Result<()> {
    let (case, failure) = Failure::read(path, seed)?;
    if let Some(failure) = &failure {
        only = vec![failure.configuration.clone()];
    }
    chosen(&only)?;
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new(".")) };
    let attempt = folder.join("attempt.wasm");
    let outcome = |wasm: &[u8]| -> Result<String> {
        std::fs::write(&attempt, wasm)?;
        let mut command = std::process::Command::new(std::env::current_exe()?);
        command.arg("repeat").arg(&attempt).args(["--seed", &case.seed.to_string()]).args(["--rounds", &case.rounds.to_string()]);
        command.args(only.iter().flat_map(|name| ["--only", name]));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let started = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status.to_string());
            }
            if started.elapsed() > ATTEMPT {
                child.kill()?;
                child.wait()?;
                return Ok("does not end".to_owned());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    let wanted = outcome(&case.wasm)?;
    println!("fuzz: the module as it is: {wanted}");
    if wanted == "exit status: 0" || wanted == "exit status: 2" {
        bail!("the finding does not show itself again");
    }
    let small = backedge_fuzz::shrink::shrink(&case.wasm, &mut |wasm| Ok(outcome(wasm)? == wanted), &mut |size| println!("{size} bytes"))?;
    std::fs::remove_file(&attempt)?;
    std::fs::write(folder.join("small.wasm"), &small)?;
    let text = backedge_fuzz::shrink::text(&small)?;
    std::fs::write(folder.join("small.wat"), &text)?;
    println!("{text}\nfuzz: {} bytes of {}, in {}", small.len(), case.wasm.len(), folder.display());
    Ok(())
}

/// Whether nothing was found.
fn command(command: Command) -> Result<bool> {
    match command {
        Command::Run(arguments) => {
            let campaign = arguments.campaign(None)?;
            let oracle = if cfg!(feature = "wasmi") { "with wasmi" } else { "without an oracle (feature `wasmi` is off)" };
            println!("fuzz: seed {:#x}, {} workers, {oracle}", campaign.seed, campaign.jobs);
            let tally = run(&campaign)?;
            println!("fuzz: {}fuzz: seed {:#x}: {tally}", tally.transformations(), campaign.seed);
            if tally.modules == 0 && tally.findings == 0 {
                bail!("no module was compared");
            }
            Ok(tally.findings == 0)
        }
        Command::Repeat { path, mut only, seed, rounds } => {
            let (mut case, failure) = Failure::read(&path, seed)?;
            case.rounds = rounds.unwrap_or(case.rounds);
            if let (Some(failure), true) = (&failure, only.is_empty()) {
                println!("found: {}: {}", failure.configuration, failure.problem);
                only.push(failure.configuration.clone());
            }
            let bench = Bench::new(None).map_err(anyhow::Error::msg)?;
            let verdict = bench.trial(&case, &chosen(&only)?, &mut |name| println!("at {name}"));
            if let Some(reason) = verdict.skipped {
                bail!("the reference does not load the module: {reason}");
            }
            for finding in &verdict.findings {
                println!("{}: {}", finding.configuration, finding.problem);
                print!("{}", finding.notes);
            }
            println!("{} executions, tolerated {:?}, findings {}", verdict.executions, verdict.tolerances, verdict.findings.len());
            Ok(verdict.findings.is_empty())
        }
        Command::Shrink { path, only, seed } => shrink(&path, only, seed).map(|()| true),
        Command::Malformed { malformed, repeat: Some(path) } => {
            println!("{}", backedge_fuzz::malformed::repeat(&path, malformed.seed.unwrap_or(0))?);
            Ok(true)
        }
        Command::Malformed { malformed, repeat: None } => {
            let malformed = malformed.malformed();
            println!("fuzz: seed {:#x}, {} cases over {} modules", malformed.seed, malformed.cases, malformed.modules.len());
            let (outcomes, findings) = backedge_fuzz::malformed::run(&malformed)?;
            println!("fuzz: seed {:#x}: {outcomes:?}, findings {findings}", malformed.seed);
            Ok(findings == 0)
        }
        Command::MalformedWorker { malformed, first, step } => {
            backedge_fuzz::malformed::work(&malformed.malformed(), first, step).map(|()| true)
        }
        Command::Configurations => {
            for configuration in TABLE {
                println!("{:16} {}", configuration.name, configuration.what);
            }
            Ok(true)
        }
        Command::Worker { run, first, step, sabotage } => work(&run.campaign(sabotage)?, first, step).map(|()| true),
    }
}
