//! Tier 0: runs [`Bytecode`](crate::bytecode::Bytecode) straight on the layouts that compiled code uses.
//!
//! A call from wasm to wasm inside one instance pushes a frame on the interpreter's own stack; everything else (imports, other
//! instances, compiled functions) goes out through `crate::runtime` and may come back as a nested activation above. No Rust frame is skipped and
//! nothing unwinds through: a trap is a value.
//!
//! Reading order: [`stack`] (frames), [`machine`] (what an op may use), [`ops`] (what each op does), [`dispatch`] (from op to op), [`template`] (machine code in place of
//! the way from op to op).

mod callee;
mod dispatch;
mod exceptions;
mod machine;
mod ops;
mod rare;
mod stack;
mod template;
#[cfg(test)]
mod tests;

pub(crate) use callee::CallTarget;
pub(crate) use dispatch::{Handler, handler};
pub(crate) use machine::{FIRST, SECOND};
pub(crate) use ops::{CONDITION, LOW_HALF, VALUE32, VALUE64, exact32, exact64};
pub(crate) use rare::Rare;
pub use stack::InterpStack;
pub(crate) use template::{Surroundings, Templates, resume_after_fault, shared_templates};

use crate::bytecode::{Bytecode, Inst, Op};
use crate::layout::{FunctionPlace, SwitchHeader, VmContext, VmFunc, VmMemoryRef, head};
use crate::runtime::{self, Next};
use crate::trap::{Outcome, TrapCode};
use machine::{Exec, Regs};
use stack::FrameRecord;

/// Calls a defined function of an instance: arguments in `slots` from the first, results replace them, unless it goes on elsewhere.
///
/// # Safety
/// `context` is live, of kind wasm, and its store runs on this thread; `function` is defined in its module; `slots` holds the arguments and has room
/// for the results.
pub unsafe fn call(context: *mut VmContext, function: u32, slots: *mut u64) -> Outcome<Next> {
    // SAFETY: the caller's promise. Raw pointers throughout: what the interpreter calls may use the same store.
    unsafe {
        let mut exec = Exec::new(context);
        let code: *const Bytecode = (*exec.code).bytecode(function);
        let sp = exec.begin(code)?;
        std::ptr::copy_nonoverlapping(slots, sp, (*code).param_slots as usize);
        let entry = (*code).ops.as_ptr();
        if ops::enter_first(&mut exec, entry, function) {
            if !(*exec.code).compiled(function).is_null() {
                // It became hot just now and was compiled on the spot.
                exec.end();
                return runtime::call_function(own_function(context, function), context, slots).map(|()| Next::Done);
            }
            let entry = match (*exec.code).form_to_call(context, function) {
                Some(watched) if ops::enter_frame(&mut exec, exec.first_frame, sp, watched) => (*watched).ops.as_ptr(),
                _ => entry,
            };
            exec.run(entry);
        }
        exec.end();
        exec.finish(sp, slots, code)
    }
}

/// The same of a function whose watched form is `code`, for a burst that looks at its body.
///
/// # Safety
/// As [`call`].
pub(crate) unsafe fn call_watched(context: *mut VmContext, code: *const Bytecode, slots: *mut u64) -> Outcome<Next> {
    // SAFETY: the caller's promise.
    unsafe {
        let mut exec = Exec::new(context);
        let sp = exec.begin(code)?;
        std::ptr::copy_nonoverlapping(slots, sp, (*code).param_slots as usize);
        exec.run((*code).ops.as_ptr());
        exec.end();
        exec.finish(sp, slots, code)
    }
}

/// Continues the frames in the switch buffer and runs them to the outermost function's end; `results` gets its results.
///
/// # Safety
/// As [`call`]; the buffer holds frames of functions of the module, written at points of theirs.
pub unsafe fn resume(context: *mut VmContext, results: *mut u64) -> Outcome<Next> {
    // SAFETY: the caller's promise.
    unsafe {
        let mut exec = Exec::new(context);
        let buffer = (*(*head(context)).store).switch_buffer.cast::<SwitchHeader>();
        let code: *const Bytecode = (*exec.code).bytecode((*buffer).function);
        let sp = exec.begin(code)?;
        match exec.rebuild(buffer) {
            // A loop's point is behind its header's op, which would count this round again and enter the code that has just left.
            Ok(ip) => exec.run(ip),
            Err(unwind) => exec.outcome = Err(unwind),
        }
        exec.end();
        exec.finish(sp, results, code)
    }
}

/// The `VmFunc` of a function that the module defines.
unsafe fn own_function(context: *mut VmContext, function: u32) -> *const VmFunc {
    // SAFETY: the place is the module's, inside the context.
    unsafe {
        let place = runtime::instance(context).module.offsets().function(function);
        let FunctionPlace::Inline(place) = place else { unreachable!("own functions lie in the context") };
        context.byte_offset(place as isize).cast()
    }
}

impl Exec {
    /// An activation without frames.
    ///
    /// # Safety
    /// As [`call`].
    unsafe fn new(context: *mut VmContext) -> Exec {
        // SAFETY: the caller's promise; the instance and its module outlive the activation.
        unsafe {
            let interp = &raw mut (*runtime::store_state(context)).interp;
            debug_assert!((*interp).is_prepared(), "the host's call prepares it");
            let instance = runtime::instance(context);
            let offsets = instance.module.offsets();
            let imported_functions = instance.module.imported_functions;
            let functions_place = match offsets.function(imported_functions) {
                FunctionPlace::Inline(place) => place,
                FunctionPlace::Pointer(_) => unreachable!("it is the first one of its own"),
            };
            let memory = if instance.module.memories.is_empty() || !instance.module.is_plain_memory(0) {
                std::ptr::null()
            } else {
                let reference = context.byte_offset(offsets.memory(0) as isize);
                (*reference.cast::<VmMemoryRef>()).memory
            };
            let frame = (*interp).frame_top;
            Exec {
                context,
                interp,
                code: std::sync::Arc::as_ptr(&instance.code),
                frame,
                first_frame: frame,
                frames_end: (*interp).frames_end,
                values_end: (*interp).values_end,
                counters: (*head(context)).counters,
                targets: instance.code.targets().as_ptr(),
                memory,
                imported_functions,
                functions_place,
                tables_place: offsets.table(0),
                memories_place: offsets.memory(0),
                next: Next::Done,
                frame_left: false,
                outcome: Ok(()),
                saved: Regs::NONE,
            }
        }
    }

    /// Begins the activation with a frame of `code`, locals zero, whose slot 0 is returned.
    unsafe fn begin(&mut self, code: *const Bytecode) -> Outcome<*mut u64> {
        // SAFETY: `Exec::new`'s promise.
        unsafe {
            let sp = (*self.interp).free_slots();
            if self.first_frame == self.frames_end || !ops::enter_frame(self, self.first_frame, sp, code) {
                return Err(runtime::trap(self.context, TrapCode::StackOverflow));
            }
            let first = (*self.interp).depth();
            (*self.interp).frame_top = self.first_frame.add(1);
            runtime::push_interpreter(self.context, first);
            Ok(sp)
        }
    }

    /// Fills the running frame from the switch buffer, the outermost function's, and pushes those of the inlined callees behind it; where
    /// the innermost goes on.
    ///
    /// # Safety
    /// There is a running frame, and the buffer holds frames as compiled code writes them that begin with one of its function, or of a function that
    /// was called in its place.
    unsafe fn rebuild(&mut self, buffer: *const SwitchHeader) -> Outcome<*const Inst> {
        // SAFETY: `begin` or a call made the running frame, with room for all slots of its code; the buffer's slots are as many as the points
        // say (the caller's promise), and `enter_frame` checks each further frame's room.
        unsafe {
            let mut head = buffer;
            let outermost = (*head).function;
            let code = (*self.code).form_to_run(self.context, outermost);
            if (*self.frame).code != code {
                // A burst begins or is over. Or compiled code went on with this frame, and what it then called in its own place has left.
                if !ops::enter_frame(self, self.frame, (*self.frame).sp, code) {
                    return Err(runtime::trap(self.context, TrapCode::StackOverflow));
                }
            }
            loop {
                let SwitchHeader { function, offset, callees, .. } = *head;
                let FrameRecord { sp, code, .. } = *self.frame;
                let slots = head.add(1).cast::<u64>();
                let point = (*code).point_at(offset).filter(|_| (*code).function == function);
                let Some(point) = point else {
                    return Err(runtime::internal(&format!("no frame of function {function} can be rebuilt at byte {offset:#x}")));
                };
                let ip = (*code).ops.as_ptr().add(point.pc as usize);
                if callees == 0 {
                    std::ptr::copy_nonoverlapping(slots, sp, point.live_slots as usize);
                    machine::publish(self, ip);
                    return Ok(ip);
                }
                let (Op::Call { base, .. }
                | Op::CallIndirect { base, .. }
                | Op::WatchedCall { base, .. }
                | Op::WatchedCallIndirect { base, .. }) = (*ip).op
                else {
                    return Err(runtime::internal(&format!("function {function} calls nothing at byte {offset:#x}")));
                };
                std::ptr::copy_nonoverlapping(slots, sp, base.0 as usize);
                machine::publish(self, ip);
                head = slots.add(base.0 as usize).cast();
                let callee: *const Bytecode = (*self.code).bytecode((*head).function);
                if !ops::enter_frame(self, self.frame.add(1), sp.add(base.0 as usize), callee) {
                    return Err(runtime::trap(self.context, TrapCode::StackOverflow));
                }
                self.frame = self.frame.add(1);
            }
        }
    }

    /// Runs the innermost frame from `ip`, and those below it, to the end of the activation's first.
    unsafe fn run(&mut self, ip: *const Inst) {
        // SAFETY: `begin` made the first frame, and `ip` is one of the innermost one's ops.
        unsafe {
            let mut ip = ip;
            loop {
                let FrameRecord { sp, .. } = *self.frame;
                dispatch::run(Regs { ip, sp, memory: self.memory_base(), memory_length: self.memory_length(), exec: self, accumulator: 0 });
                match self.catch() {
                    Some(handler) => ip = handler,
                    None => return,
                }
            }
        }
    }

    /// What the activation came to, `sp` being its first frame's slots: its results, or how it goes on elsewhere.
    unsafe fn finish(self, sp: *const u64, results: *mut u64, code: *const Bytecode) -> Outcome<Next> {
        self.outcome?;
        if let Next::Done = self.next {
            // SAFETY: `sp` is the first frame's, of `code` or of what it called in its place, which has the same results; the caller has room for them.
            unsafe { std::ptr::copy_nonoverlapping(sp, results, (*code).result_slots as usize) };
        }
        Ok(self.next)
    }

    /// Ends the activation, however it went.
    unsafe fn end(&mut self) {
        // SAFETY: `begin` began it.
        unsafe {
            (*self.interp).frame_top = self.first_frame;
            runtime::pop_interpreter(self.context);
        }
    }
}
