//! The monitor: one task that drains any number of rings, resolves their records and feeds the profile.
//!
//! In: rings ([`Monitor::add_ring`]), the code map. Out: the profile, and calls to a [`Listener`] for the records it must act on. It
//! polls with an interval that adapts between two bounds, and rings whose threshold is crossed wake it. Records are copied out and
//! the ring's tail advanced before any is looked at. For producers of bursts that fill a ring within a poll there is
//! [`MonitorConfig::reserve_records`].
//!
//! Invariants:
//! 1. One visit to a ring handles at most what was published when the visit began: its reserve and at most `records_per_visit` of the
//!    ring. A ring that is always full costs every other ring a bounded wait, never its turn.
//! 2. Back-pressure never reaches a producer: a ring that is not drained fast enough counts MissedEvents.
//! 3. The retire epoch is read before any head, so that a ring drained up to that head has passed the epoch (see [`crate::codemap`]). A
//!    deferred ring passes an epoch when its owner answered a flush that was asked for after the epoch was read.
//! 4. Whatever a ring holds, the monitor neither panics nor grows: what does not resolve is counted.

mod intake;
mod resolution;
mod rings;
pub(crate) mod stats;
mod thread;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use crate::class::SiteClass;
use crate::codemap::{CodeMap, FunctionId, Resolved, Tier};
use crate::layout::{EventId, RECORD_BYTES, Record};
use crate::models::{Counts, Delivery, Event, is_poll};
use crate::profile::Profile;
use crate::ring::{Ring, RingWaker, time_stamp};

use intake::{Intake, Taken};
use resolution::ResolutionCache;
use stats::Counters;
use thread::Bell;

pub use rings::RingState;
pub use stats::{Distribution, MonitorStats};
pub use thread::MonitorThread;

/// How the monitor polls.
#[derive(Clone, Debug)]
pub struct MonitorConfig {
    /// Shortest wait between two polls. The timer's step is 1 ms; fuller rings wake the monitor through their threshold.
    pub min_interval: Duration,
    /// Longest wait between two polls, unless [`Self::poll_share`] makes them rarer.
    pub max_interval: Duration,
    /// Most records handled in one visit to one ring.
    pub records_per_visit: usize,
    /// Most records of a ring that its producer sets aside, as the architecture's interrupt handler would, when it crosses the ring's threshold; 0: the
    /// crossing wakes the monitor instead. Memory (32 bytes a record) is touched as it is used.
    pub reserve_records: usize,
    /// Share of the time, 0 to 1, that handling the values of one ring may take, where the ring [adapts](crate::ring::RingConfig::adapts): they are sampled
    /// less while it takes more, and as at first again once it takes less than a quarter. While a ring is new ([`LEARNING`]) it may take [`LEARNING_FACTOR`] times as much.
    pub drain_share: f64,
    /// Share of the time, 0 to 1, that polls may take while nothing [hurries](Listener::haste): they are as much rarer, down to one in
    /// twelve [`Self::max_interval`]s. 1: no limit.
    pub poll_share: f64,
}

/// Part of the time since something new began to run that hot records wait for the monitor, at most until its next poll. A poll takes tens of microseconds
/// with the switch to its thread and back, and a program as large as CPython has a hot record each half millisecond: one at a time they took 3 % of its run. What waits
/// for a compile loses less than this part of the run. A guess.
const HOT_WAITS: u32 = 64;

/// How long something counts as new.
pub const LEARNING: Duration = Duration::from_secs(1);
/// What watching something new may cost, times what it may cost otherwise: what is learned early pays longest.
pub const LEARNING_FACTOR: f64 = 5.0;

impl Default for MonitorConfig {
    fn default() -> Self {
        // 20 ms: 70 polls per second, 0.1 to 0.5 % of a CPU. What is new does not wait for it.
        Self {
            min_interval: Duration::from_millis(1),
            max_interval: Duration::from_millis(20),
            records_per_visit: 8192,
            reserve_records: 0,
            // A guess.
            drain_share: 0.005,
            poll_share: 1.0,
        }
    }
}

/// Names a ring in the monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RingId(pub u64);

/// A resolved LWPINS record of a known class: something to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hot {
    /// The ring it came from.
    pub ring: RingId,
    /// The function.
    pub function: FunctionId,
    /// Offset of the operator.
    pub wasm_offset: u32,
    /// What it says: `HotFunction`, `HotLoop`, `SideExit`, `PhaseMark` or `LoopMark`.
    pub kind: SiteClass,
    /// The class's detail.
    pub detail: u8,
    /// Version of the code that wrote it.
    pub version: u32,
    /// What compiled that version.
    pub tier: Tier,
    /// Time stamp of the record, 0 where PTSC is off.
    pub tsc: u64,
    /// Data1.
    pub data1: u32,
    /// Data2: the count or value.
    pub value: u64,
}

/// How soon a listener wants the next tick: what polls may take of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Haste {
    /// Their [share](MonitorConfig::poll_share).
    None,
    /// [`LEARNING_FACTOR`] times that: something waits, and a tick costs much.
    Some,
    /// Whatever they cost.
    Full,
}

/// Acts on records. Called on the monitor's task, so it must be quick, must not block, and must not call back into the [`Monitor`] it
/// belongs to (except to add rings).
pub trait Listener: Send {
    /// An LWPINS record.
    fn hot(&mut self, event: &Hot);

    /// Whether [`Self::record`] is to be called.
    fn wants_records(&self) -> bool {
        false
    }

    /// Every record, for recorders.
    fn record(&mut self, _ring: RingId, _record: &Record, _resolved: Option<&Resolved>) {}

    /// The ring missed so many records since the last call, for recorders: called where [`Self::record`] is, after the visit's records.
    fn missed(&mut self, _ring: RingId, _count: u64) {}

    /// A poll that handled records is over: the time to look at the profile.
    fn polled(&mut self, _summary: &PollSummary) {}

    /// A poll is over, whether it found records or not: the monitor's pulse.
    fn tick(&mut self, _summary: &PollSummary) {}

    /// How much something waits for the next tick.
    fn haste(&self) -> Haste {
        Haste::Full
    }

    /// Whether nothing runs that could write a record, and nothing waits for a tick: after [`QUIET`] polls without a record no other comes for [`SLEEP`], unless
    /// the monitor is [roused](Monitor::rouse).
    fn is_idle(&self) -> bool {
        false
    }
}

/// Polls without a record after which a listener is asked whether it [is idle](Listener::is_idle): two seconds of them.
pub const QUIET: u32 = 32;
/// How long the monitor sleeps where nothing runs.
pub const SLEEP: Duration = Duration::from_secs(10);

/// When the next poll is due.
enum Next {
    AtOnce,
    After(Duration),
    Never,
}

/// Polls in the average of what one takes. A guess.
const POLLS_AVERAGED: f64 = 16.0;
/// Longest wait between polls that cost too much, times what hot records may wait: a run of a few seconds is to be seen at many moments. (Without it `priority_queue` and `raytrace` lost 2 points of accuracy in runs of
/// five seconds.)
const POLLS_WAIT: u32 = 2;
/// The same in any run, in [`MonitorConfig::max_interval`]s: what a program does next is seen after that time.
const SPARSEST: u32 = 12;

/// Acts on nothing.
#[derive(Debug, Default)]
pub struct NoListener;

impl Listener for NoListener {
    fn hot(&mut self, _event: &Hot) {}
}

/// What one poll did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollSummary {
    /// Records handled.
    pub records: usize,
    /// Rings visited.
    pub rings: usize,
    /// Some ring holds more: poll again at once.
    pub more: bool,
    /// Some ring still holds what was published when it was visited: `more`, or a ring with a reserve was left to its producer until a later poll.
    pub left: bool,
    /// How long to wait otherwise.
    pub next_poll: Duration,
    /// CPU time the monitor took so far, as of the poll before, nanoseconds.
    pub cpu_ns: u64,
    /// Fill of the fullest ring when it was visited, thousandths.
    pub fullest_permille: u32,
}

/// The ring has a consumer already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ring has a consumer already")]
pub struct RingTaken;

/// Whether hot records may wait now, and whether one came since the latest poll began. The first of a wait has the monitor look again at how long it
/// waits; without any it is woken once, at the end (to be woken is a fifth of what a poll takes, and where nothing new becomes hot there are polls with hardly any such record).
#[derive(Default)]
struct Doze {
    asleep: AtomicBool,
    hot: AtomicBool,
    /// The monitor sleeps for [`SLEEP`], or is about to.
    sound: AtomicBool,
}

/// A wait for the next poll.
struct Wait {
    began: Instant,
    /// How long hot records may wait.
    for_hot: Duration,
    most: Duration,
}

struct Waker {
    bell: Arc<Bell>,
    doze: Arc<Doze>,
    intake: Weak<Intake>,
}

impl RingWaker for Waker {
    fn wake(&self) {
        self.bell.ring();
    }

    fn hot(&self) {
        // Either this is seen where the wait begins, or its beginning is seen here.
        let first = !self.doze.hot.swap(true, Ordering::SeqCst);
        if !self.doze.asleep.load(Ordering::SeqCst) {
            self.bell.ring();
        } else if first {
            self.bell.nudge();
        }
    }

    fn threshold(&self) {
        if !self.intake.upgrade().is_some_and(|intake| intake.interrupt()) {
            self.wake();
        }
    }
}

struct Slot {
    id: RingId,
    added: Instant,
    intake: Arc<Intake>,
    missed_seen: u64,
    /// Retire epoch this ring has passed.
    passed: u64,
    /// Deferred rings: the request under way and the epoch read before it.
    flush_sequence: u64,
    flush_epoch: u64,
}

/// Records over which the time that one takes is averaged: enough that a visit that was interrupted counts little. A guess.
const AVERAGED: f64 = 1024.0;

struct Core {
    rings: Vec<Slot>,
    /// Records of the visit under way.
    taken: Vec<Record>,
    listener: Box<dyn Listener>,
    /// What stands between the records and the profile; none: nothing.
    delivery: Option<(Box<dyn Delivery>, Counts)>,
    cache: ResolutionCache,
    interval: Duration,
    /// Polls so far.
    turns: u32,
    /// The last ones without a record.
    quiet: u32,
    last_poll: Option<Instant>,
    counters: Counters,
    /// The named thread, once it runs. It does nothing else: all its CPU time is the monitor's.
    owner: Option<ThreadId>,
    /// CPU time of the named thread, and of polls on other threads. Nanoseconds.
    owner_cpu_ns: u64,
    other_cpu_ns: u64,
    /// Time stamp ticks that producers spent on setting records aside.
    producer_ticks: u64,
    /// What handling a record takes, nanoseconds, on average over the last [`AVERAGED`].
    record_ns: f64,
    /// CPU time of a poll with the switches to the thread and back, nanoseconds, on average over the last [`POLLS_AVERAGED`].
    poll_ns: f64,
}

/// The monitor. Shared by reference; the work happens in whoever calls [`Self::poll_once`] or polls [`Self::run`], or on the thread of
/// [`Self::spawn`].
pub struct Monitor {
    config: MonitorConfig,
    code: Arc<CodeMap>,
    profile: Arc<Profile>,
    bell: Arc<Bell>,
    doze: Arc<Doze>,
    /// When something new began to run: nanoseconds since `started`.
    new_since: AtomicU64,
    inbox: Mutex<Vec<Slot>>,
    leaving: Mutex<Vec<RingId>>,
    next_id: AtomicU64,
    stopping: AtomicBool,
    core: Mutex<Core>,
    started: (Instant, u64),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Monitor {
    /// A monitor without rings.
    pub fn new(config: MonitorConfig, code: Arc<CodeMap>, profile: Arc<Profile>, listener: Box<dyn Listener>) -> Self {
        let (interval, taken) = (config.min_interval, Vec::with_capacity(config.reserve_records));
        Self {
            config,
            code,
            profile,
            bell: Arc::default(),
            doze: Arc::default(),
            new_since: AtomicU64::new(0),
            inbox: Mutex::new(Vec::new()),
            leaving: Mutex::new(Vec::new()),
            next_id: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
            core: Mutex::new(Core {
                rings: Vec::new(),
                taken,
                listener,
                delivery: None,
                cache: ResolutionCache::new(),
                interval,
                turns: 0,
                quiet: 0,
                last_poll: None,
                counters: Counters::new(),
                owner: None,
                owner_cpu_ns: 0,
                other_cpu_ns: 0,
                producer_ticks: 0,
                record_ns: 0.0,
                poll_ns: 0.0,
            }),
            started: (Instant::now(), time_stamp()),
        }
    }

    /// Adds a ring, from any thread. It is drained and dropped when it is closed or when nobody else holds it.
    pub fn add_ring(&self, ring: Arc<Ring>) -> Result<RingId, RingTaken> {
        let intake = Arc::new(Intake::new(ring.consumer().ok_or(RingTaken)?, self.config.reserve_records));
        drop(ring);
        let id = RingId(self.next_id.fetch_add(1, Ordering::Relaxed));
        intake.ring.set_waker(Some(Arc::new(Waker { bell: self.bell.clone(), doze: self.doze.clone(), intake: Arc::downgrade(&intake) })));
        let slot = Slot { id, added: Instant::now(), missed_seen: 0, intake, passed: 0, flush_sequence: 0, flush_epoch: 0 };
        lock(&self.inbox).push(slot);
        self.bell.ring();
        Ok(id)
    }

    /// Drains and drops a ring at the next poll, from any thread.
    pub fn remove_ring(&self, id: RingId) {
        lock(&self.leaving).push(id);
        self.bell.ring();
    }

    /// From now on the profile gets what the model delivers of the records. LWPINS records, which ask for code, are not the model's.
    pub fn deliver_by(&self, delivery: Box<dyn Delivery>) {
        lock(&self.core).delivery = Some((delivery, Counts::default()));
    }

    /// What the model did so far, where there is one.
    pub fn delivery_counts(&self) -> Option<Counts> {
        lock(&self.core).delivery.as_ref().map(|(_, counts)| *counts)
    }

    /// The profile that is fed.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// The code map that is asked.
    pub fn code(&self) -> &Arc<CodeMap> {
        &self.code
    }

    /// Wakes [`Self::run`].
    pub fn wake(&self) {
        self.bell.ring();
    }

    /// Something begins to run, or waits for a tick: called after what [`Listener::is_idle`] reads says so. It costs two loads where the monitor does not sleep.
    #[inline]
    pub fn rouse(&self) {
        if self.doze.sound.load(Ordering::SeqCst) {
            self.bell.ring();
        }
    }

    /// Something new begins to run: its hot records wait for hardly anything.
    pub fn expect_new(&self) {
        self.new_since.store(self.started.0.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.doze.asleep.store(false, Ordering::SeqCst);
        if self.doze.hot.load(Ordering::SeqCst) {
            self.wake();
        }
    }

    /// How long hot records may wait now, at most until the next poll.
    fn hot_waits(&self) -> Duration {
        let new_since = Duration::from_nanos(self.new_since.load(Ordering::Relaxed));
        self.started.0.elapsed().saturating_sub(new_since) / HOT_WAITS
    }

    /// Waits for the next poll: for `most`, or a threshold or a change of rings, or a hot record after its time.
    async fn wait(&self, most: Duration) {
        let doze = self.doze_off(most);
        self.bell.heard(|| self.left(&doze)).await;
        self.awake();
    }

    /// The same, of the thread that does nothing else.
    fn wait_here(&self, most: Duration) {
        let doze = self.doze_off(most);
        self.bell.heard_here(|| self.left(&doze));
        self.awake();
    }

    fn awake(&self) {
        self.doze.asleep.store(false, Ordering::SeqCst);
        self.doze.sound.store(false, Ordering::SeqCst);
    }

    /// A wait begins, for a part of which hot records may wait.
    fn doze_off(&self, most: Duration) -> Wait {
        let for_hot = self.hot_waits().min(most);
        // The timer's step.
        let for_hot = if for_hot < Duration::from_millis(1) { Duration::ZERO } else { for_hot };
        self.doze.asleep.store(!for_hot.is_zero(), Ordering::SeqCst);
        Wait { began: Instant::now(), for_hot, most }
    }

    /// What is left of a wait.
    fn left(&self, wait: &Wait) -> Duration {
        let all = if self.doze.hot.load(Ordering::SeqCst) { wait.for_hot } else { wait.most };
        all.saturating_sub(wait.began.elapsed())
    }

    /// Makes [`Self::run`] return after a last poll.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.bell.ring();
    }

    /// Statistics so far.
    pub fn stats(&self) -> MonitorStats {
        let core = lock(&self.core);
        core.counters.report(core.rings.len(), self.ns_per_tick())
    }

    fn ns_per_tick(&self) -> f64 {
        let (began, began_ticks) = self.started;
        began.elapsed().as_nanos() as f64 / time_stamp().saturating_sub(began_ticks).max(1) as f64
    }

    /// Polls until [`Self::stop`], for a host that has a tokio runtime (with its timer on) of its own.
    pub async fn run(&self) {
        loop {
            match self.turn() {
                Next::AtOnce => tokio::task::yield_now().await,
                Next::After(wait) => self.wait(wait).await,
                Next::Never => return,
            }
        }
    }

    /// The same on the thread that calls it. On a virtual machine it takes 50 us of CPU time to be woken; a runtime's timer takes as long again, with all that it
    /// touches for the first time in a while.
    fn run_here(&self) {
        loop {
            match self.turn() {
                Next::AtOnce => std::thread::yield_now(),
                Next::After(wait) => self.wait_here(wait),
                Next::Never => return,
            }
        }
    }

    /// A poll of [`Self::run`].
    fn turn(&self) -> Next {
        let stopping = self.stopping.load(Ordering::Acquire);
        self.doze.hot.store(false, Ordering::SeqCst);
        let summary = self.poll_once();
        match stopping {
            _ if summary.more => Next::AtOnce,
            true if summary.left => Next::AtOnce,
            true => Next::Never,
            false if self.falls_asleep(&summary) => Next::After(SLEEP),
            false => Next::After(summary.next_poll),
        }
    }

    /// Whether nothing runs, and nothing did for a while.
    fn falls_asleep(&self, summary: &PollSummary) -> bool {
        let mut core = lock(&self.core);
        let quiet = summary.records == 0 && !summary.left;
        core.quiet = if quiet { core.quiet.saturating_add(1) } else { 0 };
        if core.quiet < QUIET {
            return false;
        }
        // Before it is asked: what begins to run meanwhile sees this, or is seen.
        self.doze.sound.store(true, Ordering::SeqCst);
        let idle = core.listener.is_idle();
        if !idle {
            self.doze.sound.store(false, Ordering::SeqCst);
        }
        idle
    }

    /// Visits every ring once.
    pub fn poll_once(&self) -> PollSummary {
        let mut core = lock(&self.core);
        let core = &mut *core;
        let cpu_before = stats::thread_cpu_ns();
        let now = Instant::now();
        let mut elapsed = self.config.max_interval;
        if let Some(last) = core.last_poll.replace(now) {
            elapsed = now - last;
            core.counters.poll_interval(elapsed);
        }
        core.rings.append(&mut lock(&self.inbox));
        let leaving = std::mem::take(&mut *lock(&self.leaving));

        // Invariant 3: before any head.
        let epoch = self.code.retire_epoch();
        let generation = self.code.generation();

        let mut summary = PollSummary {
            records: 0,
            rings: core.rings.len(),
            more: false,
            left: false,
            next_poll: core.interval,
            cpu_ns: core.counters.cpu_ns,
            fullest_permille: 0,
        };
        let mut fullest = 0.0f64;
        let mut passed = epoch;
        let mut rings = std::mem::take(&mut core.rings);
        rings.retain_mut(|slot| {
            let visit = self.visit(core, slot, (epoch, generation), leaving.contains(&slot.id), elapsed);
            summary.records += visit.records;
            summary.more |= visit.more;
            summary.left |= visit.left;
            fullest = fullest.max(visit.fill);
            if !visit.finished {
                passed = passed.min(slot.passed);
            }
            !visit.finished
        });
        core.rings = rings;
        self.code.release(passed);

        core.interval = self.next_interval(core.interval, fullest);
        core.turns = core.turns.wrapping_add(1);
        summary.fullest_permille = (fullest * 1000.0) as u32;
        core.counters.poll(summary.records);
        if summary.records > 0 {
            core.listener.polled(&summary);
        }
        core.listener.tick(&summary);
        let interval = match core.listener.haste() {
            Haste::Full => core.interval,
            Haste::Some => core.interval.max(self.affordable(core.poll_ns / LEARNING_FACTOR)),
            Haste::None => core.interval.max(self.affordable(core.poll_ns)),
        };
        summary.next_poll = self.uneven(interval, core.turns);
        let cpu_after = stats::thread_cpu_ns();
        if core.owner == Some(std::thread::current().id()) {
            core.poll_ns += (cpu_after.saturating_sub(core.owner_cpu_ns) as f64 - core.poll_ns) / POLLS_AVERAGED;
            core.owner_cpu_ns = cpu_after;
        } else {
            core.other_cpu_ns += cpu_after.saturating_sub(cpu_before);
        }
        core.counters.cpu_ns = core.owner_cpu_ns + core.other_cpu_ns + (core.producer_ticks as f64 * self.ns_per_tick()) as u64;
        summary
    }

    fn visit(&self, core: &mut Core, slot: &mut Slot, (epoch, generation): (u64, u64), leaving: bool, elapsed: Duration) -> Visit {
        let ring = &slot.intake.ring;
        // Two references are the intake's and its consumer's: no producer is left, so its head may be flushed for it.
        let orphaned = Arc::strong_count(ring) == 2;
        std::sync::atomic::fence(Ordering::Acquire);
        let finishing = leaving || orphaned || ring.is_closed();
        let mut reachable = epoch;
        if ring.is_deferred() {
            if orphaned {
                ring.flush();
            } else {
                let answered = ring.flushed_sequence() == slot.flush_sequence;
                reachable = if answered { slot.flush_epoch } else { slot.passed };
                if answered {
                    slot.flush_sequence += 1;
                    slot.flush_epoch = epoch;
                    ring.request_flush(slot.flush_sequence);
                }
            }
        }

        let limit = if finishing { usize::MAX } else { self.config.records_per_visit };
        let now = time_stamp();
        let mut taken = std::mem::take(&mut core.taken);
        let Taken { more, all, first } = slot.intake.take(limit, &mut taken);
        core.producer_ticks += slot.intake.take_ticks();
        let records = taken.len();
        let fill = (records as f64 * f64::from(RECORD_BYTES) / f64::from(ring.buffer_bytes())).min(1.0);
        let Core { listener, cache, counters, delivery, record_ns, taken: kept, .. } = core;
        let wants_records = listener.wants_records();
        let (began, mut values) = (Instant::now(), 0);
        for (record, number) in taken.iter().zip(first..) {
            values += usize::from(record.event_id() == EventId::VALUE);
            if record.tsc() != 0 {
                counters.lag(now.saturating_sub(record.tsc()));
            }
            let ask = || self.code.resolve_record(record);
            // (a clock's address may be that of a site, and means something else)
            let resolved = if record.event_id().is_clock() { ask() } else { cache.resolve(record.address(), generation, ask) };
            if wants_records {
                listener.record(slot.id, record, resolved.as_ref());
            }
            let Some(resolved) = resolved else {
                counters.unresolved += 1;
                continue;
            };
            let poll = is_poll(record);
            match delivery.as_mut().filter(|_| poll || record.event_id() != EventId::PROGRAMMED) {
                Some((delivery, counts)) => {
                    let event =
                        Event { ring: slot.id.0, record: *record, site: resolved, registers: ring.take_registers(number).map(Box::new) };
                    let mut delivered = 0;
                    let sink = &mut |site: &Resolved, record: &Record| {
                        delivered += 1;
                        self.profile.apply(site, record);
                    };
                    if poll {
                        delivery.poll(&event, counts, sink)
                    } else {
                        delivery.event(&event, counts, sink)
                    }
                    counts.records += delivered;
                }
                // A poll is only the model's: it says nothing of the program.
                None if poll => {}
                None => self.profile.apply(&resolved, record),
            }
            if record.event_id() == EventId::PROGRAMMED
                && !poll
                && let Some((kind, detail)) = SiteClass::from_imm16(record.flags()).filter(|(class, _)| class.is_programmed())
            {
                let Resolved { function, version, tier, wasm_offset } = resolved;
                let (tsc, data1, value) = (record.tsc(), record.data1(), record.data2());
                listener.hot(&Hot { ring: slot.id, function, wasm_offset, kind, detail, version, tier, tsc, data1, value });
            }
        }
        taken.clear();
        *kept = taken;
        if records > 0 {
            let each = began.elapsed().as_nanos() as f64 / records as f64;
            *record_ns += (each - *record_ns) * (records as f64 / AVERAGED).min(1.0);
        }
        let missed = ring.missed();
        let newly_missed = missed.wrapping_sub(slot.missed_seen);
        counters.missed += newly_missed;
        let took = values as f64 * *record_ns / (elapsed.as_secs_f64().max(1e-3) * 1e9);
        let share = self.config.drain_share * if slot.added.elapsed() < LEARNING { LEARNING_FACTOR } else { 1.0 };
        ring.adapt_interval1(newly_missed > 0 || took > share, took < share / 4.0);
        slot.missed_seen = missed;
        if wants_records && newly_missed != 0 {
            listener.missed(slot.id, newly_missed);
        }
        if all {
            slot.passed = slot.passed.max(reachable);
        }
        if finishing {
            ring.set_waker(None);
        }
        Visit { records, more: more && !finishing, left: !all && !finishing, fill, finished: finishing }
    }

    /// The interval at which polls that take so long are within their share.
    fn affordable(&self, poll_ns: f64) -> Duration {
        // (hot records do not wait for all of it: see `wait`)
        let most = (self.config.max_interval * SPARSEST).min(self.hot_waits() * POLLS_WAIT);
        // Of an interval the mean wait is three quarters.
        let seconds = poll_ns / 1e9 / self.config.poll_share.max(1e-9) * 4.0 / 3.0;
        Duration::from_secs_f64(seconds.min(most.as_secs_f64()))
    }

    /// The wait of a turn: between half the interval and all of it, spread evenly (multiples of the golden section). What is asked at even intervals would be asked
    /// at the same place of a program whose rounds take as long, or an even part of it.
    fn uneven(&self, interval: Duration, turn: u32) -> Duration {
        let part = f64::from(turn.wrapping_mul(0x9e37_79b9)) / f64::from(u32::MAX);
        interval.mul_f64(0.5 + part / 2.0).max(self.config.min_interval)
    }

    /// Halves the interval while a ring is a quarter full at its visit, lengthens it while all stay under a sixteenth.
    fn next_interval(&self, interval: Duration, fullest: f64) -> Duration {
        let next = if fullest >= 0.25 {
            interval / 2
        } else if fullest < 0.0625 {
            interval * 3 / 2
        } else {
            interval
        };
        next.clamp(self.config.min_interval, self.config.max_interval)
    }
}

struct Visit {
    records: usize,
    more: bool,
    left: bool,
    fill: f64,
    finished: bool,
}

#[cfg(test)]
mod tests;
