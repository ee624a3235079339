//! Faults of compiled code become traps: SIGSEGV, SIGBUS, SIGFPE and SIGILL handlers that chain to those installed before.
//!
//! The handler decides by two facts and touches nothing else: the faulting pc lies in code memory, or the faulting address lies in the guard of the
//! stack of the store this thread is running (a builtin's thunk pushes on that stack too). It records the pc, the frame pointer and the
//! address in the store, and resumes at the landing of the innermost entry. Which trap it was is looked up there, in ordinary code.
//! A load that was compiled as speculative ([`crate::speculative`]) does not trap: it yields zero, and its code goes on.
//! A template's access that its memory's guard caught goes on in the op's handler, which traps.
//! An LWP instruction in compiled code (source `trap`) is executed on the thread's ring.
//! Async-signal-safe: atomics, a constant-initialized thread-local and the store's own words.

use crate::arena;
use crate::code::LoadTarget;
use crate::entry::land;
use crate::interp;
use crate::layout::{KIND_HOST, KIND_WASM, VmContext, VmStoreContext, head};
use crate::mapping::{Mapping, PAGE};
use crate::speculative;
use crate::stack::GUARD_BYTES;
use lwp_feedback::trap::generated::execute_in_ring;
use lwp_feedback::trap::registers::GENERAL;
use std::cell::Cell;
use std::io;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// Bytes of the alternate stack each thread that runs wasm gets. Rust's own is 8 KiB, threads made elsewhere have none.
const ALTERNATE_STACK_BYTES: usize = 64 << 10;
const SIGNALS: [libc::c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

static PREVIOUS: [OnceLock<Action>; 4] = [const { OnceLock::new() }; 4];

struct Action(libc::sigaction);
// SAFETY: a `sigaction` is plain data; the handler address in it may be called from any thread.
unsafe impl Send for Action {}
// SAFETY: as above.
unsafe impl Sync for Action {}

thread_local! {
    /// The store this thread runs, or null.
    static CURRENT: Cell<*mut VmStoreContext> = const { Cell::new(std::ptr::null_mut()) };
    static ALTERNATE: Cell<Option<AlternateStack>> = const { Cell::new(None) };
    static PREPARED: Cell<bool> = const { Cell::new(false) };
}

/// Makes `store` the one this thread runs; returns the one before, to be set again afterwards.
pub fn set_current(store: *mut VmStoreContext) -> *mut VmStoreContext {
    CURRENT.replace(store)
}

/// The store this thread runs, or null. Async-signal-safe.
pub fn current() -> *mut VmStoreContext {
    CURRENT.get()
}

/// Installs the handlers once per process and this thread's alternate stack. Called before a thread runs wasm.
pub fn prepare_thread() -> io::Result<()> {
    if PREPARED.get() {
        return Ok(());
    }
    static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
    INSTALLED.get_or_init(install).map_err(io::Error::from_raw_os_error)?;
    if let Some(stack) = AlternateStack::install_if_needed()? {
        ALTERNATE.set(Some(stack));
    }
    PREPARED.set(true);
    Ok(())
}

fn install() -> Result<(), i32> {
    for (slot, &signal) in SIGNALS.iter().enumerate() {
        let mut old = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: all-zero is a valid `sigaction` (no flags, empty mask), filled in below.
        let mut new: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        new.sa_sigaction = handler as *const () as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        // The previous action must be known before the handler can run.
        // SAFETY: querying writes a full `sigaction` into `old`.
        if unsafe { libc::sigaction(signal, std::ptr::null(), old.as_mut_ptr()) } != 0 {
            return Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL));
        }
        // SAFETY: the successful call above initialized it.
        let _ = PREVIOUS[slot].set(Action(unsafe { old.assume_init() }));
        // SAFETY: `new` names a handler of the three-argument form, as SA_SIGINFO says.
        if unsafe { libc::sigaction(signal, &new, std::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL));
        }
    }
    Ok(())
}

struct AlternateStack {
    _mapping: Mapping,
}

impl AlternateStack {
    fn install_if_needed() -> io::Result<Option<AlternateStack>> {
        let mut current = MaybeUninit::<libc::stack_t>::zeroed();
        // SAFETY: querying writes a full `stack_t`.
        let current = unsafe {
            libc::sigaltstack(std::ptr::null(), current.as_mut_ptr());
            current.assume_init()
        };
        if current.ss_flags & libc::SS_DISABLE == 0 && current.ss_size >= ALTERNATE_STACK_BYTES {
            return Ok(None);
        }
        let mapping = Mapping::reserve(ALTERNATE_STACK_BYTES + PAGE)?;
        mapping.open(PAGE, ALTERNATE_STACK_BYTES)?;
        let stack =
            libc::stack_t { ss_sp: (mapping.base() as usize + PAGE) as *mut libc::c_void, ss_flags: 0, ss_size: ALTERNATE_STACK_BYTES };
        // SAFETY: the range is mapped, writable, and stays so until this value is dropped, which disables it first.
        if unsafe { libc::sigaltstack(&stack, std::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Some(AlternateStack { _mapping: mapping }))
    }
}

impl Drop for AlternateStack {
    fn drop(&mut self) {
        let disable = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
        // SAFETY: this thread no longer runs wasm; disabling touches no memory.
        unsafe { libc::sigaltstack(&disable, std::ptr::null_mut()) };
    }
}

/// `si_code` of what the kernel sends itself (`asm-generic/siginfo.h`).
const SI_KERNEL: libc::c_int = 0x80;

/// The handler. Returns into the landing for a fault of wasm code, else passes the signal on.
unsafe extern "C" fn handler(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid `ucontext_t` and `siginfo_t` to an SA_SIGINFO handler.
    let (machine, address) = unsafe { (&mut (*context.cast::<libc::ucontext_t>()).uc_mcontext, (*info).si_addr() as usize) };
    let pc = machine.gregs[libc::REG_RIP as usize] as usize;
    let memory_fault = signal == libc::SIGSEGV || signal == libc::SIGBUS;
    // Where the kernel is what faults, it is because another signal's frame did not fit below the stack pointer.
    // SAFETY: as above.
    let by_kernel = signal == libc::SIGSEGV && unsafe { (*info).si_code } == SI_KERNEL;
    let faulting = if by_kernel { machine.gregs[libc::REG_RSP as usize] as usize } else { address };
    let store = if arena::contains(pc) {
        if memory_fault && let Some(load) = speculative::take_fault(pc) {
            // SAFETY: the kernel's own context.
            unsafe { zero(machine, load.target) };
            machine.gregs[libc::REG_RIP as usize] += i64::from(load.length);
            return;
        }
        // Our own traps are `ud2`; the first byte of an LWP instruction is this. Blocks of code are padded, so 14 more can be read.
        // SAFETY: code in the arena runs there, so it can be read.
        let is_lwp = signal == libc::SIGILL && unsafe { (pc as *const u8).read() } == 0x8f;
        let running = machine.gregs[libc::REG_R15 as usize] as usize as *mut VmContext;
        // SAFETY: invariant 1 of `crate::entry`: code in the arena runs with its live context in r15.
        unsafe {
            debug_assert!(matches!((*head(running)).kind, KIND_WASM | KIND_HOST));
            if is_lwp && execute_in_ring(context, (*(*head(running)).store).lwpcb.cast()) {
                return;
            }
            (*head(running)).store
        }
    } else {
        if memory_fault && arena::contains_templates(pc) {
            // SAFETY: templates run with their activation in r8.
            let resumed = unsafe { interp::resume_after_fault(machine.gregs[libc::REG_R8 as usize] as *const _, pc) };
            if let Some((op, code)) = resumed {
                machine.gregs[libc::REG_RDI as usize] = op as i64;
                machine.gregs[libc::REG_RIP as usize] = code as i64;
                return;
            }
        }
        let current = CURRENT.get();
        // SAFETY: a non-null current store is live (`set_current` is paired around every entry).
        let in_guard = !current.is_null()
            && unsafe {
                let low = (*current).stack_low;
                (*current).entry != 0 && address < low && address >= low - GUARD_BYTES
            };
        if in_guard { current } else { std::ptr::null_mut() }
    };
    if store.is_null() {
        // SAFETY: we are in the handler of `signal` with the kernel's arguments.
        unsafe { chain(signal, info, context) };
        return;
    }
    // SAFETY: the store is live and only this thread runs it; `entry` is set while wasm runs (invariant 2 of `crate::entry`).
    unsafe {
        (*store).trap_pc = pc;
        (*store).trap_fp = machine.gregs[libc::REG_RBP as usize] as usize;
        (*store).trap_address = if memory_fault { faulting } else { 0 };
        machine.gregs[libc::REG_RSP as usize] = (*store).entry as i64;
    }
    machine.gregs[libc::REG_RIP as usize] = land as *const () as i64;
    machine.gregs[libc::REG_EFL as usize] &= !0x400; // the ABI wants the direction flag clear
}

/// Zeroes a register of the interrupted code.
///
/// # Safety
/// `machine` is what the kernel passed to the running handler.
unsafe fn zero(machine: &mut libc::mcontext_t, target: LoadTarget) {
    match target {
        LoadTarget::General(number) => machine.gregs[GENERAL[usize::from(number & 15)] as usize] = 0,
        // Where the kernel saved the registers in their initial state (all zero), it ignores what is written here: zero either way.
        // SAFETY: on x86-64 the kernel saves the vector registers with every signal.
        LoadTarget::Vector(number) => unsafe { (*machine.fpregs)._xmm[usize::from(number & 15)].element = [0; 4] },
    }
}

/// Hands the signal to the action that was installed before ours.
unsafe fn chain(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let slot = SIGNALS.iter().position(|&s| s == signal).unwrap_or(0);
    let previous = PREVIOUS[slot].get();
    match previous.map(|action| (action.0.sa_sigaction, action.0.sa_flags)) {
        // SAFETY: the kernel's own. (A fault cannot be ignored: the kernel ends the process, and coming back would fault for ever.)
        Some((libc::SIG_IGN, _)) if unsafe { (*info).si_code } <= 0 => {}
        None | Some((libc::SIG_DFL | libc::SIG_IGN, _)) => {
            // SAFETY: restores the default; returning re-executes the fault, which then ends the process as it would have without us.
            unsafe {
                let mut default: libc::sigaction = MaybeUninit::zeroed().assume_init();
                default.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &default, std::ptr::null_mut());
            }
        }
        Some((address, flags)) if flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: an action with SA_SIGINFO holds a handler of this form.
            let earlier: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = unsafe { std::mem::transmute(address) };
            earlier(signal, info, context);
        }
        Some((address, _)) => {
            // SAFETY: an action without SA_SIGINFO holds a handler of one argument.
            let earlier: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(address) };
            earlier(signal);
        }
    }
}
