//! What a retired instruction means to each event that the unit can count.

use super::Retired;
use crate::events::EventSelect;
use crate::pebs::record::DataSource;

/// Whose PEBS the unit has: which events are precise, and on which counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Microarchitecture {
    /// Nine precise events, on IA32_PMC0 only.
    Core2,
    /// Nehalem and Westmere: IA32_PMC0 to 3, and load latency. INST_RETIRED with unit mask 0 is precise, as the document's experiments find.
    Westmere,
}

/// An event that the unit can count.
#[derive(Clone, Copy)]
pub(super) enum Counted {
    Instructions,
    Branches,
    MispredictedBranches,
    Loads,
    LoadLatency,
    LoadSource(fn(DataSource) -> bool),
    CoreClocks,
    RefClocks,
    /// A precise event of things that no probe reports (x87, SIMD): it never occurs.
    Never,
}

impl Microarchitecture {
    /// Counters that take PEBS.
    pub fn pebs_counters(self) -> u8 {
        match self {
            Self::Core2 => 1,
            Self::Westmere => 4,
        }
    }

    /// Whether the event may have PEBS on.
    pub fn is_precise(self, select: EventSelect) -> bool {
        let name = match self {
            Self::Core2 => "core2",
            Self::Westmere => "westmere",
        };
        let family = crate::events::family(name).expect("the tables have both");
        family
            .events
            .iter()
            .filter(|event| event.select == select.event)
            .any(|event| event.masks.iter().any(|mask| mask.bits == select.unit_mask) || (event.masks.is_empty() && select.unit_mask == 0))
    }

    /// What the select counts; `None` for what the unit knows nothing of.
    pub(super) fn counted(self, select: EventSelect) -> Option<Counted> {
        let beyond_l1 = |source: DataSource| source.code() != 1;
        let beyond_l2 = |source: DataSource| !(1..=3).contains(&source.code());
        Some(match (self, select.event, select.unit_mask) {
            (_, 0xC0, 0 | 1) => Counted::Instructions,
            (_, 0xC4, 0) => Counted::Branches,
            (_, 0xC5, 0) => Counted::MispredictedBranches,
            (_, 0x3C, 0) => Counted::CoreClocks,
            (_, 0x3C, 1) => Counted::RefClocks,
            (Self::Core2, 0xCB, 1) => Counted::LoadSource(beyond_l1),
            (Self::Core2, 0xCB, 2) => Counted::LoadSource(|source| !(1..=2).contains(&source.code())),
            (Self::Core2, 0xCB, 4 | 8) => Counted::LoadSource(beyond_l2),
            (Self::Core2, 0xCB, 0x10) | (Self::Westmere, 0xCB, 0x80) => Counted::LoadSource(DataSource::stlb_miss),
            (Self::Westmere, 0x0B, 1) => Counted::Loads,
            (Self::Westmere, 0x0B, 0x10) => Counted::LoadLatency,
            (Self::Westmere, 0xCB, 1) => Counted::LoadSource(|source| source.code() == 1),
            (Self::Westmere, 0xCB, 2) => Counted::LoadSource(|source| source.code() == 3),
            (Self::Westmere, 0xCB, 4) => Counted::LoadSource(|source| (4..=5).contains(&source.code())),
            (Self::Westmere, 0xCB, 8) => Counted::LoadSource(|source| (6..=7).contains(&source.code())),
            (Self::Westmere, 0xCB, 0x10) => Counted::LoadSource(|source| source.code() == 0 || source.code() > 7),
            (Self::Westmere, 0xCB, 0x40) => Counted::LoadSource(|source| source.code() == 2),
            _ if self.is_precise(select) => Counted::Never,
            _ => return None,
        })
    }
}

impl Counted {
    /// How often it occurred in the instruction. `latency` is the threshold of MSR_PEBS_LD_LAT, `None` where the counter has no LL_EN: the
    /// latency event then counts nothing.
    pub(super) fn occurrences(self, retired: &Retired, latency: Option<u64>) -> u64 {
        let load = |counts: &dyn Fn(&super::Load) -> bool| u64::from(retired.load.as_ref().is_some_and(counts));
        match self {
            Self::Instructions => 1,
            Self::Branches => u64::from(retired.branch.is_some()),
            Self::MispredictedBranches => u64::from(retired.branch.is_some_and(|branch| !branch.predicted)),
            Self::Loads => load(&|_| true),
            Self::LoadLatency => load(&|load| latency.is_some_and(|threshold| load.latency > threshold)),
            Self::LoadSource(counts) => load(&|load| counts(load.source)),
            Self::CoreClocks => retired.core_clocks.into(),
            Self::RefClocks => retired.ref_clocks.into(),
            Self::Never => 0,
        }
    }
}
