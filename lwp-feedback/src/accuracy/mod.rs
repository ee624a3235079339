//! How much of the truth samples hold: from a run's records to estimated totals by site, and their overlap with exact counts.
//!
//! **Overlap** is Arnold and Ryder's (*A framework for reducing the cost of instrumented code*, PLDI 2001, section 4.1): the sum over all sites of the
//! smaller of its share in the full profile and its share in the sampled one. 1 is the same distribution; what one of the two never saw contributes nothing.
//!
//! **Totals.** The unit is the *round*: a call of a function, or a back edge of one of its loops. The interpreter and tier 1 count rounds, all of them; hot
//! records carry the counts, and what no record says yet stands in the countdowns ([`Rates::uncounted`]). Tier 2 counts nothing. There they are estimated from
//! *joint* bursts, in which all instrumented code takes part and which begin at moments that the program has no part in: each stands for the time since
//! the one before, less what nobody came in; a function's rounds in it divided by the time that what it saw takes in ordinary code ([`natural_ns`]) are the rate then. A function's rounds in tier 2 are its mean rate
//! since its instrumented code was there, times the time since its tier-2 code was there. Of one without instrumented code the rate in tier 1 is taken, times what
//! tier 2 made of the rates of those that have some, for as long again as it had been in tier 1.
//!
//! Where the clocks were on (events 5 and 6), what bursts stand for and what functions' work takes are fitted to the time that they saw in each function ([`fit`]): bursts are some ten a second and see one
//! phase each, the clocks' records are a hundred.
//!
//! **From rounds to events.** Bursts say how many events of each site come with a round of their function. Times the function's rounds, that
//! is the site's total: of branches and of values outside tier 1 best from bursts that only count (of others the first branches train the model and leave no
//! record), each burst weighted by the time that it stands for; and of misses, for which the bursts are those that time loads.
//!
//! **Values in tier 1** are counted by their own records, each of which stands for EventInterval1 and half its random bits; where the monitor changes the
//! interval, the ring says so. A function that no burst saw has its values in the interpreter as it has them in tier 1.
#![forbid(unsafe_code)]

mod fit;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use crate::class::{BURST_SITE_TRANSFER, SiteClass, burst_window};
use crate::codemap::{CodeMap, Resolved, Tier};
use crate::layout::{EventId, Record};
use crate::monitor::RingId;
use crate::record::OUTCOME_UNKNOWN;
use crate::recordfile::{Chunk, RecordFileError, RecordReader};
use crate::ring::ValueSampling;

/// A place in a program: module hash, function, byte offset of the operator.
pub type Place = (u64, u32, u32);
/// A value site: its place, class and detail.
pub type ValuePlace = (Place, SiteClass, u8);

/// How records were sampled.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    /// EventInterval1 at the beginning, and the random bits that replace its low ones.
    pub interval1: u32,
    /// See `interval1`.
    pub random_bits: u8,
    /// Branches that a record stands for.
    pub branch: f64,
    /// Ticks of the records' time stamps in a nanosecond.
    pub ticks_per_ns: f64,
    /// Rounds that the run's end left in countdowns, by module hash and function.
    pub uncounted: BTreeMap<(u64, u32), u64>,
}

impl Rates {
    /// Events that an LWPVAL record stands for.
    fn value(&self, interval: u32) -> f64 {
        ValueSampling { interval, random_bits: self.random_bits.into() }.mean()
    }
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

type Function = (u64, u32);

/// One burst.
#[derive(Clone, Debug, Default)]
struct Burst {
    loads_timed: bool,
    joint: bool,
    /// It only counted, but all of it.
    counted: bool,
    /// What is not in it hardly ran, whether its instrumented form was there or not.
    followed: bool,
    ended: f64,
    waited: f64,
    window: f64,
    /// What it stands for by the clocks, times the time since the one before, less 1.
    stands_for_more: f64,
    rounds: BTreeMap<Function, f64>,
    branches: BTreeMap<Place, f64>,
    misses: BTreeMap<Place, f64>,
    loads: BTreeMap<Place, f64>,
    values: BTreeMap<ValuePlace, f64>,
    /// The same, where it only counted.
    counted_values: BTreeMap<ValuePlace, f64>,
}

#[derive(Default)]
struct Collected {
    open: BTreeMap<RingId, Burst>,
    /// EventInterval1 of each ring that changed it.
    intervals: BTreeMap<RingId, u32>,
    bursts: Vec<Burst>,
    /// Values that sites in tier 1 passed.
    tier1: BTreeMap<ValuePlace, f64>,
    /// Rounds counted by the interpreter, and by tier 1.
    counted: BTreeMap<Function, [f64; 2]>,
    /// When tier-1 code of a function was there, instrumented code, and tier-2 code; nanoseconds.
    baseline: BTreeMap<Function, f64>,
    instrumented: BTreeMap<Function, f64>,
    optimized: BTreeMap<Function, f64>,
    /// Time of the latest record.
    last: f64,
    records: [u64; 3],
    /// Of each branch: judged executions, and those mispredicted.
    judged: BTreeMap<Place, [f64; 2]>,
    /// Records of the clocks in a function's tier-2 code.
    ticks: BTreeMap<Function, f64>,
    /// What a function's work takes by the clocks, times what [`work_ns`] says; 1 where nothing is known.
    factors: BTreeMap<Function, f64>,
}

impl Collected {
    fn record(&mut self, rates: &Rates, ring: RingId, record: &Record, resolved: Option<&Resolved>) {
        let Some(resolved) = resolved else { return };
        let function = (resolved.function.module, resolved.function.func);
        let place = (function.0, function.1, resolved.wasm_offset);
        let now = record.tsc() as f64 / rates.ticks_per_ns;
        self.last = self.last.max(now);
        let class = SiteClass::from_imm16(record.flags());
        let burst = self.open.entry(ring).or_default();
        match record.event_id() {
            EventId::VALUE => {
                let Some((class, detail)) = class else { return };
                let detail = if class == SiteClass::TripCount { 0 } else { detail };
                self.records[2] += 1;
                let site = (place, class, detail);
                if resolved.tier == Tier::Instrumented {
                    *burst.values.entry(site).or_default() += ValueSampling::BURST.mean();
                } else {
                    let interval = self.intervals.get(&ring).copied().unwrap_or(rates.interval1);
                    *self.tier1.entry(site).or_default() += rates.value(interval);
                }
            }
            // (mispredictions alone say nothing of how often a branch was executed)
            EventId::BRANCHES if record.flags() & OUTCOME_UNKNOWN != 0 => {}
            EventId::BRANCHES => {
                self.records[0] += 1;
                *burst.branches.entry(place).or_default() += rates.branch;
                let judged = self.judged.entry(place).or_default();
                judged[0] += 1.0;
                judged[1] += f64::from(u8::from(record.flags() & 1 << 14 == 0));
            }
            event if event.is_clock() && resolved.tier == Tier::Optimizing => {
                *self.ticks.entry(function).or_default() += 1.0;
            }
            EventId::DCACHE => {
                self.records[1] += 1;
                *burst.misses.entry(place).or_default() += 1.0;
            }
            EventId::PROGRAMMED => match class {
                Some((SiteClass::HotFunction | SiteClass::HotLoop, _)) => {
                    let tier = match resolved.tier {
                        Tier::Interpreter => 0,
                        Tier::Baseline => 1,
                        // Counted for a measure or a trial, whose time is in the estimate.
                        Tier::Instrumented | Tier::Optimizing => return,
                    };
                    self.counted.entry(function).or_default()[tier] += record.data2() as f64;
                }
                Some((SiteClass::ValueRate, _)) => _ = self.intervals.insert(ring, u32::try_from(record.data2()).unwrap_or(u32::MAX)),
                Some((SiteClass::BurstLoad, _)) => *burst.loads.entry(place).or_default() += record.data2() as f64,
                Some((SiteClass::BurstRounds, _)) => *burst.rounds.entry(function).or_default() += record.data2() as f64,
                Some((SiteClass::BurstWindow, detail)) => {
                    let is = |bit: u8| detail & bit != 0;
                    (burst.loads_timed, burst.joint) = (is(burst_window::TIMED), is(burst_window::JOINT));
                    burst.waited = f64::from(record.data1()) * 1e3;
                    burst.window = record.data2() as f64;
                    burst.counted = is(burst_window::COUNTED);
                    burst.followed = is(burst_window::FOLLOWED);
                    if burst.counted {
                        let mut burst = std::mem::take(burst);
                        burst.values = std::mem::take(&mut burst.counted_values);
                        self.bursts.push(Burst { ended: now, ..burst });
                    }
                }
                Some((SiteClass::BurstSite, detail)) => {
                    let passed = f64::from(record.data2() as u32);
                    if detail & BURST_SITE_TRANSFER != 0 {
                        *burst.branches.entry(place).or_default() += passed;
                    }
                    if let Some((class, detail)) = SiteClass::from_imm16(record.data1() as u16) {
                        *burst.counted_values.entry((place, class, detail)).or_default() += passed;
                    }
                }
                Some((SiteClass::BurstEnd, _)) => {
                    let mut burst = std::mem::take(burst);
                    burst.ended = now;
                    if burst.window > 0.0 {
                        self.bursts.push(burst);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
}

/// Estimates a run's totals from its record file.
pub fn estimate(input: impl Read, rates: &Rates) -> Result<Estimate, RecordFileError> {
    let (code, mut collected) = (CodeMap::new(), Collected::default());
    for chunk in RecordReader::new(input)? {
        match chunk? {
            Chunk::Code(range, entry) => {
                let function = (entry.function.module, entry.function.func);
                let since = match entry.tier {
                    Tier::Instrumented => Some(&mut collected.instrumented),
                    Tier::Optimizing => Some(&mut collected.optimized),
                    Tier::Baseline => Some(&mut collected.baseline),
                    Tier::Interpreter => None,
                };
                let now = collected.last;
                if let Some(since) = since {
                    since.entry(function).or_insert(now);
                }
                code.forget(&range);
                code.insert(range, (*entry).clone()).expect("the range is free, and the reader checked it");
            }
            Chunk::Gone(range) => code.forget(&range),
            Chunk::Records { ring, records } => {
                for record in &records {
                    collected.record(rates, RingId(ring), record, code.resolve_record(record).as_ref());
                }
            }
            Chunk::Note(_) | Chunk::Missed { .. } => {}
        }
    }
    collected.bursts.sort_by(|a, b| a.ended.total_cmp(&b.ended));
    collected.fit_to_clocks();
    Ok(extrapolate(&collected, rates))
}

/// Rounds of a function in joint bursts below which the others are looked at too: those look at one loop of it.
const ENOUGH_ROUNDS: f64 = 256.0;

/// The same of bursts that count: they miss nothing of what comes with a round, where the first branches of others leave no record (of `tree_interpreter`, whose functions
/// have some 100 rounds in a run's bursts, 77 % of the branches with as many as of those, 96 with these).
const ENOUGH_COUNTED_ROUNDS: f64 = 16.0;

/// Joint bursts that only counted from which on rates are taken from those alone. A guess.
const ENOUGH_COUNTED: usize = 8;

/// What bursts of one kind said of a function.
#[derive(Default)]
struct Seen {
    /// As they were.
    counted: f64,
    /// These and all below weighted by what their bursts stand for.
    rounds: f64,
    branches: BTreeMap<Place, f64>,
    misses: BTreeMap<Place, f64>,
    loads: BTreeMap<Place, f64>,
    values: BTreeMap<ValuePlace, f64>,
}

/// By function: what bursts that satisfy `wanted` saw. Where these are samples of the run's time, each counts as often as its work was done in the time that it
/// stands for: of two phases of a function, of which one goes ten times as fast, a window sees as many rounds of either.
fn seen_by(collected: &Collected, samples: bool, wanted: impl Fn(&Burst) -> bool) -> BTreeMap<Function, Seen> {
    let mut all: BTreeMap<Function, Seen> = BTreeMap::new();
    let mut before = None;
    for burst in collected.bursts.iter().filter(|burst| wanted(burst)) {
        let span = span_of(burst, &mut before);
        let weight = if samples { span / natural_ns(burst, collected).max(1.0) } else { 1.0 };
        for (&function, rounds) in &burst.rounds {
            let seen = all.entry(function).or_default();
            seen.counted += rounds;
            seen.rounds += rounds * weight;
        }
        let of = |place: Place| (place.0, place.1);
        for (&place, count) in &burst.branches {
            *all.entry(of(place)).or_default().branches.entry(place).or_default() += count * weight;
        }
        for (&place, count) in &burst.misses {
            *all.entry(of(place)).or_default().misses.entry(place).or_default() += count * weight;
        }
        for (&place, count) in &burst.loads {
            *all.entry(of(place)).or_default().loads.entry(place).or_default() += count * weight;
        }
        for (&site, count) in &burst.values {
            *all.entry(of(site.0)).or_default().values.entry(site).or_default() += count * weight;
        }
    }
    all
}

/// Time that a branch and the work that comes with it take in tier 2, ns: five operators at three a cycle and 3 GHz. What matters is how it compares with
/// [`MISPREDICTED_NS`]; both together are within a factor of two of what the programs of the suite take.
const BRANCH_NS: f64 = 0.5;
/// What a mispredicted one takes more, ns: 15 to 20 cycles on today's processors.
const MISPREDICTED_NS: f64 = 5.0;

/// What a burst's window would have taken in ordinary code, ns. Its own time would not do: instrumented code takes as long for what is cheap in tier 2 as for what is
/// dear, so that of two phases the one whose branches are mispredicted looked twice as busy as it was. Nor does what the window has beyond that say anything: the instrumented code is cold.
fn natural_ns(burst: &Burst, collected: &Collected) -> f64 {
    let factor = |function: &Function| collected.factors.get(function).copied().unwrap_or(1.0);
    let work: f64 = work_ns(burst, &collected.judged).iter().map(|(function, ns)| ns * factor(function)).sum();
    work.min(burst.window)
}

/// The same by function, if all work took what its branches say.
fn work_ns(burst: &Burst, judged: &BTreeMap<Place, [f64; 2]>) -> BTreeMap<Function, f64> {
    let mispredicted = |place: &Place| judged.get(place).map_or(0.0, |[all, wrong]| wrong / all);
    let mut work: BTreeMap<Function, f64> = BTreeMap::new();
    for (place, count) in &burst.branches {
        *work.entry((place.0, place.1)).or_default() += count * (BRANCH_NS + MISPREDICTED_NS * mispredicted(place));
    }
    for (&function, rounds) in &burst.rounds {
        let work = work.entry(function).or_default();
        *work = work.max(rounds * BRANCH_NS);
    }
    work
}

/// The time that a burst stands for, ns: since the one before, whose end is in `before`, less what nobody came in; more or less by the clocks.
fn span_of(burst: &Burst, before: &mut Option<f64>) -> f64 {
    let since = before.replace(burst.ended).unwrap_or(burst.ended - burst.window);
    // Whoever is waited for was away as long before it was asked, in the mean.
    (burst.ended - since - 2.0 * burst.waited).max(burst.window) * (1.0 + burst.stands_for_more)
}

/// Rounds per nanosecond of each function, from joint bursts of branches since its tier-2 and its instrumented code were there.
fn rates_in_time(collected: &Collected) -> BTreeMap<Function, f64> {
    let mut sums: BTreeMap<Function, (f64, f64)> = BTreeMap::new();
    let of = |counted: bool| collected.bursts.iter().filter(move |burst| burst.joint && !burst.loads_timed && (burst.counted || !counted));
    // Of the others the first branches train the model and leave no record, so their work looks like half of what it is.
    let enough = of(true).count() >= ENOUGH_COUNTED;
    let joint: Vec<&Burst> = of(enough).collect();
    let mut before = None;
    for burst in joint {
        let span = span_of(burst, &mut before);
        let natural = natural_ns(burst, collected);
        for (function, ready) in &collected.instrumented {
            // (A form that was made in a burst because it was called there, and counted from then on, makes that burst one of few: functions of a thousandth of a run's branches had half of them. Of what
            // the monitor made, for it takes long, bursts without it count too, and its rate is too low by their part.)
            let since = match collected.optimized.get(function) {
                Some(&optimized) if burst.followed => optimized,
                optimized => ready.max(optimized.copied().unwrap_or(0.0)),
            };
            if burst.ended >= since {
                let sum = sums.entry(*function).or_default();
                sum.0 += burst.rounds.get(function).copied().unwrap_or(0.0) / natural.max(1.0) * span;
                sum.1 += span;
            }
        }
    }
    sums.into_iter().filter(|(_, (_, time))| *time > 0.0).map(|(function, (rounds, time))| (function, rounds / time)).collect()
}

/// Records of the clocks from which on they are believed. A guess: of 32 the chance is a fifth.
const ENOUGH_TICKS: f64 = 32.0;
/// Functions that are fitted one by one, those with the most of the clocks' records; the others have one factor. The fit takes the cube of it, and the time that matters is spent in fewer.
const MOST_FITTED: usize = 64;

impl Collected {
    /// Fits what joint bursts stand for and what functions' work takes to the time that the clocks saw in each function.
    fn fit_to_clocks(&mut self) {
        let since = self.optimized.values().copied().fold(f64::INFINITY, f64::min);
        let used = |burst: &Burst| burst.joint && burst.counted && burst.ended >= since;
        let (bursts, work): (Vec<usize>, Vec<BTreeMap<Function, f64>>) =
            self.bursts.iter().enumerate().filter(|(_, burst)| used(burst)).map(|(at, burst)| (at, work_ns(burst, &self.judged))).unzip();
        let ticks = |function: &Function| self.ticks.get(function).copied().unwrap_or(0.0);
        let seen: BTreeSet<Function> = work.iter().flat_map(BTreeMap::keys).copied().collect();
        let mut functions: Vec<Function> = seen.into_iter().collect();
        functions.sort_by(|a, b| ticks(b).total_cmp(&ticks(a)));
        let mut group_ticks: Vec<f64> = functions.iter().map(ticks).collect();
        if bursts.len() < ENOUGH_COUNTED || group_ticks.iter().sum::<f64>() < ENOUGH_TICKS {
            return;
        }
        let others: f64 = group_ticks.iter().skip(MOST_FITTED - 1).sum();
        if functions.len() > MOST_FITTED {
            group_ticks.truncate(MOST_FITTED - 1);
            group_ticks.push(others);
        }
        let groups: BTreeMap<Function, usize> =
            functions.iter().enumerate().map(|(at, &function)| (function, at.min(MOST_FITTED - 1))).collect();
        let mut before = None;
        let windows: Vec<fit::Window> = bursts
            .iter()
            .zip(&work)
            .map(|(&at, work)| {
                let mut by_group = vec![0.0; group_ticks.len()];
                work.iter().for_each(|(function, ns)| by_group[groups[function]] += ns);
                fit::Window { span: span_of(&self.bursts[at], &mut before), work: by_group }
            })
            .collect();
        let fit::Fit { factors, stands_for } = fit::fit(&windows, &group_ticks);
        for (at, stands_for) in bursts.into_iter().zip(stands_for) {
            self.bursts[at].stands_for_more = stands_for - 1.0;
        }
        self.factors = groups.into_iter().map(|(function, group)| (function, factors[group])).collect();
    }
}

/// Rounds per nanosecond in tier 1, of functions that went on to tier 2.
fn rates_before(collected: &Collected) -> BTreeMap<Function, f64> {
    let before = collected.optimized.iter().filter_map(|(function, until)| {
        let since = collected.baseline.get(function)?;
        let [_, rounds] = collected.counted.get(function)?;
        (until > since && *rounds > 0.0).then(|| (*function, rounds / (until - since)))
    });
    before.collect()
}

fn extrapolate(collected: &Collected, rates: &Rates) -> Estimate {
    let mut estimate = Estimate { records: collected.records, ..Estimate::default() };
    let mut in_time = rates_in_time(collected);
    let before = rates_before(collected);
    let both = before.iter().filter_map(|(function, rate)| Some((in_time.get(function)?, rate)));
    let (after_sum, before_sum) = both.fold((0.0, 0.0), |(after, sum), (new, old)| (after + new, sum + old));
    let faster = if after_sum > 0.0 && before_sum > 0.0 { after_sum / before_sum } else { 1.0 };
    // How long it went on is not known. As long again as it had lasted, in the median: what keeps running gets instrumented code sooner or later.
    let mut lasts: BTreeMap<Function, f64> = BTreeMap::new();
    for (function, rate) in before {
        if let Entry::Vacant(unseen) = in_time.entry(function) {
            unseen.insert(rate * faster);
            lasts.insert(function, collected.optimized[&function] - collected.baseline[&function]);
        }
    }
    // Of branches, best what was only counted: of others the first ones train the model and leave no record.
    let counted = seen_by(collected, true, |burst| burst.counted && burst.joint);
    let kinds = [false, true].map(|loads| {
        // (how long a window's work would take where nothing is timed is not known of those that time)
        [true, false].map(|jointly| {
            seen_by(collected, jointly && !loads, |burst| !burst.counted && burst.loads_timed == loads && (burst.joint || !jointly))
        })
    });
    let seen = |loads: bool, function: &Function| {
        let [joint, all] = &kinds[usize::from(loads)];
        let counted = counted.get(function).filter(|_| !loads);
        let best = counted.filter(|seen| seen.counted >= ENOUGH_COUNTED_ROUNDS);
        let best = best.or(joint.get(function).filter(|seen| seen.counted >= ENOUGH_ROUNDS)).or(all.get(function)).or(counted);
        best.filter(|seen| seen.rounds > 0.0)
    };
    let mut tier1: BTreeMap<Function, Vec<(ValuePlace, f64)>> = BTreeMap::new();
    for (&site, &count) in &collected.tier1 {
        tier1.entry((site.0.0, site.0.1)).or_default().push((site, count));
    }
    let all = collected.counted.keys().chain(rates.uncounted.keys()).chain(tier1.keys()).chain(collected.instrumented.keys());
    for function in all.copied().collect::<BTreeSet<Function>>() {
        let [mut interpreted, mut baseline] = collected.counted.get(&function).copied().unwrap_or_default();
        let left = rates.uncounted.get(&function).copied().unwrap_or(0) as f64;
        // Hot in the interpreter, so it is compiled.
        *(if interpreted > 0.0 { &mut baseline } else { &mut interpreted }) += left;
        let since = collected.optimized.get(&function).map_or(0.0, |since| (collected.last - since).max(0.0));
        let since = lasts.get(&function).map_or(since, |&lasts| since.min(lasts));
        let rate = in_time.get(&function).copied().unwrap_or(0.0);
        let optimized = match collected.instrumented.get(&function) {
            // What its callers inlined has no code of its own in tier 2, and runs there all the same. (What runs in tier 1 is counted there.)
            Some(ready) if since == 0.0 => (rate * (collected.last - ready) - interpreted - baseline).max(0.0),
            _ => rate * since,
        };
        let rounds = interpreted + baseline + optimized;
        let own = tier1.get(&function).map_or(&[][..], Vec::as_slice);
        let branches = seen(false, &function);
        for &(site, count) in own {
            // Bursts that begin within a loop do not see how often it runs.
            let seen = branches
                .is_some_and(|seen| if site.1 == SiteClass::TripCount { seen.values.contains_key(&site) } else { !seen.values.is_empty() });
            let elsewhere = if !seen && baseline > 0.0 { count * (interpreted + optimized) / baseline } else { 0.0 };
            *estimate.values.entry(site).or_default() += count + elsewhere;
        }
        if let Some(seen) = branches {
            for (&place, count) in &seen.branches {
                estimate.branches.insert(place, count / seen.rounds * rounds);
            }
            for (&site, count) in &seen.values {
                *estimate.values.entry(site).or_default() += count / seen.rounds * (interpreted + optimized);
            }
        }
        if let Some(seen) = seen(true, &function) {
            for (&place, count) in &seen.misses {
                estimate.misses.insert(place, count / seen.rounds * rounds);
            }
            for (&place, count) in &seen.loads {
                estimate.loads.insert(place, count / seen.rounds * rounds);
            }
        }
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
    use std::sync::Arc;

    use super::*;
    use crate::codemap::{CodeEntry, FunctionId};
    use crate::recordfile::RecordWriter;

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

    const FUNCTION: Function = (7, 1);

    fn burst(joint: bool, ended: f64, rounds: f64, branches: f64) -> Burst {
        let (window, branch) = (10.0, BTreeMap::from([((7, 1, 1), branches)]));
        Burst { joint, ended, window, rounds: BTreeMap::from([(FUNCTION, rounds)]), branches: branch, ..Burst::default() }
    }

    #[test]
    fn rounds_are_counted_below_tier_2_and_estimated_in_it() {
        let mut collected = Collected { last: 1000.0, ..Collected::default() };
        collected.counted = BTreeMap::from([(FUNCTION, [30.0, 50.0])]);
        collected.instrumented = BTreeMap::from([(FUNCTION, 0.0)]);
        // Bursts at one loop say what a round is like, not how many there are.
        collected.bursts = (1..=10).map(|nth| burst(false, f64::from(nth) * 100.0, 20.0, 40.0)).collect();
        let rates = Rates { uncounted: BTreeMap::from([(FUNCTION, 20)]), ..Rates::default() };
        assert_eq!(extrapolate(&collected, &rates).branches[&(7, 1, 1)], 200.0);
        // In tier 2 for the second half, and then in half of the joint bursts, 20 rounds in 10 ns.
        collected.optimized = BTreeMap::from([(FUNCTION, 500.0)]);
        collected
            .bursts
            .extend([(600.0, 20.0), (800.0, 0.0), (1000.0, 20.0), (1200.0, 0.0)].map(|(at, rounds)| burst(true, at, rounds, 2.0 * rounds)));
        let spans = 10.0 + 3.0 * 200.0;
        let rate = 2.0 * (10.0 + 200.0) / spans;
        let branches = extrapolate(&collected, &rates).branches[&(7, 1, 1)];
        assert!((branches - 2.0 * (100.0 + rate * 500.0)).abs() < 1e-9, "{branches}");
    }

    #[test]
    fn what_was_counted_before_a_first_compile_is_no_sample_of_the_run() {
        let mut collected = Collected { last: 1000.0, ..Collected::default() };
        collected.counted = BTreeMap::from([(FUNCTION, [30.0, 0.0])]);
        collected.bursts = (1..=10).map(|nth| Burst { counted: true, ..burst(true, f64::from(nth) * 100.0, 20.0, 40.0) }).collect();
        let of_bursts = |collected: &Collected| extrapolate(collected, &Rates::default()).branches[&(7, 1, 1)];
        let before = of_bursts(&collected);
        collected.bursts.insert(5, Burst { counted: true, ..burst(false, 550.0, 20.0, 400.0) });
        assert_eq!(of_bursts(&collected), before);
    }

    #[test]
    fn a_window_stands_for_what_its_work_takes_in_ordinary_code() {
        let place = (7, 1, 1);
        let seen = Burst { window: 30e3, ..burst(true, 0.0, 1000.0, 2000.0) };
        let judged = |wrong: f64| Collected { judged: BTreeMap::from([(place, [1000.0, wrong])]), ..Collected::default() };
        let predicted = natural_ns(&seen, &Collected::default());
        assert_eq!(predicted, natural_ns(&seen, &judged(0.0)));
        assert_eq!(natural_ns(&seen, &judged(500.0)), predicted + 2000.0 * 0.5 * MISPREDICTED_NS);
        // However long the code took that nobody saw, and never more than the window.
        assert_eq!(natural_ns(&Burst { window: 1e6, ..seen.clone() }, &judged(0.0)), predicted);
        assert_eq!(natural_ns(&Burst { window: 100.0, ..seen }, &judged(1000.0)), 100.0);
    }

    #[test]
    fn the_clocks_say_what_windows_of_two_phases_stand_for() {
        let other = (7, 2);
        let of_other =
            |burst: Burst| Burst { rounds: BTreeMap::from([(other, 20.0)]), branches: BTreeMap::from([((7, 2, 1), 40.0)]), ..burst };
        let mut collected = Collected { last: 3700.0, ..Collected::default() };
        (collected.instrumented, collected.optimized) =
            (BTreeMap::from([(FUNCTION, 0.0), (other, 0.0)]), BTreeMap::from([(FUNCTION, 0.0), (other, 0.0)]));
        // By chance a third of the windows, where the clocks say that it is half of the time.
        collected.bursts = (1..=36)
            .map(|nth| (nth, Burst { counted: true, ..burst(true, f64::from(nth) * 100.0, 20.0, 40.0) }))
            .map(|(nth, burst)| if nth % 3 == 0 { burst } else { of_other(burst) })
            .collect();
        let shares = |collected: &Collected| {
            let branches = extrapolate(collected, &Rates::default()).branches;
            branches[&(7, 1, 1)] / branches[&(7, 2, 1)]
        };
        let by_windows = shares(&collected);
        assert!((0.45..0.55).contains(&by_windows), "{by_windows}");
        collected.ticks = BTreeMap::from([(FUNCTION, 10.0), (other, 10.0)]);
        collected.fit_to_clocks();
        assert_eq!(shares(&collected), by_windows, "too few to be believed");
        collected.ticks = BTreeMap::from([(FUNCTION, 200.0), (other, 200.0)]);
        collected.fit_to_clocks();
        let by_clocks = shares(&collected);
        assert!((0.93..1.05).contains(&by_clocks), "{by_clocks}");
    }

    #[test]
    fn what_all_callers_have_inlined_runs_in_their_code() {
        let mut collected = Collected { last: 1000.0, ..Collected::default() };
        collected.counted = BTreeMap::from([(FUNCTION, [30.0, 0.0])]);
        collected.bursts = (1..=10).map(|nth| burst(true, f64::from(nth) * 100.0, 20.0, 40.0)).collect();
        let total = |collected: &Collected| extrapolate(collected, &Rates::default()).branches[&(7, 1, 1)];
        assert_eq!(total(&collected), 2.0 * 30.0);
        // Two rounds a nanosecond since there is instrumented code of it, the counted ones among them, though there is none of tier 2.
        collected.instrumented = BTreeMap::from([(FUNCTION, 200.0)]);
        assert_eq!(total(&collected), 2.0 * 1600.0);
        // What runs in tier 1 is counted there, all of it.
        collected.counted = BTreeMap::from([(FUNCTION, [30.0, 1900.0])]);
        assert_eq!(total(&collected), 2.0 * 1930.0);
    }

    #[test]
    fn rates_are_taken_from_bursts_that_count_once_there_are_enough() {
        let bursts = |counted: u32| {
            let others = (1..=10).map(|nth| burst(true, f64::from(nth) * 100.0, 20.0, 20.0));
            let counts = (1..=counted).map(|nth| Burst { counted: true, ..burst(true, f64::from(nth) * 100.0 + 50.0, 10.0, 20.0) });
            let mut bursts: Vec<Burst> = others.chain(counts).collect();
            bursts.sort_by(|a, b| a.ended.total_cmp(&b.ended));
            let instrumented = BTreeMap::from([(FUNCTION, 0.0)]);
            rates_in_time(&Collected { bursts, instrumented, last: 1100.0, ..Collected::default() })[&FUNCTION]
        };
        // 10 rounds in the 10 ns that 20 branches take; of the others 20 in as long, for half of their branches left no record.
        let all = ENOUGH_COUNTED as u32;
        assert!((bursts(all) - 1.0).abs() < 1e-9, "{}", bursts(all));
        assert!(bursts(all - 1) > 1.2, "{}", bursts(all - 1));
    }

    #[test]
    fn a_few_rounds_that_were_counted_say_more_than_many_that_were_judged() {
        let of = |rounds: f64| {
            let judged = (1..=10).map(|nth| burst(true, f64::from(nth) * 100.0, 100.0, 150.0));
            let counted = Burst { counted: true, ..burst(true, 1050.0, rounds, 3.0 * rounds) };
            let counts = BTreeMap::from([(FUNCTION, [0.0, 1000.0])]);
            let collected = Collected { bursts: judged.chain([counted]).collect(), counted: counts, ..Collected::default() };
            extrapolate(&collected, &Rates::default()).branches[&(7, 1, 1)]
        };
        assert_eq!(of(ENOUGH_COUNTED_ROUNDS), 3000.0);
        assert_eq!(of(ENOUGH_COUNTED_ROUNDS - 1.0), 1500.0, "the first branches train the model");
    }

    #[test]
    fn what_no_burst_could_see_lasts_as_long_again() {
        let mut collected = Collected { last: 10_000.0, ..Collected::default() };
        collected.counted = BTreeMap::from([(FUNCTION, [0.0, 50.0])]);
        collected.baseline = BTreeMap::from([(FUNCTION, 100.0)]);
        collected.optimized = BTreeMap::from([(FUNCTION, 200.0)]);
        collected.tier1 = BTreeMap::from([(((7, 1, 9), SiteClass::Param, 0), 50.0)]);
        let total = |collected: &Collected| extrapolate(collected, &Rates::default()).values[&((7, 1, 9), SiteClass::Param, 0)];
        assert_eq!(total(&collected), 100.0, "half a round a nanosecond for 100 ns more, not for 9,800");
        collected.last = 240.0;
        assert_eq!(total(&collected), 70.0, "and not beyond the end");
    }

    #[test]
    fn a_record_stands_for_the_interval_that_its_ring_had() {
        let rates = Rates { interval1: 127, random_bits: 6, branch: 4.5, ticks_per_ns: 1.0, uncounted: BTreeMap::new() };
        assert_eq!((rates.value(127), rates.value(0), rates.value(255)), (96.5, 32.5, 224.5));
        let site = ((7, 1, 9), SiteClass::Param, 0);
        let resolved = Resolved { function: FunctionId { module: 7, func: 1 }, wasm_offset: 9, version: 1, tier: Tier::Baseline };
        let mut collected = Collected::default();
        let value = Record::new(EventId::VALUE, 0, SiteClass::Param.imm16(0), 9, 0x1000, 5, 1);
        let changed = Record::new(EventId::PROGRAMMED, 0, SiteClass::ValueRate.imm16(0), 127, 0x1000, 255, 2);
        for record in [&value, &changed, &value] {
            collected.record(&rates, RingId(0), record, Some(&resolved));
        }
        assert_eq!(collected.tier1[&site], 96.5 + 224.5);
    }

    #[test]
    fn a_record_is_of_the_code_that_its_address_held_then() {
        let rates = Rates { ticks_per_ns: 1.0, ..Rates::default() };
        let mut file = RecordWriter::new(Vec::new()).unwrap();
        for offset in [10, 20] {
            let entry = CodeEntry::new(FunctionId { module: 7, func: 1 }, offset, Tier::Baseline, Arc::from([(0, offset)]));
            file.write(&Chunk::Code(0x1000..0x1040, Arc::new(entry))).unwrap();
            let record = Record::new(EventId::VALUE, 0, SiteClass::Param.imm16(0), 0, 0x1008, 5, 1);
            file.write(&Chunk::Records { ring: 0, records: vec![record; offset as usize] }).unwrap();
        }
        let values = estimate(&file.finish().unwrap()[..], &rates).unwrap().values;
        let counts: Vec<_> = values.iter().map(|(&((_, _, offset), ..), &count)| (offset, count)).collect();
        assert_eq!(counts, [(10, 10.0 * rates.value(0)), (20, 20.0 * rates.value(0))]);
    }

    #[test]
    fn bursts_that_count_say_what_a_round_holds() {
        let rates = Rates { ticks_per_ns: 1.0, branch: 4.5, ..Rates::default() };
        let at = |wasm_offset| Resolved { function: FunctionId { module: 7, func: 1 }, wasm_offset, version: 2, tier: Tier::Instrumented };
        let mut collected = Collected { counted: BTreeMap::from([(FUNCTION, [0.0, 1000.0])]), ..Collected::default() };
        let mut say = |class: SiteClass, detail: u8, data1: u32, data2: u64, offset: u32| {
            let record = Record::new(EventId::PROGRAMMED, 0, class.imm16(detail), data1, 0x1000, data2, 5);
            collected.record(&rates, RingId(0), &record, Some(&at(offset)));
        };
        // 400 rounds, a switch that has a value in half of them, a parameter, and a sampled value, which is counted already.
        say(SiteClass::BurstSite, 1, SiteClass::SwitchIndex.imm16(0).into(), 200, 20);
        say(SiteClass::BurstSite, 0, SiteClass::Param.imm16(1).into(), 100, 10);
        say(SiteClass::BurstRounds, 0, 0, 400, 10);
        let value = Record::new(EventId::VALUE, 0, SiteClass::Param.imm16(1), 0, 0x1000, 3, 5);
        collected.record(&rates, RingId(0), &value, Some(&at(10)));
        let window = Record::new(EventId::PROGRAMMED, 0, SiteClass::BurstWindow.imm16(2 | 4), 0, 0x1000, 5, 6);
        collected.record(&rates, RingId(0), &window, Some(&at(10)));
        let estimate = extrapolate(&collected, &rates);
        assert_eq!(estimate.branches, BTreeMap::from([((7, 1, 20), 500.0)]));
        let values = BTreeMap::from([(((7, 1, 20), SiteClass::SwitchIndex, 0), 0.0), (((7, 1, 10), SiteClass::Param, 1), 0.0)]);
        assert_eq!(estimate.values, values, "tier 1 has records of its own");
        collected.counted = BTreeMap::from([(FUNCTION, [1000.0, 0.0])]);
        assert_eq!(extrapolate(&collected, &rates).values.values().copied().collect::<Vec<_>>(), [250.0, 500.0]);
    }

    #[test]
    fn misses_come_with_rounds_of_bursts_that_time_loads() {
        let mut collected = Collected { last: 100.0, ..Collected::default() };
        collected.counted = BTreeMap::from([(FUNCTION, [0.0, 100.0])]);
        let loads = Burst { loads_timed: true, misses: BTreeMap::from([((7, 1, 9), 20.0)]), ..burst(false, 90.0, 10.0, 0.0) };
        collected.bursts = vec![loads, burst(false, 100.0, 10.0, 5.0)];
        assert_eq!(extrapolate(&collected, &Rates::default()).misses[&(7, 1, 9)], 200.0);
    }
}
