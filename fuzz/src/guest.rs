//! What a machine under test must offer: load a module, instantiate it, call it, and show its state.

use crate::host::Host;
use crate::values::Value;
use backedge::Trap;
use std::fmt;
use wasmparser::ValType;

/// Why a guest stopped, or never began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A trap of the specification.
    Trap(Trap),
    /// An exception that nobody caught.
    Exception,
    /// [`HostTrap`](crate::host::HostTrap).
    Host,
    /// Something ran out: address space, a limit of one machine.
    Limit(String),
    /// Anything else: our bug, or one of the oracle's.
    Other(String),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Trap(code) => write!(f, "trap: {code}"),
            Stop::Exception => write!(f, "uncaught exception"),
            Stop::Host => write!(f, "the host's error"),
            Stop::Limit(what) => write!(f, "limit: {what}"),
            Stop::Other(what) => write!(f, "error: {what}"),
        }
    }
}

/// Loads modules.
pub trait Machine {
    /// Loads one; an error says why it cannot.
    ///
    /// # Errors
    /// The module is not valid, or uses what the machine does not have.
    fn load(&self, wasm: &[u8]) -> Result<Box<dyn Loaded>, String>;
}

/// A module in a machine.
pub trait Loaded {
    /// A fresh store with a fresh instance.
    ///
    /// # Errors
    /// What stopped it: a segment, the start function, a limit.
    fn instantiate(&self, host: Host) -> Result<Box<dyn Guest>, Stop>;

    /// Errors of the machine's own that no guest sees, such as a function that its compiler could not compile.
    fn own_errors(&self) -> Vec<String> {
        Vec::new()
    }

    /// After everything ran: names of the transformations that plans or the compiler asked for, and whether each was made.
    fn applied(&self) -> Vec<(&'static str, bool)> {
        Vec::new()
    }

    /// After everything ran: what the machine decided and did, for the folder of a failure.
    fn notes(&self) -> String {
        String::new()
    }
}

/// An instance in a store of its own, with its partner if the module imports from one ([`PARTNER`](crate::program::PARTNER)). Exports are named as in the
/// module, the partner's with [`OF_PARTNER`](crate::case::OF_PARTNER) before it.
pub trait Guest {
    /// Calls an exported function.
    ///
    /// # Errors
    /// What stopped it.
    fn call(&mut self, export: &str, arguments: &[Value], results: &[ValType]) -> Result<Vec<Value>, Stop>;
    /// An exported global's value.
    fn global(&mut self, export: &str) -> Value;
    /// An exported memory: its size in pages, and a hash of its bytes.
    fn memory(&mut self, export: &str) -> (u64, u64);
    /// An exported table: its size, and its first elements.
    fn table(&mut self, export: &str) -> (u64, Vec<Value>);
    /// The host, to see what was called.
    fn host(&self) -> &Host;
}

/// Elements of a table that are looked at.
pub const MOST_ELEMENTS_SEEN: u64 = 256;

/// Hash of a memory. Eight bytes at a time: memories are megabytes.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15u64 ^ bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().expect("chunks have 8 bytes"));
        hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    chunks.remainder().iter().fold(hash, |hash, &byte| (hash.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95))
}
