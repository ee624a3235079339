//! What bursts look at: the loops and bodies of a module that became hot, their instrumented code, and what asks for that.
//!
//! A loop that becomes hot in tier 1 becomes a *candidate*, and its instrumented entrance is compiled while there is credit, the hottest for its size first; so does a function that is called often, one whose
//! code returns more than once in a burst, and one that instrumented code calls and that takes no part. Who is asked to come, and when, says [`super::bursts`].

use super::ModuleCode;
use super::bursts::{ASKED_AT_ONCE, Form, Instrumented, candidate_offset, entrance};
use super::versions::cpu_time;
use crate::burst::{AT_ENTRY, Astray, ENOUGH, News, SMALL, ticks};
use crate::code::{Entrance, Tier};
use crate::engine::{lock, try_lock};
use lwp_feedback::monitor::{Haste, LEARNING};
use lwp_feedback::profile::LoopShape;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Loops of a module that can get bursts; further ones are counted as refused. A guess.
const MOST_CANDIDATES: usize = 1024;
/// Where an earlier process left code, what is hot at the start is in it, and what is not has little to gain: instrumented code is compiled for runs that
/// last longer than this. Twice what a start of CPython takes.
pub(super) const KEPT_SERVES_FOR: Duration = Duration::from_millis(250);
/// Calls of the run that one stands for which a burst saw of something that took no part in it. A guess.
const UNSEEN_CALL_STANDS_FOR: u64 = 1000;
/// Times that a new loop is asked in vain before it counts as one that does not run. A guess.
const MOST_ABSENT: u32 = 3;
/// A watched form is made once the run is so many times as long as that is expected to take: a program's first tenths of a second are not for its evaluation loop's.
const LEAST_PER_FORM: u32 = 50;
/// Bursts that time a loop's loads before it is known where they come from. A guess: one in a loop that misses far leaves some 100 records.
const LEAST_TIMED: u32 = 2;
/// What a burst costs that leaves a loop to templates, of which nobody knows when they come by a loop with code. A guess: of `fft`, whose rounds take 0.7 ms, 3 to 6 ms.
const ASTRAY: Duration = Duration::from_millis(1);
/// The longest that a call or a round in templates is believed to take by itself. A guess: some hundred operators.
const MOST_OF_EVENT: Duration = Duration::from_micros(1);
/// How long a loop counts as new for the sake of those: the first bursts come before the machine's plateaus are known.
const UNTIMED: Duration = LEARNING.saturating_mul(4);

/// A loop, or a function without one (its offset is [`AT_ENTRY`]), that bursts look at.
pub(super) struct Candidate {
    pub(super) hot_since: Instant,
    /// Calls and back edges that made it hot so far.
    pub(super) heat: u64,
    /// Some record named it: that is worth compiling.
    pub(super) named: bool,
    /// It is to be interpreted until its code is there, and that was not begun.
    pub(super) unwatched: bool,
    /// Its instrumented entrance was asked for.
    pub(super) wanted: bool,
    /// And cannot be compiled.
    pub(super) failed: bool,
    /// Its instrumented entrance is there, or it is interpreted meanwhile.
    pub(super) ready: bool,
    /// What was asked for is there.
    pub(super) made: bool,
    /// Whether its bursts can time loads.
    pub(super) loads: bool,
    /// Its bursts are interpreted, and code that can time loads was not asked for.
    pub(super) untimed: bool,
    pub(super) asked: Option<Instant>,
    /// Since when it is asked and does not come.
    pub(super) waiting: Option<Instant>,
    /// Bursts it had, and times it was asked and did not come.
    pub(super) turns: u32,
    pub(super) bursts: u32,
    /// Of those, the ones that it was asked for by itself, and of these the ones that timed loads.
    pub(super) own: u32,
    pub(super) timed: u32,
    /// How long bursts that ended in it had left it to templates, for it has no code of its own.
    astray: Duration,
}

impl Candidate {
    /// One that is hot from now on, of which nothing was seen.
    fn new(heat: u64, named: bool, unwatched: bool) -> Candidate {
        Candidate {
            hot_since: Instant::now(),
            heat,
            named,
            unwatched,
            wanted: false,
            failed: false,
            ready: false,
            made: false,
            loads: false,
            untimed: false,
            asked: None,
            waiting: None,
            turns: 0,
            bursts: 0,
            own: 0,
            timed: 0,
            astray: Duration::ZERO,
        }
    }

    /// Whether there is much to learn of it: it is hot since lately, has had few bursts, and comes when it is asked.
    pub(super) fn is_new(&self, now: Instant) -> bool {
        let absent = self.turns.saturating_sub(self.bursts);
        if self.failed || absent >= MOST_ABSENT {
            return false;
        }
        self.bursts < ENOUGH && self.is_young(now) || self.awaits_times() && now.duration_since(self.hot_since) < UNTIMED
    }

    /// Whether it is in the second that has the learning credit.
    fn is_young(&self, now: Instant) -> bool {
        now.duration_since(self.hot_since) < LEARNING
    }

    /// Whether it has loads of which nothing is known yet.
    pub(super) fn awaits_times(&self) -> bool {
        self.loads && self.timed < LEAST_TIMED
    }
}

/// Functions whose bodies are worth looking at, by what bursts saw.
#[derive(Default)]
pub(super) struct Returned {
    /// When the burst began in which an instrumented loop's code returned last.
    pub(super) latest: HashMap<u32, u64>,
    /// Those of which an instrumented loop's code returned more than once in a burst, since the last tick.
    pub(super) often: Vec<u32>,
    /// Those that instrumented code called and that took no part in the burst, since the last tick: the function, and how often.
    pub(super) unseen: Vec<(u32, u32)>,
    /// Those that watched code called where calls are followed and whose form takes long to make, until it is made: the function, and how often.
    followed: HashMap<u32, u32>,
    /// What making such forms took.
    followed_took: Duration,
}

/// Bursts that saw a function, wherever they began, from which on it is planned for. A guess.
const PLANNED_AFTER: u32 = 4;
/// The same for one whose trial is dear: what is known sooner is a part of what there is to win, and the rest waits for two seconds then. (Of CPython's evaluation
/// loop 12 calls to inline are known after 4 bursts, and 30 branches more after 8, which matter five times as much.)
const DEAR_PLANNED_AFTER: u32 = 8;
/// A dear trial begins with fewer bursts once the run is so many times as long as its compiles: a program with many functions shows each of them seldom. A guess.
const DEAR_AT_ANY_RATE: u32 = 50;
/// Bursts after which what was seen of a function's activations counts half: a program may turn to longer ones.
const FADE_AFTER: u32 = 16;
/// What such a trial takes. A guess.
const DEAR: Duration = Duration::from_millis(100);

/// What bursts saw of a function, wherever they began, where calls are followed.
#[derive(Clone, Copy, Default)]
pub(super) struct SeenFunction {
    bursts: u32,
    /// Its entries and its loops' rounds.
    rounds: u64,
    returns: u64,
}

/// Returns in bursts from which on they say how long a function's activations are. A guess.
const RETURNS_KNOWN: u64 = 2;

impl SeenFunction {
    /// Whether enough is known to try something whose arms take that long to compile, in a program that has run for so long.
    pub(super) fn suffices(&self, arms: Duration, ran_for: Duration) -> bool {
        arms < DEAR || self.bursts >= DEAR_PLANNED_AFTER || ran_for >= arms * DEAR_AT_ANY_RATE
    }

    /// Rounds of its loops in one activation, on average, if that is known: returns and rounds are equally likely to be seen, whatever began a burst.
    pub(super) fn rounds_per_call(&self) -> Option<u64> {
        (self.returns >= RETURNS_KNOWN).then(|| self.rounds / self.returns)
    }
}

/// What goes astray costs so many times what its loop's compile is worth before that is asked for again. Its entrance may have gone since it was asked for, and each burst would leave the rest of an activation to templates for
/// ever.
const ASKED_AGAIN_AFTER: u64 = 3;

/// Whether of two loops of a function one stands in the other.
fn stand_together(loops: &[LoopShape], one: u32, other: u32) -> bool {
    let holds = |outer: u32, inner: u32| loops.iter().any(|it| it.offset == outer && (it.offset..it.end).contains(&inner));
    holds(one, other) || holds(other, one)
}

impl ModuleCode {
    /// A loop became hot, or a function ([`AT_ENTRY`]): from now on bursts look at it. Its events so far, and of those the latest, which are new where it is known.
    pub(super) fn burst_candidate(self: &Arc<Self>, function: u32, offset: u32, events: u64, latest: u64) {
        self.any_candidate(function, offset, events, latest, true);
    }

    /// The same. One that is not `named` is never compiled for bursts, unless its function's are interpreted anyway.
    pub(super) fn any_candidate(self: &Arc<Self>, function: u32, offset: u32, events: u64, latest: u64, named: bool) {
        if !self.shared.budget.allows_any() || self.shared.config.deterministic || !self.shared.bursts() {
            return;
        }
        {
            let mut candidates = lock(&self.bursts.candidates);
            if let Some(known) = candidates.get_mut(&(function, offset)) {
                known.heat = known.heat.saturating_add(latest);
                known.named |= named;
                return;
            }
            // What no record named leaves room for what one will.
            if candidates.len() >= if named { MOST_CANDIDATES } else { MOST_CANDIDATES / 2 } {
                return;
            }
            let unwatched = offset != AT_ENTRY && self.may_watch() && !self.is_watched(function);
            let candidate = Candidate::new(events, named || self.is_watched(function), unwatched);
            candidates.insert((function, offset), candidate);
        }
        self.ready_if_made(function);
        // Compiled at once only while there is credit; otherwise when some is earned, the hottest first.
        if self.shared.budget.has_credit() {
            self.compile_wanted();
        }
    }

    /// A burst ended: where it was of another phase, the function's loops are new again. Each time only after twice as long, for new loops get more bursts.
    pub(super) fn learn_again_if_shifted(&self, function: u32) {
        let id = lwp_feedback::codemap::FunctionId { module: self.key, func: function };
        let (shifts, now) = (self.shared.profile.shifts(id), Instant::now());
        {
            let mut acted = lock(&self.bursts.shifts);
            let (seen, next) = acted.entry(function).or_insert((0, now));
            if shifts <= *seen || now < *next {
                return;
            }
            *seen = shifts;
            *next = now + LEARNING.saturating_mul(1u32 << shifts.min(8));
        }
        for (_, candidate) in lock(&self.bursts.candidates).iter_mut().filter(|((of, _), _)| *of == function) {
            (candidate.turns, candidate.bursts, candidate.own, candidate.timed, candidate.hot_since) = (0, 0, 0, 0, now);
        }
    }

    /// A burst saw code of a function, wherever it began. Where calls are followed that is most of what is known of functions: each is planned for again when so many bursts saw it, twice as many, and so on. (What ends a burst is a record of
    /// the function that began it. CPython's evaluation loop is in most bursts and began 3 to 11 of a run's: it was planned for after 4 to 9 s.)
    pub(super) fn seen_in_burst(self: &Arc<Self>, function: u32, rounds: u64, returns: u32) {
        if !self.follows_calls() {
            return;
        }
        let plans = {
            let mut seen = lock(&self.bursts.seen);
            let seen = seen.entry(function).or_default();
            seen.bursts = seen.bursts.saturating_add(1);
            seen.rounds = seen.rounds.saturating_add(rounds);
            seen.returns = seen.returns.saturating_add(returns.into());
            if seen.bursts.is_multiple_of(FADE_AFTER) {
                (seen.rounds, seen.returns) = (seen.rounds / 2, seen.returns / 2);
            }
            let soon = (PLANNED_AFTER..=DEAR_PLANNED_AFTER).contains(&seen.bursts);
            soon || seen.bursts > DEAR_PLANNED_AFTER && seen.bursts.is_power_of_two()
        };
        if plans {
            self.reconsider(function);
        }
    }

    /// Asks for instrumented code of candidates that have none, while there is credit.
    pub(super) fn compile_wanted(self: &Arc<Self>) {
        if self.has_kept && self.shared.started.elapsed() < KEPT_SERVES_FOR {
            return;
        }
        // (the lock is not to be held below, where more candidates come)
        let kept = std::mem::take(&mut *lock(&self.bursts.kept));
        for function in kept {
            // Of how much they run nothing is known; the larger they are, the more there is to win.
            let bytes = self.body_bytes(function) as u64;
            self.any_candidate(function, AT_ENTRY, bytes.saturating_mul(bytes), 0, true);
        }
        self.watch_followed();
        if self.shared.budget.may_compile() {
            self.watch_waiting();
        }
        // A tick's worth; a module may have thousands of candidates.
        for _ in 0..ASKED_AT_ONCE {
            if !self.compile_hottest() {
                break;
            }
        }
        self.compile_to_time();
    }

    /// Code of an earlier process was published: it writes no hot records, so nobody would ever look at it again, and the plan that it has, or has not, would be the last.
    pub(super) fn note_kept(&self, function: u32) {
        if self.is_watched(function) {
            lock(&self.bursts.kept).push(function);
        }
        self.look_for(function);
    }

    /// What waits for its compile, or gets none, is interpreted for the while: an activation that cannot be asked in one of its loops comes at the next one, so bursts
    /// would begin at the same place of the program again and again, as if nothing else ran.
    fn watch_waiting(&self) {
        let mut waiting: Vec<(u32, u32)> = Vec::new();
        for (&key, candidate) in lock(&self.bursts.candidates).iter_mut() {
            if waiting.len() < ASKED_AT_ONCE && std::mem::take(&mut candidate.unwatched) && !candidate.wanted && !candidate.ready {
                waiting.push(key);
            }
        }
        let began = cpu_time();
        for (function, offset) in waiting {
            self.watch(function, offset);
        }
        self.shared.budget.compiled_by_monitor(cpu_time().saturating_sub(began));
    }

    /// Asks for instrumented code of an interpreted candidate that has said what its branches are like, once the run is so long that its compile is a small part of
    /// it: that can time loads.
    fn compile_to_time(self: &Arc<Self>) {
        let next = {
            let candidates = lock(&self.bursts.candidates);
            let costs = &self.shared.compile_costs;
            let expected = |key: &(u32, u32)| Duration::from_nanos(costs.expected(Tier::Instrumented, self.body_bytes(key.0)) as u64);
            let untimed = candidates.iter().filter(|(_, candidate)| candidate.untimed && candidate.bursts >= ENOUGH);
            let hottest =
                untimed.filter(|(key, _)| self.shared.budget.has_earned(expected(key))).max_by_key(|(_, candidate)| candidate.heat);
            let Some((&next, _)) = hottest else { return };
            // It is waited for: what takes less would come before it for ever.
            if !self.shared.budget.set_aside(expected(&next)) {
                return;
            }
            next
        };
        // A loop's code goes on in the loops around it and comes by those in it, so that one of a nest times the loads of all. (Working out a shape may take long.)
        let shape = self.shape(next.0);
        let timed = |key: (u32, u32)| key == next || key.0 == next.0 && stand_together(&shape.loops, key.1, next.1);
        lock(&self.bursts.candidates).iter_mut().filter(|(key, _)| timed(**key)).for_each(|(_, candidate)| candidate.untimed = false);
        self.request(next.0, entrance(next.1), Tier::Instrumented, false);
    }

    /// Asks for that of the candidate that is the hottest for its size, which is what a compile costs. False where none is left or what is under way takes the credit.
    fn compile_hottest(self: &Arc<Self>) -> bool {
        let next = {
            let mut candidates = lock(&self.bursts.candidates);
            // As many at a time as there is credit for; what a compile really took is paid afterwards.
            let under_way = candidates.iter().filter(|(_, candidate)| candidate.wanted && !candidate.made && !candidate.failed);
            let expected: Duration = under_way.map(|(key, _)| self.time_before_burst(key.0)).sum();
            let budget = &self.shared.budget;
            if !budget.has_credit() || !expected.is_zero() && !budget.has_credit_for(expected) {
                return false;
            }
            let owes = !budget.may_compile();
            let has_form = |key: &(u32, u32)| self.is_watched(key.0) && self.own(key.0).watched.get().is_some();
            let ran_for = self.shared.started.elapsed();
            let may_have = |key: &(u32, u32), candidate: &Candidate| {
                let in_time = !self.is_watched(key.0) || has_form(key) || self.time_before_burst(key.0) * LEAST_PER_FORM <= ran_for;
                candidate.named && !candidate.wanted && in_time
            };
            // (new dear ones keep those of middling cost waiting, for seconds; where all may owe as much as the dearest, forms take half of what bursts had, and CPython's evaluation loop had its plan a second later)
            let is_small = |key: &(u32, u32)| {
                let takes = self.time_before_burst(key.0);
                has_form(key) || self.is_watched(key.0) && (takes <= SMALL && budget.has_credit_for(takes) || budget.may_owe(takes))
            };
            let waiting = candidates.iter_mut().filter(|(key, candidate)| may_have(key, candidate) && (!owes || is_small(key)));
            // The time behind an event grows with the body, as what its watched form costs: such events count as those of the smallest.
            let for_its_size = |key: &(u32, u32), candidate: &Candidate| {
                let bytes = if self.is_watched(key.0) { 0 } else { self.bytes_before_burst(key.0) };
                candidate.heat.saturating_mul(1024) / bytes.max(64) as u64
            };
            let hottest = waiting.max_by_key(|(key, candidate)| (for_its_size(key, candidate), std::cmp::Reverse(**key)));
            let Some((&key, candidate)) = hottest else { return false };
            candidate.wanted = true;
            key
        };
        let entrance = entrance(next.1);
        if self.is_watched(next.0) {
            // At once: the queue may hold compiles of a fifth of a second, and what is new is new for a second.
            let began = cpu_time();
            let made = self.watch(next.0, next.1);
            self.shared.budget.compiled_by_monitor(cpu_time().saturating_sub(began));
            self.instrumented_compiled(next.0, entrance, Duration::ZERO, made);
        } else {
            self.request(next.0, entrance, Tier::Instrumented, false);
        }
        true
    }

    /// The instrumented code of a candidate was compiled, which took so long, or could not be.
    pub(super) fn instrumented_compiled(&self, function: u32, entrance: Entrance, took: Duration, whole: bool) {
        self.shared.budget.compiled(took);
        if !whole && let Some(candidate) = lock(&self.bursts.candidates).get_mut(&(function, candidate_offset(entrance))) {
            candidate.failed = true;
        }
    }

    /// A candidate can have bursts from now on; whether they can time loads.
    pub(super) fn ready(&self, key: (u32, u32), form: Form, version: u32, loads: bool) {
        if key.1 == AT_ENTRY {
            // What calls lead to now would not be known any more.
            self.enter_ordinary(key.0);
        }
        let (interpreted, watched) = (matches!(form, Form::Interpreted), self.is_watched(key.0));
        let meanwhile = interpreted && !watched;
        {
            let mut loops = self.bursts.loops.write().unwrap_or_else(|error| error.into_inner());
            if meanwhile && loops.contains_key(&key) {
                return; // its code was quicker
            }
            loops.insert(key, Instrumented { form, version });
        }
        if let Some(candidate) = lock(&self.bursts.candidates).get_mut(&key) {
            candidate.ready = true;
            candidate.made |= !meanwhile;
            candidate.loads = loads;
            candidate.untimed = interpreted && watched && !self.shared.config.stress.watch_all;
        }
    }

    /// A burst ended in a loop without code of its own, and left it to templates.
    pub(super) fn went_astray(self: &Arc<Self>, function: u32, offset: u32) {
        self.spent_astray(function, offset, ASTRAY);
    }

    /// That took so much longer. The loop is compiled once it took so long in all that this would have been worth it, as where code is hot in templates. (Their records of hot loops would not ask for it: they are few, and name
    /// loops by turns. `fft` was in templates for a seventh of its time, and CPython's evaluation loop for 70 ms in a row.)
    fn spent_astray(self: &Arc<Self>, function: u32, offset: u32, took: Duration) {
        let times = {
            let Some(mut candidates) = try_lock(&self.bursts.candidates) else { return };
            let Some(candidate) = candidates.get_mut(&(function, offset)) else { return };
            candidate.astray = candidate.astray.saturating_add(took);
            let pays = self.shared.compile_costs.pays_from_templates(self.body_bytes(function), self.age.stage());
            let times = (candidate.astray.as_nanos() as f64 / pays) as u64;
            if times >= ASKED_AGAIN_AFTER {
                candidate.astray = Duration::ZERO;
            }
            times
        };
        if times == 0 {
            return;
        }
        // Whatever became of the code that was asked for then, there is none.
        if times >= ASKED_AGAIN_AFTER && self.loop_code(function, offset).is_none() {
            self.published().requested.remove(&(function, Entrance::Loop(offset), Tier::Optimizing, false));
        }
        self.request(function, Entrance::Loop(offset), Tier::Optimizing, false);
    }

    /// A loop is left to templates now.
    pub(super) fn astray(&self, function: u32, offset: u32) -> Astray {
        let own = self.module.defined(function).expect("it runs");
        Astray { function, offset, since: ticks(), came: self.came(own) }
    }

    /// What a burst left to templates is at a loop with code again. What it called in between was not astray, so its calls and rounds say how long that took at most.
    pub(super) fn found(self: &Arc<Self>, astray: &Astray) {
        let came = self.module.defined(astray.function).map_or(0, |own| self.came(own));
        // (the countdown began again in between)
        let events = came.checked_sub(astray.came).unwrap_or(u32::MAX);
        let took = self.since(astray).min(MOST_OF_EVENT.saturating_mul(events.saturating_add(1)));
        self.shared.budget.astray(took);
        self.spent_astray(astray.function, astray.offset, took.saturating_sub(ASTRAY));
    }

    /// Nobody knows where what a burst left to templates is (its function may have returned long ago), and another one begins.
    pub(super) fn lost(&self, astray: &Astray) {
        self.shared.budget.astray(self.since(astray).min(ASTRAY));
    }

    fn since(&self, astray: &Astray) -> Duration {
        Duration::from_nanos((ticks().saturating_sub(astray.since) as f64 * self.shared.ns_per_tick()) as u64)
    }

    /// Looks whether some candidate became hot so lately that there is much to learn.
    pub(crate) fn look_what_is_new(&self) -> News {
        let now = Instant::now();
        let candidates = lock(&self.bursts.candidates);
        let some = |is: fn(&Candidate, Instant) -> bool| candidates.values().any(|candidate| is(candidate, now));
        let news = News { learning: some(Candidate::is_new), credit: some(Candidate::is_young) };
        self.bursts.learning.store(news.learning, Ordering::Relaxed);
        news
    }

    /// Whether that was so at the latest tick (a large module has a thousand candidates, and three ask at each).
    pub(crate) fn is_learning(&self) -> bool {
        self.bursts.learning.load(Ordering::Relaxed)
    }

    /// How much something new or on trial waits for the monitor's ticks. A large module has something new at all times, and a tick costs more there the longer it was away: in CPython they were 7.7 ms apart and took
    /// two thirds of all that watching may cost, four of five of them for nothing, since there was no credit left.
    pub(crate) fn haste(&self) -> Haste {
        match self.is_learning() || self.has_active_trial() {
            false => Haste::None,
            true if self.follows_calls() => Haste::Some,
            true => Haste::Full,
        }
    }

    /// Whether a function became hot lately and has loops of whose loads nothing is known yet.
    pub(super) fn awaits_times(&self, function: u32) -> bool {
        let now = Instant::now();
        let candidates = lock(&self.bursts.candidates);
        let mut own = candidates.iter().filter(|(key, candidate)| key.0 == function && candidate.ready);
        own.any(|(_, candidate)| candidate.awaits_times() && candidate.is_new(now) && now.duration_since(candidate.hot_since) < LEARNING)
    }

    /// An instrumented loop's function returned in the burst that began then. Twice in one: it is called often, so its body is worth looking at, of which a
    /// loop's code sees a part. (Of one that is called seldom, bursts of the body would only ever see how its loops begin.) Noted for the monitor.
    pub(super) fn returned(&self, function: u32, began: u64) {
        let Some(mut returned) = try_lock(&self.bursts.returned) else { return };
        let Returned { latest, often, .. } = &mut *returned;
        if *latest.entry(function).or_default() != began {
            latest.insert(function, began);
        } else if !often.contains(&function) {
            often.push(function);
        }
    }

    /// A function has no watched form to run in where calls are followed, for making it would have taken long. For the monitor.
    pub(super) fn note_followed(&self, function: u32) {
        if let Some(mut returned) = try_lock(&self.bursts.returned) {
            *returned.followed.entry(function).or_default() += 1;
        }
    }

    /// Makes the watched form of the one that was called most. Before all candidates, and whatever is owed, but all together no more than the steady share of the run: what bursts do not see is what they are wrong
    /// about. (CPython's `malloc` and `free`, a twentieth of its branches, were called in each and seen in none in six seconds.)
    fn watch_followed(&self) {
        let most_called = {
            let mut returned = lock(&self.bursts.returned);
            let took = returned.followed_took;
            let may = returned.followed.iter().filter(|(function, _)| self.shared.budget.has_earned(took + self.time_of_form(**function)));
            let most_called = may.max_by_key(|(function, calls)| (**calls, **function)).map(|(function, _)| *function);
            most_called.inspect(|function| _ = returned.followed.remove(function))
        };
        let Some(function) = most_called else { return };
        let began = cpu_time();
        if let Some(made) = self.watched(function, true) {
            self.ready_all(function, made);
        }
        let took = cpu_time().saturating_sub(began);
        lock(&self.bursts.returned).followed_took += took;
        self.shared.budget.compiled_by_monitor(took);
    }

    /// Makes candidates of the bodies that returned often in bursts, as hot as their loops, and of those that were called and not seen.
    pub(super) fn consider_returned(self: &Arc<Self>) {
        let (often, unseen) = {
            let mut returned = lock(&self.bursts.returned);
            (std::mem::take(&mut returned.often), std::mem::take(&mut returned.unseen))
        };
        // What all callers have inlined never gets hot by itself, and what it does is part of what they do.
        // (of an indirect call it may be another module's function)
        let own = |function| self.module.defined(function).is_some_and(|own| own < self.functions.len());
        for (function, calls) in unseen.into_iter().filter(|&(function, _)| own(function)) {
            self.burst_candidate(function, AT_ENTRY, u64::from(calls) * UNSEEN_CALL_STANDS_FOR, 0);
        }
        for function in often {
            let heat = {
                let candidates = lock(&self.bursts.candidates);
                if candidates.contains_key(&(function, AT_ENTRY)) {
                    continue;
                }
                candidates.iter().filter(|((of, _), _)| *of == function).map(|(_, candidate)| candidate.heat).max()
            };
            self.burst_candidate(function, AT_ENTRY, heat.unwrap_or(0), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine, EngineConfig};

    #[test]
    fn bursts_say_how_long_activations_are_and_when_a_dear_trial_may_be_asked() {
        let seen = |bursts, rounds, returns| SeenFunction { bursts, rounds, returns };
        assert_eq!([seen(9, 900, 1), seen(9, 900, 30)].map(|it| it.rounds_per_call()), [None, Some(30)]);
        let [cheap, dear] = [5, 400].map(Duration::from_millis);
        let suffices = |bursts, arms, seconds| seen(bursts, 0, 0).suffices(arms, Duration::from_secs(seconds));
        assert!(suffices(0, cheap, 1) && suffices(8, dear, 1) && !suffices(7, dear, 19) && suffices(1, dear, 20));
    }

    #[test]
    fn what_goes_astray_again_and_again_is_asked_for_again() {
        let engine = Engine::new(EngineConfig { monitor_thread: false, ..EngineConfig::default() }, None).unwrap();
        let text = "(module (func (param i32) (loop $l (br_if $l (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))))";
        let loaded = engine.load(&wat::parse_str(text).unwrap()).unwrap();
        let code = &loaded.code;
        let header = code.bytecode(0).points()[0].offset;
        lock(&code.bursts.candidates).insert((0, header), Candidate::new(1, true, false));
        let pays = code.shared.compile_costs.pays_from_templates(code.body_bytes(0), code.age.stage());
        let jobs = || {
            code.spent_astray(0, header, Duration::from_nanos(pays as u64 + 1));
            code.shared.queue.length()
        };
        // Asked for once; then its code is lost.
        assert_eq!([jobs(), jobs()], [1, 1]);
        assert_eq!([jobs(), jobs()], [2, 2]);
    }

    #[test]
    fn loops_of_a_nest_stand_with_one_another_and_loops_side_by_side_do_not() {
        let at = |(offset, end)| LoopShape { offset, end, ..LoopShape::default() };
        // One with two in it, and one behind it.
        let loops = [(10, 100), (20, 40), (50, 90), (100, 120)].map(at);
        let stand = |one, other| stand_together(&loops, one, other);
        assert!(stand(20, 10) && stand(10, 20) && stand(50, 10));
        assert!(!stand(50, 100) && !stand(20, 50) && !stand(100, 10) && !stand(100, 20) && !stand(100, 50) && !stand(10, AT_ENTRY));
        assert!(!stand(AT_ENTRY, 10));
    }
}
