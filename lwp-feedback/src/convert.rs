//! Records and LWPCBs as plain data in both generations, and from one to the other.
//!
//! What the other generation cannot say is an error that names the field; nothing is dropped silently.

use serde::{Deserialize, Serialize};

use crate::layout::{
    BUFFER_SIZE_MASK, COUNTER_MASK, EventId, Filters, Flags, INTERVAL_MAX, LWPCB_BYTES, MAX_EVENTS, RANDOM_SHIFT, Record, sign_extend_26,
};

/// A field that the other generation has no place for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} = {value:#x} cannot be expressed in the {target} generation")]
pub struct ConvertError {
    /// Name of the field.
    pub field: &'static str,
    /// Its value.
    pub value: u64,
    /// "2007" or "final".
    pub target: &'static str,
}

fn to_2007(field: &'static str, value: u64) -> ConvertError {
    ConvertError { field, value, target: "2007" }
}

fn to_final(field: &'static str, value: u64) -> ConvertError {
    ConvertError { field, value, target: "final" }
}

/// A 2007 record (1 instructions, 2 branches, 3 DCache misses) as a final one (2, 3, 4).
pub fn record_from_2007(record: &Record) -> Result<Record, ConvertError> {
    let id = record.event_id().0;
    if !(1..=3).contains(&id) {
        return Err(to_final("EventId", id.into()));
    }
    let mut converted = *record;
    converted.words[0] = converted.words[0] & !0xFF | u64::from(id + 1);
    Ok(converted)
}

/// A final record as a 2007 one. Value samples, clocks, programmed events, fused branches and time stamps have no place there.
pub fn record_to_2007(record: &Record) -> Result<Record, ConvertError> {
    let id = record.event_id();
    if !(EventId::INSTRUCTIONS..=EventId::DCACHE).contains(&id) {
        return Err(to_2007("EventId", id.0.into()));
    }
    if id == EventId::BRANCHES && record.flags() & 1 << 12 != 0 {
        return Err(to_2007("FUS", 1));
    }
    if record.tsc() != 0 {
        return Err(to_2007("time stamp", record.tsc()));
    }
    let mut converted = *record;
    converted.words[0] = converted.words[0] & !0xFF | u64::from(id.0 - 1);
    Ok(converted)
}

/// The final LWPCB's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ControlBlock {
    /// Flags.
    pub flags: u32,
    /// BufferSize, bytes.
    pub buffer_bytes: u32,
    /// Random.
    pub random_bits: u8,
    /// BufferBase.
    pub buffer_base: u64,
    /// BufferHeadOffset.
    pub head: u32,
    /// MissedEvents.
    pub missed_events: u64,
    /// Threshold.
    pub threshold: u32,
    /// Filters.
    pub filters: u32,
    /// BaseIP.
    pub base_ip: u64,
    /// LimitIP.
    pub limit_ip: u64,
    /// BufferTailOffset.
    pub tail: u32,
    /// The two quadwords for software.
    pub user: [u64; 2],
    /// EventInterval and EventCounter of events 1 to 6, sign-extended.
    pub events: [(i32, i32); 6],
}

fn dword(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
}

fn quadword(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

impl ControlBlock {
    /// Reads the 176 bytes.
    pub fn from_bytes(bytes: &[u8; LWPCB_BYTES as usize]) -> Self {
        let size_random = dword(bytes, 4);
        Self {
            flags: dword(bytes, 0),
            buffer_bytes: size_random & BUFFER_SIZE_MASK,
            random_bits: (size_random >> RANDOM_SHIFT) as u8,
            buffer_base: quadword(bytes, 8),
            head: dword(bytes, 16),
            missed_events: quadword(bytes, 24),
            threshold: dword(bytes, 32),
            filters: dword(bytes, 36),
            base_ip: quadword(bytes, 40),
            limit_ip: quadword(bytes, 48),
            tail: dword(bytes, 64),
            user: [quadword(bytes, 72), quadword(bytes, 80)],
            events: std::array::from_fn(|index| {
                (sign_extend_26(dword(bytes, 128 + 8 * index)), sign_extend_26(dword(bytes, 132 + 8 * index)))
            }),
        }
    }

    /// The 176 bytes; reserved fields are 0.
    pub fn to_bytes(&self) -> [u8; LWPCB_BYTES as usize] {
        let mut bytes = [0; LWPCB_BYTES as usize];
        let size_random = self.buffer_bytes & BUFFER_SIZE_MASK | u32::from(self.random_bits) << RANDOM_SHIFT;
        for (at, value) in [(0, self.flags), (4, size_random), (16, self.head), (32, self.threshold), (36, self.filters), (64, self.tail)] {
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        let quadwords = [
            (8, self.buffer_base),
            (24, self.missed_events),
            (40, self.base_ip),
            (48, self.limit_ip),
            (72, self.user[0]),
            (80, self.user[1]),
        ];
        for (at, value) in quadwords {
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        for (index, &(interval, counter)) in self.events.iter().enumerate() {
            let at = 128 + 8 * index;
            bytes[at..at + 4].copy_from_slice(&(interval as u32 & COUNTER_MASK).to_le_bytes());
            bytes[at + 4..at + 8].copy_from_slice(&(counter as u32 & COUNTER_MASK).to_le_bytes());
        }
        bytes
    }

    /// As a 2007 LWPCB: one selector per enabled event; what the slots of the others hold means nothing. A final interval of N is the proposal's N + 1 (its period *is* the interval).
    pub fn to_2007(&self) -> Result<ControlBlock2007, ConvertError> {
        let flags = Flags::from_bits_retain(self.flags);
        let unknown = flags - (Flags::IRE | Flags::BRE | Flags::DME | Flags::INT);
        if !unknown.is_empty() {
            return Err(to_2007("Flags", unknown.bits().into()));
        }
        let only_final = self.filters & !0x1FFF;
        if only_final != 0 {
            return Err(to_2007("Filters", only_final.into()));
        }
        let quadwords =
            [("BaseIP", self.base_ip), ("LimitIP", self.limit_ip), ("user quadword 0", self.user[0]), ("user quadword 1", self.user[1])];
        for (field, value) in quadwords {
            if value != 0 {
                return Err(to_2007(field, value));
            }
        }
        let mut selectors = Vec::new();
        for event in 2..=4u32 {
            let (interval, counter) = self.events[event as usize - 1];
            if flags.bits() & 1 << event != 0 {
                for (field, value) in [("EventInterval", interval), ("EventCounter", counter)] {
                    // More than 26 bits with their sign.
                    if i64::from(value) > i64::from(INTERVAL_MAX) {
                        return Err(to_2007(field, value as u64));
                    }
                }
                let period = (interval.max(0) as u32) + 1;
                let counter = if counter < 0 { 0 } else { counter as u32 + 1 };
                selectors.push(Selector { event: event as u8 - 1, interval: period, counter });
            }
        }
        Ok(ControlBlock2007 {
            flags: (flags & Flags::INT).bits(),
            buffer_bytes: self.buffer_bytes,
            random_bits: self.random_bits,
            buffer_base: self.buffer_base,
            head: self.head,
            tail: self.tail,
            missed_events: self.missed_events,
            threshold: self.threshold,
            filters: self.filters,
            selectors,
        })
    }
}

/// One of the proposal's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selector {
    /// EventId, 6 bits; 0: unused.
    pub event: u8,
    /// EventInterval, 26 bits.
    pub interval: u32,
    /// EventCounter, 26 bits.
    pub counter: u32,
}

/// The proposal's LWPCB's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ControlBlock2007 {
    /// Flags, written by LLWPCB.
    pub flags: u32,
    /// BufferSize, bytes.
    pub buffer_bytes: u32,
    /// Random.
    pub random_bits: u8,
    /// BufferBase.
    pub buffer_base: u64,
    /// BufferHeadOffset.
    pub head: u32,
    /// BufferTailOffset.
    pub tail: u32,
    /// MissedEvents.
    pub missed_events: u64,
    /// Threshold.
    pub threshold: u32,
    /// MinLatency, CLF..OTH, NDB: the upper half of the quadword at byte 32.
    pub filters: u32,
    /// The counters, in order.
    pub selectors: Vec<Selector>,
}

impl ControlBlock2007 {
    /// Bytes of an LWPCB with `selectors` counters.
    pub fn bytes(selectors: usize) -> usize {
        40 + 8 * selectors
    }

    /// Reads an LWPCB: 40 bytes and 8 for each selector. `None` if there are fewer than 40.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < Self::bytes(0) {
            return None;
        }
        let size_random = dword(bytes, 4);
        let selector = |chunk: &[u8]| Selector {
            event: (dword(chunk, 0) >> 26) as u8,
            interval: dword(chunk, 0) & COUNTER_MASK,
            counter: dword(chunk, 4) & COUNTER_MASK,
        };
        Some(Self {
            flags: dword(bytes, 0),
            buffer_bytes: size_random & BUFFER_SIZE_MASK,
            random_bits: (size_random >> RANDOM_SHIFT) as u8,
            buffer_base: quadword(bytes, 8),
            head: dword(bytes, 16),
            tail: dword(bytes, 20),
            missed_events: quadword(bytes, 24),
            threshold: dword(bytes, 32),
            filters: dword(bytes, 36),
            selectors: bytes[40..].chunks_exact(8).map(selector).collect(),
        })
    }

    /// The LWPCB's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::bytes(self.selectors.len()));
        bytes.extend(self.flags.to_le_bytes());
        bytes.extend((self.buffer_bytes & BUFFER_SIZE_MASK | u32::from(self.random_bits) << RANDOM_SHIFT).to_le_bytes());
        bytes.extend(self.buffer_base.to_le_bytes());
        bytes.extend(self.head.to_le_bytes());
        bytes.extend(self.tail.to_le_bytes());
        bytes.extend(self.missed_events.to_le_bytes());
        bytes.extend(self.threshold.to_le_bytes());
        bytes.extend(self.filters.to_le_bytes());
        for selector in &self.selectors {
            bytes.extend((selector.interval & COUNTER_MASK | u32::from(selector.event) << 26).to_le_bytes());
            bytes.extend((selector.counter & COUNTER_MASK).to_le_bytes());
        }
        bytes
    }

    /// As a final LWPCB: the events that selectors choose are enabled in Flags. NDB has no equal (NRB drops calls too), nor has an
    /// interval of 0 or an EventId above 3.
    pub fn to_final(&self) -> Result<ControlBlock, ConvertError> {
        let rest = self.filters & !0x1FFF;
        if rest != 0 {
            return Err(to_final(if rest >> 31 == 1 { "NDB" } else { "Filters" }, rest.into()));
        }
        let mut block = ControlBlock {
            flags: self.flags & Flags::INT.bits(),
            buffer_bytes: self.buffer_bytes,
            random_bits: self.random_bits,
            buffer_base: self.buffer_base & !31,
            head: self.head,
            missed_events: self.missed_events,
            threshold: self.threshold,
            filters: self.filters & (Filters::MIN_LATENCY | Filters::from_bits_retain(0x1F00)).bits(),
            tail: self.tail,
            ..ControlBlock::default()
        };
        for selector in self.selectors.iter().filter(|selector| selector.event != 0) {
            let event = u32::from(selector.event) + 1;
            if event > MAX_EVENTS - 2 {
                return Err(to_final("EventId", selector.event.into()));
            }
            if block.flags & 1 << event != 0 {
                continue; // a duplicate counts as 0
            }
            block.flags |= 1 << event;
            if selector.interval == 0 {
                return Err(to_final("EventInterval", 0));
            }
            // 26 unsigned bits there, 25 here.
            for (field, value) in [("EventInterval", selector.interval), ("EventCounter", selector.counter)] {
                if value > 1 << 25 {
                    return Err(to_final(field, value.into()));
                }
            }
            let less_one = |value: u32| value.saturating_sub(1) as i32;
            block.events[event as usize - 1] = (less_one(selector.interval), less_one(selector.counter));
        }
        Ok(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_convert_both_ways() {
        for id in 1..=3u8 {
            let old = Record::new(EventId(id), 4, 0xE000, 64, 0x1000, 0x2000, 0);
            let new = record_from_2007(&old).unwrap();
            assert_eq!(new.event_id().0, id + 1);
            assert_eq!(record_to_2007(&new), Ok(old));
        }
        for id in [0, 4, 255] {
            assert_eq!(record_from_2007(&Record::new(EventId(id), 0, 0, 0, 0, 0, 0)).unwrap_err().field, "EventId");
        }
        for id in [0, 1, 5, 6, 255] {
            assert_eq!(record_to_2007(&Record::new(EventId(id), 0, 0, 0, 0, 0, 0)).unwrap_err().field, "EventId");
        }
        let fused = Record::new(EventId::BRANCHES, 0, 1 << 12, 0, 0, 0, 0);
        assert_eq!(record_to_2007(&fused).unwrap_err().to_string(), "FUS = 0x1 cannot be expressed in the 2007 generation");
    }

    #[test]
    fn control_blocks_convert_both_ways() {
        let old = ControlBlock2007 {
            buffer_bytes: 4096,
            random_bits: 3,
            buffer_base: 0x1000,
            head: 64,
            tail: 32,
            missed_events: 5,
            threshold: 2048,
            filters: 0x1F10,
            selectors: vec![Selector { event: 1, interval: 100, counter: 7 }, Selector { event: 3, interval: 5, counter: 0 }],
            ..ControlBlock2007::default()
        };
        assert_eq!(ControlBlock2007::from_bytes(&old.to_bytes()), Some(old.clone()));
        let new = old.to_final().unwrap();
        assert_eq!((new.flags, new.events[1], new.events[3]), (0b10100, (99, 6), (4, 0)));
        assert_eq!(ControlBlock::from_bytes(&new.to_bytes()), new);
        let back = new.to_2007().unwrap();
        assert_eq!((back.selectors[0], back.selectors[1].interval), (old.selectors[0], 5));
        assert_eq!(ControlBlock2007 { filters: 1 << 31, ..old.clone() }.to_final().unwrap_err().field, "NDB");
        assert_eq!(ControlBlock { flags: 1 << 1, ..new.clone() }.to_2007().unwrap_err().field, "Flags");
        assert_eq!(ControlBlock { filters: 1 << 27, ..new.clone() }.to_2007().unwrap_err().field, "Filters");
        assert_eq!(ControlBlock { base_ip: 1, ..new.clone() }.to_2007().unwrap_err().field, "BaseIP");
        assert_eq!(ControlBlock { limit_ip: 1, ..new.clone() }.to_2007().unwrap_err().field, "LimitIP");
        for (slot, field) in [((1 << 27, 5), "EventInterval"), ((5, 1 << 25), "EventCounter")] {
            let mut events = new.events;
            events[1] = slot;
            assert_eq!(ControlBlock { events, ..new.clone() }.to_2007().unwrap_err().field, field);
        }
        let zero = ControlBlock2007 { selectors: vec![Selector { event: 1, interval: 0, counter: 0 }], ..ControlBlock2007::default() };
        assert_eq!(zero.to_final().unwrap_err().field, "EventInterval");
        let interrupting = ControlBlock { flags: new.flags | Flags::INT.bits(), ..new };
        assert_eq!(interrupting.to_2007().unwrap().to_final(), Ok(interrupting));
        assert_eq!(ControlBlock2007::from_bytes(&[0; 39]), None);
    }
}
