//! The bytes of one record of the kernel's.
//!
//! A sample holds the fields that its event asked for, in a fixed order (`perf_event_open(2)`, PERF_RECORD_SAMPLE): ip, pid and tid, time, address, cpu, raw
//! data, weight, data source (others are never asked for here).

use perf_event_open_sys::bindings::{
    PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES, PERF_RECORD_SAMPLE, PERF_SAMPLE_ADDR, PERF_SAMPLE_CPU, PERF_SAMPLE_DATA_SRC,
    PERF_SAMPLE_IP, PERF_SAMPLE_RAW, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_WEIGHT,
};

/// A sample. Fields that were not asked for are 0 or empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample<'a> {
    pub(super) ip: u64,
    pub(super) tid: u32,
    pub(super) time: u64,
    pub(super) address: u64,
    pub(super) cpu: u32,
    pub(super) raw: &'a [u8],
    pub(super) weight: u64,
    pub(super) data_source: u64,
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parsed<'a> {
    Sample(Sample<'a>),
    /// So many samples were lost.
    Lost(u64),
    /// Shorter than what it should hold.
    Damaged,
    /// Something else: mmap, throttling.
    Other,
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes)
    }
}

pub(super) fn parse(kind: u32, _misc: u16, body: &[u8], fields: u64) -> Parsed<'_> {
    let mut reader = Reader(body);
    match kind {
        PERF_RECORD_SAMPLE => sample(&mut reader, fields).map_or(Parsed::Damaged, Parsed::Sample),
        // {id, lost}.
        PERF_RECORD_LOST => reader.u64().and_then(|_id| reader.u64()).map_or(Parsed::Damaged, Parsed::Lost),
        PERF_RECORD_LOST_SAMPLES => reader.u64().map_or(Parsed::Damaged, Parsed::Lost),
        u32::MAX => Parsed::Damaged,
        _ => Parsed::Other,
    }
}

fn sample<'a>(reader: &mut Reader<'a>, fields: u64) -> Option<Sample<'a>> {
    let mut sample = Sample::default();
    let has = |field: u32| fields & u64::from(field) != 0;
    if has(PERF_SAMPLE_IP) {
        sample.ip = reader.u64()?;
    }
    if has(PERF_SAMPLE_TID) {
        reader.u32()?;
        sample.tid = reader.u32()?;
    }
    if has(PERF_SAMPLE_TIME) {
        sample.time = reader.u64()?;
    }
    if has(PERF_SAMPLE_ADDR) {
        sample.address = reader.u64()?;
    }
    if has(PERF_SAMPLE_CPU) {
        sample.cpu = reader.u32()?;
        reader.u32()?;
    }
    if has(PERF_SAMPLE_RAW) {
        let length = reader.u32()?;
        sample.raw = reader.take(length as usize)?;
    }
    if has(PERF_SAMPLE_WEIGHT) {
        sample.weight = reader.u64()?;
    }
    if has(PERF_SAMPLE_DATA_SRC) {
        sample.data_source = reader.u64()?;
    }
    Some(sample)
}
