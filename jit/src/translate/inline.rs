//! Inlining in the translator: the callee's wasm is translated in place of the call.
//!
//! Two kinds. *Static*: a direct call of a small leaf function (no feedback needed). *Guarded*: a `call_indirect` for which the plan
//! names callees. The guard compares the table entry's reference with the address of our own `VmFunc` of that callee; equality implies
//! the signature (checked here, once) and the instance. Bounds, null, wrong signature and everything else falls to the generic call,
//! which checks again from scratch. So a plan that lies costs time, never a result.

use std::rc::Rc;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Opcode, Value, types};

use vm::code::Tier;
use vm::layout::table_entry;

use super::calls::IndirectCall;
use super::control::{Control, arguments};
use super::regions::Region;
use super::{Frame, Result, Translator, malformed};
use crate::compiler::Sabotage;
use crate::inlinable::{MOST_BYTES_STATIC, inlinable};
use crate::scan::scan;
use crate::types::clif_types;

/// Name of the guarded inlining in reports.
pub(super) const GUARDED: &str = "inline-guarded";
/// Name of the inlining of direct calls in reports.
const STATIC: &str = "inline-static";
/// Bytes of callees' bodies that one function takes in. The policy's default; bounds compile time under any plan.
const MOST_INLINED_BYTES: usize = 2000;
/// Callees tested at one call.
const MOST_TARGETS: usize = 4;

impl Translator<'_, '_> {
    /// Inlines a direct call if the callee is small and the tier allows it. The arguments are off the stack already; the results are on it
    /// afterwards.
    pub(super) fn try_inline_direct(&mut self, callee: u32, offset: u32, values: &[Value]) -> Result<bool> {
        if self.input.tier != Tier::Optimizing || !self.input.inline_static || self.module.defined(callee).is_none() {
            return Ok(false);
        }
        if self.body_bytes(callee) > MOST_BYTES_STATIC || inlinable(self.module, callee).is_err() || !self.takes(callee) {
            return Ok(false);
        }
        let next = self.result_block(self.module.functions[callee as usize]);
        self.inline_body(callee, values, next)?;
        self.resume_at(next);
        let function = self.frame().function;
        self.applied(STATIC, function, offset, None);
        Ok(true)
    }

    /// Inlines the callees the plan names behind guards. False if there are none; every refusal is reported.
    pub(super) fn try_inline_indirect(&mut self, call: &IndirectCall) -> Result<bool> {
        if self.input.tier != Tier::Optimizing || self.frames.len() != 1 {
            return Ok(false);
        }
        let Some(plan) = self.input.plan.calls.get(&call.offset) else { return Ok(false) };
        let function = self.frame().function;
        let mut targets: Vec<u32> = Vec::new();
        for &callee in &plan.callees {
            match self.accept(call, callee, &targets) {
                Ok(()) => targets.push(callee),
                Err(reason) => self.applied(GUARDED, function, call.offset, Some(format!("callee {callee}: {reason}"))),
            }
        }
        if targets.is_empty() {
            return Ok(false);
        }
        let next = self.result_block(call.ty);
        let generic = self.b.create_block();
        self.b.set_cold_block(generic);
        let outside = self.outside_table(call.table, call.index);
        let inside = self.b.create_block();
        self.b.ins().brif(outside, generic, &[], inside, &[]);
        self.b.seal_block(inside);
        self.enter(inside);
        // No Spectre guard: a word read past a mispredicted check is only compared with one address, fixed in the code, and leads nowhere.
        let entry = self.table_entry(call.table, call.index);
        let reference = self.load(Region::Table(call.table), types::I64, entry, table_entry::reference);
        for (nth, &callee) in targets.iter().enumerate() {
            let expected = self.function_reference(callee);
            let guard = if self.input.sabotage == Some(Sabotage::OpenGuard) { expected } else { reference };
            let other = self.b.ins().icmp(IntCC::NotEqual, guard, expected);
            let hit = self.b.create_block();
            let miss = if nth + 1 == targets.len() { generic } else { self.b.create_block() };
            self.b.ins().brif(other, miss, &[], hit, &[]);
            self.b.seal_block(hit);
            self.b.seal_block(miss);
            self.enter(hit);
            self.inline_body(callee, &call.arguments, next)?;
            self.applied(GUARDED, function, call.offset, None);
            self.enter(miss);
            self.reachable = true;
        }
        self.out_of_line = true;
        let results = self.indirect_call(call);
        self.out_of_line = false;
        self.b.ins().jump(next, &arguments(&results));
        self.resume_at(next);
        Ok(true)
    }

    /// Whether a callee may be inlined at an indirect call, or why not.
    fn accept(&self, call: &IndirectCall, callee: u32, taken: &[u32]) -> std::result::Result<(), String> {
        if callee as usize >= self.module.functions.len() {
            return Err("no such function".into());
        }
        if taken.contains(&callee) {
            return Err("named twice".into());
        }
        if taken.len() >= MOST_TARGETS {
            return Err(format!("more than {MOST_TARGETS} targets"));
        }
        if self.module.function_type(callee) != &self.module.types[call.ty as usize] {
            return Err("its type is not the call's".into());
        }
        inlinable(self.module, callee).map_err(|why| why.to_string())?;
        let bytes = taken.iter().map(|&callee| self.body_bytes(callee)).sum::<usize>() + self.body_bytes(callee);
        if self.inlined_bytes + bytes > MOST_INLINED_BYTES {
            return Err(format!("{bytes} bytes exceed what is left of {MOST_INLINED_BYTES}"));
        }
        Ok(())
    }

    fn takes(&self, callee: u32) -> bool {
        self.inlined_bytes + self.body_bytes(callee) <= MOST_INLINED_BYTES
    }

    fn body_bytes(&self, function: u32) -> usize {
        self.module.defined(function).map_or(0, |index| self.module.bodies[index].len())
    }

    /// A block with the results of a type as its parameters.
    fn result_block(&mut self, ty: u32) -> Block {
        let results = clif_types(self.module.types[ty as usize].results());
        let block = self.b.create_block();
        for ty in results {
            self.b.append_block_param(block, ty);
        }
        block
    }

    /// Goes on behind an inlined call: its results are pushed, if any way leads there.
    fn resume_at(&mut self, next: Block) {
        self.b.seal_block(next);
        self.enter(next);
        self.reachable = true;
        self.stack.extend_from_slice(self.b.block_params(next));
    }

    /// Translates a callee's body; all its ways out lead to `next`. Leaves the operand stack as it was.
    fn inline_body(&mut self, callee: u32, values: &[Value], next: Block) -> Result {
        let module = self.module;
        let ty = module.function_type(callee);
        let body = module.body(callee);
        let facts = scan(ty.params(), &body, module.memories.len(), None, &|_| false).map_err(|error| malformed(callee, &error))?;
        let location = self.b.srcloc();
        let height = self.stack.len();
        let locals = self.declare_locals(&facts.locals);
        self.frames.push(Frame {
            function: callee,
            inlined_at: Some(location.bits()),
            locals,
            scan: Rc::new(facts),
            control: self.control.len(),
        });
        self.define_locals(values);
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

    fn is_constant(&self, value: Value) -> bool {
        let dfg = &self.b.func.dfg;
        let defined = dfg.value_def(dfg.resolve_aliases(value)).inst();
        defined.is_some_and(|inst| matches!(dfg.insts[inst].opcode(), Opcode::Iconst | Opcode::F32const | Opcode::F64const))
    }

    /// Reports plan entries that named no call of this function.
    pub(super) fn refuse_unused_plan(&mut self) {
        let function = self.input.function;
        let mut unused: Vec<u32> = self.input.plan.calls.keys().copied().collect();
        unused.retain(|offset| !self.applied.iter().any(|applied| applied.offset == *offset && applied.name == GUARDED));
        unused.sort_unstable();
        for offset in unused {
            self.applied(GUARDED, function, offset, Some("no reachable call_indirect there".into()));
        }
    }
}
