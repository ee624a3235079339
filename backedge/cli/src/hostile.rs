//! Policies that are wrong on purpose (`--hostile-policy`): what they plan must change no result, and the trials must take back what costs time.
//!
//! They say the same for the same profile, as every policy does. `bench-programs/optimizer.py hostile` measures what they cost.

use clap::ValueEnum;
use lwp_feedback::class::SiteClass;
use lwp_feedback::codemap::FunctionId;
use lwp_feedback::policy::{
    Budgets, Decision, InlineDecision, InlineTarget, LikelyDecision, Plan, Policy, PrefetchDecision, PrefetchKind, Refusal, SiteDecision,
    SpecializeDecision, SwitchOrderDecision,
};
use lwp_feedback::profile::{FunctionSnapshot, SiteSnapshot, Snapshot};

/// Which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Hostile {
    /// Prefetch for every load that was seen
    Prefetch,
    /// Make selects of every branch that was seen
    Select,
    /// Inline every callee that was seen, however seldom, and leave the code for all others
    Inline,
    /// Anything anywhere
    Random,
}

/// Callees at one call that a plan may name.
const MOST_TARGETS: usize = 4;
/// Rounds ahead.
const DISTANCE: u32 = 64;

impl Policy for Hostile {
    fn plan(&self, snapshot: &Snapshot, _: &Budgets) -> (Vec<Plan>, Vec<Refusal>) {
        let plan = |function: &FunctionSnapshot| {
            let mut decisions = match self {
                Hostile::Prefetch => prefetch(function, DISTANCE),
                Hostile::Select => select(function),
                Hostile::Inline => inline(function, true),
                Hostile::Random => random(function),
            };
            decisions.sort_by_key(Decision::offset);
            let id = FunctionId { module: snapshot.module, func: function.func };
            (!decisions.is_empty()).then_some(Plan { function: id, decisions })
        };
        (snapshot.functions.iter().filter_map(plan).collect(), Vec::new())
    }
}

fn prefetch(function: &FunctionSnapshot, distance: u32) -> Vec<Decision> {
    let kind = |from: Option<u32>| if from.is_some() { PrefetchKind::Indirect } else { PrefetchKind::Strided };
    let of = |load: &lwp_feedback::profile::LoadSnapshot| PrefetchDecision {
        offset: load.offset,
        kind: kind(load.indirect_from),
        distance,
        because: Default::default(),
    };
    function.loads.iter().map(|load| Decision::Prefetch(of(load))).collect()
}

fn select(function: &FunctionSnapshot) -> Vec<Decision> {
    let of = |offset| Decision::BranchToSelect(SiteDecision { offset, because: Default::default() });
    function.branches.iter().map(|branch| of(branch.offset)).collect()
}

fn sites(function: &FunctionSnapshot, class: SiteClass) -> impl Iterator<Item = &SiteSnapshot> {
    function.sites.iter().filter(move |site| site.key.class == class && !site.values.is_empty())
}

fn inline(function: &FunctionSnapshot, side_exit: bool) -> Vec<Decision> {
    let of = |site: &SiteSnapshot| {
        let callees = site.values.iter().filter_map(|value| u32::try_from(value.value).ok()).take(MOST_TARGETS);
        let targets = callees.map(|callee| InlineTarget { callee, ..InlineTarget::default() }).collect();
        Decision::Inline(InlineDecision { offset: site.key.offset, targets, side_exit, in_place: true, ..InlineDecision::default() })
    };
    sites(function, SiteClass::CallTarget).map(of).collect()
}

/// Some of everything, drawn by what the function is and how much of it was seen.
fn random(function: &FunctionSnapshot) -> Vec<Decision> {
    // SplitMix64 (Steele, Lea, Flood 2014).
    let mut state = (u64::from(function.func) << 32) ^ (function.records / 1024);
    let mut draw = move |bound: u64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31) % bound
    };
    let mut all = prefetch(function, 1 << draw(10));
    all.extend(select(function));
    all.extend(inline(function, draw(2) == 0));
    for branch in &function.branches {
        let it = LikelyDecision { offset: branch.offset, likely: draw(2) == 0, because: Default::default() };
        all.push(Decision::Layout(it));
    }
    for select in &function.selects {
        let it = LikelyDecision { offset: select.offset, likely: draw(2) == 0, because: Default::default() };
        all.push(Decision::SelectToBranch(it));
    }
    for site in sites(function, SiteClass::SwitchIndex) {
        let first = (0..1 + draw(4)).map(|_| draw(16) as u32).collect();
        all.push(Decision::SwitchOrder(SwitchOrderDecision { offset: site.key.offset, first, because: Default::default() }));
    }
    for site in sites(function, SiteClass::Param) {
        let value = site.values[draw(site.values.len() as u64) as usize].value;
        let (offset, parameter) = (site.key.offset, u32::from(site.key.detail));
        all.push(Decision::Specialize(SpecializeDecision { offset, parameter, value, because: Default::default() }));
    }
    all.retain(|_| draw(2) == 0);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use lwp_feedback::profile::BranchSnapshot;

    #[test]
    fn they_plan_what_nothing_speaks_for() {
        let branch = BranchSnapshot { offset: 7, taken: 1000, ..BranchSnapshot::default() };
        let function = FunctionSnapshot { func: 3, records: 9, branches: vec![branch], ..FunctionSnapshot::default() };
        let snapshot = Snapshot { module: 1, functions: vec![function], ..Snapshot::default() };
        let (plans, refusals) = Hostile::Select.plan(&snapshot, &Budgets::default());
        assert!(refusals.is_empty() && matches!(&plans[0].decisions[..], [Decision::BranchToSelect(it)] if it.offset == 7), "{plans:?}");
        assert!(Hostile::Prefetch.plan(&snapshot, &Budgets::default()).0.is_empty(), "no load was seen");
        assert_eq!(Hostile::Random.plan(&snapshot, &Budgets::default()), Hostile::Random.plan(&snapshot, &Budgets::default()));
    }
}
