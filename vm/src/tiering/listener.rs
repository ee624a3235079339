//! The monitor's way back into the engine: hot records become compile requests, and drained records are saved where that was asked for.

use super::cost::{own_time, own_time_in_templates, time_of_calls_out};
use super::thresholds::{
    INTERPRETER_STEP, LARGE, LOOP_STEP, MEASURED_BEFORE, MEASURED_INTERVALS, MOST_LOOPS, by_cost, expected_compile_time, strings,
};
use super::{LoopCode, ModuleCode};
use crate::burst::AT_ENTRY;
use crate::bytecode::{Bytecode, Op};
use crate::code::{Entrance, Tier};
use crate::engine::Shared;
use crate::timeline::Pulse;
use lwp_feedback::class::{BURST_EARLY, SiteClass};
use lwp_feedback::codemap::{Resolved, Tier as CodeTier};
use lwp_feedback::layout::Record;
use lwp_feedback::monitor::{self, Haste, Hot, RingId};
use lwp_feedback::recordfile::Recorder;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// What records said about one function, for the report.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Calls and back edges counted, by tier: interpreter, baseline, optimizing.
    pub events: [u64; 3],
    /// The events of hot-loop records, by loop.
    pub loops: HashMap<u32, u64>,
    /// Ticks per event where they were fewest, of the interpreter and of tier 1: what is longer holds what the program did in between.
    pub least_ticks: [Option<f64>; 2],
    /// Ticks of the time stamp counter per event, measured between successive records of one version on one thread.
    pub intervals: HashMap<u32, Vec<f64>>,
}

/// Which functions that went to tier 2 are called often: those with a record of a call, and those that another one calls in its body. (Of one that loops much, few records are
/// of calls.)
#[derive(Default)]
pub(super) struct Callees(Mutex<HashMap<u32, Callee>>);

#[derive(Default)]
struct Callee {
    called: bool,
    /// Its events, once it went to tier 2.
    moved_up: Option<u64>,
}

impl Callees {
    /// A function goes to tier 2: those of which it is known since then that they did and are called, with their events.
    fn moved_up(&self, function: u32, is_called: bool, events: u64, code: Option<&Bytecode>) -> Vec<(u32, u64)> {
        let mut known = self.0.lock().unwrap_or_else(|error| error.into_inner());
        let own = known.entry(function).or_default();
        if own.moved_up.replace(events).is_some() {
            return Vec::new();
        }
        let mut news = Vec::new();
        if is_called || own.called {
            own.called = true;
            news.push((function, events));
        }
        for inst in code.map_or(&[][..], |code| &code.ops) {
            let Op::Call { function: callee, .. } = inst.op else { continue };
            let callee_known = known.entry(callee).or_default();
            if let (false, Some(events)) = (std::mem::replace(&mut callee_known.called, true), callee_known.moved_up) {
                news.push((callee, events));
            }
        }
        news
    }
}

/// A function of which records have counted so many calls is one that returns soon: the calls of one that takes a millisecond would have taken a second. (Where calls are followed two within a millisecond would have to be
/// seen in one burst, of a microsecond of the program's own time.)
const MANY_CALLS: u64 = 1000;

impl ModuleCode {
    /// Whether what is hot in the interpreter goes to tier 2 at once: from templates, by the time it took, and with bursts to say what tier 1 would.
    pub(super) fn skips_baseline(&self) -> bool {
        let shared = &self.shared;
        by_cost(&shared.config) && strings(&shared.config) && (shared.bursts() || !shared.budget.allows_any())
    }

    /// Nanoseconds that an event of a body of `bytes` took in the interpreter (0) or tier 1 (1), given the fewest ticks between its records.
    fn took(&self, least_ticks: f64, tier: usize, bytes: usize) -> f64 {
        let least = least_ticks * self.shared.ns_per_tick();
        if tier == 0 && self.skips_baseline() { own_time_in_templates(least, bytes) } else { own_time(least, tier, bytes) }
    }

    /// Nanoseconds that the program has spent in a function, or around a loop of it, outside of tier 2, as far as records say; 1 where time does not decide what is compiled. Once the body has code
    /// calls are in that, and a loop's entrance serves activations that are older.
    pub(crate) fn benefit(&self, function: u32, entrance: Entrance) -> f64 {
        // (a guess)
        const OF_LOOPS_OF_CODE: f64 = 0.125;
        if !by_cost(&self.shared.config) {
            return 1.0;
        }
        let bytes = self.body_bytes(function);
        // What was asked for without records is taken for worth what it costs.
        let unknown = expected_compile_time(Tier::Optimizing, bytes).as_nanos().max(1) as f64;
        let spent = {
            // (whoever holds it may wait for the queue)
            let Ok(counted) = self.counted.try_lock() else { return unknown };
            let Some(counted) = counted.get(&function) else { return unknown };
            let spent_in = |tier: usize| Some(counted.events[tier] as f64 * self.took(counted.least_ticks[tier]?, tier, bytes));
            let all: f64 = (0..2).filter_map(spent_in).sum();
            match entrance {
                Entrance::Body => all,
                Entrance::Loop(offset) => {
                    let rounds = counted.loops.get(&offset).copied().unwrap_or(0);
                    all * (rounds as f64 / counted.events.iter().sum::<u64>().max(1) as f64)
                }
            }
        };
        let spent = if spent > 0.0 { spent } else { unknown };
        if entrance != Entrance::Body && !self.compiled(function).is_null() { spent * OF_LOOPS_OF_CODE } else { spent }
    }

    /// For tests: what records said so far.
    #[cfg(test)]
    pub(crate) fn set_counted(&self, function: u32, counted: Counted) {
        self.counted.lock().unwrap_or_else(|error| error.into_inner()).insert(function, counted);
    }

    /// A hot record arrived: what to compile next.
    fn on_hot(self: &Arc<Self>, event: &Hot, interval: Option<f64>) {
        let function = event.function.func;
        if self.module.defined(function).is_none() || function as usize >= self.module.functions.len() {
            return; // a damaged record
        }
        let tier_index = match event.tier {
            CodeTier::Interpreter => 0,
            CodeTier::Baseline | CodeTier::Instrumented => 1,
            CodeTier::Optimizing => 2,
        };
        let shared = &self.shared;
        let own = self.module.defined(function).expect("asked above");
        let bytes = self.body_bytes(function);
        let mut rounds_of_loop = 0;
        let (mut spent, mut spent_in_loop) = (0.0, 0.0);
        // Some record was of a call.
        let is_called;
        let (events, measured) = {
            let mut counted = self.counted.lock().unwrap_or_else(|error| error.into_inner());
            let counted = counted.entry(function).or_default();
            counted.events[tier_index] = counted.events[tier_index].saturating_add(event.value);
            if event.kind == SiteClass::HotLoop && (counted.loops.len() < MOST_LOOPS || counted.loops.contains_key(&event.data1)) {
                let rounds = counted.loops.entry(event.data1).or_default();
                *rounds = rounds.saturating_add(event.value);
                rounds_of_loop = *rounds;
            }
            if let (Some(ticks), tier @ 0..2) = (interval, tier_index) {
                let least = counted.least_ticks[tier].map_or(ticks, |least| least.min(ticks));
                counted.least_ticks[tier] = Some(least);
                let took = self.took(least, tier, bytes);
                spent = counted.events[tier] as f64 * took;
                spent_in_loop = rounds_of_loop as f64 * took;
            }
            let in_loops = counted.loops.values().fold(0, |sum: u64, rounds| sum.saturating_add(*rounds));
            is_called = counted.events[tier_index] > in_loops;
            if self.follows && counted.events[tier_index].saturating_sub(in_loops) >= MANY_CALLS {
                self.own(function).called_often.store(true, Ordering::Relaxed);
            }
            let intervals = counted.intervals.entry(event.version).or_default();
            if let Some(interval) = interval
                && intervals.len() < 1000
            {
                intervals.push(interval);
            }
            (counted.events[tier_index], intervals.len())
        };
        let by_cost = by_cost(&shared.config);
        let pays = |tier, spent: f64| spent >= shared.compile_costs.pays_after(tier, bytes);
        // A record may be damaged: a loop is compiled only where there is one.
        let at_loop = event.kind == SiteClass::HotLoop && self.own(function).bytecode.get().is_none_or(|code| code.has_loop(event.data1));
        let measure = self.measures(function);
        match event.tier {
            // Templates take the place of tier 1, which is a third faster at best (`super::cost`); its values come from bursts, where there are any.
            CodeTier::Interpreter if self.skips_baseline() => {
                // Said once: the first compile that is asked for may be over, and have changed what compiles are expected to take, before the next line runs.
                let (costs, stage) = (&shared.compile_costs, self.age.stage());
                let least = costs.pays_from_templates(bytes, stage);
                let least_of_body = least * if shared.queue.is_idle() { costs.share_while_idle(stage) } else { 1.0 };
                let vectors = self.has_vectors(function);
                let spent = spent + self.own(function).bytecode.get().map_or(0.0, |code| time_of_calls_out(code.called_out()));
                let (pays, loop_pays) = (vectors || spent >= least_of_body, at_loop && (vectors || spent_in_loop >= least));
                // (what is asked for first is made first)
                if pays {
                    self.request(function, Entrance::Body, Tier::Optimizing, measure);
                }
                if loop_pays {
                    // Bursts leave for the loop's own code: without that it would have none.
                    self.request(function, Entrance::Loop(event.data1), Tier::Optimizing, measure);
                    self.burst_candidate(function, event.data1, rounds_of_loop, event.value);
                }
                // Its last record here, so whatever the record is of.
                if pays {
                    for called in self.callees.moved_up(function, is_called, events, self.own(function).bytecode.get().map(Box::as_ref)) {
                        self.burst_candidate(called.0, AT_ENTRY, called.1, 0);
                    }
                    self.watch_loops(function, event.value);
                }
            }
            CodeTier::Interpreter => {
                // What has vectors cannot be compiled too soon.
                let vectors = self.has_vectors(function);
                let often = events >= u64::from(self.interpreted_events(function, INTERPRETER_STEP));
                if !by_cost || vectors || often || pays(Tier::Baseline, spent) {
                    self.request(function, Entrance::Body, Tier::Baseline, false);
                }
                let often = rounds_of_loop >= u64::from(self.interpreted_events(function, LOOP_STEP));
                // Of a small function with code, that is an activation which goes on in the interpreter; a large one has mostly one activation that matters.
                let stuck = bytes > LARGE || !self.compiled(function).is_null();
                if at_loop && (often || by_cost && stuck && pays(Tier::Baseline, spent_in_loop)) {
                    self.request(function, Entrance::Loop(event.data1), Tier::Baseline, false);
                }
            }
            // Without an interval of its own there would be nothing to compare tier 2 with.
            CodeTier::Baseline if measure && measured < MEASURED_BEFORE => {}
            CodeTier::Baseline | CodeTier::Instrumented => {
                if event.kind == SiteClass::HotFunction {
                    self.burst_candidate(function, AT_ENTRY, event.value, event.value);
                }
                if at_loop {
                    self.burst_candidate(function, event.data1, event.value, event.value);
                }
                let often = events >= u64::from(self.hot_events(own));
                if by_cost && !often && !pays(Tier::Optimizing, spent) {
                    return;
                }
                if at_loop {
                    match self.loop_code(function, event.data1) {
                        // The version is there, but this activation has not moved to it.
                        Some(LoopCode { tier: Tier::Optimizing, .. }) => self.ask_to_leave(&self.published(), function),
                        _ => self.request(function, Entrance::Loop(event.data1), Tier::Optimizing, measure),
                    }
                }
                // One activation's loops got it here: nobody calls the function.
                let only_loops = by_cost && event.kind == SiteClass::HotLoop && !self.has_body(function);
                if !only_loops {
                    self.request(function, Entrance::Body, Tier::Optimizing, measure);
                }
            }
            CodeTier::Optimizing => {
                if measured >= MEASURED_INTERVALS {
                    self.request(function, Entrance::Body, Tier::Optimizing, false);
                    if at_loop {
                        self.request(function, Entrance::Loop(event.data1), Tier::Optimizing, false);
                    }
                }
            }
        }
    }
}

/// Where drained records are saved, once something is set. Shared by the engine and its listener.
pub(crate) type Recording = Arc<OnceLock<Mutex<Recorder<Box<dyn std::io::Write + Send>>>>>;

/// The monitor's way back into the engine.
pub(crate) struct Listener {
    shared: Weak<Shared>,
    recording: Recording,
    /// Time stamp of the last hot record of a version on a ring.
    last: HashMap<(RingId, u64, u32, u32), u64>,
}

/// Most entries of `Listener::last`; beyond it is forgotten, which costs one interval each.
const MOST_LAST: usize = 1 << 16;

impl Listener {
    pub(crate) fn new(shared: Weak<Shared>, recording: Recording) -> Listener {
        Listener { shared, recording, last: HashMap::new() }
    }
}

impl monitor::Listener for Listener {
    fn hot(&mut self, event: &Hot) {
        if !matches!(event.kind, SiteClass::HotFunction | SiteClass::HotLoop | SiteClass::BurstEnd | SiteClass::BurstRounds) {
            return;
        }
        let Some(shared) = self.shared.upgrade() else {
            return;
        };
        if event.kind == SiteClass::BurstEnd {
            for code in shared.modules(event.function.module) {
                code.learn_again_if_shifted(event.function.func);
                code.reconsider(event.function.func);
            }
            return;
        }
        if event.kind == SiteClass::BurstRounds {
            if !shared.follows.load(Ordering::Relaxed) || event.detail & BURST_EARLY != 0 {
                return;
            }
            for code in shared.modules(event.function.module) {
                code.seen_in_burst(event.function.func, event.value, event.data1);
            }
            return;
        }
        if self.last.len() >= MOST_LAST {
            self.last.clear();
        }
        let key = (event.ring, event.function.module, event.function.func, event.version);
        let interval = match self.last.insert(key, event.tsc) {
            Some(before) if event.tsc > before && event.value > 0 => Some((event.tsc - before) as f64 / event.value as f64),
            _ => None,
        };
        for code in shared.modules(event.function.module) {
            code.on_hot(event, interval);
        }
    }

    fn wants_records(&self) -> bool {
        self.recording.get().is_some()
    }

    fn record(&mut self, ring: RingId, record: &Record, resolved: Option<&Resolved>) {
        if let Some(recorder) = self.recording.get() {
            recorder.lock().unwrap_or_else(|error| error.into_inner()).record(ring, record, resolved);
        }
    }

    fn missed(&mut self, ring: RingId, count: u64) {
        if let Some(recorder) = self.recording.get() {
            recorder.lock().unwrap_or_else(|error| error.into_inner()).missed(ring, count);
        }
    }

    fn tick(&mut self, summary: &monitor::PollSummary) {
        if let Some(shared) = self.shared.upgrade() {
            shared.drain_perf();
            shared.bursts_due(summary.cpu_ns + lwp_feedback::calibrate::cost_ns());
            if shared.timeline.is_kept() {
                shared.timeline.pulse(Pulse {
                    at_ns: shared.started.elapsed().as_nanos() as u64,
                    records: summary.records as u64,
                    fullest_permille: summary.fullest_permille,
                    cpu_ns: summary.cpu_ns,
                    watching_ns: shared.budget.cost_ns(),
                    code_bytes: crate::arena::used_bytes() as u64,
                });
            }
            shared.tend();
            shared.sweep();
        }
    }

    fn haste(&self) -> Haste {
        self.shared.upgrade().map_or(Haste::None, |shared| shared.haste())
    }

    fn is_idle(&self) -> bool {
        !self.wants_records() && self.shared.upgrade().is_some_and(|shared| shared.is_idle())
    }

    fn polled(&mut self, _summary: &monitor::PollSummary) {
        if let Some(shared) = self.shared.upgrade() {
            shared.sweep();
        }
    }
}
