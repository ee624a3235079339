//! Bursts of bodies, and of loops in them, whose instrumented code would cost more than what it says is worth: they run in the interpreter, in a form of their bytecode that writes
//! the words which instrumented code writes ([`Bytecode::probes`]). Making it takes a fiftieth of a compile, and all loops of a function share it.
//!
//! ```text
//! compiled loop ──poll──► begin_burst / join_burst ──► form_to_run ──► watched form ──► watched_enough ──► compiled loop, or the ordinary form
//! call ──lazy stub──► enters_watched ──► form_to_call ──► watched form ──► watched_return
//! ```
//!
//! What watched code calls runs in its watched form too, where it has one. In a large module, whose functions are not compiled for bursts before the run is over, it gets one there and then, and loops that have instrumented
//! code run in their watched form in bursts of all that time no loads: so what a loop calls is seen as often as the loop ([`ModuleCode::follows_calls`]).
//!
//! What it does not say is where loads get their data from: a load that is interpreted finds its line where the interpreter left it. For that the loop's instrumented code
//! is compiled in the end, when the run is so long that this is a small part of it.

use super::ModuleCode;
use super::bursts::{Form, IDLE_WORDS, at_burst};
use super::thresholds::{WATCHED_FROM, expected_compile_time, strings};
use super::versions::cpu_time;
use crate::burst::{AT_ENTRY, AT_RETURN, Kind, ProbeTable, SMALL, Starts, StoreBurst, ticks};
use crate::bytecode::{self, Bytecode, PointKind};
use crate::code::{Entrance, Tier};
use crate::engine::{lock, try_lock};
use crate::exits;
use crate::layout::{VmContext, head};
use crate::runtime::{instance, store_state};
use crate::timeline::What;
use crate::trap::Outcome;
use lwp_feedback::codemap::{CodeEntry, FunctionId, Tier as CodeTier};
use lwp_feedback::layout::EventId;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What making the watched form takes, beside compiling the same body with instrumentation. Measured: 8 to 17 ms for CPython's evaluation loop, where a compile is
/// expected to take 640.
const SHARE_OF_COMPILE: usize = 50;

/// Two calls of a function within so many nanoseconds are calls of one that returns soon. A guess: a burst takes some 100 us.
const OFTEN_NS: f64 = 1e6;

/// Words of the watched form that a stressed engine runs for.
const STRESSED_WORDS: u32 = 12;

/// What a call from watched code goes on in.
pub(crate) enum WatchedCallee<'a> {
    /// In its watched form.
    Bytecode(&'a Bytecode),
    /// In its instrumented body, by this adapter.
    Code(usize, usize),
}

/// A function's watched form.
pub(super) struct Watched {
    code: Bytecode,
    /// The number that names it in bursts and in the code map.
    version: u32,
    took: Duration,
    published: Duration,
}

/// A watched form, for reports.
pub(crate) struct WatchedForm {
    pub(crate) version: u32,
    /// Size of its bytecode.
    pub(crate) bytes: usize,
    /// What making it took.
    pub(crate) took: Duration,
    /// Since the engine began.
    pub(crate) published: Duration,
}

impl Watched {
    pub(super) fn into_code(self) -> Bytecode {
        self.code
    }

    /// The number that names it.
    pub(super) fn version(&self) -> u32 {
        self.version
    }

    /// Whether a burst can begin in it, there ([`AT_ENTRY`], or a loop's offset).
    pub(super) fn can_begin(&self, offset: u32) -> bool {
        offset == AT_ENTRY || self.code.has_loop(offset)
    }

    /// The loops in a loop.
    fn inside(&self, offset: u32) -> impl Iterator<Item = u32> {
        let end = self.code.loops.iter().find(|of| of.start == offset).map_or(0, |of| of.end);
        self.code.loops.iter().map(|of| of.start).filter(move |&inner| offset < inner && inner < end)
    }
}

impl ModuleCode {
    /// Whether bursts of a function run in the interpreter.
    pub(super) fn is_watched(&self, function: u32) -> bool {
        (self.shared.config.stress.watch_all || self.body_bytes(function) >= WATCHED_FROM) && self.may_watch()
    }

    /// Whether anything may be interpreted for a burst.
    pub(super) fn may_watch(&self) -> bool {
        !self.shared.config.exact && self.shared.config.events.contains(EventId::BRANCHES)
    }

    /// Whether what watched code calls is watched too, in bursts of all together, whether it is a candidate or not.
    pub(super) fn follows_calls(&self) -> bool {
        self.follows && self.may_watch()
    }

    /// What has to be made before a function can have bursts takes as long as compiling a body of so many bytes.
    pub(super) fn bytes_before_burst(&self, function: u32) -> usize {
        if self.is_watched(function) { self.bytes_of_form(function) } else { self.body_bytes(function) }
    }

    /// The same of making its watched form.
    fn bytes_of_form(&self, function: u32) -> usize {
        self.body_bytes(function) / SHARE_OF_COMPILE
    }

    /// How long that is expected to take.
    pub(super) fn time_before_burst(&self, function: u32) -> Duration {
        expected_compile_time(Tier::Instrumented, self.bytes_before_burst(function))
    }

    /// How long making a function's watched form is expected to take.
    pub(super) fn time_of_form(&self, function: u32) -> Duration {
        expected_compile_time(Tier::Instrumented, self.bytes_of_form(function))
    }

    /// Makes a function's watched form, if it is not there, for bursts of a loop or of the body ([`AT_ENTRY`]). False where its probes have no numbers any more.
    pub(super) fn watch(&self, function: u32, offset: u32) -> bool {
        let Some(made) = self.watched(function, true) else { return false };
        self.ready_all(function, made);
        if offset != AT_ENTRY && !made.code.has_loop(offset) {
            return false;
        }
        self.ready((function, offset), Form::Interpreted, made.version, false);
        tracing::debug!(function, offset, "bursts are interpreted");
        true
    }

    /// A function's watched form, if it was made.
    fn form(&self, function: u32) -> Option<&Watched> {
        self.own(function).watched.get().map(|made| &**made)
    }

    /// The same, made if it is not there. `waits`: for another thread that makes one.
    pub(super) fn watched(&self, function: u32, waits: bool) -> Option<&Watched> {
        if self.form(function).is_none() {
            let _making = if waits { lock(&self.bursts.making) } else { try_lock(&self.bursts.making)? };
            if self.form(function).is_none() {
                let made = Box::new(self.make_watched(function)?);
                // (its records mean something from the first one on)
                self.publish_watched(function, &made);
                _ = self.own(function).watched.set(made);
            }
        }
        self.form(function)
    }

    /// The same on a thread that runs a burst. While there is no credit nothing is made, and what takes long is left to the monitor (CPython's evaluation loop would keep its own thread for 13 ms).
    #[cold]
    #[inline(never)]
    fn make_followed(&self, function: u32) -> Option<&Watched> {
        if !self.shared.config.stress.follow_calls {
            let expected = self.time_of_form(function);
            if expected > SMALL {
                self.note_followed(function);
                return None;
            }
            if !self.shared.budget.has_credit_for(expected) {
                return None;
            }
        }
        let began = cpu_time();
        let made = self.watched(function, false);
        self.shared.budget.compiled(cpu_time().saturating_sub(began));
        made
    }

    /// The number of a function's watched form, for what runs now in a burst of all.
    pub(super) fn followed(&self, function: u32) -> Option<u32> {
        self.form(function).or_else(|| self.make_followed(function)).map(|made| made.version)
    }

    /// All candidates of a function whose bursts are always interpreted can have them once one can: the form is there. (One by one they waited in turn with hundreds of others for a credit that they do not need: of CPython's evaluation
    /// loop one loop of 36 had bursts in ten seconds, and which one was chance.)
    pub(super) fn ready_all(&self, function: u32, made: &Watched) {
        if !self.is_watched(function) {
            return;
        }
        let waiting: Vec<(u32, u32)> = {
            let mut candidates = lock(&self.bursts.candidates);
            let own = candidates.iter_mut().filter(|(key, candidate)| key.0 == function && !candidate.ready);
            own.filter(|(key, _)| key.1 == AT_ENTRY || made.code.has_loop(key.1))
                .map(|(&key, candidate)| {
                    candidate.wanted = true;
                    key
                })
                .collect()
        };
        for key in waiting {
            self.ready(key, Form::Interpreted, made.version, false);
        }
    }

    /// The same of one that became a candidate since.
    pub(super) fn ready_if_made(&self, function: u32) {
        if let Some(made) = self.own(function).watched.get() {
            self.ready_all(function, made);
        }
    }

    /// Whether what is asked at a loop's header can go on in compiled code behind its burst: the loop's own, or where the interpreter runs it that of a loop inside, which
    /// comes soon (not that of a loop around: an inner one may have a million rounds before it), or templates, until the function is called again or some loop has run long enough to
    /// pay for code of its own.
    pub(super) fn leads_on(&self, function: u32, offset: u32) -> bool {
        self.loop_code(function, offset).is_some()
            || matches!(self.own(function).watched.get(), Some(made) if strings(&self.shared.config) || made.inside(offset).any(|inner| self.loop_code(function, inner).is_some()))
    }

    /// All loops of a body that goes to tier 2 become candidates: its records stop there, and have named some only. The others' bursts are interpreted. `latest`: the events of
    /// its last record.
    pub(super) fn watch_loops(self: &Arc<Self>, function: u32, latest: u64) {
        let Some(bytecode) = self.own(function).bytecode.get().filter(|_| self.may_watch()) else { return };
        for point in bytecode.points().iter().filter(|point| point.kind == PointKind::Loop) {
            self.any_candidate(function, point.offset, latest, 0, false);
        }
    }

    fn make_watched(&self, function: u32) -> Option<Watched> {
        let began = Instant::now();
        let base = self.reserve_probes(function)?;
        let counts = self.shared.config.events.contains(EventId::INSTRUCTIONS);
        let mut code = bytecode::translate_watched(&self.module, function, counts, base);
        // A frame changes its form where it is.
        code.frame_slots = code.frame_slots.max(self.bytecode(function).frame_slots);
        let version = self.next_version.fetch_add(1, Ordering::Relaxed);
        let address = |pc: u32| &raw const code.ops[pc as usize] as u64;
        let first = Starts::new(code.offsets().iter().enumerate().map(|(pc, &offset)| (offset, address(pc as u32))));
        let probes = code.probes.iter().map(|&(kind, pc)| (kind, address(pc), code.offset_at(pc).unwrap_or(0), 0));
        let mut table = ProbeTable::new(&self.module, self.key, function, &first, probes);
        table.loops.clone_from(&code.loops);
        self.insert_probes(base, table);
        let (took, code_bytes) = (began.elapsed(), code.size_bytes());
        let took_ns = took.as_nanos() as u64;
        self.note(function, Entrance::Body, || What::Compiled {
            version,
            tier: Tier::Instrumented,
            took_ns,
            code_bytes,
            arm: false,
            interpreted: true,
        });
        Some(Watched { code, version, took, published: self.shared.started.elapsed() })
    }

    /// A function's watched form, if it was made.
    pub(crate) fn watched_form(&self, function: u32) -> Option<WatchedForm> {
        let Watched { code, version, took, published } = &**self.own(function).watched.get()?;
        Some(WatchedForm { version: *version, bytes: code.size_bytes(), took: *took, published: *published })
    }

    fn publish_watched(&self, function: u32, watched: &Watched) {
        if !self.shared.watched() {
            return;
        }
        let code = &watched.code;
        let start = code.address_range().start;
        let mut offsets: Vec<(u32, u32)> = Vec::new();
        for (pc, &offset) in code.offsets().iter().enumerate() {
            if offsets.last().is_none_or(|last| last.1 != offset) {
                offsets.push(((&raw const code.ops[pc] as u64 - start) as u32, offset));
            }
        }
        let id = FunctionId { module: self.key, func: function };
        let entry = CodeEntry::new(id, watched.version, CodeTier::Instrumented, Arc::from(offsets));
        if let Err(error) = self.shared.code_map.insert(code.address_range(), entry) {
            tracing::error!(function, %error, "watched bytecode not in the code map: its records will mean nothing");
        }
    }

    /// The form in which the interpreter goes on with a function that compiled code has left: the watched one where a burst has just begun there.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(crate) unsafe fn form_to_run(&self, context: *mut VmContext, function: u32) -> *const Bytecode {
        // SAFETY: the caller's promise; nothing else uses the store now.
        let asked = unsafe { (*store_state(context)).burst.as_mut().and_then(|burst| burst.watch.take()) };
        match self.own(function).watched.get() {
            Some(watched) if asked == Some(function) => &watched.code,
            _ => self.bytecode(function),
        }
    }

    /// In which form a call from watched code goes on that is to be seen: where there is one, a burst is under way and not full, and no trial is interested in calls.
    ///
    /// # Safety
    /// `context` is the running context of this module, and `function` one of its own.
    #[inline(always)]
    pub(crate) unsafe fn watched_callee(&self, context: *mut VmContext, function: u32) -> Option<WatchedCallee<'_>> {
        // SAFETY: the caller's promise.
        let under_way = unsafe {
            let store = &*(*head(context)).store;
            store.burst_index < store.burst_limit && store.burst_limit < IDLE_WORDS
        };
        if !under_way || self.trials.need_calls_of(function) {
            return None;
        }
        // SAFETY: the caller's promise; nothing else uses the store now.
        let burst = unsafe { (*store_state(context)).burst.as_mut() };
        let open = burst.as_ref().and_then(|burst| burst.open.as_ref());
        // (an early one is of what has no code; a loop of what has would stay in templates behind it)
        if open.is_some_and(|open| open.early) && !self.compiled(function).is_null() {
            return None;
        }
        let joint = open.is_some_and(|open| open.joint);
        let times = open.is_some_and(|open| open.kind == Kind::Loads);
        let follows = self.follows_calls() && !times && (joint || open.is_none() && self.shared.config.stress.follow_calls);
        let mut watched = self.form(function);
        // (what is followed and has loops may stay in the interpreter for as long as they last)
        let is_seen = if follows { self.comes_often(function) } else { watched.is_some() };
        if is_seen {
            if watched.is_none() {
                let began = ticks();
                watched = self.make_followed(function);
                burst.into_iter().for_each(|burst| burst.excuse(ticks().saturating_sub(began)));
            }
            if let Some(watched) = watched {
                return Some(WatchedCallee::Bytecode(&watched.code));
            }
        }
        let own = self.module.defined(function)?;
        // SAFETY: it is the number of a defined function.
        let (adapter, _) = unsafe { self.callable(own, function) }.filter(|_| joint)?;
        match self.instrumented(function, AT_ENTRY)? {
            (Form::Code(address), _) => Some(WatchedCallee::Code(adapter, address)),
            (Form::Interpreted, _) => None,
        }
    }

    /// Whether a call that is asked and would be interpreted comes so soon after another one that neither can take long. Where the burst is full a frame goes on in code at a loop's header, and without such
    /// code in the interpreter or in templates, to the end: for seconds where that is most of a program.
    fn comes_often(&self, function: u32) -> bool {
        let own = self.own(function);
        let loops = match own.watched.get() {
            Some(watched) => !watched.code.loops.is_empty(),
            None => self.module.defined(function).is_some_and(|own| self.module.loop_polls(own).next().is_some()),
        };
        if !loops || own.called_often.load(Ordering::Relaxed) {
            return true;
        }
        let now = ticks();
        let before = own.asked_at.swap(now, Ordering::Relaxed);
        now.saturating_sub(before) as f64 * self.shared.ns_per_tick() < OFTEN_NS
    }

    /// A function that has code is entered by the resolver, as bursts of its body are: its watched form is to run now, if that is so.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn enters_watched(&self, context: *mut VmContext, function: u32) -> bool {
        if self.compiled(function).is_null() || self.trials.need_calls_of(function) {
            return false;
        }
        let Some((Form::Interpreted, version)) = self.instrumented(function, AT_ENTRY) else { return false };
        // SAFETY: the caller's promise; nothing else uses the store now.
        unsafe {
            let state = &*store_state(context);
            let full = state.context.burst_index >= state.context.burst_limit;
            let open = state.open_burst();
            let watches = match open {
                // Where loads are timed the interpreter has nothing to say.
                Some(open) if open.joint && open.kind == Kind::Loads => {
                    self.enter_ordinary_here(context, function);
                    false
                }
                Some(open) if (open.is_in(self.key, version) || open.joint) && open.kind != Kind::Loads && !full => true,
                _ => self.comes_often(function) && self.at_entry(context, function, version) == 0,
            };
            if watches && let Some(burst) = &mut (*store_state(context)).burst {
                burst.watch(function);
            }
            watches
        }
    }

    /// The watched form to call a function in that was just entered by the resolver, if it is to run in that.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(crate) unsafe fn form_to_call(&self, context: *mut VmContext, function: u32) -> Option<*const Bytecode> {
        // SAFETY: the caller's promise; nothing else uses the store now.
        let burst = unsafe { (*store_state(context)).burst.as_mut() }?;
        burst.watch.take_if(|asked| *asked == function)?;
        self.own(function).watched.get().map(|watched| &raw const watched.code)
    }

    /// A loop came that is to run in that form: where to go on, as a poll's builtin is told.
    ///
    /// # Safety
    /// `context` is the running context of this module, at a poll whose frame is in the switch buffer.
    pub(super) unsafe fn enter_form(&self, context: *mut VmContext, function: u32, form: Form) -> Outcome<usize> {
        match form {
            Form::Code(address) => Ok(address),
            // SAFETY: the caller's promise; nothing else uses the store now.
            Form::Interpreted => unsafe {
                self.switches.fetch_add(1, Ordering::Relaxed);
                let seed = self.shared.config.ring.seed;
                (*store_state(context)).burst.get_or_insert_with(|| Box::new(StoreBurst::new(seed))).watch(function);
                exits::go_on(context)
            },
        }
    }

    /// For tests of switching: some words of the watched form are due, for no burst. False where there is no such form, or a burst is under way.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn watch_for_a_while(&self, context: *mut VmContext, function: u32, offset: u32) -> bool {
        // SAFETY: the caller's promise; nothing else uses the store now.
        let state = unsafe { &mut *store_state(context) };
        if state.burst.as_ref().is_some_and(|burst| burst.open.is_some()) || !self.watch(function, offset) {
            return false;
        }
        (state.context.burst_index, state.context.burst_limit) = (0, STRESSED_WORDS);
        true
    }

    /// The countdown of a function begins again, as in tier 1.
    pub(crate) fn count_anew(&self, function: u32) {
        let own = self.module.defined(function).expect("only defined functions count");
        let after = self.hot_after(own, Tier::Baseline);
        self.count_to(own, after);
    }
}

/// A watched loop found the buffer full, or no burst under way: the loop's code to go on in, or null where that is to be some loop's that comes.
///
/// # Safety
/// `context` is the running context of kind wasm, and the loop one of its module's.
pub(crate) unsafe fn watched_enough(context: *mut VmContext, function: u32, offset: u32) -> *const u8 {
    // SAFETY: the caller's promise.
    unsafe {
        let code = &instance(context).code;
        // (the header's look may have ended such a burst right before)
        let early = code.counts_early(function) && !code.has_loop_code(function);
        code.end_burst(context);
        let entry = super::leave::loop_entry(context, code, function, offset);
        // (what has no code at all is where it belongs)
        if entry.is_null() && !early {
            code.look_for_loops(function);
            code.went_astray(function, offset);
            if let Some(burst) = &mut (*store_state(context)).burst {
                burst.astray = Some(code.astray(function, offset));
            }
        }
        entry
    }
}

/// A function returns from its watched form.
///
/// # Safety
/// As [`watched_enough`].
pub(crate) unsafe fn watched_return(context: *mut VmContext, function: u32) {
    // SAFETY: the caller's promise; nothing else uses the store now.
    unsafe {
        let code = &instance(context).code;
        if let Some(burst) = &mut (*store_state(context)).burst {
            burst.unwatch();
        }
        if let Some(watched) = code.own(function).watched.get() {
            at_burst(context, function, AT_RETURN, watched.version);
        }
    }
}
