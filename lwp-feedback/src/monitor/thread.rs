//! The monitor on a named thread of its own, without a runtime; and what wakes it, there or in a host's runtime.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

use tokio::sync::Notify;

use super::{Monitor, lock};

/// What the monitor waits for between polls: rung once, heard once.
#[derive(Default)]
pub(super) struct Bell {
    notify: Notify,
    rung: AtomicBool,
    /// The monitor's thread, once it runs.
    thread: OnceLock<Thread>,
}

impl Bell {
    pub(super) fn ring(&self) {
        self.rung.store(true, Ordering::SeqCst);
        self.nudge();
    }

    /// Has whoever waits look again at what is left to wait.
    pub(super) fn nudge(&self) {
        match self.thread.get() {
            Some(thread) => thread.unpark(),
            None => self.notify.notify_one(),
        }
    }

    /// Waits until it rings, or has rung since it was heard last, or until nothing is `left`; in a runtime with a timer.
    pub(super) async fn heard(&self, left: impl Fn() -> Duration) {
        while let Some(left) = self.unheard(left()) {
            // Rung, nudged, or over: the loop looks.
            _ = tokio::time::timeout(left, self.notify.notified()).await;
        }
    }

    /// The same on the monitor's thread.
    pub(super) fn heard_here(&self, left: impl Fn() -> Duration) {
        while let Some(left) = self.unheard(left()) {
            std::thread::park_timeout(left);
        }
    }

    /// What is left, if there is any and it did not ring.
    fn unheard(&self, left: Duration) -> Option<Duration> {
        (!self.rung.swap(false, Ordering::SeqCst) && !left.is_zero()).then_some(left)
    }
}

/// The thread; dropping it stops the monitor after a last poll and joins.
pub struct MonitorThread {
    monitor: Arc<Monitor>,
    handle: Option<JoinHandle<()>>,
}

impl Monitor {
    /// Runs on the thread "backedge-monitor".
    pub fn spawn(self: &Arc<Self>) -> io::Result<MonitorThread> {
        let monitor = self.clone();
        let handle = std::thread::Builder::new().name("backedge-monitor".into()).spawn(move || {
            block_signals();
            lock(&monitor.core).owner = Some(std::thread::current().id());
            monitor.bell.thread.get_or_init(std::thread::current);
            monitor.run_here();
        })?;
        Ok(MonitorThread { monitor: self.clone(), handle: Some(handle) })
    }
}

impl MonitorThread {
    /// The monitor.
    pub fn monitor(&self) -> &Arc<Monitor> {
        &self.monitor
    }
}

impl Drop for MonitorThread {
    fn drop(&mut self) {
        self.monitor.stop();
        if let Some(handle) = self.handle.take()
            && handle.thread().id() != std::thread::current().id()
        {
            // A panic there was the listener's; it has been printed, and the monitor is gone either way.
            let _ = handle.join();
        }
    }
}

/// The host's signals are for the host's threads. Faults stay deliverable.
fn block_signals() {
    // SAFETY: sigset_t is plain data; sigfillset below writes all of it.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live set.
    unsafe { libc::sigfillset(&mut set) };
    for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGABRT] {
        // SAFETY: as above.
        unsafe { libc::sigdelset(&mut set, fault) };
    }
    // SAFETY: as above; no old set is asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) };
}
