//! Precise sampling as Intel does it: PEBS records and branch traces (BTS) in the debug store (DS) area, in software.
//!
//! ```text
//! retired instructions ─► unit (MSRs, counters, DS area in memory, interrupts) ─► handler ─► consumer ─► LWP records
//! ```
//!
//! The unit takes what the LWP unit takes (see [`crate::unit::trace`]) and, where the probe saved them, the registers. Its rules are those of
//! the PEBS document with the corrections of the Intel SDM; `docs/src/interfaces.md` names each. [`trace`] runs the document's experiments.

pub mod msr;

pub mod registers;

pub mod detect;

pub mod record;

pub mod ds;

pub mod unit;

pub mod handler;

pub mod consumer;

pub mod trace;

pub use consumer::Consumer;
pub use detect::{Detected, Processor};
pub use record::{Format, PebsRecord};
pub use registers::{Register, Registers};
pub use unit::{Cause, Interrupt, Retired, Unit, UnitError};
