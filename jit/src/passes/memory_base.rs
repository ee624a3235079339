//! Accesses of the memory that begins at the context's address, which the pinned register holds: they take that register for their base, so no other holds the base.
//!
//! Cranelift reads the pinned register by a move into another, and that one is live as long as the base would be. So here the base is left out of the address: what remains is
//! the index alone, with a trap code that says so, and [`compact`](crate::compact) writes `[index + offset]` anew as `[r15 + index + offset]` once registers are
//! allocated. The code that instruction selection yields is no code to run before that; where it cannot be laid out anew the function is compiled as it was.
//!
//! An address that is selected ([`branch_to_select`](super::branch_to_select)) is selected without its base, and a slot of the frame stands there as so far from the base; that
//! distance is computed once.
//!
//! Runs behind everything else: other passes look for addresses as the translator makes them.

use std::collections::HashMap;

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{DataFlowGraph, Function, Inst, InstBuilder, InstructionData, Opcode, StackSlot, Value, types};

use vm::layout::memory_ref;
use vm::module::Module;

use crate::traps;
use crate::values::iconst;

/// What became of an access.
enum Change {
    /// Its address is this index, and the offset is what it was.
    Index(Value, i32),
    /// The same where the address is selected.
    Selected(Value, i32),
    /// Its address is a constant: so far behind the base.
    Constant(i32),
}

/// Selects within each other that are looked through.
const MOST_NESTING: u32 = 4;

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
    let mut without = Without { place, known: HashMap::new(), slots: HashMap::new(), replaced: Vec::new() };
    for (inst, sum, change) in changes {
        without.replaced.push(sum);
        match change {
            Change::Index(..) | Change::Selected(..) => {
                let (index, offset) = match change {
                    Change::Selected(address, offset) => (without.base(function, address), offset),
                    Change::Index(index, offset) => (index, offset),
                    Change::Constant(_) => unreachable!("it is one of the others"),
                };
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
    remove_unused(function, &without.replaced, &bases);
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
    if dfg.insts[sum].opcode() == Opcode::Select {
        return has_base(dfg, address, place, MOST_NESTING)?.then_some((sum, Change::Selected(address, offset)));
    }
    let InstructionData::Binary { opcode: Opcode::Iadd, args } = dfg.insts[sum] else { return None };
    let index = index(dfg, args, place)?;
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

/// What is added to the memory's base in a sum.
fn index(dfg: &DataFlowGraph, args: [Value; 2], place: i32) -> Option<Value> {
    let args = args.map(|arg| dfg.resolve_aliases(arg));
    let base = args.iter().position(|&arg| dfg.value_def(arg).inst().is_some_and(|inst| is_base(dfg, inst, place)))?;
    Some(args[1 - base])
}

fn is_constant(dfg: &DataFlowGraph, value: Value) -> bool {
    iconst(dfg, value).is_some()
}

/// Whether the base is in an address, or in one of those that are selected from; `None` if it could not be left out of each.
fn has_base(dfg: &DataFlowGraph, address: Value, place: i32, depth: u32) -> Option<bool> {
    let inst = dfg.value_def(dfg.resolve_aliases(address)).inst()?;
    let within = |address: Value| has_base(dfg, address, place, depth.checked_sub(1)?);
    match dfg.insts[inst] {
        InstructionData::StackAddr { .. } => Some(false),
        InstructionData::Ternary { opcode: Opcode::Select, args: [_, left, right] } => Some(within(left)? | within(right)?),
        InstructionData::Binary { opcode: Opcode::Iadd, args } if index(dfg, args, place).is_some() => Some(true),
        InstructionData::Binary { opcode: Opcode::Iadd, args: [sum, by] } if is_constant(dfg, by) => within(sum),
        _ => None,
    }
}

/// Addresses without the base, as they are made.
struct Without {
    place: i32,
    known: HashMap<Value, Value>,
    /// How far slots are from the base.
    slots: HashMap<(StackSlot, i32), Value>,
    /// What was made anew, what depends on others first.
    replaced: Vec<Inst>,
}

impl Without {
    /// An address, of which [`has_base`] is told, less the base.
    fn base(&mut self, function: &mut Function, address: Value) -> Value {
        let address = function.dfg.resolve_aliases(address);
        if let Some(&known) = self.known.get(&address) {
            return known;
        }
        let inst = function.dfg.value_def(address).inst().expect("parameters have no base");
        self.replaced.push(inst);
        let now = match function.dfg.insts[inst] {
            InstructionData::StackAddr { stack_slot, offset, .. } => self.slot(function, stack_slot, offset.into()),
            InstructionData::Ternary { args: [condition, left, right], .. } => {
                let [left, right] = [left, right].map(|it| self.base(function, it));
                FuncCursor::new(function).at_inst(inst).ins().select(condition, left, right)
            }
            InstructionData::Binary { args, .. } => match index(&function.dfg, args, self.place) {
                Some(index) => index,
                None => {
                    let sum = self.base(function, args[0]);
                    FuncCursor::new(function).at_inst(inst).ins().iadd(sum, args[1])
                }
            },
            ref other => unreachable!("no address is a {}", other.opcode()),
        };
        self.known.insert(address, now);
        now
    }

    /// Computed where the function is entered: what the pinned register holds there is its own context.
    fn slot(&mut self, function: &mut Function, slot: StackSlot, offset: i32) -> Value {
        *self.slots.entry((slot, offset)).or_insert_with(|| {
            let entry = function.layout.entry_block().expect("a function has blocks");
            let mut cursor = FuncCursor::new(function).at_first_insertion_point(entry);
            let address = cursor.ins().stack_addr(types::I64, slot, offset);
            let context = cursor.ins().get_pinned_reg(types::I64);
            cursor.ins().isub(address, context)
        })
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
