//! A function's finished machine code, read back: its instructions, its blocks and where they lead.

use std::collections::BTreeMap;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};

/// Bytes of the four instructions before a jump table: `lea`, `movsxd`, `add`, `jmp`.
const MOST_BEFORE_TABLE: u32 = 7 + 5 + 3 + 3;

/// The part of a function that can be reached, by first bytes.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) instructions: BTreeMap<u32, Instruction>,
    /// The blocks that follow each. None: it leaves the function.
    pub(crate) blocks: BTreeMap<u32, Vec<u32>>,
    /// Blocks that are entered otherwise than by the branches seen.
    pub(crate) roots: Vec<u32>,
    /// Where indirect jumps lead, by the byte behind them: the first of their table's, if they have one.
    pub(crate) tables: BTreeMap<u32, Vec<u32>>,
}

impl Graph {
    /// `None` where code cannot be followed. Cranelift's blocks begin at `starts`, which ascend; `landings` are entered from outside, as is the first byte.
    pub(crate) fn read(code: &[u8], starts: &[u32], landings: &[u32]) -> Option<Graph> {
        let mut graph = Graph { roots: [&[0], landings].concat(), ..Graph::default() };
        // A direct branch may also lead into an instruction of Cranelift's that is several of the machine's.
        let mut leaders = graph.roots.clone();
        while let Some(start) = leaders.pop() {
            if graph.blocks.contains_key(&start) {
                continue;
            }
            graph.blocks.insert(start, Vec::new());
            let mut at = start;
            while !graph.instructions.contains_key(&at) {
                let instruction = Decoder::with_ip(64, code.get(at as usize..)?, at.into(), DecoderOptions::NONE).decode();
                if instruction.is_invalid() {
                    return None;
                }
                let flow = instruction.flow_control();
                graph.instructions.insert(at, instruction);
                at += instruction.len() as u32;
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
        // Where one's bytes are part of another's, something was taken for code that is none.
        let ends = graph.instructions.iter().map(|(&at, instruction)| at + instruction.len() as u32);
        if graph.instructions.keys().skip(1).zip(ends).any(|(&next, end)| next < end) {
            return None;
        }
        graph.join()?;
        Some(graph)
    }

    /// Fills in where blocks lead.
    fn join(&mut self) -> Option<()> {
        let starts: Vec<u32> = self.blocks.keys().copied().collect();
        for start in starts {
            let (at, last) = self.of_block(start).last()?;
            let behind = at + last.len() as u32;
            let mut next = Vec::new();
            match last.flow_control() {
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => next.push(direct(last)?),
                FlowControl::IndirectBranch => next.extend(&self.tables[&behind]),
                _ => {}
            }
            if goes_on(last.flow_control()) {
                next.push(behind);
            }
            self.blocks.insert(start, next);
        }
        Some(())
    }

    /// The instructions of a block, by first bytes.
    pub(crate) fn of_block(&self, start: u32) -> impl DoubleEndedIterator<Item = (u32, &Instruction)> {
        let end = self.blocks.range(start + 1..).next().map_or(u32::MAX, |(&next, _)| next);
        // Instructions up to the next block are this one's: what is reached otherwise begins one.
        self.instructions.range(start..end).map(|(&at, instruction)| (at, instruction))
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

/// Where an indirect jump that ends at `behind` leads: by the table that Cranelift puts between it and the next block, whose address is taken shortly before it and whose words
/// count from its first byte; nowhere in this function if there is none (a tail call). `None` where that is not what stands there.
fn table(code: &[u8], starts: &[u32], instructions: &BTreeMap<u32, Instruction>, behind: u32) -> Option<Vec<u32>> {
    let mut before = instructions.range(behind.saturating_sub(MOST_BEFORE_TABLE)..behind).map(|(_, instruction)| instruction);
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

