//! The `backedge` command.
//!
//! Enters: the command line. Leaves: what the guest prints, its exit code, and with `--report` a report. One file a subcommand;
//! [`failure`] holds what goes wrong and the exit code of each.

mod accuracy;
mod arguments;
mod background;
mod bench;
mod benchreport;
mod compare;
mod compile;
mod dump;
mod events;
mod explain;
mod export;
mod failure;
mod guestprofile;
mod hostile;
mod html;
mod inspect;
mod interrupts;
mod invoke;
mod lwp;
mod options;
mod output;
mod pebs;
mod policyexec;
mod policyoptions;
mod profile;
mod report;
mod run;
mod samefile;
mod scripts;
mod top;
mod trace;
mod watch;

use clap::Parser;
use failure::Failure;
use options::{Command, Options};
use std::ffi::OsString;
use std::io::Write as _;

fn main() {
    vm::background::without_library_backtraces();
    log_to_stderr();
    let arguments = arguments::with_subcommand(std::env::args_os());
    let options = Options::try_parse_from(&arguments).unwrap_or_else(|error| wrong_usage(&error, &arguments));
    let outcome = match options.command {
        Command::Run(run) => run::run(&run),
        Command::Top(options) => top::run(options),
        Command::Explain(options) => explain::explain(&options),
        Command::Accuracy(options) => accuracy::accuracy(&options),
        Command::Profile(options) => profile::run(&options).map(|()| 0),
        Command::Inspect(inspect) => inspect::inspect(&inspect).map(|()| 0),
        Command::Dump(dump) => dump::dump(&dump).map(|()| 0),
        Command::Compile(compile) => compile::compile(&compile).map(|()| 0),
        Command::Cache(cache) => compile::cache(&cache).map(|()| 0),
        Command::BenchReport(options) => benchreport::run(&options).map(|()| 0),
        Command::Wast(wast) => scripts::run(&wast),
        Command::Lwp(lwp) => lwp::run(&lwp).map(|()| 0),
        Command::Events(events) => events::run(&events).map(|()| 0),
        Command::Pebs(pebs) => pebs::run(&pebs).map(|()| 0),
        Command::Bench(bench) => bench::run(&bench),
        Command::CompareFeedback(options) => compare::compare(&options).map(|()| 0),
    };
    match outcome {
        Ok(code) => std::process::exit(code),
        Err(failure) => fail(&failure),
    }
}

/// Ends the process with what went wrong.
fn fail(failure: &Failure) -> ! {
    // Where standard error takes nothing, the code still says what happened.
    let _ = writeln!(std::io::stderr(), "{}", output::shown(&failure.to_string()));
    std::process::exit(failure.exit_code());
}

/// With `BACKEDGE_LOG` set (e.g. `vm=debug`), what the libraries trace goes to standard error.
fn log_to_stderr() {
    use tracing_subscriber::EnvFilter;
    let Some(directives) = std::env::var_os("BACKEDGE_LOG") else { return };
    match EnvFilter::try_new(directives.to_string_lossy()) {
        Ok(filter) => tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init(),
        Err(error) => policyoptions::warn(&format!("BACKEDGE_LOG is no filter, so nothing is logged: {error}")),
    }
}

/// What is wrong with the command line, in one line as other failures; help and version as they are.
fn wrong_usage(error: &clap::Error, arguments: &[OsString]) -> ! {
    use clap::error::ErrorKind;
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let printed = error.print().and_then(|()| std::io::stdout().flush());
        // (what goes to standard error has a code of its own)
        match output::printed(printed) {
            Err(failure) if !error.use_stderr() => fail(&failure),
            _ => std::process::exit(error.exit_code()),
        }
    }
    // Paragraphs: what is wrong, tips, the usage.
    let text = error.render().to_string();
    let paragraphs =
        text.split("\n\n").filter(|paragraph| !paragraph.starts_with("Usage:") && !paragraph.starts_with("For more information"));
    let mut said: Vec<String> = paragraphs.map(|paragraph| paragraph.split_whitespace().collect::<Vec<&str>>().join(" ")).collect();
    if error.kind() == ErrorKind::InvalidUtf8 {
        // Which of them it was is not said.
        let unclear = arguments.iter().filter(|argument| argument.to_str().is_none());
        said.extend(unclear.map(|argument| format!("`{}` is not UTF-8", argument.to_string_lossy())));
    }
    let _ = writeln!(std::io::stderr(), "{} (--help says more)", said.join("; "));
    std::process::exit(error.exit_code());
}
