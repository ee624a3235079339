//! Values that stay the same in a loop without calls, and that Cranelift makes anew in each round: made once before the loop and kept in a register.
//!
//! Two kinds. *Constants* of floating point and vectors: Cranelift makes one wherever it is used, as an operand in memory (a processor has two such loads a cycle) or, where it is the
//! first operand, through a general register. *Sums*, differences, masks and the like of a constant and a value from outside the loop: Cranelift computes them again in each block that
//! reads one (`opts/remat.isle`). That saves a register and costs an instruction or two a round, and a loop that waits for memory has fewer rounds in flight for it. A block's parameter
//! Cranelift leaves alone. So what stays the same becomes a parameter, from round to round itself, of the header of the outermost loop that has no call in it and in which it stays the same.
//! How many registers are free follows from what is live in the loop's blocks (the textbook dataflow: Aho, Sethi, Ullman, 10.6).
//!
//! Runs behind Cranelift's own passes, which would see that the parameter is always the same and take it out again.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use cranelift_codegen::Context;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::function::FunctionStencil;
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{
    Block, Constant, DataFlowGraph, Function, Inst, InstBuilder, InstructionData, Opcode, Type, Value, ValueDef, types,
};
use cranelift_codegen::loop_analysis::{Loop, LoopAnalysis};

use crate::values::iconst;

/// Vector registers that values of a loop may have together. There are 16; the allocator needs one to move others about.
const VECTOR_REGISTERS: usize = 14;
/// General registers of them. There are 16, less the stack's two and the context's; the allocator needs one.
const GENERAL_REGISTERS: usize = 12;
/// Loops of more blocks stay as they are; with [`MOST_MADE`] it bounds the time.
pub(super) const MOST_BLOCKS: usize = 200;
/// Loops with more such instructions stay as they are.
const MOST_MADE: usize = 1000;
/// A use in a loop within counts as so many.
const PER_LEVEL: usize = 8;

/// What is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    F32(u32),
    F64(u64),
    Vector(Type, Constant),
    /// Of a value and a constant; the constant is the first operand or the second.
    Binary {
        opcode: Opcode,
        ty: Type,
        value: Value,
        constant: i64,
        first: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Vector,
    General,
}

impl Class {
    pub(super) fn of(ty: Type) -> Class {
        if ty.is_float() || ty.is_vector() { Class::Vector } else { Class::General }
    }

    pub(super) fn registers(self) -> usize {
        match self {
            Class::Vector => VECTOR_REGISTERS,
            Class::General => GENERAL_REGISTERS,
        }
    }
}

impl Kind {
    fn of(dfg: &DataFlowGraph, inst: Inst) -> Option<Kind> {
        match dfg.insts[inst] {
            // Zeros take no load.
            InstructionData::UnaryIeee32 { opcode: Opcode::F32const, imm } => (imm.bits() != 0).then(|| Kind::F32(imm.bits())),
            InstructionData::UnaryIeee64 { opcode: Opcode::F64const, imm } => (imm.bits() != 0).then(|| Kind::F64(imm.bits())),
            InstructionData::UnaryConst { opcode: Opcode::Vconst, constant_handle } => {
                let bytes = dfg.constants.get(constant_handle).as_slice();
                let all = |wanted: u8| bytes.iter().all(|&byte| byte == wanted);
                (!all(0) && !all(0xff)).then(|| Kind::Vector(dfg.value_type(dfg.first_result(inst)), constant_handle))
            }
            InstructionData::Binary {
                opcode: opcode @ (Opcode::Iadd | Opcode::Isub | Opcode::Band | Opcode::Bor | Opcode::Bxor),
                args,
            } => {
                let ty = dfg.value_type(args[0]);
                let [one, other] = args.map(|arg| iconst(dfg, arg));
                match (one, other) {
                    _ if ty != types::I32 && ty != types::I64 => None,
                    (None, Some(constant)) => Some(Kind::Binary { opcode, ty, value: args[0], constant, first: false }),
                    (Some(constant), None) => Some(Kind::Binary { opcode, ty, value: args[1], constant, first: true }),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether it is made of nothing.
    fn is_constant(self) -> bool {
        !matches!(self, Kind::Binary { .. })
    }

    /// With its operand by the name it has now.
    fn renamed(self, kept: &HashMap<Value, Value>) -> Kind {
        match self {
            Kind::Binary { opcode, ty, value, constant, first } => {
                Kind::Binary { opcode, ty, value: kept.get(&value).copied().unwrap_or(value), constant, first }
            }
            constant => constant,
        }
    }

    fn ty(self) -> Type {
        match self {
            Kind::F32(_) => types::F32,
            Kind::F64(_) => types::F64,
            Kind::Vector(ty, _) | Kind::Binary { ty, .. } => ty,
        }
    }

    /// Makes it in front of an instruction.
    fn make(self, function: &mut Function, before: Inst) -> Value {
        let mut cursor = FuncCursor::new(function).at_inst(before);
        match self {
            Kind::F32(bits) => cursor.ins().f32const(Ieee32::with_bits(bits)),
            Kind::F64(bits) => cursor.ins().f64const(Ieee64::with_bits(bits)),
            Kind::Vector(ty, handle) => cursor.ins().vconst(ty, handle),
            Kind::Binary { opcode, ty, value, constant, first } => {
                let constant = cursor.ins().iconst(ty, constant);
                let (one, other) = if first { (constant, value) } else { (value, constant) };
                let (inst, dfg) = cursor.ins().Binary(opcode, ty, one, other);
                dfg.first_result(inst)
            }
        }
    }
}

/// Changes a function that was just optimized: its flow graph and dominator tree are right before and afterwards.
pub(crate) fn run(context: &mut Context) {
    let function = &context.func;
    let made: Vec<(Block, Inst, Kind)> = (function.layout.blocks())
        .flat_map(|block| function.layout.block_insts(block).map(move |inst| (block, inst)))
        .filter_map(|(block, inst)| Kind::of(&function.dfg, inst).map(|kind| (block, inst, kind)))
        .collect();
    if made.is_empty() {
        return;
    }
    context.compute_loop_analysis();
    let analysis = &context.loop_analysis;
    let mut calling: HashSet<Loop> = HashSet::new();
    for block in context.func.layout.blocks().filter(|&block| calls(&context.func, block)) {
        // What is around a loop that is in the set is too.
        _ = around(analysis, block).take_while(|&it| calling.insert(it)).count();
    }
    let mut found: Vec<Found> = Vec::new();
    let mut numbers: HashMap<Loop, usize> = HashMap::new();
    for (block, inst, kind) in made {
        let Some(of) = outermost(context, block, kind, &calling) else { continue };
        let number = *numbers.entry(of).or_insert_with(|| {
            found.push(Found { of, blocks: Vec::new(), made: Vec::new() });
            found.len() - 1
        });
        found[number].made.push((block, inst, kind));
    }
    for block in context.func.layout.blocks() {
        for it in around(analysis, block) {
            if let Some(&number) = numbers.get(&it) {
                found[number].blocks.push(block);
            }
        }
    }
    let mut kept: HashMap<Value, Value> = HashMap::new();
    for it in found {
        keep(context, &it, &mut kept);
    }
    if kept.is_empty() {
        return;
    }
    // Each header dominates what its parameters stand for, so they are there wherever that is read.
    let FunctionStencil { layout, dfg, .. } = &mut context.func.stencil;
    for block in layout.blocks() {
        for inst in layout.block_insts(block) {
            dfg.map_inst_values(inst, |value| kept.get(&value).copied().unwrap_or(value));
        }
    }
}

/// A loop in which something stays the same.
struct Found {
    of: Loop,
    blocks: Vec<Block>,
    /// What makes it, and where.
    made: Vec<(Block, Inst, Kind)>,
}

/// The loops around a block, inner ones first.
pub(super) fn around(analysis: &LoopAnalysis, block: Block) -> impl Iterator<Item = Loop> + '_ {
    std::iter::successors(analysis.innermost_loop(block), |&it| analysis.loop_parent(it))
}

pub(super) fn calls(function: &Function, block: Block) -> bool {
    function.layout.block_insts(block).any(|inst| function.dfg.insts[inst].opcode().is_call())
}

/// The outermost loop around a block that has no call in it and in which something stays the same.
fn outermost(context: &Context, block: Block, kind: Kind, calling: &HashSet<Loop>) -> Option<Loop> {
    let analysis = &context.loop_analysis;
    let from = match kind {
        Kind::Binary { value, .. } => {
            let dfg = &context.func.dfg;
            match dfg.value_def(value) {
                ValueDef::Result(inst, _) => Some(context.func.layout.inst_block(inst)?),
                ValueDef::Param(block, _) => Some(block),
                ValueDef::Union(..) => return None,
            }
        }
        _ => None,
    };
    let changes = |it: &Loop| calling.contains(it) || from.is_some_and(|from| analysis.is_in_loop(from, *it));
    around(analysis, block).take_while(|it| !changes(it)).last()
}

/// Makes a loop's values in front of it, as many as there are registers for. `kept` is what each value that is made no more is called now.
fn keep(context: &mut Context, Found { of, blocks, made }: &Found, kept: &mut HashMap<Value, Value>) {
    let header = context.loop_analysis.loop_header(*of);
    if blocks.len() > MOST_BLOCKS || made.len() > MOST_MADE || context.func.layout.entry_block() == Some(header) {
        return;
    }
    // A value may have become a parameter of a loop around.
    let made: Vec<(Block, Inst, Kind)> = made.iter().map(|&(block, inst, kind)| (block, inst, kind.renamed(kept))).collect();
    let level = context.loop_analysis.loop_level(header).level();
    let mut kinds: Vec<(Kind, usize)> = Vec::new();
    for &(block, _, kind) in &made {
        let weight = PER_LEVEL.pow((context.loop_analysis.loop_level(block).level() - level).min(4) as u32);
        match kinds.iter_mut().find(|known| known.0 == kind) {
            Some(known) => known.1 += weight,
            None => kinds.push((kind, weight)),
        }
    }
    kinds.sort_by_key(|&(_, uses)| Reverse(uses));
    let mut free = [None; 2];
    let entries: Vec<(Block, Inst)> = context.cfg.pred_iter(header).map(|edge| (edge.block, edge.inst)).collect();
    for (kind, _) in kinds {
        let class = Class::of(kind.ty());
        let free = free[class as usize].get_or_insert_with(|| class.registers().saturating_sub(pressure(&context.func, blocks, class)));
        if *free == 0 {
            continue;
        }
        *free -= 1;
        let param = context.func.dfg.append_block_param(header, kind.ty());
        for &(block, inst) in &entries {
            let value = match context.loop_analysis.is_in_loop(block, *of) {
                true => param,
                false => kind.make(&mut context.func, inst),
            };
            let dfg = &mut context.func.dfg;
            for call in dfg.insts[inst].branch_destination_mut(&mut dfg.jump_tables, &mut dfg.exception_tables) {
                if call.block(&dfg.value_lists) == header {
                    call.append_argument(value, &mut dfg.value_lists);
                }
            }
        }
        for &(_, inst, _) in made.iter().filter(|made| made.2 == kind) {
            kept.insert(context.func.dfg.first_result(inst), param);
            context.func.layout.remove_inst(inst);
        }
    }
}

/// Most values of a class that are in registers at once in some blocks, constants left out. What is live beyond the blocks and not read in them is not seen.
pub(super) fn pressure(function: &Function, blocks: &[Block], class: Class) -> usize {
    let dfg = &function.dfg;
    let is_constant = |inst| iconst(dfg, dfg.first_result(inst)).is_some() || Kind::of(dfg, inst).is_some_and(Kind::is_constant);
    let counts = |value: Value| Class::of(dfg.value_type(value)) == class && !dfg.value_def(value).inst().is_some_and(is_constant);
    let successors = |block: Block| -> Vec<Block> {
        let Some(last) = function.layout.last_inst(block) else { return Vec::new() };
        let calls = dfg.insts[last].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
        calls.iter().map(|call| call.block(&dfg.value_lists)).collect()
    };
    let mut live_in: HashMap<Block, HashSet<Value>> = blocks.iter().map(|&block| (block, HashSet::new())).collect();
    let mut most = 0;
    loop {
        let mut changed = false;
        for &block in blocks.iter().rev() {
            let mut live: HashSet<Value> = successors(block).iter().filter_map(|next| live_in.get(next)).flatten().copied().collect();
            most = most.max(live.len());
            for inst in function.layout.block_insts(block).rev() {
                for result in dfg.inst_results(inst) {
                    live.remove(result);
                }
                live.extend(dfg.inst_values(inst).filter(|&value| counts(value)));
                most = most.max(live.len());
            }
            for param in dfg.block_params(block) {
                live.remove(param);
            }
            most = most.max(live.len() + dfg.block_params(block).iter().filter(|&&param| counts(param)).count());
            let known = live_in.get_mut(&block).expect("each of the blocks has one");
            if live.len() > known.len() {
                *known = live;
                changed = true;
            }
        }
        if !changed {
            return most;
        }
    }
}
