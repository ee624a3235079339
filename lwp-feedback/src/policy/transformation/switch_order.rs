//! Switch order: the frequent indices of a `br_table` are tested before the jump through its table.
//!
//! ```text
//! saves = share of the tested indices · cost of the jump through the table (its load, and the indirect jump's mispredictions)
//! costs = expected number of tests · cost of a test
//! ```
//! The nth index costs n tests, the others all; an index is added while it adds more than it costs those behind it.

use super::{Transformation, certain_share, enough, pays};
use crate::class::SiteClass;
use crate::policy::{Because, Budgets, Decision, RefusalReason, SwitchOrderDecision};
use crate::profile::SiteSnapshot;

/// See the file.
pub const TRANSFORMATION: Transformation =
    Transformation { name: "switch-order", about: "test the frequent indices of a br_table first", excludes: &["switch-path"], consider };

fn consider(view: &super::View<'_>, budgets: &Budgets, out: &mut super::Proposals) {
    for site in view.function.sites.iter().filter(|site| site.key.class == SiteClass::SwitchIndex) {
        let executions = budgets.costs.executions_of_values(site.total);
        let answer = decide(site, budgets);
        let growth = answer.as_ref().map_or(0, |decision| decision.first.len() as u32 * 4);
        out.answer(site.key.offset, executions, growth, answer.map(Decision::SwitchOrder));
    }
}

fn decide(site: &SiteSnapshot, budgets: &Budgets) -> Result<SwitchOrderDecision, RefusalReason> {
    enough(site.total, budgets.min_samples)?;
    let costs = &budgets.costs;
    let (mut first, mut share, mut tests) = (Vec::new(), 0.0, 0.0);
    for value in site.values.iter().take(budgets.max_switch_tests) {
        let Ok(index) = u32::try_from(value.value) else { break };
        let of_index = certain_share(value, site.total);
        // One more test costs everything that is not decided yet, and saves this index the table.
        if of_index < budgets.min_switch_share || of_index * costs.switch_ns <= (1.0 - share) * costs.test_ns {
            break;
        }
        tests += of_index * (first.len() + 1) as f64;
        share += of_index;
        first.push(index);
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
