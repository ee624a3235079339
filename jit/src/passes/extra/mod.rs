//! Passes for decisions that have no variant of their own in a plan ([`OtherDecision`]): one file each, which registers itself by being in this folder
//! (`jit/build.rs` makes the table). `docs/src/howto-transformation.md` adds one.

use cranelift_codegen::ir::Function;

use lwp_feedback::policy::OtherDecision;
use vm::code::{Applied, SourcePosition};

/// One pass.
pub(super) struct Pass {
    /// Name of the transformation.
    pub name: &'static str,
    /// Changes the function as one decision says; `Err` says why it did not.
    pub run: fn(&mut Function, &[SourcePosition], &OtherDecision) -> Result<(), String>,
}

include!(concat!(env!("OUT_DIR"), "/passes.rs"));

/// Carries out what is known here, and refuses the rest.
pub(super) fn run(function: &mut Function, positions: &[SourcePosition], decisions: &[OtherDecision], applied: &mut Vec<Applied>) {
    for decision in decisions {
        let pass = ALL.iter().find(|pass| pass.name == decision.transformation);
        let (name, refused) = match pass {
            Some(pass) => (pass.name, (pass.run)(function, positions, decision).err()),
            None => ("other", Some(format!("no pass is called `{}`", decision.transformation))),
        };
        // An operator's function shows in the positions; one that left no code counts as the first's.
        let at = positions.iter().find(|position| position.offset == decision.offset).or(positions.first());
        applied.push(Applied { name, function: at.map_or(0, |position| position.function), offset: decision.offset, refused });
    }
}
