//! Reading the context and what hangs off it, and calling builtins through it.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, SigRef, Type, Value, types};
use smallvec::SmallVec;

use vm::builtin::Builtin;
use vm::code::Tier;
use vm::layout::context;

use super::Translator;
use super::regions::Region;
use crate::types::{builtin_signature, keeps_registers, takes_context, wasm_signature};

impl Translator<'_, '_> {
    /// The context, as cheap as it is to be had here: one value for a function without calls or a loop without calls, else read
    /// once per block and call (a move from the pinned register is cheaper than a value kept over a call, or in tier 1 over a block, where it goes to the stack).
    pub(super) fn context(&mut self) -> Value {
        if self.input.tier != Tier::Baseline {
            if !self.frames[0].scan.hot_calls {
                return self.entry_context;
            }
            if let Some(value) = self.loop_context {
                return value;
            }
        }
        let block = self.b.current_block().expect("translation stands in a block");
        if let Some((at, value)) = self.block_context
            && at == block
        {
            return value;
        }
        let value = self.b.ins().get_pinned_reg(types::I64);
        self.block_context = Some((block, value));
        value
    }

    /// The context for loads that never change and may leave loops: tier 2 merges and hoists them, which needs one common base.
    pub(super) fn invariant_context(&mut self) -> Value {
        match self.input.tier {
            Tier::Baseline | Tier::Instrumented => self.context(),
            Tier::Optimizing => self.entry_context,
        }
    }

    /// To be called after every call: what was read from the pinned register before it is not to be kept over it.
    pub(super) fn forget_context(&mut self) {
        self.block_context = None;
    }

    /// Flags of an access that cannot fault, in `region`: aligned, unless it is of a vector, since a slot has 8 bytes.
    pub(super) fn flags(&mut self, region: Region, ty: Type) -> MemFlagsData {
        let region = self.regions.get(self.b.func, self.module, region);
        let flags = if ty.is_vector() { MemFlagsData::new().with_notrap() } else { MemFlagsData::trusted() };
        flags.with_alias_region(Some(region))
    }

    /// Loads a field that can change.
    pub(super) fn load(&mut self, region: Region, ty: Type, base: Value, offset: i32) -> Value {
        let flags = self.flags(region, ty);
        self.b.ins().load(ty, flags, base, offset)
    }

    /// Loads a field that never changes while the function runs, where it stands.
    pub(super) fn load_constant(&mut self, ty: Type, base: Value, offset: i32) -> Value {
        let flags = self.flags(Region::Context, ty).with_readonly();
        self.b.ins().load(ty, flags, base, offset)
    }

    /// Loads a field that never changes and is readable wherever its base is known: it may leave loops.
    pub(super) fn load_invariant(&mut self, ty: Type, base: Value, offset: i32) -> Value {
        let flags = self.flags(Region::Context, ty).with_readonly().with_can_move();
        self.b.ins().load(ty, flags, base, offset)
    }

    pub(super) fn store(&mut self, region: Region, value: Value, base: Value, offset: i32) {
        let flags = self.flags(region, self.b.func.dfg.value_type(value));
        self.b.ins().store(flags, value, base, offset);
    }

    pub(super) fn iconst32(&mut self, value: u32) -> Value {
        self.b.ins().iconst(types::I32, i64::from(value))
    }

    /// A builtin's code, its first argument and its signature.
    pub(super) fn builtin_entry(&mut self, builtin: Builtin) -> (Value, Value, SigRef) {
        let context = self.b.ins().get_pinned_reg(types::I64);
        let table = self.load_constant(types::I64, context, context::builtins);
        let entry = self.load_constant(types::I64, table, builtin.offset());
        (entry, context, self.builtin_signature(builtin))
    }

    /// Calls a builtin with the context, if it takes it, and `arguments`.
    pub(super) fn builtin(&mut self, builtin: Builtin, arguments: &[Value]) -> Option<Value> {
        // Read here rather than kept: a builtin is called from cold code, and should keep nothing alive in the hot.
        let (entry, context, signature) = self.builtin_entry(builtin);
        let mut all = SmallVec::<[Value; 8]>::new();
        if takes_context(builtin) {
            all.push(context);
        }
        all.extend_from_slice(arguments);
        let call = self.b.ins().call_indirect(signature, entry, &all);
        if !keeps_registers(builtin) {
            self.forget_context();
        }
        self.b.inst_results(call).first().copied()
    }

    fn builtin_signature(&mut self, builtin: Builtin) -> SigRef {
        if let Some(&signature) = self.builtin_signatures.get(&builtin) {
            return signature;
        }
        let signature = self.b.import_signature(builtin_signature(builtin));
        self.builtin_signatures.insert(builtin, signature);
        signature
    }

    /// The CLIF signature of a wasm type of the module.
    pub(super) fn wasm_signature(&mut self, ty: u32) -> SigRef {
        if let Some(&signature) = self.wasm_signatures.get(&ty) {
            return signature;
        }
        let of = &self.module.types[ty as usize];
        let signature = self.b.import_signature(wasm_signature(of.params(), of.results()));
        self.wasm_signatures.insert(ty, signature);
        signature
    }
}
