//! What the screen shows, as plain data: looked up from the engine a few times a second, with rates from one look to the next.

use backedge::{Engine, Module};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use vm::code::Tier;
use vm::profiling::LiveTicks;
use vm::tiering::verdict::{Reason, Verdict};
use vm::timeline::What;

/// Looks over which shares of CPU time are taken: 2 s at the usual pace.
const WINDOW: usize = 8;
/// Shortest time between two looks that says something of rates, seconds.
const SHORTEST: f64 = 0.1;
/// Lines of news kept.
const NEWS: usize = 200;
/// Fills kept for the history.
const HISTORY: usize = 200;

/// Everything on the screen.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The program.
    pub program: String,
    /// Since the engine began.
    pub elapsed: Duration,
    /// How the guest ended, or nothing.
    pub ended: Option<String>,
    /// `lwp`, `off`, or the interface that is modelled.
    pub feedback: &'static str,
    /// Records drained, and how many a second.
    pub records: u64,
    /// See `records`.
    pub records_per_second: f64,
    /// Records that found their ring full.
    pub missed: u64,
    /// CPU time of the monitor, percent of one processor, since the look before.
    pub monitor_percent: f64,
    /// Cost of all watching and what is allowed, percent of the run.
    pub watching_percent: f64,
    /// See `watching_percent`.
    pub budget_percent: f64,
    /// Machine code in use.
    pub code_bytes: usize,
    /// Versions compiled so far.
    pub versions: usize,
    /// Compiles that wait or run.
    pub waiting: usize,
    /// Times that compiled code was left at loops, and at guards.
    pub switches: u64,
    /// See `switches`.
    pub side_exits: u64,
    /// Each ring's fill now, percent, and what it missed.
    pub rings: Vec<(u64, f64, u64)>,
    /// Fill of the fullest ring when the monitor came, thousandths, oldest first.
    pub fills: Vec<u64>,
    /// Hottest first.
    pub functions: Vec<FunctionLine>,
    /// When and what, newest first.
    pub news: Vec<(Duration, String, Mood)>,
    /// The guest's last lines.
    pub output: Vec<String>,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FunctionLine {
    /// Its name.
    pub name: String,
    /// The highest tier that calls or loops lead to.
    pub tier: &'static str,
    /// Percent of the guest's CPU time of late.
    pub percent: f64,
    /// The same since the start.
    pub total_percent: f64,
    /// Versions compiled.
    pub versions: usize,
    /// What of its plan is in force.
    pub plan: String,
}

/// How a line of news is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// A fact.
    Plain,
    /// A plan was kept.
    Good,
    /// A plan was taken back, or code was left.
    Bad,
}

/// Looks at an engine now and then.
pub struct Looker {
    engine: Engine,
    module: Module,
    live: Option<Arc<LiveTicks>>,
    program: String,
    last: Instant,
    /// Records a second, and CPU time of the monitor in percent.
    rates: (f64, f64),
    records: u64,
    cpu_ns: u64,
    seen: usize,
    news: VecDeque<(Duration, String, Mood)>,
    /// Each function's latest plan.
    plans: HashMap<u32, Vec<String>>,
    ticks: VecDeque<HashMap<u32, u64>>,
}

impl Looker {
    /// From now on.
    pub fn new(engine: Engine, module: Module, live: Option<Arc<LiveTicks>>, program: String) -> Looker {
        let (news, ticks) = (VecDeque::new(), VecDeque::from([HashMap::new()]));
        // What was before the first look is since the engine began.
        let last = Instant::now().checked_sub(engine.vm().elapsed()).unwrap_or_else(Instant::now);
        Looker {
            engine,
            module,
            live,
            program,
            last,
            rates: (0.0, 0.0),
            records: 0,
            cpu_ns: 0,
            seen: 0,
            plans: HashMap::new(),
            news,
            ticks,
        }
    }

    /// Asks the guest to stop at its next poll.
    pub fn stop_guest(&self) {
        self.engine.increment_epoch();
    }

    fn name(&self, function: u32) -> String {
        self.module.loaded().module.function_name(function).map_or_else(|| format!("#{function}"), str::to_owned)
    }

    /// How things are now.
    pub fn look(&mut self) -> View {
        let machine = self.engine.vm();
        let (stats, bursts) = (machine.monitor_stats(), machine.burst_stats());
        let code = &self.module.loaded().code;
        let now = Instant::now();
        let seconds = now.duration_since(self.last).as_secs_f64();
        if seconds >= SHORTEST {
            let drained = stats.records.saturating_sub(self.records) as f64 / seconds;
            self.rates = (drained, stats.cpu_ns.saturating_sub(self.cpu_ns) as f64 / 1e7 / seconds);
            (self.last, self.records, self.cpu_ns) = (now, stats.records, stats.cpu_ns);
        }
        let pulses = machine.timeline().pulses();
        let fills = pulses[pulses.len().saturating_sub(HISTORY)..].iter().map(|pulse| pulse.fullest_permille.into()).collect();
        let mut view = View {
            program: self.program.clone(),
            elapsed: machine.elapsed(),
            feedback: machine.feedback(),
            records: stats.records,
            records_per_second: self.rates.0,
            missed: stats.missed,
            monitor_percent: self.rates.1,
            watching_percent: bursts.cost_percent,
            budget_percent: bursts.budget_percent,
            code_bytes: vm::code_memory_used(),
            waiting: machine.compiles_waiting(),
            switches: code.switches(),
            side_exits: code.side_exits(),
            rings: machine
                .rings()
                .iter()
                .map(|ring| (ring.id.0, 100.0 * f64::from(ring.used_bytes) / f64::from(ring.buffer_bytes.max(1)), ring.missed))
                .collect(),
            fills,
            ..View::default()
        };
        self.functions(&mut view);
        self.read_news();
        view.news = self.news.iter().rev().cloned().collect();
        view
    }

    fn functions(&mut self, view: &mut View) {
        let ticks: HashMap<u32, u64> = self.live.iter().flat_map(|live| live.by_function()).collect();
        let before = self.ticks.front().cloned().unwrap_or_default();
        let total: u64 = ticks.values().sum();
        let late = total.saturating_sub(before.values().sum());
        let code = &self.module.loaded().code;
        let mut tiers: HashMap<u32, (&'static str, Vec<&'static str>)> = HashMap::new();
        for version in code.versions_in_force() {
            let entry = tiers.entry(version.function).or_insert(("baseline", Vec::new()));
            if version.tier == Tier::Optimizing {
                entry.0 = "optimizing";
                entry.1.extend(version.plan.iter().flat_map(|plan| &plan.decisions).map(|decision| decision.name()));
            }
        }
        let mut counts: HashMap<u32, usize> = HashMap::new();
        code.versions().iter().for_each(|version| *counts.entry(version.function).or_default() += 1);
        view.versions = counts.values().sum();
        let mut all: Vec<(u64, u64, u32)> = (ticks.iter())
            .map(|(&function, &ticks)| (ticks.saturating_sub(before.get(&function).copied().unwrap_or(0)), ticks, function))
            .collect();
        all.extend(counts.keys().filter(|function| !ticks.contains_key(function)).map(|&function| (0, 0, function)));
        all.sort_by_key(|&(late, total, function)| (std::cmp::Reverse((late, total)), function));
        let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
        for &(of_late, of_all, function) in all.iter().take(50) {
            let (tier, mut plan) = tiers.get(&function).cloned().unwrap_or(("interpreter", Vec::new()));
            plan.sort_unstable();
            plan.dedup();
            view.functions.push(FunctionLine {
                name: self.name(function),
                tier,
                percent: percent(of_late, late),
                total_percent: percent(of_all, total),
                versions: counts.get(&function).copied().unwrap_or(0),
                plan: plan.join(" "),
            });
        }
        self.ticks.push_back(ticks);
        if self.ticks.len() > WINDOW {
            self.ticks.pop_front();
        }
    }

    fn read_news(&mut self) {
        let moments = self.engine.vm().timeline().moments_from(self.seen);
        self.seen += moments.len();
        for moment in moments {
            let name = self.name(moment.function);
            let place = moment.loop_offset.map_or(String::new(), |offset| format!(" loop {offset:#x}"));
            let (text, mood) = match &moment.what {
                // A plan is made whenever a function is looked at again: news is what changed in it.
                What::Planned { decisions, refusals }
                    if self.plans.insert(moment.function, decisions.clone()).as_ref() != Some(decisions) && !decisions.is_empty() =>
                {
                    (format!("plan {name}: {} ({refusals} refused)", decisions.join(", ")), Mood::Plain)
                }
                What::TrialBegan { .. } => (format!("trial {name}{place} began"), Mood::Plain),
                What::TrialEnded { verdict, ratio, .. } => {
                    let ratio = ratio.unwrap_or(1.0);
                    let (words, mood) = match verdict {
                        Verdict::Faster => (format!("kept, {ratio:.2} of the time"), Mood::Good),
                        Verdict::NotSlower => ("kept, not slower".into(), Mood::Good),
                        Verdict::Slower => (format!("taken back, {ratio:.2} of the time"), Mood::Bad),
                        Verdict::Undecided => ("taken back, no difference".into(), Mood::Bad),
                        Verdict::Abandoned(Reason::Idle) => ("given up, it did not run".into(), Mood::Plain),
                        Verdict::Abandoned(Reason::Disturbed) => ("given up, disturbed".into(), Mood::Plain),
                        Verdict::Abandoned(Reason::NoEffect) => ("no effect on the code".into(), Mood::Plain),
                        Verdict::Abandoned(Reason::NotCompiled) => ("not compiled".into(), Mood::Bad),
                    };
                    (format!("trial {name}{place}: {words}"), mood)
                }
                What::Entered { tier: Tier::Optimizing, .. } => (format!("{name}{place} is optimized"), Mood::Plain),
                What::SideExit { count, .. } => (format!("side exit of {name} ({count} so far)"), Mood::Bad),
                What::Failed { reason, .. } => (format!("{name}: not compiled: {reason}"), Mood::Bad),
                _ => continue,
            };
            self.news.push_back((Duration::from_nanos(moment.at_ns), text, mood));
            if self.news.len() > NEWS {
                self.news.pop_front();
            }
        }
    }
}
