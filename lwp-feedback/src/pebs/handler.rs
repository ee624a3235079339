//! The performance interrupt's handler (the document's `apic_perfmon_handler`): finds the causes and puts each right.
//!
//! There is no flag for "a PEBS record was written": the handler compares the index with its own copy.

use super::ds::{DsArea, Layout};
use super::msr::{self, COUNTER_OVERFLOWS, OVF_BUFFER};
use super::unit::{Unit, UnitError};
use crate::unit::memory::UserMemory;

/// How the four causes are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerKind {
    /// Four independent ifs: what is recommended.
    EachCause,
    /// if / else if: the first cause found is the only one handled. Right only when causes come one at a time.
    FirstCause,
}

/// A cause as the handler finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// `test_pebs_interrupt`: the index is beyond the handler's copy.
    Pebs,
    /// `test_counter_overflow`: an overflow bit is set.
    CounterOverflow,
    /// `test_pebs_buffer_overflow`: OvfBuffer is set.
    PebsBufferFull,
    /// `test_bts_buffer_overflow`: the BTS index has reached its threshold.
    BtsBufferFull,
}

/// What one call of the handler saw when it began, and found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handled {
    /// Causes, in the order they were looked for.
    pub found: Vec<Found>,
    /// IA32_PERF_GLOBAL_STATUS on entry.
    pub status: u64,
    /// The DS area on entry.
    pub area: DsArea,
    /// Where new PEBS records begin: the handler's copy of the index on entry.
    pub first_new_record: u64,
}

/// The handler.
#[derive(Clone, Copy, Debug)]
pub struct Handler {
    kind: HandlerKind,
    /// The copy of the PEBS index ("index track").
    index_track: u64,
}

impl Handler {
    /// A handler for a buffer that is empty, with its base.
    pub fn new(kind: HandlerKind, pebs_base: u64) -> Self {
        Self { kind, index_track: pebs_base }
    }

    /// Handles an interrupt: stops tracing, PEBS and the counters, looks for the causes, puts back what it stopped.
    pub fn handle<M: UserMemory>(&mut self, unit: &mut Unit<M>) -> Result<Handled, UnitError> {
        const STOPPED: [u32; 3] = [msr::IA32_DEBUGCTL, msr::IA32_PEBS_ENABLE, msr::IA32_PERF_GLOBAL_CTRL];
        let mut saved = [0; 3];
        for (number, value) in STOPPED.into_iter().zip(&mut saved) {
            *value = unit.read_msr(number)?;
            unit.write_msr(number, 0)?;
        }
        let status = unit.read_msr(msr::IA32_PERF_GLOBAL_STATUS)?;
        let mut handled = Handled { found: Vec::new(), status, area: unit.ds_area()?, first_new_record: self.index_track };
        for cause in [Found::Pebs, Found::CounterOverflow, Found::PebsBufferFull, Found::BtsBufferFull] {
            if !self.test(cause, unit)? {
                continue;
            }
            handled.found.push(cause);
            self.put_right(cause, unit)?;
            if self.kind == HandlerKind::FirstCause {
                break;
            }
        }
        for (number, value) in STOPPED.into_iter().zip(saved) {
            unit.write_msr(number, value)?;
        }
        Ok(handled)
    }

    fn test<M: UserMemory>(&self, cause: Found, unit: &mut Unit<M>) -> Result<bool, UnitError> {
        let status = unit.read_msr(msr::IA32_PERF_GLOBAL_STATUS)?;
        Ok(match cause {
            Found::Pebs => unit.ds_area()?.pebs.index > self.index_track,
            Found::CounterOverflow => status & COUNTER_OVERFLOWS != 0,
            Found::PebsBufferFull => status & OVF_BUFFER != 0,
            Found::BtsBufferFull => {
                let bts = unit.ds_area()?.bts;
                bts.index >= bts.threshold
            }
        })
    }

    fn put_right<M: UserMemory>(&mut self, cause: Found, unit: &mut Unit<M>) -> Result<(), UnitError> {
        match cause {
            // The document's update_pebs_index_track.
            Found::Pebs => self.index_track = unit.ds_area()?.pebs.index,
            // RESET_COUNTER_OVERFLOW.
            Found::CounterOverflow => unit.write_msr(msr::IA32_PERF_GLOBAL_OVF_CTRL, COUNTER_OVERFLOWS)?,
            // RESET_PEBS_BUFFER_OVERFLOW and reset_pebs_index.
            Found::PebsBufferFull => {
                unit.write_msr(msr::IA32_PERF_GLOBAL_OVF_CTRL, OVF_BUFFER)?;
                let base = unit.ds_area()?.pebs.base;
                self.store(unit, Layout::pebs_index, base)?;
                self.index_track = base;
            }
            // reset_bts_index.
            Found::BtsBufferFull => {
                let base = unit.ds_area()?.bts.base;
                self.store(unit, Layout::bts_index, base)?;
            }
        }
        Ok(())
    }

    fn store<M: UserMemory>(&self, unit: &mut Unit<M>, field: fn(Layout, u64) -> u64, value: u64) -> Result<(), UnitError> {
        let layout = unit.detected().layout;
        let area = unit.read_msr(msr::IA32_DS_AREA)?;
        Ok(layout.store(&mut unit.memory, field(layout, area), value)?)
    }
}
