//! A small process that starts all others.
//!
//! Linux counts what a process held before its `exec` into its `ru_maxrss`: the memory of whoever forked it. A harness that keeps the times of a million calls would give every
//! engine that needs less its own peak. So another process, which keeps nothing, forks them and measures; what it holds itself (some 2 MiB) is the least that a peak can be.
//!
//! On its standard input comes a line of JSON for each [`Invocation`]. On its standard output: a line with the number of the process (0: it did not start), a line of JSON with
//! its [`Reply`], and what the process printed.

use crate::process::{End, Invocation, Outcome, die_with, run_here};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// An [`Outcome`], its output by length.
#[derive(Serialize, Deserialize)]
enum Reply {
    Ended { end: End, wall_ns: u64, cpu_ns: u64, peak_rss_bytes: u64, started_unix_ns: u64, stdout: usize, stderr: usize },
    NotStarted(String),
}

/// Serves until standard input ends.
///
/// # Errors
/// Its pipes failed: whoever asked is gone.
pub fn serve() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let invocation: Invocation = serde_json::from_str(&line?)?;
        let mut told = Ok(());
        let ran = run_here(&invocation, |pid| told = writeln!(out, "{pid}").and_then(|()| out.flush()));
        told?;
        match ran {
            Ok(Outcome { end, wall_ns, cpu_ns, peak_rss_bytes, started_unix_ns, stdout, stderr }) => {
                let (lengths, output) = ((stdout.len(), stderr.len()), [stdout, stderr].concat());
                let reply = Reply::Ended { end, wall_ns, cpu_ns, peak_rss_bytes, started_unix_ns, stdout: lengths.0, stderr: lengths.1 };
                writeln!(out, "{}", serde_json::to_string(&reply)?)?;
                out.write_all(&output)?;
            }
            Err(error) => writeln!(out, "0\n{}", serde_json::to_string(&Reply::NotStarted(error.to_string()))?)?,
        }
        out.flush()?;
    }
    Ok(())
}

/// The other side.
pub(crate) struct Spawner {
    program: PathBuf,
    args: Vec<String>,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    // Ends with its input.
    child: Child,
}

/// What became of an invocation; an error beside it is of the process that starts others.
pub(crate) enum Ran {
    Ended(Outcome),
    NotStarted(String),
}

impl Spawner {
    pub(crate) fn start(program: PathBuf, args: Vec<String>) -> io::Result<Spawner> {
        use std::os::unix::process::CommandExt;
        let parent = std::process::id();
        let mut command = Command::new(&program);
        // A group of its own: Ctrl-C on the terminal is for us.
        command.args(&args).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        // SAFETY: between fork and exec only the system calls prctl and getppid are made.
        unsafe { command.pre_exec(move || die_with(parent)) };
        let mut child = command.spawn()?;
        let gone = || io::Error::other("it has no pipes");
        let (to, from) = (child.stdin.take().ok_or_else(gone)?, child.stdout.take().ok_or_else(gone)?);
        Ok(Spawner { program, args, to, from: BufReader::new(from), child })
    }

    /// Another one in its place, after an error of [`Self::run`].
    pub(crate) fn again(&mut self) -> io::Result<()> {
        let _ = self.child.kill();
        let _ = self.child.wait();
        *self = Spawner::start(std::mem::take(&mut self.program), std::mem::take(&mut self.args))?;
        Ok(())
    }

    /// As [`run_here`].
    pub(crate) fn run(&mut self, invocation: &Invocation, started: impl FnOnce(i32)) -> io::Result<Ran> {
        writeln!(self.to, "{}", serde_json::to_string(invocation)?)?;
        let pid = self.line()?.trim().parse().map_err(io::Error::other)?;
        if pid > 0 {
            started(pid);
        }
        match serde_json::from_str(&self.line()?)? {
            Reply::NotStarted(why) => Ok(Ran::NotStarted(why)),
            Reply::Ended { end, wall_ns, cpu_ns, peak_rss_bytes, started_unix_ns, stdout, stderr } => {
                let mut output = [vec![0; stdout], vec![0; stderr]];
                output.iter_mut().try_for_each(|bytes| self.from.read_exact(bytes))?;
                let [stdout, stderr] = output;
                Ok(Ran::Ended(Outcome { end, wall_ns, cpu_ns, peak_rss_bytes, started_unix_ns, stdout, stderr }))
            }
        }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.from.read_line(&mut line)? {
            0 => Err(io::Error::other("the process that starts others is gone")),
            _ => Ok(line),
        }
    }
}
