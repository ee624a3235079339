//! Rules of the reference one by one; the random comparison is `tests/model.rs`.

use super::memory::FlatMemory;
use super::trace::{Branch, BranchKind, Load};
use super::*;
use crate::layout::{Filters, offset};

const CB: u64 = 0x10_0000;
const RING: u64 = 0x10_1000;
const RING_BYTES: u32 = 4096 * 32;

type TestUnit = Unit<FlatMemory>;

fn unit_with(architecture: Architecture, switches: Switches) -> TestUnit {
    Unit::new(FlatMemory::new(CB, 0x4_0000), architecture, switches)
}

fn unit() -> TestUnit {
    unit_with(Architecture::Final(Capabilities::UNIT), Switches::default())
}

fn proposal() -> TestUnit {
    unit_with(Architecture::Proposal(Capabilities2007::UNIT), Switches::default())
}

fn poke(unit: &mut TestUnit, at: i32, value: u32) {
    unit.memory().store_u32(CB + at as u64, value).unwrap();
}

fn peek(unit: &mut TestUnit, at: i32) -> u32 {
    unit.memory().load_u32(CB + at as u64).unwrap()
}

fn peek64(unit: &mut TestUnit, at: i32) -> u64 {
    unit.memory().load_u64(CB + at as u64).unwrap()
}

fn setup(unit: &mut TestUnit, flags: Flags, size: u32) {
    poke(unit, offset::FLAGS, flags.bits());
    poke(unit, offset::BUFFER_SIZE_RANDOM, size);
    poke(unit, offset::BUFFER_BASE, RING as u32);
}

/// The proposal's LWPCB: selectors are (EventId, interval, counter).
fn setup_2007(unit: &mut TestUnit, size: u32, selectors: &[(u32, u32, u32)]) {
    setup(unit, Flags::empty(), size);
    for (index, &(id, interval, counter)) in selectors.iter().enumerate() {
        poke(unit, 40 + 8 * index as i32, interval | id << 26);
        poke(unit, 44 + 8 * index as i32, counter);
    }
}

fn record(unit: &mut TestUnit, slot: u32) -> Record {
    let mut bytes = [0; 32];
    unit.memory().read(RING + u64::from(slot) * 32, &mut bytes).unwrap();
    Record::from_bytes(&bytes)
}

fn plain(ip: u64) -> Retired {
    Retired { ip, len: 3, cpl: 3, ..Retired::default() }
}

fn with_branch(kind: BranchKind, direct: bool) -> Retired {
    let branch = Branch { kind, direct, taken: true, predicted: true, prediction_valid: true, target: 0x999 };
    Retired { branch: Some(branch), ..plain(0x500) }
}

fn with_load(latency: u32, source: u8) -> Retired {
    Retired { loads: vec![Load { address: 0x77, latency, source, misaligned_second_miss: false }], ..plain(0x500) }
}

/// The seed's sample, section 3.6 of the reference.
fn sample(unit: &mut TestUnit, loops: u64) -> (String, u32) {
    let head = RING_BYTES - 96;
    setup(unit, Flags::VAL, RING_BYTES);
    poke(unit, offset::BUFFER_HEAD, head);
    poke(unit, offset::BUFFER_TAIL, head);
    poke(unit, offset::THRESHOLD, 2 * RING_BYTES);
    poke(unit, offset::EVENT1_INTERVAL, 9);
    unit.llwpcb(CB).unwrap();
    assert_eq!(unit.slwpcb(), Ok(CB));
    for round in 0..loops {
        for i in 0..31 {
            if i % 7 == 0 {
                assert_eq!(unit.lwpins(round, 0xdead_beef, Operand::Value(i), 0x0123_4567), Ok(false));
            }
            unit.lwpval(round, 0x0bad_f00d, Operand::Value(i), 0xcad0_0cad).unwrap();
        }
    }
    let end = peek(unit, offset::BUFFER_HEAD);
    let mut order = String::new();
    let mut at = head;
    while at != end {
        let record = record(unit, at / 32);
        let expected = match record.event_id() {
            EventId::PROGRAMMED => ('I', 0x4567, 0xdead_beef),
            _ => ('V', 0x0cad, 0x0bad_f00d),
        };
        assert_eq!((record.flags(), record.data2()), (expected.1, expected.2));
        order.push(expected.0);
        at = (at + 32) % RING_BYTES;
    }
    (order, end)
}

#[test]
fn sample_oracle() {
    assert_eq!(sample(&mut unit(), 1), ("IVIVIVIIV".into(), 192));
    assert_eq!(sample(&mut unit(), 2), ("IVIVIVIIVIIVIVIIV".into(), 448));
    let no_val = Capabilities { enabled: 1, ..Capabilities::UNIT };
    let (order, _) = sample(&mut unit_with(Architecture::Final(no_val), Switches::default()), 2);
    assert_eq!(order, "I".repeat(10));
}

#[test]
fn unavailable_lwp_is_invalid_opcode() {
    for capabilities in [Capabilities::NONE, Capabilities { enabled: 0, ..Capabilities::UNIT }] {
        let mut unit = unit_with(Architecture::Final(capabilities), Switches::default());
        assert_eq!(unit.llwpcb(CB), Err(LwpFault::InvalidOpcode));
        assert_eq!(unit.slwpcb(), Err(LwpFault::InvalidOpcode));
        assert_eq!(unit.lwpins(0, 0, Operand::Value(0), 0), Err(LwpFault::InvalidOpcode));
        assert_eq!(unit.lwpval(0, 0, Operand::Value(0), 0), Err(LwpFault::InvalidOpcode));
    }
    assert_eq!(proposal().lwpins(0, 0, Operand::Value(0), 0), Err(LwpFault::InvalidOpcode), "2007 has no LWPINS");
    assert_eq!(proposal().lwpval(0, 0, Operand::Value(0), 0), Err(LwpFault::InvalidOpcode), "2007 has no LWPVAL");
}

#[test]
fn off_is_a_no_op_with_carry_clear() {
    let mut unit = unit();
    assert_eq!(unit.lwpins(0, 0, Operand::Value(0), 0), Ok(false));
    assert_eq!(unit.lwpval(0, 0, Operand::Value(0), 0), Ok(false));
    assert_eq!(unit.retire(&plain(1)), Ok(0));
    assert_eq!(unit.slwpcb(), Ok(0));
}

#[test]
fn flags_are_negotiated_and_written_back() {
    let mut unit = unit_with(Architecture::Final(Capabilities::FX8150), Switches::default());
    setup(&mut unit, Flags::all(), 1024);
    poke(&mut unit, offset::FLAGS, u32::MAX);
    unit.llwpcb(CB).unwrap();
    assert_eq!(peek(&mut unit, offset::FLAGS), 0x8000_000E);
    let mut silent = unit_with(Architecture::Final(Capabilities::FX8150), Switches { write_back_flags: false, ..Switches::default() });
    setup(&mut silent, Flags::all(), 1024);
    poke(&mut silent, offset::FLAGS, u32::MAX);
    silent.llwpcb(CB).unwrap();
    assert_eq!(peek(&mut silent, offset::FLAGS), u32::MAX);
}

#[test]
fn no_event_bit_leaves_lwp_on_for_lwpins() {
    let mut unit = unit();
    setup(&mut unit, Flags::empty(), 1024);
    unit.llwpcb(CB).unwrap();
    assert_eq!(unit.slwpcb(), Ok(CB));
    assert_eq!(unit.lwpval(0, 0, Operand::Value(0), 0), Ok(false));
    unit.lwpins(5, 6, Operand::Value(7), 8).unwrap();
    assert_eq!(record(&mut unit, 0), Record::new(EventId::PROGRAMMED, 0, 8, 7, 5, 6, 0));
}

#[test]
fn a_ring_below_the_minimum_is_general_protection_and_off() {
    let mut unit = unit();
    setup(&mut unit, Flags::VAL, 1024);
    unit.llwpcb(CB).unwrap();
    setup(&mut unit, Flags::VAL, 1023);
    assert_eq!(unit.llwpcb(CB), Err(LwpFault::GeneralProtection));
    assert!(!unit.is_on());
}

#[test]
fn bad_head_threshold_and_interval_are_corrected() {
    let mut unit =
        unit_with(Architecture::Final(Capabilities::UNIT), Switches { min_intervals: [0, 4, 0, 0, 0, 0], ..Switches::default() });
    setup(&mut unit, Flags::IRE, 1024 + 31);
    poke(&mut unit, offset::BUFFER_HEAD, 4096);
    poke(&mut unit, offset::EVENT2_INTERVAL, 0x03FF_FFFF);
    unit.llwpcb(CB).unwrap();
    assert_eq!(unit.head(), Some((0, 1024)));
    let due: usize = (0..21).map(|_| unit.retire(&plain(1)).unwrap()).sum();
    assert_eq!(due, 5, "interval -1 was raised to the minimum 4: 1, 6, 11, 16, 21");
    poke(&mut unit, offset::BUFFER_HEAD, 100);
    unit.llwpcb(0).unwrap();
    poke(&mut unit, offset::BUFFER_HEAD, 100);
    unit.llwpcb(CB).unwrap();
    assert_eq!(unit.head(), Some((96, 1024)), "rounded down");
}

#[test]
fn a_counter_of_minus_one_is_26_bits() {
    let mut unit = unit();
    setup(&mut unit, Flags::VAL, 1024);
    poke(&mut unit, offset::EVENT1_COUNTER, 0x03FF_FFFF);
    poke(&mut unit, offset::EVENT1_INTERVAL, 100);
    unit.llwpcb(CB).unwrap();
    assert_eq!(unit.lwpval(0, 0, Operand::Value(0), 0), Ok(true));
    assert_eq!(peek(&mut unit, offset::EVENT1_COUNTER), 100);
}

#[test]
fn random_changes_only_the_low_bits() {
    let mut unit = unit();
    setup(&mut unit, Flags::VAL, 1024 | 6 << 28);
    poke(&mut unit, offset::EVENT1_INTERVAL, 0x1C0);
    unit.llwpcb(CB).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..2000 {
        poke(&mut unit, offset::EVENT1_COUNTER, 0);
        unit.lwpval(0, 0, Operand::Value(0), 0).unwrap();
        let counter = peek(&mut unit, offset::EVENT1_COUNTER);
        assert_eq!(counter & !63, 0x1C0);
        seen.insert(counter & 63);
    }
    assert_eq!(seen.len(), 64);
}

#[test]
fn losers_stay_due_and_the_winner_is_a_switch() {
    for (winner, expected) in
        [(Winner::LowestId, vec![2, 2, 2]), (Winner::Rotating, vec![2, 3, 5]), (Winner::OnePerEvent, vec![2, 3, 5, 2, 3, 5, 2, 3, 5])]
    {
        let mut unit = unit_with(Architecture::Final(Capabilities::UNIT), Switches { winner, ..Switches::default() });
        setup(&mut unit, Flags::IRE | Flags::BRE | Flags::CNH, 1024);
        unit.llwpcb(CB).unwrap();
        for _ in 0..3 {
            unit.retire(&Retired { core_clocks: 2, ..with_branch(BranchKind::Ret, false) }).unwrap();
        }
        let ids: Vec<u8> = (0..expected.len() as u32).map(|slot| record(&mut unit, slot).event_id().0).collect();
        assert_eq!(ids, expected, "{winner:?}");
    }
    let mut unit = unit_with(Architecture::Final(Capabilities::UNIT), Switches { winner: Winner::Random, ..Switches::default() });
    setup(&mut unit, Flags::IRE | Flags::BRE, RING_BYTES);
    unit.llwpcb(CB).unwrap();
    for _ in 0..200 {
        unit.retire(&with_branch(BranchKind::Ret, false)).unwrap();
    }
    let branches = (0..200).filter(|&slot| record(&mut unit, slot).event_id().0 == 3).count();
    assert!((50..150).contains(&branches), "{branches}");
}

#[test]
fn only_user_mode_counts() {
    let mut unit = unit();
    setup(&mut unit, Flags::IRE, 1024);
    unit.llwpcb(CB).unwrap();
    assert_eq!(unit.retire(&Retired { cpl: 0, ..plain(1) }), Ok(0));
    assert_eq!(unit.retire(&plain(1)), Ok(1));
}

#[test]
fn branch_filters() {
    let cases = [
        (
            Filters::NAB,
            vec![(BranchKind::Jcc, true, 1), (BranchKind::Jmp, true, 1), (BranchKind::Jmp, false, 0), (BranchKind::Ret, false, 0)],
        ),
        (Filters::NCB, vec![(BranchKind::Jcc, true, 0), (BranchKind::Loop, true, 0), (BranchKind::Call, true, 1)]),
        (
            Filters::NRB,
            vec![(BranchKind::Call, true, 0), (BranchKind::Jmp, true, 0), (BranchKind::Jcc, true, 1), (BranchKind::Call, false, 1)],
        ),
        (Filters::NPB, vec![(BranchKind::Jcc, true, 0), (BranchKind::Ret, false, 0)]),
        (Filters::NMB, vec![(BranchKind::Jcc, true, 1)]),
        (Filters::NAB | Filters::NRB, vec![(BranchKind::Jcc, true, 1), (BranchKind::Jmp, true, 0), (BranchKind::Ret, false, 0)]),
    ];
    for (filter, branches) in cases {
        let mut unit = unit();
        setup(&mut unit, Flags::BRE, 1024);
        poke(&mut unit, offset::FILTERS, filter.bits());
        unit.llwpcb(CB).unwrap();
        for (kind, direct, expected) in branches {
            assert_eq!(unit.retire(&with_branch(kind, direct)), Ok(expected), "{filter:?} {kind:?} direct {direct}");
        }
    }
    let mut unit = unit();
    setup(&mut unit, Flags::BRE, 1024);
    poke(&mut unit, offset::FILTERS, Filters::NMB.bits());
    unit.llwpcb(CB).unwrap();
    let mut missed = with_branch(BranchKind::Jcc, true);
    missed.branch.as_mut().unwrap().predicted = false;
    assert_eq!(unit.retire(&missed), Ok(0));
}

#[test]
fn filters_the_processor_lacks_are_ignored() {
    let mut unit = unit_with(Architecture::Final(Capabilities::FX8150), Switches::default());
    setup(&mut unit, Flags::BRE, 1024);
    poke(&mut unit, offset::FILTERS, (Filters::NPB | Filters::IPF).bits());
    unit.llwpcb(CB).unwrap();
    assert_eq!(unit.retire(&with_branch(BranchKind::Jcc, true)), Ok(1));
}

#[test]
fn branch_record_fields() {
    let mut unit = unit();
    setup(&mut unit, Flags::BRE, 1024);
    unit.llwpcb(CB).unwrap();
    let mut not_taken = with_branch(BranchKind::Jcc, true);
    *not_taken.branch.as_mut().unwrap() = Branch { taken: false, predicted: false, ..not_taken.branch.unwrap() };
    unit.retire(&not_taken).unwrap();
    let mut jump = with_branch(BranchKind::Jmp, true);
    *jump.branch.as_mut().unwrap() = Branch { taken: false, predicted: false, prediction_valid: false, ..jump.branch.unwrap() };
    unit.retire(&jump).unwrap();
    assert_eq!((record(&mut unit, 0).flags(), record(&mut unit, 0).data2()), (0x2000, 0x503));
    assert_eq!((record(&mut unit, 1).flags(), record(&mut unit, 1).data2()), (0xE000, 0x999));
}

#[test]
fn ip_filter_and_its_switches() {
    let mut unit = unit();
    let run = |unit: &mut TestUnit, filters: Filters| {
        unit.llwpcb(0).unwrap();
        setup(unit, Flags::IRE, 1024);
        poke(unit, offset::BASE_IP, 10);
        poke(unit, offset::LIMIT_IP, 20);
        poke(unit, offset::FILTERS, filters.bits());
        unit.llwpcb(CB).unwrap();
        [9, 10, 20, 21].map(|ip| unit.retire(&plain(ip)).unwrap())
    };
    assert_eq!(run(&mut unit, Filters::IPF), [0, 1, 1, 0]);
    assert_eq!(run(&mut unit, Filters::IPF | Filters::IPI), [1, 0, 0, 1]);
    assert_eq!(unit.lwpins(15, 0, Operand::Value(0), 0), Ok(false));
    let before = unit.head();
    let mut strict = unit_with(
        Architecture::Final(Capabilities::UNIT),
        Switches { limit_ip_inclusive: false, programmed_obey_ip_filter: true, ..Switches::default() },
    );
    assert_eq!(run(&mut strict, Filters::IPF), [0, 1, 0, 0]);
    let head = strict.head();
    strict.lwpins(9, 0, Operand::Value(0), 0).unwrap();
    assert_eq!(strict.head(), head, "outside the range");
    assert_ne!(before, Some((0, 1024)), "by default LWPINS is not filtered");
}

#[test]
fn cache_filters_latency_rounding_and_cap() {
    let mut unit = unit();
    let mut counts = |switches: Switches, filters: u32, load: Retired| {
        let mut fresh = unit_with(Architecture::Final(Capabilities::UNIT), switches);
        setup(&mut fresh, Flags::DME, 1024);
        poke(&mut fresh, offset::FILTERS, filters);
        fresh.llwpcb(CB).unwrap();
        let due = fresh.retire(&load).unwrap();
        unit = fresh;
        (due, record(&mut unit, 0).data1())
    };
    let default = Switches::default();
    assert_eq!(counts(default, 0, with_load(1005, 3)), (1, 992));
    assert_eq!(counts(default, 0, with_load(u32::MAX, 3)), (1, 65_520));
    assert_eq!(counts(default, 4, with_load(64, 3)).0, 1);
    assert_eq!(counts(Switches { min_latency_exceeds: true, ..default }, 4, with_load(79, 3)).0, 0);
    assert_eq!(counts(default, 4, with_load(63, 3)).0, 0);
    for (source, bit) in [(1, 9), (2, 10), (3, 11), (7, 12)] {
        assert_eq!(counts(default, 1 << 8 | 1 << bit, with_load(20, source)).0, 1);
        assert_eq!(counts(default, 1 << 8 | (0x1E00 & !(1 << bit)), with_load(20, source)).0, 0);
    }
    assert_eq!(counts(default, 0x1F00, with_load(20, 0)).0, 0);
    assert_eq!(counts(Switches { level_filter_keeps_unknown: true, ..default }, 0x1F00, with_load(20, 0)).0, 1);
    let small = Capabilities { latency_bits: 10, ..Capabilities::UNIT };
    let mut clamped = unit_with(Architecture::Final(small), default);
    setup(&mut clamped, Flags::DME, 1024);
    poke(&mut clamped, offset::FILTERS, 255);
    clamped.llwpcb(CB).unwrap();
    assert_eq!(clamped.retire(&with_load(5000, 3)), Ok(1), "MinLatency above the cap is taken as the cap, 1008");
    assert_eq!(record(&mut clamped, 0).data1(), 1008);
}

#[test]
fn a_misaligned_double_miss_counts_once_at_the_lower_address() {
    let mut unit = unit();
    setup(&mut unit, Flags::DME, 1024);
    poke(&mut unit, offset::EVENT4_INTERVAL, 100);
    unit.llwpcb(CB).unwrap();
    let load = |address, misaligned_second_miss| Load { address, latency: 32, source: 1, misaligned_second_miss };
    unit.retire(&Retired { loads: vec![load(0x1040, false), load(0x1038, true), load(0x2000, false)], ..plain(1) }).unwrap();
    let seen = record(&mut unit, 0);
    assert_eq!((seen.data2(), seen.flags()), (0x1038, 1 << 13 | 1 << 12));
    assert_eq!(peek(&mut unit, offset::EVENT4_COUNTER), 100, "reset after the record; the rest of the instruction is not counted again");
}

#[test]
fn clocks_count_their_number() {
    let mut unit = unit();
    setup(&mut unit, Flags::CNH | Flags::RNH, 1024);
    poke(&mut unit, offset::EVENTS + 36, 99);
    poke(&mut unit, offset::EVENTS + 44, 1000);
    unit.llwpcb(CB).unwrap();
    for _ in 0..9 {
        assert_eq!(unit.retire(&Retired { core_clocks: 11, ..plain(1) }), Ok(0));
    }
    assert_eq!(unit.retire(&Retired { core_clocks: 11, ..plain(0x42) }), Ok(1));
    assert_eq!(record(&mut unit, 0), Record::new(EventId::CORE_CLOCKS, 0, 0, 0, 0x42, 0, 0));
}

#[test]
fn full_ring_sets_carry_and_continuous_does_not() {
    let mut unit = unit();
    setup(&mut unit, Flags::empty(), 1024);
    unit.llwpcb(CB).unwrap();
    let carries: Vec<bool> = (0..40).map(|i| unit.lwpins(i, 0, Operand::Value(0), 0).unwrap()).collect();
    assert_eq!(carries.iter().filter(|&&carry| carry).count(), 9);
    assert_eq!((peek64(&mut unit, offset::MISSED_EVENTS), peek(&mut unit, offset::BUFFER_HEAD)), (9, 31 * 32));
    assert_eq!(record(&mut unit, 31).address(), 39, "the unpublished slot was overwritten");

    for (switch, expected) in [(false, 0), (true, 1)] {
        let switches = Switches { continuous_counts_overwritten: switch, ..Switches::default() };
        let mut unit = unit_with(Architecture::Final(Capabilities::UNIT), switches);
        setup(&mut unit, Flags::CONT, 1024);
        unit.llwpcb(CB).unwrap();
        assert!((0..40).all(|i| !unit.lwpins(i, 0, Operand::Value(0), 0).unwrap()));
        assert_eq!((unit.head().unwrap().0, peek64(&mut unit, offset::MISSED_EVENTS)), (8 * 32, expected));
    }
}

#[test]
fn threshold_interrupts() {
    let run = |switches: Switches, flags: Flags, threshold: u32, stores: u32| {
        let mut unit = unit_with(Architecture::Final(Capabilities::UNIT), switches);
        setup(&mut unit, flags, 1024);
        poke(&mut unit, offset::THRESHOLD, threshold);
        unit.llwpcb(CB).unwrap();
        let mut total = 0;
        for i in 0..stores {
            if i == 20 {
                poke(&mut unit, offset::BUFFER_TAIL, 20 * 32);
            }
            unit.lwpins(0, 0, Operand::Value(0), 0).unwrap();
            total += unit.take_interrupts();
        }
        total
    };
    let default = Switches::default();
    assert_eq!(run(default, Flags::INT, 10 * 32 + 31, 20), 1, "once, at the rounded threshold");
    assert_eq!(run(default, Flags::INT, 10 * 32, 40), 2, "again after used fell below it");
    assert_eq!(run(Switches { threshold_equal: true, ..default }, Flags::INT, 320, 40), 2);
    assert_eq!(run(default, Flags::empty(), 320, 40), 0, "INT is not set");
    assert_eq!(run(default, Flags::INT, 0, 40), 0, "0 is none");
    assert_eq!(run(default, Flags::INT, 2048, 40), 0, "above BufferSize is none");
}

#[test]
fn a_tail_that_moved_between_two_stores_arms_the_interrupt() {
    for deferred in [false, true] {
        let mut unit = unit_with(Architecture::Final(Capabilities::UNIT), Switches { deferred, ..Switches::default() });
        setup(&mut unit, Flags::INT, 1024);
        poke(&mut unit, offset::THRESHOLD, 4 * 32);
        unit.llwpcb(CB).unwrap();
        let store = |unit: &mut Unit<FlatMemory>, records: u32| {
            (0..records).for_each(|_| _ = unit.lwpins(0, 0, Operand::Value(0), 0).unwrap());
            unit.take_interrupts()
        };
        assert_eq!(store(&mut unit, 6), 1);
        poke(&mut unit, offset::BUFFER_TAIL, 3 * 32);
        assert_eq!(store(&mut unit, 1), 1, "three were left: the fourth crosses");
        poke(&mut unit, offset::BUFFER_TAIL, 7 * 32);
        assert_eq!(store(&mut unit, 8), 1);
        poke(&mut unit, offset::BUFFER_TAIL, 9 * 32);
        assert_eq!(store(&mut unit, 2), 1, "six were left: whoever took the others does not know of them");

        let image = unit.suspend().unwrap();
        unit.resume(&image).unwrap();
        assert_eq!(store(&mut unit, 1), 0, "announced before it was suspended");
        let image = unit.suspend().unwrap();
        poke(&mut unit, offset::BUFFER_TAIL, 18 * 32);
        unit.resume(&image).unwrap();
        assert_eq!(store(&mut unit, 4), 1);
    }
}

#[test]
fn deferred_head_reaches_memory_at_threshold_full_slwpcb_and_suspend() {
    let switches = Switches { deferred: true, ..Switches::default() };
    let start = || {
        let mut unit = unit_with(Architecture::Final(Capabilities::UNIT), switches);
        setup(&mut unit, Flags::empty(), 1024);
        poke(&mut unit, offset::THRESHOLD, 10 * 32);
        unit.llwpcb(CB).unwrap();
        for _ in 0..9 {
            unit.lwpins(0, 0, Operand::Value(0), 0).unwrap();
        }
        assert_eq!(peek(&mut unit, offset::BUFFER_HEAD), 0);
        unit
    };
    let mut threshold = start();
    threshold.lwpins(0, 0, Operand::Value(0), 0).unwrap();
    assert_eq!(peek(&mut threshold, offset::BUFFER_HEAD), 320);
    let mut asked = start();
    asked.slwpcb().unwrap();
    assert_eq!(peek(&mut asked, offset::BUFFER_HEAD), 288);
    let mut suspended = start();
    assert_eq!(suspended.suspend().unwrap().head, 288);
    assert_eq!(peek(&mut suspended, offset::BUFFER_HEAD), 288);
    let mut full = start();
    poke(&mut full, offset::THRESHOLD, 0);
    full.llwpcb(CB).unwrap();
    for _ in 0..22 {
        assert!(!full.lwpins(0, 0, Operand::Value(0), 0).unwrap());
        assert_eq!(peek(&mut full, offset::BUFFER_HEAD), 288);
    }
    assert!(full.lwpins(0, 0, Operand::Value(0), 0).unwrap());
    assert_eq!(peek(&mut full, offset::BUFFER_HEAD), 31 * 32);
}

#[test]
fn llwpcb_switches_and_the_active_block_is_flushed_over() {
    let mut unit = unit();
    setup(&mut unit, Flags::empty(), 1024);
    assert_eq!(unit.llwpcb(CB), Ok(0));
    unit.lwpins(0, 0, Operand::Value(0), 0).unwrap();
    poke(&mut unit, offset::BUFFER_HEAD, 512);
    assert_eq!(unit.llwpcb(CB), Ok(CB));
    assert_eq!(unit.head(), Some((32, 1024)), "the flush overwrote what software had just written");
    assert_eq!(unit.llwpcb(0), Ok(CB));
    assert_eq!(unit.slwpcb(), Ok(0));
}

#[test]
fn lwpval_reads_its_memory_operand_only_when_due() {
    let mut unit = unit();
    setup(&mut unit, Flags::VAL, 1024);
    poke(&mut unit, offset::EVENT1_COUNTER, 1);
    unit.llwpcb(CB).unwrap();
    let bad = Operand::Memory(0x10);
    assert_eq!(unit.lwpval(0, 0, bad, 0), Ok(false));
    let fault = LwpFault::Page(PageFault { address: 0x10, write: false });
    assert_eq!(unit.lwpval(0, 0, bad, 0), Err(fault));
    assert_eq!((peek(&mut unit, offset::EVENT1_COUNTER), unit.head()), (0, Some((0, 1024))), "nothing changed");
    assert_eq!(unit.lwpins(0, 0, bad, 0), Err(fault), "LWPINS always reads it");
    poke(&mut unit, 0x800, 99);
    assert_eq!(unit.lwpval(0, 0, Operand::Memory(CB + 0x800), 0), Ok(true));
    assert_eq!(record(&mut unit, 0).data1(), 99);
}

#[test]
fn ring_page_read_only() {
    let mut unit = unit();
    setup(&mut unit, Flags::VAL | Flags::IRE, 8192);
    unit.llwpcb(CB).unwrap();
    unit.memory().read_only = RING..RING + 4096;
    let fault = Err(LwpFault::Page(PageFault { address: RING, write: true }));
    assert_eq!(unit.lwpins(0, 0, Operand::Value(0), 0).map(|_| 0), fault);
    assert_eq!(unit.lwpval(0, 0, Operand::Value(0), 0).map(|_| 0), fault);
    assert_eq!(unit.retire(&plain(1)), fault);
    assert_eq!((unit.head(), peek(&mut unit, offset::EVENT2_COUNTER), peek64(&mut unit, offset::MISSED_EVENTS)), (Some((0, 8192)), 0, 0));
    unit.memory().read_only = 0..0;
    assert_eq!(unit.retire(&plain(1)), Ok(1));
    unit.llwpcb(0).unwrap();
    unit.memory().read_only = RING + 4096..RING + 8192;
    assert_eq!(unit.llwpcb(CB), Err(LwpFault::Page(PageFault { address: RING + 4096, write: true })), "LLWPCB looks at the whole ring");
}

#[test]
fn program_unmaps_lwpcb() {
    let mut unit = unit();
    setup(&mut unit, Flags::VAL, 1024);
    poke(&mut unit, offset::EVENT1_COUNTER, 5);
    unit.llwpcb(CB).unwrap();
    unit.memory().unmapped = CB..CB + 176;
    assert!(matches!(unit.lwpval(0, 0, Operand::Value(0), 0), Err(LwpFault::Page(PageFault { address, .. })) if address == CB + 132));
    assert!(matches!(unit.lwpins(0, 0, Operand::Value(0), 0), Err(LwpFault::Page(_))));
    assert!(matches!(unit.slwpcb(), Err(LwpFault::Page(_))));
    unit.memory().unmapped = 0..0;
    assert_eq!(peek(&mut unit, offset::EVENT1_COUNTER), 5);
    assert_eq!(unit.slwpcb(), Ok(CB), "mapped again, it continues");
}

#[test]
fn suspend_and_resume_on_another_thread() {
    let mut first = unit();
    setup(&mut first, Flags::VAL | Flags::PTSC, 1024 | 3 << 28);
    poke(&mut first, offset::EVENT1_INTERVAL, 0x100);
    poke(&mut first, offset::EVENT1_COUNTER, 1);
    first.llwpcb(CB).unwrap();
    first.lwpval(0, 0, Operand::Value(0), 0).unwrap();
    let mut image = first.suspend().unwrap();
    assert_eq!(XsaveImageCheck::of(&image), XsaveImageCheck { lwpcb: CB, size: 1024 | 3 << 28, counter1: 0 });
    let memory = first.memory().clone();
    image.pending = Record::new(EventId::PROGRAMMED, 1, 2, 3, 4, 5, 6);
    let bytes = image.to_bytes();
    let mut second = std::thread::spawn(move || {
        let mut second = Unit::new(memory, Architecture::Final(Capabilities::UNIT), Switches::default());
        second.resume(&suspend::XsaveImage::from_bytes(&bytes)).unwrap();
        assert_eq!(second.lwpval(9, 0, Operand::Value(0), 0), Ok(true));
        second
    })
    .join()
    .unwrap();
    assert_eq!(record(&mut second, 0), image.pending);
    assert_eq!(record(&mut second, 1).address(), 9);
    assert_ne!(record(&mut second, 1).tsc(), 0);
    let bad = suspend::XsaveImage { head: 5000, ..image };
    assert_eq!(second.resume(&bad), Err(LwpFault::GeneralProtection));
    assert_eq!(first.slwpcb(), Ok(0));
}

#[derive(Debug, PartialEq)]
struct XsaveImageCheck {
    lwpcb: u64,
    size: u32,
    counter1: u32,
}

impl XsaveImageCheck {
    fn of(image: &suspend::XsaveImage) -> Self {
        let bytes = image.to_bytes();
        let dword = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        Self { lwpcb: u64::from(dword(0)), size: dword(24), counter1: dword(64) }
    }
}

#[test]
fn lwp_cfg_limits_what_llwpcb_grants() {
    let mut unit = unit_with(Architecture::Final(Capabilities::FX8150), Switches::default());
    assert_eq!(unit.write_cfg(LwpCfg(1 << 4)), Err(LwpFault::GeneralProtection));
    unit.write_cfg(LwpCfg(7 << 32 | 1 << 3)).unwrap();
    setup(&mut unit, Flags::VAL | Flags::BRE, 1024);
    unit.llwpcb(CB).unwrap();
    unit.lwpins(0, 0, Operand::Value(0), 0).unwrap();
    assert_eq!((peek(&mut unit, offset::FLAGS), record(&mut unit, 0).core_id()), (1 << 3, 7));
}

#[test]
fn proposal_period_is_the_interval() {
    let mut unit = proposal();
    setup_2007(&mut unit, 1024, &[(1, 10, 10)]);
    assert_eq!(unit.llwpcb(CB), Ok(0));
    let due: Vec<u64> = (1..=40).filter(|&i| unit.retire(&plain(i)).unwrap() == 1).collect();
    assert_eq!(due, [10, 20, 30, 40]);
    assert_eq!(record(&mut unit, 0), Record::new(EventId(1), 0, 0, 0, 10, 0, 0));
    assert_eq!(peek(&mut unit, 0), 1 | 2 | 1 << 31);
}

#[test]
fn proposal_counters_freeze_at_zero() {
    let mut unit = proposal();
    setup_2007(&mut unit, 1024, &[(1, 100, 2), (2, 100, 2)]);
    unit.llwpcb(CB).unwrap();
    unit.retire(&with_branch(BranchKind::Jcc, true)).unwrap();
    unit.retire(&with_branch(BranchKind::Jcc, true)).unwrap();
    assert_eq!((peek(&mut unit, 44), peek(&mut unit, 52)), (100, 0), "the branch counter waits at zero");
    unit.retire(&with_branch(BranchKind::Jcc, true)).unwrap();
    assert_eq!((record(&mut unit, 1).event_id().0, peek(&mut unit, 52)), (2, 100));
}

#[test]
fn proposal_nothing_selected_is_off() {
    let mut unit = proposal();
    setup_2007(&mut unit, 1024, &[(0, 5, 5), (4, 5, 5), (63, 5, 5)]);
    poke(&mut unit, 0, 0xFFFF);
    assert_eq!(unit.llwpcb(CB), Ok(0));
    assert_eq!((peek(&mut unit, 0), unit.slwpcb()), (0, Ok(0)));
}

#[test]
fn proposal_duplicate_counts_as_zero_and_keeps_its_field() {
    let mut unit = proposal();
    setup_2007(&mut unit, 1024, &[(1, 3, 3), (1, 7, 7)]);
    unit.llwpcb(CB).unwrap();
    for _ in 0..6 {
        unit.retire(&plain(1)).unwrap();
    }
    assert_eq!((unit.head(), peek(&mut unit, 48), peek(&mut unit, 52)), (Some((64, 1024)), 7 | 1 << 26, 7));
}

#[test]
fn proposal_ndb_drops_only_direct_jumps() {
    let mut unit = proposal();
    setup_2007(&mut unit, 1024, &[(2, 0, 0)]);
    poke(&mut unit, 36, 1 << 31);
    unit.llwpcb(CB).unwrap();
    let counts = |unit: &mut TestUnit, kind, direct| unit.retire(&with_branch(kind, direct)).unwrap();
    assert_eq!(counts(&mut unit, BranchKind::Jmp, true), 0);
    for (kind, direct) in
        [(BranchKind::Jcc, true), (BranchKind::Jmp, false), (BranchKind::Call, true), (BranchKind::Ret, false), (BranchKind::Loop, true)]
    {
        assert_eq!(counts(&mut unit, kind, direct), 1, "{kind:?}");
    }
}

#[test]
fn proposal_buffer_base_ignores_its_low_bits() {
    let mut unit = proposal();
    setup_2007(&mut unit, 1024, &[(1, 0, 0)]);
    poke(&mut unit, 8, RING as u32 | 31);
    unit.llwpcb(CB).unwrap();
    unit.retire(&plain(0x55)).unwrap();
    assert_eq!(record(&mut unit, 0).address(), 0x55);
}

#[test]
fn proposal_llwpcb_returns_the_old_address_and_re_enables() {
    let mut unit = proposal();
    setup_2007(&mut unit, 1024, &[(1, 0, 0)]);
    assert_eq!(unit.llwpcb(CB), Ok(0));
    assert_eq!(unit.llwpcb(0), Ok(CB));
    assert_eq!(unit.llwpcb(CB), Ok(0));
}

#[test]
fn proposal_threshold_is_equality() {
    let mut unit = proposal();
    setup_2007(&mut unit, 1024, &[(1, 0, 0)]);
    poke(&mut unit, 32, 5 * 32);
    poke(&mut unit, 20, 0);
    unit.llwpcb(CB).unwrap();
    let fired: Vec<u64> = (1..=20)
        .filter(|_| {
            unit.retire(&plain(1)).unwrap();
            unit.take_interrupts() == 1
        })
        .collect();
    assert_eq!(fired, [5]);
}

#[test]
fn proposal_msrs() {
    let mut unit =
        unit_with(Architecture::Proposal(Capabilities2007 { available: 0x8000_0007, ..Capabilities2007::UNIT }), Switches::default());
    assert_eq!(unit.write_lwpmsr0(1 << 3), Err(LwpFault::GeneralProtection), "no DCache event here");
    unit.write_lwpmsr0(0).unwrap();
    assert_eq!(unit.write_lwpmsr1(CB), Err(LwpFault::InvalidOpcode));
    unit.write_lwpmsr0(0b11).unwrap();
    setup_2007(&mut unit, 1024, &[(1, 0, 0), (2, 0, 0)]);
    unit.write_lwpmsr1(CB).unwrap();
    assert_eq!((unit.read_lwpmsr1(), peek(&mut unit, 0)), (Ok(CB), 0b11), "branches and the interrupt were not enabled");
}

#[test]
fn proposal_saved_state() {
    let switches = Switches { deferred: true, ..Switches::default() };
    let mut unit = unit_with(Architecture::Proposal(Capabilities2007::UNIT), switches);
    setup_2007(&mut unit, 1024, &[(1, 0, 0)]);
    unit.llwpcb(CB).unwrap();
    for _ in 0..32 {
        unit.retire(&plain(1)).unwrap();
    }
    let saved = unit.suspend_2007().unwrap();
    assert_eq!((saved.lwpcb, saved.head, saved.missed_pending), (CB, 31 * 32, true));
    assert_eq!(peek64(&mut unit, 24), 0, "the increment is owed");
    unit.resume_2007(&saved).unwrap();
    unit.slwpcb().unwrap();
    assert_eq!(peek64(&mut unit, 24), 1);
}

#[test]
fn producer_dies_before_head_store() {
    // A thread that ends between writing the record and moving head leaves the slot unpublished: the state is as if nothing happened.
    let mut unit = unit();
    setup(&mut unit, Flags::empty(), 1024);
    unit.llwpcb(CB).unwrap();
    unit.lwpins(1, 0, Operand::Value(0), 0).unwrap();
    let half = Record::new(EventId::PROGRAMMED, 0, 0, 0, 2, 0, 0);
    unit.memory().write(RING + 32, &half.to_bytes()).unwrap();
    assert_eq!(peek(&mut unit, offset::BUFFER_HEAD), 32);
    unit.lwpins(3, 0, Operand::Value(0), 0).unwrap();
    assert_eq!((record(&mut unit, 1).address(), peek(&mut unit, offset::BUFFER_HEAD)), (3, 64));
}

#[test]
fn tail_out_of_range() {
    for (tail, deferred) in [1, 1000, 1024, 4096, 0xffff_fff1, u32::MAX].into_iter().flat_map(|tail| [(tail, false), (tail, true)]) {
        let mut unit = unit_with(Architecture::Final(Capabilities::UNIT), Switches { deferred, ..Switches::default() });
        setup(&mut unit, Flags::INT, 1024);
        poke(&mut unit, offset::THRESHOLD, 512);
        unit.llwpcb(CB).unwrap();
        for _ in 0..5 {
            unit.lwpins(0, 0, Operand::Value(0), 0).unwrap();
        }
        poke(&mut unit, offset::BUFFER_TAIL, tail);
        for _ in 0..100 {
            unit.lwpins(0, 0, Operand::Value(0), 0).unwrap();
            let (head, size) = unit.head().unwrap();
            assert!(head < size && head % 32 == 0);
        }
        unit.slwpcb().unwrap();
        let (head, missed) = (peek(&mut unit, offset::BUFFER_HEAD), peek64(&mut unit, offset::MISSED_EVENTS));
        assert_eq!(u64::from(head) / 32 + missed, 105, "what is not in the ring is counted, tail {tail:#x}");
        assert!(missed >= 80, "{missed}");
        let past_ring = unit.memory().load_u64(RING + 1024).unwrap();
        assert_eq!(past_ring, 0, "nothing was written past the ring");
        poke(&mut unit, offset::BUFFER_TAIL, head);
        assert_eq!(unit.lwpins(0, 0, Operand::Value(0), 0), Ok(false), "put right, it continues");
    }
    let uncounted = Switches { bad_tail_is_full: false, ..Switches::default() };
    let mut unit = unit_with(Architecture::Final(Capabilities::UNIT), uncounted);
    setup(&mut unit, Flags::empty(), 1024);
    unit.llwpcb(CB).unwrap();
    poke(&mut unit, offset::BUFFER_TAIL, 0xffff_fff1);
    for _ in 0..100 {
        assert_eq!(unit.lwpins(0, 0, Operand::Value(0), 0), Ok(false));
    }
    assert_eq!((unit.head(), peek64(&mut unit, offset::MISSED_EVENTS)), (Some((100 % 32 * 32, 1024)), 0));
}

#[test]
fn reserved_bits_of_a_slot_are_ignored() {
    let mut unit = unit();
    setup(&mut unit, Flags::VAL, 1024);
    poke(&mut unit, offset::EVENT1_INTERVAL, 2 | 0x3F << 26);
    poke(&mut unit, offset::EVENT1_COUNTER, 1 | 0x3F << 26);
    unit.llwpcb(CB).unwrap();
    let due: Vec<u32> = (1..=9).filter(|&i| unit.lwpval(0, 0, Operand::Value(i), 0).unwrap()).collect();
    assert_eq!(due, [2, 5, 8], "counter 1, interval 2: the reserved bits are no part of either");
    assert_eq!(peek(&mut unit, offset::EVENT1_COUNTER), 1, "and are 0 in what LWP writes");
    assert_eq!(peek(&mut unit, offset::EVENT1_INTERVAL), 2 | 0x3F << 26, "the interval is never written");
}

#[test]
fn lwpval_is_event_1_and_lwpins_is_event_255() {
    let mut unit = unit();
    setup(&mut unit, Flags::VAL, 1024);
    unit.llwpcb(CB).unwrap();
    unit.lwpval(1, 0, Operand::Value(0), 0).unwrap();
    unit.lwpins(2, 0, Operand::Value(0), 0).unwrap();
    assert_eq!([0, 1].map(|slot| record(&mut unit, slot).to_bytes()[0]), [1, 255]);
}

#[test]
fn each_flag_has_its_event_id() {
    let cases = [
        (Flags::IRE, 2u8, plain(1)),
        (Flags::BRE, 3, with_branch(BranchKind::Ret, false)),
        (Flags::DME, 4, with_load(1000, 3)),
        (Flags::CNH, 5, Retired { core_clocks: 1, ..plain(1) }),
        (Flags::RNH, 6, Retired { ref_clocks: 1, ..plain(1) }),
    ];
    let all = Retired { core_clocks: 1, ref_clocks: 1, loads: with_load(1000, 3).loads, ..with_branch(BranchKind::Ret, false) };
    for (flag, id, retired) in cases {
        assert_eq!(flag.bits(), 1 << id, "bit n enables EventId n");
        let mut unit = unit();
        setup(&mut unit, flag, 1024);
        unit.llwpcb(CB).unwrap();
        assert_eq!((unit.retire(&retired), unit.retire(&all)), (Ok(1), Ok(1)));
        assert_eq!([0, 1].map(|slot| record(&mut unit, slot).to_bytes()[0]), [id, id]);
        assert_eq!(unit.lwpval(0, 0, Operand::Value(0), 0), Ok(false), "VAL is another flag");
    }
}

#[test]
fn event_id_0_is_never_written() {
    let everything = Flags::VAL | Flags::IRE | Flags::BRE | Flags::DME | Flags::CNH | Flags::RNH;
    let all = Retired { core_clocks: 3, ref_clocks: 2, loads: with_load(1000, 3).loads, ..with_branch(BranchKind::Jcc, true) };
    for winner in [Winner::LowestId, Winner::Rotating, Winner::Random, Winner::OnePerEvent] {
        let mut unit = unit_with(Architecture::Final(Capabilities::UNIT), Switches { winner, ..Switches::default() });
        setup(&mut unit, everything, RING_BYTES);
        unit.llwpcb(CB).unwrap();
        for i in 0..100 {
            unit.retire(&all).unwrap();
            unit.lwpval(0, 0, Operand::Value(i), 0).unwrap();
            unit.lwpins(0, 0, Operand::Value(i), 0).unwrap();
        }
        // A pending record with EventId 0 is none.
        let image = unit.suspend().unwrap();
        assert_eq!(image.pending.event_id().0, 0);
        unit.resume(&image).unwrap();
        let slots = unit.head().unwrap().0 / 32;
        assert!(slots >= 300, "{slots}");
        assert!((0..slots).all(|slot| record(&mut unit, slot).event_id().0 != 0));
    }
    let mut old = proposal();
    setup_2007(&mut old, RING_BYTES, &[(0, 0, 0), (1, 1, 1), (2, 1, 1), (3, 1, 1)]);
    old.llwpcb(CB).unwrap();
    for _ in 0..100 {
        old.retire(&all).unwrap();
    }
    let slots = old.head().unwrap().0 / 32;
    assert!(slots >= 100, "{slots}");
    assert!((0..slots).all(|slot| record(&mut old, slot).event_id().0 != 0));
}

#[test]
fn fields_that_change_while_on_are_not_looked_at() {
    let mut unit = unit();
    setup(&mut unit, Flags::VAL, 2048);
    poke(&mut unit, offset::EVENT1_INTERVAL, 4);
    unit.llwpcb(CB).unwrap();
    setup(&mut unit, Flags::empty(), 32);
    poke(&mut unit, offset::BUFFER_BASE, 0x10);
    poke(&mut unit, offset::BUFFER_HEAD, 1600);
    poke(&mut unit, offset::EVENT1_INTERVAL, 0);
    poke(&mut unit, offset::THRESHOLD, 32);
    let due: Vec<u32> = (1..=11).filter(|&i| unit.lwpval(0, 0, Operand::Value(i), 0).unwrap()).collect();
    assert_eq!((due, unit.head()), (vec![1, 6, 11], Some((96, 2048))), "as LLWPCB read them");
    assert_eq!([0, 1, 2].map(|slot| record(&mut unit, slot).data1()), [1, 6, 11]);
    assert_eq!((peek(&mut unit, offset::BUFFER_HEAD), unit.take_interrupts()), (96, 0));
}

#[test]
fn an_lwpcb_or_ring_outside_of_memory_is_a_page_fault() {
    // 64-bit mode has no segment limits, so an address that leads nowhere is one that is not mapped.
    let mut unit = unit();
    setup(&mut unit, Flags::VAL, 1024);
    for block in [0x1000, CB - 8, CB + 0x4_0000 - 64, u64::MAX - 8] {
        assert!(matches!(unit.llwpcb(block), Err(LwpFault::Page(PageFault { write: true, .. }))), "{block:#x}");
        assert!(!unit.is_on());
    }
    for ring in [0x1000, CB + 0x4_0000 - 512, u64::MAX - 100] {
        unit.memory().store_u64(CB + offset::BUFFER_BASE as u64, ring).unwrap();
        assert!(matches!(unit.llwpcb(CB), Err(LwpFault::Page(PageFault { write: true, .. }))), "{ring:#x}");
        assert!(!unit.is_on());
    }
}

#[test]
fn proposal_lwpcb_address_has_no_low_bits() {
    let mut unit = proposal();
    setup_2007(&mut unit, 1024, &[(1, 0, 0)]);
    assert_eq!(unit.llwpcb(CB | 15), Ok(0), "16-byte alignment is required, and no fault is given for its lack");
    unit.retire(&plain(0x55)).unwrap();
    assert_eq!((unit.slwpcb(), record(&mut unit, 0).address()), (Ok(CB), 0x55));
}

#[test]
fn proposal_llwpcb_faults() {
    let off = Capabilities2007 { enabled: 0, ..Capabilities2007::UNIT };
    assert_eq!(unit_with(Architecture::Proposal(off), Switches::default()).llwpcb(CB), Err(LwpFault::InvalidOpcode));
    let mut unit = proposal();
    setup_2007(&mut unit, 1024, &[(1, 0, 0)]);
    unit.memory().read_only = CB..CB + 64;
    assert!(matches!(unit.llwpcb(CB), Err(LwpFault::Page(_))));
    unit.memory().read_only = RING..RING + 32;
    assert_eq!(unit.llwpcb(CB), Err(LwpFault::Page(PageFault { address: RING, write: true })));
    unit.memory().read_only = 0..0;
    for bytes in [0, 31, 63] {
        poke(&mut unit, offset::BUFFER_SIZE_RANDOM, bytes);
        assert_eq!((unit.llwpcb(CB), unit.slwpcb()), (Ok(0), Ok(0)), "no #GP: it is off");
    }
}

#[test]
fn time_stamps_only_with_ptsc() {
    for (flags, expected) in [(Flags::PTSC, 0x1234), (Flags::empty(), 0)] {
        let mut unit = unit();
        unit.time = TimeSource::Fixed(0x1234);
        setup(&mut unit, flags, 1024);
        unit.llwpcb(CB).unwrap();
        unit.lwpins(0, 0, Operand::Value(0), 0).unwrap();
        assert_eq!(record(&mut unit, 0).tsc(), expected);
    }
}

#[test]
fn reserved_fields_are_left_alone() {
    let mut unit = unit();
    setup(&mut unit, Flags::VAL, 1024);
    for at in (20..24).chain(56..64).chain(68..128) {
        unit.memory().write(CB + at, &[0xA5]).unwrap();
    }
    unit.llwpcb(CB).unwrap();
    for _ in 0..40 {
        unit.lwpval(0, 0, Operand::Value(0), 0).unwrap();
    }
    unit.slwpcb().unwrap();
    for at in (20..24).chain(56..64).chain(68..128) {
        let mut byte = [0];
        unit.memory().read(CB + at, &mut byte).unwrap();
        assert_eq!(byte, [0xA5], "byte {at}");
    }
}

#[test]
fn any_alignment_of_lwpcb_and_ring_works() {
    let mut unit = unit();
    let block = CB + 0x203;
    let ring = RING + 5;
    unit.memory().store_u32(block + 4, 1024).unwrap();
    unit.memory().store_u64(block + 8, ring).unwrap();
    unit.llwpcb(block).unwrap();
    unit.lwpins(0x77, 0, Operand::Value(0), 0).unwrap();
    assert_eq!(unit.memory().load_u64(ring + 8), Ok(0x77));
    assert_eq!(unit.memory().load_u32(block + 16), Ok(32));
}
