//! Values that a loop does not change and that its ways out of line read: those read them from memory.
//!
//! A poll's exit, or a guard's, writes down every live local. To the register allocator each is a use, as good as one in the loop, and it lengthens what the allocator must find one
//! register for, so loops got spills that they do not get without exits (PageRank: five loads of slots a vertex instead of three). A local that stays the same for as long as the
//! outermost loop around an exit runs is stored in front of that loop, and the exit reads the slot.
//!
//! Runs behind Cranelift's own passes, which know nothing of slots.

use std::collections::HashMap;

use cranelift_codegen::Context;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::{
    Block, Function, Inst, InstBuilder, InstructionData, MemFlagsData, Opcode, StackSlot, StackSlotData, StackSlotKind, Type, Value,
    ValueDef, types,
};
use cranelift_codegen::loop_analysis::{Loop, LoopAnalysis};

use super::loop_values::{Class, MOST_BLOCKS, around, calls, pressure};

/// Changes exits of loops without calls whose values do not fit in the registers.
pub(crate) fn run(context: &mut Context) {
    context.compute_loop_analysis();
    let Context { func: function, cfg, domtree, loop_analysis: loops, .. } = context;
    for (of, Left { blocks, exits }) in left_loops(function, cfg, loops) {
        let Some(before) = domtree.idom(loops.loop_header(of)) else { continue };
        if loops.innermost_loop(before).is_some() || blocks.len() > MOST_BLOCKS || blocks.iter().any(|&block| calls(function, block)) {
            continue;
        }
        let [general, vector] = [Class::General, Class::Vector].map(|class| pressure(function, &blocks, class) > class.registers());
        let is_full = |ty| if Class::of(ty) == Class::General { general } else { vector };
        let mut homes = Homes { of, before, loops, slots: HashMap::new() };
        for block in exits {
            let insts: Vec<Inst> = function.layout.block_insts(block).collect();
            for inst in insts {
                homes.read(function, inst, is_full);
            }
        }
    }
}

/// An outermost loop.
struct Left {
    blocks: Vec<Block>,
    /// Ways out of line that leave it and do nothing else.
    exits: Vec<Block>,
}

/// Outermost loops that have exits, in the order of the code.
fn left_loops(function: &Function, cfg: &ControlFlowGraph, loops: &LoopAnalysis) -> Vec<(Loop, Left)> {
    let mut found: Vec<(Loop, Left)> = Vec::new();
    let mut numbers: HashMap<Loop, usize> = HashMap::new();
    for block in function.layout.blocks() {
        let exit_of = left(function, cfg, loops, block);
        let Some(of) = exit_of.or_else(|| around(loops, block).last()) else { continue };
        let number = *numbers.entry(of).or_insert_with(|| {
            found.push((of, Left { blocks: Vec::new(), exits: Vec::new() }));
            found.len() - 1
        });
        let Left { blocks, exits } = &mut found[number].1;
        if exit_of.is_some() { exits.push(block) } else { blocks.push(block) }
    }
    found.retain(|(_, left)| !left.exits.is_empty());
    found
}

/// Slots of values that a loop does not change.
struct Homes<'a> {
    of: Loop,
    /// Ends where the slots are filled: every way to the loop leads through it.
    before: Block,
    loops: &'a LoopAnalysis,
    slots: HashMap<Value, Option<StackSlot>>,
}

impl Homes<'_> {
    fn slot(&mut self, function: &mut Function, value: Value) -> Option<StackSlot> {
        let Homes { of, before, loops, ref mut slots } = *self;
        *slots.entry(value).or_insert_with(|| is_kept(function, loops, of, value).then(|| store(function, before, value)))
    }

    /// Lets an exit's instruction read slots, of values of some types.
    fn read(&mut self, function: &mut Function, inst: Inst, wanted: impl Fn(Type) -> bool) {
        for number in 0..function.dfg.inst_args(inst).len() {
            let value = function.dfg.resolve_aliases(function.dfg.inst_args(inst)[number]);
            let ty = function.dfg.value_type(value);
            if !wanted(ty) {
                continue;
            }
            let Some(slot) = self.slot(function, value) else { continue };
            // (a load that is merged into another instruction has its address in a register, and what takes an address in the frame `spills` leaves alone: no plain load of 32 bits)
            if function.dfg.insts[inst].opcode() == Opcode::Uextend && ty == types::I32 {
                let address = FuncCursor::new(function).at_inst(inst).ins().stack_addr(types::I64, slot, 0);
                let flags = function.dfg.mem_flags.insert(MemFlagsData::trusted()).expect("a few kinds of flags");
                function.dfg.insts[inst] = InstructionData::Load { opcode: Opcode::Uload32, flags, offset: 0.into(), arg: address };
                return;
            }
            let mut cursor = FuncCursor::new(function).at_inst(inst);
            let copy = match ty {
                types::I32 => {
                    let address = cursor.ins().stack_addr(types::I64, slot, 0);
                    let wide = cursor.ins().uload32(MemFlagsData::trusted(), address, 0);
                    cursor.ins().ireduce(ty, wide)
                }
                ty => cursor.ins().stack_load(types::I64, ty, slot, 0),
            };
            function.dfg.inst_args_mut(inst)[number] = copy;
        }
    }
}

/// The outermost loop that a block leaves, if it is one that does nothing else.
fn left(function: &Function, cfg: &ControlFlowGraph, loops: &LoopAnalysis, block: Block) -> Option<Loop> {
    if !function.layout.is_cold(block) || loops.innermost_loop(block).is_some() {
        return None;
    }
    let last = function.layout.last_inst(block)?;
    if !matches!(function.dfg.insts[last].opcode(), Opcode::ReturnCallIndirect | Opcode::ReturnCall) {
        return None;
    }
    let mut ways = cfg.pred_iter(block);
    let (Some(way), None) = (ways.next(), ways.next()) else { return None };
    around(loops, way.block).last()
}

/// Whether a value is from outside of a loop, and not made anew wherever it is read.
fn is_kept(function: &Function, loops: &LoopAnalysis, around: Loop, value: Value) -> bool {
    let block = match function.dfg.value_def(value) {
        ValueDef::Param(block, _) => block,
        ValueDef::Result(inst, _)
            if matches!(
                function.dfg.insts[inst].opcode(),
                Opcode::Iconst | Opcode::GetPinnedReg | Opcode::F32const | Opcode::F64const | Opcode::Vconst
            ) =>
        {
            return false;
        }
        ValueDef::Result(inst, _) => match function.layout.inst_block(inst) {
            Some(block) => block,
            None => return false,
        },
        _ => return false,
    };
    !function.layout.is_cold(block) && !loops.is_in_loop(block, around)
}

fn store(function: &mut Function, before: Block, value: Value) -> StackSlot {
    let ty = function.dfg.value_type(value);
    let slot =
        function.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, ty.bytes(), ty.bytes().trailing_zeros() as u8));
    let last = function.layout.last_inst(before).expect("a block ends");
    FuncCursor::new(function).at_inst(last).ins().stack_store(types::I64, value, slot, 0);
    slot
}
