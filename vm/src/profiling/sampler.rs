//! Samples of the guest's stack by a timer on the CPU time of the thread that runs it.
//!
//! The timer's signal finds the thread in one of two states. *In compiled code* the handler walks the frames at once: the exact pc, then frame
//! pointers, then the activations outside. *Anywhere else* (interpreter, host function, monitor's work on this thread) frames are in registers or
//! half changed; the handler only counts the sample as due, and it is taken with its weight at the next place where they are whole: a host call, or
//! the next call or the interpreter's next back edge, which [`Sampler`]'s thread asks to look.
//!
//! Invariants:
//! 1. The handler is async-signal-safe: atomics, constant-initialized thread-locals, reads of the wasm stack within its bounds, the store's own
//!    words, `clock_gettime` and `timer_getoverrun`. It allocates nothing and takes no lock.
//! 2. While compiled code runs, no Rust code of this thread changes the store's activations or the interpreter's frames: they may be read.
//! 3. The buffer has one producer, the handler on its thread, and one consumer, the sampler's thread; a full buffer counts what it loses.
//! 4. Code that was sampled keeps its address and its tables until the process ends ([`super::keep_addresses`]), so that a pc can be named later.

use crate::arena;
use crate::backtrace::backtrace;
use crate::detour::{self, FRONT};
use crate::engine::Engine;
use crate::layout::VmContext;
use crate::registry;
use crate::runtime::{Activation, instance, store_state};
use crate::signals;
use crate::store::StoreState;
use crate::trap::Frame;
use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

/// Words of the buffer: a second of samples of 60 frames at 1 kHz, many times what comes between two looks.
const BUFFER_WORDS: usize = 1 << 16;
/// Frames of a sample; of deeper stacks the innermost.
const MOST_FRAMES: usize = 256;
/// Words before a sample's frames: how many words follow them, weight, time.
const HEAD_WORDS: usize = 3;
/// Marks a word that names a position, with the module's hash in the next word; other words are addresses of code.
const POSITION: u64 = 1 << 63;
/// The signal.
const SIGNAL: libc::c_int = libc::SIGPROF;

/// What was sampled.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Distinct frames.
    pub frames: Vec<SampledFrame>,
    /// Samples, oldest first.
    pub samples: Vec<Sample>,
    /// Samples that found no room.
    pub lost: u64,
    /// CPU time between two samples, ns.
    pub interval_ns: u64,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SampledFrame {
    /// The module's name.
    pub module: Option<String>,
    /// Index of the function.
    pub function: u32,
    /// Its name.
    pub name: Option<String>,
    /// Byte offset in the module.
    pub offset: Option<u32>,
    /// Whether its code was compiled; where it is not known (a sample of the host), it counts as not.
    pub compiled: bool,
}

/// A sample.
#[derive(Clone, Debug)]
pub struct Sample {
    /// When, ns since the engine began.
    pub at_ns: u64,
    /// Ticks of the timer it stands for.
    pub weight: u32,
    /// Whether compiled code was running; else the interpreter or the host, and the frames are those of the next call or back edge.
    pub exact: bool,
    /// Indices of its frames, innermost first.
    pub stack: Vec<u32>,
}

/// Ticks by function of the innermost frame, while a sampler works: for live views.
#[derive(Debug, Default)]
pub struct LiveTicks(Mutex<HashMap<u32, u64>>);

impl LiveTicks {
    /// Function → ticks so far, most first.
    pub fn by_function(&self) -> Vec<(u32, u64)> {
        let mut all: Vec<(u32, u64)> = lock(&self.0).iter().map(|(&function, &ticks)| (function, ticks)).collect();
        all.sort_by_key(|&(function, ticks)| (std::cmp::Reverse(ticks), function));
        all
    }
}

struct Buffer {
    words: Box<[AtomicU64]>,
    head: AtomicUsize,
    tail: AtomicUsize,
    lost: AtomicU64,
    timer: libc::timer_t,
    /// Samples taken late.
    late: Mutex<Vec<(u64, u32, Vec<Frame>)>>,
}

// SAFETY: everything but the timer's handle is atomic or locked; the handle is only used by the handler and freed after the handler's last use.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

thread_local! {
    /// Where this thread's samples go, or null.
    static BUFFER: Cell<*const Buffer> = const { Cell::new(std::ptr::null()) };
}

/// Samples the thread that made it, until it is finished there.
pub struct Sampler {
    buffer: Arc<Buffer>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Samples>>,
    live: Arc<LiveTicks>,
    interval: Duration,
    /// It belongs to the thread whose timer it holds.
    _here: std::marker::PhantomData<*const ()>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|error| error.into_inner())
}

impl Sampler {
    /// Begins to sample the calling thread, which is the one that will run the engine's guests. Uses SIGPROF; code addresses are not used again
    /// from now on.
    ///
    /// # Errors
    /// The system has no timer left, or no thread; or this thread is sampled already.
    pub fn start(engine: &Engine, interval: Duration) -> io::Result<Sampler> {
        static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
        if !BUFFER.get().is_null() {
            return Err(io::Error::other("this thread is sampled already"));
        }
        super::keep_addresses();
        signals::prepare_thread()?;
        INSTALLED.get_or_init(install).map_err(io::Error::from_raw_os_error)?;
        let mut timer: libc::timer_t = std::ptr::null_mut();
        // SAFETY: all-zero is a valid `sigevent`, filled in below.
        let mut event: libc::sigevent = unsafe { MaybeUninit::zeroed().assume_init() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = SIGNAL;
        // SAFETY: takes no argument and cannot fail.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };
        // SAFETY: both point to initialized values of their types.
        if unsafe { libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &mut event, &mut timer) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let buffer = Arc::new(Buffer {
            words: (0..BUFFER_WORDS).map(|_| AtomicU64::new(0)).collect(),
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            timer,
            late: Mutex::default(),
        });
        let interval = interval.clamp(Duration::from_micros(50), Duration::from_secs(1));
        let stop = Arc::new(AtomicBool::new(false));
        let live = Arc::new(LiveTicks::default());
        let thread = {
            let (engine, buffer, stop, live) = (engine.downgrade(), buffer.clone(), stop.clone(), live.clone());
            let began = now().saturating_sub(engine.upgrade().map_or(0, |shared| shared.started.elapsed().as_nanos() as u64));
            let body = move || {
                let mut collected = Collector::new(interval, live);
                loop {
                    let stopping = stop.load(Ordering::Acquire);
                    if let Some(shared) = engine.upgrade() {
                        shared.with_stores(|stores| {
                            stores.iter().filter(|store| store.samples_due() > 0).for_each(|store| store.ask_to_sample())
                        });
                        collected.take(&buffer, began, &|hash| shared.modules(hash).first().map(|code| code.module().clone()));
                    }
                    if stopping {
                        break;
                    }
                    std::thread::park_timeout(interval);
                }
                collected.samples.lost = buffer.lost.load(Ordering::Relaxed);
                collected.samples
            };
            std::thread::Builder::new().name("backedge-sampler".into()).spawn(body)
        };
        let thread = match thread {
            Ok(thread) => thread,
            Err(error) => {
                // SAFETY: the timer just made, which nothing uses.
                unsafe { libc::timer_delete(timer) };
                return Err(error);
            }
        };
        BUFFER.set(Arc::as_ptr(&buffer));
        let sampler = Sampler { buffer, stop, thread: Some(thread), live, interval, _here: std::marker::PhantomData };
        sampler.arm(interval)?;
        Ok(sampler)
    }

    fn arm(&self, interval: Duration) -> io::Result<()> {
        let time = libc::timespec { tv_sec: interval.as_secs() as i64, tv_nsec: interval.subsec_nanos().into() };
        let setting = libc::itimerspec { it_interval: time, it_value: time };
        // SAFETY: the timer lives until `stop`; the setting is initialized.
        if unsafe { libc::timer_settime(self.buffer.timer, 0, &setting, std::ptr::null_mut()) } == 0 {
            return Ok(());
        }
        Err(io::Error::last_os_error())
    }

    /// What it counts so far.
    pub fn live(&self) -> Arc<LiveTicks> {
        self.live.clone()
    }

    /// Ends it; what was sampled.
    pub fn finish(mut self) -> Samples {
        let mut samples = self.stop();
        samples.interval_ns = self.interval.as_nanos() as u64;
        samples
    }

    fn stop(&mut self) -> Samples {
        let Some(thread) = self.thread.take() else { return Samples::default() };
        // A signal that is under way finds no buffer.
        BUFFER.set(std::ptr::null());
        // SAFETY: the timer made in `start`, deleted once.
        unsafe { libc::timer_delete(self.buffer.timer) };
        self.stop.store(true, Ordering::Release);
        thread.thread().unpark();
        thread.join().unwrap_or_default()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Turns words into samples.
struct Collector {
    samples: Samples,
    known: HashMap<SampledFrame, u32>,
    live: Arc<LiveTicks>,
}

impl Collector {
    fn new(interval: Duration, live: Arc<LiveTicks>) -> Collector {
        let samples = Samples { interval_ns: interval.as_nanos() as u64, ..Samples::default() };
        Collector { samples, known: HashMap::new(), live }
    }

    fn frame(&mut self, frame: Frame, compiled: bool) -> u32 {
        let (module, name) = (frame.module_name().map(str::to_owned), frame.name().map(str::to_owned));
        let frame = SampledFrame { module, function: frame.function, name, offset: frame.offset, compiled };
        *self.known.entry(frame).or_insert_with_key(|frame| {
            self.samples.frames.push(frame.clone());
            self.samples.frames.len() as u32 - 1
        })
    }

    fn sample(&mut self, sample: Sample) {
        if let Some(&innermost) = sample.stack.first() {
            *lock(&self.live.0).entry(self.samples.frames[innermost as usize].function).or_default() += u64::from(sample.weight);
        }
        self.samples.samples.push(sample);
    }

    fn take(&mut self, buffer: &Buffer, began: u64, module: &dyn Fn(u64) -> Option<Arc<crate::module::Module>>) {
        let head = buffer.head.load(Ordering::Acquire);
        let mut tail = buffer.tail.load(Ordering::Relaxed);
        let word = |at: usize| buffer.words[at % BUFFER_WORDS].load(Ordering::Relaxed);
        while tail < head {
            let (length, weight, at) = (word(tail) as usize, word(tail + 1) as u32, word(tail + 2));
            let end = tail + HEAD_WORDS + length;
            let mut stack = Vec::new();
            let mut place = tail + HEAD_WORDS;
            while place < end {
                let value = word(place);
                place += 1;
                if value & POSITION == 0 {
                    let mut frames = Vec::new();
                    registry::frames_at(value as usize, &mut frames);
                    stack.extend(frames.into_iter().map(|frame| self.frame(frame, true)));
                } else {
                    let hash = word(place);
                    place += 1;
                    let (function, offset) = ((value & !POSITION) >> 32, value as u32);
                    if let Some(module) = module(hash) {
                        let offset = (offset != u32::MAX).then_some(offset);
                        stack.push(self.frame(Frame::new(module, function as u32, offset), false));
                    }
                }
            }
            self.sample(Sample { at_ns: at.saturating_sub(began), weight, exact: true, stack });
            tail = end;
            buffer.tail.store(tail, Ordering::Release);
        }
        for (at, weight, frames) in std::mem::take(&mut *lock(&buffer.late)) {
            let stack = frames.into_iter().take(MOST_FRAMES).map(|frame| self.frame(frame, false)).collect();
            self.sample(Sample { at_ns: at.saturating_sub(began), weight, exact: false, stack });
        }
    }
}

/// A place where all frames are whole: takes the samples that are due. False where there were none.
///
/// # Safety
/// `context` is the running context, with its frames published as for a backtrace.
pub(crate) unsafe fn take_due(context: *mut VmContext) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let weight = (*store_state(context)).take_samples_due();
        if weight == 0 {
            return false;
        }
        let buffer = BUFFER.get();
        if !buffer.is_null() {
            let frames = backtrace(context);
            // Set by a sampler that lives until it is unset, on this thread.
            lock(&(*buffer).late).push((now(), weight, frames));
        }
        true
    }
}

fn install() -> Result<(), i32> {
    // SAFETY: all-zero is a valid `sigaction`, filled in below.
    let mut new: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    new.sa_sigaction = handler as *const () as usize;
    new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: `new` names a handler of the three-argument form, as SA_SIGINFO says.
    if unsafe { libc::sigaction(SIGNAL, &new, std::ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL));
    }
    Ok(())
}

/// `CLOCK_MONOTONIC`, ns. Async-signal-safe.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one `timespec`.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A sample being written; published whole or not at all.
struct Writer<'a> {
    buffer: &'a Buffer,
    first: usize,
    at: usize,
    room: usize,
    frames: usize,
    whole: bool,
}

impl Writer<'_> {
    /// False where the sample ends here.
    fn words(&mut self, words: &[u64]) -> bool {
        if self.frames >= MOST_FRAMES {
            return false;
        }
        self.frames += 1;
        self.raw(words)
    }

    fn raw(&mut self, words: &[u64]) -> bool {
        for &word in words {
            if self.at - self.first >= self.room {
                self.whole = false;
                return false;
            }
            self.buffer.words[self.at % BUFFER_WORDS].store(word, Ordering::Relaxed);
            self.at += 1;
        }
        true
    }
}

unsafe extern "C" fn handler(_signal: libc::c_int, _info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let buffer = BUFFER.get();
    if buffer.is_null() {
        return;
    }
    // SAFETY: the kernel passes a valid `ucontext_t`; a buffer that is set lives until it is unset on this thread.
    let (machine, buffer) = unsafe { (&(*context.cast::<libc::ucontext_t>()).uc_mcontext, &*buffer) };
    // SAFETY: the timer lives while the buffer is set.
    let weight = 1 + unsafe { libc::timer_getoverrun(buffer.timer) }.max(0) as u32;
    let pc = machine.gregs[libc::REG_RIP as usize] as usize;
    if !arena::contains(pc) {
        let current = signals::current().cast::<StoreState>();
        if !current.is_null() {
            // SAFETY: the current store is live (`signals::set_current` is paired around every entry); only an atomic of it is touched.
            unsafe { (*current).add_samples_due(weight) };
        }
        return;
    }
    let head = buffer.head.load(Ordering::Relaxed);
    let room = BUFFER_WORDS - (head - buffer.tail.load(Ordering::Acquire));
    let mut writer = Writer { buffer, first: head, at: head, room, frames: 0, whole: true };
    writer.raw(&[0, weight.into(), now()]);
    let running = machine.gregs[libc::REG_R15 as usize] as usize as *mut VmContext;
    let registers = [libc::REG_RBP, libc::REG_RSP].map(|register| machine.gregs[register as usize] as usize);
    // SAFETY: code in the arena runs with its live context in r15 (invariant 1 of `crate::entry`); invariant 2.
    unsafe { walk(&*store_state(running), pc, registers, &mut writer) };
    if !writer.whole {
        buffer.lost.fetch_add(u64::from(weight), Ordering::Relaxed);
        return;
    }
    let length = writer.at - head - HEAD_WORDS;
    buffer.words[head % BUFFER_WORDS].store(length as u64, Ordering::Relaxed);
    buffer.head.store(writer.at, Ordering::Release);
}

/// Writes the frames of a store whose compiled code was interrupted at `pc`, innermost first.
///
/// # Safety
/// In the handler, on the store's thread, with the registers of the interrupted code.
unsafe fn walk(store: &StoreState, pc: usize, [fp, sp]: [usize; 2], writer: &mut Writer<'_>) {
    let (low, high) = (store.context.stack_low, store.context.stack_high);
    let readable = |address: usize| address >= low && address.saturating_add(16) <= high;
    // SAFETY: what is read is readable: inside the wasm stack, which is mapped as a whole.
    let read = |address: usize| unsafe { (address as *const usize).read_unaligned() };
    let mut start = Some(pc);
    let mut exit_fp = store.context.exit_fp;
    let mut last = store.interp.depth();
    let mut continued = false;
    for activation in store.activations.iter().rev() {
        match *activation {
            Activation::Compiled { outer_exit_fp, continues_frame } => {
                continued = continues_frame;
                let (mut pc, mut fp) = match start.take() {
                    Some(pc) => {
                        if !writer.words(&[pc as u64]) {
                            return;
                        }
                        // At a function's first instructions and at its return the caller is known by the stack pointer alone.
                        // SAFETY: code in the arena can be read, and blocks are filled up behind their last instruction.
                        let code = unsafe { &*(pc as *const [u8; FRONT]) };
                        match code {
                            _ if detour::is_front(code) && readable(sp) => (read(sp), fp),
                            [0x55 | 0xc3 | 0xc2, ..] if readable(sp) => (read(sp), fp),
                            [0x48, 0x89, 0xe5, ..] if readable(sp) => (read(sp + 8), fp),
                            _ if readable(fp) => (read(fp + 8), read(fp)),
                            _ => (0, 0),
                        }
                    }
                    None if exit_fp == 0 => (0, 0),
                    // SAFETY: the frame of a thunk still on the wasm stack (invariant 4 of `crate::entry`).
                    None => (read(exit_fp + 8), read(exit_fp)),
                };
                while arena::contains(pc) {
                    // A return address may be the first byte behind its instruction's position.
                    if !writer.words(&[pc as u64 - 1]) || !readable(fp) {
                        break;
                    }
                    (pc, fp) = (read(fp + 8), read(fp));
                }
                exit_fp = outer_exit_fp;
            }
            Activation::Interpreter { context, first } => {
                // SAFETY: an activation's context is live as long as it runs.
                let hash = unsafe { &instance(context).module }.hash;
                let skipped = usize::from(std::mem::take(&mut continued));
                for (function, offset) in store.interp.frames_between(first, last).skip(skipped) {
                    let position = POSITION | u64::from(function) << 32 | u64::from(offset.unwrap_or(u32::MAX));
                    if !writer.words(&[position, hash]) {
                        return;
                    }
                }
                last = first;
            }
        }
    }
}
