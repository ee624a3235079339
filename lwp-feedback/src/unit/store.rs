//! Putting records into the ring and counters into the LWPCB, all or nothing.

use super::control::{HEAD_AT, MISSED_AT};
use super::memory::{PageFault, UserMemory};
use super::{Architecture, Unit};
use crate::layout::{Flags, Record};
use crate::ring::protocol::{bytes_used, is_offset, next_offset};

impl<M: UserMemory> Unit<M> {
    /// Stores `records` and `counters` (address, value). Returns false when a record was missed because the ring was full. Does
    /// nothing when LWP is off.
    pub(super) fn store(&mut self, records: &[Record], counters: &[(u64, u32)]) -> Result<bool, PageFault> {
        let Some(session) = self.session.as_ref() else {
            return Ok(true);
        };
        let memory = &mut self.memory;
        let (address, size, deferred) = (session.address, session.size, self.switches.deferred);
        let proposal = matches!(self.architecture, Architecture::Proposal(_));
        let continuous = session.flags.contains(Flags::CONT);
        let equal = proposal || self.switches.threshold_equal;

        let mut head = session.head;
        let mut announced_at = session.announced_at;
        let (mut seen_tail, mut since_tail) = (session.seen_tail, session.stores_since_tail);
        let (mut missed, mut interrupts) = (0u64, 0u64);
        let mut publish = !deferred && !records.is_empty();
        for record in records {
            memory.write(session.base.wrapping_add(head.into()), &record.to_bytes())?;
            let next = next_offset(head, size);
            since_tail += 1;
            let looks = bytes_used(next, seen_tail, size);
            let past_threshold = session.threshold != 0 && looks >= session.threshold;
            let stale = next == seen_tail || past_threshold || since_tail >= self.switches.tail_period || !is_offset(seen_tail, size);
            if !deferred || stale {
                seen_tail = memory.load_u32(session.tail_at)?;
                since_tail = 0;
            }
            // With a tail that is no offset of the ring nothing says which slots are free.
            let unknown = self.switches.bad_tail_is_full && !is_offset(seen_tail, size);
            if (next == seen_tail || unknown) && !continuous {
                missed += 1;
                publish = true;
                continue;
            }
            if next == seen_tail && self.switches.continuous_counts_overwritten {
                missed += 1;
            }
            let before = bytes_used(head, seen_tail, size);
            head = next;
            let used = bytes_used(head, seen_tail, size);
            if session.threshold != 0 {
                publish |= used >= session.threshold;
                if session.flags.contains(Flags::INT) {
                    if equal {
                        interrupts += u64::from(used == session.threshold);
                    } else if used >= session.threshold && (before < session.threshold || announced_at != Some(seen_tail)) {
                        // Whoever moved the tail since may have left Threshold bytes or more, and waits to be told.
                        interrupts += 1;
                        announced_at = Some(seen_tail);
                    }
                }
            }
        }

        // The proposal's hardware may owe memory one increment; a second one settles the first.
        let mut owed = u64::from(session.missed_pending) + missed;
        let pending = deferred && proposal && owed == 1;
        if pending {
            owed = 0;
        }
        for &(at, _) in counters {
            memory.probe_write(at, 4)?;
        }
        let total_missed = if owed > 0 {
            memory.probe_write(address + MISSED_AT, 8)?;
            Some(memory.load_u64(address + MISSED_AT)?.wrapping_add(owed))
        } else {
            None
        };
        if publish {
            memory.probe_write(address + HEAD_AT, 4)?;
        }

        for &(at, value) in counters {
            memory.store_u32(at, value)?;
        }
        if let Some(total) = total_missed {
            memory.store_u64(address + MISSED_AT, total)?;
        }
        if publish {
            memory.store_u32(address + HEAD_AT, head)?;
        }
        let session = self.session.as_mut().expect("checked above");
        session.head = head;
        session.announced_at = announced_at;
        session.seen_tail = seen_tail;
        session.stores_since_tail = since_tail;
        session.missed_pending = pending;
        self.interrupts += interrupts;
        Ok(missed == 0 || continuous)
    }

    /// What SLWPCB does: head (and an owed MissedEvents) to memory. Returns the LWPCB's address, 0 when off.
    pub(super) fn flush(&mut self) -> Result<u64, PageFault> {
        let Some(session) = self.session.as_mut() else {
            return Ok(0);
        };
        let address = session.address;
        self.memory.probe_write(address + HEAD_AT, 16)?;
        if session.missed_pending {
            let missed = self.memory.load_u64(address + MISSED_AT)?;
            self.memory.store_u64(address + MISSED_AT, missed.wrapping_add(1))?;
            session.missed_pending = false;
        }
        self.memory.store_u32(address + HEAD_AT, session.head)?;
        Ok(address)
    }
}
