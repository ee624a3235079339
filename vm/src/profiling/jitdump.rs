//! `jit-PID.dump`: code with its bytes, names and positions, in the layout of linux `tools/perf/Documentation/jitdump-specification.txt`, version 1.
//!
//! `perf record -k mono`, then `perf inject --jit` makes one ELF image of each record, so that `perf annotate` shows instructions and positions.
//! perf learns of the file by a mapping of it with execute permission, made when it is begun. Clocks: `CLOCK_MONOTONIC`, as `-k mono` uses.
//!
//! A position is a byte offset in the module. It stands as a line number of the file `MODULE.wasm`, which is what `backedge dump --stage wasm`
//! prints at the beginning of each line.

use super::{CodeObserver, Piece, printable};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// "JiTD", in the byte order of the machine.
const MAGIC: u32 = 0x4A69_5444;
const VERSION: u32 = 1;
const HEADER_BYTES: u32 = 40;
/// `EM_X86_64` of `elf.h`.
const MACHINE: u32 = 62;
const CODE_LOAD: u32 = 0;
const DEBUG_INFO: u32 = 2;
const CODE_CLOSE: u32 = 3;
/// Bytes of a record's head: id, total size, time stamp.
const RECORD_HEAD: usize = 16;

/// Writes the file.
#[derive(Debug)]
pub struct JitDump {
    path: PathBuf,
    /// Of the mapping that tells perf, which is never touched.
    marker: usize,
    out: Mutex<Out>,
}

#[derive(Debug)]
struct Out {
    file: File,
    next_index: u64,
    error: Option<io::Error>,
}

impl JitDump {
    /// Begins `jit-PID.dump` in a folder. Addresses of code are not used again from now on.
    ///
    /// # Errors
    /// The file cannot be written or mapped (a file system mounted `noexec`).
    pub fn new(folder: &Path) -> io::Result<JitDump> {
        let path = folder.join(format!("jit-{}.dump", std::process::id()));
        let mut file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        let mut header = Vec::with_capacity(HEADER_BYTES as usize);
        for word in [MAGIC, VERSION, HEADER_BYTES, MACHINE, 0, std::process::id()] {
            header.extend_from_slice(&word.to_ne_bytes());
        }
        header.extend_from_slice(&now().to_ne_bytes());
        header.extend_from_slice(&0u64.to_ne_bytes());
        file.write_all(&header)?;
        // SAFETY: a fresh private mapping of our own file at an address of the kernel's choice; nothing reads or runs it.
        let marker = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                crate::mapping::PAGE,
                libc::PROT_READ | libc::PROT_EXEC,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                0,
            )
        };
        if marker == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        super::keep_addresses();
        Ok(JitDump { path, marker: marker as usize, out: Mutex::new(Out { file, next_index: 0, error: None }) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ends it with a close record.
    ///
    /// # Errors
    /// The first that any write met: what follows it is missing.
    pub fn finish(&self) -> io::Result<()> {
        let mut out = self.out.lock().unwrap_or_else(|error| error.into_inner());
        let record = record(CODE_CLOSE, &[]);
        out.write(&record);
        out.error.take().map_or(Ok(()), Err)
    }
}

impl Drop for JitDump {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, which nothing else knows.
        unsafe { libc::munmap(self.marker as *mut libc::c_void, crate::mapping::PAGE) };
    }
}

impl Out {
    fn write(&mut self, bytes: &[u8]) {
        if self.error.is_none()
            && let Err(error) = self.file.write_all(bytes)
        {
            self.error = Some(error);
        }
    }
}

impl CodeObserver for JitDump {
    fn placed(&self, piece: &Piece<'_>) {
        // Debug information stands before the code it is about.
        let lines = lines(piece);
        let mut out = self.out.lock().unwrap_or_else(|error| error.into_inner());
        let mut bytes = Vec::new();
        if !lines.is_empty() {
            let file = format!("{}.wasm", printable(piece.module.and_then(|module| module.name.as_deref()).unwrap_or("module")));
            let mut body = Vec::new();
            body.extend_from_slice(&piece.address.to_ne_bytes());
            body.extend_from_slice(&(lines.len() as u64).to_ne_bytes());
            for (offset, line) in lines {
                body.extend_from_slice(&(piece.address + u64::from(offset)).to_ne_bytes());
                body.extend_from_slice(&line.to_ne_bytes());
                body.extend_from_slice(&0u32.to_ne_bytes());
                body.extend_from_slice(file.as_bytes());
                body.push(0);
            }
            // Records begin at multiples of 8; the size counts the filling.
            body.resize((body.len() + RECORD_HEAD).next_multiple_of(8) - RECORD_HEAD, 0);
            bytes.extend_from_slice(&record(DEBUG_INFO, &body));
        }
        let mut body = Vec::with_capacity(piece.bytes.len() + 96);
        body.extend_from_slice(&std::process::id().to_ne_bytes());
        // SAFETY: takes no argument and cannot fail.
        body.extend_from_slice(&(unsafe { libc::gettid() } as u32).to_ne_bytes());
        body.extend_from_slice(&piece.address.to_ne_bytes());
        body.extend_from_slice(&piece.address.to_ne_bytes());
        body.extend_from_slice(&(piece.bytes.len() as u64).to_ne_bytes());
        body.extend_from_slice(&out.next_index.to_ne_bytes());
        body.extend_from_slice(printable(piece.name).as_bytes());
        body.push(0);
        body.extend_from_slice(piece.bytes);
        bytes.extend_from_slice(&record(CODE_LOAD, &body));
        out.next_index += 1;
        out.write(&bytes);
    }
}

/// Offset in the code → byte offset in the module, where it changes; of inlined code the innermost.
fn lines(piece: &Piece<'_>) -> Vec<(u32, u32)> {
    let mut lines: Vec<(u32, u32)> = Vec::new();
    for &(offset, position) in piece.locations {
        let Some(position) = piece.positions.get(position as usize) else { continue };
        if lines.last().is_none_or(|&(_, line)| line != position.offset) {
            lines.push((offset, position.offset));
        }
    }
    lines
}

fn record(id: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(RECORD_HEAD + body.len());
    bytes.extend_from_slice(&id.to_ne_bytes());
    bytes.extend_from_slice(&((RECORD_HEAD + body.len()) as u32).to_ne_bytes());
    bytes.extend_from_slice(&now().to_ne_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// `CLOCK_MONOTONIC`, ns.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one `timespec`.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
