//! Names for machine code, for tools outside: `perf` by a map or a jitdump file, and a sampler of the guest's stacks.
//!
//! Enters: every piece of code as it is placed ([`CodeObserver`]). Leaves: files in the layouts those tools document, or samples.
//! While an observer is there, code addresses are not used again ([`keep_addresses`]): a name that a file gives to an address holds to the end.

mod jitdump;
mod perfmap;
mod sampler;

pub use jitdump::JitDump;
pub use perfmap::PerfMap;
pub(crate) use sampler::take_due;
pub use sampler::{LiveTicks, Sample, SampledFrame, Sampler, Samples};

use crate::code::{CompiledCode, Entrance, SourcePosition, Tier};
use crate::module::Module;

/// Who is told of each piece of code. Called on the thread that places it, before anything leads to it.
pub trait CodeObserver: Send + Sync + std::fmt::Debug {
    /// A piece of code is in its place.
    fn placed(&self, piece: &Piece<'_>);
}

/// A piece of code in its place.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// A name: of a function its own with tier, version and loop.
    pub name: &'a str,
    /// Where it starts.
    pub address: u64,
    /// The code as it stands there.
    pub bytes: &'a [u8],
    /// The module whose function it is; stubs and adapters have none.
    pub module: Option<&'a Module>,
    /// The function and its version.
    pub function: Option<(u32, u32)>,
    /// Offset in the code → index in `positions`, sorted; each holds up to the next one's.
    pub locations: &'a [(u32, u32)],
    /// Wasm positions.
    pub positions: &'a [SourcePosition],
}

/// From now on no code address of this process is used twice: what was given up stays reserved. It cannot be taken back, since what was written
/// about an address is out of reach; a map is a file of the process, so is this.
pub fn keep_addresses() {
    crate::arena::keep_addresses();
}

/// How a function's version is called in maps: its name, then tier, version and loop.
pub(crate) fn version_name(module: &Module, function: u32, tier: Tier, entrance: Entrance, version: u32) -> String {
    let name = match module.function_name(function) {
        Some(name) => name.to_owned(),
        None => format!("wasm[{function}]"),
    };
    let tier = match tier {
        Tier::Baseline => "baseline",
        Tier::Optimizing => "optimizing",
        Tier::Instrumented => "instrumented",
    };
    match entrance {
        Entrance::Body => format!("{name} [{tier} v{version}]"),
        Entrance::Loop(offset) => format!("{name} [{tier} v{version}, loop {offset:#x}]"),
    }
}

/// A piece without positions: adapters and stubs.
pub(crate) fn nameless<'a>(name: &'a str, address: usize, bytes: &'a [u8]) -> Piece<'a> {
    Piece { name, address: address as u64, bytes, module: None, function: None, locations: &[], positions: &[] }
}

/// A version of a function.
pub(crate) fn piece<'a>(
    name: &'a str,
    address: usize,
    bytes: &'a [u8],
    module: &'a Module,
    function: (u32, u32),
    code: &'a CompiledCode,
) -> Piece<'a> {
    Piece {
        name,
        address: address as u64,
        bytes,
        module: Some(module),
        function: Some(function),
        locations: &code.source.locations,
        positions: &code.source.positions,
    }
}

/// A name as these files can hold it: no line breaks and no NUL.
fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
