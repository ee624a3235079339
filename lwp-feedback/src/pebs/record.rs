//! PEBS records: 40, 144 and 176 bytes.
//!
//! | bytes (hex) | 144 and 176 bytes | 40 bytes |
//! |---|---|---|
//! | 00 08 | RFLAGS RIP | the first ten of the left, as dwords at 00 04 08 … |
//! | 10 … 48 | RAX RBX RCX RDX RSI RDI RBP RSP | |
//! | 50 … 88 | R8 … R15 | |
//! | 90 98 A0 A8 | 176 only: IA32_PERF_GLOBAL_STATUS, data linear address, data source, latency | |

use std::fmt;

use super::ds::Layout;
use super::registers::{Register, RegisterSet, Registers};

/// Shape of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// 40 bytes: processors without DTES64.
    Legacy32,
    /// 144 bytes: PEBS_REC_FMT 0.
    Basic,
    /// 176 bytes: PEBS_REC_FMT 1.
    Enhanced,
}

/// PEBS_REC_FMT of a later processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unsupported PEBS record format {0} (0 and 1 are known)")]
pub struct UnsupportedFormat(pub u8);

impl Format {
    /// What a processor with this layout and PEBS_REC_FMT writes.
    pub fn of(layout: Layout, record_format: u8) -> Result<Self, UnsupportedFormat> {
        match (layout, record_format) {
            (Layout::Bits32, 0 | 1) => Ok(Self::Legacy32),
            (Layout::Bits64, 0) => Ok(Self::Basic),
            (Layout::Bits64, 1) => Ok(Self::Enhanced),
            _ => Err(UnsupportedFormat(record_format)),
        }
    }

    /// Bytes of a record.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Legacy32 => 0x28,
            Self::Basic => 0x90,
            Self::Enhanced => 0xB0,
        }
    }
}

/// What the enhanced format adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Enhanced {
    /// IA32_PERF_GLOBAL_STATUS before the record's counter was cleared in it.
    pub status: u64,
    /// Linear address of the load; means something for load-latency events only, as the next two.
    pub data_address: u64,
    /// Where the data came from.
    pub data_source: DataSource,
    /// Cycles.
    pub latency: u64,
}

/// Data source encoding: 3:0 the source, bit 4 an STLB miss, bit 5 locked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataSource(pub u64);

impl DataSource {
    /// Bits 3:0.
    pub fn code(self) -> u8 {
        (self.0 & 0xF) as u8
    }

    /// The load missed the second-level TLB.
    pub fn stlb_miss(self) -> bool {
        self.0 >> 4 & 1 != 0
    }

    /// A locked access.
    pub fn locked(self) -> bool {
        self.0 >> 5 & 1 != 0
    }

    /// LWP's SRC code.
    pub fn to_lwp(self) -> u8 {
        match self.code() {
            0..=3 => 0,
            4..=7 => 1,
            8..=9 => 2,
            0xA..=0xD => 3,
            _ => 7,
        }
    }

    /// The representative of an LWP SRC code: one that [`Self::to_lwp`] gives back; the reserved codes become unknown.
    pub fn from_lwp(source: u8) -> Self {
        Self(match source {
            1 => 4,
            2 => 8,
            3 => 0xC,
            7 => 0xE,
            _ => 0,
        })
    }
}

impl fmt::Display for DataSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 16] = [
            "unknown L3 cache miss",
            "L1",
            "fill buffer",
            "L2",
            "L3",
            "L3, snoop miss",
            "L3, snoop hit",
            "L3, snoop HITM",
            "remote cache hit",
            "remote HITM",
            "local RAM, shared",
            "remote RAM, shared",
            "local RAM, exclusive",
            "remote RAM, exclusive",
            "I/O",
            "uncached",
        ];
        f.write_str(NAMES[usize::from(self.code())])?;
        if self.stlb_miss() {
            f.write_str(", STLB miss")?;
        }
        if self.locked() {
            f.write_str(", locked")?;
        }
        Ok(())
    }
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PebsRecord {
    /// The registers; of the 40-byte format the first ten.
    pub registers: Registers,
    /// The enhanced format's fields.
    pub enhanced: Option<Enhanced>,
}

/// There are fewer bytes than the format has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a PEBS record of {expected} bytes was expected, {found} are left")]
pub struct ShortRecord {
    /// Bytes of the format.
    pub expected: u64,
    /// Bytes there.
    pub found: usize,
}

impl PebsRecord {
    /// The bytes of a record. What is absent is written as zero: the set of known registers goes beside the record ([`Registers::known`]).
    pub fn to_bytes(&self, format: Format) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(format.bytes() as usize);
        if format == Format::Legacy32 {
            for register in &Register::ALL[..10] {
                bytes.extend((self.registers.get(*register).unwrap_or(0) as u32).to_le_bytes());
            }
            return bytes;
        }
        for register in Register::ALL {
            bytes.extend(self.registers.get(register).unwrap_or(0).to_le_bytes());
        }
        if format == Format::Enhanced {
            let Enhanced { status, data_address, data_source, latency } = self.enhanced.unwrap_or_default();
            bytes.extend([status, data_address, data_source.0, latency].into_iter().flat_map(u64::to_le_bytes));
        }
        bytes
    }

    /// Reads a record; registers that are not in `known` are absent.
    pub fn from_bytes(format: Format, bytes: &[u8], known: RegisterSet) -> Result<Self, ShortRecord> {
        if (bytes.len() as u64) < format.bytes() {
            return Err(ShortRecord { expected: format.bytes(), found: bytes.len() });
        }
        let mut registers = Registers::default();
        let word = |index: usize| u64::from_le_bytes(bytes[index * 8..index * 8 + 8].try_into().expect("eight bytes of a checked length"));
        match format {
            Format::Legacy32 => {
                for (register, bytes) in Register::ALL.into_iter().zip(bytes.chunks_exact(4).take(10)) {
                    registers.set(register, u32::from_le_bytes(bytes.try_into().expect("chunks of four")).into());
                }
            }
            Format::Basic | Format::Enhanced => {
                for (index, register) in Register::ALL.into_iter().enumerate() {
                    registers.set(register, word(index));
                }
            }
        }
        let enhanced = (format == Format::Enhanced).then(|| Enhanced {
            status: word(18),
            data_address: word(19),
            data_source: DataSource(word(20)),
            latency: word(21),
        });
        Ok(Self { registers: registers.only(known), enhanced })
    }
}

impl fmt::Display for PebsRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.registers.fmt(f)?;
        if let Some(Enhanced { status, data_address, data_source, latency }) = self.enhanced {
            write!(
                f,
                " status {status:#x} data address {data_address:#x} data source {:#x} ({data_source}) latency {latency}",
                data_source.0
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> PebsRecord {
        let registers = Register::ALL.into_iter().fold(Registers::default(), |all, register| all.with(register, 0x10 + register as u64));
        let enhanced = Enhanced { status: 1, data_address: 0x91BE, data_source: DataSource(0x33), latency: 6 };
        PebsRecord { registers, enhanced: Some(enhanced) }
    }

    #[test]
    fn record_layouts() {
        assert_eq!([Format::Legacy32, Format::Basic, Format::Enhanced].map(Format::bytes), [40, 144, 176]);
        let bytes = sample().to_bytes(Format::Enhanced);
        let word = |offset: usize| u64::from_le_bytes(bytes[offset..offset + 8].try_into().unwrap());
        assert_eq!(
            [word(0), word(8), word(0x10), word(0x18), word(0x48), word(0x50), word(0x88)],
            [0x10, 0x11, 0x12, 0x13, 0x19, 0x1A, 0x21]
        );
        assert_eq!([word(0x90), word(0x98), word(0xA0), word(0xA8)], [1, 0x91BE, 0x33, 6]);
        let short = sample().to_bytes(Format::Legacy32);
        assert_eq!((&short[4..12], short.len()), (&[0x11, 0, 0, 0, 0x12, 0, 0, 0][..], 40));
    }

    #[test]
    fn records_round_trip() {
        for format in [Format::Basic, Format::Enhanced] {
            let read = PebsRecord::from_bytes(format, &sample().to_bytes(format), RegisterSet::ALL).unwrap();
            assert_eq!(read.registers, sample().registers);
            assert_eq!(read.enhanced, (format == Format::Enhanced).then(|| sample().enhanced.unwrap()));
        }
        let read = PebsRecord::from_bytes(Format::Legacy32, &sample().to_bytes(Format::Legacy32), RegisterSet::ALL).unwrap();
        assert_eq!((read.registers.get(Register::Rsp), read.registers.get(Register::R8)), (Some(0x19), None));
        assert!(PebsRecord::from_bytes(Format::Basic, &[0; 143], RegisterSet::ALL).is_err());
    }

    #[test]
    fn what_was_not_saved_is_absent() {
        let partial = PebsRecord { registers: Registers::default().with(Register::Rip, 5), enhanced: None };
        let read = PebsRecord::from_bytes(Format::Basic, &partial.to_bytes(Format::Basic), partial.registers.known()).unwrap();
        assert_eq!((read.registers.get(Register::Rip), read.registers.get(Register::Rax)), (Some(5), None));
    }

    #[test]
    fn data_sources() {
        let lwp: Vec<u8> = (0..16).map(|code| DataSource(code).to_lwp()).collect();
        assert_eq!(lwp, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 7, 7]);
        for source in [0, 1, 2, 3, 7] {
            assert_eq!(DataSource::from_lwp(source).to_lwp(), source);
        }
        assert_eq!(DataSource(0x31).to_string(), "L1, STLB miss, locked");
        assert!(DataSource(0x20).locked() && !DataSource(0x20).stlb_miss());
    }
}
