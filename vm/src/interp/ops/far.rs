//! Loads and stores of any memory: further ones, those with 64-bit addresses, shared ones.
//!
//! The address is a whole slot: an i32's upper half is zero (invariant 4 of `crate::layout`).

use super::super::machine::{Flow, Regs, SlotValue};
use crate::bytecode::Slot;
use crate::layout::{VmMemory, VmMemoryRef};
use crate::trap::TrapCode;
use std::sync::atomic::Ordering;

/// A memory of the running instance.
///
/// # Safety
/// See `super`; the index is the module's.
#[inline(always)]
pub(in crate::interp) unsafe fn memory_of(regs: &Regs, memory: u32) -> *const VmMemory {
    // SAFETY: the references lie in the context, in the order of the index space.
    unsafe {
        let first = (*regs.exec).context.byte_offset((*regs.exec).memories_place as isize).cast::<VmMemoryRef>();
        (*first.add(memory as usize)).memory
    }
}

/// Where an access of `bytes` bytes at the address in `slot` lies, or `None` when it is out of bounds.
///
/// # Safety
/// See `super`.
#[inline(always)]
pub(in crate::interp) unsafe fn place(regs: &Regs, slot: Slot, memory: u32, offset: u64, bytes: u64) -> Option<*mut u8> {
    // SAFETY: see `super`; the memory lives as long as its store.
    unsafe {
        let memory = memory_of(regs, memory);
        let address = regs.u64(slot).checked_add(offset)?;
        let end = address.checked_add(bytes)?;
        // (Acquire: another thread may have grown it)
        if end > (*memory).length.load(Ordering::Acquire) as u64 {
            return None;
        }
        Some((*memory).base.wrapping_add(address as usize))
    }
}

/// A value in memory, little-endian, and as an i32 or i64.
pub(in crate::interp) trait Cell<R>: Copy {
    fn widen(self) -> R;
}

macro_rules! cells {
    ($($ty:ty as $($result:ty),*;)*) => {
        $($(impl Cell<$result> for $ty {
            #[inline(always)]
            fn widen(self) -> $result {
                <$ty>::from_le(self) as $result
            }
        })*)*
    };
}
cells! {
    u8 as u32;
    u16 as u32;
    u32 as u32;
    u64 as u64;
    i8 as i32, i64;
    i16 as i32, i64;
    i32 as i64;
}

pub(in crate::interp) unsafe fn load<T: Cell<R>, R: SlotValue>(regs: &mut Regs, base: Slot, memory: u32, offset: u64) -> Flow {
    // SAFETY: see `super`; the place was checked.
    unsafe {
        let Some(place) = place(regs, base, memory, offset, size_of::<T>() as u64) else {
            return regs.trap(TrapCode::MemoryOutOfBounds);
        };
        let value = place.cast::<T>().read_unaligned().widen();
        regs.set(base, value);
        Flow::Next
    }
}

/// The low bits of a slot.
pub(in crate::interp) trait LowBits: Copy {
    fn of(slot: u64) -> Self;
}

macro_rules! low_bits {
    ($($ty:ty)*) => {
        $(impl LowBits for $ty {
            #[inline(always)]
            fn of(slot: u64) -> $ty {
                (slot as $ty).to_le()
            }
        })*
    };
}
low_bits!(u8 u16 u32 u64);

pub(in crate::interp) unsafe fn store<T: LowBits>(regs: &mut Regs, base: Slot, memory: u32, offset: u64) -> Flow {
    // SAFETY: see `super`; the place was checked.
    unsafe {
        let Some(place) = place(regs, base, memory, offset, size_of::<T>() as u64) else {
            return regs.trap(TrapCode::MemoryOutOfBounds);
        };
        let value = T::of(regs.u64(Slot(base.0 + 1)));
        place.cast::<T>().write_unaligned(value);
        Flow::Next
    }
}

/// Puts what lies in a memory from an address on in place of memory 0, for the one op that follows; the address becomes 0.
pub(in crate::interp) unsafe fn open_window(regs: &mut Regs, address: Slot, memory: u32, offset: u64) -> Flow {
    // SAFETY: see `super`; the place was checked.
    unsafe {
        let Some(start) = place(regs, address, memory, offset, 0) else {
            return regs.trap(TrapCode::MemoryOutOfBounds);
        };
        let memory = memory_of(regs, memory);
        regs.memory_length = (*memory).base as usize + (*memory).length.load(Ordering::Acquire) - start as usize;
        regs.memory = start;
        regs.set(address, 0_u64);
        Flow::Next
    }
}

/// Puts memory 0 back.
pub(in crate::interp) unsafe fn close_window(regs: &mut Regs, _: Slot, _: u32, _: u64) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        regs.memory = (*regs.exec).memory_base();
        regs.reload_memory();
        Flow::Next
    }
}
