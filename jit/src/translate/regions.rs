//! Alias regions: which memory an access can touch, so that Cranelift knows what a store leaves alone.
//!
//! Invariants:
//! 1. Every access the translator emits names a region (a store without one is a fence for all redundant-load elimination).
//! 2. Two accesses of different regions never touch the same byte. Things a module defines are regions of their own; imported ones
//!    share a region by kind, because one object can be imported twice.

use std::collections::HashMap;

use cranelift_codegen::ir::{AliasRegion, AliasRegionData, DataFlowGraph, Function, MemFlagsData};

use vm::module::Module;

/// A disjoint part of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Region {
    /// Fixed fields of contexts, store contexts and `VmFunc`s.
    Context,
    /// `VmContext::poll`: written by other threads.
    Poll,
    /// The LWPCB.
    Lwp,
    /// Countdown words.
    Counters,
    /// The switch buffer.
    Switch,
    /// `VmFunc::entry`: written when a version is published.
    Code,
    /// Lengths of memories and tables.
    Lengths,
    /// Our own frame.
    Frame,
    /// The countdown to the next guard that a test makes fail.
    Guards,
    /// Fields of the store's context that tell where the burst buffer's next word goes.
    Burst,
    /// The burst buffer.
    BurstWords,
    /// Thrown objects.
    Thrown,
    /// Contents of a memory.
    Memory(u32),
    /// Entries of a table.
    Table(u32),
    /// A global's value.
    Global(u32),
}

/// Own regions for at most this many objects of a kind; the rest share one. Keeps the set of flags small (it is limited to 2^16).
const MOST_INDEXED: u32 = 1000;
const SHARED: u32 = 0xff_ffff;
/// Kinds from here on have an index.
const FIRST_INDEXED: u32 = 16;
const MEMORY: u32 = 16;
const GLOBAL: u32 = 18;

impl Region {
    /// Kind and index, imported and very many objects merged.
    fn key(self, module: &Module) -> (u32, u32, &'static str) {
        let own = |index: u32, imported: u32| if index < imported || index > MOST_INDEXED { SHARED } else { index };
        match self {
            Region::Context => (1, 0, "context"),
            Region::Poll => (2, 0, "poll"),
            Region::Lwp => (3, 0, "lwp"),
            Region::Counters => (4, 0, "counters"),
            Region::Switch => (5, 0, "switch"),
            Region::Code => (6, 0, "code"),
            Region::Lengths => (7, 0, "lengths"),
            Region::Frame => (9, 0, "frame"),
            Region::Guards => (10, 0, "guards"),
            Region::Burst => (12, 0, "burst"),
            Region::BurstWords => (13, 0, "burst words"),
            Region::Thrown => (14, 0, "thrown"),
            Region::Memory(index) => (MEMORY, own(index, module.imported_memories), "memory"),
            Region::Table(index) => (17, own(index, module.imported_tables), "table"),
            Region::Global(index) => (GLOBAL, own(index, module.imported_globals), "global"),
        }
    }
}

/// The regions of one CLIF function, by key.
#[derive(Default)]
pub(crate) struct Regions {
    known: HashMap<u32, AliasRegion>,
}

impl Regions {
    /// The CLIF name of a region.
    pub(crate) fn get(&mut self, function: &mut Function, module: &Module, region: Region) -> AliasRegion {
        let (kind, index, name) = region.key(module);
        let key = kind << 24 | index;
        *self.known.entry(key).or_insert_with(|| {
            let description = match (kind < FIRST_INDEXED, index) {
                (true, _) => name.into(),
                (false, SHARED) => format!("{name} shared").into(),
                (false, index) => format!("{name} {index}").into(),
            };
            function.dfg.alias_regions.insert(AliasRegionData { user_id: key, description })
        })
    }
}

/// Flags of an adapter's access to slots of 8 bytes, aligned.
pub(crate) fn slots(function: &mut Function) -> MemFlagsData {
    let region = function.dfg.alias_regions.insert(AliasRegionData { user_id: 8 << 24, description: "slots".into() });
    MemFlagsData::trusted().with_alias_region(Some(region))
}

/// Whether a region is of the kind that an example names, whatever its index.
pub(crate) fn is_of(dfg: &DataFlowGraph, region: AliasRegion, example: Region) -> bool {
    let kind = match example {
        Region::Memory(_) => MEMORY,
        Region::Global(_) => GLOBAL,
        _ => return false,
    };
    dfg.alias_regions[region].user_id >> 24 == kind
}

/// The memory whose contents a region is, where it is of one memory only.
pub(crate) fn memory_of(dfg: &DataFlowGraph, region: AliasRegion) -> Option<u32> {
    let key = dfg.alias_regions[region].user_id;
    let index = key & SHARED;
    (key >> 24 == MEMORY && index != SHARED).then_some(index)
}
