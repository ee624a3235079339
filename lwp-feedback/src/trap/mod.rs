//! The trap source: a SIGILL handler that executes the LWP instructions found in running code, on this thread's unit.
//!
//! In: SIGILL at an LWP instruction, or at a `cpuid` that was patched to `ud2` (see [`cpuid`]). Out: the instruction's effect, and the
//! program goes on behind it. A trap takes 8 to 15 µs, so this is for conformance and for running real LWP programs.
//!
//! Faults are the processor's: #UD is the SIGILL itself, passed to the program's handler or the default; #GP is SIGSEGV with
//! si_code SI_KERNEL; a page fault is SIGSEGV with the address, and as nothing has changed the program may repair and restart it.
//! Registers and memory operands in all forms, FS and GS included. SIGILL must not be blocked while LWP instructions run (the kernel
//! kills a thread that traps with it blocked); the preload library keeps it open. After fork the child goes on with its copy.

pub mod cpuid;
pub mod exec;
pub mod generated;
pub mod registers;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

use libc::{c_int, c_void, siginfo_t};

use crate::instruction::LwpInstruction;
use crate::thread_unit::with_unit;
use crate::unit::LwpFault;
use crate::unit::memory::{PageFault, ProcessMemory, UserMemory};
use registers::Registers;

/// The handler that is called for a SIGILL that is not ours; SIG_DFL (0) and SIG_IGN as the system has them.
static CHAIN_HANDLER: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);
static CHAIN_FLAGS: AtomicI32 = AtomicI32::new(0);
static INSTALLED: AtomicBool = AtomicBool::new(false);
static INSTALL: Mutex<()> = Mutex::new(());

/// A program's SIGILL action, kept for chaining.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainedAction {
    /// `sa_sigaction` or `sa_handler`, SIG_DFL or SIG_IGN.
    pub handler: usize,
    /// `sa_flags`.
    pub flags: c_int,
}

/// Installs the handler in front of what is there, once. Errors are the system's.
pub fn install() -> std::io::Result<()> {
    let _guard = INSTALL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if INSTALLED.load(Ordering::Acquire) {
        return Ok(());
    }
    // The decoder builds its tables at its first use: that allocates, and takes more of the stack than a thread's signal stack has.
    LwpInstruction::decode(&[0x8f, 0xe9, 0x78, 0x12, 0xc0], 64);
    // SAFETY: all-zero bytes are a valid sigaction to fill in.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handle as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // Every signal waits: a handler that runs inside ours could meet an LWP instruction with SIGILL blocked. But those of a memory access do not: another
    // thread may unmap the LWPCB between our check of a page and our access to it, and with the signal blocked the kernel would end the program
    // whatever handler it has. A handler that repairs the page and returns is right there too.
    // SAFETY: a live set.
    unsafe {
        libc::sigfillset(&mut action.sa_mask);
        libc::sigdelset(&mut action.sa_mask, libc::SIGSEGV);
        libc::sigdelset(&mut action.sa_mask, libc::SIGBUS);
    }
    // SAFETY: as above.
    let mut old: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: live pointers; the handler is async-signal-safe at the instructions it handles.
    if unsafe { real_sigaction(libc::SIGILL, &action, &mut old) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    chain(ChainedAction { handler: old.sa_sigaction, flags: old.sa_flags });
    INSTALLED.store(true, Ordering::Release);
    Ok(())
}

/// True once [`install`] has succeeded.
pub fn is_installed() -> bool {
    INSTALLED.load(Ordering::Acquire)
}

/// `sigaction` of the C library, past a preload library that interposes it.
///
/// # Safety
/// As for `sigaction`.
pub unsafe fn real_sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    type Function = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let mut next = NEXT.load(Ordering::Relaxed);
    if next == 0 {
        // SAFETY: a constant, terminated name.
        next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"__sigaction".as_ptr()) } as usize;
        if next == 0 {
            // SAFETY: as above.
            next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"sigaction".as_ptr()) } as usize;
        }
        NEXT.store(next, Ordering::Relaxed);
    }
    if next == 0 {
        // Only one sigaction in this program: there is nothing interposed to get past.
        // SAFETY: the caller's contract.
        return unsafe { libc::sigaction(signal, new, old) };
    }
    // SAFETY: the C library's function has this type.
    let function = unsafe { std::mem::transmute::<usize, Function>(next) };
    // SAFETY: the caller's contract.
    unsafe { function(signal, new, old) }
}

/// Replaces the action that foreign SIGILLs are passed to; returns the old one. What an interposed `sigaction(SIGILL)` does.
pub fn chain(action: ChainedAction) -> ChainedAction {
    let flags = CHAIN_FLAGS.swap(action.flags, Ordering::AcqRel);
    ChainedAction { handler: CHAIN_HANDLER.swap(action.handler, Ordering::AcqRel), flags }
}

/// The action that foreign SIGILLs are passed to.
pub fn chained() -> ChainedAction {
    ChainedAction { handler: CHAIN_HANDLER.load(Ordering::Acquire), flags: CHAIN_FLAGS.load(Ordering::Acquire) }
}

enum Outcome {
    /// Executed; goes on behind it.
    Done,
    /// Not ours, or #UD.
    NotOurs,
    /// Raise SIGSEGV: address, or `None` for #GP.
    Segv(Option<PageFault>),
}

extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: errno is thread-local and live.
    let saved_errno = unsafe { *libc::__errno_location() };
    // SAFETY: the kernel passes the interrupted context of this thread.
    let mut registers = unsafe { Registers::of_context(context) };
    match execute(&mut registers) {
        Outcome::Done => {}
        Outcome::NotOurs => pass_on(signal, info, context),
        Outcome::Segv(fault) => {
            hold_segv();
            raise_segv(fault);
        }
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = saved_errno };
}

fn execute(registers: &mut Registers) -> Outcome {
    let ip = registers.ip();
    let mut bytes = [0; 15];
    let mut length = 15;
    // SAFETY: only instruction bytes are read.
    let mut memory = unsafe { ProcessMemory::checked() };
    while length > 0 && memory.read(ip, &mut bytes[..length]).is_err() {
        length -= 1; // the instruction ends before a page that is not there
    }
    if length >= 2 && bytes[..2] == [0x0F, 0x0B] && cpuid::is_patched(ip) {
        cpuid::answer(registers);
        registers.set_ip(ip + 2);
        return Outcome::Done;
    }
    let Some((instruction, length)) = LwpInstruction::decode(&bytes[..length], 64) else {
        return Outcome::NotOurs;
    };
    let next_ip = ip + length as u64;
    let result = with_unit(true, |unit| match instruction {
        LwpInstruction::Llwpcb { register, wide } => unit.llwpcb(registers.sized(register, wide)).map(|_| ()),
        LwpInstruction::Slwpcb { register, wide } => unit.slwpcb().map(|address| registers.set_sized(register, wide, address)),
        LwpInstruction::Lwpins { first, wide, operand, imm } => {
            let data1 = registers.operand(operand, next_ip);
            unit.lwpins(ip, registers.sized(first, wide), data1, imm).map(|carry| registers.set_carry(carry))
        }
        LwpInstruction::Lwpval { first, wide, operand, imm } => {
            let data1 = registers.operand(operand, next_ip);
            unit.lwpval(ip, registers.sized(first, wide), data1, imm).map(|_| ())
        }
    });
    match result {
        // The unit is in use below us on this stack: an LWP instruction inside the unit itself cannot be.
        None | Some(Err(LwpFault::InvalidOpcode)) => Outcome::NotOurs,
        Some(Ok(())) => {
            registers.set_ip(next_ip);
            Outcome::Done
        }
        Some(Err(LwpFault::GeneralProtection)) => Outcome::Segv(None),
        Some(Err(LwpFault::Page(fault))) => Outcome::Segv(Some(fault)),
    }
}

fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let ChainedAction { handler, flags } = chained();
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // The default for a fault is to die, and an ignored one dies too: with the default restored the instruction faults again.
        // SAFETY: all-zero bytes are the default action.
        let default: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: live pointers.
        unsafe { real_sigaction(signal, &default, std::ptr::null_mut()) };
    } else if flags & libc::SA_SIGINFO != 0 {
        // SAFETY: SA_SIGINFO says the handler has this type.
        let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int, *mut siginfo_t, *mut c_void)>(handler) };
        handler(signal, info, context);
    } else {
        // SAFETY: without SA_SIGINFO the handler has this type.
        let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
        handler(signal);
    }
}

/// Raises what the processor would raise where a program called a function in place of the instruction: SIGSEGV for #GP (si_code SI_KERNEL) and for a page
/// fault, SIGILL for #UD. Comes back where the program's handler does.
pub fn raise(fault: LwpFault) {
    match fault {
        LwpFault::GeneralProtection => raise_segv(None),
        LwpFault::Page(fault) => raise_segv(Some(fault)),
        LwpFault::InvalidOpcode => {
            // SAFETY: no preconditions.
            unsafe { libc::raise(libc::SIGILL) };
        }
    }
}

/// Until our handler returns and the interrupted code's own mask is back.
fn hold_segv() {
    let set = 1u64 << (libc::SIGSEGV - 1);
    // SAFETY: the kernel's sigset_t has 8 bytes, signal n in bit n - 1.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_BLOCK, &set, std::ptr::null_mut::<u64>(), size_of::<u64>()) };
}

/// Queues SIGSEGV to this thread; held back by the handler it arrives when that returns, with the program still at the instruction.
fn raise_segv(fault: Option<PageFault>) {
    const SEGV_MAPERR: c_int = 1;
    const SEGV_ACCERR: c_int = 2;
    const SI_KERNEL: c_int = 0x80;
    // SAFETY: all-zero bytes are a valid siginfo_t.
    let mut info: siginfo_t = unsafe { std::mem::zeroed() };
    info.si_signo = libc::SIGSEGV;
    info.si_code = match fault {
        None => SI_KERNEL,
        Some(PageFault { write: true, .. }) => SEGV_ACCERR,
        Some(PageFault { write: false, .. }) => SEGV_MAPERR,
    };
    if let Some(fault) = fault {
        // SAFETY: si_addr is the first union field, at byte 16 of the 128-byte structure on x86-64.
        unsafe { (&raw mut info).cast::<u64>().add(2).write(fault.address) };
    }
    // SAFETY: a process may queue any siginfo to its own threads; `info` is live.
    unsafe { libc::syscall(libc::SYS_rt_tgsigqueueinfo, libc::getpid(), libc::gettid(), libc::SIGSEGV, &info) };
}

#[cfg(test)]
mod tests;
