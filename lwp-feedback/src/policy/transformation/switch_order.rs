//! Switch order: the frequent indices of a `br_table` are tested before the jump through its table.
//!
//! ```text
//! saves = share of the tested indices · cost of the jump through the table (its load, and the indirect jump's mispredictions)
//! costs = expected number of tests · cost of a test
//! ```
//! The nth index costs n tests, the others all; an index is added while it adds more than it costs those behind it.
//!
//! What costs is that a jump through the table is mispredicted, and what is predicted is where it goes, not by which index. So an index that shares its target with others that are as
//! frequent is not tested: the test would be mispredicted where the jump was not.

use super::{Transformation, View, certain_share, enough, pays};
use crate::class::SiteClass;
use crate::policy::{Because, Budgets, Decision, RefusalReason, SwitchOrderDecision};
use crate::profile::{SiteSnapshot, ValueCount};

/// Share of what goes to its target that a tested index must hold. A guess.
const MOST_OF_TARGET: f64 = 0.75;

/// See the file.
pub const TRANSFORMATION: Transformation =
    Transformation { name: "switch-order", about: "test the frequent indices of a br_table first", excludes: &["switch-path"], consider };

fn consider(view: &View<'_>, budgets: &Budgets, out: &mut super::Proposals) {
    for site in view.function.sites.iter().filter(|site| site.key.class == SiteClass::SwitchIndex) {
        let executions = budgets.costs.executions_of_values(site.total);
        let answer = decide(view, site, budgets);
        let growth = answer.as_ref().map_or(0, |decision| decision.first.len() as u32 * 4);
        out.answer(site.key.offset, executions, growth, answer.map(Decision::SwitchOrder));
    }
}

fn decide(view: &View<'_>, site: &SiteSnapshot, budgets: &Budgets) -> Result<SwitchOrderDecision, RefusalReason> {
    enough(site.total, budgets.min_samples)?;
    let costs = &budgets.costs;
    let switch = view.shape.and_then(|shape| shape.switch(site.key.offset));
    // Where the engine did not tell, each index has a target of its own.
    let target = |index: u32| switch.and_then(|switch| switch.target(index)).map_or((None, index), |target| (Some(target), 0));
    let goes_to = |value: &ValueCount| u32::try_from(value.value).ok().map(target);
    let (mut first, mut share, mut tests) = (Vec::new(), 0.0, 0.0);
    let mut shares_target = None;
    for value in &site.values {
        let Ok(index) = u32::try_from(value.value) else { break };
        if first.len() == budgets.max_switch_tests {
            break;
        }
        let of_index = certain_share(value, site.total);
        // One more test costs everything that is not decided yet, and saves this index the table.
        if of_index < budgets.min_switch_share || of_index * costs.switch_ns <= (1.0 - share) * costs.test_ns {
            break;
        }
        let there = site.values.iter().filter(|other| goes_to(other) == Some(target(index)));
        let of_target: f64 = there.map(|other| certain_share(other, site.total)).sum();
        if of_index < MOST_OF_TARGET * of_target {
            shares_target.get_or_insert((index, of_index / of_target));
            continue;
        }
        tests += of_index * (first.len() + 1) as f64;
        share += of_index;
        first.push(index);
    }
    if let (true, Some((index, share))) = (first.is_empty(), shares_target) {
        return Err(RefusalReason::SharesTarget { index, share, needed: MOST_OF_TARGET, samples: site.total });
    }
    if first.is_empty() {
        let share = site.values.first().map_or(0.0, |value| certain_share(value, site.total));
        return Err(RefusalReason::NoDominantValue { share, needed: budgets.min_switch_share, samples: site.total });
    }
    tests += (1.0 - share).max(0.0) * first.len() as f64;
    let (saves_ns, costs_ns) = (share * costs.switch_ns, tests * costs.test_ns);
    let formula = format!("{:.1} % x {:.2} ns of the table; {tests:.2} tests x {:.2} ns", share * 100.0, costs.switch_ns, costs.test_ns);
    pays(saves_ns, costs_ns, &formula, budgets)?;
    let because = Because { samples: site.total, share, needed: budgets.min_switch_share, saves_ns, costs_ns, formula };
    Ok(SwitchOrderDecision { offset: site.key.offset, first, because })
}
