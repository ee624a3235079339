//! Calls: direct, imported, indirect.
//!
//! Nothing holds the address of code: an entry is loaded from its `VmFunc` at each call, so a recompiled function replaces its
//! predecessor at the next call. A callee of the same instance finds the context where it is. For any other, the caller leaves its own
//! context in the callee's and switches the pinned register over the call (*foreign call*).

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, SigRef, StackSlot, StackSlotData, StackSlotKind, Value, types};
use lwp_feedback::class::SiteClass;
use smallvec::SmallVec;
use wasmparser::Operator;

use vm::layout::{FunctionPlace, context, func, table_entry};
use vm::trap::TrapCode;

use super::control::arguments;
use super::regions::Region;
use super::{Result, Translator};
use crate::traps;
use crate::types::clif_types;

/// Values of a call.
pub(super) type Values = SmallVec<[Value; 8]>;

/// A checked `call_indirect`.
pub(super) struct IndirectCall {
    pub table: u32,
    pub ty: u32,
    /// Byte offset of the operator.
    pub offset: u32,
    pub index: Value,
    pub arguments: Values,
}

impl Translator<'_, '_> {
    /// Translates call operators; false for all others.
    pub(super) fn call_operator(&mut self, operator: &Operator<'_>, offset: u32) -> Result<bool> {
        match *operator {
            Operator::Call { function_index } => {
                let ty = self.module.functions[function_index as usize];
                let arguments = self.pop_slice(self.module.types[ty as usize].params().len());
                if self.try_inline_direct(function_index, offset, &arguments)? {
                    return Ok(true);
                }
                self.probe_direct_call(function_index);
                let results = match self.guest_lwp(function_index, &arguments) {
                    Some(results) => results,
                    None => self.direct_call(function_index, &arguments),
                };
                self.stack.extend_from_slice(&results);
            }
            Operator::CallIndirect { type_index, table_index } => {
                let index = self.pop();
                let arguments = self.pop_slice(self.module.types[type_index as usize].params().len());
                let call = IndirectCall { table: table_index, ty: type_index, offset, index, arguments };
                if !self.try_inline_indirect(&call)? {
                    let results = self.indirect_call(&call);
                    self.stack.extend_from_slice(&results);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The id of a type's signature: from the module's list, since ids differ from process to process and code may outlive one.
    pub(super) fn signature_id(&mut self, ty: u32) -> Value {
        let context = self.invariant_context();
        let ids = self.load_invariant(types::I64, context, context::signatures);
        let id = self.load_invariant(types::I32, ids, ty as i32 * 4);
        self.b.ins().uextend(types::I64, id)
    }

    pub(super) fn direct_call(&mut self, function: u32, arguments: &[Value]) -> Values {
        let signature = self.wasm_signature(self.module.functions[function as usize]);
        match self.module.offsets().function(function) {
            FunctionPlace::Inline(offset) => {
                let context = self.context();
                let entry = self.load(Region::Code, types::I64, context, offset + func::entry);
                self.call(signature, entry, arguments)
            }
            // An import was made before this instance, so it lives in another context.
            FunctionPlace::Pointer(offset) => {
                let context = self.context();
                let callee = self.load_constant(types::I64, context, offset);
                let callee_context = self.load_constant(types::I64, callee, func::context);
                self.foreign_call(signature, callee, callee_context, arguments)
            }
        }
    }

    /// The generic indirect call, with all its checks.
    pub(super) fn indirect_call(&mut self, call: &IndirectCall) -> Values {
        let callee = self.checked_callee(call);
        self.call_reference(call.ty, callee, &call.arguments)
    }

    /// The callee of an indirect call, with all its checks.
    pub(super) fn checked_callee(&mut self, call: &IndirectCall) -> Value {
        let outside = self.outside_table(call.table, call.index);
        self.b.ins().trapnz(outside, traps::to_clif(TrapCode::TableOutOfBounds));
        let entry = self.table_entry_within(call.table, call.index, outside);
        let signature = self.load(Region::Table(call.table), types::I64, entry, table_entry::signature);
        let expected = self.signature_id(call.ty);
        let mismatch = self.b.ins().icmp(IntCC::NotEqual, signature, expected);
        // A null entry's signature is 0, which is no function's: one compare serves both checks, the cold side tells them apart.
        let (cold, hot) = self.split_cold(mismatch);
        self.enter(cold);
        let reference = self.load(Region::Table(call.table), types::I64, entry, table_entry::reference);
        self.b.ins().trapz(reference, traps::to_clif(TrapCode::IndirectCallToNull));
        self.b.ins().trap(traps::to_clif(TrapCode::BadSignature));
        self.b.seal_block(hot);
        self.enter(hot);
        let callee = self.load(Region::Table(call.table), types::I64, entry, table_entry::reference);
        if self.wants_sites() {
            self.value_site(SiteClass::CallTarget.imm16(0), call.offset, |translator| translator.function_number(callee));
        }
        self.probe_call(callee);
        callee
    }

    /// What an LWPVAL record says of a callee: its function index, all ones for one of another instance.
    pub(super) fn function_number(&mut self, callee: Value) -> Value {
        let context = self.context();
        let callee_context = self.load_constant(types::I64, callee, func::context);
        let index = self.load_constant(types::I32, callee, func::index);
        let index = self.b.ins().uextend(types::I64, index);
        let foreign = self.address_const(-1);
        let same = self.b.ins().icmp(IntCC::Equal, callee_context, context);
        self.b.ins().select(same, index, foreign)
    }

    /// Calls through a non-null reference of the right type.
    pub(super) fn call_reference(&mut self, ty: u32, callee: Value, values: &[Value]) -> Values {
        let signature = self.wasm_signature(ty);
        let results = clif_types(self.module.types[ty as usize].results());
        let context = self.context();
        let callee_context = self.load_constant(types::I64, callee, func::context);
        let foreign = self.b.ins().icmp(IntCC::NotEqual, callee_context, context);
        let (cold, hot) = self.split_cold(foreign);
        let next = self.new_block();
        for &ty in &results {
            self.b.append_block_param(next, ty);
        }
        self.enter(cold);
        let returned = self.foreign_call(signature, callee, callee_context, values);
        self.b.ins().jump(next, &arguments(&returned));
        self.b.seal_block(hot);
        self.enter(hot);
        let entry = self.load(Region::Code, types::I64, callee, func::entry);
        let returned = self.call(signature, entry, values);
        self.b.ins().jump(next, &arguments(&returned));
        self.b.seal_block(next);
        self.enter(next);
        Values::from_slice(self.b.block_params(next))
    }

    fn foreign_call(&mut self, signature: SigRef, callee: Value, callee_context: Value, arguments: &[Value]) -> Values {
        let ours = self.context();
        self.store(Region::Context, ours, callee_context, context::caller);
        // Kept on the frame, not in a register: a register kept over this call, which is mostly out of line, would be saved and
        // restored by every run of the function.
        let slot = self.caller_slot();
        let slot = self.b.ins().stack_addr(types::I64, slot, 0);
        self.store(Region::Frame, ours, slot, 0);
        let entry = self.load(Region::Code, types::I64, callee, func::entry);
        self.b.ins().set_pinned_reg(callee_context);
        let results = self.call(signature, entry, arguments);
        let ours = self.load(Region::Frame, types::I64, slot, 0);
        self.b.ins().set_pinned_reg(ours);
        results
    }

    fn caller_slot(&mut self) -> StackSlot {
        if let Some(slot) = self.caller_slot {
            return slot;
        }
        let slot = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3));
        self.caller_slot = Some(slot);
        slot
    }

    fn call(&mut self, signature: SigRef, entry: Value, arguments: &[Value]) -> Values {
        let results = self.call_or_land(signature, entry, arguments);
        self.forget_context();
        self.call_breaks_facts();
        results
    }
}
