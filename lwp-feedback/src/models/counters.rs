//! Counter sets: counts that are read now and then, with nothing said about where they arose.

use std::collections::BTreeMap;

use super::{Counts, Delivery, Event, Sampling, Sink};
use crate::layout::{EventId, Record};

struct Lane {
    count: u64,
    next_reading: u64,
    last: Event,
}

impl Lane {
    /// Gives the count since the last reading to whoever runs.
    fn read(&mut self, counts: &mut Counts, sink: Sink<'_>) {
        let tick = Record::new(EventId::INSTRUCTIONS, 0, 0, 0, self.last.record.address(), 0, self.last.record.tsc());
        for _ in 0..std::mem::take(&mut self.count) {
            sink(&self.last.site, &tick);
        }
        counts.wake_ups += 1;
    }
}

pub(super) struct CounterSets {
    sampling: Sampling,
    lanes: BTreeMap<u64, Lane>,
}

impl CounterSets {
    pub(super) fn new(sampling: Sampling) -> Self {
        Self { sampling, lanes: BTreeMap::new() }
    }
}

impl Delivery for CounterSets {
    fn event(&mut self, event: &Event, counts: &mut Counts, sink: Sink<'_>) {
        let next_reading = event.record.tsc().saturating_add(self.sampling.poll_ticks);
        let lane = self.lanes.entry(event.ring).or_insert(Lane { count: 0, next_reading, last: event.clone() });
        lane.count += 1;
        lane.last = event.clone();
        if event.record.tsc() >= lane.next_reading {
            lane.read(counts, sink);
            lane.next_reading = next_reading;
        }
    }

    fn finish(&mut self, counts: &mut Counts, sink: Sink<'_>) {
        self.lanes.values_mut().filter(|lane| lane.count > 0).for_each(|lane| lane.read(counts, sink));
    }
}
