//! The return-address stack: Kaeli and Emma, "Branch history table prediction of moving target branches due to subroutine returns", ISCA 1991.

/// Entries. AMD's Software Optimization Guides for families 17h and 19h give 32 per thread.
const ENTRIES: usize = 32;

/// A circular stack: what is pushed too deep overwrites the oldest.
#[derive(Default)]
pub(super) struct ReturnStack {
    entries: [u64; ENTRIES],
    /// Pushes less pops, while not negative.
    depth: usize,
}

impl ReturnStack {
    pub(super) fn push(&mut self, address: u64) {
        self.entries[self.depth % ENTRIES] = address;
        self.depth += 1;
    }

    /// The prediction; `None` below what was pushed.
    pub(super) fn pop(&mut self) -> Option<u64> {
        let top = self.top()?;
        self.depth -= 1;
        Some(top)
    }

    /// What [`Self::pop`] would yield.
    pub(super) fn top(&self) -> Option<u64> {
        Some(self.entries[self.depth.checked_sub(1)? % ENTRIES])
    }

    pub(super) fn forget(&mut self) {
        self.depth = 0;
    }
}
