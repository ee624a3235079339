//! Float arithmetic and comparisons. NaN results are what the hardware gives: quiet, and canonical where all NaN operands are canonical, as section
//! 4.3.3 of the specification asks.
#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "these jumps are taken for NaN too")]

use crate::bytecode::{Slot, Target};
use crate::interp::machine::{Flow, Regs, SlotValue};

macro_rules! binary {
    ($get:ident: $($name:ident |$a:ident, $b:ident| $result:expr;)*) => {
        $(
            #[inline(always)]
            pub(in crate::interp) unsafe fn $name<const M: u8>(regs: &mut Regs, dst: Slot, a: Slot, b: Slot) -> Flow {
                // SAFETY: see `super`.
                unsafe {
                    let ($a, $b) = (<$get as SlotValue>::from_bits(regs.first::<M>(a)), <$get as SlotValue>::from_bits(regs.second::<M>(b)));
                    regs.set(dst, $result);
                    regs.next()
                }
            }
        )*
    };
}

macro_rules! unary {
    ($get:ident: $($name:ident |$a:ident| $result:expr;)*) => {
        $(
            #[inline(always)]
            pub(in crate::interp) unsafe fn $name<const M: u8>(regs: &mut Regs, dst: Slot, a: Slot) -> Flow {
                // SAFETY: see `super`.
                unsafe {
                    let $a = <$get as SlotValue>::from_bits(regs.first::<M>(a));
                    regs.set(dst, $result);
                    regs.next()
                }
            }
        )*
    };
}

macro_rules! jump {
    ($get:ident: $($name:ident |$a:ident, $b:ident| $condition:expr;)*) => {
        $(
            #[inline(always)]
            pub(in crate::interp) unsafe fn $name<const M: u8>(regs: &mut Regs, a: Slot, b: Slot, target: Target) -> Flow {
                // SAFETY: see `super`.
                unsafe {
                    let ($a, $b) = (<$get as SlotValue>::from_bits(regs.first::<M>(a)), <$get as SlotValue>::from_bits(regs.second::<M>(b)));
                    regs.jump_if($condition, target)
                }
            }
        )*
    };
}

/// `min`, `max` and the roundings of one type, by bits where Rust leaves NaN or the sign of zero open.
macro_rules! exact {
    ($module:ident $ty:ident $bits:ident $quiet:literal) => {
        pub(crate) mod $module {
            #[inline(always)]
            pub(crate) fn min(a: $ty, b: $ty) -> $ty {
                if a < b {
                    a
                } else if b < a {
                    b
                } else if a == b {
                    // Equal values differ at most in the sign of zero.
                    $ty::from_bits(a.to_bits() | b.to_bits())
                } else {
                    a + b
                }
            }

            #[inline(always)]
            pub(crate) fn max(a: $ty, b: $ty) -> $ty {
                if a > b {
                    a
                } else if b > a {
                    b
                } else if a == b {
                    $ty::from_bits(a.to_bits() & b.to_bits())
                } else {
                    a + b
                }
            }

            /// Applies a rounding of the standard library, which leaves open whether a NaN comes out quiet.
            #[inline(always)]
            pub(crate) fn round(a: $ty, round: impl Fn($ty) -> $ty) -> $ty {
                if a.is_nan() { $ty::from_bits(a.to_bits() | $quiet) } else { round(a) }
            }

            pub(crate) const SIGN: $bits = 1 << ($bits::BITS - 1);
        }
    };
}
exact!(exact32 f32 u32 0x0040_0000);
exact!(exact64 f64 u64 0x0008_0000_0000_0000);

binary! { f32:
    f32_add |a, b| a + b;
    f32_sub |a, b| a - b;
    f32_mul |a, b| a * b;
    f32_div |a, b| a / b;
    f32_min |a, b| exact32::min(a, b);
    f32_max |a, b| exact32::max(a, b);
    f32_copysign |a, b| f32::from_bits(a.to_bits() & !exact32::SIGN | b.to_bits() & exact32::SIGN);
    f32_eq |a, b| a == b;
    f32_ne |a, b| a != b;
    f32_lt |a, b| a < b;
    f32_le |a, b| a <= b;
}
unary! { f32:
    f32_abs |a| f32::from_bits(a.to_bits() & !exact32::SIGN);
    f32_neg |a| f32::from_bits(a.to_bits() ^ exact32::SIGN);
    f32_ceil |a| exact32::round(a, f32::ceil);
    f32_floor |a| exact32::round(a, f32::floor);
    f32_trunc |a| exact32::round(a, f32::trunc);
    f32_nearest |a| exact32::round(a, f32::round_ties_even);
    f32_sqrt |a| a.sqrt();
}
jump! { f32:
    jump_f32_eq |a, b| a == b;
    jump_f32_ne |a, b| a != b;
    jump_f32_lt |a, b| a < b;
    jump_f32_not_lt |a, b| !(a < b);
    jump_f32_le |a, b| a <= b;
    jump_f32_not_le |a, b| !(a <= b);
}

binary! { f64:
    f64_add |a, b| a + b;
    f64_sub |a, b| a - b;
    f64_mul |a, b| a * b;
    f64_div |a, b| a / b;
    f64_min |a, b| exact64::min(a, b);
    f64_max |a, b| exact64::max(a, b);
    f64_copysign |a, b| f64::from_bits(a.to_bits() & !exact64::SIGN | b.to_bits() & exact64::SIGN);
    f64_eq |a, b| a == b;
    f64_ne |a, b| a != b;
    f64_lt |a, b| a < b;
    f64_le |a, b| a <= b;
}
unary! { f64:
    f64_abs |a| f64::from_bits(a.to_bits() & !exact64::SIGN);
    f64_neg |a| f64::from_bits(a.to_bits() ^ exact64::SIGN);
    f64_ceil |a| exact64::round(a, f64::ceil);
    f64_floor |a| exact64::round(a, f64::floor);
    f64_trunc |a| exact64::round(a, f64::trunc);
    f64_nearest |a| exact64::round(a, f64::round_ties_even);
    f64_sqrt |a| a.sqrt();
}
jump! { f64:
    jump_f64_eq |a, b| a == b;
    jump_f64_ne |a, b| a != b;
    jump_f64_lt |a, b| a < b;
    jump_f64_not_lt |a, b| !(a < b);
    jump_f64_le |a, b| a <= b;
    jump_f64_not_le |a, b| !(a <= b);
}
