//! Calls that wait, cut into slices, so that a deadline stops a guest that sleeps or reads a quiet terminal.
//!
//! A slice is a `poll_oneoff` of the caller's subscriptions and a short clock, in memory of our own. Layouts: `subscription` (48 bytes) and `event` (32) of
//! `wasi_snapshot_preview1.witx`. Guests of `wasi_unstable`, which has other layouts, wait uncut.
//!
//! In memory of our own a sleep until a point of the real-time clock, which wasi-common refuses, becomes one for the time that is left.

use super::preview1::answer;
use super::{Function, Snapshot, Stop};
use std::future::poll_fn;
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wasi_common::WasiCtx;

/// Longest time without a look at the deadline.
pub(super) const SLICE: Duration = Duration::from_millis(4);
/// Longest time without a look at the real-time clock, which may be set while somebody sleeps: a guess.
const CLOCK_SLICE: Duration = Duration::from_secs(1);
const SUBSCRIPTION: usize = 48;
const EVENT: usize = 32;
/// More subscriptions than this wait uncut.
const MOST: usize = 1024;

/// Tags of a subscription, and the clocks' ids.
const CLOCK: u8 = 0;
const FD_READ: u8 = 1;
const FD_WRITE: u8 = 2;
const REALTIME: u32 = 0;
const MONOTONIC: u32 = 1;
/// Flag of an open file: it is not waited for.
const NONBLOCK: u16 = 4;
/// Flag of a clock subscription: its timeout is a point in time.
const ABSOLUTE: u16 = 1;

/// Lets the call that is being answered be given up, if its deadline has passed, and go on a little later otherwise.
pub(super) async fn pause() {
    let mut seen = false;
    poll_fn(|_| if std::mem::replace(&mut seen, true) { Poll::Ready(()) } else { Poll::Pending }).await
}

/// Answers a call, for as long as it takes.
pub(super) fn answer_ever(
    context: &mut WasiCtx,
    snapshot: Snapshot,
    function: Function,
    memory: &mut [u8],
    arguments: &[u64],
) -> Result<u32, Stop> {
    if (snapshot, function) == (Snapshot::Preview1, Function::PollOneoff)
        && has_point(memory, arguments)
        && let Some(answered) = poll(context, memory, arguments, CLOCK_SLICE, &mut || false)?
    {
        return Ok(answered);
    }
    answer(context, snapshot, function, memory, arguments, &mut || false)
}

/// Answers a call; [`Stop::Deadline`] where `due` says so while it waits. Nothing was done for the guest then: the call can be made again.
pub(super) fn answer_until(
    context: &mut WasiCtx,
    snapshot: Snapshot,
    function: Function,
    memory: &mut [u8],
    arguments: &[u64],
    due: &mut dyn FnMut() -> bool,
) -> Result<u32, Stop> {
    if snapshot == Snapshot::Preview1 {
        match function {
            Function::PollOneoff => {
                if let Some(answered) = poll(context, memory, arguments, SLICE, due)? {
                    return Ok(answered);
                }
            }
            Function::FdRead => ready(context, FD_READ, arguments[0] as u32, due)?,
            Function::FdWrite => ready(context, FD_WRITE, arguments[0] as u32, due)?,
            _ => {}
        }
    }
    answer(context, snapshot, function, memory, arguments, due)
}

/// Whether a subscription of `poll_oneoff` is of a point of the real-time clock.
fn has_point(memory: &[u8], arguments: &[u64]) -> bool {
    let [from, count] = [0, 2].map(|index| arguments[index] as u32 as usize);
    let subscriptions = memory.get(from..).unwrap_or_default().chunks_exact(SUBSCRIPTION).take(count);
    subscriptions.map(Until::of).any(|until| matches!(until, Some(Until::Point(_))))
}

/// How long a subscription of a clock waits, in nanoseconds.
#[derive(Clone, Copy)]
enum Until {
    /// So long from now.
    Passed(u64),
    /// To this time of the real-time clock.
    Point(u64),
}

impl Until {
    /// `None`: it is one of a file, or of a point of the monotonic clock, which can be asked for as it is.
    fn of(subscription: &[u8]) -> Option<Until> {
        let clock = u32::from_le_bytes(subscription[16..20].try_into().expect("four bytes"));
        let time = u64::from_le_bytes(subscription[24..32].try_into().expect("eight bytes"));
        let absolute = u16::from_le_bytes([subscription[40], subscription[41]]) & ABSOLUTE != 0;
        match (subscription[8], absolute, clock) {
            (CLOCK, false, _) => Some(Until::Passed(time)),
            (CLOCK, true, REALTIME) => Some(Until::Point(time)),
            _ => None,
        }
    }

    /// What is left of it.
    fn left(self, began: Instant) -> u64 {
        let passed = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        match self {
            Until::Passed(time) => time.saturating_sub(passed(began.elapsed())),
            Until::Point(time) => time.saturating_sub(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, passed)),
        }
    }
}

/// `poll_oneoff`; `None` where it is to be answered uncut, with its errors.
fn poll(
    context: &mut WasiCtx,
    memory: &mut [u8],
    arguments: &[u64],
    slice: Duration,
    due: &mut dyn FnMut() -> bool,
) -> Result<Option<u32>, Stop> {
    let [from, to, count, stored] = [0, 1, 2, 3].map(|index| arguments[index] as u32 as usize);
    if count == 0 || count > MOST || to.checked_add(count * EVENT).is_none_or(|end| end > memory.len()) || stored + 4 > memory.len() {
        return Ok(None);
    }
    let Some(subscriptions) = memory.get(from..from + count * SUBSCRIPTION).map(<[u8]>::to_vec) else { return Ok(None) };
    let Some(events) = slices(context, subscriptions.clone(), slice, due)? else { return Ok(None) };
    for (index, event) in events.iter().enumerate() {
        let mut event = *event;
        let whose = u64::from_le_bytes(event[..8].try_into().expect("eight bytes")) as usize;
        event[..8].copy_from_slice(&subscriptions[whose * SUBSCRIPTION..whose * SUBSCRIPTION + 8]);
        memory[to + index * EVENT..to + (index + 1) * EVENT].copy_from_slice(&event);
    }
    memory[stored..stored + 4].copy_from_slice(&(events.len() as u32).to_le_bytes());
    Ok(Some(0))
}

/// Waits until an open file can be read or written, as far as it can be waited for and is to be.
fn ready(context: &mut WasiCtx, tag: u8, file: u32, due: &mut dyn FnMut() -> bool) -> Result<(), Stop> {
    // `fdstat`: the flags are its second word.
    let mut status = [0; 24];
    let known = answer(context, Snapshot::Preview1, Function::FdFdstatGet, &mut status, &[file.into(), 0], due)? == 0;
    if known && u16::from_le_bytes([status[2], status[3]]) & NONBLOCK != 0 {
        return Ok(());
    }
    let mut subscription = vec![0; SUBSCRIPTION];
    subscription[8] = tag;
    subscription[16..20].copy_from_slice(&file.to_le_bytes());
    slices(context, subscription, SLICE, due).map(drop)
}

/// Waits in slices for the first events; their user data is the subscription's index. `None` where the host refuses to wait.
fn slices(
    context: &mut WasiCtx,
    mut subscriptions: Vec<u8>,
    longest: Duration,
    due: &mut dyn FnMut() -> bool,
) -> Result<Option<Vec<[u8; EVENT]>>, Stop> {
    let began = Instant::now();
    let count = subscriptions.len() / SUBSCRIPTION;
    let mut timeouts = Vec::new();
    for (index, one) in subscriptions.chunks_exact_mut(SUBSCRIPTION).enumerate() {
        one[..8].copy_from_slice(&(index as u64).to_le_bytes());
        timeouts.push(Until::of(one));
        if timeouts[index].is_some() {
            one[40] &= !(ABSOLUTE as u8);
        }
    }
    let mut slice = [0; SUBSCRIPTION];
    slice[..8].copy_from_slice(&(count as u64).to_le_bytes());
    slice[8] = CLOCK;
    slice[16..20].copy_from_slice(&MONOTONIC.to_le_bytes());
    slice[24..32].copy_from_slice(&(longest.as_nanos() as u64).to_le_bytes());
    subscriptions.extend_from_slice(&slice);
    let events_at = subscriptions.len();
    let stored_at = events_at + (count + 1) * EVENT;
    let mut memory = subscriptions;
    memory.resize(stored_at + 4, 0);
    loop {
        if due() {
            return Err(Stop::Deadline);
        }
        for (index, timeout) in timeouts.iter().enumerate() {
            if let Some(timeout) = timeout {
                let at = index * SUBSCRIPTION + 24;
                memory[at..at + 8].copy_from_slice(&timeout.left(began).to_le_bytes());
            }
        }
        let arguments = [0, events_at as u64, count as u64 + 1, stored_at as u64];
        if answer(context, Snapshot::Preview1, Function::PollOneoff, &mut memory, &arguments, due)? != 0 {
            return Ok(None);
        }
        let stored = u32::from_le_bytes(memory[stored_at..stored_at + 4].try_into().expect("four bytes")) as usize;
        let events: Vec<[u8; EVENT]> = memory[events_at..stored_at]
            .chunks_exact(EVENT)
            .take(stored)
            .map(|event| event.try_into().expect("a chunk's size"))
            .filter(|event: &[u8; EVENT]| event[..8] != (count as u64).to_le_bytes())
            .collect();
        if !events.is_empty() {
            return Ok(Some(events));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Builder, Host};
    use super::*;

    /// A relative sleep of the monotonic clock at address 0, with user data 77.
    fn sleep(memory: &mut [u8], time: Duration) {
        memory[..8].copy_from_slice(&77u64.to_le_bytes());
        memory[16..20].copy_from_slice(&MONOTONIC.to_le_bytes());
        memory[24..32].copy_from_slice(&(time.as_nanos() as u64).to_le_bytes());
    }

    #[test]
    fn a_sleep_ends_at_its_time_or_at_the_deadline() {
        let mut context = Builder::new().build();
        let mut memory = vec![0; 256];
        let arguments = [0, 64, 1, 128];
        sleep(&mut memory, Duration::from_millis(30));
        let began = Instant::now();
        assert_eq!(context.call_until(Snapshot::Preview1, Function::PollOneoff, &mut memory, &arguments, &mut || false).unwrap(), 0);
        assert!(began.elapsed() >= Duration::from_millis(30));
        assert_eq!((memory[64], memory[128]), (77, 1), "one event, the guest's own");
        sleep(&mut memory, Duration::from_secs(3600));
        let mut looks = 0;
        let mut due = || {
            looks += 1;
            looks > 3
        };
        let stopped = context.call_until(Snapshot::Preview1, Function::PollOneoff, &mut memory, &arguments, &mut due);
        assert!(matches!(stopped, Err(Stop::Deadline)));
    }

    #[test]
    fn what_cannot_be_waited_for_is_answered_at_once() {
        let mut context = Builder::new().build();
        let mut memory = vec![0; 256];
        let call = |context: &mut super::super::Context, memory: &mut [u8], function, arguments: &[u64]| {
            context.call_until(Snapshot::Preview1, function, memory, arguments, &mut || false).unwrap()
        };
        assert_eq!(call(&mut context, &mut memory, Function::PollOneoff, &[0, 64, 0, 128]), 28, "EINVAL: no subscriptions");
        assert_eq!(call(&mut context, &mut memory, Function::FdRead, &[99, 0, 0, 8]), 8, "EBADF");
        assert_eq!(call(&mut context, &mut memory, Function::FdRead, &[0, 0, 0, 8]), 0, "standard input at its end");
    }

    #[test]
    fn a_sleep_ends_at_a_point_of_the_real_time_clock() {
        let mut context = Builder::new().build();
        let mut memory = vec![0; 256];
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let point = now() + Duration::from_millis(20);
        for sliced in [false, true] {
            sleep(&mut memory, point);
            memory[16..20].copy_from_slice(&REALTIME.to_le_bytes());
            memory[40] = ABSOLUTE as u8;
            let arguments = [0, 64, 1, 128];
            let answered = match sliced {
                true => context.call_until(Snapshot::Preview1, Function::PollOneoff, &mut memory, &arguments, &mut || false),
                false => context.call(Snapshot::Preview1, Function::PollOneoff, &mut memory, &arguments),
            };
            assert_eq!(answered.unwrap(), 0);
            assert!(now() >= point);
            assert_eq!((memory[64], memory[128]), (77, 1));
        }
    }
}
