//! Layout: a branch that mostly goes one way lets that way fall through, and the other moves out of line.
//!
//! ```text
//! saves = (expected share - 1/2) · cost of a taken jump      (against a layout that knows nothing)
//! costs = nothing while it runs; code moves, none is added
//! ```
//! A function's branches are laid out together: each saves a fraction of a nanosecond, and most of a large function's are passed too seldom to be worth a compile of their own.
//! Where records say nothing yet, the module's `metadata.code.branch_hint` decides.

use super::{Transformation, View, enough, executions, pays};
use crate::policy::{Because, Budgets, Decision, LikelyDecision, RefusalReason};
use crate::profile::BranchSnapshot;

/// See the file.
pub const TRANSFORMATION: Transformation = Transformation {
    name: "layout",
    about: "let the likely side of a branch fall through and move the other out of line",
    excludes: &["branch-to-select"],
    consider,
};

fn consider(view: &View<'_>, budgets: &Budgets, out: &mut super::Proposals) {
    out.go_together();
    let mut hinted: Vec<(u32, bool)> = view.prior.map_or(Vec::new(), |prior| prior.branches.clone());
    let mut all_seen = 0u64;
    for branch in &view.function.branches {
        let seen = branch.seen();
        all_seen = all_seen.saturating_add(seen);
        if view.trusts_prior(seen, budgets) && hinted.iter().any(|&(offset, _)| offset == branch.offset) {
            continue;
        }
        hinted.retain(|&(offset, _)| offset != branch.offset);
        out.answer(branch.offset, executions(branch, &budgets.costs), 0, decide(view, branch, budgets).map(Decision::Layout));
    }
    if !view.trusts_prior(0, budgets) || all_seen >= budgets.min_samples.saturating_mul(4) {
        return;
    }
    for (offset, likely) in hinted {
        let because = Because { formula: "the module's branch hint".into(), ..Because::default() };
        out.propose(Decision::Layout(LikelyDecision { offset, likely, because }), 0.0, 0);
    }
}

fn decide(view: &View<'_>, branch: &BranchSnapshot, budgets: &Budgets) -> Result<LikelyDecision, RefusalReason> {
    let [taken, not_taken] = branch.ways();
    let samples = branch.seen();
    enough(samples, budgets.min_layout_samples)?;
    let likely = taken >= not_taken;
    let (share, needed) = (taken.max(not_taken) as f64 / samples as f64, budgets.min_likely_share);
    if share <= needed {
        return Err(RefusalReason::NotLikely { share, needed, samples });
    }
    // Laplace's rule of succession: of eight that all went one way, the ninth goes there nine times of ten.
    let expected = (taken.max(not_taken) as f64 + 1.0) / (samples as f64 + 2.0);
    if expected < needed {
        return Err(RefusalReason::TooFewSamples { samples, needed: ((2.0 * needed - 1.0) / (share - needed)).ceil() as u64 });
    }
    // Records may name tests that the code makes for itself, at calls and accesses: nothing there can be laid out.
    let shape = view.shape.map(|shape| shape.branch(branch.offset).ok_or(RefusalReason::NoBranch)).transpose()?;
    // Blocks of a loop stand together whatever is known.
    if likely && shape.is_some_and(|it| it.back_edge) {
        return Err(RefusalReason::BackEdge);
    }
    let saves_ns = (expected - 0.5) * budgets.costs.taken_jump_ns;
    let formula = format!("({:.1} % expected - 50 %) x {:.2} ns of a taken jump", expected * 100.0, budgets.costs.taken_jump_ns);
    pays(saves_ns, 0.0, &formula, budgets)?;
    let because = Because { samples, share, needed, saves_ns, costs_ns: 0.0, formula };
    Ok(LikelyDecision { offset: branch.offset, likely, because })
}
