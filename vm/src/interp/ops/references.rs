//! Calls through references, and what is refused to be null.

use super::control::{call_out, call_own};
use crate::bytecode::Slot;
use crate::interp::machine::{Flow, Regs, publish, stop};
use crate::interp::rare;
use crate::layout::VmFunc;
use crate::runtime;
use crate::trap::TrapCode;

#[inline(always)]
pub(in crate::interp) unsafe fn ref_as_non_null<const M: u8>(regs: &mut Regs, src: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        if regs.first::<M>(src) == 0 {
            return regs.trap(TrapCode::NullReference);
        }
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn throw<const M: u8>(regs: &mut Regs, tag: u32, base: Slot) -> Flow {
    // SAFETY: see `super`; the values lie from `base`.
    unsafe {
        publish(regs.exec, regs.ip);
        let unwind = runtime::throw((*regs.exec).context, tag, regs.address(base));
        stop(regs.exec, unwind)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn throw_ref<const M: u8>(regs: &mut Regs, src: Slot) -> Flow {
    // SAFETY: see `super`; the operand is a reference to an exception, or null.
    unsafe {
        publish(regs.exec, regs.ip);
        let object = regs.first::<M>(src);
        let unwind = runtime::throw_again((*regs.exec).context, object);
        stop(regs.exec, unwind)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn call_ref<const M: u8>(regs: &mut Regs, callee: Slot, base: Slot) -> Flow {
    // SAFETY: see `super`; a reference that is not null names a live function of the call's type.
    unsafe {
        let callee = regs.u64(callee) as *const VmFunc;
        if callee.is_null() {
            return regs.trap(TrapCode::NullReference);
        }
        if (*callee).context != (*regs.exec).context {
            return call_out(regs, callee, base);
        }
        call_own(regs, (*callee).index, base)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn rare<const M: u8>(regs: &mut Regs, what: u16, base: Slot, index: u32) -> Flow {
    // SAFETY: see `super`; the number is one of the table's, and the op behind this one is its `Immediate`.
    unsafe {
        let crate::bytecode::Op::Immediate { low: value, .. } = (*regs.ip.add(1)).op else { std::hint::unreachable_unchecked() };
        // (not `regs` itself: a handler with a local whose address is taken ends in a call, and the stack grows with each op)
        let exec = regs.exec;
        (*exec).saved = *regs;
        let flow = rare::BODIES[what as usize](&mut (*exec).saved, base, index, value);
        if flow == Flow::Next {
            *regs = (*exec).saved;
            regs.ip = regs.ip.add(2);
        }
        flow
    }
}
