//! Linkers: names to definitions, so that modules can be instantiated without listing imports in order.

use crate::func::{HostFunc, IntoFunc};
use crate::store::StoreInner;
use crate::types::{ExternType, FuncType, ImportType, ValType};
use crate::{AsContext, AsContextMut, Caller, Context, Engine, Extern, Func, Instance, Module, Result, Val, bail, ensure, format_err};
use std::collections::HashMap;
use std::sync::Arc;
use vm::guest_lwp::GuestLwp;

/// Exports of a command that are no functions, and that [`Linker::module`] passes over, as wasmtime does.
const OF_COMMANDS: [&str; 7] = ["memory", "__indirect_function_table", "table", "__data_end", "__heap_base", "__dso_handle", "__rtti_base"];

/// Definitions by (module, name), for stores whose data is a `T`.
///
/// ```
/// use backedge::{Engine, Linker, Module, Store};
///
/// let engine = Engine::default();
/// let mut linker = Linker::new(&engine);
/// linker.func_wrap("host", "double", |x: i32| x * 2)?;
/// let module = Module::new(&engine, r#"
///     (module
///         (import "host" "double" (func $double (param i32) (result i32)))
///         (func (export "f") (result i32) i32.const 21 call $double))
/// "#)?;
/// let mut store = Store::new(&engine, ());
/// let instance = linker.instantiate(&mut store, &module)?;
/// let f = instance.get_typed_func::<(), i32>(&mut store, "f")?;
/// assert_eq!(f.call(&mut store, ())?, 42);
/// # Ok::<(), backedge::Error>(())
/// ```
pub struct Linker<T: 'static> {
    engine: Engine,
    definitions: HashMap<(Arc<str>, Arc<str>), Definition<T>>,
    allow_shadowing: bool,
}

/// What a name stands for: something of one store, or a host function for any store.
enum Definition<T: 'static> {
    Extern(Extern),
    Host(Arc<HostFunc<T>>),
}

impl<T> Clone for Definition<T> {
    fn clone(&self) -> Self {
        match self {
            Definition::Extern(item) => Definition::Extern(item.clone()),
            Definition::Host(func) => Definition::Host(func.clone()),
        }
    }
}

impl<T> Clone for Linker<T> {
    fn clone(&self) -> Self {
        Linker { engine: self.engine.clone(), definitions: self.definitions.clone(), allow_shadowing: self.allow_shadowing }
    }
}

impl<T: 'static> Definition<T> {
    /// Whether a host's function is what an import wants.
    fn check(&self, import: &ImportType<'_>) -> Result<()> {
        let Definition::Host(func) = self else { return Ok(()) };
        let reason = match import.ty() {
            ExternType::Func(expected) if expected.wasm == func.ty.wasm => return Ok(()),
            ExternType::Func(expected) => {
                format!("types incompatible: expected type `{}`, found type `{}`", expected.wasm, func.ty.wasm)
            }
            expected => format!("expected {expected}, found a function"),
        };
        bail!("incompatible import type for `{}::{}`: {reason}", import.module(), import.name())
    }

    fn in_store(&self, store: &mut StoreInner<T>) -> Result<Extern> {
        match self {
            Definition::Extern(item) => {
                ensure!(item.is_of(store.id), "cross-`Store` instantiation is not currently supported");
                Ok(item.clone())
            }
            Definition::Host(func) => Ok(func.clone().into_store(store).into()),
        }
    }
}

/// An import that nothing was defined for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown import: `{module}::{name}` has not been defined")]
pub struct UnknownImportError {
    module: String,
    name: String,
    ty: ExternType,
}

impl UnknownImportError {
    fn new(import: &ImportType<'_>) -> UnknownImportError {
        UnknownImportError { module: import.module().to_owned(), name: import.name().to_owned(), ty: import.ty() }
    }

    /// First name.
    pub fn module(&self) -> &str {
        &self.module
    }

    /// Second name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it must be.
    pub fn ty(&self) -> ExternType {
        self.ty.clone()
    }
}

impl<T: 'static> Linker<T> {
    /// A linker without definitions but the engine's own: a guest's LWP instructions ([`vm::guest_lwp`]), in the module `lwp`.
    pub fn new(engine: &Engine) -> Linker<T> {
        let guest_lwp = GuestLwp::ALL.map(|it| {
            let key = (vm::guest_lwp::MODULE.into(), it.name().into());
            (key, Definition::Host(Arc::new(guest_lwp(engine, it))))
        });
        Linker { engine: engine.clone(), definitions: guest_lwp.into(), allow_shadowing: false }
    }

    /// Its engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Whether a name may be defined again. Default: no.
    pub fn allow_shadowing(&mut self, allow: bool) -> &mut Linker<T> {
        self.allow_shadowing = allow;
        self
    }

    /// Defines a name as something of a store; only modules in that store can import it.
    ///
    /// # Errors
    /// The name is defined already.
    pub fn define(
        &mut self,
        _store: impl AsContext<Data = T>,
        module: &str,
        name: &str,
        item: impl Into<Extern>,
    ) -> Result<&mut Linker<T>> {
        self.insert(module, name, Definition::Extern(item.into()))
    }

    /// Defines a name of one level: the first of an import's two names, the second being empty.
    ///
    /// # Errors
    /// The name is defined already.
    pub fn define_name(&mut self, store: impl AsContext<Data = T>, name: &str, item: impl Into<Extern>) -> Result<&mut Linker<T>> {
        self.define(store, name, "", item)
    }

    /// Defines a host function on values.
    ///
    /// # Errors
    /// The name is defined already.
    pub fn func_new(
        &mut self,
        module: &str,
        name: &str,
        ty: FuncType,
        func: impl Fn(Caller<'_, T>, &[Val], &mut [Val]) -> Result<()> + Send + Sync + 'static,
    ) -> Result<&mut Linker<T>> {
        self.host_func(module, name, HostFunc::new(ty, func))
    }

    /// Defines a host function from a closure; see [`IntoFunc`].
    ///
    /// # Errors
    /// The name is defined already.
    pub fn func_wrap<Params, Args>(&mut self, module: &str, name: &str, func: impl IntoFunc<T, Params, Args>) -> Result<&mut Linker<T>> {
        self.host_func(module, name, func.into_func())
    }

    pub(crate) fn host_func(&mut self, module: &str, name: &str, func: HostFunc<T>) -> Result<&mut Linker<T>> {
        self.insert(module, name, Definition::Host(Arc::new(func)))
    }

    /// Defines all exports of an instance under a module name.
    ///
    /// # Errors
    /// A name is defined already.
    pub fn instance(&mut self, mut store: impl AsContextMut<Data = T>, module_name: &str, instance: Instance) -> Result<&mut Linker<T>> {
        for export in instance.exports(store.as_context_mut()) {
            self.insert(module_name, export.name(), Definition::Extern(export.into_extern()))?;
        }
        Ok(self)
    }

    /// Instantiates a module and defines its exports under a name. A *command* (it exports `_start`) is instantiated anew for each call of
    /// one of its functions (`_start` is what [`Linker::get_default`] finds); a *reactor* once, and its `_initialize` is called.
    ///
    /// # Errors
    /// Instantiation failed, a name is defined already, or a command exports something else than functions that is not one of those toolchains make (`memory`, `__heap_base` and the like).
    pub fn module(&mut self, mut store: impl AsContextMut<Data = T>, module_name: &str, module: &Module) -> Result<&mut Linker<T>> {
        let is_command = module.get_export("_start").is_some_and(|ty| ty.func().is_some());
        if !is_command {
            let instance = self.instantiate(&mut store, module)?;
            if let Some(initialize) = instance.get_func(&mut store, "_initialize") {
                initialize
                    .typed::<(), ()>(&store)
                    .context("loading the reactor initialization function")?
                    .call(&mut store, ())
                    .context("calling the reactor initialization function")?;
            }
            return self.instance(store, module_name, instance);
        }
        let pre = self.instantiate_pre(module)?;
        for export in module.exports() {
            let ty = match export.ty() {
                ExternType::Func(ty) => ty,
                // What toolchains export beside functions is each instance's own.
                _ if OF_COMMANDS.contains(&export.name()) => continue,
                _ => bail!("command export '{}' is not a function", export.name()),
            };
            let name = export.name().to_owned();
            let pre = pre.clone();
            self.func_new(module_name, export.name(), ty, move |mut caller, params, results| {
                let instance = pre.instantiate(&mut caller)?;
                let func = instance.get_func(&mut caller, &name).ok_or_else(|| format_err!("failed to find function export `{name}`"))?;
                func.call(&mut caller, params, results)
            })?;
        }
        Ok(self)
    }

    /// Defines a name as what another one stands for.
    ///
    /// # Errors
    /// The other is not defined, or this one is.
    pub fn alias(&mut self, module: &str, name: &str, as_module: &str, as_name: &str) -> Result<&mut Linker<T>> {
        let definition = self.find(module, name).ok_or_else(|| format_err!("no item named `{module}::{name}` defined"))?.clone();
        self.insert(as_module, as_name, definition)
    }

    /// Defines every function the module imports and the linker does not know as one that fails when called.
    ///
    /// # Errors
    /// None so far.
    pub fn define_unknown_imports_as_traps(&mut self, module: &Module) -> Result<()> {
        for import in module.imports() {
            if self.find(import.module(), import.name()).is_some() {
                continue;
            }
            if let ExternType::Func(ty) = import.ty() {
                let error = UnknownImportError::new(&import);
                self.func_new(import.module(), import.name(), ty, move |_, _, _| bail!(error.clone()))?;
            }
        }
        Ok(())
    }

    /// Defines every function the module imports and the linker does not know as one that returns zeros and nulls.
    ///
    /// # Errors
    /// A result has a type without such a value, or an import is no function.
    pub fn define_unknown_imports_as_default_values(&mut self, module: &Module) -> Result<()> {
        for import in module.imports() {
            if self.find(import.module(), import.name()).is_some() {
                continue;
            }
            let ExternType::Func(ty) = import.ty() else {
                bail!("no default value for `{}::{}`, which is no function", import.module(), import.name());
            };
            let values = ty.results().map(|ty| Val::default_for_ty(&ty)).collect::<Option<Vec<Val>>>();
            let Some(values) = values else { bail!("no default value for a result of `{}::{}`", import.module(), import.name()) };
            self.func_new(import.module(), import.name(), ty, move |_, _, results| {
                results.copy_from_slice(&values);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Instantiates a module with what is defined here.
    ///
    /// # Errors
    /// An import is not defined ([`UnknownImportError`]) or of another type, or the start function trapped.
    pub fn instantiate(&self, mut store: impl AsContextMut<Data = T>, module: &Module) -> Result<Instance> {
        self.instantiate_pre(module)?.instantiate(store.as_context_mut())
    }

    /// Resolves a module's imports once, to instantiate it often.
    ///
    /// # Errors
    /// An import is not defined ([`UnknownImportError`]), or the host's function for it has another type. (What belongs to a store is looked at in that store.)
    pub fn instantiate_pre(&self, module: &Module) -> Result<InstancePre<T>> {
        let mut definitions = Vec::with_capacity(module.imports().len());
        for import in module.imports() {
            match self.find(import.module(), import.name()) {
                Some(definition) => {
                    definition.check(&import)?;
                    definitions.push(definition.clone());
                }
                None => return Err(UnknownImportError::new(&import).into()),
            }
        }
        Ok(InstancePre { module: module.clone(), definitions: definitions.into() })
    }

    /// What a name stands for, in a store.
    pub fn get(&self, mut store: impl AsContextMut<Data = T>, module: &str, name: &str) -> Option<Extern> {
        self.find(module, name)?.in_store(store.as_context_mut().0).ok()
    }

    /// What stands for an import's names, in a store; whether it is of the import's type is not asked.
    pub fn get_by_import(&self, store: impl AsContextMut<Data = T>, import: &ImportType<'_>) -> Option<Extern> {
        self.get(store, import.module(), import.name())
    }

    /// All that is defined for a store: both names, and what they stand for. In no order; what is of another store is left out.
    pub fn iter<'a>(&'a self, mut store: impl AsContextMut<Data = T> + 'a) -> impl Iterator<Item = (&'a str, &'a str, Extern)> + 'a {
        self.definitions
            .iter()
            .filter_map(move |((module, name), definition)| Some((&**module, &**name, definition.in_store(store.as_context_mut().0).ok()?)))
    }

    /// The function that running a module by name means: its default export, or its `_start`.
    ///
    /// # Errors
    /// Neither is a function.
    pub fn get_default(&self, mut store: impl AsContextMut<Data = T>, module: &str) -> Result<Func> {
        for name in ["", "_start"] {
            if let Some(item) = self.get(&mut store, module, name) {
                return item.into_func().ok_or_else(|| format_err!("default export in '{module}' is not a function"));
            }
        }
        Ok(Func::wrap(store, || {}))
    }

    fn find(&self, module: &str, name: &str) -> Option<&Definition<T>> {
        self.definitions.get(&(module.into(), name.into()))
    }

    fn insert(&mut self, module: &str, name: &str, definition: Definition<T>) -> Result<&mut Linker<T>> {
        let key = (module.into(), name.into());
        if module == vm::guest_lwp::MODULE && GuestLwp::ALL.iter().any(|it| it.name() == name) {
            bail!("`{module}::{name}` is the engine's own");
        }
        if !self.allow_shadowing && self.definitions.contains_key(&key) {
            bail!("import of `{module}::{name}` defined twice");
        }
        self.definitions.insert(key, definition);
        Ok(self)
    }
}

/// One of a guest's LWP instructions, for where it is called rather than compiled.
fn guest_lwp<T: 'static>(engine: &Engine, which: GuestLwp) -> HostFunc<T> {
    let data2 = if which.is_wide() { ValType::I64 } else { ValType::I32 };
    let results = which.is_insert().then_some(ValType::I32);
    let ty = FuncType::new(engine, [data2, ValType::I32, ValType::I32], results);
    HostFunc::on_slots(ty, move |caller, slots| {
        let result = which.call(&mut caller.store.0.machine, [slots[0], slots[1], slots[2]]);
        if which.is_insert() {
            slots[0] = u64::from(result);
        }
        Ok(())
    })
}

/// A module whose imports are resolved; instantiates without looking names up.
pub struct InstancePre<T: 'static> {
    module: Module,
    definitions: Arc<[Definition<T>]>,
}

impl<T> Clone for InstancePre<T> {
    fn clone(&self) -> Self {
        InstancePre { module: self.module.clone(), definitions: self.definitions.clone() }
    }
}

impl<T: 'static> InstancePre<T> {
    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Instantiates it.
    ///
    /// # Errors
    /// An import is of another type or store, or the start function trapped.
    pub fn instantiate(&self, mut store: impl AsContextMut<Data = T>) -> Result<Instance> {
        let inner = store.as_context_mut().0;
        let imports = self.definitions.iter().map(|definition| definition.in_store(inner)).collect::<Result<Vec<Extern>>>()?;
        Instance::from_imports(inner, &self.module, &imports)
    }
}
