//! The watcher's keys. Two things are known of them: one that quits came, or the terminal went away.
//!
//! Read here and not by crossterm, whose reader takes a terminal that went away for one with nothing to read, at once and for ever.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal as _, Read as _};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::time::{Duration, Instant};

/// What came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// None that matters.
    None,
    /// One that quits, or a signal that asks for it.
    Quit,
    /// The terminal went away.
    Gone,
}

/// The terminal that keys come from.
pub struct Keys {
    terminal: File,
}

impl Keys {
    /// Of standard input, or else of the process's terminal: the one that is raw while the screen is ours.
    pub fn new() -> io::Result<Keys> {
        let stdin = io::stdin();
        let terminal = if stdin.is_terminal() { File::from(stdin.as_fd().try_clone_to_owned()?) } else { File::open("/dev/tty")? };
        Ok(Keys { terminal })
    }

    /// Waits so long, or for what ends the watching.
    pub fn wait(&mut self, time: Duration) -> io::Result<Key> {
        let until = Instant::now() + time;
        loop {
            if super::screen::asked_to_end() {
                return Ok(Key::Quit);
            }
            let left = until.saturating_duration_since(Instant::now());
            let mut asked = libc::pollfd { fd: self.terminal.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // (rounded up: it is not asked again and again within the last millisecond)
            let milliseconds = left.as_nanos().div_ceil(1_000_000) as libc::c_int;
            // SAFETY: one pollfd, which outlives the call, of a descriptor that is open as long as we are.
            match unsafe { libc::poll(&raw mut asked, 1, milliseconds) } {
                0 => return Ok(Key::None),
                -1 => match io::Error::last_os_error() {
                    error if error.kind() == ErrorKind::Interrupted => continue,
                    error => return Err(error),
                },
                _ if asked.revents & libc::POLLIN == 0 => return Ok(Key::Gone),
                _ => {}
            }
            let mut bytes = [0; 1024];
            match self.terminal.read(&mut bytes) {
                Ok(0) => return Ok(Key::Gone),
                Ok(count) if quits(&bytes[..count]) => return Ok(Key::Quit),
                Ok(_) => {}
                Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
                Err(error) if error.raw_os_error() == Some(libc::EIO) => return Ok(Key::Gone),
                Err(error) => return Err(error),
            }
        }
    }
}

/// Whether q, escape or Ctrl-C is among what a terminal sent. Other keys may be sequences that begin with an escape and hold letters.
fn quits(bytes: &[u8]) -> bool {
    let mut bytes = bytes.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'q' | b'Q' | 3 => return true,
            0x1b => match bytes.next() {
                None => return true,
                Some(b'[') => _ = bytes.find(|byte| (0x40..=0x7e).contains(byte)),
                // (O: one letter more; else Alt with a key)
                Some(b'O') => _ = bytes.next(),
                Some(_) => {}
            },
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_quit_are_told_from_sequences() {
        for keys in [&b"q"[..], b"xQ", b"\x03", b"\x1b", b"\x1b[Aq", b"\x1bOPq"] {
            assert!(quits(keys), "{keys:?}");
        }
        for keys in [&b""[..], b"x", b"\x1b[A", b"\x1b[5;2~", b"\x1bOq", b"\x1b[", "\u{e9}".as_bytes()] {
            assert!(!quits(keys), "{keys:?}");
        }
    }
}
