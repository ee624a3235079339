//! Operators on v128: which op each becomes. Constants are never forwarded; locals are.

use super::Translator;
use super::operators::offset_of;
use super::stack::Value;
use crate::bytecode::op::{Op, Slot};
use crate::layout::GlobalPlace;
use crate::vector::{self, Binary, Extract, Load, Reduce, Shift, ShuffleLanes, Splat, Ternary, Unary};
use wasmparser::Operator;

impl Translator<'_> {
    /// Appends an op whose result is a v128 and the new top of the stack; it is given the first of the result's slots.
    fn emit_vector(&mut self, op: impl FnOnce(Slot) -> Op) {
        let dst = self.stack.push_wide(Value::Canonical, 2);
        let at = self.emit(op(dst));
        self.result = Some(at);
    }

    /// As [`Self::emit_vector`], with an op behind that holds the rest of the operands.
    fn emit_vector_with(&mut self, op: impl FnOnce(Slot) -> Op, rest: Op) {
        self.emit_vector(op);
        let at = self.ops.len() - 1;
        self.emit(rest);
        self.result = Some(at);
    }

    pub(super) fn vector_select(&mut self, a: Slot, b: Slot, condition: Slot) {
        self.emit_vector_with(|dst| Op::VectorSelect { dst, a, b }, Op::Operand { slot: condition });
    }

    pub(super) fn vector_global_get(&mut self, index: u32) {
        match self.module.offsets().global(index) {
            GlobalPlace::Inline(place) => self.emit_vector(|dst| Op::VectorGlobalGet { dst, place }),
            GlobalPlace::Pointer(place) => self.emit_vector(|dst| Op::VectorGlobalGetImported { dst, place }),
        }
    }

    pub(super) fn vector_global_set(&mut self, index: u32) {
        let src = self.pop_operand();
        self.emit(match self.module.offsets().global(index) {
            GlobalPlace::Inline(place) => Op::VectorGlobalSet { src, place },
            GlobalPlace::Pointer(place) => Op::VectorGlobalSetImported { src, place },
        });
    }

    /// An operator of SIMD or relaxed SIMD.
    pub(super) fn vector_operator(&mut self, operator: &Operator<'_>) {
        self.has_vectors = true;
        if let Some(function) = Binary::of(operator) {
            let b = self.pop_operand();
            let a = self.pop_operand();
            self.emit_vector(|dst| match function.is_quick() {
                true => Op::VectorBinaryQuick { function, dst, left: a, right: b },
                false => Op::VectorBinary { function, dst, a, b },
            });
        } else if let Some(function) = Unary::of(operator) {
            let a = self.pop_operand();
            self.emit_vector(|dst| match function.is_quick() {
                true => Op::VectorUnaryQuick { function, dst, operand: a },
                false => Op::VectorUnary { function, dst, a },
            });
        } else if let Some(function) = Ternary::of(operator) {
            let c = self.pop_operand();
            let b = self.pop_operand();
            let a = self.pop_operand();
            let op = |dst| match function {
                Ternary::V128Bitselect => Op::VectorBitselect { dst, a, b },
                _ => Op::VectorTernary { function, dst, a, b },
            };
            self.emit_vector_with(op, Op::Operand { slot: c });
        } else if let Some(function) = Shift::of(operator) {
            let by = self.pop_operand();
            let vector = self.pop_operand();
            self.emit_vector(|dst| Op::VectorShift { function, dst, vector, by });
        } else if let Some(function) = Splat::of(operator) {
            let scalar = self.pop_operand();
            self.emit_vector(|dst| Op::VectorSplat { function, dst, scalar });
        } else if let Some(function) = Reduce::of(operator) {
            let vector = self.pop_operand();
            self.emit_result(|dst| Op::VectorReduce { function, dst, vector });
        } else if let Some((function, lane)) = Extract::of(operator) {
            let (vector, lane) = (self.pop_operand(), u32::from(lane));
            self.emit_result(|dst| Op::VectorExtract { function, dst, vector, lane });
        } else if let Some(place) = vector::replaced_lane(operator) {
            let b = self.pop_operand();
            let a = self.pop_operand();
            self.emit_vector(|dst| Op::VectorReplace { place, dst, a, b });
        } else {
            self.vector_immediate(operator);
        }
    }

    /// An access's offset, unless the op before it has added it.
    fn vector_offset(&self, memarg: &wasmparser::MemArg) -> u32 {
        if self.in_window { 0 } else { offset_of(memarg) }
    }

    /// Constants, shuffles, and accesses to memory.
    fn vector_immediate(&mut self, operator: &Operator<'_>) {
        if let Some((function, memarg)) = Load::of(operator) {
            let (address, offset) = (self.pop_operand(), self.vector_offset(&memarg));
            return match function {
                Load::Whole => self.emit_vector(|dst| Op::VectorLoadWhole { dst, address, offset }),
                _ => self.emit_vector(|dst| Op::VectorLoad { function, dst, place: address, offset }),
            };
        }
        if let Some((place, memarg, is_store)) = vector::lane_access(operator) {
            let value = self.pop_operand();
            let (address, offset) = (self.pop_operand(), self.vector_offset(&memarg));
            if is_store {
                self.emit(Op::VectorStoreLane { place, address, value, offset });
            } else {
                self.emit_vector_with(|dst| Op::VectorLoadLane { place, dst, address, offset }, Op::Operand { slot: value });
            }
            return;
        }
        match *operator {
            Operator::V128Const { value } => {
                let value = value.i128() as u128;
                let rest = Op::Immediate { high: 0, low: (value >> 64) as u64 };
                self.emit_vector_with(|dst| Op::VectorConst { dst, low: value as u64 }, rest);
            }
            Operator::I8x16Shuffle { lanes } => {
                let b = self.pop_operand();
                let a = self.pop_operand();
                let ShuffleLanes { low, high } = ShuffleLanes::new(lanes);
                self.emit_vector_with(|dst| Op::VectorShuffle { dst, a, b }, Op::Immediate { high, low });
            }
            Operator::V128Store { memarg } => {
                let value = self.pop_operand();
                let (address, offset) = (self.pop_operand(), self.vector_offset(&memarg));
                self.emit(Op::VectorStore { address, value, offset });
            }
            ref other => unreachable!("{other:?} belongs to a proposal that does not validate"),
        }
    }
}
