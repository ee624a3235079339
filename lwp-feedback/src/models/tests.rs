use std::sync::Arc;

use super::*;
use crate::codemap::{CodeEntry, FunctionId, Tier};
use crate::recordfile::RecordWriter;

const MODULE: u64 = 7;
const SAMPLING: Sampling = Sampling { period: 4, poll_ticks: 1_000 };

/// Two functions of 0x100 bytes at 0x1000 and 0x2000, each code offset its own wasm offset.
fn stream(records: &[Record]) -> Stream {
    let mut writer = RecordWriter::new(Vec::new()).unwrap();
    for func in 1..3u64 {
        let offsets: Vec<(u32, u32)> = (0..0x100).map(|offset| (offset, offset)).collect();
        let entry = CodeEntry::new(FunctionId { module: MODULE, func: func as u32 }, 1, Tier::Baseline, Arc::from(offsets));
        writer.write(&Chunk::Code(func * 0x1000..func * 0x1000 + 0x100, Arc::new(entry))).unwrap();
    }
    writer.write(&Chunk::Records { ring: 0, records: records.to_vec() }).unwrap();
    Stream::read(&writer.finish().unwrap()[..]).unwrap()
}

fn call(ip: u64, target: u64, tsc: u64) -> Record {
    Record::new(EventId::VALUE, 0, SiteClass::CallTarget.imm16(0), 0, ip, target, tsc)
}

fn miss(ip: u64, tsc: u64) -> Record {
    Record::new(EventId::DCACHE, 0, 3 << 13 | 1 << 12, 200, ip, 0x9_0000, tsc)
}

fn branch(ip: u64, taken: bool, tsc: u64) -> Record {
    Record::new(EventId::BRANCHES, 0, u16::from(taken) << 15 | 1 << 13, 0, ip, ip + 9, tsc)
}

/// Three quarters of the work in function 1.
fn mixed(count: u64) -> Stream {
    let records: Vec<Record> = (0..count)
        .map(|at| {
            let ip = if at % 4 == 3 { 0x2000 } else { 0x1000 };
            match at % 3 {
                0 => call(ip + 0x10, 2 + at % 2, at * 10),
                1 => miss(ip + 0x20, at * 10),
                _ => branch(ip + 0x30, at % 2 == 0, at * 10),
            }
        })
        .collect();
    stream(&records)
}

fn same(a: &Delivered, b: &Delivered) -> bool {
    a.counts == b.counts && a.profile.snapshot(MODULE) == b.profile.snapshot(MODULE)
}

#[test]
fn the_same_stream_gives_the_same_result() {
    let stream = mixed(3_000);
    for model in Model::ALL {
        assert!(same(&deliver(model, &stream, SAMPLING), &deliver(model, &stream, SAMPLING)), "{}", model.name());
    }
    let all = full(&stream);
    assert_eq!((all.counts.records, all.overlap(&all)), (3_000, (1.0, 1.0)));
}

#[test]
fn lwp_samples_at_its_period_and_keeps_sites() {
    let stream = mixed(12_000);
    let lwp = deliver(Model::Lwp, &stream, SAMPLING);
    assert!((2_400..3_900).contains(&lwp.counts.records), "{} of 12000 at a period of 4", lwp.counts.records);
    assert_eq!((lwp.counts.lost, lwp.counts.unseen), (0, 0));
    let (functions, sites) = lwp.overlap(&full(&stream));
    assert!(functions > 0.9 && sites > 0.8, "{functions} {sites}");
}

#[test]
fn lwp_samples_every_kind_at_the_same_rate() {
    let records: Vec<Record> =
        (0..60_000).map(|at| if at % 2 == 0 { call(0x1010, 2, at * 10) } else { branch(0x1030, true, at * 10) }).collect();
    let stream = stream(&records);
    for period in [2, 3, 60, 100, 127] {
        let lwp = deliver(Model::Lwp, &stream, Sampling { period, poll_ticks: 1_000 });
        let function = lwp.profile.snapshot(MODULE).functions.remove(0);
        for count in [function.sites[0].total, function.branches[0].taken] {
            let expected = 30_000.0 / f64::from(period);
            // Four standard deviations of such a countdown's number of samples, and more.
            assert!((count as f64 - expected).abs() < 4.0 * expected.sqrt(), "period {period}: {count}, {expected} expected");
        }
    }
}

#[test]
fn no_period_is_too_long_for_a_countdown() {
    for (asked, period) in [(0, 2), (64, 64), (1 << 31, 1 << 30), (u32::MAX, 1 << 30)] {
        let bounded = Sampling { period: asked, poll_ticks: 0 }.bounded();
        assert_eq!(bounded, Sampling { period, poll_ticks: 1 });
        let mut lane = rings::Lane::new(bounded, 0);
        assert!((0..1000).all(|_| (1..2 * period).contains(&lane.reload(period))));
    }
}

#[test]
fn lwp_loses_what_no_poll_comes_for() {
    // All at one moment: no poll, only the half-full wake-up, which drains in time.
    let records: Vec<Record> = (0..100_000).map(|_| call(0x1010, 2, 0)).collect();
    let lwp = deliver(Model::Lwp, &stream(&records), Sampling { period: 2, poll_ticks: u64::MAX });
    assert_eq!(lwp.counts.lost, 0);
    assert!(lwp.counts.wake_ups > 10, "{}", lwp.counts.wake_ups);
}

#[test]
fn pebs_traces_every_call_and_samples_loads() {
    let records: Vec<Record> = (0..2_000).map(|at| if at % 2 == 0 { call(0x1010, 2 + at % 4, at) } else { miss(0x1020, at) }).collect();
    let pebs = deliver(Model::Pebs, &stream(&records), SAMPLING);
    assert_eq!((pebs.counts.lost, pebs.counts.unseen), (0, 0));
    let snapshot = pebs.profile.snapshot(MODULE);
    let site = &snapshot.functions[0].sites[0];
    assert_eq!((site.total, site.values.len()), (1_000, 2), "the branch trace has each call and its target");
    assert_eq!(snapshot.functions[0].loads[0].count(), 1_000 / 4);
    assert_eq!(pebs.counts.records, 1_000 + 250);
    assert!(pebs.counts.wake_ups > 0);
}

#[test]
fn pebs_has_no_place_for_values_and_branches_not_taken() {
    let value = Record::new(EventId::VALUE, 0, SiteClass::Param.imm16(0), 0, 0x1040, 9, 0);
    let pebs = deliver(Model::Pebs, &stream(&[branch(0x1030, false, 0), branch(0x1030, true, 1), value]), SAMPLING);
    assert_eq!((pebs.counts.records, pebs.counts.unseen), (1, 2));
    let branches = &pebs.profile.snapshot(MODULE).functions[0].branches;
    assert_eq!((branches[0].taken, branches[0].not_taken, branches[0].mispredicted), (1, 0, 1));
}

fn poll(ip: u64, offset: u32, tsc: u64) -> Record {
    Record::new(EventId::PROGRAMMED, 0, SiteClass::Poll.imm16(0), offset, ip, 0, tsc)
}

#[test]
fn a_pmi_is_seen_at_the_next_poll() {
    let records: Vec<Record> = (0..800)
        .flat_map(|at| {
            let mut step = vec![call(0x1010, 2, at * 5)];
            match at % 8 {
                // Each fourth event overflows. Behind one of two the loop at 0x80 polls, behind the other a call of function 2 does.
                3 => step.push(poll(0x1000, 0x80, at * 5 + 2)),
                7 => step.push(poll(0x2000, u32::MAX, at * 5 + 4)),
                // A poll that nobody asked for is no sample.
                5 => step.push(poll(0x2000, u32::MAX, at * 5)),
                _ => {}
            }
            step
        })
        .collect();
    let stream = stream(&records);
    assert_eq!(stream.event_count(), 800);
    let pmi = deliver(Model::Pmi, &stream, SAMPLING);
    assert_eq!((pmi.counts.records, pmi.counts.wake_ups, pmi.counts.lost), (200, 200, 0));
    assert_eq!(pmi.counts.skid, Skid { same_site: 0, same_function: 100, other_function: 100, ticks: 100 * 2 + 100 * 4 });
    let snapshot = pmi.profile.snapshot(MODULE);
    assert_eq!(snapshot.functions.iter().map(|function| (function.func, function.records)).collect::<Vec<_>>(), [(1, 100), (2, 100)]);
    assert!(snapshot.functions.iter().all(|function| function.sites.is_empty()), "only an address is known");
    assert_eq!(full(&stream).counts.records, 800, "polls are no events");
}

#[test]
fn overflows_behind_which_nobody_polls_are_one_interrupt() {
    let mut records: Vec<Record> = (0..40).map(|at| call(0x1010, 2, at)).collect();
    records.push(poll(0x1000, 0x80, 100));
    records.extend((0..4).map(|at| call(0x1010, 2, 200 + at)));
    let pmi = deliver(Model::Pmi, &stream(&records), SAMPLING);
    assert_eq!((pmi.counts.records, pmi.counts.lost), (1, 9 + 1));
}

#[test]
fn cpc_gives_the_count_to_whoever_runs() {
    let records: Vec<Record> = (0..100).map(|at| call(if at % 10 == 9 { 0x2010 } else { 0x1010 }, 2, at * 10)).collect();
    let cpc = deliver(Model::Cpc, &stream(&records), Sampling { period: 4, poll_ticks: 90 });
    // Read at events 9, 18, 27, …: the first reading finds function 2, and gives it all ten.
    let of = |func: u32| cpc.profile.snapshot(MODULE).functions.iter().find(|function| function.func == func).map_or(0, |it| it.records);
    assert_eq!((of(1) + of(2), cpc.counts.records), (100, 100));
    assert!(of(2) >= 10 && cpc.counts.wake_ups >= 10);
}

#[test]
fn a_damaged_file_is_read_up_to_the_damage() {
    let mut writer = RecordWriter::new(Vec::new()).unwrap();
    writer.write(&Chunk::Missed { ring: 0, count: 5 }).unwrap();
    let mut bytes = writer.finish().unwrap();
    bytes.truncate(bytes.len() - 3);
    assert_eq!(Stream::read(&bytes[..]).unwrap().missed, 5);
    assert!(Stream::read(&b"no record file"[..]).is_err());
}

#[test]
fn pebs_records_hold_the_registers_that_the_stub_saved() {
    let words = std::array::from_fn(|nth| 100 + nth as u64);
    let mut stream = stream(&(0..256).map(|at| miss(0x1020, at)).collect::<Vec<_>>());
    assert_eq!(deliver(Model::Pebs, &stream, SAMPLING).counts.with_registers, 0, "an unknown one is absent");
    for event in stream.events.iter_mut().filter(|event| event.record.tsc() < 128) {
        event.registers = Some(Box::new(Registers::of_probe(&words)));
    }
    assert_eq!(deliver(Model::Pebs, &stream, SAMPLING).counts.with_registers, 128 / u64::from(SAMPLING.period));
}
