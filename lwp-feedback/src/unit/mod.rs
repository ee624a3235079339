//! The LWP unit in software: one thread's profiling state, with the behaviour of the final architecture or of the 2007 proposal.
//!
//! In: LLWPCB, SLWPCB, LWPVAL, LWPINS, and what else the program retired ([`Retired`]). Out: records in the ring and changes of the
//! LWPCB, both in user memory ([`UserMemory`]), which is where the state lives: counters, head, MissedEvents. What LLWPCB read (ring,
//! filters, intervals, threshold) is kept, for those fields may not change during a session.
//!
//! Invariants:
//! 1. A fault changes nothing: records go to unpublished slots first, then every field to be written is probed, then all are written.
//! 2. Head is the unit's own; what it finds in memory is checked when it is loaded, so no record is written outside the ring.
//! 3. What the documents leave open is a switch ([`Switches`]) with a documented default.
//!
//! One thread uses a unit at a time; moving the state to another thread is [`Unit::suspend`] and [`Unit::resume`].

mod control;
mod eligible;
pub mod memory;
mod store;
pub mod suspend;
pub mod trace;

use serde::{Deserialize, Serialize};

use crate::capabilities::{Capabilities, Capabilities2007, LwpCfg};
use crate::layout::{EventId, Flags, Record};
use crate::ring::time_stamp;
use control::{Event, Session, Slot};
use memory::{PageFault, UserMemory};
use trace::Retired;

/// Which architecture, with what CPUID reports of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// Publication 43724, as built.
    Final(Capabilities),
    /// The 2007 proposal.
    Proposal(Capabilities2007),
}

/// Which record is written when several counters expire on one instruction. The others stay due and take the next eligible one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Winner {
    /// The lowest EventId.
    #[default]
    LowestId,
    /// The one after the last winner.
    Rotating,
    /// Any.
    Random,
    /// Nobody loses: one record per event, the proposal's advanced implementation.
    OnePerEvent,
}

/// Points that the documents at hand leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Switches {
    /// Which event wins an instruction.
    pub winner: Winner,
    /// The threshold interrupt is due when used == Threshold, else when used >= Threshold. The proposal always compares for equality.
    pub threshold_equal: bool,
    /// LimitIP is the last address inside the filter's range, else the first outside.
    pub limit_ip_inclusive: bool,
    /// LWPVAL and LWPINS obey the IP filter too.
    pub programmed_obey_ip_filter: bool,
    /// A miss needs more than MinLatency, else at least MinLatency.
    pub min_latency_exceeds: bool,
    /// With CLF set, misses without a valid source count.
    pub level_filter_keeps_unknown: bool,
    /// LLWPCB stores the granted Flags back. The proposal always does.
    pub write_back_flags: bool,
    /// In continuous mode MissedEvents counts the records that were overwritten.
    pub continuous_counts_overwritten: bool,
    /// A tail that is no offset of the ring makes it look full, so that MissedEvents counts what is lost until the program puts the tail right;
    /// else no slot ever equals it, and the oldest records are overwritten uncounted.
    pub bad_tail_is_full: bool,
    /// Minimum intervals of events 1 to 6.
    pub min_intervals: [u32; 6],
    /// Head reaches memory only at the threshold, when full, and by SLWPCB or suspend; tail is re-read only when the ring looks past
    /// threshold or full, or every `tail_period` stores.
    pub deferred: bool,
    /// See `deferred`.
    pub tail_period: u32,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            winner: Winner::LowestId,
            threshold_equal: false,
            limit_ip_inclusive: true,
            programmed_obey_ip_filter: false,
            min_latency_exceeds: false,
            level_filter_keeps_unknown: false,
            write_back_flags: true,
            continuous_counts_overwritten: false,
            bad_tail_is_full: true,
            min_intervals: [0; 6],
            deferred: false,
            tail_period: 16,
        }
    }
}

/// A fault that an LWP instruction raises. The unit's state and the LWPCB are unchanged, except where a variant says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum LwpFault {
    /// #UD: no LWP, or the operating system has not enabled it, or (proposal) the instruction does not exist.
    #[error("invalid opcode (#UD): LWP is not available")]
    InvalidOpcode,
    /// #GP: the ring is too small (LWP is off afterwards), or an MSR was asked for what the processor lacks.
    #[error("general protection (#GP)")]
    GeneralProtection,
    /// #PF; the instruction can be restarted.
    #[error(transparent)]
    Page(#[from] PageFault),
}

/// Second operand of LWPVAL and LWPINS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operand {
    /// A register's value.
    Value(u32),
    /// A dword in memory. LWPINS always reads it, LWPVAL only when a record is due.
    Memory(u64),
}

/// Where time stamps come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeSource {
    /// RDTSC.
    Processor,
    /// This value, for simulation.
    Fixed(u64),
}

/// The unit.
#[derive(Clone, Debug)]
pub struct Unit<M> {
    memory: M,
    architecture: Architecture,
    switches: Switches,
    /// CoreId of records.
    pub core_id: u8,
    /// Time stamps of records when PTSC is granted.
    pub time: TimeSource,
    random: u64,
    last_winner: u8,
    interrupts: u64,
    session: Option<Session>,
}

impl<M: UserMemory> Unit<M> {
    /// A unit that is off.
    pub fn new(memory: M, architecture: Architecture, switches: Switches) -> Self {
        Self {
            memory,
            architecture,
            switches,
            core_id: 0,
            time: TimeSource::Processor,
            random: 0x9E37_79B9_7F4A_7C15,
            last_winner: 0,
            interrupts: 0,
            session: None,
        }
    }

    /// Seed of the counters' random bits; 0 is taken as 1.
    pub fn seed(&mut self, seed: u64) {
        self.random = seed.max(1);
    }

    /// The memory.
    pub fn memory(&mut self) -> &mut M {
        &mut self.memory
    }

    /// What the unit is.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// True while LWP is on.
    pub fn is_on(&self) -> bool {
        self.session.is_some()
    }

    /// Threshold interrupts raised since the last call.
    pub fn take_interrupts(&mut self) -> u64 {
        std::mem::take(&mut self.interrupts)
    }

    /// Where head would be if it were published now, and the ring's size; `None` when off.
    pub fn head(&self) -> Option<(u32, u32)> {
        self.session.as_ref().map(|session| (session.head, session.size))
    }

    fn is_usable(&self) -> bool {
        match self.architecture {
            Architecture::Final(capabilities) => capabilities.is_usable(),
            Architecture::Proposal(capabilities) => capabilities.available & capabilities.enabled & 1 != 0,
        }
    }

    fn require_usable(&self) -> Result<(), LwpFault> {
        if self.is_usable() { Ok(()) } else { Err(LwpFault::InvalidOpcode) }
    }

    /// LLWPCB: flushes the old session, then starts one described by the LWPCB at `address`, or none for 0. Returns the old address, as
    /// the proposal's instruction does.
    pub fn llwpcb(&mut self, address: u64) -> Result<u64, LwpFault> {
        self.require_usable()?;
        let old = self.flush()?;
        if address == 0 {
            self.session = None;
            return Ok(old);
        }
        match self.load(address) {
            Ok(session) => self.session = session,
            Err(fault) => {
                if fault == LwpFault::GeneralProtection {
                    self.session = None;
                }
                return Err(fault);
            }
        }
        Ok(old)
    }

    /// SLWPCB: flushes, and returns the LWPCB's address, 0 when off.
    pub fn slwpcb(&mut self) -> Result<u64, LwpFault> {
        self.require_usable()?;
        Ok(self.flush()?)
    }

    /// LWPINS. Returns CF: true when the ring was full. `imm` is the instruction's imm32, of which 16 bits are kept.
    pub fn lwpins(&mut self, ip: u64, data2: u64, data1: Operand, imm: u32) -> Result<bool, LwpFault> {
        self.require_programmed()?;
        let data1 = self.operand(data1)?;
        let Some(session) = self.session.as_ref() else {
            return Ok(false);
        };
        if self.switches.programmed_obey_ip_filter && !session.passes_ip(ip, &self.switches) {
            return Ok(false);
        }
        let record = Record::new(EventId::PROGRAMMED, self.core_id, imm as u16, data1, ip, data2, self.stamp());
        Ok(!self.store(&[record], &[])?)
    }

    /// LWPVAL. Returns true when a record was due.
    pub fn lwpval(&mut self, ip: u64, data2: u64, data1: Operand, imm: u32) -> Result<bool, LwpFault> {
        self.require_programmed()?;
        let Some(session) = self.session.as_ref() else {
            return Ok(false);
        };
        let Some(slot) = session.value_slot else {
            return Ok(false);
        };
        if self.switches.programmed_obey_ip_filter && !session.passes_ip(ip, &self.switches) {
            return Ok(false);
        }
        let counter = self.memory.load_u32(slot.counter_at)?;
        let (left, due) = slot.count(counter, 1, false);
        if !due {
            self.store(&[], &[(slot.counter_at, left)])?;
            return Ok(false);
        }
        let data1 = self.operand(data1)?;
        let record = Record::new(EventId::VALUE, self.core_id, imm as u16, data1, ip, data2, self.stamp());
        let reloaded = self.reload(slot);
        self.store(&[record], &[(slot.counter_at, reloaded)])?;
        Ok(true)
    }

    fn require_programmed(&self) -> Result<(), LwpFault> {
        match self.architecture {
            Architecture::Final(_) => self.require_usable(),
            Architecture::Proposal(_) => Err(LwpFault::InvalidOpcode),
        }
    }

    fn operand(&mut self, operand: Operand) -> Result<u32, PageFault> {
        match operand {
            Operand::Value(value) => Ok(value),
            Operand::Memory(address) => self.memory.load_u32(address),
        }
    }

    /// Counts a retired instruction's events and writes at most one record (one per event with [`Winner::OnePerEvent`]). Returns how
    /// many were due and written or missed. An LWP instruction retires too: report it after executing it.
    pub fn retire(&mut self, retired: &Retired) -> Result<usize, LwpFault> {
        let Some(session) = self.session.as_ref().filter(|_| retired.cpl == 3) else {
            return Ok(0);
        };
        if !session.passes_ip(retired.ip, &self.switches) {
            return Ok(0);
        }
        let proposal = matches!(self.architecture, Architecture::Proposal(_));
        let mut counters = Vec::with_capacity(session.slots.len());
        let mut due = Vec::new();
        for slot in session.slots.clone() {
            let occurrences = self.occurrences(slot.event, retired);
            if occurrences == 0 {
                continue;
            }
            let before = self.memory.load_u32(slot.counter_at)?;
            let (left, is_due) = slot.count(before, occurrences, proposal);
            counters.push((slot.counter_at, left));
            if is_due {
                due.push((slot, slot.events_until_due(before, proposal)));
            }
        }
        let due = self.choose(due);
        let mut records = Vec::with_capacity(due.len());
        for (slot, nth) in due {
            records.push(self.event_record(slot.event, retired, nth));
            let reloaded = self.reload(slot);
            counters.retain(|&(at, _)| at != slot.counter_at);
            counters.push((slot.counter_at, reloaded));
        }
        self.store(&records, &counters)?;
        Ok(records.len())
    }

    /// The events that get their record now.
    fn choose(&mut self, mut due: Vec<(Slot, u32)>) -> Vec<(Slot, u32)> {
        due.sort_by_key(|(slot, _)| slot.event);
        if due.len() > 1 {
            let winner = match self.switches.winner {
                Winner::OnePerEvent => return due,
                Winner::LowestId => 0,
                Winner::Rotating => due.iter().position(|(slot, _)| slot.event as u8 > self.last_winner).unwrap_or(0),
                Winner::Random => (self.next_random() % due.len() as u64) as usize,
            };
            due = vec![due[winner]];
        }
        if let Some((slot, _)) = due.first() {
            self.last_winner = slot.event as u8;
        }
        due
    }

    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    fn stamp(&self) -> u64 {
        match (&self.session, self.time) {
            (Some(session), TimeSource::Processor) if session.flags.contains(Flags::PTSC) => time_stamp(),
            (Some(session), TimeSource::Fixed(time)) if session.flags.contains(Flags::PTSC) => time,
            _ => 0,
        }
    }

    /// The final architecture's MSR LWP_CFG: what the operating system enables. Asking for what the processor lacks is #GP.
    pub fn write_cfg(&mut self, cfg: LwpCfg) -> Result<(), LwpFault> {
        let Architecture::Final(capabilities) = &mut self.architecture else {
            return Err(LwpFault::GeneralProtection);
        };
        capabilities.enabled = cfg.enabled(capabilities.available).ok_or(LwpFault::GeneralProtection)?;
        self.core_id = cfg.core_id();
        Ok(())
    }

    /// The proposal's LWPMSR0: what the operating system enables. A bit that EDX of leaf 8000_001C lacks is #GP.
    pub fn write_lwpmsr0(&mut self, value: u64) -> Result<(), LwpFault> {
        let Architecture::Proposal(capabilities) = &mut self.architecture else {
            return Err(LwpFault::GeneralProtection);
        };
        match u32::try_from(value) {
            Ok(bits) if bits & !(capabilities.available & 0x8000_000F) == 0 => {
                capabilities.enabled = bits;
                Ok(())
            }
            _ => Err(LwpFault::GeneralProtection),
        }
    }

    /// RDMSR of the proposal's LWPMSR1 is SLWPCB.
    pub fn read_lwpmsr1(&mut self) -> Result<u64, LwpFault> {
        self.slwpcb()
    }

    /// WRMSR of the proposal's LWPMSR1 is LLWPCB.
    pub fn write_lwpmsr1(&mut self, address: u64) -> Result<(), LwpFault> {
        self.llwpcb(address).map(|_| ())
    }

    fn event_record(&self, event: Event, retired: &Retired, nth: u32) -> Record {
        let (flags, data1, data2) = self.event_data(event, retired, nth);
        let id = match self.architecture {
            Architecture::Final(_) => event as u8,
            Architecture::Proposal(_) => event as u8 - 1,
        };
        Record::new(EventId(id), self.core_id, flags, data1, retired.ip, data2, self.stamp())
    }
}

#[cfg(test)]
mod tests;
