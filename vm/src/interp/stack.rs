//! The interpreter's own stack: values and frames of all its live activations, innermost last.
//!
//! Frames of one call chain overlap: a callee's first slots are the caller's argument slots. Invariants:
//! 1. `frame_top` is current whenever code other than the interpreter's loop runs, and so is the `ip` of every frame below it.
//! 2. A frame's `code` outlives the frame: it belongs to the module of an instance that lives as long as the store.
//! 3. The slots of the innermost frame end at or below `values_end`; what lies above them is free for the next activation.

use crate::bytecode::{Bytecode, Inst};
use crate::mapping::{Mapping, PAGE};
use std::io;

/// Value slots of a store's interpreter: 32 MiB of address space, touched as it is used. With [`MOST_FRAMES`] it lets recursion go deeper than the
/// 1 MiB stack that other engines give compiled code: a frame of 32 slots 128 Ki times.
const VALUE_SLOTS: usize = 4 << 20;
/// Deepest nesting of interpreted calls in one store.
const MOST_FRAMES: usize = 128 << 10;

/// One frame.
#[derive(Clone, Copy)]
pub(super) struct FrameRecord {
    /// The op it is at: while it calls, the call.
    pub(super) ip: *const Inst,
    /// Its slot 0.
    pub(super) sp: *mut u64,
    /// Its function.
    pub(super) code: *const Bytecode,
}

/// The interpreter's stack of one store. Reserved at the first call.
#[derive(Debug)]
pub struct InterpStack {
    mapping: Option<Mapping>,
    values: *mut u64,
    pub(super) values_end: *mut u64,
    frames: *mut FrameRecord,
    pub(super) frames_end: *mut FrameRecord,
    /// One past the innermost frame.
    pub(super) frame_top: *mut FrameRecord,
}

// SAFETY: it owns its memory, and no thread but the one that has the store reads or writes it.
unsafe impl Send for InterpStack {}
// SAFETY: `&InterpStack` only reads frames, which change only while the store is borrowed mutably or runs.
unsafe impl Sync for InterpStack {}

const VALUES_BYTES: usize = VALUE_SLOTS * size_of::<u64>();
const FRAMES_BYTES: usize = (MOST_FRAMES * size_of::<FrameRecord>()).next_multiple_of(PAGE);
/// What a stack keeps of its memory when it is discarded, of values and of frames each.
const KEPT_BYTES: usize = 64 << 10;
const _: () = assert!(VALUES_BYTES.is_multiple_of(PAGE));

impl InterpStack {
    /// An empty stack.
    pub fn new() -> io::Result<InterpStack> {
        Ok(InterpStack {
            mapping: None,
            values: std::ptr::null_mut(),
            values_end: std::ptr::null_mut(),
            frames: std::ptr::null_mut(),
            frames_end: std::ptr::null_mut(),
            frame_top: std::ptr::null_mut(),
        })
    }

    /// Reserves the stack if that has not happened.
    ///
    /// # Errors
    /// The system has no address space for it.
    pub(crate) fn prepare(&mut self) -> io::Result<()> {
        if !self.values.is_null() {
            return Ok(());
        }
        let mapping = Mapping::reserve(VALUES_BYTES + FRAMES_BYTES)?;
        mapping.open(0, mapping.length())?;
        self.values = mapping.base().cast();
        // SAFETY: the values lie in the mapping, and the frames behind them.
        unsafe {
            self.values_end = self.values.add(VALUE_SLOTS);
            self.frames = self.values_end.cast();
            self.frames_end = self.frames.add(MOST_FRAMES);
        }
        self.frame_top = self.frames;
        self.mapping = Some(mapping);
        Ok(())
    }

    /// Whether [`Self::prepare`] was called.
    pub(super) fn is_prepared(&self) -> bool {
        self.mapping.is_some()
    }

    /// Gives most of its memory back to the system. No frame is live.
    pub(crate) fn discard(&mut self) {
        debug_assert_eq!(self.depth(), 0, "its frames would be gone");
        if let Some(mapping) = &self.mapping {
            mapping.discard(KEPT_BYTES, VALUES_BYTES - KEPT_BYTES);
            mapping.discard(VALUES_BYTES + KEPT_BYTES, FRAMES_BYTES - KEPT_BYTES);
        }
    }

    /// How many frames are live.
    pub fn depth(&self) -> usize {
        if self.frames.is_null() {
            return 0;
        }
        // SAFETY: both point into the frames' allocation (or one past it), `frame_top` at or above `frames`.
        unsafe { self.frame_top.offset_from(self.frames) as usize }
    }

    /// The first slot that no frame uses. The stack is prepared.
    pub(super) fn free_slots(&self) -> *mut u64 {
        if self.frame_top == self.frames {
            return self.values;
        }
        // SAFETY: there is a frame below `frame_top`, its code is live (invariant 2) and its slots are inside the values (invariant 3).
        unsafe {
            let frame = *self.frame_top.sub(1);
            frame.sp.add((*frame.code).frame_slots as usize)
        }
    }

    /// Calls `f` with what is in every slot of every frame, those included that were not written yet.
    pub(crate) fn for_each_word(&self, f: &mut dyn FnMut(u64)) {
        if self.values.is_null() {
            return;
        }
        let mut slot = self.values;
        let end = self.free_slots();
        while slot < end {
            // SAFETY: inside the values' allocation (invariant 3); volatile, since a slot may never have been written.
            f(unsafe { slot.read_volatile() });
            slot = slot.wrapping_add(1);
        }
    }

    /// Function index and wasm byte offset of the frames with indices in `[first, last)`, innermost first. Frames of one activation belong to
    /// one instance, which the caller knows.
    pub fn frames_between(&self, first: usize, last: usize) -> impl Iterator<Item = (u32, Option<u32>)> + '_ {
        let last = last.min(self.depth());
        (first..last).rev().map(|index| {
            // SAFETY: the index is below the depth, so the frame is initialized; its code is live (invariant 2) and its ip inside its ops.
            unsafe {
                let frame = *self.frames.add(index);
                let code = &*frame.code;
                let pc = frame.ip.offset_from(code.ops.as_ptr()) as u32;
                (code.function, code.offset_at(pc))
            }
        })
    }

    /// Address of the op that the innermost frame is at, as records of the interpreter carry it; `None` where there is no frame from index `first` on.
    pub(crate) fn innermost_address(&self, first: usize) -> Option<u64> {
        let last = self.depth().checked_sub(1).filter(|&last| last >= first)?;
        // SAFETY: the index is below the depth, so the frame is initialized.
        Some(unsafe { (*self.frames.add(last)).ip } as u64)
    }
}
