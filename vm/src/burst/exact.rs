//! Everything counted: what `backedge accuracy` compares samples with.
//!
//! With [`EngineConfig::exact`](crate::engine::EngineConfig) each function is compiled as instrumented code at its first call and nothing else ever runs;
//! whenever the burst buffer holds enough, its words are counted here, all of them: no interval, no sampling. Nothing is written to a ring. Every
//! load is timed where loads are wanted. The predictor model takes no part: it would take most of the time, and what is compared is how often a branch ran.
//!
//! In: buffers. Out: [`ExactProfile`].

use super::words::{self, Seen};
use super::{ProbeTable, Probes};
use crate::code::ProbeKind;
use lwp_feedback::calibrate::known_plateaus;
use lwp_feedback::class::SiteClass;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Words after which a buffer is counted: half of it, for what is written until the next loop header or entry must fit too.
pub(crate) const EXACT_WORDS: u32 = crate::layout::BURST_WORDS as u32 / 2;
/// Different values counted of a site; further ones count as others.
const MOST_VALUES: usize = 1 << 14;

/// A place in a program: module hash, function, byte offset of the operator.
pub type Place = (u64, u32, u32);
/// A value site: its place, class and detail.
pub type ValuePlace = (Place, SiteClass, u8);

/// How often everything happened. As JSON, maps are lists of pairs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExactProfile {
    /// Branches: executions.
    #[serde(with = "pairs")]
    pub branches: BTreeMap<Place, u64>,
    /// Loads: executions, and how many missed the near caches, by the time they took.
    #[serde(with = "pairs")]
    pub loads: BTreeMap<Place, (u64, u64)>,
    /// Values: how often the site was passed, and its most frequent values, most frequent first.
    #[serde(with = "pairs")]
    pub values: BTreeMap<ValuePlace, (u64, Vec<(u64, u64)>)>,
    /// Buffers that were dropped: they held more than they hold, or made no sense.
    pub dropped: u64,
}

/// A map as a list: JSON's keys are strings.
mod pairs {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;

    pub(super) fn serialize<K: Serialize, V: Serialize, S: Serializer>(map: &BTreeMap<K, V>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(super) fn deserialize<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<K, V>, D::Error> {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[derive(Default)]
struct Slot {
    count: u64,
    /// Loads that missed.
    missed: u64,
    values: Option<HashMap<u64, u64>>,
    /// The latest value, and how often it came since another did: most sites see runs of one.
    run: (u64, u64),
}

impl Slot {
    fn value(&mut self, value: u64) {
        if self.run.0 == value {
            self.run.1 += 1;
            return;
        }
        self.end_run();
        self.run = (value, 1);
    }

    fn end_run(&mut self) {
        let (value, times) = std::mem::take(&mut self.run);
        if times == 0 {
            return;
        }
        let values = self.values.get_or_insert_default();
        if values.len() < MOST_VALUES {
            *values.entry(value).or_default() += times;
        } else if let Some(count) = values.get_mut(&value) {
            *count += times;
        }
    }
}

/// The counts of an engine.
#[derive(Default)]
pub(crate) struct Exact {
    tables: HashMap<u32, (Option<Arc<ProbeTable>>, Vec<Slot>)>,
    dropped: u64,
}

impl Exact {
    /// Counts a buffer. `written` words were appended; `words` is the whole buffer.
    pub(crate) fn count(&mut self, probes: &Probes, words: &[u64], written: usize) {
        let Some(words) = words.get(..written) else {
            self.dropped += 1;
            return;
        };
        let Exact { tables, .. } = self;
        // The table of the latest event is that of the next, nearly always.
        let mut current: Option<(u32, Vec<Slot>)> = None;
        let whole = words::read(probes, words, false, |seen| {
            if current.as_ref().is_none_or(|(base, _)| *base != seen.base) {
                if let Some((base, slots)) = current.take() {
                    tables.entry(base).or_default().1 = slots;
                }
                let (known, slots) = tables.entry(seen.base).or_default();
                if known.is_none() {
                    *known = probes.table(seen.number).map(|(_, table)| table);
                    slots.resize_with(seen.table.sites.len(), Slot::default);
                }
                current = Some((seen.base, std::mem::take(slots)));
            }
            let (base, slots) = current.as_mut().expect("set above");
            count(&mut slots[(seen.number - *base) as usize], seen);
        });
        if let Some((base, slots)) = current {
            tables.entry(base).or_default().1 = slots;
        }
        self.dropped += u64::from(!whole);
    }

    /// What was counted, by place.
    pub(crate) fn profile(&mut self) -> ExactProfile {
        let mut profile = ExactProfile { dropped: self.dropped, ..ExactProfile::default() };
        for (table, slots) in self.tables.values_mut() {
            let Some(table) = table else { continue };
            slots.iter_mut().for_each(Slot::end_run);
            for (site, slot) in table.sites.iter().zip(slots).filter(|(_, slot)| slot.count > 0) {
                let place = (table.module, table.function, site.offset);
                let mut value = |class: SiteClass, detail: u8| {
                    let (total, top) = profile.values.entry((place, class, detail)).or_default();
                    *total += slot.count;
                    let known = top.len();
                    for (&value, &count) in slot.values.iter().flat_map(|values| values.iter()) {
                        // A version's own values are all different.
                        match top[..known].iter_mut().find(|known| known.0 == value) {
                            Some(known) => known.1 += count,
                            None => top.push((value, count)),
                        }
                    }
                    top.sort_unstable_by_key(|&(value, count)| (std::cmp::Reverse(count), value));
                    // Versions of a function are few; what is rare in each is rare.
                    top.truncate(64);
                };
                match site.kind {
                    ProbeKind::Switch => value(SiteClass::SwitchIndex, 0),
                    ProbeKind::IndirectCall => value(SiteClass::CallTarget, 0),
                    ProbeKind::Select => value(SiteClass::Select, 0),
                    ProbeKind::Value(imm16) => {
                        if let Some((class, detail)) = SiteClass::from_imm16(imm16) {
                            value(class, detail);
                        }
                    }
                    _ => {}
                }
                match site.kind {
                    ProbeKind::Branch | ProbeKind::Switch | ProbeKind::IndirectCall | ProbeKind::Return => {
                        *profile.branches.entry(place).or_default() += slot.count;
                    }
                    ProbeKind::Load => {
                        let (count, missed) = profile.loads.entry(place).or_default();
                        *count += slot.count;
                        *missed += slot.missed;
                    }
                    _ => {}
                }
            }
        }
        profile
    }
}

fn count(slot: &mut Slot, seen: &Seen<'_>) {
    slot.count += 1;
    let Seen { site, payload, second, .. } = *seen;
    match site.kind {
        ProbeKind::Switch | ProbeKind::IndirectCall => slot.value(value_of(site.kind, payload)),
        ProbeKind::Select => slot.value(u64::from(payload != 0)),
        ProbeKind::Value(imm16) if seen.value != Some(imm16) => {}
        ProbeKind::Value(_) => slot.value(second),
        ProbeKind::Load => slot.missed += u64::from(known_plateaus().is_some_and(|plateaus| plateaus.source(payload).is_some())),
        // (the watched form is not counted exactly)
        ProbeKind::Branch
        | ProbeKind::Entry
        | ProbeKind::Return
        | ProbeKind::Call(_)
        | ProbeKind::Round
        | ProbeKind::Trips(_)
        | ProbeKind::Begin
        | ProbeKind::EntryOf
        | ProbeKind::ReturnOf
        | ProbeKind::TailCall => {}
    }
}

/// The value that a site of that kind records: a callee of another instance is all ones.
pub(super) fn value_of(kind: ProbeKind, payload: u32) -> u64 {
    match (kind, payload) {
        (ProbeKind::IndirectCall, u32::MAX) => u64::MAX,
        _ => payload.into(),
    }
}
