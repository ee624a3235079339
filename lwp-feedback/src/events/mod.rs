//! Event selectors: named events of AMD64 processors (libpfm's), and the precise events of Intel's that the PEBS document names.
//!
//! ```text
//! "zen3::RETIRED_OPS" ─► table::Family, Event, masks ─► dispatch ─► EventSelect (PERFEVTSEL) ─► MSR value, perf raw config
//! ```
//!
//! A name and its unit masks become a value of a PERFEVTSEL register; [`dispatch`] gives each event of a measurement a counter and refuses what
//! the processor cannot do; [`threshold`] is what the register's INV, EDGE and CMASK mean, executed in software. `docs/src/interfaces.md` maps
//! libpfm's own names to the items here.

pub mod selector;

pub mod table;

pub mod dispatch;

pub mod threshold;

pub mod constants;

pub use dispatch::{Assignment, DispatchError, Host, Input, Privileges, Request, dispatch};
pub use selector::{EventSelect, PerfRaw};
pub use table::{Event, Family, UnitMask, families, family};
