//! What concerns this process as a whole: that it works where nobody waits for it, and what its errors carry.

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

/// Has errors of libraries carry no backtrace, unless `RUST_LIB_BACKTRACE` says something: with `RUST_BACKTRACE=1` each of a guest's failing system calls walked the stack, which took a third of Yosys'
/// first run. Panics are told as before, and the environment, which a guest may inherit, is left as it was. Does nothing once there is another thread.
pub fn without_library_backtraces() {
    const NAME: &str = "RUST_LIB_BACKTRACE";
    let alone = std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1);
    if alone && std::env::var_os(NAME).is_none() {
        // SAFETY: no other thread of this process reads the environment meanwhile, for there is none.
        unsafe { std::env::set_var(NAME, "0") };
        // The standard library reads the variable at the first capture and keeps the answer.
        drop(std::backtrace::Backtrace::capture());
        // SAFETY: as above; a capture starts no thread.
        unsafe { std::env::remove_var(NAME) };
    }
}
