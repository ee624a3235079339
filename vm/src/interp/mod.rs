//! Tier 0: runs [`Bytecode`](crate::bytecode::Bytecode) straight on the layouts that compiled code uses.
//!
//! A call from wasm to wasm inside one instance pushes a frame on the interpreter's own stack; everything else (imports, other
//! instances, compiled functions) goes out through `crate::runtime` and may come back as a nested activation above. No Rust frame is skipped and
//! nothing unwinds through: a trap is a value.
//!
//! Reading order: [`stack`] (frames), [`machine`] (what an op may use), [`ops`] (what each op does), [`dispatch`] (from op to op).

mod dispatch;
mod machine;
mod ops;
mod stack;
#[cfg(test)]
mod tests;

pub(crate) use dispatch::{Handler, handler};
pub(crate) use machine::{FIRST, SECOND};
pub use stack::InterpStack;

use crate::bytecode::{Bytecode, Inst};
use crate::layout::{FunctionPlace, VmContext, VmFunc, VmMemoryRef};
use crate::runtime;
use crate::trap::{Outcome, TrapCode};
use machine::{Exec, Regs};
use stack::FrameRecord;

/// Calls a defined function of an instance: arguments in `slots` from the first, results replace them.
///
/// # Safety
/// `context` is live, of kind wasm, and its store runs on this thread; `function` is defined in its module; `slots` holds the arguments and has room
/// for the results.
pub unsafe fn call(context: *mut VmContext, function: u32, slots: *mut u64) -> Outcome {
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
                return runtime::call_function(own_function(context, function), context, slots);
            }
            exec.run(entry);
        }
        exec.end();
        std::ptr::copy_nonoverlapping(sp, slots, (*code).result_slots as usize);
        exec.outcome
    }
}

/// Continues a function's frame at a loop header and runs it to the function's end. `frame` holds at least the live slots (locals, then the
/// operand stack), `results` gets the results.
///
/// # Safety
/// As [`call`]; the function has a loop at `loop_offset`, and the slots hold values of the types of its frame there.
pub unsafe fn resume(context: *mut VmContext, function: u32, loop_offset: u32, frame: &[u64], results: *mut u64) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let mut exec = Exec::new(context);
        let code: *const Bytecode = (*exec.code).bytecode(function);
        let point = (*code).point_at(loop_offset).expect("the loop is there (the caller's promise)");
        let sp = exec.begin(code)?;
        let live = &frame[..point.live_slots as usize];
        std::ptr::copy_nonoverlapping(live.as_ptr(), sp, live.len());
        // The point is behind the header's op, which would count this round again and enter the code that has just left.
        exec.run((*code).ops.as_ptr().add(point.pc as usize));
        exec.end();
        std::ptr::copy_nonoverlapping(sp, results, (*code).result_slots as usize);
        exec.outcome
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
            (*interp).prepare();
            let instance = runtime::instance(context);
            let offsets = instance.module.offsets();
            let imported_functions = instance.module.imported_functions;
            let functions_place = match offsets.function(imported_functions) {
                FunctionPlace::Inline(place) => place,
                FunctionPlace::Pointer(_) => unreachable!("it is the first one of its own"),
            };
            let memory = if instance.module.memories.is_empty() {
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
                counters: (*context).counters,
                memory,
                imported_functions,
                functions_place,
                tables_place: offsets.table(0),
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

    /// Runs the frame from `ip` to its end.
    unsafe fn run(&mut self, ip: *const Inst) {
        // SAFETY: `begin` made the frame, and `ip` is one of its code's ops.
        unsafe {
            let FrameRecord { sp, .. } = *self.first_frame;
            dispatch::run(Regs {
                ip,
                sp,
                memory: if self.memory.is_null() { std::ptr::dangling_mut() } else { (*self.memory).base },
                memory_length: self.memory_length(),
                exec: self,
                accumulator: 0,
            });
        }
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
