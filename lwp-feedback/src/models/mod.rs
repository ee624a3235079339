//! The same run through each interface: what LWP, PEBS, a plain performance interrupt and counter sets would have delivered of it.
//!
//! In: events, which are what the run's sites reported: those of a record file ([`Stream`]), or live ones, where the monitor has a [`Delivery`]
//! before its profile. Out: what reaches the profile, and what that cost ([`Counts`]). Everything here is *modelled* from the events, and nothing is a
//! random number: the same file gives the same result.
//!
//! | model | what reaches the profile |
//! |---|---|
//! | lwp | one event in `period`, by the unit's own countdown, through a ring that is polled every `poll_ticks` or woken at half full |
//! | pebs | loads through PEBS, one in `period`; taken branches and call targets through an interrupting BTS buffer. Values of no branch, and branches not taken, have no place in either |
//! | pmi | one event in `period` raises the poll flag; the sample is the address of the thread's *next poll* ([`SiteClass::Poll`] records, which the engine writes where it is asked to); an overflow while the flag is up is lost |
//! | cpc | every `poll_ticks` the count since the last time goes to the function that runs then |

mod counters;
mod interrupt;
mod pebs;
mod rings;

use std::collections::BTreeMap;
use std::io::Read;

use serde::Serialize;

use crate::class::SiteClass;
use crate::codemap::{CodeMap, Resolved};
use crate::layout::{EventId, Record};
use crate::pebs::Registers;
use crate::profile::{Profile, ProfileLimits};
use crate::recordfile::{Chunk, RecordFileError, RecordReader};

/// An interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Rings.
    Lwp,
    /// Precise sampling and branch trace.
    Pebs,
    /// Performance interrupts.
    Pmi,
    /// Counter sets.
    Cpc,
}

impl Model {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Lwp, Self::Pebs, Self::Pmi, Self::Cpc];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lwp => "lwp",
            Self::Pebs => "pebs",
            Self::Pmi => "pmi",
            Self::Cpc => "cpc",
        }
    }
}

/// How the models sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Events for a sample, 2 to 2^30.
    pub period: u32,
    /// Ticks of the records' time stamps between two polls, or two readings of the counters.
    pub poll_ticks: u64,
}

impl Sampling {
    /// What a model takes of it: twice the period is still a countdown's.
    fn bounded(self) -> Self {
        Self { period: self.period.clamp(2, 1 << 30), poll_ticks: self.poll_ticks.max(1) }
    }
}

/// An event of the run, where it happened.
#[derive(Clone, Debug)]
pub struct Event {
    /// The thread's ring.
    pub ring: u64,
    /// The record.
    pub record: Record,
    /// Its site.
    pub site: Resolved,
    /// What the probe's stub saved; record files have none.
    pub registers: Option<Box<Registers>>,
}

/// The events of a run, in the order they were drained.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// Events with a site, and the polls between them; other LWPINS records, which ask for code, are not events.
    pub events: Vec<Event>,
    /// Records the run itself had missed.
    pub missed: u64,
}

impl Stream {
    /// Reads a record file, up to the damage if there is any.
    pub fn read(input: impl Read) -> Result<Self, RecordFileError> {
        let code = CodeMap::new();
        let mut stream = Self::default();
        for chunk in RecordReader::new(input)? {
            match chunk {
                Err(_) => break,
                Ok(Chunk::Note(_)) => {}
                Ok(Chunk::Missed { count, .. }) => stream.missed = stream.missed.saturating_add(count),
                Ok(Chunk::Gone(range)) => code.forget(&range),
                Ok(Chunk::Code(range, entry)) => {
                    code.forget(&range);
                    code.insert(range, (*entry).clone()).expect("the range is free, and the reader checked it");
                }
                Ok(Chunk::Records { ring, records }) => {
                    let events = records.into_iter().filter(|record| record.event_id() != EventId::PROGRAMMED || is_poll(record));
                    stream.events.extend(
                        events.filter_map(|record| Some(Event { ring, record, site: code.resolve(record.address())?, registers: None })),
                    );
                }
            }
        }
        Ok(stream)
    }
}

impl Stream {
    /// Its events without the polls.
    pub fn event_count(&self) -> usize {
        self.events.iter().filter(|event| !event.is_poll()).count()
    }
}

impl Event {
    /// Whether it only says that the thread polled.
    pub fn is_poll(&self) -> bool {
        is_poll(&self.record)
    }
}

/// How far samples were from the events they stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skid {
    /// Samples in the function and at the offset of their event.
    pub same_site: u64,
    /// Samples elsewhere in the function.
    pub same_function: u64,
    /// Samples in another function.
    pub other_function: u64,
    /// Ticks between event and sample, all together.
    pub ticks: u64,
}

/// What a model did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Records that reached the profile.
    pub records: u64,
    /// Records that were due and found no room.
    pub lost: u64,
    /// Events that the interface cannot express.
    pub unseen: u64,
    /// Times that the consumer was woken or interrupted.
    pub wake_ups: u64,
    /// Precise records that hold registers, beside their address, that a probe's stub saved.
    pub with_registers: u64,
    /// Of the performance interrupt.
    pub skid: Skid,
}

/// Where delivered records go.
pub type Sink<'a> = &'a mut dyn FnMut(&Resolved, &Record);

/// A model at work.
pub trait Delivery: Send {
    /// An event happened: what reaches the profile by it goes to the sink.
    fn event(&mut self, event: &Event, counts: &mut Counts, sink: Sink<'_>);

    /// The thread polled, for the first time since its last event.
    fn poll(&mut self, _event: &Event, _counts: &mut Counts, _sink: Sink<'_>) {}

    /// No more events: what is still under way goes to the sink.
    fn finish(&mut self, counts: &mut Counts, sink: Sink<'_>);
}

/// A model, ready for events.
pub fn delivery(model: Model, sampling: Sampling) -> Box<dyn Delivery> {
    let sampling = sampling.bounded();
    match model {
        Model::Lwp => Box::new(rings::Rings::new(sampling)),
        Model::Pebs => Box::new(pebs::DebugStores::new(sampling)),
        Model::Pmi => Box::new(interrupt::Interrupts::new(sampling)),
        Model::Cpc => Box::new(counters::CounterSets::new(sampling)),
    }
}

/// What a model delivered of a stream.
pub struct Delivered {
    /// The profile.
    pub profile: Profile,
    /// What it did.
    pub counts: Counts,
    tally: Tally,
}

impl Delivered {
    fn new() -> Self {
        Self { profile: Profile::new(ProfileLimits::default()), counts: Counts::default(), tally: Tally::default() }
    }

    /// Overlap with another's distribution over functions, and over sites with what happened there: 1 is the same.
    pub fn overlap(&self, full: &Self) -> (f64, f64) {
        (overlap(&self.tally.functions, &full.tally.functions), overlap(&self.tally.sites, &full.tally.sites))
    }
}

/// (function, offset, event, class or status bits, value or outcome).
type SiteKey = (u64, u32, u32, u8, u16, u64);

#[derive(Default)]
struct Tally {
    functions: BTreeMap<(u64, u32), u64>,
    sites: BTreeMap<SiteKey, u64>,
}

impl Tally {
    fn add(&mut self, site: &Resolved, record: &Record) {
        let (module, func) = (site.function.module, site.function.func);
        *self.functions.entry((module, func)).or_default() += 1;
        let event = record.event_id();
        // A tick says that the function ran, nothing of a site.
        if event == EventId::INSTRUCTIONS {
            return;
        }
        const TAKEN: u16 = 1 << 15;
        let (flags, value) = match event {
            EventId::VALUE => (record.flags(), record.data2()),
            EventId::BRANCHES => (record.flags() & TAKEN, 0),
            _ => (0, 0),
        };
        *self.sites.entry((module, func, site.wasm_offset, event.0, flags, value)).or_default() += 1;
    }
}

/// Sum of the smaller shares.
fn overlap<K: Ord>(a: &BTreeMap<K, u64>, b: &BTreeMap<K, u64>) -> f64 {
    let total = |map: &BTreeMap<K, u64>| map.values().sum::<u64>().max(1) as f64;
    let (of_a, of_b) = (total(a), total(b));
    let shared = |(key, count): (&K, &u64)| (*count as f64 / of_a).min(b.get(key).map_or(0.0, |other| *other as f64 / of_b));
    a.iter().map(shared).fold(0.0, |sum, share| sum + share)
}

/// Everything: what the models are compared with.
pub fn full(stream: &Stream) -> Delivered {
    let Delivered { profile, mut counts, mut tally } = Delivered::new();
    for event in stream.events.iter().filter(|event| !event.is_poll()) {
        profile.apply(&event.site, &event.record);
        tally.add(&event.site, &event.record);
        counts.records += 1;
    }
    Delivered { profile, counts, tally }
}

/// What a model delivers of the stream.
pub fn deliver(model: Model, stream: &Stream, sampling: Sampling) -> Delivered {
    let Delivered { profile, mut counts, mut tally } = Delivered::new();
    let mut records = 0;
    let mut sink = |site: &Resolved, record: &Record| {
        profile.apply(site, record);
        tally.add(site, record);
        records += 1;
    };
    let mut delivery = delivery(model, sampling);
    for event in &stream.events {
        if event.is_poll() {
            delivery.poll(event, &mut counts, &mut sink);
        } else {
            delivery.event(event, &mut counts, &mut sink);
        }
    }
    delivery.finish(&mut counts, &mut sink);
    counts.records = records;
    Delivered { profile, counts, tally }
}

/// Whether the record only says that the thread polled.
pub(crate) fn is_poll(record: &Record) -> bool {
    record.event_id() == EventId::PROGRAMMED && matches!(SiteClass::from_imm16(record.flags()), Some((SiteClass::Poll, _)))
}

/// Whether the record says where a call or jump went.
fn is_call_target(record: &Record) -> bool {
    record.event_id() == EventId::VALUE && matches!(SiteClass::from_imm16(record.flags()), Some((SiteClass::CallTarget, _)))
}

#[cfg(test)]
mod tests;
