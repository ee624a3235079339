//! Settings of an [`Engine`](crate::Engine).
//!
//! What is not here is not there: fuel, async and the pooling allocator are absent, so a program that needs them does not compile.

pub use vm::engine::{FeedbackPolicy, FeedbackScope, RecordSource, TierPolicy};

use crate::cache::CacheDirectory;
use std::time::Duration;
use vm::engine::EngineConfig;
use wasmparser::WasmFeatures;

/// Settings of an [`Engine`](crate::Engine), with wasmtime's names where it has them.
///
/// ```
/// use backedge::{Config, Engine, TierPolicy};
///
/// let mut config = Config::new();
/// config.epoch_interruption(true).tier(TierPolicy::Interpreter);
/// let engine = Engine::new(&config)?;
/// # Ok::<(), backedge::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub(crate) engine: EngineConfig,
    pub(crate) epoch_interruption: bool,
    pub(crate) cache: Option<CacheDirectory>,
}

impl Config {
    /// Defaults: all tiers, feedback on, a monitor thread of the engine's own.
    pub fn new() -> Config {
        Config::default()
    }

    /// Guests stop when the engine's epoch passes their store's deadline; see [`Store::set_epoch_deadline`](crate::Store::set_epoch_deadline).
    pub fn epoch_interruption(&mut self, enable: bool) -> &mut Config {
        self.epoch_interruption = enable;
        self
    }

    /// Bytes of stack for wasm frames of compiled code. Default: 4 MiB, of which only what is touched is memory.
    pub fn max_wasm_stack(&mut self, bytes: usize) -> &mut Config {
        self.engine.wasm_stack_bytes = bytes;
        self
    }

    /// Whether each memory with 32-bit addresses gets 6 GiB of address space, which makes bounds checks unnecessary in compiled code. Default: unless the
    /// process's limit of address space (`ulimit -v`) is below 24 GiB. Without, compiled code checks each access, memories may not grow beyond what
    /// address space there is, and prefetch plans are refused.
    pub fn guarded_memories(&mut self, enable: bool) -> &mut Config {
        self.engine.guarded_memories = Some(enable);
        self
    }

    /// Whether modules may use vectors, `v128` and all its instructions (relaxed ones too). Default: yes, as for each proposal below; one that is switched off is named
    /// in the error of a module that needs it. Proposals that are not here cannot be switched on (`docs/src/proposals.md`).
    pub fn wasm_simd(&mut self, enable: bool) -> &mut Config {
        self.features(WasmFeatures::SIMD.union(WasmFeatures::RELAXED_SIMD), enable)
    }

    /// Whether modules may use vector instructions whose results may differ between processors (here they do not).
    pub fn wasm_relaxed_simd(&mut self, enable: bool) -> &mut Config {
        self.features(WasmFeatures::RELAXED_SIMD, enable)
    }

    /// Whether modules may use shared memories and atomic instructions.
    pub fn wasm_threads(&mut self, enable: bool) -> &mut Config {
        self.features(WasmFeatures::THREADS, enable)
    }

    /// Whether modules may use `return_call` and its relatives.
    pub fn wasm_tail_call(&mut self, enable: bool) -> &mut Config {
        self.features(WasmFeatures::TAIL_CALL, enable)
    }

    /// Whether modules may have memories and tables with 64-bit addresses.
    pub fn wasm_memory64(&mut self, enable: bool) -> &mut Config {
        self.features(WasmFeatures::MEMORY64, enable)
    }

    /// Whether modules may have more than one memory.
    pub fn wasm_multi_memory(&mut self, enable: bool) -> &mut Config {
        self.features(WasmFeatures::MULTI_MEMORY, enable)
    }

    /// Whether modules may throw and catch exceptions, by `try_table` or by the instructions before it.
    pub fn wasm_exceptions(&mut self, enable: bool) -> &mut Config {
        self.features(WasmFeatures::EXCEPTIONS.union(WasmFeatures::LEGACY_EXCEPTIONS), enable)
    }

    /// Whether modules may use references to functions of a known type.
    pub fn wasm_function_references(&mut self, enable: bool) -> &mut Config {
        self.features(WasmFeatures::FUNCTION_REFERENCES, enable)
    }

    /// Whether constant expressions may compute.
    pub fn wasm_extended_const(&mut self, enable: bool) -> &mut Config {
        self.features(WasmFeatures::EXTENDED_CONST, enable)
    }

    fn features(&mut self, features: WasmFeatures, enable: bool) -> &mut Config {
        self.engine.features.set(features, enable);
        self
    }

    /// Bytes of the largest function body that a module may have: others are refused when they are loaded. Default: what validation allows.
    pub fn max_function_body(&mut self, bytes: usize) -> &mut Config {
        self.engine.max_function_body = Some(bytes);
        self
    }

    /// Longest compile of one function, as expected from its size: a function that would take longer stays interpreted, or in tier 1. Default: no limit.
    pub fn max_compile_time(&mut self, time: Duration) -> &mut Config {
        self.engine.max_compile_time = Some(time);
        self
    }

    /// Which tiers may run. Default: [`TierPolicy::Auto`].
    pub fn tier(&mut self, tier: TierPolicy) -> &mut Config {
        self.engine.tier = tier;
        self
    }

    /// Whether what the LWP records say changes the code. Default: [`FeedbackPolicy::Lwp`].
    pub fn feedback(&mut self, feedback: FeedbackPolicy) -> &mut Config {
        self.engine.feedback = feedback;
        self
    }

    /// Who shares what the records say about a module, and the code that came of it: all stores, or none. Default: [`FeedbackScope::Module`]. With
    /// [`FeedbackScope::Store`] a cache is neither read nor written.
    pub fn feedback_scope(&mut self, scope: FeedbackScope) -> &mut Config {
        self.engine.feedback_scope = scope;
        self
    }

    /// What writes the LWP records of compiled code. Default: [`RecordSource::Inline`]. [`RecordSource::Trap`] is for conformance: real LWP
    /// instructions, each of which takes microseconds in the SIGILL handler.
    pub fn record_source(&mut self, source: RecordSource) -> &mut Config {
        self.engine.source = source;
        self
    }

    /// Where machine code is kept for the next process, and looked for. Default: nowhere. It holds native code: whoever can write there can run
    /// anything in this process, so files and directories that others may write to are not used. Only [`TierPolicy::Auto`] keeps code, and
    /// only with the usual settings of the machine: not while code is timed ([`Config::measure`]), made to given plans, or under other budgets.
    pub fn cache(&mut self, directory: Option<CacheDirectory>) -> &mut Config {
        self.cache = directory;
        self
    }

    /// Calls plus loop rounds after which a function is hot, in the interpreter and in tier 1 alike, however long they took; at least 1. Default: what has
    /// run for the time that compiling it takes (in tier 1 twice that), or 500 rounds of a small function in the interpreter and 50,000 in tier 1.
    pub fn hot_threshold(&mut self, count: u32) -> &mut Config {
        self.engine.hot_interpreter = count.max(1);
        self.engine.hot_baseline = count.max(1);
        self.engine.tier_up_by_cost = false;
        self
    }

    /// Whether the interpreter strings what it runs more than a few times together as machine code, some four times as fast. Default: true. Pinned by
    /// [`TierPolicy::Interpreter`] and [`TierPolicy::Templates`].
    pub fn templates(&mut self, templates: bool) -> &mut Config {
        self.engine.templates = templates;
        self
    }

    /// Threads that compile; at least 1.
    pub fn compile_threads(&mut self, threads: usize) -> &mut Config {
        self.engine.compile_threads = threads.max(1);
        self
    }

    /// Whether the engine starts a monitor thread. Without one the host calls [`Engine::poll_monitor`](crate::Engine::poll_monitor).
    pub fn monitor_thread(&mut self, spawn: bool) -> &mut Config {
        self.engine.monitor_thread = spawn;
        self
    }

    /// Whether records are drained and code is compiled on the spot, at the same points in every run: slow, for tests.
    pub fn deterministic(&mut self, enable: bool) -> &mut Config {
        self.engine.deterministic = enable;
        self
    }

    /// Whether tier 2 code is timed too, so that [`Module::report`](crate::Module::report) shows the time per call before and after.
    pub fn measure(&mut self, enable: bool) -> &mut Config {
        self.engine.measure = enable;
        self
    }

    /// All settings of the machine, for tests and tools: ring sizes, the policy's budgets, stress switches.
    pub fn machine(&mut self) -> &mut EngineConfig {
        &mut self.engine
    }
}
