//! Engines and loaded modules: what is shared by all stores, and the threads behind.
//!
//! An [`Engine`] owns the monitor (one named thread, or polled by the host) and the compile threads. They hold only [`Shared`], so dropping the last
//! `Engine` ends them.

use crate::arena::CodeBlock;
use crate::builtins;
use crate::burst::{Budget, BurstStats, EXACT_WORDS, Exact, ExactProfile, News, Probes};
use crate::code::{Adapter, AdapterSignature, Compiler};
use crate::interp::{self, Templates};
use crate::memory;
use crate::module::{Bytes, Module, ModuleError};
use crate::profiling::nameless;
use crate::queue::Queue;
use crate::registry::{PlacedCode, Role};
use crate::signature;
use crate::store::StoreState;
use crate::tiering::cost::CompileCosts;
use crate::tiering::{Listener, ModuleCode, Recording, Remains, Retirement};
use crate::timeline::Timeline;
use lwp_feedback::codemap::{CodeMap, RetireCookie};
use lwp_feedback::layout::EventId;
use lwp_feedback::monitor::{Haste, Monitor, MonitorConfig, MonitorStats, MonitorThread, NoListener};
use lwp_feedback::profile::{Profile, ProfileLimits};
use lwp_feedback::recordfile::Recorder;
use lwp_feedback::ring::Ring;
use lwp_feedback::sources::clock;
use lwp_feedback::sources::perf::{PerfCounts, ThreadEvents};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock, TryLockError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

mod config;
mod threads;

pub use config::{EngineConfig, FeedbackPolicy, FeedbackScope, RecordSource, Stress, TierPolicy};

/// An engine. Cloning is cheap and yields the same engine.
#[derive(Clone)]
pub struct Engine(Arc<Handle>);

/// An engine that may be gone: it is not kept alive by this.
#[derive(Clone)]
pub struct WeakEngine(Weak<Handle>);

impl WeakEngine {
    /// The engine, while somebody has it.
    pub fn upgrade(&self) -> Option<Engine> {
        self.0.upgrade().map(Engine)
    }
}

/// For as long a compile that runs holds up the end of its engine: nearly all are over by then.
const LONGEST_END: Duration = Duration::from_millis(250);

struct Handle {
    shared: Arc<Shared>,
    compile_threads: Vec<JoinHandle<()>>,
    monitor_thread: Option<MonitorThread>,
    /// The process that has these threads: one that was forked has not.
    process: u32,
}

impl Handle {
    fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.is_forked() {
            // Nobody will end, and what they held when the process was forked they hold for ever.
            self.compile_threads.drain(..).for_each(std::mem::forget);
            std::mem::forget(self.monitor_thread.take());
            return;
        }
        self.shared.queue.close();
        // A compile may take as long as a guest wants, and a policy may have had the last engine, on a compile thread: such a thread ends by itself.
        if self.shared.queue.wait_stopped(LONGEST_END) {
            for thread in self.compile_threads.drain(..) {
                // (its panic was reported when it happened)
                let _ = thread.join();
            }
        }
    }
}

/// What an event source of one's own did.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct SourceCounts {
    /// Its name.
    pub name: &'static str,
    /// Records stored.
    pub records: u64,
    /// Records that found its ring full.
    pub missed: u64,
}

/// What modules, stores and threads of an engine share.
pub struct Shared {
    pub(crate) config: EngineConfig,
    pub(crate) compiler: Option<Arc<dyn Compiler>>,
    pub(crate) code_map: Arc<CodeMap>,
    pub(crate) profile: Arc<Profile>,
    pub(crate) monitor: Arc<Monitor>,
    recording: Recording,
    pub(crate) queue: Queue,
    pub(crate) probes: Probes,
    pub(crate) budget: Budget,
    exact: Mutex<Exact>,
    /// What the threads' clocks did.
    clocks: Arc<clock::Counts>,
    /// Whether a monitor's tick does later what a running thread could not do without waiting for a lock.
    pub(crate) ticks: bool,
    /// Event sources of one's own, running or ended.
    own_sources: Mutex<Vec<(&'static str, Arc<Ring>)>>,
    /// The kernel's events of the threads that run wasm, drained at the monitor's tick.
    perf: Mutex<Vec<Weak<Mutex<ThreadEvents>>>>,
    /// What those of threads that are gone counted, and why there are none.
    perf_before: Mutex<(PerfCounts, Option<String>)>,
    pub(crate) started: Instant,
    /// Some module's bursts follow calls.
    pub(crate) follows: AtomicBool,
    /// [`Engine::end_run`], since then.
    ended: OnceLock<Duration>,
    started_ticks: u64,
    pub(crate) compile_costs: CompileCosts,
    /// Operators of calls that are over: run by the interpreter, and of blocks entered in compiled code. Where event 2 may be recorded.
    instructions: [AtomicU64; 2],
    /// Numbers of the questions to all of a module's instrumented code.
    questions: AtomicU32,
    /// Whether memories with 32-bit addresses have guards; all code of this engine is made for that.
    guarded_memories: bool,
    adapters: RwLock<HashMap<(Adapter, u32), AdapterPlace>>,
    /// Code that jumps to the resolver; lazy stubs and host functions lead to it. 0 without a compiler.
    resolver: Option<CodeBlock>,
    id: u64,
    epoch: AtomicU64,
    stores: Mutex<Vec<StorePointer>>,
    /// What is left of versions and modules that are gone, until no record can name it; what went first is first.
    graves: Mutex<VecDeque<(RetireCookie, Remains)>>,
    modules: Mutex<HashMap<u64, Vec<Weak<ModuleCode>>>>,
    /// Keys of modules that are gone and whose profiles are there, those first that went first.
    departed: Mutex<VecDeque<u64>>,
    /// Compiles begun and ended, and those running: they spoil what is measured meanwhile.
    compiles: AtomicU64,
    compiling: AtomicU64,
    pub(crate) retirement: Retirement,
    pub(crate) timeline: Timeline,
}

/// A compile that runs.
pub(crate) struct Compiling<'a>(&'a Shared);

impl Drop for Compiling<'_> {
    fn drop(&mut self) {
        self.0.compiling.fetch_sub(1, Ordering::SeqCst);
        self.0.compiles.fetch_add(1, Ordering::SeqCst);
    }
}

struct AdapterPlace(Box<PlacedCode>);

struct StorePointer(*mut StoreState);
// SAFETY: dereferenced only under the lock of `Shared::stores`, from which a store removes itself before it is freed, and only to write atomics.
unsafe impl Send for StorePointer {}

/// Locks; a thread that panicked while it held the lock left data that is still sound.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|error| error.into_inner())
}

/// For threads that run a guest: nothing where another thread has the lock. Whoever has it may have been put aside by the system for milliseconds.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// The time stamp counter.
fn time_stamp() -> u64 {
    // SAFETY: RDTSC exists on every x86-64 and touches no memory.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Bytes of the resolver: a jump through the word behind it.
const RESOLVER_BYTES: usize = 14;

/// So many modules that are gone have a profile at most.
const MOST_DEPARTED: usize = 32;

static NEXT_ENGINE: AtomicU64 = AtomicU64::new(1);
/// Of the keys of code that belongs to a store.
static NEXT_KEY: AtomicU64 = AtomicU64::new(1);

impl Engine {
    /// An engine; without a compiler everything is interpreted.
    pub fn new(config: EngineConfig, compiler: Option<Arc<dyn Compiler>>) -> std::io::Result<Engine> {
        let compiler = if config.tier == TierPolicy::Interpreter { None } else { compiler };
        let resolver = match &compiler {
            Some(_) => {
                let mut block = CodeBlock::new(RESOLVER_BYTES, 16).map_err(std::io::Error::other)?;
                let mut bytes = vec![0xff, 0x25, 0, 0, 0, 0]; // jmp [rip + 0]
                bytes.extend_from_slice(&(builtins::resolver() as u64).to_le_bytes());
                block.fill(0, &bytes);
                Some(block)
            }
            None => None,
        };
        if config.exact && config.events.contains(EventId::DCACHE) {
            // Loads are told from the first on.
            lwp_feedback::calibrate::plateaus();
        }
        let code_map = Arc::new(CodeMap::new());
        let profile = Arc::new(Profile::new(ProfileLimits::default()));
        let threads =
            if compiler.is_some() && config.tier == TierPolicy::Auto && !config.deterministic { config.compile_threads.max(1) } else { 0 };
        let watched = compiler.is_some() && config.tier == TierPolicy::Auto; // see `Shared::watched`
        let spawn_monitor = watched && config.monitor_thread && !config.deterministic;
        let recording = Recording::default();
        let feedback_budget = config.feedback_budget;
        let timeline = Timeline::new(config.timeline);
        let guarded_memories = config.guarded_memories.unwrap_or_else(memory::guards_fit);
        let monitor_share = crate::burst::monitor_share(config.feedback_budget);
        let shared = Arc::new_cyclic(|weak: &Weak<Shared>| Shared {
            monitor: Arc::new(Monitor::new(
                MonitorConfig { drain_share: monitor_share, poll_share: monitor_share, ..MonitorConfig::default() },
                code_map.clone(),
                profile.clone(),
                Box::new(Listener::new(weak.clone(), recording.clone())),
            )),
            config,
            compiler,
            code_map,
            profile,
            recording: recording.clone(),
            queue: Queue::new(),
            probes: Probes::default(),
            budget: Budget::new(feedback_budget),
            exact: Mutex::default(),
            clocks: Arc::default(),
            own_sources: Mutex::default(),
            ticks: spawn_monitor,
            perf: Mutex::default(),
            perf_before: Mutex::default(),
            started: Instant::now(),
            follows: AtomicBool::new(false),
            ended: OnceLock::new(),
            started_ticks: time_stamp(),
            compile_costs: CompileCosts::default(),
            instructions: Default::default(),
            questions: AtomicU32::new(0),
            guarded_memories,
            adapters: RwLock::new(HashMap::new()),
            resolver,
            id: NEXT_ENGINE.fetch_add(1, Ordering::Relaxed),
            epoch: AtomicU64::new(0),
            stores: Mutex::new(Vec::new()),
            graves: Mutex::default(),
            modules: Mutex::new(HashMap::new()),
            departed: Mutex::default(),
            compiles: AtomicU64::new(0),
            compiling: AtomicU64::new(0),
            retirement: Retirement::default(),
            timeline,
        });
        if let Some(resolver) = &shared.resolver {
            shared.observe_nameless("backedge resolver", resolver.address(), &resolver.copy(0..RESOLVER_BYTES));
        }
        if !shared.config.observers.is_empty()
            && let Some((address, bytes)) = interp::shared_templates()
        {
            shared.observe_nameless("backedge calls of templates", address, &bytes);
        }
        if let Some((model, sampling)) = shared.config.delivery {
            shared.monitor.deliver_by(lwp_feedback::models::delivery(model, sampling));
        }
        let monitor_thread = if spawn_monitor { Some(shared.monitor.spawn()?) } else { None };
        // (which ends those there are, should there not be all)
        let mut handle = Handle { shared, compile_threads: Vec::new(), monitor_thread, process: std::process::id() };
        for number in 0..threads {
            let shared = handle.shared.clone();
            let builder = std::thread::Builder::new().name(format!("backedge-compile-{number}")).stack_size(8 << 20);
            handle.compile_threads.push(builder.spawn(move || {
                while let Some(job) = shared.queue.next() {
                    // A policy of the host's may panic; the next job is another's.
                    if catch_unwind(AssertUnwindSafe(|| job.run())).is_err() {
                        tracing::error!("a compile panicked; its function goes on as it is");
                    }
                    shared.queue.done();
                }
            })?);
        }
        Ok(Engine(Arc::new(handle)))
    }

    /// Its configuration.
    pub fn config(&self) -> &EngineConfig {
        &self.0.shared.config
    }

    /// Whether both are the same engine.
    pub fn same(&self, other: &Engine) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// For who may outlive it.
    pub fn weak(&self) -> WeakEngine {
        WeakEngine(Arc::downgrade(&self.0))
    }

    /// The compiler, if there is one.
    pub fn compiler(&self) -> Option<&Arc<dyn Compiler>> {
        self.0.shared.compiler.as_ref()
    }

    /// Validates a module and makes it ready to run.
    pub fn load(&self, bytes: &[u8]) -> Result<Arc<LoadedModule>, ModuleError> {
        self.load_owned(bytes.to_vec().into())
    }

    /// The same without a copy of the bytes.
    pub fn load_owned(&self, bytes: Bytes) -> Result<Arc<LoadedModule>, ModuleError> {
        let kept = |digest: &[u8; 32]| self.0.shared.compiler.as_ref().and_then(|compiler| compiler.kept_loops(digest));
        let module = Module::from_bytes(bytes, self.0.shared.config.features, &kept)?;
        if let Some(limit) = self.0.shared.config.max_function_body
            && let Some(own) = module.bodies.iter().position(|body| body.len() > limit)
        {
            let (function, body) = (module.imported_functions + own as u32, &module.bodies[own]);
            return Err(ModuleError::TooLarge { function, bytes: body.len(), limit, offset: body.start as u64 });
        }
        self.make_ready(module)
    }

    /// Makes a module ready to run.
    ///
    /// # Errors
    /// [`ModuleError::NoRoom`], and [`ModuleError::Unsupported`] where it uses what this engine goes without.
    pub fn adopt(&self, module: Module) -> Result<Arc<LoadedModule>, ModuleError> {
        module.check_features(self.0.shared.config.features)?;
        self.make_ready(module)
    }

    fn make_ready(&self, mut module: Module) -> Result<Arc<LoadedModule>, ModuleError> {
        self.0.shared.sweep();
        module.checks_accesses = !self.guards_memories();
        let module = Arc::new(module);
        let key = module.hash;
        self.with_code(module, key).map_err(|reason| ModuleError::NoRoom { reason })
    }

    /// The same module with code and profile of its own: [`FeedbackScope::Store`].
    pub(crate) fn with_own_code(&self, loaded: &LoadedModule) -> Result<Arc<LoadedModule>, String> {
        self.0.shared.sweep();
        let number = NEXT_KEY.fetch_add(1, Ordering::Relaxed);
        self.with_code(loaded.module.clone(), loaded.module.hash ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn with_code(&self, module: Arc<Module>, key: u64) -> Result<Arc<LoadedModule>, String> {
        let code = ModuleCode::new(self.0.shared.clone(), module.clone(), key)?;
        let mut modules = lock(&self.0.shared.modules);
        let same = modules.entry(key).or_default();
        same.retain(|code| code.strong_count() > 0);
        same.push(Arc::downgrade(&code));
        drop(modules);
        self.0.shared.monitor.expect_new();
        for profile in &self.0.shared.config.profiles {
            code.start_with(profile);
        }
        Ok(Arc::new(LoadedModule { module, code, engine: self.clone() }))
    }

    /// Whether its memories with 32-bit addresses have guards; see [`EngineConfig::guarded_memories`].
    pub fn guards_memories(&self) -> bool {
        self.0.shared.guarded_memories
    }

    /// Ticks so far.
    pub fn epoch(&self) -> u64 {
        self.0.shared.epoch.load(Ordering::SeqCst)
    }

    /// One more tick; guests whose deadline it passes stop at their next poll. Not async-signal-safe (it takes a lock).
    pub fn increment_epoch(&self) {
        let now = self.0.shared.epoch.fetch_add(1, Ordering::SeqCst) + 1;
        for store in lock(&self.0.shared.stores).iter() {
            // SAFETY: in the list, so alive (see `StorePointer`); only atomics of it are touched.
            unsafe {
                // What runs nothing looks at its deadline where it is entered.
                if (*store.0).runs() && now >= (*store.0).deadline.load(Ordering::SeqCst) {
                    (*store.0).ask_to_poll();
                }
            }
        }
    }

    pub(crate) fn register_store(&self, store: *mut StoreState) {
        lock(&self.0.shared.stores).push(StorePointer(store));
    }

    pub(crate) fn unregister_store(&self, store: *mut StoreState) {
        lock(&self.0.shared.stores).retain(|other| !std::ptr::eq(other.0, store));
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0.shared
    }

    /// What stays of the engine for a thread that must not keep it alive.
    pub(crate) fn downgrade(&self) -> Weak<Shared> {
        Arc::downgrade(&self.0.shared)
    }

    /// What happened when, where [`EngineConfig::timeline`] asked for it.
    pub fn timeline(&self) -> &Timeline {
        &self.0.shared.timeline
    }

    /// How full the rings are now.
    pub fn rings(&self) -> Vec<lwp_feedback::monitor::RingState> {
        self.0.shared.monitor.rings()
    }

    /// Compiles that wait or run.
    pub fn compiles_waiting(&self) -> usize {
        self.0.shared.queue.length()
    }

    /// Versions whose code was given back so far, and those that wait for it: they are replaced, but a frame may be in them.
    pub fn retired(&self) -> (u64, usize) {
        (self.0.shared.retirement.freed(), self.0.shared.retirement.waiting())
    }

    /// Runs `f` while no other thread looks at the engine's stores: around changes to what `increment_epoch` reads of them.
    pub(crate) fn with_stores_locked<R>(&self, f: impl FnOnce() -> R) -> R {
        let _stores = lock(&self.0.shared.stores);
        f()
    }

    /// First code of every host function: the resolver, which puts the adapter in its place.
    pub(crate) fn host_entry(&self) -> usize {
        self.0.shared.resolver()
    }

    /// Drains the rings once. For hosts that started the engine without the monitor's thread.
    pub fn poll_monitor(&self) {
        self.0.shared.monitor.poll_once();
    }

    /// Waits until every record written so far is drained and every compile asked for is done.
    pub fn settle(&self) {
        if self.0.is_forked() {
            return;
        }
        loop {
            while self.0.shared.monitor.poll_once().more {}
            if self.0.compile_threads.is_empty() {
                self.0.shared.queue.run_here();
            } else {
                self.0.shared.queue.wait_idle();
            }
            if self.0.shared.monitor.poll_once().records == 0 && self.0.shared.queue.is_idle() {
                return;
            }
        }
    }

    /// Saves every record drained from now on as a record file that begins with `note`; once in an engine's life. Call it before any guest runs,
    /// and [`Engine::finish_recording`] at the end.
    pub fn record_to(&self, out: Box<dyn std::io::Write + Send>, note: &str) -> std::io::Result<()> {
        let recorder = Recorder::new(out, note, self.0.shared.code_map.clone(), Box::new(NoListener))?;
        let set = self.0.shared.recording.set(Mutex::new(recorder));
        set.map_err(|_| std::io::Error::other("this engine records already"))
    }

    /// Drains what is left and ends the record file. The first error of any write comes back here; nothing to end is one too.
    pub fn finish_recording(&self) -> std::io::Result<()> {
        self.settle();
        let recorder = self.0.shared.recording.get().ok_or_else(|| std::io::Error::other("this engine does not record"))?;
        // Not under the lock: the monitor may be in the recorder.
        let handle = lock(recorder).handle();
        handle.finish().map(|_| ())
    }

    /// The model of [`EngineConfig::delivery`], where there is one, and what it did so far.
    pub fn delivery_counts(&self) -> Option<(&'static str, lwp_feedback::models::Counts)> {
        let (model, _) = self.0.shared.config.delivery?;
        Some((model.name(), self.0.shared.monitor.delivery_counts()?))
    }

    /// What changes the code: `lwp`, the interface whose model delivers its records, or `off`.
    pub fn feedback(&self) -> &'static str {
        let config = &self.0.shared.config;
        match (config.feedback, config.delivery) {
            (FeedbackPolicy::Off, _) => "off",
            (FeedbackPolicy::Lwp, None) => "lwp",
            (FeedbackPolicy::Lwp, Some((model, _))) => model.name(),
        }
    }

    /// Starts an event source of one's own: its records are drained with those of the code. It ends when the result is dropped.
    pub fn start_source(
        &self,
        source: &lwp_feedback::source::Source,
        argument: Option<String>,
    ) -> std::io::Result<lwp_feedback::source::RunningSource> {
        let shared = &self.0.shared;
        let attach = |ring: Arc<Ring>| {
            lock(&shared.own_sources).push((source.name, ring.clone()));
            _ = shared.monitor.add_ring(ring).expect("a fresh ring has no consumer");
        };
        lwp_feedback::source::RunningSource::start(source, argument, shared.code_map.clone(), attach)
    }

    /// What each event source of one's own recorded so far, and missed because its ring was full.
    pub fn source_counts(&self) -> Vec<SourceCounts> {
        let counts = |&(name, ref ring): &(&'static str, Arc<Ring>)| {
            let missed = ring.missed();
            SourceCounts { name, records: ring.produced().saturating_sub(missed), missed }
        };
        lock(&self.0.shared.own_sources).iter().map(counts).collect()
    }

    /// What the monitor did so far.
    pub fn monitor_stats(&self) -> MonitorStats {
        self.0.shared.monitor.stats()
    }

    /// What is known about a module now; [`Engine::settle`] first for a complete picture.
    pub fn report(&self, loaded: &LoadedModule) -> crate::report::Report {
        crate::report::Report::new(self, loaded)
    }

    /// Time since the engine began, to the end of the run where that was said.
    pub fn elapsed(&self) -> Duration {
        let shared = &self.0.shared;
        shared.ended.get().copied().unwrap_or_else(|| shared.started.elapsed())
    }

    /// What the engine was for is over: shares of the run are shares of the time up to now, whatever is waited for yet.
    pub fn end_run(&self) {
        let shared = &self.0.shared;
        let _ = shared.ended.set(shared.started.elapsed());
    }

    /// Length of a tick of the time stamp counter, measured since the engine began.
    pub fn ns_per_tick(&self) -> f64 {
        self.0.shared.ns_per_tick()
    }

    /// Records of the clocks (events 5 and 6), signals outside compiled code, and expirations without a signal of their own.
    pub fn clock_counts(&self) -> (u64, u64, u64) {
        let counts = &self.0.shared.clocks;
        (counts.recorded.load(Ordering::Relaxed), counts.outside.load(Ordering::Relaxed), counts.overruns.load(Ordering::Relaxed))
    }

    /// What the kernel's samples came to (source `perf`), and why there are none.
    pub fn perf_counts(&self) -> (PerfCounts, Option<String>) {
        let shared = &self.0.shared;
        let (mut counts, why) = lock(&shared.perf_before).clone();
        for events in lock(&shared.perf).iter().filter_map(Weak::upgrade) {
            counts.add(lock(&events).counts());
        }
        (counts, why)
    }

    /// With [`EngineConfig::exact`]: everything that was counted, of stores that are gone to their end.
    pub fn exact_profile(&self) -> ExactProfile {
        lock(&self.0.shared.exact).profile()
    }

    /// What bursts did and cost so far.
    pub fn burst_stats(&self) -> BurstStats {
        self.0.shared.budget.stats(self.elapsed())
    }

    /// Where event 2 may be recorded: operators that the interpreter ran (exact), and those of the blocks that compiled code entered (an estimate of what it
    /// executed). Of calls from the host that are over.
    pub fn instructions(&self) -> [u64; 2] {
        self.0.shared.instructions.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// The profile that records feed.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.0.shared.profile
    }

    pub(crate) fn adapter(&self, adapter: Adapter, signature: u32) -> Result<usize, String> {
        self.0.shared.adapter(adapter, signature)
    }
}

impl Shared {
    /// A call from the host is over, or the store goes: what it has counted since.
    pub(crate) fn take_instructions(&self, state: &mut StoreState) {
        let counted = [&mut state.context.instructions_interpreted, &mut state.context.instructions_compiled];
        for (total, count) in self.instructions.iter().zip(counted) {
            total.fetch_add(std::mem::take(count), Ordering::Relaxed);
        }
    }

    /// A number for a question to instrumented code, never 0.
    pub(crate) fn next_question(&self) -> u32 {
        (self.questions.fetch_add(1, Ordering::Relaxed) + 1).max(1)
    }

    /// See [`Engine::ns_per_tick`].
    pub(crate) fn ns_per_tick(&self) -> f64 {
        let ticks = time_stamp().wrapping_sub(self.started_ticks).max(1);
        self.started.elapsed().as_nanos() as f64 / ticks as f64
    }

    /// With [`EngineConfig::exact`]: counts what the buffer of a store holds that runs on this thread or not at all, and empties it.
    pub(crate) fn count_exactly(&self, state: &mut StoreState) {
        if self.config.exact {
            let written = std::mem::take(&mut state.context.burst_index) as usize;
            // SAFETY: the buffer has BURST_WORDS words, and the code that writes them does not run now.
            let words = unsafe { std::slice::from_raw_parts(state.context.burst_buffer, crate::layout::BURST_WORDS) };
            lock(&self.exact).count(&self.probes, words, written);
        }
    }

    /// Words after which a store's instrumented code asks, and whether it times loads, from the start: 0 and false unless everything is counted.
    pub(crate) fn burst_start(&self) -> (u32, u32) {
        match self.config.exact {
            true => (EXACT_WORDS, u32::from(self.config.events.contains(EventId::DCACHE))),
            false => (0, 0),
        }
    }

    /// The monitor's tick: time earns credit, and where there is some, loops are asked to come for bursts.
    pub(crate) fn bursts_due(&self, monitor_cpu_ns: u64) {
        if !self.budget.allows_any() || self.config.deterministic || !self.bursts() {
            // It costs what it costs.
            self.budget.monitor_took(monitor_cpu_ns);
            return;
        }
        let modules = self.live_modules();
        modules.iter().for_each(|code| code.end_look());
        // (of each, not until one is)
        let news = modules.iter().map(|code| code.look_what_is_new()).fold(News::default(), News::or);
        self.budget.earn(news, monitor_cpu_ns);
        // (code for bursts that are not to come any more would only be waited for)
        if self.budget.has_credit() && self.ended.get().is_none() {
            let runs = self.any_runs();
            modules.iter().for_each(|code| code.ask_for_bursts(runs));
        }
    }

    pub(crate) fn resolver(&self) -> usize {
        self.resolver.as_ref().map_or(0, CodeBlock::address)
    }

    /// The adapter of a signature, made at first use.
    pub(crate) fn adapter(&self, adapter: Adapter, signature: u32) -> Result<usize, String> {
        let key = (adapter, signature);
        if let Some(place) = self.adapters.read().unwrap_or_else(|e| e.into_inner()).get(&key) {
            return Ok(place.0.address());
        }
        let compiler = self.compiler.as_ref().ok_or("no compiler")?;
        // (the adapter may outlive all modules with the type)
        signature::pin(signature);
        let ty = signature::of(signature);
        let ty = AdapterSignature { params: ty.params().to_vec(), results: ty.results().to_vec() };
        let code = compiler.adapter(adapter, &ty).map_err(|error| error.to_string())?;
        let role = match adapter {
            Adapter::Enter => Role::Entrance,
            Adapter::TailForeign => Role::Restores,
            _ => Role::Plain,
        };
        let mut adapters = self.adapters.write().unwrap_or_else(|e| e.into_inner());
        if let Some(place) = adapters.get(&key) {
            return Ok(place.0.address()); // another thread was first
        }
        let placed = PlacedCode::new(&code, None, role)?;
        let address = placed.address();
        self.observe_nameless(&format!("backedge adapter {adapter:?} {signature}"), address, &placed.bytes(code.bytes.len()));
        adapters.insert(key, AdapterPlace(placed));
        Ok(address)
    }

    /// A module of this key is gone, all its code in its grave. Its profile departs, if it was the last of the key, once no record can come to it any more.
    pub(crate) fn forget_module(&self, key: u64, own: bool) {
        let mut modules = lock(&self.modules);
        if let Some(same) = modules.get_mut(&key) {
            same.retain(|code| code.strong_count() > 0);
            if !same.is_empty() {
                return;
            }
            modules.remove(&key);
        }
        drop(modules);
        // (each of several that go at the same time, for one may bury its code after another has come here)
        self.lay(self.code_map.retired_so_far(), Remains::Profile { key, own });
    }

    /// No record comes any more to the profile of a module that is gone. It stays for who loads it again, until many have gone since or what runs needs the room; that of a store's own
    /// code nobody can load again.
    fn depart(&self, key: u64, own: bool) {
        let mut gone = vec![key];
        if !own {
            let mut departed = lock(&self.departed);
            departed.retain(|&known| known != key);
            departed.push_back(key);
            if departed.len() < MOST_DEPARTED && !self.profile.is_half_full() {
                return;
            }
            let older = departed.len().div_ceil(2);
            gone = departed.drain(..older).collect();
        }
        let modules = lock(&self.modules);
        // (one that was loaded again departs again)
        gone.retain(|key| !modules.contains_key(key));
        drop(modules);
        gone.into_iter().for_each(|key| self.profile.forget(key));
    }

    /// The live modules of a key, see [`ModuleCode::key`].
    pub(crate) fn modules(&self, key: u64) -> Vec<Arc<ModuleCode>> {
        lock(&self.modules).get(&key).map_or(Vec::new(), |same| same.iter().filter_map(Weak::upgrade).collect())
    }

    /// The live modules. Whoever drops the last reference of one takes the lock again ([`Self::forget_module`]), so none is dropped under it.
    fn live_modules(&self) -> Vec<Arc<ModuleCode>> {
        lock(&self.modules).values().flatten().filter_map(Weak::upgrade).collect()
    }

    /// A compile begins, and ends when the result is dropped.
    pub(crate) fn compile_begins(&self) -> Compiling<'_> {
        self.compiling.fetch_add(1, Ordering::SeqCst);
        self.compiles.fetch_add(1, Ordering::SeqCst);
        Compiling(self)
    }

    /// A number that moves where a compile begins or ends, and whether one runs.
    pub(crate) fn compiles(&self) -> (u64, bool) {
        (self.compiles.load(Ordering::Relaxed), self.compiling.load(Ordering::Relaxed) != 0)
    }

    /// The stores there are, while none goes. Only atomics of them are touched.
    pub(crate) fn with_stores<R>(&self, f: impl FnOnce(&[&StoreState]) -> R) -> R {
        let stores = lock(&self.stores);
        // SAFETY: in the list, so alive (see `StorePointer`).
        let alive: Vec<&StoreState> = stores.iter().map(|store| unsafe { &*store.0 }).collect();
        f(&alive)
    }

    /// Whether wasm runs in some store.
    fn any_runs(&self) -> bool {
        self.with_stores(|stores| stores.iter().any(|store| store.runs()))
    }

    /// Looks after the trials and the retired code of all modules.
    pub(crate) fn tend(&self) {
        self.free_retired();
        for code in self.live_modules() {
            code.tend();
        }
    }

    /// Whether some module has something new or on trial, which the monitor's ticks move on.
    pub(crate) fn haste(&self) -> Haste {
        self.live_modules().iter().map(|code| code.haste()).max().unwrap_or(Haste::None)
    }

    /// Whether no wasm runs, no code waits to be compiled or freed, and nobody looks on.
    pub(crate) fn is_idle(&self) -> bool {
        // (a guest that runs without a record asks at each poll: what that finds comes first)
        let nothing_waits = || self.queue.is_idle() && lock(&self.graves).is_empty() && self.retirement.waiting() == 0;
        let idle = !self.timeline.is_kept() && !self.any_runs() && nothing_waits() && self.haste() == Haste::None;
        if idle {
            self.budget.sleeps();
        }
        idle
    }

    /// Whether branches and loads are seen by bursts.
    pub(crate) fn bursts(&self) -> bool {
        self.config.events.wants_bursts() && self.config.source != RecordSource::Perf
    }

    /// Whether records are written and drained at all.
    pub(crate) fn watched(&self) -> bool {
        self.compiler.is_some() && self.config.tier == TierPolicy::Auto
    }

    /// Keeps code until every ring has passed the last record that may name it.
    pub(crate) fn bury(&self, range: Range<u64>, remains: Remains) {
        if crate::arena::keeps_addresses()
            && let Remains::Code(placed) = remains
        {
            // Someone may ask what an address was: the tables stay with it.
            self.code_map.retire(range);
            std::mem::forget(placed);
            return;
        }
        if let Some(cookie) = self.code_map.retire(range) {
            self.lay(cookie, remains);
        }
    }

    /// Keeps what is left until its cookie is released.
    fn lay(&self, cookie: RetireCookie, remains: Remains) {
        lock(&self.graves).push_back((cookie, remains));
        self.monitor.rouse();
    }

    /// Tells the observers of a stub or an adapter.
    pub(crate) fn observe_nameless(&self, name: &str, address: usize, bytes: &[u8]) {
        self.config.observers.iter().for_each(|observer| observer.placed(&nameless(name, address, bytes)));
    }

    /// Tells the observers of a function's templates.
    pub(crate) fn observe_templates(&self, module: &Module, function: u32, templates: &Templates) {
        if !self.config.observers.is_empty() {
            let name = module.function_name(function).map_or_else(|| format!("function[{function}]"), str::to_string);
            self.observe_nameless(&format!("{name} [templates]"), templates.address(), &templates.bytes());
        }
    }

    /// Frees what no record can name any more. Called after the rings were drained.
    pub(crate) fn sweep(&self) {
        let mut free = Vec::new();
        {
            // Only what is free is looked at, and what comes next. (Of what was retired at the same time the later may be first, and then the earlier waits for it.)
            let mut graves = lock(&self.graves);
            while graves.front().is_some_and(|(cookie, _)| self.code_map.is_released(*cookie)) {
                free.extend(graves.pop_front().map(|(_, remains)| remains));
            }
        }
        for remains in free {
            if let Remains::Profile { key, own } = remains {
                self.depart(key, own);
            }
        }
    }

    /// Deterministic mode: drains the rings and compiles what they ask for, here and now.
    pub(crate) fn settle_here(&self) {
        self.monitor.poll_once();
        self.queue.run_here();
    }
}

/// A module with its code and profile, shared by all stores and threads.
pub struct LoadedModule {
    /// What was loaded.
    pub module: Arc<Module>,
    /// Its code.
    pub code: Arc<ModuleCode>,
    engine: Engine,
}

impl LoadedModule {
    /// The engine it was loaded by.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}
