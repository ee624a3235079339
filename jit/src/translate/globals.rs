//! Locals and globals.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use wasmparser::Operator;

use vm::layout::GlobalPlace;

use super::Translator;
use super::regions::Region;
use crate::types::clif_type;

impl Translator<'_, '_> {
    /// Translates `local.*` and `global.*`; false for all others.
    pub(super) fn variable_operator(&mut self, operator: &Operator<'_>) -> bool {
        match *operator {
            Operator::LocalGet { local_index } => {
                let variable = self.frame().locals[local_index as usize].0;
                let value = self.b.use_var(variable);
                self.push(value);
            }
            Operator::LocalSet { local_index } => {
                let value = self.pop();
                let variable = self.frame().locals[local_index as usize].0;
                self.b.def_var(variable, value);
            }
            Operator::LocalTee { local_index } => {
                let value = self.pop();
                let variable = self.frame().locals[local_index as usize].0;
                self.b.def_var(variable, value);
                self.push(value);
            }
            Operator::GlobalGet { global_index } => {
                let value = self.global_get(global_index);
                self.push(value);
            }
            Operator::GlobalSet { global_index } => {
                let value = self.pop();
                let (base, offset) = self.global_place(global_index, true);
                self.store(Region::Global(global_index), value, base, offset);
            }
            _ => return false,
        }
        true
    }

    /// A global's value.
    pub(super) fn global_get(&mut self, index: u32) -> Value {
        let ty = self.module.globals[index as usize];
        let (base, offset) = self.global_place(index, ty.mutable);
        if ty.mutable {
            self.load(Region::Global(index), clif_type(ty.content_type), base, offset)
        } else {
            self.load_invariant(clif_type(ty.content_type), base, offset)
        }
    }

    /// Address of a global. Small values are stored as they are: the upper half of their slot is zero from the start.
    fn global_place(&mut self, index: u32, mutable: bool) -> (Value, i32) {
        match self.module.offsets().global(index) {
            GlobalPlace::Inline(offset) if mutable => (self.context(), offset),
            GlobalPlace::Inline(offset) => (self.invariant_context(), offset),
            GlobalPlace::Pointer(offset) => {
                let context = self.invariant_context();
                (self.load_invariant(types::I64, context, offset), 0)
            }
        }
    }

    /// An integer constant as wide as an address.
    pub(super) fn address_const(&mut self, value: i64) -> Value {
        self.b.ins().iconst(types::I64, value)
    }
}
