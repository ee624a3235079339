//! Where a threshold crossing goes: a callback, a semaphore, an eventfd, or a real-time signal to any thread or process.
//!
//! A crossing is delivered once until `used` falls below Threshold, or (the unit, which knows nothing of the consumer) the tail moves; the unit and the ring keep that rule, this file delivers. Everything
//! here is async-signal-safe, for the trap source delivers from its signal handler.

use crate::ring::RingWaker;

/// Whom to tell.
#[derive(Clone, Copy, Debug)]
pub enum Delivery {
    /// Calls a function on the profiled thread; it must be async-signal-safe.
    Callback(extern "C" fn()),
    /// `sem_post`; the address of a live semaphore, possibly shared with another process.
    Semaphore(*mut libc::sem_t),
    /// Adds 1 to an eventfd.
    EventFd(libc::c_int),
    /// `sigqueue`: the signal, with `value`, to a process.
    ProcessSignal {
        /// Process.
        pid: libc::pid_t,
        /// SIGRTMIN or above.
        signal: libc::c_int,
        /// What `si_value` carries.
        value: usize,
    },
    /// `tgkill`: the signal to one thread of this process.
    ThreadSignal {
        /// Thread.
        tid: libc::pid_t,
        /// SIGRTMIN or above.
        signal: libc::c_int,
    },
}

// SAFETY: the semaphore is made to be posted from any thread; the rest is plain data.
unsafe impl Send for Delivery {}
// SAFETY: as for Send.
unsafe impl Sync for Delivery {}

impl Delivery {
    /// Delivers one crossing. False when the system refused it (a full queue, a thread that ended).
    pub fn deliver(&self) -> bool {
        match *self {
            Self::Callback(function) => {
                function();
                true
            }
            // SAFETY: the variant's contract: a live semaphore.
            Self::Semaphore(semaphore) => unsafe { libc::sem_post(semaphore) == 0 },
            Self::EventFd(fd) => {
                let one = 1u64.to_ne_bytes();
                // SAFETY: 8 live bytes.
                unsafe { libc::write(fd, one.as_ptr().cast(), 8) == 8 }
            }
            Self::ProcessSignal { pid, signal, value } => {
                let value = libc::sigval { sival_ptr: value as *mut libc::c_void };
                // SAFETY: no pointers are dereferenced.
                unsafe { libc::sigqueue(pid, signal, value) == 0 }
            }
            // SAFETY: no pointers are involved.
            Self::ThreadSignal { tid, signal } => unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, signal) == 0 },
        }
    }
}

impl RingWaker for Delivery {
    fn wake(&self) {
        self.deliver();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::{Ring, RingConfig};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    static CALLS: AtomicU32 = AtomicU32::new(0);

    extern "C" fn count() {
        CALLS.fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn a_crossing_reaches_every_kind_of_receiver_once() {
        // SAFETY: plain system calls; the descriptor is closed below.
        let fd = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK) };
        // SAFETY: all-zero bytes are a valid sem_t to initialise.
        let semaphore: &'static mut libc::sem_t = Box::leak(Box::new(unsafe { std::mem::zeroed() }));
        // SAFETY: a live semaphore.
        assert_eq!(unsafe { libc::sem_init(semaphore, 0, 0) }, 0);
        let signal = libc::SIGRTMIN() + 3;
        // SAFETY: plain data.
        let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: a live set; this thread blocks the signal to fetch it with sigtimedwait.
        unsafe {
            libc::sigaddset(&mut set, signal);
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        }
        // SAFETY: no preconditions.
        let tid = unsafe { libc::gettid() };
        let deliveries =
            [Delivery::Callback(count), Delivery::Semaphore(semaphore), Delivery::EventFd(fd), Delivery::ThreadSignal { tid, signal }];
        for delivery in deliveries {
            let ring = Ring::new(&RingConfig { buffer_bytes: 1024, threshold_bytes: 512, ..RingConfig::default() }).unwrap();
            ring.set_waker(Some(Arc::new(delivery)));
            let mut producer = ring.producer().unwrap();
            (0..40).for_each(|_| _ = producer.programmed(0, 0, 0, 0));
        }
        assert_eq!(CALLS.load(Ordering::Relaxed), 1);
        let mut value = 0;
        // SAFETY: live pointers.
        unsafe { libc::sem_getvalue(semaphore, &mut value) };
        assert_eq!(value, 1);
        let mut bytes = [0u8; 8];
        // SAFETY: 8 live bytes.
        assert_eq!(unsafe { libc::read(fd, bytes.as_mut_ptr().cast(), 8) }, 8);
        assert_eq!(u64::from_ne_bytes(bytes), 1);
        let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: live pointers.
        let taken =
            unsafe { [libc::sigtimedwait(&set, std::ptr::null_mut(), &none), libc::sigtimedwait(&set, std::ptr::null_mut(), &none)] };
        assert_eq!(taken, [signal, -1]);
        // SAFETY: opened above.
        unsafe { libc::close(fd) };
    }

    /// A child process waits for an eventfd and a real-time signal that this one's ring delivers, and says in its exit status what came.
    #[test]
    fn a_crossing_reaches_another_process() {
        let signal = libc::SIGRTMIN() + 4;
        // SAFETY: plain data.
        let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: a live set; blocked before the fork, so that the signal waits for the child's sigtimedwait.
        unsafe {
            libc::sigaddset(&mut set, signal);
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        }
        // SAFETY: a plain system call; the descriptor is closed below.
        let fd = unsafe { libc::eventfd(0, 0) };
        // SAFETY: the child makes only async-signal-safe calls, on its own copies, and ends with _exit.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            let (mut bytes, deadline) = ([0u8; 8], libc::timespec { tv_sec: 60, tv_nsec: 0 });
            // SAFETY: plain data.
            let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
            // SAFETY: live buffers; sigtimedwait fills in a queued signal's value.
            unsafe {
                let counted = libc::read(fd, bytes.as_mut_ptr().cast(), 8) == 8 && u64::from_ne_bytes(bytes) == 1;
                let signalled = libc::sigtimedwait(&set, &mut info, &deadline) == signal && info.si_value().sival_ptr as usize == 77;
                libc::_exit(i32::from(counted) | i32::from(signalled) << 1);
            }
        }
        for delivery in [Delivery::EventFd(fd), Delivery::ProcessSignal { pid: child, signal, value: 77 }] {
            let ring = Ring::new(&RingConfig { buffer_bytes: 1024, threshold_bytes: 512, ..RingConfig::default() }).unwrap();
            ring.set_waker(Some(Arc::new(delivery)));
            let mut producer = ring.producer().unwrap();
            (0..40).for_each(|_| _ = producer.programmed(0, 0, 0, 0));
        }
        let mut status = 0;
        // SAFETY: a child of this process, and a live word.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 3, "{status:#x}: bit 8 the eventfd, bit 9 the signal");
        // SAFETY: opened above.
        unsafe { libc::close(fd) };
    }
}
