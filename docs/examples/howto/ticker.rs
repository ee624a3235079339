//! Toy: every millisecond, or as many as the command line says, a clock record at the code with the highest version.

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{Context, Source};
use crate::layout::{EventId, Record};

pub const SOURCE: Source = Source { name: "ticker", about: "a clock record every millisecond, or every `=MS`", start };

fn start(mut context: Context) -> io::Result<()> {
    let every = match &context.argument {
        None => 1,
        Some(text) => text.parse().map_err(|_| io::Error::other(format!("`{text}` is no number of milliseconds")))?,
    };
    let tick = move || {
        while !context.stop.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(every));
            if let Some((range, entry)) = context.code.entries().into_iter().max_by_key(|(_, entry)| entry.version) {
                // Of compiled code a return address is said: the byte before it is meant.
                let address = range.start + u64::from(entry.return_addresses);
                context.ring.store(&Record::new(EventId::REF_CLOCKS, 0, 0, 0, address, 0, 0));
            }
        }
    };
    std::thread::Builder::new().name("ticker".into()).spawn(tick).map(drop)
}
