//! What the operators on v128 compute: the meaning that every tier must agree with, bit for bit but for NaN payloads.
//!
//! [`functions`] is the table, one line an operator; [`lanes`] what the lines are made of; here are the immediates. Slow and plain: compiled code is
//! where vectors are fast.
//!
//! *Relaxed SIMD* leaves results open; these are the choices, which the compiler's lowerings share (each the fastest on x86-64): `relaxed_swizzle`
//! gives 0 for an index with its top bit set and takes the others modulo 16 (`pshufb`); the signed truncations give `i32::MIN` for what does not fit
//! (`cvttps2dq`, `cvttpd2dq`), the unsigned ones saturate; `relaxed_madd` rounds once where the processor has FMA and twice elsewhere ([`fuses`]);
//! `relaxed_laneselect` looks at the top bit of each lane (`pblendvb` and its kin), in `i16x8` at each bit; `relaxed_min` and `max` are `pmin` and
//! `pmax`; `relaxed_q15mulr` wraps (`pmulhrsw`); `relaxed_dot` takes its second operand as unsigned and saturates the sum of two products (`pmaddubsw`).

mod functions;
mod lanes;
mod quick;

pub use functions::{Binary, Extract, Reduce, Shift, Splat, Ternary, Unary};
#[cfg(all(threaded_dispatch, not(debug_assertions)))]
pub(crate) use quick::Pick;
pub(crate) use quick::blend;

use lanes::{Lane, lane, splat, widen};
use wasmparser::Operator;

/// Whether `relaxed_madd` and `relaxed_nmadd` round once: where the processor has an instruction for it that compiled code uses.
pub fn fuses() -> bool {
    std::arch::is_x86_feature_detected!("fma") && std::arch::is_x86_feature_detected!("avx")
}

/// A lane by the size of its type and its number: size in bytes and index in 8 bits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct LanePlace(u16);

impl LanePlace {
    /// Lane `index` of `bytes` bytes.
    pub fn new(bytes: u8, index: u8) -> LanePlace {
        debug_assert!(bytes.is_power_of_two() && bytes <= 8 && index < 16 / bytes);
        LanePlace(u16::from(bytes) << 8 | u16::from(index))
    }

    /// Size of the lane.
    pub fn bytes(self) -> u32 {
        u32::from(self.0 >> 8)
    }

    /// Number of the lane.
    pub fn index(self) -> u32 {
        u32::from(self.0 & 0xff)
    }

    fn shift(self) -> u32 {
        self.index() * self.bytes() * 8
    }

    /// The lane's bits.
    pub fn extract(self, vector: u128) -> u64 {
        (vector >> self.shift()) as u64 & self.mask()
    }

    /// The vector with this lane replaced by a value's low bits.
    pub fn replace(self, vector: u128, value: u64) -> u128 {
        vector & !(u128::from(self.mask()) << self.shift()) | u128::from(value & self.mask()) << self.shift()
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - 8 * self.bytes())
    }
}

/// The lanes that `i8x16.shuffle` picks: 16 numbers below 32, 5 bits each, the first lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShuffleLanes {
    /// The lower 64 of the 80 bits.
    pub low: u64,
    /// The upper 16.
    pub high: u16,
}

impl ShuffleLanes {
    /// From the operator's immediate, which validation has checked.
    pub fn new(lanes: [u8; 16]) -> ShuffleLanes {
        let bits = lanes.iter().rev().fold(0u128, |bits, &lane| bits << 5 | u128::from(lane & 31));
        ShuffleLanes { low: bits as u64, high: (bits >> 64) as u16 }
    }

    /// Picks the lanes out of two vectors.
    pub fn shuffle(self, a: u128, b: u128) -> u128 {
        let bits = u128::from(self.low) | u128::from(self.high) << 64;
        lanes::vector(|index| {
            let from = (bits >> (5 * index)) as u32 & 31;
            if from < 16 { lane::<u8>(a, from) } else { lane::<u8>(b, from - 16) }
        })
    }
}

/// A load that makes a vector of what is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum Load {
    Whole,
    Extend8S,
    Extend8U,
    Extend16S,
    Extend16U,
    Extend32S,
    Extend32U,
    Splat8,
    Splat16,
    Splat32,
    Splat64,
    Zero32,
    Zero64,
}

impl Load {
    /// All of them.
    pub const ALL: &[Load] = &[
        Load::Whole,
        Load::Extend8S,
        Load::Extend8U,
        Load::Extend16S,
        Load::Extend16U,
        Load::Extend32S,
        Load::Extend32U,
        Load::Splat8,
        Load::Splat16,
        Load::Splat32,
        Load::Splat64,
        Load::Zero32,
        Load::Zero64,
    ];

    /// The load that an operator is.
    pub fn of(operator: &Operator<'_>) -> Option<(Load, wasmparser::MemArg)> {
        Some(match *operator {
            Operator::V128Load { memarg } => (Load::Whole, memarg),
            Operator::V128Load8x8S { memarg } => (Load::Extend8S, memarg),
            Operator::V128Load8x8U { memarg } => (Load::Extend8U, memarg),
            Operator::V128Load16x4S { memarg } => (Load::Extend16S, memarg),
            Operator::V128Load16x4U { memarg } => (Load::Extend16U, memarg),
            Operator::V128Load32x2S { memarg } => (Load::Extend32S, memarg),
            Operator::V128Load32x2U { memarg } => (Load::Extend32U, memarg),
            Operator::V128Load8Splat { memarg } => (Load::Splat8, memarg),
            Operator::V128Load16Splat { memarg } => (Load::Splat16, memarg),
            Operator::V128Load32Splat { memarg } => (Load::Splat32, memarg),
            Operator::V128Load64Splat { memarg } => (Load::Splat64, memarg),
            Operator::V128Load32Zero { memarg } => (Load::Zero32, memarg),
            Operator::V128Load64Zero { memarg } => (Load::Zero64, memarg),
            _ => return None,
        })
    }

    /// How many bytes it reads.
    pub fn bytes(self) -> u32 {
        match self {
            Load::Whole => 16,
            Load::Splat8 => 1,
            Load::Splat16 => 2,
            Load::Splat32 | Load::Zero32 => 4,
            _ => 8,
        }
    }

    /// The vector made of the bytes read, which stand in the low bits with zeros above.
    pub fn expand(self, bits: u128) -> u128 {
        match self {
            Load::Whole | Load::Zero32 | Load::Zero64 => bits,
            Load::Extend8S => widen(bits, false, |x: i8| i16::from(x)),
            Load::Extend8U => widen(bits, false, |x: u8| u16::from(x)),
            Load::Extend16S => widen(bits, false, |x: i16| i32::from(x)),
            Load::Extend16U => widen(bits, false, |x: u16| u32::from(x)),
            Load::Extend32S => widen(bits, false, |x: i32| i64::from(x)),
            Load::Extend32U => widen(bits, false, |x: u32| u64::from(x)),
            Load::Splat8 => splat::<u8>(bits as u64),
            Load::Splat16 => splat::<u16>(bits as u64),
            Load::Splat32 => splat::<u32>(bits as u64),
            Load::Splat64 => splat::<u64>(bits as u64),
        }
    }
}

/// A lane that is loaded or stored alone, and whether it is stored.
pub fn lane_access(operator: &Operator<'_>) -> Option<(LanePlace, wasmparser::MemArg, bool)> {
    Some(match *operator {
        Operator::V128Load8Lane { memarg, lane } => (LanePlace::new(1, lane), memarg, false),
        Operator::V128Load16Lane { memarg, lane } => (LanePlace::new(2, lane), memarg, false),
        Operator::V128Load32Lane { memarg, lane } => (LanePlace::new(4, lane), memarg, false),
        Operator::V128Load64Lane { memarg, lane } => (LanePlace::new(8, lane), memarg, false),
        Operator::V128Store8Lane { memarg, lane } => (LanePlace::new(1, lane), memarg, true),
        Operator::V128Store16Lane { memarg, lane } => (LanePlace::new(2, lane), memarg, true),
        Operator::V128Store32Lane { memarg, lane } => (LanePlace::new(4, lane), memarg, true),
        Operator::V128Store64Lane { memarg, lane } => (LanePlace::new(8, lane), memarg, true),
        _ => return None,
    })
}

/// The lane that an operator replaces by a scalar.
pub fn replaced_lane(operator: &Operator<'_>) -> Option<LanePlace> {
    Some(match *operator {
        Operator::I8x16ReplaceLane { lane } => LanePlace::new(1, lane),
        Operator::I16x8ReplaceLane { lane } => LanePlace::new(2, lane),
        Operator::I32x4ReplaceLane { lane } | Operator::F32x4ReplaceLane { lane } => LanePlace::new(4, lane),
        Operator::I64x2ReplaceLane { lane } | Operator::F64x2ReplaceLane { lane } => LanePlace::new(8, lane),
        _ => return None,
    })
}

/// Sign-extends the low bits of a word to 32 bits.
fn sign_extend<T: Lane + Into<i32>>(bits: u64) -> u64 {
    let value: i32 = T::from_bits(bits).into();
    u64::from(value as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_replaced_and_taken_out() {
        let vector = 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100u128;
        for (bytes, index, expected) in [(1, 15, 0x0f), (2, 3, 0x0706), (4, 1, 0x0706_0504), (8, 1, 0x0f0e_0d0c_0b0a_0908)] {
            let place = LanePlace::new(bytes, index);
            assert_eq!(place.extract(vector), expected);
            assert_eq!(place.extract(place.replace(vector, 0x1234_5678_9abc_def0)), 0x1234_5678_9abc_def0 & place.mask());
            assert_eq!(place.replace(place.replace(vector, 0), expected), vector);
        }
    }

    #[test]
    fn a_shuffle_picks_from_both() {
        let lanes = [31, 0, 16, 15, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 30, 17];
        let (a, b) = (u128::from_le_bytes(std::array::from_fn(|i| i as u8)), u128::from_le_bytes(std::array::from_fn(|i| i as u8 + 16)));
        assert_eq!(ShuffleLanes::new(lanes).shuffle(a, b).to_le_bytes(), lanes);
    }

    #[test]
    fn relaxed_operators_choose_as_documented() {
        let bytes = |f: fn(usize) -> u8| u128::from_le_bytes(std::array::from_fn(f));
        let picked = Binary::I8x16RelaxedSwizzle.call(bytes(|i| 100 + i as u8), bytes(|i| [0x80, 0x7f, 17, 3][i % 4]));
        assert_eq!(&picked.to_le_bytes()[..4], &[0, 115, 101, 103]);
        let floats = u128::from(f32::NAN.to_bits()) | u128::from(3e9f32.to_bits()) << 32;
        assert_eq!(Unary::I32x4RelaxedTruncF32x4S.call(floats) as u64, 0x8000_0000_8000_0000);
        assert_eq!(Unary::I32x4RelaxedTruncF32x4U.call(floats) as u64, 3_000_000_000 << 32);
        let least = 0x8000_8000_8000_8000_8000_8000_8000_8000u128;
        assert_eq!(Binary::I16x8RelaxedQ15mulrS.call(least, least), least);
        assert_eq!(Binary::I16x8Q15MulrSatS.call(least, least), !least);
        // 127 * 255 + 127 * 255 saturates, -128 * 255 - 128 * 255 too.
        let dot = Binary::I16x8RelaxedDotI8x16I7x16S;
        assert_eq!(dot.call(0x7f7f, 0xffff) as u16, 0x7fff);
        assert_eq!(dot.call(0x8080, 0xffff) as u16, 0x8000);
        let select = Ternary::I16x8RelaxedLaneselect.call(0xffff, 0, 0x8001);
        assert_eq!(select, 0x8001);
        assert_eq!(Ternary::I32x4RelaxedLaneselect.call(0x1_2345, 7, 0x8000_0000) as u32, 0x1_2345);
    }
}
