//! Ctrl-C, SIGTERM and a terminal that goes away, where a run leaves something behind: the first one ends the guest at its next poll, so that all is written; the second ends the process.

use crate::failure::Failure;
use backedge::Engine;
use std::io::Read as _;
use std::os::fd::IntoRawFd as _;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// Exit code of a run that was ended so: that of a program which SIGINT ended.
pub const EXIT_CODE: i32 = 130;

static CAME: AtomicBool = AtomicBool::new(false);
/// Where the handler writes a byte; -1 before there is one.
static TO_THREAD: AtomicI32 = AtomicI32::new(-1);

extern "C" fn on_signal(_signal: libc::c_int) {
    CAME.store(true, Ordering::SeqCst);
    // SAFETY: write is async-signal-safe; the byte is alive, and the pipe is never closed. (errno is put back: the code that was interrupted may look at its own.)
    unsafe {
        let errno = *libc::__errno_location();
        libc::write(TO_THREAD.load(Ordering::SeqCst), [0u8].as_ptr().cast(), 1);
        *libc::__errno_location() = errno;
    }
}

/// Whether one came.
pub fn came() -> bool {
    CAME.load(Ordering::SeqCst)
}

/// From now on the first of these signals ends the engine's guests, whose stores have a deadline of one tick.
pub fn end_guests_of(engine: &Engine) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Load(format!("cannot wait for signals: {error}"));
    let (mut reader, writer) = std::io::pipe().map_err(failed)?;
    // (never closed: a signal may come at any time)
    TO_THREAD.store(writer.into_raw_fd(), Ordering::SeqCst);
    let engine = engine.clone();
    // Never joined: it waits for what may never come.
    let wait = move || {
        if reader.read_exact(&mut [0]).is_ok() {
            engine.increment_epoch();
        }
    };
    std::thread::Builder::new().name("interrupts".into()).spawn(wait).map_err(failed)?;
    on_first(on_signal);
    Ok(())
}

/// Has `handler` called, which does nothing that is not async-signal-safe, by the first of each of these signals; the next of its kind ends the process. What is ignored stays so (`nohup`).
pub fn on_first(handler: extern "C" fn(libc::c_int)) {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: a zeroed sigaction is a valid one with an empty mask; both handlers of this crate (above, and `top::screen`) are async-signal-safe.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let mut before: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_RESTART | libc::SA_RESETHAND | libc::SA_ONSTACK;
            libc::sigaction(signal, &raw const action, &raw mut before);
            if before.sa_sigaction == libc::SIG_IGN {
                libc::sigaction(signal, &raw const before, std::ptr::null_mut());
            }
        }
    }
}
