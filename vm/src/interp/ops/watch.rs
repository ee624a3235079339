//! Probes of the watched form: what happened, appended word by word to the store's burst buffer ([`crate::burst`]).

use super::table::table_of;
use crate::bytecode::{Op, Slot};
use crate::interp::machine::{Flow, Regs};
use crate::layout::{BURST_WORDS, VmFunc, head};
use crate::tiering;
use std::sync::atomic::Ordering;

/// What an [`Op::Probe`] says of its slot: whether it is 0.
pub(crate) const CONDITION: u16 = 0;
/// The low half of it.
pub(crate) const LOW_HALF: u16 = 1;
/// An i32 of it, in a word of its own.
pub(crate) const VALUE32: u16 = 2;
/// All of it, in a word of its own.
pub(crate) const VALUE64: u16 = 3;

/// Appends a probe's number and what happened.
#[inline(always)]
unsafe fn append(regs: &Regs, number: u32, payload: u32) {
    // SAFETY: the caller's, see `super`.
    unsafe { append_word(regs, u64::from(payload) << 32 | u64::from(number)) };
}

#[inline(always)]
unsafe fn append_word(regs: &Regs, word: u64) {
    // SAFETY: see `super`; the buffer has `BURST_WORDS` words, a power of two.
    unsafe {
        let store = (*head((*regs.exec).context)).store;
        let index = (*store).burst_index;
        (*store).burst_buffer.add(index as usize & (BURST_WORDS - 1)).write(word);
        (*store).burst_index = index.wrapping_add(1);
    }
}

/// What tells the running activation from others: the low half of its frame's address.
#[inline(always)]
fn activation(regs: &Regs) -> u32 {
    regs.sp as u32
}

#[inline(always)]
pub(in crate::interp) unsafe fn probe<const M: u8>(regs: &mut Regs, what: u16, number: u32, slot: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let value = regs.u32(slot);
        match what {
            CONDITION => append(regs, number, u32::from(value != 0)),
            LOW_HALF => append(regs, number, value),
            _ => {
                append(regs, number, 0);
                append_word(regs, if what == VALUE64 { regs.u64(slot) } else { value.into() });
            }
        }
        regs.next()
    }
}

/// The function was entered, or a loop is about to be or is left.
#[inline(always)]
pub(in crate::interp) unsafe fn probe_mark<const M: u8>(regs: &mut Regs, number: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        append(regs, number, activation(regs));
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
        let store = (*head((*regs.exec).context)).store;
        if (*store).burst_index >= (*store).burst_limit {
            return Flow::Slow;
        }
        append(regs, number, activation(regs));
        regs.next()
    }
}

/// Before a return. What was called from watched code goes on there.
#[inline(always)]
pub(in crate::interp) unsafe fn watched_return<const M: u8>(regs: &mut Regs, number: u32) -> Flow {
    // SAFETY: see `super`; the frame's function is of the context's module, and below all but the first there is another frame.
    unsafe {
        append(regs, number, activation(regs));
        let exec = regs.exec;
        let frame = (*exec).frame;
        if frame == (*exec).first_frame || !(*(*frame.sub(1)).code).is_watched() {
            tiering::watched_return((*exec).context, (*(*frame).code).function);
        }
        regs.next()
    }
}

/// As `super::control::slow`, for the ops of this file.
pub(super) unsafe fn slow(regs: &mut Regs, op: Op) -> Option<Flow> {
    let Op::WatchedLoop { offset, .. } = op else { return None };
    // SAFETY: see `super`.
    Some(unsafe { super::control::leave_watched(regs, offset) })
}
