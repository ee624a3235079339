//! Templates of jumps, loop headers, calls and returns.

use super::asm::*;
use super::emit::{Emitter, of_exec, op_at, slot};
use crate::bytecode::{Inst, Op, Slot, Target};
use crate::interp::machine::Exec;
use crate::interp::stack::FrameRecord;
use crate::layout::{VmTableRef, context};
use std::mem::offset_of;

impl Emitter<'_> {
    pub(super) fn jump(&mut self, pc: usize, target: Target) {
        let place = self.assembler.jump();
        self.lead_to_op(place, op_at(pc, target));
    }

    pub(super) fn jump_if(&mut self, pc: usize, condition: Condition, target: Target) {
        let place = self.assembler.jump_if(condition);
        self.lead_to_op(place, op_at(pc, target));
    }

    /// Counts down and looks at the poll word, as `control::loop_header`.
    pub(super) fn loop_header(&mut self, pc: usize, own: u32) {
        let word = at(RAX, own as i32 * 4);
        self.assembler.memory(W64, MOV, RAX, of_exec(offset_of!(Exec, counters)));
        self.assembler.memory(W64, MOV, R11, of_exec(offset_of!(Exec, context)));
        self.assembler.memory(W32, MOV, R10, word);
        self.assembler.group_immediate(W32, GROUP_SUB, R10, 1);
        self.exit_if(pc, NEGATIVE);
        self.assembler.group_immediate_memory(W32, GROUP_CMP, at(R11, context::poll), 0);
        self.exit_if(pc, NOT_EQUAL);
        self.assembler.store(4, word, R10);
    }

    pub(super) fn br_table(&mut self, pc: usize, index: Slot, count: u32) -> Option<()> {
        let entry = |entry: usize| match self.ops[entry].op {
            Op::Jump { target } => Some(op_at(entry, target)),
            _ => None,
        };
        let targets = (pc + 1..=pc + 1 + count as usize).map(entry).collect::<Option<Vec<usize>>>()?;
        self.first(W32, RAX, index);
        self.assembler.constant(R10, count.into());
        self.assembler.registers(W32, CMP, RAX, R10);
        self.assembler.move_if(ABOVE, W32, RAX, R10);
        self.assembler.shift_immediate(W32, GROUP_SHL, RAX, 2);
        let place = self.assembler.address_ahead(R10);
        self.assembler.memory(W64, MOVSXD, RAX, Memory { base: R10, index: Some(RAX), displacement: 0 });
        self.assembler.registers(W64, ADD, RAX, R10);
        self.assembler.jump_register(RAX);
        self.lead_to_table(place, targets);
        Some(())
    }

    /// Calls an own function.
    pub(super) fn call(&mut self, pc: usize, function: u32, base: Slot) {
        let target = &raw const self.surroundings.targets[(function - self.surroundings.imported_functions) as usize];
        self.assembler.memory(W64, LEA, R11, slot(base));
        self.assembler.constant(R9, target as u64);
        self.this_op(pc);
        self.go_outside(self.shared.call);
    }

    /// Calls what a table holds.
    pub(super) fn call_indirect(&mut self, pc: usize, table: u16, signature: u32, callee: Slot, base: Slot) {
        let reference = usize::from(table) * size_of::<VmTableRef>() + offset_of!(VmTableRef, table);
        let place = self.surroundings.tables_place + reference as i32;
        self.assembler.memory(W64, MOV, R10, of_exec(offset_of!(Exec, context)));
        self.assembler.memory(W64, MOV, R10, at(R10, place));
        self.assembler.memory(W64, MOV, RAX, slot(callee));
        self.assembler.memory(W64, LEA, R11, slot(base));
        self.assembler.constant(R9, signature.into());
        self.this_op(pc);
        self.go_outside(self.shared.call_indirect);
    }

    fn go_outside(&mut self, address: usize) {
        let place = self.assembler.jump();
        self.outside.push((place, address));
    }

    /// Goes back to the caller, the activation's first frame aside, once `results` has put them into the first slots.
    pub(super) fn return_(&mut self, pc: usize, results: impl FnOnce(&mut Self)) {
        self.assembler.memory(W64, MOV, RAX, of_exec(offset_of!(Exec, frame)));
        self.assembler.memory(W64, CMP, RAX, of_exec(offset_of!(Exec, first_frame)));
        self.exit_if(pc, EQUAL);
        results(self);
        self.assembler.group_immediate(W64, GROUP_SUB, RAX, size_of::<FrameRecord>() as i32);
        self.assembler.store(8, of_exec(offset_of!(Exec, frame)), RAX);
        self.assembler.memory(W64, MOV, RSI, at(RAX, offset_of!(FrameRecord, sp) as i32));
        self.assembler.memory(W64, MOV, RDI, at(RAX, offset_of!(FrameRecord, ip) as i32));
        self.assembler.group_immediate(W64, GROUP_ADD, RDI, size_of::<Inst>() as i32);
        self.go_on(pc);
    }
}
