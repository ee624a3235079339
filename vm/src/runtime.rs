//! Running: calls between the host, the interpreter and compiled code in every direction, and traps.
//!
//! Each way into wasm is an *activation*: one run of compiled code between an `enter` and its return, or one run of the interpreter. The store
//! keeps the list; a [backtrace](crate::backtrace) walks it from the innermost.

use crate::backtrace::{backtrace, backtrace_from, read_word};
use crate::code::Adapter;
use crate::entry::enter;
use crate::exception;
use crate::handles::InstanceRef;
use crate::instance::Instance;
use crate::interp;
use crate::layout::{KIND_HOST, VmContext, VmFunc, VmStoreContext, head};
use crate::registry;
use crate::signals;
use crate::signature;
use crate::stack::{GUARD_BYTES, SIGNAL_FRAME_BYTES};
use crate::store::{HostCall, HostContext, HostError, StoreState, ask_callback, call_slots, result_slots};
use crate::tiering::{ModuleCode, report_frames};
use crate::trap::{Outcome, Traced, TrapCode, Unwind};
use lwp_feedback::sources::clock;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

/// Host stack that an activation must leave for the Rust code it may call.
const HOST_STACK_RESERVE: usize = 256 << 10;

/// One way into wasm that has not ended.
#[derive(Clone, Copy, Debug)]
pub enum Activation {
    /// Compiled code; `exit_fp` as it was when the code was entered, that is, of the compiled activation outside this one.
    Compiled {
        /// See `VmStoreContext::exit_fp`.
        outer_exit_fp: usize,
        /// It goes on with the innermost frame of the interpreter's activation outside this one, which a backtrace then leaves out.
        continues_frame: bool,
    },
    /// The interpreter, running frames from `first` on of the store's interpreter stack, all of this context.
    Interpreter {
        /// The context.
        context: *mut VmContext,
        /// Index of its first frame.
        first: usize,
    },
}

/// The store of a context.
///
/// # Safety
/// `context` is live.
pub unsafe fn store_state(context: *mut VmContext) -> *mut StoreState {
    // SAFETY: the caller's promise; `StoreState` begins with its `VmStoreContext` (repr C).
    unsafe { (*head(context)).store.cast() }
}

/// The instance of a context of kind wasm.
///
/// # Safety
/// `context` is live, of kind wasm, and the reference is not kept past the current operation.
pub unsafe fn instance<'a>(context: *mut VmContext) -> &'a Instance {
    // SAFETY: the caller's promise.
    unsafe { &*(*head(context)).instance.cast::<Instance>() }
}

/// Begins an interpreter activation whose first frame has index `first`.
///
/// # Safety
/// `context` is live and its store runs on this thread.
pub unsafe fn push_interpreter(context: *mut VmContext, first: usize) {
    // SAFETY: the caller's promise.
    unsafe { (*store_state(context)).activations.push(Activation::Interpreter { context, first }) };
}

/// Ends the innermost activation, an interpreter's.
///
/// # Safety
/// As [`push_interpreter`], which began it.
pub unsafe fn pop_interpreter(context: *mut VmContext) {
    // SAFETY: the caller's promise.
    let ended = unsafe { (*store_state(context)).activations.pop() };
    debug_assert!(matches!(ended, Some(Activation::Interpreter { .. })));
}

/// A trap at the current place, with its backtrace.
///
/// # Safety
/// `context` is the running context.
pub unsafe fn trap(context: *mut VmContext, code: TrapCode) -> Box<Unwind> {
    // SAFETY: the caller's promise.
    let frames = unsafe { backtrace(context) };
    Box::new(Unwind::Trap { code, frames })
}

/// A stop by a host's error, with the frames that it came up in where it does not say so itself.
///
/// # Safety
/// As [`trap`].
unsafe fn host_stop(context: *mut VmContext, error: HostError) -> Box<Unwind> {
    // SAFETY: the caller's promise.
    let frames = if error.is::<Traced>() { Vec::new() } else { unsafe { backtrace(context) } };
    Box::new(Unwind::Host { error, frames })
}

/// Makes the builtin that is running land once it returns: an exception where compiled code of the running activation catches it, all else at the
/// innermost entry.
///
/// # Safety
/// `context` is the running context, and the caller is a builtin about to return.
pub(crate) unsafe fn raise(context: *mut VmContext, unwind: Box<Unwind>) {
    // SAFETY: the caller's promise.
    unsafe {
        let store = store_state(context);
        if let Unwind::Exception(object) = *unwind
            && let Some([pc, sp, fp]) = exception::find_landing(&(*store).context)
        {
            let shared = &mut (*store).context;
            (shared.landing_pc, shared.landing_sp, shared.landing_fp) = (pc, sp, fp);
            shared.landing_object = object;
            shared.unwinding = 2;
            return;
        }
        (*store).pending = Some(unwind);
        (*store).context.unwinding = 1;
    }
}

/// Throws an exception with a tag of the running instance: its values lie from `values`.
///
/// # Safety
/// `context` is the running context, the tag is its module's, and the values are of the tag's types.
pub(crate) unsafe fn throw(context: *mut VmContext, tag: u32, values: *const u64) -> Box<Unwind> {
    // SAFETY: the caller's promise; the pointer to a tag never changes.
    unsafe {
        let module = &instance(context).module;
        let tag_place = module.offsets().tag(tag);
        let count = crate::bytecode::frame::slots_of_all(module.types[module.tags[tag as usize] as usize].params());
        let tag = context.byte_offset(tag_place as isize).cast::<*const exception::Tag>().read();
        let values = std::slice::from_raw_parts(values, count as usize);
        // (which may ask the host's limiter)
        Box::new(match catch_unwind(AssertUnwindSafe(|| exception::throw(&mut *store_state(context), tag, values))) {
            Ok(Ok(object)) => Unwind::Exception(object),
            Ok(Err(error)) => return host_stop(context, error),
            Err(payload) => Unwind::Panic(payload),
        })
    }
}

/// Throws a caught exception again; a trap where there is none.
///
/// # Safety
/// `context` is the running context, and the object of its store or 0.
pub(crate) unsafe fn throw_again(context: *mut VmContext, object: u64) -> Box<Unwind> {
    if object == 0 {
        // SAFETY: the caller's promise.
        return unsafe { trap(context, TrapCode::NullReference) };
    }
    Box::new(Unwind::Exception(object))
}

thread_local! {
    /// Lowest address of this thread's stack, 0 until asked for.
    static STACK_LOW: Cell<usize> = const { Cell::new(0) };
}

/// Lowest address of the host stack at which another activation may begin.
fn host_limit() -> usize {
    let known = STACK_LOW.get();
    if known != 0 {
        return known;
    }
    // SAFETY: the attribute object is initialized by `pthread_getattr_np` before it is read, and destroyed after.
    let low = unsafe {
        let mut attributes = std::mem::zeroed::<libc::pthread_attr_t>();
        let (mut base, mut size) = (std::ptr::null_mut(), 0);
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) == 0 {
            libc::pthread_attr_getstack(&attributes, &mut base, &mut size);
            libc::pthread_attr_destroy(&mut attributes);
        }
        base as usize
    };
    let limit = if low == 0 {
        // Unknown: allow 512 KiB from here, which every thread that runs wasm has.
        (&raw const low as usize).saturating_sub(512 << 10)
    } else {
        low + HOST_STACK_RESERVE
    };
    STACK_LOW.set(limit);
    limit
}

/// Calls a function of a store from the host, or in the name of an instance: a host function is told `caller`.
///
/// # Safety
/// `function` belongs to `store`, and so does `caller`, if it is not null; `slots` holds its arguments and has room for its results.
pub(crate) unsafe fn call_from_host(store: &mut StoreState, function: *const VmFunc, caller: *mut VmContext, slots: *mut u64) -> Outcome {
    let refused = |error: String| Box::new(Unwind::Host { error: error.into(), frames: Vec::new() });
    signals::prepare_thread().map_err(|error| refused(format!("cannot prepare this thread for wasm: {error}")))?;
    store.interp.prepare().map_err(|error| refused(format!("cannot reserve the interpreter's stack: {error}")))?;
    let outermost = store.activations.is_empty();
    // A host function may have handed the store to another thread, for as long as it runs.
    let moved = !outermost && store.context.host_limit != host_limit();
    let VmStoreContext { lwpcb, host_limit: limit, values_left, values_granted, .. } = store.context;
    let outer = (store.host_stack_top, lwpcb, limit, values_left, values_granted);
    if outermost || moved {
        store.host_stack_top = &raw const outermost as usize;
        store.context.lwpcb = store.engine().thread_lwpcb();
        // SAFETY: this thread's own ring, which lives as long as the thread.
        unsafe { store.context.take_values() };
        store.context.host_limit = host_limit();
        store.moved += u32::from(moved);
    }
    if outermost {
        store.set_running(true);
        // No frames yet, and every code address is still to be read: see `tiering::retire`.
        store.set_reported(store.engine().shared().retirement.epoch());
        store.engine().shared().monitor.rouse();
        if store.engine().epoch() >= store.deadline.load(Ordering::SeqCst) {
            store.ask_to_poll();
        }
    }
    let before = signals::set_current(&raw mut store.context);
    // SAFETY: the caller's promise.
    let mut outcome = clock::run_unblocked(|| unsafe { call_function(function, caller, slots) });
    if let Err(unwind) = &mut outcome
        && let Unwind::Exception(object) = **unwind
    {
        // The host may keep it, and run more wasm before it throws it on.
        let frames = store.exceptions.frames(object, store.engine().shared().retirement.epoch());
        // SAFETY: just thrown, in this store.
        let thrown = unsafe { store.thrown(object) };
        **unwind = Unwind::Host { error: Box::new(thrown), frames };
    }
    signals::set_current(before);
    if outermost || moved {
        // SAFETY: as above.
        unsafe { store.context.keep_values() };
    }
    if outermost {
        store.set_running(false);
        if matches!(&outcome, Err(unwind) if matches!(**unwind, Unwind::Trap { code: TrapCode::StackOverflow, .. })) {
            // Runaway recursion: what it took is not this store's for good.
            store.interp.discard();
            store.stack.discard();
        }
    }
    if moved {
        let context = &mut store.context;
        (store.host_stack_top, context.lwpcb, context.host_limit, context.values_left, context.values_granted) = outer;
        store.moved -= 1;
    }
    outcome
}

/// Calls any function: a host's, or a wasm one in whatever tier it is.
///
/// # Safety
/// `callee` is live and of a store that this thread runs; `caller` is the calling context or null; `slots` as in [`call_from_host`].
pub unsafe fn call_function(callee: *const VmFunc, caller: *mut VmContext, slots: *mut u64) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let context = (*callee).context;
        if (*head(context)).kind == KIND_HOST {
            // (a host that calls what its guest exports may call itself)
            check_host_stack(context)?;
            call_host(context, caller, slots)
        } else {
            call_wasm(context, (*callee).index, slots)
        }
    }
}

/// What `Builtin::CallSlow` does: calls the function that `context` was entered for. 0, or the code to go on with.
///
/// # Safety
/// As [`call_function`].
pub(crate) unsafe fn call_entered(context: *mut VmContext, slots: *mut u64) -> Outcome<usize> {
    // SAFETY: the caller's promise.
    unsafe {
        if (*head(context)).kind == KIND_HOST {
            call_host(context, (*head(context)).caller, slots)?;
            return Ok(0);
        }
        let function = (*head(context)).callee;
        let next = match instance(context).code.form_to_call(context, function) {
            Some(watched) => {
                check_host_stack(context)?;
                interp::call_watched(context, watched, slots)?
            }
            None => start(context, function, slots)?,
        };
        code_to_go_on_with(context, next)
    }
}

/// How what was begun goes on.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// It ended; the results are where they belong.
    Done,
    /// With a call in its place; the arguments are what [`set_tail_arguments`] was given.
    Call {
        /// Of this function.
        callee: *const VmFunc,
        /// The context that calls it.
        caller: *mut VmContext,
    },
    /// In a compiled loop entrance, the frame being in the switch buffer.
    Loop {
        /// The context of the function, which need not be that of what was begun: a function of another may have been called in its place.
        context: *mut VmContext,
        /// The entrance.
        code: *const u8,
        /// The function.
        function: u32,
    },
}

/// Keeps the arguments of a call that takes the place of what runs.
///
/// # Safety
/// `context` is the running context.
pub(crate) unsafe fn set_tail_arguments(context: *mut VmContext, arguments: &[u64]) {
    // SAFETY: the caller's promise.
    unsafe {
        let kept = &mut (*store_state(context)).tail_arguments;
        kept.clear();
        kept.extend_from_slice(arguments);
    }
}

/// What a builtin tells its caller, which is about to return or to go on in its own place: 0, or the code.
///
/// # Safety
/// Called from a builtin that runs for `context`.
unsafe fn code_to_go_on_with(context: *mut VmContext, next: Next) -> Outcome<usize> {
    // SAFETY: the caller's promise. A call's arguments, at most a thousand values, fit the switch buffer.
    unsafe {
        match next {
            Next::Done => Ok(0),
            Next::Loop { code, .. } => Ok(code as usize),
            Next::Call { callee, .. } => {
                let store = store_state(context);
                let buffer = (*store).context.switch_buffer;
                buffer.write(callee as u64);
                let arguments = &(*store).tail_arguments;
                std::ptr::copy_nonoverlapping(arguments.as_ptr(), buffer.add(1), arguments.len());
                tail_code(context, callee)
            }
        }
    }
}

/// The code that calls a function with what the switch buffer holds, in place of the frame that called the running builtin.
///
/// Whoever that frame returns to relies on the context being what it was, unless it is one that sets it again. So a function of another context is called from a
/// frame of an adapter that does; of these there is never one on top of another.
///
/// # Safety
/// Called from a builtin that runs for `context`; `callee` is live.
pub(crate) unsafe fn tail_code(context: *mut VmContext, callee: *const VmFunc) -> Outcome<usize> {
    // SAFETY: the caller's promise; `exit_fp` as in `leaves_its_activation`.
    unsafe {
        let mut adapter = Adapter::Tail;
        if (*callee).context != context {
            (*head((*callee).context)).caller = context;
            let frame = read_word((*(*head(context)).store).exit_fp);
            if !registry::restores_context(read_word(frame + 8)) {
                adapter = Adapter::TailForeign;
            }
        }
        let engine = (*store_state(context)).engine();
        engine.adapter(adapter, (*callee).signature).map_err(|error| internal(&error))
    }
}

unsafe fn call_wasm(context: *mut VmContext, function: u32, slots: *mut u64) -> Outcome {
    // SAFETY: the caller's promise (see `call_function`).
    unsafe {
        let next = start(context, function, slots)?;
        to_its_end(context, function, next, slots)
    }
}

/// Goes on with what a call of a function of `context` came to, where it is not over.
#[inline(always)]
unsafe fn to_its_end(context: *mut VmContext, function: u32, next: Next, slots: *mut u64) -> Outcome {
    match next {
        Next::Done => Ok(()),
        // SAFETY: the caller's promise (see `call_function`).
        next => unsafe { go_on(context, function, next, slots) },
    }
}

/// Does what a call of a function of `context` goes on with, to its end.
#[cold]
unsafe fn go_on(context: *mut VmContext, function: u32, mut next: Next, results: *mut u64) -> Outcome {
    // SAFETY: the caller's promise (see `call_function`); each callee has the results of the function that was called first.
    unsafe {
        let given = result_slots(instance(context).module.function_type(function));
        let mut area: smallvec::SmallVec<[u64; 16]> = smallvec::SmallVec::new();
        loop {
            next = match next {
                Next::Done => {
                    std::ptr::copy_nonoverlapping(area.as_ptr(), results, given);
                    return Ok(());
                }
                Next::Call { callee, caller } => {
                    area.clear();
                    area.extend_from_slice(&(*store_state(context)).tail_arguments);
                    area.resize(call_slots(&signature::of((*callee).signature)), 0);
                    let context = (*callee).context;
                    if (*head(context)).kind == KIND_HOST {
                        call_host(context, caller, area.as_mut_ptr())?;
                        Next::Done
                    } else {
                        start(context, (*callee).index, area.as_mut_ptr())?
                    }
                }
                Next::Loop { context, code, function } => {
                    let adapter = instance(context).code.loop_adapter(function).map_err(|error| internal(&error))?;
                    area.clear();
                    area.resize(call_slots(instance(context).module.function_type(function)), 0);
                    area[0] = (*(*head(context)).store).switch_buffer as u64;
                    run_or_resume(context, adapter, code as usize, area.as_mut_ptr())?
                }
            };
        }
    }
}

/// Calls a function of `context`, to its end or to where it goes on elsewhere.
unsafe fn start(context: *mut VmContext, function: u32, slots: *mut u64) -> Outcome<Next> {
    // SAFETY: the caller's promise (see `call_function`).
    unsafe {
        check_host_stack(context)?;
        let code = &instance(context).code;
        match code.code_to_run_in(context, function) {
            Some(compiled) => {
                let adapter = code.enter_adapter(function).map_err(|error| internal(&error))?;
                run_or_resume(context, adapter, compiled, slots)
            }
            None => interp::call(context, function, slots),
        }
    }
}

/// Calls compiled code of a function of `context`, to its end. What is not on the way of every call is apart: who inlines this ends in a call that is to be a jump, and a local whose address is taken would keep
/// it from being one.
///
/// # Safety
/// As [`call_function`]; `code` is the function's and `adapter` that of its signature.
#[inline(always)]
pub(crate) unsafe fn call_compiled(context: *mut VmContext, function: u32, adapter: usize, code: usize, slots: *mut u64) -> Outcome {
    // SAFETY: the caller's promise. Raw pointers throughout: the code may call back into Rust that uses the same store.
    unsafe {
        check_host_stack(context)?;
        let store = store_state(context);
        let outer_exit_fp = (*store).context.exit_fp;
        (*store).activations.push(Activation::Compiled { outer_exit_fp, continues_frame: false });
        if enter(adapter, code, slots, context, &raw mut (*store).context) != 0 {
            return end_of_landed(context, function, slots);
        }
        (*store).activations.pop();
        Ok(())
    }
}

/// What [`call_compiled`] comes to where its code landed: goes on with what it left, to the function's end, or says why it stops.
#[cold]
#[inline(never)]
unsafe fn end_of_landed(context: *mut VmContext, function: u32, slots: *mut u64) -> Outcome {
    // SAFETY: the caller's promise (see `call_function`).
    unsafe {
        match landed(store_state(context))? {
            Finish::Returned => Ok(()),
            Finish::Left(left) => resume_to_end(left, context, function, slots),
        }
    }
}

/// Runs compiled code, and what it leaves for the interpreter, to the function's end or to where it goes on elsewhere.
#[inline(always)]
unsafe fn run_or_resume(context: *mut VmContext, adapter: usize, code: usize, slots: *mut u64) -> Outcome<Next> {
    // SAFETY: the caller's promise (see `run_compiled`).
    unsafe {
        match run_compiled(context, adapter, code, slots, false)? {
            Finish::Returned => Ok(Next::Done),
            Finish::Left(left) => resume(left, slots),
        }
    }
}

/// Our own bug, as what the guest stops with.
pub(crate) fn internal(error: &str) -> Box<Unwind> {
    Box::new(Unwind::Host { error: format!("internal compiler error: {error}").into(), frames: Vec::new() })
}

#[inline(always)]
unsafe fn check_host_stack(context: *mut VmContext) -> Outcome {
    // SAFETY: reads a register; the caller's promise (see `call_function`).
    unsafe {
        let here: usize;
        // (a local whose address is taken: see `call_compiled`)
        std::arch::asm!("mov {}, rsp", out(reg) here, options(nomem, nostack, preserves_flags));
        if here < (*(*head(context)).store).host_limit {
            return Err(host_stack_overflow(context));
        }
    }
    Ok(())
}

#[cold]
#[inline(never)]
unsafe fn host_stack_overflow(context: *mut VmContext) -> Box<Unwind> {
    // SAFETY: the caller's promise (see `call_function`).
    unsafe { trap(context, TrapCode::StackOverflow) }
}

unsafe fn call_host(context: *mut VmContext, caller: *mut VmContext, slots: *mut u64) -> Outcome {
    // SAFETY: the caller's promise (see `call_function`); a host context's `instance` is its `HostContext`, which lives as long as the store. The
    // store is reborrowed for the length of the call, during which nothing else uses it.
    unsafe {
        report_frames(context);
        if (*store_state(context)).samples_due() != 0 {
            crate::profiling::take_due(context);
        }
        let host = &*(*head(context)).instance.cast::<HostContext>();
        let store = &mut *store_state(context);
        store.host_calls = store.host_calls.wrapping_add(1);
        let caller = if caller.is_null() || (*head(caller)).kind == KIND_HOST {
            None
        } else {
            InstanceRef::from_ptr((*head(caller)).instance.cast::<Instance>())
        };
        let slots = std::slice::from_raw_parts_mut(slots, call_slots(&host.ty));
        let result = catch_unwind(AssertUnwindSafe(|| clock::run_blocked(|| (host.function)(HostCall { store, caller, slots }))));
        match result {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(match error.downcast::<exception::Thrown>() {
                Ok(thrown) if thrown.store == (*store_state(context)).id => Box::new(Unwind::Exception(thrown.object)),
                Ok(thrown) => host_stop(context, thrown),
                Err(error) => host_stop(context, error),
            }),
            Err(payload) => Err(Box::new(Unwind::Panic(payload))),
        }
    }
}

/// How a run of compiled code ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finish {
    /// It returned; the results are in the slots.
    Returned,
    /// The function that was entered, or one that it called in its place, left at a poll or a guard: the frames are in the switch buffer, and whoever entered it goes
    /// on with them, in this context.
    Left(*mut VmContext),
}

/// Runs compiled code through its enter adapter.
///
/// # Safety
/// `adapter` fits `code`'s signature; the rest as in [`call_function`].
#[inline(always)]
unsafe fn run_compiled(context: *mut VmContext, adapter: usize, code: usize, slots: *mut u64, continues_frame: bool) -> Outcome<Finish> {
    // SAFETY: the caller's promise. Raw pointers throughout: the code may call back into Rust that uses the same store.
    unsafe {
        let store = store_state(context);
        let outer_exit_fp = (*store).context.exit_fp;
        (*store).activations.push(Activation::Compiled { outer_exit_fp, continues_frame });
        if enter(adapter, code, slots, context, &raw mut (*store).context) != 0 {
            return landed(store);
        }
        (*store).activations.pop();
        Ok(Finish::Returned)
    }
}

/// The code of the innermost activation landed, which is over: whether it left for the interpreter, or why it stops.
unsafe fn landed(store: *mut StoreState) -> Outcome<Finish> {
    // SAFETY: the store is live, and its code does not run.
    unsafe {
        let left = std::mem::replace(&mut (*store).left, std::ptr::null_mut());
        let outcome = if !left.is_null() {
            (*store).context.unwinding = 0;
            Ok(Finish::Left(left))
        } else {
            Err(landing(&mut *store))
        };
        (*store).activations.pop();
        outcome
    }
}

/// Why the code of the innermost activation landed.
fn landing(store: &mut StoreState) -> Box<Unwind> {
    if store.context.unwinding != 0 {
        store.context.unwinding = 0;
        return store.pending.take().expect("a builtin that unwinds leaves its reason");
    }
    let VmStoreContext { trap_pc, trap_address, stack_low, .. } = store.context;
    // (above the guard faults what the kernel would write for a signal, and nothing else)
    let in_guard = (stack_low - GUARD_BYTES..stack_low + SIGNAL_FRAME_BYTES).contains(&trap_address);
    let code = if in_guard { Some(TrapCode::StackOverflow) } else { registry::trap_at(trap_pc) };
    let Some(code) = code else {
        // Memory may be corrupt: nothing but stopping the process is safe.
        tracing::error!(pc = trap_pc, address = trap_address, "fault in compiled code at an instruction that has no trap record");
        std::process::abort();
    };
    // SAFETY: the frames of the activation that landed are still intact on the wasm stack.
    let frames = unsafe { backtrace_from(store, Some(innermost(store))) };
    Box::new(Unwind::Trap { code, frames })
}

/// Program counter and frame pointer of the innermost frame of code that faulted: of whose call it was that overflowed the stack, where that was in a
/// thunk.
///
/// # Safety
/// The activation that landed is still intact on the wasm stack.
unsafe fn innermost(store: &StoreState) -> (usize, usize) {
    let VmStoreContext { trap_pc, trap_fp, trap_address, stack_low, stack_high, .. } = store.context;
    if crate::arena::contains(trap_pc) {
        return (trap_pc, trap_fp);
    }
    /// `push rbp`, with which thunks begin; what they push later has two bytes, or another code.
    const PUSH_FRAME_POINTER: u8 = 0x55;
    // SAFETY: it ran, so it can be read.
    let begins = unsafe { (trap_pc as *const u8).read() } == PUSH_FRAME_POINTER;
    // What a push does not get done is below the return address; later the thunk has a frame.
    let (returns_at, frame) = if begins { (trap_address + 8, None) } else { (trap_fp + 8, Some(trap_fp)) };
    if !(stack_low..stack_high).contains(&returns_at) {
        return (trap_pc, trap_fp);
    }
    // SAFETY: words of the wasm stack (checked) that the call and the thunk's first push have written.
    unsafe { (read_word(returns_at) - 1, frame.map_or(trap_fp, |frame| read_word(frame))) }
}

/// What `Builtin::Resume` does: [`resume`], and 0 or the code to go on with.
///
/// # Safety
/// As [`resume`].
pub(crate) unsafe fn resume_and_go_on(context: *mut VmContext, results: *mut u64) -> Outcome<usize> {
    // SAFETY: the caller's promise.
    unsafe {
        let next = resume(context, results)?;
        code_to_go_on_with(context, next)
    }
}

/// Continues the frames in the switch buffer in the interpreter.
///
/// # Safety
/// `context` is the running context, the switch buffer holds frames of its functions, and `results` has room for the results of the outermost.
pub(crate) unsafe fn resume(context: *mut VmContext, results: *mut u64) -> Outcome<Next> {
    // SAFETY: the caller's promise.
    unsafe {
        check_host_stack(context)?;
        interp::resume(context, results)
    }
}

/// The same to the end of what a function of `context` was begun as, which has the results of the outermost.
///
/// # Safety
/// As [`resume`], of `left`.
unsafe fn resume_to_end(left: *mut VmContext, context: *mut VmContext, function: u32, results: *mut u64) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let next = resume(left, results)?;
        to_its_end(context, function, next, results)
    }
}

/// Continues a frame of the interpreter in compiled code: the switch buffer holds it, `code` is an OSR entry of `function`. True when the function
/// ended and the results are there; false when it left again and the switch buffer holds its frame, and those of callees inlined in it, for
/// the interpreter to go on with.
///
/// # Safety
/// As [`resume`].
pub unsafe fn enter_loop(context: *mut VmContext, code: *const u8, function: u32, results: *mut u64) -> Outcome<bool> {
    // SAFETY: the caller's promise; the adapter of OSR entries takes the buffer's address in the first slot, so there must be one.
    unsafe {
        check_host_stack(context)?;
        let module_code: &ModuleCode = &instance(context).code;
        let adapter = module_code.loop_adapter(function).map_err(|error| internal(&error))?;
        let count = call_slots(instance(context).module.function_type(function));
        let mut slots: smallvec::SmallVec<[u64; 8]> = smallvec::smallvec![0; count];
        slots[0] = (*(*head(context)).store).switch_buffer as u64;
        if let Finish::Left(left) = run_compiled(context, adapter, code as usize, slots.as_mut_ptr(), true)? {
            if left != context {
                // It called a function of another instance in its place, and that one left: the frame is no longer the interpreter's, nor this context's.
                return resume_to_end(left, context, function, results).map(|()| true);
            }
            return Ok(false);
        }
        let given = crate::store::result_slots(instance(context).module.function_type(function));
        std::ptr::copy_nonoverlapping(slots.as_ptr(), results, given);
        Ok(true)
    }
}

/// Whether the function that leaves at a poll or a guard is the one its activation entered: then it goes back to whoever entered it, instead of
/// starting another activation on top, which would pile up.
///
/// # Safety
/// Called from the builtin of the poll or the side exit in `context`.
pub(crate) unsafe fn leaves_its_activation(context: *mut VmContext) -> bool {
    // SAFETY: `exit_fp` is the thunk's frame, whose first word is the function's frame pointer; above that lies its return address (invariant 4 of
    // `crate::entry`, preserve_frame_pointers).
    unsafe {
        let function_fp = read_word((*(*head(context)).store).exit_fp);
        registry::is_entrance(read_word(function_fp + 8))
    }
}

/// Makes that builtin land, with the frames in the switch buffer, at the entry of the running activation.
///
/// # Safety
/// As [`leaves_its_activation`], which said yes.
pub(crate) unsafe fn leave_activation(context: *mut VmContext) {
    // SAFETY: the caller's promise.
    unsafe {
        let store = store_state(context);
        (*store).left = context;
        (*store).context.unwinding = 1;
    }
}

/// What happens where a poll finds its flag set: nothing where the deadline has not passed.
///
/// # Safety
/// `context` is the running context, of kind wasm.
pub unsafe fn interrupted(context: *mut VmContext) -> Outcome {
    // SAFETY: the caller's promise; the callback gets the store while nothing else uses it.
    unsafe {
        if crate::profiling::take_due(context) {
            // Only what asked for samples is answered; whoever asks loops to leave is not.
            let store = &*store_state(context);
            store.clear_entry_polls();
            if !store.is_past_deadline() {
                return Ok(());
            }
        }
        let store = &mut *store_state(context);
        store.clear_polls();
        if !store.is_past_deadline() {
            return Ok(());
        }
        // The frames of a loop that polled are in the switch buffer, and are read again behind this.
        let asked = store.ask_at_deadline(|store, callback| {
            let decided = store.with_another_switch_buffer(|store| ask_callback(store, callback));
            decided.unwrap_or_else(|error| Ok(Err(format!("no memory for what a deadline's callback may call: {error}").into())))
        });
        let Some(decided) = asked else {
            // A host function may go on after this, and the guest is not to go on with it.
            store.ask_to_poll();
            return Err(trap(context, TrapCode::Interrupt));
        };
        match decided {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(host_stop(context, error)),
            Err(payload) => Err(Box::new(Unwind::Panic(payload))),
        }
    }
}
