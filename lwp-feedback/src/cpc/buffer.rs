//! Buffers: what a sample of a set left.
//!
//! Records live until the next sample into the same buffer or its end: what `copy` or `zero` replaces is kept aside till then, or till the next of
//! them, so that the C interface can hand out pointers to it.

use super::error::{CpcError, Invalid};
use super::set::{Request, RequestKind};
use super::source::{ItemTable, SampleRecord};

/// An item of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// `SMPL_REC_ITEM_PC`: the program counter.
    Pc,
    /// `SMPL_REC_ITEM_DLINA`: the data linear address.
    Dlina,
    /// `SMPL_REC_ITEM_LAT`: the latency.
    Lat,
    /// `SMPL_REC_ITEM_DSRC`: the data source.
    Dsrc,
    /// By index in the source's table.
    Index(usize),
}

/// A buffer for one set.
#[derive(Debug)]
pub struct CounterBuf {
    cpc: u64,
    sampling: bool,
    set: u64,
    items: ItemTable,
    kinds: Vec<RequestKind>,
    counts: Vec<u64>,
    records: Vec<Vec<SampleRecord>>,
    /// What the last `copy` or `zero` replaced: of more than one, a program that only copies would fill its memory.
    aside: Vec<Vec<SampleRecord>>,
    hrtime: u64,
    tick: u64,
}

impl CounterBuf {
    pub(super) fn new(cpc: u64, sampling: bool, set: u64, items: ItemTable, requests: &[Request]) -> Result<Self, CpcError> {
        let mut records = Vec::new();
        for request in requests {
            let mut list = Vec::new();
            if let RequestKind::Sampling { max_records } = request.kind {
                list.try_reserve_exact(max_records).map_err(|_| CpcError::NoMemory)?;
            }
            records.push(list);
        }
        Ok(Self {
            cpc,
            sampling,
            set,
            items,
            kinds: requests.iter().map(|request| request.kind).collect(),
            counts: vec![0; requests.len()],
            records,
            aside: Vec::new(),
            hrtime: 0,
            tick: 0,
        })
    }

    pub(super) fn belongs(&self, cpc: u64, set: u64) -> bool {
        (self.cpc, self.set) == (cpc, set)
    }

    pub(super) fn set(&self) -> u64 {
        self.set
    }

    pub(super) fn handle(&self) -> u64 {
        self.cpc
    }

    pub(super) fn requests(&self) -> usize {
        self.kinds.len()
    }

    pub(super) fn begin_sample(&mut self, hrtime: u64, tick: u64) {
        self.aside.clear();
        self.records.iter_mut().for_each(Vec::clear);
        (self.hrtime, self.tick) = (hrtime, tick);
    }

    pub(super) fn store_count(&mut self, index: usize, value: u64) {
        self.counts[index] = value;
    }

    pub(super) fn records_mut(&mut self, index: usize) -> &mut Vec<SampleRecord> {
        &mut self.records[index]
    }

    fn counting(&self, index: usize) -> Result<(), Invalid> {
        match self.kinds.get(index) {
            None => Err(Invalid::NoRequest(index)),
            Some(RequestKind::Sampling { .. }) => Err(Invalid::NotCounting(index)),
            Some(RequestKind::Counting) => Ok(()),
        }
    }

    fn sampled(&self, index: usize) -> Result<&[SampleRecord], Invalid> {
        match self.kinds.get(index) {
            _ if !self.sampling => Err(Invalid::NotOpenedForSampling),
            None => Err(Invalid::NoRequest(index)),
            Some(RequestKind::Counting) => Err(Invalid::NotSampling(index)),
            Some(RequestKind::Sampling { .. }) => Ok(&self.records[index]),
        }
    }

    /// The last sampled value of a counting request.
    pub fn get(&self, index: usize) -> Result<u64, CpcError> {
        self.counting(index)?;
        Ok(self.counts[index])
    }

    /// Stores a value, for calculations; the next sample is not affected.
    pub fn store(&mut self, index: usize, value: u64) -> Result<(), CpcError> {
        self.counting(index)?;
        self.counts[index] = value;
        Ok(())
    }

    /// When the set was last sampled into this buffer: CLOCK_MONOTONIC, nanoseconds.
    pub fn hrtime(&self) -> u64 {
        self.hrtime
    }

    /// Core clocks from the binding to that sample, while the set was measured.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// Records of a sampling request.
    pub fn record_count(&self, index: usize) -> Result<usize, CpcError> {
        Ok(self.sampled(index)?.len())
    }

    /// The values of a record, by item index. They stay until the next sample into this buffer, or the second `copy` or `zero` of it.
    pub fn record(&self, index: usize, record: usize) -> Result<&[u64], CpcError> {
        Ok(&self.sampled(index)?.get(record).ok_or(Invalid::NoRecord(record))?.values)
    }

    /// One item of a record.
    pub fn item(&self, index: usize, record: usize, item: Item) -> Result<u64, CpcError> {
        let record = self.sampled(index)?.get(record).ok_or(Invalid::NoRecord(record))?;
        let generic = |which: usize| self.items.generic[which].ok_or(Invalid::ItemNotSupplied);
        let at = match item {
            Item::Pc => generic(0)?,
            Item::Dlina => generic(1)?,
            Item::Lat => generic(2)?,
            Item::Dsrc => generic(3)?,
            Item::Index(at) if at < self.items.names.len() => at,
            Item::Index(at) => return Err(Invalid::NoItem(at).into()),
        };
        Ok(record.item(at).ok_or(Invalid::ItemNotSupplied)?)
    }

    pub(super) fn combine(&mut self, a: &Self, b: &Self, operation: fn(u64, u64) -> u64) {
        for (index, kind) in self.kinds.iter().enumerate() {
            if *kind == RequestKind::Counting {
                self.counts[index] = operation(a.counts[index], b.counts[index]);
            }
        }
        self.hrtime = a.hrtime.max(b.hrtime);
        self.tick = operation(a.tick, b.tick);
    }

    pub(super) fn copy_from(&mut self, src: &Self) {
        self.counts.clone_from(&src.counts);
        self.put_aside();
        self.records.clone_from(&src.records);
        (self.hrtime, self.tick) = (src.hrtime, src.tick);
    }

    #[cfg(test)]
    pub(super) fn kept_aside(&self) -> usize {
        self.aside.len()
    }

    fn put_aside(&mut self) {
        self.aside.clear();
        self.aside.extend(self.records.iter_mut().map(std::mem::take).filter(|records| !records.is_empty()));
    }

    pub(super) fn zero(&mut self) {
        self.counts.fill(0);
        self.put_aside();
        (self.hrtime, self.tick) = (0, 0);
    }

    /// A copy of the counts, for arithmetic where a buffer is both operand and result.
    pub fn counts_only(&self) -> Self {
        Self {
            counts: self.counts.clone(),
            kinds: self.kinds.clone(),
            records: vec![Vec::new(); self.records.len()],
            aside: Vec::new(),
            ..*self
        }
    }
}
