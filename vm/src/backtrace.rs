//! Walks over the frames of a store: its backtrace, and the program counters on its wasm stack.

use crate::layout::VmContext;
use crate::registry;
use crate::runtime::{Activation, instance, store_state};
use crate::store::StoreState;
use crate::trap::Frame;

/// The wasm frames of a store, innermost first. Called from Rust that wasm called, or from the interpreter with its pc published.
///
/// # Safety
/// `context` is a live context of the running store.
pub unsafe fn backtrace(context: *mut VmContext) -> Vec<Frame> {
    // SAFETY: the caller's promise.
    unsafe { backtrace_from(&*store_state(context), None) }
}

/// Most frames a backtrace holds; a stack overflow has more, which say nothing new.
const MOST_FRAMES: usize = 1000;

/// Program counters in compiled code and adapters from an activation's innermost frame outwards: `pc` itself, then return addresses.
///
/// # Safety
/// `pc` and `fp` are of a frame on the store's wasm stack, which does not run meanwhile, or `pc` is outside of all code.
unsafe fn compiled_pcs(store: &StoreState, (pc, fp): (usize, usize)) -> impl Iterator<Item = usize> {
    let stack = store.context.stack_low..store.context.stack_high;
    let mut next = Some((pc, fp));
    std::iter::from_fn(move || {
        let (pc, fp) = next.filter(|&(pc, _)| crate::arena::contains(pc))?;
        // SAFETY: inside the wasm stack (checked), aligned as a frame pointer is.
        next = stack.contains(&fp).then(|| unsafe { (read_word(fp + 8), read_word(fp)) });
        Some(pc)
    })
}

/// A place on a store's stacks, without names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// In compiled code or an adapter.
    Compiled(usize),
    /// Of the interpreter: the context of its instance, function and byte offset.
    Interpreted(*mut VmContext, u32, Option<u32>),
}

/// Appends the wasm frames at a place: several where functions are inlined.
///
/// # Safety
/// Code and context are there as they were when the place was walked over.
pub(crate) unsafe fn frames_at(place: Place, frames: &mut Vec<Frame>) {
    match place {
        Place::Compiled(pc) => registry::frames_at(pc, frames),
        Place::Interpreted(context, function, offset) => {
            // SAFETY: the caller's promise.
            let module = unsafe { &instance(context).module };
            frames.push(Frame::new(module.clone(), function, offset));
        }
    }
}

/// `start`: pc and frame pointer of the innermost compiled activation, where it did not leave through a builtin.
pub(crate) unsafe fn backtrace_from(store: &StoreState, start: Option<(usize, usize)>) -> Vec<Frame> {
    let mut frames = Vec::new();
    // SAFETY: the caller's promise; what is walked over is looked up at once.
    unsafe {
        walk(store, start, |place| {
            frames_at(place, &mut frames);
            let is_full = frames.len() > MOST_FRAMES;
            if is_full {
                frames.truncate(MOST_FRAMES);
                frames[MOST_FRAMES - 1].is_cut = true;
            }
            !is_full
        });
    }
    frames
}

/// Calls `see` with each place, innermost first, until it says false. `start`: see [`backtrace_from`].
///
/// # Safety
/// As [`backtrace`].
pub(crate) unsafe fn walk(store: &StoreState, start: Option<(usize, usize)>, mut see: impl FnMut(Place) -> bool) {
    let mut exit_fp = store.context.exit_fp;
    let mut start = start;
    let mut last = store.interp.depth();
    let mut continued = false;
    for activation in store.activations.iter().rev() {
        match *activation {
            Activation::Interpreter { context, first } => {
                let skipped = usize::from(std::mem::take(&mut continued));
                for (function, offset) in store.interp.frames_between(first, last).skip(skipped) {
                    if !see(Place::Interpreted(context, function, offset)) {
                        return;
                    }
                }
                last = first;
            }
            Activation::Compiled { outer_exit_fp, continues_frame } => {
                continued = continues_frame;
                // SAFETY: `exit_fp` is the frame of a thunk still on the wasm stack (invariant 4 of `crate::entry`); its two words are its
                // caller's frame and pc. Frames of compiled code and adapters have the same shape (preserve_frame_pointers).
                let (innermost, mut exact) = match start.take() {
                    Some(innermost) => (innermost, true),
                    None if exit_fp == 0 => ((0, 0), false),
                    // SAFETY: as above.
                    None => (unsafe { (read_word(exit_fp + 8), read_word(exit_fp)) }, false),
                };
                // SAFETY: as above.
                for pc in unsafe { compiled_pcs(store, innermost) } {
                    // A return address may be the first byte behind its instruction's position.
                    if !see(Place::Compiled(if exact { pc } else { pc - 1 })) {
                        return;
                    }
                    exact = false;
                }
                exit_fp = outer_exit_fp;
            }
        }
    }
}

/// Address of the guest's code that called the host function now running: the return address in compiled code, or the interpreter's op. 0 where the host
/// called it itself.
pub(crate) fn calling_address(store: &StoreState) -> u64 {
    match store.activations.last() {
        Some(&Activation::Interpreter { first, .. }) => store.interp.innermost_address(first).unwrap_or(0),
        Some(Activation::Compiled { .. }) if store.context.exit_fp != 0 => {
            let exit_fp = store.context.exit_fp;
            // SAFETY: as in `backtrace_from`: the thunk's frame, then those of adapters and of compiled code.
            let mut pcs = unsafe { compiled_pcs(store, (read_word(exit_fp + 8), read_word(exit_fp))) };
            pcs.find(|pc| registry::is_guest_code(pc - 1)).map_or(0, |pc| pc as u64)
        }
        _ => 0,
    }
}

/// The return addresses in compiled code on a store's wasm stack.
///
/// # Safety
/// The calling thread runs the store, and wasm left it through a builtin or an interpreter's call.
pub(crate) unsafe fn for_each_pc(store: &StoreState, mut f: impl FnMut(usize)) {
    let mut exit_fp = store.context.exit_fp;
    for activation in store.activations.iter().rev() {
        let Activation::Compiled { outer_exit_fp, .. } = *activation else { continue };
        if exit_fp != 0 {
            // SAFETY: as in `backtrace_from`.
            unsafe { compiled_pcs(store, (read_word(exit_fp + 8), read_word(exit_fp))) }.for_each(&mut f);
        }
        exit_fp = outer_exit_fp;
    }
}

/// Reads a word of the wasm stack.
///
/// # Safety
/// The address lies in mapped stack memory.
pub(crate) unsafe fn read_word(address: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { (address as *const usize).read_unaligned() }
}
