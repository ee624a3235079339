//! What is taken out of a ring and not handled yet: the *reserve*, which a ring's records go to at its threshold while the monitor's own thread is busy, or
//! its processor is taken away.
//!
//! The architecture raises the threshold interrupt on the processor that stored the record, and the handler runs there, in the place of the thread that
//! stored it. So it is here ([`MonitorConfig::reserve_records`](super::MonitorConfig::reserve_records)): the producer that crosses its ring's threshold moves the
//! records to the reserve itself, 2 ns each, and goes on. A ring of 2,000 records then lasts as long as its reserve does. (Threads for it, one a processor at real-time
//! priority, were tried: where a virtual machine's processor was taken away with such a thread on it, the rings that it was at filled up.)
//!
//! Invariants:
//! 1. Order: the reserve holds older records than the ring, and both are taken under one lock, reserve first.
//! 2. The reserve is bounded: a ring whose reserve is full stays as it is, and its producer counts MissedEvents.
//! 3. The producer does not wait: where it finds the lock taken it leaves the ring to the monitor, which has it and looks at the threshold again
//!    before it goes. It does not allocate either (the store may be a signal handler's): the reserve has its memory from the beginning.

use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use super::lock;
use crate::layout::{RECORD_BYTES, Record};
use crate::ring::{Ring, RingConsumer, time_stamp};

/// A ring's consumer, and what it has set aside.
pub(super) struct Intake {
    pub(super) ring: Arc<Ring>,
    /// Most records of the reserve; 0: producers move nothing.
    reserve_records: usize,
    drained: Mutex<Drained>,
    /// Time stamp ticks that producers spent here.
    ticks: AtomicU64,
}

struct Drained {
    consumer: RingConsumer,
    reserve: Vec<Record>,
    /// Visits in a row that took the reserve alone.
    left_alone: u8,
}

/// What a visit to a ring took.
pub(super) struct Taken {
    /// More may be taken at once.
    pub(super) more: bool,
    /// All that was published when it began was taken.
    pub(super) all: bool,
    /// Number of the first record.
    pub(super) first: u64,
}

/// Visits in a row that may leave what is in a ring there, and with it retired code that waits to be released: some 0.2 s.
const MOST_LEFT_ALONE: u8 = 200;

impl Intake {
    pub(super) fn new(consumer: RingConsumer, reserve_records: usize) -> Self {
        let ring = consumer.ring().clone();
        let reserve = Vec::with_capacity(reserve_records);
        Self { ring, reserve_records, drained: Mutex::new(Drained { consumer, reserve, left_alone: 0 }), ticks: AtomicU64::new(0) }
    }

    /// The reserve, then up to `limit` records of the ring, oldest first, appended to the empty `into`, which becomes the reserve: it has the capacity of
    /// one.
    pub(super) fn take(&self, limit: usize, into: &mut Vec<Record>) -> Taken {
        let mut drained = lock(&self.drained);
        let first = self.ring.drained() - drained.reserve.len() as u64;
        std::mem::swap(&mut drained.reserve, into);
        // A producer that sets records aside will do so again soon, and is kept from it while this thread is suspended with the lock: as good as never
        // where it only exchanges the reserve.
        let only_reserve = !into.is_empty() && limit != usize::MAX && drained.left_alone < MOST_LEFT_ALONE;
        drained.left_alone = if only_reserve { drained.left_alone + 1 } else { 0 };
        // (more than the ring holds only a producer that is faster than this thread would yield)
        let most = limit.min(self.slots());
        let more = !only_reserve && drained.consumer.drain(most, |record| into.push(*record)) == most && !drained.consumer.is_empty();
        drop(drained);
        // Invariant 3: the producer may have come and gone in the meantime. Whoever fences first of the two, the other one sees what was written before: the producer
        // that the lock is free, or this thread the producer's head.
        fence(Ordering::SeqCst);
        self.relieve();
        Taken { more, all: !more && !only_reserve, first }
    }

    fn slots(&self) -> usize {
        (self.ring.buffer_bytes() / RECORD_BYTES) as usize
    }

    /// Moves records to the reserve while the ring is past its threshold and the reserve has room.
    fn relieve(&self) {
        while self.reserve_records != 0 && self.ring.past_threshold() {
            let mut drained: MutexGuard<'_, Drained> = match self.drained.try_lock() {
                Ok(drained) => drained,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            let Drained { consumer, reserve, .. } = &mut *drained;
            let room = self.reserve_records.saturating_sub(reserve.len()).min(self.slots());
            if consumer.drain(room, |record| reserve.push(*record)) == 0 {
                return;
            }
        }
    }

    /// The ring's producer crossed its threshold. False: that is the monitor's to handle.
    pub(super) fn interrupt(&self) -> bool {
        if self.reserve_records == 0 {
            return false;
        }
        let begin = time_stamp();
        // Between the head that was published and a look at the lock: see `take`.
        fence(Ordering::SeqCst);
        self.relieve();
        self.ticks.fetch_add(time_stamp().saturating_sub(begin), Ordering::Relaxed);
        true
    }

    /// Time stamp ticks that producers spent on moving records, since the last call.
    pub(super) fn take_ticks(&self) -> u64 {
        self.ticks.swap(0, Ordering::Relaxed)
    }
}
