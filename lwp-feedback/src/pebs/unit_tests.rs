use super::*;
use crate::events::constants::{core2, westmere};
use crate::pebs::ds::{Buffer, Layout};
use crate::unit::memory::FlatMemory;
use Register::*;

const AREA: u64 = 0x1000;

fn unit_of(processor: Processor, microarchitecture: Microarchitecture, pebs_records: u64, bts_records: u64) -> Unit<FlatMemory> {
    let mut unit = Unit::new(FlatMemory::new(AREA, 0x4000), processor, microarchitecture).unwrap();
    let buffer = |base: u64, bytes: u64| Buffer { base, index: base, maximum: base + bytes, threshold: base + bytes };
    let detected = unit.detected();
    let area = DsArea {
        bts: buffer(0x1100, bts_records * detected.layout.bts_bytes()),
        pebs: buffer(0x2000, pebs_records * detected.format.bytes()),
        resets: [u64::from(u32::MAX); 4],
    };
    area.write(&mut unit.memory, detected.layout, AREA).unwrap();
    unit.write_msr(msr::IA32_DS_AREA, AREA).unwrap();
    unit
}

fn unit() -> Unit<FlatMemory> {
    unit_of(Processor::WESTMERE, Microarchitecture::Westmere, 8, 8)
}

fn write(unit: &mut Unit<FlatMemory>, writes: &[(u32, u64)]) {
    for (number, value) in writes {
        unit.write_msr(*number, *value).unwrap();
    }
}

fn step(unit: &mut Unit<FlatMemory>, ip: u64) -> Option<Interrupt> {
    unit.retire(&Retired { ip, len: 1, ..Retired::default() }).unwrap()
}

const ARMED_SOON: [(u32, u64); 4] = [
    (msr::IA32_PMC0, 0xFFFF_FFFF),
    (msr::IA32_PERFEVTSEL0, core2::PEBS_INST_COUNT_EVENT),
    (msr::IA32_PEBS_ENABLE, 1),
    (msr::IA32_PERF_GLOBAL_CTRL, 1),
];

#[test]
fn overflow_arms_and_the_next_event_fires() {
    let mut unit = unit();
    write(&mut unit, &ARMED_SOON);
    assert_eq!(step(&mut unit, 1), None);
    assert_eq!(unit.read_msr(msr::IA32_PERF_GLOBAL_STATUS), Ok(1));
    let interrupt = step(&mut unit, 2).unwrap();
    assert_eq!(interrupt, Interrupt { cause: Cause::Counter(CounterId::Pmc(0)), pebs: true, ip: 3 });
    assert_eq!(unit.read_msr(msr::IA32_PERF_GLOBAL_STATUS), Ok(0));
    assert_eq!(unit.ds_area().unwrap().pebs.index, 0x2000 + 0xB0);
    assert_eq!(unit.read_msr(msr::IA32_PMC0), Ok(COUNTER_MASK), "the reset value, sign-extended");
}

#[test]
fn assist_delay_covers_the_third_listing() {
    // Counter FFFFFFFD; the WRMSR, then ten MOVs, then the code that switches the counter off: there the document saw the record.
    let mut unit = unit();
    unit.assist_delay = 8;
    write(&mut unit, &ARMED_SOON);
    unit.write_msr(msr::IA32_PMC0, 0xFFFF_FFFD).unwrap();
    let fired = (0..=11).find(|ip| step(&mut unit, *ip).is_some());
    assert_eq!(fired, Some(11), "0 is the WRMSR, 1 to 10 the MOVs");
}

#[test]
fn counter_and_reset_writes_sign_extend() {
    let mut narrow = unit();
    write(&mut narrow, &[(msr::IA32_PMC1, 0x8000_0000), (msr::IA32_PMC2, 0x1_7FFF_FFFF), (msr::IA32_FIXED_CTR0, u64::MAX)]);
    assert_eq!(narrow.read_msr(msr::IA32_PMC1), Ok(0xFFFF_8000_0000));
    assert_eq!(narrow.read_msr(msr::IA32_PMC2), Ok(0x7FFF_FFFF));
    assert_eq!(narrow.read_msr(msr::IA32_FIXED_CTR0), Ok(COUNTER_MASK));
    let wide = Processor { perf_capabilities: 0x2145, ..Processor::WESTMERE };
    let mut wide = unit_of(wide, Microarchitecture::Westmere, 8, 8);
    wide.write_msr(msr::IA32_PMC1, 0x1_8000_0000).unwrap();
    assert_eq!(wide.read_msr(msr::IA32_PMC1), Ok(0x1_8000_0000));
}

#[test]
fn events_that_are_not_precise_give_a_plain_pmi() {
    let mut unit = unit();
    // Core clocks with PEBS on.
    write(&mut unit, &ARMED_SOON);
    unit.write_msr(msr::IA32_PERFEVTSEL0, 0x53_003C).unwrap();
    let clocks = |ip| Retired { ip, len: 1, core_clocks: 3, ..Retired::default() };
    assert_eq!(unit.retire(&clocks(1)), Ok(None));
    let interrupt = unit.retire(&clocks(2)).unwrap().unwrap();
    assert!(!interrupt.pebs);
    assert_eq!((unit.records(), unit.read_msr(msr::IA32_PERF_GLOBAL_STATUS)), ((0, 0), Ok(1)));
}

#[test]
fn fixed_counters_never_take_pebs() {
    let mut unit = unit();
    for bit in [4, 5, 36, 63] {
        let refused = UnitError::GeneralProtection { msr: msr::IA32_PEBS_ENABLE, value: 1 << bit };
        assert_eq!(unit.write_msr(msr::IA32_PEBS_ENABLE, 1 << bit), Err(refused));
    }
    write(&mut unit, &[(msr::IA32_FIXED_CTR0, u64::MAX), (msr::IA32_FIXED_CTR_CTRL, 0xB), (msr::IA32_PERF_GLOBAL_CTRL, 1 << 32)]);
    assert_eq!(step(&mut unit, 1), None);
    let interrupt = step(&mut unit, 2).unwrap();
    assert_eq!((interrupt.cause, interrupt.pebs), (Cause::Counter(CounterId::Fixed(0)), false));
    let core2 = unit_of(Processor::WESTMERE, Microarchitecture::Core2, 8, 8).write_msr(msr::IA32_PEBS_ENABLE, 2);
    assert!(core2.is_err(), "on Core 2 only IA32_PMC0 takes PEBS");
}

#[test]
fn any_inv_cmask_and_edge_must_be_clear() {
    for bit in [18, 21, 23, 24] {
        let value = core2::PEBS_INST_COUNT_EVENT | 1 << bit;
        let select = EventSelect::from_bits(value).unwrap();
        let refused = Err(UnitError::PebsModifiers { counter: 0, select });
        let mut first = unit();
        first.write_msr(msr::IA32_PEBS_ENABLE, 1).unwrap();
        assert_eq!(first.write_msr(msr::IA32_PERFEVTSEL0, value), refused);
        let mut second = unit();
        second.write_msr(msr::IA32_PERFEVTSEL0, value).unwrap();
        assert_eq!(second.write_msr(msr::IA32_PEBS_ENABLE, 1), refused, "bit {bit}");
    }
    unit().write_msr(msr::IA32_PERFEVTSEL0, core2::PEBS_INST_COUNT_EVENT | 1 << 20).expect("bit 20 is INT");
}

#[test]
fn load_latency_counts_strictly_above() {
    for low in 0..3 {
        assert_eq!(unit().write_msr(msr::MSR_PEBS_LD_LAT, low), Err(UnitError::LatencyBelowMinimum(low)));
    }
    let counted = |latency: u64, pebs_enable: u64| {
        let mut unit = unit();
        write(
            &mut unit,
            &[
                (msr::MSR_PEBS_LD_LAT, 3),
                (msr::IA32_PERFEVTSEL0, westmere::PEBS_MEM_INST_COUNT_EVENT),
                (msr::IA32_PEBS_ENABLE, pebs_enable),
                (msr::IA32_PERF_GLOBAL_CTRL, 1),
            ],
        );
        let load = Some(Load { address: 0x91BE, latency, source: DataSource(0) });
        unit.retire(&Retired { ip: 1, len: 2, load, ..Retired::default() }).unwrap();
        unit.read_msr(msr::IA32_PMC0).unwrap()
    };
    assert_eq!([counted(3, 1 | 1 << 32), counted(4, 1 | 1 << 32), counted(400, 1 | 1 << 32)], [0, 1, 1]);
    assert_eq!(counted(400, 1), 0, "without LL_EN nothing counts");
}

#[test]
fn suppressed_when_masked_or_interrupts_are_off() {
    for masked in [true, false] {
        let mut unit = unit();
        write(&mut unit, &ARMED_SOON);
        step(&mut unit, 1);
        unit.set_lvt_masked(masked);
        unit.interrupts_enabled = masked;
        assert_eq!(step(&mut unit, 2), None);
        assert_eq!((unit.records().0, unit.read_msr(msr::IA32_PERF_GLOBAL_STATUS)), (0, Ok(1)), "no record, the bit stays");
        assert_eq!(unit.take_losses(), [Loss { cause: Cause::Counter(CounterId::Pmc(0)), pebs: true }]);
    }
}

#[test]
fn a_pmi_waits_for_interrupts_but_not_behind_a_mask() {
    let mut unit = unit();
    write(&mut unit, &ARMED_SOON);
    unit.write_msr(msr::IA32_PEBS_ENABLE, 0).unwrap();
    unit.interrupts_enabled = false;
    assert_eq!([step(&mut unit, 1), step(&mut unit, 2)], [None, None]);
    unit.interrupts_enabled = true;
    assert!(step(&mut unit, 3).is_some());
    unit.finish_interrupt();
    write(&mut unit, &[(msr::IA32_PMC0, 0xFFFF_FFFF)]);
    unit.set_lvt_masked(true);
    assert_eq!([step(&mut unit, 4), step(&mut unit, 5)], [None, None]);
    unit.set_lvt_masked(false);
    assert_eq!(step(&mut unit, 6), None);
    assert_eq!(unit.take_losses().len(), 1);
}

#[test]
fn priority_is_pmc_then_fixed_by_number() {
    let mut unit = unit();
    for counter in 0..4 {
        write(&mut unit, &[(msr::IA32_PMC0 + counter, 0xFFFF_FFFF), (msr::IA32_PERFEVTSEL0 + counter, westmere::INST_COUNT_EVENT)]);
    }
    write(&mut unit, &[(msr::IA32_FIXED_CTR0, u64::MAX), (msr::IA32_FIXED_CTR_CTRL, 0xB)]);
    for (enabled, winner) in [
        (0x1_0000_000F, CounterId::Pmc(0)),
        (0x1_0000_000E, CounterId::Pmc(1)),
        (0x1_0000_0008, CounterId::Pmc(3)),
        (0x1_0000_0000, CounterId::Fixed(0)),
    ] {
        let mut unit = unit.clone();
        unit.write_msr(msr::IA32_PERF_GLOBAL_CTRL, enabled).unwrap();
        step(&mut unit, 1);
        assert_eq!(step(&mut unit, 2).unwrap().cause, Cause::Counter(winner));
        assert_eq!(unit.read_msr(msr::IA32_PERF_GLOBAL_STATUS), Ok(enabled), "the losers' bits stay");
        unit.finish_interrupt();
        assert_eq!(step(&mut unit, 3), None, "what lost is gone");
    }
}

#[test]
fn a_full_buffer_takes_no_record() {
    let mut unit = unit_of(Processor::WESTMERE, Microarchitecture::Westmere, 1, 8);
    write(&mut unit, &ARMED_SOON);
    step(&mut unit, 1);
    assert!(step(&mut unit, 2).unwrap().pebs);
    assert_eq!(unit.finish_interrupt().unwrap().cause, Cause::PebsBufferFull);
    assert_eq!(unit.finish_interrupt(), None);
    // Nobody reset the index.
    assert_eq!([step(&mut unit, 3), step(&mut unit, 4)], [None, None]);
    assert_eq!(step(&mut unit, 5).unwrap().cause, Cause::PebsBufferFull);
    assert_eq!((unit.records().0, unit.read_msr(msr::IA32_PERF_GLOBAL_STATUS)), (1, Ok(1 | msr::OVF_BUFFER)));
}

fn jump(unit: &mut Unit<FlatMemory>, ip: u64) -> Option<Interrupt> {
    let branch = Some(Branch { target: Some(ip + 1), predicted: ip.is_multiple_of(2) });
    unit.retire(&Retired { ip, len: 1, branch, ..Retired::default() }).unwrap()
}

#[test]
fn bts_ring_wraps() {
    let mut unit = unit_of(Processor::WESTMERE, Microarchitecture::Westmere, 1, 4);
    unit.write_msr(msr::IA32_DEBUGCTL, debugctl::TR | debugctl::BTS).unwrap();
    for ip in 0..6 {
        assert_eq!(jump(&mut unit, ip), None);
    }
    assert_eq!(unit.ds_area().unwrap().bts.index, 0x1100 + 2 * 24);
    let at = |unit: &mut Unit<FlatMemory>, slot: u64| BtsRecord::read(&mut unit.memory, Layout::Bits64, 0x1100 + slot * 24).unwrap();
    assert_eq!(at(&mut unit, 1), BtsRecord { from: 5, to: 6, predicted: false });
    assert_eq!(at(&mut unit, 2), BtsRecord { from: 2, to: 3, predicted: true });
}

#[test]
fn bts_interrupts_at_its_threshold_and_stops_when_full() {
    let mut unit = unit_of(Processor::WESTMERE, Microarchitecture::Westmere, 1, 2);
    unit.write_msr(msr::IA32_DEBUGCTL, debugctl::TR | debugctl::BTS | debugctl::BTINT).unwrap();
    assert_eq!([jump(&mut unit, 0), jump(&mut unit, 1)], [None, None]);
    assert_eq!(jump(&mut unit, 2).unwrap().cause, Cause::BtsBufferFull);
    assert_eq!(unit.records().1, 2, "the third found no room");
    unit.write_msr(msr::IA32_DEBUGCTL, debugctl::TR | debugctl::BTS | debugctl::BTS_OFF_OS).unwrap();
    jump(&mut unit, 3);
    assert_eq!(unit.records().1, 2);
}

#[test]
fn freeze_perfmon_on_pmi_stops_the_counters() {
    let mut unit = unit();
    write(&mut unit, &ARMED_SOON);
    unit.write_msr(msr::IA32_DEBUGCTL, debugctl::FREEZE_PERFMON_ON_PMI).unwrap();
    step(&mut unit, 1);
    step(&mut unit, 2).unwrap();
    assert_eq!(unit.read_msr(msr::IA32_PERF_GLOBAL_CTRL), Ok(0));
}

#[test]
fn registers_that_were_not_saved_are_absent() {
    let mut unit = unit();
    write(&mut unit, &ARMED_SOON);
    step(&mut unit, 1);
    let after = Registers::default().with(Rax, 0);
    unit.retire(&Retired { ip: 2, len: 1, after, ..Retired::default() }).unwrap().unwrap();
    let area = unit.ds_area().unwrap();
    let format = unit.detected().format;
    let records = crate::pebs::consumer::pebs_records(&mut unit, &area, format).unwrap();
    let registers = records[0].1.registers;
    assert_eq!([registers.get(Rip), registers.get(Rax), registers.get(Rbx)], [Some(3), Some(0), None]);
}

#[test]
fn lwp_probe_events_drive_the_unit() {
    let probe = trace::Retired {
        ip: 0x400,
        len: 4,
        loads: vec![trace::Load { address: 0x9000, latency: 300, source: 3, misaligned_second_miss: false }],
        cpl: 3,
        ..trace::Retired::default()
    };
    let mut unit = unit();
    write(&mut unit, &ARMED_SOON);
    write(
        &mut unit,
        &[(msr::MSR_PEBS_LD_LAT, 3), (msr::IA32_PERFEVTSEL0, westmere::PEBS_MEM_INST_COUNT_EVENT), (msr::IA32_PEBS_ENABLE, 1 | 1 << 32)],
    );
    assert_eq!(unit.retire(&(&probe).into()), Ok(None));
    assert!(unit.retire(&(&probe).into()).unwrap().unwrap().pebs);
    let consumer = crate::pebs::Consumer { core_id: 2, branch_records: false };
    let drained = consumer.drain(&mut unit).unwrap();
    let lines: Vec<String> = drained.records.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["dcache-miss  core 2   ip 0x403 300 cycles from DRAM at 0x9000"]);
    assert_eq!(consumer.drain(&mut unit).unwrap().records, []);
}

#[test]
fn branch_records_place_trapped_branches() {
    let mut unit = unit();
    write(&mut unit, &ARMED_SOON);
    write(&mut unit, &[(msr::IA32_PERFEVTSEL0, core2::PEBS_BR_MISS_COUNT_EVENT), (msr::IA32_DEBUGCTL, debugctl::TR | debugctl::BTS)]);
    let missed = |ip: u64| Retired { ip, len: 2, branch: Some(Branch { target: Some(0x900), predicted: false }), ..Retired::default() };
    assert_eq!(unit.retire(&missed(0x10)), Ok(None));
    assert!(unit.retire(&missed(0x20)).unwrap().is_some());
    let drained = crate::pebs::Consumer { core_id: 0, branch_records: true }.drain(&mut unit).unwrap();
    let lines: Vec<String> = drained.records.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "branch       core 0   ip 0x20 taken, mispredicted, to 0x900",
            "branch       core 0   ip 0x10 taken, mispredicted, to 0x900",
            "branch       core 0   ip 0x20 taken, mispredicted, to 0x900",
        ]
    );
    assert_eq!((drained.pebs, drained.bts, drained.unplaced), (1, 2, 0));
}

#[test]
fn a_missing_ds_area_is_a_page_fault() {
    let mut unit = unit();
    write(&mut unit, &ARMED_SOON);
    unit.write_msr(msr::IA32_DS_AREA, 0x10).unwrap();
    step(&mut unit, 1);
    assert!(matches!(unit.retire(&Retired { ip: 2, len: 1, ..Retired::default() }), Err(UnitError::Page(_))));
}

#[test]
fn with_int_clear_only_the_full_buffer_interrupts() {
    let mut unit = unit_of(Processor::WESTMERE, Microarchitecture::Westmere, 2, 8);
    write(&mut unit, &ARMED_SOON);
    unit.write_msr(msr::IA32_PERFEVTSEL0, core2::PEBS_INST_COUNT_EVENT & !(1 << 20)).unwrap();
    // Two instructions a record, and the interrupt one after the second.
    assert_eq!([1, 2, 3, 4].map(|ip| step(&mut unit, ip)), [None; 4]);
    assert_eq!(step(&mut unit, 5).unwrap().cause, Cause::PebsBufferFull);
    assert_eq!((unit.records().0, unit.dropped_records()), (2, 0));
    assert_eq!(unit.finish_interrupt(), None);
    // Nobody emptied it.
    step(&mut unit, 6);
    assert_eq!((unit.records().0, unit.dropped_records()), (2, 1));
}
