//! The operators that random programs choose from, by their bytes: what each takes and leaves. Tables, and nothing drawn.

use crate::program::Extras;
use wasm_encoder::ValType::{self, F32, F64, I32, I64, V128};

/// An operator by its bytes: prefix (0 for none) and opcode, what it takes, what it leaves.
#[derive(Clone, Copy)]
pub(crate) struct Operator {
    pub(crate) prefix: u8,
    pub(crate) opcode: u32,
    pub(crate) takes: &'static [ValType],
    pub(crate) leaves: ValType,
}

/// Opcodes from, to, what they take and leave (WebAssembly 2.0, appendix "Index of Instructions").
pub(crate) type Opcodes = (u32, u32, &'static [ValType], ValType);

const PLAIN: &[Opcodes] = &[
    (0x45, 0x45, &[I32], I32),
    (0x46, 0x4f, &[I32, I32], I32),
    (0x50, 0x50, &[I64], I32),
    (0x51, 0x5a, &[I64, I64], I32),
    (0x5b, 0x60, &[F32, F32], I32),
    (0x61, 0x66, &[F64, F64], I32),
    (0x67, 0x69, &[I32], I32),
    (0x6a, 0x78, &[I32, I32], I32),
    (0x79, 0x7b, &[I64], I64),
    (0x7c, 0x8a, &[I64, I64], I64),
    (0x8b, 0x91, &[F32], F32),
    (0x92, 0x98, &[F32, F32], F32),
    (0x99, 0x9f, &[F64], F64),
    (0xa0, 0xa6, &[F64, F64], F64),
    (0xa7, 0xa7, &[I64], I32),
    (0xac, 0xad, &[I32], I64),
    (0xb2, 0xb3, &[I32], F32),
    (0xb4, 0xb5, &[I64], F32),
    (0xb6, 0xb6, &[F64], F32),
    (0xb7, 0xb8, &[I32], F64),
    (0xb9, 0xba, &[I64], F64),
    (0xbb, 0xbb, &[F32], F64),
    (0xbc, 0xbc, &[F32], I32),
    (0xbd, 0xbd, &[F64], I64),
    (0xbe, 0xbe, &[I32], F32),
    (0xbf, 0xbf, &[I64], F64),
    (0xc0, 0xc1, &[I32], I32),
    (0xc2, 0xc4, &[I64], I64),
];

/// Conversions that trap when out of range: taken seldom.
pub(crate) const TRAPPING: &[Opcodes] =
    &[(0xa8, 0xa9, &[F32], I32), (0xaa, 0xab, &[F64], I32), (0xae, 0xaf, &[F32], I64), (0xb0, 0xb1, &[F64], I64)];

const SATURATING: &[Opcodes] = &[(0, 1, &[F32], I32), (2, 3, &[F64], I32), (4, 5, &[F32], I64), (6, 7, &[F64], I64)];

const VECTOR: &[Opcodes] = &[
    (0x0e, 0x0e, &[V128, V128], V128),
    (0x0f, 0x11, &[I32], V128),
    (0x12, 0x12, &[I64], V128),
    (0x13, 0x13, &[F32], V128),
    (0x14, 0x14, &[F64], V128),
    (0x23, 0x4c, &[V128, V128], V128),
    (0x4d, 0x4d, &[V128], V128),
    (0x4e, 0x51, &[V128, V128], V128),
    (0x52, 0x52, &[V128, V128, V128], V128),
    (0x53, 0x53, &[V128], I32),
    (0x5e, 0x62, &[V128], V128),
    (0x63, 0x64, &[V128], I32),
    (0x65, 0x66, &[V128, V128], V128),
    (0x67, 0x6a, &[V128], V128),
    (0x6b, 0x6d, &[V128, I32], V128),
    (0x6e, 0x73, &[V128, V128], V128),
    (0x74, 0x75, &[V128], V128),
    (0x76, 0x79, &[V128, V128], V128),
    (0x7a, 0x7a, &[V128], V128),
    (0x7b, 0x7b, &[V128, V128], V128),
    (0x7c, 0x81, &[V128], V128),
    (0x82, 0x82, &[V128, V128], V128),
    (0x83, 0x84, &[V128], I32),
    (0x85, 0x86, &[V128, V128], V128),
    (0x87, 0x8a, &[V128], V128),
    (0x8b, 0x8d, &[V128, I32], V128),
    (0x8e, 0x93, &[V128, V128], V128),
    (0x94, 0x94, &[V128], V128),
    (0x95, 0x99, &[V128, V128], V128),
    (0x9b, 0x9f, &[V128, V128], V128),
    (0xa0, 0xa1, &[V128], V128),
    (0xa3, 0xa4, &[V128], I32),
    (0xa7, 0xaa, &[V128], V128),
    (0xab, 0xad, &[V128, I32], V128),
    (0xae, 0xae, &[V128, V128], V128),
    (0xb1, 0xb1, &[V128, V128], V128),
    (0xb5, 0xba, &[V128, V128], V128),
    (0xbc, 0xbf, &[V128, V128], V128),
    (0xc0, 0xc1, &[V128], V128),
    (0xc3, 0xc4, &[V128], I32),
    (0xc7, 0xca, &[V128], V128),
    (0xcb, 0xcd, &[V128, I32], V128),
    (0xce, 0xce, &[V128, V128], V128),
    (0xd1, 0xd1, &[V128, V128], V128),
    (0xd5, 0xdf, &[V128, V128], V128),
    (0xe0, 0xe1, &[V128], V128),
    (0xe3, 0xe3, &[V128], V128),
    (0xe4, 0xeb, &[V128, V128], V128),
    (0xec, 0xed, &[V128], V128),
    (0xef, 0xef, &[V128], V128),
    (0xf0, 0xf7, &[V128, V128], V128),
    (0xf8, 0xff, &[V128], V128),
];

/// Operators of relaxed SIMD: each machine's own results, which no outside oracle knows; but all tiers agree.
const RELAXED: &[Opcodes] = &[
    (0x100, 0x100, &[V128, V128], V128),
    (0x101, 0x104, &[V128], V128),
    (0x105, 0x10c, &[V128, V128, V128], V128),
    (0x10d, 0x112, &[V128, V128], V128),
    (0x113, 0x113, &[V128, V128, V128], V128),
];

/// Vector operators whose result lanes are f32, then f64.
pub(crate) fn float_lanes(opcode: u32) -> Option<ValType> {
    match opcode {
        0x5e | 0x67..=0x6a | 0xe0..=0xeb | 0xfa..=0xfb | 0x105..=0x106 | 0x10d..=0x10e => Some(F32),
        0x5f | 0x74..=0x75 | 0x7a | 0x94 | 0xec..=0xf7 | 0xfe..=0xff | 0x107..=0x108 | 0x10f..=0x110 => Some(F64),
        _ => None,
    }
}

/// The operators that leave a type.
pub(crate) fn operators(leaves: ValType, extras: Extras) -> Vec<Operator> {
    let vector: &[Opcodes] = if extras.simd { VECTOR } else { &[] };
    let relaxed: &[Opcodes] = if extras.relaxed_simd { RELAXED } else { &[] };
    let tables = [(0, PLAIN), (0xfc, SATURATING), (0xfd, vector), (0xfd, relaxed)];
    let mut all = Vec::new();
    for (prefix, table) in tables {
        for &(first, last, takes, to) in table.iter().filter(|row| row.3 == leaves) {
            all.extend((first..=last).map(|opcode| Operator { prefix, opcode, takes, leaves: to }));
        }
    }
    all
}
