//! A validated module: types, index spaces, bodies and segments, as the tiers read them.
//!
//! Enters: bytes (.wasm, or .wat through the `wat` crate). Leaves: [`Module`], immutable and shared. Everything is validated here, once,
//! in parallel; later stages may rely on it. Code, profile and plans hang off the module elsewhere (`crate::tiering`).

mod bytes;
mod constant_tables;
mod dwarf;
mod error;
mod features;
mod hints;
mod names;
mod parse;

pub use bytes::Bytes;
pub use dwarf::{SourcePlace, demangled};
pub use error::ModuleError;
pub use features::SUPPORTED;
pub use parse::PRECOMPILED;

use crate::signature::Signatures;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use wasmparser::{FuncType, GlobalType, MemoryType, TableType, WasmFeatures};

/// Bytes of a body whose direct calls are counted: as many as the policy has inlined.
pub const SHORT_BYTES: usize = 500;

/// What an import or an export names, with its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternType {
    /// A function, by index into [`Module::types`].
    Func(u32),
    /// A table.
    Table(TableType),
    /// A memory.
    Memory(MemoryType),
    /// A global.
    Global(GlobalType),
    /// A tag, by index of its function type into [`Module::types`].
    Tag(u32),
}

/// One import, in module order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// First name.
    pub module: String,
    /// Second name.
    pub name: String,
    /// What it must be.
    pub ty: ExternType,
}

/// Which index space an export is from, with the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportItem {
    /// Function index.
    Func(u32),
    /// Table index.
    Table(u32),
    /// Memory index.
    Memory(u32),
    /// Global index.
    Global(u32),
    /// Tag index.
    Tag(u32),
}

/// A constant expression, decoded to what is needed to evaluate it at instantiation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstExpr {
    /// Operators in order, evaluated on a small stack (extended constant expressions). Mostly one: CPython has 24,171 data segments.
    pub ops: SmallVec<[ConstOp; 1]>,
}

/// One operator of a [`ConstExpr`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstOp {
    /// Pushes a 32-bit value (i32, or f32 as bits).
    I32(u32),
    /// Pushes a 64-bit value (i64, or f64 as bits).
    I64(u64),
    /// Pushes a 128-bit value.
    V128(u128),
    /// Pushes the value of a global (imported, or defined earlier).
    GlobalGet(u32),
    /// Pushes a reference to a function.
    RefFunc(u32),
    /// Pushes null.
    RefNull,
    /// `i32.add`, `sub`, `mul`.
    I32Add,
    /// See `I32Add`.
    I32Sub,
    /// See `I32Add`.
    I32Mul,
    /// `i64.add`, `sub`, `mul`.
    I64Add,
    /// See `I64Add`.
    I64Sub,
    /// See `I64Add`.
    I64Mul,
}

/// A defined global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalInit {
    /// Its type.
    pub ty: GlobalType,
    /// Its first value.
    pub init: ConstExpr,
}

/// A defined table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInit {
    /// Its type.
    pub ty: TableType,
    /// Value of every entry, null where absent.
    pub init: Option<ConstExpr>,
}

/// When a segment is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentMode {
    /// At instantiation, to the memory or table of that index at that offset.
    Active {
        /// Memory or table index.
        index: u32,
        /// Where.
        offset: ConstExpr,
    },
    /// By `memory.init` or `table.init`.
    Passive,
    /// Never (element segments that only declare).
    Declared,
}

/// A data segment; its bytes are `module.bytes()[range]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSegment {
    /// When it is written.
    pub mode: SegmentMode,
    /// Bytes in the module.
    pub range: Range<usize>,
}

/// An element segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementSegment {
    /// When it is written.
    pub mode: SegmentMode,
    /// Its elements.
    pub items: ElementItems,
}

/// Contents of an element segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElementItems {
    /// Function indices.
    Functions(Vec<u32>),
    /// Constant expressions.
    Expressions(Vec<ConstExpr>),
}

/// A validated module. Fields are public to the tiers; nothing changes after [`Module::new`].
pub struct Module {
    /// The binary itself.
    pub bytes: Bytes,
    /// First 8 bytes of the BLAKE3 hash of the bytes: the key of profiles.
    pub hash: u64,
    /// The whole of it: the key of code, which must not be another module's.
    pub digest: [u8; 32],
    /// Name from the name section.
    pub name: Option<String>,
    /// Function types, by type index. In these and all other types of the module, references name signature ids ([`crate::signature`]).
    pub types: Vec<FuncType>,
    /// Signature ids of the types.
    pub signatures: Signatures,
    /// Type of each tag, imports first.
    pub tags: Vec<u32>,
    /// Type index of each function, imports first.
    pub functions: Vec<u32>,
    /// Imports in order.
    pub imports: Vec<Import>,
    /// Exports in order.
    pub exports: Vec<(String, ExportItem)>,
    /// Where each name is among them, once somebody has asked for one of many.
    pub(crate) exported: OnceLock<HashMap<String, usize>>,
    /// Types of tables, imports first.
    pub tables: Vec<TableType>,
    /// Types of memories, imports first.
    pub memories: Vec<MemoryType>,
    /// Types of globals, imports first.
    pub globals: Vec<GlobalType>,
    /// Defined globals.
    pub global_inits: Vec<GlobalInit>,
    /// Defined tables.
    pub table_inits: Vec<TableInit>,
    /// Data segments.
    pub data: Vec<DataSegment>,
    /// Element segments.
    pub elements: Vec<ElementSegment>,
    /// Start function.
    pub start: Option<u32>,
    /// Imported functions, tables, memories, globals: how many.
    pub imported_functions: u32,
    /// See `imported_functions`.
    pub imported_tables: u32,
    /// See `imported_functions`.
    pub imported_memories: u32,
    /// See `imported_functions`.
    pub imported_globals: u32,
    /// See `imported_functions`.
    pub imported_tags: u32,
    /// Byte ranges of the bodies (locals included) of defined functions.
    pub bodies: Vec<Range<usize>>,
    /// Function names from the name section, by function index.
    pub(crate) names: Vec<Option<String>>,
    /// Offsets in the module of the `loop` opcodes that have a poll word, ascending: all, but for modules with more than a million.
    pub loops: Arc<[u32]>,
    /// Functions that a `ref.func`, an element segment or an export names.
    pub escaping: Vec<bool>,
    /// What the `metadata.code.*` sections say, ascending by function; offsets are in the module.
    pub hints: Vec<lwp_feedback::profile::FunctionPrior>,
    /// Whether compiled code checks each access to a memory with 32-bit addresses; set by the engine that takes the module in, as its memories are.
    pub checks_accesses: bool,
    pub(crate) offsets: crate::layout::VmOffsets,
    constant_tables: constant_tables::ConstantTables,
    debug: dwarf::DebugInfo,
}

/// The loops ([`Module::loops`]) of the module with such a hash ([`Module::digest`]), where it is known to be valid.
pub(crate) type KnownLoops<'a> = dyn Fn(&[u8; 32]) -> Option<Arc<[u32]>> + Sync + 'a;

impl Module {
    /// What it exports under a name.
    pub fn export(&self, name: &str) -> Option<ExportItem> {
        /// So many are looked at one after the other.
        const FEW: usize = 16;
        if self.exports.len() <= FEW {
            return self.exports.iter().find(|(export, _)| export == name).map(|&(_, item)| item);
        }
        let names = || self.exports.iter().enumerate().map(|(index, (export, _))| (export.clone(), index)).collect();
        self.exported.get_or_init(names).get(name).map(|&index| self.exports[index].1)
    }

    /// Reads a binary module whose bodies this engine validated before.
    ///
    /// # Errors
    /// A section is not valid.
    ///
    /// # Safety
    /// The bytes are those of a module that [`Module::new`] accepted, `digest` is that of these, and `loops` are those it found.
    pub unsafe fn new_validated(bytes: Bytes, digest: [u8; 32], loops: Arc<[u32]>) -> Result<Module, ModuleError> {
        parse::parse_validated(bytes, digest, loops)
    }

    /// Reads and validates a module, from its binary form or (when the bytes do not start with `\0asm`) from its text form. Every function body is
    /// validated here, on as many threads as rayon's pool has.
    pub fn new(bytes: &[u8]) -> Result<Module, ModuleError> {
        parse::parse(bytes.to_vec().into(), SUPPORTED, &|_| None)
    }

    /// The same from bytes that need not be copied, with those proposals. What `validated` knows by its digest to be a valid module with these loops, its bodies are not
    /// validated again.
    pub(crate) fn from_bytes(bytes: Bytes, features: WasmFeatures, validated: &KnownLoops<'_>) -> Result<Module, ModuleError> {
        parse::parse(bytes, features, validated)
    }

    /// Whether it is valid with these proposals: for a module that was validated with all.
    ///
    /// # Errors
    /// [`ModuleError::Unsupported`].
    pub fn check_features(&self, features: WasmFeatures) -> Result<(), ModuleError> {
        if features == SUPPORTED { Ok(()) } else { parse::check_features(&self.bytes, features) }
    }

    /// Source places of an instruction, by byte offset in the module, where the module carries DWARF: innermost inlined call first.
    pub fn source_places(&self, offset: u32) -> Vec<SourcePlace> {
        self.debug.places(&self.bytes, offset)
    }

    /// The module's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// An instance has its data: what this took of the module is let go where it comes from a file ([`Bytes`]).
    pub(crate) fn instantiated(&self) {
        self.bytes.instantiated();
    }

    /// Where in a context the eight bytes with a defined function's poll word lie: its entry and what is inlined into it look there.
    pub fn function_poll(&self, own: usize) -> i32 {
        self.offsets.poll((own + self.loops_before(own)) as u32)
    }

    /// The same of a loop in a defined function's body, by the offset of its opcode; `None` where none is that has one.
    pub fn loop_poll(&self, own: usize, offset: u32) -> Option<i32> {
        let index = self.loops.binary_search(&offset).ok()?;
        Some(self.offsets.poll((own + index + 1) as u32))
    }

    /// All poll words of a defined function: its own, then its loops'.
    pub fn polls(&self, own: usize) -> impl Iterator<Item = i32> {
        let (first, last) = (own + self.loops_before(own), own + self.loops_before(own + 1));
        (first..=last).map(|index| self.offsets.poll(index as u32))
    }

    /// Those of its loops alone.
    pub fn loop_polls(&self, own: usize) -> impl Iterator<Item = i32> {
        self.polls(own).skip(1)
    }

    /// Loops in the bodies before a defined function's; of all of them for the number of functions.
    fn loops_before(&self, own: usize) -> usize {
        self.bodies.get(own).map_or(self.loops.len(), |body| self.loops.partition_point(|&offset| (offset as usize) < body.start))
    }

    /// Layout of an instance's context.
    pub fn offsets(&self) -> &crate::layout::VmOffsets {
        &self.offsets
    }

    /// Whether a memory is one that fast code is made for: addresses of 32 bits, pages of 64 KiB, not shared.
    pub fn is_plain_memory(&self, memory: u32) -> bool {
        let ty = &self.memories[memory as usize];
        !ty.memory64 && !ty.shared && ty.page_size_log2.is_none_or(|bits| bits == 16)
    }

    /// Whether an instance's memory 0 begins at its context's address: where the memory is the module's own, plain and guarded, and so made together with the context.
    pub fn context_is_memory(&self) -> bool {
        self.imported_memories == 0 && !self.memories.is_empty() && self.is_plain_memory(0) && !self.checks_accesses
    }

    /// Whether it has memories that the interpreter's ops for loads and stores are not for: further ones, and such as are not plain.
    pub(crate) fn has_far_memories(&self) -> bool {
        (0..self.memories.len() as u32).any(|memory| memory > 0 || !self.is_plain_memory(memory))
    }

    /// Whether a `rethrow` stands in a function's body: only then is a caught exception needed beyond its values.
    pub fn rethrows(&self, function: u32) -> bool {
        let Ok(reader) = self.body(function).get_operators_reader() else { return true };
        reader.into_iter().any(|operator| matches!(operator, Ok(wasmparser::Operator::Rethrow { .. }) | Err(_)))
    }

    /// Type of a function.
    pub fn function_type(&self, function: u32) -> &FuncType {
        &self.types[self.functions[function as usize] as usize]
    }

    /// Index among the defined functions, if it is one.
    pub fn defined(&self, function: u32) -> Option<usize> {
        function.checked_sub(self.imported_functions).map(|index| index as usize)
    }

    /// Whether a function's body is so short that it may be worth its while to be translated in place of a direct call.
    pub fn is_short(&self, function: u32) -> bool {
        self.defined(function).and_then(|own| self.bodies.get(own)).is_some_and(|body| body.len() <= SHORT_BYTES)
    }

    /// Name of a function, if the name section has one.
    pub fn function_name(&self, function: u32) -> Option<&str> {
        self.names.get(function as usize)?.as_deref()
    }

    /// The body of a defined function; its reader's positions are byte offsets in the module.
    pub fn body(&self, function: u32) -> wasmparser::FunctionBody<'_> {
        let range = self.bodies[self.defined(function).expect("an imported function has no body")].clone();
        wasmparser::FunctionBody::new(wasmparser::BinaryReader::new(&self.bytes[range.clone()], range.start as u64))
    }
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Module")
            .field("name", &self.name)
            .field("hash", &format_args!("{:016x}", self.hash))
            .field("functions", &self.functions.len())
            .finish_non_exhaustive()
    }
}
