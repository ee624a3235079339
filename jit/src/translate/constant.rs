//! Constants that are folded while a specialized body is translated, so that its branches and trip counts are known there and then.
//!
//! Integers only, in the form of slots: an i32 is its low 32 bits, zero-extended. What would trap folds to nothing.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use wasmparser::Operator;

use super::Translator;
use crate::values::iconst;

/// Operands an operator takes from `stack`'s end, or `None` if it is not folded.
pub(super) fn operands(operator: &Operator<'_>) -> Option<usize> {
    use Operator::*;
    Some(match operator {
        I32Const { .. } | I64Const { .. } => 0,
        I32Eqz | I64Eqz | I32WrapI64 | I64ExtendI32S | I64ExtendI32U | I32Extend8S | I32Extend16S => 1,
        I32Add | I32Sub | I32Mul | I32And | I32Or | I32Xor | I32Shl | I32ShrS | I32ShrU | I32Eq | I32Ne | I32LtS | I32LtU | I32GtS
        | I32GtU | I32LeS | I32LeU | I32GeS | I32GeU => 2,
        I64Add | I64Sub | I64Mul | I64And | I64Or | I64Xor | I64Shl | I64ShrS | I64ShrU | I64Eq | I64Ne | I64LtS | I64LtU | I64GtS
        | I64GtU | I64LeS | I64LeU | I64GeS | I64GeU => 2,
        _ => return None,
    })
}

/// What an operator yields for constants; `values` are as many as [`operands`] says.
pub(super) fn fold(operator: &Operator<'_>, values: &[u64]) -> Option<u64> {
    use Operator::*;
    let a = values.first().copied().unwrap_or(0);
    let b = values.get(1).copied().unwrap_or(0);
    let (x, y) = (a as u32, b as u32);
    let (sx, sy) = (x as i32, y as i32);
    let (sa, sb) = (a as i64, b as i64);
    Some(match *operator {
        I32Const { value } => u64::from(value as u32),
        I64Const { value } => value as u64,
        I32Eqz => u64::from(x == 0),
        I64Eqz => u64::from(a == 0),
        I32WrapI64 | I64ExtendI32U => u64::from(x),
        I64ExtendI32S => i64::from(sx) as u64,
        I32Extend8S => u64::from(i32::from(x as i8) as u32),
        I32Extend16S => u64::from(i32::from(x as i16) as u32),
        I32Add => u64::from(x.wrapping_add(y)),
        I32Sub => u64::from(x.wrapping_sub(y)),
        I32Mul => u64::from(x.wrapping_mul(y)),
        I32And => u64::from(x & y),
        I32Or => u64::from(x | y),
        I32Xor => u64::from(x ^ y),
        I32Shl => u64::from(x.wrapping_shl(y)),
        I32ShrU => u64::from(x.wrapping_shr(y)),
        I32ShrS => u64::from(sx.wrapping_shr(y) as u32),
        I32Eq => u64::from(x == y),
        I32Ne => u64::from(x != y),
        I32LtS => u64::from(sx < sy),
        I32LtU => u64::from(x < y),
        I32GtS => u64::from(sx > sy),
        I32GtU => u64::from(x > y),
        I32LeS => u64::from(sx <= sy),
        I32LeU => u64::from(x <= y),
        I32GeS => u64::from(sx >= sy),
        I32GeU => u64::from(x >= y),
        I64Add => a.wrapping_add(b),
        I64Sub => a.wrapping_sub(b),
        I64Mul => a.wrapping_mul(b),
        I64And => a & b,
        I64Or => a | b,
        I64Xor => a ^ b,
        I64Shl => a.wrapping_shl(y),
        I64ShrU => a.wrapping_shr(y),
        I64ShrS => sa.wrapping_shr(y) as u64,
        I64Eq => u64::from(a == b),
        I64Ne => u64::from(a != b),
        I64LtS => u64::from(sa < sb),
        I64LtU => u64::from(a < b),
        I64GtS => u64::from(sa > sb),
        I64GtU => u64::from(a > b),
        I64LeS => u64::from(sa <= sb),
        I64LeU => u64::from(a <= b),
        I64GeS => u64::from(sa >= sb),
        I64GeU => u64::from(a >= b),
        _ => return None,
    })
}

/// Whether an operator that folds yields an i64.
fn is_wide(operator: &Operator<'_>) -> bool {
    use Operator::*;
    matches!(
        operator,
        I64Const { .. } | I64ExtendI32S | I64ExtendI32U | I64Add | I64Sub | I64Mul | I64And | I64Or | I64Xor | I64Shl | I64ShrS | I64ShrU
    )
}

impl Translator<'_, '_> {
    /// The constant a value is, as a slot. `None` for floats and for what is not a constant.
    pub(super) fn constant(&self, value: Value) -> Option<u64> {
        let dfg = &self.b.func.dfg;
        let bits = iconst(dfg, value)?;
        Some(match dfg.value_type(value) {
            types::I32 => u64::from(bits as u32),
            _ => bits as u64,
        })
    }

    /// The truth of a condition that a specialized body knows.
    pub(super) fn known_condition(&self, value: Value) -> Option<bool> {
        if !self.folding {
            return None;
        }
        self.constant(value).map(|value| value as u32 != 0)
    }

    /// Folds an operator whose operands a specialized body knows; false for all others.
    pub(super) fn fold_operator(&mut self, operator: &Operator<'_>) -> bool {
        let Some(count) = operands(operator).filter(|&count| self.folding && count > 0) else { return false };
        let at = self.stack.len() - count;
        let values: Option<Vec<u64>> = self.stack[at..].iter().map(|&value| self.constant(value)).collect();
        let Some(result) = values.and_then(|values| fold(operator, &values)) else { return false };
        self.stack.truncate(at);
        let ty = if is_wide(operator) { types::I64 } else { types::I32 };
        let value = self.b.ins().iconst(ty, result as i64);
        self.push(value);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_i32_have_no_upper_half() {
        for (operator, values, result) in [
            (Operator::I32Add, [u64::from(u32::MAX), 1], 0),
            (Operator::I32Sub, [0, 1], u64::from(u32::MAX)),
            (Operator::I32ShrS, [0x8000_0000, 31], u64::from(u32::MAX)),
            (Operator::I32Shl, [1, 33], 2),
            (Operator::I32LtS, [u64::from(u32::MAX), 0], 1),
            (Operator::I64LtU, [u64::MAX, 0], 0),
            (Operator::I64Shl, [1, 65], 2),
            (Operator::I64ExtendI32S, [0xffff_fffe, 0], u64::MAX - 1),
            (Operator::I32WrapI64, [u64::MAX, 0], u64::from(u32::MAX)),
            (Operator::I32Extend8S, [0x1ff, 0], u64::from(u32::MAX)),
        ] {
            assert_eq!(fold(&operator, &values[..operands(&operator).unwrap()]), Some(result), "{operator:?}");
        }
        assert_eq!(fold(&Operator::I32DivU, &[1, 0]), None);
    }
}
