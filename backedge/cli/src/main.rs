//! The `backedge` command.
//!
//! Enters: the command line. Leaves: what the guest prints, its exit code, and with `--report` a report. One file a subcommand;
//! [`failure`] holds what goes wrong and the exit code of each.

mod arguments;
mod dump;
mod failure;
mod inspect;
mod invoke;
mod options;
mod report;
mod run;
mod scripts;

use clap::Parser;
use failure::Failure;
use options::{Command, Options};

fn main() {
    let options = Options::parse_from(arguments::with_subcommand(std::env::args_os()));
    let outcome = match options.command {
        Command::Run(run) => run::run(&run),
        Command::Inspect(inspect) => inspect::inspect(&inspect).map(|()| 0),
        Command::Dump(dump) => dump::dump(&dump).map(|()| 0),
        Command::Wast(wast) => scripts::run(&wast),
    };
    let code = outcome.unwrap_or_else(|failure: Failure| {
        eprintln!("{failure}");
        failure.exit_code()
    });
    std::process::exit(code);
}
