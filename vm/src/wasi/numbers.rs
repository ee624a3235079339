//! Numbers of open files as POSIX has them: a new one gets the lowest that is free. (wasi-common counts up for ever, and a guest that opens and closes files soon has numbers that `select` cannot
//! hold.)

use super::Function;
use wasi_common::WasiCtx;

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

/// The number of an open file that was written to `out`.
fn number(memory: &mut [u8], out: u64) -> Option<&mut [u8; 4]> {
    memory.get_mut(out as u32 as usize..)?.first_chunk_mut()
}
