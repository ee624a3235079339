use super::*;
use crate::class::SiteClass;
use std::sync::atomic::AtomicUsize;

fn small(deferred: bool) -> RingConfig {
    RingConfig {
        buffer_bytes: 1024,
        interval1: 0,
        random_bits: 0,
        threshold_bytes: 512,
        core_id: Some(3),
        deferred,
        ..RingConfig::default()
    }
}

fn drain_all(consumer: &mut RingConsumer) -> Vec<Record> {
    let mut records = Vec::new();
    consumer.drain(usize::MAX, |record| records.push(*record));
    records
}

#[test]
fn every_kth_value_is_recorded() {
    let ring = Ring::new(&RingConfig { interval1: 9, ..small(false) }).unwrap();
    ring.control().events[0].counter.store(0, Ordering::Relaxed);
    let (mut producer, mut consumer) = (ring.producer().unwrap(), ring.consumer().unwrap());
    for i in 0..62 {
        producer.value(0x1000, SiteClass::Param.imm16(0), i, u64::from(i) << 32);
    }
    let seen: Vec<u32> = drain_all(&mut consumer).iter().map(Record::data1).collect();
    assert_eq!(seen, [0, 10, 20, 30, 40, 50, 60]);
}

#[test]
fn what_is_counted_beside_the_lwpcb_counts() {
    let ring = Ring::new(&RingConfig { interval1: 9, counter1: Some(5), ..small(false) }).unwrap();
    let (mut producer, mut consumer) = (ring.producer().unwrap(), ring.consumer().unwrap());
    // SAFETY: the LWPCB of a ring that lives, and this thread produces into it.
    let (counter, take_off) =
        (|| unsafe { value_counter(ring.lwpcb()) }, |counted| unsafe { take_off_value_counter(ring.lwpcb(), counted) });
    assert_eq!(counter(), 5);
    take_off(3);
    assert_eq!(counter(), 2);
    for i in 0..3 {
        producer.value(0x1000, SiteClass::Param.imm16(0), i, 0);
    }
    assert_eq!((drain_all(&mut consumer)[0].data1(), counter()), (2, 9), "two more went by, the third left the record");
    take_off(100);
    assert_eq!(counter(), 0, "a record is due at the next, and none is made here");
    take_off(0);
    producer.value(0x1000, SiteClass::Param.imm16(0), 7, 0);
    assert_eq!(drain_all(&mut consumer)[0].data1(), 7);
}

#[test]
fn a_full_ring_counts_and_never_publishes_the_missed() {
    for deferred in [false, true] {
        let ring = Ring::new(&small(deferred)).unwrap();
        let (mut producer, mut consumer) = (ring.producer().unwrap(), ring.consumer().unwrap());
        let full: Vec<bool> = (0..40).map(|i| producer.programmed(1, 0, i, 0)).collect();
        assert_eq!(full.iter().filter(|&&cf| cf).count(), 9, "31 of 32 slots are visible");
        assert_eq!(ring.missed(), 9);
        let seen: Vec<u32> = drain_all(&mut consumer).iter().map(Record::data1).collect();
        assert_eq!(seen, (0..31).collect::<Vec<_>>());
        assert!(!producer.programmed(1, 0, 99, 0));
        ring.flush();
        assert_eq!(drain_all(&mut consumer)[0].data1(), 99);
        assert_eq!(ring.produced(), 41);
    }
}

#[test]
fn deferred_head_stays_private_until_flush() {
    let ring = Ring::new(&RingConfig { wake_on_hot: false, ..small(true) }).unwrap();
    let (mut producer, mut consumer) = (ring.producer().unwrap(), ring.consumer().unwrap());
    producer.programmed(1, 0, 7, 0);
    assert!(consumer.is_empty());
    ring.request_flush(1);
    assert!(ring.flush_wanted());
    ring.flush();
    assert!(!ring.flush_wanted());
    assert_eq!(drain_all(&mut consumer).len(), 1);
}

#[test]
fn the_threshold_wakes_once_until_drained_below_it() {
    struct Count(AtomicUsize);
    impl RingWaker for Count {
        fn wake(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let ring = Ring::new(&small(false)).unwrap();
    let count = Arc::new(Count(AtomicUsize::new(0)));
    ring.set_waker(Some(count.clone()));
    let (mut producer, mut consumer) = (ring.producer().unwrap(), ring.consumer().unwrap());
    for _ in 0..31 {
        producer.programmed(1, 0, 0, 0);
    }
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    drain_all(&mut consumer);
    for _ in 0..31 {
        producer.programmed(1, 0, 0, 0);
    }
    assert_eq!(count.0.load(Ordering::Relaxed), 2);
    drain_all(&mut consumer);
    producer.programmed(1, SiteClass::HotLoop.imm16(0), 0, 0);
    assert_eq!(count.0.load(Ordering::Relaxed), 3, "a hot loop does not wait for the threshold");
}

#[test]
fn a_crossing_during_a_drain_is_drained_too() {
    struct Count(AtomicUsize);
    impl RingWaker for Count {
        fn wake(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let ring = Ring::new(&RingConfig { threshold_bytes: 8 * 32, ..small(false) }).unwrap();
    let count = Arc::new(Count(AtomicUsize::new(0)));
    ring.set_waker(Some(count.clone()));
    let (mut producer, mut consumer) = (ring.producer().unwrap(), ring.consumer().unwrap());
    let mut store = |records: u32| (0..records).for_each(|i| _ = producer.programmed(1, 0, i, 0));
    store(8);
    let mut drain = |max, meanwhile: u32, store: &mut dyn FnMut(u32)| {
        let mut seen = 0;
        consumer.drain(max, |_| {
            if seen == 0 {
                store(meanwhile);
            }
            seen += 1;
        })
    };
    assert_eq!(drain(usize::MAX, 8, &mut store), 16, "the second eight reached the threshold unannounced");
    assert_eq!((count.0.load(Ordering::Relaxed), ring.used_bytes()), (1, 0));
    store(8);
    assert_eq!(count.0.load(Ordering::Relaxed), 2, "armed again");
    assert_eq!(drain(10, 10, &mut store), 10, "not more than was asked for");
    assert_eq!(drain(usize::MAX, 0, &mut store), 8);
    store(8);
    assert_eq!(count.0.load(Ordering::Relaxed), 3);
}

#[test]
fn an_empty_drain_arms_for_the_next_crossing() {
    let ring = Ring::new(&RingConfig { threshold_bytes: 8 * 32, wake_on_hot: false, ..small(false) }).unwrap();
    let (mut producer, mut consumer) = (ring.producer().unwrap(), ring.consumer().unwrap());
    // A drain took the records of a crossing before its producer had looked whether it was to be announced; woken by it, the consumer finds nothing.
    ring.core().side.armed.store(false, Ordering::Relaxed);
    assert_eq!(drain_all(&mut consumer).len(), 0);
    assert!(ring.core().side.armed.load(Ordering::Relaxed));
    // A head that is none of the ring's.
    producer.programmed(1, 0, 0, 0);
    ring.core().side.armed.store(false, Ordering::Relaxed);
    ring.control().buffer_head_offset.store(1001, Ordering::Relaxed);
    assert_eq!(drain_all(&mut consumer).len(), 0);
}

#[test]
fn tail_out_of_range() {
    for deferred in [false, true] {
        for bad in [1, 1023, 128 * 32, 5000, 0xffff_fff1, u32::MAX] {
            let ring = Ring::new(&RingConfig { buffer_bytes: 128 * 32, wake_on_hot: false, ..small(deferred) }).unwrap();
            let (mut producer, mut consumer) = (ring.producer().unwrap(), ring.consumer().unwrap());
            let mut drained = 0;
            for round in 0..4 {
                for _ in 0..20 {
                    producer.programmed(1, 0, 0, 0);
                }
                ring.control().buffer_tail_offset.store(bad, Ordering::Relaxed);
                for _ in 0..1000 {
                    producer.programmed(1, 0, 0, 0);
                }
                ring.flush();
                if round % 2 == 1 {
                    ring.control().buffer_head_offset.store(bad, Ordering::Relaxed);
                    assert_eq!(drain_all(&mut consumer).len(), 0, "a head out of range yields nothing, and puts the tail right");
                    ring.flush();
                }
                drained += drain_all(&mut consumer).len() as u64;
                assert_eq!(drained + ring.missed(), ring.produced(), "tail {bad:#x}");
                assert!(ring.missed() >= 900, "{} missed", ring.missed());
                assert!(
                    protocol::is_offset(ring.control().buffer_tail_offset.load(Ordering::Relaxed), 128 * 32),
                    "the consumer repaired it"
                );
            }
            // With the tail right again nothing is lost any more.
            let missed = ring.missed();
            producer.programmed(1, 0, 77, 0);
            ring.flush();
            assert_eq!((drain_all(&mut consumer)[0].data1(), ring.missed()), (77, missed));
        }
    }
}

#[test]
fn an_empty_drain_repairs_the_tail() {
    let ring = Ring::new(&small(false)).unwrap();
    let (mut producer, mut consumer) = (ring.producer().unwrap(), ring.consumer().unwrap());
    ring.control().buffer_tail_offset.store(0xffff_fff1, Ordering::Relaxed);
    assert!(producer.programmed(1, 0, 1, 0), "nothing says which slots are free");
    assert_eq!((drain_all(&mut consumer).len(), ring.missed()), (0, 1));
    assert!(!producer.programmed(1, 0, 2, 0));
    assert_eq!(drain_all(&mut consumer)[0].data1(), 2);
}

#[test]
fn a_ring_may_start_anywhere_and_with_any_counter() {
    let config = RingConfig { interval1: 9, counter1: Some(0), start_bytes: 1024 - 96 + 7, wake_on_hot: false, ..small(true) };
    let ring = Ring::new(&config).unwrap();
    let (mut producer, mut consumer) = (ring.producer().unwrap(), ring.consumer().unwrap());
    for i in 0..41 {
        producer.value(1, 0, i, 0);
    }
    ring.flush();
    assert_eq!(ring.control().buffer_head_offset.load(Ordering::Relaxed), 64, "slots 29, 30, 31, 0 and 1");
    assert_eq!(drain_all(&mut consumer).iter().map(Record::data1).collect::<Vec<_>>(), [0, 10, 20, 30, 40]);
    assert!(Ring::new(&RingConfig { counter1: Some(1 << 25), ..small(false) }).is_err());
}

#[test]
fn generated_codes_stubs_reach_the_ring() {
    let ring = Ring::new(&small(false)).unwrap();
    let mut consumer = ring.consumer().unwrap();
    // SAFETY: the ring is alive and this thread is its only producer.
    unsafe { store_value_sample(ring.lwpcb(), 0x40, 0xABCD_0002, 5, 6) };
    // SAFETY: as above.
    let carry = unsafe { store_programmed(ring.lwpcb(), 0x44, 0x83, 7, 8) };
    assert_eq!(carry, 0);
    let records = drain_all(&mut consumer);
    assert_eq!((records[0].event_id(), records[0].flags(), records[0].core_id()), (EventId::VALUE, 2, 3));
    assert_eq!((records[1].event_id(), records[1].address(), records[1].data2()), (EventId::PROGRAMMED, 0x44, 8));
    assert!(records[0].tsc() != 0);
}

#[test]
fn two_threads_lose_nothing_unaccounted() {
    for deferred in [false, true] {
        let ring = Ring::new(&RingConfig { buffer_bytes: 4096, ..small(deferred) }).unwrap();
        let mut producer = ring.producer().unwrap();
        let mut consumer = ring.consumer().unwrap();
        let mut drained = 0u64;
        let mut last = None;
        std::thread::scope(|scope| {
            let handle = scope.spawn(move || {
                for i in 0..200_000u64 {
                    producer.store(&Record::new(EventId::VALUE, 0, 0, i as u32, i, !i, i));
                }
            });
            loop {
                let finished = handle.is_finished();
                let count = consumer.drain(usize::MAX, |record| {
                    assert_eq!((record.data2(), record.data1()), (!record.address(), record.address() as u32), "torn record");
                    assert!(last.is_none_or(|last| record.address() > last), "out of order");
                    last = Some(record.address());
                });
                drained += count as u64;
                if finished && count == 0 {
                    break;
                }
            }
        });
        assert_eq!(drained + ring.missed(), 200_000);
    }
}

#[test]
fn sizes_out_of_range_are_errors() {
    assert!(Ring::new(&RingConfig { buffer_bytes: 1023, ..RingConfig::default() }).is_err());
    assert!(Ring::new(&RingConfig { interval1: 1 << 25, ..RingConfig::default() }).is_err());
    assert!(Ring::new(&RingConfig { random_bits: 16, ..RingConfig::default() }).is_err());
}

#[test]
fn blocks_longer_than_the_interval_lose_no_record() {
    for block in [1u32, 5, 25, 100, 10_000] {
        let config = RingConfig { interval2: 9, random_bits: 0, buffer_bytes: 1 << 20, flags: Flags::IRE, ..RingConfig::default() };
        let ring = Ring::new(&config).unwrap();
        // SAFETY: the ring is alive and this thread is its only producer.
        (0..10_000 / block).for_each(|_| unsafe { count_instructions(ring.lwpcb(), block, 0x10) });
        assert_eq!((ring.produced(), ring.missed(), ring.used_bytes()), (1000, 0, 1000 * 32), "blocks of {block}");
    }
    // More at once than EventCounter2 or the ring can hold.
    for (interval2, due) in [((1 << 20) - 1, 64), (0, 1 << 26), (2, (1 << 26) / 3)] {
        let ring =
            Ring::new(&RingConfig { interval2, random_bits: 0, buffer_bytes: 1024, flags: Flags::IRE, ..RingConfig::default() }).unwrap();
        // SAFETY: as above.
        unsafe { count_instructions(ring.lwpcb(), 1 << 26, 0x10) };
        assert_eq!((ring.produced(), ring.missed()), (due, due - 31));
        let left = ring.control().events[1].counter.load(Ordering::Relaxed);
        assert_eq!(u64::from(left), u64::from(interval2) - (1 << 26) % (u64::from(interval2) + 1), "of the next record");
    }
}

#[test]
fn a_changed_interval_is_said_however_values_are_counted() {
    for interpreted in [false, true] {
        let ring =
            Ring::new(&RingConfig { interval1: 7, adapts: true, wake_on_hot: false, buffer_bytes: 1 << 16, ..small(false) }).unwrap();
        let mut consumer = ring.consumer().unwrap();
        ring.adapt_interval1(true, false);
        for i in 0..100 {
            let imm16 = SiteClass::Param.imm16(0).into();
            // SAFETY: the ring is alive and this thread is its only producer.
            unsafe {
                if interpreted {
                    count_value(ring.lwpcb(), 0x10, imm16, 0, i);
                } else {
                    store_value_sample(ring.lwpcb(), 0x10, imm16, 0, i);
                }
            }
        }
        let said: Vec<Record> = drain_all(&mut consumer).into_iter().filter(|it| it.event_id() == EventId::PROGRAMMED).collect();
        assert_eq!(said.iter().map(|it| (it.data1(), it.data2())).collect::<Vec<_>>(), [(7, 15)], "{interpreted}");
    }
}

#[test]
fn a_continuous_ring_counts_what_it_overwrites() {
    let ring = Ring::new(&RingConfig { flags: Flags::CONT, wake_on_hot: false, ..small(false) }).unwrap();
    let (mut producer, mut consumer) = (ring.producer().unwrap(), ring.consumer().unwrap());
    for (stored, drained, missed) in [(37, 5, 32), (31, 31, 32), (32, 0, 64), (70, 6, 128)] {
        (0..stored).for_each(|i| _ = producer.programmed(1, 0, i, 0));
        assert_eq!((drain_all(&mut consumer).len(), ring.missed()), (drained, missed));
    }
    assert_eq!(ring.produced(), 42 + ring.missed());
}
