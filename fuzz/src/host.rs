//! What the host does when a guest calls an import: the same in every machine, from the seed, the import and the arguments alone.

use crate::random::{Random, mix};
use crate::values::Value;
use wasmparser::ValType;

/// Most bytes of one memory; both machines are told.
pub const MOST_MEMORY_BYTES: usize = 8 << 20;
/// Most elements of one table; both machines are told.
pub const MOST_TABLE_ELEMENTS: usize = 10_000;

/// A host function failed on purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostTrap;

impl std::fmt::Display for HostTrap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the host function fails on purpose")
    }
}

impl std::error::Error for HostTrap {}

/// The host of one instance.
#[derive(Clone, Debug)]
pub struct Host {
    seed: u64,
    /// Calls of imports so far.
    pub calls: u64,
    /// Of all their arguments.
    pub hash: u64,
}

impl Host {
    /// A host that was not called yet.
    pub fn new(seed: u64) -> Host {
        Host { seed, calls: 0, hash: 0 }
    }

    /// A call of the `import`th imported function: what it returns.
    pub fn answer(&mut self, import: usize, arguments: &[Value], results: &[ValType]) -> Result<Vec<Value>, HostTrap> {
        self.calls += 1;
        self.hash = mix(self.hash, import as u64);
        for word in arguments.iter().flat_map(Value::words) {
            self.hash = mix(self.hash, word);
        }
        let mut random = Random::new(mix(self.seed, self.hash));
        if random.once_in(256) {
            return Err(HostTrap);
        }
        results.iter().map(|&ty| Value::random(ty, &mut random).ok_or(HostTrap)).collect()
    }

    /// Value of the `import`th imported global.
    pub fn global(&self, import: usize, ty: ValType) -> Option<Value> {
        Value::random(ty, &mut Random::new(mix(self.seed, !(import as u64))))
    }
}
