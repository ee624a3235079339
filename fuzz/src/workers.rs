//! Worker processes with a number for each case, and what becomes of them: a worker that crashes or falls silent loses its case, and another
//! goes on behind it.
//!
//! A worker writes lines to its standard output: `case N` before a case, `at NAME` before a part of it, `done JSON` after it; other lines are
//! passed on.

use crate::trial::Problem;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Longest a worker may be silent: parts take milliseconds, the longest (a large module, compiled whole) seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is asked of those who start workers.
pub trait Work: Sync {
    /// The worker's command line for the cases `first`, `first + step` and so on.
    fn arguments(&self, first: u64, step: u64) -> Vec<OsString>;
    /// Whether to stop.
    fn is_over(&self) -> bool;
    /// A case came to its end; the worker's words.
    ///
    /// # Errors
    /// They make no sense.
    fn done(&self, json: &str) -> Result<()>;
    /// A case was lost, in the part of that name.
    ///
    /// # Errors
    /// It could not be written down.
    fn lost(&self, case: u64, part: &str, problem: Problem) -> Result<()>;
}

/// A line for the parent; an error where it is gone.
///
/// # Errors
/// The pipe's.
pub fn say(line: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

/// Runs `jobs` workers at a time, until it is over or the cases below `cases` are done.
///
/// # Errors
/// A worker could not be started, or ends before its first case.
pub fn run(work: &dyn Work, jobs: u64, cases: Option<u64>) -> Result<()> {
    let jobs = jobs.max(1);
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..jobs).map(|job| scope.spawn(move || oversee(work, job, jobs, cases))).collect();
        handles.into_iter().try_for_each(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// One worker after the other for the cases `job`, `job + jobs` and so on.
fn oversee(work: &dyn Work, job: u64, jobs: u64, cases: Option<u64>) -> Result<()> {
    let mut next = job;
    while !work.is_over() && cases.is_none_or(|cases| next < cases) {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(work.arguments(next, jobs)).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().context("failed to start a worker")?;
        let out = child.stdout.take().expect("it is piped");
        let (send, lines) = channel();
        let reader = std::thread::spawn(move || {
            // Until the worker ends or nobody listens.
            let _ = BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| send.send(line));
        });
        let (mut case, mut part, mut heard) = (None, String::new(), Instant::now());
        let problem = loop {
            match lines.recv_timeout(Duration::from_millis(200)) {
                Ok(line) => {
                    heard = Instant::now();
                    if let Some(number) = line.strip_prefix("case ") {
                        case = number.parse::<u64>().ok();
                    } else if let Some(name) = line.strip_prefix("at ") {
                        part = name.to_owned();
                    } else if let Some(json) = line.strip_prefix("done ") {
                        next = case.take().map_or(next, |case| case + jobs);
                        work.done(json)?;
                    } else {
                        println!("{line}");
                    }
                    if work.is_over() {
                        break None;
                    }
                }
                Err(RecvTimeoutError::Timeout) if work.is_over() => break None,
                Err(RecvTimeoutError::Timeout) if heard.elapsed() > PATIENCE => break Some(Problem::Hang),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let status = child.wait()?;
                    break if status.success() { None } else { Some(Problem::Crash(status.to_string())) };
                }
            }
        };
        // It may have ended already.
        let _ = child.kill();
        child.wait()?;
        drop(lines);
        reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (problem, case) {
            (None, _) => return Ok(()),
            (Some(problem), None) => bail!("a worker ends before a case: {problem}"),
            (Some(problem), Some(case)) => {
                next = case + jobs;
                work.lost(case, &part, problem)?;
            }
        }
    }
    Ok(())
}
