//! What tier 2 is told to do, in the form the translator reads. The one place that knows the policy's plan type.
//!
//! A plan is advice: every entry is checked again where it is applied, and one that does not fit is refused there, with its reason.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use lwp_feedback::policy::{Decision, OtherDecision, Plan, PrefetchKind};

/// Callees to try at one `call_indirect`, most frequent first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InlineTargets {
    /// Function indices.
    pub callees: Vec<u32>,
    /// Whether code is left where it is none of them.
    pub exit: bool,
    /// Whether the test stays at the call.
    pub in_place: bool,
}

/// How far ahead to fetch for one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefetch {
    pub kind: PrefetchKind,
    /// Rounds of the loop.
    pub distance: u32,
}

/// The plan of one function by the byte offset of the operator; offsets may lie in callees that are inlined.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FunctionPlan {
    /// `call_indirect` operators to guard.
    pub calls: HashMap<u32, InlineTargets>,
    /// Body offset of the function, parameter number and value: of the planned function, or of one that it calls.
    pub specialize: Vec<(u32, u32, u64)>,
    /// `if` and `br_if` operators to replace by selects.
    pub branch_to_select: HashSet<u32>,
    /// `select` operators to replace by branches, and whether the condition is mostly true.
    pub select_to_branch: HashMap<u32, bool>,
    /// Loads and stores to fetch ahead for.
    pub prefetch: HashMap<u32, Prefetch>,
    /// `if` and `br_if` operators, and whether the condition is mostly true.
    pub layout: HashMap<u32, bool>,
    /// `br_table` operators and the indices to test first.
    pub switch_order: HashMap<u32, Vec<u32>>,
    /// `br_table` operators in loops, and the sequences of indices whose ways are translated one behind the other.
    pub switch_paths: HashMap<u32, Vec<Vec<u32>>>,
    /// What passes that registered themselves are asked for.
    pub other: Vec<OtherDecision>,
    /// Names and offsets of decisions that want something else than an earlier one of their kind there.
    pub contradictions: Vec<(&'static str, u32)>,
}

impl FunctionPlan {
    /// Takes over what this compiler can do.
    pub(crate) fn new(plan: Option<&Plan>) -> FunctionPlan {
        let mut taken = FunctionPlan::default();
        for decision in plan.iter().flat_map(|plan| &plan.decisions) {
            let offset = decision.offset();
            let agrees = match decision {
                Decision::Inline(it) => {
                    let callees = it.targets.iter().map(|target| target.callee).collect();
                    keep_first(&mut taken.calls, offset, InlineTargets { callees, exit: it.side_exit, in_place: it.in_place })
                }
                // (of these each parameter and each set of arguments is one of its own)
                Decision::Specialize(it) => {
                    taken.specialize.push((offset, it.parameter, it.value));
                    true
                }
                Decision::Other(it) => {
                    taken.other.push(it.clone());
                    true
                }
                Decision::BranchToSelect(_) => {
                    taken.branch_to_select.insert(offset);
                    true
                }
                Decision::SelectToBranch(it) => keep_first(&mut taken.select_to_branch, offset, it.likely),
                Decision::Prefetch(it) => keep_first(&mut taken.prefetch, offset, Prefetch { kind: it.kind, distance: it.distance }),
                Decision::Layout(it) => keep_first(&mut taken.layout, offset, it.likely),
                Decision::SwitchOrder(it) => keep_first(&mut taken.switch_order, offset, it.first.clone()),
                Decision::SwitchPath(it) => keep_first(&mut taken.switch_paths, offset, it.paths.clone()),
                _ => true,
            };
            if !agrees {
                taken.contradictions.push((decision.name(), offset));
            }
        }
        taken
    }
}

/// Takes over what is wanted of an operator, unless something is already; `false` where that is something else.
fn keep_first<T: PartialEq>(taken: &mut HashMap<u32, T>, offset: u32, wanted: T) -> bool {
    match taken.entry(offset) {
        Entry::Occupied(there) => *there.get() == wanted,
        Entry::Vacant(free) => {
            free.insert(wanted);
            true
        }
    }
}
