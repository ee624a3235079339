//! The commonest functions as the processor's own instructions (SSE2, which every x86-64 has), for the interpreter: each stands in its op's code, so that
//! nothing is called and the interpreter's registers stay where they are. What they compute is [`super::functions`]'; a test compares all of them.

use super::{Binary, Extract, Load, Reduce, Shift, Splat, Unary};
use std::arch::x86_64::*;

/// What is made of a function that is known when it is compiled.
#[cfg(all(threaded_dispatch, not(debug_assertions)))]
pub(crate) trait Pick {
    /// What that is.
    type Picked;

    /// Makes it for the function with this number, from 1 on, of its enum.
    fn pick<const N: u8>() -> Self::Picked;
}

macro_rules! quick {
    ($name:ident($($arg:ident: $ty:ty),*) -> $result:ty { $($operator:ident = $body:expr;)* }) => {
        const _: () = assert!([$($name::$operator as u32),*].len() < 255);

        impl $name {
            /// Whether the function is one of these.
            #[allow(unused)]
            pub(crate) fn is_quick(self) -> bool {
                matches!(self, $($name::$operator)|*)
            }

            /// What the function computes, if it is one of these.
            ///
            /// # Safety
            /// An argument that is a place can be read, as many bytes as the function is of.
            #[inline(always)]
            #[allow(unreachable_patterns, unused_unsafe)]
            pub(crate) unsafe fn quick(self, $($arg: $ty),*) -> Option<$result> {
                match self {
                    // SAFETY: SSE2 is part of x86-64; the rest is the caller's promise.
                    $($name::$operator => Some(unsafe { $body }),)*
                    _ => None,
                }
            }

            /// What is made for this function, if it is one of these.
            #[cfg(all(threaded_dispatch, not(debug_assertions)))]
            #[allow(unreachable_patterns)]
            pub(crate) fn pick<P: Pick>(self) -> Option<P::Picked> {
                match self {
                    $($name::$operator => Some(P::pick::<{ $name::$operator as u8 + 1 }>()),)*
                    _ => None,
                }
            }

            /// The function with a number that [`Pick`] was given; this one for 0.
            #[inline(always)]
            pub(crate) fn or<const N: u8>(self) -> $name {
                $(if N == $name::$operator as u8 + 1 {
                    return $name::$operator;
                })*
                self
            }
        }
    };
}

/// A function of floats, of vectors of bits.
macro_rules! ps {
    ($f:ident $($arg:expr),*) => { _mm_castps_si128($f($(_mm_castsi128_ps($arg)),*)) };
}
macro_rules! pd {
    ($f:ident $($arg:expr),*) => { _mm_castpd_si128($f($(_mm_castsi128_pd($arg)),*)) };
}

/// The bits of `a` where those of the mask are set, and of `b` where not.
#[inline(always)]
pub(crate) fn blend(mask: __m128i, a: __m128i, b: __m128i) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_or_si128(_mm_and_si128(mask, a), _mm_andnot_si128(mask, b)) }
}

/// Small functions that have no instruction of their own.
macro_rules! helpers {
    ($($name:ident($($arg:ident: $ty:ty),*) = $body:expr;)*) => {
        $(#[inline(always)]
        #[allow(unused_unsafe)]
        fn $name($($arg: $ty),*) -> __m128i {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { $body }
        })*
    };
}
helpers! {
    zero() = _mm_setzero_si128();
    ones() = _mm_set1_epi32(-1);
    not(a: __m128i) = _mm_xor_si128(a, ones());
    // (there are comparisons of signed numbers only)
    shifted32(a: __m128i) = _mm_xor_si128(a, _mm_set1_epi32(i32::MIN));
    above32(a: __m128i, b: __m128i) = _mm_cmpgt_epi32(shifted32(a), shifted32(b));
    at_least8(a: __m128i, b: __m128i) = _mm_cmpeq_epi8(_mm_max_epu8(a, b), a);
    at_least16(a: __m128i, b: __m128i) = _mm_cmpeq_epi16(_mm_subs_epu16(b, a), zero());
    low8_s(a: __m128i) = _mm_srai_epi16::<8>(_mm_unpacklo_epi8(a, a));
    high8_s(a: __m128i) = _mm_srai_epi16::<8>(_mm_unpackhi_epi8(a, a));
    low8_u(a: __m128i) = _mm_unpacklo_epi8(a, zero());
    high8_u(a: __m128i) = _mm_unpackhi_epi8(a, zero());
    low16_s(a: __m128i) = _mm_srai_epi32::<16>(_mm_unpacklo_epi16(a, a));
    high16_s(a: __m128i) = _mm_srai_epi32::<16>(_mm_unpackhi_epi16(a, a));
    low16_u(a: __m128i) = _mm_unpacklo_epi16(a, zero());
    high16_u(a: __m128i) = _mm_unpackhi_epi16(a, zero());
    signs32(a: __m128i) = _mm_srai_epi32::<31>(a);
    signs64(a: __m128i) = _mm_shuffle_epi32::<0b11_11_01_01>(signs32(a));
    low32_s(a: __m128i) = _mm_unpacklo_epi32(a, signs32(a));
    high32_s(a: __m128i) = _mm_unpackhi_epi32(a, signs32(a));
    low32_u(a: __m128i) = _mm_unpacklo_epi32(a, zero());
    high32_u(a: __m128i) = _mm_unpackhi_epi32(a, zero());
    multiply32(a: __m128i, b: __m128i) = {
        let even = _mm_mul_epu32(a, b);
        let odd = _mm_mul_epu32(_mm_srli_epi64::<32>(a), _mm_srli_epi64::<32>(b));
        _mm_unpacklo_epi32(_mm_shuffle_epi32::<0b10_00>(even), _mm_shuffle_epi32::<0b10_00>(odd))
    };
    multiply64(a: __m128i, b: __m128i) = {
        let cross = _mm_add_epi64(_mm_mul_epu32(_mm_srli_epi64::<32>(a), b), _mm_mul_epu32(a, _mm_srli_epi64::<32>(b)));
        _mm_add_epi64(_mm_mul_epu32(a, b), _mm_slli_epi64::<32>(cross))
    };
    // A distance for all lanes of so many bits.
    distance(by: u32, bits: u32) = _mm_cvtsi32_si128((by & (bits - 1)) as i32);
    right8_s(a: __m128i, by: u32) = {
        let by = _mm_cvtsi32_si128(8 + (by & 7) as i32);
        _mm_packs_epi16(_mm_sra_epi16(_mm_unpacklo_epi8(a, a), by), _mm_sra_epi16(_mm_unpackhi_epi8(a, a), by))
    };
    right64_s(a: __m128i, by: u32) = {
        let by = distance(by, 64);
        let sign = _mm_srl_epi64(_mm_set1_epi64x(i64::MIN), by);
        _mm_sub_epi64(_mm_xor_si128(_mm_srl_epi64(a, by), sign), sign)
    };
}

#[inline(always)]
#[allow(unused_unsafe)]
fn bits8(a: __m128i) -> i32 {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_movemask_epi8(a) }
}

quick! {
    Binary(a: __m128i, b: __m128i) -> __m128i {
        F32x4Add = ps!(_mm_add_ps a, b);
        F32x4Sub = ps!(_mm_sub_ps a, b);
        F32x4Mul = ps!(_mm_mul_ps a, b);
        F32x4Div = ps!(_mm_div_ps a, b);
        F64x2Add = pd!(_mm_add_pd a, b);
        F64x2Sub = pd!(_mm_sub_pd a, b);
        F64x2Mul = pd!(_mm_mul_pd a, b);
        F64x2Div = pd!(_mm_div_pd a, b);
        I8x16Add = _mm_add_epi8(a, b);
        I8x16Sub = _mm_sub_epi8(a, b);
        I8x16AddSatU = _mm_adds_epu8(a, b);
        I8x16SubSatU = _mm_subs_epu8(a, b);
        I8x16AvgrU = _mm_avg_epu8(a, b);
        I8x16MinU = _mm_min_epu8(a, b);
        I8x16MaxU = _mm_max_epu8(a, b);
        I8x16Eq = _mm_cmpeq_epi8(a, b);
        I8x16NarrowI16x8S = _mm_packs_epi16(a, b);
        I8x16NarrowI16x8U = _mm_packus_epi16(a, b);
        I16x8Add = _mm_add_epi16(a, b);
        I16x8Sub = _mm_sub_epi16(a, b);
        I16x8Mul = _mm_mullo_epi16(a, b);
        I16x8MinS = _mm_min_epi16(a, b);
        I16x8MaxS = _mm_max_epi16(a, b);
        I16x8Eq = _mm_cmpeq_epi16(a, b);
        I16x8GtS = _mm_cmpgt_epi16(a, b);
        I32x4Add = _mm_add_epi32(a, b);
        I32x4Sub = _mm_sub_epi32(a, b);
        I32x4Eq = _mm_cmpeq_epi32(a, b);
        I32x4GtS = _mm_cmpgt_epi32(a, b);
        I32x4DotI16x8S = _mm_madd_epi16(a, b);
        I64x2Add = _mm_add_epi64(a, b);
        I64x2Sub = _mm_sub_epi64(a, b);
        V128And = _mm_and_si128(a, b);
        V128Or = _mm_or_si128(a, b);
        V128Xor = _mm_xor_si128(a, b);
        I8x16AddSatS = _mm_adds_epi8(a, b);
        I8x16SubSatS = _mm_subs_epi8(a, b);
        I8x16MinS = blend(_mm_cmpgt_epi8(a, b), b, a);
        I8x16MaxS = blend(_mm_cmpgt_epi8(a, b), a, b);
        I8x16Ne = not(_mm_cmpeq_epi8(a, b));
        I8x16LtS = _mm_cmpgt_epi8(b, a);
        I8x16GtS = _mm_cmpgt_epi8(a, b);
        I8x16LeS = not(_mm_cmpgt_epi8(a, b));
        I8x16GeS = not(_mm_cmpgt_epi8(b, a));
        I8x16LtU = not(at_least8(a, b));
        I8x16GtU = not(at_least8(b, a));
        I8x16LeU = at_least8(b, a);
        I8x16GeU = at_least8(a, b);
        I16x8AddSatS = _mm_adds_epi16(a, b);
        I16x8AddSatU = _mm_adds_epu16(a, b);
        I16x8SubSatS = _mm_subs_epi16(a, b);
        I16x8SubSatU = _mm_subs_epu16(a, b);
        I16x8AvgrU = _mm_avg_epu16(a, b);
        I16x8MinU = _mm_sub_epi16(a, _mm_subs_epu16(a, b));
        I16x8MaxU = _mm_add_epi16(b, _mm_subs_epu16(a, b));
        I16x8Ne = not(_mm_cmpeq_epi16(a, b));
        I16x8LtS = _mm_cmpgt_epi16(b, a);
        I16x8LeS = not(_mm_cmpgt_epi16(a, b));
        I16x8GeS = not(_mm_cmpgt_epi16(b, a));
        I16x8LtU = not(at_least16(a, b));
        I16x8GtU = not(at_least16(b, a));
        I16x8LeU = at_least16(b, a);
        I16x8GeU = at_least16(a, b);
        I16x8NarrowI32x4S = _mm_packs_epi32(a, b);
        I16x8ExtMulLowI8x16S = _mm_mullo_epi16(low8_s(a), low8_s(b));
        I16x8ExtMulHighI8x16S = _mm_mullo_epi16(high8_s(a), high8_s(b));
        I16x8ExtMulLowI8x16U = _mm_mullo_epi16(low8_u(a), low8_u(b));
        I16x8ExtMulHighI8x16U = _mm_mullo_epi16(high8_u(a), high8_u(b));
        I32x4Mul = multiply32(a, b);
        I32x4MinS = blend(_mm_cmpgt_epi32(a, b), b, a);
        I32x4MaxS = blend(_mm_cmpgt_epi32(a, b), a, b);
        I32x4MinU = blend(above32(a, b), b, a);
        I32x4MaxU = blend(above32(a, b), a, b);
        I32x4Ne = not(_mm_cmpeq_epi32(a, b));
        I32x4LtS = _mm_cmpgt_epi32(b, a);
        I32x4LeS = not(_mm_cmpgt_epi32(a, b));
        I32x4GeS = not(_mm_cmpgt_epi32(b, a));
        I32x4LtU = above32(b, a);
        I32x4GtU = above32(a, b);
        I32x4LeU = not(above32(a, b));
        I32x4GeU = not(above32(b, a));
        I32x4ExtMulLowI16x8S = _mm_unpacklo_epi16(_mm_mullo_epi16(a, b), _mm_mulhi_epi16(a, b));
        I32x4ExtMulHighI16x8S = _mm_unpackhi_epi16(_mm_mullo_epi16(a, b), _mm_mulhi_epi16(a, b));
        I32x4ExtMulLowI16x8U = _mm_unpacklo_epi16(_mm_mullo_epi16(a, b), _mm_mulhi_epu16(a, b));
        I32x4ExtMulHighI16x8U = _mm_unpackhi_epi16(_mm_mullo_epi16(a, b), _mm_mulhi_epu16(a, b));
        I64x2Mul = multiply64(a, b);
        I64x2ExtMulLowI32x4U = _mm_mul_epu32(_mm_unpacklo_epi32(a, a), _mm_unpacklo_epi32(b, b));
        I64x2ExtMulHighI32x4U = _mm_mul_epu32(_mm_unpackhi_epi32(a, a), _mm_unpackhi_epi32(b, b));
        V128AndNot = _mm_andnot_si128(b, a);
        F32x4Eq = ps!(_mm_cmpeq_ps a, b);
        F32x4Ne = ps!(_mm_cmpneq_ps a, b);
        F32x4Lt = ps!(_mm_cmplt_ps a, b);
        F32x4Gt = ps!(_mm_cmplt_ps b, a);
        F32x4Le = ps!(_mm_cmple_ps a, b);
        F32x4Ge = ps!(_mm_cmple_ps b, a);
        F64x2Eq = pd!(_mm_cmpeq_pd a, b);
        F64x2Ne = pd!(_mm_cmpneq_pd a, b);
        F64x2Lt = pd!(_mm_cmplt_pd a, b);
        F64x2Gt = pd!(_mm_cmplt_pd b, a);
        F64x2Le = pd!(_mm_cmple_pd a, b);
        F64x2Ge = pd!(_mm_cmple_pd b, a);
        F32x4PMin = ps!(_mm_min_ps b, a);
        F32x4PMax = ps!(_mm_max_ps b, a);
        F32x4RelaxedMin = ps!(_mm_min_ps b, a);
        F32x4RelaxedMax = ps!(_mm_max_ps b, a);
        F64x2PMin = pd!(_mm_min_pd b, a);
        F64x2PMax = pd!(_mm_max_pd b, a);
        F64x2RelaxedMin = pd!(_mm_min_pd b, a);
        F64x2RelaxedMax = pd!(_mm_max_pd b, a);
    }
}

quick! {
    Unary(a: __m128i) -> __m128i {
        V128Not = not(a);
        I8x16Abs = _mm_min_epu8(a, _mm_sub_epi8(zero(), a));
        I8x16Neg = _mm_sub_epi8(zero(), a);
        I16x8Abs = _mm_max_epi16(a, _mm_sub_epi16(zero(), a));
        I16x8Neg = _mm_sub_epi16(zero(), a);
        I32x4Abs = _mm_sub_epi32(_mm_xor_si128(a, signs32(a)), signs32(a));
        I32x4Neg = _mm_sub_epi32(zero(), a);
        I64x2Abs = _mm_sub_epi64(_mm_xor_si128(a, signs64(a)), signs64(a));
        I64x2Neg = _mm_sub_epi64(zero(), a);
        I16x8ExtAddPairwiseI8x16S = _mm_add_epi16(_mm_srai_epi16::<8>(_mm_slli_epi16::<8>(a)), _mm_srai_epi16::<8>(a));
        I16x8ExtAddPairwiseI8x16U = _mm_add_epi16(_mm_and_si128(a, _mm_set1_epi16(0xff)), _mm_srli_epi16::<8>(a));
        I16x8ExtendLowI8x16S = low8_s(a);
        I16x8ExtendLowI8x16U = low8_u(a);
        I16x8ExtendHighI8x16S = high8_s(a);
        I16x8ExtendHighI8x16U = high8_u(a);
        I32x4ExtAddPairwiseI16x8S = _mm_madd_epi16(a, _mm_set1_epi16(1));
        I32x4ExtAddPairwiseI16x8U = _mm_add_epi32(_mm_and_si128(a, _mm_set1_epi32(0xffff)), _mm_srli_epi32::<16>(a));
        I32x4ExtendLowI16x8S = low16_s(a);
        I32x4ExtendLowI16x8U = low16_u(a);
        I32x4ExtendHighI16x8S = high16_s(a);
        I32x4ExtendHighI16x8U = high16_u(a);
        I64x2ExtendLowI32x4S = low32_s(a);
        I64x2ExtendLowI32x4U = low32_u(a);
        I64x2ExtendHighI32x4S = high32_s(a);
        I64x2ExtendHighI32x4U = high32_u(a);
        F32x4Abs = _mm_and_si128(a, _mm_set1_epi32(i32::MAX));
        F32x4Neg = _mm_xor_si128(a, _mm_set1_epi32(i32::MIN));
        F32x4Sqrt = ps!(_mm_sqrt_ps a);
        F64x2Abs = _mm_and_si128(a, _mm_set1_epi64x(i64::MAX));
        F64x2Neg = _mm_xor_si128(a, _mm_set1_epi64x(i64::MIN));
        F64x2Sqrt = pd!(_mm_sqrt_pd a);
        F32x4ConvertI32x4S = _mm_castps_si128(_mm_cvtepi32_ps(a));
        F64x2ConvertLowI32x4S = _mm_castpd_si128(_mm_cvtepi32_pd(a));
        F32x4DemoteF64x2Zero = _mm_castps_si128(_mm_cvtpd_ps(_mm_castsi128_pd(a)));
        F64x2PromoteLowF32x4 = _mm_castpd_si128(_mm_cvtps_pd(_mm_castsi128_ps(a)));
    }
}

quick! {
    Shift(a: __m128i, by: u32) -> __m128i {
        I8x16Shl = _mm_and_si128(_mm_sll_epi16(a, distance(by, 8)), _mm_set1_epi8((0xff_u8 << (by & 7)) as i8));
        I8x16ShrS = right8_s(a, by);
        I8x16ShrU = _mm_and_si128(_mm_srl_epi16(a, distance(by, 8)), _mm_set1_epi8((0xff_u8 >> (by & 7)) as i8));
        I16x8Shl = _mm_sll_epi16(a, distance(by, 16));
        I16x8ShrS = _mm_sra_epi16(a, distance(by, 16));
        I16x8ShrU = _mm_srl_epi16(a, distance(by, 16));
        I32x4Shl = _mm_sll_epi32(a, distance(by, 32));
        I32x4ShrS = _mm_sra_epi32(a, distance(by, 32));
        I32x4ShrU = _mm_srl_epi32(a, distance(by, 32));
        I64x2Shl = _mm_sll_epi64(a, distance(by, 64));
        I64x2ShrS = right64_s(a, by);
        I64x2ShrU = _mm_srl_epi64(a, distance(by, 64));
    }
}

quick! {
    Splat(value: u64) -> __m128i {
        I8x16Splat = _mm_set1_epi8(value as i8);
        I16x8Splat = _mm_set1_epi16(value as i16);
        I32x4Splat = _mm_set1_epi32(value as i32);
        I64x2Splat = _mm_set1_epi64x(value as i64);
        F32x4Splat = _mm_set1_epi32(value as i32);
        F64x2Splat = _mm_set1_epi64x(value as i64);
    }
}

quick! {
    Reduce(a: __m128i) -> u64 {
        V128AnyTrue = u64::from(bits8(_mm_cmpeq_epi8(a, zero())) != 0xffff);
        I8x16AllTrue = u64::from(bits8(_mm_cmpeq_epi8(a, zero())) == 0);
        I8x16Bitmask = bits8(a) as u64;
        I16x8AllTrue = u64::from(bits8(_mm_cmpeq_epi16(a, zero())) == 0);
        I16x8Bitmask = bits8(_mm_packs_epi16(a, zero())) as u64;
        I32x4AllTrue = u64::from(bits8(_mm_cmpeq_epi32(a, zero())) == 0);
        I32x4Bitmask = _mm_movemask_ps(_mm_castsi128_ps(a)) as u64;
        I64x2AllTrue = {
            let halves = _mm_cmpeq_epi32(a, zero());
            u64::from(bits8(_mm_and_si128(halves, _mm_shuffle_epi32::<0b10_11_00_01>(halves))) == 0)
        };
        I64x2Bitmask = _mm_movemask_pd(_mm_castsi128_pd(a)) as u64;
    }
}

// The lane at its place: part of what was written as one is forwarded from that.
quick! {
    Extract(vector: *const u8, index: u32) -> u64 {
        I8S = u64::from(i32::from(vector.cast::<i8>().add(index as usize).read()) as u32);
        I8U = vector.add(index as usize).read().into();
        I16S = u64::from(i32::from(vector.cast::<i16>().add(index as usize).read()) as u32);
        I16U = vector.cast::<u16>().add(index as usize).read().into();
        Word = vector.cast::<u32>().add(index as usize).read().into();
        Long = vector.cast::<u64>().add(index as usize).read();
    }
}

quick! {
    Load(place: *const u8) -> __m128i {
        Whole = _mm_loadu_si128(place.cast());
        Extend8S = low8_s(_mm_loadl_epi64(place.cast()));
        Extend8U = low8_u(_mm_loadl_epi64(place.cast()));
        Extend16S = low16_s(_mm_loadl_epi64(place.cast()));
        Extend16U = low16_u(_mm_loadl_epi64(place.cast()));
        Extend32S = low32_s(_mm_loadl_epi64(place.cast()));
        Extend32U = low32_u(_mm_loadl_epi64(place.cast()));
        Splat8 = _mm_set1_epi8(place.cast::<i8>().read());
        Splat16 = _mm_set1_epi16(place.cast::<i16>().read_unaligned());
        Splat32 = _mm_set1_epi32(place.cast::<i32>().read_unaligned());
        Splat64 = _mm_set1_epi64x(place.cast::<i64>().read_unaligned());
        Zero32 = _mm_cvtsi32_si128(place.cast::<i32>().read_unaligned());
        Zero64 = _mm_loadl_epi64(place.cast());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(value: u128) -> __m128i {
        // SAFETY: both are 16 bytes of which any are valid.
        unsafe { std::mem::transmute(value) }
    }

    fn bits(value: __m128i) -> u128 {
        // SAFETY: as above.
        unsafe { std::mem::transmute(value) }
    }

    /// Small lanes, full ones, signs, floats of every kind.
    fn vectors() -> Vec<u128> {
        let words: [u64; 14] = [
            0,
            1,
            u64::MAX,
            0x8000_8000_8000_8000,
            0x7fff_ffff_8000_0000,
            0x0102_7f80_ff00_8001,
            0x8080_0000_0000_0001,
            1.5f64.to_bits(),
            (-0.0f64).to_bits(),
            f64::MAX.to_bits(),
            f64::NAN.to_bits(),
            u64::from(2.5f32.to_bits()) << 32 | u64::from((-7.0f32).to_bits()),
            u64::from(f32::MIN_POSITIVE.to_bits()) << 32 | u64::from(1e30f32.to_bits()),
            0x3f80_0000_4000_0000,
        ];
        words.iter().flat_map(|&low| words.iter().map(move |&high| u128::from(low) | u128::from(high) << 64)).collect()
    }

    /// What computes with floats may give any NaN for another.
    fn same(name: &str, quick: u128, plain: u128) -> bool {
        let computes = ["Add", "Sub", "Mul", "Div", "Sqrt", "Demote", "Promote"].iter().any(|it| name.contains(it));
        let lanes = |value: u128, bytes: usize| {
            (0..16 / bytes).map(move |index| (value >> (8 * bytes * index)) as u64 & (u64::MAX >> (64 - 8 * bytes)))
        };
        match name {
            _ if computes && name.starts_with("F32") => lanes(quick, 4)
                .zip(lanes(plain, 4))
                .all(|(quick, plain)| quick == plain || f32::from_bits(quick as u32).is_nan() && f32::from_bits(plain as u32).is_nan()),
            _ if computes && name.starts_with("F64") => lanes(quick, 8)
                .zip(lanes(plain, 8))
                .all(|(quick, plain)| quick == plain || f64::from_bits(quick).is_nan() && f64::from_bits(plain).is_nan()),
            _ => quick == plain,
        }
    }

    #[test]
    fn the_quick_way_is_the_plain_one() {
        let vectors = vectors();
        let mut compared = 0;
        let mut check = |name: String, arguments: String, quick: Option<u128>, plain: u128| {
            let Some(quick) = quick else { return };
            compared += 1;
            assert!(same(&name, quick, plain), "{name} of {arguments}: {quick:#x}, not {plain:#x}");
        };
        // SAFETY: what places are given can be read, 16 bytes.
        unsafe {
            for &a in &vectors {
                let in_register = register(a);
                let place: *const u8 = (&raw const a).cast();
                for &b in &vectors {
                    for function in Binary::ALL {
                        let quick = function.quick(in_register, register(b)).map(bits);
                        check(format!("{function:?}"), format!("{a:#x} and {b:#x}"), quick, function.call(a, b));
                    }
                }
                for function in Unary::ALL {
                    check(format!("{function:?}"), format!("{a:#x}"), function.quick(in_register).map(bits), function.call(a));
                }
                for function in Shift::ALL {
                    for by in (0..70).chain([u32::MAX]) {
                        let quick = function.quick(in_register, by).map(bits);
                        check(format!("{function:?}"), format!("{a:#x} by {by}"), quick, function.call(a, by));
                    }
                }
                for function in Splat::ALL {
                    let quick = function.quick(a as u64).map(bits);
                    check(format!("bits of {function:?}"), format!("{a:#x}"), quick, function.call(a as u64));
                }
                for function in Reduce::ALL {
                    check(format!("{function:?}"), format!("{a:#x}"), function.quick(in_register).map(u128::from), function.call(a).into());
                }
                for (function, lanes) in
                    [(Extract::I8S, 16), (Extract::I8U, 16), (Extract::I16S, 8), (Extract::I16U, 8), (Extract::Word, 4), (Extract::Long, 2)]
                {
                    for lane in 0..lanes {
                        let quick = function.quick(place, lane).map(u128::from);
                        check(format!("{function:?}"), format!("{a:#x}, {lane}"), quick, function.call(a, lane).into());
                    }
                }
                for &function in Load::ALL {
                    let read = a & (u128::MAX >> (128 - 8 * function.bytes()));
                    check(format!("{function:?}"), format!("{a:#x}"), function.quick(place).map(bits), function.expand(read));
                }
            }
        }
        let (count, pairs) = (vectors.len(), vectors.len() * vectors.len());
        let binary = Binary::ALL.iter().filter(|it| it.is_quick()).count();
        let unary = Unary::ALL.iter().filter(|it| it.is_quick()).count();
        assert_eq!((binary, unary), (109, 35));
        let others = Shift::ALL.len() * 71 + Splat::ALL.len() + Reduce::ALL.len() + 16 + 16 + 8 + 8 + 4 + 2 + Load::ALL.len();
        assert_eq!(compared, binary * pairs + (unary + others) * count);
    }
}
