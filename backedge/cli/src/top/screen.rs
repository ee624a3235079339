//! The terminal: taken over, and given back however the command ends (return, failure, panic, signal).

use crate::interrupts;
use crossterm::{cursor, execute, terminal};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use std::io::{self, IsTerminal as _, Write};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Where the screen is: 0 nowhere, 1 standard output, 2 standard error.
static SCREEN: AtomicU8 = AtomicU8::new(0);
/// A signal asked to end.
static ASKED_TO_END: AtomicBool = AtomicBool::new(false);

/// The screen while it is ours. Dropping it gives it back.
pub struct Screen {
    /// To draw on. Never dropped: it would show the cursor, as [`give_back`] does, and say on standard error where it cannot, which panics where that is the terminal that went away.
    pub terminal: ManuallyDrop<Terminal<CrosstermBackend<Box<dyn Write>>>>,
}

fn stream(number: u8) -> Box<dyn Write> {
    if number == 2 { Box::new(io::stderr()) } else { Box::new(io::stdout()) }
}

/// Whether there is a terminal, and whether standard output is it.
pub fn terminal_is_stdout() -> Option<bool> {
    match (io::stdout().is_terminal(), io::stderr().is_terminal()) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

/// Async-signal-safe: it stores to an atomic and nothing else.
extern "C" fn on_signal(_signal: libc::c_int) {
    ASKED_TO_END.store(true, Ordering::Relaxed);
}

/// Whether a signal asked to end.
pub fn asked_to_end() -> bool {
    ASKED_TO_END.load(Ordering::Relaxed)
}

impl Screen {
    /// Takes the terminal over.
    pub fn take(on_stdout: bool) -> io::Result<Screen> {
        let number = if on_stdout { 1 } else { 2 };
        interrupts::on_first(on_signal);
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // Compile threads catch theirs, and the run goes on: nothing is to be seen of it here.
            let thread = std::thread::current();
            if !thread.name().is_some_and(|name| name.starts_with("backedge-")) {
                give_back();
                before(panic);
            }
        }));
        terminal::enable_raw_mode()?;
        SCREEN.store(number, Ordering::SeqCst);
        let mut out = stream(number);
        let screen = execute!(out, terminal::EnterAlternateScreen, cursor::Hide).and_then(|()| Terminal::new(CrosstermBackend::new(out)));
        match screen {
            Ok(terminal) => Ok(Screen { terminal: ManuallyDrop::new(terminal) }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back, once.
pub fn give_back() {
    let number = SCREEN.swap(0, Ordering::SeqCst);
    if number != 0 {
        let mut out = stream(number);
        let _ = execute!(out, terminal::LeaveAlternateScreen, cursor::Show);
        let _ = out.flush();
        let _ = terminal::disable_raw_mode();
    }
}
