//! Plans: what the policy is told about a function, and which plan its next version is compiled to.
//!
//! In the order of what counts: a plan file, the plans of a saved profile, the engine's policy. Enters: the profile. Leaves: a plan, and the
//! policy's refusals for the report.

use super::ModuleCode;
use super::difference::{are_small, fresh};
use crate::code::{Entrance, Tier};
use crate::engine::{FeedbackPolicy, lock};
use crate::shape::shape;
use crate::timeline::What;
use lwp_feedback::class::SiteClass;
use lwp_feedback::codemap::FunctionId;
use lwp_feedback::policy::{self, Budgets, Decision, Plan, Refusal};
use lwp_feedback::profile::{FunctionFacts, FunctionShape, FunctionSnapshot, NotInlinable, Snapshot};
use lwp_feedback::profilefile::{RecordValues, SavedLoss, SavedProfile, SavedVersion};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// Bytes of a copied way of a switch: the larger ones are seldom what runs most. A guess.
const PATH_BYTES: u64 = 48;

/// What planning remembers of a module.
#[derive(Default)]
pub(super) struct Planning {
    /// Plans of a saved profile, by function; an empty one says that none paid.
    saved: Mutex<BTreeMap<u32, Vec<Decision>>>,
    /// Estimated bytes that plans in force added, by function.
    grown: Mutex<BTreeMap<u32, u64>>,
    /// What the policy wanted when it was asked last, by function.
    latest: Mutex<BTreeMap<u32, Latest>>,
    /// Shapes that were asked for: that of CPython's evaluation loop takes 13 ms, and it is planned for some twenty times in a run of six seconds.
    shapes: Mutex<BTreeMap<u32, Arc<FunctionShape>>>,
}

/// What the policy wanted of a function.
struct Latest {
    /// The function's records then.
    records: u64,
    /// How often it had turned to something else.
    shifts: u64,
    plan: Option<Arc<Plan>>,
}

/// A decision as timelines name it.
pub(super) fn place_name(decision: &Decision) -> String {
    format!("{} at {:#x}", decision.name(), decision.offset())
}

impl ModuleCode {
    /// What to do with a function that is about to be optimized. `None`: nothing.
    pub(super) fn plan(&self, function: u32) -> Option<Arc<Plan>> {
        let plan = self.ask_policy(function);
        let bytes = plan.as_ref().map_or(0, |plan| self.growth(plan));
        lock(&self.planning.grown).insert(function, bytes);
        plan
    }

    /// A plan is carried out: what it adds counts in those to come.
    pub(super) fn note_growth(&self, plan: &Plan) {
        lock(&self.planning.grown).insert(plan.function.func, self.growth(plan));
    }

    /// What the policy wants of a function, whatever is made of it.
    fn ask_policy(&self, function: u32) -> Option<Arc<Plan>> {
        let id = FunctionId { module: self.key, func: function };
        self.ask_policy_within(function, &self.shared.config.budgets, || self.shared.profile.function(id))
    }

    /// The same within other limits and of another profile.
    pub(super) fn ask_policy_within(
        &self,
        function: u32,
        budgets: &Budgets,
        profile: impl FnOnce() -> Option<FunctionSnapshot>,
    ) -> Option<Arc<Plan>> {
        // A plan file is all there is; it is looked at where code is compiled.
        if self.shared.config.feedback == FeedbackPolicy::Off || self.shared.config.plans.is_some() {
            return None;
        }
        let id = FunctionId { module: self.key, func: function };
        if let Some(decisions) = lock(&self.planning.saved).get(&function) {
            let plan = Plan { function: id, decisions: decisions.clone() };
            return (!plan.decisions.is_empty()).then(|| Arc::new(plan));
        }
        let profile = profile()?;
        let at = Latest { records: profile.records, shifts: self.shared.profile.shifts(id), plan: None };
        let mut snapshot = self.snapshot_of(vec![profile]);
        snapshot.grown_bytes = lock(&self.planning.grown).iter().filter(|&(&other, _)| other != function).map(|(_, bytes)| bytes).sum();
        let (plans, refusals) = policy::ask(&*self.shared.config.policy, &snapshot, budgets);
        let refused = refusals.len();
        self.published().refusals.insert(function, refusals);
        // A policy may be anyone's: only what it says about this function is taken.
        let plan = plans.into_iter().find(|plan| plan.function == id && !plan.decisions.is_empty());
        let decisions = || plan.iter().flat_map(|plan| &plan.decisions).map(place_name).collect();
        self.note(function, Entrance::Body, || What::Planned { decisions: decisions(), refusals: refused });
        tracing::debug!(function, decisions = plan.as_ref().map_or(0, |plan| plan.decisions.len()), refused, "planned");
        let plan = plan.map(Arc::new);
        lock(&self.planning.latest).insert(function, Latest { plan: plan.clone(), ..at });
        plan
    }

    /// What the policy wants of a function that runs in copies, and may not be looked at for its own sake: as of when it had half of its records or more, and did the same.
    pub(super) fn plan_of_copies(&self, function: u32) -> Option<Arc<Plan>> {
        let id = FunctionId { module: self.key, func: function };
        let (records, shifts) = (self.shared.profile.records(id), self.shared.profile.shifts(id));
        let lasts = |latest: &&Latest| records <= 2 * latest.records && shifts == latest.shifts;
        let known = lock(&self.planning.latest).get(&function).filter(lasts).map(|latest| latest.plan.clone());
        known.unwrap_or_else(|| self.ask_policy(function))
    }

    /// The plan that an earlier process ended with, where there is one.
    pub(super) fn saved_plan(&self, function: u32) -> Option<Arc<Plan>> {
        let decisions = lock(&self.planning.saved).get(&function).filter(|decisions| !decisions.is_empty())?.clone();
        let id = FunctionId { module: self.key, func: function };
        Some(Arc::new(Plan { function: id, decisions }))
    }

    /// From now on the policy decides for this function, not the profile of an earlier process: its behaviour has changed.
    pub fn forget_saved_plan(&self, function: u32) {
        lock(&self.planning.saved).remove(&function);
    }

    /// Bytes of wasm that a plan repeats.
    fn growth(&self, plan: &Plan) -> u64 {
        // A plan may name what is not there.
        let bytes =
            |function: u32| self.module.defined(function).and_then(|own| self.module.bodies.get(own)).map_or(0, |body| body.len() as u64);
        let of = |decision: &Decision| match decision {
            Decision::Inline(it) => it.targets.iter().map(|target| bytes(target.callee)).sum(),
            Decision::Specialize(_) => bytes(plan.function.func),
            Decision::SwitchPath(it) => it.paths.iter().map(|path| path.len() as u64).sum::<u64>().saturating_mul(PATH_BYTES),
            _ => 16,
        };
        plan.decisions.iter().map(of).sum()
    }

    /// What the policy would decide now for the whole module, whatever is compiled: for `explain`.
    pub fn plan_all(&self) -> (Vec<Plan>, Vec<Refusal>) {
        policy::ask(&*self.shared.config.policy, &self.snapshot(), &self.shared.config.budgets)
    }

    /// A plan that is given, by a file or by a profile, without what is forbidden; `None` if nothing is left.
    pub(super) fn given_plan(&self, function: u32, decisions: Vec<Decision>) -> Option<Plan> {
        let id = FunctionId { module: self.key, func: function };
        let given = vec![Plan { function: id, decisions }];
        let (mut plans, forbidden) = policy::without_forbidden(given, &self.shared.config.budgets);
        if !forbidden.is_empty() {
            self.published().refusals.insert(function, forbidden);
        }
        plans.pop()
    }

    /// The module's profile with all that the engine can tell about its code.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot_of(self.shared.profile.snapshot(self.key).functions)
    }

    /// These functions' profiles with all that the engine can tell: their shapes and priors, and the facts of every callee seen.
    pub fn snapshot_of(&self, functions: Vec<FunctionSnapshot>) -> Snapshot {
        let known = |function: &u32| (*function as usize) < self.module.functions.len();
        let named: BTreeSet<u32> = functions.iter().map(|it| it.func).collect();
        let priors: Vec<_> = self.module.hints.iter().filter(|prior| named.contains(&prior.func)).cloned().collect();
        let seen = functions
            .iter()
            .flat_map(|it| &it.sites)
            .filter(|site| site.key.class == SiteClass::CallTarget)
            .flat_map(|site| site.values.iter().filter_map(|value| u32::try_from(value.value).ok()));
        let hinted = priors.iter().flat_map(|prior| &prior.call_targets).flat_map(|(_, targets)| targets.iter().map(|target| target.0));
        let called = functions.iter().flat_map(|it| &it.calls).map(|call| call.callee);
        let callees: BTreeSet<u32> = seen.chain(hinted).chain(called).filter(known).collect();
        let facts = callees.into_iter().map(|callee| self.facts(callee)).collect();
        let shapes = named.iter().copied().filter(known).map(|function| (*self.shape(function)).clone()).collect();
        Snapshot { module: self.key, functions, facts, shapes, priors, grown_bytes: 0 }
    }

    /// A function's [`shape`], worked out once.
    pub(super) fn shape(&self, function: u32) -> Arc<FunctionShape> {
        if let Some(known) = lock(&self.planning.shapes).get(&function) {
            return known.clone();
        }
        // (others may ask for theirs meanwhile)
        let shape = Arc::new(shape(&self.module, function));
        lock(&self.planning.shapes).entry(function).or_insert(shape).clone()
    }

    /// What the policy is told about a function that could be inlined. Without a compiler nothing can.
    pub fn facts(&self, function: u32) -> FunctionFacts {
        let (body_bytes, inlinable) = match (self.module.defined(function), &self.shared.compiler) {
            (None, _) => (0, Err(NotInlinable::Imported)),
            (Some(own), None) => (self.module.bodies[own].len() as u32, Err(NotInlinable::NotTranslatable)),
            (Some(own), Some(compiler)) => (self.module.bodies[own].len() as u32, compiler.inlinable(&self.module, function)),
        };
        let inlined_anyway = self.shared.compiler.as_ref().is_some_and(|compiler| compiler.inlines_anyway(&self.module, function));
        FunctionFacts { func: function, body_bytes, inlinable: inlinable.is_ok(), reason: inlinable.err(), inlined_anyway }
    }

    /// Takes over an earlier process's profile of this very module: its counts, its plans, and that its hot functions are compiled at once. Entries
    /// that fit nothing here are skipped.
    pub(crate) fn start_with(self: &Arc<Self>, profile: &SavedProfile) {
        if profile.module != self.module.hash || self.shared.config.feedback == FeedbackPolicy::Off || !self.shared.watched() {
            return;
        }
        let mut snapshot = profile.snapshot.clone();
        snapshot.module = self.key;
        // Sites whose values were not kept would drown those to come in a total of unknown ones.
        snapshot.functions.iter_mut().for_each(|function| function.sites.retain(|site| !site.values.is_empty()));
        self.shared.profile.restore(&snapshot);
        if self.tries() {
            for lost in profile.lost.iter().filter(|lost| self.module.defined(lost.func).is_some()) {
                self.start_without(lost.func, std::iter::once(lost.decision.clone()));
            }
        }
        let bodies: BTreeSet<u32> = profile.compiled.iter().filter(|it| it.loop_offset.is_none()).map(|it| it.func).collect();
        let mut asked = BTreeSet::new();
        for version in &profile.compiled {
            let function = version.func;
            if self.module.defined(function).is_none() || function as usize >= self.module.functions.len() {
                continue;
            }
            let entrance = match version.loop_offset {
                None => Entrance::Body,
                // Who calls a function whose body is there needs no entrance at its loops, and one that is in it before that asks as ever: half of the compiles that a profile of Yosys asked for.
                Some(_) if bodies.contains(&function) => continue,
                Some(offset) if self.shape(function).loops.iter().any(|it| it.offset == offset) => Entrance::Loop(offset),
                Some(_) => continue,
            };
            let plan = self.given_plan(function, version.decisions.clone());
            let kept = self.kept_plan(function);
            // Code that is there already and lacks little of the plan is as good: it comes at the first call, with its own.
            if kept.as_ref().is_some_and(|kept| are_small(&fresh(kept, plan.as_ref().map_or(&[], |plan| &plan.decisions)))) {
                continue;
            }
            // Of a function's entrances the first with a plan speaks for all.
            if self.tries() {
                // It won there: it is where this process starts, and what is decided besides is tried as ever.
                if self.adopted(function).is_none()
                    && let Some(plan) = plan
                {
                    self.adopt(function, Some(Arc::new(plan)));
                }
            } else {
                let mut saved = lock(&self.planning.saved);
                let saved = saved.entry(function).or_default();
                if saved.is_empty() {
                    *saved = plan.map_or(Vec::new(), |plan| plan.decisions);
                }
            }
            // What is kept serves until it is replaced, from the first call on.
            if kept.is_none() && asked.insert((function, version.loop_offset)) {
                // Where there are no templates, tier 1 goes first in the queue and is what waits for the slower compile.
                if !self.skips_baseline() {
                    self.request(function, entrance, Tier::Baseline, false);
                }
                self.request(function, entrance, Tier::Optimizing, self.measures(function));
            }
        }
    }

    /// The decisions of a body that an earlier process left optimized, if there is one.
    fn kept_plan(&self, function: u32) -> Option<Vec<Decision>> {
        let compiler = self.shared.compiler.as_ref().filter(|_| self.has_kept())?;
        let request = compiler.kept_request(&self.module, function).filter(|request| request.tier == Tier::Optimizing)?;
        Some(request.plan.map_or(Vec::new(), |plan| plan.decisions.clone()))
    }

    /// What the next process needs to start where this one is.
    pub fn saved_profile(&self, values: RecordValues) -> SavedProfile {
        let counted = self.counted();
        let events = |function: u32| {
            counted
                .iter()
                .find(|(other, _)| *other == function)
                .map_or(0, |(_, counted)| counted.events.iter().fold(0, |sum: u64, &it| sum.saturating_add(it)))
        };
        let mut compiled: Vec<(u64, SavedVersion)> = Vec::new();
        for version in self.versions_in_force() {
            if version.tier != Tier::Optimizing {
                continue;
            }
            let loop_offset = match version.entrance {
                Entrance::Body => None,
                Entrance::Loop(offset) => Some(offset),
            };
            let decisions = version.plan.as_ref().map_or(Vec::new(), |plan| plan.decisions.clone());
            compiled.push((events(version.function), SavedVersion { func: version.function, loop_offset, decisions }));
        }
        compiled.sort_by_key(|(events, version)| (std::cmp::Reverse(*events), version.func, version.loop_offset));
        let snapshot = self.shared.profile.snapshot(self.key);
        let lost = self.rolled_back().into_iter().map(|(func, decision)| SavedLoss { func, decision }).collect();
        SavedProfile::new(snapshot, compiled.into_iter().map(|(_, version)| version).collect(), lost, values)
    }
}

/// FNV-1a by 8 bytes at once, the upper half folded down each time so that all bits count: to tell code apart, not to guard it.
pub(super) fn code_hash(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| {
        let mixed = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
        mixed ^ (mixed >> 32)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    rest.iter().fold(hash, |hash, &byte| mix(hash, u64::from(byte)))
}
