//! Open files as POSIX has them, where wasi-common's differ: a new one gets the lowest number that is free (wasi-common counts up for ever, and a guest that opens and closes files soon has
//! numbers that `select` cannot hold), and a file that is only read may be truncated as it is opened (which wasi-common asks of the system without write access).

use super::preview1::answer;
use super::{Function, Snapshot, Stop};
use wasi_common::WasiCtx;

/// `oflags` of `path_open`.
const CREATE: u64 = 1;
const TRUNCATE: u64 = 8;
/// `rights` of `path_open`.
const FD_WRITE: u64 = 1 << 6;

/// Which numbers are free.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// None below is.
    lowest: u32,
}

impl Numbers {
    /// A call was answered without error.
    pub(super) fn see(&mut self, context: &WasiCtx, function: Function, memory: &mut [u8], arguments: &[u64]) {
        match (function, arguments) {
            (Function::FdClose, &[closed]) | (Function::FdRenumber, &[closed, _]) => self.lowest = self.lowest.min(closed as u32),
            (Function::PathOpen, &[.., out]) | (Function::SockAccept, &[.., out]) => self.give_lowest(context, memory, out),
            _ => {}
        }
    }

    /// What was just opened has the number at `out`.
    fn give_lowest(&mut self, context: &WasiCtx, memory: &mut [u8], out: u64) {
        let Some(place) = number(memory, out) else { return };
        let given = u32::from_le_bytes(*place);
        let free = (self.lowest..given).find(|&number| !context.table().contains_key(number)).unwrap_or(given);
        if context.table().renumber(given, free).is_ok() {
            *place = free.to_le_bytes();
            self.lowest = free + 1;
        }
    }
}

/// `path_open` of a file that is there, which is to be truncated and then only read. `None`: it is another one, and all is as ever.
pub(super) fn open_truncated(context: &mut WasiCtx, snapshot: Snapshot, memory: &mut [u8], arguments: &[u64]) -> Option<Result<u32, Stop>> {
    let &[fd, flags, path, len, oflags, rights, inheriting, fdflags, out] = arguments else { return None };
    if oflags & (CREATE | TRUNCATE) != TRUNCATE || rights & FD_WRITE != 0 {
        return None;
    }
    let reads = [fd, flags, path, len, oflags & !TRUNCATE, rights, inheriting, fdflags, out];
    let truncates = [fd, flags, path, len, oflags, FD_WRITE, 0, 0, out];
    Some(open_both(context, snapshot, memory, (&reads, &truncates), out))
}

/// First the one that reads, as the system looks whether a file may be opened before it truncates it; that one stays open.
fn open_both(
    context: &mut WasiCtx,
    snapshot: Snapshot,
    memory: &mut [u8],
    (reads, truncates): (&[u64], &[u64]),
    out: u64,
) -> Result<u32, Stop> {
    let errno = answer(context, snapshot, Function::PathOpen, memory, reads)?;
    if errno != 0 {
        return Ok(errno);
    }
    let Some(opened) = number(memory, out).copied() else { return Ok(errno) };
    let errno = answer(context, snapshot, Function::PathOpen, memory, truncates)?;
    // (unless the other one failed)
    let closed = match number(memory, out) {
        Some(number) if errno == 0 => std::mem::replace(number, opened),
        _ => opened,
    };
    answer(context, snapshot, Function::FdClose, memory, &[u32::from_le_bytes(closed).into()])?;
    Ok(errno)
}

/// The number of an open file that was written to `out`.
fn number(memory: &mut [u8], out: u64) -> Option<&mut [u8; 4]> {
    memory.get_mut(out as u32 as usize..)?.first_chunk_mut()
}
