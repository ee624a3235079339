//! The way back from a snapshot, which may come from a damaged file: which of its sites the limits leave room for, and a function's profile made of them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::provenance::Provenances;
use super::sequences::Sequences;
use super::snapshot::{
    BranchSnapshot, CallSnapshot, FunctionSnapshot, LoadSnapshot, LoopSnapshot, SelectSnapshot, SiteSnapshot, StrideCount, ValueCount,
};
use super::top_k::Kept;
use super::{Branch, Call, FunctionProfile, Load, Provenance, Rounds, Select, TopK};

/// No count is restored as more: sums and what comes later stay far from overflow.
const MOST: u64 = 1 << 48;

/// A site of a function: its kind, by the order in [`weights`], and its place in that kind's list.
pub(super) type Place = (u8, usize);

/// Sites that are restored.
pub(super) enum Admitted {
    All,
    /// By the function's place.
    These(BTreeSet<(usize, Place)>),
}

impl Admitted {
    /// Of these functions' sites as many as there is room for, in each and in all: those that were seen most. And how many are left out.
    pub(super) fn choose(functions: &[&FunctionSnapshot], in_each: usize, in_all: usize) -> (Self, u64) {
        let counts: Vec<usize> = functions.iter().map(|function| weights(function).count()).collect();
        let total: usize = counts.iter().sum();
        if total <= in_all && counts.iter().all(|&count| count <= in_each) {
            return (Self::All, 0);
        }
        let mut all: Vec<(Reverse<u64>, usize, Place)> = Vec::with_capacity(total);
        for (at, function) in functions.iter().enumerate() {
            all.extend(weights(function).map(|(place, weight)| (Reverse(weight), at, place)));
        }
        all.sort_unstable();
        let mut left = vec![in_each; functions.len()];
        let mut these = BTreeSet::new();
        for (_, at, place) in all {
            if these.len() < in_all && left[at] > 0 {
                left[at] -= 1;
                these.insert((at, place));
            }
        }
        let left_out = total - these.len();
        (Self::These(these), left_out as u64)
    }

    pub(super) fn contains(&self, function: usize, place: Place) -> bool {
        match self {
            Self::All => true,
            Self::These(these) => these.contains(&(function, place)),
        }
    }
}

/// Every site of a function, with what was seen of it.
fn weights(saved: &FunctionSnapshot) -> impl Iterator<Item = (Place, u64)> {
    fn of<T>(kind: u8, list: &[T], weight: impl Fn(&T) -> u64) -> impl Iterator<Item = (Place, u64)> {
        list.iter().enumerate().map(move |(at, it)| ((kind, at), weight(it)))
    }
    of(0, &saved.sites, |it| it.total)
        .chain(of(1, &saved.branches, |it| it.seen().saturating_add(it.sampled_mispredicted)))
        .chain(of(2, &saved.selects, |it| it.taken.saturating_add(it.not_taken)))
        .chain(of(3, &saved.rounds, |it| it.rounds))
        .chain(of(4, &saved.calls, |it| it.count))
        .chain(of(5, &saved.sequences, |it| it.total))
        .chain(of(6, &saved.loads, |it| it.executions.max(it.count()).max(it.sampled)))
}

/// The function's profile, of the sites that are `admitted`.
pub(super) fn to_function(saved: &FunctionSnapshot, admitted: impl Fn(Place) -> bool) -> FunctionProfile {
    fn these<'a, T>(kind: u8, list: &'a [T], admitted: &'a impl Fn(Place) -> bool) -> impl Iterator<Item = &'a T> {
        list.iter().enumerate().filter(move |&(at, _)| admitted((kind, at))).map(|(_, it)| it)
    }
    let clamped = |count: u64| count.min(MOST);
    let mut profile = FunctionProfile {
        records: clamped(saved.records),
        hot: clamped(saved.hot),
        side_exits: clamped(saved.side_exits),
        ticks: clamped(saved.ticks),
        ..FunctionProfile::default()
    };
    let kept = |value, count, error| Kept { value, count: clamped(count), error: clamped(error), whole: clamped(count) };
    for &SiteSnapshot { key, total, ref values } in these(0, &saved.sites, &admitted) {
        let values = values.iter().map(|&ValueCount { value, count, error }| kept(value, count, error));
        profile.sites.insert(key, TopK::from_parts(clamped(total), values));
    }
    for branch in these(1, &saved.branches, &admitted) {
        let &BranchSnapshot { offset, taken, not_taken, predicted, mispredicted, counted, sampled_mispredicted, provenance } = branch;
        let [taken, not_taken, predicted, mispredicted] = [taken, not_taken, predicted, mispredicted].map(clamped);
        let provenances = Provenances::of(provenance, taken + not_taken);
        let (counted, sampled_mispredicted) = (counted.map(clamped), clamped(sampled_mispredicted));
        profile.branches.insert(offset, Branch { taken, not_taken, predicted, mispredicted, counted, sampled_mispredicted, provenances });
    }
    for &SelectSnapshot { offset, taken, not_taken, judged, would_mispredict } in these(2, &saved.selects, &admitted) {
        let [taken, not_taken, judged, would_mispredict] = [taken, not_taken, judged, would_mispredict].map(clamped);
        profile.selects.insert(offset, Select { taken, not_taken, judged, would_mispredict });
    }
    for &LoopSnapshot { offset, rounds, ns } in these(3, &saved.rounds, &admitted) {
        profile.rounds.insert(offset, Rounds { rounds: clamped(rounds), ns: clamped(ns) });
    }
    for &CallSnapshot { offset, callee, count } in these(4, &saved.calls, &admitted) {
        profile.calls.insert(offset, Call { callee, count: clamped(count) });
    }
    for saved in these(5, &saved.sequences, &admitted) {
        profile.sequences.insert(saved.offset, Sequences::of(saved));
    }
    for saved in these(6, &saved.loads, &admitted) {
        let LoadSnapshot { offset, latency, sources, strides, stride_total, executions, indirect_from, sampled, provenance } = saved;
        let mut load = Load::new();
        for &(cycles, count) in latency {
            load.latency.saturating_record_n(cycles.max(1), count.try_into().unwrap_or(u32::MAX));
        }
        load.sources = sources.map(clamped);
        let strides = strides.iter().map(|&StrideCount { stride, count, error }| kept(stride as u64, count, error));
        load.strides = TopK::from_parts(clamped(*stride_total), strides);
        load.executions = clamped(*executions);
        load.burst_strides = *executions > 0;
        load.indirect_from = *indirect_from;
        load.timed = *provenance == Provenance::Timed;
        // (profiles were saved without it once)
        load.sampled = if *provenance == Provenance::Hardware { clamped(*sampled).max(1) } else { clamped(*sampled) };
        profile.loads.insert(*offset, load);
    }
    profile
}
