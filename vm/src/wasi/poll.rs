//! `poll_oneoff` of both snapshots, in slices, so that a deadline stops a guest that sleeps; and the same for a file that is about to be read or written.
//!
//! A slice is a `poll_oneoff` of the caller's subscriptions and a short clock, in memory of our own. Layouts: `subscription` (48 bytes; 56 in `wasi_unstable`) and
//! `event` (32 in both) of the `.witx` files. Guests of `wasi_unstable` are answered by way of the later layout: wasi-common's own answer forgets their files.
//!
//! In memory of our own a sleep until a point of the real-time clock, which wasi-common refuses, becomes one for the time that is left.

use super::preview1::answer;
use super::{Function, Snapshot, Stop};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wasi_common::WasiCtx;
use wasi_common::snapshots::preview_1::types::Errno;

/// Longest time without a look at the real-time clock, which may be set while somebody sleeps: a guess.
const CLOCK_SLICE: Duration = Duration::from_secs(1);
/// Where there is nothing to look at.
const FOREVER: Duration = Duration::from_nanos(u64::MAX);
const SUBSCRIPTION: usize = 48;
const UNSTABLE_SUBSCRIPTION: usize = 56;
const EVENT: usize = 32;
/// More subscriptions than this are refused, so that a call takes little time and host memory: a guess.
const MOST: usize = 4096;

/// Tags of a subscription, and the clocks' ids.
const CLOCK: u8 = 0;
pub(super) const FD_READ: u8 = 1;
pub(super) const FD_WRITE: u8 = 2;
const REALTIME: u32 = 0;
const MONOTONIC: u32 = 1;
const CPU_TIMES: std::ops::RangeInclusive<u32> = 2..=3;
/// Flag of a clock subscription: its timeout is a point in time.
const ABSOLUTE: u16 = 1;

/// Answers `poll_oneoff`; asks `due` after each `slice`, or never.
pub(super) fn poll_oneoff(
    context: &mut WasiCtx,
    snapshot: Snapshot,
    memory: &mut [u8],
    arguments: &[u64],
    slice: Option<Duration>,
    due: &mut dyn FnMut() -> bool,
) -> Result<u32, Stop> {
    let [from, to, count, stored] = [0, 1, 2, 3].map(|index| arguments[index] as u32 as usize);
    if count == 0 || count > MOST {
        return Ok(Errno::Inval as u32);
    }
    let size = if snapshot == Snapshot::Preview1 { SUBSCRIPTION } else { UNSTABLE_SUBSCRIPTION };
    // Before it waits, and not after.
    for (at, bytes, align) in [(from, count * size, 8), (to, count * EVENT, 8), (stored, 4, 4)] {
        check(Function::PollOneoff, memory, at, bytes, align)?;
    }
    let mut subscriptions: Vec<u8> = memory[from..from + count * size].chunks_exact(size).flat_map(in_preview_1).collect();
    let users: Vec<[u8; 8]> = subscriptions.chunks_exact(SUBSCRIPTION).map(|one| one[..8].try_into().expect("eight bytes")).collect();
    if count == 1 {
        any_clock(&mut subscriptions);
    }
    let has_point = subscriptions.chunks_exact(SUBSCRIPTION).any(|one| matches!(Until::of(one), Some(Until::Point(_))));
    let slice = slice.unwrap_or(if has_point { CLOCK_SLICE } else { FOREVER });
    let events = match slices(context, subscriptions, slice, due)? {
        Ok(events) => events,
        Err(errno) => return Ok(errno),
    };
    for (index, event) in events.iter().enumerate() {
        let place = &mut memory[to + index * EVENT..to + (index + 1) * EVENT];
        place.copy_from_slice(&event.0);
        place[..8].copy_from_slice(&users[event.index()]);
        if event.0[10] == FD_WRITE {
            // (our scheduler's word to `writable`)
            place[16..24].fill(0);
        }
    }
    memory[stored..stored + 4].copy_from_slice(&(events.len() as u32).to_le_bytes());
    Ok(0)
}

/// A pointer of the guest's that a call will use.
pub(super) fn check(function: Function, memory: &[u8], at: usize, bytes: usize, align: usize) -> Result<(), Stop> {
    let reason = match () {
        () if !at.is_multiple_of(align) => format!("pointer {at:#x} is not aligned to {align}"),
        () if at.checked_add(bytes).is_none_or(|end| end > memory.len()) => format!("{bytes} bytes at {at:#x} are not in the memory"),
        () => return Ok(()),
    };
    Err(Stop::Fault { function: function.name(), reason })
}

/// A subscription of either snapshot in the layout of preview 1.
fn in_preview_1(subscription: &[u8]) -> [u8; SUBSCRIPTION] {
    let mut one = [0; SUBSCRIPTION];
    if subscription.len() == UNSTABLE_SUBSCRIPTION && subscription[8] == CLOCK {
        // (a clock has a name of its own there, before its id)
        one[..16].copy_from_slice(&subscription[..16]);
        one[16..].copy_from_slice(&subscription[24..]);
    } else {
        one.copy_from_slice(&subscription[..SUBSCRIPTION]);
    }
    one
}

/// A lone sleep is by any clock, as wasi-common has it; in company it refuses the processor's.
fn any_clock(subscription: &mut [u8]) {
    let clock = u32::from_le_bytes(subscription[16..20].try_into().expect("four bytes"));
    if matches!(Until::of(subscription), Some(Until::Passed(_))) && CPU_TIMES.contains(&clock) {
        subscription[16..20].copy_from_slice(&MONOTONIC.to_le_bytes());
    }
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

/// An event as preview 1 has it; its user data is the index of its subscription.
#[derive(Clone, Copy)]
struct Event([u8; EVENT]);

impl Event {
    fn index(self) -> usize {
        u64::from_le_bytes(self.0[..8].try_into().expect("eight bytes")) as usize
    }

    fn bytes(self) -> u64 {
        u64::from_le_bytes(self.0[16..24].try_into().expect("eight bytes"))
    }
}

/// Waits until an open file has something to read or room to write (`tag`), as far as it can be waited for. Returns how many bytes there are, or fit without waiting; `None` where the host does not say.
pub(super) fn ready(
    context: &mut WasiCtx,
    tag: u8,
    file: u32,
    slice: Duration,
    due: &mut dyn FnMut() -> bool,
) -> Result<Option<u64>, Stop> {
    let mut subscription = vec![0; SUBSCRIPTION];
    subscription[8] = tag;
    subscription[16..20].copy_from_slice(&file.to_le_bytes());
    let events = slices(context, subscription, slice, due)?;
    let event = events.ok().and_then(|events| events.first().copied());
    Ok(event.filter(|event| event.0[8..10] == [0, 0]).map(Event::bytes))
}

/// Waits in slices for the first events. The inner error is the number with which the host refuses to wait.
fn slices(
    context: &mut WasiCtx,
    mut subscriptions: Vec<u8>,
    longest: Duration,
    due: &mut dyn FnMut() -> bool,
) -> Result<Result<Vec<Event>, u32>, Stop> {
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
        let errno = answer(context, Snapshot::Preview1, Function::PollOneoff, &mut memory, &arguments, due)?;
        if errno != 0 {
            return Ok(Err(errno));
        }
        let stored = u32::from_le_bytes(memory[stored_at..stored_at + 4].try_into().expect("four bytes")) as usize;
        let events: Vec<Event> = memory[events_at..stored_at]
            .chunks_exact(EVENT)
            .take(stored)
            .map(|event| Event(event.try_into().expect("a chunk's size")))
            .filter(|event| event.index() != count)
            .collect();
        if !events.is_empty() {
            return Ok(Ok(events));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::wait::SLICE;
    use super::super::{Builder, Context, Host};
    use super::*;

    /// Writes a subscription of a clock, with user data 77, and returns its size.
    fn clock(memory: &mut [u8], snapshot: Snapshot, clock: u32, time: Duration, flags: u16) -> usize {
        let unstable = snapshot == Snapshot::Unstable;
        let (id, size) = if unstable { (24, UNSTABLE_SUBSCRIPTION) } else { (16, SUBSCRIPTION) };
        memory[..size].fill(0);
        memory[0] = 77;
        memory[id..id + 4].copy_from_slice(&clock.to_le_bytes());
        memory[id + 8..id + 16].copy_from_slice(&(time.as_nanos() as u64).to_le_bytes());
        memory[id + 24..id + 26].copy_from_slice(&flags.to_le_bytes());
        size
    }

    fn poll(
        context: &mut Context,
        snapshot: Snapshot,
        memory: &mut [u8],
        arguments: &[u64],
        due: &mut dyn FnMut() -> bool,
    ) -> Result<u32, Stop> {
        context.call_until(snapshot, Function::PollOneoff, memory, arguments, due)
    }

    /// A deadline that passes while somebody waits.
    fn passes() -> impl FnMut() -> bool {
        let mut looks = 0;
        move || {
            looks += 1;
            looks > 3
        }
    }

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_sleep_ends_at_its_time_or_at_the_deadline() {
        let mut context = Builder::new().build();
        let mut memory = vec![0; 256];
        let arguments = [0, 64, 1, 128];
        for snapshot in Snapshot::ALL {
            for id in [REALTIME, MONOTONIC, 2, 3] {
                clock(&mut memory, snapshot, id, 2 * SLICE, 0);
                let began = Instant::now();
                assert_eq!(poll(&mut context, snapshot, &mut memory, &arguments, &mut || false).unwrap(), 0);
                assert!(began.elapsed() >= 2 * SLICE);
                assert_eq!((memory[64], memory[128]), (77, 1), "one event, the guest's own");
                clock(&mut memory, snapshot, id, HOUR, 0);
                let stopped = poll(&mut context, snapshot, &mut memory, &arguments, &mut passes());
                assert!(matches!(stopped, Err(Stop::Deadline)), "{snapshot:?} {id}");
            }
        }
    }

    #[test]
    fn no_number_of_sleeps_outlasts_the_deadline() {
        let mut context = Builder::new().build();
        let mut memory = vec![0; 1 << 20];
        for snapshot in Snapshot::ALL {
            let mut end = 0;
            for _ in 0..=MOST {
                end += clock(&mut memory[end..], snapshot, MONOTONIC, HOUR, 0);
            }
            let mut poll = |count: usize, due: &mut dyn FnMut() -> bool| {
                poll(&mut context, snapshot, &mut memory, &[0, 1 << 19, count as u64, 8], due)
            };
            for count in [2, 1025, MOST] {
                assert!(matches!(poll(count, &mut passes()), Err(Stop::Deadline)));
            }
            for count in [0, MOST + 1, u32::MAX as usize] {
                assert_eq!(poll(count, &mut || panic!("it waits")).unwrap(), 28, "EINVAL");
            }
        }
    }

    #[test]
    fn bad_pointers_fault_and_are_not_waited_for() {
        let mut context = Builder::new().build();
        let mut memory = vec![0; 256];
        for snapshot in Snapshot::ALL {
            clock(&mut memory, snapshot, MONOTONIC, HOUR, 0);
            for arguments in [[0, 248, 1, 128], [0, 64, 1, 256], [0, 64, 1, 130], [0, 68, 1, 128], [248, 64, 1, 128], [4, 64, 1, 128]] {
                let stopped = poll(&mut context, snapshot, &mut memory, &arguments, &mut || panic!("it waits"));
                assert!(matches!(stopped, Err(Stop::Fault { function: "poll_oneoff", .. })), "{arguments:?}");
            }
        }
    }

    #[test]
    fn files_of_both_snapshots_are_polled() {
        let mut context = Builder::new().stdin(&b"text"[..]).build();
        let mut memory = vec![0; 512];
        for snapshot in Snapshot::ALL {
            memory.fill(0);
            let size = clock(&mut memory, snapshot, MONOTONIC, HOUR, 0);
            for (index, tag, file) in [(1, FD_READ, 0), (2, FD_WRITE, 1)] {
                memory[index * size..][..17].copy_from_slice(&[index as u8, 0, 0, 0, 0, 0, 0, 0, tag, 0, 0, 0, 0, 0, 0, 0, file]);
            }
            // Without a deadline and with one.
            assert_eq!(context.call(snapshot, Function::PollOneoff, &mut memory, &[0, 256, 3, 504]).unwrap(), 0);
            assert_eq!(poll(&mut context, snapshot, &mut memory, &[0, 352, 3, 508], &mut || false).unwrap(), 0);
            assert_eq!((memory[504], memory[508]), (2, 2));
            let event = |at: usize| (memory[at], memory[at + 8], memory[at + 10], memory[at + 16]);
            for at in [256, 352] {
                assert_eq!([event(at), event(at + 32)], [(1, 0, FD_READ, 1), (2, 0, FD_WRITE, 0)]);
            }
        }
    }

    #[test]
    fn a_sleep_ends_at_a_point_of_the_real_time_clock() {
        let mut context = Builder::new().build();
        let mut memory = vec![0; 256];
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        for snapshot in Snapshot::ALL {
            for sliced in [false, true] {
                let point = now() + 2 * SLICE;
                clock(&mut memory, snapshot, REALTIME, point, ABSOLUTE);
                let arguments = [0, 64, 1, 128];
                let answered = match sliced {
                    true => poll(&mut context, snapshot, &mut memory, &arguments, &mut || false),
                    false => context.call(snapshot, Function::PollOneoff, &mut memory, &arguments),
                };
                assert_eq!(answered.unwrap(), 0);
                assert!(now() >= point);
                assert_eq!((memory[64], memory[128]), (77, 1));
            }
        }
    }
}
