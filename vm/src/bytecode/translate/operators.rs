//! One arm an operator: which op it becomes, with which operands.

use super::Translator;
use super::fuse;
use super::stack::{Entry, Value};
use crate::bytecode::frame::slots_of;
use crate::bytecode::op::{Op, Slot};
use crate::code::ProbeKind;
use crate::layout::{FunctionPlace, GlobalPlace};
use wasmparser::{MemArg, Operator, ValType};

/// Binary op with slots, and where it has one the form with an immediate: `…, commutes` when the operands may be swapped for that.
macro_rules! binary {
    ($self:ident, $op:ident) => {{
        let b = $self.pop_operand();
        let a = $self.pop_operand();
        $self.emit_result(|dst| Op::$op { dst, a, b })
    }};
    ($self:ident, $op:ident, $imm_op:ident, $imm:path) => {
        binary!($self, $op, $imm_op, $imm, |imm: i32| Some(imm))
    };
    ($self:ident, $op:ident, $imm_op:ident, $imm:path, commutes) => {
        compare!($self, $op, $imm_op, $imm, $op, $imm_op)
    };
    ($self:ident, $op:ident, $imm_op:ident, $imm:path, $map:expr) => {{
        let b = $self.stack.pop();
        let map: fn(i32) -> Option<i32> = $map;
        if let Some(imm) = $imm(b.value).and_then(map) {
            let a = $self.pop_operand();
            $self.emit_result(|dst| Op::$imm_op { dst, a, imm })
        } else {
            let b = $self.operand(b);
            let a = $self.pop_operand();
            $self.emit_result(|dst| Op::$op { dst, a, b })
        }
    }};
}

/// Comparison: with slots, with an immediate on the right, and the same with the operands swapped.
macro_rules! compare {
    ($self:ident, $op:ident, $imm_op:ident, $imm:path, $_swapped:ident, $swapped_imm:ident) => {{
        let b = $self.stack.pop();
        let a = $self.stack.pop();
        if let Some(imm) = $imm(b.value) {
            let a = $self.operand(a);
            $self.emit_result(|dst| Op::$imm_op { dst, a, imm })
        } else if let Some(imm) = $imm(a.value) {
            let a = $self.operand(b);
            $self.emit_result(|dst| Op::$swapped_imm { dst, a, imm })
        } else {
            let b = $self.operand(b);
            let a = $self.operand(a);
            $self.emit_result(|dst| Op::$op { dst, a, b })
        }
    }};
    // a > b is b < a: only the swapped form exists with slots.
    (swap $self:ident, $swapped:ident, $imm_op:ident, $imm:path, $swapped_imm:ident) => {{
        let b = $self.stack.pop();
        let a = $self.stack.pop();
        if let Some(imm) = $imm(b.value) {
            let a = $self.operand(a);
            $self.emit_result(|dst| Op::$imm_op { dst, a, imm })
        } else if let Some(imm) = $imm(a.value) {
            let a = $self.operand(b);
            $self.emit_result(|dst| Op::$swapped_imm { dst, a, imm })
        } else {
            let b = $self.operand(b);
            let a = $self.operand(a);
            $self.emit_result(|dst| Op::$swapped { dst, a: b, b: a })
        }
    }};
}

/// Float comparison of which only the swapped form exists.
macro_rules! swapped {
    ($self:ident, $op:ident) => {{
        let b = $self.pop_operand();
        let a = $self.pop_operand();
        $self.emit_result(|dst| Op::$op { dst, a: b, b: a })
    }};
}

macro_rules! unary {
    ($self:ident, $op:ident) => {{
        let a = $self.pop_operand();
        $self.emit_result(|dst| Op::$op { dst, a })
    }};
}

macro_rules! load {
    ($self:ident, $memarg:expr, $op:ident, $at_op:ident, $indexed_op:ident) => {{
        let address = $self.stack.pop();
        if let Some(address) = constant_address(address.value, &$memarg) {
            $self.emit_result(|dst| Op::$at_op { dst, address })
        } else if let Some((a, b, scaled)) = $self.take_address(address, &$memarg) {
            $self.emit_result(|dst| Op::$indexed_op { scaled, dst, a, b })
        } else {
            let address = $self.operand(address);
            let offset = offset_of(&$memarg);
            $self.emit_result(|dst| Op::$op { dst, address, offset })
        }
    }};
}

macro_rules! store {
    ($self:ident, $memarg:expr, $op:ident, $at_op:ident, $imm_op:ident, $indexed_op:ident, $imm:path) => {{
        let value = $self.stack.pop();
        let address = $self.stack.pop();
        let offset = offset_of(&$memarg);
        if let Some(address) = constant_address(address.value, &$memarg) {
            let value = $self.operand(value);
            $self.emit(Op::$at_op { value, address });
        } else if let Some(value) = $imm(value.value) {
            let address = $self.operand(address);
            $self.emit(Op::$imm_op { address, value, offset });
        } else if let Value::Local(value) = value.value
            && let Some((a, b, scaled)) = $self.take_address(address, &$memarg)
        {
            $self.emit(Op::$indexed_op { scaled, a, b, value });
        } else {
            let value = $self.operand(value);
            let address = $self.operand(address);
            $self.emit(Op::$op { address, value, offset });
        }
    }};
}

/// The low 32 bits of a constant.
fn low32(value: Value) -> Option<i32> {
    match value {
        Value::Const(bits) => Some(bits as u32 as i32),
        _ => None,
    }
}

/// A 64-bit constant that is its sign-extended low half.
fn small64(value: Value) -> Option<i32> {
    match value {
        Value::Const(bits) => i32::try_from(bits as i64).ok(),
        _ => None,
    }
}

/// For the signed division by a constant that needs no check.
fn safe_signed_divisor(imm: i32) -> Option<i32> {
    (imm != 0 && imm != -1).then_some(imm)
}

fn safe_unsigned_divisor(imm: i32) -> Option<i32> {
    (imm != 0).then_some(imm)
}

/// Offsets into 32-bit memories have 32 bits.
pub(super) fn offset_of(memarg: &MemArg) -> u32 {
    memarg.offset as u32
}

fn constant_address(value: Value, memarg: &MemArg) -> Option<u64> {
    match value {
        Value::Const(bits) => Some(bits as u32 as u64 + memarg.offset),
        _ => None,
    }
}

impl Translator<'_> {
    /// Flushes, pops `count` operands of an op that takes them from consecutive slots, and gives the first slot.
    pub(super) fn pop_block(&mut self, count: usize) -> Slot {
        self.flush();
        let base = self.stack.top(count)[0].slot;
        self.stack.truncate(self.stack.len() - count);
        base
    }

    /// The parts of a popped address that the last op added up; the op is removed.
    fn take_address(&mut self, address: Entry, memarg: &MemArg) -> Option<(Slot, Slot, u16)> {
        if address.value != Value::Canonical {
            return None;
        }
        let at = self.producer(address.slot).filter(|at| at + 1 == self.ops.len())?;
        let parts = fuse::indexed(&self.ops[at], offset_of(memarg))?;
        self.remove_last_op();
        Some(parts)
    }

    /// The value and distance of a popped operand that the last op shifted left by at most 7; the op is removed.
    fn take_shifted(&mut self, entry: Entry) -> Option<(Slot, u16)> {
        if entry.value != Value::Canonical {
            return None;
        }
        let at = self.producer(entry.slot).filter(|at| at + 1 == self.ops.len())?;
        let Op::I32ShlImm { a, imm: shift @ 0..8, .. } = self.ops[at] else {
            return None;
        };
        self.remove_last_op();
        Some((a, shift as u16))
    }

    fn i32_add(&mut self) {
        let b = self.stack.pop();
        let a = self.stack.pop();
        let is_constant = |entry: Entry| matches!(entry.value, Value::Const(_));
        if !is_constant(a) && !is_constant(b) {
            // Neither of both emits an op, so the last op can only be of one of them.
            let shifted = match self.take_shifted(b) {
                Some(shifted) => Some((shifted, a)),
                None => self.take_shifted(a).map(|shifted| (shifted, b)),
            };
            if let Some(((b, shift), a)) = shifted {
                let a = self.operand(a);
                return self.emit_result(|dst| Op::I32AddShl { shift, dst, a, b });
            }
        }
        self.stack.push(a.value);
        self.stack.push(b.value);
        binary!(self, I32Add, I32AddImm, low32, commutes);
    }

    /// `eqz`: a comparison that was just made is inverted instead.
    fn i32_eqz(&mut self) {
        if let Some(last) = self.stack.top(1).first()
            && last.value == Value::Canonical
            && let Some(at) = self.producer(last.slot)
            && let Some(inverted) = fuse::inverted(&self.ops[at])
        {
            self.ops[at] = inverted;
            return;
        }
        let a = self.pop_operand();
        self.emit_result(|dst| Op::I32EqImm { dst, a, imm: 0 });
    }

    fn global_get(&mut self, index: u32) {
        if self.module.globals[index as usize].content_type == ValType::V128 {
            return self.vector_global_get(index);
        }
        match self.module.offsets().global(index) {
            GlobalPlace::Inline(place) => self.emit_result(|dst| Op::GlobalGet { dst, place }),
            GlobalPlace::Pointer(place) => {
                self.emit_result(|dst| Op::GlobalGetImported { dst, place });
            }
        }
    }

    fn global_set(&mut self, index: u32) {
        if self.module.globals[index as usize].content_type == ValType::V128 {
            return self.vector_global_set(index);
        }
        let src = self.pop_operand();
        self.emit(match self.module.offsets().global(index) {
            GlobalPlace::Inline(place) => Op::GlobalSet { src, place },
            GlobalPlace::Pointer(place) => Op::GlobalSetImported { src, place },
        });
    }

    fn ref_func(&mut self, function: u32) {
        match self.module.offsets().function(function) {
            FunctionPlace::Inline(place) => self.emit_result(|dst| Op::RefFunc { dst, place }),
            FunctionPlace::Pointer(place) => {
                self.emit_result(|dst| Op::RefFuncImported { dst, place });
            }
        }
    }

    fn select(&mut self) {
        self.watch_condition(ProbeKind::Select);
        let condition = self.pop_operand();
        let is_vector = self.stack.top(1)[0].slots == 2;
        let b = self.pop_operand();
        let a = self.pop_operand();
        if is_vector {
            return self.vector_select(a, b, condition);
        }
        self.emit_result(|dst| Op::Select { dst, a, b });
        let at = self.ops.len() - 1;
        self.emit(Op::Operand { slot: condition });
        self.result = Some(at);
    }

    pub(super) fn operator(&mut self, operator: Operator<'_>) {
        use Operator as O;
        if self.far_memories && self.far_access(&operator) {
            return;
        }
        match operator {
            O::Nop => {}
            O::Unreachable => {
                self.emit(Op::Unreachable {});
                self.stop();
            }
            O::Block { blockty } => self.block(blockty),
            O::Loop { blockty } => self.loop_(blockty),
            O::If { blockty } => self.if_(blockty),
            O::Else => self.else_(),
            O::End => self.end(),
            O::Br { relative_depth } => self.br(relative_depth),
            O::BrIf { relative_depth } => self.br_if(relative_depth),
            O::BrTable { targets } => self.br_table(targets),
            O::Return => self.return_(),
            O::Call { function_index } => self.call(function_index),
            O::CallIndirect { type_index, table_index } => self.call_indirect(type_index, table_index),

            O::Drop => {
                self.stack.pop();
            }
            O::Select | O::TypedSelect { .. } => self.select(),
            O::LocalGet { local_index } => {
                let local = self.layout.local_slot(local_index);
                self.stack.push_wide(Value::Local(local), slots_of(self.layout.local_type(local_index)));
            }
            O::LocalSet { local_index } => {
                let entry = self.stack.pop();
                self.set_local(self.layout.local_slot(local_index), entry);
            }
            O::LocalTee { local_index } => {
                let local = self.layout.local_slot(local_index);
                let entry = self.stack.pop();
                self.set_local(local, entry);
                self.stack.push_wide(Value::Local(local), entry.slots);
            }
            O::GlobalGet { global_index } => self.global_get(global_index),
            O::GlobalSet { global_index } => self.global_set(global_index),
            O::RefNull { .. } => {
                self.stack.push(Value::Const(0));
            }
            O::RefIsNull => {
                let a = self.pop_operand();
                self.emit_result(|dst| Op::I64EqImm { dst, a, imm: 0 });
            }
            O::RefFunc { function_index } => self.ref_func(function_index),

            O::TableGet { table } => {
                let index = self.pop_operand();
                self.emit_result(|dst| Op::TableGet { dst, index, table });
            }
            O::TableSet { table } => {
                let value = self.pop_operand();
                let index = self.pop_operand();
                self.emit(Op::TableSet { table, index, value });
            }
            O::TableSize { table } => self.emit_result(|dst| Op::TableSize { dst, table }),
            O::TableGrow { table } => {
                let base = self.pop_block(2);
                self.emit(Op::TableGrow { base, table });
                self.stack.push_slot();
            }
            O::TableFill { table } => {
                let base = self.pop_block(3);
                self.emit(Op::TableFill { base, table });
            }
            O::TableCopy { dst_table, src_table } => {
                let base = self.pop_block(3);
                self.emit(Op::TableCopy { base, to: dst_table, from: src_table });
            }
            O::TableInit { elem_index, table } => {
                let base = self.pop_block(3);
                self.emit(Op::TableInit { base, table, segment: elem_index });
            }
            O::ElemDrop { elem_index } => {
                self.emit(Op::ElemDrop { segment: elem_index });
            }
            O::MemorySize { mem } => self.emit_result(|dst| Op::MemorySize { dst, memory: mem }),
            O::MemoryGrow { mem } => {
                let delta = self.pop_operand();
                self.emit_result(|dst| Op::MemoryGrow { dst, delta, memory: mem });
            }
            O::MemoryCopy { dst_mem, src_mem } => {
                self.watch_length(self.has_wide_addresses(dst_mem) && self.has_wide_addresses(src_mem));
                let base = self.pop_block(3);
                self.emit(Op::MemoryCopy { base, to: dst_mem, from: src_mem });
            }
            O::MemoryFill { mem } => {
                self.watch_length(self.has_wide_addresses(mem));
                let base = self.pop_block(3);
                self.emit(Op::MemoryFill { base, memory: mem });
            }
            O::MemoryInit { data_index, mem } => {
                let base = self.pop_block(3);
                self.emit(Op::MemoryInit { base, memory: mem, segment: data_index });
            }
            O::DataDrop { data_index } => {
                self.emit(Op::DataDrop { segment: data_index });
            }

            O::I32Load { memarg } | O::F32Load { memarg } | O::I64Load32U { memarg } => {
                load!(self, memarg, Load32, Load32At, Load32Indexed);
            }
            O::I64Load { memarg } | O::F64Load { memarg } => load!(self, memarg, Load64, Load64At, Load64Indexed),
            O::I32Load8U { memarg } | O::I64Load8U { memarg } => {
                load!(self, memarg, Load8U, Load8UAt, Load8UIndexed);
            }
            O::I32Load16U { memarg } | O::I64Load16U { memarg } => {
                load!(self, memarg, Load16U, Load16UAt, Load16UIndexed);
            }
            O::I32Load8S { memarg } => load!(self, memarg, I32Load8S, I32Load8SAt, I32Load8SIndexed),
            O::I32Load16S { memarg } => load!(self, memarg, I32Load16S, I32Load16SAt, I32Load16SIndexed),
            O::I64Load8S { memarg } => load!(self, memarg, I64Load8S, I64Load8SAt, I64Load8SIndexed),
            O::I64Load16S { memarg } => load!(self, memarg, I64Load16S, I64Load16SAt, I64Load16SIndexed),
            O::I64Load32S { memarg } => load!(self, memarg, I64Load32S, I64Load32SAt, I64Load32SIndexed),
            O::I32Store { memarg } | O::F32Store { memarg } | O::I64Store32 { memarg } => {
                store!(self, memarg, Store32, Store32At, Store32Imm, Store32Indexed, low32);
            }
            O::I64Store { memarg } | O::F64Store { memarg } => {
                store!(self, memarg, Store64, Store64At, Store64Imm, Store64Indexed, small64);
            }
            O::I32Store8 { memarg } | O::I64Store8 { memarg } => {
                store!(self, memarg, Store8, Store8At, Store8Imm, Store8Indexed, low32);
            }
            O::I32Store16 { memarg } | O::I64Store16 { memarg } => {
                store!(self, memarg, Store16, Store16At, Store16Imm, Store16Indexed, low32);
            }

            O::I32Const { value } => {
                self.stack.push(Value::Const(value as u32 as u64));
            }
            O::I64Const { value } => {
                self.stack.push(Value::Const(value as u64));
            }
            O::F32Const { value } => {
                self.stack.push(Value::Const(value.bits() as u64));
            }
            O::F64Const { value } => {
                self.stack.push(Value::Const(value.bits()));
            }

            O::I32Add => self.i32_add(),
            O::I32Mul => binary!(self, I32Mul, I32MulImm, low32, commutes),
            O::I32And => binary!(self, I32And, I32AndImm, low32, commutes),
            O::I32Or => binary!(self, I32Or, I32OrImm, low32, commutes),
            O::I32Xor => binary!(self, I32Xor, I32XorImm, low32, commutes),
            O::I32Sub => binary!(self, I32Sub, I32AddImm, low32, |imm| Some(imm.wrapping_neg())),
            O::I32Shl => binary!(self, I32Shl, I32ShlImm, low32),
            O::I32ShrS => binary!(self, I32ShrS, I32ShrSImm, low32),
            O::I32ShrU => binary!(self, I32ShrU, I32ShrUImm, low32),
            O::I32Rotl => binary!(self, I32Rotl, I32RotlImm, low32),
            O::I32Rotr => binary!(self, I32Rotr, I32RotlImm, low32, |imm| Some(imm.wrapping_neg())),
            O::I32DivS => binary!(self, I32DivS, I32DivSImm, low32, safe_signed_divisor),
            O::I32RemS => binary!(self, I32RemS, I32RemSImm, low32, safe_signed_divisor),
            O::I32DivU => binary!(self, I32DivU, I32DivUImm, low32, safe_unsigned_divisor),
            O::I32RemU => binary!(self, I32RemU, I32RemUImm, low32, safe_unsigned_divisor),
            O::I32Clz => unary!(self, I32Clz),
            O::I32Ctz => unary!(self, I32Ctz),
            O::I32Popcnt => unary!(self, I32Popcnt),
            O::I32Extend8S => unary!(self, I32Extend8S),
            O::I32Extend16S => unary!(self, I32Extend16S),
            O::I32Eq => compare!(self, I32Eq, I32EqImm, low32, I32Eq, I32EqImm),
            O::I32Ne => compare!(self, I32Ne, I32NeImm, low32, I32Ne, I32NeImm),
            O::I32LtS => compare!(self, I32LtS, I32LtSImm, low32, I32GtS, I32GtSImm),
            O::I32GtS => compare!(swap self, I32LtS, I32GtSImm, low32, I32LtSImm),
            O::I32LtU => compare!(self, I32LtU, I32LtUImm, low32, I32GtU, I32GtUImm),
            O::I32GtU => compare!(swap self, I32LtU, I32GtUImm, low32, I32LtUImm),
            O::I32LeS => compare!(self, I32LeS, I32LeSImm, low32, I32GeS, I32GeSImm),
            O::I32GeS => compare!(swap self, I32LeS, I32GeSImm, low32, I32LeSImm),
            O::I32LeU => compare!(self, I32LeU, I32LeUImm, low32, I32GeU, I32GeUImm),
            O::I32GeU => compare!(swap self, I32LeU, I32GeUImm, low32, I32LeUImm),
            O::I64Add => binary!(self, I64Add, I64AddImm, small64, commutes),
            O::I64Mul => binary!(self, I64Mul, I64MulImm, small64, commutes),
            O::I64And => binary!(self, I64And, I64AndImm, small64, commutes),
            O::I64Or => binary!(self, I64Or, I64OrImm, small64, commutes),
            O::I64Xor => binary!(self, I64Xor, I64XorImm, small64, commutes),
            O::I64Sub => binary!(self, I64Sub, I64AddImm, small64, i32::checked_neg),
            O::I64Shl => binary!(self, I64Shl, I64ShlImm, small64),
            O::I64ShrS => binary!(self, I64ShrS, I64ShrSImm, small64),
            O::I64ShrU => binary!(self, I64ShrU, I64ShrUImm, small64),
            O::I64Rotl => binary!(self, I64Rotl, I64RotlImm, small64),
            O::I64Rotr => binary!(self, I64Rotr, I64RotlImm, small64, |imm| Some(imm.wrapping_neg())),
            O::I64DivS => binary!(self, I64DivS, I64DivSImm, small64, safe_signed_divisor),
            O::I64RemS => binary!(self, I64RemS, I64RemSImm, small64, safe_signed_divisor),
            O::I64DivU => binary!(self, I64DivU, I64DivUImm, small64, safe_unsigned_divisor),
            O::I64RemU => binary!(self, I64RemU, I64RemUImm, small64, safe_unsigned_divisor),
            O::I64Clz => unary!(self, I64Clz),
            O::I64Ctz => unary!(self, I64Ctz),
            O::I64Popcnt => unary!(self, I64Popcnt),
            O::I64Extend8S => unary!(self, I64Extend8S),
            O::I64Extend16S => unary!(self, I64Extend16S),
            O::I64Extend32S => unary!(self, I64Extend32S),
            O::I64Eq => compare!(self, I64Eq, I64EqImm, small64, I64Eq, I64EqImm),
            O::I64Ne => compare!(self, I64Ne, I64NeImm, small64, I64Ne, I64NeImm),
            O::I64LtS => compare!(self, I64LtS, I64LtSImm, small64, I64GtS, I64GtSImm),
            O::I64GtS => compare!(swap self, I64LtS, I64GtSImm, small64, I64LtSImm),
            O::I64LtU => compare!(self, I64LtU, I64LtUImm, small64, I64GtU, I64GtUImm),
            O::I64GtU => compare!(swap self, I64LtU, I64GtUImm, small64, I64LtUImm),
            O::I64LeS => compare!(self, I64LeS, I64LeSImm, small64, I64GeS, I64GeSImm),
            O::I64GeS => compare!(swap self, I64LeS, I64GeSImm, small64, I64LeSImm),
            O::I64LeU => compare!(self, I64LeU, I64LeUImm, small64, I64GeU, I64GeUImm),
            O::I64GeU => compare!(swap self, I64LeU, I64GeUImm, small64, I64LeUImm),
            O::I32Eqz => self.i32_eqz(),
            O::I64Eqz => {
                let a = self.pop_operand();
                self.emit_result(|dst| Op::I64EqImm { dst, a, imm: 0 });
            }
            O::F32Add => binary!(self, F32Add),
            O::F32Sub => binary!(self, F32Sub),
            O::F32Mul => binary!(self, F32Mul),
            O::F32Div => binary!(self, F32Div),
            O::F32Min => binary!(self, F32Min),
            O::F32Max => binary!(self, F32Max),
            O::F32Copysign => binary!(self, F32Copysign),
            O::F32Eq => binary!(self, F32Eq),
            O::F32Ne => binary!(self, F32Ne),
            O::F32Lt => binary!(self, F32Lt),
            O::F32Le => binary!(self, F32Le),
            O::F32Gt => swapped!(self, F32Lt),
            O::F32Ge => swapped!(self, F32Le),
            O::F32Abs => unary!(self, F32Abs),
            O::F32Neg => unary!(self, F32Neg),
            O::F32Ceil => unary!(self, F32Ceil),
            O::F32Floor => unary!(self, F32Floor),
            O::F32Trunc => unary!(self, F32Trunc),
            O::F32Nearest => unary!(self, F32Nearest),
            O::F32Sqrt => unary!(self, F32Sqrt),
            O::F64Add => binary!(self, F64Add),
            O::F64Sub => binary!(self, F64Sub),
            O::F64Mul => binary!(self, F64Mul),
            O::F64Div => binary!(self, F64Div),
            O::F64Min => binary!(self, F64Min),
            O::F64Max => binary!(self, F64Max),
            O::F64Copysign => binary!(self, F64Copysign),
            O::F64Eq => binary!(self, F64Eq),
            O::F64Ne => binary!(self, F64Ne),
            O::F64Lt => binary!(self, F64Lt),
            O::F64Le => binary!(self, F64Le),
            O::F64Gt => swapped!(self, F64Lt),
            O::F64Ge => swapped!(self, F64Le),
            O::F64Abs => unary!(self, F64Abs),
            O::F64Neg => unary!(self, F64Neg),
            O::F64Ceil => unary!(self, F64Ceil),
            O::F64Floor => unary!(self, F64Floor),
            O::F64Trunc => unary!(self, F64Trunc),
            O::F64Nearest => unary!(self, F64Nearest),
            O::F64Sqrt => unary!(self, F64Sqrt),
            O::I32WrapI64 => unary!(self, I32WrapI64),
            O::I64ExtendI32S => unary!(self, I64ExtendI32S),
            O::I32TruncF32S => unary!(self, I32TruncF32S),
            O::I32TruncSatF32S => unary!(self, I32TruncSatF32S),
            O::F32ConvertI32S => unary!(self, F32ConvertI32S),
            O::I32TruncF32U => unary!(self, I32TruncF32U),
            O::I32TruncSatF32U => unary!(self, I32TruncSatF32U),
            O::F32ConvertI32U => unary!(self, F32ConvertI32U),
            O::I32TruncF64S => unary!(self, I32TruncF64S),
            O::I32TruncSatF64S => unary!(self, I32TruncSatF64S),
            O::F64ConvertI32S => unary!(self, F64ConvertI32S),
            O::I32TruncF64U => unary!(self, I32TruncF64U),
            O::I32TruncSatF64U => unary!(self, I32TruncSatF64U),
            O::F64ConvertI32U => unary!(self, F64ConvertI32U),
            O::I64TruncF32S => unary!(self, I64TruncF32S),
            O::I64TruncSatF32S => unary!(self, I64TruncSatF32S),
            O::F32ConvertI64S => unary!(self, F32ConvertI64S),
            O::I64TruncF32U => unary!(self, I64TruncF32U),
            O::I64TruncSatF32U => unary!(self, I64TruncSatF32U),
            O::F32ConvertI64U => unary!(self, F32ConvertI64U),
            O::I64TruncF64S => unary!(self, I64TruncF64S),
            O::I64TruncSatF64S => unary!(self, I64TruncSatF64S),
            O::F64ConvertI64S => unary!(self, F64ConvertI64S),
            O::I64TruncF64U => unary!(self, I64TruncF64U),
            O::I64TruncSatF64U => unary!(self, I64TruncSatF64U),
            O::F64ConvertI64U => unary!(self, F64ConvertI64U),
            O::F32DemoteF64 => unary!(self, F32DemoteF64),
            O::F64PromoteF32 => unary!(self, F64PromoteF32),
            // The bits of the slot stay: i32 and f32 have a zero upper half.
            O::I64ExtendI32U | O::I32ReinterpretF32 | O::I64ReinterpretF64 | O::F32ReinterpretI32 | O::F64ReinterpretI64 => {}
            other if self.proposal_operator(&other) => {}
            other => self.vector_operator(&other),
        }
    }
}
