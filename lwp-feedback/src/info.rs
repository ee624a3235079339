//! What this processor, operating system and build can do, per event source, and why not: `backedge lwp info`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::calibrate::{Plateaus, plateaus};
use crate::capabilities::{Capabilities, CpuidRegisters, LEAF1_ECX_LWP};
use crate::native;
use crate::sources::clock;
use crate::sources::perf::{self, PerfInfo};

/// One event source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceInfo {
    /// Its name.
    pub name: String,
    /// Usable here.
    pub available: bool,
    /// What it does, or why it is not usable.
    pub detail: String,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// CPUID's brand string.
    pub processor: String,
    /// CPUID 8000_0001 ECX bit 15.
    pub lwp_bit: bool,
    /// CPUID 8000_001C, zero where the leaf does not exist.
    pub leaf_8000_001c: CpuidRegisters,
    /// XCR0.
    pub xcr0: u64,
    /// What the software unit offers.
    pub unit: Capabilities,
    /// What a timed load tells here: the latency plateaus of caches and memory.
    pub plateaus: Plateaus,
    /// The kernel's performance events.
    pub perf: PerfInfo,
    /// Shortest interval of a clock here, microseconds: the kernel's tick.
    pub clock_minimum_us: u64,
    /// The sources.
    pub sources: Vec<SourceInfo>,
}

fn brand() -> String {
    let mut bytes = Vec::new();
    if CpuidRegisters::of_this_cpu(0x8000_0000).eax >= 0x8000_0004 {
        for leaf in 0x8000_0002..=0x8000_0004 {
            let CpuidRegisters { eax, ebx, ecx, edx } = CpuidRegisters::of_this_cpu(leaf);
            [eax, ebx, ecx, edx].iter().for_each(|register| bytes.extend(register.to_le_bytes()));
        }
    }
    String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']).to_owned()
}

/// Whether the processor executes LWP instructions, and if not why.
pub fn native_detail() -> String {
    let max = CpuidRegisters::of_this_cpu(0x8000_0000).eax;
    let leaf = |number| if max >= number { CpuidRegisters::of_this_cpu(number) } else { CpuidRegisters::default() };
    if native::available() {
        "the processor's own instructions".to_owned()
    } else if leaf(0x8000_0001).ecx & LEAF1_ECX_LWP == 0 {
        "CPUID 8000_0001 ECX[15] is 0: this processor has no LWP (only AMD family 15h had it)".to_owned()
    } else if leaf(0x8000_001C).eax & 1 == 0 {
        "the operating system has not enabled LWP (CPUID 8000_001C EAX[0] is 0)".to_owned()
    } else {
        "the operating system does not save LWP state (XCR0[62] is 0)".to_owned()
    }
}

/// Looks.
pub fn collect() -> Info {
    let max = CpuidRegisters::of_this_cpu(0x8000_0000).eax;
    let leaf = |number| {
        if max >= number { CpuidRegisters::of_this_cpu(number) } else { CpuidRegisters::default() }
    };
    let lwp_bit = leaf(0x8000_0001).ecx & LEAF1_ECX_LWP != 0;
    let leaf_8000_001c = leaf(0x8000_001C);
    let xcr0 = native::xcr0();
    let source = |name: &str, available: bool, detail: String| SourceInfo { name: name.into(), available, detail };
    let native_detail = native_detail();
    let perf = perf::info();
    Info {
        processor: brand(),
        lwp_bit,
        leaf_8000_001c,
        xcr0,
        unit: Capabilities::UNIT,
        clock_minimum_us: u64::try_from(clock::minimum().as_micros()).unwrap_or(u64::MAX),
        plateaus: *plateaus(),
        sources: vec![
            source("inline", true, "generated code writes the records itself".into()),
            source("trap", true, "LWP instructions are executed by a SIGILL handler, about 10 us each".into()),
            source("native", native::available(), native_detail),
            source("perf", perf.available, perf.detail.clone()),
            source("replay", true, "saved record files".into()),
        ],
        perf,
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CpuidRegisters { eax, ebx, ecx, edx } = self.leaf_8000_001c;
        writeln!(f, "processor  {}", self.processor)?;
        writeln!(f, "LWP bit    {}", if self.lwp_bit { "set" } else { "clear" })?;
        writeln!(f, "8000_001C  EAX={eax:08x} EBX={ebx:08x} ECX={ecx:08x} EDX={edx:08x}")?;
        writeln!(f, "XCR0       {:#x}", self.xcr0)?;
        writeln!(f, "loads      {}", self.plateaus)?;
        writeln!(
            f,
            "clocks     CPU time of the thread, at least {} us from one record to the next (the kernel's tick)",
            self.clock_minimum_us
        )?;
        for source in &self.sources {
            writeln!(f, "{:<10} {:<3} {}", source.name, if source.available { "yes" } else { "no" }, source.detail)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_says_yes_or_why_not() {
        let info = collect();
        let names: Vec<&str> = info.sources.iter().map(|source| source.name.as_str()).collect();
        assert_eq!(names, ["inline", "trap", "native", "perf", "replay"]);
        assert!(info.sources.iter().all(|source| !source.detail.is_empty()));
        assert_eq!(info.sources[2].available, native::available());
        assert_eq!(info.perf.available, info.perf.errno.is_none(), "an errno where there is none");
        let json = serde_json::to_string(&info).unwrap();
        assert_eq!(serde_json::from_str::<Info>(&json).unwrap(), info);
    }
}
