//! From a snapshot to plans: what to do to which function, and what was refused, each with its numbers.
//!
//! Pure: no clock, no I/O, no randomness. The same snapshot gives the same plans byte for byte. A plan is *advice*: the engine must give
//! the same results whatever it says.
//!
//! One file a decision: `inline` turns call-target sites into guarded inlining. What a plan can say is in [`Decision`]; a transformation adds a
//! variant there, a file here, and a line in [`plan`].
#![forbid(unsafe_code)]

mod decision;
mod inline;
mod planfile;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::class::SiteClass;
use crate::codemap::FunctionId;
use crate::profile::{FunctionFacts, NotInlinable, Snapshot};

pub use decision::{
    Because, Decision, LikelyDecision, PrefetchDecision, PrefetchKind, SiteDecision, SpecializeDecision, SwitchOrderDecision,
};
pub use inline::{InlineDecision, InlineTarget, MAX_TARGETS};
pub use planfile::{FilePlan, PlanFile};

/// The policy's tuning numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budgets {
    /// Fewer samples of a site decide nothing. A guess: at 64 samples a share of 0.9 is known to about ±0.08.
    pub min_samples: u64,
    /// Share of a site's samples that its inlined targets must hold together.
    pub min_share: f64,
    /// Share that each further target must hold.
    pub min_target_share: f64,
    /// Targets inlined at one site, 1 to [`MAX_TARGETS`].
    pub max_targets: usize,
    /// Largest callee, bytes of its body in the module.
    pub max_callee_bytes: u32,
    /// Bytes of callees that one function may take in.
    pub max_inlined_bytes: u32,
}

impl Default for Budgets {
    fn default() -> Self {
        // max_targets 1: two targets taken at random mispredict their guards as often as the indirect call mispredicts.
        Self { min_samples: 64, min_share: 0.8, min_target_share: 0.1, max_targets: 1, max_callee_bytes: 200, max_inlined_bytes: 2000 }
    }
}

/// What to do to one function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The function.
    pub function: FunctionId,
    /// What to do, ascending by offset; not empty.
    pub decisions: Vec<Decision>,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, decision) in self.decisions.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "function {}: {decision}", self.function.func)?;
        }
        Ok(())
    }
}

/// A site where nothing is done, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// The function.
    pub function: FunctionId,
    /// Offset of the operator.
    pub offset: u32,
    /// What the site watches.
    pub class: SiteClass,
    /// Why.
    pub reason: RefusalReason,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function {}: {} at {:#x} refused: {}", self.function.func, self.class, self.offset, self.reason)
    }
}

/// Why a site was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RefusalReason {
    /// Not enough records.
    TooFewSamples {
        /// What there are.
        samples: u64,
        /// What is needed.
        needed: u64,
    },
    /// The values are spread.
    NoDominantTarget {
        /// Share of the best targets that may be taken, 0 to 1.
        share: f64,
        /// Share that is needed.
        needed: f64,
        /// Samples of the site.
        samples: u64,
    },
    /// The dominant callee is too long.
    CalleeTooLarge {
        /// Function index.
        callee: u32,
        /// Its body.
        bytes: u32,
        /// The limit.
        limit: u32,
    },
    /// The engine cannot inline the dominant callee.
    CalleeNotInlinable {
        /// Function index.
        callee: u32,
        /// Why; `None` if the engine gave no reason.
        why: Option<NotInlinable>,
    },
    /// The dominant value is no function that the engine gave facts of: another module's, or garbage.
    UnknownCallee {
        /// The value.
        value: u64,
    },
    /// The function has taken in all it may.
    BudgetExhausted {
        /// Bytes the site's callees need.
        bytes: u32,
        /// Bytes left.
        left: u32,
    },
}

impl RefusalReason {
    /// A stable name, to count by.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TooFewSamples { .. } => "too-few-samples",
            Self::NoDominantTarget { .. } => "no-dominant-target",
            Self::CalleeTooLarge { .. } => "callee-too-large",
            Self::CalleeNotInlinable { .. } => "callee-not-inlinable",
            Self::UnknownCallee { .. } => "unknown-callee",
            Self::BudgetExhausted { .. } => "budget-exhausted",
        }
    }
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewSamples { samples, needed } => {
                write!(f, "{samples} samples, {needed} needed")
            }
            Self::NoDominantTarget { share, needed, samples } => {
                write!(f, "no dominant target: {:.1} % of {samples} samples, {:.1} % needed", share * 100.0, needed * 100.0)
            }
            Self::CalleeTooLarge { callee, bytes, limit } => write!(f, "callee {callee} has {bytes} bytes, limit {limit}"),
            Self::CalleeNotInlinable { callee, why: Some(why) } => write!(f, "callee {callee} is not inlinable: {why:?}"),
            Self::CalleeNotInlinable { callee, why: None } => {
                write!(f, "callee {callee} is not inlinable")
            }
            Self::UnknownCallee { value } => {
                write!(f, "value {value:#x} is no function of this module")
            }
            Self::BudgetExhausted { bytes, left } => write!(f, "callees need {bytes} bytes, {left} left in this function"),
        }
    }
}

/// Decides. Plans ascend by function, their decisions by offset, refusals by function and offset.
pub fn plan(snapshot: &Snapshot, budgets: &Budgets) -> (Vec<Plan>, Vec<Refusal>) {
    let facts: BTreeMap<u32, &FunctionFacts> = snapshot.facts.iter().map(|facts| (facts.func, facts)).collect();
    let mut plans = Vec::new();
    let mut refusals = Vec::new();
    for function in &snapshot.functions {
        let id = FunctionId { module: snapshot.module, func: function.func };
        let mut decisions = inline::decide(id, function, &facts, budgets, &mut refusals);
        decisions.sort_by_key(Decision::offset);
        if !decisions.is_empty() {
            plans.push(Plan { function: id, decisions });
        }
    }
    plans.sort_by_key(|plan| plan.function);
    refusals.sort_by_key(|refusal| (refusal.function, refusal.offset, refusal.class));
    (plans, refusals)
}

#[cfg(test)]
mod tests;
