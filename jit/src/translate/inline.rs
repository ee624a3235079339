//! Inlining in the translator: the callee's wasm is translated in place of the call, at any depth up to [`MOST_DEPTH`].
//!
//! Three kinds. *Static*: a direct call of a small leaf function, or of the function itself, once, and behind that what it tests before it returns early
//! ([`early_return`](crate::early_return)); no feedback needed. *Direct*: a direct call that the plan names. *Guarded*: a
//! `call_indirect` for which the plan names callees. The guard is the cheapest test that decides: the index alone where nothing but element segments writes the table
//! ([`Module::constant_table`](vm::module::Module::constant_table)), else the table entry's reference against the address of our own `VmFunc` of that callee;
//! equality implies the signature (checked here, once) and the instance. Everything else (out of bounds, null, wrong signature, another
//! callee) either leaves the code at the call ([`exits`](super::exits)), or falls to the generic call, which checks again from scratch. So
//! a plan that lies costs time, never a result.

use std::rc::Rc;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Opcode, Value, types};

use lwp_feedback::layout::EventId;
use vm::code::{Guard, GuardKind, Tier};
use vm::layout::table_entry;

use super::calls::IndirectCall;
use super::control::{Control, arguments};
use super::exits::Exit;
use super::regions::Region;
use super::specialize::values_of;
use super::{Frame, Input, Result, Translator, malformed};
use crate::compiler::Sabotage;
use crate::early_return::{Step, early_return};
use crate::inlinable::{MOST_BYTES_RECURSIVE, inlinable, inlined_without_feedback};
use crate::scan::{Expected, Scan, Wanted, scan};
use crate::types::clif_types;

/// Name of the guarded inlining in reports.
pub(super) const GUARDED: &str = "inline-guarded";
/// Name of the inlining of direct calls that a plan names, in reports.
const DIRECT: &str = "inline-direct";
/// Name of the inlining of direct calls in reports.
const STATIC: &str = "inline-static";
/// Name of the inlining of a function into itself in reports.
const RECURSIVE: &str = "inline-recursive";
/// Name of the inlining of what a callee tests before it returns early, in reports.
const EARLY_RETURN: &str = "inline-early-return";
/// Name of the way out of a guard in reports.
pub(super) const SIDE_EXIT: &str = "side-exit";
/// Bytes of callees' bodies that one function takes in, if an eighth of its own is not more; bounds compile time under any plan. More than what the policy spends, which knows nothing of what is inlined in callees.
const MOST_INLINED_BYTES: usize = 6000;
/// See there.
const INLINED_SHARE: usize = 8;
/// Callees tested at one call.
const MOST_TARGETS: usize = 4;
/// Functions inlined in one another. A guess.
const MOST_DEPTH: usize = 5;
/// How often a function may stand in a chain of inlined ones.
const MOST_IN_CHAIN: usize = 2;
/// Entries of a table that are compared with an index.
const MOST_ENTRIES: usize = 2;

/// What is expected of a call. Wrong where a budget runs out; nothing but time depends on it, or it is checked.
pub(super) fn expected(input: &Input<'_>, offset: u32, direct: Option<u32>) -> Expected {
    if input.tier != Tier::Optimizing {
        return Expected::Stays;
    }
    match (direct, input.plan.calls.get(&offset)) {
        (Some(callee), _) if !values_of(input, callee).is_empty() => match inlinable(input.module, callee) {
            Ok(shape) if !shape.calls => Expected::Vanishes,
            Ok(_) => Expected::OutOfLine,
            Err(_) => Expected::Stays,
        },
        (Some(callee), _) if input.inline_static && inlined_without_feedback(input.module, callee) => Expected::Vanishes,
        (Some(callee), _) if is_planned(input, offset, callee) => match inlinable(input.module, callee) {
            Ok(shape) if !shape.calls => Expected::Vanishes,
            _ => Expected::Stays,
        },
        (Some(_), _) | (None, None) => Expected::Stays,
        // Of what is inlined something may call: only leaves vanish.
        (None, Some(plan))
            if plan.exit && plan.callees.iter().all(|&callee| inlinable(input.module, callee).is_ok_and(|shape| !shape.calls)) =>
        {
            Expected::Vanishes
        }
        (None, Some(_)) => Expected::OutOfLine,
    }
}

/// Whether the plan has a direct call inlined.
fn is_planned(input: &Input<'_>, offset: u32, callee: u32) -> bool {
    input.plan.calls.get(&offset).is_some_and(|plan| plan.callees == [callee])
}

impl Translator<'_, '_> {
    /// Inlines a direct call if the callee is small and the tier allows it. The arguments are off the stack already; the results are on it
    /// afterwards.
    pub(super) fn try_inline_direct(&mut self, callee: u32, offset: u32, values: &[Value]) -> Result<bool> {
        if self.input.tier != Tier::Optimizing || self.module.defined(callee).is_none() {
            return Ok(false);
        }
        if self.try_inline_specialized(callee, offset, values)? {
            return Ok(true);
        }
        if self.try_inline_whole(callee, offset, values)? {
            return Ok(true);
        }
        self.try_inline_early_return(callee, offset, values)
    }

    fn try_inline_whole(&mut self, callee: u32, offset: u32, values: &[Value]) -> Result<bool> {
        let function = self.frame().function;
        let planned = is_planned(self.input, offset, callee);
        if !self.input.inline_static && !planned {
            return Ok(false);
        }
        let name = if self.input.inline_static && inlined_without_feedback(self.module, callee) {
            STATIC
        } else if planned {
            if let Err(reason) = self.accept(self.module.functions[callee as usize], callee, &[]) {
                self.applied(DIRECT, function, offset, Some(reason));
                return Ok(false);
            }
            DIRECT
        } else if callee == function
            && self.body_bytes(callee) <= MOST_BYTES_RECURSIVE
            && inlinable(self.module, callee).is_ok_and(|shape| !shape.loops)
        {
            RECURSIVE
        } else {
            return Ok(false);
        };
        if !self.takes(self.body_bytes(callee)) || !self.chain_takes(callee) {
            return Ok(false);
        }
        let next = self.result_block(self.module.functions[callee as usize]);
        self.inline_body(callee, offset, values, next)?;
        self.resume_at(next);
        self.applied(name, function, offset, None);
        Ok(true)
    }

    /// Translates what a recursive function tests before it returns early in place of its call of itself, which is made only where the test fails.
    /// A recursion ends as often as it branches, so half of its calls and more return early. Of other functions' tests most look for what never happens (at every call
    /// they made Yosys 4 % slower).
    fn try_inline_early_return(&mut self, callee: u32, offset: u32, values: &[Value]) -> Result<bool> {
        let recursive = self.frames.iter().any(|frame| frame.function == callee);
        // Beside the expected way size counts; and what is counted as instructions would be counted twice.
        if !recursive || !self.input.inline_static || self.out_of_line || self.input.events.contains(EventId::INSTRUCTIONS) {
            return Ok(false);
        }
        let module = self.module;
        let Some(early) = early_return(module, callee) else { return Ok(false) };
        if !self.takes(early.bytes as usize) || self.frames.len() > MOST_DEPTH {
            return Ok(false);
        }
        let ty = module.functions[callee as usize];
        let (location, height) = (self.b.srcloc(), self.stack.len());
        let next = self.result_block(ty);
        self.push_inlined(callee, offset, Scan { locals: early.locals, ..Scan::default() });
        self.define_locals(values);
        self.inlined_bytes += early.bytes as usize;
        let mut open = Vec::new();
        self.straight_run(&early.test, &mut open)?;
        let condition = self.pop();
        self.stand_at(early.branch);
        let (returns, stays) = (self.b.create_block(), self.b.create_block());
        match early.returns_if {
            true => self.b.ins().brif(condition, returns, &[], stays, &[]),
            false => self.b.ins().brif(condition, stays, &[], returns, &[]),
        };
        self.b.seal_block(returns);
        self.b.seal_block(stays);
        self.enter(returns);
        self.count_inlined_call(callee);
        self.straight_run(&early.rest, &mut open)?;
        let results = self.stack.len() - module.types[ty as usize].results().len();
        let results = arguments(&self.stack[results..]);
        self.b.ins().jump(next, &results);
        self.enter(stays);
        self.stack.truncate(height);
        self.frames.pop();
        self.b.set_srcloc(location);
        let results = self.direct_call(callee, values);
        self.b.ins().jump(next, &arguments(&results));
        self.resume_at(next);
        let function = self.frame().function;
        self.applied(EARLY_RETURN, function, offset, None);
        Ok(true)
    }

    /// Operators without control. `open` are the heights of the operand stack at which the blocks around begin.
    fn straight_run(&mut self, steps: &[Step<'_>], open: &mut Vec<usize>) -> Result {
        for step in steps {
            match *step {
                Step::Operator(ref operator, offset) => self.positioned_operator(operator, offset)?,
                Step::Open => open.push(self.stack.len()),
                Step::Leave { blocks, results } => {
                    let outermost = open.len() - blocks;
                    let (height, results) = (open[outermost], self.stack.len() - results);
                    self.stack.drain(height..results);
                    open.truncate(outermost);
                }
            }
        }
        Ok(())
    }

    /// Inlines the callees the plan names behind guards. False if there are none; every refusal is reported.
    pub(super) fn try_inline_indirect(&mut self, call: &IndirectCall) -> Result<bool> {
        if self.input.tier != Tier::Optimizing {
            return Ok(false);
        }
        let Some(plan) = self.input.plan.calls.get(&call.offset) else { return Ok(false) };
        let (function, offset) = (self.frame().function, call.offset);
        if self.module.tables[call.table as usize].table64 {
            self.applied(GUARDED, function, offset, Some("a table with 64-bit indices".into()));
            return Ok(false);
        }
        let mut targets: Vec<u32> = Vec::new();
        for &callee in &plan.callees {
            match self.accept(call.ty, callee, &targets) {
                Ok(()) => targets.push(callee),
                Err(reason) => self.applied(GUARDED, function, offset, Some(format!("callee {callee}: {reason}"))),
            }
        }
        if targets.is_empty() {
            return Ok(false);
        }
        let mut exit = plan.exit;
        if exit && let Err(reason) = self.can_exit(call.arguments.len() + 1) {
            self.applied(SIDE_EXIT, function, offset, Some(reason));
            exit = false;
        }
        let next = self.result_block(call.ty);
        if exit
            && let Some(callee) = self.established_callee(offset)
            && targets == [callee]
        {
            self.drop_load(call.index);
            self.inline_body(callee, offset, &call.arguments, next)?;
            self.applied_guarded(offset);
            self.resume_at(next);
            return Ok(true);
        }
        let miss = self.b.create_block();
        self.test_callees(call.table, call.index, &targets, miss, |translator, callee, last| {
            translator.inline_body(callee, offset, &call.arguments, next)?;
            translator.applied_guarded(offset);
            translator.reachable = !last;
            Ok(())
        })?;
        self.reachable = true;
        if exit {
            let mut operands = call.arguments.clone();
            operands.push(call.index);
            let guard = Guard { function, offset, kind: GuardKind::Callee };
            let scan = self.frame().scan.clone();
            let live = scan.live_at_calls.get(&offset).and_then(Option::as_ref);
            self.fill_exit(miss, &Exit { guard, offset, live, operands: &operands }, |translator| translator.widened(call.index));
            self.applied(SIDE_EXIT, function, offset, None);
        } else {
            self.b.set_cold_block(miss);
            self.b.seal_block(miss);
            self.enter(miss);
            self.out_of_line = true;
            let results = self.indirect_call(call);
            self.out_of_line = false;
            self.b.ins().jump(next, &arguments(&results));
        }
        self.resume_at(next);
        Ok(true)
    }

    /// Tests an index into a table for callees in turn. Where it is the nth, `hit` is called with the builder in a block of its own; it is to end that block,
    /// but for one callee need not. What is none of them goes to `miss`, which is not sealed.
    pub(super) fn test_callees(
        &mut self,
        table: u32,
        index: Value,
        targets: &[u32],
        miss: Block,
        mut hit: impl FnMut(&mut Self, u32, bool) -> Result,
    ) -> Result {
        if let Some(fails) = self.forced_failure() {
            self.go_unless(fails, miss);
        }
        let entries: Option<Vec<Vec<u32>>> = targets.iter().map(|&callee| self.known_entries(table, callee)).collect();
        let reference = match entries {
            Some(_) => None,
            None => {
                let outside = self.outside_table(table, index);
                self.go_unless(outside, miss);
                // No Spectre guard: a word read past a mispredicted check is only compared with one address, fixed in the code, and leads nowhere.
                let entry = self.table_entry(table, index);
                Some(self.load(Region::Table(table), types::I64, entry, table_entry::reference))
            }
        };
        for (nth, &callee) in targets.iter().enumerate() {
            let other = match (&entries, reference) {
                (_, Some(reference)) => {
                    let expected = self.function_reference(callee);
                    let guard = if self.input.sabotage == Some(Sabotage::OpenGuard) { expected } else { reference };
                    self.b.ins().icmp(IntCC::NotEqual, guard, expected)
                }
                (Some(entries), None) => self.is_none_of(index, &entries[nth]),
                (None, None) => unreachable!("one of them was made"),
            };
            let last = nth + 1 == targets.len();
            let hit_block = self.new_block();
            let other_block = if last { miss } else { self.b.create_block() };
            self.b.ins().brif(other, other_block, &[], hit_block, &[]);
            self.b.seal_block(hit_block);
            self.enter(hit_block);
            hit(self, callee, last)?;
            if !last {
                self.b.seal_block(other_block);
                self.enter(other_block);
            }
        }
        Ok(())
    }

    /// Takes back the load of a value that nothing uses, if it is the last instruction: Cranelift keeps every load.
    fn drop_load(&mut self, value: Value) {
        let Some(block) = self.b.current_block() else { return };
        let Some(last) = self.b.func.layout.last_inst(block) else { return };
        let dfg = &self.b.func.dfg;
        if dfg.value_def(value).inst() == Some(last) && dfg.insts[last].opcode() == Opcode::Load {
            self.b.func.layout.remove_inst(last);
        }
    }

    /// Goes to `elsewhere` where `condition` holds, else on in a new block.
    fn go_unless(&mut self, condition: Value, elsewhere: Block) {
        let next = self.new_block();
        self.b.ins().brif(condition, elsewhere, &[], next, &[]);
        self.b.seal_block(next);
        self.enter(next);
    }

    fn is_none_of(&mut self, index: Value, entries: &[u32]) -> Value {
        let others: Vec<Value> = (entries.iter())
            .map(|&entry| {
                let entry = self.iconst32(entry);
                self.b.ins().icmp(IntCC::NotEqual, index, entry)
            })
            .collect();
        others.into_iter().reduce(|a, b| self.b.ins().band(a, b)).expect("a callee that is looked for has an entry")
    }

    /// The indices of a callee in a table that nothing writes, if they are few enough to be compared with.
    fn known_entries(&self, table: u32, callee: u32) -> Option<Vec<u32>> {
        let entries = self.module.constant_table(table)?;
        let found: Vec<u32> =
            (0..entries.len() as u32).filter(|&index| entries[index as usize] == Some(callee)).take(MOST_ENTRIES + 1).collect();
        (!found.is_empty() && found.len() <= MOST_ENTRIES).then_some(found)
    }

    /// Whether a callee may be inlined at an indirect call of a type, or why not.
    pub(super) fn accept(&self, ty: u32, callee: u32, taken: &[u32]) -> std::result::Result<(), String> {
        if callee as usize >= self.module.functions.len() {
            return Err("no such function".into());
        }
        if taken.contains(&callee) {
            return Err("named twice".into());
        }
        if taken.len() >= MOST_TARGETS {
            return Err(format!("more than {MOST_TARGETS} targets"));
        }
        if self.module.function_type(callee) != &self.module.types[ty as usize] {
            return Err("its type is not the call's".into());
        }
        inlinable(self.module, callee).map_err(|why| why.to_string())?;
        if !self.chain_takes(callee) {
            return Err(format!("more than {MOST_DEPTH} functions in one another, or {MOST_IN_CHAIN} times the same"));
        }
        let bytes = taken.iter().map(|&callee| self.body_bytes(callee)).sum::<usize>() + self.body_bytes(callee);
        if !self.takes(bytes) {
            return Err(format!("{bytes} bytes exceed what is left of {}", self.most_inlined()));
        }
        Ok(())
    }

    fn takes(&self, bytes: usize) -> bool {
        self.inlined_bytes + bytes <= self.most_inlined()
    }

    fn most_inlined(&self) -> usize {
        MOST_INLINED_BYTES.max(self.body_bytes(self.input.function) / INLINED_SHARE)
    }

    fn chain_takes(&self, callee: u32) -> bool {
        self.frames.len() <= MOST_DEPTH && self.frames.iter().filter(|frame| frame.function == callee).count() < MOST_IN_CHAIN
    }

    pub(super) fn body_bytes(&self, function: u32) -> usize {
        self.module.defined(function).map_or(0, |index| self.module.bodies[index].len())
    }

    /// A block with the results of a type as its parameters.
    pub(super) fn result_block(&mut self, ty: u32) -> Block {
        let results = clif_types(self.module.types[ty as usize].results());
        let block = self.b.create_block();
        for ty in results {
            self.b.append_block_param(block, ty);
        }
        block
    }

    /// Goes on behind an inlined call: its results are pushed, if any way leads there.
    pub(super) fn resume_at(&mut self, next: Block) {
        self.b.seal_block(next);
        self.enter(next);
        self.reachable = true;
        self.stack.extend_from_slice(self.b.block_params(next));
    }

    /// Translates a callee's body; all its ways out lead to `next`. Leaves the operand stack as it was.
    pub(super) fn inline_body(&mut self, callee: u32, offset: u32, values: &[Value], next: Block) -> Result {
        let module = self.module;
        let ty = module.function_type(callee);
        let body = module.body(callee);
        let input = self.input;
        let expected = |offset, callee| expected(input, offset, callee);
        let wanted = Wanted { around: None, live_at_calls: true, expected: &expected };
        let facts = scan(ty.params(), &body, module.memories.len(), &wanted).map_err(|error| malformed(callee, &error))?;
        let location = self.b.srcloc();
        let height = self.stack.len();
        self.push_inlined(callee, offset, facts);
        self.define_locals(values);
        self.count_inlined_call(callee);
        self.constants |= values.iter().any(|&value| self.is_constant(value));
        self.inlined_bytes += self.body_bytes(callee);
        let exit = self.b.create_block();
        let results = clif_types(ty.results());
        for &ty in &results {
            self.b.append_block_param(exit, ty);
        }
        self.control.push(Control::body(exit, results, height));
        self.body(&body)?;
        if self.reachable {
            let results = self.stack.split_off(height);
            self.b.ins().jump(next, &arguments(&results));
        }
        self.stack.truncate(height);
        self.reachable = false;
        self.frames.pop();
        self.b.set_srcloc(location);
        Ok(())
    }

    /// Begins a callee's frame at its call.
    fn push_inlined(&mut self, callee: u32, offset: u32, facts: Scan) {
        let locals = self.declare_locals(&facts.locals);
        let hoistable = self.hoistable(callee);
        self.frames.push(Frame {
            function: callee,
            inlined_at: Some(self.b.srcloc().bits()),
            called_at: offset,
            stack: self.stack.len(),
            locals,
            scan: Rc::new(facts),
            hoistable,
            control: self.control.len(),
        });
    }

    fn is_constant(&self, value: Value) -> bool {
        let dfg = &self.b.func.dfg;
        let defined = dfg.value_def(dfg.resolve_aliases(value)).inst();
        defined.is_some_and(|inst| matches!(dfg.insts[inst].opcode(), Opcode::Iconst | Opcode::F32const | Opcode::F64const))
    }

    /// Reports plan entries that named no call of this function.
    pub(super) fn refuse_unused_plan(&mut self) {
        let function = self.input.function;
        let mut unused: Vec<u32> = self.input.plan.calls.keys().copied().collect();
        unused.retain(|offset| {
            !self.applied.iter().any(|applied| applied.offset == *offset && [GUARDED, DIRECT, STATIC].contains(&applied.name))
        });
        unused.sort_unstable();
        for offset in unused {
            let empty = self.input.plan.calls.get(&offset).is_some_and(|targets| targets.callees.is_empty());
            let why = if empty { "no target named" } else { "no reachable call there that could be inlined" };
            self.applied(GUARDED, function, offset, Some(why.into()));
        }
    }

    /// Reports plan entries that an earlier one has taken the place of.
    pub(super) fn refuse_contradictions(&mut self) {
        let plan = self.input.plan;
        for &(name, offset) in &plan.contradictions {
            let name = if name == "inline" { GUARDED } else { name };
            self.applied(name, self.input.function, offset, Some("something else was decided there before".into()));
        }
    }
}
