//! Moves, jumps, calls, returns and loop headers.

use super::table::table_of;
use crate::bytecode::{Bytecode, Inst, Op, Slot, Target};
#[cfg(all(threaded_dispatch, not(debug_assertions)))]
use crate::interp::callee::CallTarget;
use crate::interp::machine::{Exec, Flow, Regs, publish, stop};
use crate::interp::stack::FrameRecord;
use crate::layout::{SWITCH_BUFFER_SLOTS, SwitchHeader, VmFunc, head};
use crate::runtime::{self, Next};
use crate::tiering::{self, WatchedCallee, used_up};
use crate::trap::TrapCode;
use lwp_feedback::ring::count_instructions;
use std::sync::atomic::{AtomicU32, Ordering};

#[inline(always)]
pub(in crate::interp) unsafe fn count_operators<const M: u8>(regs: &mut Regs, operators: u32) -> Flow {
    // SAFETY: see `super`; the running store's LWPCB is this thread's ring.
    unsafe {
        let store = (*head((*regs.exec).context)).store;
        (*store).instructions_interpreted += u64::from(operators);
        count_instructions((*store).lwpcb.cast(), operators, regs.ip as u64);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn copy<const M: u8>(regs: &mut Regs, dst: Slot, src: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let value = regs.first::<M>(src);
        regs.set(dst, value);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn copy_two<const M: u8>(regs: &mut Regs, to: Slot, a: Slot, b: Slot) -> Flow {
    // SAFETY: see `super`; the second destination is the slot behind the first, of the frame too.
    unsafe {
        let (a, b) = (regs.first::<M>(a), regs.second::<M>(b));
        regs.set(to, a);
        regs.set(Slot(to.0 + 1), b);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn copy_many<const M: u8>(regs: &mut Regs, to: Slot, from: Slot, count: u32) -> Flow {
    // SAFETY: see `super`; both ranges are inside the frame.
    unsafe {
        std::ptr::copy(regs.address(from), regs.address(to), count as usize);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn constant<const M: u8>(regs: &mut Regs, dst: Slot, value: u64) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        regs.set(dst, value);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn select<const M: u8>(regs: &mut Regs, dst: Slot, a: Slot, b: Slot) -> Flow {
    // SAFETY: see `super`; the op behind is the `Operand` with the condition.
    unsafe {
        let Op::Operand { slot } = (*regs.ip.add(1)).op else { std::hint::unreachable_unchecked() };
        let condition = regs.u32(slot);
        let (a, b) = (regs.first::<M>(a), regs.second::<M>(b));
        regs.set(dst, std::hint::select_unpredictable(condition != 0, a, b));
        regs.ip = regs.ip.add(2);
        Flow::Next
    }
}

/// Part of the op before it; never run.
#[inline(always)]
pub(in crate::interp) unsafe fn operand<const M: u8>(regs: &mut Regs, _slot: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe { regs.next() }
}

#[inline(always)]
pub(in crate::interp) unsafe fn unreachable<const M: u8>(regs: &mut Regs) -> Flow {
    // SAFETY: see `super`.
    unsafe { regs.trap(TrapCode::UnreachableCodeReached) }
}

#[inline(always)]
pub(in crate::interp) unsafe fn jump<const M: u8>(regs: &mut Regs, target: Target) -> Flow {
    // SAFETY: see `super`.
    unsafe { regs.jump(target) }
}

#[inline(always)]
pub(in crate::interp) unsafe fn br_table<const M: u8>(regs: &mut Regs, index: Slot, count: u32) -> Flow {
    // SAFETY: see `super`; `count` + 1 jumps follow.
    unsafe {
        let index = (regs.first::<M>(index) as u32).min(count);
        regs.ip = regs.ip.add(1 + index as usize);
        Flow::Next
    }
}

// Returns: the results go to the frame's first slots, which are the caller's argument slots.

#[inline(always)]
pub(in crate::interp) unsafe fn return_none<const M: u8>(regs: &mut Regs) -> Flow {
    // SAFETY: see `super`; below the activation's first frame nothing is popped, and a caller's `ip` is at its call.
    unsafe {
        let exec = regs.exec;
        let frame = (*exec).frame;
        if frame == (*exec).first_frame {
            return Flow::Stop;
        }
        let caller = frame.sub(1);
        (*exec).frame = caller;
        regs.sp = (*caller).sp;
        regs.ip = (*caller).ip.add(1);
        Flow::Next
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn return_one<const M: u8>(regs: &mut Regs, src: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let value = regs.first::<M>(src);
        *regs.sp = value;
        return_none::<0>(regs)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn return_constant<const M: u8>(regs: &mut Regs, value: u64) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        *regs.sp = value;
        return_none::<0>(regs)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn return_many<const M: u8>(regs: &mut Regs, from: Slot, count: u32) -> Flow {
    // SAFETY: see `super`; both ranges are inside the frame.
    unsafe {
        std::ptr::copy(regs.address(from), regs.sp, count as usize);
        return_none::<0>(regs)
    }
}

/// Decrements a countdown word, shared with other threads, which may lose counts and reloads; true where none was left.
#[inline(always)]
pub(super) fn count_down(word: &AtomicU32) -> bool {
    let left = word.load(Ordering::Relaxed).wrapping_sub(1);
    word.store(left, Ordering::Relaxed);
    used_up(left)
}

/// Whether a countdown word went below 0 and was not reloaded since: another thread may have decremented it too.
fn ran_out(word: &AtomicU32) -> bool {
    used_up(word.load(Ordering::Relaxed))
}

/// The countdown word of an own function, by its index among the defined ones.
#[inline(always)]
pub(super) unsafe fn counter<'a>(exec: *mut Exec, own: u32) -> &'a AtomicU32 {
    // SAFETY: there is one word per defined function, as long as the module's code.
    unsafe { &*(*exec).counters.add(own as usize) }
}

/// The poll word of the context.
#[inline(always)]
pub(super) unsafe fn asked(exec: *mut Exec) -> bool {
    // SAFETY: the context is live.
    unsafe { (*head((*exec).context)).poll.load(Ordering::Relaxed) != 0 }
}

/// Counts a function's entry and looks at the deadline when asked; false when the activation is over.
///
/// # Safety
/// `exec` is the running activation, `ip` where its running frame is, and `function` one of its module's own.
pub(in crate::interp) unsafe fn enter_slowly(exec: *mut Exec, ip: *const Inst, function: u32) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        publish(exec, ip);
        let context = (*exec).context;
        if ran_out(counter(exec, function - (*exec).imported_functions)) {
            tiering::hot_call(context, function);
        }
        if asked(exec)
            && let Err(unwind) = runtime::interrupted(context)
        {
            stop(exec, unwind);
            return false;
        }
        // The first call may find code of an earlier process.
        runtime::instance(context).code.take_kept(function);
        true
    }
}

/// Counts the entry of the activation's first function; false when the activation is over.
///
/// # Safety
/// As [`enter_slowly`].
pub(in crate::interp) unsafe fn enter_first(exec: *mut Exec, ip: *const Inst, function: u32) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let own = function - (*exec).imported_functions;
        let hot = count_down(counter(exec, own));
        !(hot || asked(exec)) || enter_slowly(exec, ip, function)
    }
}

/// A new frame on top of the running one, its arguments in place; its record, or `None` when the stack is used up.
#[inline(always)]
pub(in crate::interp) unsafe fn enter_frame(exec: *mut Exec, frame: *mut FrameRecord, sp: *mut u64, code: *const Bytecode) -> bool {
    // SAFETY: see `super`; the frame's slots are checked to be inside the values, its record inside the frames.
    unsafe {
        let Bytecode { frame_slots, param_slots, local_slots, .. } = *code;
        let room = (*exec).values_end.offset_from(sp) as usize;
        if frame_slots as usize > room || frame == (*exec).frames_end {
            return false;
        }
        let mut local = sp.add(param_slots as usize);
        let end = sp.add(local_slots as usize);
        while local < end {
            // (volatile: as a call of `memset` this would cost every call its register saves)
            local.write_volatile(0);
            local = local.add(1);
        }
        frame.write(FrameRecord { ip: (*code).ops.as_ptr(), sp, code });
        true
    }
}

/// Calls a function of the running instance in a frame of its own; the slow way where there is more to it.
#[inline(always)]
pub(super) unsafe fn call_own(regs: &mut Regs, function: u32, base: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let exec = regs.exec;
        let own = function - (*exec).imported_functions;
        if count_down(counter(exec, own)) || asked(exec) {
            return Flow::Slow;
        }
        let Some(code) = (*(*exec).code).interpretable(own as usize) else {
            return call_compiled(regs, own, base);
        };
        if push_frame(regs, code, base) { Flow::Next } else { Flow::Slow }
    }
}

/// Calls a function that has code, if nothing more is to be looked at than that; the slow way otherwise.
#[inline(always)]
unsafe fn call_compiled(regs: &mut Regs, own: u32, base: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let exec = regs.exec;
        match (*(*exec).code).callable(own as usize, own + (*exec).imported_functions) {
            Some((adapter, code)) => call_code(regs, own, adapter, code, base),
            None => Flow::Slow,
        }
    }
}

#[inline(always)]
unsafe fn call_code(regs: &mut Regs, own: u32, adapter: usize, code: usize, base: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let slots = regs.address(base);
        if run_compiled(regs.exec, regs.ip, own, adapter, code, slots) == Flow::Stop {
            return Flow::Stop;
        }
        regs.reload_memory();
        regs.next()
    }
}

/// Calls a function that has code, for templates, which looked at the poll word: the quick way of their calls' handlers, for that function alone.
#[cfg(all(threaded_dispatch, not(debug_assertions)))]
#[inline(always)]
pub(in crate::interp) unsafe fn call_target(regs: &mut Regs, target: *const CallTarget) -> Flow {
    // SAFETY: see `super`; `target` is one of the module's own.
    unsafe {
        let exec = regs.exec;
        let (Op::Call { base, .. } | Op::CallIndirect { base, .. }) = (*regs.ip).op else { std::hint::unreachable_unchecked() };
        let own = target.offset_from((*exec).targets) as u32;
        if count_down(counter(exec, own)) {
            return Flow::Slow;
        }
        let Some((adapter, code)) = (*(*exec).code).callable(own as usize, own + (*exec).imported_functions) else {
            return Flow::Slow;
        };
        let slots = regs.address(base);
        if run_compiled_here(exec, regs.ip, own, adapter, code, slots) == Flow::Stop {
            return Flow::Stop;
        }
        regs.reload_memory();
        regs.next()
    }
}

/// Kept apart, so that a handler that may come here needs no stack frame.
#[inline(never)]
unsafe fn run_compiled(exec: *mut Exec, ip: *const Inst, own: u32, adapter: usize, code: usize, slots: *mut u64) -> Flow {
    // SAFETY: as `call_function`.
    unsafe { run_compiled_here(exec, ip, own, adapter, code, slots) }
}

#[inline(always)]
unsafe fn run_compiled_here(exec: *mut Exec, ip: *const Inst, own: u32, adapter: usize, code: usize, slots: *mut u64) -> Flow {
    // SAFETY: as `call_function`.
    unsafe {
        publish(exec, ip);
        (*(*(*exec).frame).code).count_call_out();
        match runtime::call_compiled((*exec).context, own + (*exec).imported_functions, adapter, code, slots) {
            Ok(()) => Flow::Next,
            Err(unwind) => stop(exec, unwind),
        }
    }
}

/// Makes a called function's frame the running one; false when the stack is used up.
#[inline(always)]
unsafe fn push_frame(regs: &mut Regs, code: *const Bytecode, base: Slot) -> bool {
    // SAFETY: see `super`.
    unsafe {
        let exec = regs.exec;
        let sp = regs.address(base);
        let frame = (*exec).frame;
        (*frame).ip = regs.ip;
        if !enter_frame(exec, frame.add(1), sp, code) {
            return false;
        }
        (*exec).frame = frame.add(1);
        regs.sp = sp;
        regs.ip = (*code).ops.as_ptr();
        true
    }
}

/// What a call of an own function does beyond [`call_own`]: it was counted, but it may be hot, compiled or not translated, and the deadline or the
/// stack's end may be reached.
unsafe fn call_own_slowly(regs: &mut Regs, function: u32, base: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let exec = regs.exec;
        if !enter_slowly(exec, regs.ip, function) {
            return Flow::Stop;
        }
        if !(*(*exec).code).compiled(function).is_null() {
            let own = function - (*exec).imported_functions;
            let functions = (*exec).context.byte_offset((*exec).functions_place as isize).cast::<VmFunc>();
            return call_out(regs, functions.add(own as usize), base);
        }
        // (a burst may just have begun)
        let code = (*(*exec).code).form_to_call((*exec).context, function);
        let code = code.unwrap_or_else(|| (*(*exec).code).bytecode(function));
        if push_frame(regs, code, base) { Flow::Next } else { regs.trap(TrapCode::StackOverflow) }
    }
}

/// Continues the op at `ip` where its quick way stopped.
pub(in crate::interp) unsafe fn slow(regs: &mut Regs) -> Flow {
    // SAFETY: see `super`; the table entry was checked by the quick way, and nothing ran since.
    unsafe {
        match (*regs.ip).op {
            Op::LoopHeader { offset, own } => loop_header_slowly(regs, offset, own),
            Op::Call { function, base } | Op::WatchedCall { function, base } => call_own_slowly(regs, function, base),
            Op::CallIndirect { table, callee, base, .. } | Op::WatchedCallIndirect { table, callee, base, .. } => {
                let entry = table_of(regs.exec, table as u32);
                let entry = *(*entry).base.add(regs.u64(callee) as usize);
                let callee = entry.reference as *const VmFunc;
                if (*callee).context != (*regs.exec).context {
                    return call_out(regs, callee, base);
                }
                call_own_slowly(regs, (*callee).index, base)
            }
            Op::CallRef { callee, base } => call_own_slowly(regs, (*(regs.u64(callee) as *const VmFunc)).index, base),
            op => match super::tail::slow(regs, op) {
                Some(flow) => flow,
                None => super::watch::slow(regs, op).unwrap_or_else(|| unreachable!("{op:?} has no slow way")),
            },
        }
    }
}

/// Returns from the running frame, whose results something that it called left in its first slots.
pub(super) unsafe fn reload_and_return(regs: &mut Regs) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        regs.reload_memory();
        return_none::<0>(regs)
    }
}

/// Calls a function that is not interpreted in this activation.
#[inline(always)]
pub(super) unsafe fn call_out(regs: &mut Regs, callee: *const VmFunc, base: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let slots = regs.address(base);
        if call_function(regs.exec, regs.ip, callee, slots) == Flow::Stop {
            return Flow::Stop;
        }
        regs.reload_memory();
        regs.next()
    }
}

#[inline(never)]
unsafe fn call_function(exec: *mut Exec, ip: *const Inst, callee: *const VmFunc, slots: *mut u64) -> Flow {
    // SAFETY: see `super`; the frame has slots for arguments and results of its calls.
    unsafe {
        publish(exec, ip);
        match runtime::call_function(callee, (*exec).context, slots) {
            Ok(()) => Flow::Next,
            Err(unwind) => stop(exec, unwind),
        }
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn call<const M: u8>(regs: &mut Regs, function: u32, base: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe { call_own(regs, function, base) }
}

#[inline(always)]
pub(in crate::interp) unsafe fn call_import<const M: u8>(regs: &mut Regs, _function: u32, base: Slot, place: i32) -> Flow {
    // SAFETY: see `super`; an import's pointer lies at its place in the context and never changes.
    unsafe {
        let callee = (*regs.exec).context.byte_offset(place as isize);
        let callee = callee.cast::<*const VmFunc>().read();
        call_out(regs, callee, base)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn call_indirect<const M: u8>(regs: &mut Regs, table: u16, signature: u32, callee: Slot, base: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        match indirect_callee(regs, table, signature, callee) {
            Ok(function) => call_own(regs, function, base),
            Err(flow) => flow,
        }
    }
}

/// As [`call`], in the watched form: the callee is to be seen too, while a burst is under way.
#[inline(always)]
pub(in crate::interp) unsafe fn watched_call<const M: u8>(regs: &mut Regs, function: u32, base: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let exec = regs.exec;
        match (*(*exec).code).watched_callee((*exec).context, function) {
            Some(WatchedCallee::Bytecode(code)) if !asked(exec) => {
                if push_frame(regs, code, base) {
                    Flow::Next
                } else {
                    regs.trap(TrapCode::StackOverflow)
                }
            }
            Some(WatchedCallee::Code(adapter, code)) => call_code(regs, function - (*exec).imported_functions, adapter, code, base),
            _ => call_own(regs, function, base),
        }
    }
}

/// As [`call_indirect`], in the watched form.
#[inline(always)]
pub(in crate::interp) unsafe fn watched_call_indirect<const M: u8>(
    regs: &mut Regs,
    table: u16,
    signature: u32,
    callee: Slot,
    base: Slot,
) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        match indirect_callee(regs, table, signature, callee) {
            Ok(function) => watched_call::<M>(regs, function, base),
            Err(flow) => flow,
        }
    }
}

/// The own function that an indirect call reaches, or what it comes to: a trap, or the slow way to another instance's.
#[inline(always)]
pub(super) unsafe fn indirect_callee(regs: &mut Regs, table: u16, signature: u32, callee: Slot) -> Result<u32, Flow> {
    // SAFETY: see `super`; the index is checked, and an entry with a signature names a live function.
    unsafe {
        let table = table_of(regs.exec, table as u32);
        let index = regs.u64(callee) as usize;
        if index >= (*table).length.load(Ordering::Relaxed) {
            return Err(regs.trap(TrapCode::TableOutOfBounds));
        }
        let entry = *(*table).base.add(index);
        if entry.signature != signature as u64 {
            return Err(regs.trap(if entry.signature == 0 { TrapCode::IndirectCallToNull } else { TrapCode::BadSignature }));
        }
        let callee = entry.reference as *const VmFunc;
        if (*callee).context != (*regs.exec).context {
            return Err(Flow::Slow);
        }
        Ok((*callee).index)
    }
}

/// Counts a back edge (and the way in), and looks at the deadline when asked.
#[inline(always)]
pub(in crate::interp) unsafe fn loop_header<const M: u8>(regs: &mut Regs, _offset: u32, own: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let exec = regs.exec;
        if count_down(counter(exec, own)) || asked(exec) {
            return Flow::Slow;
        }
        regs.next()
    }
}

/// Runs the loop header that was just jumped back to.
#[inline(always)]
pub(in crate::interp) unsafe fn back_edge(regs: &mut Regs) -> Flow {
    // SAFETY: see `super`; what lies behind a jump is a loop header.
    unsafe {
        let Op::LoopHeader { offset, own } = (*regs.ip).op else { std::hint::unreachable_unchecked() };
        loop_header::<0>(regs, offset, own)
    }
}

unsafe fn loop_header_slowly(regs: &mut Regs, offset: u32, own: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let exec = regs.exec;
        let hot = ran_out(counter(exec, own));
        let at = at_loop(exec, regs.ip, offset, hot);
        go_on_at(regs, at)
    }
}

unsafe fn go_on_at(regs: &mut Regs, at: AtLoop) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        regs.reload_memory();
        match at {
            AtLoop::Continue => regs.next(),
            AtLoop::Stop => Flow::Stop,
            AtLoop::Left(ip) => {
                regs.ip = ip;
                regs.sp = (*(*regs.exec).frame).sp;
                Flow::Next
            }
            AtLoop::Finished => return_none::<0>(regs),
        }
    }
}

/// At a watched loop whose burst is over: goes on in compiled code, or in the ordinary form.
pub(super) unsafe fn leave_watched(regs: &mut Regs, offset: u32) -> Flow {
    // SAFETY: see `super`; at a loop's point the frame is canonical in both forms, and the watched one has room for the other's slots.
    unsafe {
        let exec = regs.exec;
        publish(exec, regs.ip);
        let function = (*(*(*exec).frame).code).function;
        let entry = tiering::watched_enough((*exec).context, function, offset);
        let at = match enter_code(exec, offset, entry) {
            AtLoop::Continue => {
                let code: *const Bytecode = (*(*exec).code).bytecode(function);
                let pc = (*code).pc_at(offset).expect("both forms have the same points");
                (*(*exec).frame).code = code;
                AtLoop::Left((*code).ops.as_ptr().add(pc as usize))
            }
            at => at,
        };
        go_on_at(regs, at)
    }
}

enum AtLoop {
    Continue,
    Stop,
    /// Compiled code ran the frame to its end; the results are in its first slots.
    Finished,
    /// Compiled code ran the frame for a while and left: the op to go on with, in the frame that is the running one now.
    Left(*const Inst),
}

unsafe fn at_loop(exec: *mut Exec, ip: *const Inst, offset: u32, hot: bool) -> AtLoop {
    // SAFETY: see `super`; at a loop header the frame is canonical, `live_slots` of it are in use, and the switch buffer has room for
    // `SWITCH_BUFFER_SLOTS`.
    unsafe {
        publish(exec, ip);
        let context = (*exec).context;
        if asked(exec)
            && let Err(unwind) = runtime::interrupted(context)
        {
            stop(exec, unwind);
            return AtLoop::Stop;
        }
        if !hot {
            return AtLoop::Continue;
        }
        let code = (*(*exec).frame).code;
        let function = (*code).function;
        if (*code).is_watched() && !(*(*exec).code).counts_early_in(context, function) {
            // Its rounds are the burst's.
            (*(*exec).code).count_anew(function);
            return AtLoop::Continue;
        }
        let entry = tiering::hot_loop(context, function, offset);
        if entry.is_null()
            && let Some(watched) = (*(*exec).code).form_to_call(context, function)
        {
            return go_on_in(exec, watched, offset);
        }
        enter_code(exec, offset, entry)
    }
}

/// Goes on with the running frame, which is at the header of a loop, in its function's watched form, if there is room for that.
unsafe fn go_on_in(exec: *mut Exec, watched: *const Bytecode, offset: u32) -> AtLoop {
    // SAFETY: as `at_loop`; at a loop's point the frame is canonical in both forms, whose points are the same.
    unsafe {
        let frame = (*exec).frame;
        let room = (*exec).values_end.offset_from((*frame).sp) as usize;
        match (*watched).pc_at(offset) {
            Some(pc) if (*watched).frame_slots as usize <= room => {
                (*frame).code = watched;
                AtLoop::Left((*watched).ops.as_ptr().add(pc as usize))
            }
            _ => AtLoop::Continue,
        }
    }
}

/// Goes on with the running frame, which is at the header of a loop, in that loop's code; not where there is none or the frame is too large.
unsafe fn enter_code(exec: *mut Exec, offset: u32, entry: *const u8) -> AtLoop {
    // SAFETY: as `at_loop`.
    unsafe {
        let context = (*exec).context;
        let FrameRecord { sp, code, .. } = *(*exec).frame;
        let function = (*code).function;
        let live_slots = match (*code).point_at(offset) {
            Some(point) => point.live_slots as usize,
            None => return AtLoop::Continue,
        };
        if entry.is_null() || live_slots > SWITCH_BUFFER_SLOTS {
            return AtLoop::Continue;
        }
        let buffer = (*(*head(context)).store).switch_buffer;
        buffer.cast::<SwitchHeader>().write(SwitchHeader { function, offset, version: 0, callees: 0 });
        let slots = buffer.byte_add(size_of::<SwitchHeader>());
        std::ptr::copy_nonoverlapping(sp, slots, live_slots);
        if (*code).tail_calls && (*exec).frame == (*exec).first_frame {
            // What is entered may call in place of this frame again and again: it must not stand on top of it.
            (*exec).next = Next::Loop { context, code: entry, function };
            return AtLoop::Stop;
        }
        match runtime::enter_loop(context, entry, function, sp) {
            Ok(true) => AtLoop::Finished,
            Ok(false) => match (*exec).rebuild(buffer.cast()) {
                Ok(ip) => AtLoop::Left(ip),
                Err(unwind) => {
                    stop(exec, unwind);
                    AtLoop::Stop
                }
            },
            Err(unwind) => {
                (*exec).frame_left = true;
                stop(exec, unwind);
                AtLoop::Stop
            }
        }
    }
}
