//! Tables: space for all the entries a table may ever have is reserved, so its base never changes.

use crate::layout::{VmFunc, VmTable, VmTableEntry};
use crate::mapping::{Mapping, PAGE, address_limit, addresses_left};
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
    /// The operating system refused address space or memory.
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
        // SAFETY: the caller's promise about `init`; the capacity is no less.
        unsafe { table.append(ty.initial, init) }.map_err(TableError::Reserve)?;
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

    /// Appends `delta` entries; the old length, or `None` where limits or the system forbid it.
    ///
    /// # Safety
    /// As [`Table::set`].
    pub unsafe fn grow(&self, delta: u64, reference: u64) -> Option<u64> {
        let old = self.length();
        old.checked_add(delta).filter(|&new| new <= self.vm.capacity as u64)?;
        // SAFETY: the caller's promise; within the capacity.
        unsafe { self.append(delta, reference) }.ok()?;
        Some(old)
    }

    /// Appends `delta` entries, for which there is room.
    ///
    /// # Errors
    /// The system has no memory for them.
    ///
    /// # Safety
    /// As [`Table::set`], and they are within the capacity.
    unsafe fn append(&self, delta: u64, reference: u64) -> std::io::Result<()> {
        let old = self.length();
        let new = old + delta;
        let open = |entries: u64| (entries as usize * size_of::<VmTableEntry>()).next_multiple_of(PAGE);
        self.mapping.open(open(old), open(new) - open(old))?;
        self.vm.length.store(new as usize, Ordering::Release);
        // Null entries are zeros, which pages are that nothing was written to: a table never shrinks.
        if reference != 0 {
            // SAFETY: the caller's promise; the new range is open and in bounds.
            unsafe { self.fill(old, reference, delta) }.expect("the range was just appended");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a child process, which alone gets the limit. It does what takes no lock of another thread's.
    #[test]
    fn what_the_system_has_no_memory_for_is_not_over_a_limit() {
        const DATA_BYTES: libc::rlim_t = 128 << 20;
        let ty = TableType { element_type: RefType::FUNCREF, table64: false, initial: MAXIMUM_ENTRIES, maximum: None, shared: false };
        assert!(MAXIMUM_ENTRIES as usize * size_of::<VmTableEntry>() > DATA_BYTES as usize);
        // SAFETY: the child makes system calls and one table, and ends without running what the parent's end would run.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let limit = libc::rlimit { rlim_cur: DATA_BYTES, rlim_max: DATA_BYTES };
            // SAFETY: the struct is valid for reads during the call; null is a reference of every type.
            let (limited, table) = unsafe { (libc::setrlimit(libc::RLIMIT_DATA, &raw const limit), Table::new(ty, 0)) };
            let refused = matches!(table, Err(TableError::Reserve(error)) if error.raw_os_error() == Some(libc::ENOMEM));
            // SAFETY: ends the process.
            unsafe { libc::_exit(i32::from(limited != 0 || !refused)) };
        }
        let mut status = 0;
        // SAFETY: waits for the child made above.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "another error, or none");
    }
}
