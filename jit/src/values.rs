//! What is known of a value.

use cranelift_codegen::ir::{DataFlowGraph, InstructionData, Opcode, Value};

/// The number that a value is, if it is an integer constant: its bits as the instruction has them, of which those beyond the value's width say nothing.
pub(crate) fn iconst(dfg: &DataFlowGraph, value: Value) -> Option<i64> {
    let inst = dfg.value_def(dfg.resolve_aliases(value)).inst()?;
    match dfg.insts[inst] {
        InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits()),
        _ => None,
    }
}
