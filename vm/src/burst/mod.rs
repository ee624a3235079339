//! Bursts: short runs of instrumented code that say how branches went and where loads got their data from.
//!
//! Instrumented code (a version of a loop compiled with probes) appends a word per event to its store's *burst buffer*: the probe's number in the low
//! half, what happened in the high half; a timed load takes a second word for its address and, where precise records are
//! wanted (`RingConfig::registers`), twelve for the registers. When the buffer holds as much as was asked for, the code
//! leaves at a loop header, [`finish`] runs the branch-predictor model over the buffer and stores event records 3 and 4 in the thread's
//! ring, and the loop goes on in its ordinary version.
//!
//! There are three kinds of burst of the same code: *branches* (nothing is timed, loads write nothing), *loads* (every load is timed) and *counts* (as branches,
//! but nothing is judged: how often each site was passed is all that is recorded). One burst times
//! all loads or none, because the choice must not be a branch that the processor mispredicts: on the wrong way it would begin the very load that is to
//! be timed, and the data would be near when the clock starts.
//!
//! Loops of large bodies have no instrumented code: they run in the interpreter for a burst, which writes the same words (`crate::tiering::watched`).
//!
//! ```text
//! budget ──► asks (poll word) ──► at_poll: begins ──► instrumented loop ──► at_burst: finish ──► records ──► ring
//!    ▲                                                                         │
//!    └──────────────────────── what it cost ◄──────────────────────────────────┘
//! ```
//!
//! Invariants:
//! 1. Instrumented code may write to the buffer whether a burst is under way or not, and as often as it likes: the index is taken modulo
//!    the buffer's size. A burst that wrote more than the buffer holds is dropped and counted.
//! 2. Nothing in the buffer is trusted: a number that names no probe ends the reading.
//! 3. A burst never changes what the program does. Its code is the program's, and leaving is the poll's leaving.
//!
//! The parts: [`budget`] (what bursts may cost), [`words`] (reading a buffer), [`finish`] (from words to records), [`counts`] (the same where nothing is judged), [`targets`] (where branches lead), [`exact`]
//! (everything counted, in place of bursts), [`timed_load_thunk`] (the clock); which loops get bursts is
//! `crate::tiering::bursts`.

mod budget;
mod counts;
mod exact;
mod finish;
mod sequences;
mod targets;
mod timed;
mod words;

pub use budget::BurstStats;
pub(crate) use budget::{Budget, ENOUGH, News, SMALL, monitor_share};
pub(crate) use counts::count;
pub(crate) use exact::{EXACT_WORDS, Exact};
pub use exact::{ExactProfile, Place, ValuePlace};
pub(crate) use finish::{Ring, finish};
pub(crate) use targets::Starts;
pub(crate) use timed::timed_load_thunk;

use crate::bytecode::WatchedLoop;
use crate::code::ProbeKind;
use crate::module::Module;
use lwp_feedback::predictor::Predictor;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, RwLock};
use targets::Ways;

/// The time stamp counter.
pub(crate) fn ticks() -> u64 {
    // SAFETY: RDTSC exists on every x86-64 and touches no memory.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// In place of a loop's offset: the function was entered.
pub const AT_ENTRY: u32 = u32::MAX;
/// In place of a loop's offset: the function returns.
pub const AT_RETURN: u32 = u32::MAX - 1;

/// What a burst looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Branches, selects, rounds.
    Branches,
    /// Every load is timed.
    Loads,
    /// How often each site is passed, and nothing else: no model runs over it, so it costs a tenth and there can be many, which says what the run consists of.
    Counts,
}

/// A probe as `finish` needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProbeSite {
    pub(crate) kind: ProbeKind,
    /// What its records carry as instruction address: resolves to its operator.
    pub(crate) ip: u64,
    /// Byte offset of its operator.
    pub(crate) offset: u32,
    /// Byte offset of the load its address comes from, or 0.
    pub(crate) feeder: u32,
    /// Of a conditional branch: address of the next instruction where it is taken, and where not.
    pub(crate) ways: [u64; 2],
}

/// The probes of one version, by number less the first.
pub(crate) struct ProbeTable {
    pub(crate) sites: Box<[ProbeSite]>,
    /// Hash of the module.
    pub(crate) module: u64,
    pub(crate) function: u32,
    /// Where `br_table`s lead to, by the probe's place in `sites` and the index: byte offset of the operator that runs next, and its address; the last is the default's.
    pub(crate) switches: BTreeMap<u32, Box<[(u32, u64)]>>,
    /// The loops whose runs are marked: those of the watched form.
    pub(crate) loops: Box<[WatchedLoop]>,
}

impl ProbeTable {
    /// The table of a defined function's probes in order: kind, instruction address, byte offset of the operator, and of the load that feeds it or 0. `key` names the
    /// module in records, `first` says where its operators' code begins.
    pub(crate) fn new(
        module: &Module,
        key: u64,
        function: u32,
        first: &Starts,
        probes: impl Iterator<Item = (ProbeKind, u64, u32, u32)>,
    ) -> ProbeTable {
        let ways = targets::ways(module, function);
        let mut switches = BTreeMap::new();
        let site = |(index, (kind, ip, offset, feeder)): (usize, (ProbeKind, u64, u32, u32))| {
            let ways = match ways.get(&offset) {
                Some(&Ways::Two(taken, next)) => [first.address(taken), first.address(next)],
                Some(Ways::Many(targets)) if kind == ProbeKind::Switch => {
                    switches.insert(index as u32, targets.iter().map(|&offset| (offset, first.address(offset))).collect());
                    [0; 2]
                }
                _ => [0; 2],
            };
            ProbeSite { kind, ip, offset, feeder, ways }
        };
        let sites = probes.enumerate().map(site).collect();
        ProbeTable { sites, module: key, function, switches, loops: Box::default() }
    }

    /// Whether it marks the runs of the loop at that offset, to which something branches back.
    fn repeats(&self, offset: u32) -> bool {
        self.loops.iter().any(|it| it.start == offset && it.repeats)
    }
}

/// All probes of an engine.
#[derive(Default)]
pub(crate) struct Probes {
    next: AtomicU32,
    tables: RwLock<BTreeMap<u32, Arc<ProbeTable>>>,
}

impl Probes {
    /// Numbers for up to `count` probes; `None` when they are used up (the engine then has no more bursts of new code).
    pub(crate) fn reserve(&self, count: u32) -> Option<u32> {
        self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| next.checked_add(count)).ok()
    }

    pub(crate) fn insert(&self, base: u32, table: ProbeTable) {
        self.tables.write().unwrap_or_else(|error| error.into_inner()).insert(base, Arc::new(table));
    }

    pub(crate) fn remove(&self, base: u32) {
        self.tables.write().unwrap_or_else(|error| error.into_inner()).remove(&base);
    }

    /// The table a number belongs to, with the number of its first probe.
    fn table(&self, number: u32) -> Option<(u32, Arc<ProbeTable>)> {
        let tables = self.tables.read().unwrap_or_else(|error| error.into_inner());
        let (&base, table) = tables.range(..=number).next_back()?;
        ((number - base) < table.sites.len() as u32).then(|| (base, table.clone()))
    }
}

/// A burst under way.
pub(crate) struct Open {
    pub(crate) kind: Kind,
    /// The module that began it.
    pub(crate) module: u64,
    /// The version that runs.
    pub(crate) version: u32,
    /// The loop it was begun at.
    pub(crate) offset: u32,
    /// Its function, in the module that began it.
    pub(crate) function: u32,
    /// All instrumented code of the module takes part, so its windows are samples of the run; otherwise it looks at one loop or function.
    pub(crate) joint: bool,
    /// What is called takes part whether it had a form for that or not.
    pub(crate) followed: bool,
    /// The function has no code yet, and the burst is over when it returns.
    pub(crate) early: bool,
    /// Timed loads bring the registers.
    pub(crate) registers: bool,
    /// Time stamp of the latest entry; 0 while other code runs.
    pub(crate) running_since: u64,
    /// Ticks before that.
    pub(crate) ticks: u64,
    /// Time stamp of its beginning.
    pub(crate) began: u64,
    /// Microseconds from asking to coming.
    pub(crate) waited_us: u32,
}

/// Those that are told to wait while a block is under way and asked again behind it. A guess.
const MOST_TURNED_AWAY: usize = 64;

/// A loop without code of its own, in which a burst ended that had left code for it.
pub(crate) struct Astray {
    pub(crate) function: u32,
    pub(crate) offset: u32,
    /// Time stamp of that end.
    pub(crate) since: u64,
    /// Events of the function's countdown that had come by then.
    pub(crate) came: u32,
}

/// Which selects leave a record: one in four, at distances from 1 to 7 by chance. At a fixed distance a condition that goes by the loop's round would be seen in one phase only,
/// for as long as the burst lasts.
struct SelectSampling {
    random: u32,
    /// Selects until the next that does.
    left: u32,
}

impl SelectSampling {
    fn new(seed: u32) -> SelectSampling {
        let mut sampling = SelectSampling { random: seed.max(1), left: 0 };
        sampling.reload();
        sampling
    }

    fn reload(&mut self) {
        // xorshift32 (Marsaglia 2003).
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.left = self.random % 7;
    }

    /// Whether this one does.
    fn takes(&mut self) -> bool {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                false
            }
            None => {
                self.reload();
                true
            }
        }
    }
}

/// What a store keeps for bursts.
pub(crate) struct StoreBurst {
    pub(crate) open: Option<Open>,
    pub(crate) predictor: Predictor,
    /// Which selects leave a record.
    selects: SelectSampling,
    /// Number of the latest joint question that it answered.
    pub(crate) answered: u32,
    /// Who came meanwhile and was told to wait for what is on trial: context, function and offset.
    pub(crate) turned_away: Vec<(usize, u32, u32)>,
    /// Time stamp since which something is there that is to answer the joint question and waits, not for being called; 0 while nothing is.
    present_since: u64,
    /// The function that is to go on in its watched form.
    pub(crate) watch: Option<u32>,
    /// Time stamp at which the form that runs was entered; 0 while none does.
    watched_since: u64,
    /// Ticks in watched forms before that, in this burst.
    watched_ticks: u64,
    /// What the latest burst left to templates, while it is not known to be in code again.
    pub(crate) astray: Option<Astray>,
}

impl StoreBurst {
    pub(crate) fn new(seed: u32) -> StoreBurst {
        StoreBurst {
            open: None,
            predictor: Predictor::new(seed),
            selects: SelectSampling::new(seed),
            answered: 0,
            turned_away: Vec::new(),
            present_since: 0,
            watch: None,
            watched_since: 0,
            watched_ticks: 0,
            astray: None,
        }
    }

    /// What is to answer the joint question is there since that time stamp.
    pub(crate) fn is_present(&mut self, since: u64) {
        if self.present_since == 0 || since < self.present_since {
            self.present_since = since;
        }
    }

    /// Ticks since which it is, when the burst begins.
    pub(crate) fn take_present(&mut self) -> u64 {
        match std::mem::take(&mut self.present_since) {
            0 => 0,
            since => ticks().saturating_sub(since),
        }
    }

    /// Takes note of who is to be asked again when the burst begins.
    pub(crate) fn turn_away(&mut self, who: (usize, u32, u32)) {
        self.is_present(ticks());
        if !self.turned_away.contains(&who) && self.turned_away.len() < MOST_TURNED_AWAY {
            self.turned_away.push(who);
        }
    }

    /// That function goes on in its watched form.
    pub(crate) fn watch(&mut self, function: u32) {
        self.watch = Some(function);
        self.watched_since = ticks();
    }

    /// It went on otherwise.
    pub(crate) fn unwatch(&mut self) {
        if self.watched_since != 0 {
            self.watched_ticks += ticks().saturating_sub(std::mem::take(&mut self.watched_since));
        }
    }

    /// So many ticks went by that are paid for by themselves: they are none of the burst's.
    pub(crate) fn excuse(&mut self, ticks: u64) {
        if self.watched_since != 0 {
            self.watched_since += ticks;
        }
        if let Some(open) = &mut self.open {
            open.began += ticks;
        }
    }

    /// Ticks of this burst in watched forms, and the next one's begin.
    pub(crate) fn take_watched_ticks(&mut self) -> u64 {
        self.unwatch();
        std::mem::take(&mut self.watched_ticks)
    }
}

impl Open {
    /// Whether it began in that version; modules number theirs alike.
    pub(crate) fn is_in(&self, module: u64, version: u32) -> bool {
        self.module == module && self.version == version
    }

    /// Other code goes on: the clock stops.
    pub(crate) fn pause(&mut self, now: u64) {
        if self.running_since != 0 {
            self.ticks += now.saturating_sub(self.running_since);
            self.running_since = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of four, whatever the period of what is looked at.
    #[test]
    fn selects_are_taken_by_chance() {
        for period in [2, 3, 4, 5, 8] {
            let mut sampling = SelectSampling::new(88_172_645);
            let taken: Vec<u32> = (0..400_000).filter(|_| sampling.takes()).collect();
            assert!((98_000..102_000).contains(&taken.len()), "{}", taken.len());
            for phase in 0..period {
                let share = taken.iter().filter(|&&nth| nth % period == phase).count() as f64 / taken.len() as f64;
                assert!((share * f64::from(period) - 1.0).abs() < 0.04, "{share} of phase {phase} of {period}");
            }
        }
    }
}
