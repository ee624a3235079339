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
//!    are the handlers' alone.
//! 3. Templates call nothing, push nothing and touch no register that the System V ABI has callee keep: a handler that jumps to one cannot tell it from another handler.
//! 4. The code is outside of what [`crate::arena::contains`] names: signals find an interpreted frame.

mod asm;
mod control;
mod emit;
mod float;
mod integer;
mod memory;
mod table;
#[cfg(test)]
mod tests;

use crate::arena::CodeBlock;
use crate::bytecode::Bytecode;
pub(crate) use emit::Callee;
use std::sync::atomic::Ordering;

/// Ops of the largest function that gets templates, and slots of the largest frame: displacements have 31 bits.
const MOST_OPS: usize = 1 << 20;
const MOST_SLOTS: u32 = 1 << 24;

/// A function's templates.
#[derive(Debug)]
pub(crate) struct Templates {
    block: CodeBlock,
}

impl Templates {
    /// Makes a function's templates and puts them in place of its ops' handlers, for whoever runs it or will. `None`: it goes on as it was.
    ///
    /// `callees`: what is known of a function that it calls.
    pub(crate) fn install(bytecode: &Bytecode, callees: &dyn Fn(u32) -> Option<Callee>) -> Option<Templates> {
        if bytecode.ops.len() > MOST_OPS || bytecode.frame_slots > MOST_SLOTS || bytecode.is_watched() {
            return None;
        }
        let emitted = emit::emit(bytecode, callees);
        let mut block = match CodeBlock::for_templates(emitted.code.len()) {
            Ok(block) => block,
            Err(error) => {
                tracing::debug!(function = bytecode.function, error, "no templates");
                return None;
            }
        };
        block.fill(0, &emitted.code);
        for (inst, entry) in bytecode.ops.iter().zip(&emitted.entries) {
            if let Some(offset) = entry {
                // Release: whoever finds the address finds the code.
                inst.handler.0.store(block.address() + *offset as usize, Ordering::Release);
            }
        }
        Some(Templates { block })
    }

    /// Where the code is.
    pub(crate) fn address(&self) -> usize {
        self.block.address()
    }

    /// What stands there.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.block.copy(0..self.block.length())
    }
}
