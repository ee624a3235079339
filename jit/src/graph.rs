//! A function's finished machine code, read back: its instructions, its blocks and where they lead.

use std::collections::BTreeMap;
use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};
use smallvec::SmallVec;

/// The four instructions before a jump table: `lea`, `movsxd`, `add`, `jmp`.
const BEFORE_TABLE: usize = 4;
/// What is known of a byte: an instruction begins, a block begins.
const INSTRUCTION: u8 = 1;
const BLOCK: u8 = 2;

/// The part of a function that can be reached.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// In the order of the code; an instruction's address is its first byte.
    pub(crate) instructions: Vec<Instruction>,
    /// In the order of the code.
    pub(crate) blocks: Vec<Block>,
    /// Blocks that are entered otherwise than by the branches seen.
    pub(crate) roots: Vec<u32>,
    /// First bytes of the blocks that indirect jumps lead to, by the byte behind the jump: the first of their table's, if they have one.
    pub(crate) tables: BTreeMap<u32, Vec<u32>>,
}

#[derive(Debug)]
pub(crate) struct Block {
    /// First byte.
    pub(crate) start: u32,
    /// Numbers of its instructions.
    pub(crate) instructions: Range<usize>,
    /// Numbers of the blocks that follow. None: it leaves the function.
    pub(crate) next: SmallVec<[u32; 2]>,
}

impl Graph {
    /// `None` where code cannot be followed. Cranelift's blocks begin at `starts`, which ascend; `landings` are entered from outside, as is the first byte.
    pub(crate) fn read(code: &[u8], starts: &[u32], landings: &[u32]) -> Option<Graph> {
        let mut graph = Graph { roots: [&[0], landings].concat(), ..Graph::default() };
        let mut known = vec![0u8; code.len() + 1];
        let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
        // A direct branch may also lead into an instruction of Cranelift's that is several of the machine's.
        let mut leaders = graph.roots.clone();
        while let Some(start) = leaders.pop() {
            let begun = known.get_mut(start as usize)?;
            if *begun & BLOCK != 0 {
                continue;
            }
            *begun |= BLOCK;
            let mut at = start;
            decoder.set_position(at as usize).ok()?;
            decoder.set_ip(at.into());
            while known[at as usize] & INSTRUCTION == 0 {
                let instruction = decoder.decode();
                if instruction.is_invalid() {
                    return None;
                }
                let flow = instruction.flow_control();
                known[at as usize] |= INSTRUCTION;
                graph.instructions.push(instruction);
                at = instruction.next_ip() as u32;
                match flow {
                    FlowControl::ConditionalBranch => leaders.extend([direct(&instruction)?, at]),
                    FlowControl::UnconditionalBranch => leaders.push(direct(&instruction)?),
                    FlowControl::IndirectBranch => {
                        let table = table(code, starts, &graph.instructions, at)?;
                        leaders.extend(&table);
                        graph.tables.insert(at, table);
                    }
                    _ => {}
                }
                if !goes_on(flow) {
                    break;
                }
            }
        }
        graph.instructions.sort_unstable_by_key(Instruction::ip);
        // Where one's bytes are part of another's, something was taken for code that is none.
        if graph.instructions.windows(2).any(|pair| pair[1].ip() < pair[0].next_ip()) {
            return None;
        }
        graph.join(&known)?;
        Some(graph)
    }

    /// Fills in the blocks.
    fn join(&mut self, known: &[u8]) -> Option<()> {
        for (number, instruction) in self.instructions.iter().enumerate() {
            if known[instruction.ip() as usize] & BLOCK != 0 {
                self.blocks.push(Block { start: instruction.ip() as u32, instructions: number..number, next: SmallVec::new() });
            }
            self.blocks.last_mut()?.instructions.end = number + 1;
        }
        for number in 0..self.blocks.len() {
            let last = &self.instructions[self.blocks[number].instructions.end - 1];
            let behind = last.next_ip() as u32;
            let mut next = SmallVec::new();
            match last.flow_control() {
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => next.push(self.block(direct(last)?)?),
                FlowControl::IndirectBranch => {
                    for &to in &self.tables[&behind] {
                        next.push(self.block(to)?);
                    }
                }
                _ => {}
            }
            if goes_on(last.flow_control()) {
                next.push(self.block(behind)?);
            }
            self.blocks[number].next = next;
        }
        Some(())
    }

    /// The number of the block that begins at `start`.
    pub(crate) fn block(&self, start: u32) -> Option<u32> {
        self.blocks.binary_search_by_key(&start, |block| block.start).ok().map(|number| number as u32)
    }

    /// The instructions of a block.
    pub(crate) fn of_block(&self, block: &Block) -> &[Instruction] {
        &self.instructions[block.instructions.clone()]
    }
}

/// Where a direct branch leads.
pub(crate) fn direct(branch: &Instruction) -> Option<u32> {
    u32::try_from(branch.near_branch64()).ok()
}

/// Whether what follows may be next.
pub(crate) fn goes_on(flow: FlowControl) -> bool {
    matches!(flow, FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall | FlowControl::ConditionalBranch)
}

/// Where an indirect jump that ends at `behind`, the last of those read, leads: by the table that Cranelift puts between it and the next block, whose address is taken shortly before it
/// and whose words count from its first byte; nowhere in this function if there is none (a tail call). `None` where that is not what stands there.
fn table(code: &[u8], starts: &[u32], read: &[Instruction], behind: u32) -> Option<Vec<u32>> {
    let mut before = read.iter().rev().take(BEFORE_TABLE);
    let end = starts.get(starts.partition_point(|&start| start < behind)).copied();
    if !before.any(|it| it.mnemonic() == Mnemonic::Lea && it.is_ip_rel_memory_operand() && it.ip_rel_memory_address() == u64::from(behind))
    {
        return end.is_none_or(|end| end == behind).then(Vec::new);
    }
    let (words, rest) = code.get(behind as usize..end? as usize)?.as_chunks::<4>();
    let leads = |word: &[u8; 4]| {
        let target = behind.checked_add_signed(i32::from_le_bytes(*word))?;
        starts.binary_search(&target).is_ok().then_some(target)
    };
    rest.is_empty().then(|| words.iter().map(leads).collect())?
}
