//! Stores: what one guest owns (instances, memories, tables, globals, host functions, stacks), and how instances come to be.
//!
//! Everything in a store lives as long as the store and never moves. Handles ([`FuncRef`] and the rest) are addresses into it: they are
//! meaningful only with the store they came from, which the embedding API checks by the store's id.

use crate::burst::{Open, StoreBurst};
use crate::bytecode::frame::slots_of_all;
use crate::engine::{Engine, FeedbackScope, LoadedModule};
use crate::exception::{Exceptions, Tag};
use crate::handles::{FuncRef, GlobalRef, InstanceRef, MemoryRef, TableRef, TagRef};
use crate::instance::{Instance, InstantiateError};
use crate::interp::InterpStack;
use crate::layout::{
    BURST_WORDS, KIND_HOST, SWITCH_BUFFER_SLOTS, SWITCH_HEADER_BYTES, VmContext, VmContextHead, VmFunc, VmGlobal, VmOffsets,
    VmStoreContext, asked, head,
};
use crate::mapping::{Mapping, PAGE};
use crate::memory::{Memory, MemoryError, Room};
use crate::runtime;
use crate::signature;
use crate::stack::WasmStack;
use crate::table::{Table, TableError};
use crate::threads::Sleepers;
use crate::trap::{Outcome, Unwind};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use wasmparser::{FuncType, GlobalType, MemoryType, TableType};

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

/// A global and its type. The value is elsewhere for globals that live in a context.
pub struct Global {
    /// Its type.
    pub ty: GlobalType,
    pub(crate) value: NonNull<VmGlobal>,
    /// Keeps the value of a global the host made.
    #[expect(dead_code, reason = "held for its memory")]
    pub(crate) own: Option<Box<VmGlobal>>,
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
    /// A memory that was allowed to grow did not, for the reason given. `Err` ends the guest.
    fn memory_failed(&mut self, _reason: String) -> Result<(), HostError> {
        Ok(())
    }
    /// The same of a table.
    fn table_failed(&mut self, _reason: String) -> Result<(), HostError> {
        Ok(())
    }
}

/// What happens when a store's deadline passes.
pub type DeadlineCallback = Box<dyn FnMut(&mut StoreState) -> Result<u64, HostError> + Send>;

/// What a deadline's callback says, or its panic.
pub(crate) type Asked<T> = std::thread::Result<Result<T, HostError>>;

/// Asks it.
pub(crate) fn ask_callback(store: &mut StoreState, callback: &mut DeadlineCallback) -> Asked<u64> {
    catch_unwind(AssertUnwindSafe(|| callback(store)))
}

/// A store's insides. `context` is its first field.
#[repr(C)]
pub struct StoreState {
    pub(crate) context: VmStoreContext,
    pub(crate) interp: InterpStack,
    pub(crate) pending: Option<Box<Unwind>>,
    /// The landing is a switch to the interpreter, not a failure: the context of the functions whose frames are in the switch buffer. Else null.
    pub(crate) left: *mut VmContext,
    pub(crate) activations: Vec<runtime::Activation>,
    pub(crate) exceptions: Exceptions,
    /// Address in the frame of the host's call that is outermost: nothing of this store's lies above it on the host's stack.
    pub(crate) host_stack_top: usize,
    /// How many host functions under way have handed the store to another thread: the outer threads' stacks are not known then.
    pub(crate) moved: u32,
    /// Arguments of a call that takes the place of the activation that ends.
    pub(crate) tail_arguments: Vec<u64>,
    /// Calls of host functions so far: a trial does not count blocks that hold one.
    pub(crate) host_calls: u64,
    /// Whether wasm runs, or may be about to: see `tiering::retire`.
    running: AtomicBool,
    /// Retire epoch at which its frames were last reported.
    reported: AtomicU64,
    /// The burst under way and this thread's predictor, from the first burst on.
    pub(crate) burst: Option<Box<StoreBurst>>,
    /// Unique in the process.
    pub id: u64,
    engine: Engine,
    host_data: *mut (),
    pub(crate) stack: WasmStack,
    /// The switch buffer, then the burst buffer.
    _switch_buffer: Mapping,
    /// Switch buffers that wait, with the frames of code that a deadline's callback interrupted: see [`StoreState::with_another_switch_buffer`].
    suspended: Vec<*const u64>,
    /// Switch buffers that nothing is in.
    spare: Vec<Mapping>,
    pub(crate) deadline: AtomicU64,
    /// Behind a pointer of their own: while a guest sleeps, a callback may have the whole store.
    pub(crate) sleepers: Arc<Sleepers>,
    pub(crate) deadline_callback: Option<DeadlineCallback>,
    /// So many were set.
    deadline_callbacks_set: u64,
    pub(crate) limiter: Option<Box<dyn Limiter>>,
    #[expect(clippy::vec_box, reason = "what handles and compiled code point to must not move")]
    pub(crate) instances: Vec<Box<Instance>>,
    memories: Vec<Arc<Memory>>,
    #[expect(clippy::vec_box, reason = "see `instances`")]
    tables: Vec<Box<Table>>,
    #[expect(clippy::vec_box, reason = "see `instances`")]
    globals: Vec<Box<Global>>,
    #[expect(clippy::vec_box, reason = "see `instances`")]
    tags: Vec<Box<Tag>>,
    #[expect(clippy::vec_box, reason = "see `instances`")]
    hosts: Vec<Box<HostContext>>,
    externs: Vec<Box<dyn Any + Send + Sync>>,
    /// Modules with this store's own code: [`FeedbackScope::Store`](crate::engine::FeedbackScope).
    own_code: Vec<Arc<LoadedModule>>,
    /// Ticks of a sampler's timer that wait for a place where all frames are whole.
    samples_due: AtomicU32,
    /// An event was recorded since the last poll that left a record ([`EngineConfig::poll_records`](crate::engine::EngineConfig)).
    pub(crate) poll_due: bool,
}

/// Bytes of a switch buffer.
const SWITCH_BYTES: usize = SWITCH_HEADER_BYTES as usize + SWITCH_BUFFER_SLOTS * 8;

/// A host function: the context it is entered with, its `VmFunc`, and the closure.
pub(crate) struct HostContext {
    head: VmContextHead,
    func: VmFunc,
    pub(crate) ty: FuncType,
    pub(crate) function: HostFunction,
}

/// A store. Runs on one thread at a time; may move between calls, and what is read of it may be read on several threads.
pub struct Store(Box<StoreState>);

// SAFETY: a store's raw pointers lead into itself; host closures and data are Send by their types or by the embedding API's bounds.
unsafe impl Send for Store {}
// SAFETY: a shared reference reads. Guests run, and instances, memories, tables and all else come and grow, by exclusive references; that `Store` is no `Clone` and a host function gets its
// store exclusively makes that hold while a guest runs, too. What a shared reference writes is atomic or behind a lock (`running`, `reported`, the deadline, the polls, the samples due, the sleepers), for the engine's
// threads do it to stores that run (`StorePointer`). Of what is in it and not Sync (the limiter, the deadline's callback, what is pending) no method of `&self` gives anything out; the host's values are Sync by
// their bounds, and raw pointers are handed out as such (`host_data`).
unsafe impl Sync for Store {}

static NEXT_STORE: AtomicU64 = AtomicU64::new(1);

impl Store {
    /// An empty store.
    pub fn new(engine: &Engine) -> std::io::Result<Store> {
        let stack = WasmStack::new(engine.config().wasm_stack_bytes)?;
        let switch_bytes = SWITCH_BYTES.next_multiple_of(PAGE);
        let switch_buffer = Mapping::reserve(switch_bytes + BURST_WORDS * 8)?;
        switch_buffer.open(0, switch_buffer.length())?;
        let (burst_limit, burst_timing) = engine.shared().burst_start();
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
            values_left: 0,
            values_granted: 0,
            landing_pc: 0,
            landing_sp: 0,
            landing_fp: 0,
            landing_object: 0,
            stack_low: stack.low(),
            stack_high: stack.high(),
            host_limit: 0,
            rounds: 1,
            guard_countdown: engine.config().stress.fail_guards.saturating_sub(1),
            burst_index: 0,
            burst_limit,
            burst_timing,
            burst_registers: 0,
            burst_buffer: switch_buffer.base().wrapping_add(switch_bytes).cast(),
            instructions_interpreted: 0,
            instructions_compiled: 0,
        };
        let mut state = Box::new(StoreState {
            context,
            interp: InterpStack::new()?,
            pending: None,
            left: std::ptr::null_mut(),
            activations: Vec::new(),
            exceptions: Exceptions::default(),
            host_stack_top: 0,
            moved: 0,
            tail_arguments: Vec::new(),
            host_calls: 0,
            running: AtomicBool::new(false),
            reported: AtomicU64::new(0),
            burst: None,
            id: NEXT_STORE.fetch_add(1, Ordering::Relaxed),
            engine: engine.clone(),
            host_data: std::ptr::null_mut(),
            stack,
            _switch_buffer: switch_buffer,
            suspended: Vec::new(),
            spare: Vec::new(),
            deadline: AtomicU64::new(u64::MAX),
            sleepers: Arc::default(),
            deadline_callback: None,
            deadline_callbacks_set: 0,
            limiter: None,
            instances: Vec::new(),
            memories: Vec::new(),
            tables: Vec::new(),
            globals: Vec::new(),
            tags: Vec::new(),
            hosts: Vec::new(),
            externs: Vec::new(),
            own_code: Vec::new(),
            samples_due: AtomicU32::new(0),
            poll_due: false,
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
        let engine = self.engine.clone();
        engine.shared().count_exactly(self);
        engine.shared().take_instructions(self);
    }
}

impl StoreState {
    /// The burst under way.
    pub(crate) fn open_burst(&self) -> Option<&Open> {
        self.burst.as_ref()?.open.as_ref()
    }

    /// The engine it was made with.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The wasm frames that are live, innermost first: below a host function those of its callers, else none.
    pub fn frames(&self) -> Vec<crate::trap::Frame> {
        // SAFETY: whoever has the store by reference runs in the place of its code, whose frames lie still.
        unsafe { crate::backtrace::backtrace_from(self, None) }
    }

    /// The module with the code that this store's instances run.
    ///
    /// # Errors
    /// Code memory has no room for it.
    pub(crate) fn with_its_code(&mut self, loaded: &Arc<LoadedModule>) -> Result<Arc<LoadedModule>, String> {
        if self.engine.config().feedback_scope == FeedbackScope::Module {
            return Ok(loaded.clone());
        }
        if let Some(own) = self.own_code.iter().find(|own| Arc::ptr_eq(&own.module, &loaded.module)) {
            return Ok(own.clone());
        }
        let own = self.engine.with_own_code(loaded)?;
        self.own_code.push(own.clone());
        Ok(own)
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
        if self.is_past_deadline() {
            self.ask_to_poll();
        }
    }

    /// Whether the engine's epoch has come to the deadline.
    pub(crate) fn is_past_deadline(&self) -> bool {
        self.engine.epoch() >= self.deadline.load(Ordering::SeqCst)
    }

    /// The epoch at which the guest stops, if there is one.
    pub fn epoch_deadline(&self) -> Option<u64> {
        let deadline = self.deadline.load(Ordering::SeqCst);
        (deadline != u64::MAX).then_some(deadline)
    }

    /// What a host function does that waits past the deadline: the callback moves it, or the guest stops.
    ///
    /// # Errors
    /// The callback's, or [`TrapCode::Interrupt`](crate::trap::TrapCode::Interrupt) without one.
    pub fn at_deadline(&mut self) -> Result<(), HostError> {
        let decided = self.ask_at_deadline(ask_callback).ok_or(crate::trap::TrapCode::Interrupt)?;
        decided.unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Has `ask` ask the callback about the deadline that has passed, and moves it as that says; else it stays. Meanwhile, for the callback may call the guest, there is none, unless the
    /// callback sets one. `None` without a callback; it may set another one, or none.
    pub(crate) fn ask_at_deadline(&mut self, ask: impl FnOnce(&mut StoreState, &mut DeadlineCallback) -> Asked<u64>) -> Option<Asked<()>> {
        let mut callback = self.deadline_callback.take()?;
        let set = self.deadline_callbacks_set;
        let deadline = std::mem::replace(self.deadline.get_mut(), u64::MAX);
        let decided = ask(self, &mut callback);
        if self.deadline_callbacks_set == set {
            self.deadline_callback = Some(callback);
        }
        if let Ok(Ok(ticks)) = decided {
            self.set_epoch_deadline(ticks);
        } else {
            *self.deadline.get_mut() = deadline;
            self.ask_to_poll();
        }
        Some(decided.map(|decided| decided.map(drop)))
    }

    /// What happens at the deadline: `None` traps; a callback returns by how many ticks the deadline moves, or an error.
    pub fn set_deadline_callback(&mut self, callback: Option<DeadlineCallback>) {
        self.deadline_callback = callback;
        self.deadline_callbacks_set += 1;
    }

    /// Whether wasm runs in it, or may be about to.
    pub(crate) fn runs(&self) -> bool {
        self.running.load(Ordering::SeqCst)
    }

    /// Says so, before any code address is read, and when all frames are gone.
    pub(crate) fn set_running(&self, running: bool) {
        self.running.store(running, Ordering::SeqCst);
    }

    /// The retire epoch of its last report.
    pub(crate) fn reported(&self) -> u64 {
        self.reported.load(Ordering::Acquire)
    }

    pub(crate) fn set_reported(&self, epoch: u64) {
        self.reported.store(epoch, Ordering::Release);
    }

    /// Asks all instances to leave at their next poll, and a wait to look. Other threads call it under the engine's store lock.
    pub(crate) fn ask_to_poll(&self) {
        for instance in &self.instances {
            instance.set_polls(true);
        }
        self.sleepers.wake();
    }

    /// Asks for the samples that are due: the interpreter and calls look, loops run on.
    pub(crate) fn ask_to_sample(&self) {
        self.instances.iter().for_each(|instance| instance.set_entry_poll(true));
    }

    /// As [`Self::clear_polls`], for what [`Self::ask_to_sample`] set.
    pub(crate) fn clear_entry_polls(&self) {
        self.instances.iter().for_each(|instance| instance.set_entry_poll(false));
    }

    /// Async-signal-safe.
    pub(crate) fn add_samples_due(&self, ticks: u32) {
        self.samples_due.fetch_add(ticks, Ordering::Relaxed);
    }

    pub(crate) fn samples_due(&self) -> u32 {
        self.samples_due.load(Ordering::Relaxed)
    }

    pub(crate) fn take_samples_due(&self) -> u32 {
        self.samples_due.swap(0, Ordering::Relaxed)
    }

    pub(crate) fn clear_polls(&self) {
        for instance in &self.instances {
            instance.set_polls(false);
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
            head: VmContextHead {
                kind: KIND_HOST,
                store: &raw mut self.context,
                caller: std::ptr::null_mut(),
                callee: 0,
                rounds: 0,
                poll_low: 0,
                poll: AtomicU32::new(0),
                counters: std::ptr::null_mut(),
                instance: std::ptr::null_mut(),
                builtins: crate::builtins::entries(),
                signatures: std::ptr::null(),
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
        host.head.instance = address.cast();
        host.func.context = (&raw mut host.head).wrapping_add(1).cast();
        host.func.host = address.cast();
        let func = NonNull::from(&mut host.func);
        self.hosts.push(host);
        FuncRef(func)
    }

    /// Makes a memory.
    pub fn new_memory(&mut self, ty: MemoryType) -> Result<MemoryRef, InstantiateError> {
        self.new_memory_in(ty, None)
    }

    /// The same in room that was made for one of this type.
    pub(crate) fn new_memory_in(&mut self, ty: MemoryType, room: Option<Room>) -> Result<MemoryRef, InstantiateError> {
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
                Err(error) => return Err(InstantiateError::Limiter(error)),
            }
        }
        let memory = match room {
            Some(room) => Memory::in_room(room),
            None => Memory::new(ty, self.engine().guards_memories())?,
        };
        Ok(self.add_memory(memory))
    }

    /// Takes a memory in that other stores may hold too: only one that threads share may be in several.
    pub fn add_memory(&mut self, memory: Arc<Memory>) -> MemoryRef {
        let address = Arc::as_ptr(&memory).cast_mut();
        if !self.memories.iter().any(|other| Arc::ptr_eq(other, &memory)) {
            self.memories.push(memory);
        }
        MemoryRef(NonNull::new(address).expect("an address"))
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
                Err(error) => return Err(InstantiateError::Limiter(error)),
            }
        }
        // SAFETY: the caller's promise.
        let table = unsafe { Table::new(ty, init)? };
        self.tables.push(table);
        Ok(TableRef(NonNull::from(&mut **self.tables.last_mut().expect("just pushed"))))
    }

    /// Runs `work`, in which the host may call the guest, while frames wait in the switch buffer: what it calls writes to another one.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(crate) fn with_another_switch_buffer<R>(&mut self, work: impl FnOnce(&mut StoreState) -> R) -> std::io::Result<R> {
        let other = match self.spare.pop() {
            Some(spare) => spare,
            None => {
                let fresh = Mapping::reserve(SWITCH_BYTES.next_multiple_of(PAGE))?;
                fresh.open(0, fresh.length())?;
                fresh
            }
        };
        let waits = std::mem::replace(&mut self.context.switch_buffer, other.base().cast());
        self.suspended.push(waits);
        let result = work(self);
        self.suspended.pop();
        self.context.switch_buffer = waits;
        self.spare.push(other);
        Ok(result)
    }

    /// Calls `see` with every word of the switch buffers that wait.
    pub(crate) fn for_each_suspended_word(&self, mut see: impl FnMut(u64)) {
        for &buffer in &self.suspended {
            // SAFETY: a whole buffer, open, and owned by this store; no code runs that writes to it.
            (0..SWITCH_BYTES / 8).for_each(|index| see(unsafe { buffer.add(index).read_volatile() }));
        }
    }

    /// Thrown exceptions whose objects the store still has.
    pub fn exception_count(&self) -> usize {
        self.exceptions.count()
    }

    pub(crate) fn globals(&self) -> impl Iterator<Item = &Global> {
        self.globals.iter().map(|global| &**global)
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter().map(|table| &**table)
    }

    /// Makes a tag: exceptions with it carry the parameters of `ty`.
    pub fn new_tag(&mut self, ty: &FuncType) -> TagRef {
        self.add_tag(signature::id(ty))
    }

    pub(crate) fn add_tag(&mut self, signature: u32) -> TagRef {
        self.tags.push(Box::new(Tag { signature }));
        TagRef(NonNull::from(&mut **self.tags.last_mut().expect("just pushed")))
    }

    /// Makes a global.
    pub fn new_global(&mut self, ty: GlobalType, value: [u64; 2]) -> GlobalRef {
        let mut own = Box::new(VmGlobal { slots: value });
        let value = NonNull::from(&mut *own);
        self.add_global(Global { ty, value, own: Some(own) })
    }

    pub(crate) fn add_global(&mut self, global: Global) -> GlobalRef {
        self.globals.push(Box::new(global));
        GlobalRef(NonNull::from(&mut **self.globals.last_mut().expect("just pushed")))
    }

    /// Calls a function: arguments in `slots` from 0, results replace them. `slots` is at least as long as the larger of both.
    ///
    /// # Safety
    /// The function belongs to this store, and the slots hold values of its parameter types.
    pub unsafe fn call(&mut self, function: FuncRef, slots: &mut [u64]) -> Outcome {
        // SAFETY: the caller's promise.
        unsafe { self.call_as(std::ptr::null_mut(), function, slots) }
    }

    /// The same in the name of an instance, which a host function is told as its caller.
    ///
    /// # Safety
    /// As [`StoreState::call`]; `caller` is null or a context of this store.
    pub(crate) unsafe fn call_as(&mut self, caller: *mut VmContext, function: FuncRef, slots: &mut [u64]) -> Outcome {
        // SAFETY: the caller's promise.
        let outcome = unsafe { runtime::call_from_host(self, function.as_ptr(), caller, slots.as_mut_ptr()) };
        // Zeros where they are not counted.
        if self.context.instructions_interpreted | self.context.instructions_compiled != 0 {
            let engine = self.engine.clone();
            engine.shared().take_instructions(self);
        }
        outcome
    }
}

/// The `VmFunc` of a host function, from its context.
///
/// # Safety
/// `context` is the live context of a host function.
pub(crate) unsafe fn host_func<'a>(context: *mut VmContext) -> &'a VmFunc {
    // SAFETY: the caller's promise; `instance` of a host context is its `HostContext`.
    unsafe { &(*(*head(context)).instance.cast::<HostContext>()).func }
}

/// Where the word lies in its eight bytes: the upper half.
const POLL_WORD: isize = 4;

/// The poll word at an offset that `VmOffsets::poll` gave.
///
/// # Safety
/// `context` is live and the offset is of its module.
pub(crate) unsafe fn poll_word<'a>(context: *mut VmContext, offset: i32) -> &'a AtomicU32 {
    // SAFETY: the caller's promise; the word is the upper half of eight bytes inside the context's allocation, and 4-byte aligned.
    unsafe { &*context.byte_offset(offset as isize + POLL_WORD).cast::<AtomicU32>() }
}

/// Writes the poll words of all functions and loops of an instance.
///
/// # Safety
/// `context` is a live context with this layout.
pub(crate) unsafe fn set_poll_words(context: *mut VmContext, offsets: &VmOffsets, asks: bool) {
    for index in 0..offsets.poll_count() {
        // SAFETY: the caller's promise.
        unsafe { poll_word(context, offsets.poll(index)) }.store(asked(asks), Ordering::Release);
    }
}

/// Slots a call of a type needs: the larger of its parameters and its results, at least one.
pub fn call_slots(ty: &FuncType) -> usize {
    (slots_of_all(ty.params()) as usize).max(result_slots(ty)).max(1)
}

/// Slots the results of a type take.
pub fn result_slots(ty: &FuncType) -> usize {
    slots_of_all(ty.results()) as usize
}
