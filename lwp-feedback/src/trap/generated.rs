//! LWP instructions that a JIT put into its own code, executed on a ring: what its signal handler does with a SIGILL in that code.
//!
//! Unlike the handler of [`super::install`] this needs no LLWPCB: the caller knows which ring its thread's records go to.

use libc::c_void;

use super::registers::Registers;
use crate::instruction::{LwpInstruction, RegisterOrMemory};
use crate::layout::Lwpcb;
use crate::ring::{count_value, store_programmed};

/// Most bytes of an instruction.
const LONGEST: usize = 15;

/// Executes the LWPVAL or LWPINS at the interrupted instruction, in its register form, and goes on behind it. False, with nothing
/// changed, where anything else stands there. Async-signal-safe where the signal interrupted generated code.
///
/// # Safety
/// `context` is what the kernel passed to the running signal handler; the interrupted instruction's bytes, and 14 behind them, are
/// readable; `lwpcb` is from [`Ring::lwpcb`](crate::ring::Ring::lwpcb), its ring is alive, and this thread is the only one that
/// produces into it.
pub unsafe fn execute_in_ring(context: *mut c_void, lwpcb: *mut Lwpcb) -> bool {
    // SAFETY: the caller's contract.
    let mut registers = unsafe { Registers::of_context(context) };
    let ip = registers.ip();
    // SAFETY: readable by the caller's contract.
    let bytes = unsafe { (ip as *const [u8; LONGEST]).read() };
    let Some((instruction, length)) = LwpInstruction::decode(&bytes, 64) else { return false };
    match instruction {
        LwpInstruction::Lwpval { first, wide, operand: RegisterOrMemory::Register(data1), imm } => {
            // SAFETY: the caller's contract.
            unsafe { count_value(lwpcb, ip, imm, registers.get(data1) as u32, registers.sized(first, wide)) };
        }
        LwpInstruction::Lwpins { first, wide, operand: RegisterOrMemory::Register(data1), imm } => {
            // SAFETY: the caller's contract.
            let full = unsafe { store_programmed(lwpcb, ip, imm, registers.get(data1) as u32, registers.sized(first, wide)) };
            registers.set_carry(full != 0);
        }
        _ => return false,
    }
    registers.set_ip(ip + length as u64);
    true
}
