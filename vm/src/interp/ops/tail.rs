//! Calls in place of the running frame.
//!
//! A callee of the same instance that is interpreted takes the frame over. Anything else is called from here where frames of this activation lie below; in
//! the activation's first frame the activation ends instead, and says with what whoever began it is to go on (`crate::runtime::Next`). So neither
//! stack grows, whatever tiers a chain of tail calls goes through.

use super::control::{asked, count_down, counter, enter_frame, enter_slowly, indirect_callee, reload_and_return};
use super::table::table_of;
use crate::bytecode::frame::slots_of_all;
use crate::bytecode::{Bytecode, Op, Slot};
use crate::interp::machine::{Flow, Regs, publish, stop};
use crate::layout::VmFunc;
use crate::runtime::{self, Next};
use crate::signature;
use crate::trap::TrapCode;

/// Calls an own function in this frame; the slow way where there is more to it.
#[inline(always)]
unsafe fn tail_call_own(regs: &mut Regs, function: u32, base: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let exec = regs.exec;
        let own = function - (*exec).imported_functions;
        if count_down(counter(exec, own)) || asked(exec) {
            return Flow::Slow;
        }
        let Some(code) = (*(*exec).code).interpretable(own as usize) else {
            return Flow::Slow;
        };
        if take_over(regs, code, base) { Flow::Next } else { Flow::Slow }
    }
}

/// Makes the running frame one of `code`, its arguments moved to its first slots; false, and nothing changed, where its slots do not fit.
#[inline(always)]
unsafe fn take_over(regs: &mut Regs, code: *const Bytecode, base: Slot) -> bool {
    // SAFETY: see `super`; the arguments are slots of this frame, and `enter_frame` cannot fail where its slots fit.
    unsafe {
        let exec = regs.exec;
        let room = (*exec).values_end.offset_from(regs.sp) as usize;
        if (*code).frame_slots as usize > room {
            return false;
        }
        std::ptr::copy(regs.address(base), regs.sp, (*code).param_slots as usize);
        enter_frame(exec, (*exec).frame, regs.sp, code);
        regs.ip = (*code).ops.as_ptr();
        true
    }
}

/// The function of an own index.
unsafe fn own_function(regs: &Regs, function: u32) -> *const VmFunc {
    // SAFETY: see `super`.
    unsafe {
        let exec = regs.exec;
        let functions = (*exec).context.byte_offset((*exec).functions_place as isize).cast::<VmFunc>();
        functions.add((function - (*exec).imported_functions) as usize)
    }
}

/// What a tail call does beyond the quick way: its callee was checked. `params`: slots of the arguments.
pub(super) unsafe fn tail_call_slowly(regs: &mut Regs, callee: *const VmFunc, base: Slot, params: usize) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let exec = regs.exec;
        let own = (*callee).context == (*exec).context;
        if own {
            let function = (*callee).index;
            if !enter_slowly(exec, regs.ip, function) {
                return Flow::Stop;
            }
            if (*(*exec).code).compiled(function).is_null() {
                let code: *const Bytecode = (*(*exec).code).bytecode(function);
                return if take_over(regs, code, base) { Flow::Next } else { regs.trap(TrapCode::StackOverflow) };
            }
        }
        publish(exec, regs.ip);
        if !own
            && asked(exec)
            && let Err(unwind) = runtime::interrupted((*exec).context)
        {
            return stop(exec, unwind);
        }
        let arguments = std::slice::from_raw_parts(regs.address(base), params);
        if (*exec).frame == (*exec).first_frame {
            runtime::set_tail_arguments((*exec).context, arguments);
            (*exec).next = Next::Call { callee, caller: (*exec).context };
            return Flow::Stop;
        }
        // The frame has room for its own results, which are the callee's.
        std::ptr::copy(arguments.as_ptr(), regs.sp, params);
        match runtime::call_function(callee, (*exec).context, regs.sp) {
            Ok(()) => reload_and_return(regs),
            Err(unwind) => {
                // The callee ran in its place: it catches nothing any more.
                (*exec).frame_left = true;
                stop(exec, unwind)
            }
        }
    }
}

/// Slots of the parameters of a function.
unsafe fn param_slots(callee: *const VmFunc) -> usize {
    // SAFETY: the caller's: a live function.
    slots_of_all(signature::of(unsafe { (*callee).signature }).params()) as usize
}

#[inline(always)]
pub(in crate::interp) unsafe fn return_call<const M: u8>(regs: &mut Regs, function: u32, base: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe { tail_call_own(regs, function, base) }
}

#[inline(always)]
pub(in crate::interp) unsafe fn return_call_import<const M: u8>(_: &mut Regs, _params: u16, _base: Slot, _place: i32) -> Flow {
    Flow::Slow
}

#[inline(always)]
pub(in crate::interp) unsafe fn return_call_indirect<const M: u8>(
    regs: &mut Regs,
    table: u16,
    signature: u32,
    callee: Slot,
    base: Slot,
) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        match indirect_callee(regs, table, signature, callee) {
            Ok(function) => tail_call_own(regs, function, base),
            Err(flow) => flow,
        }
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn return_call_ref<const M: u8>(regs: &mut Regs, callee: Slot, base: Slot) -> Flow {
    // SAFETY: see `super`; a reference that is not null names a live function of the call's type.
    unsafe {
        let callee = regs.u64(callee) as *const VmFunc;
        if callee.is_null() {
            return regs.trap(TrapCode::NullReference);
        }
        if (*callee).context != (*regs.exec).context {
            return Flow::Slow;
        }
        tail_call_own(regs, (*callee).index, base)
    }
}

/// Continues a tail call's op where its quick way stopped; `None` for any other op.
pub(super) unsafe fn slow(regs: &mut Regs, op: Op) -> Option<Flow> {
    // SAFETY: see `super`; callees were checked by the quick way, and nothing ran since.
    unsafe {
        Some(match op {
            Op::ReturnCall { function, base } => {
                let callee = own_function(regs, function);
                tail_call_slowly(regs, callee, base, param_slots(callee))
            }
            Op::ReturnCallImport { params, base, place } => {
                let callee = (*regs.exec).context.byte_offset(place as isize).cast::<*const VmFunc>().read();
                tail_call_slowly(regs, callee, base, params as usize)
            }
            Op::ReturnCallIndirect { table, callee, base, .. } => {
                let entry = table_of(regs.exec, table as u32);
                let callee = (*(*entry).base.add(regs.u64(callee) as usize)).reference as *const VmFunc;
                tail_call_slowly(regs, callee, base, param_slots(callee))
            }
            Op::ReturnCallRef { callee, base } => {
                let callee = regs.u64(callee) as *const VmFunc;
                tail_call_slowly(regs, callee, base, param_slots(callee))
            }
            _ => return None,
        })
    }
}
