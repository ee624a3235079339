//! What each op does, a function each, by the name in the operator table.
//!
//! Safety of all: `regs` describes the running frame, and the operands are those of the op at `regs.ip`, which fit that frame.

mod control;
mod conversion;
mod float;
mod integer;
mod memory;
mod table;

pub(super) use control::*;
pub(super) use conversion::*;
pub(super) use float::*;
pub(super) use integer::*;
pub(super) use memory::*;
pub(super) use table::*;
