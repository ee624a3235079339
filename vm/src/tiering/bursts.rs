//! Which loops of a module get bursts, and when: from "this loop is hot" to instrumented code that runs for a while ([`crate::burst`]).
//!
//! A loop that becomes hot in tier 1 becomes a *candidate*, and its instrumented entrance is compiled. At each of its ticks the monitor's thread asks
//! some candidates to come: it writes the loop's tag into the function's poll word. Whoever runs that loop leaves at its next header, finds the
//! instrumented entrance here, and at the burst's end leaves for the loop's ordinary code. A function that returns before its burst is full asks to come
//! again.
//!
//! A function without loops that becomes hot gets bursts too: while it is asked, its instances' entries lead to its instrumented body, which begins the burst
//! at a call and, when it is full or none may begin, hands the call on to the ordinary code.

use super::ModuleCode;
use crate::burst::{
    AT_ENTRY, AT_RETURN, ENOUGH, Kind, LEARNING, Open, ProbeSite, ProbeTable, Ring, Starts, StoreBurst, Ways, finish, ways,
};
use crate::bytecode::PointKind;
use crate::code::{CompileRequest, CompiledCode, Entrance, ProbeKind, Tier};
use crate::engine::lock;
use crate::layout::{BURST_WORDS, VmContext, poll_tag};
use crate::runtime::{instance, store_state};
use crate::store::poll_word;
use crate::timeline::What;
use lwp_feedback::calibrate::{known_plateaus, plateaus};
use lwp_feedback::layout::EventId;
use lwp_feedback::ring::refresh_core_id;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

/// Loops of a module that can get bursts; further ones are counted as refused. A guess.
const MOST_CANDIDATES: usize = 1024;
/// Times that a new loop is asked in vain before it counts as one that does not run. A guess.
const MOST_ABSENT: u32 = 3;
/// Candidates asked at one tick. Asking one that does not run costs nothing.
const ASKED_AT_ONCE: usize = 8;
/// One that did not come within this time makes room for others.
const PATIENCE: Duration = Duration::from_millis(40);
/// Nanoseconds that a word in a body's burst costs: most of the time between its calls is other code's. Measured: 1 to 2 ns, and the entry asks.
const BODY_WORD_NS: f64 = 4.0;
/// The limit while no burst is under way and there is no code to leave to: when to ask again.
const IDLE_WORDS: u32 = 1 << 15;

/// A loop, or a function without one (its offset is [`AT_ENTRY`]), that bursts look at.
struct Candidate {
    hot_since: Instant,
    /// Hot records so far.
    heat: u32,
    /// Its instrumented entrance was asked for.
    wanted: bool,
    /// And cannot be compiled.
    failed: bool,
    /// Its instrumented entrance is there.
    ready: bool,
    /// Whether loads stand in the function.
    loads: bool,
    asked: Option<Instant>,
    /// Since when it is asked and does not come.
    waiting: Option<Instant>,
    /// Bursts it had, and times it was asked and did not come.
    turns: u32,
    bursts: u32,
}

impl Candidate {
    /// Whether there is much to learn of it: it is hot since lately, has had few bursts, and comes when it is asked.
    fn is_new(&self, now: Instant) -> bool {
        let absent = self.turns - self.bursts;
        !self.failed && self.bursts < ENOUGH && absent < MOST_ABSENT && now.duration_since(self.hot_since) < LEARNING
    }
}

struct Instrumented {
    address: usize,
    version: u32,
}

/// A module's bursts.
#[derive(Default)]
pub(super) struct ModuleBursts {
    candidates: Mutex<HashMap<(u32, u32), Candidate>>,
    loops: RwLock<HashMap<(u32, u32), Instrumented>>,
    /// Numbers of the first probes of this module's tables.
    tables: Mutex<Vec<u32>>,
}

/// The time stamp counter.
fn ticks() -> u64 {
    // SAFETY: RDTSC exists on every x86-64 and touches no memory.
    unsafe { std::arch::x86_64::_rdtsc() }
}

impl ModuleCode {
    /// A loop became hot in compiled code, or a function ([`AT_ENTRY`]): from now on bursts look at it.
    pub(super) fn burst_candidate(self: &Arc<Self>, function: u32, offset: u32) {
        if !self.shared.budget.allows_any() || self.shared.config.deterministic || !self.shared.bursts() {
            return;
        }
        // A function with loops is looked at from there.
        let is_loop = |point: &crate::bytecode::Point| point.kind == PointKind::Loop;
        if offset == AT_ENTRY && self.own(function).bytecode.get().is_none_or(|code| code.points().iter().any(is_loop)) {
            return;
        }
        {
            let mut candidates = lock(&self.bursts.candidates);
            if let Some(known) = candidates.get_mut(&(function, offset)) {
                known.heat = known.heat.saturating_add(1);
                return;
            }
            if candidates.len() >= MOST_CANDIDATES {
                return;
            }
            let candidate = Candidate {
                hot_since: Instant::now(),
                heat: 1,
                wanted: false,
                failed: false,
                ready: false,
                loads: false,
                asked: None,
                waiting: None,
                turns: 0,
                bursts: 0,
            };
            candidates.insert((function, offset), candidate);
        }
        // Compiled at once only while there is credit; otherwise when some is earned, the hottest first.
        if self.shared.budget.has_credit() {
            self.compile_wanted();
        }
    }

    /// Asks for the instrumented code of the hottest candidate that has none, unless a compile of another one is under way.
    fn compile_wanted(self: &Arc<Self>) {
        let next = {
            let mut candidates = lock(&self.bursts.candidates);
            if candidates.values().any(|candidate| candidate.wanted && !candidate.ready && !candidate.failed) {
                return;
            }
            let waiting = candidates.iter_mut().filter(|(_, candidate)| !candidate.wanted);
            let Some((&key, candidate)) = waiting.max_by_key(|(key, candidate)| (candidate.heat, std::cmp::Reverse(**key))) else { return };
            candidate.wanted = true;
            key
        };
        let entrance = if next.1 == AT_ENTRY { Entrance::Body } else { Entrance::Loop(next.1) };
        self.request(next.0, entrance, Tier::Instrumented, false);
    }

    /// The instrumented code of a candidate was compiled, which took so long, or could not be.
    pub(super) fn instrumented_compiled(&self, function: u32, entrance: Entrance, took: Duration, whole: bool) {
        self.shared.budget.compiled(took);
        if !whole {
            let offset = if let Entrance::Loop(offset) = entrance { offset } else { AT_ENTRY };
            if let Some(candidate) = lock(&self.bursts.candidates).get_mut(&(function, offset)) {
                candidate.failed = true;
            }
        }
    }

    /// Numbers for the probes of an instrumented version of a function.
    pub(super) fn reserve_probes(&self, function: u32) -> Option<u32> {
        // Each operator has a byte at least, and its probe, a loop and its exits two; entry, parameters and end of the function make some more.
        self.shared.probes.reserve(u32::try_from(self.body_bytes(function)).ok()?.checked_mul(2)?.checked_add(16)?)
    }

    /// Instrumented code was placed at `address`: makes it known here, and nowhere else.
    pub(super) fn publish_instrumented(&self, request: &CompileRequest, code: &CompiledCode, address: usize) {
        let starts: HashMap<u32, u32> = code.locations.iter().rev().map(|&(at, position)| (position, at)).collect();
        let offset_of = |position: u32| code.positions.get(position as usize).map_or(0, |position| position.offset);
        let places = code.locations.iter().map(|&(at, position)| (offset_of(position), address as u64 + u64::from(at)));
        let (ways, first) = (ways(&self.module, request.function), Starts::new(places));
        let site = |probe: &crate::code::Probe| {
            // The byte after the operator's first: versions' records carry return addresses (see `publish`).
            let at = starts.get(&probe.position).map_or(1, |&at| at + 1);
            let offset = offset_of(probe.position);
            let ways = match ways.get(&offset) {
                Some(&Ways::Two(taken, next)) => [first.address(taken), first.address(next)],
                _ => [0; 2],
            };
            ProbeSite { kind: probe.kind, ip: address as u64 + u64::from(at), offset, feeder: probe.feeder.unwrap_or(0), ways }
        };
        let switch = |(index, probe): (usize, &crate::code::Probe)| match ways.get(&offset_of(probe.position)) {
            Some(Ways::Many(targets)) if probe.kind == ProbeKind::Switch => {
                Some((index as u32, targets.iter().map(|&offset| first.address(offset)).collect()))
            }
            _ => None,
        };
        let table = ProbeTable {
            sites: code.probes.iter().map(site).collect(),
            module: self.key,
            function: request.function,
            switches: code.probes.iter().enumerate().filter_map(switch).collect(),
        };
        self.shared.probes.insert(request.probe_base, table);
        lock(&self.bursts.tables).push(request.probe_base);
        let offset = match request.entrance {
            Entrance::Loop(offset) => offset,
            Entrance::Body => AT_ENTRY,
        };
        let key = (request.function, offset);
        let instrumented = Instrumented { address, version: request.version };
        self.bursts.loops.write().unwrap_or_else(|error| error.into_inner()).insert(key, instrumented);
        if let Some(candidate) = lock(&self.bursts.candidates).get_mut(&key) {
            candidate.ready = true;
            candidate.loads = code.probes.iter().any(|probe| probe.kind == ProbeKind::Load);
        }
    }

    /// The module goes: its probes' numbers mean nothing any more.
    pub(super) fn forget_probes(&mut self) {
        for base in lock(&self.bursts.tables).drain(..) {
            self.shared.probes.remove(base);
        }
    }

    /// Whether some candidate became hot so lately that there is much to learn.
    pub(crate) fn is_learning(&self) -> bool {
        let now = Instant::now();
        lock(&self.bursts.candidates).values().any(|candidate| candidate.is_new(now))
    }

    /// A tick with credit: asks the candidates that had fewest turns.
    pub(crate) fn ask_for_bursts(self: &Arc<Self>) {
        self.compile_wanted();
        if lock(&self.bursts.candidates).values().any(|candidate| candidate.ready && candidate.loads) {
            // Measured once in the process, here, and not under a lock: the threads that run wasm do not wait for it.
            plateaus();
        }
        let now = Instant::now();
        let mut candidates = lock(&self.bursts.candidates);
        // While something is new, the credit is for that.
        let learning = candidates.values().any(|candidate| candidate.is_new(now));
        let mut due: Vec<(u32, (u32, u32))> = Vec::new();
        let mut left_alone: Vec<u32> = Vec::new();
        for (&key, candidate) in candidates.iter_mut().filter(|(_, candidate)| candidate.ready) {
            if learning && candidate.bursts >= ENOUGH {
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
            AT_ENTRY => !self.compiled(function).is_null(),
            _ => self.loop_code(function, offset).is_some(),
        });
        due.truncate(ASKED_AT_ONCE);
        for function in left_alone {
            self.enter_ordinary(function);
        }
        let published = self.published();
        for (_, key) in due {
            if let Some(candidate) = candidates.get_mut(&key) {
                candidate.asked = Some(now);
                candidate.waiting.get_or_insert(now);
            }
            let (function, offset) = key;
            if offset == AT_ENTRY {
                self.exchange_entries(&published, function, true);
                continue;
            }
            let own = self.module.defined(function).expect("only defined functions have loops");
            let place = self.module.offsets().poll(own as u32);
            for context in &published.instances {
                // SAFETY: in the list, so live (see `ContextPointer`).
                let word = unsafe { poll_word(context.0, place) };
                // What asks everybody to leave goes before; what asks for another loop is replaced.
                let _ = word.fetch_update(Ordering::AcqRel, Ordering::Acquire, |asked| (asked != 1).then_some(poll_tag(offset)));
            }
        }
    }

    /// Puts the instrumented body at the entries of a function, or what belongs there in its stead.
    fn exchange_entries(&self, published: &super::Published, function: u32, instrument: bool) {
        let own = self.module.defined(function).expect("only defined functions have code here");
        let Some((instrumented, _)) = self.instrumented(function, AT_ENTRY) else { return };
        let ordinary = self.functions[own].entry.load(Ordering::Acquire);
        let instrumented = instrumented as *mut u8;
        let (from, to) = if instrument { (ordinary, instrumented) } else { (instrumented, ordinary) };
        for context in &published.instances {
            // SAFETY: in the list, so live (see `ContextPointer`).
            let entry = &unsafe { self.func(context.0, own) }.entry;
            // Whoever put something else there meanwhile keeps it.
            let _ = entry.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
        }
    }

    /// Calls of a function reach its ordinary code again.
    fn enter_ordinary(&self, function: u32) {
        self.exchange_entries(&self.published(), function, false);
    }

    /// Address and version of an instrumented entrance.
    fn instrumented(&self, function: u32, offset: u32) -> Option<(usize, u32)> {
        let loops = self.bursts.loops.read().unwrap_or_else(|error| error.into_inner());
        loops.get(&(function, offset)).map(|found| (found.address, found.version))
    }

    /// An instrumented body was called while its store's buffer is full or has no burst: the code to call in its stead, or 0.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    unsafe fn at_entry(&self, context: *mut VmContext, function: u32, version: u32) -> usize {
        // SAFETY: the caller's promise; nothing else uses the store now.
        unsafe {
            let open = (*store_state(context)).burst.as_ref().and_then(|burst| burst.open.as_ref()).map(|open| open.version);
            match open {
                None if self.begin_burst(context, function, AT_ENTRY).is_some() => return 0,
                Some(open) if open == version => {
                    self.end_burst(context);
                    self.enter_ordinary(function);
                }
                // A loop's burst that this call takes part in: it ends at the loop.
                Some(_) => {}
                None => self.enter_ordinary(function),
            }
            self.compiled(function) as usize
        }
    }

    /// A loop came that was asked: begins a burst, or goes on with the one it left. The code to run, or `None` where nothing is to be done.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn begin_burst(&self, context: *mut VmContext, function: u32, offset: u32) -> Option<usize> {
        let (address, version) = self.instrumented(function, offset)?;
        // SAFETY: the caller's promise; nothing else uses the store now.
        let state = unsafe { &mut *store_state(context) };
        let goes_on = state.burst.as_ref().and_then(|burst| burst.open.as_ref()).is_some_and(|open| open.version == version);
        if goes_on {
            state.burst.as_mut()?.open.as_mut()?.running_since = ticks();
            return Some(address);
        }
        // SAFETY: as above.
        unsafe { self.end_burst(context) };
        let waited_us;
        let kind = {
            let mut candidates = lock(&self.bursts.candidates);
            let candidate = candidates.get_mut(&(function, offset))?;
            let asked = candidate.asked.take();
            let leads_on = if offset == AT_ENTRY { asked.is_some() } else { self.loop_code(function, offset).is_some() };
            if !self.shared.budget.has_credit() || !leads_on {
                self.shared.budget.decline();
                return None;
            }
            candidate.turns += 1;
            candidate.bursts += 1;
            let waited = candidate.waiting.take().map_or(Duration::ZERO, |since| since.elapsed());
            waited_us = u32::try_from(waited.as_micros()).unwrap_or(u32::MAX);
            let branches = self.shared.config.events.contains(EventId::BRANCHES);
            match candidate.loads && known_plateaus().is_some() {
                true if !branches || candidate.bursts.is_multiple_of(2) => Kind::Loads,
                // Loads alone are wanted, and there are none, or no plateaus yet.
                false if !branches => return None,
                _ => Kind::Branches,
            }
        };
        let seed = self.shared.config.ring.seed;
        let burst = state.burst.get_or_insert_with(|| Box::new(StoreBurst::new(seed)));
        let registers = kind == Kind::Loads && self.shared.config.ring.registers;
        let began = ticks();
        burst.open = Some(Open { kind, version, offset, registers, running_since: began, ticks: 0, began, waited_us });
        // SAFETY: the running store's LWPCB is this thread's ring.
        unsafe { refresh_core_id(state.context.lwpcb.cast()) };
        state.context.burst_index = 0;
        // A load with its registers is 14 words in place of 2; the buffer has room for some loops' worth of them behind the limit.
        state.context.burst_limit = self.shared.budget.words(kind) * if registers { 4 } else { 1 };
        state.context.burst_registers = u32::from(registers);
        state.context.burst_timing = u32::from(kind == Kind::Loads);
        Some(address)
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
        let Some(mut open) = burst.open.take() else { return };
        let began = ticks();
        open.pause(began);
        let ns_per_tick = self.shared.ns_per_tick();
        let mut read = None;
        if written <= BURST_WORDS {
            // SAFETY: the buffer has BURST_WORDS words, and the code that writes them does not run now.
            let words = unsafe { std::slice::from_raw_parts(state.context.burst_buffer, written) };
            let callee = |module: u64, function: u32| match self.module.defined(function) {
                Some(own) if module == self.key && own < self.functions.len() => {
                    // Compiled code, or the ops that are interpreted: a stub is nothing that runs.
                    match (self.functions[own].compiled.load(Ordering::Relaxed) as u64, self.functions[own].bytecode.get()) {
                        (0, Some(bytecode)) => bytecode.address_range().start,
                        (compiled, _) => compiled,
                    }
                }
                _ => 0,
            };
            let polls = self.shared.config.poll_records;
            let values = self.shared.config.events.contains(EventId::VALUE);
            let ring = Ring { lwpcb: state.context.lwpcb.cast(), values, polls, ns_per_tick, ended: began, callee: &callee };
            // SAFETY: the running store's LWPCB is this thread's ring.
            read = unsafe { finish(&self.shared.probes, burst, &open, words, &ring) };
        }
        let model_ns = ticks().saturating_sub(began) as f64 * ns_per_tick;
        let burst_ns = if open.offset == AT_ENTRY { written as f64 * BODY_WORD_NS } else { open.ticks as f64 * ns_per_tick };
        let entrance = if open.offset == AT_ENTRY { Entrance::Body } else { Entrance::Loop(open.offset) };
        self.note_burst(open.version, entrance, written as u32, burst_ns, model_ns);
        self.shared.budget.spent(open.kind, read.map(|_| written as u32), burst_ns, model_ns);
    }

    fn note_burst(&self, version: u32, entrance: Entrance, words: u32, burst_ns: f64, model_ns: f64) {
        if !self.shared.timeline.is_kept() {
            return;
        }
        let loops = self.bursts.loops.read().unwrap_or_else(|error| error.into_inner());
        let function = loops.iter().find(|(_, found)| found.version == version).map(|(&(function, _), _)| function);
        drop(loops);
        if let Some(function) = function {
            self.note(function, entrance, || What::Burst { words, burst_ns: burst_ns as u64, model_ns: model_ns as u64 });
        }
    }

    /// The running store left instrumented code of version `version` for something else.
    ///
    /// # Safety
    /// As [`Self::end_burst`].
    pub(super) unsafe fn left_burst(&self, context: *mut VmContext, version: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            let open = (*store_state(context)).burst.as_ref().and_then(|burst| burst.open.as_ref());
            if open.is_some_and(|open| open.version == version) {
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
                if open.version != version {
                    return 0;
                }
                if written >= limit {
                    code.end_burst(context);
                } else {
                    open.pause(ticks());
                    let own = code.module.defined(function).expect("only defined functions run");
                    let word = poll_word(context, code.module.offsets().poll(own as u32));
                    let _ = word.compare_exchange(0, poll_tag(open.offset), Ordering::AcqRel, Ordering::Acquire);
                }
                0
            }
            _ => {
                code.end_burst(context);
                let leaves = code.loop_code(function, offset).is_some();
                if !leaves {
                    (*store_state(context)).context.burst_limit = IDLE_WORDS;
                }
                usize::from(leaves)
            }
        }
    }
}
