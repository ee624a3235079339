//! What a processor's CPUID and MSR values say about precise sampling.

use super::ds::Layout;
use super::msr::PEBS_UNAVAILABLE;
use super::record::{Format, UnsupportedFormat};

/// The values that detection reads. They are given, not read here: user code cannot read MSRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor {
    /// CPUID leaf 1, ECX: bit 2 DTES64, bit 15 PDCM.
    pub cpuid1_ecx: u32,
    /// CPUID leaf 1, EDX: bit 21 DS.
    pub cpuid1_edx: u32,
    /// IA32_MISC_ENABLE.
    pub misc_enable: u64,
    /// IA32_PERF_CAPABILITIES; not looked at where PDCM is clear.
    pub perf_capabilities: u64,
}

impl Processor {
    /// The document's machine, a Westmere: 64-bit enhanced records, trap reporting, no full-width counter writes.
    pub const WESTMERE: Self = Self { cpuid1_ecx: 1 << 2 | 1 << 15, cpuid1_edx: 1 << 21, misc_enable: 0, perf_capabilities: 0x145 };

    /// The document's `available_pebs()`.
    pub fn has_pebs(&self) -> bool {
        self.cpuid1_edx >> 21 & 1 != 0 && self.misc_enable & PEBS_UNAVAILABLE == 0
    }

    /// The document's `support_ds64()`: 64-bit records in any mode.
    pub fn has_ds64(&self) -> bool {
        self.cpuid1_ecx >> 2 & 1 != 0
    }

    /// IA32_PERF_CAPABILITIES, 0 where the processor has none.
    pub fn capabilities(&self) -> Capabilities {
        Capabilities(if self.cpuid1_ecx >> 15 & 1 != 0 { self.perf_capabilities } else { 0 })
    }

    /// The document's `support_enhancement_pebs()`.
    pub fn has_enhanced_records(&self) -> bool {
        self.capabilities().record_format() == 1
    }

    /// All of it.
    pub fn detect(&self) -> Result<Detected, Unavailable> {
        if self.cpuid1_edx >> 21 & 1 == 0 {
            return Err(Unavailable::NoDebugStore);
        }
        if self.misc_enable & PEBS_UNAVAILABLE != 0 {
            return Err(Unavailable::PebsUnavailable);
        }
        let capabilities = self.capabilities();
        let layout = if self.has_ds64() { Layout::Bits64 } else { Layout::Bits32 };
        Ok(Detected {
            layout,
            format: Format::of(layout, capabilities.record_format())?,
            trap: capabilities.trap(),
            full_width_writes: capabilities.full_width_writes(),
        })
    }
}

/// Fields of IA32_PERF_CAPABILITIES.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities(pub u64);

impl Capabilities {
    /// LBR_FMT.
    pub fn lbr_format(self) -> u8 {
        (self.0 & 0x3F) as u8
    }

    /// PEBS_TRAP: a record tells the state after the instruction, else before.
    pub fn trap(self) -> bool {
        self.0 >> 6 & 1 != 0
    }

    /// PEBS_REC_FMT.
    pub fn record_format(self) -> u8 {
        (self.0 >> 8 & 0xF) as u8
    }

    /// FW_WRITE: counters take all bits of a write.
    pub fn full_width_writes(self) -> bool {
        self.0 >> 13 & 1 != 0
    }
}

/// How this processor samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected {
    /// Of the DS management area and BTS records.
    pub layout: Layout,
    /// Of PEBS records.
    pub format: Format,
    /// Trap reporting, else fault.
    pub trap: bool,
    /// Writes to counters are not sign-extended from bit 31.
    pub full_width_writes: bool,
}

/// Why there is no precise sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// CPUID.1:EDX\[21\] is clear.
    #[error("the processor has no debug store (CPUID.1:EDX[21])")]
    NoDebugStore,
    /// IA32_MISC_ENABLE\[12\] is set.
    #[error("PEBS is unavailable (IA32_MISC_ENABLE[12])")]
    PebsUnavailable,
    /// PEBS_REC_FMT is newer.
    #[error(transparent)]
    Format(#[from] UnsupportedFormat),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_pebs_needs_ds_and_misc_enable() {
        assert!(Processor::WESTMERE.has_pebs());
        let no_ds = Processor { cpuid1_edx: 0, ..Processor::WESTMERE };
        assert_eq!((no_ds.has_pebs(), no_ds.detect()), (false, Err(Unavailable::NoDebugStore)));
        let off = Processor { misc_enable: PEBS_UNAVAILABLE, ..Processor::WESTMERE };
        assert_eq!((off.has_pebs(), off.detect()), (false, Err(Unavailable::PebsUnavailable)));
    }

    #[test]
    fn support_ds64_and_enhancement_choose_the_format() {
        let expect = |processor: Processor, layout, format, trap| {
            let detected = processor.detect().unwrap();
            assert_eq!((detected.layout, detected.format, detected.trap), (layout, format, trap));
        };
        assert!(Processor::WESTMERE.has_ds64() && Processor::WESTMERE.has_enhanced_records());
        expect(Processor::WESTMERE, Layout::Bits64, Format::Enhanced, true);
        expect(Processor { perf_capabilities: 0x005, ..Processor::WESTMERE }, Layout::Bits64, Format::Basic, false);
        // Without PDCM the capabilities register does not exist, whatever the value given.
        expect(Processor { cpuid1_ecx: 1 << 2, ..Processor::WESTMERE }, Layout::Bits64, Format::Basic, false);
        expect(Processor { cpuid1_ecx: 0, ..Processor::WESTMERE }, Layout::Bits32, Format::Legacy32, false);
    }

    #[test]
    fn later_formats_are_unsupported() {
        for format in 2..16 {
            let later = Processor { perf_capabilities: format << 8, ..Processor::WESTMERE };
            assert_eq!(later.detect(), Err(Unavailable::Format(UnsupportedFormat(format as u8))));
        }
        assert_eq!(UnsupportedFormat(4).to_string(), "unsupported PEBS record format 4 (0 and 1 are known)");
    }

    #[test]
    fn capability_fields() {
        let capabilities = Capabilities(0x2145);
        assert_eq!((capabilities.lbr_format(), capabilities.trap(), capabilities.record_format()), (5, true, 1));
        assert!(capabilities.full_width_writes() && !Capabilities(0x145).full_width_writes());
    }
}
