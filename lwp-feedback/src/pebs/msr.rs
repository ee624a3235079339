//! The model-specific registers of precise sampling: numbers and fields (Intel SDM volumes 3 and 4).

macro_rules! registers {
    ($( $(#[$doc:meta])* $name:ident = $number:expr; )*) => {
        $( $(#[$doc])* pub const $name: u32 = $number; )*

        /// Every register's name and number.
        pub const NAMES: &[(&str, u32)] = &[$( (stringify!($name), $name) ),*];
    };
}

registers! {
    /// Counter 0.
    IA32_PMC0 = 0xC1;
    /// Counter 1.
    IA32_PMC1 = 0xC2;
    /// Counter 2.
    IA32_PMC2 = 0xC3;
    /// Counter 3.
    IA32_PMC3 = 0xC4;
    /// What counter 0 counts.
    IA32_PERFEVTSEL0 = 0x186;
    /// What counter 1 counts.
    IA32_PERFEVTSEL1 = 0x187;
    /// What counter 2 counts.
    IA32_PERFEVTSEL2 = 0x188;
    /// What counter 3 counts.
    IA32_PERFEVTSEL3 = 0x189;
    /// Bit 12: PEBS unavailable.
    IA32_MISC_ENABLE = 0x1A0;
    /// TR 6, BTS 7, BTINT 8, BTS_OFF_OS 9, BTS_OFF_USR 10, FREEZE_LBRS 11, FREEZE_PERFMON_ON_PMI 12.
    IA32_DEBUGCTL = 0x1D9;
    /// Fixed counter 0: instructions retired.
    IA32_FIXED_CTR0 = 0x309;
    /// Fixed counter 1: core clocks.
    IA32_FIXED_CTR1 = 0x30A;
    /// Fixed counter 2: reference clocks.
    IA32_FIXED_CTR2 = 0x30B;
    /// LBR_FMT 5:0, PEBS_TRAP 6, PEBS_REC_FMT 11:8, FW_WRITE 13; read-only.
    IA32_PERF_CAPABILITIES = 0x345;
    /// Four bits a fixed counter: OS, USR, ANY, PMI.
    IA32_FIXED_CTR_CTRL = 0x38D;
    /// Overflow bits; read-only.
    IA32_PERF_GLOBAL_STATUS = 0x38E;
    /// Counters that run.
    IA32_PERF_GLOBAL_CTRL = 0x38F;
    /// Writing a bit clears it in the status.
    IA32_PERF_GLOBAL_OVF_CTRL = 0x390;
    /// PMC0 to 3 3:0, load latency 35:32.
    IA32_PEBS_ENABLE = 0x3F1;
    /// Load latency threshold 15:0.
    MSR_PEBS_LD_LAT = 0x3F6;
    /// Linear address of the DS management area.
    IA32_DS_AREA = 0x600;
}

/// The register of that name.
pub fn by_name(name: &str) -> Option<u32> {
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, number)| *number)
}

/// IA32_PERF_GLOBAL_STATUS.OvfBuffer: the PEBS buffer has reached its threshold.
pub const OVF_BUFFER: u64 = 1 << 62;

/// All counters' overflow bits: PMC0 to 3 and the fixed counters 0 to 2.
pub const COUNTER_OVERFLOWS: u64 = 0x7_0000_000F;

/// PEBS_PMC0_EN to PEBS_PMC3_EN of IA32_PEBS_ENABLE.
pub const PEBS_PMC_EN: u64 = 0xF;

/// LL_PMC0_EN to LL_PMC3_EN of IA32_PEBS_ENABLE.
pub const LL_PMC_EN: u64 = 0xF << 32;

/// IA32_MISC_ENABLE bit 12.
pub const PEBS_UNAVAILABLE: u64 = 1 << 12;

/// Fields of IA32_DEBUGCTL.
pub mod debugctl {
    /// Branch trace messages.
    pub const TR: u64 = 1 << 6;
    /// They go to the BTS buffer.
    pub const BTS: u64 = 1 << 7;
    /// The buffer interrupts at its threshold, and takes no record beyond its maximum; when clear it is a ring.
    pub const BTINT: u64 = 1 << 8;
    /// No record of branches at level 0.
    pub const BTS_OFF_OS: u64 = 1 << 9;
    /// No record of branches above level 0.
    pub const BTS_OFF_USR: u64 = 1 << 10;
    /// LBR stops at an interrupt.
    pub const FREEZE_LBRS: u64 = 1 << 11;
    /// Counters stop at an interrupt: IA32_PERF_GLOBAL_CTRL is cleared.
    pub const FREEZE_PERFMON_ON_PMI: u64 = 1 << 12;
    /// What may be written.
    pub const ALL: u64 = 0b11 | TR | BTS | BTINT | BTS_OFF_OS | BTS_OFF_USR | FREEZE_LBRS | FREEZE_PERFMON_ON_PMI;
}

/// The least value of MSR_PEBS_LD_LAT; loads of 4 cycles then count.
pub const LD_LAT_MINIMUM: u64 = 3;
