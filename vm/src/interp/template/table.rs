//! Which template an op has.

use super::asm::*;
use super::emit::{Emitter, slot};
use super::float::scalar;
use super::integer::{DIV_S, DIV_U, REM_S, REM_U};
use super::memory::{I32_LOAD8_S, I32_LOAD16_S, I64_LOAD8_S, I64_LOAD16_S, I64_LOAD32_S, LOAD8_U, LOAD16_U, LOAD32, LOAD64};
use crate::bytecode::{Op, Slot};

impl Emitter<'_> {
    /// Appends an op's template; `None` where it has none, and what was appended is void.
    #[rustfmt::skip]
    pub(super) fn op(&mut self, pc: usize, op: Op) -> Option<()> {
        match op {
            Op::LoopHeader { own, .. } => self.loop_header(pc, own),
            Op::Jump { target } => self.jump(pc, target),
            Op::BrTable { index, count } => self.br_table(pc, index, count)?,
            Op::Return {} => self.return_(pc, |_| ()),
            Op::ReturnOne { src } => self.return_(pc, |this| this.first(W64, R9, src).store(8, at(RSI, 0), R9)),
            Op::ReturnConst { value } => self.return_(pc, |this| {
                this.assembler.constant(R9, value);
                this.assembler.store(8, at(RSI, 0), R9);
            }),
            Op::Call { function, base } => self.call(pc, function, base),
            Op::CallIndirect { table, signature, callee, base } => self.call_indirect(pc, table, signature, callee, base),
            Op::Copy { dst, src } => { self.first(W64, R9, src); self.put(dst) }
            Op::CopyTwo { to, a, b } => {
                self.first(W64, RAX, a);
                self.second(W64, R9, b);
                self.assembler.store(8, slot(to), RAX);
                self.put(Slot(to.0 + 1))
            }
            Op::Const { dst, value } => { self.assembler.constant(R9, value); self.put(dst) }
            Op::Select { dst, a, b } => {
                let Op::Operand { slot: condition } = self.ops[pc + 1].op else { return None };
                self.second(W64, R10, b);
                self.first(W64, R9, a);
                self.assembler.group_immediate_memory(W32, GROUP_CMP, slot(condition), 0);
                self.assembler.move_if(EQUAL, W64, R9, R10);
                self.put(dst);
                // (behind it stands its operand)
            }
            Op::GlobalGet { dst, place } => {
                self.context().memory(W64, MOV, R9, at(RAX, place));
                self.put(dst)
            }
            Op::GlobalGetImported { dst, place } => {
                self.context().memory(W64, MOV, RAX, at(RAX, place));
                self.assembler.memory(W64, MOV, R9, at(RAX, 0));
                self.put(dst)
            }
            Op::GlobalSet { src, place } => {
                self.first(W64, R10, src);
                self.context().store(8, at(RAX, place), R10)
            }
            Op::GlobalSetImported { src, place } => {
                self.first(W64, R10, src);
                self.context().memory(W64, MOV, RAX, at(RAX, place));
                self.assembler.store(8, at(RAX, 0), R10)
            }

            Op::Load8U { dst, address, offset } => self.load(pc, LOAD8_U, dst, address, offset)?,
            Op::Load16U { dst, address, offset } => self.load(pc, LOAD16_U, dst, address, offset)?,
            Op::Load32 { dst, address, offset } => self.load(pc, LOAD32, dst, address, offset)?,
            Op::Load64 { dst, address, offset } => self.load(pc, LOAD64, dst, address, offset)?,
            Op::I32Load8S { dst, address, offset } => self.load(pc, I32_LOAD8_S, dst, address, offset)?,
            Op::I32Load16S { dst, address, offset } => self.load(pc, I32_LOAD16_S, dst, address, offset)?,
            Op::I64Load8S { dst, address, offset } => self.load(pc, I64_LOAD8_S, dst, address, offset)?,
            Op::I64Load16S { dst, address, offset } => self.load(pc, I64_LOAD16_S, dst, address, offset)?,
            Op::I64Load32S { dst, address, offset } => self.load(pc, I64_LOAD32_S, dst, address, offset)?,
            Op::Load8UAt { dst, address } => self.load_at(pc, LOAD8_U, dst, address)?,
            Op::Load16UAt { dst, address } => self.load_at(pc, LOAD16_U, dst, address)?,
            Op::Load32At { dst, address } => self.load_at(pc, LOAD32, dst, address)?,
            Op::Load64At { dst, address } => self.load_at(pc, LOAD64, dst, address)?,
            Op::I32Load8SAt { dst, address } => self.load_at(pc, I32_LOAD8_S, dst, address)?,
            Op::I32Load16SAt { dst, address } => self.load_at(pc, I32_LOAD16_S, dst, address)?,
            Op::I64Load8SAt { dst, address } => self.load_at(pc, I64_LOAD8_S, dst, address)?,
            Op::I64Load16SAt { dst, address } => self.load_at(pc, I64_LOAD16_S, dst, address)?,
            Op::I64Load32SAt { dst, address } => self.load_at(pc, I64_LOAD32_S, dst, address)?,
            Op::Load8UIndexed { scaled, dst, a, b } => self.load_indexed(pc, LOAD8_U, dst, (a, b, scaled)),
            Op::Load16UIndexed { scaled, dst, a, b } => self.load_indexed(pc, LOAD16_U, dst, (a, b, scaled)),
            Op::Load32Indexed { scaled, dst, a, b } => self.load_indexed(pc, LOAD32, dst, (a, b, scaled)),
            Op::Load64Indexed { scaled, dst, a, b } => self.load_indexed(pc, LOAD64, dst, (a, b, scaled)),
            Op::I32Load8SIndexed { scaled, dst, a, b } => self.load_indexed(pc, I32_LOAD8_S, dst, (a, b, scaled)),
            Op::I32Load16SIndexed { scaled, dst, a, b } => self.load_indexed(pc, I32_LOAD16_S, dst, (a, b, scaled)),
            Op::I64Load8SIndexed { scaled, dst, a, b } => self.load_indexed(pc, I64_LOAD8_S, dst, (a, b, scaled)),
            Op::I64Load16SIndexed { scaled, dst, a, b } => self.load_indexed(pc, I64_LOAD16_S, dst, (a, b, scaled)),
            Op::I64Load32SIndexed { scaled, dst, a, b } => self.load_indexed(pc, I64_LOAD32_S, dst, (a, b, scaled)),
            Op::Store8 { address, value, offset } => self.store(pc, 1, address, value, offset)?,
            Op::Store16 { address, value, offset } => self.store(pc, 2, address, value, offset)?,
            Op::Store32 { address, value, offset } => self.store(pc, 4, address, value, offset)?,
            Op::Store64 { address, value, offset } => self.store(pc, 8, address, value, offset)?,
            Op::Store8At { value, address } => self.store_at(pc, 1, value, address)?,
            Op::Store16At { value, address } => self.store_at(pc, 2, value, address)?,
            Op::Store32At { value, address } => self.store_at(pc, 4, value, address)?,
            Op::Store64At { value, address } => self.store_at(pc, 8, value, address)?,
            Op::Store8Imm { address, value, offset } => self.store_immediate(pc, 1, address, value, offset)?,
            Op::Store16Imm { address, value, offset } => self.store_immediate(pc, 2, address, value, offset)?,
            Op::Store32Imm { address, value, offset } => self.store_immediate(pc, 4, address, value, offset)?,
            Op::Store64Imm { address, value, offset } => self.store_immediate(pc, 8, address, value, offset)?,
            Op::Store8Indexed { scaled, a, b, value } => self.store_indexed(pc, 1, value, (a, b, scaled)),
            Op::Store16Indexed { scaled, a, b, value } => self.store_indexed(pc, 2, value, (a, b, scaled)),
            Op::Store32Indexed { scaled, a, b, value } => self.store_indexed(pc, 4, value, (a, b, scaled)),
            Op::Store64Indexed { scaled, a, b, value } => self.store_indexed(pc, 8, value, (a, b, scaled)),
            Op::I32AddShl { shift, dst, a, b } => {
                self.second(W32, RAX, b);
                self.assembler.shift_immediate(W32, GROUP_SHL, RAX, shift as u8 & 31);
                self.first(W32, R9, a);
                self.assembler.registers(W32, ADD, R9, RAX);
                self.put(dst)
            }
            Op::JumpLoad32EqImm { offset, address, imm, target } => self.jump_load(pc, LOAD32, (address, offset), (EQUAL, imm), target)?,
            Op::JumpLoad32NeImm { offset, address, imm, target } => self.jump_load(pc, LOAD32, (address, offset), (NOT_EQUAL, imm), target)?,
            Op::JumpLoad8UEqImm { offset, address, imm, target } => self.jump_load(pc, LOAD8_U, (address, offset), (EQUAL, imm), target)?,
            Op::JumpLoad8UNeImm { offset, address, imm, target } => self.jump_load(pc, LOAD8_U, (address, offset), (NOT_EQUAL, imm), target)?,
            Op::AddJumpI32Ne { add, a, b, target } => self.add_jump(pc, add, a, b, NOT_EQUAL, target),
            Op::AddJumpI32LtU { add, a, b, target } => self.add_jump(pc, add, a, b, BELOW, target),
            Op::AddJumpI32LtS { add, a, b, target } => self.add_jump(pc, add, a, b, LESS, target),
            Op::AddJumpI32NeImm { add, a, imm, target } => {
                self.first(W32, R9, a);
                self.assembler.group_immediate(W32, GROUP_ADD, R9, add.into());
                self.put(a);
                self.assembler.group_immediate(W32, GROUP_CMP, R9, imm);
                self.jump_if(pc, NOT_EQUAL, target)
            }

            Op::I32Add { dst, a, b } => self.commutative(W32, ADD, dst, a, b),
            Op::I32Sub { dst, a, b } => self.subtract(W32, dst, a, b),
            Op::I32Mul { dst, a, b } => self.commutative(W32, IMUL, dst, a, b),
            Op::I32DivS { dst, a, b } => self.divide(pc, W32, DIV_S, dst, a, b),
            Op::I32DivU { dst, a, b } => self.divide(pc, W32, DIV_U, dst, a, b),
            Op::I32RemS { dst, a, b } => self.divide(pc, W32, REM_S, dst, a, b),
            Op::I32RemU { dst, a, b } => self.divide(pc, W32, REM_U, dst, a, b),
            Op::I32And { dst, a, b } => self.commutative(W32, AND, dst, a, b),
            Op::I32Or { dst, a, b } => self.commutative(W32, OR, dst, a, b),
            Op::I32Xor { dst, a, b } => self.commutative(W32, XOR, dst, a, b),
            Op::I32Shl { dst, a, b } => self.shift(W32, GROUP_SHL, dst, a, b),
            Op::I32ShrS { dst, a, b } => self.shift(W32, GROUP_SAR, dst, a, b),
            Op::I32ShrU { dst, a, b } => self.shift(W32, GROUP_SHR, dst, a, b),
            Op::I32Rotl { dst, a, b } => self.shift(W32, GROUP_ROL, dst, a, b),
            Op::I32Rotr { dst, a, b } => self.shift(W32, GROUP_ROR, dst, a, b),
            Op::I32AddImm { dst, a, imm } => self.immediate(W32, GROUP_ADD, dst, a, imm),
            Op::I32MulImm { dst, a, imm } => self.multiply_immediate(W32, dst, a, imm),
            Op::I32DivSImm { dst, a, imm } => self.divide_immediate(W32, DIV_S, dst, a, imm),
            Op::I32DivUImm { dst, a, imm } => self.divide_immediate(W32, DIV_U, dst, a, imm),
            Op::I32RemSImm { dst, a, imm } => self.divide_immediate(W32, REM_S, dst, a, imm),
            Op::I32RemUImm { dst, a, imm } => self.divide_immediate(W32, REM_U, dst, a, imm),
            Op::I32AndImm { dst, a, imm } => self.immediate(W32, GROUP_AND, dst, a, imm),
            Op::I32OrImm { dst, a, imm } => self.immediate(W32, GROUP_OR, dst, a, imm),
            Op::I32XorImm { dst, a, imm } => self.immediate(W32, GROUP_XOR, dst, a, imm),
            Op::I32ShlImm { dst, a, imm } => self.shift_immediate(W32, GROUP_SHL, dst, a, imm),
            Op::I32ShrSImm { dst, a, imm } => self.shift_immediate(W32, GROUP_SAR, dst, a, imm),
            Op::I32ShrUImm { dst, a, imm } => self.shift_immediate(W32, GROUP_SHR, dst, a, imm),
            Op::I32RotlImm { dst, a, imm } => self.shift_immediate(W32, GROUP_ROL, dst, a, imm),
            Op::I32Clz { dst, a } => self.features.lzcnt.then(|| self.unary(W32, LZCNT, dst, a))?,
            Op::I32Ctz { dst, a } => self.features.tzcnt.then(|| self.unary(W32, TZCNT, dst, a))?,
            Op::I32Popcnt { dst, a } => self.features.popcnt.then(|| self.unary(W32, POPCNT, dst, a))?,
            Op::I32Extend8S { dst, a } => self.unary(W32, MOVSX8, dst, a),
            Op::I32Extend16S { dst, a } => self.unary(W32, MOVSX16, dst, a),
            Op::I32Eq { dst, a, b } => self.compare(dst, a, b, (W32, EQUAL)),
            Op::I32Ne { dst, a, b } => self.compare(dst, a, b, (W32, NOT_EQUAL)),
            Op::I32LtS { dst, a, b } => self.compare(dst, a, b, (W32, LESS)),
            Op::I32LtU { dst, a, b } => self.compare(dst, a, b, (W32, BELOW)),
            Op::I32LeS { dst, a, b } => self.compare(dst, a, b, (W32, LESS_EQUAL)),
            Op::I32LeU { dst, a, b } => self.compare(dst, a, b, (W32, BELOW_EQUAL)),
            Op::I32EqImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W32, EQUAL)),
            Op::I32NeImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W32, NOT_EQUAL)),
            Op::I32LtSImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W32, LESS)),
            Op::I32LtUImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W32, BELOW)),
            Op::I32LeSImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W32, LESS_EQUAL)),
            Op::I32LeUImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W32, BELOW_EQUAL)),
            Op::I32GtSImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W32, GREATER)),
            Op::I32GtUImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W32, ABOVE)),
            Op::I32GeSImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W32, GREATER_EQUAL)),
            Op::I32GeUImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W32, ABOVE_EQUAL)),
            Op::JumpI32Eq { a, b, target } => self.jump_compare(pc, a, b, (W32, EQUAL), target),
            Op::JumpI32Ne { a, b, target } => self.jump_compare(pc, a, b, (W32, NOT_EQUAL), target),
            Op::JumpI32LtS { a, b, target } => self.jump_compare(pc, a, b, (W32, LESS), target),
            Op::JumpI32LtU { a, b, target } => self.jump_compare(pc, a, b, (W32, BELOW), target),
            Op::JumpI32LeS { a, b, target } => self.jump_compare(pc, a, b, (W32, LESS_EQUAL), target),
            Op::JumpI32LeU { a, b, target } => self.jump_compare(pc, a, b, (W32, BELOW_EQUAL), target),
            Op::JumpI32EqImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W32, EQUAL), target),
            Op::JumpI32NeImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W32, NOT_EQUAL), target),
            Op::JumpI32LtSImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W32, LESS), target),
            Op::JumpI32LtUImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W32, BELOW), target),
            Op::JumpI32LeSImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W32, LESS_EQUAL), target),
            Op::JumpI32LeUImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W32, BELOW_EQUAL), target),
            Op::JumpI32GtSImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W32, GREATER), target),
            Op::JumpI32GtUImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W32, ABOVE), target),
            Op::JumpI32GeSImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W32, GREATER_EQUAL), target),
            Op::JumpI32GeUImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W32, ABOVE_EQUAL), target),
            Op::JumpI32And { a, b, target } => self.jump_test(pc, a, b, (W32, NOT_EQUAL), target),
            Op::JumpI32Nand { a, b, target } => self.jump_test(pc, a, b, (W32, EQUAL), target),
            Op::JumpI32AndImm { a, imm, target } => self.jump_test_immediate(pc, a, imm, (W32, NOT_EQUAL), target),
            Op::JumpI32NandImm { a, imm, target } => self.jump_test_immediate(pc, a, imm, (W32, EQUAL), target),

            Op::I64Add { dst, a, b } => self.commutative(W64, ADD, dst, a, b),
            Op::I64Sub { dst, a, b } => self.subtract(W64, dst, a, b),
            Op::I64Mul { dst, a, b } => self.commutative(W64, IMUL, dst, a, b),
            Op::I64DivS { dst, a, b } => self.divide(pc, W64, DIV_S, dst, a, b),
            Op::I64DivU { dst, a, b } => self.divide(pc, W64, DIV_U, dst, a, b),
            Op::I64RemS { dst, a, b } => self.divide(pc, W64, REM_S, dst, a, b),
            Op::I64RemU { dst, a, b } => self.divide(pc, W64, REM_U, dst, a, b),
            Op::I64And { dst, a, b } => self.commutative(W64, AND, dst, a, b),
            Op::I64Or { dst, a, b } => self.commutative(W64, OR, dst, a, b),
            Op::I64Xor { dst, a, b } => self.commutative(W64, XOR, dst, a, b),
            Op::I64Shl { dst, a, b } => self.shift(W64, GROUP_SHL, dst, a, b),
            Op::I64ShrS { dst, a, b } => self.shift(W64, GROUP_SAR, dst, a, b),
            Op::I64ShrU { dst, a, b } => self.shift(W64, GROUP_SHR, dst, a, b),
            Op::I64Rotl { dst, a, b } => self.shift(W64, GROUP_ROL, dst, a, b),
            Op::I64Rotr { dst, a, b } => self.shift(W64, GROUP_ROR, dst, a, b),
            Op::I64AddImm { dst, a, imm } => self.immediate(W64, GROUP_ADD, dst, a, imm),
            Op::I64MulImm { dst, a, imm } => self.multiply_immediate(W64, dst, a, imm),
            Op::I64DivSImm { dst, a, imm } => self.divide_immediate(W64, DIV_S, dst, a, imm),
            Op::I64DivUImm { dst, a, imm } => self.divide_immediate(W64, DIV_U, dst, a, imm),
            Op::I64RemSImm { dst, a, imm } => self.divide_immediate(W64, REM_S, dst, a, imm),
            Op::I64RemUImm { dst, a, imm } => self.divide_immediate(W64, REM_U, dst, a, imm),
            Op::I64AndImm { dst, a, imm } => self.immediate(W64, GROUP_AND, dst, a, imm),
            Op::I64OrImm { dst, a, imm } => self.immediate(W64, GROUP_OR, dst, a, imm),
            Op::I64XorImm { dst, a, imm } => self.immediate(W64, GROUP_XOR, dst, a, imm),
            Op::I64ShlImm { dst, a, imm } => self.shift_immediate(W64, GROUP_SHL, dst, a, imm),
            Op::I64ShrSImm { dst, a, imm } => self.shift_immediate(W64, GROUP_SAR, dst, a, imm),
            Op::I64ShrUImm { dst, a, imm } => self.shift_immediate(W64, GROUP_SHR, dst, a, imm),
            Op::I64RotlImm { dst, a, imm } => self.shift_immediate(W64, GROUP_ROL, dst, a, imm),
            Op::I64Clz { dst, a } => self.features.lzcnt.then(|| self.unary(W64, LZCNT, dst, a))?,
            Op::I64Ctz { dst, a } => self.features.tzcnt.then(|| self.unary(W64, TZCNT, dst, a))?,
            Op::I64Popcnt { dst, a } => self.features.popcnt.then(|| self.unary(W64, POPCNT, dst, a))?,
            Op::I64Extend8S { dst, a } => self.unary(W64, MOVSX8, dst, a),
            Op::I64Extend16S { dst, a } => self.unary(W64, MOVSX16, dst, a),
            Op::I64Extend32S { dst, a } | Op::I64ExtendI32S { dst, a } => self.unary(W64, MOVSXD, dst, a),
            Op::I32WrapI64 { dst, a } => self.unary(W32, MOV, dst, a),
            Op::I64Eq { dst, a, b } => self.compare(dst, a, b, (W64, EQUAL)),
            Op::I64Ne { dst, a, b } => self.compare(dst, a, b, (W64, NOT_EQUAL)),
            Op::I64LtS { dst, a, b } => self.compare(dst, a, b, (W64, LESS)),
            Op::I64LtU { dst, a, b } => self.compare(dst, a, b, (W64, BELOW)),
            Op::I64LeS { dst, a, b } => self.compare(dst, a, b, (W64, LESS_EQUAL)),
            Op::I64LeU { dst, a, b } => self.compare(dst, a, b, (W64, BELOW_EQUAL)),
            Op::I64EqImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W64, EQUAL)),
            Op::I64NeImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W64, NOT_EQUAL)),
            Op::I64LtSImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W64, LESS)),
            Op::I64LtUImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W64, BELOW)),
            Op::I64LeSImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W64, LESS_EQUAL)),
            Op::I64LeUImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W64, BELOW_EQUAL)),
            Op::I64GtSImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W64, GREATER)),
            Op::I64GtUImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W64, ABOVE)),
            Op::I64GeSImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W64, GREATER_EQUAL)),
            Op::I64GeUImm { dst, a, imm } => self.compare_immediate(dst, a, imm, (W64, ABOVE_EQUAL)),
            Op::JumpI64Eq { a, b, target } => self.jump_compare(pc, a, b, (W64, EQUAL), target),
            Op::JumpI64Ne { a, b, target } => self.jump_compare(pc, a, b, (W64, NOT_EQUAL), target),
            Op::JumpI64LtS { a, b, target } => self.jump_compare(pc, a, b, (W64, LESS), target),
            Op::JumpI64LtU { a, b, target } => self.jump_compare(pc, a, b, (W64, BELOW), target),
            Op::JumpI64LeS { a, b, target } => self.jump_compare(pc, a, b, (W64, LESS_EQUAL), target),
            Op::JumpI64LeU { a, b, target } => self.jump_compare(pc, a, b, (W64, BELOW_EQUAL), target),
            Op::JumpI64EqImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W64, EQUAL), target),
            Op::JumpI64NeImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W64, NOT_EQUAL), target),
            Op::JumpI64LtSImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W64, LESS), target),
            Op::JumpI64LtUImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W64, BELOW), target),
            Op::JumpI64LeSImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W64, LESS_EQUAL), target),
            Op::JumpI64LeUImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W64, BELOW_EQUAL), target),
            Op::JumpI64GtSImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W64, GREATER), target),
            Op::JumpI64GtUImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W64, ABOVE), target),
            Op::JumpI64GeSImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W64, GREATER_EQUAL), target),
            Op::JumpI64GeUImm { a, imm, target } => self.jump_immediate(pc, a, imm, (W64, ABOVE_EQUAL), target),
            Op::JumpI64And { a, b, target } => self.jump_test(pc, a, b, (W64, NOT_EQUAL), target),
            Op::JumpI64Nand { a, b, target } => self.jump_test(pc, a, b, (W64, EQUAL), target),
            Op::JumpI64AndImm { a, imm, target } => self.jump_test_immediate(pc, a, imm, (W64, NOT_EQUAL), target),
            Op::JumpI64NandImm { a, imm, target } => self.jump_test_immediate(pc, a, imm, (W64, EQUAL), target),

            Op::F32Add { dst, a, b } => self.float(W32, 0x58, dst, a, b),
            Op::F32Sub { dst, a, b } => self.float(W32, 0x5c, dst, a, b),
            Op::F32Mul { dst, a, b } => self.float(W32, 0x59, dst, a, b),
            Op::F32Div { dst, a, b } => self.float(W32, 0x5e, dst, a, b),
            Op::F32Sqrt { dst, a } => self.float_unary(W32, scalar(W32, 0x51), W32, dst, a),
            Op::F32Abs { dst, a } => self.immediate(W32, GROUP_AND, dst, a, i32::MAX),
            Op::F32Neg { dst, a } => self.immediate(W32, GROUP_XOR, dst, a, i32::MIN),
            Op::F32Ceil { dst, a } => self.round(W32, 2, dst, a)?,
            Op::F32Floor { dst, a } => self.round(W32, 1, dst, a)?,
            Op::F32Trunc { dst, a } => self.round(W32, 3, dst, a)?,
            Op::F32Nearest { dst, a } => self.round(W32, 0, dst, a)?,
            Op::F32Eq { dst, a, b } => self.float_equal(W32, dst, a, b, true),
            Op::F32Ne { dst, a, b } => self.float_equal(W32, dst, a, b, false),
            Op::F32Lt { dst, a, b } => self.float_less(W32, dst, a, b, ABOVE),
            Op::F32Le { dst, a, b } => self.float_less(W32, dst, a, b, ABOVE_EQUAL),
            Op::JumpF32Eq { a, b, target } => self.jump_float_equal(pc, W32, a, b, target),
            Op::JumpF32Ne { a, b, target } => self.jump_float_unequal(pc, W32, a, b, target),
            Op::JumpF32Lt { a, b, target } => self.jump_float_less(pc, W32, a, b, ABOVE, target),
            Op::JumpF32NotLt { a, b, target } => self.jump_float_less(pc, W32, a, b, BELOW_EQUAL, target),
            Op::JumpF32Le { a, b, target } => self.jump_float_less(pc, W32, a, b, ABOVE_EQUAL, target),
            Op::JumpF32NotLe { a, b, target } => self.jump_float_less(pc, W32, a, b, BELOW, target),
            Op::F64Add { dst, a, b } => self.float(W64, 0x58, dst, a, b),
            Op::F64Sub { dst, a, b } => self.float(W64, 0x5c, dst, a, b),
            Op::F64Mul { dst, a, b } => self.float(W64, 0x59, dst, a, b),
            Op::F64Div { dst, a, b } => self.float(W64, 0x5e, dst, a, b),
            Op::F64Sqrt { dst, a } => self.float_unary(W64, scalar(W64, 0x51), W64, dst, a),
            Op::F64Abs { dst, a } => self.change_sign(6, dst, a),
            Op::F64Neg { dst, a } => self.change_sign(7, dst, a),
            Op::F64Ceil { dst, a } => self.round(W64, 2, dst, a)?,
            Op::F64Floor { dst, a } => self.round(W64, 1, dst, a)?,
            Op::F64Trunc { dst, a } => self.round(W64, 3, dst, a)?,
            Op::F64Nearest { dst, a } => self.round(W64, 0, dst, a)?,
            Op::F64Eq { dst, a, b } => self.float_equal(W64, dst, a, b, true),
            Op::F64Ne { dst, a, b } => self.float_equal(W64, dst, a, b, false),
            Op::F64Lt { dst, a, b } => self.float_less(W64, dst, a, b, ABOVE),
            Op::F64Le { dst, a, b } => self.float_less(W64, dst, a, b, ABOVE_EQUAL),
            Op::JumpF64Eq { a, b, target } => self.jump_float_equal(pc, W64, a, b, target),
            Op::JumpF64Ne { a, b, target } => self.jump_float_unequal(pc, W64, a, b, target),
            Op::JumpF64Lt { a, b, target } => self.jump_float_less(pc, W64, a, b, ABOVE, target),
            Op::JumpF64NotLt { a, b, target } => self.jump_float_less(pc, W64, a, b, BELOW_EQUAL, target),
            Op::JumpF64Le { a, b, target } => self.jump_float_less(pc, W64, a, b, ABOVE_EQUAL, target),
            Op::JumpF64NotLe { a, b, target } => self.jump_float_less(pc, W64, a, b, BELOW, target),
            Op::F32DemoteF64 { dst, a } => self.float_unary(W64, scalar(W64, 0x5a), W32, dst, a),
            Op::F64PromoteF32 { dst, a } => self.float_unary(W32, scalar(W32, 0x5a), W64, dst, a),
            Op::F32ConvertI32S { dst, a } => self.convert(W32, W32, W32, dst, a),
            Op::F32ConvertI32U { dst, a } => self.convert(W32, W32, W64, dst, a),
            Op::F32ConvertI64S { dst, a } => self.convert(W32, W64, W64, dst, a),
            Op::F64ConvertI32S { dst, a } => self.convert(W64, W32, W32, dst, a),
            Op::F64ConvertI32U { dst, a } => self.convert(W64, W32, W64, dst, a),
            Op::F64ConvertI64S { dst, a } => self.convert(W64, W64, W64, dst, a),
            Op::I32TruncF32S { dst, a } | Op::I32TruncSatF32S { dst, a } => self.truncate(pc, W32, W32, dst, a),
            Op::I32TruncF64S { dst, a } | Op::I32TruncSatF64S { dst, a } => self.truncate(pc, W64, W32, dst, a),
            Op::I64TruncF32S { dst, a } | Op::I64TruncSatF32S { dst, a } => self.truncate(pc, W32, W64, dst, a),
            Op::I64TruncF64S { dst, a } | Op::I64TruncSatF64S { dst, a } => self.truncate(pc, W64, W64, dst, a),
            Op::I32TruncF32U { dst, a } | Op::I32TruncSatF32U { dst, a } => self.truncate_unsigned(pc, W32, dst, a),
            Op::I32TruncF64U { dst, a } | Op::I32TruncSatF64U { dst, a } => self.truncate_unsigned(pc, W64, dst, a),
            _ => return None,
        }
        Some(())
    }
}
