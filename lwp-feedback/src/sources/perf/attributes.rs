//! Which kernel events are sampled, and their `perf_event_attr`.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use perf_event_open_sys::bindings::{self, perf_event_attr};
use serde::Serialize;

use super::time::CLOCK;
use crate::eventset::EventSet;
use crate::layout::EventId;

/// Where PMUs say their numbers.
const DEVICES: &str = "/sys/bus/event_source/devices";
/// Samples a second wanted of clocks.
const CLOCK_HZ: u64 = 250;
/// Periods of hardware events: about a thousand samples a second of a program with a miss every 100 ns; IBS tags one op in this many. Guesses, untested on hardware.
const MISS_PERIOD: u64 = 10_007;
const IBS_PERIOD: u64 = 0x4_0000;
/// Loads faster than this many cycles are not sampled by PEBS: hits of the first cache take 5.
const LOAD_LATENCY: u64 = 8;

/// What a sample of the event means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Kind {
    /// An op that AMD's instruction based sampling tagged.
    IbsOp,
    /// A fetch that it tagged: opened where it is asked for by name; no LWP event is about fetches.
    IbsFetch,
    /// A load that took longer than a threshold (Intel, PEBS).
    MemLoads,
    /// A mispredicted branch.
    BranchMisses,
    /// A cache miss of any kind.
    CacheMisses,
    /// A page fault.
    PageFaults,
    /// A clock tick: event 5 or 6.
    Clock(EventId),
}

impl Kind {
    fn is_ibs(self) -> bool {
        matches!(self, Kind::IbsOp | Kind::IbsFetch)
    }
}

/// An event to be sampled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chosen {
    /// The kernel's name.
    pub name: String,
    /// What its samples mean.
    pub kind: Kind,
    /// The LWP events that may be made of them.
    pub events: EventSet,
    pub(super) pmu: u32,
    pub(super) config: u64,
    pub(super) config1: u64,
    pub(super) precise: u64,
    pub(super) period: u64,
}

/// The events that would be sampled here for these LWP events. What cannot be opened is left out.
pub fn choose(events: EventSet) -> Vec<Chosen> {
    try_choose(events).0
}

/// The same, with why the last one was left out, if one was.
pub(super) fn try_choose(events: EventSet) -> (Vec<Chosen>, Option<io::Error>) {
    let mut chosen = Vec::new();
    let refused = RefCell::new(None);
    let works = |it: &Chosen| match open(it, true) {
        Ok(_) => true,
        Err(error) => {
            refused.replace(Some(error));
            false
        }
    };
    let both = events.and(EventSet::NONE.with(EventId::BRANCHES).with(EventId::DCACHE));
    if both.wants_bursts() {
        if let Some(op) = ibs("ibs_op", Kind::IbsOp, both).filter(works) {
            chosen.push(op);
        } else {
            if events.contains(EventId::DCACHE) {
                chosen.extend([mem_loads(), generic("cache-misses")].into_iter().flatten().find(works));
            }
            if events.contains(EventId::BRANCHES) {
                let precise = generic("branch-misses").map(|it| Chosen { name: "branch-misses:pp".into(), precise: 2, ..it });
                chosen.extend([precise, generic("branch-misses")].into_iter().flatten().find(works));
            }
        }
    }
    for (event, name) in [(EventId::CORE_CLOCKS, "task-clock"), (EventId::REF_CLOCKS, "cpu-clock")] {
        if events.contains(event) {
            chosen.extend(generic(name).filter(works));
        }
    }
    (chosen, refused.into_inner())
}

/// An event by the kernel's name, whether it works here or not.
pub fn named(name: &str) -> Option<Chosen> {
    match name {
        "ibs_op" => ibs("ibs_op", Kind::IbsOp, EventSet::ALL),
        "ibs_fetch" => ibs("ibs_fetch", Kind::IbsFetch, EventSet::NONE),
        "mem-loads" => mem_loads(),
        _ => generic(name),
    }
}

fn generic(name: &str) -> Option<Chosen> {
    let only = |event: EventId| EventSet::NONE.with(event);
    let (hardware, software) = (bindings::PERF_TYPE_HARDWARE, bindings::PERF_TYPE_SOFTWARE);
    let (kind, events, pmu, config, period) = match name {
        "branch-misses" => (Kind::BranchMisses, only(EventId::BRANCHES), hardware, bindings::PERF_COUNT_HW_BRANCH_MISSES, MISS_PERIOD),
        "cache-misses" => (Kind::CacheMisses, only(EventId::DCACHE), hardware, bindings::PERF_COUNT_HW_CACHE_MISSES, MISS_PERIOD),
        "page-faults" => (Kind::PageFaults, only(EventId::DCACHE), software, bindings::PERF_COUNT_SW_PAGE_FAULTS, 1),
        // Nanoseconds.
        "task-clock" => (
            Kind::Clock(EventId::CORE_CLOCKS),
            only(EventId::CORE_CLOCKS),
            software,
            bindings::PERF_COUNT_SW_TASK_CLOCK,
            1_000_000_000 / CLOCK_HZ,
        ),
        "cpu-clock" => (
            Kind::Clock(EventId::REF_CLOCKS),
            only(EventId::REF_CLOCKS),
            software,
            bindings::PERF_COUNT_SW_CPU_CLOCK,
            1_000_000_000 / CLOCK_HZ,
        ),
        _ => return None,
    };
    Some(Chosen { name: name.into(), kind, events, pmu, config: config.into(), config1: 0, precise: 0, period })
}

fn device(name: &str, file: &str) -> Option<String> {
    fs::read_to_string(format!("{DEVICES}/{name}/{file}")).ok().map(|text| text.trim().to_owned())
}

fn ibs(name: &str, kind: Kind, events: EventSet) -> Option<Chosen> {
    let pmu = device(name, "type")?.parse().ok()?;
    Some(Chosen { name: name.into(), kind, events, pmu, config: 0, config1: 0, precise: 0, period: IBS_PERIOD })
}

/// Intel's load latency event; hybrid processors have it on the big cores.
fn mem_loads() -> Option<Chosen> {
    ["cpu", "cpu_core"].into_iter().find_map(|name| {
        let pmu = device(name, "type")?.parse().ok()?;
        let config = raw_config(&device(name, "events/mem-loads")?)?;
        let events = EventSet::NONE.with(EventId::DCACHE);
        Some(Chosen {
            name: "mem-loads".into(),
            kind: Kind::MemLoads,
            events,
            pmu,
            config,
            config1: LOAD_LATENCY,
            precise: 2,
            period: MISS_PERIOD,
        })
    })
}

/// `event=0xcd,umask=0x1,ldlat=3` as a raw configuration: event in bits 7:0, umask in 15:8.
pub(super) fn raw_config(text: &str) -> Option<u64> {
    let mut config = 0;
    for part in text.split(',') {
        let (key, value) = part.split_once('=')?;
        let value = u64::from_str_radix(value.trim().trim_start_matches("0x"), 16).ok()?;
        match key.trim() {
            "event" => config |= value & 0xff,
            "umask" => config |= (value & 0xff) << 8,
            // The threshold is ours.
            "ldlat" => {}
            _ => return None,
        }
    }
    (config != 0).then_some(config)
}

/// What is in each sample, in the order that it lies there (see `sample`).
pub(super) fn sample_type(kind: Kind) -> u64 {
    let mut fields = bindings::PERF_SAMPLE_IP
        | bindings::PERF_SAMPLE_TID
        | bindings::PERF_SAMPLE_TIME
        | bindings::PERF_SAMPLE_ADDR
        | bindings::PERF_SAMPLE_CPU;
    match kind {
        Kind::IbsOp | Kind::IbsFetch => fields |= bindings::PERF_SAMPLE_RAW,
        Kind::MemLoads => fields |= bindings::PERF_SAMPLE_WEIGHT | bindings::PERF_SAMPLE_DATA_SRC,
        _ => {}
    }
    u64::from(fields)
}

fn attributes(it: &Chosen, count_only: bool) -> perf_event_attr {
    let mut attr =
        perf_event_attr { type_: it.pmu, size: size_of::<perf_event_attr>() as u32, config: it.config, ..perf_event_attr::default() };
    attr.__bindgen_anon_3.config1 = it.config1;
    attr.set_disabled(1);
    // IBS cannot leave the kernel out itself: see `open`.
    let whole = it.kind.is_ibs();
    attr.__bindgen_anon_4.config2 = u64::from(whole);
    attr.set_exclude_kernel(1);
    attr.set_exclude_hv(u64::from(!whole));
    attr.set_precise_ip(it.precise);
    if !count_only {
        attr.__bindgen_anon_1.sample_period = it.period;
        attr.sample_type = sample_type(it.kind);
        attr.set_use_clockid(1);
        attr.clockid = CLOCK;
    } else if whole || it.precise > 0 {
        // These only sample.
        attr.__bindgen_anon_1.sample_period = it.period;
    }
    attr
}

/// Opens an event on this thread, switched off.
pub(super) fn open(it: &Chosen, count_only: bool) -> io::Result<OwnedFd> {
    let mut attr = attributes(it, count_only);
    match open_attr(attr) {
        // IBS samples whatever runs. Linux leaves the kernel's samples out where bit 0 of config2 (`swfilt`) asks for it, from 6.14 on; before, it knows no such bit and takes
        // no exclusion, so what it samples of the kernel comes too, where that is allowed: no code of ours has such addresses.
        Err(error) if it.kind.is_ibs() && error.raw_os_error() == Some(libc::EINVAL) => {
            attr.__bindgen_anon_4.config2 = 0;
            attr.set_exclude_kernel(0);
            open_attr(attr)
        }
        opened => opened,
    }
}

fn open_attr(mut attr: perf_event_attr) -> io::Result<OwnedFd> {
    // SAFETY: a live, whole structure of the size that it names; this thread, any processor, no group.
    let fd = unsafe { perf_event_open_sys::perf_event_open(&mut attr, 0, -1, -1, bindings::PERF_FLAG_FD_CLOEXEC.into()) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just opened, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Whether a hardware event can be opened at all.
pub(super) fn open_cycles() -> io::Result<()> {
    let mut attr =
        perf_event_attr { type_: bindings::PERF_TYPE_HARDWARE, size: size_of::<perf_event_attr>() as u32, ..perf_event_attr::default() };
    attr.config = bindings::PERF_COUNT_HW_CPU_CYCLES.into();
    attr.set_disabled(1);
    attr.set_exclude_kernel(1);
    attr.set_exclude_hv(1);
    open_attr(attr).map(drop)
}
