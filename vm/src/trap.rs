//! Why a guest stopped: trap codes, and the value that carries a stop through the host's frames.

use crate::module::{Module, SourcePlace};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// The traps of the core specification (section 4.2, "Runtime Structure") and of the engine, under the names of `wasmtime::Trap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
#[repr(u8)]
pub enum TrapCode {
    /// The wasm stack is used up.
    StackOverflow = 1,
    /// An access outside a linear memory.
    MemoryOutOfBounds = 2,
    /// A misaligned atomic access.
    HeapMisaligned = 3,
    /// An access outside a table.
    TableOutOfBounds = 4,
    /// `call_indirect` met a null entry.
    IndirectCallToNull = 5,
    /// `call_indirect` met a function of another signature.
    BadSignature = 6,
    /// Signed division overflow.
    IntegerOverflow = 7,
    /// Division or remainder by zero.
    IntegerDivisionByZero = 8,
    /// A float that is NaN or out of range was converted to an integer.
    BadConversionToInteger = 9,
    /// `unreachable` was executed.
    UnreachableCodeReached = 10,
    /// The deadline passed.
    Interrupt = 11,
    /// A null reference where none may be.
    NullReference = 12,
    /// A wait on a memory that threads do not share.
    AtomicWaitNonSharedMemory = 13,
}

impl TrapCode {
    /// All codes, in the order of their numbers.
    pub const ALL: [TrapCode; 13] = [
        TrapCode::StackOverflow,
        TrapCode::MemoryOutOfBounds,
        TrapCode::HeapMisaligned,
        TrapCode::TableOutOfBounds,
        TrapCode::IndirectCallToNull,
        TrapCode::BadSignature,
        TrapCode::IntegerOverflow,
        TrapCode::IntegerDivisionByZero,
        TrapCode::BadConversionToInteger,
        TrapCode::UnreachableCodeReached,
        TrapCode::Interrupt,
        TrapCode::NullReference,
        TrapCode::AtomicWaitNonSharedMemory,
    ];

    /// The code of a number, if it is one.
    pub fn from_number(number: u8) -> Option<TrapCode> {
        TrapCode::ALL.get((number as usize).checked_sub(1)?).copied()
    }

    /// The specification's wording, as the spec suite expects it.
    pub fn message(self) -> &'static str {
        match self {
            TrapCode::StackOverflow => "call stack exhausted",
            TrapCode::MemoryOutOfBounds => "out of bounds memory access",
            TrapCode::HeapMisaligned => "unaligned atomic",
            TrapCode::TableOutOfBounds => "undefined element: out of bounds table access",
            TrapCode::IndirectCallToNull => "uninitialized element",
            TrapCode::BadSignature => "indirect call type mismatch",
            TrapCode::IntegerOverflow => "integer overflow",
            TrapCode::IntegerDivisionByZero => "integer divide by zero",
            TrapCode::BadConversionToInteger => "invalid conversion to integer",
            TrapCode::UnreachableCodeReached => "wasm `unreachable` instruction executed",
            TrapCode::Interrupt => "interrupt",
            TrapCode::NullReference => "null reference",
            TrapCode::AtomicWaitNonSharedMemory => "expected shared memory: atomic wait on non-shared memory",
        }
    }
}

impl fmt::Display for TrapCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for TrapCode {}

/// One wasm frame of a backtrace. Names are looked up when somebody asks: most backtraces are never read, and a guest chooses how long its names are.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Function index in its module.
    pub function: u32,
    /// Byte offset in the module of the instruction; `None` where it is not known.
    pub offset: Option<u32>,
    /// The module.
    pub module: Arc<Module>,
    /// It was called by frames that the backtrace does not hold.
    pub is_cut: bool,
}

impl Frame {
    /// A frame.
    pub fn new(module: Arc<Module>, function: u32, offset: Option<u32>) -> Frame {
        Frame { function, offset, module, is_cut: false }
    }

    /// The function's name from the name section.
    pub fn name(&self) -> Option<&str> {
        self.module.function_name(self.function)
    }

    /// The module's name, if it has one.
    pub fn module_name(&self) -> Option<&str> {
        self.module.name.as_deref()
    }

    /// Source places, where the module carries DWARF: innermost inlined call first. Reads the DWARF each time.
    pub fn places(&self) -> Vec<SourcePlace> {
        self.offset.map(|offset| self.module.source_places(offset)).unwrap_or_default()
    }
}

/// Why control leaves wasm otherwise than by returning.
#[derive(Debug)]
pub enum Unwind {
    /// A trap, with the wasm frames at its place, innermost first.
    Trap {
        /// What happened.
        code: TrapCode,
        /// Where.
        frames: Vec<Frame>,
    },
    /// A host function returned an error; the frames are those below it.
    Host {
        /// Its error.
        error: Box<dyn std::error::Error + Send + Sync>,
        /// Where.
        frames: Vec<Frame>,
    },
    /// An exception that was not caught so far: the thrown object ([`crate::exception`]).
    Exception(u64),
    /// A host function panicked; the payload resumes in the caller of the outermost call.
    Panic(Box<dyn Any + Send>),
}

/// A host's error that says already where it came up: no backtrace is taken for it again, however many calls it goes through.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Traced(pub Box<dyn std::error::Error + Send + Sync>);

/// Result of running wasm. Boxed, so that the good path returns one register.
pub type Outcome<T = ()> = Result<T, Box<Unwind>>;
