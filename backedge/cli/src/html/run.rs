//! `--report=html`, the page of one run, and `--report=json+code`, what the page of a benchmark shows of one.

use super::observed::{self, Extra};
use super::{escaped, source};
use crate::report::About;
use serde_json::Value;
use std::collections::BTreeMap;
use vm::profiling::Samples;
use vm::report::Report;

/// Functions whose code is shown.
const SHOWN_CODE: usize = 24;
/// Functions whose code is kept in a report as JSON, and the share of the samples that each must have had.
const KEPT_CODE: usize = 3;
const KEPT_SHARE: f64 = 0.05;

/// The page.
pub fn page(report: &Report, about: &About<'_>) -> String {
    let value = serde_json::to_value(report).unwrap_or_default();
    let mut extra = sampled(about);
    let shown = observed::ranked(&value, &extra).into_iter().take(SHOWN_CODE).collect::<Vec<u32>>();
    extra.sources = source::of(about.module, &shown);
    let title = match &report.module {
        Some(name) => format!("backedge: {name}"),
        None => "backedge: a run".into(),
    };
    let below = format!("<p><code>{}</code></p><p>module {:016x}</p>", escaped(about.command), report.hash);
    super::page(&title, &below, &observed::sections(&value, &extra, ""))
}

/// The report with samples, and with the code of the functions that had the most of them, as its member `code` (an [`Extra`]).
pub fn with_code(report: &Report, about: &About<'_>) -> Value {
    let mut value = serde_json::to_value(report).unwrap_or_default();
    let mut extra = sampled(about);
    let hot = |&function: &u32| {
        let ticks = extra.ticks_of(function);
        ticks > 0 && ticks as f64 >= KEPT_SHARE * extra.all_ticks() as f64
    };
    let shown = observed::ranked(&value, &extra).into_iter().filter(hot).take(KEPT_CODE).collect::<Vec<u32>>();
    extra.sources = source::of(about.module, &shown);
    extra.names.retain(|function, _| extra.ticks.contains_key(function));
    if let Value::Object(members) = &mut value {
        members.insert("code".into(), serde_json::to_value(&extra).unwrap_or_default());
    }
    value
}

fn sampled(about: &About<'_>) -> Extra {
    let mut extra = Extra { ticks: ticks(about.samples), names: names(about), ..Extra::default() };
    if let Some(samples) = about.samples {
        extra.interval_ns = samples.interval_ns;
        let weigh = |exact: bool| samples.samples.iter().filter(|it| it.exact == exact).map(|it| u64::from(it.weight)).sum();
        (extra.compiled_ticks, extra.other_ticks) = (weigh(true), weigh(false));
    }
    extra
}

/// Ticks of the innermost frames, by function and offset.
fn ticks(samples: Option<&Samples>) -> BTreeMap<u32, BTreeMap<u32, u64>> {
    let mut ticks: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
    for sample in samples.iter().flat_map(|samples| &samples.samples) {
        if let Some(frame) = sample.stack.first().and_then(|&index| samples?.frames.get(index as usize)) {
            *ticks.entry(frame.function).or_default().entry(frame.offset.unwrap_or(0)).or_insert(0) += u64::from(sample.weight);
        }
    }
    ticks
}

fn names(about: &About<'_>) -> BTreeMap<u32, String> {
    let module = &about.module.loaded().module;
    (0..module.functions.len() as u32).filter_map(|function| Some((function, module.function_name(function)?.to_owned()))).collect()
}
