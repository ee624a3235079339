//! How every peer is driven and what it says: the same for engines in Rust, JavaScript and C.
//!
//! `PEER steady FILE MODE SIZE ROUNDS SECONDS` calls `setup(mode, size)`, then `run(rounds)` again and again for SECONDS (at least 4 times, at most 5000
//! times, and not beyond ten times SECONDS), then `check(rounds, result)`, and prints one line of JSON.
//! `PEER once [--dir HOST::GUEST]… FILE ARGS…` runs a command once, as it would be run by hand.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// What `steady` is asked for.
pub struct Steady {
    pub file: String,
    pub mode: i32,
    pub size: i32,
    pub rounds: i32,
    pub seconds: f64,
}

impl Steady {
    pub fn parse(args: &[String]) -> anyhow::Result<Steady> {
        let [file, mode, size, rounds, seconds] = args else { anyhow::bail!("expected FILE MODE SIZE ROUNDS SECONDS") };
        Ok(Steady { file: file.clone(), mode: mode.parse()?, size: size.parse()?, rounds: rounds.parse()?, seconds: seconds.parse()? })
    }

    /// Calls `run` until it has been long enough and prints the line. `extra` goes into the line as it is: `"version":"…"`.
    pub fn measure(
        &self,
        extra: &str,
        setup: impl FnOnce() -> anyhow::Result<()>,
        mut run: impl FnMut() -> anyhow::Result<u64>,
        check: impl FnOnce(u64) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        let ready = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
        setup()?;
        let (mut wall, mut cpu) = (Vec::new(), Vec::new());
        let begin = Instant::now();
        let mut result = None;
        loop {
            let (cpu_before, wall_before) = (cpu_ns(), Instant::now());
            let this = run()?;
            wall.push(wall_before.elapsed().as_nanos() as u64);
            cpu.push(cpu_ns() - cpu_before);
            anyhow::ensure!(*result.get_or_insert(this) == this, "wrong result: one call returned {this}, an earlier one {result:?}");
            let elapsed = begin.elapsed().as_secs_f64();
            if wall.len() >= 5000 || (elapsed >= self.seconds && wall.len() >= 4) || elapsed >= 10.0 * self.seconds {
                break;
            }
        }
        let result = result.unwrap_or_default();
        anyhow::ensure!(check(result)?, "wrong result: {result}");
        println!("{{\"ready_unix_ns\":{ready},\"result\":\"{result}\",\"calls_ns\":{wall:?},\"calls_cpu_ns\":{cpu:?},{extra}}}");
        Ok(())
    }
}

/// CPU time of all threads of this process.
fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec that the call may write.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// `--dir HOST::GUEST` options, the file, its arguments.
pub struct Once {
    pub dirs: Vec<(String, String)>,
    pub file: String,
    pub args: Vec<String>,
}

impl Once {
    pub fn parse(mut args: &[String]) -> anyhow::Result<Once> {
        let mut dirs = Vec::new();
        while let [option, value, rest @ ..] = args
            && option == "--dir"
        {
            let (host, guest) = value.split_once("::").unwrap_or((value, value));
            dirs.push((host.to_owned(), guest.to_owned()));
            args = rest;
        }
        let [file, ..] = args else { anyhow::bail!("expected FILE ARGS") };
        Ok(Once { dirs, file: file.clone(), args: args.to_vec() })
    }
}
