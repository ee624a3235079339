//! A finding as a folder: the module, what to run it with, and what was decided. `fuzz repeat FOLDER` runs it again.

use crate::case::Case;
use crate::trial::Finding;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// `failure.json`: with `module.wasm` beside it, all that a repetition needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// [`Case::seed`].
    pub seed: u64,
    /// [`Case::rounds`].
    pub rounds: u32,
    /// [`Case::raw_nans`].
    pub raw_nans: bool,
    /// Configuration that did not do as the reference did.
    pub configuration: String,
    /// What it did.
    pub problem: String,
}

impl Failure {
    /// Writes a finding's folder under `out` and returns its path.
    ///
    /// # Errors
    /// The file system's.
    pub fn write(out: &Path, case: &Case, finding: &Finding) -> Result<PathBuf> {
        let folder = out.join(format!("{:016x}-{}", case.seed, finding.configuration));
        std::fs::create_dir_all(&folder).with_context(|| format!("failed to make `{}`", folder.display()))?;
        let failure = Failure {
            seed: case.seed,
            rounds: case.rounds,
            raw_nans: case.raw_nans,
            configuration: finding.configuration.clone(),
            problem: finding.problem.to_string(),
        };
        std::fs::write(folder.join("module.wasm"), &case.wasm)?;
        std::fs::write(folder.join("failure.json"), serde_json::to_string_pretty(&failure)? + "\n")?;
        // Plans and what came of them; empty where the process ended before it could say.
        std::fs::write(folder.join("plans.txt"), &finding.notes)?;
        Ok(folder)
    }

    /// Reads a folder back, or a module alone, which runs as if made from `seed`.
    ///
    /// # Errors
    /// There is no such folder or module.
    pub fn read(path: &Path, seed: u64) -> Result<(Case, Option<Failure>)> {
        let (module, failure) = if path.is_dir() {
            let text = std::fs::read_to_string(path.join("failure.json")).with_context(|| format!("`{}` is no finding", path.display()))?;
            (path.join("module.wasm"), Some(serde_json::from_str::<Failure>(&text)?))
        } else {
            (path.to_owned(), None)
        };
        let bytes = std::fs::read(&module).with_context(|| format!("failed to read `{}`", module.display()))?;
        let wasm = if bytes.starts_with(b"\0asm") { bytes } else { wat::parse_bytes(&bytes)?.into_owned() };
        let (seed, rounds) = failure.as_ref().map_or((seed, 3), |failure| (failure.seed, failure.rounds));
        // A file is what it is: it cannot be generated again with canonical NaNs.
        Ok((Case { seed, wasm, rounds, raw_nans: false }, failure))
    }
}

/// The command that repeats a finding.
pub fn repeat_command(folder: &Path) -> String {
    format!("cargo run -p backedge-fuzz --features wasmi -- repeat {}", folder.display())
}
