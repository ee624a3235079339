//! What modules import and export: [`Extern`], and memories, tables and globals as handles into a store.

use crate::error::{host_failure, not_instantiated};
use crate::store::{StoreId, func};
use crate::types::{ExternType, GlobalType, MemoryType, Mutability, TableType, TagType};
use crate::{AsContext, AsContextMut, Error, Func, Ref, Result, StoreContext, StoreContextMut, Trap, Val, bail, ensure, format_err};
use std::time::Duration;
use vm::handles::{GlobalRef, MemoryRef, TableRef, TagRef};

pub use vm::threads::WaitResult;

/// Something a module imports or exports.
#[derive(Clone, Debug)]
pub enum Extern {
    /// A function.
    Func(Func),
    /// A global.
    Global(Global),
    /// A table.
    Table(Table),
    /// A memory.
    Memory(Memory),
    /// A tag.
    Tag(Tag),
    /// A memory that threads share.
    SharedMemory(SharedMemory),
}

impl Extern {
    /// The function, if it is one.
    pub fn into_func(self) -> Option<Func> {
        match self {
            Extern::Func(func) => Some(func),
            _ => None,
        }
    }

    /// The global, if it is one.
    pub fn into_global(self) -> Option<Global> {
        match self {
            Extern::Global(global) => Some(global),
            _ => None,
        }
    }

    /// The table, if it is one.
    pub fn into_table(self) -> Option<Table> {
        match self {
            Extern::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The memory, if it is one.
    pub fn into_memory(self) -> Option<Memory> {
        match self {
            Extern::Memory(memory) => Some(memory),
            _ => None,
        }
    }

    /// The memory that threads share, if it is one.
    pub fn into_shared_memory(self) -> Option<SharedMemory> {
        match self {
            Extern::SharedMemory(memory) => Some(memory),
            _ => None,
        }
    }

    /// The tag, if it is one.
    pub fn into_tag(self) -> Option<Tag> {
        match self {
            Extern::Tag(tag) => Some(tag),
            _ => None,
        }
    }

    /// Its type.
    pub fn ty(&self, store: impl AsContext) -> ExternType {
        match self {
            Extern::Func(func) => ExternType::Func(func.ty(store)),
            Extern::Global(global) => ExternType::Global(global.ty(store)),
            Extern::Table(table) => ExternType::Table(table.ty(store)),
            Extern::Memory(memory) => ExternType::Memory(memory.ty(store)),
            Extern::Tag(tag) => ExternType::Tag(tag.ty(store)),
            Extern::SharedMemory(memory) => ExternType::Memory(memory.ty()),
        }
    }

    pub(crate) fn of(raw: vm::handles::Extern, store: StoreId) -> Extern {
        match raw {
            vm::handles::Extern::Func(raw) => Extern::Func(func(raw, store)),
            vm::handles::Extern::Global(raw) => Extern::Global(Global { store, raw }),
            vm::handles::Extern::Table(raw) => Extern::Table(Table { store, raw }),
            vm::handles::Extern::Memory(raw) => match raw.shared() {
                Some(memory) => Extern::SharedMemory(SharedMemory { memory }),
                None => Extern::Memory(Memory { store, raw }),
            },
            vm::handles::Extern::Tag(raw) => Extern::Tag(Tag { store, raw }),
        }
    }

    /// What it is in a store, which takes a shared memory in.
    pub(crate) fn raw(&self, store: &mut vm::store::StoreState) -> vm::handles::Extern {
        match self {
            Extern::Func(func) => vm::handles::Extern::Func(func.raw),
            Extern::Global(global) => vm::handles::Extern::Global(global.raw),
            Extern::Table(table) => vm::handles::Extern::Table(table.raw),
            Extern::Memory(memory) => vm::handles::Extern::Memory(memory.raw),
            Extern::Tag(tag) => vm::handles::Extern::Tag(tag.raw),
            Extern::SharedMemory(memory) => vm::handles::Extern::Memory(store.add_memory(memory.memory.clone())),
        }
    }

    /// Whether it can be used in a store.
    pub(crate) fn is_of(&self, store: StoreId) -> bool {
        let own = match self {
            Extern::Func(func) => func.store,
            Extern::Global(global) => global.store,
            Extern::Table(table) => table.store,
            Extern::Memory(memory) => memory.store,
            Extern::Tag(tag) => tag.store,
            Extern::SharedMemory(_) => return true,
        };
        own == store
    }
}

macro_rules! into_extern {
    ($($ty:ident)*) => {
        $(impl From<$ty> for Extern {
            fn from(item: $ty) -> Extern {
                Extern::$ty(item)
            }
        })*
    };
}

into_extern!(Func Global Table Memory Tag SharedMemory);

/// A memory that threads share: it belongs to no store, instances in several stores import it.
///
/// ```
/// use backedge::{Engine, Instance, MemoryType, Module, SharedMemory, Store};
///
/// let engine = Engine::default();
/// let module = Module::new(&engine, r#"(module (import "" "" (memory 1 2 shared))
///     (func (export "add") (result i32) (i32.atomic.rmw.add (i32.const 0) (i32.const 1))))"#)?;
/// let memory = SharedMemory::new(&engine, MemoryType::shared(1, 2))?;
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| {
///             let mut store = Store::new(&engine, ());
///             let instance = Instance::new(&mut store, &module, &[memory.clone().into()]).unwrap();
///             instance.get_typed_func::<(), i32>(&mut store, "add").unwrap().call(&mut store, ()).unwrap();
///         });
///     }
/// });
/// assert_eq!(memory.read_byte(0), Some(2));
/// # Ok::<(), backedge::Error>(())
/// ```
#[derive(Clone)]
pub struct SharedMemory {
    memory: std::sync::Arc<vm::memory::Memory>,
}

impl std::fmt::Debug for SharedMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedMemory").field("pages", &self.size()).finish_non_exhaustive()
    }
}

impl SharedMemory {
    /// Makes a memory, for engines whose memories are guarded like this one's.
    ///
    /// # Errors
    /// The type is not one of shared memories, or there is no address space.
    pub fn new(engine: &crate::Engine, ty: MemoryType) -> Result<SharedMemory> {
        ensure!(ty.is_shared(), "shared memory must have the `shared` flag enabled on its memory type");
        ensure!(
            ty.maximum().is_some_and(|maximum| ty.minimum() <= maximum && (ty.is_64() || maximum <= 65536)),
            "invalid memory type: {} pages to {:?}",
            ty.minimum(),
            ty.maximum()
        );
        let memory = vm::memory::Memory::new(ty.to_wasm(), engine.vm.guards_memories()).map_err(Error::new)?;
        Ok(SharedMemory { memory })
    }

    /// Its type, as declared.
    pub fn ty(&self) -> MemoryType {
        MemoryType::from_wasm(self.memory.ty())
    }

    /// Pages of 64 KiB.
    pub fn size(&self) -> u64 {
        self.memory.pages()
    }

    /// Bytes.
    pub fn data_size(&self) -> usize {
        self.memory.length()
    }

    /// Its bytes. Threads may write them at any time.
    pub fn data(&self) -> &[std::cell::UnsafeCell<u8>] {
        // SAFETY: the bytes below its length stay accessible as long as the memory lives; in cells nobody relies on what they hold.
        unsafe { std::slice::from_raw_parts(self.memory.base().cast(), self.memory.length()) }
    }

    /// One byte, read atomically; `None` outside.
    pub fn read_byte(&self, offset: usize) -> Option<u8> {
        let cell = self.data().get(offset)?;
        // SAFETY: the byte is accessible, and all are accessed atomically or by guests.
        Some(unsafe { std::sync::atomic::AtomicU8::from_ptr(cell.get()) }.load(std::sync::atomic::Ordering::SeqCst))
    }

    /// Wakes at most `count` of the threads that wait at an address; how many it woke.
    ///
    /// # Errors
    /// [`Trap::HeapMisaligned`] or [`Trap::MemoryOutOfBounds`].
    pub fn atomic_notify(&self, address: u64, count: u32) -> Result<u32, Trap> {
        vm::threads::notify_at(&self.memory, address, count)
    }

    /// Waits until another thread notifies this address, if its four bytes are `expected`; at most so long.
    ///
    /// # Errors
    /// As [`SharedMemory::atomic_notify`].
    pub fn atomic_wait32(&self, address: u64, expected: u32, timeout: Option<Duration>) -> Result<WaitResult, Trap> {
        vm::threads::wait_at(&self.memory, address, expected.into(), timeout, 4)
    }

    /// The same for eight bytes.
    ///
    /// # Errors
    /// As [`SharedMemory::atomic_notify`].
    pub fn atomic_wait64(&self, address: u64, expected: u64, timeout: Option<Duration>) -> Result<WaitResult, Trap> {
        vm::threads::wait_at(&self.memory, address, expected, timeout, 8)
    }

    /// Grows by `delta` pages and returns the old size.
    ///
    /// # Errors
    /// The type or the system does not allow it; nor does a memory of 32-bit addresses that began with less grow to all 65536 pages.
    pub fn grow(&self, delta: u64) -> Result<u64> {
        self.memory.grow(delta).ok_or_else(|| format_err!("failed to grow memory by `{delta}`"))
    }
}

/// A tag of a store: what exceptions are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag {
    pub(crate) store: StoreId,
    pub(crate) raw: TagRef,
}

impl Tag {
    /// Makes a tag.
    ///
    /// # Errors
    /// The type has results.
    pub fn new(mut store: impl AsContextMut, ty: &TagType) -> Result<Tag> {
        ensure!(ty.ty().results().len() == 0, "a tag's type has no results");
        let inner = store.as_context_mut().0;
        Ok(Tag { store: inner.id, raw: inner.machine.new_tag(&ty.ty().wasm) })
    }

    /// Its type.
    pub fn ty(&self, store: impl AsContext) -> TagType {
        store.as_context().0.check(self.store);
        TagType::new(crate::FuncType::from_wasm(self.raw.ty()))
    }
}

/// An access outside a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("out of bounds memory access")]
pub struct MemoryAccessError {
    _private: (),
}

/// A linear memory of a store.
///
/// ```
/// use backedge::{Engine, Memory, MemoryType, Store};
///
/// let mut store = Store::new(&Engine::default(), ());
/// let memory = Memory::new(&mut store, MemoryType::new(1, Some(2)))?;
/// memory.write(&mut store, 100, b"hello")?;
/// assert_eq!(&memory.data(&store)[100..105], b"hello");
/// assert_eq!(memory.grow(&mut store, 1)?, 1);
/// assert_eq!(memory.data_size(&store), 2 * 65536);
/// # Ok::<(), backedge::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Memory {
    store: StoreId,
    raw: MemoryRef,
}

impl Memory {
    /// Makes a memory.
    ///
    /// # Errors
    /// The type is no valid one, there is no address space, or the store's limit.
    pub fn new(mut store: impl AsContextMut, ty: MemoryType) -> Result<Memory> {
        let inner = store.as_context_mut().0;
        ensure!(!ty.is_shared(), "shared memories must be created through `SharedMemory`");
        ensure!(
            (ty.is_64() || ty.minimum() <= 65536)
                && ty.maximum().is_none_or(|maximum| ty.minimum() <= maximum && (ty.is_64() || maximum <= 65536)),
            "invalid memory type: {} pages to {:?}",
            ty.minimum(),
            ty.maximum()
        );
        let raw = inner.machine.new_memory(ty.to_wasm()).map_err(not_instantiated)?;
        Ok(Memory { store: inner.id, raw })
    }

    /// Its type, as declared.
    pub fn ty(&self, store: impl AsContext) -> MemoryType {
        store.as_context().0.check(self.store);
        MemoryType::from_wasm(self.raw.ty())
    }

    /// Copies bytes out.
    ///
    /// # Errors
    /// Out of bounds.
    pub fn read(&self, store: impl AsContext, offset: usize, buffer: &mut [u8]) -> Result<(), MemoryAccessError> {
        let context = store.as_context();
        let data = self.data(context);
        let bytes = offset.checked_add(buffer.len()).and_then(|end| data.get(offset..end)).ok_or(MemoryAccessError { _private: () })?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    /// Copies bytes in.
    ///
    /// # Errors
    /// Out of bounds; nothing is written then.
    pub fn write(&self, mut store: impl AsContextMut, offset: usize, buffer: &[u8]) -> Result<(), MemoryAccessError> {
        let context = store.as_context_mut();
        let data = self.data_mut(context);
        let bytes = offset.checked_add(buffer.len()).and_then(|end| data.get_mut(offset..end)).ok_or(MemoryAccessError { _private: () })?;
        bytes.copy_from_slice(buffer);
        Ok(())
    }

    /// All its bytes.
    pub fn data<'a, T: 'static>(&self, store: impl Into<StoreContext<'a, T>>) -> &'a [u8] {
        let inner = store.into().0;
        inner.check(self.store);
        // SAFETY: the memory is of this store, which is borrowed for 'a: no wasm runs and no growth happens meanwhile.
        unsafe { std::slice::from_raw_parts(self.raw.base(), self.raw.length()) }
    }

    /// All its bytes, to change.
    pub fn data_mut<'a, T: 'static>(&self, store: impl Into<StoreContextMut<'a, T>>) -> &'a mut [u8] {
        self.data_and_store_mut(store).0
    }

    /// All its bytes and the host's data, both to change.
    pub fn data_and_store_mut<'a, T: 'static>(&self, store: impl Into<StoreContextMut<'a, T>>) -> (&'a mut [u8], &'a mut T) {
        let inner = store.into().0;
        inner.check(self.store);
        // SAFETY: the memory is of this store, which is mutably borrowed for 'a: nobody else reads or writes its memories.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.raw.base(), self.raw.length()) };
        (bytes, &mut inner.data)
    }

    /// Address of its first byte.
    pub fn data_ptr(&self, store: impl AsContext) -> *mut u8 {
        store.as_context().0.check(self.store);
        self.raw.base()
    }

    /// Bytes.
    pub fn data_size(&self, store: impl AsContext) -> usize {
        store.as_context().0.check(self.store);
        self.raw.length()
    }

    /// Pages of 64 KiB.
    pub fn size(&self, store: impl AsContext) -> u64 {
        store.as_context().0.check(self.store);
        self.raw.pages()
    }

    /// Grows by `delta` pages and returns the old size.
    ///
    /// # Errors
    /// The type, the system or the store's limiter does not allow it; nor does a memory of 32-bit addresses that began with less grow to all 65536 pages.
    pub fn grow(&self, mut store: impl AsContextMut, delta: u64) -> Result<u64> {
        let inner = store.as_context_mut().0;
        inner.check(self.store);
        let old = self.raw.grow(&mut inner.machine, delta).map_err(host_failure)?;
        old.ok_or_else(|| format_err!("failed to grow memory by `{delta}`"))
    }
}

/// A global of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Global {
    store: StoreId,
    raw: GlobalRef,
}

impl Global {
    /// Makes a global.
    ///
    /// ```
    /// use backedge::{Engine, Global, GlobalType, Mutability, Store, Val, ValType};
    ///
    /// let mut store = Store::new(&Engine::default(), ());
    /// let ty = GlobalType::new(ValType::I64, Mutability::Var);
    /// let global = Global::new(&mut store, ty, Val::I64(1))?;
    /// global.set(&mut store, Val::I64(2))?;
    /// assert_eq!(global.get(&mut store).unwrap_i64(), 2);
    /// assert!(global.set(&mut store, Val::I32(2)).is_err());
    /// # Ok::<(), backedge::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value is of another type or store.
    pub fn new(mut store: impl AsContextMut, ty: GlobalType, val: Val) -> Result<Global> {
        let inner = store.as_context_mut().0;
        ensure!(val.fits(*ty.content(), inner.id), "value type mismatch: found {} but expected {}", val.type_of(), ty.content());
        let slots = val.to_slots(inner.id)?;
        let raw = inner.machine.new_global(ty.to_wasm(), slots);
        Ok(Global { store: inner.id, raw })
    }

    /// Its type.
    pub fn ty(&self, store: impl AsContext) -> GlobalType {
        store.as_context().0.check(self.store);
        GlobalType::from_wasm(self.raw.ty())
    }

    /// Its value.
    pub fn get(&self, mut store: impl AsContextMut) -> Val {
        let inner = store.as_context_mut().0;
        inner.check(self.store);
        let ty = GlobalType::from_wasm(self.raw.ty());
        Val::from_slots(*ty.content(), &self.raw.get(), inner.id)
    }

    /// Sets its value.
    ///
    /// # Errors
    /// It is immutable, or the value is of another type or store.
    pub fn set(&self, mut store: impl AsContextMut, val: Val) -> Result<()> {
        let inner = store.as_context_mut().0;
        inner.check(self.store);
        let ty = GlobalType::from_wasm(self.raw.ty());
        if ty.mutability() != Mutability::Var {
            bail!("immutable global cannot be set");
        }
        if !val.fits(*ty.content(), inner.id) {
            bail!("value type mismatch: found {} but expected {}", val.type_of(), ty.content());
        }
        let slots = val.to_slots(inner.id)?;
        // SAFETY: the global is of this store and mutable, the value of its type and this store (all checked).
        unsafe { self.raw.set(slots) };
        Ok(())
    }
}

/// A table of a store.
///
/// ```
/// use backedge::{Engine, Func, Ref, RefType, Store, Table, TableType};
///
/// let mut store = Store::new(&Engine::default(), ());
/// let table = Table::new(&mut store, TableType::new(RefType::FUNCREF, 2, Some(4)), Ref::Func(None))?;
/// let func = Func::wrap(&mut store, || {});
/// table.set(&mut store, 1, func.into())?;
/// assert!(table.get(&mut store, 0).unwrap().is_null());
/// assert!(table.get(&mut store, 1).unwrap().unwrap_func().is_some());
/// assert!(table.get(&mut store, 2).is_none());
/// assert_eq!(table.grow(&mut store, 2, Ref::Func(None))?, 2);
/// # Ok::<(), backedge::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    store: StoreId,
    raw: TableRef,
}

impl Table {
    /// Makes a table filled with `init`.
    ///
    /// # Errors
    /// The type is no valid one, `init` is of another type or store, or the store's limit.
    pub fn new(mut store: impl AsContextMut, ty: TableType, init: Ref) -> Result<Table> {
        let inner = store.as_context_mut().0;
        ensure!(
            ty.maximum().is_none_or(|maximum| ty.minimum() <= maximum),
            "invalid table type: {} elements to {:?}",
            ty.minimum(),
            ty.maximum()
        );
        ensure!(init.fits(ty.element(), inner.id), "value does not match table element type");
        let slot = init.to_slot(inner.id)?;
        // SAFETY: the reference is of the element type and this store (both checked).
        let raw = unsafe { inner.machine.new_table(ty.to_wasm(), slot) }.map_err(not_instantiated)?;
        Ok(Table { store: inner.id, raw })
    }

    /// Its type, as declared.
    pub fn ty(&self, store: impl AsContext) -> TableType {
        store.as_context().0.check(self.store);
        TableType::from_wasm(self.raw.ty())
    }

    /// The element at `index`; `None` when out of bounds.
    pub fn get(&self, mut store: impl AsContextMut, index: u64) -> Option<Ref> {
        let inner = store.as_context_mut().0;
        inner.check(self.store);
        let element = *TableType::from_wasm(self.raw.ty()).element();
        Some(Ref::from_slot(element, self.raw.get(index)?, inner.id))
    }

    /// Sets one element.
    ///
    /// # Errors
    /// Out of bounds, or a reference of another type or store.
    pub fn set(&self, mut store: impl AsContextMut, index: u64, val: Ref) -> Result<()> {
        let inner = store.as_context_mut().0;
        let slot = self.slot(inner.id, val)?;
        // SAFETY: checked by `slot`.
        unsafe { self.raw.set(index, slot) }.ok_or_else(out_of_bounds)
    }

    /// Elements.
    pub fn size(&self, store: impl AsContext) -> u64 {
        store.as_context().0.check(self.store);
        self.raw.length()
    }

    /// Appends `delta` elements and returns the old size.
    ///
    /// # Errors
    /// The type or the store's limiter does not allow it, or a reference of another type or store.
    pub fn grow(&self, mut store: impl AsContextMut, delta: u64, init: Ref) -> Result<u64> {
        let inner = store.as_context_mut().0;
        let slot = self.slot(inner.id, init)?;
        // SAFETY: checked by `slot`.
        let old = unsafe { self.raw.grow(&mut inner.machine, delta, slot) }.map_err(host_failure)?;
        old.ok_or_else(|| format_err!("failed to grow table by `{delta}`"))
    }

    /// Sets `len` elements from `dst` on.
    ///
    /// # Errors
    /// Out of bounds, or a reference of another type or store.
    pub fn fill(&self, mut store: impl AsContextMut, dst: u64, val: Ref, len: u64) -> Result<()> {
        let inner = store.as_context_mut().0;
        let slot = self.slot(inner.id, val)?;
        // SAFETY: checked by `slot`.
        unsafe { self.raw.fill(dst, slot, len) }.ok_or_else(out_of_bounds)
    }

    /// Copies elements between tables of one store.
    ///
    /// # Errors
    /// Out of bounds, or tables of different types.
    pub fn copy(
        mut store: impl AsContextMut,
        dst_table: &Table,
        dst_index: u64,
        src_table: &Table,
        src_index: u64,
        len: u64,
    ) -> Result<()> {
        let element = |table: &Table| wasmparser::ValType::Ref(table.raw.ty().element_type);
        let inner = store.as_context_mut().0;
        inner.check(dst_table.store);
        inner.check(src_table.store);
        ensure!(vm::signature::is_subtype(element(src_table), element(dst_table)), "tables do not have the same element type");
        dst_table.raw.copy_from(dst_index, src_table.raw, src_index, len).ok_or_else(out_of_bounds)
    }

    /// Checks the store and a new element.
    fn slot(&self, store: StoreId, val: Ref) -> Result<u64> {
        assert_eq!(self.store, store, "object used with a store that it does not belong to");
        let element = *TableType::from_wasm(self.raw.ty()).element();
        ensure!(val.fits(&element, store), "value does not match table element type");
        val.to_slot(store)
    }
}

fn out_of_bounds() -> Error {
    Error::new(crate::Trap::TableOutOfBounds)
}
