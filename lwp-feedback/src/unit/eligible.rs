//! Which events an instruction has after the filters, and what their records say.

use super::control::{Event, Session};
use super::memory::UserMemory;
use super::trace::{Branch, BranchKind, Load, Retired};
use super::{Architecture, Unit};
use crate::layout::Filters;

/// NDB, bit 31 of the proposal's filter dword (bit 63 of its quadword).
pub(super) const PROPOSAL_NDB: u32 = 1 << 31;

/// Bits 15:12 of the record's flags for branches: TKN, PRD, PRV. FUS is always 0.
const TKN: u16 = 1 << 15;
const PRD: u16 = 1 << 14;
const PRV: u16 = 1 << 13;
/// Bit 12 for DCache misses; SRC is bits 15:13.
const DAV: u16 = 1 << 12;

impl Branch {
    fn is_conditional(&self) -> bool {
        matches!(self.kind, BranchKind::Jcc | BranchKind::Loop)
    }

    /// Unconditional branches are always taken.
    fn is_taken(&self) -> bool {
        self.taken || !self.is_conditional()
    }

    /// (valid, correct). Direct unconditional branches are always predicted correctly.
    fn prediction(&self) -> (bool, bool) {
        if self.direct && !self.is_conditional() { (true, true) } else { (self.prediction_valid, self.prediction_valid && self.predicted) }
    }
}

impl<M: UserMemory> Unit<M> {
    /// How often `event` occurred in this instruction.
    pub(super) fn occurrences(&self, event: Event, retired: &Retired) -> u32 {
        match event {
            Event::Value => 0,
            Event::Instructions => 1,
            Event::Branches => u32::from(retired.branch.is_some_and(|branch| self.branch_counts(&branch))),
            Event::Dcache => self.counting_loads(retired).count() as u32,
            Event::CoreClocks => retired.core_clocks,
            Event::RefClocks => retired.ref_clocks,
        }
    }

    fn session(&self) -> &Session {
        self.session.as_ref().expect("called only while LWP is on")
    }

    fn branch_counts(&self, branch: &Branch) -> bool {
        let filters = self.session().filters;
        if let Architecture::Proposal(_) = self.architecture {
            // Only unconditional RIP-relative jumps: no calls.
            return !(filters & PROPOSAL_NDB != 0 && branch.direct && branch.kind == BranchKind::Jmp);
        }
        let filters = Filters::from_bits_retain(filters);
        let (valid, correct) = branch.prediction();
        let kind_dropped = if branch.is_conditional() {
            filters.contains(Filters::NCB)
        } else if branch.direct {
            filters.contains(Filters::NRB)
        } else {
            filters.contains(Filters::NAB)
        };
        let outcome_dropped = valid && filters.contains(if correct { Filters::NPB } else { Filters::NMB });
        !kind_dropped && !outcome_dropped
    }

    /// The latency a record reports: rounded down, saturated.
    fn reported_latency(&self, cycles: u32) -> u32 {
        let (round, cap) = match self.architecture {
            Architecture::Final(capabilities) => (u32::from(capabilities.latency_round_bits.min(4)), capabilities.latency_cap()),
            Architecture::Proposal(capabilities) => (4, capabilities.latency_cap()),
        };
        (cycles >> round << round).min(cap)
    }

    fn load_counts(&self, load: &Load) -> bool {
        let (filters, cap) = (self.session().filters, self.reported_latency(u32::MAX));
        let needed = (16 * (filters & Filters::MIN_LATENCY.bits())).min(cap);
        let latency = self.reported_latency(load.latency);
        let slow_enough = needed == 0 || if self.switches.min_latency_exceeds { latency > needed } else { latency >= needed };
        let level = match load.source {
            1 => Filters::NBC,
            2 => Filters::RDC,
            3 => Filters::RAM,
            7 => Filters::OTH,
            _ => Filters::empty(),
        };
        let kept_level = filters & Filters::CLF.bits() == 0
            || filters & level.bits() != 0
            || (load.source == 0 && self.switches.level_filter_keeps_unknown);
        slow_enough && kept_level
    }

    /// The misses that count: the two of a misaligned load are one, at the lower address.
    fn counting_loads<'a>(&'a self, retired: &'a Retired) -> impl Iterator<Item = Load> + 'a {
        let loads = &retired.loads;
        (0..loads.len()).filter(|&index| index == 0 || !loads[index].misaligned_second_miss).filter_map(move |index| {
            let first = loads[index];
            let reported = match loads.get(index + 1) {
                Some(second) if second.misaligned_second_miss && second.address < first.address => *second,
                _ => first,
            };
            self.load_counts(&reported).then_some(reported)
        })
    }

    /// Flags, Data1 and Data2 of the record; `nth` says which of the instruction's misses made it due.
    pub(super) fn event_data(&self, event: Event, retired: &Retired, nth: u32) -> (u16, u32, u64) {
        match event {
            Event::Branches => {
                let branch = retired.branch.expect("a branch record is due only for a branch");
                let (valid, correct) = branch.prediction();
                let flag = |set: bool, flag: u16| if set { flag } else { 0 };
                let target = if branch.is_taken() { branch.target } else { retired.ip.wrapping_add(retired.len.into()) };
                (flag(branch.is_taken(), TKN) | flag(correct, PRD) | flag(valid, PRV), 0, target)
            }
            Event::Dcache => {
                let load = self.counting_loads(retired).nth(nth as usize).expect("a miss record is due at one of the counted misses");
                let has_address = match self.architecture {
                    Architecture::Final(capabilities) => capabilities.data_address,
                    Architecture::Proposal(capabilities) => capabilities.data_address,
                };
                let (flag, address) = if has_address { (DAV, load.address) } else { (0, 0) };
                (u16::from(load.source & 7) << 13 | flag, self.reported_latency(load.latency), address)
            }
            _ => (0, 0, 0),
        }
    }
}
