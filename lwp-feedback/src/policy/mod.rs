//! From a snapshot to plans: what to do to which function, and what was refused, each with its numbers.
//!
//! Pure: no clock, no I/O, no randomness. The same snapshot gives the same plans byte for byte. A plan is *advice*: the engine must give
//! the same results whatever it says.
//!
//! Reading order: [`transformation`] (one file each: a formula from the profile to candidates and refusals), `ranking` (the candidates that save most,
//! while the [`Budgets`] last), [`Decision`] (what a plan can say), [`PlanFile`] (plans by hand), [`Policy`] (a policy of your own in place of
//! this one).
#![forbid(unsafe_code)]

mod budgets;
mod decision;
mod planfile;
mod ranking;
mod refusal;
pub mod transformation;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::codemap::FunctionId;
use crate::profile::{FunctionFacts, FunctionPrior, FunctionShape, Snapshot};
use ranking::Ranked;
use transformation::{ALL, Proposals, Transformation, View};

pub use budgets::{Budgets, Costs};
pub use decision::{
    Because, Decision, InlineDecision, InlineTarget, LikelyDecision, MAX_TARGETS, OtherDecision, PrefetchDecision, PrefetchKind,
    SiteDecision, SpecializeDecision, SwitchOrderDecision, SwitchPathDecision,
};
pub use planfile::{FilePlan, PlanFile};
pub use refusal::{Refusal, RefusalReason};

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

/// Something that makes plans. The engine calls it on a compile thread whenever a function moves to the optimizing tier, with that function's profile (and
/// the facts of every callee in it); a replay calls it once with the whole module. It may be slow, or wrong: neither changes results.
pub trait Policy: fmt::Debug + Send + Sync {
    /// Decides for every function of the snapshot.
    fn plan(&self, snapshot: &Snapshot, budgets: &Budgets) -> (Vec<Plan>, Vec<Refusal>);

    /// Whether what costs nothing while it runs (layouts, inlined direct calls) may be carried out in the first code of a function, before there is any code that it could be timed against. What a policy that may be wrong
    /// says is all tried.
    fn makes_first_plans(&self) -> bool {
        false
    }

    /// The run is over: what takes longer than that from now on is not waited for.
    fn end_within(&self, _patience: Duration) {}

    /// Why it cannot decide any more, on one line: what it was asked since has no plans.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// What a policy says, whoever's it is, without what [`Budgets::forbid`] names: that is among the refusals.
pub fn ask(policy: &dyn Policy, snapshot: &Snapshot, budgets: &Budgets) -> (Vec<Plan>, Vec<Refusal>) {
    let (plans, mut refusals) = policy.plan(snapshot, budgets);
    let (plans, mut forbidden) = without_forbidden(plans, budgets);
    refusals.append(&mut forbidden);
    (plans, refusals)
}

/// Plans without what [`Budgets::forbid`] names, whoever made them, and what that was.
pub fn without_forbidden(mut plans: Vec<Plan>, budgets: &Budgets) -> (Vec<Plan>, Vec<Refusal>) {
    let mut refusals = Vec::new();
    for plan in &mut plans {
        let function = plan.function;
        plan.decisions.retain(|decision| {
            let forbidden = budgets.forbid.contains(decision.name());
            if forbidden {
                let (offset, transformation, parameter) = (decision.offset(), decision.name().to_owned().into(), decision.parameter());
                refusals.push(Refusal { function, offset, transformation, parameter, reason: RefusalReason::Forbidden });
            }
            !forbidden
        });
    }
    plans.retain(|plan| !plan.decisions.is_empty());
    (plans, refusals)
}

/// The policy of this module, as a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultPolicy;

impl Policy for DefaultPolicy {
    fn makes_first_plans(&self) -> bool {
        true
    }

    fn plan(&self, snapshot: &Snapshot, budgets: &Budgets) -> (Vec<Plan>, Vec<Refusal>) {
        plan(snapshot, budgets)
    }
}

/// The transformations that the policy knows: what [`Budgets::forbid`] can name.
pub fn transformations() -> impl Iterator<Item = &'static Transformation> {
    ALL.iter().copied()
}

/// Decides. Plans ascend by function, their decisions by offset, refusals by function, offset and transformation.
pub fn plan(snapshot: &Snapshot, budgets: &Budgets) -> (Vec<Plan>, Vec<Refusal>) {
    plan_with(ALL, snapshot, budgets)
}

/// As [`plan`], with transformations of the caller's choice.
pub fn plan_with(transformations: &[&Transformation], snapshot: &Snapshot, budgets: &Budgets) -> (Vec<Plan>, Vec<Refusal>) {
    let facts: BTreeMap<u32, &FunctionFacts> = snapshot.facts.iter().map(|it| (it.func, it)).collect();
    let shapes: BTreeMap<u32, &FunctionShape> = snapshot.shapes.iter().map(|it| (it.func, it)).collect();
    let priors: BTreeMap<u32, &FunctionPrior> = snapshot.priors.iter().map(|it| (it.func, it)).collect();
    let (mut candidates, mut refusals) = (Vec::new(), Vec::new());
    for function in &snapshot.functions {
        // What did not run gets nothing.
        if function.records == 0 {
            continue;
        }
        let id = FunctionId { module: snapshot.module, func: function.func };
        let view =
            View { id, function, shape: shapes.get(&function.func).copied(), prior: priors.get(&function.func).copied(), facts: &facts };
        for transformation in transformations {
            let mut out = Proposals::new(transformation.name, id);
            (transformation.consider)(&view, budgets, &mut out);
            refusals.append(&mut out.refusals);
            if budgets.forbid.contains(transformation.name) {
                for candidate in out.candidates {
                    let (offset, parameter) = (candidate.decision.offset(), candidate.decision.parameter());
                    let (transformation, reason) = (transformation.name.into(), RefusalReason::Forbidden);
                    refusals.push(Refusal { function: id, offset, transformation, parameter, reason });
                }
            } else {
                candidates.extend(out.candidates.into_iter().map(|candidate| Ranked {
                    function: id,
                    bytes: view.shape.map_or(0, |shape| shape.body_bytes),
                    candidate,
                }));
            }
        }
    }
    let plans = ranking::take(transformations, candidates, snapshot.grown_bytes, budgets, &mut refusals);
    refusals.sort_by(|a, b| (a.function, a.offset, &a.transformation).cmp(&(b.function, b.offset, &b.transformation)));
    (plans, refusals)
}

#[cfg(test)]
mod tests;
