//! Atomic operators, on any memory.
//!
//! Operands lie in consecutive slots: the address, then the values. An i32's form and an i64's of the same width do the same to the bits of a slot.

use super::far::{memory_of, place};
use crate::bytecode::Slot;
use crate::interp::machine::{Flow, Regs, publish, stop};
use crate::operations;
use crate::trap::TrapCode;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

/// Where an access of `bytes` bytes lies, checked; else the trap.
unsafe fn cell(regs: &Regs, base: Slot, memory: u32, offset: u64, bytes: u64) -> Result<*mut u8, TrapCode> {
    // SAFETY: see `super`.
    unsafe {
        if !regs.u64(base).wrapping_add(offset).is_multiple_of(bytes) {
            return Err(TrapCode::HeapMisaligned);
        }
        place(regs, base, memory, offset, bytes).ok_or(TrapCode::MemoryOutOfBounds)
    }
}

macro_rules! atomics {
    ($($module:ident $atomic:ty, $bits:ty;)*) => {
        $(
            /// Accesses of one width.
            pub(in crate::interp) mod $module {
                use super::*;

                atomics!(@one $atomic, $bits;
                    load |cell, _a, _b| cell.load(Ordering::SeqCst);
                    add |cell, a, _b| cell.fetch_add(a, Ordering::SeqCst);
                    sub |cell, a, _b| cell.fetch_sub(a, Ordering::SeqCst);
                    and |cell, a, _b| cell.fetch_and(a, Ordering::SeqCst);
                    or |cell, a, _b| cell.fetch_or(a, Ordering::SeqCst);
                    xor |cell, a, _b| cell.fetch_xor(a, Ordering::SeqCst);
                    exchange |cell, a, _b| cell.swap(a, Ordering::SeqCst);
                    compare_exchange |cell, a, b| match cell.compare_exchange(a, b, Ordering::SeqCst, Ordering::SeqCst) {
                        Ok(before) | Err(before) => before,
                    };
                );

                pub(in crate::interp) unsafe fn store(regs: &mut Regs, base: Slot, memory: u32, offset: u64) -> Flow {
                    // SAFETY: see `super`; the place was checked and is aligned.
                    unsafe {
                        match cell(regs, base, memory, offset, size_of::<$bits>() as u64) {
                            Ok(place) => (*place.cast::<$atomic>()).store(regs.u64(Slot(base.0 + 1)) as $bits, Ordering::SeqCst),
                            Err(code) => return regs.trap(code),
                        }
                        Flow::Next
                    }
                }
            }
        )*
    };
    (@one $atomic:ty, $bits:ty; $($name:ident |$cell:ident, $a:ident, $b:ident| $body:expr;)*) => {
        $(
            pub(in crate::interp) unsafe fn $name(regs: &mut Regs, base: Slot, memory: u32, offset: u64) -> Flow {
                // SAFETY: see `super`; the place was checked and is aligned. (A slot behind the operands is of the frame's values or unused.)
                unsafe {
                    let place = match cell(regs, base, memory, offset, size_of::<$bits>() as u64) {
                        Ok(place) => place,
                        Err(code) => return regs.trap(code),
                    };
                    let $cell = &*place.cast::<$atomic>();
                    let ($a, $b) = (regs.u64(Slot(base.0 + 1)) as $bits, regs.u64(Slot(base.0 + 2)) as $bits);
                    let before: $bits = $body;
                    regs.set(base, before as u64);
                    Flow::Next
                }
            }
        )*
    };
}
atomics! {
    bits8 AtomicU8, u8;
    bits16 AtomicU16, u16;
    bits32 AtomicU32, u32;
    bits64 AtomicU64, u64;
}

pub(in crate::interp) unsafe fn atomic_fence(_: &mut Regs, _: Slot, _: u32, _: u64) -> Flow {
    fence(Ordering::SeqCst);
    Flow::Next
}

/// (address, expected, timeout)
unsafe fn wait<const BYTES: u64>(regs: &mut Regs, base: Slot, memory: u32, offset: u64) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        publish(regs.exec, regs.ip);
        let [address, expected, timeout] = [0, 1, 2].map(|index| regs.u64(Slot(base.0 + index)));
        match operations::atomic_wait((*regs.exec).context, memory, address, offset, expected, timeout as i64, BYTES) {
            Ok(result) => regs.set(base, result),
            Err(unwind) => return stop(regs.exec, unwind),
        }
        Flow::Next
    }
}

pub(in crate::interp) unsafe fn wait32(regs: &mut Regs, base: Slot, memory: u32, offset: u64) -> Flow {
    // SAFETY: see `super`.
    unsafe { wait::<4>(regs, base, memory, offset) }
}

pub(in crate::interp) unsafe fn wait64(regs: &mut Regs, base: Slot, memory: u32, offset: u64) -> Flow {
    // SAFETY: see `super`.
    unsafe { wait::<8>(regs, base, memory, offset) }
}

pub(in crate::interp) unsafe fn notify(regs: &mut Regs, base: Slot, memory: u32, offset: u64) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        debug_assert!(!memory_of(regs, memory).is_null());
        publish(regs.exec, regs.ip);
        let (address, count) = (regs.u64(base), regs.u64(Slot(base.0 + 1)) as u32);
        match operations::atomic_notify((*regs.exec).context, memory, address, offset, count) {
            Ok(result) => regs.set(base, result),
            Err(unwind) => return stop(regs.exec, unwind),
        }
        Flow::Next
    }
}
