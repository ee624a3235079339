//! A guest's view of the world, on wasi-common: the builder that fills it and the context that answers.

use super::directory::{Access, Directory};
use super::numbers::Numbers;
use super::sched::Sched;
use super::streams::{Reader, Stdin, access};
use super::wait::{answer_ever, answer_until};
use super::{Function, Host, Snapshot, Stop};
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use wasi_common::file::FileAccessMode;
use wasi_common::pipe::{ReadPipe, WritePipe};
use wasi_common::sync::{self, Dir, ambient_authority};
use wasi_common::{Table, WasiCtx};

/// One guest's arguments, environment, open files and clocks.
pub struct Context {
    inner: WasiCtx,
    numbers: Numbers,
}

impl Host for Context {
    fn call(&mut self, snapshot: Snapshot, function: Function, memory: &mut [u8], arguments: &[u64]) -> Result<u32, Stop> {
        let errno = answer_ever(&mut self.inner, snapshot, function, memory, arguments)?;
        Ok(self.answered(errno, function, memory, arguments))
    }

    fn call_until(
        &mut self,
        snapshot: Snapshot,
        function: Function,
        memory: &mut [u8],
        arguments: &[u64],
        due: &mut dyn FnMut() -> bool,
    ) -> Result<u32, Stop> {
        let errno = answer_until(&mut self.inner, snapshot, function, memory, arguments, due)?;
        Ok(self.answered(errno, function, memory, arguments))
    }
}

impl Context {
    fn answered(&mut self, errno: u32, function: Function, memory: &mut [u8], arguments: &[u64]) -> u32 {
        if errno == 0 {
            self.numbers.see(&self.inner, function, memory, arguments);
        }
        errno
    }
}

/// What could not be given to a guest.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A directory could not be opened.
    #[error("cannot open directory `{}`", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// An argument or a variable has a NUL byte, or all of them together exceed 4 GiB.
    #[error("cannot pass `{text}` to the guest: {reason}")]
    Text {
        /// Which.
        text: String,
        /// Why.
        reason: String,
    },
    /// The table of open files refused the directory.
    #[error("cannot give directory `{guest}` to the guest: {reason}")]
    Table {
        /// The guest's name of it.
        guest: String,
        /// Why.
        reason: String,
    },
}

/// Collects what a guest may see. Starts empty: no arguments, no environment, no directories, stdin at its end, output discarded.
pub struct Builder {
    inner: WasiCtx,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

impl Builder {
    /// A guest that sees nothing.
    pub fn new() -> Builder {
        Builder { inner: WasiCtx::new(sync::random_ctx(), sync::clocks_ctx(), Box::new(Sched), Table::new()) }
    }

    /// Adds a command line argument; the first is the program's name.
    ///
    /// # Errors
    /// [`BuildError::Text`].
    pub fn arg(&mut self, arg: &str) -> Result<&mut Builder, BuildError> {
        without_nul(arg, "it has a NUL byte")?;
        self.inner.push_arg(arg).map_err(|error| text_error(arg, &error))?;
        Ok(self)
    }

    /// Adds an environment variable.
    ///
    /// # Errors
    /// [`BuildError::Text`].
    pub fn env(&mut self, name: &str, value: &str) -> Result<&mut Builder, BuildError> {
        without_nul(name, "it has a NUL byte")?;
        without_nul(value, "its value has a NUL byte")?;
        if name.is_empty() || name.contains('=') {
            return Err(BuildError::Text { text: name.to_owned(), reason: "a variable's name is neither empty nor has it a `=`".into() });
        }
        self.inner.push_env(name, value).map_err(|error| text_error(name, &error))?;
        Ok(self)
    }

    /// Opens a directory of the host and gives it to the guest under another name, to read and to write.
    ///
    /// # Errors
    /// [`BuildError::Directory`] where it cannot be opened.
    pub fn preopened_dir(&mut self, host: impl AsRef<Path>, guest: &str) -> Result<&mut Builder, BuildError> {
        self.preopen(host.as_ref(), guest, Access::ReadWrite)
    }

    /// The same, to read alone: neither the directory nor what is in it can be made, changed, moved or removed, and nothing there is opened to be written (`EROFS`).
    /// What other directories of the guest's also hold (by a second name, or as a part of theirs) is as writable there as they are.
    ///
    /// # Errors
    /// [`BuildError::Directory`] where it cannot be opened.
    pub fn preopened_dir_read_only(&mut self, host: impl AsRef<Path>, guest: &str) -> Result<&mut Builder, BuildError> {
        self.preopen(host.as_ref(), guest, Access::ReadOnly)
    }

    fn preopen(&mut self, path: &Path, guest: &str, access: Access) -> Result<&mut Builder, BuildError> {
        let dir =
            Dir::open_ambient_dir(path, ambient_authority()).map_err(|source| BuildError::Directory { path: path.to_owned(), source })?;
        self.inner
            .push_preopened_dir(Box::new(Directory::new(dir, access)), guest)
            .map_err(|error| BuildError::Table { guest: guest.to_owned(), reason: error.to_string() })?;
        Ok(self)
    }

    /// The guest reads the host's standard input, without a buffer: what it does not ask for is left to who reads next.
    pub fn inherit_stdin(&mut self) -> &mut Builder {
        self.inner.insert_file(0, Box::new(Stdin::new()), access(std::io::stdin(), FileAccessMode::READ));
        self
    }

    /// The guest writes to the host's standard output.
    pub fn inherit_stdout(&mut self) -> &mut Builder {
        self.inner.insert_file(1, Box::new(sync::stdio::stdout()), access(std::io::stdout(), FileAccessMode::WRITE));
        self
    }

    /// The guest writes to the host's standard error.
    pub fn inherit_stderr(&mut self) -> &mut Builder {
        self.inner.insert_file(2, Box::new(sync::stdio::stderr()), access(std::io::stderr(), FileAccessMode::WRITE));
        self
    }

    /// The guest reads its standard input from a file, a buffer or any other reader.
    pub fn stdin(&mut self, reader: impl Read + Send + Sync + 'static) -> &mut Builder {
        self.inner.set_stdin(Box::new(ReadPipe::new(Reader(reader))));
        self
    }

    /// The guest's standard output goes to a file, a buffer or any other writer.
    pub fn stdout(&mut self, writer: impl Write + Send + Sync + 'static) -> &mut Builder {
        self.inner.set_stdout(Box::new(WritePipe::new(writer)));
        self
    }

    /// The guest's standard error goes to a file, a buffer or any other writer.
    pub fn stderr(&mut self, writer: impl Write + Send + Sync + 'static) -> &mut Builder {
        self.inner.set_stderr(Box::new(WritePipe::new(writer)));
        self
    }

    /// Finishes; the builder is empty again.
    pub fn build(&mut self) -> Context {
        std::mem::take(self).into_context()
    }

    fn into_context(self) -> Context {
        Context { inner: self.inner, numbers: Numbers::default() }
    }
}

fn without_nul(text: &str, reason: &str) -> Result<(), BuildError> {
    match text.contains('\0') {
        true => Err(BuildError::Text { text: text.escape_debug().to_string(), reason: reason.into() }),
        false => Ok(()),
    }
}

fn text_error(text: &str, error: &wasi_common::StringArrayError) -> BuildError {
    BuildError::Text { text: text.to_owned(), reason: error.to_string() }
}

/// A buffer that collects what a guest writes; clones share it. Bytes beyond its capacity are refused with an I/O error.
#[derive(Clone, Debug)]
pub struct OutputBuffer {
    bytes: Arc<Mutex<Cursor<Vec<u8>>>>,
    capacity: usize,
}

impl OutputBuffer {
    /// An empty buffer for at most `capacity` bytes.
    pub fn new(capacity: usize) -> OutputBuffer {
        OutputBuffer { bytes: Arc::default(), capacity }
    }

    /// What was written so far.
    pub fn contents(&self) -> Vec<u8> {
        self.lock().get_ref().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Cursor<Vec<u8>>> {
        self.bytes.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Write for OutputBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut cursor = self.lock();
        let room = self.capacity - cursor.get_ref().len();
        if room == 0 && !bytes.is_empty() {
            return Err(std::io::Error::from_raw_os_error(libc::ENOSPC));
        }
        cursor.write(&bytes[..bytes.len().min(room)])
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
