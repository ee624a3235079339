//! `--report`: the engine's report as text for a terminal of 80 to 100 columns, or as JSON.

use crate::failure::Failure;
use crate::html;
use crate::options::{ReportFormat, ReportTo};
use crate::output::{name, shown};
use crate::watch::{emptied, unwritten};
use backedge::Module;
use lwp_feedback::class::SiteClass;
use lwp_feedback::models::{Counts, Skid};
use serde::Serialize;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use vm::profiling::Samples;
use vm::report::{BeforeAfter, FunctionReport, Report, SiteReport, ValueReport, VersionReport};
use vm::tiering::TrialRecord;
use vm::tiering::verdict::{Reason, Verdict};

/// Functions that the text shows; JSON has all.
const SHOWN_FUNCTIONS: usize = 20;
/// Least share of a site's records that a value must certainly have to be shown.
const SHOWN_SHARE: f64 = 0.01;
/// Trials that the text shows.
const SHOWN_TRIALS: usize = 40;
/// Columns of the rules.
const WIDTH: usize = 92;

/// What a report tells beside what the engine knows.
pub struct About<'a> {
    /// The module.
    pub module: &'a Module,
    /// Samples of the guest's stack.
    pub samples: Option<&'a Samples>,
    /// The command line.
    pub command: &'a str,
}

/// Writes the report where the option says: `file` is what it opened.
pub fn write(report: &Report, about: &About<'_>, to: &ReportTo, file: Option<File>) -> Result<(), Failure> {
    let text = match to.format {
        ReportFormat::Json => json(report)?,
        ReportFormat::JsonWithCode => json(&html::run::with_code(report, about))?,
        ReportFormat::Html => html::run::page(report, about),
        ReportFormat::Text => shown(&text(report)).into_owned(),
    };
    match (file, &to.file) {
        (Some(file), Some(path)) => emptied(file).write_all(text.as_bytes()).map_err(|error| unwritten(path, &error)),
        _ => match std::io::stderr().write_all(text.as_bytes()) {
            // (a reader that went away has read what it wanted)
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::Load(format!("cannot write the report to standard error: {error}")))
            }
            _ => Ok(()),
        },
    }
}

fn json(report: &impl Serialize) -> Result<String, Failure> {
    let mut json = serde_json::to_string_pretty(report).map_err(|error| Failure::Load(format!("cannot write the report: {error}")))?;
    json.push('\n');
    Ok(json)
}

fn text(report: &Report) -> String {
    let mut out = String::new();
    header(&mut out, report);
    for (rank, function) in report.functions.iter().take(SHOWN_FUNCTIONS).enumerate() {
        describe(&mut out, rank + 1, function);
    }
    trials(&mut out, report);
    if report.functions.len() > SHOWN_FUNCTIONS {
        line(&mut out, format_args!("\n… and {} more functions; --report=json has them all", report.functions.len() - SHOWN_FUNCTIONS));
    }
    if !report.failures.is_empty() {
        line(&mut out, format_args!("\nfunctions that were not compiled"));
        for failure in report.failures.iter().take(SHOWN_FUNCTIONS) {
            line(&mut out, format_args!("  #{} {}: {}", failure.function, failure.tier, failure.reason));
        }
    }
    line(&mut out, format_args!("{}", "─".repeat(WIDTH)));
    out
}

/// What a trial came to, in words.
pub fn outcome(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster: kept",
        Verdict::NotSlower => "not slower: kept",
        Verdict::Slower => "slower: rolled back",
        Verdict::Undecided => "no difference shown: rolled back",
        Verdict::Abandoned(Reason::Disturbed) => "given up: disturbed",
        Verdict::Abandoned(Reason::Idle) => "given up: the code did not run",
        Verdict::Abandoned(Reason::NoEffect) => "no effect: the compiler made the same code",
        Verdict::Abandoned(Reason::NotCompiled) => "not compiled",
    }
}

/// Each trial with both medians, and the plans that were taken back.
fn trials(out: &mut String, report: &Report) {
    if report.trials.is_empty() {
        return;
    }
    line(out, format_args!(""));
    line(out, format_args!("trials (ns per call or round, old version → candidate, medians; ratio: the median of pairs)"));
    for trial in report.trials.iter().take(SHOWN_TRIALS) {
        let TrialRecord { function, loop_offset, judgement, .. } = trial;
        let place = match loop_offset {
            Some(offset) => format!("#{function} loop {offset:#x}"),
            None => format!("#{function}"),
        };
        let verdict = outcome(judgement.verdict);
        if judgement.pairs > 0 {
            let numbers = format!(
                "{:.3} → {:.3} ns, ratio {:.3}, confidence {:.1} %, {} pairs, {} blocks dropped, {:.0} ms",
                judgement.old.p50,
                judgement.new.p50,
                judgement.ratio,
                100.0 * judgement.confidence,
                judgement.pairs,
                judgement.dropped,
                trial.took_ms
            );
            line(out, format_args!("  {place}: {verdict}"));
            line(out, format_args!("    {numbers}"));
        } else {
            line(out, format_args!("  {place}: {verdict}"));
        }
        if trial.decisions.is_empty() && trial.without.is_empty() {
            line(out, format_args!("    plan: none (the version against itself)"));
        }
        let plans = trial.decisions.iter().map(|decision| format!("plan: {decision}"));
        let without = trial.without.iter().map(|decision| format!("without: {decision}"));
        for plan in plans.chain(without) {
            for (index, part) in wrapped(&plan, WIDTH - 6).iter().enumerate() {
                line(out, format_args!("{}{part}", if index == 0 { "    " } else { "      " }));
            }
        }
    }
    if report.trials.len() > SHOWN_TRIALS {
        line(out, format_args!("  … and {} more; --report=json has them all", report.trials.len() - SHOWN_TRIALS));
    }
}

/// What holds for the whole run.
fn header(out: &mut String, report: &Report) {
    let title = "── backedge report ";
    line(out, format_args!("{title}{}", "─".repeat(WIDTH - title.chars().count())));
    line(
        out,
        format_args!(
            "module    {} ({:016x}), {} ms, feedback {}",
            name(report.module.as_deref().unwrap_or("<no name>")),
            report.hash,
            number(report.elapsed_ms.round() as u64),
            report.feedback
        ),
    );
    if let Some((model, counts)) = &report.modelled {
        let Counts { records, lost, unseen, wake_ups, with_registers, skid } = counts;
        line(
            out,
            format_args!(
                "modelled  {model}: {} records delivered ({} with registers), {} lost, {} unseen, {} wake-ups",
                number(*records),
                number(*with_registers),
                number(*lost),
                number(*unseen),
                number(*wake_ups)
            ),
        );
        if skid.ticks > 0 {
            let Skid { same_site, same_function, other_function, .. } = *skid;
            line(
                out,
                format_args!("skid      {same_site} at the site, {same_function} elsewhere in the function, {other_function} beyond"),
            );
        }
    }
    let monitor = &report.monitor;
    line(
        out,
        format_args!(
            "records   {} drained, {} missed, {} of no known code",
            number(monitor.records),
            number(monitor.missed),
            number(monitor.unresolved)
        ),
    );
    for source in &report.sources {
        line(
            out,
            format_args!(
                "          {} stored by {}, {} missed as its ring was full",
                number(source.records),
                source.name,
                number(source.missed)
            ),
        );
    }
    let cpu_ms = monitor.cpu_ns as f64 / 1e6;
    line(
        out,
        format_args!(
            "monitor   {cpu_ms:.2} ms of CPU time in {} polls, {:.2} % of the run",
            number(monitor.polls),
            100.0 * cpu_ms / report.elapsed_ms.max(1e-9)
        ),
    );
    if let Some(counted) = &report.instructions {
        line(
            out,
            format_args!(
                "operators {} in the interpreter ({}), {} in compiled code ({}, by block)",
                number(counted.interpreter.operators),
                counted.interpreter.provenance,
                number(counted.compiled.operators),
                counted.compiled.provenance
            ),
        );
    }
    let bursts = &report.bursts;
    if bursts.budget_percent > 0.0 {
        line(
            out,
            format_args!(
                "bursts    {} of branches, {} of loads, {} of counts",
                number(bursts.branch_bursts),
                number(bursts.load_bursts),
                number(bursts.count_bursts)
            ),
        );
        if bursts.dropped > 0 {
            line(out, format_args!("          {} dropped: they wrote more than their buffer holds", number(bursts.dropped)));
        }
        let steady = bursts
            .steady_percent
            .map_or(String::new(), |steady| format!(", {steady:.2} % of it since its fourth second while nothing was new"));
        line(
            out,
            format_args!(
                "watching  cost {:.2} % of the run{steady}; {:.2} % allowed (more while loops are new)",
                bursts.cost_percent, bursts.budget_percent
            ),
        );
        line(
            out,
            format_args!(
                "          bursts {:.2} ms, their model {:.2} ms, their compiles {:.2} ms, monitor {:.2} ms",
                bursts.burst_ms, bursts.model_ms, bursts.compile_ms, bursts.monitor_ms
            ),
        );
        // (it is not the CPU time above)
        line(out, format_args!("          (the monitor's without those compiles, with what timing the memory took)"));
    }
    let versions: usize = report.functions.iter().map(|f| f.versions.iter().filter(|version| !version.interpreted).count()).sum();
    line(
        out,
        format_args!(
            "compiles  {} versions, {} of machine code, {:.1} ms",
            number(versions as u64),
            size(report.code_bytes),
            report.compile_ms + 0.0
        ),
    );
}

fn describe(out: &mut String, rank: usize, function: &FunctionReport) {
    let called = name(function.name.as_deref().unwrap_or("<no name>"));
    let total = function.events.iter().fold(function.uncounted, |sum: u64, &events| sum.saturating_add(events));
    line(out, format_args!(""));
    line(out, format_args!("{rank:>2}. {}  #{}, {} bytes of wasm", shortened(&called, 60), function.function, function.body_bytes));
    let [interpreter, baseline, optimizing] = function.events;
    // Without tier-up nothing counts; and tier 2 counts only while it is measured.
    if total > 0 {
        line(out, format_args!("    counted: {} calls and rounds", number(total)));
        let [interpreter, baseline, optimizing, rest] = [interpreter, baseline, optimizing, function.uncounted].map(number);
        line(
            out,
            format_args!(
                "      interpreter {interpreter}, baseline {baseline}, unrecorded {rest}, optimizing {optimizing} (while measured)"
            ),
        );
    }
    if let Some(BeforeAfter { loop_offset, before_ns: before, after_ns: after }) = function.before_after {
        line(
            out,
            format_args!(
                "    a round of loop {loop_offset:#x}, baseline → optimizing: {before:.2} ns → {after:.2} ns, {}",
                speedup(before, after)
            ),
        );
    }
    if !function.versions.is_empty() {
        line(out, format_args!("    versions"));
    }
    for version in &function.versions {
        describe_version(out, version);
    }
    // Hot records are what the counts above are made of.
    let sites: Vec<&SiteReport> =
        function.sites.iter().filter(|site| !matches!(site.class, SiteClass::HotFunction | SiteClass::HotLoop)).collect();
    if !sites.is_empty() {
        line(out, format_args!("    sites"));
    }
    for site in sites {
        describe_site(out, site);
    }
    describe_events(out, function);
    decisions(out, function);
}

/// What hardware sampled without saying of how many executions.
fn sampled(count: u64, what: &str) -> String {
    if count == 0 { String::new() } else { format!("; {} {what} sampled (hardware(skid))", number(count)) }
}

/// Branches, selects and loads, each with where its numbers come from.
fn describe_events(out: &mut String, function: &FunctionReport) {
    let percent = |part: u64, whole: u64| part as f64 * 100.0 / whole.max(1) as f64;
    if !function.branches.is_empty() {
        line(out, format_args!("    branches"));
    }
    for branch in &function.branches {
        let (all, judged) = (branch.seen(), branch.predicted + branch.mispredicted);
        line(
            out,
            format_args!(
                "      {:#x}  {} outcomes, {:.1} % taken, {:.1} % of {} mispredicted ({}){}",
                branch.offset,
                number(all),
                percent(branch.ways()[0], all),
                percent(branch.mispredicted, judged),
                number(judged),
                branch.provenance,
                sampled(branch.sampled_mispredicted, "mispredictions")
            ),
        );
    }
    if !function.selects.is_empty() {
        line(out, format_args!("    selects"));
    }
    for select in &function.selects {
        let all = select.taken + select.not_taken;
        line(
            out,
            format_args!(
                "      {:#x}  {} records, {:.1} % true; a branch would be mispredicted {:.1} % (modelled)",
                select.offset,
                number(all),
                percent(select.taken, all),
                percent(select.would_mispredict, select.judged)
            ),
        );
    }
    if !function.loads.is_empty() {
        line(out, format_args!("    loads"));
    }
    for load in &function.loads {
        let misses = load.count();
        let mut text = match (load.executions, load.sampled) {
            (0, 1..) => format!("      {:#x}  executions not counted", load.offset),
            _ => format!("      {:#x}  {} of {} miss", load.offset, number(misses), number(load.executions)),
        };
        if misses > 0 {
            let _ = write!(
                text,
                ": {:.0} % from L3, {:.0} % from memory, {:.0} ticks on average",
                percent(load.sources[1], misses),
                percent(load.sources[3], misses),
                load.mean_latency()
            );
        }
        line(out, format_args!("{text} ({}){}", load.provenance, sampled(load.sampled, "misses")));
        let mut text = String::new();
        if let Some((stride, share)) = load.dominant_stride()
            && share >= 0.5
        {
            let _ = write!(text, "stride {stride} ({:.0} %)", share * 100.0);
        }
        if let Some(from) = load.indirect_from {
            let separator = if text.is_empty() { "" } else { ", " };
            let _ = write!(text, "{separator}address from the load at {from:#x}");
        }
        if !text.is_empty() {
            line(out, format_args!("          {text}"));
        }
    }
    for rounds in &function.rounds {
        line(
            out,
            format_args!("    loop {:#x}  {:.1} ns a round in bursts, {} rounds", rounds.offset, rounds.round_ns(), number(rounds.rounds)),
        );
    }
}

fn describe_version(out: &mut String, version: &VersionReport) {
    let entrance = match version.loop_offset {
        Some(offset) => format!("loop {offset:#x}"),
        None => String::new(),
    };
    let measured = match version.ns_per_event {
        Some(ns) => format!("{ns:>8.2} ns ({}x)", version.intervals),
        None if version.counted => "   counting".to_owned(),
        None => String::new(),
    };
    let line_text = format!(
        "      v{:<3} {:<12} {:<11} at {:>8.1} ms  compile {:>6.2} ms  {:>9} {measured}",
        version.version,
        if version.interpreted { "interpreted" } else { version.tier },
        entrance,
        version.published_ms,
        version.compile_ms,
        size(version.code_bytes)
    );
    line(out, format_args!("{}", line_text.trim_end()));
}

fn describe_site(out: &mut String, site: &SiteReport) {
    let mut class = site.class.name().to_owned();
    if site.class == SiteClass::Param {
        let _ = write!(class, " {}", site.detail);
    }
    let mut text = format!("      {:#08x} {class:<13} {:>9} records  ", site.offset, number(site.total));
    // Counts may be overestimated by `error` (the profile keeps few values); only what is certain says something.
    let certain = |value: &ValueReport| value.certain() as f64 / site.total.max(1) as f64;
    let values: Vec<&ValueReport> = site.values.iter().filter(|value| certain(value) >= SHOWN_SHARE).collect();
    if values.is_empty() {
        text.push_str("spread over many values");
    }
    for (shown, value) in values.iter().enumerate() {
        let what = match &value.name {
            Some(callee) => shortened(&name(callee), 24),
            None if value.value > 0xffff_ffff => format!("{:#x}", value.value),
            None => value.value.to_string(),
        };
        let next = format!("{what} {:.1} %", 100.0 * certain(value));
        let comma = if shown == 0 { "" } else { ", " };
        // Room for ", 12 more" stays.
        if shown > 0 && text.chars().count() + comma.len() + next.chars().count() + 9 > WIDTH {
            let _ = write!(text, ", {} more", values.len() - shown);
            break;
        }
        let _ = write!(text, "{comma}{next}");
    }
    line(out, format_args!("{}", text.trim_end()));
}

/// Why what the policy decides is not tried.
pub(crate) const LOST_BEFORE: &str = "a trial of an earlier process took it back; it is tried again when its numbers change";

/// What was decided and refused, by the policy and by the compiler.
fn decisions(out: &mut String, function: &FunctionReport) {
    // The body and each loop are versions of their own, mostly with the same decisions: said once, with the versions.
    let mut said: Vec<(String, Vec<u32>)> = Vec::new();
    let mut say = |text: String, version: u32| match said.iter_mut().find(|(known, _)| *known == text) {
        Some((_, versions)) => versions.push(version),
        None => said.push((text, vec![version])),
    };
    for version in &function.versions {
        for decision in &version.decisions {
            say(format!("plan: {decision}"), version.version);
        }
        for applied in &version.applied {
            let place = format!("{} at #{} {:#x}", applied.name, applied.function, applied.offset);
            match &applied.refused {
                None => say(format!("done: {place}"), version.version),
                Some(reason) => say(format!("refused: {place}: {reason}"), version.version),
            }
        }
    }
    let mut lines: Vec<String> = said
        .into_iter()
        .map(|(text, mut versions)| {
            versions.dedup();
            let versions: Vec<String> = versions.iter().map(|version| format!("v{version}")).collect();
            format!("{text} [{}]", versions.join(" "))
        })
        .collect();
    for refusal in &function.refusals {
        lines.push(format!("refused: {}: {}", refusal.title(), refusal.reason));
    }
    for decision in &function.lost_before {
        lines.push(format!("not tried: {}: {LOST_BEFORE}", decision.title()));
    }
    if !lines.is_empty() {
        line(out, format_args!("    decisions"));
    }
    for text in lines {
        for (index, part) in wrapped(&text, WIDTH - 8).iter().enumerate() {
            let indent = if index == 0 { "      " } else { "        " };
            line(out, format_args!("{indent}{part}"));
        }
    }
}

fn line(out: &mut String, args: std::fmt::Arguments<'_>) {
    out.write_fmt(args).expect("writing to a string");
    out.push('\n');
}

fn speedup(before: f64, after: f64) -> String {
    if after <= 0.0 {
        return "not comparable".to_owned();
    }
    let ratio = before / after;
    match ratio {
        0.97..=1.03 => "no difference".to_owned(),
        _ if ratio > 1.0 => format!("{ratio:.2}x faster"),
        _ => format!("{:.2}x slower", 1.0 / ratio),
    }
}

/// With separators: 1,234,567.
fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{kept}…")
}

/// Breaks at spaces.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("never empty");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(number(12), "12");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(wrapped("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(speedup(4.0, 2.0), "2.00x faster");
    }
}
