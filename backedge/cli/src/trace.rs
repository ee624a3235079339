//! `--trace FILE`: the timeline as Chrome trace events (JSON), which Perfetto and chrome://tracing open.
//!
//! Tracks: each thread that did something (compiles as spans, the rest as instants); each trial and each version in force as an asynchronous span,
//! since several overlap; the monitor's records, fill and code bytes as counters. Times are microseconds since the engine began.
//! Format: "Trace Event Format", <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>.

use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use vm::code::Tier;
use vm::report::Report;
use vm::timeline::{Moment, What};

/// Track of asynchronous spans and counters.
const PROCESS: u32 = 1;

/// Writes the trace.
pub fn write(file: File, report: &Report, name: &dyn Fn(u32) -> Option<String>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    let events = events(report, name);
    let program = report.module.as_deref().unwrap_or("module");
    let trace = json!({ "displayTimeUnit": "ms", "otherData": { "producer": "backedge", "module": program, "dropped": report.timeline_dropped }, "traceEvents": events });
    serde_json::to_writer(&mut out, &trace).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()
}

fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Baseline => "baseline",
        Tier::Optimizing => "optimizing",
        Tier::Instrumented => "instrumented",
    }
}

fn micros(ns: u64) -> f64 {
    ns as f64 / 1e3
}

/// The events of a report's timeline.
pub fn events(report: &Report, name: &dyn Fn(u32) -> Option<String>) -> Vec<Value> {
    let mut events = vec![json!({ "ph": "M", "name": "process_name", "pid": PROCESS, "args": { "name": "backedge" } })];
    let mut threads: BTreeMap<&str, u32> = BTreeMap::new();
    for moment in &report.timeline {
        let next = threads.len() as u32 + 1;
        threads.entry(&moment.thread).or_insert(next);
    }
    for (thread, number) in &threads {
        events.push(json!({ "ph": "M", "name": "thread_name", "pid": PROCESS, "tid": number, "args": { "name": thread } }));
    }
    let mut tracks = Tracks { in_force: HashMap::new(), trials: HashMap::new() };
    for moment in &report.timeline {
        let function = name(moment.function).unwrap_or_else(|| format!("#{}", moment.function));
        let place = match moment.loop_offset {
            Some(offset) => format!("{function} loop {offset:#x}"),
            None => function,
        };
        tracks.event(moment, &place, threads[moment.thread.as_str()], &mut events);
    }
    tracks.close((report.elapsed_ms * 1e3).max(report.timeline.last().map_or(0.0, |last| micros(last.at_ns))), &mut events);
    for pair in report.pulses.windows(2) {
        let [before, pulse] = pair else { continue };
        let seconds = (pulse.at_ns - before.at_ns) as f64 / 1e9;
        let counter = |name: &str, value: f64| json!({ "ph": "C", "name": name, "pid": PROCESS, "ts": micros(pulse.at_ns), "args": { "value": value } });
        events.push(counter("records drained per second", (pulse.records as f64 / seconds).round()));
        events.push(counter("fullest ring, percent", f64::from(pulse.fullest_permille) / 10.0));
        events.push(counter("monitor CPU, percent of one", (pulse.cpu_ns.saturating_sub(before.cpu_ns)) as f64 / 1e7 / seconds));
        events.push(counter("machine code, KiB", pulse.code_bytes as f64 / 1024.0));
    }
    events
}

/// Spans that are open.
struct Tracks {
    /// Version → name.
    in_force: HashMap<u32, String>,
    /// Candidate's version → name.
    trials: HashMap<u32, String>,
}

impl Tracks {
    fn event(&mut self, moment: &Moment, place: &str, thread: u32, events: &mut Vec<Value>) {
        let at = micros(moment.at_ns);
        let args = json!({ "function": moment.function, "loop_offset": moment.loop_offset });
        let instant = |name: String, category: &str, more: Value| {
            let mut args = args.clone();
            merge(&mut args, more);
            json!({ "ph": "i", "s": "t", "name": name, "cat": category, "pid": PROCESS, "tid": thread, "ts": at, "args": args })
        };
        match &moment.what {
            What::Asked { tier } => events.push(instant(format!("asked: {place}"), "asked", json!({ "tier": tier_name(*tier) }))),
            What::Compiled { version, tier, took_ns, code_bytes, arm, interpreted } => {
                let mut args = args.clone();
                merge(
                    &mut args,
                    json!({ "version": version, "tier": tier_name(*tier), "code_bytes": code_bytes, "arm_of_trial": arm, "interpreted": interpreted }),
                );
                let name = format!("{place} v{version} ({})", tier_name(*tier));
                events.push(json!({
                    "ph": "X", "name": name, "cat": "compile", "pid": PROCESS, "tid": thread,
                    "ts": micros(moment.at_ns.saturating_sub(*took_ns)), "dur": micros(*took_ns), "args": args,
                }));
            }
            What::Failed { tier, reason } => {
                events.push(instant(format!("not compiled: {place}"), "compile", json!({ "tier": tier_name(*tier), "reason": reason })));
            }
            What::Planned { decisions, refusals } => {
                events.push(instant(format!("planned: {place}"), "plan", json!({ "decisions": decisions, "refusals": refusals })));
            }
            What::Entered { version, tier } => {
                let name = format!("{place} ({})", tier_name(*tier));
                events.push(span("b", "version in force", &name, *version, at));
                self.in_force.insert(*version, name);
            }
            What::Retired { version } => {
                if let Some(name) = self.in_force.remove(version) {
                    events.push(span("e", "version in force", &name, *version, at));
                }
                events.push(instant(format!("retired: {place} v{version}"), "retire", json!({ "version": version })));
            }
            What::Freed { version } => events.push(instant(format!("freed: {place} v{version}"), "retire", json!({ "version": version }))),
            What::Switched { version, count } => {
                events.push(instant(
                    format!("switched at {place}"),
                    "switch",
                    json!({ "from_version": version, "switches_so_far": count }),
                ));
            }
            What::SideExit { version, guard, count } => {
                events.push(instant(
                    format!("side exit of {place}"),
                    "exit",
                    json!({ "version": version, "guard": guard, "exits_so_far": count }),
                ));
            }
            What::TrialBegan { versions } => {
                let name = format!("trial of {place}");
                events.push(span("b", "trial", &name, versions[1], at));
                self.trials.insert(versions[1], name);
            }
            What::TrialEnded { versions, verdict, ratio, pairs, decisions, .. } => {
                if let Some(name) = self.trials.remove(&versions[1]) {
                    events.push(span("e", "trial", &name, versions[1], at));
                }
                let more = json!({ "verdict": verdict, "ratio": ratio, "pairs": pairs, "versions": versions, "decisions": decisions });
                events.push(instant(format!("verdict on {place}"), "trial", more));
            }
            What::Burst { words, burst_ns, model_ns } => {
                let more = json!({ "words": words, "burst_us": micros(*burst_ns), "model_us": micros(*model_ns) });
                events.push(instant(format!("burst of {place}"), "burst", more));
            }
        }
    }

    /// What is open ends with the run.
    fn close(self, at: f64, events: &mut Vec<Value>) {
        let mut open: Vec<(&str, u32, String)> =
            self.in_force.into_iter().map(|(version, name)| ("version in force", version, name)).collect();
        open.extend(self.trials.into_iter().map(|(version, name)| ("trial", version, name)));
        open.sort();
        events.extend(open.into_iter().map(|(category, version, name)| span("e", category, &name, version, at)));
    }
}

fn span(phase: &str, category: &str, name: &str, id: u32, at: f64) -> Value {
    json!({ "ph": phase, "name": name, "cat": category, "id": id, "pid": PROCESS, "tid": 0, "ts": at })
}

fn merge(into: &mut Value, from: Value) {
    if let (Some(into), Value::Object(from)) = (into.as_object_mut(), from) {
        into.extend(from);
    }
}
