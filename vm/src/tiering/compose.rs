//! Where one decision makes another worth trying.
//!
//! A function whose specialization won is inlined, specialized, where it is called: what a known parameter unlocks is often short, and then the call around it is most of
//! what is left. And a function that is inlined takes what is decided of it along: its copies are the code that runs, and by itself it may never run again. The
//! caller's plan takes the callee's decisions over as they are; the compiler compares the arguments at the call, and a trial of the caller judges it as any other.

use super::ModuleCode;
use super::difference::{are_small, merged, without};
use crate::code::Tier;
use lwp_feedback::codemap::FunctionId;
use lwp_feedback::policy::{Decision, Plan, Refusal};
use std::collections::BTreeSet;
use std::sync::Arc;
use wasmparser::Operator;

impl ModuleCode {
    /// What the policy plans for a function, and what follows from plans of the functions that it calls.
    pub(super) fn composed(&self, function: u32, planned: Option<Arc<Plan>>) -> Option<Arc<Plan>> {
        // (without trials no specialization wins)
        let callees = if self.tries() { self.callees(function) } else { BTreeSet::new() };
        let mut followed: Vec<Decision> = callees.into_iter().flat_map(|callee| self.specialized_to(callee)).collect();
        let adopted = self.adopted(function);
        let inlined: BTreeSet<u32> = planned.iter().chain(&adopted).flat_map(|plan| inlined(&plan.decisions)).collect();
        for callee in inlined.into_iter().filter(|&callee| callee != function) {
            followed = merged(&self.in_copies(callee), &followed);
        }
        if followed.is_empty() {
            return planned;
        }
        let function = FunctionId { module: self.key, func: function };
        let decisions = merged(&followed, planned.as_ref().map_or(&[], |plan| &plan.decisions));
        Some(Arc::new(Plan { function, decisions }))
    }

    /// What copies of a function are to be compiled to: its plan in force, and what else was wanted of it that no trial and no guard took back. Of what it calls directly, which is much,
    /// only what is in force is inlined there: the policy did not count that growth. What it calls by a table is, as far as the compiler takes it: where a function was inlined before it was optimized itself, no trial of its own will ever
    /// say so (of twelve processes of a loop around such a call one ran four times as long).
    fn in_copies(&self, function: u32) -> Vec<Decision> {
        // A plan file says itself what it wants of copies.
        if self.module.defined(function).is_none() || self.shared.config.plans.is_some() {
            return Vec::new();
        }
        let mut wanted = self.plan_of_copies(function).map_or(Vec::new(), |plan| plan.decisions.clone());
        wanted.retain(|decision| !matches!(decision, Decision::Inline(it) if it.direct));
        let decisions = {
            let state = self.trials.lock();
            if let Some(memory) = state.memory.get(&function) {
                wanted.retain(|decision| !memory.was_worse(decision));
            }
            merged(&wanted, state.adopted.get(&function).map_or(&[], |plan| &plan.decisions))
        };
        self.amended(function, decisions)
    }

    /// Decisions less the parts that a function's guards have taken back.
    fn amended(&self, function: u32, decisions: Vec<Decision>) -> Vec<Decision> {
        let plan = Plan { function: FunctionId { module: self.key, func: function }, decisions };
        self.exits.amend(Arc::new(plan)).map_or(Vec::new(), |plan| plan.decisions.clone())
    }

    /// Functions that have copies of this one, with their plans.
    pub(super) fn copies_of(&self, function: u32) -> Vec<(u32, Arc<Plan>)> {
        let state = self.trials.lock();
        let has_copy = |plan: &Plan| inlined(&plan.decisions).any(|callee| callee == function);
        let adopted = state.adopted.iter().filter(|&(&caller, plan)| caller != function && has_copy(plan));
        adopted.map(|(&caller, plan)| (caller, plan.clone())).collect()
    }

    /// Reconsiders functions that have a copy of this one, where more is wanted of it than they have: small things can wait until something else is asked of them. What is looked at for this
    /// reason leads to no such look itself, or two that inline each other would look for ever.
    pub(super) fn reconsider_copies(self: &Arc<Self>, function: u32, copies: Vec<(u32, Arc<Plan>)>) {
        if copies.is_empty() {
            return;
        }
        let wanted = self.in_copies(function);
        for (caller, plan) in copies {
            // Where they have another value it stays.
            let mut new = self.amended(caller, without(&wanted, &plan.decisions));
            let mut state = self.trials.lock();
            if let Some(memory) = state.memory.get(&caller) {
                new.retain(|decision| !memory.has_lost(decision));
            }
            if !are_small(&new) && !state.is_asked(caller) {
                state.for_copies.insert(caller);
                drop(state);
                self.reconsider(caller);
            }
        }
    }

    /// What the policy refused in functions that a plan inlines, when it looked last.
    pub(super) fn refused_in_copies(&self, plan: Option<&Plan>) -> Vec<Refusal> {
        let callees: BTreeSet<u32> = plan.into_iter().flat_map(|plan| inlined(&plan.decisions)).collect();
        let published = self.published();
        callees.iter().filter_map(|callee| published.refusals.get(callee)).flatten().cloned().collect()
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

/// Functions that a plan inlines.
fn inlined(decisions: &[Decision]) -> impl Iterator<Item = u32> {
    let targets = decisions.iter().flat_map(|decision| if let Decision::Inline(it) = decision { &it.targets[..] } else { &[] });
    targets.map(|target| target.callee)
}
