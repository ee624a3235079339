//! From op to op. Two ways with the same bodies (`super::ops`), chosen by how this crate is compiled (`build.rs`):
//!
//! *Threaded*: each op is a function that ends in a call of the next op's, whose address lies beside the op, with the same signature. Where LLVM optimizes (level 2 and up) this is a
//! jump, registers hold [`Regs`], and each op has its own indirect jump for the branch predictor. The tests of this file would overflow the
//! stack if it were not. *Loop*: a `match` in a loop, for builds without that optimization.

use super::machine::{Exec, Flow, Regs};
use super::ops as bodies;
use crate::bytecode::Inst;
use crate::bytecode::Op;
use crate::bytecode::op::for_each_op;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What runs an op: the address of a function for it and all that follow, its template's ([`super::template`]) or its handler's. 0, where the op is run by its tag.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Handler(pub(super) AtomicUsize);

/// What such an address leads to.
type Code = unsafe extern "C" fn(*const Inst, *mut u64, *mut u8, usize, *mut Exec, u64);

/// Runs ops from `regs.ip` until the activation is over.
///
/// # Safety
/// `regs` describes the running frame of `regs.exec`, whose bytecode is valid.
pub(super) unsafe fn run(regs: Regs) {
    // SAFETY: the caller's promise.
    unsafe { run_ops(regs) }
}

#[cfg(all(threaded_dispatch, not(debug_assertions)))]
mod threaded {
    use super::*;
    use crate::bytecode::op::OP_COUNT;
    use crate::interp::machine::{FIRST, SECOND};
    use crate::vector::Pick;

    /// Continues with the op at `ip`.
    #[inline(always)]
    unsafe fn continue_with(regs: Regs) {
        let Regs { ip, sp, memory, memory_length, exec, accumulator } = regs;
        // SAFETY: the promise of `run`.
        unsafe {
            let code: Code = std::mem::transmute::<usize, Code>((*ip).handler.0.load(Ordering::Relaxed));
            code(ip, sp, memory, memory_length, exec, accumulator)
        }
    }

    /// The slow way of the op at `ip`, and then on.
    #[cold]
    #[inline(never)]
    unsafe extern "C" fn slow(ip: *const Inst, sp: *mut u64, memory: *mut u8, memory_length: usize, exec: *mut Exec, accumulator: u64) {
        // SAFETY: the promise of `run`.
        unsafe {
            if slow_to_exec(ip, sp, memory, memory_length, exec, accumulator) {
                continue_with((*exec).saved)
            }
        }
    }

    /// Leaves the registers in `Exec::saved`: a local of `slow` whose address is taken would make its last call no jump.
    #[inline(never)]
    unsafe fn slow_to_exec(
        ip: *const Inst,
        sp: *mut u64,
        memory: *mut u8,
        memory_length: usize,
        exec: *mut Exec,
        accumulator: u64,
    ) -> bool {
        let mut regs = Regs { ip, sp, memory, memory_length, exec, accumulator };
        // SAFETY: the promise of `run`.
        unsafe {
            let flow = bodies::slow(&mut regs);
            (*exec).saved = regs;
            flow == Flow::Next
        }
    }

    /// Instantiates a handler in the modes that `Op::reads` may ask for, by the names of the operands.
    macro_rules! handler_of {
        ($body:ident $mode:ident;) => { $body::<0> };
        ($body:ident $mode:ident; $first:ident Slot b Slot $($rest:tt)*) => { handler_of!(@two $body $mode) };
        ($body:ident $mode:ident; $first:ident Slot value Slot $($rest:tt)*) => { handler_of!(@two $body $mode) };
        ($body:ident $mode:ident; value Slot $($rest:tt)*) => { handler_of!(@two $body $mode) };
        ($body:ident $mode:ident; a Slot $($rest:tt)*) => { handler_of!(@one $body $mode) };
        ($body:ident $mode:ident; address Slot $($rest:tt)*) => { handler_of!(@one $body $mode) };
        ($body:ident $mode:ident; src Slot $($rest:tt)*) => { handler_of!(@one $body $mode) };
        ($body:ident $mode:ident; index Slot $($rest:tt)*) => { handler_of!(@one $body $mode) };
        ($body:ident $mode:ident; $other:ident $ty:ident $($rest:tt)*) => { handler_of!($body $mode; $($rest)*) };
        (@one $body:ident $mode:ident) => { if $mode == FIRST { $body::<FIRST> } else { $body::<0> } };
        (@two $body:ident $mode:ident) => {
            match $mode {
                FIRST => $body::<FIRST>,
                SECOND => $body::<SECOND>,
                _ => $body::<0>,
            }
        };
    }

    macro_rules! handlers {
        ($($variant:ident $body:ident $text:literal { $($field:ident : $ty:ident),* })*) => {
            $(unsafe extern "C" fn $body<const M: u8>(
                ip: *const Inst,
                sp: *mut u64,
                memory: *mut u8,
                memory_length: usize,
                exec: *mut Exec,
                accumulator: u64,
            ) {
                let mut regs = Regs { ip, sp, memory, memory_length, exec, accumulator };
                // SAFETY: `handler` leads here for this variant only; the rest is the promise of `run`.
                unsafe {
                    let Op::$variant { $($field),* } = (*ip).op else {
                        std::hint::unreachable_unchecked()
                    };
                    match bodies::$body::<M>(&mut regs $(, $field)*) {
                        Flow::Next => continue_with(regs),
                        Flow::Slow => slow(regs.ip, regs.sp, regs.memory, regs.memory_length, regs.exec, regs.accumulator),
                        Flow::Stop => {}
                    }
                }
            })*

            fn code(op: &Op, mode: u8) -> Code {
                match op {
                    $(Op::$variant { .. } => handler_of!($body mode; $($field $ty)*),)*
                }
            }
        };
    }
    for_each_op!(handlers);

    /// Handlers of one function each; of 0 it is the one that looks at the op's.
    macro_rules! of_functions {
        ($($body:ident)*) => {
            mod of {
                $(#[allow(non_camel_case_types)]
                pub(super) struct $body;)*
            }
            $(impl Pick for of::$body {
                type Picked = Code;

                fn pick<const N: u8>() -> Code {
                    $body::<N>
                }
            })*
        };
    }
    of_functions! { vector_binary_quick vector_unary_quick vector_shift vector_splat vector_reduce vector_extract vector_load }

    /// The handler of an op, in a mode that its operands allow.
    pub(crate) fn handler(op: &Op, mode: u8) -> Handler {
        let of_function = match *op {
            Op::VectorBinaryQuick { function, .. } => function.pick::<of::vector_binary_quick>(),
            Op::VectorUnaryQuick { function, .. } => function.pick::<of::vector_unary_quick>(),
            Op::VectorShift { function, .. } => function.pick::<of::vector_shift>(),
            Op::VectorSplat { function, .. } => function.pick::<of::vector_splat>(),
            Op::VectorReduce { function, .. } => function.pick::<of::vector_reduce>(),
            Op::VectorExtract { function, .. } => function.pick::<of::vector_extract>(),
            Op::VectorLoad { function, .. } => function.pick::<of::vector_load>(),
            _ => None,
        };
        Handler(AtomicUsize::new(of_function.unwrap_or_else(|| code(op, mode)) as usize))
    }

    /// Where templates leave a call of what has compiled code, with its [`CallTarget`](super::super::callee::CallTarget) in place of the accumulator.
    unsafe extern "C" fn call_target(ip: *const Inst, sp: *mut u64, memory: *mut u8, memory_length: usize, exec: *mut Exec, target: u64) {
        let mut regs = Regs { ip, sp, memory, memory_length, exec, accumulator: 0 };
        // SAFETY: the promise of `run`, and the templates'.
        unsafe {
            match bodies::call_target(&mut regs, target as *const _) {
                Flow::Next => continue_with(regs),
                Flow::Slow => slow(regs.ip, regs.sp, regs.memory, regs.memory_length, regs.exec, regs.accumulator),
                Flow::Stop => {}
            }
        }
    }

    /// Address of that.
    pub(in crate::interp) fn caller_of_code() -> usize {
        call_target as Code as usize
    }

    macro_rules! plain {
        ($($variant:ident $body:ident $text:literal { $($field:ident : $ty:ident),* })*) => { [$($body::<0> as Code as usize),*] };
    }

    /// Addresses of the handlers that take all operands from their slots, by the op's number.
    pub(in crate::interp) fn plain_handlers() -> [usize; OP_COUNT] {
        for_each_op!(plain)
    }

    pub(super) unsafe fn run_ops(regs: Regs) {
        // SAFETY: the promise of `run`.
        unsafe { continue_with(regs) }
    }
}
#[cfg(all(threaded_dispatch, not(debug_assertions)))]
pub(crate) use threaded::handler;
#[cfg(all(threaded_dispatch, not(debug_assertions)))]
use threaded::run_ops;
#[cfg(all(threaded_dispatch, not(debug_assertions)))]
pub(super) use threaded::{caller_of_code, plain_handlers};

#[cfg(any(not(threaded_dispatch), debug_assertions))]
mod looped {
    use super::*;

    /// None: the tag says which op it is.
    pub(crate) fn handler(_: &Op, _mode: u8) -> Handler {
        Handler(AtomicUsize::new(0))
    }

    /// Runs the op's template, if it has one, and those it leads to. The op to go on with, after an op or more or none, is to be run by its tag.
    #[inline(always)]
    unsafe fn run_templates(regs: &mut Regs) {
        let Regs { ip, sp, memory, memory_length, exec, accumulator } = *regs;
        // SAFETY: the promise of `run`. Templates leave these three in `saved`, and the others as they were.
        unsafe {
            let template = (*ip).handler.0.load(Ordering::Relaxed);
            if template != 0 {
                std::mem::transmute::<usize, Code>(template)(ip, sp, memory, memory_length, exec, accumulator);
                let Regs { ip, sp, accumulator, .. } = (*exec).saved;
                *regs = Regs { ip, sp, accumulator, ..*regs };
            }
        }
    }

    macro_rules! match_op {
        ($($variant:ident $body:ident $text:literal { $($field:ident : $ty:ident),* })*) => {
            pub(super) unsafe fn run_ops(mut regs: Regs) {
                loop {
                    // SAFETY: the promise of `run`: `ip` is inside the frame's ops, and the operands fit the frame.
                    unsafe {
                        run_templates(&mut regs);
                        let mut flow = match (*regs.ip).op {
                            $(Op::$variant { $($field),* } => bodies::$body::<0>(&mut regs $(, $field)*),)*
                        };
                        if flow == Flow::Slow {
                            flow = bodies::slow(&mut regs);
                        }
                        if flow == Flow::Stop {
                            return;
                        }
                    }
                }
            }
        };
    }
    for_each_op!(match_op);
}
#[cfg(any(not(threaded_dispatch), debug_assertions))]
pub(crate) use looped::handler;
#[cfg(any(not(threaded_dispatch), debug_assertions))]
use looped::run_ops;

#[cfg(all(test, threaded_dispatch, not(debug_assertions)))]
mod tests {
    use super::*;
    use crate::bytecode::Slot;
    use crate::bytecode::op::OP_COUNT;
    use crate::vector::{Binary, Extract, Load, Reduce, Shift, Splat, Unary};
    use iced_x86::{Code as Instruction, Decoder, DecoderOptions, FlowControl, Mnemonic};
    use std::collections::BTreeSet;

    macro_rules! names {
        ($($variant:ident $body:ident $text:literal { $($field:ident : $ty:ident),* })*) => { [$(stringify!($body)),*] };
    }
    const NAMES: [&str; OP_COUNT] = for_each_op!(names);

    /// Bytes around a handler's begin that are its own, or another handler's.
    const REACH: usize = 4096;

    /// Whether some way through the code at an address ends in a call by register with nothing behind it but the frame's end: the next op's, which was to be a jump.
    fn ends_in_a_call(entry: usize) -> bool {
        // SAFETY: handlers lie in this program's own code, which is far longer than this.
        let bytes = unsafe { std::slice::from_raw_parts(entry as *const u8, REACH) };
        let mut decoder = Decoder::with_ip(64, bytes, entry as u64, DecoderOptions::NONE);
        let (mut seen, mut ways) = (BTreeSet::new(), vec![(entry as u64, false)]);
        while let Some((at, called)) = ways.pop() {
            if !(entry as u64..(entry + REACH - 16) as u64).contains(&at) || !seen.insert((at, called)) {
                continue;
            }
            decoder.set_position((at - entry as u64) as usize).unwrap();
            decoder.set_ip(at);
            let inst = decoder.decode();
            match inst.flow_control() {
                FlowControl::Return if called => return true,
                FlowControl::Return | FlowControl::IndirectBranch | FlowControl::Exception => {}
                FlowControl::UnconditionalBranch => ways.push((inst.near_branch_target(), called)),
                FlowControl::ConditionalBranch => ways.extend([(inst.near_branch_target(), called), (inst.next_ip(), called)]),
                FlowControl::IndirectCall => ways.push((inst.next_ip(), inst.code() == Instruction::Call_rm64)),
                FlowControl::Next => {
                    let leaves = matches!(inst.mnemonic(), Mnemonic::Add | Mnemonic::Pop | Mnemonic::Lea | Mnemonic::Vzeroupper);
                    ways.push((inst.next_ip(), called && leaves));
                }
                _ => ways.push((inst.next_ip(), false)),
            }
        }
        false
    }

    /// What a loop of a few million rounds would run into where one op's handler ends otherwise.
    #[test]
    fn every_handler_ends_in_a_jump() {
        let wrong: Vec<&str> = (0..OP_COUNT).filter(|&op| ends_in_a_call(plain_handlers()[op])).map(|op| NAMES[op]).collect();
        let slot = Slot(0);
        let of_functions = Binary::ALL
            .iter()
            .filter(|function| function.is_quick())
            .map(|&function| Op::VectorBinaryQuick { function, dst: slot, left: slot, right: slot })
            .chain(Unary::ALL.iter().filter(|function| function.is_quick()).map(|&function| Op::VectorUnaryQuick {
                function,
                dst: slot,
                operand: slot,
            }))
            .chain(Shift::ALL.iter().map(|&function| Op::VectorShift { function, dst: slot, vector: slot, by: slot }))
            .chain(Splat::ALL.iter().map(|&function| Op::VectorSplat { function, dst: slot, scalar: slot }))
            .chain(Reduce::ALL.iter().map(|&function| Op::VectorReduce { function, dst: slot, vector: slot }))
            .chain(Extract::ALL.iter().map(|&function| Op::VectorExtract { function, dst: slot, vector: slot, lane: 0 }))
            .chain(Load::ALL.iter().map(|&function| Op::VectorLoad { function, dst: slot, place: slot, offset: 0 }));
        let mut handlers = BTreeSet::new();
        for op in of_functions {
            let address = handler(&op, 0).0.into_inner();
            assert!(!ends_in_a_call(address), "the next op is called and not jumped to by {op:?}");
            assert_ne!(address, plain_handlers()[op.number()], "{op:?} looks its function up");
            handlers.insert(address);
        }
        // (the linker may have found some to be the same)
        assert!(handlers.len() > 150, "{} handlers", handlers.len());
        assert!(wrong.is_empty(), "the next op is called and not jumped to by {wrong:?}");
        assert!(!ends_in_a_call(caller_of_code()), "by the caller of compiled code");
    }

    #[inline(never)]
    unsafe extern "C" fn calls(next: unsafe extern "C" fn(*mut u64)) {
        let mut local = 0;
        // SAFETY: below.
        unsafe { next(&mut local) };
    }

    unsafe extern "C" fn nothing(_: *mut u64) {}

    #[test]
    fn a_call_at_the_end_is_seen() {
        // SAFETY: it does nothing.
        unsafe { calls(std::hint::black_box(nothing)) };
        assert!(ends_in_a_call(calls as *const () as usize));
    }
}
