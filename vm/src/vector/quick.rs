//! The commonest functions of two vectors as the processor's own instructions (SSE2, which every x86-64 has), for the interpreter: each stands in its op's code, so that
//! nothing is called and the interpreter's registers stay where they are. What they compute is [`super::functions`]'; a test compares all of them.

use super::Binary;
use std::arch::x86_64::*;

macro_rules! quick {
    ($($operator:ident $ty:ident $instruction:ident;)*) => {
        impl Binary {
            /// Whether the function is one of these.
            pub(crate) fn is_quick(self) -> bool {
                matches!(self, $(Binary::$operator)|*)
            }

            /// What the function computes, if it is one of these.
            #[inline(always)]
            // (where the type is the register's own there is nothing to change)
            #[allow(clippy::useless_transmute)]
            pub(crate) fn quick(self, a: __m128i, b: __m128i) -> Option<__m128i> {
                match self {
                    // SAFETY: SSE2 is part of x86-64, and vector types are 16 bytes of which any are valid.
                    $(Binary::$operator => Some(unsafe {
                        std::mem::transmute::<$ty, __m128i>($instruction(std::mem::transmute::<__m128i, $ty>(a), std::mem::transmute::<__m128i, $ty>(b)))
                    }),)*
                    _ => None,
                }
            }
        }
    };
}
quick! {
    F32x4Add __m128 _mm_add_ps;
    F32x4Sub __m128 _mm_sub_ps;
    F32x4Mul __m128 _mm_mul_ps;
    F32x4Div __m128 _mm_div_ps;
    F64x2Add __m128d _mm_add_pd;
    F64x2Sub __m128d _mm_sub_pd;
    F64x2Mul __m128d _mm_mul_pd;
    F64x2Div __m128d _mm_div_pd;
    I8x16Add __m128i _mm_add_epi8;
    I8x16Sub __m128i _mm_sub_epi8;
    I8x16AddSatU __m128i _mm_adds_epu8;
    I8x16SubSatU __m128i _mm_subs_epu8;
    I8x16AvgrU __m128i _mm_avg_epu8;
    I8x16MinU __m128i _mm_min_epu8;
    I8x16MaxU __m128i _mm_max_epu8;
    I8x16Eq __m128i _mm_cmpeq_epi8;
    I8x16NarrowI16x8S __m128i _mm_packs_epi16;
    I8x16NarrowI16x8U __m128i _mm_packus_epi16;
    I16x8Add __m128i _mm_add_epi16;
    I16x8Sub __m128i _mm_sub_epi16;
    I16x8Mul __m128i _mm_mullo_epi16;
    I16x8MinS __m128i _mm_min_epi16;
    I16x8MaxS __m128i _mm_max_epi16;
    I16x8Eq __m128i _mm_cmpeq_epi16;
    I16x8GtS __m128i _mm_cmpgt_epi16;
    I32x4Add __m128i _mm_add_epi32;
    I32x4Sub __m128i _mm_sub_epi32;
    I32x4Eq __m128i _mm_cmpeq_epi32;
    I32x4GtS __m128i _mm_cmpgt_epi32;
    I32x4DotI16x8S __m128i _mm_madd_epi16;
    I64x2Add __m128i _mm_add_epi64;
    I64x2Sub __m128i _mm_sub_epi64;
    V128And __m128i _mm_and_si128;
    V128Or __m128i _mm_or_si128;
    V128Xor __m128i _mm_xor_si128;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_way_is_the_plain_one() {
        // Small lanes, full ones, signs, floats of every kind but NaN (whose payloads differ).
        let words: [u64; 12] = [
            0,
            1,
            u64::MAX,
            0x8000_8000_8000_8000,
            0x7fff_ffff_8000_0000,
            0x0102_7f80_ff00_8001,
            1.5f64.to_bits(),
            (-0.0f64).to_bits(),
            f64::MAX.to_bits(),
            u64::from(2.5f32.to_bits()) << 32 | u64::from((-7.0f32).to_bits()),
            u64::from(f32::MIN_POSITIVE.to_bits()) << 32 | u64::from(1e30f32.to_bits()),
            0x3f80_0000_4000_0000,
        ];
        let vectors: Vec<u128> =
            words.iter().flat_map(|&low| words.iter().map(move |&high| u128::from(low) | u128::from(high) << 64)).collect();
        let is_nan = |name: &str, value: u128| {
            let lanes = value.to_le_bytes();
            match name {
                _ if name.starts_with("F32") => lanes.chunks(4).any(|lane| f32::from_le_bytes(lane.try_into().unwrap()).is_nan()),
                _ if name.starts_with("F64") => lanes.chunks(8).any(|lane| f64::from_le_bytes(lane.try_into().unwrap()).is_nan()),
                _ => false,
            }
        };
        let mut compared = 0;
        for function in Binary::ALL {
            let name = format!("{function:?}");
            for (&a, &b) in vectors.iter().flat_map(|a| vectors.iter().map(move |b| (a, b))) {
                // SAFETY: both are 16 bytes of which any are valid.
                let quick = unsafe { function.quick(std::mem::transmute::<u128, __m128i>(a), std::mem::transmute::<u128, __m128i>(b)) };
                // SAFETY: as above.
                let (Some(quick), plain) = (quick.map(|it| unsafe { std::mem::transmute::<__m128i, u128>(it) }), function.call(a, b))
                else {
                    break;
                };
                compared += 1;
                assert!(
                    quick == plain || is_nan(&name, plain) && is_nan(&name, quick),
                    "{name} of {a:#x} and {b:#x}: {quick:#x}, not {plain:#x}"
                );
            }
        }
        assert_eq!(compared, 35 * 144 * 144);
    }
}
