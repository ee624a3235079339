//! What flags make shorter: outcomes that they hold already, and numbers that go up where a condition holds.

use iced_x86::{Code, ConditionCode, Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic, OpKind, Register, RflagsBits};

use super::Places;
use super::unread::Edit;
use crate::graph::{Block, Graph};
use crate::spills::{Registers, bit, is_call, writes};

/// Flags that a comparison writes and a condition reads.
const OF_COMPARISONS: u32 = RflagsBits::CF | RflagsBits::PF | RflagsBits::ZF | RflagsBits::SF | RflagsBits::OF;

/// Lets what counts where a condition holds add the carry. Two shapes: `lea d,[s+1]; cmp a,b; cmovae d,s` is `mov d,s; cmp a,b; adc d,0`, and `lea t,[s+1]; cmp a,b; mov d,s; cmovb d,t` is
/// `cmp a,b; mov d,s; adc d,0`; where the condition is the opposite one it is `sbb d,-1`, and `test c,c` is `cmp c,1`, for below one is what is zero. The processor's renaming does the move, and
/// the number goes through one instruction a round in place of two. `live` are registers that are live behind each of the block's instructions.
pub(super) fn count_by_carry(
    graph: &Graph,
    block: &Block,
    live: &[Registers],
    places: &Places<'_>,
    factory: &mut InstructionInfoFactory,
    edits: &mut [Edit],
) {
    let begin = block.instructions.start;
    for add in block.instructions.clone() {
        let all = &graph.instructions[add..block.instructions.end];
        let Some(count) = Count::find(all, &live[add - begin..], factory) else { continue };
        let length = if count.copies { 4 } else { 3 };
        let stays = |(it, edit): (&Instruction, &Edit)| {
            *edit == Edit::Same && !places.is_fixed(it.ip() as u32) && !places.is_relocated(it.ip() as u32, it.len())
        };
        if !all[..length].iter().zip(&edits[add..]).all(stays) {
            continue;
        }
        // From the comparison on, flags are others than they were.
        let mut behind = all[length..]
            .iter()
            .skip_while(|it| it.rflags_read() & OF_COMPARISONS == 0 && it.rflags_modified() & OF_COMPARISONS != OF_COMPARISONS);
        if behind.next().is_some_and(|it| it.rflags_read() & OF_COMPARISONS == 0)
            && let Some([first, second, last]) = count.edits()
        {
            edits[add] = first;
            edits[add + 1] = second;
            edits[add + length - 1] = last;
        }
    }
}

/// A number of 32 or 64 bits that goes up where a condition holds.
struct Count {
    is_wide: bool,
    from: Register,
    to: Register,
    /// What is compared with zero, if that is all.
    tested: Option<Register>,
    /// It goes up where the carry is set, not where it is clear.
    carry_adds: bool,
    /// The sum is in a third register, and the number is copied behind the comparison.
    copies: bool,
}

impl Count {
    /// What the first of some instructions begins, if it begins a count.
    fn find(all: &[Instruction], live: &[Registers], factory: &mut InstructionInfoFactory) -> Option<Count> {
        let [add, compare, third, ..] = all else { return None };
        let is_wide = match add.code() {
            Code::Lea_r32_m => false,
            Code::Lea_r64_m => true,
            _ => return None,
        };
        let is_one_more =
            add.memory_index() == Register::None && add.memory_displacement64() == 1 && add.segment_prefix() == Register::None;
        if !is_one_more {
            return None;
        }
        let copies = third.mnemonic() == Mnemonic::Mov;
        let choose = if copies { all.get(3)? } else { third };
        let of_registers = |it: &Instruction| it.op_count() == 2 && it.op0_kind() == OpKind::Register && it.op1_kind() == OpKind::Register;
        if !of_registers(third)
            || !of_registers(choose)
            || !matches!(choose.mnemonic(), Mnemonic::Cmove | Mnemonic::Cmovne | Mnemonic::Cmovae | Mnemonic::Cmovb)
        {
            return None;
        }
        let (sum, to, other) = (add.op0_register(), choose.op0_register(), choose.op1_register());
        let (from, is_it) = if copies {
            let from = third.op1_register().full_register();
            let copy = third.op0_register();
            let is_copied =
                copy.full_register() == to.full_register() && from.is_gpr64() && (copy.is_gpr64() || !is_wide && copy.is_gpr32());
            // Nobody else reads the sum.
            (from, is_copied && other == sum && to != sum && live.get(3)? & bit(sum) == 0)
        } else {
            (other.full_register(), to == sum && to != other)
        };
        let reads = factory
            .info_options(compare, InstructionInfoOptions::NONE)
            .used_registers()
            .iter()
            .fold(0, |all, used| all | bit(used.register()));
        if !is_it || add.memory_base() != from || from == sum.full_register() || reads & bit(sum) != 0 {
            return None;
        }
        let (tested, where_carry) = match (compare.mnemonic(), choose.condition_code()) {
            (Mnemonic::Cmp, condition @ (ConditionCode::b | ConditionCode::ae)) => (None, condition == ConditionCode::b),
            (Mnemonic::Test, condition @ (ConditionCode::e | ConditionCode::ne))
                if is_of_one(compare) && matches!(compare.code(), Code::Test_rm32_r32 | Code::Test_rm64_r64) =>
            {
                (Some(compare.op0_register()), condition == ConditionCode::e)
            }
            _ => return None,
        };
        // Where the number is copied the sum is chosen, else what it was before.
        Some(Count { is_wide, from, to, tested, carry_adds: where_carry == copies, copies })
    }

    /// What becomes of the sum, of the comparison, and of the choice.
    fn edits(&self) -> Option<[Edit; 3]> {
        let (copy, adds, subtracts) = match self.is_wide {
            false => (Code::Mov_r32_rm32, Code::Adc_rm32_imm8, Code::Sbb_rm32_imm8),
            true => (Code::Mov_r64_rm64, Code::Adc_rm64_imm8, Code::Sbb_rm64_imm8),
        };
        let first = match self.copies {
            true => Edit::Gone,
            false => Edit::Now(Instruction::with2(copy, self.to, if self.is_wide { self.from } else { self.from.full_register32() }).ok()?),
        };
        let compare = match self.tested {
            Some(it) if it.is_gpr64() => Edit::Now(Instruction::with2(Code::Cmp_rm64_imm8, it, 1).ok()?),
            Some(it) => Edit::Now(Instruction::with2(Code::Cmp_rm32_imm8, it, 1).ok()?),
            None => Edit::Same,
        };
        let count = if self.carry_adds { Instruction::with2(adds, self.to, 0) } else { Instruction::with2(subtracts, self.to, -1) };
        Some([first, compare, Edit::Now(count.ok()?)])
    }
}

/// Whether both operands are the same register.
fn is_of_one(instruction: &Instruction) -> bool {
    instruction.op_count() == 2
        && [0, 1].iter().all(|&operand| instruction.op_kind(operand) == OpKind::Register)
        && instruction.op0_register() == instruction.op1_register()
}

/// Takes out what a block does once more: a register's upper half cleared where it is clear (a `select` that is extended), and the comparison with zero whose outcome the flags still hold (one that
/// several `select`s depend on).
pub(super) fn remove_known(graph: &Graph, block: &Block, places: &Places<'_>, factory: &mut InstructionInfoFactory, edits: &mut [Edit]) {
    // Registers whose upper half is clear, and which register was tested, as what.
    let mut clear: Registers = 0;
    let mut tested = None;
    for number in block.instructions.clone() {
        let instruction = match &edits[number] {
            Edit::Gone => continue,
            Edit::Now(instruction) => instruction,
            _ => &graph.instructions[number],
        };
        let test = (is_of_one(instruction) && instruction.mnemonic() == Mnemonic::Test).then(|| instruction.op0_register());
        let clears = is_of_one(instruction)
            && matches!(instruction.code(), Code::Mov_r32_rm32 | Code::Mov_rm32_r32)
            && clear & bit(instruction.op0_register()) != 0;
        if (clears || test.is_some() && test == tested) && edits[number] == Edit::Same && !places.is_fixed(instruction.ip() as u32) {
            edits[number] = Edit::Gone;
            continue;
        }
        if is_call(instruction) {
            (clear, tested) = (0, None);
            continue;
        }
        let info = factory.info_options(instruction, InstructionInfoOptions::NO_MEMORY_USAGE);
        let written = info.used_registers().iter().filter(|used| writes(used.access())).fold(0, |all, used| all | bit(used.register()));
        clear &= !written;
        // A result of 32 bits clears the upper half, `cmov`'s also where it moves nothing. What two of them do where they have none is not told.
        if instruction.op_count() > 0
            && instruction.op0_kind() == OpKind::Register
            && instruction.op0_register().is_gpr32()
            && writes(info.op0_access())
            && !matches!(instruction.mnemonic(), Mnemonic::Bsf | Mnemonic::Bsr)
        {
            clear |= bit(instruction.op0_register());
        }
        tested = match instruction.rflags_modified() {
            0 => tested.filter(|&tested| bit(tested) & written == 0),
            _ => test,
        };
    }
}
