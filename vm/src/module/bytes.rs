//! Where a module's bytes are.

use memmap2::{Advice, Mmap, MmapMut, UncheckedAdvice};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Once;

/// From this size on a file is read into pages of 2 MiB: the 26 MB of CPython are 13 faults then, not 6,400.
const HUGE_FROM: u64 = 4 << 20;

/// What one processor reads of a large file at a time: two huge pages.
const PART: usize = 4 << 20;

/// Sizes in a module are 32-bit numbers.
const MOST_BYTES: u64 = u32::MAX as u64;

/// A module's bytes: owned, or pages that nobody writes.
pub enum Bytes {
    /// On the heap.
    Owned(Vec<u8>),
    /// In pages of their own that were read from a file.
    Pages(Mmap),
    /// A file's own pages.
    Mapped {
        /// The pages.
        pages: Mmap,
        /// Where in them the module begins.
        start: usize,
        /// Its length in bytes.
        length: usize,
        /// The first instance was made from them.
        instantiated: Once,
    },
}

impl Bytes {
    /// Reads a whole file.
    ///
    /// # Errors
    /// It cannot be read, or is larger than a module can be.
    pub fn read(path: &Path) -> io::Result<Bytes> {
        Bytes::read_up_to(path, MOST_BYTES)
    }

    fn read_up_to(path: &Path, most: u64) -> io::Result<Bytes> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        if length > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if length < HUGE_FROM {
            // Also what has no length, as a pipe, and what has no end.
            let mut bytes = Vec::with_capacity(length as usize);
            file.take(most + 1).read_to_end(&mut bytes)?;
            return if bytes.len() as u64 > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(Bytes::Owned(bytes)) };
        }
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let mut pages = MmapMut::map_anon(length)?;
        // A kernel without huge pages reads it into small ones.
        let _ = pages.advise(Advice::HugePage);
        // The kernel clears pages and copies into them, which takes longer than all else until validation begins: 9 ms of CPython's start on one processor.
        let parts: Vec<_> = pages.chunks_mut(PART).enumerate().collect();
        crate::pool::map(parts, |(number, part)| file.read_exact_at(part, (number * PART) as u64))
            .into_iter()
            .collect::<io::Result<()>>()?;
        if file.read_at(&mut [0], length as u64)? != 0 {
            return Err(io::Error::other("it grows while it is read"));
        }
        Ok(Bytes::Pages(pages.make_read_only()?))
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
        Ok(Bytes::Mapped { pages, start, length, instantiated: Once::new() })
    }

    /// Gives mapped pages back to the file's cache, from where they come again when they are looked at. What walks over a module, to parse it or to fill an
    /// instance's memories, maps most of its pages and needs few of them again: 18 MB of CPython.
    pub(crate) fn let_go(&self) {
        if let Bytes::Mapped { pages, .. } = self {
            // SAFETY: a file's pages, not written here, and whoever mapped them promised ([`Bytes::map`]) that nobody else writes them: they have the same bytes when they come
            // again, for other threads' slices too.
            if let Err(error) = unsafe { pages.unchecked_advise(UncheckedAdvice::DontNeed) } {
                tracing::debug!(%error, "a module's pages stay mapped");
            }
        }
    }

    /// An instance has its data. Whoever makes many instances keeps the pages.
    pub(crate) fn instantiated(&self) {
        if let Bytes::Mapped { instantiated, .. } = self {
            instantiated.call_once(|| self.let_go());
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Pages(pages) => pages,
            Bytes::Mapped { pages, start, length, .. } => &pages[*start..*start + *length],
        }
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        Bytes::Owned(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Pages of these bytes that this process has mapped now.
    fn resident(bytes: &[u8]) -> usize {
        let first = bytes.as_ptr() as usize & !4095;
        let mut pages = vec![0u8; (bytes.as_ptr() as usize + bytes.len() - first).div_ceil(4096)];
        // Bit 63 of an entry says whether the page is present (Linux, Documentation/admin-guide/mm/pagemap.rst).
        let mut entries = vec![0; pages.len() * 8];
        std::os::unix::fs::FileExt::read_exact_at(
            &File::open("/proc/self/pagemap").expect("Linux has it"),
            &mut entries,
            (first / 4096 * 8) as u64,
        )
        .expect("its entries are read");
        entries.chunks(8).zip(&mut pages).for_each(|(entry, page)| *page = entry[7] >> 7);
        pages.iter().map(|&page| usize::from(page)).sum()
    }

    #[test]
    fn what_has_no_end_is_not_read_for_ever() {
        let error = |path: &Path| Bytes::read_up_to(path, 1 << 16).err().map(|error| error.kind());
        assert_eq!(error(Path::new("/dev/zero")), Some(io::ErrorKind::FileTooLarge));
        let file = tempfile::NamedTempFile::new().expect("there is room for it");
        file.as_file().set_len(1 << 16).expect("it takes no room");
        assert_eq!(error(file.path()), None);
        file.as_file().set_len(1 + (1 << 16)).expect("it takes no room");
        assert_eq!(error(file.path()), Some(io::ErrorKind::FileTooLarge));
    }

    #[test]
    fn what_was_parsed_is_let_go_and_the_same_when_it_comes_again() {
        let mut file = tempfile::NamedTempFile::new().expect("there is room for it");
        let content: Vec<u8> = (0..HUGE_FROM as usize + 5).map(|at| (at / 7) as u8).collect();
        file.write_all(&content).expect("there is room for it");
        // SAFETY: nobody else knows the file.
        let mapped = unsafe { Bytes::map(file.as_file(), 3, HUGE_FROM as usize) }.expect("it is there");
        let read = Bytes::read(file.path()).expect("it is there");
        for done in [Bytes::let_go, Bytes::instantiated, Bytes::let_go] {
            assert!(mapped[..] == content[3..][..HUGE_FROM as usize] && read[..] == content[..]);
            assert!(resident(&mapped) > 1000, "{}", resident(&mapped));
            done(&mapped);
            done(&read);
            assert_eq!(resident(&mapped), 0);
        }
        // Whoever makes a second instance will make more.
        assert!(mapped[..] == content[3..][..HUGE_FROM as usize] && read[..] == content[..]);
        mapped.instantiated();
        assert!(resident(&mapped) > 1000, "{}", resident(&mapped));
    }
}
