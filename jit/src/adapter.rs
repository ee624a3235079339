//! Adapters between calling conventions, one per signature ([`vm::code::Adapter`] says what each does).
//!
//! Values stand in slots of 8 bytes (invariant 4 of [`vm::layout`]): small ones with the upper half zero, v128 in two.

use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature, StackSlotData, StackSlotKind, Type, Value, types};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use smallvec::SmallVec;

use vm::builtin::Builtin;
use vm::code::{Adapter, AdapterSignature};
use vm::layout::{SLOT_BYTES, context};

use crate::translate::poll::widen_to_slot;
use crate::translate::regions::slots;
use crate::types::{builtin_signature, clif_types, slots_of, switch_signature, total_slots, wasm_signature};

/// Builds the CLIF of an adapter.
pub(crate) fn build(
    adapter: Adapter,
    signature: &AdapterSignature,
    isa: &dyn TargetIsa,
    memory: &mut FunctionBuilderContext,
) -> ir::Function {
    let own = match adapter {
        Adapter::Enter => Signature {
            params: vec![AbiParam::new(types::I64), AbiParam::new(types::I64)],
            returns: Vec::new(),
            call_conv: CallConv::SystemV,
        },
        Adapter::CallSlow => wasm_signature(&signature.params, &signature.results),
        Adapter::Resume => switch_signature(&signature.results),
    };
    let mut function = ir::Function::with_name_signature(ir::UserFuncName::user(1, adapter as u32), own);
    let mut b = FunctionBuilder::new(&mut function, memory);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    b.seal_block(entry);
    let given = SmallVec::<[Value; 8]>::from_slice(b.block_params(entry));
    let (params, results) = (clif_types(&signature.params), clif_types(&signature.results));
    match adapter {
        Adapter::Enter => {
            let arguments = load_slots(&mut b, &params, given[1]);
            let callee = b.import_signature(wasm_signature(&signature.params, &signature.results));
            let call = b.ins().call_indirect(callee, given[0], &arguments);
            let returned = SmallVec::<[Value; 8]>::from_slice(b.inst_results(call));
            store_slots(&mut b, &returned, given[1]);
            b.ins().return_(&[]);
        }
        Adapter::CallSlow => {
            let area = area(&mut b, total_slots(&params).max(total_slots(&results)));
            store_slots(&mut b, &given, area);
            call_builtin(&mut b, Builtin::CallSlow, area);
            let returned = load_slots(&mut b, &results, area);
            b.ins().return_(&returned);
        }
        Adapter::Resume => {
            let area = area(&mut b, total_slots(&results));
            call_builtin(&mut b, Builtin::Resume, area);
            let returned = load_slots(&mut b, &results, area);
            b.ins().return_(&returned);
        }
    }
    b.finalize(isa.frontend_config());
    function
}

/// Address of an area of slots on the frame; at least one, so that it is an address.
fn area(b: &mut FunctionBuilder<'_>, count: u32) -> Value {
    let bytes = count.max(1) * SLOT_BYTES as u32;
    let slot = b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4));
    b.ins().stack_addr(types::I64, slot, 0)
}

fn load_slots(b: &mut FunctionBuilder<'_>, types: &[Type], base: Value) -> SmallVec<[Value; 8]> {
    let mut offset = 0;
    let mut values = SmallVec::new();
    for &ty in types {
        let flags = slot_flags(b, ty);
        values.push(b.ins().load(ty, flags, base, offset));
        offset += slots_of(ty) as i32 * SLOT_BYTES as i32;
    }
    values
}

fn store_slots(b: &mut FunctionBuilder<'_>, values: &[Value], base: Value) {
    let mut offset = 0;
    for &value in values {
        let ty = b.func.dfg.value_type(value);
        let flags = slot_flags(b, ty);
        let bits = widen_to_slot(b, value);
        b.ins().store(flags, bits, base, offset);
        offset += slots_of(ty) as i32 * SLOT_BYTES as i32;
    }
}

/// Slots are aligned to 8 bytes, which is not enough for a vector.
fn slot_flags(b: &mut FunctionBuilder<'_>, ty: Type) -> ir::MemFlagsData {
    let flags = slots(b.func);
    if slots_of(ty) == 1 {
        return flags;
    }
    ir::MemFlagsData::new().with_notrap().with_alias_region(flags.alias_region())
}

fn call_builtin(b: &mut FunctionBuilder<'_>, builtin: Builtin, area: Value) {
    let flags = ir::MemFlagsData::trusted().with_readonly();
    let context = b.ins().get_pinned_reg(types::I64);
    let table = b.ins().load(types::I64, flags, context, context::builtins);
    let entry = b.ins().load(types::I64, flags, table, builtin.offset());
    let signature = b.import_signature(builtin_signature(builtin));
    b.ins().call_indirect(signature, entry, &[context, area]);
}
