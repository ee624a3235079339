//! The monitor on a named thread of its own, with a current-thread tokio runtime: never a runtime inside a caller's.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use super::{Monitor, lock};

/// The thread; dropping it stops the monitor after a last poll and joins.
pub struct MonitorThread {
    monitor: Arc<Monitor>,
    handle: Option<JoinHandle<()>>,
}

impl Monitor {
    /// Runs on the thread "backedge-monitor".
    pub fn spawn(self: &Arc<Self>) -> io::Result<MonitorThread> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let monitor = self.clone();
        let handle = std::thread::Builder::new().name("backedge-monitor".into()).spawn(move || {
            block_signals();
            lock(&monitor.core).owner = Some(std::thread::current().id());
            runtime.block_on(monitor.run());
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
