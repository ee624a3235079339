//! Prefetch: an access in a loop that misses far away and whose address can be computed ahead.
//!
//! ```text
//! distance = latency of the misses / time of a round when the access hits, rounded to a power of two
//! saves    = share that misses · (latency - hit) / overlap        (the processor overlaps misses by itself: latency is not stall)
//! costs    = operators of the address computed once more · cost of an operator
//! ```
//! Where the indices of an indirect access start anew after fewer rounds than that (rows of a graph in the order of a queue), the loop around counts, and
//! the distance is divided by the length of such a run.
//!
//! The time of a round is what it would take if the access hit, not what was observed: the stalls are what goes away (APT-GET). It is estimated from
//! the operators of the innermost loop around it (those of loops in that one once each).

use super::{Transformation, View, enough, pays};
use crate::policy::{Because, Budgets, Decision, PrefetchDecision, PrefetchKind, RefusalReason};
use crate::profile::LoadSnapshot;

/// See the file.
pub const TRANSFORMATION: Transformation =
    Transformation { name: "prefetch", about: "fetch ahead for an access that misses", excludes: &[], consider };

/// Shortest distance: below it the fetch comes too late to help.
const SHORTEST: u32 = 2;
/// Pairs of accesses to an index array from which it is told whether the indices go on or start anew. A guess.
const LEAST_PAIRS: u64 = 64;
/// Executions, times the samples that are needed of misses, of which a share of misses can be said to be small: of 256 without one it is below 1.2 %, 19 times in 20.
const RARE_AMONG: u64 = 4;
/// Operators that compute an address again: add, clamp, and for an indirect one the index's load.
const STRIDED_OPERATORS: f64 = 4.0;
const INDIRECT_OPERATORS: f64 = 9.0;
/// Bytes of code per fetch, counted as wasm.
const GROWTH_BYTES: u32 = 16;

fn consider(view: &View<'_>, budgets: &Budgets, out: &mut super::Proposals) {
    for load in &view.function.loads {
        let executions = budgets.costs.executions_of_bursts(load.executions.max(load.count()));
        out.answer(load.offset, executions, GROWTH_BYTES, decide(view, load, budgets).map(Decision::Prefetch));
    }
}

fn decide(view: &View<'_>, load: &LoadSnapshot, budgets: &Budgets) -> Result<PrefetchDecision, RefusalReason> {
    let samples = load.count();
    if load.executions == 0 && load.sampled > 0 {
        return Err(RefusalReason::ExecutionsUnknown { misses: load.sampled });
    }
    let costs = &budgets.costs;
    let executions = load.executions.max(samples);
    // What was timed often and hardly ever missed is known, however few its misses are.
    if executions < RARE_AMONG * budgets.min_load_samples {
        enough(samples, budgets.min_load_samples)?;
    }
    // Records of accesses that were timed: those above the threshold missed the near caches.
    let far: u64 =
        load.latency.iter().filter(|&&(ticks, _)| ticks >= costs.far_ticks).map(|&(_, count)| count).fold(0, u64::saturating_add);
    let share = far as f64 / executions.max(1) as f64;
    if share < budgets.min_miss_share {
        return Err(RefusalReason::RarelyMisses { share, needed: budgets.min_miss_share, samples: executions });
    }
    enough(samples, budgets.min_load_samples)?;
    let sum: f64 =
        load.latency.iter().filter(|&&(ticks, _)| ticks >= costs.far_ticks).map(|&(ticks, count)| ticks as f64 * count as f64).sum();
    let latency_ns = (sum / far.max(1) as f64 - costs.hit_ticks as f64).max(0.0) * costs.tick_ns;
    let around = view.loop_around(load.offset).ok_or(RefusalReason::NotInLoop)?;
    let mut kind = kind(load, budgets)?;
    let estimated = (f64::from(around.operators) * costs.operator_ns).max(costs.operator_ns);
    // What bursts measured has their own cost and the misses in it: an upper bound.
    let measured = view.function.rounds.iter().find(|it| it.offset == around.offset && it.rounds > 0).map(|it| it.round_ns());
    let round_ns = measured.map_or(estimated, |measured| measured.clamp(costs.operator_ns, estimated.max(costs.operator_ns)));
    let mut rounds = latency_ns / round_ns;
    if kind == PrefetchKind::Indirect
        && around.depth > 0
        && !around.has_loop
        && let Some(run) = index_run(view, load).filter(|&run| run < rounds)
    {
        // Looking ahead would run past the end of a run of indices into one that comes at another time.
        (kind, rounds) = (PrefetchKind::Outer, rounds / run);
    }
    let shortest = if kind == PrefetchKind::Outer { 1 } else { SHORTEST };
    let distance = power_of_two(rounds).clamp(shortest, budgets.max_prefetch_distance.max(SHORTEST));
    let operators = if kind == PrefetchKind::Strided { STRIDED_OPERATORS } else { INDIRECT_OPERATORS };
    let (saves_ns, costs_ns) = (share * latency_ns / costs.overlap, operators * costs.operator_ns);
    let formula = format!(
        "{:.1} % x {latency_ns:.0} ns / {:.0} overlapped; {operators:.0} operators x {:.2} ns; {latency_ns:.0} ns / {round_ns:.2} ns a round \
         ({} operators) = {rounds:.0} rounds",
        share * 100.0,
        costs.overlap,
        costs.operator_ns,
        around.operators
    );
    pays(saves_ns, costs_ns, &formula, budgets)?;
    let because = Because { samples: executions, share, needed: budgets.min_miss_share, saves_ns, costs_ns, formula };
    Ok(PrefetchDecision { offset: load.offset, kind, distance, because })
}

fn kind(load: &LoadSnapshot, budgets: &Budgets) -> Result<PrefetchKind, RefusalReason> {
    let total = load.stride_total;
    let best = load.strides.iter().filter(|it| it.stride != 0).map(|it| it.count - it.error.min(it.count)).max().unwrap_or(0);
    let share = best.min(total) as f64 / total.max(1) as f64;
    if total > 0 && share >= budgets.min_stride_share {
        return Ok(PrefetchKind::Strided);
    }
    // An address that its own value decides is a chase of pointers: nobody can look ahead.
    if load.indirect_from.is_some_and(|from| from != load.offset) {
        return Ok(PrefetchKind::Indirect);
    }
    Err(RefusalReason::AddressNotPredictable { share, needed: budgets.min_stride_share, pairs: total })
}

/// How many rounds the indices of an indirect access go on for before they start anew elsewhere, where that is known: what the strides of
/// the load that yields them say.
fn index_run(view: &View<'_>, load: &LoadSnapshot) -> Option<f64> {
    let index = view.function.loads.iter().find(|it| Some(it.offset) == load.indirect_from)?;
    if index.stride_total < LEAST_PAIRS {
        return None;
    }
    let best = index.strides.iter().map(|it| it.count).max()?.min(index.stride_total);
    // Below half there is no stride that a run could have.
    let jumps = index.stride_total - best;
    (best > jumps).then(|| index.stride_total as f64 / jumps.max(1) as f64)
}

/// The nearest power of two, by ratio.
fn power_of_two(rounds: f64) -> u32 {
    let exponent = rounds.max(1.0).log2().round().clamp(0.0, 30.0);
    1 << exponent as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_powers_of_two() {
        assert_eq!([0.0, 1.0, 2.9, 90.0, 91.0, 133.0].map(power_of_two), [1, 1, 4, 64, 128, 128]);
        assert_eq!(power_of_two(f64::INFINITY), 1 << 30);
    }
}
