//! The two models without an interrupt of their own: rings, and counters that are read.

use std::collections::BTreeMap;

use super::{Delivered, Event, Sampling, Stream};
use crate::codemap::Resolved;
use crate::layout::{EventId, Flags, Record};
use crate::ring::{Ring, RingConfig, RingConsumer, RingProducer};

struct Lane {
    producer: RingProducer,
    consumer: RingConsumer,
    /// Sites of the ring's addresses, latest last: what the code map says.
    sites: BTreeMap<u64, Resolved>,
    next_poll: u64,
    countdown: u32,
}

impl Lane {
    fn new(sampling: Sampling, now: u64) -> Self {
        // The event's own record is stored: its time stamp is the run's. One in `period` by the unit's countdown and seed.
        let config =
            RingConfig { interval1: sampling.period - 1, flags: Flags::VAL, wake_on_hot: false, core_id: Some(0), ..RingConfig::default() };
        let ring = Ring::new(&config).expect("the default sizes are valid");
        let producer = ring.producer().expect("a new ring has no producer");
        let consumer = ring.consumer().expect("a new ring has no consumer");
        Self { producer, consumer, sites: BTreeMap::new(), next_poll: now.saturating_add(sampling.poll_ticks), countdown: sampling.period }
    }

    fn drain(&mut self, out: &mut Delivered) {
        let sites = &self.sites;
        self.consumer.drain(usize::MAX, |record| {
            if let Some(site) = sites.get(&record.address()) {
                out.take(site, record);
            }
        });
    }
}

pub(super) fn lwp(stream: &Stream, sampling: Sampling) -> Delivered {
    let mut out = Delivered::new();
    let mut lanes: BTreeMap<u64, Lane> = BTreeMap::new();
    for event in &stream.events {
        let now = event.record.tsc();
        let lane = lanes.entry(event.ring).or_insert_with(|| Lane::new(sampling, now));
        let half_full = lane.producer.ring().used_bytes() * 2 >= lane.producer.ring().buffer_bytes();
        if half_full || now >= lane.next_poll {
            lane.drain(&mut out);
            out.wake_ups += 1;
            lane.next_poll = now.saturating_add(sampling.poll_ticks);
        }
        lane.sites.insert(event.record.address(), event.site);
        let Event { record, .. } = event;
        if record.event_id() == EventId::VALUE {
            lane.producer.value(record.address(), record.flags(), record.data1(), record.data2());
        } else {
            lane.countdown -= 1;
            if lane.countdown == 0 {
                lane.countdown = sampling.period;
                lane.producer.store(record);
            }
        }
    }
    for lane in lanes.values_mut() {
        lane.drain(&mut out);
        out.lost += lane.producer.ring().missed();
    }
    out
}

pub(super) fn cpc(stream: &Stream, sampling: Sampling) -> Delivered {
    struct Counters {
        count: u64,
        next_reading: u64,
        last: Event,
    }
    let mut out = Delivered::new();
    let mut lanes: BTreeMap<u64, Counters> = BTreeMap::new();
    let read = |out: &mut Delivered, counters: &mut Counters| {
        let tick = Record::new(EventId::INSTRUCTIONS, 0, 0, 0, counters.last.record.address(), 0, counters.last.record.tsc());
        for _ in 0..std::mem::take(&mut counters.count) {
            out.take(&counters.last.site, &tick);
        }
        out.wake_ups += 1;
    };
    for event in &stream.events {
        let now = event.record.tsc();
        let begin = Counters { count: 0, next_reading: now.saturating_add(sampling.poll_ticks), last: *event };
        let counters = lanes.entry(event.ring).or_insert(begin);
        counters.count += 1;
        counters.last = *event;
        if now >= counters.next_reading {
            read(&mut out, counters);
            counters.next_reading = now.saturating_add(sampling.poll_ticks);
        }
    }
    lanes.values_mut().filter(|counters| counters.count > 0).for_each(|counters| read(&mut out, counters));
    out
}
