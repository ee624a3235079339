//! Plain performance interrupts: a counter's overflow raises the poll flag, and the sample is wherever the thread is seen next.

use std::collections::BTreeMap;

use super::{Counts, Delivery, Event, Sampling, Sink, Skid};
use crate::layout::{EventId, Record};

pub(super) struct Interrupts {
    sampling: Sampling,
    /// Per thread: events until the overflow, and the event that overflowed.
    lanes: BTreeMap<u64, (u32, Option<Event>)>,
}

impl Interrupts {
    pub(super) fn new(sampling: Sampling) -> Self {
        Self { sampling, lanes: BTreeMap::new() }
    }
}

impl Delivery for Interrupts {
    fn event(&mut self, event: &Event, counts: &mut Counts, sink: Sink<'_>) {
        let period = self.sampling.period;
        let (left, raised) = self.lanes.entry(event.ring).or_insert((period, None));
        if let Some(cause) = raised.take() {
            let tick = Record::new(EventId::INSTRUCTIONS, 0, 0, 0, event.record.address(), 0, event.record.tsc());
            sink(&event.site, &tick);
            counts.wake_ups += 1;
            skid(&mut counts.skid, &cause, event);
        }
        *left -= 1;
        if *left == 0 {
            *left = period;
            *raised = Some(*event);
        }
    }

    fn finish(&mut self, counts: &mut Counts, _sink: Sink<'_>) {
        counts.lost += self.lanes.values_mut().filter_map(|(_, raised)| raised.take()).count() as u64;
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
