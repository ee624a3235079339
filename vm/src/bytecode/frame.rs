//! Where a function's locals and operand stack lie in its frame: the canonical frame, which every tier builds at a switch.
//!
//! Locals first (parameters, then declared ones), then the operand stack from its bottom. A v128 takes two slots, every other value one.
//! So the slot of local `i`, and of the stack value above a given list of types, is a pure function of the module.

use super::op::Slot;
use crate::module::Module;
use wasmparser::ValType;

/// Slots of one value of a type.
pub fn slots_of(ty: ValType) -> u32 {
    match ty {
        ValType::V128 => 2,
        _ => 1,
    }
}

/// Slots of a list of values.
pub fn slots_of_all(types: &[ValType]) -> u32 {
    types.iter().map(|&ty| slots_of(ty)).sum()
}

/// The canonical frame of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameLayout {
    locals: Box<[(Slot, ValType)]>,
    param_slots: u32,
    stack_base: u32,
}

impl FrameLayout {
    /// Reads the types of a defined function's parameters and locals.
    pub fn new(module: &Module, function: u32) -> FrameLayout {
        let params = module.function_type(function).params();
        let mut locals = Vec::with_capacity(params.len());
        let mut next = 0;
        let mut add = |ty: ValType| {
            locals.push((Slot(next), ty));
            next += slots_of(ty);
        };
        params.iter().copied().for_each(&mut add);
        let reader = module.body(function).get_locals_reader().expect("the body was validated");
        for group in reader {
            let (count, ty) = group.expect("the body was validated");
            (0..count).for_each(|_| add(ty));
        }
        FrameLayout { locals: locals.into(), param_slots: slots_of_all(params), stack_base: next }
    }

    /// Slot of local `index` (parameters included).
    pub fn local_slot(&self, index: u32) -> Slot {
        self.locals[index as usize].0
    }

    /// Type of local `index`.
    pub fn local_type(&self, index: u32) -> ValType {
        self.locals[index as usize].1
    }

    /// How many locals, parameters included.
    pub fn local_count(&self) -> u32 {
        self.locals.len() as u32
    }

    /// Slots of the parameters: the first ones.
    pub fn param_slots(&self) -> u32 {
        self.param_slots
    }

    /// Slot of the bottom of the operand stack: one past the locals' last.
    pub fn stack_base(&self) -> Slot {
        Slot(self.stack_base)
    }

    /// Slot of the stack value that lies on top of values of these types.
    pub fn stack_slot(&self, below: &[ValType]) -> Slot {
        Slot(self.stack_base + slots_of_all(below))
    }
}
