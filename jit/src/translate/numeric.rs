//! Constants and numeric operators, from one table: wasm operator, shape, CLIF instruction.
//!
//! Semantics agree by design of CLIF: shifts take their count modulo the width, `fmin`/`fmax` propagate NaN and order the zeros, `nearest`
//! rounds to even, divisions and conversions trap as wasm does. NaN payloads are the processor's (the specification leaves them open).

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{ConstantData, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use wasmparser::Operator;

use crate::values::iconst;

fn pop(stack: &mut Vec<Value>) -> Value {
    stack.pop().expect("validation keeps the operand stack balanced")
}

/// A float with its sign bit turned or cleared. Cranelift makes the mask of its own `fneg` and `fabs` in a general register wherever they stand, which takes two instructions, and in
/// a loop a register from what the loop needs. A lane of a constant vector is read from memory, outside of the loop.
fn sign(b: &mut FunctionBuilder<'_>, x: Value, negate: bool) -> Value {
    let (vector, sign) = match b.func.dfg.value_type(x) {
        types::F32 => (types::F32X4, 1u128 << 31),
        _ => (types::F64X2, 1u128 << 63),
    };
    let mask = if negate { sign } else { !sign };
    let mask = b.func.dfg.constants.insert(ConstantData::from(&mask.to_le_bytes()[..]));
    let mask = b.ins().vconst(vector, mask);
    let mask = b.ins().extractlane(mask, 0);
    if negate { b.ins().bxor(x, mask) } else { b.ins().band(x, mask) }
}

/// A product. By 3, 5 or 9, and these times a power of two (the sizes of records), it is a sum with a shifted factor, which is one `lea` of one cycle, and a shift that an access's address
/// takes in; a multiplication takes three.
fn product(b: &mut FunctionBuilder<'_>, x: Value, y: Value) -> Value {
    let (factor, constant) = match (iconst(&b.func.dfg, x), iconst(&b.func.dfg, y)) {
        (None, Some(constant)) => (x, constant),
        (Some(constant), None) => (y, constant),
        _ => return b.ins().imul(x, y),
    };
    let bits = b.func.dfg.value_type(factor).bits();
    let constant = constant as u64 & (u64::MAX >> (64 - bits));
    let twos = constant.trailing_zeros();
    let shift = match constant.checked_shr(twos) {
        Some(3) => 1,
        Some(5) => 2,
        Some(9) => 3,
        _ => return b.ins().imul(x, y),
    };
    let shifted = b.ins().ishl_imm_u(factor, shift);
    let sum = b.ins().iadd(factor, shifted);
    if twos == 0 { sum } else { b.ins().ishl_imm_u(sum, i64::from(twos)) }
}

macro_rules! numeric_operators {
    (
        binary { $($($bin:ident)+ => $bin_ins:ident;)* }
        compare { $($($cmp:ident)+ => $cmp_ins:ident $cc:expr;)* }
        unary { $($($un:ident)+ => $un_ins:ident;)* }
        convert { $($cv:ident => $cv_ins:ident $to:ident;)* }
        extend { $($ex:ident => $from:ident $wide:ident;)* }
        reinterpret { $($re:ident => $re_to:ident;)* }
    ) => {
        /// Translates a constant or a numeric operator; false for all others.
        pub(crate) fn numeric(b: &mut FunctionBuilder<'_>, stack: &mut Vec<Value>, operator: &Operator<'_>) -> bool {
            let value = match *operator {
                Operator::I32Const { value } => b.ins().iconst(types::I32, i64::from(value as u32)),
                Operator::I64Const { value } => b.ins().iconst(types::I64, value),
                Operator::F32Const { value } => b.ins().f32const(Ieee32::with_bits(value.bits())),
                Operator::F64Const { value } => b.ins().f64const(Ieee64::with_bits(value.bits())),
                Operator::I32Eqz | Operator::I64Eqz => {
                    let x = pop(stack);
                    let ty = b.func.dfg.value_type(x);
                    let zero = b.ins().iconst(ty, 0);
                    let is = b.ins().icmp(IntCC::Equal, x, zero);
                    b.ins().uextend(types::I32, is)
                }
                Operator::F32Neg | Operator::F64Neg => {
                    let x = pop(stack);
                    sign(b, x, true)
                }
                Operator::F32Abs | Operator::F64Abs => {
                    let x = pop(stack);
                    sign(b, x, false)
                }
                Operator::I32Mul | Operator::I64Mul => {
                    let y = pop(stack);
                    let x = pop(stack);
                    product(b, x, y)
                }
                $($(Operator::$bin)|+ => {
                    let y = pop(stack);
                    let x = pop(stack);
                    b.ins().$bin_ins(x, y)
                })*
                $($(Operator::$cmp)|+ => {
                    let y = pop(stack);
                    let x = pop(stack);
                    let is = b.ins().$cmp_ins($cc, x, y);
                    b.ins().uextend(types::I32, is)
                })*
                $($(Operator::$un)|+ => {
                    let x = pop(stack);
                    b.ins().$un_ins(x)
                })*
                $(Operator::$cv => {
                    let x = pop(stack);
                    b.ins().$cv_ins(types::$to, x)
                })*
                $(Operator::$ex => {
                    let x = pop(stack);
                    let narrow = b.ins().ireduce(types::$from, x);
                    b.ins().sextend(types::$wide, narrow)
                })*
                $(Operator::$re => {
                    let x = pop(stack);
                    b.ins().bitcast(types::$re_to, MemFlagsData::new(), x)
                })*
                _ => return false,
            };
            stack.push(value);
            true
        }

        /// Whether [`numeric`] translates an operator.
        pub(crate) fn is_numeric(operator: &Operator<'_>) -> bool {
            match operator {
                Operator::I32Const { .. } | Operator::I64Const { .. } | Operator::F32Const { .. } | Operator::F64Const { .. } => true,
                Operator::I32Eqz | Operator::I64Eqz => true,
                Operator::F32Neg | Operator::F64Neg | Operator::F32Abs | Operator::F64Abs => true,
                Operator::I32Mul | Operator::I64Mul => true,
                $($(Operator::$bin)|+ => true,)*
                $($(Operator::$cmp)|+ => true,)*
                $($(Operator::$un)|+ => true,)*
                $(Operator::$cv => true,)*
                $(Operator::$ex => true,)*
                $(Operator::$re => true,)*
                _ => false,
            }
        }
    };
}

numeric_operators! {
    binary {
        I32Add I64Add => iadd;
        I32Sub I64Sub => isub;
        I32DivS I64DivS => sdiv;
        I32DivU I64DivU => udiv;
        I32RemS I64RemS => srem;
        I32RemU I64RemU => urem;
        I32And I64And => band;
        I32Or I64Or => bor;
        I32Xor I64Xor => bxor;
        I32Shl I64Shl => ishl;
        I32ShrS I64ShrS => sshr;
        I32ShrU I64ShrU => ushr;
        I32Rotl I64Rotl => rotl;
        I32Rotr I64Rotr => rotr;
        F32Add F64Add => fadd;
        F32Sub F64Sub => fsub;
        F32Mul F64Mul => fmul;
        F32Div F64Div => fdiv;
        F32Min F64Min => fmin;
        F32Max F64Max => fmax;
        F32Copysign F64Copysign => fcopysign;
    }
    compare {
        I32Eq I64Eq => icmp IntCC::Equal;
        I32Ne I64Ne => icmp IntCC::NotEqual;
        I32LtS I64LtS => icmp IntCC::SignedLessThan;
        I32LtU I64LtU => icmp IntCC::UnsignedLessThan;
        I32GtS I64GtS => icmp IntCC::SignedGreaterThan;
        I32GtU I64GtU => icmp IntCC::UnsignedGreaterThan;
        I32LeS I64LeS => icmp IntCC::SignedLessThanOrEqual;
        I32LeU I64LeU => icmp IntCC::UnsignedLessThanOrEqual;
        I32GeS I64GeS => icmp IntCC::SignedGreaterThanOrEqual;
        I32GeU I64GeU => icmp IntCC::UnsignedGreaterThanOrEqual;
        F32Eq F64Eq => fcmp FloatCC::Equal;
        F32Ne F64Ne => fcmp FloatCC::NotEqual;
        F32Lt F64Lt => fcmp FloatCC::LessThan;
        F32Gt F64Gt => fcmp FloatCC::GreaterThan;
        F32Le F64Le => fcmp FloatCC::LessThanOrEqual;
        F32Ge F64Ge => fcmp FloatCC::GreaterThanOrEqual;
    }
    unary {
        I32Clz I64Clz => clz;
        I32Ctz I64Ctz => ctz;
        I32Popcnt I64Popcnt => popcnt;
        F32Ceil F64Ceil => ceil;
        F32Floor F64Floor => floor;
        F32Trunc F64Trunc => trunc;
        F32Nearest F64Nearest => nearest;
        F32Sqrt F64Sqrt => sqrt;
    }
    convert {
        I32WrapI64 => ireduce I32;
        I64ExtendI32S => sextend I64;
        I64ExtendI32U => uextend I64;
        I32TruncF32S => fcvt_to_sint I32;
        I32TruncF32U => fcvt_to_uint I32;
        I32TruncF64S => fcvt_to_sint I32;
        I32TruncF64U => fcvt_to_uint I32;
        I64TruncF32S => fcvt_to_sint I64;
        I64TruncF32U => fcvt_to_uint I64;
        I64TruncF64S => fcvt_to_sint I64;
        I64TruncF64U => fcvt_to_uint I64;
        I32TruncSatF32S => fcvt_to_sint_sat I32;
        I32TruncSatF32U => fcvt_to_uint_sat I32;
        I32TruncSatF64S => fcvt_to_sint_sat I32;
        I32TruncSatF64U => fcvt_to_uint_sat I32;
        I64TruncSatF32S => fcvt_to_sint_sat I64;
        I64TruncSatF32U => fcvt_to_uint_sat I64;
        I64TruncSatF64S => fcvt_to_sint_sat I64;
        I64TruncSatF64U => fcvt_to_uint_sat I64;
        F32ConvertI32S => fcvt_from_sint F32;
        F32ConvertI32U => fcvt_from_uint F32;
        F32ConvertI64S => fcvt_from_sint F32;
        F32ConvertI64U => fcvt_from_uint F32;
        F64ConvertI32S => fcvt_from_sint F64;
        F64ConvertI32U => fcvt_from_uint F64;
        F64ConvertI64S => fcvt_from_sint F64;
        F64ConvertI64U => fcvt_from_uint F64;
        F32DemoteF64 => fdemote F32;
        F64PromoteF32 => fpromote F64;
    }
    extend {
        I32Extend8S => I8 I32;
        I32Extend16S => I16 I32;
        I64Extend8S => I8 I64;
        I64Extend16S => I16 I64;
        I64Extend32S => I32 I64;
    }
    reinterpret {
        I32ReinterpretF32 => I32;
        I64ReinterpretF64 => I64;
        F32ReinterpretI32 => F32;
        F64ReinterpretI64 => F64;
    }
}
