//! What the rings look like from outside, for whoever watches.

use super::{Monitor, RingId, lock};

/// A ring at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingState {
    /// Which.
    pub id: RingId,
    /// Bytes of records that were not drained yet.
    pub used_bytes: u32,
    /// Bytes of the whole ring.
    pub buffer_bytes: u32,
    /// Records it had no room for so far.
    pub missed: u64,
}

impl Monitor {
    /// The rings that are drained, oldest first. Waits for a poll in progress.
    pub fn rings(&self) -> Vec<RingState> {
        let core = lock(&self.core);
        let state = |slot: &super::Slot| {
            let ring = &slot.intake.ring;
            RingState { id: slot.id, used_bytes: ring.used_bytes(), buffer_bytes: ring.buffer_bytes(), missed: ring.missed() }
        };
        core.rings.iter().map(state).collect()
    }
}
