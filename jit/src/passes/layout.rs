//! Layout: the likely side of a branch falls through, the other moves out of line.
//!
//! After Pettis and Hansen, "Profile guided code positioning" (PLDI 1990). Cranelift orders blocks along the dominator tree, lets the last
//! target of a `brif` fall through, and puts blocks marked cold behind all others. So the likely target becomes the last one, and every
//! block that only the unlikely side reaches is marked cold. No block is added and nothing is computed otherwise.

use std::collections::HashMap;

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::{Block, Function, Inst, InstBuilder, InstructionData, Opcode, Value};

use vm::code::{Applied, SourcePosition};

/// Name in reports, the policy's.
pub(crate) const NAME: &str = "layout";

/// Lays out the branches of the operators in `wanted`, which says whether the operator's condition is mostly true.
pub(crate) fn run(function: &mut Function, positions: &[SourcePosition], wanted: &HashMap<u32, bool>, applied: &mut Vec<Applied>) {
    let cfg = ControlFlowGraph::with_function(function);
    let domtree = DominatorTree::with_function(function, &cfg);
    let branches = super::branches(function, positions, |offset| wanted.contains_key(&offset));
    for &(branch, position) in &branches {
        let refused = lay_out(function, &cfg, &domtree, branch, wanted[&position.offset]).err().map(str::to_owned);
        applied.push(Applied { name: NAME, function: position.function, offset: position.offset, detail: 0, refused });
    }
    let own = positions.first().map_or(0, |position| position.function);
    let mut unseen: Vec<u32> =
        wanted.keys().copied().filter(|&offset| !branches.iter().any(|(_, position)| position.offset == offset)).collect();
    unseen.sort_unstable();
    for offset in unseen {
        applied.push(Applied { name: NAME, function: own, offset, detail: 0, refused: Some("no reachable branch there".into()) });
    }
}

fn lay_out(
    function: &mut Function,
    cfg: &ControlFlowGraph,
    domtree: &DominatorTree,
    branch: Inst,
    likely: bool,
) -> Result<(), &'static str> {
    let InstructionData::Brif { arg, blocks, .. } = function.dfg.insts[branch] else { return Err("not a branch") };
    let [then, otherwise] = blocks.map(|call| call.block(&function.dfg.value_lists));
    if then == otherwise {
        return Err("both ways lead to one block");
    }
    let unlikely = if likely { otherwise } else { then };
    if likely {
        let inverted = invert(function, branch, arg);
        function.dfg.insts[branch] = InstructionData::Brif { opcode: Opcode::Brif, arg: inverted, blocks: [blocks[1], blocks[0]] };
    }
    // Reached from elsewhere too, it belongs to where it is.
    if cfg.pred_iter(unlikely).count() == 1 {
        cool(function, domtree, unlikely);
    }
    Ok(())
}

/// Moves a block, and what only it leads to, out of line.
pub(crate) fn sink(function: &mut Function, block: Block) {
    let cfg = ControlFlowGraph::with_function(function);
    let domtree = DominatorTree::with_function(function, &cfg);
    cool(function, &domtree, block);
}

fn cool(function: &mut Function, domtree: &DominatorTree, from: Block) {
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        // The entry block starts the function.
        if function.layout.entry_block() != Some(block) {
            function.layout.set_cold(block);
        }
        work.extend(domtree.children(block));
    }
}

/// The opposite of a branch's condition.
pub(super) fn invert(function: &mut Function, branch: Inst, condition: Value) -> Value {
    let mut root = function.dfg.resolve_aliases(condition);
    while let Some(inst) = function.dfg.value_def(root).inst()
        && function.dfg.insts[inst].opcode() == Opcode::Uextend
    {
        root = function.dfg.resolve_aliases(function.dfg.inst_args(inst)[0]);
    }
    let compare = function.dfg.value_def(root).inst().and_then(|inst| match function.dfg.insts[inst] {
        InstructionData::IntCompare { .. } | InstructionData::FloatCompare { .. } => Some(function.dfg.insts[inst]),
        _ => None,
    });
    let location = function.srcloc(branch);
    let mut cursor = FuncCursor::new(function).at_inst(branch);
    cursor.set_srcloc(location);
    match compare {
        Some(InstructionData::IntCompare { cond, args: [left, right], .. }) => cursor.ins().icmp(cond.complement(), left, right),
        Some(InstructionData::FloatCompare { cond, args: [left, right], .. }) => cursor.ins().fcmp(cond.complement(), left, right),
        _ => cursor.ins().icmp_imm_s(IntCC::Equal, condition, 0),
    }
}
