//! Operators of the proposals beyond WebAssembly 2.0: typed function references, tail calls, and accesses to memories that the fast ops are not for.

use super::Translator;
use super::control::ControlKind;
use crate::bytecode::PointKind;
use crate::bytecode::frame::slots_of_all;
use crate::bytecode::op::{Op, Slot, Target};
use crate::interp::Rare;
use crate::layout::FunctionPlace;
use crate::vector;
use wasmparser::{MemArg, MemArgTarget, Operator};

impl Translator<'_> {
    /// What is neither in WebAssembly 2.0 nor on vectors; false for all others.
    pub(super) fn proposal_operator(&mut self, operator: &Operator<'_>) -> bool {
        match *operator {
            Operator::CallRef { type_index } => self.call_ref(type_index),
            Operator::RefAsNonNull => {
                self.flush();
                let src = self.stack.top(1)[0].slot;
                self.emit(Op::RefAsNonNull { src });
            }
            Operator::BrOnNull { relative_depth } => self.br_on_null(relative_depth),
            Operator::BrOnNonNull { relative_depth } => self.br_on_non_null(relative_depth),
            Operator::ReturnCall { function_index } => self.return_call(function_index),
            Operator::ReturnCallIndirect { type_index, table_index } => {
                let params = self.module.types[type_index as usize].params().len();
                let signature = self.module.signatures[type_index as usize];
                let (callee, base) = self.callee_and_arguments(params, Some(table_index as u16));
                self.emit(Op::ReturnCallIndirect { table: table_index as u16, signature, callee, base });
                self.stop();
            }
            Operator::ReturnCallRef { type_index } => {
                let params = self.module.types[type_index as usize].params().len();
                let (callee, base) = self.callee_and_arguments(params, None);
                self.emit(Op::ReturnCallRef { callee, base });
                self.stop();
            }
            _ => return self.exception_operator(operator) || self.atomic_operator(operator),
        }
        true
    }

    /// The slots of a tail call's callee on top of the stack (of its index in a table, where it has one) and of the first of its `params` arguments below it, all canonical. They
    /// stay on the stack.
    fn callee_and_arguments(&mut self, params: usize, table: Option<u16>) -> (Slot, Slot) {
        self.tail_calls = true;
        self.flush();
        let callee = self.stack.top(1)[0].slot;
        let base = self.first_slot(params + 1);
        if let Some(table) = table {
            self.watch_call(table, callee);
        }
        self.watch_tail_call();
        self.point(PointKind::Call);
        (callee, base)
    }

    fn call_ref(&mut self, type_index: u32) {
        let module = self.module;
        let ty = &module.types[type_index as usize];
        let params = ty.params().len();
        self.flush();
        let callee = self.stack.top(1)[0].slot;
        let base = self.first_slot(params + 1);
        self.point(PointKind::Call);
        self.stack.truncate(self.stack.len() - params - 1);
        self.emit(Op::CallRef { callee, base });
        self.push_canonical(ty.results());
    }

    fn return_call(&mut self, function: u32) {
        self.tail_calls = true;
        let ty = self.module.function_type(function);
        self.flush();
        let base = self.first_slot(ty.params().len());
        self.watch_tail_call();
        self.point(PointKind::Call);
        self.emit(match self.module.offsets().function(function) {
            FunctionPlace::Inline(_) => Op::ReturnCall { function, base },
            FunctionPlace::Pointer(place) => Op::ReturnCallImport { params: slots_of_all(ty.params()) as u16, base, place },
        });
        self.stop();
    }

    fn br_on_null(&mut self, depth: u32) {
        self.flush();
        let reference = self.stack.top(1)[0].slot;
        self.stack.pop();
        let skip = self.new_label();
        self.emit_jump(Op::JumpI64NeImm { a: reference, imm: 0, target: Target(0) }, skip);
        self.branch_on_own_path(depth);
        self.bind(skip);
        // Still where it was.
        self.stack.push_slot();
    }

    fn br_on_non_null(&mut self, depth: u32) {
        self.flush();
        let reference = self.stack.top(1)[0].slot;
        let skip = self.new_label();
        self.emit_jump(Op::JumpI64EqImm { a: reference, imm: 0, target: Target(0) }, skip);
        self.branch_on_own_path(depth);
        self.bind(skip);
        self.stack.pop();
    }

    /// A branch that what stands before it may jump over; the simulated stack stays as it is.
    pub(super) fn branch_on_own_path(&mut self, depth: u32) {
        // No op before the jump may be merged with one behind it.
        self.barrier = self.ops.len();
        let control = self.control(depth);
        if control.kind == ControlKind::Function {
            self.emit_return_keeping(control.results.as_slice().len());
        } else {
            self.move_branch_values(&control);
            self.emit_goto(control.label);
        }
    }

    /// Loads and stores of another memory than a plain memory 0; false for all others.
    pub(super) fn far_access(&mut self, operator: &Operator<'_>) -> bool {
        use Operator as O;
        let (what, memarg, operands) = match operator {
            O::I32Load { memarg } | O::F32Load { memarg } | O::I64Load32U { memarg } => (Rare::Load32, memarg, 1),
            O::I64Load { memarg } | O::F64Load { memarg } => (Rare::Load64, memarg, 1),
            O::I32Load8U { memarg } | O::I64Load8U { memarg } => (Rare::Load8U, memarg, 1),
            O::I32Load16U { memarg } | O::I64Load16U { memarg } => (Rare::Load16U, memarg, 1),
            O::I32Load8S { memarg } => (Rare::I32Load8S, memarg, 1),
            O::I32Load16S { memarg } => (Rare::I32Load16S, memarg, 1),
            O::I64Load8S { memarg } => (Rare::I64Load8S, memarg, 1),
            O::I64Load16S { memarg } => (Rare::I64Load16S, memarg, 1),
            O::I64Load32S { memarg } => (Rare::I64Load32S, memarg, 1),
            O::I32Store { memarg } | O::F32Store { memarg } | O::I64Store32 { memarg } => (Rare::Store32, memarg, 2),
            O::I64Store { memarg } | O::F64Store { memarg } => (Rare::Store64, memarg, 2),
            O::I32Store8 { memarg } | O::I64Store8 { memarg } => (Rare::Store8, memarg, 2),
            O::I32Store16 { memarg } | O::I64Store16 { memarg } => (Rare::Store16, memarg, 2),
            operator => return self.far_vector_access(operator),
        };
        let MemArgTarget::Memory(memory) = memarg.target else { return false };
        if memory == 0 && self.module.is_plain_memory(0) {
            return false;
        }
        self.rare_access(what, memarg, operands, operands == 1);
        true
    }

    /// An access of vectors to such a memory: the ops for memory 0 with that memory in its place meanwhile, from the address on.
    fn far_vector_access(&mut self, operator: &Operator<'_>) -> bool {
        let (memarg, operands) = if let Some((_, memarg)) = vector::Load::of(operator) {
            (memarg, 1)
        } else if let Some((_, memarg, _)) = vector::lane_access(operator) {
            (memarg, 2)
        } else if let Operator::V128Store { memarg } = *operator {
            (memarg, 2)
        } else {
            return false;
        };
        let MemArgTarget::Memory(memory) = memarg.target else { return false };
        if memory == 0 && self.module.is_plain_memory(0) {
            return false;
        }
        self.flush();
        let address = self.stack.top(operands)[0].slot;
        self.emit_rare(Rare::OpenWindow, address, memory, memarg.offset);
        self.barrier = self.ops.len();
        self.in_window = true;
        self.vector_operator(operator);
        self.in_window = false;
        self.emit_rare(Rare::CloseWindow, Slot(0), 0, 0);
        true
    }

    /// An access to any memory, by the table of rare operators.
    pub(super) fn rare_access(&mut self, what: Rare, memarg: &MemArg, operands: usize, result: bool) {
        let memory = match memarg.target {
            MemArgTarget::Memory(memory) => memory,
            MemArgTarget::Array(_) => unreachable!("arrays do not validate"),
        };
        let base = self.pop_block(operands);
        self.emit_rare(what, base, memory, memarg.offset);
        if result {
            self.stack.push_slot();
        }
    }

    /// An op of the table, with its number.
    pub(super) fn emit_rare(&mut self, what: Rare, base: Slot, index: u32, value: u64) {
        self.emit(Op::Rare { what: what as u16, base, index });
        self.emit(Op::Immediate { high: 0, low: value });
    }
}
