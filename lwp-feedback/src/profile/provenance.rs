//! How a number came about: whether it was counted, timed, computed by a model, or sampled by hardware.

use serde::{Deserialize, Serialize};

use crate::codemap::Tier;

/// Where a profile's entry comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    /// Seen by the code itself.
    #[default]
    Exact,
    /// A load timed between fences, its source told by the time.
    Timed,
    /// What a predictor model says of outcomes that were seen.
    Modelled,
    /// Sampled by the processor; the address may be some instructions late (*skid*).
    Hardware,
}

impl Provenance {
    /// Of an event 3 record of code of that tier: only bursts see branches themselves, and their verdicts are a model's.
    pub fn of_branch(tier: Tier) -> Provenance {
        if tier == Tier::Instrumented { Provenance::Modelled } else { Provenance::Hardware }
    }

    /// Of an event 4 record of code of that tier: only bursts time loads.
    pub fn of_load(tier: Tier) -> Provenance {
        if tier == Tier::Instrumented { Provenance::Timed } else { Provenance::Hardware }
    }

    /// As reports print it.
    pub fn name(self) -> &'static str {
        match self {
            Provenance::Exact => "exact",
            Provenance::Timed => "timed",
            Provenance::Modelled => "modelled",
            Provenance::Hardware => "hardware(skid)",
        }
    }
}

/// How many records of each provenance there were: what most of them are is what an entry is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Provenances([u32; 4]);

impl Provenances {
    const ALL: [Provenance; 4] = [Provenance::Exact, Provenance::Timed, Provenance::Modelled, Provenance::Hardware];

    pub(super) fn of(provenance: Provenance, records: u64) -> Self {
        let mut counts = Self::default();
        // (of nothing but counts it is exact, whatever comes next)
        let least = u64::from(provenance != Provenance::Exact);
        counts.0[provenance as usize] = u32::try_from(records.max(least)).unwrap_or(u32::MAX);
        counts
    }

    pub(super) fn add(&mut self, provenance: Provenance) {
        let count = &mut self.0[provenance as usize];
        *count = count.saturating_add(1);
    }

    /// The last ones stay, so that there is one to name.
    pub(super) fn halve(&mut self) {
        if self.0.iter().any(|&count| count > 1) {
            self.0.iter_mut().for_each(|count| *count /= 2);
        }
    }

    /// The most frequent, the first of equals.
    pub(super) fn most(&self) -> Provenance {
        Self::ALL.into_iter().rev().max_by_key(|&it| self.0[it as usize]).expect("there are some")
    }
}

impl std::fmt::Display for Provenance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
