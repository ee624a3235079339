//! What the builtins do: the Rust side of [`crate::builtin`], and the table that compiled code reads.
//!
//! They run on the host stack. One that fails stores its reason in the store and sets `unwinding`; its thunk then lands. No panic may
//! leave one, so host functions run under `catch_unwind` (in `crate::runtime`).

use crate::backtrace;
use crate::builtin::Builtin;
use crate::builtin::INSTRUCTIONS;
use crate::burst;
use crate::entry::{plain_thunk, resolve_thunk, thunk, value_sample_thunk};
use crate::exits;
use crate::layout::{VmContext, VmFunc, head};
use crate::operations;
use crate::runtime::{self, raise};
use crate::tiering;
use crate::trap::{Outcome, TrapCode, Unwind};
use lwp_feedback::ring::{count_instructions, store_programmed, store_value_sample};
use std::sync::LazyLock;

struct Entries([usize; Builtin::ALL.len()]);

static ENTRIES: LazyLock<Entries> = LazyLock::new(|| {
    Entries(std::array::from_fn(|number| match Builtin::ALL[number] {
        Builtin::MemoryGrow => memory_grow_thunk as *const () as usize,
        Builtin::MemoryCopy => memory_copy_thunk as *const () as usize,
        Builtin::MemoryFill => memory_fill_thunk as *const () as usize,
        Builtin::PlainCopy => plain_copy_thunk as *const () as usize,
        Builtin::PlainFill => plain_fill_thunk as *const () as usize,
        Builtin::MemoryInit => memory_init_thunk as *const () as usize,
        Builtin::DataDrop => data_drop_thunk as *const () as usize,
        Builtin::TableSet => table_set_thunk as *const () as usize,
        Builtin::TableGrow => table_grow_thunk as *const () as usize,
        Builtin::TableFill => table_fill_thunk as *const () as usize,
        Builtin::TableCopy => table_copy_thunk as *const () as usize,
        Builtin::TableInit => table_init_thunk as *const () as usize,
        Builtin::ElemDrop => elem_drop_thunk as *const () as usize,
        Builtin::CallSlow => call_slow_thunk as *const () as usize,
        Builtin::Poll => poll_thunk as *const () as usize,
        Builtin::Resume => resume_interpreter_thunk as *const () as usize,
        Builtin::AtomicWait32 => atomic_wait32_thunk as *const () as usize,
        Builtin::AtomicWait64 => atomic_wait64_thunk as *const () as usize,
        Builtin::AtomicNotify => atomic_notify_thunk as *const () as usize,
        Builtin::Throw => throw_thunk as *const () as usize,
        Builtin::ThrowRef => throw_ref_thunk as *const () as usize,
        Builtin::TailCall => tail_call_thunk as *const () as usize,
        Builtin::SideExit => side_exit_thunk as *const () as usize,
        Builtin::Hot => hot_thunk as *const () as usize,
        Builtin::Programmed => programmed_thunk as *const () as usize,
        Builtin::ValueSample => value_sample_thunk as *const () as usize,
        Builtin::Burst => burst_thunk as *const () as usize,
        Builtin::TimedLoad => burst::timed_load_thunk as *const () as usize,
    }))
});

/// The table `VmContext::builtins` points to.
pub fn entries() -> *const usize {
    ENTRIES.0.as_ptr()
}

/// Address of the code that lazy stubs lead to.
pub fn resolver() -> usize {
    resolve_thunk as *const () as usize
}

thunk!(memory_grow_thunk, runtime_memory_grow);
thunk!(memory_copy_thunk, memory_copy);
thunk!(memory_fill_thunk, memory_fill);
plain_thunk!(plain_copy_thunk, plain_copy);
plain_thunk!(plain_fill_thunk, plain_fill);
thunk!(memory_init_thunk, memory_init);
thunk!(data_drop_thunk, data_drop);
thunk!(table_set_thunk, table_set);
thunk!(table_grow_thunk, table_grow);
thunk!(table_fill_thunk, table_fill);
thunk!(table_copy_thunk, table_copy);
thunk!(table_init_thunk, table_init);
thunk!(elem_drop_thunk, elem_drop);
thunk!(call_slow_thunk, call_slow);
thunk!(poll_thunk, poll);
thunk!(resume_interpreter_thunk, resume_interpreter);
thunk!(atomic_wait32_thunk, atomic_wait32);
thunk!(atomic_wait64_thunk, atomic_wait64);
thunk!(atomic_notify_thunk, atomic_notify);
thunk!(throw_thunk, throw);
thunk!(throw_ref_thunk, throw_ref);
thunk!(tail_call_thunk, tail_call);
thunk!(side_exit_thunk, side_exit);
thunk!(hot_thunk, hot);
thunk!(programmed_thunk, programmed);
thunk!(burst_thunk, burst);

/// Raises where an operation trapped.
///
/// # Safety
/// `context` is the running context.
unsafe fn check(context: *mut VmContext, result: Result<(), TrapCode>) {
    if let Err(code) = result {
        // SAFETY: the caller's promise.
        unsafe {
            let frames = backtrace::backtrace(context);
            raise(context, Box::new(Unwind::Trap { code, frames }));
        }
    }
}

/// The address of the code to go on with; raises where running wasm or the host ended otherwise than by returning.
///
/// # Safety
/// As [`check`].
unsafe fn code_of(context: *mut VmContext, outcome: Outcome<usize>) -> usize {
    outcome.unwrap_or_else(|unwind| {
        // SAFETY: the caller's promise.
        unsafe { raise(context, unwind) };
        0
    })
}

/// The result of a growth; raises where the limiter stopped the guest.
///
/// # Safety
/// As [`check`].
unsafe fn check_grown(context: *mut VmContext, grown: Outcome<i64>) -> i64 {
    grown.unwrap_or_else(|unwind| {
        // SAFETY: the caller's promise.
        unsafe { raise(context, unwind) };
        -1
    })
}

// SAFETY (all of these): called only by their thunks, which run only from code in the arena, whose r15 and first argument are the live
// running context; indices come from validated code.

unsafe extern "sysv64" fn runtime_memory_grow(context: *mut VmContext, memory: u32, delta: u64) -> i64 {
    // SAFETY: see above.
    unsafe { check_grown(context, operations::memory_grow(context, memory, delta)) }
}

unsafe extern "sysv64" fn memory_copy(context: *mut VmContext, to: u32, from: u32, destination: u64, source: u64, bytes: u64) {
    // SAFETY: see above.
    unsafe { check(context, operations::memory_copy(context, to, from, destination, source, bytes)) }
}

unsafe extern "sysv64" fn memory_fill(context: *mut VmContext, memory: u32, destination: u64, value: u32, bytes: u64) {
    // SAFETY: see above.
    unsafe { check(context, operations::memory_fill(context, memory, destination, value as u8, bytes)) }
}

unsafe extern "sysv64" fn plain_copy(_: *mut VmContext, destination: *mut u8, source: *const u8, bytes: usize) {
    // SAFETY: see above; compiled code compared both ranges with the lengths of their memories, which never shrink.
    unsafe { source.copy_to(destination, bytes) }
}

unsafe extern "sysv64" fn plain_fill(_: *mut VmContext, destination: *mut u8, value: u32, bytes: usize) {
    // SAFETY: as for `plain_copy`.
    unsafe { destination.write_bytes(value as u8, bytes) }
}

unsafe extern "sysv64" fn memory_init(context: *mut VmContext, memory: u32, segment: u32, destination: u64, source: u32, bytes: u32) {
    // SAFETY: see above.
    unsafe { check(context, operations::memory_init(context, memory, segment, destination, source, bytes)) }
}

unsafe extern "sysv64" fn data_drop(context: *mut VmContext, segment: u32) {
    // SAFETY: see above.
    unsafe { operations::data_drop(context, segment) }
}

unsafe extern "sysv64" fn table_set(context: *mut VmContext, table: u32, index: u64, reference: u64) {
    // SAFETY: see above.
    unsafe { check(context, operations::table_set(context, table, index, reference)) }
}

unsafe extern "sysv64" fn table_grow(context: *mut VmContext, table: u32, reference: u64, delta: u64) -> i64 {
    // SAFETY: see above.
    unsafe { check_grown(context, operations::table_grow(context, table, reference, delta)) }
}

unsafe extern "sysv64" fn table_fill(context: *mut VmContext, table: u32, start: u64, reference: u64, count: u64) {
    // SAFETY: see above.
    unsafe { check(context, operations::table_fill(context, table, start, reference, count)) }
}

unsafe extern "sysv64" fn table_copy(context: *mut VmContext, to: u32, from: u32, destination: u64, source: u64, count: u64) {
    // SAFETY: see above.
    unsafe { check(context, operations::table_copy(context, to, from, destination, source, count)) }
}

unsafe extern "sysv64" fn table_init(context: *mut VmContext, table: u32, segment: u32, destination: u64, source: u32, count: u32) {
    // SAFETY: see above.
    unsafe { check(context, operations::table_init(context, table, segment, destination, source, count)) }
}

unsafe extern "sysv64" fn elem_drop(context: *mut VmContext, segment: u32) {
    // SAFETY: see above.
    unsafe { operations::elem_drop(context, segment) }
}

unsafe extern "sysv64" fn call_slow(context: *mut VmContext, slots: *mut u64) -> usize {
    // SAFETY: see above; the adapter made `slots` for the signature of the function this context was entered for.
    unsafe { code_of(context, runtime::call_entered(context, slots)) }
}

unsafe extern "sysv64" fn atomic_wait32(context: *mut VmContext, memory: u32, at: u64, offset: u64, expected: u64, timeout: i64) -> u32 {
    // SAFETY: see above.
    unsafe { check_result(context, operations::atomic_wait(context, memory, at, offset, expected, timeout, 4)) }
}

unsafe extern "sysv64" fn atomic_wait64(context: *mut VmContext, memory: u32, at: u64, offset: u64, expected: u64, timeout: i64) -> u32 {
    // SAFETY: see above.
    unsafe { check_result(context, operations::atomic_wait(context, memory, at, offset, expected, timeout, 8)) }
}

unsafe extern "sysv64" fn atomic_notify(context: *mut VmContext, memory: u32, at: u64, offset: u64, count: u32) -> u32 {
    // SAFETY: see above.
    unsafe { check_result(context, operations::atomic_notify(context, memory, at, offset, count)) }
}

/// A result; raises where there is none.
///
/// # Safety
/// As [`check`].
unsafe fn check_result(context: *mut VmContext, outcome: Outcome<u32>) -> u32 {
    outcome.unwrap_or_else(|unwind| {
        // SAFETY: the caller's promise.
        unsafe { raise(context, unwind) };
        0
    })
}

unsafe extern "sysv64" fn throw(context: *mut VmContext, tag: u32) {
    // SAFETY: see above; compiled code wrote the values just before.
    unsafe {
        let unwind = runtime::throw(context, tag, (*(*head(context)).store).switch_buffer);
        raise(context, unwind);
    }
}

unsafe extern "sysv64" fn throw_ref(context: *mut VmContext, object: u64) {
    // SAFETY: see above; a reference that is not null is one of the store's objects.
    unsafe { raise(context, runtime::throw_again(context, object)) }
}

unsafe extern "sysv64" fn tail_call(context: *mut VmContext, callee: *const VmFunc) -> usize {
    // SAFETY: see above; compiled code checked the function.
    unsafe { code_of(context, runtime::tail_code(context, callee)) }
}

/// See `entry::resolve_thunk`: the code to jump to for the function this context was entered for.
pub(crate) unsafe extern "sysv64" fn resolve(context: *mut VmContext) -> usize {
    // SAFETY: see above.
    unsafe { code_of(context, tiering::resolve(context)) }
}

unsafe extern "sysv64" fn poll(context: *mut VmContext, function: u32, offset: u32, version: u32) -> usize {
    // SAFETY: see above.
    unsafe { code_of(context, tiering::poll(context, function, offset, version)) }
}

unsafe extern "sysv64" fn side_exit(context: *mut VmContext, guard: u64, value: u64) -> usize {
    // SAFETY: see above.
    unsafe { code_of(context, exits::side_exit(context, (guard >> 32) as u32 - 1, guard as u32, value)) }
}

unsafe extern "sysv64" fn resume_interpreter(context: *mut VmContext, results: *mut u64) -> usize {
    // SAFETY: see above; the code that left wrote the switch buffer just before.
    unsafe { code_of(context, runtime::resume_and_go_on(context, results)) }
}

unsafe extern "sysv64" fn hot(context: *mut VmContext, function: u32, offset: u32) -> u64 {
    // SAFETY: see above.
    unsafe { tiering::hot_compiled(context, function, offset) }
}

unsafe extern "sysv64" fn burst(context: *mut VmContext, function: u32, offset: u32, version: u32) -> usize {
    // SAFETY: see above.
    unsafe { tiering::at_burst(context, function, offset, version) }
}

/// See `entry::value_sample_thunk`.
pub(crate) unsafe extern "sysv64" fn value_sample(context: *mut VmContext, site: u64, value: u64, ip: usize) {
    // SAFETY: see above; the store's LWPCB is the running thread's.
    unsafe {
        let store = (*head(context)).store;
        let lwpcb = (*store).lwpcb.cast();
        if site == INSTRUCTIONS {
            return count_instructions(lwpcb, 0, ip as u64);
        }
        store_value_sample(lwpcb, ip as u64, site as u32, (site >> 32) as u32, value);
        (*store).take_values();
        tiering::ask_poll_record(context);
    }
}

unsafe extern "sysv64" fn programmed(context: *mut VmContext, imm16: u32, data1: u32, data2: u64) -> u32 {
    // SAFETY: see above; invariant 4 of `crate::entry` gives the return address, and the store's LWPCB is the running thread's.
    unsafe {
        let store = (*head(context)).store;
        let ip = (((*store).exit_fp + 8) as *const u64).read();
        store_programmed((*store).lwpcb.cast(), ip, imm16, data1, data2)
    }
}
