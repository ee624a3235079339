//! Toy: a side of a branch that never ran is marked cold.

use super::{Proposals, Transformation, View, enough, executions, outcomes};
use crate::policy::{Because, Budgets, Decision, OtherDecision, RefusalReason};

pub const TRANSFORMATION: Transformation =
    Transformation { name: "mark-cold", about: "move a side that never ran out of line", excludes: &["layout"], consider };

fn consider(view: &View<'_>, budgets: &Budgets, out: &mut Proposals) {
    for branch in &view.function.branches {
        let samples = outcomes(branch);
        let answer = enough(samples, budgets.min_samples).and_then(|()| {
            let share = branch.taken.max(branch.not_taken) as f64 / samples as f64;
            if share < 1.0 {
                return Err(RefusalReason::NotLikely { share, needed: 1.0, samples });
            }
            let because = Because { samples, share, needed: 1.0, saves_ns: 0.1, costs_ns: 0.0, formula: "a guess".into() };
            let arguments = [("taken".to_owned(), i64::from(branch.taken > 0))].into();
            Ok(Decision::Other(OtherDecision { transformation: "mark-cold".into(), offset: branch.offset, arguments, because }))
        });
        out.answer(branch.offset, executions(branch, &budgets.costs), 0, answer);
    }
}
