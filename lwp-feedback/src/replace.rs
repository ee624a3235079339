//! Writing a file at one stroke: whoever has the old one open or mapped keeps it, and what is on the disk is whole, the old one or the new.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a file with these permission bits (less the umask). A link is followed, and what is no file (a pipe, `/dev/stdout`) is written to.
///
/// # Errors
/// It cannot be written; what was there is as it was, unless it is no file.
pub fn replace(path: &Path, mode: u32, bytes: &[u8]) -> std::io::Result<()> {
    let (linked, path) = match std::fs::canonicalize(path) {
        Ok(real) => (false, real),
        // Nothing is there yet, or at the end of a link.
        Err(_) => (path.is_symlink(), path.to_path_buf()),
    };
    if linked || path.exists() && !path.is_file() {
        let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&path)?;
        return file.write_all(bytes);
    }
    let (mut file, temporary) = beside(&path, mode)?;
    let outcome = file.write_all(bytes).and_then(|()| std::fs::rename(&temporary, &path));
    if outcome.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    outcome
}

/// A new file beside `path`, nobody else's: threads of this process take turns, and what a killed process of the same number left stays.
fn beside(path: &Path, mode: u32) -> std::io::Result<(std::fs::File, PathBuf)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
    loop {
        let mut name = name.to_os_string();
        name.push(format!(".{}.{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        let temporary = path.with_file_name(name);
        match std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (file, temporary)),
        }
    }
}
