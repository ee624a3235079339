//! Resolutions to be used again: instruction addresses repeat, and asking the code map costs more than all the rest that is done for a record.

use crate::codemap::Resolved;

#[derive(Clone, Copy)]
struct Cached {
    ip: u64,
    /// The code map's when it was asked: an older one says nothing.
    generation: u64,
    resolved: Option<Resolved>,
}

/// Two resolutions for each hash, the newer one first. A hot program writes from some thousand sites; of a table with one place for each hash, eight times
/// as many as there are sites, an eighth would push each other out.
pub(super) struct ResolutionCache(Box<[[Cached; 2]]>);

/// log2 of the hashes: 2,048 of 96 bytes, of which those are touched that the program's sites have.
const HASH_BITS: u32 = 11;

impl ResolutionCache {
    pub(super) fn new() -> Self {
        Self(vec![[Cached { ip: 0, generation: 0, resolved: None }; 2]; 1 << HASH_BITS].into_boxed_slice())
    }

    /// What `ip` means in the map of this generation; `ask` is asked where that isn't known. That an address means nothing is not kept.
    #[inline]
    pub(super) fn resolve(&mut self, ip: u64, generation: u64, ask: impl FnOnce() -> Option<Resolved>) -> Option<Resolved> {
        // Fibonacci hashing: 2^64 divided by the golden ratio.
        let pair = &mut self.0[(ip.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - HASH_BITS)) as usize];
        for cached in &*pair {
            if cached.ip == ip && cached.generation == generation && cached.resolved.is_some() {
                return cached.resolved;
            }
        }
        let resolved = ask();
        if resolved.is_some() {
            *pair = [Cached { ip, generation, resolved }, pair[0]];
        }
        resolved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codemap::{FunctionId, Tier};

    fn meaning(wasm_offset: u32) -> Option<Resolved> {
        Some(Resolved { function: FunctionId { module: 1, func: 2 }, version: 3, tier: Tier::Baseline, wasm_offset })
    }

    #[test]
    fn what_is_known_is_not_asked_until_the_map_changes() {
        let mut cache = ResolutionCache::new();
        assert_eq!(cache.resolve(0x1000, 1, || None), None);
        assert_eq!(cache.resolve(0x1000, 1, || meaning(7)), meaning(7), "that it meant nothing was not kept");
        assert_eq!(cache.resolve(0x1000, 1, || panic!("known")), meaning(7));
        assert_eq!(cache.resolve(0x1000, 2, || meaning(8)), meaning(8));
        assert_eq!(cache.resolve(0x1000, 2, || panic!("known")), meaning(8));
    }

    #[test]
    fn a_thousand_sites_in_turn_are_nearly_all_known() {
        let mut cache = ResolutionCache::new();
        let mut asked = 0;
        for ip in (0..3).flat_map(|_| (0..1000).map(|site| 0x10_0000 + site * 0x40)) {
            let expected = meaning(ip as u32);
            let resolved = cache.resolve(ip, 1, || {
                asked += 1;
                expected
            });
            assert_eq!(resolved, expected);
        }
        assert!(asked < 1100, "{asked}");
    }
}
