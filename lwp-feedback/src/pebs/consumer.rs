//! From a DS area to LWP records, so that PEBS and BTS feed the same monitor and policy.
//!
//! | counter's event | LWP record |
//! |---|---|
//! | load latency | DCache miss: latency, data address, SRC by [`DataSource::to_lwp`](super::record::DataSource::to_lwp) |
//! | other loads | DCache miss without address and latency |
//! | mispredicted branches | branch: PRV set, PRD clear; TKN and target from the branch trace where it has the branch |
//! | branches | branch, likewise |
//! | anything else precise | instructions |
//! | a BTS record | branch: TKN and PRV set, PRD by its bit 4 |
//!
//! With trap reporting a record's RIP is after the instruction: the LWP record's address is then RIP - 1, inside it, which the code map resolves to
//! the instruction. After a taken branch RIP is the target; the branch trace then says where it was, and without one the record is dropped and
//! counted.

use super::ds::{BtsRecord, DsArea};
use super::msr;
use super::record::{Enhanced, Format, PebsRecord};
use super::registers::{Register, Registers};
use super::unit::{Unit, UnitError};
use crate::events::EventSelect;
use crate::layout::{EventId, Record};
use crate::unit::memory::UserMemory;

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// LWP records: those of PEBS, then those of the branch trace.
    pub records: Vec<Record>,
    /// PEBS records read.
    pub pebs: u64,
    /// What those records hold of the registers.
    pub registers: Vec<Registers>,
    /// BTS records read.
    pub bts: u64,
    /// PEBS records whose instruction's address is not known.
    pub unplaced: u64,
}

/// Reads DS areas.
#[derive(Clone, Debug)]
pub struct Consumer {
    /// CoreId of the LWP records.
    pub core_id: u8,
    /// Whether the branch trace becomes records, or only helps to place PEBS records.
    pub branch_records: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    LoadLatency,
    Load,
    Branch,
    Mispredicted,
    Instruction,
}

fn kind(select: EventSelect) -> Kind {
    match (select.event, select.unit_mask) {
        (0x0B, 0x10) => Kind::LoadLatency,
        (0x0B, 1) | (0xCB, _) => Kind::Load,
        (0xC4, _) => Kind::Branch,
        (0xC5, _) => Kind::Mispredicted,
        _ => Kind::Instruction,
    }
}

const TAKEN: u16 = 1 << 15;
const PREDICTED: u16 = 1 << 14;
const PREDICTION_VALID: u16 = 1 << 13;
const ADDRESS_VALID: u16 = 1 << 12;

impl Consumer {
    /// Turns what the area holds into records and empties both buffers: the indexes go back to the bases.
    pub fn drain<M: UserMemory>(&self, unit: &mut Unit<M>) -> Result<Drained, UnitError> {
        let detected = unit.detected();
        let area = unit.ds_area()?;
        let address = unit.read_msr(msr::IA32_DS_AREA)?;
        let mut drained = Drained::default();
        let mut branches = Vec::new();
        let mut at = area.bts.base;
        while at + detected.layout.bts_bytes() <= area.bts.index.min(area.bts.maximum) {
            branches.push(BtsRecord::read(&mut unit.memory, detected.layout, at)?);
            at += detected.layout.bts_bytes();
        }
        drained.bts = branches.len() as u64;
        let mut selects = [EventSelect::default(); 4];
        let enabled = unit.read_msr(msr::IA32_PEBS_ENABLE)? & msr::PEBS_PMC_EN;
        for (counter, select) in selects.iter_mut().enumerate() {
            *select = EventSelect::from_bits(unit.read_msr(msr::IA32_PERFEVTSEL0 + counter as u32)?).unwrap_or_default();
        }
        for (at, record) in pebs_records(unit, &area, detected.format)? {
            drained.pebs += 1;
            drained.registers.push(record.registers);
            match self.convert(&record, detected.trap, enabled, &selects, &branches) {
                Some(record) => drained.records.push(record),
                None => drained.unplaced += 1,
            }
            debug_assert!(at < area.pebs.index);
        }
        if self.branch_records {
            drained.records.extend(branches.iter().map(|branch| {
                let predicted = if branch.predicted { PREDICTED } else { 0 };
                Record::new(EventId::BRANCHES, self.core_id, TAKEN | PREDICTION_VALID | predicted, 0, branch.from, branch.to, 0)
            }));
        }
        detected.layout.store(&mut unit.memory, detected.layout.pebs_index(address), area.pebs.base)?;
        detected.layout.store(&mut unit.memory, detected.layout.bts_index(address), area.bts.base)?;
        Ok(drained)
    }

    fn convert(&self, record: &PebsRecord, trap: bool, enabled: u64, selects: &[EventSelect; 4], branches: &[BtsRecord]) -> Option<Record> {
        let ip = record.registers.get(Register::Rip)?;
        // The counter is the first, by priority, of those that had overflowed and have PEBS on; without the status any that has it on.
        let status = record.enhanced.map_or(enabled, |enhanced| enhanced.status & enabled);
        let counter = (0..4).find(|counter| status >> counter & 1 != 0);
        let kind = counter.map_or(Kind::Instruction, |counter| kind(selects[counter]));
        let branch = branches.iter().rev().find(|branch| if trap { branch.to == ip } else { branch.from == ip });
        let address = match (trap, kind, branch) {
            (false, ..) => ip,
            (true, _, Some(branch)) => branch.from,
            (true, Kind::Branch | Kind::Mispredicted, None) => return None,
            (true, _, None) => ip.wrapping_sub(1),
        };
        let new = |event, flags, data1, data2| Some(Record::new(event, self.core_id, flags, data1, address, data2, 0));
        match (kind, record.enhanced) {
            (Kind::LoadLatency, Some(Enhanced { data_address, data_source, latency, .. })) => {
                let flags = u16::from(data_source.to_lwp()) << 13 | ADDRESS_VALID;
                new(EventId::DCACHE, flags, u32::try_from(latency).unwrap_or(u32::MAX), data_address)
            }
            (Kind::LoadLatency | Kind::Load, _) => new(EventId::DCACHE, 0, 0, 0),
            (Kind::Branch | Kind::Mispredicted, _) => {
                let taken = if branch.is_some() { TAKEN } else { 0 };
                let prediction = match (kind, branch) {
                    (Kind::Mispredicted, _) => PREDICTION_VALID,
                    (_, Some(branch)) => PREDICTION_VALID | if branch.predicted { PREDICTED } else { 0 },
                    _ => 0,
                };
                new(EventId::BRANCHES, taken | prediction, 0, branch.map_or(0, |branch| branch.to))
            }
            (Kind::Instruction, _) => new(EventId::INSTRUCTIONS, 0, 0, 0),
        }
    }
}

/// The records between the PEBS buffer's base and its index, with their addresses.
pub fn pebs_records<M: UserMemory>(unit: &mut Unit<M>, area: &DsArea, format: Format) -> Result<Vec<(u64, PebsRecord)>, UnitError> {
    let mut records = Vec::new();
    let mut at = area.pebs.base;
    while at + format.bytes() <= area.pebs.index.min(area.pebs.maximum) {
        let mut bytes = vec![0; format.bytes() as usize];
        unit.memory.read(at, &mut bytes)?;
        let known = unit.known_registers(at);
        records.push((at, PebsRecord::from_bytes(format, &bytes, known).expect("the bytes of one record")));
        at += format.bytes();
    }
    Ok(records)
}
