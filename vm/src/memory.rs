//! Linear memories: reserved once, opened as they grow, never moved.

use crate::layout::VmMemory;
use crate::mapping::{Mapping, PAGE, address_limit, addresses_left};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use wasmparser::MemoryType;

/// Bytes of a wasm page.
pub const WASM_PAGE: usize = 65536;
/// Bytes a 32-bit memory may reach.
const REACH: usize = 4 << 30;
/// Pages that a 32-bit memory grows to at most, unless it begins with more: one less than there could be, which the specification allows. What lies in bounds then lies a page
/// below 2^32, and compiled code may add that much to it without wrapping.
pub const GROWS_TO: u64 = (REACH / WASM_PAGE) as u64 - 1;
/// Address space behind a memory that no access may touch: offsets below 2 GiB, and one page for the widest access.
const GUARD: usize = (2 << 30) + WASM_PAGE;
/// Memories that may become large start at a multiple of this, so that huge pages fit.
const ALIGNMENT: usize = 2 << 20;
/// From this size on huge pages are asked for (measured: 8 % on a 256 MiB gather, 1.4x with prefetch).
const HUGE_FROM: usize = 16 << 20;
/// Address space for a memory with 64-bit addresses whose type allows more: growing past it fails, as the specification allows.
const REACH_64: usize = 1 << 40;
/// A process that may not have the address space of this many guarded memories gets unguarded ones. A guess: one for the program, and some for what else
/// it loads.
const GUARDED_AT_LEAST: usize = 4;

/// Why a memory could not be made.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The operating system refused address space or memory.
    #[error("cannot reserve address space for a linear memory: {0}")]
    Reserve(std::io::Error),
    /// A limit of the store.
    #[error("memory minimum size of {pages} pages exceeds memory limits")]
    Limit {
        /// Pages asked for.
        pages: u64,
    },
}

/// A linear memory. `vm` is its first field and what compiled code sees.
#[repr(C)]
pub struct Memory {
    vm: VmMemory,
    ty: MemoryType,
    start: usize,
    guarded: bool,
    mapping: Arc<Mapping>,
    _share: Option<Share>,
    /// Held while it grows: threads may share it.
    growth: Mutex<()>,
}

/// Address space for a guarded memory, and opened in front of it, to the last byte, room for what lies there.
pub(crate) struct Room {
    ty: MemoryType,
    mapping: Arc<Mapping>,
    start: usize,
    bytes: usize,
}

impl Room {
    /// For a memory of a type and `before` bytes.
    pub(crate) fn new(ty: MemoryType, before: usize) -> Result<Room, MemoryError> {
        let (bytes, before) = (initial_bytes(ty)?, before.next_multiple_of(PAGE));
        let mapping = Mapping::reserve(before + ALIGNMENT + REACH + GUARD).map_err(MemoryError::Reserve)?;
        let start = aligned(&mapping, before);
        mapping.open(start - before, before + bytes).map_err(MemoryError::Reserve)?;
        Ok(Room { ty, mapping: Arc::new(mapping), start, bytes })
    }

    /// Where the memory begins.
    pub(crate) fn end(&self) -> *mut u8 {
        // SAFETY: `start` is inside the mapping.
        unsafe { self.mapping.base().add(self.start) }
    }

    /// What keeps it there.
    pub(crate) fn mapping(&self) -> &Arc<Mapping> {
        &self.mapping
    }
}

/// The first offset in a mapping behind `before` that memories start at.
fn aligned(mapping: &Mapping, before: usize) -> usize {
    let base = mapping.base() as usize;
    (base + before).next_multiple_of(ALIGNMENT) - base
}

fn initial_bytes(ty: MemoryType) -> Result<usize, MemoryError> {
    let most = if ty.memory64 { usize::MAX } else { REACH };
    let bytes = usize::try_from(ty.initial).ok().and_then(|pages| pages.checked_mul(WASM_PAGE)).filter(|&bytes| bytes <= most);
    bytes.ok_or(MemoryError::Limit { pages: ty.initial })
}

// SAFETY: it owns its mapping; its fields never change but for the atomic length, and its growth is under a lock. What is in it guests access.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// A memory of its type's minimum size, zeroed. One that threads share may be in several stores. With 32-bit addresses and `guarded`, all that an
    /// access can reach is address space of its own; without, only what it may grow to, as far as the system gives it, and whoever accesses it checks.
    pub fn new(ty: MemoryType, guarded: bool) -> Result<Arc<Memory>, MemoryError> {
        if guarded && !ty.memory64 {
            return Ok(Memory::in_room(Room::new(ty, 0)?));
        }
        let bytes = initial_bytes(ty)?;
        let (share, its) = address_limit().map(|limit| Share::of(limit, addresses_left(limit), bytes)).unzip();
        let most = its.map_or(usize::MAX, |bytes| bytes / WASM_PAGE * WASM_PAGE).min(if ty.memory64 { REACH_64 } else { REACH });
        let (mapping, reserved) = reserve_what_there_is(ty, bytes, most)?;
        let mapping = mapping.map_err(MemoryError::Reserve)?;
        let start = if reserved < HUGE_FROM { 0 } else { aligned(&mapping, 0) };
        mapping.open(start, bytes).map_err(MemoryError::Reserve)?;
        Ok(Memory::opened(Room { ty, mapping: Arc::new(mapping), start, bytes }, reserved, share, false))
    }

    /// A guarded memory in room that was made for it.
    pub(crate) fn in_room(room: Room) -> Arc<Memory> {
        Memory::opened(room, REACH, None, true)
    }

    fn opened(Room { ty, mapping, start, bytes }: Room, reserved: usize, share: Option<Share>, guarded: bool) -> Arc<Memory> {
        if bytes >= HUGE_FROM {
            mapping.advise_huge(start, reserved);
        }
        let reserved_pages = (reserved / WASM_PAGE) as u64;
        let most_pages = if ty.memory64 { reserved_pages } else { reserved_pages.min(GROWS_TO.max(ty.initial)) };
        let vm = VmMemory {
            // SAFETY: `start` is inside the mapping.
            base: unsafe { mapping.base().add(start) },
            length: AtomicUsize::new(bytes),
            reserved,
            maximum_pages: ty.maximum.unwrap_or(most_pages).min(most_pages),
        };
        Arc::new(Memory { vm, ty, start, guarded, mapping, _share: share, growth: Mutex::new(()) })
    }

    /// Whether code that checks nothing may access it.
    pub fn is_guarded(&self) -> bool {
        self.guarded
    }

    /// What compiled code sees.
    pub fn vm(&self) -> *mut VmMemory {
        (&raw const self.vm).cast_mut()
    }

    /// The declared type.
    pub fn ty(&self) -> MemoryType {
        self.ty
    }

    /// First byte.
    pub fn base(&self) -> *mut u8 {
        self.vm.base
    }

    /// Bytes accessible.
    pub fn length(&self) -> usize {
        self.vm.length.load(Ordering::SeqCst)
    }

    /// Pages accessible.
    pub fn pages(&self) -> u64 {
        (self.length() / WASM_PAGE) as u64
    }

    /// Grows by `delta` pages; the old size in pages, or `None` where the maximum or the system forbids it.
    pub fn grow(&self, delta: u64) -> Option<u64> {
        let _one = self.growth.lock().unwrap_or_else(|error| error.into_inner());
        let old = self.length();
        let pages = (old / WASM_PAGE) as u64;
        let new_pages = pages.checked_add(delta).filter(|&pages| pages <= self.vm.maximum_pages)?;
        if delta > 0 {
            let new = new_pages as usize * WASM_PAGE;
            self.mapping.open(self.start + old, new - old).ok()?;
            // Of all that it can grow to, once: a program that grows page by page would ask as often as it grows.
            if new >= HUGE_FROM && old < HUGE_FROM {
                self.mapping.advise_huge(self.start, self.vm.reserved);
            }
            // (sequentially consistent, as `memory.size` and `memory.grow` of a memory that threads share are to each other)
            self.vm.length.store(new, Ordering::SeqCst);
        }
        Some(pages)
    }
}

/// Whether this process may have the address space of guarded memories: not under a low limit (`ulimit -v`).
pub fn guards_fit() -> bool {
    address_limit().is_none_or(|limit| limit >= GUARDED_AT_LEAST * (REACH + GUARD + ALIGNMENT))
}

/// Bytes that a memory can grow by where address space is limited, if that is there. A guess.
const GROWS_AT_LEAST: usize = 16 * WASM_PAGE;

/// Memories there are whose address space is a share of a limited one.
static SHARES: AtomicUsize = AtomicUsize::new(0);

/// One of [`SHARES`].
struct Share;

impl Share {
    /// Its bytes, for a memory that begins with `bytes`: of what a limit leaves, a quarter for the first memory, which is the program's, and a sixteenth for each other one. These leave an eighth of the
    /// limit alone: it is for what memories begin with and grow by at least, however many there are, and for the process itself.
    fn of(limit: usize, left: usize, bytes: usize) -> (Share, usize) {
        let first = SHARES.fetch_add(1, Ordering::Relaxed) == 0;
        let share = if first { left / 4 } else { left.saturating_sub(limit / 8) / 16 };
        (Share, share.max(bytes.saturating_add(GROWS_AT_LEAST)))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        SHARES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Address space for a memory whose accesses are checked: as much as its type allows and the system gives, `most` bytes unless it starts with more.
fn reserve_what_there_is(ty: MemoryType, bytes: usize, most: usize) -> Result<(std::io::Result<Mapping>, usize), MemoryError> {
    let maximum = usize::try_from(ty.maximum.unwrap_or(u64::MAX)).unwrap_or(usize::MAX).saturating_mul(WASM_PAGE);
    let least = bytes.max(WASM_PAGE);
    // More than any machine has is the system's to refuse, not an overflow here.
    if least > 1 << 47 {
        return Err(MemoryError::Limit { pages: ty.initial });
    }
    let mut reach = maximum.clamp(least, most.max(least));
    loop {
        let mapping = Mapping::reserve(reach + WASM_PAGE + if reach < HUGE_FROM { 0 } else { ALIGNMENT });
        if mapping.is_ok() || reach == least {
            return Ok((mapping, reach));
        }
        reach = (reach / 4 / WASM_PAGE * WASM_PAGE).max(least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(initial: u64, maximum: Option<u64>, guarded: bool) -> Arc<Memory> {
        let ty = MemoryType { memory64: false, shared: false, initial, maximum, page_size_log2: None };
        Memory::new(ty, guarded).expect("there is address space")
    }

    #[test]
    fn a_memory_grows_to_all_but_one_page_unless_it_began_with_all() {
        for maximum in [None, Some(65536)] {
            let grown = memory(1, maximum, true);
            assert_eq!((grown.grow(65535), grown.grow(1), grown.pages()), (None, Some(1), 2));
            assert_eq!(grown.vm.maximum_pages, GROWS_TO);
        }
        assert_eq!(memory(1, Some(3), true).vm.maximum_pages, 3);
        assert!(memory(1, Some(65536), false).vm.maximum_pages <= GROWS_TO);
        assert_eq!(memory(65536, None, true).pages(), 65536);
    }
}
