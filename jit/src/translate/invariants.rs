//! Tests that a loop cannot change stand before it: which callee an indirect call in the loop has.
//!
//! Two steps that do not trust each other. [`hoistable`](Translator::hoistable) reads a body and *guesses* before which loop each planned call can be
//! tested: its index is a local or global that the loop does not set, nothing in the loop writes the table. At that loop the test is
//! emitted, a side exit to the loop's own beginning, and becomes a [`Fact`]; the call then needs no test. While a fact holds, everything that is translated is checked
//! ([`check_facts`](Translator::check_facts), [`call_breaks_facts`](Translator::call_breaks_facts)): if anything may change what was tested, the
//! function is translated again without such tests. So a wrong guess costs a compile.
//!
//! A loop may do without the call that is tested before it; then the exit is one too many, which [`vm::exits`] notices.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use cranelift_codegen::ir::{InstBuilder, Value};
use wasmparser::Operator;

use vm::code::{Guard, GuardKind, Tier};
use vm::module::Module;

use super::exits::Exit;
use super::inline::{GUARDED, expected};
use super::{Result, Translator};
use crate::scan::Expected;

/// Name of such a test in reports.
pub(super) const HOISTED: &str = "guard-before-loop";
/// Depth of calls that are followed to see what they change.
const MOST_DEPTH: u32 = 3;

/// Where an index comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Local(u32),
    Global(u32),
    Constant(u32),
}

/// A call whose callee may be tested before a loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct HoistableCall {
    offset: u32,
    table: u32,
    ty: u32,
    source: Source,
}

/// Calls by the loop before which they may be tested.
pub(super) type Hoistable = HashMap<u32, Vec<HoistableCall>>;

/// What a test before a loop established: a call's callee.
pub(super) struct Fact {
    /// Index of the frame whose call it is.
    frame: usize,
    call: HoistableCall,
    callee: u32,
}

/// What a stretch of code may change.
#[derive(Clone, Debug, Default)]
struct Changes {
    locals: BTreeSet<u32>,
    globals: BTreeSet<u32>,
    tables: bool,
    /// A call of something unknown.
    calls: bool,
}

impl Changes {
    fn add(&mut self, other: &Changes) {
        self.locals.extend(&other.locals);
        self.globals.extend(&other.globals);
        self.tables |= other.tables;
        self.calls |= other.calls;
    }

    fn operator(&mut self, operator: &Operator<'_>) {
        match *operator {
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => _ = self.locals.insert(local_index),
            Operator::GlobalSet { global_index } => _ = self.globals.insert(global_index),
            ref operator => self.tables |= writes_tables(operator),
        }
    }
}

fn writes_tables(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::TableSet { .. }
            | Operator::TableGrow { .. }
            | Operator::TableFill { .. }
            | Operator::TableInit { .. }
            | Operator::TableCopy { .. }
    )
}

/// Whether writing global `written` can change global `read`: imported ones may be the same.
fn may_alias(module: &Module, written: u32, read: u32) -> bool {
    written == read || written < module.imported_globals && read < module.imported_globals
}

impl Translator<'_, '_> {
    /// The calls of a body that may be tested before loops.
    pub(super) fn hoistable(&self, function: u32) -> Rc<Hoistable> {
        let mut found = Hoistable::new();
        let body = self.module.body(function);
        let range = body.range();
        let in_body = |offset: &u32| range.contains(&u64::from(*offset));
        let wanted = |offset: &u32| self.input.plan.calls.get(offset).is_some_and(|plan| plan.exit && !plan.in_place);
        if !self.trusting
            || self.input.tier != Tier::Optimizing
            || !self.input.plan.calls.keys().any(|offset| in_body(offset) && wanted(offset))
        {
            return Rc::new(found);
        }
        /// An open control operator: the loop's offset, what stood in it, its calls.
        #[derive(Default)]
        struct Open {
            at: Option<u32>,
            changes: Changes,
            calls: Vec<HoistableCall>,
        }
        let mut open = vec![Open::default()];
        let mut source = None;
        let Ok(reader) = body.get_operators_reader() else { return Rc::new(found) };
        for item in reader.into_iter_with_offsets() {
            let Ok((operator, offset)) = item else { break };
            let offset = offset as u32;
            let Some(top) = open.last_mut() else { break };
            top.changes.operator(&operator);
            match operator {
                Operator::Block { .. } | Operator::If { .. } | Operator::TryTable { .. } | Operator::Try { .. } => {
                    open.push(Open::default())
                }
                Operator::Loop { .. } => open.push(Open { at: Some(offset), ..Open::default() }),
                Operator::End | Operator::Delegate { .. } => {
                    let Some(mut closed) = open.pop() else { break };
                    if let Some(at) = closed.at {
                        // A call stays with the outermost loop that it may be tested before, so it goes on outwards from here.
                        closed.calls.retain(|call| self.is_invariant(call, &closed.changes));
                        for calls in found.values_mut() {
                            calls.retain(|call| !closed.calls.iter().any(|outer| outer.offset == call.offset));
                        }
                        found.insert(at, closed.calls.clone());
                    }
                    if let Some(below) = open.last_mut() {
                        below.changes.add(&closed.changes);
                        below.calls.extend(closed.calls);
                    }
                }
                Operator::Call { function_index } => match expected(self.input, offset, Some(function_index)) {
                    Expected::Vanishes => top.changes.add(&changes_of(self, function_index, 0)),
                    _ => top.changes.calls = true,
                },
                Operator::CallIndirect { type_index, table_index } => {
                    match self.input.plan.calls.get(&offset) {
                        Some(plan) if plan.exit => {
                            for &callee in &plan.callees {
                                top.changes.add(&changes_of(self, callee, 0));
                            }
                        }
                        _ => top.changes.calls = true,
                    }
                    if let Some(source) = source
                        && wanted(&offset)
                    {
                        top.calls.push(HoistableCall { offset, table: table_index, ty: type_index, source });
                    }
                }
                Operator::CallRef { .. } => top.changes.calls = true,
                _ => {}
            }
            source = match operator {
                Operator::LocalGet { local_index } => Some(Source::Local(local_index)),
                Operator::GlobalGet { global_index } => Some(Source::Global(global_index)),
                Operator::I32Const { value } => Some(Source::Constant(value as u32)),
                _ => None,
            };
        }
        Rc::new(found)
    }

    fn is_invariant(&self, call: &HoistableCall, changes: &Changes) -> bool {
        let index = match call.source {
            Source::Local(local) => !changes.locals.contains(&local),
            Source::Global(global) => {
                !self.module.globals[global as usize].mutable
                    || !changes.calls && !changes.globals.iter().any(|&written| may_alias(self.module, written, global))
            }
            Source::Constant(_) => true,
        };
        index && (self.module.constant_table(call.table).is_some() || !changes.tables && !changes.calls)
    }

    /// Emits the tests that belong before the loop at `offset`, which begins here with its parameters on the stack.
    pub(super) fn test_before_loop(&mut self, offset: u32) -> Result {
        let hoistable = self.frame().hoistable.clone();
        let Some(calls) = hoistable.get(&offset) else { return Ok(()) };
        let function = self.frame().function;
        for &call in calls {
            let Some(plan) = self.input.plan.calls.get(&call.offset) else { continue };
            let &[callee] = &plan.callees[..] else { continue };
            if self.can_exit(0).is_err() || self.module.tables[call.table as usize].table64 || self.accept(call.ty, callee, &[]).is_err() {
                continue; // the call itself says why
            }
            let index = match call.source {
                Source::Local(local) => {
                    let variable = self.frame().locals[local as usize].0;
                    self.b.use_var(variable)
                }
                Source::Global(global) => self.global_get(global),
                Source::Constant(value) => self.iconst32(value),
            };
            let miss = self.b.create_block();
            self.test_callees(call.table, index, &[callee], miss, |_, _, _| Ok(()))?;
            // The builder stands where the callee is the one.
            let hit = self.b.create_block();
            self.b.ins().jump(hit, &[]);
            let scan = self.frame().scan.clone();
            let live = scan.loops.get(&offset).and_then(|facts| facts.live.as_ref());
            let guard = Guard { function, offset: call.offset, kind: GuardKind::HoistedCallee };
            self.fill_exit(miss, &Exit { guard, offset, live, operands: &[] }, |translator| translator.widened(index));
            self.b.seal_block(hit);
            self.enter(hit);
            self.facts.push(Fact { frame: self.frames.len() - 1, call, callee });
            self.applied(HOISTED, function, call.offset, None);
        }
        Ok(())
    }

    /// The callee that a test before a loop has established for the call at `offset` of the innermost frame.
    pub(super) fn established_callee(&self, offset: u32) -> Option<u32> {
        let frame = self.frames.len() - 1;
        let fact = self.facts.iter().find(|fact| fact.frame == frame && fact.call.offset == offset)?;
        Some(fact.callee)
    }

    pub(super) fn widened(&mut self, index: Value) -> Value {
        self.wide(index)
    }

    /// Notices an operator of the innermost frame that may change what a fact says. Calls are noticed where they are made.
    pub(super) fn check_facts(&mut self, operator: &Operator<'_>) {
        if self.facts.is_empty() {
            return;
        }
        let mut changes = Changes::default();
        changes.operator(operator);
        let frame = self.frames.len() - 1;
        let module = self.module;
        self.broken_fact |= self.facts.iter().any(|fact| {
            let index = match fact.call.source {
                Source::Local(local) => fact.frame == frame && changes.locals.contains(&local),
                Source::Global(global) => changes.globals.iter().any(|&written| may_alias(module, written, global)),
                Source::Constant(_) => false,
            };
            index || changes.tables && module.constant_table(fact.call.table).is_none()
        });
    }

    /// Notices a call of anything, the host included.
    pub(super) fn call_breaks_facts(&mut self) {
        let module = self.module;
        self.broken_fact |= self.facts.iter().any(|fact| {
            let global = matches!(fact.call.source, Source::Global(global) if module.globals[global as usize].mutable);
            global || module.constant_table(fact.call.table).is_none()
        });
    }

    /// Reports that a call planned to be inlined is.
    pub(super) fn applied_guarded(&mut self, offset: u32) {
        let function = self.frame().function;
        self.applied(GUARDED, function, offset, None);
    }
}

/// What a callee that is inlined may change. Its locals are its own.
fn changes_of(translator: &Translator<'_, '_>, callee: u32, depth: u32) -> Changes {
    let unknown = Changes { calls: true, ..Changes::default() };
    let (module, input) = (translator.module, translator.input);
    if depth > MOST_DEPTH || callee as usize >= module.functions.len() || module.defined(callee).is_none() {
        return unknown;
    }
    let mut changes = Changes::default();
    let Ok(reader) = module.body(callee).get_operators_reader() else { return unknown };
    for item in reader.into_iter_with_offsets() {
        let Ok((operator, offset)) = item else { return unknown };
        changes.operator(&operator);
        let offset = offset as u32;
        match operator {
            Operator::Call { function_index } => match expected(input, offset, Some(function_index)) {
                Expected::Vanishes => changes.add(&changes_of(translator, function_index, depth + 1)),
                _ => changes.calls = true,
            },
            Operator::CallIndirect { .. } => match input.plan.calls.get(&offset) {
                Some(plan) if plan.exit => {
                    for &callee in &plan.callees {
                        changes.add(&changes_of(translator, callee, depth + 1));
                    }
                }
                _ => changes.calls = true,
            },
            _ => {}
        }
    }
    changes.locals.clear();
    changes
}
