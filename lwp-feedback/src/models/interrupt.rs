//! Plain performance interrupts: a counter's overflow raises the poll flag, and the sample is where the thread polls next.

use std::collections::BTreeMap;

use super::{Counts, Delivery, Event, Sampling, Sink, Skid};
use crate::layout::{EventId, Record};

struct Lane {
    /// Events until the overflow.
    left: u32,
    /// The event that raised the flag.
    raised: Option<Event>,
}

pub(super) struct Interrupts {
    sampling: Sampling,
    lanes: BTreeMap<u64, Lane>,
}

impl Interrupts {
    pub(super) fn new(sampling: Sampling) -> Self {
        Self { sampling, lanes: BTreeMap::new() }
    }
}

impl Delivery for Interrupts {
    fn event(&mut self, event: &Event, counts: &mut Counts, _sink: Sink<'_>) {
        let period = self.sampling.period;
        let lane = self.lanes.entry(event.ring).or_insert(Lane { left: period, raised: None });
        lane.left -= 1;
        if lane.left == 0 {
            lane.left = period;
            // A flag that is up already cannot say that there were two.
            counts.lost += u64::from(lane.raised.is_some());
            lane.raised.get_or_insert_with(|| event.clone());
        }
    }

    fn poll(&mut self, event: &Event, counts: &mut Counts, sink: Sink<'_>) {
        let Some(cause) = self.lanes.get_mut(&event.ring).and_then(|lane| lane.raised.take()) else { return };
        let mut site = event.site;
        if event.record.data1() != u32::MAX {
            site.wasm_offset = event.record.data1();
        }
        let tick = Record::new(EventId::INSTRUCTIONS, 0, 0, 0, event.record.address(), 0, event.record.tsc());
        sink(&site, &tick);
        counts.wake_ups += 1;
        skid(&mut counts.skid, &cause, &Event { site, ..event.clone() });
    }

    fn finish(&mut self, counts: &mut Counts, _sink: Sink<'_>) {
        counts.lost += self.lanes.values_mut().filter_map(|lane| lane.raised.take()).count() as u64;
    }
}

fn skid(skid: &mut Skid, cause: &Event, sample: &Event) {
    if cause.site.function != sample.site.function {
        skid.other_function += 1;
    } else if cause.site.wasm_offset != sample.site.wasm_offset {
        skid.same_function += 1;
    } else {
        skid.same_site += 1;
    }
    skid.ticks = skid.ticks.saturating_add(sample.record.tsc().saturating_sub(cause.record.tsc()));
}
