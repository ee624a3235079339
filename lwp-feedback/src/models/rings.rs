//! LWP: a ring a thread, drained at the monitor's polls and when it is half full.

use std::collections::BTreeMap;

use super::{Counts, Delivery, Event, Sampling, Sink};
use crate::codemap::Resolved;
use crate::layout::Flags;
use crate::ring::{Ring, RingConfig, RingConsumer, RingProducer};

pub(super) struct Lane {
    producer: RingProducer,
    consumer: RingConsumer,
    /// Sites of the ring's addresses, the latest of each: what the code map says.
    sites: BTreeMap<u64, Resolved>,
    next_poll: u64,
    /// Events to the next record, and what its reloads are made from.
    countdown: u32,
    random: u32,
    missed: u64,
}

impl Lane {
    pub(super) fn new(sampling: Sampling, now: u64) -> Self {
        let config = RingConfig { flags: Flags::VAL, wake_on_hot: false, core_id: Some(0), ..RingConfig::default() };
        let ring = Ring::new(&config).expect("the default sizes are valid");
        let producer = ring.producer().expect("a new ring has no producer");
        let consumer = ring.consumer().expect("a new ring has no consumer");
        let next_poll = now.saturating_add(sampling.poll_ticks);
        Self { producer, consumer, sites: BTreeMap::new(), next_poll, countdown: sampling.period, random: 1, missed: 0 }
    }

    /// 1 to 2n - 1 for a period of n. Without random bits a program's own rhythm would choose which of its sites are seen. Xorshift from a fixed seed.
    pub(super) fn reload(&mut self, period: u32) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        1 + self.random % (2 * period - 1)
    }

    fn drain(&mut self, counts: &mut Counts, sink: Sink<'_>) {
        let sites = &self.sites;
        self.consumer.drain(usize::MAX, |record| {
            if let Some(site) = sites.get(&record.address()) {
                sink(site, record);
            }
        });
        let missed = self.producer.ring().missed();
        counts.lost += missed - self.missed;
        self.missed = missed;
    }
}

pub(super) struct Rings {
    sampling: Sampling,
    lanes: BTreeMap<u64, Lane>,
}

impl Rings {
    pub(super) fn new(sampling: Sampling) -> Self {
        Self { sampling, lanes: BTreeMap::new() }
    }
}

impl Delivery for Rings {
    fn event(&mut self, event: &Event, counts: &mut Counts, sink: Sink<'_>) {
        let Self { sampling, lanes } = self;
        let now = event.record.tsc();
        let lane = lanes.entry(event.ring).or_insert_with(|| Lane::new(*sampling, now));
        let half_full = lane.producer.ring().used_bytes() * 2 >= lane.producer.ring().buffer_bytes();
        if half_full || now >= lane.next_poll {
            lane.drain(counts, sink);
            counts.wake_ups += 1;
            lane.next_poll = now.saturating_add(sampling.poll_ticks);
        }
        let record = &event.record;
        lane.sites.insert(record.address(), event.site);
        // One countdown for all: with one for each kind the kinds would be sampled at rates of their own.
        lane.countdown -= 1;
        if lane.countdown == 0 {
            lane.countdown = lane.reload(sampling.period);
            lane.producer.store(record);
        }
    }

    fn finish(&mut self, counts: &mut Counts, sink: Sink<'_>) {
        self.lanes.values_mut().for_each(|lane| lane.drain(counts, sink));
    }
}
