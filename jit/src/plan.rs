//! What tier 2 is told to do, in the form the translator reads. The one place that knows the policy's plan type.
//!
//! A plan is advice: every entry is checked again where it is applied, and one that does not fit is refused there, with its reason.

use std::collections::HashMap;

use lwp_feedback::policy::{Decision, Plan};

/// Callees to try at one `call_indirect`, most frequent first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InlineTargets {
    /// Function indices.
    pub callees: Vec<u32>,
}

/// The plan of one function by the byte offset of the operator.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct InlinePlan {
    /// `call_indirect` operators to guard.
    pub calls: HashMap<u32, InlineTargets>,
}

impl InlinePlan {
    /// Takes over what this compiler can do.
    pub(crate) fn new(plan: Option<&Plan>) -> InlinePlan {
        let mut calls = HashMap::new();
        for decision in plan.iter().flat_map(|plan| &plan.decisions) {
            match decision {
                Decision::Inline(inline) => {
                    let callees = inline.targets.iter().map(|target| target.callee).collect();
                    calls.insert(inline.offset, InlineTargets { callees });
                }
            }
        }
        InlinePlan { calls }
    }
}
