//! Several LWPVAL sites in one loop: each gets its share of the records, on either source, because the counter's low bits are random; and without them it does
//! not.

use backedge::{Config, Engine, FeedbackPolicy, Linker, Module, RecordSource, Store, TierPolicy};
use lwp_feedback::layout::EventId;

/// EventInterval1: the smallest that is used where several sites are live. A trap takes microseconds, and a record needs some 32 of them.
const INTERVAL: u32 = 63;
const RECORDS: usize = 5_000;

/// Shares of `sites` LWPVALs of a loop, percent.
fn shares(source: RecordSource, sites: usize, random_bits: u8, interval: u32) -> Vec<f64> {
    let mut config = Config::new();
    config.tier(TierPolicy::Optimizing).record_source(source).feedback(FeedbackPolicy::Off).monitor_thread(false);
    let ring = &mut config.machine().ring;
    (ring.interval1, ring.random_bits, ring.buffer_bytes) = (interval, random_bits, 1 << 20);
    let engine = Engine::new(&config).unwrap();
    let calls: String = (0..sites).map(|site| format!("(call $value (local.get $n) (i32.const {site}) (i32.const 1))")).collect();
    let text = format!(
        r#"(module (import "lwp" "lwpval32" (func $value (param i32 i32 i32)))
            (func (export "run") (param $n i32) (loop $again {calls}
                (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))"#
    );
    let module = Module::new(&engine, text).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Linker::new(&engine).instantiate(&mut store, &module).unwrap();
    let per_record = if random_bits == 0 { interval + 1 } else { 1 << (random_bits - 1) };
    let rounds = RECORDS * per_record as usize / sites;
    instance.get_typed_func::<i32, ()>(&mut store, "run").unwrap().call(&mut store, rounds as i32).unwrap();
    let ring = engine.vm().thread_ring().unwrap();
    assert_eq!(ring.missed(), 0);
    let mut counts = vec![0usize; sites];
    ring.consumer().unwrap().drain(usize::MAX, |record| {
        assert_eq!(record.event_id(), EventId::VALUE);
        counts[record.data1() as usize] += 1;
    });
    let all: usize = counts.iter().sum();
    assert!(all > RECORDS * 4 / 5, "{all}");
    counts.into_iter().map(|count| count as f64 * 100.0 / all as f64).collect()
}

/// Whether each site has its share within two points.
fn fair(shares: &[f64]) -> bool {
    shares.iter().all(|share| (share - 100.0 / shares.len() as f64).abs() <= 2.0)
}

#[test]
fn each_of_several_sites_gets_its_share_of_the_records() {
    for source in [RecordSource::Inline, RecordSource::Trap] {
        for sites in [4, 8, 10] {
            let shares = shares(source, sites, 6, INTERVAL);
            assert!(fair(&shares), "{source:?}: {shares:?}");
        }
    }
}

#[test]
fn without_random_bits_the_same_is_not_so() {
    for source in [RecordSource::Inline, RecordSource::Trap] {
        for sites in [4, 8, 10] {
            let shares = shares(source, sites, 0, INTERVAL);
            assert!(!fair(&shares), "{source:?}: {shares:?}");
        }
    }
}
