//! What bursts may cost, and what they did cost.
//!
//! One number governs: the share of run time, in percent ([`EngineConfig::feedback_budget`](crate::engine::EngineConfig)). Time earns credit: at five times
//! the share while a loop is in its first second of being hot (what is learned early pays longest), until a second's share is earned ahead; at a fifth of it later. A program that has new loops
//! again and again earns no more than one loop does that is new for a second and the share of all later time: else the exception would be its rule. Everything
//! that watching costs is taken off: the whole time of a burst (its code is slower than the ordinary version's, and how much slower is not known; where calls are followed what its words can have taken), the
//! model's run over it, the compile of its code, and the monitor's CPU time. A loop that had [`ENOUGH`] bursts is not new any more. A burst begins only while there is credit.

use lwp_feedback::monitor::{LEARNING, LEARNING_FACTOR};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::Kind;

/// Bursts after which a loop has said what it is like: 4,096 words leave some 900 records of branches, and half of the bursts time loads. A guess.
pub(crate) const ENOUGH: u32 = 8;
/// Credit earned per time, times the share, when nothing is new any more; while a loop is, [`LEARNING_FACTOR`]. The aim is three tenths at most: polls take some more than they are given, and what a compile takes that
/// was set aside for long is all taken at once.
const STEADY_FACTOR: f64 = 0.2;
/// What bursts of functions before their first compile may take, of all time, times the share.
const EARLY_FACTOR: f64 = 3.0;
/// And at the start so much, seconds, times the share.
const EARLY_START: f64 = 0.1;
/// Of so many seconds the share may be earned ahead for them: for a program that turns to something new, not for one that is loaded after an hour. (A second's at once made CPython's start 5 % longer.)
const MOST_EARLY_AHEAD: f64 = 1.0;
/// What there is at the start, so that the first hot loop need not wait, times the share: 200 ms of run time (2 ms at 1 %), which a compile of a small function
/// and some bursts take. A guess.
const START_NS: f64 = 200e6;
/// Credit that idle time can pile up: as much as this run time earns while learning, so that a burst of bursts stays short.
const MOST_SAVED_NS: f64 = 100e6;
/// What counts of a sleep of the monitor, in which nothing ran: no more than a wait between two ticks may be.
const LONGEST_SLEEP: Duration = Duration::from_millis(240);
/// Run time whose share may be earned ahead, the surplus of a quarter of one loop's first second: a run of a second costs twice the share then. From then on what is new earns
/// the share.
const AHEAD_NS: f64 = LEARNING.as_nanos() as f64;
/// Part of the steady share that compiles of code that times loads may take: polls take half of it, bursts the rest.
const PART_SET_ASIDE: f64 = 1.0 / 4.0;
/// Part of what is earned that the monitor's own time can use up.
const MOST_FOR_MONITOR: f64 = 1.0 / 2.0;
/// Longest burst wanted, ns with its model: less than a frame of any interactive program notices. A guess.
const LONGEST_NS: f64 = 400e3;
/// Of that the model, which the thread that runs waits for, ns: the stalls of tier changes are to stay below 200 µs (`backedge bench stalls`), whose 99th percentile is about three times this: 165 to
/// 225 at 100 µs and at least 1024 words, 119 to 168 so, 92 to 125 at 25 µs and 256 words (a day of slow memory).
const LONGEST_MODEL_NS: f64 = 50e3;
/// The most that is made for bursts while something is owed that is as dear, and by who runs a burst: about as much as one takes. (With four times as much the debt grew for as long as CPython's evaluation loop waited for its end, 6 s in every second run.)
pub(crate) const SMALL: Duration = Duration::from_micros(100);
/// Longest burst wanted that only counts, ns: many short ones say more of what a run consists of than few long ones, for most phases are longer than any
/// burst; but the first words of each find cold caches (20 us of it, here).
const LONGEST_COUNT_NS: f64 = 50e3;
/// The same where calls are followed: to be asked for and to begin, in cold code, takes 200 us however short it is, and a word 30 to 100 ns more. In CPython's run of 6 s it saw 67 % of the functions by their branches with
/// 512 words and 73 with these, for the same money.
const LONGEST_FOLLOWED_NS: f64 = 200e3;
/// Words of a burst, by [`length`]: at the start, at least, at most (the buffer must hold what is written until the next loop header); and how long it is to take, ns.
const LENGTHS: [(u32, u32, u32, f64); 4] = [
    (2048, 512, 8192, LONGEST_NS),
    (1024, 256, 2048, LONGEST_NS),
    (2048, 512, 4096, LONGEST_COUNT_NS),
    (2048, 2048, 4096, LONGEST_FOLLOWED_NS),
];

/// What says how long a burst is: its kind, and of those that only count whether calls are followed.
fn length(kind: Kind, followed: bool) -> usize {
    if followed && matches!(kind, Kind::Counts) { 3 } else { kind as usize }
}

/// Counts, for reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct BurstStats {
    /// Share of run time allowed, percent.
    pub budget_percent: f64,
    /// Bursts that looked at branches.
    pub branch_bursts: u64,
    /// Bursts that timed loads.
    pub load_bursts: u64,
    /// Bursts that only counted.
    pub count_bursts: u64,
    /// Words they wrote.
    pub words: u64,
    /// Bursts that were dropped: they wrote more than the buffer holds, or something that makes no sense.
    pub dropped: u64,
    /// Times a burst was due but there was no credit.
    pub declined: u64,
    /// Time spent in bursts, ms.
    pub burst_ms: f64,
    /// Time spent in the model and in writing records, ms.
    pub model_ms: f64,
    /// Time spent in compiling instrumented code, ms.
    pub compile_ms: f64,
    /// The monitor's CPU time, without what it compiled of that and with what measuring the memory's latencies took, ms.
    pub monitor_ms: f64,
    /// These four as a share of the time since the engine began, percent.
    pub cost_percent: f64,
    /// The same of the time since the engine's fourth second ([`LATER`]), whatever came; none before its sixth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub later_percent: Option<f64>,
    /// The same without the ticks in which some loop or body was in its first second of being hot, which has a credit of its own: what the steady state costs. None while that is less
    /// than two seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady_percent: Option<f64>,
    /// How long that was, ms.
    pub steady_ms: f64,
}

/// From when on [`BurstStats::later_percent`] and [`BurstStats::steady_percent`] count.
const LATER: Duration = Duration::from_secs(4);
/// The shortest time that is said of: in less, one compile is most of it.
const STEADY_FOR: Duration = Duration::from_secs(2);

/// What is new at a tick.
#[derive(Clone, Copy, Default)]
pub(crate) struct News {
    /// Something of which there is much to learn.
    pub(crate) learning: bool,
    /// Something in its first second of being hot.
    pub(crate) credit: bool,
}

impl News {
    pub(crate) fn or(self, other: News) -> News {
        News { learning: self.learning || other.learning, credit: self.credit || other.credit }
    }
}

struct Account {
    last: Instant,
    monitor_ns: u64,
    /// Run time whose share was earned, before anything is taken off.
    earned_ns: f64,
    /// What compiles took, and bursts that went astray, beyond the credit there was: half of what is earned pays it off, so that bursts of the code that is there go on.
    owed_ns: f64,
    /// What was begun because the steady share would pay it ([`Budget::set_aside`]).
    set_aside: Duration,
    /// The first look after [`LATER`]: the time since the engine began, and what watching had cost, ns.
    later_since: Option<(Duration, u64)>,
    /// What watching had cost at the latest tick, ns.
    cost_ns: u64,
    /// Ticks after that one in which nothing had the credit of what is new: how long, and what watching cost in them, ns.
    steady: (Duration, u64),
}

/// Share of the time, 0 to 1, that the monitor may take for a thread's values, and for its polls where nothing waits for them (a burst costs about as much
/// as the poll that asks for it): half of what is earned.
pub(crate) fn monitor_share(percent: f64) -> f64 {
    share(percent) * STEADY_FACTOR / 2.0
}

fn share(percent: f64) -> f64 {
    if percent.is_finite() { (percent / 100.0).clamp(0.0, 1.0) } else { 0.0 }
}

/// The account.
pub(crate) struct Budget {
    /// Share of run time, 0 to 1.
    share: f64,
    started: Instant,
    credit_ns: AtomicI64,
    account: Mutex<Account>,
    words: [AtomicU64; 4],
    bursts: [AtomicU64; 3],
    /// What bursts of functions before their first compile took, of the time in all.
    early_ns: AtomicU64,
    written: AtomicU64,
    dropped: AtomicU64,
    declined: AtomicU64,
    burst_ns: AtomicU64,
    model_ns: AtomicU64,
    compile_ns: AtomicU64,
    monitor_ns: AtomicU64,
    /// Of the monitor's time, what is among the compiles.
    compiled_by_monitor_ns: AtomicU64,
    /// The next tick ends a sleep of the monitor, in which nothing ran.
    slept: AtomicBool,
}

impl Budget {
    pub(crate) fn new(percent: f64) -> Budget {
        let share = share(percent);
        let now = Instant::now();
        Budget {
            share,
            started: now,
            credit_ns: AtomicI64::new((START_NS * share) as i64),
            slept: AtomicBool::new(false),
            account: Mutex::new(Account {
                last: now,
                monitor_ns: 0,
                earned_ns: 0.0,
                owed_ns: 0.0,
                set_aside: Duration::ZERO,
                later_since: None,
                cost_ns: 0,
                steady: (Duration::ZERO, 0),
            }),
            words: LENGTHS.map(|(first, ..)| AtomicU64::new(first.into())),
            bursts: Default::default(),
            early_ns: AtomicU64::new(0),
            written: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            declined: AtomicU64::new(0),
            burst_ns: AtomicU64::new(0),
            model_ns: AtomicU64::new(0),
            compile_ns: AtomicU64::new(0),
            monitor_ns: AtomicU64::new(0),
            compiled_by_monitor_ns: AtomicU64::new(0),
        }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(|error| error.into_inner())
    }

    /// Whether anything may be recorded at all.
    pub(crate) fn allows_any(&self) -> bool {
        self.share > 0.0
    }

    /// Whether a function that is not compiled yet may have a burst. These come while a program goes through what is new to it, when nothing else has credit left, and what they say spares a trial: they have a share of their own.
    pub(crate) fn has_early_credit(&self) -> bool {
        let earned = (self.started.elapsed().as_secs_f64() * EARLY_FACTOR + EARLY_START) * self.share * 1e9;
        // (what an hour has earned is not there for what is loaded then)
        let lapsed = earned - MOST_EARLY_AHEAD * self.share * 1e9;
        let spent = self.early_ns.fetch_max(lapsed.max(0.0) as u64, Ordering::Relaxed);
        earned > (spent as f64).max(lapsed)
    }

    /// What such bursts need was made.
    pub(crate) fn spent_on_early_form(&self, ns: f64) {
        self.early_ns.fetch_add(ns as u64, Ordering::Relaxed);
        self.compile_ns.fetch_add(ns as u64, Ordering::Relaxed);
    }

    /// Such a burst is over, which took so long.
    pub(crate) fn spent_early(&self, words: Option<u32>, burst_ns: f64) {
        self.early_ns.fetch_add(burst_ns as u64, Ordering::Relaxed);
        self.burst_ns.fetch_add(burst_ns as u64, Ordering::Relaxed);
        match words {
            Some(words) => {
                self.bursts[Kind::Counts as usize].fetch_add(1, Ordering::Relaxed);
                self.written.fetch_add(words.into(), Ordering::Relaxed);
            }
            None => _ = self.dropped.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Whether a burst may begin now.
    pub(crate) fn has_credit(&self) -> bool {
        self.credit_ns.load(Ordering::Relaxed) > 0
    }

    /// Whether there is credit for some bursts at once, which at the default share is so at the beginning only.
    pub(crate) fn has_plenty(&self) -> bool {
        self.credit_ns.load(Ordering::Relaxed) > 2 * LONGEST_NS as i64
    }

    /// Whether so much more may be begun.
    pub(crate) fn has_credit_for(&self, cost: Duration) -> bool {
        self.credit_ns.load(Ordering::Relaxed) > i64::try_from(cost.as_nanos()).unwrap_or(i64::MAX)
    }

    /// Whether instrumented code may be compiled: there is credit, and what was compiled is paid.
    pub(crate) fn may_compile(&self) -> bool {
        self.has_credit() && self.account().owed_ns == 0.0
    }

    /// Whether something as dear as that may be compiled although something is owed: what is cheap and comes all the time must not keep it waiting for ever. So no more is ever owed than about twice what one such compile takes.
    pub(crate) fn may_owe(&self, cost: Duration) -> bool {
        self.has_credit() && self.account().owed_ns < cost.as_nanos() as f64
    }

    /// Whether the steady share of the time since the engine began is as much as that.
    pub(crate) fn has_earned(&self, cost: Duration) -> bool {
        self.started.elapsed().as_secs_f64() * self.share * STEADY_FACTOR >= cost.as_secs_f64()
    }

    /// Whether [`PART_SET_ASIDE`] of that share is as much as that beside what was set aside before; so much more is, then. One thing after the other would take the whole share again otherwise: loop by
    /// loop, `btree` compiled for 110 ms of its sixth second.
    pub(crate) fn set_aside(&self, cost: Duration) -> bool {
        let mut account = self.account();
        let all = account.set_aside + cost;
        let enough = self.has_earned(all.mul_f64(1.0 / PART_SET_ASIDE));
        if enough {
            account.set_aside = all;
        }
        enough
    }

    /// A burst was due and may not begin.
    pub(crate) fn decline(&self) {
        self.declined.fetch_add(1, Ordering::Relaxed);
    }

    /// The monitor took so much so far, its compiles included. Returns it without these.
    pub(crate) fn monitor_took(&self, monitor_ns: u64) -> u64 {
        let monitor_ns = monitor_ns.saturating_sub(self.compiled_by_monitor_ns.load(Ordering::Relaxed));
        self.monitor_ns.store(monitor_ns, Ordering::Relaxed);
        monitor_ns
    }

    /// The monitor falls asleep, or may.
    pub(crate) fn sleeps(&self) {
        self.slept.store(true, Ordering::Relaxed);
    }

    /// Time went by: earns credit, and pays the monitor, which took `monitor_ns` so far.
    pub(crate) fn earn(&self, News { learning, credit: has_credit }: News, monitor_ns: u64) {
        let mut account = self.account();
        let now = Instant::now();
        let tick = now.duration_since(account.last);
        let tick = if self.slept.swap(false, Ordering::Relaxed) { tick.min(LONGEST_SLEEP) } else { tick };
        let elapsed = tick.as_nanos() as f64;
        account.last = now;
        let monitor_ns = self.monitor_took(monitor_ns);
        let monitor = monitor_ns.saturating_sub(account.monitor_ns);
        account.monitor_ns = monitor_ns;
        let ran_for = now.duration_since(self.started);
        let cost_ns = self.cost_ns();
        if account.later_since.is_none() {
            account.later_since = (ran_for >= LATER).then_some((ran_for, cost_ns));
        } else if !has_credit {
            account.steady.0 += tick;
            account.steady.1 += cost_ns.saturating_sub(account.cost_ns);
        }
        account.cost_ns = cost_ns;
        let ahead = account.earned_ns - ran_for.as_nanos() as f64;
        let factor = match learning {
            true if ahead < AHEAD_NS => LEARNING_FACTOR,
            true => 1.0,
            false => STEADY_FACTOR,
        };
        let most = (MOST_SAVED_NS * self.share * factor).max(LONGEST_NS) as i64;
        let credit = self.credit_ns.load(Ordering::Relaxed);
        // However dear the monitor is (on a loaded machine it takes the whole share), half is left for bursts: without any nobody would see a change.
        account.earned_ns += elapsed * factor;
        let earned = elapsed * factor * self.share;
        let change = earned - (monitor as f64).min(earned * MOST_FOR_MONITOR);
        let paid_off = (change / 2.0).min(account.owed_ns);
        account.owed_ns -= paid_off;
        let change = (change - paid_off) as i64;
        // What is saved already is not taken away again.
        self.credit_ns.fetch_add(change.min((most - credit).max(0)), Ordering::Relaxed);
    }

    /// Words that a burst of a kind shall write.
    pub(crate) fn words(&self, kind: Kind, followed: bool) -> u32 {
        self.words[length(kind, followed)].load(Ordering::Relaxed) as u32
    }

    /// Instrumented code was compiled.
    pub(crate) fn compiled(&self, took: Duration) {
        self.compile_ns.fetch_add(self.pay(took), Ordering::Relaxed);
    }

    /// What bursts need was made by the monitor, whose CPU time is paid for by itself.
    pub(crate) fn compiled_by_monitor(&self, took: Duration) {
        self.compiled(took);
        self.compiled_by_monitor_ns.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// A burst is over. `words` is what it wrote, `None` where it was dropped.
    pub(crate) fn spent(&self, kind: Kind, followed: bool, words: Option<u32>, burst_ns: f64, model_ns: f64) {
        let cost = burst_ns + model_ns;
        self.credit_ns.fetch_sub(cost as i64, Ordering::Relaxed);
        self.burst_ns.fetch_add(burst_ns as u64, Ordering::Relaxed);
        self.model_ns.fetch_add(model_ns as u64, Ordering::Relaxed);
        let Some(words) = words else {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        };
        self.bursts[kind as usize].fetch_add(1, Ordering::Relaxed);
        self.written.fetch_add(words.into(), Ordering::Relaxed);
        // Towards bursts of a wanted length: at once where this was too long, for what a word takes differs from loop to loop; else a quarter of the way.
        let length = length(kind, followed);
        let (_, least, most, longest) = LENGTHS[length];
        let longest = longest.min(self.share * MOST_SAVED_NS).max(50e3);
        let wanted = f64::from(words) * (longest / cost.max(1.0)).min(LONGEST_MODEL_NS / model_ns.max(1.0));
        let now = f64::from(self.words(kind, followed));
        let part = if wanted < now { 1.0 } else { 0.25 };
        let next = (now + part * (wanted - now)).clamp(least.into(), most.into());
        self.words[length].store(next as u64, Ordering::Relaxed);
    }

    /// A burst had left its loop to templates, for so long. Like a compile it may take more than there is.
    pub(crate) fn astray(&self, took: Duration) {
        self.burst_ns.fetch_add(self.pay(took), Ordering::Relaxed);
    }

    /// Takes that off the credit; what is more than that is owed. In nanoseconds.
    fn pay(&self, cost: Duration) -> u64 {
        let ns = u64::try_from(cost.as_nanos()).unwrap_or(u64::MAX);
        let mut account = self.account();
        let paid = self.credit_ns.load(Ordering::Relaxed).clamp(0, ns.min(i64::MAX as u64) as i64);
        self.credit_ns.fetch_sub(paid, Ordering::Relaxed);
        account.owed_ns += ns.saturating_sub(paid as u64) as f64;
        ns
    }

    /// All that watching cost so far, ns.
    pub(crate) fn cost_ns(&self) -> u64 {
        [&self.burst_ns, &self.model_ns, &self.compile_ns, &self.monitor_ns].map(|counter| counter.load(Ordering::Relaxed)).iter().sum()
    }

    /// `ran_for`: since the engine began.
    pub(crate) fn stats(&self, ran_for: Duration) -> BurstStats {
        let ms = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64 / 1e6;
        let percent = |cost_ns: u64, of: Duration| cost_ns as f64 / (of.as_nanos() as f64).max(1.0) * 100.0;
        let cost_ns = self.cost_ns();
        let (later_since, steady) = {
            let account = self.account();
            (account.later_since, account.steady)
        };
        let later = later_since.map(|(since, cost)| (ran_for.saturating_sub(since), cost_ns.saturating_sub(cost)));
        let long_enough = |some: Option<(Duration, u64)>| some.filter(|&(of, _)| of >= STEADY_FOR).map(|(of, cost)| percent(cost, of));
        BurstStats {
            budget_percent: self.share * 100.0,
            branch_bursts: self.bursts[0].load(Ordering::Relaxed),
            load_bursts: self.bursts[1].load(Ordering::Relaxed),
            count_bursts: self.bursts[2].load(Ordering::Relaxed),
            words: self.written.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            declined: self.declined.load(Ordering::Relaxed),
            burst_ms: ms(&self.burst_ns),
            model_ms: ms(&self.model_ns),
            compile_ms: ms(&self.compile_ns),
            monitor_ms: ms(&self.monitor_ns),
            cost_percent: percent(cost_ns, ran_for),
            later_percent: long_enough(later),
            steady_percent: long_enough(Some(steady)),
            steady_ms: steady.0.as_secs_f64() * 1e3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEARNS: News = News { learning: true, credit: true };

    #[test]
    fn nothing_is_allowed_at_zero() {
        let budget = Budget::new(0.0);
        assert!(!budget.allows_any() && !budget.has_credit());
        budget.earn(LEARNS, 0);
        assert!(!budget.has_credit());
        assert!(!Budget::new(f64::NAN).allows_any());
    }

    #[test]
    fn what_is_always_new_earns_the_share() {
        let budget = Budget::new(1.0);
        // A second of learning, as one loop has, and nine more.
        let earn = |seconds: u64| {
            let before = {
                let mut account = budget.account.lock().unwrap();
                account.last = Instant::now() - Duration::from_secs(seconds);
                account.earned_ns
            };
            budget.earn(LEARNS, 0);
            (budget.account.lock().unwrap().earned_ns - before) * budget.share / 1e6
        };
        let first = earn(1);
        assert!((49.9..51.0).contains(&first), "{first} ms");
        let later = earn(9);
        assert!((89.9..91.0).contains(&later), "{later} ms");
    }

    #[test]
    fn the_steady_cost_is_of_what_came_after_the_fourth_second_while_nothing_was_new() {
        let mut budget = Budget::new(1.0);
        let tick = |budget: &mut Budget, ran_for: u64, took: u64, news: News| {
            budget.started = Instant::now() - Duration::from_secs(ran_for);
            budget.account.lock().unwrap().last = Instant::now() - Duration::from_secs(took);
            budget.earn(news, 0);
        };
        budget.compiled(Duration::from_secs(1));
        tick(&mut budget, 5, 5, LEARNS);
        budget.compiled(Duration::from_millis(50));
        // Of a second nothing is said.
        tick(&mut budget, 6, 1, News::default());
        let stats = budget.stats(Duration::from_secs(6));
        assert_eq!((stats.later_percent, stats.steady_percent), (None, None));
        // Something new: two seconds and their cost are not the steady state's.
        budget.compiled(Duration::from_millis(100));
        tick(&mut budget, 8, 2, LEARNS);
        // What is learned of with no credit of its own is.
        budget.compiled(Duration::from_millis(10));
        tick(&mut budget, 10, 2, News { learning: true, credit: false });
        let stats = budget.stats(Duration::from_secs(10));
        let (later, steady) = (stats.later_percent.unwrap(), stats.steady_percent.unwrap());
        assert!((3.19..3.21).contains(&later) && (1.99..2.01).contains(&steady), "{stats:?}");
        assert!((2999.0..3010.0).contains(&stats.steady_ms) && (11.5..11.7).contains(&stats.cost_percent), "{stats:?}");
    }

    #[test]
    fn bursts_before_the_first_compile_have_a_share_of_their_own() {
        let budget = Budget::new(1.0);
        assert!(budget.has_early_credit());
        // (a tenth of a second's share is 1 ms)
        budget.spent_on_early_form(0.6e6);
        budget.spent_early(Some(100), 0.6e6);
        let stats = budget.stats(Duration::from_secs(1));
        assert!(!budget.has_early_credit() && budget.has_credit(), "{stats:?}");
        assert_eq!((stats.count_bursts, stats.words, stats.burst_ms, stats.compile_ms), (1, 100, 0.6, 0.6));
        assert!(!Budget::new(0.0).has_early_credit());
        // An hour's credit lapses but for the last second's.
        let mut budget = Budget::new(1.0);
        budget.started = Instant::now() - Duration::from_secs(3600);
        assert!(budget.has_early_credit());
        budget.spent_early(Some(100), 9e6);
        assert!(budget.has_early_credit());
        budget.spent_early(Some(100), 5e6);
        assert!(!budget.has_early_credit());
    }

    #[test]
    fn what_is_dear_may_be_owed_beside_less_than_itself() {
        let budget = Budget::new(1.0);
        budget.compiled(Duration::from_millis(4));
        budget.credit_ns.store(1, Ordering::Relaxed);
        let owed = budget.account.lock().unwrap().owed_ns;
        assert!((1.9e6..=2.1e6).contains(&owed) && !budget.may_compile(), "{owed}");
        assert!(budget.may_owe(Duration::from_millis(12)) && !budget.may_owe(Duration::from_millis(1)));
        budget.compiled(Duration::from_millis(12));
        budget.credit_ns.store(1, Ordering::Relaxed);
        assert!(!budget.may_owe(Duration::from_millis(12)), "the next one waits");
        budget.credit_ns.store(0, Ordering::Relaxed);
        assert!(!budget.may_owe(Duration::from_secs(1)), "without credit nothing may");
    }

    #[test]
    fn what_compiles_owe_leaves_half_for_bursts() {
        let budget = Budget::new(1.0);
        assert!(budget.may_compile());
        // A thousand times what there is: gone is that, and bursts are not stopped by what is owed.
        budget.compiled(Duration::from_secs(2));
        assert!(!budget.has_credit() && !budget.may_compile());
        let earn = |seconds: u64| {
            budget.account.lock().unwrap().last = Instant::now() - Duration::from_secs(seconds);
            budget.earn(News::default(), 0);
        };
        earn(1);
        let credit = budget.credit_ns.load(Ordering::Relaxed) as f64;
        assert!(budget.has_credit() && !budget.may_compile());
        // 2 ms are earned, of which bursts have no more than they may save.
        assert!((399e3..=1.3e6).contains(&credit), "{credit}");
        let owed = budget.account.lock().unwrap().owed_ns;
        assert!((1.995e9..1.998e9).contains(&owed), "{owed}");
        earn(2500);
        assert!(budget.may_compile());
    }

    #[test]
    fn what_is_set_aside_is_not_there_twice() {
        let mut budget = Budget::new(1.0);
        budget.started = Instant::now() - Duration::from_secs(10);
        let ms = Duration::from_millis;
        // 20 ms of ten seconds.
        assert!(budget.has_earned(ms(19)) && !budget.has_earned(ms(32)));
        // A quarter of them.
        assert!(budget.set_aside(ms(3)) && !budget.set_aside(ms(3)));
        // What was refused is not set aside.
        assert!(budget.set_aside(ms(1)) && !budget.set_aside(ms(2)));
    }

    #[test]
    fn what_the_monitor_makes_is_paid_once() {
        let budget = Budget::new(1.0);
        let ms = Duration::from_millis;
        budget.compiled_by_monitor(ms(1));
        budget.astray(ms(2));
        budget.account.lock().unwrap().last = Instant::now() - ms(10);
        budget.earn(LEARNS, 1_500_000);
        let stats = budget.stats(budget.started.elapsed());
        assert_eq!((stats.compile_ms, stats.burst_ms), (1.0, 2.0));
        assert_eq!(budget.monitor_ns.load(Ordering::Relaxed), 500_000);
        // Of 2 ms that there were 3 are gone, and one is owed but for half of what was earned.
        let owed = budget.account.lock().unwrap().owed_ns;
        assert!((0.8e6..1e6).contains(&owed), "{owed}");
    }

    #[test]
    fn cost_uses_credit_up_and_bounds_the_length() {
        let budget = Budget::new(1.0);
        assert!(budget.has_credit());
        budget.spent(Kind::Branches, false, Some(4096), 1e6, 1e6);
        assert!(!budget.has_credit());
        assert!(budget.words(Kind::Branches, false) < 2048);
        for _ in 0..20 {
            budget.spent(Kind::Branches, false, Some(budget.words(Kind::Branches, false)), 1e9, 0.0);
        }
        assert_eq!(budget.words(Kind::Branches, false), LENGTHS[0].1);
        budget.spent(Kind::Loads, false, None, 1.0, 1.0);
        // Where calls are followed those that count have a length of their own, which others do not change.
        let counts = |followed: bool| budget.words(Kind::Counts, followed);
        budget.spent(Kind::Counts, false, Some(counts(false)), 1e6, 0.0);
        assert_eq!((counts(false), counts(true), budget.words(Kind::Loads, true)), (512, 2048, 1024));
        budget.spent(Kind::Counts, true, Some(2048), 1e3, 1e3);
        assert!(counts(true) > 2048 && counts(false) == 512);
        // The monitor alone does not keep bursts away for good.
        let dear = Budget::new(1.0);
        dear.spent(Kind::Branches, false, Some(4096), 3e6, 0.0);
        std::thread::sleep(Duration::from_millis(60));
        let before = dear.credit_ns.load(Ordering::Relaxed);
        dear.earn(LEARNS, 1_000_000_000);
        assert!(dear.credit_ns.load(Ordering::Relaxed) > before);
        let stats = budget.stats(budget.started.elapsed());
        assert_eq!((stats.branch_bursts, stats.load_bursts, stats.dropped), (21, 0, 1));
    }
}
