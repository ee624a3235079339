//! What is worth keeping for the next process although this one did not compile it: functions that run too seldom for that, yet more than once.

use super::ModuleCode;
use super::thresholds::expected_compile_time;
use crate::code::{CompileError, CompileRequest, Entrance, Tier};
use crate::engine::TierPolicy;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Calls and rounds from which code is worth keeping: what runs once costs about as much to read from a file as to interpret.
const EVENTS: u32 = 2;
/// What ran for at least this part of what leads to its compile is kept in tier 2. Tier 1 would ask for that early in the next process: of what CPython's `print(1)` left, 46 functions did so
/// (and some of their loops) in a run of 70 ms, 32 of them from this on, and their compiles were 45 ms of it on one processor. It is a hundredth of the bytes that are kept.
const OPTIMIZED_FROM: f64 = 0.3;
/// What is kept ahead for later processes is numbered apart by this: a process that runs meanwhile numbers its versions from the same file on, and one file is to hold both.
const APART: u32 = 1 << 20;

/// A function whose code is worth keeping for the next process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarmFunction {
    /// Its index.
    pub function: u32,
    /// Whether it is to start in tier 2, not in tier 1.
    pub optimized: bool,
}

impl ModuleCode {
    /// Functions that ran interpreted more than once and were not compiled; those first whose running came nearest to the price of their compiling.
    pub fn interpreted(&self) -> Vec<WarmFunction> {
        let optimizes = self.shared.config.tier == TierPolicy::Auto;
        let ran = |own: usize| {
            let function = &self.functions[own];
            let counted_to = self.reloads[own].load(Ordering::Relaxed);
            let (records, events) = (function.hot_records.load(Ordering::Relaxed), self.came(own));
            // (the first look is for the templates)
            let price = counted_to.max(self.hot_interpreter(self.module.imported_functions + own as u32));
            let lacks_code = function.bytecode.get().is_some() && self.targets[own].compiled.load(Ordering::Relaxed).is_null();
            // Each record is of all that led to it.
            let share = f64::from(records) + f64::from(events) / f64::from(price);
            (lacks_code && (records > 0 || events >= EVENTS)).then(|| (share, self.module.imported_functions + own as u32))
        };
        let mut found: Vec<(f64, u32)> = (0..self.functions.len()).filter_map(ran).collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.into_iter().map(|(share, function)| WarmFunction { function, optimized: optimizes && share >= OPTIMIZED_FROM }).collect()
    }

    /// What compiling them is expected to take.
    pub fn time_to_keep(&self, functions: &[WarmFunction]) -> Duration {
        let tier = |warm: &WarmFunction| if warm.optimized { Tier::Optimizing } else { Tier::Baseline };
        functions.iter().map(|warm| expected_compile_time(tier(warm), self.body_bytes(warm.function))).sum()
    }

    /// Compiles a function in the form that a later process starts with, for a compiler that keeps what it makes. Nothing leads to it here.
    ///
    /// # Errors
    /// It cannot be compiled: imported, of a kind that is interpreted, or too large.
    pub fn keep(self: &Arc<Self>, warm: WarmFunction) -> Result<(), CompileError> {
        let WarmFunction { function, optimized } = warm;
        let unsupported = |reason: &str| CompileError::Unsupported { function, reason: reason.into() };
        if self.module.defined(function).is_none_or(|own| own >= self.functions.len()) {
            return Err(unsupported("not a function that the module defines"));
        }
        let compiler = self.shared.compiler.as_ref().ok_or_else(|| unsupported("no compiler"))?;
        let version = self.next_version.fetch_add(1, Ordering::Relaxed);
        let version = version.checked_add(APART).unwrap_or(version);
        let tier = if optimized { Tier::Optimizing } else { Tier::Baseline };
        let mut request = CompileRequest::new(self.module.clone(), function, Entrance::Body, tier, version);
        if !optimized {
            (request.sites, request.countdowns) = (self.shared.budget.allows_any(), true);
        }
        compiler.compile(&request).map(drop)
    }
}
