//! When code has run long enough to pay for its compile: the time measured between its hot records, against what compiles take on this machine.
//!
//! The rule is the ski renter's: who asks once as much was spent as the compile costs never pays more than twice what the best choice would have cost
//! (Karlin et al., "Competitive randomized algorithms for nonuniform problems", 1994).

use super::thresholds::expected_compile_time;
use crate::code::Tier;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// So many times the compile's expected time has what it replaces run for when it is asked for: the interpreter without templates takes five to ten times as long as tier 1, so nearly
/// all of its time is gained; tier 1 takes up to twice as long as tier 2 where its registers are allocated with care. Where they are allocated in one pass it takes longer, but half and
/// twice as much of either made no difference in CPython that could be measured.
const TIMES: [f64; 2] = [1.0, 2.0];
/// The same for tier 2 in place of templates, which take three to six times as long, of which tier 1 would gain a third at most: where compiles have a processor of their own and the module has
/// run for longer than [`YOUNG`]. Together with [`LONGEST_FROM_TEMPLATES`], which believes about half of what a body takes: CPython's `print(1)`, `work.py` 1 and 4 on a Xeon, at 0.7 and 1.5 with
/// twelve times as long events: 0.37, 1.00 and 1.56 s (CPU time 0.66, 1.91, 2.48), on one processor 0.47, 1.42 and 2.23; so: 0.35, 0.88 and 1.49 (0.60, 1.59, 2.21), 0.37, 1.12 and 2.22. With 0.3 on
/// two 0.44, 0.94, 1.57. On an EPYC, with the longer events, 0.45, 1.37 and 2.5 s where a way by tier 1 took 0.49, 1.50 and 2.8. (A compile thread of low priority made the first on one
/// processor 0.57 for 0.81, and the last 8.2 for 3.7.)
const FROM_TEMPLATES: f64 = 0.4;
/// The same while the module is young. What has run for long will run for long; at first much is asked for that a short program does not come back to, and that is kept for the next process
/// all the same ([`super::WarmFunction`]). On an EPYC, `print(1)` at 1.0: 0.22 s (CPU time 0.35), on one processor 0.35; at 1.5 0.22 (0.31) and 0.29, and `work.py` 1 and 4 0.77 and 1.26 s for 0.80 and
/// 1.27, 1.17 and 1.80 for 1.22 and 1.82; at 2.5 all the same as at 1.5. With 0.4 from the start the first took 0.28 s of CPU time where 1.0 took 0.23; young until 200 ms, `work.py` 1 took 0.54 s for 0.48.
const FROM_TEMPLATES_AT_FIRST: f64 = 1.5;
/// The same where compiles take turns with what they are for, once the module is no longer young: at 1.5 `work.py` 4 took 2.2 s for 1.8.
const FROM_TEMPLATES_ALONE: f64 = 1.0;
/// The part of [`FROM_TEMPLATES`] after which a body is compiled where the compile thread, which has a processor of its own, has nothing else to do, once the module is old. A guess.
const IDLE: f64 = 0.25;
/// A module is old after so long: what takes a second of compiling then pays. (A run of CPython that lasts 1.3 s took a tenth more CPU time without this, and gained nothing.)
const OLD: Duration = Duration::from_secs(2);
/// How long a module is young, from the first function on that it runs.
const YOUNG: Duration = Duration::from_millis(100);
/// How long it is left without bursts and instrumented code, from then on. What is over by then gains nothing by them, its instrumented code is compiled in vain, and bursts leave loops that have no code of
/// their own yet to templates. Whole runs of 50 to 200 ms of seven programs, on two processors and on one: without a wait 1 and 1, with 50 ms 0.89 (`regex` 0.73) and 0.96, with 100 ms 0.90 and 0.92, without any feedback 0.89 and 0.88.
const UNWATCHED: Duration = Duration::from_millis(50);
/// A module whose bodies have no more bytes than this is small. What is hot in it first is what it is for, not a start that is not come back to, and all of it is compiled in a tenth of a second.
const SMALL: usize = 64 << 10;
/// The shares of a small module, where compiles have a processor of their own and where they take turns. Whole runs of 22 programs of 9 KB (40 to 300 ms, a Zen 3), relative to the shares of large
/// modules: with a processor of their own 0.90 of the wall time at 0.2 and at 0.1 (CPU time 0.94, 0.96), 0.89 of 11 of them at 0.02; in turns 0.96 at 0.7, 0.98 at 0.3, 0.96 at 0.1. (CPython, Yosys and QuickJS gained nothing by such shares
/// for their first 15 or 30 ms of compiles.)
const FROM_TEMPLATES_IN_SMALL: f64 = 0.2;
const FROM_TEMPLATES_IN_SMALL_ALONE: f64 = 0.7;
/// The means start from what [`expected_compile_time`] says, as if seen over so many bytes.
const BEFORE: usize = 2048;
/// What a compile takes that does not depend on its size, ns.
const FIXED_NS: f64 = 100e3;
/// The longest that an event (a call or a back edge) is believed to take by itself, ns and ns a byte of the body, in the interpreter with templates and in tier 1: what
/// was measured between two records holds the callees too, and whatever the program did in between. (Without templates it is four times that in the interpreter. What then is
/// compiled later than pays is so where nobody asks for speed.)
const LONGEST: [(f64, f64); 2] = [(25.0, 2.5), (50.0, 2.0)];
/// The same in templates, where the choice is between them and tier 2: what runs the whole body takes about twice as long, most events less.
const LONGEST_FROM_TEMPLATES: (f64, f64) = (2.0, 0.2);

/// What a call of compiled code costs templates beyond what it costs such code, ns: there and back, through the interpreter and its stack. It is the caller's own, and the compile of the caller saves it. (The least time
/// of its intervals says nothing of it: of a large body that is a short loop's. Yosys' largest function, 198 KB, called compiled code for five seconds from templates, more than half of that on the way, and was never compiled.)
const CALL_OUT_NS: f64 = 50.0;

/// What compiles have to make up for in a module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stage {
    /// It is small, at any age.
    Small,
    /// It began to run not long ago.
    Young,
    /// It has been running for long.
    Grown,
    /// And for seconds.
    Old,
}

/// How long a module has been running, and whether that matters.
pub(super) struct Age {
    began: OnceLock<Instant>,
    small: bool,
}

impl Age {
    /// Of a module with so many bytes of bodies.
    pub(super) fn new(bytes: usize) -> Age {
        Age { began: OnceLock::new(), small: bytes <= SMALL }
    }

    /// It begins now, where nobody asked before.
    pub(super) fn stage(&self) -> Stage {
        self.stage_at(Instant::now())
    }

    fn stage_at(&self, now: Instant) -> Stage {
        match self.ran_at(now) {
            _ if self.small => Stage::Small,
            ran if ran < YOUNG => Stage::Young,
            ran if ran < OLD => Stage::Grown,
            _ => Stage::Old,
        }
    }

    /// Whether it has been running for so long that what it runs is worth a look, whatever its size.
    pub(super) fn may_be_watched(&self) -> bool {
        self.may_be_watched_at(Instant::now())
    }

    fn may_be_watched_at(&self, now: Instant) -> bool {
        self.ran_at(now) >= UNWATCHED
    }

    /// How long it has been running.
    fn ran_at(&self, now: Instant) -> Duration {
        now.duration_since(*self.began.get_or_init(|| now))
    }
}

/// What compiles took so far.
pub(crate) struct CompileCosts {
    /// Nanoseconds and bytes, of tier 1, of tier 2, and of instrumented code.
    sums: [(AtomicU64, AtomicU64); 3],
    /// Whether they take turns with what they are for.
    pub(super) alone: bool,
}

impl Default for CompileCosts {
    fn default() -> Self {
        let seen = |tier| (AtomicU64::new(expected_compile_time(tier, BEFORE).as_nanos() as u64), AtomicU64::new(BEFORE as u64));
        let alone = std::thread::available_parallelism().is_ok_and(|processors| processors.get() == 1);
        CompileCosts { sums: [Tier::Baseline, Tier::Optimizing, Tier::Instrumented].map(seen), alone }
    }
}

impl CompileCosts {
    fn index(tier: Tier) -> usize {
        match tier {
            Tier::Baseline => 0,
            Tier::Optimizing => 1,
            // Larger than what is asked for by cost.
            Tier::Instrumented => 2,
        }
    }

    /// A compile of so many bytes took that long.
    pub(crate) fn took(&self, tier: Tier, bytes: usize, time: Duration) {
        let (ns, all) = &self.sums[Self::index(tier)];
        let variable = (time.as_nanos() as f64 - FIXED_NS).max(0.0);
        ns.fetch_add(variable as u64, Ordering::Relaxed);
        all.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Nanoseconds that compiling `bytes` in a tier is expected to take.
    pub(super) fn expected(&self, tier: Tier, bytes: usize) -> f64 {
        let (ns, all) = &self.sums[Self::index(tier)];
        let per_byte = ns.load(Ordering::Relaxed) as f64 / all.load(Ordering::Relaxed) as f64;
        FIXED_NS + per_byte * bytes as f64
    }

    /// Nanoseconds of running in templates after which compiling `bytes` in tier 2 pays.
    pub(super) fn pays_from_templates(&self, bytes: usize, stage: Stage) -> f64 {
        let share = match (stage, self.alone) {
            (Stage::Small, false) => FROM_TEMPLATES_IN_SMALL,
            (Stage::Small, true) => FROM_TEMPLATES_IN_SMALL_ALONE,
            (Stage::Young, _) => FROM_TEMPLATES_AT_FIRST,
            (Stage::Grown | Stage::Old, true) => FROM_TEMPLATES_ALONE,
            (Stage::Grown | Stage::Old, false) => FROM_TEMPLATES,
        };
        share * self.expected(Tier::Optimizing, bytes)
    }

    /// The part of that after which it pays while nothing else is to be compiled: with a processor of their own compiles then take nobody's time.
    pub(super) fn share_while_idle(&self, stage: Stage) -> f64 {
        if stage == Stage::Old && !self.alone { IDLE } else { 1.0 }
    }

    /// Events in templates before which compiling `bytes` in tier 2 cannot pay, however long each of them took.
    pub(super) fn fewest_from_templates(&self, bytes: usize, stage: Stage) -> u32 {
        (self.pays_from_templates(bytes, stage) / own_time_in_templates(f64::INFINITY, bytes)) as u32
    }

    /// Nanoseconds of running after which compiling `bytes` in a tier pays.
    pub(super) fn pays_after(&self, tier: Tier, bytes: usize) -> f64 {
        TIMES[usize::from(tier != Tier::Baseline)] * self.expected(tier, bytes)
    }
}

/// What an event of a body of `bytes` took, given the time between its records; `tier` is the interpreter's (0) or tier 1 (1).
pub(super) fn own_time(measured_ns: f64, tier: usize, bytes: usize) -> f64 {
    believed(measured_ns, LONGEST[tier], bytes)
}

/// The same in templates, where tier 2 comes next.
pub(super) fn own_time_in_templates(measured_ns: f64, bytes: usize) -> f64 {
    believed(measured_ns, LONGEST_FROM_TEMPLATES, bytes)
}

/// What so many calls of compiled code cost templates, ns.
pub(super) fn time_of_calls_out(calls: u32) -> f64 {
    f64::from(calls) * CALL_OUT_NS
}

fn believed(measured_ns: f64, (fixed, per_byte): (f64, f64), bytes: usize) -> f64 {
    measured_ns.min(fixed + per_byte * bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compiles_take_is_learned_and_long_pauses_are_not_believed() {
        let costs = CompileCosts::default();
        let before = costs.pays_after(Tier::Baseline, 1000);
        assert_eq!(before, TIMES[0] * (FIXED_NS + 1_300e3));
        for _ in 0..1000 {
            costs.took(Tier::Baseline, 1000, Duration::from_millis(5));
            costs.took(Tier::Instrumented, 1000, Duration::from_secs(5));
        }
        let after = costs.pays_after(Tier::Baseline, 1000);
        assert!((after / (TIMES[0] * 5e6) - 1.0).abs() < 0.01, "{after}");
        assert_eq!(costs.pays_after(Tier::Optimizing, 0), TIMES[1] * FIXED_NS);
        assert!(costs.expected(Tier::Instrumented, 1000) > 4.9e9);
        assert_eq!(own_time(40.0, 0, 1000), 40.0);
        assert_eq!(own_time_in_templates(1e9, 1000), 202.0);
        for stage in [Stage::Small, Stage::Young, Stage::Grown] {
            let (fewest, pays) = (costs.fewest_from_templates(1000, stage), costs.pays_from_templates(1000, stage));
            assert!(f64::from(fewest) * 202.0 <= pays && f64::from(fewest + 1) * 202.0 > pays);
        }
        assert_eq!(own_time(1e9, 1, 1000), 2_050.0);
    }

    #[test]
    fn a_young_module_compiles_less_a_small_one_more_and_one_processor_less() {
        let age = Age::new(SMALL + 1);
        let begin = Instant::now();
        assert_eq!(age.stage_at(begin), Stage::Young, "it begins when it is first asked");
        assert_eq!([age.stage_at(begin + YOUNG / 2), age.stage_at(begin + YOUNG)], [Stage::Young, Stage::Grown]);
        assert_eq!(age.stage_at(begin + OLD), Stage::Old);
        let small = Age::new(SMALL);
        assert_eq!([small.stage_at(begin), small.stage_at(begin + YOUNG)], [Stage::Small; 2]);
        assert!(!small.may_be_watched_at(begin + UNWATCHED / 2) && small.may_be_watched_at(begin + UNWATCHED));
        let pays = |alone, stage| CompileCosts { alone, ..CompileCosts::default() }.pays_from_templates(1000, stage);
        for alone in [false, true] {
            assert!(pays(alone, Stage::Young) > pays(alone, Stage::Grown));
            assert!(pays(alone, Stage::Grown) > pays(alone, Stage::Small));
        }
        for stage in [Stage::Grown, Stage::Small] {
            assert!(pays(true, stage) > pays(false, stage));
        }
        let idle = |alone, stage| CompileCosts { alone, ..CompileCosts::default() }.share_while_idle(stage);
        assert_eq!(idle(false, Stage::Old), IDLE);
        for (alone, stage) in [(true, Stage::Old), (false, Stage::Grown), (false, Stage::Young), (false, Stage::Small)] {
            assert_eq!(idle(alone, stage), 1.0, "{stage:?}");
        }
    }
}
