//! What a command prints on standard output.

use crate::failure::Failure;
use std::borrow::Cow;
use std::io::{ErrorKind, Result, Write};

/// Prints it all.
pub fn print(text: &str) -> std::result::Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    printed(out.write_all(shown(text).as_bytes()).and_then(|()| out.flush()))
}

/// Text for a terminal: names are a module's, and what would move its cursor or change its colours is written as escapes. (Those of JSON, in which it means the same.)
pub fn shown(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(harmful) {
        return text.into();
    }
    text.chars().flat_map(|c| if harmful(c) { format!("\\u{:04x}", u32::from(c)).chars().collect() } else { vec![c] }).collect()
}

/// A name of the guest's inside a line: what would break it is written as escapes too.
pub fn name(text: &str) -> Cow<'_, str> {
    if !text.contains(['\n', '\t']) {
        return text.into();
    }
    text.replace('\n', "\\u000a").replace('\t', "\\u0009").into()
}

/// What became of printing: a reader that went away (`| head`) is no failure.
pub fn printed(outcome: Result<()>) -> std::result::Result<(), Failure> {
    match outcome {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Load(format!("cannot write to standard output: {error}"))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{name, shown};

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(shown("a\tb\n"), "a\tb\n");
        assert_eq!(name("a\tb\n"), r"a\u0009b\u000a");
        assert_eq!(shown("\u{1b}[2Jx\r\u{9b}\u{7}é"), r"\u001b[2Jx\u000d\u009b\u0007é");
    }
}
