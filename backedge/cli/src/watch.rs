//! `--profile` and `--trace`: what tools outside are told of a run. Enters: the engine's code as it is placed, the guest's stack, the timeline. Leaves: files.
//!
//! Every file is opened before the guest runs, so that a path that cannot be written costs no run; and all are written even where one fails.

use crate::failure::Failure;
use crate::{guestprofile, trace};
use backedge::{Config, Engine, Module};
use clap::Args;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use vm::profiling::{JitDump, PerfMap, Sampler, Samples};

/// What watches a run from outside.
#[derive(Args, Clone, Default)]
pub struct WatchOptions {
    /// Name machine code for perf (perfmap: /tmp/perf-PID.map; jitdump: jit-PID.dump here), or sample the guest's stacks for the Firefox profiler (guest)
    #[arg(long, value_name = "perfmap|jitdump|guest[,FILE[,INTERVAL]]", value_parser = ProfileTo::parse)]
    pub profile: Option<ProfileTo>,
    /// Write compiles, switches, exits and trials to FILE as a trace for Perfetto or chrome://tracing (JSON)
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

/// One `--profile`.
#[derive(Clone, Debug, PartialEq)]
pub enum ProfileTo {
    /// `perfmap`
    PerfMap,
    /// `jitdump`
    JitDump,
    /// `guest`
    Guest {
        /// Where it goes.
        file: PathBuf,
        /// CPU time between two samples.
        interval: Duration,
    },
}

/// CPU time between two samples of `--profile=guest` and of reports.
pub const SAMPLE_INTERVAL: Duration = Duration::from_millis(1);

impl ProfileTo {
    fn parse(text: &str) -> Result<ProfileTo, String> {
        let mut parts = text.split(',');
        let known = "expected perfmap, jitdump or guest[,FILE[,INTERVAL]]";
        let to = match parts.next() {
            Some("perfmap") => ProfileTo::PerfMap,
            Some("jitdump") => ProfileTo::JitDump,
            Some("guest") => {
                let file = PathBuf::from(parts.next().filter(|name| !name.is_empty()).unwrap_or("profile.json"));
                let interval = parts.next().map(crate::options::duration).transpose()?.unwrap_or(SAMPLE_INTERVAL);
                if interval < Duration::from_micros(50) || interval > Duration::from_secs(1) {
                    return Err("expected an interval from 50us to 1s".into());
                }
                ProfileTo::Guest { file, interval }
            }
            _ => return Err(format!("{known}, found `{text}`")),
        };
        match parts.next() {
            None => Ok(to),
            Some(more) => Err(format!("{known}, found `,{more}` behind it")),
        }
    }
}

impl WatchOptions {
    /// Whether code kept from earlier runs would be in the way.
    pub fn watches(&self) -> bool {
        self.trace.is_some() || self.profile.is_some()
    }

    /// Where the guest's samples go, if anywhere.
    pub fn guest_file(&self) -> Option<&Path> {
        match &self.profile {
            Some(ProfileTo::Guest { file, .. }) => Some(file),
            _ => None,
        }
    }

    /// Opens the files and puts what they need into the engine's settings. With `sampled` the guest's stack is sampled for a report.
    pub fn begin(&self, config: &mut Config, sampled: bool) -> Result<Watch, Failure> {
        let mut watch = Watch { interval: sampled.then_some(SAMPLE_INTERVAL), ..Watch::default() };
        match &self.profile {
            None => {}
            Some(ProfileTo::PerfMap) => {
                let map = PerfMap::new().map_err(|error| Failure::Load(format!("cannot write the map for perf in /tmp: {error}")))?;
                let map = Arc::new(map);
                config.machine().observers.push(map.clone());
                watch.map = Some(map);
            }
            Some(ProfileTo::JitDump) => {
                let dump =
                    JitDump::new(Path::new(".")).map_err(|error| Failure::Load(format!("cannot write `jit-PID.dump` here: {error}")))?;
                let dump = Arc::new(dump);
                config.machine().observers.push(dump.clone());
                watch.dump = Some(dump);
            }
            Some(ProfileTo::Guest { file, interval }) => {
                watch.guest = Some((create(file)?, file.clone()));
                watch.interval = Some(*interval);
            }
        }
        if let Some(file) = &self.trace {
            watch.trace = Some((create(file)?, file.clone()));
            config.machine().timeline = true;
        }
        Ok(watch)
    }
}

/// A file that can be written. What is in it stays until there is something to write, for which see [`emptied`].
pub fn create(path: &Path) -> Result<File, Failure> {
    File::options().write(true).create(true).truncate(false).open(path).map_err(|error| unwritten(path, &error))
}

/// The file without what was in it. A device or a pipe keeps nothing anyway.
pub fn emptied(file: File) -> File {
    let _ = file.set_len(0);
    file
}

/// The failure of a file that could not be written.
pub fn unwritten(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::Load(format!("cannot write `{}`: {error}", path.display()))
}

/// The watchers of a run.
#[derive(Default)]
pub struct Watch {
    map: Option<Arc<PerfMap>>,
    dump: Option<Arc<JitDump>>,
    guest: Option<(File, PathBuf)>,
    trace: Option<(File, PathBuf)>,
    interval: Option<Duration>,
    sampler: Option<Sampler>,
    /// What the sampler saw.
    pub samples: Option<Samples>,
}

impl Watch {
    /// Begins to sample, on the thread that is going to run the guest.
    pub fn start(&mut self, engine: &Engine) -> Result<(), Failure> {
        if let Some(interval) = self.interval {
            let sampler = Sampler::start(engine.vm(), interval)
                .map_err(|error| Failure::Load(format!("cannot sample the guest's stack: {error}")))?;
            self.sampler = Some(sampler);
        }
        Ok(())
    }

    /// Ticks by function, while it samples.
    pub fn live(&self) -> Option<Arc<vm::profiling::LiveTicks>> {
        self.sampler.as_ref().map(Sampler::live)
    }

    /// The guest ended.
    pub fn stop(&mut self) {
        if let Some(sampler) = self.sampler.take() {
            self.samples = Some(sampler.finish());
        }
    }

    /// Writes what is not written yet; the first failure comes back when all was tried.
    pub fn finish(&mut self, engine: &Engine, module: &Module, name: &str) -> Result<(), Failure> {
        let mut outcome = Ok(());
        let mut keep = |result: Result<(), Failure>| {
            if outcome.is_ok() {
                outcome = result;
            }
        };
        if let Some(map) = &self.map {
            keep(map.finish().map_err(|error| unwritten(map.path(), &error)));
        }
        if let Some(dump) = &self.dump {
            keep(dump.finish().map_err(|error| unwritten(dump.path(), &error)));
        }
        if let (Some((file, path)), Some(samples)) = (self.guest.take(), &self.samples) {
            keep(guestprofile::write(emptied(file), samples, name).map_err(|error| unwritten(&path, &error)));
        }
        if let Some((file, path)) = self.trace.take() {
            engine.settle();
            keep(
                trace::write(emptied(file), &module.report(), &|function| {
                    module.loaded().module.function_name(function).map(str::to_owned)
                })
                .map_err(|error| unwritten(&path, &error)),
            );
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_profile() {
        assert_eq!(ProfileTo::parse("perfmap"), Ok(ProfileTo::PerfMap));
        let guest = |file: &str, micros| ProfileTo::Guest { file: file.into(), interval: Duration::from_micros(micros) };
        assert_eq!(ProfileTo::parse("guest"), Ok(guest("profile.json", 1000)));
        assert_eq!(ProfileTo::parse("guest,p.json,500us"), Ok(guest("p.json", 500)));
        assert_eq!(ProfileTo::parse("guest,,10ms"), Ok(guest("profile.json", 10_000)));
        for wrong in ["vtune", "perfmap,x", "guest,p.json,1h", "guest,p.json,1ms,x"] {
            assert!(ProfileTo::parse(wrong).is_err(), "{wrong}");
        }
    }
}
