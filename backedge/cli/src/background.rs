//! `backedge cache fill`, and the process in the background that does it after a run.
//!
//! A run compiles what is hot in it; the next one also gains by code for what ran a few times. That is made once, after the run, by a detached process
//! that gives way to others, as `git` does its maintenance. One at a time and user: the cache's directory is locked meanwhile.

use crate::failure::Failure;
use crate::options::{CacheFill, EngineOptions, Feedback};
use crate::output::print;
use crate::run;
use backedge::{CacheDirectory, Config, Engine, FeedbackPolicy, Module, WarmFunction};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Fewer functions than this are not worth a process, unless compiling them takes [`LONG`].
const FEWEST: usize = 64;
/// What the next run is to be spared, if nothing else. Starting a process takes a tenth of it.
const LONG: Duration = Duration::from_millis(30);
/// So many are compiled before the first save, twice as many before each further one: whoever runs meanwhile has those first that matter most.
const FIRST_SAVED: usize = 64;
/// Marks a function on the list that is to start in tier 2.
const OPTIMIZED: char = '+';
/// The list goes through a pipe that takes this many bytes at once.
const MOST_BYTES: usize = 60_000;

/// Saves what this run compiled and starts the process that compiles for the next one what it interpreted, or had not compiled to its end. Best effort: a
/// debug line says why not. Returns whether it was started.
pub fn leave(engine: &Engine, module: &Module, file: &Path, options: &EngineOptions) -> bool {
    let Some(directory) = engine.cache_directory() else { return false };
    let functions = module.interpreted_functions();
    let worth_it = functions.len() >= FEWEST || module.time_to_keep(&functions) >= LONG;
    if !worth_it {
        return false;
    }
    // What comes through a pipe is gone, and whoever opened it would wait for more.
    if !file.is_file() {
        tracing::debug!("no process fills the cache: the module is no file");
        return false;
    }
    match directory.try_lock() {
        Ok(Some(_)) => {}
        Ok(None) => return false,
        Err(error) => {
            tracing::debug!(path = %directory.path().display(), %error, "no process fills the cache");
            return false;
        }
    }
    engine.save_cache();
    let mut list = format!("{}\n", module.digest());
    for WarmFunction { function, optimized } in functions {
        list.push_str(&function.to_string());
        list.extend(optimized.then_some(OPTIMIZED));
        list.push('\n');
        if list.len() > MOST_BYTES {
            break; // the rest follows after the next run
        }
    }
    let start = || -> std::io::Result<()> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["cache", "fill", "--background"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        if options.no_feedback || options.feedback == Feedback::Off {
            command.arg("--no-feedback");
        }
        // It may live long: nothing of where and how we were started is held by it.
        command.arg("--").arg(std::path::absolute(file)?).current_dir("/");
        vm::background::keep_descriptors();
        let mut child = command.spawn()?;
        child.stdin.take().expect("it was asked for").write_all(list.as_bytes())
    };
    start().inspect_err(|error| tracing::debug!(%error, "no process fills the cache")).is_ok()
}

/// Compiles functions of a module into the cache: all, or those on the list that a run leaves.
pub fn fill(options: &CacheFill) -> Result<(), Failure> {
    let directory =
        CacheDirectory::of_user().ok_or_else(|| Failure::Load("there is no cache: neither XDG_CACHE_HOME nor HOME is set".into()))?;
    let path = directory.path().to_owned();
    let unwritten = |error: backedge::Error| Failure::Load(format!("cannot write the cache in `{}`: {error:#}", path.display()));
    let mut list = None;
    if options.background {
        vm::background::detach();
        let mut text = String::new();
        std::io::stdin()
            .take(2 * MOST_BYTES as u64)
            .read_to_string(&mut text)
            .map_err(|error| Failure::read(Path::new("standard input"), &error))?;
        list = Some(text);
        if !options.file.is_file() {
            return Ok(());
        }
    }
    let mut config = Config::new();
    config.cache(Some(directory.clone()));
    if options.no_feedback {
        config.feedback(FeedbackPolicy::Off);
    }
    let engine = run::engine(&config)?;
    // Before the lock: a file may be a pipe, or on a disk that does not answer, and others would wait with us.
    let bytes = run::read(&options.file)?;
    let _locked = match directory.try_lock().map_err(|error| unwritten(error.into()))? {
        Some(lock) => lock,
        None if options.background => return Ok(()),
        None => {
            let _ = writeln!(std::io::stderr(), "another process fills the cache in `{}`: waiting for it", path.display());
            directory.lock().map_err(|error| unwritten(error.into()))?
        }
    };
    // After it: what the process before us compiled is found in the cache.
    let module = run::module(&engine, &options.file, bytes)?;
    let wanted: Vec<WarmFunction> = match &list {
        Some(text) => {
            let mut lines = text.lines();
            if lines.next() != Some(module.digest().as_str()) {
                return Ok(()); // the file has changed since
            }
            lines.filter_map(warm).collect()
        }
        None => module.functions().map(|function| WarmFunction { function, optimized: false }).collect(),
    };
    let (mut kept, mut rest, mut next) = (0, &wanted[..], FIRST_SAVED);
    while !rest.is_empty() {
        let (now, later) = rest.split_at(next.min(rest.len()));
        kept += module.keep(now);
        engine.try_save_cache().map_err(unwritten)?;
        (rest, next) = (later, 2 * next);
    }
    if !options.background {
        print(&format!("{kept} functions of `{}` are in the cache\n", options.file.display()))?;
    }
    Ok(())
}

/// A line of the list.
fn warm(line: &str) -> Option<WarmFunction> {
    let number = line.trim_end_matches(OPTIMIZED);
    Some(WarmFunction { function: number.parse().ok()?, optimized: number.len() < line.len() })
}
