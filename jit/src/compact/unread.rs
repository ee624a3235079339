//! Which instructions need not be: copies that nobody reads.

use std::collections::BTreeSet;

use iced_x86::{
    Code, ConditionCode, FlowControl, Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic, OpAccess, OpKind, Register,
};

use super::{Places, flags};
use crate::graph::{Block, Graph};
use crate::markers::PINNED;
use crate::spills::{Effect, Registers, bit, copy, is_call, writes};

/// Most visits to a block, on average, until liveness is known (a guess; two are usual).
const MOST_VISITS: usize = 64;

/// What becomes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    Same,
    Gone,
    /// This one is in its place.
    Now(Instruction),
    /// Behind an instruction that clears this register of 32 bits.
    Cleared(Register),
}

/// What an instruction does to liveness, seen from behind.
#[derive(Clone, Copy)]
enum Step {
    /// A copy into a register that this function may give up, which is all that the instruction does.
    Copy {
        to: Registers,
        from: Registers,
    },
    Call,
    Other(Uses),
}

/// Registers that an instruction reads, whole ones that it writes, and all that it writes a part of.
#[derive(Clone, Copy)]
struct Uses {
    reads: Registers,
    kills: Registers,
    writes: Registers,
}

impl Step {
    fn of(instruction: &Instruction, factory: &mut InstructionInfoFactory) -> Step {
        if let Some(copy) = copied(instruction) {
            return copy;
        }
        if is_call(instruction) { Step::Call } else { Step::Other(uses(instruction, factory)) }
    }

    /// Live registers before it, by those behind it.
    fn before(self, live: Registers) -> Registers {
        match self {
            // What nobody reads reads nothing.
            Step::Copy { to, .. } if live & to == 0 => live,
            Step::Copy { to, from } => live & !to | from,
            // Which registers hold arguments is not looked at.
            Step::Call => Registers::MAX,
            Step::Other(Uses { reads, kills, .. }) => live & !kills | reads,
        }
    }
}

fn uses(instruction: &Instruction, factory: &mut InstructionInfoFactory) -> Uses {
    let mut uses = Uses { reads: 0, kills: 0, writes: 0 };
    for used in factory.info_options(instruction, InstructionInfoOptions::NO_MEMORY_USAGE).used_registers() {
        let (register, access) = (used.register(), used.access());
        let bit = bit(register);
        if matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite) {
            uses.reads |= bit;
        }
        if writes(access) {
            uses.writes |= bit;
        }
        // 32 bits clear the upper half.
        if access == OpAccess::Write && register.size() >= 4 {
            uses.kills |= bit;
        }
    }
    uses
}

/// The frame's registers and the pinned one belong to others.
fn copied(instruction: &Instruction) -> Option<Step> {
    let (to, from) = match copy(instruction)? {
        Effect::Load(_, to) => (to, bit(Register::RSP)),
        Effect::Move { to, from } => (to, from),
        _ => return None,
    };
    let kept = bit(Register::RSP) | bit(Register::RBP) | bit(PINNED);
    (to & kept == 0).then_some(Step::Copy { to, from })
}

/// By instructions: what becomes of each. `None` if it takes too long to know.
pub(super) fn edits(graph: &Graph, places: &Places<'_>) -> Option<Vec<Edit>> {
    let mut factory = InstructionInfoFactory::new();
    // What the tables tell of is there to be told of, and no copy that may go.
    let step = |instruction: &Instruction| match places.is_fixed(instruction.ip() as u32) {
        true => Step::Other(uses(instruction, &mut factory)),
        false => Step::of(instruction, &mut factory),
    };
    let mut steps: Vec<Step> = graph.instructions.iter().map(step).collect();
    let mut edits: Vec<Edit> = (graph.instructions.iter())
        .map(|instruction| if instruction.mnemonic() == Mnemonic::Nop { Edit::Gone } else { Edit::Same })
        .collect();
    for (number, instruction) in graph.instructions.iter().enumerate() {
        if places.is_without_base(instruction.ip() as u32) {
            let now = with_base(instruction)?;
            steps[number] = Step::of(&now, &mut factory);
            edits[number] = Edit::Now(now);
        }
    }
    for block in &graph.blocks {
        through_pinned(graph, block, places, &mut factory, &mut steps, &mut edits);
    }
    let before = liveness(graph, &steps, places)?;
    for block in &graph.blocks {
        let mut live = behind(graph, block, &before, places);
        for number in block.instructions.clone().rev() {
            if let Step::Copy { to, .. } = steps[number]
                && live & to == 0
            {
                edits[number] = Edit::Gone;
            }
            live = steps[number].before(live);
        }
    }
    for block in &graph.blocks {
        for number in block.instructions.clone().skip(2) {
            let three = number - 2..=number;
            if edits[three.clone()].iter().all(|&edit| edit == Edit::Same)
                && let [compare, set, widen] = &graph.instructions[three]
                && let Some(register) = widened_condition([compare, set, widen], places, &mut factory)
            {
                edits[number - 2] = Edit::Cleared(register);
                edits[number] = Edit::Gone;
            }
        }
    }
    for block in &graph.blocks {
        let mut live = vec![behind(graph, block, &before, places)];
        live.extend(steps[block.instructions.clone()].iter().rev().scan(live[0], |live, step| {
            *live = step.before(*live);
            Some(*live)
        }));
        live.pop();
        live.reverse();
        flags::count_by_carry(graph, block, &live, places, &mut factory, &mut edits);
        flags::remove_known(graph, block, places, &mut factory, &mut edits);
    }
    Some(edits)
}

/// The register of 32 bits that a comparison's outcome is widened to. `setcc` writes the lowest byte and waits for the rest, which the `movzx` behind it throws away: where a load filled the
/// register before, the outcome waits for that load. A register that was cleared in front of the comparison has no rest to wait for, and needs no `movzx`.
fn widened_condition(
    [compare, set, widen]: [&Instruction; 3],
    places: &Places<'_>,
    factory: &mut InstructionInfoFactory,
) -> Option<Register> {
    let at = compare.ip() as u32;
    let is_plain = (0..compare.op_count()).all(|operand| compare.op_kind(operand) != OpKind::Memory);
    let compares = matches!(
        compare.mnemonic(),
        Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Ucomiss | Mnemonic::Ucomisd | Mnemonic::Vucomiss | Mnemonic::Vucomisd
    );
    let set_to = set.op0_register();
    let to = widen.op0_register();
    let is_it = compares
        && is_plain
        && !places.is_fixed(at)
        && !places.is_relocated(at, compare.len())
        && set.op_count() == 1
        && set.condition_code() != ConditionCode::None
        && set_to.is_gpr8()
        && !matches!(set_to, Register::AH | Register::CH | Register::DH | Register::BH)
        && widen.code() == Code::Movzx_r32_rm8
        && widen.op1_kind() == OpKind::Register
        && widen.op1_register() == set_to
        && to.full_register() == set_to.full_register();
    (is_it && uses(compare, factory).reads & bit(to) == 0).then_some(to)
}

/// Live registers where blocks begin, by their numbers.
fn liveness(graph: &Graph, steps: &[Step], places: &Places<'_>) -> Option<Vec<Registers>> {
    let mut before: Vec<Registers> = vec![0; graph.blocks.len()];
    let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); graph.blocks.len()];
    for (number, block) in graph.blocks.iter().enumerate() {
        block.next.iter().for_each(|&next| predecessors[next as usize].push(number as u32));
    }
    let mut waiting: BTreeSet<u32> = (0..graph.blocks.len() as u32).collect();
    let mut visits = 0;
    while let Some(number) = waiting.pop_last() {
        visits += 1;
        if visits > MOST_VISITS * graph.blocks.len() {
            return None;
        }
        let block = &graph.blocks[number as usize];
        let live =
            steps[block.instructions.clone()].iter().rev().fold(behind(graph, block, &before, places), |live, step| step.before(live));
        if std::mem::replace(&mut before[number as usize], live) != live {
            waiting.extend(&predecessors[number as usize]);
        }
    }
    Some(before)
}

/// Live registers behind a block.
fn behind(graph: &Graph, block: &Block, before: &[Registers], places: &Places<'_>) -> Registers {
    const OF_CALLERS: [Register; 7] =
        [Register::RBX, Register::RBP, Register::RSP, Register::R12, Register::R13, Register::R14, Register::R15];
    let returns = || graph.of_block(block).last().is_some_and(|last| last.flow_control() == FlowControl::Return);
    match &block.next[..] {
        [] if places.returns_nothing && returns() => OF_CALLERS.into_iter().fold(0, |all, register| all | bit(register)),
        // Who leaves may leave anything in any register.
        [] => Registers::MAX,
        next => next.iter().fold(0, |live, &next| live | before[next as usize]),
    }
}

/// An access whose address is of the index alone, with the pinned register for its base.
fn with_base(instruction: &Instruction) -> Option<Instruction> {
    let index = instruction.memory_base();
    let is_one = (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory);
    if !is_one || !index.is_gpr64() || index == PINNED || index == Register::RSP || instruction.memory_index() != Register::None {
        return None;
    }
    let mut now = *instruction;
    now.set_memory_base(PINNED);
    now.set_memory_index(index);
    now.set_memory_index_scale(1);
    // None, or one byte if that does.
    now.set_memory_displ_size(u32::from(instruction.memory_displacement64() != 0));
    Some(now)
}

/// Lets a block's accesses through copies of the pinned register go through the register itself.
fn through_pinned(
    graph: &Graph,
    block: &Block,
    places: &Places<'_>,
    factory: &mut InstructionInfoFactory,
    steps: &mut [Step],
    edits: &mut [Edit],
) {
    let pinned = bit(PINNED);
    let mut copies: Registers = 0;
    for number in block.instructions.clone() {
        let instruction = &graph.instructions[number];
        if let Some(Effect::Move { to, from }) = copy(instruction) {
            copies = match () {
                // Another context's from here on: a call of another instance's function.
                () if to & pinned != 0 && from & copies == 0 => 0,
                () if from & (copies | pinned) == 0 => copies & !to,
                () => copies | to & !pinned,
            };
            continue;
        }
        if copies == 0 {
            continue;
        }
        let (base, at, step) = (instruction.memory_base(), instruction.ip() as u32, steps[number]);
        let is_plain = matches!(
            instruction.mnemonic(),
            Mnemonic::Mov
                | Mnemonic::Movzx
                | Mnemonic::Movsx
                | Mnemonic::Movsxd
                | Mnemonic::Lea
                | Mnemonic::Cmp
                | Mnemonic::Test
                | Mnemonic::Add
                | Mnemonic::Sub
        );
        if base.is_gpr64() && bit(base) & copies != 0 && is_plain && !places.is_relocated(at, instruction.len()) && !places.is_fixed(at) {
            let mut now = *instruction;
            now.set_memory_base(PINNED);
            steps[number] = Step::of(&now, factory);
            edits[number] = Edit::Now(now);
        }
        copies = match step {
            Step::Copy { to, .. } => copies & !to,
            Step::Call => 0,
            Step::Other(Uses { writes, .. }) if writes & pinned != 0 => 0,
            Step::Other(Uses { writes, .. }) => copies & !writes,
        };
    }
}
