//! Errors of the embedding API: `anyhow`'s under wasmtime's names, traps by downcast, and the wasm backtrace.
//!
//! Enters: [`vm::trap::Unwind`], why the machine stopped. Leaves: an [`Error`] that downcasts to what stopped it ([`Trap`], or the host
//! function's own error) and, where wasm frames were live, to a [`WasmBacktrace`]. A host function's panic resumes here.

use crate::AsContext;
use std::fmt;
use std::sync::OnceLock;
use vm::exception::Thrown;
use vm::instance::InstantiateError;
use vm::store::HostError;
use vm::trap::{Frame, Traced, Unwind};

pub use anyhow::{Context, Error, Result, anyhow as format_err, bail, ensure};
pub use vm::module::SourcePlace;
use vm::module::demangled;
pub use vm::trap::TrapCode as Trap;

/// The guest asked to exit with this code (`proc_exit`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct I32Exit(pub i32);

impl fmt::Display for I32Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exited with i32 exit status {}", self.0)
    }
}

impl std::error::Error for I32Exit {}

/// A module does not fit its imports or its store's limits; none of its code ran. wasmtime has no type for it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LinkError(String);

/// A guest threw an exception that it did not catch. A host function that returns this error throws it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThrownException(pub(crate) Thrown);

impl fmt::Display for ThrownException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for ThrownException {}

/// The wasm frames that were live when an error came up, innermost first. Attached to errors as context: `error.downcast_ref::<WasmBacktrace>()`.
#[derive(Clone, Debug)]
pub struct WasmBacktrace {
    frames: Vec<FrameInfo>,
}

impl WasmBacktrace {
    /// The frames that are live now: in a host function those of the guest that called it and of whoever called that, elsewhere none.
    ///
    /// ```
    /// use backedge::{Caller, Engine, Func, Instance, Module, Store, WasmBacktrace};
    ///
    /// let engine = Engine::default();
    /// let module = Module::new(&engine, r#"(module (import "" "" (func $where)) (func $f (export "f") call $where))"#)?;
    /// let mut store = Store::new(&engine, 0);
    /// let count = Func::wrap(&mut store, |mut caller: Caller<'_, usize>| {
    ///     *caller.data_mut() = WasmBacktrace::capture(&caller).frames().len();
    /// });
    /// let instance = Instance::new(&mut store, &module, &[count.into()])?;
    /// instance.get_typed_func::<(), ()>(&mut store, "f")?.call(&mut store, ())?;
    /// assert_eq!(*store.data(), 1);
    /// # Ok::<(), backedge::Error>(())
    /// ```
    pub fn capture(store: impl AsContext) -> WasmBacktrace {
        WasmBacktrace::of(store.as_context().0.machine.frames())
    }

    /// The same: here nothing turns backtraces off.
    pub fn force_capture(store: impl AsContext) -> WasmBacktrace {
        WasmBacktrace::capture(store)
    }

    fn of(frames: Vec<Frame>) -> WasmBacktrace {
        WasmBacktrace { frames: frames.into_iter().map(|frame| FrameInfo { frame, places: OnceLock::new() }).collect() }
    }

    /// Frames, innermost first.
    pub fn frames(&self) -> &[FrameInfo] {
        &self.frames
    }

    /// Whether there were more frames further out: a thousand are kept, of an uncaught exception fewer.
    pub fn is_cut(&self) -> bool {
        self.frames.last().is_some_and(|outermost| outermost.frame.is_cut)
    }
}

impl fmt::Display for WasmBacktrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error while executing at wasm backtrace:")?;
        // A stack overflow has thousands of frames; both ends tell the story.
        const ENDS: usize = 16;
        let count = self.frames.len();
        for (index, frame) in self.frames.iter().enumerate() {
            if count > 2 * ENDS && index == ENDS {
                write!(f, "\n       ... {} more frames ...", count - 2 * ENDS)?;
            }
            if count > 2 * ENDS && (ENDS..count - ENDS).contains(&index) {
                continue;
            }
            write!(f, "\n  {index:>3}: ")?;
            match frame.module_offset() {
                Some(offset) => write!(f, "{offset:#8x} - ")?,
                None => write!(f, "       ? - ")?,
            }
            let module = frame.module_name().unwrap_or("<unknown>");
            match frame.func_name() {
                Some(name) => write!(f, "{module}!{}", demangled(name))?,
                None => write!(f, "{module}!<wasm function {}>", frame.func_index())?,
            }
            for (depth, place) in frame.source_places().iter().enumerate() {
                match &place.function {
                    Some(function) if depth + 1 < frame.source_places().len() => write!(f, "\n                  in {function}, inlined")?,
                    _ => {}
                }
                write!(f, "\n                  at {}:{}:{}", place.file, place.line, place.column)?;
            }
        }
        if self.is_cut() {
            write!(f, "\n       ... and frames further out, which were not kept ...")?;
        }
        Ok(())
    }
}

/// One frame of a [`WasmBacktrace`].
#[derive(Clone, Debug)]
pub struct FrameInfo {
    frame: Frame,
    /// Looked up when somebody asks.
    places: OnceLock<Vec<SourcePlace>>,
}

impl FrameInfo {
    /// Function index in its module.
    pub fn func_index(&self) -> u32 {
        self.frame.function
    }

    /// Name of the function from the name section, as it stands there; the backtrace's text has it demangled.
    pub fn func_name(&self) -> Option<&str> {
        self.frame.name()
    }

    /// Name of the module from the name section.
    pub fn module_name(&self) -> Option<&str> {
        self.frame.module_name()
    }

    /// Source files and lines, where the module carries DWARF: innermost inlined call first.
    pub fn source_places(&self) -> &[SourcePlace] {
        self.places.get_or_init(|| self.frame.places())
    }

    /// Byte offset in the module of the instruction, where it is known.
    pub fn module_offset(&self) -> Option<usize> {
        self.frame.offset.map(|offset| offset as usize)
    }
}

/// Carries a host function's error through the machine, which wants a `std::error::Error`.
#[derive(Debug)]
pub(crate) struct HostFailure(pub(crate) Error);

impl fmt::Display for HostFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for HostFailure {}

/// The error that a host function or a limiter returned.
pub(crate) fn host_failure(error: HostError) -> Error {
    let error = match error.downcast::<Traced>() {
        Ok(traced) => traced.0,
        Err(error) => error,
    };
    match error.downcast::<HostFailure>() {
        Ok(failure) => failure.0,
        Err(error) => Error::from_boxed(error),
    }
}

/// The error of a stop. Does not return where a host function panicked: the panic goes on from here.
pub(crate) fn stopped(unwind: Unwind) -> Error {
    match unwind {
        Unwind::Trap { code, frames } => with_backtrace(Error::new(code), frames),
        Unwind::Host { error, frames } => {
            let error = match error.downcast::<Thrown>() {
                Ok(thrown) => Error::new(ThrownException(*thrown)),
                Err(error) => host_failure(error),
            };
            with_backtrace(error, frames)
        }
        // It becomes a host's error where it leaves the machine.
        Unwind::Exception(_) => format_err!("uncaught exception"),
        Unwind::Panic(payload) => std::panic::resume_unwind(payload),
    }
}

/// The error of an instantiation, or of making a memory or a table.
pub(crate) fn not_instantiated(error: InstantiateError) -> Error {
    match error {
        InstantiateError::Start(unwind) => stopped(*unwind),
        InstantiateError::Limiter(error) => host_failure(error).context(LinkError("the store's limiter failed".into())),
        error => Error::new(LinkError(error.to_string())),
    }
}

fn with_backtrace(error: Error, frames: Vec<Frame>) -> Error {
    // The innermost call already attached the frames that matter.
    if frames.is_empty() || error.downcast_ref::<WasmBacktrace>().is_some() {
        return error;
    }
    error.context(WasmBacktrace::of(frames))
}
