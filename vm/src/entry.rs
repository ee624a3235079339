//! The ways into wasm code and out of it: the entry stub, the landing of traps, the builtin thunks and the resolver of lazy stubs.
//!
//! Wasm runs on its own stack ([`crate::stack`]), Rust on the host's. `enter` switches to the wasm stack, a builtin's thunk back to the host's
//! and to wasm again. A trap drops the wasm frames by restoring the host stack of the innermost `enter`: only compiled frames
//! lie between, and those have no destructors.
//!
//! Invariants:
//! 1. While wasm runs, r15 holds the running context, whose `store` leads to [`VmStoreContext`].
//! 2. `store.entry` is the host stack pointer inside the innermost `enter`, below it exactly the words that `land` pops.
//! 3. `store.host_sp` is 16-byte aligned, and so is `store.wasm_sp`; everything above `wasm_sp` on the wasm stack is in use.
//! 4. While Rust runs inside wasm, `store.exit_fp` is the frame pointer of the thunk that left: `[exit_fp]` is the wasm frame's, `[exit_fp + 8]` its pc.

use crate::layout::{VmContext, VmStoreContext, context, store};
use std::arch::naked_asm;

/// Calls `adapter(code, slots)` on the wasm stack in `context`. Returns 0 after a normal return, 1 when a trap landed here.
///
/// # Safety
/// `adapter` is the enter adapter of `code`'s signature, `slots` holds its arguments and has room for its results; `context` and `store` are live and
/// belong together, and the calling thread is the one that runs this store.
#[unsafe(naked)]
pub unsafe extern "sysv64" fn enter(
    adapter: usize,
    code: usize,
    slots: *mut u64,
    context: *mut VmContext,
    store: *mut VmStoreContext,
) -> u32 {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "push qword ptr [r8 + {entry}]",
        "push qword ptr [r8 + {host_sp}]",
        "push qword ptr [r8 + {wasm_sp}]",
        "push qword ptr [r8 + {exit_fp}]",
        "push r8",
        "mov [r8 + {entry}], rsp",
        "mov [r8 + {host_sp}], rsp",
        "mov rbx, r8",
        "mov r15, rcx",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rsp, [r8 + {wasm_sp}]",
        "call rax",
        "mov rsp, [rbx + {entry}]",
        "xor eax, eax",
        "jmp {leave}",
        leave = sym leave,
        entry = const store::entry,
        host_sp = const store::host_sp,
        wasm_sp = const store::wasm_sp,
        exit_fp = const store::exit_fp,
    )
}

/// Where a trap continues: rsp is `store.entry`. Makes the innermost `enter` return 1, or where an exception was thrown that compiled code of
/// its activation catches goes on there. Never called, only jumped to.
#[unsafe(naked)]
pub unsafe extern "sysv64" fn land() {
    naked_asm!(
        "mov r11, [rsp]",
        "cmp dword ptr [r11 + {unwinding}], 2",
        "je 2f",
        "mov eax, 1",
        "jmp {leave}",
        // An exception that this activation catches: wasm goes on. While it runs, both words are as `enter` found them (the builtin's thunk changed them).
        "2:",
        "mov dword ptr [r11 + {unwinding}], 0",
        "mov rcx, [rsp + 8]",
        "mov [r11 + {exit_fp}], rcx",
        "mov rcx, [rsp + 16]",
        "mov [r11 + {wasm_sp}], rcx",
        "mov rax, [r11 + {object}]",
        "mov rbp, [r11 + {fp}]",
        "mov rcx, [r11 + {pc}]",
        "mov rsp, [r11 + {sp}]",
        "jmp rcx",
        leave = sym leave,
        unwinding = const store::unwinding,
        exit_fp = const store::exit_fp,
        wasm_sp = const store::wasm_sp,
        object = const store::landing_object,
        fp = const store::landing_fp,
        pc = const store::landing_pc,
        sp = const store::landing_sp,
    )
}

/// The end of `enter`, whichever way it came: rsp is `store.entry` (invariant 2), eax the result. Never called, only jumped to.
#[unsafe(naked)]
unsafe extern "sysv64" fn leave() {
    naked_asm!(
        "pop r8",
        "pop qword ptr [r8 + {exit_fp}]",
        "pop qword ptr [r8 + {wasm_sp}]",
        "pop qword ptr [r8 + {host_sp}]",
        "pop qword ptr [r8 + {entry}]",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
        entry = const store::entry,
        host_sp = const store::host_sp,
        wasm_sp = const store::wasm_sp,
        exit_fp = const store::exit_fp,
    )
}

/// A thunk around a System V builtin of up to six integer arguments (the first is the context).
macro_rules! thunk {
    ($name:ident, $target:path) => {
        #[doc = concat!("Switches to the host stack for [`", stringify!($target), "`].")]
        #[unsafe(naked)]
        pub unsafe extern "sysv64" fn $name() {
            std::arch::naked_asm!(
                "push rbp",
                "mov rbp, rsp",
                "mov rax, [r15 + {store}]",
                "push qword ptr [rax + {wasm_sp}]",
                "push qword ptr [rax + {exit_fp}]",
                "mov [rax + {exit_fp}], rbp",
                "mov [rax + {wasm_sp}], rsp",
                "mov rsp, [rax + {host_sp}]",
                "call {target}",
                "mov r11, [r15 + {store}]",
                "cmp dword ptr [r11 + {unwinding}], 0",
                "jne 2f",
                "mov rsp, [r11 + {wasm_sp}]",
                "pop qword ptr [r11 + {exit_fp}]",
                "pop qword ptr [r11 + {wasm_sp}]",
                "pop rbp",
                "ret",
                "2:",
                "mov rsp, [r11 + {entry}]",
                "jmp {land}",
                store = const $crate::layout::context::store,
                wasm_sp = const $crate::layout::store::wasm_sp,
                exit_fp = const $crate::layout::store::exit_fp,
                host_sp = const $crate::layout::store::host_sp,
                unwinding = const $crate::layout::store::unwinding,
                entry = const $crate::layout::store::entry,
                target = sym $target,
                land = sym $crate::entry::land,
            )
        }
    };
}
pub(crate) use thunk;

/// A thunk around a System V function that neither raises nor looks at the guest: it only runs on the host stack.
macro_rules! plain_thunk {
    ($name:ident, $target:path) => {
        #[doc = concat!("Switches to the host stack for [`", stringify!($target), "`].")]
        #[unsafe(naked)]
        pub unsafe extern "sysv64" fn $name() {
            std::arch::naked_asm!(
                "push rbp",
                "mov rbp, rsp",
                "mov rax, [r15 + {store}]",
                "mov rsp, [rax + {host_sp}]",
                "call {target}",
                "mov rsp, rbp",
                "pop rbp",
                "ret",
                store = const $crate::layout::context::store,
                host_sp = const $crate::layout::store::host_sp,
                target = sym $target,
            )
        }
    };
}
pub(crate) use plain_thunk;

/// The thunk of [`Builtin::ValueSample`](crate::builtin::Builtin::ValueSample): keeps every register (PreserveAll), puts the context in front of
/// its arguments and the return address, which lies right behind the site, behind them, and never raises.
#[unsafe(naked)]
pub unsafe extern "sysv64" fn value_sample_thunk() {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rax", "push rcx", "push rdx", "push rsi", "push rdi", "push r8", "push r9", "push r10", "push r11",
        "sub rsp, 264",
        "movdqu [rsp], xmm0", "movdqu [rsp + 16], xmm1", "movdqu [rsp + 32], xmm2", "movdqu [rsp + 48], xmm3",
        "movdqu [rsp + 64], xmm4", "movdqu [rsp + 80], xmm5", "movdqu [rsp + 96], xmm6", "movdqu [rsp + 112], xmm7",
        "movdqu [rsp + 128], xmm8", "movdqu [rsp + 144], xmm9", "movdqu [rsp + 160], xmm10", "movdqu [rsp + 176], xmm11",
        "movdqu [rsp + 192], xmm12", "movdqu [rsp + 208], xmm13", "movdqu [rsp + 224], xmm14", "movdqu [rsp + 240], xmm15",
        "mov rdx, rsi",
        "mov rsi, rdi",
        "mov rdi, r15",
        "mov rcx, [rbp + 8]",
        "mov rax, [r15 + {store}]",
        "push qword ptr [rax + {wasm_sp}]",
        "push qword ptr [rax + {exit_fp}]",
        "mov [rax + {exit_fp}], rbp",
        "mov [rax + {wasm_sp}], rsp",
        "mov rsp, [rax + {host_sp}]",
        "call {target}",
        "mov r11, [r15 + {store}]",
        "mov rsp, [r11 + {wasm_sp}]",
        "pop qword ptr [r11 + {exit_fp}]",
        "pop qword ptr [r11 + {wasm_sp}]",
        "movdqu xmm0, [rsp]", "movdqu xmm1, [rsp + 16]", "movdqu xmm2, [rsp + 32]", "movdqu xmm3, [rsp + 48]",
        "movdqu xmm4, [rsp + 64]", "movdqu xmm5, [rsp + 80]", "movdqu xmm6, [rsp + 96]", "movdqu xmm7, [rsp + 112]",
        "movdqu xmm8, [rsp + 128]", "movdqu xmm9, [rsp + 144]", "movdqu xmm10, [rsp + 160]", "movdqu xmm11, [rsp + 176]",
        "movdqu xmm12, [rsp + 192]", "movdqu xmm13, [rsp + 208]", "movdqu xmm14, [rsp + 224]", "movdqu xmm15, [rsp + 240]",
        "add rsp, 264",
        "pop r11", "pop r10", "pop r9", "pop r8", "pop rdi", "pop rsi", "pop rdx", "pop rcx", "pop rax",
        "pop rbp",
        "ret",
        store = const context::store,
        wasm_sp = const store::wasm_sp,
        exit_fp = const store::exit_fp,
        host_sp = const store::host_sp,
        target = sym crate::builtins::value_sample,
    )
}

/// Where every lazy stub leads: asks Rust for the code to call, and jumps there with the arguments as they came (tail convention: up to
/// six integers in rdi, rsi, rdx, rcx, r8, r9, eight floats in xmm0–7, the rest on the stack).
#[unsafe(naked)]
pub unsafe extern "sysv64" fn resolve_thunk() {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9",
        "sub rsp, 128",
        "movdqu [rsp], xmm0", "movdqu [rsp + 16], xmm1", "movdqu [rsp + 32], xmm2", "movdqu [rsp + 48], xmm3",
        "movdqu [rsp + 64], xmm4", "movdqu [rsp + 80], xmm5", "movdqu [rsp + 96], xmm6", "movdqu [rsp + 112], xmm7",
        "mov rax, [r15 + {store}]",
        "push qword ptr [rax + {wasm_sp}]",
        "push qword ptr [rax + {exit_fp}]",
        "mov [rax + {exit_fp}], rbp",
        "mov [rax + {wasm_sp}], rsp",
        "mov rsp, [rax + {host_sp}]",
        "mov rdi, r15",
        "call {target}",
        "mov r11, [r15 + {store}]",
        "cmp dword ptr [r11 + {unwinding}], 0",
        "jne 2f",
        "mov rsp, [r11 + {wasm_sp}]",
        "pop qword ptr [r11 + {exit_fp}]",
        "pop qword ptr [r11 + {wasm_sp}]",
        "mov r11, rax",
        "movdqu xmm0, [rsp]", "movdqu xmm1, [rsp + 16]", "movdqu xmm2, [rsp + 32]", "movdqu xmm3, [rsp + 48]",
        "movdqu xmm4, [rsp + 64]", "movdqu xmm5, [rsp + 80]", "movdqu xmm6, [rsp + 96]", "movdqu xmm7, [rsp + 112]",
        "add rsp, 128",
        "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
        "pop rbp",
        "jmp r11",
        "2:",
        "mov rsp, [r11 + {entry}]",
        "jmp {land}",
        store = const context::store,
        wasm_sp = const store::wasm_sp,
        exit_fp = const store::exit_fp,
        host_sp = const store::host_sp,
        unwinding = const store::unwinding,
        entry = const store::entry,
        target = sym crate::builtins::resolve,
        land = sym land,
    )
}
