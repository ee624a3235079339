//! The watched form: what bursts write where a function is interpreted for them. The same events as in instrumented code (`jit::translate::probes`), but for loads,
//! whose time in the interpreter would say nothing. A frame has no room for counters, so a loop's trip count is found when the words are
//! read: its beginning, its rounds and where it is left are marked with the frame's address; so are entries and returns, which have no return address.
//!
//! A condition is in its slot where its probe stands: in this form no comparison is part of a jump.

use super::Translator;
use super::control::ControlKind;
use crate::bytecode::WatchedLoop;
use crate::bytecode::op::{Op, Slot};
use crate::code::ProbeKind;
use crate::interp::{CONDITION, LOW_HALF, VALUE32, VALUE64};
use crate::shape::recorded_params;
use lwp_feedback::class::SiteClass;
use wasmparser::ValType;

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

    /// Whether a memory's addresses and lengths are 64-bit.
    pub(super) fn has_wide_addresses(&self, memory: u32) -> bool {
        self.module.memories[memory as usize].memory64
    }

    /// The length on top of the stack, of a `memory.copy` or `memory.fill`.
    pub(super) fn watch_length(&mut self, wide: bool) {
        if self.first_probe.is_none() {
            return;
        }
        self.flush();
        let slot = self.stack.top(1)[0].slot;
        self.watch(ProbeKind::Value(SiteClass::BulkLen.imm16(0)), if wide { VALUE64 } else { VALUE32 }, slot);
    }

    /// The callee of an indirect call, by the slot of its index in a table.
    pub(super) fn watch_call(&mut self, table: u16, slot: Slot) {
        if let Some(number) = self.probe_number(ProbeKind::IndirectCall) {
            self.emit(Op::ProbeCall { table, number, slot });
        }
    }

    /// A tail call: the frame is given up.
    pub(super) fn watch_tail_call(&mut self) {
        self.mark(ProbeKind::TailCall);
    }

    /// A direct call that might be inlined.
    pub(super) fn watch_direct_call(&mut self, callee: u32) {
        if self.module.is_short(callee) {
            self.mark(ProbeKind::Call(callee));
        }
    }

    /// Where the function is entered: that it is, and the parameters that decide something.
    pub(super) fn watch_entry(&mut self) {
        if self.first_probe.is_none() {
            return;
        }
        self.offset = self.module.body(self.function).range().start as u32;
        self.mark(ProbeKind::EntryOf);
        for (index, ty) in recorded_params(self.module, self.function) {
            let what = if ty == ValType::I64 { VALUE64 } else { VALUE32 };
            let slot = self.layout.local_slot(index.into());
            self.watch(ProbeKind::Value(SiteClass::Param.imm16(index)), what, slot);
        }
    }

    /// In front of a loop.
    pub(super) fn watch_beginning_of_loop(&mut self) {
        self.mark(ProbeKind::Begin);
    }

    /// Whether a branch of that depth leaves a loop whose trip count is to be known there.
    pub(super) fn leaves_watched_loop(&self, depth: u32) -> bool {
        let behind_target = self.controls.len() - depth as usize;
        self.first_probe.is_some() && self.controls[behind_target..].iter().any(|control| control.kind == ControlKind::Loop)
    }

    /// The innermost loop is left here.
    pub(super) fn watch_trips(&mut self) {
        if let Some(&start) = self.open_loops.last() {
            self.mark(ProbeKind::Trips(start));
        }
    }

    fn mark(&mut self, kind: ProbeKind) {
        if let Some(number) = self.probe_number(kind) {
            self.emit(Op::ProbeMark { number });
            self.barrier = self.ops.len();
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

    /// The end of the innermost loop, which is reached or not, and to whose beginning a branch leads or none.
    pub(super) fn watch_end_of_loop(&mut self, reachable: bool, repeats: bool) {
        if reachable {
            self.watch_trips();
        }
        if let Some(start) = self.open_loops.pop() {
            self.watched_loops.push(WatchedLoop { start, end: self.offset, repeats });
        }
    }

    /// The function returns. (The trip counts of loops that `return` leaves are not recorded in any form.)
    pub(super) fn watch_return(&mut self) {
        if let Some(number) = self.probe_number(ProbeKind::ReturnOf) {
            self.emit(Op::WatchedReturn { number });
        }
    }
}
