//! Loads, stores, and the operations on whole memories.
//!
//! Every access is checked against the memory's length. A 32-bit address plus a 32-bit offset cannot overflow 64 bits.

use super::far;
use crate::bytecode::{Slot, Target};
use crate::interp::machine::{Flow, Regs, publish, stop};
use crate::operations;
use crate::runtime;
use crate::trap::TrapCode;
use std::sync::atomic::Ordering;

/// Address of an access of `bytes` bytes, or `None` when it is out of bounds.
#[inline(always)]
fn place(regs: &Regs, address: u64, bytes: u64) -> Option<*mut u8> {
    if address + bytes > regs.memory_length as u64 {
        return None;
    }
    // `wrapping_add` since the place, though in bounds, is of memory that is no Rust object.
    Some(regs.memory.wrapping_add(address as usize))
}

/// The address a + (b << shift) + offset of two words and a `scaled` operand.
#[inline(always)]
fn indexed(a: u64, b: u64, scaled: u16) -> u64 {
    (a as u32).wrapping_add((b as u32) << (scaled & 7)) as u64 + (scaled >> 3) as u64
}

macro_rules! load {
    ($($name:ident $at_name:ident $indexed_name:ident $ty:ty as $result:ty;)*) => {
        $(
            #[inline(always)]
            pub(in crate::interp) unsafe fn $name<const M: u8>(regs: &mut Regs, dst: Slot, address: Slot, offset: u32) -> Flow {
                // SAFETY: see `super`.
                unsafe {
                    let address = regs.first::<M>(address) as u32 as u64 + offset as u64;
                    $at_name::<0>(regs, dst, address)
                }
            }

            #[inline(always)]
            pub(in crate::interp) unsafe fn $at_name<const M: u8>(regs: &mut Regs, dst: Slot, address: u64) -> Flow {
                // SAFETY: see `super`; the place was checked, and the memory outlives the activation.
                unsafe {
                    let Some(place) = place(regs, address, size_of::<$ty>() as u64) else {
                        return regs.trap(TrapCode::MemoryOutOfBounds);
                    };
                    let value = <$ty>::from_le(place.cast::<$ty>().read_unaligned());
                    regs.set(dst, value as $result);
                    regs.next()
                }
            }

            #[inline(always)]
            pub(in crate::interp) unsafe fn $indexed_name<const M: u8>(regs: &mut Regs, scaled: u16, dst: Slot, a: Slot, b: Slot) -> Flow {
                // SAFETY: see `super`.
                unsafe {
                    let address = indexed(regs.first::<M>(a), regs.second::<M>(b), scaled);
                    $at_name::<0>(regs, dst, address)
                }
            }
        )*
    };
}

load! {
    load8_u load8_u_at load8_u_indexed u8 as u32;
    load16_u load16_u_at load16_u_indexed u16 as u32;
    load32 load32_at load32_indexed u32 as u32;
    load64 load64_at load64_indexed u64 as u64;
    i32_load8_s i32_load8_s_at i32_load8_s_indexed i8 as i32;
    i32_load16_s i32_load16_s_at i32_load16_s_indexed i16 as i32;
    i64_load8_s i64_load8_s_at i64_load8_s_indexed i8 as i64;
    i64_load16_s i64_load16_s_at i64_load16_s_indexed i16 as i64;
    i64_load32_s i64_load32_s_at i64_load32_s_indexed i32 as i64;
}

macro_rules! store {
    ($($name:ident $at_name:ident $imm_name:ident $indexed_name:ident $ty:ty;)*) => {
        $(
            #[inline(always)]
            pub(in crate::interp) unsafe fn $name<const M: u8>(regs: &mut Regs, address: Slot, value: Slot, offset: u32) -> Flow {
                // SAFETY: see `super`.
                unsafe {
                    let address = regs.first::<M>(address) as u32 as u64 + offset as u64;
                    $at_name::<M>(regs, value, address)
                }
            }

            #[inline(always)]
            pub(in crate::interp) unsafe fn $imm_name<const M: u8>(regs: &mut Regs, address: Slot, value: i32, offset: u32) -> Flow {
                // SAFETY: see `super`.
                unsafe {
                    let address = regs.first::<M>(address) as u32 as u64 + offset as u64;
                    put::<{ size_of::<$ty>() }>(regs, address, (value as $ty).to_le_bytes())
                }
            }

            #[inline(always)]
            pub(in crate::interp) unsafe fn $at_name<const M: u8>(regs: &mut Regs, value: Slot, address: u64) -> Flow {
                // SAFETY: see `super`.
                unsafe {
                    let value = regs.second::<M>(value) as $ty;
                    put::<{ size_of::<$ty>() }>(regs, address, value.to_le_bytes())
                }
            }

            #[inline(always)]
            pub(in crate::interp) unsafe fn $indexed_name<const M: u8>(regs: &mut Regs, scaled: u16, a: Slot, b: Slot, value: Slot) -> Flow {
                // SAFETY: see `super`. (`Op::reads` gives the value as second operand.)
                unsafe {
                    let address = indexed(regs.first::<M>(a), regs.u64(b), scaled);
                    $at_name::<M>(regs, value, address)
                }
            }
        )*
    };
}

store! {
    store8 store8_at store8_imm store8_indexed u8;
    store16 store16_at store16_imm store16_indexed u16;
    store32 store32_at store32_imm store32_indexed u32;
    store64 store64_at store64_imm store64_indexed u64;
}

/// Jumps on a loaded value.
macro_rules! jump_on_load {
    ($($name:ident $ty:ty, |$value:ident, $imm:ident| $condition:expr;)*) => {
        $(
            #[inline(always)]
            pub(in crate::interp) unsafe fn $name<const M: u8>(regs: &mut Regs, offset: u16, address: Slot, imm: i32, target: Target) -> Flow {
                // SAFETY: see `super`; the place was checked, and the memory outlives the activation.
                unsafe {
                    let address = regs.first::<M>(address) as u32 as u64 + offset as u64;
                    let Some(place) = place(regs, address, size_of::<$ty>() as u64) else {
                        return regs.trap(TrapCode::MemoryOutOfBounds);
                    };
                    let $value = <$ty>::from_le(place.cast::<$ty>().read_unaligned()) as u32;
                    let $imm = imm as u32;
                    regs.jump_if($condition, target)
                }
            }
        )*
    };
}

jump_on_load! {
    jump_load32_eq_imm u32, |value, imm| value == imm;
    jump_load32_ne_imm u32, |value, imm| value != imm;
    jump_load8_u_eq_imm u8, |value, imm| value == imm;
    jump_load8_u_ne_imm u8, |value, imm| value != imm;
}

#[inline(always)]
unsafe fn put<const N: usize>(regs: &mut Regs, address: u64, bytes: [u8; N]) -> Flow {
    // SAFETY: see `super`; the place was checked, and the memory outlives the activation.
    unsafe {
        let Some(place) = place(regs, address, N as u64) else {
            return regs.trap(TrapCode::MemoryOutOfBounds);
        };
        place.cast::<[u8; N]>().write_unaligned(bytes);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn memory_size<const M: u8>(regs: &mut Regs, dst: Slot, memory: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let pages = (*far::memory_of(regs, memory)).length.load(Ordering::SeqCst) as u64 / 65536;
        regs.set(dst, pages);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn memory_grow<const M: u8>(regs: &mut Regs, dst: Slot, delta: Slot, memory: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        publish(regs.exec, regs.ip);
        let delta = regs.u64(delta);
        let old = match operations::memory_grow((*regs.exec).context, memory, delta) {
            Ok(old) => old,
            Err(unwind) => return stop(regs.exec, unwind),
        };
        if runtime::instance((*regs.exec).context).module.memories[memory as usize].memory64 {
            regs.set(dst, old);
        } else {
            regs.set(dst, old as i32);
        }
        regs.reload_memory();
        regs.next()
    }
}

/// Goes on, or traps, as an operation on memories or tables returned.
#[inline(always)]
pub(super) unsafe fn checked(regs: &mut Regs, result: Result<(), TrapCode>) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        match result {
            Ok(()) => regs.next(),
            Err(code) => regs.trap(code),
        }
    }
}

/// The operands in three consecutive slots; of an i32 the upper half is zero.
#[inline(always)]
pub(super) unsafe fn three(regs: &Regs, base: Slot) -> [u64; 3] {
    // SAFETY: see `super`.
    unsafe { [0, 1, 2].map(|index| regs.u64(Slot(base.0 + index))) }
}

#[inline(always)]
pub(in crate::interp) unsafe fn memory_copy<const M: u8>(regs: &mut Regs, base: Slot, to: u32, from: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let [destination, source, bytes] = three(regs, base);
        let context = (*regs.exec).context;
        let result = operations::memory_copy(context, to, from, destination, source, bytes);
        checked(regs, result)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn memory_fill<const M: u8>(regs: &mut Regs, base: Slot, memory: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let [destination, byte, bytes] = three(regs, base);
        let context = (*regs.exec).context;
        let result = operations::memory_fill(context, memory, destination, byte as u8, bytes);
        checked(regs, result)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn memory_init<const M: u8>(regs: &mut Regs, base: Slot, memory: u32, segment: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let [destination, source, bytes] = three(regs, base);
        let context = (*regs.exec).context;
        let (source, bytes) = (source as u32, bytes as u32);
        let result = operations::memory_init(context, memory, segment, destination, source, bytes);
        checked(regs, result)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn data_drop<const M: u8>(regs: &mut Regs, segment: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        operations::data_drop((*regs.exec).context, segment);
        regs.next()
    }
}
