//! A ring: one LWPCB and its buffer at stable addresses, the thread that fills it and the task that drains it.
//!
//! In: LWPVAL and LWPINS from generated code (through [`Ring::lwpcb`]) or from Rust ([`RingProducer`]). Out: records, oldest first,
//! through [`RingConsumer`]. The protocol and its invariants stand in [`protocol`].
//!
//! One thread produces at a time, and one task consumes. Breaking that rule mixes up records; it cannot break memory, because every
//! shared word is an atomic and the producer keeps its own head, size and buffer address beside the LWPCB.
//!
//! `deferred` is how real hardware may behave: head reaches memory only at the threshold, when full, or on [`Ring::flush`] (the
//! owner's SLWPCB), and tail is re-read only when the ring looks past its threshold or full, or every 16th store.

pub mod protocol;
mod events;
mod store;

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::collections::VecDeque;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex};

use crate::layout::{
    BUFFER_SIZE_MASK, COUNTER_MASK, COUNTER_SIGN_BIT, EventId, Filters, Flags, INTERVAL_MAX, Lwpcb, RANDOM_SHIFT, RECORD_BYTES, Record,
    reloaded_counter, sign_extend_26,
};
use crate::pebs::Registers;
use protocol::{RingMemory, Stored};

pub use events::{BranchEvent, MissEvent, store_branch, store_miss, store_miss_with_registers};
pub use store::{
    ValueSampling, count_instructions, count_value, refresh_core_id, set_value_sampling, store_programmed, store_value_sample,
    take_off_value_counter, value_counter,
};

/// Smallest ring: 32 records, as on every part seen.
pub const MIN_BUFFER_BYTES: u32 = 32 * RECORD_BYTES;

/// Largest EventInterval1 that a full ring leads to. A guess.
const MOST_ADAPTED: u32 = (1 << 16) - 1;

/// In deferred mode tail is re-read at least every this many stores. A guess: the proposal says "some small value".
const DEFERRED_TAIL_PERIOD: u32 = 16;

/// How a ring is made.
#[derive(Clone, Debug)]
pub struct RingConfig {
    /// Bytes of the buffer; rounded down to a multiple of 32, 1024 to 2^28 - 1. 64 KiB holds 2,048 records: enough for 1,000 records per
    /// ms with a monitor that comes every millisecond.
    pub buffer_bytes: u32,
    /// EventInterval1: one LWPVAL in `interval1 + 1` (on average) leaves a record. 0 to 2^25 - 1.
    pub interval1: u32,
    /// EventCounter1 at first, 0 to 2^25 - 1: so many LWPVALs go by before the first that leaves a record. `None`: `interval1`.
    pub counter1: Option<u32>,
    /// Head and tail of the empty ring at first, in bytes; rounded down to a multiple of 32, and 0 where that is not inside the ring.
    pub start_bytes: u32,
    /// EventInterval2: a record every `interval2 + 1` instructions. 0 to 2^25 - 1.
    pub interval2: u32,
    /// EventInterval3: one branch in `interval3 + 1` leaves a record. 0 to 2^25 - 1.
    pub interval3: u32,
    /// EventInterval4: one eligible miss in `interval4 + 1` leaves a record. 0 to 2^25 - 1.
    pub interval4: u32,
    /// The Filters dword.
    pub filters: Filters,
    /// Random: low bits of the counter that are randomised on reload, 0 to 15. Not 0 while several sites are live, or one site can take
    /// all the records.
    pub random_bits: u8,
    /// Bytes in use that wake the monitor; 0: never.
    pub threshold_bytes: u32,
    /// CoreId of the records; `None` asks the system which CPU this thread runs on, now and at [`Ring::refresh_core_id`].
    pub core_id: Option<u8>,
    /// The Flags dword. VAL must be set for LWPVAL to record, PTSC for time stamps, INT for threshold wake-ups.
    pub flags: Flags,
    /// Behave as hardware may: see the module's header.
    pub deferred: bool,
    /// A `HotFunction`, `HotLoop` or `BurstEnd` record (not the end of a burst that only counts) wakes the monitor at once, so that tier-up does not wait for the next poll.
    pub wake_on_hot: bool,
    /// The monitor may raise EventInterval1 where records come faster than they are worth ([`Ring::adapt_interval1`]).
    pub adapts: bool,
    /// LWPINS leaves records. Without, it does nothing (the Flags dword has no bit for it).
    pub programmed: bool,
    /// Seed of the counter's random bits; 0 is taken as 1.
    pub seed: u32,
    /// Keep the registers that came with records, beside the ring.
    pub registers: bool,
}

impl Default for RingConfig {
    fn default() -> Self {
        Self {
            buffer_bytes: 64 << 10,
            interval1: 1023,
            counter1: None,
            start_bytes: 0,
            // A thousand records a second of compiled code. A guess.
            interval2: (1 << 20) - 1,
            interval3: 7,
            interval4: 0,
            filters: Filters::NRB,
            random_bits: 6,
            threshold_bytes: 32 << 10,
            core_id: None,
            flags: Flags::VAL | Flags::BRE | Flags::DME | Flags::PTSC | Flags::INT,
            deferred: false,
            wake_on_hot: true,
            adapts: false,
            programmed: true,
            seed: 1,
            registers: false,
        }
    }
}

/// A ring could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RingError {
    /// The buffer is too small or too large.
    #[error("ring of {bytes} bytes: expected {MIN_BUFFER_BYTES} to {BUFFER_SIZE_MASK}")]
    BufferSize {
        /// What was asked for.
        bytes: u32,
    },
    /// An interval, or EventCounter1, has more than 25 bits.
    #[error("interval {interval}: expected at most {INTERVAL_MAX}")]
    Interval {
        /// What was asked for.
        interval: u32,
    },
    /// Random has more than 4 bits.
    #[error("{bits} random bits: expected at most 15")]
    Random {
        /// What was asked for.
        bits: u8,
    },
}

/// Gets the monitor's attention; called on the producer's thread, must not block.
pub trait RingWaker: Send + Sync {
    /// Wakes the monitor.
    fn wake(&self);

    /// A function or loop became hot: wakes the monitor, maybe after a while.
    fn hot(&self) {
        self.wake();
    }

    /// The ring crossed its threshold; comes once until it is drained below.
    fn threshold(&self) {
        self.wake();
    }
}

/// What the producer keeps beside the LWPCB: nothing here is read back from memory the program can write.
struct Side {
    buffer: NonNull<AtomicU64>,
    size: u32,
    deferred: bool,
    wake_on_hot: bool,
    programmed: bool,
    /// What it was made with.
    interval1: u32,
    adapts: bool,
    /// EventInterval1 as the ring's latest `ValueRate` record says it, or `interval1`. The producer's.
    said_interval1: AtomicU32,
    fixed_core: bool,
    core_id: AtomicU32,
    /// The producer's head; the LWPCB holds the published one.
    head: AtomicU32,
    /// Deferred mode: the tail the producer read last, and stores since.
    seen_tail: AtomicU32,
    stores_since_tail: AtomicU32,
    random: AtomicU32,
    /// Records put into the ring or counted as missed.
    produced: AtomicU64,
    /// Records put into the ring; records taken out of it.
    stored: AtomicU64,
    drained: AtomicU64,
    /// Of records not drained, by their number: the registers that came with them.
    registers: Option<Mutex<VecDeque<(u64, Registers)>>>,
    /// The threshold wake-up is due once until `used` falls below the threshold again.
    armed: AtomicBool,
    flush_requested: AtomicU64,
    flushed: AtomicU64,
    closed: AtomicBool,
    producer_taken: AtomicBool,
    consumer_taken: AtomicBool,
    waker: Mutex<Option<Arc<dyn RingWaker>>>,
}

/// LWPCB first, so that generated code's pointer to it is also a pointer to the rest.
#[repr(C)]
pub(crate) struct RingCore {
    lwpcb: Lwpcb,
    side: Side,
}

/// Owns an LWPCB and its buffer; their addresses never change.
pub struct Ring {
    core: NonNull<RingCore>,
}

// SAFETY: everything reached through `core` and `Side::buffer` is an atomic, a Mutex or set once before the Ring is shared.
unsafe impl Send for Ring {}
// SAFETY: as for Send.
unsafe impl Sync for Ring {}

fn buffer_layout(size: u32) -> Layout {
    Layout::from_size_align(size as usize, 4096).expect("size is below 2^28")
}

impl Ring {
    /// Makes a ring, empty.
    pub fn new(config: &RingConfig) -> Result<Arc<Self>, RingError> {
        let size = config.buffer_bytes / RECORD_BYTES * RECORD_BYTES;
        if !(MIN_BUFFER_BYTES..=BUFFER_SIZE_MASK).contains(&size) {
            return Err(RingError::BufferSize { bytes: config.buffer_bytes });
        }
        for interval in [config.counter1.unwrap_or(0), config.interval1, config.interval2, config.interval3, config.interval4] {
            if interval > INTERVAL_MAX {
                return Err(RingError::Interval { interval });
            }
        }
        if config.random_bits > 15 {
            return Err(RingError::Random { bits: config.random_bits });
        }
        // SAFETY: the layout's size is not 0.
        let memory = unsafe { alloc_zeroed(buffer_layout(size)) };
        let Some(buffer) = NonNull::new(memory.cast::<AtomicU64>()) else { handle_alloc_error(buffer_layout(size)) };

        let lwpcb = Lwpcb::default();
        lwpcb.flags.store(config.flags.bits(), Ordering::Relaxed);
        lwpcb.buffer_size_random.store(size | u32::from(config.random_bits) << RANDOM_SHIFT, Ordering::Relaxed);
        lwpcb.buffer_base.store(memory as u64, Ordering::Relaxed);
        lwpcb.threshold.store(config.threshold_bytes / RECORD_BYTES * RECORD_BYTES, Ordering::Relaxed);
        lwpcb.events[0].interval.store(config.interval1, Ordering::Relaxed);
        lwpcb.events[0].counter.store(config.counter1.unwrap_or(config.interval1), Ordering::Relaxed);
        let start = config.start_bytes / RECORD_BYTES * RECORD_BYTES;
        let start = if start < size { start } else { 0 };
        lwpcb.buffer_head_offset.store(start, Ordering::Relaxed);
        lwpcb.buffer_tail_offset.store(start, Ordering::Relaxed);
        for (slot, interval) in [(1, config.interval2), (2, config.interval3), (3, config.interval4)] {
            lwpcb.events[slot].interval.store(interval, Ordering::Relaxed);
            lwpcb.events[slot].counter.store(interval, Ordering::Relaxed);
        }
        lwpcb.filters.store(config.filters.bits(), Ordering::Relaxed);
        let side = Side {
            buffer,
            size,
            deferred: config.deferred,
            wake_on_hot: config.wake_on_hot,
            programmed: config.programmed,
            interval1: config.interval1,
            adapts: config.adapts,
            said_interval1: AtomicU32::new(config.interval1),
            fixed_core: config.core_id.is_some(),
            core_id: AtomicU32::new(config.core_id.unwrap_or_else(current_core).into()),
            head: AtomicU32::new(start),
            seen_tail: AtomicU32::new(start),
            stores_since_tail: AtomicU32::new(0),
            random: AtomicU32::new(config.seed.max(1)),
            produced: AtomicU64::new(0),
            stored: AtomicU64::new(0),
            drained: AtomicU64::new(0),
            registers: config.registers.then(Mutex::default),
            armed: AtomicBool::new(true),
            flush_requested: AtomicU64::new(0),
            flushed: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            producer_taken: AtomicBool::new(false),
            consumer_taken: AtomicBool::new(false),
            waker: Mutex::new(None),
        };
        let core = NonNull::from(Box::leak(Box::new(RingCore { lwpcb, side })));
        Ok(Arc::new(Self { core }))
    }

    fn core(&self) -> &RingCore {
        // SAFETY: `core` came from Box::leak and is freed only in Drop; only shared references to it exist.
        unsafe { self.core.as_ref() }
    }

    /// The LWPCB that compiled code decrements and passes to [`store_value_sample`] and [`store_programmed`]. Valid while the `Ring`
    /// lives. Only one thread at a time may run code that uses it.
    pub fn lwpcb(&self) -> *mut Lwpcb {
        self.core.as_ptr().cast()
    }

    /// The LWPCB, to look at.
    pub fn control(&self) -> &Lwpcb {
        &self.core().lwpcb
    }

    /// Bytes of the buffer.
    pub fn buffer_bytes(&self) -> u32 {
        self.core().side.size
    }

    /// Bytes in use, as published.
    pub fn used_bytes(&self) -> u32 {
        let control = self.control();
        let head = control.buffer_head_offset.load(Ordering::Relaxed) % self.buffer_bytes();
        protocol::bytes_used(head, control.buffer_tail_offset.load(Ordering::Relaxed), self.buffer_bytes())
    }

    /// True where the published records reach a threshold that is set and in range.
    pub fn past_threshold(&self) -> bool {
        self.core().threshold().is_some_and(|threshold| self.used_bytes() >= threshold)
    }

    /// Records produced so far, missed ones included.
    pub fn produced(&self) -> u64 {
        self.core().side.produced.load(Ordering::Relaxed)
    }

    /// MissedEvents: records that found the ring full, or (continuous mode) that were overwritten before they were drained.
    pub fn missed(&self) -> u64 {
        self.control().missed_events.load(Ordering::Relaxed)
    }

    /// Changes EventInterval1; takes effect at the next reload. Larger values than 2^25 - 1 are taken as that.
    pub fn set_interval1(&self, interval: u32) {
        self.control().events[0].interval.store(interval.min(INTERVAL_MAX), Ordering::Relaxed);
    }

    /// The monitor found more than it wants (`many`): EventInterval1 is doubled; halved again, down to what it was made with, where it found few.
    pub fn adapt_interval1(&self, many: bool, few: bool) {
        if !self.core().side.adapts {
            return;
        }
        let slot = &self.control().events[0].interval;
        let (base, now) = (self.core().side.interval1, slot.load(Ordering::Relaxed));
        let next = match (many, few) {
            (true, _) => (now * 2 + 1).min(base.max(MOST_ADAPTED)),
            (false, true) if now > base => (now / 2).max(base),
            _ => return,
        };
        // Whoever programs another one meanwhile keeps it.
        let _ = slot.compare_exchange(now, next, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Changes the Flags dword.
    pub fn set_flags(&self, flags: Flags) {
        self.control().flags.store(flags.bits(), Ordering::Relaxed);
    }

    /// True in deferred mode.
    pub fn is_deferred(&self) -> bool {
        self.core().side.deferred
    }

    /// Publishes the producer's head (what SLWPCB's flush does). Called by the owning thread, at its poll when
    /// [`Self::flush_wanted`] says so, and before it ends.
    pub fn flush(&self) {
        let side = &self.core().side;
        let requested = side.flush_requested.load(Ordering::Acquire);
        self.control().buffer_head_offset.store(side.head.load(Ordering::Relaxed), Ordering::Release);
        side.flushed.store(requested, Ordering::Release);
    }

    /// True when the monitor asked for a flush that has not happened yet.
    pub fn flush_wanted(&self) -> bool {
        let side = &self.core().side;
        side.flush_requested.load(Ordering::Relaxed) != side.flushed.load(Ordering::Relaxed)
    }

    /// Records taken out of the ring so far: the number of the next one.
    pub(crate) fn drained(&self) -> u64 {
        self.core().side.drained.load(Ordering::Relaxed)
    }

    /// The registers that came with record `number`; those of older records are forgotten.
    pub(crate) fn take_registers(&self, number: u64) -> Option<Registers> {
        let mut kept = self.core().side.registers.as_ref()?.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        while kept.front().is_some_and(|&(of, _)| of < number) {
            kept.pop_front();
        }
        kept.pop_front_if(|&mut (of, _)| of == number).map(|(_, registers)| registers)
    }

    /// Asks the owning thread for a flush numbered `sequence`.
    pub(crate) fn request_flush(&self, sequence: u64) {
        self.core().side.flush_requested.store(sequence, Ordering::Release);
    }

    /// Number of the newest request that a flush answered.
    pub(crate) fn flushed_sequence(&self) -> u64 {
        self.core().side.flushed.load(Ordering::Acquire)
    }

    /// The owning thread writes no more; the monitor drains what is left and drops the ring. (It also does so when it holds the last
    /// reference.)
    pub fn close(&self) {
        self.flush();
        self.core().side.closed.store(true, Ordering::Release);
    }

    /// True after [`Self::close`].
    pub fn is_closed(&self) -> bool {
        self.core().side.closed.load(Ordering::Acquire)
    }

    /// Takes CoreId from the CPU this thread runs on; called by the owning thread at a burst's start.
    pub fn refresh_core_id(&self) {
        self.core().refresh_core_id();
    }

    /// Sets whom threshold and hot records wake.
    pub fn set_waker(&self, waker: Option<Arc<dyn RingWaker>>) {
        *self.core().side.waker.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = waker;
    }

    /// The producer's handle, for code in Rust; `None` while another one exists.
    pub fn producer(self: &Arc<Self>) -> Option<RingProducer> {
        let taken = self.core().side.producer_taken.swap(true, Ordering::AcqRel);
        (!taken).then(|| RingProducer { ring: self.clone(), not_sync: std::marker::PhantomData })
    }

    /// The consumer's handle; `None` while another one exists.
    pub fn consumer(self: &Arc<Self>) -> Option<RingConsumer> {
        let taken = self.core().side.consumer_taken.swap(true, Ordering::AcqRel);
        (!taken).then(|| {
            let tail = self.control().buffer_tail_offset.load(Ordering::Relaxed);
            let tail = if tail < self.buffer_bytes() { tail / RECORD_BYTES * RECORD_BYTES } else { 0 };
            RingConsumer { ring: self.clone(), tail }
        })
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let (buffer, size) = (self.core().side.buffer, self.core().side.size);
        // SAFETY: allocated in `new` with this layout; no consumer or producer handle is left, for each holds an Arc of this ring.
        unsafe { dealloc(buffer.as_ptr().cast(), buffer_layout(size)) };
        // SAFETY: came from Box::leak in `new`.
        drop(unsafe { Box::from_raw(self.core.as_ptr()) });
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring")
            .field("buffer_bytes", &self.buffer_bytes())
            .field("used_bytes", &self.used_bytes())
            .field("produced", &self.produced())
            .field("missed", &self.missed())
            .finish_non_exhaustive()
    }
}

fn current_core() -> u8 {
    // SAFETY: sched_getcpu has no preconditions.
    let cpu = unsafe { libc::sched_getcpu() };
    cpu as u8
}

/// The processor's time stamp counter.
pub fn time_stamp() -> u64 {
    // SAFETY: RDTSC exists on every x86-64.
    unsafe { std::arch::x86_64::_rdtsc() }
}

impl RingMemory for RingCore {
    fn size(&self) -> u32 {
        self.side.size
    }

    fn head_acquire(&self) -> u32 {
        self.lwpcb.buffer_head_offset.load(Ordering::Acquire)
    }

    fn set_head_release(&self, head: u32) {
        self.lwpcb.buffer_head_offset.store(head, Ordering::Release);
    }

    fn tail_for_producer(&self, next: u32) -> u32 {
        let side = &self.side;
        if side.deferred {
            let seen = side.seen_tail.load(Ordering::Relaxed);
            let stores = side.stores_since_tail.load(Ordering::Relaxed) + 1;
            let used = protocol::bytes_used(next, seen, side.size);
            let threshold = self.threshold().unwrap_or(u32::MAX);
            if next != seen && used < threshold && stores < DEFERRED_TAIL_PERIOD && protocol::is_offset(seen, side.size) {
                side.stores_since_tail.store(stores, Ordering::Relaxed);
                return seen;
            }
            side.stores_since_tail.store(0, Ordering::Relaxed);
        }
        let tail = self.lwpcb.buffer_tail_offset.load(Ordering::Acquire);
        side.seen_tail.store(tail, Ordering::Relaxed);
        tail
    }

    fn tail(&self) -> u32 {
        self.lwpcb.buffer_tail_offset.load(Ordering::Relaxed)
    }

    fn set_tail_release(&self, tail: u32) {
        self.lwpcb.buffer_tail_offset.store(tail, Ordering::Release);
    }

    fn write_slot(&self, offset: u32, words: [u64; 4]) {
        for (index, word) in words.into_iter().enumerate() {
            self.word(offset, index).store(word, Ordering::Relaxed);
        }
    }

    fn read_slot(&self, offset: u32) -> [u64; 4] {
        std::array::from_fn(|index| self.word(offset, index).load(Ordering::Relaxed))
    }

    fn count_missed(&self) {
        self.add_missed(1);
    }

    fn take_armed(&self) -> bool {
        self.side.armed.load(Ordering::Relaxed) && self.side.armed.swap(false, Ordering::AcqRel)
    }

    fn arm(&self) {
        self.side.armed.store(true, Ordering::Release);
    }

    fn fence(&self) {
        fence(Ordering::SeqCst);
    }
}

impl RingCore {
    #[inline]
    fn word(&self, offset: u32, index: usize) -> &AtomicU64 {
        debug_assert!(offset < self.side.size && offset.is_multiple_of(RECORD_BYTES) && index < 4);
        // SAFETY: the protocol keeps `offset` a multiple of 32 below `size` (invariant 4: it comes from the producer's own head or the
        // consumer's checked tail), the buffer has `size` bytes and is aligned, and lives as long as the core.
        unsafe { self.side.buffer.add(offset as usize / 8 + index).as_ref() }
    }

    fn refresh_core_id(&self) {
        if !self.side.fixed_core {
            self.side.core_id.store(current_core().into(), Ordering::Relaxed);
        }
    }

    fn flags(&self) -> Flags {
        Flags::from_bits_retain(self.lwpcb.flags.load(Ordering::Relaxed))
    }

    fn threshold(&self) -> Option<u32> {
        let threshold = self.lwpcb.threshold.load(Ordering::Relaxed);
        (threshold != 0 && threshold <= self.side.size).then_some(threshold)
    }

    fn record(&self, event: EventId, flags: Flags, ip: u64, imm16: u16, data1: u32, data2: u64) -> Record {
        let tsc = if flags.contains(Flags::PTSC) { time_stamp() } else { 0 };
        Record::new(event, self.side.core_id.load(Ordering::Relaxed) as u8, imm16, data1, ip, data2, tsc)
    }

    /// Stores a record and publishes head as the mode wants. True: stored; false: the ring was full.
    #[inline(always)]
    fn store(&self, record: &Record, flags: Flags) -> bool {
        let side = &self.side;
        side.produced.store(side.produced.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        match protocol::store(self, side.head.load(Ordering::Relaxed), record.words, flags.contains(Flags::CONT)) {
            Stored::Advanced { head, used } => {
                side.head.store(head, Ordering::Relaxed);
                side.stored.store(side.stored.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                if used == 0 {
                    // Continuous mode: head has caught up with tail, and all slots look empty.
                    self.add_missed((side.size / RECORD_BYTES).into());
                }
                let crossed = self.threshold().is_some_and(|threshold| used >= threshold);
                if !side.deferred || crossed {
                    self.set_head_release(head);
                }
                if crossed && flags.contains(Flags::INT) && protocol::crossing(self) {
                    self.wake(|waker| waker.threshold());
                }
                true
            }
            Stored::Missed => {
                self.set_head_release(side.head.load(Ordering::Relaxed));
                false
            }
        }
    }

    #[cold]
    fn wake(&self, how: fn(&dyn RingWaker)) {
        let waker = self.side.waker.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        if let Some(waker) = waker {
            how(&*waker);
        }
    }

    fn next_random(&self) -> u32 {
        // xorshift32 (Marsaglia 2003): never 0 from a seed that is not 0.
        let mut x = self.side.random.load(Ordering::Relaxed);
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        self.side.random.store(x, Ordering::Relaxed);
        x
    }

    /// LWPVAL.
    #[inline]
    fn count_value(&self, ip: u64, imm16: u16, data1: u32, data2: u64) {
        let counter = &self.lwpcb.events[0].counter;
        let left = counter.load(Ordering::Relaxed).wrapping_sub(1) & COUNTER_MASK;
        counter.store(left, Ordering::Relaxed);
        if left & COUNTER_SIGN_BIT != 0 {
            self.finish_value_sample(ip, imm16, data1, data2);
        }
    }

    /// The rest of an LWPVAL whose counter went negative.
    fn finish_value_sample(&self, ip: u64, imm16: u16, data1: u32, data2: u64) {
        let flags = self.flags();
        if flags.contains(Flags::VAL) {
            let record = self.record(EventId::VALUE, flags, ip, imm16, data1, data2);
            self.store(&record, flags);
        }
        let slot = &self.lwpcb.events[0];
        let random_bits = self.lwpcb.buffer_size_random.load(Ordering::Relaxed) >> RANDOM_SHIFT;
        let interval = slot.interval.load(Ordering::Relaxed);
        slot.counter.store(reloaded_counter(interval, random_bits, self.next_random()), Ordering::Relaxed);
        self.say_interval1(ip);
    }

    /// Whether the IP filter lets an event at this address count.
    fn passes_ip(&self, filters: Filters, ip: u64) -> bool {
        if !filters.contains(Filters::IPF) {
            return true;
        }
        let (base, limit) = (self.lwpcb.base_ip.load(Ordering::Relaxed), self.lwpcb.limit_ip.load(Ordering::Relaxed));
        (base..=limit).contains(&ip) != filters.contains(Filters::IPI)
    }

    fn filters(&self) -> Filters {
        Filters::from_bits_retain(self.lwpcb.filters.load(Ordering::Relaxed))
    }

    /// So many instructions retired. A block's are counted at once, so it may make several records due, at the same address, and what it counts beyond the
    /// last one is kept.
    fn count_instructions(&self, count: u32, ip: u64) {
        if !self.passes_ip(self.filters(), ip) {
            return;
        }
        let slot = &self.lwpcb.events[1];
        let left = i64::from(sign_extend_26(slot.counter.load(Ordering::Relaxed))) - i64::from(count);
        if left >= 0 {
            slot.counter.store(left as u32, Ordering::Relaxed);
            return;
        }
        let mut beyond = left.unsigned_abs() - 1;
        let flags = self.flags();
        let records = flags.contains(Flags::IRE);
        let interval = slot.interval.load(Ordering::Relaxed);
        let bits = self.lwpcb.buffer_size_random.load(Ordering::Relaxed) >> RANDOM_SHIFT;
        for _ in 0..self.side.size / RECORD_BYTES {
            if records {
                let record = self.record(EventId::INSTRUCTIONS, flags, ip, 0, 0, 0);
                self.store(&record, flags);
            }
            let next = u64::from(reloaded_counter(interval, bits, self.next_random()));
            if beyond <= next {
                slot.counter.store((next - beyond) as u32, Ordering::Relaxed);
                return;
            }
            beyond -= next + 1;
        }
        // More than the ring has room for.
        let period = u64::from(interval & INTERVAL_MAX) + 1;
        if records {
            self.lose(1 + beyond / period);
        }
        slot.counter.store((period - 1 - beyond % period) as u32, Ordering::Relaxed);
    }

    /// Records that are not stored, as many as are produced.
    fn lose(&self, records: u64) {
        let produced = &self.side.produced;
        produced.store(produced.load(Ordering::Relaxed) + records, Ordering::Relaxed);
        self.add_missed(records);
    }

    fn add_missed(&self, records: u64) {
        let missed = &self.lwpcb.missed_events;
        missed.store(missed.load(Ordering::Relaxed).wrapping_add(records), Ordering::Relaxed);
    }

    /// Where the monitor has changed EventInterval1 since the last time: says so in the ring, so that whoever counts knows what the records behind stand for.
    fn say_interval1(&self, ip: u64) {
        use crate::class::SiteClass;
        let interval = self.lwpcb.events[0].interval.load(Ordering::Relaxed);
        let said = self.side.said_interval1.load(Ordering::Relaxed);
        if self.side.adapts && interval != said && self.programmed(ip, SiteClass::ValueRate.imm16(0), said, interval.into()) {
            self.side.said_interval1.store(interval, Ordering::Relaxed);
        }
    }

    /// LWPINS. True: stored.
    fn programmed(&self, ip: u64, imm16: u16, data1: u32, data2: u64) -> bool {
        if !self.side.programmed {
            return true;
        }
        let flags = self.flags();
        let record = self.record(EventId::PROGRAMMED, flags, ip, imm16, data1, data2);
        let stored = self.store(&record, flags);
        if self.side.wake_on_hot
            && let Some(how) = wakes(imm16)
        {
            self.set_head_release(self.side.head.load(Ordering::Relaxed));
            self.wake(how);
        }
        stored || flags.contains(Flags::CONT)
    }
}

/// How an LWPINS record of this imm16 gets the monitor's attention, if it does.
fn wakes(imm16: u16) -> Option<fn(&dyn RingWaker)> {
    use crate::class::SiteClass;
    match SiteClass::from_imm16(imm16)? {
        (SiteClass::HotFunction | SiteClass::HotLoop, _) => Some(|waker| waker.hot()),
        // A burst's end makes room for the next one, which has credit or does not begin.
        (SiteClass::BurstEnd, _) => Some(|waker| waker.wake()),
        _ => None,
    }
}

/// The producing end, for code in Rust. Generated code uses [`Ring::lwpcb`] instead.
#[derive(Debug)]
pub struct RingProducer {
    ring: Arc<Ring>,
    not_sync: std::marker::PhantomData<std::cell::Cell<()>>,
}

impl RingProducer {
    /// The ring.
    pub fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    /// LWPVAL: counts, and stores a record when the counter goes negative.
    #[inline]
    pub fn value(&mut self, ip: u64, imm16: u16, data1: u32, data2: u64) {
        self.ring.core().count_value(ip, imm16, data1, data2);
    }

    /// LWPINS: stores a record. Returns CF: true when the ring was full.
    pub fn programmed(&mut self, ip: u64, imm16: u16, data1: u32, data2: u64) -> bool {
        !self.ring.core().programmed(ip, imm16, data1, data2)
    }

    /// What records of this ring carry as CoreId.
    pub fn core_id(&self) -> u8 {
        self.ring.core().side.core_id.load(Ordering::Relaxed) as u8
    }

    /// Adds to MissedEvents: events that a source in front of this ring has lost.
    pub fn count_missed(&mut self, count: u64) {
        self.ring.core().add_missed(count);
    }

    /// Stores a record as it is, from a source of its own. True: stored; false: the ring was full and it was counted as missed.
    #[inline]
    pub fn store(&mut self, record: &Record) -> bool {
        let core = self.ring.core();
        core.store(record, core.flags())
    }
}

impl Drop for RingProducer {
    fn drop(&mut self) {
        self.ring.flush();
        self.ring.core().side.producer_taken.store(false, Ordering::Release);
    }
}

/// The consuming end.
#[derive(Debug)]
pub struct RingConsumer {
    ring: Arc<Ring>,
    tail: u32,
}

impl RingConsumer {
    /// The ring.
    pub fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    /// Hands up to `max` published records to `sink`, oldest first, and frees their slots. Returns how many. Where the producer meanwhile brought the
    /// ring to its threshold again, which no crossing announces, it goes on: only after `max` records may the ring be left at its threshold.
    #[inline]
    pub fn drain(&mut self, max: usize, mut sink: impl FnMut(&Record)) -> usize {
        let core = self.ring.core();
        let (mut total, mut empty) = (0, 0);
        loop {
            let (tail, count) = protocol::drain(core, self.tail, max - total, |words| sink(&Record { words }));
            self.tail = tail;
            total += count;
            let drained = &core.side.drained;
            drained.store(drained.load(Ordering::Relaxed) + count as u64, Ordering::Relaxed);
            // Also where nothing is there: the records of the crossing that disarmed it may have been drained before it did.
            if core.side.armed.load(Ordering::Relaxed) || !protocol::rearm(core, self.tail, core.threshold().unwrap_or(u32::MAX)) {
                return total;
            }
            // (a head that is no offset of the ring yields nothing however often it is asked)
            empty += usize::from(count == 0);
            if total == max || empty > 1 {
                return total;
            }
        }
    }

    /// Published records not drained yet.
    pub fn len(&self) -> usize {
        (self.ring.used_bytes() / RECORD_BYTES) as usize
    }

    /// True when nothing is published.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Drop for RingConsumer {
    fn drop(&mut self) {
        self.ring.core().side.consumer_taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
