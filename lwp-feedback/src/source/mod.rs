//! Event sources of one's own: one file each, which registers itself by being in this folder (`build.rs` makes the table [`ALL`]).
//!
//! Everything is an LWP ring: a source is given one and fills it; monitor, profile, policy, record files and exports then treat its records as they treat
//! all others. What it needs of the running program is the code map: a record's address says which function and operator it is about.
//! `docs/src/howto-event-source.md` adds one.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::codemap::CodeMap;
use crate::ring::{Ring, RingConfig, RingProducer};

/// One event source.
pub struct Source {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it records, in a line.
    pub about: &'static str,
    /// Starts it, on a thread of its own; `Err` where this machine cannot.
    pub start: fn(Context) -> io::Result<()>,
}

/// What a source works with.
pub struct Context {
    /// Which code is where, now: it changes as code is published and retired.
    pub code: Arc<CodeMap>,
    /// Where its records go. A full ring counts what it misses; nothing waits.
    pub ring: RingProducer,
    /// What stands behind its name on the command line: `--event-source NAME=ARGUMENT`.
    pub argument: Option<String>,
    /// Set when it is to end.
    pub stop: Arc<AtomicBool>,
}

include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The example of `docs/src/howto-event-source.md`.
#[cfg(test)]
#[path = "../../../docs/examples/howto/ticker.rs"]
mod ticker;

/// The source of that name.
pub fn named(name: &str) -> Option<&'static Source> {
    ALL.iter().copied().find(|source| source.name == name)
}

/// A source that runs; it ends when this is dropped.
pub struct RunningSource {
    ring: Arc<Ring>,
    stop: Arc<AtomicBool>,
}

impl RunningSource {
    /// Starts a source, with its argument if it has one; `attach` hands its ring to a monitor.
    pub fn start(
        source: &Source,
        argument: Option<String>,
        code: Arc<CodeMap>,
        attach: impl FnOnce(Arc<Ring>),
    ) -> io::Result<RunningSource> {
        let ring = Ring::new(&RingConfig::default()).map_err(|error| io::Error::other(error.to_string()))?;
        let producer = ring.producer().expect("a fresh ring has no producer");
        attach(ring.clone());
        let stop = Arc::new(AtomicBool::new(false));
        (source.start)(Context { code, ring: producer, argument, stop: stop.clone() })?;
        Ok(RunningSource { ring, stop })
    }
}

impl Drop for RunningSource {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // What is in the ring is still drained.
        self.ring.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codemap::{CodeEntry, FunctionId, Tier};
    use crate::layout::{EventId, Record};
    use crate::monitor::{Monitor, MonitorConfig, NoListener};
    use crate::profile::Profile;

    const ONE: Source = Source { name: "one", about: "one record, here and now", start };

    fn start(mut context: Context) -> io::Result<()> {
        assert!(context.ring.store(&Record::new(EventId::REF_CLOCKS, 0, 0, 0, 0x1234, 0, 0)));
        Ok(())
    }

    #[test]
    fn what_a_source_records_is_drained_like_the_rest() {
        let code = Arc::new(CodeMap::new());
        let profile = Arc::new(Profile::default());
        let monitor = Monitor::new(MonitorConfig::default(), code.clone(), profile, Box::new(NoListener));
        let running =
            RunningSource::start(&ONE, None, code, |ring| _ = monitor.add_ring(ring).expect("a fresh ring has no consumer")).unwrap();
        drop(running);
        monitor.poll_once();
        assert_eq!(monitor.stats().records, 1);
        assert!(named("no-such-source").is_none());
        assert!(ALL.iter().all(|source| named(source.name).is_some() && !source.about.is_empty()));
    }

    #[test]
    fn the_books_example_ticks_where_the_newest_code_is() {
        let code = Arc::new(CodeMap::new());
        let function = |func| FunctionId { module: 1, func };
        code.insert(0x1000..0x1100, CodeEntry::new(function(7), 1, Tier::Baseline, Arc::from([(0, 0x20)]))).unwrap();
        code.insert(0x2000..0x2100, CodeEntry::new(function(8), 2, Tier::Optimizing, Arc::from([(0, 0x40)])).with_return_addresses())
            .unwrap();
        let profile = Arc::new(Profile::default());
        let monitor = Monitor::new(MonitorConfig::default(), code.clone(), profile.clone(), Box::new(NoListener));
        let start = |argument: &str| {
            let attach = |ring| _ = monitor.add_ring(ring).expect("a fresh ring has no consumer");
            RunningSource::start(&ticker::SOURCE, Some(argument.into()), code.clone(), attach)
        };
        let running = start("2").unwrap();
        while monitor.stats().records < 3 {
            std::thread::sleep(std::time::Duration::from_millis(5));
            monitor.poll_once();
        }
        drop(running);
        let functions = profile.snapshot(1).functions;
        assert!(functions.len() == 1 && functions[0].func == 8, "{functions:?}");
        assert!(start("often").err().unwrap().to_string().contains("`often` is no number"));
    }
}
