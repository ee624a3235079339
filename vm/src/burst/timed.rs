//! The clock of loads: `lfence; rdtsc; lfence; load; lfence; rdtsc`, as `lwp_feedback::calibrate` measures the plateaus.

use crate::layout::{BURST_WORDS, context, store};
use std::arch::naked_asm;

const MASK: u32 = BURST_WORDS as u32 - 1;

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
        "mov [r9 + {index}], edx",
        "pop r10", "pop r9", "pop r8", "pop rdx", "pop rcx", "pop rax",
        "ret",
        store = const context::store,
        buffer = const store::burst_buffer,
        index = const store::burst_index,
        mask = const MASK,
    )
}
