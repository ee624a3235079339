//! When the loops and bodies of a module get bursts ([`crate::burst`]), and what begins and ends them.
//!
//! Those that are hot are [candidates](super::candidates), with instrumented code. At each of its ticks the monitor's thread asks
//! some candidates to come: it writes the loop's tag into the function's poll word. Whoever runs that loop leaves at its next header, finds the
//! instrumented entrance here, and at the burst's end leaves for the loop's ordinary code. A function that returns before its burst is full asks to come
//! again.
//!
//! A function without loops that becomes hot gets bursts too: while it is asked, its code's [detour](crate::detour) leads to its instrumented body, or where it has no code of its own or a trial has its calls its
//! instances' entries do. That begins the burst at a call and, when it is full or none may begin, hands the call on to the ordinary code.

use super::ModuleCode;
use super::candidates::{Candidate, KEPT_SERVES_FOR, Returned, SeenFunction};
use super::edges::stop_asking_loop;
use super::thresholds::{WATCHED_FROM, by_cost};
use super::{CodeVersion, Published};
use crate::burst::{AT_ENTRY, AT_RETURN, ENOUGH, Kind, Open, ProbeTable, Ring, Starts, StoreBurst, count, finish, ticks};
use crate::code::{CompileRequest, CompiledCode, Entrance, ProbeKind, Tier};
use crate::engine::{FeedbackPolicy, lock, try_lock};
use crate::layout::{BURST_WORDS, VmContext};
use crate::runtime::{instance, store_state};
use crate::timeline::What;
use lwp_feedback::calibrate::{known_plateaus, request_plateaus};
use lwp_feedback::layout::EventId;
use lwp_feedback::ring::refresh_core_id;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

/// What runs for less will not gain by knowing where its loads come from; measuring that takes some 10 ms, a thirtieth of CPython's first `print(1)`.
const CALIBRATES_AFTER: Duration = Duration::from_millis(300);
/// Candidates asked at one tick. Asking one that does not run costs nothing.
pub(super) const ASKED_AT_ONCE: usize = 8;
/// More candidates than these are a crowd: to ask each for one burst takes so many ticks. A guess.
const CROWD: usize = 64;
/// One that did not come within this time makes room for others.
const PATIENCE: Duration = Duration::from_millis(40);
/// A burst gives way to a body that is called once it has been open for this long, ns: some ten times as long as one whose code runs all the time. A guess.
const MOST_BURST_NS: f64 = 2e6;
/// Nanoseconds that a word in a body's burst costs: most of the time between its calls is other code's. Measured: 1 to 2 ns, and the entry asks.
const BODY_WORD_NS: f64 = 4.0;
/// For as long another store's burst keeps the calls that it has asked for, ns: some three times as long as one whose code runs all the time. A guess.
const OTHERS_BURST_NS: f64 = 3e5;
/// Calls in a burst of something that takes no part in it from which on it is to take part. A guess.
const MOST_UNSEEN: u32 = 8;
/// Ticks after which the same questions come again, when nothing is new any more and credit is short.
const STEADY_TURNS: u32 = 16;
/// Nanoseconds that a burst's stay in watched forms counts for at most: one that trapped says when the next burst ended.
const MOST_WATCHED_NS: f64 = 2e6;
/// And where calls are followed for so many, and so many for each word: the rest of such a stay is of ordinary code that watched code called. Cold, a word takes 150 to 400 ns. (One stay of 11.7 ms that wrote 600 words was charged 2 ms, what is
/// earned in a second.)
const WATCHED_NS: f64 = 20e3;
const WATCHED_WORD_NS: f64 = 500.0;
/// Where calls are followed, bursts that only count come so often in a run, and at distances between these.
const COUNTS_IN_RUN: u32 = 64;
const LEAST_DISTANCE: Duration = Duration::from_millis(25);
const MOST_DISTANCE: Duration = Duration::from_millis(250);
/// What other bursts leave of the credit for those, but for the first that is asked behind one. A guess: two of them.
const LEFT_FOR_COUNTS: Duration = Duration::from_micros(100);
/// The limit while no burst is under way and there is no code to leave to: when to ask again.
pub(super) const IDLE_WORDS: u32 = 1 << 15;

/// A question to all instrumented code of the module: whoever comes first begins a burst, and all take part in it. The moment is the monitor's, so what
/// such bursts see is a sample of the run's time; what one loop is asked for is a sample of that loop.
struct Joint {
    /// Its number in the engine; 0 before the first.
    number: u32,
    /// When it was asked, while nobody has come.
    asked: Option<Instant>,
    /// Functions whose calls lead to instrumented bodies for it.
    bodies: Vec<u32>,
    /// Questions, to one or to all.
    turns: u32,
    /// Those to all that were not only for counts; every other one times loads, where there are any.
    looks: u32,
    /// What the latest one wants to see.
    kind: Kind,
    /// When one was last asked that only counts, and what else was asked since, where calls are followed.
    counted: Option<Instant>,
    asked_since: u32,
    /// Of the small bodies of which some are asked at a time, the one that is next, by kind.
    small: [usize; 3],
}

impl Default for Joint {
    fn default() -> Joint {
        Joint {
            number: 0,
            asked: None,
            bodies: Vec::new(),
            turns: 0,
            looks: 0,
            kind: Kind::Counts,
            counted: None,
            asked_since: 0,
            small: [0; 3],
        }
    }
}

/// What a tick asks for.
#[derive(Debug, PartialEq)]
enum Turn {
    /// Some candidates, each by itself.
    Each,
    /// All together; whether they only count.
    Together { counts: bool },
}

impl Joint {
    /// What comes next. While something is new or credit is not what is short, three of four ticks are for what loops are like. Otherwise most only count:
    /// that costs a tenth.
    /// While there is plenty, of many, one by one says little: then there are more that count in the place of half of those. (Of three quarters, loads were timed a tenth as often.)
    fn turn(&self, plenty: bool, crowded: bool) -> Turn {
        match (plenty, self.turns % if plenty { 4 } else { STEADY_TURNS }) {
            (true, 1) | (false, 8) => Turn::Together { counts: false },
            (true, 2) if crowded => Turn::Together { counts: true },
            (true, 0 | 2) | (false, 0) => Turn::Each,
            _ => Turn::Together { counts: true },
        }
    }

    /// The same where calls are followed, in programs so large that something is new at all times. Questions that only count come at even distances, before all others: each stands for the time since the one before, and
    /// one as soon as another was answered sees the same again. (Of the 44 that a CPython run of 6 s had, half came within a millisecond of another one, and four stood for 2.5 s.)
    fn followed_turn(&mut self, now: Instant, ran_for: Duration, asks_all: bool) -> Turn {
        let distance = (ran_for / COUNTS_IN_RUN).clamp(LEAST_DISTANCE, MOST_DISTANCE);
        // (where so little is earned that one uses up all until the next, the others have every other turn)
        let due = self.counted.is_none_or(|at| self.asked_since > 0 && now.duration_since(at) >= distance);
        if due && asks_all {
            (self.counted, self.asked_since) = (Some(now), 0);
            return Turn::Together { counts: true };
        }
        self.turns = self.turns.wrapping_add(1);
        // (one by one, of a thousand candidates, says little of the few that matter)
        if self.turns.is_multiple_of(2) { Turn::Each } else { Turn::Together { counts: false } }
    }

    /// Leaves those of the small bodies that the latest question is for. They are seen where code that is seen calls them; seen from all other code too they would be most of what is: CPython's evaluation loop had 5 % of
    /// the branches for 23. Some are asked nevertheless, each in its turn, for bursts would begin at loops alone.
    fn leave_some(&mut self, small: &mut Vec<u32>) {
        small.sort_unstable();
        let next = &mut self.small[self.kind as usize];
        let first = next.checked_rem(small.len()).unwrap_or(0);
        small.rotate_left(first);
        small.truncate(ASKED_AT_ONCE);
        *next = first + small.len();
    }
}

/// What runs during a loop's or a body's bursts.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// Instrumented code at that address.
    Code(usize),
    /// The watched form, in the interpreter.
    Interpreted,
}

impl Form {
    /// Whether it has something to say in a burst of that kind: where loads are timed the interpreter has not.
    pub(super) fn says(self, kind: Kind) -> bool {
        kind != Kind::Loads || matches!(self, Form::Code(_))
    }
}

pub(super) struct Instrumented {
    pub(super) form: Form,
    pub(super) version: u32,
}

/// The burst that began last: all stores' calls go by the detours that are on for it.
#[derive(Default)]
struct UnderWay {
    /// Its store's number, from 1, or 0.
    store: AtomicU64,
    /// Ticks.
    since: AtomicU64,
}

/// A module's bursts.
#[derive(Default)]
pub(super) struct ModuleBursts {
    pub(super) candidates: Mutex<HashMap<(u32, u32), Candidate>>,
    pub(super) loops: RwLock<HashMap<(u32, u32), Instrumented>>,
    /// Of each function the shifts of its profile that were acted on, and when the next one may be.
    pub(super) shifts: Mutex<HashMap<u32, (u64, Instant)>>,
    joint: Mutex<Joint>,
    under_way: UnderWay,
    /// How often bodies were asked, by their detours and by their entries in the instances.
    asked_bodies: [AtomicU64; 2],
    /// Functions that are asked at their code's detours, and that code. No lock but the code's own is taken under this one.
    detours: Mutex<HashMap<u32, Arc<CodeVersion>>>,
    pub(super) returned: Mutex<Returned>,
    /// What bursts saw of each function, where calls are followed.
    pub(super) seen: Mutex<HashMap<u32, SeenFunction>>,
    /// Held while a watched form is made. Under it the locks of the tables that know it are taken, and no others.
    pub(super) making: Mutex<()>,
    /// Numbers of the first probes of this module's tables.
    tables: Mutex<Vec<u32>>,
    /// Large functions whose code an earlier process left, and that are no candidates yet.
    pub(super) kept: Mutex<Vec<u32>>,
    /// Number of the latest question to all while nobody has come, or 0.
    pub(super) asked_jointly: AtomicU32,
    /// At the latest tick some candidate was new.
    pub(super) learning: AtomicBool,
    /// At the latest tick something was new or credit was not what is short: the next question comes as soon as one is answered.
    eager: AtomicBool,
}

/// What a candidate's offset names.
pub(super) fn entrance(offset: u32) -> Entrance {
    if offset == AT_ENTRY { Entrance::Body } else { Entrance::Loop(offset) }
}

/// The other way round.
pub(super) fn candidate_offset(entrance: Entrance) -> u32 {
    match entrance {
        Entrance::Body => AT_ENTRY,
        Entrance::Loop(offset) => offset,
    }
}

/// Calls of a function enter its code again. False where its detour did not lead elsewhere.
fn lead_back(detours: &mut HashMap<u32, Arc<CodeVersion>>, function: u32) -> bool {
    detours.remove(&function).inspect(|version| version.lead_calls(None)).is_some()
}

impl ModuleCode {
    /// Has the machine's plateaus measured, once in the process. Nobody waits for it, the monitor least of all: hot records would wait with it.
    fn calibrate(&self) {
        if self.shared.started.elapsed() >= CALIBRATES_AFTER {
            request_plateaus();
        }
    }

    /// Numbers for the probes of an instrumented version of a function.
    pub(super) fn reserve_probes(&self, function: u32) -> Option<u32> {
        // Each operator has a byte at least, and its probe, a loop and its exits two; entry, parameters and end of the function make some more.
        self.shared.probes.reserve(u32::try_from(self.body_bytes(function)).ok()?.checked_mul(2)?.checked_add(16)?)
    }

    /// Instrumented code was placed at `address`: makes it known here, and nowhere else.
    pub(super) fn publish_instrumented(&self, request: &CompileRequest, code: &CompiledCode, address: usize) {
        let starts: HashMap<u32, u32> = code.source.locations.iter().rev().map(|&(at, position)| (position, at)).collect();
        let offset_of = |position: u32| code.source.positions.get(position as usize).map_or(0, |position| position.offset);
        let places = code.source.locations.iter().map(|&(at, position)| (offset_of(position), address as u64 + u64::from(at)));
        let first = Starts::new(places);
        let probe = |probe: &crate::code::Probe| {
            // The byte after the operator's first: versions' records carry return addresses (see `publish`).
            let at = starts.get(&probe.position).map_or(1, |&at| at + 1);
            (probe.kind, address as u64 + u64::from(at), offset_of(probe.position), probe.feeder.unwrap_or(0))
        };
        let table = ProbeTable::new(&self.module, self.key, request.function, &first, code.probes.iter().map(probe));
        self.insert_probes(request.probe_base, table);
        let offset = candidate_offset(request.entrance);
        let loads = code.probes.iter().any(|probe| probe.kind == ProbeKind::Load);
        self.ready((request.function, offset), Form::Code(address), request.version, loads);
    }

    pub(super) fn insert_probes(&self, base: u32, table: ProbeTable) {
        self.shared.probes.insert(base, table);
        lock(&self.bursts.tables).push(base);
    }

    /// The module goes: its probes' numbers mean nothing any more.
    pub(super) fn forget_probes(&mut self) {
        for base in lock(&self.bursts.tables).drain(..) {
            self.shared.probes.remove(base);
        }
    }

    /// Asks all instrumented code, unless it was asked lately and nobody has come yet.
    fn ask_jointly(&self, now: Instant, counts: bool) {
        let (mut loops, mut bodies, mut small) = (Vec::new(), Vec::new(), Vec::new());
        let mut timed = false;
        let (left_alone, comes) = (self.trials.to_be_left_alone(), self.tried_that_comes());
        {
            let mut candidates = lock(&self.bursts.candidates);
            for (&(function, offset), candidate) in candidates.iter_mut().filter(|(_, candidate)| candidate.ready) {
                // What is on trial comes by itself between two pairs, with all loops of its function, whose headers would leave the arm.
                let left = left_alone == Some(function) || comes.is_some_and(|tried| tried.0 == function && tried.1 != offset);
                if offset != AT_ENTRY && left {
                    continue;
                }
                if offset == AT_ENTRY {
                    // (one that all callers have inlined needs no code of its own for this)
                    if !self.compiled(function).is_null() || matches!(self.instrumented(function, AT_ENTRY), Some((Form::Code(_), _))) {
                        if self.follows_calls() && self.body_bytes(function) < WATCHED_FROM {
                            timed |= candidate.loads;
                            small.push(function);
                            continue;
                        }
                        bodies.push(function);
                    }
                } else if self.leads_on(function, offset) {
                    // All of a function's: an activation is in one of them, and whoever is asked at another goes by unseen.
                    loops.push((function, offset));
                } else {
                    continue;
                }
                candidate.turns += u32::from(!counts);
                timed |= candidate.loads;
            }
        }
        if timed {
            self.calibrate();
        }
        let before = {
            let mut joint = lock(&self.bursts.joint);
            joint.number = self.shared.next_question();
            joint.asked.get_or_insert(now);
            self.bursts.asked_jointly.store(joint.number, Ordering::Relaxed);
            joint.looks = joint.looks.wrapping_add(u32::from(!counts));
            joint.kind = match counts {
                true => Kind::Counts,
                false if timed && joint.looks.is_multiple_of(2) => Kind::Loads,
                false => Kind::Branches,
            };
            if joint.kind != Kind::Loads {
                joint.leave_some(&mut small);
            }
            bodies.extend(&small);
            std::mem::replace(&mut joint.bodies, bodies.clone())
        };
        if !counts {
            let mut candidates = lock(&self.bursts.candidates);
            for &function in &small {
                if let Some(candidate) = candidates.get_mut(&(function, AT_ENTRY)) {
                    candidate.turns += 1;
                }
            }
        }
        // Nobody came: those that are not asked again.
        for function in before.into_iter().filter(|function| !bodies.contains(function)) {
            self.enter_ordinary(function);
        }
        let published = self.published();
        for function in bodies {
            self.ask_body(&published, function);
        }
        for (function, offset) in loops {
            self.ask_loop(&published, function, offset);
        }
    }

    /// A tick with credit: asks the candidates that had fewest turns, or all together. `runs`: some store runs wasm. What is asked while none does is answered where
    /// the next call begins, again and again at the same place of the program: that is for what is new alone, of which any place says something.
    ///
    /// Nothing is asked at first ([`Age::may_be_watched`](super::cost::Age::may_be_watched)).
    pub(crate) fn ask_for_bursts(self: &Arc<Self>, runs: bool) {
        if by_cost(&self.shared.config) && !self.age.may_be_watched() {
            return;
        }
        self.consider_returned();
        // (what is asked leaves its code, which is worth it for a plan alone)
        let plans = self.shared.config.feedback != FeedbackPolicy::Off;
        if runs && plans && self.has_kept && self.shared.started.elapsed() >= KEPT_SERVES_FOR {
            self.look_around();
        }
        self.compile_wanted();
        if lock(&self.bursts.candidates).values().any(|candidate| candidate.ready && candidate.loads) {
            self.calibrate();
        }
        let now = Instant::now();
        let learning = self.is_learning();
        if !runs && !learning {
            return;
        }
        let eager = learning || self.shared.budget.has_plenty();
        self.bursts.eager.store(eager, Ordering::Relaxed);
        let together = {
            let crowded = lock(&self.bursts.candidates).values().filter(|candidate| candidate.ready).count() > CROWD;
            let mut joint = lock(&self.bursts.joint);
            let asks_all = runs && joint.asked.is_none_or(|asked| now.duration_since(asked) >= PATIENCE);
            // What comes then is to find the credit there was.
            let waits = joint.kind == Kind::Counts && joint.asked.is_some_and(|asked| now.duration_since(asked) < PATIENCE);
            if self.follows_calls() && waits {
                return;
            }
            let turn = match self.follows_calls() {
                true => joint.followed_turn(now, self.shared.started.elapsed(), asks_all),
                false => {
                    joint.turns = joint.turns.wrapping_add(1);
                    joint.turn(eager, crowded)
                }
            };
            if self.follows_calls() && !matches!(turn, Turn::Together { counts: true }) {
                if joint.asked_since > 0 && !self.shared.budget.has_credit_for(LEFT_FOR_COUNTS) {
                    return;
                }
                joint.asked_since += 1;
            }
            match turn {
                // While nobody has come, the others have their turns.
                Turn::Together { counts } if asks_all => Some(counts),
                _ => None,
            }
        };
        if let Some(counts) = together {
            self.ask_jointly(now, counts);
            return;
        }
        let undisturbed = self.trials.to_be_left_alone();
        // While something is new, the credit is for that.
        let mut candidates = lock(&self.bursts.candidates);
        let mut due: Vec<(u32, (u32, u32))> = Vec::new();
        let mut left_alone: Vec<u32> = Vec::new();
        for (&key, candidate) in candidates.iter_mut().filter(|(_, candidate)| candidate.ready) {
            if learning && candidate.bursts >= ENOUGH && !candidate.is_new(now) {
                continue;
            }
            match candidate.asked {
                Some(asked) if now.duration_since(asked) < PATIENCE => continue,
                Some(_) => {
                    candidate.asked = None;
                    candidate.turns += 1;
                    if key.1 == AT_ENTRY {
                        left_alone.push(key.0);
                    }
                }
                None => {}
            }
            due.push((candidate.turns, key));
        }
        due.sort_unstable();
        // A burst leaves for the loop's ordinary code, so there must be some.
        due.retain(|&(_, (function, offset))| match offset {
            // A body that is asked does not give way to the arm that is timed.
            AT_ENTRY => !self.compiled(function).is_null() && !self.trials.need_calls_of(function),
            // A loop that is asked goes on in code of its own, not in the arm.
            _ => self.leads_on(function, offset) && undisturbed != Some(function),
        });
        due.truncate(ASKED_AT_ONCE);
        for function in left_alone {
            self.enter_ordinary(function);
        }
        for (_, key) in &due {
            if let Some(candidate) = candidates.get_mut(key) {
                candidate.asked = Some(now);
                candidate.waiting.get_or_insert(now);
            }
        }
        // Who comes at once finds them free.
        drop(candidates);
        let published = self.published();
        for (_, (function, offset)) in due {
            if offset == AT_ENTRY {
                self.ask_body(&published, function);
                continue;
            }
            self.ask_loop(&published, function, offset);
        }
    }

    /// Calls of a function are to reach what runs in its bursts.
    fn ask_body(&self, published: &Published, function: u32) {
        if !self.lead_calls(published, function) {
            self.exchange_entries(published, function, true);
        }
    }

    /// The same by the thread that runs one instance, of which its entry is asked where there is no detour. Where that thread would wait nobody is asked.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn ask_body_here(&self, context: *mut VmContext, function: u32) {
        if try_lock(&self.published).is_some_and(|published| !self.lead_calls(&published, function)) {
            // SAFETY: the caller's promise.
            unsafe { self.exchange(context, function, true) };
        }
    }

    /// Where calls of a defined function go while it is asked, if bursts know it.
    fn asked_entry(&self, function: u32) -> Option<usize> {
        match self.instrumented(function, AT_ENTRY)?.0 {
            Form::Code(instrumented) => Some(instrumented),
            // Its resolver knows what to do (`enters_watched`).
            Form::Interpreted => self.module.defined(function).map(|own| self.lazy_stub(own)),
        }
    }

    /// Leads the detour of a function's compiled body to what runs in its bursts. False where there is no such code, or a trial has its calls.
    fn lead_calls(&self, published: &Published, function: u32) -> bool {
        let Some(version) = published.current.get(&(function, Entrance::Body)).filter(|_| !self.trials.try_body(function)) else {
            return false;
        };
        let Some(to) = self.asked_entry(function) else { return false };
        let mut detours = lock(&self.bursts.detours);
        version.lead_calls(Some(to));
        self.bursts.asked_bodies[0].fetch_add(1, Ordering::Relaxed);
        detours.insert(function, version.clone());
        true
    }

    /// How often a body was asked for bursts by its detour, and how often by an instance's entry, which may cost calls of it more for good.
    pub fn bodies_asked(&self) -> (u64, u64) {
        let [detours, entries] = &self.bursts.asked_bodies;
        (detours.load(Ordering::Relaxed), entries.load(Ordering::Relaxed))
    }

    /// Takes that back. False where there is nothing to take back.
    pub(super) fn lead_back(&self, function: u32) -> bool {
        lead_back(&mut lock(&self.bursts.detours), function)
    }

    /// Whether another store's burst is under way, which calls are asked for.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    unsafe fn others_take_part(&self, context: *mut VmContext) -> bool {
        let UnderWay { store, since } = &self.bursts.under_way;
        // SAFETY: the caller's promise; nothing else uses the store now.
        let mine = unsafe { (*store_state(context)).id } + 1;
        let others = ![0, mine].contains(&store.load(Ordering::Relaxed));
        others && ticks().saturating_sub(since.load(Ordering::Relaxed)) as f64 * self.shared.ns_per_tick() < OTHERS_BURST_NS
    }

    /// Puts the instrumented body of a defined function at its entry in one instance, or what belongs there in its stead.
    ///
    /// # Safety
    /// `context` is a live context of this module.
    pub(super) unsafe fn exchange(&self, context: *mut VmContext, function: u32, instrument: bool) {
        let own = self.module.defined(function).expect("only defined functions have code here");
        let Some(instrumented) = self.asked_entry(function) else { return };
        let ordinary = self.functions[own].entry.load(Ordering::Acquire) as usize;
        // SAFETY: the caller's promise.
        unsafe {
            if instrument {
                self.bursts.asked_bodies[1].fetch_add(1, Ordering::Relaxed);
                self.exchange_entry(context, own, ordinary, instrumented);
                self.instrument_idle_body(context, function, instrumented);
            } else if !self.restore_gate(context, function, instrumented) {
                self.exchange_entry(context, own, instrumented, ordinary);
            }
        }
    }

    /// The same in all instances.
    fn exchange_entries(&self, published: &Published, function: u32, instrument: bool) {
        for context in &published.instances {
            // SAFETY: in the list, so live (see `ContextPointer`).
            unsafe { self.exchange(context.0, function, instrument) };
        }
    }

    /// Calls of a function reach its ordinary code again.
    pub(super) fn enter_ordinary(&self, function: u32) {
        if !self.lead_back(function) || self.trials.try_body(function) {
            self.exchange_entries(&self.published(), function, false);
        }
    }

    /// The same by the thread that runs one instance, which waits for nobody: the others' entries restore themselves at their next call, and a detour at the next one if another thread has the list or a burst for which it is.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn enter_ordinary_here(&self, context: *mut VmContext, function: u32) {
        // SAFETY: the caller's promise.
        if unsafe { self.others_take_part(context) } {
            return;
        }
        let Some(mut detours) = try_lock(&self.bursts.detours) else { return };
        let was_led = lead_back(&mut detours, function);
        drop(detours);
        if !was_led || self.trials.try_body(function) {
            // SAFETY: the caller's promise.
            unsafe { self.exchange(context, function, false) };
        }
    }

    /// The loops of a function that bursts know.
    fn loops_of(&self, function: u32) -> Vec<u32> {
        let loops = self.bursts.loops.read().unwrap_or_else(|error| error.into_inner());
        let own = loops.iter().filter(|((of, offset), _)| *of == function && *offset != AT_ENTRY);
        own.map(|(&(_, offset), _)| offset).collect()
    }

    /// What runs in bursts that are entered there, and its version.
    pub(super) fn instrumented(&self, function: u32, offset: u32) -> Option<(Form, u32)> {
        let loops = self.bursts.loops.read().unwrap_or_else(|error| error.into_inner());
        loops.get(&(function, offset)).map(|found| (found.form, found.version))
    }

    /// What runs of a function from one of its loops on in a burst of all of that kind, in place of the form that is there: where calls are followed its watched one, for of instrumented code's calls nothing is seen.
    fn form_in_joint(&self, function: u32, offset: u32, kind: Kind, (form, version): (Form, u32)) -> (Form, u32) {
        if offset == AT_ENTRY || matches!(form, Form::Interpreted) || !self.follows_calls() || kind == Kind::Loads {
            return (form, version);
        }
        self.followed(function).map_or((form, version), |watched| (Form::Interpreted, watched))
    }

    /// An instrumented body was called while its store's buffer is full or has no burst: the code to call in its stead, or 0.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn at_entry(&self, context: *mut VmContext, function: u32, version: u32) -> usize {
        // SAFETY: the caller's promise; nothing else uses the store now.
        unsafe {
            let open = (*store_state(context)).open_burst();
            let open = open.map(|open| (open.is_in(self.key, version), open.joint, self.is_stale(open)));
            match open {
                None if self.begin_burst(context, function, AT_ENTRY).is_some() => return 0,
                Some((true, ..)) => {
                    self.end_burst(context);
                    self.enter_ordinary_here(context, function);
                }
                // A loop's burst that this call takes part in: it ends at the loop.
                Some((_, true, _)) => self.end_joint(context),
                // Whatever began it is busy elsewhere.
                Some((.., true)) if self.begin_burst(context, function, AT_ENTRY).is_some() => return 0,
                // It is over soon, or gives way.
                Some((.., false)) => {}
                Some(_) | None => self.enter_ordinary_here(context, function),
            }
            let own = self.module.defined(function).expect("only defined functions have code here");
            match self.compiled(function) as usize {
                0 => self.lazy_stub(own),
                compiled => self.behind_detour(own, compiled),
            }
        }
    }

    /// Whether a burst has been open for so long that it gives way to a body that is called, or looks at what nobody asked for.
    pub(super) fn is_stale(&self, open: &Open) -> bool {
        open.early || ticks().saturating_sub(open.began) as f64 * self.shared.ns_per_tick() > MOST_BURST_NS
    }

    /// A loop came that was asked, while a burst is under way in which all take part: its instrumented code, which may be the one that has just polled.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn join_burst(&self, context: *mut VmContext, function: u32, offset: u32) -> Option<Form> {
        // SAFETY: the caller's promise; nothing else uses the store now.
        let state = unsafe { &*store_state(context) };
        let open = state.burst.as_ref()?.open.as_ref()?;
        if !open.joint || state.context.burst_index >= state.context.burst_limit {
            return None;
        }
        let form = self.form_in_joint(function, offset, open.kind, self.instrumented(function, offset)?).0;
        if !form.says(open.kind) {
            return None;
        }
        // SAFETY: the caller's promise.
        unsafe { self.interrupt_block(context, function) };
        Some(form)
    }

    /// A loop came that was asked: begins a burst, or goes on with the one it left. The code to run, or `None` where nothing is to be done.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn begin_burst(&self, context: *mut VmContext, function: u32, offset: u32) -> Option<Form> {
        // SAFETY: the caller's promise.
        unsafe { self.begin_burst_of(context, function, offset, false) }
    }

    /// The same; with `only_joint` nothing but a new one that all are asked for.
    ///
    /// # Safety
    /// As [`Self::begin_burst`].
    pub(super) unsafe fn begin_burst_of(&self, context: *mut VmContext, function: u32, offset: u32, only_joint: bool) -> Option<Form> {
        let (form, version) = self.instrumented(function, offset)?;
        if only_joint {
            // Before what is open ends for nothing.
            let asks = try_lock(&self.bursts.joint).is_some_and(|joint| joint.asked.is_some() && form.says(joint.kind));
            if !asks || !self.shared.budget.has_credit() || !self.leads_on(function, offset) {
                return None;
            }
        }
        // SAFETY: the caller's promise; nothing else uses the store now.
        let state = unsafe { &mut *store_state(context) };
        let goes_on = state.open_burst().is_some_and(|open| !open.early && open.is_in(self.key, version));
        if goes_on && !only_joint {
            state.burst.as_mut()?.open.as_mut()?.running_since = ticks();
            return Some(form);
        }
        // SAFETY: as above.
        unsafe { self.end_burst(context) };
        let waited_us;
        let answered = state.burst.as_ref().map_or(0, |burst| burst.answered);
        let (number, joint, kind) = {
            // Who asks has these for as long as the system lets it run, and a guest does not wait: it is asked again.
            let mut candidates = try_lock(&self.bursts.candidates)?;
            let (number, asked_jointly, wants, left_to_trial) = {
                let mut joint = try_lock(&self.bursts.joint)?;
                let comes = joint.asked.is_some() && joint.number != answered && form.says(joint.kind);
                // SAFETY: the caller's promise.
                let left = comes && unsafe { self.is_in_block_of_other(context, function, offset, joint.kind) };
                let asked = if comes && !left { joint.asked.take() } else { None };
                if asked.is_some() {
                    self.bursts.asked_jointly.store(0, Ordering::Relaxed);
                }
                (joint.number, asked, joint.kind, left)
            };
            let joint = asked_jointly.is_some();
            if left_to_trial {
                let seed = self.shared.config.ring.seed;
                let burst = state.burst.get_or_insert_with(|| Box::new(StoreBurst::new(seed)));
                burst.turn_away((context as usize, function, offset));
            }
            if only_joint && !joint {
                return None;
            }
            // The loop that was asked, or another one of its function.
            let asked = match candidates.get(&(function, offset))?.asked {
                Some(_) => Some((function, offset)),
                None if offset == AT_ENTRY || joint => None,
                None => candidates
                    .iter()
                    .find(|(key, candidate)| key.0 == function && key.1 != AT_ENTRY && candidate.asked.is_some())
                    .map(|(&key, _)| key),
            };
            let asked = asked.and_then(|key| candidates.get_mut(&key)).map(|candidate| {
                candidate.asked = None;
                candidate.waiting.take()
            });
            let candidate = candidates.get_mut(&(function, offset))?;
            // What was asked jointly and comes when the burst is over was not waited for.
            let wanted = joint || asked.is_some() || offset != AT_ENTRY && answered != number && !left_to_trial;
            let leads_on = wanted && (offset == AT_ENTRY || self.leads_on(function, offset));
            if !wanted {
                return None;
            }
            if !self.shared.budget.has_credit() || !leads_on {
                self.shared.budget.decline();
                return None;
            }
            let counts = joint && wants == Kind::Counts;
            candidate.turns += u32::from(!counts);
            candidate.bursts += u32::from(!joint);
            candidate.own += u32::from(!joint);
            candidate.waiting = None;
            let waited = asked_jointly.or(asked.flatten()).map_or(Duration::ZERO, |since| since.elapsed());
            // (whoever was turned away was not away)
            let present = if joint { state.burst.as_mut().map_or(0, |burst| burst.take_present()) } else { 0 };
            let waited = waited.saturating_sub(Duration::from_nanos((present as f64 * self.shared.ns_per_tick()) as u64));
            waited_us = u32::try_from(waited.as_micros()).unwrap_or(u32::MAX);
            let branches = self.shared.config.events.contains(EventId::BRANCHES);
            let timed = joint && wants == Kind::Loads;
            // Every other one, those made up for that came before anybody knew what a miss takes.
            let due = 2 * candidate.timed + 1 < candidate.own;
            let (loads, turn) = if joint { (timed, timed) } else { (candidate.loads, due) };
            let kind = match loads && known_plateaus().is_some() {
                true if !branches || turn => Kind::Loads,
                // Loads alone are wanted, and there are none, or no plateaus yet.
                false if !branches => return None,
                _ if counts => Kind::Counts,
                _ => Kind::Branches,
            };
            candidate.timed += u32::from(kind == Kind::Loads && !joint);
            if !joint && offset != AT_ENTRY {
                // Its code is the whole function's: another of its loops that is asked would end the burst, and begin one of its own, always with its first round.
                for (key, other) in
                    candidates.iter_mut().filter(|(key, other)| key.0 == function && key.1 != AT_ENTRY && other.asked.is_some())
                {
                    (other.asked, other.waiting) = (None, None);
                    // SAFETY: the caller's promise, and the words are the module's.
                    unsafe { stop_asking_loop(context, self.loop_word(function, key.1)) };
                }
            }
            (number, joint, kind)
        };
        let (form, version) = if joint { self.form_in_joint(function, offset, kind, (form, version)) } else { (form, version) };
        let seed = self.shared.config.ring.seed;
        let burst = state.burst.get_or_insert_with(|| Box::new(StoreBurst::new(seed)));
        let registers = kind == Kind::Loads && self.shared.config.ring.registers;
        if joint {
            burst.answered = number;
        }
        let began = ticks();
        if let Some(astray) = burst.astray.take() {
            self.lost(&astray);
        }
        self.bursts.under_way.since.store(began, Ordering::Relaxed);
        self.bursts.under_way.store.store(state.id + 1, Ordering::Relaxed);
        let followed = joint && kind != Kind::Loads && self.follows_calls();
        burst.open = Some(Open {
            module: self.key,
            kind,
            version,
            offset,
            function,
            joint,
            followed,
            early: false,
            registers,
            running_since: began,
            ticks: 0,
            began,
            waited_us,
        });
        // SAFETY: the running store's LWPCB is this thread's ring.
        unsafe { refresh_core_id(state.context.lwpcb.cast()) };
        state.context.burst_index = 0;
        // A load with its registers is 14 words in place of 2; the buffer has room for some loops' worth of them behind the limit.
        state.context.burst_limit = self.shared.budget.words(kind, followed) * if registers { 4 } else { 1 };
        state.context.burst_registers = u32::from(registers);
        state.context.burst_timing = u32::from(kind == Kind::Loads);
        if joint {
            // SAFETY: the caller's promise.
            unsafe { self.ask_who_was_turned_away(context) };
        }
        Some(form)
    }

    /// Ends the burst that the running store has open, if it has one: stores its records.
    ///
    /// # Safety
    /// `context` is the running context of a module of this engine.
    pub(super) unsafe fn end_burst(&self, context: *mut VmContext) {
        // SAFETY: the caller's promise; nothing else uses the store now.
        let state = unsafe { &mut *store_state(context) };
        let written = std::mem::take(&mut state.context.burst_index) as usize;
        // The next probe that looks asks what to do.
        state.context.burst_limit = 0;
        state.context.burst_timing = 0;
        state.context.burst_registers = 0;
        let Some(burst) = &mut state.burst else { return };
        let watched_ticks = burst.take_watched_ticks();
        let Some(mut open) = burst.open.take() else { return };
        let _ = self.bursts.under_way.store.compare_exchange(state.id + 1, 0, Ordering::Relaxed, Ordering::Relaxed);
        let began = ticks();
        open.pause(began);
        let ns_per_tick = self.shared.ns_per_tick();
        let (mut read, mut unseen) = (None, Vec::new());
        if written <= BURST_WORDS {
            // SAFETY: the buffer has BURST_WORDS words, and the code that writes them does not run now.
            let words = unsafe { std::slice::from_raw_parts(state.context.burst_buffer, written) };
            let callee = |module: u64, function: u32| match self.module.defined(function) {
                Some(own) if module == self.key && own < self.functions.len() => {
                    // Compiled code, or the ops that are interpreted: a stub is nothing that runs.
                    match (self.targets[own].compiled.load(Ordering::Relaxed) as usize, self.functions[own].bytecode.get()) {
                        (0, Some(bytecode)) => bytecode.address_range().start,
                        (0, None) => 0,
                        (compiled, _) => self.behind_detour(own, compiled) as u64,
                    }
                }
                _ => 0,
            };
            let polls = self.shared.config.poll_records;
            let values = self.shared.config.events.contains(EventId::VALUE);
            let ring = Ring { lwpcb: state.context.lwpcb.cast(), values, polls, ns_per_tick, ended: began, callee: &callee };
            // SAFETY: the running store's LWPCB is this thread's ring.
            read = unsafe {
                match open.kind {
                    Kind::Counts => count(&self.shared.probes, &open, words, &ring, self.key).map(|calls| {
                        unseen = calls.into_iter().filter(|&(_, calls)| calls >= MOST_UNSEEN).collect();
                        Vec::new()
                    }),
                    Kind::Branches | Kind::Loads => finish(&self.shared.probes, burst, &open, words, &ring),
                }
            };
        }
        let model_ns = ticks().saturating_sub(began) as f64 * ns_per_tick;
        if !unseen.is_empty()
            && let Some(mut returned) = try_lock(&self.bursts.returned)
        {
            returned.unseen.append(&mut unseen);
        }
        if open.joint {
            // SAFETY: the caller's promise.
            unsafe { self.ask_tried_loop(context) };
            // What only counts says nothing of what a loop is like.
            let seen = read.as_deref().filter(|_| open.kind != Kind::Counts).unwrap_or_default();
            // SAFETY: the caller's promise.
            unsafe { self.end_of_joint(context, seen) };
        }
        let burst_ns = if open.offset == AT_ENTRY || open.joint || open.early {
            // Of interpreting, the whole time, with what it called; where calls are followed most of that writes words.
            let most = if open.followed || open.early {
                MOST_WATCHED_NS.min(WATCHED_NS + written as f64 * WATCHED_WORD_NS)
            } else {
                MOST_WATCHED_NS
            };
            written as f64 * BODY_WORD_NS + (watched_ticks as f64 * ns_per_tick).min(most)
        } else {
            open.ticks as f64 * ns_per_tick
        };
        self.note(open.function, entrance(open.offset), || What::Burst {
            words: written as u32,
            burst_ns: burst_ns as u64,
            model_ns: model_ns as u64,
        });
        if open.early {
            return self.shared.budget.spent_early(read.map(|_| written as u32), burst_ns + model_ns);
        }
        self.shared.budget.spent(open.kind, open.followed, read.map(|_| written as u32), burst_ns, model_ns);
        // (the records of the others' ends wake the monitor; where calls are followed the next question is not due yet)
        if open.kind == Kind::Counts && self.bursts.eager.load(Ordering::Relaxed) && !self.follows_calls() {
            self.shared.monitor.wake();
        }
    }

    /// The buffer is full, and nothing may come by where its burst began: ends it, if all take part in it.
    ///
    /// # Safety
    /// As [`Self::end_burst`].
    unsafe fn end_joint(&self, context: *mut VmContext) {
        // SAFETY: the caller's promise.
        unsafe {
            if (*store_state(context)).open_burst().is_some_and(|open| open.joint) {
                self.end_burst(context);
            }
        }
    }

    /// A joint burst is over that saw these functions: calls reach ordinary code again.
    ///
    /// # Safety
    /// As [`Self::end_burst`].
    unsafe fn end_of_joint(&self, context: *mut VmContext, seen: &[(u64, u32)]) {
        // Without the list, the bodies restore themselves at their next call.
        let bodies = try_lock(&self.bursts.joint).map(|mut joint| std::mem::take(&mut joint.bodies));
        for function in bodies.unwrap_or_default() {
            // SAFETY: the caller's promise.
            unsafe { self.enter_ordinary_here(context, function) };
        }
        let Some(mut candidates) = try_lock(&self.bursts.candidates) else { return };
        for (_, candidate) in candidates.iter_mut().filter(|((function, _), _)| seen.contains(&(self.key, *function))) {
            candidate.bursts = candidate.bursts.saturating_add(1);
        }
    }

    /// The running store left instrumented code of version `version` for something else.
    ///
    /// # Safety
    /// As [`Self::end_burst`].
    pub(super) unsafe fn left_burst(&self, context: *mut VmContext, version: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            let open = (*store_state(context)).open_burst();
            if open.is_some_and(|open| open.is_in(self.key, version)) {
                self.end_burst(context);
            }
        }
    }
}

/// Instrumented code found its buffer full, or returns: see [`Builtin::Burst`](crate::builtin::Builtin::Burst).
///
/// # Safety
/// `context` is the running context of kind wasm; called from the builtin.
pub(crate) unsafe fn at_burst(context: *mut VmContext, function: u32, offset: u32, version: u32) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        let code = &instance(context).code;
        if code.shared.config.exact {
            let state = &mut *store_state(context);
            code.shared.count_exactly(state);
            return 0;
        }
        match offset {
            AT_ENTRY => code.at_entry(context, function, version),
            AT_RETURN => {
                let state = &mut *store_state(context);
                let (written, limit) = (state.context.burst_index, state.context.burst_limit);
                let Some(open) = state.burst.as_mut().and_then(|burst| burst.open.as_mut()) else { return 0 };
                let (own, joint, began) = (open.is_in(code.key, version), open.joint, open.began);
                if written >= limit {
                    if own {
                        code.end_burst(context);
                    } else {
                        code.end_joint(context);
                    }
                    return 0;
                }
                // Called again it is to come again; where all take part an instrumented body comes by itself, and sees more.
                let again = match joint {
                    true if code.instrumented(function, AT_ENTRY).is_some() && !code.follows_calls() => Vec::new(),
                    true => code.loops_of(function),
                    false => Some(open.offset).filter(|&offset| own && offset != AT_ENTRY).into_iter().collect(),
                };
                if own {
                    open.pause(ticks());
                }
                if open.early {
                    return 0; // it goes on at the next call
                }
                code.returned(function, began);
                for offset in again {
                    code.ask_loop_of(context, function, offset);
                }
                0
            }
            _ => {
                code.end_burst(context);
                let leaves = code.loop_code(function, offset).is_some();
                if !leaves {
                    // A body's: next time there is some.
                    code.request(function, Entrance::Loop(offset), Tier::Optimizing, false);
                    (*store_state(context)).context.burst_limit = IDLE_WORDS;
                }
                usize::from(leaves)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_calls_are_followed_counts_come_at_even_distances_and_the_others_in_turn_between_them() {
        let (counts, judged) = (Turn::Together { counts: true }, Turn::Together { counts: false });
        let (began, ms) = (Instant::now(), Duration::from_millis);
        // Ticks every 10 ms for two seconds, the last of which begins in the tenth second of the run.
        let mut joint = Joint::default();
        let mut asked = |from: Duration| -> Vec<Turn> {
            (0..100)
                .map(|tick| {
                    let ran_for = from + ms(10) * tick;
                    let turn = joint.followed_turn(began + ran_for, ran_for, true);
                    joint.asked_since += u32::from(turn != counts);
                    turn
                })
                .collect()
        };
        let of = |turns: &[Turn], turn: &Turn| turns.iter().filter(|it| *it == turn).count();
        let early = asked(ms(100));
        assert_eq!(early[0], counts);
        assert_eq!((of(&early, &counts), of(&early, &Turn::Each), of(&early, &judged)), (34, 33, 33));
        // A 64th of nine seconds is 141 ms.
        let late = asked(ms(9000));
        assert_eq!((of(&late, &counts), of(&late, &judged)), (7, 47));
        // Where each uses up the credit for the next one, the others have every other turn.
        let mut poor = Joint::default();
        let turn = |poor: &mut Joint, at: u64| poor.followed_turn(began + ms(at), ms(at), true);
        assert_eq!(turn(&mut poor, 1000), counts);
        assert_ne!(turn(&mut poor, 2000), counts);
        poor.asked_since += 1;
        assert_eq!(turn(&mut poor, 3000), counts);
        // While nobody has come, nothing is asked of all.
        poor.asked_since += 1;
        assert_ne!(poor.followed_turn(began + ms(4000), ms(4000), false), counts);
    }
}
