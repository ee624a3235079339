//! Dispatch: the events of a measurement to counters of one processor, libpfm's `pfm_dispatch_events`.
//!
//! In: [`Host`], [`Input`] (named events, privilege, threshold, unavailable counters). Out: one [`Assignment`] for each event, in the events'
//! order, or the [`DispatchError`] that libpfm 3 gives. Nothing is written to a processor.

use super::selector::EventSelect;
use super::table::{Event, Family, UnitMask, Vendor, families, family};
use crate::capabilities::CpuidRegisters;

/// `PMU_GEN_X86_64_NUM_COUNTERS`: counters of the families of libpfm's page; 15h and the Zen generations have 6.
pub const PMU_GEN_X86_64_NUM_COUNTERS: usize = 4;

/// `PFMLIB_GEN_X86_64_SEL_INV`: turns the comparison with `cnt_mask` round.
pub const PFMLIB_GEN_X86_64_SEL_INV: u32 = 1;

/// `PFMLIB_GEN_X86_64_SEL_EDGE`: edge detection.
pub const PFMLIB_GEN_X86_64_SEL_EDGE: u32 = 2;

/// `cnt_mask` must be below this.
pub const CNT_MASK_LIMIT: u32 = 4;

/// `pfmlib_gen_x86_64_counter_t`: the model-specific part of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GenX8664Counter {
    /// Least occurrences in a cycle, 0 to 3; 0 counts all.
    pub cnt_mask: u32,
    /// `PFMLIB_GEN_X86_64_SEL_*`.
    pub flags: u32,
}

bitflags::bitflags! {
    /// Privilege levels to count at (`PFM_PLM0` … `PFM_PLM3`). x86-64 counters tell only 0 and 3 apart.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Privileges: u32 {
        /// Level 0, the kernel.
        const PLM0 = 1;
        /// Level 1.
        const PLM1 = 2;
        /// Level 2.
        const PLM2 = 4;
        /// Level 3, programs.
        const PLM3 = 8;
    }
}

/// A processor to dispatch for.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    family: &'static Family,
    revision: Option<usize>,
}

impl Host {
    /// A family, and one of its revisions where it has any.
    pub fn new(name: &str, revision: Option<&str>) -> Option<Self> {
        let family = family(name)?;
        let revision = match revision {
            Some(revision) => Some(family.revision(revision)?),
            None => None,
        };
        Some(Self { family, revision })
    }

    /// What CPUID says: vendor, displayed family, model and stepping. `None` for processors without a table.
    pub fn from_cpuid(vendor: &str, family: u32, model: u32, stepping: u32) -> Option<Self> {
        if vendor != "AuthenticAMD" {
            return None;
        }
        let (name, revision) = match family {
            6 => ("k7", None),
            0xF => ("k8", Some(k8_revision(model, stepping))),
            0x10 => (
                "10h",
                Some(if matches!(model, 4..=6) {
                    "shanghai"
                } else if matches!(model, 8 | 9) {
                    "istanbul"
                } else {
                    "barcelona"
                }),
            ),
            0x11 => ("11h", None),
            0x12 => ("12h", None),
            0x14 => ("14h", None),
            0x15 => ("15h", None),
            0x16 => ("16h", None),
            0x17 if model >= 0x30 => ("zen2", None),
            0x17 => ("zen1", None),
            0x19 if matches!(model, 0x10..=0x1F | 0x60..=0x7F | 0xA0..=0xAF) => ("zen4", None),
            0x19 => ("zen3", None),
            _ => return None,
        };
        Self::new(name, revision)
    }

    /// The processor that this runs on. `None` where it has no table.
    pub fn of_this_cpu() -> Option<Self> {
        let (vendor, signature) = (CpuidRegisters::of_this_cpu(0), CpuidRegisters::of_this_cpu(1).eax);
        let vendor: Vec<u8> = [vendor.ebx, vendor.edx, vendor.ecx].iter().flat_map(|part| part.to_le_bytes()).collect();
        let (family, model, stepping) = (signature >> 8 & 0xF, signature >> 4 & 0xF, signature & 0xF);
        let extended = if family == 0xF { signature >> 20 & 0xFF } else { 0 };
        let high = if matches!(family, 6 | 0xF) { signature >> 12 & 0xF0 } else { 0 };
        let (family, model) = (family + extended, model | high);
        match &vendor[..] {
            // The tables of Intel's events have no revisions; the models are those of the processors that they are about (Intel SDM volume 4).
            b"GenuineIntel" if family == 6 => match model {
                0x0F | 0x16 | 0x17 | 0x1D => Self::new("core2", None),
                0x1A | 0x1E | 0x1F | 0x2E => Self::new("nehalem", None),
                0x25 | 0x2C | 0x2F => Self::new("westmere", None),
                _ => None,
            },
            vendor => Self::from_cpuid(str::from_utf8(vendor).ok()?, family, model, stepping),
        }
    }

    /// The family.
    pub fn family(&self) -> &'static Family {
        self.family
    }

    /// The revision's name.
    pub fn revision(&self) -> Option<&'static str> {
        self.revision.map(|index| self.family.revisions[index])
    }
}

fn k8_revision(model: u32, stepping: u32) -> &'static str {
    match model >> 4 {
        0 if (model == 5 && stepping < 2) || (model == 4 && stepping == 0) => "b",
        0 => "c",
        1 => "d",
        2 | 3 => "e",
        4 | 5 | 0xC => "f",
        _ => "g",
    }
}

/// One event to measure.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// `EVENT`, `EVENT:MASK:MASK…`, either with `FAMILY::` before it.
    pub event: &'a str,
    /// Privilege levels; the input's default where `None`.
    pub privileges: Option<Privileges>,
    /// Threshold and flags.
    pub counter: GenX8664Counter,
}

impl<'a> Request<'a> {
    /// The event at the default privilege, all occurrences.
    pub fn new(event: &'a str) -> Self {
        Self { event, privileges: None, counter: GenX8664Counter::default() }
    }
}

/// What to measure together.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The events.
    pub requests: &'a [Request<'a>],
    /// `pfp_dfl_plm`: privilege of the requests that name none.
    pub default_privileges: Privileges,
    /// `pfp_unavail_pmcs`: a bit for each counter that must not be used.
    pub unavailable: u32,
}

/// Where an event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Counter.
    pub counter: u8,
    /// Value of its control register.
    pub select: EventSelect,
    /// MSR number of the control register (PERFEVTSEL).
    pub control_msr: u32,
    /// MSR number of the counter.
    pub counter_msr: u32,
}

/// Why nothing was dispatched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DispatchError {
    /// `PFMLIB_ERR_TOOMANY`.
    #[error("{events} events, but the processor has {counters} counters")]
    TooMany {
        /// Wanted.
        events: usize,
        /// There.
        counters: u8,
    },
    /// `PFMLIB_ERR_NOASSIGN`.
    #[error("no free counter can count {event}")]
    NoAssign {
        /// The first event without a counter.
        event: String,
    },
    /// `PFMLIB_ERR_INVAL`.
    #[error("{event}: {what}")]
    Inval {
        /// The event.
        event: String,
        /// What of it.
        what: InvalidField,
    },
    /// `PFMLIB_ERR_FEATCOMB`.
    #[error("{event}: unit mask {mask} does not combine with others")]
    FeatComb {
        /// The event.
        event: String,
        /// A mask that stands alone.
        mask: &'static str,
    },
    /// `PFMLIB_ERR_UMASK`: the event has no such mask, or needs one.
    #[error("{event}: {}", match .mask.as_deref() { Some("") => "an empty unit mask: a name was expected behind the colon".to_owned(), Some(mask) => format!("no unit mask {mask}"), None => "a unit mask is needed".to_owned() })]
    Umask {
        /// The event.
        event: String,
        /// The unknown mask, `None` where one is missing.
        mask: Option<String>,
    },
    /// `PFMLIB_ERR_BADHOST`.
    #[error("{event} is not on this processor ({host})")]
    BadHost {
        /// The event or mask.
        event: String,
        /// Family and revision.
        host: String,
    },
    /// `PFMLIB_ERR_NOTSUPP`.
    #[error("{event} is an event of another vendor's processors")]
    NotSupp {
        /// The event.
        event: String,
    },
    /// `PFMLIB_ERR_NOTFOUND`.
    #[error("no event {event}")]
    NotFound {
        /// The name.
        event: String,
    },
}

/// A field with a value that it cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidField {
    /// 4 or more.
    #[error("cnt_mask is {0}, 0 to 3 were expected")]
    CntMask(u32),
    /// None of `PFMLIB_GEN_X86_64_SEL_*`.
    #[error("unknown flags {0:#x}")]
    Flags(u32),
    /// Levels 1 and 2 cannot be counted, and no level counts nothing.
    #[error("privilege levels {0:#x}: 0, 3 or both were expected")]
    Privileges(u32),
}

/// Gives each event a counter.
pub fn dispatch(host: &Host, input: &Input<'_>) -> Result<Vec<Assignment>, DispatchError> {
    let family = host.family;
    if input.requests.len() > usize::from(family.counters) {
        return Err(DispatchError::TooMany { events: input.requests.len(), counters: family.counters });
    }
    let selects: Vec<EventSelect> =
        input.requests.iter().map(|request| select(host, request, input.default_privileges)).collect::<Result<_, _>>()?;
    let free = !input.unavailable & ((1 << family.counters) - 1);
    let allowed: Vec<u32> = selects.iter().map(|select| free & counters_of(family, *select)).collect();
    let counters = assign(&allowed).map_err(|failed| DispatchError::NoAssign { event: input.requests[failed].event.to_owned() })?;
    let assign = |(select, counter): (EventSelect, u8)| {
        let (control_msr, counter_msr) = registers(family, counter);
        Assignment { counter, select, control_msr, counter_msr }
    };
    Ok(selects.into_iter().zip(counters).map(assign).collect())
}

/// The register value of one request, as `dispatch` would program it.
pub fn select(host: &Host, request: &Request<'_>, default_privileges: Privileges) -> Result<EventSelect, DispatchError> {
    let invalid = |what| DispatchError::Inval { event: request.event.to_owned(), what };
    let GenX8664Counter { cnt_mask, flags } = request.counter;
    if cnt_mask >= CNT_MASK_LIMIT {
        return Err(invalid(InvalidField::CntMask(cnt_mask)));
    }
    if flags & !(PFMLIB_GEN_X86_64_SEL_INV | PFMLIB_GEN_X86_64_SEL_EDGE) != 0 {
        return Err(invalid(InvalidField::Flags(flags)));
    }
    let privileges = request.privileges.unwrap_or(default_privileges);
    if privileges.is_empty() || !(Privileges::PLM0 | Privileges::PLM3).contains(privileges) {
        return Err(invalid(InvalidField::Privileges(privileges.bits())));
    }
    let (event, unit_mask) = resolve(host, request.event)?;
    Ok(EventSelect {
        event: event.select,
        unit_mask,
        usr: privileges.contains(Privileges::PLM3),
        os: privileges.contains(Privileges::PLM0),
        edge: flags & PFMLIB_GEN_X86_64_SEL_EDGE != 0,
        inv: flags & PFMLIB_GEN_X86_64_SEL_INV != 0,
        int: true,
        en: true,
        cmask: cnt_mask as u8,
        ..EventSelect::default()
    })
}

/// The event and combined unit mask that a name means on a processor.
pub fn resolve(host: &Host, text: &str) -> Result<(&'static Event, u8), DispatchError> {
    let family = host.family;
    let not_found = || DispatchError::NotFound { event: text.to_owned() };
    let bad_host = || DispatchError::BadHost {
        event: text.to_owned(),
        host: [Some(family.name), host.revision()].into_iter().flatten().collect::<Vec<_>>().join(" "),
    };
    let bare = match text.split_once("::") {
        None => text,
        Some((prefix, rest)) => match super::table::family(prefix) {
            None => return Err(not_found()),
            Some(named) if named.vendor != family.vendor => return Err(DispatchError::NotSupp { event: text.to_owned() }),
            Some(named) if named.name != family.name => return Err(bad_host()),
            Some(_) => rest,
        },
    };
    let mut words = bare.split(':');
    let name = words.next().unwrap_or_default();
    let named: Vec<&'static Event> = family.named(name).collect();
    let Some(event) = named.iter().copied().find(|event| event.revisions.contains(host.revision)) else {
        return Err(match named.is_empty() {
            false => bad_host(),
            true if known_elsewhere(name, |vendor| vendor == family.vendor) => bad_host(),
            true if known_elsewhere(name, |vendor| vendor != family.vendor) => DispatchError::NotSupp { event: text.to_owned() },
            true => not_found(),
        });
    };
    let mut chosen: Vec<&'static UnitMask> = Vec::new();
    for word in words {
        let masks: Vec<&'static UnitMask> = event.masks.iter().filter(|mask| mask.name.eq_ignore_ascii_case(word)).collect();
        match masks.iter().find(|mask| mask.revisions.contains(host.revision) || mask.revisions == event.revisions) {
            Some(mask) => chosen.push(mask),
            None if masks.is_empty() => {
                return Err(DispatchError::Umask { event: event.name.to_owned(), mask: Some(word.to_owned()) });
            }
            None => return Err(bad_host()),
        }
    }
    Ok((event, combine(event, host.revision, &chosen)?))
}

fn known_elsewhere(name: &str, vendor: impl Fn(Vendor) -> bool) -> bool {
    families().iter().any(|family| vendor(family.vendor) && family.named(name).next().is_some())
}

fn combine(event: &'static Event, revision: Option<usize>, chosen: &[&'static UnitMask]) -> Result<u8, DispatchError> {
    let in_group = |group: u8| chosen.iter().filter(move |mask| mask.group == group);
    if let Some(alone) = chosen.iter().find(|mask| mask.is_exclusive && in_group(mask.group).count() > 1) {
        return Err(DispatchError::FeatComb { event: event.name.to_owned(), mask: alone.name });
    }
    let there = |mask: &&UnitMask| mask.revisions.contains(revision) || mask.revisions == event.revisions;
    let defaults = event.masks.iter().filter(there).filter(|mask| mask.is_default && in_group(mask.group).next().is_none());
    let mut bits = chosen.iter().fold(0, |bits, mask| bits | mask.bits);
    let mut any = !chosen.is_empty() || event.masks.is_empty();
    for mask in defaults {
        any = true;
        bits |= mask.bits;
    }
    if any { Ok(bits) } else { Err(DispatchError::Umask { event: event.name.to_owned(), mask: None }) }
}

/// A bit for each counter that can count it. Only family 15h restricts core events (BKDG for models 00h to 0Fh, "PERF_CTL" of each event).
fn counters_of(family: &Family, select: EventSelect) -> u32 {
    const ANY: u32 = 0b11_1111;
    const LOW: u32 = 0b00_0111;
    const HIGH: u32 = 0b11_1000;
    if family.name != "15h" {
        return u32::MAX;
    }
    let mask_bits = select.unit_mask.count_ones();
    match select.event {
        // Floating point: counters 3 to 5, or only 3 where both pipes, or several kinds, are asked for.
        0x000 if select.unit_mask & 0xF0 != 0 && select.unit_mask & 0x0F != 0 => 0b1000,
        0x004 if mask_bits > 1 => 0b1000,
        0x003 | 0x00B | 0x00D | 0x02D => 0b1000,
        0x02E => 0b1001,
        0x031 if mask_bits > 1 => 0,
        0x023 | 0x031 | 0x043 | 0x045 | 0x046 | 0x054 | 0x055 => LOW,
        0x08F | 0x187 | 0x188 => 0b0001,
        0x0DB..=0x0DF | 0x1D6 | 0x1D8 => ANY,
        0x1C0 => HIGH,
        event => match event & 0x0F0 {
            0x000 | 0x010 => HIGH,
            0x060..=0x090 | 0x0D0 => LOW,
            _ => ANY,
        },
    }
}

/// A counter for each event, each used once; or the first event that cannot have one. Augmenting paths: an event may move to make room.
fn assign(allowed: &[u32]) -> Result<Vec<u8>, usize> {
    let mut holder = [None; 32];
    for event in 0..allowed.len() {
        let mut tried = 0;
        if !place(event, allowed, &mut holder, &mut tried) {
            return Err(event);
        }
    }
    let counter_of = |event| holder.iter().position(|held| *held == Some(event)).expect("each event was placed") as u8;
    Ok((0..allowed.len()).map(counter_of).collect())
}

fn place(event: usize, allowed: &[u32], holder: &mut [Option<usize>; 32], tried: &mut u32) -> bool {
    let open = |tried: u32, counter: usize| allowed[event] >> counter & 1 != 0 && tried >> counter & 1 == 0;
    if let Some(counter) = (0..32).find(|counter| open(*tried, *counter) && holder[*counter].is_none()) {
        holder[counter] = Some(event);
        return true;
    }
    for counter in 0..32 {
        if !open(*tried, counter) {
            continue;
        }
        *tried |= 1 << counter;
        if holder[counter].is_some_and(|other| place(other, allowed, holder, tried)) {
            holder[counter] = Some(event);
            return true;
        }
    }
    false
}

/// MSR numbers of a counter's control and value.
fn registers(family: &Family, counter: u8) -> (u32, u32) {
    let counter = u32::from(counter);
    match (family.vendor, family.name, family.counters) {
        (Vendor::Intel, ..) => (0x186 + counter, 0xC1 + counter),
        (_, "15h-nb", _) => (0xC001_0240 + 2 * counter, 0xC001_0241 + 2 * counter),
        (_, "zen3-l3", _) => (0xC001_0230 + 2 * counter, 0xC001_0231 + 2 * counter),
        (_, _, 6) => (0xC001_0200 + 2 * counter, 0xC001_0201 + 2 * counter),
        _ => (0xC001_0000 + counter, 0xC001_0004 + counter),
    }
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
