use super::*;
use crate::codemap::CodeMap;
use crate::cpc::feed::{LWP_ITEMS, LwpCounts, PEBS_ITEMS, lwp_sample, pebs_sample};
use crate::cpc::{Feed, FeedEvent, Item, PerfSource, SampleRecord};
use crate::layout::{EventId, Record};
use crate::monitor::{Monitor, MonitorConfig, NoListener};
use crate::pebs::{PebsRecord, Register, Registers};
use crate::profile::{Profile, ProfileLimits};
use crate::ring::{Ring, RingConfig};
use proptest::prelude::*;

fn feed(width: u32, overflow_detected: bool) -> Feed {
    let feed = Feed::new(LWP_ITEMS, overflow_detected);
    feed.define(FeedEvent { name: "work".into(), width, samples: true });
    feed.define(FeedEvent { name: "idle".into(), width, samples: false });
    feed
}

fn open(feed: &Feed) -> Cpc {
    Cpc::open(Arc::new(feed.clone()), true).unwrap()
}

fn miss(latency: u32) -> SampleRecord {
    lwp_sample(&Record::new(EventId::DCACHE, 0, 3 << 13 | 1 << 12, latency, 0x400, 0x9000, 0))
}

fn invalid<T>(reason: Invalid) -> Result<T, CpcError> {
    Err(CpcError::Invalid(reason))
}

#[test]
fn counts_and_samples() {
    let feed = feed(40, true);
    let cpc = open(&feed);
    let set = cpc.create_set();
    assert_eq!(cpc.add_request(&set, Request { preset: 100, ..Request::counting("work") }), Ok(0));
    assert_eq!(cpc.add_request(&set, Request::sampling("work", 2)), Ok(1));
    let mut buf = cpc.create_buf(&set).unwrap();
    feed.count("work", 1_000);
    cpc.bind_thread(&set).unwrap();
    feed.count("work", 7);
    feed.clocks(50);
    for latency in [10, 20, 30] {
        assert!(feed.sample("work", &miss(latency)));
    }
    cpc.sample(&set, &mut buf).unwrap();
    assert_eq!((buf.get(0), buf.tick(), buf.record_count(1)), (Ok(107), 50, Ok(2)));
    assert_eq!(feed.dropped(), 1);
    assert!(buf.hrtime() > 0 && buf.hrtime() <= monotonic_ns());
    let items = [Item::Pc, Item::Dlina, Item::Lat, Item::Dsrc].map(|item| buf.item(1, 1, item).unwrap());
    assert_eq!(items, [0x400, 0x9000, 20, 3]);
    assert_eq!(buf.record(1, 0).unwrap()[2], 10);
    assert_eq!(buf.record(1, 0).unwrap()[2], 10, "reading does not invalidate");
    cpc.sample(&set, &mut buf).unwrap();
    assert_eq!((buf.get(0), buf.record_count(1)), (Ok(107), Ok(0)), "records are handed out once");
    cpc.unbind(&set).unwrap();
    assert_eq!(cpc.sample(&set, &mut buf), invalid(Invalid::Unbound));
}

#[test]
fn set_does_not_affect_the_next_sample() {
    let feed = feed(64, true);
    let cpc = open(&feed);
    let set = cpc.create_set();
    cpc.add_request(&set, Request::counting("work")).unwrap();
    let mut buf = cpc.create_buf(&set).unwrap();
    cpc.bind_thread(&set).unwrap();
    feed.count("work", 3);
    cpc.sample(&set, &mut buf).unwrap();
    buf.store(0, 1_000).unwrap();
    assert_eq!(buf.get(0), Ok(1_000));
    cpc.sample(&set, &mut buf).unwrap();
    assert_eq!(buf.get(0), Ok(3));
}

#[test]
fn misuse_is_invalid() {
    let feed = feed(64, true);
    let (cpc, other) = (open(&feed), open(&feed));
    let (set, foreign) = (cpc.create_set(), other.create_set());
    assert_eq!(cpc.bind_thread(&set), invalid(Invalid::EmptySet));
    cpc.add_request(&set, Request::counting("work")).unwrap();
    cpc.add_request(&set, Request::sampling("work", 4)).unwrap();
    assert_eq!(cpc.add_request(&set, Request::counting("nothing")), invalid(Invalid::NoEvent));
    assert_eq!(cpc.add_request(&set, Request::sampling("idle", 4)), Err(CpcError::NotSupported));
    let mut buf = cpc.create_buf(&set).unwrap();
    assert_eq!(cpc.sample(&set, &mut buf), invalid(Invalid::Unbound));
    cpc.bind_thread(&set).unwrap();
    assert_eq!(cpc.bind_thread(&set), invalid(Invalid::Bound));
    assert_eq!(cpc.add_request(&set, Request::counting("work")), invalid(Invalid::Bound));
    assert_eq!(other.sample(&set, &mut buf), invalid(Invalid::ForeignSet));
    assert_eq!(cpc.add_request(&foreign, Request::counting("work")), invalid(Invalid::ForeignSet));
    let second = cpc.create_set();
    cpc.add_request(&second, Request::counting("work")).unwrap();
    assert_eq!(cpc.sample(&set, &mut cpc.create_buf(&second).unwrap()), invalid(Invalid::ForeignBuffer));

    assert_eq!(buf.get(1), invalid(Invalid::NotCounting(1)));
    assert_eq!(buf.store(1, 5), invalid(Invalid::NotCounting(1)));
    assert_eq!(buf.get(2), invalid(Invalid::NoRequest(2)));
    assert_eq!(buf.record_count(0), invalid(Invalid::NotSampling(0)));
    assert_eq!(buf.item(0, 0, Item::Pc), invalid(Invalid::NotSampling(0)));
    assert_eq!(buf.record(0, 0).map(<[u64]>::len), invalid(Invalid::NotSampling(0)));
    assert_eq!(buf.record(1, 0).map(<[u64]>::len), invalid(Invalid::NoRecord(0)));
    assert_eq!(cpc.max_record_count(&set, 1), Ok(4));
    assert_eq!(cpc.max_record_count(&set, 0), invalid(Invalid::NotSampling(0)));
    // A branch has no latency; nobody has item 99.
    feed.sample("work", &lwp_sample(&Record::new(EventId::BRANCHES, 0, 0, 0, 0x400, 0x404, 0)));
    cpc.sample(&set, &mut buf).unwrap();
    assert_eq!(buf.item(1, 0, Item::Lat), invalid(Invalid::ItemNotSupplied));
    assert_eq!(buf.item(1, 0, Item::Index(99)), invalid(Invalid::NoItem(99)));
    assert_eq!(buf.item(1, 1, Item::Pc), invalid(Invalid::NoRecord(1)));
    assert_eq!(buf.item(1, 0, Item::Index(0)), Ok(0x400));
    assert_eq!(CpcError::from(Invalid::Unbound).errno(), libc::EINVAL);
}

#[test]
fn not_opened_for_sampling() {
    let feed = feed(64, true);
    let cpc = Cpc::open(Arc::new(feed), false).unwrap();
    let set = cpc.create_set();
    assert_eq!(cpc.add_request(&set, Request::sampling("work", 4)), invalid(Invalid::NotOpenedForSampling));
    cpc.add_request(&set, Request::counting("work")).unwrap();
    let buf = cpc.create_buf(&set).unwrap();
    assert_eq!(buf.record_count(0), invalid(Invalid::NotOpenedForSampling));
    assert_eq!(cpc.max_record_count(&set, 0), invalid(Invalid::NotOpenedForSampling));
    let Ok(perf) = PerfSource::new() else { return };
    assert_eq!(Cpc::open(Arc::new(perf), true).map(|_| ()), Err(CpcError::NotSupported));
}

#[test]
fn a_buffer_that_is_too_big_is_no_memory() {
    let cpc = open(&feed(64, true));
    let set = cpc.create_set();
    cpc.add_request(&set, Request::sampling("work", usize::MAX / 64)).unwrap();
    assert_eq!(cpc.create_buf(&set).map(|_| ()), Err(CpcError::NoMemory));
    assert_eq!(CpcError::NoMemory.errno(), libc::ENOMEM);
}

#[test]
fn only_the_binding_thread_samples() {
    let feed = feed(64, true);
    let cpc = open(&feed);
    let set = cpc.create_set();
    cpc.add_request(&set, Request::counting("work")).unwrap();
    cpc.bind_thread(&set).unwrap();
    let mut buf = cpc.create_buf(&set).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(cpc.sample(&set, &mut buf), invalid(Invalid::OtherThread)));
    });
    cpc.sample(&set, &mut buf).unwrap();
}

#[test]
fn a_thread_that_left_its_cpu_is_told_so() {
    // On a thread of its own: affinity is the thread's.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let cpc = open(&feed(64, true));
            let set = cpc.create_set();
            cpc.add_request(&set, Request::counting("work")).unwrap();
            let before = affinity().unwrap();
            // SAFETY: the set is live and the index within it.
            let cpu = (0..libc::CPU_SETSIZE as usize).find(|cpu| unsafe { libc::CPU_ISSET(*cpu, &before) }).unwrap();
            assert_eq!(cpc.bind_cpu(&set, 1_000_000), invalid(Invalid::NoCpu(1_000_000)));
            cpc.bind_cpu(&set, cpu).unwrap();
            let mut buf = cpc.create_buf(&set).unwrap();
            cpc.sample(&set, &mut buf).unwrap();
            if !same(&before, &only(cpu).unwrap()) {
                assert!(set_affinity(&before));
                assert_eq!(cpc.sample(&set, &mut buf), Err(CpcError::LeftCpu));
                assert_eq!(CpcError::LeftCpu.errno(), libc::EAGAIN);
                assert!(set_affinity(&only(cpu).unwrap()));
                cpc.sample(&set, &mut buf).unwrap();
            }
            cpc.unbind(&set).unwrap();
            assert!(same(&affinity().unwrap(), &before), "unbinding gives the thread back its CPUs");
        });
    });
}

#[test]
fn arithmetic_handles_counters_and_skips_records() {
    let feed = feed(64, true);
    let cpc = open(&feed);
    let set = cpc.create_set();
    cpc.add_request(&set, Request::counting("work")).unwrap();
    cpc.add_request(&set, Request::sampling("work", 4)).unwrap();
    cpc.bind_thread(&set).unwrap();
    let [mut a, mut b, mut ds] = [0; 3].map(|_| cpc.create_buf(&set).unwrap());
    feed.count("work", 5);
    feed.clocks(10);
    cpc.sample(&set, &mut b).unwrap();
    feed.count("work", 20);
    feed.clocks(30);
    feed.sample("work", &miss(9));
    cpc.sample(&set, &mut a).unwrap();
    cpc.sub(&mut ds, &a, &b);
    assert_eq!((ds.get(0), ds.tick(), ds.hrtime(), ds.record_count(1)), (Ok(20), 30, a.hrtime(), Ok(0)));
    cpc.add(&mut ds, &a, &b);
    assert_eq!((ds.get(0), ds.tick()), (Ok(30), 50));
    cpc.copy(&mut ds, &a);
    assert_eq!((ds.get(0), ds.record_count(1)), (Ok(25), Ok(1)));
    cpc.zero(&mut ds);
    assert_eq!((ds.get(0), ds.tick(), ds.hrtime(), ds.record_count(1)), (Ok(0), 0, 0, Ok(0)));
}

#[test]
fn a_counter_of_another_width_goes_on_where_it_was() {
    for overflow_detected in [false, true] {
        let feed = feed(8, overflow_detected);
        let cpc = open(&feed);
        let set = cpc.create_set();
        cpc.add_request(&set, Request::counting("work")).unwrap();
        cpc.bind_thread(&set).unwrap();
        let mut buf = cpc.create_buf(&set).unwrap();
        let mut counted = || {
            cpc.sample(&set, &mut buf).unwrap();
            buf.get(0).unwrap()
        };
        (0..5).for_each(|_| {
            feed.count("work", 200);
            counted();
        });
        for width in [64, 16, 64, 8] {
            feed.define(FeedEvent { name: "work".into(), width, samples: true });
            assert_eq!(counted(), 1000, "{width} bits");
        }
        feed.count("work", 7);
        assert_eq!(counted(), 1007);
    }
}

#[test]
fn copies_keep_one_generation_of_records_aside() {
    let feed = feed(64, true);
    let cpc = open(&feed);
    let set = cpc.create_set();
    cpc.add_request(&set, Request::counting("work")).unwrap();
    cpc.add_request(&set, Request::sampling("work", 8)).unwrap();
    cpc.bind_thread(&set).unwrap();
    let (mut now, mut saved) = (cpc.create_buf(&set).unwrap(), cpc.create_buf(&set).unwrap());
    for _ in 0..100 {
        feed.sample("work", &miss(10));
        cpc.sample(&set, &mut now).unwrap();
        cpc.copy(&mut saved, &now);
        assert_eq!(saved.record_count(1), Ok(1));
        assert!(saved.kept_aside() <= 1, "{}", saved.kept_aside());
        cpc.zero(&mut saved);
        assert_eq!((saved.record_count(1), saved.kept_aside()), (Ok(0), 1), "what was handed out last is still there");
    }
}

#[test]
fn foreign_buffers_change_nothing_and_call_the_handler() {
    let feed = feed(64, true);
    let (cpc, other) = (open(&feed), open(&feed));
    let make = |cpc: &Cpc| {
        let set = cpc.create_set();
        cpc.add_request(&set, Request::counting("work")).unwrap();
        let mut buf = cpc.create_buf(&set).unwrap();
        buf.store(0, 7).unwrap();
        buf
    };
    let (mut mine, second, mut foreign) = (make(&cpc), make(&cpc), make(&other));
    let calls = Arc::new(Mutex::new(Vec::new()));
    let log = calls.clone();
    cpc.set_error_handler(Some(Arc::new(move |function: &str, error: CpcError| lock(&log).push((function.to_owned(), error)))));
    cpc.sub(&mut mine, &second, &foreign);
    cpc.add(&mut mine, &second, &second);
    cpc.copy(&mut mine, &second);
    cpc.zero(&mut foreign);
    let expected =
        ["cpc_buf_sub", "cpc_buf_add", "cpc_buf_copy", "cpc_buf_zero"].map(|name| (name.to_owned(), Invalid::ForeignBuffer.into()));
    assert_eq!(*lock(&calls), expected);
    assert_eq!((mine.get(0), foreign.get(0)), (Ok(7), Ok(7)));
}

proptest! {
    #[test]
    fn counts_survive_wraps(width in prop::sample::select(vec![26u32, 32, 40, 48]), steps in proptest::collection::vec((0u64..1 << 50, any::<bool>()), 1..20)) {
        let feed = feed(width, true);
        let cpc = open(&feed);
        prop_assert!(cpc.caps().contains(Caps::OVERFLOW_DETECTED));
        let set = cpc.create_set();
        cpc.add_request(&set, Request::counting("work")).unwrap();
        let mut buf = cpc.create_buf(&set).unwrap();
        cpc.bind_thread(&set).unwrap();
        let mut total = 0;
        for (occurrences, sampled) in steps {
            feed.count("work", occurrences);
            total += occurrences;
            if sampled {
                cpc.sample(&set, &mut buf).unwrap();
                prop_assert_eq!(buf.get(0), Ok(total));
            }
        }
    }

    #[test]
    fn one_wrap_between_samples_is_promised(width in prop::sample::select(vec![26u32, 32, 40, 48]), steps in proptest::collection::vec(any::<u64>(), 1..20)) {
        let feed = feed(width, false);
        let cpc = open(&feed);
        prop_assert!(!cpc.caps().contains(Caps::OVERFLOW_DETECTED));
        let set = cpc.create_set();
        cpc.add_request(&set, Request::counting("work")).unwrap();
        let mut buf = cpc.create_buf(&set).unwrap();
        cpc.bind_thread(&set).unwrap();
        let mut total = 0;
        for step in steps {
            let occurrences = step & ((1 << width) - 1);
            feed.count("work", occurrences);
            total += occurrences;
            cpc.sample(&set, &mut buf).unwrap();
            prop_assert_eq!(buf.get(0), Ok(total));
        }
    }
}

#[test]
fn threads_may_share_a_handle() {
    let feed = feed(64, true);
    let cpc = open(&feed);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let set = cpc.create_set();
                cpc.add_request(&set, Request::counting("work")).unwrap();
                let mut buf = cpc.create_buf(&set).unwrap();
                cpc.bind_thread(&set).unwrap();
                let mut before = 0;
                for _ in 0..500 {
                    feed.count("work", 1);
                    cpc.sample(&set, &mut buf).unwrap();
                    let now = buf.get(0).unwrap();
                    assert!(now > before);
                    before = now;
                }
            });
        }
    });
}

#[test]
fn events_of_a_running_instance() {
    let counts = LwpCounts::new(Box::new(NoListener));
    let source = counts.source();
    let monitor = Monitor::new(
        MonitorConfig::default(),
        Arc::new(CodeMap::new()),
        Arc::new(Profile::new(ProfileLimits::default())),
        Box::new(counts),
    );
    let ring = Ring::new(&RingConfig::default()).unwrap();
    let mut producer = ring.producer().unwrap();
    monitor.add_ring(ring).unwrap();
    let cpc = open(&source);
    let set = cpc.create_set();
    cpc.add_request(&set, Request::counting("dcache-miss")).unwrap();
    cpc.add_request(&set, Request::sampling("dcache-miss", 8)).unwrap();
    cpc.bind_thread(&set).unwrap();
    for latency in [100, 200] {
        producer.store(&Record::new(EventId::DCACHE, 0, 1 << 13 | 1 << 12, latency, 0x400, 0x7000, 0));
    }
    monitor.poll_once();
    let mut buf = cpc.create_buf(&set).unwrap();
    cpc.sample(&set, &mut buf).unwrap();
    assert_eq!((buf.get(0), buf.record_count(1)), (Ok(2), Ok(2)));
    assert_eq!(buf.item(1, 1, Item::Lat), Ok(200));
}

#[test]
fn generic_items_map_to_pebs_fields() {
    let feed = Feed::new(PEBS_ITEMS, true);
    feed.define(FeedEvent { name: "loads".into(), width: 48, samples: true });
    let cpc = open(&feed);
    let set = cpc.create_set();
    cpc.add_request(&set, Request::sampling("loads", 1)).unwrap();
    cpc.bind_thread(&set).unwrap();
    let registers = Registers::default().with(Register::Rip, 0x18407);
    let enhanced = crate::pebs::record::Enhanced { data_address: 0x91BE, latency: 6, ..Default::default() };
    feed.sample("loads", &pebs_sample(&PebsRecord { registers, enhanced: Some(enhanced) }));
    let mut buf = cpc.create_buf(&set).unwrap();
    cpc.sample(&set, &mut buf).unwrap();
    assert_eq!([Item::Pc, Item::Dlina, Item::Lat, Item::Dsrc].map(|item| buf.item(0, 0, item)), [Ok(0x18407), Ok(0x91BE), Ok(6), Ok(0)]);
    assert_eq!(buf.item(0, 0, Item::Index(2)), invalid(Invalid::ItemNotSupplied), "RAX was not saved");
}

#[test]
fn perf_counts_where_the_kernel_lets_it() {
    // Where perf_event_open is forbidden there is nothing to count, and that is what the source says.
    let perf = match PerfSource::new() {
        Ok(perf) => perf,
        Err(error) => return assert!(matches!(error, CpcError::NotSupported | CpcError::System(_))),
    };
    let cpc = Cpc::open(Arc::new(perf), false).unwrap();
    let set = cpc.create_set();
    cpc.add_request(&set, Request::counting("task-clock")).unwrap();
    cpc.add_request(&set, Request::counting("page-faults")).unwrap();
    let raw = cpc.add_request(&set, Request::counting("zen4::RETIRED_OPS"));
    let here = crate::events::Host::of_this_cpu().is_some_and(|host| host.family().name == "zen4");
    assert_eq!(raw.is_ok(), perf.has_pmu() && here);
    let set = cpc.create_set();
    cpc.add_request(&set, Request::counting("task-clock")).unwrap();
    let mut buf = cpc.create_buf(&set).unwrap();
    cpc.bind_thread(&set).unwrap();
    let mut spent = 0u64;
    while spent == 0 {
        std::hint::black_box((0..100_000u64).sum::<u64>());
        cpc.sample(&set, &mut buf).unwrap();
        spent = buf.get(0).unwrap();
    }
    assert!(buf.tick() > 0);
    assert_eq!(cpc.add_request(&cpc.create_set(), Request::counting("no-such")), invalid(Invalid::NoEvent));
}
