//! Tables: space for all the entries a table may ever have is reserved, so its base never changes.

use crate::layout::{VmFunc, VmTable, VmTableEntry};
use crate::mapping::{Mapping, address_limit, addresses_left};
use crate::signature;
use std::sync::atomic::{AtomicUsize, Ordering};
use wasmparser::{RefType, TableType};

/// Most entries a table may have, whatever its type says; growing past it fails, as the specification allows.
pub const MAXIMUM_ENTRIES: u64 = 10_000_000;

/// Where address space is limited a table gets one part in so many of what is left, unless it begins with more. A guess.
const PARTS: usize = 64;

/// A table. `vm` is its first field and what compiled code sees.
#[repr(C)]
pub struct Table {
    vm: VmTable,
    ty: TableType,
    mapping: Mapping,
}

/// Why a table could not be made.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The operating system refused address space.
    #[error("cannot reserve address space for a table: {0}")]
    Reserve(std::io::Error),
    /// More entries than [`MAXIMUM_ENTRIES`] or the store's limit.
    #[error("table minimum size of {entries} elements exceeds table limits")]
    Limit {
        /// Entries asked for.
        entries: u64,
    },
}

/// The entry that holds a reference.
///
/// # Safety
/// For a function table `reference` is 0 or the address of a live [`VmFunc`].
unsafe fn entry_of(element: RefType, reference: u64) -> VmTableEntry {
    let signature = if reference != 0 && signature::is_function(element) {
        // SAFETY: the caller's promise.
        unsafe { (*(reference as *const VmFunc)).signature as u64 }
    } else {
        0
    };
    VmTableEntry { signature, reference }
}

impl Table {
    /// A table of its type's minimum size, filled with `init`.
    ///
    /// # Safety
    /// `init` is null or a live reference of the table's element type.
    pub unsafe fn new(ty: TableType, init: u64) -> Result<Box<Table>, TableError> {
        if ty.initial > MAXIMUM_ENTRIES {
            return Err(TableError::Limit { entries: ty.initial });
        }
        let maximum = ty.maximum.unwrap_or(u64::from(u32::MAX));
        // Of address space that is limited a small part, as for memories.
        let most = address_limit().map_or(MAXIMUM_ENTRIES, |limit| (addresses_left(limit) / PARTS / size_of::<VmTableEntry>()) as u64);
        let capacity = maximum.min(MAXIMUM_ENTRIES.min(most)).max(ty.initial) as usize;
        let mapping = Mapping::reserve(capacity.max(1) * size_of::<VmTableEntry>()).map_err(TableError::Reserve)?;
        let vm = VmTable { base: mapping.base().cast(), length: AtomicUsize::new(0), capacity, maximum };
        let table = Box::new(Table { vm, ty, mapping });
        // SAFETY: the caller's promise about `init`.
        unsafe { table.grow(ty.initial, init) }.ok_or(TableError::Limit { entries: ty.initial })?;
        Ok(table)
    }

    /// What compiled code sees.
    pub fn vm(&self) -> *mut VmTable {
        (&raw const self.vm).cast_mut()
    }

    /// The declared type.
    pub fn ty(&self) -> TableType {
        self.ty
    }

    /// Entries in use.
    pub fn length(&self) -> u64 {
        self.vm.length.load(Ordering::Acquire) as u64
    }

    /// The reference at `index`, or `None` outside.
    pub fn get(&self, index: u64) -> Option<u64> {
        // SAFETY: in bounds (checked); entries in use are open and initialized.
        (index < self.length()).then(|| unsafe { (*self.vm.base.add(index as usize)).reference })
    }

    /// Writes one entry; `None` outside.
    ///
    /// # Safety
    /// `reference` is null or a live reference of the element type.
    pub unsafe fn set(&self, index: u64, reference: u64) -> Option<()> {
        // SAFETY: the caller's promise.
        unsafe { self.fill(index, reference, 1) }
    }

    /// Writes `count` entries; `None` and nothing written where they are not all inside.
    ///
    /// # Safety
    /// As [`Table::set`].
    pub unsafe fn fill(&self, start: u64, reference: u64, count: u64) -> Option<()> {
        let end = start.checked_add(count).filter(|&end| end <= self.length())?;
        // SAFETY: the caller's promise.
        let entry = unsafe { entry_of(self.ty.element_type, reference) };
        for index in start..end {
            // SAFETY: in bounds (checked above); this thread is the only one running the store.
            unsafe { self.vm.base.add(index as usize).write(entry) };
        }
        Some(())
    }

    /// Copies entries from another table or this one, as `memmove`; `None` and nothing written where either range is outside.
    pub fn copy_from(&self, start: u64, source: &Table, source_start: u64, count: u64) -> Option<()> {
        start.checked_add(count).filter(|&end| end <= self.length())?;
        source_start.checked_add(count).filter(|&end| end <= source.length())?;
        // SAFETY: both ranges are in bounds; `copy` allows overlap.
        unsafe {
            std::ptr::copy(source.vm.base.add(source_start as usize), self.vm.base.add(start as usize), count as usize);
        }
        Some(())
    }

    /// Appends `delta` entries; the old length, or `None` where limits forbid it.
    ///
    /// # Safety
    /// As [`Table::set`].
    pub unsafe fn grow(&self, delta: u64, reference: u64) -> Option<u64> {
        let old = self.length();
        let new = old.checked_add(delta).filter(|&new| new <= self.vm.capacity as u64)?;
        let entry = size_of::<VmTableEntry>();
        let open = |entries: u64| (entries as usize * entry).next_multiple_of(crate::mapping::PAGE);
        self.mapping.open(open(old), open(new) - open(old)).ok()?;
        self.vm.length.store(new as usize, Ordering::Release);
        // Null entries are zeros, which pages are that nothing was written to: a table never shrinks.
        if reference != 0 {
            // SAFETY: the caller's promise; the new range is open and in bounds.
            unsafe { self.fill(old, reference, delta) }?;
        }
        Some(old)
    }
}
