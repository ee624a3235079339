//! What an engine saw and decided about a module, as plain data: the command prints it, tools read it as JSON.

use crate::burst::BurstStats;
use crate::code::{Entrance, Tier};
use crate::engine::{Engine, LoadedModule, SourceCounts};
use crate::exits::GuardExits;
use crate::tiering::{CodeVersion, TrialRecord, WatchedForm};
use crate::timeline::{Moment, Pulse};
use lwp_feedback::class::SiteClass;
use lwp_feedback::codemap::FunctionId;
use lwp_feedback::monitor::MonitorStats;
use lwp_feedback::policy::{Decision, Refusal};
use lwp_feedback::profile::{BranchSnapshot, LoadSnapshot, LoopSnapshot, SelectSnapshot};
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything about one module.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Name from the name section.
    pub module: Option<String>,
    /// First 8 bytes of the BLAKE3 hash of the module's bytes; in JSON hexadecimal.
    #[serde(with = "lwp_feedback::hashtext")]
    pub hash: u64,
    /// `lwp`, `off`, or the interface that was modelled.
    pub feedback: &'static str,
    /// The interface whose model stood between records and profile, and what it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modelled: Option<(&'static str, lwp_feedback::models::Counts)>,
    /// Functions with records or compiled code, those with the most counted events first.
    pub functions: Vec<FunctionReport>,
    /// Trials of plans, those that ended first first.
    pub trials: Vec<TrialRecord>,
    /// Compiles that failed.
    pub failures: Vec<FailureReport>,
    /// Records that arrived and what draining them cost.
    pub monitor: MonitorStats,
    /// What event sources of one's own recorded.
    pub sources: Vec<SourceCounts>,
    /// Bursts: what they did and cost.
    pub bursts: BurstStats,
    /// Time compile threads spent, ms.
    pub compile_ms: f64,
    /// Bytes of machine code published for the module.
    pub code_bytes: usize,
    /// Wall time since the engine began, to the end of the run where it was told of ([`Engine::end_run`]), ms.
    pub elapsed_ms: f64,
    /// What happened to the module's code when, where that was kept; oldest first.
    pub timeline: Vec<Moment>,
    /// Moments that found no room in it.
    pub timeline_dropped: u64,
    /// The monitor over time, where that was kept.
    pub pulses: Vec<Pulse>,
    /// How often compiled code was left because a guard failed.
    pub side_exits: u64,
    /// How often compiled code left for other code at a loop header.
    pub switches: u64,
    /// Calls that went by the resolver: of what has no code yet, and where calls are asked for something.
    pub resolved_calls: u64,
    /// Operators run, by calls that are over, where event 2 may be recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<InstructionReport>,
    /// Calls and back edges that no hot record has counted, by function.
    #[serde(skip)]
    pub uncounted: Vec<(u32, u64)>,
    /// Guards that failed, by version.
    pub guards: Vec<GuardReport>,
}

/// Instructions retired (event 2), in operators of the program.
#[derive(Clone, Debug, Serialize)]
pub struct InstructionReport {
    /// Run by the interpreter, one by one.
    pub interpreter: Counting,
    /// Of the blocks that compiled code entered: what the compiler made of them is not known, and one that is left in its middle counts as a whole.
    pub compiled: Counting,
}

/// A count and how it came about.
#[derive(Clone, Debug, Serialize)]
pub struct Counting {
    /// Operators.
    pub operators: u64,
    /// `exact` or `estimated`.
    pub provenance: &'static str,
}

/// A guard that failed.
#[derive(Clone, Debug, Serialize)]
pub struct GuardReport {
    /// Version it stands in.
    pub version: u32,
    /// Function in whose code it stands.
    pub function: u32,
    /// Byte offset of the operator whose decision it guards.
    pub offset: u32,
    /// What it stands for.
    pub kind: &'static str,
    /// How often it failed.
    pub exits: u64,
}

/// One function.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionReport {
    /// Function index.
    pub function: u32,
    /// Name from the name section.
    pub name: Option<String>,
    /// Bytes of its body.
    pub body_bytes: usize,
    /// Calls and back edges that hot records counted, by tier: interpreter, baseline, optimizing (where it counts).
    pub events: [u64; 3],
    /// Those that no hot record has counted yet, of interpreter and baseline.
    pub uncounted: u64,
    /// Compiled versions, oldest first.
    pub versions: Vec<VersionReport>,
    /// Value sites.
    pub sites: Vec<SiteReport>,
    /// Branches that bursts or hardware saw.
    pub branches: Vec<BranchSnapshot>,
    /// Loads that missed, or that bursts timed.
    pub loads: Vec<LoadSnapshot>,
    /// Selects that bursts saw.
    pub selects: Vec<SelectSnapshot>,
    /// Loops that bursts ran.
    pub rounds: Vec<LoopSnapshot>,
    /// What the policy refused at its latest look.
    pub refusals: Vec<Refusal>,
    /// What trials of an earlier process took back: not tried again before its numbers change.
    pub lost_before: Vec<Decision>,
    /// A round of one of its loops before and after; of the loop whose code was measured best.
    pub before_after: Option<BeforeAfter>,
}

/// The same loop in two tiers. Only loops are compared: from one call of a function to the next its callers' time goes by, too.
#[derive(Clone, Debug, Serialize)]
pub struct BeforeAfter {
    /// Byte offset of the loop.
    pub loop_offset: u32,
    /// Median ns a round, baseline.
    pub before_ns: f64,
    /// Median ns a round, optimizing.
    pub after_ns: f64,
}

/// One version.
#[derive(Clone, Debug, Serialize)]
pub struct VersionReport {
    /// Its number in the module.
    pub version: u32,
    /// `baseline`, `optimizing` or `instrumented`.
    pub tier: &'static str,
    /// Byte offset of the loop it enters at; absent for the function itself.
    pub loop_offset: Option<u32>,
    /// Whether it is bytecode, which the interpreter runs for bursts; it stands beside the versions that are called.
    pub interpreted: bool,
    /// Bytes of machine code, or of bytecode.
    pub code_bytes: usize,
    /// Hash of the machine code before it was placed, in hexadecimal; none of bytecode.
    pub code_hash: Option<String>,
    /// Compile time, ms.
    pub compile_ms: f64,
    /// When it was published, ms since the engine began.
    pub published_ms: f64,
    /// Whether it counts calls and back edges (to measure it).
    pub counted: bool,
    /// Whether it is an arm of a trial.
    pub arm: bool,
    /// What the records said to do, with the numbers.
    pub decisions: Vec<Decision>,
    /// What the compiler did, and where it refused why.
    pub applied: Vec<AppliedReport>,
    /// Median ns per call or back edge, from time stamps of successive hot records.
    pub ns_per_event: Option<f64>,
    /// Intervals behind that median.
    pub intervals: usize,
    /// LWPVAL sites in its code.
    pub lwpval_sites: usize,
    /// LWPINS sites in its code.
    pub lwpins_sites: usize,
    /// Faults of its speculative loads, each of which costs microseconds.
    pub speculative_faults: u64,
}

/// One optimization at one place.
#[derive(Clone, Debug, Serialize)]
pub struct AppliedReport {
    /// Its name.
    pub name: &'static str,
    /// Function.
    pub function: u32,
    /// Byte offset in the module.
    pub offset: u32,
    /// Which of several of that name there: a specialization's parameter.
    pub detail: u32,
    /// Absent where it fired.
    pub refused: Option<String>,
}

/// One value site.
#[derive(Clone, Debug, Serialize)]
pub struct SiteReport {
    /// Byte offset in the module.
    pub offset: u32,
    /// What is watched.
    pub class: SiteClass,
    /// Parameter number, where the class has one.
    pub detail: u8,
    /// Records.
    pub total: u64,
    /// Most frequent values.
    pub values: Vec<ValueReport>,
}

/// One value.
#[derive(Clone, Debug, Serialize)]
pub struct ValueReport {
    /// The value.
    pub value: u64,
    /// Function name, where the value is a function of the module.
    pub name: Option<String>,
    /// Records with it, at most `error` too many.
    pub count: u64,
    /// Bound of the overestimate.
    pub error: u64,
    /// Share of the site's records.
    pub share: f64,
}

impl ValueReport {
    /// The count that is certain: a site keeps few values, and [`Self::count`] may be [`Self::error`] too high.
    pub fn certain(&self) -> u64 {
        self.count.saturating_sub(self.error)
    }
}

/// A failed compile.
#[derive(Clone, Debug, Serialize)]
pub struct FailureReport {
    /// Function index.
    pub function: u32,
    /// `baseline` or `optimizing`.
    pub tier: &'static str,
    /// The compiler's words.
    pub reason: String,
}

fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Baseline => "baseline",
        Tier::Optimizing => "optimizing",
        Tier::Instrumented => "instrumented",
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

impl Report {
    /// What is known now. Call [`Engine::settle`] first for a complete picture.
    pub fn new(engine: &Engine, loaded: &LoadedModule) -> Report {
        let (module, code) = (&loaded.module, &loaded.code);
        let ns_per_tick = engine.ns_per_tick();
        let counted: BTreeMap<_, _> = code.counted().into_iter().collect();
        let uncounted: BTreeMap<u32, u64> = code.uncounted().into_iter().collect();
        let versions = code.versions();
        let (refusals, lost_before) = (code.refusals(), code.lost_before());
        let profile = engine.profile().snapshot(code.key());
        let mut indices: Vec<u32> = counted.keys().copied().chain(versions.iter().map(|version| version.function)).collect();
        indices.extend(profile.functions.iter().map(|function| function.func));
        indices.retain(|&function| (function as usize) < module.functions.len() && module.defined(function).is_some());
        indices.sort_unstable();
        indices.dedup();
        let mut functions: Vec<FunctionReport> = indices
            .into_iter()
            .map(|function| {
                let counted = counted.get(&function).cloned().unwrap_or_default();
                let describe = |version: &CodeVersion| {
                    let intervals = counted.intervals.get(&version.number).map_or(&[][..], Vec::as_slice);
                    describe_version(version, intervals, ns_per_tick)
                };
                let mut versions: Vec<_> =
                    versions.iter().filter(|version| version.function == function).map(|version| describe(version)).collect();
                versions.extend(code.watched_form(function).map(describe_watched));
                versions.sort_by(|one, other| one.published_ms.total_cmp(&other.published_ms));
                let own = module.defined(function).expect("filtered above");
                let seen = profile.functions.iter().find(|seen| seen.func == function).cloned().unwrap_or_default();
                FunctionReport {
                    function,
                    name: module.function_name(function).map(str::to_owned),
                    body_bytes: module.bodies[own].len(),
                    events: counted.events,
                    uncounted: uncounted.get(&function).copied().unwrap_or(0),
                    before_after: before_after(&versions),
                    versions,
                    sites: sites(engine, loaded, function),
                    branches: seen.branches,
                    loads: seen.loads,
                    selects: seen.selects,
                    rounds: seen.rounds,
                    refusals: refusals.iter().filter(|refusal| refusal.function.func == function).cloned().collect(),
                    lost_before: lost_before.iter().filter(|lost| lost.0 == function).map(|lost| lost.1.clone()).collect(),
                }
            })
            .collect();
        // A damaged record may claim any count.
        functions.sort_by_key(|function| std::cmp::Reverse(function.events.iter().fold(0, |sum: u64, &events| sum.saturating_add(events))));
        Report {
            module: module.name.clone(),
            hash: module.hash,
            feedback: engine.feedback(),
            functions,
            trials: code.trials(),
            failures: code
                .failures()
                .into_iter()
                .map(|failure| FailureReport { function: failure.function, tier: tier_name(failure.tier), reason: failure.reason })
                .collect(),
            modelled: engine.delivery_counts(),
            monitor: engine.monitor_stats(),
            sources: engine.source_counts(),
            bursts: engine.burst_stats(),
            compile_ms: versions.iter().map(|version| version.compile_time.as_secs_f64() * 1e3).sum(),
            code_bytes: versions.iter().map(|version| version.code_bytes).sum(),
            elapsed_ms: engine.elapsed().as_secs_f64() * 1e3,
            timeline: engine.timeline().moments().into_iter().filter(|moment| moment.module == module.hash).collect(),
            timeline_dropped: engine.timeline().dropped(),
            pulses: engine.timeline().pulses(),
            side_exits: code.side_exits(),
            switches: code.switches(),
            resolved_calls: code.resolved_calls(),
            instructions: engine.config().events.contains(lwp_feedback::layout::EventId::INSTRUCTIONS).then(|| {
                let [interpreter, compiled] = engine.instructions();
                InstructionReport {
                    interpreter: Counting { operators: interpreter, provenance: "exact" },
                    compiled: Counting { operators: compiled, provenance: "estimated" },
                }
            }),
            uncounted: uncounted.into_iter().collect(),
            guards: code.guard_exits().into_iter().map(describe_guard).collect(),
        }
    }
}

/// Bytecode that bursts run in the interpreter.
fn describe_watched(form: WatchedForm) -> VersionReport {
    VersionReport {
        version: form.version,
        tier: tier_name(Tier::Instrumented),
        loop_offset: None,
        interpreted: true,
        code_bytes: form.bytes,
        code_hash: None,
        compile_ms: form.took.as_secs_f64() * 1e3,
        published_ms: form.published.as_secs_f64() * 1e3,
        counted: false,
        arm: false,
        decisions: Vec::new(),
        applied: Vec::new(),
        ns_per_event: None,
        intervals: 0,
        lwpval_sites: 0,
        lwpins_sites: 0,
        speculative_faults: 0,
    }
}

fn describe_guard(exits: GuardExits) -> GuardReport {
    let GuardExits { version, guard, exits } = exits;
    GuardReport { version, function: guard.function, offset: guard.offset, kind: guard.kind.name(), exits }
}

fn describe_version(version: &CodeVersion, intervals: &[f64], ns_per_tick: f64) -> VersionReport {
    VersionReport {
        version: version.number,
        tier: tier_name(version.tier),
        loop_offset: match version.entrance {
            Entrance::Body => None,
            Entrance::Loop(offset) => Some(offset),
        },
        interpreted: false,
        code_bytes: version.code_bytes,
        code_hash: Some(format!("{:016x}", version.code_hash)),
        compile_ms: version.compile_time.as_secs_f64() * 1e3,
        published_ms: version.published.as_secs_f64() * 1e3,
        counted: version.counted,
        arm: version.is_arm(),
        decisions: version.plan.as_ref().map_or(Vec::new(), |plan| plan.decisions.clone()),
        applied: version
            .applied
            .iter()
            .map(|applied| AppliedReport {
                name: applied.name,
                function: applied.function,
                offset: applied.offset,
                detail: applied.detail,
                refused: applied.refused.clone(),
            })
            .collect(),
        ns_per_event: median(intervals).map(|ticks| ticks * ns_per_tick),
        intervals: intervals.len(),
        lwpval_sites: version.value_sites,
        lwpins_sites: version.hot_sites,
        speculative_faults: version.speculative_faults(),
    }
}

/// Intervals between hot records from which two tiers are compared: the median of fewer is anything. Each is of thousands of events.
const ENOUGH_INTERVALS: usize = 3;

fn before_after(versions: &[VersionReport]) -> Option<BeforeAfter> {
    let measured = |tier: &'static str| {
        versions
            .iter()
            .filter(move |version| version.tier == tier && version.loop_offset.is_some() && version.intervals >= ENOUGH_INTERVALS)
    };
    let pairs = measured("baseline").flat_map(|before| {
        let same = measured("optimizing").filter(|after| after.loop_offset == before.loop_offset);
        same.map(move |after| (before, after))
    });
    let (before, after) = pairs.max_by_key(|(before, after)| before.intervals.min(after.intervals))?;
    Some(BeforeAfter { loop_offset: before.loop_offset?, before_ns: before.ns_per_event?, after_ns: after.ns_per_event? })
}

fn sites(engine: &Engine, loaded: &LoadedModule, function: u32) -> Vec<SiteReport> {
    let id = FunctionId { module: loaded.code.key(), func: function };
    let Some(profile) = engine.profile().function(id) else {
        return Vec::new();
    };
    profile
        .sites
        .into_iter()
        // Hot records are the versions' story, not a site's.
        .filter(|site| !site.key.class.is_programmed())
        .map(|site| SiteReport {
            offset: site.key.offset,
            class: site.key.class,
            detail: site.key.detail,
            total: site.total,
            values: site
                .values
                .iter()
                .map(|value| ValueReport {
                    value: value.value,
                    name: match site.key.class {
                        SiteClass::CallTarget => {
                            u32::try_from(value.value).ok().and_then(|callee| loaded.module.function_name(callee)).map(str::to_owned)
                        }
                        _ => None,
                    },
                    count: value.count,
                    error: value.error,
                    share: value.count as f64 / site.total.max(1) as f64,
                })
                .collect(),
        })
        .collect()
}
