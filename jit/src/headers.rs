//! Jumps to a loop's header, led behind the filler that stands in front of its poll.
//!
//! A poll is a `nop` and a comparison in the bytes of three instructions ([`markers`](crate::markers)). The `nop` takes a slot of each round, unless those who jump to
//! the header jump over it; only who falls into it goes through it.
//!
//! Enters: the code, where its blocks begin, where the fillers are. A block's last instructions are looked at only where the bytes at its end would be a
//! jump to a filler, and changed only if they are: the block is decoded from its first instruction, for the same bytes may be a constant of the program's. Behind an
//! instruction that does not go on (before a jump table, or the constants behind the last block) nothing is taken for code.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};

/// A filler: its first byte and how many it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filler {
    pub(crate) at: u32,
    pub(crate) length: u32,
}

/// Bytes of a jump's displacement, which is its last part.
const DISPLACEMENT: usize = 4;
/// Bytes of `jmp rel32`.
const JUMP: usize = 5;

/// Leads jumps over fillers, which are in ascending order, as are the blocks' first bytes `starts`. `end` is the code's last byte and one.
pub(crate) fn skip_fillers(bytes: &mut [u8], starts: &[u32], end: u32, fillers: &[Filler]) {
    if fillers.is_empty() {
        return;
    }
    let ends = starts.iter().skip(1).copied().chain([end]);
    for (start, end) in starts.iter().copied().zip(ends) {
        // A block ends with a jump, with a conditional one, or with one of each.
        for behind in [end, end.saturating_sub(JUMP as u32)] {
            if let Some(filler) = target(bytes, start, behind).and_then(|target| find(fillers, target))
                && ends_with_jump(&bytes[start as usize..behind as usize], start, filler.at)
            {
                let at = behind as usize - DISPLACEMENT;
                let displacement = i32::from_le_bytes(bytes[at..at + DISPLACEMENT].try_into().expect("four bytes"));
                bytes[at..at + DISPLACEMENT].copy_from_slice(&(displacement + filler.length as i32).to_le_bytes());
            }
        }
    }
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

fn find(fillers: &[Filler], at: u32) -> Option<Filler> {
    fillers.binary_search_by_key(&at, |filler| filler.at).ok().map(|index| fillers[index])
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

    const FILLER: Filler = Filler { at: 3, length: 5 };

    /// Three bytes, the filler, and a block that is given.
    fn code(block: &[u8]) -> Vec<u8> {
        [&[0x90; 3][..], &[0x0f, 0x1f, 0x44, 0, 0], block].concat()
    }

    fn after(block: &[u8]) -> Vec<u8> {
        let mut bytes = code(block);
        let end = bytes.len() as u32;
        skip_fillers(&mut bytes, &[0, 3, 8], end, &[FILLER]);
        bytes[8..].to_vec()
    }

    /// The displacement from behind `length` bytes of the block to the filler.
    fn to_filler(length: i32) -> [u8; 4] {
        (3 - (8 + length)).to_le_bytes()
    }

    fn over_filler(length: i32) -> [u8; 4] {
        (8 - (8 + length)).to_le_bytes()
    }

    #[test]
    fn jumps_to_a_header_go_behind_its_filler() {
        // inc eax; jmp
        assert_eq!(after(&[&[0xff, 0xc0, 0xe9][..], &to_filler(7)].concat()), [&[0xff, 0xc0, 0xe9][..], &over_filler(7)].concat());
        // jne
        assert_eq!(after(&[&[0x0f, 0x85][..], &to_filler(6)].concat()), [&[0x0f, 0x85][..], &over_filler(6)].concat());
        // jne; jmp, either of them
        let elsewhere = 1000i32.to_le_bytes();
        let both = |first: [u8; 4], second: [u8; 4]| [&[0x0f, 0x84][..], &first, &[0xe9], &second].concat();
        assert_eq!(after(&both(to_filler(6), elsewhere)), both(over_filler(6), elsewhere));
        assert_eq!(after(&both(elsewhere, to_filler(11))), both(elsewhere, over_filler(11)));
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
            assert_eq!(after(&block), block);
        }
    }
}
