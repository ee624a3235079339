//! What the monitor costs and how far behind it runs.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// A histogram's summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Values recorded.
    pub count: u64,
    /// Smallest.
    pub min: u64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest.
    pub max: u64,
    /// Mean.
    pub mean: f64,
}

impl Distribution {
    fn of(histogram: &Histogram<u64>, scale: f64) -> Self {
        let value = |value: u64| (value as f64 * scale) as u64;
        if histogram.is_empty() {
            return Self::default();
        }
        Self {
            count: histogram.len(),
            min: value(histogram.min()),
            p50: value(histogram.value_at_quantile(0.5)),
            p90: value(histogram.value_at_quantile(0.9)),
            p99: value(histogram.value_at_quantile(0.99)),
            max: value(histogram.max()),
            mean: histogram.mean() * scale,
        }
    }
}

/// The monitor's statistics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MonitorStats {
    /// Rings attached now.
    pub rings: usize,
    /// Records drained.
    pub records: u64,
    /// MissedEvents of all rings, dropped ones included.
    pub missed: u64,
    /// Records whose address is in no code range.
    pub unresolved: u64,
    /// Polls.
    pub polls: u64,
    /// CPU time of the monitor: of its whole thread where it has one, else of its polls. Nanoseconds.
    pub cpu_ns: u64,
    /// From store to drain, of records with a time stamp. Nanoseconds.
    pub lag_ns: Distribution,
    /// Records per poll that found some.
    pub records_per_poll: Distribution,
    /// Time between the starts of two polls. Microseconds.
    pub poll_interval_us: Distribution,
}

pub(super) struct Counters {
    records: u64,
    pub(super) missed: u64,
    pub(super) unresolved: u64,
    polls: u64,
    pub(super) cpu_ns: u64,
    lag_ticks: Histogram<u64>,
    records_per_poll: Histogram<u64>,
    poll_interval_us: Histogram<u64>,
}

impl Counters {
    pub(super) fn new() -> Self {
        let histogram = |top| Histogram::new_with_bounds(1, top, 2).expect("constant bounds are valid");
        Self {
            records: 0,
            missed: 0,
            unresolved: 0,
            polls: 0,
            cpu_ns: 0,
            // About 5 minutes of ticks at 4 GHz.
            lag_ticks: histogram(1 << 40),
            records_per_poll: histogram(1 << 32),
            poll_interval_us: histogram(1 << 32),
        }
    }

    #[inline]
    pub(super) fn lag(&mut self, ticks: u64) {
        self.lag_ticks.saturating_record(ticks.max(1));
    }

    pub(super) fn poll(&mut self, records: usize) {
        self.polls += 1;
        self.records += records as u64;
        if records > 0 {
            self.records_per_poll.saturating_record(records as u64);
        }
    }

    pub(super) fn poll_interval(&mut self, interval: Duration) {
        self.poll_interval_us.saturating_record((interval.as_micros() as u64).max(1));
    }

    pub(super) fn report(&self, rings: usize, ns_per_tick: f64) -> MonitorStats {
        let mut records_per_poll = Distribution::of(&self.records_per_poll, 1.0);
        // The histogram's is of its buckets.
        records_per_poll.mean = self.records as f64 / records_per_poll.count.max(1) as f64;
        MonitorStats {
            rings,
            records: self.records,
            missed: self.missed,
            unresolved: self.unresolved,
            polls: self.polls,
            cpu_ns: self.cpu_ns,
            lag_ns: Distribution::of(&self.lag_ticks, ns_per_tick),
            records_per_poll,
            poll_interval_us: Distribution::of(&self.poll_interval_us, 1.0),
        }
    }
}

/// CPU time of this thread so far, nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
