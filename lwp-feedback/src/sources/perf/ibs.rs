//! AMD's instruction based sampling, op flavour, as the kernel hands it out.
//!
//! The raw data of a sample: 32 bits of capabilities, then 64-bit registers in this order (Linux, `arch/x86/events/amd/ibs.c`): IbsOpCtl, IbsOpRip, IbsOpData,
//! IbsOpData2, IbsOpData3, IbsDcLinAd, IbsDcPhysAd, and with the capability BRNTRGT the branch target. The bits are those of `asm/amd-ibs.h` (PPR for family
//! 19h, 55898). Untested on hardware here; the tests build such bytes.

use super::Miss;

/// Capability: the branch target is there.
pub(super) const CAPS_BRANCH_TARGET: u32 = 1 << 5;
/// Capability: IbsOpData can say that the address is not valid.
pub(super) const CAPS_RIP_INVALID: u32 = 1 << 7;
/// Capability: data sources of Zen 4 and later, with two more bits.
pub(super) const CAPS_ZEN4: u32 = 1 << 11;

/// Bits of IbsOpData.
pub(super) mod op_data {
    pub(in super::super) const TAKEN: u64 = 1 << 35;
    pub(in super::super) const MISPREDICTED: u64 = 1 << 36;
    pub(in super::super) const BRANCH: u64 = 1 << 37;
    pub(in super::super) const RIP_INVALID: u64 = 1 << 38;
    pub(in super::super) const FUSED: u64 = 1 << 39;
}

/// Bits of IbsOpData3.
pub(super) mod op_data3 {
    pub(in super::super) const LOAD: u64 = 1;
    pub(in super::super) const DC_MISS: u64 = 1 << 7;
    pub(in super::super) const LINEAR_VALID: u64 = 1 << 17;
    pub(in super::super) const SOFTWARE_PREFETCH: u64 = 1 << 21;
    pub(in super::super) const LATENCY_SHIFT: u32 = 32;
}

/// A tagged op that retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Op {
    /// Its exact address.
    pub(super) ip: Option<u64>,
    pub(super) is_branch: bool,
    pub(super) target: Option<u64>,
    data: u64,
    data2: u64,
    data3: u64,
    linear: u64,
    zen4: bool,
}

impl Op {
    pub(super) fn parse(raw: &[u8]) -> Option<Op> {
        let caps = u32::from_le_bytes(raw.get(..4)?.try_into().ok()?);
        let register = |nth: usize| raw.get(4 + 8 * nth..12 + 8 * nth).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
        let data = register(2)?;
        let valid = caps & CAPS_RIP_INVALID == 0 || data & op_data::RIP_INVALID == 0;
        let is_branch = data & op_data::BRANCH != 0;
        Some(Op {
            ip: register(1).filter(|_| valid),
            is_branch,
            target: if is_branch && caps & CAPS_BRANCH_TARGET != 0 { register(7).filter(|&target| target != 0) } else { None },
            data,
            data2: register(3)?,
            data3: register(4)?,
            linear: register(5)?,
            zen4: caps & CAPS_ZEN4 != 0,
        })
    }

    /// TKN, PRD, PRV and FUS of an event 3 record.
    pub(super) fn branch_flags(&self) -> u16 {
        let flag = |bit: u64, flag: u16| if self.data & bit != 0 { flag } else { 0 };
        flag(op_data::TAKEN, 1 << 15) | (1 << 14 & !flag(op_data::MISPREDICTED, 1 << 14)) | 1 << 13 | flag(op_data::FUSED, 1 << 12)
    }

    /// A load that missed the first cache; prefetches of the program are none.
    pub(super) fn miss(&self) -> Option<Miss> {
        let data3 = self.data3;
        if data3 & op_data3::LOAD == 0 || data3 & op_data3::DC_MISS == 0 || data3 & op_data3::SOFTWARE_PREFETCH != 0 {
            return None;
        }
        let latency = (data3 >> op_data3::LATENCY_SHIFT) as u32 & 0xffff;
        let address = (data3 & op_data3::LINEAR_VALID != 0).then_some(self.linear);
        Some(Miss { source: self.source(), latency, address })
    }

    /// SRC: 0 is L2, or not said.
    fn source(&self) -> u8 {
        let low = (self.data2 & 7) as u8;
        if self.zen4 {
            match low | ((self.data2 >> 6 & 3) as u8) << 3 {
                1 => 1,
                // Another complex's cache, near or far, or a peer's memory.
                2 | 5 | 12 => 2,
                3 | 6 | 8 => 3,
                7 => 7,
                _ => 0,
            }
        } else {
            match low {
                // Cache of this node.
                2 => 1,
                4 => 2,
                3 => 3,
                7 => 7,
                _ => 0,
            }
        }
    }
}
