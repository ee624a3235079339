//! What a program did, as the unit is told: retired instructions and LWP instructions. Plain data, also the input of `backedge lwp sim`.

use serde::{Deserialize, Serialize};

/// Kind of a control transfer that counts as a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BranchKind {
    /// Conditional jump, JCXZ included.
    Jcc,
    /// Jump.
    Jmp,
    /// Call.
    Call,
    /// Return.
    Ret,
    /// LOOPx.
    Loop,
    /// Far transfer without a change of ring.
    Far,
}

/// A branch that retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// Kind.
    pub kind: BranchKind,
    /// Its target is in the instruction (relative to rIP).
    pub direct: bool,
    /// Taken; always true of unconditional transfers.
    pub taken: bool,
    /// Predicted correctly.
    pub predicted: bool,
    /// `predicted` means something.
    pub prediction_valid: bool,
    /// Where it goes when taken.
    pub target: u64,
}

/// A load that missed the data cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Linear address.
    pub address: u64,
    /// Cycles.
    pub latency: u32,
    /// SRC code: 0 no status, 1 local L3, 2 remote CPU or L3, 3 DRAM, 7 other.
    pub source: u8,
    /// The second miss of the same misaligned load as the entry before: the two count once and the lower address is reported.
    #[serde(default)]
    pub misaligned_second_miss: bool,
}

/// A retired instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retired {
    /// Linear address.
    pub ip: u64,
    /// Bytes, 1 to 15.
    pub len: u8,
    /// The branch it was.
    #[serde(default)]
    pub branch: Option<Branch>,
    /// Its loads that missed.
    #[serde(default)]
    pub loads: Vec<Load>,
    /// Core clocks since the instruction before.
    #[serde(default)]
    pub core_clocks: u32,
    /// Reference clocks since the instruction before.
    #[serde(default)]
    pub ref_clocks: u32,
    /// Privilege level; only 3 counts.
    #[serde(default = "user")]
    pub cpl: u8,
}

fn user() -> u8 {
    3
}
