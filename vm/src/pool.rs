//! Work on all processors: rayon's pool of the process, where that can be used.

use rayon::prelude::*;
use std::sync::OnceLock;

/// Whether the pool has threads that do anything: not in a process that was forked from the one that made it, and not where the system has no threads for it.
pub fn is_usable() -> bool {
    static MADE: OnceLock<(u32, bool)> = OnceLock::new();
    let process = std::process::id();
    let (owner, made) = *MADE.get_or_init(|| {
        let built = rayon::ThreadPoolBuilder::new().build_global();
        // An error without a cause: the host made it before.
        (process, built.map_or_else(|error| std::error::Error::source(&error).is_none(), |()| true))
    });
    made && owner == process
}

/// Maps on all processors, or on this thread where that is all there is. Results in order.
pub fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    if is_usable() { items.into_par_iter().map(work).collect() } else { items.into_iter().map(work).collect() }
}
