//! Typed views of a record, and its text form.
//!
//! A view borrows the 32 bytes and reads its fields from them; nothing is copied. Ids nobody defined are [`Typed::Unknown`] and keep all
//! their bytes.

use std::fmt;

use crate::class::SiteClass;
use crate::layout::{EventId, Record};

macro_rules! views {
    ($( $(#[$doc:meta])* $name:ident; )*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $name<'a>(&'a Record);

            impl<'a> $name<'a> {
                /// The whole record.
                pub fn record(self) -> &'a Record {
                    self.0
                }

                /// Address of the instruction.
                pub fn address(self) -> u64 {
                    self.0.address()
                }
            }
        )*
    };
}

views! {
    /// LWPVAL: a sampled value.
    ValueSample;
    /// LWPINS: an event the program reports.
    Programmed;
    /// Instructions retired.
    InstructionRetired;
    /// A branch.
    BranchRetired;
    /// A load that missed the data cache.
    DcacheMiss;
    /// Core clocks not halted.
    CoreClocks;
    /// Reference clocks not halted.
    RefClocks;
}

/// A record by its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed<'a> {
    /// EventId 1.
    Value(ValueSample<'a>),
    /// EventId 2.
    Instruction(InstructionRetired<'a>),
    /// EventId 3.
    Branch(BranchRetired<'a>),
    /// EventId 4.
    Dcache(DcacheMiss<'a>),
    /// EventId 5.
    CoreClocks(CoreClocks<'a>),
    /// EventId 6.
    RefClocks(RefClocks<'a>),
    /// EventId 255.
    Programmed(Programmed<'a>),
    /// Anything else.
    Unknown(&'a Record),
}

impl Record {
    /// The view its EventId names.
    #[inline]
    pub fn typed(&self) -> Typed<'_> {
        match self.event_id() {
            EventId::VALUE => Typed::Value(ValueSample(self)),
            EventId::INSTRUCTIONS => Typed::Instruction(InstructionRetired(self)),
            EventId::BRANCHES => Typed::Branch(BranchRetired(self)),
            EventId::DCACHE => Typed::Dcache(DcacheMiss(self)),
            EventId::CORE_CLOCKS => Typed::CoreClocks(CoreClocks(self)),
            EventId::REF_CLOCKS => Typed::RefClocks(RefClocks(self)),
            EventId::PROGRAMMED => Typed::Programmed(Programmed(self)),
            _ => Typed::Unknown(self),
        }
    }
}

impl ValueSample<'_> {
    /// imm16 of the instruction.
    pub fn imm16(self) -> u16 {
        self.0.flags()
    }

    /// The r/m32 operand.
    pub fn data1(self) -> u32 {
        self.0.data1()
    }

    /// The first operand, the sampled value.
    pub fn value(self) -> u64 {
        self.0.data2()
    }
}

impl Programmed<'_> {
    /// imm16 of the instruction.
    pub fn imm16(self) -> u16 {
        self.0.flags()
    }

    /// The r/m32 operand.
    pub fn data1(self) -> u32 {
        self.0.data1()
    }

    /// The first operand.
    pub fn value(self) -> u64 {
        self.0.data2()
    }
}

/// Flag of a branch's record, this crate's own in a bit that the layout reserves: a source of mispredictions alone wrote it, so TKN is not known, and of how many
/// executions it is one neither.
pub const OUTCOME_UNKNOWN: u16 = 1;

impl BranchRetired<'_> {
    /// Whether TKN means something: see [`OUTCOME_UNKNOWN`].
    pub fn outcome_known(self) -> bool {
        self.0.flags() & OUTCOME_UNKNOWN == 0
    }

    /// TKN: it was taken.
    pub fn taken(self) -> bool {
        self.0.flags() & 1 << 15 != 0
    }

    /// PRD: it was predicted correctly. Means something only with [`Self::prediction_valid`].
    pub fn predicted(self) -> bool {
        self.0.flags() & 1 << 14 != 0
    }

    /// PRV.
    pub fn prediction_valid(self) -> bool {
        self.0.flags() & 1 << 13 != 0
    }

    /// FUS: the address is that of a fused pair (position unconfirmed; this crate's unit never sets it).
    pub fn fused(self) -> bool {
        self.0.flags() & 1 << 12 != 0
    }

    /// Address of the instruction after the branch: its target, or the fall-through when not taken.
    pub fn target(self) -> u64 {
        self.0.data2()
    }
}

/// Where a load's data came from: the SRC field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataSource {
    /// 0.
    NoStatus,
    /// 1.
    LocalL3,
    /// 2: a remote processor or its L3.
    Remote,
    /// 3.
    Dram,
    /// 4 to 6, reserved.
    Reserved(u8),
    /// 7: MMIO, configuration, PCI, APIC.
    Other,
}

impl DataSource {
    /// The SRC code's meaning; only its low 3 bits are looked at.
    pub fn from_code(code: u8) -> Self {
        match code & 7 {
            0 => Self::NoStatus,
            1 => Self::LocalL3,
            2 => Self::Remote,
            3 => Self::Dram,
            7 => Self::Other,
            code => Self::Reserved(code),
        }
    }
}

impl fmt::Display for DataSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStatus => f.write_str("unknown source"),
            Self::LocalL3 => f.write_str("local L3"),
            Self::Remote => f.write_str("remote cache"),
            Self::Dram => f.write_str("DRAM"),
            Self::Reserved(code) => write!(f, "reserved source {code}"),
            Self::Other => f.write_str("MMIO or other"),
        }
    }
}

impl DcacheMiss<'_> {
    /// Cycles, rounded and capped.
    pub fn latency(self) -> u32 {
        self.0.data1()
    }

    /// SRC.
    pub fn source(self) -> DataSource {
        DataSource::from_code((self.0.flags() >> 13) as u8)
    }

    /// Linear address of the data, where DAV says it is there.
    pub fn data_address(self) -> Option<u64> {
        (self.0.flags() & 1 << 12 != 0).then(|| self.0.data2())
    }
}

/// One line: event, core, address, and what the event has to say.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<12} core {:<3} ip {:#x}", self.event_id().to_string(), self.core_id(), self.address())?;
        let imm = |f: &mut fmt::Formatter<'_>, imm16: u16| match SiteClass::from_imm16(imm16) {
            Some((class, 0)) => write!(f, " {class}"),
            Some((class, detail)) => write!(f, " {class}[{detail}]"),
            None => write!(f, " imm {imm16:#x}"),
        };
        match self.typed() {
            Typed::Value(value) => {
                imm(f, value.imm16())?;
                write!(f, " value {:#x} data1 {:#x}", value.value(), value.data1())?;
            }
            Typed::Programmed(event) => {
                imm(f, event.imm16())?;
                write!(f, " value {:#x} data1 {:#x}", event.value(), event.data1())?;
            }
            Typed::Branch(branch) => {
                let prediction = match (branch.prediction_valid(), branch.predicted()) {
                    (false, _) => "prediction unknown",
                    (true, true) => "predicted",
                    (true, false) => "mispredicted",
                };
                match (branch.outcome_known(), branch.taken()) {
                    (false, _) => write!(f, " outcome unknown, {prediction}")?,
                    (true, true) => write!(f, " taken, {prediction}, to {:#x}", branch.target())?,
                    (true, false) => write!(f, " not taken, {prediction}, to {:#x}", branch.target())?,
                }
                if branch.fused() {
                    f.write_str(", fused")?;
                }
            }
            Typed::Dcache(miss) => {
                write!(f, " {} cycles from {}", miss.latency(), miss.source())?;
                if let Some(address) = miss.data_address() {
                    write!(f, " at {address:#x}")?;
                }
            }
            // The layout gives them no more than an address, but a source of one's own may have said more.
            Typed::Instruction(_) | Typed::CoreClocks(_) | Typed::RefClocks(_) => {
                for (name, value) in [("flags", self.flags().into()), ("data1", self.data1().into()), ("data2", self.data2())] {
                    if value != 0u64 {
                        write!(f, " {name} {value:#x}")?;
                    }
                }
            }
            Typed::Unknown(record) => {
                write!(f, " flags {:#x} data1 {:#x} data2 {:#x}", record.flags(), record.data1(), record.data2())?;
            }
        }
        if self.tsc() != 0 {
            write!(f, " tsc {}", self.tsc())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_read_their_fields() {
        let branch = Record::new(EventId::BRANCHES, 1, 0xA000, 0, 0x10, 0x20, 0);
        let Typed::Branch(view) = branch.typed() else { panic!("{branch}") };
        assert_eq!(
            (view.taken(), view.predicted(), view.prediction_valid(), view.fused(), view.target()),
            (true, false, true, false, 0x20)
        );
        assert!(std::ptr::eq(view.record(), &branch));
        let miss = Record::new(EventId::DCACHE, 1, 3 << 13 | 1 << 12, 400, 0x10, 0x7000, 0);
        let Typed::Dcache(view) = miss.typed() else { panic!("{miss}") };
        assert_eq!((view.latency(), view.source(), view.data_address()), (400, DataSource::Dram, Some(0x7000)));
        let no_address = Record::new(EventId::DCACHE, 1, 7 << 13, 400, 0x10, 0x7000, 0);
        let Typed::Dcache(view) = no_address.typed() else { panic!("{no_address}") };
        assert_eq!((view.source(), view.data_address()), (DataSource::Other, None));
    }

    #[test]
    fn text_forms() {
        let lines = [
            Record::new(EventId::VALUE, 2, SiteClass::CallTarget.imm16(0), 0, 0x400, 7, 99),
            Record::new(EventId::PROGRAMMED, 2, 0x4567, 1, 0x400, 7, 0),
            Record::new(EventId::BRANCHES, 0, 0x2000, 0, 0x400, 0x404, 0),
            Record::new(EventId::BRANCHES, 0, 1 << 13 | OUTCOME_UNKNOWN, 0, 0x400, 0, 0),
            Record::new(EventId::DCACHE, 0, 1 << 13, 64, 0x400, 0, 0),
            Record::new(EventId::INSTRUCTIONS, 0, 0, 0, 0x400, 0, 0),
            Record::new(EventId(77), 0, 1, 2, 0x400, 3, 0),
        ]
        .map(|record| record.to_string());
        assert_eq!(
            lines,
            [
                "lwpval       core 2   ip 0x400 call-target value 0x7 data1 0x0 tsc 99",
                "lwpins       core 2   ip 0x400 imm 0x4567 value 0x7 data1 0x1",
                "branch       core 0   ip 0x400 not taken, mispredicted, to 0x404",
                "branch       core 0   ip 0x400 outcome unknown, mispredicted",
                "dcache-miss  core 0   ip 0x400 64 cycles from local L3",
                "instructions core 0   ip 0x400",
                "event-77     core 0   ip 0x400 flags 0x1 data1 0x2 data2 0x3",
            ]
        );
    }
}
