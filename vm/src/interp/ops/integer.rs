//! Integer arithmetic and comparisons, and the jumps made of comparisons.

use crate::bytecode::{Slot, Target};
use crate::interp::machine::{Flow, Regs, SlotValue};
use crate::trap::TrapCode;

/// Op with two slots, and (second name) the same with an immediate on the right.
macro_rules! binary {
    ($ty:ty: $($name:ident $($imm_name:ident)? |$a:ident, $b:ident| $result:expr;)*) => {
        $(
            #[inline(always)]
            pub(in crate::interp) unsafe fn $name<const M: u8>(regs: &mut Regs, dst: Slot, a: Slot, b: Slot) -> Flow {
                // SAFETY: see `super`.
                unsafe {
                    let ($a, $b) = (<$ty as SlotValue>::from_bits(regs.first::<M>(a)), <$ty as SlotValue>::from_bits(regs.second::<M>(b)));
                    regs.set(dst, $result);
                    regs.next()
                }
            }
            $(
                #[inline(always)]
                pub(in crate::interp) unsafe fn $imm_name<const M: u8>(regs: &mut Regs, dst: Slot, a: Slot, imm: i32) -> Flow {
                    // SAFETY: see `super`.
                    unsafe {
                        let ($a, $b) = (<$ty as SlotValue>::from_bits(regs.first::<M>(a)), imm as $ty);
                        regs.set(dst, $result);
                        regs.next()
                    }
                }
            )?
        )*
    };
}

/// Division and remainder: the slot form traps, the immediate form has a divisor that cannot.
macro_rules! divide {
    ($ty:ty: $($name:ident $imm_name:ident $($overflow:ident)? |$a:ident, $b:ident| $result:expr;)*) => {
        $(
            #[inline(always)]
            pub(in crate::interp) unsafe fn $name<const M: u8>(regs: &mut Regs, dst: Slot, a: Slot, b: Slot) -> Flow {
                // SAFETY: see `super`.
                unsafe {
                    let ($a, $b) = (<$ty as SlotValue>::from_bits(regs.first::<M>(a)), <$ty as SlotValue>::from_bits(regs.second::<M>(b)));
                    if $b == 0 {
                        return regs.trap(TrapCode::IntegerDivisionByZero);
                    }
                    $(if $a == <$ty>::MIN && $b == !0 {
                        return regs.trap(TrapCode::$overflow);
                    })?
                    regs.set(dst, $result);
                    regs.next()
                }
            }

            #[inline(always)]
            pub(in crate::interp) unsafe fn $imm_name<const M: u8>(regs: &mut Regs, dst: Slot, a: Slot, imm: i32) -> Flow {
                // SAFETY: see `super`; the translator emits this only for divisors that are neither 0 nor (signed) -1.
                unsafe {
                    let ($a, $b) = (<$ty as SlotValue>::from_bits(regs.first::<M>(a)), imm as $ty);
                    std::hint::assert_unchecked($b != 0);
                    regs.set(dst, $result);
                    regs.next()
                }
            }
        )*
    };
}

macro_rules! unary {
    ($ty:ty: $($name:ident |$a:ident| $result:expr;)*) => {
        $(
            #[inline(always)]
            pub(in crate::interp) unsafe fn $name<const M: u8>(regs: &mut Regs, dst: Slot, a: Slot) -> Flow {
                // SAFETY: see `super`.
                unsafe {
                    let $a = <$ty as SlotValue>::from_bits(regs.first::<M>(a));
                    regs.set(dst, $result);
                    regs.next()
                }
            }
        )*
    };
}

/// Jumps on a condition of two slots, or (second name) of a slot and an immediate.
macro_rules! jump {
    ($ty:ty: $($name:ident $imm_name:ident |$a:ident, $b:ident| $condition:expr;)*) => {
        $(
            jump!(@slots $ty, $name, $a, $b, $condition);
            jump!(@imm $ty, $imm_name, $a, $b, $condition);
        )*
    };
    (imm $ty:ty: $($imm_name:ident |$a:ident, $b:ident| $condition:expr;)*) => {
        $(jump!(@imm $ty, $imm_name, $a, $b, $condition);)*
    };
    (@slots $ty:ty, $name:ident, $a:ident, $b:ident, $condition:expr) => {
        #[inline(always)]
        pub(in crate::interp) unsafe fn $name<const M: u8>(regs: &mut Regs, a: Slot, b: Slot, target: Target) -> Flow {
            // SAFETY: see `super`.
            unsafe {
                let ($a, $b) = (<$ty as SlotValue>::from_bits(regs.first::<M>(a)), <$ty as SlotValue>::from_bits(regs.second::<M>(b)));
                regs.jump_if($condition, target)
            }
        }
    };
    (@imm $ty:ty, $name:ident, $a:ident, $b:ident, $condition:expr) => {
        #[inline(always)]
        pub(in crate::interp) unsafe fn $name<const M: u8>(regs: &mut Regs, a: Slot, imm: i32, target: Target) -> Flow {
            // SAFETY: see `super`.
            unsafe {
                let ($a, $b) = (<$ty as SlotValue>::from_bits(regs.first::<M>(a)), imm as $ty);
                regs.jump_if($condition, target)
            }
        }
    };
}

/// Comparisons with an immediate only.
macro_rules! compare_imm {
    ($ty:ty: $($imm_name:ident |$a:ident, $b:ident| $condition:expr;)*) => {
        $(
            #[inline(always)]
            pub(in crate::interp) unsafe fn $imm_name<const M: u8>(regs: &mut Regs, dst: Slot, a: Slot, imm: i32) -> Flow {
                // SAFETY: see `super`.
                unsafe {
                    let ($a, $b) = (<$ty as SlotValue>::from_bits(regs.first::<M>(a)), imm as $ty);
                    regs.set(dst, $condition);
                    regs.next()
                }
            }
        )*
    };
}

binary! { u32:
    i32_add i32_add_imm |a, b| a.wrapping_add(b);
    i32_mul i32_mul_imm |a, b| a.wrapping_mul(b);
    i32_and i32_and_imm |a, b| a & b;
    i32_or i32_or_imm |a, b| a | b;
    i32_xor i32_xor_imm |a, b| a ^ b;
    i32_sub |a, b| a.wrapping_sub(b);
    i32_shl i32_shl_imm |a, b| a.wrapping_shl(b as u32);
    i32_shr_u i32_shr_u_imm |a, b| a.wrapping_shr(b as u32);
    i32_rotl i32_rotl_imm |a, b| a.rotate_left(b as u32 & 31);
    i32_rotr |a, b| a.rotate_right(b as u32 & 31);
    i32_eq i32_eq_imm |a, b| a == b;
    i32_ne i32_ne_imm |a, b| a != b;
    i32_lt_u i32_lt_u_imm |a, b| a < b;
    i32_le_u i32_le_u_imm |a, b| a <= b;
}
binary! { i32:
    i32_shr_s i32_shr_s_imm |a, b| a.wrapping_shr(b as u32);
    i32_lt_s i32_lt_s_imm |a, b| a < b;
    i32_le_s i32_le_s_imm |a, b| a <= b;
}
compare_imm! { u32:
    i32_gt_u_imm |a, b| a > b;
    i32_ge_u_imm |a, b| a >= b;
}
compare_imm! { i32:
    i32_gt_s_imm |a, b| a > b;
    i32_ge_s_imm |a, b| a >= b;
}
divide! { u32:
    i32_div_u i32_div_u_imm |a, b| a / b;
    i32_rem_u i32_rem_u_imm |a, b| a % b;
}
divide! { i32:
    i32_div_s i32_div_s_imm IntegerOverflow |a, b| a.wrapping_div(b);
    i32_rem_s i32_rem_s_imm |a, b| a.wrapping_rem(b);
}
unary! { u32:
    i32_clz |a| a.leading_zeros();
    i32_ctz |a| a.trailing_zeros();
    i32_popcnt |a| a.count_ones();
    i32_extend8_s |a| a as i8 as i32;
    i32_extend16_s |a| a as i16 as i32;
}
jump! { u32:
    jump_i32_eq jump_i32_eq_imm |a, b| a == b;
    jump_i32_ne jump_i32_ne_imm |a, b| a != b;
    jump_i32_lt_u jump_i32_lt_u_imm |a, b| a < b;
    jump_i32_le_u jump_i32_le_u_imm |a, b| a <= b;
    jump_i32_and jump_i32_and_imm |a, b| a & b != 0;
    jump_i32_nand jump_i32_nand_imm |a, b| a & b == 0;
}
jump! { i32:
    jump_i32_lt_s jump_i32_lt_s_imm |a, b| a < b;
    jump_i32_le_s jump_i32_le_s_imm |a, b| a <= b;
}
jump! { imm u32:
    jump_i32_gt_u_imm |a, b| a > b;
    jump_i32_ge_u_imm |a, b| a >= b;
}
jump! { imm i32:
    jump_i32_gt_s_imm |a, b| a > b;
    jump_i32_ge_s_imm |a, b| a >= b;
}

binary! { u64:
    i64_add i64_add_imm |a, b| a.wrapping_add(b);
    i64_mul i64_mul_imm |a, b| a.wrapping_mul(b);
    i64_and i64_and_imm |a, b| a & b;
    i64_or i64_or_imm |a, b| a | b;
    i64_xor i64_xor_imm |a, b| a ^ b;
    i64_sub |a, b| a.wrapping_sub(b);
    i64_shl i64_shl_imm |a, b| a.wrapping_shl(b as u32);
    i64_shr_u i64_shr_u_imm |a, b| a.wrapping_shr(b as u32);
    i64_rotl i64_rotl_imm |a, b| a.rotate_left(b as u32 & 63);
    i64_rotr |a, b| a.rotate_right(b as u32 & 63);
    i64_eq i64_eq_imm |a, b| a == b;
    i64_ne i64_ne_imm |a, b| a != b;
    i64_lt_u i64_lt_u_imm |a, b| a < b;
    i64_le_u i64_le_u_imm |a, b| a <= b;
}
binary! { i64:
    i64_shr_s i64_shr_s_imm |a, b| a.wrapping_shr(b as u32);
    i64_lt_s i64_lt_s_imm |a, b| a < b;
    i64_le_s i64_le_s_imm |a, b| a <= b;
}
compare_imm! { u64:
    i64_gt_u_imm |a, b| a > b;
    i64_ge_u_imm |a, b| a >= b;
}
compare_imm! { i64:
    i64_gt_s_imm |a, b| a > b;
    i64_ge_s_imm |a, b| a >= b;
}
divide! { u64:
    i64_div_u i64_div_u_imm |a, b| a / b;
    i64_rem_u i64_rem_u_imm |a, b| a % b;
}
divide! { i64:
    i64_div_s i64_div_s_imm IntegerOverflow |a, b| a.wrapping_div(b);
    i64_rem_s i64_rem_s_imm |a, b| a.wrapping_rem(b);
}
unary! { u64:
    i64_clz |a| a.leading_zeros();
    i64_ctz |a| a.trailing_zeros();
    i64_popcnt |a| a.count_ones();
    i64_extend8_s |a| a as i8 as i64;
    i64_extend16_s |a| a as i16 as i64;
    i64_extend32_s |a| a as i32 as i64;
}
jump! { u64:
    jump_i64_eq jump_i64_eq_imm |a, b| a == b;
    jump_i64_ne jump_i64_ne_imm |a, b| a != b;
    jump_i64_lt_u jump_i64_lt_u_imm |a, b| a < b;
    jump_i64_le_u jump_i64_le_u_imm |a, b| a <= b;
    jump_i64_and jump_i64_and_imm |a, b| a & b != 0;
    jump_i64_nand jump_i64_nand_imm |a, b| a & b == 0;
}
jump! { i64:
    jump_i64_lt_s jump_i64_lt_s_imm |a, b| a < b;
    jump_i64_le_s jump_i64_le_s_imm |a, b| a <= b;
}
jump! { imm u64:
    jump_i64_gt_u_imm |a, b| a > b;
    jump_i64_ge_u_imm |a, b| a >= b;
}
jump! { imm i64:
    jump_i64_gt_s_imm |a, b| a > b;
    jump_i64_ge_s_imm |a, b| a >= b;
}

#[inline(always)]
pub(in crate::interp) unsafe fn i32_add_shl<const M: u8>(regs: &mut Regs, shift: u16, dst: Slot, a: Slot, b: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let (a, b) = (regs.first::<M>(a) as u32, regs.second::<M>(b) as u32);
        regs.set(dst, a.wrapping_add(b << (shift & 31)));
        regs.next()
    }
}

/// Adds to a slot in place and jumps on its new value: the end of most loops.
macro_rules! add_jump {
    ($($name:ident |$a:ident, $b:ident| $condition:expr;)*) => {
        $(
            #[inline(always)]
            pub(in crate::interp) unsafe fn $name<const M: u8>(regs: &mut Regs, add: i16, a: Slot, b: Slot, target: Target) -> Flow {
                // SAFETY: see `super`.
                unsafe {
                    let $a = (regs.first::<M>(a) as u32).wrapping_add(add as u32);
                    let $b = regs.second::<M>(b) as u32;
                    regs.set(a, $a);
                    regs.jump_if($condition, target)
                }
            }
        )*
    };
}

add_jump! {
    add_jump_i32_ne |a, b| a != b;
    add_jump_i32_lt_u |a, b| a < b;
    add_jump_i32_lt_s |a, b| (a as i32) < b as i32;
}

#[inline(always)]
pub(in crate::interp) unsafe fn add_jump_i32_ne_imm<const M: u8>(regs: &mut Regs, add: i16, a: Slot, imm: i32, target: Target) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let value = (regs.first::<M>(a) as u32).wrapping_add(add as u32);
        regs.set(a, value);
        regs.jump_if(value != imm as u32, target)
    }
}
