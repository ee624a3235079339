//! `backedge profile`: what a profile says, and putting it into a module for other engines.

use crate::failure::Failure;
use crate::options::{Profile, ProfileExport};
use crate::output::print;
use crate::policyoptions::warn;
use crate::samefile;
use backedge::{Config, TierPolicy};
use lwp_feedback::profilefile::SavedProfile;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use vm::module::Module;

/// Does what the options say.
pub fn run(options: &Profile) -> Result<(), Failure> {
    match options {
        Profile::Export(options) => export(options),
        Profile::Show { file } => print(&shown(&read(file)?)),
    }
}

fn read(path: &Path) -> Result<SavedProfile, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::read(path, &error))?;
    SavedProfile::from_bytes(&bytes).map_err(|error| Failure::Load(format!("`{}` is {error}", path.display())))
}

fn shown(profile: &SavedProfile) -> String {
    let mut text = String::new();
    let sites: usize =
        profile.snapshot.functions.iter().map(|it| it.sites.len() + it.branches.len() + it.loads.len() + it.selects.len()).sum();
    let _ = writeln!(
        text,
        "module {:016x}: {} functions, {sites} sites, values: {:?}",
        profile.module,
        profile.snapshot.functions.len(),
        profile.values
    );
    for version in &profile.compiled {
        let at = version.loop_offset.map_or(String::new(), |offset| format!(", loop {offset:#x}"));
        let _ = writeln!(text, "function {}{at}: {} decisions", version.func, version.decisions.len());
        for decision in &version.decisions {
            let _ = writeln!(text, "  {decision}");
        }
    }
    for lost in &profile.lost {
        let _ = writeln!(text, "function {}: a trial took back\n  {}", lost.func, lost.decision);
    }
    text
}

fn export(options: &ProfileExport) -> Result<(), Failure> {
    let inputs = [options.file.as_path(), &options.profile];
    samefile::check(inputs, [Some(&options.output), options.json.as_ref()].into_iter().flatten().map(PathBuf::as_path))?;
    let profile = read(&options.profile)?;
    let bytes = std::fs::read(&options.file).map_err(|error| Failure::read(&options.file, &error))?;
    let engine = crate::run::engine(Config::new().tier(TierPolicy::Interpreter))?;
    let module = crate::run::load(&engine, &options.file)?;
    let module: &Module = &module.loaded().module;
    if let Err(error) = profile.check(module.hash) {
        return Err(Failure::Load(format!("`{}` is {error}", options.profile.display())));
    }
    let priors = vm::hints::of_profile(&profile.snapshot, module);
    if let Some(path) = &options.json {
        let json = serde_json::json!({"module": format!("{:016x}", module.hash), "hints": priors, "profile": profile});
        let text = format!("{json:#}\n");
        std::fs::write(path, text).map_err(|error| Failure::write(path, &error))?;
    }
    if priors.is_empty() {
        warn("the profile says nothing that these sections can hold");
    }
    // A module in text form has its bytes only here.
    let bytes = if bytes.starts_with(b"\0asm") { bytes } else { module.bytes().to_vec() };
    let out = vm::hints::into_module(&bytes, &priors, module)
        .ok_or_else(|| Failure::Load(format!("`{}`: its sections cannot be told apart", options.file.display())))?;
    std::fs::write(&options.output, out).map_err(|error| Failure::write(&options.output, &error))
}
