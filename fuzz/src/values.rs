//! Values as every machine under test can give and take them, so that they can be compared.

use crate::random::Random;
use serde::{Deserialize, Serialize};
use std::fmt;
use wasmparser::ValType;

/// A value outside of any store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Value {
    /// i32, bits.
    I32(u32),
    /// i64, bits.
    I64(u64),
    /// f32, bits.
    F32(u32),
    /// f64, bits.
    F64(u64),
    /// v128, bits.
    V128(u128),
    /// A function by its type, or null.
    Func(Option<String>),
    /// The number the host gave as an `externref`, or null.
    Extern(Option<u32>),
    /// A null of another type.
    Null,
    /// Something else that is not null.
    Opaque,
}

/// Bits of the NaN that canonicalized code makes.
pub const NAN_32: u32 = 0x7fc0_0000;
/// See [`NAN_32`].
pub const NAN_64: u64 = 0x7ff8_0000_0000_0000;

/// Whether f32 bits are a NaN.
pub fn is_nan_32(bits: u32) -> bool {
    f32::from_bits(bits).is_nan()
}

/// Whether f64 bits are a NaN.
pub fn is_nan_64(bits: u64) -> bool {
    f64::from_bits(bits).is_nan()
}

/// Numbers that break things, as bits of any width.
const EDGES: [u64; 18] = [
    0,
    1,
    2,
    3,
    7,
    8,
    31,
    32,
    63,
    64,
    0xff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// Floats that break things.
const FLOATS: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MIN_POSITIVE,
    2147483647.5,
    -2147483649.0,
    1.8446744073709552e19,
];

impl Value {
    /// An argument of a type; `None` for types no argument can be made of. NaNs are the canonical one.
    pub fn random(ty: ValType, random: &mut Random) -> Option<Value> {
        let number = |random: &mut Random| match random.below(4) {
            0 => *random.of(&EDGES),
            1 => random.below(16),
            2 => random.below(1 << 16),
            _ => random.bits(),
        };
        Some(match ty {
            ValType::I32 => Value::I32(number(random) as u32),
            ValType::I64 => Value::I64(number(random)),
            ValType::F32 => Value::f32(match random.below(3) {
                0 => f32::from_bits(random.bits() as u32),
                1 => random.below(1000) as f32 / 8.0,
                _ => *random.of(&FLOATS) as f32,
            }),
            ValType::F64 => Value::f64(match random.below(3) {
                0 => f64::from_bits(random.bits()),
                1 => random.below(1000) as f64 / 8.0,
                _ => *random.of(&FLOATS),
            }),
            ValType::V128 => Value::V128(match random.below(2) {
                0 => u128::from(number(random)) << 64 | u128::from(number(random)),
                _ => (0..8).fold(0, |bits, _| bits << 16 | u128::from(number(random) as u16)),
            }),
            ValType::Ref(ty) if ty.is_func_ref() => Value::Func(None),
            ValType::Ref(ty) if ty.is_extern_ref() => Value::Extern(if random.once_in(3) { None } else { Some(random.below(100) as u32) }),
            ValType::Ref(ty) if ty.is_nullable() => Value::Null,
            ValType::Ref(_) => return None,
        })
    }

    /// Zero or null; `None` where the type has no such value.
    pub fn zero(ty: ValType) -> Option<Value> {
        Some(match ty {
            ValType::I32 => Value::I32(0),
            ValType::I64 => Value::I64(0),
            ValType::F32 => Value::F32(0),
            ValType::F64 => Value::F64(0),
            ValType::V128 => Value::V128(0),
            ValType::Ref(ty) if ty.is_func_ref() => Value::Func(None),
            ValType::Ref(ty) if ty.is_extern_ref() => Value::Extern(None),
            ValType::Ref(ty) if ty.is_nullable() => Value::Null,
            ValType::Ref(_) => return None,
        })
    }

    /// A float; any NaN becomes the canonical one.
    pub fn f32(value: f32) -> Value {
        Value::F32(if value.is_nan() { NAN_32 } else { value.to_bits() })
    }

    /// A float; any NaN becomes the canonical one.
    pub fn f64(value: f64) -> Value {
        Value::F64(if value.is_nan() { NAN_64 } else { value.to_bits() })
    }

    /// Words that stand for the value, for hashes.
    pub fn words(&self) -> [u64; 3] {
        match *self {
            Value::I32(bits) => [1, bits.into(), 0],
            Value::I64(bits) => [2, bits, 0],
            Value::F32(bits) => [3, if is_nan_32(bits) { NAN_32 } else { bits }.into(), 0],
            Value::F64(bits) => [4, if is_nan_64(bits) { NAN_64 } else { bits }, 0],
            Value::V128(bits) => [5, bits as u64, (bits >> 64) as u64],
            Value::Func(ref ty) => [6, ty.is_some().into(), 0],
            Value::Extern(value) => [7, value.is_some().into(), value.unwrap_or(0).into()],
            Value::Null => [8, 0, 0],
            Value::Opaque => [9, 0, 0],
        }
    }

    /// Whether both are the same, all NaNs of a width being one. Lanes of vectors have no type here: bits count.
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::F32(a), Value::F32(b)) if is_nan_32(*a) && is_nan_32(*b) => true,
            (Value::F64(a), Value::F64(b)) if is_nan_64(*a) && is_nan_64(*b) => true,
            // One machine's API may not tell kinds of null apart.
            (Value::Null | Value::Func(None) | Value::Extern(None), Value::Null | Value::Func(None) | Value::Extern(None)) => true,
            (Value::Opaque, other) | (other, Value::Opaque) => {
                matches!(other, Value::Opaque | Value::Func(Some(_)) | Value::Extern(Some(_)))
            }
            _ => self == other,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::I32(bits) => write!(f, "i32:{bits:#x}"),
            Value::I64(bits) => write!(f, "i64:{bits:#x}"),
            Value::F32(bits) => write!(f, "f32:{:?}({bits:#x})", f32::from_bits(*bits)),
            Value::F64(bits) => write!(f, "f64:{:?}({bits:#x})", f64::from_bits(*bits)),
            Value::V128(bits) => write!(f, "v128:{bits:#034x}"),
            Value::Func(None) => write!(f, "funcref:null"),
            Value::Func(Some(ty)) => write!(f, "funcref:{ty}"),
            Value::Extern(None) => write!(f, "externref:null"),
            Value::Extern(Some(value)) => write!(f, "externref:{value}"),
            Value::Null => write!(f, "null"),
            Value::Opaque => write!(f, "a reference"),
        }
    }
}

/// Values in one line.
pub fn list(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}
