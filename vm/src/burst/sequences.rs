//! Which ways of a `br_table` follow each other, in a burst: its indices in a row, eight at a time.

use super::words::Seen;
use crate::code::ProbeKind;
use lwp_feedback::class::SiteClass;
use lwp_feedback::profile::SEQUENCE;

/// Targets below which nobody asks what follows what: an interpreter has more.
const LEAST_TARGETS: usize = 8;
/// Sequences of which a burst leaves records.
const MOST: usize = 96;

/// One `br_table`.
struct Switch {
    number: u32,
    /// Number of its table's first probe.
    base: u32,
    ip: u64,
    /// Indices since the last whole sequence, and how many those are.
    latest: u64,
    length: usize,
}

/// What a burst saw.
#[derive(Default)]
pub(super) struct Sequences {
    switches: Vec<Switch>,
    /// The switch, and eight of its indices, the latest lowest.
    whole: Vec<(usize, u64)>,
}

impl Sequences {
    /// An event of the buffer. Where an activation of a function begins or ends, what comes next in it follows nothing.
    pub(super) fn see(&mut self, seen: &Seen<'_>) {
        match seen.site.kind {
            ProbeKind::Switch => self.switch(seen),
            ProbeKind::Entry | ProbeKind::EntryOf | ProbeKind::Return | ProbeKind::ReturnOf | ProbeKind::TailCall => {
                self.switches.iter_mut().filter(|switch| switch.base == seen.base).for_each(|switch| switch.length = 0);
            }
            _ => {}
        }
    }

    /// A `br_table` is executed.
    fn switch(&mut self, seen: &Seen<'_>) {
        let nth = match self.switches.iter().position(|it| it.number == seen.number) {
            Some(nth) => nth,
            None => {
                if seen.table.switches.get(&(seen.number - seen.base)).is_none_or(|targets| targets.len() < LEAST_TARGETS) {
                    return;
                }
                self.switches.push(Switch { number: seen.number, base: seen.base, ip: seen.site.ip, latest: 0, length: 0 });
                self.switches.len() - 1
            }
        };
        let switch = &mut self.switches[nth];
        let Ok(index) = u8::try_from(seen.payload) else {
            switch.length = 0;
            return;
        };
        switch.latest = switch.latest << 8 | u64::from(index);
        switch.length += 1;
        if switch.length == SEQUENCE {
            self.whole.push((nth, switch.latest));
            switch.length = 0;
        }
    }

    /// Says them, `say` being given address, class, detail, Data1 and Data2 of a record. Where there are many, some of all.
    pub(super) fn say(mut self, say: impl Fn(u64, SiteClass, u8, u32, u64)) {
        let mut step = self.whole.len().div_ceil(MOST).max(1);
        if step > 1 {
            // (not in step with a period of the program's)
            step |= 1;
            self.whole = self.whole.into_iter().step_by(step).collect();
        }
        self.whole.sort_unstable();
        for same in self.whole.chunk_by(|a, b| a == b) {
            let (nth, indices) = same[0];
            say(self.switches[nth].ip, SiteClass::BurstSequence, 0, (same.len() * step) as u32, indices);
        }
    }
}
