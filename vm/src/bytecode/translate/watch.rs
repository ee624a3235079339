//! The watched form: what bursts write where a function is interpreted for them. The same events as in instrumented code (`jit::translate::probes`), but for loads,
//! whose time in the interpreter would say nothing, the rounds of a whole loop, and returns, whose addresses are not the processor's.
//!
//! A condition is in its slot where its probe stands: in this form no comparison is part of a jump.

use super::Translator;
use crate::bytecode::op::{Op, Slot};
use crate::code::ProbeKind;
use crate::interp::{CONDITION, LOW_HALF};

impl Translator<'_> {
    /// A new probe's number, for the op that is appended next.
    fn probe_number(&mut self, kind: ProbeKind) -> Option<u32> {
        let first = self.first_probe?;
        self.probes.push((kind, self.ops.len() as u32));
        Some(first + self.probes.len() as u32 - 1)
    }

    /// The condition on top of the stack, of an `if`, a `br_if` or a `select`.
    pub(super) fn watch_condition(&mut self, kind: ProbeKind) {
        if self.first_probe.is_none() {
            return;
        }
        let entry = self.stack.top(1)[0];
        let slot = self.operand(entry);
        self.watch(kind, CONDITION, slot);
    }

    /// The index of a `br_table`.
    pub(super) fn watch_switch(&mut self, index: Slot) {
        self.watch(ProbeKind::Switch, LOW_HALF, index);
    }

    fn watch(&mut self, kind: ProbeKind, what: u16, slot: Slot) {
        if let Some(number) = self.probe_number(kind) {
            self.emit(Op::Probe { what, number, slot });
            self.barrier = self.ops.len();
        }
    }

    /// The callee of an indirect call, by the slot of its index in a table.
    pub(super) fn watch_call(&mut self, table: u16, slot: Slot) {
        if let Some(number) = self.probe_number(ProbeKind::IndirectCall) {
            self.emit(Op::ProbeCall { table, number, slot });
        }
    }

    /// A round of a loop, behind its point: what is entered there begins with it.
    pub(super) fn watch_round(&mut self) {
        if let Some(number) = self.probe_number(ProbeKind::Round) {
            self.emit(Op::WatchedLoop { offset: self.offset, number });
            self.barrier = self.ops.len();
            self.open_loops.push(self.offset);
        }
    }

    /// The end of the innermost loop.
    pub(super) fn watch_end_of_loop(&mut self) {
        if let Some(start) = self.open_loops.pop() {
            self.watched_loops.push((start, self.offset));
        }
    }

    /// The function returns.
    pub(super) fn watch_return(&mut self) {
        if self.first_probe.is_some() {
            self.emit(Op::WatchedReturn {});
        }
    }
}
