//! Operations on v128. What is computed stands in `crate::vector`; here it is brought from slots and memory and back.
//!
//! All operands are read before the result is written: they may share slots. The accumulator holds what the result's first slot does.

use crate::bytecode::{Op, Slot};
use crate::interp::machine::{Flow, Regs};
use crate::layout::VmGlobal;
use crate::trap::TrapCode;
use crate::vector::{Binary, Extract, LanePlace, Load, Reduce, Shift, ShuffleLanes, Splat, Ternary, Unary, blend};
use std::arch::x86_64::{
    __m128i, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_storeu_si128, _mm_unpackhi_epi64, _mm_unpacklo_epi64,
};
use std::mem::transmute;

/// The operand in a vector register: of two halves read by themselves it would be put together again.
#[inline(always)]
unsafe fn register(regs: &Regs, slot: Slot) -> __m128i {
    // SAFETY: see `super`; a v128 takes two slots.
    unsafe { _mm_loadu_si128(regs.address(slot).cast()) }
}

#[inline(always)]
unsafe fn vector(regs: &Regs, slot: Slot) -> u128 {
    // SAFETY: both are 16 bytes of which any are valid.
    unsafe { transmute::<__m128i, u128>(register(regs, slot)) }
}

/// Written as one: two stores of a half each do not forward to a load of both, which is how the next op reads it.
#[inline(always)]
unsafe fn set_register(regs: &mut Regs, slot: Slot, value: __m128i) {
    // SAFETY: see `super`; a v128 takes two slots.
    unsafe {
        _mm_storeu_si128(regs.address(slot).cast(), value);
        regs.accumulator = _mm_cvtsi128_si64(value) as u64;
    }
}

#[inline(always)]
unsafe fn set(regs: &mut Regs, slot: Slot, value: u128) {
    // SAFETY: see `vector`.
    unsafe { set_register(regs, slot, transmute::<u128, __m128i>(value)) }
}

/// The slot in the op behind.
#[inline(always)]
unsafe fn third(regs: &Regs) -> Slot {
    // SAFETY: what calls this is translated with an `Operand` behind.
    unsafe {
        let Op::Operand { slot } = (*regs.ip.add(1)).op else { std::hint::unreachable_unchecked() };
        slot
    }
}

/// The bits in the op behind.
#[inline(always)]
unsafe fn immediate(regs: &Regs) -> (u16, u64) {
    // SAFETY: what calls this is translated with an `Immediate` behind.
    unsafe {
        let Op::Immediate { high, low } = (*regs.ip.add(1)).op else { std::hint::unreachable_unchecked() };
        (high, low)
    }
}

/// Goes on behind an op of two parts.
#[inline(always)]
unsafe fn next_but_one(regs: &mut Regs) -> Flow {
    // SAFETY: the second part is never the last op.
    unsafe {
        regs.ip = regs.ip.add(1);
        regs.next()
    }
}

/// Part of the op before it; never run.
#[inline(always)]
pub(in crate::interp) unsafe fn immediate_part<const M: u8>(regs: &mut Regs, _high: u16, _low: u64) -> Flow {
    // SAFETY: see `super`.
    unsafe { regs.next() }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_constant<const M: u8>(regs: &mut Regs, dst: Slot, low: u64) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let (_, high) = immediate(regs);
        set(regs, dst, u128::from(low) | u128::from(high) << 64);
        next_but_one(regs)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_shuffle<const M: u8>(regs: &mut Regs, dst: Slot, a: Slot, b: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let (high, low) = immediate(regs);
        let value = ShuffleLanes { low, high }.shuffle(vector(regs, a), vector(regs, b));
        set(regs, dst, value);
        next_but_one(regs)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_unary<const M: u8>(regs: &mut Regs, function: Unary, dst: Slot, a: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let value = function.call(vector(regs, a));
        set(regs, dst, value);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_binary<const M: u8>(regs: &mut Regs, function: Binary, dst: Slot, a: Slot, b: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let value = function.call(vector(regs, a), vector(regs, b));
        set(regs, dst, value);
        regs.next()
    }
}

/// Of the functions that are [quick](Binary::is_quick): by itself, so that no register is saved for a call that never comes. Here and below `N` is the function's number
/// ([`Pick`](crate::vector::Pick)) or 0.
#[inline(always)]
pub(in crate::interp) unsafe fn vector_binary_quick<const N: u8>(
    regs: &mut Regs,
    function: Binary,
    dst: Slot,
    left: Slot,
    right: Slot,
) -> Flow {
    // SAFETY: see `super`; ops of this kind are made of quick functions only.
    unsafe {
        let value = function.or::<N>().quick(register(regs, left), register(regs, right)).unwrap_unchecked();
        set_register(regs, dst, value);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_unary_quick<const N: u8>(regs: &mut Regs, function: Unary, dst: Slot, operand: Slot) -> Flow {
    // SAFETY: as `vector_binary_quick`.
    unsafe {
        let value = function.or::<N>().quick(register(regs, operand)).unwrap_unchecked();
        set_register(regs, dst, value);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_ternary<const M: u8>(regs: &mut Regs, function: Ternary, dst: Slot, a: Slot, b: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let c = third(regs);
        let value = function.call(vector(regs, a), vector(regs, b), vector(regs, c));
        set(regs, dst, value);
        next_but_one(regs)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_bitselect<const M: u8>(regs: &mut Regs, dst: Slot, a: Slot, b: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let (a, b, mask) = (register(regs, a), register(regs, b), register(regs, third(regs)));
        set_register(regs, dst, blend(mask, a, b));
        next_but_one(regs)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_shift<const N: u8>(regs: &mut Regs, function: Shift, dst: Slot, vector: Slot, by: Slot) -> Flow {
    // SAFETY: see `super`; all of these are quick.
    unsafe {
        let value = function.or::<N>().quick(register(regs, vector), regs.u32(by)).unwrap_unchecked();
        set_register(regs, dst, value);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_splat<const N: u8>(regs: &mut Regs, function: Splat, dst: Slot, scalar: Slot) -> Flow {
    // SAFETY: as `vector_shift`.
    unsafe {
        let value = function.or::<N>().quick(regs.u64(scalar)).unwrap_unchecked();
        set_register(regs, dst, value);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_reduce<const N: u8>(regs: &mut Regs, function: Reduce, dst: Slot, vector: Slot) -> Flow {
    // SAFETY: as `vector_shift`.
    unsafe {
        let value = function.or::<N>().quick(register(regs, vector)).unwrap_unchecked();
        regs.set(dst, value);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_extract<const N: u8>(
    regs: &mut Regs,
    function: Extract,
    dst: Slot,
    vector: Slot,
    lane: u32,
) -> Flow {
    // SAFETY: as `vector_shift`; the lane is one of the slots' 16 bytes.
    unsafe {
        let value = function.or::<N>().quick(regs.address(vector).cast_const().cast(), lane).unwrap_unchecked();
        regs.set(dst, value);
        regs.next()
    }
}

/// A lane replaced by a value's low bits: half of a vector stays in vector registers.
#[inline(always)]
fn replace(place: LanePlace, vector: __m128i, value: u64) -> __m128i {
    // SAFETY: SSE2 is part of x86-64; vectors are 16 bytes of which any are valid.
    unsafe {
        match (place.bytes(), place.index()) {
            (8, 0) => _mm_unpacklo_epi64(_mm_cvtsi64_si128(value as i64), _mm_unpackhi_epi64(vector, vector)),
            (8, _) => _mm_unpacklo_epi64(vector, _mm_cvtsi64_si128(value as i64)),
            _ => transmute::<u128, __m128i>(place.replace(transmute::<__m128i, u128>(vector), value)),
        }
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_replace<const M: u8>(regs: &mut Regs, place: LanePlace, dst: Slot, a: Slot, b: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let value = replace(place, register(regs, a), regs.u64(b));
        set_register(regs, dst, value);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_select<const M: u8>(regs: &mut Regs, dst: Slot, a: Slot, b: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let condition = regs.u32(third(regs));
        let value = vector(regs, if condition != 0 { a } else { b });
        set(regs, dst, value);
        next_but_one(regs)
    }
}

/// The first of some bytes in memory, or `None` when they are out of bounds.
#[inline(always)]
unsafe fn place(regs: &Regs, address: Slot, offset: u32, bytes: u32) -> Option<*mut u8> {
    // SAFETY: see `super`.
    let address = unsafe { u64::from(regs.u32(address)) } + u64::from(offset);
    if address + u64::from(bytes) > regs.memory_length as u64 {
        return None;
    }
    // `wrapping_add` since the place, though in bounds, is of memory that is no Rust object.
    Some(regs.memory.wrapping_add(address as usize))
}

/// 1, 2, 4 or 8 bytes of memory in the low bits, zeros above. Each number by itself: a copy of a number that only the op knows is a call.
#[inline(always)]
unsafe fn read(place: *const u8, bytes: u32) -> u64 {
    // SAFETY: the caller checked that the bytes are in bounds.
    unsafe {
        match bytes {
            8 => u64::from_le(place.cast::<u64>().read_unaligned()),
            4 => u32::from_le(place.cast::<u32>().read_unaligned()).into(),
            2 => u16::from_le(place.cast::<u16>().read_unaligned()).into(),
            _ => place.read().into(),
        }
    }
}

/// The low 1, 2, 4 or 8 bytes to memory.
#[inline(always)]
unsafe fn write(place: *mut u8, value: u64, bytes: u32) {
    // SAFETY: as `read`.
    unsafe {
        match bytes {
            8 => place.cast::<u64>().write_unaligned(value.to_le()),
            4 => place.cast::<u32>().write_unaligned((value as u32).to_le()),
            2 => place.cast::<u16>().write_unaligned((value as u16).to_le()),
            _ => place.write(value as u8),
        }
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_load<const N: u8>(regs: &mut Regs, function: Load, dst: Slot, address: Slot, offset: u32) -> Flow {
    // SAFETY: as `vector_shift`; the place was checked.
    unsafe {
        let function = function.or::<N>();
        let Some(place) = place(regs, address, offset, function.bytes()) else {
            return regs.trap(TrapCode::MemoryOutOfBounds);
        };
        let value = function.quick(place.cast_const()).unwrap_unchecked();
        set_register(regs, dst, value);
        regs.next()
    }
}

/// Sixteen bytes.
#[inline(always)]
pub(in crate::interp) unsafe fn vector_load_whole<const M: u8>(regs: &mut Regs, dst: Slot, address: Slot, offset: u32) -> Flow {
    // SAFETY: see `super`; the place was checked.
    unsafe {
        let Some(place) = place(regs, address, offset, 16) else {
            return regs.trap(TrapCode::MemoryOutOfBounds);
        };
        set_register(regs, dst, _mm_loadu_si128(place.cast()));
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_load_lane<const M: u8>(
    regs: &mut Regs,
    lane: LanePlace,
    dst: Slot,
    address: Slot,
    offset: u32,
) -> Flow {
    // SAFETY: see `super`; the place was checked.
    unsafe {
        let Some(place) = place(regs, address, offset, lane.bytes()) else {
            return regs.trap(TrapCode::MemoryOutOfBounds);
        };
        let value = replace(lane, register(regs, third(regs)), read(place, lane.bytes()));
        set_register(regs, dst, value);
        next_but_one(regs)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_store<const M: u8>(regs: &mut Regs, address: Slot, value: Slot, offset: u32) -> Flow {
    // SAFETY: see `super`; the place was checked.
    unsafe {
        let Some(place) = place(regs, address, offset, 16) else {
            return regs.trap(TrapCode::MemoryOutOfBounds);
        };
        _mm_storeu_si128(place.cast(), register(regs, value));
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_store_lane<const M: u8>(
    regs: &mut Regs,
    lane: LanePlace,
    address: Slot,
    value: Slot,
    offset: u32,
) -> Flow {
    // SAFETY: see `super`; the place was checked.
    unsafe {
        let Some(place) = place(regs, address, offset, lane.bytes()) else {
            return regs.trap(TrapCode::MemoryOutOfBounds);
        };
        write(place, lane.extract(vector(regs, value)), lane.bytes());
        regs.next()
    }
}

/// A global of the module's own.
#[inline(always)]
unsafe fn own_global(regs: &Regs, place: i32) -> *mut VmGlobal {
    // SAFETY: see `super`; the place is the module's, inside the context.
    unsafe { (*regs.exec).context.byte_offset(place as isize).cast() }
}

/// An imported global: the pointer to it, which never changes, stands at its place.
#[inline(always)]
unsafe fn imported_global(regs: &Regs, place: i32) -> *mut VmGlobal {
    // SAFETY: as `own_global`.
    unsafe { own_global(regs, place).cast::<*mut VmGlobal>().read() }
}

#[inline(always)]
unsafe fn get(regs: &mut Regs, dst: Slot, global: *const VmGlobal) -> Flow {
    // SAFETY: see `super`; globals live as long as the store.
    unsafe {
        let [low, high] = (*global).slots;
        set(regs, dst, u128::from(low) | u128::from(high) << 64);
        regs.next()
    }
}

#[inline(always)]
unsafe fn put(regs: &mut Regs, src: Slot, global: *mut VmGlobal) -> Flow {
    // SAFETY: see `super`; globals live as long as the store.
    unsafe {
        (*global).slots = [regs.u64(src), regs.u64(Slot(src.0 + 1))];
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_global_get<const M: u8>(regs: &mut Regs, dst: Slot, place: i32) -> Flow {
    // SAFETY: see `super`.
    unsafe { get(regs, dst, own_global(regs, place)) }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_global_get_imported<const M: u8>(regs: &mut Regs, dst: Slot, place: i32) -> Flow {
    // SAFETY: see `super`.
    unsafe { get(regs, dst, imported_global(regs, place)) }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_global_set<const M: u8>(regs: &mut Regs, src: Slot, place: i32) -> Flow {
    // SAFETY: see `super`.
    unsafe { put(regs, src, own_global(regs, place)) }
}

#[inline(always)]
pub(in crate::interp) unsafe fn vector_global_set_imported<const M: u8>(regs: &mut Regs, src: Slot, place: i32) -> Flow {
    // SAFETY: see `super`.
    unsafe { put(regs, src, imported_global(regs, place)) }
}
