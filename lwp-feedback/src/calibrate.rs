//! Where this machine's loads come from, told by their time: the latency plateaus of its caches and of its memory.
//!
//! A load between fences is timed with the time stamp counter; what comes out is not the load's latency but that plus a constant, and
//! steps of the counter, so nothing is compared with a data sheet: the plateaus are measured here, by the same sequence that bursts
//! use ([`timed_load`]), on chains of pointers that lie in L1, in L2, in L3, and in no cache (flushed line by line). Between two
//! plateaus lies a threshold.
//!
//! What cannot be told: L1 from L2, where the counter's step is as long as their difference (26 ticks of 10 ns in all here). So what counts
//! as a DCache miss is a load above the L2 plateau.

use std::arch::asm;
use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// Bytes of a cache line.
const LINE: usize = 64;
/// Working sets that lie in L1 and in L2 of every x86-64 in use, and one that exceeds any L2 by more than it keeps.
const L1_BYTES: usize = 16 << 10;
const L2_BYTES: usize = 192 << 10;
const L3_BYTES: usize = 5 << 20;
/// Loads timed on each plateau.
const SAMPLES: usize = 400;

/// The plateaus, and what follows from them. Ticks of the time stamp counter, overhead of the fences included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plateaus {
    /// Median of a load that hits L1.
    pub l1: u32,
    /// Median of a load that hits L2.
    pub l2: u32,
    /// Median of a load that hits L3.
    pub l3: u32,
    /// Median of a load from memory.
    pub dram: u32,
    /// Step of the counter: the smallest difference seen.
    pub step: u32,
    /// A load is eligible as a DCache miss above this.
    pub miss_above: u32,
    /// A miss came from memory above this, otherwise from L3.
    pub dram_above: u32,
    /// L3 and memory could be told apart; otherwise misses have source 0.
    pub sources_known: bool,
}

impl Plateaus {
    /// SRC of a load that took `ticks`, or `None` where it is no miss: 1 L3, 3 memory, 0 unknown.
    pub fn source(&self, ticks: u32) -> Option<u8> {
        match ticks {
            ticks if ticks <= self.miss_above => None,
            _ if !self.sources_known => Some(0),
            ticks if ticks <= self.dram_above => Some(1),
            _ => Some(3),
        }
    }

    fn from_medians(l1: u32, l2: u32, l3: u32, dram: u32, step: u32) -> Plateaus {
        let near = l1.max(l2);
        let step = step.max(1);
        // Half a step above the near plateau at least: its own jitter is no miss.
        let miss_above = if l3 > near + step { (near + l3) / 2 } else { near + step };
        // The plateaus differ by factors, so their geometric mean lies in the middle.
        let between = (f64::from(l3.max(near)) * f64::from(dram)).sqrt() as u32;
        let sources_known = dram > l3 + l3 / 2 && l3 >= near;
        Plateaus { l1, l2, l3, dram, step, miss_above, dram_above: between.max(miss_above), sources_known }
    }
}

impl fmt::Display for Plateaus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plateaus { l1, l2, l3, dram, step, miss_above, dram_above, sources_known } = self;
        write!(f, "a timed load takes, in ticks (step {step}): L1 {l1}, L2 {l2}, L3 {l3}, memory {dram}; ")?;
        write!(f, "a miss takes more than {miss_above} (L1 and L2 are not told apart), ")?;
        if *sources_known { write!(f, "one from memory more than {dram_above}") } else { write!(f, "L3 and memory cannot be told apart") }
    }
}

/// Ticks that a load of the byte at `at` takes, between fences. Every load before it is complete, none behind it has begun. Bursts time their loads with
/// the same instructions.
///
/// # Safety
/// `at` is readable.
#[inline(never)]
pub unsafe fn timed_load(at: *const u8) -> u32 {
    let ticks: u32;
    // SAFETY: the caller's promise; no memory is written.
    unsafe {
        asm!(
            "lfence",
            "rdtsc",
            "lfence",
            "mov {start:e}, eax",
            "movzx {value:e}, byte ptr [{at}]",
            "lfence",
            "rdtsc",
            "sub eax, {start:e}",
            at = in(reg) at,
            start = out(reg) _,
            value = out(reg) _,
            out("eax") ticks,
            out("edx") _,
            options(nostack, readonly),
        );
    }
    ticks
}

/// A cycle through all lines of a buffer in random order: word 0 of each line holds the index of the next.
struct Chain {
    words: Vec<u64>,
}

impl Chain {
    fn new(bytes: usize, random: &mut impl FnMut() -> u64) -> Chain {
        let lines = bytes / LINE;
        let mut words = vec![0u64; bytes / 8];
        // Sattolo's algorithm: one cycle through all.
        let mut order: Vec<u32> = (0..lines as u32).collect();
        for last in (1..lines).rev() {
            order.swap(last, (random() % last as u64) as usize);
        }
        for pair in 0..lines {
            words[order[pair] as usize * 8] = u64::from(order[(pair + 1) % lines]);
        }
        Chain { words }
    }

    fn line(&self, index: u64) -> *const u8 {
        (&raw const self.words[index as usize * 8]).cast()
    }

    /// Times of `count` loads along the chain, after `rounds` of it have been walked; `flush` takes each line out of all caches first.
    fn times(&self, rounds: usize, count: usize, flush: bool) -> Vec<u32> {
        let lines = self.words.len() / 8;
        let mut at = 0u64;
        for _ in 0..rounds * lines {
            at = std::hint::black_box(self.words[at as usize * 8]);
        }
        (0..count)
            .map(|_| {
                let place = self.line(at);
                if flush {
                    // SAFETY: CLFLUSH of a readable line; every x86-64 has it.
                    unsafe {
                        std::arch::x86_64::_mm_clflush(place);
                        std::arch::x86_64::_mm_mfence();
                    }
                }
                // SAFETY: `line` points into `words`.
                let ticks = unsafe { timed_load(place) };
                at = self.words[at as usize * 8];
                ticks
            })
            .collect()
    }
}

fn median(mut times: Vec<u32>) -> u32 {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Measures; some milliseconds.
pub fn measure() -> Plateaus {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let near = Chain::new(L1_BYTES, &mut random);
    let l1 = near.times(8, SAMPLES, false);
    let l2 = Chain::new(L2_BYTES, &mut random).times(4, SAMPLES, false);
    let l3 = Chain::new(L3_BYTES, &mut random).times(1, SAMPLES, false);
    let dram = near.times(1, SAMPLES, true);
    let mut seen: Vec<u32> = l1.iter().chain(&l2).chain(&l3).copied().collect();
    seen.sort_unstable();
    let step = seen.windows(2).map(|pair| pair[1] - pair[0]).filter(|&difference| difference > 0).min().unwrap_or(1);
    Plateaus::from_medians(median(l1), median(l2), median(l3), median(dram), step)
}

/// This machine's plateaus, measured at first use.
pub fn plateaus() -> &'static Plateaus {
    static PLATEAUS: OnceLock<Plateaus> = OnceLock::new();
    PLATEAUS.get_or_init(measure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_lie_between_the_plateaus() {
        let plateaus = Plateaus::from_medians(52, 52, 91, 450, 26);
        assert_eq!(plateaus.source(52), None);
        assert_eq!(plateaus.source(78), Some(1));
        assert_eq!(plateaus.source(104), Some(1));
        assert_eq!(plateaus.source(390), Some(3));
        let blurred = Plateaus::from_medians(52, 52, 52, 60, 26);
        assert_eq!(blurred.source(78), None);
        assert_eq!(blurred.source(104), Some(0));
    }

    #[test]
    fn this_machine_has_plateaus() {
        let plateaus = measure();
        assert!(plateaus.dram > plateaus.l1, "{plateaus}");
        assert!(plateaus.miss_above >= plateaus.l1, "{plateaus}");
    }

    #[test]
    fn a_chain_visits_every_line_once() {
        let mut next = 0u64;
        let chain = Chain::new(64 * LINE, &mut || {
            next += 7;
            next
        });
        let (mut at, mut visited) = (0, 0);
        loop {
            at = chain.words[at as usize * 8];
            visited += 1;
            if at == 0 {
                break;
            }
        }
        assert_eq!(visited, 64);
    }
}
