//! The engine: settings, compiler and monitor, shared by modules and stores.

use crate::{Config, Error, Result, TierPolicy};
use jit::{CraneliftCompiler, Options};
use std::sync::Arc;

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
}

impl Default for Engine {
    fn default() -> Engine {
        Engine::new(&Config::new()).expect("the default settings are valid")
    }
}

impl Engine {
    /// An engine with these settings.
    ///
    /// # Errors
    /// Settings that contradict each other, or that this machine cannot honour.
    pub fn new(config: &Config) -> Result<Engine> {
        let compiler: Option<Arc<dyn vm::code::Compiler>> = match config.engine.tier {
            TierPolicy::Interpreter => None,
            _ => Some(Arc::new(CraneliftCompiler::new(Options::default()).map_err(Error::msg)?)),
        };
        Engine::with_compiler(config, compiler)
    }

    /// An engine with a compiler of the caller's, or none: for tools and tests that put something between the machine and the compiler.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn with_compiler(config: &Config, compiler: Option<Arc<dyn vm::code::Compiler>>) -> Result<Engine> {
        Ok(Engine { vm: vm::engine::Engine::new(config.engine.clone(), compiler)?, config: Arc::new(config.clone()) })
    }

    /// The settings it was made with.
    pub fn config(&self) -> &Config {
        &self.config
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
