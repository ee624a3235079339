//! Exceptions: `try_table`, the older `try`, and what throws.
//!
//! A `try`'s body is a range of ops; a [`TryBody`] says which op goes on with what is caught there and into which slots the values go. The clauses of a `try_table` lead to
//! labels: for each, in front of the body, stand the moves to where the label expects its values. An arm of a `try` holds the caught exception in a slot of the operand
//! stack, below the tag's values, which makes `rethrow` a `throw_ref`.

use super::Translator;
use super::control::{ControlKind, Types};
use crate::bytecode::op::Op;
use crate::bytecode::{CaughtReference, Clause, TryBody};
use wasmparser::{BlockType, Catch, Operator, RefType, TryTable, ValType};

const EXNREF: ValType = ValType::Ref(RefType::EXNREF);

impl<'m> Translator<'m> {
    /// Operators of both proposals; false for all others.
    pub(super) fn exception_operator(&mut self, operator: &Operator<'_>) -> bool {
        match operator {
            Operator::TryTable { try_table } => self.try_table(try_table),
            Operator::Throw { tag_index } => {
                let values = self.tag_values(*tag_index).len();
                self.flush();
                let base = self.first_slot(values);
                self.emit(Op::Throw { tag: *tag_index, base });
                self.stop();
            }
            Operator::ThrowRef => {
                let src = self.pop_operand();
                self.emit(Op::ThrowRef { src });
                self.stop();
            }
            Operator::Try { blockty } => self.try_(*blockty),
            Operator::Catch { tag_index } => self.catch(Some(*tag_index)),
            Operator::CatchAll => self.catch(None),
            Operator::Rethrow { relative_depth } => {
                let control = self.control(*relative_depth);
                self.emit(Op::ThrowRef { src: control.base });
                self.stop();
            }
            Operator::Delegate { relative_depth } => self.delegate(*relative_depth),
            _ => return false,
        }
        true
    }

    fn tag_values(&self, tag: u32) -> &'m [ValType] {
        let module = self.module;
        module.types[module.tags[tag as usize] as usize].params()
    }

    fn new_try(&mut self) -> u32 {
        self.tries += 1;
        self.tries - 1
    }

    fn try_table(&mut self, table: &TryTable) {
        self.flush();
        let id = self.new_try();
        let params = match self.block_types(table.ty).0 {
            Types::List(params) => params,
            Types::One(_) => &[],
        };
        let below = self.stack.len() - params.len();
        let mut clauses = Vec::with_capacity(table.catches.len());
        if !table.catches.is_empty() {
            let body = self.new_label();
            self.emit_goto(body);
            self.stack.truncate(below);
            for catch in &table.catches {
                let (tag, depth, reference) = match *catch {
                    Catch::One { tag, label } => (Some(tag), label, CaughtReference::None),
                    Catch::OneRef { tag, label } => (Some(tag), label, CaughtReference::Last),
                    Catch::All { label } => (None, label, CaughtReference::None),
                    Catch::AllRef { label } => (None, label, CaughtReference::Last),
                };
                let landing = self.new_label();
                self.bind(landing);
                clauses.push(Clause {
                    tag,
                    reference,
                    kept: reference == CaughtReference::Last,
                    to: self.stack.next_slot(),
                    pc: self.ops.len() as u32,
                });
                self.push_canonical(tag.map_or(&[], |tag| self.tag_values(tag)));
                if reference == CaughtReference::Last {
                    self.push_canonical(&[EXNREF]);
                }
                self.branch_on_own_path(depth);
                self.stack.truncate(below);
            }
            self.bind(body);
            self.push_canonical(params);
        }
        self.waiting.push((id, clauses));
        self.open(ControlKind::Try { id, start: self.ops.len(), table: true }, table.ty);
    }

    /// The body of a `try` ends here.
    pub(super) fn end_try_body(&mut self, id: u32, start: usize) {
        let clauses = match self.waiting.iter().position(|(waiting, _)| *waiting == id) {
            Some(at) => self.waiting.swap_remove(at).1,
            None => Vec::new(),
        };
        self.handlers.push(TryBody { id, body: start as u32..self.ops.len() as u32, clauses: clauses.into(), delegate: None });
        self.barrier = self.ops.len();
        self.result = None;
    }

    fn try_(&mut self, ty: BlockType) {
        self.flush();
        let id = self.new_try();
        self.barrier = self.ops.len();
        self.result = None;
        self.open(ControlKind::Try { id, start: self.ops.len(), table: false }, ty);
    }

    /// An arm of the innermost `try` begins.
    pub(super) fn catch(&mut self, tag: Option<u32>) {
        let reachable = self.skipped_blocks.is_none();
        let control = *self.controls.last().expect("a catch is inside a try");
        if reachable {
            self.flush();
            self.move_branch_values(&control);
            self.emit_goto(control.label);
        }
        let id = match control.kind {
            ControlKind::Try { id, start, .. } => {
                self.end_try_body(id, start);
                id
            }
            ControlKind::Catch { id } => id,
            _ => unreachable!("a catch is inside a try"),
        };
        let arm = self.new_label();
        self.bind(arm);
        self.stack.truncate(control.height);
        let kept = self.module.rethrows(self.function);
        let clause = Clause { tag, reference: CaughtReference::First, kept, to: self.stack.next_slot(), pc: self.ops.len() as u32 };
        let handler = self.handlers.iter_mut().find(|handler| handler.id == id).expect("its body has ended");
        let mut clauses = std::mem::take(&mut handler.clauses).into_vec();
        clauses.push(clause);
        handler.clauses = clauses.into();
        self.push_canonical(&[EXNREF]);
        self.push_canonical(tag.map_or(&[], |tag| self.tag_values(tag)));
        self.controls.last_mut().expect("just seen").kind = ControlKind::Catch { id };
        self.skipped_blocks = None;
    }

    /// Ends the innermost `try`: what its body throws is thrown on from the label.
    pub(super) fn delegate(&mut self, depth: u32) {
        let control = *self.controls.last().expect("delegate ends a try");
        if let ControlKind::Try { id, start, .. } = control.kind {
            self.end_try_body(id, start);
            let around = &self.controls[..self.controls.len() - 1 - depth as usize];
            let target = around.iter().rev().find_map(|control| match control.kind {
                ControlKind::Try { id, .. } => Some(id),
                _ => None,
            });
            self.handlers.last_mut().expect("just pushed").delegate = Some(target);
        }
        self.end();
    }
}
