//! Which indices of a `br_table` follow each other: sequences of fixed length, in bounded space.

use std::collections::BTreeMap;

use super::halving::Halving;
use super::snapshot::{SequenceCount, SequencesSnapshot};

/// Indices of a sequence.
pub const SEQUENCE: usize = 8;
/// Sequences kept.
const MOST: usize = 256;

/// Sequences of one `br_table` and how often each was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sequences {
    total: u64,
    /// By the indices, a byte each, the latest lowest.
    kept: BTreeMap<u64, u64>,
}

impl Sequences {
    pub(super) fn add(&mut self, indices: u64, count: u64) {
        self.total = self.total.saturating_add(count);
        if let Some(known) = self.kept.get_mut(&indices) {
            *known = known.saturating_add(count);
            return;
        }
        if self.kept.len() >= MOST {
            // Half of those seen once go, and what is new has its chance.
            self.halve();
        }
        if self.kept.len() < MOST {
            self.kept.insert(indices, count);
        }
    }

    /// Halves all counts; false where nothing is left. What is kept stays a sample of all, of the rare ones too ([`Halving`]).
    pub(super) fn halve(&mut self) -> bool {
        self.total /= 2;
        let mut by = Halving::default();
        self.kept.retain(|_, count| {
            *count = by.half(*count);
            *count > 0
        });
        !self.kept.is_empty()
    }

    pub(super) fn snapshot(&self, offset: u32) -> SequencesSnapshot {
        let mut sequences: Vec<_> = self.kept.iter().map(|(&it, &count)| SequenceCount { indices: it.to_be_bytes(), count }).collect();
        sequences.sort_by_key(|it| std::cmp::Reverse(it.count));
        SequencesSnapshot { offset, total: self.total, sequences }
    }

    /// The way back, of what may come from a damaged file.
    pub(super) fn of(saved: &SequencesSnapshot) -> Sequences {
        let most = u64::from(u32::MAX);
        let kept = saved.sequences.iter().take(MOST).map(|it| (u64::from_be_bytes(it.indices), it.count.min(most))).collect();
        Sequences { total: saved.total.min(most), kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_what_is_frequent_stays() {
        let mut sequences = Sequences::default();
        for round in 0..10_000u64 {
            sequences.add(7, 3);
            sequences.add(1000 + round, 1);
        }
        assert!(sequences.kept.len() <= MOST);
        let saved = sequences.snapshot(5);
        assert_eq!(saved.sequences[0].indices, [0, 0, 0, 0, 0, 0, 0, 7]);
        assert!(saved.sequences[0].count > 100 * saved.sequences[1].count);
        assert_eq!(Sequences::of(&saved), sequences);
    }
}
