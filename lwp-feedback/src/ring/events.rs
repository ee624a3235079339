//! Events 3 and 4 from software that saw the branch or timed the load: counted, filtered and stored by the rules of the final architecture.
//!
//! The counters are those of the LWPCB. Random here never exceeds the interval's own bits, so that an interval of 0 records every event (bursts begin at
//! random times; the architecture would spread even an interval of 0 over 2^Random events).

use super::RingCore;
use crate::capabilities::Capabilities;
use crate::layout::{COUNTER_MASK, COUNTER_SIGN_BIT, EventId, Filters, Flags, Lwpcb, RANDOM_SHIFT, RECORD_BYTES, reloaded_counter};
use crate::pebs::Registers;
use std::sync::atomic::Ordering;

/// A branch that retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchEvent {
    /// Address of the branch, or its return address where the code map says so.
    pub address: u64,
    /// It may fall through.
    pub conditional: bool,
    /// Its target is in the instruction.
    pub direct: bool,
    /// It was taken.
    pub taken: bool,
    /// Whether it was predicted, where that is known.
    pub predicted: Option<bool>,
    /// Address of the next instruction, 0 where it is not known.
    pub target: u64,
}

/// A load whose data was not in the first cache levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissEvent {
    /// Address of the load, or its return address where the code map says so.
    pub address: u64,
    /// SRC: 1 L3, 3 memory, 0 unknown.
    pub source: u8,
    /// Ticks it took.
    pub latency: u32,
    /// Lowest missing byte.
    pub data_address: u64,
}

const TKN: u16 = 1 << 15;
const PRD: u16 = 1 << 14;
const PRV: u16 = 1 << 13;
const DAV: u16 = 1 << 12;

impl RingCore {
    /// Counts one event of a slot; true where a record is due.
    fn due(&self, slot: usize) -> bool {
        let slot = &self.lwpcb.events[slot];
        let left = slot.counter.load(Ordering::Relaxed).wrapping_sub(1) & COUNTER_MASK;
        if left & COUNTER_SIGN_BIT == 0 {
            slot.counter.store(left, Ordering::Relaxed);
            return false;
        }
        let interval = slot.interval.load(Ordering::Relaxed);
        let bits = self.lwpcb.buffer_size_random.load(Ordering::Relaxed) >> RANDOM_SHIFT;
        let bits = bits.min(u32::BITS - interval.leading_zeros());
        slot.counter.store(reloaded_counter(interval, bits, self.next_random()), Ordering::Relaxed);
        true
    }

    fn branch(&self, branch: &BranchEvent) -> bool {
        let flags = self.flags();
        let filters = self.filters();
        let kind = if branch.conditional {
            Filters::NCB
        } else if branch.direct {
            Filters::NRB
        } else {
            Filters::NAB
        };
        // Nothing has to be predicted of a jump that always goes to the same place.
        let predicted = if branch.direct && !branch.conditional { Some(true) } else { branch.predicted };
        let outcome = predicted.map_or(Filters::empty(), |predicted| if predicted { Filters::NPB } else { Filters::NMB });
        let passes = !filters.intersects(kind | outcome) && self.passes_ip(filters, branch.address);
        if !flags.contains(Flags::BRE) || !passes || !self.due(2) {
            return false;
        }
        let flag = |set: bool, flag: u16| if set { flag } else { 0 };
        let bits = flag(branch.taken || !branch.conditional, TKN) | flag(predicted == Some(true), PRD) | flag(predicted.is_some(), PRV);
        self.store(&self.record(EventId::BRANCHES, flags, branch.address, bits, 0, branch.target), flags)
    }

    fn miss(&self, miss: &MissEvent) -> bool {
        let flags = self.flags();
        let filters = self.filters();
        let unit = Capabilities::UNIT;
        let (round, cap) = (u32::from(unit.latency_round_bits.min(4)), unit.latency_cap());
        let latency = (miss.latency >> round << round).min(cap);
        let needed = (16 * (filters & Filters::MIN_LATENCY).bits()).min(cap);
        let level = match miss.source {
            1 => Filters::NBC,
            2 => Filters::RDC,
            3 => Filters::RAM,
            7 => Filters::OTH,
            _ => Filters::empty(),
        };
        let kept = (!filters.contains(Filters::CLF) || filters.intersects(level)) && self.passes_ip(filters, miss.address);
        if !flags.contains(Flags::DME) || latency < needed || !kept || !self.due(3) {
            return false;
        }
        let bits = u16::from(miss.source & 7) << 13 | DAV;
        self.store(&self.record(EventId::DCACHE, flags, miss.address, bits, latency, miss.data_address), flags)
    }
}

/// A branch retired: counts it where the LWPCB wants branches and no filter drops it, and stores a record where one is due. True: stored.
///
/// # Safety
/// `lwpcb` comes from [`super::Ring::lwpcb`], its ring is alive, and no other thread produces into it now.
pub unsafe fn store_branch(lwpcb: *mut Lwpcb, branch: &BranchEvent) -> bool {
    // SAFETY: the caller's pointer is the first field of a live RingCore, from a pointer to the whole core.
    unsafe { &*lwpcb.cast::<RingCore>() }.branch(branch)
}

/// A load missed: as [`store_branch`], for event 4.
///
/// # Safety
/// As for [`store_branch`].
pub unsafe fn store_miss(lwpcb: *mut Lwpcb, miss: &MissEvent) -> bool {
    // SAFETY: the caller's pointer is the first field of a live RingCore, from a pointer to the whole core.
    unsafe { &*lwpcb.cast::<RingCore>() }.miss(miss)
}

/// As [`store_miss`]; a record that is stored has `registers` beside it, where the ring keeps them and does not overwrite.
///
/// # Safety
/// As for [`store_value_sample`](super::store_value_sample).
pub unsafe fn store_miss_with_registers(lwpcb: *mut Lwpcb, miss: &MissEvent, registers: &Registers) -> bool {
    // SAFETY: the caller's pointer is the first field of a live RingCore, from a pointer to the whole core.
    let core = unsafe { &*lwpcb.cast::<RingCore>() };
    let side = &core.side;
    let number = side.stored.load(Ordering::Relaxed);
    let kept = side.registers.as_ref().filter(|_| !core.flags().contains(Flags::CONT));
    let locked = || kept.map(|kept| kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    // Before the record, so that whoever drains it finds them.
    if let Some(mut kept) = locked() {
        if kept.len() >= (side.size / RECORD_BYTES) as usize {
            kept.pop_front();
        }
        kept.push_back((number, *registers));
    }
    let stored = core.miss(miss);
    if !stored && let Some(mut kept) = locked() {
        kept.pop_back_if(|&mut (of, _)| of == number);
    }
    stored
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{DataSource, Typed};
    use crate::ring::{Ring, RingConfig};

    fn branch(predicted: Option<bool>) -> BranchEvent {
        BranchEvent { address: 0x10, conditional: true, direct: true, taken: false, predicted, target: 0 }
    }

    #[test]
    fn branches_follow_interval_and_filters() {
        let ring = Ring::new(&RingConfig { interval3: 3, random_bits: 0, ..RingConfig::default() }).unwrap();
        let mut consumer = ring.consumer().unwrap();
        // SAFETY: the ring lives, and this thread alone produces.
        let stored = (0..400).filter(|_| unsafe { store_branch(ring.lwpcb(), &branch(Some(false))) }).count();
        assert_eq!(stored, 100);
        let unconditional = BranchEvent { conditional: false, ..branch(None) };
        // SAFETY: as above.
        assert!((0..400).all(|_| !unsafe { store_branch(ring.lwpcb(), &unconditional) }), "NRB");
        let mut records = Vec::new();
        consumer.drain(1000, |record| records.push(*record));
        assert_eq!(records.len(), 100);
        let Typed::Branch(view) = records[0].typed() else { panic!("{}", records[0]) };
        assert!(view.prediction_valid() && !view.predicted() && !view.taken());
    }

    #[test]
    fn direct_jumps_are_predicted_and_the_ip_filter_counts() {
        let ring = Ring::new(&RingConfig { interval3: 0, interval4: 0, filters: Filters::empty(), ..RingConfig::default() }).unwrap();
        let mut consumer = ring.consumer().unwrap();
        let jump = BranchEvent { conditional: false, ..branch(None) };
        let miss = MissEvent { address: 0x10, source: 3, latency: 91, data_address: 0x1234 };
        // SAFETY: the ring lives, and this thread alone produces.
        let store = || unsafe { [store_branch(ring.lwpcb(), &jump), store_miss(ring.lwpcb(), &miss)] };
        assert_eq!(store(), [true, true]);
        consumer.drain(1, |record| {
            let Typed::Branch(view) = record.typed() else { panic!("{record}") };
            assert!(view.prediction_valid() && view.predicted() && view.taken(), "{record}");
        });
        let filter = |filters: Filters| ring.control().filters.store(filters.bits(), Ordering::Relaxed);
        filter(Filters::NPB);
        assert_eq!(store(), [false, true]);
        let (base, limit) = (&ring.control().base_ip, &ring.control().limit_ip);
        for (from, to, inside) in [(0x10, 0x10, true), (0x11, 0x20, false), (0, 0xF, false)] {
            base.store(from, Ordering::Relaxed);
            limit.store(to, Ordering::Relaxed);
            filter(Filters::IPF);
            assert_eq!(store(), [inside; 2], "{from:#x} to {to:#x}");
            filter(Filters::IPF | Filters::IPI);
            assert_eq!(store(), [!inside; 2], "{from:#x} to {to:#x}");
        }
    }

    #[test]
    fn misses_are_rounded_and_saturate() {
        let ring = Ring::new(&RingConfig::default()).unwrap();
        let mut consumer = ring.consumer().unwrap();
        for latency in [91, 1 << 20] {
            let miss = MissEvent { address: 0x10, source: 3, latency, data_address: 0x1234 };
            // SAFETY: the ring lives, and this thread alone produces.
            assert!(unsafe { store_miss(ring.lwpcb(), &miss) });
        }
        let mut seen = Vec::new();
        consumer.drain(10, |record| {
            let Typed::Dcache(view) = record.typed() else { panic!("{record}") };
            assert_eq!((view.source(), view.data_address()), (DataSource::Dram, Some(0x1234)));
            seen.push(view.latency());
        });
        assert_eq!(seen, [80, (1 << 16) - 16]);
    }

    #[test]
    fn registers_stay_with_their_record() {
        use crate::pebs::Register;
        let ring = Ring::new(&RingConfig { interval4: 1, random_bits: 0, registers: true, ..RingConfig::default() }).unwrap();
        let mut consumer = ring.consumer().unwrap();
        let mut with = Vec::new();
        for i in 0..100u64 {
            let miss = MissEvent { address: 0x10, source: 3, latency: 91, data_address: i };
            let registers = Registers::default().with(Register::Rax, i);
            // SAFETY: the ring lives, and this thread alone produces.
            unsafe {
                if i % 3 == 0 { store_miss(ring.lwpcb(), &miss) } else { store_miss_with_registers(ring.lwpcb(), &miss, &registers) }
            };
            let mut number = ring.drained();
            consumer.drain(1, |record| {
                let saved = ring.take_registers(number).map(|registers| registers.get(Register::Rax));
                with.push((record.data2(), saved));
                number += 1;
            });
        }
        assert_eq!(with.len(), 50, "every second one is due");
        for (data_address, saved) in with {
            assert_eq!(saved, (data_address % 3 != 0).then_some(Some(data_address)));
        }
        assert_eq!(ring.take_registers(1000), None);
    }
}
