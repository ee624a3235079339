//! Branch to select: a branch that is mispredicted so often that running both arms is cheaper.
//!
//! ```text
//! saves = share certainly mispredicted · penalty                  (the lower end of its 95 % interval: bursts leave few records)
//! costs = operators run in vain · cost of an operator + stores and joined values · cost of a select
//! ```
//! Run in vain is the other arm: with p the share of the taken arm, p · operators(not taken) + (1 - p) · operators(taken). How a branch divides says
//! nothing: one that alternates divides evenly and is predicted always, and must stay a branch. Idea: results of HWPGO and LLVM's
//! select optimization (`docs/src/policy.md`).

use super::{Transformation, View, enough, executions, outcomes, pays_times};
use crate::policy::{Because, Budgets, Decision, RefusalReason, SiteDecision};
use crate::profile::BranchSnapshot;

/// Of [`Budgets::min_gain`], what is asked of a saving that is the lower end of its interval already. With all of it a branch that goes either way at random, in a loop that runs
/// 3.7 times as fast without it (`branch_arms`), was refused or not by the chance of what the bursts saw: 2.0 ns saved for 1.6.
const OF_CERTAIN: f64 = 0.8;

/// See the file.
pub const TRANSFORMATION: Transformation = Transformation {
    name: "branch-to-select",
    about: "run both arms of a branch that is mispredicted and select the results",
    excludes: &["layout"],
    consider,
};

fn consider(view: &View<'_>, budgets: &Budgets, out: &mut super::Proposals) {
    for branch in &view.function.branches {
        let arms = view.shape.and_then(|shape| shape.branch(branch.offset));
        // An operator is about two bytes; both arms are there already, what is new are the selects.
        let growth = arms.map_or(0, |arms| (arms.taken.stores + arms.not_taken.stores + 1).saturating_mul(4));
        out.answer(branch.offset, executions(branch, &budgets.costs), growth, decide(view, branch, budgets).map(Decision::BranchToSelect));
    }
}

fn decide(view: &View<'_>, branch: &BranchSnapshot, budgets: &Budgets) -> Result<SiteDecision, RefusalReason> {
    let predicted = branch.predicted.saturating_add(branch.mispredicted);
    enough(predicted, budgets.min_branch_samples)?;
    let rate = branch.mispredicted as f64 / predicted as f64;
    if rate < budgets.min_mispredict_share {
        return Err(RefusalReason::WellPredicted { share: rate, needed: budgets.min_mispredict_share, samples: predicted });
    }
    let arms = view.shape.ok_or(RefusalReason::ShapeUnknown)?.branch(branch.offset).ok_or(RefusalReason::NoBranch)?;
    if arms.back_edge {
        return Err(RefusalReason::BackEdge);
    }
    if let Some(why) = arms.taken.obstacle.or(arms.not_taken.obstacle) {
        return Err(RefusalReason::ArmNotConvertible { why });
    }
    let costs = &budgets.costs;
    let taken = branch.taken as f64 / outcomes(branch).max(1) as f64;
    let vain = taken * f64::from(arms.not_taken.operators) + (1.0 - taken) * f64::from(arms.taken.operators);
    let selects = 1.0 + f64::from(arms.taken.stores) + f64::from(arms.not_taken.stores);
    let certain = certain_rate(rate, predicted);
    let saves_ns = certain * costs.mispredict_ns;
    let costs_ns = vain * costs.operator_ns + selects * costs.select_ns;
    let formula = format!(
        "at least {:.1} % mispredicted x {:.2} ns; {vain:.1} operators in vain x {:.2} ns, {selects:.0} selects x {:.2} ns",
        certain * 100.0,
        costs.mispredict_ns,
        costs.operator_ns,
        costs.select_ns
    );
    pays_times(budgets.min_gain * OF_CERTAIN, saves_ns, costs_ns, &formula)?;
    let because = Because { samples: predicted, share: rate, needed: budgets.min_mispredict_share, saves_ns, costs_ns, formula };
    Ok(SiteDecision { offset: branch.offset, because })
}

/// Lower end of the one-sided 95 % interval of a rate, by the normal approximation.
fn certain_rate(rate: f64, samples: u64) -> f64 {
    (rate - 1.645 * (rate * (1.0 - rate) / samples.max(1) as f64).max(0.0).sqrt()).max(0.0)
}
