//! The memory the unit works on: a plain buffer, or this process.
//!
//! Every access may fault; the unit orders its accesses so that a fault leaves its state and the LWPCB as they were, and the
//! instruction can be restarted.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use serde::{Deserialize, Serialize};

/// An access that the memory refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("page fault {} {address:#x}", if *.write { "writing" } else { "reading" })]
pub struct PageFault {
    /// The first byte that is not accessible, as far as known: inside the access.
    pub address: u64,
    /// A write, else a read.
    pub write: bool,
}

/// Memory at user addresses, little endian.
pub trait UserMemory {
    /// Reads bytes.
    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), PageFault>;
    /// Writes all bytes or faults without having written any that matter.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), PageFault>;
    /// Faults as [`Self::write`] would, without changing anything.
    fn probe_write(&mut self, address: u64, len: usize) -> Result<(), PageFault>;

    /// Reads a dword; what the other thread wrote before it is visible after.
    fn load_u32(&mut self, address: u64) -> Result<u32, PageFault> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        fence(Ordering::Acquire);
        Ok(u32::from_le_bytes(bytes))
    }

    /// Reads a quadword.
    fn load_u64(&mut self, address: u64) -> Result<u64, PageFault> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Writes a dword; visible after everything written before it.
    fn store_u32(&mut self, address: u64, value: u32) -> Result<(), PageFault> {
        fence(Ordering::Release);
        self.write(address, &value.to_le_bytes())
    }

    /// Writes a quadword.
    fn store_u64(&mut self, address: u64, value: u64) -> Result<(), PageFault> {
        self.write(address, &value.to_le_bytes())
    }
}

/// A buffer at a made-up address, with a range that can be made read-only or unmapped: for simulation and tests.
#[derive(Clone, Debug)]
pub struct FlatMemory {
    base: u64,
    bytes: Vec<u8>,
    /// Addresses that may not be written.
    pub read_only: std::ops::Range<u64>,
    /// Addresses that may not be touched.
    pub unmapped: std::ops::Range<u64>,
}

impl FlatMemory {
    /// `len` zero bytes at `base`.
    pub fn new(base: u64, len: usize) -> Self {
        Self { base, bytes: vec![0; len], read_only: 0..0, unmapped: 0..0 }
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn check(&self, address: u64, len: usize, write: bool) -> Result<std::ops::Range<usize>, PageFault> {
        let end = address.checked_add(len as u64).ok_or(PageFault { address, write })?;
        let outside = |range: &std::ops::Range<u64>| end <= range.start || address >= range.end || range.is_empty();
        if address < self.base || end > self.base + self.bytes.len() as u64 {
            let address = if address < self.base { address } else { address.max(self.base + self.bytes.len() as u64) };
            return Err(PageFault { address, write });
        }
        if !outside(&self.unmapped) {
            return Err(PageFault { address: address.max(self.unmapped.start), write });
        }
        if write && !outside(&self.read_only) {
            return Err(PageFault { address: address.max(self.read_only.start), write });
        }
        let start = (address - self.base) as usize;
        Ok(start..start + len)
    }
}

impl UserMemory for FlatMemory {
    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), PageFault> {
        let range = self.check(address, into.len(), false)?;
        into.copy_from_slice(&self.bytes[range]);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), PageFault> {
        let range = self.check(address, bytes.len(), true)?;
        self.bytes[range].copy_from_slice(bytes);
        Ok(())
    }

    fn probe_write(&mut self, address: u64, len: usize) -> Result<(), PageFault> {
        self.check(address, len, true).map(|_| ())
    }
}

/// This process's memory.
///
/// *Checked*: every access first goes through `process_vm_readv`/`writev` on this process, which report what a plain access would fault
/// on; async-signal-safe. *Direct*: plain accesses; what is not mapped faults as it would in the caller's own code.
#[derive(Clone, Copy, Debug)]
pub struct ProcessMemory {
    checked: bool,
}

impl ProcessMemory {
    /// Faults come back as [`PageFault`].
    ///
    /// # Safety
    /// The unit writes where its LWPCB points: only the program's own LWPCB and ring may be given to it, no memory Rust owns.
    pub unsafe fn checked() -> Self {
        Self { checked: true }
    }

    /// Faults are signals.
    ///
    /// # Safety
    /// As [`Self::checked`], and the LWPCB and the ring stay mapped while they are in use.
    pub unsafe fn direct() -> Self {
        Self { checked: false }
    }

    /// The first address in the range that the kernel refuses, if any. For a write the bytes given are written.
    fn transfer(address: u64, pointer: *mut u8, len: usize, write: bool) -> Result<(), PageFault> {
        let local = libc::iovec { iov_base: pointer.cast(), iov_len: len };
        let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: len };
        // SAFETY: getpid has no preconditions.
        let pid = unsafe { libc::getpid() };
        let done = if write {
            // SAFETY: `local` is a live buffer of `len` bytes; the kernel checks `remote`, which the constructor's contract allows to be written.
            unsafe { libc::process_vm_writev(pid, &local, 1, &remote, 1, 0) }
        } else {
            // SAFETY: `local` is a live, writable buffer of `len` bytes; the kernel checks `remote`.
            unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) }
        };
        if done == len as isize { Ok(()) } else { Err(PageFault { address: address.wrapping_add(done.max(0) as u64), write }) }
    }

    fn copy_in(address: u64, into: &mut [u8]) {
        match into.len() {
            4 if address.is_multiple_of(4) => {
                // SAFETY: aligned, and mapped by the constructor's contract or by the check before.
                let value = unsafe { AtomicU32::from_ptr(address as *mut u32) }.load(Ordering::Relaxed);
                into.copy_from_slice(&value.to_le_bytes());
            }
            8 if address.is_multiple_of(8) => {
                // SAFETY: as above.
                let value = unsafe { AtomicU64::from_ptr(address as *mut u64) }.load(Ordering::Relaxed);
                into.copy_from_slice(&value.to_le_bytes());
            }
            _ => {
                for (index, byte) in into.iter_mut().enumerate() {
                    // SAFETY: as above; bytes need no alignment.
                    *byte = unsafe { ((address + index as u64) as *const u8).read_volatile() };
                }
            }
        }
    }

    fn copy_out(address: u64, bytes: &[u8]) {
        match *bytes {
            [a, b, c, d] if address.is_multiple_of(4) => {
                // SAFETY: aligned, and writable by the constructor's contract or by the check before.
                unsafe { AtomicU32::from_ptr(address as *mut u32) }.store(u32::from_le_bytes([a, b, c, d]), Ordering::Relaxed);
            }
            _ if bytes.len().is_multiple_of(8) && address.is_multiple_of(8) => {
                for (index, chunk) in bytes.chunks_exact(8).enumerate() {
                    let value = u64::from_le_bytes(chunk.try_into().expect("chunks_exact(8) yields 8 bytes"));
                    // SAFETY: as above.
                    unsafe { AtomicU64::from_ptr((address + 8 * index as u64) as *mut u64) }.store(value, Ordering::Relaxed);
                }
            }
            _ => {
                for (index, byte) in bytes.iter().enumerate() {
                    // SAFETY: as above; bytes need no alignment.
                    unsafe { ((address + index as u64) as *mut u8).write_volatile(*byte) };
                }
            }
        }
    }
}

impl UserMemory for ProcessMemory {
    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), PageFault> {
        if self.checked {
            // The kernel's copy is used only as a check: it may split a dword.
            Self::transfer(address, into.as_mut_ptr(), into.len(), false)?;
        }
        Self::copy_in(address, into);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), PageFault> {
        if self.checked {
            self.probe_write(address, bytes.len())?;
        }
        Self::copy_out(address, bytes);
        Ok(())
    }

    fn probe_write(&mut self, address: u64, len: usize) -> Result<(), PageFault> {
        if !self.checked {
            return Ok(());
        }
        // One byte per page, written back as it was. Only fields that LWP itself writes are probed, so no other thread's write is lost.
        let mut at = address;
        let end = address.checked_add(len as u64).ok_or(PageFault { address, write: true })?;
        while at < end {
            let mut byte = 0u8;
            Self::transfer(at, &mut byte, 1, false).map_err(|fault| PageFault { write: true, ..fault })?;
            Self::transfer(at, &mut byte, 1, true)?;
            at = (at | 0xFFF) + 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checked_process_memory_reports_faults_instead_of_raising_them() {
        // SAFETY: an anonymous mapping of two pages.
        let page = unsafe {
            libc::mmap(std::ptr::null_mut(), 8192, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        } as u64;
        // SAFETY: only the mapping above is accessed.
        let mut memory = unsafe { ProcessMemory::checked() };
        memory.store_u32(page + 4092, 0x1234_5678).unwrap();
        assert_eq!(memory.load_u32(page + 4092), Ok(0x1234_5678));
        memory.write(page + 4090, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).unwrap();
        // SAFETY: the second page of the mapping.
        unsafe { libc::mprotect((page + 4096) as *mut _, 4096, libc::PROT_READ) };
        assert_eq!(memory.probe_write(page + 4090, 10), Err(PageFault { address: page + 4096, write: true }));
        assert_eq!(memory.load_u64(page + 4096).map(|word| word as u32), Ok(0x0A09_0807));
        // SAFETY: as above.
        unsafe { libc::munmap((page + 4096) as *mut _, 4096) };
        assert_eq!(memory.load_u32(page + 4096), Err(PageFault { address: page + 4096, write: false }));
        // SAFETY: the rest of the mapping.
        unsafe { libc::munmap(page as *mut _, 4096) };
    }
}
