//! The clock of loads: `lfence; rdtsc; lfence; load; lfence; rdtsc`, as `lwp_feedback::calibrate` measures the plateaus.

use crate::layout::{BURST_WORDS, context, store};
use std::arch::naked_asm;

const MASK: u32 = BURST_WORDS as u32 - 1;

/// Loads a register's value at the probe into RAX and appends it; EDX is the index, R8 the buffer.
macro_rules! append {
    ($load:literal) => {
        concat!($load, "\nmov r10d, edx\nand r10d, {mask}\nmov [r8 + r10*8], rax\ninc edx")
    };
}

/// `fn(context, first byte, last byte, probe)`, PreserveAll: times a load of the first and the last byte of an access (of two lines where it lies on
/// two, whose misses overlap as they would) and appends (probe, ticks) and the address. The caller has checked that both bytes are there.
#[unsafe(naked)]
pub(crate) unsafe extern "sysv64" fn timed_load_thunk() {
    naked_asm!(
        "push rax", "push rcx", "push rdx", "push r8", "push r9", "push r10",
        "mov r8, rdx",
        "mov r9, [rdi + {store}]",
        "lfence",
        "rdtsc",
        "lfence",
        "mov r10d, eax",
        "movzx eax, byte ptr [rsi]",
        "movzx edx, byte ptr [r8]",
        "lfence",
        "rdtsc",
        "sub eax, r10d",
        "mov r8, [r9 + {buffer}]",
        "mov edx, [r9 + {index}]",
        "shl rax, 32",
        "mov ecx, ecx",
        "or rax, rcx",
        "mov r10d, edx",
        "and r10d, {mask}",
        "mov [r8 + r10*8], rax",
        "inc edx",
        "mov r10d, edx",
        "and r10d, {mask}",
        "mov [r8 + r10*8], rsi",
        "inc edx",
        // The registers as the program's code has them (`Registers::PROBE`), where they are wanted: the stack holds what was pushed above.
        "cmp dword ptr [r9 + {registers}], 0",
        "je 2f",
        append!("mov rax, [rsp + 40]"),
        append!("mov rax, rbx"),
        append!("mov rax, rbp"),
        append!("lea rax, [rsp + 56]"),
        append!("mov rax, [rsp + 16]"),
        append!("mov rax, [rsp + 8]"),
        append!("mov rax, [rsp]"),
        append!("mov rax, r11"),
        append!("mov rax, r12"),
        append!("mov rax, r13"),
        append!("mov rax, r14"),
        append!("mov rax, r15"),
        "2:",
        "mov [r9 + {index}], edx",
        "pop r10", "pop r9", "pop r8", "pop rdx", "pop rcx", "pop rax",
        "ret",
        store = const context::store,
        buffer = const store::burst_buffer,
        index = const store::burst_index,
        registers = const store::burst_registers,
        mask = const MASK,
    )
}
