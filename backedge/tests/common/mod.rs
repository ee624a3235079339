//! A guest of one module, for tests of what an engine does with several.

use std::sync::Arc;
use vm::engine::{Engine, EngineConfig, LoadedModule};
use vm::handles::{Extern, InstanceRef};
use vm::store::{Store, call_slots};
use vm::trap::Outcome;

pub fn engine(config: EngineConfig) -> Engine {
    let compiler = jit::CraneliftCompiler::new(Default::default()).expect("this machine is one the compiler supports");
    Engine::new(config, Some(Arc::new(compiler))).expect("the engine starts")
}

pub struct Guest {
    pub store: Store,
    instance: InstanceRef,
}

impl Guest {
    pub fn new(engine: &Engine, loaded: &Arc<LoadedModule>) -> Guest {
        let mut store = Store::new(engine).expect("a store");
        // SAFETY: no imports.
        let instance = unsafe { store.instantiate(loaded, &[]) }.expect("it instantiates");
        Guest { store, instance }
    }

    /// Calls an export that takes one number and yields one.
    pub fn call(&mut self, name: &str, argument: u64) -> Outcome<u64> {
        let Some(Extern::Func(function)) = self.instance.export(name) else { panic!("no function {name}") };
        let mut slots = vec![argument];
        slots.resize(call_slots(&function.ty()), 0);
        // SAFETY: the function is this store's and the argument is a number of its type.
        unsafe { self.store.call(function, &mut slots) }?;
        Ok(slots[0])
    }
}
