//! What stands behind a set: counters of some width that may or may not tell when they wrap, and samples.

use super::error::CpcError;
use super::set::Request;

bitflags::bitflags! {
    /// What a source can do (`cpc_caps`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Caps: u32 {
        /// `CPC_CAP_OVERFLOW_INTERRUPT`: every counter tells of its overflows, so counts survive any number of wraps. When clear a set must be
        /// sampled at least once for each wrap of its narrowest counter.
        const OVERFLOW_DETECTED = 1;
        /// `CPC_CAP_OVERFLOW_SMPL`: sampling requests.
        const SAMPLING = 4;
        /// The tick is thread CPU time at the rate of the time stamp counter: the processor offers no count of core clocks.
        const TICK_ESTIMATED = 0x100;
    }
}

/// What a set measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The calling thread.
    Thread,
    /// A CPU.
    Cpu(usize),
}

/// What a physical counter shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Its bits.
    pub raw: u64,
    /// How many bits it has, 1 to 64.
    pub width: u32,
    /// How often it wrapped since it was programmed, where that is detected.
    pub wraps: Option<u64>,
}

/// Items of a sample record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemTable {
    /// Names, by index.
    pub names: &'static [&'static str],
    /// Indexes of the generic items: program counter, data linear address, latency, data source.
    pub generic: [Option<usize>; 4],
}

/// A sample: a value for each item of the source's table, with those that are there marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleRecord {
    /// Values, by index; 0 where absent.
    pub values: Box<[u64]>,
    /// A bit for each value that is there.
    pub present: u64,
}

impl SampleRecord {
    /// A record of these items.
    pub fn new(items: &[Option<u64>]) -> Self {
        let present = items.iter().enumerate().fold(0, |bits, (index, item)| bits | u64::from(item.is_some()) << index);
        Self { values: items.iter().map(|item| item.unwrap_or(0)).collect(), present }
    }

    /// The item, where it is there.
    pub fn item(&self, index: usize) -> Option<u64> {
        self.values.get(index).copied().filter(|_| self.present >> index & 1 != 0)
    }
}

/// Events that can be counted or sampled.
pub trait CounterSource: Send + Sync {
    /// What it can do.
    fn caps(&self) -> Caps;

    /// Items of its sample records.
    fn items(&self) -> ItemTable;

    /// Whether it has the event, for a request of this kind; NotSupported or an invalid argument if not.
    fn check(&self, request: &Request) -> Result<(), CpcError>;

    /// Programs the requests: counting begins. Called on the thread that binds.
    fn program(&self, requests: &[Request], target: Target) -> Result<Box<dyn Programmed>, CpcError>;
}

/// Counters at work for a bound set. Dropping it stops them.
pub trait Programmed: Send {
    /// The counter of a counting request.
    fn read(&mut self, request: usize) -> Result<Reading, CpcError>;

    /// Moves the records of a sampling request that were collected since the last call into `into`, at most as many as the request asked for:
    /// the rest were dropped when they came.
    fn take_samples(&mut self, request: usize, into: &mut Vec<SampleRecord>);

    /// Core clocks since it was programmed, while it measured.
    fn clocks(&mut self) -> u64;
}
