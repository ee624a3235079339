//! The command line as a whole: its short form, `backedge FILE ARGS…` for `backedge run FILE ARGS…`, and what others see of it.

use std::ffi::{OsStr, OsString};

/// Words that are not a file to run when they come first.
const KNOWN: &[&str] = &[
    "run",
    "top",
    "explain",
    "accuracy",
    "profile",
    "inspect",
    "compile",
    "cache",
    "bench-report",
    "dump",
    "wast",
    "lwp",
    "events",
    "pebs",
    "bench",
    "compare-feedback",
    "help",
    "--help",
    "--version",
    "-V",
];

/// Inserts `run` where the command line starts with a file or with an option of `run`.
pub fn with_subcommand(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    let short = args.get(1).is_some_and(|first| first != "-h" && !KNOWN.iter().any(|known| first == known));
    if short {
        args.insert(1, "run".into());
    }
    args
}

/// What to add where the file to run is not there: its name stands where a subcommand would, and may have been meant as one.
pub fn no_command(file: &OsStr) -> String {
    let word = match std::env::args_os().nth(1) {
        Some(first) if first == file => first.to_string_lossy().into_owned(),
        _ => return String::new(),
    };
    // What has a dot or a slash was meant as a file.
    if word.contains(['.', '/']) { String::new() } else { format!("; nor is it a command ({})", nearest(&word)) }
}

/// The subcommand that a word was probably meant to be.
fn nearest(word: &str) -> String {
    let commands = KNOWN.iter().filter(|known| !known.starts_with('-'));
    let near =
        commands.map(|known| (strsim::osa_distance(word, known), known)).min().filter(|&(distance, _)| distance <= word.len().div_ceil(3));
    near.map_or_else(|| "--help lists them".to_owned(), |(_, known)| format!("`{known}` is one"))
}

/// The command line as results and reports show it: what is no UTF-8 in it is replaced.
pub fn as_text() -> Vec<String> {
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Vec<OsString> {
        with_subcommand(args.iter().map(OsString::from))
    }

    #[test]
    fn the_nearest_command_is_one_that_is_near() {
        assert_eq!(nearest("inspcet"), "`inspect` is one");
        assert_eq!(nearest("explan"), "`explain` is one");
        assert_eq!(nearest("serve"), "--help lists them");
    }

    #[test]
    fn a_file_is_run() {
        assert_eq!(parsed(&["backedge", "a.wasm", "run"])[1], "run");
        assert_eq!(parsed(&["backedge", "--report", "a.wasm"])[1], "run");
        assert_eq!(parsed(&["backedge", "inspect", "a.wasm"])[1], "inspect");
        assert_eq!(parsed(&["backedge"]).len(), 1);
        assert_eq!(parsed(&["backedge", "-h"])[1], "-h");
    }
}
