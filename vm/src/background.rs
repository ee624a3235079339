//! What concerns this process as a whole: that it works where nobody waits for it, and what its errors carry.

/// Has the terminal's hang-up and interrupts be for others, and makes this thread, and those it starts, run only where a processor has nothing else to do. A system that
/// refuses either is no harm.
///
/// It stays in the session: Linux gives each session the same share of a processor whatever its threads are (`sched(7)`, autogroup), so that one of its own had half of
/// the processor that the next run was on (CPython's took 0.45 s there for 0.19).
pub fn detach() {
    let class = libc::sched_param { sched_priority: 0 };
    // SAFETY: all three concern this process and thread alone; the structure lives through the call, and no Rust code is installed as a handler.
    unsafe {
        libc::setpgid(0, 0);
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
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
