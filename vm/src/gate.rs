//! The gate: what calls of a function reach whose body is on trial. It takes one off the function's countdown and jumps to one of the two versions.
//!
//! The versions are then the code that they stand for, without a count, and the one that wins is the code that was timed. And no call that is made again and again has two targets: which version comes next
//! is said by the displacement of a direct jump, which is written at each switch. Calls by an entry pointer that changed with each block gave the version that came first an advantage of 2 to 30 %: a
//! processor (Zen 5) has an indirect branch's first target beside the branch and looks further ones up by history, which takes longer.
#![forbid(unsafe_code)]

use crate::arena::{CodeBlock, PERIOD};
use crate::layout::context;

/// Bytes of a gate.
const BYTES: usize = 32;
/// What its address is a multiple of.
const ALIGNMENT: usize = 64;
/// Where in it the displacement is that says where it leads to.
const DISPLACEMENT: usize = 16;

/// What a gate is made for.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// Which of the module's own functions.
    pub own: usize,
    /// Where a call goes that finds the countdown used up: the function's lazy stub.
    pub used_up: usize,
}

/// A gate in code memory. Given back when dropped.
#[derive(Debug)]
pub(crate) struct PlacedGate(CodeBlock);

impl PlacedGate {
    /// What calls are to reach.
    pub(crate) fn address(&self) -> usize {
        self.0.address()
    }

    /// What stands there, for tools outside.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.copy(0..BYTES)
    }

    /// From now on it leads to an address in code memory.
    pub(crate) fn lead(&self, to: usize) {
        self.0.set_displacement(DISPLACEMENT, displacement(self.address(), to));
    }
}

impl Gate {
    /// Places it, leading to code at an address, as far from that as from what it is compared with: half a [`PERIOD`] in the lower bits, and in another stretch of so many bytes than either.
    pub(crate) fn placed(self, to: usize, compared_with: Option<usize>) -> Result<PlacedGate, String> {
        let arms = [to, compared_with.unwrap_or(to)];
        // (where the reservation is small there may be no such place)
        let mut block = CodeBlock::beside_but_apart(BYTES, (to + PERIOD / 2) & !(ALIGNMENT - 1), &arms)
            .or_else(|_| CodeBlock::new(BYTES, ALIGNMENT))?;
        block.fill(0, &self.code(block.address(), to));
        Ok(PlacedGate(block))
    }

    /// Its code at an address, leading to another. Nothing that holds an argument is written: r11 is free where functions are entered.
    fn code(self, at: usize, to: usize) -> Vec<u8> {
        let mut code = Vec::with_capacity(BYTES);
        // mov r11, [r15 + counters]
        code.extend([0x4d, 0x8b, 0x5f, context::counters as u8]);
        // sub dword ptr [r11 + 4 * own], 1
        code.extend([0x41, 0x83, 0xab]);
        code.extend(((4 * self.own) as i32).to_le_bytes());
        code.push(1);
        // js used_up; nop
        code.extend([0x78, 0x06, 0x90]);
        // jmp to
        code.push(0xe9);
        debug_assert_eq!(code.len(), DISPLACEMENT);
        code.extend(displacement(at, to).to_le_bytes());
        // used_up: jmp
        code.push(0xe9);
        let next = at + code.len() + 4;
        code.extend((self.used_up.wrapping_sub(next) as i32).to_le_bytes());
        code.resize(BYTES, 0xcc);
        code
    }
}

/// What the gate at an address holds where it leads to another.
fn displacement(at: usize, to: usize) -> i32 {
    // (all code lies within half a gigabyte)
    to.wrapping_sub(at + DISPLACEMENT + 4) as i32
}

const _: () = assert!(context::counters >= -128 && context::counters < 128);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_and_jumps() {
        let code = Gate { own: 3, used_up: 0x5000 }.code(0x1000, 0x40);
        assert_eq!(code.len(), BYTES);
        assert_eq!(code[4..12], [0x41, 0x83, 0xab, 12, 0, 0, 0, 1]);
        let target = |at: usize| (0x1000 + at as i64 + 4 + i64::from(i32::from_le_bytes(code[at..at + 4].try_into().unwrap()))) as usize;
        assert_eq!((code[15], target(16)), (0xe9, 0x40));
        // 12: js over the jump to the other.
        assert_eq!((code[12], 14 + usize::from(code[13]), code[20], target(21)), (0x78, 20, 0xe9, 0x5000));
    }
}
