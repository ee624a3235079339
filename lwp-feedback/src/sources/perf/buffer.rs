//! The kernel's buffer of one event, mapped: a page of control words, then a power of two of pages of records.
//!
//! Protocol (`perf_event_open(2)`, "MMAP layout"): the kernel writes records, then `data_head`; the reader loads `data_head` with Acquire, reads, then stores
//! `data_tail` with Release. Both count bytes and never wrap; the place is the count modulo the size. A record may wrap around the buffer's end.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys::bindings::perf_event_mmap_page;
use perf_event_open_sys::ioctls;

use super::attributes::{Chosen, open, sample_type};
use super::sample::{Parsed, parse};

/// Pages of records: 64 KiB hold about a thousand samples, four seconds of clocks. A power of two.
const PAGES: usize = 16;
const PAGE: usize = 4096;
/// Bytes of a record's head.
const HEAD: usize = 8;

/// One event of a thread.
pub(super) struct Buffer {
    mapping: NonNull<u8>,
    bytes: usize,
    sample_type: u64,
    /// A record that wraps, put together.
    whole: Vec<u8>,
    _fd: OwnedFd,
}

// SAFETY: the mapping is this value's own; the kernel is the only other user, through the atomics of the protocol.
unsafe impl Send for Buffer {}

impl Buffer {
    /// Opens and starts an event on this thread.
    pub(super) fn open(chosen: &Chosen) -> io::Result<Buffer> {
        let fd = open(chosen, false)?;
        let bytes = PAGE * (1 + PAGES);
        // SAFETY: a new mapping of a file that is open, at an address of the kernel's choice.
        let mapping =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, fd.as_raw_fd(), 0) };
        if mapping == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mapping = NonNull::<u8>::new(mapping.cast()).ok_or_else(|| io::Error::other("mapped at 0"))?;
        // SAFETY: an event's file.
        if unsafe { ioctls::ENABLE(fd.as_raw_fd(), 0) } != 0 {
            let error = io::Error::last_os_error();
            // SAFETY: mapped above.
            unsafe { libc::munmap(mapping.as_ptr().cast(), bytes) };
            return Err(error);
        }
        Ok(Buffer { mapping, bytes, sample_type: sample_type(chosen.kind), whole: Vec::new(), _fd: fd })
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset + 8 <= PAGE && offset.is_multiple_of(8));
        // SAFETY: inside the control page, which is mapped as long as this value lives; the kernel and we access these words as atomics.
        unsafe { self.mapping.add(offset).cast::<AtomicU64>().as_ref() }
    }

    /// Hands all records so far to `each` and gives their room back.
    pub(super) fn read(&mut self, mut each: impl FnMut(Parsed<'_>)) {
        let (head_at, tail_at) =
            (std::mem::offset_of!(perf_event_mmap_page, data_head), std::mem::offset_of!(perf_event_mmap_page, data_tail));
        let head = self.word(head_at).load(Ordering::Acquire);
        let tail = self.word(tail_at).load(Ordering::Relaxed);
        let mut whole = std::mem::take(&mut self.whole);
        // SAFETY: the kernel does not write between tail and head, which is what `walk` reads of it; the rest is not looked at.
        let data = unsafe { std::slice::from_raw_parts(self.mapping.add(PAGE).as_ptr(), self.bytes - PAGE) };
        walk(data, tail, head, &mut whole, |kind, misc, body| each(parse(kind, misc, body, self.sample_type)));
        self.whole = whole;
        // Also after a record of no sense: it and what is behind it is given up.
        self.word(tail_at).store(head, Ordering::Release);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: mapped in `open`, and nothing borrows it.
        unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.bytes) };
    }
}

/// The records of `data` from `tail` to `head`: type, misc, body. `data`'s length is a power of two.
pub(super) fn walk(data: &[u8], tail: u64, head: u64, whole: &mut Vec<u8>, mut each: impl FnMut(u32, u16, &[u8])) {
    let size = data.len() as u64;
    if head.wrapping_sub(tail) > size {
        return each(u32::MAX, 0, &[]);
    }
    let mut at = tail;
    while head.wrapping_sub(at) >= HEAD as u64 {
        let piece = |from: u64, length: usize, whole: &mut Vec<u8>| {
            let start = (from % size) as usize;
            whole.clear();
            let first = length.min(data.len() - start);
            whole.extend_from_slice(&data[start..start + first]);
            whole.extend_from_slice(&data[..length - first]);
        };
        piece(at, HEAD, whole);
        let kind = u32::from_le_bytes([whole[0], whole[1], whole[2], whole[3]]);
        let misc = u16::from_le_bytes([whole[4], whole[5]]);
        let length = usize::from(u16::from_le_bytes([whole[6], whole[7]]));
        if length < HEAD || length as u64 > head.wrapping_sub(at) {
            return each(u32::MAX, 0, &[]);
        }
        piece(at.wrapping_add(HEAD as u64), length - HEAD, whole);
        each(kind, misc, whole);
        at = at.wrapping_add(length as u64);
    }
}
