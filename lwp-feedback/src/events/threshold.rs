//! What CMASK, INV and EDGE make of an event: the counting rule of a PERFEVTSEL register in software.
//!
//! With `cnt_mask` 0 the occurrences are added, and INV means nothing for there is no comparison. With n > 0 the condition of a cycle is "at least n
//! occurrences" (INV: fewer than n), and 1 is added in each cycle where it holds. EDGE adds 1 only where the condition (with `cnt_mask` 0: any
//! occurrence) becomes true; it is taken as false before the first cycle.

use std::ops::Range;

use super::selector::EventSelect;

/// The three fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Threshold {
    /// CMASK.
    pub cnt_mask: u8,
    /// INV.
    pub inverted: bool,
    /// EDGE.
    pub edge: bool,
}

impl From<EventSelect> for Threshold {
    fn from(select: EventSelect) -> Self {
        Self { cnt_mask: select.cmask, inverted: select.inv, edge: select.edge }
    }
}

/// A pair of the stream is outside the cycles, or not after the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cycle {cycle} where {from} or later, before {end}, was expected")]
pub struct OutOfOrder {
    /// The pair's cycle.
    pub cycle: u64,
    /// The first cycle it could have had.
    pub from: u64,
    /// End of the counted cycles.
    pub end: u64,
}

impl Threshold {
    fn holds(self, occurrences: u32) -> bool {
        match self.cnt_mask {
            0 => occurrences > 0,
            mask => (occurrences >= u32::from(mask)) != self.inverted,
        }
    }

    /// Counts over `cycles` a stream of (cycle, occurrences) with rising cycles; cycles that are not in it had no occurrence.
    pub fn count(self, cycles: Range<u64>, stream: impl IntoIterator<Item = (u64, u32)>) -> Result<u64, OutOfOrder> {
        let mut counter = Counter { threshold: self, held: false, total: 0 };
        let mut next = cycles.start;
        for (cycle, occurrences) in stream {
            if cycle < next || cycle >= cycles.end {
                return Err(OutOfOrder { cycle, from: next, end: cycles.end });
            }
            counter.quiet(cycle - next);
            counter.cycle(occurrences);
            next = cycle + 1;
        }
        counter.quiet(cycles.end.saturating_sub(next));
        Ok(counter.total)
    }
}

struct Counter {
    threshold: Threshold,
    held: bool,
    total: u64,
}

impl Counter {
    fn cycle(&mut self, occurrences: u32) {
        let holds = self.threshold.holds(occurrences);
        self.total += match (self.threshold.edge, self.threshold.cnt_mask) {
            (true, _) => u64::from(holds && !self.held),
            (false, 0) => u64::from(occurrences),
            (false, _) => u64::from(holds),
        };
        self.held = holds;
    }

    /// Cycles without an occurrence, in one step.
    fn quiet(&mut self, cycles: u64) {
        if cycles == 0 {
            return;
        }
        self.cycle(0);
        if self.held && !self.threshold.edge {
            self.total += cycles - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STREAM: [(u64, u32); 5] = [(0, 2), (1, 3), (3, 1), (4, 3), (5, 3)];

    fn count(cnt_mask: u8, inverted: bool, edge: bool) -> u64 {
        Threshold { cnt_mask, inverted, edge }.count(0..8, STREAM).unwrap()
    }

    #[test]
    fn cnt_mask_inv_and_edge() {
        assert_eq!(count(0, false, false), 12);
        assert_eq!(count(1, false, false), 5);
        assert_eq!(count(3, false, false), 3);
        assert_eq!(count(3, true, false), 5);
        assert_eq!(count(3, false, true), 2);
        assert_eq!(count(3, true, true), 3);
        assert_eq!(count(0, false, true), 2);
    }

    #[test]
    fn order_is_checked() {
        let threshold = Threshold::default();
        assert_eq!(threshold.count(0..4, [(2, 1), (2, 1)]), Err(OutOfOrder { cycle: 2, from: 3, end: 4 }));
        assert_eq!(threshold.count(0..4, [(4, 1)]), Err(OutOfOrder { cycle: 4, from: 0, end: 4 }));
    }

    proptest! {
        #[test]
        fn gaps_are_cycles_without_occurrences(
            dense in proptest::collection::vec(0u32..4, 0..60), cnt_mask in 0u8..4, inverted: bool, edge: bool,
        ) {
            let threshold = Threshold { cnt_mask, inverted, edge };
            let sparse = dense.iter().enumerate().filter(|(_, n)| **n > 0).map(|(cycle, n)| (cycle as u64, *n));
            let mut expected = 0;
            let mut before = false;
            for n in &dense {
                let condition = match (cnt_mask, inverted) {
                    (0, _) => *n > 0,
                    (mask, false) => *n >= u32::from(mask),
                    (mask, true) => *n < u32::from(mask),
                };
                expected += match (edge, cnt_mask) {
                    (false, 0) => u64::from(*n),
                    (false, _) => u64::from(condition),
                    (true, _) => u64::from(condition && !before),
                };
                before = condition;
            }
            prop_assert_eq!(threshold.count(0..dense.len() as u64, sparse), Ok(expected));
        }
    }
}
