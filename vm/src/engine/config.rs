//! How an engine is configured.

use crate::profiling::CodeObserver;
use crate::tiering::TrialConfig;
use lwp_feedback::eventset::EventSet;
use lwp_feedback::ring::RingConfig;
use std::sync::Arc;
use std::time::Duration;
use wasmparser::WasmFeatures;

/// Which tiers run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TierPolicy {
    /// The interpreter alone.
    Interpreter,
    /// The interpreter alone, with every function's ops strung together as machine code at its first call.
    Templates,
    /// Everything is compiled by tier 1 at its first call.
    Baseline,
    /// Everything is compiled by tier 2 at its first call.
    Optimizing,
    /// The interpreter first, then compiled as it becomes hot.
    Auto,
}

/// Whether records change the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FeedbackPolicy {
    /// Records are drained and acted on.
    Lwp,
    /// Records are written and drained the same, but no plan is made.
    Off,
}

/// Who shares what was learned about a module, and the code that came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FeedbackScope {
    /// All stores of the engine: what one learned serves the next.
    #[default]
    Module,
    /// Nobody: every store has a profile and code of its own, from nothing, and takes them with it. For hosts whose tenants must not influence each
    /// other's code, or learn from its speed what others do. Short-lived stores stay in the interpreter.
    Store,
}

/// What writes the records of compiled code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RecordSource {
    /// The code itself, by the rules of LWP, on the LWPCB in memory.
    #[default]
    Inline,
    /// Real LWP instructions, executed by the SIGILL handler: microseconds each, for conformance. The compiler must be made to emit them.
    Trap,
    /// The same instructions, executed by the processor: AMD family 15h under a system that enabled LWP. Untested where nobody has one.
    Native,
    /// Values and hotness as [`RecordSource::Inline`]; branches and misses are the kernel's samples ([`lwp_feedback::sources::perf`]) in place of bursts.
    Perf,
}

/// How an engine works.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Which tiers run.
    pub tier: TierPolicy,
    /// Whether records change the code.
    pub feedback: FeedbackPolicy,
    /// Who shares what the records say, and the code.
    pub feedback_scope: FeedbackScope,
    /// What writes the records of compiled code.
    pub source: RecordSource,
    /// Events that may be recorded. Sites and probes of the others are not placed. Without 255 (LWPINS) nothing says that a function is hot: it
    /// stays interpreted.
    pub events: EventSet,
    /// CPU time between two records of a clock (events 5 and 6); what is shorter than the kernel's tick is raised to it.
    pub clock_interval: Duration,
    /// Everything is compiled as instrumented code at its first call, and all it does is counted: [`super::Engine::exact_profile`]. Slow, for
    /// comparison. Needs `tier` to be [`TierPolicy::Baseline`].
    pub exact: bool,
    /// Whether the interpreter strings the ops of functions that run more than a few times together as machine code. Only where `tier` is [`TierPolicy::Auto`].
    pub templates: bool,
    /// Calls and back edges of a small function in the interpreter before it asks for tier 1, more of a larger one; at least 1.
    pub hot_interpreter: u32,
    /// Calls and back edges of a small function in tier 1 before it asks for tier 2, more of a larger one; at least 1.
    pub hot_baseline: u32,
    /// Whether a function or loop moves up sooner where it has run for as long as compiling it is expected to take ([`crate::tiering`]): fewer events will do
    /// then. Never in a deterministic engine.
    pub tier_up_by_cost: bool,
    /// Threads that compile; at least 1.
    pub compile_threads: usize,
    /// What modules may use, of what the tiers run ([`crate::module::SUPPORTED`]).
    pub features: WasmFeatures,
    /// Bytes of the largest function body that a module may have.
    pub max_function_body: Option<usize>,
    /// A function whose compile in a tier is expected to take longer stays in the tier below.
    pub max_compile_time: Option<Duration>,
    /// Usable bytes of a store's wasm stack.
    pub wasm_stack_bytes: usize,
    /// Whether each memory with 32-bit addresses gets 6 GiB of address space, so that compiled code needs no bounds checks, or checks are compiled in.
    /// `None`: by the process's limit ([`crate::memory::guards_fit`]).
    pub guarded_memories: Option<bool>,
    /// Start the monitor's thread. Without it the host calls [`super::Engine::poll_monitor`].
    pub monitor_thread: bool,
    /// Drain the ring and compile on the spot whenever a function becomes hot: slow, and the same every time. For tests.
    pub deterministic: bool,
    /// Count calls and back edges in tier 2 too for a while, to report the time per event before and after.
    pub measure: bool,
    /// For tests: what is forced to happen more often than it would.
    pub stress: Stress,
    /// Share of run time that watching may cost, percent (bursts, their model, the monitor); 0 records nothing. Code keeps what it learned.
    pub feedback_budget: f64,
    /// The ring each thread that runs wasm gets.
    pub ring: RingConfig,
    /// What the policy may spend.
    pub budgets: lwp_feedback::policy::Budgets,
    /// Bytes of machine code that a module's calls and loops may lead to; the oldest goes back to lower tiers for what is new.
    pub code_cap: usize,
    /// How plans are tried on the running program before they are kept.
    pub trials: TrialConfig,
    /// Plans to carry out in place of those made from records, in every tier-2 compile.
    pub plans: Option<Arc<lwp_feedback::policy::PlanFile>>,
    /// The interface whose model stands between records and profile; none: LWP itself, without a model.
    pub delivery: Option<(lwp_feedback::models::Model, lwp_feedback::models::Sampling)>,
    /// Record the first poll behind each event too: where a performance interrupt would be taken.
    pub poll_records: bool,
    /// What makes plans from records.
    pub policy: Arc<dyn lwp_feedback::policy::Policy>,
    /// Profiles of earlier processes: a module that one of them is of starts with it.
    pub profiles: Vec<Arc<lwp_feedback::profilefile::SavedProfile>>,
    /// Keep a list of what happened when ([`super::Engine::timeline`]).
    pub timeline: bool,
    /// Who is told of each piece of code.
    pub observers: Vec<Arc<dyn CodeObserver>>,
}

/// Events a test forces. None changes a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stress {
    /// Leaving code goes to the interpreter even where there is code for the loop.
    pub leave_to_interpreter: bool,
    /// Every version whose number this divides goes back to the lower tiers as soon as it is published; 0 for none.
    pub retire_every: u32,
    /// Compiled code leaves at the first loop header it meets, and loops' own entrances after every round, for another entrance or the interpreter.
    pub leave_always: bool,
    /// Every so many guards one is made to fail in tier 2, where every call, loop header and block has one then; 0 none. Such failures take
    /// no decision back.
    pub fail_guards: u32,
    /// Of 256 polls that found their word set, how many leave it set, so that the function leaves again at its next loop header. 0: none.
    pub leave_again: u8,
    /// Bursts of every loop run in the interpreter, however small its body and however long the run; and two of three times code that leaves a loop for no burst is
    /// interpreted as in one for a while.
    pub watch_all: bool,
    /// Bursts of all together follow calls as in a large module, however small it is.
    pub follow_calls: bool,
    /// At every throw, exceptions that nothing names are collected, and lose their tag.
    pub collect_exceptions: bool,
}

impl Default for EngineConfig {
    fn default() -> Self {
        EngineConfig {
            tier: TierPolicy::Auto,
            feedback: FeedbackPolicy::Lwp,
            feedback_scope: FeedbackScope::default(),
            source: RecordSource::default(),
            events: EventSet::USUAL,
            clock_interval: Duration::from_millis(10),
            exact: false,
            // Guesses. Tier 1 must run long enough for its sites to leave some 100 records each.
            templates: true,
            hot_interpreter: 500,
            hot_baseline: 50_000,
            tier_up_by_cost: true,
            compile_threads: 1,
            features: crate::module::SUPPORTED,
            max_function_body: None,
            max_compile_time: None,
            // Four times what careful code needs for the same calls; only what is touched is memory.
            wasm_stack_bytes: 4 << 20,
            guarded_memories: None,
            monitor_thread: true,
            deterministic: false,
            measure: false,
            stress: Stress::default(),
            feedback_budget: 1.0,
            // 64 to 127 events between two records: a site that is hot enough for tier 2 has left some 200.
            ring: RingConfig { interval1: 127, adapts: true, ..RingConfig::default() },
            budgets: lwp_feedback::policy::Budgets::default(),
            // Far above what real programs need (CPython, all of it in tier 1: 20 MiB); a bound against programs made to fill memory.
            code_cap: 256 << 20,
            trials: TrialConfig::default(),
            plans: None,
            delivery: None,
            poll_records: false,
            policy: Arc::new(lwp_feedback::policy::DefaultPolicy),
            profiles: Vec::new(),
            timeline: false,
            observers: Vec::new(),
        }
    }
}
