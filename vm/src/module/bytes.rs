//! Where a module's bytes are.

use memmap2::{Advice, Mmap, MmapMut};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

/// From this size on a file is read into pages of 2 MiB: the 26 MB of CPython are 13 faults then, not 6,400.
const HUGE_FROM: u64 = 4 << 20;

/// A module's bytes: owned, or pages that nobody writes.
pub enum Bytes {
    /// On the heap.
    Owned(Vec<u8>),
    /// In pages of their own: read from a file, or a file's own.
    Pages {
        /// The pages.
        pages: Mmap,
        /// Where in them the module begins.
        start: usize,
        /// Its length in bytes.
        length: usize,
    },
}

impl Bytes {
    /// Reads a whole file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(path: &Path) -> io::Result<Bytes> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        if length < HUGE_FROM {
            // Also what has no length, as a pipe.
            let mut bytes = Vec::with_capacity(length as usize);
            file.read_to_end(&mut bytes)?;
            return Ok(Bytes::Owned(bytes));
        }
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let mut pages = MmapMut::map_anon(length)?;
        // A kernel without huge pages reads it into small ones.
        let _ = pages.advise(Advice::HugePage);
        file.read_exact(&mut pages)?;
        if file.read(&mut [0])? != 0 {
            return Err(io::Error::other("it grows while it is read"));
        }
        Ok(Bytes::Pages { pages: pages.make_read_only()?, start: 0, length })
    }

    /// A part of a file, whose pages are read when they are first looked at.
    ///
    /// # Errors
    /// It cannot be mapped, or is shorter.
    ///
    /// # Safety
    /// Nobody changes the file while the bytes live.
    pub unsafe fn map(file: &File, start: usize, length: usize) -> io::Result<Bytes> {
        // SAFETY: the caller's promise.
        let pages = unsafe { Mmap::map(file)? };
        if start.checked_add(length).is_none_or(|end| end > pages.len()) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Bytes::Pages { pages, start, length })
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Pages { pages, start, length } => &pages[*start..*start + *length],
        }
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        Bytes::Owned(bytes)
    }
}
