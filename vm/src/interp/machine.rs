//! The state of a running activation: what stays in registers ([`Regs`]), and what does not ([`Exec`]).

use super::callee::CallTarget;
use super::stack::{FrameRecord, InterpStack};
use crate::bytecode::{Inst, Slot, Target};
use crate::layout::{VmContext, VmMemory};
use crate::runtime::Next;
use crate::tiering::ModuleCode;
use crate::trap::{Outcome, TrapCode, Unwind};
use std::sync::atomic::{AtomicU32, Ordering};

/// What an op's body says about how to go on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// With the op at `ip`.
    Next,
    /// With [`super::ops::slow`], for the op at `ip`: kept apart so that the quick way needs no stack frame.
    Slow,
    /// The activation is over; [`Exec::outcome`] says how.
    Stop,
}

/// Mode of an op's body: which of its operands is the latest result. 0: none.
pub(crate) const FIRST: u8 = 1;
/// See [`FIRST`].
pub(crate) const SECOND: u8 = 2;

/// What every op may use. Passed by value from op to op, so that it stays in machine registers.
#[derive(Clone, Copy)]
pub(super) struct Regs {
    /// The op being executed.
    pub(super) ip: *const Inst,
    /// Slot 0 of the frame.
    pub(super) sp: *mut u64,
    /// Base of memory 0.
    pub(super) memory: *mut u8,
    /// Bytes of memory 0, as of the last time that anything else ran.
    pub(super) memory_length: usize,
    pub(super) exec: *mut Exec,
    /// The latest result, as in its slot. An op whose operand that is reads it here: a slot that was written just now is slow to read (7 cycles
    /// where an addition takes 1).
    pub(super) accumulator: u64,
}

impl Regs {
    /// No op at all.
    pub(super) const NONE: Regs = Regs {
        ip: std::ptr::null(),
        sp: std::ptr::null_mut(),
        memory: std::ptr::null_mut(),
        memory_length: 0,
        exec: std::ptr::null_mut(),
        accumulator: 0,
    };
}

/// One activation of the interpreter.
pub(crate) struct Exec {
    pub(super) context: *mut VmContext,
    pub(super) interp: *mut InterpStack,
    pub(super) code: *const ModuleCode,
    /// The running frame.
    pub(super) frame: *mut FrameRecord,
    /// The activation's first frame.
    pub(super) first_frame: *mut FrameRecord,
    /// Copy of the stack's.
    pub(super) frames_end: *mut FrameRecord,
    /// Copy of the stack's.
    pub(super) values_end: *mut u64,
    /// Countdown words of the module's own functions.
    pub(super) counters: *mut AtomicU32,
    /// The module's own functions.
    pub(super) targets: *const CallTarget,
    /// Memory 0, or null where there is none or it is no plain one.
    pub(super) memory: *const VmMemory,
    pub(super) imported_functions: u32,
    /// Offset from the context of the own functions' `VmFunc`s and of the table references.
    pub(super) functions_place: i32,
    pub(super) tables_place: i32,
    /// See `tables_place`.
    pub(super) memories_place: i32,
    /// How whoever began the activation goes on where it ended well.
    pub(super) next: Next,
    /// What stopped came out of compiled code that had taken over the running frame.
    pub(super) frame_left: bool,
    pub(super) outcome: Outcome,
    /// Registers on their way from a slow op to the next, or from templates into the loop; those that a rare operator works on.
    pub(super) saved: Regs,
}

impl Exec {
    /// First byte of memory 0; any address where there is none.
    pub(super) fn memory_base(&self) -> *mut u8 {
        if self.memory.is_null() {
            return std::ptr::dangling_mut();
        }
        // SAFETY: the instance's memory lives as long as its store.
        unsafe { (*self.memory).base }
    }

    /// Bytes of memory 0 now.
    pub(super) fn memory_length(&self) -> usize {
        if self.memory.is_null() {
            return 0;
        }
        // SAFETY: the instance's memory lives as long as its store.
        unsafe { (*self.memory).length.load(Ordering::Relaxed) }
    }
}

/// Makes the frames visible to what is called next: invariant 1 of the stack.
///
/// # Safety
/// `exec` is the running activation and `ip` the op of its running frame.
pub(super) unsafe fn publish(exec: *mut Exec, ip: *const Inst) {
    // SAFETY: the caller's promise.
    unsafe {
        (*(*exec).frame).ip = ip;
        (*(*exec).interp).frame_top = (*exec).frame.add(1);
    }
}

/// Ends the activation with a trap at `ip`.
///
/// # Safety
/// As [`publish`].
#[cold]
#[inline(never)]
pub(super) unsafe extern "C" fn raise(exec: *mut Exec, ip: *const Inst, code: TrapCode) {
    // SAFETY: the caller's promise.
    unsafe {
        publish(exec, ip);
        (*exec).outcome = Err(crate::runtime::trap((*exec).context, code));
    }
}

/// Ends the activation with what something it called returned.
///
/// # Safety
/// As [`publish`].
#[cold]
#[inline(never)]
pub(super) unsafe fn stop(exec: *mut Exec, unwind: Box<Unwind>) -> Flow {
    // SAFETY: the caller's promise.
    unsafe { (*exec).outcome = Err(unwind) };
    Flow::Stop
}

/// Access to the frame. Safety of all: the slot is below the frame's `frame_slots`, which invariant 1 of `crate::bytecode` gives for every operand.
impl Regs {
    #[inline(always)]
    pub(super) unsafe fn address(&self, slot: Slot) -> *mut u64 {
        // SAFETY: see above.
        unsafe { self.sp.add(slot.0 as usize) }
    }

    #[inline(always)]
    pub(super) unsafe fn u64(&self, slot: Slot) -> u64 {
        // SAFETY: see above.
        unsafe { *self.address(slot) }
    }

    #[inline(always)]
    pub(super) unsafe fn u32(&self, slot: Slot) -> u32 {
        // SAFETY: see above.
        unsafe { self.u64(slot) as u32 }
    }

    /// The op's first operand: in mode [`FIRST`] it is the latest result.
    #[inline(always)]
    pub(super) unsafe fn first<const M: u8>(&self, slot: Slot) -> u64 {
        if M == FIRST {
            return self.accumulator;
        }
        // SAFETY: see above.
        unsafe { self.u64(slot) }
    }

    /// The op's second operand: in mode [`SECOND`] it is the latest result.
    #[inline(always)]
    pub(super) unsafe fn second<const M: u8>(&self, slot: Slot) -> u64 {
        if M == SECOND {
            return self.accumulator;
        }
        // SAFETY: see above.
        unsafe { self.u64(slot) }
    }

    #[inline(always)]
    pub(super) unsafe fn set(&mut self, slot: Slot, value: impl SlotValue) {
        // SAFETY: see above.
        unsafe {
            self.accumulator = value.bits();
            *self.address(slot) = self.accumulator;
        }
    }

    /// Goes on with the next op.
    #[inline(always)]
    pub(super) unsafe fn next(&mut self) -> Flow {
        // SAFETY: an op that goes on is never the last one.
        self.ip = unsafe { self.ip.add(1) };
        Flow::Next
    }

    /// Goes on with the jump's target.
    #[inline(always)]
    pub(super) unsafe fn jump(&mut self, target: Target) -> Flow {
        // SAFETY: targets lie inside the function's ops.
        self.ip = unsafe { self.ip.offset(target.0 as isize) };
        if target.0 < 0 {
            // Only loop headers lie behind. Running it here saves a dispatch an iteration.
            // SAFETY: as above.
            return unsafe { super::ops::back_edge(self) };
        }
        Flow::Next
    }

    #[inline(always)]
    pub(super) unsafe fn jump_if(&mut self, condition: bool, target: Target) -> Flow {
        // SAFETY: as `next` and `jump`.
        unsafe { if condition { self.jump(target) } else { self.next() } }
    }

    /// Ends the activation with a trap at this op.
    #[inline(always)]
    pub(super) unsafe fn trap(&self, code: TrapCode) -> Flow {
        // SAFETY: `exec` and `ip` are the running ones.
        unsafe { raise(self.exec, self.ip, code) };
        Flow::Stop
    }

    /// Reads the memory's length again, after something that may have grown it.
    #[inline(always)]
    pub(super) unsafe fn reload_memory(&mut self) {
        // SAFETY: `exec` is live.
        self.memory_length = unsafe { (*self.exec).memory_length() };
    }
}

/// A value as slot bits (invariant 4 of `crate::layout`).
pub(super) trait SlotValue {
    fn bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
}

macro_rules! slot_values {
    ($($ty:ty: $value:ident => $bits:expr, $from:expr;)*) => {
        $(impl SlotValue for $ty {
            #[inline(always)]
            fn from_bits($value: u64) -> Self {
                $from
            }

            #[inline(always)]
            fn bits(self) -> u64 {
                let $value = self;
                $bits
            }
        })*
    };
}
slot_values! {
    u64: value => value, value;
    i64: value => value as u64, value as i64;
    u32: value => value as u64, value as u32;
    i32: value => value as u32 as u64, value as i32;
    bool: value => value as u64, value != 0;
    f32: value => value.to_bits() as u64, f32::from_bits(value as u32);
    f64: value => value.to_bits(), f64::from_bits(value);
}
