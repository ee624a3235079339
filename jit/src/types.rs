//! Types: wasm value types as CLIF types, signatures, and the slots values cross tiers in (invariant 4 of [`vm::layout`]).

use cranelift_codegen::ir::{AbiParam, Signature, Type, types};
use cranelift_codegen::isa::CallConv;
use smallvec::SmallVec;
use wasmparser::{BlockType, ValType};

use vm::builtin::{Builtin, Word};
use vm::module::Module;

/// Types of a few values.
pub(crate) type Types = SmallVec<[Type; 4]>;

/// The CLIF type of a wasm type; references are addresses.
pub(crate) fn clif_type(ty: ValType) -> Type {
    match ty {
        ValType::I32 => types::I32,
        ValType::I64 | ValType::Ref(_) => types::I64,
        ValType::F32 => types::F32,
        ValType::F64 => types::F64,
        ValType::V128 => types::I8X16,
    }
}

/// Slots of 8 bytes that a value of a type takes.
pub(crate) fn slots_of(ty: Type) -> u32 {
    if ty.bits() > 64 { 2 } else { 1 }
}

/// Slots of several values.
pub(crate) fn total_slots(types: &[Type]) -> u32 {
    types.iter().map(|&ty| slots_of(ty)).sum()
}

/// CLIF types of several wasm types.
pub(crate) fn clif_types(types: &[ValType]) -> Types {
    types.iter().map(|&ty| clif_type(ty)).collect()
}

/// Signature of a compiled wasm function: tail convention, no hidden parameter (the context is in the pinned register).
pub(crate) fn wasm_signature(params: &[ValType], results: &[ValType]) -> Signature {
    Signature {
        params: params.iter().map(|&ty| AbiParam::new(clif_type(ty))).collect(),
        returns: results.iter().map(|&ty| AbiParam::new(clif_type(ty))).collect(),
        call_conv: CallConv::Tail,
    }
}

/// Signature of code entered with the switch buffer: tail convention, one address in, a function's results out.
pub(crate) fn switch_signature(results: &[ValType]) -> Signature {
    let mut signature = wasm_signature(&[], results);
    signature.params.push(AbiParam::new(types::I64));
    signature
}

/// Whether the builtin is one whose thunk keeps every register, so that its call costs a cold block and nothing else.
pub(crate) fn keeps_registers(builtin: Builtin) -> bool {
    matches!(builtin, Builtin::ValueSample | Builtin::TimedLoad)
}

/// Whether the builtin is given the context. One that is not finds it in the pinned register itself.
pub(crate) fn takes_context(builtin: Builtin) -> bool {
    builtin != Builtin::ValueSample
}

/// Signature of a builtin: the context, if it takes it, then its words.
pub(crate) fn builtin_signature(builtin: Builtin) -> Signature {
    let word = |word: &Word| match word {
        Word::I32 => AbiParam::new(types::I32),
        Word::I64 => AbiParam::new(types::I64),
    };
    let mut params = Vec::new();
    if takes_context(builtin) {
        params.push(AbiParam::new(types::I64));
    }
    params.extend(builtin.params().iter().map(word));
    Signature {
        params,
        returns: builtin.result().iter().map(word).collect(),
        call_conv: if keeps_registers(builtin) { CallConv::PreserveAll } else { CallConv::SystemV },
    }
}

/// Parameter and result types of a block.
pub(crate) fn block_signature(module: &Module, ty: BlockType) -> (Types, Types) {
    match ty {
        BlockType::Empty => (Types::new(), Types::new()),
        BlockType::Type(ty) => (Types::new(), SmallVec::from_slice(&[clif_type(ty)])),
        BlockType::FuncType(index) => {
            let ty = &module.types[index as usize];
            (clif_types(ty.params()), clif_types(ty.results()))
        }
    }
}
