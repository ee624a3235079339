//! Jumps to a loop's header, led behind the filler that stands in front of its poll, and the byte found by which they pass the poll as well.
//!
//! A poll is a `nop` and a comparison in the bytes of three instructions ([`markers`](crate::markers)), and a branch. The `nop` takes a slot of each round, unless those who
//! jump to the header jump over it. The comparison takes a slot and a load, which in tight loops is up to a tenth of
//! a round: while nobody asks, the jumps lead behind the branch too. A jump's displacement is little-endian and the two targets are near each other, so mostly they differ in
//! one byte alone ([`BackEdge`]), which other threads may write while this one executes the jump: it is the one or the other, never a mixture.
//! Where the addition carries into the next byte, that jump always polls.
//!
//! Who falls into the header jumps too: the filler is a short jump, whose one byte is steered with the others. An inner loop of a round or two is entered as often as it goes back,
//! and a load more for each probe of a table of 256 MiB took a tenth of the time (EPYC, family 26).
//!
//! Enters: the code, where its blocks begin, where the polls are. A block's last instructions are looked at only where the bytes at its end would be a
//! jump to a poll, and changed only if they are: the block is decoded from its first instruction, for the same bytes may be a constant of the program's. Behind an
//! instruction that does not go on (before a jump table, or the constants behind the last block) nothing is taken for code.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use vm::code::BackEdge;
use vm::layout::context;

use crate::markers::COMPARE;
use crate::placement::Loop;

/// A poll of one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Poll {
    /// Its first byte.
    pub(crate) at: u32,
    /// Bytes of the filler it begins with; the comparison follows.
    pub(crate) filler: u32,
    /// Where in the context its flag is.
    pub(crate) word: i32,
}

impl Poll {
    /// First byte of the comparison.
    pub(crate) fn compare(&self) -> u32 {
        self.at + self.filler
    }
}

/// Bytes of a jump's displacement, which is its last part.
pub(crate) const DISPLACEMENT: usize = 4;
/// Bytes of `jmp rel32`.
const JUMP: usize = 5;
/// `jb rel32`, the branch behind a poll's comparison, begins with these.
pub(crate) const BRANCH: [u8; 2] = [0x0f, 0x82];
/// `jmp rel8`, before its displacement; and its bytes with that.
pub(crate) const SHORT_JUMP: u8 = 0xeb;
const SHORT_JUMP_BYTES: u32 = 2;
/// Bytes of a loop's begin in which its dispatch is looked for: where it takes more lines than this, one more is not much.
const FARTHEST_DISPATCH: usize = 256;
/// Bytes of the comparison and the branch.
pub(crate) const PASSED: u8 = (COMPARE + BRANCH.len() + DISPLACEMENT) as u8;

/// What jumps say of a function.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Jumps {
    /// Those that one byte leads behind the poll they lead to, in the order of the code.
    pub(crate) back_edges: Vec<BackEdge>,
    /// A loop for each jump back.
    pub(crate) loops: Vec<Loop>,
    /// From the begin of a loop to the end of an indirect jump, where nothing else jumps between.
    pub(crate) dispatches: Vec<Loop>,
}

/// Leads jumps to polls, which are in ascending order as are the blocks' first bytes `starts`, behind the polls' fillers. `end` is the code's last byte and one.
pub(crate) fn lead(bytes: &mut [u8], starts: &[u32], end: u32, polls: &[Poll]) -> Jumps {
    let mut jumps = Jumps::default();
    let ends = starts.iter().skip(1).copied().chain([end]);
    for (start, end) in starts.iter().copied().zip(ends) {
        // A block ends with a jump, with a conditional one, or with one of each; the first of the two is first here, too.
        for behind in [end.saturating_sub(JUMP as u32), end] {
            let Some(target) = target(bytes, start, behind) else { continue };
            let poll = find(polls, target);
            let back = target <= start && (poll.is_some() || starts.binary_search(&target).is_ok());
            if !(back || poll.is_some()) || !ends_with_jump(&bytes[start as usize..behind as usize], start, target) {
                continue;
            }
            let mut header = target;
            if let Some(poll) = poll {
                header = poll.compare();
                set_target(bytes, behind, header);
                if let Some(edge) = back_edge(bytes, behind as usize - DISPLACEMENT, poll) {
                    jumps.back_edges.push(edge);
                    header += u32::from(PASSED);
                }
            }
            if back && header < behind {
                jumps.loops.push(Loop { start: header, end: behind });
            }
        }
    }
    jumps.back_edges.extend(polls.iter().filter_map(|&poll| jump_at_filler(bytes, poll)));
    jumps.back_edges.sort_unstable_by_key(|edge| edge.at);
    let mut begins: Vec<u32> = jumps.loops.iter().map(|it| it.start).collect();
    begins.sort_unstable();
    begins.dedup();
    jumps.dispatches.extend(begins.into_iter().filter_map(|begin| dispatch(bytes, begin)));
    jumps
}

/// From `start` to the end of the indirect jump that is the first jump behind it, and near.
fn dispatch(bytes: &[u8], start: u32) -> Option<Loop> {
    let near = &bytes[start as usize..bytes.len().min(start as usize + FARTHEST_DISPATCH)];
    let mut decoder = Decoder::with_ip(64, near, start.into(), DecoderOptions::NONE);
    let last = decoder.iter().find(|it| it.flow_control() != FlowControl::Next)?;
    (last.flow_control() == FlowControl::IndirectBranch).then(|| Loop { start, end: last.next_ip() as u32 })
}

/// Makes a poll's filler a short jump behind it, which one byte leads behind the comparison and its branch: who falls into the header polls as seldom as who jumps to it.
fn jump_at_filler(bytes: &mut [u8], poll: Poll) -> Option<BackEdge> {
    let displacement = poll.filler.checked_sub(SHORT_JUMP_BYTES)? as u8;
    if !passable(bytes, poll) {
        return None;
    }
    bytes[poll.at as usize..][..SHORT_JUMP_BYTES as usize].copy_from_slice(&[SHORT_JUMP, displacement]);
    Some(BackEdge { at: poll.at + 1, polls: displacement, passes: displacement + PASSED, word: poll.word })
}

/// Whether those who come to a poll may pass it.
fn passable(bytes: &[u8], poll: Poll) -> bool {
    let branch = poll.compare() as usize + COMPARE;
    // The entry's word asks too little of loops to be theirs; those that look at it are arms of trials, which always poll.
    poll.word != context::poll_low && bytes.get(branch..branch + BRANCH.len()) == Some(&BRANCH[..])
}

/// The jump whose displacement is at `at` and leads to a poll's comparison, if one byte of it leads it behind the poll.
fn back_edge(bytes: &[u8], at: usize, poll: Poll) -> Option<BackEdge> {
    if !passable(bytes, poll) {
        return None;
    }
    let polls = bytes[at];
    Some(BackEdge { at: at as u32, polls, passes: polls.checked_add(PASSED)?, word: poll.word })
}

/// Where the bytes before `behind` lead, if they are a jump.
fn target(bytes: &[u8], start: u32, behind: u32) -> Option<u32> {
    let block = bytes.get(start as usize..behind as usize)?;
    let (before, displacement) = block.split_last_chunk::<DISPLACEMENT>()?;
    let jumps = match before {
        [.., 0x0f, condition] if condition & 0xf0 == 0x80 => true,
        [.., opcode] => *opcode == 0xe9,
        [] => false,
    };
    jumps.then(|| behind.wrapping_add_signed(i32::from_le_bytes(*displacement)))
}

/// Lets the branch that ends at `behind` lead to `target`.
pub(crate) fn set_target(bytes: &mut [u8], behind: u32, target: u32) {
    let at = behind as usize - DISPLACEMENT;
    bytes[at..behind as usize].copy_from_slice(&target.wrapping_sub(behind).to_le_bytes());
}

fn find(polls: &[Poll], at: u32) -> Option<Poll> {
    polls.binary_search_by_key(&at, |poll| poll.at).ok().map(|index| polls[index])
}

/// Whether the last instruction of a block's part is a direct jump to `target`.
fn ends_with_jump(block: &[u8], start: u32, target: u32) -> bool {
    use FlowControl::{Call, ConditionalBranch, IndirectCall, Next, UnconditionalBranch};
    let mut decoder = Decoder::with_ip(64, block, start.into(), DecoderOptions::NONE);
    let mut last = Instruction::default();
    while decoder.can_decode() {
        decoder.decode_out(&mut last);
        let goes_on = matches!(last.flow_control(), Next | Call | IndirectCall | ConditionalBranch);
        if last.is_invalid() || (decoder.can_decode() && !goes_on) {
            return false;
        }
    }
    matches!(last.flow_control(), ConditionalBranch | UnconditionalBranch) && last.near_branch64() == u64::from(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLL: Poll = Poll { at: 3, filler: 5, word: 0x368 };
    /// Bytes before the block that a test gives: what stands before the poll, and the poll.
    const BEFORE: i32 = 3 + 5 + PASSED as i32;

    /// What leads who falls into it.
    const FALLS_IN: BackEdge = BackEdge { at: 4, polls: 3, passes: 3 + PASSED, word: 0x368 };

    /// Three bytes, a poll, and a block that is given.
    fn code(block: &[u8]) -> Vec<u8> {
        [&[0x90; 3][..], &[0x0f, 0x1f, 0x44, 0, 0], &[0x4d, 0x3b, 0xbc, 0x27, 0x68, 3, 0, 0], &[0x0f, 0x82, 0, 1, 0, 0], block].concat()
    }

    /// The block and its back edges, whose places count from its first byte. Besides them there is the filler's.
    fn after(block: &[u8]) -> (Vec<u8>, Vec<BackEdge>) {
        let mut bytes = code(block);
        let end = bytes.len() as u32;
        let Jumps { back_edges: mut edges, loops, .. } = lead(&mut bytes, &[0, 3, BEFORE as u32], end, &[POLL]);
        assert_eq!(edges.remove(0), FALLS_IN);
        for (edge, it) in edges.iter().zip(&loops) {
            assert_eq!(*it, Loop { start: BEFORE as u32, end: edge.at + 4 });
        }
        edges.iter_mut().for_each(|edge| edge.at -= BEFORE as u32);
        (bytes[BEFORE as usize..].to_vec(), edges)
    }

    /// The displacement from behind `length` bytes of the block to the filler.
    fn to_filler(length: i32) -> [u8; 4] {
        (3 - (BEFORE + length)).to_le_bytes()
    }

    fn over_filler(length: i32) -> [u8; 4] {
        (8 - (BEFORE + length)).to_le_bytes()
    }

    fn edge(at: u32, length: i32) -> BackEdge {
        let polls = over_filler(length)[0];
        BackEdge { at, polls, passes: polls + 14, word: 0x368 }
    }

    #[test]
    fn jumps_to_a_header_go_behind_its_filler_and_one_byte_leads_them_behind_its_poll() {
        // inc eax; jmp
        let (block, edges) = after(&[&[0xff, 0xc0, 0xe9][..], &to_filler(7)].concat());
        assert_eq!((&block[..], &edges[..]), (&[&[0xff, 0xc0, 0xe9][..], &over_filler(7)].concat()[..], &[edge(3, 7)][..]));
        let mut passing = block;
        passing[3] = edges[0].passes;
        let jump = Decoder::with_ip(64, &passing[2..], BEFORE as u64 + 2, DecoderOptions::NONE).decode();
        assert_eq!(jump.near_branch64(), BEFORE as u64, "behind the poll the block begins");
        // jne
        assert_eq!(after(&[&[0x0f, 0x85][..], &to_filler(6)].concat()), ([&[0x0f, 0x85][..], &over_filler(6)].concat(), vec![edge(2, 6)]));
        // jne; jmp, either of them
        let elsewhere = 1000i32.to_le_bytes();
        let both = |first: [u8; 4], second: [u8; 4]| [&[0x0f, 0x84][..], &first, &[0xe9], &second].concat();
        assert_eq!(after(&both(to_filler(6), elsewhere)), (both(over_filler(6), elsewhere), vec![edge(2, 6)]));
        assert_eq!(after(&both(elsewhere, to_filler(11))), (both(elsewhere, over_filler(11)), vec![edge(7, 11)]));
        assert_eq!(after(&both(to_filler(6), to_filler(11))), (both(over_filler(6), over_filler(11)), vec![edge(2, 6), edge(7, 11)]));
    }

    #[test]
    fn who_falls_into_a_header_jumps_over_the_filler_or_the_poll() {
        let mut bytes = code(&[0xc3]);
        let before = bytes.clone();
        assert_eq!(
            lead(&mut bytes, &[0, 3, BEFORE as u32], BEFORE as u32 + 1, &[POLL]),
            Jumps { back_edges: vec![FALLS_IN], ..Jumps::default() }
        );
        assert_eq!((&bytes[..3], &bytes[8..]), (&before[..3], &before[8..]));
        let target = |bytes: &[u8]| Decoder::with_ip(64, &bytes[3..8], 3, DecoderOptions::NONE).decode().near_branch64();
        assert_eq!(target(&bytes), 8, "as compiled it polls");
        bytes[4] = FALLS_IN.passes;
        assert_eq!(target(&bytes), BEFORE as u64, "behind the poll the block begins");
        // A filler with no room for a jump stays, and so does one in front of another branch; the entry's word is looked at by all.
        for (poll, byte) in [(Poll { at: 7, filler: 1, ..POLL }, 0x82), (POLL, 0x83), (Poll { word: context::poll_low, ..POLL }, 0x82)] {
            let mut bytes = before.clone();
            bytes[3 + 5 + COMPARE + 1] = byte;
            let same = bytes.clone();
            assert_eq!(lead(&mut bytes, &[0, 3, BEFORE as u32], BEFORE as u32 + 1, &[poll]), Jumps::default());
            assert_eq!(bytes, same);
        }
    }

    #[test]
    fn a_jump_of_which_more_than_one_byte_would_change_always_polls() {
        let mut polled = 0;
        for fill in 0..300 {
            let length = fill + 5;
            let (block, edges) = after(&[&vec![0x90; fill as usize][..], &[0xe9], &to_filler(length)].concat());
            assert_eq!(block[fill as usize + 1..], over_filler(length), "it goes behind the filler all the same");
            let low = over_filler(length)[0];
            assert_eq!(edges.is_empty(), low > u8::MAX - PASSED, "{fill}");
            polled += i32::from(edges.is_empty());
        }
        assert!((14..=28).contains(&polled), "{polled} of 300");
    }

    #[test]
    fn the_entrys_word_and_other_branches_make_no_back_edge() {
        let jump = [&[0xe9][..], &to_filler(5)].concat();
        let mut bytes = code(&jump);
        let end = bytes.len() as u32;
        let of_entry = Poll { word: context::poll_low, ..POLL };
        assert_eq!(lead(&mut bytes, &[0, 3, BEFORE as u32], end, &[of_entry]).back_edges, []);
        let mut bytes = code(&jump);
        bytes[3 + 5 + COMPARE + 1] = 0x83; // jae
        let jumps = lead(&mut bytes, &[0, 3, BEFORE as u32], end, &[POLL]);
        assert_eq!(jumps, Jumps { loops: vec![Loop { start: 8, end }], ..Jumps::default() }, "a loop all the same");
        // One without a poll, of two blocks; and a jump ahead.
        let mut bytes = [&[0x90; 3][..], &[0x0f, 0x84, 0xf7, 0xff, 0xff, 0xff, 0xe9, 1, 0, 0, 0], &[0x90, 0xc3]].concat();
        let jumps = lead(&mut bytes, &[0, 3, 14, 15], 16, &[]);
        assert_eq!(jumps, Jumps { loops: vec![Loop { start: 0, end: 9 }], ..Jumps::default() });
    }

    #[test]
    fn what_looks_like_a_jump_stays() {
        for block in [
            // sub ecx, constant: its bytes end like a jmp.
            [&[0x81, 0xe9][..], &to_filler(6)].concat(),
            // mov rax, constant
            [&[0x48, 0xb8, 0, 0, 0x0f, 0x85][..], &to_filler(10)].concat(),
            // A jump through a table, and the table: jmp rax; jmp
            [&[0xff, 0xe0, 0xe9][..], &to_filler(7)].concat(),
            // Constants behind the code: ret; jmp
            [&[0xc3, 0xe9][..], &to_filler(6)].concat(),
            // Somewhere else: jmp
            [&[0xe9][..], &to_filler(6)].concat(),
            // call
            [&[0xe8][..], &to_filler(5)].concat(),
        ] {
            assert_eq!(after(&block), (block, Vec::new()));
        }
    }

    #[test]
    fn where_a_loop_dispatches_is_known() {
        // mov eax, ecx; or a branch to the next one; jmp rax; two bytes of a table; jmp back, in a block of its own
        let start = BEFORE as u32;
        for (first, expected) in [([0x89, 0xc8], vec![Loop { start, end: start + 4 }]), ([0x75, 0], Vec::new())] {
            let mut bytes = code(&[&first[..], &[0xff, 0xe0, 0, 0, 0xe9], &to_filler(11)].concat());
            let end = bytes.len() as u32;
            let jumps = lead(&mut bytes, &[0, 3, start, start + 6], end, &[POLL]);
            assert_eq!((jumps.loops, jumps.dispatches), (vec![Loop { start, end }], expected));
        }
    }
}
