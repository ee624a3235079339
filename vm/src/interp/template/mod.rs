//! Templates: a function's ops strung together as machine code, in place of jumping from handler to handler.
//!
//! Enters: a [`Bytecode`] whose function was called a few times. Leaves: the same bytecode, with native code as the handlers of most of its ops. The
//! idea is that of dynamic superinstructions (Piumarta and Riccardi, "Optimizing direct threaded code by selective inlining", PLDI 1998; Ertl and
//! Gregg, 2003): each op's code is a template with its operands filled in, so that decoding and the indirect jump behind each op are gone.
//!
//! Invariants:
//! 1. Where an op begins, all is as the interpreter has it: [`Regs`](super::machine::Regs) in the same registers, but for `ip`, which is known there; every slot in memory; the accumulator
//!    where `crate::bytecode`'s `modes` says that it is used. So the interpreter may go on at each op, and a template takes over from it at each: no frame is ever converted.
//! 2. An op whose quick way does not apply, or that has no template, leaves for its handler before it changed anything, with `ip` set. Traps, slow calls, polls and countdowns that ran out
//!    are the handlers' alone; a call of compiled code is left for code of its own, which is a handler in all else.
//! 3. Templates call nothing, push nothing and touch no register that the System V ABI has callee keep: a handler that jumps to one cannot tell it from another handler.
//! 4. The code is outside of what [`crate::arena::contains`] names: signals find an interpreted frame.
//! 5. A load or store whose address the memory's guard catches is not checked: the signal's handler goes on with the op's ([`resume_after_fault`]), which checks and traps. So an op accesses memory
//!    before it changes anything.

mod asm;
mod control;
mod emit;
mod float;
mod integer;
mod memory;
mod shared;
mod table;
#[cfg(test)]
mod tests;

use super::callee::MOST_SLOTS;
use super::machine::Exec;
use crate::arena::CodeBlock;
use crate::bytecode::Bytecode;
pub(crate) use emit::Surroundings;
pub(crate) use shared::shared_templates;
use std::sync::atomic::Ordering;

/// Ops of the largest function that gets templates: displacements have 31 bits.
const MOST_OPS: usize = 1 << 20;

/// A function's templates.
#[derive(Debug)]
pub(crate) struct Templates {
    block: CodeBlock,
    /// Offset of each op, never less than that of the one before.
    starts: Box<[u32]>,
    /// Ops that have none, by index, sorted.
    refused: Box<[u32]>,
}

impl Templates {
    /// Makes a function's templates; nothing leads to them before [`Templates::publish`]. `None`: it goes on as it was.
    pub(crate) fn make(bytecode: &Bytecode, surroundings: &Surroundings) -> Option<Templates> {
        if bytecode.ops.len() > MOST_OPS || bytecode.frame_slots > MOST_SLOTS || bytecode.is_watched() {
            return None;
        }
        let shared = shared::shared()?;
        let mut emitted = emit::emit(bytecode, surroundings, shared);
        let code = &mut emitted.assembler.code;
        let mut block = match CodeBlock::for_templates(code.len()) {
            Ok(block) => block,
            Err(error) => {
                tracing::debug!(function = bytecode.function, error, "no templates");
                return None;
            }
        };
        for &(place, pc) in &emitted.leaving {
            shared.leaving.fill(code, place, &bytecode.ops[pc].op, block.address());
        }
        for &(place, address) in &emitted.outside {
            asm::fill(code, place, address as i64 - (block.address() + place + 4) as i64);
        }
        block.fill(0, code);
        let templates = Templates { block, starts: (*emitted.starts).into(), refused: (*emitted.refused).into() };
        emitted.recycle();
        Some(templates)
    }

    /// Puts them in place of the ops' handlers, for whoever runs the function or will.
    pub(crate) fn publish(&self, bytecode: &Bytecode) {
        let mut refused = self.refused.iter().peekable();
        for (pc, (inst, start)) in bytecode.ops.iter().zip(&self.starts).enumerate() {
            if refused.next_if(|&&op| op as usize == pc).is_some() || inst.op.is_operand() {
                continue;
            }
            // Release: whoever finds the address finds the code.
            inst.handler.0.store(self.address() + *start as usize, Ordering::Release);
        }
    }

    /// Where the code is.
    pub(crate) fn address(&self) -> usize {
        self.block.address()
    }

    /// What stands there.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.block.copy(0..self.block.length())
    }

    /// The op whose template an address is in.
    fn op_at(&self, address: usize) -> Option<usize> {
        let offset = address.checked_sub(self.address()).filter(|&offset| offset < self.block.length())?;
        self.starts.partition_point(|&start| start as usize <= offset).checked_sub(1)
    }
}

/// The op that a fault at `pc`, which is in the memory of templates, interrupted before it changed anything, and code to go on with where `rdi` is that op: its handler, which
/// finds out what is wrong. Async-signal-safe.
///
/// # Safety
/// A template of this activation was interrupted.
pub(crate) unsafe fn resume_after_fault(exec: *const Exec, pc: usize) -> Option<(usize, usize)> {
    // SAFETY: the caller's promise; whoever's template runs has the running frame (invariant 1).
    let code = unsafe { &*(*(*exec).frame).code };
    let inst = &code.ops[code.templates()?.op_at(pc)?];
    Some(((&raw const *inst) as usize, shared::shared()?.leaving.handler(&inst.op)))
}
