//! Reading a burst buffer: from words to events, whoever wants them.

use super::{ProbeSite, ProbeTable, Probes};
use crate::code::ProbeKind;
use lwp_feedback::class::{SiteClass, TRIPS_AT_LEAST};
use lwp_feedback::pebs::Registers;
use std::collections::HashMap;
use std::sync::Arc;

/// One event of a buffer.
pub(crate) struct Seen<'a> {
    /// Number of its probe.
    pub(crate) number: u32,
    /// The table it is in, and the number of its first probe.
    pub(crate) table: &'a ProbeTable,
    pub(crate) base: u32,
    pub(crate) site: ProbeSite,
    /// Words of the buffer behind it.
    pub(crate) behind: usize,
    /// The upper half of its word.
    pub(crate) payload: u32,
    /// The word behind, of probes that write two: a load's address, a value. Of a loop that is left its trip count.
    pub(crate) second: u64,
    /// The imm16 of the value that it has, if it has one that is known: of a trip count in part, that which says so.
    pub(crate) value: Option<u16>,
    /// What a timed load's stub saved, where it was asked to; zeros elsewhere.
    pub(crate) registers: [u64; Registers::PROBE.len()],
}

/// Rounds seen of the loops that run, where the watched form marks them, and whether their beginning was: by the table's first probe, the activation and the
/// loop's offset.
type Runs = HashMap<(u32, u32, u32), (u32, bool)>;

/// Rounds of a loop whose beginning was not seen below which they say nothing. A burst begins at some loop's header, often at its first, so it would take whole runs of short loops
/// for parts of longer ones; and of those it sees enough whole ones.
const SAYS_SOMETHING: u32 = 64;

/// The value that a trip count is.
fn trips(rounds: u32, whole: bool) -> Option<u16> {
    match whole {
        true => Some(SiteClass::TripCount.imm16(0)),
        false if rounds >= SAYS_SOMETHING => Some(SiteClass::TripCount.imm16(TRIPS_AT_LEAST)),
        false => None,
    }
}

/// The imm16 of the value that a probe has, all of it known.
pub(super) fn value_class(kind: ProbeKind) -> Option<u16> {
    match kind {
        ProbeKind::Switch => Some(SiteClass::SwitchIndex.imm16(0)),
        ProbeKind::IndirectCall => Some(SiteClass::CallTarget.imm16(0)),
        ProbeKind::Value(imm16) => Some(imm16),
        ProbeKind::Trips(_) => Some(SiteClass::TripCount.imm16(0)),
        ProbeKind::Branch
        | ProbeKind::Return
        | ProbeKind::ReturnOf
        | ProbeKind::TailCall
        | ProbeKind::Call(_)
        | ProbeKind::Select
        | ProbeKind::Load
        | ProbeKind::Entry
        | ProbeKind::EntryOf
        | ProbeKind::Round
        | ProbeKind::Begin => None,
    }
}

/// Hands the events of a buffer to `each`, in order; with `registers` timed loads brought them. False where the buffer makes no sense from some word on.
///
/// Of the watched form's marks only those where a loop is left are handed on, with its trip count. A loop that is left is an event whether its beginning was seen or
/// not: one that goes round more often than a burst has words is never seen from there.
pub(crate) fn read(probes: &Probes, words: &[u64], registers: bool, mut each: impl FnMut(&Seen<'_>)) -> bool {
    let mut known: Option<(u32, Arc<ProbeTable>)> = None;
    let mut runs = Runs::default();
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let (number, payload) = (word as u32, (word >> 32) as u32);
        if known.as_ref().is_none_or(|(base, table)| (number.wrapping_sub(*base) as usize) >= table.sites.len()) {
            known = probes.table(number);
        }
        let Some((base, table)) = &known else { return false };
        let site = table.sites[(number - base) as usize];
        let (mut second, mut value) = (0, value_class(site.kind));
        if matches!(site.kind, ProbeKind::Load | ProbeKind::Value(_)) {
            let Some(&word) = words.next() else { return false };
            second = word;
        }
        if site.kind == ProbeKind::Value(SiteClass::TripCount.imm16(0)) {
            // Counted from the least number where the loop was entered in the middle.
            let count = second as i32;
            let rounds = count.wrapping_sub(if count < 0 { i32::MIN } else { 0 }) as u32;
            (second, value) = (rounds.into(), trips(rounds, count >= 0));
        }
        let mut saved = [0; Registers::PROBE.len()];
        if registers && site.kind == ProbeKind::Load {
            for register in &mut saved {
                let Some(&word) = words.next() else { return false };
                *register = word;
            }
        }
        let run = |offset| (*base, payload, offset);
        match site.kind {
            ProbeKind::Begin => {
                if table.repeats(site.offset) {
                    runs.insert(run(site.offset), (0, true));
                }
                continue;
            }
            // (instrumented code counts by itself)
            ProbeKind::Round if !table.loops.is_empty() => match runs.get_mut(&run(site.offset)) {
                Some((rounds, _)) => *rounds += 1,
                None if table.repeats(site.offset) => _ = runs.insert(run(site.offset), (1, false)),
                None => {}
            },
            ProbeKind::Trips(offset) if table.repeats(offset) => {
                let (rounds, whole) = runs.remove(&run(offset)).unwrap_or_default();
                (second, value) = (rounds.into(), trips(rounds, whole));
            }
            ProbeKind::Trips(_) => continue,
            // Loops that it leaves are not: they would go on in the next activation at that place.
            ProbeKind::ReturnOf | ProbeKind::TailCall if !runs.is_empty() => runs.retain(|key, _| (key.0, key.1) != (*base, payload)),
            _ => {}
        }
        let behind = words.as_slice().len();
        each(&Seen { number, table, base: *base, site, behind, payload, second, value, registers: saved });
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::ProbeSite;
    use super::*;
    use crate::bytecode::WatchedLoop;

    /// A table of one loop's probes, and the trip counts read of words with these numbers and payloads (a value's second word is the next entry).
    fn counts(kinds: &[ProbeKind], repeats: bool, words: &[u64]) -> Vec<(Option<u16>, u64)> {
        let sites = kinds.iter().map(|&kind| ProbeSite { kind, ip: 0x1000, offset: 7, feeder: 0, ways: [0; 2] }).collect();
        let loops = Box::from([WatchedLoop { start: 7, end: 9, repeats }]);
        let probes = Probes::default();
        probes.insert(0, ProbeTable { sites, module: 1, function: 2, switches: Default::default(), loops });
        let mut seen_counts = Vec::new();
        let whole = read(&probes, words, false, |seen| {
            if matches!(seen.site.kind, ProbeKind::Value(_) | ProbeKind::Trips(_)) {
                seen_counts.push((seen.value, seen.second));
            }
        });
        assert!(whole);
        seen_counts
    }

    const WHOLE: Option<u16> = Some(SiteClass::TripCount as u16);

    fn at_least() -> Option<u16> {
        Some(SiteClass::TripCount.imm16(TRIPS_AT_LEAST))
    }

    #[test]
    fn a_loop_that_is_left_counts_whether_its_beginning_was_seen_or_not() {
        let kinds = [ProbeKind::Begin, ProbeKind::Round, ProbeKind::Trips(7), ProbeKind::ReturnOf];
        let [begin, round, left, back] = [0u64, 1, 2, 3].map(|number| 5 << 32 | number);
        assert_eq!(counts(&kinds, true, &[begin, round, round, left]), [(WHOLE, 2)]);
        assert_eq!(counts(&kinds, true, &[round, round, left, begin, round, left]), [(None, 2), (WHOLE, 1)]);
        let long: Vec<u64> = [vec![round; 64], vec![left]].concat();
        assert_eq!(counts(&kinds, true, &long), [(at_least(), 64)]);
        // What a return leaves has ended: the next activation lies at the same place.
        let returned: Vec<u64> = [vec![round; 60], vec![back], vec![round; 5], vec![left]].concat();
        assert_eq!(counts(&kinds, true, &returned), [(None, 5)]);
        // Nothing leads back to its beginning.
        assert_eq!(counts(&kinds, false, &[begin, round, left]), []);
    }

    #[test]
    fn a_count_of_compiled_code_is_negative_from_the_middle_on() {
        let kinds = [ProbeKind::Value(SiteClass::TripCount.imm16(0))];
        let since = |rounds: i32| u64::from(i32::MIN.wrapping_add(rounds) as u32);
        assert_eq!(counts(&kinds, true, &[0, 3, 0, since(3), 0, since(100)]), [(WHOLE, 3), (None, 3), (at_least(), 100)]);
    }
}
