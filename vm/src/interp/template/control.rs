//! Templates of jumps, loop headers, calls and returns.

use super::MOST_SLOTS;
use super::asm::*;
use super::emit::{Callee, Emitter, of_exec, op_at, slot};
use crate::bytecode::{Bytecode, Inst, Op, Slot, Target};
use crate::interp::machine::Exec;
use crate::interp::stack::FrameRecord;
use crate::layout::VmContext;
use std::mem::offset_of;

/// Most locals that a call sets to zero one by one.
const MOST_ZEROED: usize = 24;

impl Emitter<'_> {
    pub(super) fn jump(&mut self, pc: usize, target: Target) {
        let place = self.assembler.jump();
        self.jumps.push((place, op_at(pc, target)));
    }

    pub(super) fn jump_if(&mut self, pc: usize, condition: Condition, target: Target) {
        let place = self.assembler.jump_if(condition);
        self.jumps.push((place, op_at(pc, target)));
    }

    /// Counts down and looks at the poll word, as `control::loop_header`.
    pub(super) fn loop_header(&mut self, pc: usize, own: u32) {
        let word = at(RAX, own as i32 * 4);
        self.assembler.memory(W64, MOV, RAX, of_exec(offset_of!(Exec, counters)));
        self.assembler.memory(W64, MOV, R11, of_exec(offset_of!(Exec, context)));
        self.assembler.memory(W32, MOV, R10, word);
        self.assembler.group_immediate(W32, GROUP_SUB, R10, 1);
        self.exit_if(pc, BELOW);
        self.assembler.group_immediate_memory(W32, GROUP_CMP, at(R11, offset_of!(VmContext, poll) as i32), 0);
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
        self.tables.push((place, targets));
        Some(())
    }

    /// Calls a function that is interpreted, as `control::call_own` and `enter_frame` do. `None` where nothing is known of it yet, or its locals are many.
    pub(super) fn call(&mut self, pc: usize, function: u32, base: Slot) -> Option<()> {
        let Callee { own, compiled, bytecode } = (self.callees)(function)?;
        // SAFETY: a bytecode lives, and stays where it is, as long as the module's code, of which these templates are part.
        let Bytecode { ops, frame_slots, param_slots, local_slots, .. } = unsafe { &*bytecode };
        let zeroed = *param_slots..*local_slots;
        if zeroed.len() > MOST_ZEROED || *frame_slots > MOST_SLOTS {
            return None;
        }
        // r9: the counters, r10: the count, r11: the new frame's slots, rax: the running frame's record, rdi: the new one's.
        let word = at(R9, own as i32 * 4);
        self.assembler.memory(W64, MOV, R9, of_exec(offset_of!(Exec, counters)));
        self.context();
        self.assembler.memory(W32, MOV, R10, word);
        self.assembler.group_immediate(W32, GROUP_SUB, R10, 1);
        self.exit_if(pc, BELOW);
        self.assembler.group_immediate_memory(W32, GROUP_CMP, at(RAX, offset_of!(VmContext, poll) as i32), 0);
        self.exit_if(pc, NOT_EQUAL);
        if let Some(compiled) = compiled {
            self.assembler.constant(RAX, compiled as u64);
            self.assembler.group_immediate_memory(W64, GROUP_CMP, at(RAX, 0), 0);
            self.exit_if(pc, NOT_EQUAL);
        }
        self.assembler.memory(W64, LEA, R11, slot(base));
        self.assembler.memory(W64, LEA, RAX, at(R11, *frame_slots as i32 * 8));
        self.assembler.memory(W64, CMP, RAX, of_exec(offset_of!(Exec, values_end)));
        self.exit_if(pc, ABOVE);
        self.assembler.memory(W64, MOV, RAX, of_exec(offset_of!(Exec, frame)));
        self.assembler.memory(W64, LEA, RDI, at(RAX, size_of::<FrameRecord>() as i32));
        self.assembler.memory(W64, CMP, RDI, of_exec(offset_of!(Exec, frames_end)));
        self.exit_if(pc, EQUAL);

        self.assembler.store(4, word, R10);
        self.assembler.constant(R10, (&raw const self.ops[pc]) as u64);
        self.assembler.store(8, at(RAX, offset_of!(FrameRecord, ip) as i32), R10);
        if !zeroed.is_empty() {
            self.assembler.constant(RAX, 0);
            for local in zeroed {
                self.assembler.store(8, at(R11, local as i32 * 8), RAX);
            }
        }
        self.assembler.constant(R10, ops.as_ptr() as u64);
        self.assembler.constant(R9, bytecode as u64);
        self.assembler.store(8, at(RDI, offset_of!(FrameRecord, ip) as i32), R10);
        self.assembler.store(8, at(RDI, offset_of!(FrameRecord, sp) as i32), R11);
        self.assembler.store(8, at(RDI, offset_of!(FrameRecord, code) as i32), R9);
        self.assembler.store(8, of_exec(offset_of!(Exec, frame)), RDI);
        self.assembler.copy(W64, RSI, R11);
        self.assembler.copy(W64, RDI, R10);
        self.go_on();
        Some(())
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
        self.go_on();
    }

    /// The op at `rdi` runs next, whatever runs it.
    pub(super) fn go_on(&mut self) {
        let handler = at(RDI, offset_of!(Inst, handler) as i32);
        #[cfg(all(threaded_dispatch, not(debug_assertions)))]
        self.assembler.jump_memory(handler);
        // No handler: the loop looks at the op.
        #[cfg(any(not(threaded_dispatch), debug_assertions))]
        {
            self.assembler.memory(W64, MOV, RAX, handler);
            self.assembler.registers(W64, TEST, RAX, RAX);
            let place = self.assembler.jump_if(EQUAL);
            self.assembler.jump_register(RAX);
            let here = self.assembler.here();
            self.assembler.fill(place, here);
            self.leave_for_loop();
        }
    }

    /// Back into the dispatching loop, which finds the op to run in `Exec::saved`.
    #[cfg(any(not(threaded_dispatch), debug_assertions))]
    pub(super) fn leave_for_loop(&mut self) {
        use crate::interp::machine::Regs;
        let saved = offset_of!(Exec, saved);
        self.assembler.store(8, of_exec(saved + offset_of!(Regs, ip)), RDI);
        self.assembler.store(8, of_exec(saved + offset_of!(Regs, sp)), RSI);
        self.assembler.store(8, of_exec(saved + offset_of!(Regs, accumulator)), R9);
        self.assembler.return_();
    }
}
