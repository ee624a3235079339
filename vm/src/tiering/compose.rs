//! Where one decision makes another worth trying: a function whose specialization won is inlined, specialized, where it is called.
//!
//! What a known parameter unlocks is often short, and then the call around it is most of what is left. The caller's plan takes the callee's decision over
//! as it is; the compiler compares the arguments at the call, and a trial of the caller judges it as any other.

use super::ModuleCode;
use crate::code::Tier;
use lwp_feedback::codemap::FunctionId;
use lwp_feedback::policy::{Decision, Plan};
use std::collections::BTreeSet;
use std::sync::Arc;
use wasmparser::Operator;

impl ModuleCode {
    /// What the policy plans for a function, and what follows from plans in force of the functions that it calls.
    pub(super) fn composed(&self, function: u32, planned: Option<Arc<Plan>>) -> Option<Arc<Plan>> {
        let followed: Vec<Decision> = self.callees(function).into_iter().flat_map(|callee| self.specialized_to(callee)).collect();
        if followed.is_empty() {
            return planned;
        }
        let id = FunctionId { module: self.key, func: function };
        let mut plan = planned.map_or_else(|| Plan { function: id, decisions: Vec::new() }, |plan| (*plan).clone());
        plan.decisions.extend(followed);
        plan.decisions.sort_by_key(Decision::offset);
        Some(Arc::new(plan))
    }

    /// Reconsiders the optimized callers of a function that was specialized.
    pub(super) fn reconsider_callers(self: &Arc<Self>, function: u32) {
        if self.specialized_to(function).is_empty() {
            return;
        }
        let optimized: BTreeSet<u32> = {
            let published = self.published();
            let optimized = published.current.iter().filter(|(_, version)| version.tier == Tier::Optimizing);
            optimized.map(|(&(of, _), _)| of).filter(|&of| of != function).collect()
        };
        for caller in optimized {
            if self.callees(caller).contains(&function) {
                self.reconsider(caller);
            }
        }
    }

    /// The specializations in force of a function that may be inlined.
    fn specialized_to(&self, function: u32) -> Vec<Decision> {
        let Some(plan) = self.adopted(function) else { return Vec::new() };
        let (Some(own), Some(compiler)) = (self.module.defined(function), &self.shared.compiler) else { return Vec::new() };
        let start = self.module.bodies[own].start as u32;
        let own_values = |it: &&Decision| matches!(it, Decision::Specialize(it) if it.offset == start);
        let decisions: Vec<Decision> = plan.decisions.iter().filter(own_values).cloned().collect();
        if decisions.is_empty() || compiler.inlinable(&self.module, function).is_err() { Vec::new() } else { decisions }
    }

    /// Functions that a function calls directly.
    fn callees(&self, function: u32) -> BTreeSet<u32> {
        let mut callees = BTreeSet::new();
        if self.module.defined(function).is_some()
            && let Ok(reader) = self.module.body(function).get_operators_reader()
        {
            for operator in reader.into_iter().map_while(Result::ok) {
                if let Operator::Call { function_index } = operator {
                    callees.insert(function_index);
                }
            }
        }
        callees.remove(&function);
        callees
    }
}
