//! Handles, sets and binding.
//!
//! Invariants:
//! 1. A set belongs to the handle that made it, a buffer to its set; every call checks both.
//! 2. A bound set is sampled by the thread that bound it and does not change.
//! 3. `CounterBuf::set` and the arithmetic never reach the counters: the next sample starts from the set's own state.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::buffer::CounterBuf;
use super::error::{CpcError, Invalid};
use super::source::{Caps, CounterSource, ItemTable, Programmed, Reading, Target};

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Counts.
    Counting,
    /// Samples: at most so many records are kept between two samples of the set.
    Sampling {
        /// Records.
        max_records: usize,
    },
}

/// A request of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The event's name in the source.
    pub event: String,
    /// What the count starts from. Sampling requests leave the interval to the source.
    pub preset: u64,
    /// Counts programs.
    pub user: bool,
    /// Counts the kernel.
    pub system: bool,
    /// What it does.
    pub kind: RequestKind,
}

impl Request {
    /// Counts an event in programs, from 0.
    pub fn counting(event: &str) -> Self {
        Self { event: event.to_owned(), preset: 0, user: true, system: false, kind: RequestKind::Counting }
    }

    /// Samples an event in programs.
    pub fn sampling(event: &str, max_records: usize) -> Self {
        Self { kind: RequestKind::Sampling { max_records }, ..Self::counting(event) }
    }
}

/// Called where a function has no other way to tell: its name and what is wrong.
pub type ErrorHandler = Arc<dyn Fn(&str, CpcError) + Send + Sync>;

/// A handle: a source, opened with or without sampling.
#[derive(Clone)]
pub struct Cpc {
    inner: Arc<Inner>,
}

struct Inner {
    id: u64,
    source: Arc<dyn CounterSource>,
    sampling: bool,
    handler: Mutex<Option<ErrorHandler>>,
}

/// A set of requests. Clones are the same set.
#[derive(Clone)]
pub struct CounterSet {
    pub(super) inner: Arc<SetInner>,
}

pub(super) struct SetInner {
    pub(super) id: u64,
    pub(super) cpc: u64,
    state: Mutex<SetState>,
}

#[derive(Default)]
struct SetState {
    requests: Vec<Request>,
    bound: Option<Bound>,
}

struct Bound {
    thread: libc::pid_t,
    /// CPU, and the affinity to go back to.
    cpu: Option<(usize, libc::cpu_set_t)>,
    programmed: Box<dyn Programmed>,
    counts: Vec<VirtualCount>,
}

/// A 64-bit count over a narrower counter.
#[derive(Clone, Copy, Debug, Default)]
struct VirtualCount {
    value: u64,
    /// The last reading: the counter's bits with what it told of its wraps.
    last: u64,
    /// How many bits it had then; 0: there was none.
    last_width: u32,
}

impl VirtualCount {
    /// Adds what the counter did since the last reading: the wraps it tells of, else at most one.
    fn advance(&mut self, reading: Reading) {
        let Reading { raw, width, wraps } = reading;
        let below = |width: u32| 1u64.checked_shl(width).map_or(u64::MAX, |wrap| wrap - 1);
        // An event may be defined anew, with a counter of another width: of both only the narrower's bits are there.
        let narrower = if self.last_width == 0 { width } else { width.min(self.last_width) };
        let (now, mask) = match wraps {
            Some(wraps) => (wraps.checked_shl(width).unwrap_or(0).wrapping_add(raw), u64::MAX),
            None => (raw, below(narrower)),
        };
        self.value = self.value.wrapping_add(now.wrapping_sub(self.last) & mask);
        (self.last, self.last_width) = (now, width);
    }
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves counts that are still well-formed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn this_thread() -> libc::pid_t {
    // SAFETY: no arguments, no memory.
    unsafe { libc::gettid() }
}

fn affinity() -> Result<libc::cpu_set_t, CpcError> {
    // SAFETY: all-zero bytes are a valid, empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is of the size given.
    match unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) } {
        0 => Ok(set),
        _ => Err(CpcError::System(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL))),
    }
}

fn set_affinity(set: &libc::cpu_set_t) -> bool {
    // SAFETY: `set` is of the size given.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set) == 0 }
}

fn only(cpu: usize) -> Option<libc::cpu_set_t> {
    if cpu >= libc::CPU_SETSIZE as usize {
        return None;
    }
    // SAFETY: all-zero bytes are a valid, empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the index was checked against the set's size.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    Some(set)
}

fn same(a: &libc::cpu_set_t, b: &libc::cpu_set_t) -> bool {
    // SAFETY: both sets are live.
    unsafe { libc::CPU_EQUAL(a, b) }
}

impl Cpc {
    /// Opens a source; with `sampling`, for sampling requests too, which not every source supports.
    pub fn open(source: Arc<dyn CounterSource>, sampling: bool) -> Result<Self, CpcError> {
        if sampling && !source.caps().contains(Caps::SAMPLING) {
            return Err(CpcError::NotSupported);
        }
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Ok(Self { inner: Arc::new(Inner { id, source, sampling, handler: Mutex::new(None) }) })
    }

    /// What the source can do.
    pub fn caps(&self) -> Caps {
        self.inner.source.caps()
    }

    /// Items of sample records.
    pub fn items(&self) -> ItemTable {
        self.inner.source.items()
    }

    /// Opened for sampling.
    pub fn is_sampling(&self) -> bool {
        self.inner.sampling
    }

    /// What [`Self::sub`], [`Self::add`], [`Self::copy`] and [`Self::zero`] call for a buffer that is not theirs.
    pub fn set_error_handler(&self, handler: Option<ErrorHandler>) {
        *lock(&self.inner.handler) = handler;
    }

    /// Calls the error handler.
    pub fn report(&self, function: &str, error: CpcError) {
        let handler = lock(&self.inner.handler).clone();
        if let Some(handler) = handler {
            handler(function, error);
        }
    }

    /// An empty set.
    pub fn create_set(&self) -> CounterSet {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        CounterSet { inner: Arc::new(SetInner { id, cpc: self.inner.id, state: Mutex::default() }) }
    }

    fn own(&self, set: &CounterSet) -> Result<(), Invalid> {
        if set.inner.cpc == self.inner.id { Ok(()) } else { Err(Invalid::ForeignSet) }
    }

    /// Whether the buffer was made with this handle.
    pub fn owns(&self, buf: &CounterBuf) -> bool {
        buf.handle() == self.inner.id
    }

    /// Adds a request and returns its index.
    pub fn add_request(&self, set: &CounterSet, request: Request) -> Result<usize, CpcError> {
        self.own(set)?;
        if matches!(request.kind, RequestKind::Sampling { .. }) && !self.inner.sampling {
            return Err(Invalid::NotOpenedForSampling.into());
        }
        self.inner.source.check(&request)?;
        let mut state = lock(&set.inner.state);
        if state.bound.is_some() {
            return Err(Invalid::Bound.into());
        }
        state.requests.push(request);
        Ok(state.requests.len() - 1)
    }

    /// Most records that a sampling request keeps between two samples: `cpc_get_smpl_max_rec_count`.
    pub fn max_record_count(&self, set: &CounterSet, index: usize) -> Result<usize, CpcError> {
        self.own(set)?;
        if !self.inner.sampling {
            return Err(Invalid::NotOpenedForSampling.into());
        }
        match lock(&set.inner.state).requests.get(index).map(|request| request.kind) {
            None => Err(Invalid::NoRequest(index).into()),
            Some(RequestKind::Counting) => Err(Invalid::NotSampling(index).into()),
            Some(RequestKind::Sampling { max_records }) => Ok(max_records),
        }
    }

    /// A buffer for the set as it is now.
    pub fn create_buf(&self, set: &CounterSet) -> Result<CounterBuf, CpcError> {
        self.own(set)?;
        CounterBuf::new(self.inner.id, self.inner.sampling, set.inner.id, self.items(), &lock(&set.inner.state).requests)
    }

    /// Starts counting for the calling thread.
    pub fn bind_thread(&self, set: &CounterSet) -> Result<(), CpcError> {
        self.bind(set, Target::Thread)
    }

    /// Binds the calling thread to a CPU and starts counting that CPU.
    pub fn bind_cpu(&self, set: &CounterSet, cpu: usize) -> Result<(), CpcError> {
        self.bind(set, Target::Cpu(cpu))
    }

    fn bind(&self, set: &CounterSet, target: Target) -> Result<(), CpcError> {
        self.own(set)?;
        let mut state = lock(&set.inner.state);
        if state.bound.is_some() {
            return Err(Invalid::Bound.into());
        }
        if state.requests.is_empty() {
            return Err(Invalid::EmptySet.into());
        }
        let cpu = match target {
            Target::Thread => None,
            Target::Cpu(cpu) => {
                let before = affinity()?;
                let wanted = only(cpu).filter(set_affinity).ok_or(Invalid::NoCpu(cpu))?;
                debug_assert!(affinity().is_ok_and(|now| same(&now, &wanted)));
                Some((cpu, before))
            }
        };
        let programmed = self.inner.source.program(&state.requests, target).inspect_err(|_| {
            if let Some((_, before)) = &cpu {
                set_affinity(before);
            }
        })?;
        let counts = state.requests.iter().map(|request| VirtualCount { value: request.preset, ..VirtualCount::default() }).collect();
        state.bound = Some(Bound { thread: this_thread(), cpu, programmed, counts });
        Ok(())
    }

    /// Stops counting. A thread that [`Self::bind_cpu`] bound may run where it could before.
    pub fn unbind(&self, set: &CounterSet) -> Result<(), CpcError> {
        self.own(set)?;
        let bound = lock(&set.inner.state).bound.take().ok_or(Invalid::Unbound)?;
        if let Some((cpu, before)) = bound.cpu
            && bound.thread == this_thread()
            && only(cpu).is_some_and(|bound_to| affinity().is_ok_and(|now| same(&now, &bound_to)))
        {
            set_affinity(&before);
        }
        Ok(())
    }

    /// Takes a snapshot of the set's counters and moves its samples into the buffer. On an error the buffer is as it was.
    pub fn sample(&self, set: &CounterSet, buf: &mut CounterBuf) -> Result<(), CpcError> {
        self.own(set)?;
        let mut state = lock(&set.inner.state);
        let SetState { requests, bound } = &mut *state;
        if !buf.belongs(self.inner.id, set.inner.id) || buf.requests() != requests.len() {
            return Err(Invalid::ForeignBuffer.into());
        }
        let bound = bound.as_mut().ok_or(Invalid::Unbound)?;
        if bound.thread != this_thread() {
            return Err(Invalid::OtherThread.into());
        }
        if let Some((cpu, _)) = bound.cpu
            && !(affinity().is_ok_and(|now| only(cpu).is_some_and(|bound_to| same(&now, &bound_to))))
        {
            return Err(CpcError::LeftCpu);
        }
        let mut counts = bound.counts.clone();
        for (index, request) in requests.iter().enumerate() {
            if request.kind == RequestKind::Counting {
                counts[index].advance(bound.programmed.read(index)?);
            }
        }
        bound.counts = counts;
        let tick = bound.programmed.clocks();
        buf.begin_sample(monotonic_ns(), tick);
        for (index, request) in requests.iter().enumerate() {
            match request.kind {
                RequestKind::Counting => buf.store_count(index, bound.counts[index].value),
                RequestKind::Sampling { .. } => bound.programmed.take_samples(index, buf.records_mut(index)),
            }
        }
        Ok(())
    }

    /// `ds[n] = a[n] - b[n]` for each counting request. Buffers of another set or handle: the error handler is called, nothing changes.
    pub fn sub(&self, ds: &mut CounterBuf, a: &CounterBuf, b: &CounterBuf) {
        self.combine("cpc_buf_sub", ds, a, b, u64::wrapping_sub);
    }

    /// `ds[n] = a[n] + b[n]`, likewise.
    pub fn add(&self, ds: &mut CounterBuf, a: &CounterBuf, b: &CounterBuf) {
        self.combine("cpc_buf_add", ds, a, b, u64::wrapping_add);
    }

    fn combine(&self, function: &str, ds: &mut CounterBuf, a: &CounterBuf, b: &CounterBuf, operation: fn(u64, u64) -> u64) {
        if [&*ds, a, b].iter().all(|buf| buf.belongs(self.inner.id, ds.set()) && buf.requests() == ds.requests()) {
            ds.combine(a, b, operation);
        } else {
            self.report(function, Invalid::ForeignBuffer.into());
        }
    }

    /// Copies counts, records, time and tick.
    pub fn copy(&self, ds: &mut CounterBuf, src: &CounterBuf) {
        if src.belongs(self.inner.id, ds.set()) && ds.belongs(self.inner.id, src.set()) && ds.requests() == src.requests() {
            ds.copy_from(src);
        } else {
            self.report("cpc_buf_copy", Invalid::ForeignBuffer.into());
        }
    }

    /// Sets all counts, the time and the tick to zero and drops the records.
    pub fn zero(&self, buf: &mut CounterBuf) {
        if buf.belongs(self.inner.id, buf.set()) {
            buf.zero();
        } else {
            self.report("cpc_buf_zero", Invalid::ForeignBuffer.into());
        }
    }
}

fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is live; CLOCK_MONOTONIC always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
#[path = "set_tests.rs"]
mod tests;
