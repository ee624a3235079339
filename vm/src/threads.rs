//! Threads: what `memory.atomic.wait` and `notify` do. The memory itself is `crate::memory::Memory`, which stores on several threads may hold.
//!
//! One table for the process, by address: waiters in the order they came. A wait looks at its value under the table's lock, and so does a notify before it wakes, so no
//! wake-up is lost. A waiting thread wakes every few milliseconds to look at its store's deadline.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Longest sleep between two looks at the deadline.
const SLICE: Duration = Duration::from_millis(4);

#[derive(Default)]
struct Waiter {
    woken: AtomicBool,
    changed: Condvar,
}

type Waiters = HashMap<usize, VecDeque<Arc<Waiter>>>;

static WAITERS: LazyLock<Mutex<Waiters>> = LazyLock::new(Default::default);

fn waiters() -> MutexGuard<'static, Waiters> {
    WAITERS.lock().unwrap_or_else(|error| error.into_inner())
}

/// Waits at an address while `is_expected`, for `timeout` ns (negative: for ever). 0: woken, 1: another value, 2: the time is over. `interrupted` is asked
/// now and then, its error ends the wait.
pub(crate) fn wait<E>(
    address: usize,
    is_expected: impl FnOnce() -> bool,
    timeout: i64,
    mut interrupted: impl FnMut() -> Result<(), E>,
) -> Result<u32, E> {
    let until = u64::try_from(timeout).ok().and_then(|timeout| Instant::now().checked_add(Duration::from_nanos(timeout)));
    let mut all = waiters();
    if !is_expected() {
        return Ok(1);
    }
    let waiter = Arc::new(Waiter::default());
    all.entry(address).or_default().push_back(waiter.clone());
    let outcome = loop {
        if waiter.woken.load(Ordering::Acquire) {
            return Ok(0);
        }
        let left = until.map_or(SLICE, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            break Ok(2);
        }
        all = waiter.changed.wait_timeout(all, left.min(SLICE)).unwrap_or_else(|error| error.into_inner()).0;
        if waiter.woken.load(Ordering::Acquire) {
            return Ok(0);
        }
        // It may call into the host, which may notify.
        drop(all);
        let asked = interrupted();
        all = waiters();
        if let Err(error) = asked {
            break Err(error);
        }
    };
    if let Some(queue) = all.get_mut(&address) {
        queue.retain(|other| !Arc::ptr_eq(other, &waiter));
        if queue.is_empty() {
            all.remove(&address);
        }
    }
    if waiter.woken.load(Ordering::Acquire) && outcome.is_ok() { Ok(0) } else { outcome }
}

/// Wakes at most `count` waiters at an address; how many.
pub(crate) fn notify(address: usize, count: u32) -> u32 {
    let mut all = waiters();
    let Some(queue) = all.get_mut(&address) else { return 0 };
    let woken = queue.len().min(count as usize);
    for waiter in queue.drain(..woken) {
        waiter.woken.store(true, Ordering::Release);
        waiter.changed.notify_one();
    }
    if queue.is_empty() {
        all.remove(&address);
    }
    woken as u32
}
