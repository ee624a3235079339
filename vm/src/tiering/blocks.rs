//! The order of a trial's blocks: which version runs next and for how many units of work, and which times count.
//!
//! A *block* is a run of one version for a fixed number of units; its first quarter warms up caches and predictors and is not counted. A *pair* is a block
//! of each version in random order, and the next pair in the other order: a block that follows one of the same version is a percent faster than one that follows a switch, and so each version has about as many of
//! both. A *stamp* is taken at each end of a block's parts: time stamp counter, processor, and a number that moves with every
//! event that spoils a measure (a compile, a host call). A pair with a spoilt block is dropped whole, so that both versions lose the same. What runs beside one and the same compile from its
//! first block to its last counts all the same where that has a processor of its own: both versions have as much of it.
//!
//! A program does one thing after the other, each for some milliseconds, and a plan that helps in one of them may do harm in the next. So what is not clear after a few pairs is
//! tried at other times too: from [`REST_FROM`] pairs on blocks that do not count run for a while after every few of them (a *rest*), of either version by chance. With the old version alone in them, the
//! processor's predictions were made for that one: identical loops over random flags differed by 3 %, and which was faster went by the role.
//!
//! The number of units is the same for both blocks of a pair. It starts small and grows until the counted part lasts long enough.
#![forbid(unsafe_code)]

use super::verdict::{self, Judgement, Reason, Verdict};

/// The two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arm {
    Old,
    New,
}

/// A moment at a block's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Time stamp counter.
    pub ticks: u64,
    /// Processor.
    pub cpu: u32,
    /// Changes with every host call.
    pub host_calls: u64,
    /// Changes where a compile begins or ends.
    pub compiles: u64,
    /// Whether something compiles right now.
    pub compiling: bool,
    /// Units that ran beyond those asked for: calls that are inlined do not look whether any are left.
    pub beyond: u64,
}

impl Stamp {
    /// Whether no compile began or ended in between.
    fn is_beside_the_same(&self, other: &Stamp) -> bool {
        (self.compiles, self.compiling) == (other.compiles, other.compiling)
    }
}

/// What a trial needs of blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Units of the first block.
    pub first_units: u64,
    /// Fewest units of a block, at least 1.
    pub least_units: u64,
    /// Most units of a block.
    pub most_units: u64,
    /// Ticks that a block's counted part lasts at least, about.
    pub least_ticks: u64,
    /// Pairs after which an undecided trial ends.
    pub most_pairs: usize,
    /// Ticks of the program's time that a pair is to stand for: rests last until as many have gone by, in the mean. 0: no rests.
    pub ticks_per_pair: u64,
    /// The candidate is nothing that could cost ([`Judgement::of_free`]).
    pub free: bool,
    /// Log ratio below which there is no difference.
    pub margin: f64,
    /// Ticks of blocks after which it ends at the next look, however few pairs they made.
    pub most_ticks: u64,
    /// Compiles have a processor of their own, as far as is known: there is more than one.
    pub beside_compiles: bool,
}

/// What to do after a stamp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Next {
    /// Run this version for that many units.
    Run(Arm, u64),
    /// The trial is over.
    Ended(Judgement),
}

/// Pairs from which on there are rests, and pairs between two of them.
const REST_FROM: usize = 16;
const REST_EVERY: usize = 16;

/// Blocks that may be spoilt by host calls or migrations before a trial gives up: so many, and so many more for each pair.
const MOST_SPOILT: u64 = 2000;
const MOST_SPOILT_PER_PAIR: u64 = 100;

/// The blocks of one trial.
#[derive(Debug)]
pub(super) struct Blocks {
    sizes: Sizes,
    units: u64,
    order: [Arm; 2],
    /// The order of the last whole pair, if the next is to have the other.
    answers: Option<[Arm; 2]>,
    /// 0 or 1: which block of the pair runs.
    at: usize,
    counted: bool,
    began: Stamp,
    /// Where the pair's first block began to count.
    pair_began: Stamp,
    first: f64,
    pairs: Vec<(f64, f64)>,
    dropped: u64,
    spoilt: u64,
    lost_ticks: f64,
    ran_ticks: f64,
    random: u64,
    /// The time stamp until which blocks do not count.
    rests_until: Option<u64>,
    /// Units of the pairs' blocks of either version, and of the candidate in rests.
    paired_units: f64,
    rested_units: f64,
    /// The time stamp of the first pair's begin.
    since: Option<u64>,
}

impl Blocks {
    pub(super) fn new(sizes: Sizes, seed: u64) -> Blocks {
        Blocks {
            sizes,
            units: sizes.first_units,
            order: [Arm::Old, Arm::New],
            answers: None,
            at: 0,
            counted: false,
            began: Stamp::default(),
            pair_began: Stamp::default(),
            first: 0.0,
            pairs: Vec::new(),
            dropped: 0,
            spoilt: 0,
            lost_ticks: 0.0,
            ran_ticks: 0.0,
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            rests_until: None,
            paired_units: 0.0,
            rested_units: 0.0,
            since: None,
        }
    }

    /// Units of a block's first part: none where a block is so few units.
    fn warm_units(&self) -> u64 {
        self.units / 4
    }

    /// Of each pair old version and candidate, per unit of work, in units of which a tick is so many.
    pub(super) fn times(&self, per_tick: f64) -> Vec<[f32; 2]> {
        self.pairs.iter().map(|&(old, new)| [old, new].map(|ticks| (ticks * per_tick) as f32)).collect()
    }

    /// Pairs so far.
    pub(super) fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Ticks that the candidate took, less what the old version would have taken: negative where it is faster. Of rests as much as of the pairs' blocks.
    pub(super) fn lost_ticks(&self) -> f64 {
        self.lost_ticks * (1.0 + self.rested_units / self.paired_units.max(1.0))
    }

    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 32
    }

    /// Whether what runs is a rest.
    pub(super) fn rests(&self) -> bool {
        self.rests_until.is_some()
    }

    /// Whether, right after a step, no pair is begun: what is to run now may as well run later.
    pub(super) fn is_between_pairs(&self) -> bool {
        self.rests() || self.at == 0 && (!self.counted || self.warm_units() == 0)
    }

    /// Pairs and dropped blocks so far: what moves with each pair that runs.
    pub(super) fn attempts(&self) -> u64 {
        self.pairs.len() as u64 + self.dropped
    }

    /// Ticks that a block's counted part lasts at least, about.
    pub(super) fn least_ticks(&self) -> u64 {
        self.sizes.least_ticks
    }

    /// Begins a rest behind a pair, if one is due.
    fn rest(&mut self, now: Stamp) -> bool {
        let pairs = self.pairs.len();
        if pairs < REST_FROM || !pairs.is_multiple_of(REST_EVERY) {
            return false;
        }
        let due = self.since.unwrap_or(now.ticks) + pairs as u64 * self.sizes.ticks_per_pair;
        let missing = due.saturating_sub(now.ticks);
        if missing > 0 {
            let length = self.random() % (2 * missing);
            self.rests_until = Some(now.ticks + length);
            // Half of it, for all that is known. (What is run of its steps is not: whoever comes to the loop ends one.)
            let of_candidate = (self.ran_ticks + self.lost_ticks) / 2.0;
            self.rested_units += length as f64 / 2.0 * self.paired_units / of_candidate.max(1.0);
        }
        missing > 0
    }

    /// A step of a rest: as short as a block, so that it ends in time whatever the program does meanwhile.
    fn rest_on(&mut self) -> Next {
        let arm = self.either();
        Next::Run(arm, self.units)
    }

    fn either(&mut self) -> Arm {
        if self.random() >> 8 & 1 == 0 { Arm::Old } else { Arm::New }
    }

    /// A pair begins.
    pub(super) fn begin_pair(&mut self, now: Stamp) -> Next {
        self.rests_until = None;
        self.since.get_or_insert(now.ticks);
        self.order = if let Some([first, second]) = self.answers {
            [second, first]
        } else {
            match self.either() {
                Arm::Old => [Arm::Old, Arm::New],
                Arm::New => [Arm::New, Arm::Old],
            }
        };
        self.at = 0;
        self.begin_block(now)
    }

    fn begin_block(&mut self, now: Stamp) -> Next {
        let warm = self.warm_units();
        self.counted = warm == 0;
        self.begin_part(now);
        Next::Run(self.order[self.at], if self.counted { self.units } else { warm })
    }

    fn begin_part(&mut self, now: Stamp) {
        self.began = now;
        if self.at == 0 {
            self.pair_began = now;
        }
    }

    /// Whether a compile had to do with the pair so far.
    fn is_compiled_beside(&self, now: Stamp) -> bool {
        !now.is_beside_the_same(&self.pair_began) || now.compiling && !self.sizes.beside_compiles
    }

    fn drop_pair(&mut self, now: Stamp) -> Next {
        self.dropped += self.at as u64 + 1;
        self.begin_pair(now)
    }

    /// The units of the last `Run` are used up.
    pub(super) fn boundary(&mut self, now: Stamp) -> Next {
        if let Some(until) = self.rests_until {
            return if now.ticks < until { self.rest_on() } else { self.begin_pair(now) };
        }
        let arm = self.order[self.at];
        if !self.counted {
            self.counted = true;
            self.begin_part(now);
            return Next::Run(arm, self.units - self.warm_units());
        }
        let ticks = now.ticks.saturating_sub(self.began.ticks).max(1);
        if self.is_compiled_beside(now) {
            return self.drop_pair(now);
        }
        if now.cpu != self.began.cpu || now.host_calls != self.began.host_calls {
            self.spoilt += 1;
            if self.spoilt > MOST_SPOILT + MOST_SPOILT_PER_PAIR * self.pairs.len() as u64 {
                return Next::Ended(self.end(Verdict::Abandoned(Reason::Disturbed)));
            }
            return self.drop_pair(now);
        }
        if ticks < self.sizes.least_ticks / 2 && self.units < self.sizes.most_units {
            // A first block may be far too short to tell the length of a unit: in steps.
            let wanted = self.sizes.least_ticks as f64 * 1.2 / ticks as f64;
            self.units = ((self.units as f64 * wanted.clamp(2.0, 16.0)) as u64).min(self.sizes.most_units);
            return self.drop_pair(now);
        }
        if ticks > self.sizes.least_ticks.saturating_mul(16) && self.units > self.sizes.least_units {
            self.units = (self.units / 4).max(self.sizes.least_units);
            return self.drop_pair(now);
        }
        let per_unit = ticks as f64 / (self.units - self.warm_units() + now.beyond) as f64;
        if self.at == 0 {
            self.first = per_unit;
            self.at = 1;
            return self.begin_block(now);
        }
        let (old, new) = if arm == Arm::New { (self.first, per_unit) } else { (per_unit, self.first) };
        self.pairs.push((old, new));
        self.answers = if self.answers.is_none() { Some(self.order) } else { None };
        self.lost_ticks += (new - old) * self.units as f64;
        self.ran_ticks += (new + old) * self.units as f64;
        self.paired_units += self.units as f64;
        let most = if self.ran_ticks > self.sizes.most_ticks as f64 { self.pairs.len() } else { self.sizes.most_pairs };
        match verdict::look(&self.pairs, most, self.sizes.margin, self.dropped) {
            Some(judgement) => Next::Ended(if self.sizes.free { judgement.of_free(self.sizes.margin) } else { judgement }),
            None if self.rest(now) => self.rest_on(),
            None => self.begin_pair(now),
        }
    }

    /// The numbers so far with a verdict that does not come from them.
    pub(super) fn end(&self, verdict: Verdict) -> Judgement {
        Judgement::with(verdict, &self.pairs, self.sizes.margin, self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes {
        first_units: 256,
        least_units: 1,
        most_units: 1 << 30,
        least_ticks: 200_000,
        most_pairs: 128,
        ticks_per_pair: 0,
        free: false,
        margin: verdict::MARGIN,
        most_ticks: u64::MAX,
        beside_compiles: false,
    };

    /// xorshift64*, and a normal variable from twelve uniform ones.
    struct Random(u64);

    impl Random {
        fn uniform(&mut self) -> f64 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
        }

        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
        }
    }

    /// A simulated run: a unit takes `ticks`, of the candidate `ratio` times that; blocks vary by `noise`, the machine drifts, and one block in
    /// fifty is interrupted.
    fn simulate(seed: u64, ticks: f64, ratio: f64, noise: f64) -> Judgement {
        simulate_with(SIZES, seed, ticks, ratio, noise)
    }

    fn simulate_with(sizes: Sizes, seed: u64, ticks: f64, ratio: f64, noise: f64) -> Judgement {
        let mut random = Random(seed.wrapping_mul(0xd134_2543_de82_ef95) | 1);
        let mut blocks = Blocks::new(sizes, seed);
        let (mut now, mut drift) = (Stamp::default(), 0.0);
        let mut next = blocks.begin_pair(now);
        loop {
            let Next::Run(arm, units) = next else { panic!("a boundary ends it") };
            drift = drift * 0.99 + 0.01 * random.normal();
            let mut time = units as f64 * ticks * (noise * random.normal() + 0.2 * drift).exp();
            if arm == Arm::New {
                time *= ratio;
            }
            if random.uniform() < 0.02 {
                time += 100_000.0 * random.uniform();
            }
            now.ticks += time as u64;
            next = blocks.boundary(now);
            if let Next::Ended(judgement) = next {
                return judgement;
            }
        }
    }

    #[test]
    fn identical_versions_have_a_winner_in_at_most_five_percent() {
        for (ticks, noise) in [(3.0, 0.01), (40.0, 0.03), (5000.0, 0.1)] {
            let wrong = (1..=1000).filter(|&seed| simulate(seed, ticks, 1.0, noise).verdict != Verdict::Undecided).count();
            assert!(wrong <= 50, "{wrong} of 1000 at {ticks} ticks a unit and {noise} of noise");
        }
    }

    #[test]
    fn five_percent_is_found() {
        for (ticks, noise) in [(3.0, 0.01), (4000.0, 0.03), (100_000.0, 0.05)] {
            let found = |ratio, verdict| (1..=200).filter(|&seed| simulate(seed, ticks, ratio, noise).verdict == verdict).count();
            let (slower, faster) = (found(1.05, Verdict::Slower), found(1.0 / 1.05, Verdict::Faster));
            assert!(slower >= 196 && faster >= 196, "{slower}, {faster} of 200 at {ticks} ticks a unit and {noise} of noise");
        }
    }

    #[test]
    fn spoilt_blocks_are_dropped_with_their_pair() {
        let mut blocks = Blocks::new(SIZES, 7);
        let mut now = Stamp::default();
        blocks.begin_pair(now);
        for event in 0..40 {
            now.ticks += 400_000;
            match event % 4 {
                1 => now.host_calls += 1,
                3 => now.cpu ^= 1,
                _ => {}
            }
            blocks.boundary(now);
        }
        assert_eq!((blocks.pairs.len(), blocks.dropped), (0, 20));
        for _ in 0..32 {
            now.ticks += 400_000;
            blocks.boundary(now);
        }
        assert_eq!(blocks.pairs.len(), 8);
    }

    /// Whole pairs of blocks of two steps, before each of which the compiles change as `change` says of its number.
    fn pairs_beside(beside_compiles: bool, steps: u64, change: impl Fn(u64, &mut Stamp)) -> usize {
        let mut blocks = Blocks::new(Sizes { beside_compiles, ..SIZES }, 7);
        let mut now = Stamp::default();
        blocks.begin_pair(now);
        for step in 0..steps {
            now.ticks += 400_000;
            change(step, &mut now);
            blocks.boundary(now);
        }
        blocks.pairs.len()
    }

    #[test]
    fn a_pair_beside_one_compile_counts_where_that_has_a_processor_of_its_own() {
        let none = |_: u64, _: &mut Stamp| {};
        assert_eq!((pairs_beside(true, 28, none), pairs_beside(false, 28, none)), (7, 7));
        // One from the first pair's end on.
        let long = |step: u64, now: &mut Stamp| (now.compiles, now.compiling) = if step < 4 { (0, false) } else { (1, true) };
        let (beside, alone) = (pairs_beside(true, 28, long), pairs_beside(false, 28, long));
        assert!(beside >= 5 && alone == 1, "{beside}, {alone}");
        // One that begins or ends, or one behind the other, in each pair.
        let begins = |step: u64, now: &mut Stamp| (now.compiles, now.compiling) = (step / 4, step % 4 == 3);
        let others = |step: u64, now: &mut Stamp| (now.compiles, now.compiling) = (step / 2, true);
        assert_eq!((pairs_beside(true, 28, begins), pairs_beside(true, 28, others)), (0, 0));
    }

    #[test]
    fn long_units_make_short_blocks_and_end_in_time() {
        // A unit is 30 times as long as a block need be: from four units a block to one, and undecided at the first look after the time is over.
        let mut blocks = Blocks::new(Sizes { first_units: 4, most_ticks: 100 * 200_000 * 30, ..SIZES }, 7);
        let mut now = Stamp::default();
        let mut next = blocks.begin_pair(now);
        let mut run = Vec::new();
        let judgement = loop {
            match next {
                Next::Run(_, units) => {
                    run.push(units);
                    now.ticks += units * 200_000 * 30 + run.len() as u64 % 2;
                    next = blocks.boundary(now);
                }
                Next::Ended(judgement) => break judgement,
            }
        };
        assert_eq!((&run[..3], run[run.len() - 1]), (&[1, 3, 1][..], 1));
        assert_eq!((judgement.verdict, judgement.pairs), (Verdict::Undecided, 64));
    }

    #[test]
    fn what_is_not_clear_rests_between_pairs_and_rests_do_not_count() {
        // Three times as long as a pair takes.
        let mut blocks = Blocks::new(Sizes { ticks_per_pair: 1_500_000, ..SIZES }, 7);
        let (mut now, mut next, mut rests) = (Stamp::default(), blocks.begin_pair(Stamp::default()), Vec::<(usize, u64)>::new());
        let mut steps = [0_u32; 2];
        let judgement = loop {
            match next {
                Next::Run(arm, units) => {
                    if blocks.rests() {
                        match rests.last_mut().filter(|rest| rest.0 == blocks.pairs()) {
                            Some(rest) => rest.1 += units,
                            None => rests.push((blocks.pairs(), units)),
                        }
                        // Whatever happens in it.
                        steps[usize::from(arm == Arm::New)] += 1;
                        (now.host_calls, now.cpu) = (now.host_calls + 1, now.cpu ^ 1);
                    }
                    now.ticks += units * 1000 + rests.len() as u64 % 2;
                    next = blocks.boundary(now);
                }
                Next::Ended(judgement) => break judgement,
            }
        };
        assert_eq!((judgement.verdict, judgement.pairs), (Verdict::Undecided, 128));
        assert!(rests.len() >= 3 && rests.iter().all(|rest| rest.0 >= REST_FROM && rest.0.is_multiple_of(REST_EVERY)), "{rests:?}");
        assert!((100..300).contains(&(now.ticks / 1_500_000)), "{} pairs' worth", now.ticks / 1_500_000);
        assert!(steps[0].abs_diff(steps[1]) < (steps[0] + steps[1]) / 4, "{steps:?} of each version");
        // What takes long enough by itself does not rest.
        let mut slow = Blocks::new(Sizes { ticks_per_pair: 100_000, ..SIZES }, 7);
        let (mut now, mut next) = (Stamp::default(), slow.begin_pair(Stamp::default()));
        while let Next::Run(_, units) = next {
            assert!(!slow.rests());
            now.ticks += units * 1000;
            next = slow.boundary(now);
        }
        assert!(judgement.dropped < 8, "{judgement:?}");
    }

    #[test]
    fn a_layout_stays_that_is_not_shown_to_be_slower() {
        let verdicts = |ratio: f64| {
            let run = |seed| simulate_with(Sizes { free: true, ..SIZES }, seed, 40.0, ratio, 0.05).verdict;
            (1..=200).filter(|&seed| run(seed).keeps()).count()
        };
        let (better, same, worse) = (verdicts(0.99), verdicts(1.0), verdicts(1.05));
        assert!(better >= 160 && (40..=160).contains(&same) && worse == 0, "{better}, {same}, {worse} of 200");
    }

    #[test]
    fn a_trial_that_is_always_disturbed_ends() {
        let mut blocks = Blocks::new(SIZES, 7);
        let mut now = Stamp::default();
        blocks.begin_pair(now);
        loop {
            now.ticks += 400_000;
            now.host_calls += 1;
            if let Next::Ended(judgement) = blocks.boundary(now) {
                assert_eq!(judgement.verdict, Verdict::Abandoned(Reason::Disturbed));
                return;
            }
        }
    }
}
