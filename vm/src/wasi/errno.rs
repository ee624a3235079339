//! Error numbers for the host's errors that wasi-common has none for, and would end the guest with.

use std::io::{Error, ErrorKind};
use wasi_common::snapshots::preview_1::types::Errno;

/// What the guest gets for an error of the system, or of a reader or writer that the host gave it.
pub(super) fn errno(error: &Error) -> Errno {
    match error.raw_os_error() {
        Some(number) => of_system(number),
        None => of_kind(error.kind()),
    }
}

/// The system's numbers that preview 1 has too, less those that wasi-common knows.
fn of_system(number: i32) -> Errno {
    match number {
        libc::EBADMSG => Errno::Badmsg,
        libc::ECHILD => Errno::Child,
        libc::EDEADLK => Errno::Deadlk,
        libc::EDOM => Errno::Dom,
        libc::EIDRM => Errno::Idrm,
        libc::EMULTIHOP => Errno::Multihop,
        libc::ENODEV => Errno::Nodev,
        libc::ENOEXEC => Errno::Noexec,
        libc::ENOLCK => Errno::Nolck,
        libc::ENOLINK => Errno::Nolink,
        libc::ENOMSG => Errno::Nomsg,
        libc::ENOSYS => Errno::Nosys,
        libc::ENOTRECOVERABLE => Errno::Notrecoverable,
        libc::ENOTTY => Errno::Notty,
        libc::ENXIO => Errno::Nxio,
        libc::EOWNERDEAD => Errno::Ownerdead,
        libc::EPROTO => Errno::Proto,
        libc::ERANGE => Errno::Range,
        libc::EROFS => Errno::Rofs,
        libc::ESRCH => Errno::Srch,
        libc::ETXTBSY => Errno::Txtbsy,
        libc::EXDEV => Errno::Xdev,
        _ => Errno::Io,
    }
}

fn of_kind(kind: ErrorKind) -> Errno {
    match kind {
        ErrorKind::BrokenPipe => Errno::Pipe,
        ErrorKind::ConnectionAborted => Errno::Connaborted,
        ErrorKind::ConnectionReset => Errno::Connreset,
        ErrorKind::Interrupted => Errno::Intr,
        ErrorKind::NotConnected => Errno::Notconn,
        ErrorKind::OutOfMemory => Errno::Nomem,
        ErrorKind::StorageFull => Errno::Nospc,
        ErrorKind::TimedOut => Errno::Timedout,
        ErrorKind::Unsupported => Errno::Notsup,
        _ => Errno::Io,
    }
}
