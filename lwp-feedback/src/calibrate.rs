//! Where this machine's loads come from, told by their time: the latency plateaus of its caches and of its memory.
//!
//! A load between fences is timed with the time stamp counter; what comes out is not the load's latency but that plus a constant, and
//! steps of the counter, so nothing is compared with a data sheet: the plateaus are measured here, by the same sequence that bursts
//! use ([`timed_load`]), on chains of pointers that lie in L1, in L2, in L3, and in no cache (flushed line by line). Between two
//! plateaus lies a threshold.
//!
//! A busy machine raises plateaus, so far that L3 and memory may look alike. Such a calibration is no answer: it is repeated later, a few times ([`plateaus`]), and of all tries each plateau's lowest counts.
//!
//! What cannot be told: L1 from L2, which lie closer than the counter's step (26 ticks, 10 ns, here: L1 50, L2 57, L3 81, memory 370). So what counts as
//! a DCache miss is a load above the L2 plateau. One load's time is known to a step only, so some hits of L2 look like L3 (a fifth here) and some of
//! L3 like L2 (a fifteenth); L1 and memory are clear of both.

use std::arch::asm;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::monitor::stats::thread_cpu_ns;

/// Bytes of a cache line.
const LINE: usize = 64;
/// Working sets that lie in L1 and in L2 of every x86-64 in use.
const L1_BYTES: usize = 16 << 10;
const L2_BYTES: usize = 192 << 10;
/// One that exceeds L2 by more than it keeps: so many times its size, within these bounds (where the system does not say the size: the larger one). No larger than it
/// must be: on a busy machine others push out of L3 what was not touched for a millisecond, and a walk through more takes longer than that.
const TIMES_L2: usize = 2;
const L3_BYTES: std::ops::RangeInclusive<usize> = 2 << 20..=6 << 20;
/// Which of the times of loads from L1 its plateau is the mean of: what others do makes the others longer.
const L1_SIXTHS: std::ops::Range<usize> = 0..3;
/// Loads timed on each plateau.
const SAMPLES: usize = 400;
/// Chains from this size on lie in huge pages, as guests' memories do (a guess between the chain for L3 and one through memory): a load's time there is not to hold walks of the page table
/// that a guest's loads do not make (256 MiB on Zen 4: 550 to 860 ticks without, 440 to 480 with them and in guests).
const HUGE_FROM: usize = 32 << 20;

/// The plateaus, and what follows from them. Ticks of the time stamp counter, overhead of the fences included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plateaus {
    /// Typical time of loads that hit L1.
    pub l1: u32,
    /// Typical time of loads that hit L2.
    pub l2: u32,
    /// Typical time of loads that hit L3.
    pub l3: u32,
    /// Typical time of loads from memory.
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

    /// Whether hits, L3 and memory are told apart: by more than a step of the counter, and by half the time again.
    pub fn separable(&self) -> bool {
        self.sources_known && self.l3 > self.l1.max(self.l2) + self.step / 2
    }

    fn from_means(l1: u32, l2: u32, l3: u32, dram: u32, step: u32, hits: u32) -> Plateaus {
        let near = l1.max(l2);
        let step = step.max(1);
        // Where the plateaus cannot be told apart, what is clearly above them. Where a hit takes now one step of the counter and now the next, the longer one is no miss,
        // also where L3 was found no slower.
        let between = if l3 > near + step / 2 { (near + l3) / 2 } else { near + step };
        let miss_above = between.max(hits);
        // The plateaus differ by factors, so their geometric mean lies in the middle.
        let far = l3.max(near + step);
        let between = (f64::from(far) * f64::from(dram)).sqrt() as u32;
        let sources_known = dram > far + far / 2;
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
    /// The lines in the order of the cycle, for walking it without waiting for one load before the next.
    order: Vec<u32>,
}

impl Chain {
    fn new(bytes: usize, random: &mut impl FnMut() -> u64) -> Chain {
        let lines = bytes / LINE;
        let mut words = vec![0u64; bytes / 8];
        if bytes >= HUGE_FROM {
            let page = words.as_mut_ptr().cast::<u8>();
            let skipped = page.align_offset(4096);
            // SAFETY: advice on whole pages inside `words`; it changes no contents. Refused, the pages are small.
            unsafe { libc::madvise(page.add(skipped).cast(), (bytes - skipped) & !4095, libc::MADV_HUGEPAGE) };
        }
        // Sattolo's algorithm: one cycle through all.
        let mut order: Vec<u32> = (0..lines as u32).collect();
        for last in (1..lines).rev() {
            order.swap(last, (random() % last as u64) as usize);
        }
        for pair in 0..lines {
            words[order[pair] as usize * 8] = u64::from(order[(pair + 1) % lines]);
        }
        Chain { words, order }
    }

    fn line(&self, index: u64) -> *const u8 {
        (&raw const self.words[index as usize * 8]).cast()
    }

    /// Times of `count` loads along the chain, in ascending order, after `rounds` of it have been walked; `flush` takes each line out of all caches first.
    fn times(&self, rounds: usize, count: usize, flush: bool) -> Vec<u32> {
        self.times_from(&mut 0, rounds, count, flush)
    }

    /// The same from a place in the cycle on, which is moved along.
    fn times_from(&self, from: &mut usize, rounds: usize, count: usize, flush: bool) -> Vec<u32> {
        let (before, behind) = self.order.split_at(*from);
        for _ in 0..rounds {
            // Many at a time: of lines that others pushed out, one after the other took 20 ms on a busy machine.
            behind.iter().chain(before).for_each(|&line| _ = std::hint::black_box(self.words[line as usize * 8]));
        }
        let mut at = u64::from(self.order[*from]);
        *from = (*from + count) % self.order.len();
        let mut times: Vec<u32> = (0..count)
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
            .collect();
        times.sort_unstable();
        times
    }
}

/// Mean of the times, which are in ascending order, from one sixth to another of them. A mean tells plateaus apart that lie within one step of the counter, because where in a
/// step a load begins is random; and what others do to the caches meanwhile (the other half of this core may run the guest) is left out.
fn plateau(times: &[u32], sixths: std::ops::Range<usize>) -> u32 {
    let kept = &times[times.len() * sixths.start / 6..times.len() * sixths.end / 6];
    (kept.iter().map(|&ticks| u64::from(ticks)).sum::<u64>() / kept.len().max(1) as u64) as u32
}

fn generator() -> impl FnMut() -> u64 {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Times of `count` loads along a chain through `bytes` bytes that was walked once before, ticks, in ascending order. For comparing with what bursts say.
pub fn chase(bytes: usize, count: usize) -> Vec<u32> {
    Chain::new(bytes, &mut generator()).times(1, count, false)
}

/// Bytes of the working set that is to lie in L3.
fn l3_bytes() -> usize {
    // SAFETY: no preconditions.
    let l2 = unsafe { libc::sysconf(libc::_SC_LEVEL2_CACHE_SIZE) };
    let wanted = usize::try_from(l2).ok().filter(|&l2| l2 > 0).map_or(*L3_BYTES.end(), |l2| TIMES_L2 * l2);
    wanted.clamp(*L3_BYTES.start(), *L3_BYTES.end()) / LINE * LINE
}

/// What one measurement says: the lowest of three tries of each plateau (L1, L2, L3, memory), and the smallest difference of two times. Ticks.
#[derive(Clone, Copy, Debug)]
struct Means {
    lowest: [u32; 4],
    step: u32,
    /// What 98 of 100 loads that hit L1 take at most, in the quietest try.
    hits: u32,
}

impl Means {
    /// Others on the machine only ever make a load slower.
    fn lower(self, other: Means) -> Means {
        let lowest = std::array::from_fn(|nth| self.lowest[nth].min(other.lowest[nth]));
        Means { lowest, step: self.step.min(other.step), hits: self.hits.min(other.hits) }
    }

    fn plateaus(self) -> Plateaus {
        let [l1, l2, l3, dram] = self.lowest;
        Plateaus::from_means(l1, l2, l3, dram, self.step, self.hits)
    }
}

/// What is walked to measure.
struct Chains {
    near: Chain,
    middle: Chain,
    far: Chain,
}

impl Chains {
    fn new() -> Chains {
        let mut random = generator();
        Chains {
            near: Chain::new(L1_BYTES, &mut random),
            middle: Chain::new(L2_BYTES, &mut random),
            far: Chain::new(l3_bytes(), &mut random),
        }
    }
}

/// Of three tries at L1: the lowest mean, and what 98 of 100 loads take at most in the quietest.
fn measure_hits(near: &Chain) -> (u32, u32) {
    let tries = std::array::from_fn::<_, 3, _>(|_| near.times(4, SAMPLES, false));
    tries.iter().fold((u32::MAX, u32::MAX), |(mean, most), times| (mean.min(plateau(times, L1_SIXTHS)), most.min(nearly_all(times))))
}

/// What 98 of 100 of the times, which are in ascending order, are at most.
fn nearly_all(times: &[u32]) -> u32 {
    times[times.len() * 98 / 100]
}

fn means(chains: &Chains) -> Means {
    let Chains { near, middle, far } = chains;
    let mut lowest = [u32::MAX; 4];
    let mut hits = u32::MAX;
    let mut seen = Vec::new();
    let mut far_at = 0;
    for _ in 0..3 {
        // Walked once: what the tries time one after the other was last touched a whole round ago. Again where others have pushed it out meanwhile.
        let rounds = usize::from(lowest[2] > lowest[3] / 2);
        let tries = [
            near.times(4, SAMPLES, false),
            middle.times(2, SAMPLES, false),
            far.times_from(&mut far_at, rounds, SAMPLES, false),
            near.times(1, SAMPLES / 2, true),
        ];
        // L1 and L2 are what the fastest loads say; for L3, whose lines others push out and whose neighbours are in L2, the middle.
        for ((lowest, times), sixths) in lowest.iter_mut().zip(&tries).zip([L1_SIXTHS, 0..3, 2..4, 2..4]) {
            *lowest = (*lowest).min(plateau(times, sixths));
        }
        hits = hits.min(nearly_all(&tries[0]));
        seen.extend(tries.into_iter().flatten());
    }
    seen.sort_unstable();
    let step = seen.windows(2).map(|pair| pair[1] - pair[0]).filter(|&difference| difference > 0).min().unwrap_or(1);
    Means { lowest, step, hits }
}

/// Measurements in a row while the plateaus cannot be told apart. One takes up to 50 ms of a guest's processor (three in a row, and again after a second, were a tenth
/// of a run of 2.5 s), so there is no second one at once.
const TRIES_AT_ONCE: u32 = 1;
/// When it is tried again after those, and how often the wait doubles: 10, 20, 40 s, at most half a percent of a processor. Then this machine has no plateaus that
/// differ.
const FIRST_WAIT: Duration = Duration::from_secs(10);
const MOST_WAITS: u32 = 3;
/// How often it is looked whether L1 still takes what it took. A processor's clock changes, the time stamp counter's does not: within minutes, L1 took 59 to 75 ticks on a Zen 1,
/// and what was known said that all hits had missed. A look takes 0.1 ms.
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// Most answers of one process that are told apart.
const MOST_ANSWERS: usize = 64;

/// The measurements of a process: what they say together, and when to measure again.
#[derive(Debug, Default)]
struct Calibration {
    means: Option<Means>,
    /// Rounds of [`TRIES_AT_ONCE`] that did not tell the plateaus apart.
    failed: u32,
    again: Option<Instant>,
    /// When L1 was measured last.
    checked: Option<Instant>,
    /// What it said; leaked, for who reads it does not wait; [`MOST_ANSWERS`] of them at most.
    answers: Vec<&'static Plateaus>,
}

impl Calibration {
    /// Whether it is time to measure: never was, or what was measured is no answer and the wait is over.
    fn is_due(&self, now: Instant) -> bool {
        self.means.is_none() || self.again.is_some_and(|again| now >= again)
    }

    /// Whether it is time to look at L1 again.
    fn is_to_be_checked(&self, now: Instant) -> bool {
        self.checked.is_some_and(|checked| now.saturating_duration_since(checked) >= CHECK_EVERY)
    }

    /// Whether there is anything to measure.
    fn is_wanted(&self, now: Instant) -> bool {
        self.is_due(now) || self.is_to_be_checked(now)
    }

    /// What the plateaus are while L1 takes `l1` ticks and 98 of 100 of its hits at most `hits`. All shift alike: of what a load takes between fences most is theirs, and the
    /// rest of what differs is less than a step of the counter (59, 60, 80, 226 and 75, 86, 100, 252 were measured for the four). `None` where nothing was measured.
    fn check(&mut self, now: Instant, l1: u32, hits: u32) -> Option<Plateaus> {
        self.checked = Some(now);
        let Means { lowest, step, .. } = self.means?;
        let unit = (step / 4).max(1) as i32;
        let shift = (l1 as i32 - lowest[0] as i32) / unit * unit;
        let lowest = lowest.map(|ticks| ticks.saturating_add_signed(shift));
        Some(Means { lowest, step, hits }.plateaus())
    }

    /// Measures, at most [`TRIES_AT_ONCE`] times. What all measurements so far say.
    fn measure(&mut self, now: Instant, mut once: impl FnMut() -> Means) -> Plateaus {
        let mut tries = 0;
        self.checked = Some(now);
        loop {
            let means = once();
            let all = self.means.map_or(means, |before| before.lower(means));
            self.means = Some(all);
            tries += 1;
            let plateaus = all.plateaus();
            if plateaus.separable() {
                self.again = None;
                return plateaus;
            }
            if tries == TRIES_AT_ONCE {
                self.again = (self.failed < MOST_WAITS).then(|| now + FIRST_WAIT * (1 << self.failed));
                self.failed += 1;
                return plateaus;
            }
        }
    }
}

static CALIBRATION: Mutex<Calibration> =
    Mutex::new(Calibration { means: None, failed: 0, again: None, checked: None, answers: Vec::new() });
/// The latest answer.
static PLATEAUS: AtomicPtr<Plateaus> = AtomicPtr::new(std::ptr::null_mut());

/// Whether a thread of [`request_plateaus`] measures.
static MEASURING: AtomicBool = AtomicBool::new(false);
/// CPU time of all measurements, ns.
static COST_NS: AtomicU64 = AtomicU64::new(0);

/// This machine's plateaus: measured at first use, and again at a later call where they could not be told apart and some time has gone by. They follow what L1 takes
/// ([`CHECK_EVERY`]). Otherwise it costs a lock.
pub fn plateaus() -> &'static Plateaus {
    let mut calibration = CALIBRATION.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    if let Some(known) = known_plateaus().filter(|_| !calibration.is_wanted(now)) {
        return known;
    }
    let before = thread_cpu_ns();
    let mut measured = None;
    if !calibration.is_due(now) {
        let (l1, hits) = measure_hits(&Chain::new(L1_BYTES, &mut generator()));
        measured = calibration.check(now, l1, hits);
    }
    let measured = measured.unwrap_or_else(|| {
        let chains = Chains::new();
        calibration.measure(now, || means(&chains))
    });
    COST_NS.fetch_add(thread_cpu_ns().saturating_sub(before), Ordering::Relaxed);
    let answers = &mut calibration.answers;
    let said = answers.iter().copied().find(|answer| **answer == measured);
    let answer = said.or_else(|| known_plateaus().filter(|_| answers.len() >= MOST_ANSWERS)).unwrap_or_else(|| {
        let answer: &'static Plateaus = Box::leak(Box::new(measured));
        answers.push(answer);
        answer
    });
    PLATEAUS.store(std::ptr::from_ref(answer).cast_mut(), Ordering::Release);
    answer
}

/// The plateaus as known so far; where a measurement is due it is made by a thread of its own, for it takes some ten milliseconds.
pub fn request_plateaus() -> Option<&'static Plateaus> {
    // Whoever holds the lock measures.
    let due = CALIBRATION.try_lock().is_ok_and(|calibration| calibration.is_wanted(Instant::now()));
    if due && !MEASURING.swap(true, Ordering::AcqRel) {
        let measure = || {
            plateaus();
            MEASURING.store(false, Ordering::Release);
        };
        if let Err(error) = std::thread::Builder::new().name("lwp-calibrate".into()).spawn(measure) {
            tracing::debug!(%error, "no thread to calibrate on");
            MEASURING.store(false, Ordering::Release);
        }
    }
    known_plateaus()
}

/// CPU time that measuring plateaus took in this process, ns.
pub fn cost_ns() -> u64 {
    COST_NS.load(Ordering::Relaxed)
}

/// The same, where they have been measured already: for threads that must not wait.
pub fn known_plateaus() -> Option<&'static Plateaus> {
    // SAFETY: null, or what `plateaus` leaked and nobody writes.
    unsafe { PLATEAUS.load(Ordering::Acquire).as_ref() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_lie_between_the_plateaus() {
        let plateaus = Plateaus::from_means(52, 52, 91, 450, 26, 52);
        assert_eq!(plateaus.source(52), None);
        assert_eq!(plateaus.source(78), Some(1));
        assert_eq!(plateaus.source(104), Some(1));
        assert_eq!(plateaus.source(390), Some(3));
        let blurred = Plateaus::from_means(52, 52, 52, 60, 26, 52);
        assert_eq!(blurred.source(78), None);
        assert_eq!(blurred.source(104), Some(0));
        // Hits of 60 and 80, the mean of the faster half 60, and an L3 that was found at 80.
        let coarse = Plateaus::from_means(60, 60, 80, 240, 20, 80);
        assert_eq!((coarse.source(80), coarse.source(100), coarse.source(240)), (None, Some(1), Some(3)));
    }

    #[test]
    fn what_a_busy_machine_blurs_is_measured_again() {
        let (quiet, busy) =
            (Means { lowest: [50, 56, 80, 355], step: 26, hits: 52 }, Means { lowest: [60, 70, 400, 420], step: 26, hits: 78 });
        let start = Instant::now();
        // Busy for one measurement: repeated when some time has gone by.
        let mut calibration = Calibration::default();
        assert!(calibration.is_due(start));
        assert!(!calibration.measure(start, || busy).separable());
        let plateaus = calibration.measure(start + FIRST_WAIT, || quiet);
        assert!(plateaus.separable() && !calibration.is_due(start + Duration::from_secs(60)), "{plateaus}");
        assert_eq!((plateaus.l3, plateaus.dram), (80, 355));
        // Busy for longer: again later, and what was low before stays.
        let mut calibration = Calibration::default();
        let mut count = 0;
        let blurred = calibration.measure(start, || {
            count += 1;
            busy
        });
        assert_eq!(count, TRIES_AT_ONCE);
        assert_eq!(blurred.source(500), Some(0), "unknown, not wrong");
        assert!(!calibration.is_due(start) && calibration.is_due(start + FIRST_WAIT));
        let slow_near = Means { lowest: [90, 90, 95, 360], step: 26, hits: 104 };
        let plateaus = calibration.measure(start + FIRST_WAIT, || slow_near);
        assert!(plateaus.separable() && plateaus.l1 == 60 && plateaus.source(300) == Some(3), "{plateaus}");
        // A machine that has none is not measured for ever.
        let mut calibration = Calibration::default();
        let mut now = start;
        let mut rounds = 0;
        while calibration.is_due(now) {
            calibration.measure(now, || busy);
            rounds += 1;
            now += Duration::from_secs(100);
        }
        assert_eq!(rounds, MOST_WAITS + 1);
    }

    #[test]
    fn plateaus_follow_the_processors_clock() {
        let start = Instant::now();
        let mut calibration = Calibration::default();
        assert!(!calibration.is_to_be_checked(start) && calibration.check(start, 60, 60).is_none(), "nothing was measured");
        let fast = calibration.measure(start, || Means { lowest: [59, 60, 80, 226], step: 20, hits: 60 });
        assert_eq!(fast.source(80), Some(1));
        assert!(!calibration.is_to_be_checked(start) && calibration.is_to_be_checked(start + CHECK_EVERY));
        let slow = calibration.check(start + CHECK_EVERY, 75, 80).expect("it was measured");
        assert!(!calibration.is_to_be_checked(start + CHECK_EVERY));
        assert_eq!((slow.l1, slow.l3, slow.source(80), slow.source(100), slow.source(252)), (74, 95, None, Some(1), Some(3)));
        // From what was measured, not from what was said last; and a little is nothing.
        assert_eq!(calibration.check(start, 59, 60), Some(fast));
        assert_eq!(calibration.check(start, 62, 60), Some(fast));
    }

    #[test]
    fn this_machine_has_plateaus() {
        let plateaus = *plateaus();
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
        let (mut at, mut visited) = (u64::from(chain.order[0]), 0);
        loop {
            assert_eq!(u64::from(chain.order[visited]), at, "walked in that order, too");
            at = chain.words[at as usize * 8];
            visited += 1;
            if at == u64::from(chain.order[0]) {
                break;
            }
        }
        assert_eq!(visited, 64);
    }
}
