//! What templates know of a function that they call.

use crate::bytecode::{Bytecode, Inst};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// Slots of the largest frame that templates work on or make: displacements have 31 bits.
pub(super) const MOST_SLOTS: u32 = 1 << 24;

/// A function of a module as its callers find it: where its compiled code is, and what its frame in the interpreter is made of. Read by [`super::template`] by offset. All that a
/// call looks at is one line of the cache: a program that has many functions finds most of them far away.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct CallTarget {
    /// Where its compiled code is entered, or null: interpret.
    pub(crate) compiled: AtomicPtr<u8>,
    /// All ones, but 0 of a function that is interpreted even where it has compiled code.
    pub(super) leaves: AtomicUsize,
    /// The first op. Null until the function is translated, and of frames that take the slow way.
    pub(super) ops: AtomicPtr<Inst>,
    pub(super) code: AtomicPtr<Bytecode>,
    /// The frame, and a slot more: locals are zeroed two at a time.
    pub(super) frame_bytes: AtomicU32,
    /// Where the locals that are no parameters begin in it and end.
    pub(super) zeroed_from: AtomicU32,
    pub(super) zeroed_to: AtomicU32,
    /// Byte offset of the function's countdown word among all.
    pub(super) counter: u32,
    /// The enter adapter of its signature, or null until known.
    pub(crate) adapter: AtomicPtr<u8>,
}

const _: () = assert!(size_of::<CallTarget>() == 64);

impl CallTarget {
    /// Of a function that is not translated yet, by its index among the defined ones.
    pub(crate) fn new(own: usize) -> CallTarget {
        CallTarget { leaves: AtomicUsize::new(usize::MAX), counter: (own * size_of::<u32>()) as u32, ..CallTarget::default() }
    }

    /// Its compiled code, where it has some and is not interpreted nevertheless.
    #[inline(always)]
    pub(crate) fn compiled_to_call(&self) -> Option<usize> {
        let compiled = self.compiled.load(Ordering::Acquire) as usize;
        (compiled & self.leaves.load(Ordering::Relaxed) != 0).then_some(compiled)
    }

    /// The function was translated. `code` stays where it is as long as this.
    pub(crate) fn translated(&self, code: &Bytecode) {
        const SLOT: u32 = size_of::<u64>() as u32;
        if code.frame_slots >= MOST_SLOTS {
            return;
        }
        if code.brief {
            self.leaves.store(0, Ordering::Relaxed);
        }
        self.code.store((&raw const *code).cast_mut(), Ordering::Relaxed);
        self.frame_bytes.store((code.frame_slots + 1) * SLOT, Ordering::Relaxed);
        self.zeroed_from.store(code.param_slots * SLOT, Ordering::Relaxed);
        self.zeroed_to.store(code.local_slots * SLOT, Ordering::Relaxed);
        // Release: whoever finds the ops finds the rest.
        self.ops.store(code.ops.as_ptr().cast_mut(), Ordering::Release);
    }
}
