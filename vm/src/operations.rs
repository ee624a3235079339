//! Operations on memories and tables that the interpreter and compiled code share.
//!
//! Of all of them: `context` is the running context, of kind wasm, and the indices are valid in its module.

use crate::backtrace::backtrace;
use crate::bulk::{self, Order};
use crate::instance::Instance;
use crate::layout::{VmContext, head};
use crate::runtime::{instance, interrupted, store_state, trap};
use crate::store::HostError;
use crate::threads::Guest;
use crate::tiering::report_frames;
use crate::trap::{Outcome, TrapCode, Unwind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Grows a memory: the old size in pages, or -1. A limiter's error or panic stops the guest.
///
/// # Safety
/// See above.
pub unsafe fn memory_grow(context: *mut VmContext, memory: u32, delta: u64) -> Outcome<i64> {
    // SAFETY: see above; the limiter runs while nothing else uses the store.
    unsafe {
        let instance = instance(context);
        let store = &mut *instance.store();
        grown(context, || instance.memory(memory).grow(store, delta))
    }
}

/// What a growth that may ask a limiter comes to.
///
/// # Safety
/// `context` is the running context.
unsafe fn grown(context: *mut VmContext, grow: impl FnOnce() -> Result<Option<u64>, HostError>) -> Outcome<i64> {
    match catch_unwind(AssertUnwindSafe(grow)) {
        Ok(Ok(old)) => Ok(old.map_or(-1, |old| old as i64)),
        Ok(Err(error)) => {
            // SAFETY: the caller's promise.
            let frames = unsafe { backtrace(context) };
            Err(Box::new(Unwind::Host { error, frames }))
        }
        Err(payload) => Err(Box::new(Unwind::Panic(payload))),
    }
}

/// Checks a range against a memory; its first byte's address.
unsafe fn range(context: *mut VmContext, memory: u32, start: u64, bytes: u64) -> Result<*mut u8, TrapCode> {
    // SAFETY: see above.
    let memory = unsafe { instance(context).memory(memory) };
    match start.checked_add(bytes) {
        Some(end) if end <= memory.length() as u64 => {
            // SAFETY: inside the memory, or one past its end with no bytes.
            Ok(unsafe { memory.base().add(start as usize) })
        }
        _ => Err(TrapCode::MemoryOutOfBounds),
    }
}

/// Where an atomic access of `bytes` bytes lies, checked.
unsafe fn atomic_place(context: *mut VmContext, memory: u32, address: u64, offset: u64, bytes: u64) -> Outcome<*mut u8> {
    // SAFETY: see above.
    unsafe {
        let memory = instance(context).memory(memory);
        crate::threads::place((memory.base(), memory.length()), address, offset, bytes).map_err(|code| trap(context, code))
    }
}

/// `memory.atomic.wait32` and `wait64`, by `bytes`: 0 woken, 1 another value, 2 the time is over. The deadline ends it.
///
/// # Safety
/// See above.
pub unsafe fn atomic_wait(
    context: *mut VmContext,
    memory: u32,
    address: u64,
    offset: u64,
    expected: u64,
    timeout: i64,
    bytes: u64,
) -> Outcome<u32> {
    // SAFETY: see above; the place is checked and aligned, and memories that threads share are only read atomically here.
    unsafe {
        let place = atomic_place(context, memory, address, offset, bytes)?;
        if !instance(context).memory(memory).ty().shared {
            return Err(trap(context, TrapCode::AtomicWaitNonSharedMemory));
        }
        report_frames(context);
        let mut asked = || {
            // Where much code that was retired meanwhile waits for this, the store was asked.
            report_frames(context);
            let store = &*store_state(context);
            if store.engine().epoch() < store.deadline.load(Ordering::SeqCst) { Ok(()) } else { interrupted(context) }
        };
        let timeout = u64::try_from(timeout).ok().map(Duration::from_nanos);
        let store = &*store_state(context);
        let sleepers = store.sleepers.clone();
        let guest = Guest { sleepers: &sleepers, interrupted: &mut asked };
        crate::threads::wait(place, expected, bytes, timeout, Some(guest)).map(|result| result as u32)
    }
}

/// `memory.atomic.notify`: how many were woken.
///
/// # Safety
/// See above.
pub unsafe fn atomic_notify(context: *mut VmContext, memory: u32, address: u64, offset: u64, count: u32) -> Outcome<u32> {
    // SAFETY: see above.
    unsafe {
        let place = atomic_place(context, memory, address, offset, 4)?;
        Ok(crate::threads::notify(place as usize, count))
    }
}

/// `memory.copy`.
///
/// # Safety
/// See above.
pub unsafe fn memory_copy(context: *mut VmContext, to: u32, from: u32, destination: u64, source: u64, bytes: u64) -> Result<(), TrapCode> {
    // SAFETY: see above; both ranges are checked, and `copy` allows overlap.
    unsafe {
        let source = range(context, from, source, bytes)?;
        let destination = range(context, to, destination, bytes)?;
        bulk::in_pieces(context, bytes, bulk::BYTES, Order::of_copy(destination as u64, source as u64), |start, length| {
            std::ptr::copy(source.add(start as usize), destination.add(start as usize), length as usize);
            Ok(())
        })
    }
}

/// `memory.fill`.
///
/// # Safety
/// See above.
pub unsafe fn memory_fill(context: *mut VmContext, memory: u32, destination: u64, value: u8, bytes: u64) -> Result<(), TrapCode> {
    // SAFETY: see above; the range is checked.
    unsafe {
        let destination = range(context, memory, destination, bytes)?;
        bulk::in_pieces(context, bytes, bulk::BYTES, Order::Forward, |start, length| {
            destination.add(start as usize).write_bytes(value, length as usize);
            Ok(())
        })
    }
}

/// `memory.init`.
///
/// # Safety
/// See above.
pub unsafe fn memory_init(
    context: *mut VmContext,
    memory: u32,
    segment: u32,
    destination: u64,
    source: u32,
    bytes: u32,
) -> Result<(), TrapCode> {
    // SAFETY: see above.
    unsafe {
        range(context, memory, destination, u64::from(bytes))?;
        // Both ranges before the first piece: an operation that does not fit writes nothing.
        instance(context).check_segment(segment, u64::from(source), u64::from(bytes))?;
        bulk::in_pieces(context, u64::from(bytes), bulk::BYTES, Order::Forward, |start, length| {
            instance(context).memory_init(memory, segment, destination + start, u64::from(source) + start, length)
        })
    }
}

/// `data.drop`.
///
/// # Safety
/// See above.
pub unsafe fn data_drop(context: *mut VmContext, segment: u32) {
    // SAFETY: see above; no reference to the instance is held across this.
    unsafe { (*(*head(context)).instance.cast::<Instance>()).data_drop(segment) }
}

/// `table.set`.
///
/// # Safety
/// See above; `reference` is of the table's type.
pub unsafe fn table_set(context: *mut VmContext, table: u32, index: u64, reference: u64) -> Result<(), TrapCode> {
    // SAFETY: see above.
    unsafe { instance(context).table(table).set(index, reference) }.ok_or(TrapCode::TableOutOfBounds)
}

/// `table.grow`: the old length, or -1.
///
/// # Safety
/// As [`table_set`].
pub unsafe fn table_grow(context: *mut VmContext, table: u32, reference: u64, delta: u64) -> Outcome<i64> {
    // SAFETY: see above; as in `memory_grow`.
    unsafe {
        let instance = instance(context);
        let store = &mut *instance.store();
        grown(context, || instance.table(table).grow(store, delta, reference))
    }
}

/// `table.fill`.
///
/// # Safety
/// As [`table_set`].
// Not part of the interpreter's handler: a local whose address is taken would make that one's last jump a call.
#[inline(never)]
pub unsafe fn table_fill(context: *mut VmContext, table: u32, start: u64, reference: u64, count: u64) -> Result<(), TrapCode> {
    // SAFETY: see above.
    unsafe {
        let table = instance(context).table(table);
        start.checked_add(count).filter(|&end| end <= table.length()).ok_or(TrapCode::TableOutOfBounds)?;
        bulk::in_pieces(context, count, bulk::ENTRIES, Order::Forward, |from, length| {
            table.fill(start + from, reference, length).ok_or(TrapCode::TableOutOfBounds)
        })
    }
}

/// `table.copy`.
///
/// # Safety
/// See above.
pub unsafe fn table_copy(context: *mut VmContext, to: u32, from: u32, destination: u64, source: u64, count: u64) -> Result<(), TrapCode> {
    // SAFETY: see above.
    let instance = unsafe { instance(context) };
    let (to, from) = (instance.table(to), instance.table(from));
    let fits = |start: u64, length: u64| start.checked_add(count).is_some_and(|end| end <= length);
    if !fits(destination, to.length()) || !fits(source, from.length()) {
        return Err(TrapCode::TableOutOfBounds);
    }
    // SAFETY: see above.
    unsafe {
        bulk::in_pieces(context, count, bulk::ENTRIES, Order::of_copy(destination, source), |start, length| {
            to.copy_from(destination + start, from, source + start, length).ok_or(TrapCode::TableOutOfBounds)
        })
    }
}

/// `table.init`.
///
/// # Safety
/// See above.
pub unsafe fn table_init(
    context: *mut VmContext,
    table: u32,
    segment: u32,
    destination: u64,
    source: u32,
    count: u32,
) -> Result<(), TrapCode> {
    // SAFETY: see above.
    unsafe { instance(context).table_init(table, segment, destination, u64::from(source), u64::from(count)) }
}

/// `elem.drop`.
///
/// # Safety
/// See above.
pub unsafe fn elem_drop(context: *mut VmContext, segment: u32) {
    // SAFETY: see above; no reference to the instance is held across this.
    unsafe { (*(*head(context)).instance.cast::<Instance>()).elem_drop(segment) }
}
