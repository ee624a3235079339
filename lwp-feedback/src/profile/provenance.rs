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

impl std::fmt::Display for Provenance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
