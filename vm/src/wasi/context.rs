//! A guest's view of the world, on wasi-common: the builder that fills it and the context that answers.

use super::files::Numbers;
use super::preview1::answer;
use super::wait::answer_until;
use super::{Function, Host, Snapshot, Stop};
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use wasi_common::WasiCtx;
use wasi_common::pipe::{ReadPipe, WritePipe};
use wasi_common::sync::{self, Dir, ambient_authority};

/// One guest's arguments, environment, open files and clocks.
pub struct Context {
    inner: WasiCtx,
    numbers: Numbers,
}

impl Host for Context {
    fn call(&mut self, snapshot: Snapshot, function: Function, memory: &mut [u8], arguments: &[u64]) -> Result<u32, Stop> {
        let errno = answer(&mut self.inner, snapshot, function, memory, arguments)?;
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
    #[error("cannot open directory `{}`: {source}", path.display())]
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
        Builder { inner: sync::WasiCtxBuilder::new().build() }
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
        let path = host.as_ref();
        let dir =
            Dir::open_ambient_dir(path, ambient_authority()).map_err(|source| BuildError::Directory { path: path.to_owned(), source })?;
        self.inner
            .push_preopened_dir(Box::new(sync::dir::Dir::from_cap_std(dir)), guest)
            .map_err(|error| BuildError::Table { guest: guest.to_owned(), reason: error.to_string() })?;
        Ok(self)
    }

    /// The guest reads the host's standard input.
    pub fn inherit_stdin(&mut self) -> &mut Builder {
        self.inner.set_stdin(Box::new(sync::stdio::stdin()));
        self
    }

    /// The guest writes to the host's standard output.
    pub fn inherit_stdout(&mut self) -> &mut Builder {
        self.inner.set_stdout(Box::new(sync::stdio::stdout()));
        self
    }

    /// The guest writes to the host's standard error.
    pub fn inherit_stderr(&mut self) -> &mut Builder {
        self.inner.set_stderr(Box::new(sync::stdio::stderr()));
        self
    }

    /// The guest reads its standard input from a file, a buffer or any other reader.
    pub fn stdin(&mut self, reader: impl Read + Send + Sync + 'static) -> &mut Builder {
        self.inner.set_stdin(Box::new(ReadPipe::new(reader)));
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
mod tests {
    use super::*;
    use std::time::SystemTime;

    /// Calls with arguments that fit in u32.
    fn call(context: &mut Context, function: Function, memory: &mut [u8], args: &[u64]) -> u32 {
        context.call(Snapshot::Preview1, function, memory, args).unwrap()
    }

    fn word(memory: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(memory[at..at + 4].try_into().unwrap())
    }

    #[test]
    fn arguments_and_environment_arrive() {
        let mut builder = Builder::new();
        builder.arg("prog").unwrap().arg("-x").unwrap();
        builder.env("K", "V").unwrap();
        let mut context = builder.build();
        let mut memory = vec![0; 1024];
        assert_eq!(call(&mut context, Function::ArgsSizesGet, &mut memory, &[0, 4]), 0);
        assert_eq!((word(&memory, 0), word(&memory, 4)), (2, 8));
        assert_eq!(call(&mut context, Function::ArgsGet, &mut memory, &[16, 64]), 0);
        assert_eq!(&memory[64..72], b"prog\0-x\0");
        assert_eq!((word(&memory, 16), word(&memory, 20)), (64, 69));
        assert_eq!(call(&mut context, Function::EnvironGet, &mut memory, &[16, 64]), 0);
        assert_eq!(&memory[64..68], b"K=V\0");
    }

    #[test]
    fn output_is_collected_and_input_read() {
        let out = OutputBuffer::new(100);
        let mut builder = Builder::new();
        builder.stdin(&b"input"[..]).stdout(out.clone());
        let mut context = builder.build();
        let mut memory = vec![0; 1024];
        memory[0..4].copy_from_slice(&100u32.to_le_bytes());
        memory[4..8].copy_from_slice(&10u32.to_le_bytes());
        assert_eq!(call(&mut context, Function::FdRead, &mut memory, &[0, 0, 1, 8]), 0);
        assert_eq!(word(&memory, 8), 5);
        memory[4..8].copy_from_slice(&5u32.to_le_bytes());
        assert_eq!(call(&mut context, Function::FdWrite, &mut memory, &[1, 0, 1, 8]), 0);
        assert_eq!(out.contents(), b"input");
        assert_eq!(call(&mut context, Function::FdClose, &mut memory, &[77]), 8, "EBADF");
    }

    #[test]
    fn a_directory_is_all_a_guest_sees() {
        let dir = std::env::temp_dir();
        let mut builder = Builder::new();
        builder.preopened_dir(&dir, "/data").unwrap();
        let mut context = builder.build();
        let mut memory = vec![0; 1024];
        assert_eq!(call(&mut context, Function::FdPrestatGet, &mut memory, &[3, 0]), 0);
        assert_eq!(word(&memory, 4), 5);
        assert_eq!(call(&mut context, Function::FdPrestatGet, &mut memory, &[4, 0]), 8);
        memory[100..112].copy_from_slice(b"../etc/passw");
        let open = [3, 0, 100, 12, 0, 2, 0, 0, 200];
        assert_ne!(call(&mut context, Function::PathOpen, &mut memory, &open), 0);
        assert!(matches!(Builder::new().preopened_dir("/no/such/dir", "/"), Err(BuildError::Directory { .. })));
    }

    #[test]
    fn files_have_the_lowest_numbers_and_may_be_truncated_to_be_read() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "text").unwrap();
        let mut builder = Builder::new();
        builder.preopened_dir(dir.path(), "/").unwrap();
        let mut context = builder.build();
        let mut memory = vec![0; 1024];
        memory[100..104].copy_from_slice(b"file");
        let (reads, truncates) = (2, 8);
        let mut open = |context: &mut Context, oflags| {
            assert_eq!(call(context, Function::PathOpen, &mut memory, &[3, 0, 100, 4, oflags, reads, 0, 0, 200]), 0);
            word(&memory, 200)
        };
        let close = |context: &mut Context, fd| assert_eq!(call(context, Function::FdClose, &mut [], &[fd]), 0);
        assert_eq!([open(&mut context, 0), open(&mut context, 0), open(&mut context, 0)], [4, 5, 6]);
        close(&mut context, 5);
        assert_eq!([open(&mut context, 0), open(&mut context, 0)], [5, 7]);
        close(&mut context, 6);
        close(&mut context, 0);
        assert_eq!([open(&mut context, 0), open(&mut context, 0), open(&mut context, 0)], [0, 6, 8]);
        // Number 7 becomes 4, and is free.
        assert_eq!(call(&mut context, Function::FdRenumber, &mut [], &[7, 4]), 0);
        let size = || std::fs::metadata(dir.path().join("file")).unwrap().len();
        assert_eq!(size(), 4);
        assert_eq!((open(&mut context, truncates), size()), (7, 0));
        // What is only read is not written.
        let mut memory = vec![0; 64];
        memory[4..8].copy_from_slice(&5u32.to_le_bytes());
        assert_ne!(call(&mut context, Function::FdWrite, &mut memory, &[7, 0, 1, 8]), 0);
        assert_eq!(size(), 0);
    }

    #[test]
    fn what_does_not_block_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = std::ffi::CString::new(dir.path().join("fifo").to_str().unwrap()).unwrap();
        // SAFETY: a path that ends with NUL.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        let _writer = std::fs::File::options().read(true).write(true).open(dir.path().join("fifo")).unwrap();
        let mut builder = Builder::new();
        builder.preopened_dir(dir.path(), "/").unwrap();
        let mut context = builder.build();
        let mut memory = vec![0; 1024];
        memory[100..104].copy_from_slice(b"fifo");
        let nonblock = 4;
        assert_eq!(call(&mut context, Function::PathOpen, &mut memory, &[3, 0, 100, 4, 0, 2, 0, nonblock, 200]), 0);
        memory[4..8].copy_from_slice(&5u32.to_le_bytes());
        let mut due = || panic!("it waits");
        let answer = context.call_until(Snapshot::Preview1, Function::FdRead, &mut memory, &[4, 0, 1, 8], &mut due);
        assert_eq!(answer.unwrap(), 6, "EAGAIN");
    }

    #[test]
    fn exits_and_bad_pointers_stop_the_guest() {
        let mut context = Builder::new().build();
        let mut memory = vec![0; 64];
        for snapshot in Snapshot::ALL {
            assert!(matches!(context.call(snapshot, Function::ProcExit, &mut memory, &[200]), Err(Stop::Exit(200))));
            assert!(matches!(
                context.call(snapshot, Function::RandomGet, &mut memory, &[60, 8]),
                Err(Stop::Fault { function: "random_get", .. })
            ));
        }
        assert_eq!(call(&mut context, Function::RandomGet, &mut memory, &[0, 64]), 0);
        assert!(memory.iter().any(|&byte| byte != 0));
    }

    #[test]
    fn the_time_is_the_hosts() {
        let mut context = Builder::new().build();
        let mut memory = vec![0; 64];
        let mut time = |clock| {
            assert_eq!(call(&mut context, Function::ClockTimeGet, &mut memory, &[clock, 1, 56]), 0);
            u64::from_le_bytes(memory[56..].try_into().unwrap())
        };
        let host = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64;
        let before = host();
        let real = time(0);
        assert!(before <= real && real <= host());
        let [first, second] = [time(1), time(1)];
        assert!(first <= second && second < 60_000_000_000, "since the guest began: {first}, {second}");
        // What is not ordinary is answered as ever: other clocks, and pointers beyond the memory or misaligned.
        assert_eq!(call(&mut context, Function::ClockTimeGet, &mut memory, &[2, 1, 0]), 8, "EBADF");
        for (clock, out) in [(77, 0), (0, 60), (0, 4), (0, u64::from(u32::MAX))] {
            let stopped = context.call(Snapshot::Preview1, Function::ClockTimeGet, &mut memory, &[clock, 1, out]);
            assert!(matches!(stopped, Err(Stop::Fault { function: "clock_time_get", .. })), "{stopped:?}");
        }
    }
}
