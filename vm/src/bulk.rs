//! Bulk operations in pieces, so that a deadline stops one that would take seconds: filling 3 GiB of fresh memory takes 8 s on a small machine.

use crate::layout::VmContext;
use crate::runtime::store_state;
use crate::trap::TrapCode;

/// Bytes between two looks at the deadline: fresh pages take up to 3 ms.
pub(crate) const BYTES: u64 = 1 << 20;
/// The same in table entries.
pub(crate) const ENTRIES: u64 = BYTES / 8;

/// The order in which overlapping ranges are copied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// From the first piece.
    Forward,
    /// From the last piece.
    Backward,
}

impl Order {
    /// For a copy: no piece is overwritten before it is read.
    pub(crate) fn of_copy(destination: u64, source: u64) -> Order {
        if destination <= source { Order::Forward } else { Order::Backward }
    }
}

/// Runs `piece(start, length)` over `0..count`. What a deadline cuts short leaves the pieces before it done, as any trap of these operations may.
/// Where a callback decides about the deadline, it is asked at the next poll, not here.
///
/// # Safety
/// `context` is the running context, of kind wasm.
pub(crate) unsafe fn in_pieces(
    context: *mut VmContext,
    count: u64,
    most: u64,
    order: Order,
    mut piece: impl FnMut(u64, u64) -> Result<(), TrapCode>,
) -> Result<(), TrapCode> {
    if count <= most {
        return piece(0, count);
    }
    for number in 0..count.div_ceil(most) {
        // SAFETY: the caller's promise.
        let store = unsafe { &*store_state(context) };
        if store.deadline_callback.is_none() && store.is_past_deadline() {
            return Err(TrapCode::Interrupt);
        }
        let start = number * most;
        let length = most.min(count - start);
        piece(if order == Order::Forward { start } else { count - start - length }, length)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_upwards_starts_at_the_end() {
        assert!(Order::of_copy(10, 5) == Order::Backward);
        assert!(Order::of_copy(5, 10) == Order::Forward && Order::of_copy(5, 5) == Order::Forward);
    }
}
