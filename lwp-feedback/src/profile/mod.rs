//! What the records say, per function: values, branches, loads, hotness.
//!
//! In: resolved records, from the monitor. Out: a [`Snapshot`], sorted plain data, for the policy, reports and files.
//!
//! Invariants:
//! 1. Memory is bounded whatever the ring holds: functions, sites per function and sites in all have limits, and what is dropped is
//!    counted.
//! 2. Decay is by record count, never by the clock, so that a replay of the same records gives the same snapshot byte for byte.
//!    Values, branches and loads fade each by their own records: a burst's hundreds of branches do not push a call's few values out.
//! 3. Wrong records give a wrong profile and nothing worse.

mod shape;
mod provenance;
mod halving;
mod restore;
mod sequences;
mod snapshot;
mod shift;
mod top_k;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dashmap::{DashMap, Entry};
use hdrhistogram::Histogram;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use crate::class::{BURST_EARLY, BURST_SITE_BRANCH, BURST_SITE_CALL, SiteClass, TRIPS_AT_LEAST};
use crate::codemap::{FunctionId, Resolved};
use crate::layout::{EventId, Record};
use crate::record::OUTCOME_UNKNOWN;
use halving::Halvings;
use provenance::Provenances;
use sequences::Sequences;
use shift::{Counts, Settled};

pub use provenance::Provenance;
pub use sequences::SEQUENCE;
pub use shape::{ArmObstacle, ArmShape, BranchShape, FunctionPrior, FunctionShape, LoopShape, ParamShape, SelectShape, SwitchShape};
pub use snapshot::{
    BranchSnapshot, CallSnapshot, FunctionFacts, FunctionSnapshot, LoadSnapshot, LoopSnapshot, NotInlinable, SelectSnapshot, SequenceCount,
    SequencesSnapshot, SiteSnapshot, Snapshot, StrideCount, ValueCount,
};
pub use top_k::{TOP_K, TopK};

/// A value site within its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SiteKey {
    /// Offset of the operator in the module.
    pub offset: u32,
    /// What the value means.
    pub class: SiteClass,
    /// The class's detail; for `Param` the parameter's number.
    pub detail: u8,
}

/// Bounds of a profile.
#[derive(Clone, Debug)]
pub struct ProfileLimits {
    /// Functions with a profile.
    pub functions: usize,
    /// Value sites, branches and loads of one function together.
    pub sites_per_function: usize,
    /// Value sites, branches and loads of all functions together. A load takes about 1 KiB, the others 0.2.
    pub sites: usize,
    /// A function's counts of values, of branches and of loads are halved every this many of its records of that kind.
    pub decay_records: u64,
}

impl Default for ProfileLimits {
    fn default() -> Self {
        Self { functions: 65_536, sites_per_function: 1024, sites: 32_768, decay_records: 16_384 }
    }
}

/// Taken and predicted counts of a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Branch {
    taken: u64,
    not_taken: u64,
    predicted: u64,
    mispredicted: u64,
    /// Outcomes in bursts that only count: taken, not taken.
    counted: [u64; 2],
    /// Mispredictions that hardware sampled without an outcome.
    sampled_mispredicted: u64,
    provenances: Provenances,
}

impl Branch {
    fn counts(&self) -> Counts {
        [self.taken, self.not_taken, self.predicted, self.mispredicted]
    }

    fn halve(&mut self, by: &mut Halvings) {
        for (count, by) in
            [&mut self.taken, &mut self.not_taken, &mut self.predicted, &mut self.mispredicted].into_iter().zip(&mut by.outcomes)
        {
            *count = by.half(*count);
        }
        for (count, by) in self.counted.iter_mut().zip(&mut by.counted) {
            *count = by.half(*count);
        }
        self.sampled_mispredicted = by.sampled.half(self.sampled_mispredicted);
        self.provenances.halve();
    }

    /// What most of its records are; hardware's where there are none but its mispredictions.
    fn provenance(&self) -> Provenance {
        let only_sampled = self.sampled_mispredicted > 0 && self.counts() == [0; 4];
        if only_sampled { Provenance::Hardware } else { self.provenances.most() }
    }

    fn is_empty(&self) -> bool {
        self.counts().iter().chain(&self.counted).all(|count| *count == 0) && self.sampled_mispredicted == 0
    }
}

impl Select {
    fn counts(&self) -> Counts {
        [self.taken, self.not_taken, self.judged.saturating_sub(self.would_mispredict), self.would_mispredict]
    }

    fn of_counts([taken, not_taken, predicted, mispredicted]: Counts) -> Self {
        Self { taken, not_taken, judged: predicted + mispredicted, would_mispredict: mispredicted }
    }
}

/// Values of a select's condition, and what a branch in its place would meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Select {
    taken: u64,
    not_taken: u64,
    judged: u64,
    would_mispredict: u64,
}

/// A direct call as bursts saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Call {
    callee: u32,
    count: u64,
}

/// Rounds of a loop seen by bursts, and how long they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Rounds {
    rounds: u64,
    ns: u64,
}

/// Latencies and sources of a load.
#[derive(Clone, Debug)]
struct Load {
    latency: Histogram<u32>,
    sources: [u64; 8],
    last_address: Option<u64>,
    strides: TopK,
    /// Executions in bursts that time loads.
    executions: u64,
    /// `strides` came from bursts, which see every execution; records alone see those that missed.
    burst_strides: bool,
    indirect_from: Option<u32>,
    /// Bursts have timed it: latencies and sources are theirs alone, as their executions are.
    timed: bool,
    /// Misses that hardware sampled: of how many executions is not known.
    sampled: u64,
}

/// Latencies above this are counted as this: LatencyMax 16 bits.
const LATENCY_TOP: u64 = (1 << 16) - 1;

fn latency_histogram() -> Histogram<u32> {
    // One significant digit: a class of latency is wanted, and 256 sites of two digits would take megabytes.
    Histogram::new_with_bounds(1, LATENCY_TOP, 1).expect("constant bounds are valid")
}

impl Load {
    fn new() -> Self {
        Self {
            latency: latency_histogram(),
            sources: [0; 8],
            last_address: None,
            strides: TopK::default(),
            executions: 0,
            burst_strides: false,
            indirect_from: None,
            timed: false,
            sampled: 0,
        }
    }

    /// A burst times it. What hardware sampled before is no part of what the bursts' executions are counted for.
    fn time(&mut self) {
        if !self.timed {
            (self.timed, self.latency, self.sources) = (true, latency_histogram(), [0; 8]);
        }
    }

    fn provenance(&self) -> Provenance {
        match (self.timed, self.sampled) {
            (true, _) => Provenance::Timed,
            (false, 0) => Provenance::default(),
            (false, _) => Provenance::Hardware,
        }
    }

    fn halve(&mut self, by: &mut Halvings) {
        let mut halved = latency_histogram();
        for bucket in self.latency.iter_recorded() {
            halved.saturating_record_n(bucket.value_iterated_to(), by.latencies.half(bucket.count_at_value().into()) as u32);
        }
        self.latency = halved;
        self.sources.iter_mut().for_each(|count| *count = by.sources.half(*count));
        self.strides.halve(&mut by.strides);
        self.executions = by.executions.half(self.executions);
        self.sampled = by.sampled.half(self.sampled);
    }

    fn is_empty(&self) -> bool {
        self.latency.is_empty() && self.executions == 0 && self.sampled == 0
    }
}

/// What fades together.
#[derive(Clone, Copy)]
enum Kind {
    Values,
    Branches,
    Loads,
}

#[derive(Debug, Default)]
struct FunctionProfile {
    records: u64,
    /// Records since the last decay, by [`Kind`].
    since_decay: [u64; 3],
    hot: u64,
    side_exits: u64,
    ticks: u64,
    sites: BTreeMap<SiteKey, TopK>,
    branches: BTreeMap<u32, Branch>,
    loads: BTreeMap<u32, Load>,
    selects: BTreeMap<u32, Select>,
    rounds: BTreeMap<u32, Rounds>,
    calls: BTreeMap<u32, Call>,
    /// What bursts before its first compile counted, of branches (taken, not taken) and of direct calls: of how often it runs they say nothing, so they stand apart, and until that compile.
    early_branches: BTreeMap<u32, [u64; 2]>,
    early_calls: BTreeMap<u32, Call>,
    sequences: BTreeMap<u32, Sequences>,
    settled_branches: Settled,
    settled_selects: Settled,
    halvings: Halvings,
    /// Bursts that saw something else than all before them.
    shifts: u64,
}

impl FunctionProfile {
    /// Forgets what is older than the burst that ends here, if it was another phase.
    fn end_of_burst(&mut self) {
        let shifted = self.branches.iter().any(|(&offset, branch)| self.settled_branches.differs(offset, branch.counts()))
            || self.selects.iter().any(|(&offset, select)| self.settled_selects.differs(offset, select.counts()));
        if shifted {
            self.shifts += 1;
            self.sequences.clear();
            for (&offset, branch) in &mut self.branches {
                let [taken, not_taken, predicted, mispredicted] = self.settled_branches.since(offset, branch.counts());
                *branch = Branch { taken, not_taken, predicted, mispredicted, counted: [0; 2], ..*branch };
            }
            for (&offset, select) in &mut self.selects {
                *select = Select::of_counts(self.settled_selects.since(offset, select.counts()));
            }
        }
        self.settled_branches.settle(self.branches.iter().map(|(&offset, branch)| (offset, branch.counts())));
        self.settled_selects.settle(self.selects.iter().map(|(&offset, select)| (offset, select.counts())));
    }

    fn calls(&mut self) -> &mut BTreeMap<u32, Call> {
        &mut self.calls
    }

    fn early_calls(&mut self) -> &mut BTreeMap<u32, Call> {
        &mut self.early_calls
    }

    fn site_count(&self) -> usize {
        self.sites.len()
            + self.branches.len()
            + self.loads.len()
            + self.selects.len()
            + self.rounds.len()
            + self.calls.len()
            + self.early_branches.len()
            + self.early_calls.len()
            + self.sequences.len()
    }

    /// Selects are seen by bursts, so they fade with the branches.
    fn halve_sites(&mut self, selects: bool) {
        let halving = &mut self.halvings.values;
        self.sites.retain(|key, values| {
            if (key.class == SiteClass::Select) == selects {
                values.halve(halving);
            }
            values.total() > 0
        });
    }

    /// Halves all counts of a kind and forgets what reached 0. Returns how many sites that freed.
    fn decay(&mut self, kind: Kind) -> usize {
        let before = self.site_count();
        self.since_decay[kind as usize] = 0;
        match kind {
            Kind::Values => {
                self.ticks = self.halvings.ticks.half(self.ticks);
                self.halve_sites(false);
            }
            Kind::Branches => {
                self.halve_sites(true);
                let by = &mut self.halvings;
                self.settled_branches.halve(&mut by.settled);
                self.settled_selects.halve(&mut by.settled);
                self.branches.retain(|_, branch| {
                    branch.halve(by);
                    !branch.is_empty()
                });
                self.selects.retain(|_, select| {
                    let mut counts = select.counts();
                    counts.iter_mut().zip(&mut by.selects).for_each(|(count, by)| *count = by.half(*count));
                    *select = Select::of_counts(counts);
                    select.taken + select.not_taken > 0
                });
                self.calls.retain(|_, call| {
                    call.count = by.calls.half(call.count);
                    call.count > 0
                });
                self.sequences.retain(|_, sequences| sequences.halve());
                self.rounds.retain(|_, it| {
                    let rounds = by.rounds.half(it.rounds);
                    // A round takes as long as before.
                    let ns = u128::from(it.ns) * u128::from(rounds) / u128::from(it.rounds.max(1));
                    *it = Rounds { rounds, ns: ns as u64 };
                    rounds > 0
                });
            }
            Kind::Loads => {
                let by = &mut self.halvings;
                self.loads.retain(|_, load| {
                    load.halve(by);
                    !load.is_empty()
                });
            }
        }
        before - self.site_count()
    }
}

/// What a profile could not use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileLosses {
    /// Records of functions beyond the limit.
    pub functions_over_limit: u64,
    /// Records of sites beyond the limits, and saved sites that were not restored.
    pub sites_over_limit: u64,
    /// Records whose imm16 names no class.
    pub unknown_class: u64,
    /// Records whose EventId nobody defined.
    pub unknown_event: u64,
}

/// All functions' profiles.
#[derive(Debug, Default)]
pub struct Profile {
    limits: ProfileLimits,
    /// The keys are hashes and small numbers of our own: a hash that resists chosen keys would be a tenth of what a record costs.
    functions: DashMap<FunctionId, FunctionProfile, FxBuildHasher>,
    /// The functions of each module that are in `functions`: what is about one module looks at no other. An entry is held where a function comes or goes, before that of
    /// the function is, and no function's is held where an entry is asked for.
    modules: DashMap<u64, BTreeSet<u32>, FxBuildHasher>,
    function_count: AtomicU64,
    sites: AtomicU64,
    functions_over_limit: AtomicU64,
    sites_over_limit: AtomicU64,
    unknown_class: AtomicU64,
    unknown_event: AtomicU64,
    /// A record of event 3 came, of whatever function: one that bursts only counted so far is known by that. (CPython's evaluation loop had 16 of them in 3 s, and no other.)
    sees_branches: AtomicBool,
}

impl Profile {
    /// An empty profile with these bounds.
    pub fn new(limits: ProfileLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Event 3 is recorded, though no record of it need have come yet: what bursts counted of branches and calls may be used.
    pub fn expect_branches(&self) {
        self.sees_branches.store(true, Ordering::Relaxed);
    }

    /// Counts a record.
    pub fn apply(&self, resolved: &Resolved, record: &Record) {
        // What a run consists of is for who estimates totals; of a profile it says which ways branches go and how often calls are made, and makes nothing that is known fade.
        let counted = match (record.event_id(), SiteClass::from_imm16(record.flags())) {
            (EventId::PROGRAMMED, Some((SiteClass::BurstSite, detail)))
                if matches!(detail & !BURST_EARLY, BURST_SITE_BRANCH | BURST_SITE_CALL) =>
            {
                Some(detail)
            }
            (EventId::PROGRAMMED, Some((SiteClass::BurstSite, _))) => return,
            _ => None,
        };
        let mut function = match self.functions.get_mut(&resolved.function) {
            Some(function) => function,
            None => {
                if self.function_count.load(Ordering::Relaxed) >= self.limits.functions as u64 {
                    self.functions_over_limit.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                let FunctionId { module, func } = resolved.function;
                let mut of_module = self.modules.entry(module).or_default();
                of_module.insert(func);
                self.functions.entry(resolved.function).or_insert_with(|| {
                    self.function_count.fetch_add(1, Ordering::Relaxed);
                    FunctionProfile::default()
                })
            }
        };
        let function = &mut *function;
        let early = counted.is_some_and(|detail| detail & BURST_EARLY != 0);
        // They stay until a compile that may never come: half of the room is for the others.
        if early && self.is_half_full() {
            return;
        }
        if counted.is_some_and(|detail| detail & !BURST_EARLY == BURST_SITE_CALL) {
            let (count, callee) = (record.data2() as u32, (record.data2() >> 32) as u32);
            let add = |call: &mut Call| *call = Call { callee, count: call.count.saturating_add(count.into()) };
            let calls = if early { FunctionProfile::early_calls } else { FunctionProfile::calls };
            return self.at(function, calls, resolved.wasm_offset, Call::default, add);
        }
        if counted.is_some() {
            let (passed, taken) = (record.data2() as u32, (record.data2() >> 32) as u32);
            let taken = taken.min(passed);
            let outcomes = [taken, passed - taken].map(u64::from);
            if early {
                let add = |counted: &mut [u64; 2]| *counted = std::array::from_fn(|at| counted[at].saturating_add(outcomes[at]));
                return self.at(function, |function| &mut function.early_branches, resolved.wasm_offset, Default::default, add);
            }
            let add = |branch: &mut Branch| branch.counted = std::array::from_fn(|at| branch.counted[at].saturating_add(outcomes[at]));
            return self.at(function, |function| &mut function.branches, resolved.wasm_offset, Branch::default, add);
        }
        function.records += 1;
        let kind = kind_of(record);
        function.since_decay[kind as usize] += 1;
        if function.since_decay[kind as usize] >= self.limits.decay_records {
            let freed = function.decay(kind);
            self.sites.fetch_sub(freed as u64, Ordering::Relaxed);
        }
        let offset = resolved.wasm_offset;
        match record.event_id() {
            EventId::VALUE | EventId::PROGRAMMED => {
                let Some((class, detail)) = SiteClass::from_imm16(record.flags()) else {
                    self.unknown_class.fetch_add(1, Ordering::Relaxed);
                    return;
                };
                match class {
                    SiteClass::HotFunction | SiteClass::HotLoop => function.hot += 1,
                    SiteClass::SideExit => function.side_exits += 1,
                    SiteClass::BurstSequence => {
                        let add = |it: &mut Sequences| it.add(record.data2(), record.data1().into());
                        return self.at(function, |function| &mut function.sequences, offset, Sequences::default, add);
                    }
                    SiteClass::Select => self.select(function, offset, detail, record.data2() != 0),
                    // How bursts divide the run is for who estimates totals.
                    SiteClass::BurstWindow | SiteClass::BurstRounds | SiteClass::ValueRate => return,
                    SiteClass::BurstLoad | SiteClass::BurstStride | SiteClass::BurstEnd => {
                        self.burst(function, offset, class, record);
                        return;
                    }
                    _ => {}
                }
                // A select's detail is the model's verdict and a trip count's whether it is whole, which are no part of what the site is.
                let at_least = (class, detail) == (SiteClass::TripCount, TRIPS_AT_LEAST);
                let detail = if class == SiteClass::Select || at_least { 0 } else { detail };
                let key = SiteKey { offset, class, detail };
                let add = |site: &mut TopK| if at_least { site.add_at_least(record.data2()) } else { site.add(record.data2()) };
                if let Some(site) = function.sites.get_mut(&key) {
                    add(site);
                } else if self.admit(function) {
                    add(function.sites.entry(key).or_default());
                }
            }
            EventId::BRANCHES => {
                self.sees_branches.store(true, Ordering::Relaxed);
                self.at(
                    function,
                    |function| &mut function.branches,
                    offset,
                    Branch::default,
                    |branch| {
                        let flags = record.flags();
                        if flags & OUTCOME_UNKNOWN != 0 {
                            branch.sampled_mispredicted += 1;
                            return;
                        }
                        branch.provenances.add(Provenance::of_branch(resolved.tier));
                        *(if flags & 1 << 15 != 0 { &mut branch.taken } else { &mut branch.not_taken }) += 1;
                        if flags & 1 << 13 != 0 {
                            *(if flags & 1 << 14 != 0 { &mut branch.predicted } else { &mut branch.mispredicted }) += 1;
                        }
                    },
                );
            }
            EventId::DCACHE => {
                self.at(
                    function,
                    |function| &mut function.loads,
                    offset,
                    Load::new,
                    |load| {
                        let hardware = Provenance::of_load(resolved.tier) == Provenance::Hardware;
                        if hardware {
                            load.sampled += 1;
                        } else {
                            load.time();
                        }
                        if !hardware || !load.timed {
                            load.sources[usize::from(record.flags() >> 13)] += 1;
                            // (hardware that does not say how long it took says 0)
                            if !hardware || record.data1() != 0 {
                                load.latency.saturating_record(u64::from(record.data1()).max(1));
                            }
                        }
                        if record.flags() & 1 << 12 != 0 && !load.burst_strides {
                            if let Some(last) = load.last_address {
                                load.strides.add(record.data2().wrapping_sub(last));
                            }
                            load.last_address = Some(record.data2());
                        }
                    },
                );
            }
            EventId::INSTRUCTIONS | EventId::CORE_CLOCKS | EventId::REF_CLOCKS => function.ticks += 1,
            _ => {
                self.unknown_event.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// A select's condition, with the model's verdict where the record carries one.
    fn select(&self, function: &mut FunctionProfile, offset: u32, verdict: u8, condition: bool) {
        if !function.selects.contains_key(&offset) && !self.admit(function) {
            return;
        }
        let select = function.selects.entry(offset).or_default();
        *(if condition { &mut select.taken } else { &mut select.not_taken }) += 1;
        if verdict == SELECT_PREDICTED || verdict == SELECT_MISPREDICTED {
            select.judged += 1;
            select.would_mispredict += u64::from(verdict == SELECT_MISPREDICTED);
        }
    }

    /// What a burst says of itself.
    fn burst(&self, function: &mut FunctionProfile, offset: u32, class: SiteClass, record: &Record) {
        if class == SiteClass::BurstEnd {
            function.end_of_burst();
            // Bursts that time loads, and those of bodies, say nothing about time.
            if record.data2() == 0 {
                return;
            }
            if !function.rounds.contains_key(&offset) && !self.admit(function) {
                return;
            }
            let rounds = function.rounds.entry(offset).or_default();
            rounds.rounds = rounds.rounds.saturating_add(record.data1().into());
            rounds.ns = rounds.ns.saturating_add(record.data2());
            return;
        }
        if !function.loads.contains_key(&offset) && !self.admit(function) {
            return;
        }
        let load = function.loads.entry(offset).or_insert_with(Load::new);
        load.time();
        if class == SiteClass::BurstLoad {
            load.executions = load.executions.saturating_add(record.data2());
            load.indirect_from = Some(record.data1()).filter(|&from| from != 0);
        } else {
            if !load.burst_strides {
                load.burst_strides = true;
                load.strides = TopK::default();
            }
            match SiteClass::from_imm16(record.flags()) {
                Some((_, 0)) => load.strides.add_many(record.data2(), record.data1().into()),
                // Strides too rare to be told apart.
                _ => load.strides.add_others(record.data1().into()),
            }
        }
    }

    /// Does something with what a function's table has at an offset, or with something new where there is room for it. One look-up for what is known: this is
    /// most of what the monitor does.
    #[inline]
    fn at<T>(
        &self,
        function: &mut FunctionProfile,
        table: impl Fn(&mut FunctionProfile) -> &mut BTreeMap<u32, T>,
        offset: u32,
        new: impl FnOnce() -> T,
        count: impl FnOnce(&mut T),
    ) {
        if let Some(known) = table(function).get_mut(&offset) {
            count(known);
        } else if self.admit(function) {
            count(table(function).entry(offset).or_insert_with(new));
        }
    }

    /// Room for one more site?
    fn admit(&self, function: &FunctionProfile) -> bool {
        let room = function.site_count() < self.limits.sites_per_function && self.sites.load(Ordering::Relaxed) < self.limits.sites as u64;
        if room {
            self.sites.fetch_add(1, Ordering::Relaxed);
        } else {
            self.sites_over_limit.fetch_add(1, Ordering::Relaxed);
        }
        room
    }

    /// What could not be used so far.
    pub fn losses(&self) -> ProfileLosses {
        ProfileLosses {
            functions_over_limit: self.functions_over_limit.load(Ordering::Relaxed),
            sites_over_limit: self.sites_over_limit.load(Ordering::Relaxed),
            unknown_class: self.unknown_class.load(Ordering::Relaxed),
            unknown_event: self.unknown_event.load(Ordering::Relaxed),
        }
    }

    /// Hashes of all modules that have a profile, ascending.
    pub fn modules(&self) -> Vec<u64> {
        let mut modules: Vec<u64> = self.modules.iter().map(|entry| *entry.key()).collect();
        modules.sort_unstable();
        modules
    }

    /// The profile of one module, sorted; `facts` is empty, the engine fills it in.
    pub fn snapshot(&self, module: u64) -> Snapshot {
        // (copied, so that no record waits for the snapshots)
        let of_module: Vec<u32> = self.modules.get(&module).map_or(Vec::new(), |of_module| of_module.iter().copied().collect());
        let functions = of_module.into_iter().filter_map(|func| self.function(FunctionId { module, func })).collect();
        Snapshot { module, functions, ..Snapshot::default() }
    }

    /// The profile of one function, or `None` if it has no records.
    pub fn function(&self, function: FunctionId) -> Option<FunctionSnapshot> {
        let sees_branches = self.sees_branches.load(Ordering::Relaxed);
        self.functions.get(&function).map(|profile| snapshot::of_function(function.func, &profile, sees_branches))
    }

    /// The same for a function's first compile: with what bursts counted before it, which is forgotten then.
    pub fn function_for_first_compile(&self, function: FunctionId) -> Option<FunctionSnapshot> {
        let mut profile = self.functions.get_mut(&function)?;
        let branches = std::mem::take(&mut profile.early_branches);
        let calls = std::mem::take(&mut profile.early_calls);
        self.sites.fetch_sub((branches.len() + calls.len()) as u64, Ordering::Relaxed);
        let sees_branches = self.sees_branches.load(Ordering::Relaxed);
        let mut snapshot = snapshot::of_function(function.func, &profile, sees_branches);
        drop(profile);
        if sees_branches {
            snapshot.add_early(branches, calls);
        }
        Some(snapshot)
    }

    /// Records of a function so far.
    pub fn records(&self, function: FunctionId) -> u64 {
        self.functions.get(&function).map_or(0, |profile| profile.records)
    }

    /// How often a function turned to something else: bursts whose outcomes differed from all before them, which are then forgotten.
    pub fn shifts(&self, function: FunctionId) -> u64 {
        self.functions.get(&function).map_or(0, |profile| profile.shifts)
    }

    /// Puts a saved snapshot back, replacing what is there of its functions. Load histograms keep their classes. Where the limits leave no room for all sites, those
    /// that were seen most are taken, and the others are counted as lost.
    pub fn restore(&self, saved: &Snapshot) {
        let knows_branches = |it: &FunctionSnapshot| !it.branches.is_empty() || !it.calls.is_empty() || !it.selects.is_empty();
        if saved.functions.iter().any(knows_branches) {
            self.sees_branches.store(true, Ordering::Relaxed);
        }
        let mut functions = Vec::new();
        for function in &saved.functions {
            let id = FunctionId { module: saved.module, func: function.func };
            let over = self.function_count.load(Ordering::Relaxed) >= self.limits.functions as u64;
            if over && !self.functions.contains_key(&id) {
                self.functions_over_limit.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            self.replace(id, FunctionProfile::default());
            functions.push((id, function));
        }
        let room = self.limits.sites.saturating_sub(self.sites.load(Ordering::Relaxed) as usize);
        let saved: Vec<&FunctionSnapshot> = functions.iter().map(|&(_, function)| function).collect();
        let (admitted, left_out) = restore::Admitted::choose(&saved, self.limits.sites_per_function, room);
        self.sites_over_limit.fetch_add(left_out, Ordering::Relaxed);
        for (at, (id, function)) in functions.into_iter().enumerate() {
            // (with what came in the meantime)
            self.replace(id, restore::to_function(function, |site| admitted.contains(at, site)));
        }
    }

    fn replace(&self, id: FunctionId, by: FunctionProfile) {
        self.sites.fetch_add(by.site_count() as u64, Ordering::Relaxed);
        let mut of_module = self.modules.entry(id.module).or_default();
        of_module.insert(id.func);
        match self.functions.insert(id, by) {
            Some(old) => _ = self.sites.fetch_sub(old.site_count() as u64, Ordering::Relaxed),
            None => _ = self.function_count.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Whether half of what its limits allow is there.
    pub fn is_half_full(&self) -> bool {
        let half = |count: &AtomicU64, limit: usize| count.load(Ordering::Relaxed) >= limit as u64 / 2;
        half(&self.function_count, self.limits.functions) || half(&self.sites, self.limits.sites)
    }

    /// Forgets a module. It takes as long as that has functions, however many other modules there are.
    pub fn forget(&self, module: u64) {
        let Entry::Occupied(of_module) = self.modules.entry(module) else { return };
        for &func in of_module.get() {
            if let Some((_, function)) = self.functions.remove(&FunctionId { module, func }) {
                self.sites.fetch_sub(function.site_count() as u64, Ordering::Relaxed);
                self.function_count.fetch_sub(1, Ordering::Relaxed);
            }
        }
        of_module.remove();
    }
}

/// Detail of a `Select` record whose condition, as a branch, would have been predicted.
pub const SELECT_PREDICTED: u8 = 1;
/// The same, mispredicted.
pub const SELECT_MISPREDICTED: u8 = 2;

fn kind_of(record: &Record) -> Kind {
    match record.event_id() {
        EventId::BRANCHES => Kind::Branches,
        EventId::DCACHE => Kind::Loads,
        EventId::VALUE | EventId::PROGRAMMED => match SiteClass::from_imm16(record.flags()) {
            Some((SiteClass::BurstLoad | SiteClass::BurstStride, _)) => Kind::Loads,
            Some((
                SiteClass::BurstEnd | SiteClass::BurstWindow | SiteClass::BurstRounds | SiteClass::BurstSequence | SiteClass::Select,
                _,
            )) => Kind::Branches,
            _ => Kind::Values,
        },
        _ => Kind::Values,
    }
}

#[cfg(test)]
mod tests;
