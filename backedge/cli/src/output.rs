//! What a command prints on standard output.

use crate::failure::Failure;
use std::io::{ErrorKind, Result, Write};

/// Prints it all.
pub fn print(text: &str) -> std::result::Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// What became of printing: a reader that went away (`| head`) is no failure.
pub fn printed(outcome: Result<()>) -> std::result::Result<(), Failure> {
    match outcome {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Load(format!("cannot write to standard output: {error}"))),
        _ => Ok(()),
    }
}
