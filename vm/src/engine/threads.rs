//! The rings of the threads that run wasm, and what each of them has beside its own: clocks, the kernel's events, a ring that the processor writes.

use super::{Engine, RecordSource, Shared, lock};
use crate::arena;
use lwp_feedback::layout::{EventId, Flags};
use lwp_feedback::native;
use lwp_feedback::ring::{Ring, RingConfig};
use lwp_feedback::sources::clock::ThreadClock;
use lwp_feedback::sources::perf::ThreadEvents;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, Weak};

thread_local! {
    /// This thread's ring for each engine it ran. Closed when the thread ends, so that the monitor drains and drops it.
    static RINGS: RefCell<Vec<ThreadRing>> = const { RefCell::new(Vec::new()) };
}

struct ThreadRing {
    engine: u64,
    shared: Weak<Shared>,
    ring: Arc<Ring>,
    /// Stops with the thread.
    _clock: Option<ThreadClock>,
    perf: Option<Arc<Mutex<ThreadEvents>>>,
    /// The ring that the processor writes.
    native: Option<Arc<Ring>>,
}

impl Drop for ThreadRing {
    fn drop(&mut self) {
        if let (Some(perf), Some(shared)) = (&self.perf, self.shared.upgrade()) {
            shared.end_perf(&mut lock(perf));
        }
        if let Some(native) = &self.native {
            // SAFETY: it was switched on by this thread, so it is available; this switches it off, which also writes what the processor still holds.
            unsafe { native::llwpcb(0) };
            native.close();
        }
        self.ring.close();
        if let Some(shared) = self.shared.upgrade() {
            shared.monitor.rouse();
        }
    }
}

impl Engine {
    /// The LWPCB of this thread for this engine, made at first use.
    pub(crate) fn thread_lwpcb(&self) -> *mut u8 {
        RINGS.with_borrow_mut(|rings| {
            if let Some(known) = rings.iter().find(|known| known.engine == self.0.shared.id) {
                return known.ring.lwpcb().cast();
            }
            rings.retain(|known| known.shared.strong_count() > 0);
            let seed = self.0.shared.config.ring.seed;
            let allowed = |ring: &RingConfig| {
                let events = self.0.shared.config.events;
                RingConfig { flags: events.mask(ring.flags | Flags::IRE), programmed: events.contains(EventId::PROGRAMMED), ..ring.clone() }
            };
            let ring = Ring::new(&allowed(&self.0.shared.config.ring))
                .unwrap_or_else(|_| Ring::new(&allowed(&RingConfig { seed, ..RingConfig::default() })).expect("the default ring is valid"));
            // Where nobody drains, a ring fills up and counts what it misses; the monitor would only keep it from being freed.
            if self.0.shared.watched() {
                self.0.shared.monitor.add_ring(ring.clone()).expect("a fresh ring has no consumer");
            }
            let lwpcb = ring.lwpcb().cast();
            let native = self.0.shared.start_native();
            let (clock, perf) = if self.0.shared.watched() { self.0.shared.start_sources() } else { (None, None) };
            rings.push(ThreadRing { engine: self.0.shared.id, shared: Arc::downgrade(&self.0.shared), ring, _clock: clock, perf, native });
            lwpcb
        })
    }

    /// This thread's ring for this engine, if it ran wasm: for tests that write records of their own.
    pub fn thread_ring(&self) -> Option<Arc<Ring>> {
        RINGS.with_borrow(|rings| rings.iter().find(|known| known.engine == self.0.shared.id).map(|known| known.ring.clone()))
    }
}

impl Shared {
    /// A ring that the processor writes, of this thread, where that is the source.
    fn start_native(&self) -> Option<Arc<Ring>> {
        if self.config.source != RecordSource::Native || !native::available() {
            return None;
        }
        let flags = self.config.events.mask(self.config.ring.flags) & !Flags::INT;
        let ring = Ring::new(&RingConfig { flags, ..self.config.ring.clone() }).ok()?;
        if self.watched() {
            self.monitor.add_ring(ring.clone()).expect("a fresh ring has no consumer");
        }
        // SAFETY: available; the ring lives until the thread switches it off.
        unsafe { native::llwpcb(ring.lwpcb() as u64) };
        Some(ring)
    }

    /// The clocks and the kernel's events that this thread is to have. What cannot be started is said once, in the log and in the report.
    fn start_sources(&self) -> (Option<ThreadClock>, Option<Arc<Mutex<ThreadEvents>>>) {
        let attach = |ring| _ = self.monitor.add_ring(ring).expect("a fresh ring has no consumer");
        let failed = |what: &str, error: std::io::Error| {
            tracing::warn!(%error, "{what} not started");
            lock(&self.perf_before).1 = Some(format!("{what}: {error}"));
        };
        let events = self.config.events;
        let perf = (self.config.source == RecordSource::Perf).then(|| ThreadEvents::start(events.with(EventId::REF_CLOCKS), attach));
        let perf = perf.and_then(|started| started.map_err(|error| failed("perf events", error)).ok());
        let perf = perf.map(|events| Arc::new(Mutex::new(events)));
        lock(&self.perf).extend(perf.iter().map(Arc::downgrade));
        // The kernel's samples have their own clocks.
        let wanted: Vec<EventId> =
            [EventId::CORE_CLOCKS, EventId::REF_CLOCKS].into_iter().filter(|&event| perf.is_none() && events.contains(event)).collect();
        let clock = (!wanted.is_empty())
            .then(|| ThreadClock::start(&wanted, self.config.clock_interval, arena::contains, self.clocks.clone(), attach))
            .and_then(|started| started.map_err(|error| failed("clocks", error)).ok());
        (clock, perf)
    }

    /// The monitor's tick: what the kernel sampled becomes records.
    pub(crate) fn drain_perf(&self) {
        let mut all = lock(&self.perf);
        all.retain(|events| {
            events.upgrade().is_some_and(|events| {
                lock(&events).drain();
                true
            })
        });
    }

    fn end_perf(&self, events: &mut ThreadEvents) {
        lock(&self.perf_before).0.add(events.drain());
        events.ring().close();
    }
}
