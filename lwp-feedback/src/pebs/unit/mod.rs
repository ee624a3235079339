//! The sampling unit: four counters and three fixed ones, PEBS, BTS, and the performance interrupt.
//!
//! In: writes to MSRs ([`Unit::write_msr`]) and retired instructions ([`Unit::retire`]). Out: records in the DS area, status bits, and
//! [`Interrupt`]s for the host's handler. One thread uses a unit.
//!
//! Rules, in order at each retired instruction:
//! 1. A WRMSR works first and then counts itself: the one that enables a counter is the first instruction it counts.
//! 2. Each running counter adds the event's occurrences. Going through zero sets its overflow bit, and raises a PMI (INT set) or, with PEBS on
//!    for a precise event, arms PEBS.
//! 3. An armed counter's next event, `assist_delay` events later where that is set, makes PEBS due.
//! 4. A taken branch writes a BTS record. With BTINT the index reaching the threshold raises the BTS interrupt, and a full buffer takes no more;
//!    without, the buffer is a ring.
//! 5. Delivery: due are the PEBS of this instruction and what was raised by an earlier one. The first by priority wins: PMC0 > 1 > 2 > 3 >
//!    FIXED0 > 1 > 2 > buffer full > BTS. What else is pending is gone (the local APIC holds one request, and delivery masks the entry); its
//!    overflow bit stays. PEBS that loses writes no record.
//! 6. PEBS that wins writes the record, clears its overflow bit, reloads its counter. When the index reaches the threshold OvfBuffer is set
//!    and the buffer-full interrupt follows when the handler returns, at the same place.
//!    With the counter's INT clear PEBS asks for no interrupt of its own: the record is written whatever else is pending, and a full buffer raises its
//!    interrupt as any other cause.
//! 7. While the handler runs, the entry is masked or interrupts are off, PEBS that is due is suppressed: no record, the bit stays. A masked
//!    entry drops requests too.

mod deliver;
mod event;

use std::collections::BTreeMap;

use super::detect::{Detected, Processor, Unavailable};
use super::ds::{BtsRecord, DsArea};
use super::msr::{self, debugctl};
use super::record::{DataSource, PebsRecord};
use super::registers::{Register, RegisterSet, Registers};
use crate::events::EventSelect;
use crate::unit::memory::{PageFault, UserMemory};
use crate::unit::trace;

pub use deliver::{Cause, CounterId, Interrupt, Loss};
pub use event::Microarchitecture;

/// A branch that retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Where it went; `None` when it was not taken.
    pub target: Option<u64>,
    /// Predicted correctly.
    pub predicted: bool,
}

/// A load that retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Linear address.
    pub address: u64,
    /// Cycles.
    pub latency: u64,
    /// Where the data came from.
    pub source: DataSource,
}

/// A retired instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retired {
    /// Linear address.
    pub ip: u64,
    /// Bytes.
    pub len: u8,
    /// Registers before it, as far as they are known. RIP is taken from `ip`.
    pub before: Registers,
    /// Registers after it. RIP is taken from the branch's target or the address of the next instruction.
    pub after: Registers,
    /// The branch it was.
    pub branch: Option<Branch>,
    /// Its load.
    pub load: Option<Load>,
    /// Core clocks since the instruction before.
    pub core_clocks: u32,
    /// Reference clocks since the instruction before.
    pub ref_clocks: u32,
    /// Privilege level.
    pub cpl: u8,
}

impl Retired {
    /// Address of the instruction after it.
    pub fn next_ip(&self) -> u64 {
        self.branch.and_then(|branch| branch.target).unwrap_or(self.ip.wrapping_add(self.len.into()))
    }
}

/// The same probe events that feed the LWP unit. Registers are absent unless the probe's stub saved them.
impl From<&trace::Retired> for Retired {
    fn from(retired: &trace::Retired) -> Self {
        let branch = |branch: &trace::Branch| Branch {
            target: branch.taken.then_some(branch.target),
            predicted: branch.predicted || !branch.prediction_valid,
        };
        let load =
            |load: &trace::Load| Load { address: load.address, latency: load.latency.into(), source: DataSource::from_lwp(load.source) };
        Self {
            ip: retired.ip,
            len: retired.len,
            before: Registers::default(),
            after: Registers::default(),
            branch: retired.branch.as_ref().map(branch),
            load: retired.loads.first().map(load),
            core_clocks: retired.core_clocks,
            ref_clocks: retired.ref_clocks,
            cpl: retired.cpl,
        }
    }
}

/// What a write or an instruction was refused for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// #GP: no such register, read-only, or reserved bits.
    #[error("general protection: {value:#x} to MSR {msr:#x}")]
    GeneralProtection {
        /// Register.
        msr: u32,
        /// Value.
        value: u64,
    },
    /// MSR_PEBS_LD_LAT below 3.
    #[error("load latency threshold {0}: at least 3 was expected")]
    LatencyBelowMinimum(u64),
    /// A precise event with PEBS on whose ANY, INV, CMASK or EDGE is set.
    #[error("IA32_PMC{counter}: PEBS needs ANY, INV, CMASK and EDGE clear, found {select}")]
    PebsModifiers {
        /// Counter.
        counter: u8,
        /// Its event.
        select: EventSelect,
    },
    /// An event of which retired instructions say nothing.
    #[error("the unit cannot count event {event:#x} with unit mask {unit_mask:#x}")]
    UnknownEvent {
        /// Event select.
        event: u16,
        /// Unit mask.
        unit_mask: u8,
    },
    /// The DS area is not there.
    #[error(transparent)]
    Page(#[from] PageFault),
}

const COUNTER_BITS: u32 = 48;
const COUNTER_MASK: u64 = (1 << COUNTER_BITS) - 1;
const GLOBAL_CTRL_BITS: u64 = msr::COUNTER_OVERFLOWS;

/// The unit.
#[derive(Clone, Debug)]
pub struct Unit<M> {
    /// Memory with the DS area.
    pub memory: M,
    /// Events between the first after the overflow and the record; 0 unless the processor is slow to assist.
    pub assist_delay: u32,
    /// EFLAGS.IF.
    pub interrupts_enabled: bool,
    processor: Processor,
    detected: Detected,
    microarchitecture: Microarchitecture,
    pmc: [u64; 4],
    fixed: [u64; 3],
    select: [EventSelect; 4],
    fixed_ctrl: u64,
    global_ctrl: u64,
    status: u64,
    pebs_enable: u64,
    debugctl: u64,
    ds_area: u64,
    ld_lat: u64,
    /// Per counter: events still to pass before PEBS is due; `None` when not armed.
    armed: [Option<u32>; 4],
    delivery: deliver::Delivery,
    /// Registers known in the record at an address; none for all.
    known: BTreeMap<u64, RegisterSet>,
    pebs_records: u64,
    bts_records: u64,
    /// PEBS and BTS records that found a full buffer.
    dropped: u64,
}

impl<M: UserMemory> Unit<M> {
    /// A unit that is off, with interrupts on.
    pub fn new(memory: M, processor: Processor, microarchitecture: Microarchitecture) -> Result<Self, Unavailable> {
        Ok(Self {
            memory,
            assist_delay: 0,
            interrupts_enabled: true,
            detected: processor.detect()?,
            processor,
            microarchitecture,
            pmc: [0; 4],
            fixed: [0; 3],
            select: [EventSelect::default(); 4],
            fixed_ctrl: 0,
            global_ctrl: 0,
            status: 0,
            pebs_enable: 0,
            debugctl: 0,
            ds_area: 0,
            ld_lat: 0,
            armed: [None; 4],
            delivery: deliver::Delivery::default(),
            known: BTreeMap::new(),
            pebs_records: 0,
            bts_records: 0,
            dropped: 0,
        })
    }

    /// What the processor is.
    pub fn detected(&self) -> Detected {
        self.detected
    }

    /// Its microarchitecture.
    pub fn microarchitecture(&self) -> Microarchitecture {
        self.microarchitecture
    }

    /// PEBS and BTS records written.
    pub fn records(&self) -> (u64, u64) {
        (self.pebs_records, self.bts_records)
    }

    /// PEBS and BTS records that found a full buffer.
    pub fn dropped_records(&self) -> u64 {
        self.dropped
    }

    /// Registers that are known in the record at `address`.
    pub fn known_registers(&self, address: u64) -> RegisterSet {
        self.known.get(&address).copied().unwrap_or(RegisterSet::ALL)
    }

    /// The management area.
    pub fn ds_area(&mut self) -> Result<DsArea, PageFault> {
        DsArea::read(&mut self.memory, self.detected.layout, self.ds_area)
    }

    /// RDMSR.
    pub fn read_msr(&self, number: u32) -> Result<u64, UnitError> {
        Ok(match number {
            msr::IA32_PMC0..=msr::IA32_PMC3 => self.pmc[(number - msr::IA32_PMC0) as usize],
            msr::IA32_PERFEVTSEL0..=msr::IA32_PERFEVTSEL3 => self.select[(number - msr::IA32_PERFEVTSEL0) as usize].bits(),
            msr::IA32_FIXED_CTR0..=msr::IA32_FIXED_CTR2 => self.fixed[(number - msr::IA32_FIXED_CTR0) as usize],
            msr::IA32_MISC_ENABLE => self.processor.misc_enable,
            msr::IA32_PERF_CAPABILITIES if self.processor.cpuid1_ecx >> 15 & 1 != 0 => self.processor.perf_capabilities,
            msr::IA32_FIXED_CTR_CTRL => self.fixed_ctrl,
            msr::IA32_PERF_GLOBAL_STATUS => self.status,
            msr::IA32_PERF_GLOBAL_CTRL => self.global_ctrl,
            msr::IA32_PERF_GLOBAL_OVF_CTRL => 0,
            msr::IA32_PEBS_ENABLE => self.pebs_enable,
            msr::IA32_DEBUGCTL => self.debugctl,
            msr::IA32_DS_AREA => self.ds_area,
            msr::MSR_PEBS_LD_LAT if self.has_load_latency() => self.ld_lat,
            _ => return Err(UnitError::GeneralProtection { msr: number, value: 0 }),
        })
    }

    /// WRMSR, without the instruction: see [`Self::retire_wrmsr`].
    pub fn write_msr(&mut self, number: u32, value: u64) -> Result<(), UnitError> {
        let refused = UnitError::GeneralProtection { msr: number, value };
        let within = |bits: u64| if value & !bits == 0 { Ok(value) } else { Err(refused) };
        match number {
            msr::IA32_PMC0..=msr::IA32_PMC3 => {
                let counter = (number - msr::IA32_PMC0) as usize;
                self.pmc[counter] = self.counter_value(value);
                self.armed[counter] = None;
            }
            msr::IA32_FIXED_CTR0..=msr::IA32_FIXED_CTR2 => self.fixed[(number - msr::IA32_FIXED_CTR0) as usize] = self.counter_value(value),
            msr::IA32_PERFEVTSEL0..=msr::IA32_PERFEVTSEL3 => {
                let counter = (number - msr::IA32_PERFEVTSEL0) as u8;
                let select = EventSelect::from_bits(value).map_err(|_| refused)?;
                if select.event > 0xFF {
                    return Err(refused);
                }
                if select.en && self.microarchitecture.counted(select).is_none() {
                    return Err(UnitError::UnknownEvent { event: select.event, unit_mask: select.unit_mask });
                }
                self.check_modifiers(counter, select, self.pebs_enable)?;
                self.select[usize::from(counter)] = select;
            }
            msr::IA32_PEBS_ENABLE => {
                let counters = (1 << self.microarchitecture.pebs_counters()) - 1;
                let latency = if self.has_load_latency() { counters << 32 } else { 0 };
                let value = within(counters | latency)?;
                for counter in 0..4 {
                    self.check_modifiers(counter, self.select[usize::from(counter)], value)?;
                }
                self.pebs_enable = value;
            }
            msr::IA32_FIXED_CTR_CTRL => self.fixed_ctrl = within(0xFFF)?,
            msr::IA32_PERF_GLOBAL_CTRL => self.global_ctrl = within(GLOBAL_CTRL_BITS)?,
            // Bit 63, CondChgd, is never set here and may be cleared.
            msr::IA32_PERF_GLOBAL_OVF_CTRL => self.status &= !within(msr::COUNTER_OVERFLOWS | msr::OVF_BUFFER | 1 << 63)?,
            msr::IA32_DEBUGCTL => self.debugctl = within(debugctl::ALL)?,
            msr::IA32_DS_AREA => self.ds_area = value,
            msr::MSR_PEBS_LD_LAT if self.has_load_latency() => {
                if value < msr::LD_LAT_MINIMUM {
                    return Err(UnitError::LatencyBelowMinimum(value));
                }
                self.ld_lat = within(0xFFFF)?;
            }
            _ => return Err(refused),
        }
        Ok(())
    }

    fn has_load_latency(&self) -> bool {
        self.microarchitecture == Microarchitecture::Westmere
    }

    /// Without FW_WRITE a counter takes the low 32 bits of a write, sign-extended.
    fn counter_value(&self, value: u64) -> u64 {
        let wide = if self.detected.full_width_writes { value } else { value as u32 as i32 as i64 as u64 };
        wide & COUNTER_MASK
    }

    fn check_modifiers(&self, counter: u8, select: EventSelect, pebs_enable: u64) -> Result<(), UnitError> {
        let on = pebs_enable >> counter & 1 != 0 && select.en && self.microarchitecture.is_precise(select);
        if on && !select.is_plain() { Err(UnitError::PebsModifiers { counter, select }) } else { Ok(()) }
    }

    /// Whether the counter's overflow arms PEBS instead of raising a PMI.
    fn is_pebs(&self, counter: usize) -> bool {
        self.pebs_enable >> counter & 1 != 0 && self.microarchitecture.is_precise(self.select[counter])
    }

    /// A WRMSR instruction: works, then retires.
    pub fn retire_wrmsr(&mut self, number: u32, value: u64, retired: &Retired) -> Result<Option<Interrupt>, UnitError> {
        self.write_msr(number, value)?;
        self.retire(retired)
    }

    /// An instruction retired. The interrupt that is delivered after it, if one is: run the handler, then call [`Self::finish_interrupt`].
    pub fn retire(&mut self, retired: &Retired) -> Result<Option<Interrupt>, UnitError> {
        let mut due = Vec::new();
        for counter in 0..4 {
            if self.count(counter, retired) {
                due.push(counter as u8);
            }
        }
        for counter in 0..3 {
            self.count_fixed(counter, retired);
        }
        self.trace_branch(retired)?;
        let (asking, silent): (Vec<u8>, Vec<u8>) = due.into_iter().partition(|counter| self.select[usize::from(*counter)].int);
        for counter in silent {
            self.record_silently(counter, retired)?;
        }
        Ok(self.deliver(&asking, retired)?)
    }

    /// Counts; true when PEBS is due.
    fn count(&mut self, counter: usize, retired: &Retired) -> bool {
        let select = self.select[counter];
        let level = if retired.cpl == 0 { select.os } else { select.usr };
        if !select.en || !level || self.global_ctrl >> counter & 1 == 0 {
            return false;
        }
        let latency = (self.pebs_enable >> (32 + counter) & 1 != 0).then_some(self.ld_lat);
        let counted = self.microarchitecture.counted(select).expect("the select was checked when it was written");
        let occurrences = counted.occurrences(retired, latency);
        if occurrences == 0 {
            return false;
        }
        if let Some(left) = self.armed[counter] {
            self.pmc[counter] = self.pmc[counter].wrapping_add(occurrences) & COUNTER_MASK;
            self.armed[counter] = left.checked_sub(1);
            return left == 0;
        }
        if add(&mut self.pmc[counter], occurrences) {
            self.status |= 1 << counter;
            if self.is_pebs(counter) {
                self.armed[counter] = Some(self.assist_delay);
            } else if select.int {
                self.delivery.raise(Cause::Counter(CounterId::Pmc(counter as u8)));
            }
        }
        false
    }

    fn count_fixed(&mut self, counter: usize, retired: &Retired) {
        let control = self.fixed_ctrl >> (4 * counter);
        let level = if retired.cpl == 0 { control & 1 } else { control >> 1 & 1 };
        if level == 0 || self.global_ctrl >> (32 + counter) & 1 == 0 {
            return;
        }
        let occurrences = match counter {
            0 => 1,
            1 => u64::from(retired.core_clocks),
            _ => u64::from(retired.ref_clocks),
        };
        if add(&mut self.fixed[counter], occurrences) {
            self.status |= 1 << (32 + counter);
            if control >> 3 & 1 != 0 {
                self.delivery.raise(Cause::Counter(CounterId::Fixed(counter as u8)));
            }
        }
    }

    fn trace_branch(&mut self, retired: &Retired) -> Result<(), PageFault> {
        let off = if retired.cpl == 0 { debugctl::BTS_OFF_OS } else { debugctl::BTS_OFF_USR };
        let wanted = self.debugctl & (debugctl::TR | debugctl::BTS) == debugctl::TR | debugctl::BTS && self.debugctl & off == 0;
        let Some((target, predicted)) = retired.branch.and_then(|branch| Some((branch.target?, branch.predicted))).filter(|_| wanted)
        else {
            return Ok(());
        };
        let layout = self.detected.layout;
        let buffer = self.ds_area()?.bts;
        let interrupting = self.debugctl & debugctl::BTINT != 0;
        let end = buffer.index.saturating_add(layout.bts_bytes());
        if end > buffer.maximum {
            // Interrupting: full. Ring: a write always leaves room for the next, so the index was set wrong.
            self.dropped += 1;
            return Ok(());
        }
        BtsRecord { from: retired.ip, to: target, predicted }.write(&mut self.memory, layout, buffer.index)?;
        self.bts_records += 1;
        let wraps = !interrupting && end.saturating_add(layout.bts_bytes()) > buffer.maximum;
        let index = if wraps { buffer.base } else { end };
        layout.store(&mut self.memory, layout.bts_index(self.ds_area), index)?;
        if interrupting && index >= buffer.threshold {
            self.delivery.raise(Cause::BtsBufferFull);
        }
        Ok(())
    }

    /// PEBS of a counter whose INT is clear.
    fn record_silently(&mut self, counter: u8, retired: &Retired) -> Result<(), PageFault> {
        let area = self.ds_area()?;
        let room = area.pebs.index.saturating_add(self.detected.format.bytes()) <= area.pebs.maximum;
        if !room {
            self.dropped += 1;
        }
        if !room || self.write_record(counter, &area, retired)? {
            self.status |= msr::OVF_BUFFER;
            self.delivery.raise(Cause::PebsBufferFull);
        }
        Ok(())
    }

    /// Writes the PEBS record of a counter, at an index with room for it. True when the index has reached the threshold.
    fn write_record(&mut self, counter: u8, area: &DsArea, retired: &Retired) -> Result<bool, PageFault> {
        let Detected { layout, format, trap, .. } = self.detected;
        let (mut registers, ip) = if trap { (retired.after, retired.next_ip()) } else { (retired.before, retired.ip) };
        registers.set(Register::Rip, ip);
        let load = retired.load.filter(|_| self.pebs_enable >> (32 + counter) & 1 != 0);
        let enhanced = super::record::Enhanced {
            status: self.status,
            data_address: load.map_or(0, |load| load.address),
            data_source: load.map_or(DataSource(0), |load| load.source),
            latency: load.map_or(0, |load| load.latency),
        };
        let record = PebsRecord { registers, enhanced: Some(enhanced) };
        self.memory.write(area.pebs.index, &record.to_bytes(format))?;
        self.known.insert(area.pebs.index, registers.known());
        let index = area.pebs.index + format.bytes();
        layout.store(&mut self.memory, layout.pebs_index(self.ds_area), index)?;
        self.pebs_records += 1;
        self.status &= !(1 << counter);
        self.pmc[usize::from(counter)] = self.counter_value(area.resets[usize::from(counter)]);
        Ok(index >= area.pebs.threshold)
    }
}

/// Adds to a counter; true when it went through zero.
fn add(counter: &mut u64, occurrences: u64) -> bool {
    let sum = *counter + occurrences;
    *counter = sum & COUNTER_MASK;
    sum > COUNTER_MASK
}

#[cfg(test)]
#[path = "../unit_tests.rs"]
mod tests;
