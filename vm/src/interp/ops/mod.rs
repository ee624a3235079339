//! What each op does, a function each, by the name in the operator table.
//!
//! Safety of all: `regs` describes the running frame, and the operands are those of the op at `regs.ip`, which fit that frame.

pub(super) mod atomic;
mod control;
mod conversion;
pub(super) mod far;
mod float;
mod integer;
mod memory;
mod references;
mod table;
mod tail;
mod vector;
mod watch;

pub(super) use control::*;
pub(super) use conversion::*;
pub(super) use float::*;
pub(crate) use float::{exact32, exact64};
pub(super) use integer::*;
pub(super) use memory::*;
pub(super) use references::*;
pub(super) use table::*;
pub(super) use tail::{return_call, return_call_import, return_call_indirect, return_call_ref};
pub(super) use vector::*;
pub(crate) use watch::{CONDITION, LOW_HALF, VALUE32, VALUE64};
pub(super) use watch::{probe, probe_call, probe_mark, watched_loop, watched_return};
