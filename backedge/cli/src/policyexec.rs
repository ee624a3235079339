//! `--policy-exec CMD`: a policy that is another program. One line of JSON goes to its standard input for each question, one line comes back.
//!
//! ```text
//! → {"snapshot": {"module": …, "functions": […], "facts": […], "shapes": […], "priors": […], "grown_bytes": 0}, "budgets": {…}}
//! ← {"plans": [{"func": 3, "decisions": [{"layout": {"offset": 52, "likely": true}}]}]}
//! ```
//! The program can cost the run time and one line on standard error, nothing else: it is asked on a compile thread, for at most [`PATIENCE`] a
//! question; when it ends, hangs, answers something else or before it was asked it is ended, and from then on there are no plans. When the guest has ended the run waits for it no
//! longer than it must ([`Policy::end_within`]).

use crate::failure::Failure;
use crate::policyoptions::warn;
use lwp_feedback::codemap::FunctionId;
use lwp_feedback::policy::{Budgets, FilePlan, Plan, PlanFile, Policy, Refusal};
use lwp_feedback::profile::Snapshot;
use serde_json::json;
use std::ffi::OsStr;
use std::fmt;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel, sync_channel};
use std::sync::{Mutex, Once, OnceLock};
use std::time::{Duration, Instant};

/// How long an answer may take. A guess: a Python process starts in 30 ms, and a whole module's profile is some MiB of JSON.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often who waits for an answer looks whether the run is over.
const LOOKS_EVERY: Duration = Duration::from_millis(10);
/// Longest answer, bytes.
const MOST_ANSWER: u64 = 64 << 20;

/// The other program.
pub struct PolicyExec {
    command: String,
    /// `None` once it failed.
    process: Mutex<Option<Process>>,
    failure: OnceLock<String>,
    ends: OnceLock<End>,
    /// Whether it was said that an answer was for another module.
    strayed: Once,
}

impl fmt::Debug for PolicyExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicyExec").field("command", &self.command).finish_non_exhaustive()
    }
}

/// The run is over.
struct End {
    /// It waits until then.
    at: Instant,
    /// Something that it leaves behind depends on the answer.
    wanted: bool,
}

impl End {
    fn passed(&self) -> bool {
        Instant::now() >= self.at
    }
}

struct Process {
    child: Child,
    questions: Sender<Vec<u8>>,
    answers: Receiver<std::io::Result<String>>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // The shell and what it started are a process group of their own.
        // SAFETY: kill touches no memory; the group's leader is our child, which was not waited for yet, so the number is still its.
        unsafe { libc::kill(-(self.child.id() as i32), libc::SIGKILL) };
        let _ = self.child.wait();
    }
}

impl PolicyExec {
    /// Starts the program, with the shell.
    pub fn new(command: impl AsRef<OsStr>) -> Result<PolicyExec, Failure> {
        let shown = command.as_ref().to_string_lossy().into_owned();
        let failed = |error: std::io::Error| Failure::Load(format!("cannot start the policy `{shown}`: {error}"));
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let mut input = child.stdin.take().expect("piped above");
        let output = child.stdout.take().expect("piped above");
        let (questions, to_write) = channel::<Vec<u8>>();
        // What nobody asked for waits in the program, not here.
        let (to_read, answers) = sync_channel(0);
        // Neither thread is waited for: both end when the program does.
        let writer = move || {
            // A failed write shows as an answer that does not come.
            while to_write.recv().is_ok_and(|question| input.write_all(&question).and_then(|()| input.flush()).is_ok()) {}
        };
        let reader = move || {
            let mut output = BufReader::new(output);
            loop {
                let mut line = String::new();
                let read = output.by_ref().take(MOST_ANSWER).read_line(&mut line);
                let ended = !matches!(read, Ok(bytes) if bytes > 0);
                if to_read.send(read.map(|_| line)).is_err() || ended {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("policy-questions".into()).spawn(writer).map_err(failed)?;
        std::thread::Builder::new().name("policy-answers".into()).spawn(reader).map_err(failed)?;
        let process = Mutex::new(Some(Process { child, questions, answers }));
        Ok(PolicyExec { command: shown, process, failure: OnceLock::new(), ends: OnceLock::new(), strayed: Once::new() })
    }
}

/// `None`: the run is over, and nobody misses the answer.
fn ask(process: &Process, ends: &OnceLock<End>, snapshot: &Snapshot, budgets: &Budgets) -> Result<Option<PlanFile>, String> {
    let mut question = serde_json::to_vec(&json!({"snapshot": snapshot, "budgets": budgets})).map_err(|error| error.to_string())?;
    question.push(b'\n');
    let ended = || "it ended".to_owned();
    // One that is there already is to no question, or to an earlier one: so would be all that follow.
    match process.answers.try_recv() {
        Ok(Ok(line)) if !line.is_empty() => return Err("it answered before it was asked".into()),
        Ok(_) | Err(TryRecvError::Disconnected) => return Err(ended()),
        Err(TryRecvError::Empty) => {}
    }
    process.questions.send(question).map_err(|_| ended())?;
    let asked = Instant::now();
    let answer = loop {
        match process.answers.recv_timeout(LOOKS_EVERY) {
            Err(RecvTimeoutError::Timeout) if ends.get().is_some_and(End::passed) => {
                let wanted = ends.get().is_some_and(|end| end.wanted);
                return if wanted { Err("no answer before the guest ended".into()) } else { Ok(None) };
            }
            Err(RecvTimeoutError::Timeout) if asked.elapsed() < PATIENCE => {}
            answer => break answer,
        }
    };
    let line = match answer {
        Ok(Ok(line)) if line.is_empty() => return Err(ended()),
        Ok(Ok(line)) => line,
        Ok(Err(error)) => return Err(format!("its answer cannot be read: {error}")),
        Err(RecvTimeoutError::Timeout) => return Err(format!("no answer in {} s (does it flush its output?)", PATIENCE.as_secs())),
        Err(RecvTimeoutError::Disconnected) => return Err(ended()),
    };
    PlanFile::parse(&line).map(Some).map_err(|error| format!("its answer is not a plan: {error}"))
}

impl Policy for PolicyExec {
    fn plan(&self, snapshot: &Snapshot, budgets: &Budgets) -> (Vec<Plan>, Vec<Refusal>) {
        let mut process = self.process.lock().unwrap_or_else(|error| error.into_inner());
        let Some(running) = process.as_ref() else {
            return (Vec::new(), Vec::new());
        };
        if self.ends.get().is_some_and(End::passed) {
            return (Vec::new(), Vec::new());
        }
        match ask(running, &self.ends, snapshot, budgets) {
            Ok(None) => {
                *process = None;
                (Vec::new(), Vec::new())
            }
            Ok(Some(file)) => {
                if let Err(reason) = file.check(snapshot.module) {
                    self.strayed.call_once(|| warn(&format!("policy `{}`: plans ignored: its answer is {reason}", self.command)));
                    return (Vec::new(), Vec::new());
                }
                let plan =
                    |plan: FilePlan| Plan { function: FunctionId { module: snapshot.module, func: plan.func }, decisions: plan.decisions };
                (file.plans.into_iter().map(plan).collect(), Vec::new())
            }
            Err(why) => {
                let why = self.failure.get_or_init(|| format!("policy `{}`: {why}", self.command));
                warn(&format!("{why}; no more plans from it"));
                *process = None;
                (Vec::new(), Vec::new())
            }
        }
    }

    fn end_within(&self, patience: Duration) {
        let _ = self.ends.set(End { at: Instant::now() + patience, wanted: !patience.is_zero() });
    }
    fn failure(&self) -> Option<String> {
        self.failure.get().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_for_is_no_answer() {
        let policy = PolicyExec::new(r#"while read question; do echo '{"plans":[]}'; echo '{"plans":[]}'; done"#).unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        // (the second line of an answer may come a little later than the next question)
        while policy.failure().is_none() && Instant::now() < until {
            assert!(policy.plan(&Snapshot::default(), &Budgets::default()).0.is_empty());
        }
        assert!(policy.failure().is_some_and(|why| why.ends_with("it answered before it was asked")));
    }
}
