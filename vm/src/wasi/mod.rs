//! WASI preview 1: what a guest may ask of its host, and who answers.
//!
//! Enters: a call by [`Function`], its arguments as slots, and the guest's memory as bytes. Leaves: an error number for the guest, or a
//! [`Stop`]. [`Host`] is the seam: the engine knows only it; [`Context`] answers through the `wasi-common` crate (LTS line 36.0.x, cap-std
//! underneath), which can be replaced without touching anything outside this folder.
//!
//! Invariants:
//! 1. A guest sees only what its [`Builder`] was given: no argument, variable, directory or stream is inherited by default.
//! 2. The memory is borrowed for the whole call, so it cannot grow or move while one runs, and no host address is ever written to it.
//!
//! Source: `wasi_snapshot_preview1.witx` of the WASI repository (legacy/preview1).

mod preview1;
mod wait;
mod poll;
mod context;
mod numbers;
mod streams;
mod directory;
mod file;
mod sched;
mod errno;

pub use context::{BuildError, Builder, Context, OutputBuffer};
pub use preview1::{Function, Snapshot};

/// Answers WASI calls for one guest.
pub trait Host: Send {
    /// Runs one call and returns the error number that the guest gets (0: success).
    ///
    /// `arguments` holds one slot for each parameter of [`Function::params`], i32 in the low half. `memory` is the whole memory that
    /// the calling instance exports as `memory`.
    ///
    /// # Errors
    /// [`Stop`] where the guest must not go on.
    fn call(&mut self, snapshot: Snapshot, function: Function, memory: &mut [u8], arguments: &[u64]) -> Result<u32, Stop>;

    /// The same for a store with a deadline: a call that waits asks `due` every few milliseconds, and ends with [`Stop::Deadline`] where it says so, as if
    /// it had not been made.
    ///
    /// # Errors
    /// As [`Host::call`].
    fn call_until(
        &mut self,
        snapshot: Snapshot,
        function: Function,
        memory: &mut [u8],
        arguments: &[u64],
        due: &mut dyn FnMut() -> bool,
    ) -> Result<u32, Stop> {
        let _ = due;
        self.call(snapshot, function, memory, arguments)
    }
}

/// Why a guest does not go on after a call.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// It called `proc_exit` with this code.
    #[error("exited with i32 exit status {0}")]
    Exit(i32),
    /// The deadline passed while it waited.
    #[error("the deadline passed")]
    Deadline,
    /// It broke the interface: a pointer outside its memory, or misaligned (the specification calls for a trap).
    #[error("{function}: {reason}")]
    Fault {
        /// Name of the call.
        function: &'static str,
        /// What was wrong, with the address.
        reason: String,
    },
}
