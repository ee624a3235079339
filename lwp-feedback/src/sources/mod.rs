//! Event sources that the engine itself starts, beside what its code writes: one per thread that runs wasm, each with a ring of its own.
//!
//! | source | events | where the addresses come from |
//! |---|---|---|
//! | [`clock`] | 5, 6 | a POSIX timer of the thread's CPU time interrupts it; the signal's context |
//! | [`perf`] | 3, 4, and clocks | the kernel's samples: AMD IBS, Intel PEBS, generic hardware events, software events |
//!
//! A ring of its own, because a signal may interrupt the very store of a record by compiled code: the two producers never meet.

pub mod clock;
pub mod perf;
