//! Standard streams: the host's own standard input, and which of its streams can be used; readers that the host gives.

use std::any::Any;
use std::io::{self, IoSliceMut, IsTerminal, Read, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd};
use wasi_common::file::{FileAccessMode, FileType};
use wasi_common::sync::stdio;
use wasi_common::{Error, SystemTimeSpec, WasiFile};

/// The host's standard input, read as the system has it: what a guest did not ask for is left to who reads next, and a poll of the system sees it. (Rust's own has a buffer for the whole process.)
pub(super) struct Stdin<F> {
    inner: stdio::Stdin,
    file: F,
}

impl Stdin<io::Stdin> {
    pub(super) fn new() -> Stdin<io::Stdin> {
        Stdin::of(io::stdin())
    }
}

impl<F: AsFd> Stdin<F> {
    /// `file` is standard input, but in a test.
    pub(super) fn of(file: F) -> Stdin<F> {
        Stdin { inner: stdio::stdin(), file }
    }
}

#[wiggle::async_trait]
impl<F: AsFd + Send + Sync + 'static> WasiFile for Stdin<F> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn pollable(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }

    fn isatty(&self) -> bool {
        self.file.as_fd().is_terminal()
    }

    fn num_ready_bytes(&self) -> Result<u64, Error> {
        Ok(rustix::io::ioctl_fionread(&self.file).map_err(io::Error::from)?)
    }

    async fn get_filetype(&self) -> Result<FileType, Error> {
        self.inner.get_filetype().await
    }

    async fn read_vectored<'a>(&self, bufs: &mut [IoSliceMut<'a>]) -> Result<u64, Error> {
        Ok(rustix::io::readv(&self.file, bufs).map_err(io::Error::from)? as u64)
    }

    async fn read_vectored_at<'a>(&self, bufs: &mut [IoSliceMut<'a>], offset: u64) -> Result<u64, Error> {
        self.inner.read_vectored_at(bufs, offset).await
    }

    async fn seek(&self, to: SeekFrom) -> Result<u64, Error> {
        self.inner.seek(to).await
    }

    async fn peek(&self, buf: &mut [u8]) -> Result<u64, Error> {
        self.inner.peek(buf).await
    }

    async fn set_times(&self, accessed: Option<SystemTimeSpec>, modified: Option<SystemTimeSpec>) -> Result<(), Error> {
        self.inner.set_times(accessed, modified).await
    }
}

/// What a guest may do with a stream of the host's: `access`, or nothing where it is closed or open for the other thing only. (Rust's own streams hide that: they read nothing, and write nowhere.)
pub(super) fn access(stream: impl AsFd, access: FileAccessMode) -> FileAccessMode {
    use rustix::fs::OFlags;
    let other = if access == FileAccessMode::READ { OFlags::WRONLY } else { OFlags::RDONLY };
    match rustix::fs::fcntl_getfl(stream) {
        Ok(flags) if flags & OFlags::RWMODE != other => access,
        _ => FileAccessMode::empty(),
    }
}

/// A reader of the host's. It may say that it read more than there was room for; the guest is not told.
pub(super) struct Reader<R>(pub(super) R);

impl<R: Read> Read for Reader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.0.read(buf)?.min(buf.len()))
    }

    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let room = bufs.iter().map(|buf| buf.len()).sum();
        Ok(self.0.read_vectored(bufs)?.min(room))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn a_stream_is_used_for_what_it_is_open_for() {
        let place = tempfile::NamedTempFile::new().unwrap();
        let (reads, writes) = (File::open(place.path()).unwrap(), File::create(place.path()).unwrap());
        for (wanted, fits, other) in [(FileAccessMode::READ, &reads, &writes), (FileAccessMode::WRITE, &writes, &reads)] {
            assert_eq!((access(fits, wanted), access(other, wanted)), (wanted, FileAccessMode::empty()));
            assert_eq!(access(place.as_file(), wanted), wanted, "open for both");
        }
    }
}
