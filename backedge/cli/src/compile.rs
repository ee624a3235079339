//! `backedge compile` and `backedge cache`: machine code made ahead of time, and kept from earlier runs.

use crate::background;
use crate::failure::Failure;
use crate::options::{Cache, Compile};
use crate::output::print;
use crate::policyoptions::warn;
use crate::{run, samefile};
use backedge::{CacheDirectory, Config, Engine, Module};
use lwp_feedback::replace::replace;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::SystemTime;

/// Compiles a module and writes it.
pub fn compile(options: &Compile) -> Result<(), Failure> {
    samefile::check([options.file.as_path()], [options.output.as_path()])?;
    let engine = run::engine(&Config::new())?;
    let module = run::load(&engine, &options.file)?;
    let bytes = module.serialize().map_err(|error| Failure::Load(format!("`{}`: {error:#}", options.file.display())))?;
    // The old file may be mapped by a run of it.
    let mode = std::fs::metadata(&options.output).map_or(0o666, |there| there.mode() & 0o777);
    replace(&options.output, mode, &bytes).map_err(|error| Failure::write(&options.output, &error))
}

/// Loads a precompiled module, where that was allowed.
pub fn load(engine: &Engine, path: &Path, allowed: bool) -> Result<Module, Failure> {
    if !allowed {
        let text = format!("`{}` is precompiled: native code; --allow-precompiled runs it", path.display());
        return Err(Failure::Usage(text));
    }
    // SAFETY: none that could be checked: the user says that the file is what `backedge compile` wrote.
    unsafe { Module::deserialize_file(engine, path) }.map_err(|error| Failure::Load(format!("{error:#}")))
}

/// Lists, empties or fills the cache.
pub fn cache(action: &Cache) -> Result<(), Failure> {
    if let Cache::Fill(options) = action {
        return background::fill(options);
    }
    let Some(directory) = CacheDirectory::of_user() else {
        return Err(Failure::Load("there is no cache: neither XDG_CACHE_HOME nor HOME is set".into()));
    };
    let failed = |error: std::io::Error| Failure::Load(format!("`{}`: {error}", directory.path().display()));
    match action {
        Cache::List => {
            // (one that cannot be read is that, and no more is said of it)
            let files = directory.files().map_err(failed)?;
            if let Err(error) = directory.check()
                && error.kind() != ErrorKind::NotFound
            {
                warn(&format!("the cache in `{}` is not used: {error}", directory.path().display()));
            }
            let bytes: u64 = files.iter().map(|file| file.bytes).sum();
            let mut text = String::new();
            for file in &files {
                let age = SystemTime::now().duration_since(file.used).unwrap_or_default().as_secs();
                let name = file.path.file_name().unwrap_or_default().to_string_lossy();
                let _ = writeln!(text, "{:>10} bytes, used {age} s ago  {name}", file.bytes);
            }
            let _ = writeln!(text, "{} files, {bytes} bytes in {}", files.len(), directory.path().display());
            print(&text)
        }
        Cache::Fill(_) => Ok(()),
        Cache::Clean => print(&format!("removed {} files\n", directory.clean().map_err(failed)?)),
    }
}
