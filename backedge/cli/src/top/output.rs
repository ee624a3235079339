//! The guest's output while the screen is ours: kept for the pane and for afterwards, or passed on where it goes to a file.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard};

/// Bytes kept; what is older is counted.
const KEPT: usize = 1 << 20;

#[derive(Default)]
struct Kept {
    bytes: VecDeque<u8>,
    left_out: u64,
}

/// One stream. Clones share it.
#[derive(Clone, Default)]
pub struct Stream {
    kept: Arc<Mutex<Kept>>,
    /// It is not the terminal: what is written goes there too, at once.
    passed_on: bool,
}

impl Stream {
    /// A stream that is kept, and passed on to standard output as well where that is no terminal.
    pub fn new(passed_on: bool) -> Stream {
        Stream { kept: Arc::default(), passed_on }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(|error| error.into_inner())
    }

    /// The last lines, as a pane can show them.
    pub fn lines(&self, count: usize) -> Vec<String> {
        let kept = self.lock();
        let from = kept.bytes.len().saturating_sub(16 << 10);
        let bytes: Vec<u8> = kept.bytes.range(from..).copied().collect();
        drop(kept);
        let text = printable(&String::from_utf8_lossy(&bytes));
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(count)..].iter().map(|line| (*line).to_owned()).collect()
    }

    /// Writes what was kept where it would have gone. Nothing where it was passed on.
    pub fn replay(&self, mut to: impl Write) {
        if self.passed_on {
            return;
        }
        let kept = self.lock();
        // Where nobody takes it, there is nobody to tell.
        if kept.left_out > 0 {
            let _ = writeln!(to, "[{} bytes before this are not kept]", kept.left_out);
        }
        let (a, b) = kept.bytes.as_slices();
        let _ = to.write_all(a).and_then(|()| to.write_all(b)).and_then(|()| to.flush());
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = if self.passed_on { &bytes[..io::stdout().write(bytes)?] } else { bytes };
        let mut kept = self.lock();
        kept.bytes.extend(bytes);
        let surplus = kept.bytes.len().saturating_sub(KEPT);
        kept.bytes.drain(..surplus);
        kept.left_out += surplus as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.passed_on { io::stdout().flush() } else { Ok(()) }
    }
}

/// Without what would move the cursor or change colours: escape sequences and control characters; tabs become spaces, a carriage return begins the
/// line anew.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                // CSI: up to its final byte. OSC: up to BEL or ESC \.
                Some('[') => _ = chars.find(|c| ('\u{40}'..='\u{7e}').contains(c)),
                Some(']') => {
                    while let Some(c) = chars.next() {
                        if c == '\u{7}' || c == '\u{1b}' && chars.next_if_eq(&'\\').is_some() {
                            break;
                        }
                    }
                }
                _ => {}
            },
            '\r' if chars.peek() != Some(&'\n') => {
                let start = out.rfind('\n').map_or(0, |at| at + 1);
                out.truncate(start);
            }
            '\n' => out.push('\n'),
            '\t' => out.push_str("    "),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_do_not_reach_the_screen() {
        assert_eq!(printable("a\u{1b}[2J\u{1b}[31;1mb\u{1b}]0;title\u{7}c\td\u{8}"), "abc    d");
        assert_eq!(printable("10 %\r20 %\r\ndone"), "20 %\ndone");
        assert_eq!(printable("\u{1b}"), "");
        assert_eq!(printable("\u{1b}]never ends"), "");
    }

    #[test]
    fn the_end_of_long_output_is_kept() {
        let mut stream = Stream::new(false);
        for line in 0..200_000 {
            writeln!(stream, "line {line}").unwrap();
        }
        assert_eq!(stream.lines(2), ["line 199998", "line 199999"]);
        let mut out = Vec::new();
        stream.replay(&mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with('[') && text.ends_with("line 199999\n") && text.len() < KEPT + 100);
    }
}
