//! Our passes over a translated function, before Cranelift's own: what a plan wants that is easier said of blocks and values than of wasm
//! operators.
//!
//! Enters: CLIF as the translator made it, its table of source positions, the plan. Leaves: the same function changed, and one
//! [`Applied`] for each wish, fired or refused. A branch is found again by the source position it carries: the operator's offset.
//! A callee that was inlined more than once has more than one branch of that offset; each is treated alike.

use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{DataFlowGraph, Function, Inst, InstructionData, Opcode, Value, types};

use vm::code::{Applied, SourcePosition};
use vm::module::Module;
use vm::trap::TrapCode;

use crate::plan::FunctionPlan;
use crate::translate::regions;
use crate::traps;

pub(crate) mod addresses;
pub(crate) mod memory_base;
pub(crate) mod branch_to_select;
pub(crate) mod exit_homes;
pub(crate) mod exits;
pub(crate) mod extra;
pub(crate) mod layout;
pub(crate) mod loop_values;
pub(crate) mod prefetch;
pub(crate) mod swaps;
pub(crate) mod three_way;

/// Runs what the plan of the function with the index `planned` asks for.
pub(crate) fn run(
    function: &mut Function,
    planned: u32,
    positions: &[SourcePosition],
    module: &Module,
    plan: &FunctionPlan,
    two_fetches: bool,
    applied: &mut Vec<Applied>,
) {
    if !plan.branch_to_select.is_empty() {
        branch_to_select::run(function, positions, module, &plan.branch_to_select, applied);
    }
    if !plan.layout.is_empty() {
        layout::run(function, positions, &plan.layout, applied);
    }
    if !plan.prefetch.is_empty() {
        prefetch::run(function, positions, &plan.prefetch, !module.checks_accesses, two_fetches, applied);
    }
    if !plan.other.is_empty() {
        extra::run(function, planned, positions, &plan.other, applied);
    }
}

/// Conditional branches in program order that stand for an operator `wanted` picks, with that operator's position.
fn branches(function: &Function, positions: &[SourcePosition], wanted: impl Fn(u32) -> bool) -> Vec<(Inst, SourcePosition)> {
    let mut found = Vec::new();
    for block in function.layout.blocks() {
        let Some(last) = function.layout.last_inst(block) else { continue };
        if function.dfg.insts[last].opcode() != Opcode::Brif {
            continue;
        }
        let position = positions.get(function.srcloc(last).bits() as usize);
        if let Some(position) = position.filter(|position| wanted(position.offset)) {
            found.push((last, *position));
        }
    }
    found
}

/// Memory, address and offset of an instruction that is an access whose trap says that it was in bounds.
fn access(dfg: &DataFlowGraph, inst: Inst) -> Option<(u32, Value, i32)> {
    let (flags, offset, address) = match dfg.insts[inst] {
        InstructionData::Load { flags, offset, arg, .. } => (flags, offset, arg),
        InstructionData::Store { flags, offset, args: [_, address], .. } => (flags, offset, address),
        _ => return None,
    };
    let flags = dfg.mem_flags[flags];
    let in_bounds = flags.trap_code() == Some(traps::to_clif(TrapCode::MemoryOutOfBounds));
    let memory = regions::memory_of(dfg, flags.alias_region()?)?;
    in_bounds.then(|| (memory, dfg.resolve_aliases(address), offset.into()))
}

/// Gives an access another address and offset.
fn set_address(dfg: &mut DataFlowGraph, inst: Inst, to: Value, by: i32) {
    match &mut dfg.insts[inst] {
        InstructionData::Load { arg, offset, .. } => (*arg, *offset) = (to, by.into()),
        InstructionData::Store { args, offset, .. } => (args[1], *offset) = (to, by.into()),
        _ => unreachable!("an access loads or stores"),
    }
}

/// How often each value is used, of values that are no aliases.
fn count_uses(function: &Function) -> SecondaryMap<Value, u32> {
    let mut uses = SecondaryMap::new();
    for inst in function.layout.blocks().flat_map(|block| function.layout.block_insts(block)) {
        for value in function.dfg.inst_values(inst) {
            uses[function.dfg.resolve_aliases(value)] += 1;
        }
    }
    uses
}

/// Base of the memory and 32-bit index that an access's address is the sum of, as the translator makes it.
fn base_and_index(dfg: &DataFlowGraph, address: Value) -> Option<(Value, Value)> {
    let operands = |value: Value, opcode: Opcode| {
        let inst = dfg.value_def(dfg.resolve_aliases(value)).inst()?;
        (dfg.insts[inst].opcode() == opcode).then(|| dfg.inst_args(inst))
    };
    let &[base, wide] = operands(address, Opcode::Iadd)? else { return None };
    let &[index] = operands(wide, Opcode::Uextend)? else { return None };
    (dfg.value_type(index) == types::I32).then(|| (dfg.resolve_aliases(base), dfg.resolve_aliases(index)))
}
