//! Toy: the block that a branch never goes to is marked cold.

use super::Pass;
use cranelift_codegen::ir::{Function, Opcode};
use lwp_feedback::policy::OtherDecision;
use vm::code::SourcePosition;

pub(super) const PASS: Pass = Pass { name: "mark-cold", arguments: &["taken"], run };

fn run(function: &mut Function, positions: &[SourcePosition], decision: &OtherDecision) -> Result<(), String> {
    let never = if decision.arguments.get("taken") == Some(&1) { 1 } else { 0 };
    for block in function.layout.blocks().collect::<Vec<_>>() {
        let Some(last) = function.layout.last_inst(block) else { continue };
        let at = positions.get(function.srcloc(last).bits() as usize).map(|position| position.offset);
        if function.dfg.insts[last].opcode() == Opcode::Brif && at == Some(decision.offset) {
            let targets = function.dfg.insts[last].branch_destination(&function.dfg.jump_tables, &function.dfg.exception_tables);
            let cold = targets[never].block(&function.dfg.value_lists);
            function.layout.set_cold(cold);
            return Ok(());
        }
    }
    Err("no branch of that offset is left".into())
}
