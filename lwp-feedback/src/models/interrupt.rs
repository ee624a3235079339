//! Plain performance interrupts: a counter's overflow raises the poll flag, and the sample is wherever the thread is seen next.

use std::collections::BTreeMap;

use super::{Delivered, Event, Sampling, Skid, Stream};
use crate::layout::{EventId, Record};

pub(super) fn pmi(stream: &Stream, sampling: Sampling) -> Delivered {
    let mut out = Delivered::new();
    // Per thread: events until the overflow, and the event that overflowed.
    let mut lanes: BTreeMap<u64, (u32, Option<Event>)> = BTreeMap::new();
    for event in &stream.events {
        let (left, raised) = lanes.entry(event.ring).or_insert((sampling.period, None));
        if let Some(cause) = raised.take() {
            let tick = Record::new(EventId::INSTRUCTIONS, 0, 0, 0, event.record.address(), 0, event.record.tsc());
            out.take(&event.site, &tick);
            out.wake_ups += 1;
            skid(&mut out.skid, &cause, event);
        }
        *left -= 1;
        if *left == 0 {
            *left = sampling.period;
            *raised = Some(*event);
        }
    }
    out.lost = lanes.values().filter(|(_, raised)| raised.is_some()).count() as u64;
    out
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
