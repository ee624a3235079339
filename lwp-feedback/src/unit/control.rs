//! Reading an LWPCB: what LLWPCB makes of it, in both generations' layouts.

use super::memory::UserMemory;
use super::{Architecture, LwpFault, Switches, Unit};
use crate::capabilities::{Capabilities, Capabilities2007};
use crate::layout::{
    BUFFER_SIZE_MASK, COUNTER_MASK, COUNTER_SIGN_BIT, Filters, Flags, RANDOM_SHIFT, RECORD_BYTES, reloaded_counter, sign_extend_26,
};

/// Events that slots count; the numbers are the final architecture's EventIds, the proposal's are one less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Event {
    Value = 1,
    Instructions = 2,
    Branches = 3,
    Dcache = 4,
    CoreClocks = 5,
    RefClocks = 6,
}

const COUNTED: [Event; 5] = [Event::Instructions, Event::Branches, Event::Dcache, Event::CoreClocks, Event::RefClocks];

/// A counter in use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) event: Event,
    /// Interval as LLWPCB took it.
    pub(super) interval: u32,
    /// Address of the counter's dword.
    pub(super) counter_at: u64,
}

impl Slot {
    /// The counter after `events` more, and whether a record is due. Final: below zero, and it keeps going (to -2^25 at most, rather
    /// than wrap to positive). Proposal: at zero, where it freezes.
    pub(super) fn count(self, counter: u32, events: u32, proposal: bool) -> (u32, bool) {
        if proposal {
            let left = (counter & COUNTER_MASK).saturating_sub(events);
            return (left, left == 0);
        }
        let left = (i64::from(sign_extend_26(counter)) - i64::from(events)).max(-i64::from(COUNTER_SIGN_BIT));
        (left as u32 & COUNTER_MASK, left < 0)
    }

    /// Which of an instruction's events, from 0, is the one that makes the record due.
    pub(super) fn events_until_due(self, counter: u32, proposal: bool) -> u32 {
        if proposal { (counter & COUNTER_MASK).saturating_sub(1) } else { sign_extend_26(counter).max(0) as u32 }
    }
}

/// LWP is on: what LLWPCB read, and the head.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) address: u64,
    /// Granted flags; of the proposal's only INT is kept here.
    pub(super) flags: Flags,
    pub(super) base: u64,
    pub(super) size: u32,
    pub(super) random_bits: u32,
    pub(super) filters: u32,
    /// 0: none.
    pub(super) threshold: u32,
    /// IPF is set; the proposal has another meaning for the same bit.
    pub(super) ip_filter: bool,
    pub(super) base_ip: u64,
    pub(super) limit_ip: u64,
    pub(super) tail_at: u64,
    pub(super) head: u32,
    pub(super) seen_tail: u32,
    pub(super) stores_since_tail: u32,
    /// Tail when the threshold interrupt was raised last: no other is due while the tail stands there and the ring holds Threshold bytes.
    pub(super) announced_at: Option<u32>,
    /// Deferred proposal: MissedEvents must be incremented.
    pub(super) missed_pending: bool,
    pub(super) value_slot: Option<Slot>,
    pub(super) slots: Vec<Slot>,
}

impl Session {
    pub(super) fn passes_ip(&self, ip: u64, switches: &Switches) -> bool {
        if !self.ip_filter {
            return true;
        }
        let below = if switches.limit_ip_inclusive { ip <= self.limit_ip } else { ip < self.limit_ip };
        let inside = ip >= self.base_ip && below;
        inside != (self.filters & Filters::IPI.bits() != 0)
    }
}

/// Byte 16 in both generations.
pub(super) const HEAD_AT: u64 = 16;
/// Byte 24 in both generations.
pub(super) const MISSED_AT: u64 = 24;

/// First event quadword and tail of the proposal's LWPCB.
const PROPOSAL_EVENTS: u64 = 40;
const PROPOSAL_TAIL: u64 = 20;
const FINAL_TAIL: u64 = 64;

impl<M: UserMemory> Unit<M> {
    /// `None`: the proposal's "nothing selected", which leaves LWP off.
    pub(super) fn load(&mut self, address: u64) -> Result<Option<Session>, LwpFault> {
        match self.architecture {
            Architecture::Final(capabilities) => self.load_final(address, capabilities).map(Some),
            Architecture::Proposal(capabilities) => self.load_proposal(address, capabilities),
        }
    }

    fn load_common(&mut self, address: u64, cb_bytes: u64, tail: u64) -> Result<Session, LwpFault> {
        self.memory.probe_write(address, cb_bytes as usize)?;
        let size_random = self.memory.load_u32(address + 4)?;
        let size = (size_random & BUFFER_SIZE_MASK) / RECORD_BYTES * RECORD_BYTES;
        let head = self.memory.load_u32(address + HEAD_AT)?;
        let head = if head >= size { 0 } else { head / RECORD_BYTES * RECORD_BYTES };
        let threshold = self.memory.load_u32(address + 32)?;
        Ok(Session {
            address,
            flags: Flags::empty(),
            base: self.memory.load_u64(address + 8)?,
            size,
            random_bits: size_random >> RANDOM_SHIFT,
            filters: self.memory.load_u32(address + 36)?,
            threshold: if threshold > size { 0 } else { threshold },
            ip_filter: false,
            base_ip: 0,
            limit_ip: 0,
            tail_at: address + tail,
            head,
            seen_tail: self.memory.load_u32(address + tail)?,
            stores_since_tail: 0,
            announced_at: None,
            missed_pending: false,
            value_slot: None,
            slots: Vec::new(),
        })
    }

    fn load_final(&mut self, address: u64, capabilities: Capabilities) -> Result<Session, LwpFault> {
        let mut session = self.load_common(address, capabilities.cb_bytes().into(), FINAL_TAIL)?;
        if session.size < capabilities.min_buffer_bytes().max(RECORD_BYTES) {
            return Err(LwpFault::GeneralProtection);
        }
        self.memory.probe_write(session.base, session.size as usize)?;
        let requested = self.memory.load_u32(address)?;
        session.flags = Flags::from_bits_retain(requested) & capabilities.grantable_flags();
        session.threshold = session.threshold / RECORD_BYTES * RECORD_BYTES;
        session.base_ip = self.memory.load_u64(address + 40)?;
        session.limit_ip = self.memory.load_u64(address + 48)?;
        // Filters the processor lacks are ignored.
        let mut usable = Filters::NAB | Filters::NCB | Filters::NRB;
        usable.set(Filters::NMB | Filters::NPB, capabilities.branch_prediction_filter);
        usable.set(Filters::IPF | Filters::IPI, capabilities.ip_filter);
        usable.set(Filters::CLF | Filters::NBC | Filters::RDC | Filters::RAM | Filters::OTH, capabilities.cache_level_filter);
        usable.set(Filters::MIN_LATENCY, capabilities.cache_latency_filter);
        session.filters &= usable.bits();
        session.ip_filter = session.filters & Filters::IPF.bits() != 0;
        if session.flags.contains(Flags::VAL) {
            session.value_slot = Some(self.final_slot(address, capabilities, Event::Value)?);
        }
        for event in COUNTED {
            if session.flags.bits() & 1 << event as u8 != 0 {
                session.slots.push(self.final_slot(address, capabilities, event)?);
            }
        }
        if self.switches.write_back_flags {
            self.memory.store_u32(address, session.flags.bits())?;
        }
        Ok(session)
    }

    fn final_slot(&mut self, address: u64, capabilities: Capabilities, event: Event) -> Result<Slot, LwpFault> {
        let index = u64::from(event as u8 - 1);
        let at = address + u64::from(capabilities.event_offset) + 8 * index;
        let interval = sign_extend_26(self.memory.load_u32(at)?).max(0) as u32;
        let interval = interval.max(self.switches.min_intervals[index as usize]);
        Ok(Slot { event, interval, counter_at: at + 4 })
    }

    fn load_proposal(&mut self, address: u64, capabilities: Capabilities2007) -> Result<Option<Session>, LwpFault> {
        // 16-byte alignment is required and no fault is given for its lack: the low bits are ignored, as BufferBase's are.
        let address = address & !15;
        let mut session = self.load_common(address, capabilities.cb_bytes.into(), PROPOSAL_TAIL)?;
        session.base &= !31;
        if !capabilities.cache_latency_filter {
            session.filters &= !Filters::MIN_LATENCY.bits();
        }
        if !capabilities.cache_level_filter {
            session.filters &= !Filters::CLF.bits();
        }
        let allowed = capabilities.available & capabilities.enabled;
        let mut selected = 0u32;
        for index in 0..u64::from(capabilities.max_events) {
            let at = address + PROPOSAL_EVENTS + 8 * index;
            let low = self.memory.load_u32(at)?;
            let id = low >> 26;
            // A duplicate counts as 0; its field stays as it is.
            if !(1..=3).contains(&id) || allowed & 1 << id == 0 || selected & 1 << id != 0 {
                continue;
            }
            selected |= 1 << id;
            let event = COUNTED[id as usize - 1];
            session.slots.push(Slot { event, interval: low & COUNTER_MASK, counter_at: at + 4 });
        }
        // A ring without room for a record cannot be used; the proposal has no fault for it either.
        if selected == 0 || session.size < 2 * RECORD_BYTES {
            self.memory.store_u32(address, 0)?;
            return Ok(None);
        }
        self.memory.probe_write(session.base, session.size as usize)?;
        session.flags.set(Flags::INT, allowed & Flags::INT.bits() != 0);
        self.memory.store_u32(address, 1 | selected | session.flags.bits())?;
        Ok(Some(session))
    }

    /// The counter's value after a record.
    pub(super) fn reload(&mut self, slot: Slot) -> u32 {
        let random = self.next_random() as u32;
        let bits = self.session.as_ref().map_or(0, |session| session.random_bits);
        reloaded_counter(slot.interval, bits, random)
    }
}
