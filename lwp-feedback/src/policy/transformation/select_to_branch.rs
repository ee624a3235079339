//! Select to branch: a select on a loop-carried chain whose condition is predictable.
//!
//! ```text
//! saves = latency of the chain behind the condition       (a branch lets the next round start before the condition is known)
//! costs = share mispredicted · penalty
//! ```
//! Off a loop-carried chain the processor overlaps rounds anyway and a select costs next to nothing; there it stays. Rule after LLVM's select
//! optimization: a branch wins where the condition is predictable and the select is on a chain that rounds wait for.

use super::{Transformation, View, certain_share, enough, pays};
use crate::class::SiteClass;
use crate::policy::{Because, Budgets, Decision, LikelyDecision, RefusalReason};
use crate::profile::SiteSnapshot;

/// See the file.
pub const TRANSFORMATION: Transformation = Transformation {
    name: "select-to-branch",
    about: "replace a predictable select that rounds of a loop wait for by a branch",
    excludes: &[],
    consider,
};

fn consider(view: &View<'_>, budgets: &Budgets, out: &mut super::Proposals) {
    for site in view.function.sites.iter().filter(|site| site.key.class == SiteClass::Select) {
        let executions = budgets.costs.executions_of_values(site.total);
        out.answer(site.key.offset, executions, 4, decide(view, site, budgets).map(Decision::SelectToBranch));
    }
}

fn decide(view: &View<'_>, site: &SiteSnapshot, budgets: &Budgets) -> Result<LikelyDecision, RefusalReason> {
    enough(site.total, budgets.min_samples)?;
    // Any nonzero condition is true.
    let zero = site.values.iter().find(|value| value.value == 0).map_or(0.0, |value| certain_share(value, site.total));
    let others: u64 = site.values.iter().filter(|value| value.value != 0).map(|value| value.certain()).fold(0, u64::saturating_add);
    let nonzero = others.min(site.total) as f64 / site.total.max(1) as f64;
    let (likely, share) = if nonzero >= zero { (true, nonzero) } else { (false, zero) };
    if share < budgets.min_likely_share {
        return Err(RefusalReason::NotLikely { share, needed: budgets.min_likely_share, samples: site.total });
    }
    let shape = view.shape.ok_or(RefusalReason::ShapeUnknown)?;
    if !shape.selects.iter().any(|select| select.offset == site.key.offset && select.loop_carried) {
        return Err(RefusalReason::NotLoopCarried);
    }
    let costs = &budgets.costs;
    // What the predictor model says; without it, that each rare outcome is a surprise.
    let mispredicted = super::select_mispredicts(view.function, site).unwrap_or(1.0 - share);
    let (saves_ns, costs_ns) = (costs.select_chain_ns, mispredicted * costs.mispredict_ns);
    let formula = format!(
        "{:.2} ns of a loop-carried select; {:.2} % mispredicted x {:.2} ns",
        costs.select_chain_ns,
        mispredicted * 100.0,
        costs.mispredict_ns
    );
    pays(saves_ns, costs_ns, &formula, budgets)?;
    let because = Because { samples: site.total, share, needed: budgets.min_likely_share, saves_ns, costs_ns, formula };
    Ok(LikelyDecision { offset: site.key.offset, likely, because })
}
