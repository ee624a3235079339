//! Passes for decisions that have no variant of their own in a plan ([`OtherDecision`]): one file each, which registers itself by being in this folder
//! (`jit/build.rs` makes the table). `docs/src/howto-transformation.md` adds one.

use cranelift_codegen::ir::Function;

use lwp_feedback::policy::OtherDecision;
use vm::code::{Applied, SourcePosition};

/// One pass.
pub(crate) struct Pass {
    /// Name of the transformation.
    pub name: &'static str,
    /// Names of its arguments: the fuzzer gives them values.
    pub arguments: &'static [&'static str],
    /// Changes the function as one decision says; `Err` says why it did not.
    pub run: fn(&mut Function, &[SourcePosition], &OtherDecision) -> Result<(), String>,
}

include!(concat!(env!("OUT_DIR"), "/passes.rs"));

/// The example of `docs/src/howto-transformation.md`.
#[cfg(test)]
#[path = "../../../../docs/examples/howto/mark_cold_pass.rs"]
mod mark_cold;

/// Every pass's name, and those of its arguments.
pub(crate) fn known() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    ALL.iter().map(|pass| (pass.name, pass.arguments))
}

/// Carries out what is known here, and refuses the rest.
pub(super) fn run(
    function: &mut Function,
    planned: u32,
    positions: &[SourcePosition],
    decisions: &[OtherDecision],
    applied: &mut Vec<Applied>,
) {
    for decision in decisions {
        let pass = ALL.iter().find(|pass| pass.name == decision.transformation);
        let (name, refused) = match pass {
            Some(pass) => (pass.name, (pass.run)(function, positions, decision).err()),
            None => ("other", Some(format!("no pass is called `{}`", decision.transformation))),
        };
        // An operator's function shows in the positions; one that left no code counts as the planned one's.
        let at = positions.iter().find(|position| position.offset == decision.offset);
        applied.push(Applied {
            name,
            function: at.map_or(planned, |position| position.function),
            offset: decision.offset,
            detail: decision.detail(),
            refused,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_codegen::cursor::{Cursor, FuncCursor};
    use cranelift_codegen::ir::{InstBuilder, SourceLoc, types};

    /// A branch of the operator at 0x20 between two blocks.
    fn a_branch() -> Function {
        let mut function = Function::new();
        let [entry, taken, not_taken] = std::array::from_fn(|_| function.dfg.make_block());
        let condition = function.dfg.append_block_param(entry, types::I32);
        let mut cursor = FuncCursor::new(&mut function);
        [entry, taken, not_taken].into_iter().for_each(|block| cursor.insert_block(block));
        cursor.goto_bottom(entry);
        cursor.set_srcloc(SourceLoc::new(1));
        cursor.ins().brif(condition, taken, &[], not_taken, &[]);
        for block in [taken, not_taken] {
            cursor.goto_bottom(block);
            cursor.ins().return_(&[]);
        }
        function
    }

    #[test]
    fn the_books_example_marks_the_side_that_never_ran() {
        let position = |offset| SourcePosition { inlined_at: None, function: 0, offset };
        let positions = [position(0x10), position(0x20)];
        let run = |offset, arguments: &[(&str, i64)]| {
            let arguments = arguments.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
            let decision = OtherDecision { transformation: "mark-cold".into(), offset, arguments, ..OtherDecision::default() };
            let mut function = a_branch();
            let done = (mark_cold::PASS.run)(&mut function, &positions, &decision);
            let cold: Vec<u32> =
                function.layout.blocks().filter(|&block| function.layout.is_cold(block)).map(|block| block.as_u32()).collect();
            (done, cold)
        };
        assert_eq!(run(0x20, &[("taken", 1)]), (Ok(()), vec![2]));
        assert_eq!(run(0x20, &[("taken", 0)]), (Ok(()), vec![1]));
        assert_eq!(run(0x20, &[]), (Ok(()), vec![1]));
        let (refused, cold) = run(0x21, &[("taken", 1)]);
        assert!(refused.is_err() && cold.is_empty());
    }
}
