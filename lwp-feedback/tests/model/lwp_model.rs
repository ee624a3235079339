//! An independent model of the LWP unit, written from the documents' text: i64 counters, a queue
//! of visible records, no memory. It imports only the trace types.

use lwp_feedback::unit::trace::{Branch, BranchKind, Load, Retired};
use std::collections::VecDeque;

/// One counter: final EventId (the proposal's is one less), interval, current value.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    pub event: u8,
    pub interval: i64,
    pub value: i64,
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub proposal: bool,
    pub on: bool,
    /// Records the ring has room for; one less can be visible.
    pub slots: usize,
    pub continuous: bool,
    pub interrupt: bool,
    pub one_per_event: bool,
    pub threshold: usize,
    pub filters: u32,
    pub base_ip: u64,
    pub limit_ip: u64,
    pub core: u8,
    pub time: u64,
    pub counters: Vec<Counter>,
    pub visible: VecDeque<[u64; 4]>,
    pub missed: u64,
    pub interrupts: u64,
    pub above: bool,
}

fn latency(load: &Load) -> u32 {
    (load.latency - load.latency % 16).min(65_520)
}

impl Model {
    fn bit(&self, bit: u32) -> bool {
        self.filters >> bit & 1 == 1
    }

    /// True: there was room.
    fn push(&mut self, words: [u64; 4]) -> bool {
        if self.visible.len() == self.slots - 1 && !self.continuous {
            self.missed += 1;
            return false;
        }
        self.visible.push_back(words);
        if self.visible.len() == self.slots {
            self.visible.clear(); // head has caught up with tail: the ring looks empty
        }
        let used = self.visible.len();
        if self.threshold > 0 && self.interrupt {
            let crossed = used >= self.threshold && !self.above;
            let fires = [crossed, used == self.threshold][usize::from(self.proposal)];
            self.above = used >= self.threshold;
            self.interrupts += u64::from(fires);
        }
        true
    }

    fn words(&self, id: u8, flags: u16, data1: u32, ip: u64, data2: u64) -> [u64; 4] {
        let first = u64::from(id) + (u64::from(self.core) << 8) + (u64::from(flags) << 16);
        [first + (u64::from(data1) << 32), ip, data2, self.time]
    }

    /// A session began: the interrupt is armed.
    pub fn start(&mut self) {
        (self.on, self.above) = (true, false);
    }

    /// A session goes on: what is past the threshold was announced.
    pub fn resume(&mut self) {
        self.above = self.visible.len() >= self.threshold;
    }

    /// So many of the oldest records were taken: the next one past the threshold is announced.
    pub fn taken(&mut self, records: usize) {
        self.above &= records == 0;
    }

    pub fn lwpins(&mut self, ip: u64, data2: u64, data1: u32, imm: u32) -> bool {
        self.on && !self.push(self.words(255, imm as u16, data1, ip, data2))
    }

    pub fn lwpval(&mut self, ip: u64, data2: u64, data1: u32, imm: u32) -> bool {
        let mut due = false;
        for counter in self.counters.iter_mut().filter(|c| self.on && c.event == 1) {
            due = counter.value <= 0;
            counter.value = if due { counter.interval } else { counter.value - 1 };
        }
        let words = self.words(1, imm as u16, data1, ip, data2);
        _ = due && self.push(words);
        due
    }

    fn counts_branch(&self, branch: &Branch) -> bool {
        if self.proposal {
            return !(self.bit(31) && branch.kind == BranchKind::Jmp && branch.direct);
        }
        let conditional = matches!(branch.kind, BranchKind::Jcc | BranchKind::Loop);
        let (_, right, known) = Self::outcome(branch);
        let kind_bit = [[27, 29], [28, 28]][usize::from(conditional)][usize::from(branch.direct)];
        let outcome_bit = [25, 26][usize::from(right)];
        !(self.bit(kind_bit) || known && self.bit(outcome_bit))
    }

    /// (taken, predicted correctly, prediction known)
    fn outcome(branch: &Branch) -> (bool, bool, bool) {
        let conditional = matches!(branch.kind, BranchKind::Jcc | BranchKind::Loop);
        let (known, right) = (branch.prediction_valid, branch.predicted);
        let sure = branch.direct && !conditional;
        (branch.taken || !conditional, sure || known && right, sure || known)
    }

    fn misses(&self, retired: &Retired) -> Vec<Load> {
        let mut misses: Vec<Load> = Vec::new();
        for load in &retired.loads {
            match misses.last_mut() {
                Some(first) if load.misaligned_second_miss => {
                    *first = if load.address < first.address { *load } else { *first };
                }
                _ => misses.push(*load),
            }
        }
        misses.retain(|load| {
            let level = [99, 9, 10, 11, 99, 99, 99, 12][load.source as usize];
            let level_ok = !self.bit(8) || level < 32 && self.bit(level);
            latency(load) >= (self.filters & 255) * 16 && level_ok
        });
        misses
    }

    pub fn retire(&mut self, retired: &Retired) -> usize {
        let inside = self.base_ip <= retired.ip && retired.ip <= self.limit_ip;
        let ip_ok = self.proposal || !self.bit(31) || inside != self.bit(30);
        if !self.on || retired.cpl != 3 || !ip_ok {
            return 0;
        }
        let misses = self.misses(retired);
        let branch = retired.branch.filter(|branch| self.counts_branch(branch));
        let mut due = Vec::new();
        for (index, counter) in self.counters.iter_mut().enumerate() {
            let events = match counter.event {
                2 => 1,
                3 => i64::from(branch.is_some()),
                4 => misses.len() as i64,
                5 => i64::from(retired.core_clocks),
                6 => i64::from(retired.ref_clocks),
                _ => 0,
            };
            // The last event that does not end the count; the floor of the counter.
            let (last, floor) = if self.proposal { (1, 0) } else { (0, -(1 << 25)) };
            if events > 0 && counter.value - events < last {
                due.push((counter.event, index, (counter.value - last).max(0) as usize));
            }
            counter.value = (counter.value - events).max(floor);
        }
        due.sort();
        due.truncate(if self.one_per_event { 9 } else { 1 });
        for &(event, index, nth) in &due {
            self.counters[index].value = self.counters[index].interval;
            let (flags, data1, data2) = match event {
                3 => {
                    let branch = branch.unwrap();
                    let (taken, right, known) = Self::outcome(&branch);
                    let next = retired.ip.wrapping_add(u64::from(retired.len));
                    let to = if taken { branch.target } else { next };
                    let bits = u16::from(taken) * 4 + u16::from(right) * 2 + u16::from(known);
                    (bits << 13, 0, to)
                }
                4 => {
                    let Load { source, address, .. } = misses[nth];
                    (u16::from(source) << 13 | 1 << 12, latency(&misses[nth]), address)
                }
                _ => (0, 0, 0),
            };
            let id = event - u8::from(self.proposal);
            self.push(self.words(id, flags, data1, retired.ip, data2));
        }
        due.len()
    }
}
