//! Ways out of a loop come first: Cranelift hoists what a loop does not change only until it has seen a block outside of it.
//!
//! Elaboration (`cranelift_codegen::egraph::elaborate`) walks the dominator tree, siblings in reverse postorder, and forgets a loop at the first
//! block that is not in it. A block that leads out of the loop (the arguments of a `br`, an unrolled round's end) and stands before its sibling that goes
//! on therefore ends all hoisting in that loop: what wasm computed before the loop is computed at its first use, in every round. The first target of a
//! `brif` is the last in that order, so the target that leaves more loops goes there. The other one then falls through, too.

use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::{Block, Function, InstructionData, Opcode};
use cranelift_codegen::loop_analysis::LoopAnalysis;

/// Orders the targets of all branches that only one way leave a loop.
pub(crate) fn run(function: &mut Function) {
    let cfg = ControlFlowGraph::with_function(function);
    let domtree = DominatorTree::with_function(function, &cfg);
    let mut loops = LoopAnalysis::new();
    loops.compute(function, &cfg, &domtree);
    if loops.loops().next().is_none() {
        return;
    }
    let blocks: Vec<Block> = function.layout.blocks().collect();
    for block in blocks {
        let Some(branch) = function.layout.last_inst(block) else { continue };
        let InstructionData::Brif { arg, blocks, .. } = function.dfg.insts[branch] else { continue };
        let [then, otherwise] = blocks.map(|call| call.block(&function.dfg.value_lists));
        // The way back to a header is no child of this block, and stays a jump.
        if domtree.block_dominates(then, block) || shared(&loops, block, then) <= shared(&loops, block, otherwise) {
            continue;
        }
        let arg = super::layout::invert(function, branch, arg);
        function.dfg.insts[branch] = InstructionData::Brif { opcode: Opcode::Brif, arg, blocks: [blocks[1], blocks[0]] };
    }
}

/// How many loops are around both blocks.
fn shared(loops: &LoopAnalysis, block: Block, other: Block) -> usize {
    let mut around = loops.innermost_loop(block);
    while let Some(inner) = around {
        if loops.is_in_loop(other, inner) {
            break;
        }
        around = loops.loop_parent(inner);
    }
    std::iter::successors(around, |&inner| loops.loop_parent(inner)).count()
}
