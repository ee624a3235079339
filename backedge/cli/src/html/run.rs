//! `--report=html`: the page of one run.

use super::observed::{self, Extra};
use super::{escaped, source};
use crate::report::About;
use std::collections::BTreeMap;
use vm::profiling::Samples;
use vm::report::Report;

/// Functions whose code is shown.
const SHOWN_CODE: usize = 24;

/// The page.
pub fn page(report: &Report, about: &About<'_>) -> String {
    let value = serde_json::to_value(report).unwrap_or_default();
    let mut extra = Extra { ticks: ticks(about.samples), names: names(about), ..Extra::default() };
    if let Some(samples) = about.samples {
        extra.interval_ns = samples.interval_ns;
        let weigh = |exact: bool| samples.samples.iter().filter(|it| it.exact == exact).map(|it| u64::from(it.weight)).sum();
        (extra.compiled_ticks, extra.other_ticks) = (weigh(true), weigh(false));
    }
    let shown = observed::ranked(&value, &extra).into_iter().take(SHOWN_CODE).collect::<Vec<u32>>();
    extra.sources = source::of(about.module, &shown);
    let title = match &report.module {
        Some(name) => format!("backedge: {name}"),
        None => "backedge: a run".into(),
    };
    let below = format!("<p><code>{}</code></p><p>module {:016x}</p>", escaped(about.command), report.hash);
    super::page(&title, &below, &observed::sections(&value, &extra, ""))
}

/// Ticks of the innermost frames, by function and offset.
fn ticks(samples: Option<&Samples>) -> BTreeMap<(u32, u32), u64> {
    let mut ticks = BTreeMap::new();
    for sample in samples.iter().flat_map(|samples| &samples.samples) {
        if let Some(frame) = sample.stack.first().and_then(|&index| samples?.frames.get(index as usize)) {
            *ticks.entry((frame.function, frame.offset.unwrap_or(0))).or_insert(0) += u64::from(sample.weight);
        }
    }
    ticks
}

fn names(about: &About<'_>) -> BTreeMap<u32, String> {
    let module = &about.module.loaded().module;
    (0..module.functions.len() as u32).filter_map(|function| Some((function, module.function_name(function)?.to_owned()))).collect()
}
