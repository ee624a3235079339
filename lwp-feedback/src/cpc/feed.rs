//! A source in software: counters that a program, or the monitor of a running instance, adds to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::{CpcError, Invalid};
use super::set::{Request, RequestKind};
use super::source::{Caps, CounterSource, ItemTable, Programmed, Reading, SampleRecord, Target};
use crate::codemap::Resolved;
use crate::layout::{EventId, Record};
use crate::monitor::{Haste, Hot, Listener, PollSummary, RingId};
use crate::pebs::{PebsRecord, Register};
use crate::record::Typed;

/// Items of LWP records.
pub const LWP_ITEMS: ItemTable = ItemTable {
    names: &["pc", "dlina", "lat", "dsrc", "event", "flags", "data1", "data2", "tsc"],
    generic: [Some(0), Some(1), Some(2), Some(3)],
};

/// Items of PEBS records: the generic ones are the RIP, data linear address, latency and data source of the enhanced format.
pub const PEBS_ITEMS: ItemTable = ItemTable {
    names: &[
        "rflags", "rip", "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
        "status", "dlina", "dsrc", "lat",
    ],
    generic: [Some(1), Some(19), Some(21), Some(20)],
};

/// An event of a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedEvent {
    /// Name.
    pub name: String,
    /// Bits of its counter, 1 to 64.
    pub width: u32,
    /// Samples can be pushed.
    pub samples: bool,
}

/// The source. Clones feed the same counters. Thread-bound sets see what any thread feeds: the counters are those of an instance.
#[derive(Clone)]
pub struct Feed {
    shared: Arc<Mutex<Shared>>,
    items: ItemTable,
    overflow_detected: bool,
}

#[derive(Default)]
struct Shared {
    events: Vec<(FeedEvent, u64)>,
    clocks: u64,
    collectors: Vec<Collector>,
    next_collector: u64,
}

/// Records on their way to one sampling request of a bound set.
struct Collector {
    id: u64,
    event: usize,
    room: usize,
    records: Vec<SampleRecord>,
    dropped: u64,
}

impl Feed {
    /// A feed with no events. Without `overflow_detected` its counters do not tell when they wrap.
    pub fn new(items: ItemTable, overflow_detected: bool) -> Self {
        Self { shared: Arc::default(), items, overflow_detected }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event, or changes its counter.
    pub fn define(&self, event: FeedEvent) {
        let mut shared = self.lock();
        match shared.events.iter_mut().find(|(known, _)| known.name == event.name) {
            Some((known, _)) => *known = event,
            None => shared.events.push((event, 0)),
        }
    }

    /// An event occurred `occurrences` times. False when there is none of that name.
    pub fn count(&self, event: &str, occurrences: u64) -> bool {
        let mut shared = self.lock();
        let found = shared.events.iter_mut().find(|(known, _)| known.name == event);
        found.map(|(_, total)| *total = total.wrapping_add(occurrences)).is_some()
    }

    /// Core clocks passed.
    pub fn clocks(&self, clocks: u64) {
        self.lock().clocks += clocks;
    }

    /// A sample of an event. False when no such event takes samples.
    pub fn sample(&self, event: &str, record: &SampleRecord) -> bool {
        let mut shared = self.lock();
        let Some(index) = shared.events.iter().position(|(known, _)| known.name == event && known.samples) else { return false };
        for collector in shared.collectors.iter_mut().filter(|collector| collector.event == index) {
            if collector.records.len() < collector.room {
                collector.records.push(record.clone());
            } else {
                collector.dropped += 1;
            }
        }
        true
    }

    /// Samples that found no room since their sets were bound.
    pub fn dropped(&self) -> u64 {
        self.lock().collectors.iter().map(|collector| collector.dropped).sum()
    }
}

impl CounterSource for Feed {
    fn caps(&self) -> Caps {
        let mut caps = Caps::SAMPLING;
        caps.set(Caps::OVERFLOW_DETECTED, self.overflow_detected);
        caps
    }

    fn items(&self) -> ItemTable {
        self.items
    }

    fn check(&self, request: &Request) -> Result<(), CpcError> {
        let shared = self.lock();
        let (event, _) = shared.events.iter().find(|(event, _)| event.name == request.event).ok_or(Invalid::NoEvent)?;
        match request.kind {
            RequestKind::Sampling { .. } if !event.samples => Err(CpcError::NotSupported),
            _ => Ok(()),
        }
    }

    fn program(&self, requests: &[Request], _target: Target) -> Result<Box<dyn Programmed>, CpcError> {
        let mut shared = self.lock();
        let mut slots = Vec::with_capacity(requests.len());
        for request in requests {
            let index = shared.events.iter().position(|(event, _)| event.name == request.event).ok_or(Invalid::NoEvent)?;
            slots.push(match request.kind {
                RequestKind::Counting => Slot::Counter { event: index, start: shared.events[index].1 },
                RequestKind::Sampling { max_records } => {
                    let id = shared.next_collector;
                    shared.next_collector += 1;
                    shared.collectors.push(Collector { id, event: index, room: max_records, records: Vec::new(), dropped: 0 });
                    Slot::Collector(id)
                }
            });
        }
        let clocks_at_start = shared.clocks;
        drop(shared);
        Ok(Box::new(FeedCounters { feed: self.clone(), slots, clocks_at_start }))
    }
}

enum Slot {
    Counter { event: usize, start: u64 },
    Collector(u64),
}

struct FeedCounters {
    feed: Feed,
    slots: Vec<Slot>,
    clocks_at_start: u64,
}

impl Programmed for FeedCounters {
    fn read(&mut self, request: usize) -> Result<Reading, CpcError> {
        let Slot::Counter { event, start } = self.slots[request] else { return Err(Invalid::NotCounting(request).into()) };
        let shared = self.feed.lock();
        let (FeedEvent { width, .. }, total) = &shared.events[event];
        let (width, counted) = (*width, total.wrapping_sub(start));
        let raw = if width >= 64 { counted } else { counted & ((1 << width) - 1) };
        let wraps = if width >= 64 { 0 } else { counted >> width };
        Ok(Reading { raw, width, wraps: self.feed.overflow_detected.then_some(wraps) })
    }

    fn take_samples(&mut self, request: usize, into: &mut Vec<SampleRecord>) {
        let Slot::Collector(id) = self.slots[request] else { return };
        let mut shared = self.feed.lock();
        if let Some(collector) = shared.collectors.iter_mut().find(|collector| collector.id == id) {
            into.append(&mut collector.records);
        }
    }

    fn clocks(&mut self) -> u64 {
        self.feed.lock().clocks - self.clocks_at_start
    }
}

impl Drop for FeedCounters {
    fn drop(&mut self) {
        let ids: Vec<u64> = self.slots.iter().filter_map(|slot| if let Slot::Collector(id) = slot { Some(*id) } else { None }).collect();
        self.feed.lock().collectors.retain(|collector| !ids.contains(&collector.id));
    }
}

/// A sample of an LWP record.
pub fn lwp_sample(record: &Record) -> SampleRecord {
    let (address, latency, source) = match record.typed() {
        Typed::Dcache(miss) => (miss.data_address(), Some(miss.latency().into()), Some(u64::from(record.flags() >> 13))),
        _ => (None, None, None),
    };
    let tsc = (record.tsc() != 0).then_some(record.tsc());
    SampleRecord::new(&[
        Some(record.address()),
        address,
        latency,
        source,
        Some(record.event_id().0.into()),
        Some(record.flags().into()),
        Some(record.data1().into()),
        Some(record.data2()),
        tsc,
    ])
}

/// A sample of a PEBS record.
pub fn pebs_sample(record: &PebsRecord) -> SampleRecord {
    let registers = Register::ALL.into_iter().map(|register| record.registers.get(register));
    let enhanced = record
        .enhanced
        .map_or([None; 4], |enhanced| [enhanced.status, enhanced.data_address, enhanced.data_source.0, enhanced.latency].map(Some));
    SampleRecord::new(&registers.chain(enhanced).collect::<Vec<_>>())
}

/// The events of a running instance: a monitor's listener that counts and samples each record under its event's name (`lwpval`, `branch`,
/// `dcache-miss`, …), and what rings missed as `missed`.
pub struct LwpCounts {
    feed: Feed,
    inner: Box<dyn Listener>,
}

impl LwpCounts {
    /// Passes everything on to `inner`. Events are counts of records, 64 bits wide: an interval is not multiplied in.
    pub fn new(inner: Box<dyn Listener>) -> Self {
        let feed = Feed::new(LWP_ITEMS, true);
        let ids = [
            EventId::VALUE,
            EventId::INSTRUCTIONS,
            EventId::BRANCHES,
            EventId::DCACHE,
            EventId::CORE_CLOCKS,
            EventId::REF_CLOCKS,
            EventId::PROGRAMMED,
        ];
        for name in ids.into_iter().filter_map(EventId::name) {
            feed.define(FeedEvent { name: name.to_owned(), width: 64, samples: true });
        }
        feed.define(FeedEvent { name: "missed".to_owned(), width: 64, samples: false });
        Self { feed, inner }
    }

    /// The source to open.
    pub fn source(&self) -> Feed {
        self.feed.clone()
    }
}

impl Listener for LwpCounts {
    fn hot(&mut self, event: &Hot) {
        self.inner.hot(event);
    }

    fn wants_records(&self) -> bool {
        true
    }

    fn record(&mut self, ring: RingId, record: &Record, resolved: Option<&Resolved>) {
        if let Some(name) = record.event_id().name() {
            self.feed.count(name, 1);
            self.feed.sample(name, &lwp_sample(record));
        }
        if self.inner.wants_records() {
            self.inner.record(ring, record, resolved);
        }
    }

    fn missed(&mut self, ring: RingId, count: u64) {
        self.feed.count("missed", count);
        self.inner.missed(ring, count);
    }

    fn polled(&mut self, summary: &PollSummary) {
        self.inner.polled(summary);
    }

    fn tick(&mut self, summary: &PollSummary) {
        self.inner.tick(summary);
    }

    fn haste(&self) -> Haste {
        self.inner.haste()
    }
}
