//! Guarded inlining of indirect calls: a `CallTarget` site whose records show dominant callees.
//!
//! ```text
//! saves = share of the targets · cost of an indirect call          (bounds, table entry, signature, call, prologue)
//! costs = expected number of guards tested · cost of a guard
//! ```
//! Counts are taken without their possible overestimate, so noise cannot make a callee dominant. Behind the last guard stands the generic call; where
//! nearly every sample is covered, a side exit, so that the code behind may rely on what the guard established. An exit costs microseconds
//! (a frame is rebuilt and interpreted), so it takes many samples and no more than [`Budgets::min_exit_share`] allows.

use super::{Transformation, View, certain_share, enough, pays};
use crate::class::SiteClass;
use crate::policy::{Because, Budgets, Decision, InlineDecision, InlineTarget, MAX_TARGETS, RefusalReason};
use crate::profile::SiteSnapshot;

/// See the file.
pub const TRANSFORMATION: Transformation =
    Transformation { name: "inline", about: "inline the frequent callees of an indirect call behind a guard", excludes: &[], consider };

fn consider(view: &View<'_>, budgets: &Budgets, out: &mut super::Proposals) {
    for site in view.function.sites.iter().filter(|site| site.key.class == SiteClass::CallTarget) {
        let offset = site.key.offset;
        let answer = match prior(view, site, budgets) {
            Some(targets) => decide(view, offset, 0, targets, budgets),
            None => from_samples(view, site, budgets),
        };
        let growth =
            answer.as_ref().map_or(0, |decision| decision.targets.iter().map(|target| target.body_bytes).fold(0, u32::saturating_add));
        let executions = budgets.costs.executions_of_values(site.total.max(1));
        out.answer(offset, executions, growth, answer.map(Decision::Inline));
    }
}

/// What the module's producer said of a site, where records do not say enough: callees with their shares.
fn prior(view: &View<'_>, site: &SiteSnapshot, budgets: &Budgets) -> Option<Vec<(u64, f64, u64)>> {
    if !view.trusts_prior(site.total, budgets) {
        return None;
    }
    let (_, targets) = view.prior?.call_targets.iter().find(|(offset, _)| *offset == site.key.offset)?;
    Some(targets.iter().map(|&(callee, percent)| (u64::from(callee), f64::from(percent.min(100)) / 100.0, 0)).collect())
}

fn from_samples(view: &View<'_>, site: &SiteSnapshot, budgets: &Budgets) -> Result<InlineDecision, RefusalReason> {
    enough(site.total, budgets.min_samples)?;
    let values = site.values.iter().map(|value| (value.value, certain_share(value, site.total), value.certain())).collect();
    decide(view, site.key.offset, site.total, values, budgets)
}

fn decide(
    view: &View<'_>,
    offset: u32,
    samples: u64,
    values: Vec<(u64, f64, u64)>,
    budgets: &Budgets,
) -> Result<InlineDecision, RefusalReason> {
    let mut targets = Vec::new();
    let mut share = 0.0;
    // Guards tested per call: the nth target's calls test n, the others all.
    let mut guards = 0.0;
    for (value, target_share, certain) in values.into_iter().take(budgets.max_targets.clamp(1, MAX_TARGETS)) {
        let enough = !targets.is_empty() && share >= budgets.min_exit_share;
        if enough || target_share < budgets.min_target_share {
            break;
        }
        guards += target_share * (targets.len() + 1) as f64;
        share += target_share;
        targets.push((value, target_share, certain));
    }
    if targets.is_empty() || share < budgets.min_share {
        return Err(RefusalReason::NoDominantTarget { share, needed: budgets.min_share, samples });
    }
    guards += (1.0 - share).max(0.0) * targets.len() as f64;
    let targets = targets
        .into_iter()
        .map(|(value, share, samples)| {
            let facts =
                u32::try_from(value).ok().and_then(|callee| view.facts.get(&callee)).ok_or(RefusalReason::UnknownCallee { value })?;
            let callee = facts.func;
            if !facts.inlinable {
                return Err(RefusalReason::CalleeNotInlinable { callee, why: facts.reason });
            }
            if facts.body_bytes > budgets.max_callee_bytes {
                return Err(RefusalReason::CalleeTooLarge { callee, bytes: facts.body_bytes, limit: budgets.max_callee_bytes });
            }
            Ok(InlineTarget { callee, share, samples, body_bytes: facts.body_bytes })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let saves_ns = share * budgets.costs.indirect_call_ns;
    let costs_ns = guards * budgets.costs.guard_ns;
    let formula = format!(
        "{:.1} % of calls x {:.2} ns of an indirect call; {guards:.2} guards x {:.2} ns",
        share * 100.0,
        budgets.costs.indirect_call_ns,
        budgets.costs.guard_ns
    );
    pays(saves_ns, costs_ns, &formula, budgets)?;
    Ok(InlineDecision {
        offset,
        direct: false,
        in_place: false,
        side_exit: samples >= budgets.min_exit_samples && share >= budgets.min_exit_share,
        targets,
        samples,
        share,
        needed_share: budgets.min_share,
        needed_samples: if samples == 0 { 0 } else { budgets.min_samples },
        because: Because { samples, share, needed: budgets.min_share, saves_ns, costs_ns, formula },
    })
}
