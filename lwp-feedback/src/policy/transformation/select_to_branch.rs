//! Select to branch: a select on a loop-carried chain whose condition is predictable.
//!
//! ```text
//! saves = latency of the chain behind the condition       (a branch lets the next round start before the condition is known)
//! costs = share mispredicted · penalty
//! ```
//! Off a loop-carried chain the processor overlaps rounds anyway and a select costs next to nothing; there it stays. Rule after LLVM's select
//! optimization: a branch wins where the condition is predictable and the select is on a chain that rounds wait for.

use super::{Transformation, View, enough, pays};
use crate::policy::{Because, Budgets, Decision, LikelyDecision, RefusalReason};
use crate::profile::SelectSnapshot;

/// See the file.
pub const TRANSFORMATION: Transformation = Transformation {
    name: "select-to-branch",
    about: "replace a predictable select that rounds of a loop wait for by a branch",
    excludes: &[],
    consider,
};

fn consider(view: &View<'_>, budgets: &Budgets, out: &mut super::Proposals) {
    for select in &view.function.selects {
        let executions = budgets.costs.executions_of_bursts(select.taken.saturating_add(select.not_taken));
        out.answer(select.offset, executions, 4, decide(view, select, budgets).map(Decision::SelectToBranch));
    }
}

fn decide(view: &View<'_>, select: &SelectSnapshot, budgets: &Budgets) -> Result<LikelyDecision, RefusalReason> {
    let samples = select.taken.saturating_add(select.not_taken);
    enough(samples, budgets.min_samples)?;
    let likely = select.taken >= select.not_taken;
    let share = select.taken.max(select.not_taken) as f64 / samples as f64;
    if share < budgets.min_likely_share {
        return Err(RefusalReason::NotLikely { share, needed: budgets.min_likely_share, samples });
    }
    let shape = view.shape.ok_or(RefusalReason::ShapeUnknown)?;
    if !shape.selects.iter().any(|it| it.offset == select.offset && it.loop_carried) {
        return Err(RefusalReason::NotLoopCarried);
    }
    let costs = &budgets.costs;
    // What the predictor model says; without it, that each rare outcome is a surprise.
    let mispredicted = select.would_mispredict_share().map_or(1.0 - share, |share| share.min(1.0));
    let (saves_ns, costs_ns) = (costs.select_chain_ns, mispredicted * costs.mispredict_ns);
    let formula = format!(
        "{:.2} ns of a loop-carried select; {:.2} % mispredicted x {:.2} ns",
        costs.select_chain_ns,
        mispredicted * 100.0,
        costs.mispredict_ns
    );
    pays(saves_ns, costs_ns, &formula, budgets)?;
    let because = Because { samples, share, needed: budgets.min_likely_share, saves_ns, costs_ns, formula };
    Ok(LikelyDecision { offset: select.offset, likely, because })
}
