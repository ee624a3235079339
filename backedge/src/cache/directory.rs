//! The cache's directory: whose it may be, how files come and go.

use super::archive::Archive;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Bytes of all files together; the ones used longest ago go first.
const MOST_BYTES: u64 = 512 << 20;
/// Suffix of the files, so that nothing else in the directory is ever touched.
const SUFFIX: &str = ".becode";
/// Ending of a file that is being written.
const UNFINISHED: &str = ".new";
/// Whoever wrote to one that long ago was killed.
const LEFT_AFTER: Duration = Duration::from_secs(3600);

/// Tells this process's files that are being written apart.
static NEXT_TEMPORARY: AtomicU64 = AtomicU64::new(0);

/// A directory of cached code, `$XDG_CACHE_HOME/backedge` or `$HOME/.cache/backedge` unless another is named.
#[derive(Clone, Debug)]
pub struct CacheDirectory {
    path: PathBuf,
    most_bytes: u64,
}

/// A file of the cache.
#[derive(Clone, Debug)]
pub struct CacheFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was last written or used.
    pub used: SystemTime,
}

impl CacheDirectory {
    /// A directory of the caller's choice; it is made when something is first written.
    pub fn new(path: impl Into<PathBuf>) -> CacheDirectory {
        CacheDirectory { path: path.into(), most_bytes: MOST_BYTES }
    }

    /// The user's own, if the environment says where.
    pub fn of_user() -> Option<CacheDirectory> {
        let from = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = from("XDG_CACHE_HOME").or_else(|| Some(from("HOME")?.join(".cache")));
        if base.is_none() {
            tracing::debug!("there is no cache: neither XDG_CACHE_HOME nor HOME is set to an absolute path");
        }
        Some(CacheDirectory::new(base?.join("backedge")))
    }

    /// Limits the size of all files together, in bytes.
    pub fn with_limit(mut self, bytes: u64) -> CacheDirectory {
        self.most_bytes = bytes;
        self
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its files, most recently used first.
    ///
    /// # Errors
    /// The directory exists and cannot be read.
    pub fn files(&self) -> io::Result<Vec<CacheFile>> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_file() && entry.file_name().to_string_lossy().ends_with(SUFFIX) {
                let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                files.push(CacheFile { path: entry.path(), bytes: metadata.len(), used });
            }
        }
        files.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.path.cmp(&b.path)));
        Ok(files)
    }

    /// Removes all its files. Returns how many.
    ///
    /// # Errors
    /// A file cannot be removed; those before it are gone.
    pub fn clean(&self) -> io::Result<usize> {
        self.remove_unfinished();
        let mut removed = 0;
        for file in self.files()? {
            removed += usize::from(remove(&file.path)?);
        }
        Ok(removed)
    }

    /// Whether it is used: it is no link, this user's own, and nobody else may write to it.
    ///
    /// # Errors
    /// Why not, or it is not there.
    pub fn check(&self) -> io::Result<()> {
        let metadata = fs::symlink_metadata(&self.path)?;
        let why = if metadata.is_symlink() {
            format!("it is a link to `{}`", fs::read_link(&self.path)?.display())
        } else if !metadata.is_dir() {
            "it is no directory".into()
        } else if !ours(&metadata) {
            "it is another user's, or others may write to it".into()
        } else {
            return Ok(());
        };
        Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
    }

    /// Locks the directory for whoever fills it, for as long as the result lives. It is made where it is missing. `None`: another process has locked it.
    ///
    /// # Errors
    /// It cannot be made or locked, or is not used ([`Self::check`]).
    pub fn try_lock(&self) -> io::Result<Option<File>> {
        self.make()?;
        let directory = File::open(&self.path)?;
        match directory.try_lock() {
            Ok(()) => Ok(Some(directory)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// The same, waiting for the other process.
    ///
    /// # Errors
    /// As [`Self::try_lock`].
    pub fn lock(&self) -> io::Result<File> {
        self.make()?;
        let directory = File::open(&self.path)?;
        directory.lock()?;
        Ok(directory)
    }

    fn make(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.path)?;
        self.check()
    }

    /// Opens a file for reading, if it is there and nobody else can have written it.
    pub(super) fn open(&self, name: &str) -> Option<File> {
        self.open_for(OpenOptions::new().read(true), name)
    }

    fn open_for(&self, how: &mut OpenOptions, name: &str) -> Option<File> {
        // The directory comes first: where others may write, what has the name may be a pipe, whose other end is waited for.
        let opened = self.check().and_then(|()| {
            let file = how.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(self.path.join(format!("{name}{SUFFIX}")))?;
            let metadata = file.metadata()?;
            let trusted = metadata.is_file() && ours(&metadata);
            trusted.then_some(file).ok_or_else(|| io::Error::other("a file in it is another user's, or others may write to it"))
        });
        let told = |error: &io::Error| {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::debug!(path = %self.path.display(), %error, "the cache is not used");
            }
        };
        let file = opened.inspect_err(told).ok()?;
        // It was used now. Fails on a read-only disk, which is no harm.
        let _ = file.set_modified(SystemTime::now());
        Some(file)
    }

    /// Appends to a file, unless it is another one by now or was written to since `state`. Returns its state then, `None` where it was not written to.
    ///
    /// # Errors
    /// It cannot be written to, or not to the end.
    pub(super) fn append(&self, name: &str, state: FileState, bytes: &[u8]) -> io::Result<Option<FileState>> {
        let Some(mut file) = self.open_for(OpenOptions::new().read(true).append(true), name) else { return Ok(None) };
        // (released with the file; whoever replaces the file meanwhile does so, and these bytes are lost)
        if file.try_lock().is_err() || FileState::of(&file)? != state {
            return Ok(None);
        }
        without_size_signal(|| file.write_all(bytes))?;
        let state = FileState::of(&file)?;
        self.keep_below_limit()?;
        Ok(Some(state))
    }

    /// Replaces a file at one stroke, then removes the ones used longest ago beyond the limit.
    pub(super) fn write(&self, name: &str, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<FileState> {
        self.make()?;
        // Processes in containers that share it may have the same number.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let one = NEXT_TEMPORARY.fetch_add(1, Ordering::Relaxed);
        let temporary = self.path.join(format!("{name}.{}.{one}.{now:x}{UNFINISHED}", std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        let written = without_size_signal(|| {
            let mut out = BufWriter::new(file);
            fill(&mut out)?;
            out.flush()?;
            fs::rename(&temporary, self.path.join(format!("{name}{SUFFIX}")))?;
            FileState::of(out.get_ref())
        });
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        let state = written?;
        self.remove_unfinished();
        self.keep_below_limit()?;
        Ok(state)
    }

    /// Removes what processes left that were killed while they wrote. Best effort.
    fn remove_unfinished(&self) {
        let is_left = |entry: &fs::DirEntry| {
            let age = entry.metadata().ok().and_then(|metadata| metadata.modified().ok()?.elapsed().ok());
            entry.file_name().to_string_lossy().ends_with(UNFINISHED) && age.is_some_and(|age| age > LEFT_AFTER)
        };
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        entries.flatten().filter(is_left).for_each(|entry| _ = fs::remove_file(entry.path()));
    }

    fn keep_below_limit(&self) -> io::Result<()> {
        let mut kept = 0;
        for file in self.files()? {
            // (one that never fits takes no other's place)
            if file.bytes <= self.most_bytes {
                kept += file.bytes;
            }
            if kept.max(file.bytes) > self.most_bytes {
                remove(&file.path)?;
            }
        }
        Ok(())
    }
}

/// Removes a file. Returns whether it was there: another process may have been faster.
fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Which file it is, and how long: another process has written to it, or replaced it, where these differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileState {
    device: u64,
    inode: u64,
    length: u64,
}

impl FileState {
    /// The state in which an archive was read; `None`: it is in memory.
    pub(super) fn as_read(archive: &Archive) -> Option<FileState> {
        let state = FileState::of(archive.file()?).ok()?;
        Some(FileState { length: archive.length(), ..state })
    }

    fn of(file: &File) -> io::Result<FileState> {
        let metadata = file.metadata()?;
        Ok(FileState { device: metadata.dev(), inode: metadata.ino(), length: metadata.len() })
    }
}

/// Writes where files may be limited (`ulimit -f`). What is beyond the limit is an error then, and no signal, which would end the process for want of a cache.
fn without_size_signal<T>(write: impl FnOnce() -> T) -> T {
    let mut signal = std::mem::MaybeUninit::uninit();
    let mut others = std::mem::MaybeUninit::uninit();
    // SAFETY: `sigemptyset` fills the set, which is all zeroes or `u64`s, and `sigaddset` is given a signal that exists.
    let signal = unsafe {
        libc::sigemptyset(signal.as_mut_ptr());
        libc::sigaddset(signal.as_mut_ptr(), libc::SIGXFSZ);
        signal.assume_init()
    };
    // SAFETY: two sets of this function's own; only this thread's mask changes, as the signal comes to the thread that writes.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &signal, others.as_mut_ptr()) };
    let written = write();
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `signal` is a set, and nobody asks what came; the mask is put back as it was, filled in by the call above.
    unsafe {
        while libc::sigtimedwait(&signal, std::ptr::null_mut(), &at_once) == libc::SIGXFSZ {}
        libc::pthread_sigmask(libc::SIG_SETMASK, others.as_ptr(), std::ptr::null_mut());
    }
    written
}

/// Whether a file or directory is this user's and writable by nobody else.
fn ours(metadata: &Metadata) -> bool {
    // SAFETY: it only reads the process's own credentials.
    metadata.uid() == unsafe { libc::geteuid() } && metadata.mode() & 0o022 == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn several_may_write_one_file_and_what_was_left_goes() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("cache");
        let directory = CacheDirectory::new(&path);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        directory.write("one", |out| out.write_all(b"bytes")).unwrap();
                    }
                });
            }
        });
        let names = || -> Vec<String> {
            let mut names: Vec<String> =
                fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(names(), ["one.becode"]);
        for (name, age) in [("left.1.0.0.new", LEFT_AFTER * 2), ("begun.1.1.0.new", Duration::ZERO)] {
            File::create(path.join(name)).unwrap().set_modified(SystemTime::now() - age).unwrap();
        }
        assert!(directory.write("two", |_| Err(io::Error::other("no"))).is_err());
        directory.write("two", |out| out.write_all(b"bytes")).unwrap();
        assert_eq!(names(), ["begun.1.1.0.new", "one.becode", "two.becode"]);
        assert_eq!(directory.clean().unwrap(), 2);
    }

    #[test]
    fn what_may_be_others_is_not_opened() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("cache");
        let directory = CacheDirectory::new(&path);
        directory.write("one", |out| out.write_all(b"bytes")).unwrap();
        assert!(directory.open("one").is_some() && directory.open("two").is_none());
        let pipe = std::ffi::CString::new(path.join("two.becode").into_os_string().into_encoded_bytes()).unwrap();
        // SAFETY: a path that ends in a zero.
        assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
        std::os::unix::fs::symlink(path.join("one.becode"), path.join("three.becode")).unwrap();
        // (a pipe without a writer: whoever waits for one waits here for ever)
        assert!(directory.open("two").is_none() && directory.open("three").is_none());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(directory.open("one").is_none() && directory.open("two").is_none());
        assert!(directory.try_lock().is_err() && directory.lock().is_err());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        let locked = directory.try_lock().unwrap();
        assert!(locked.is_some() && directory.try_lock().unwrap().is_none());
        // A link is named: nothing was ever read or written there.
        let link = place.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let told = CacheDirectory::new(&link).try_lock().unwrap_err().to_string();
        assert_eq!(told, format!("it is a link to `{}`", path.display()));
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("cache");
        let directory = CacheDirectory::new(&path).with_limit(100);
        let write = |name: &str, bytes: usize, age: u64| {
            directory.write(name, |out| out.write_all(&vec![0; bytes])).unwrap();
            if let Ok(file) = File::options().write(true).open(path.join(format!("{name}{SUFFIX}"))) {
                file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
            }
        };
        let names = || -> Vec<String> {
            directory.files().unwrap().iter().map(|file| file.path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
        };
        write("oldest", 10, 300);
        write("old", 60, 200);
        write("huge", 101, 0);
        assert_eq!(names(), ["old", "oldest"]);
        // `oldest` would fit, but what is younger has gone.
        write("new", 50, 100);
        assert_eq!(names(), ["new"]);
    }

    #[test]
    fn several_may_empty_it_at_once() {
        let place = tempfile::tempdir().unwrap();
        let directory = CacheDirectory::new(place.path().join("cache"));
        for _ in 0..20 {
            for file in 0..20 {
                directory.write(&file.to_string(), |out| out.write_all(b"bytes")).unwrap();
            }
            let clean = || directory.clean().unwrap();
            let removed: usize =
                std::thread::scope(|scope| [scope.spawn(clean), scope.spawn(clean)].map(|one| one.join().unwrap()).iter().sum());
            assert_eq!(removed, 20);
        }
    }
}
