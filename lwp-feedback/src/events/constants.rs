//! The ten event constants of the PEBS document (`inc\perfmon.inc`), by microarchitecture.
//!
//! The document heads its nine counting events "Westmere"; but for the first they are the PEBS events of Core 2 (there only IA32_PMC0 takes
//! PEBS). All ten have USR, OS, INT (bit 20) and EN set.

/// Events of the Core 2 microarchitecture.
pub mod core2 {
    /// INST_RETIRED.ANY_P. Westmere takes it too: the document's experiments do.
    pub const PEBS_INST_COUNT_EVENT: u64 = 0x53_00C0;
    /// X87_OPS_RETIRED.ANY.
    pub const PEBS_X87_OPS_COUNT_EVENT: u64 = 0x53_FEC1;
    /// BR_INST_RETIRED.MISPRED.
    pub const PEBS_BR_MISS_COUNT_EVENT: u64 = 0x53_00C5;
    /// SIMD_INST_RETIRED.ANY.
    pub const PEBS_SIMD_INST_COUNT_EVENT: u64 = 0x53_1FC7;
    /// MEM_LOAD_RETIRED.L1D_MISS.
    pub const PEBS_MEM_LOAD_L1D_MISS_EVENT: u64 = 0x53_01CB;
    /// MEM_LOAD_RETIRED.L1D_LINE_MISS. The document spells it `EPBS_MEM_LOAD_L1D_LINE_MISS_EVENT`.
    pub const PEBS_MEM_LOAD_L1D_LINE_MISS_EVENT: u64 = 0x53_02CB;
    /// MEM_LOAD_RETIRED.L2_MISS.
    pub const PEBS_MEM_LOAD_L2_MISS_EVENT: u64 = 0x53_04CB;
    /// MEM_LOAD_RETIRED.L2_LINE_MISS.
    pub const PEBS_MEM_LOAD_L2_LINE_MISS_EVENT: u64 = 0x53_08CB;
    /// MEM_LOAD_RETIRED.DTLB_MISS.
    pub const PEBS_MEM_LOAD_DTLB_MISS_EVENT: u64 = 0x53_10CB;
}

/// Events of Nehalem and Westmere.
pub mod westmere {
    /// MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD: loads slower than MSR_PEBS_LD_LAT.
    pub const PEBS_MEM_INST_COUNT_EVENT: u64 = 0x53_100B;
    /// The plain counting of the same event as [`super::core2::PEBS_INST_COUNT_EVENT`]: what the counter makes of an overflow is in IA32_PEBS_ENABLE.
    pub const INST_COUNT_EVENT: u64 = 0x53_00C0;
}

/// Document name, microarchitecture, libpfm name, value: all ten.
pub const DOCUMENT_EVENTS: [(&str, &str, &str, u64); 10] = [
    ("PEBS_INST_COUNT_EVENT", "core2", "INST_RETIRED:ANY_P", core2::PEBS_INST_COUNT_EVENT),
    ("PEBS_X87_OPS_COUNT_EVENT", "core2", "X87_OPS_RETIRED:ANY", core2::PEBS_X87_OPS_COUNT_EVENT),
    ("PEBS_BR_MISS_COUNT_EVENT", "core2", "BR_INST_RETIRED_MISPRED", core2::PEBS_BR_MISS_COUNT_EVENT),
    ("PEBS_SIMD_INST_COUNT_EVENT", "core2", "SIMD_INST_RETIRED:ANY", core2::PEBS_SIMD_INST_COUNT_EVENT),
    ("PEBS_MEM_LOAD_L1D_MISS_EVENT", "core2", "MEM_LOAD_RETIRED:L1D_MISS", core2::PEBS_MEM_LOAD_L1D_MISS_EVENT),
    ("EPBS_MEM_LOAD_L1D_LINE_MISS_EVENT", "core2", "MEM_LOAD_RETIRED:L1D_LINE_MISS", core2::PEBS_MEM_LOAD_L1D_LINE_MISS_EVENT),
    ("PEBS_MEM_LOAD_L2_MISS_EVENT", "core2", "MEM_LOAD_RETIRED:L2_MISS", core2::PEBS_MEM_LOAD_L2_MISS_EVENT),
    ("PEBS_MEM_LOAD_L2_LINE_MISS_EVENT", "core2", "MEM_LOAD_RETIRED:L2_LINE_MISS", core2::PEBS_MEM_LOAD_L2_LINE_MISS_EVENT),
    ("PEBS_MEM_LOAD_DTLB_MISS_EVENT", "core2", "MEM_LOAD_RETIRED:DTLB_MISS", core2::PEBS_MEM_LOAD_DTLB_MISS_EVENT),
    ("PEBS_MEM_INST_COUNT_EVENT", "westmere", "MEM_INST_RETIRED:LATENCY_ABOVE_THRESHOLD", westmere::PEBS_MEM_INST_COUNT_EVENT),
];
