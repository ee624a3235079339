//! `backedge explain`: per function what was seen, what the policy makes of it by which formula with which numbers, what the compiler made of that, and
//! how its trial went.
//!
//! Enters: a program to run, or a record file to replay. Leaves: text, or JSON for tools. One entry an operator: its profile with where that came
//! from, then each transformation that looked at it.

use crate::failure::Failure;
use crate::options::{Explain, Feedback, Run, Source, Tier};
use crate::output::{name, print};
use crate::policyoptions;
use crate::report::{LOST_BEFORE, outcome};
use crate::run::{self, Around, Output, engine, load};
use crate::watch::Watch;
use backedge::{Engine, Module};
use lwp_feedback::policy::{self, Decision, Plan, Refusal};
use lwp_feedback::profile::{FunctionSnapshot, Profile, ProfileLimits, Snapshot};
use lwp_feedback::recordfile;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::BufReader;
use std::sync::Arc;
use vm::report::{AppliedReport, FunctionReport, Report};
use vm::tiering::TrialRecord;

/// Runs or replays, then explains. The exit code is the program's.
pub fn explain(options: &Explain) -> Result<i32, Failure> {
    if options.replay.is_some() {
        print(&replayed(options)?)?;
        return Ok(0);
    }
    // What explains goes to standard output, what the guest prints there to standard error: so tools can read the first.
    let mut explained = Ok(());
    let mut begun = |_: &Engine, module: &Module, _: &Watch| only(module, options).map(|_| ());
    let mut then = |_: &Engine, module: &Module| {
        let (plans, refusals) = module.loaded().code.plan_all();
        let report = module.report();
        explained =
            explanation(module, module.loaded().code.snapshot(), (plans, refusals), Some(&report), options).and_then(|text| print(&text));
    };
    // What was seen until a signal ended it is explained too.
    let around = Around { watched: true, output: Output::Aside, stoppable: false, leaves: true, begun: &mut begun, then: &mut then };
    let code = run::run_around(&options.run, around)?;
    explained.map(|()| code)
}

/// The one function to explain, if one is named.
fn only(module: &Module, options: &Explain) -> Result<Option<u32>, Failure> {
    options.func.as_deref().map(|name| crate::dump::find(module, name)).transpose()
}

/// Refuses what only a run could do or use.
fn runs_nothing(run: &Run) -> Result<(), Failure> {
    let Run { keep, watch, engine, .. } = run;
    let given = [
        ("--report", run.report.is_some()),
        ("--lwp-record", run.lwp_record.is_some()),
        ("--export", keep.export.is_some()),
        ("--save-plan", keep.save_plan.is_some()),
        ("--profile-save", keep.profile_save.is_some()),
        ("--profile-use", keep.profile_use.is_some()),
        ("--event-source", !keep.event_source.is_empty()),
        ("--trace", watch.trace.is_some()),
        ("--profile", watch.profile.is_some()),
        ("--plan", engine.plan.is_some()),
        ("--source", engine.source != Source::Inline),
        ("--tier", !matches!(engine.tier, Tier::Auto)),
        ("--no-feedback", engine.no_feedback),
        ("--feedback", engine.feedback != Feedback::Lwp),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Failure::Usage(format!("--replay runs nothing: it cannot go with {name}"))),
        None => Ok(()),
    }
}

fn replayed(options: &Explain) -> Result<String, Failure> {
    let (Some(path), Some(file)) = (&options.replay, options.run.file_and_args.first()) else {
        return Err(Failure::Usage("expected the module that was recorded".into()));
    };
    runs_nothing(&options.run)?;
    let mut config = run::config(&options.run.engine, None)?;
    // A compiler to ask what it can inline; nothing runs.
    config.tier(backedge::TierPolicy::Optimizing);
    let engine = engine(&config)?;
    let module = load(&engine, file.as_ref())?;
    let input = std::fs::File::open(path).map_err(|error| Failure::read(path, &error))?;
    let profile = Arc::new(Profile::new(ProfileLimits::default()));
    let damaged = |error: &dyn std::fmt::Display| Failure::Load(format!("`{}`: {error}", path.display()));
    let summary = recordfile::replay(BufReader::new(input), profile.clone(), Box::new(lwp_feedback::monitor::NoListener))
        .map_err(|error| damaged(&error))?;
    let hash = module.loaded().module.hash;
    if !profile.modules().contains(&hash) {
        return Err(damaged(&format_args!("no records of module {hash:016x}")));
    }
    let snapshot = module.loaded().code.snapshot_of(profile.snapshot(hash).functions);
    let machine = engine.vm().config();
    let answers = policy::ask(&*machine.policy, &snapshot, &machine.budgets);
    policyoptions::decided(&*machine.policy)?;
    let text = explanation(&module, snapshot, answers, None, options)?;
    match summary.error {
        Some(error) => {
            print(&text)?;
            Err(damaged(&error))
        }
        None => Ok(text),
    }
}

/// Everything about a module.
#[derive(Serialize)]
struct Explanation {
    module: Option<String>,
    hash: String,
    functions: Vec<Function>,
}

/// One function.
#[derive(Serialize)]
struct Function {
    function: u32,
    name: Option<String>,
    body_bytes: usize,
    records: u64,
    side_exits: u64,
    /// Optimized versions, as the report has them.
    versions: Vec<serde_json::Value>,
    /// Trials with verdict, both distributions and confidence, as the report has them.
    trials: Vec<TrialRecord>,
    operators: Vec<Operator>,
}

/// One operator.
#[derive(Default, Serialize)]
struct Operator {
    offset: u32,
    /// What was seen, a line a source.
    seen: Vec<Seen>,
    answers: Vec<Answer>,
}

/// One thing that was seen of an operator.
#[derive(Serialize)]
struct Seen {
    what: String,
    /// `exact`, `timed`, `modelled`, `hardware(skid)` or `hint`.
    provenance: String,
    text: String,
}

/// What one transformation makes of it.
#[derive(Serialize)]
struct Answer {
    transformation: String,
    decided: bool,
    /// The reason's stable name, where refused.
    reason: Option<String>,
    /// The formula with its numbers.
    text: String,
    decision: Option<Decision>,
    refusal: Option<Refusal>,
    /// What the compiler did: version, and why not.
    compiled: Vec<Compiled>,
    /// A trial of an earlier process took it back: it is not tried again before its numbers change.
    lost_before: bool,
}

#[derive(PartialEq, Serialize)]
struct Compiled {
    version: u32,
    refused: Option<String>,
}

type Answers = (Vec<Plan>, Vec<Refusal>);

fn explanation(
    module: &Module,
    snapshot: Snapshot,
    answers: Answers,
    report: Option<&Report>,
    options: &Explain,
) -> Result<String, Failure> {
    let inner = &module.loaded().module;
    let only = only(module, options)?;
    let reports: BTreeMap<u32, &FunctionReport> = report.iter().flat_map(|it| &it.functions).map(|it| (it.function, it)).collect();
    let mut functions: Vec<Function> = snapshot
        .functions
        .iter()
        .filter(|it| only.is_none_or(|only| only == it.func) && (it.func as usize) < inner.functions.len())
        .map(|it| {
            let trials = report.iter().flat_map(|report| &report.trials).filter(|trial| trial.function == it.func).cloned().collect();
            function(module, it, &snapshot, &answers, reports.get(&it.func).copied(), trials)
        })
        .filter(|it| only.is_some() || !it.operators.is_empty())
        .collect();
    functions.sort_by_key(|it| (std::cmp::Reverse(it.records), it.function));
    let all = Explanation { module: inner.name.clone(), hash: format!("{:016x}", inner.hash), functions };
    if options.json {
        let mut json = serde_json::to_string_pretty(&all).map_err(|error| Failure::Load(format!("cannot write JSON: {error}")))?;
        json.push('\n');
        return Ok(json);
    }
    Ok(text(&all))
}

fn function(
    module: &Module,
    seen: &FunctionSnapshot,
    snapshot: &Snapshot,
    (plans, refusals): &Answers,
    report: Option<&FunctionReport>,
    trials: Vec<TrialRecord>,
) -> Function {
    let inner = &module.loaded().module;
    let mut operators: BTreeMap<u32, Operator> = BTreeMap::new();
    let mut see = |offset: u32, what: &str, provenance: &str, text: String| {
        let operator = operators.entry(offset).or_insert_with(|| Operator { offset, ..Operator::default() });
        operator.seen.push(Seen { what: what.into(), provenance: provenance.into(), text });
    };
    profile(module, seen, &mut see);
    for prior in snapshot.priors.iter().filter(|it| it.func == seen.func) {
        prior.branches.iter().for_each(|it| see(it.0, "branch", "hint", format!("mostly {}", if it.1 { "true" } else { "false" })));
        prior.call_targets.iter().for_each(|it| see(it.0, "call-target", "hint", format!("callees and percent {:?}", it.1)));
        prior.frequencies.iter().for_each(|it| see(it.0, "frequency", "hint", format!("2^{} times a call", i32::from(it.1) - 32)));
    }
    let mut answer = |offset: u32, answer: Answer| {
        operators.entry(offset).or_insert_with(|| Operator { offset, ..Operator::default() }).answers.push(answer);
    };
    let compiled = |decision: &Decision| -> Vec<Compiled> {
        let versions = report.iter().flat_map(|it| &it.versions);
        let mut compiled: Vec<Compiled> = versions
            .flat_map(|version| version.applied.iter().map(move |applied| (version.version, applied)))
            .filter(|(_, applied)| is_of(applied, decision))
            .map(|(version, applied)| Compiled { version, refused: applied.refused.clone() })
            .collect();
        // (a loop that is there twice, or where its function was inlined)
        compiled.dedup();
        compiled
    };
    let decisions = plans.iter().filter(|it| it.function.func == seen.func).flat_map(|it| it.decisions.clone());
    let mut known: Vec<Decision> = decisions.collect();
    // What a version was compiled to and the policy would not decide any more: the profile went on since.
    let now = known.len();
    let place = |it: &Decision| (it.name(), it.offset(), it.detail());
    for decision in report.iter().flat_map(|it| &it.versions).flat_map(|it| &it.decisions) {
        if !known.iter().any(|it| place(it) == place(decision)) {
            known.push(decision.clone());
        }
    }
    for (index, decision) in known.into_iter().enumerate() {
        let earlier = if index < now { "" } else { "decided earlier, from what was known then: " };
        let offset = decision.offset();
        answer(
            offset,
            Answer {
                transformation: decision.name().into(),
                decided: true,
                reason: None,
                text: format!("{earlier}{decision}"),
                compiled: compiled(&decision),
                lost_before: report.is_some_and(|it| it.lost_before.iter().any(|lost| place(lost) == place(&decision))),
                decision: Some(decision),
                refusal: None,
            },
        );
    }
    for refusal in refusals.iter().filter(|it| it.function.func == seen.func) {
        answer(
            refusal.offset,
            Answer {
                transformation: refusal.transformation.to_string(),
                decided: false,
                reason: Some(refusal.reason.name().into()),
                text: refusal.parameter.map_or(String::new(), |parameter| format!("parameter {parameter}: ")) + &refusal.reason.to_string(),
                compiled: Vec::new(),
                lost_before: false,
                decision: None,
                refusal: Some(refusal.clone()),
            },
        );
    }
    let optimized = report.iter().flat_map(|it| &it.versions).filter(|it| it.tier == "optimizing");
    Function {
        function: seen.func,
        name: inner.function_name(seen.func).map(str::to_owned),
        body_bytes: inner.defined(seen.func).and_then(|own| inner.bodies.get(own)).map_or(0, |body| body.len()),
        records: seen.records,
        side_exits: seen.side_exits,
        versions: optimized.filter_map(|it| serde_json::to_value(it).ok()).collect(),
        trials,
        operators: operators.into_values().collect(),
    }
}

/// Whether that is what became of the decision. The compiler has finer names (`inline-guarded` for `inline`).
fn is_of(applied: &AppliedReport, decision: &Decision) -> bool {
    let name = match decision {
        Decision::Inline(it) if !it.direct => "inline-guarded",
        decision => decision.name(),
    };
    applied.offset == decision.offset() && applied.name == name && applied.detail == decision.detail()
}

/// What records say of each operator of a function.
fn profile(module: &Module, seen: &FunctionSnapshot, see: &mut impl FnMut(u32, &str, &str, String)) {
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    for site in seen.sites.iter().filter(|site| !site.key.class.is_programmed()) {
        let mut text = format!("{} records:", site.total);
        for value in site.values.iter().filter(|value| percent(value.certain(), site.total) >= 1.0) {
            let name = match site.key.class {
                lwp_feedback::class::SiteClass::CallTarget => {
                    u32::try_from(value.value).ok().and_then(|callee| module.loaded().module.function_name(callee))
                }
                _ => None,
            };
            let name = name.map_or(String::new(), |name| format!(" `{name}`"));
            let _ = write!(text, " {}{name} {:.1} %,", value.value, percent(value.certain(), site.total));
        }
        let text = match text.strip_suffix(',') {
            Some(text) => text.to_owned(),
            None => format!("{text} spread over many values"),
        };
        let what = match site.key.class {
            lwp_feedback::class::SiteClass::Param => format!("parameter {}", site.key.detail),
            class => class.name().into(),
        };
        see(site.key.offset, &what, "exact", text);
    }
    for branch in &seen.branches {
        let (outcomes, judged) = (branch.seen(), branch.predicted.saturating_add(branch.mispredicted));
        let mut text = format!(
            "{outcomes} outcomes: true {:.1} %; {judged} predictions: {:.2} % mispredicted",
            percent(branch.ways()[0], outcomes),
            percent(branch.mispredicted, judged)
        );
        if branch.sampled_mispredicted > 0 {
            let _ = write!(text, "; {} mispredictions sampled, of how many executions is not known", branch.sampled_mispredicted);
        }
        see(branch.offset, "branch", branch.provenance.name(), text);
    }
    for select in &seen.selects {
        let total = select.taken.saturating_add(select.not_taken);
        let text = format!(
            "{total} conditions: true {:.1} %; a branch would mispredict {:.2} % of {}",
            percent(select.taken, total),
            percent(select.would_mispredict, select.judged),
            select.judged
        );
        see(select.offset, "select", "modelled", text);
    }
    for load in &seen.loads {
        let stride = load.dominant_stride().map_or(String::new(), |(stride, share)| format!("; stride {stride} in {:.1} %", share * 100.0));
        let from = load.indirect_from.map_or(String::new(), |from| format!("; address loaded at {from:#x}"));
        let sampled = match load.sampled {
            0 => String::new(),
            sampled => format!("; {sampled} misses sampled, of how many executions is not known"),
        };
        let text = format!(
            "{} misses in {} executions{}{stride}{from}{sampled}",
            if load.executions == 0 && load.sampled > 0 { 0 } else { load.count() },
            load.executions,
            if load.count() > 0 {
                format!(", mean latency {:.0} ticks, by source {:?}", load.mean_latency(), load.sources)
            } else {
                String::new()
            }
        );
        see(load.offset, "load", load.provenance.name(), text);
    }
    for rounds in &seen.rounds {
        see(rounds.offset, "loop", "timed", format!("{} rounds in bursts, {:.2} ns each there", rounds.rounds, rounds.round_ns()));
    }
}

fn text(all: &Explanation) -> String {
    let mut out = String::new();
    let mut line = |args: std::fmt::Arguments<'_>| {
        out.write_fmt(args).expect("writing to a string");
        out.push('\n');
    };
    line(format_args!(
        "module {} ({}), {} functions with records",
        name(all.module.as_deref().unwrap_or("<no name>")),
        all.hash,
        all.functions.len()
    ));
    for function in &all.functions {
        line(format_args!(
            "\nfunction {} {}: {} bytes, {} records{}",
            function.function,
            name(function.name.as_deref().unwrap_or("<no name>")),
            function.body_bytes,
            function.records,
            if function.side_exits > 0 { format!(", {} side exits", function.side_exits) } else { String::new() }
        ));
        for version in &function.versions {
            line(format_args!("  version {}{}", version["version"], details(version)));
        }
        for trial in &function.trials {
            let without = trial.without.iter().map(|it| format!("without {}", it.title()));
            let what: Vec<String> = trial.decisions.iter().map(Decision::title).chain(without).collect();
            let what = if what.is_empty() { "the version against itself".to_owned() } else { what.join(", ") };
            let (judgement, [old, new]) = (&trial.judgement, trial.versions);
            line(format_args!("  trial of {what} (version {new} against {old}): {}", outcome(judgement.verdict)));
            if judgement.pairs > 0 {
                line(format_args!(
                    "    {:.3} times the old version's time (median of pairs; medians {:.2} ns to {:.2} ns), confidence {:.1} %, {} pairs of blocks",
                    judgement.ratio,
                    judgement.old.p50,
                    judgement.new.p50,
                    judgement.confidence * 100.0,
                    judgement.pairs
                ));
            }
        }
        for operator in &function.operators {
            line(format_args!("  {:#x}", operator.offset));
            for seen in &operator.seen {
                line(format_args!("    seen: {} ({}): {}", seen.what, seen.provenance, name(&seen.text)));
            }
            for answer in &operator.answers {
                let verdict = if answer.decided { "decided" } else { "refused" };
                line(format_args!("    {}: {verdict}: {}", answer.transformation, answer.text));
                for compiled in &answer.compiled {
                    match &compiled.refused {
                        None => line(format_args!("      version {}: done", compiled.version)),
                        Some(why) => line(format_args!("      version {}: refused by the compiler: {why}", compiled.version)),
                    }
                }
                if answer.lost_before {
                    line(format_args!("      not tried: {LOST_BEFORE}"));
                }
            }
        }
    }
    out
}

/// A version's entrance and its measured time.
fn details(version: &serde_json::Value) -> String {
    let mut text = String::new();
    if let Some(offset) = version["loop_offset"].as_u64() {
        let _ = write!(text, ", loop {offset:#x}");
    }
    if version["arm"] == true {
        text.push_str(", arm of a trial");
    }
    if let Some(ns) = version["ns_per_event"].as_f64() {
        let _ = write!(text, ", {ns:.2} ns a call or round");
    }
    text
}
