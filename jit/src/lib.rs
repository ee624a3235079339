//! backedge's compiler: WebAssembly functions to machine code, through Cranelift.
//!
//! Enters: a [`vm::code::CompileRequest`] (module, function, entrance, tier, plan). Leaves: a [`vm::code::CompiledCode`], relocatable
//! bytes with their tables. Nothing here places code, runs it, or knows an address.
//!
//! Reading order, which is the data flow: [`compiler`] drives `scan` (one pass over the operators: liveness, loops, calls), `plan`
//! (advice from feedback, checked), `translate` (operators to CLIF), Cranelift, and `finish` (its tables into ours). `adapter` makes
//! the bridges between calling conventions.
//!
//! What is absent: no I/O, no global state, no clock.
#![forbid(unsafe_code)]

mod adapter;
mod compact;
pub mod compiler;
mod early_return;
mod finish;
mod graph;
mod headers;
mod inlinable;
mod lwp_thunks;
mod markers;
mod passes;
mod placement;
mod plan;
mod scan;
mod spills;
mod translate;
mod traps;
mod types;
mod values;

pub use compiler::{CraneliftCompiler, Options, Sabotage};

/// The passes for [`Decision::Other`](lwp_feedback::policy::Decision::Other): each one's name, and those of its arguments.
pub fn experiments() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    passes::extra::known()
}

/// A digest of the sources this compiler and the machine it compiles for were built from.
pub const SOURCES: &str = env!("BACKEDGE_SOURCES");

/// The processor code is made for, with the features that decide which instructions are used.
///
/// # Errors
/// The processor is not supported; the text says why.
pub fn processor() -> Result<String, String> {
    compiler::processor()
}
