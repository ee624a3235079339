//! Adapters between calling conventions, one per signature ([`vm::code::Adapter`] says what each does).
//!
//! Values stand in slots of 8 bytes (invariant 4 of [`vm::layout`]): small ones with the upper half zero, v128 in two.

use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature, StackSlotData, StackSlotKind, Type, Value, types};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use smallvec::SmallVec;

use vm::builtin::Builtin;
use vm::code::{Adapter, AdapterSignature};
use vm::layout::{SLOT_BYTES, context, func, store};

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
        Adapter::Resume | Adapter::Tail | Adapter::TailForeign => switch_signature(&signature.results),
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
            call_and_maybe_go_on(&mut b, Builtin::CallSlow, area, &signature.results);
            let returned = load_slots(&mut b, &results, area);
            b.ins().return_(&returned);
        }
        Adapter::Resume => {
            let area = area(&mut b, total_slots(&results));
            call_and_maybe_go_on(&mut b, Builtin::Resume, area, &signature.results);
            let returned = load_slots(&mut b, &results, area);
            b.ins().return_(&returned);
        }
        Adapter::Tail | Adapter::TailForeign => {
            let flags = slots(b.func);
            let callee = b.ins().load(types::I64, flags, given[0], 0);
            let first = b.ins().iadd_imm_u(given[0], SLOT_BYTES as i64);
            let arguments = load_slots(&mut b, &params, first);
            let function = ir::MemFlagsData::trusted();
            let entry = b.ins().load(types::I64, function, callee, func::entry);
            let theirs = b.ins().load(types::I64, function, callee, func::context);
            let signature = b.import_signature(wasm_signature(&signature.params, &signature.results));
            if adapter == Adapter::Tail {
                b.ins().set_pinned_reg(theirs);
                b.ins().return_call_indirect(signature, entry, &arguments);
            } else {
                let kept = area(&mut b, 1);
                let ours = b.ins().get_pinned_reg(types::I64);
                b.ins().store(flags, ours, kept, 0);
                b.ins().set_pinned_reg(theirs);
                let call = b.ins().call_indirect(signature, entry, &arguments);
                let returned = SmallVec::<[Value; 8]>::from_slice(b.inst_results(call));
                let ours = b.ins().load(types::I64, flags, kept, 0);
                b.ins().set_pinned_reg(ours);
                b.ins().return_(&returned);
            }
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

/// Calls a builtin that may say where to go on in place of this frame; the builder goes on where it does not.
fn call_and_maybe_go_on(b: &mut FunctionBuilder<'_>, builtin: Builtin, area: Value, results: &[wasmparser::ValType]) {
    let code = call_builtin(b, builtin, area);
    let (elsewhere, here) = (b.create_block(), b.create_block());
    b.set_cold_block(elsewhere);
    b.ins().brif(code, elsewhere, &[], here, &[]);
    b.seal_block(elsewhere);
    b.seal_block(here);
    b.switch_to_block(elsewhere);
    let flags = ir::MemFlagsData::trusted();
    let context = b.ins().get_pinned_reg(types::I64);
    let shared = b.ins().load(types::I64, flags, context, context::store);
    let buffer = b.ins().load(types::I64, flags, shared, store::switch_buffer);
    let signature = b.import_signature(switch_signature(results));
    b.ins().return_call_indirect(signature, code, &[buffer]);
    b.switch_to_block(here);
}

fn call_builtin(b: &mut FunctionBuilder<'_>, builtin: Builtin, area: Value) -> Value {
    let flags = ir::MemFlagsData::trusted().with_readonly();
    let context = b.ins().get_pinned_reg(types::I64);
    let table = b.ins().load(types::I64, flags, context, context::builtins);
    let entry = b.ins().load(types::I64, flags, table, builtin.offset());
    let signature = b.import_signature(builtin_signature(builtin));
    let call = b.ins().call_indirect(signature, entry, &[context, area]);
    b.inst_results(call)[0]
}
