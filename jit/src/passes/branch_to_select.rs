//! Branch → select: both sides of a branch that nobody can predict run, and selects keep what the taken one did.
//!
//! *If-conversion* (Allen, Kennedy, Porterfield, Warren, POPL 1983), for *triangles* (`if` without `else`, a `br_if` over code) and *diamonds*
//! whose sides, the *arms*, are straight-line code that meets again. An arm's instructions move in front of the branch:
//!
//! - what cannot trap moves as it is;
//! - a store goes to a *selected address*: its own if its arm is taken, else a scratch slot on our frame. A taken store traps as before;
//! - a load reads from a selected address too: its own, or the first byte of its memory, which can always be read. It stays where it is if an
//!   access in front of the branch proves that its own can be read;
//! - accesses of the two arms that are alike become one, to the address that the branch selects: no access is added then;
//! - parameters of the block where the arms meet become selects. Floats go through integer registers, since a select of floats is a
//!   branch on x86-64.
//!
//! Why this is right:
//! 1. What is read from the scratch slot or from byte 0 is used only by what an arm that is not taken computes, and that is selected away or stored to the
//!    scratch slot. So the slot may have any alias region: the access keeps the one of its memory.
//! 2. Accesses of one arm keep their order, and of two arms only one touches memory.
//! 3. A load that was taken traps as before, which a load that yields zero where it faults ([`crate::markers`]) would not. So it needs its
//!    select.
//! 4. Anything else that can trap, call or leave refuses the branch.
//!
//! A trap in a merged access is reported at the first arm's operator.

use std::collections::HashSet;
use std::fmt;

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::immediates::Offset32;
use cranelift_codegen::ir::{
    Block, BlockArg, BlockCall, DataFlowGraph, Function, Inst, InstBuilder, InstructionData, MemFlags, MemFlagsData, Opcode, StackSlot,
    StackSlotData, StackSlotKind, Type, Value, types,
};

use vm::code::{Applied, SourcePosition};
use vm::module::Module;

use crate::translate::regions::{self, Region};
use crate::values::iconst;

/// Name in reports, the policy's.
pub(crate) const NAME: &str = "branch-to-select";
/// Instructions of CLIF that both arms may have together: what a misprediction costs (about 15 cycles here) buys this many. A guess.
const MOST_INSTRUCTIONS: usize = 60;
/// Loads and stores of both arms together.
const MOST_ACCESSES: usize = 12;
/// Bytes of the scratch slot: the widest access.
const SCRATCH_BYTES: u32 = 16;

/// Why a branch stays one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// No such branch in the code.
    NoBranch,
    /// The arms go to different places.
    ArmsPart,
    /// An arm ends in something else than a jump.
    ArmEnds(Opcode),
    /// An arm does something that only a taken one may.
    ArmDoes(Opcode),
    /// An arm touches something else than wasm's memory and globals.
    OtherMemory,
    /// More than [`MOST_INSTRUCTIONS`] or [`MOST_ACCESSES`].
    TooLarge,
    /// A value no register of ours selects.
    Type(Type),
    /// An arm branches, and not to two arms of its own.
    Nested(Block),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoBranch => write!(f, "no reachable branch there"),
            Refusal::ArmsPart => write!(f, "its arms do not meet"),
            Refusal::ArmEnds(opcode) => write!(f, "an arm ends in {opcode}"),
            Refusal::ArmDoes(opcode) => write!(f, "an arm has {opcode}"),
            Refusal::OtherMemory => write!(f, "an arm touches what is not the program's"),
            Refusal::TooLarge => write!(f, "more than {MOST_INSTRUCTIONS} instructions or {MOST_ACCESSES} accesses"),
            Refusal::Type(ty) => write!(f, "a value of type {ty}"),
            Refusal::Nested(_) => write!(f, "an arm branches"),
        }
    }
}

/// One side of a branch.
#[derive(Default)]
struct Arm {
    /// Its blocks with the arguments they are entered with; none if the branch goes straight to the join.
    blocks: Vec<(Block, Vec<Value>)>,
    insts: Vec<Inst>,
}

/// A branch that can be replaced.
struct Shape {
    condition: Value,
    /// Taken when the condition holds, and when not.
    arms: [Arm; 2],
    join: Block,
    /// What each arm gives the join.
    arguments: [Vec<Value>; 2],
}

/// Replaces the branches of the operators at the offsets in `wanted`.
pub(crate) fn run(
    function: &mut Function,
    positions: &[SourcePosition],
    module: &Module,
    wanted: &HashSet<u32>,
    applied: &mut Vec<Applied>,
) {
    function.dfg.resolve_all_aliases();
    let mut pending = super::branches(function, positions, |offset| wanted.contains(&offset));
    let mut converter = Converter { cfg: ControlFlowGraph::with_function(function), function, module, scratch: None };
    let mut outcomes: Vec<(SourcePosition, Option<Refusal>)> = Vec::new();
    // Inner branches are found behind outer ones; an outer one can go when its inner ones are gone.
    loop {
        let mut refused = Vec::new();
        let before = pending.len();
        for (branch, position) in pending.into_iter().rev() {
            match converter.convert(branch, 0) {
                Ok(()) => outcomes.push((position, None)),
                Err(refusal) => refused.push((branch, position, refusal)),
            }
        }
        refused.reverse();
        if refused.is_empty() || refused.len() == before {
            outcomes.extend(refused.into_iter().map(|(_, position, refusal)| (position, Some(refusal))));
            break;
        }
        pending = refused.into_iter().map(|(branch, position, _)| (branch, position)).collect();
    }
    let function = positions.first().map_or(0, |position| position.function);
    let mut unseen: Vec<u32> =
        wanted.iter().copied().filter(|&offset| !outcomes.iter().any(|(position, _)| position.offset == offset)).collect();
    unseen.sort_unstable();
    outcomes.sort_by_key(|(position, _)| position.offset);
    for (position, refusal) in outcomes {
        let refused = refusal.map(|refusal| refusal.to_string());
        applied.push(Applied { name: NAME, function: position.function, offset: position.offset, detail: 0, refused });
    }
    for offset in unseen {
        applied.push(Applied { name: NAME, function, offset, detail: 0, refused: Some(Refusal::NoBranch.to_string()) });
    }
}

/// Branches within arms that are replaced along with the branch they stand in.
const MOST_NESTING: u32 = 3;

struct Converter<'f> {
    function: &'f mut Function,
    module: &'f Module,
    cfg: ControlFlowGraph,
    scratch: Option<StackSlot>,
}

impl Converter<'_> {
    fn convert(&mut self, branch: Inst, depth: u32) -> Result<(), Refusal> {
        loop {
            let block = self.function.layout.inst_block(branch).ok_or(Refusal::NoBranch)?;
            match self.shape(block, branch) {
                Ok(shape) => {
                    self.apply(branch, shape);
                    self.cfg.compute(self.function);
                    return Ok(());
                }
                // An arm that branches and meets again is an arm once its own branch is gone.
                Err(Refusal::Nested(inner)) if depth < MOST_NESTING => {
                    let inner = self.function.layout.last_inst(inner).ok_or(Refusal::NoBranch)?;
                    self.convert(inner, depth + 1).map_err(|_| Refusal::Nested(block))?;
                }
                Err(refusal) => return Err(refusal),
            }
        }
    }

    /// What the branch that ends `block` chooses between.
    fn shape(&self, block: Block, branch: Inst) -> Result<Shape, Refusal> {
        let InstructionData::Brif { arg: condition, blocks, .. } = self.function.dfg.insts[branch] else {
            return Err(Refusal::NoBranch);
        };
        let [(then, left, left_values), (otherwise, right, right_values)] = [self.arm(block, blocks[0])?, self.arm(block, blocks[1])?];
        // An arm's chain goes on through blocks that only it reaches, so both stop where they meet.
        if left != right {
            return Err(Refusal::ArmsPart);
        }
        if left == block && then.blocks.is_empty() && otherwise.blocks.is_empty() {
            return Err(Refusal::ArmsPart);
        }
        let shape = Shape { condition, arms: [then, otherwise], join: left, arguments: [left_values, right_values] };
        self.check(&shape)?;
        Ok(shape)
    }

    /// The arm that begins with a jump to a target: its blocks, the block it leads to, and what that is given.
    fn arm(&self, from: Block, target: BlockCall) -> Result<(Arm, Block, Vec<Value>), Refusal> {
        let dfg = &self.function.dfg;
        let mut arm = Arm::default();
        let mut call = target;
        loop {
            let block = call.block(&dfg.value_lists);
            let values = arguments(dfg, &call).ok_or(Refusal::NoBranch)?;
            let only_ours = self.cfg.pred_iter(block).count() == 1;
            if !only_ours || block == from || arm.blocks.iter().any(|(known, _)| *known == block) {
                return Ok((arm, block, values));
            }
            arm.blocks.push((block, values));
            let mut next = None;
            for inst in self.function.layout.block_insts(block) {
                match dfg.insts[inst] {
                    InstructionData::Jump { destination, .. } => next = Some(destination),
                    InstructionData::Brif { .. } => return Err(Refusal::Nested(block)),
                    ref data if data.opcode().is_terminator() => return Err(Refusal::ArmEnds(data.opcode())),
                    _ => arm.insts.push(inst),
                }
            }
            call = next.ok_or(Refusal::ArmsPart)?;
        }
    }

    fn check(&self, shape: &Shape) -> Result<(), Refusal> {
        let dfg = &self.function.dfg;
        let insts = || shape.arms.iter().flat_map(|arm| &arm.insts).copied();
        if insts().count() > MOST_INSTRUCTIONS || insts().filter(|&inst| access(dfg, inst).is_some()).count() > MOST_ACCESSES {
            return Err(Refusal::TooLarge);
        }
        for inst in insts() {
            let opcode = dfg.insts[inst].opcode();
            let plain = matches!(dfg.insts[inst], InstructionData::Load { .. } | InstructionData::Store { .. });
            let quiet = plain || opcode == Opcode::GetPinnedReg || is_division(opcode) && self.divides_safely(inst);
            let acts = opcode.can_trap() || opcode.can_load() || opcode.can_store() || opcode.is_call() || opcode.other_side_effects();
            if acts && !quiet {
                return Err(Refusal::ArmDoes(opcode));
            }
        }
        for inst in insts() {
            if let Some(flags) = dfg.insts[inst].memflags()
                && guarded(dfg, inst)
                && !is_programs(dfg, flags)
            {
                return Err(Refusal::OtherMemory);
            }
            if let Some((_, _, value)) = access(dfg, inst)
                && !selectable(dfg.value_type(value))
            {
                return Err(Refusal::Type(dfg.value_type(value)));
            }
        }
        for (&left, &right) in shape.arguments[0].iter().zip(&shape.arguments[1]) {
            let ty = dfg.value_type(left);
            if left != right && !selectable(ty) {
                return Err(Refusal::Type(ty));
            }
        }
        Ok(())
    }

    /// Whether a division's divisor is a constant that cannot trap.
    fn divides_safely(&self, inst: Inst) -> bool {
        let dfg = &self.function.dfg;
        // All ones in either width: -1.
        iconst(dfg, dfg.inst_args(inst)[1]).is_some_and(|value| value != 0 && value != -1 && value != 0xffff_ffff)
    }

    fn apply(&mut self, branch: Inst, shape: Shape) {
        let Shape { condition, arms, join, arguments } = shape;
        let block = self.function.layout.inst_block(branch).expect("a shape's branch is in a block");
        for arm in &arms {
            for (block, values) in &arm.blocks {
                let params = self.function.dfg.block_params(*block).to_vec();
                self.function.dfg.detach_block_params(*block);
                for (param, &value) in params.into_iter().zip(values) {
                    self.function.dfg.change_to_alias(param, value);
                }
            }
        }
        // Merging two accesses deletes aliases, so what the join is given must not name one.
        let mut arguments =
            arguments.map(|values| values.into_iter().map(|value| self.function.dfg.resolve_aliases(value)).collect::<Vec<_>>());
        let pairs = {
            let accesses: [Vec<Inst>; 2] =
                [0, 1].map(|side: usize| arms[side].insts.iter().copied().filter(|&inst| guarded(&self.function.dfg, inst)).collect());
            alike(&self.function.dfg, &accesses[0], &accesses[1])
        };
        let mut emitter = Emitter { function: self.function, module: self.module, block, branch, condition, scratch: &mut self.scratch };
        let mut done = [0; 2];
        for (first, second) in pairs {
            for (side, until) in [(0, first), (1, second)] {
                let insts = &arms[side].insts;
                let stop = insts.iter().position(|&inst| inst == until).expect("a pair's accesses are the arms'");
                insts[done[side]..stop].iter().for_each(|&inst| emitter.hoist(inst, side));
                done[side] = stop + 1;
            }
            if let Some((gone, kept)) = emitter.merge(first, second) {
                arguments.iter_mut().flatten().filter(|value| **value == gone).for_each(|value| *value = kept);
            }
        }
        for side in [0, 1] {
            arms[side].insts[done[side]..].iter().for_each(|&inst| emitter.hoist(inst, side));
        }
        let values: Vec<BlockArg> =
            arguments[0].iter().zip(&arguments[1]).map(|(&left, &right)| BlockArg::Value(emitter.select(left, right))).collect();
        let call = self.function.dfg.block_call(join, &values);
        self.function.dfg.insts[branch] = InstructionData::Jump { opcode: Opcode::Jump, destination: call };
        for (block, _) in arms.iter().flat_map(|arm| &arm.blocks) {
            self.function.layout.remove_block_and_insts(*block);
        }
        self.function.dfg.resolve_all_aliases();
    }
}

/// Writes selected code in front of the branch.
struct Emitter<'f> {
    function: &'f mut Function,
    module: &'f Module,
    block: Block,
    branch: Inst,
    condition: Value,
    scratch: &'f mut Option<StackSlot>,
}

impl Emitter<'_> {
    fn cursor(&mut self, like: Inst) -> FuncCursor<'_> {
        let location = self.function.srcloc(like);
        let mut cursor = FuncCursor::new(self.function).at_inst(self.branch);
        cursor.set_srcloc(location);
        cursor
    }

    fn place(&mut self, inst: Inst) {
        self.function.layout.remove_inst(inst);
        self.function.layout.insert_inst(inst, self.branch);
    }

    /// Moves an instruction of an arm in front of the branch.
    fn hoist(&mut self, inst: Inst, side: usize) {
        if guarded(&self.function.dfg, inst) && !self.is_proved(inst) {
            match self.index_of_load(inst) {
                Some((base, index)) => self.redirect_to_index(inst, base, index, side),
                None => {
                    let own = self.address(inst);
                    let scratch = self.scratch_address(inst);
                    let address = self.choose(inst, side, own, scratch);
                    self.redirect(inst, address);
                }
            }
        }
        self.place(inst);
    }

    /// `own` if the arm on that side is taken, else `other`.
    fn choose(&mut self, like: Inst, side: usize, own: Value, other: Value) -> Value {
        let condition = self.condition;
        let (left, right) = if side == 0 { (own, other) } else { (other, own) };
        self.cursor(like).ins().select(condition, left, right)
    }

    /// Base and 32-bit index of a load from a memory whose first bytes, as many as the load's offset and width need, are always there.
    fn index_of_load(&self, inst: Inst) -> Option<(Value, Value)> {
        let dfg = &self.function.dfg;
        let InstructionData::Load { arg, offset, flags, .. } = dfg.insts[inst] else { return None };
        let memory = regions::memory_of(dfg, dfg.mem_flags[flags].alias_region()?)?;
        let bytes = u64::try_from(i32::from(offset)).ok()? + u64::from(access_bytes(dfg, inst));
        if bytes > self.module.memories.get(memory as usize)?.initial.saturating_mul(1 << 16) {
            return None;
        }
        super::base_and_index(dfg, arg)
    }

    fn redirect_to_index(&mut self, inst: Inst, base: Value, index: Value, side: usize) {
        let first = self.cursor(inst).ins().iconst(types::I32, 0);
        let index = self.choose(inst, side, index, first);
        let wide = self.cursor(inst).ins().uextend(types::I64, index);
        let address = self.cursor(inst).ins().iadd(base, wide);
        if let InstructionData::Load { arg, .. } = &mut self.function.dfg.insts[inst] {
            *arg = address;
        }
    }

    /// Moves two accesses that are alike in front of the branch as one. Their operands are there. Of loads: the value that is gone and the one in
    /// its place.
    fn merge(&mut self, first: Inst, second: Inst) -> Option<(Value, Value)> {
        let (left, right) = (self.address(first), self.address(second));
        let condition = self.condition;
        let address = if left == right { left } else { self.cursor(first).ins().select(condition, left, right) };
        let replaced = match (&self.function.dfg.insts[first], &self.function.dfg.insts[second]) {
            (InstructionData::Store { args: [left, _], .. }, InstructionData::Store { args: [right, _], .. }) => {
                let (left, right) = (*left, *right);
                let value = self.select(left, right);
                self.function.dfg.inst_args_mut(first)[0] = value;
                self.function.layout.remove_inst(second);
                None
            }
            _ => {
                let result = self.function.dfg.first_result(second);
                let one = self.function.dfg.first_result(first);
                self.function.layout.remove_inst(second);
                self.function.dfg.detach_inst_results(second);
                self.function.dfg.change_to_alias(result, one);
                self.function.dfg.resolve_all_aliases();
                Some((result, one))
            }
        };
        self.redirect(first, address);
        self.place(first);
        replaced
    }

    /// The value of the side that is taken.
    fn select(&mut self, left: Value, right: Value) -> Value {
        let dfg = &self.function.dfg;
        let (left, right) = (dfg.resolve_aliases(left), dfg.resolve_aliases(right));
        if left == right {
            return left;
        }
        let ty = dfg.value_type(left);
        let (branch, condition) = (self.branch, self.condition);
        let mut cursor = self.cursor(branch);
        if !ty.is_float() {
            return cursor.ins().select(condition, left, right);
        }
        let bits = ty.as_int();
        let left = cursor.ins().bitcast(bits, MemFlagsData::new(), left);
        let right = cursor.ins().bitcast(bits, MemFlagsData::new(), right);
        let value = cursor.ins().select(condition, left, right);
        cursor.ins().bitcast(ty, MemFlagsData::new(), value)
    }

    /// The address of an access with its offset added.
    fn address(&mut self, inst: Inst) -> Value {
        let (address, offset, _) = access(&self.function.dfg, inst).expect("only accesses have addresses");
        let address = self.function.dfg.resolve_aliases(address);
        let offset = i64::from(offset);
        if offset == 0 { address } else { self.cursor(inst).ins().iadd_imm_s(address, offset) }
    }

    fn scratch_address(&mut self, like: Inst) -> Value {
        let function = &mut *self.function;
        let slot = *self.scratch.get_or_insert_with(|| {
            function.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, SCRATCH_BYTES, SCRATCH_BYTES.ilog2() as u8))
        });
        self.cursor(like).ins().stack_addr(types::I64, slot, 0)
    }

    fn redirect(&mut self, inst: Inst, to: Value) {
        match &mut self.function.dfg.insts[inst] {
            InstructionData::Load { arg, offset, .. } => (*arg, *offset) = (to, Offset32::new(0)),
            InstructionData::Store { args, offset, .. } => (args[1], *offset) = (to, Offset32::new(0)),
            _ => {}
        }
    }

    /// Whether a load reads what an access in front of it, in the same block and taken in any case, has proved to be there.
    fn is_proved(&self, inst: Inst) -> bool {
        let dfg = &self.function.dfg;
        let InstructionData::Load { arg, offset, flags, .. } = dfg.insts[inst] else { return false };
        let bytes = access_bytes(dfg, inst);
        self.function.layout.block_insts(self.block).take_while(|&before| before != self.branch).any(|before| {
            let Some((address, at, _)) = access(dfg, before) else { return false };
            dfg.insts[before].memflags().is_some_and(|of| dfg.mem_flags[of].alias_region() == dfg.mem_flags[flags].alias_region())
                && i32::from(at) <= i32::from(offset)
                && i64::from(i32::from(at)) + i64::from(access_bytes(dfg, before)) >= i64::from(i32::from(offset)) + i64::from(bytes)
                && same(dfg, address, arg, 3)
        })
    }
}

/// Whether two values are computed alike. Loads and what else depends on more than its operands never are.
fn same(dfg: &DataFlowGraph, left: Value, right: Value, depth: u32) -> bool {
    let (left, right) = (dfg.resolve_aliases(left), dfg.resolve_aliases(right));
    if left == right {
        return true;
    }
    let (Some(a), Some(b)) = (dfg.value_def(left).inst(), dfg.value_def(right).inst()) else { return false };
    let alike = match (&dfg.insts[a], &dfg.insts[b]) {
        (InstructionData::UnaryImm { imm: a, .. }, InstructionData::UnaryImm { imm: b, .. }) => a == b,
        (InstructionData::Unary { .. }, InstructionData::Unary { .. }) => true,
        (InstructionData::Binary { .. }, InstructionData::Binary { .. }) => true,
        _ => false,
    };
    alike
        && depth > 0
        && dfg.insts[a].opcode() == dfg.insts[b].opcode()
        && dfg.value_type(left) == dfg.value_type(right)
        && dfg
            .inst_args(a)
            .iter()
            .zip(dfg.inst_args(b))
            .all(|(&a, &b)| dfg.value_type(a) == dfg.value_type(b) && same(dfg, a, b, depth - 1))
}

/// Address, offset and value (loaded or stored) of a plain load or store.
fn access(dfg: &DataFlowGraph, inst: Inst) -> Option<(Value, Offset32, Value)> {
    match dfg.insts[inst] {
        InstructionData::Load { arg, offset, .. } => Some((arg, offset, dfg.first_result(inst))),
        InstructionData::Store { args: [value, address], offset, .. } => Some((address, offset, value)),
        _ => None,
    }
}

/// Whether a load or store needs a selected address: all but loads that can be read wherever they stand.
fn guarded(dfg: &DataFlowGraph, inst: Inst) -> bool {
    match dfg.insts[inst] {
        InstructionData::Load { flags, .. } => {
            let flags = dfg.mem_flags[flags];
            !(flags.notrap() && flags.readonly() && flags.can_move())
        }
        InstructionData::Store { .. } => true,
        _ => false,
    }
}

/// Bytes of memory that an access touches.
fn access_bytes(dfg: &DataFlowGraph, inst: Inst) -> u32 {
    use Opcode::*;
    match dfg.insts[inst].opcode() {
        Uload8 | Sload8 | Istore8 => 1,
        Uload16 | Sload16 | Istore16 => 2,
        Uload32 | Sload32 | Istore32 => 4,
        _ => access(dfg, inst).map_or(0, |(_, _, value)| dfg.value_type(value).bytes()),
    }
}

/// Whether an access is to the program's own memories or globals.
fn is_programs(dfg: &DataFlowGraph, flags: MemFlags) -> bool {
    let region = dfg.mem_flags[flags].alias_region();
    region.is_some_and(|region| regions::is_of(dfg, region, Region::Memory(0)) || regions::is_of(dfg, region, Region::Global(0)))
}

fn is_division(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Udiv | Opcode::Sdiv | Opcode::Urem | Opcode::Srem)
}

fn selectable(ty: Type) -> bool {
    matches!(ty, types::I8 | types::I16 | types::I32 | types::I64 | types::F32 | types::F64)
}

/// The values a jump gives its target; none if one is not a plain value.
fn arguments(dfg: &DataFlowGraph, call: &BlockCall) -> Option<Vec<Value>> {
    call.args(&dfg.value_lists)
        .map(|argument| match argument {
            BlockArg::Value(value) => Some(dfg.resolve_aliases(value)),
            _ => None,
        })
        .collect()
}

/// Accesses of two arms that can be one: a longest common subsequence by kind, so that each arm keeps its order.
fn alike(dfg: &DataFlowGraph, left: &[Inst], right: &[Inst]) -> Vec<(Inst, Inst)> {
    let matches = |a: Inst, b: Inst| {
        let types = [a, b].map(|inst| access(dfg, inst).map(|(_, _, value)| dfg.value_type(value)));
        dfg.insts[a].opcode() == dfg.insts[b].opcode() && dfg.insts[a].memflags() == dfg.insts[b].memflags() && types[0] == types[1]
    };
    let width = right.len() + 1;
    let mut best = vec![0u32; (left.len() + 1) * width];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            best[i * width + j] = if matches(left[i], right[j]) {
                1 + best[(i + 1) * width + j + 1]
            } else {
                best[(i + 1) * width + j].max(best[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < left.len() && j < right.len() {
        if matches(left[i], right[j]) {
            pairs.push((left[i], right[j]));
            (i, j) = (i + 1, j + 1);
        } else if best[(i + 1) * width + j] >= best[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}
