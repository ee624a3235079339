//! LWP instructions executed for real: they raise SIGILL on this machine and the handler executes them.

use std::arch::asm;
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::*;
use crate::layout::{Flags, Lwpcb, Record};
use crate::native;

struct Session {
    lwpcb: Box<Lwpcb>,
    ring: *mut Record,
    pages: usize,
}

impl Session {
    /// A thread of its own per test: the unit is the thread's.
    fn start(flags: Flags, interval: u32) -> Option<Self> {
        if native::available() {
            return None; // the processor would execute them itself
        }
        install().unwrap();
        let pages = 4;
        // SAFETY: a fresh mapping.
        let ring = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                pages * 4096,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        let lwpcb = Box::new(Lwpcb::default());
        lwpcb.flags.store(flags.bits(), Ordering::Relaxed);
        lwpcb.buffer_size_random.store(pages as u32 * 4096, Ordering::Relaxed);
        lwpcb.buffer_base.store(ring as u64, Ordering::Relaxed);
        lwpcb.events[0].interval.store(interval, Ordering::Relaxed);
        let session = Self { lwpcb, ring: ring.cast(), pages };
        // SAFETY: the handler executes it; LWPCB and ring live until `end`.
        unsafe { native::llwpcb(session.address()) };
        Some(session)
    }

    fn address(&self) -> u64 {
        &raw const *self.lwpcb as u64
    }

    fn record(&self, index: usize) -> Record {
        // SAFETY: inside the mapping.
        unsafe { self.ring.add(index).read_volatile() }
    }

    fn head(&self) -> u32 {
        self.lwpcb.buffer_head_offset.load(Ordering::Relaxed)
    }

    fn protect(&self, protection: c_int) {
        // SAFETY: the ring's own mapping.
        unsafe { libc::mprotect(self.ring.cast(), self.pages * 4096, protection) };
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: ends the session; executed by the handler.
        unsafe { native::llwpcb(0) };
        // SAFETY: nothing points to the mapping any more.
        unsafe { libc::munmap(self.ring.cast(), self.pages * 4096) };
    }
}

#[test]
fn the_instructions_work_through_the_trap() {
    let Some(session) = Session::start(Flags::VAL, 1) else {
        return;
    };
    // SAFETY: executed by the handler.
    assert_eq!(unsafe { native::slwpcb() }, session.address());
    for i in 0..6 {
        // SAFETY: as above.
        unsafe { native::lwpval::<0xABCD_1234>(0x1_0000_0000 + u64::from(i), i) };
    }
    // SAFETY: as above.
    assert!(!unsafe { native::lwpins::<5>(77, 88) });
    let seen: Vec<(u8, u16, u32, u64)> = (0..session.head() as usize / 32)
        .map(|index| session.record(index))
        .map(|r| (r.event_id().0, r.flags(), r.data1(), r.data2()))
        .collect();
    assert_eq!(seen, [(1, 0x1234, 0, 0x1_0000_0000), (1, 0x1234, 2, 0x1_0000_0002), (1, 0x1234, 4, 0x1_0000_0004), (255, 5, 88, 77)]);
}

#[test]
fn memory_operands_of_all_kinds() {
    static DATA: AtomicU32 = AtomicU32::new(0x5151_5151);
    let Some(session) = Session::start(Flags::empty(), 0) else {
        return;
    };
    let table = [1u32, 2, 3, 4, 5, 6, 7, 8];
    // lwpins rdi, [rax + rcx*4 + 4], 0x11 ; lwpins edi, fs:[0], 0x22 ; then rip-relative through a local label's data
    // SAFETY: the operands are live; the handler executes the instructions.
    unsafe {
        asm!("lwpins rdi, dword ptr [rax + rcx*4 + 4], 0x11", in("rdi") 9u64, in("rax") table.as_ptr(), in("rcx") 2u64, options(nostack));
        asm!("lwpins edi, dword ptr fs:[0], 0x22", in("rdi") u64::MAX, options(nostack));
        asm!("lwpins rdi, dword ptr [rip + {data}], 0x33", in("rdi") 1u64, data = sym DATA, options(nostack));
    }
    let fs_word: u32;
    // SAFETY: the thread pointer's own slot.
    unsafe { asm!("mov {0:e}, fs:[0]", out(reg) fs_word, options(nostack)) };
    let seen = [0, 1, 2].map(|index| (session.record(index).flags(), session.record(index).data1(), session.record(index).data2()));
    assert_eq!(seen, [(0x11, 4, 9), (0x22, fs_word, 0xFFFF_FFFF), (0x33, 0x5151_5151, 1)]);
}

#[test]
fn lwpins_sets_carry_and_other_flags_stay() {
    let Some(session) = Session::start(Flags::empty(), 0) else {
        return;
    };
    session.lwpcb.buffer_tail_offset.store(32, Ordering::Relaxed);
    let flags: u64;
    // SAFETY: executed by the handler; the stack is used by pushf/pop only.
    unsafe {
        asm!(
            "xor {0:e}, {0:e}",
            "lwpins {0:r}, ecx, 1",
            "pushfq",
            "pop {0}",
            out(reg) flags,
            in("ecx") 0
        );
    }
    assert_eq!(flags & 0x41, 0x41, "CF from the full ring, ZF from the xor");
    assert_eq!(session.lwpcb.missed_events.load(Ordering::Relaxed), 1);
}

#[test]
fn each_thread_has_its_own_lwpcb() {
    let Some(session) = Session::start(Flags::empty(), 0) else {
        return;
    };
    std::thread::spawn(|| {
        // SAFETY: executed by the handler.
        assert_eq!(unsafe { native::slwpcb() }, 0);
        let other = Session::start(Flags::empty(), 0).unwrap();
        // SAFETY: as above.
        unsafe { native::lwpins::<1>(1, 1) };
        assert_eq!(other.head(), 32);
    })
    .join()
    .unwrap();
    assert_eq!(session.head(), 0);
}

/// What the SIGSEGV handler of a test saw, and what it makes writable before it restarts the instruction.
static SEGV_ADDRESS: AtomicU64 = AtomicU64::new(0);
static REPAIR_START: AtomicU64 = AtomicU64::new(0);
static REPAIR_BYTES: AtomicU64 = AtomicU64::new(0);
static SEGV_TESTS: Mutex<()> = Mutex::new(());

extern "C" fn repair(_signal: c_int, info: *mut siginfo_t, _context: *mut c_void) {
    // SAFETY: a live siginfo of a SIGSEGV.
    SEGV_ADDRESS.store(unsafe { (*info).si_addr() } as u64, Ordering::Relaxed);
    let (start, bytes) = (REPAIR_START.load(Ordering::Relaxed), REPAIR_BYTES.load(Ordering::Relaxed));
    // SAFETY: the test's own mapping; if this failed the instruction would fault for ever, so the test would time out.
    unsafe { libc::mprotect(start as *mut _, bytes as usize, libc::PROT_READ | libc::PROT_WRITE) };
}

fn with_repair(start: u64, bytes: u64, work: impl FnOnce()) -> u64 {
    let _one_at_a_time = SEGV_TESTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    REPAIR_START.store(start, Ordering::Relaxed);
    REPAIR_BYTES.store(bytes, Ordering::Relaxed);
    SEGV_ADDRESS.store(0, Ordering::Relaxed);
    // SAFETY: a valid action; the old one is put back below.
    let old = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = repair as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGSEGV, &action, &mut old);
        old
    };
    work();
    // SAFETY: as above.
    unsafe { libc::sigaction(libc::SIGSEGV, &old, std::ptr::null_mut()) };
    SEGV_ADDRESS.load(Ordering::Relaxed)
}

#[test]
fn ring_page_read_only() {
    let Some(session) = Session::start(Flags::empty(), 0) else {
        return;
    };
    session.protect(libc::PROT_READ);
    let ring = session.ring as u64;
    let address = with_repair(ring, 4 * 4096, || {
        // SAFETY: executed by the handler; the first try faults.
        assert!(!unsafe { native::lwpins::<3>(42, 0) });
    });
    assert_eq!(address, ring);
    assert_eq!((session.head(), session.record(0).data2()), (32, 42), "restarted, and recorded once");
}

#[test]
fn a_faulting_operand_raises_sigsegv_and_changes_nothing() {
    let Some(session) = Session::start(Flags::VAL, 100) else {
        return;
    };
    // SAFETY: a fresh mapping nobody may touch.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) } as u64;
    session.lwpcb.events[0].counter.store(1, Ordering::Relaxed);
    let not_due = with_repair(page, 4096, || {
        // SAFETY: LWPVAL does not read its operand when no record is due.
        unsafe { asm!("lwpval rdi, dword ptr [rax], 1", in("rdi") 1u64, in("rax") page, options(nostack)) };
    });
    assert_eq!((not_due, session.lwpcb.events[0].counter.load(Ordering::Relaxed)), (0, 0));
    let due = with_repair(page, 4096, || {
        // SAFETY: faults, is repaired and restarted.
        unsafe { asm!("lwpval rdi, dword ptr [rax + 8], 1", in("rdi") 1u64, in("rax") page, options(nostack)) };
    });
    assert_eq!((due, session.head()), (page + 8, 32));
    // SAFETY: the test's own mapping.
    unsafe { libc::munmap(page as *mut _, 4096) };
}

#[test]
fn fork_continues_with_a_copy() {
    let Some(session) = Session::start(Flags::empty(), 0) else {
        return;
    };
    // SAFETY: the child makes only LWP instructions and _exit.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: executed by the handler in the child.
        unsafe { native::lwpins::<1>(1, 1) };
        // SAFETY: ends the child.
        unsafe { libc::_exit(if session.head() == 32 { 7 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: waits for our own child.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!((libc::WEXITSTATUS(status), session.head()), (7, 0));
}

#[test]
fn other_illegal_instructions_go_to_the_previous_handler() {
    static CAUGHT: AtomicU32 = AtomicU32::new(0);
    extern "C" fn skip(_signal: c_int, _info: *mut siginfo_t, context: *mut c_void) {
        CAUGHT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the kernel's context, passed on.
        let mut registers = unsafe { Registers::of_context(context) };
        let ip = registers.ip();
        registers.set_ip(ip + 2);
    }
    let Some(_session) = Session::start(Flags::empty(), 0) else {
        return;
    };
    let old = chain(ChainedAction { handler: skip as *const () as usize, flags: libc::SA_SIGINFO });
    // SAFETY: ud2, which the handler above steps over.
    unsafe { asm!("ud2", options(nostack)) };
    assert_eq!(CAUGHT.load(Ordering::Relaxed), 1);
    assert_eq!(chain(old).flags, libc::SA_SIGINFO);
}

#[test]
fn slwpcb_with_a_32_bit_operand_truncates() {
    let Some(session) = Session::start(Flags::empty(), 0) else {
        return;
    };
    let low: u64;
    // SAFETY: executed by the handler.
    unsafe { asm!("slwpcb {0:e}", inout(reg) u64::MAX => low, options(nostack)) };
    assert_eq!(low, session.address() & 0xFFFF_FFFF);
}
