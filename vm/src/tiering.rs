//! A module's code in all its versions, and how a function moves up: hot records → requests → compiles → publication.
//!
//! Code belongs to the module. Each instance's context has a `VmFunc` per function whose `entry` is the current code; publishing writes all of them,
//! under the lock that also guards the list of instances, so a new instance cannot miss one. Order of publication: bytes, trap table and
//! address map first (`PlacedCode::new`, `CodeMap::insert`), then the entry pointers (Release).
//!
//! Countdowns: one word per defined function, decremented at calls and back edges by the interpreter and by tier 1. Where it was 0, the
//! function is hot: an LWPINS record is written and the word reloaded. Nothing else tells the monitor what to compile.

use crate::arena::CodeBlock;
use crate::bytecode::{self, Bytecode};
use crate::code::{Adapter, Applied, CompileError, CompileRequest, CompiledCode, Entrance, Tier};
use crate::engine::{FeedbackPolicy, Shared, TierPolicy};
use crate::exits::{self, Exits};
use crate::layout::{FunctionPlace, KIND_HOST, VmContext, VmFunc};
use crate::module::Module;
use crate::queue::Job;
use crate::registry::PlacedCode;
use crate::runtime::{self, instance};
use crate::signature;
use crate::store::poll_word;
use crate::trap::{Outcome, Unwind};
use lwp_feedback::class::SiteClass;
use lwp_feedback::codemap::{CodeEntry, FunctionId, Resolved, Tier as CodeTier};
use lwp_feedback::layout::Record;
use lwp_feedback::monitor::{self, Hot, RingId};
use lwp_feedback::policy::{self, Plan, Refusal};
use lwp_feedback::profile::{FunctionFacts, NotInlinable, Snapshot};
use lwp_feedback::recordfile::Recorder;
use lwp_feedback::ring::store_programmed;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock, Weak};
use std::time::Duration;

/// Offset that stands for a function's entry where a loop's offset could stand.
pub const FUNCTION_ENTRY: u32 = u32::MAX;
/// Intervals measured in tier 1 before it gives way, where they are reported.
const MEASURED_BEFORE: usize = 5;
/// Intervals measured before a counted tier-2 version gives way to the uncounted one.
const MEASURED_INTERVALS: usize = 9;
/// A function of more bytes than this needs that many times the events to become hot: compile time grows with size (measured: 1.3 µs a byte in tier
/// 1, 6 µs in tier 2; CPython's main loop of 106,184 bytes takes 0.13 and 0.6 s), the gain of an event does not.
const INTERPRETER_STEP: usize = 128;
/// See `INTERPRETER_STEP`, for tier 2.
const BASELINE_STEP: usize = 1024;
/// See `INTERPRETER_STEP`, for a loop's own entry in tier 1: one more compile of the whole function for the benefit of one activation.
const LOOP_STEP: usize = 32;
/// The countdown's reload doubles with each record of a function, up to this many times: one that waits for its compile must not flood the ring.
const MOST_DOUBLINGS: u32 = 12;
/// Loops of one function that are counted.
const MOST_LOOPS: usize = 1024;
/// Bytes of a lazy stub.
const STUB_BYTES: usize = 16;

/// A published version of a function's code.
pub struct CodeVersion {
    /// Unique in the module, from 1.
    pub number: u32,
    /// The function.
    pub function: u32,
    /// Body or loop.
    pub entrance: Entrance,
    /// Pipeline.
    pub tier: Tier,
    /// Bytes of machine code.
    pub code_bytes: usize,
    /// Time the compile took.
    pub compile_time: Duration,
    /// When it was published, since the engine began.
    pub published: Duration,
    /// Whether it counts calls and back edges.
    pub counted: bool,
    /// What it was compiled to.
    pub plan: Option<Arc<Plan>>,
    /// What the compiler did and refused.
    pub applied: Vec<Applied>,
    placed: Box<PlacedCode>,
}

/// A refusal or failure that is not the policy's.
#[derive(Clone, Debug)]
pub struct CompileFailure {
    /// The function.
    pub function: u32,
    /// Which pipeline.
    pub tier: Tier,
    /// The compiler's words.
    pub reason: String,
}

#[derive(Default)]
struct FunctionCode {
    /// Compiled code to call, or null: interpret.
    compiled: AtomicPtr<u8>,
    /// What `VmFunc::entry` of a new instance gets.
    entry: AtomicPtr<u8>,
    bytecode: OnceLock<Box<Bytecode>>,
    /// 0 until known.
    enter_adapter: AtomicPtr<u8>,
    /// Hot records written since the code of the function last changed.
    hot_records: AtomicU32,
}

#[derive(Clone, Copy)]
struct LoopCode {
    address: usize,
    tier: Tier,
}

/// Everything that changes as code is published.
#[derive(Default)]
struct Published {
    instances: Vec<ContextPointer>,
    requested: HashSet<(u32, Entrance, Tier, bool)>,
    versions: Vec<Arc<CodeVersion>>,
    failures: Vec<CompileFailure>,
    refusals: HashMap<u32, Vec<Refusal>>,
    /// Stubs that lead straight to the slow-call adapter.
    stubs: Vec<CodeBlock>,
}

struct ContextPointer(*mut VmContext);
// SAFETY: dereferenced only under the lock of `Published`, from which an instance removes itself before its context is freed, and only to
// write atomics.
unsafe impl Send for ContextPointer {}

/// What records said about one function, for the report.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Calls and back edges counted, by tier: interpreter, baseline, optimizing.
    pub events: [u64; 3],
    /// The events of hot-loop records, by loop.
    pub loops: HashMap<u32, u64>,
    /// Ticks of the time stamp counter per event, measured between successive records of one version on one thread.
    pub intervals: HashMap<u32, Vec<f64>>,
}

/// A module's code.
pub struct ModuleCode {
    module: Arc<Module>,
    shared: Arc<Shared>,
    functions: Box<[FunctionCode]>,
    signatures: Box<[u32]>,
    counters: Box<[AtomicU32]>,
    /// What each word was loaded with last: the events that its next record stands for.
    reloads: Box<[AtomicU32]>,
    loops: RwLock<HashMap<(u32, u32), LoopCode>>,
    switches: AtomicU64,
    /// All functions' lazy stubs, in order; `None` without a compiler.
    _stubs: Option<CodeBlock>,
    next_version: AtomicU32,
    published: Mutex<Published>,
    /// Serializes compiles on running threads.
    compiling: Mutex<()>,
    counted: Mutex<HashMap<u32, Counted>>,
    pub(crate) exits: Exits,
}

impl ModuleCode {
    pub(crate) fn new(shared: Arc<Shared>, module: Arc<Module>) -> Arc<ModuleCode> {
        let imported = module.imported_functions;
        let count = module.functions.len() - imported as usize;
        let stubs = shared.compiler.is_some().then(|| lazy_stubs(imported, count, shared.resolver())).flatten();
        let signatures = module.functions.iter().map(|&ty| signature::id(&module.types[ty as usize])).collect();
        let functions: Box<[FunctionCode]> = (0..count)
            .map(|own| {
                let entry = stubs.as_ref().map_or(0, |block| block.address() + own * STUB_BYTES);
                FunctionCode { entry: AtomicPtr::new(entry as *mut u8), ..FunctionCode::default() }
            })
            .collect();
        let counters = module
            .bodies
            .iter()
            .map(|body| AtomicU32::new(weighted(shared.config.hot_interpreter, body.len(), INTERPRETER_STEP) - 1))
            .collect::<Box<[AtomicU32]>>();
        let reloads = counters.iter().map(|word| AtomicU32::new(word.load(Ordering::Relaxed) + 1)).collect();
        Arc::new(ModuleCode {
            reloads,
            functions,
            signatures,
            counters,
            loops: RwLock::default(),
            switches: AtomicU64::new(0),
            _stubs: stubs,
            next_version: AtomicU32::new(1),
            published: Mutex::default(),
            compiling: Mutex::default(),
            counted: Mutex::default(),
            exits: Exits::default(),
            module,
            shared,
        })
    }

    fn published(&self) -> MutexGuard<'_, Published> {
        self.published.lock().unwrap_or_else(|error| error.into_inner())
    }

    fn own(&self, function: u32) -> &FunctionCode {
        &self.functions[self.module.defined(function).expect("only defined functions have code here")]
    }

    pub(crate) fn body_bytes(&self, function: u32) -> usize {
        self.module.defined(function).map_or(0, |own| self.module.bodies[own].len())
    }

    /// First countdown word.
    pub(crate) fn counters(&self) -> *mut AtomicU32 {
        self.counters.as_ptr().cast_mut()
    }

    /// Engine-wide signature id of a function.
    pub(crate) fn signature(&self, function: u32) -> u32 {
        self.signatures[function as usize]
    }

    /// The interpreter's code of a function, translated at first use.
    pub fn bytecode(&self, function: u32) -> &Bytecode {
        self.own(function).bytecode.get_or_init(|| {
            let bytecode = Box::new(bytecode::translate(&self.module, function));
            let range = bytecode.address_range();
            let id = FunctionId { module: self.module.hash, func: function };
            let entry = CodeEntry::new(id, 0, CodeTier::Interpreter, Arc::from([]));
            if self.shared.watched()
                && let Err(error) = self.shared.code_map.insert(range, entry)
            {
                tracing::error!(function, %error, "bytecode not in the code map: it will never be found hot");
            }
            bytecode
        })
    }

    /// Compiled code of a function, or null.
    pub fn compiled(&self, function: u32) -> *const u8 {
        self.own(function).compiled.load(Ordering::Acquire)
    }

    /// The interpreter's code of a function that has it and is not compiled.
    ///
    /// # Safety
    /// `own` is below the number of defined functions.
    #[inline(always)]
    pub(crate) unsafe fn interpretable(&self, own: usize) -> Option<&Bytecode> {
        // SAFETY: the caller's promise.
        let function = unsafe { self.functions.get_unchecked(own) };
        if !function.compiled.load(Ordering::Acquire).is_null() {
            return None;
        }
        Some(function.bytecode.get()?)
    }

    /// Code to run a function with: compiled now if the engine's policy says so. `None`: interpret.
    pub(crate) fn code_to_run(&self, function: u32) -> Option<usize> {
        let compiled = self.compiled(function) as usize;
        if compiled != 0 {
            return Some(compiled);
        }
        self.compile_if_pinned(function, Entrance::Body);
        let compiled = self.compiled(function) as usize;
        (compiled != 0).then_some(compiled)
    }

    /// Where the engine's policy pins a tier: compiles an entrance by it, here and now, unless that was tried before.
    fn compile_if_pinned(&self, function: u32, entrance: Entrance) {
        let tier = match self.shared.config.tier {
            TierPolicy::Baseline => Tier::Baseline,
            TierPolicy::Optimizing => Tier::Optimizing,
            TierPolicy::Interpreter | TierPolicy::Auto => return,
        };
        if self.shared.compiler.is_none() {
            return;
        }
        // Whoever waits here finds the code published.
        let _one = self.compiling.lock().unwrap_or_else(|error| error.into_inner());
        if self.published().requested.insert((function, entrance, tier, false)) {
            self.compile(function, entrance, tier, false);
        }
    }

    /// The enter adapter of a function's signature.
    pub(crate) fn enter_adapter(&self, function: u32) -> Result<usize, String> {
        let known = &self.own(function).enter_adapter;
        let address = known.load(Ordering::Acquire) as usize;
        if address != 0 {
            return Ok(address);
        }
        let address = self.shared.adapter(Adapter::Enter, self.signature(function))?;
        known.store(address as *mut u8, Ordering::Release);
        Ok(address)
    }

    /// The enter adapter of OSR entries of a function: one address in, the function's results out.
    pub(crate) fn loop_adapter(&self, function: u32) -> Result<usize, String> {
        let results = self.module.function_type(function).results().to_vec();
        let ty = wasmparser::FuncType::new([wasmparser::ValType::I64], results);
        self.shared.adapter(Adapter::Enter, signature::id(&ty))
    }

    /// Takes an instance into the list and fills in its functions' entries.
    ///
    /// # Safety
    /// `context` is a context of this module whose own `VmFunc`s are initialized; it is unregistered before it is freed.
    pub(crate) unsafe fn register_instance(&self, context: *mut VmContext) {
        let mut published = self.published();
        for own in 0..self.functions.len() {
            let entry = self.functions[own].entry.load(Ordering::Acquire);
            // SAFETY: the caller's promise.
            unsafe { self.func(context, own) }.entry.store(entry, Ordering::Release);
        }
        published.instances.push(ContextPointer(context));
    }

    pub(crate) fn unregister_instance(&self, context: *mut VmContext) {
        self.published().instances.retain(|other| !std::ptr::eq(other.0, context));
    }

    /// # Safety
    /// `context` is a live context of this module.
    unsafe fn func<'a>(&self, context: *mut VmContext, own: usize) -> &'a VmFunc {
        let FunctionPlace::Inline(offset) = self.module.offsets().function(self.module.imported_functions + own as u32) else {
            unreachable!("own functions lie in the context")
        };
        // SAFETY: the offset is inside the context, which the caller promises is live.
        unsafe { &*context.byte_add(offset as usize).cast::<VmFunc>() }
    }

    /// Makes `entry` what calls of a function reach, in all instances.
    fn set_entry(&self, published: &Published, function: u32, entry: usize) {
        let own = self.module.defined(function).expect("only defined functions have code here");
        self.functions[own].entry.store(entry as *mut u8, Ordering::Release);
        for context in &published.instances {
            // SAFETY: in the list, so live (see `ContextPointer`).
            unsafe { self.func(context.0, own) }.entry.store(entry as *mut u8, Ordering::Release);
        }
    }

    /// Asks all running code of a function to leave at its next loop header.
    fn ask_to_leave(&self, published: &Published, function: u32) {
        let own = self.module.defined(function).expect("only defined functions have code here");
        let offset = self.module.offsets().poll(own as u32);
        for context in &published.instances {
            // SAFETY: in the list, so live (see `ContextPointer`).
            unsafe { poll_word(context.0, offset) }.store(1, Ordering::Release);
        }
    }

    /// Asks all running code of the module to leave at its next loop header: for tests of switching.
    pub fn ask_all_to_leave(&self) {
        let published = self.published();
        for function in self.module.imported_functions..self.module.functions.len() as u32 {
            self.ask_to_leave(&published, function);
        }
    }

    /// Queues a compile unless it was asked for before.
    fn request(self: &Arc<Self>, function: u32, entrance: Entrance, tier: Tier, counted: bool) {
        if self.published().requested.insert((function, entrance, tier, counted)) {
            self.shared.queue.push(Job { code: self.clone(), function, entrance, tier });
        }
    }

    /// A queued compile.
    pub(crate) fn compile_requested(&self, function: u32, entrance: Entrance, tier: Tier) {
        let counted = tier == Tier::Optimizing
            && self.shared.config.measure
            && !self.published().requested.contains(&(function, entrance, tier, false));
        self.compile(function, entrance, tier, counted);
    }

    /// Compiles and publishes; failures are kept for the report.
    fn compile(&self, function: u32, entrance: Entrance, tier: Tier, counted: bool) {
        let Some(compiler) = &self.shared.compiler else {
            return;
        };
        let automatic = self.shared.config.tier == TierPolicy::Auto;
        let plan = match (&self.shared.config.plans, tier) {
            (_, Tier::Baseline) => None,
            (Some(given), Tier::Optimizing) => given.plan(self.module.hash, function).map(Arc::new),
            (None, Tier::Optimizing) => automatic.then(|| self.plan(function)).flatten(),
        };
        let plan = plan.and_then(|plan| self.exits.amend(plan));
        let request = CompileRequest {
            module: self.module.clone(),
            function,
            entrance,
            tier,
            fail_guards: self.shared.config.stress.fail_guards,
            version: self.next_version.fetch_add(1, Ordering::Relaxed),
            plan,
            sites: tier == Tier::Baseline && automatic,
            countdowns: tier == Tier::Baseline && automatic || counted,
            listing: false,
        };
        let began = std::time::Instant::now();
        let result = compiler.compile(&request).and_then(|code| self.publish(&request, &code, began.elapsed(), counted));
        if let Err(error) = result {
            if matches!(error, CompileError::Internal { .. }) {
                tracing::error!(function, ?tier, %error, "compile failed");
            } else {
                tracing::debug!(function, ?tier, %error, "not compiled");
            }
            self.published().failures.push(CompileFailure { function, tier, reason: error.to_string() });
        }
    }

    fn publish(&self, request: &CompileRequest, code: &CompiledCode, compile_time: Duration, counted: bool) -> Result<(), CompileError> {
        let function = request.function;
        let placed = PlacedCode::new(code, Some(self.module.clone()), false).map_err(|reason| CompileError::Limit { function, reason })?;
        let address = placed.address();
        let offsets = code.locations.iter().filter_map(|&(at, position)| Some((at, outermost(code, position)?))).collect::<Vec<_>>();
        let id = FunctionId { module: self.module.hash, func: function };
        let tier = if request.tier == Tier::Baseline { CodeTier::Baseline } else { CodeTier::Optimizing };
        let entry = CodeEntry::new(id, request.version, tier, offsets.into()).with_return_addresses();
        if self.shared.watched() {
            self.shared
                .code_map
                .insert(placed.range(), entry)
                .map_err(|error| CompileError::Internal { function, reason: error.to_string() })?;
        }
        let version = Arc::new(CodeVersion {
            number: request.version,
            function,
            entrance: request.entrance,
            tier: request.tier,
            code_bytes: code.bytes.len(),
            compile_time,
            published: self.shared.started.elapsed(),
            counted,
            plan: request.plan.clone(),
            applied: code.applied.clone(),
            placed,
        });
        self.exits.add(request.version, function, &code.guards);
        let own = self.module.defined(function).expect("only defined functions are compiled");
        if request.countdowns {
            let after = self.hot_after(own, request.tier);
            self.functions[own].hot_records.store(0, Ordering::Relaxed);
            self.reloads[own].store(after, Ordering::Relaxed);
            self.counters[own].store(after - 1, Ordering::Relaxed);
        }
        let mut published = self.published();
        published.versions.push(version);
        match request.entrance {
            Entrance::Body => {
                self.functions[own].compiled.store(address as *mut u8, Ordering::Release);
                self.set_entry(&published, function, address);
            }
            Entrance::Loop(offset) => {
                let code = LoopCode { address, tier: request.tier };
                self.loops.write().unwrap_or_else(|error| error.into_inner()).insert((function, offset), code);
                if request.tier == Tier::Optimizing {
                    self.ask_to_leave(&published, function);
                }
            }
        }
        Ok(())
    }

    /// Takes a function's tier 2 code out of use and asks for other in its place; running code leaves at its next poll.
    pub(crate) fn replace_optimized(self: &Arc<Self>, function: u32) {
        let own = self.module.defined(function).expect("only defined functions are compiled");
        let mut published = self.published();
        let newest = |entrance, tier| published.versions.iter().rfind(|version| (version.function, version.entrance, version.tier) == (function, entrance, tier));
        let mut entrances: Vec<Entrance> = (published.versions.iter())
            .filter(|version| version.function == function && version.tier == Tier::Optimizing)
            .map(|version| version.entrance)
            .collect();
        entrances.sort_unstable();
        entrances.dedup();
        for &entrance in &entrances {
            let before = newest(entrance, Tier::Baseline).map(|version| version.placed.address());
            match (entrance, before) {
                (Entrance::Body, Some(address)) => {
                    self.functions[own].compiled.store(address as *mut u8, Ordering::Release);
                    self.set_entry(&published, function, address);
                }
                // It goes on being called until the other is there.
                (Entrance::Body, None) => {}
                (Entrance::Loop(offset), before) => {
                    let mut loops = self.loops.write().unwrap_or_else(|error| error.into_inner());
                    match before {
                        Some(address) => loops.insert((function, offset), LoopCode { address, tier: Tier::Baseline }),
                        None => loops.remove(&(function, offset)),
                    };
                }
            }
        }
        self.ask_to_leave(&published, function);
        for &entrance in &entrances {
            published.requested.insert((function, entrance, Tier::Optimizing, false));
        }
        drop(published);
        for entrance in entrances {
            self.shared.queue.push(Job { code: self.clone(), function, entrance, tier: Tier::Optimizing });
        }
    }

    /// Makes the interpreter look for compiled code at the function's next loop header, if any of these loops has some.
    pub(crate) fn enter_loops_soon(&self, function: u32, loops: impl Iterator<Item = u32>) {
        let known = self.loops.read().unwrap_or_else(|error| error.into_inner());
        if let Some(own) = self.module.defined(function)
            && loops.into_iter().any(|offset| known.contains_key(&(function, offset)))
        {
            self.reloads[own].store(1, Ordering::Relaxed);
            self.counters[own].store(0, Ordering::Relaxed);
        }
    }

    /// The engine's insides.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Events after which code of a tier that counts is hot; the interpreter's are set at the start.
    fn hot_after(&self, own: usize, tier: Tier) -> u32 {
        let bytes = self.module.bodies[own].len();
        match tier {
            Tier::Baseline => weighted(self.shared.config.hot_baseline, bytes, BASELINE_STEP),
            // Counted only to be measured: soon enough, whatever the size.
            Tier::Optimizing => self.shared.config.hot_baseline.max(1),
        }
    }

    fn hot_interpreter(&self, function: u32) -> u32 {
        let own = self.module.defined(function).expect("only defined functions count");
        weighted(self.shared.config.hot_interpreter, self.module.bodies[own].len(), INTERPRETER_STEP)
    }

    fn hot_compiled(&self, function: u32) -> u32 {
        let own = self.module.defined(function).expect("only defined functions count");
        self.hot_after(own, Tier::Baseline)
    }

    fn loop_code(&self, function: u32, offset: u32) -> Option<LoopCode> {
        self.loops.read().unwrap_or_else(|error| error.into_inner()).get(&(function, offset)).copied()
    }

    /// What the records say to do with a function. The snapshot holds the function and the facts of every callee seen.
    fn plan(&self, function: u32) -> Option<Arc<Plan>> {
        if self.shared.config.feedback == FeedbackPolicy::Off {
            return None;
        }
        let id = FunctionId { module: self.module.hash, func: function };
        let profile = self.shared.profile.function(id)?;
        let mut callees: Vec<u32> = profile
            .sites
            .iter()
            .filter(|site| site.key.class == SiteClass::CallTarget)
            .flat_map(|site| site.values.iter().filter_map(|value| u32::try_from(value.value).ok()))
            .filter(|&callee| (callee as usize) < self.module.functions.len())
            .collect();
        callees.sort_unstable();
        callees.dedup();
        let facts = callees.into_iter().map(|callee| self.facts(callee)).collect();
        let snapshot = Snapshot { module: self.module.hash, functions: vec![profile], facts };
        let (plans, refusals) = policy::plan(&snapshot, &self.shared.config.budgets);
        self.published().refusals.insert(function, refusals);
        plans.into_iter().find(|plan| plan.function == id).map(Arc::new)
    }

    /// What the policy is told about a function, by an engine with a compiler.
    pub fn facts(&self, function: u32) -> FunctionFacts {
        let (body_bytes, inlinable) = match self.module.defined(function) {
            None => (0, Err(NotInlinable::Imported)),
            Some(own) => {
                let compiler = self.shared.compiler.as_ref().expect("plans are made for a compiler");
                (self.module.bodies[own].len() as u32, compiler.inlinable(&self.module, function))
            }
        };
        FunctionFacts { func: function, body_bytes, inlinable: inlinable.is_ok(), reason: inlinable.err() }
    }

    /// A hot record arrived: what to compile next.
    fn on_hot(self: &Arc<Self>, event: &Hot, interval: Option<f64>) {
        let function = event.function.func;
        if self.module.defined(function).is_none() || function as usize >= self.module.functions.len() {
            return; // a damaged record
        }
        let tier_index = match event.tier {
            CodeTier::Interpreter => 0,
            CodeTier::Baseline | CodeTier::Instrumented => 1,
            CodeTier::Optimizing => 2,
        };
        let mut rounds_of_loop = 0;
        let measured = {
            let mut counted = self.counted.lock().unwrap_or_else(|error| error.into_inner());
            let counted = counted.entry(function).or_default();
            counted.events[tier_index] = counted.events[tier_index].saturating_add(event.value);
            if event.kind == SiteClass::HotLoop && (counted.loops.len() < MOST_LOOPS || counted.loops.contains_key(&event.data1)) {
                let rounds = counted.loops.entry(event.data1).or_default();
                *rounds = rounds.saturating_add(event.value);
                rounds_of_loop = *rounds;
            }
            let intervals = counted.intervals.entry(event.version).or_default();
            if let Some(interval) = interval
                && intervals.len() < 1000
            {
                intervals.push(interval);
            }
            intervals.len()
        };
        // A record may be damaged: a loop is compiled only where there is one.
        let at_loop = event.kind == SiteClass::HotLoop && self.own(function).bytecode.get().is_none_or(|code| code.has_loop(event.data1));
        let measure = self.shared.config.measure;
        match event.tier {
            CodeTier::Interpreter => {
                self.request(function, Entrance::Body, Tier::Baseline, false);
                let bytes = self.body_bytes(function);
                if at_loop && rounds_of_loop >= u64::from(weighted(self.shared.config.hot_interpreter, bytes, LOOP_STEP)) {
                    self.request(function, Entrance::Loop(event.data1), Tier::Baseline, false);
                }
            }
            // Without an interval of its own there would be nothing to compare tier 2 with.
            CodeTier::Baseline if measure && measured < MEASURED_BEFORE => {}
            CodeTier::Baseline | CodeTier::Instrumented => {
                if at_loop {
                    match self.loop_code(function, event.data1) {
                        // The version is there, but this activation has not moved to it.
                        Some(LoopCode { tier: Tier::Optimizing, .. }) => self.ask_to_leave(&self.published(), function),
                        _ => self.request(function, Entrance::Loop(event.data1), Tier::Optimizing, measure),
                    }
                }
                self.request(function, Entrance::Body, Tier::Optimizing, measure);
            }
            CodeTier::Optimizing => {
                if measured >= MEASURED_INTERVALS {
                    self.request(function, Entrance::Body, Tier::Optimizing, false);
                    if at_loop {
                        self.request(function, Entrance::Loop(event.data1), Tier::Optimizing, false);
                    }
                }
            }
        }
    }

    /// How often compiled code left at a poll, for another version or for the interpreter.
    pub fn switches(&self) -> u64 {
        self.switches.load(Ordering::Relaxed)
    }

    /// Where the versions' code stands.
    pub fn code_addresses(&self) -> Vec<std::ops::Range<u64>> {
        self.published().versions.iter().map(|version| version.placed.range()).collect()
    }

    /// Versions published so far, oldest first.
    pub fn versions(&self) -> Vec<Arc<CodeVersion>> {
        self.published().versions.clone()
    }

    /// Compiles that failed.
    pub fn failures(&self) -> Vec<CompileFailure> {
        self.published().failures.clone()
    }

    /// What the policy refused, by function, at its latest look.
    pub fn refusals(&self) -> Vec<Refusal> {
        let mut all: Vec<Refusal> = self.published().refusals.values().flatten().cloned().collect();
        all.sort_by_key(|refusal| (refusal.function, refusal.offset));
        all
    }

    /// What records counted, by function.
    pub fn counted(&self) -> Vec<(u32, Counted)> {
        let mut all: Vec<_> = self
            .counted
            .lock()
            .unwrap_or_else(|error| error.into_inner())
            .iter()
            .map(|(&function, counted)| (function, counted.clone()))
            .collect();
        all.sort_by_key(|&(function, _)| function);
        all
    }

    /// The module.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// Writes the LWPINS record of a hot function or loop and reloads its word: with `reload`, doubled for each record since its code changed.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    unsafe fn hot(&self, context: *mut VmContext, function: u32, offset: u32, ip: u64, reload: u32) {
        let own = self.module.defined(function).expect("only defined functions count");
        let before = self.functions[own].hot_records.fetch_add(1, Ordering::Relaxed);
        // Of a threshold of 1, for tests, every event is wanted; and where intervals are measured they must be even.
        let doublings = if reload <= 1 || self.shared.config.measure { 0 } else { before.min(MOST_DOUBLINGS) };
        // Compiled code takes the borrow from the word's sign.
        let reload = reload.max(1).saturating_mul(1 << doublings).min(i32::MAX as u32);
        let counted = u64::from(self.reloads[own].swap(reload, Ordering::Relaxed));
        self.counters[own].store(reload - 1, Ordering::Relaxed);
        if !self.shared.watched() {
            return; // nobody drains, and nothing moves up
        }
        let class = if offset == FUNCTION_ENTRY { SiteClass::HotFunction } else { SiteClass::HotLoop };
        // SAFETY: the running store's LWPCB is this thread's ring, which lives as long as the thread.
        unsafe { store_programmed((*(*context).store).lwpcb.cast(), ip, u32::from(class.imm16(0)), offset, counted) };
        if self.shared.config.deterministic {
            self.shared.settle_here();
        }
    }
}

/// Events that make a function of `bytes` hot, at least 1. A threshold of 1 is for tests and holds for every size.
fn weighted(threshold: u32, bytes: usize, step: usize) -> u32 {
    if threshold <= 1 {
        return 1;
    }
    u32::try_from(u64::from(threshold) * (bytes / step).max(1) as u64).unwrap_or(u32::MAX)
}

/// Offset in the outermost function of a position.
fn outermost(code: &CompiledCode, position: u32) -> Option<u32> {
    let mut position = code.positions.get(position as usize)?;
    while let Some(at) = position.inlined_at {
        position = code.positions.get(at as usize)?;
    }
    Some(position.offset)
}

impl Drop for ModuleCode {
    fn drop(&mut self) {
        // Records still in rings may name this code: it keeps its addresses until every ring has passed them.
        let published = self.published.get_mut().unwrap_or_else(|error| error.into_inner());
        for version in published.versions.drain(..) {
            let range = version.placed.range();
            self.shared.bury(range, Remains::Version(version));
        }
        for function in &mut self.functions {
            if let Some(bytecode) = function.bytecode.take() {
                let range = bytecode.address_range();
                self.shared.bury(range, Remains::Bytecode(bytecode));
            }
        }
    }
}

/// Code whose module is gone, but whose addresses records may still name. Only kept, until it may be freed.
#[expect(dead_code, reason = "held for its memory")]
pub(crate) enum Remains {
    Version(Arc<CodeVersion>),
    Bytecode(Box<Bytecode>),
}

/// One stub per function: `mov dword ptr [r15 + callee], index; jmp target`.
fn lazy_stubs(imported: u32, count: usize, target: usize) -> Option<CodeBlock> {
    let mut block = match CodeBlock::new(count * STUB_BYTES, STUB_BYTES) {
        Ok(block) => block,
        Err(error) => {
            tracing::error!(%error, "no room for lazy stubs");
            return None;
        }
    };
    let mut bytes = Vec::with_capacity(count * STUB_BYTES);
    for own in 0..count {
        bytes.extend_from_slice(&stub(imported + own as u32, block.address() + own * STUB_BYTES, target));
    }
    block.fill(&bytes);
    Some(block)
}

fn stub(function: u32, at: usize, target: usize) -> [u8; STUB_BYTES] {
    let mut bytes = [0xcc; STUB_BYTES];
    bytes[..4].copy_from_slice(&[0x41, 0xc7, 0x47, crate::layout::context::callee as u8]);
    bytes[4..8].copy_from_slice(&function.to_le_bytes());
    bytes[8] = 0xe9;
    let displacement = (target as i64 - (at + 13) as i64) as i32;
    bytes[9..13].copy_from_slice(&displacement.to_le_bytes());
    bytes
}

/// What a lazy stub reaches: the code to jump to for the function `context` was entered for.
///
/// # Safety
/// `context` is the running context.
pub(crate) unsafe fn resolve(context: *mut VmContext) -> Outcome<usize> {
    let failed = |error: String| Box::new(Unwind::Host { error: format!("internal compiler error: {error}").into(), frames: Vec::new() });
    // SAFETY: the caller's promise.
    unsafe {
        if (*context).kind == KIND_HOST {
            let host = crate::store::host_func(context);
            let engine = (*runtime::store_state(context)).engine();
            let adapter = engine.adapter(Adapter::CallSlow, host.signature).map_err(failed)?;
            host.entry.store(adapter as *mut u8, Ordering::Release);
            return Ok(adapter);
        }
        let function = (*context).callee;
        let code = &instance(context).code;
        if let Some(compiled) = code.code_to_run(function) {
            return Ok(compiled);
        }
        let adapter = code.shared.adapter(Adapter::CallSlow, code.signature(function)).map_err(failed)?;
        let mut block = CodeBlock::new(STUB_BYTES, STUB_BYTES).map_err(failed)?;
        let address = block.address();
        block.fill(&stub(function, address, adapter));
        let mut published = code.published();
        published.stubs.push(block);
        if code.compiled(function).is_null() {
            code.set_entry(&published, function, address);
        }
        Ok(address)
    }
}

/// A poll found its flag set: the code to continue at with the switch buffer, or 0 at a function's entry, which goes on. Where there is no code
/// to continue at and the function is the one its activation entered, the builtin lands there instead of returning.
///
/// # Safety
/// `context` is the running context of kind wasm; called from the poll's builtin.
pub(crate) unsafe fn poll(context: *mut VmContext, function: u32, offset: u32, _version: u32) -> Outcome<usize> {
    // SAFETY: the caller's promise.
    unsafe {
        let code = &instance(context).code;
        let stress = code.shared.config.stress;
        if let Some(own) = code.module.defined(function) {
            poll_word(context, code.module.offsets().poll(own as u32)).store(0, Ordering::Release);
        }
        runtime::interrupted(context)?;
        if offset == FUNCTION_ENTRY {
            return Ok(0);
        }
        code.switches.fetch_add(1, Ordering::Relaxed);
        if exits::holds_callees(context) {
            // An entrance at the callee's loop would return the callee's results.
            return exits::go_on(context);
        }
        if !stress.leave_to_interpreter {
            // A pinned tier has code for loops only where something made it leave one.
            code.compile_if_pinned(function, Entrance::Loop(offset));
        }
        if !stress.leave_to_interpreter
            && let Some(version) = code.loop_code(function, offset)
        {
            return Ok(version.address);
        }
        exits::go_on(context)
    }
}

/// The interpreter called a function whose countdown was 0.
///
/// # Safety
/// `context` is the running context of kind wasm.
pub unsafe fn hot_call(context: *mut VmContext, function: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let code = &instance(context).code;
        let ip = code.bytecode(function).address_range().start;
        code.hot(context, function, FUNCTION_ENTRY, ip, code.hot_interpreter(function));
    }
}

/// The interpreter took a back edge of a function whose countdown was 0: code to continue the loop in, or null.
///
/// # Safety
/// As [`hot_call`].
pub unsafe fn hot_loop(context: *mut VmContext, function: u32, offset: u32) -> *const u8 {
    // SAFETY: the caller's promise.
    unsafe {
        let code = &instance(context).code;
        if code.loop_code(function, offset).is_none() {
            let ip = code.bytecode(function).address_range().start;
            code.hot(context, function, offset, ip, code.hot_interpreter(function));
        } else {
            let own = code.module.defined(function).expect("only defined functions count");
            let after = code.hot_after(own, Tier::Baseline);
            code.reloads[own].store(after, Ordering::Relaxed);
            code.counters[own].store(after - 1, Ordering::Relaxed);
        }
        code.loop_code(function, offset).map_or(std::ptr::null(), |code| code.address as *const u8)
    }
}

/// Compiled code found a countdown at 0. The record's address is the return address of the builtin's call.
///
/// # Safety
/// As [`hot_call`]; called from the builtin's thunk.
pub(crate) unsafe fn hot_compiled(context: *mut VmContext, function: u32, offset: u32, _version: u32) {
    // SAFETY: the caller's promise; invariant 4 of `crate::entry` gives the return address.
    unsafe {
        let code = &instance(context).code;
        let ip = (((*(*context).store).exit_fp + 8) as *const u64).read();
        code.hot(context, function, offset, ip, code.hot_compiled(function));
    }
}

/// Where drained records are saved, once something is set. Shared by the engine and its listener.
pub(crate) type Recording = Arc<OnceLock<Mutex<Recorder<Box<dyn std::io::Write + Send>>>>>;

/// The monitor's way back into the engine.
pub(crate) struct Listener {
    shared: Weak<Shared>,
    recording: Recording,
    /// Time stamp of the last hot record of a version on a ring.
    last: HashMap<(RingId, u64, u32, u32), u64>,
}

/// Most entries of `Listener::last`; beyond it is forgotten, which costs one interval each.
const MOST_LAST: usize = 1 << 16;

impl Listener {
    pub(crate) fn new(shared: Weak<Shared>, recording: Recording) -> Listener {
        Listener { shared, recording, last: HashMap::new() }
    }
}

impl monitor::Listener for Listener {
    fn hot(&mut self, event: &Hot) {
        if !matches!(event.kind, SiteClass::HotFunction | SiteClass::HotLoop) {
            return;
        }
        let Some(shared) = self.shared.upgrade() else {
            return;
        };
        if self.last.len() >= MOST_LAST {
            self.last.clear();
        }
        let key = (event.ring, event.function.module, event.function.func, event.version);
        let interval = match self.last.insert(key, event.tsc) {
            Some(before) if event.tsc > before && event.value > 0 => Some((event.tsc - before) as f64 / event.value as f64),
            _ => None,
        };
        for code in shared.modules(event.function.module) {
            code.on_hot(event, interval);
        }
    }

    fn wants_records(&self) -> bool {
        self.recording.get().is_some()
    }

    fn record(&mut self, ring: RingId, record: &Record, resolved: Option<&Resolved>) {
        if let Some(recorder) = self.recording.get() {
            recorder.lock().unwrap_or_else(|error| error.into_inner()).record(ring, record, resolved);
        }
    }

    fn missed(&mut self, ring: RingId, count: u64) {
        if let Some(recorder) = self.recording.get() {
            recorder.lock().unwrap_or_else(|error| error.into_inner()).missed(ring, count);
        }
    }

    fn polled(&mut self, _summary: &monitor::PollSummary) {
        if let Some(shared) = self.shared.upgrade() {
            shared.sweep();
        }
    }
}
