//! `backedge top`: a run, watched while it goes on.
//!
//! The guest runs on a thread of its own; this one looks at the engine four times a second ([`view`]) and draws ([`draw`]). What the guest prints is
//! caught ([`output`]) and written out at the end, unless standard output is no terminal: then it goes there at once and the screen is standard error.
//! The terminal is given back however it ends ([`screen`]); where the terminal goes away itself ([`keys`]), that ends the watching as `q` does.

mod draw;
mod keys;
mod output;
mod screen;
mod view;

use crate::failure::Failure;
use crate::options::Top;
use crate::run::{Around, Output, run_around};
use keys::{Key, Keys};
use output::Stream;
use screen::Screen;
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::{self, TryRecvError};
use std::time::{Duration, Instant};
use view::{Looker, View};

/// Between two looks.
const PACE: Duration = Duration::from_millis(250);
/// The same while a guest that was asked to stop ends.
const SHORT: Duration = Duration::from_millis(10);
/// How long a guest that was asked to stop may take; one that waits in the system does not hear it.
const PATIENCE: Duration = Duration::from_secs(1);
/// Exit code where the watcher ended it: as of a program that SIGINT ended.
const STOPPED: i32 = 130;

/// Runs and watches. The exit code is the program's; 130 where it was stopped.
pub fn run(options: Top) -> Result<i32, Failure> {
    let on_stdout = screen::terminal_is_stdout()
        .ok_or_else(|| Failure::Usage("top needs a terminal: neither standard output nor standard error is one".into()))?;
    let file = options.run.file_and_args.first().cloned().unwrap_or_default();
    let program = Path::new(&file).file_name().unwrap_or(&file).to_string_lossy().into_owned();
    let (out, err) = (Stream::new(!on_stdout), Stream::new(false));
    let (tell, told) = mpsc::channel();
    let (ended, end) = mpsc::channel();
    let guest = {
        let (out, err) = (out.clone(), err.clone());
        let run = options.run;
        let body = move || {
            let output = Output::Captured(Box::new(move || Box::new(out.clone())), Box::new(move || Box::new(err.clone())));
            let mut begun = |engine: &_, module: &_, watch: &crate::watch::Watch| {
                // Nobody listens where the watcher has gone.
                let _ = tell.send((backedge::Engine::clone(engine), backedge::Module::clone(module), watch.live()));
                Ok(())
            };
            let around = Around { watched: true, output, stoppable: true, leaves: false, begun: &mut begun, then: &mut |_, _| {} };
            let outcome = run_around(&run, around);
            let _ = ended.send(outcome);
        };
        std::thread::Builder::new().name("top-guest".into()).spawn(body)
    };
    let guest = guest.map_err(|error| Failure::Load(format!("cannot start a thread: {error}")))?;
    let mut screen = Screen::take(on_stdout).map_err(|error| Failure::Load(format!("cannot use the terminal: {error}")))?;
    let watched = watch(&mut screen, &told, &end, [&out, &err], program, options.stay);
    drop(screen);
    out.replay(std::io::stdout().lock());
    err.replay(std::io::stderr().lock());
    match watched {
        Ok(Outcome::Ended(outcome)) => {
            let _ = guest.join();
            outcome
        }
        Ok(Outcome::Stopped) => {
            let _ = writeln!(std::io::stderr(), "stopped");
            Ok(STOPPED)
        }
        Ok(Outcome::Panicked) => match guest.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => Err(Failure::Load("the guest's thread ended without a word".into())),
        },
        Err(error) => Err(Failure::Load(format!("cannot draw on the terminal: {error}"))),
    }
}

enum Outcome {
    /// By itself, and so.
    Ended(Result<i32, Failure>),
    /// By whoever watched.
    Stopped,
    /// Its thread died of a panic.
    Panicked,
}

type Told = mpsc::Receiver<(backedge::Engine, backedge::Module, Option<std::sync::Arc<vm::profiling::LiveTicks>>)>;

fn watch(
    screen: &mut Screen,
    told: &Told,
    end: &mpsc::Receiver<Result<i32, Failure>>,
    streams: [&Stream; 2],
    program: String,
    stay: bool,
) -> std::io::Result<Outcome> {
    let mut looker: Option<Looker> = None;
    let mut view = View { program: program.clone(), feedback: "lwp", ..View::default() };
    let mut outcome: Option<Outcome> = None;
    let mut stopping: Option<Instant> = None;
    let mut keys = Keys::new()?;
    let mut gone = false;
    loop {
        if looker.is_none()
            && let Ok((engine, module, live)) = told.try_recv()
        {
            looker = Some(Looker::new(engine, module, live, program.clone()));
        }
        if outcome.is_none() {
            outcome = match end.try_recv() {
                Ok(result) => Some(Outcome::Ended(result)),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => Some(Outcome::Panicked),
            };
            // Also after the end: the last look says how it ended.
            if let Some(looker) = &mut looker {
                view = looker.look();
            }
            view.ended = outcome.as_ref().map(|outcome| match outcome {
                Outcome::Ended(Ok(code)) => format!("ended with code {code}"),
                Outcome::Ended(Err(Failure::Trap { message, .. })) => message.clone(),
                Outcome::Ended(Err(failure)) => failure.to_string(),
                Outcome::Stopped => "stopped".into(),
                Outcome::Panicked => "panicked".into(),
            });
        }
        view.output = streams[1].lines(60);
        let printed = streams[0].lines(60);
        // Errors below what was printed, but not in its place.
        let room = 60usize.saturating_sub(view.output.len().min(20));
        let from = printed.len().saturating_sub(room);
        view.output.splice(0..0, printed[from..].iter().cloned());
        let drawn = if gone { Ok(()) } else { screen.terminal.draw(|frame| draw::draw(frame, &view)).map(drop) };
        let quits = if stopping.is_some() {
            std::thread::sleep(SHORT);
            true
        } else {
            // A terminal that went away may show first as one that cannot be drawn on, and its signal before itself.
            let key = keys.wait(if drawn.is_ok() { PACE } else { Duration::ZERO })?;
            gone = key == Key::Gone || key == Key::Quit && drawn.is_err();
            if !gone {
                drawn?;
            }
            key != Key::None
        };
        if let Some(since) = stopping
            && (outcome.is_some() || since.elapsed() > PATIENCE)
        {
            return Ok(Outcome::Stopped);
        }
        if let Some(ended) = outcome.take_if(|_| !stay || quits) {
            return Ok(ended);
        }
        if quits && outcome.is_none() && stopping.is_none() {
            if let Some(looker) = &looker {
                looker.stop_guest();
            }
            stopping = Some(Instant::now());
        }
    }
}
