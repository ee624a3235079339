//! `backedge bench stalls`: how long tier changes make a guest wait. A guest made for it reads the clock between pieces of work of a microsecond or so, while several
//! hundred of its functions become hot, are compiled, tried, specialized to a callee, found wrong and compiled again.
//!
//! The same reads are made in the interpreter alone, where no tier ever changes, and by native code, which no engine runs: what these show is the machine's.
//! Each time between two reads (a *gap*) also comes with the thread's CPU time and its context switches, which tell what kind of wait it was:
//!
//! - the thread gave up the processor (a *voluntary* switch): it waited for a lock or for the kernel, and all of the gap counts;
//! - it lost the processor (only *involuntary* switches): others ran, and only its own CPU time counts;
//! - no switch: all of the gap counts. Time that a hypervisor took (steal) cannot be told apart from our own here; the control rows have it too.

use crate::failure::Failure;
use anyhow::{Context as _, Result};
use backedge::{Caller, Config, Engine, FeedbackPolicy, Linker, Module, Store, TierPolicy};
use clap::Args;
use serde::Serialize;
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use vm::code::Tier;
use vm::timeline::What;

/// `backedge bench stalls`.
#[derive(Args)]
pub struct Stalls {
    /// How long each row runs, seconds
    #[arg(long, value_name = "S", default_value = "5", value_parser = super::seconds)]
    pub seconds: f64,
    /// Times each row is run; the rows take turns
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Gaps longer than this are stalls: some ten times a piece of work in the interpreter.
const STALL_NS: u64 = 10_000;
/// Stalls kept of a run; more are counted only.
const MOST_STALLS: usize = 1 << 18;
/// Functions of the guest.
const FUNCTIONS: u32 = 400;
/// Rounds of the driving loop in one call: long enough that it is replaced in the middle.
const ROUNDS: i32 = 200_000;

/// Who reads the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Row {
    /// All tiers, with feedback.
    Backedge,
    /// All tiers, without.
    NoFeedback,
    /// The interpreter alone: no tier ever changes.
    Interpreter,
    /// No engine: work of the same length between reads.
    Native,
}

const ROWS: [Row; 4] = [Row::Backedge, Row::NoFeedback, Row::Interpreter, Row::Native];

impl Row {
    fn name(self) -> &'static str {
        match self {
            Row::Backedge => "backedge",
            Row::NoFeedback => "backedge, no feedback",
            Row::Interpreter => "interpreter alone",
            Row::Native => "native, no engine",
        }
    }
}

/// What a thread used so far, where a gap begins or ends.
#[derive(Clone, Copy, Default)]
struct Usage {
    cpu_ns: u64,
    voluntary: i64,
    involuntary: i64,
}

fn usage() -> Usage {
    let mut time = std::mem::MaybeUninit::<libc::timespec>::zeroed();
    let mut used = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: each call writes a whole value of its type; all-zero is one as well.
    let (time, used) = unsafe {
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr());
        libc::getrusage(libc::RUSAGE_THREAD, used.as_mut_ptr());
        (time.assume_init(), used.assume_init())
    };
    Usage { cpu_ns: time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64, voluntary: used.ru_nvcsw, involuntary: used.ru_nivcsw }
}

/// A gap that was longer than [`STALL_NS`].
#[derive(Clone, Copy, Debug, Serialize)]
struct Stall {
    /// When it ended, since the run began.
    at_ns: u64,
    wall_ns: u64,
    cpu_ns: u64,
    voluntary: i64,
    involuntary: i64,
}

impl Stall {
    /// What of it may be ours; see the head of this file.
    fn charged_ns(&self) -> u64 {
        if self.voluntary == 0 && self.involuntary > 0 { self.cpu_ns.min(self.wall_ns) } else { self.wall_ns }
    }
}

/// The clock of one run. What it keeps is allocated and touched beforehand.
struct Clock {
    began: Instant,
    until: Instant,
    last: Instant,
    used: Usage,
    reads: u64,
    /// Gaps by length: eight steps to each power of two of nanoseconds.
    lengths: Vec<u64>,
    stalls: Vec<Stall>,
    more_stalls: u64,
}

impl Clock {
    fn new() -> Clock {
        let now = Instant::now();
        let nothing = Stall { at_ns: 1, wall_ns: 1, cpu_ns: 1, voluntary: 1, involuntary: 1 };
        let mut stalls = vec![nothing; MOST_STALLS];
        stalls.clear();
        Clock { began: now, until: now, last: now, used: usage(), reads: 0, lengths: vec![0; 64 * 8], stalls, more_stalls: 0 }
    }

    /// The run begins: what was set up before, this included, is in no gap.
    fn start(&mut self, length: Duration) {
        self.used = usage();
        self.began = Instant::now();
        (self.last, self.until) = (self.began, self.began + length);
    }

    /// The guest reads the clock. False when its time is over.
    fn read(&mut self) -> bool {
        let now = Instant::now();
        let used = usage();
        let wall_ns = now.duration_since(self.last).as_nanos() as u64;
        self.reads += 1;
        self.lengths[step(wall_ns)] += 1;
        if wall_ns > STALL_NS {
            if self.stalls.len() < MOST_STALLS {
                self.stalls.push(Stall {
                    at_ns: now.duration_since(self.began).as_nanos() as u64,
                    wall_ns,
                    cpu_ns: used.cpu_ns - self.used.cpu_ns,
                    voluntary: used.voluntary - self.used.voluntary,
                    involuntary: used.involuntary - self.used.involuntary,
                });
            } else {
                self.more_stalls += 1;
            }
        }
        let on = now < self.until;
        // What reading took is not the guest's.
        (self.used, self.last) = (usage(), Instant::now());
        on
    }

    /// Length below which a share of all gaps lies, ns, at most an eighth too long.
    fn quantile(&self, share: f64) -> u64 {
        let rank = (self.reads as f64 * share).ceil() as u64;
        let mut below = 0;
        for (step, &count) in self.lengths.iter().enumerate() {
            below += count;
            if below >= rank.max(1) {
                return longest_of(step);
            }
        }
        0
    }
}

/// The place of a length in `Clock::lengths`.
fn step(ns: u64) -> usize {
    let ns = ns.max(8);
    let power = ns.ilog2();
    (power as usize) * 8 + (ns >> (power - 3) & 7) as usize
}

/// The longest of a step.
fn longest_of(step: usize) -> u64 {
    let (power, part) = ((step / 8) as u32, (step % 8) as u64);
    ((9 + part) << power.saturating_sub(3)) - 1
}

/// One run of one row.
#[derive(Clone, Debug, Serialize)]
struct Measured {
    row: Row,
    reads: u64,
    /// Of all gaps, wall time.
    p50_ns: u64,
    p99_ns: u64,
    p9999_ns: u64,
    /// The longest gap, wall time, and what of the longest may be ours.
    longest_ns: u64,
    longest_charged_ns: u64,
    /// Gaps with more than 10 µs charged, and of these the 99th percentile.
    stalls: usize,
    stalls_p99_ns: u64,
    /// Stalls in which the thread gave up the processor, and the longest.
    waited: usize,
    longest_waited_ns: u64,
    /// Stalls in which it lost the processor.
    preempted: usize,
    /// Versions compiled by pipeline: baseline, instrumented, optimizing.
    versions: [usize; 3],
    /// Of these machine code by the thread that runs the guest. (Forms for its bursts it makes itself, where that takes no longer than a burst.)
    compiled_by_guest: usize,
    switches: u64,
    side_exits: u64,
    trials: usize,
    bursts: u64,
    /// The longest, by what may be ours.
    worst: Vec<Stall>,
}

/// Longest stalls that a run lists.
const WORST: usize = 5;

impl Measured {
    fn new(row: Row, clock: &Clock) -> Measured {
        let mut charged: Vec<u64> = clock.stalls.iter().map(Stall::charged_ns).filter(|&ns| ns > STALL_NS).collect();
        charged.sort_unstable();
        let waited = || clock.stalls.iter().filter(|stall| stall.voluntary > 0);
        let mut worst = clock.stalls.clone();
        worst.sort_by_key(|stall| std::cmp::Reverse(stall.charged_ns()));
        worst.truncate(WORST);
        Measured {
            row,
            reads: clock.reads,
            p50_ns: clock.quantile(0.5),
            p99_ns: clock.quantile(0.99),
            p9999_ns: clock.quantile(0.9999),
            longest_ns: clock.stalls.iter().map(|stall| stall.wall_ns).max().unwrap_or_else(|| clock.quantile(1.0)),
            longest_charged_ns: charged.last().copied().unwrap_or_else(|| clock.quantile(1.0).min(STALL_NS)),
            stalls: charged.len(),
            stalls_p99_ns: charged.get((charged.len() * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or(0),
            waited: waited().count(),
            longest_waited_ns: waited().map(|stall| stall.wall_ns).max().unwrap_or(0),
            preempted: clock.stalls.iter().filter(|stall| stall.voluntary == 0 && stall.involuntary > 0).count(),
            versions: [0; 3],
            compiled_by_guest: 0,
            switches: 0,
            side_exits: 0,
            trials: 0,
            bursts: 0,
            worst,
        }
    }
}

/// The guest: `run(rounds)` calls its functions in a skewed order, so that they become hot at different times, and reads the clock after each call.
fn guest() -> String {
    let mut text = String::from(
        r#"(module
  (import "clock" "now" (func $now (result i32)))
  (memory 16)
  (type $work (func (param i32) (result i32)))
  (table $callee 64 64 funcref)
  (global $which (mut i32) (i32.const 0))
  (func $twice (type $work) (i32.add (local.get 0) (local.get 0)))
  (func $third (type $work) (i32.div_u (local.get 0) (i32.const 3)))
  (func $mixed (type $work) (i32.xor (i32.rotl (local.get 0) (i32.const 5)) (i32.const 0x9e3779b9)))
  (elem (table $callee) (i32.const 0) func $twice $third $mixed $twice)
"#,
    );
    for number in 0..FUNCTIONS {
        // Bodies of 60 bytes to 20 KB, most of them small, as in real programs.
        let pieces = if number % 97 == 96 { 800 } else { 1 + number % 13 * (1 + number % 5) };
        let rounds = (40 / pieces).max(1);
        writeln!(
            text,
            "  (func $f{number} (type $work) (local $i i32) (local $sum i32)\n    (local.set $i (i32.const {rounds}))\n    (loop $again"
        )
        .expect("a string takes everything");
        // A branch that is nearly always the same, one of two values by data, and a call through a table whose callee changes now and then.
        text.push_str(
            "      (if (i32.eqz (i32.and (local.get 0) (i32.const 63))) (then (local.set $sum (i32.mul (local.get $sum) (i32.const 7)))))\n",
        );
        if number % 3 == 0 {
            text.push_str("      (local.set $sum (i32.add (local.get $sum) (call_indirect $callee (type $work) (local.get $i) (global.get $which))))\n");
        }
        for piece in 0..pieces {
            let offset = (number * 64 + piece * 4) % 60_000;
            writeln!(
                text,
                "      (local.set $sum (select (i32.add (local.get $sum) (i32.load offset={offset} (i32.and (local.get $sum) (i32.const 0xfffc))))
        (i32.xor (local.get $sum) (local.get $i)) (i32.and (i32.add (local.get 0) (local.get $i)) (i32.const 3))))"
            )
            .expect("a string takes everything");
        }
        text.push_str("      (br_if $again (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))\n    (local.get $sum))\n");
    }
    writeln!(text, "  (table $all funcref (elem {}))", (0..FUNCTIONS).map(|number| format!("$f{number} ")).collect::<String>())
        .expect("a string takes everything");
    write!(
        text,
        r#"  (func (export "run") (param $rounds i32) (result i32) (local $seed i32) (local $at i32) (local $sum i32)
    (local.set $seed (i32.const 12345))
    (loop $again
      (local.set $seed (i32.add (i32.mul (local.get $seed) (i32.const 1664525)) (i32.const 1013904223)))
      ;; The product of two random numbers: low indices come often.
      (local.set $at (i32.shr_u (i32.mul (i32.shr_u (local.get $seed) (i32.const 20)) (i32.and (i32.shr_u (local.get $seed) (i32.const 4)) (i32.const 0xfff))) (i32.const 12)))
      (local.set $at (i32.shr_u (i32.mul (local.get $at) (i32.const {FUNCTIONS})) (i32.const 12)))
      (local.set $sum (i32.add (local.get $sum) (call_indirect $all (type $work) (local.get $seed) (local.get $at))))
      (if (i32.eqz (call $now)) (then (return (local.get $sum))))
      (br_if $again (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1)))))
    ;; The next call through the table finds another function there.
    (global.set $which (i32.and (i32.add (global.get $which) (i32.const 1)) (i32.const 3)))
    (local.get $sum)))"#
    )
    .expect("a string takes everything");
    text
}

fn in_engine(row: Row, seconds: f64) -> Result<Measured> {
    let mut config = Config::new();
    match row {
        Row::NoFeedback => _ = config.feedback(FeedbackPolicy::Off),
        Row::Interpreter => _ = config.tier(TierPolicy::Interpreter),
        Row::Backedge | Row::Native => {}
    }
    config.machine().timeline = true;
    let engine = Engine::new(&config)?;
    let module = Module::new(&engine, guest())?;
    let mut linker = Linker::new(&engine);
    linker.func_wrap("clock", "now", |mut caller: Caller<'_, Clock>| i32::from(caller.data_mut().read()))?;
    let mut store = Store::new(&engine, Clock::new());
    let instance = linker.instantiate(&mut store, &module)?;
    let run = instance.get_typed_func::<i32, i32>(&mut store, "run")?;
    store.data_mut().start(Duration::from_secs_f64(seconds));
    while Instant::now() < store.data().until {
        run.call(&mut store, ROUNDS)?;
    }
    let mut measured = Measured::new(row, store.data());
    let guest_thread = std::thread::current().name().context("the guest's thread has a name")?.to_owned();
    let report = module.report();
    for moment in &report.timeline {
        if let What::Compiled { tier, interpreted, .. } = &moment.what {
            let at = match tier {
                Tier::Baseline => 0,
                Tier::Instrumented => 1,
                Tier::Optimizing => 2,
            };
            measured.versions[at] += 1;
            measured.compiled_by_guest += usize::from(moment.thread == guest_thread && !interpreted);
        }
    }
    measured.switches = report.switches;
    measured.side_exits = report.side_exits;
    measured.trials = report.trials.len();
    measured.bursts = report.bursts.branch_bursts + report.bursts.load_bursts + report.bursts.count_bursts;
    Ok(measured)
}

/// A microsecond of work between reads, by no engine.
fn native(seconds: f64) -> Measured {
    let mut clock = Clock::new();
    clock.start(Duration::from_secs_f64(seconds));
    let mut seed = 12345u32;
    loop {
        for _ in 0..400 {
            seed = std::hint::black_box(seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        }
        if !clock.read() {
            return Measured::new(Row::Native, &clock);
        }
    }
}

/// Runs the rows in turn, each on a thread of its own.
pub fn run(options: &Stalls) -> Result<i32, Failure> {
    let mut all = Vec::new();
    for _ in 0..options.runs {
        for row in ROWS {
            let guest = std::thread::Builder::new().name("guest".into()).stack_size(16 << 20);
            let seconds = options.seconds;
            let guest = guest.spawn(move || if row == Row::Native { Ok(native(seconds)) } else { in_engine(row, seconds) });
            let guest = guest.map_err(|error| Failure::Load(format!("cannot start the guest's thread: {error}")))?;
            let measured = guest.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            all.push(measured.map_err(super::load)?);
        }
    }
    match options.json {
        true => super::say(&format!("{}\n", serde_json::to_string_pretty(&all).map_err(|error| super::load(error.into()))?)),
        false => super::say(&table(&all)),
    }
    Ok(0)
}

fn micros(ns: u64) -> String {
    format!("{:.1}", ns as f64 / 1e3)
}

/// A line a run, rows together.
fn table(all: &[Measured]) -> String {
    let mut text =
        String::from("times between two reads of the clock, µs; a stall is more than 10 µs that may be ours; see `docs/src/tiers.md`\n\n");
    let head = ["row", "reads", "p50", "p99", "p99.99", "longest", "ours", "stalls", "p99 of them", "waited", "longest", "preempted"];
    _ = writeln!(
        text,
        "{:<22} {:>9} {:>7} {:>7} {:>8} {:>9} {:>9} {:>7} {:>12} {:>7} {:>8} {:>9}",
        head[0], head[1], head[2], head[3], head[4], head[5], head[6], head[7], head[8], head[9], head[10], head[11]
    );
    for row in ROWS {
        for it in all.iter().filter(|it| it.row == row) {
            _ = writeln!(
                text,
                "{:<22} {:>9} {:>7} {:>7} {:>8} {:>9} {:>9} {:>7} {:>12} {:>7} {:>8} {:>9}",
                row.name(),
                it.reads,
                micros(it.p50_ns),
                micros(it.p99_ns),
                micros(it.p9999_ns),
                micros(it.longest_ns),
                micros(it.longest_charged_ns),
                it.stalls,
                micros(it.stalls_p99_ns),
                it.waited,
                micros(it.longest_waited_ns),
                it.preempted,
            );
        }
    }
    text.push('\n');
    for it in all.iter().filter(|it| it.versions != [0; 3]) {
        let [baseline, instrumented, optimizing] = it.versions;
        _ = writeln!(
            text,
            "{}: {baseline} baseline, {optimizing} optimizing, {instrumented} instrumented versions ({} compiled by the guest's thread), {} switches at loop headers, {} side exits, {} trials, {} bursts",
            it.row.name(),
            it.compiled_by_guest,
            it.switches,
            it.side_exits,
            it.trials,
            it.bursts
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{longest_of, step};

    #[test]
    fn lengths_fall_into_steps_of_an_eighth() {
        for ns in [8, 9, 15, 16, 17, 1000, 12_345, 2_000_000, u64::MAX / 4] {
            let longest = longest_of(step(ns));
            assert!(longest >= ns && longest <= ns + ns / 8, "{ns}: {longest}");
            assert_eq!(step(longest), step(ns));
        }
    }
}
