//! Counter and sample sets, as Solaris' libcpc has them: requests in a set, the set bound to a thread or CPU, its state sampled into buffers.
//!
//! ```text
//! source (feed, perf) ─► CounterSet (requests, bound) ─► Cpc::sample ─► CounterBuf (64-bit counts, sample records)
//! ```
//!
//! A request counts or samples. Counts are virtual: 64 bits, whatever the width of the counter behind them. In that document "LWP" is a lightweight
//! *process*, a thread. `lwp-feedback/cpc` has the same in C under the original names; `docs/src/interfaces.md` maps the two.

pub mod error;

pub mod source;

pub mod feed;

pub mod perf;

pub mod buffer;

pub mod set;

pub use buffer::{CounterBuf, Item};
pub use error::{CpcError, Invalid};
pub use feed::{Feed, FeedEvent, LwpCounts};
pub use perf::PerfSource;
pub use set::{CounterSet, Cpc, Request, RequestKind};
pub use source::{Caps, CounterSource, ItemTable, SampleRecord};
