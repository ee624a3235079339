//! What was seen of one run, as sections of a page: from a report as `--report=json` writes it, so that a run's own page and a benchmark's show the same.
//!
//! With [`Extra`] there are also samples of the guest's stack and its code; a report of `--report=json` has neither.

use super::plot::{self, Box5, Curve};
use super::source::{Line, Source};
use super::{bytes, escaped, number, table, three, tiles, time};
use lwp_feedback::class::SiteClass;
use lwp_feedback::policy::{Decision, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// What a report does not hold; as JSON, the member `code` of one that does.
#[derive(Default, Serialize, Deserialize)]
pub struct Extra {
    /// Ticks of the sampler's timer with this function innermost, by the operator's offset.
    pub ticks: BTreeMap<u32, BTreeMap<u32, u64>>,
    /// CPU time of a tick, ns.
    pub interval_ns: u64,
    /// Ticks in compiled code, and in the interpreter or the host.
    pub compiled_ticks: u64,
    /// See `compiled_ticks`.
    pub other_ticks: u64,
    /// Names by function.
    pub names: BTreeMap<u32, String>,
    /// Code by function.
    pub sources: BTreeMap<u32, Source>,
}

/// Functions of the timeline, and those with a part of their own.
const LANES: usize = 12;
const DETAILED: usize = 40;
/// Trials with a picture.
const PICTURED: usize = 60;
/// Moments of the list.
const LISTED: usize = 2000;

impl Extra {
    /// Ticks with this function innermost.
    pub fn ticks_of(&self, function: u32) -> u64 {
        self.ticks.get(&function).map_or(0, |ticks| ticks.values().sum())
    }

    /// Ticks of all functions.
    pub fn all_ticks(&self) -> u64 {
        self.ticks.values().flat_map(BTreeMap::values).sum()
    }
}

fn array<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn integer(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

fn events(function: &Value) -> u64 {
    array(function, "events").iter().fold(integer(&function["uncounted"]), |sum: u64, it| sum.saturating_add(integer(it)))
}

fn index(function: &Value) -> u32 {
    integer(&function["function"]) as u32
}

fn name_of(report: &Value, extra: &Extra, function: u32) -> String {
    let reported = || array(report, "functions").iter().find(|it| index(it) == function)?["name"].as_str();
    extra.names.get(&function).map(String::as_str).or_else(reported).map_or_else(|| format!("#{function}"), str::to_owned)
}

/// Functions, those with the most samples first, then by what was counted.
pub fn ranked(report: &Value, extra: &Extra) -> Vec<u32> {
    let mut all: Vec<(u64, u64, u32)> =
        array(report, "functions").iter().map(|it| (extra.ticks_of(index(it)), events(it), index(it))).collect();
    let known: BTreeSet<u32> = all.iter().map(|it| it.2).collect();
    let sampled: BTreeSet<u32> = extra.ticks.keys().copied().collect();
    all.extend(sampled.difference(&known).map(|&function| (extra.ticks_of(function), 0, function)));
    all.sort_by_key(|&(ticks, events, function)| (std::cmp::Reverse((ticks, events)), function));
    all.into_iter().map(|it| it.2).collect()
}

/// The sections; `prefix` makes their ids unique on a page with several runs.
pub fn sections(report: &Value, extra: &Extra, prefix: &str) -> Vec<(String, String, String)> {
    let mut sections = Vec::new();
    let mut add = |id: &str, heading: &str, body: String| {
        if !body.is_empty() {
            sections.push((format!("{prefix}{id}"), heading.to_owned(), body));
        }
    };
    add("summary", "Summary", summary(report, extra));
    add("timeline", "Tiers over time", timeline(report, extra));
    add("hot", "Hot functions", hot(report, extra, prefix));
    add("functions", "Records, plans and code by function", functions(report, extra, prefix));
    add("trials", "Trials", trials(report, extra));
    add("refusals", "Refusals", refusals(report));
    add("monitor", "What watching cost", monitor(report));
    add("moments", "What happened when", moments(report, extra));
    sections
}

fn summary(report: &Value, extra: &Extra) -> String {
    let elapsed_ms = float(&report["elapsed_ms"]);
    let monitor = &report["monitor"];
    let compiled = |it: &Value| array(it, "versions").iter().filter(|version| version["interpreted"] != true).count();
    let versions: usize = array(report, "functions").iter().map(compiled).sum();
    let trials = array(report, "trials");
    let verdict = |word: &str| trials.iter().filter(|it| it["verdict"] == word).count();
    let cpu_ms = float(&monitor["cpu_ns"]) / 1e6;
    let bursts = &report["bursts"];
    let mut all = vec![("wall time", time(elapsed_ms * 1e6), "since the engine began".to_owned())];
    let ticks = extra.compiled_ticks + extra.other_ticks;
    if ticks > 0 {
        let compiled = 100.0 * extra.compiled_ticks as f64 / ticks as f64;
        let more =
            format!("of {} samples, one each {} of CPU time; the rest interpreter and host", number(ticks), time(extra.interval_ns as f64));
        all.push(("in compiled code", format!("{compiled:.1} %"), more));
    }
    all.push((
        "records drained",
        number(integer(&monitor["records"])),
        format!("{} missed, {} of no known code", number(integer(&monitor["missed"])), number(integer(&monitor["unresolved"]))),
    ));
    all.push((
        "monitor",
        format!("{:.2} %", 100.0 * cpu_ms / elapsed_ms.max(1e-9)),
        format!("of wall time: {} of CPU time in {} polls", time(cpu_ms * 1e6), number(integer(&monitor["polls"]))),
    ));
    if float(&bursts["budget_percent"]) > 0.0 {
        all.push((
            "watching in all",
            format!("{:.2} %", float(&bursts["cost_percent"])),
            format!("bursts, model, compiles, monitor; {} % allowed, more while loops are new", three(float(&bursts["budget_percent"]))),
        ));
    }
    all.push((
        "compiled versions",
        number(versions as u64),
        format!("{} of machine code, {} of compiling", bytes(float(&report["code_bytes"])), time(float(&report["compile_ms"]) * 1e6)),
    ));
    all.push((
        "trials",
        number(trials.len() as u64),
        format!(
            "{} faster, {} not slower: kept; {} slower, {} undecided: taken back; {} given up",
            verdict("faster"),
            verdict("not-slower"),
            verdict("slower"),
            verdict("undecided"),
            trials.len() - ["faster", "not-slower", "slower", "undecided"].map(verdict).iter().sum::<usize>()
        ),
    ));
    all.push((
        "left compiled code",
        number(integer(&report["switches"]) + integer(&report["side_exits"])),
        format!("{} switches at loops, {} side exits", number(integer(&report["switches"])), number(integer(&report["side_exits"]))),
    ));
    let mut out = String::new();
    if report["feedback"] == "off" {
        out.push_str("<p class=\"warn\">Feedback was off: records were written, no plan was made.</p>");
    }
    out + &tiles(&all)
}

/// The colour of a tier's code.
fn tier_colour(tier: &str) -> &'static str {
    match tier {
        "baseline" => "var(--baseline)",
        "optimizing" => "var(--optimizing)",
        "instrumented" => "var(--instrumented)",
        _ => "var(--interpreter)",
    }
}

/// Serde writes tiers as in the source.
fn tier_of(moment: &Value) -> String {
    moment["tier"].as_str().unwrap_or("").to_lowercase()
}

/// Stretches of time, each with the highest tier that calls or loops of the function led to.
fn stretches(report: &Value, function: u32, end_ns: f64) -> Vec<(f64, f64, &'static str)> {
    let mut in_force: BTreeMap<u64, (bool, u64)> = BTreeMap::new(); // version → (optimizing, number)
    let mut stretches: Vec<(f64, f64, &'static str)> = Vec::new();
    let (mut since, mut now) = (0.0, "interpreter");
    for moment in array(report, "timeline").iter().filter(|it| index(it) == function) {
        let version = integer(&moment["version"]);
        match moment["what"].as_str() {
            Some("entered") => _ = in_force.insert(version, (tier_of(moment) == "optimizing", version)),
            Some("retired") => _ = in_force.remove(&version),
            _ => continue,
        }
        let next = match in_force.values().map(|it| it.0).max() {
            None => "interpreter",
            Some(false) => "baseline",
            Some(true) => "optimizing",
        };
        if next != now {
            let at = float(&moment["at_ns"]);
            stretches.push((since, at, now));
            (since, now) = (at, next);
        }
    }
    stretches.push((since, end_ns, now));
    stretches
}

fn timeline(report: &Value, extra: &Extra) -> String {
    let end_ns = (float(&report["elapsed_ms"]) * 1e6).max(1.0);
    if array(report, "timeline").is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<p>The highest tier that a function's calls or loops led to. Before its first compile a function is interpreted. Marks below: compiles. Violet: trials.</p>",
    );
    out.push_str("<div class=\"key\">");
    for tier in ["interpreter", "baseline", "optimizing"] {
        _ = write!(out, "<span><i style=\"background:{}\"></i>{tier}</span>", tier_colour(tier));
    }
    out.push_str(
        "<span><i style=\"background:var(--compile)\"></i>compile</span><span><i style=\"background:var(--trial)\"></i>trial</span></div>",
    );
    let x = |ns: f64| 1000.0 * (ns / end_ns).clamp(0.0, 1.0);
    let all = extra.all_ticks().max(1);
    let of_timeline: BTreeSet<u32> = array(report, "timeline").iter().map(index).collect();
    for function in ranked(report, extra).into_iter().filter(|function| of_timeline.contains(function)).take(LANES) {
        let name = name_of(report, extra, function);
        let ticks = extra.ticks_of(function);
        let share = if ticks > 0 { format!("{:.1} % of samples", 100.0 * ticks as f64 / all as f64) } else { String::new() };
        let mut lane = String::new();
        let mut rect = |from: f64, to: f64, y: u32, height: u32, colour: &str, title: String| {
            // What is shorter than a pixel is still there.
            let width = (x(to) - x(from)).max(1.5);
            _ = write!(
                lane,
                "<rect x=\"{:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{height}\" fill=\"{colour}\"><title>{}</title></rect>",
                x(from).min(998.5),
                escaped(title)
            );
        };
        for (from, to, tier) in stretches(report, function, end_ns) {
            rect(from, to, 0, 15, tier_colour(tier), format!("{name}: {tier} from {} to {}", time(from), time(to)));
        }
        for moment in array(report, "timeline").iter().filter(|it| index(it) == function) {
            let at = float(&moment["at_ns"]);
            let took = float(&moment["took_ns"]);
            match moment["what"].as_str() {
                Some("compiled") => {
                    let title = format!(
                        "v{} {} compiled in {}, {}",
                        moment["version"],
                        tier_of(moment),
                        time(took),
                        bytes(float(&moment["code_bytes"]))
                    );
                    rect(at - took, at, 21, 5, "var(--compile)", title);
                }
                Some("trial-ended") => {
                    rect(at - took, at, 16, 4, "var(--trial)", format!("trial: {}, {}", verdict_words(moment), time(took)))
                }
                _ => {}
            }
        }
        _ = write!(
            out,
            "<div class=\"lane\"><div class=\"name\"><span><code>{}</code></span><span>{share}</span></div><svg viewBox=\"0 0 1000 26\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"tiers of {0}\">{lane}</svg></div>",
            escaped(&name)
        );
    }
    out.push_str("<div class=\"axis\">");
    for step in 0..=4 {
        _ = write!(out, "<span>{}</span>", if step == 0 { "0".into() } else { time(end_ns * f64::from(step) / 4.0) });
    }
    out.push_str("</div>");
    out
}

/// The tier of the last version that calls or loops lead to.
fn tier_now(report: &Value, function: u32) -> &'static str {
    stretches(report, function, 1.0).last().map_or("interpreter", |it| it.2)
}

fn hot(report: &Value, extra: &Extra, prefix: &str) -> String {
    let all = extra.all_ticks();
    let sampled = all > 0;
    let mut headings = vec!["function", "tier at the end"];
    if sampled {
        headings.push("#CPU samples");
    }
    headings.extend(["#calls and rounds counted", "#versions", "#observations", "ns a round of a loop: baseline → optimizing"]);
    let mut rows = Vec::new();
    for function in ranked(report, extra).into_iter().take(DETAILED) {
        let empty = Value::Null;
        let reported = array(report, "functions").iter().find(|it| index(it) == function).unwrap_or(&empty);
        let tier = tier_now(report, function);
        let mut row = vec![
            format!("<a href=\"#{prefix}f{function}\"><code>{}</code></a>", escaped(name_of(report, extra, function))),
            format!("<span class=\"t\"><i style=\"background:{}\"></i>{tier}</span>", tier_colour(tier)),
        ];
        if sampled {
            row.push(format!("{:.1} %", 100.0 * extra.ticks_of(function) as f64 / all as f64));
        }
        let change = match (reported["before_after"]["before_ns"].as_f64(), reported["before_after"]["after_ns"].as_f64()) {
            (Some(before), Some(after)) => format!("{} → {} ns ({}×)", three(before), three(after), three(before / after.max(1e-12))),
            _ => "<span class=\"muted\">not measured</span>".into(),
        };
        row.extend([
            number(events(reported)),
            number(array(reported, "versions").len() as u64),
            number(observations(reported).values().sum()),
            change,
        ]);
        rows.push(row);
    }
    if rows.is_empty() {
        return "<p>No function became hot.</p>".into();
    }
    let mut out = String::new();
    if sampled {
        _ = write!(
            out,
            "<p>Samples: one each {} of the guest thread's CPU time, of the function that ran (not of its callers).</p>",
            time(extra.interval_ns as f64)
        );
    }
    out.push_str("<p>Counted calls and rounds are those of the interpreter and of baseline code, and of optimized code while it was measured: a lower bound.</p>");
    out + &table(&headings, &rows)
}

/// What was seen by offset: records, and outcomes that bursts counted without one.
fn observations(function: &Value) -> BTreeMap<u32, u64> {
    let mut observations: BTreeMap<u32, u64> = BTreeMap::new();
    let mut add = |it: &Value, count: u64| {
        let sum = observations.entry(integer(&it["offset"]) as u32).or_default();
        *sum = sum.saturating_add(count);
    };
    array(function, "sites").iter().for_each(|it| add(it, integer(&it["total"])));
    array(function, "branches").iter().for_each(|it| add(it, ways(it).iter().fold(0, |sum: u64, &count| sum.saturating_add(count))));
    array(function, "selects").iter().for_each(|it| add(it, integer(&it["taken"]) + integer(&it["not_taken"])));
    array(function, "loads").iter().for_each(|it| add(it, misses(it)));
    observations
}

/// Outcomes of a branch, with records or counted: taken, not taken.
fn ways(branch: &Value) -> [u64; 2] {
    let counted = |at: usize| integer(&branch["counted"][at]);
    [integer(&branch["taken"]).saturating_add(counted(0)), integer(&branch["not_taken"]).saturating_add(counted(1))]
}

fn misses(load: &Value) -> u64 {
    array(load, "latency").iter().map(|it| integer(&it[1])).sum()
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// Everything that was seen of a function: offset, what, count, in words, whose verdict.
fn seen(function: &Value) -> Vec<(u32, String, u64, String, String)> {
    let mut all = Vec::new();
    let offset = |it: &Value| integer(&it["offset"]) as u32;
    for site in array(function, "sites") {
        let total = integer(&site["total"]);
        let values: Vec<String> = array(site, "values")
            .iter()
            .filter(|it| percent(integer(&it["count"]).saturating_sub(integer(&it["error"])), total) >= 1.0)
            .take(6)
            .map(|it| {
                let what = it["name"].as_str().map_or_else(|| it["value"].to_string(), str::to_owned);
                format!("{what} {:.1} %", percent(integer(&it["count"]).saturating_sub(integer(&it["error"])), total))
            })
            .collect();
        let words = if values.is_empty() { "spread over many values".into() } else { values.join(", ") };
        let what = match serde_json::from_value::<SiteClass>(site["class"].clone()) {
            Ok(SiteClass::Param) => format!("parameter {}", site["detail"]),
            Ok(class) => class.name().to_owned(),
            Err(_) => "value".into(),
        };
        all.push((offset(site), what, total, words, "exact".to_owned()));
    }
    for branch in array(function, "branches") {
        let [taken, not] = ways(branch);
        let (predicted, mispredicted) = (integer(&branch["predicted"]), integer(&branch["mispredicted"]));
        let mut words = format!(
            "{:.1} % taken; {:.1} % of {} mispredicted",
            percent(taken, taken.saturating_add(not)),
            percent(mispredicted, predicted + mispredicted),
            number(predicted + mispredicted)
        );
        let sampled = integer(&branch["sampled_mispredicted"]);
        if sampled > 0 {
            _ = write!(words, "; {} mispredictions sampled", number(sampled));
        }
        all.push((offset(branch), "branch".into(), taken.saturating_add(not), words, provenance(branch)));
    }
    for select in array(function, "selects") {
        let (taken, not) = (integer(&select["taken"]), integer(&select["not_taken"]));
        let words = format!(
            "{:.1} % true; a branch would be mispredicted {:.1} % of the time",
            percent(taken, taken + not),
            percent(integer(&select["would_mispredict"]), integer(&select["judged"]))
        );
        all.push((offset(select), "select".into(), taken + not, words, "modelled".into()));
    }
    for load in array(function, "loads") {
        let count = misses(load);
        let mean = array(load, "latency").iter().map(|it| float(&it[0]) * float(&it[1])).sum::<f64>() / count.max(1) as f64;
        let (executions, sampled) = (integer(&load["executions"]), integer(&load["sampled"]));
        let mut words = match (executions, sampled) {
            (0, 1..) => format!("{} misses sampled, executions not counted", number(sampled)),
            _ => format!("{} misses in {} executions", number(count), number(executions)),
        };
        if count > 0 {
            _ = write!(words, ", {mean:.0} ticks on average; {:.0} % from memory", percent(integer(&load["sources"][3]), count));
        }
        if let Some(stride) = array(load, "strides").first() {
            let (value, of) = (stride["stride"].as_i64().unwrap_or(0), percent(integer(&stride["count"]), integer(&load["stride_total"])));
            if of >= 50.0 {
                _ = write!(words, "; stride {value} ({of:.0} %)");
            }
        }
        if let Some(from) = load["indirect_from"].as_u64() {
            _ = write!(words, "; address from the load at {from:#x}");
        }
        all.push((offset(load), "load".into(), count, words, provenance(load)));
    }
    for rounds in array(function, "rounds") {
        let count = integer(&rounds["rounds"]);
        let words = format!("{} a round in bursts", time(float(&rounds["ns"]) / count.max(1) as f64));
        all.push((offset(rounds), "loop".into(), count, words, "timed".into()));
    }
    all.sort_by_key(|it| it.0);
    all
}

fn provenance(it: &Value) -> String {
    it["provenance"].as_str().unwrap_or("exact").to_owned()
}

fn functions(report: &Value, extra: &Extra, prefix: &str) -> String {
    let mut out = String::new();
    for (rank, function) in ranked(report, extra).into_iter().take(DETAILED).enumerate() {
        let empty = Value::Null;
        let reported = array(report, "functions").iter().find(|it| index(it) == function).unwrap_or(&empty);
        let mut body = versions(reported);
        body += &seen_by_site(reported, extra.sources.get(&function));
        body += &decisions(reported);
        if let Some(source) = extra.sources.get(&function) {
            let none = BTreeMap::new();
            body += &code(source, &observations(reported), extra.ticks.get(&function).unwrap_or(&none));
        }
        if body.is_empty() {
            body = "<p class=\"muted\">Nothing was recorded, decided or compiled.</p>".into();
        }
        let ticks = extra.ticks_of(function);
        let share = if ticks > 0 { format!(" · {:.1} % of samples", percent(ticks, extra.all_ticks())) } else { String::new() };
        _ = write!(
            out,
            "<details id=\"{prefix}f{function}\"{}><summary><code>{}</code> <span class=\"muted\">#{function}{share} · {} bytes of wasm</span></summary><div>{body}</div></details>",
            if rank == 0 { " open" } else { "" },
            escaped(name_of(report, extra, function)),
            number(integer(&reported["body_bytes"])),
        );
    }
    out
}

fn versions(function: &Value) -> String {
    let rows: Vec<Vec<String>> = array(function, "versions")
        .iter()
        .map(|it| {
            let entrance = it["loop_offset"].as_u64().map_or("function".into(), |offset| format!("loop {offset:#x}"));
            let tier = it["tier"].as_str().unwrap_or("");
            let role = match (&it["arm"], &it["interpreted"]) {
                (Value::Bool(true), _) => " (trial)",
                (_, Value::Bool(true)) => " (interpreted)",
                _ => "",
            };
            vec![
                format!("v{}", it["version"]),
                format!("<span class=\"t\"><i style=\"background:{}\"></i>{tier}{role}</span>", tier_colour(tier)),
                entrance,
                time(float(&it["published_ms"]) * 1e6),
                time(float(&it["compile_ms"]) * 1e6),
                bytes(float(&it["code_bytes"])),
                it["ns_per_event"].as_f64().map_or("–".into(), |ns| format!("{} ns", three(ns))),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings = ["version", "tier", "entered at", "#published", "#compile time", "#code", "#a call or round"];
    format!("<h3>Versions</h3>{}", table(&headings, &rows))
}

fn seen_by_site(function: &Value, source: Option<&Source>) -> String {
    let text: BTreeMap<u32, &str> =
        source.iter().flat_map(|it| &it.text).filter_map(|line| Some((line.offset?, line.text.trim()))).collect();
    let rows: Vec<Vec<String>> = seen(function)
        .into_iter()
        .map(|(offset, what, count, words, whose)| {
            let operator = text.get(&offset).map_or(String::new(), |text| format!(" <code>{}</code>", escaped(text)));
            vec![format!("<code>{offset:#x}</code>{operator}"), escaped(what), number(count), escaped(words), escaped(whose)]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("<h3>Observations by site</h3>{}", table(&["at", "of", "#observations", "what they say", "known"], &rows))
}

fn decisions(function: &Value) -> String {
    let mut items: Vec<(u32, String)> = Vec::new();
    let mut known: BTreeMap<(u32, String), (Vec<String>, Decision)> = BTreeMap::new();
    for version in array(function, "versions") {
        for decision in array(version, "decisions") {
            let Ok(decision) = serde_json::from_value::<Decision>(decision.clone()) else { continue };
            let entry = known.entry((decision.offset(), decision.to_string())).or_insert_with(|| (Vec::new(), decision));
            entry.0.push(format!("v{}", version["version"]));
        }
    }
    for ((offset, words), (versions, decision)) in known {
        let formula = &decision.because().formula;
        let formula = if formula.is_empty() || words.contains(formula.as_str()) {
            String::new()
        } else {
            format!("<div class=\"formula code\">{}</div>", escaped(formula))
        };
        items.push((
            offset,
            format!("<span class=\"chip good\">decided</span> {} <small>[{}]</small>{formula}", escaped(words), versions.join(" ")),
        ));
    }
    let mut applied: BTreeMap<(u32, String, Option<String>), Vec<String>> = BTreeMap::new();
    for version in array(function, "versions") {
        for it in array(version, "applied") {
            let key =
                (integer(&it["offset"]) as u32, it["name"].as_str().unwrap_or("").to_owned(), it["refused"].as_str().map(str::to_owned));
            applied.entry(key).or_default().push(format!("v{}", version["version"]));
        }
    }
    for ((offset, name, refused), mut versions) in applied {
        versions.dedup();
        let (class, word, why) = match refused {
            None => ("good", "compiled", String::new()),
            Some(why) => ("bad", "refused by the compiler", format!(": {why}")),
        };
        let place = format!("{name} at {offset:#x}{why}");
        items.push((
            offset,
            format!("<span class=\"chip {class}\">{word}</span> {} <small>[{}]</small>", escaped(place), versions.join(" ")),
        ));
    }
    for refusal in array(function, "refusals") {
        let Ok(refusal) = serde_json::from_value::<Refusal>(refusal.clone()) else { continue };
        let words = format!("{}: {}", refusal.title(), refusal.reason);
        items.push((refusal.offset, format!("<span class=\"chip none\">refused</span> {}", escaped(words))));
    }
    if items.is_empty() {
        return String::new();
    }
    items.sort_by_key(|item| item.0);
    let items: String = items.into_iter().map(|(_, html)| format!("<li>{html}</li>")).collect();
    format!("<h3>Plans and refusals</h3><ul class=\"plain\">{items}</ul>")
}

/// A function's code, heated by samples where there are any, else by observations.
fn code(source: &Source, seen: &BTreeMap<u32, u64>, ticks: &BTreeMap<u32, u64>) -> String {
    let mut out = String::new();
    let cut = if source.cut { "<p class=\"muted\">Long: not all of it is shown.</p>" } else { "" };
    if !source.text.is_empty() {
        _ = write!(out, "<details><summary>WebAssembly text</summary><div>{cut}{}</div></details>", listing(&source.text, seen, ticks));
    }
    for (heading, lines) in &source.machine {
        _ = write!(
            out,
            "<details><summary>Machine code: {}</summary><div>{}</div></details>",
            escaped(heading),
            listing(lines, seen, ticks)
        );
    }
    if !out.is_empty() {
        let heat = if ticks.is_empty() {
            "blue: its share of the function's observations"
        } else {
            "orange: its share of the function's samples; blue: of its observations"
        };
        out = format!(
            "<h3>Code</h3><p class=\"muted\">Beside each operator: {heat}. In machine code a count stands at the operator's first instruction, and may be several times there.</p>{out}"
        );
    }
    out
}

fn listing(lines: &[Line], seen: &BTreeMap<u32, u64>, ticks: &BTreeMap<u32, u64>) -> String {
    let (all_ticks, all_seen) = (ticks.values().sum::<u64>(), seen.values().sum::<u64>());
    let mut out = String::from("<div class=\"source\"><table><thead><tr>");
    if all_ticks > 0 {
        out.push_str("<th class=\"n\">samples</th>");
    }
    out.push_str("<th class=\"n\">observations</th><th class=\"n\">at</th><th>code</th></tr></thead><tbody>");
    let hottest = if all_ticks > 0 { ticks } else { seen }.iter().max_by_key(|it| it.1).map(|it| *it.0);
    for line in lines {
        let at = line.offset.filter(|_| line.first);
        let share =
            |of: &BTreeMap<u32, u64>, all: u64| at.and_then(|at| of.get(&at)).map_or(0.0, |&count| count as f64 / all.max(1) as f64);
        let (heat, cool) = (share(ticks, all_ticks), share(seen, all_seen));
        // The root makes small shares visible; the figure says how much it is.
        let cell = |share: f64, colour: &str| match share {
            0.0 => "<td class=\"n\"></td>".to_owned(),
            _ => format!(
                "<td class=\"n\" style=\"background:rgba(var(--{colour}),{:.2})\">{:.1} %</td>",
                0.08 + 0.5 * share.sqrt(),
                share * 100.0
            ),
        };
        out.push_str(if at.is_some() && at == hottest { "<tr class=\"hot\">" } else { "<tr>" });
        if all_ticks > 0 {
            out.push_str(&cell(heat, "heat"));
        }
        out.push_str(&cell(cool, "cool"));
        let offset = at.map_or(String::new(), |at| format!("{at:#x}"));
        _ = write!(out, "<td class=\"n o\">{offset}</td><td>{}</td></tr>", escaped(&line.text));
    }
    out.push_str("</tbody></table></div>");
    out
}

fn verdict_words(it: &Value) -> &'static str {
    match it["verdict"].as_str() {
        Some("faster") => "faster: kept",
        Some("not-slower") => "not slower: kept",
        Some("slower") => "slower: taken back",
        Some("undecided") => "no difference shown: taken back",
        _ => match it["verdict"]["abandoned"].as_str() {
            Some("disturbed") => "given up: disturbed",
            Some("idle") => "given up: the code did not run",
            Some("no-effect") => "no effect: the compiler made the same code",
            _ => "not compiled",
        },
    }
}

fn trials(report: &Value, extra: &Extra) -> String {
    let trials = array(report, "trials");
    if trials.is_empty() {
        return "<p>None: no plan was tried.</p>".into();
    }
    let mut out = String::from(
        "<p>Each plan was timed against the code before on the running program, in alternating blocks. Boxes: the middle half of the blocks, with the median; whiskers: from 10 to 90 % of them; in ns a call of the function or a round of the loop.</p>",
    );
    for trial in trials.iter().take(PICTURED) {
        let function = index(trial);
        let name = name_of(report, extra, function);
        let place = trial["loop_offset"].as_u64().map_or(String::new(), |offset| format!(", loop {offset:#x}"));
        let chip = match trial["verdict"].as_str() {
            Some("faster" | "not-slower") => "good",
            Some("slower") => "bad",
            _ => "none",
        };
        let plans: Vec<String> = array(trial, "decisions")
            .iter()
            .filter_map(|it| serde_json::from_value::<Decision>(it.clone()).ok())
            .map(|it| format!("<li>{}</li>", escaped(it)))
            .collect();
        let plans = if plans.is_empty() { "<li>nothing: the version against itself</li>".into() } else { plans.join("") };
        _ = write!(out, "<h3><code>{}</code>{place} <span class=\"chip {chip}\">{}</span></h3>", escaped(name), verdict_words(trial));
        let pairs = integer(&trial["pairs"]);
        if pairs > 0 {
            let at = |of: &Value| ["p10", "p25", "p50", "p75", "p90"].map(|p| float(&of[p]));
            let arms = [("before", "old", "var(--s1)"), ("after", "new", "var(--s0)")];
            let figure = plot::both(|width| {
                let boxes: Vec<Box5> = arms
                    .iter()
                    .map(|(name, of, colour)| Box5 { name: (*name).into(), at: at(&trial[*of]), colour: (*colour).into() })
                    .collect();
                plot::boxes(width, "times of both versions", "ns a call or round", &boxes)
            });
            _ = write!(
                out,
                "<figure><figcaption>{} times the time before (median over {pairs} pairs of blocks), confidence {:.1} %; {} blocks dropped; took {}</figcaption>{figure}</figure>",
                three(float(&trial["ratio"])),
                100.0 * float(&trial["confidence"]),
                number(integer(&trial["dropped"])),
                time(float(&trial["took_ms"]) * 1e6),
            );
        }
        _ = write!(out, "<ul>{plans}</ul>");
    }
    if trials.len() > PICTURED {
        _ = write!(out, "<p class=\"muted\">… and {} more; <code>--report=json</code> has them all.</p>", trials.len() - PICTURED);
    }
    out
}

fn refusals(report: &Value) -> String {
    let mut counted: BTreeMap<(String, String), (u64, String)> = BTreeMap::new();
    for function in array(report, "functions") {
        for refusal in array(function, "refusals") {
            let Ok(refusal) = serde_json::from_value::<Refusal>(refusal.clone()) else { continue };
            let key = (refusal.transformation.to_string(), refusal.reason.name().to_owned());
            counted.entry(key).or_insert_with(|| (0, refusal.reason.to_string())).0 += 1;
        }
    }
    if counted.is_empty() {
        return "<p>None.</p>".into();
    }
    let rows: Vec<Vec<String>> = counted
        .into_iter()
        .map(|((transformation, reason), (count, example))| vec![escaped(transformation), escaped(reason), number(count), escaped(example)])
        .collect();
    format!(
        "<p>What the policy looked at and did not do, by reason; each site is under its function above.</p>{}",
        table(&["transformation", "reason", "#sites", "for example"], &rows)
    )
}

fn monitor(report: &Value) -> String {
    let monitor = &report["monitor"];
    let elapsed_ns = float(&report["elapsed_ms"]) * 1e6;
    let row = |what: &str, value: String, more: &str| vec![escaped(what), value, escaped(more)];
    let cpu = float(&monitor["cpu_ns"]);
    let bursts = &report["bursts"];
    let lag = &monitor["lag_ns"];
    let mut rows = vec![
        row(
            "monitor, CPU time",
            format!("{} ({:.3} % of the run)", time(cpu), 100.0 * cpu / elapsed_ns.max(1.0)),
            "draining, resolving, counting",
        ),
        row("records drained", number(integer(&monitor["records"])), "all rings"),
        row("records missed", number(integer(&monitor["missed"])), "the ring was full; nobody waited"),
        row(
            "CPU time a record",
            if integer(&monitor["records"]) > 0 { time(cpu / float(&monitor["records"])) } else { "–".into() },
            "with the polls that found none",
        ),
    ];
    if integer(&lag["count"]) > 0 {
        let text = format!("{} / {} / {}", time(float(&lag["p50"])), time(float(&lag["p99"])), time(float(&lag["max"])));
        rows.push(row("from store to drain", text, "median / 99 % / most"));
    }
    if float(&bursts["budget_percent"]) > 0.0 {
        rows.push(row(
            "bursts",
            format!(
                "{} of branches, {} of loads, {} of counts",
                number(integer(&bursts["branch_bursts"])),
                number(integer(&bursts["load_bursts"])),
                number(integer(&bursts["count_bursts"]))
            ),
            "runs of instrumented code",
        ));
        rows.push(row("time in bursts", time(float(&bursts["burst_ms"]) * 1e6), "all of it, not only what it was slower"));
        rows.push(row("time in the model", time(float(&bursts["model_ms"]) * 1e6), "the predictor's run over what bursts wrote"));
        rows.push(row("compiles for bursts", time(float(&bursts["compile_ms"]) * 1e6), "of instrumented code"));
        rows.push(row(
            "the monitor's part",
            time(float(&bursts["monitor_ms"]) * 1e6),
            "its CPU time without those compiles, with what timing the memory took",
        ));
        rows.push(row(
            "watching in all",
            format!("{:.2} % of {} % allowed", float(&bursts["cost_percent"]), three(float(&bursts["budget_percent"]))),
            "of the run: these four; new loops may take five times as much in their first second",
        ));
        if let Some(steady) = bursts["steady_percent"].as_f64() {
            rows.push(row("watching later", format!("{steady:.2} %"), "of the run since its fourth second while nothing was new"));
        }
    }
    let mut out = table(&["what", "cost", ""], &rows);
    let pulses = array(report, "pulses");
    if pulses.len() >= 3 {
        let at = |it: &Value| float(&it["at_ns"]) / 1e6;
        let rate = |value: &dyn Fn(&Value, &Value) -> f64| -> Vec<(f64, f64)> {
            // A rate holds from one pulse to the next.
            let mut points: Vec<(f64, f64)> = pulses.windows(2).map(|pair| (at(&pair[0]), value(&pair[0], &pair[1]))).collect();
            points.extend(points.last().map(|last| (at(&pulses[pulses.len() - 1]), last.1)));
            points
        };
        let seconds = |a: &Value, b: &Value| ((float(&b["at_ns"]) - float(&a["at_ns"])) / 1e9).max(1e-9);
        let drained = rate(&|a, b| float(&b["records"]) / seconds(a, b) / 1e3);
        let percent = |what: &str, a: &Value, b: &Value| 100.0 * (float(&b[what]) - float(&a[what])).max(0.0) / 1e9 / seconds(a, b);
        let cpu = rate(&|a, b| percent("cpu_ns", a, b));
        // Its CPU time is that as of the poll before.
        let watching = rate(&|a, b| percent("watching_ns", a, b));
        let fill: Vec<(f64, f64)> = pulses.iter().map(|it| (at(it), float(&it["fullest_permille"]) / 10.0)).collect();
        let plots = [
            ("Records drained, thousands per second", "thousand/s", drained, plot::series(1)),
            ("The fullest ring when the monitor came, percent of its size", "percent", fill, plot::series(2)),
            ("CPU time of the monitor, percent of one processor", "percent", cpu, plot::series(3)),
            ("All that watching costs, percent of the time", "percent", watching, plot::series(4)),
        ];
        for (caption, unit, points, colour) in plots {
            let figure = plot::both(|width| {
                let curve = Curve { name: String::new(), points: points.clone(), colour: colour.clone(), steps: true, filled: true };
                plot::curves(width, caption, "ms since the engine began", unit, &[curve], false)
            });
            _ = write!(out, "<figure><figcaption>{caption}</figcaption>{figure}</figure>");
        }
    }
    out
}

fn moments(report: &Value, extra: &Extra) -> String {
    let all = array(report, "timeline");
    if all.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = all
        .iter()
        .take(LISTED)
        .map(|it| {
            let words = match it["what"].as_str().unwrap_or("") {
                "asked" => format!("asked for {} code", tier_of(it)),
                "compiled" => format!(
                    "v{} compiled by {} in {}: {}",
                    it["version"],
                    tier_of(it),
                    time(float(&it["took_ns"])),
                    bytes(float(&it["code_bytes"]))
                ),
                "failed" => format!("not compiled by {}: {}", tier_of(it), it["reason"].as_str().unwrap_or("")),
                "planned" => {
                    let decisions: Vec<&str> = array(it, "decisions").iter().filter_map(Value::as_str).collect();
                    format!(
                        "planned: {}; {} refused",
                        if decisions.is_empty() { "nothing".into() } else { decisions.join(", ") },
                        it["refusals"]
                    )
                }
                "entered" => format!("v{} entered ({})", it["version"], tier_of(it)),
                "switched" => format!("left v{} at a loop; {} switches so far", it["version"], it["count"]),
                "side-exit" => format!("guard {} of v{} failed; {} side exits so far", it["guard"], it["version"], it["count"]),
                "trial-began" => format!("trial of v{} against v{} began", it["versions"][1], it["versions"][0]),
                "trial-ended" => {
                    let ratio = it["ratio"].as_f64().map_or(String::new(), |ratio| format!(", ratio {}", three(ratio)));
                    format!("trial: {}; {} pairs{ratio}", verdict_words(it), it["pairs"])
                }
                "retired" => format!("v{} retired", it["version"]),
                "freed" => format!("v{} freed", it["version"]),
                "burst" => {
                    format!("burst of {} words: {}, model {}", it["words"], time(float(&it["burst_ns"])), time(float(&it["model_ns"])))
                }
                other => other.to_owned(),
            };
            let place = it["loop_offset"].as_u64().map_or(String::new(), |offset| format!(" loop {offset:#x}"));
            vec![
                format!("{:.3}", float(&it["at_ns"]) / 1e6),
                format!("<code>{}</code>{place}", escaped(name_of(report, extra, index(it)))),
                escaped(words),
                escaped(it["thread"].as_str().unwrap_or("")),
            ]
        })
        .collect();
    let mut out = format!(
        "<details><summary>{} moments</summary><div>{}</div></details>",
        number(all.len() as u64),
        table(&["#ms", "function", "what", "thread"], &rows)
    );
    let left_out = all.len().saturating_sub(LISTED) as u64 + integer(&report["timeline_dropped"]);
    if left_out > 0 {
        _ = write!(out, "<p class=\"muted\">{} more are not listed.</p>", number(left_out));
    }
    out
}
