//! Reading a burst buffer: from words to events, whoever wants them.

use super::{ProbeSite, ProbeTable, Probes};
use crate::code::ProbeKind;
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
    /// What a timed load's stub saved, where it was asked to; zeros elsewhere.
    pub(crate) registers: [u64; Registers::PROBE.len()],
}

/// Rounds so far of the loops whose beginning was seen, where the watched form marks it: by the table's first probe, the activation and the loop's offset.
type Runs = HashMap<(u32, u32, u32), u32>;

/// Hands the events of a buffer to `each`, in order; with `registers` timed loads brought them. False where the buffer makes no sense from some word on.
///
/// Of the watched form's marks only those where a loop is left are handed on, with its trip count.
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
        let mut second = 0;
        if matches!(site.kind, ProbeKind::Load | ProbeKind::Value(_)) {
            let Some(&word) = words.next() else { return false };
            second = word;
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
                if table.loops.iter().any(|it| it.start == site.offset && it.repeats) {
                    runs.insert(run(site.offset), 0);
                }
                continue;
            }
            ProbeKind::Round if !runs.is_empty() => {
                if let Some(rounds) = runs.get_mut(&run(site.offset)) {
                    *rounds += 1;
                }
            }
            ProbeKind::Trips(offset) => match runs.remove(&run(offset)) {
                Some(rounds) => second = rounds.into(),
                None => continue,
            },
            _ => {}
        }
        each(&Seen { number, table, base: *base, site, payload, second, registers: saved });
    }
    true
}
