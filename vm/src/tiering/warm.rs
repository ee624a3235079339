//! What is worth keeping for the next process although this one did not compile it: functions that run too seldom for that, yet more than once.

use super::ModuleCode;
use crate::code::{CompileError, CompileRequest, Entrance, Tier};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Calls and rounds from which code is worth keeping: what runs once costs about as much to read from a file as to interpret.
const EVENTS: u32 = 2;

impl ModuleCode {
    /// Functions that ran interpreted more than once and were not compiled, ascending.
    pub fn interpreted(&self) -> Vec<u32> {
        let ran = |&own: &usize| {
            let function = &self.functions[own];
            let events = self.reloads[own].load(Ordering::Relaxed).saturating_sub(self.counters[own].load(Ordering::Relaxed));
            function.bytecode.get().is_some() && function.compiled.load(Ordering::Relaxed).is_null() && events > EVENTS
        };
        (0..self.functions.len()).filter(ran).map(|own| self.module.imported_functions + own as u32).collect()
    }

    /// Compiles a function in the form that a later process starts with, for a compiler that keeps what it makes. Nothing leads to it here.
    ///
    /// # Errors
    /// It cannot be compiled: imported, of a kind that is interpreted, or too large.
    pub fn keep(self: &Arc<Self>, function: u32) -> Result<(), CompileError> {
        let unsupported = |reason: &str| CompileError::Unsupported { function, reason: reason.into() };
        if self.module.defined(function).is_none_or(|own| own >= self.functions.len()) {
            return Err(unsupported("not a function that the module defines"));
        }
        let compiler = self.shared.compiler.as_ref().ok_or_else(|| unsupported("no compiler"))?;
        let version = self.next_version.fetch_add(1, Ordering::Relaxed);
        let mut request = CompileRequest::new(self.module.clone(), function, Entrance::Body, Tier::Baseline, version);
        (request.sites, request.countdowns) = (self.shared.budget.allows_any(), true);
        compiler.compile(&request).map(drop)
    }
}
