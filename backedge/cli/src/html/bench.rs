//! The page of a benchmark run, and its plots as files for papers.
//!
//! Enters: [`Results`], as the harness writes them. Leaves: one page with a section per question (speed-up by program and group, time to peak, start-up,
//! memory) and one per program, or SVG files. A run that must not be cited says so at the top of the page.

use super::observed::{self, Extra};
use super::plot::{self, Bar, Curve};
use super::{bytes, escaped, number, page, table, three, tiles, time};
use bench_programs::results::{Cell, Comparison, Flag, GroupMean, Interval, Metric, Peer, Results, Row, RowKind, Verdict};
use bench_programs::table::{quoted, rows_in_words};
use serde::Deserialize as _;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

/// The page.
pub fn page_of(results: &Results) -> String {
    let mut sections: Vec<(String, String, String)> = vec![("summary".into(), "Summary".into(), summary(results))];
    let mut add = |id: &str, heading: &str, body: String| {
        if !body.is_empty() {
            sections.push((id.into(), heading.into(), body));
        }
    };
    add("speed", "Speed-up, steady state", speedups(results, Metric::Steady));
    add("one-shot", "Speed-up, one whole process as shipped", speedups(results, Metric::OneShot));
    add("peak", "Time to peak", time_to_peak(results));
    add("startup", "Start-up", startup(results));
    add("memory", "Memory", memory(results));
    add("problems", "Problems and flags", problems(results));
    add("machine", "Machine, engines and settings", machine(results));
    for program in &results.programs {
        let id = format!("program-{}", program.id);
        sections.push((id, program.id.clone(), program_section(results, &program.id)));
    }
    let below = format!(
        "<p><code>{}</code></p><p>{} to {}</p>",
        escaped(quoted(&results.command)),
        escaped(&results.started),
        escaped(&results.ended)
    );
    page("backedge bench", &below, &sections)
}

/// Plots as files of their own: name and contents.
pub fn files(results: &Results) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for (metric, name) in [(Metric::Steady, "speedup-steady"), (Metric::OneShot, "speedup-one-shot"), (Metric::Startup, "speedup-startup")]
    {
        for peer in compared(results, metric) {
            files.push((format!("{name}-{peer}.svg"), speedup_plot(results, metric, &peer, 760.0)));
        }
    }
    if !mean_bars(results, Metric::Steady).is_empty() {
        files.push(("groups-steady.svg".into(), mean_plot(results, Metric::Steady, 760.0)));
    }
    for row in results.rows.iter().filter(|row| row.cells.iter().any(|cell| !cell.curve.is_empty())) {
        files.push((format!("time-to-peak-{}.svg", row.id.replace('/', "-")), curve_plot(results, row, 760.0)));
    }
    let [whole, ready] = [Metric::Startup, Metric::Steady].map(|metric| startup_plot(results, metric, 760.0));
    for (name, svg) in [("startup-process.svg", whole), ("startup-first-call.svg", ready), ("memory.svg", memory_plot(results, 760.0))] {
        if let Some(svg) = svg {
            files.push((name.into(), svg));
        }
    }
    let warning = if results.not_for_citing.is_empty() { "" } else { "not for citing" };
    files.into_iter().map(|(name, svg)| (name, plot::standalone(&svg, warning))).collect()
}

/// Writes the plots into a folder, which is made where it is missing; how many there are.
///
/// # Errors
/// With the path that could not be written.
pub fn write_files(results: &Results, folder: &Path) -> Result<usize, (PathBuf, io::Error)> {
    std::fs::create_dir_all(folder).map_err(|error| (folder.to_owned(), error))?;
    let files = files(results);
    for (name, svg) in &files {
        let path = folder.join(name);
        std::fs::write(&path, svg).map_err(|error| (path, error))?;
    }
    Ok(files.len())
}

fn title<'a>(results: &'a Results, peer: &'a str) -> &'a str {
    results.peers.iter().find(|it| it.id == peer).map_or(peer, |it| if it.title.is_empty() { &it.id } else { &it.title })
}

fn colour(results: &Results, peer: &str) -> String {
    plot::series(results.peers.iter().position(|it| it.id == peer).unwrap_or(6))
}

fn row_of<'a>(results: &'a Results, id: &str) -> Option<&'a Row> {
    results.rows.iter().find(|row| row.id == id)
}

fn row_name(row: &Row) -> String {
    let control = if row.kind == RowKind::Control { " (control)" } else { "" };
    if row.label.is_empty() { format!("{}/{}{control}", row.program, row.mode) } else { format!("{}: {}{control}", row.program, row.label) }
}

fn groups(results: &Results) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    for row in &results.rows {
        if !groups.contains(&row.group) {
            groups.push(row.group.clone());
        }
    }
    groups
}

/// Peers that some row of this metric is compared with, in the order of columns.
fn compared(results: &Results, metric: Metric) -> Vec<String> {
    let has = |peer: &str| {
        results.comparisons.iter().any(|it| it.peer == peer && row_of(results, &it.row).is_some_and(|row| row.metric == metric))
    };
    results.peers.iter().map(|it| it.id.clone()).filter(|id| has(id)).collect()
}

fn summary(results: &Results) -> String {
    let mut out = String::new();
    if !results.not_for_citing.is_empty() {
        _ = write!(out, "<p class=\"warn\"><strong>Not for citing:</strong> {}</p>", escaped(results.not_for_citing.join("; ")));
    }
    if results.interrupted || results.not_for_citing.iter().any(|why| why == bench_programs::runner::LATE) {
        out.push_str("<p class=\"warn\">Stopped before its end: <code>--resume</code> goes on.</p>");
    }
    let missing = results.peers.iter().filter(|it| it.missing.is_some()).count();
    let ran = results.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.summary.is_some()).count();
    let cells: usize = results.rows.iter().map(|row| row.cells.len()).sum();
    let subject = title(results, &results.settings.subject).to_owned();
    let mut all = vec![
        ("programs".to_owned(), number(results.programs.len() as u64), rows_in_words(results.rows.len())),
        (
            "engines".to_owned(),
            number((results.peers.len() - missing) as u64),
            if missing > 0 { format!("{missing} missing") } else { "all there".into() },
        ),
        ("figures".to_owned(), number(ran as u64), format!("of {cells} wanted")),
    ];
    for mean in results.groups.iter().filter(|it| it.group == "all" && it.metric == Metric::Steady) {
        let more =
            format!("{} to {}; {}, steady state", three(mean.speedup.low), three(mean.speedup.high), rows_in_words(mean.rows as usize));
        let name = format!("{subject} against {}", title(results, &mean.peer));
        all.push((name, format!("{}×", three(mean.speedup.median)), more));
    }
    out += &tiles(&all);
    _ = write!(
        out,
        "<p>Speed-up: time of the other engine over time of {}, pair by pair of neighbouring processes; above 1, {0} is faster. Means over programs leave kernels out; that of the group <em>feedback</em> is of kernels alone. Intervals: {:.0} %, of rows by bootstrap and no narrower than the sign test's, of means by bootstrap alone; a verdict takes a test of the pairs besides (of fewer than 15 by ranks, else by signs).</p>",
        escaped(&subject),
        results.settings.confidence * 100.0
    );
    out
}

fn mean_bars(results: &Results, metric: Metric) -> Vec<(String, Vec<Bar>)> {
    let mut names: Vec<&str> = Vec::new();
    for mean in results.groups.iter().filter(|it| it.metric == metric) {
        if !names.contains(&mean.group.as_str()) {
            names.push(&mean.group);
        }
    }
    let bar = |mean: &GroupMean| Bar {
        name: title(results, &mean.peer).to_owned(),
        value: Some(mean.speedup.median),
        interval: Some((mean.speedup.low, mean.speedup.high)),
        note: format!("{}× ({})", three(mean.speedup.median), rows_in_words(mean.rows as usize)),
        colour: colour(results, &mean.peer),
    };
    let of_group = |name: &str| results.groups.iter().filter(|it| it.group == name && it.metric == metric).map(bar).collect();
    names.into_iter().map(|name| (name.to_owned(), of_group(name))).collect()
}

fn mean_plot(results: &Results, metric: Metric, width: f64) -> String {
    plot::bars(width, "speed-up by group", &speedup_of(results), &mean_bars(results, metric), Some((1.0, "1: the same")))
}

/// Rows of a metric that stand for their programs: no variants, but of a program of which nothing else was run.
fn shown(results: &Results, metric: Metric) -> Vec<&Row> {
    let of_metric = || results.rows.iter().filter(move |row| row.metric == metric);
    let is_usual = |row: &Row| row.kind != RowKind::Variant;
    let has_usual = |program: &str| of_metric().any(|row| row.program == program && is_usual(row));
    of_metric().filter(|row| is_usual(row) || !has_usual(&row.program)).collect()
}

/// The name of an axis.
fn speedup_of(results: &Results) -> String {
    format!("speed-up of {} (1 = the same)", title(results, &results.settings.subject))
}

fn verdict_note(comparison: &Comparison) -> String {
    let figure = format!("{}×", three(comparison.speedup.median));
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => figure,
        Verdict::BelowNoise => format!("{figure} (noise)"),
        Verdict::TooFewPairs => format!("{figure} (few)"),
    }
}

fn speedup_plot(results: &Results, metric: Metric, peer: &str, width: f64) -> String {
    let bar = |row: &Row| -> Option<Bar> {
        let mut bar = Bar { name: row_name(row), colour: colour(results, peer), ..Bar::default() };
        match results.comparisons.iter().find(|it| it.row == row.id && it.peer == peer) {
            Some(comparison) => {
                bar.value = Some(comparison.speedup.median);
                bar.interval = Some((comparison.speedup.low, comparison.speedup.high));
                bar.note = verdict_note(comparison);
                if matches!(comparison.verdict, Verdict::BelowNoise | Verdict::TooFewPairs) {
                    bar.colour = plot::GREY.into();
                }
            }
            None => {
                bar.note =
                    row.cells.iter().find(|cell| cell.peer == peer)?.problem.as_ref().map_or("not compared".into(), |it| it.text.clone())
            }
        }
        Some(bar)
    };
    let of_group = |group: &String| -> (String, Vec<Bar>) {
        let rows = results.rows.iter().filter(|row| row.metric == metric && row.group == *group);
        (group.clone(), rows.filter_map(bar).collect())
    };
    let groups: Vec<_> = groups(results).iter().map(of_group).filter(|(_, bars)| !bars.is_empty()).collect();
    plot::bars(width, "speed-up by program", &speedup_of(results), &groups, Some((1.0, "1: the same")))
}

fn speedups(results: &Results, metric: Metric) -> String {
    let peers = compared(results, metric);
    if peers.is_empty() {
        return String::new();
    }
    let mut out = String::new();
    if !mean_bars(results, metric).is_empty() {
        let figure = plot::both(|width| mean_plot(results, metric, width));
        _ = write!(
            out,
            "<figure><figcaption>Geometric means by group. Kernels are in no mean but that of <em>feedback</em>, controls and variants in none.</figcaption>{figure}</figure>"
        );
    }
    for peer in &peers {
        let figure = plot::both(|width| speedup_plot(results, metric, peer, width));
        _ = write!(
            out,
            "<figure><figcaption>{} against {}; grey: below the noise, or too few pairs for a verdict</figcaption>{figure}</figure>",
            escaped(title(results, &results.settings.subject)),
            escaped(title(results, peer))
        );
    }
    let mut rows = Vec::new();
    for row in results.rows.iter().filter(|row| row.metric == metric) {
        for cell in &row.cells {
            let comparison = results.comparisons.iter().find(|it| it.row == row.id && it.peer == cell.peer);
            let Some(summary) = &cell.summary else { continue };
            rows.push(vec![
                format!("<a href=\"#program-{}\">{}</a>", escaped(&row.program), escaped(row_name(row))),
                escaped(title(results, &cell.peer)),
                interval(&summary.wall, time),
                interval(&summary.cpu, time),
                comparison.map_or("–".into(), |it| {
                    format!("{}× <small>{} to {}</small>", three(it.speedup.median), three(it.speedup.low), three(it.speedup.high))
                }),
                comparison.map_or(String::new(), verdict_chip),
                number(summary.runs.into()),
            ]);
        }
    }
    let headings = ["program", "engine", "#wall time", "#CPU time, all threads", "#speed-up", "verdict", "#runs"];
    _ = write!(out, "<details><summary>All figures</summary><div>{}</div></details>", table(&headings, &rows));
    out
}

fn verdict_chip(comparison: &Comparison) -> String {
    let (class, words) = match comparison.verdict {
        Verdict::Faster => ("good", "faster"),
        Verdict::Slower => ("bad", "slower"),
        Verdict::BelowNoise => ("none", "below the noise"),
        Verdict::TooFewPairs => ("none", "too few pairs"),
    };
    format!("<span class=\"chip {class}\">{words}</span> <small>p {:.3}, {} pairs</small>", comparison.p, comparison.pairs)
}

fn interval(value: &Interval, unit: impl Fn(f64) -> String) -> String {
    if value.low == value.high {
        return unit(value.median);
    }
    if value.high.is_infinite() {
        return format!("{} <small>{} or more</small>", unit(value.median), unit(value.low));
    }
    format!("{} <small>{} to {}</small>", unit(value.median), unit(value.low), unit(value.high))
}

fn curve_plot(results: &Results, row: &Row, width: f64) -> String {
    let curve = |cell: &Cell| Curve {
        name: title(results, &cell.peer).to_owned(),
        // Powers of ten have no 0; a first call begins at once.
        points: cell.curve.iter().map(|point| ((point.at_ns / 1e6).max(0.01), point.call_ns / 1e6)).collect(),
        colour: colour(results, &cell.peer),
        steps: true,
        filled: false,
    };
    let curves: Vec<Curve> = row.cells.iter().filter(|cell| !cell.curve.is_empty()).map(curve).collect();
    plot::curves(width, "time of a call over time", "ms since the first call began (powers of ten)", "ms a call", &curves, true)
}

fn time_to_peak(results: &Results) -> String {
    let rows = shown(results, Metric::Steady);
    if !rows.iter().flat_map(|row| &row.cells).any(|cell| !cell.curve.is_empty()) {
        return String::new();
    }
    let mut cells = Vec::new();
    for row in &rows {
        for cell in &row.cells {
            let Some(summary) = &cell.summary else { continue };
            // As the text's table: from the start of the process, without set-up.
            let or_never = |it: &Option<Interval>| it.map_or("not reached".into(), |it| interval(&it, time));
            cells.push(vec![
                format!("<a href=\"#program-{}\">{}</a>", escaped(&row.program), escaped(row_name(row))),
                escaped(title(results, &cell.peer)),
                or_never(&summary.until_90_percent_ns),
                or_never(&summary.until_steady_ns),
            ]);
        }
    }
    let headings = ["program", "engine", "#to 90 % of the steady speed", "#to the steady state"];
    format!(
        "<p>Loading and compiling before the first call, and calls until then, of each process; set-up not counted. One that never got there counts as the longest. Curves, from the first call, are under each program.</p>{}",
        table(&headings, &cells)
    )
}

/// A peer's bar of a figure in units of `unit`; none where it is 0, which says that it is not known.
fn bar_of(results: &Results, peer: &str, it: &Interval, unit: f64, note: fn(f64) -> String) -> Option<Bar> {
    (it.median > 0.0).then(|| Bar {
        name: title(results, peer).to_owned(),
        value: Some(it.median / unit),
        interval: Some((it.low / unit, it.high / unit)),
        note: note(it.median),
        colour: colour(results, peer),
    })
}

/// Start-up by rows: of whole processes that do next to nothing (`metric` is that of start-up), or what steady rows tell of it, once a program.
fn startup_bars(results: &Results, metric: Metric) -> Vec<(String, Vec<Bar>)> {
    let bar = |cell: &Cell| -> Option<Bar> {
        let summary = cell.summary.as_ref()?;
        bar_of(results, &cell.peer, if metric == Metric::Startup { &summary.wall } else { &summary.startup_ns }, 1e6, time)
    };
    let rows = shown(results, metric);
    let bars_of = |rows: &[&Row]| -> Vec<Bar> {
        let of_peer = |peer: &Peer| rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.peer == peer.id).find_map(bar);
        results.peers.iter().filter_map(of_peer).collect()
    };
    let groups: Vec<(String, Vec<Bar>)> = match metric {
        Metric::Startup => rows.iter().map(|row| (row_name(row), bars_of(&[row]))).collect(),
        // All rows of a program are of one module: an engine's first one with a figure will do.
        _ => by_program(rows).into_iter().map(|(program, rows)| (program.to_owned(), bars_of(&rows))).collect(),
    };
    groups.into_iter().filter(|(_, bars)| !bars.is_empty()).collect()
}

/// Rows by program, in the order of their first ones.
fn by_program(rows: Vec<&Row>) -> Vec<(&str, Vec<&Row>)> {
    let mut programs: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows {
        match programs.iter_mut().find(|(program, _)| *program == row.program) {
            Some((_, rows)) => rows.push(row),
            None => programs.push((&row.program, vec![row])),
        }
    }
    programs
}

fn startup_plot(results: &Results, metric: Metric, width: f64) -> Option<String> {
    let bars = startup_bars(results, metric);
    (!bars.is_empty()).then(|| plot::bars(width, "start-up", "ms", &bars, None))
}

fn startup(results: &Results) -> String {
    let figure = |metric, what: &str| -> Option<String> {
        startup_plot(results, metric, plot::WIDTHS[0].0)?;
        let figure = plot::both(|width| startup_plot(results, metric, width).unwrap_or_default());
        Some(format!("<figure><figcaption>{what} Shorter is better.</figcaption>{figure}</figure>"))
    };
    let ready =
        "From the start of the process to the first call of the guest's code: load, compile, instantiate. The processes of steady rows.";
    [(Metric::Startup, "Wall time of a whole process that does next to nothing."), (Metric::Steady, ready)]
        .into_iter()
        .filter_map(|(metric, what)| figure(metric, what))
        .collect()
}

fn memory_bars(results: &Results) -> Vec<(String, Vec<Bar>)> {
    let bars_of = |row: &Row| -> Vec<Bar> {
        let bar = |cell: &Cell| bar_of(results, &cell.peer, &cell.summary.as_ref()?.peak_rss_bytes, 1_048_576.0, bytes);
        row.cells.iter().filter_map(bar).collect()
    };
    let rows = [Metric::Steady, Metric::OneShot, Metric::Startup].into_iter().flat_map(|metric| shown(results, metric)).collect();
    // Rows of a program may need more or less, so all engines' bars are of one: the first of those with the most.
    let fullest = |rows: Vec<&Row>| -> Option<(String, Vec<Bar>)> {
        let bars = rows.into_iter().map(|row| (row_name(row), bars_of(row)));
        bars.reduce(|best, next| if next.1.len() > best.1.len() { next } else { best })
    };
    by_program(rows).into_iter().filter_map(|(_, rows)| fullest(rows)).filter(|(_, bars)| !bars.is_empty()).collect()
}

fn memory_plot(results: &Results, width: f64) -> Option<String> {
    let bars = memory_bars(results);
    (!bars.is_empty()).then(|| plot::bars(width, "memory", "MiB", &bars, None))
}

fn memory(results: &Results) -> String {
    if memory_bars(results).is_empty() {
        return String::new();
    }
    let figure = plot::both(|width| memory_plot(results, width).unwrap_or_default());
    format!(
        "<figure><figcaption>Most resident memory of the process, MiB: one row of each program. Less is better.</figcaption>{figure}</figure>"
    )
}

fn metric_words(metric: Metric) -> &'static str {
    match metric {
        Metric::Steady => "steady state, one call",
        Metric::OneShot => "one whole process",
        Metric::Startup => "start-up",
    }
}

fn flag_words(flag: Flag) -> &'static str {
    match flag {
        Flag::Wide => "the interval is wider than asked for, after the most runs",
        Flag::FewRuns => "fewer runs than asked for",
        Flag::NoSteadyState => "no steady state in half of the runs: the figure is of the last half of the calls",
        Flag::SlowedDown => "slower in its steady state than before it, in half of the runs",
        Flag::SomeFailed => "some runs failed; the figure is of the others",
    }
}

/// So many rows are named; more are counted, and named where a reader asks.
const MOST_NAMES: usize = 3;

fn problems(results: &Results) -> String {
    let mut rows = Vec::new();
    for peer in results.peers.iter().filter(|it| it.missing.is_some()) {
        rows.push(vec!["all".into(), escaped(title(results, &peer.id)), "missing".into(), escaped(peer.missing.as_deref().unwrap_or(""))]);
    }
    let missing = |id: &str| results.peers.iter().any(|it| it.id == id && it.missing.is_some());
    for row in &results.rows {
        for cell in row.cells.iter().filter(|cell| !missing(&cell.peer)) {
            let (what, why) = match (&cell.problem, cell.failures()) {
                (Some(why), _) => (serde_json::to_value(why.kind).unwrap_or_default().as_str().unwrap_or("").to_owned(), why),
                (None, Some((failed, why))) => (format!("{failed} of {} runs failed", cell.runs.len()), why),
                (None, None) => continue,
            };
            let place = format!("{} <small>{}</small>", escaped(row_name(row)), metric_words(row.metric));
            rows.push(vec![place, escaped(title(results, &cell.peer)), escaped(what), escaped(&why.text)]);
        }
    }
    // One line for what is said of many rows.
    type What<'a> = (Flag, Metric, &'a str);
    let mut flagged: Vec<(What<'_>, Vec<String>)> = Vec::new();
    for row in &results.rows {
        // That some runs failed is said above, with the reason.
        let flags = row.cells.iter().flat_map(|cell| cell.flags.iter().map(move |flag| (cell, flag)));
        for (cell, &flag) in flags.filter(|(_, flag)| **flag != Flag::SomeFailed) {
            let key = (flag, row.metric, cell.peer.as_str());
            let at = flagged.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                flagged.push((key, Vec::new()));
                flagged.len() - 1
            });
            flagged[at].1.push(escaped(row_name(row)));
        }
    }
    for ((flag, metric, peer), names) in flagged {
        let metric = metric_words(metric);
        let place = if names.len() > MOST_NAMES {
            format!("<details><summary>{} <small>{metric}</small></summary>{}</details>", rows_in_words(names.len()), names.join(", "))
        } else {
            format!("{} <small>{metric}</small>", names.join(", "))
        };
        rows.push(vec![place, escaped(title(results, peer)), "flag".into(), flag_words(flag).into()]);
    }
    if rows.is_empty() { "<p>None.</p>".into() } else { table(&["program", "engine", "what", "why"], &rows) }
}

fn machine(results: &Results) -> String {
    let mut out = String::new();
    for machine in &results.machines {
        let mut rows = vec![
            vec!["host".into(), escaped(&machine.name)],
            vec!["processor".into(), format!("{}, {} processors", escaped(&machine.cpu), machine.cpus)],
            vec!["memory".into(), bytes(machine.memory_bytes as f64)],
            vec![
                "last cache level".into(),
                if machine.last_cache_bytes > 0 { bytes(machine.last_cache_bytes as f64) } else { "unknown".into() },
            ],
            vec!["system".into(), format!("{}, Linux {}", escaped(&machine.os), escaped(&machine.kernel))],
            vec!["governor".into(), escaped(machine.governor.as_deref().unwrap_or("not shown"))],
            vec!["virtualized".into(), if machine.virtualized { "yes" } else { "no" }.into()],
        ];
        rows.extend(machine.mitigations.iter().map(|(name, state)| vec![format!("mitigation {}", escaped(name)), escaped(state)]));
        out += &table(&["machine", ""], &rows);
    }
    let rows: Vec<Vec<String>> = results
        .peers
        .iter()
        .map(|peer| {
            let trap = match peer.trap_handler {
                Some(true) => "guard pages",
                Some(false) => "checked in code",
                None => "–",
            };
            let version = peer.commit.as_ref().map_or(peer.version.clone(), |commit| format!("{} ({commit})", peer.version));
            vec![
                escaped(title(results, &peer.id)),
                escaped(version),
                format!("<code>{}</code>", escaped(quoted(&peer.flags))),
                trap.into(),
                escaped(&peer.spectre),
            ]
        })
        .collect();
    _ = write!(out, "<h3>Engines</h3>{}", table(&["engine", "version", "flags", "bounds", "Spectre"], &rows));
    let settings = &results.settings;
    let rows = vec![
        vec!["processes a cell".into(), format!("{} to {}", settings.runs_least, settings.runs_most)],
        vec!["until the interval's half-width is".into(), format!("{} % of the median", three(settings.target_half_width * 100.0))],
        vec!["steady rows call the work for".into(), format!("{} s", three(settings.seconds))],
        vec!["pinned to processor".into(), settings.pin.map_or("none".into(), |cpu| cpu.to_string())],
        vec!["seed, resamples".into(), format!("{}, {}", settings.seed, settings.resamples)],
    ];
    _ = write!(out, "<h3>Settings</h3>{}", table(&["setting", ""], &rows));
    out
}

fn program_section(results: &Results, program: &str) -> String {
    let mut out = String::new();
    if let Some(it) = results.programs.iter().find(|it| it.id == program) {
        _ = write!(
            out,
            "<p>{} <span class=\"muted\">({}, {})</span></p>",
            escaped(&it.stresses),
            escaped(&it.group),
            bytes(it.bytes as f64)
        );
        if !it.feedback.is_empty() {
            _ = write!(out, "<p>What feedback can do: {}</p>", escaped(&it.feedback));
        }
    }
    for row in results.rows.iter().filter(|row| row.program == program) {
        let metric = metric_words(row.metric);
        _ = write!(
            out,
            "<h3>{} <small>{metric}{}</small></h3>",
            escaped(row_name(row)),
            row.control_of.as_ref().map_or(String::new(), |of| format!(", control of {}", escaped(of)))
        );
        let bar = |cell: &Cell| {
            let mut bar = Bar { name: title(results, &cell.peer).to_owned(), colour: colour(results, &cell.peer), ..Bar::default() };
            match (&cell.summary, &cell.problem) {
                (Some(summary), _) => {
                    bar.value = Some(summary.wall.median / 1e6);
                    bar.interval = Some((summary.wall.low / 1e6, summary.wall.high / 1e6));
                    bar.note = time(summary.wall.median);
                }
                (None, problem) => bar.note = problem.as_ref().map_or("no figure".into(), |it| it.text.clone()),
            }
            bar
        };
        let bars: Vec<Bar> = row.cells.iter().map(bar).collect();
        let figure = plot::both(|width| plot::bars(width, "wall time", "ms", &[(String::new(), bars.clone())], None));
        _ = write!(out, "<figure><figcaption>Wall time, ms. Shorter is better.</figcaption>{figure}</figure>");
        if row.cells.iter().any(|cell| !cell.curve.is_empty()) {
            let figure = plot::both(|width| curve_plot(results, row, width));
            _ = write!(out, "<figure><figcaption>Time of a call over the time since the first call</figcaption>{figure}</figure>");
        }
        if let Some(report) = &row.report {
            let prefix = format!("{}-", row.id.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
            let extra = Extra::deserialize(&report["code"]).unwrap_or_default();
            let body: String = observed::sections(report, &extra, &prefix)
                .into_iter()
                .map(|(id, heading, body)| {
                    format!("<details id=\"{id}\"><summary>{}</summary><div>{body}</div></details>", escaped(heading))
                })
                .collect();
            _ = write!(out, "<details><summary>What backedge saw and did in one run</summary><div>{body}</div></details>");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench_programs::results::{Problem, ProblemKind};

    fn example() -> Results {
        serde_json::from_str(include_str!("../../../../bench-programs/docs/example-results.json")).unwrap()
    }

    #[test]
    fn the_page_holds_every_program_and_engine_and_says_what_must_not_be_cited() {
        let results = example();
        let page = page_of(&results);
        assert!(page.contains("Not for citing"));
        for program in &results.programs {
            assert!(page.contains(&format!("id=\"program-{}\"", program.id)), "{}", program.id);
        }
        for peer in &results.peers {
            assert!(page.contains(&escaped(&peer.title)), "{}", peer.title);
        }
        // Nothing is fetched: the page works offline.
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            let found = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!found.contains(outside), "{outside}");
        }
        assert!(!page.contains("NaN") && !page.contains("inf\""));
    }

    #[test]
    fn a_row_shows_the_code_of_its_run_with_samples_beside_it() {
        let mut results = example();
        let row = results.rows.iter_mut().find(|row| row.metric == Metric::Steady).unwrap();
        let report =
            |code: serde_json::Value| Some(serde_json::json!({ "elapsed_ms": 1.0, "functions": [{ "function": 3 }], "code": code }));
        row.report = report(serde_json::json!({
            "ticks": { "3": { "16": 3, "18": 1 } }, "interval_ns": 1_000_000, "compiled_ticks": 4, "other_ticks": 0, "names": { "3": "inner" },
            "sources": { "3": { "text": [{ "offset": 16, "first": true, "text": "i32.load offset=7" }], "machine": [["v2 optimizing: 9 bytes", []]], "cut": false } },
        }));
        let page = page_of(&results);
        for expected in ["<code>inner</code>", "75.0 %</td>", "i32.load offset=7", "Machine code: v2 optimizing"] {
            assert!(page.contains(expected), "{expected}");
        }
        // A report without code, or with one that this engine did not write, is shown without it.
        for other in [serde_json::Value::Null, serde_json::json!({ "ticks": 3 })] {
            results.rows.iter_mut().find(|row| row.report.is_some()).unwrap().report = report(other);
            let page = page_of(&results);
            assert!(page.contains("What backedge saw") && !page.contains("i32.load offset=7"));
        }
    }

    #[test]
    fn start_up_is_shown_of_what_was_measured() {
        let only = |metric| {
            let mut results = example();
            results.rows.retain(|row| row.metric == metric);
            results
        };
        let (steady, once, startup) = (only(Metric::Steady), only(Metric::OneShot), only(Metric::Startup));
        let has_section = |results: &Results| page_of(results).contains("<section id=\"startup\">");
        assert!(has_section(&steady) && has_section(&startup));
        // Nobody knows when a process that runs once came to its first call.
        assert!(!has_section(&once));
        assert!(page_of(&steady).contains("to the first call of the guest's code"));
        assert!(page_of(&startup).contains("a whole process that does next to nothing"));
        let names = |results: &Results| {
            files(results).into_iter().map(|(name, _)| name).filter(|name| name.starts_with("startup-")).collect::<Vec<_>>()
        };
        assert_eq!((names(&steady), names(&startup)), (vec!["startup-first-call.svg".into()], vec!["startup-process.svg".into()]));
        // A program's rows are of one module: one group of bars, a bar for each engine.
        assert_eq!(
            startup_bars(&steady, Metric::Steady).iter().map(|(name, bars)| (name.as_str(), bars.len())).collect::<Vec<_>>(),
            [("indirect_call", 4), ("matmul", 4)]
        );
    }

    #[test]
    fn variants_and_other_rows_stand_in() {
        let mut results = example();
        results.rows.retain(|row| row.metric == Metric::Steady);
        // No figure of V8 in the program's first row, one in its second.
        let v8 = |row: &mut Row| row.cells.iter_mut().position(|cell| cell.peer == "v8").unwrap();
        let (at, figure) = (v8(&mut results.rows[0]), results.rows[0].cells[0].summary.clone());
        results.rows[0].cells[at].summary = None;
        results.rows[1].cells[at].summary = figure;
        let bars = startup_bars(&results, Metric::Steady);
        assert!(bars[0].1.iter().any(|bar| bar.name.contains("V8")), "{bars:?}");
        for row in &mut results.rows {
            row.kind = RowKind::Variant;
        }
        let page = page_of(&results);
        for section in ["peak", "startup", "memory"] {
            assert!(page.contains(&format!("<section id=\"{section}\">")), "{section}");
        }
    }

    #[test]
    fn why_some_runs_failed_is_said() {
        let mut results = example();
        let cell = &mut results.rows[0].cells[0];
        cell.runs[0].problem = Some(Problem { kind: ProblemKind::Crashed, text: "ended by signal <11>".into() });
        cell.flags = vec![Flag::SomeFailed];
        let runs = cell.runs.len();
        let page = problems(&results);
        assert!(page.contains(&format!("<td>1 of {runs} runs failed</td><td>ended by signal &lt;11&gt;</td>")), "{page}");
        assert!(!page.contains(flag_words(Flag::SomeFailed)));
    }

    #[test]
    fn results_without_anything_make_a_page() {
        let page = page_of(&Results::default());
        assert!(page.contains("</html>"));
        assert!(files(&Results::default()).is_empty());
    }

    #[test]
    fn plots_are_files_of_their_own() {
        let files = files(&example());
        assert!(files.iter().all(|(_, svg)| svg.contains("not for citing")), "the example is of a --quick run");
        assert!(
            files.iter().any(|(name, _)| name.starts_with("speedup-steady-")),
            "{:?}",
            files.iter().map(|it| &it.0).collect::<Vec<_>>()
        );
        assert!(files.iter().any(|(name, _)| name.starts_with("time-to-peak-")));
        for (name, svg) in &files {
            assert!(svg.starts_with("<?xml") && svg.contains("</svg>") && !svg.contains("NaN"), "{name}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        assert_eq!(write_files(&example(), &path).unwrap(), files.len());
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), files.len());
        assert_eq!(write_files(&example(), Path::new("/proc/none")).unwrap_err().0, Path::new("/proc/none"));
    }
}
