//! Sample bytes of IBS and PEBS here are *built* from the kernel's documented layouts: this machine has neither. Software events are real.

use std::io;
use std::time::Duration;

use super::attributes::{Chosen, Kind, named, raw_config, sample_type};
use super::buffer::walk;
use super::ibs::{self, CAPS_BRANCH_TARGET, CAPS_RIP_INVALID, CAPS_ZEN4, Op, op_data, op_data3};
use super::sample::{Parsed, Sample, parse};
use super::*;
use crate::record::{DataSource, Typed};
use crate::ring::time_stamp;
use perf_event_open_sys::bindings::{PERF_RECORD_LOST, PERF_RECORD_SAMPLE};

/// Built: the raw data of an IBS op sample.
fn ibs_raw(caps: u32, registers: [u64; 8]) -> Vec<u8> {
    caps.to_le_bytes().into_iter().chain(registers.into_iter().flat_map(u64::to_le_bytes)).collect()
}

fn chosen(kind: Kind) -> Chosen {
    Chosen { name: "built".into(), kind, events: EventSet::ALL, pmu: 0, config: 0, config1: 0, precise: 0, period: 1 }
}

/// Built: a record of the kernel's with its head.
fn record(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend(2u16.to_le_bytes());
    bytes.extend(((body.len() + 8) as u16).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// Built: the fields of a sample in the kernel's order.
fn fields(ip: u64, address: u64, cpu: u32, tail: &[u8]) -> Vec<u8> {
    let mut body = ip.to_le_bytes().to_vec();
    body.extend([7u32, 8].into_iter().flat_map(u32::to_le_bytes));
    body.extend(99u64.to_le_bytes());
    body.extend(address.to_le_bytes());
    body.extend([cpu, 0].into_iter().flat_map(u32::to_le_bytes));
    body.extend(tail);
    body
}

#[test]
fn an_ibs_branch_becomes_event_3() {
    let data = op_data::BRANCH | op_data::TAKEN | op_data::MISPREDICTED | op_data::FUSED;
    let raw = ibs_raw(CAPS_BRANCH_TARGET | CAPS_RIP_INVALID, [0, 0x1000, data, 0, 0, 0, 0, 0x2000]);
    let mut tail = (raw.len() as u32).to_le_bytes().to_vec();
    tail.extend(&raw);
    let body = fields(0x1004, 0, 3, &tail);
    let Parsed::Sample(sample) = parse(PERF_RECORD_SAMPLE, 0, &body, sample_type(Kind::IbsOp)) else { panic!() };
    assert_eq!((sample.ip, sample.tid, sample.time, sample.cpu), (0x1004, 8, 99, 3));
    let record = convert(&chosen(Kind::IbsOp), &sample, 77).unwrap();
    let Typed::Branch(branch) = record.typed() else { panic!("{record}") };
    assert_eq!((branch.taken(), branch.predicted(), branch.prediction_valid(), branch.fused()), (true, false, true, true));
    // The op's own address, not where the interrupt found the thread.
    assert_eq!((branch.address(), branch.target(), record.core_id(), record.tsc()), (0x1001, 0x2000, 3, 77));
    // Predicted, not taken; an address that is not valid is the interrupt's.
    let raw = ibs_raw(CAPS_RIP_INVALID, [0, 0x1000, op_data::BRANCH | op_data::RIP_INVALID, 0, 0, 0, 0, 0]);
    let record = convert(&chosen(Kind::IbsOp), &Sample { ip: 0x3000, raw: &raw, ..Sample::default() }, 77).unwrap();
    let Typed::Branch(branch) = record.typed() else { panic!("{record}") };
    assert_eq!((branch.taken(), branch.predicted(), branch.address(), branch.target()), (false, true, 0x3001, 0));
}

#[test]
fn an_ibs_load_becomes_event_4_where_it_missed() {
    let load = |caps: u32, data2: u64, data3: u64| {
        let raw = ibs_raw(caps, [0, 0x1000, 0, data2, data3 | 333 << op_data3::LATENCY_SHIFT, 0x7000, 0, 0]);
        convert(&chosen(Kind::IbsOp), &Sample { raw: &raw, ..Sample::default() }, 77)
    };
    let miss = op_data3::LOAD | op_data3::DC_MISS | op_data3::LINEAR_VALID;
    let record = load(0, 3, miss).unwrap();
    let Typed::Dcache(view) = record.typed() else { panic!("{record}") };
    assert_eq!((view.source(), view.latency(), view.data_address()), (DataSource::Dram, 333, Some(0x7000)));
    let source = |caps: u32, data2: u64| {
        let record = load(caps, data2, miss).unwrap();
        let Typed::Dcache(view) = record.typed() else { panic!("{record}") };
        view.source()
    };
    assert_eq!(source(0, 2), DataSource::LocalL3);
    assert_eq!(
        (source(CAPS_ZEN4, 1), source(CAPS_ZEN4, 2), source(CAPS_ZEN4, 1 << 6)),
        (DataSource::LocalL3, DataSource::Remote, DataSource::Dram)
    );
    assert_eq!(source(CAPS_ZEN4, 0), DataSource::NoStatus);
    assert_eq!(load(0, 3, op_data3::LOAD), None, "a hit");
    assert_eq!(load(0, 3, op_data3::DC_MISS), None, "a store");
    assert_eq!(load(0, 3, miss | op_data3::SOFTWARE_PREFETCH), None, "a prefetch");
    assert!(Op::parse(&ibs_raw(0, [0; 8])[..20]).is_none(), "cut off");
    assert!(ibs::Op::parse(&[]).is_none());
}

#[test]
fn a_pebs_load_becomes_event_4() {
    // Built: mem_op is load, level in bits 5 to 18.
    let source = |level: u64| 2 | level << 5;
    let sample = |level: u64| {
        let mut tail = 777u64.to_le_bytes().to_vec();
        tail.extend(source(level).to_le_bytes());
        let body = fields(0x1000, 0x8000, 1, &tail);
        let Parsed::Sample(sample) = parse(PERF_RECORD_SAMPLE, 0, &body, sample_type(Kind::MemLoads)) else { panic!() };
        let record = convert(&chosen(Kind::MemLoads), &sample, 77)?;
        let Typed::Dcache(view) = record.typed() else { panic!("{record}") };
        Some((view.source(), view.latency(), view.data_address()))
    };
    let hit = 2;
    assert_eq!(sample(hit | 0x80), Some((DataSource::Dram, 777, Some(0x8000))));
    assert_eq!(sample(hit | 0x40), Some((DataSource::LocalL3, 777, Some(0x8000))));
    assert_eq!(sample(hit | 0x100), Some((DataSource::Remote, 777, Some(0x8000))));
    assert_eq!(sample(hit | 0x20), Some((DataSource::NoStatus, 777, Some(0x8000))));
    assert_eq!(sample(hit | 8), None, "L1");
    assert_eq!(raw_config("event=0xcd,umask=0x1,ldlat=3"), Some(0x1cd));
    assert_eq!(raw_config("event=0xcd,frontend=0x1"), None);
}

#[test]
fn records_that_wrap_are_lost_or_damaged() {
    let mut stream = Vec::new();
    stream.extend(record(PERF_RECORD_SAMPLE, &fields(0x10, 0, 0, &[])));
    let second = stream.len() as u64;
    let mut lost = 1u64.to_le_bytes().to_vec();
    lost.extend(5u64.to_le_bytes());
    stream.extend(record(PERF_RECORD_LOST, &lost));
    stream.extend(record(PERF_RECORD_SAMPLE, &fields(0x20, 0, 0, &[])));
    // The stream lies in a ring of 128 bytes so that it wraps in a record.
    let base = 100u64;
    let mut data = vec![0; 128];
    assert!(stream.len() <= data.len());
    for (at, &byte) in stream.iter().enumerate() {
        let at = (base as usize + at) % data.len();
        data[at] = byte;
    }
    let all = |tail: u64, head: u64| {
        let (mut seen, mut whole) = (Vec::new(), Vec::new());
        walk(&data, tail, head, &mut whole, |kind, misc, body| {
            seen.push(match parse(kind, misc, body, sample_type(Kind::BranchMisses)) {
                Parsed::Sample(sample) => format!("{:#x}", sample.ip),
                Parsed::Lost(count) => format!("lost {count}"),
                Parsed::Damaged => "damaged".into(),
                Parsed::Other => "other".into(),
            });
        });
        seen
    };
    let head = base + stream.len() as u64;
    assert_eq!(all(base, head), ["0x10", "lost 5", "0x20"]);
    assert_eq!(all(base + second, head), ["lost 5", "0x20"]);
    assert_eq!(all(base, base + 4), [""; 0]);
    assert_eq!(all(base, base + 20), ["damaged"], "cut off");
    assert_eq!(all(base, base + 4096), ["damaged"], "more than the buffer holds");
}

#[test]
fn what_is_missing_is_said_in_one_line_with_what_to_do() {
    for errno in [libc::ENOENT, libc::EACCES, libc::ENOSYS, libc::EMFILE, libc::EIO] {
        let line = missing(&io::Error::from_raw_os_error(errno), Some(4));
        assert!(!line.is_empty() && !line.contains('\n'), "{line}");
    }
    let denied = |level| missing(&io::Error::from_raw_os_error(libc::EACCES), level);
    assert!(denied(Some(4)).contains("perf_event_paranoid is 4") && denied(Some(4)).contains("set it to 2"));
    assert!(denied(None).contains("set it to 2"));
    for level in [2, 1, -1] {
        assert!(denied(Some(level)).contains("sandbox") && !denied(Some(level)).contains("set it"), "{}", denied(Some(level)));
    }
    // What made the choice empty is what is said.
    let refused = || Some(io::Error::from_raw_os_error(libc::EACCES));
    let error = ThreadEvents::start_or(Vec::new(), refused(), |_| ()).err().unwrap();
    assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::PermissionDenied, denied(paranoid())));
    let info = info();
    assert!(!info.events.is_empty() || info.detail.ends_with("nothing can be sampled"), "{info:?}");
    assert_eq!(info.available, info.errno.is_none());
    assert!(info.available || info.events.iter().all(|name| name.ends_with("-clock")), "{info:?}");
    assert!(named("ibs_nothing").is_none() && named("cpu-clock").is_some());
}

/// Touches memory that was never touched: each page faults once. It stays mapped, so that nothing else gets the range.
fn touch_pages(pages: usize) -> u64 {
    // SAFETY: a new private mapping.
    let at = unsafe {
        libc::mmap(std::ptr::null_mut(), pages * 4096, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    };
    assert_ne!(at, libc::MAP_FAILED);
    // SAFETY: the mapping just made; no huge pages, so that each page is one fault.
    unsafe { libc::madvise(at, pages * 4096, libc::MADV_NOHUGEPAGE) };
    for page in 0..pages {
        // SAFETY: inside the mapping.
        unsafe { at.cast::<u8>().add(page * 4096).write_volatile(1) };
    }
    at as u64
}

/// What a loop of LWPVALs leaves in a ring.
fn lwp_records() -> Vec<(u16, u64)> {
    let ring = Ring::new(&RingConfig { interval1: 63, random_bits: 4, buffer_bytes: 1 << 20, ..RingConfig::default() }).unwrap();
    let (mut producer, mut consumer) = (ring.producer().unwrap(), ring.consumer().unwrap());
    (0..200_000u64).for_each(|value| producer.value(0x10 + value % 4, (value % 4) as u16, 0, value));
    let mut records = Vec::new();
    consumer.drain(usize::MAX, |record| records.push((record.flags(), record.data2())));
    records
}

/// Page faults of the address range, seen by perf while `work` runs.
fn faults_during(work: impl FnOnce()) -> Option<(usize, PerfCounts)> {
    let mut consumer = None;
    let page_faults = vec![named("page-faults").unwrap()];
    // A sandbox may take the call away: then there is nothing to compare.
    let mut events = ThreadEvents::start_chosen(page_faults, |ring| consumer = ring.consumer()).ok()?;
    let begin = touch_pages(100);
    work();
    let counts = events.drain();
    let mut there = 0;
    consumer.unwrap().drain(usize::MAX, |record| {
        let Typed::Dcache(view) = record.typed() else { panic!("{record}") };
        assert_eq!(view.source(), DataSource::Other);
        there += usize::from(view.data_address().is_some_and(|address| (begin..begin + 100 * 4096).contains(&address)));
    });
    // SAFETY: the mapping that `touch_pages` made, which nobody uses any more.
    unsafe { libc::munmap(begin as *mut libc::c_void, 100 * 4096) };
    Some((there, counts))
}

#[test]
fn lwp_and_perf_leave_each_other_unchanged() {
    let alone = lwp_records();
    let Some((perf_alone, _)) = faults_during(|| ()) else { return };
    let mut together = Vec::new();
    let (perf_together, counts) = faults_during(|| together = lwp_records()).unwrap();
    assert_eq!(together, alone, "records of LWP");
    // The second time the range may lie elsewhere; each of its pages faults once, in both.
    assert_eq!((perf_alone, perf_together), (100, 100), "{counts:?}");
    assert_eq!((counts.lost, counts.damaged), (0, 0));
}

#[test]
fn clocks_are_sampled_with_addresses() {
    let mut consumer = None;
    let set = EventSet::NONE.with(EventId::CORE_CLOCKS).with(EventId::REF_CLOCKS);
    let Ok(mut events) = ThreadEvents::start(set, |ring| consumer = ring.consumer()) else { return };
    let mut sum = 0u64;
    while events.drain().records < 4 {
        sum = (0..1_000_000u64).fold(sum, |sum, value| std::hint::black_box(sum ^ value));
    }
    std::hint::black_box(sum);
    // What was sampled meanwhile is as old as it is, not as the drain.
    let mut of_thread = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let mut burnt = || {
        // SAFETY: `of_thread` is live.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut of_thread) };
        Duration::new(of_thread.tv_sec as u64, of_thread.tv_nsec as u32)
    };
    let (from, until) = (time_stamp(), burnt() + Duration::from_millis(40));
    while burnt() < until {
        (0..1_000u64).for_each(|value| _ = std::hint::black_box(value));
    }
    let (to, before) = (time_stamp(), events.counts().records as usize);
    events.drain();
    let mut stamps = Vec::new();
    consumer.unwrap().drain(usize::MAX, |record| {
        assert!(matches!(record.typed(), Typed::CoreClocks(_) | Typed::RefClocks(_)) && record.address() > 1, "{record}");
        stamps.push(record.tsc());
    });
    assert_eq!(stamps.len() as u64, events.counts().records);
    // Ten ticks of each clock: the first are of the first half.
    assert!(stamps[before..].iter().any(|&stamp| stamp < from + (to - from) / 2), "{from} to {to}: {stamps:?}");
}
