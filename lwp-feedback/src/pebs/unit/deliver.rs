//! Delivery of the performance interrupt: what is pending, which one wins, what is lost.

use super::{Retired, Unit, debugctl};
use crate::pebs::msr;
use crate::unit::memory::{PageFault, UserMemory};

/// A counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CounterId {
    /// IA32_PMC0 to 3.
    Pmc(u8),
    /// IA32_FIXED_CTR0 to 2.
    Fixed(u8),
}

impl std::fmt::Display for CounterId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pmc(counter) => write!(f, "IA32_PMC{counter}"),
            Self::Fixed(counter) => write!(f, "IA32_FIXED_CTR{counter}"),
        }
    }
}

/// Why the interrupt is delivered. The order is the priority: counters first, by number, then the buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A counter overflowed (PMI), or wrote a PEBS record.
    Counter(CounterId),
    /// The PEBS buffer reached its threshold.
    PebsBufferFull,
    /// The BTS buffer reached its threshold.
    BtsBufferFull,
}

/// A delivered interrupt. Software is not told the cause: its handler finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// What won.
    pub cause: Cause,
    /// It is PEBS's: a record was written.
    pub pebs: bool,
    /// Where the program goes on.
    pub ip: u64,
}

/// An interrupt that was never delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// What it would have been for.
    pub cause: Cause,
    /// It was PEBS's: no record was written.
    pub pebs: bool,
}

/// The state of delivery.
#[derive(Clone, Debug, Default)]
pub(super) struct Delivery {
    /// Raised by an earlier instruction, so due.
    due: Vec<Cause>,
    /// Raised by the current one.
    raised: Vec<Cause>,
    /// Follows when the handler returns.
    buffer_full_held: bool,
    in_service: bool,
    masked: bool,
    resume_ip: u64,
    losses: Vec<Loss>,
}

impl Delivery {
    pub(super) fn raise(&mut self, cause: Cause) {
        if !self.raised.contains(&cause) && !self.due.contains(&cause) {
            self.raised.push(cause);
        }
    }

    fn lose_pending(&mut self) {
        let gone = std::mem::take(&mut self.due).into_iter().chain(std::mem::take(&mut self.raised));
        self.losses.extend(gone.map(|cause| Loss { cause, pebs: false }));
    }

    fn suppress(&mut self, counter: u8) {
        self.losses.push(Loss { cause: Cause::Counter(CounterId::Pmc(counter)), pebs: true });
    }
}

impl<M: UserMemory> Unit<M> {
    /// The mask bit of the local APIC's LVT performance entry. Delivery sets it; the handler's end clears it.
    pub fn set_lvt_masked(&mut self, masked: bool) {
        self.delivery.masked = masked;
    }

    /// Interrupts that were lost since the last call.
    pub fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.delivery.losses)
    }

    /// The handler has returned (IRET, the entry unmasked). A buffer-full interrupt that waited behind its PEBS is delivered now.
    pub fn finish_interrupt(&mut self) -> Option<Interrupt> {
        self.delivery.in_service = false;
        self.delivery.masked = false;
        let held = std::mem::take(&mut self.delivery.buffer_full_held);
        held.then(|| self.enter(Cause::PebsBufferFull, false, self.delivery.resume_ip))
    }

    fn enter(&mut self, cause: Cause, pebs: bool, ip: u64) -> Interrupt {
        self.delivery.in_service = true;
        self.delivery.masked = true;
        self.delivery.resume_ip = ip;
        if self.debugctl & debugctl::FREEZE_PERFMON_ON_PMI != 0 {
            self.global_ctrl = 0;
        }
        Interrupt { cause, pebs, ip }
    }

    /// Rules 5 to 7 of the unit, at the end of an instruction for which PEBS is due on some counters.
    pub(super) fn deliver(&mut self, pebs_due: &[u8], retired: &Retired) -> Result<Option<Interrupt>, PageFault> {
        if self.delivery.in_service || self.delivery.masked || !self.interrupts_enabled {
            pebs_due.iter().for_each(|counter| self.delivery.suppress(*counter));
            if self.delivery.masked {
                self.delivery.lose_pending();
            }
            self.age();
            return Ok(None);
        }
        let area = if pebs_due.is_empty() { None } else { Some(self.ds_area()?) };
        let room = area.is_some_and(|area| area.pebs.index.saturating_add(self.detected.format.bytes()) <= area.pebs.maximum);
        let mut candidates: Vec<(Cause, bool)> = self.delivery.due.iter().map(|cause| (*cause, false)).collect();
        if room {
            candidates.extend(pebs_due.iter().map(|counter| (Cause::Counter(CounterId::Pmc(*counter)), true)));
        } else if !pebs_due.is_empty() {
            // No room for the record: suppressed, and the buffer is reported full (again).
            pebs_due.iter().for_each(|counter| self.delivery.suppress(*counter));
            self.dropped += pebs_due.len() as u64;
            self.status |= msr::OVF_BUFFER;
            self.delivery.raise(Cause::PebsBufferFull);
        }
        let Some((cause, pebs)) = candidates.into_iter().min() else {
            self.age();
            return Ok(None);
        };
        if pebs
            && let (Some(area), Cause::Counter(CounterId::Pmc(counter))) = (area, cause)
            && self.write_record(counter, &area, retired)?
        {
            self.status |= msr::OVF_BUFFER;
            self.delivery.buffer_full_held = true;
        }
        for counter in pebs_due.iter().filter(|counter| room && !(pebs && cause == Cause::Counter(CounterId::Pmc(**counter)))) {
            self.delivery.suppress(*counter);
        }
        self.delivery.due.retain(|other| *other != cause);
        self.delivery.lose_pending();
        Ok(Some(self.enter(cause, pebs, retired.next_ip())))
    }

    fn age(&mut self) {
        let raised = std::mem::take(&mut self.delivery.raised);
        self.delivery.due.extend(raised);
    }
}
