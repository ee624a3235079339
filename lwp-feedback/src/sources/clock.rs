//! Clocks (events 5 and 6): timers of a thread's CPU time, whose signal writes a record with the interrupted address.
//!
//! `timer_create(CLOCK_THREAD_CPUTIME_ID)` with `SIGEV_THREAD_ID`: the thread that burns the time is the one that is interrupted. The signal is blocked
//! but while the thread runs code of the virtual machine ([`run_unblocked`], [`run_blocked`]): `poll` and `epoll_wait` never restart after a signal, whatever SA_RESTART says, and a
//! host's code need not expect it. One that became pending meanwhile arrives at the next unblocking, outside all code, and is counted, not recorded.
//!
//! Core and reference clocks cannot be told apart without a PMU: both count nanoseconds of CPU time here. The kernel looks at such timers at its tick only, so
//! shorter intervals are raised to that ([`minimum`]), and reports say so.
//!
//! The handler is async-signal-safe: a constant-initialised thread-local, atomics, the ring's store (which takes no lock, for the ring has no threshold).
//! Invariants:
//! 1. `CURRENT` is null or points to the `State` of a [`ThreadClock`] that lives, of this thread; only this thread writes it.
//! 2. The ring has one producer: this thread's handler, which does not interrupt itself (its signal is blocked while it runs).

use std::cell::Cell;
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::layout::{EventId, Flags, Record};
use crate::ring::{Ring, RingConfig, RingProducer, time_stamp};

/// Whether an address is code whose records are wanted. Called from the signal handler: async-signal-safe.
pub type InCode = fn(usize) -> bool;

/// What the handler needs.
struct State {
    producer: RingProducer,
    in_code: InCode,
    records: Arc<Counts>,
}

/// What clocks did, over all threads that share it.
#[derive(Debug, Default)]
pub struct Counts {
    /// Records stored, or missed by a full ring.
    pub recorded: AtomicU64,
    /// Signals that arrived outside the code.
    pub outside: AtomicU64,
    /// Expirations that no signal of their own was sent for.
    pub overruns: AtomicU64,
}

thread_local! {
    static CURRENT: Cell<*mut State> = const { Cell::new(std::ptr::null_mut()) };
}

/// The signal: a real-time one, so that it is nobody's by custom.
fn signal() -> libc::c_int {
    libc::SIGRTMIN() + 6
}

/// The kernel's tick: the shortest interval that a timer of CPU time can have.
pub fn minimum() -> Duration {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: writes a whole timespec; all-zero is one as well.
    let time = unsafe {
        libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, time.as_mut_ptr());
        time.assume_init()
    };
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0)).max(Duration::from_micros(1))
}

/// The interval that a clock asked for `wanted` has: never below [`minimum`].
pub fn interval(wanted: Duration) -> Duration {
    wanted.max(minimum())
}

/// A thread's clocks. They stop when it is dropped, on the thread that made it.
pub struct ThreadClock {
    timers: Vec<libc::timer_t>,
    state: *mut State,
    not_send: PhantomData<*mut ()>,
}

impl ThreadClock {
    /// Starts clocks on this thread: `events` are 5, 6 or both. Their records go to a ring that `attach` hands to a monitor.
    ///
    /// # Errors
    /// Another one runs on this thread, somebody else handles the signal, or the system gives no timer.
    pub fn start(
        events: &[EventId],
        wanted: Duration,
        in_code: InCode,
        counts: Arc<Counts>,
        attach: impl FnOnce(Arc<Ring>),
    ) -> io::Result<ThreadClock> {
        if !CURRENT.get().is_null() {
            return Err(io::Error::other("this thread has clocks already"));
        }
        install()?;
        // No threshold: reaching one wakes the monitor through a lock, which a handler must not take.
        let config =
            RingConfig { threshold_bytes: 0, flags: Flags::CNH | Flags::RNH | Flags::PTSC, wake_on_hot: false, ..RingConfig::default() };
        let ring = Ring::new(&config).map_err(|error| io::Error::other(error.to_string()))?;
        let producer = ring.producer().expect("a fresh ring has no producer");
        attach(ring);
        block(true);
        let state = Box::into_raw(Box::new(State { producer, in_code, records: counts }));
        let mut clock = ThreadClock { timers: Vec::new(), state, not_send: PhantomData };
        CURRENT.set(state);
        for &event in events {
            // What fails drops the clock with the timers so far.
            clock.timers.push(timer(event, interval(wanted))?);
        }
        Ok(clock)
    }
}

impl Drop for ThreadClock {
    fn drop(&mut self) {
        // Blocked: nothing arrives between.
        block(true);
        for &timer in &self.timers {
            // SAFETY: made by `timer`, deleted once.
            unsafe { libc::timer_delete(timer) };
        }
        CURRENT.set(std::ptr::null_mut());
        // SAFETY: from Box::into_raw; the handler finds it through CURRENT only (invariant 1).
        drop(unsafe { Box::from_raw(self.state) });
    }
}

fn timer(event: EventId, interval: Duration) -> io::Result<libc::timer_t> {
    // SAFETY: all-zero is a valid sigevent, filled in below.
    let mut how: libc::sigevent = unsafe { MaybeUninit::zeroed().assume_init() };
    how.sigev_notify = libc::SIGEV_THREAD_ID;
    how.sigev_signo = signal();
    how.sigev_value.sival_ptr = std::ptr::without_provenance_mut(event.0.into());
    // SAFETY: no preconditions.
    how.sigev_notify_thread_id = unsafe { libc::syscall(libc::SYS_gettid) } as libc::pid_t;
    let mut timer: libc::timer_t = std::ptr::null_mut();
    // SAFETY: both are live, and `how` is whole.
    if unsafe { libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &mut how, &mut timer) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let step = libc::timespec { tv_sec: interval.as_secs() as libc::time_t, tv_nsec: interval.subsec_nanos().into() };
    let times = libc::itimerspec { it_interval: step, it_value: step };
    // SAFETY: `timer` was just made.
    if unsafe { libc::timer_settime(timer, 0, &times, std::ptr::null_mut()) } != 0 {
        let error = io::Error::last_os_error();
        // SAFETY: as above.
        unsafe { libc::timer_delete(timer) };
        return Err(error);
    }
    Ok(timer)
}

/// Installs the handler once in a process; an error where somebody else has one.
fn install() -> io::Result<()> {
    static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
    let installed = INSTALLED.get_or_init(|| {
        let number = || io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL);
        let mut old = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: querying writes a full `sigaction`; all-zero is one as well.
        let old = unsafe {
            if libc::sigaction(signal(), std::ptr::null(), old.as_mut_ptr()) != 0 {
                return Err(number());
            }
            old.assume_init()
        };
        if old.sa_sigaction != libc::SIG_DFL {
            return Err(libc::EBUSY);
        }
        // SAFETY: all-zero is a valid `sigaction` (no flags, empty mask), filled in below.
        let mut new: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        new.sa_sigaction = handler as *const () as usize;
        // Wasm runs on a stack of its own, whose guard must not be met by the kernel.
        new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        // SAFETY: `new` names a handler of the three-argument form, as SA_SIGINFO says.
        if unsafe { libc::sigaction(signal(), &new, std::ptr::null_mut()) } != 0 {
            return Err(number());
        }
        Ok(())
    });
    installed.map_err(io::Error::from_raw_os_error)
}

fn block(blocked: bool) {
    let how = if blocked { libc::SIG_BLOCK } else { libc::SIG_UNBLOCK };
    // SAFETY: a live set, emptied first.
    unsafe {
        let mut set = MaybeUninit::<libc::sigset_t>::zeroed().assume_init();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal());
        libc::pthread_sigmask(how, &set, std::ptr::null_mut());
    }
}

/// Runs `work`, which is the virtual machine's, with this thread's clocks running; without clocks nothing but a look at a thread-local.
pub fn run_unblocked<R>(work: impl FnOnce() -> R) -> R {
    masked(false, work)
}

/// Runs `work`, which is a host's, with the signal of this thread's clocks blocked.
pub fn run_blocked<R>(work: impl FnOnce() -> R) -> R {
    masked(true, work)
}

fn masked<R>(blocked: bool, work: impl FnOnce() -> R) -> R {
    if CURRENT.get().is_null() {
        return work();
    }
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            block(!self.0);
        }
    }
    block(blocked);
    let _restore = Restore(blocked);
    work()
}

unsafe extern "C" fn handler(_signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // What is interrupted may be about to read it.
    // SAFETY: no preconditions.
    let errno = unsafe { *libc::__errno_location() };
    let state = CURRENT.get();
    if !state.is_null() {
        // SAFETY: invariant 1; the handler does not interrupt itself, so this is the only reference.
        let state = unsafe { &mut *state };
        // SAFETY: the kernel passes a valid `ucontext_t` and, for a timer, a `siginfo_t` with its value and overrun.
        let (ip, event, overrun) = unsafe {
            let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
            let value = (*info).si_value().sival_ptr.addr() as u8;
            (registers[libc::REG_RIP as usize] as usize, EventId(value), overrun(info))
        };
        state.records.overruns.fetch_add(overrun, Ordering::Relaxed);
        if (state.in_code)(ip) {
            // Of code whose records carry return addresses the byte before is looked up.
            // The processor it runs on now. (`sched_getcpu` reads it without a system call, and takes no lock.)
            // SAFETY: no preconditions.
            let core = unsafe { libc::sched_getcpu() } as u8;
            state.producer.store(&Record::new(event, core, 0, 0, ip as u64 + 1, 0, time_stamp()));
            state.records.recorded.fetch_add(1, Ordering::Relaxed);
        } else {
            state.records.outside.fetch_add(1, Ordering::Relaxed);
        }
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// `si_overrun` of a timer's signal: the second word of the union behind three ints and the padding.
///
/// # Safety
/// `info` is what the kernel passed for a timer's signal.
unsafe fn overrun(info: *mut libc::siginfo_t) -> u64 {
    #[repr(C)]
    struct OfTimer {
        head: [libc::c_int; 4],
        timer: libc::c_int,
        overrun: libc::c_int,
    }
    // SAFETY: the caller's promise; a `siginfo_t` has 128 bytes.
    u64::try_from(unsafe { (*info.cast::<OfTimer>()).overrun }).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::RingProducer;

    fn anything(_ip: usize) -> bool {
        true
    }

    fn nothing(_ip: usize) -> bool {
        false
    }

    /// CPU time of this thread.
    fn cpu() -> Duration {
        let mut time = MaybeUninit::<libc::timespec>::zeroed();
        // SAFETY: writes a whole timespec.
        let time = unsafe {
            libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr());
            time.assume_init()
        };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }

    fn burn(time: Duration, mut each: impl FnMut()) {
        let begin = cpu();
        while cpu() - begin < time {
            (0..1000).for_each(|_| each());
        }
    }

    #[test]
    fn a_record_names_the_processor_that_it_was_written_on() {
        // SAFETY: plain data, and live sets.
        let allowed: Vec<usize> = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &mut set), 0);
            (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect()
        };
        let run_on = |cpu: usize| {
            // SAFETY: as above.
            unsafe {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                libc::CPU_SET(cpu, &mut set);
                libc::sched_setaffinity(0, size_of_val(&set), &set) == 0
            }
        };
        let ([first, .., last], true) = (&allowed[..], allowed.len() > 1) else { return };
        if !run_on(*first) {
            return;
        }
        let mut consumer = None;
        let counts = Arc::new(Counts::default());
        let clock =
            ThreadClock::start(&[EventId::CORE_CLOCKS], Duration::ZERO, anything, counts.clone(), |ring| consumer = ring.consumer())
                .unwrap();
        assert!(run_on(*last));
        run_unblocked(|| {
            while counts.recorded.load(Ordering::Relaxed) < 2 {
                burn(minimum(), || ());
            }
        });
        drop(clock);
        consumer.unwrap().drain(usize::MAX, |record| assert_eq!(record.core_id(), *last as u8, "{record}"));
    }

    #[test]
    fn intervals_are_raised_to_the_tick() {
        assert!(minimum() >= Duration::from_micros(1) && minimum() <= Duration::from_millis(20), "{:?}", minimum());
        assert_eq!(interval(Duration::from_nanos(1)), minimum());
        assert_eq!(interval(Duration::from_secs(1)), Duration::from_secs(1));
    }

    #[test]
    fn records_come_with_cpu_time_and_only_while_unblocked() {
        let mut ring = None;
        let counts = Arc::new(Counts::default());
        let both = [EventId::CORE_CLOCKS, EventId::REF_CLOCKS];
        let clock = ThreadClock::start(&both, Duration::ZERO, anything, counts.clone(), |it| ring = it.consumer()).unwrap();
        let mut consumer = ring.unwrap();
        assert!(ThreadClock::start(&both, Duration::ZERO, anything, counts.clone(), drop).is_err(), "one a thread");
        let time = minimum() * 20;
        // Blocked: host code.
        burn(time, || ());
        assert_eq!(counts.recorded.load(Ordering::Relaxed), 0);
        // Stores of another producer into another ring of this thread, which the handler interrupts.
        let other = Ring::new(&RingConfig { interval1: 0, random_bits: 0, buffer_bytes: 1 << 20, ..RingConfig::default() }).unwrap();
        let (mut producer, mut drained): (RingProducer, _) = (other.producer().unwrap(), other.consumer().unwrap());
        let mut value = 0;
        let mut expected = 0;
        run_unblocked(|| {
            burn(time, || {
                producer.value(0x10, 1, 0, value);
                value += 1;
                drained.drain(usize::MAX, |record| {
                    assert_eq!(record.data2(), expected);
                    expected += 1;
                });
            });
        });
        let recorded = counts.recorded.load(Ordering::Relaxed);
        drop(clock);
        // One a tick and event; where the system kept this thread from its signals, several ticks come as one.
        assert!(recorded >= 2 && recorded + counts.overruns.load(Ordering::Relaxed) >= 4, "{counts:?}");
        let mut seen = 0;
        consumer.drain(usize::MAX, |record| {
            assert!(both.contains(&record.event_id()) && record.address() > 1 && record.tsc() != 0, "{record}");
            seen += 1;
        });
        assert_eq!((seen, expected), (recorded, value), "nothing lost on either ring");
        // It may be started again, and what is outside the code is counted, not recorded.
        let counts = Arc::new(Counts::default());
        let clock = ThreadClock::start(&both[..1], Duration::ZERO, nothing, counts.clone(), drop).unwrap();
        run_unblocked(|| burn(time, || ()));
        drop(clock);
        assert!(counts.outside.load(Ordering::Relaxed) > 0 && counts.recorded.load(Ordering::Relaxed) == 0, "{counts:?}");
    }
}
