//! Why bytes are not a module that this machine runs.

/// A module that does not load. One lower-case line each; offsets are from the module's first byte.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModuleError {
    /// The bytes break a rule of the format or of validation.
    #[error("invalid module: {message}{} (at byte offset {offset})", in_function(function, name))]
    Invalid {
        /// The broken rule.
        message: String,
        /// Where.
        offset: u64,
        /// The function whose body is at fault.
        function: Option<u32>,
        /// That function's name, when the name section has one.
        name: Option<String>,
    },
    /// A valid module that uses a proposal which is not implemented, or which the engine was told to go without.
    #[error("{}: {proposal}{} (at byte offset {offset})", if *switched_off { "switched off" } else { "unsupported" }, in_function(function, &None))]
    Unsupported {
        /// The proposal's usual name.
        proposal: &'static str,
        /// Whether it would be implemented.
        switched_off: bool,
        /// First place that needs it.
        offset: u64,
        /// The function whose body needs it.
        function: Option<u32>,
    },
    /// A function's body is larger than the engine accepts.
    #[error("function {function} has {bytes} bytes, the limit is {limit} (at byte offset {offset})")]
    TooLarge {
        /// The function.
        function: u32,
        /// Its size.
        bytes: usize,
        /// The engine's limit.
        limit: usize,
        /// Where its body begins.
        offset: u64,
    },
    /// A type refers to one for which the process has no number left: it has met 2^20 different function types, which are never forgotten.
    #[error("refers to more function types than a process can tell apart: 1048575, of all modules so far (at byte offset {offset})")]
    TooManyTypes {
        /// The section in which it is.
        offset: u64,
    },
    /// Code memory, which all engines of a process share, has no room for what leads calls to its functions.
    #[error("has no room for its functions' calls: {reason}")]
    NoRoom {
        /// What was wanted.
        reason: String,
    },
    /// The header is that of a component.
    #[error("is a component; backedge runs core modules: build for wasm32-wasip1")]
    Component,
    /// The header is that of code that `backedge compile` makes.
    #[error("is precompiled code, not a module: `run --allow-precompiled` and `Module::deserialize` take it")]
    Precompiled,
    /// Neither the binary's header nor text.
    #[error("is neither a WebAssembly binary (no `\\0asm` header) nor WebAssembly text")]
    NotWasm,
    /// The text format does not parse.
    #[error("invalid text: {message} (at line {line}, column {column})")]
    Text {
        /// What the parser expected.
        message: String,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
}

fn in_function(function: &Option<u32>, name: &Option<String>) -> String {
    match (function, name) {
        (None, _) => String::new(),
        (Some(index), None) => format!(" in function {index}"),
        (Some(index), Some(name)) => format!(" in function {index} ({name})"),
    }
}

impl ModuleError {
    /// Byte offset in the module, where there is one.
    pub fn offset(&self) -> Option<u64> {
        match self {
            ModuleError::Invalid { offset, .. } | ModuleError::Unsupported { offset, .. } => Some(*offset),
            _ => None,
        }
    }
}
