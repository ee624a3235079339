//! Precise sampling: the events drive the software unit, its buffers interrupt when they are full, and the consumer makes records of them again.
//!
//! Loads count on IA32_PMC0 with load latency; its interrupt enable is clear, so that only the full buffer interrupts. Taken branches and
//! call targets go to the BTS buffer. Each event is an instruction of one byte, so that a record's RIP - 1 is the event's address.

use std::collections::BTreeMap;

use super::{Counts, Delivery, Event, Sampling, Sink, is_call_target};
use crate::codemap::Resolved;
use crate::events::constants::westmere::PEBS_MEM_INST_COUNT_EVENT;
use crate::layout::{EventId, Record};
use crate::pebs::ds::{Buffer, DsArea};
use crate::pebs::msr::{self, OVF_BUFFER, debugctl};
use crate::pebs::record::DataSource;
use crate::pebs::unit::{Branch, Load, Microarchitecture};
use crate::pebs::{Consumer, Processor, Register, Retired, Unit, UnitError};
use crate::record::Typed;
use crate::unit::memory::FlatMemory;

/// Records of each buffer: 4 KiB of BTS, 11 KiB of PEBS. A guess: what the kernel's driver takes is of this order.
const BTS_RECORDS: u64 = 170;
const PEBS_RECORDS: u64 = 64;
const AREA: u64 = 0x1000;
const BTS: u64 = 0x2000;
const PEBS: u64 = 0x4000;
const INT: u64 = 1 << 20;

struct Lane {
    unit: Unit<FlatMemory>,
    /// The last call-target record of an address: its class, to make a record of a branch again.
    targets: BTreeMap<u64, Record>,
    sites: BTreeMap<u64, Resolved>,
    /// Of the unit's dropped records, those that were counted.
    dropped: u64,
}

impl Lane {
    fn new(sampling: Sampling) -> Result<Self, UnitError> {
        let memory = FlatMemory::new(AREA, 0x8000);
        let mut unit = Unit::new(memory, Processor::WESTMERE, Microarchitecture::Westmere).expect("a Westmere has PEBS");
        let detected = unit.detected();
        let buffer = |base: u64, bytes: u64| Buffer { base, index: base, maximum: base + bytes, threshold: base + bytes };
        // The overflow arms and the next event fires: two events with a reset of -1.
        let reset = u64::MAX - u64::from(sampling.period - 2);
        let area = DsArea {
            bts: buffer(BTS, BTS_RECORDS * detected.layout.bts_bytes()),
            pebs: buffer(PEBS, PEBS_RECORDS * detected.format.bytes()),
            resets: [reset; 4],
        };
        area.write(&mut unit.memory, detected.layout, AREA)?;
        for (number, value) in [
            (msr::IA32_DS_AREA, AREA),
            (msr::IA32_PMC0, reset),
            (msr::MSR_PEBS_LD_LAT, msr::LD_LAT_MINIMUM),
            (msr::IA32_PERFEVTSEL0, PEBS_MEM_INST_COUNT_EVENT & !INT),
            (msr::IA32_PEBS_ENABLE, 1 | 1 << 32),
            (msr::IA32_DEBUGCTL, debugctl::TR | debugctl::BTS | debugctl::BTINT),
            (msr::IA32_PERF_GLOBAL_CTRL, 1),
        ] {
            unit.write_msr(number, value)?;
        }
        Ok(Self { unit, targets: BTreeMap::new(), sites: BTreeMap::new(), dropped: 0 })
    }

    /// What the event is to the processor; `None` for what neither buffer can hold.
    fn retired(&mut self, event: &Event) -> Option<Retired> {
        let record = &event.record;
        // As the stub found them, before the instruction: what a load changes then is not known, and the stub's are the last that are.
        let registers = event.registers.as_deref().copied().unwrap_or_default();
        let mut retired = Retired { ip: record.address(), len: 1, cpl: 3, before: registers, after: registers, ..Retired::default() };
        match record.typed() {
            Typed::Branch(branch) if branch.taken() => {
                retired.branch =
                    Some(Branch { target: Some(branch.target()), predicted: branch.predicted() || !branch.prediction_valid() });
            }
            Typed::Value(value) if is_call_target(record) => {
                self.targets.insert(record.address(), *record);
                retired.branch = Some(Branch { target: Some(value.value()), predicted: true });
            }
            Typed::Dcache(miss) => {
                let address = miss.data_address().unwrap_or(0);
                let source = DataSource::from_lwp((record.flags() >> 13) as u8);
                retired.load = Some(Load { address, latency: miss.latency().into(), source });
            }
            _ => return None,
        }
        self.sites.insert(record.address(), event.site);
        Some(retired)
    }

    fn drain(&mut self, counts: &mut Counts, sink: Sink<'_>) -> Result<(), UnitError> {
        let drained = Consumer { core_id: 0, branch_records: true }.drain(&mut self.unit)?;
        self.unit.write_msr(msr::IA32_PERF_GLOBAL_OVF_CTRL, OVF_BUFFER | msr::COUNTER_OVERFLOWS)?;
        counts.lost += drained.unplaced + self.unit.dropped_records() - self.dropped;
        self.dropped = self.unit.dropped_records();
        counts.with_registers += drained.registers.iter().filter(|registers| registers.get(Register::Rsp).is_some()).count() as u64;
        for record in drained.records {
            let Some(site) = self.sites.get(&record.address()) else { continue };
            let target = self.targets.get(&record.address()).filter(|_| record.event_id() == EventId::BRANCHES);
            let record = match target {
                Some(of) => Record::new(EventId::VALUE, 0, of.flags(), of.data1(), record.address(), record.data2(), 0),
                None => record,
            };
            sink(site, &record);
        }
        Ok(())
    }
}

const SET_UP: &str = "the unit's memory holds its debug store, and the values were checked when they were written";

pub(super) struct DebugStores {
    sampling: Sampling,
    lanes: BTreeMap<u64, Lane>,
}

impl DebugStores {
    pub(super) fn new(sampling: Sampling) -> Self {
        Self { sampling, lanes: BTreeMap::new() }
    }
}

impl Delivery for DebugStores {
    fn event(&mut self, event: &Event, counts: &mut Counts, sink: Sink<'_>) {
        let Self { sampling, lanes } = self;
        let lane = lanes.entry(event.ring).or_insert_with(|| Lane::new(*sampling).expect(SET_UP));
        let Some(retired) = lane.retired(event) else {
            counts.unseen += 1;
            return;
        };
        let mut next = lane.unit.retire(&retired).expect(SET_UP);
        while next.is_some() {
            counts.wake_ups += 1;
            lane.drain(counts, sink).expect(SET_UP);
            next = lane.unit.finish_interrupt();
        }
        // What lost against another cause is of no interest here, and the list would grow.
        lane.unit.take_losses();
    }

    fn finish(&mut self, counts: &mut Counts, sink: Sink<'_>) {
        for lane in self.lanes.values_mut() {
            lane.drain(counts, sink).expect(SET_UP);
        }
    }
}
