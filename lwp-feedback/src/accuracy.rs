//! How much of the truth samples hold: from a run's records to estimated totals by site, and their overlap with exact counts.
//!
//! **Overlap** is Arnold and Ryder's (*A framework for reducing the cost of instrumented code*, PLDI 2001, section 4.1): the sum over all sites of the
//! smaller of its share in the full profile and its share in the sampled one. 1 is the same distribution; what one of the two never saw contributes nothing.
//!
//! **Totals from bursts.** A burst of a function sees all events of a window of the run: from its beginning to its end, in which other code may have run
//! too. So its counts divided by the window are the function's event *rates* then. The rates hold for the time since the function's burst before, less the
//! time that the function was asked for a burst and did not come, where that was long: then it did not run. Thus bursts need not be spread evenly: a loop that is looked at
//! ten times as often as another is not taken for ten times as hot. Bursts that time loads are slow, so their windows mean nothing: their counts are
//! taken per round of the loop, and rounds per time come from bursts of branches.
//!
//! **Totals from sites in tier 1.** Each LWPVAL record stands for the mean of EventInterval1 and its random bits.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Arc, Mutex};

use crate::class::SiteClass;
use crate::codemap::{Resolved, Tier};
use crate::layout::{EventId, Record};
use crate::monitor::{Hot, Listener, RingId};
use crate::profile::{Profile, ProfileLimits};
use crate::recordfile::{self, RecordFileError};

/// A function that was asked for a burst and did not come for so long did not run meanwhile: it is asked every 40 ms. A guess.
const NOT_RUNNING_NS: f64 = 200e6;

/// A place in a program: module hash, function, byte offset of the operator.
pub type Place = (u64, u32, u32);
/// A value site: its place, class and detail.
pub type ValuePlace = (Place, SiteClass, u8);

/// How records were sampled.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Events that an LWPVAL record of tier 1 stands for.
    pub value: f64,
    /// The same of one from a burst.
    pub burst_value: f64,
    /// Branches that a record stands for.
    pub branch: f64,
    /// Ticks of the records' time stamps in a nanosecond.
    pub ticks_per_ns: f64,
}

/// Estimated totals.
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    /// Executions of branches.
    pub branches: BTreeMap<Place, f64>,
    /// Misses of loads.
    pub misses: BTreeMap<Place, f64>,
    /// Executions of loads.
    pub loads: BTreeMap<Place, f64>,
    /// Values passed by value sites.
    pub values: BTreeMap<ValuePlace, f64>,
    /// Records of each event: 3, 4, 1.
    pub records: [u64; 3],
}

/// One burst.
#[derive(Clone, Debug, Default)]
struct Burst {
    function: (u64, u32),
    /// The loop it began at.
    at: u32,
    loads_timed: bool,
    ended: f64,
    waited: f64,
    window: f64,
    rounds: f64,
    branches: BTreeMap<Place, f64>,
    misses: BTreeMap<Place, f64>,
    loads: BTreeMap<Place, f64>,
    values: BTreeMap<ValuePlace, f64>,
}

#[derive(Default)]
struct Collected {
    open: BTreeMap<RingId, Burst>,
    bursts: Vec<Burst>,
    tier1: BTreeMap<ValuePlace, f64>,
    /// Time of the first record of each function, and of the last of all; nanoseconds.
    first: BTreeMap<(u64, u32), f64>,
    last: f64,
    records: [u64; 3],
}

struct Collector {
    rates: Rates,
    to: Arc<Mutex<Collected>>,
}

impl Listener for Collector {
    fn hot(&mut self, _event: &Hot) {}

    fn wants_records(&self) -> bool {
        true
    }

    fn record(&mut self, ring: RingId, record: &Record, resolved: Option<&Resolved>) {
        let Some(resolved) = resolved else { return };
        let mut collected = self.to.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let collected = &mut *collected;
        let function = (resolved.function.module, resolved.function.func);
        let place = (function.0, function.1, resolved.wasm_offset);
        let now = record.tsc() as f64 / self.rates.ticks_per_ns;
        collected.first.entry(function).or_insert(now);
        collected.last = collected.last.max(now);
        let class = SiteClass::from_imm16(record.flags());
        let burst = collected.open.entry(ring).or_default();
        match record.event_id() {
            EventId::VALUE => {
                let Some((class, detail)) = class else { return };
                collected.records[2] += 1;
                let site = (place, class, detail);
                if resolved.tier == Tier::Instrumented {
                    *burst.values.entry(site).or_default() += self.rates.burst_value;
                } else {
                    *collected.tier1.entry(site).or_default() += self.rates.value;
                }
            }
            EventId::BRANCHES => {
                collected.records[0] += 1;
                *burst.branches.entry(place).or_default() += self.rates.branch;
            }
            EventId::DCACHE => {
                collected.records[1] += 1;
                *burst.misses.entry(place).or_default() += 1.0;
            }
            EventId::PROGRAMMED => match class {
                Some((SiteClass::BurstLoad, _)) => *burst.loads.entry(place).or_default() += record.data2() as f64,
                Some((SiteClass::BurstWindow, kind)) => {
                    burst.loads_timed = kind == 1;
                    burst.waited = f64::from(record.data1()) * 1e3;
                    burst.window = record.data2() as f64;
                }
                Some((SiteClass::BurstEnd, _)) => {
                    let mut burst = std::mem::take(burst);
                    burst.function = function;
                    burst.at = resolved.wasm_offset;
                    burst.ended = now;
                    burst.rounds = f64::from(record.data1()).max(1.0);
                    if burst.window > 0.0 {
                        collected.bursts.push(burst);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
}

/// Estimates a run's totals from its record file.
pub fn estimate(input: impl Read, rates: Rates) -> Result<Estimate, RecordFileError> {
    let collected = Arc::new(Mutex::new(Collected::default()));
    let listener = Collector { rates, to: collected.clone() };
    let summary = recordfile::replay(input, Arc::new(Profile::new(ProfileLimits::default())), Box::new(listener))?;
    if let Some(error) = summary.error {
        return Err(error);
    }
    let mut collected = std::mem::take(&mut *collected.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    collected.bursts.sort_by(|a, b| a.ended.total_cmp(&b.ended));
    Ok(extrapolate(&collected))
}

fn add<K: Ord + Copy>(to: &mut BTreeMap<K, f64>, from: &BTreeMap<K, f64>, weight: f64) {
    for (&key, count) in from {
        *to.entry(key).or_default() += count * weight;
    }
}

fn extrapolate(collected: &Collected) -> Estimate {
    let mut estimate = Estimate { records: collected.records, values: collected.tier1.clone(), ..Estimate::default() };
    // Time that each burst of branches stands for.
    let mut before: BTreeMap<(u64, u32), f64> = collected.first.clone();
    let mut latest: BTreeMap<(u64, u32), (usize, f64)> = BTreeMap::new();
    let mut spans: Vec<f64> = vec![0.0; collected.bursts.len()];
    for (index, burst) in collected.bursts.iter().enumerate().filter(|(_, burst)| !burst.loads_timed) {
        let before = before.entry(burst.function).or_insert(burst.ended - burst.window);
        // A shorter wait says nothing: another loop of the function may have taken the question back.
        let idle = if burst.waited >= NOT_RUNNING_NS { burst.waited } else { 0.0 };
        let span = (burst.ended - *before - idle).max(burst.window);
        spans[index] = span;
        latest.insert(burst.function, (index, span));
        *before = burst.ended;
    }
    // The last one's rates hold until the end, but not longer than they held before: the function may not have run any more.
    for (function, (index, span)) in latest {
        spans[index] += (collected.last - before[&function]).clamp(0.0, span);
    }
    // Estimated rounds, by loop that bursts began at, per round seen in bursts.
    let mut rounds: BTreeMap<((u64, u32), u32), f64> = BTreeMap::new();
    for (burst, span) in collected.bursts.iter().zip(&spans).filter(|(burst, _)| !burst.loads_timed) {
        let weight = span / burst.window;
        add(&mut estimate.branches, &burst.branches, weight);
        add(&mut estimate.values, &burst.values, weight);
        *rounds.entry((burst.function, burst.at)).or_default() += burst.rounds * weight;
    }
    // Loads per round, times rounds. Of a loop without a burst of branches a timed load takes some ten times as long as it would.
    let mut timed: BTreeMap<((u64, u32), u32), f64> = BTreeMap::new();
    for burst in collected.bursts.iter().filter(|burst| burst.loads_timed) {
        *timed.entry((burst.function, burst.at)).or_default() += burst.rounds;
    }
    for burst in collected.bursts.iter().filter(|burst| burst.loads_timed) {
        let key = (burst.function, burst.at);
        let weight = rounds.get(&key).copied().unwrap_or(timed[&key]) / timed[&key];
        add(&mut estimate.misses, &burst.misses, weight);
        add(&mut estimate.loads, &burst.loads, weight);
    }
    estimate
}

/// Sum of the smaller shares, 0 to 1. `None` where one of the two has nothing.
pub fn overlap<K: Ord>(full: &BTreeMap<K, f64>, sample: &BTreeMap<K, f64>) -> Option<f64> {
    let (all, sampled): (f64, f64) = (full.values().sum(), sample.values().sum());
    (all > 0.0 && sampled > 0.0)
        .then(|| full.iter().map(|(key, count)| (count / all).min(sample.get(key).map_or(0.0, |count| count / sampled))).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_the_sum_of_the_smaller_shares() {
        let full = BTreeMap::from([(1, 50.0), (2, 30.0), (3, 20.0)]);
        assert_eq!(overlap(&full, &full), Some(1.0));
        // Arnold and Ryder: only shares count, and what the sample never saw is lost.
        let sample = BTreeMap::from([(1, 5.0), (2, 5.0)]);
        assert!((overlap(&full, &sample).unwrap() - 0.8).abs() < 1e-12);
        assert_eq!(overlap(&full, &BTreeMap::from([(9, 1.0)])), Some(0.0));
        assert_eq!(overlap(&full, &BTreeMap::new()), None);
    }

    fn burst(function: u32, ended: f64, waited: f64, branches: f64) -> Burst {
        let place = (7, function, 1);
        Burst {
            function: (7, function),
            at: 1,
            ended,
            waited,
            window: 10.0,
            rounds: branches,
            branches: BTreeMap::from([(place, branches)]),
            ..Burst::default()
        }
    }

    #[test]
    fn rates_are_weighted_by_the_time_they_hold() {
        // Two functions that run all the time at the same rate; one gets ten times as many bursts.
        let mut collected = Collected { last: 1000.0, ..Collected::default() };
        collected.first = BTreeMap::from([((7, 1), 0.0), ((7, 2), 0.0)]);
        collected.bursts = (1..=10).map(|nth| burst(1, f64::from(nth) * 100.0, 0.0, 5.0)).collect();
        collected.bursts.push(burst(2, 1000.0, 0.0, 5.0));
        let estimate = extrapolate(&collected);
        assert_eq!(estimate.branches[&(7, 1, 1)], 500.0);
        assert_eq!(estimate.branches[&(7, 2, 1)], 500.0);
        // One that was waited for did not run meanwhile.
        collected.last = 1e9;
        collected.bursts = vec![burst(1, 0.5e9, 0.4e9, 5.0), burst(1, 1e9, 0.0, 5.0)];
        assert_eq!(extrapolate(&collected).branches[&(7, 1, 1)], 0.05e9 + 0.25e9);
    }

    #[test]
    fn loads_are_counted_per_round() {
        let mut collected = Collected { last: 100.0, ..Collected::default() };
        collected.first = BTreeMap::from([((7, 1), 0.0)]);
        let loads = Burst { loads_timed: true, misses: BTreeMap::from([((7, 1, 9), 20.0)]), ..burst(1, 90.0, 0.0, 10.0) };
        // 10 rounds in a window of 10 ns, so 100 in all; two misses a round.
        collected.bursts = vec![loads, burst(1, 100.0, 0.0, 10.0)];
        assert_eq!(extrapolate(&collected).misses[&(7, 1, 9)], 200.0);
    }
}
