use super::*;
use crate::codemap::CodeEntry;
use crate::layout::Flags;
use crate::ring::RingConfig;

const MODULE: u64 = 77;

#[derive(Default, Clone)]
struct Seen(Arc<Mutex<Vec<Hot>>>);

impl Listener for Seen {
    fn hot(&mut self, event: &Hot) {
        lock(&self.0).push(*event);
    }
}

/// Keeps every record's Data2.
#[derive(Default, Clone)]
struct Values(Arc<Mutex<Vec<u64>>>);

impl Listener for Values {
    fn hot(&mut self, _event: &Hot) {}

    fn wants_records(&self) -> bool {
        true
    }

    fn record(&mut self, _ring: RingId, record: &Record, _resolved: Option<&Resolved>) {
        lock(&self.0).push(record.data2());
    }
}

fn code() -> Arc<CodeMap> {
    let map = CodeMap::new();
    let function = FunctionId { module: MODULE, func: 3 };
    map.insert(0x1000..0x2000, CodeEntry::new(function, 1, Tier::Baseline, Arc::from([(0, 10), (0x100, 20)]))).unwrap();
    Arc::new(map)
}

fn monitor(seen: &Seen) -> Monitor {
    Monitor::new(MonitorConfig::default(), code(), Arc::new(Profile::default()), Box::new(seen.clone()))
}

fn ring(deferred: bool) -> Arc<Ring> {
    Ring::new(&RingConfig { interval1: 0, random_bits: 0, deferred, ..RingConfig::default() }).unwrap()
}

/// Both modes of a ring; `flush` is what the owning thread's poll does.
const MODES: [bool; 2] = [false, true];

fn owner_polls(ring: &Ring) {
    if ring.flush_wanted() {
        ring.flush();
    }
}

#[test]
fn records_reach_profile_and_listener() {
    for deferred in MODES {
        let seen = Seen::default();
        let monitor = monitor(&seen);
        let ring = ring(deferred);
        monitor.add_ring(ring.clone()).unwrap();
        assert_eq!(monitor.add_ring(ring.clone()), Err(RingTaken));
        let mut producer = ring.producer().unwrap();
        for i in 0..100 {
            producer.value(0x1104, SiteClass::CallTarget.imm16(0), 0, 8);
            producer.value(0x9999, SiteClass::CallTarget.imm16(0), i, 8);
        }
        producer.programmed(0x1004, SiteClass::HotLoop.imm16(0), 1, 5000);
        monitor.poll_once();
        owner_polls(&ring);
        monitor.poll_once();
        let function = monitor.profile().function(FunctionId { module: MODULE, func: 3 }).unwrap();
        assert_eq!((function.sites[1].key.offset, function.sites[1].total, function.hot), (20, 100, 1));
        let events = lock(&seen.0).clone();
        assert_eq!(events.len(), 1);
        assert_eq!((events[0].kind, events[0].wasm_offset, events[0].value, events[0].version), (SiteClass::HotLoop, 10, 5000, 1));
        let stats = monitor.stats();
        assert_eq!((stats.records, stats.unresolved, stats.missed, stats.lag_ns.count), (201, 100, 0, 201));
    }
}

#[test]
fn a_ring_whose_thread_ended_is_drained_and_dropped() {
    for deferred in MODES {
        let monitor = monitor(&Seen::default());
        let (closed, orphan) = (ring(deferred), ring(deferred));
        monitor.add_ring(closed.clone()).unwrap();
        monitor.add_ring(orphan.clone()).unwrap();
        for ring in [closed.clone(), orphan] {
            std::thread::spawn(move || {
                ring.producer().unwrap().value(0x1000, 1, 0, 0);
            })
            .join()
            .unwrap();
        }
        closed.close();
        monitor.poll_once();
        let stats = monitor.stats();
        assert_eq!((stats.records, stats.rings), (2, 0));
    }
}

#[test]
fn a_full_ring_does_not_starve_the_others() {
    for deferred in MODES {
        let config = MonitorConfig { records_per_visit: 16, ..MonitorConfig::default() };
        let monitor = Monitor::new(config, code(), Arc::new(Profile::default()), Box::new(NoListener));
        let (busy, quiet) = (ring(deferred), ring(deferred));
        monitor.add_ring(busy.clone()).unwrap();
        monitor.add_ring(quiet.clone()).unwrap();
        let (mut fills, mut writes) = (busy.producer().unwrap(), quiet.producer().unwrap());
        for round in 0..50 {
            while fills.store(&Record::default()) {}
            writes.store(&Record::default());
            owner_polls(&busy);
            owner_polls(&quiet);
            let summary = monitor.poll_once();
            assert!(summary.more, "the busy ring always has more");
            assert!(round < 2 || quiet.used_bytes() <= 64, "the quiet ring is visited at every poll");
        }
        assert!(busy.missed() > 0);
    }
}

#[test]
fn a_retired_range_is_released_only_when_every_ring_has_passed() {
    for deferred in MODES {
        let monitor = monitor(&Seen::default());
        let ring = ring(deferred);
        monitor.add_ring(ring.clone()).unwrap();
        let mut producer = ring.producer().unwrap();
        monitor.poll_once();
        producer.value(0x1004, SiteClass::Param.imm16(0), 0, 42);
        let cookie = monitor.code().retire(0x1000..0x2000).unwrap();
        assert!(!monitor.code().is_released(cookie));
        for poll in 0..3 {
            if deferred && poll == 0 {
                monitor.poll_once();
                assert!(!monitor.code().is_released(cookie), "its head was not published yet");
            }
            owner_polls(&ring);
            monitor.poll_once();
        }
        assert!(monitor.code().is_released(cookie));
        assert_eq!(monitor.stats().unresolved, 0);
        producer.value(0x1004, SiteClass::Param.imm16(0), 0, 42);
        ring.flush();
        monitor.poll_once();
        assert_eq!(monitor.stats().unresolved, 1);
    }
}

#[test]
fn garbage_in_a_ring_is_counted() {
    for deferred in MODES {
        let monitor = monitor(&Seen::default());
        let ring = ring(deferred);
        monitor.add_ring(ring.clone()).unwrap();
        let mut producer = ring.producer().unwrap();
        let mut x = 0x1234_5678_9abc_def1u64;
        let mut next = || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x
        };
        let mut produced = 0;
        for _ in 0..100 {
            for _ in 0..next() % 4000 {
                let address = if next() % 2 == 0 { 0x1000 + next() % 0x1000 } else { next() };
                producer.store(&Record { words: [next(), address, next(), next()] });
                produced += 1;
            }
            owner_polls(&ring);
            ring.control().missed_events.fetch_add(next() % 100, Ordering::Relaxed);
            ring.control().buffer_tail_offset.store(next() as u32, Ordering::Relaxed);
            monitor.poll_once();
        }
        let stats = monitor.stats();
        assert!(stats.records > 0 && stats.records <= produced && stats.unresolved > 0);
        serde_json::to_string(&monitor.profile().snapshot(MODULE)).unwrap();
    }
}

#[test]
fn the_thread_drains_through_threshold_wake_ups_and_stops() {
    for deferred in MODES {
        let seen = Seen::default();
        let config =
            MonitorConfig { min_interval: Duration::from_secs(3600), max_interval: Duration::from_secs(3600), ..MonitorConfig::default() };
        let monitor = Arc::new(Monitor::new(config, code(), Arc::new(Profile::default()), Box::new(seen)));
        let thread = monitor.spawn().unwrap();
        let ring = Ring::new(&RingConfig { buffer_bytes: 4096, threshold_bytes: 1024, deferred, ..RingConfig::default() }).unwrap();
        assert!(ring.control().flags.load(Ordering::Relaxed) & Flags::INT.bits() != 0);
        monitor.add_ring(ring.clone()).unwrap();
        let mut producer = ring.producer().unwrap();
        for _ in 0..32 {
            producer.store(&Record::default());
        }
        while ring.used_bytes() > 0 {
            std::thread::yield_now();
        }
        producer.store(&Record::default());
        drop(producer);
        drop(thread);
        assert_eq!(monitor.stats().records, 33);
    }
}

#[test]
fn a_host_polls_it_on_its_own_runtime() {
    for deferred in MODES {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let monitor = Arc::new(monitor(&Seen::default()));
        let ring = ring(deferred);
        monitor.add_ring(ring.clone()).unwrap();
        runtime.block_on(async {
            let task = tokio::spawn({
                let monitor = monitor.clone();
                async move { monitor.run().await }
            });
            let mut producer = ring.producer().unwrap();
            producer.programmed(0x1000, SiteClass::HotFunction.imm16(0), 0, 0);
            while ring.used_bytes() > 0 {
                tokio::task::yield_now().await;
            }
            monitor.stop();
            task.await.unwrap();
        });
        assert_eq!(monitor.stats().records, 1);
    }
}

#[test]
fn the_interval_adapts_between_its_bounds() {
    for deferred in MODES {
        let monitor = monitor(&Seen::default());
        let ring = ring(deferred);
        monitor.add_ring(ring.clone()).unwrap();
        for _ in 0..50 {
            monitor.poll_once();
        }
        // Between half of the interval and all of it, a different part each time, spread over the whole.
        let most = MonitorConfig::default().max_interval;
        let mut waits: Vec<Duration> = (0..100).map(|_| monitor.poll_once().next_poll).collect();
        waits.sort_unstable();
        assert!(waits.windows(2).all(|pair| pair[0] < pair[1] && pair[1] - pair[0] < most / 50), "{waits:?}");
        assert!(waits[0] >= most / 2 && waits[0] < most * 51 / 100 && waits[99] <= most && waits[99] > most * 99 / 100, "{waits:?}");
        let mut producer = ring.producer().unwrap();
        for _ in 0..20 {
            for _ in 0..1000 {
                producer.store(&Record::default());
            }
            ring.flush();
            monitor.poll_once();
        }
        let least = MonitorConfig::default().min_interval;
        let wait = monitor.poll_once().next_poll;
        assert!((least..=least * 3 / 2).contains(&wait), "{wait:?}");
    }
}

/// Always hurries so much.
struct Hastes(Haste);

impl Listener for Hastes {
    fn hot(&mut self, _event: &Hot) {}

    fn haste(&self) -> Haste {
        self.0
    }
}

/// Polls that cost more than their share come rarer, unless something hurries; in a run that is still short not so much.
#[test]
fn polls_keep_to_their_share() {
    let most = Duration::from_millis(4);
    for (haste, poll_share, sparsest) in
        [(Haste::None, 1e-9, SPARSEST), (Haste::Some, 1e-9, SPARSEST), (Haste::Full, 1e-9, 1), (Haste::None, 1.0, 1)]
    {
        let config = MonitorConfig { max_interval: most, poll_share, ..MonitorConfig::default() };
        let monitor = Monitor::new(config, code(), Arc::new(Profile::default()), Box::new(Hastes(haste)));
        lock(&monitor.core).owner = Some(std::thread::current().id());
        let longest = |polls: u32| (0..polls).map(|_| monitor.poll_once().next_poll).max().unwrap();
        let early = longest(5);
        assert!(early <= most, "{early:?}");
        std::thread::sleep(most * sparsest * HOT_WAITS / POLLS_WAIT * u32::from(haste != Haste::Full && poll_share < 1.0));
        let later = longest(50);
        assert!(later <= most * sparsest && later > most * sparsest * 9 / 10, "{later:?}");
    }
}

#[test]
fn some_haste_takes_five_times_the_share() {
    let us = Duration::from_micros;
    for (haste, expected) in [(Haste::None, us(267)), (Haste::Some, us(53)), (Haste::Full, us(30))] {
        let config = MonitorConfig { min_interval: us(10), max_interval: us(30), poll_share: 0.1, ..MonitorConfig::default() };
        let monitor = Monitor::new(config, code(), Arc::new(Profile::default()), Box::new(Hastes(haste)));
        lock(&monitor.core).poll_ns = 20e3;
        // (in a run that is still short polls are not so rare)
        std::thread::sleep(us(267) * HOT_WAITS / POLLS_WAIT);
        let longest = (0..50).map(|_| monitor.poll_once().next_poll).max().unwrap();
        assert!(longest <= expected && longest > expected * 9 / 10, "{haste:?}: {longest:?}");
    }
}

/// Hot records wake a monitor of something new at once, later only after their wait; and again at once when something new begins.
#[test]
fn hot_records_wait_for_a_part_of_the_run() {
    let monitor = Arc::new(Monitor::new(MonitorConfig::default(), code(), Arc::new(Profile::default()), Box::new(Seen::default())));
    let ring = ring(false);
    monitor.add_ring(ring.clone()).unwrap();
    let thread = monitor.spawn().unwrap();
    let mut producer = ring.producer().unwrap();
    let mut produced = 0;
    // Polls of a monitor that gets a hot record each millisecond, and how long that took.
    let mut polls_of_hot = |wanted: u64| {
        let (before, began) = (monitor.stats().polls, Instant::now());
        for _ in 0..wanted {
            producer.programmed(0x1004, SiteClass::HotFunction.imm16(0), 0, 1);
            std::thread::sleep(Duration::from_millis(1));
        }
        produced += wanted;
        (monitor.stats().polls - before, began.elapsed())
    };
    // Other tests have the processors too: it need not come each time.
    let comes_at_once = |polls_of_hot: &mut dyn FnMut(u64) -> (u64, Duration)| {
        (0..100).any(|_| {
            monitor.expect_new();
            polls_of_hot(10).0 >= 5
        })
    };
    assert!(comes_at_once(&mut polls_of_hot));
    std::thread::sleep(MonitorConfig::default().max_interval * HOT_WAITS);
    let (later, took) = polls_of_hot(100);
    let most = took.as_millis() as u64 / (MonitorConfig::default().max_interval.as_millis() as u64 / 2) + 2;
    assert!((1..=most).contains(&later), "{later} polls in {took:?}");
    assert!(comes_at_once(&mut polls_of_hot));
    drop(thread);
    assert_eq!(monitor.stats().records, produced);
}

/// The producer goes on for a second without a drain, then everything is accounted for.
#[test]
fn consumer_stalls_one_second() {
    for deferred in MODES {
        let monitor = monitor(&Seen::default());
        let ring = ring(deferred);
        monitor.add_ring(ring.clone()).unwrap();
        let mut producer = ring.producer().unwrap();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(1) {
            for i in 0..1000 {
                producer.store(&Record::new(EventId::VALUE, 0, 1, i, 0x1000, 0, 0));
            }
        }
        ring.flush();
        while monitor.poll_once().more {}
        let stats = monitor.stats();
        assert_eq!(stats.records + stats.missed, ring.produced());
        assert_eq!(stats.records, 2047);
        let function = monitor.profile().function(FunctionId { module: MODULE, func: 3 }).unwrap();
        assert_eq!(function.records, 2047);
    }
}

/// The monitor never comes while the producer fills the ring ten times over; the producer sets everything aside, in order.
#[test]
fn a_producer_empties_its_ring_past_the_threshold() {
    for deferred in MODES {
        let config = MonitorConfig { reserve_records: 2000, ..MonitorConfig::default() };
        let order = Values::default();
        let monitor = Monitor::new(config, code(), Arc::new(Profile::default()), Box::new(order.clone()));
        let config = RingConfig { buffer_bytes: 4096, threshold_bytes: 1024, wake_on_hot: false, deferred, ..RingConfig::default() };
        let ring = Ring::new(&config).unwrap();
        monitor.add_ring(ring.clone()).unwrap();
        let mut producer = ring.producer().unwrap();
        for i in 0..1280 {
            assert!(producer.store(&Record::new(EventId::VALUE, 0, 1, 0, 0x1104, i, 0)), "a slot is free");
        }
        ring.flush();
        assert_eq!(monitor.poll_once().records, 1280);
        let stats = monitor.stats();
        assert_eq!((stats.records, stats.missed, stats.unresolved), (1280, 0, 0));
        assert!(stats.cpu_ns > 0);
        assert!(lock(&order.0).iter().copied().eq(0..1280));
    }
}

#[test]
fn a_full_reserve_leaves_the_ring_full_and_the_records_counted() {
    for deferred in MODES {
        let config = MonitorConfig { reserve_records: 100, ..MonitorConfig::default() };
        let monitor = Monitor::new(config, code(), Arc::new(Profile::default()), Box::new(NoListener));
        let ring = Ring::new(&RingConfig { buffer_bytes: 4096, threshold_bytes: 1024, deferred, ..RingConfig::default() }).unwrap();
        monitor.add_ring(ring.clone()).unwrap();
        let mut producer = ring.producer().unwrap();
        for i in 0..10_000 {
            producer.store(&Record::new(EventId::VALUE, 0, 1, 0, 0x1104, i, 0));
        }
        ring.flush();
        while monitor.poll_once().left {}
        let stats = monitor.stats();
        assert_eq!(stats.records + stats.missed, 10_000);
        assert!(stats.records <= 127 + 100, "{}", stats.records);
    }
}

/// Rings know their monitor's waker, and the waker the rings: neither keeps the other when the monitor goes.
#[test]
fn a_monitor_that_goes_leaves_its_rings_to_their_owners() {
    let ring = ring(false);
    let monitor = monitor(&Seen::default());
    monitor.add_ring(ring.clone()).unwrap();
    drop(monitor);
    assert_eq!(Arc::strong_count(&ring), 1);
    assert!(ring.consumer().is_some(), "another monitor can have it");
}

/// Is idle while it is told so.
#[derive(Default, Clone)]
struct Idle(Arc<AtomicBool>);

impl Listener for Idle {
    fn hot(&mut self, _event: &Hot) {}

    fn is_idle(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

#[test]
fn a_monitor_of_nothing_sleeps_until_it_is_roused() {
    let idle = Idle::default();
    let config = MonitorConfig { max_interval: Duration::from_millis(1), ..MonitorConfig::default() };
    let monitor = Arc::new(Monitor::new(config, code(), Arc::new(Profile::default()), Box::new(idle.clone())));
    let _thread = monitor.spawn().unwrap();
    let polls = || monitor.stats().polls;
    let polls_on = || {
        let before = polls();
        while polls() < before + 2 * u64::from(QUIET) {
            std::thread::yield_now();
        }
    };
    // The control: without a record it polls on, as long as something runs.
    polls_on();
    for _ in 0..5 {
        idle.0.store(true, Ordering::SeqCst);
        let mut before = polls();
        loop {
            std::thread::sleep(Duration::from_millis(50));
            match polls() {
                now if now == before => break,
                now => before = now,
            }
        }
        idle.0.store(false, Ordering::SeqCst);
        monitor.rouse();
        polls_on();
    }
    // Roused where it does not sleep, it is only looked at.
    let (before, rounds) = (polls(), 100_000);
    (0..rounds).for_each(|_| monitor.rouse());
    assert!(polls() - before < rounds / 100);
}
