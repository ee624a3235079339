//! Templates of loads and stores. What the memory's guard does not catch is checked against its length, as `crate::interp::ops` does; an access that fails is the handler's.

use super::asm::*;
use super::emit::{Emitter, slot};
use crate::bytecode::{Slot, Target};
use crate::interp::machine::{FIRST, SECOND};

/// Address of an indexed access: a, b, and the op's `scaled`.
type Indexed = (Slot, Slot, u16);

/// How a load extends what it reads: width, opcode, bytes.
type Load = (Width, Opcode, u8);

pub(super) const LOAD8_U: Load = (W32, MOVZX8, 1);
pub(super) const LOAD16_U: Load = (W32, MOVZX16, 2);
pub(super) const LOAD32: Load = (W32, MOV, 4);
pub(super) const LOAD64: Load = (W64, MOV, 8);
pub(super) const I32_LOAD8_S: Load = (W32, MOVSX8, 1);
pub(super) const I32_LOAD16_S: Load = (W32, MOVSX16, 2);
pub(super) const I64_LOAD8_S: Load = (W64, MOVSX8, 1);
pub(super) const I64_LOAD16_S: Load = (W64, MOVSX16, 2);
pub(super) const I64_LOAD32_S: Load = (W64, MOVSXD, 4);

impl Emitter<'_> {
    /// Checks an access of `bytes` at the address in `rax` plus `offset`, where there is no guard: where it is then. `None` where the distance has no encoding.
    pub(super) fn checked(&mut self, pc: usize, bytes: u8, offset: u32) -> Option<Memory> {
        let end = i32::try_from(u64::from(offset) + u64::from(bytes)).ok()?;
        if self.surroundings.guarded {
            return Some(Memory { base: RDX, index: Some(RAX), displacement: offset as i32 });
        }
        self.assembler.memory(W64, LEA, R10, at(RAX, end));
        self.assembler.registers(W64, CMP, R10, RCX);
        self.exit_if(pc, ABOVE);
        Some(Memory { base: RDX, index: Some(RAX), displacement: offset as i32 })
    }

    /// The same at a constant address.
    pub(super) fn checked_at(&mut self, pc: usize, bytes: u8, address: u64) -> Option<Memory> {
        let end = i32::try_from(address.checked_add(bytes.into())?).ok()?;
        if self.surroundings.guarded {
            return Some(at(RDX, address as i32));
        }
        self.assembler.group_immediate(W64, GROUP_CMP, RCX, end);
        self.exit_if(pc, BELOW);
        Some(at(RDX, address as i32))
    }

    /// The same at the address a + (b << shift) + offset.
    pub(super) fn checked_indexed(&mut self, pc: usize, bytes: u8, (a, b, scaled): Indexed, b_mode: u8) -> Memory {
        self.operand(W32, RAX, b, b_mode);
        if scaled & 7 != 0 {
            self.assembler.shift_immediate(W32, GROUP_SHL, RAX, scaled as u8 & 7);
        }
        if self.mode == FIRST {
            self.assembler.registers(W32, ADD, RAX, R9);
        } else {
            self.assembler.memory(W32, ADD, RAX, slot(a));
        }
        self.checked(pc, bytes, u32::from(scaled >> 3)).expect("a short distance")
    }

    pub(super) fn load(&mut self, pc: usize, (width, opcode, bytes): Load, dst: Slot, address: Slot, offset: u32) -> Option<()> {
        self.first(W32, RAX, address);
        let place = self.checked(pc, bytes, offset)?;
        self.assembler.memory(width, opcode, R9, place);
        self.put(dst);
        Some(())
    }

    pub(super) fn load_at(&mut self, pc: usize, (width, opcode, bytes): Load, dst: Slot, address: u64) -> Option<()> {
        let place = self.checked_at(pc, bytes, address)?;
        self.assembler.memory(width, opcode, R9, place);
        self.put(dst);
        Some(())
    }

    pub(super) fn load_indexed(&mut self, pc: usize, (width, opcode, bytes): Load, dst: Slot, indexed: Indexed) {
        let place = self.checked_indexed(pc, bytes, indexed, SECOND);
        self.assembler.memory(width, opcode, R9, place);
        self.put(dst);
    }

    /// The value to store: where it is.
    pub(super) fn value(&mut self, value: Slot) -> Reg {
        if self.mode == SECOND {
            return R9;
        }
        self.assembler.memory(W64, MOV, R11, slot(value));
        R11
    }

    pub(super) fn store(&mut self, pc: usize, bytes: u8, address: Slot, value: Slot, offset: u32) -> Option<()> {
        self.first(W32, RAX, address);
        let place = self.checked(pc, bytes, offset)?;
        let value = self.value(value);
        self.assembler.store(bytes, place, value);
        Some(())
    }

    pub(super) fn store_at(&mut self, pc: usize, bytes: u8, value: Slot, address: u64) -> Option<()> {
        let place = self.checked_at(pc, bytes, address)?;
        let value = self.value(value);
        self.assembler.store(bytes, place, value);
        Some(())
    }

    pub(super) fn store_immediate(&mut self, pc: usize, bytes: u8, address: Slot, value: i32, offset: u32) -> Option<()> {
        self.first(W32, RAX, address);
        let place = self.checked(pc, bytes, offset)?;
        self.assembler.store_constant(bytes, place, value);
        Some(())
    }

    /// (Of such a store the value is the second operand, not b.)
    pub(super) fn store_indexed(&mut self, pc: usize, bytes: u8, value: Slot, indexed: Indexed) {
        const NEITHER: u8 = u8::MAX;
        let place = self.checked_indexed(pc, bytes, indexed, NEITHER);
        let value = self.value(value);
        self.assembler.store(bytes, place, value);
    }

    pub(super) fn jump_load(
        &mut self,
        pc: usize,
        (width, opcode, bytes): Load,
        (address, offset): (Slot, u16),
        (condition, imm): (Condition, i32),
        target: Target,
    ) -> Option<()> {
        self.first(W32, RAX, address);
        let place = self.checked(pc, bytes, offset.into())?;
        self.assembler.memory(width, opcode, RAX, place);
        self.assembler.group_immediate(W32, GROUP_CMP, RAX, imm);
        self.jump_if(pc, condition, target);
        Some(())
    }
}
