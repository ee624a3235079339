//! The transformations the policy knows: one file each, which registers itself by being in this folder (`build.rs` makes the table [`ALL`]).
//!
//! A file holds `pub const TRANSFORMATION: Transformation` with its name and a function from one function's profile to candidates and refusals. It
//! decides by a formula over numbers of the profile ([`View`]) and of the machine ([`Costs`](super::Costs)), and says them: in the decision's
//! [`Because`](super::Because), or in the refusal's reason. What is taken of all candidates is decided in `super::ranking`, by the time they save.

use std::collections::BTreeMap;

use super::{Budgets, Costs, Decision, Refusal, RefusalReason};
use crate::codemap::FunctionId;
use crate::profile::{BranchSnapshot, FunctionFacts, FunctionPrior, FunctionShape, FunctionSnapshot, ValueCount};

/// One transformation.
pub struct Transformation {
    /// Its name, as plans, counters, refusals and `--forbid` use it.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Names of transformations that cannot change the same operator too: of the two the one that saves more is taken. One of them naming the other is enough.
    pub excludes: &'static [&'static str],
    /// Looks at one function.
    pub consider: fn(&View<'_>, &Budgets, &mut Proposals),
}

include!(concat!(env!("OUT_DIR"), "/transformations.rs"));

/// The example of `docs/src/howto-transformation.md`.
#[cfg(test)]
#[path = "../../../../docs/examples/howto/mark_cold.rs"]
pub(super) mod mark_cold;

/// What a transformation may look at: one function.
pub struct View<'a> {
    /// The function.
    pub id: FunctionId,
    /// Its profile.
    pub function: &'a FunctionSnapshot,
    /// Its code, if the engine told.
    pub shape: Option<&'a FunctionShape>,
    /// What the module's producer said.
    pub prior: Option<&'a FunctionPrior>,
    /// Facts of functions, by index.
    pub facts: &'a BTreeMap<u32, &'a FunctionFacts>,
}

impl View<'_> {
    /// Whether the records still say so little of a site that what the module's producer said counts.
    pub fn trusts_prior(&self, samples: u64, budgets: &Budgets) -> bool {
        samples < budgets.min_samples && self.function.records < budgets.min_samples.saturating_mul(4)
    }

    /// The innermost loop around an operator.
    pub fn loop_around(&self, offset: u32) -> Option<&crate::profile::LoopShape> {
        self.shape?.loop_around(offset)
    }
}

/// Share of the samples that certainly have a value.
pub fn certain_share(value: &ValueCount, total: u64) -> f64 {
    value.certain().min(total) as f64 / total.max(1) as f64
}

/// Outcomes of a branch that left records.
pub fn outcomes(branch: &BranchSnapshot) -> u64 {
    branch.taken.saturating_add(branch.not_taken)
}

/// Executions of a branch that its records stand for, or that what bursts only counted does, if that is more: most bursts only count.
pub fn executions(branch: &BranchSnapshot, costs: &Costs) -> f64 {
    let [taken, not_taken] = branch.counted;
    costs.executions_of_bursts(outcomes(branch)).max(costs.executions_of_counts(taken.saturating_add(not_taken)))
}

/// One thing that could be done, with what it would bring.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The transformation's name.
    pub transformation: &'static str,
    /// What to do; its `because` holds saves and costs per execution.
    pub decision: Decision,
    /// Executions the records stand for.
    pub executions: f64,
    /// Bytes of code it adds, counted as wasm.
    pub growth_bytes: u32,
    /// See [`Proposals::go_together`].
    pub together: bool,
}

/// What one transformation says about one function.
pub struct Proposals {
    pub(super) transformation: &'static str,
    pub(super) function: FunctionId,
    pub(super) candidates: Vec<Candidate>,
    pub(super) refusals: Vec<Refusal>,
    together: bool,
}

impl Proposals {
    pub(super) fn new(transformation: &'static str, function: FunctionId) -> Self {
        Proposals { transformation, function, candidates: Vec::new(), refusals: Vec::new(), together: false }
    }

    /// What is proposed from here on is one question: each decision matters little, and what those of the function save in all is what a compile must be worth.
    pub fn go_together(&mut self) {
        self.together = true;
    }

    /// Proposes a decision that `executions` runs of its operator would profit from.
    pub fn propose(&mut self, decision: Decision, executions: f64, growth_bytes: u32) {
        let Proposals { transformation, together, .. } = *self;
        self.candidates.push(Candidate { transformation, decision, executions, growth_bytes, together });
    }

    /// Refuses an operator.
    pub fn refuse(&mut self, offset: u32, reason: RefusalReason) {
        self.refuse_parameter(offset, None, reason);
    }

    /// Refuses an operator, or a parameter that the function would be compiled for a value of.
    pub fn refuse_parameter(&mut self, offset: u32, parameter: Option<u32>, reason: RefusalReason) {
        let (function, transformation) = (self.function, self.transformation.into());
        self.refusals.push(Refusal { function, offset, transformation, parameter, reason });
    }

    /// One or the other.
    pub fn answer(&mut self, offset: u32, executions: f64, growth_bytes: u32, answer: Result<Decision, RefusalReason>) {
        match answer {
            Ok(decision) => self.propose(decision, executions, growth_bytes),
            Err(reason) => self.refuse(offset, reason),
        }
    }
}

/// `Err` unless there are enough samples.
pub fn enough(samples: u64, needed: u64) -> Result<(), RefusalReason> {
    if samples < needed || samples == 0 { Err(RefusalReason::TooFewSamples { samples, needed }) } else { Ok(()) }
}

/// `Err` unless what is saved per execution is `budgets.min_gain` times what it costs.
pub fn pays(saves_ns: f64, costs_ns: f64, formula: &str, budgets: &Budgets) -> Result<(), RefusalReason> {
    pays_times(budgets.min_gain, saves_ns, costs_ns, formula)
}

/// `Err` unless what is saved per execution is `needed` times what it costs.
pub fn pays_times(needed: f64, saves_ns: f64, costs_ns: f64, formula: &str) -> Result<(), RefusalReason> {
    if saves_ns <= 0.0 || saves_ns < costs_ns * needed {
        return Err(RefusalReason::DoesNotPay { saves_ns, costs_ns, needed, formula: formula.into() });
    }
    Ok(())
}
