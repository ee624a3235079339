//! A small model of the sampling unit, written from the rules and not from the unit: it keeps a list of what happened instead of registers.
//! Random machines run in both.

use lwp_feedback::pebs::ds::{Buffer, DsArea};
use lwp_feedback::pebs::unit::{Branch, Cause, CounterId, Microarchitecture, Retired};
use lwp_feedback::pebs::{Processor, Register, Unit, msr};
use lwp_feedback::unit::memory::FlatMemory;
use proptest::prelude::*;

const AREA: u64 = 0x1000;
const PEBS: u64 = 0x10000;
const BTS: u64 = 0x2000;

#[derive(Clone, Debug)]
struct Setup {
    /// Per PMC: steps until the overflow, PEBS, event (0 instructions, 1 mispredicted branches, 2 core clocks: not precise), running.
    counters: [(u32, bool, u8, bool); 4],
    fixed: [(u32, bool); 3],
    reset: u32,
    pebs_room: u64,
    bts_room: u64,
    bts_interrupts: bool,
    freeze: bool,
    trap: bool,
    delay: u32,
    /// What the handler does: empty the PEBS buffer, empty the BTS buffer, clear the status.
    handler: [bool; 3],
    steps: Vec<(Option<bool>, u32, bool)>,
}

fn setups() -> impl Strategy<Value = Setup> {
    (
        proptest::array::uniform4((0u32..12, any::<bool>(), 0u8..3, any::<bool>())),
        proptest::array::uniform3((0u32..12, any::<bool>())),
        0u32..6,
        0u64..5,
        (1u64..12, any::<bool>(), any::<bool>(), any::<bool>(), 0u32..3, any::<[bool; 3]>()),
        proptest::collection::vec((proptest::option::of(any::<bool>()), 0u32..4, prop::bool::weighted(0.9)), 1..60),
    )
        .prop_map(|(counters, fixed, reset, pebs_room, (bts_room, bts_interrupts, freeze, trap, delay, handler), steps)| Setup {
            counters,
            fixed,
            reset,
            pebs_room,
            bts_room,
            bts_interrupts,
            freeze,
            trap,
            delay,
            handler,
            steps,
        })
}

/// Everything that can be seen from outside.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    /// (step, priority number, is PEBS, status on entry).
    interrupts: Vec<(usize, usize, bool, u64)>,
    /// (RIP, status) of each record.
    records: Vec<(u64, u64)>,
    branches: u64,
    status: u64,
    counters: Vec<u64>,
    pebs_index: u64,
    bts_index: u64,
}

/// PMC0 to 3 are 0 to 3, fixed counters 4 to 6, then the buffers.
fn priority(cause: Cause) -> usize {
    match cause {
        Cause::Counter(CounterId::Pmc(counter)) => counter.into(),
        Cause::Counter(CounterId::Fixed(counter)) => 4 + usize::from(counter),
        Cause::PebsBufferFull => 7,
        Cause::BtsBufferFull => 8,
    }
}

fn in_unit(setup: &Setup) -> Seen {
    let processor = Processor { perf_capabilities: if setup.trap { 0x2145 } else { 0x2105 }, ..Processor::WESTMERE };
    let mut unit = Unit::new(FlatMemory::new(0, 0x14000), processor, Microarchitecture::Westmere).unwrap();
    unit.assist_delay = setup.delay;
    let buffer = |base: u64, bytes: u64| Buffer { base, index: base, maximum: base + bytes, threshold: base + bytes };
    let area = DsArea {
        bts: buffer(BTS, setup.bts_room * 24),
        pebs: buffer(PEBS, setup.pebs_room * 0xB0),
        resets: [(1u64 << 48) - 1 - u64::from(setup.reset); 4],
    };
    let layout = unit.detected().layout;
    area.write(&mut unit.memory, layout, AREA).unwrap();
    let mut enable = 0;
    let mut pebs = 0;
    let mut writes = vec![(msr::IA32_DS_AREA, AREA)];
    for (index, (left, is_pebs, event, running)) in setup.counters.into_iter().enumerate() {
        let select = [0x53_00C0, 0x53_00C5, 0x53_003C][usize::from(event)];
        writes.push((msr::IA32_PERFEVTSEL0 + index as u32, select));
        writes.push((msr::IA32_PMC0 + index as u32, (1 << 48) - 1 - u64::from(left)));
        pebs |= u64::from(is_pebs) << index;
        enable |= u64::from(running) << index;
    }
    for (index, (left, running)) in setup.fixed.into_iter().enumerate() {
        writes.push((msr::IA32_FIXED_CTR0 + index as u32, (1 << 48) - 1 - u64::from(left)));
        enable |= u64::from(running) << (32 + index);
    }
    writes.extend([(msr::IA32_FIXED_CTR_CTRL, 0xBBB), (msr::IA32_PEBS_ENABLE, pebs), (msr::IA32_PERF_GLOBAL_CTRL, enable)]);
    let debugctl = 0b1100_0000 | u64::from(setup.bts_interrupts) << 8 | u64::from(setup.freeze) << 12;
    writes.push((msr::IA32_DEBUGCTL, debugctl));
    for (number, value) in writes {
        unit.write_msr(number, value).unwrap();
    }
    let mut seen = Seen::default();
    for (step, (branch, clocks, interrupts_enabled)) in setup.steps.iter().enumerate() {
        unit.interrupts_enabled = *interrupts_enabled;
        let ip = 0x100 + 0x10 * step as u64;
        let branch = branch.map(|predicted| Branch { target: Some(ip + 0x10), predicted });
        let retired = Retired { ip, len: 4, branch, core_clocks: *clocks, ref_clocks: *clocks, ..Retired::default() };
        let mut next = unit.retire(&retired).unwrap();
        while let Some(interrupt) = next {
            seen.interrupts.push((step, priority(interrupt.cause), interrupt.pebs, unit.read_msr(msr::IA32_PERF_GLOBAL_STATUS).unwrap()));
            let mut area = unit.ds_area().unwrap();
            if interrupt.pebs {
                let format = unit.detected().format;
                let (_, record) = *lwp_feedback::pebs::consumer::pebs_records(&mut unit, &area, format).unwrap().last().unwrap();
                seen.records.push((record.registers.get(Register::Rip).unwrap(), record.enhanced.unwrap().status));
            }
            if setup.handler[0] {
                area.pebs.index = area.pebs.base;
            }
            if setup.handler[1] {
                area.bts.index = area.bts.base;
            }
            area.write(&mut unit.memory, layout, AREA).unwrap();
            if setup.handler[2] {
                unit.write_msr(msr::IA32_PERF_GLOBAL_OVF_CTRL, msr::COUNTER_OVERFLOWS | msr::OVF_BUFFER).unwrap();
            }
            next = unit.finish_interrupt();
        }
    }
    seen.branches = unit.records().1;
    seen.status = unit.read_msr(msr::IA32_PERF_GLOBAL_STATUS).unwrap();
    let numbers = (msr::IA32_PMC0..=msr::IA32_PMC3).chain(msr::IA32_FIXED_CTR0..=msr::IA32_FIXED_CTR2);
    seen.counters = numbers.map(|number| unit.read_msr(number).unwrap()).collect();
    let area = unit.ds_area().unwrap();
    (seen.pebs_index, seen.bts_index) = (area.pebs.index, area.bts.index);
    seen
}

/// One counter of the model: how far it is from zero, and how many of its events must still pass before a record.
struct Counter {
    value: i64,
    precise: bool,
    running: bool,
    wait: Option<u32>,
}

fn in_model(setup: &Setup) -> Seen {
    let mut counters: Vec<Counter> = setup
        .counters
        .iter()
        .map(|(left, pebs, event, running)| Counter {
            value: -1 - i64::from(*left),
            precise: *pebs && *event != 2,
            running: *running,
            wait: None,
        })
        .chain(setup.fixed.iter().map(|(left, running)| Counter {
            value: -1 - i64::from(*left),
            precise: false,
            running: *running,
            wait: None,
        }))
        .collect();
    let mut seen = Seen::default();
    let mut overflowed = [false; 7];
    let mut buffer_overflowed = false;
    let mut pending: Vec<(usize, usize)> = Vec::new(); // (step raised, priority)
    let (mut used, mut traced) = (0, 0);
    let bits = |overflowed: &[bool; 7], buffer: bool| {
        (0..7)
            .filter(|index| overflowed[*index])
            .fold(u64::from(buffer) << 62, |bits, index| bits | 1 << if index < 4 { index } else { 28 + index })
    };
    for (step, (branch, clocks, interrupts_enabled)) in setup.steps.iter().enumerate() {
        let mut fires = Vec::new();
        for (index, counter) in counters.iter_mut().enumerate() {
            let event = if index < 4 { setup.counters[index].2 } else { [0, 2, 2][index - 4] };
            let happened = match event {
                0 => 1,
                1 => i64::from(*branch == Some(false)),
                _ => i64::from(*clocks),
            };
            if !counter.running || happened == 0 {
                continue;
            }
            let below = counter.value < 0;
            counter.value += happened;
            match counter.wait {
                Some(0) => {
                    counter.wait = None;
                    fires.push(index);
                }
                Some(left) => counter.wait = Some(left - 1),
                None if below && counter.value >= 0 => {
                    overflowed[index] = true;
                    if counter.precise {
                        counter.wait = Some(setup.delay);
                    } else if !pending.iter().any(|(_, other)| *other == index) {
                        pending.push((step, index));
                    }
                }
                None => {}
            }
        }
        if branch.is_some() {
            let full = traced == setup.bts_room;
            if setup.bts_interrupts {
                if !full {
                    traced += 1;
                    seen.branches += 1;
                    if traced == setup.bts_room && !pending.iter().any(|(_, other)| *other == 8) {
                        pending.push((step, 8));
                    }
                }
            } else {
                traced = (traced + 1) % setup.bts_room;
                seen.branches += 1;
            }
        }
        if !interrupts_enabled {
            continue;
        }
        if used == setup.pebs_room && !fires.is_empty() {
            fires.clear();
            buffer_overflowed = true;
            if !pending.iter().any(|(_, other)| *other == 7) {
                pending.push((step, 7));
            }
        }
        let candidates = pending.iter().filter(|(raised, _)| *raised < step).map(|(_, who)| *who).chain(fires.iter().copied());
        let Some(winner) = candidates.min() else { continue };
        let by_pebs = fires.contains(&winner);
        let ip = 0x100 + 0x10 * step as u64;
        let mut calls = vec![(winner, by_pebs)];
        if by_pebs {
            let next = if branch.is_some() { ip + 0x10 } else { ip + 4 };
            seen.records.push((if setup.trap { next } else { ip }, bits(&overflowed, buffer_overflowed)));
            used += 1;
            overflowed[winner] = false;
            counters[winner].value = -1 - i64::from(setup.reset);
            if used == setup.pebs_room {
                buffer_overflowed = true;
                calls.push((7, false));
            }
        }
        pending.clear();
        for (who, is_pebs) in calls {
            if setup.freeze {
                counters.iter_mut().for_each(|counter| counter.running = false);
            }
            seen.interrupts.push((step, who, is_pebs, bits(&overflowed, buffer_overflowed)));
            if setup.handler[0] {
                used = 0;
            }
            if setup.handler[1] {
                traced = 0;
            }
            if setup.handler[2] {
                overflowed = [false; 7];
                buffer_overflowed = false;
            }
        }
    }
    seen.status = bits(&overflowed, buffer_overflowed);
    seen.counters = counters.iter().map(|counter| counter.value as u64 & ((1 << 48) - 1)).collect();
    seen.pebs_index = PEBS + used * 0xB0;
    seen.bts_index = BTS + traced * 24;
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]
    #[test]
    fn random_traces_agree_with_the_model(setup in setups()) {
        prop_assert_eq!(in_unit(&setup), in_model(&setup));
    }
}
