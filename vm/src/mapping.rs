//! Address space from the operating system: reserving, opening for access, and giving back.

use std::io;
use std::ptr::NonNull;

/// Bytes of a page.
pub const PAGE: usize = 4096;

/// A private anonymous mapping that is unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping is plain memory that this value alone owns; who may touch its bytes is up to the owner's own synchronization.
unsafe impl Send for Mapping {}
// SAFETY: as above; `&Mapping` gives out addresses, never references.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Reserves `length` bytes (rounded up to pages) without access.
    pub fn reserve(length: usize) -> io::Result<Mapping> {
        let length = length.next_multiple_of(PAGE);
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches nothing that exists.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), length, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, -1, 0)
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Mapping { base: NonNull::new(base.cast()).expect("mmap never returns null here"), length })
    }

    /// First byte.
    pub fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Bytes reserved.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Makes `[offset, offset + length)` readable and writable. Both multiples of the page size.
    pub fn open(&self, offset: usize, length: usize) -> io::Result<()> {
        assert!(offset.checked_add(length).is_some_and(|end| end <= self.length), "outside the mapping");
        if length == 0 {
            return Ok(());
        }
        // SAFETY: the range lies inside this mapping (asserted).
        let result = unsafe { libc::mprotect(self.base().add(offset).cast(), length, libc::PROT_READ | libc::PROT_WRITE) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Gives the memory of `[offset, offset + length)` back to the system: it reads as zero then. Both multiples of the page size.
    pub fn discard(&self, offset: usize, length: usize) {
        assert!(offset.checked_add(length).is_some_and(|end| end <= self.length), "outside the mapping");
        // SAFETY: the range lies inside this mapping (asserted), whose owner has nothing there.
        unsafe { libc::madvise(self.base().add(offset).cast(), length, libc::MADV_DONTNEED) };
    }

    /// Asks for huge pages in `[offset, offset + length)`; a kernel without them ignores it.
    pub fn advise_huge(&self, offset: usize, length: usize) {
        assert!(offset.checked_add(length).is_some_and(|end| end <= self.length), "outside the mapping");
        // SAFETY: the range lies inside this mapping (asserted); the advice changes no contents.
        unsafe { libc::madvise(self.base().add(offset).cast(), length, libc::MADV_HUGEPAGE) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is this mapping, mapped by `reserve` and not unmapped before.
        unsafe { libc::munmap(self.base().cast(), self.length) };
    }
}

/// Bytes of address space that this process may have, if there is a limit.
pub fn address_limit() -> Option<usize> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes the whole structure it is given.
    let told = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    (told && limit.rlim_cur != libc::RLIM_INFINITY).then(|| usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX))
}

/// Bytes of address space that this process may have besides those that it has, where it may have `limit`.
pub(crate) fn addresses_left(limit: usize) -> usize {
    let sizes = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let used = sizes.split(' ').next().and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0);
    limit.saturating_sub(used.saturating_mul(PAGE))
}
