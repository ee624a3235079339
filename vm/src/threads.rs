//! Threads: what `memory.atomic.wait` and `notify` do. The memory itself is `crate::memory::Memory`, which stores on several threads may hold.
//!
//! One table for the process, by address: waiters in the order they came. A wait looks at its value under the table's lock, and so does a notify before it wakes, so no
//! wake-up is lost. A waiting thread wakes every few milliseconds to look at its store's deadline.

use crate::memory::Memory;
use crate::trap::TrapCode;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
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

/// Waits at a place of a shared memory while its 4 or 8 bytes are `expected`, for `timeout` (`None`: for ever). `interrupted` is asked now and then, its error ends the wait.
///
/// # Safety
/// The bytes are accessible, aligned, and accessed atomically alone.
pub(crate) unsafe fn wait<E>(
    place: *mut u8,
    expected: u64,
    bytes: u64,
    timeout: Option<Duration>,
    mut interrupted: impl FnMut() -> Result<(), E>,
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
    let outcome = loop {
        if waiter.woken.load(Ordering::Acquire) {
            return Ok(WaitResult::Ok);
        }
        let left = until.map_or(SLICE, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            break Ok(WaitResult::TimedOut);
        }
        all = waiter.changed.wait_timeout(all, left.min(SLICE)).unwrap_or_else(|error| error.into_inner()).0;
        if waiter.woken.load(Ordering::Acquire) {
            return Ok(WaitResult::Ok);
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
    if waiter.woken.load(Ordering::Acquire) && outcome.is_ok() { Ok(WaitResult::Ok) } else { outcome }
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
    unsafe { wait(place, expected, bytes, timeout, || Ok(())) }
}

/// A host's notify: how many it woke.
///
/// # Errors
/// [`TrapCode::HeapMisaligned`] and [`TrapCode::MemoryOutOfBounds`].
pub fn notify_at(memory: &Memory, address: u64, count: u32) -> Result<u32, TrapCode> {
    Ok(notify(place((memory.base(), memory.length()), address, 0, 4)? as usize, count))
}
