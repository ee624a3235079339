//! Our passes over a translated function, before Cranelift's own: what a plan wants that is easier said of blocks and values than of wasm
//! operators.
//!
//! Enters: CLIF as the translator made it, its table of source positions, the plan. Leaves: the same function changed, and one
//! [`Applied`] for each wish, fired or refused. A branch is found again by the source position it carries: the operator's offset.
//! A callee that was inlined more than once has more than one branch of that offset; each is treated alike.

use cranelift_codegen::ir::Function;

use vm::code::{Applied, SourcePosition};

use crate::plan::FunctionPlan;

pub(crate) mod prefetch;

/// Runs what the plan asks for.
pub(crate) fn run(function: &mut Function, positions: &[SourcePosition], plan: &FunctionPlan, applied: &mut Vec<Applied>) {
    if !plan.prefetch.is_empty() {
        prefetch::run(function, positions, &plan.prefetch, applied);
    }
}
