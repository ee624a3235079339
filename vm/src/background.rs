//! What concerns this process as a whole: that it works where nobody waits for it, what it hands on, and what its errors carry.

/// What a process in the background is niced by: it has a quarter of a processor that another wants (`sched(7)`: it weighs 335 to 1,024). With the class that only takes idle processors (`SCHED_IDLE`) it came to nothing
/// where one processor is never idle: of CPython's `print(1)`, one run behind the other, the 24th took 0.51 s as the ones before it; so it takes 0.24, and on two processors all take as long as before.
const NICE: libc::c_int = 5;

/// Has the terminal's hang-up and interrupts be for others, and makes this thread, and those it starts, give way to ordinary ones. A system that
/// refuses either is no harm.
///
/// It stays in the session: Linux gives each session the same share of a processor whatever its threads are (`sched(7)`, autogroup), so that one of its own had half of
/// the processor that the next run was on (CPython's took 0.45 s there for 0.19).
pub fn detach() {
    // SAFETY: all three concern this process and thread alone, and no Rust code is installed as a handler.
    unsafe {
        libc::setpgid(0, 0);
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
        libc::nice(NICE);
    }
}

/// Has processes that this one starts from now on get none of its descriptors but the three standard ones: what others opened for us, as a lock or a pipe, is let go
/// when we end. (Not between fork and exec: a step there makes it a real fork, which copies the page tables of a guest's memory.)
pub fn keep_descriptors() {
    const FIRST: libc::c_int = libc::STDERR_FILENO + 1;
    // SAFETY: a plain system call; descriptors stay open in this process.
    let done = unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if done != 0 {
        // A kernel before 5.11: those that are likely.
        for descriptor in FIRST..1024 {
            // SAFETY: as above; where there is none it fails.
            unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd as _;
    use std::process::Command;

    #[test]
    fn descriptors_are_not_handed_on() {
        let file = tempfile::tempfile().expect("there is room for it");
        // SAFETY: a plain system call on a descriptor of this function's own.
        assert_eq!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFD, 0) }, 0);
        let handed_on = || {
            let there = format!("test -e /proc/self/fd/{}", file.as_raw_fd());
            Command::new("/bin/sh").args(["-c", &there]).status().expect("there is a shell").success()
        };
        assert!(handed_on());
        keep_descriptors();
        assert!(!handed_on());
        // (here it is open as before)
        file.metadata().expect("it is open");
    }
}
