//! Stores to spill slots that hold the value already, and loads of what a register holds: taken out of finished code.
//!
//! Cranelift's allocator (regalloc2) moves a value that has a slot and, in part of its life, a register, from one to the other at each border of those parts, whether or not the
//! slot holds it already. At a loop's back edge that is a store, for which the edge gets a block of its own, so that each round jumps twice. Here the code is read once more:
//! which registers hold what which slots hold is found by a forward data-flow analysis over machine instructions (available copies, as available expressions in Aho, Lam, Sethi
//! and Ullman, Compilers, 2nd ed., section 9.2.6), and
//!
//! - a store of what the slot holds becomes a `nop`,
//! - a load of what the register holds as well, one of what another register holds a move from there,
//! - a branch around a block of which nothing but its jump is left leads where that jump led.
//!
//! No instruction moves, so no table changes, and at each that is left registers and memory are what they were without: who looks at a frame from outside (a trap, a
//! stack walk, a side exit) sees no difference.
//!
//! Slots are bytes of the frame at a distance from the stack pointer. Guests cannot name them. Where a function takes the address of anything in its frame, every store
//! through another register forgets all; so do calls and whatever moves the stack pointer. A function with code that cannot be followed (a jump table whose end is
//! not seen) stays as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use iced_x86::{
    Code, ConditionCode, Encoder, EncodingKind, FlowControl, Instruction, InstructionInfoFactory, InstructionInfoOptions, MemorySize,
    Mnemonic, OpAccess, OpKind, Register,
};

use crate::graph::Graph;
use crate::headers::{BRANCH, DISPLACEMENT, Poll, set_target};
use crate::markers;

/// Most facts brought to blocks in one function: beyond that the analysis could take longer than the compile did (a guess).
const MOST_WORK: usize = 4 << 20;
/// Vector registers have the bits behind the general ones'.
const GENERAL: usize = 16;

/// What became of a function's loads and stores of slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Removed {
    /// Stores of what the slot held.
    stores: u32,
    /// Loads of what the register held.
    loads: u32,
    /// Loads that became moves.
    moves: u32,
    /// Branches that lead past a block that is empty now.
    edges: u32,
}

/// Bytes of the frame, counted from the stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot {
    at: u32,
    bytes: u32,
}

impl Slot {
    fn overlaps(self, other: Slot) -> bool {
        self.at < other.at.saturating_add(other.bytes) && other.at < self.at.saturating_add(self.bytes)
    }
}

/// Registers, a bit each.
pub(crate) type Registers = u32;

/// Slots, in order, and the registers that hold the same; each with one at least.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Facts(Vec<(Slot, Registers)>);

impl Facts {
    fn holds(&self, slot: Slot) -> Registers {
        self.0.binary_search_by_key(&slot, |&(slot, _)| slot).map_or(0, |index| self.0[index].1)
    }

    fn set(&mut self, slot: Slot, registers: Registers) {
        match self.0.binary_search_by_key(&slot, |&(slot, _)| slot) {
            Ok(index) => self.0[index].1 = registers,
            Err(index) => self.0.insert(index, (slot, registers)),
        }
    }

    fn write(&mut self, registers: Registers, slot: Option<Slot>) {
        self.0.retain_mut(|(of, held)| {
            *held &= !registers;
            *held != 0 && !slot.is_some_and(|slot| slot.overlaps(*of))
        });
    }

    fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Forget => self.0.clear(),
            Effect::Write(registers, slot) => self.write(registers, slot),
            Effect::Move { to, from } => self.0.retain_mut(|(_, held)| {
                *held = if *held & from == 0 { *held & !to } else { *held | to };
                *held != 0
            }),
            Effect::Store(slot, register) => {
                self.write(0, Some(slot));
                let alike = self.0.iter().filter(|&&(of, held)| of.bytes == slot.bytes && held & register != 0);
                let held = alike.fold(register, |all, &(_, held)| all | held);
                self.set(slot, held);
            }
            Effect::Load(slot, register) => match self.holds(slot) {
                0 => {
                    self.write(register, None);
                    self.set(slot, register);
                }
                held => self.apply(Effect::Move { to: register, from: held & held.wrapping_neg() }),
            },
        }
    }

    /// Leaves what `other` says too. Whether anything went.
    fn meet(&mut self, other: &Facts) -> bool {
        let mut changed = false;
        self.0.retain_mut(|(slot, held)| {
            let both = *held & other.holds(*slot);
            changed |= both != *held;
            *held = both;
            both != 0
        });
        changed
    }
}

/// What an instruction does to facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Store(Slot, Registers),
    Load(Slot, Registers),
    Move { to: Registers, from: Registers },
    Write(Registers, Option<Slot>),
    Forget,
}

/// A function and what its blocks do.
struct Copies {
    graph: Graph,
    /// Of instructions that have one: the instruction's number and its effect, in order.
    effects: Vec<(usize, Effect)>,
    /// By blocks: facts at the begin; none yet for what no path was seen to.
    before: Vec<Option<Facts>>,
}

/// Changes `code`, a function's bytes. Blocks begin at `starts`, which ascend; `landings` are entered from outside, as is the first byte; `polls` are in ascending order.
pub(crate) fn remove(code: &mut [u8], starts: &[u32], landings: &[u32], polls: &[Poll]) -> Removed {
    Graph::read(code, starts, landings).and_then(|graph| Copies::of(graph).remove(code, polls)).unwrap_or_default()
}

impl Copies {
    fn of(graph: Graph) -> Copies {
        let mut factory = InstructionInfoFactory::new();
        let in_frame = graph.instructions.iter().any(takes_frame_address);
        let with_effect = |(number, instruction)| Some((number, effect(instruction, &mut factory, in_frame)?));
        let effects = graph.instructions.iter().enumerate().filter_map(with_effect).collect();
        let before = vec![None; graph.blocks.len()];
        Copies { graph, effects, before }
    }

    /// The effects in a block.
    fn of_block(&self, block: usize) -> &[(usize, Effect)] {
        let Range { start, end } = self.graph.blocks[block].instructions;
        let first = self.effects.partition_point(|&(number, _)| number < start);
        let effects = &self.effects[first..];
        &effects[..effects.partition_point(|&(number, _)| number < end)]
    }

    /// Fills in what is known where blocks begin. `None` if that takes too long.
    fn propagate(&mut self) -> Option<()> {
        let mut work = 0;
        let mut waiting = BTreeSet::new();
        for &root in &self.graph.roots {
            let root = self.graph.block(root)? as usize;
            self.before[root] = Some(Facts::default());
            waiting.insert(root);
        }
        while let Some(block) = waiting.pop_first() {
            let mut facts = self.before[block].clone()?;
            self.of_block(block).iter().for_each(|&(_, effect)| facts.apply(effect));
            for &next in &self.graph.blocks[block].next {
                work += facts.0.len() + 1;
                let before = &mut self.before[next as usize];
                let changed = match before {
                    Some(before) => before.meet(&facts),
                    None => {
                        *before = Some(facts.clone());
                        true
                    }
                };
                if changed {
                    waiting.insert(next as usize);
                }
            }
            if work > MOST_WORK {
                return None;
            }
        }
        Some(())
    }

    fn remove(mut self, code: &mut [u8], polls: &[Poll]) -> Option<Removed> {
        self.propagate()?;
        let mut removed = Removed::default();
        let mut emptied = BTreeSet::new();
        for (block, before) in self.before.iter().enumerate() {
            let mut facts = before.clone()?;
            for &(number, effect) in self.of_block(block) {
                let instruction = &self.graph.instructions[number];
                let at = instruction.ip() as u32;
                let bytes = &mut code[at as usize..instruction.next_ip() as usize];
                match effect {
                    Effect::Store(slot, register) if facts.holds(slot) & register != 0 => {
                        fill(bytes);
                        emptied.insert(at);
                        removed.stores += 1;
                    }
                    Effect::Load(slot, register) => match facts.holds(slot) {
                        0 => {}
                        held if held & register != 0 => {
                            fill(bytes);
                            emptied.insert(at);
                            removed.loads += 1;
                        }
                        held => removed.moves += u32::from(become_move(bytes, instruction, held.trailing_zeros() as usize)),
                    },
                    _ => {}
                }
                facts.apply(effect);
            }
        }
        if !emptied.is_empty() {
            removed.edges = self.lead_past(code, &emptied, polls);
        }
        Some(removed)
    }

    /// Leads branches to blocks of which all but a jump was `emptied` where those jumps lead.
    fn lead_past(&self, code: &mut [u8], emptied: &BTreeSet<u32>, polls: &[Poll]) -> u32 {
        let mut edges = 0;
        let near: BTreeSet<u64> = self.graph.instructions.iter().filter(|it| !is_far(it)).map(Instruction::near_branch64).collect();
        let mut past: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for block in self.graph.blocks.iter().filter(|block| !near.contains(&block.start.into())) {
            let left = self.graph.instructions[block.instructions.start..].iter().find(|it| !emptied.contains(&(it.ip() as u32)));
            if let Some(jump) = left
                && jump.ip() > block.start.into()
                && jump.code() == Code::Jmp_rel32_64
                && jump.near_branch64() != u64::from(block.start)
            {
                past.insert(block.start, (jump.next_ip() as u32, jump.near_branch64() as u32));
            }
        }
        // What is nothing any more ends here.
        let mut filled = 0;
        for branch in &self.graph.instructions {
            let (at, behind) = (branch.ip() as u32, branch.next_ip() as u32);
            if !is_far(branch) || at < filled {
                continue;
            }
            if let Some(&(_, target)) = past.get(&(branch.near_branch64() as u32)) {
                set_target(code, behind, target);
                edges += 1;
            }
            // Around the block behind it: `jcc over; (nothing) jmp target; over:` becomes `jncc target; (nothing) over:`.
            let Some(&(over, target)) = past.get(&behind) else { continue };
            let is_around = branch.condition_code() != ConditionCode::None && branch.near_branch64() == u64::from(over);
            let is_alone = !self.graph.tables.values().flatten().any(|&to| to == behind)
                && !self.graph.roots.contains(&behind)
                && !self.graph.blocks.iter().any(|block| (behind + 1..over).contains(&block.start));
            let is_poll = polls.iter().any(|poll| poll.compare() as usize + markers::COMPARE == at as usize);
            if is_around && is_alone && !is_poll {
                code[at as usize + 1] ^= 1;
                set_target(code, behind, target);
                fill(&mut code[behind as usize..over as usize]);
                filled = over;
                edges += 1;
            }
        }
        edges
    }
}

/// Whether a branch's last four bytes say where it leads.
fn is_far(branch: &Instruction) -> bool {
    let is_conditional = branch.condition_code() != ConditionCode::None && branch.len() == BRANCH.len() + DISPLACEMENT;
    branch.code() == Code::Jmp_rel32_64 || (branch.flow_control() == FlowControl::ConditionalBranch && is_conditional)
}

fn fill(bytes: &mut [u8]) {
    for part in bytes.chunks_mut(markers::NOPS.len() - 1) {
        part.copy_from_slice(markers::NOPS[part.len()]);
    }
}

/// Whether a load was made a move from a register of its kind.
fn become_move(bytes: &mut [u8], load: &Instruction, from: usize) -> bool {
    let to = load.op0_register();
    let (code, from) = match to.is_gpr64() {
        true => (Code::Mov_r64_rm64, Register::RAX + from as u32),
        false if load.code().op_code().encoding() == EncodingKind::VEX => {
            (Code::VEX_Vmovaps_xmm_xmmm128, Register::XMM0 + (from - GENERAL) as u32)
        }
        false => (Code::Movaps_xmm_xmmm128, Register::XMM0 + (from - GENERAL) as u32),
    };
    let mut encoder = Encoder::new(64);
    let Ok(instruction) = Instruction::with2(code, to, from) else { return false };
    if encoder.encode(&instruction, 0).is_err() {
        return false;
    }
    let encoded = encoder.take_buffer();
    if encoded.len() > bytes.len() {
        return false;
    }
    let (begin, rest) = bytes.split_at_mut(encoded.len());
    begin.copy_from_slice(&encoded);
    fill(rest);
    true
}

/// Whether an address within the frame may be in a register, or anywhere, after it. (The frame pointer is set up by a move, and is not one to store through.)
fn takes_frame_address(instruction: &Instruction) -> bool {
    let is_frame = |register: Register| matches!(register.full_register(), Register::RSP | Register::RBP);
    match instruction.mnemonic() {
        Mnemonic::Push | Mnemonic::Pop => false,
        _ if is_frame(instruction.op0_register()) => false,
        Mnemonic::Lea => is_frame(instruction.memory_base()) || is_frame(instruction.memory_index()),
        _ => (1..instruction.op_count()).any(|n| is_frame(instruction.op_register(n))),
    }
}

/// The register's bit, of those that are followed.
pub(crate) fn bit(register: Register) -> Registers {
    let full = register.full_register();
    match () {
        () if full.is_gpr64() => 1 << full.number(),
        () if full.is_vector_register() && full.number() < GENERAL => 1 << (GENERAL + full.number()),
        () => 0,
    }
}

/// The slot an operand in memory is, if it is one.
fn slot(base: Register, index: Register, displacement: u64, size: MemorySize) -> Option<Slot> {
    let at = u32::try_from(displacement).ok()?;
    let bytes = u32::try_from(size.size()).ok().filter(|&bytes| bytes > 0)?;
    (base == Register::RSP && index == Register::None).then_some(Slot { at, bytes })
}

/// The effect of a copy of all of a register, from another or one way or the other between it and a slot.
pub(crate) fn copy(instruction: &Instruction) -> Option<Effect> {
    use Code::*;
    let is_copy = matches!(
        instruction.code(),
        Mov_r64_rm64
            | Mov_rm64_r64
            | Movaps_xmm_xmmm128
            | Movaps_xmmm128_xmm
            | Movups_xmm_xmmm128
            | Movups_xmmm128_xmm
            | Movdqa_xmm_xmmm128
            | Movdqa_xmmm128_xmm
            | Movdqu_xmm_xmmm128
            | Movdqu_xmmm128_xmm
            | VEX_Vmovaps_xmm_xmmm128
            | VEX_Vmovaps_xmmm128_xmm
            | VEX_Vmovups_xmm_xmmm128
            | VEX_Vmovups_xmmm128_xmm
            | VEX_Vmovdqa_xmm_xmmm128
            | VEX_Vmovdqa_xmmm128_xmm
            | VEX_Vmovdqu_xmm_xmmm128
            | VEX_Vmovdqu_xmmm128_xmm
    );
    let (to, from) = (instruction.op0_register(), instruction.op1_register());
    if !is_copy || to == Register::RSP {
        return None;
    }
    let size = instruction.memory_size();
    let slot = || slot(instruction.memory_base(), instruction.memory_index(), instruction.memory_displacement64(), size);
    match (instruction.op0_kind(), instruction.op1_kind()) {
        (OpKind::Register, OpKind::Register) => Some(Effect::Move { to: bit(to), from: bit(from) }),
        (OpKind::Register, OpKind::Memory) => Some(Effect::Load(slot()?, bit(to))),
        (OpKind::Memory, OpKind::Register) => Some(Effect::Store(slot()?, bit(from))),
        _ => None,
    }
}

pub(crate) fn is_call(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

/// Whether what is accessed so may be changed.
pub(crate) fn writes(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

fn effect(instruction: &Instruction, factory: &mut InstructionInfoFactory, in_frame: bool) -> Option<Effect> {
    if is_call(instruction) {
        return Some(Effect::Forget);
    }
    if let Some(copy) = copy(instruction) {
        return Some(copy);
    }
    let info = factory.info_options(instruction, InstructionInfoOptions::NONE);
    let mut written = 0;
    for used in info.used_registers().iter().filter(|used| writes(used.access())) {
        if used.register().full_register() == Register::RSP {
            return Some(Effect::Forget);
        }
        written |= bit(used.register());
    }
    let mut changed = None;
    for used in info.used_memory().iter().filter(|used| writes(used.access())) {
        let place = slot(used.base(), used.index(), used.displacement(), used.memory_size());
        match used.base() {
            Register::RSP if place.is_some() && changed.is_none() => changed = place,
            // What came with the call lies above the frame.
            Register::RBP if used.index() == Register::None && (used.displacement() as i64) > 0 => {}
            Register::RSP | Register::RBP => return Some(Effect::Forget),
            _ if in_frame => return Some(Effect::Forget),
            _ => {}
        }
    }
    (written != 0 || changed.is_some()).then_some(Effect::Write(written, changed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finish::disassemble;

    const RAX: u8 = 0;
    const RCX: u8 = 1;
    const RDX: u8 = 2;
    /// Where a test's code lies begin blocks of Cranelift's.
    const ONE_BLOCK: &[u32] = &[0];
    const RET: &[u8] = &[0xc3];
    /// `call` of what follows it.
    const CALL: &[u8] = &[0xe8, 0, 0, 0, 0];

    /// `mov [rsp+at], register`
    fn store(at: u8, register: u8) -> Vec<u8> {
        vec![0x48, 0x89, 0x44 | register << 3, 0x24, at]
    }

    /// `mov register, [rsp+at]`
    fn load(register: u8, at: u8) -> Vec<u8> {
        vec![0x48, 0x8b, 0x44 | register << 3, 0x24, at]
    }

    /// `mov to, from`
    fn copy(to: u8, from: u8) -> Vec<u8> {
        vec![0x48, 0x89, 0xc0 | from << 3 | to]
    }

    /// `inc register`
    fn change(register: u8) -> Vec<u8> {
        vec![0x48, 0xff, 0xc0 | register]
    }

    /// `jmp` over so many bytes, which may be negative.
    fn jump(over: i32) -> Vec<u8> {
        [&[0xe9][..], &over.to_le_bytes()].concat()
    }

    /// `je`, likewise.
    fn branch(over: i32) -> Vec<u8> {
        [&[0x0f, 0x84][..], &over.to_le_bytes()].concat()
    }

    /// What becomes of code, as text without addresses.
    fn after(parts: &[&[u8]], landings: &[u32]) -> (Vec<String>, Removed) {
        let mut code = parts.concat();
        let removed = remove(&mut code, ONE_BLOCK, landings, &[]);
        (disassemble(&code).lines().map(|line| line[8..].to_owned()).collect(), removed)
    }

    fn counts(parts: &[&[u8]]) -> (u32, u32, u32, u32) {
        let Removed { stores, loads, moves, edges } = after(parts, &[]).1;
        (stores, loads, moves, edges)
    }

    #[test]
    fn what_is_there_already_is_not_stored_or_loaded_again() {
        let (text, removed) = after(&[&store(8, RAX), &store(8, RAX), &load(RAX, 8), &load(RCX, 8), RET], &[]);
        assert_eq!(removed, Removed { stores: 1, loads: 1, moves: 1, edges: 0 });
        assert_eq!(text, ["mov [rsp+8], rax", "nop dword [rax+rax]", "nop dword [rax+rax]", "mov rcx, rax", "xchg ax, ax", "ret"]);
        // A load says what a slot holds as well; a move carries it on; another slot with the same value does.
        assert_eq!(counts(&[&load(RAX, 8), &store(8, RAX), RET]), (1, 0, 0, 0));
        assert_eq!(counts(&[&load(RAX, 8), &copy(RCX, RAX), &change(RAX), &store(8, RCX), RET]), (1, 0, 0, 0));
        assert_eq!(counts(&[&load(RAX, 8), &store(16, RAX), &load(RCX, 8), &change(RAX), &load(RDX, 16), RET]), (0, 0, 2, 0));
    }

    #[test]
    fn what_may_have_changed_is_stored_and_loaded() {
        let between: [(&str, &[u8]); 9] = [
            ("the register", &[0x48, 0xff, 0xc0]),
            ("half of the register: mov eax, ecx", &[0x89, 0xc8]),
            ("a register that is not named: mul rcx", &[0x48, 0xf7, 0xe1]),
            ("the slot: inc qword [rsp+8]", &[0x48, 0xff, 0x44, 0x24, 8]),
            ("a part of the slot: mov byte [rsp+0fh], 1", &[0xc6, 0x44, 0x24, 0x0f, 1]),
            ("some slot: mov [rsp+rcx*8], rdx", &[0x48, 0x89, 0x14, 0xcc]),
            ("something in the frame: mov [rbp-8], rcx", &[0x48, 0x89, 0x4d, 0xf8]),
            ("where slots are: push rcx", &[0x51]),
            ("all: call", CALL),
        ];
        for (what, bytes) in between {
            for again in [store(8, RAX), load(RAX, 8)] {
                assert_eq!(counts(&[&store(8, RAX), bytes, &again, RET]), (0, 0, 0, 0), "{what}");
            }
        }
        // What changes neither: inc rcx; mov [rsp+16], rcx; mov [rdi], rcx; mov [rbp+16], rcx
        for bytes in [&[0x48, 0xff, 0xc1][..], &[0x48, 0x89, 0x4c, 0x24, 16], &[0x48, 0x89, 0x0f], &[0x48, 0x89, 0x4d, 16]] {
            assert_eq!(counts(&[&store(8, RAX), bytes, &store(8, RAX), RET]), (1, 0, 0, 0), "{bytes:x?}");
        }
    }

    #[test]
    fn who_takes_an_address_in_the_frame_may_store_there() {
        // mov [rdi], rcx, with lea rdi, [rsp+8] or mov rdi, rsp somewhere in the function
        let stored: &[u8] = &[0x48, 0x89, 0x0f];
        for taken in [&[0x48, 0x8d, 0x7c, 0x24, 8][..], &[0x48, 0x89, 0xe7]] {
            assert_eq!(counts(&[&store(8, RAX), stored, &load(RAX, 8), taken, RET]), (0, 0, 0, 0));
            assert_eq!(counts(&[&store(8, RAX), &load(RAX, 8), taken, RET]), (0, 1, 0, 0), "without a store between");
        }
    }

    #[test]
    fn vector_registers_keep_their_kind_of_move() {
        // movdqu [rsp+10h], xmm9; movdqu xmm1, [rsp+10h]
        let (text, _) = after(&[&[0xf3, 0x44, 0x0f, 0x7f, 0x4c, 0x24, 16], &[0xf3, 0x0f, 0x6f, 0x4c, 0x24, 16], RET], &[]);
        assert_eq!(text, ["movdqu [rsp+10h], xmm9", "movaps xmm1, xmm9", "xchg ax, ax", "ret"]);
        // vmovdqu [rsp+10h], xmm9; vmovdqu xmm10, [rsp+10h]
        let (text, _) = after(&[&[0xc5, 0x7a, 0x7f, 0x4c, 0x24, 16], &[0xc5, 0x7a, 0x6f, 0x54, 0x24, 16], RET], &[]);
        assert_eq!(text, ["vmovdqu [rsp+10h], xmm9", "vmovaps xmm10, xmm9", "nop", "ret"]);
        // Half of one: movsd [rsp+10h], xmm1; movdqu xmm1, [rsp+10h]
        let half: &[u8] = &[0xf2, 0x0f, 0x11, 0x4c, 0x24, 16];
        assert_eq!(counts(&[half, &[0xf3, 0x0f, 0x6f, 0x4c, 0x24, 16], RET]), (0, 0, 0, 0));
    }

    /// A loop whose back edge is a block of its own: `load; header: change rcx; je out; store; jmp header; out: ret`.
    fn spilling_loop(first: &[u8]) -> Vec<u8> {
        let length = 3 + 6 + 5 + 5;
        [first, &change(RCX), &branch(10), &store(8, RAX), &jump(-length), RET].concat()
    }

    #[test]
    fn a_back_edge_that_is_empty_leads_to_the_header_itself() {
        let (text, removed) = after(&[&spilling_loop(&load(RAX, 8))], &[]);
        assert_eq!(removed, Removed { stores: 1, edges: 1, ..Removed::default() });
        assert_eq!(text, ["mov rax, [rsp+8]", "inc rcx", "jne near 5", "nop word [rax+rax]", "nop", "ret"]);
        // The slot holds it on one of the two ways into the loop.
        assert_eq!(counts(&[&spilling_loop(&change(RAX))]), (0, 0, 0, 0));
        // Each round changes it.
        let changed = [&load(RAX, 8)[..], &change(RAX), &branch(10), &store(8, RAX), &jump(-19), RET].concat();
        assert_eq!(counts(&[&changed]), (0, 0, 0, 0));
    }

    #[test]
    fn a_block_that_is_entered_otherwise_stays() {
        // The edge is a landing: nothing is known there.
        let code = spilling_loop(&load(RAX, 8));
        assert_eq!(after(&[&code], &[14]).1, Removed::default());
        // So is the header.
        assert_eq!(after(&[&code], &[5]).1, Removed::default());
        // Another branch leads to it, too: it goes to the header as well.
        // load; header: change rcx; je edge; je out; edge: store; jmp header; out: ret
        let (text, removed) = after(&[&load(RAX, 8), &change(RCX), &branch(6), &branch(10), &store(8, RAX), &jump(-25), RET], &[]);
        assert_eq!(removed, Removed { stores: 1, edges: 2, ..Removed::default() });
        assert_eq!(text[1..4], ["inc rcx", "je near 5", "jne near 5"]);
        // It leads to one that is empty as well: load; je out; edge: store; jmp next; out: ret; next: store; jmp out
        let (text, removed) = after(&[&load(RAX, 8), &branch(10), &store(8, RAX), &jump(1), RET, &store(8, RAX), &jump(-11)], &[]);
        assert_eq!(removed, Removed { stores: 2, edges: 1, ..Removed::default() });
        assert_eq!(text[1..5], ["jne near 16h", "nop word [rax+rax]", "nop", "ret"]);
        // One leads to its jump: load; header: change rcx; je jump; je out; edge: store; jump: jmp header; out: ret
        let (text, removed) = after(&[&load(RAX, 8), &change(RCX), &branch(11), &branch(10), &store(8, RAX), &jump(-25), RET], &[]);
        assert_eq!(removed, Removed { stores: 1, ..Removed::default() });
        assert_eq!(text[5], "jmp 5");
        // A short one does, which cannot lead further.
        let (text, removed) = after(&[&load(RAX, 8), &change(RCX), &[0x74, 6], &branch(10), &store(8, RAX), &jump(-21), RET], &[]);
        assert_eq!(removed, Removed { stores: 1, ..Removed::default() });
        assert_eq!(text[4..6], ["nop dword [rax+rax]", "jmp 5"]);
    }

    #[test]
    fn a_polls_branch_is_not_turned_round() {
        // load; header: cmp r15, [r15+368h]; jae out; store; jmp header; out: ret
        let compare = [0x4d, 0x3b, 0xbc, 0x27, 0x68, 3, 0, 0];
        let mut code = [&load(RAX, 8)[..], &compare, &[0x0f, 0x83], &10i32.to_le_bytes(), &store(8, RAX), &jump(-24), RET].concat();
        let poll = Poll { at: 5, filler: 0, word: 0x368 };
        assert_eq!(remove(&mut code.clone(), ONE_BLOCK, &[], &[poll]), Removed { stores: 1, ..Removed::default() });
        assert_eq!(remove(&mut code, ONE_BLOCK, &[], &[]), Removed { stores: 1, edges: 1, ..Removed::default() });
    }

    #[test]
    fn jump_tables_are_followed() {
        // load rax; lea rcx, [table]; movsxd rdx, [rcx+rdx*4]; add rcx, rdx; jmp rcx; table: two blocks: store; ret
        let begin =
            [&load(RAX, 8)[..], &[0x48, 0x8d, 0x0d, 9, 0, 0, 0], &[0x48, 0x63, 0x14, 0x91], &[0x48, 0x01, 0xd1], &[0xff, 0xe1]].concat();
        let table = begin.len() as u32;
        let block = [&store(8, RAX)[..], RET].concat();
        let words = [8u32, 14].map(u32::to_le_bytes).concat();
        let code = [&begin[..], &words, &block, &block].concat();
        let starts = [0, table + 8, table + 14];
        assert_eq!(remove(&mut code.clone(), &starts, &[], &[]), Removed { stores: 2, ..Removed::default() });
        // Where no block begins, or the table has no end, nothing is done.
        assert_eq!(remove(&mut code.clone(), &[0, table + 8], &[], &[]), Removed::default());
        assert_eq!(remove(&mut code.clone(), ONE_BLOCK, &[], &[]), Removed::default());
        // The longest encoding, in the last block, whose table's end is not seen: lea r13, [table]; movsxd rdx, [r13+rdx*4+0]; add r13, rdx; jmp r13
        let begin =
            [&load(RAX, 8)[..], &[0x4c, 0x8d, 0x2d, 11, 0, 0, 0], &[0x49, 0x63, 0x54, 0x95, 0], &[0x49, 0x01, 0xd5], &[0x41, 0xff, 0xe5]]
                .concat();
        let last = [&begin[..], &(-23i32).to_le_bytes(), &[0xc3]].concat();
        assert_eq!(Graph::read(&last, &[0], &[]).map(|graph| graph.blocks.len()), None);
        // Without a table such a jump leaves the function.
        let leaves = [&load(RAX, 8)[..], &store(8, RAX), &[0xff, 0xe1]].concat();
        assert_eq!(remove(&mut leaves.clone(), ONE_BLOCK, &[], &[]), Removed { stores: 1, ..Removed::default() });
    }

    #[test]
    fn what_is_no_code_is_left() {
        // Beyond the end; no instruction; into the middle of an instruction.
        for last in [&[][..], &[0x06], &jump(-9)[..]] {
            assert_eq!(counts(&[&store(8, RAX), &store(8, RAX), last]), (0, 0, 0, 0), "{last:x?}");
        }
    }
}
