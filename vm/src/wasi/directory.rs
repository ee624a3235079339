//! A guest's open directory, on cap-std, which keeps all names inside it. wasi-common's own lists the whole directory and asks for each entry's inode at every call of `fd_readdir`, panics at times
//! before 1970, and asks the system to truncate what it opens to be read.

use super::file::{File, since_1970};
use super::wait::pause;
use cap_fs_ext::{DirExt, FileTypeExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsMaybeDirExt};
use cap_std::fs::{self, OpenOptions, OpenOptionsExt};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::pipe::{PipeFlags, SpliceFlags};
use std::any::Any;
use std::io;
use std::os::unix::fs::DirEntryExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use wasi_common::dir::{OpenResult, ReaddirCursor, ReaddirEntity};
use wasi_common::file::{FdFlags, FileType, Filestat, OFlags};
use wasi_common::sync::file::filetype_from;
use wasi_common::{Error, ErrorExt, SystemTimeSpec, WasiDir};

/// What a guest may do with a directory, with what is in it, and with what it opens there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    ReadOnly,
    ReadWrite,
}

impl Access {
    /// As on a file system that was mounted to be read.
    pub(super) fn change(self) -> io::Result<()> {
        match self {
            Access::ReadOnly => Err(io::Error::from_raw_os_error(libc::EROFS)),
            Access::ReadWrite => Ok(()),
        }
    }
}

/// An open directory.
pub(super) struct Directory {
    dir: fs::Dir,
    access: Access,
    /// What was there when the guest began to list it: entries that go or come meanwhile move no other, so the guest misses none.
    listing: Mutex<Option<Arc<[ReaddirEntity]>>>,
}

impl Directory {
    pub(super) fn new(dir: fs::Dir, access: Access) -> Directory {
        Directory { dir, access, listing: Mutex::default() }
    }

    fn list(&self) -> Result<Arc<[ReaddirEntity]>, Error> {
        let own = self.dir.dir_metadata()?.ino();
        let mut entries = vec![(FileType::Directory, own, ".".to_owned()), (FileType::Directory, own, "..".to_owned())];
        for entry in self.dir.entries()? {
            let entry = entry?;
            let mut filetype = filetype_from(&entry.file_type()?);
            // (some file systems do not say; what is gone by now keeps its secret)
            if filetype == FileType::Unknown
                && let Ok(metadata) = entry.metadata()
            {
                filetype = filetype_from(&metadata.file_type());
            }
            let name = entry.file_name().into_string().map_err(|_| Error::illegal_byte_sequence())?;
            entries.push((filetype, entry.ino(), name));
        }
        let numbered = entries.into_iter().zip(1u64..);
        Ok(numbered.map(|((filetype, inode, name), next)| ReaddirEntity { next: next.into(), inode, name, filetype }).collect())
    }

    fn follow(&self, path: &str, follow: bool) -> io::Result<fs::Metadata> {
        // A name that ends in a slash is a directory's, or that of a link to one.
        if path.ends_with('/') {
            let metadata = self.dir.metadata(path)?;
            return if metadata.is_dir() { Ok(metadata) } else { Err(io::Error::from_raw_os_error(libc::ENOTDIR)) };
        }
        if follow { self.dir.metadata(path) } else { self.dir.symlink_metadata(path) }
    }

    /// Opens a file as the system does that lets nobody wait; a guest that is to wait does so in slices, so that a deadline stops it.
    async fn open(&self, path: &str, options: &OpenOptions, follow: bool, waits: bool) -> io::Result<fs::File> {
        loop {
            let error = match self.dir.open_with(path, options) {
                Ok(file) => return Ok(file),
                Err(error) => error,
            };
            let comes = match error.raw_os_error() {
                Some(libc::ENXIO) => self.follow(path, follow).is_ok_and(|metadata| metadata.file_type().is_fifo()),
                // (another process has a lease on it)
                Some(libc::EWOULDBLOCK) => true,
                _ => false,
            };
            if !waits || !comes {
                return Err(error);
            }
            pause().await;
        }
    }
}

/// Waits until a named pipe that was opened to be read has a writer. (What reads before finds its end.)
async fn writer_of(pipe: &fs::File) -> io::Result<()> {
    // `tee` takes nothing out of the pipe, and says whether there is a writer.
    let (_copy, to) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    loop {
        // (one that has come and gone leaves a hangup)
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let came = rustix::event::poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&now)).unwrap_or(0) > 0;
        if came || rustix::pipe::tee(pipe, &to, 1, SpliceFlags::NONBLOCK) != Ok(0) {
            return Ok(());
        }
        pause().await;
    }
}

fn filestat(metadata: &fs::Metadata) -> Filestat {
    let time = |time: io::Result<cap_std::time::SystemTime>| since_1970(time.ok().map(|time| time.into_std()));
    Filestat {
        device_id: metadata.dev(),
        inode: metadata.ino(),
        filetype: filetype_from(&metadata.file_type()),
        nlink: metadata.nlink(),
        size: metadata.len(),
        atim: time(metadata.accessed()),
        mtim: time(metadata.modified()),
        ctim: time(metadata.created()),
    }
}

fn time_spec(time: SystemTimeSpec) -> cap_fs_ext::SystemTimeSpec {
    match time {
        SystemTimeSpec::Absolute(time) => cap_fs_ext::SystemTimeSpec::Absolute(time),
        SystemTimeSpec::SymbolicNow => cap_fs_ext::SystemTimeSpec::SymbolicNow,
    }
}

fn ours(dir: &dyn WasiDir) -> Result<&Directory, Error> {
    dir.as_any().downcast_ref().ok_or_else(Error::badf)
}

#[wiggle::async_trait]
impl WasiDir for Directory {
    fn as_any(&self) -> &dyn Any {
        self
    }

    async fn open_file(
        &self,
        follow: bool,
        path: &str,
        oflags: OFlags,
        read: bool,
        write: bool,
        fdflags: FdFlags,
    ) -> Result<OpenResult, Error> {
        if fdflags.intersects(FdFlags::DSYNC | FdFlags::SYNC | FdFlags::RSYNC) {
            return Err(Error::not_supported());
        }
        if oflags.contains(OFlags::DIRECTORY) && oflags.intersects(OFlags::CREATE | OFlags::EXCLUSIVE | OFlags::TRUNCATE) {
            return Err(Error::invalid_argument());
        }
        let (creates, exclusive) = (oflags.contains(OFlags::CREATE), oflags.contains(OFlags::EXCLUSIVE));
        let (truncates, appends) = (oflags.contains(OFlags::TRUNCATE), fdflags.contains(FdFlags::APPEND));
        let waits = !fdflags.contains(FdFlags::NONBLOCK);
        // (what is there may be opened by a call that would make it)
        let makes = creates && (exclusive || self.follow(path, follow).is_err());
        if write || truncates || makes {
            self.access.change()?;
        }
        let mut options = OpenOptions::new();
        options.maybe_dir(true).follow(if follow { FollowSymlinks::Yes } else { FollowSymlinks::No });
        // (cap-std's own option to append is for what is written and not truncated)
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | if appends { libc::O_APPEND } else { 0 });
        let (mut making, mut truncating) = (options.clone(), options.clone());
        options.read(read || !write).write(write).truncate(truncates && write);
        let file = if !creates || self.access == Access::ReadOnly {
            self.open(path, &options, follow, waits).await?
        } else if write {
            options.create(true).create_new(exclusive);
            self.open(path, &options, follow, waits).await?
        } else {
            // What is there is opened to be read, as it may be unwritable; cap-std makes only what it opens to be written.
            let there = match exclusive {
                true => None,
                false => match self.open(path, &options, follow, waits).await {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                    opened => Some(opened?),
                },
            };
            making.read(true).write(true).create(true).create_new(exclusive);
            match there {
                Some(file) => file,
                None => self.open(path, &making, follow, waits).await?,
            }
        };
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            if creates || truncates {
                return Err(io::Error::from_raw_os_error(libc::EISDIR).into());
            }
            return Ok(OpenResult::Dir(Box::new(Directory::new(fs::Dir::from_std_file(file.into_std()), self.access))));
        }
        if oflags.contains(OFlags::DIRECTORY) {
            return Err(Error::not_dir());
        }
        // What is only read cannot be truncated by the same call.
        if truncates && !write && metadata.is_file() {
            self.dir.open_with(path, truncating.write(true).truncate(true))?;
        }
        if waits {
            if metadata.file_type().is_fifo() && !write {
                writer_of(&file).await?;
            }
            let flags = if appends { rustix::fs::OFlags::APPEND } else { rustix::fs::OFlags::empty() };
            rustix::fs::fcntl_setfl(&file, flags).map_err(io::Error::from)?;
        }
        Ok(OpenResult::File(Box::new(File::new(file, self.access, write))))
    }

    async fn readdir(&self, cursor: ReaddirCursor) -> Result<Box<dyn Iterator<Item = Result<ReaddirEntity, Error>> + Send>, Error> {
        let from = u64::from(cursor);
        let mut listing = self.listing.lock().unwrap_or_else(|error| error.into_inner());
        let entries = match listing.take() {
            Some(begun) if from != 0 => begun,
            _ => self.list()?,
        };
        *listing = Some(entries.clone());
        let rest = usize::try_from(from).unwrap_or(usize::MAX)..entries.len();
        Ok(Box::new(rest.map(move |index| Ok(entries[index].clone()))))
    }

    async fn create_dir(&self, path: &str) -> Result<(), Error> {
        self.access.change()?;
        Ok(self.dir.create_dir(path)?)
    }

    async fn symlink(&self, old_path: &str, new_path: &str) -> Result<(), Error> {
        self.access.change()?;
        Ok(self.dir.symlink(old_path, new_path)?)
    }

    async fn remove_dir(&self, path: &str) -> Result<(), Error> {
        self.access.change()?;
        // (for cap-std a name with a slash is the directory's own, which nobody can remove)
        let name = path.trim_end_matches('/');
        Ok(self.dir.remove_dir(if name.is_empty() { path } else { name })?)
    }

    async fn unlink_file(&self, path: &str) -> Result<(), Error> {
        self.access.change()?;
        Ok(self.dir.remove_file_or_symlink(path)?)
    }

    async fn read_link(&self, path: &str) -> Result<PathBuf, Error> {
        Ok(self.dir.read_link(path)?)
    }

    async fn get_filestat(&self) -> Result<Filestat, Error> {
        Ok(filestat(&self.dir.dir_metadata()?))
    }

    async fn get_path_filestat(&self, path: &str, follow: bool) -> Result<Filestat, Error> {
        Ok(filestat(&self.follow(path, follow)?))
    }

    async fn rename(&self, path: &str, to: &dyn WasiDir, to_path: &str) -> Result<(), Error> {
        let to = ours(to)?;
        self.access.change()?;
        to.access.change()?;
        // A name that ends in a slash is a directory's; cap-std leaves the slash away.
        if (path.ends_with('/') || to_path.ends_with('/')) && !self.dir.symlink_metadata(path.trim_end_matches('/'))?.is_dir() {
            return Err(Error::not_dir());
        }
        Ok(self.dir.rename(path, &to.dir, to_path)?)
    }

    async fn hard_link(&self, path: &str, to: &dyn WasiDir, to_path: &str) -> Result<(), Error> {
        let to = ours(to)?;
        // Another name of it, in a directory that may be written, would let it be written.
        self.access.change()?;
        to.access.change()?;
        Ok(self.dir.hard_link(path, &to.dir, to_path)?)
    }

    async fn set_times(
        &self,
        path: &str,
        accessed: Option<SystemTimeSpec>,
        modified: Option<SystemTimeSpec>,
        follow: bool,
    ) -> Result<(), Error> {
        self.access.change()?;
        let (accessed, modified) = (accessed.map(time_spec), modified.map(time_spec));
        Ok(if follow { self.dir.set_times(path, accessed, modified) } else { self.dir.set_symlink_times(path, accessed, modified) }?)
    }
}
