//! Options about the policy: what makes plans, what it may do, and what is kept of a run. Enters: the command line. Leaves: settings of the engine.

use crate::failure::Failure;
use crate::hostile::Hostile;
use crate::output::shown;
use crate::policyexec::PolicyExec;
use crate::samefile;
use backedge::{Config, Engine, Module};
use clap::{Args, ValueEnum};
use lwp_feedback::policy::{self, FilePlan, PlanFile, Policy};
use lwp_feedback::profilefile::{ProfileFileError, RecordValues, SavedProfile};
use lwp_feedback::source::{self, RunningSource};
use std::ffi::OsString;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// What decides.
#[derive(Args, Clone, Default)]
pub struct PolicyOptions {
    // Its help names what is registered.
    #[arg(long, value_name = "NAME[,NAME]…", value_delimiter = ',', help = forbid_help())]
    pub forbid: Vec<String>,
    /// Ask a program for plans: it gets a line of JSON with a profile and answers with a line like a plan file
    #[arg(long, value_name = "CMD")]
    pub policy_exec: Option<OsString>,
    /// Replace the policy's limits and costs by those named in FILE (JSON)
    #[arg(long, value_name = "FILE")]
    pub budgets: Option<PathBuf>,
    /// For tests: plans that are wrong on purpose, which the trials must take back
    #[arg(long, value_enum, value_name = "WHICH", hide = true, conflicts_with = "policy_exec")]
    pub hostile_policy: Option<Hostile>,
}

/// For what asks a recording, once it has asked: no plans for the policy's having failed would be taken for its answer.
pub fn decided(policy: &dyn Policy) -> Result<(), Failure> {
    policy.failure().map_or(Ok(()), |_| Err(Failure::Load("no plans: the policy failed".into())))
}

fn forbid_help() -> &'static str {
    static HELP: LazyLock<String> = LazyLock::new(|| format!("Never do these: {}", transformation_names().join(", ")));
    &HELP
}

fn transformation_names() -> Vec<&'static str> {
    policy::transformations().map(|it| it.name).collect()
}

/// Which values of the guest are written to files.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum Values {
    /// Call targets and switch indices
    #[default]
    Targets,
    /// Parameters too
    All,
}

/// What is kept of a run, and what it begins with.
#[derive(Args, Clone, Default)]
pub struct KeepOptions {
    /// Write the plans in force at the end to FILE, for --plan
    #[arg(long, value_name = "FILE")]
    pub save_plan: Option<PathBuf>,
    /// Write what was learnt to FILE, for --profile-use
    #[arg(long, value_name = "FILE")]
    pub profile_save: Option<PathBuf>,
    /// Begin with what an earlier run of the same module learnt
    #[arg(long, value_name = "FILE")]
    pub profile_use: Option<PathBuf>,
    /// Which values of the guest --profile-save writes
    #[arg(long, value_enum, default_value = "targets", value_name = "WHICH", requires = "profile_save")]
    pub record_values: Values,
    /// Start an event source beside those that are always there; those that exist are files of `lwp-feedback/src/source`
    #[arg(long, value_name = "NAME[=ARGUMENT]")]
    pub event_source: Vec<String>,
    /// Write records, sites, versions with their trials, decisions and refusals to DIR as CSV and JSON lines
    #[arg(long, value_name = "DIR", conflicts_with = "lwp_record")]
    pub export: Option<PathBuf>,
}

impl KeepOptions {
    /// Whether any of them wants to see what the run records.
    pub fn watches(&self) -> bool {
        self.leaves() || !self.event_source.is_empty()
    }

    /// Whether something is written when the run is over.
    pub fn leaves(&self) -> bool {
        self.save_plan.is_some() || self.profile_save.is_some() || self.export.is_some()
    }

    /// The profile to begin with, unless what is learnt goes there too: a series of runs hands it on.
    pub fn profile_used_only(&self) -> Option<&Path> {
        let used = self.profile_use.as_deref()?;
        (!self.profile_save.as_deref().is_some_and(|saved| samefile::same(used, saved))).then_some(used)
    }

    /// Whether there is a place for what is written then: it is known before the run.
    pub fn check_paths(&self) -> Result<(), Failure> {
        for path in [&self.save_plan, &self.profile_save].into_iter().flatten() {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            if path.is_dir() || path.file_name().is_none() {
                return Err(Failure::Load(format!("cannot write `{}`: it is a directory", path.display())));
            }
            if folder.is_some_and(|folder| !folder.is_dir()) {
                return Err(Failure::Load(format!("cannot write `{}`: there is no such directory", path.display())));
            }
        }
        Ok(())
    }
}

impl PolicyOptions {
    /// Puts the options into an engine's settings.
    pub fn apply(&self, config: &mut Config) -> Result<(), Failure> {
        config.machine().budgets = self.budgets()?;
        if let Some(command) = &self.policy_exec {
            config.machine().policy = Arc::new(PolicyExec::new(command)?);
        }
        if let Some(hostile) = self.hostile_policy {
            config.machine().policy = Arc::new(hostile);
        }
        Ok(())
    }

    /// What the policy may spend.
    pub fn budgets(&self) -> Result<policy::Budgets, Failure> {
        let mut budgets = match &self.budgets {
            None => policy::Budgets::default(),
            Some(path) => {
                let text = std::fs::read_to_string(path).map_err(|error| Failure::read(path, &error))?;
                policy::Budgets::parse(&text).map_err(|error| Failure::Load(format!("`{}` holds no budgets: {error}", path.display())))?
            }
        };
        let names = transformation_names();
        for name in &self.forbid {
            if !names.contains(&name.as_str()) {
                return Err(Failure::Usage(format!("--forbid {name}: no such transformation; known: {}", names.join(", "))));
            }
            budgets.forbid.insert(name.clone());
        }
        Ok(budgets)
    }
}

impl KeepOptions {
    /// Reads the profile to begin with. One that cannot be used costs a line on standard error.
    pub fn begin(&self, config: &mut Config) -> Result<(), Failure> {
        let Some(path) = &self.profile_use else {
            return Ok(());
        };
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            // The first of a series of runs that hand their profile on.
            Err(error) if error.kind() == ErrorKind::NotFound && self.profile_used_only().is_none() => return Ok(()),
            Err(error) => return Err(Failure::read(path, &error)),
        };
        match SavedProfile::from_bytes(&bytes) {
            // Whose it is shows when the module is there: see `check`.
            Ok(profile) => config.machine().profiles.push(Arc::new(profile)),
            Err(error @ ProfileFileError::Stale { .. }) => warn(&format!("profile refused: `{}` is {error}", path.display())),
            Err(error) => warn(&format!("profile ignored: `{}` is {error}", path.display())),
        }
        Ok(())
    }

    /// Starts the event sources that were asked for; they end with the result.
    pub fn start_sources(&self, engine: &Engine) -> Result<Vec<RunningSource>, Failure> {
        let start = |named: &String| {
            let (name, argument) = named.split_once('=').map_or((&**named, None), |(name, argument)| (name, Some(argument.to_owned())));
            let known: Vec<&str> = source::ALL.iter().map(|it| it.name).collect();
            let found = source::named(name).ok_or_else(|| {
                Failure::Usage(format!(
                    "--event-source {name}: no such source; known: {} (where the engine's own records come from is --source)",
                    if known.is_empty() { "none".into() } else { known.join(", ") }
                ))
            })?;
            engine
                .vm()
                .start_source(found, argument)
                .map_err(|error| Failure::Load(format!("cannot start the event source {name}: {error}")))
        };
        self.event_source.iter().map(start).collect()
    }

    /// Says where a profile is of another module; the engine does not use it.
    pub fn check(&self, module: &Module) {
        for profile in &module.engine().vm().config().profiles {
            if let (Err(error), Some(path)) = (profile.check(module.loaded().module.hash), &self.profile_use) {
                warn(&format!("profile refused: `{}` is {error}", path.display()));
            }
        }
    }

    /// Writes what is to be kept.
    pub fn end(&self, engine: &Engine, module: &Module) -> Result<(), Failure> {
        if self.save_plan.is_none() && self.profile_save.is_none() {
            return Ok(());
        }
        engine.settle();
        if let Some(path) = &self.save_plan {
            let mut text =
                serde_json::to_string_pretty(&plans(module)).map_err(|error| Failure::Load(format!("cannot write plans: {error}")))?;
            text.push('\n');
            std::fs::write(path, text).map_err(|error| Failure::Load(format!("cannot write plans to `{}`: {error}", path.display())))?;
        }
        if let Some(path) = &self.profile_save {
            let values = match self.record_values {
                Values::Targets => RecordValues::Targets,
                Values::All => RecordValues::All,
            };
            let profile = module.loaded().code.saved_profile(values);
            profile.save(path).map_err(|error| Failure::Load(format!("cannot write the profile to `{}`: {error}", path.display())))?;
        }
        Ok(())
    }
}

/// The plans of the versions in force.
fn plans(module: &Module) -> PlanFile {
    let mut file = PlanFile { module: Some(module.loaded().module.hash), plans: Vec::new() };
    for version in module.loaded().code.versions_in_force() {
        let Some(plan) = &version.plan else { continue };
        if !file.plans.iter().any(|known| known.func == version.function) {
            file.plans.push(FilePlan { func: version.function, decisions: plan.decisions.clone() });
        }
    }
    file.plans.sort_by_key(|plan| plan.func);
    file
}

/// One line on standard error; where nobody takes it, the run goes on.
pub fn warn(message: &str) {
    let _ = writeln!(std::io::stderr(), "warning: {}", shown(message));
}
