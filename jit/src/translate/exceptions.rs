//! Exceptions: `try_table`, the older `try`, and what throws.
//!
//! A call in the body of a `try` is a `try_call`: its exceptional way leads to the *landing* of that `try`, with the thrown object. Nothing is tested where
//! nothing is thrown. A landing puts the context back (the frames below may have left another one), compares the object's tag with those of the clauses, and goes to what
//! catches it, to the landing of the `try` around, or throws on. [`vm::exception`] finds landings by return addresses, and knows the object's layout.
//!
//! A landing is made at the first call that needs one and filled where the body ends, with the operand stack of its beginning; all calls in the body come behind
//! that. The arms of a `try` hold the caught object on the operand stack, below the tag's values, as the interpreter's frames do.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, BlockCall, ExceptionTableData, ExceptionTableItem, InstBuilder, SigRef, StackSlotData, StackSlotKind, Value, types,
};
use smallvec::SmallVec;
use wasmparser::{BlockType, Catch, Operator, TryTable};

use vm::builtin::Builtin;
use vm::exception::object;
use vm::layout::SLOT_BYTES;
use vm::trap::TrapCode;

use super::calls::Values;
use super::control::{Control, Kind, arguments};
use super::regions::Region;
use super::{Result, Translator};
use crate::traps;
use crate::types::{Types, block_signature, clif_types, slots_of};

/// A `try` whose body is being translated.
pub(super) struct Body {
    /// Where exceptions of its body go, once something needs it.
    landing: Option<Block>,
    /// Of a `try_table`: its clauses.
    clauses: Vec<Catch>,
    /// Of a `try` that ends with `delegate`: the label from where what it throws goes on.
    delegate: Option<u32>,
}

/// A `try` of whose arms one is being translated.
pub(super) struct Arms {
    /// Where the tests of the arms behind go on, and the object there.
    untested: Option<(Block, Value)>,
}

impl Translator<'_, '_> {
    /// Translates these operators; false for all others. It sees the operators of unreachable code too, to keep track of nesting.
    pub(super) fn exception_operator(&mut self, operator: &Operator<'_>, offset: u32) -> Result<bool> {
        match operator {
            Operator::TryTable { try_table } => self.begin_try_table(try_table, offset),
            Operator::Try { blockty } => self.begin_try(*blockty, offset, Vec::new()),
            Operator::Catch { tag_index } => self.begin_arm(Some(*tag_index)),
            Operator::CatchAll => self.begin_arm(None),
            Operator::Delegate { relative_depth } => {
                if let Some(Control { kind: Kind::Try(body), .. }) = self.control.last_mut() {
                    body.delegate = Some(*relative_depth);
                }
                self.end();
            }
            Operator::Throw { .. } | Operator::ThrowRef | Operator::Rethrow { .. } if !self.reachable => {}
            Operator::Throw { tag_index } => {
                let values = self.pop_slice(self.module.types[self.module.tags[*tag_index as usize] as usize].params().len());
                let buffer = self.switch_buffer();
                let mut at = 0;
                for &value in &values {
                    self.store_slot(Region::Switch, value, buffer, at);
                    at += slots_of(self.b.func.dfg.value_type(value)) as i32 * SLOT_BYTES as i32;
                }
                let tag = self.iconst32(*tag_index);
                self.throw(Builtin::Throw, tag);
            }
            Operator::ThrowRef => {
                let object = self.pop();
                self.throw(Builtin::ThrowRef, object);
            }
            Operator::Rethrow { relative_depth } => {
                let height = self.control[self.control.len() - 1 - *relative_depth as usize].height;
                let object = self.stack[height];
                self.throw(Builtin::ThrowRef, object);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Throws; nothing follows.
    fn throw(&mut self, builtin: Builtin, what: Value) {
        let (entry, context, signature) = self.builtin_entry(builtin);
        let values = self.call_or_land(signature, entry, &[context, what]);
        debug_assert!(values.is_empty());
        // (Nothing that a test before a loop relied on changes: no other code runs.)
        self.forget_context();
        self.b.ins().trap(traps::to_clif(TrapCode::UnreachableCodeReached));
        self.reachable = false;
    }

    /// Calls; an exception goes to the innermost landing, if a `try` is open.
    pub(super) fn call_or_land(&mut self, signature: SigRef, entry: Value, values: &[Value]) -> Values {
        let Some(landing) = self.landing(self.control.len()) else {
            let call = self.b.ins().call_indirect(signature, entry, values);
            return Values::from_slice(self.b.inst_results(call));
        };
        let results: Types = self.b.func.dfg.signatures[signature].returns.iter().map(|result| result.value_type).collect();
        let next = self.new_block();
        for &ty in &results {
            self.b.append_block_param(next, ty);
        }
        let returned: SmallVec<[BlockArg; 4]> = (0..results.len() as u32).map(BlockArg::TryCallRet).collect();
        let pool = &mut self.b.func.dfg.value_lists;
        let normal = BlockCall::new(next, returned, pool);
        let exceptional = BlockCall::new(landing, [BlockArg::TryCallExn(0)], pool);
        let table = ExceptionTableData::new(signature, normal, [ExceptionTableItem::Default(exceptional)]);
        let table = self.b.func.dfg.exception_tables.push(table);
        self.b.ins().try_call_indirect(entry, values, table);
        self.b.seal_block(next);
        self.enter(next);
        Values::from_slice(self.b.block_params(next))
    }

    /// The landing of the innermost `try` among the first `count` control entries in whose body we are.
    fn landing(&mut self, count: usize) -> Option<Block> {
        let at = self.control[..count].iter().rposition(|control| matches!(control.kind, Kind::Try(_)))?;
        let Kind::Try(body) = &self.control[at].kind else { return None };
        if let Some(landing) = body.landing {
            return Some(landing);
        }
        let landing = self.b.create_block();
        self.b.append_block_param(landing, types::I64);
        self.b.set_cold_block(landing);
        let Kind::Try(body) = &mut self.control[at].kind else { return None };
        body.landing = Some(landing);
        Some(landing)
    }

    fn begin_try_table(&mut self, table: &TryTable, offset: u32) {
        self.begin_try(table.ty, offset, table.catches.clone());
    }

    fn begin_try(&mut self, ty: BlockType, offset: u32, clauses: Vec<Catch>) {
        if !self.reachable {
            let height = self.stack.len();
            self.control.push(Control { kind: Kind::Dead, height, results: Types::new(), next: None, branched: false, around: false });
            return;
        }
        let (params, results) = block_signature(self.module, ty);
        let around = self.save_around(offset);
        let next = self.block_with(&results);
        let height = self.stack.len() - params.len();
        let kind = Kind::Try(Body { landing: None, clauses, delegate: None });
        self.control.push(Control { kind, height, results, next: Some(next), branched: false, around });
    }

    /// Where the context is kept for landings: it is put there where the function begins.
    pub(super) fn keep_context(&mut self) {
        let slot = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3));
        let place = self.b.ins().stack_addr(types::I64, slot, 0);
        let context = self.entry_context;
        self.store(Region::Frame, context, place, 0);
        self.kept_context = Some(slot);
    }

    /// Moves the builder to a landing, with the operand stack of the body's beginning; the object and its tag.
    fn enter_landing(&mut self, landing: Block, height: usize, around: bool) -> (Value, Value) {
        self.b.seal_block(landing);
        self.enter(landing);
        self.stack.truncate(height);
        if around {
            self.reload_around(height);
        }
        let object = self.b.block_params(landing)[0];
        let slot = self.kept_context.expect("a function with a try keeps its context");
        let place = self.b.ins().stack_addr(types::I64, slot, 0);
        let context = self.load(Region::Frame, types::I64, place, 0);
        self.b.ins().set_pinned_reg(context);
        self.forget_context();
        let tag = self.load(Region::Thrown, types::I64, object, object::TAG);
        (object, tag)
    }

    /// The end of a `try_table`'s body, or of a `try` without arms, whose entry is off the control stack: its landing, if it has one.
    pub(super) fn end_try_body(&mut self, body: &Body, height: usize, around: bool) {
        let Some(landing) = body.landing else { return };
        let kept = self.stack.clone();
        let (object, tag) = self.enter_landing(landing, height, around);
        for catch in &body.clauses {
            let (index, label, reference) = match *catch {
                Catch::One { tag, label } => (Some(tag), label, false),
                Catch::OneRef { tag, label } => (Some(tag), label, true),
                Catch::All { label } => (None, label, false),
                Catch::AllRef { label } => (None, label, true),
            };
            let other = index.map(|index| self.unless_tag(index, tag));
            let height = self.stack.len();
            if let Some(index) = index {
                self.push_thrown(index, object);
            }
            if reference {
                self.keep(object);
                self.push(object);
            }
            let (target, count) = self.target(label);
            let values = arguments(&self.stack[self.stack.len() - count..]);
            self.b.ins().jump(target, &values);
            self.stack.truncate(height);
            match other {
                Some(other) => self.enter(other),
                None => {
                    self.stack = kept;
                    return;
                }
            }
        }
        self.throw_on(object, self.control.len() - body.delegate.unwrap_or(0) as usize);
        self.stack = kept;
    }

    /// Goes on where the tag is that one, in a new block; the block for all others, which is sealed.
    fn unless_tag(&mut self, index: u32, tag: Value) -> Block {
        let context = self.b.ins().get_pinned_reg(types::I64);
        let own = self.load_constant(types::I64, context, self.module.offsets().tag(index));
        let same = self.b.ins().icmp(IntCC::Equal, tag, own);
        let (hit, other) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(other);
        self.b.ins().brif(same, hit, &[], other, &[]);
        self.b.seal_block(hit);
        self.b.seal_block(other);
        self.enter(hit);
        other
    }

    /// Pushes what an exception with a tag carries.
    fn push_thrown(&mut self, index: u32, object: Value) {
        let module = self.module;
        let mut at = object::VALUES;
        for ty in clif_types(module.types[module.tags[index as usize] as usize].params()) {
            let value = self.load_slot(Region::Thrown, ty, object, at);
            self.push(value);
            at += slots_of(ty) as i32 * SLOT_BYTES as i32;
        }
    }

    /// A reference to the object may stay.
    fn keep(&mut self, object: Value) {
        let one = self.address_const(1);
        self.store(Region::Thrown, one, object, object::KEPT);
    }

    /// To the innermost landing among the first `count` control entries, or out of the function.
    fn throw_on(&mut self, object: Value, count: usize) {
        if let Some(landing) = self.landing(count) {
            self.b.ins().jump(landing, &[BlockArg::Value(object)]);
            return;
        }
        self.builtin(Builtin::ThrowRef, &[object]);
        self.b.ins().trap(traps::to_clif(TrapCode::UnreachableCodeReached));
    }

    /// An arm of the innermost `try` begins.
    fn begin_arm(&mut self, tag: Option<u32>) {
        let top = self.control.last_mut().expect("a catch is inside a try");
        if matches!(top.kind, Kind::Dead) {
            return;
        }
        let (height, around, next, count) = (top.height, top.around, top.next.expect("a try has a next block"), top.results.len());
        if self.reachable {
            top.branched = true;
            let values = arguments(&self.stack[self.stack.len() - count..]);
            self.b.ins().jump(next, &values);
        }
        let kind = std::mem::replace(&mut self.control.last_mut().expect("just seen").kind, Kind::Catch(Arms { untested: None }));
        let untested = match kind {
            Kind::Try(Body { landing: Some(landing), .. }) => {
                let (object, _) = self.enter_landing(landing, height, around);
                Some(object)
            }
            Kind::Catch(Arms { untested: Some((block, object)) }) => {
                self.enter(block);
                self.stack.truncate(height);
                if around {
                    self.reload_around(height);
                }
                Some(object)
            }
            _ => None,
        };
        self.stack.truncate(height);
        self.reachable = untested.is_some();
        let Some(object) = untested else { return };
        if let Some(index) = tag {
            let found = self.load(Region::Thrown, types::I64, object, object::TAG);
            let other = self.unless_tag(index, found);
            if let Some(Control { kind: Kind::Catch(arms), .. }) = self.control.last_mut() {
                arms.untested = Some((other, object));
            }
        }
        if self.module.rethrows(self.frame().function) {
            self.keep(object);
        }
        self.push(object);
        if let Some(index) = tag {
            self.push_thrown(index, object);
        }
    }

    /// The end of a `try` with arms, whose entry is off the control stack: what none of them catches goes on.
    pub(super) fn end_arms(&mut self, arms: &Arms, height: usize) {
        let Some((block, object)) = arms.untested else { return };
        let kept = self.stack.clone();
        self.enter(block);
        self.stack.truncate(height);
        self.throw_on(object, self.control.len());
        self.stack = kept;
    }
}
