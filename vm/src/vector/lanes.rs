//! A vector as lanes: what every function of [`super::functions`] is made of. A vector is a u128, lane 0 in its low bits.

/// The type of a lane.
pub(super) trait Lane: Copy {
    /// Bits of a lane.
    const BITS: u32;
    /// How many lanes a vector has.
    const COUNT: u32 = 128 / Self::BITS;
    /// From the low bits of a word.
    fn from_bits(bits: u64) -> Self;
    /// As the low bits of a word, the others zero.
    fn bits(self) -> u64;
}

macro_rules! lane {
    ($($ty:ty as $unsigned:ty, $from:expr, $bits:expr;)*) => {
        $(impl Lane for $ty {
            const BITS: u32 = <$unsigned>::BITS;
            fn from_bits(bits: u64) -> $ty {
                let from: fn($unsigned) -> $ty = $from;
                from(bits as $unsigned)
            }
            fn bits(self) -> u64 {
                let bits: fn($ty) -> $unsigned = $bits;
                u64::from(bits(self))
            }
        })*
    };
}
lane! {
    i8 as u8, |bits| bits as i8, |value| value as u8;
    u8 as u8, |bits| bits, |value| value;
    i16 as u16, |bits| bits as i16, |value| value as u16;
    u16 as u16, |bits| bits, |value| value;
    i32 as u32, |bits| bits as i32, |value| value as u32;
    u32 as u32, |bits| bits, |value| value;
    i64 as u64, |bits| bits as i64, |value| value as u64;
    u64 as u64, |bits| bits, |value| value;
    f32 as u32, f32::from_bits, f32::to_bits;
    f64 as u64, f64::from_bits, f64::to_bits;
}

/// Lane `index`.
pub(super) fn lane<T: Lane>(vector: u128, index: u32) -> T {
    T::from_bits((vector >> (index * T::BITS)) as u64)
}

/// A vector with these lanes.
pub(super) fn vector<T: Lane>(lane: impl Fn(u32) -> T) -> u128 {
    (0..T::COUNT).fold(0, |vector, index| vector | u128::from(lane(index).bits()) << (index * T::BITS))
}

/// All lanes the same.
pub(super) fn splat<T: Lane>(value: u64) -> u128 {
    vector(|_| T::from_bits(value))
}

/// Lane by lane; where the result has more lanes than there are, the upper ones are zero.
pub(super) fn map<T: Lane, R: Lane>(a: u128, f: impl Fn(T) -> R) -> u128 {
    vector(|index| if index < T::COUNT { f(lane(a, index)) } else { R::from_bits(0) })
}

/// Two vectors lane by lane.
pub(super) fn zip<T: Lane, R: Lane>(a: u128, b: u128, f: impl Fn(T, T) -> R) -> u128 {
    vector(|index| f(lane(a, index), lane(b, index)))
}

/// Two vectors lane by lane: all bits set where the condition holds. `M` is an integer of the lane's size.
pub(super) fn compare<T: Lane, M: Lane>(a: u128, b: u128, condition: impl Fn(T, T) -> bool) -> u128 {
    zip(a, b, |x, y| M::from_bits(if condition(x, y) { u64::MAX } else { 0 }))
}

/// Three vectors lane by lane.
pub(super) fn zip3<T: Lane, R: Lane>(a: u128, b: u128, c: u128, f: impl Fn(T, T, T) -> R) -> u128 {
    vector(|index| f(lane(a, index), lane(b, index), lane(c, index)))
}

/// The lower, or the upper, half of the lanes, each widened.
pub(super) fn widen<T: Lane, R: Lane>(a: u128, upper: bool, f: impl Fn(T) -> R) -> u128 {
    vector(|index| f(lane(a, index + if upper { R::COUNT } else { 0 })))
}

/// As [`widen`], of two vectors.
pub(super) fn widen2<T: Lane, R: Lane>(a: u128, b: u128, upper: bool, f: impl Fn(T, T) -> R) -> u128 {
    let first = if upper { R::COUNT } else { 0 };
    vector(|index| f(lane(a, first + index), lane(b, first + index)))
}

/// Each two neighbouring lanes as one of twice the size.
pub(super) fn pairs<T: Lane, R: Lane>(a: u128, f: impl Fn(T, T) -> R) -> u128 {
    vector(|index| f(lane(a, 2 * index), lane(a, 2 * index + 1)))
}

/// Each two neighbouring lanes of two vectors as one of twice the size.
pub(super) fn pairs2<T: Lane, R: Lane>(a: u128, b: u128, f: impl Fn([T; 2], [T; 2]) -> R) -> u128 {
    let pair = |v, index| [lane(v, 2 * index), lane(v, 2 * index + 1)];
    vector(|index| f(pair(a, index), pair(b, index)))
}

/// The lanes of two vectors as lanes of half the size, the first's below.
pub(super) fn narrow<T: Lane, R: Lane>(a: u128, b: u128, f: impl Fn(T) -> R) -> u128 {
    vector(|index| f(if index < T::COUNT { lane(a, index) } else { lane(b, index - T::COUNT) }))
}

/// One bit a lane: whether the condition holds, lane 0 the lowest.
pub(super) fn mask<T: Lane>(a: u128, condition: impl Fn(T) -> bool) -> u64 {
    (0..T::COUNT).fold(0, |mask, index| mask | u64::from(condition(lane(a, index))) << index)
}

/// Whether a condition holds for every lane.
pub(super) fn all<T: Lane>(a: u128, condition: impl Fn(T) -> bool) -> u64 {
    u64::from((0..T::COUNT).all(|index| condition(lane(a, index))))
}
