//! From candidates to plans: the ones that save most are taken first, over all functions, while the budgets last.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::transformation::{Candidate, Transformation};
use super::{Budgets, Decision, Plan, Refusal, RefusalReason};
use crate::codemap::FunctionId;

/// A candidate of a function.
pub(super) struct Ranked {
    pub(super) function: FunctionId,
    /// Bytes of its body, where they are known.
    pub(super) bytes: u32,
    pub(super) candidate: Candidate,
}

impl Ranked {
    /// Time it can save: net per execution, times executions. Never NaN.
    fn saves_ns(&self) -> f64 {
        Ranked::net_ns(&self.candidate)
    }

    fn net_ns(candidate: &Candidate) -> f64 {
        let because = candidate.decision.because();
        let net = (because.saves_ns - because.costs_ns) * candidate.executions;
        if net.is_nan() { 0.0 } else { net }
    }

    fn before(&self, other: &Self) -> Ordering {
        // Of two that save the same, where is the tie's end: no order of input may show.
        let key = |it: &Self| (it.function, it.candidate.decision.offset(), it.candidate.transformation);
        other.saves_ns().total_cmp(&self.saves_ns()).then_with(|| key(self).cmp(&key(other)))
    }
}

#[derive(Default)]
struct Spent {
    inlined_bytes: u32,
    growth_bytes: u32,
    /// Decisions by transformation.
    decisions: BTreeMap<&'static str, usize>,
    /// Transformations by operator.
    taken: BTreeMap<u32, Vec<&'static str>>,
}

/// Takes what pays most. Plans ascend by function, their decisions by offset.
pub(super) fn take(
    known: &[&Transformation],
    mut candidates: Vec<Ranked>,
    grown_bytes: u64,
    budgets: &Budgets,
    refusals: &mut Vec<Refusal>,
) -> Vec<Plan> {
    candidates.sort_by(Ranked::before);
    let mut module_left = budgets.max_module_growth.saturating_sub(grown_bytes);
    let mut ms_left = if budgets.max_compile_ms.is_nan() { 0.0 } else { budgets.max_compile_ms };
    let mut spent: BTreeMap<FunctionId, Spent> = BTreeMap::new();
    let mut plans: BTreeMap<FunctionId, Vec<Decision>> = BTreeMap::new();
    let mut together: BTreeMap<(FunctionId, &str), f64> = BTreeMap::new();
    for Ranked { function, candidate, .. } in candidates.iter().filter(|it| it.candidate.together) {
        *together.entry((*function, candidate.transformation)).or_default() += Ranked::net_ns(candidate);
    }
    for Ranked { function, bytes: own, candidate } in candidates {
        let net_ns = together.get(&(function, candidate.transformation)).copied().unwrap_or_else(|| Ranked::net_ns(&candidate));
        let spent = spent.entry(function).or_default();
        let ms = f64::from(candidate.growth_bytes) * budgets.costs.compile_us_per_byte / 1000.0;
        let there = spent.taken.get(&candidate.decision.offset()).into_iter().flatten();
        let superseded = there.copied().find(|taken| exclude_each_other(known, taken, candidate.transformation));
        let checked = match superseded {
            Some(by) => Err(RefusalReason::Superseded { by: by.into() }),
            None => check(&candidate, own, net_ns, spent, module_left, (ms, ms_left), budgets),
        };
        match checked {
            Ok(()) => {
                let bytes = candidate.growth_bytes;
                module_left -= u64::from(bytes);
                ms_left -= ms.max(0.0);
                spent.growth_bytes = spent.growth_bytes.saturating_add(bytes);
                if let Decision::Inline(_) = candidate.decision {
                    spent.inlined_bytes = spent.inlined_bytes.saturating_add(bytes);
                }
                *spent.decisions.entry(candidate.transformation).or_default() += 1;
                spent.taken.entry(candidate.decision.offset()).or_default().push(candidate.transformation);
                plans.entry(function).or_default().push(candidate.decision);
            }
            Err(reason) => {
                let (offset, parameter) = (candidate.decision.offset(), candidate.decision.parameter());
                refusals.push(Refusal { function, offset, transformation: candidate.transformation.into(), parameter, reason });
            }
        }
    }
    plans
        .into_iter()
        .map(|(function, mut decisions)| {
            decisions
                .sort_by(|a, b| a.offset().cmp(&b.offset()).then_with(|| a.name().cmp(b.name())).then_with(|| a.detail().cmp(&b.detail())));
            Plan { function, decisions }
        })
        .collect()
}

/// Whether either of them names the other: who adds a transformation need not edit those it excludes.
fn exclude_each_other(known: &[&Transformation], a: &str, b: &str) -> bool {
    let excludes = |a: &str, b: &str| known.iter().any(|it| it.name == a && it.excludes.contains(&b));
    excludes(a, b) || excludes(b, a)
}

/// `own`: bytes of its function. `net_ns`: what it saves, or what all that goes together with it does.
fn check(
    candidate: &Candidate,
    own: u32,
    net_ns: f64,
    spent: &Spent,
    module_left: u64,
    (ms, ms_left): (f64, f64),
    budgets: &Budgets,
) -> Result<(), RefusalReason> {
    let bytes = candidate.growth_bytes;
    let large = (f64::from(own) * budgets.max_large_growth.clamp(0.0, 1.0)) as u32;
    // A hint of the module's producer comes before anything was seen.
    let us = net_ns / 1000.0;
    if candidate.decision.because().samples > 0 && us < budgets.min_saves_us {
        return Err(RefusalReason::SavesTooLittle { us, needed: budgets.min_saves_us });
    }
    if !candidate.together && spent.decisions.get(candidate.transformation).copied().unwrap_or(0) >= budgets.max_decisions {
        return Err(RefusalReason::TooMany { limit: budgets.max_decisions as u64 });
    }
    if let Decision::Inline(_) = candidate.decision {
        let left = budgets.max_inlined_bytes.max(large).saturating_sub(spent.inlined_bytes);
        if bytes > left {
            return Err(RefusalReason::BudgetExhausted { bytes, left });
        }
    }
    let left = budgets.max_function_growth.max(large).saturating_sub(spent.growth_bytes);
    if bytes > left {
        return Err(RefusalReason::FunctionGrowth { bytes, left });
    }
    if u64::from(bytes) > module_left {
        return Err(RefusalReason::ModuleGrowth { bytes, left: module_left });
    }
    if ms > 0.0 && ms > ms_left {
        return Err(RefusalReason::CompileTime { ms, left: ms_left.max(0.0) });
    }
    Ok(())
}
