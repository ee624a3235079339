//! A profile as sorted plain data: what the policy reads, reports print and files hold.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::sequences::SEQUENCE;
use super::shape::{FunctionPrior, FunctionShape};
use super::top_k::Kept;
use super::{Call, FunctionProfile, Provenance, Rounds, Select, SiteKey, TopK};

/// A module's profile and what the engine knows about its functions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Hash of the module; in JSON hexadecimal.
    #[serde(with = "crate::hashtext")]
    pub module: u64,
    /// Functions with records, ascending.
    pub functions: Vec<FunctionSnapshot>,
    /// Static facts of functions, supplied by the engine; any order.
    pub facts: Vec<FunctionFacts>,
    /// What the engine knows of the code of the functions in `functions`; any order.
    #[serde(default)]
    pub shapes: Vec<FunctionShape>,
    /// What the module's producer said of functions; any order.
    #[serde(default)]
    pub priors: Vec<FunctionPrior>,
    /// Bytes of code, counted as wasm, that plans in force have added to the module.
    #[serde(default)]
    pub grown_bytes: u64,
}

/// One function's profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionSnapshot {
    /// Function index.
    pub func: u32,
    /// Records seen, not decayed.
    pub records: u64,
    /// Hot-function and hot-loop records seen, not decayed.
    pub hot: u64,
    /// Side exits seen, not decayed.
    pub side_exits: u64,
    /// Instruction and clock records, decayed.
    pub ticks: u64,
    /// Value sites, ascending by key.
    pub sites: Vec<SiteSnapshot>,
    /// Branches, ascending by offset.
    pub branches: Vec<BranchSnapshot>,
    /// Loads, ascending by offset.
    pub loads: Vec<LoadSnapshot>,
    /// Selects whose condition bursts saw, ascending by offset.
    #[serde(default)]
    pub selects: Vec<SelectSnapshot>,
    /// Loops that bursts ran, ascending by offset.
    #[serde(default)]
    pub rounds: Vec<LoopSnapshot>,
    /// Direct calls of short functions that bursts counted, ascending by offset.
    #[serde(default)]
    pub calls: Vec<CallSnapshot>,
    /// `br_table` operators of many targets whose indices bursts saw in a row, ascending by offset.
    #[serde(default)]
    pub sequences: Vec<SequencesSnapshot>,
}

/// Which indices of a `br_table` follow each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequencesSnapshot {
    /// Offset of the operator.
    pub offset: u32,
    /// Sequences seen, decayed; the true total, not the sum of `sequences`.
    pub total: u64,
    /// Those that are kept, most frequent first.
    pub sequences: Vec<SequenceCount>,
}

impl SequencesSnapshot {
    /// Executions that they are.
    pub fn executions(&self) -> u64 {
        self.total.saturating_mul(SEQUENCE as u64)
    }
}

/// Indices in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceCount {
    /// The indices, the first first.
    pub indices: [u8; SEQUENCE],
    /// How often.
    pub count: u64,
}

/// A direct call of a function that is short enough to be inlined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSnapshot {
    /// Offset of the operator.
    pub offset: u32,
    /// Whom it calls.
    pub callee: u32,
    /// How often, in bursts that only count and in those that judge branches; decayed.
    pub count: u64,
}

/// A value site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteSnapshot {
    /// Where and what.
    #[serde(flatten)]
    pub key: SiteKey,
    /// Values seen, decayed; the true total, not the sum of `values`.
    pub total: u64,
    /// The most frequent, most frequent first.
    pub values: Vec<ValueCount>,
}

/// A kept value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueCount {
    /// The value.
    pub value: u64,
    /// How often; at most `error` too high.
    pub count: u64,
    /// Bound of the overestimate.
    pub error: u64,
}

impl ValueCount {
    /// The count that is certain.
    pub fn certain(&self) -> u64 {
        self.count - self.error.min(self.count)
    }
}

/// A branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchSnapshot {
    /// Offset of the operator.
    pub offset: u32,
    /// Records with TKN.
    pub taken: u64,
    /// Records without.
    pub not_taken: u64,
    /// Records with PRV and PRD.
    pub predicted: u64,
    /// Records with PRV and without PRD.
    pub mispredicted: u64,
    /// Outcomes in bursts that only count, all of them: taken, not taken.
    #[serde(default)]
    pub counted: [u64; 2],
    /// Mispredictions that hardware sampled where it does not say which way the branch went, nor how often it was predicted: no part of the counts above.
    #[serde(default)]
    pub sampled_mispredicted: u64,
    /// Whose verdicts most of these are.
    #[serde(default)]
    pub provenance: Provenance,
}

impl BranchSnapshot {
    /// All outcomes that were seen, those that left records and those that were counted: taken, not taken.
    pub fn ways(&self) -> [u64; 2] {
        [self.taken.saturating_add(self.counted[0]), self.not_taken.saturating_add(self.counted[1])]
    }

    /// How many those are.
    pub fn seen(&self) -> u64 {
        let [taken, not_taken] = self.ways();
        taken.saturating_add(not_taken)
    }
}

/// The condition of a select, and what a branch in its place would meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectSnapshot {
    /// Offset of the operator.
    pub offset: u32,
    /// Records with a condition that is not 0.
    pub taken: u64,
    /// Records with condition 0.
    pub not_taken: u64,
    /// Records with the predictor model's verdict.
    pub judged: u64,
    /// Of these, those that a branch would have mispredicted. Modelled.
    pub would_mispredict: u64,
}

impl SelectSnapshot {
    /// Share of executions that a branch in its place would mispredict, where the model has seen any.
    pub fn would_mispredict_share(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.would_mispredict as f64 / self.judged as f64)
    }
}

/// How long a loop's rounds take, seen by bursts that record branches: their code is instrumented tier-1 code, so this is more than tier 2 needs, and
/// misses of the caches are in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopSnapshot {
    /// Offset of the loop.
    pub offset: u32,
    /// Rounds, decayed.
    pub rounds: u64,
    /// Nanoseconds they took, decayed alike.
    pub ns: u64,
}

impl LoopSnapshot {
    /// Nanoseconds of a round.
    pub fn round_ns(&self) -> f64 {
        self.ns as f64 / self.rounds.max(1) as f64
    }
}

/// A load, seen by records of its misses and by bursts that time all loads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadSnapshot {
    /// Offset of the operator.
    pub offset: u32,
    /// Latency classes: (cycles, records), ascending.
    pub latency: Vec<(u64, u64)>,
    /// Records per SRC code.
    pub sources: [u64; 8],
    /// Differences of successive addresses, most frequent first: of all executions in bursts; of records alone where no burst saw the load.
    pub strides: Vec<StrideCount>,
    /// Address pairs.
    pub stride_total: u64,
    /// Executions in bursts that time loads. With EventInterval4 = 0 every miss of theirs is a record, so misses per execution is [`Self::count`] over this.
    #[serde(default)]
    pub executions: u64,
    /// Offset of the load whose value the address is computed from, where there is one: its own for a chase of pointers.
    #[serde(default)]
    pub indirect_from: Option<u32>,
    /// Misses that hardware sampled, of how many executions is not known. Latencies and sources are theirs as long as no burst has timed the load.
    #[serde(default)]
    pub sampled: u64,
    /// Where latencies and sources come from.
    #[serde(default)]
    pub provenance: Provenance,
}

impl LoadSnapshot {
    /// Records of this load.
    pub fn count(&self) -> u64 {
        self.latency.iter().fold(0, |sum, &(_, count)| sum.saturating_add(count))
    }

    /// Misses per execution, where bursts have timed it.
    pub fn miss_share(&self) -> Option<f64> {
        (self.executions > 0).then(|| self.count() as f64 / self.executions as f64)
    }

    /// The most frequent stride in bytes and its certain share of the address pairs.
    pub fn dominant_stride(&self) -> Option<(i64, f64)> {
        let first = self.strides.first()?;
        let certain = first.count - first.error.min(first.count);
        Some((first.stride, certain as f64 / self.stride_total.max(1) as f64))
    }

    /// Mean latency in cycles, by class.
    pub fn mean_latency(&self) -> f64 {
        let sum: f64 = self.latency.iter().map(|&(cycles, count)| cycles as f64 * count as f64).sum();
        sum / self.count().max(1) as f64
    }
}

/// A kept stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrideCount {
    /// Bytes.
    pub stride: i64,
    /// How often; at most `error` too high.
    pub count: u64,
    /// Bound of the overestimate.
    pub error: u64,
}

/// What the engine knows about a function without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionFacts {
    /// Function index.
    pub func: u32,
    /// Bytes of its body in the module.
    pub body_bytes: u32,
    /// May it be inlined?
    pub inlinable: bool,
    /// Why not.
    pub reason: Option<NotInlinable>,
    /// Are direct calls of it inlined without being asked for?
    #[serde(default)]
    pub inlined_anyway: bool,
}

/// Why the engine cannot inline a function, whatever the profile says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NotInlinable {
    /// It has no body here.
    Imported,
    /// It has loops the translator does not inline.
    HasLoop,
    /// It uses exceptions or tail calls.
    UnsupportedOperator,
    /// It calls itself.
    Recursive,
    /// It calls other functions.
    HasCall,
    /// Its body or its locals are above the compiler's limit.
    TooLarge,
    /// Its translation failed.
    NotTranslatable,
}

impl std::fmt::Display for NotInlinable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NotInlinable::Imported => "imported",
            NotInlinable::HasLoop => "has a loop",
            NotInlinable::UnsupportedOperator => "has an operator that is not inlined",
            NotInlinable::Recursive => "calls itself",
            NotInlinable::HasCall => "has a call",
            NotInlinable::TooLarge => "too large",
            NotInlinable::NotTranslatable => "not translatable",
        })
    }
}

impl FunctionSnapshot {
    /// Adds what bursts before the function's first compile counted.
    pub(super) fn add_early(&mut self, branches: BTreeMap<u32, [u64; 2]>, calls: BTreeMap<u32, Call>) {
        for (offset, [taken, not_taken]) in branches {
            let at = match self.branches.binary_search_by_key(&offset, |branch| branch.offset) {
                Ok(at) => at,
                Err(at) => {
                    self.branches.insert(at, BranchSnapshot { offset, ..BranchSnapshot::default() });
                    at
                }
            };
            let counted = &mut self.branches[at].counted;
            *counted = [counted[0].saturating_add(taken), counted[1].saturating_add(not_taken)];
        }
        for (offset, Call { callee, count }) in calls {
            match self.calls.binary_search_by_key(&offset, |call| call.offset) {
                Ok(at) => self.calls[at].count = self.calls[at].count.saturating_add(count),
                Err(at) => self.calls.insert(at, CallSnapshot { offset, callee, count }),
            }
        }
    }
}

/// `sees_branches`: event 3 is recorded. Without it nothing is known of branches, nor of what a branch in a select's place would meet, though both were counted.
pub(super) fn of_function(func: u32, profile: &FunctionProfile, sees_branches: bool) -> FunctionSnapshot {
    let values = |top: &TopK| -> Vec<ValueCount> {
        top.sorted().into_iter().map(|Kept { value, count, error, .. }| ValueCount { value, count, error }).collect()
    };
    FunctionSnapshot {
        func,
        records: profile.records,
        hot: profile.hot,
        side_exits: profile.side_exits,
        ticks: profile.ticks,
        sites: profile.sites.iter().map(|(&key, top)| SiteSnapshot { key, total: top.total(), values: values(top) }).collect(),
        branches: profile
            .branches
            .iter()
            .filter(|_| sees_branches)
            .map(|(&offset, branch)| BranchSnapshot {
                offset,
                taken: branch.taken,
                not_taken: branch.not_taken,
                predicted: branch.predicted,
                mispredicted: branch.mispredicted,
                counted: branch.counted,
                sampled_mispredicted: branch.sampled_mispredicted,
                provenance: branch.provenance(),
            })
            .collect(),
        selects: profile
            .selects
            .iter()
            .filter(|_| sees_branches)
            .map(|(&offset, &Select { taken, not_taken, judged, would_mispredict })| SelectSnapshot {
                offset,
                taken,
                not_taken,
                judged,
                would_mispredict,
            })
            .collect(),
        rounds: profile.rounds.iter().map(|(&offset, &Rounds { rounds, ns })| LoopSnapshot { offset, rounds, ns }).collect(),
        calls: (profile.calls.iter().filter(|_| sees_branches))
            .map(|(&offset, &Call { callee, count })| CallSnapshot { offset, callee, count })
            .collect(),
        sequences: profile.sequences.iter().map(|(&offset, sequences)| sequences.snapshot(offset)).collect(),
        loads: profile
            .loads
            .iter()
            .map(|(&offset, load)| LoadSnapshot {
                offset,
                latency: load.latency.iter_recorded().map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value().into())).collect(),
                sources: load.sources,
                strides: load
                    .strides
                    .sorted()
                    .into_iter()
                    .map(|Kept { value, count, error, .. }| StrideCount { stride: value as i64, count, error })
                    .collect(),
                stride_total: load.strides.total(),
                executions: load.executions,
                indirect_from: load.indirect_from,
                sampled: load.sampled,
                provenance: load.provenance(),
            })
            .collect(),
    }
}
