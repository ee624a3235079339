//! The kernel's performance events as a source: samples of `perf_event_open`, turned into LWP records.
//!
//! What is used depends on the machine ([`choose`]), per event:
//!
//! | event | AMD with IBS | Intel with PEBS | any other PMU |
//! |---|---|---|---|
//! | 3 branch | `ibs_op`: every branch that was tagged, with its target, taken and mispredicted | `branch-misses`, precise | `branch-misses` |
//! | 4 DCache miss | `ibs_op`: loads that missed, with latency, source and address | `mem-loads` above a latency threshold, with address and source | `cache-misses` |
//! | 5 core clocks | `task-clock` (software) everywhere | | |
//! | 6 reference clocks | `cpu-clock` (software) everywhere | | |
//!
//! One [`ThreadEvents`] a thread. The monitor's thread drains it ([`ThreadEvents::drain`]): it is the consumer of the kernel's buffers and the producer of the LWP
//! ring. What the kernel lost (PERF_RECORD_LOST) goes into MissedEvents. A sampled address may be some instructions late: everything from here has provenance
//! `hardware(skid)`.

mod attributes;
mod buffer;
mod ibs;
mod memory;
mod sample;
mod time;

use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::eventset::EventSet;
use crate::layout::{EventId, Filters, Flags, Record};
use crate::record::OUTCOME_UNKNOWN;
use crate::ring::{Ring, RingConfig, RingProducer};

pub use attributes::{Chosen, Kind, choose, named};
use buffer::Buffer;
use sample::Parsed;
use time::Moment;

/// Whether there are hardware events, and which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerfInfo {
    /// A hardware event can be opened.
    pub available: bool,
    /// Why not: the errno of `perf_event_open` for cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errno: Option<i32>,
    /// `/proc/sys/kernel/perf_event_paranoid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paranoid: Option<i32>,
    /// What would be sampled, by the kernel's names, hardware first.
    pub events: Vec<String>,
    /// One line: what works, or what is missing and what to do.
    pub detail: String,
}

/// Looks what this machine and its settings allow.
pub fn info() -> PerfInfo {
    let paranoid = paranoid();
    let error = attributes::open_cycles().err();
    let chosen = choose(EventSet::ALL);
    let events: Vec<String> = chosen.iter().map(|it| it.name.clone()).collect();
    let errno = error.as_ref().and_then(io::Error::raw_os_error);
    let detail = match &error {
        None => format!("samples of {} become records, hardware(skid)", events.join(", ")),
        Some(error) if events.is_empty() => format!("{}; nothing can be sampled", missing(error, paranoid)),
        Some(error) => format!("{}; software events only: {}", missing(error, paranoid), events.join(", ")),
    };
    PerfInfo { available: error.is_none(), errno, paranoid, events, detail }
}

/// How much the kernel forbids: `/proc/sys/kernel/perf_event_paranoid`.
fn paranoid() -> Option<i32> {
    std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok().and_then(|text| text.trim().parse().ok())
}

/// Most that leaves a program its own events.
const OWN_EVENTS: i32 = 2;

/// Why there is no hardware event, and what to do, in one line.
fn missing(error: &io::Error, paranoid: Option<i32>) -> String {
    let setting = paranoid.map_or("unknown".into(), |level| level.to_string());
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) if paranoid.is_some_and(|level| level <= OWN_EVENTS) => {
            format!(
                "not allowed, though perf_event_paranoid is {setting}: a sandbox (a container's seccomp filter) takes perf_event_open away"
            )
        }
        Some(libc::EACCES | libc::EPERM) => {
            format!(
                "not allowed (perf_event_paranoid is {setting}): set it to 2 or lower (`sysctl kernel.perf_event_paranoid=2`) or run with CAP_PERFMON"
            )
        }
        Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => {
            "no PMU here (a virtual machine's is switched on by its host): run on bare metal, or in a guest that has one".into()
        }
        Some(libc::ENOSYS) => "this kernel has no perf events (CONFIG_PERF_EVENTS), or a sandbox takes the call away".into(),
        Some(libc::EMFILE | libc::ENFILE) => "too many open files: raise `ulimit -n`".into(),
        _ => format!("perf_event_open: {error}"),
    }
}

/// An open event of a thread.
struct Open {
    chosen: Chosen,
    buffer: Buffer,
}

/// What was sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PerfCounts {
    /// Samples read.
    pub samples: u64,
    /// Records made of them.
    pub records: u64,
    /// Samples that the kernel lost; they are in MissedEvents too.
    pub lost: u64,
    /// Samples that say nothing of an event that is recorded (an op that is no branch and missed nothing).
    pub other: u64,
    /// Samples of which no sense could be made.
    pub damaged: u64,
}

impl PerfCounts {
    /// Adds another thread's.
    pub fn add(&mut self, other: PerfCounts) {
        self.samples += other.samples;
        self.records += other.records;
        self.lost += other.lost;
        self.other += other.other;
        self.damaged += other.damaged;
    }
}

/// The events of one thread, and the ring that their records go to.
pub struct ThreadEvents {
    open: Vec<Open>,
    /// Before any was opened.
    began: Moment,
    producer: RingProducer,
    counts: PerfCounts,
}

impl ThreadEvents {
    /// Opens what [`choose`] says on this thread. `attach` hands the ring to a monitor.
    ///
    /// # Errors
    /// None of the events could be opened: the last one's error, with what to do.
    pub fn start(events: EventSet, attach: impl FnOnce(Arc<Ring>)) -> io::Result<ThreadEvents> {
        let (chosen, refused) = attributes::try_choose(events);
        ThreadEvents::start_or(chosen, refused, attach)
    }

    /// The same with events chosen by the caller.
    ///
    /// # Errors
    /// As [`ThreadEvents::start`].
    pub fn start_chosen(chosen: Vec<Chosen>, attach: impl FnOnce(Arc<Ring>)) -> io::Result<ThreadEvents> {
        ThreadEvents::start_or(chosen, None, attach)
    }

    /// The same; `error` is why there are not more of them.
    fn start_or(chosen: Vec<Chosen>, mut error: Option<io::Error>, attach: impl FnOnce(Arc<Ring>)) -> io::Result<ThreadEvents> {
        let began = Moment::now();
        let mut open = Vec::new();
        for chosen in chosen {
            match Buffer::open(&chosen) {
                Ok(buffer) => open.push(Open { chosen, buffer }),
                Err(failed) => error = Some(failed),
            }
        }
        if open.is_empty() {
            let error = error.unwrap_or_else(|| io::Error::from_raw_os_error(libc::ENOENT));
            return Err(io::Error::new(error.kind(), missing(&error, paranoid())));
        }
        let flags = Flags::BRE | Flags::DME | Flags::CNH | Flags::RNH | Flags::PTSC | Flags::INT;
        let config = RingConfig { flags, filters: Filters::empty(), ..RingConfig::default() };
        let ring = Ring::new(&config).map_err(|error| io::Error::other(error.to_string()))?;
        let producer = ring.producer().expect("a fresh ring has no producer");
        attach(ring);
        Ok(ThreadEvents { open, began, producer, counts: PerfCounts::default() })
    }

    /// Names of the events that are open.
    pub fn names(&self) -> Vec<&str> {
        self.open.iter().map(|open| open.chosen.name.as_str()).collect()
    }

    /// Turns what was sampled since the last time into records.
    pub fn drain(&mut self) -> PerfCounts {
        let ThreadEvents { open, began, producer, counts } = self;
        let now = Moment::now();
        for Open { chosen, buffer } in open {
            buffer.read(|parsed| match parsed {
                Parsed::Sample(sample) => {
                    counts.samples += 1;
                    match convert(chosen, &sample, now.stamp_at(*began, sample.time)) {
                        Some(record) => {
                            producer.store(&record);
                            counts.records += 1;
                        }
                        None => counts.other += 1,
                    }
                }
                Parsed::Lost(lost) => {
                    counts.lost += lost;
                    producer.count_missed(lost);
                }
                Parsed::Damaged => counts.damaged += 1,
                Parsed::Other => {}
            });
        }
        *counts
    }

    /// What was sampled so far.
    pub fn counts(&self) -> PerfCounts {
        self.counts
    }

    /// The LWP ring.
    pub fn ring(&self) -> &Arc<Ring> {
        self.producer.ring()
    }
}

/// A sample as a record with that time stamp, or `None` where it is about no event that LWP has.
fn convert(chosen: &Chosen, sample: &sample::Sample<'_>, stamp: u64) -> Option<Record> {
    // Of code whose records carry return addresses the byte before is looked up.
    let at = |ip: u64| ip.wrapping_add(1);
    let core = sample.cpu as u8;
    let record = |event: EventId, flags: u16, data1: u32, ip: u64, data2: u64| Record::new(event, core, flags, data1, at(ip), data2, stamp);
    match chosen.kind {
        Kind::IbsOp => {
            let op = ibs::Op::parse(sample.raw)?;
            let ip = op.ip.unwrap_or(sample.ip);
            if op.is_branch && chosen.events.contains(EventId::BRANCHES) {
                return Some(record(EventId::BRANCHES, op.branch_flags(), 0, ip, op.target.unwrap_or(0)));
            }
            if !chosen.events.contains(EventId::DCACHE) {
                return None;
            }
            let miss = op.miss()?;
            Some(record(EventId::DCACHE, miss.flags(), miss.latency, ip, miss.address.unwrap_or(0)))
        }
        Kind::IbsFetch => None,
        Kind::MemLoads => {
            let miss = memory::miss(sample)?;
            Some(record(EventId::DCACHE, miss.flags(), miss.latency, sample.ip, miss.address.unwrap_or(0)))
        }
        // A branch that was mispredicted: PRV without PRD. Whether it was taken, where to, and how many were predicted is not said.
        Kind::BranchMisses => Some(record(EventId::BRANCHES, 1 << 13 | OUTCOME_UNKNOWN, 0, sample.ip, 0)),
        // A miss of unknown source, latency and address.
        Kind::CacheMisses => Some(record(EventId::DCACHE, 0, 0, sample.ip, 0)),
        // SRC 7, other: where the system had to bring the data. Only where it was asked for by name.
        Kind::PageFaults => Some(record(EventId::DCACHE, 7 << 13 | 1 << 12, 0, sample.ip, sample.address)),
        Kind::Clock(event) => Some(record(event, 0, 0, sample.ip, 0)),
    }
}

/// A load that missed the first cache.
struct Miss {
    /// SRC.
    source: u8,
    latency: u32,
    address: Option<u64>,
}

impl Miss {
    fn flags(&self) -> u16 {
        u16::from(self.source & 7) << 13 | u16::from(self.address.is_some()) << 12
    }
}

#[cfg(test)]
mod tests;
