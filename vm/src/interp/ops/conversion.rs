//! Conversions between number types.
#![expect(clippy::manual_range_contains, reason = "the two bounds read as the specification states them")]

use crate::bytecode::Slot;
use crate::interp::machine::{Flow, Regs, SlotValue};
use crate::trap::TrapCode;

macro_rules! convert {
    ($($name:ident $get:ident |$a:ident| $result:expr;)*) => {
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

/// Truncations that trap: the range is tested on the value before it is rounded.
macro_rules! truncate {
    ($($name:ident $get:ident -> $ty:ty, |$a:ident| $in_range:expr;)*) => {
        $(
            #[inline(always)]
            pub(in crate::interp) unsafe fn $name<const M: u8>(regs: &mut Regs, dst: Slot, a: Slot) -> Flow {
                // SAFETY: see `super`.
                unsafe {
                    let $a = <$get as SlotValue>::from_bits(regs.first::<M>(a));
                    if !$in_range {
                        return regs.trap(if $a.is_nan() {
                            TrapCode::BadConversionToInteger
                        } else {
                            TrapCode::IntegerOverflow
                        });
                    }
                    regs.set(dst, $a as $ty);
                    regs.next()
                }
            }
        )*
    };
}

convert! {
    i32_wrap_i64 u64 |a| a as u32;
    i64_extend_i32_s u32 |a| a as i32 as i64;
    f32_demote_f64 f64 |a| a as f32;
    f64_promote_f32 f32 |a| a as f64;
    i32_trunc_sat_f32_s f32 |a| a as i32;
    f32_convert_i32_s u32 |a| a as i32 as f32;
    i32_trunc_sat_f32_u f32 |a| a as u32;
    f32_convert_i32_u u32 |a| a as u32 as f32;
    i32_trunc_sat_f64_s f64 |a| a as i32;
    f64_convert_i32_s u32 |a| a as i32 as f64;
    i32_trunc_sat_f64_u f64 |a| a as u32;
    f64_convert_i32_u u32 |a| a as u32 as f64;
    i64_trunc_sat_f32_s f32 |a| a as i64;
    f32_convert_i64_s u64 |a| a as i64 as f32;
    i64_trunc_sat_f32_u f32 |a| a as u64;
    f32_convert_i64_u u64 |a| a as u64 as f32;
    i64_trunc_sat_f64_s f64 |a| a as i64;
    f64_convert_i64_s u64 |a| a as i64 as f64;
    i64_trunc_sat_f64_u f64 |a| a as u64;
    f64_convert_i64_u u64 |a| a as u64 as f64;
}

// In f32, and in f64 for 64-bit results, no value lies between the least integer and the one below it.
truncate! {
    i32_trunc_f32_s f32 -> i32, |a| (a >= -2147483648.0 && a < 2147483648.0);
    i32_trunc_f32_u f32 -> u32, |a| (a > -1.0 && a < 4294967296.0);
    i32_trunc_f64_s f64 -> i32, |a| (a > -2147483649.0 && a < 2147483648.0);
    i32_trunc_f64_u f64 -> u32, |a| (a > -1.0 && a < 4294967296.0);
    i64_trunc_f32_s f32 -> i64, |a| (a >= -9223372036854775808.0 && a < 9223372036854775808.0);
    i64_trunc_f32_u f32 -> u64, |a| (a > -1.0 && a < 18446744073709551616.0);
    i64_trunc_f64_s f64 -> i64, |a| (a >= -9223372036854775808.0 && a < 9223372036854775808.0);
    i64_trunc_f64_u f64 -> u64, |a| (a > -1.0 && a < 18446744073709551616.0);
}
