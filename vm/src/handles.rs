//! Handles: addresses of what a store owns, and what they can do. Each is used only with its store alive, which the embedding API ensures by
//! the store's id.

use crate::exception::Tag;
use crate::instance::Instance;
use crate::layout::VmFunc;
use crate::memory::Memory;
use crate::module::ExportItem;
use crate::signature;
use crate::store::{Global, HostError, StoreState};
use crate::table::Table;
use std::ptr::NonNull;
use std::sync::Arc;
use wasmparser::{FuncType, GlobalType, MemoryType, TableType};

macro_rules! handle {
    ($(#[$m:meta])* $name:ident, $target:ty) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub(crate) NonNull<$target>);
        // SAFETY: a handle is an address; using it needs its store, exclusively where it writes.
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
    /// A tag of a store.
    TagRef, Tag
);
handle!(
    /// An instance of a store.
    InstanceRef, Instance
);

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
    /// A tag.
    Tag(TagRef),
}

impl InstanceRef {
    /// The instance.
    pub fn instance(&self) -> &Instance {
        // SAFETY: instances live as long as their store, and handles are used only with it.
        unsafe { self.0.as_ref() }
    }

    /// What the module exports under a name.
    pub fn export(self, name: &str) -> Option<Extern> {
        let instance = self.instance();
        Some(self.item(instance.module.export(name)?))
    }

    /// An item of its index spaces.
    pub fn item(self, item: ExportItem) -> Extern {
        let instance = self.instance();
        match item {
            ExportItem::Func(index) => Extern::Func(instance.function(index)),
            ExportItem::Table(index) => Extern::Table(instance.table(index)),
            ExportItem::Memory(index) => Extern::Memory(instance.memory(index)),
            ExportItem::Global(index) => Extern::Global(instance.globals[index as usize]),
            ExportItem::Tag(index) => Extern::Tag(instance.tags[index as usize]),
        }
    }
}

impl FuncRef {
    /// Signature id of its type.
    pub fn signature(self) -> u32 {
        // SAFETY: see above; the signature never changes.
        unsafe { self.0.as_ref() }.signature
    }

    /// Its type.
    pub fn ty(self) -> FuncType {
        // SAFETY: see above; the signature never changes.
        signature::of(unsafe { self.0.as_ref() }.signature)
    }
}

impl MemoryRef {
    pub(crate) fn memory(&self) -> &Memory {
        // SAFETY: see above.
        unsafe { self.0.as_ref() }
    }

    /// The memory itself, if threads share it.
    pub fn shared(self) -> Option<Arc<Memory>> {
        if !self.memory().ty().shared {
            return None;
        }
        let address = self.0.as_ptr().cast_const();
        // SAFETY: every memory is made in an `Arc` that its store holds, and the handle is its address.
        unsafe {
            Arc::increment_strong_count(address);
            Some(Arc::from_raw(address))
        }
    }

    /// See [`Memory::is_guarded`].
    pub fn is_guarded(self) -> bool {
        self.memory().is_guarded()
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
            // (what is more than that does not grow, below)
            let desired = memory.pages().checked_add(delta).and_then(bytes);
            if let Some(desired) = desired
                && !limiter.memory(memory.length(), desired, memory.ty().maximum.and_then(bytes))?
            {
                return Ok(None);
            }
        }
        let grown = memory.grow(delta);
        if let (None, Some(limiter)) = (grown, &mut store.limiter) {
            limiter.memory_failed(format!("a memory of {} and {delta} pages", memory.pages()))?;
        }
        Ok(grown)
    }
}

impl TableRef {
    pub(crate) fn table(&self) -> &Table {
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
            // (as for memories)
            let desired = table.length().checked_add(delta).and_then(entries);
            if let Some(desired) = desired
                && !limiter.table(table.length() as usize, desired, table.ty().maximum.and_then(entries))?
            {
                return Ok(None);
            }
        }
        // SAFETY: the caller's promise.
        let grown = unsafe { table.grow(delta, reference) };
        if let (None, Some(limiter)) = (grown, &mut store.limiter) {
            limiter.table_failed(format!("a table of {} and {delta} elements", table.length()))?;
        }
        Ok(grown)
    }
}

impl TagRef {
    /// Its type: what an exception with it carries as parameters.
    pub fn ty(self) -> FuncType {
        // SAFETY: see above; a tag never changes.
        signature::of(unsafe { self.0.as_ref() }.signature)
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
