//! Targets of indirect branches: a branch target buffer with the last target, and in front of it a tagged cache indexed by address and
//! history. Chang, Hao and Patt, "Target prediction for indirect jumps", ISCA 1997 (their tagged target cache, larger).

/// log2 of the entries of each table. A guess: 4096.
const BITS: u32 = 12;

#[derive(Clone, Copy, Default)]
struct Entry {
    tag: u16,
    /// 0 to 3: replaced at 0.
    confidence: u8,
    target: u64,
    valid: bool,
}

/// Both tables.
pub(super) struct TargetCache {
    by_history: Box<[Entry]>,
    last: Box<[Entry]>,
}

impl Default for TargetCache {
    fn default() -> TargetCache {
        TargetCache { by_history: vec![Entry::default(); 1 << BITS].into(), last: vec![Entry::default(); 1 << BITS].into() }
    }
}

fn hash(address: u64, history: u64) -> (usize, u16) {
    let mixed =
        (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ history.wrapping_mul(0xC2B2_AE3D_27D4_EB4F)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed >> (64 - BITS)) as usize, (mixed >> 20) as u16)
}

impl Entry {
    /// Takes the outcome in; a wrong target is replaced once its confidence is used up.
    fn train(&mut self, tag: u16, target: u64) {
        if self.valid && self.tag == tag && self.target == target {
            self.confidence = (self.confidence + 1).min(3);
        } else if self.valid && self.confidence > 0 {
            self.confidence -= 1;
        } else {
            *self = Entry { tag, confidence: 1, target, valid: true };
        }
    }
}

impl TargetCache {
    /// The prediction for the branch at `address` with this history, before it learns `target`.
    pub(super) fn predict_and_train(&mut self, address: u64, history: u64, target: u64) -> Option<u64> {
        let (at, tag) = hash(address, history);
        let (last_at, last_tag) = hash(address, 0);
        let of = |entry: &Entry, tag: u16| (entry.valid && entry.tag == tag).then_some(entry.target);
        let prediction = of(&self.by_history[at], tag).or_else(|| of(&self.last[last_at], last_tag));
        let by_last = of(&self.last[last_at], last_tag);
        // A branch with one target needs no entry by history.
        if by_last != Some(target) || of(&self.by_history[at], tag).is_some() {
            self.by_history[at].train(tag, target);
        }
        self.last[last_at].train(last_tag, target);
        prediction
    }
}
