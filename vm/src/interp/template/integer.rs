//! Templates of integer arithmetic and comparisons.

use super::asm::*;
use super::emit::{Emitter, slot};
use crate::bytecode::{Slot, Target};
use crate::interp::machine::{FIRST, SECOND};

/// Comparison of integers: width and the condition under which it holds.
type Comparison = (Width, Condition);

/// A division: its instruction, and the register with the result.
type Division = (u8, Reg);

pub(super) const DIV_S: Division = (GROUP_IDIV, RAX);
pub(super) const DIV_U: Division = (GROUP_DIV, RAX);
pub(super) const REM_S: Division = (GROUP_IDIV, RDX);
pub(super) const REM_U: Division = (GROUP_DIV, RDX);

impl Emitter<'_> {
    pub(super) fn add_jump(&mut self, pc: usize, add: i16, a: Slot, b: Slot, condition: Condition, target: Target) {
        // (b is read before a is written, which may be the same slot)
        self.second(W32, RAX, b);
        self.first(W32, R9, a);
        self.assembler.group_immediate(W32, GROUP_ADD, R9, add.into());
        self.put(a);
        self.assembler.registers(W32, CMP, R9, RAX);
        self.jump_if(pc, condition, target);
    }

    pub(super) fn commutative(&mut self, width: Width, opcode: Opcode, dst: Slot, a: Slot, b: Slot) {
        let other = match self.mode {
            FIRST => b,
            SECOND => a,
            _ => {
                self.first(width, R9, a);
                b
            }
        };
        self.assembler.memory(width, opcode, R9, slot(other));
        self.put(dst);
    }

    pub(super) fn subtract(&mut self, width: Width, dst: Slot, a: Slot, b: Slot) {
        if self.mode == SECOND {
            self.first(width, RAX, a);
            self.assembler.registers(width, SUB, RAX, R9);
            self.assembler.copy(width, R9, RAX);
        } else {
            self.first(width, R9, a);
            self.assembler.memory(width, SUB, R9, slot(b));
        }
        self.put(dst);
    }

    pub(super) fn immediate(&mut self, width: Width, group: u8, dst: Slot, a: Slot, imm: i32) {
        self.first(width, R9, a);
        self.assembler.group_immediate(width, group, R9, imm);
        self.put(dst);
    }

    pub(super) fn multiply_immediate(&mut self, width: Width, dst: Slot, a: Slot, imm: i32) {
        self.first(width, R9, a);
        self.assembler.multiply_immediate(width, R9, R9, imm);
        self.put(dst);
    }

    pub(super) fn shift_immediate(&mut self, width: Width, group: u8, dst: Slot, a: Slot, imm: i32) {
        self.first(width, R9, a);
        self.assembler.shift_immediate(width, group, R9, imm as u8 & if width == W64 { 63 } else { 31 });
        self.put(dst);
    }

    pub(super) fn shift(&mut self, width: Width, group: u8, dst: Slot, a: Slot, b: Slot) {
        self.assembler.copy(W64, R10, RCX);
        self.second(W32, RCX, b);
        self.first(width, R9, a);
        self.assembler.shift(width, group, R9);
        self.assembler.copy(W64, RCX, R10);
        self.put(dst);
    }

    /// Division by what may trap: 0 and -1 are the handler's.
    pub(super) fn divide(&mut self, pc: usize, width: Width, division: Division, dst: Slot, a: Slot, b: Slot) {
        self.second(width, R10, b);
        self.assembler.registers(width, TEST, R10, R10);
        self.exit_if(pc, EQUAL);
        if division.0 == GROUP_IDIV {
            self.assembler.group_immediate(width, GROUP_CMP, R10, -1);
            self.exit_if(pc, EQUAL);
        }
        self.first(width, RAX, a);
        self.quotient(width, division, dst);
    }

    pub(super) fn divide_immediate(&mut self, width: Width, division: Division, dst: Slot, a: Slot, imm: i32) {
        // (sign-extended to the type, unsigned ones too)
        self.assembler.constant(R10, i64::from(imm) as u64);
        self.first(width, RAX, a);
        self.quotient(width, division, dst);
    }

    /// Divides `rax` by `r10`.
    pub(super) fn quotient(&mut self, width: Width, (group, result): Division, dst: Slot) {
        self.assembler.copy(W64, R11, RDX);
        if group == GROUP_IDIV {
            self.assembler.extend_sign(width);
        } else {
            self.assembler.constant(RDX, 0);
        }
        self.assembler.divide(width, group, R10);
        self.assembler.copy(width, R9, result);
        self.assembler.copy(W64, RDX, R11);
        self.put(dst);
    }

    pub(super) fn unary(&mut self, width: Width, opcode: Opcode, dst: Slot, a: Slot) {
        if self.mode == FIRST {
            self.assembler.registers(width, opcode, R9, R9);
        } else {
            self.assembler.memory(width, opcode, R9, slot(a));
        }
        self.put(dst);
    }

    /// Sets the flags of two operands by an instruction of a register and memory, or by the one with memory first.
    fn flags(&mut self, a: Slot, b: Slot, width: Width, [register_first, memory_first]: [Opcode; 2]) {
        match self.mode {
            FIRST => self.assembler.memory(width, register_first, R9, slot(b)),
            SECOND => self.assembler.memory(width, memory_first, R9, slot(a)),
            _ => {
                self.first(width, RAX, a);
                self.assembler.memory(width, register_first, RAX, slot(b));
            }
        }
    }

    pub(super) fn flags_immediate(&mut self, a: Slot, imm: i32, width: Width) {
        match (self.mode, imm) {
            (FIRST, 0) => self.assembler.registers(width, TEST, R9, R9),
            (FIRST, _) => self.assembler.group_immediate(width, GROUP_CMP, R9, imm),
            _ => self.assembler.group_immediate_memory(width, GROUP_CMP, slot(a), imm),
        }
    }

    /// The result is what a condition says.
    pub(super) fn put_condition(&mut self, dst: Slot, condition: Condition) {
        self.assembler.set(condition, RAX);
        self.assembler.registers(W32, MOVZX8, R9, RAX);
        self.put(dst);
    }

    pub(super) fn compare(&mut self, dst: Slot, a: Slot, b: Slot, (width, condition): Comparison) {
        self.flags(a, b, width, [CMP, CMP_MEMORY]);
        self.put_condition(dst, condition);
    }

    pub(super) fn compare_immediate(&mut self, dst: Slot, a: Slot, imm: i32, (width, condition): Comparison) {
        self.flags_immediate(a, imm, width);
        self.put_condition(dst, condition);
    }

    pub(super) fn jump_compare(&mut self, pc: usize, a: Slot, b: Slot, (width, condition): Comparison, target: Target) {
        self.flags(a, b, width, [CMP, CMP_MEMORY]);
        self.jump_if(pc, condition, target);
    }

    pub(super) fn jump_immediate(&mut self, pc: usize, a: Slot, imm: i32, (width, condition): Comparison, target: Target) {
        self.flags_immediate(a, imm, width);
        self.jump_if(pc, condition, target);
    }

    pub(super) fn jump_test(&mut self, pc: usize, a: Slot, b: Slot, (width, condition): Comparison, target: Target) {
        self.flags(a, b, width, [TEST, TEST]);
        self.jump_if(pc, condition, target);
    }

    pub(super) fn jump_test_immediate(&mut self, pc: usize, a: Slot, imm: i32, (width, condition): Comparison, target: Target) {
        if self.mode == FIRST {
            self.assembler.test_immediate(width, R9, imm);
        } else {
            self.assembler.test_immediate_memory(width, slot(a), imm);
        }
        self.jump_if(pc, condition, target);
    }
}
