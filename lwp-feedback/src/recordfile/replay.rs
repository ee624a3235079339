//! Driving monitor, profile and policy again from a record file, without the program.
//!
//! Each saved ring becomes a ring; its records go through it to a monitor that is polled by hand, in the file's order, so the same
//! file gives the same profile, byte for byte.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use super::{Chunk, RecordFileError, RecordReader};
use crate::codemap::CodeMap;
use crate::layout::Flags;
use crate::monitor::{Listener, Monitor, MonitorConfig, MonitorStats};
use crate::profile::Profile;
use crate::ring::{Ring, RingConfig, RingProducer};

/// What a replay did.
#[derive(Debug)]
pub struct ReplaySummary {
    /// Records replayed.
    pub records: u64,
    /// Records the recording had missed.
    pub missed_when_recorded: u64,
    /// The monitor's statistics; only its counts are deterministic.
    pub monitor: MonitorStats,
    /// Why the file could not be read to its end, if so; what came before was replayed.
    pub error: Option<RecordFileError>,
}

/// Rings at a time: one is a thread's. A file that names more, as a damaged one may, has the first ones closed.
const MOST_RINGS: usize = 1024;

/// Replays a file into `profile`; `listener` gets the calls a live one would get.
pub fn replay(input: impl Read, profile: Arc<Profile>, listener: Box<dyn Listener>) -> Result<ReplaySummary, RecordFileError> {
    let reader = RecordReader::new(input)?;
    let code = Arc::new(CodeMap::new());
    let monitor = Monitor::new(MonitorConfig::default(), code.clone(), profile, listener);
    let mut rings: BTreeMap<u64, RingProducer> = BTreeMap::new();
    let mut summary = ReplaySummary { records: 0, missed_when_recorded: 0, monitor: MonitorStats::default(), error: None };
    for chunk in reader {
        match chunk {
            Err(error) => summary.error = Some(error),
            Ok(Chunk::Note(_)) => {}
            Ok(Chunk::Missed { count, .. }) => summary.missed_when_recorded = summary.missed_when_recorded.saturating_add(count),
            Ok(Chunk::Code(range, entry)) => {
                drain(&monitor);
                code.forget(&range);
                code.insert(range, (*entry).clone()).expect("the range is free, and the reader checked it");
            }
            Ok(Chunk::Gone(range)) => {
                drain(&monitor);
                code.forget(&range);
            }
            Ok(Chunk::Records { records, .. }) if records.is_empty() => {}
            Ok(Chunk::Records { ring, records }) => {
                if rings.len() >= MOST_RINGS && !rings.contains_key(&ring) {
                    // Each has been drained, so others can have their places.
                    std::mem::take(&mut rings).values().for_each(|producer| producer.ring().close());
                    drain(&monitor);
                }
                let producer = rings.entry(ring).or_insert_with(|| {
                    let config = RingConfig { flags: Flags::empty(), wake_on_hot: false, ..RingConfig::default() };
                    let ring = Ring::new(&config).expect("the default sizes are valid");
                    monitor.add_ring(ring.clone()).expect("a new ring has no consumer");
                    ring.producer().expect("a new ring has no producer")
                });
                for record in &records {
                    if producer.ring().used_bytes() + 64 >= producer.ring().buffer_bytes() {
                        drain(&monitor);
                    }
                    producer.store(record);
                }
                summary.records += records.len() as u64;
                // Before the next chunk: rings take turns as they did.
                drain(&monitor);
            }
        }
    }
    summary.monitor = monitor.stats();
    Ok(summary)
}

fn drain(monitor: &Monitor) {
    while monitor.poll_once().more {}
}
