//! Runs one process and says what it cost: wall time from before its start to its end, CPU time of all its threads, most memory, what it printed.
//!
//! A child is a process group of its own, so that Ctrl-C on the terminal reaches us alone; [`on_interrupt`] arranges that the first one kills the
//! child (and whatever it started) and raises [`interrupted`], and the second one ends us too. A child that outlives its limit is killed, and so is one whose parent died:
//! nothing that is left over runs beside the next measurement.

use crate::spawner::{Ran, Spawner};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Output beyond this is read and dropped.
const MOST_OUTPUT_BYTES: usize = 16 << 20;

/// How long after a process its pipes may stay open; what comes later is not read.
const PIPES_CLOSE_WITHIN: Duration = Duration::from_secs(2);

/// What to run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Invocation {
    /// The executable.
    #[serde(with = "any_path")]
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables to set besides those that are there.
    pub env: Vec<(String, OsString)>,
    /// The one processor it may use.
    pub pin: Option<u32>,
    /// When it is killed.
    pub limit: Duration,
}

/// A path that may be no UTF-8.
mod any_path {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        OsString::deserialize(from).map(PathBuf::from)
    }
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// From before its start to its end.
    pub wall_ns: u64,
    /// All threads, user and kernel.
    pub cpu_ns: u64,
    /// Most resident memory, bytes; at least what the forking process held in memory of its own ([`crate::spawner`]).
    pub peak_rss_bytes: u64,
    /// When it was started.
    pub started_unix_ns: u64,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it complained of.
    pub stderr: Vec<u8>,
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// With this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It was killed at its limit.
    TimedOut,
    /// It was killed because the user stopped us.
    Interrupted,
}

/// The process group that runs now; 0: none.
static RUNNING: AtomicI32 = AtomicI32::new(0);
/// How often the user asked us to stop.
static INTERRUPTS: AtomicU32 = AtomicU32::new(0);

/// Whether the user asked us to stop.
pub fn interrupted() -> bool {
    INTERRUPTS.load(Ordering::Relaxed) > 0
}

/// Makes Ctrl-C, SIGTERM and a terminal that goes away stop the benchmark in good order, and a limit on the size of files an error like a full disk.
pub fn on_interrupt() {
    // SAFETY: to ignore a signal is a plain system call.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: a zeroed sigaction is a valid one with no flags and an empty mask; `handler` does nothing that is not async-signal-safe.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as extern "C" fn(libc::c_int) as usize;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// Said at the second Ctrl-C.
const AT_ONCE: &str = "\nstopped at once: what was measured is in the journal, if there is one, and no results were written\n";

extern "C" fn handler(signal: libc::c_int) {
    let before = INTERRUPTS.fetch_add(1, Ordering::Relaxed);
    let group = RUNNING.load(Ordering::Relaxed);
    // SAFETY: kill, write and _exit are async-signal-safe.
    unsafe {
        if group > 0 {
            libc::kill(-group, libc::SIGKILL);
        }
        // A terminal that goes away says so more than once (its shell does, and the kernel): only a user who presses Ctrl-C again is in a hurry.
        if before > 0 && signal == libc::SIGINT {
            libc::write(libc::STDERR_FILENO, AT_ONCE.as_ptr().cast(), AT_ONCE.len());
            libc::_exit(130);
        }
    }
}

/// Whether processes may be pinned to this processor. Errors: in words, with those there are.
pub fn may_use(cpu: u32) -> Result<(), String> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let Some(allowed) = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).map(str::trim) else { return Ok(()) };
    let within = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        first.parse().is_ok_and(|first: u32| first <= cpu) && last.parse().is_ok_and(|last: u32| cpu <= last)
    };
    match allowed.split(',').any(within) {
        true => Ok(()),
        false => Err(format!("this process may use the processors {allowed}")),
    }
}

/// Whether as much virtual memory may be used as there is.
pub(crate) fn has_all_memory() -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a local.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) == 0 && limit.rlim_cur == libc::RLIM_INFINITY }
}

static SPAWNER: Mutex<Option<Spawner>> = Mutex::new(None);

/// How often a process is started again because the one that started it died.
const MOST_STARTS: u32 = 2;

/// From now on this program starts the processes: `PROGRAM ARGS` calls [`crate::spawner::serve`].
///
/// # Errors
/// It does not start.
pub fn start_by(program: &Path, args: &[&str]) -> std::io::Result<()> {
    let spawner = Spawner::start(program.to_owned(), args.iter().map(|arg| (*arg).to_owned()).collect())?;
    *SPAWNER.lock().unwrap_or_else(|error| error.into_inner()) = Some(spawner);
    Ok(())
}

/// Runs it to its end. Errors: it could not be started.
pub fn run(invocation: &Invocation) -> std::io::Result<Outcome> {
    let started = |pid| {
        RUNNING.store(pid, Ordering::Relaxed);
        if interrupted() {
            // The signal came before the group was known to its handler.
            kill(pid);
        }
    };
    let mut spawner = SPAWNER.lock().unwrap_or_else(|error| error.into_inner());
    let outcome = match &mut *spawner {
        Some(spawner) => started_by(spawner, invocation, started),
        None => run_here(invocation, started),
    };
    RUNNING.store(0, Ordering::Relaxed);
    outcome.map(|outcome| if interrupted() { Outcome { end: End::Interrupted, ..outcome } } else { outcome })
}

/// By the process that starts others; where that one dies (and its child with it), by another one.
fn started_by(spawner: &mut Spawner, invocation: &Invocation, started: impl Fn(libc::pid_t)) -> std::io::Result<Outcome> {
    for _ in 0..MOST_STARTS {
        match spawner.run(invocation, &started) {
            Ok(Ran::Ended(outcome)) => return Ok(outcome),
            Ok(Ran::NotStarted(why)) => return Err(std::io::Error::other(why)),
            Err(_) => {
                let group = RUNNING.swap(0, Ordering::Relaxed);
                if group > 0 {
                    kill(group);
                }
                spawner.again()?;
            }
        }
    }
    Err(std::io::Error::other(format!("the process that starts others died {MOST_STARTS} times while it ran")))
}

/// The same, forked by this process; `started` gets its number.
pub(crate) fn run_here(invocation: &Invocation, started: impl FnOnce(libc::pid_t)) -> std::io::Result<Outcome> {
    let parent = std::process::id();
    let mut command = Command::new(&invocation.program);
    command.args(&invocation.args).envs(invocation.env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let pin = invocation.pin;
    // Always: without such a step the child shares our memory until it calls exec, and all that we hold counts as its.
    // SAFETY: between fork and exec only the system calls prctl, getppid and sched_setaffinity are made, the last with a set on the child's own stack.
    unsafe {
        command.pre_exec(move || {
            die_with(parent)?;
            let Some(cpu) = pin else { return Ok(()) };
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(cpu as usize, &mut set);
            match libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    let started_unix_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let begin = Instant::now();
    let mut child = command.spawn()?;
    let pid = child.id() as libc::pid_t;
    started(pid);
    let stdout = child.stdout.take().map(drain);
    let stderr = child.stderr.take().map(drain);
    let (done, waiting) = mpsc::channel::<()>();
    let limit = invocation.limit;
    let watchdog = std::thread::spawn(move || {
        let late = waiting.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout);
        if late {
            kill(pid);
        }
        late
    });
    let (status, usage) = wait(pid)?;
    let wall_ns = begin.elapsed().as_nanos() as u64;
    let _ = done.send(());
    let late = watchdog.join().unwrap_or(false);
    // What the child started may hold the pipes open.
    kill(pid);
    // And one that left the group may hold them for ever.
    let until = Instant::now() + PIPES_CLOSE_WITHIN;
    let text = |drain: Option<Drain>| {
        let Some(Drain { read, closed }) = drain else { return Vec::new() };
        let _ = closed.recv_timeout(until.saturating_duration_since(Instant::now()));
        std::mem::take(&mut *read.lock().unwrap_or_else(|error| error.into_inner()))
    };
    let (stdout, stderr) = (text(stdout), text(stderr));
    let end = match (status.code(), status.signal()) {
        _ if late => End::TimedOut,
        (Some(code), _) => End::Exited(code),
        (_, signal) => End::Signalled(signal.unwrap_or_default()),
    };
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    Ok(Outcome {
        end,
        wall_ns,
        cpu_ns: ns(usage.ru_utime) + ns(usage.ru_stime),
        peak_rss_bytes: (usage.ru_maxrss as u64) << 10,
        started_unix_ns,
        stdout,
        stderr,
    })
}

/// Has the kernel kill this process when its parent dies. For a child between fork and exec.
pub(crate) fn die_with(parent: u32) -> std::io::Result<()> {
    // SAFETY: plain system calls.
    unsafe {
        if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
            return Err(std::io::Error::last_os_error());
        }
        // It may have died before.
        if libc::getppid() as u32 != parent {
            return Err(std::io::Error::from_raw_os_error(libc::ESRCH));
        }
    }
    Ok(())
}

fn kill(group: libc::pid_t) {
    // SAFETY: a plain system call. The group's number is that of a child which has not been waited for, or of the group it leaves behind.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}

fn wait(pid: libc::pid_t) -> std::io::Result<(ExitStatus, libc::rusage)> {
    let mut status = 0;
    // SAFETY: zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to locals that live through the call.
        let waited = unsafe { libc::wait4(pid, &mut status, 0, &mut usage) };
        if waited == pid {
            return Ok((ExitStatus::from_raw(status), usage));
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// What is read of a pipe, and word of its end.
struct Drain {
    read: Arc<Mutex<Vec<u8>>>,
    closed: mpsc::Receiver<()>,
}

fn drain(mut pipe: impl Read + Send + 'static) -> Drain {
    let (done, closed) = mpsc::channel();
    let read = Arc::new(Mutex::new(Vec::new()));
    let drain = Drain { read: Arc::clone(&read), closed };
    std::thread::spawn(move || {
        let mut buffer = [0; 1 << 16];
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            let mut kept = read.lock().unwrap_or_else(|error| error.into_inner());
            let room = MOST_OUTPUT_BYTES.saturating_sub(kept.len());
            kept.extend_from_slice(&buffer[..count.min(room)]);
        }
        let _ = done.send(());
    });
    drain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Outcome {
        run(&Invocation { program: "/bin/sh".into(), args: vec!["-c".into(), script.into()], limit, ..Invocation::default() }).unwrap()
    }

    #[test]
    fn what_a_process_says_and_costs() {
        let outcome = shell("echo out; echo err >&2; exit 3", Duration::from_secs(20));
        assert_eq!((outcome.end, outcome.stdout.as_slice(), outcome.stderr.as_slice()), (End::Exited(3), &b"out\n"[..], &b"err\n"[..]));
        assert!(outcome.wall_ns > 0 && outcome.peak_rss_bytes > 1 << 16);
    }

    #[test]
    fn a_crash_and_a_hang() {
        assert_eq!(shell("kill -SEGV $$", Duration::from_secs(20)).end, End::Signalled(libc::SIGSEGV));
        // The grandchild holds the pipe; it goes with the group.
        assert_eq!(shell("sleep 1000 & sleep 1000", Duration::from_millis(50)).end, End::TimedOut);
        // One that left the group keeps the pipe: nobody waits for it, and what was said before is heard.
        let left = shell("echo out; setsid sleep 20 & exit 0", Duration::from_secs(20));
        assert_eq!((left.end, left.stdout.as_slice()), (End::Exited(0), &b"out\n"[..]));
    }

    #[test]
    fn a_program_that_is_not_there() {
        assert!(run(&Invocation { program: "/nowhere/engine".into(), ..Invocation::default() }).is_err());
    }
}
