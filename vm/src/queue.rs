//! The compile queue, taken by compile threads or run on the spot. First goes what pays soonest: the least time that it is expected to take for the time that the program has spent there so
//! far (Smith's rule, "Various optimizers for single-stage production", 1956), so that one huge function does not hold up hundreds of small ones, nor do these hold it up when it is what
//! the program does. (By the expected time alone the body in which zstd spends most of its time waited 1.7 s of a run of 2.4 s, for 130 others.) Where time does not decide, in deterministic
//! engines, it is the expected time alone. Of equals a small function goes before its loops and a large one after them, for it is mostly one activation of it that loops. Instrumented code comes
//! after all that makes the program faster.

use crate::code::{Entrance, Tier};
use crate::tiering::ModuleCode;
use crate::tiering::thresholds::{LARGE, expected_compile_time};
use crate::tiering::verdict::Judgement;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::Duration;

/// What to do for a module.
pub(crate) enum Work {
    /// Compile an entrance of a function in a tier, and link it.
    Compile(u32, Entrance, Tier),
    /// Look at a function's profile again.
    Reconsider(u32),
    /// Start the trial that waits longest.
    Trial,
    /// Publish the candidate that won.
    Settle(Box<Judgement>),
}

/// One thing to do. For a module that is gone by then it is left.
pub struct Job {
    code: Weak<ModuleCode>,
    work: Work,
}

impl Job {
    /// What goes first: the kind, what it costs for what it brings, and what decides between equals. Modules that are looked at go into `alive`.
    fn rank(&self, alive: &mut Vec<Arc<ModuleCode>>) -> (u8, u64, bool) {
        let at_once = |rank| (rank, 0, false);
        match self.work {
            Work::Settle(_) => at_once(0),
            Work::Compile(function, entrance, tier) => {
                // (what is left of a module that is gone is nothing to do)
                let Some(code) = self.code.upgrade() else { return at_once(0) };
                let bytes = code.body_bytes(function);
                let rank = if tier == Tier::Instrumented { 2 } else { 1 };
                let cost = expected_compile_time(tier, bytes).as_nanos() as f64 / code.benefit(function, entrance);
                alive.push(code);
                // (bits of positive numbers are in their order)
                (rank, cost.to_bits(), (entrance == Entrance::Body) == (bytes > LARGE))
            }
            Work::Reconsider(_) => at_once(3),
            // What is compiled while a trial runs spoils its measure: trials last.
            Work::Trial => at_once(4),
        }
    }

    pub(crate) fn run(self) {
        let Some(code) = self.code.upgrade() else { return };
        match self.work {
            Work::Compile(function, entrance, tier) => code.compile_requested(function, entrance, tier),
            Work::Reconsider(function) => code.reconsider_here(function),
            Work::Trial => code.start_trial(),
            Work::Settle(judgement) => code.settle_trial(*judgement),
        }
    }
}

struct State {
    jobs: VecDeque<Job>,
    running: usize,
    closed: bool,
}

/// The queue.
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

impl Queue {
    /// Jobs that wait or run.
    pub fn length(&self) -> usize {
        let state = self.lock();
        state.jobs.len() + state.running
    }

    pub(crate) fn new() -> Queue {
        Queue { state: Mutex::new(State { jobs: VecDeque::new(), running: 0, closed: false }), changed: Condvar::new() }
    }

    /// Takes the job that goes first; of equals the one asked for first. What comes into `alive` is to be dropped when the queue is open again: a module may end with it.
    fn take(state: &mut State, alive: &mut Vec<Arc<ModuleCode>>) -> Option<Job> {
        let first = (0..state.jobs.len()).min_by_key(|&at| state.jobs[at].rank(alive))?;
        state.jobs.remove(first)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|error| error.into_inner())
    }

    /// Once the queue is closed this does nothing: nobody would take the job.
    pub(crate) fn push_work(&self, code: &Arc<ModuleCode>, work: Work) {
        let job = Job { code: Arc::downgrade(code), work };
        let mut state = self.lock();
        if state.closed {
            return;
        }
        state.jobs.push_back(job);
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for a job; `None` once the queue is closed. [`Queue::done`] follows each.
    pub(crate) fn next(&self) -> Option<Job> {
        // (dropped behind the lock)
        let mut alive = Vec::new();
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(job) = Queue::take(&mut state, &mut alive) {
                state.running += 1;
                return Some(job);
            }
            state = self.changed.wait(state).unwrap_or_else(|error| error.into_inner());
        }
    }

    pub(crate) fn done(&self) {
        self.lock().running -= 1;
        self.changed.notify_all();
    }

    /// Runs what is queued on this thread.
    pub(crate) fn run_here(&self) {
        loop {
            let mut alive = Vec::new();
            let Some(job) = Queue::take(&mut self.lock(), &mut alive) else {
                return;
            };
            drop(alive);
            job.run();
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.jobs.is_empty() && state.running == 0
    }

    pub(crate) fn wait_idle(&self) {
        let mut state = self.lock();
        while !(state.closed || state.jobs.is_empty() && state.running == 0) {
            state = self.changed.wait(state).unwrap_or_else(|error| error.into_inner());
        }
    }

    /// Waits until no job runs, at most so long. Whether that is so; once the queue is closed it stays so.
    pub(crate) fn wait_stopped(&self, most: Duration) -> bool {
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, most, |state| state.running > 0);
        let (state, _) = waited.unwrap_or_else(|error| error.into_inner());
        state.running == 0
    }

    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.jobs.clear();
        drop(state);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine, EngineConfig};
    use crate::tiering::Counted;

    /// The order in which what is asked for, all at once, is made: body or loop of a function.
    fn order(deterministic: bool) -> Vec<(u32, Entrance)> {
        let engine = Engine::new(EngineConfig { deterministic, monitor_thread: false, ..EngineConfig::default() }, None).unwrap();
        let large = "(loop $l (br_if $l (i32.eqz (local.get 0))))".repeat(200);
        let small = "(local.set 0 (i32.mul (local.get 0) (local.get 0)))".repeat(4);
        let text =
            format!("(module (func (param i32) {large}) (func (param i32) {small}) (func (param i32) {small}) (func (param i32) {large}))");
        let loaded = engine.load(&wat::parse_str(text).unwrap()).unwrap();
        let code = &loaded.code;
        let header = code.bytecode(0).points()[0].offset;
        // By time the first takes a hundred times what the second does, half of it around one loop; the last is as large and hardly runs.
        for (function, events) in [(0, 100_000), (1, 100_000), (2, 10_000), (3, 100)] {
            let least = if function == 0 { 10_000.0 } else { 100.0 };
            let counted = Counted {
                events: [events, 0, 0],
                loops: [(header, events / 2)].into(),
                least_ticks: [Some(least), None],
                ..Counted::default()
            };
            code.set_counted(function, counted);
        }
        let queue = Queue::new();
        let asked = [(2, Entrance::Body), (3, Entrance::Body), (1, Entrance::Body), (0, Entrance::Loop(header)), (0, Entrance::Body)];
        for (function, entrance) in asked {
            queue.push_work(code, Work::Compile(function, entrance, Tier::Optimizing));
        }
        let mut alive = Vec::new();
        let mut jobs = std::iter::from_fn(|| Queue::take(&mut queue.lock(), &mut alive));
        jobs.by_ref()
            .map(|job| if let Work::Compile(function, entrance, _) = job.work { (function, entrance) } else { unreachable!() })
            .collect()
    }

    #[test]
    fn what_pays_soonest_goes_first_and_without_time_what_is_done_soonest() {
        use Entrance::{Body, Loop};
        let by_time = order(false);
        let place = |function, is_body: bool| by_time.iter().position(|it| it.0 == function && (it.1 == Body) == is_body).unwrap();
        assert!(place(0, true) < place(2, true) && place(1, true) < place(2, true) && place(0, true) < place(0, false), "{by_time:?}");
        assert_eq!(by_time.last(), Some(&(3, Body)));
        let by_size: Vec<(u32, bool)> = order(true).iter().map(|it| (it.0, matches!(it.1, Loop(_)))).collect();
        assert_eq!(by_size, [(2, false), (1, false), (0, true), (3, false), (0, false)]);
    }
}
