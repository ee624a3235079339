//! Stores: what one guest owns (instances, memories, tables, globals, host functions, stacks), and how instances come to be.
//!
//! Everything in a store lives as long as the store and never moves. Handles ([`FuncRef`] and the rest) are addresses into it: they are
//! meaningful only with the store they came from, which the embedding API checks by the store's id.

use crate::engine::{Engine, LoadedModule};
use crate::interp::InterpStack;
use crate::layout::{
    FunctionPlace, GlobalPlace, KIND_HOST, KIND_WASM, SWITCH_BUFFER_SLOTS, SWITCH_HEADER_BYTES, VmContext, VmFunc, VmGlobal, VmMemory,
    VmMemoryRef, VmStoreContext, VmTable, VmTableRef,
};
use crate::mapping::Mapping;
use crate::memory::{Memory, MemoryError};
use crate::module::{ConstExpr, ConstOp, ElementItems, ExportItem, ExternType, Module, SegmentMode};
use crate::runtime;
use crate::signature;
use crate::stack::WasmStack;
use crate::table::{Table, TableError};
use crate::tiering::ModuleCode;
use crate::trap::{Outcome, TrapCode, Unwind};
use std::alloc::Layout;
use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use wasmparser::{FuncType, GlobalType, MemoryType, TableType, ValType};

/// An error a host function returns.
pub type HostError = Box<dyn std::error::Error + Send + Sync>;
/// A host function: reads its arguments from the call's slots and writes its results there.
pub type HostFunction = Box<dyn Fn(HostCall<'_>) -> Result<(), HostError> + Send + Sync>;

/// What a host function is given.
pub struct HostCall<'a> {
    /// The store it runs in.
    pub store: &'a mut StoreState,
    /// The instance that called it; `None` when the host did.
    pub caller: Option<InstanceRef>,
    /// Arguments, then results; at least as many as the larger of both. Encoding: invariant 4 of [`crate::layout`].
    pub slots: &'a mut [u64],
}

macro_rules! handle {
    ($(#[$m:meta])* $name:ident, $target:ty) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(NonNull<$target>);
        // SAFETY: a handle is an address; using it needs the store, which is on one thread at a time.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}
        impl $name {
            /// The address, as wasm values and layouts hold it.
            pub fn as_ptr(self) -> *mut $target { self.0.as_ptr() }
            /// From an address, `None` for null.
            ///
            /// # Safety
            /// A non-null address is one of a live object of this kind.
            pub unsafe fn from_ptr(address: *mut $target) -> Option<Self> { NonNull::new(address).map(Self) }
        }
    };
}
handle!(
    /// A function of a store.
    FuncRef, VmFunc
);
handle!(
    /// A memory of a store.
    MemoryRef, Memory
);
handle!(
    /// A table of a store.
    TableRef, Table
);
handle!(
    /// A global of a store.
    GlobalRef, Global
);
handle!(
    /// An instance of a store.
    InstanceRef, Instance
);

/// A global and its type. The value is elsewhere for globals that live in a context.
pub struct Global {
    /// Its type.
    pub ty: GlobalType,
    value: NonNull<VmGlobal>,
    /// Keeps the value of a global the host made.
    _own: Option<Box<VmGlobal>>,
}

/// What an import is given or an export yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extern {
    /// A function.
    Func(FuncRef),
    /// A table.
    Table(TableRef),
    /// A memory.
    Memory(MemoryRef),
    /// A global.
    Global(GlobalRef),
}

/// Why a module was not instantiated.
#[derive(Debug, thiserror::Error)]
pub enum InstantiateError {
    /// Fewer or more imports than the module declares.
    #[error("expected {expected} imports, found {found}")]
    ImportCount {
        /// Declared.
        expected: usize,
        /// Given.
        found: usize,
    },
    /// An import of another kind or type.
    #[error("incompatible import type for `{module}::{name}`: {reason}")]
    ImportType {
        /// First name.
        module: String,
        /// Second name.
        name: String,
        /// Expected and found.
        reason: String,
    },
    /// A memory could not be made.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A table could not be made.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The store's limit.
    #[error("{0}")]
    Limit(String),
    /// The module belongs to another engine.
    #[error("cross-`Engine` instantiation is not supported")]
    OtherEngine,
    /// A segment was out of bounds, or the start function stopped.
    #[error("the module trapped while it was instantiated")]
    Start(Box<Unwind>),
}

/// Decides about growth; the embedding API's `ResourceLimiter` stands behind it.
pub trait Limiter: Send {
    /// May a memory have `desired` bytes?
    fn memory(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool, HostError>;
    /// May a table have `desired` entries?
    fn table(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool, HostError>;
    /// How many instances, tables and memories the store may have.
    fn counts(&self) -> (usize, usize, usize) {
        (10_000, 10_000, 10_000)
    }
}

/// What happens when a store's deadline passes.
pub type DeadlineCallback = Box<dyn FnMut(&mut StoreState) -> Result<u64, HostError> + Send>;

/// A store's insides. `context` is its first field.
#[repr(C)]
pub struct StoreState {
    pub(crate) context: VmStoreContext,
    pub(crate) interp: InterpStack,
    pub(crate) pending: Option<Box<Unwind>>,
    /// The landing is a switch to the interpreter, not a failure.
    pub(crate) leaving: bool,
    pub(crate) activations: Vec<runtime::Activation>,
    /// Unique in the process.
    pub id: u64,
    engine: Engine,
    host_data: *mut (),
    _stack: WasmStack,
    _switch_buffer: Mapping,
    pub(crate) deadline: AtomicU64,
    pub(crate) deadline_callback: Option<DeadlineCallback>,
    pub(crate) limiter: Option<Box<dyn Limiter>>,
    #[expect(clippy::vec_box, reason = "what handles and compiled code point to must not move")]
    instances: Vec<Box<Instance>>,
    #[expect(clippy::vec_box, reason = "see `instances`")]
    memories: Vec<Box<Memory>>,
    #[expect(clippy::vec_box, reason = "see `instances`")]
    tables: Vec<Box<Table>>,
    #[expect(clippy::vec_box, reason = "see `instances`")]
    globals: Vec<Box<Global>>,
    #[expect(clippy::vec_box, reason = "see `instances`")]
    hosts: Vec<Box<HostContext>>,
    externs: Vec<Box<dyn Any + Send + Sync>>,
}

/// The Rust side of an instance.
pub struct Instance {
    /// What it is an instance of.
    pub module: Arc<Module>,
    /// Its code, shared with other instances.
    pub code: Arc<ModuleCode>,
    _loaded: Arc<LoadedModule>,
    context: NonNull<VmContext>,
    layout: Layout,
    memories: Vec<MemoryRef>,
    tables: Vec<TableRef>,
    globals: Vec<GlobalRef>,
    dropped_data: Vec<bool>,
    dropped_elements: Vec<bool>,
    /// The store's, for limits on growth.
    store: *mut StoreState,
}

/// A host function: the context it is entered with, its `VmFunc`, and the closure.
pub(crate) struct HostContext {
    context: VmContext,
    func: VmFunc,
    pub(crate) ty: FuncType,
    pub(crate) function: HostFunction,
}

/// A store. Runs on one thread at a time; may move between calls.
pub struct Store(Box<StoreState>);

// SAFETY: a store's raw pointers lead into itself; host closures and data are Send by their types or by the embedding API's bounds.
unsafe impl Send for Store {}

static NEXT_STORE: AtomicU64 = AtomicU64::new(1);

impl Store {
    /// An empty store.
    pub fn new(engine: &Engine) -> std::io::Result<Store> {
        let stack = WasmStack::new(engine.config().wasm_stack_bytes)?;
        let switch_bytes = SWITCH_HEADER_BYTES as usize + SWITCH_BUFFER_SLOTS * 8;
        let switch_buffer = Mapping::reserve(switch_bytes)?;
        switch_buffer.open(0, switch_buffer.length())?;
        let context = VmStoreContext {
            wasm_sp: stack.high(),
            host_sp: 0,
            exit_fp: 0,
            entry: 0,
            lwpcb: std::ptr::null_mut(),
            switch_buffer: switch_buffer.base().cast(),
            unwinding: 0,
            trap: 0,
            trap_pc: 0,
            trap_fp: 0,
            trap_address: 0,
            stack_low: stack.low(),
            stack_high: stack.high(),
            host_limit: 0,
        };
        let mut state = Box::new(StoreState {
            context,
            interp: InterpStack::new()?,
            pending: None,
            leaving: false,
            activations: Vec::new(),
            id: NEXT_STORE.fetch_add(1, Ordering::Relaxed),
            engine: engine.clone(),
            host_data: std::ptr::null_mut(),
            _stack: stack,
            _switch_buffer: switch_buffer,
            deadline: AtomicU64::new(u64::MAX),
            deadline_callback: None,
            limiter: None,
            instances: Vec::new(),
            memories: Vec::new(),
            tables: Vec::new(),
            globals: Vec::new(),
            hosts: Vec::new(),
            externs: Vec::new(),
        });
        engine.register_store(&raw mut *state);
        Ok(Store(state))
    }
}

impl std::ops::Deref for Store {
    type Target = StoreState;
    fn deref(&self) -> &StoreState {
        &self.0
    }
}

impl std::ops::DerefMut for Store {
    fn deref_mut(&mut self) -> &mut StoreState {
        &mut self.0
    }
}

impl Drop for StoreState {
    fn drop(&mut self) {
        let this: *mut StoreState = self;
        self.engine.unregister_store(this);
    }
}

impl StoreState {
    /// The engine it was made with.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The embedder's pointer.
    pub fn host_data(&self) -> *mut () {
        self.host_data
    }

    /// Sets the embedder's pointer.
    pub fn set_host_data(&mut self, data: *mut ()) {
        self.host_data = data;
    }

    /// Who decides about growth; `None` allows what types and the system allow.
    pub fn set_limiter(&mut self, limiter: Option<Box<dyn Limiter>>) {
        self.limiter = limiter;
    }

    /// The guest stops with [`TrapCode::Interrupt`] (or the callback runs) once the engine's epoch has advanced by `ticks` from now.
    pub fn set_epoch_deadline(&mut self, ticks: u64) {
        self.deadline.store(self.engine.epoch().saturating_add(ticks), Ordering::SeqCst);
        self.clear_polls();
        if self.engine.epoch() >= self.deadline.load(Ordering::SeqCst) {
            self.ask_to_poll();
        }
    }

    /// What happens at the deadline: `None` traps; a callback returns by how many ticks the deadline moves, or an error.
    pub fn set_deadline_callback(&mut self, callback: Option<DeadlineCallback>) {
        self.deadline_callback = callback;
    }

    /// Asks all instances to leave at their next poll. Called from other threads under the engine's store lock.
    pub(crate) fn ask_to_poll(&self) {
        for instance in &self.instances {
            instance.set_polls(1);
        }
    }

    pub(crate) fn clear_polls(&self) {
        for instance in &self.instances {
            instance.set_polls(0);
        }
    }

    /// Keeps a value for the guest to hold as an `externref`; never 0.
    pub fn new_extern(&mut self, value: Box<dyn Any + Send + Sync>) -> u64 {
        self.externs.push(value);
        self.externs.len() as u64
    }

    /// The value behind an `externref`.
    pub fn extern_value(&self, handle: u64) -> Option<&(dyn Any + Send + Sync)> {
        self.externs.get((handle as usize).checked_sub(1)?).map(|value| &**value)
    }

    /// Makes a host function.
    pub fn define_function(&mut self, ty: FuncType, function: HostFunction) -> FuncRef {
        let signature = signature::id(&ty);
        let entry = self.engine.host_entry();
        let mut host = Box::new(HostContext {
            context: VmContext {
                kind: KIND_HOST,
                store: &raw mut self.context,
                caller: std::ptr::null_mut(),
                callee: 0,
                poll: AtomicU32::new(0),
                counters: std::ptr::null_mut(),
                instance: std::ptr::null_mut(),
                builtins: crate::builtins::entries(),
                reserved: 0,
            },
            func: VmFunc {
                entry: AtomicPtr::new(entry as *mut u8),
                context: std::ptr::null_mut(),
                index: 0,
                signature,
                host: std::ptr::null_mut(),
            },
            ty,
            function,
        });
        let address: *mut HostContext = &raw mut *host;
        host.context.instance = address.cast();
        host.func.context = &raw mut host.context;
        host.func.host = address.cast();
        let func = NonNull::from(&mut host.func);
        self.hosts.push(host);
        FuncRef(func)
    }

    /// Makes a memory.
    pub fn new_memory(&mut self, ty: MemoryType) -> Result<MemoryRef, InstantiateError> {
        let wanted = usize::try_from(ty.initial.saturating_mul(65536)).unwrap_or(usize::MAX);
        let maximum = ty.maximum.and_then(|pages| usize::try_from(pages.saturating_mul(65536)).ok());
        if let Some(limiter) = &mut self.limiter {
            let (_, _, most) = limiter.counts();
            if self.memories.len() >= most {
                return Err(InstantiateError::Limit(format!("resource limit exceeded: memory count too high at {}", most + 1)));
            }
            match limiter.memory(0, wanted, maximum) {
                Ok(true) => {}
                Ok(false) => return Err(MemoryError::Limit { pages: ty.initial }.into()),
                Err(error) => return Err(InstantiateError::Limit(error.to_string())),
            }
        }
        let memory = Memory::new(ty)?;
        self.memories.push(memory);
        Ok(MemoryRef(NonNull::from(&mut **self.memories.last_mut().expect("just pushed"))))
    }

    /// Makes a table filled with `init`.
    ///
    /// # Safety
    /// `init` is null or a reference of this store of the table's element type.
    pub unsafe fn new_table(&mut self, ty: TableType, init: u64) -> Result<TableRef, InstantiateError> {
        if let Some(limiter) = &mut self.limiter {
            let (_, most, _) = limiter.counts();
            if self.tables.len() >= most {
                return Err(InstantiateError::Limit(format!("resource limit exceeded: table count too high at {}", most + 1)));
            }
            match limiter.table(0, ty.initial as usize, ty.maximum.map(|maximum| maximum as usize)) {
                Ok(true) => {}
                Ok(false) => {
                    return Err(TableError::Limit { entries: ty.initial }.into());
                }
                Err(error) => return Err(InstantiateError::Limit(error.to_string())),
            }
        }
        // SAFETY: the caller's promise.
        let table = unsafe { Table::new(ty, init)? };
        self.tables.push(table);
        Ok(TableRef(NonNull::from(&mut **self.tables.last_mut().expect("just pushed"))))
    }

    /// Makes a global.
    pub fn new_global(&mut self, ty: GlobalType, value: [u64; 2]) -> GlobalRef {
        let mut own = Box::new(VmGlobal { slots: value });
        let value = NonNull::from(&mut *own);
        self.add_global(Global { ty, value, _own: Some(own) })
    }

    fn add_global(&mut self, global: Global) -> GlobalRef {
        self.globals.push(Box::new(global));
        GlobalRef(NonNull::from(&mut **self.globals.last_mut().expect("just pushed")))
    }

    /// Calls a function: arguments in `slots` from 0, results replace them. `slots` is at least as long as the larger of both.
    ///
    /// # Safety
    /// The function belongs to this store, and the slots hold values of its parameter types.
    pub unsafe fn call(&mut self, function: FuncRef, slots: &mut [u64]) -> Outcome {
        // SAFETY: the caller's promise.
        unsafe { runtime::call_from_host(self, function.as_ptr(), slots.as_mut_ptr()) }
    }

    /// Instantiates a module with its imports in order, writes its active segments and runs its start function.
    ///
    /// # Safety
    /// The imports belong to this store.
    pub unsafe fn instantiate(&mut self, loaded: &Arc<LoadedModule>, imports: &[Extern]) -> Result<InstanceRef, InstantiateError> {
        if !loaded.engine().same(&self.engine) {
            return Err(InstantiateError::OtherEngine);
        }
        let module = loaded.module.clone();
        check_imports(&module, imports)?;
        if let Some(limiter) = &self.limiter
            && self.instances.len() >= limiter.counts().0
        {
            let count = limiter.counts().0 + 1;
            return Err(InstantiateError::Limit(format!("resource limit exceeded: instance count too high at {count}")));
        }
        let layout = Layout::from_size_align(module.offsets().size().max(size_of::<VmContext>()), 64).expect("a context's size fits");
        // SAFETY: the size is not zero.
        let context = unsafe { std::alloc::alloc_zeroed(layout) }.cast::<VmContext>();
        let Some(context) = NonNull::new(context) else { std::alloc::handle_alloc_error(layout) };
        let mut instance = Box::new(Instance {
            module: module.clone(),
            code: loaded.code.clone(),
            _loaded: loaded.clone(),
            context,
            layout,
            memories: Vec::new(),
            tables: Vec::new(),
            globals: Vec::new(),
            dropped_data: vec![false; module.data.len()],
            dropped_elements: vec![false; module.elements.len()],
            store: self,
        });
        // SAFETY: the context is zeroed memory of its full size, owned here and not yet seen by anyone.
        unsafe {
            context.write(VmContext {
                kind: KIND_WASM,
                store: &raw mut self.context,
                caller: std::ptr::null_mut(),
                callee: 0,
                poll: AtomicU32::new(0),
                counters: loaded.code.counters(),
                instance: (&raw mut *instance).cast(),
                builtins: crate::builtins::entries(),
                reserved: 0,
            });
            let at = |offset: i32| context.as_ptr().cast::<u8>().add(offset as usize);
            let offsets = module.offsets();
            let mut function = 0;
            for import in imports {
                match *import {
                    Extern::Func(func) => {
                        let FunctionPlace::Pointer(place) = offsets.function(function) else { unreachable!("imports come first") };
                        at(place).cast::<*mut VmFunc>().write(func.as_ptr());
                        function += 1;
                    }
                    Extern::Global(global) => {
                        let GlobalPlace::Pointer(place) = offsets.global(instance.globals.len() as u32) else {
                            unreachable!("imports come first")
                        };
                        at(place).cast::<*mut VmGlobal>().write(global.0.as_ref().value.as_ptr());
                        instance.globals.push(global);
                    }
                    Extern::Memory(memory) => instance.memories.push(memory),
                    Extern::Table(table) => instance.tables.push(table),
                }
            }
            for index in module.imported_functions..module.functions.len() as u32 {
                let FunctionPlace::Inline(place) = offsets.function(index) else { unreachable!("own functions follow imports") };
                at(place).cast::<VmFunc>().write(VmFunc {
                    entry: AtomicPtr::new(std::ptr::null_mut()),
                    context: context.as_ptr(),
                    index,
                    signature: loaded.code.signature(index),
                    host: std::ptr::null_mut(),
                });
            }
            // Entries are filled in, and kept up to date from here on, under the code's lock.
            loaded.code.register_instance(context.as_ptr());
        }
        let reference = InstanceRef(NonNull::from(&mut *instance));
        // From here on the store owns the instance, also when a later step fails: parts of it may be visible already.
        let engine = self.engine.clone();
        engine.with_stores_locked(|| self.instances.push(instance));
        // SAFETY: the instance was just pushed and is not otherwise borrowed.
        unsafe { self.initialize(reference) }?;
        Ok(reference)
    }

    /// Everything of instantiation that needs the index spaces.
    ///
    /// # Safety
    /// `instance` is one of this store, its functions and imports in place.
    unsafe fn initialize(&mut self, reference: InstanceRef) -> Result<(), InstantiateError> {
        let instance = reference.as_ptr();
        // SAFETY: the caller's promise; raw field accesses are short and never overlap a call that touches the instance.
        unsafe {
            let module = (*instance).module.clone();
            let context = (*instance).context.as_ptr();
            let at = |offset: i32| context.cast::<u8>().add(offset as usize);
            let offsets = module.offsets().clone();
            for (own, global) in module.global_inits.iter().enumerate() {
                let value = evaluate(instance, &global.init);
                let GlobalPlace::Inline(place) = offsets.global(module.imported_globals + own as u32) else {
                    unreachable!("own globals follow imports")
                };
                let slot = at(place).cast::<VmGlobal>();
                slot.write(VmGlobal { slots: value });
                let handle = self.add_global(Global { ty: global.ty, value: NonNull::new(slot).expect("inside the context"), _own: None });
                (*instance).globals.push(handle);
            }
            for table in &module.table_inits {
                let init = table.init.as_ref().map_or(0, |init| evaluate(instance, init)[0]);
                let handle = self.new_table(table.ty, init)?;
                (*instance).tables.push(handle);
            }
            for (index, handle) in (*instance).tables.iter().enumerate() {
                let table: *mut VmTable = handle.0.as_ref().vm();
                at(offsets.table(index as u32)).cast::<VmTableRef>().write(VmTableRef { base: (*table).base, table });
            }
            for ty in &module.memories[module.imported_memories as usize..] {
                let handle = self.new_memory(*ty)?;
                (*instance).memories.push(handle);
            }
            for (index, handle) in (*instance).memories.iter().enumerate() {
                let memory: *mut VmMemory = handle.0.as_ref().vm();
                at(offsets.memory(index as u32)).cast::<VmMemoryRef>().write(VmMemoryRef { base: (*memory).base, memory });
            }
            let trapped = |code| InstantiateError::Start(Box::new(Unwind::Trap { code, frames: Vec::new() }));
            for (segment, element) in module.elements.iter().enumerate() {
                if let SegmentMode::Active { index, offset } = &element.mode {
                    let start = evaluate(instance, offset)[0];
                    let count = element.items.len() as u64;
                    (*instance).table_init(*index, segment as u32, start, 0, count).map_err(trapped)?;
                }
                if !matches!(element.mode, SegmentMode::Passive) {
                    (*instance).elem_drop(segment as u32);
                }
            }
            for (segment, data) in module.data.iter().enumerate() {
                if let SegmentMode::Active { index, offset } = &data.mode {
                    let start = evaluate(instance, offset)[0];
                    (*instance).memory_init(*index, segment as u32, start, 0, data.range.len() as u64).map_err(trapped)?;
                    (*instance).data_drop(segment as u32);
                }
            }
            if let Some(start) = module.start {
                let function = (*instance).function(start);
                let mut slots = [0; 1];
                self.call(function, &mut slots).map_err(InstantiateError::Start)?;
            }
        }
        Ok(())
    }
}

impl ElementItems {
    /// How many elements.
    pub fn len(&self) -> usize {
        match self {
            ElementItems::Functions(functions) => functions.len(),
            ElementItems::Expressions(expressions) => expressions.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Evaluates a constant expression to the slots of its value.
///
/// # Safety
/// The instance's functions, imported globals and the globals before this expression are in place.
unsafe fn evaluate(instance: *const Instance, expression: &ConstExpr) -> [u64; 2] {
    let mut stack: Vec<[u64; 2]> = Vec::with_capacity(4);
    for op in &expression.ops {
        let value = match *op {
            ConstOp::I32(value) => [u64::from(value), 0],
            ConstOp::I64(value) => [value, 0],
            ConstOp::V128(value) => [value as u64, (value >> 64) as u64],
            ConstOp::RefNull => [0, 0],
            // SAFETY: the caller's promise; validation put the index in range.
            ConstOp::RefFunc(index) => unsafe { [(*instance).function(index).as_ptr() as u64, 0] },
            // SAFETY: as above.
            ConstOp::GlobalGet(index) => unsafe { (&(*instance).globals)[index as usize].get() },
            ConstOp::I32Add | ConstOp::I32Sub | ConstOp::I32Mul | ConstOp::I64Add | ConstOp::I64Sub | ConstOp::I64Mul => {
                let right = stack.pop().expect("validated")[0];
                let left = stack.pop().expect("validated")[0];
                let (l, r) = (left as u32, right as u32);
                let result = match *op {
                    ConstOp::I32Add => u64::from(l.wrapping_add(r)),
                    ConstOp::I32Sub => u64::from(l.wrapping_sub(r)),
                    ConstOp::I32Mul => u64::from(l.wrapping_mul(r)),
                    ConstOp::I64Add => left.wrapping_add(right),
                    ConstOp::I64Sub => left.wrapping_sub(right),
                    _ => left.wrapping_mul(right),
                };
                [result, 0]
            }
        };
        stack.push(value);
    }
    stack.pop().expect("validated")
}

fn check_imports(module: &Module, imports: &[Extern]) -> Result<(), InstantiateError> {
    if module.imports.len() != imports.len() {
        return Err(InstantiateError::ImportCount { expected: module.imports.len(), found: imports.len() });
    }
    for (import, given) in module.imports.iter().zip(imports) {
        let mismatch = |reason: String| InstantiateError::ImportType { module: import.module.clone(), name: import.name.clone(), reason };
        let fits = match (&import.ty, given) {
            (ExternType::Func(ty), Extern::Func(func)) => {
                let (expected, found) = (&module.types[*ty as usize], func.ty());
                if *expected == found {
                    Ok(())
                } else {
                    Err(format!("types incompatible: expected type `{expected}`, found type `{found}`"))
                }
            }
            (ExternType::Global(expected), Extern::Global(global)) => {
                let found = global.ty();
                let same =
                    if expected.mutable { expected == &found } else { !found.mutable && expected.content_type == found.content_type };
                if same { Ok(()) } else { Err(format!("expected global of type {expected:?}, found {found:?}")) }
            }
            (ExternType::Memory(expected), Extern::Memory(memory)) => limits(
                "memory",
                (expected.initial, expected.maximum),
                (memory.pages(), memory.ty().maximum),
                expected.memory64 == memory.ty().memory64 && expected.shared == memory.ty().shared,
            ),
            (ExternType::Table(expected), Extern::Table(table)) => limits(
                "table",
                (expected.initial, expected.maximum),
                (table.length(), table.ty().maximum),
                expected.element_type == table.ty().element_type && expected.table64 == table.ty().table64,
            ),
            (expected, _) => {
                let expected = match expected {
                    ExternType::Func(_) => "function",
                    ExternType::Table(_) => "table",
                    ExternType::Memory(_) => "memory",
                    ExternType::Global(_) => "global",
                };
                let found = match given {
                    Extern::Func(_) => "function",
                    Extern::Table(_) => "table",
                    Extern::Memory(_) => "memory",
                    Extern::Global(_) => "global",
                };
                Err(format!("expected {expected}, found {found}"))
            }
        };
        fits.map_err(mismatch)?;
    }
    Ok(())
}

fn limits(kind: &str, expected: (u64, Option<u64>), found: (u64, Option<u64>), same_kind: bool) -> Result<(), String> {
    if !same_kind {
        return Err(format!("{kind} types incompatible"));
    }
    let most = expected.1.is_none_or(|most| found.1.is_some_and(|given| given <= most));
    if found.0 >= expected.0 && most {
        Ok(())
    } else {
        Err(format!("{kind} types incompatible: expected limits {expected:?}, found {found:?}"))
    }
}

impl Instance {
    /// The context its code runs with.
    pub fn context(&self) -> *mut VmContext {
        self.context.as_ptr()
    }

    /// Writes all its poll words.
    fn set_polls(&self, value: u32) {
        let offsets = self.module.offsets();
        // SAFETY: the context lives as long as this instance; all these words are atomics inside it.
        unsafe {
            (*self.context.as_ptr()).poll.store(value, Ordering::Release);
            for own in 0..offsets.function_count() {
                poll_word(self.context.as_ptr(), offsets.poll(own)).store(value, Ordering::Release);
            }
        }
    }

    /// A function of its index space.
    pub fn function(&self, index: u32) -> FuncRef {
        let base = self.context.as_ptr().cast::<u8>();
        // SAFETY: the offset of a function of this module lies inside the context; an imported one's pointer was checked at instantiation.
        unsafe {
            FuncRef(match self.module.offsets().function(index) {
                FunctionPlace::Inline(offset) => NonNull::new_unchecked(base.add(offset as usize).cast()),
                FunctionPlace::Pointer(offset) => NonNull::new_unchecked(base.add(offset as usize).cast::<*mut VmFunc>().read()),
            })
        }
    }

    /// A memory of its index space.
    pub fn memory(&self, index: u32) -> MemoryRef {
        self.memories[index as usize]
    }

    /// A table of its index space.
    pub fn table(&self, index: u32) -> TableRef {
        self.tables[index as usize]
    }

    pub(crate) fn table_init(&self, table: u32, segment: u32, to: u64, from: u64, count: u64) -> Result<(), TrapCode> {
        let items = &self.module.elements[segment as usize].items;
        let length = if self.dropped_elements[segment as usize] { 0 } else { items.len() as u64 };
        let table = self.table(table);
        let table = table.table();
        let end = from.checked_add(count).filter(|&end| end <= length).ok_or(TrapCode::TableOutOfBounds)?;
        to.checked_add(count).filter(|&end| end <= table.length()).ok_or(TrapCode::TableOutOfBounds)?;
        for (at, item) in (to..).zip(from as usize..end as usize) {
            let reference = match items {
                ElementItems::Functions(functions) => self.function(functions[item]).as_ptr() as u64,
                // SAFETY: segments are evaluated after everything they may name is in place.
                ElementItems::Expressions(expressions) => unsafe { evaluate(self, &expressions[item])[0] },
            };
            // SAFETY: validated to be of the table's type, of this store.
            unsafe { table.set(at, reference) }.ok_or(TrapCode::TableOutOfBounds)?;
        }
        Ok(())
    }

    pub(crate) fn elem_drop(&mut self, segment: u32) {
        self.dropped_elements[segment as usize] = true;
    }

    pub(crate) fn memory_init(&self, memory: u32, segment: u32, to: u64, from: u64, count: u64) -> Result<(), TrapCode> {
        let range = if self.dropped_data[segment as usize] { 0..0 } else { self.module.data[segment as usize].range.clone() };
        let bytes = &self.module.bytes()[range];
        let memory = self.memory(memory);
        let memory = memory.memory();
        let end = from.checked_add(count).filter(|&end| end <= bytes.len() as u64).ok_or(TrapCode::MemoryOutOfBounds)?;
        to.checked_add(count).filter(|&end| end <= memory.length() as u64).ok_or(TrapCode::MemoryOutOfBounds)?;
        let source = &bytes[from as usize..end as usize];
        // SAFETY: the target range is inside the memory (checked).
        unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), memory.base().add(to as usize), source.len()) };
        Ok(())
    }

    pub(crate) fn data_drop(&mut self, segment: u32) {
        self.dropped_data[segment as usize] = true;
    }

    pub(crate) fn store(&self) -> *mut StoreState {
        self.store
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.code.unregister_instance(self.context.as_ptr());
        // SAFETY: allocated with this layout in `instantiate`; no code of this store runs any more.
        unsafe { std::alloc::dealloc(self.context.as_ptr().cast(), self.layout) };
    }
}

// The handles' methods: each is used only with its store alive, which the embedding API ensures.

impl InstanceRef {
    /// The instance.
    pub fn instance(&self) -> &Instance {
        // SAFETY: instances live as long as their store, and handles are used only with it.
        unsafe { self.0.as_ref() }
    }

    /// What the module exports under a name.
    pub fn export(self, name: &str) -> Option<Extern> {
        let instance = self.instance();
        let (_, item) = instance.module.exports.iter().find(|(export, _)| export == name)?;
        Some(self.item(*item))
    }

    /// An item of its index spaces.
    pub fn item(self, item: ExportItem) -> Extern {
        let instance = self.instance();
        match item {
            ExportItem::Func(index) => Extern::Func(instance.function(index)),
            ExportItem::Table(index) => Extern::Table(instance.table(index)),
            ExportItem::Memory(index) => Extern::Memory(instance.memory(index)),
            ExportItem::Global(index) => Extern::Global(instance.globals[index as usize]),
        }
    }
}

impl FuncRef {
    /// Its type.
    pub fn ty(self) -> FuncType {
        // SAFETY: see above; the signature never changes.
        signature::of(unsafe { self.0.as_ref() }.signature)
    }
}

impl MemoryRef {
    fn memory(&self) -> &Memory {
        // SAFETY: see above.
        unsafe { self.0.as_ref() }
    }

    /// First byte.
    pub fn base(self) -> *mut u8 {
        self.memory().base()
    }

    /// Bytes accessible.
    pub fn length(self) -> usize {
        self.memory().length()
    }

    /// Pages accessible.
    pub fn pages(self) -> u64 {
        self.memory().pages()
    }

    /// Its declared type.
    pub fn ty(self) -> MemoryType {
        self.memory().ty()
    }

    /// Grows by `delta` pages if the type, the system and the store's limiter allow it: the old size in pages, or `None`.
    ///
    /// # Errors
    /// The limiter's.
    pub fn grow(self, store: &mut StoreState, delta: u64) -> Result<Option<u64>, HostError> {
        let memory = self.memory();
        if delta > 0
            && let Some(limiter) = &mut store.limiter
        {
            let bytes = |pages: u64| usize::try_from(pages.checked_mul(65536)?).ok();
            let Some(desired) = memory.pages().checked_add(delta).and_then(bytes) else {
                return Ok(None);
            };
            if !limiter.memory(memory.length(), desired, memory.ty().maximum.and_then(bytes))? {
                return Ok(None);
            }
        }
        Ok(memory.grow(delta))
    }
}

impl TableRef {
    fn table(&self) -> &Table {
        // SAFETY: see above.
        unsafe { self.0.as_ref() }
    }

    /// Entries in use.
    pub fn length(self) -> u64 {
        self.table().length()
    }

    /// Its declared type.
    pub fn ty(self) -> TableType {
        self.table().ty()
    }

    /// The reference at `index`.
    pub fn get(self, index: u64) -> Option<u64> {
        self.table().get(index)
    }

    /// Writes one entry.
    ///
    /// # Safety
    /// The reference is null or of this store and the element type.
    pub unsafe fn set(self, index: u64, reference: u64) -> Option<()> {
        // SAFETY: the caller's promise.
        unsafe { self.table().set(index, reference) }
    }

    /// Writes `count` entries.
    ///
    /// # Safety
    /// As [`TableRef::set`].
    pub unsafe fn fill(self, start: u64, reference: u64, count: u64) -> Option<()> {
        // SAFETY: the caller's promise.
        unsafe { self.table().fill(start, reference, count) }
    }

    /// Copies entries.
    pub fn copy_from(self, start: u64, source: TableRef, source_start: u64, count: u64) -> Option<()> {
        self.table().copy_from(start, source.table(), source_start, count)
    }

    /// Appends entries if the type and the store's limiter allow it: the old length, or `None`.
    ///
    /// # Errors
    /// The limiter's.
    ///
    /// # Safety
    /// As [`TableRef::set`].
    pub unsafe fn grow(self, store: &mut StoreState, delta: u64, reference: u64) -> Result<Option<u64>, HostError> {
        let table = self.table();
        if delta > 0
            && let Some(limiter) = &mut store.limiter
        {
            let entries = |count: u64| usize::try_from(count).ok();
            let Some(desired) = table.length().checked_add(delta).and_then(entries) else {
                return Ok(None);
            };
            if !limiter.table(table.length() as usize, desired, table.ty().maximum.and_then(entries))? {
                return Ok(None);
            }
        }
        // SAFETY: the caller's promise.
        Ok(unsafe { table.grow(delta, reference) })
    }
}

impl GlobalRef {
    /// Its type.
    pub fn ty(self) -> GlobalType {
        // SAFETY: see above.
        unsafe { self.0.as_ref() }.ty
    }

    /// Its value.
    pub fn get(self) -> [u64; 2] {
        // SAFETY: see above; the value lives in the store.
        unsafe { (*self.0.as_ref().value.as_ptr()).slots }
    }

    /// Sets its value.
    ///
    /// # Safety
    /// The global is mutable and the value of its type, references of this store.
    pub unsafe fn set(self, value: [u64; 2]) {
        // SAFETY: see above.
        unsafe { (*self.0.as_ref().value.as_ptr()).slots = value };
    }
}

/// The `VmFunc` of a host function, from its context.
///
/// # Safety
/// `context` is the live context of a host function.
pub(crate) unsafe fn host_func<'a>(context: *mut VmContext) -> &'a VmFunc {
    // SAFETY: the caller's promise; `instance` of a host context is its `HostContext`.
    unsafe { &(*(*context).instance.cast::<HostContext>()).func }
}

/// The poll word at an offset that `VmOffsets::poll` gave.
///
/// # Safety
/// `context` is live and the offset is of its module.
pub(crate) unsafe fn poll_word<'a>(context: *mut VmContext, offset: i32) -> &'a AtomicU32 {
    // SAFETY: the caller's promise; the word is inside the context's allocation and 4-byte aligned.
    unsafe { &*context.byte_add(offset as usize).cast::<AtomicU32>() }
}

/// Slots a value of a type takes.
pub fn slots_of(ty: ValType) -> usize {
    if ty == ValType::V128 { 2 } else { 1 }
}

/// Slots a call of a type needs: the larger of its parameters and its results, at least one.
pub fn call_slots(ty: &FuncType) -> usize {
    let count = |types: &[ValType]| types.iter().map(|&ty| slots_of(ty)).sum::<usize>();
    count(ty.params()).max(count(ty.results())).max(1)
}

/// Slots the results of a type take.
pub fn result_slots(ty: &FuncType) -> usize {
    ty.results().iter().map(|&ty| slots_of(ty)).sum()
}
