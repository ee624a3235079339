//! Differential fuzzing: random modules run in every configuration of the engine, and in wasmi, and must do the same.
//!
//! The data flow, which is the reading order: a seed becomes a [`case::Case`] (a module and what its host answers); each line of
//! [`configurations::TABLE`] runs it through a [`guest::Machine`] and leaves [`observe::Trace`]s; [`compare`] finds a
//! [`compare::Difference`] or names the [`compare::Tolerance`] that excuses it; [`failure`] writes what is needed to repeat it.
//! [`campaign`] does this for minutes in worker processes, so that a crash or a hang is a finding like any other. [`shrink`] makes a
//! finding's module small. [`malformed`] damages real modules instead.
//!
//! To compare one more way of running: add a line to [`configurations::TABLE`].

pub mod campaign;
pub mod case;
pub mod compare;
pub mod configurations;
pub mod failure;
pub mod guest;
pub mod host;
pub mod malformed;
pub mod observe;
mod operators;
#[cfg(feature = "wasmi")]
pub mod oracle;
pub mod ours;
pub mod plans;
pub mod program;
pub mod random;
pub mod shrink;
pub mod trial;
pub mod values;
pub mod workers;
