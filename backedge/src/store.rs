//! Stores: what one guest owns, together with the host's data; and the borrowed forms in which functions pass a store on.
//!
//! Invariants:
//! 1. A [`StoreInner`] never moves while it lives (it is boxed), and before every entry into the machine the machine is told its address
//!    ([`StoreInner::enter`]). A host function finds its store's data there.
//! 2. Functions of a `Linker<T>` or a `Store<T>` only ever come into stores of the same `T`, so that address is one of a `StoreInner<T>`.
//! 3. Handles carry the id of their store and are checked before they are used.

use crate::limits::ResourceLimiter;
use crate::{Engine, Error, Func, Result, ThrownException, WasmBacktrace, error::HostFailure, error::stopped};
use std::collections::HashMap;
use vm::handles::{FuncRef, InstanceRef};
use vm::store::{HostError, Limiter, StoreState};
use vm::trap::Traced;

/// Identity of a store, unique in the process.
pub(crate) type StoreId = u64;

/// A guest's instances, memories, tables and globals, with the host's data of type `T`.
///
/// ```
/// use backedge::{Engine, Func, Store};
///
/// let engine = Engine::default();
/// let mut store = Store::new(&engine, 41);
/// let bump = Func::wrap(&mut store, |mut caller: backedge::Caller<'_, i32>| *caller.data_mut() += 1);
/// bump.typed::<(), ()>(&store)?.call(&mut store, ())?;
/// assert_eq!(*store.data(), 42);
/// # Ok::<(), backedge::Error>(())
/// ```
pub struct Store<T: 'static> {
    pub(crate) inner: Box<StoreInner<T>>,
}

/// What a [`Store`] owns.
pub struct StoreInner<T: 'static> {
    /// Dropped first: host functions may hold what `data` refers to, never the other way round.
    pub(crate) machine: vm::store::Store,
    pub(crate) id: StoreId,
    pub(crate) engine: Engine,
    pub(crate) data: T,
    /// Host functions of linkers that are already in this store, by address of their shared closure (which the store keeps alive).
    pub(crate) linked: HashMap<usize, FuncRef>,
}

impl<T> StoreInner<T> {
    /// The machine, told where this store is; to be used at once.
    pub(crate) fn enter(&mut self) -> &mut StoreState {
        let address = std::ptr::from_mut(self).cast::<()>();
        self.machine.set_host_data(address);
        &mut self.machine
    }

    /// Calls a function with arguments in slots.
    ///
    /// # Safety
    /// The function is of this store, and the slots are as many as its type needs and hold arguments of its types.
    pub(crate) unsafe fn call(&mut self, function: FuncRef, slots: &mut [u64]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.enter().call(function, slots) }.map_err(|unwind| stopped(*unwind))
    }

    /// Panics where a handle of another store is used.
    pub(crate) fn check(&self, id: StoreId) {
        assert_eq!(self.id, id, "object used with a store that it does not belong to");
    }

    /// The `StoreInner` of a running machine.
    ///
    /// # Safety
    /// The machine is the one of a `StoreInner<T>` and was entered through [`StoreInner::enter`]; no other reference to it is used while
    /// the result lives.
    pub(crate) unsafe fn of<'a>(machine: &StoreState) -> &'a mut StoreInner<T> {
        // SAFETY: invariants 1 and 2, and the caller's promise.
        unsafe { &mut *machine.host_data().cast::<StoreInner<T>>() }
    }
}

impl<T: 'static> Store<T> {
    /// An empty store with the host's data.
    ///
    /// # Panics
    /// The system has no address space left for the wasm stack; [`Store::try_new`] returns that as an error.
    pub fn new(engine: &Engine, data: T) -> Store<T> {
        Store::try_new(engine, data).expect("failed to reserve memory for a store")
    }

    /// An empty store with the host's data.
    ///
    /// # Errors
    /// The system has no address space left for the wasm stack.
    pub fn try_new(engine: &Engine, data: T) -> Result<Store<T>> {
        let mut machine = vm::store::Store::new(&engine.vm)?;
        if engine.config.epoch_interruption {
            machine.set_epoch_deadline(0);
        }
        Ok(Store { inner: Box::new(StoreInner { id: machine.id, machine, engine: engine.clone(), data, linked: HashMap::new() }) })
    }

    /// The host's data.
    pub fn data(&self) -> &T {
        &self.inner.data
    }

    /// The host's data, to change.
    pub fn data_mut(&mut self) -> &mut T {
        &mut self.inner.data
    }

    /// Drops everything of the guest and returns the host's data.
    pub fn into_data(self) -> T {
        let StoreInner { machine, data, .. } = *self.inner;
        drop(machine);
        data
    }

    /// The engine it was made with.
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// Exceptions that were thrown and whose objects the store still has: those that a guest may hold by reference, those it held and that are not collected yet, and the latest.
    pub fn thrown_exceptions(&self) -> usize {
        self.inner.machine.exception_count()
    }

    /// The guest stops once the engine's epoch has advanced by `ticks_beyond_current` from now. Needs [`Config::epoch_interruption`](crate::Config::epoch_interruption) and does nothing without;
    /// with it and without a deadline the guest stops at once.
    ///
    /// ```
    /// use backedge::{Config, Engine, Instance, Module, Store, Trap};
    ///
    /// let engine = Engine::new(Config::new().epoch_interruption(true))?;
    /// let module = Module::new(&engine, r#"(module (func (export "spin") (loop br 0)))"#)?;
    /// let mut store = Store::new(&engine, ());
    /// store.set_epoch_deadline(1);
    /// let instance = Instance::new(&mut store, &module, &[])?;
    /// let spin = instance.get_typed_func::<(), ()>(&mut store, "spin")?;
    /// engine.increment_epoch(); // as another thread would, later
    /// let error = spin.call(&mut store, ()).unwrap_err();
    /// assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::Interrupt));
    /// # Ok::<(), backedge::Error>(())
    /// ```
    pub fn set_epoch_deadline(&mut self, ticks_beyond_current: u64) {
        self.as_context_mut().set_epoch_deadline(ticks_beyond_current);
    }

    /// At the deadline the guest traps with [`Trap::Interrupt`](crate::Trap::Interrupt): the default.
    pub fn epoch_deadline_trap(&mut self) {
        self.as_context_mut().epoch_deadline_trap();
    }

    /// At the deadline `callback` decides: a new deadline, or an error that stops the guest.
    pub fn epoch_deadline_callback(
        &mut self,
        mut callback: impl FnMut(StoreContextMut<'_, T>) -> Result<UpdateDeadline> + Send + Sync + 'static,
    ) {
        self.inner.machine.set_deadline_callback(Some(Box::new(move |machine| {
            // SAFETY: the machine is this store's (the callback is set on it alone), it runs, so it was entered, and the frames
            // below use it only after this call.
            let inner = unsafe { StoreInner::<T>::of(machine) };
            let store = inner.id;
            match callback(StoreContextMut(inner)) {
                Ok(UpdateDeadline::Continue(ticks)) => Ok(ticks),
                Err(error) => Err(host_error(error, store)),
            }
        })));
    }

    /// Registers who decides about growth: `limiter` finds it in the host's data.
    ///
    /// ```
    /// use backedge::{Engine, Memory, MemoryType, Store, StoreLimits, StoreLimitsBuilder};
    ///
    /// let limits = StoreLimitsBuilder::new().memory_size(1 << 20).build();
    /// let mut store = Store::new(&Engine::default(), limits);
    /// store.limiter(|limits| limits);
    /// let memory = Memory::new(&mut store, MemoryType::new(1, None))?;
    /// assert!(memory.grow(&mut store, 16).is_err());
    /// # Ok::<(), backedge::Error>(())
    /// ```
    pub fn limiter(&mut self, limiter: impl (FnMut(&mut T) -> &mut dyn ResourceLimiter) + Send + Sync + 'static) {
        // The data's address, and not the store's: the machine is borrowed while it asks. It does not move (invariant 1).
        let data = std::ptr::from_mut(&mut self.inner.data);
        let store = self.inner.id;
        self.inner.machine.set_limiter(Some(Box::new(LimiterBridge { data, store, limiter: std::sync::Mutex::new(Box::new(limiter)) })));
    }
}

/// An error as the machine of a store wants it: an exception of that store is thrown on, whatever context it was given; one of another store is an
/// error like any other.
pub(crate) fn host_error(error: Error, store: StoreId) -> HostError {
    match error.downcast_ref::<ThrownException>() {
        Some(thrown) if thrown.0.store == store => Box::new(thrown.0.clone()),
        _ if error.is::<WasmBacktrace>() => Box::new(Traced(Box::new(HostFailure(error)))),
        _ => Box::new(HostFailure(error)),
    }
}

type FindLimiter<T> = Box<dyn (FnMut(&mut T) -> &mut dyn ResourceLimiter) + Send + Sync>;

/// Answers the machine's questions from the limiter in the host's data.
struct LimiterBridge<T: 'static> {
    data: *mut T,
    store: StoreId,
    limiter: std::sync::Mutex<FindLimiter<T>>,
}

// SAFETY: `data` leads into the store that owns this bridge, and moves between threads only with it.
unsafe impl<T> Send for LimiterBridge<T> {}

impl<T> LimiterBridge<T> {
    fn ask<R>(&self, question: impl FnOnce(&mut dyn ResourceLimiter) -> R) -> R {
        let mut limiter = self.limiter.lock().unwrap_or_else(|e| e.into_inner());
        // SAFETY: the machine asks only while its store is mutably borrowed by the call that led here, and that call does not
        // touch the data meanwhile.
        question(limiter(unsafe { &mut *self.data }))
    }
}

impl<T> Limiter for LimiterBridge<T> {
    fn memory(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool, HostError> {
        self.ask(|limiter| limiter.memory_growing(current, desired, maximum)).map_err(|error| host_error(error, self.store))
    }

    fn table(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool, HostError> {
        self.ask(|limiter| limiter.table_growing(current, desired, maximum)).map_err(|error| host_error(error, self.store))
    }

    fn memory_failed(&mut self, reason: String) -> Result<(), HostError> {
        self.ask(|limiter| limiter.memory_grow_failed(Error::msg(reason))).map_err(|error| host_error(error, self.store))
    }

    fn table_failed(&mut self, reason: String) -> Result<(), HostError> {
        self.ask(|limiter| limiter.table_grow_failed(Error::msg(reason))).map_err(|error| host_error(error, self.store))
    }

    fn counts(&self) -> (usize, usize, usize) {
        self.ask(|limiter| (limiter.instances(), limiter.tables(), limiter.memories()))
    }
}

/// What a deadline callback decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpdateDeadline {
    /// The guest goes on; the next deadline is that many ticks away, with 0 at its next poll.
    Continue(u64),
}

/// A shared borrow of a store.
pub struct StoreContext<'a, T: 'static>(pub(crate) &'a StoreInner<T>);

/// An exclusive borrow of a store.
pub struct StoreContextMut<'a, T: 'static>(pub(crate) &'a mut StoreInner<T>);

impl<'a, T> StoreContext<'a, T> {
    /// The host's data.
    pub fn data(&self) -> &'a T {
        &self.0.data
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }
}

impl<T> StoreContextMut<'_, T> {
    /// The host's data.
    pub fn data(&self) -> &T {
        &self.0.data
    }

    /// The host's data, to change.
    pub fn data_mut(&mut self) -> &mut T {
        &mut self.0.data
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// See [`Store::set_epoch_deadline`].
    pub fn set_epoch_deadline(&mut self, ticks_beyond_current: u64) {
        if self.0.engine.config().epoch_interruption {
            self.0.machine.set_epoch_deadline(ticks_beyond_current);
        }
    }

    /// See [`Store::epoch_deadline_trap`].
    pub fn epoch_deadline_trap(&mut self) {
        self.0.machine.set_deadline_callback(None);
    }
}

/// Anything that a shared borrow of a store can be had from.
pub trait AsContext {
    /// The host's data.
    type Data: 'static;
    /// The borrow.
    fn as_context(&self) -> StoreContext<'_, Self::Data>;
}

/// Anything that an exclusive borrow of a store can be had from.
pub trait AsContextMut: AsContext {
    /// The borrow.
    fn as_context_mut(&mut self) -> StoreContextMut<'_, Self::Data>;
}

impl<T: 'static> AsContext for Store<T> {
    type Data = T;
    fn as_context(&self) -> StoreContext<'_, T> {
        StoreContext(&self.inner)
    }
}

impl<T: 'static> AsContextMut for Store<T> {
    fn as_context_mut(&mut self) -> StoreContextMut<'_, T> {
        StoreContextMut(&mut self.inner)
    }
}

impl<T: 'static> AsContext for StoreContext<'_, T> {
    type Data = T;
    fn as_context(&self) -> StoreContext<'_, T> {
        StoreContext(self.0)
    }
}

impl<T: 'static> AsContext for StoreContextMut<'_, T> {
    type Data = T;
    fn as_context(&self) -> StoreContext<'_, T> {
        StoreContext(self.0)
    }
}

impl<T: 'static> AsContextMut for StoreContextMut<'_, T> {
    fn as_context_mut(&mut self) -> StoreContextMut<'_, T> {
        StoreContextMut(self.0)
    }
}

impl<C: AsContext> AsContext for &C {
    type Data = C::Data;
    fn as_context(&self) -> StoreContext<'_, C::Data> {
        C::as_context(self)
    }
}

impl<C: AsContext> AsContext for &mut C {
    type Data = C::Data;
    fn as_context(&self) -> StoreContext<'_, C::Data> {
        C::as_context(self)
    }
}

impl<C: AsContextMut> AsContextMut for &mut C {
    fn as_context_mut(&mut self) -> StoreContextMut<'_, C::Data> {
        C::as_context_mut(self)
    }
}

impl<'a, T: 'static, C: AsContext<Data = T>> From<&'a C> for StoreContext<'a, T> {
    fn from(context: &'a C) -> StoreContext<'a, T> {
        C::as_context(context)
    }
}

impl<'a, T: 'static, C: AsContext<Data = T>> From<&'a mut C> for StoreContext<'a, T> {
    fn from(context: &'a mut C) -> StoreContext<'a, T> {
        C::as_context(context)
    }
}

impl<'a, T: 'static, C: AsContextMut<Data = T>> From<&'a mut C> for StoreContextMut<'a, T> {
    fn from(context: &'a mut C) -> StoreContextMut<'a, T> {
        C::as_context_mut(context)
    }
}

/// What a host function is given: the store it runs in, and the instance that called it.
pub struct Caller<'a, T: 'static> {
    pub(crate) store: StoreContextMut<'a, T>,
    pub(crate) instance: Option<InstanceRef>,
}

impl<T> Caller<'_, T> {
    /// An export of the calling instance; `None` where there is none of that name, or the host called.
    pub fn get_export(&mut self, name: &str) -> Option<crate::Extern> {
        let export = self.instance?.export(name)?;
        Some(crate::Extern::of(export, self.store.0.id))
    }

    /// The host's data.
    pub fn data(&self) -> &T {
        self.store.data()
    }

    /// The host's data, to change.
    pub fn data_mut(&mut self) -> &mut T {
        self.store.data_mut()
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        self.store.engine()
    }
}

impl<T: 'static> AsContext for Caller<'_, T> {
    type Data = T;
    fn as_context(&self) -> StoreContext<'_, T> {
        self.store.as_context()
    }
}

impl<T: 'static> AsContextMut for Caller<'_, T> {
    fn as_context_mut(&mut self) -> StoreContextMut<'_, T> {
        self.store.as_context_mut()
    }
}

impl<T> std::fmt::Debug for Store<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("id", &self.inner.id).finish()
    }
}

/// A function handle of a store, from the machine's.
pub(crate) fn func(raw: FuncRef, store: StoreId) -> Func {
    Func { store, raw }
}
