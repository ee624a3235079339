//! `backedge pebs`: precise sampling without a guest.

use crate::failure::Failure;
use crate::output::print;
use clap::{Subcommand, ValueEnum};
use lwp_feedback::pebs::handler::HandlerKind;
use lwp_feedback::pebs::trace;
use std::path::PathBuf;

/// `backedge pebs`.
#[derive(Subcommand)]
pub enum Pebs {
    /// Run an experiment on the software unit: interrupts, what the handler finds, records
    Run {
        /// The experiment (docs/experiments/15-*.trace)
        #[arg(value_name = "FILE")]
        trace: PathBuf,
        /// How the handler looks for causes, in place of the trace's way
        #[arg(long, value_enum)]
        handler: Option<Handler>,
    },
}

/// The two ways.
#[derive(Clone, Copy, ValueEnum)]
pub enum Handler {
    /// Each cause by itself: four ifs
    Each,
    /// The first cause found: if/else-if
    First,
}

/// Does what the options say.
pub fn run(options: &Pebs) -> Result<(), Failure> {
    let Pebs::Run { trace: path, handler } = options;
    let handler = handler.map(|handler| match handler {
        Handler::Each => HandlerKind::EachCause,
        Handler::First => HandlerKind::FirstCause,
    });
    let text = std::fs::read_to_string(path).map_err(|error| Failure::Load(format!("`{}`: {error}", path.display())))?;
    let printed = trace::run(&text, handler).map_err(|error| Failure::Load(format!("`{}`: {error}", path.display())))?;
    print(&printed)
}
