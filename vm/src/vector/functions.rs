//! The table: one line an operator gives its name in [`wasmparser::Operator`] and what it computes.

use super::lanes::{Lane, all, compare, lane, map, mask, narrow, pairs, pairs2, splat, widen, widen2, zip, zip3};
use super::{fuses, sign_extend};
use crate::interp::{exact32, exact64};
use wasmparser::Operator;

macro_rules! functions {
    ($(#[$m:meta])* $name:ident ($($arg:ident: $ty:ty),*) -> $result:ty { $($operator:ident = $body:expr;)* }) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u16)]
        #[allow(missing_docs)]
        pub enum $name { $($operator),* }

        impl $name {
            /// All of them.
            pub const ALL: &[$name] = &[$($name::$operator),*];

            /// The function that an operator is, if it is one of these.
            pub fn of(operator: &Operator<'_>) -> Option<$name> {
                match operator {
                    $(Operator::$operator => Some($name::$operator),)*
                    _ => None,
                }
            }

            /// What it computes.
            pub fn call(self, $($arg: $ty),*) -> $result {
                let function: fn($($ty),*) -> $result = match self {
                    $($name::$operator => $body,)*
                };
                function($($arg),*)
            }
        }
    };
}

functions! {
    /// Functions of one vector.
    Unary(a: u128) -> u128 {
        V128Not = |a| !a;
        I8x16Abs = |a| map(a, i8::wrapping_abs);
        I8x16Neg = |a| map(a, i8::wrapping_neg);
        I8x16Popcnt = |a| map(a, |x: u8| x.count_ones() as u8);
        I16x8Abs = |a| map(a, i16::wrapping_abs);
        I16x8Neg = |a| map(a, i16::wrapping_neg);
        I32x4Abs = |a| map(a, i32::wrapping_abs);
        I32x4Neg = |a| map(a, i32::wrapping_neg);
        I64x2Abs = |a| map(a, i64::wrapping_abs);
        I64x2Neg = |a| map(a, i64::wrapping_neg);
        I16x8ExtAddPairwiseI8x16S = |a| pairs(a, |x: i8, y: i8| i16::from(x) + i16::from(y));
        I16x8ExtAddPairwiseI8x16U = |a| pairs(a, |x: u8, y: u8| u16::from(x) + u16::from(y));
        I16x8ExtendLowI8x16S = |a| widen(a, false, |x: i8| i16::from(x));
        I16x8ExtendLowI8x16U = |a| widen(a, false, |x: u8| u16::from(x));
        I16x8ExtendHighI8x16S = |a| widen(a, true, |x: i8| i16::from(x));
        I16x8ExtendHighI8x16U = |a| widen(a, true, |x: u8| u16::from(x));
        I32x4ExtAddPairwiseI16x8S = |a| pairs(a, |x: i16, y: i16| i32::from(x) + i32::from(y));
        I32x4ExtAddPairwiseI16x8U = |a| pairs(a, |x: u16, y: u16| u32::from(x) + u32::from(y));
        I32x4ExtendLowI16x8S = |a| widen(a, false, |x: i16| i32::from(x));
        I32x4ExtendLowI16x8U = |a| widen(a, false, |x: u16| u32::from(x));
        I32x4ExtendHighI16x8S = |a| widen(a, true, |x: i16| i32::from(x));
        I32x4ExtendHighI16x8U = |a| widen(a, true, |x: u16| u32::from(x));
        I64x2ExtendLowI32x4S = |a| widen(a, false, |x: i32| i64::from(x));
        I64x2ExtendLowI32x4U = |a| widen(a, false, |x: u32| u64::from(x));
        I64x2ExtendHighI32x4S = |a| widen(a, true, |x: i32| i64::from(x));
        I64x2ExtendHighI32x4U = |a| widen(a, true, |x: u32| u64::from(x));
        F32x4Ceil = |a| map(a, |x| exact32::round(x, f32::ceil));
        F32x4Floor = |a| map(a, |x| exact32::round(x, f32::floor));
        F32x4Trunc = |a| map(a, |x| exact32::round(x, f32::trunc));
        F32x4Nearest = |a| map(a, |x| exact32::round(x, f32::round_ties_even));
        F32x4Abs = |a| map(a, |x: u32| x & !exact32::SIGN);
        F32x4Neg = |a| map(a, |x: u32| x ^ exact32::SIGN);
        F32x4Sqrt = |a| map(a, f32::sqrt);
        F64x2Ceil = |a| map(a, |x| exact64::round(x, f64::ceil));
        F64x2Floor = |a| map(a, |x| exact64::round(x, f64::floor));
        F64x2Trunc = |a| map(a, |x| exact64::round(x, f64::trunc));
        F64x2Nearest = |a| map(a, |x| exact64::round(x, f64::round_ties_even));
        F64x2Abs = |a| map(a, |x: u64| x & !exact64::SIGN);
        F64x2Neg = |a| map(a, |x: u64| x ^ exact64::SIGN);
        F64x2Sqrt = |a| map(a, f64::sqrt);
        I32x4TruncSatF32x4S = |a| map(a, |x: f32| x as i32);
        I32x4TruncSatF32x4U = |a| map(a, |x: f32| x as u32);
        F32x4ConvertI32x4S = |a| map(a, |x: i32| x as f32);
        F32x4ConvertI32x4U = |a| map(a, |x: u32| x as f32);
        I32x4TruncSatF64x2SZero = |a| map(a, |x: f64| x as i32);
        I32x4TruncSatF64x2UZero = |a| map(a, |x: f64| x as u32);
        F64x2ConvertLowI32x4S = |a| map(a, |x: i32| f64::from(x));
        F64x2ConvertLowI32x4U = |a| map(a, |x: u32| f64::from(x));
        F32x4DemoteF64x2Zero = |a| map(a, |x: f64| x as f32);
        F64x2PromoteLowF32x4 = |a| map(a, |x: f32| f64::from(x));
        I32x4RelaxedTruncF32x4S = |a| map(a, |x: f32| truncated(x.into()));
        I32x4RelaxedTruncF32x4U = |a| map(a, |x: f32| x as u32);
        I32x4RelaxedTruncF64x2SZero = |a| map(a, truncated);
        I32x4RelaxedTruncF64x2UZero = |a| map(a, |x: f64| x as u32);
    }
}

functions! {
    /// Functions of two vectors.
    Binary(a: u128, b: u128) -> u128 {
        I8x16Swizzle = |a, b| zip::<u8, u8>(b, b, |index, _| if index < 16 { lane(a, index.into()) } else { 0 });
        I8x16Eq = |a, b| compare::<u8, u8>(a, b, |x, y| x == y);
        I8x16Ne = |a, b| compare::<u8, u8>(a, b, |x, y| x != y);
        I8x16LtS = |a, b| compare::<i8, u8>(a, b, |x, y| x < y);
        I8x16LtU = |a, b| compare::<u8, u8>(a, b, |x, y| x < y);
        I8x16GtS = |a, b| compare::<i8, u8>(a, b, |x, y| x > y);
        I8x16GtU = |a, b| compare::<u8, u8>(a, b, |x, y| x > y);
        I8x16LeS = |a, b| compare::<i8, u8>(a, b, |x, y| x <= y);
        I8x16LeU = |a, b| compare::<u8, u8>(a, b, |x, y| x <= y);
        I8x16GeS = |a, b| compare::<i8, u8>(a, b, |x, y| x >= y);
        I8x16GeU = |a, b| compare::<u8, u8>(a, b, |x, y| x >= y);
        I16x8Eq = |a, b| compare::<u16, u16>(a, b, |x, y| x == y);
        I16x8Ne = |a, b| compare::<u16, u16>(a, b, |x, y| x != y);
        I16x8LtS = |a, b| compare::<i16, u16>(a, b, |x, y| x < y);
        I16x8LtU = |a, b| compare::<u16, u16>(a, b, |x, y| x < y);
        I16x8GtS = |a, b| compare::<i16, u16>(a, b, |x, y| x > y);
        I16x8GtU = |a, b| compare::<u16, u16>(a, b, |x, y| x > y);
        I16x8LeS = |a, b| compare::<i16, u16>(a, b, |x, y| x <= y);
        I16x8LeU = |a, b| compare::<u16, u16>(a, b, |x, y| x <= y);
        I16x8GeS = |a, b| compare::<i16, u16>(a, b, |x, y| x >= y);
        I16x8GeU = |a, b| compare::<u16, u16>(a, b, |x, y| x >= y);
        I32x4Eq = |a, b| compare::<u32, u32>(a, b, |x, y| x == y);
        I32x4Ne = |a, b| compare::<u32, u32>(a, b, |x, y| x != y);
        I32x4LtS = |a, b| compare::<i32, u32>(a, b, |x, y| x < y);
        I32x4LtU = |a, b| compare::<u32, u32>(a, b, |x, y| x < y);
        I32x4GtS = |a, b| compare::<i32, u32>(a, b, |x, y| x > y);
        I32x4GtU = |a, b| compare::<u32, u32>(a, b, |x, y| x > y);
        I32x4LeS = |a, b| compare::<i32, u32>(a, b, |x, y| x <= y);
        I32x4LeU = |a, b| compare::<u32, u32>(a, b, |x, y| x <= y);
        I32x4GeS = |a, b| compare::<i32, u32>(a, b, |x, y| x >= y);
        I32x4GeU = |a, b| compare::<u32, u32>(a, b, |x, y| x >= y);
        I64x2Eq = |a, b| compare::<u64, u64>(a, b, |x, y| x == y);
        I64x2Ne = |a, b| compare::<u64, u64>(a, b, |x, y| x != y);
        I64x2LtS = |a, b| compare::<i64, u64>(a, b, |x, y| x < y);
        I64x2GtS = |a, b| compare::<i64, u64>(a, b, |x, y| x > y);
        I64x2LeS = |a, b| compare::<i64, u64>(a, b, |x, y| x <= y);
        I64x2GeS = |a, b| compare::<i64, u64>(a, b, |x, y| x >= y);
        F32x4Eq = |a, b| compare::<f32, u32>(a, b, |x, y| x == y);
        F32x4Ne = |a, b| compare::<f32, u32>(a, b, |x, y| x != y);
        F32x4Lt = |a, b| compare::<f32, u32>(a, b, |x, y| x < y);
        F32x4Gt = |a, b| compare::<f32, u32>(a, b, |x, y| x > y);
        F32x4Le = |a, b| compare::<f32, u32>(a, b, |x, y| x <= y);
        F32x4Ge = |a, b| compare::<f32, u32>(a, b, |x, y| x >= y);
        F64x2Eq = |a, b| compare::<f64, u64>(a, b, |x, y| x == y);
        F64x2Ne = |a, b| compare::<f64, u64>(a, b, |x, y| x != y);
        F64x2Lt = |a, b| compare::<f64, u64>(a, b, |x, y| x < y);
        F64x2Gt = |a, b| compare::<f64, u64>(a, b, |x, y| x > y);
        F64x2Le = |a, b| compare::<f64, u64>(a, b, |x, y| x <= y);
        F64x2Ge = |a, b| compare::<f64, u64>(a, b, |x, y| x >= y);
        V128And = |a, b| a & b;
        V128AndNot = |a, b| a & !b;
        V128Or = |a, b| a | b;
        V128Xor = |a, b| a ^ b;
        I8x16Add = |a, b| zip(a, b, u8::wrapping_add);
        I8x16Sub = |a, b| zip(a, b, u8::wrapping_sub);
        I8x16AddSatS = |a, b| zip(a, b, i8::saturating_add);
        I8x16AddSatU = |a, b| zip(a, b, u8::saturating_add);
        I8x16SubSatS = |a, b| zip(a, b, i8::saturating_sub);
        I8x16SubSatU = |a, b| zip(a, b, u8::saturating_sub);
        I8x16AvgrU = |a, b| zip(a, b, |x: u8, y: u8| (u32::from(x) + u32::from(y)).div_ceil(2) as u8);
        I8x16MinS = |a, b| zip(a, b, i8::min);
        I8x16MinU = |a, b| zip(a, b, u8::min);
        I8x16MaxS = |a, b| zip(a, b, i8::max);
        I8x16MaxU = |a, b| zip(a, b, u8::max);
        I16x8Add = |a, b| zip(a, b, u16::wrapping_add);
        I16x8Sub = |a, b| zip(a, b, u16::wrapping_sub);
        I16x8Mul = |a, b| zip(a, b, u16::wrapping_mul);
        I16x8AddSatS = |a, b| zip(a, b, i16::saturating_add);
        I16x8AddSatU = |a, b| zip(a, b, u16::saturating_add);
        I16x8SubSatS = |a, b| zip(a, b, i16::saturating_sub);
        I16x8SubSatU = |a, b| zip(a, b, u16::saturating_sub);
        I16x8AvgrU = |a, b| zip(a, b, |x: u16, y: u16| (u32::from(x) + u32::from(y)).div_ceil(2) as u16);
        I16x8MinS = |a, b| zip(a, b, i16::min);
        I16x8MinU = |a, b| zip(a, b, u16::min);
        I16x8MaxS = |a, b| zip(a, b, i16::max);
        I16x8MaxU = |a, b| zip(a, b, u16::max);
        I32x4Add = |a, b| zip(a, b, u32::wrapping_add);
        I32x4Sub = |a, b| zip(a, b, u32::wrapping_sub);
        I32x4Mul = |a, b| zip(a, b, u32::wrapping_mul);
        I32x4MinS = |a, b| zip(a, b, i32::min);
        I32x4MinU = |a, b| zip(a, b, u32::min);
        I32x4MaxS = |a, b| zip(a, b, i32::max);
        I32x4MaxU = |a, b| zip(a, b, u32::max);
        I64x2Add = |a, b| zip(a, b, u64::wrapping_add);
        I64x2Sub = |a, b| zip(a, b, u64::wrapping_sub);
        I64x2Mul = |a, b| zip(a, b, u64::wrapping_mul);
        I8x16NarrowI16x8S = |a, b| narrow(a, b, |x: i16| x.clamp(i8::MIN.into(), i8::MAX.into()) as i8);
        I8x16NarrowI16x8U = |a, b| narrow(a, b, |x: i16| x.clamp(0, u8::MAX.into()) as u8);
        I16x8ExtMulLowI8x16S = |a, b| widen2(a, b, false, |x: i8, y: i8| i16::from(x) * i16::from(y));
        I16x8ExtMulLowI8x16U = |a, b| widen2(a, b, false, |x: u8, y: u8| u16::from(x) * u16::from(y));
        I16x8ExtMulHighI8x16S = |a, b| widen2(a, b, true, |x: i8, y: i8| i16::from(x) * i16::from(y));
        I16x8ExtMulHighI8x16U = |a, b| widen2(a, b, true, |x: u8, y: u8| u16::from(x) * u16::from(y));
        I16x8NarrowI32x4S = |a, b| narrow(a, b, |x: i32| x.clamp(i16::MIN.into(), i16::MAX.into()) as i16);
        I16x8NarrowI32x4U = |a, b| narrow(a, b, |x: i32| x.clamp(0, u16::MAX.into()) as u16);
        I32x4ExtMulLowI16x8S = |a, b| widen2(a, b, false, |x: i16, y: i16| i32::from(x) * i32::from(y));
        I32x4ExtMulLowI16x8U = |a, b| widen2(a, b, false, |x: u16, y: u16| u32::from(x) * u32::from(y));
        I32x4ExtMulHighI16x8S = |a, b| widen2(a, b, true, |x: i16, y: i16| i32::from(x) * i32::from(y));
        I32x4ExtMulHighI16x8U = |a, b| widen2(a, b, true, |x: u16, y: u16| u32::from(x) * u32::from(y));
        I64x2ExtMulLowI32x4S = |a, b| widen2(a, b, false, |x: i32, y: i32| i64::from(x) * i64::from(y));
        I64x2ExtMulLowI32x4U = |a, b| widen2(a, b, false, |x: u32, y: u32| u64::from(x) * u64::from(y));
        I64x2ExtMulHighI32x4S = |a, b| widen2(a, b, true, |x: i32, y: i32| i64::from(x) * i64::from(y));
        I64x2ExtMulHighI32x4U = |a, b| widen2(a, b, true, |x: u32, y: u32| u64::from(x) * u64::from(y));
        I16x8Q15MulrSatS = |a, b| zip(a, b, |x: i16, y: i16| q15(x, y).clamp(i16::MIN.into(), i16::MAX.into()) as i16);
        I32x4DotI16x8S = |a, b| pairs2(a, b, |x: [i16; 2], y: [i16; 2]| product(x[0], y[0]).wrapping_add(product(x[1], y[1])));
        F32x4Add = |a, b| zip(a, b, |x: f32, y: f32| x + y);
        F32x4Sub = |a, b| zip(a, b, |x: f32, y: f32| x - y);
        F32x4Mul = |a, b| zip(a, b, |x: f32, y: f32| x * y);
        F32x4Div = |a, b| zip(a, b, |x: f32, y: f32| x / y);
        F32x4Min = |a, b| zip(a, b, exact32::min);
        F32x4Max = |a, b| zip(a, b, exact32::max);
        F32x4PMin = |a, b| zip(a, b, |x: f32, y: f32| if y < x { y } else { x });
        F32x4RelaxedMin = |a, b| zip(a, b, |x: f32, y: f32| if y < x { y } else { x });
        F32x4PMax = |a, b| zip(a, b, |x: f32, y: f32| if x < y { y } else { x });
        F32x4RelaxedMax = |a, b| zip(a, b, |x: f32, y: f32| if x < y { y } else { x });
        F64x2Add = |a, b| zip(a, b, |x: f64, y: f64| x + y);
        F64x2Sub = |a, b| zip(a, b, |x: f64, y: f64| x - y);
        F64x2Mul = |a, b| zip(a, b, |x: f64, y: f64| x * y);
        F64x2Div = |a, b| zip(a, b, |x: f64, y: f64| x / y);
        F64x2Min = |a, b| zip(a, b, exact64::min);
        F64x2Max = |a, b| zip(a, b, exact64::max);
        F64x2PMin = |a, b| zip(a, b, |x: f64, y: f64| if y < x { y } else { x });
        F64x2RelaxedMin = |a, b| zip(a, b, |x: f64, y: f64| if y < x { y } else { x });
        F64x2PMax = |a, b| zip(a, b, |x: f64, y: f64| if x < y { y } else { x });
        F64x2RelaxedMax = |a, b| zip(a, b, |x: f64, y: f64| if x < y { y } else { x });
        I8x16RelaxedSwizzle = |a, b| zip::<u8, u8>(b, b, |index, _| if index < 128 { lane(a, (index & 15).into()) } else { 0 });
        I16x8RelaxedQ15mulrS = |a, b| zip(a, b, |x: i16, y: i16| q15(x, y) as i16);
        I16x8RelaxedDotI8x16I7x16S = relaxed_dot;
    }
}

functions! {
    /// Functions of three vectors.
    Ternary(a: u128, b: u128, c: u128) -> u128 {
        V128Bitselect = |a, b, c| a & c | b & !c;
        F32x4RelaxedMadd = |a, b, c| zip3(a, b, c, |x: f32, y: f32, z: f32| if fuses() { x.mul_add(y, z) } else { x * y + z });
        F32x4RelaxedNmadd = |a, b, c| zip3(a, b, c, |x: f32, y: f32, z: f32| if fuses() { (-x).mul_add(y, z) } else { z - x * y });
        F64x2RelaxedMadd = |a, b, c| zip3(a, b, c, |x: f64, y: f64, z: f64| if fuses() { x.mul_add(y, z) } else { x * y + z });
        F64x2RelaxedNmadd = |a, b, c| zip3(a, b, c, |x: f64, y: f64, z: f64| if fuses() { (-x).mul_add(y, z) } else { z - x * y });
        I8x16RelaxedLaneselect = |a, b, c| select_by_sign::<i8>(a, b, c);
        I16x8RelaxedLaneselect = |a, b, c| a & c | b & !c;
        I32x4RelaxedLaneselect = |a, b, c| select_by_sign::<i32>(a, b, c);
        I64x2RelaxedLaneselect = |a, b, c| select_by_sign::<i64>(a, b, c);
        I32x4RelaxedDotI8x16I7x16AddS = |a, b, c| zip(pairs(relaxed_dot(a, b), |x: i16, y: i16| i32::from(x) + i32::from(y)), c, i32::wrapping_add);
    }
}

functions! {
    /// Shifts of every lane by the same distance, which counts modulo the size of a lane.
    Shift(a: u128, by: u32) -> u128 {
        I8x16Shl = |a, by| map(a, |x: u8| x.wrapping_shl(by));
        I8x16ShrS = |a, by| map(a, |x: i8| x.wrapping_shr(by));
        I8x16ShrU = |a, by| map(a, |x: u8| x.wrapping_shr(by));
        I16x8Shl = |a, by| map(a, |x: u16| x.wrapping_shl(by));
        I16x8ShrS = |a, by| map(a, |x: i16| x.wrapping_shr(by));
        I16x8ShrU = |a, by| map(a, |x: u16| x.wrapping_shr(by));
        I32x4Shl = |a, by| map(a, |x: u32| x.wrapping_shl(by));
        I32x4ShrS = |a, by| map(a, |x: i32| x.wrapping_shr(by));
        I32x4ShrU = |a, by| map(a, |x: u32| x.wrapping_shr(by));
        I64x2Shl = |a, by| map(a, |x: u64| x.wrapping_shl(by));
        I64x2ShrS = |a, by| map(a, |x: i64| x.wrapping_shr(by));
        I64x2ShrU = |a, by| map(a, |x: u64| x.wrapping_shr(by));
    }
}

functions! {
    /// A vector all of whose lanes are a scalar's low bits.
    Splat(value: u64) -> u128 {
        I8x16Splat = splat::<u8>;
        I16x8Splat = splat::<u16>;
        I32x4Splat = splat::<u32>;
        I64x2Splat = splat::<u64>;
        F32x4Splat = splat::<u32>;
        F64x2Splat = splat::<u64>;
    }
}

functions! {
    /// An i32 (as a slot) that says something of all lanes.
    Reduce(a: u128) -> u64 {
        V128AnyTrue = |a| u64::from(a != 0);
        I8x16AllTrue = |a| all(a, |x: u8| x != 0);
        I8x16Bitmask = |a| mask(a, |x: i8| x < 0);
        I16x8AllTrue = |a| all(a, |x: u16| x != 0);
        I16x8Bitmask = |a| mask(a, |x: i16| x < 0);
        I32x4AllTrue = |a| all(a, |x: u32| x != 0);
        I32x4Bitmask = |a| mask(a, |x: i32| x < 0);
        I64x2AllTrue = |a| all(a, |x: u64| x != 0);
        I64x2Bitmask = |a| mask(a, |x: i64| x < 0);
    }
}

/// How a lane that is taken out becomes a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum Extract {
    I8S,
    I8U,
    I16S,
    I16U,
    Word,
    Long,
}

impl Extract {
    /// All of them.
    pub const ALL: &[Extract] = &[Extract::I8S, Extract::I8U, Extract::I16S, Extract::I16U, Extract::Word, Extract::Long];

    /// The way and the number of the lane that an operator takes out.
    pub fn of(operator: &Operator<'_>) -> Option<(Extract, u8)> {
        Some(match *operator {
            Operator::I8x16ExtractLaneS { lane } => (Extract::I8S, lane),
            Operator::I8x16ExtractLaneU { lane } => (Extract::I8U, lane),
            Operator::I16x8ExtractLaneS { lane } => (Extract::I16S, lane),
            Operator::I16x8ExtractLaneU { lane } => (Extract::I16U, lane),
            Operator::I32x4ExtractLane { lane } | Operator::F32x4ExtractLane { lane } => (Extract::Word, lane),
            Operator::I64x2ExtractLane { lane } | Operator::F64x2ExtractLane { lane } => (Extract::Long, lane),
            _ => return None,
        })
    }

    /// The lane as a slot.
    pub fn call(self, a: u128, index: u32) -> u64 {
        match self {
            Extract::I8S => sign_extend::<i8>(lane::<u8>(a, index).bits()),
            Extract::I8U => lane::<u8>(a, index).bits(),
            Extract::I16S => sign_extend::<i16>(lane::<u16>(a, index).bits()),
            Extract::I16U => lane::<u16>(a, index).bits(),
            Extract::Word => lane::<u32>(a, index).bits(),
            Extract::Long => lane(a, index),
        }
    }
}

fn product(x: i16, y: i16) -> i32 {
    i32::from(x) * i32::from(y)
}

/// The product of two numbers in Q15, rounded; 32768 for the least one's square.
fn q15(x: i16, y: i16) -> i32 {
    (product(x, y) + 0x4000) >> 15
}

/// As the processor truncates to 32 bits: the least number for all that does not fit.
fn truncated(x: f64) -> i32 {
    if x > -2147483649.0 && x < 2147483648.0 { x as i32 } else { i32::MIN }
}

/// Sums of two products of a signed and an unsigned byte each, saturated.
fn relaxed_dot(a: u128, b: u128) -> u128 {
    let product = |x: u8, y: u8| i32::from(x as i8) * i32::from(y);
    pairs2(a, b, |x: [u8; 2], y: [u8; 2]| (product(x[0], y[0]) + product(x[1], y[1])).clamp(i16::MIN.into(), i16::MAX.into()) as i16)
}

/// Lanes of `a` where the top bit of `c`'s lane is set, else of `b`.
fn select_by_sign<T: Lane + PartialOrd>(a: u128, b: u128, c: u128) -> u128 {
    let zero = T::from_bits(0);
    zip3(a, b, c, |x: T, y: T, z: T| if z < zero { x } else { y })
}
