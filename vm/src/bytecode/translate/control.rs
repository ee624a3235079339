//! Blocks, branches, calls and returns.

use super::Translator;
use super::fuse;
use super::stack::{Entry, Value};
use crate::bytecode::PointKind;
use crate::bytecode::frame::slots_of;
use crate::bytecode::op::{Op, Slot, Target};
use crate::code::ProbeKind;
use crate::layout::FunctionPlace;
use wasmparser::{BlockType, BrTable, Operator, ValType};

/// A jump target that may lie ahead.
#[derive(Default)]
pub(super) struct Label {
    pc: Option<usize>,
    /// The latest of the jumps that wait for it. Until it is known each one's target is the index of the one before and 1, or 0.
    waiting: Option<usize>,
    used: bool,
}

impl Label {
    /// The op that jumps lead to, if any do.
    pub(super) fn target(&self) -> Option<usize> {
        self.pc.filter(|_| self.used)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControlKind {
    Function,
    Block,
    Loop,
    /// Without its `else` so far; where the condition fails.
    If {
        otherwise: usize,
    },
    Else,
    /// A `try` or `try_table` in whose body we are: its number, and where the body began.
    Try {
        id: u32,
        start: usize,
        table: bool,
    },
    /// One of a `try`'s arms; its number.
    Catch {
        id: u32,
    },
}

/// Types of a block's parameters or results.
#[derive(Clone, Copy, Debug)]
pub(super) enum Types<'m> {
    One(ValType),
    List(&'m [ValType]),
}

impl Types<'_> {
    const NONE: Types<'static> = Types::List(&[]);

    pub(super) fn as_slice(&self) -> &[ValType] {
        match self {
            Types::One(ty) => std::slice::from_ref(ty),
            Types::List(types) => types,
        }
    }
}

/// An open block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control<'m> {
    pub(super) kind: ControlKind,
    /// Stack height below its parameters.
    pub(super) height: usize,
    /// Slot of its first parameter and result.
    pub(super) base: Slot,
    pub(super) params: Types<'m>,
    pub(super) results: Types<'m>,
    /// Where branches to it go.
    pub(super) label: usize,
}

impl Control<'_> {
    /// How many values a branch to it carries.
    fn branch_arity(&self) -> usize {
        match self.kind {
            ControlKind::Loop => self.params.as_slice().len(),
            _ => self.results.as_slice().len(),
        }
    }
}

impl<'m> Translator<'m> {
    pub(super) fn new_label(&mut self) -> usize {
        self.labels.push(Label::default());
        self.labels.len() - 1
    }

    /// The label is here.
    pub(super) fn bind(&mut self, label: usize) {
        let here = self.ops.len();
        let label = &mut self.labels[label];
        label.pc = Some(here);
        let mut waiting = label.waiting.take();
        while let Some(at) = waiting {
            let target = self.ops[at].target_mut().expect("only jumps wait for labels");
            waiting = (target.0 as usize).checked_sub(1);
            *target = Target((here - at) as i32);
        }
        self.barrier = here;
        self.result = None;
    }

    /// Appends a jump (its target is set here) to a label.
    pub(super) fn emit_jump(&mut self, op: Op, label: usize) {
        let mut op = op;
        if self.ops.len() > self.barrier
            && let Some(last) = self.ops.last()
            && let Some(fused) = fuse::add_and_jump(last, &op)
        {
            self.remove_last_op();
            op = fused;
        }
        let at = self.emit(op);
        if let Some(offset) = self.jump_offset.take() {
            // It traps where the load would have.
            self.offsets[at] = offset;
        }
        let label = &mut self.labels[label];
        label.used = true;
        let target = match label.pc {
            Some(pc) => pc as i32 - at as i32,
            None => label.waiting.replace(at).map_or(0, |before| before as i32 + 1),
        };
        *self.ops[at].target_mut().expect("a jump") = Target(target);
    }

    pub(super) fn emit_goto(&mut self, label: usize) {
        self.emit_jump(Op::Jump { target: Target(0) }, label);
    }

    pub(super) fn block_types(&self, ty: BlockType) -> (Types<'m>, Types<'m>) {
        match ty {
            BlockType::Empty => (Types::NONE, Types::NONE),
            BlockType::Type(ty) => (Types::NONE, Types::One(ty)),
            BlockType::FuncType(index) => {
                let module = self.module;
                let ty = &module.types[index as usize];
                (Types::List(ty.params()), Types::List(ty.results()))
            }
        }
    }

    pub(super) fn open_function(&mut self) {
        let module = self.module;
        let results = Types::List(module.function_type(self.function).results());
        let label = self.new_label();
        self.controls.push(Control {
            kind: ControlKind::Function,
            height: 0,
            base: self.layout.stack_base(),
            params: Types::NONE,
            results,
            label,
        });
    }

    pub(super) fn open(&mut self, kind: ControlKind, ty: BlockType) -> usize {
        let (params, results) = self.block_types(ty);
        let label = self.new_label();
        let count = params.as_slice().len();
        let base = self.first_slot(count);
        self.controls.push(Control { kind, height: self.stack.len() - count, base, params, results, label });
        label
    }

    pub(super) fn block(&mut self, ty: BlockType) {
        self.flush();
        self.point(PointKind::Block);
        self.open(ControlKind::Block, ty);
    }

    pub(super) fn loop_(&mut self, ty: BlockType) {
        self.flush();
        self.watch_beginning_of_loop();
        let label = self.open(ControlKind::Loop, ty);
        self.bind(label);
        self.emit(Op::LoopHeader { offset: self.offset, own: self.function - self.module.imported_functions });
        self.point(PointKind::Loop);
        self.watch_round();
    }

    pub(super) fn if_(&mut self, ty: BlockType) {
        self.watch_condition(ProbeKind::Branch);
        let jump = self.pop_condition(true);
        self.flush();
        let otherwise = self.new_label();
        self.emit_jump(jump, otherwise);
        self.open(ControlKind::If { otherwise }, ty);
    }

    pub(super) fn else_(&mut self) {
        let reachable = self.skipped_blocks.is_none();
        let control = *self.controls.last().expect("else is inside an if");
        let ControlKind::If { otherwise } = control.kind else { unreachable!("else closes an if") };
        if reachable {
            self.flush();
            self.emit_goto(control.label);
        }
        self.bind(otherwise);
        self.stack.truncate(control.height);
        self.push_canonical(control.params.as_slice());
        self.controls.last_mut().expect("just seen").kind = ControlKind::Else;
        self.skipped_blocks = None;
    }

    pub(super) fn end(&mut self) {
        let reachable = self.skipped_blocks.is_none();
        let control = self.controls.pop().expect("end closes a block");
        if control.kind == ControlKind::Function {
            return self.end_function(control, reachable);
        }
        if reachable {
            self.flush();
        }
        match control.kind {
            ControlKind::Loop => self.watch_end_of_loop(reachable, self.labels[control.label].used),
            ControlKind::Try { id, start, table: true } => self.end_try_body(id, start),
            // The caught exception lies below the results.
            ControlKind::Catch { .. } if reachable => self.move_branch_values(&control),
            _ => {}
        }
        let mut continues = reachable;
        if let ControlKind::If { otherwise } = control.kind {
            self.bind(otherwise);
            continues = true;
        }
        if control.kind != ControlKind::Loop && self.labels[control.label].used {
            self.bind(control.label);
            continues = true;
        }
        self.stack.truncate(control.height);
        self.push_canonical(control.results.as_slice());
        self.skipped_blocks = if continues { None } else { Some(0) };
    }

    fn end_function(&mut self, control: Control<'_>, reachable: bool) {
        let targeted = self.labels[control.label].used;
        if reachable && !targeted {
            return self.emit_return(control.results.as_slice().len());
        }
        if reachable {
            self.flush();
        }
        if targeted {
            self.bind(control.label);
            self.stack.truncate(0);
            self.push_canonical(control.results.as_slice());
            self.emit_return(control.results.as_slice().len());
        }
    }

    pub(super) fn push_canonical(&mut self, types: &[ValType]) {
        for &ty in types {
            self.stack.push_wide(Value::Canonical, slots_of(ty));
        }
    }

    /// An operator behind an unconditional branch: only the block structure matters.
    pub(super) fn skip(&mut self, operator: &Operator<'_>) {
        let depth = self.skipped_blocks.expect("called in unreachable code");
        match operator {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } | Operator::TryTable { .. } | Operator::Try { .. } => {
                self.skipped_blocks = Some(depth + 1);
            }
            Operator::End if depth > 0 => self.skipped_blocks = Some(depth - 1),
            Operator::End => self.end(),
            Operator::Else if depth == 0 => self.else_(),
            Operator::Catch { tag_index } if depth == 0 => self.catch(Some(*tag_index)),
            Operator::CatchAll if depth == 0 => self.catch(None),
            Operator::Delegate { relative_depth } if depth == 0 => self.delegate(*relative_depth),
            Operator::Delegate { .. } => self.skipped_blocks = Some(depth - 1),
            _ => {}
        }
    }

    /// What follows cannot be reached.
    pub(super) fn stop(&mut self) {
        self.skipped_blocks = Some(0);
    }

    /// Pops a condition: a jump (without its target) that is taken when it holds, or (`negated`) when it does not.
    fn pop_condition(&mut self, negated: bool) -> Op {
        let entry = self.stack.pop();
        if entry.value == Value::Canonical
            && let Some(at) = self.producer(entry.slot)
            && at + 1 == self.ops.len()
            && let Some(jump) = fuse::jump(&self.ops[at], negated)
        {
            self.remove_last_op();
            if self.ops.len() > self.barrier
                && let Some(last) = self.ops.last()
                && let Some(jump) = fuse::jump_on_bits(last, &jump, self.layout.stack_base())
            {
                self.remove_last_op();
                return jump;
            }
            return self.jump_on_load(jump);
        }
        let a = self.operand(entry);
        let target = Target(0);
        let jump = match negated {
            true => Op::JumpI32EqImm { a, imm: 0, target },
            false => Op::JumpI32NeImm { a, imm: 0, target },
        };
        self.jump_on_load(jump)
    }

    /// Takes the load whose result a jump tests, if it is the last op, into the jump.
    fn jump_on_load(&mut self, jump: Op) -> Op {
        if self.ops.len() > self.barrier
            && let Some(last) = self.ops.last()
            && let Some(fused) = fuse::jump_on_load(last, &jump, self.layout.stack_base())
        {
            self.jump_offset = self.offsets.last().copied();
            self.remove_last_op();
            return fused;
        }
        jump
    }

    pub(super) fn remove_last_op(&mut self) {
        self.ops.pop();
        self.offsets.pop();
        self.result = None;
    }

    pub(super) fn control(&self, depth: u32) -> Control<'m> {
        self.controls[self.controls.len() - 1 - depth as usize]
    }

    /// Whether the values of a branch are where the target expects them, once they are canonical.
    fn in_place(&self, control: &Control<'_>) -> bool {
        let arity = control.branch_arity();
        arity == 0 || self.stack.top(arity)[0].slot == control.base
    }

    /// Moves the topmost values to where the branch's target expects them; the simulated stack stays as it is.
    pub(super) fn move_branch_values(&mut self, control: &Control<'_>) {
        let values: Vec<Entry> = self.stack.top(control.branch_arity()).to_vec();
        let canonical = values.iter().all(|entry| entry.value == Value::Canonical);
        if canonical && values.len() > 2 {
            if values[0].slot != control.base {
                let count = self.stack.next_slot().0 - values[0].slot.0;
                self.emit(Op::CopyMany { to: control.base, from: values[0].slot, count });
            }
            return;
        }
        // Ascending order is right: a destination lies at or below its own source, so below all later sources.
        let mut dst = control.base;
        for entry in values {
            match entry.value {
                Value::Const(value) => {
                    self.emit(Op::Const { dst, value });
                }
                Value::Local(local) => self.emit_move(dst, local, entry.slots),
                Value::Canonical if entry.slot == dst => {}
                Value::Canonical => self.emit_move(dst, entry.slot, entry.slots),
            }
            dst.0 += entry.slots;
        }
    }

    pub(super) fn br(&mut self, depth: u32) {
        let control = self.control(depth);
        if self.leaves_watched_loop(depth) {
            self.watch_trips();
        }
        if control.kind == ControlKind::Function {
            self.emit_return(control.results.as_slice().len());
        } else {
            self.move_branch_values(&control);
            self.emit_goto(control.label);
        }
        self.stop();
    }

    pub(super) fn br_if(&mut self, depth: u32) {
        self.watch_condition(ProbeKind::Branch);
        let control = self.control(depth);
        let arity = control.branch_arity();
        let is_function = control.kind == ControlKind::Function;
        let leaves_loop = self.leaves_watched_loop(depth);
        let direct = !is_function && !leaves_loop && { arity == 0 || self.stack.top(arity + 1)[0].slot == control.base };
        if direct {
            let jump = self.pop_condition(false);
            if arity > 0 {
                self.flush();
            }
            self.emit_jump(jump, control.label);
            return;
        }
        let jump = self.pop_condition(true);
        let skip = self.new_label();
        self.emit_jump(jump, skip);
        // The jump may skip what follows, so no op before it may be merged with one behind it.
        self.barrier = self.ops.len();
        if leaves_loop {
            self.watch_trips();
        }
        if is_function {
            self.emit_return_keeping(control.results.as_slice().len());
        } else {
            self.move_branch_values(&control);
            self.emit_goto(control.label);
        }
        self.bind(skip);
    }

    pub(super) fn br_table(&mut self, targets: BrTable<'_>) {
        let index = self.stack.pop();
        let count = targets.len();
        let depths: Vec<u32> = targets.targets().map(|depth| depth.expect("the body was validated")).chain([targets.default()]).collect();
        let arity = self.control(targets.default()).branch_arity();
        // The index may be a constant or temporary above the values; flushing those does not touch it.
        let index = self.operand(index);
        if arity > 0 {
            self.flush();
        }
        self.watch_switch(index);
        self.emit(Op::BrTable { index, count });
        let mut moves: Vec<(u32, usize)> = Vec::new();
        for depth in depths {
            let control = self.control(depth);
            let label = if self.in_place(&control) {
                control.label
            } else if let Some((_, label)) = moves.iter().find(|(other, _)| *other == depth) {
                *label
            } else {
                let label = self.new_label();
                moves.push((depth, label));
                label
            };
            self.emit_goto(label);
        }
        for (depth, label) in moves {
            let control = self.control(depth);
            self.bind(label);
            self.move_branch_values(&control);
            self.emit_goto(control.label);
        }
        self.stop();
    }

    /// Returns the topmost values.
    pub(super) fn emit_return(&mut self, results: usize) {
        self.emit_return_keeping(results);
    }

    /// As [`Self::emit_return`], on a path of its own: the simulated stack stays as it is.
    pub(super) fn emit_return_keeping(&mut self, results: usize) {
        let values = self.stack.top(results).to_vec();
        let op = match values.as_slice() {
            [] => Op::Return {},
            [entry] if entry.slots == 2 => match entry.value {
                Value::Local(from) => Op::ReturnMany { from, count: 2 },
                _ => Op::ReturnMany { from: entry.slot, count: 2 },
            },
            [entry] => match entry.value {
                Value::Const(value) => Op::ReturnConst { value },
                Value::Local(src) => Op::ReturnOne { src },
                Value::Canonical => Op::ReturnOne { src: entry.slot },
            },
            [first, ..] => {
                for entry in &values {
                    match entry.value {
                        Value::Canonical => {}
                        Value::Local(local) => self.emit_move(entry.slot, local, entry.slots),
                        Value::Const(value) => {
                            self.emit(Op::Const { dst: entry.slot, value });
                        }
                    }
                }
                Op::ReturnMany { from: first.slot, count: self.stack.next_slot().0 - first.slot.0 }
            }
        };
        self.watch_return();
        self.emit(op);
    }

    pub(super) fn return_(&mut self) {
        let results = self.controls[0].results.as_slice().len();
        self.emit_return(results);
        self.stop();
    }

    pub(super) fn call(&mut self, function: u32) {
        let module = self.module;
        let ty = module.function_type(function);
        let params = ty.params().len();
        self.flush();
        let base = self.first_slot(params);
        self.watch_direct_call(function);
        self.point(PointKind::Call);
        self.stack.truncate(self.stack.len() - params);
        self.emit(match self.module.offsets().function(function) {
            FunctionPlace::Inline(_) if self.first_probe.is_some() => Op::WatchedCall { function, base },
            FunctionPlace::Inline(_) => Op::Call { function, base },
            FunctionPlace::Pointer(place) => Op::CallImport { function, base, place },
        });
        self.push_canonical(ty.results());
    }

    pub(super) fn call_indirect(&mut self, type_index: u32, table: u32) {
        let module = self.module;
        let ty = &module.types[type_index as usize];
        let params = ty.params().len();
        let signature = module.signatures[type_index as usize];
        self.flush();
        let index = self.stack.top(1)[0].slot;
        let base = self.first_slot(params + 1);
        self.watch_call(table as u16, index);
        self.point(PointKind::Call);
        self.stack.truncate(self.stack.len() - params - 1);
        let table = table as u16;
        self.emit(match self.first_probe {
            Some(_) => Op::WatchedCallIndirect { table, signature, callee: index, base },
            None => Op::CallIndirect { table, signature, callee: index, base },
        });
        self.push_canonical(ty.results());
    }

    /// Slot of the first of the topmost `count` entries, or of the next one when `count` is 0.
    pub(super) fn first_slot(&self, count: usize) -> Slot {
        match self.stack.top(count).first() {
            Some(entry) => entry.slot,
            None => self.stack.next_slot(),
        }
    }
}
