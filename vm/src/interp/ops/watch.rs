//! Probes of the watched form: what happened, appended word by word to the store's burst buffer ([`crate::burst`]).

use super::table::table_of;
use crate::bytecode::{Op, Slot};
use crate::interp::machine::{Flow, Regs};
use crate::layout::{BURST_WORDS, VmFunc};
use crate::tiering;
use std::sync::atomic::Ordering;

/// What an [`Op::Probe`] says of its slot: whether it is 0.
pub(crate) const CONDITION: u16 = 0;
/// The low half of it.
pub(crate) const LOW_HALF: u16 = 1;

/// Appends a word: a probe's number and what happened.
#[inline(always)]
unsafe fn append(regs: &Regs, number: u32, payload: u32) {
    // SAFETY: see `super`; the buffer has `BURST_WORDS` words, a power of two.
    unsafe {
        let store = (*(*regs.exec).context).store;
        let index = (*store).burst_index;
        (*store).burst_buffer.add(index as usize & (BURST_WORDS - 1)).write(u64::from(payload) << 32 | u64::from(number));
        (*store).burst_index = index.wrapping_add(1);
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn probe<const M: u8>(regs: &mut Regs, what: u16, number: u32, slot: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let value = regs.u32(slot);
        append(regs, number, if what == CONDITION { u32::from(value != 0) } else { value });
        regs.next()
    }
}

/// Before an indirect call: its callee's number, all ones where that is of another instance. One that will trap leaves nothing.
#[inline(always)]
pub(in crate::interp) unsafe fn probe_call<const M: u8>(regs: &mut Regs, table: u16, number: u32, slot: Slot) -> Flow {
    // SAFETY: see `super`; a table's entry is null or a function's.
    unsafe {
        let (table, index) = (table_of(regs.exec, table.into()), regs.u64(slot) as usize);
        if index < (*table).length.load(Ordering::Relaxed) {
            let callee = (*(*table).base.add(index)).reference as *const VmFunc;
            if !callee.is_null() {
                let own = (*callee).context == (*regs.exec).context;
                append(regs, number, if own { (*callee).index } else { u32::MAX });
            }
        }
        regs.next()
    }
}

/// A round of a loop; the slow way where the buffer holds what was asked for.
#[inline(always)]
pub(in crate::interp) unsafe fn watched_loop<const M: u8>(regs: &mut Regs, _offset: u32, number: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let store = (*(*regs.exec).context).store;
        if (*store).burst_index >= (*store).burst_limit {
            return Flow::Slow;
        }
        append(regs, number, 0);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn watched_return<const M: u8>(regs: &mut Regs) -> Flow {
    // SAFETY: see `super`; the frame's function is of the context's module.
    unsafe {
        let exec = regs.exec;
        tiering::watched_return((*exec).context, (*(*(*exec).frame).code).function);
        regs.next()
    }
}

/// As `super::control::slow`, for the ops of this file.
pub(super) unsafe fn slow(regs: &mut Regs, op: Op) -> Option<Flow> {
    let Op::WatchedLoop { offset, .. } = op else { return None };
    // SAFETY: see `super`.
    Some(unsafe { super::control::leave_watched(regs, offset) })
}
