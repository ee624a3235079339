//! Results as text: one line a row, times of the subject and the speed-up against each peer.

use crate::compare::Change;
use crate::results::{Cell, Flag, Interval, Metric, ProblemKind, Results, Row, RowKind, Verdict};
use std::fmt::Write;

/// The whole run.
pub fn results(results: &Results) -> String {
    let mut out = String::new();
    let subject = &results.settings.subject;
    let others: Vec<&str> = results.peers.iter().map(|peer| peer.id.as_str()).filter(|id| id != subject).collect();
    for metric in [Metric::Steady, Metric::OneShot, Metric::Startup] {
        let rows: Vec<_> = results.rows.iter().filter(|row| row.metric == metric).collect();
        if rows.is_empty() {
            continue;
        }
        let what = match metric {
            Metric::Steady => {
                "Steady state: time of a call once it is stable (V8 and JSC warm), and speed-up of the subject over each peer"
            }
            Metric::OneShot => "One process, as shipped: start, compile, set up, do it once",
            Metric::Startup => "Start-up: one process that does next to nothing",
        };
        let _ = writeln!(out, "\n{what}");
        let _ = write!(out, "{:<30}{:>12}", "", subject);
        for other in &others {
            let _ = write!(out, "{other:>0$}", column(other));
        }
        // Time to 90 % of the steady speed has a table of its own, with all peers.
        let steady = metric == Metric::Steady;
        let _ = writeln!(out, "{:>13}", if steady { "" } else { "peak memory" });
        for row in rows {
            let name = match row.kind {
                RowKind::Control => format!("  control: {}/{}", row.program, row.mode),
                _ => format!("{}/{}", row.program, row.mode),
            };
            let _ = write!(out, "{name:<30}");
            let mine = row.cells.iter().find(|cell| cell.peer == *subject);
            let _ = write!(out, "{:>12}", mine.map_or_else(|| "-".into(), time));
            for other in &others {
                let comparison = results.comparisons.iter().find(|comparison| comparison.row == row.id && comparison.peer == **other);
                let text = match (comparison, row.cells.iter().find(|cell| cell.peer == **other)) {
                    (Some(comparison), cell) => {
                        let mark = match comparison.verdict {
                            Verdict::BelowNoise => "=",
                            Verdict::TooFewPairs => "?",
                            _ => " ",
                        };
                        format!("{}{mark}{}", speedup(comparison.speedup, "x"), failures(cell))
                    }
                    (None, Some(cell)) => unpaired(mine, cell),
                    (None, None) => "-".into(),
                };
                let _ = write!(out, "{text:>0$}", column(other));
            }
            let memory = mine.filter(|_| !steady).and_then(peak_memory);
            let _ = writeln!(out, "{:>13}", memory.unwrap_or_default());
        }
    }
    let steady: Vec<&Row> = results.rows.iter().filter(|row| row.metric == Metric::Steady).collect();
    if !steady.is_empty() {
        out.push_str("\nTime to 90 % of the steady speed: loading and compiling before the first call, and calls until they are nearly as fast as ever (set-up not counted)\n");
        let _ = write!(out, "{:<30}", "");
        for peer in &results.peers {
            let _ = write!(out, "{:>1$}", peer.id, column(&peer.id));
        }
        out.push('\n');
        for row in steady {
            let _ = write!(out, "{:<30}", format!("{}/{}", row.program, row.mode));
            for peer in &results.peers {
                let _ = write!(out, "{:>1$}", to_90_percent(row, &peer.id), column(&peer.id));
            }
            out.push('\n');
        }
    }
    if !results.groups.is_empty() {
        let _ = writeln!(out, "\nGeometric means of the speed-ups (kernels only within `feedback`, controls and variants in none)");
        for mean in &results.groups {
            let _ = writeln!(
                out,
                "{:<10}{:<10}{:>16}  {:.3}x [{:.3}, {:.3}] over {}; least: {:.2}x {}",
                mean.group,
                crate::catalog::metric_name(mean.metric),
                mean.peer,
                mean.speedup.median,
                mean.speedup.low,
                mean.speedup.high,
                rows_in_words(mean.rows as usize),
                mean.worst,
                mean.worst_row
            );
        }
    }
    out.push_str(
        "\n= below the noise   ? too few pairs for a verdict   no interval: of one pair   * interval wider than asked for   ~ no steady state   ! some runs failed\n",
    );
    for line in problems(results) {
        let _ = writeln!(out, "{line}");
    }
    for peer in &results.peers {
        match &peer.missing {
            Some(why) => _ = writeln!(out, "{}: {why}", peer.id),
            None => _ = writeln!(out, "{:<18}{} {}", peer.id, peer.build(), peer.flags.join(" ")),
        }
    }
    for machine in &results.machines {
        let cpus = machine.cpus;
        let _ = writeln!(out, "on {} ({cpus} processors), Linux {}", machine.cpu, machine.kernel);
    }
    if !results.not_for_citing.is_empty() {
        let _ = writeln!(out, "not for citing: {}", results.not_for_citing.join("; "));
    }
    out
}

/// The whole run as Markdown tables, for the book: one a metric, rows grouped.
pub fn markdown(results: &Results) -> String {
    let mut out = String::new();
    let subject = &results.settings.subject;
    let present = |peer: &&crate::results::Peer| peer.missing.is_none() && peer.id != *subject;
    let others: Vec<&str> = results.peers.iter().filter(present).map(|peer| peer.id.as_str()).collect();
    for metric in [Metric::Steady, Metric::OneShot, Metric::Startup] {
        let rows: Vec<_> = results.rows.iter().filter(|row| row.metric == metric).collect();
        // A peer that runs no such row has no column.
        let asked = |id: &&&str| rows.iter().any(|row| row.cells.iter().any(|cell| cell.peer == ***id));
        let others: Vec<&str> = others.iter().filter(asked).copied().collect();
        if rows.is_empty() {
            continue;
        }
        let steady = metric == Metric::Steady;
        let _ = write!(out, "\n**{}**\n\n| program | {subject} |", crate::catalog::metric_name(metric));
        for other in &others {
            let _ = write!(out, " {other} |");
        }
        let _ = writeln!(out, "{}", if steady { "" } else { " peak memory |" });
        let _ = writeln!(out, "|---|---:|{}{}", "---:|".repeat(others.len()), if steady { "" } else { "---:|" });
        for row in rows {
            let mine = row.cells.iter().find(|cell| cell.peer == *subject);
            let control = if row.kind == RowKind::Control { " *(control)*" } else { "" };
            let _ = write!(out, "| `{}` {}{control} | {} |", row.program, row.label, mine.map_or_else(|| "-".into(), time));
            for other in &others {
                let comparison = results.comparisons.iter().find(|comparison| comparison.row == row.id && comparison.peer == **other);
                let text = match (comparison, row.cells.iter().find(|cell| cell.peer == **other)) {
                    (Some(comparison), cell) => {
                        let mark = match comparison.verdict {
                            Verdict::BelowNoise => " =",
                            Verdict::TooFewPairs => " ?",
                            _ => "",
                        };
                        format!("{}{mark}{}", speedup(comparison.speedup, ""), failures(cell))
                    }
                    (None, Some(cell)) => unpaired(mine, cell),
                    (None, None) => "-".into(),
                };
                let _ = write!(out, " {text} |");
            }
            let memory = match steady {
                true => String::new(),
                false => format!(" {} |", mine.and_then(peak_memory).unwrap_or_else(|| "-".into())),
            };
            let _ = writeln!(out, "{memory}");
        }
    }
    let steady: Vec<&Row> = results.rows.iter().filter(|row| row.metric == Metric::Steady).collect();
    if !steady.is_empty() {
        let peers: Vec<&str> = results.peers.iter().filter(|peer| peer.missing.is_none()).map(|peer| peer.id.as_str()).collect();
        let _ = writeln!(out, "\n**time to 90 % of the steady speed** (loading and compiling, then calls; set-up not counted)\n");
        let _ = writeln!(out, "| program | {} |\n|---|{}", peers.join(" | "), "---:|".repeat(peers.len()));
        for row in steady {
            let times: Vec<String> = peers.iter().map(|peer| to_90_percent(row, peer)).collect();
            let _ = writeln!(out, "| `{}` {} | {} |", row.program, row.label, times.join(" | "));
        }
    }
    let _ = writeln!(
        out,
        "\n| geometric mean (kernels only in `feedback`, controls and variants in none) | metric | against | speed-up | rows | least |\n|---|---|---|---:|---:|---|"
    );
    for mean in &results.groups {
        let Interval { median, low, high } = mean.speedup;
        let _ = writeln!(
            out,
            "| {} | {} | {} | {median:.3} [{low:.3}, {high:.3}] | {} | {:.2} `{}` |",
            mean.group,
            crate::catalog::metric_name(mean.metric),
            mean.peer,
            mean.rows,
            mean.worst,
            mean.worst_row
        );
    }
    let ran = results.rows.iter().flat_map(|row| &row.cells).filter_map(|cell| Some(cell.summary.as_ref()?.runs));
    let _ = writeln!(
        out,
        "\n`{}`, begun {}, {} to {} runs a cell",
        quoted(&results.command),
        results.started,
        ran.clone().min().unwrap_or_default(),
        ran.max().unwrap_or_default()
    );
    for machine in &results.machines {
        let _ = writeln!(out, "on {} ({} processors), Linux {}.", machine.cpu, machine.cpus, machine.kernel);
    }
    for peer in results.peers.iter().filter(|peer| peer.missing.is_none()) {
        let options = if peer.flags.is_empty() { String::new() } else { format!(", `{}`", quoted(&peer.flags)) };
        let _ = writeln!(out, "{}: {}{options}.", peer.id, peer.build());
    }
    for line in problems(results) {
        let _ = writeln!(out, "{}.", line.trim_end_matches('.').replace('|', "\\|"));
    }
    if !results.not_for_citing.is_empty() {
        let _ = writeln!(out, "Not for citing: {}.", results.not_for_citing.join("; "));
    }
    out
}

/// Two files side by side.
pub fn changes(changes: &[Change]) -> String {
    let mut out = String::new();
    for change in changes {
        let Interval { median, low, high } = change.speedup;
        let _ = writeln!(out, "{:<32}{:<16}{median:>7.3}x [{low:.3}, {high:.3}]  {}", change.row, change.peer, change.verdict);
    }
    let count = |verdict: Verdict| changes.iter().filter(|change| change.verdict == verdict).count();
    let _ = writeln!(
        out,
        "{} faster, {} slower, {} below the noise, {} without a verdict",
        count(Verdict::Faster),
        count(Verdict::Slower),
        count(Verdict::BelowNoise),
        count(Verdict::TooFewPairs)
    );
    out
}

/// Words as a shell takes them apart again.
pub fn quoted(words: &[impl AsRef<str>]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    let one = |word: &str| match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(|word| one(word.as_ref())).collect::<Vec<String>>().join(" ")
}

/// "1 row", "2 rows".
pub fn rows_in_words(count: usize) -> String {
    format!("{count} row{}", if count == 1 { "" } else { "s" })
}

/// A speed-up with its interval, whose ends may lie far from each other on either side. One pair has none.
fn speedup(Interval { median, low, high }: Interval, unit: &str) -> String {
    let spread = if low == high { String::new() } else { format!(" [{low:.2}, {high:.2}]") };
    format!("{median:.2}{unit}{spread}")
}

/// Width of a peer's column: of its name, or of what stands in it.
fn column(peer: &str) -> usize {
    // ("100.00x [100.00, 100.00]=!" and a space)
    24.max(peer.chars().count() + 2)
}

fn peak_memory(cell: &Cell) -> Option<String> {
    cell.summary.as_ref().map(|summary| format!("{:.1} MiB", summary.peak_rss_bytes.median / 1_048_576.0))
}

/// From the process's start to nearly steady speed, less set-up.
fn to_90_percent(row: &Row, peer: &str) -> String {
    let cell = row.cells.iter().find(|cell| cell.peer == peer);
    match cell.and_then(|cell| cell.summary.as_ref()) {
        None => "-".into(),
        Some(summary) => summary.until_90_percent_ns.map_or_else(|| "not reached".into(), |it| duration(it.median)),
    }
}

fn time(cell: &Cell) -> String {
    if let Some(summary) = &cell.summary {
        let mut text = duration(summary.wall.median);
        for (flag, mark) in [(Flag::Wide, '*'), (Flag::NoSteadyState, '~'), (Flag::SomeFailed, '!')] {
            text.extend(cell.flags.contains(&flag).then_some(mark));
        }
        return text;
    }
    match cell.problem.as_ref().map(|problem| problem.kind).unwrap_or_default() {
        ProblemKind::Missing => "missing",
        ProblemKind::Unsupported => "unsupported",
        ProblemKind::Crashed => "CRASHED",
        ProblemKind::Trapped => "TRAPPED",
        ProblemKind::WrongResult => "WRONG",
        ProblemKind::TimedOut => "timed out",
        ProblemKind::NotRun => "not run",
    }
    .into()
}

/// A cell beside the subject's where there is no comparison.
fn unpaired(mine: Option<&Cell>, cell: &Cell) -> String {
    let both = cell.summary.is_some() && mine.is_some_and(|mine| mine.summary.is_some());
    if both { "no pairs".into() } else { time(cell) }
}

/// The mark of a cell some of whose runs failed.
fn failures(cell: Option<&Cell>) -> &'static str {
    if cell.is_some_and(|cell| cell.flags.contains(&Flag::SomeFailed)) { "!" } else { "" }
}

/// So many lines of problems say enough; the page has all.
const MOST_PROBLEMS: usize = 20;

/// What went wrong, a line a cell: why there is no figure, or why some runs do not count. That a peer is missing is said once, elsewhere.
fn problems(results: &Results) -> Vec<String> {
    let missing = |id: &str| results.peers.iter().any(|peer| peer.id == id && peer.missing.is_some());
    let mut lines = Vec::new();
    for row in &results.rows {
        for cell in row.cells.iter().filter(|cell| !missing(&cell.peer)) {
            lines.push(match (&cell.problem, cell.failures()) {
                // What was not run is no mishap.
                (Some(why), _) if why.kind == ProblemKind::NotRun => continue,
                (Some(why), _) => format!("{}: {}", row.id, why.text),
                (None, Some((failed, why))) => {
                    format!("{}: {failed} of {} runs of {} failed: {}", row.id, cell.runs.len(), cell.peer, why.text)
                }
                (None, None) => continue,
            });
        }
    }
    if lines.len() > MOST_PROBLEMS {
        let more = lines.len() - MOST_PROBLEMS;
        lines.truncate(MOST_PROBLEMS);
        lines.push(format!("and {more} more problems"));
    }
    lines
}

/// Nanoseconds as people read them.
pub fn duration(ns: f64) -> String {
    match ns {
        _ if ns < 1e3 => format!("{ns:.0} ns"),
        _ if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        _ if ns < 1e9 => format!("{:.1} ms", ns / 1e6),
        _ => format!("{:.2} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use crate::results::Interval;

    #[test]
    fn the_example_prints() {
        let example = serde_json::from_str(include_str!("../docs/example-results.json")).unwrap();
        let text = super::results(&example);
        assert!(text.contains("indirect_call/0") && text.contains("CRASHED") && text.contains("not for citing: --quick"), "{text}");
        let markdown = super::markdown(&example);
        assert!(markdown.contains("| `matmul` dense |") && markdown.contains("*(control)*"), "{markdown}");
        assert!(markdown.contains("\nbackedge-nf: 0.1.0 (d4c815d), `--no-feedback`.\n"), "{markdown}");
        let far = Interval { median: 19.18, low: 13.55, high: 19.82 };
        assert_eq!(super::speedup(far, "x"), "19.18x [13.55, 19.82]");
        assert_eq!(super::speedup(Interval { median: 2.0, low: 2.0, high: 2.0 }, ""), "2.00");
        assert!(text.contains("6.90x [6.80, 7.00] ") && markdown.contains("| 6.90 [6.80, 7.00] |"), "{text}{markdown}");
        assert_eq!(super::quoted(&["a", "b c", "", "it's", "--json=x.json"]), r"a 'b c' '' 'it'\''s' --json=x.json");
        assert_eq!(super::duration(1.5e6), "1.5 ms");
    }
}
