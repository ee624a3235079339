//! A module's code in all its versions, and how a function moves up: hot records → requests → compiles → publication.
//!
//! Code belongs to the module. Each instance's context has a `VmFunc` per function whose `entry` is the current code; publishing writes all of them,
//! under the lock that also guards the list of instances, so a new instance cannot miss one. Order of publication: bytes, trap table and
//! address map first (`PlacedCode::new`, `CodeMap::insert`), then the entry pointers (Release).
//!
//! Countdowns: one word per defined function, decremented at calls and back edges by the interpreter and by tier 1. Where it is used up, the
//! function is hot: an LWPINS record is written and the word reloaded. Nothing else tells the monitor what to compile.

use crate::arena::CodeBlock;
use crate::bytecode::{self, Bytecode, PointKind};
use crate::code::{Adapter, Entrance, Tier};
use crate::engine::{Shared, TierPolicy};
use crate::exits::Exits;
use crate::interp::CallTarget;
use crate::layout::{ASKED, FunctionPlace, VmContext, VmFunc, head};
use crate::module::Module;
use crate::queue::Work;
use crate::registry::PlacedCode;
use crate::signature;
use crate::store::{poll_word, set_poll_words};
use crate::timeline::What;
use lwp_feedback::codemap::{CodeEntry, FunctionId, Tier as CodeTier};
use lwp_feedback::policy::{Plan, Refusal};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock};
use std::time::Duration;

mod arms;
mod blocks;
mod bursts;
mod candidates;
mod compose;
pub(crate) mod cost;
mod difference;
mod drift;
mod early;
mod edges;
mod entries;
mod leave;
mod listener;
mod on_trial;
mod planning;
mod pollrecord;
mod reconsider;
mod retire;
mod sights;
mod stubs;
pub(crate) mod thresholds;
mod trial;
mod trial_state;
mod turns;
pub mod verdict;
mod versions;
mod warm;
mod watched;

pub(crate) use bursts::at_burst;
use leave::poll_before_call;
pub use leave::{hot_call, hot_loop};
pub(crate) use leave::{hot_compiled, poll};
pub use listener::Counted;
pub(crate) use listener::{Listener, Recording};
pub(crate) use pollrecord::ask_poll_record;
pub(crate) use retire::{Retirement, report_frames};
use stubs::lazy_stubs;
pub(crate) use stubs::resolve;
pub(crate) use thresholds::used_up;
use thresholds::{
    BASELINE_STEP, BRIEF, INTERPRETER_STEP, MOST_EVENTS, MOST_MEASURED, VECTOR_FIRST_SHARE, VECTOR_SHARE, first_look, first_record,
    next_look, strings, weighted,
};
use trial_state::Trials;
pub use trial_state::{TrialConfig, TrialRecord};
pub use versions::CodeVersion;
pub use warm::WarmFunction;
pub(crate) use watched::{WatchedCallee, WatchedForm, watched_enough, watched_return};

/// Offset that stands for a function's entry where a loop's offset could stand.
pub const FUNCTION_ENTRY: u32 = u32::MAX;
/// Bytes of a lazy stub.
const STUB_BYTES: usize = 16;

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
    /// What `VmFunc::entry` of a new instance gets.
    entry: AtomicPtr<u8>,
    /// Where its compiled code begins, behind the detour by which [`CallTarget`]'s enters it.
    body: AtomicPtr<u8>,
    bytecode: OnceLock<Box<Bytecode>>,
    /// The form of it that writes bursts.
    watched: OnceLock<Box<watched::Watched>>,
    /// Whether code of an earlier process was looked for.
    looked_for_kept: AtomicBool,
    /// Hot records written since the code of the function last changed.
    hot_records: AtomicU32,
    /// Events after which the countdown's record is due. Where they are more than it was loaded with, the interpreter looks for a loop that has code in between.
    due: AtomicU32,
    /// Looks since it began to look.
    looks: AtomicU32,
    /// Events that came before its countdown began anew, and that no record has counted.
    uncounted: AtomicU64,
    /// When a call of it that was asked for a burst came last, ticks.
    asked_at: AtomicU64,
    /// Records counted many calls of it, where calls are followed: none takes long.
    called_often: AtomicBool,
    /// Bursts that it had in the interpreter before it was compiled.
    early: AtomicU32,
    /// Whether tier-2 code of it was asked for: later code has the plan that is in force.
    first_planned: AtomicBool,
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
    /// What calls and loops of a function lead to now.
    current: HashMap<(u32, Entrance), Arc<CodeVersion>>,
    failures: Vec<CompileFailure>,
    refusals: HashMap<u32, Vec<Refusal>>,
    /// Stubs that lead straight to the slow-call adapter.
    stubs: HashMap<u32, CodeBlock>,
    /// Machine code of `current`.
    linked_bytes: usize,
    /// Times an entrance went back to lower tiers.
    evicted: u64,
    /// What went back to lower tiers and how long it stays there.
    waits: HashMap<(u32, Entrance), retire::Wait>,
}

struct ContextPointer(*mut VmContext);
// SAFETY: dereferenced only under the lock of `Published`, from which an instance removes itself before its context is freed, and only to
// write atomics.
unsafe impl Send for ContextPointer {}

/// A module's code.
pub struct ModuleCode {
    module: Arc<Module>,
    /// What names the module in records and in the profile: its hash, or a number of its own where one store's code is not for others.
    key: u64,
    shared: Arc<Shared>,
    functions: Box<[FunctionCode]>,
    /// How each is called, its compiled code among it.
    targets: Box<[CallTarget]>,
    signatures: Box<[u32]>,
    counters: Box<[AtomicU32]>,
    /// What each word was loaded with last: the events that its next record stands for.
    reloads: Box<[AtomicU32]>,
    loops: RwLock<HashMap<(u32, u32), LoopCode>>,
    switches: AtomicU64,
    /// Calls that went by the resolver.
    resolved: AtomicU64,
    /// All functions' lazy stubs, in order; `None` without a compiler.
    lazy: Option<CodeBlock>,
    next_version: AtomicU32,
    /// Whether an earlier process left code.
    has_kept: bool,
    /// Whether bursts of all together follow calls.
    follows: bool,
    published: Mutex<Published>,
    /// Serializes compiles on running threads.
    compiling: Mutex<()>,
    counted: Mutex<HashMap<u32, Counted>>,
    trials: Trials,
    pub(crate) exits: Exits,
    planning: planning::Planning,
    rests: Mutex<reconsider::Rests>,
    callees: listener::Callees,
    age: cost::Age,
    bursts: bursts::ModuleBursts,
    sights: sights::Sights,
    edges: edges::BackEdges,
    entries: entries::Entries,
}

impl ModuleCode {
    /// `Err` where code memory has no room for its stubs.
    pub(crate) fn new(shared: Arc<Shared>, module: Arc<Module>, key: u64) -> Result<Arc<ModuleCode>, String> {
        let imported = module.imported_functions;
        let count = module.functions.len() - imported as usize;
        let stubs = shared.compiler.is_some().then(|| lazy_stubs(imported, count, shared.resolver())).transpose()?;
        if let Some(block) = &stubs {
            shared.observe_nameless("backedge lazy stubs", block.address(), &block.copy(0..count * STUB_BYTES));
        }
        let last_kept = shared.compiler.as_ref().and_then(|compiler| compiler.last_kept(&module));
        let signatures = module.functions.iter().map(|&ty| module.signatures[ty as usize]).collect();
        let functions: Box<[FunctionCode]> = (0..count)
            .map(|own| {
                let entry = stubs.as_ref().map_or(0, |block| block.address() + own * STUB_BYTES);
                FunctionCode { entry: AtomicPtr::new(entry as *mut u8), ..FunctionCode::default() }
            })
            .collect();
        let counters =
            module.bodies.iter().map(|body| AtomicU32::new(first_look(&shared.config, body.len()) - 1)).collect::<Box<[AtomicU32]>>();
        let bytes = module.bodies.iter().map(|body| body.len()).sum();
        let follows = bytes >= thresholds::FOLLOWS_FROM || shared.config.stress.follow_calls;
        if follows {
            shared.follows.store(true, Ordering::Relaxed);
        }
        let reloads = counters.iter().map(|word| AtomicU32::new(word.load(Ordering::Relaxed) + 1)).collect();
        Ok(Arc::new(ModuleCode {
            reloads,
            functions,
            targets: (0..count).map(CallTarget::new).collect(),
            signatures,
            counters,
            loops: RwLock::default(),
            switches: AtomicU64::new(0),
            resolved: AtomicU64::new(0),
            lazy: stubs,
            next_version: AtomicU32::new(last_kept.unwrap_or(0) + 1),
            has_kept: last_kept.is_some(),
            follows,
            published: Mutex::default(),
            compiling: Mutex::default(),
            counted: Mutex::default(),
            trials: Trials::default(),
            exits: Exits::default(),
            planning: planning::Planning::default(),
            rests: Mutex::default(),
            callees: listener::Callees::default(),
            age: cost::Age::new(bytes),
            bursts: bursts::ModuleBursts::default(),
            sights: sights::Sights::default(),
            edges: edges::BackEdges::default(),
            entries: entries::Entries::default(),
            key,
            module,
            shared,
        }))
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
            let counts = self.shared.config.events.contains(lwp_feedback::layout::EventId::INSTRUCTIONS);
            let mut bytecode = Box::new(bytecode::translate(&self.module, function, counts));
            bytecode.brief = strings(&self.shared.config) && self.body_bytes(function) <= BRIEF && bytecode.runs_once();
            if bytecode.has_vectors {
                let first = (self.shared.config.hot_interpreter / VECTOR_FIRST_SHARE).max(1);
                let own = self.module.defined(function).expect("only defined functions have bytecode");
                self.reloads[own].fetch_min(first, Ordering::Relaxed);
                self.counters[own].fetch_min(first - 1, Ordering::Relaxed);
            }
            let range = bytecode.address_range();
            let id = FunctionId { module: self.key, func: function };
            let entry = CodeEntry::new(id, 0, CodeTier::Interpreter, Arc::from([]));
            if self.shared.watched()
                && let Err(error) = self.shared.code_map.insert(range, entry)
            {
                tracing::error!(function, %error, "bytecode not in the code map: it will never be found hot");
            }
            // (the box keeps its place)
            self.target(function).translated(&bytecode);
            bytecode
        })
    }

    /// Where the compiled code of a function is entered, or null.
    pub fn compiled(&self, function: u32) -> *const u8 {
        self.target(function).compiled.load(Ordering::Acquire)
    }

    fn target(&self, function: u32) -> &CallTarget {
        &self.targets[self.module.defined(function).expect("only defined functions are called here")]
    }

    /// How own functions are called.
    pub(crate) fn targets(&self) -> &[CallTarget] {
        &self.targets
    }

    /// The interpreter's code of a function that has it and is not compiled.
    ///
    /// # Safety
    /// `own` is below the number of defined functions.
    #[inline(always)]
    pub(crate) unsafe fn interpretable(&self, own: usize) -> Option<&Bytecode> {
        // SAFETY: the caller's promise.
        let (function, target) = unsafe { (self.functions.get_unchecked(own), self.targets.get_unchecked(own)) };
        if target.compiled_to_call().is_some() {
            return None;
        }
        function.bytecode.get().map(Box::as_ref)
    }

    /// Enter adapter and compiled code of a function, if both are known and no trial is interested in its calls.
    ///
    /// # Safety
    /// `own` is below the number of defined functions, and `function` is its number among all.
    #[inline(always)]
    pub(crate) unsafe fn callable(&self, own: usize, function: u32) -> Option<(usize, usize)> {
        // SAFETY: the caller's promise.
        let target = unsafe { self.targets.get_unchecked(own) };
        let code = target.compiled.load(Ordering::Acquire) as usize;
        let adapter = target.adapter.load(Ordering::Acquire) as usize;
        let tried = self.trials.concern(function);
        (code != 0 && adapter != 0 && !tried).then_some((adapter, code))
    }

    /// A time in ticks of the time stamp counter.
    fn ticks_in(&self, time: Duration) -> u64 {
        (time.as_nanos() as f64 / self.shared.ns_per_tick()) as u64
    }

    /// Where the code begins that a function's entry is: behind its detour, if it is that of its compiled code.
    fn behind_detour(&self, own: usize, entry: usize) -> usize {
        let function = &self.functions[own];
        if entry == self.targets[own].compiled.load(Ordering::Acquire) as usize {
            function.body.load(Ordering::Acquire) as usize
        } else {
            entry
        }
    }

    /// Code to run a function with: compiled now if the engine's policy says so. `None`: interpret.
    pub(crate) fn code_to_run(self: &Arc<Self>, function: u32) -> Option<usize> {
        let compiled = self.compiled(function) as usize;
        if compiled != 0 {
            return Some(compiled);
        }
        self.take_kept(function);
        self.compile_if_pinned(function, Entrance::Body);
        let compiled = self.compiled(function) as usize;
        (compiled != 0).then_some(compiled)
    }

    /// The same in one instance, where the function may be on trial or the instance asked: then its stub, which polls.
    ///
    /// # Safety
    /// `context` is a live context of this module.
    pub(crate) unsafe fn code_to_run_in(self: &Arc<Self>, context: *mut VmContext, function: u32) -> Option<usize> {
        let code = self.code_to_run(function)?;
        // SAFETY: the caller's promise; the word is an atomic.
        let asked = unsafe { &(*head(context)).poll }.load(Ordering::Relaxed) != 0;
        let own = self.module.defined(function)?;
        if asked {
            return Some(self.lazy_stub(own));
        }
        if !self.trials.concern(function) {
            return Some(code);
        }
        // SAFETY: the caller's promise.
        let entry = unsafe { self.func(context, own) }.entry.load(Ordering::Acquire) as usize;
        // What is compiled has its stub as its entry only while its trial idles and a burst of its watched form is asked for.
        Some(if entry == self.lazy_stub(own) { code } else { entry })
    }

    /// Whether an earlier process left code.
    pub fn has_kept(&self) -> bool {
        self.has_kept
    }

    /// Publishes what an earlier process left of a function, if it did. Looked for once.
    pub(crate) fn take_kept(self: &Arc<Self>, function: u32) {
        let (true, Some(compiler)) = (self.has_kept, &self.shared.compiler) else { return };
        let looked_for = &self.own(function).looked_for_kept;
        if looked_for.load(Ordering::Relaxed) || looked_for.swap(true, Ordering::Relaxed) {
            return;
        }
        let Some((request, code)) = compiler.kept(&self.module, function) else { return };
        if !self.published().requested.insert((function, Entrance::Body, request.tier, false)) {
            return;
        }
        match self.place(&request, code, Duration::ZERO, false) {
            Ok(version) => {
                // (a profile's plan that it lacks much of, if there is one: see `start_with`)
                let wanted = self.adopted(function).is_some();
                if !wanted {
                    self.adopt(function, version.plan.clone());
                }
                self.link(version, request.countdowns);
                if request.tier == Tier::Optimizing {
                    self.note_kept(function);
                    if wanted {
                        self.replace_optimized(function);
                    }
                }
            }
            Err(error) => tracing::debug!(function, %error, "kept code not used"),
        }
    }

    /// Where the engine's policy pins a tier: compiles an entrance by it, here and now, unless that was tried before.
    fn compile_if_pinned(self: &Arc<Self>, function: u32, entrance: Entrance) {
        let tier = match self.shared.config.tier {
            TierPolicy::Baseline if self.shared.config.exact => Tier::Instrumented,
            TierPolicy::Baseline => Tier::Baseline,
            TierPolicy::Optimizing => Tier::Optimizing,
            TierPolicy::Interpreter | TierPolicy::Templates | TierPolicy::Auto => return,
        };
        if self.shared.compiler.is_none() {
            return;
        }
        // Whoever waits here finds the code published.
        let _one = self.compiling.lock().unwrap_or_else(|error| error.into_inner());
        if self.published().is_asked_anew(function, entrance, tier, false) {
            self.compile(function, entrance, tier, false);
        }
    }

    /// The enter adapter of a function's signature.
    pub(crate) fn enter_adapter(&self, function: u32) -> Result<usize, String> {
        let known = &self.target(function).adapter;
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
        // SAFETY: as above.
        unsafe { set_poll_words(context, self.module.offsets(), self.shared.config.stress.leave_always) };
        published.instances.push(ContextPointer(context));
        if self.shared.config.stress.leave_always {
            // SAFETY: the caller's promise.
            unsafe { self.polls_were_set(context, true) };
        }
    }

    pub(crate) fn unregister_instance(&self, context: *mut VmContext) {
        self.published().instances.retain(|other| !std::ptr::eq(other.0, context));
        self.forget_entries(context);
        // What was asked of it alone is asked of nobody.
        self.let_pass();
    }

    /// The words of all loops of an instance were written: its loops poll, or may pass.
    ///
    /// # Safety
    /// `context` is a live context of this module.
    pub(crate) unsafe fn polls_were_set(&self, context: *mut VmContext, ask: bool) {
        if ask {
            // SAFETY: the caller's promise.
            self.edges.poll_everywhere(|word| unsafe { edges::asks(context, word) });
        } else {
            self.let_pass();
        }
    }

    /// # Safety
    /// `context` is a live context of this module.
    unsafe fn func<'a>(&self, context: *mut VmContext, own: usize) -> &'a VmFunc {
        let FunctionPlace::Inline(offset) = self.module.offsets().function(self.module.imported_functions + own as u32) else {
            unreachable!("own functions lie in the context")
        };
        // SAFETY: the offset is inside the context, which the caller promises is live.
        unsafe { &*context.byte_offset(offset as isize).cast::<VmFunc>() }
    }

    /// Makes `entry` what calls of a function reach, in all instances.
    fn set_entry(&self, published: &Published, function: u32, entry: usize) {
        let own = self.module.defined(function).expect("only defined functions have code here");
        self.functions[own].entry.store(entry as *mut u8, Ordering::Release);
        self.note_entry(own, entry);
        self.set_entry_in_instances(published, function, entry);
    }

    /// The same for the instances there are; new ones get what [`ModuleCode::set_entry`] said.
    fn set_entry_in_instances(&self, published: &Published, function: u32, entry: usize) {
        let own = self.module.defined(function).expect("only defined functions have code here");
        for context in &published.instances {
            // SAFETY: in the list, so live (see `ContextPointer`).
            unsafe { self.enter_by(context.0, own, entry) };
        }
    }

    /// Asks all running code of a function to leave at its next loop header.
    fn ask_to_leave(&self, published: &Published, function: u32) {
        let own = self.module.defined(function).expect("only defined functions have code here");
        for context in &published.instances {
            for offset in self.module.polls(own) {
                // SAFETY: in the list, so live (see `ContextPointer`).
                unsafe { poll_word(context.0, offset) }.store(ASKED, Ordering::SeqCst);
            }
        }
        self.edges.poll(self.module.polls(own), |word| published.ask(word));
    }

    /// The poll word of a loop.
    fn loop_word(&self, function: u32, loop_offset: u32) -> i32 {
        let own = self.module.defined(function).expect("only defined functions have code here");
        self.module.loop_poll(own, loop_offset).unwrap_or_else(|| self.module.function_poll(own))
    }

    /// Asks all running code of a function to leave at the header of one loop.
    fn ask_loop(&self, published: &Published, function: u32, loop_offset: u32) {
        self.ask_loops(published, &[self.loop_word(function, loop_offset)]);
    }

    /// The same of several loops, by their poll words.
    fn ask_loops(&self, published: &Published, words: &[i32]) {
        for context in &published.instances {
            for &word in words {
                // SAFETY: in the list, so live (see `ContextPointer`).
                unsafe { edges::ask_loop(context.0, word) };
            }
        }
        self.edges.poll(words.iter().copied(), |word| published.ask(word));
    }

    /// The same in one instance.
    ///
    /// # Safety
    /// `context` is a live context of this module.
    unsafe fn ask_loop_of(&self, context: *mut VmContext, function: u32, loop_offset: u32) {
        let word = self.loop_word(function, loop_offset);
        // SAFETY: the caller's promise.
        unsafe { edges::ask_loop(context, word) };
        // SAFETY: as above.
        let asks = |word| unsafe { edges::asks(context, word) };
        match self.shared.ticks {
            true => self.edges.poll_now(word, asks),
            false => self.edges.poll([word], asks),
        }
    }

    /// Asks all running code of the module to leave at its next loop header: for tests of switching.
    pub fn ask_all_to_leave(&self) {
        let published = self.published();
        for function in self.module.imported_functions..self.module.functions.len() as u32 {
            self.ask_to_leave(&published, function);
        }
    }

    /// Queues a compile unless it was asked for before, or is to wait since it was evicted.
    fn request(self: &Arc<Self>, function: u32, entrance: Entrance, tier: Tier, counted: bool) {
        if self.published().is_asked_anew(function, entrance, tier, counted) {
            self.note(function, entrance, || What::Asked { tier });
            self.shared.queue.push_work(self, Work::Compile(function, entrance, tier));
        }
    }

    /// Takes in for the timeline what happens now to a function.
    pub(crate) fn note(&self, function: u32, entrance: Entrance, what: impl FnOnce() -> What) {
        if self.shared.timeline.is_kept() {
            self.shared.timeline.note(self.shared.started.elapsed(), self.module.hash, function, entrance, what);
        }
    }

    /// A queued compile.
    pub(crate) fn compile_requested(self: &Arc<Self>, function: u32, entrance: Entrance, tier: Tier) {
        if let Entrance::Loop(offset) = entrance
            && !self.has_loop(function, offset)
        {
            return;
        }
        let counted =
            tier == Tier::Optimizing && self.measures(function) && !self.published().requested.contains(&(function, entrance, tier, false));
        self.compile(function, entrance, tier, counted);
        if tier == Tier::Optimizing && self.tries() {
            self.reconsider(function);
        }
    }

    /// Takes a function's tier 2 code out of use and asks for other in its place; running code leaves at its next poll. The body goes on being called
    /// until the other is there.
    pub(crate) fn replace_optimized(self: &Arc<Self>, function: u32) {
        let mut unlinked = Vec::new();
        let mut entrances = Vec::new();
        {
            let mut published = self.published();
            let optimized = published.current.iter().filter(|((of, _), version)| *of == function && version.tier == Tier::Optimizing);
            entrances.extend(optimized.map(|((_, entrance), _)| *entrance));
            entrances.sort_unstable();
            for &entrance in &entrances {
                if let Entrance::Loop(offset) = entrance {
                    self.loops.write().unwrap_or_else(|error| error.into_inner()).remove(&(function, offset));
                    if let Some(version) = published.current.remove(&(function, entrance)) {
                        published.linked_bytes -= version.code_bytes;
                        unlinked.push(version);
                    }
                }
                published.requested.insert((function, entrance, Tier::Optimizing, false));
            }
            self.ask_to_leave(&published, function);
        }
        for version in unlinked {
            self.retire(version);
        }
        for entrance in entrances {
            self.shared.queue.push_work(self, Work::Compile(function, entrance, Tier::Optimizing));
        }
    }

    /// Makes the interpreter look for compiled code at the function's next loop header, and at some of those after it ([`ModuleCode::looks_on`]), if any of these loops has some.
    pub(crate) fn enter_loops_soon(&self, function: u32, loops: impl Iterator<Item = u32>) {
        let known = self.loops.read().unwrap_or_else(|error| error.into_inner());
        if let Some(own) = self.module.defined(function)
            && loops.into_iter().any(|offset| known.contains_key(&(function, offset)))
        {
            self.count_to(own, self.hot_interpreter(function));
            self.look_from(own, 0);
        }
    }

    /// The same for all loops of a function, where a record is due after so many events that an activation would be long in templates before it.
    fn look_for_loops(&self, function: u32) {
        let own = self.module.defined(function).expect("only defined functions count");
        let (came, due) = (self.came(own), self.functions[own].due.load(Ordering::Relaxed));
        if came < due && self.has_loop_code(function) {
            self.look_from(own, came);
        }
    }

    /// The next event is looked at, as the first of some, where so many have come.
    fn look_from(&self, own: usize, came: u32) {
        self.functions[own].looks.store(0, Ordering::Relaxed);
        self.count_on(own, came, came + 1);
    }

    /// Whether a defined function has such a loop: the record that asks for its code may be damaged, and where nothing was interpreted the listener did not look.
    fn has_loop(&self, function: u32, offset: u32) -> bool {
        match self.own(function).bytecode.get() {
            Some(bytecode) => bytecode.has_loop(offset),
            None => self.shape(function).loops.iter().any(|it| it.offset == offset),
        }
    }

    /// Whether some loop of a function has code.
    fn has_loop_code(&self, function: u32) -> bool {
        let Some(bytecode) = self.own(function).bytecode.get() else { return false };
        let known = self.loops.read().unwrap_or_else(|error| error.into_inner());
        bytecode.points().iter().any(|point| point.kind == PointKind::Loop && known.contains_key(&(function, point.offset)))
    }

    /// The loop that came has no code, but it may be another one that does: whether the interpreter goes on looking ([`next_look`]), until a record is due, which is of all events. (A single look found the loop around
    /// mostly, and an `allocator` of a million rounds stayed in templates until it was called again: half as fast. So did `hashtable`, with four loops one behind the other, where no look came before the record.)
    fn looks_on(&self, function: u32) -> bool {
        let own = self.module.defined(function).expect("only defined functions count");
        let due = self.functions[own].due.load(Ordering::Relaxed);
        let counted = self.reloads[own].load(Ordering::Relaxed);
        if counted >= due {
            return false;
        }
        let look = self.functions[own].looks.fetch_add(1, Ordering::Relaxed);
        self.count_on(own, counted, (counted + next_look(look)).min(due));
        true
    }

    /// A function's countdown begins anew: after so many events, one at least. Returns how many the last one was of.
    fn count_to(&self, own: usize, events: u32) -> u32 {
        self.functions[own].due.store(events, Ordering::Relaxed);
        self.count_on(own, 0, events)
    }

    /// A function's countdown is of `events`, more than those that came. Returns how many the last one was of.
    fn count_on(&self, own: usize, came: u32, events: u32) -> u32 {
        let before = self.reloads[own].swap(events, Ordering::Relaxed);
        self.counters[own].store(events - came - 1, Ordering::Relaxed);
        before
    }

    /// The engine's insides.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Whether tier 2 of a function counts for a while, to be compared with tier 1: it is compiled twice then.
    fn measures(&self, function: u32) -> bool {
        self.shared.config.measure && self.body_bytes(function) <= MOST_MEASURED
    }

    /// Events after which code of a tier that counts is hot; the interpreter's are set at the start.
    fn hot_after(&self, own: usize, tier: Tier) -> u32 {
        match tier {
            Tier::Baseline | Tier::Instrumented => first_record(&self.shared.config, self.hot_events(own)),
            // Counted only to be measured: soon enough, whatever the size.
            Tier::Optimizing => self.shared.config.hot_baseline.clamp(1, MOST_EVENTS),
        }
    }

    /// Events in tier 1 after which a function is hot, however little time they took.
    fn hot_events(&self, own: usize) -> u32 {
        weighted(self.shared.config.hot_baseline, self.module.bodies[own].len(), BASELINE_STEP)
    }

    fn hot_interpreter(&self, function: u32) -> u32 {
        let first = first_record(&self.shared.config, self.interpreted_events(function, INTERPRETER_STEP));
        if self.has_vectors(function) || !self.skips_baseline() {
            return first;
        }
        // What is told of long before could not move it up yet; but the least time of several intervals is nearest to its own. (With the half of it CPython's `print(1)` took 6 % more on one
        // processor, for more was compiled; with records from 31 events on it took 3 % more on two.)
        first.max(self.shared.compile_costs.fewest_from_templates(self.body_bytes(function), self.age.stage()) / 8)
    }

    /// Events in the interpreter that make a function hot, by its size in these steps.
    fn interpreted_events(&self, function: u32, step: usize) -> u32 {
        let events = weighted(self.shared.config.hot_interpreter, self.body_bytes(function), step);
        if self.has_vectors(function) { (events / VECTOR_SHARE).max(1) } else { events }
    }

    /// Whether a function that was translated computes anything on v128.
    fn has_vectors(&self, function: u32) -> bool {
        self.own(function).bytecode.get().is_some_and(|bytecode| bytecode.has_vectors)
    }

    fn hot_compiled(&self, function: u32) -> u32 {
        let own = self.module.defined(function).expect("only defined functions count");
        self.hot_after(own, Tier::Baseline)
    }

    /// What calls of a function without code reach.
    fn stub_entry(&self, published: &Published, own: usize) -> usize {
        let function = self.module.imported_functions + own as u32;
        match published.stubs.get(&function) {
            Some(block) => block.address(),
            None => self.lazy_stub(own),
        }
    }

    /// The resolver's way to a function.
    fn lazy_stub(&self, own: usize) -> usize {
        self.lazy.as_ref().map_or(0, |block| block.address() + own * STUB_BYTES)
    }

    /// Times an entrance went back to lower tiers, for room or by a stress switch.
    pub fn evictions(&self) -> u64 {
        self.published().evicted
    }

    /// Bytes of machine code that calls and loops lead to.
    pub fn linked_bytes(&self) -> usize {
        self.published().linked_bytes
    }

    /// Whether calls of a function lead to compiled code, or will.
    fn has_body(&self, function: u32) -> bool {
        self.published().requested.contains(&(function, Entrance::Body, Tier::Baseline, false))
    }

    fn loop_code(&self, function: u32, offset: u32) -> Option<LoopCode> {
        self.loops.read().unwrap_or_else(|error| error.into_inner()).get(&(function, offset)).copied()
    }

    /// What is to be done with a function, by a plan file or by the records.
    fn planned(&self, function: u32) -> Option<Arc<Plan>> {
        match &self.shared.config.plans {
            Some(given) => self.given_plan(function, given.plan(self.module.hash, function)?.decisions).map(Arc::new),
            None if self.shared.config.tier == TierPolicy::Auto => self.plan(function),
            None => None,
        }
    }

    /// How often compiled code left at a poll, for another version or for the interpreter.
    pub fn switches(&self) -> u64 {
        self.switches.load(Ordering::Relaxed)
    }

    /// How often a call went by the resolver behind lazy stubs, which takes some fifty times as long as a call of code.
    pub fn resolved_calls(&self) -> u64 {
        self.resolved.load(Ordering::Relaxed)
    }

    /// Where the versions' code stands.
    pub fn code_addresses(&self) -> Vec<std::ops::Range<u64>> {
        self.published().versions.iter().filter_map(|version| version.code_range()).collect()
    }

    /// Versions published so far, oldest first.
    pub fn versions(&self) -> Vec<Arc<CodeVersion>> {
        self.published().versions.clone()
    }

    /// What calls and loops of each function lead to now, a trial's arms aside.
    pub fn versions_in_force(&self) -> Vec<Arc<CodeVersion>> {
        let mut versions: Vec<_> = self.published().current.values().cloned().collect();
        versions.sort_by_key(|version| version.number);
        versions
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

    /// Calls and back edges that no hot record has counted yet, by function: what the countdowns have run down, and what they had when code of another tier took over.
    pub fn uncounted(&self) -> Vec<(u32, u64)> {
        let before = |own: usize| self.functions[own].uncounted.load(Ordering::Relaxed);
        let counts =
            (0..self.counters.len()).map(|own| (self.module.imported_functions + own as u32, before(own) + u64::from(self.came(own))));
        counts.filter(|&(_, count)| count > 0).collect()
    }

    /// Events of a function since its countdown began.
    fn came(&self, own: usize) -> u32 {
        let (word, events) = (self.counters[own].load(Ordering::Relaxed), self.reloads[own].load(Ordering::Relaxed));
        if used_up(word) { events } else { events.saturating_sub(word + 1) }
    }

    /// What names the module in records and in the profile; see [`crate::engine::FeedbackScope`].
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The module.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }
}

impl Drop for ModuleCode {
    fn drop(&mut self) {
        self.forget_probes();
        // Records still in rings may name this code: it keeps its addresses until every ring has passed them.
        let published = self.published.get_mut().unwrap_or_else(|error| error.into_inner());
        let versions = std::mem::take(&mut published.versions);
        for version in versions {
            if let Some(placed) = version.take_code() {
                self.shared.bury(placed.range(), Remains::Code(placed));
            }
        }
        self.shared.forget_retiring(self);
        for function in &mut self.functions {
            if let Some(bytecode) = function.bytecode.take() {
                self.shared.bury(bytecode.address_range(), Remains::Bytecode(bytecode));
            }
            if let Some(watched) = function.watched.take() {
                let code = Box::new(watched.into_code());
                self.shared.bury(code.address_range(), Remains::Bytecode(code));
            }
        }
        // So long such records come to its profile too, which goes after all of them.
        self.shared.forget_module(self.key, self.key != self.module.hash);
    }
}

/// What is left of what is gone, while records may still name it.
pub(crate) enum Remains {
    /// A version's code.
    Code(Box<PlacedCode>),
    /// What the interpreter ran.
    Bytecode(#[expect(dead_code, reason = "held for its memory")] Box<Bytecode>),
    /// The profile of a module that is gone; `own`: of code that one store had for itself.
    Profile { key: u64, own: bool },
}
