//! The LD_PRELOAD library behind `backedge lwp exec`: it makes LWP instructions work in an unchanged program.
//!
//! Before `main` it reads the features from the environment (see [`lwp_feedback::trap::exec`]), installs the SIGILL handler, and patches the
//! program's `cpuid` instructions so that they report the unit's capabilities. It interposes the calls that could take SIGILL away:
//! a program's own SIGILL handler is called for what is no LWP instruction, and SIGILL is never blocked.

use std::sync::atomic::{AtomicUsize, Ordering};

use libc::{c_int, c_void, sighandler_t, sigset_t};
use lwp_feedback::trap::{self, ChainedAction};
use lwp_feedback::unit::LwpFault;

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    let Ok(features) = std::env::var(trap::exec::FEATURES_VARIABLE) else {
        return;
    };
    let Ok(capabilities) = trap::exec::parse_features(&features) else {
        return;
    };
    lwp_feedback::intrinsics::set_capabilities(capabilities);
    // When this fails the program sees the processor as it is, without LWP: nothing was promised to it yet.
    let _ = trap::install().and_then(|()| {
        // SAFETY: constructors run before main, on the only thread.
        unsafe { trap::cpuid::patch_program() }
    });
}

/// The next definition of a C library function, looked up once.
struct Next {
    name: &'static std::ffi::CStr,
    address: AtomicUsize,
}

impl Next {
    const fn new(name: &'static std::ffi::CStr) -> Self {
        Self { name, address: AtomicUsize::new(0) }
    }

    fn get(&self) -> usize {
        let mut address = self.address.load(Ordering::Relaxed);
        if address == 0 {
            // SAFETY: a terminated name.
            address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } as usize;
            self.address.store(address, Ordering::Relaxed);
        }
        address
    }
}

/// `sigaction`, interposed: SIGILL's action is kept for chaining, and no handler blocks SIGILL.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    if signal == libc::SIGILL && trap::is_installed() {
        // SAFETY: null or live, by the caller's contract.
        let wanted = unsafe { new.as_ref() }.map(|new| ChainedAction { handler: new.sa_sigaction, flags: new.sa_flags });
        let before = match wanted {
            Some(action) => trap::chain(action),
            None => trap::chained(),
        };
        // SAFETY: null or live, by the caller's contract.
        if let Some(old) = unsafe { old.as_mut() } {
            // SAFETY: all-zero bytes are a valid sigaction.
            *old = unsafe { std::mem::zeroed() };
            old.sa_sigaction = before.handler;
            old.sa_flags = before.flags;
        }
        return 0;
    }
    // SAFETY: null or live, by the caller's contract.
    let open = unsafe { new.as_ref() }.map(|new| {
        let mut open = *new;
        // SAFETY: a live set.
        unsafe { libc::sigdelset(&mut open.sa_mask, libc::SIGILL) };
        open
    });
    let new = open.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the caller's contract; `open` outlives the call.
    unsafe { trap::real_sigaction(signal, new, old) }
}

/// `signal`, interposed for SIGILL.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal(number: c_int, handler: sighandler_t) -> sighandler_t {
    if number == libc::SIGILL && trap::is_installed() {
        return trap::chain(ChainedAction { handler, flags: 0 }).handler;
    }
    static NEXT: Next = Next::new(c"signal");
    // SAFETY: the C library's function has this type.
    let next = unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(c_int, sighandler_t) -> sighandler_t>(NEXT.get()) };
    // SAFETY: the caller's contract.
    unsafe { next(number, handler) }
}

type MaskFunction = unsafe extern "C" fn(c_int, *const sigset_t, *mut sigset_t) -> c_int;

unsafe fn open_mask(next: &Next, how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
    // SAFETY: null or live, by the caller's contract.
    let open = unsafe { set.as_ref() }.map(|set| {
        let mut open = *set;
        if how != libc::SIG_UNBLOCK {
            // SAFETY: a live set.
            unsafe { libc::sigdelset(&mut open, libc::SIGILL) };
        }
        open
    });
    let set = open.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: both functions have this type.
    let next = unsafe { std::mem::transmute::<usize, MaskFunction>(next.get()) };
    // SAFETY: the caller's contract; `open` outlives the call.
    unsafe { next(how, set, old) }
}

/// `sigprocmask`, interposed: SIGILL stays open.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigprocmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
    static NEXT: Next = Next::new(c"sigprocmask");
    // SAFETY: the caller's contract.
    unsafe { open_mask(&NEXT, how, set, old) }
}

/// `pthread_sigmask`, interposed: SIGILL stays open.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_sigmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
    static NEXT: Next = Next::new(c"pthread_sigmask");
    // SAFETY: the caller's contract.
    unsafe { open_mask(&NEXT, how, set, old) }
}

/// What the instruction returns, or `otherwise` where it faulted and the program's handler of the signal came back.
fn executed<T>(result: Result<T, LwpFault>, otherwise: T) -> T {
    result.unwrap_or_else(|fault| {
        trap::raise(fault);
        otherwise
    })
}

/// `__llwpcb` of `lwp.h` for programs compiled without `-mlwp`. Faults are signals, as the instruction's: SIGSEGV with si_code SI_KERNEL where the ring is
/// too small, and LWP is off then.
///
/// # Safety
/// As [`lwp_feedback::intrinsics::__llwpcb`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lwp_feedback_llwpcb(lwpcb: *mut c_void) {
    // SAFETY: the caller's contract.
    executed(unsafe { lwp_feedback::intrinsics::try_llwpcb(lwpcb) }, ());
}

/// `__slwpcb` of `lwp.h`.
#[unsafe(no_mangle)]
pub extern "C" fn lwp_feedback_slwpcb() -> *mut c_void {
    executed(lwp_feedback::intrinsics::try_slwpcb(), std::ptr::null_mut())
}

/// `__lwpins32` and `__lwpins64` of `lwp.h`; `ip` is the record's address.
#[unsafe(no_mangle)]
pub extern "C" fn lwp_feedback_lwpins(ip: *const c_void, data2: u64, data1: u32, flags: u32) -> u8 {
    executed(lwp_feedback::intrinsics::try_lwpins_in_unit(ip as u64, data2, data1, flags), 0)
}

/// `__lwpval32` and `__lwpval64` of `lwp.h`; `ip` is the record's address.
#[unsafe(no_mangle)]
pub extern "C" fn lwp_feedback_lwpval(ip: *const c_void, data2: u64, data1: u32, flags: u32) {
    executed(lwp_feedback::intrinsics::try_lwpval_in_unit(ip as u64, data2, data1, flags), ());
}
