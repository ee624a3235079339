//! What LWP in software costs here: the figures of `backedge lwp bench`.
//!
//! Every figure is measured on the real ring, monitor and profile; nothing is simulated. Rates are the best of several rounds, as a
//! guest's neighbours only ever make it slower.

use std::arch::asm;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::class::SiteClass;
use crate::codemap::{CodeEntry, CodeMap, FunctionId, Tier};
use crate::layout::{COUNTER_SIGN_BIT, Flags, INTERVAL_MAX, Record, offset};
use crate::monitor::{Monitor, MonitorConfig, MonitorStats, NoListener};
use crate::profile::Profile;
use crate::record::Typed;
use crate::ring::{Ring, RingConfig, store_value_sample};

/// The figures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BenchReport {
    /// An LWPVAL site with no record due, in machine code: added time per execution, nanoseconds.
    pub site_ns: f64,
    /// The same in a loop that a compiler made, where who asks has a compiler: this crate has none.
    #[serde(default)]
    pub compiled_site_ns: Option<f64>,
    /// Storing a record through the stub generated code calls, without time stamp, nanoseconds.
    pub store_ns: f64,
    /// The same with a time stamp (PTSC).
    pub store_with_time_stamp_ns: f64,
    /// Ring → typed record → tail, records per second.
    pub drain_per_s: f64,
    /// The whole monitor path (address → site → DashMap → histogram), records per second.
    pub monitor_per_s: f64,
    /// 8 producers of 1,000 records per ms each, asleep between bursts, 64 KiB rings, producers that set records aside at the threshold.
    pub bursts: LoadFigures,
    /// The same producers spinning.
    pub spinning: LoadFigures,
    /// One producer of 100 records per ms: share of a CPU that the monitor takes, 0 to 1.
    pub monitor_cpu_at_100k: f64,
}

/// Counts of a run with producers and a monitor at once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoadFigures {
    /// Records produced.
    pub produced: u64,
    /// Records the monitor drained.
    pub drained: u64,
    /// MissedEvents of all rings.
    pub missed: u64,
    /// Bursts left out, over all producers, since their thread was woken after the next one was due; 0 for producers that spin.
    pub slept_through: u64,
    /// Share of a CPU the monitor took, 0 to 1.
    pub monitor_cpu: f64,
    /// Wall time, seconds.
    pub seconds: f64,
}

/// Measures everything; takes about 4 seconds.
pub fn run() -> BenchReport {
    BenchReport {
        site_ns: site_ns(),
        compiled_site_ns: None,
        store_ns: store_ns(Flags::VAL),
        store_with_time_stamp_ns: store_ns(Flags::VAL | Flags::PTSC),
        drain_per_s: drain_per_s(),
        monitor_per_s: monitor_per_s(),
        bursts: load(8, 1000, true, Duration::from_secs(1)),
        spinning: load(8, 1000, false, Duration::from_millis(500)),
        monitor_cpu_at_100k: load(1, 100, true, Duration::from_secs(1)).monitor_cpu,
    }
}

fn config(flags: Flags) -> RingConfig {
    RingConfig { interval1: 0, random_bits: 0, flags, core_id: Some(0), ..RingConfig::default() }
}

fn best(rounds: usize, mut round: impl FnMut() -> f64) -> f64 {
    (0..rounds).map(|_| round()).fold(f64::INFINITY, f64::min)
}

/// A loop with the site's instructions less the same loop without.
fn site_ns() -> f64 {
    const TURNS: u64 = 20_000_000;
    let ring = Ring::new(&RingConfig { interval1: INTERVAL_MAX, ..config(Flags::VAL) }).expect("constant sizes are valid");
    let with_site = best(5, || {
        ring.control().events[0].counter.store(INTERVAL_MAX, Ordering::Relaxed);
        let begin = Instant::now();
        // SAFETY: decrements the ring's own counter; the ring outlives the loop, and 20 M turns do not reach its sign.
        unsafe {
            asm!(
                "2:",
                "mov eax, dword ptr [rdi + {counter}]",
                "dec eax",
                "mov dword ptr [rdi + {counter}], eax",
                "test eax, {sign}",
                "jnz 3f",
                "dec rcx",
                "jnz 2b",
                "3:",
                counter = const offset::EVENT1_COUNTER,
                sign = const COUNTER_SIGN_BIT,
                in("rdi") ring.lwpcb(),
                inout("rcx") TURNS => _,
                out("eax") _,
                options(nostack)
            );
        }
        begin.elapsed().as_nanos() as f64
    });
    let without = best(5, || {
        let begin = Instant::now();
        // SAFETY: registers only.
        unsafe { asm!("2:", "dec rcx", "jnz 2b", inout("rcx") TURNS => _, options(nostack, nomem)) };
        begin.elapsed().as_nanos() as f64
    });
    (with_site - without).max(0.0) / TURNS as f64
}

/// Fills rings of 1,000 records through the stub, again and again.
fn store_ns(flags: Flags) -> f64 {
    const RECORDS: u32 = 1000;
    let ring = Ring::new(&config(flags)).expect("constant sizes are valid");
    let mut consumer = ring.consumer().expect("a new ring has no consumer");
    best(200, || {
        let begin = Instant::now();
        for i in 0..RECORDS {
            // SAFETY: the ring is alive and this thread is its only producer.
            unsafe { store_value_sample(ring.lwpcb(), 0x1000, SiteClass::Param.imm16(0).into(), i, u64::from(i)) };
        }
        let ns = begin.elapsed().as_nanos() as f64 / f64::from(RECORDS);
        consumer.drain(usize::MAX, |_| {});
        ns
    })
}

fn drain_per_s() -> f64 {
    let ring = Ring::new(&config(Flags::VAL)).expect("constant sizes are valid");
    let (mut producer, mut consumer) = (ring.producer().expect("new ring"), ring.consumer().expect("new ring"));
    let mut sum = 0u64;
    let ns = best(300, || {
        for i in 0..2000 {
            producer.value(0x1000, SiteClass::Param.imm16(0), i, i.into());
        }
        let begin = Instant::now();
        let count = consumer.drain(usize::MAX, |record: &Record| {
            sum = sum.wrapping_add(match record.typed() {
                Typed::Value(value) => value.value(),
                Typed::Branch(branch) => branch.target(),
                Typed::Dcache(miss) => miss.latency().into(),
                _ => record.address(),
            });
        });
        begin.elapsed().as_nanos() as f64 / count as f64
    });
    std::hint::black_box(sum);
    1e9 / ns
}

fn code() -> Arc<CodeMap> {
    let code = CodeMap::new();
    for func in 0..64u32 {
        let start = 0x10_0000 + u64::from(func) * 0x1000;
        let offsets: Arc<[(u32, u32)]> = (0..16).map(|site| (site * 0x40, func * 100 + site)).collect();
        code.insert(start..start + 0x1000, CodeEntry::new(FunctionId { module: 1, func }, 1, Tier::Baseline, offsets))
            .expect("disjoint ranges");
    }
    Arc::new(code)
}

/// Addresses and events as a program with 64 hot functions would give: half value samples, the rest branches and misses.
fn record(i: u32) -> Record {
    use crate::layout::EventId;
    let address = 0x10_0000 + u64::from(i % 64) * 0x1000 + u64::from(i / 64 % 8) * 0x40;
    match i % 4 {
        0 | 1 => Record::new(EventId::VALUE, 0, SiteClass::CallTarget.imm16(0), 0, address, (i % 5).into(), 0),
        2 => Record::new(EventId::BRANCHES, 0, 0xE000, 0, address, 0x10, 0),
        _ => Record::new(EventId::DCACHE, 0, 3 << 13 | 1 << 12, 100 + i % 300, address, u64::from(i) * 64, 0),
    }
}

/// A quarter of a second of 1,000 records a millisecond: longer than a virtual machine's processor, and the monitor on it, was seen to be taken away.
const RESERVE: usize = 1 << 18;

fn monitor() -> Monitor {
    let config = MonitorConfig { reserve_records: RESERVE, ..MonitorConfig::default() };
    Monitor::new(config, code(), Arc::new(Profile::default()), Box::new(NoListener))
}

fn monitor_per_s() -> f64 {
    let monitor = monitor();
    let ring = Ring::new(&config(Flags::VAL)).expect("constant sizes are valid");
    monitor.add_ring(ring.clone()).expect("new ring");
    let mut producer = ring.producer().expect("new ring");
    let ns = best(200, || {
        for i in 0..2000 {
            producer.store(&record(i));
        }
        let begin = Instant::now();
        let records = monitor.poll_once().records;
        begin.elapsed().as_nanos() as f64 / records as f64
    });
    1e9 / ns
}

/// `producers` threads, each `per_ms` records a millisecond, asleep between bursts or spinning (then as many as they can). A producer that
/// the system woke after its next burst was due leaves that burst out, as a thread that did not run: two bursts without sleep between
/// would be another load than the one that is asked for. What was left out is counted.
fn load(producers: usize, per_ms: u32, asleep: bool, length: Duration) -> LoadFigures {
    let monitor = Arc::new(monitor());
    let thread = monitor.spawn().expect("a thread can be made");
    let stop = AtomicBool::new(false);
    let rings: Vec<Arc<Ring>> = (0..producers)
        .map(|_| Ring::new(&RingConfig { threshold_bytes: 16 << 10, ..config(Flags::VAL | Flags::INT) }).expect("constant sizes are valid"))
        .collect();
    for ring in &rings {
        monitor.add_ring(ring.clone()).expect("new ring");
    }
    let slept_through = AtomicU64::new(0);
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for ring in &rings {
            let mut producer = ring.producer().expect("new ring");
            let (stop, slept_through) = (&stop, &slept_through);
            scope.spawn(move || {
                let mut next = Instant::now();
                while !stop.load(Ordering::Relaxed) {
                    for i in 0..per_ms {
                        producer.store(&record(i));
                    }
                    if asleep {
                        let late = next.elapsed().as_millis() as u32;
                        slept_through.fetch_add(u64::from(late), Ordering::Relaxed);
                        next += Duration::from_millis(1) * (late + 1);
                        std::thread::sleep(next.saturating_duration_since(Instant::now()));
                    }
                }
            });
        }
        std::thread::sleep(length);
        stop.store(true, Ordering::Relaxed);
    });
    let seconds = begin.elapsed().as_secs_f64();
    let busy: MonitorStats = monitor.stats();
    drop(thread);
    while monitor.poll_once().left {}
    let stats = monitor.stats();
    LoadFigures {
        produced: rings.iter().map(|ring| ring.produced()).sum(),
        drained: stats.records,
        missed: stats.missed,
        slept_through: slept_through.into_inner(),
        monitor_cpu: busy.cpu_ns as f64 / 1e9 / seconds,
        seconds,
    }
}

impl std::fmt::Display for BenchReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "LWPVAL site, no record due   {:8.2} ns", self.site_ns)?;
        if let Some(ns) = self.compiled_site_ns {
            writeln!(f, "the same in compiled code    {ns:8.2} ns")?;
        }
        writeln!(f, "storing a record             {:8.2} ns ({:.2} with time stamp)", self.store_ns, self.store_with_time_stamp_ns)?;
        writeln!(f, "ring to typed record to tail {:8.1} M records/s", self.drain_per_s / 1e6)?;
        writeln!(f, "whole monitor path           {:8.1} M records/s", self.monitor_per_s / 1e6)?;
        for (name, load) in [("bursts", &self.bursts), ("spinning", &self.spinning)] {
            writeln!(
                f,
                "8 producers, {name:<8}        produced {}, drained {}, missed {}, slept through {} bursts, monitor {:.1} % of a CPU",
                load.produced,
                load.drained,
                load.missed,
                load.slept_through,
                load.monitor_cpu * 100.0
            )?;
        }
        write!(f, "monitor at 100 k records/s   {:8.2} % of a CPU", self.monitor_cpu_at_100k * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Timing is for the command; what must hold whatever the machine does is the accounting.
    #[test]
    fn spinning_producers_are_accounted_for_exactly() {
        let figures = load(8, 1000, false, Duration::from_millis(50));
        assert!(figures.produced > 0);
        assert_eq!(figures.drained + figures.missed, figures.produced);
    }
}
