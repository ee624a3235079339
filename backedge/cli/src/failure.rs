//! What goes wrong in the command, as one line for a person, and the exit code of each kind.

use crate::interrupts;
use backedge::{Error, Trap, WasmBacktrace};
use std::fmt;
use std::path::Path;

/// A failure of the command.
#[derive(Debug)]
pub enum Failure {
    /// The command line asks for something that is not there.
    Usage(String),
    /// A file cannot be read, is not a module, or does not instantiate.
    Load(String),
    /// The guest trapped or passed its deadline.
    Trap {
        /// What happened.
        message: String,
        /// The wasm frames, as printed lines.
        backtrace: Option<String>,
    },
    /// A signal ended the run.
    Interrupted,
    /// A spec script's assertions failed; they were printed.
    Script(String),
}

impl Failure {
    /// 2 usage, 1 load, 134 (128 + SIGABRT, as wasmtime's command) trap, 130 (128 + SIGINT) a signal.
    pub fn exit_code(&self) -> i32 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Load(_) | Failure::Script(_) => 1,
            Failure::Trap { .. } => 134,
            Failure::Interrupted => interrupts::EXIT_CODE,
        }
    }

    /// The failure of a file that could not be read.
    pub fn read(path: &Path, error: &std::io::Error) -> Failure {
        Failure::read_as(path, error, "a file")
    }

    /// The same, of a file whose kind is known: `a .wasm or .wat file`.
    pub fn read_as(path: &Path, error: &std::io::Error, expected: &str) -> Failure {
        use std::io::ErrorKind;
        let path = path.display();
        Failure::Load(match error.kind() {
            ErrorKind::NotFound => format!("no such file: `{path}`"),
            ErrorKind::IsADirectory => format!("`{path}` is a directory, expected {expected}"),
            ErrorKind::PermissionDenied => format!("no permission to read `{path}`"),
            _ => format!("cannot read `{path}`: {error}"),
        })
    }

    /// The failure of a file that could not be written.
    pub fn write(path: &Path, error: &std::io::Error) -> Failure {
        Failure::Load(format!("cannot write `{}`: {error}", path.display()))
    }

    /// The failure of running a guest.
    pub fn stopped(error: &Error) -> Failure {
        let backtrace = error.downcast_ref::<WasmBacktrace>().map(ToString::to_string);
        let message = match error.downcast_ref::<Trap>() {
            Some(Trap::Interrupt) if interrupts::came() => return Failure::Interrupted,
            Some(Trap::Interrupt) => "the guest passed its deadline".to_owned(),
            Some(trap) => format!("wasm trap: {trap}"),
            None => {
                // The chain without the backtrace, which is printed below it.
                let mut causes: Vec<String> =
                    error.chain().map(ToString::to_string).filter(|cause| Some(cause) != backtrace.as_ref()).collect();
                // Some errors have their cause in their text.
                causes.dedup();
                causes.join(": ")
            }
        };
        Failure::Trap { message, backtrace }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(message) | Failure::Load(message) | Failure::Script(message) => {
                write!(f, "error: {message}")
            }
            Failure::Interrupted => f.write_str("error: interrupted; what was to be written is of the run so far"),
            Failure::Trap { message, backtrace } => {
                write!(f, "error: {message}")?;
                match backtrace {
                    Some(backtrace) => write!(f, "\n{backtrace}"),
                    None => Ok(()),
                }
            }
        }
    }
}
