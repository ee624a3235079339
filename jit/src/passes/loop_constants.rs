//! Floating-point and vector constants of loops without calls: read once before the loop and kept in a register.
//!
//! Cranelift makes a constant again wherever one is used: as an operand in memory, which takes one of the two loads of that kind a cycle has, or through a general register where
//! it is the first operand. A block's parameter it leaves alone; so the constant becomes one of the outermost loop's header that has no call in it, the same from round to round.
//! How many registers are free follows from what is live in the loop's blocks (the textbook dataflow: Aho, Sethi, Ullman, 10.6).
//!
//! Runs behind Cranelift's own passes, which would see that the parameter is always the same and take it out again.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::Context;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::function::FunctionStencil;
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{Block, Constant, Function, Inst, InstBuilder, InstructionData, Opcode, Type, Value, types};
use cranelift_codegen::loop_analysis::Loop;

/// Vector registers that values of a loop may have together. There are 16; the allocator needs one to move others about.
const REGISTERS: usize = 14;
/// Loops of more blocks keep their constants where they are; bounds the time.
const MOST_BLOCKS: usize = 200;
/// A use in a loop within counts as so many.
const PER_LEVEL: usize = 8;

/// A constant that is not made without a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    F32(u32),
    F64(u64),
    Vector(Type, Constant),
}

fn kind(function: &Function, inst: Inst) -> Option<Kind> {
    let kind = match function.dfg.insts[inst] {
        InstructionData::UnaryIeee32 { opcode: Opcode::F32const, imm } => Kind::F32(imm.bits()),
        InstructionData::UnaryIeee64 { opcode: Opcode::F64const, imm } => Kind::F64(imm.bits()),
        InstructionData::UnaryConst { opcode: Opcode::Vconst, constant_handle } => {
            let bytes = function.dfg.constants.get(constant_handle).as_slice();
            if bytes.iter().all(|&byte| byte == 0) || bytes.iter().all(|&byte| byte == 0xff) {
                return None;
            }
            Kind::Vector(function.dfg.value_type(function.dfg.first_result(inst)), constant_handle)
        }
        _ => return None,
    };
    // Zero takes no load.
    (!matches!(kind, Kind::F32(0) | Kind::F64(0))).then_some(kind)
}

fn in_vector_register(ty: Type) -> bool {
    ty.is_float() || ty.is_vector()
}

/// Changes an optimized function. Needs nothing of the context but the function; leaves its flow graph and dominator tree as they are.
pub(crate) fn run(context: &mut Context) {
    let function = &context.func;
    let constants = |block| function.layout.block_insts(block).filter(|&inst| kind(function, inst).is_some());
    let blocks: HashSet<Block> = function.layout.blocks().filter(|&block| constants(block).next().is_some()).collect();
    if blocks.is_empty() {
        return;
    }
    context.compute_cfg();
    context.compute_domtree();
    context.compute_loop_analysis();
    let loops: HashSet<Loop> = blocks.iter().filter_map(|&block| without_calls(context, block)).collect();
    let mut loops: Vec<Loop> = loops.into_iter().collect();
    // The same code each time.
    loops.sort_unstable_by_key(|&it| context.loop_analysis.loop_header(it));
    for it in loops {
        keep(context, it);
    }
}

/// The outermost loop around a block that has no call in it.
fn without_calls(context: &Context, block: Block) -> Option<Loop> {
    let analysis = &context.loop_analysis;
    let mut found = None;
    let mut next = analysis.innermost_loop(block);
    while let Some(it) = next {
        let calls = |block| context.func.layout.block_insts(block).any(|inst| context.func.dfg.insts[inst].opcode().is_call());
        if inside(context, it).any(calls) {
            break;
        }
        found = Some(it);
        next = analysis.loop_parent(it);
    }
    found
}

fn inside(context: &Context, of: Loop) -> impl Iterator<Item = Block> + '_ {
    context.func.layout.blocks().filter(move |&block| context.loop_analysis.is_in_loop(block, of))
}

fn keep(context: &mut Context, of: Loop) {
    let header = context.loop_analysis.loop_header(of);
    let blocks: Vec<Block> = inside(context, of).collect();
    if blocks.len() > MOST_BLOCKS || context.func.layout.entry_block() == Some(header) {
        return;
    }
    let free = REGISTERS.saturating_sub(pressure(&context.func, &blocks));
    let outermost = context.loop_analysis.loop_level(header).level();
    let mut kinds: Vec<(Kind, usize)> = Vec::new();
    let mut made: Vec<(Block, Inst, Kind)> = Vec::new();
    for &block in &blocks {
        let weight = PER_LEVEL.pow((context.loop_analysis.loop_level(block).level() - outermost).min(4) as u32);
        for inst in context.func.layout.block_insts(block) {
            if let Some(kind) = kind(&context.func, inst) {
                match kinds.iter_mut().find(|known| known.0 == kind) {
                    Some(known) => known.1 += weight,
                    None => kinds.push((kind, weight)),
                }
                made.push((block, inst, kind));
            }
        }
    }
    kinds.sort_by_key(|&(_, uses)| std::cmp::Reverse(uses));
    kinds.truncate(free);
    let mut entries: Vec<(Block, Inst)> = context.cfg.pred_iter(header).map(|edge| (edge.block, edge.inst)).collect();
    entries.dedup();
    let mut kept: HashMap<Value, Value> = HashMap::new();
    for (kind, _) in kinds {
        let ty = match kind {
            Kind::F32(_) => types::F32,
            Kind::F64(_) => types::F64,
            Kind::Vector(ty, _) => ty,
        };
        let param = context.func.dfg.append_block_param(header, ty);
        for &(block, inst) in &entries {
            let value = match context.loop_analysis.is_in_loop(block, of) {
                true => param,
                false => constant(&mut context.func, inst, kind),
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
    if kept.is_empty() {
        return;
    }
    // The header dominates each of these constants, so its parameter is there wherever they are read.
    let FunctionStencil { layout, dfg, .. } = &mut context.func.stencil;
    for block in layout.blocks() {
        for inst in layout.block_insts(block) {
            dfg.map_inst_values(inst, |value| kept.get(&value).copied().unwrap_or(value));
        }
    }
}

/// Makes a constant in front of an instruction.
fn constant(function: &mut Function, before: Inst, kind: Kind) -> Value {
    let mut cursor = FuncCursor::new(function).at_inst(before);
    match kind {
        Kind::F32(bits) => cursor.ins().f32const(Ieee32::with_bits(bits)),
        Kind::F64(bits) => cursor.ins().f64const(Ieee64::with_bits(bits)),
        Kind::Vector(ty, handle) => cursor.ins().vconst(ty, handle),
    }
}

/// Most values that are in vector registers at once in some blocks, constants left out. What is live beyond the blocks and not read in them is not seen.
fn pressure(function: &Function, blocks: &[Block]) -> usize {
    let dfg = &function.dfg;
    let counts = |value: Value| {
        in_vector_register(dfg.value_type(value)) && dfg.value_def(value).inst().is_none_or(|inst| kind(function, inst).is_none())
    };
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
