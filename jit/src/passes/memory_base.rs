//! Accesses of the memory that begins at the context's address, which the pinned register holds: they take that register for their base, so no other holds the base.
//!
//! Cranelift reads the pinned register by a move into another, and that one is live as long as the base would be. So here the base is left out of the address: what remains is
//! the index alone, with a trap code that says so, and [`compact`](crate::compact) writes `[index + offset]` anew as `[r15 + index + offset]` once registers are
//! allocated. The code that instruction selection yields is no code to run before that; where it cannot be laid out anew the function is compiled as it was.
//!
//! Runs behind everything else: other passes look for addresses as the translator makes them.

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{DataFlowGraph, Function, Inst, InstBuilder, InstructionData, Opcode, Value, types};

use vm::layout::memory_ref;
use vm::module::Module;

use crate::traps;

/// What became of an access.
enum Change {
    /// Its address is this index, and the offset is what it was.
    Index(Value, i32),
    /// Its address is a constant: so far behind the base.
    Constant(i32),
}

/// Changes accesses of memory 0.
pub(crate) fn run(function: &mut Function, module: &Module) {
    if !module.context_is_memory() {
        return;
    }
    let place = module.offsets().memory(0) + memory_ref::base;
    let mut bases = Vec::new();
    let mut changes = Vec::new();
    for block in function.layout.blocks() {
        for inst in function.layout.block_insts(block) {
            if is_base(&function.dfg, inst, place) {
                bases.push(inst);
            }
            changes.extend(change(&function.dfg, inst, place).map(|(sum, change)| (inst, sum, change)));
        }
    }
    let mut sums = Vec::new();
    for (inst, sum, change) in changes {
        sums.push(sum);
        match change {
            Change::Index(index, offset) => {
                super::set_address(&mut function.dfg, inst, index, offset);
                let dfg = &mut function.dfg;
                let flags = dfg.insts[inst].memflags().expect("an access has flags");
                let flags = dfg.mem_flags[flags].with_trap_code(Some(traps::WITHOUT_BASE));
                let flags = dfg.mem_flags.insert(flags).expect("a few kinds of flags");
                if let InstructionData::Load { flags: old, .. } | InstructionData::Store { flags: old, .. } = &mut dfg.insts[inst] {
                    *old = flags;
                }
            }
            Change::Constant(to) => {
                let context = FuncCursor::new(function).at_inst(inst).ins().get_pinned_reg(types::I64);
                super::set_address(&mut function.dfg, inst, context, to);
            }
        }
    }
    remove_unused(function, &sums, &bases);
}

/// Whether an instruction reads the memory's base from the context.
fn is_base(dfg: &DataFlowGraph, inst: Inst, place: i32) -> bool {
    let InstructionData::Load { opcode: Opcode::Load, flags, offset, arg } = dfg.insts[inst] else { return false };
    let of_context = || {
        let inst = dfg.value_def(dfg.resolve_aliases(arg)).inst();
        inst.is_some_and(|inst| dfg.insts[inst].opcode() == Opcode::GetPinnedReg)
    };
    i32::from(offset) == place && dfg.mem_flags[flags].readonly() && of_context()
}

/// What becomes of an access, and the sum that was its address.
fn change(dfg: &DataFlowGraph, inst: Inst, place: i32) -> Option<(Inst, Change)> {
    let (memory, address, offset) = super::access(dfg, inst)?;
    if memory != 0 {
        return None;
    }
    let sum = dfg.value_def(address).inst()?;
    let InstructionData::Binary { opcode: Opcode::Iadd, args } = dfg.insts[sum] else { return None };
    let args = args.map(|arg| dfg.resolve_aliases(arg));
    let base = args.iter().position(|&arg| dfg.value_def(arg).inst().is_some_and(|inst| is_base(dfg, inst, place)))?;
    let index = args[1 - base];
    match dfg.insts[dfg.value_def(index).inst()?] {
        // Anything else might take both registers of an address.
        InstructionData::Unary { opcode: Opcode::Uextend, .. } => Some((sum, Change::Index(index, offset))),
        InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => {
            let to = i64::from(offset).checked_add(imm.bits())?;
            i32::try_from(to).ok().filter(|_| imm.bits() >= 0).map(|to| (sum, Change::Constant(to)))
        }
        _ => None,
    }
}

/// Takes out sums that nobody reads any more, then bases: instruction selection would keep those, for a load might fault.
fn remove_unused(function: &mut Function, sums: &[Inst], bases: &[Inst]) {
    let mut uses = super::count_uses(function);
    for &inst in sums.iter().chain(bases) {
        if function.layout.inst_block(inst).is_none() || uses[function.dfg.first_result(inst)] != 0 {
            continue;
        }
        for value in function.dfg.inst_values(inst) {
            uses[function.dfg.resolve_aliases(value)] -= 1;
        }
        function.layout.remove_inst(inst);
    }
}
