//! New records about a function that runs optimized, in an engine that tries nothing: is there more to do now than its code was made for?
//!
//! Records may contradict each other for ever (the fuzzer's do). So each time code is made again for what they say, the next question about the function is put
//! off for twice as long, counted in questions: compiles grow with the logarithm of what is asked.

use super::ModuleCode;
use super::difference::lacks;
use crate::code::{Entrance, Tier};
use crate::engine::{FeedbackPolicy, lock};
use lwp_feedback::policy::Plan;
use std::collections::HashMap;
use std::sync::Arc;

/// By function, how long questions are put off.
pub(super) type Rests = HashMap<u32, Rest>;

/// Questions that go unanswered.
#[derive(Default)]
pub(super) struct Rest {
    /// Still to come.
    left: u32,
    /// The rest after the next compile.
    next: u32,
}

impl Rest {
    /// Whether this question is to be answered.
    fn is_over(&mut self) -> bool {
        let over = self.left == 0;
        self.left = self.left.saturating_sub(1);
        over
    }

    /// Code is made again.
    fn begin(&mut self) {
        self.left = self.next;
        self.next = (2 * self.next).clamp(1, u32::MAX / 2);
    }
}

impl ModuleCode {
    /// Plans again, and asks for new tier-2 code of each entrance whose code lacks a decision. Called on the monitor's thread.
    pub(super) fn reconsider_untried(self: &Arc<Self>, function: u32) {
        if self.shared.config.feedback == FeedbackPolicy::Off || self.module.defined(function).is_none() {
            return;
        }
        if !lock(&self.rests).entry(function).or_default().is_over() {
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
        let Some(plan) = self.composed(function, self.planned(function)).and_then(|plan| self.exits.amend(plan)) else { return };
        let mut again = false;
        for (entrance, old) in entrances {
            let old = old.as_ref().map_or(&[][..], |old| &old.decisions);
            if lacks(old, &plan.decisions) {
                again = true;
                self.published().requested.remove(&(function, entrance, Tier::Optimizing, false));
                self.request(function, entrance, Tier::Optimizing, false);
            }
        }
        if again {
            lock(&self.rests).entry(function).or_default().begin();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_contradictions_are_eleven_compiles() {
        let mut rest = Rest::default();
        let compiles = (0..1000).filter(|_| rest.is_over()).count();
        assert_eq!(compiles, 1000, "nothing is put off before code was made again");
        let mut compiles = 0;
        for _ in 0..1000 {
            if rest.is_over() {
                rest.begin();
                compiles += 1;
            }
        }
        assert_eq!(compiles, 11);
    }
}
