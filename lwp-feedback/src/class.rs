//! What a site watches: the meaning the engine gives to the imm16 of its LWPVAL and LWPINS instructions.
//!
//! imm16 bits 7:0 hold the class, bits 15:8 its `detail` (for `Param` the parameter's number). The enum is closed: an imm16 that
//! names no class is counted by the profile and otherwise ignored.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! site_classes {
    ($( $(#[$doc:meta])* $variant:ident = $value:literal, $name:literal; )*) => {
        /// Class of a site; the numeric value is the low byte of the instruction's imm16.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum SiteClass { $( $(#[$doc])* $variant = $value, )* }

        impl SiteClass {
            /// Every class, in numeric order.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )*];

            fn from_low_byte(byte: u16) -> Option<Self> {
                match byte { $( $value => Some(Self::$variant), )* _ => None }
            }

            /// Name as reports print it, and as it stands in JSON.
            pub fn name(self) -> &'static str {
                match self { $( Self::$variant => $name, )* }
            }
        }
    };
}

site_classes! {
    /// Callee of an indirect call: Data2 is the callee's function index in the same module.
    CallTarget = 1, "call-target";
    /// A parameter at function entry: Data2 is its value, `detail` its number.
    Param = 2, "param";
    /// How often a loop ran: Data2 is the count. With detail [`TRIPS_AT_LEAST`] its beginning was not seen, and Data2 is how often it went round since.
    TripCount = 3, "trip-count";
    /// Operand of a `br_table`.
    SwitchIndex = 4, "switch-index";
    /// Condition of a `select`: Data2 is 0 or 1.
    Select = 5, "select";
    /// Length of a bulk memory operation, bytes.
    BulkLen = 6, "bulk-length";
    /// Index of a table access.
    TableIndex = 7, "table-index";
    /// LWPINS: a function became hot. Data2 is its count.
    HotFunction = 128, "hot-function";
    /// LWPINS: a loop became hot. Data2 is its count.
    HotLoop = 129, "hot-loop";
    /// LWPINS: a guard failed and the code was left. Data2 is the guard's value, Data1 its number.
    SideExit = 130, "side-exit";
    /// LWPINS: the program (or the engine) marks a phase.
    PhaseMark = 131, "phase-mark";
    /// LWPINS: marks one round of a loop, for trials. Data2 is the number of rounds.
    LoopMark = 132, "loop-mark";
    /// LWPINS: the first poll behind an event, where a performance interrupt would be taken (`--feedback pmi`). Data1 is the offset of the loop, or
    /// `u32::MAX` at a function's entry.
    Poll = 133, "poll";
    /// LWPINS: from here on the ring's LWPVAL records of code (not of bursts) stand for another number of events. Data2 is EventInterval1, Data1 what
    /// it was.
    ValueRate = 134, "value-rate";
    /// LWPINS: how often a load was executed in a burst that times loads. Data2 is the count, Data1 the offset of the load that its address came from, or 0.
    BurstLoad = 140, "burst-load";
    /// LWPINS: a distance in bytes between successive addresses of a load in a burst. Data2 is the distance (signed), Data1 how often;
    /// with detail 1 Data1 counts all distances that were too rare to be told apart.
    BurstStride = 141, "burst-stride";
    /// LWPINS: the last record of a burst. Data1 is how many rounds of the loop it saw, Data2 the nanoseconds they took (0 where loads were timed).
    BurstEnd = 142, "burst-end";
    /// LWPINS: how much of the run a burst stands for. Data1 is the microseconds from asking for it to its beginning, Data2 the nanoseconds from its beginning
    /// to its end, other code's included; the detail's bits are those of [`burst_window`].
    BurstWindow = 143, "burst-window";
    /// LWPINS: how often a function was entered and its loops went round in a burst, which may see many functions. Data2 is the sum, in the unit of
    /// hot records; Data1 is how often it returned; the detail is 0 or [`BURST_EARLY`].
    BurstRounds = 144, "burst-rounds";
    /// LWPINS: how often a site was passed in a burst that only counts, or a direct call made in one that judges. Data2 is the count, Data1 the imm16 of the value that the site has, or 0; detail
    /// [`BURST_SITE_TRANSFER`] where it is a transfer of control, [`BURST_SITE_BRANCH`] where it is a conditional branch: then Data2's upper half says how often it was taken;
    /// [`BURST_SITE_CALL`] where it is a direct call: then that names the callee; and the bit [`BURST_EARLY`].
    BurstSite = 145, "burst-site";
    /// LWPINS: eight indices of a `br_table` that followed each other in a burst. Data2 holds them, a byte each, the latest lowest; Data1 how often they did.
    BurstSequence = 146, "burst-sequence";
}

/// Bits of a `BurstWindow` record's detail.
pub mod burst_window {
    /// Every load was timed.
    pub const TIMED: u8 = 1;
    /// All instrumented code took part.
    pub const JOINT: u8 = 2;
    /// Nothing was judged: how often each site was passed is in `BurstSite` records, and this one is the burst's last.
    pub const COUNTED: u8 = 4;
    /// What was called and had no instrumented form got it there, where that takes little time: a function that wrote nothing hardly ran.
    pub const FOLLOWED: u8 = 8;
}

/// Detail of a `TripCount` record that knows the rounds from some moment on only.
pub const TRIPS_AT_LEAST: u8 = 1;

/// Bit of a `BurstSite` record's detail: a transfer of control.
pub const BURST_SITE_TRANSFER: u8 = 1;
/// Detail of a `BurstSite` record of a conditional branch, a transfer of control too.
pub const BURST_SITE_BRANCH: u8 = BURST_SITE_TRANSFER | 2;
/// Detail of a `BurstSite` record of a direct call, which no event 3 record is written of.
pub const BURST_SITE_CALL: u8 = 4;
/// Bit of a `BurstSite` and of a `BurstRounds` record's detail: the burst looked at a function before its first compile, once each, so its counts say nothing of how the run's time is spread.
pub const BURST_EARLY: u8 = 8;

impl SiteClass {
    /// The imm16 of an instruction of this class.
    pub fn imm16(self, detail: u8) -> u16 {
        self as u16 | u16::from(detail) << 8
    }

    /// The class and detail that an imm16 names.
    pub fn from_imm16(imm16: u16) -> Option<(Self, u8)> {
        Some((Self::from_low_byte(imm16 & 0xFF)?, (imm16 >> 8) as u8))
    }

    /// True for classes written by LWPINS, which record every time and are acted on by the listener.
    pub fn is_programmed(self) -> bool {
        self as u16 >= 128
    }
}

impl Serialize for SiteClass {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Earlier versions wrote the variant's name: profiles and results of theirs are read too.
impl<'de> Deserialize<'de> for SiteClass {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<SiteClass, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = SiteClass::ALL.iter().copied().find(|class| class.name() == name || format!("{class:?}") == name);
        found.ok_or_else(|| serde::de::Error::custom(format_args!("`{name}` is no class of a site")))
    }
}

impl fmt::Display for SiteClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_names_that_reports_print() {
        for class in SiteClass::ALL {
            let text = serde_json::to_string(class).unwrap();
            assert_eq!(text, format!("\"{}\"", class.name()));
            for name in [text, format!("\"{class:?}\"")] {
                assert_eq!(serde_json::from_str::<SiteClass>(&name).unwrap(), *class);
            }
        }
        assert!(serde_json::from_str::<SiteClass>("\"other\"").is_err());
    }

    #[test]
    fn imm16_round_trips_and_unknown_classes_are_none() {
        for &class in SiteClass::ALL {
            assert_eq!(SiteClass::from_imm16(class.imm16(200)), Some((class, 200)));
        }
        let known = (0..=u16::MAX).filter(|&imm| SiteClass::from_imm16(imm).is_some()).count();
        assert_eq!(known, SiteClass::ALL.len() * 256);
    }
}
