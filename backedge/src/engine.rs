//! The engine: settings, compiler and monitor, shared by modules and stores.

use crate::cache::archive::MAGIC;
use crate::cache::{KeepingCompiler, precompile};
use crate::{CacheDirectory, Config, Error, FeedbackPolicy, Module, RecordSource, Result, TierPolicy, bail};
use jit::{CraneliftCompiler, Options};
use std::sync::{Arc, Weak};

/// Compiles and runs modules. Clones are handles to the same engine; it is `Send` and `Sync`.
///
/// ```
/// let engine = backedge::Engine::default();
/// let module = backedge::Module::new(&engine, "(module)")?;
/// # Ok::<(), backedge::Error>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    pub(crate) vm: vm::engine::Engine,
    pub(crate) config: Arc<Config>,
    pub(crate) compiler: Option<Arc<KeepingCompiler>>,
}

/// A handle that does not keep its engine alive: for a thread that waits to call [`Engine::increment_epoch`].
///
/// ```
/// let engine = backedge::Engine::default();
/// let weak = engine.weak();
/// assert!(weak.upgrade().is_some());
/// drop(engine);
/// assert!(weak.upgrade().is_none());
/// ```
#[derive(Clone)]
pub struct EngineWeak {
    vm: vm::engine::WeakEngine,
    config: Weak<Config>,
    compiler: Option<Weak<KeepingCompiler>>,
}

impl EngineWeak {
    /// The engine, unless its last handle is gone.
    pub fn upgrade(&self) -> Option<Engine> {
        let compiler = match &self.compiler {
            Some(compiler) => Some(compiler.upgrade()?),
            None => None,
        };
        Some(Engine { vm: self.vm.upgrade()?, config: self.config.upgrade()?, compiler })
    }
}

/// What precompiled bytes hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Precompiled {
    /// A module.
    Module,
}

impl Default for Engine {
    fn default() -> Engine {
        Engine::new(&Config::new()).expect("the default settings are valid")
    }
}

/// Whether code made with these settings is what others with the same kind of engine want, and the other way round.
fn keeps(machine: &vm::engine::EngineConfig) -> bool {
    let usual = vm::engine::EngineConfig::default();
    !machine.measure
        && !machine.deterministic
        && machine.plans.is_none()
        && machine.delivery.is_none()
        && machine.feedback_scope == usual.feedback_scope
        && machine.source == usual.source
        && machine.stress == usual.stress
        && machine.trials == usual.trials
        && machine.budgets == usual.budgets
        && machine.feedback_budget == usual.feedback_budget
        && machine.events == usual.events
}

impl Engine {
    /// An engine with these settings.
    ///
    /// # Errors
    /// Settings that contradict each other, or that this machine cannot honour.
    pub fn new(config: &Config) -> Result<Engine> {
        let mut config = config.clone();
        if config.engine.source == RecordSource::Native && !lwp_feedback::native::available() {
            bail!("records of the processor's own: {}", lwp_feedback::info::native_detail());
        }
        // Decided once: memories, code and what is kept of it must agree.
        let guarded = *config.engine.guarded_memories.get_or_insert_with(vm::memory::guards_fit);
        let compiler = match config.engine.tier {
            TierPolicy::Interpreter | TierPolicy::Templates => None,
            tier => {
                let machine = &config.engine;
                let directory = config.cache.clone().filter(|_| tier == TierPolicy::Auto && keeps(machine));
                let kind = match (machine.feedback == FeedbackPolicy::Off, guarded) {
                    (true, true) => "plain",
                    (false, true) => "lwp",
                    (true, false) => "plain-checked",
                    (false, false) => "lwp-checked",
                };
                let compiler = CraneliftCompiler::new(Options {
                    quick_registers: directory.is_none(),
                    lwp_instructions: matches!(machine.source, RecordSource::Trap | RecordSource::Native),
                    ..Options::default()
                })
                .map_err(Error::msg)?;
                Some(Arc::new(KeepingCompiler::new(Arc::new(compiler), directory, kind, guarded)))
            }
        };
        let inner = compiler.clone().map(|compiler| compiler as Arc<dyn vm::code::Compiler>);
        Ok(Engine { compiler, ..Engine::with_compiler(&config, inner)? })
    }

    /// An engine with a compiler of the caller's, or none: for tools and tests that put something between the machine and the compiler. It neither keeps
    /// code nor runs precompiled modules.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn with_compiler(config: &Config, compiler: Option<Arc<dyn vm::code::Compiler>>) -> Result<Engine> {
        Ok(Engine { vm: vm::engine::Engine::new(config.engine.clone(), compiler)?, config: Arc::new(config.clone()), compiler: None })
    }

    /// A handle that does not keep it alive.
    pub fn weak(&self) -> EngineWeak {
        EngineWeak { vm: self.vm.weak(), config: Arc::downgrade(&self.config), compiler: self.compiler.as_ref().map(Arc::downgrade) }
    }

    /// The settings it was made with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Writes what was compiled so far into the cache, where one is set. The last handle to an engine does so when it is dropped.
    pub fn save_cache(&self) {
        // (what went wrong is a debug line)
        let _ = self.try_save_cache();
    }

    /// The same for who wants to know.
    ///
    /// # Errors
    /// Something could not be written.
    pub fn try_save_cache(&self) -> Result<()> {
        self.compiler.as_ref().map_or(Ok(()), |compiler| compiler.save())?;
        Ok(())
    }

    /// The cache that this engine's code goes to. `None` also where one is set but these settings make code that no other run wants.
    pub fn cache_directory(&self) -> Option<&CacheDirectory> {
        self.compiler.as_ref()?.directory()
    }

    /// Compiles all of a module ahead of time, for [`Module::deserialize`]. The bytes work with this build on this processor only.
    ///
    /// # Errors
    /// Not a valid module, or an engine without a compiler.
    pub fn precompile_module(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        Module::new(self, bytes)?.serialize()
    }

    /// What precompiled bytes hold, by their first bytes; `None` if they are nothing precompiled.
    pub fn detect_precompiled(bytes: &[u8]) -> Option<Precompiled> {
        bytes.starts_with(&vm::module::PRECOMPILED).then_some(Precompiled::Module)
    }

    /// See [`Engine::detect_precompiled`].
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn detect_precompiled_file(path: impl AsRef<std::path::Path>) -> Result<Option<Precompiled>> {
        use std::io::Read as _;
        let mut first = Vec::new();
        std::fs::File::open(path)?.take(MAGIC.len() as u64).read_to_end(&mut first)?;
        Ok(Engine::detect_precompiled(&first))
    }

    pub(crate) fn keeper(&self) -> Result<&KeepingCompiler> {
        match &self.compiler {
            Some(compiler) => Ok(compiler),
            None => bail!("an engine of the interpreter alone neither makes nor runs compiled code"),
        }
    }

    pub(crate) fn precompile(&self, module: &Arc<vm::module::Module>) -> Result<Vec<u8>> {
        Ok(precompile(self.keeper()?, module)?)
    }

    /// Advances the epoch by one tick. Callable from any thread, not from a signal handler: it takes a lock.
    pub fn increment_epoch(&self) {
        self.vm.increment_epoch();
    }

    /// Whether both are handles to one engine.
    pub fn same(a: &Engine, b: &Engine) -> bool {
        Arc::ptr_eq(&a.config, &b.config)
    }

    /// The machine under this handle, for tools that look inside.
    pub fn vm(&self) -> &vm::engine::Engine {
        &self.vm
    }

    /// Drains the record rings once: for hosts that set [`Config::monitor_thread`] to false.
    pub fn poll_monitor(&self) {
        self.vm.poll_monitor();
    }

    /// Waits until every record written so far is drained and every compile asked for is done.
    pub fn settle(&self) {
        self.vm.settle();
    }
}
