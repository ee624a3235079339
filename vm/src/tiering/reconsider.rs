//! New records about a function that runs optimized, in an engine that tries nothing: is there more to do now than its code was made for?

use super::ModuleCode;
use super::difference::lacks;
use crate::code::{Entrance, Tier};
use crate::engine::FeedbackPolicy;
use lwp_feedback::policy::Plan;
use std::sync::Arc;

impl ModuleCode {
    /// Plans again, and asks for new tier-2 code of each entrance whose code lacks a decision. Called on the monitor's thread.
    pub(super) fn reconsider_untried(self: &Arc<Self>, function: u32) {
        if self.shared.config.feedback == FeedbackPolicy::Off || self.module.defined(function).is_none() {
            return;
        }
        let mut entrances: Vec<(Entrance, Option<Arc<Plan>>)> = Vec::new();
        for version in self.published().versions.iter().filter(|version| version.function == function && version.tier == Tier::Optimizing) {
            entrances.retain(|(entrance, _)| *entrance != version.entrance);
            entrances.push((version.entrance, version.plan.clone()));
        }
        if entrances.is_empty() {
            return;
        }
        // Without the parts that guards have taken back: they would be asked for again and again.
        let Some(plan) = self.planned(function).and_then(|plan| self.exits.amend(plan)) else { return };
        for (entrance, old) in entrances {
            let old = old.as_ref().map_or(&[][..], |old| &old.decisions);
            if lacks(old, &plan.decisions) {
                self.published().requested.remove(&(function, entrance, Tier::Optimizing, false));
                self.request(function, entrance, Tier::Optimizing, false);
            }
        }
    }
}
