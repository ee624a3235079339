//! The compile queue, taken by compile threads or run on the spot. What is done soonest goes first, by the time it is expected to take, so that one huge
//! function does not hold up hundreds of small ones; tier 2 counts for several times tier 1 and helps less. A small function goes before its loops and a
//! large one after them, for it is mostly one activation of it that loops. Instrumented code comes after all that makes the program faster.

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
    rank: (u8, Duration, bool),
    work: Work,
}

impl Job {
    fn new(code: &Arc<ModuleCode>, work: Work) -> Job {
        let at_once = |rank| (rank, Duration::ZERO, false);
        let rank = match work {
            Work::Settle(_) => at_once(0),
            Work::Compile(function, entrance, tier) => {
                let bytes = code.body_bytes(function);
                let rank = if tier == Tier::Instrumented { 2 } else { 1 };
                (rank, expected_compile_time(tier, bytes), (entrance == Entrance::Body) == (bytes > LARGE))
            }
            Work::Reconsider(_) => at_once(3),
            // What is compiled while a trial runs spoils its measure: trials last.
            Work::Trial => at_once(4),
        };
        Job { code: Arc::downgrade(code), rank, work }
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

    /// Takes the job that goes first; of equals the one asked for first.
    fn take(state: &mut State) -> Option<Job> {
        let first = (0..state.jobs.len()).min_by_key(|&at| state.jobs[at].rank)?;
        state.jobs.remove(first)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|error| error.into_inner())
    }

    /// Once the queue is closed this does nothing: nobody would take the job.
    pub(crate) fn push_work(&self, code: &Arc<ModuleCode>, work: Work) {
        let job = Job::new(code, work);
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
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(job) = Queue::take(&mut state) {
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
            let Some(job) = Queue::take(&mut self.lock()) else {
                return;
            };
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
