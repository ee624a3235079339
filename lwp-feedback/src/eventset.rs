//! Which events may be recorded: `--events`.
//!
//! In: a list of EventIds, by number or by name (`1,3,255`, `lwpval,branch`). Out: a set that whoever places sites and probes asks: what is not in it is not
//! even placed.
#![forbid(unsafe_code)]

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::layout::{EventId, Flags};

/// A set of the seven events that exist.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventSet(u8);

/// The events there are, ascending.
pub const EVENTS: [EventId; 7] = [
    EventId::VALUE,
    EventId::INSTRUCTIONS,
    EventId::BRANCHES,
    EventId::DCACHE,
    EventId::CORE_CLOCKS,
    EventId::REF_CLOCKS,
    EventId::PROGRAMMED,
];

/// A list of events that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no event `{found}`; known: 1 lwpval, 2 instructions, 3 branch, 4 dcache-miss, 5 core-clocks, 6 ref-clocks, 255 lwpins")]
pub struct UnknownEvent {
    /// What stands there.
    pub found: String,
}

/// One of the events there are, by its number or name.
///
/// # Errors
/// There is no such event.
pub fn event(text: &str) -> Result<EventId, UnknownEvent> {
    let named = |event: &&EventId| event.name() == Some(text) || text.parse() == Ok(event.0);
    EVENTS.iter().find(named).copied().ok_or_else(|| UnknownEvent { found: text.to_owned() })
}

impl EventSet {
    /// None.
    pub const NONE: EventSet = EventSet(0);
    /// All seven.
    pub const ALL: EventSet = EventSet(0xfe);
    /// What an engine records unless told otherwise: no clocks, for they are signals, and no instructions.
    pub const USUAL: EventSet = EventSet(bit(EventId::VALUE) | bit(EventId::BRANCHES) | bit(EventId::DCACHE) | bit(EventId::PROGRAMMED));

    /// Whether an event is in it. Events that nobody defined are in none.
    pub const fn contains(self, event: EventId) -> bool {
        self.0 & bit(event) != 0
    }

    /// With one more.
    pub const fn with(self, event: EventId) -> EventSet {
        EventSet(self.0 | bit(event))
    }

    /// Without one.
    pub const fn without(self, event: EventId) -> EventSet {
        EventSet(self.0 & !bit(event))
    }

    /// Those in both.
    pub const fn and(self, other: EventSet) -> EventSet {
        EventSet(self.0 & other.0)
    }

    /// Whether bursts have anything to look at.
    pub const fn wants_bursts(self) -> bool {
        self.contains(EventId::BRANCHES) || self.contains(EventId::DCACHE)
    }

    /// `flags` with the enable bits of the events that are not in it cleared. LWPINS has none.
    pub fn mask(self, flags: Flags) -> Flags {
        let bits = [
            (EventId::VALUE, Flags::VAL),
            (EventId::INSTRUCTIONS, Flags::IRE),
            (EventId::BRANCHES, Flags::BRE),
            (EventId::DCACHE, Flags::DME),
            (EventId::CORE_CLOCKS, Flags::CNH),
            (EventId::REF_CLOCKS, Flags::RNH),
        ];
        bits.into_iter().filter(|&(event, _)| !self.contains(event)).fold(flags, |flags, (_, bit)| flags.difference(bit))
    }
}

const fn bit(event: EventId) -> u8 {
    match event.0 {
        1..=6 => 1 << event.0,
        255 => 1 << 7,
        _ => 0,
    }
}

impl Default for EventSet {
    fn default() -> EventSet {
        EventSet::USUAL
    }
}

impl FromStr for EventSet {
    type Err = UnknownEvent;

    fn from_str(text: &str) -> Result<EventSet, UnknownEvent> {
        let mut set = EventSet::NONE;
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            set = set.with(event(part)?);
        }
        Ok(set)
    }
}

impl fmt::Display for EventSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<String> = EVENTS.iter().filter(|&&event| self.contains(event)).map(|event| event.0.to_string()).collect();
        f.pad(&if ids.is_empty() { "none".to_owned() } else { ids.join(",") })
    }
}

impl fmt::Debug for EventSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_by_number_and_by_name() {
        let set: EventSet = "1,branch, 255".parse().unwrap();
        assert_eq!(set.to_string(), "1,3,255");
        assert!(set.contains(EventId::BRANCHES) && !set.contains(EventId::DCACHE) && !set.contains(EventId(77)));
        assert_eq!("".parse(), Ok(EventSet::NONE));
        assert_eq!("0".parse::<EventSet>(), Err(UnknownEvent { found: "0".into() }));
        assert_eq!("1,2,3,4,5,6,255".parse(), Ok(EventSet::ALL));
        assert_eq!(EventSet::USUAL.to_string(), "1,3,4,255");
    }

    #[test]
    fn flags_of_what_is_not_in_it_are_cleared() {
        let set: EventSet = "1,4".parse().unwrap();
        assert_eq!(set.mask(Flags::VAL | Flags::BRE | Flags::DME | Flags::PTSC), Flags::VAL | Flags::DME | Flags::PTSC);
    }
}
