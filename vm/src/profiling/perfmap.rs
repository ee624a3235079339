//! `/tmp/perf-PID.map`: where `perf report` looks for names of code that no file on disk holds.
//!
//! One line a piece: start and length in hexadecimal without a prefix, then the name up to the line's end (linux `tools/perf/Documentation/jit-interface.txt`).

use super::{CodeObserver, Piece, printable};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Writes the map. A line is written at once, so that what perf reads after a crash is whole.
#[derive(Debug)]
pub struct PerfMap {
    path: PathBuf,
    file: Mutex<(File, Option<io::Error>)>,
}

impl PerfMap {
    /// Begins the map of this process in the folder in which perf looks: `/tmp`. Addresses of code are not used again from now on.
    pub fn new() -> io::Result<PerfMap> {
        PerfMap::at(Path::new(&format!("/tmp/perf-{}.map", std::process::id())))
    }

    /// The same in another file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn at(path: &Path) -> io::Result<PerfMap> {
        let file = File::create(path)?;
        super::keep_addresses();
        Ok(PerfMap { path: path.to_owned(), file: Mutex::new((file, None)) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ends it.
    ///
    /// # Errors
    /// The first that any write met: what follows it is missing.
    pub fn finish(&self) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(|error| error.into_inner());
        match file.1.take() {
            Some(error) => Err(error),
            None => file.0.flush(),
        }
    }
}

impl CodeObserver for PerfMap {
    fn placed(&self, piece: &Piece<'_>) {
        let line = format!("{:x} {:x} {}\n", piece.address, piece.bytes.len(), printable(piece.name));
        let mut file = self.file.lock().unwrap_or_else(|error| error.into_inner());
        if file.1.is_none()
            && let Err(error) = file.0.write_all(line.as_bytes())
        {
            file.1 = Some(error);
        }
    }
}
