//! A process that works where nobody waits for it.

/// Leaves the terminal's session, so that its hang-up and its interrupts are for others, and makes this thread, and those it starts, run only where a processor
/// has nothing else to do. A system that refuses either is no harm.
pub fn detach() {
    let class = libc::sched_param { sched_priority: 0 };
    // SAFETY: both concern this process and thread alone; the structure lives through the call.
    unsafe {
        libc::setsid();
        libc::sched_setscheduler(0, libc::SCHED_IDLE, &class);
    }
}
