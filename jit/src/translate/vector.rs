//! Operators on v128: one table for those that are one instruction of CLIF, and what takes several.
//!
//! Between operators every vector has the type I8X16, also in locals, globals and calls; an operator takes its operands by a bitcast, which is no
//! instruction. What relaxed SIMD leaves open is chosen as `vm::vector` says. All of it needs SSE4.1, without which there is no compiler.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    ConstantData, DataFlowGraph, Endianness, InstBuilder, InstructionData, MemFlagsData, Opcode, Type, Value, types,
};
use cranelift_frontend::FunctionBuilder;
use wasmparser::{MemArg, Operator};

use vm::vector::{Load, lane_access};

use super::{Result, Translator};

/// The type of every vector between operators.
pub(crate) const V128: Type = types::I8X16;

/// A vector as one of another type: the same bits, lane 0 in the lowest.
fn cast(b: &mut FunctionBuilder<'_>, value: Value, ty: Type) -> Value {
    let dfg = &b.func.dfg;
    if dfg.value_type(value) == ty {
        return value;
    }
    // No pair of casts stands between two operators of one type.
    if let Some(before) = before_cast(dfg, value).filter(|&before| dfg.value_type(before) == ty) {
        return before;
    }
    b.ins().bitcast(ty, MemFlagsData::new().with_endianness(Endianness::Little), value)
}

/// What a vector was before it was made a [`V128`], if it was.
fn before_cast(dfg: &DataFlowGraph, value: Value) -> Option<Value> {
    let inst = dfg.value_def(dfg.resolve_aliases(value)).inst()?;
    let InstructionData::LoadNoOffset { opcode: Opcode::Bitcast, arg, .. } = dfg.insts[inst] else { return None };
    Some(arg)
}

/// Takes a vector off the stack, as a type.
fn pop(b: &mut FunctionBuilder<'_>, stack: &mut Vec<Value>, ty: Type) -> Value {
    let value = pop_scalar(stack);
    cast(b, value, ty)
}

fn pop_scalar(stack: &mut Vec<Value>) -> Value {
    stack.pop().expect("validation keeps the operand stack balanced")
}

/// A constant vector, from its bytes.
pub(crate) fn constant(b: &mut FunctionBuilder<'_>, bytes: [u8; 16]) -> Value {
    let data = b.func.dfg.constants.insert(ConstantData::from(&bytes[..]));
    b.ins().vconst(V128, data)
}

fn zero(b: &mut FunctionBuilder<'_>, ty: Type) -> Value {
    let data = b.func.dfg.constants.insert(ConstantData::from(&[0; 16][..]));
    b.ins().vconst(ty, data)
}

macro_rules! vector_operators {
    (
        unary { $($($un:ident)+ => $un_ty:ident $un_ins:ident;)* }
        binary { $($($bin:ident)+ => $bin_ty:ident $bin_ins:ident;)* }
        compare { $($($cmp:ident)+ => $cmp_ty:ident $cc:ident;)* }
        compare_floats { $($($fcmp:ident)+ => $fcmp_ty:ident $fcc:ident;)* }
        shift { $($($sh:ident)+ => $sh_ty:ident $sh_ins:ident;)* }
        convert { $($($cv:ident)+ => $cv_ty:ident $cv_ins:ident $cv_to:ident;)* }
        multiply_wide { $($($em:ident)+ => $em_ty:ident $em_ins:ident;)* }
        add_pairs { $($($ep:ident)+ => $ep_ty:ident $ep_low:ident $ep_high:ident;)* }
    ) => {
        /// Translates an operator that is in the table; `None` for all others. Its result has whatever vector type fits it.
        fn from_table(b: &mut FunctionBuilder<'_>, stack: &mut Vec<Value>, operator: &Operator<'_>) -> Option<Value> {
            Some(match *operator {
                $($(Operator::$un)|+ => {
                    let x = pop(b, stack, types::$un_ty);
                    b.ins().$un_ins(x)
                })*
                $($(Operator::$bin)|+ => {
                    let y = pop(b, stack, types::$bin_ty);
                    let x = pop(b, stack, types::$bin_ty);
                    b.ins().$bin_ins(x, y)
                })*
                $($(Operator::$cmp)|+ => {
                    let y = pop(b, stack, types::$cmp_ty);
                    let x = pop(b, stack, types::$cmp_ty);
                    b.ins().icmp(IntCC::$cc, x, y)
                })*
                $($(Operator::$fcmp)|+ => {
                    let y = pop(b, stack, types::$fcmp_ty);
                    let x = pop(b, stack, types::$fcmp_ty);
                    b.ins().fcmp(FloatCC::$fcc, x, y)
                })*
                $($(Operator::$sh)|+ => {
                    let by = pop_scalar(stack);
                    let x = pop(b, stack, types::$sh_ty);
                    b.ins().$sh_ins(x, by)
                })*
                $($(Operator::$cv)|+ => {
                    let x = pop(b, stack, types::$cv_ty);
                    b.ins().$cv_ins(types::$cv_to, x)
                })*
                $($(Operator::$em)|+ => {
                    let y = pop(b, stack, types::$em_ty);
                    let x = pop(b, stack, types::$em_ty);
                    let x = b.ins().$em_ins(x);
                    let y = b.ins().$em_ins(y);
                    b.ins().imul(x, y)
                })*
                $($(Operator::$ep)|+ => {
                    let x = pop(b, stack, types::$ep_ty);
                    let low = b.ins().$ep_low(x);
                    let high = b.ins().$ep_high(x);
                    b.ins().iadd_pairwise(low, high)
                })*
                _ => return None,
            })
        }

        fn is_in_table(operator: &Operator<'_>) -> bool {
            match operator {
                $($(Operator::$un)|+ => true,)*
                $($(Operator::$bin)|+ => true,)*
                $($(Operator::$cmp)|+ => true,)*
                $($(Operator::$fcmp)|+ => true,)*
                $($(Operator::$sh)|+ => true,)*
                $($(Operator::$cv)|+ => true,)*
                $($(Operator::$em)|+ => true,)*
                $($(Operator::$ep)|+ => true,)*
                _ => false,
            }
        }
    };
}

vector_operators! {
    unary {
        I8x16Abs => I8X16 iabs;
        I8x16Neg => I8X16 ineg;
        I16x8Abs => I16X8 iabs;
        I16x8Neg => I16X8 ineg;
        I32x4Abs => I32X4 iabs;
        I32x4Neg => I32X4 ineg;
        I64x2Abs => I64X2 iabs;
        I64x2Neg => I64X2 ineg;
        I8x16Popcnt => I8X16 popcnt;
        V128Not => I8X16 bnot;
        I16x8ExtendLowI8x16S => I8X16 swiden_low;
        I16x8ExtendLowI8x16U => I8X16 uwiden_low;
        I16x8ExtendHighI8x16S => I8X16 swiden_high;
        I16x8ExtendHighI8x16U => I8X16 uwiden_high;
        I32x4ExtendLowI16x8S => I16X8 swiden_low;
        I32x4ExtendLowI16x8U => I16X8 uwiden_low;
        I32x4ExtendHighI16x8S => I16X8 swiden_high;
        I32x4ExtendHighI16x8U => I16X8 uwiden_high;
        I64x2ExtendLowI32x4S => I32X4 swiden_low;
        I64x2ExtendLowI32x4U => I32X4 uwiden_low;
        I64x2ExtendHighI32x4S => I32X4 swiden_high;
        I64x2ExtendHighI32x4U => I32X4 uwiden_high;
        F32x4Ceil => F32X4 ceil;
        F32x4Floor => F32X4 floor;
        F32x4Trunc => F32X4 trunc;
        F32x4Nearest => F32X4 nearest;
        F32x4Abs => F32X4 fabs;
        F32x4Neg => F32X4 fneg;
        F32x4Sqrt => F32X4 sqrt;
        F64x2Ceil => F64X2 ceil;
        F64x2Floor => F64X2 floor;
        F64x2Trunc => F64X2 trunc;
        F64x2Nearest => F64X2 nearest;
        F64x2Abs => F64X2 fabs;
        F64x2Neg => F64X2 fneg;
        F64x2Sqrt => F64X2 sqrt;
        F32x4DemoteF64x2Zero => F64X2 fvdemote;
        F64x2PromoteLowF32x4 => F32X4 fvpromote_low;
    }
    binary {
        I8x16Add => I8X16 iadd;
        I8x16Sub => I8X16 isub;
        I8x16AddSatS => I8X16 sadd_sat;
        I8x16AddSatU => I8X16 uadd_sat;
        I8x16SubSatS => I8X16 ssub_sat;
        I8x16SubSatU => I8X16 usub_sat;
        I8x16AvgrU => I8X16 avg_round;
        I8x16MinS => I8X16 smin;
        I8x16MinU => I8X16 umin;
        I8x16MaxS => I8X16 smax;
        I8x16MaxU => I8X16 umax;
        I16x8Add => I16X8 iadd;
        I16x8Sub => I16X8 isub;
        I16x8Mul => I16X8 imul;
        I16x8AddSatS => I16X8 sadd_sat;
        I16x8AddSatU => I16X8 uadd_sat;
        I16x8SubSatS => I16X8 ssub_sat;
        I16x8SubSatU => I16X8 usub_sat;
        I16x8AvgrU => I16X8 avg_round;
        I16x8MinS => I16X8 smin;
        I16x8MinU => I16X8 umin;
        I16x8MaxS => I16X8 smax;
        I16x8MaxU => I16X8 umax;
        I32x4Add => I32X4 iadd;
        I32x4Sub => I32X4 isub;
        I32x4Mul => I32X4 imul;
        I32x4MinS => I32X4 smin;
        I32x4MinU => I32X4 umin;
        I32x4MaxS => I32X4 smax;
        I32x4MaxU => I32X4 umax;
        I64x2Add => I64X2 iadd;
        I64x2Sub => I64X2 isub;
        I64x2Mul => I64X2 imul;
        V128And => I8X16 band;
        V128Or => I8X16 bor;
        V128Xor => I8X16 bxor;
        V128AndNot => I8X16 band_not;
        I8x16Swizzle => I8X16 swizzle;
        I8x16RelaxedSwizzle => I8X16 x86_pshufb;
        I16x8Q15MulrSatS => I16X8 sqmul_round_sat;
        I16x8RelaxedQ15mulrS => I16X8 x86_pmulhrsw;
        I16x8RelaxedDotI8x16I7x16S => I8X16 x86_pmaddubsw;
        I8x16NarrowI16x8S => I16X8 snarrow;
        I8x16NarrowI16x8U => I16X8 unarrow;
        I16x8NarrowI32x4S => I32X4 snarrow;
        I16x8NarrowI32x4U => I32X4 unarrow;
        F32x4Add => F32X4 fadd;
        F32x4Sub => F32X4 fsub;
        F32x4Mul => F32X4 fmul;
        F32x4Div => F32X4 fdiv;
        F32x4Min => F32X4 fmin;
        F32x4Max => F32X4 fmax;
        F64x2Add => F64X2 fadd;
        F64x2Sub => F64X2 fsub;
        F64x2Mul => F64X2 fmul;
        F64x2Div => F64X2 fdiv;
        F64x2Min => F64X2 fmin;
        F64x2Max => F64X2 fmax;
    }
    compare {
        I8x16Eq => I8X16 Equal;
        I8x16Ne => I8X16 NotEqual;
        I8x16LtS => I8X16 SignedLessThan;
        I8x16LtU => I8X16 UnsignedLessThan;
        I8x16GtS => I8X16 SignedGreaterThan;
        I8x16GtU => I8X16 UnsignedGreaterThan;
        I8x16LeS => I8X16 SignedLessThanOrEqual;
        I8x16LeU => I8X16 UnsignedLessThanOrEqual;
        I8x16GeS => I8X16 SignedGreaterThanOrEqual;
        I8x16GeU => I8X16 UnsignedGreaterThanOrEqual;
        I16x8Eq => I16X8 Equal;
        I16x8Ne => I16X8 NotEqual;
        I16x8LtS => I16X8 SignedLessThan;
        I16x8LtU => I16X8 UnsignedLessThan;
        I16x8GtS => I16X8 SignedGreaterThan;
        I16x8GtU => I16X8 UnsignedGreaterThan;
        I16x8LeS => I16X8 SignedLessThanOrEqual;
        I16x8LeU => I16X8 UnsignedLessThanOrEqual;
        I16x8GeS => I16X8 SignedGreaterThanOrEqual;
        I16x8GeU => I16X8 UnsignedGreaterThanOrEqual;
        I32x4Eq => I32X4 Equal;
        I32x4Ne => I32X4 NotEqual;
        I32x4LtS => I32X4 SignedLessThan;
        I32x4LtU => I32X4 UnsignedLessThan;
        I32x4GtS => I32X4 SignedGreaterThan;
        I32x4GtU => I32X4 UnsignedGreaterThan;
        I32x4LeS => I32X4 SignedLessThanOrEqual;
        I32x4LeU => I32X4 UnsignedLessThanOrEqual;
        I32x4GeS => I32X4 SignedGreaterThanOrEqual;
        I32x4GeU => I32X4 UnsignedGreaterThanOrEqual;
        I64x2Eq => I64X2 Equal;
        I64x2Ne => I64X2 NotEqual;
        I64x2LtS => I64X2 SignedLessThan;
        I64x2GtS => I64X2 SignedGreaterThan;
        I64x2LeS => I64X2 SignedLessThanOrEqual;
        I64x2GeS => I64X2 SignedGreaterThanOrEqual;
    }
    compare_floats {
        F32x4Eq => F32X4 Equal;
        F32x4Ne => F32X4 NotEqual;
        F32x4Lt => F32X4 LessThan;
        F32x4Gt => F32X4 GreaterThan;
        F32x4Le => F32X4 LessThanOrEqual;
        F32x4Ge => F32X4 GreaterThanOrEqual;
        F64x2Eq => F64X2 Equal;
        F64x2Ne => F64X2 NotEqual;
        F64x2Lt => F64X2 LessThan;
        F64x2Gt => F64X2 GreaterThan;
        F64x2Le => F64X2 LessThanOrEqual;
        F64x2Ge => F64X2 GreaterThanOrEqual;
    }
    shift {
        I8x16Shl => I8X16 ishl;
        I8x16ShrS => I8X16 sshr;
        I8x16ShrU => I8X16 ushr;
        I16x8Shl => I16X8 ishl;
        I16x8ShrS => I16X8 sshr;
        I16x8ShrU => I16X8 ushr;
        I32x4Shl => I32X4 ishl;
        I32x4ShrS => I32X4 sshr;
        I32x4ShrU => I32X4 ushr;
        I64x2Shl => I64X2 ishl;
        I64x2ShrS => I64X2 sshr;
        I64x2ShrU => I64X2 ushr;
    }
    convert {
        I32x4TruncSatF32x4S => F32X4 fcvt_to_sint_sat I32X4;
        I32x4TruncSatF32x4U I32x4RelaxedTruncF32x4U => F32X4 fcvt_to_uint_sat I32X4;
        I32x4RelaxedTruncF32x4S => F32X4 x86_cvtt2dq I32X4;
        F32x4ConvertI32x4S => I32X4 fcvt_from_sint F32X4;
        F32x4ConvertI32x4U => I32X4 fcvt_from_uint F32X4;
    }
    multiply_wide {
        I16x8ExtMulLowI8x16S => I8X16 swiden_low;
        I16x8ExtMulLowI8x16U => I8X16 uwiden_low;
        I16x8ExtMulHighI8x16S => I8X16 swiden_high;
        I16x8ExtMulHighI8x16U => I8X16 uwiden_high;
        I32x4ExtMulLowI16x8S => I16X8 swiden_low;
        I32x4ExtMulLowI16x8U => I16X8 uwiden_low;
        I32x4ExtMulHighI16x8S => I16X8 swiden_high;
        I32x4ExtMulHighI16x8U => I16X8 uwiden_high;
        I64x2ExtMulLowI32x4S => I32X4 swiden_low;
        I64x2ExtMulLowI32x4U => I32X4 uwiden_low;
        I64x2ExtMulHighI32x4S => I32X4 swiden_high;
        I64x2ExtMulHighI32x4U => I32X4 uwiden_high;
    }
    add_pairs {
        I16x8ExtAddPairwiseI8x16S => I8X16 swiden_low swiden_high;
        I16x8ExtAddPairwiseI8x16U => I8X16 uwiden_low uwiden_high;
        I32x4ExtAddPairwiseI16x8S => I16X8 swiden_low swiden_high;
        I32x4ExtAddPairwiseI16x8U => I16X8 uwiden_low uwiden_high;
    }
}

/// Translates an operator on vectors that accesses no memory; false for all others.
pub(crate) fn vector(b: &mut FunctionBuilder<'_>, stack: &mut Vec<Value>, operator: &Operator<'_>) -> bool {
    let value = match from_table(b, stack, operator) {
        Some(value) => Some(value),
        None => in_steps(b, stack, operator),
    };
    let Some(value) = value else { return false };
    // A scalar is pushed as it is.
    let value = if b.func.dfg.value_type(value).is_vector() { cast(b, value, V128) } else { value };
    stack.push(value);
    true
}

/// Whether [`vector`] translates an operator, or the translator's `vector_memory_operator`.
pub(crate) fn is_vector(operator: &Operator<'_>) -> bool {
    use Operator::*;
    is_in_table(operator)
        || Load::of(operator).is_some()
        || lane_access(operator).is_some()
        || vm::vector::replaced_lane(operator).is_some()
        || vm::vector::Extract::of(operator).is_some()
        || vm::vector::Splat::of(operator).is_some()
        || vm::vector::Reduce::of(operator).is_some()
        || vm::vector::Ternary::of(operator).is_some()
        || matches!(
            operator,
            V128Const { .. }
                | V128Store { .. }
                | I8x16Shuffle { .. }
                | I32x4DotI16x8S
                | F32x4PMin
                | F32x4PMax
                | F64x2PMin
                | F64x2PMax
                | F32x4RelaxedMin
                | F32x4RelaxedMax
                | F64x2RelaxedMin
                | F64x2RelaxedMax
                | I32x4TruncSatF64x2SZero
                | I32x4TruncSatF64x2UZero
                | I32x4RelaxedTruncF64x2SZero
                | I32x4RelaxedTruncF64x2UZero
                | F64x2ConvertLowI32x4S
                | F64x2ConvertLowI32x4U
        )
}

/// What takes more than one instruction of CLIF, or one with an immediate.
fn in_steps(b: &mut FunctionBuilder<'_>, stack: &mut Vec<Value>, operator: &Operator<'_>) -> Option<Value> {
    use Operator::*;
    Some(match *operator {
        V128Const { value } => constant(b, *value.bytes()),
        I8x16Shuffle { lanes } => {
            let y = pop(b, stack, V128);
            let x = pop(b, stack, V128);
            let lanes = b.func.dfg.immediates.push(ConstantData::from(&lanes[..]));
            b.ins().shuffle(x, y, lanes)
        }
        I8x16ExtractLaneS { lane } => {
            let narrow = extract(b, stack, types::I8X16, lane);
            b.ins().sextend(types::I32, narrow)
        }
        I8x16ExtractLaneU { lane } => {
            let narrow = extract(b, stack, types::I8X16, lane);
            b.ins().uextend(types::I32, narrow)
        }
        I16x8ExtractLaneS { lane } => {
            let narrow = extract(b, stack, types::I16X8, lane);
            b.ins().sextend(types::I32, narrow)
        }
        I16x8ExtractLaneU { lane } => {
            let narrow = extract(b, stack, types::I16X8, lane);
            b.ins().uextend(types::I32, narrow)
        }
        I32x4ExtractLane { lane } => extract(b, stack, types::I32X4, lane),
        I64x2ExtractLane { lane } => extract(b, stack, types::I64X2, lane),
        F32x4ExtractLane { lane } => extract(b, stack, types::F32X4, lane),
        F64x2ExtractLane { lane } => extract(b, stack, types::F64X2, lane),
        I8x16ReplaceLane { lane } => replace(b, stack, types::I8X16, lane),
        I16x8ReplaceLane { lane } => replace(b, stack, types::I16X8, lane),
        I32x4ReplaceLane { lane } => replace(b, stack, types::I32X4, lane),
        I64x2ReplaceLane { lane } => replace(b, stack, types::I64X2, lane),
        F32x4ReplaceLane { lane } => replace(b, stack, types::F32X4, lane),
        F64x2ReplaceLane { lane } => replace(b, stack, types::F64X2, lane),
        I8x16Splat => splat(b, stack, types::I8X16),
        I16x8Splat => splat(b, stack, types::I16X8),
        I32x4Splat => splat(b, stack, types::I32X4),
        I64x2Splat => splat(b, stack, types::I64X2),
        F32x4Splat => splat(b, stack, types::F32X4),
        F64x2Splat => splat(b, stack, types::F64X2),
        V128AnyTrue => {
            let x = pop(b, stack, V128);
            let is = b.ins().vany_true(x);
            b.ins().uextend(types::I32, is)
        }
        I8x16AllTrue => all_true(b, stack, types::I8X16),
        I16x8AllTrue => all_true(b, stack, types::I16X8),
        I32x4AllTrue => all_true(b, stack, types::I32X4),
        I64x2AllTrue => all_true(b, stack, types::I64X2),
        I8x16Bitmask => bitmask(b, stack, types::I8X16),
        I16x8Bitmask => bitmask(b, stack, types::I16X8),
        I32x4Bitmask => bitmask(b, stack, types::I32X4),
        I64x2Bitmask => bitmask(b, stack, types::I64X2),
        V128Bitselect | I16x8RelaxedLaneselect => {
            let mask = pop_scalar(stack);
            let y = pop_scalar(stack);
            let x = pop_scalar(stack);
            // In the type of a comparison the mask comes from, the instruction selector sees that whole lanes are picked.
            let ty = compared(b, mask);
            let [mask, x, y] = [mask, x, y].map(|value| cast(b, value, ty));
            b.ins().bitselect(mask, x, y)
        }
        I8x16RelaxedLaneselect => select_by_sign(b, stack, types::I8X16),
        I32x4RelaxedLaneselect => select_by_sign(b, stack, types::I32X4),
        I64x2RelaxedLaneselect => select_by_sign(b, stack, types::I64X2),
        F32x4PMin | F32x4RelaxedMin => pick(b, stack, types::F32X4, |x, y| [y, x]),
        F64x2PMin | F64x2RelaxedMin => pick(b, stack, types::F64X2, |x, y| [y, x]),
        F32x4PMax | F32x4RelaxedMax => pick(b, stack, types::F32X4, |x, y| [x, y]),
        F64x2PMax | F64x2RelaxedMax => pick(b, stack, types::F64X2, |x, y| [x, y]),
        F32x4RelaxedMadd => multiply_add(b, stack, types::F32X4, false),
        F64x2RelaxedMadd => multiply_add(b, stack, types::F64X2, false),
        F32x4RelaxedNmadd => multiply_add(b, stack, types::F32X4, true),
        F64x2RelaxedNmadd => multiply_add(b, stack, types::F64X2, true),
        I32x4DotI16x8S => {
            let y = pop(b, stack, types::I16X8);
            let x = pop(b, stack, types::I16X8);
            let (x_low, y_low) = (b.ins().swiden_low(x), b.ins().swiden_low(y));
            let low = b.ins().imul(x_low, y_low);
            let (x_high, y_high) = (b.ins().swiden_high(x), b.ins().swiden_high(y));
            let high = b.ins().imul(x_high, y_high);
            b.ins().iadd_pairwise(low, high)
        }
        I32x4RelaxedDotI8x16I7x16AddS => {
            let sum = pop(b, stack, types::I32X4);
            let y = pop(b, stack, V128);
            let x = pop(b, stack, V128);
            let products = b.ins().x86_pmaddubsw(x, y);
            let (low, high) = (b.ins().swiden_low(products), b.ins().swiden_high(products));
            let pairs = b.ins().iadd_pairwise(low, high);
            b.ins().iadd(pairs, sum)
        }
        // Zeros in the upper lanes: the pairs that the instruction selector knows.
        I32x4TruncSatF64x2SZero => {
            let x = pop(b, stack, types::F64X2);
            let (wide, zero) = (b.ins().fcvt_to_sint_sat(types::I64X2, x), zero(b, types::I64X2));
            b.ins().snarrow(wide, zero)
        }
        I32x4TruncSatF64x2UZero | I32x4RelaxedTruncF64x2UZero => {
            let x = pop(b, stack, types::F64X2);
            let (wide, zero) = (b.ins().fcvt_to_uint_sat(types::I64X2, x), zero(b, types::I64X2));
            b.ins().uunarrow(wide, zero)
        }
        I32x4RelaxedTruncF64x2SZero => {
            let x = pop(b, stack, types::F64X2);
            let (wide, zero) = (b.ins().x86_cvtt2dq(types::I64X2, x), zero(b, types::I64X2));
            b.ins().snarrow(wide, zero)
        }
        F64x2ConvertLowI32x4S => {
            let x = pop(b, stack, types::I32X4);
            let wide = b.ins().swiden_low(x);
            b.ins().fcvt_from_sint(types::F64X2, wide)
        }
        F64x2ConvertLowI32x4U => {
            let x = pop(b, stack, types::I32X4);
            let wide = b.ins().uwiden_low(x);
            b.ins().fcvt_from_uint(types::F64X2, wide)
        }
        _ => return None,
    })
}

fn extract(b: &mut FunctionBuilder<'_>, stack: &mut Vec<Value>, ty: Type, lane: u8) -> Value {
    let x = pop(b, stack, ty);
    b.ins().extractlane(x, lane)
}

/// A scalar as a lane of a type: small ones are the low bits of an i32.
fn as_lane(b: &mut FunctionBuilder<'_>, value: Value, ty: Type) -> Value {
    let lane = ty.lane_type();
    if lane == b.func.dfg.value_type(value) { value } else { b.ins().ireduce(lane, value) }
}

fn replace(b: &mut FunctionBuilder<'_>, stack: &mut Vec<Value>, ty: Type, lane: u8) -> Value {
    let value = pop_scalar(stack);
    let x = pop(b, stack, ty);
    let value = as_lane(b, value, ty);
    b.ins().insertlane(x, value, lane)
}

fn splat(b: &mut FunctionBuilder<'_>, stack: &mut Vec<Value>, ty: Type) -> Value {
    let value = pop_scalar(stack);
    let value = as_lane(b, value, ty);
    b.ins().splat(ty, value)
}

fn all_true(b: &mut FunctionBuilder<'_>, stack: &mut Vec<Value>, ty: Type) -> Value {
    let x = pop(b, stack, ty);
    let is = b.ins().vall_true(x);
    b.ins().uextend(types::I32, is)
}

fn bitmask(b: &mut FunctionBuilder<'_>, stack: &mut Vec<Value>, ty: Type) -> Value {
    let x = pop(b, stack, ty);
    b.ins().vhigh_bits(types::I32, x)
}

/// The type of the comparison that a value is the result of, else [`V128`].
fn compared(b: &FunctionBuilder<'_>, value: Value) -> Type {
    let dfg = &b.func.dfg;
    let before = |value: Value| dfg.value_def(dfg.resolve_aliases(value)).inst().map(|inst| (inst, dfg.insts[inst]));
    match before(value) {
        Some((_, InstructionData::LoadNoOffset { opcode: Opcode::Bitcast, arg, .. })) => match before(arg) {
            Some((inst, data)) if matches!(data.opcode(), Opcode::Icmp | Opcode::Fcmp) => dfg.value_type(dfg.first_result(inst)),
            _ => V128,
        },
        _ => V128,
    }
}

fn select_by_sign(b: &mut FunctionBuilder<'_>, stack: &mut Vec<Value>, ty: Type) -> Value {
    let mask = pop(b, stack, ty);
    let y = pop(b, stack, ty);
    let x = pop(b, stack, ty);
    b.ins().blendv(mask, x, y)
}

/// `x`, or `y` where `less` of both, the first below the second, holds.
fn pick(b: &mut FunctionBuilder<'_>, stack: &mut Vec<Value>, ty: Type, less: impl Fn(Value, Value) -> [Value; 2]) -> Value {
    let y = pop(b, stack, ty);
    let x = pop(b, stack, ty);
    let [below, above] = less(x, y);
    let is = b.ins().fcmp(FloatCC::LessThan, below, above);
    let mask = cast(b, is, ty);
    b.ins().bitselect(mask, y, x)
}

/// `x * y + z`, or `z - x * y`.
fn multiply_add(b: &mut FunctionBuilder<'_>, stack: &mut Vec<Value>, ty: Type, negated: bool) -> Value {
    let z = pop(b, stack, ty);
    let y = pop(b, stack, ty);
    let x = pop(b, stack, ty);
    match (vm::vector::fuses(), negated) {
        (true, false) => b.ins().fma(x, y, z),
        (true, true) => {
            let x = b.ins().fneg(x);
            b.ins().fma(x, y, z)
        }
        (false, negated) => {
            let product = b.ins().fmul(x, y);
            if negated { b.ins().fsub(z, product) } else { b.ins().fadd(product, z) }
        }
    }
}

impl Translator<'_, '_> {
    /// Translates accesses of vectors to memory; false for all others.
    pub(super) fn vector_memory_operator(&mut self, operator: &Operator<'_>) -> Result<bool> {
        if let Some((load, memarg)) = Load::of(operator) {
            self.vector_load(load, &memarg)?;
        } else if let Some((lane, memarg, is_store)) = lane_access(operator) {
            let vector = self.pop();
            let ty = Type::int_with_byte_size(lane.bytes() as u16).expect("1, 2, 4 or 8 bytes");
            // The lowest lane is stored straight from its register, where it is a float.
            let ty = match (is_store, lane.index(), ty) {
                (true, 0, types::I32) => types::F32,
                (true, 0, types::I64) => types::F64,
                _ => ty,
            };
            let vector = cast(&mut self.b, vector, ty.by(16 / lane.bytes()).expect("16 bytes of lanes"));
            if is_store {
                let value = self.b.ins().extractlane(vector, lane.index() as u8);
                let (flags, address, offset) = self.access(&memarg, lane.bytes())?;
                self.b.ins().store(flags, value, address, offset);
            } else {
                let (flags, address, offset) = self.access(&memarg, lane.bytes())?;
                self.probe_load(&memarg, address, offset, lane.bytes());
                let value = self.load_scalar(flags, ty, address, offset);
                let value = self.b.ins().insertlane(vector, value, lane.index() as u8);
                self.probe_loaded(value);
                self.push_vector(value);
            }
        } else if let Operator::V128Store { memarg } = operator {
            let value = self.pop();
            // What floats were computed is stored as floats: some processors take longer from one kind of unit to the other.
            let value = before_cast(&self.b.func.dfg, value).unwrap_or(value);
            let (flags, address, offset) = self.access(memarg, 16)?;
            self.b.ins().store(flags, value, address, offset);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn push_vector(&mut self, value: Value) {
        let value = cast(&mut self.b, value, V128);
        self.push(value);
    }

    /// A load of 8 to 64 bits that becomes a lane.
    fn load_scalar(&mut self, flags: MemFlagsData, ty: Type, address: Value, offset: i32) -> Value {
        // `load.i16` is what a prefetch is made of ([`crate::markers`]).
        if ty == types::I16 {
            let wide = self.b.ins().uload16(types::I32, flags, address, offset);
            return self.b.ins().ireduce(ty, wide);
        }
        self.b.ins().load(ty, flags, address, offset)
    }

    fn vector_load(&mut self, load: Load, memarg: &MemArg) -> Result {
        let (flags, address, offset) = self.access(memarg, load.bytes())?;
        self.probe_load(memarg, address, offset, load.bytes());
        let value = match load {
            Load::Whole => self.b.ins().load(V128, flags, address, offset),
            Load::Extend8S => self.b.ins().sload8x8(flags, address, offset),
            Load::Extend8U => self.b.ins().uload8x8(flags, address, offset),
            Load::Extend16S => self.b.ins().sload16x4(flags, address, offset),
            Load::Extend16U => self.b.ins().uload16x4(flags, address, offset),
            Load::Extend32S => self.b.ins().sload32x2(flags, address, offset),
            Load::Extend32U => self.b.ins().uload32x2(flags, address, offset),
            Load::Splat8 => self.load_splat(flags, types::I8X16, address, offset),
            Load::Splat16 => self.load_splat(flags, types::I16X8, address, offset),
            Load::Splat32 => self.load_splat(flags, types::I32X4, address, offset),
            Load::Splat64 => self.load_splat(flags, types::I64X2, address, offset),
            Load::Zero32 => self.load_zero(flags, types::I32X4, address, offset),
            Load::Zero64 => self.load_zero(flags, types::I64X2, address, offset),
        };
        self.probe_loaded(value);
        self.push_vector(value);
        Ok(())
    }

    fn load_splat(&mut self, flags: MemFlagsData, ty: Type, address: Value, offset: i32) -> Value {
        let value = self.load_scalar(flags, ty.lane_type(), address, offset);
        self.b.ins().splat(ty, value)
    }

    fn load_zero(&mut self, flags: MemFlagsData, ty: Type, address: Value, offset: i32) -> Value {
        let value = self.b.ins().load(ty.lane_type(), flags, address, offset);
        self.b.ins().scalar_to_vector(ty, value)
    }
}
