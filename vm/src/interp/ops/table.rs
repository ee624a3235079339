//! Globals, references and tables.

use super::memory::{checked, three};
use crate::bytecode::Slot;
use crate::interp::machine::{Exec, Flow, Regs, publish, stop};
use crate::layout::{VmTable, VmTableRef};
use crate::operations;
use crate::runtime;
use crate::trap::TrapCode;
use std::sync::atomic::Ordering;

/// A word at a byte offset from the context.
#[inline(always)]
unsafe fn word(regs: &Regs, place: i32) -> *mut u64 {
    // SAFETY: places come from the module's `VmOffsets`, so they lie inside the context.
    unsafe { (*regs.exec).context.byte_offset(place as isize).cast() }
}

/// The word that a word at a byte offset from the context points to.
#[inline(always)]
unsafe fn word_behind(regs: &Regs, place: i32) -> *mut u64 {
    // SAFETY: as `word`; what imports point to outlives the instance.
    unsafe { word(regs, place).cast::<*mut u64>().read() }
}

#[inline(always)]
pub(in crate::interp) unsafe fn global_get<const M: u8>(regs: &mut Regs, dst: Slot, place: i32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let value = *word(regs, place);
        regs.set(dst, value);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn global_get_imported<const M: u8>(regs: &mut Regs, dst: Slot, place: i32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let value = *word_behind(regs, place);
        regs.set(dst, value);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn global_set<const M: u8>(regs: &mut Regs, src: Slot, place: i32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        *word(regs, place) = regs.first::<M>(src);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn global_set_imported<const M: u8>(regs: &mut Regs, src: Slot, place: i32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        *word_behind(regs, place) = regs.first::<M>(src);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn ref_func<const M: u8>(regs: &mut Regs, dst: Slot, place: i32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let function = word(regs, place);
        regs.set(dst, function as u64);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn ref_func_imported<const M: u8>(regs: &mut Regs, dst: Slot, place: i32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let function = word_behind(regs, place);
        regs.set(dst, function as u64);
        regs.next()
    }
}

/// A table of the running instance.
#[inline(always)]
pub(super) unsafe fn table_of(exec: *mut Exec, table: u32) -> *const VmTable {
    // SAFETY: the table's reference lies in the context, in the order of the index space.
    unsafe {
        let first = (*exec).context.byte_offset((*exec).tables_place as isize).cast::<VmTableRef>();
        (*first.add(table as usize)).table
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn table_get<const M: u8>(regs: &mut Regs, dst: Slot, index: Slot, table: u32) -> Flow {
    // SAFETY: see `super`; the index is checked.
    unsafe {
        let table = table_of(regs.exec, table);
        let index = regs.first::<M>(index) as usize;
        if index >= (*table).length.load(Ordering::Relaxed) {
            return regs.trap(TrapCode::TableOutOfBounds);
        }
        let reference = (*(*table).base.add(index)).reference;
        regs.set(dst, reference);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn table_set<const M: u8>(regs: &mut Regs, table: u32, index: Slot, value: Slot) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let (index, reference) = (regs.first::<M>(index), regs.second::<M>(value));
        let result = operations::table_set((*regs.exec).context, table, index, reference);
        checked(regs, result)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn table_size<const M: u8>(regs: &mut Regs, dst: Slot, table: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let table = table_of(regs.exec, table);
        let length = (*table).length.load(Ordering::Relaxed);
        regs.set(dst, length as u64);
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn table_grow<const M: u8>(regs: &mut Regs, base: Slot, table: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        publish(regs.exec, regs.ip);
        let reference = regs.u64(base);
        let delta = regs.u64(Slot(base.0 + 1));
        let old = match operations::table_grow((*regs.exec).context, table, reference, delta) {
            Ok(old) => old,
            Err(unwind) => return stop(regs.exec, unwind),
        };
        if runtime::instance((*regs.exec).context).module.tables[table as usize].table64 {
            regs.set(base, old);
        } else {
            regs.set(base, old as i32);
        }
        regs.next()
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn table_fill<const M: u8>(regs: &mut Regs, base: Slot, table: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let [start, _, count] = three(regs, base);
        let reference = regs.u64(Slot(base.0 + 1));
        let result = operations::table_fill((*regs.exec).context, table, start, reference, count);
        checked(regs, result)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn table_copy<const M: u8>(regs: &mut Regs, base: Slot, to: u32, from: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let [destination, source, count] = three(regs, base);
        let context = (*regs.exec).context;
        let result = operations::table_copy(context, to, from, destination, source, count);
        checked(regs, result)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn table_init<const M: u8>(regs: &mut Regs, base: Slot, table: u32, segment: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        let [destination, source, count] = three(regs, base);
        let context = (*regs.exec).context;
        let (source, count) = (source as u32, count as u32);
        let result = operations::table_init(context, table, segment, destination, source, count);
        checked(regs, result)
    }
}

#[inline(always)]
pub(in crate::interp) unsafe fn elem_drop<const M: u8>(regs: &mut Regs, segment: u32) -> Flow {
    // SAFETY: see `super`.
    unsafe {
        operations::elem_drop((*regs.exec).context, segment);
        regs.next()
    }
}
