//! Threads: what `memory.atomic.wait` and `notify` do. The memory itself is `crate::memory::Memory`, which stores on several threads may hold.
//!
//! One table for the process, by address: waiters in the order they came. A wait looks at its value under the table's lock, and so does a notify before it wakes, so no
//! wake-up is lost. A thread that waits sleeps until it is notified, its time is over, or, of a guest, its store is asked to poll ([`Sleepers`]): at a deadline, say.
//!
//! Locks are taken in this order: the engine's of its stores, the table's or a store's sleepers', a waiter's.

use crate::memory::Memory;
use crate::trap::TrapCode;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A thread that waits.
#[derive(Default)]
struct Waiter {
    news: Mutex<News>,
    changed: Condvar,
}

/// What a waiter was told and has not acted on yet.
#[derive(Default)]
struct News {
    /// It was notified, and is in the table no more.
    woken: bool,
    /// Its store was asked to poll.
    asked: bool,
}

/// What ends a sleep.
enum Awake {
    Woken,
    Asked,
    TimedOut,
}

impl Waiter {
    fn news(&self) -> MutexGuard<'_, News> {
        self.news.lock().unwrap_or_else(|error| error.into_inner())
    }

    fn tell(&self, what: impl FnOnce(&mut News)) {
        what(&mut self.news());
        self.changed.notify_one();
    }

    /// Sleeps until there are news, or until then. What it was asked counts as done.
    fn sleep(&self, until: Option<Instant>) -> Awake {
        let mut news = self.news();
        loop {
            if news.woken {
                return Awake::Woken;
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Awake::TimedOut;
            }
            if std::mem::take(&mut news.asked) {
                return Awake::Asked;
            }
            news = match left {
                Some(left) => self.changed.wait_timeout(news, left).unwrap_or_else(|error| error.into_inner()).0,
                None => self.changed.wait(news).unwrap_or_else(|error| error.into_inner()),
            };
        }
    }
}

/// A store's waits: one, and those around it whose deadline's callback called the guest again.
#[derive(Default)]
pub(crate) struct Sleepers(Mutex<Vec<Arc<Waiter>>>);

impl Sleepers {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Waiter>>> {
        self.0.lock().unwrap_or_else(|error| error.into_inner())
    }

    /// The store was asked to poll. (What asks is written before: a wait that begins now reads it once it is here.)
    pub(crate) fn wake(&self) {
        self.lock().iter().for_each(|waiter| waiter.tell(|news| news.asked = true));
    }

    /// Whether a thread waits.
    #[cfg(test)]
    fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }
}

/// A wait that its store's [`Sleepers`] know of, until this is dropped.
struct Known<'a>(&'a Sleepers);

impl<'a> Known<'a> {
    fn new(sleepers: &'a Sleepers, waiter: &Arc<Waiter>) -> Known<'a> {
        sleepers.lock().push(waiter.clone());
        Known(sleepers)
    }
}

impl Drop for Known<'_> {
    fn drop(&mut self) {
        // Those that began later, on the same thread, have ended.
        self.0.lock().pop();
    }
}

type Waiters = HashMap<usize, VecDeque<Arc<Waiter>>>;

static WAITERS: LazyLock<Mutex<Waiters>> = LazyLock::new(Default::default);

fn waiters() -> MutexGuard<'static, Waiters> {
    WAITERS.lock().unwrap_or_else(|error| error.into_inner())
}

/// How a wait ended, as the instruction says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitResult {
    /// Another thread woke it.
    Ok = 0,
    /// There was another value.
    Mismatch = 1,
    /// The time is over.
    TimedOut = 2,
}

/// Where an atomic access of `bytes` bytes lies in a memory's bytes, checked.
pub(crate) fn place((base, length): (*mut u8, usize), address: u64, offset: u64, bytes: u64) -> Result<*mut u8, TrapCode> {
    if !address.wrapping_add(offset).is_multiple_of(bytes) {
        return Err(TrapCode::HeapMisaligned);
    }
    let end = address.checked_add(offset).and_then(|start| start.checked_add(bytes));
    match end {
        Some(end) if end <= length as u64 => Ok(base.wrapping_add((end - bytes) as usize)),
        _ => Err(TrapCode::MemoryOutOfBounds),
    }
}

/// Whose wait it is, of a guest's.
pub(crate) struct Guest<'a, E> {
    /// Its store's.
    pub(crate) sleepers: &'a Sleepers,
    /// Asked where the wait begins to sleep, and whenever the store was asked to poll since; its error ends the wait.
    pub(crate) interrupted: &'a mut dyn FnMut() -> Result<(), E>,
}

/// Waits at a place of a shared memory while its 4 or 8 bytes are `expected`, for `timeout` (`None`: for ever). Nothing but a notify ends a host's wait before its time.
///
/// # Safety
/// The bytes are accessible, aligned, and accessed atomically alone.
pub(crate) unsafe fn wait<E>(
    place: *mut u8,
    expected: u64,
    bytes: u64,
    timeout: Option<Duration>,
    guest: Option<Guest<'_, E>>,
) -> Result<WaitResult, E> {
    let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let address = place as usize;
    let mut all = waiters();
    // SAFETY: the caller's promise.
    let is_expected = unsafe {
        match bytes {
            4 => AtomicU32::from_ptr(place.cast()).load(Ordering::SeqCst) == expected as u32,
            _ => AtomicU64::from_ptr(place.cast()).load(Ordering::SeqCst) == expected,
        }
    };
    if !is_expected {
        return Ok(WaitResult::Mismatch);
    }
    let waiter = Arc::new(Waiter::default());
    all.entry(address).or_default().push_back(waiter.clone());
    // What is asked may call into the host, which may notify.
    drop(all);
    let outcome = match guest {
        None => sleep(&waiter, until, || Ok(())),
        Some(Guest { sleepers, interrupted }) => {
            let _known = Known::new(sleepers, &waiter);
            // What came before it was known.
            waiter.news().asked = true;
            sleep(&waiter, until, interrupted)
        }
    };
    let mut all = waiters();
    if let Some(queue) = all.get_mut(&address) {
        queue.retain(|other| !Arc::ptr_eq(other, &waiter));
        if queue.is_empty() {
            all.remove(&address);
        }
    }
    drop(all);
    // Notified after all, before it was gone from the table.
    if outcome.is_ok() && waiter.news().woken { Ok(WaitResult::Ok) } else { outcome }
}

/// Sleeps until the wait is over.
fn sleep<E>(waiter: &Waiter, until: Option<Instant>, mut interrupted: impl FnMut() -> Result<(), E>) -> Result<WaitResult, E> {
    loop {
        match waiter.sleep(until) {
            Awake::Woken => return Ok(WaitResult::Ok),
            Awake::TimedOut => return Ok(WaitResult::TimedOut),
            Awake::Asked => interrupted()?,
        }
    }
}

/// Wakes at most `count` waiters at an address; how many.
pub(crate) fn notify(address: usize, count: u32) -> u32 {
    let mut all = waiters();
    let Some(queue) = all.get_mut(&address) else { return 0 };
    let woken = queue.len().min(count as usize);
    queue.drain(..woken).for_each(|waiter| waiter.tell(|news| news.woken = true));
    if queue.is_empty() {
        all.remove(&address);
    }
    woken as u32
}

/// A host's wait, as the instruction's; nothing interrupts it.
///
/// # Errors
/// [`TrapCode::HeapMisaligned`], [`TrapCode::MemoryOutOfBounds`], and [`TrapCode::AtomicWaitNonSharedMemory`].
pub fn wait_at(memory: &Memory, address: u64, expected: u64, timeout: Option<Duration>, bytes: u64) -> Result<WaitResult, TrapCode> {
    let place = place((memory.base(), memory.length()), address, 0, bytes)?;
    if !memory.ty().shared {
        return Err(TrapCode::AtomicWaitNonSharedMemory);
    }
    // SAFETY: checked, and bytes of a shared memory are only accessed atomically where it matters what they hold.
    unsafe { wait(place, expected, bytes, timeout, None) }
}

/// A host's notify: how many it woke.
///
/// # Errors
/// [`TrapCode::HeapMisaligned`] and [`TrapCode::MemoryOutOfBounds`].
pub fn notify_at(memory: &Memory, address: u64, count: u32) -> Result<u32, TrapCode> {
    Ok(notify(place((memory.base(), memory.length()), address, 0, 4)? as usize, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word that is waited at: each test has its own.
    fn word() -> Box<AtomicU32> {
        Box::default()
    }

    /// A guest's wait at a word that is 0; how it ended, and how often it was asked.
    fn guest_waits(word: &AtomicU32, sleepers: &Sleepers, timeout: Option<Duration>, ends_at: u32) -> (Result<WaitResult, ()>, u32) {
        let mut asked = 0;
        let mut interrupted = || {
            asked += 1;
            if asked == ends_at { Err(()) } else { Ok(()) }
        };
        // SAFETY: an atomic word.
        let outcome = unsafe { wait(word.as_ptr().cast(), 0, 4, timeout, Some(Guest { sleepers, interrupted: &mut interrupted })) };
        (outcome, asked)
    }

    #[test]
    fn a_thread_that_waits_is_asked_when_there_is_something_to_ask_and_not_else() {
        let (word, sleepers) = (word(), Sleepers::default());
        assert_eq!(guest_waits(&word, &sleepers, Some(Duration::from_millis(50)), u32::MAX), (Ok(WaitResult::TimedOut), 1));
        assert_eq!(guest_waits(&word, &sleepers, Some(Duration::ZERO), u32::MAX), (Ok(WaitResult::TimedOut), 0));
        assert!(sleepers.is_empty() && !waiters().contains_key(&(word.as_ptr() as usize)));
    }

    #[test]
    fn a_store_that_is_asked_to_poll_ends_its_guests_sleep() {
        let (word, sleepers) = (word(), Sleepers::default());
        std::thread::scope(|scope| {
            let guest = scope.spawn(|| guest_waits(&word, &sleepers, None, 3));
            // (of two at once it may see one)
            while !guest.is_finished() {
                sleepers.wake();
                std::thread::yield_now();
            }
            assert_eq!(guest.join().unwrap(), (Err(()), 3));
        });
        assert!(sleepers.is_empty() && !waiters().contains_key(&(word.as_ptr() as usize)));
        assert_eq!(notify(word.as_ptr() as usize, 1), 0);
    }

    #[test]
    fn a_notify_wakes_those_that_came_first() {
        let (word, sleepers) = (word(), Sleepers::default());
        let address = word.as_ptr() as usize;
        std::thread::scope(|scope| {
            let first = scope.spawn(|| guest_waits(&word, &sleepers, None, u32::MAX).0);
            while !waiters().contains_key(&address) {
                std::thread::yield_now();
            }
            // SAFETY: an atomic word.
            let second = scope.spawn(|| unsafe { wait::<()>(word.as_ptr().cast(), 0, 4, None, None) });
            while waiters()[&address].len() < 2 {
                std::thread::yield_now();
            }
            assert_eq!(notify(address, 1), 1);
            assert_eq!(first.join().unwrap(), Ok(WaitResult::Ok));
            assert_eq!((second.is_finished(), notify(address, u32::MAX)), (false, 1));
            assert_eq!(second.join().unwrap(), Ok(WaitResult::Ok));
        });
    }
}
