//! A PERFEVTSEL register as a value.
//!
//! Bits: event 7:0 and 35:32, unit mask 15:8, USR 16, OS 17, EDGE 18, PC 19, INT 20, ANY 21, EN 22, INV 23, CMASK 31:24 (Intel SDM volume 3;
//! AMD BKDG for families 10h and 15h, where 35:32 extend the event select and bit 21 is reserved).

use std::fmt;

/// What one counter counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventSelect {
    /// Event select: 12 bits from family 10h on, 8 bits on K8 and Intel.
    pub event: u16,
    /// Unit mask.
    pub unit_mask: u8,
    /// Counts at privilege level 3.
    pub usr: bool,
    /// Counts at privilege level 0.
    pub os: bool,
    /// Counts where the condition becomes true, not while it is.
    pub edge: bool,
    /// Pin control, of old processors.
    pub pc: bool,
    /// An overflow raises an interrupt.
    pub int: bool,
    /// Intel: counts for all hardware threads of the core. Bit 21, not 20.
    pub any: bool,
    /// The counter runs.
    pub en: bool,
    /// Turns the comparison with `cmask` round.
    pub inv: bool,
    /// Least occurrences in a cycle, 0 for no comparison.
    pub cmask: u8,
}

/// Bits of a value that no field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("reserved bits {0:#x} are set in an event select")]
pub struct ReservedBits(pub u64);

const SELECT_BITS: u64 = 0xF_FFFF_FFFF;

impl EventSelect {
    /// The register's value.
    pub fn bits(self) -> u64 {
        let flag = |set: bool, bit: u32| u64::from(set) << bit;
        u64::from(self.event & 0xFF)
            | u64::from(self.event >> 8 & 0xF) << 32
            | u64::from(self.unit_mask) << 8
            | flag(self.usr, 16)
            | flag(self.os, 17)
            | flag(self.edge, 18)
            | flag(self.pc, 19)
            | flag(self.int, 20)
            | flag(self.any, 21)
            | flag(self.en, 22)
            | flag(self.inv, 23)
            | u64::from(self.cmask) << 24
    }

    /// The fields of a value.
    pub fn from_bits(bits: u64) -> Result<Self, ReservedBits> {
        if bits & !SELECT_BITS != 0 {
            return Err(ReservedBits(bits & !SELECT_BITS));
        }
        let flag = |bit: u32| bits >> bit & 1 != 0;
        Ok(Self {
            event: (bits & 0xFF | bits >> 32 << 8) as u16,
            unit_mask: (bits >> 8) as u8,
            usr: flag(16),
            os: flag(17),
            edge: flag(18),
            pc: flag(19),
            int: flag(20),
            any: flag(21),
            en: flag(22),
            inv: flag(23),
            cmask: (bits >> 24) as u8,
        })
    }

    /// The event alone: select and unit mask, as `(umask << 8) | select` of Intel's tables.
    pub fn code(self) -> u32 {
        u32::from(self.unit_mask) << 8 | u32::from(self.event & 0xFF) | u32::from(self.event >> 8) << 16
    }

    /// ANY, INV, EDGE and CMASK are clear, as PEBS wants them.
    pub fn is_plain(self) -> bool {
        !self.any && !self.inv && !self.edge && self.cmask == 0
    }

    /// What `perf_event_open` takes for the same.
    pub fn perf_raw(self) -> PerfRaw {
        const COUNTED: u64 = 0xF_FFFF_FFFF & !(1 << 16 | 1 << 17 | 1 << 19 | 1 << 20 | 1 << 22);
        PerfRaw { config: self.bits() & COUNTED, exclude_user: !self.usr, exclude_kernel: !self.os }
    }
}

/// `perf_event_attr` of type PERF_TYPE_RAW. The kernel sets USR, OS, INT and EN itself; privilege stands in the attribute's flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerfRaw {
    /// `config`, laid out as `/sys/bus/event_source/devices/cpu/format` says: event 0-7,32-35, umask 8-15, edge 18, any 21, inv 23, cmask 24-31.
    pub config: u64,
    /// `exclude_user`.
    pub exclude_user: bool,
    /// `exclude_kernel`.
    pub exclude_kernel: bool,
}

/// As the `perf` command takes it: `r` and the hexadecimal config, then the modifier.
impl fmt::Display for PerfRaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{:x}", self.config)?;
        match (self.exclude_user, self.exclude_kernel) {
            (false, false) | (true, true) => Ok(()),
            (false, true) => f.write_str(":u"),
            (true, false) => f.write_str(":k"),
        }
    }
}

impl fmt::Display for EventSelect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {:#x} umask {:#x}", self.event, self.unit_mask)?;
        let flags = [
            (self.usr, "USR"),
            (self.os, "OS"),
            (self.edge, "EDGE"),
            (self.pc, "PC"),
            (self.int, "INT"),
            (self.any, "ANY"),
            (self.en, "EN"),
            (self.inv, "INV"),
        ];
        for (_, name) in flags.into_iter().filter(|(set, _)| *set) {
            write!(f, " {name}")?;
        }
        if self.cmask != 0 {
            write!(f, " CMASK={}", self.cmask)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_bits_of_event_are_split() {
        let select = EventSelect { event: 0xF4E, unit_mask: 0xA5, cmask: 3, inv: true, ..EventSelect::default() };
        assert_eq!(select.bits(), 0xF_0380_A54E);
        assert_eq!(EventSelect::from_bits(0xF_0380_A54E), Ok(select));
        assert_eq!(EventSelect::from_bits(1 << 40), Err(ReservedBits(1 << 40)));
    }

    #[test]
    fn bit_20_is_int_and_bit_21_is_any() {
        let select = EventSelect::from_bits(0x53_00C0).unwrap();
        assert!(select.int && !select.any && select.usr && select.os && select.en);
        assert!(EventSelect::from_bits(0x73_00C0).unwrap().any);
    }

    #[test]
    fn text() {
        let select = EventSelect::from_bits(0x0153_00C0).unwrap();
        assert_eq!(select.to_string(), "event 0xc0 umask 0x0 USR OS INT EN CMASK=1");
        assert_eq!(EventSelect { usr: true, event: 0x1C0, ..EventSelect::default() }.perf_raw().to_string(), "r1000000c0:u");
    }
}
