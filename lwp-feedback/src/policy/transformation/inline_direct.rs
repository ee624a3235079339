//! Inlining of direct calls that are made often. (What is about as short as the call itself is inlined without feedback.)
//!
//! ```text
//! saves = cost of a direct call                     (arguments and results moved, prologue, what must be kept around it)
//! costs = nothing while it runs; the code grows by the callee's body
//! ```
//! A function's calls are inlined together: each saves a nanosecond, and a large function has hundreds. What limits them is growth, and those that are made most often come first.

use super::{Transformation, View, enough};
use crate::policy::{Because, Budgets, Decision, InlineDecision, InlineTarget, RefusalReason};
use crate::profile::CallSnapshot;

/// See the file.
pub const TRANSFORMATION: Transformation =
    Transformation { name: "inline-direct", about: "inline the callee of a direct call that is made often", excludes: &[], consider };

fn consider(view: &View<'_>, budgets: &Budgets, out: &mut super::Proposals) {
    out.go_together();
    for call in &view.function.calls {
        let answer = decide(view, call, budgets);
        let growth = answer.as_ref().map_or(0, |it| it.targets.iter().map(|target| target.body_bytes).fold(0, u32::saturating_add));
        out.answer(call.offset, budgets.costs.executions_of_counts(call.count), growth, answer.map(Decision::Inline));
    }
}

fn decide(view: &View<'_>, call: &CallSnapshot, budgets: &Budgets) -> Result<InlineDecision, RefusalReason> {
    let &CallSnapshot { offset, callee, count: samples } = call;
    enough(samples, budgets.min_layout_samples)?;
    let facts = view.facts.get(&callee).ok_or(RefusalReason::UnknownCallee { value: callee.into() })?;
    if facts.inlined_anyway {
        return Err(RefusalReason::InlinedAnyway { callee });
    }
    if !facts.inlinable {
        return Err(RefusalReason::CalleeNotInlinable { callee, why: facts.reason });
    }
    if facts.body_bytes > budgets.max_callee_bytes {
        return Err(RefusalReason::CalleeTooLarge { callee, bytes: facts.body_bytes, limit: budgets.max_callee_bytes });
    }
    let saves_ns = budgets.costs.direct_call_ns;
    let because = Because { samples, share: 1.0, saves_ns, formula: format!("{saves_ns:.2} ns of a call"), ..Because::default() };
    let targets = vec![InlineTarget { callee, share: 1.0, samples, body_bytes: facts.body_bytes }];
    Ok(InlineDecision { offset, direct: true, targets, samples, share: 1.0, needed_samples: budgets.min_layout_samples, because, ..Default::default() })
}
