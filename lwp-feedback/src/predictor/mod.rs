//! A branch predictor in software: says of each branch of a burst whether a processor would have predicted it.
//!
//! In: the branches of a burst, in program order. Out: for each a [`Verdict`]. One predictor serves one thread; it keeps what it learned from
//! burst to burst, as the processor's does, but its history starts anew with each, so the first branches of a burst are *warm-up*: they train
//! and are not judged ([`Predictor::begin`]).
//!
//! The parts and their sources: conditional branches by TAGE ([`tage`]), indirect ones by a tagged target cache ([`target`]), returns by
//! a return-address stack ([`returns`]). No processor's predictor is published in full; this one is of the class that Zen (since Zen 2) and
//! Intel (since Haswell) are known to use. What it says is marked `modelled` wherever it is shown.
#![forbid(unsafe_code)]

mod returns;
mod tage;
mod target;

use returns::ReturnStack;
use tage::Tage;
use target::TargetCache;

pub use tage::{HISTORY_LENGTHS, TABLE_BITS, TAG_BITS};

/// Branches of a thread before any is judged: a table of 2^13 counters that has seen nothing says nothing. A guess.
pub const COLD_BRANCHES: u64 = 2048;
/// Branches at the beginning of a burst that only train: the longest history is 640 of them.
pub const WARM_UP: u32 = 640;

/// What the predictor says of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Still warming up.
    Unknown,
    /// Would have been predicted.
    Predicted,
    /// Would not.
    Mispredicted,
}

/// All parts for one thread.
pub struct Predictor {
    tage: Tage,
    targets: TargetCache,
    returns: ReturnStack,
    /// Branches seen, ever.
    seen: u64,
    /// Branches of this burst that are still to be taken for warm-up.
    warming: u32,
}

impl Default for Predictor {
    fn default() -> Predictor {
        Predictor::new(1)
    }
}

impl Predictor {
    /// A predictor that has seen nothing. `seed` chooses which of several free entries are taken (0 is taken as 1).
    pub fn new(seed: u32) -> Predictor {
        Predictor { tage: Tage::new(seed), targets: TargetCache::default(), returns: ReturnStack::default(), seen: 0, warming: WARM_UP }
    }

    /// A burst begins: the next `warm_up` branches (at most [`WARM_UP`]) are not judged, and what is on the return stack is not known.
    pub fn begin(&mut self, warm_up: u32) {
        self.warming = warm_up.min(WARM_UP);
        self.returns.forget();
    }

    fn judge(&mut self, correct: bool) -> Verdict {
        self.seen += 1;
        if self.warming > 0 || self.seen <= COLD_BRANCHES {
            self.warming = self.warming.saturating_sub(1);
            return Verdict::Unknown;
        }
        if correct { Verdict::Predicted } else { Verdict::Mispredicted }
    }

    /// A conditional branch at `address`.
    pub fn conditional(&mut self, address: u64, taken: bool) -> Verdict {
        let correct = self.tage.predict_and_train(address, taken) == taken;
        self.tage.push(address, taken);
        self.judge(correct)
    }

    /// A condition that decides no branch (a `select`): what the verdict would be if it did. It leaves no trace in the history of branches; its own outcomes it knows, as a
    /// branch in its place would.
    pub fn condition(&mut self, address: u64, value: bool) -> Verdict {
        let correct = self.tage.predict_and_train_condition(address, value) == value;
        self.judge(correct)
    }

    /// An indirect jump or call at `address` to `target` (any number that stands for it).
    pub fn indirect(&mut self, address: u64, target: u64) -> Verdict {
        let correct = self.targets.predict_and_train(address, self.tage.path(), target) == Some(target);
        // As in ITTAGE, a few bits of the target tell the targets apart in the history.
        let hash = (target ^ target >> 7).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 62;
        self.tage.push(address, hash & 1 != 0);
        self.tage.push(address, hash & 2 != 0);
        self.judge(correct)
    }

    /// A function was entered that will return to `address`.
    pub fn call(&mut self, address: u64) {
        self.returns.push(address);
    }

    /// A function whose entry was seen gives its frame up for a callee, which will return to `address` in its place.
    pub fn tail_call(&mut self, address: u64) {
        if self.returns.top() == Some(address) {
            self.returns.pop();
        }
    }

    /// A return to `address`. Returns of functions that were entered before the burst are unknown.
    pub fn ret(&mut self, address: u64) -> Verdict {
        match self.returns.pop() {
            Some(predicted) => self.judge(predicted == address),
            None => Verdict::Unknown,
        }
    }

    /// The same, where functions may return whose entry was not seen: if another one was entered last, that one stays.
    pub fn ret_if_entered(&mut self, address: u64) -> Verdict {
        if self.returns.top() == Some(address) { self.ret(address) } else { Verdict::Unknown }
    }
}

#[cfg(test)]
mod tests;
