//! Reading a burst buffer: from words to events, whoever wants them.

use super::{ProbeSite, ProbeTable, Probes};
use crate::code::ProbeKind;
use lwp_feedback::class::SiteClass;
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
    /// The upper half of its word.
    pub(crate) payload: u32,
    /// The word behind, of probes that write two: a load's address, a value. Of a loop that is left its trip count.
    pub(crate) second: u64,
    /// It is a trip count, of a loop whose beginning was not seen: the rounds that were.
    pub(crate) at_least: bool,
    /// What a timed load's stub saved, where it was asked to; zeros elsewhere.
    pub(crate) registers: [u64; Registers::PROBE.len()],
}

/// Rounds seen of the loops that run, where the watched form marks them, and whether their beginning was: by the table's first probe, the activation and the
/// loop's offset.
type Runs = HashMap<(u32, u32, u32), (u32, bool)>;

/// A trip count of compiled code: counted from `i32::MIN` where the loop was entered in the middle.
fn trips(count: u64) -> (u64, bool) {
    let count = count as i32;
    (count.wrapping_sub(if count < 0 { i32::MIN } else { 0 }) as u64, count < 0)
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
        let (mut second, mut at_least) = (0, false);
        if matches!(site.kind, ProbeKind::Load | ProbeKind::Value(_)) {
            let Some(&word) = words.next() else { return false };
            second = word;
        }
        if site.kind == ProbeKind::Value(SiteClass::TripCount.imm16(0)) {
            (second, at_least) = trips(second);
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
                (second, at_least) = (rounds.into(), !whole);
            }
            ProbeKind::Trips(_) => continue,
            _ => {}
        }
        each(&Seen { number, table, base: *base, site, payload, second, at_least, registers: saved });
    }
    true
}
