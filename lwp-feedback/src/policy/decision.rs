//! What a plan can say: one variant a transformation, each with what the compiler needs and why it was decided.
//!
//! Offsets are byte offsets of operators in the module, so they also name operators of callees that are inlined into the planned function.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Most targets at one site.
pub const MAX_TARGETS: usize = 4;

/// One thing to do, with the numbers that led to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Decision {
    /// Inline the frequent callees of an indirect call behind a guard, or the callee of a direct call.
    Inline(InlineDecision),
    /// Compile for one value of a parameter, behind a guard at the entry (or at the loop, for a loop's entrance).
    Specialize(SpecializeDecision),
    /// Replace a branch by selects: both sides run, stores go to a selected address.
    BranchToSelect(SiteDecision),
    /// Replace a select by a branch to the likely operand.
    SelectToBranch(LikelyDecision),
    /// Fetch ahead for a load or store that misses.
    Prefetch(PrefetchDecision),
    /// Let the likely side of a branch fall through and move the other out of line.
    Layout(LikelyDecision),
    /// Test the frequent indices of a `br_table` first.
    SwitchOrder(SwitchOrderDecision),
    /// Have ways of a `br_table` in a loop follow each other without it.
    SwitchPath(SwitchPathDecision),
    /// A transformation that has no variant of its own here: an experiment. A compiler that does not know its name refuses it.
    Other(OtherDecision),
}

/// Why: the inputs of the formula that decided. Zero where a number plays no part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Because {
    /// Records of the site.
    pub samples: u64,
    /// Share of the records that say so, 0 to 1.
    pub share: f64,
    /// Share that was needed.
    pub needed: f64,
    /// Cost or latency per execution that is avoided, nanoseconds, as the formula estimates it.
    pub saves_ns: f64,
    /// Cost per execution that is added, nanoseconds.
    pub costs_ns: f64,
    /// The formula with its numbers put in.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub formula: String,
}

/// Inline these callees at this indirect call, tested in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InlineDecision {
    /// Offset of the call.
    pub offset: u32,
    /// Callees, most frequent first; 1 to [`MAX_TARGETS`].
    pub targets: Vec<InlineTarget>,
    /// What stands behind the last guard: a side exit, or else the generic call.
    pub side_exit: bool,
    /// The call is direct: its callee is the one target, and there is no guard.
    pub direct: bool,
    /// With a side exit: whether the guard stays at the call even where the loop around it cannot change the callee.
    pub in_place: bool,
    /// Samples of the site.
    pub samples: u64,
    /// Share of the samples that the targets hold together, 0 to 1.
    pub share: f64,
    /// Share that was needed.
    pub needed_share: f64,
    /// Samples that were needed.
    pub needed_samples: u64,
    /// The numbers.
    pub because: Because,
}

/// One callee to inline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InlineTarget {
    /// Function index.
    pub callee: u32,
    /// Share of the site's samples, 0 to 1.
    pub share: f64,
    /// Samples that are certain.
    pub samples: u64,
    /// Bytes of its body.
    pub body_bytes: u32,
}

/// A decision about one operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteDecision {
    /// Offset of the operator.
    pub offset: u32,
    /// The numbers.
    #[serde(default)]
    pub because: Because,
}

/// A decision about a condition that mostly goes one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LikelyDecision {
    /// Offset of the `if`, `br_if` or `select`.
    pub offset: u32,
    /// Whether the condition is mostly true (nonzero).
    pub likely: bool,
    /// The numbers.
    #[serde(default)]
    pub because: Because,
}

/// One value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecializeDecision {
    /// Byte offset of the function's body, as in a `Param` site's Data1.
    pub offset: u32,
    /// The parameter's number.
    pub parameter: u32,
    /// Its value: of an i32 the low 32 bits, zero-extended.
    pub value: u64,
    /// The numbers.
    #[serde(default)]
    pub because: Because,
}

/// Where the address of a missing access comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrefetchKind {
    /// It advances by a fixed number of bytes each round.
    Strided,
    /// It is computed from a value loaded at an address that advances so.
    Indirect,
    /// As `Indirect`, but the loop around the innermost one advances, and its rounds count: for inner loops too short to look ahead in
    /// that do not go on where the one before stopped.
    Outer,
}

impl PrefetchKind {
    /// Its name, as plan files have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strided => "strided",
            Self::Indirect => "indirect",
            Self::Outer => "outer",
        }
    }
}

/// How far ahead to fetch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrefetchDecision {
    /// Offset of the load or store.
    pub offset: u32,
    /// What advances.
    pub kind: PrefetchKind,
    /// Rounds of the loop ahead; a power of two.
    pub distance: u32,
    /// The numbers.
    #[serde(default)]
    pub because: Because,
}

/// The order of a `br_table`'s tests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchOrderDecision {
    /// Offset of the `br_table`.
    pub offset: u32,
    /// Indices to test first, in this order.
    pub first: Vec<u32>,
    /// The numbers.
    #[serde(default)]
    pub because: Because,
}

/// Which ways of a `br_table` follow each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchPathDecision {
    /// Offset of the `br_table`, the dispatch of a loop.
    pub offset: u32,
    /// Sequences of indices, each of two or more; those that are taken most first. What several begin with is there once.
    pub paths: Vec<Vec<u32>>,
    /// The numbers.
    #[serde(default)]
    pub because: Because,
}

/// What a transformation without a variant wants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OtherDecision {
    /// The transformation's name.
    pub transformation: String,
    /// Offset of the operator.
    pub offset: u32,
    /// What the compiler needs, by name.
    pub arguments: std::collections::BTreeMap<String, i64>,
    /// The numbers.
    pub because: Because,
}

impl OtherDecision {
    /// See [`Decision::detail`].
    pub fn detail(&self) -> u32 {
        let text = format!("{:?}", self.arguments);
        // FNV-1a, 32 bits.
        text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }
}

impl Decision {
    /// Offset of the operator it is about.
    pub fn offset(&self) -> u32 {
        match self {
            Self::Inline(it) => it.offset,
            Self::Specialize(it) => it.offset,
            Self::BranchToSelect(it) => it.offset,
            Self::SelectToBranch(it) | Self::Layout(it) => it.offset,
            Self::Prefetch(it) => it.offset,
            Self::SwitchOrder(it) => it.offset,
            Self::SwitchPath(it) => it.offset,
            Self::Other(it) => it.offset,
        }
    }

    /// Tells decisions of one name at one offset apart: of a specialization the parameter's number (all share their function's offset), of an experiment a digest of
    /// its arguments, otherwise 0.
    pub fn detail(&self) -> u32 {
        match self {
            Self::Specialize(it) => it.parameter,
            Self::Other(it) => it.detail(),
            _ => 0,
        }
    }

    /// The parameter that it is about, if it is about one.
    pub fn parameter(&self) -> Option<u32> {
        match self {
            Self::Specialize(it) => Some(it.parameter),
            _ => None,
        }
    }

    /// What it does and where, without its numbers.
    pub fn title(&self) -> String {
        let (name, offset) = (self.name(), self.offset());
        match self {
            Self::Specialize(it) => format!("{name} parameter {} to {}", it.parameter, it.value),
            Self::Other(it) => format!("{} at {offset:#x}, {:?}", it.transformation, it.arguments),
            _ => format!("{name} at {offset:#x}"),
        }
    }

    /// The numbers that led to it.
    pub fn because(&self) -> &Because {
        match self {
            Self::Inline(it) => &it.because,
            Self::Specialize(it) => &it.because,
            Self::BranchToSelect(it) => &it.because,
            Self::SelectToBranch(it) | Self::Layout(it) => &it.because,
            Self::Prefetch(it) => &it.because,
            Self::SwitchOrder(it) => &it.because,
            Self::SwitchPath(it) => &it.because,
            Self::Other(it) => &it.because,
        }
    }

    /// The transformation's name, as counters, refusals and `--forbid` use it; `other` where no such transformation is registered.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Inline(it) if it.direct => "inline-direct",
            Self::Inline(_) => "inline",
            Self::Specialize(_) => "specialize",
            Self::BranchToSelect(_) => "branch-to-select",
            Self::SelectToBranch(_) => "select-to-branch",
            Self::Prefetch(_) => "prefetch",
            Self::Layout(_) => "layout",
            Self::SwitchOrder(_) => "switch-order",
            Self::SwitchPath(_) => "switch-path",
            // What nobody registered has no name of its own.
            Self::Other(it) => super::transformations().find(|known| known.name == it.transformation).map_or("other", |known| known.name),
        }
    }
}

impl Because {
    /// Whether whoever decided said nothing of why.
    fn is_empty(&self) -> bool {
        self.samples == 0 && self.needed == 0.0 && self.saves_ns == 0.0 && self.costs_ns == 0.0 && self.formula.is_empty()
    }
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("no numbers given");
        }
        write!(f, "{:.1} % of {} samples, needed {:.1} %", self.share * 100.0, self.samples, self.needed * 100.0)?;
        if self.saves_ns > 0.0 || self.costs_ns > 0.0 {
            write!(f, "; saves {:.2} ns, costs {:.2} ns", self.saves_ns, self.costs_ns)?;
        }
        if !self.formula.is_empty() {
            write!(f, " ({})", self.formula)?;
        }
        Ok(())
    }
}

impl InlineDecision {
    /// What stands behind the last guard, where that is not the generic call.
    fn behind(&self) -> &'static str {
        match (self.side_exit, self.in_place) {
            (false, _) => "",
            (true, false) => ", side exit behind",
            (true, true) => ", side exit behind, tested at the call",
        }
    }
}

impl fmt::Display for InlineDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:#x}:", if self.direct { "inline-direct" } else { "inline" }, self.offset)?;
        if self.samples == 0 {
            self.targets.iter().try_for_each(|target| write!(f, " callee {}", target.callee))?;
            return write!(f, "{}; {}", self.behind(), self.because);
        }
        for target in &self.targets {
            write!(
                f,
                " callee {} ({:.1} %, {} of {} samples, {} bytes)",
                target.callee,
                target.share * 100.0,
                target.samples,
                self.samples,
                target.body_bytes
            )?;
        }
        if self.direct {
            return write!(f, "; saves {:.2} ns ({})", self.because.saves_ns, self.because.formula);
        }
        write!(
            f,
            "; together {:.1} %, needed {:.1} % of at least {}{}",
            self.share * 100.0,
            self.needed_share * 100.0,
            self.needed_samples,
            self.behind()
        )?;
        let because = &self.because;
        if because.saves_ns > 0.0 || because.costs_ns > 0.0 {
            write!(f, "; saves {:.2} ns, costs {:.2} ns ({})", because.saves_ns, because.costs_ns, because.formula)?;
        }
        Ok(())
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, offset) = (self.name(), self.offset());
        match self {
            Self::Inline(inline) => inline.fmt(f),
            Self::Specialize(_) | Self::Other(_) | Self::BranchToSelect(_) => write!(f, "{}: {}", self.title(), self.because()),
            Self::SelectToBranch(it) | Self::Layout(it) => {
                write!(f, "{name} at {offset:#x}, likely {}: {}", if it.likely { "true" } else { "false" }, it.because)
            }
            Self::Prefetch(it) => write!(f, "{name} at {offset:#x}, {}, {} rounds ahead: {}", it.kind.name(), it.distance, it.because),
            Self::SwitchOrder(it) => write!(f, "{name} at {offset:#x}, first {:?}: {}", it.first, it.because),
            Self::SwitchPath(it) => {
                let paths: Vec<String> =
                    it.paths.iter().map(|path| path.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")).collect();
                write!(f, "{name} at {offset:#x}, {}: {}", paths.join(", "), it.because)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_policy_gives_as_its_reason_is_shown() {
        let targets = vec![InlineTarget { callee: 3, ..InlineTarget::default() }];
        let mut inline = InlineDecision { offset: 16, targets, ..InlineDecision::default() };
        assert_eq!(inline.to_string(), "inline at 0x10: callee 3; no numbers given");
        inline.because = Because { samples: 10, share: 0.9, needed: 0.5, formula: "a guess".into(), ..Because::default() };
        assert_eq!(inline.to_string(), "inline at 0x10: callee 3; 90.0 % of 10 samples, needed 50.0 % (a guess)");
    }
}
