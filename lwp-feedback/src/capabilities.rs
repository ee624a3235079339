//! What an LWP implementation can do: CPUID leaves 8000_0001 and 8000_001C of the final architecture, 8000_001C and 8000_001D of the
//! 2007 proposal, from the real processor or from given register values.

use serde::{Deserialize, Serialize};

use crate::layout::Flags;

/// EAX, EBX, ECX and EDX of one CPUID leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuidRegisters {
    /// EAX.
    pub eax: u32,
    /// EBX.
    pub ebx: u32,
    /// ECX.
    pub ecx: u32,
    /// EDX.
    pub edx: u32,
}

impl CpuidRegisters {
    /// Executes CPUID.
    pub fn of_this_cpu(leaf: u32) -> Self {
        let result = std::arch::x86_64::__cpuid_count(leaf, 0);
        Self { eax: result.eax, ebx: result.ebx, ecx: result.ecx, edx: result.edx }
    }
}

/// Bit 15 of 8000_0001 ECX: the processor has LWP. Leaf 8000_001C means nothing without it: microcode that removed LWP leaves the leaf
/// as it was.
pub const LEAF1_ECX_LWP: u32 = 1 << 15;

/// Leaf 8000_001C of the final architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// EAX: what the operating system enabled. Bit 0 LwpAvail, the others as [`Flags`].
    pub enabled: u32,
    /// EDX: what the processor has. Bit 0 LwpAvail, the others as [`Flags`].
    pub available: u32,
    /// Size of the LWPCB, quadwords.
    pub cb_quadwords: u8,
    /// Bytes of a record.
    pub event_bytes: u8,
    /// Highest EventId, not counting 255.
    pub max_events: u8,
    /// Byte offset of EventInterval1 in the LWPCB, a multiple of 8.
    pub event_offset: u8,
    /// Bits of the latency counters.
    pub latency_bits: u8,
    /// DCache records carry the data address.
    pub data_address: bool,
    /// Low bits of a latency that are rounded away, 0 to 4.
    pub latency_round_bits: u8,
    /// Version of LWP.
    pub version: u8,
    /// Smallest ring, units of 32 records.
    pub min_buffer: u8,
    /// NMB and NPB work.
    pub branch_prediction_filter: bool,
    /// IPF and IPI work.
    pub ip_filter: bool,
    /// CLF and the level bits work.
    pub cache_level_filter: bool,
    /// MinLatency works.
    pub cache_latency_filter: bool,
}

const ALL_FLAGS: u32 = 1 | 0x7E | 7 << 29;

impl Capabilities {
    /// This crate's own unit: everything.
    pub const UNIT: Self = Self {
        enabled: ALL_FLAGS,
        available: ALL_FLAGS,
        cb_quadwords: 22,
        event_bytes: 32,
        max_events: 6,
        event_offset: 128,
        latency_bits: 16,
        data_address: true,
        latency_round_bits: 4,
        version: 1,
        min_buffer: 1,
        branch_prediction_filter: true,
        ip_filter: true,
        cache_level_filter: true,
        cache_latency_filter: true,
    };

    /// AMD FX-8150 and FX-8300, with an operating system that enabled all they have.
    pub const FX8150: Self = Self {
        enabled: 0x8000_000F,
        available: 0x8000_000F,
        cb_quadwords: 19,
        event_bytes: 32,
        max_events: 3,
        event_offset: 128,
        latency_bits: 0,
        data_address: false,
        latency_round_bits: 0,
        version: 1,
        min_buffer: 1,
        branch_prediction_filter: false,
        ip_filter: false,
        cache_level_filter: false,
        cache_latency_filter: false,
    };

    /// Nothing at all: a processor without LWP.
    pub const NONE: Self = Self {
        enabled: 0,
        available: 0,
        cb_quadwords: 0,
        event_bytes: 0,
        max_events: 0,
        event_offset: 0,
        version: 0,
        min_buffer: 0,
        ..Self::FX8150
    };

    /// Decodes the leaf. `leaf1_ecx` is ECX of 8000_0001: without its bit 15 there is no LWP, whatever 8000_001C says.
    pub fn from_registers(leaf1_ecx: u32, leaf: CpuidRegisters) -> Option<Self> {
        let has = leaf1_ecx & LEAF1_ECX_LWP != 0 && leaf.edx & 1 != 0;
        has.then(|| Self::decode(leaf))
    }

    /// The leaf's fields, without asking whether LWP is there.
    pub fn decode(leaf: CpuidRegisters) -> Self {
        let CpuidRegisters { eax, ebx, ecx, edx } = leaf;
        Self {
            enabled: eax,
            available: edx,
            cb_quadwords: ebx as u8,
            event_bytes: (ebx >> 8) as u8,
            max_events: (ebx >> 16) as u8,
            event_offset: (ebx >> 24) as u8,
            latency_bits: (ecx & 31) as u8,
            data_address: ecx & 1 << 5 != 0,
            latency_round_bits: (ecx >> 6 & 7) as u8,
            version: (ecx >> 9 & 0x7F) as u8,
            min_buffer: (ecx >> 16) as u8,
            branch_prediction_filter: ecx & 1 << 28 != 0,
            ip_filter: ecx & 1 << 29 != 0,
            cache_level_filter: ecx & 1 << 30 != 0,
            cache_latency_filter: ecx & 1 << 31 != 0,
        }
    }

    /// The leaf that decodes to this.
    pub fn to_registers(self) -> CpuidRegisters {
        let bit = |set: bool, bit: u32| u32::from(set) << bit;
        CpuidRegisters {
            eax: self.enabled,
            ebx: u32::from_le_bytes([self.cb_quadwords, self.event_bytes, self.max_events, self.event_offset]),
            ecx: u32::from(self.latency_bits & 31)
                | bit(self.data_address, 5)
                | u32::from(self.latency_round_bits & 7) << 6
                | u32::from(self.version & 0x7F) << 9
                | u32::from(self.min_buffer) << 16
                | bit(self.branch_prediction_filter, 28)
                | bit(self.ip_filter, 29)
                | bit(self.cache_level_filter, 30)
                | bit(self.cache_latency_filter, 31),
            edx: self.available,
        }
    }

    /// This processor's, `None` without LWP.
    pub fn of_this_cpu() -> Option<Self> {
        if CpuidRegisters::of_this_cpu(0x8000_0000).eax < 0x8000_001C {
            return None;
        }
        Self::from_registers(CpuidRegisters::of_this_cpu(0x8000_0001).ecx, CpuidRegisters::of_this_cpu(0x8000_001C))
    }

    /// What a thread that may run on either processor can rely on: the features both have, the smaller limits, the larger minimums.
    /// `None` where the layouts differ, so that no LWPCB serves both.
    pub fn intersect(self, other: Self) -> Option<Self> {
        if self.event_bytes != other.event_bytes || self.event_offset != other.event_offset {
            return None;
        }
        Some(Self {
            enabled: self.enabled & other.enabled,
            available: self.available & other.available,
            cb_quadwords: self.cb_quadwords.max(other.cb_quadwords),
            event_bytes: self.event_bytes,
            max_events: self.max_events.min(other.max_events),
            event_offset: self.event_offset,
            latency_bits: self.latency_bits.min(other.latency_bits),
            data_address: self.data_address && other.data_address,
            latency_round_bits: self.latency_round_bits.max(other.latency_round_bits),
            version: self.version.min(other.version),
            min_buffer: self.min_buffer.max(other.min_buffer),
            branch_prediction_filter: self.branch_prediction_filter && other.branch_prediction_filter,
            ip_filter: self.ip_filter && other.ip_filter,
            cache_level_filter: self.cache_level_filter && other.cache_level_filter,
            cache_latency_filter: self.cache_latency_filter && other.cache_latency_filter,
        })
    }

    /// LWP is on the processor and the operating system allows it: without both the instructions raise #UD.
    pub fn is_usable(self) -> bool {
        self.available & self.enabled & 1 != 0
    }

    /// The Flags bits LLWPCB grants.
    pub fn grantable_flags(self) -> Flags {
        let events = (1u32 << (u32::from(self.max_events.min(28)) + 1)) - 2;
        Flags::from_bits_truncate(self.available & self.enabled & (events | 7 << 29))
    }

    /// Smallest ring, bytes.
    pub fn min_buffer_bytes(self) -> u32 {
        32 * u32::from(self.min_buffer) * u32::from(self.event_bytes)
    }

    /// Bytes of the LWPCB.
    pub fn cb_bytes(self) -> u32 {
        u32::from(self.cb_quadwords) * 8
    }

    /// Largest latency that a record reports.
    pub fn latency_cap(self) -> u32 {
        latency_cap(self.latency_bits, self.latency_round_bits)
    }
}

/// 2^bits - 2^round, the value a latency saturates at.
fn latency_cap(bits: u8, round: u8) -> u32 {
    let top = 1u64 << bits.min(32);
    (top - (1u64 << round.min(4)).min(top)) as u32
}

/// Leaf 8000_001C of the 2007 proposal (and 8000_001D, which it leaves undefined beyond "events above 29").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities2007 {
    /// LWPMSR0 as EAX shows it: bit 0 on, 1 instructions, 2 branches, 3 DCache, 31 threshold interrupt.
    pub enabled: u32,
    /// What the processor has, in EAX's bit order (EDX orders it differently: 1 is the interrupt).
    pub available: u32,
    /// Leaf 8000_001D has information.
    pub extension: bool,
    /// Bytes of the LWPCB, at least 40 + 8 * max_events.
    pub cb_bytes: u8,
    /// Bytes of a record.
    pub event_bytes: u8,
    /// Events that can be monitored at once.
    pub max_events: u8,
    /// Version of LWP.
    pub version: u8,
    /// Bits of the latency counters, 10 to 31.
    pub latency_bits: u8,
    /// DCache records carry the data address.
    pub data_address: bool,
    /// CLF works.
    pub cache_level_filter: bool,
    /// MinLatency works.
    pub cache_latency_filter: bool,
}

impl Capabilities2007 {
    /// This crate's unit: everything, room for four selectors.
    pub const UNIT: Self = Self {
        enabled: 0x8000_000F,
        available: 0x8000_000F,
        extension: false,
        cb_bytes: 72,
        event_bytes: 32,
        max_events: 4,
        version: 1,
        latency_bits: 16,
        data_address: true,
        cache_level_filter: true,
        cache_latency_filter: true,
    };

    /// Decodes the leaf.
    pub fn decode(leaf: CpuidRegisters) -> Self {
        let CpuidRegisters { eax, ebx, ecx, edx } = leaf;
        Self {
            enabled: eax & 0x8000_000F,
            available: edx & 1 | (edx >> 2 & 7) << 1 | (edx >> 1 & 1) << 31,
            extension: eax & 1 << 30 != 0,
            cb_bytes: ebx as u8,
            event_bytes: (ebx >> 8) as u8,
            max_events: (ebx >> 16) as u8,
            version: (ebx >> 24) as u8,
            latency_bits: (ecx & 31) as u8,
            data_address: ecx & 1 << 5 != 0,
            cache_level_filter: ecx & 1 << 30 != 0,
            cache_latency_filter: ecx & 1 << 31 != 0,
        }
    }

    /// The leaf that decodes to this.
    pub fn to_registers(self) -> CpuidRegisters {
        let bit = |set: bool, bit: u32| u32::from(set) << bit;
        CpuidRegisters {
            eax: self.enabled & 0x8000_000F | bit(self.extension, 30),
            ebx: u32::from_le_bytes([self.cb_bytes, self.event_bytes, self.max_events, self.version]),
            ecx: u32::from(self.latency_bits & 31)
                | bit(self.data_address, 5)
                | bit(self.cache_level_filter, 30)
                | bit(self.cache_latency_filter, 31),
            edx: self.available & 1 | (self.available >> 1 & 7) << 2 | (self.available >> 31) << 1,
        }
    }

    /// The proposal's rule for migration sets: the AND of the features, the minimum of the number of events.
    pub fn intersect(self, other: Self) -> Self {
        Self {
            enabled: self.enabled & other.enabled,
            available: self.available & other.available,
            extension: self.extension && other.extension,
            cb_bytes: self.cb_bytes.max(other.cb_bytes),
            event_bytes: self.event_bytes.min(other.event_bytes),
            max_events: self.max_events.min(other.max_events),
            version: self.version.min(other.version),
            latency_bits: self.latency_bits.min(other.latency_bits),
            data_address: self.data_address && other.data_address,
            cache_level_filter: self.cache_level_filter && other.cache_level_filter,
            cache_latency_filter: self.cache_latency_filter && other.cache_latency_filter,
        }
    }

    /// Largest latency that a record reports: 2^n - 16.
    pub fn latency_cap(self) -> u32 {
        latency_cap(self.latency_bits, 4)
    }
}

/// The MSRs LWP_CFG C000_0105h of the final architecture: what CPUID's EAX mirrors, the threshold interrupt's vector, and CoreId.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LwpCfg(pub u64);

impl LwpCfg {
    /// The MSR's number.
    pub const MSR: u32 = 0xC000_0105;

    /// CoreId of all records.
    pub fn core_id(self) -> u8 {
        (self.0 >> 32) as u8
    }

    /// Vector of the threshold interrupt.
    pub fn vector(self) -> u8 {
        (self.0 >> 40) as u8
    }

    /// What is written to leaf 8000_001C EAX, or `None` (#GP) when it asks for features `available` lacks. Bit 0 is ignored on write.
    pub fn enabled(self, available: u32) -> Option<u32> {
        let asked = self.0 as u32 & !1;
        (asked & !available == 0).then_some(asked | u32::from(asked != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FX_LEAF: CpuidRegisters = CpuidRegisters { eax: 0, ebx: 0x8003_2013, ecx: 0x0001_0200, edx: 0x8000_000F };

    #[test]
    fn fx8150_dump() {
        let caps = Capabilities::from_registers(0x01C9_BFFF, FX_LEAF).expect("bit 15 is set");
        assert_eq!((caps.version, caps.cb_bytes(), caps.event_bytes, caps.event_offset), (1, 152, 32, 128));
        assert_eq!((caps.max_events, caps.min_buffer_bytes(), caps.latency_cap()), (3, 1024, 0));
        assert!(!caps.is_usable(), "the operating system enabled nothing");
        assert_eq!(Capabilities { enabled: 0x8000_000F, ..caps }, Capabilities::FX8150);
        assert_eq!(Capabilities::FX8150.grantable_flags(), Flags::VAL | Flags::IRE | Flags::BRE | Flags::INT);
        assert!(!(caps.branch_prediction_filter || caps.ip_filter || caps.cache_level_filter || caps.cache_latency_filter));
    }

    #[test]
    fn fx8300_leaf_without_bit_15_is_no_lwp() {
        assert_eq!(Capabilities::from_registers(0x01EB_3FFF, FX_LEAF), None);
    }

    #[test]
    fn the_units_leaf() {
        let leaf = Capabilities::UNIT.to_registers();
        assert_eq!(leaf, CpuidRegisters { eax: 0xE000_007F, ebx: 0x8006_2016, ecx: 0xF001_0330, edx: 0xE000_007F });
        assert_eq!(Capabilities::decode(leaf), Capabilities::UNIT);
        assert_eq!((Capabilities::UNIT.cb_bytes(), Capabilities::UNIT.latency_cap()), (176, 65_536 - 16));
    }

    #[test]
    fn migration_sets_intersect() {
        let both = Capabilities::UNIT.intersect(Capabilities::FX8150).expect("same layout");
        assert_eq!((both.available, both.max_events, both.cb_quadwords), (0x8000_000F, 3, 22));
        assert_eq!(Capabilities::UNIT.intersect(Capabilities { event_offset: 120, ..Capabilities::UNIT }), None);
        let old = Capabilities2007::UNIT.intersect(Capabilities2007 { max_events: 2, ..Capabilities2007::UNIT });
        assert_eq!(old.max_events, 2);
    }

    #[test]
    fn the_proposals_leaf_orders_edx_differently() {
        let leaf = Capabilities2007::UNIT.to_registers();
        assert_eq!((leaf.eax, leaf.edx), (0x8000_000F, 0x1F));
        assert_eq!(Capabilities2007::decode(leaf), Capabilities2007::UNIT);
        let interrupt_only = Capabilities2007::decode(CpuidRegisters { edx: 3, ..leaf });
        assert_eq!(interrupt_only.available, 0x8000_0001);
    }

    #[test]
    fn lwp_cfg_fields() {
        let cfg = LwpCfg(0x0000_1F05_8000_000E);
        assert_eq!((cfg.core_id(), cfg.vector()), (5, 0x1F));
        assert_eq!(cfg.enabled(0x8000_000F), Some(0x8000_000F));
        assert_eq!(LwpCfg(0x10).enabled(0x8000_000F), None, "DME is not there: #GP");
    }
}
