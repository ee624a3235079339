//! Numbers from a seed: the same on every machine and in every run.

/// splitmix64 (Steele, Lea, Flood 2014): any seed is good, 0 too.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Numbers of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    /// True once in `of` times.
    pub fn once_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// One of some, which are not none.
    pub fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }

    /// Numbers of their own for a purpose, so that what one part draws does not shift another's.
    pub fn split(&self, purpose: u64) -> Random {
        Random(mix(self.0, purpose))
    }
}

/// A seed from two.
pub fn mix(a: u64, b: u64) -> u64 {
    Random(a ^ Random(b).bits()).bits()
}
