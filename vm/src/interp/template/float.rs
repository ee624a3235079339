//! Templates of float arithmetic, comparisons and conversions.

use super::asm::*;
use super::emit::{Emitter, slot};
use crate::bytecode::{Slot, Target};
use crate::interp::machine::{FIRST, SECOND};

/// An operation on a scalar of a vector register: of doubles (`W64`) or singles.
pub(super) fn scalar(float: Width, byte: u8) -> Opcode {
    two_with(if float == W64 { 0xf2 } else { 0xf3 }, byte)
}

impl Emitter<'_> {
    pub(super) fn float_operand(&mut self, float: Width, to: Reg, operand: Slot, mode: u8) {
        if self.mode == mode {
            self.assembler.registers(float, MOVD_TO_XMM, to, R9);
        } else {
            self.assembler.memory(W32, scalar(float, 0x10), to, slot(operand));
        }
    }

    /// The result is in `xmm0`.
    pub(super) fn put_float(&mut self, float: Width, dst: Slot) {
        self.assembler.registers(float, MOVD_FROM_XMM, XMM0, R9);
        self.put(dst);
    }

    pub(super) fn float(&mut self, float: Width, byte: u8, dst: Slot, a: Slot, b: Slot) {
        self.float_operand(float, XMM0, a, FIRST);
        self.float_operand(float, XMM1, b, SECOND);
        self.assembler.registers(W32, scalar(float, byte), XMM0, XMM1);
        self.put_float(float, dst);
    }

    pub(super) fn float_unary(&mut self, from: Width, opcode: Opcode, to: Width, dst: Slot, a: Slot) {
        self.float_operand(from, XMM0, a, FIRST);
        self.assembler.registers(W32, opcode, XMM0, XMM0);
        self.put_float(to, dst);
    }

    pub(super) fn round(&mut self, float: Width, mode: u8, dst: Slot, a: Slot) -> Option<()> {
        if !self.features.round {
            return None;
        }
        self.float_operand(float, XMM0, a, FIRST);
        self.assembler.registers(W32, if float == W64 { ROUNDSD } else { ROUNDSS }, XMM0, XMM0);
        // (bit 3: no inexact exception)
        self.assembler.code.push(mode | 8);
        self.put_float(float, dst);
        Some(())
    }

    /// Clears (`btr`, 6) or inverts (`btc`, 7) a double's sign.
    pub(super) fn change_sign(&mut self, group: u8, dst: Slot, a: Slot) {
        self.first(W64, R9, a);
        self.assembler.registers(W64, two(0xba), Reg(group), R9);
        self.assembler.code.push(63);
        self.put(dst);
    }

    /// Compares two floats, a in `xmm0` and b in `xmm1`, in this order: parity where they are unordered, and then all of `BELOW`, `BELOW_EQUAL` and `EQUAL`. The other way round "a less than b" is
    /// `ABOVE`.
    fn float_flags(&mut self, float: Width, a: Slot, b: Slot, [left, right]: [Reg; 2]) {
        self.float_operand(float, XMM0, a, FIRST);
        self.float_operand(float, XMM1, b, SECOND);
        self.assembler.registers(W32, two_with(if float == W64 { 0x66 } else { 0 }, 0x2e), left, right);
    }

    pub(super) fn float_equal(&mut self, float: Width, dst: Slot, a: Slot, b: Slot, equal: bool) {
        self.float_flags(float, a, b, [XMM0, XMM1]);
        let ((condition, parity), both) = if equal { ((EQUAL, NO_PARITY), AND) } else { ((NOT_EQUAL, PARITY), OR) };
        self.assembler.set(condition, RAX);
        self.assembler.set(parity, R10);
        self.assembler.registers(W32, both, RAX, R10);
        self.assembler.registers(W32, MOVZX8, R9, RAX);
        self.put(dst);
    }

    pub(super) fn float_less(&mut self, float: Width, dst: Slot, a: Slot, b: Slot, condition: Condition) {
        self.float_flags(float, a, b, [XMM1, XMM0]);
        self.put_condition(dst, condition);
    }

    pub(super) fn jump_float_equal(&mut self, pc: usize, float: Width, a: Slot, b: Slot, target: Target) {
        self.float_flags(float, a, b, [XMM0, XMM1]);
        let unordered = self.assembler.jump_if(PARITY);
        self.jump_if(pc, EQUAL, target);
        self.assembler.fill_here(unordered);
    }

    pub(super) fn jump_float_unequal(&mut self, pc: usize, float: Width, a: Slot, b: Slot, target: Target) {
        self.float_flags(float, a, b, [XMM0, XMM1]);
        self.jump_if(pc, PARITY, target);
        self.jump_if(pc, NOT_EQUAL, target);
    }

    pub(super) fn jump_float_less(&mut self, pc: usize, float: Width, a: Slot, b: Slot, condition: Condition, target: Target) {
        self.float_flags(float, a, b, [XMM1, XMM0]);
        self.jump_if(pc, condition, target);
    }

    /// Converts an integer of one width in a register of another.
    pub(super) fn convert(&mut self, float: Width, width: Width, register: Width, dst: Slot, a: Slot) {
        self.first(width, RAX, a);
        self.assembler.registers(W32, two(0x57), XMM0, XMM0);
        self.assembler.registers(register, scalar(float, 0x2a), XMM0, RAX);
        self.put_float(float, dst);
    }

    /// Truncates; what is out of range gives the least integer, with which the handler begins anew.
    pub(super) fn truncate(&mut self, pc: usize, float: Width, width: Width, dst: Slot, a: Slot) {
        self.float_operand(float, XMM0, a, FIRST);
        self.assembler.registers(width, scalar(float, 0x2c), RAX, XMM0);
        self.assembler.group_immediate(width, GROUP_CMP, RAX, 1);
        self.exit_if(pc, OVERFLOW);
        self.assembler.copy(width, R9, RAX);
        self.put(dst);
    }

    /// Truncates to an unsigned 32-bit integer by way of a 64-bit one.
    pub(super) fn truncate_unsigned(&mut self, pc: usize, float: Width, dst: Slot, a: Slot) {
        self.float_operand(float, XMM0, a, FIRST);
        self.assembler.registers(W64, scalar(float, 0x2c), RAX, XMM0);
        self.assembler.copy(W64, R10, RAX);
        self.assembler.shift_immediate(W64, GROUP_SHR, R10, 32);
        self.exit_if(pc, NOT_EQUAL);
        self.assembler.copy(W32, R9, RAX);
        self.put(dst);
    }
}
