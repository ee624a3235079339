use super::*;
use crate::class::SiteClass;
use crate::codemap::CodeMap;
use crate::cpc::LwpCounts;
use crate::monitor::{Haste, Hot, Listener, Monitor, MonitorConfig, NoListener, PollSummary};
use crate::policy::{Budgets, plan};
use crate::profile::{FunctionFacts, Profile};
use crate::ring::{Ring, RingConfig, RingProducer};
use std::sync::Mutex;

const MODULE: u64 = 42;

fn entry(func: u32, version: u32) -> CodeEntry {
    let function = FunctionId { module: MODULE, func };
    let inlined: Arc<[InlinedRange]> = Arc::from([InlinedRange { start: 0x80, end: 0x90, func: 77 }]);
    CodeEntry::new(function, version, Tier::Baseline, Arc::from([(0, 10), (0x40, 20)])).with_inlined(inlined.into())
}

/// A live run of two rings with code that is replaced, recorded; returns the file, and the profile's snapshot as JSON.
fn recorded() -> (Vec<u8>, String) {
    let code = Arc::new(CodeMap::new());
    let profile = Arc::new(Profile::default());
    let recorder = Recorder::new(Vec::new(), "test run", code.clone(), Box::new(NoListener)).unwrap();
    let handle = recorder.handle();
    let monitor = Monitor::new(MonitorConfig::default(), code.clone(), profile.clone(), Box::new(recorder));
    let config = RingConfig { interval1: 0, random_bits: 0, ..RingConfig::default() };
    let rings = [Ring::new(&config).unwrap(), Ring::new(&config).unwrap()];
    let mut producers = rings.each_ref().map(|ring| {
        monitor.add_ring(ring.clone()).unwrap();
        ring.producer().unwrap()
    });
    code.insert(0x1000..0x1100, entry(1, 1)).unwrap();
    code.insert(0x2000..0x2100, entry(2, 1).with_return_addresses()).unwrap();
    for round in 0..20u64 {
        for i in 0..100 {
            producers[0].value(0x1044, SiteClass::CallTarget.imm16(0), 0, if i % 20 == 0 { 6 } else { 5 });
            producers[1].value(0x2100, SiteClass::Param.imm16(3), 0, round);
            producers[1].value(0x9999, SiteClass::Param.imm16(3), 0, round);
            producers[0].store(&Record::new(EventId(200), 0, 1, 2, 0x1000, 3, 4));
        }
        monitor.poll_once();
        if round == 15 {
            code.retire(0x2000..0x2100).unwrap();
            monitor.poll_once();
        }
        if round == 10 {
            let cookie = code.retire(0x1000..0x1100).unwrap();
            monitor.poll_once();
            assert!(code.is_released(cookie));
            code.insert(0x1040..0x1140, entry(3, 2)).unwrap();
        }
    }
    let stats = monitor.stats();
    assert_eq!((stats.records, stats.unresolved), (8000, 3300));
    let file = handle.finish().unwrap();
    assert!(handle.finish().is_err());
    (file, serde_json::to_string(&profile.snapshot(MODULE)).unwrap())
}

#[test]
fn replay_gives_the_same_profile_and_plans_byte_for_byte() {
    let (file, live) = recorded();
    let replayed = |file: &[u8]| {
        let profile = Arc::new(Profile::default());
        let summary = replay(file, profile.clone(), Box::new(NoListener)).unwrap();
        assert!(summary.error.is_none());
        assert_eq!((summary.records, summary.monitor.records, summary.monitor.unresolved), (8000, 8000, 3300));
        profile.snapshot(MODULE)
    };
    let mut first = replayed(&file);
    assert_eq!(serde_json::to_string(&first).unwrap(), live);
    first.facts = vec![FunctionFacts { func: 5, body_bytes: 10, inlinable: true, reason: None, inlined_anyway: false }];
    let mut second = replayed(&file);
    second.facts = first.facts.clone();
    let plans = |snapshot| serde_json::to_string(&plan(snapshot, &Budgets::default())).unwrap();
    assert_eq!(plans(&first), plans(&second));
    assert!(plans(&first).contains("\"callee\":5"));
}

#[test]
fn truncation_and_damage_name_the_offset_and_keep_what_came_before() {
    let (file, _) = recorded();
    let whole: Vec<Chunk> = RecordReader::new(&file[..]).unwrap().collect::<Result<_, _>>().unwrap();
    let mut cuts_seen = 0;
    for cut in (12..file.len()).step_by(997) {
        let mut reader = RecordReader::new(&file[..cut]).unwrap();
        let mut chunks = Vec::new();
        let error = loop {
            match reader.next().expect("a cut file ends in an error") {
                Ok(chunk) => chunks.push(chunk),
                Err(error) => break error,
            }
        };
        assert!(reader.next().is_none());
        assert_eq!(chunks, whole[..chunks.len()]);
        let RecordFileError::Truncated { offset, records } = error else { panic!("{error}") };
        assert!(offset <= cut as u64 && records == reader.records());
        cuts_seen += 1;
    }
    assert!(cuts_seen > 50);

    // Two files in one, or junk behind one: all of the first is read, and the rest is not passed over.
    for behind in [&file[..], b"\0"] {
        let both = [&file[..], behind].concat();
        let mut chunks: Vec<_> = RecordReader::new(&both[..]).unwrap().collect();
        let error = chunks.pop().unwrap().unwrap_err();
        assert!(matches!(error, RecordFileError::Damaged { offset, what: BEHIND, .. } if offset == file.len() as u64), "{error}");
        assert_eq!(chunks.into_iter().collect::<Result<Vec<_>, _>>().unwrap(), whole);
    }

    let mut damaged = file.clone();
    let middle = file.len() / 2;
    damaged[middle] ^= 1;
    let error = RecordReader::new(&damaged[..]).unwrap().find_map(Result::err).unwrap();
    let RecordFileError::Damaged { offset, what: "checksum", records, behind } = error else { panic!("{error}") };
    assert!(offset < middle as u64 && records > 0);
    // All but those of the damaged chunk are accounted for, and no more than one chunk's are lost.
    let lost = 8000 - records - behind.unwrap();
    assert!(lost <= CHUNK_RECORDS as u64, "{records} before, {behind:?} behind");

    let profile = Arc::new(Profile::default());
    let summary = replay(&damaged[..], profile.clone(), Box::new(NoListener)).unwrap();
    assert_eq!(summary.records, records);
    assert!(summary.error.is_some() && !profile.snapshot(MODULE).functions.is_empty());
}

#[test]
fn damage_says_what_it_costs() {
    let records: Vec<Record> = (0..1000).map(|i| Record::new(EventId::VALUE, 0, 0, i, 0x1000, 0, 0)).collect();
    let mut writer = RecordWriter::new(Vec::new()).unwrap();
    writer.write(&Chunk::Note("one poll".into())).unwrap();
    writer.write(&Chunk::Records { ring: 3, records: records.clone() }).unwrap();
    writer.write(&Chunk::Missed { ring: 3, count: 5 }).unwrap();
    writer.write(&Chunk::Records { ring: 4, records: records[..10].to_vec() }).unwrap();
    let file = writer.finish().unwrap();
    let read = |file: &[u8]| {
        let (mut data, mut error) = (Vec::new(), None);
        for chunk in RecordReader::new(file).unwrap() {
            match chunk {
                Ok(Chunk::Records { records, .. }) => data.extend(records.iter().map(Record::data1)),
                Ok(_) => {}
                Err(damage) => error = Some(damage),
            }
        }
        (data, error)
    };
    assert_eq!((read(&file).0.len(), read(&file).1.is_none()), (1010, true));
    let note = 12 + 9 + 8;
    let chunk = 9 + 8 + 32 * CHUNK_RECORDS;
    // Byte 500 of the fourth chunk of records: the three before it are there, and all behind it is counted.
    let mut damaged = file.clone();
    damaged[note + 3 * chunk + 500] ^= 0x10;
    let (data, error) = read(&damaged);
    assert_eq!(data, (0..96).collect::<Vec<_>>());
    let offset = note + 3 * chunk;
    let text =
        format!("offset {offset}: damaged chunk: checksum (after 96 readable records); 882 records in whole chunks behind it are not read");
    assert_eq!(error.unwrap().to_string(), text);
    // The length: nothing says where the next chunk is.
    let mut damaged = file.clone();
    damaged[note + 4] = 0xFF;
    let (data, error) = read(&damaged);
    assert_eq!(data.len(), 0);
    let text = format!("offset {note}: damaged chunk: length (after 0 readable records); what is behind it cannot be found");
    assert_eq!(error.unwrap().to_string(), text);
    // The last chunk's: nothing is behind it but the end.
    let mut damaged = file.clone();
    let last = file.len() - 17 - 20;
    damaged[last] ^= 1;
    let (data, error) = read(&damaged);
    assert_eq!(data.len(), 1000);
    assert!(error.unwrap().to_string().ends_with("damaged chunk: checksum (after 1000 readable records)"));
}

#[test]
fn other_files_are_refused() {
    assert!(matches!(RecordReader::new(&b"\0asm\x01\0\0\0"[..]), Err(RecordFileError::NotARecordFile)));
    assert!(matches!(RecordReader::new(&b""[..]), Err(RecordFileError::NotARecordFile)));
    assert!(matches!(RecordReader::new(&b"LWPRING\n\x09\0\0\0"[..]), Err(RecordFileError::Version { found: 9 })));
}

#[test]
fn random_bytes_never_panic() {
    let (file, _) = recorded();
    let mut x = 0x1357_9bdf_2468_ace1u64;
    for _ in 0..300 {
        let mut bytes = file[..2000].to_vec();
        for _ in 0..4 {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            let at = 12 + x as usize % (bytes.len() - 12);
            bytes[at] = (x >> 32) as u8;
        }
        let mut text = Vec::new();
        decode(&bytes[..], &[], &mut text).unwrap_err();
        replay(&bytes[..], Arc::new(Profile::default()), Box::new(NoListener)).unwrap();
    }
}

#[test]
fn unknown_ids_survive_and_decode_drops_events() {
    let (file, _) = recorded();
    let mut text = Vec::new();
    decode(&file[..], &[EventId::VALUE], &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("# test run\n# code 0x1000..0x1100: function 0000002a:1 version 1 Baseline\n"), "{}", &text[..100]);
    assert_eq!(text.matches("event-200").count(), 2000);
    assert!(!text.contains("lwpval"));
}

#[test]
fn what_a_ring_missed_is_recorded() {
    let code = Arc::new(CodeMap::new());
    let recorder = Recorder::new(Vec::new(), "full ring", code.clone(), Box::new(NoListener)).unwrap();
    let handle = recorder.handle();
    let monitor = Monitor::new(MonitorConfig::default(), code, Arc::new(Profile::default()), Box::new(recorder));
    let ring = Ring::new(&RingConfig::default()).unwrap();
    monitor.add_ring(ring.clone()).unwrap();
    let mut producer = ring.producer().unwrap();
    for _ in 0..10_000 {
        producer.store(&Record::new(EventId::VALUE, 0, 0, 0, 0x1000, 0, 0));
    }
    while monitor.poll_once().more {}
    let missed = monitor.stats().missed;
    assert!(missed > 0 && missed + monitor.stats().records == 10_000);
    let file = handle.finish().unwrap();
    let summary = replay(&file[..], Arc::new(Profile::default()), Box::new(NoListener)).unwrap();
    assert_eq!((summary.missed_when_recorded, summary.records), (missed, 10_000 - missed));
}

/// A function's first byte just behind another function is its own, for a recorder and for a reader.
#[test]
fn adjacent_code_is_told_apart() {
    for (first_returns, second_returns) in [(false, false), (true, false), (false, true), (true, true)] {
        let code = Arc::new(CodeMap::new());
        let of = |func, returns| if returns { entry(func, 1).with_return_addresses() } else { entry(func, 1) };
        code.insert(0x1000..0x1040, of(1, first_returns)).unwrap();
        code.insert(0x1040..0x1080, of(2, second_returns)).unwrap();
        let recorder = Recorder::new(Vec::new(), "", code.clone(), Box::new(NoListener)).unwrap();
        let handle = recorder.handle();
        let live = Arc::new(Profile::default());
        let monitor = Monitor::new(MonitorConfig::default(), code.clone(), live.clone(), Box::new(recorder));
        let ring = Ring::new(&RingConfig::default()).unwrap();
        monitor.add_ring(ring.clone()).unwrap();
        let mut producer = ring.producer().unwrap();
        let store = |producer: &mut RingProducer, addresses: &[u64]| {
            for &address in addresses {
                producer.programmed(address, SiteClass::Param.imm16(0), 0, 7);
            }
            monitor.poll_once();
        };
        store(&mut producer, &[0x1010, 0x1040, 0x1041, 0x1080]);
        // The second goes, and what only it could mean with it; the first stays.
        code.retire(0x1040..0x1080).unwrap();
        code.release(code.retire_epoch());
        store(&mut producer, &[0x1041, 0x1080, 0x1040, 0x1010]);
        let file = handle.finish().unwrap();
        let again = Arc::new(Profile::default());
        let summary = replay(&file[..], again.clone(), Box::new(NoListener)).unwrap();
        assert_eq!(again.snapshot(MODULE), live.snapshot(MODULE), "{first_returns} {second_returns}");
        assert_eq!(summary.monitor.unresolved, monitor.stats().unresolved);
    }
}

#[test]
fn what_a_recorder_wraps_gets_every_call() {
    #[derive(Clone, Default)]
    struct Calls(Arc<Mutex<Vec<&'static str>>>);
    impl Calls {
        fn note(&self, call: &'static str) {
            self.0.lock().unwrap().push(call);
        }
    }
    impl Listener for Calls {
        fn hot(&mut self, _event: &Hot) {
            self.note("hot");
        }
        fn polled(&mut self, _summary: &PollSummary) {
            self.note("polled");
        }
        fn tick(&mut self, _summary: &PollSummary) {
            self.note("tick");
        }
        fn haste(&self) -> Haste {
            self.note("haste");
            Haste::None
        }
    }
    let code = Arc::new(CodeMap::new());
    code.insert(0x1000..0x1040, entry(1, 1)).unwrap();
    for counts in [false, true] {
        let calls = Calls::default();
        let mut listener: Box<dyn Listener> = Box::new(Recorder::new(Vec::new(), "", code.clone(), Box::new(calls.clone())).unwrap());
        if counts {
            listener = Box::new(LwpCounts::new(Box::new(calls.clone())));
        }
        let monitor = Monitor::new(MonitorConfig { poll_share: 1e-6, ..MonitorConfig::default() }, code.clone(), Arc::default(), listener);
        let ring = Ring::new(&RingConfig::default()).unwrap();
        monitor.add_ring(ring.clone()).unwrap();
        ring.producer().unwrap().programmed(0x1010, SiteClass::HotFunction.imm16(0), 0, 7);
        monitor.poll_once();
        let seen = calls.0.lock().unwrap();
        assert!(["hot", "polled", "tick", "haste"].iter().all(|call| seen.contains(call)), "{seen:?}");
    }
}
