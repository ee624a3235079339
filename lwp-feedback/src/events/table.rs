//! The tables of events: two text files parsed once, on first use.
//!
//! In: `tables/amd.events` and `tables/intel.events`, whose form is at the head of the first. Out: [`Family`], [`Event`], [`UnitMask`].

use std::sync::OnceLock;

/// Who makes a family of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    /// AMD.
    Amd,
    /// Intel.
    Intel,
}

/// A family of processors and its events.
#[derive(Debug)]
pub struct Family {
    /// Short name: `k8`, `10h`, `zen3`, …
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Its vendor.
    pub vendor: Vendor,
    /// Counters for these events.
    pub counters: u8,
    /// Bits of the event select: 8 or 12.
    pub select_bits: u8,
    /// Revisions that differ in their events; none where all are the same.
    pub revisions: Vec<&'static str>,
    /// Events that libpfm 4.13.0 reports, per revision; empty for the Intel families, of which only the precise events are here.
    pub source_counts: Vec<u32>,
    /// The events.
    pub events: Vec<Event>,
}

/// An event.
#[derive(Debug)]
pub struct Event {
    /// libpfm's name.
    pub name: &'static str,
    /// Event select.
    pub select: u16,
    /// Revisions that have it.
    pub revisions: Revisions,
    /// Its unit masks; none for unit mask 0 only.
    pub masks: Vec<UnitMask>,
}

/// A unit mask of an event.
#[derive(Debug)]
pub struct UnitMask {
    /// libpfm's name.
    pub name: &'static str,
    /// Bits.
    pub bits: u8,
    /// Taken when no mask of its group is named.
    pub is_default: bool,
    /// Stands alone in its group.
    pub is_exclusive: bool,
    /// Masks of different groups say different things (what, and by which core).
    pub group: u8,
    /// Revisions that have it.
    pub revisions: Revisions,
}

/// A set of a family's revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revisions(u32);

impl Revisions {
    const ALL: Self = Self(u32::MAX);

    /// Whether the family's revision with this index is in it; `None`, an unknown revision, has what all have.
    pub fn contains(self, revision: Option<usize>) -> bool {
        match revision {
            Some(index) => self.0 >> index & 1 != 0,
            None => self == Self::ALL,
        }
    }
}

impl Family {
    /// Index of a revision.
    pub fn revision(&self, name: &str) -> Option<usize> {
        self.revisions.iter().position(|revision| *revision == name)
    }

    /// Events of that name; several where revisions encode them differently.
    pub fn named<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Event> {
        self.events.iter().filter(move |event| event.name.eq_ignore_ascii_case(name)).collect::<Vec<_>>().into_iter()
    }

    /// How many events a revision has here.
    pub fn count(&self, revision: Option<usize>) -> usize {
        self.events.iter().filter(|event| event.revisions.contains(revision)).count()
    }
}

/// Every family, in the files' order.
pub fn families() -> &'static [Family] {
    static FAMILIES: OnceLock<Vec<Family>> = OnceLock::new();
    FAMILIES.get_or_init(|| {
        let mut all = parse(include_str!("tables/amd.events"), Vendor::Amd);
        all.extend(parse(include_str!("tables/intel.events"), Vendor::Intel));
        all
    })
}

/// The family of that name.
pub fn family(name: &str) -> Option<&'static Family> {
    families().iter().find(|family| family.name.eq_ignore_ascii_case(name))
}

const WELL_FORMED: &str = "the event tables are part of the crate and its tests parse them";

fn parse(text: &'static str, vendor: Vendor) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        match line.strip_prefix("family ") {
            Some(rest) => families.push(parse_family(rest, vendor)),
            None => {
                let family = families.last_mut().expect(WELL_FORMED);
                let event = parse_event(line, family);
                family.events.push(event);
            }
        }
    }
    families
}

fn parse_family(line: &'static str, vendor: Vendor) -> Family {
    let (fields, title) = line.split_once(" title=").expect(WELL_FORMED);
    let mut words = fields.split(' ');
    let name = words.next().expect(WELL_FORMED);
    let mut family =
        Family { name, title, vendor, counters: 0, select_bits: 0, revisions: Vec::new(), source_counts: Vec::new(), events: Vec::new() };
    for (key, value) in words.map(|word| word.split_once('=').expect(WELL_FORMED)) {
        match key {
            "counters" => family.counters = value.parse().expect(WELL_FORMED),
            "select" => family.select_bits = value.parse().expect(WELL_FORMED),
            "source" => {
                for (revision, count) in value.split(',').map(|pair| pair.split_once(':').expect(WELL_FORMED)) {
                    if revision != "all" {
                        family.revisions.push(revision);
                    }
                    family.source_counts.push(count.parse().expect(WELL_FORMED));
                }
            }
            _ => unreachable!("{WELL_FORMED}: field {key}"),
        }
    }
    family
}

fn parse_event(line: &'static str, family: &Family) -> Event {
    let mut words = line.split(' ');
    let name = words.next().expect(WELL_FORMED);
    let (select, revisions) = split_revisions(words.next().expect(WELL_FORMED), family, Revisions::ALL);
    let masks = words.map(|word| parse_mask(word, family, revisions)).collect();
    Event { name, select: u16::from_str_radix(select, 16).expect(WELL_FORMED), revisions, masks }
}

fn parse_mask(word: &'static str, family: &Family, of_event: Revisions) -> UnitMask {
    let (word, revisions) = split_revisions(word, family, of_event);
    let (name, value) = word.split_once(':').expect(WELL_FORMED);
    let (value, group) = match value.split_once('/') {
        Some((value, group)) => (value, group.parse().expect(WELL_FORMED)),
        None => (value, 0),
    };
    UnitMask {
        name,
        bits: u8::from_str_radix(value.trim_end_matches(['*', '!']), 16).expect(WELL_FORMED),
        is_default: value.contains('*'),
        is_exclusive: value.contains('!'),
        group,
        revisions,
    }
}

fn split_revisions<'a>(word: &'a str, family: &Family, otherwise: Revisions) -> (&'a str, Revisions) {
    match word.split_once('@') {
        None => (word, otherwise),
        Some((word, names)) => {
            let bits = names.split(',').map(|name| 1 << family.revision(name).expect(WELL_FORMED));
            (word, Revisions(bits.fold(0, |all, bit: u32| all | bit)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_revision_has_the_events_of_the_source() {
        for family in families().iter().filter(|family| family.vendor == Vendor::Amd) {
            let revisions: Vec<Option<usize>> =
                if family.revisions.is_empty() { vec![None] } else { (0..family.revisions.len()).map(Some).collect() };
            for (index, revision) in revisions.into_iter().enumerate() {
                assert_eq!(family.count(revision) as u32, family.source_counts[index], "{} {revision:?}", family.name);
            }
        }
    }

    #[test]
    fn selects_fit_and_names_are_single() {
        for family in families() {
            assert!(matches!((family.counters, family.select_bits), (1..=6, 8 | 12)), "{}", family.name);
            for event in &family.events {
                assert!(u32::from(event.select) < 1 << family.select_bits, "{} {}", family.name, event.name);
                let same: Vec<_> = family.named(event.name).collect();
                assert!(same.len() == 1 || same.iter().all(|event| event.revisions != Revisions::ALL), "{} {}", family.name, event.name);
                for mask in &event.masks {
                    let twins = event.masks.iter().filter(|other| other.name == mask.name).count();
                    assert!(twins == 1 || mask.revisions != event.revisions, "{} {}:{}", family.name, event.name, mask.name);
                }
            }
        }
        assert_eq!(families().iter().filter(|family| family.vendor == Vendor::Amd).count(), 14);
    }
}
