//! Instances: a module with its imports resolved, in a store.

use crate::error::not_instantiated;
use crate::func::{WasmParams, WasmResults};
use crate::store::{StoreId, StoreInner};
use crate::{
    AsContext, AsContextMut, Extern, ExternType, Func, Global, Memory, Module, Result, SharedMemory, StoreContextMut, Table, Tag,
    TypedFunc, bail, format_err,
};
use vm::handles::InstanceRef;

/// An instance of a module in a store.
///
/// ```
/// use backedge::{Engine, Func, Instance, Module, Store};
///
/// let engine = Engine::default();
/// let module = Module::new(&engine, r#"
///     (module
///         (import "host" "log" (func $log (param i32)))
///         (func (export "run") i32.const 7 call $log))
/// "#)?;
/// let mut store = Store::new(&engine, Vec::new());
/// let log = Func::wrap(&mut store, |mut caller: backedge::Caller<'_, Vec<i32>>, n: i32| caller.data_mut().push(n));
/// let instance = Instance::new(&mut store, &module, &[log.into()])?;
/// instance.get_typed_func::<(), ()>(&mut store, "run")?.call(&mut store, ())?;
/// assert_eq!(store.data(), &[7]);
/// # Ok::<(), backedge::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instance {
    store: StoreId,
    raw: InstanceRef,
}

impl Instance {
    /// Instantiates a module with its imports in order; runs its start function.
    ///
    /// # Errors
    /// Imports that do not fit, limits, or a trap of a segment or the start function.
    pub fn new(mut store: impl AsContextMut, module: &Module, imports: &[Extern]) -> Result<Instance> {
        let inner = store.as_context_mut().0;
        if imports.iter().any(|import| !import.is_of(inner.id)) {
            bail!("cross-`Store` instantiation is not currently supported");
        }
        Instance::from_imports(inner, module, imports)
    }

    pub(crate) fn from_imports<T>(store: &mut StoreInner<T>, module: &Module, imports: &[Extern]) -> Result<Instance> {
        let imports: Vec<vm::handles::Extern> = imports.iter().map(|import| import.raw(&mut store.machine)).collect();
        // SAFETY: the imports are of this store (checked by the callers).
        let raw = unsafe { store.enter().instantiate(&module.loaded, &imports) };
        Ok(Instance { store: store.id, raw: raw.map_err(not_instantiated)? })
    }

    /// All exports, in the module's order.
    pub fn exports<'a, T: 'static>(&self, store: impl Into<StoreContextMut<'a, T>>) -> impl ExactSizeIterator<Item = Export<'a>> + 'a {
        let store: &'a StoreInner<T> = store.into().0;
        store.check(self.store);
        let Instance { store: id, raw } = *self;
        let module = instance_module(store, raw);
        module.exports.iter().map(move |(name, item)| Export { name, item: Extern::of(raw.item(*item), id) })
    }

    /// The export of a name.
    pub fn get_export(&self, mut store: impl AsContextMut, name: &str) -> Option<Extern> {
        let inner = store.as_context_mut().0;
        inner.check(self.store);
        Some(Extern::of(self.raw.export(name)?, inner.id))
    }

    /// The exported function of a name.
    pub fn get_func(&self, store: impl AsContextMut, name: &str) -> Option<Func> {
        self.get_export(store, name)?.into_func()
    }

    /// The exported function of a name, with its Rust types.
    ///
    /// # Errors
    /// No such function, or one of another type.
    pub fn get_typed_func<Params: WasmParams, Results: WasmResults>(
        &self,
        mut store: impl AsContextMut,
        name: &str,
    ) -> Result<TypedFunc<Params, Results>> {
        let func = self.get_func(&mut store, name).ok_or_else(|| format_err!("failed to find function export `{name}`"))?;
        func.typed(&store).map_err(|error| error.context(format!("failed to convert function `{name}` to given type")))
    }

    /// What the engine saw, decided and did for the code that this instance runs: with [`FeedbackScope::Store`](crate::FeedbackScope) its store's own,
    /// else the same as [`Module::report`].
    pub fn report(&self, mut store: impl AsContextMut) -> vm::report::Report {
        let inner = store.as_context_mut().0;
        inner.check(self.store);
        let loaded = &self.raw.instance().loaded;
        vm::report::Report::new(loaded.engine(), loaded)
    }

    /// The exported table of a name.
    pub fn get_table(&self, store: impl AsContextMut, name: &str) -> Option<Table> {
        self.get_export(store, name)?.into_table()
    }

    /// The exported memory of a name.
    pub fn get_memory(&self, store: impl AsContextMut, name: &str) -> Option<Memory> {
        self.get_export(store, name)?.into_memory()
    }

    /// The exported memory of a name that threads share.
    pub fn get_shared_memory(&self, store: impl AsContextMut, name: &str) -> Option<SharedMemory> {
        self.get_export(store, name)?.into_shared_memory()
    }

    /// The exported global of a name.
    pub fn get_global(&self, store: impl AsContextMut, name: &str) -> Option<Global> {
        self.get_export(store, name)?.into_global()
    }

    /// The exported tag of a name.
    pub fn get_tag(&self, store: impl AsContextMut, name: &str) -> Option<Tag> {
        self.get_export(store, name)?.into_tag()
    }
}

/// The module of an instance of this store.
fn instance_module<T>(_store: &StoreInner<T>, raw: InstanceRef) -> &vm::module::Module {
    // SAFETY: the instance is of this store (checked by the caller), which owns it and through it the module, and stays borrowed.
    unsafe { &*std::ptr::from_ref(&*raw.instance().module) }
}

/// A named export of an instance.
#[derive(Clone, Debug)]
pub struct Export<'a> {
    name: &'a str,
    item: Extern,
}

impl<'a> Export<'a> {
    /// Its name.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// What it is.
    pub fn into_extern(self) -> Extern {
        self.item
    }

    /// Its type.
    pub fn ty(&self, store: impl AsContext) -> ExternType {
        self.item.ty(store)
    }

    /// The function, if it is one.
    pub fn into_func(self) -> Option<Func> {
        self.item.into_func()
    }

    /// The table, if it is one.
    pub fn into_table(self) -> Option<Table> {
        self.item.into_table()
    }

    /// The memory, if it is one.
    pub fn into_memory(self) -> Option<Memory> {
        self.item.into_memory()
    }

    /// The global, if it is one.
    pub fn into_global(self) -> Option<Global> {
        self.item.into_global()
    }
}
