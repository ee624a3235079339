//! Specialization: a parameter that nearly always has one value and decides something.
//!
//! ```text
//! saves = share · (branches · branch + loop bounds · bound + switches · switch + calls · indirect call)
//! costs = cost of a guard at the entry
//! ```
//! The counts are the shape's, weighted by loop depth: what the known value folds ([`crate::profile::ParamShape`]). A division by a constant in place of
//! a variable gains nothing on the processors this was measured on, so folding arithmetic counts for nothing by itself. The function is compiled a
//! second time for the other values, so its whole body is growth.

use super::{Transformation, View, certain_share, enough, pays};
use crate::class::SiteClass;
use crate::policy::{Because, Budgets, Decision, RefusalReason, SpecializeDecision};
use crate::profile::SiteSnapshot;

/// See the file.
pub const TRANSFORMATION: Transformation = Transformation {
    name: "specialize",
    about: "compile for one value of a parameter, behind a guard at the entry",
    excludes: &[],
    consider,
};

fn consider(view: &View<'_>, budgets: &Budgets, out: &mut super::Proposals) {
    let growth = view.shape.map_or(0, |shape| shape.body_bytes);
    for site in view.function.sites.iter().filter(|site| site.key.class == SiteClass::Param) {
        let executions = budgets.costs.executions_of_values(site.total);
        match decide(view, site, budgets) {
            Ok(decision) => out.propose(Decision::Specialize(decision), executions, growth),
            Err(reason) => out.refuse_parameter(site.key.offset, Some(site.key.detail.into()), reason),
        }
    }
}

fn decide(view: &View<'_>, site: &SiteSnapshot, budgets: &Budgets) -> Result<SpecializeDecision, RefusalReason> {
    let parameter = u32::from(site.key.detail);
    enough(site.total, budgets.min_samples)?;
    let best = site.values.first().map_or(0.0, |value| certain_share(value, site.total));
    let Some(value) = site.values.first().filter(|_| best >= budgets.min_specialize_share) else {
        return Err(RefusalReason::NoDominantValue { share: best, needed: budgets.min_specialize_share, samples: site.total });
    };
    let shape = view.shape.ok_or(RefusalReason::ShapeUnknown)?;
    let Some(unlocks) = shape.params.iter().find(|it| it.param == parameter && it.unlocks()) else {
        return Err(RefusalReason::UnlocksNothing { parameter });
    };
    let costs = &budgets.costs;
    let folded = f64::from(unlocks.branches) * costs.branch_ns
        + f64::from(unlocks.loop_bounds) * costs.loop_bound_ns
        + f64::from(unlocks.switches) * costs.switch_ns
        + f64::from(unlocks.calls) * costs.indirect_call_ns;
    let (saves_ns, costs_ns) = (best * folded, costs.guard_ns);
    let formula = format!(
        "{:.1} % x (branches {} x {:.2}, loop bounds {} x {:.2}, switches {} x {:.2}, calls {} x {:.2} ns, by loop depth); guard {:.2} ns",
        best * 100.0,
        unlocks.branches,
        costs.branch_ns,
        unlocks.loop_bounds,
        costs.loop_bound_ns,
        unlocks.switches,
        costs.switch_ns,
        unlocks.calls,
        costs.indirect_call_ns,
        costs.guard_ns
    );
    pays(saves_ns, costs_ns, &formula, budgets)?;
    Ok(SpecializeDecision {
        offset: site.key.offset,
        parameter,
        value: value.value,
        because: Because { samples: site.total, share: best, needed: budgets.min_specialize_share, saves_ns, costs_ns, formula },
    })
}
