//! A guest's own LWP instructions: calls of what it imports from the module `lwp`, compiled in place in both tiers
//! ([`vm::guest_lwp`] says what they mean).

use cranelift_codegen::ir::{InstBuilder, Value, types};
use smallvec::SmallVec;

use vm::builtin::Builtin;
use vm::guest_lwp::GuestLwp;

use super::Translator;
use crate::lwp_thunks::Instruction;
use crate::values::iconst;

impl Translator<'_, '_> {
    /// The results of a call, if it is one of an LWP instruction.
    pub(super) fn guest_lwp(&mut self, function: u32, arguments: &[Value]) -> Option<SmallVec<[Value; 8]>> {
        let instruction = GuestLwp::of_import(self.module, function)?;
        let &[data2, data1, flags] = arguments else { return None };
        let data2 = if instruction.is_wide() { data2 } else { self.b.ins().uextend(types::I64, data2) };
        // The instruction's immediate is part of its bytes, so only constant flags make one.
        let immediate = self.constant32(flags).filter(|_| self.input.lwp_instructions);
        let mut results = SmallVec::new();
        match (instruction.is_insert(), immediate) {
            (true, Some(imm)) => results.extend(self.lwp_instruction(Instruction::Lwpins, imm, data2, data1)),
            (true, None) => results.extend(self.builtin(Builtin::Programmed, &[flags, data1, data2])),
            (false, Some(imm)) => _ = self.lwp_instruction(Instruction::Lwpval, imm, data2, data1),
            (false, None) => self.count_value(|translator| {
                let imm16 = translator.b.ins().band_imm_u(flags, 0xffff);
                let (imm16, data1) = (translator.b.ins().uextend(types::I64, imm16), translator.b.ins().uextend(types::I64, data1));
                let data1 = translator.b.ins().ishl_imm_u(data1, 32);
                [translator.b.ins().bor(imm16, data1), data2]
            }),
        }
        Some(results)
    }

    fn constant32(&self, value: Value) -> Option<u32> {
        iconst(&self.b.func.dfg, value).map(|bits| bits as u32)
    }
}
