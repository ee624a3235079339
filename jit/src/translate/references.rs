//! Typed function references and tail calls.
//!
//! A callee of the same context takes the frame over by `return_call`. For any other the context must be put back behind the call by somebody; who that
//! is the machine knows ([`Builtin::TailCall`]): the arguments go to the switch buffer and the code it names does the rest. Neither leaves a frame.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use wasmparser::Operator;

use vm::builtin::Builtin;
use vm::layout::{FunctionPlace, SLOT_BYTES, func};
use vm::trap::TrapCode;

use super::calls::IndirectCall;
use super::control::arguments;
use super::regions::Region;
use super::{Result, Translator};
use crate::traps;
use crate::types::slots_of;

impl Translator<'_, '_> {
    /// Translates these operators; false for all others.
    pub(super) fn reference_operator(&mut self, operator: &Operator<'_>, offset: u32) -> Result<bool> {
        match *operator {
            Operator::CallRef { type_index } => {
                let callee = self.pop_callee();
                let arguments = self.pop_slice(self.module.types[type_index as usize].params().len());
                let results = self.call_reference(type_index, callee, &arguments);
                self.stack.extend_from_slice(&results);
            }
            Operator::RefAsNonNull => {
                let value = self.pop_callee();
                self.push(value);
            }
            Operator::BrOnNull { relative_depth } => {
                let reference = self.pop();
                let is_null = self.is_null(reference);
                self.branch_if(is_null, relative_depth);
                self.push(reference);
            }
            Operator::BrOnNonNull { relative_depth } => {
                let reference = *self.stack.last().expect("validation keeps the operand stack balanced");
                let null = self.address_const(0);
                let is_some = self.b.ins().icmp(IntCC::NotEqual, reference, null);
                self.branch_if(is_some, relative_depth);
                self.pop();
            }
            Operator::ReturnCall { function_index } => {
                let ty = self.module.functions[function_index as usize];
                let arguments = self.pop_slice(self.module.types[ty as usize].params().len());
                self.tail_call_direct(function_index, ty, &arguments);
            }
            Operator::ReturnCallIndirect { type_index, table_index } => {
                let index = self.pop();
                let arguments = self.pop_slice(self.module.types[type_index as usize].params().len());
                let call = IndirectCall { table: table_index, ty: type_index, offset, index, arguments };
                let callee = self.checked_callee(&call);
                self.tail_call_reference(type_index, callee, &call.arguments);
            }
            Operator::ReturnCallRef { type_index } => {
                let callee = self.pop_callee();
                let arguments = self.pop_slice(self.module.types[type_index as usize].params().len());
                self.tail_call_reference(type_index, callee, &arguments);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Pops a reference that must not be null.
    fn pop_callee(&mut self) -> Value {
        let callee = self.pop();
        self.b.ins().trapz(callee, traps::to_clif(TrapCode::NullReference));
        callee
    }

    fn is_null(&mut self, reference: Value) -> Value {
        let null = self.address_const(0);
        self.b.ins().icmp(IntCC::Equal, reference, null)
    }

    /// A branch under a condition that no record is kept of; goes on where it does not hold.
    fn branch_if(&mut self, condition: Value, depth: u32) {
        let (target, count) = self.target(depth);
        let values = arguments(&self.stack[self.stack.len() - count..]);
        let next = self.b.create_block();
        self.b.ins().brif(condition, target, &values, next, &[]);
        self.b.seal_block(next);
        self.enter(next);
    }

    fn tail_call_direct(&mut self, function: u32, ty: u32, values: &[Value]) {
        let context = self.context();
        self.probe_tail_call();
        match self.module.offsets().function(function) {
            FunctionPlace::Inline(offset) => {
                let signature = self.wasm_signature(ty);
                let entry = self.load(Region::Code, types::I64, context, offset + func::entry);
                self.b.ins().return_call_indirect(signature, entry, values);
            }
            FunctionPlace::Pointer(offset) => {
                let callee = self.load_constant(types::I64, context, offset);
                self.tail_call_elsewhere(callee, values);
            }
        }
        self.reachable = false;
    }

    /// Calls a function of the right type in place of this frame.
    fn tail_call_reference(&mut self, ty: u32, callee: Value, values: &[Value]) {
        let context = self.context();
        self.probe_tail_call();
        let callee_context = self.load_constant(types::I64, callee, func::context);
        let foreign = self.b.ins().icmp(IntCC::NotEqual, callee_context, context);
        let (cold, hot) = self.split_cold(foreign);
        self.enter(cold);
        self.tail_call_elsewhere(callee, values);
        self.b.seal_block(hot);
        self.enter(hot);
        let signature = self.wasm_signature(ty);
        let entry = self.load(Region::Code, types::I64, callee, func::entry);
        self.b.ins().return_call_indirect(signature, entry, values);
        self.reachable = false;
    }

    /// Calls a function of any context in place of this frame.
    fn tail_call_elsewhere(&mut self, callee: Value, values: &[Value]) {
        let buffer = self.switch_buffer();
        self.store(Region::Switch, callee, buffer, 0);
        let mut at = SLOT_BYTES as i32;
        for &value in values {
            self.store_slot(Region::Switch, value, buffer, at);
            at += slots_of(self.b.func.dfg.value_type(value)) as i32 * SLOT_BYTES as i32;
        }
        let code = self.builtin(Builtin::TailCall, &[callee]).expect("a tail call yields an address");
        self.go_to(code);
    }
}
