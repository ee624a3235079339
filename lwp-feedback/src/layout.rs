//! The LWPCB and the 32-byte event record in the final layout, and the offsets generated code uses.
//!
//! One table yields the struct, the offset constants and the compile-time check that both agree. Everything is little
//! endian. A field that two threads touch must be an atomic; all fields are, because the LWPCB *is* the unit's state and a
//! debugger, a recorder or another thread may look at any of it. On x86-64 a relaxed atomic access is a plain `mov`.
//!
//! Source: AMD 43724 as given by MSDN's `__llwpcb` page (layout, sample) and digests of APM vol. 2 §13.4.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64};

use serde::{Deserialize, Serialize};

/// Bytes of an event record.
pub const RECORD_BYTES: u32 = 32;

/// Bytes of the LWPCB this crate's unit uses: 128 + 6 events of 8 bytes. (The Rust struct is padded to its alignment.)
pub const LWPCB_BYTES: u32 = 176;

/// Highest EventId the unit counts, not counting 255.
pub const MAX_EVENTS: u32 = 6;

/// The sign bit of a 26-bit event counter. After its decrement generated code tests this bit and not the dword's sign: a
/// counter that software set to -1 reads 0x03FF_FFFF.
pub const COUNTER_SIGN_BIT: u32 = 1 << 25;

/// The 26 bits of an interval or a counter.
pub const COUNTER_MASK: u32 = (1 << 26) - 1;

/// Largest interval: 2^25 - 1 (the field is signed).
pub const INTERVAL_MAX: u32 = COUNTER_SIGN_BIT - 1;

/// The 28 bits of BufferSize in the dword at byte 4; the other four are Random.
pub const BUFFER_SIZE_MASK: u32 = (1 << 28) - 1;

/// Position of Random in the dword at byte 4.
pub const RANDOM_SHIFT: u32 = 28;

/// Interval and counter of one event.
#[repr(C)]
#[derive(Debug, Default)]
pub struct EventSlot {
    /// EventInterval, bits 25:0, signed. One record is due every interval + 1 events.
    pub interval: AtomicU32,
    /// EventCounter, bits 25:0, signed. A record is due when the decremented value is negative.
    pub counter: AtomicU32,
}

macro_rules! lwpcb_layout {
    ($( $(#[$doc:meta])* $field:ident : $ty:ty, $at:literal, $constant:ident; )*) => {
        /// The LWP control block, final layout.
        ///
        /// Aligned to a cache line, so that head (written by the producer) and tail (written by the consumer) lie in different lines.
        #[repr(C, align(64))]
        #[derive(Debug, Default)]
        pub struct Lwpcb {
            $( $(#[$doc])* pub $field: $ty, )*
        }

        /// Byte offsets of the LWPCB's fields, for generated code.
        pub mod offset {
            $( $(#[$doc])* pub const $constant: i32 = $at; )*
            /// Second quadword reserved for software use.
            pub const USER1: i32 = USER0 + 8;
            /// EventInterval1 (LWPVAL).
            pub const EVENT1_INTERVAL: i32 = EVENTS;
            /// EventCounter1 (LWPVAL).
            pub const EVENT1_COUNTER: i32 = EVENTS + 4;
            /// EventInterval2 (instructions retired).
            pub const EVENT2_INTERVAL: i32 = EVENTS + 8;
            /// EventCounter2 (instructions retired).
            pub const EVENT2_COUNTER: i32 = EVENTS + 12;
            /// EventInterval3 (branches retired).
            pub const EVENT3_INTERVAL: i32 = EVENTS + 16;
            /// EventCounter3 (branches retired).
            pub const EVENT3_COUNTER: i32 = EVENTS + 20;
            /// EventInterval4 (DCache misses).
            pub const EVENT4_INTERVAL: i32 = EVENTS + 24;
            /// EventCounter4 (DCache misses).
            pub const EVENT4_COUNTER: i32 = EVENTS + 28;
        }

        const _: () = { $( assert!(std::mem::offset_of!(Lwpcb, $field) == $at); )* };
    };
}

lwpcb_layout! {
    /// What software asks for, and after LLWPCB what it got: [`Flags`].
    flags: AtomicU32, 0, FLAGS;
    /// Bits 27:0 BufferSize in bytes, bits 31:28 Random: how many low bits of a counter are randomised when it is reloaded.
    buffer_size_random: AtomicU32, 4, BUFFER_SIZE_RANDOM;
    /// Address of the ring.
    buffer_base: AtomicU64, 8, BUFFER_BASE;
    /// Where the next record goes, bytes; written by LWP.
    buffer_head_offset: AtomicU32, 16, BUFFER_HEAD;
    /// Reserved, 0.
    reserved0: AtomicU32, 20, RESERVED0;
    /// Records that found the ring full.
    missed_events: AtomicU64, 24, MISSED_EVENTS;
    /// Bytes in use at which the threshold interrupt is due; 0 or more than BufferSize: never.
    threshold: AtomicU32, 32, THRESHOLD;
    /// Which events count: [`Filters`].
    filters: AtomicU32, 36, FILTERS;
    /// First address of the IP filter's range.
    base_ip: AtomicU64, 40, BASE_IP;
    /// Last address of the IP filter's range.
    limit_ip: AtomicU64, 48, LIMIT_IP;
    /// Reserved, 0.
    reserved1: AtomicU64, 56, RESERVED1;
    /// Up to where software has read, bytes; written by software at any time.
    buffer_tail_offset: AtomicU32, 64, BUFFER_TAIL;
    /// Reserved, 0.
    reserved2: AtomicU32, 68, RESERVED2;
    /// Two quadwords reserved for software use; this crate leaves them to the engine.
    user: [AtomicU64; 2], 72, USER0;
    /// Reserved.
    reserved3: [AtomicU64; 5], 88, RESERVED3;
    /// Slot n-1 belongs to EventId n.
    events: [EventSlot; 6], 128, EVENTS;
}

const _: () = assert!(std::mem::offset_of!(Lwpcb, events) + 6 * size_of::<EventSlot>() == LWPCB_BYTES as usize);

bitflags::bitflags! {
    /// The Flags dword: bit n enables EventId n.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct Flags: u32 {
        /// LWPVAL sampling.
        const VAL = 1 << 1;
        /// Instructions retired.
        const IRE = 1 << 2;
        /// Branches retired.
        const BRE = 1 << 3;
        /// DCache misses.
        const DME = 1 << 4;
        /// Core clocks not halted.
        const CNH = 1 << 5;
        /// Reference clocks not halted.
        const RNH = 1 << 6;
        /// Continuous mode: a full ring overwrites its oldest records.
        const CONT = 1 << 29;
        /// Bytes 24..32 of every record hold a time stamp.
        const PTSC = 1 << 30;
        /// Threshold interrupts.
        const INT = 1 << 31;
    }

    /// The Filters dword. Positions other than NAB and NRB are unconfirmed for the final architecture; the 2007 proposal has
    /// MinLatency..OTH at the same places.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct Filters: u32 {
        /// MinLatency, units of 16 cycles.
        const MIN_LATENCY = 0xFF;
        /// Cache levels are filtered by the next four bits.
        const CLF = 1 << 8;
        /// Keep hits in a northbridge cache.
        const NBC = 1 << 9;
        /// Keep hits in a remote cache.
        const RDC = 1 << 10;
        /// Keep DRAM.
        const RAM = 1 << 11;
        /// Keep MMIO, configuration, APIC and other.
        const OTH = 1 << 12;
        /// Drop mispredicted branches.
        const NMB = 1 << 25;
        /// Drop correctly predicted branches.
        const NPB = 1 << 26;
        /// Drop absolute (indirect) branches.
        const NAB = 1 << 27;
        /// Drop conditional branches.
        const NCB = 1 << 28;
        /// Drop unconditional relative branches.
        const NRB = 1 << 29;
        /// Invert the IP filter.
        const IPI = 1 << 30;
        /// Enable the IP filter.
        const IPF = 1 << 31;
    }
}

/// What a record is about. A newtype and not an enum: ids that no one has defined must survive decoding and record files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(pub u8);

impl EventId {
    /// Never written.
    pub const INVALID: Self = Self(0);
    /// Programmed value sample (LWPVAL).
    pub const VALUE: Self = Self(1);
    /// Instructions retired.
    pub const INSTRUCTIONS: Self = Self(2);
    /// Branches retired.
    pub const BRANCHES: Self = Self(3);
    /// DCache misses.
    pub const DCACHE: Self = Self(4);
    /// Core clocks not halted.
    pub const CORE_CLOCKS: Self = Self(5);
    /// Reference clocks not halted.
    pub const REF_CLOCKS: Self = Self(6);
    /// Programmed event (LWPINS).
    pub const PROGRAMMED: Self = Self(255);

    /// Whether its records say where time went.
    pub const fn is_clock(self) -> bool {
        matches!(self, Self::CORE_CLOCKS | Self::REF_CLOCKS)
    }

    /// The event's name, or `None` for an id nobody defined.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::INVALID => "invalid",
            Self::VALUE => "lwpval",
            Self::INSTRUCTIONS => "instructions",
            Self::BRANCHES => "branch",
            Self::DCACHE => "dcache-miss",
            Self::CORE_CLOCKS => "core-clocks",
            Self::REF_CLOCKS => "ref-clocks",
            Self::PROGRAMMED => "lwpins",
            _ => return None,
        })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "event-{}", self.0),
        }
    }
}

/// An event record, raw: four little-endian quadwords.
///
/// | bytes | |
/// |---|---|
/// | 0 | EventId |
/// | 1 | CoreId |
/// | 2..4 | Flags: the instruction's imm16, or event-specific bits |
/// | 4..8 | Data1 |
/// | 8..16 | InstructionAddress |
/// | 16..24 | Data2 |
/// | 24..32 | time stamp when PTSC is on, else 0 |
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Record {
    /// The 32 bytes.
    pub words: [u64; 4],
}

const _: () = assert!(size_of::<Record>() == RECORD_BYTES as usize);

impl Record {
    /// Puts a record together.
    pub fn new(event: EventId, core: u8, flags: u16, data1: u32, address: u64, data2: u64, tsc: u64) -> Self {
        let first = u64::from(event.0) | u64::from(core) << 8 | u64::from(flags) << 16 | u64::from(data1) << 32;
        Self { words: [first, address, data2, tsc] }
    }

    /// Byte 0.
    pub fn event_id(&self) -> EventId {
        EventId(self.words[0] as u8)
    }

    /// Byte 1.
    pub fn core_id(&self) -> u8 {
        (self.words[0] >> 8) as u8
    }

    /// Bytes 2 and 3: imm16 of LWPVAL and LWPINS, status bits of the others.
    pub fn flags(&self) -> u16 {
        (self.words[0] >> 16) as u16
    }

    /// Bytes 4..8.
    pub fn data1(&self) -> u32 {
        (self.words[0] >> 32) as u32
    }

    /// Bytes 8..16: address of the instruction.
    pub fn address(&self) -> u64 {
        self.words[1]
    }

    /// Bytes 16..24.
    pub fn data2(&self) -> u64 {
        self.words[2]
    }

    /// Bytes 24..32: the time stamp, 0 where PTSC was off.
    pub fn tsc(&self) -> u64 {
        self.words[3]
    }

    /// The 32 bytes as they lie in the ring.
    pub fn to_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(self.words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Reads the 32 bytes of a ring slot.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        let mut words = [0; 4];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(chunk.try_into().expect("chunks_exact(8) yields 8 bytes"));
        }
        Self { words }
    }
}

/// The value of a 26-bit signed field.
pub fn sign_extend_26(field: u32) -> i32 {
    ((field << 6) as i32) >> 6
}

/// The counter's value after a record was stored or missed: the interval with its low `random_bits` bits replaced by those of
/// `random`.
pub fn reloaded_counter(interval: u32, random_bits: u32, random: u32) -> u32 {
    let low = (1u32 << (random_bits & 15)) - 1;
    ((interval & !low) | (random & low)) & COUNTER_MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_the_documented_ones() {
        assert_eq!(offset::EVENT1_INTERVAL, 128);
        assert_eq!(offset::EVENT1_COUNTER, 132);
        assert_eq!((offset::USER0, offset::USER1), (72, 80));
        assert_eq!(offset::BUFFER_TAIL / 64 - offset::BUFFER_HEAD / 64, 1, "head and tail in different lines");
    }

    #[test]
    fn record_bytes_round_trip() {
        let record = Record::new(EventId::PROGRAMMED, 7, 0x4567, 31, 0x1122_3344_5566_7788, 0xdead_beef, 9);
        let bytes = record.to_bytes();
        assert_eq!(&bytes[..8], &[255, 7, 0x67, 0x45, 31, 0, 0, 0]);
        assert_eq!(Record::from_bytes(&bytes), record);
    }

    #[test]
    fn counters_are_26_bits_signed() {
        assert_eq!(sign_extend_26(0x03FF_FFFF), -1);
        assert_eq!(sign_extend_26(0x01FF_FFFF), 0x01FF_FFFF);
        assert_eq!(reloaded_counter(0x1FF, 4, 0xFFFF_FFF5), 0x1F5);
        assert_eq!(reloaded_counter(9, 0, 0xFFFF_FFFF), 9);
    }
}
