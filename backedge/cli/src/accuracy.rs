//! `backedge accuracy`: how much of the truth the records of an ordinary run hold.
//!
//! The program runs twice: *fully instrumented*, where every branch, load and value of every function is counted, and *sampled*, as it always is. Printed is, per
//! event, the overlap of the two distributions over sites, as Arnold and Ryder define it ([`lwp_feedback::accuracy`]), and how far the most frequent value of
//! each site is from the exact count. Two runs must do the same for that to mean anything: a program that reads the clock does not.

use crate::failure::Failure;
use crate::options::{Run, Source, Tier};
use crate::output::print;
use crate::run::{self, run_then};
use backedge::{Config, TierPolicy};
use bench_programs::table::quoted;
use clap::Args;
use lwp_feedback::accuracy::{Estimate, Place, Rates, ValuePlace, estimate, overlap};
use lwp_feedback::layout::EventId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Instant;
use vm::burst::ExactProfile;
use vm::report::Report;

/// `backedge accuracy`.
#[derive(Args)]
pub struct Accuracy {
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Also print so many sites of each event, those with the largest difference first
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub sites: usize,
    /// Where the full run's counts are kept: it takes some ten times as long as the sampled one, and is left out where FILE has the counts of the same program
    #[arg(long, value_name = "FILE")]
    pub full: Option<PathBuf>,
    #[command(flatten)]
    pub run: Run,
}

/// Share of loads that seem to miss where none does: interrupts, other threads of the core. Below it there is no distribution to compare.
const NOISE: f64 = 0.002;
/// Records of a site below which its most frequent value is not looked at.
const LEAST_RECORDS: u64 = 64;

/// One event.
#[derive(Clone, Debug, Serialize)]
struct EventAccuracy {
    event: u8,
    name: &'static str,
    /// Sites that the full run saw, and those of them that the sample saw.
    sites: usize,
    sites_sampled: usize,
    /// Events counted, and records of the sample.
    events: u64,
    records: u64,
    /// Percent, to 0.1. Absent where one of the two runs saw nothing.
    overlap: Option<f64>,
    /// The same within each function, functions weighted by the full run. Of functions that the sample saw.
    within_functions: Option<f64>,
    /// Their share of what the full run counted, percent, to 0.1.
    functions_seen: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differences: Vec<Difference>,
}

#[derive(Clone, Debug, Serialize)]
struct Difference {
    function: u32,
    offset: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'static str>,
    full_percent: f64,
    sample_percent: f64,
}

/// The most frequent values.
#[derive(Clone, Debug, Serialize)]
struct TopValues {
    /// Sites with enough records.
    sites: usize,
    /// Mean difference of the most frequent value's share from the exact one, sites weighted by their records, percentage points.
    mean_points: f64,
    /// The largest among sites with a hundredth of the records.
    worst_points: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differences: Vec<ValueDifference>,
}

#[derive(Clone, Debug, Serialize)]
struct ValueDifference {
    function: u32,
    offset: u32,
    class: &'static str,
    records: u64,
    /// Share of the value that is the most frequent one in the sample, exact and sampled.
    full_percent: f64,
    sample_percent: f64,
}

#[derive(Clone, Debug, Serialize)]
struct Answer {
    full_ms: f64,
    sampled_ms: f64,
    /// Cost of watching in the sampled run, percent.
    cost_percent: f64,
    /// Buffers of the full run that were dropped, and functions that stayed uninstrumented.
    dropped: u64,
    not_instrumented: usize,
    events: Vec<EventAccuracy>,
    top_values: Option<TopValues>,
}

/// Runs the program twice and prints. The exit code is the program's.
pub fn accuracy(options: &Accuracy) -> Result<i32, Failure> {
    if !matches!(options.run.engine.source, Source::Inline) || !matches!(options.run.engine.tier, Tier::Auto) {
        return Err(Failure::Usage("accuracy compares the inline source in all tiers: neither --source nor --tier".into()));
    }
    let Run { report, lwp_record, keep, watch, .. } = &options.run;
    if report.is_some() || lwp_record.is_some() || keep.leaves() || watch.watches() {
        return Err(Failure::Usage("accuracy runs the program twice, and neither run leaves anything but what it prints".into()));
    }
    // Whether the counts that are kept are this program's is known before it runs.
    let kept = match &options.full {
        Some(path) if path.exists() => {
            let program = options.run.file_and_args.first().map_or(Path::new(""), Path::new);
            let engine = run::engine(Config::new().tier(TierPolicy::Interpreter))?;
            let hash = run::load(&engine, program)?.loaded().module.hash;
            Some(FullRun::read(path, &FullRun::of_what(hash, &options.run))?)
        }
        _ => None,
    };
    let folder = std::env::temp_dir().join(format!("backedge-accuracy-{}.lwp", std::process::id()));
    let mut sampled = options.run.clone();
    sampled.lwp_record = Some(folder.clone());
    let mut seen: Option<(Report, Rates)> = None;
    let began = Instant::now();
    let code = run_then(&sampled, true, &mut |engine, module| {
        let ring = &engine.vm().config().ring;
        let report = module.report();
        let uncounted = report.uncounted.iter().map(|&(function, count)| ((report.hash, function), count)).collect();
        let rates = Rates {
            interval1: ring.interval1,
            random_bits: ring.random_bits,
            // Events 3 and 4 have at most as many random bits as the interval has.
            branch: f64::from(ring.interval3) / 2.0 + 1.0,
            ticks_per_ns: 1.0 / engine.vm().ns_per_tick(),
            uncounted,
        };
        seen = Some((report, rates));
    });
    let sampled_ms = began.elapsed().as_secs_f64() * 1e3;
    let estimated = code.and_then(|code| {
        let input = std::fs::File::open(&folder).map_err(|error| Failure::read(&folder, &error))?;
        let (report, rates) = seen.ok_or_else(|| Failure::Load("the sampled run left no report".into()))?;
        let estimated =
            estimate(BufReader::new(input), &rates).map_err(|error| Failure::Load(format!("`{}`: {error}", folder.display())))?;
        Ok((code, report, estimated))
    });
    // Only kept for reading it back; what cannot be removed is in the system's folder for such things.
    let _ = std::fs::remove_file(&folder);
    let (code, report, estimated) = estimated?;
    let full = match (kept, &options.full) {
        (Some(kept), _) => kept,
        (None, Some(path)) => {
            let made = count_everything(&options.run)?;
            made.write(path)?;
            made
        }
        (None, None) => count_everything(&options.run)?,
    };
    if full.exit_code != code {
        return Err(Failure::Load(format!("the program ended with {code} and then with {}: its runs cannot be compared", full.exit_code)));
    }
    let answer = Answer {
        full_ms: full.ms,
        sampled_ms,
        cost_percent: report.bursts.cost_percent,
        dropped: full.counts.dropped,
        not_instrumented: full.not_instrumented,
        events: compare(&full.counts, &estimated, options),
        top_values: top_values(&full.counts, &report, options.sites),
    };
    let text = if options.json {
        let mut text = serde_json::to_string_pretty(&answer).map_err(|error| Failure::Load(format!("cannot write JSON: {error}")))?;
        text.push('\n');
        text
    } else {
        as_text(&answer)
    };
    print(&text)?;
    Ok(code)
}

/// What was counted in a fully instrumented run.
#[derive(Serialize, Deserialize)]
struct FullRun {
    /// Of what: the version of backedge, the module's hash, the events that were counted, and what the guest was given.
    of: [String; 4],
    exit_code: i32,
    ms: f64,
    /// Functions that stayed uninstrumented.
    not_instrumented: usize,
    counts: ExactProfile,
}

impl FullRun {
    /// What a run's counts belong to. Files that the guest reads are not looked at.
    fn of_what(module: u64, run: &Run) -> [String; 4] {
        let options =
            [("--invoke", run.invoke.as_slice()), ("--env", &run.env), ("--dir", &run.dirs), ("--read-only-dir", &run.read_only_dirs)];
        let mut given: Vec<String> =
            options.iter().flat_map(|(name, values)| values.iter().flat_map(|value| [(*name).to_owned(), value.clone()])).collect();
        given.extend(run.file_and_args.iter().skip(1).map(|word| word.to_string_lossy().into_owned()));
        let given = if given.is_empty() { "none".into() } else { quoted(&given) };
        [env!("CARGO_PKG_VERSION").into(), format!("{module:016x}"), run.engine.events.to_string(), given]
    }

    fn read(path: &Path, of: &[String; 4]) -> Result<FullRun, Failure> {
        let input = std::fs::File::open(path).map_err(|error| Failure::read(path, &error))?;
        let found: FullRun = serde_json::from_reader(BufReader::new(input))
            .map_err(|error| Failure::Load(format!("`{}` does not hold counts of a full run: {error}", path.display())))?;
        let names = ["version of backedge", "module", "events", "arguments"];
        match names.iter().zip(found.of.iter().zip(of)).find(|(_, (found, own))| found != own) {
            Some((name, (found, own))) => {
                Err(Failure::Load(format!("`{}` has the counts of another run: its {name}: {found}, here {own}", path.display())))
            }
            None => Ok(found),
        }
    }

    fn write(&self, path: &Path) -> Result<(), Failure> {
        let text = serde_json::to_vec(self).map_err(|error| Failure::Load(format!("cannot write JSON: {error}")))?;
        std::fs::write(path, text).map_err(|error| Failure::write(path, &error))
    }
}

/// Runs the program fully instrumented.
fn count_everything(run: &Run) -> Result<FullRun, Failure> {
    let mut options = run.clone();
    options.engine.exact = true;
    options.engine.tier = Tier::Baseline;
    let mut exact = None;
    let began = Instant::now();
    let exit_code = run_then(&options, true, &mut |engine, module| exact = Some((engine.vm().exact_profile(), module.report())))?;
    let ms = began.elapsed().as_secs_f64() * 1e3;
    let (counts, report) = exact.ok_or_else(|| Failure::Load("the full run left no counts".into()))?;
    Ok(FullRun { of: FullRun::of_what(report.hash, run), exit_code, ms, not_instrumented: report.failures.len(), counts })
}

fn compare(exact: &ExactProfile, sample: &Estimate, options: &Accuracy) -> Vec<EventAccuracy> {
    let wanted = options.run.engine.events;
    let values: BTreeMap<ValuePlace, f64> = exact.values.iter().map(|(&site, &(total, _))| (site, total as f64)).collect();
    let mut all = Vec::new();
    if wanted.contains(EventId::VALUE) {
        // Conditions of selects go through records of their own (see `docs/src/event-records.md`).
        let without = |map: &BTreeMap<ValuePlace, f64>| {
            let kept = map.iter().filter(|((_, class, _), _)| *class != lwp_feedback::class::SiteClass::Select);
            kept.map(|(&site, &count)| (site, count)).collect::<BTreeMap<_, _>>()
        };
        let place = |site: &ValuePlace| (site.0, Some(site.1.name()));
        all.push(one(EventId::VALUE, &without(&values), &without(&sample.values), sample.records[2], place, options.sites));
    }
    let plain = |place: &Place| (*place, None);
    if wanted.contains(EventId::BRANCHES) {
        let full = exact.branches.iter().map(|(&place, &count)| (place, count as f64)).collect();
        all.push(one(EventId::BRANCHES, &full, &sample.branches, sample.records[0], plain, options.sites));
    }
    if wanted.contains(EventId::DCACHE) {
        let missed = exact.loads.iter().map(|(&place, counts)| (place, counts.1 as f64));
        let full = missed.filter(|&(_, count)| count > 0.0).collect();
        let mut answer = one(EventId::DCACHE, &full, &sample.misses, sample.records[1], plain, options.sites);
        let executed: u64 = exact.loads.values().map(|counts| counts.0).sum();
        if answer.events as f64 <= executed as f64 * NOISE {
            (answer.overlap, answer.within_functions) = (None, None);
        }
        all.push(answer);
    }
    all
}

fn one<K: Ord + Copy>(
    event: EventId,
    full: &BTreeMap<K, f64>,
    sample: &BTreeMap<K, f64>,
    records: u64,
    place: impl Fn(&K) -> (Place, Option<&'static str>),
    shown: usize,
) -> EventAccuracy {
    let (all, sampled): (f64, f64) = (full.values().sum(), sample.values().sum());
    let mut differences: Vec<Difference> = full
        .keys()
        .chain(sample.keys().filter(|key| !full.contains_key(key)))
        .map(|key| {
            let ((_, function, offset), class) = place(key);
            let share = |map: &BTreeMap<K, f64>, all: f64| map.get(key).map_or(0.0, |count| count / all.max(1e-9) * 100.0);
            Difference { function, offset, class, full_percent: share(full, all), sample_percent: share(sample, sampled) }
        })
        .collect();
    differences.sort_by(|a, b| (b.full_percent - b.sample_percent).abs().total_cmp(&(a.full_percent - a.sample_percent).abs()));
    differences.truncate(shown);
    // Within functions: the sample of each function scaled to what the full run counted of it.
    let by_function = |map: &BTreeMap<K, f64>| {
        let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
        map.iter().for_each(|(key, count)| *sums.entry(place(key).0.1).or_default() += count);
        sums
    };
    let (full_sums, sample_sums) = (by_function(full), by_function(sample));
    let scaled: BTreeMap<K, f64> = sample
        .iter()
        .filter_map(|(&key, count)| {
            let function = place(&key).0.1;
            Some((key, count / sample_sums.get(&function)? * full_sums.get(&function)?))
        })
        .collect();
    // Functions that the sample never saw are left out on both sides.
    let seen: BTreeMap<K, f64> =
        full.iter().filter(|(key, _)| sample_sums.contains_key(&place(key).0.1)).map(|(&key, &count)| (key, count)).collect();
    let tenths = |share: f64| (share * 1000.0).round() / 10.0;
    let weight_seen: f64 = seen.values().sum();
    EventAccuracy {
        event: event.0,
        name: event.name().unwrap_or("?"),
        sites: full.len(),
        sites_sampled: full.keys().filter(|key| sample.contains_key(key)).count(),
        events: all as u64,
        records,
        overlap: overlap(full, sample).map(tenths),
        within_functions: overlap(&seen, &scaled).map(tenths),
        functions_seen: tenths(weight_seen / all.max(1e-9)),
        differences,
    }
}

/// The most frequent value of each site in the profile against its exact share.
fn top_values(exact: &ExactProfile, report: &Report, shown: usize) -> Option<TopValues> {
    let mut sites: Vec<(f64, ValueDifference)> = Vec::new();
    for function in &report.functions {
        for site in function.sites.iter().filter(|site| site.total >= LEAST_RECORDS) {
            let key = ((report.hash, function.function, site.offset), site.class, site.detail);
            let top = site.values.iter().max_by_key(|value| (value.certain(), std::cmp::Reverse(value.value)));
            let (Some(top), Some((total, values))) = (top, exact.values.get(&key)) else { continue };
            let sample = top.certain() as f64 / site.total as f64 * 100.0;
            let count = values.iter().find(|known| known.0 == top.value).map_or(0, |known| known.1);
            // A site whose values are all different has no most frequent one.
            if values.first().is_none_or(|first| first.1 * 50 < *total) && sample < 2.0 {
                continue;
            }
            let full = count as f64 / *total as f64 * 100.0;
            let (offset, class, records) = (site.offset, site.class.name(), site.total);
            let difference =
                ValueDifference { function: function.function, offset, class, records, full_percent: full, sample_percent: sample };
            sites.push(((sample - full).abs(), difference));
        }
    }
    let records: u64 = sites.iter().map(|(_, site)| site.records).sum();
    sites.sort_by(|a, b| b.0.total_cmp(&a.0));
    (!sites.is_empty()).then(|| TopValues {
        sites: sites.len(),
        mean_points: sites.iter().map(|(points, site)| site.records as f64 * points).sum::<f64>() / records as f64,
        worst_points: sites.iter().find(|(_, site)| site.records * 100 >= records).map_or(0.0, |&(points, _)| points),
        differences: sites.into_iter().take(shown).map(|(_, site)| site).collect(),
    })
}

fn as_text(answer: &Answer) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "fully instrumented {:.0} ms, sampled {:.0} ms at a cost of {:.2} %",
        answer.full_ms, answer.sampled_ms, answer.cost_percent
    );
    if answer.dropped > 0 || answer.not_instrumented > 0 {
        let _ = writeln!(out, "{} buffers of the full run dropped, {} functions not instrumented", answer.dropped, answer.not_instrumented);
    }
    let _ = writeln!(out, "event            |          counted    sites |   records   seen | overlap  within functions  of weight");
    for event in &answer.events {
        let percent = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.1} %"));
        let _ = writeln!(
            out,
            "{:>3} {:<12} | {:>16} {:>8} | {:>9} {:>6} | {:>7} {:>17} {:>10}",
            event.event,
            event.name,
            event.events,
            event.sites,
            event.records,
            event.sites_sampled,
            percent(event.overlap),
            percent(event.within_functions),
            percent(event.within_functions.map(|_| event.functions_seen))
        );
        for it in &event.differences {
            let class = it.class.unwrap_or("");
            let _ = writeln!(
                out,
                "      #{} {:#x} {class}: {:.2} % counted, {:.2} % sampled",
                it.function, it.offset, it.full_percent, it.sample_percent
            );
        }
    }
    if let Some(top) = &answer.top_values {
        let _ = writeln!(
            out,
            "most frequent values of {} sites: off by {:.2} points in the mean, {:.2} at worst (sites with 1 % of the records)",
            top.sites, top.mean_points, top.worst_points
        );
        for it in &top.differences {
            let _ = writeln!(
                out,
                "      #{} {:#x} {}: {:.2} % counted, {:.2} % of {} records",
                it.function, it.offset, it.class, it.full_percent, it.sample_percent, it.records
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_functions_says_of_how_much_it_is() {
        let place = |function: u32, offset: u32| ((7, function, offset), None);
        // Of two functions the sample saw the smaller one, and that as it is.
        let full = BTreeMap::from([((1, 10), 30.0), ((1, 20), 10.0), ((2, 30), 960.0)]);
        let sample = BTreeMap::from([((1, 10), 3.0), ((1, 20), 1.0)]);
        let answer = one(EventId::BRANCHES, &full, &sample, 4, |&(function, offset)| place(function, offset), 0);
        assert_eq!((answer.within_functions, answer.functions_seen), (Some(100.0), 4.0));
        assert_eq!(answer.overlap, Some(4.0));
        let text = as_text(&Answer {
            full_ms: 1.0,
            sampled_ms: 1.0,
            cost_percent: 1.0,
            dropped: 0,
            not_instrumented: 0,
            events: vec![answer],
            top_values: None,
        });
        assert!(text.lines().any(|line| line.ends_with("of weight")) && text.lines().any(|line| line.ends_with(" 4.0 %")), "{text}");
    }
}
