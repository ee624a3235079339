//! Interrupt threads: what empties rings that are past their threshold while the monitor's own thread is busy, or its processor is taken away.
//!
//! The architecture raises the threshold interrupt on the processor that stored the record. So does this: one thread a processor, bound to
//! it, woken by the producer's threshold crossing there, moves the ring's records to the ring's *reserve*, from which the monitor
//! takes them later. A ring of 2,000 records then lasts as long as its reserve of 65,536 does, and a producer can only be short of a slot
//! where the thread of its own processor did not get to run. Where the system allows it the threads run ahead of ordinary ones (they
//! run for microseconds); elsewhere they ask for the shortest time slice, which lets a woken thread run first.
//!
//! Invariants:
//! 1. Order: the reserve holds older records than the ring, and both are taken under one lock, reserve first.
//! 2. The reserve is bounded: a ring whose reserve is full stays as it is, and its producer counts MissedEvents.
//! 3. Nobody waits for the lock on the producer's behalf: an interrupt thread that finds it taken leaves the ring to whoever has it, who looks
//!    at the threshold again before it goes.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock, TryLockError};
use std::thread::{JoinHandle, Thread};

use super::stats::thread_cpu_ns;
use super::thread::block_signals;
use super::{Monitor, lock};
use crate::layout::Record;
use crate::ring::{Ring, RingConsumer};

/// What is taken out of one ring, and not handled yet.
pub(super) struct Intake {
    pub(super) ring: Arc<Ring>,
    /// Most records of the reserve.
    reserve_records: usize,
    drained: Mutex<Drained>,
}

struct Drained {
    consumer: RingConsumer,
    reserve: Vec<Record>,
}

impl Intake {
    pub(super) fn new(consumer: RingConsumer, reserve_records: usize) -> Self {
        let ring = consumer.ring().clone();
        Self { ring, reserve_records, drained: Mutex::new(Drained { consumer, reserve: Vec::new() }) }
    }

    /// The reserve, then up to `limit` records of the ring, oldest first, appended to the empty `into`. `served`: there are interrupt threads.
    /// True: more is published than was taken; and the number of the first of them.
    pub(super) fn take(&self, limit: usize, served: bool, into: &mut Vec<Record>) -> (bool, u64) {
        let mut drained = lock(&self.drained);
        let first = self.ring.drained() - drained.reserve.len() as u64;
        std::mem::swap(&mut drained.reserve, into);
        let more = drained.consumer.drain(limit, |record| into.push(*record)) == limit && !drained.consumer.is_empty();
        drop(drained);
        if served {
            // Invariant 3: an interrupt thread may have come and gone in the meantime.
            self.relieve();
        }
        (more, first)
    }

    /// Moves records to the reserve while the ring is past its threshold and the reserve has room.
    fn relieve(&self) {
        while self.ring.past_threshold() {
            let mut drained: MutexGuard<'_, Drained> = match self.drained.try_lock() {
                Ok(drained) => drained,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            let Drained { consumer, reserve } = &mut *drained;
            let room = self.reserve_records.saturating_sub(reserve.len());
            if consumer.drain(room, |record| reserve.push(*record)) == 0 {
                return;
            }
        }
    }
}

/// The rings and the threads' doors, shared by producers, interrupt threads and the monitor.
#[derive(Default)]
pub(super) struct Interrupts {
    intakes: RwLock<Vec<Arc<Intake>>>,
    lines: RwLock<Vec<Thread>>,
    stopping: AtomicBool,
    /// CPU time of threads that run, by line, and of those that ended. Nanoseconds.
    cpu_ns: RwLock<Vec<Arc<AtomicU64>>>,
}

impl Interrupts {
    pub(super) fn served(&self) -> bool {
        !self.lines.read().unwrap_or_else(|poisoned| poisoned.into_inner()).is_empty()
    }

    /// The monitor ends: no ring has a waker any more.
    pub(super) fn clear(&self) {
        for intake in self.intakes.write().unwrap_or_else(|poisoned| poisoned.into_inner()).drain(..) {
            intake.ring.set_waker(None);
        }
    }

    /// Wakes the thread of this processor; false where there is none.
    pub(super) fn raise(&self) -> bool {
        let lines = self.lines.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        // SAFETY: sched_getcpu has no preconditions.
        let cpu = unsafe { libc::sched_getcpu() };
        let Some(line) = (cpu as usize).checked_rem(lines.len()) else { return false };
        lines[line].unpark();
        true
    }

    pub(super) fn add(&self, intake: Arc<Intake>) {
        self.intakes.write().unwrap_or_else(|poisoned| poisoned.into_inner()).push(intake);
    }

    pub(super) fn remove(&self, intake: &Arc<Intake>) {
        self.intakes.write().unwrap_or_else(|poisoned| poisoned.into_inner()).retain(|other| !Arc::ptr_eq(other, intake));
    }

    /// CPU time of the threads so far, nanoseconds.
    pub(super) fn cpu_ns(&self) -> u64 {
        let counts = self.cpu_ns.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        counts.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    fn serve(&self, cpu_ns: &AtomicU64) {
        while !self.stopping.load(Ordering::Acquire) {
            std::thread::park();
            // A writer only adds or removes a ring: the list is free but for moments.
            let intakes = self.intakes.read().unwrap_or_else(|poisoned| poisoned.into_inner());
            for intake in intakes.iter() {
                intake.relieve();
            }
            drop(intakes);
            cpu_ns.store(thread_cpu_ns(), Ordering::Relaxed);
        }
    }
}

/// The interrupt threads of a monitor; dropping it stops and joins them.
pub struct InterruptThreads {
    interrupts: Arc<Interrupts>,
    handles: Vec<JoinHandle<()>>,
}

impl Monitor {
    /// Starts threads "backedge-lwp/N" that empty rings past their threshold, one for each processor that this thread may use, at most `most`.
    /// A monitor has one set of them at a time: a second one replaces the first's doors, whose threads then idle.
    pub fn spawn_interrupts(self: &Arc<Self>, most: usize) -> io::Result<InterruptThreads> {
        let processors = allowed_processors()?;
        let interrupts = self.interrupts.clone();
        interrupts.stopping.store(false, Ordering::Release);
        let mut threads = InterruptThreads { interrupts: interrupts.clone(), handles: Vec::new() };
        let lines = processors.len().min(most);
        let mut doors = Vec::new();
        for line in 0..lines {
            // The producer's processor modulo the number of lines names the line, see `raise`.
            let own: Vec<usize> = processors.iter().copied().filter(|cpu| cpu % lines == line).collect();
            let cpu_ns = Arc::new(AtomicU64::new(0));
            interrupts.cpu_ns.write().unwrap_or_else(|poisoned| poisoned.into_inner()).push(cpu_ns.clone());
            let interrupts = interrupts.clone();
            let handle = std::thread::Builder::new().name(format!("backedge-lwp/{line}")).spawn(move || {
                block_signals();
                bind(&own);
                run_first();
                interrupts.serve(&cpu_ns);
            })?;
            doors.push(handle.thread().clone());
            threads.handles.push(handle);
        }
        *interrupts.lines.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = doors;
        Ok(threads)
    }
}

impl Drop for InterruptThreads {
    fn drop(&mut self) {
        self.interrupts.lines.write().unwrap_or_else(|poisoned| poisoned.into_inner()).clear();
        self.interrupts.stopping.store(true, Ordering::Release);
        for handle in self.handles.drain(..) {
            handle.thread().unpark();
            // They run nothing of the host's that could panic; one that did is gone either way.
            let _ = handle.join();
        }
    }
}

fn allowed_processors() -> io::Result<Vec<usize>> {
    // SAFETY: cpu_set_t is plain data; all zeroes is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live set of the size given.
    if unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: CPU_ISSET reads inside the set for indices below CPU_SETSIZE.
    Ok((0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect())
}

/// Binds this thread to `processors`; where that is refused, or the list is empty, it stays where the system puts it.
fn bind(processors: &[usize]) {
    if processors.is_empty() {
        return;
    }
    // SAFETY: cpu_set_t is plain data; all zeroes is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &cpu in processors {
        // SAFETY: `cpu` is below CPU_SETSIZE, for it comes from such a set.
        unsafe { libc::CPU_SET(cpu, &mut set) };
    }
    // SAFETY: the pointer is to a live set of the size given.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) };
}

/// Lets this thread run as soon as it is woken: the lowest real-time priority where that is permitted, else a time slice of 0.1 ms.
fn run_first() {
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: the pointer is to live plain data; 0 is this thread.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, &priority) } == 0 {
        return;
    }
    /// struct sched_attr of linux/sched/types.h, first version: 48 bytes.
    #[repr(C)]
    struct SchedAttr {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime: u64,
        deadline: u64,
        period: u64,
    }
    let slice_ns = 100_000;
    let attr = SchedAttr { size: 48, policy: 0, flags: 0, nice: 0, priority: 0, runtime: slice_ns, deadline: 0, period: 0 };
    // SAFETY: the pointer is to live plain data of the size it states; 0 is this thread. Kernels that do not know slices ignore it.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attr, 0) };
}
