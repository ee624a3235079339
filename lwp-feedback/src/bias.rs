//! What fences do to what they measure: loads timed one by one, beside the same loads as a program does them.
//!
//! Bursts time a load between fences ([`crate::calibrate`]). Two things are then other than in the program: nothing overlaps, so a latency is not the time
//! that the load costs; and the hardware prefetcher has more time between two loads, so what it fetches ahead misses less. Here both are measured, for patterns
//! from a chain of pointers (where a program waits for each load as well) to consecutive words.
//!
//! Out: [`Bias`], a row a pattern. Nothing is known of caches but what the times say.

use std::fmt;
use std::hint::black_box;
use std::time::Instant;

use serde::Serialize;

use crate::calibrate::{Plateaus, plateaus, timed_load};
use crate::ring::time_stamp;

/// Bytes that the patterns go over: more than any last cache has for one core.
const FAR: usize = 256 << 20;
/// The same where every load hits.
const NEAR: usize = 16 << 10;
/// Loads of a round as a program does them, and rounds, of which the fastest counts.
const LOADS: usize = 1 << 20;
const ROUNDS: usize = 3;
/// Loads timed one by one.
const TIMED: usize = 4000;

/// A pattern of loads.
#[derive(Clone, Copy)]
enum Pattern {
    /// Each load's value is the next one's place, at random.
    Chain,
    /// At random, all places known beforehand.
    Gather,
    /// So many bytes apart.
    Stride(usize),
}

const PATTERNS: [(&str, Pattern); 6] = [
    ("chain of pointers", Pattern::Chain),
    ("gather", Pattern::Gather),
    ("every word", Pattern::Stride(8)),
    ("every line", Pattern::Stride(64)),
    ("every 4th line", Pattern::Stride(256)),
    ("every page", Pattern::Stride(4096)),
];

/// One pattern.
#[derive(Clone, Debug, Serialize)]
pub struct PatternBias {
    /// Its name.
    pub pattern: &'static str,
    /// Of loads between fences: share that missed the near caches, and that came from memory, percent.
    pub missed_percent: f64,
    /// See `missed_percent`.
    pub memory_percent: f64,
    /// Median time of those that missed over the time of a hit, nanoseconds; 0 where none missed.
    pub latency_ns: f64,
    /// What a load costs the program beyond one that hits, nanoseconds.
    pub cost_ns: f64,
    /// Misses times latency over that cost: how many times too long a latency is as a stall. Absent where the cost is less than can be measured.
    pub overstated: Option<f64>,
}

/// All patterns, on this machine now.
#[derive(Clone, Debug, Serialize)]
pub struct Bias {
    /// What the times are compared with.
    pub plateaus: Plateaus,
    /// The patterns.
    pub patterns: Vec<PatternBias>,
}

/// Least cost of a load that is told from none, nanoseconds.
const LEAST_COST_NS: f64 = 0.05;

/// Places by a pattern, in words of a buffer whose length is a power of two.
struct Walk {
    pattern: Pattern,
    mask: usize,
    at: usize,
    random: u64,
}

impl Walk {
    fn new(pattern: Pattern, words: usize) -> Walk {
        Walk { pattern, mask: words - 1, at: 0, random: 0x9E37_79B9_7F4A_7C15 }
    }

    /// The place behind one whose load gave `value`.
    #[inline(always)]
    fn next(&mut self, value: u64) -> usize {
        self.at = match self.pattern {
            Pattern::Chain => value as usize,
            Pattern::Gather => {
                self.random ^= self.random << 13;
                self.random ^= self.random >> 7;
                self.random ^= self.random << 17;
                self.random as usize
            }
            Pattern::Stride(bytes) => self.at + bytes / 8,
        } & self.mask;
        self.at
    }
}

/// A buffer whose words are at once values and, read one after the other, a walk through all lines: `i * odd + odd` modulo the length is one cycle where
/// the factor is 1 modulo 4 (Hull and Dobell 1962), and scattered.
fn buffer(bytes: usize) -> Vec<u64> {
    let lines = bytes / 64;
    let factor = 0x9E37_79B5_usize; // 1 modulo 4
    (0..bytes / 8).map(|word| ((word / 8 * factor + 0x85EB_CA6B) % lines * 8) as u64).collect()
}

/// CPU time of this thread, nanoseconds: what others on the processor take meanwhile is no cost of loads.
fn cpu_ns() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one `timespec`.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Nanoseconds a load, as a program does them.
fn program_ns(words: &[u64], pattern: Pattern) -> f64 {
    let mut walk = Walk::new(pattern, words.len());
    let rounds = (0..ROUNDS).map(|_| {
        let began = cpu_ns();
        let (mut sum, mut value) = (0u64, words[walk.at]);
        for _ in 0..LOADS {
            value = words[walk.next(value)];
            sum = sum.wrapping_add(value);
        }
        black_box(sum);
        (cpu_ns() - began) / LOADS as f64
    });
    rounds.fold(f64::INFINITY, f64::min)
}

/// Ticks of loads one by one.
fn timed(words: &[u64], pattern: Pattern) -> Vec<u32> {
    // Far from where the program's walk has ended.
    let mut walk = Walk::new(pattern, words.len());
    walk.at = words.len() / 2;
    walk.random ^= 0x5555_5555;
    let mut value = words[walk.at];
    (0..TIMED)
        .map(|_| {
            let place = &words[walk.next(value)];
            // SAFETY: a reference to a word is readable.
            let ticks = unsafe { timed_load(std::ptr::from_ref(place).cast()) };
            value = *place;
            ticks
        })
        .collect()
}

fn ns_per_tick() -> f64 {
    let (began, ticks) = (Instant::now(), time_stamp());
    while began.elapsed().as_millis() < 5 {
        std::hint::spin_loop();
    }
    began.elapsed().as_nanos() as f64 / time_stamp().saturating_sub(ticks).max(1) as f64
}

/// Measures all patterns; about two seconds.
pub fn measure() -> Bias {
    let plateaus = *plateaus();
    let per_tick = ns_per_tick();
    let (near, far) = (buffer(NEAR), buffer(FAR));
    let patterns = PATTERNS.map(|(name, pattern)| {
        let cost_ns = program_ns(&far, pattern) - program_ns(&near, pattern);
        let times = timed(&far, pattern);
        let mut missed: Vec<u32> = times.iter().copied().filter(|&ticks| plateaus.source(ticks).is_some()).collect();
        let share = |count: usize| count as f64 / times.len() as f64;
        let from_memory = missed.iter().filter(|&&ticks| plateaus.source(ticks) == Some(3)).count();
        let over_hit = |ticks: u32| f64::from(ticks.saturating_sub(plateaus.l1)) * per_tick;
        missed.sort_unstable();
        let latency_ns = missed.get(missed.len() / 2).map_or(0.0, |&ticks| over_hit(ticks));
        let overstated = (cost_ns >= LEAST_COST_NS).then(|| share(missed.len()) * latency_ns / cost_ns);
        PatternBias {
            pattern: name,
            missed_percent: share(missed.len()) * 100.0,
            memory_percent: share(from_memory) * 100.0,
            latency_ns,
            cost_ns,
            overstated,
        }
    });
    Bias { plateaus, patterns: patterns.into() }
}

impl fmt::Display for Bias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.plateaus)?;
        writeln!(f, "                   | loads between fences            | in the program")?;
        writeln!(f, "over {} MiB       | missed   from memory  latency   | cost of a load  latency/cost", FAR >> 20)?;
        for row in &self.patterns {
            let times = row.overstated.map_or("-".to_owned(), |times| format!("{times:.1}"));
            writeln!(
                f,
                "{:<18} | {:5.1} %  {:9.1} %  {:5.0} ns  | {:11.2} ns  {times:>12}",
                row.pattern, row.missed_percent, row.memory_percent, row.latency_ns, row.cost_ns
            )?;
        }
        write!(
            f,
            "latency/cost: misses times their latency over what they cost; 1 where the program waits for each load, more where loads overlap"
        )?;
        writeln!(f, " or are fetched ahead, less where the fences give the prefetcher time")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_goes_through_every_line() {
        let words = buffer(NEAR);
        let (mut at, mut seen) = (0, 0);
        loop {
            at = words[at] as usize;
            seen += 1;
            if at == 0 || seen > words.len() {
                break;
            }
        }
        assert_eq!(seen, NEAR / 64);
    }

    #[test]
    fn walks_stay_inside() {
        for (_, pattern) in PATTERNS {
            let mut walk = Walk::new(pattern, 1024);
            assert!((0..5000u64).all(|value| walk.next(value * 77) < 1024));
        }
    }
}
