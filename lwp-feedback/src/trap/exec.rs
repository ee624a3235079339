//! Running a program with the trap source: what `backedge lwp exec` does.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::capabilities::{Capabilities, CpuidRegisters};

/// Environment variable that tells the preload library what the unit can do.
pub const FEATURES_VARIABLE: &str = "LWP_FEEDBACK_FEATURES";

/// File name of the preload library.
pub const PRELOAD_LIBRARY: &str = "liblwp_preload.so";

/// A program cannot be run with the trap source.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// Not one of the names, nor four hexadecimal registers.
    #[error("features \"{0}\": expected all, none, cpu-only, no-val, fx8150 or EAX:EBX:ECX:EDX in hexadecimal")]
    Features(String),
    /// Nothing to preload into.
    #[error("{0}: statically linked, so no library can be preloaded")]
    Static(PathBuf),
    /// The loader ignores LD_PRELOAD.
    #[error("{0}: set-user-id, set-group-id or with file capabilities, so the loader ignores preloaded libraries")]
    SetId(PathBuf),
    /// Not an ELF file of this machine.
    #[error("{0}: not a 64-bit x86 ELF program")]
    NotElf(PathBuf),
    /// In no directory of PATH.
    #[error("{0}: no such program")]
    NotFound(PathBuf),
    /// The preload library is not there.
    #[error("{0}: the preload library is missing (cargo build -p lwp-preload)")]
    NoLibrary(PathBuf),
    /// The file could not be read.
    #[error("{path}: {source}")]
    Io {
        /// File.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What the named features are: `all` the unit's own; `none` no LWP; `cpu-only` LWP that the system has not enabled; `no-val` all but LWPVAL;
/// `fx8150` as that processor; or leaf 8000_001C as `EAX:EBX:ECX:EDX`.
pub fn parse_features(text: &str) -> Result<Capabilities, ExecError> {
    let unit = Capabilities::UNIT;
    Ok(match text {
        "all" => unit,
        "none" => Capabilities::NONE,
        "cpu-only" => Capabilities { enabled: 0, ..unit },
        "no-val" => Capabilities { enabled: unit.enabled & !2, available: unit.available & !2, ..unit },
        "fx8150" => Capabilities::FX8150,
        raw => {
            let registers: Option<Vec<u32>> =
                raw.split(':').map(|part| u32::from_str_radix(part.trim_start_matches("0x"), 16).ok()).collect();
            let Some(&[eax, ebx, ecx, edx]) = registers.as_deref() else {
                return Err(ExecError::Features(raw.to_owned()));
            };
            Capabilities::decode(CpuidRegisters { eax, ebx, ecx, edx })
        }
    })
}

/// The command that runs `program` (looked up in PATH) with the preload library at `library`. Static and set-id programs are refused.
pub fn command<S: AsRef<OsStr>>(
    features: &str,
    program: &Path,
    args: impl IntoIterator<Item = S>,
    library: &Path,
) -> Result<Command, ExecError> {
    parse_features(features)?;
    let program = find_program(program)?;
    check_program(&program)?;
    if !library.is_file() {
        return Err(ExecError::NoLibrary(library.to_owned()));
    }
    let mut preload = library.as_os_str().to_owned();
    if let Some(others) = std::env::var_os("LD_PRELOAD") {
        preload.push(":");
        preload.push(others);
    }
    let mut command = Command::new(program);
    command.args(args).env("LD_PRELOAD", preload).env(FEATURES_VARIABLE, features);
    Ok(command)
}

fn find_program(program: &Path) -> Result<PathBuf, ExecError> {
    // As execvp: what has a slash is a path.
    if program.as_os_str().as_bytes().contains(&b'/') {
        return Ok(program.to_owned());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file());
    found.ok_or_else(|| ExecError::NotFound(program.to_owned()))
}

fn check_program(program: &Path) -> Result<(), ExecError> {
    const SET_ID: u32 = 0o6000;
    let io = |source| ExecError::Io { path: program.to_owned(), source };
    let about = std::fs::metadata(program).map_err(io)?;
    if about.is_dir() {
        return Err(ExecError::NotElf(program.to_owned()));
    }
    let mode = about.permissions().mode();
    let file = std::fs::read(program).map_err(io)?;
    match has_interpreter(&file) {
        None => Err(ExecError::NotElf(program.to_owned())),
        Some(_) if mode & SET_ID != 0 || has_capabilities(program) => Err(ExecError::SetId(program.to_owned())),
        Some(false) => Err(ExecError::Static(program.to_owned())),
        Some(true) => Ok(()),
    }
}

/// Whether the file gives capabilities: the loader preloads nothing into it then, as into a set-id program.
fn has_capabilities(program: &Path) -> bool {
    let Ok(path) = CString::new(program.as_os_str().as_bytes()) else { return false };
    // SAFETY: both names are C strings, and nothing is written to a buffer of 0 bytes.
    unsafe { libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), std::ptr::null_mut(), 0) > 0 }
}

/// Is there a PT_INTERP? `None`: not a 64-bit x86 ELF file.
fn has_interpreter(file: &[u8]) -> Option<bool> {
    const PT_INTERP: u32 = 3;
    const EM_X86_64: u16 = 62;
    let half = |at: usize| Some(u16::from_le_bytes(*file.get(at..)?.first_chunk()?));
    let word = |at: usize| Some(u32::from_le_bytes(*file.get(at..)?.first_chunk()?));
    let quad = |at: usize| Some(u64::from_le_bytes(*file.get(at..)?.first_chunk()?));
    if file.get(..6)? != b"\x7fELF\x02\x01" || half(18)? != EM_X86_64 {
        return None;
    }
    let (offset, size, count) = (quad(32)? as usize, usize::from(half(54)?), usize::from(half(56)?));
    for index in 0..count {
        if word(offset.checked_add(size * index)?)? == PT_INTERP {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_by_name_and_raw() {
        assert_eq!(parse_features("all").unwrap(), Capabilities::UNIT);
        assert_eq!(parse_features("0:80032013:10200:8000000F").unwrap(), Capabilities { enabled: 0, ..Capabilities::FX8150 });
        assert!(matches!(parse_features("some"), Err(ExecError::Features(_))));
        assert!(parse_features("1:2:3").is_err());
    }

    #[test]
    fn what_cannot_be_preloaded_is_refused_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8], mode: u32| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let mut elf = vec![0; 64];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        elf[18] = 62;
        let refused = |path: &Path| check_program(path).unwrap_err().to_string();
        assert!(refused(&file("static", &elf, 0o755)).ends_with("statically linked, so no library can be preloaded"));
        assert!(refused(&file("setuid", &elf, 0o4755)).contains("set-user-id"));
        let capable = file("capable", &elf, 0o755);
        // struct vfs_cap_data, revision 2: CAP_NET_RAW, permitted and effective.
        let value = [0x0200_0001u32, 1 << 13, 0, 0, 0].map(u32::to_le_bytes).concat();
        let path = CString::new(capable.as_os_str().as_bytes()).unwrap();
        // SAFETY: C strings, and the value's own length. Only root may.
        if unsafe { libc::setxattr(path.as_ptr(), c"security.capability".as_ptr(), value.as_ptr().cast(), value.len(), 0) } == 0 {
            assert!(refused(&capable).contains("file capabilities"));
        }
        assert!(refused(folder.path()).ends_with("not a 64-bit x86 ELF program"));
        assert!(refused(&file("script", b"#!/bin/sh\n", 0o755)).ends_with("not a 64-bit x86 ELF program"));
        let none: [&str; 0] = [];
        assert!(matches!(command("all", Path::new("no-such-program-here"), none, Path::new("x")), Err(ExecError::NotFound(_))));
    }
}
