//! What only processes can show: a producer that is killed, and a program that unmaps the LWPCB it profiles with. Rings lie in shared memory.

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

use lwp_feedback::capabilities::Capabilities;
use lwp_feedback::layout::{EventId, Flags, Lwpcb, Record};
use lwp_feedback::ring::protocol::{self, RingMemory, Stored};
use lwp_feedback::unit::memory::{PageFault, ProcessMemory, UserMemory};
use lwp_feedback::unit::{Architecture, Operand, Switches, Unit};

const PAGE: usize = 4096;
/// Page 0: the LWPCB. Page 1: what the processes tell each other. Then the ring.
const COUNTERS_AT: usize = PAGE;
const RING_AT: usize = 2 * PAGE;

/// Beside the ring, in shared memory.
#[derive(Default)]
struct Counters {
    /// Instructions begun, and the number that the next one's record carries.
    started: AtomicU64,
    /// The producer stands between its record and the store of head.
    reached: AtomicU32,
    armed: AtomicBool,
    faults: AtomicU64,
    consumer_faults: AtomicU64,
}

/// Shared memory with an LWPCB and its ring, mapped by each process where it likes. Never unmapped: the processes are short.
#[derive(Clone, Copy)]
struct Shared {
    base: usize,
    ring_bytes: u32,
}

impl Shared {
    fn bytes(ring_bytes: u32) -> usize {
        RING_AT + ring_bytes as usize
    }

    /// Maps `file`, or fresh memory that children share.
    fn map(file: Option<&std::fs::File>, ring_bytes: u32) -> Self {
        let (kind, fd) = file.map_or((libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1), |file| (libc::MAP_SHARED, file.as_raw_fd()));
        // SAFETY: a mapping at an address of the kernel's choice.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), Self::bytes(ring_bytes), libc::PROT_READ | libc::PROT_WRITE, kind, fd, 0) };
        assert_ne!(base, libc::MAP_FAILED);
        Self { base: base as usize, ring_bytes }
    }

    /// Fills in the LWPCB for a process that has the ring where this one has it.
    fn set_up(&self) {
        self.lwpcb().flags.store(Flags::VAL.bits(), Ordering::Relaxed);
        self.lwpcb().buffer_size_random.store(self.ring_bytes, Ordering::Relaxed);
        self.lwpcb().buffer_base.store((self.base + RING_AT) as u64, Ordering::Relaxed);
    }

    fn lwpcb(&self) -> &'static Lwpcb {
        // SAFETY: page-aligned memory of a live mapping, all of whose bytes are atomics; any bit pattern is valid.
        unsafe { &*(self.base as *const Lwpcb) }
    }

    fn counters(&self) -> &'static Counters {
        // SAFETY: as above; zero bytes are valid, and the bool is written as a bool only.
        unsafe { &*((self.base + COUNTERS_AT) as *const Counters) }
    }

    fn word(&self, offset: u32, index: usize) -> &'static AtomicU64 {
        assert!(offset < self.ring_bytes && index < 4);
        // SAFETY: inside the ring, aligned.
        unsafe { &*((self.base + RING_AT + offset as usize + 8 * index) as *const AtomicU64) }
    }

    fn missed(&self) -> u64 {
        self.lwpcb().missed_events.load(Ordering::Relaxed)
    }
}

/// What [`lwp_feedback::ring::RingProducer`] and `RingConsumer` run, over memory that two processes share.
impl RingMemory for Shared {
    fn size(&self) -> u32 {
        self.ring_bytes
    }
    fn head_acquire(&self) -> u32 {
        self.lwpcb().buffer_head_offset.load(Ordering::Acquire)
    }
    fn set_head_release(&self, head: u32) {
        self.lwpcb().buffer_head_offset.store(head, Ordering::Release);
    }
    fn tail_for_producer(&self, _next: u32) -> u32 {
        self.lwpcb().buffer_tail_offset.load(Ordering::Acquire)
    }
    fn tail(&self) -> u32 {
        self.lwpcb().buffer_tail_offset.load(Ordering::Relaxed)
    }
    fn set_tail_release(&self, tail: u32) {
        self.lwpcb().buffer_tail_offset.store(tail, Ordering::Release);
    }
    fn write_slot(&self, offset: u32, words: [u64; 4]) {
        for (index, word) in words.into_iter().enumerate() {
            self.word(offset, index).store(word, Ordering::Relaxed);
        }
    }
    fn read_slot(&self, offset: u32) -> [u64; 4] {
        std::array::from_fn(|index| self.word(offset, index).load(Ordering::Relaxed))
    }
    fn count_missed(&self) {
        self.lwpcb().missed_events.store(self.missed() + 1, Ordering::Relaxed);
    }
    fn take_armed(&self) -> bool {
        self.counters().armed.swap(false, Ordering::AcqRel)
    }
    fn arm(&self) {
        self.counters().armed.store(true, Ordering::Release);
    }
    fn fence(&self) {
        fence(Ordering::SeqCst);
    }
}

/// Takes records, and checks that each is whole and newer than the last.
struct Reader {
    tail: u32,
    last: Option<u32>,
    seen: Vec<u32>,
}

impl Reader {
    fn new() -> Self {
        Self { tail: 0, last: None, seen: Vec::new() }
    }

    fn take(&mut self, record: &Record) {
        assert_eq!(record.event_id(), EventId::PROGRAMMED);
        assert_eq!(record.data2(), !u64::from(record.data1()), "a torn record");
        assert!(self.last.is_none_or(|last| record.data1() > last), "{} behind {:?}", record.data1(), self.last);
        self.last = Some(record.data1());
        self.seen.push(record.data1());
    }

    fn drain(&mut self, shared: &Shared) -> usize {
        let mut records = Vec::new();
        let (tail, count) = protocol::drain(shared, self.tail, usize::MAX, |words| records.push(Record { words }));
        self.tail = tail;
        records.iter().for_each(|record| self.take(record));
        count
    }
}

/// Forks; the child runs `work` and never returns. It must not allocate: another thread of this test may have held the allocator's lock.
fn fork(work: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the child only does what `work` does, and ends.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        work();
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
    child
}

/// Kills a child and checks that this is what it died of.
fn kill(child: libc::pid_t) {
    let mut status = 0;
    // SAFETY: our own child, waited for once.
    unsafe {
        assert_eq!(libc::kill(child, libc::SIGKILL), 0);
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
    }
    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL, "status {status:#x}");
}

/// This process's memory, in which one store of head is never reached.
struct DiesAtHead {
    memory: ProcessMemory,
    shared: Shared,
    /// Stores of head that still happen.
    left: u32,
}

impl UserMemory for DiesAtHead {
    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), PageFault> {
        self.memory.read(address, into)
    }
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), PageFault> {
        if address == self.shared.base as u64 + 16 {
            if self.left == 0 {
                self.shared.counters().reached.store(1, Ordering::Release);
                loop {
                    // SAFETY: no preconditions; SIGKILL ends it.
                    unsafe { libc::pause() };
                }
            }
            self.left -= 1;
        }
        self.memory.write(address, bytes)
    }
    fn probe_write(&mut self, address: u64, len: usize) -> Result<(), PageFault> {
        self.memory.probe_write(address, len)
    }
}

#[test]
fn producer_dies_before_head_store() {
    const SLOTS: u32 = 32;
    let shared = Shared::map(None, SLOTS * 32);
    shared.set_up();
    let counters = shared.counters();
    let mut reader = Reader::new();
    let mut never_published = Vec::new();
    // So many stores of head happen before the one that does not; from 31 on the ring is full and the record is one that MissedEvents counts.
    for stores in [0, 1, 5, 30, 31, 40, 2, 0] {
        counters.reached.store(0, Ordering::Relaxed);
        // SAFETY: the LWPCB and the ring are the mapping, which nothing unmaps.
        let memory = DiesAtHead { memory: unsafe { ProcessMemory::direct() }, shared, left: stores };
        let mut unit = Unit::new(memory, Architecture::Final(Capabilities::UNIT), Switches::default());
        let child = fork(move || {
            // SLWPCB and LLWPCB store no head here: nothing was on.
            if unit.llwpcb(shared.base as u64).is_ok() {
                loop {
                    let number = counters.started.fetch_add(1, Ordering::Relaxed) as u32;
                    let _ = unit.lwpins(1, !u64::from(number), Operand::Value(number), 0);
                }
            }
        });
        let begun = Instant::now();
        while counters.reached.load(Ordering::Acquire) == 0 {
            assert!(begun.elapsed() < Duration::from_secs(30), "the producer never came to the store");
            std::thread::sleep(Duration::from_micros(100));
        }
        kill(child);
        let dead = counters.started.load(Ordering::Relaxed) as u32 - 1;
        if stores < SLOTS - 1 {
            // Its bytes are in the slot at head, where the next producer's first record goes.
            let slot = shared.read_slot(shared.head_acquire());
            assert_eq!(Record { words: slot }.data1(), dead, "the record was written");
            never_published.push(dead);
        }
        assert_eq!(reader.drain(&shared), stores.min(SLOTS - 1) as usize);
        assert_eq!(reader.seen.len() as u64 + shared.missed() + never_published.len() as u64, counters.started.load(Ordering::Relaxed));
    }
    assert!(never_published.iter().all(|number| !reader.seen.contains(number)));
    // 31: the record that dies is counted already; 40: nine are counted before it, and it.
    assert_eq!((never_published.len(), shared.missed()), (6, 1 + 10));
}

/// The same, killed anywhere, with the library's producer and a consumer that drains all the while.
#[test]
fn a_producer_killed_anywhere_loses_one_record_at_most() {
    let shared = Shared::map(None, 128 * 32);
    shared.set_up();
    let counters = shared.counters();
    let mut reader = Reader::new();
    let mut lost = 0;
    for round in 0..40u64 {
        let before = counters.started.load(Ordering::Relaxed);
        let child = fork(|| {
            let mut head = shared.head_acquire();
            loop {
                let number = counters.started.fetch_add(1, Ordering::Relaxed) as u32;
                let record = Record::new(EventId::PROGRAMMED, 0, 0, number, 1, !u64::from(number), 0);
                if let Stored::Advanced { head: next, .. } = protocol::store(&shared, head, record.words, false) {
                    head = next;
                    shared.set_head_release(head);
                }
            }
        });
        let begun = Instant::now();
        while counters.started.load(Ordering::Relaxed) < before + 500 || begun.elapsed() < Duration::from_micros(300 + 37 * round) {
            assert!(begun.elapsed() < Duration::from_secs(30), "the producer does not run");
            reader.drain(&shared);
        }
        kill(child);
        reader.drain(&shared);
        let accounted = reader.seen.len() as u64 + shared.missed() + lost;
        let missing = counters.started.load(Ordering::Relaxed) - accounted;
        assert!(missing <= 1, "{missing} records are gone uncounted");
        lost += missing;
    }
    println!("{} records, {} missed, {lost} of 40 kills lost one", reader.seen.len(), shared.missed());
}

mod unmapping {
    use super::*;
    use lwp_feedback::codemap::CodeMap;
    use lwp_feedback::monitor::{Monitor, MonitorConfig, NoListener};
    use lwp_feedback::profile::Profile;
    use lwp_feedback::ring::{Ring, RingConfig};
    use lwp_feedback::{native, trap};
    use std::process::{Command, ExitStatus};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI32, AtomicUsize};

    const RING_BYTES: u32 = 64 << 10;
    const FILE: &str = "LWP_TEST_SHARED_FILE";
    const REPAIR: &str = "LWP_TEST_REPAIR";
    static LWPCB_PAGE: AtomicUsize = AtomicUsize::new(0);
    static FD: AtomicI32 = AtomicI32::new(-1);

    fn map_lwpcb() {
        let page = LWPCB_PAGE.load(Ordering::Relaxed);
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
        // SAFETY: the test's own page, which only the LWPCB uses; the file is its first page.
        unsafe { libc::mmap(page as *mut _, PAGE, protection, flags, FD.load(Ordering::Relaxed), 0) };
    }

    extern "C" fn repair(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
        let page = LWPCB_PAGE.load(Ordering::Relaxed);
        // SAFETY: a live siginfo of a SIGSEGV.
        let address = unsafe { (*info).si_addr() } as usize;
        if !(page..page + PAGE).contains(&address) {
            // SAFETY: ends the process: this is not the fault that was asked for.
            unsafe { libc::_exit(91) };
        }
        map_lwpcb();
        Shared { base: page, ring_bytes: RING_BYTES }.counters().faults.fetch_add(1, Ordering::Relaxed);
    }

    /// The program: a thread with LWP on, through the trap; a thread that drains its ring, unless it shall die; and the library's monitor, with a ring of
    /// its own, while the LWPCB's page comes and goes.
    fn program(shared: Shared, repaired: bool) {
        trap::install().unwrap();
        let counters = shared.counters();
        let (lwpcb, enough) = (shared.base as u64, if repaired { 25 } else { u64::MAX });
        let producer = std::thread::spawn(move || {
            // SAFETY: the handler executes it; what it uses is the mapping, or faults.
            unsafe { native::llwpcb(lwpcb) };
            let (mut number, mut carries) = (0, 0u64);
            while number < 5000 || counters.faults.load(Ordering::Relaxed) < enough {
                counters.started.fetch_add(1, Ordering::Relaxed);
                // SAFETY: as above.
                carries += u64::from(unsafe { native::lwpins::<1>(!u64::from(number), number) });
                number += 1;
            }
            // SAFETY: as above.
            unsafe { native::llwpcb(0) };
            carries
        });
        let stop = Arc::new(AtomicBool::new(false));
        let consumer = std::thread::spawn({
            let stop = stop.clone();
            move || {
                let mut reader = Reader::new();
                // SAFETY: only the tail is written, in the mapping.
                let mut memory = unsafe { ProcessMemory::checked() };
                loop {
                    let last = stop.load(Ordering::Acquire);
                    match memory.load_u32(lwpcb + 16) {
                        Ok(head) => {
                            while repaired && reader.tail != head {
                                reader.take(&Record { words: shared.read_slot(reader.tail) });
                                reader.tail = protocol::next_offset(reader.tail, RING_BYTES);
                            }
                        }
                        Err(_) => _ = counters.consumer_faults.fetch_add(1, Ordering::Relaxed),
                    }
                    if repaired && memory.store_u32(lwpcb + 64, reader.tail).is_err() {
                        counters.consumer_faults.fetch_add(1, Ordering::Relaxed);
                    }
                    if last {
                        return reader;
                    }
                    std::thread::sleep(Duration::from_micros(200));
                }
            }
        });
        let monitor = Monitor::new(MonitorConfig::default(), Arc::new(CodeMap::new()), Arc::new(Profile::default()), Box::new(NoListener));
        let ring = Ring::new(&RingConfig::default()).unwrap();
        monitor.add_ring(ring.clone()).unwrap();
        let mut own = ring.producer().unwrap();
        while counters.started.load(Ordering::Relaxed) < 300 {
            std::thread::sleep(Duration::from_micros(100));
        }
        while !producer.is_finished() {
            for _ in 0..100 {
                own.store(&Record::new(EventId::VALUE, 0, 0, 0, 1, 0, 0));
            }
            monitor.poll_once();
            std::thread::sleep(Duration::from_micros(700));
            // SAFETY: the test's own page; who uses it faults, which is what is tested.
            unsafe { libc::munmap(lwpcb as *mut _, PAGE) };
        }
        let carries = producer.join().unwrap();
        map_lwpcb();
        stop.store(true, Ordering::Release);
        let reader = consumer.join().unwrap();
        while monitor.poll_once().more {}
        let stats = monitor.stats();
        assert_eq!((stats.records + stats.missed, ring.missed()), (ring.produced(), 0), "the monitor's other rings noticed nothing");
        assert_eq!((carries, reader.seen.len() as u64 + carries), (shared.missed(), counters.started.load(Ordering::Relaxed)));
    }

    /// Runs the program in a process of its own.
    fn run(file: &std::path::Path, repaired: bool) -> ExitStatus {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "unmapping::program_unmaps_lwpcb", "--test-threads", "1"]);
        command.env(FILE, file).env(REPAIR, if repaired { "1" } else { "0" });
        let mut child = command.spawn().unwrap();
        let begun = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status;
            }
            if begun.elapsed() > Duration::from_secs(120) {
                child.kill().unwrap();
                panic!("the program hangs");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn program_unmaps_lwpcb() {
        if native::available() {
            return; // the processor would execute the instructions itself
        }
        if let Some(path) = std::env::var_os(FILE) {
            let repaired = std::env::var(REPAIR).unwrap() == "1";
            let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
            let shared = Shared::map(Some(&file), RING_BYTES);
            shared.set_up();
            LWPCB_PAGE.store(shared.base, Ordering::Relaxed);
            FD.store(file.as_raw_fd(), Ordering::Relaxed);
            // SAFETY: a valid action: `repair`, which maps the page again, or the system's default.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                if repaired {
                    action.sa_sigaction = repair as *const () as usize;
                    action.sa_flags = libc::SA_SIGINFO;
                }
                libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut());
            }
            return program(shared, repaired);
        }
        let folder = tempfile::tempdir().unwrap();
        for repaired in [true, false] {
            let path = folder.path().join(format!("shared-{repaired}"));
            let file = std::fs::File::options().read(true).write(true).create_new(true).open(&path).unwrap();
            file.set_len(Shared::bytes(RING_BYTES) as u64).unwrap();
            let shared = Shared::map(Some(&file), RING_BYTES);
            let status = run(&path, repaired);
            let counters = shared.counters();
            let started = counters.started.load(Ordering::Relaxed);
            if repaired {
                // It checked its own counts; each instruction that faulted was restarted and recorded once.
                assert!(status.success(), "{status}");
                assert!(counters.faults.load(Ordering::Relaxed) >= 25);
            } else {
                // A fault that nobody handles ends the program, as it would without LWP; what it had published is whole and counted.
                use std::os::unix::process::ExitStatusExt;
                assert_eq!(status.signal(), Some(libc::SIGSEGV), "{status}");
                let mut reader = Reader::new();
                reader.drain(&shared);
                let accounted = reader.seen.len() as u64 + shared.missed();
                assert!(started == accounted || started == accounted + 1, "{started} begun, {accounted} accounted for");
            }
            println!(
                "repaired {repaired}: {started} instructions, {} faults, {} of the consumer's",
                counters.faults.load(Ordering::Relaxed),
                counters.consumer_faults.load(Ordering::Relaxed)
            );
        }
    }
}
