//! A guest's open file: wasi-common's, with times that it can hand on.

use super::directory::Access;
use std::any::Any;
use std::io::{IoSlice, IoSliceMut, SeekFrom};
use std::os::fd::BorrowedFd;
use std::time::{SystemTime, UNIX_EPOCH};
use wasi_common::file::{Advice, FdFlags, FileType, Filestat};
use wasi_common::sync::file::File as Inner;
use wasi_common::{Error, ErrorExt, SystemTimeSpec, WasiFile};

/// An open file.
pub(super) struct File {
    inner: Inner,
    access: Access,
    /// The guest opened it to be written. (What was made by a guest that only reads it, the host can write.)
    written: bool,
}

impl File {
    pub(super) fn new(file: cap_std::fs::File, access: Access, written: bool) -> File {
        File { inner: Inner::from_cap_std(file), access, written }
    }
}

/// A time as the guest may see it. It counts from 1970: wasi-common panics at times before, here they are unknown (0).
pub(super) fn since_1970(time: Option<SystemTime>) -> Option<SystemTime> {
    time.filter(|&time| time >= UNIX_EPOCH)
}

#[wiggle::async_trait]
impl WasiFile for File {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn pollable(&self) -> Option<BorrowedFd<'_>> {
        self.inner.pollable()
    }

    fn isatty(&self) -> bool {
        self.inner.isatty()
    }

    fn num_ready_bytes(&self) -> Result<u64, Error> {
        self.inner.num_ready_bytes()
    }

    async fn get_filetype(&self) -> Result<FileType, Error> {
        self.inner.get_filetype().await
    }

    async fn get_filestat(&self) -> Result<Filestat, Error> {
        let stat = self.inner.get_filestat().await?;
        Ok(Filestat { atim: since_1970(stat.atim), mtim: since_1970(stat.mtim), ctim: since_1970(stat.ctim), ..stat })
    }

    async fn get_fdflags(&self) -> Result<FdFlags, Error> {
        self.inner.get_fdflags().await
    }

    async fn set_fdflags(&mut self, flags: FdFlags) -> Result<(), Error> {
        self.inner.set_fdflags(flags).await
    }

    async fn set_filestat_size(&self, size: u64) -> Result<(), Error> {
        if !self.written {
            return Err(Error::invalid_argument());
        }
        self.inner.set_filestat_size(size).await
    }

    async fn set_times(&self, accessed: Option<SystemTimeSpec>, modified: Option<SystemTimeSpec>) -> Result<(), Error> {
        // (the system asks who owns the file, not how it was opened)
        self.access.change()?;
        self.inner.set_times(accessed, modified).await
    }

    async fn advise(&self, offset: u64, len: u64, advice: Advice) -> Result<(), Error> {
        self.inner.advise(offset, len, advice).await
    }

    async fn datasync(&self) -> Result<(), Error> {
        self.inner.datasync().await
    }

    async fn sync(&self) -> Result<(), Error> {
        self.inner.sync().await
    }

    async fn read_vectored<'a>(&self, bufs: &mut [IoSliceMut<'a>]) -> Result<u64, Error> {
        self.inner.read_vectored(bufs).await
    }

    async fn read_vectored_at<'a>(&self, bufs: &mut [IoSliceMut<'a>], offset: u64) -> Result<u64, Error> {
        self.inner.read_vectored_at(bufs, offset).await
    }

    async fn write_vectored<'a>(&self, bufs: &[IoSlice<'a>]) -> Result<u64, Error> {
        self.inner.write_vectored(bufs).await
    }

    async fn write_vectored_at<'a>(&self, bufs: &[IoSlice<'a>], offset: u64) -> Result<u64, Error> {
        self.inner.write_vectored_at(bufs, offset).await
    }

    async fn seek(&self, to: SeekFrom) -> Result<u64, Error> {
        self.inner.seek(to).await
    }

    async fn peek(&self, buf: &mut [u8]) -> Result<u64, Error> {
        self.inner.peek(buf).await
    }
}
