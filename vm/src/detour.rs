//! The detour: what a function's compiled body begins with. Calls fall through it into the body, or jump elsewhere, to an instrumented body mostly, while a burst asks for it.
//!
//! One byte says which: `test eax, displacement` and `jmp displacement` differ in nothing else, and where functions are entered no flag holds anything.
//! So calls have one target for good. Calls by an entry pointer that had led elsewhere for a burst took longer ever after: a processor that has seen two targets of an indirect branch looks them up by history
//! (AMD EPYC, Zen 3 and Zen 5; `fib` in C took 1.3 to 1.6 times its time after a single exchange, and no longer than before after 200 detours).
#![forbid(unsafe_code)]

use crate::arena::CodeBlock;

/// `test eax, imm32`.
const TEST: u8 = 0xa9;
/// `jmp rel32`.
const JUMP: u8 = 0xe9;
/// Bytes of either.
const LENGTH: usize = 5;
/// What the byte behind it is a multiple of: so its displacement is an aligned word, and all of it lies in one of eight bytes.
const ALIGNMENT: usize = 8;
/// Bytes in front of code that are enough for it, where that is aligned.
pub const ROOM: usize = ALIGNMENT;
/// One instruction that does nothing, by length (AMD64 manual, volume 3, `NOP`).
pub const NOPS: [&[u8]; 10] = [
    &[],
    &[0x90],
    &[0x66, 0x90],
    &[0x0f, 0x1f, 0],
    &[0x0f, 0x1f, 0x40, 0],
    &[0x0f, 0x1f, 0x44, 0, 0],
    &[0x66, 0x0f, 0x1f, 0x44, 0, 0],
    &[0x0f, 0x1f, 0x80, 0, 0, 0, 0],
    &[0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0],
    &[0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0],
];

/// Where in a block a detour stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detour(usize);

impl Detour {
    /// That of code which begins there, if there is room in front of it.
    pub(crate) fn before(begins: usize) -> Option<Detour> {
        (begins - begins % ALIGNMENT).checked_sub(LENGTH).map(Detour)
    }

    /// Where calls enter, in the block.
    pub(crate) fn begins(self) -> usize {
        self.0
    }

    /// Its bytes up to the code, which calls fall through; where that is not aligned there is a nop between.
    pub(crate) fn code(self, begins: usize) -> Vec<u8> {
        [&[TEST, 0, 0, 0, 0], NOPS[begins - self.0 - LENGTH]].concat()
    }

    /// Calls go to an address in code memory, or fall through again.
    pub(crate) fn lead(self, block: &CodeBlock, to: Option<usize>) {
        if let Some(to) = to {
            // (all code lies within half a gigabyte)
            let displacement = to.wrapping_sub(block.address() + self.0 + LENGTH) as i32;
            block.set_displacement(self.0 + 1, displacement);
        }
        block.set_byte(self.0, if to.is_some() { JUMP } else { TEST });
    }
}

/// Bytes that [`is_front`] looks at.
pub(crate) const FRONT: usize = LENGTH + ALIGNMENT + PROLOGUE.len();
/// What a body begins with: push rbp; mov rbp, rsp.
const PROLOGUE: [u8; 4] = [0x55, 0x48, 0x89, 0xe5];

/// Whether code begins with a detour or the nop behind one: where a function is about to push its caller's frame. Async-signal-safe.
pub(crate) fn is_front(code: &[u8; FRONT]) -> bool {
    let body_behind = |bytes: &[u8], nop: &[u8]| bytes.strip_prefix(nop).is_some_and(|body| body.starts_with(&PROLOGUE));
    match code[0] {
        TEST | JUMP => NOPS[..ALIGNMENT].iter().any(|nop| body_behind(&code[LENGTH..], nop)),
        _ => NOPS[1..ALIGNMENT].iter().any(|nop| body_behind(code, nop)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lies_in_eight_bytes_in_front_of_the_code_wherever_that_begins() {
        assert!(Detour::before(7).is_none());
        for begins in 8..80 {
            let detour = Detour::before(begins).unwrap();
            assert_eq!((detour.begins() / 8, (detour.begins() + 1) % 4), ((detour.begins() + LENGTH - 1) / 8, 0));
            let code = detour.code(begins);
            assert_eq!(detour.begins() + code.len(), begins);
            assert!(code.len() < LENGTH + ALIGNMENT);
            // Both are the front of a body, and that is not.
            let all = [&code[..], &PROLOGUE, &[0xcc; FRONT]].concat();
            let front = |at: usize| is_front(all[at..at + FRONT].try_into().unwrap());
            assert!(front(0) && front(LENGTH) == (begins % 8 != 0) && !front(code.len()) && !front(code.len() + 1), "{begins}");
            // What falls through is two instructions at most.
            let mut decoder = iced_x86::Decoder::new(64, &code, iced_x86::DecoderOptions::NONE);
            let decoded: Vec<_> = decoder.iter().map(|it| it.mnemonic()).collect();
            assert!(matches!(decoded[..], [iced_x86::Mnemonic::Test] | [iced_x86::Mnemonic::Test, iced_x86::Mnemonic::Nop]), "{decoded:?}");
        }
    }

    #[test]
    fn calls_fall_through_or_go_elsewhere() {
        // mov eax, imm32; ret
        let returns = |value: u8| [0xb8, value, 0, 0, 0, 0xc3];
        let mut block = CodeBlock::new(128, 64).unwrap();
        let detour = Detour::before(21).unwrap();
        let mut bytes = detour.code(21);
        bytes.extend(returns(1));
        block.fill(detour.begins(), &bytes);
        let mut others = [2, 3].map(|value| {
            let mut other = CodeBlock::new(64, 64).unwrap();
            other.fill(0, &returns(value));
            other
        });
        let call = || crate::arena::tests::call(block.address() + detour.begins());
        assert_eq!(call(), 1);
        for (other, value) in others.iter_mut().zip([2, 3]) {
            detour.lead(&block, Some(other.address()));
            assert_eq!(call(), value);
        }
        detour.lead(&block, None);
        assert_eq!(call(), 1);
    }
}
