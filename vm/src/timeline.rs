//! What happened when: compiles, plans, switches, exits, trials and the ends of versions, each with its time since the engine began.
//!
//! Enters: calls from the places where these things happen ([`Timeline::note`]). Leaves: [`Timeline::moments`], plain data for a trace file, a report
//! or a live view. Off by default: then a note costs one load.
//!
//! Invariants:
//! 1. Bounded: beyond [`MOST_MOMENTS`] what comes is counted and dropped, and pulses thin out ([`MOST_PULSES`]).
//! 2. What may happen millions of times (switches, side exits) is noted at its 1st, 2nd, 4th, 8th… time with the number so far (`noteworthy`), so that it
//!    neither floods the list nor costs a lock each time.

use crate::code::{Entrance, Tier};
use serde::Serialize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Moments kept of one engine.
pub const MOST_MOMENTS: usize = 1 << 16;
/// Pulses kept: beyond, every second one goes and half as many come.
pub const MOST_PULSES: usize = 2048;

/// One thing that happened.
#[derive(Clone, Debug, Serialize)]
pub struct Moment {
    /// When, ns since the engine began; of what lasts, its end.
    pub at_ns: u64,
    /// Hash of the module; in JSON hexadecimal.
    #[serde(with = "lwp_feedback::hashtext")]
    pub module: u64,
    /// Index of the function.
    pub function: u32,
    /// Byte offset of the loop it is about; absent for the function itself.
    pub loop_offset: Option<u32>,
    /// Name of the thread it happened on.
    pub thread: String,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum What {
    /// A compile was put into the queue.
    Asked {
        /// By which pipeline.
        tier: Tier,
    },
    /// A compile ended; nothing leads to the version yet.
    Compiled {
        /// The version.
        version: u32,
        /// Pipeline.
        tier: Tier,
        /// How long it took, ns.
        took_ns: u64,
        /// Bytes of machine code, or of bytecode.
        code_bytes: usize,
        /// It is an arm of a trial.
        arm: bool,
        /// It is bytecode, which the interpreter runs for bursts.
        interpreted: bool,
    },
    /// A compile failed.
    Failed {
        /// Pipeline.
        tier: Tier,
        /// The compiler's words.
        reason: String,
    },
    /// The policy looked at the function's records.
    Planned {
        /// What it decided, a name and a place each.
        decisions: Vec<String>,
        /// How much it refused.
        refusals: usize,
    },
    /// Calls, or the rounds of the loop, lead to the version from now on.
    Entered {
        /// The version.
        version: u32,
        /// Its pipeline.
        tier: Tier,
    },
    /// Running code left for other code at a loop header.
    Switched {
        /// Version it left.
        version: u32,
        /// So many switches of the module up to now.
        count: u64,
    },
    /// A guard failed, and the interpreter goes on from there.
    SideExit {
        /// Version that was left.
        version: u32,
        /// Number of the guard in it.
        guard: u32,
        /// So many side exits of the module up to now.
        count: u64,
    },
    /// A trial's first block.
    TrialBegan {
        /// Old and new version.
        versions: [u32; 2],
    },
    /// A trial's verdict.
    TrialEnded {
        /// Old and new version, 0 where none was compiled.
        versions: [u32; 2],
        /// The verdict, as in [`crate::tiering::verdict::Verdict`].
        verdict: crate::tiering::verdict::Verdict,
        /// Candidate's time ÷ old time.
        ratio: Option<f64>,
        /// Pairs of blocks behind it.
        pairs: usize,
        /// Since its first block, ns.
        took_ns: u64,
        /// What was tried, a name and a place each.
        decisions: Vec<String>,
    },
    /// Nothing leads to the version any more.
    Retired {
        /// The version.
        version: u32,
    },
    /// The version's code was given up: no frame was in it.
    Freed {
        /// The version.
        version: u32,
    },
    /// An instrumented burst ended.
    Burst {
        /// Words it wrote.
        words: u32,
        /// Time in instrumented code, ns.
        burst_ns: u64,
        /// Time in the model, ns.
        model_ns: u64,
    },
}

/// The monitor's state at a poll.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pulse {
    /// When, ns since the engine began.
    pub at_ns: u64,
    /// Records drained since the pulse before.
    pub records: u64,
    /// Fill of the fullest ring when it was visited, thousandths; the highest since the pulse before.
    pub fullest_permille: u32,
    /// CPU time of the monitor so far, ns.
    pub cpu_ns: u64,
    /// All that watching cost so far, that included, ns.
    pub watching_ns: u64,
    /// Machine code in use, bytes.
    pub code_bytes: u64,
}

#[derive(Default)]
struct Pulses {
    kept: Vec<Pulse>,
    pending: Pulse,
    /// Shortest time between two, ns.
    step_ns: u64,
}

/// The list, if it is kept.
#[derive(Default)]
pub struct Timeline {
    kept: Option<Kept>,
}

#[derive(Default)]
struct Kept {
    moments: Mutex<Vec<Moment>>,
    pulses: Mutex<Pulses>,
    dropped: AtomicU64,
}

/// First time between two pulses, ns.
const FIRST_STEP_NS: u64 = 1_000_000;

impl Timeline {
    /// A list that is kept, or none.
    pub(crate) fn new(kept: bool) -> Timeline {
        Timeline { kept: kept.then(Kept::default) }
    }

    /// Whether it is kept.
    #[inline(always)]
    pub fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Takes in what happened; `what` is asked for only where the list is kept.
    pub(crate) fn note(&self, at: Duration, module: u64, function: u32, entrance: Entrance, what: impl FnOnce() -> What) {
        let Some(kept) = &self.kept else { return };
        let loop_offset = match entrance {
            Entrance::Body => None,
            Entrance::Loop(offset) => Some(offset),
        };
        // Made before the lock is taken: a guest may be waiting for it.
        let thread = std::thread::current().name().unwrap_or("unnamed").to_owned();
        let moment = Moment { at_ns: at.as_nanos() as u64, module, function, loop_offset, thread, what: what() };
        let mut moments = kept.moments.lock().unwrap_or_else(|error| error.into_inner());
        if moments.len() >= MOST_MOMENTS {
            kept.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        moments.push(moment);
    }

    /// Takes in the monitor's state; `records` and `fullest_permille` are of its last poll.
    pub(crate) fn pulse(&self, now: Pulse) {
        let Some(kept) = &self.kept else { return };
        let mut pulses = kept.pulses.lock().unwrap_or_else(|error| error.into_inner());
        pulses.pending.records += now.records;
        pulses.pending.fullest_permille = pulses.pending.fullest_permille.max(now.fullest_permille);
        let step = pulses.step_ns.max(FIRST_STEP_NS);
        if pulses.kept.last().is_some_and(|last| now.at_ns < last.at_ns + step) {
            return;
        }
        let Pulse { records, fullest_permille, .. } = std::mem::take(&mut pulses.pending);
        pulses.kept.push(Pulse { records, fullest_permille, ..now });
        if pulses.kept.len() >= MOST_PULSES {
            pulses.thin_out();
            pulses.step_ns = step * 2;
        }
    }

    /// All of it so far, oldest first.
    pub fn moments(&self) -> Vec<Moment> {
        let mut moments = self.moments_from(0);
        // Threads note what began before they came to the lock.
        moments.sort_by_key(|moment| moment.at_ns);
        moments
    }

    /// What was noted from number `first` on, in the order in which it was noted.
    pub fn moments_from(&self, first: usize) -> Vec<Moment> {
        let Some(kept) = &self.kept else { return Vec::new() };
        let moments = kept.moments.lock().unwrap_or_else(|error| error.into_inner());
        moments.get(first..).map_or(Vec::new(), <[Moment]>::to_vec)
    }

    /// Pulses so far, oldest first.
    pub fn pulses(&self) -> Vec<Pulse> {
        self.kept.as_ref().map_or(Vec::new(), |kept| kept.pulses.lock().unwrap_or_else(|error| error.into_inner()).kept.clone())
    }

    /// Moments that found no room.
    pub fn dropped(&self) -> u64 {
        self.kept.as_ref().map_or(0, |kept| kept.dropped.load(Ordering::Relaxed))
    }
}

impl Pulses {
    /// Two become one.
    fn thin_out(&mut self) {
        let pairs = self.kept.chunks(2).map(|pair| {
            let last = pair[pair.len() - 1];
            let records = pair.iter().map(|pulse| pulse.records).sum();
            let fullest_permille = pair.iter().map(|pulse| pulse.fullest_permille).max().unwrap_or(0);
            Pulse { records, fullest_permille, ..last }
        });
        self.kept = pairs.collect();
    }
}

/// Whether the `count`-th time (from 1) of something frequent is noted.
pub(crate) fn noteworthy(count: u64) -> bool {
    count.is_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(timeline: &Timeline, at: u64) {
        timeline.note(Duration::from_nanos(at), 1, 2, Entrance::Loop(3), || What::Retired { version: 4 });
    }

    #[test]
    fn nothing_is_kept_unless_asked_for() {
        let off = Timeline::new(false);
        off.note(Duration::ZERO, 0, 0, Entrance::Body, || panic!("not asked for"));
        off.pulse(Pulse { records: 1, ..Pulse::default() });
        assert!(off.moments().is_empty() && off.pulses().is_empty());
    }

    #[test]
    fn the_list_is_bounded_and_says_what_it_dropped() {
        let timeline = Timeline::new(true);
        (0..MOST_MOMENTS as u64 + 5).for_each(|at| note(&timeline, at));
        assert_eq!((timeline.moments().len(), timeline.dropped()), (MOST_MOMENTS, 5));
        assert_eq!(timeline.moments_from(MOST_MOMENTS - 1).len(), 1);
        assert!(timeline.moments_from(MOST_MOMENTS + 1).is_empty());
    }

    #[test]
    fn pulses_thin_out_and_lose_no_record() {
        let timeline = Timeline::new(true);
        for at in 0..20_000u64 {
            timeline.pulse(Pulse { at_ns: at * 1_000_000, records: 3, fullest_permille: (at % 1000) as u32, ..Pulse::default() });
        }
        let pulses = timeline.pulses();
        assert!(pulses.len() < MOST_PULSES && pulses.len() > MOST_PULSES / 4, "{}", pulses.len());
        let pending = timeline.kept.as_ref().unwrap().pulses.lock().unwrap().pending.records;
        assert_eq!(pulses.iter().map(|pulse| pulse.records).sum::<u64>() + pending, 60_000);
        assert!(pulses.windows(2).all(|pair| pair[0].at_ns < pair[1].at_ns));
        assert!(pulses.iter().any(|pulse| pulse.fullest_permille == 999));
    }
}
